/* geometry.c: gathers the geometry of a checkpoint from all ranks on every rank. */
#include "io/checkpoint/geometry.h"

#include <stdlib.h>
#include <string.h>

/* All ranks' rows of `size` bytes, in the order of ranks, which is the order of ids. */
static enum tac_err gather_rows(struct tac_ctx *ctx, tac_gid total, tac_lid rows, const tac_gid *id, const void *part,
                                size_t size, void *out)
{
    enum tac_err err = TAC_OK;
    int *count = NULL, mine = rows;
    void *whole = NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 2 * (size_t)ctx->size, sizeof *count, &count)));
    MPI_Allgather(&mine, 1, MPI_INT, count, 1, MPI_INT, ctx->comm);
    int *at = count + ctx->size;
    tac_gid sum = 0;
    for (int r = 0; r < ctx->size; r++) {
        at[r] = (int)sum;
        sum += count[r];
    }
    TAC_CHECK(sum == total && (rows == 0 || (id[0] == at[ctx->rank] && id[rows - 1] == id[0] + rows - 1)));
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)total, size, &whole)));
    MPI_Type_contiguous((int)size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Allgatherv(part, rows, type, whole, count, at, type, ctx->comm);
    MPI_Type_free(&type);
    memcpy(out, &whole, sizeof whole); /* a pointer to a pointer of any type */
done:
    if (err) /* of another rank, perhaps */
        free(whole);
    free(count);
    return err;
}

struct tac_geometry tac_geometry_here(const struct tac_checkpoint *c)
{
    const struct tac_vertex_rows *v = &c->vertices;
    const struct tac_mesh_rows *m = &c->mesh;
    return (struct tac_geometry){.vertex_count = c->vertex_total,
                                 .triangle_count = c->triangle_total,
                                 .segment_count = c->segment_total,
                                 .tetrahedron_count = c->tetrahedron_total,
                                 .first = {v->count > 0 ? v->id[0] : 0, m->triangle_count > 0 ? m->triangle_id[0] : 0,
                                           m->segment_count > 0 ? m->segment_id[0] : 0,
                                           m->tetrahedron_count > 0 ? m->tetrahedron_id[0] : 0},
                                 .here = {v->count, m->triangle_count, m->segment_count, m->tetrahedron_count},
                                 .x = v->start,
                                 .mass = v->mass,
                                 .triangle = m->triangle,
                                 .segment = m->segment,
                                 .tetrahedron = m->tetrahedron};
}

enum tac_err tac_geometry_gather(struct tac_ctx *ctx, const struct tac_checkpoint *c, struct tac_gathered *out)
{
    enum tac_err err = TAC_OK;
    memset(out, 0, sizeof *out);
    out->geometry = tac_geometry_here(c);
    if (ctx->size == 1)
        return TAC_OK;
    TAC_TRY(gather_rows(ctx, c->vertex_total, c->vertices.count, c->vertices.id, c->vertices.start, 3 * sizeof(double),
                        &out->x));
    TAC_TRY(gather_rows(ctx, c->vertex_total, c->vertices.count, c->vertices.id, c->vertices.mass, sizeof(double),
                        &out->mass));
    TAC_TRY(gather_rows(ctx, c->triangle_total, c->mesh.triangle_count, c->mesh.triangle_id, c->mesh.triangle,
                        3 * sizeof(tac_gid), &out->triangle));
    TAC_TRY(gather_rows(ctx, c->segment_total, c->mesh.segment_count, c->mesh.segment_id, c->mesh.segment,
                        2 * sizeof(tac_gid), &out->segment));
    if (c->tetrahedron_total > 0)
        TAC_TRY(gather_rows(ctx, c->tetrahedron_total, c->mesh.tetrahedron_count, c->mesh.tetrahedron_id,
                            c->mesh.tetrahedron, 4 * sizeof(tac_gid), &out->tetrahedron));
    out->geometry.tetrahedron = out->tetrahedron;
    out->geometry.x = out->x;
    out->geometry.mass = out->mass;
    out->geometry.triangle = out->triangle;
    out->geometry.segment = out->segment;
done:
    if (err)
        tac_gathered_clear(out);
    return err;
}

void tac_gathered_clear(struct tac_gathered *g)
{
    free(g->x);
    free(g->mass);
    free(g->triangle);
    free(g->segment);
    free(g->tetrahedron);
    memset(g, 0, sizeof *g);
}
