/* replicate.c: all ranks' parts of a scene together, on every rank. */
#include "implicit/parts.h"
#include "partition/part.h"
#include <stdlib.h>

struct vertex {
    tac_gid id;
    double x[3], v[3], mass;
    tac_lid body, motion, load;
    int32_t ever_free, owner;
};

struct element {
    tac_gid id, vertex[4];
};

/* Rows of all ranks, ascending by the id with which a row begins; of `total` rows with ids 0, 1, ... */
static enum tac_err gather(struct tac_ctx *ctx, enum tac_err err, size_t count, const void *row, size_t size,
                           size_t total, void *out)
{
    int *counts = NULL, *at = NULL, mine = (int)count;
    char *all = NULL;
    MPI_Datatype type;
    TAC_TRY(err);
    TAC_TRY(tac_alloc(ctx, (size_t)ctx->size, sizeof *counts, &counts));
    TAC_TRY(tac_alloc(ctx, (size_t)ctx->size, sizeof *at, &at));
    TAC_TRY(tac_alloc(ctx, total, size, &all));
done:
    if ((err = tac_agree(ctx, err)) == TAC_OK) {
        MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, ctx->comm);
        for (int r = 1; r < ctx->size; r++)
            at[r] = at[r - 1] + counts[r - 1];
        MPI_Type_contiguous((int)size, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        if (MPI_Allgatherv(row, mine, type, all, counts, at, type, ctx->comm) != MPI_SUCCESS)
            err = tac_fail(ctx, TAC_ERR_RUN, "MPI failed while gathering the scene");
        MPI_Type_free(&type);
    }
    for (size_t k = 0; k < total && !err; k++) {
        tac_gid id;
        memcpy(&id, &all[k * size], sizeof id);
        TAC_CHECK(id >= 0 && (size_t)id < total);
        memcpy((char *)out + (size_t)id * size, &all[k * size], size);
    }
    free(counts);
    free(at);
    free(all);
    return err;
}

static enum tac_err gather_vertices(struct tac_ctx *ctx, const struct tac_pieces *p, struct vertex **out)
{
    enum tac_err err;
    struct vertex *row = NULL;
    const size_t n = (size_t)p->vertex_count;
    TAC_TRY(tac_alloc(ctx, n, sizeof *row, &row));
    TAC_TRY(tac_alloc(ctx, (size_t)p->vertex_total, sizeof **out, out));
    for (size_t i = 0; i < n; i++) {
        row[i] = (struct vertex){.id = p->vertex_id[i],
                                 .mass = p->mass[i],
                                 .body = p->body[i],
                                 .motion = p->motion ? p->motion[i] : -1,
                                 .load = p->load ? p->load[i] : -1,
                                 .ever_free = p->ever_free[i],
                                 .owner = ctx->rank};
        memcpy(row[i].x, &p->x[3 * i], sizeof row[i].x);
        memcpy(row[i].v, &p->v[3 * i], sizeof row[i].v);
    }
done:
    err = gather(ctx, err, n, row, sizeof *row, (size_t)p->vertex_total, *out);
    free(row);
    return err;
}

static enum tac_err gather_elements(struct tac_ctx *ctx, size_t n, const tac_gid *id, const tac_gid *vertex, int nodes,
                                    size_t total, struct element **out)
{
    enum tac_err err;
    struct element *row = NULL;
    TAC_TRY(tac_alloc(ctx, n, sizeof *row, &row));
    TAC_TRY(tac_alloc(ctx, total, sizeof **out, out));
    for (size_t i = 0; i < n; i++) {
        row[i].id = id[i];
        memcpy(row[i].vertex, &vertex[i * (size_t)nodes], (size_t)nodes * sizeof *vertex);
    }
done:
    err = gather(ctx, err, n, row, sizeof *row, total, *out);
    free(row);
    return err;
}

static enum tac_err set_vertices(struct tac_ctx *ctx, const struct vertex *vertex, struct tac_scene *s, int32_t **owner)
{
    enum tac_err err;
    struct tac_local_mesh *m = s->mesh;
    const size_t n = (size_t)m->vertex_count;
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *m->x, &m->x));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *m->v, &m->v));
    TAC_TRY(tac_alloc(ctx, n, sizeof *m->mass, &m->mass));
    TAC_TRY(tac_alloc(ctx, n, sizeof *m->ever_free, &m->ever_free));
    TAC_TRY(tac_alloc(ctx, n, sizeof *m->vertex_body, &m->vertex_body));
    TAC_TRY(tac_alloc(ctx, n, sizeof *m->vertex_load, &m->vertex_load));
    TAC_TRY(tac_alloc(ctx, n, sizeof **owner, owner));
    TAC_TRY(tac_alloc(ctx, (size_t)s->settings->motion_count, sizeof *m->moved, &m->moved));
    m->moved_count = s->settings->motion_count;
    for (size_t i = 0; i < n; i++) {
        memcpy(&m->x[3 * i], vertex[i].x, sizeof vertex[i].x);
        memcpy(&m->v[3 * i], vertex[i].v, sizeof vertex[i].v);
        m->mass[i] = vertex[i].mass;
        m->ever_free[i] = (uint8_t)vertex[i].ever_free;
        m->vertex_body[i] = vertex[i].body;
        m->vertex_load[i] = vertex[i].load;
        (*owner)[i] = vertex[i].owner;
        if (vertex[i].motion >= 0)
            m->moved[vertex[i].motion].vertex_count++;
    }
    for (tac_lid k = 0; k < m->moved_count; k++) {
        TAC_TRY(tac_alloc(ctx, (size_t)m->moved[k].vertex_count, sizeof *m->moved[k].vertex, &m->moved[k].vertex));
        m->moved[k].vertex_count = 0;
    }
    for (size_t i = 0; i < n; i++)
        if (vertex[i].motion >= 0) {
            struct tac_moved *moved = &m->moved[vertex[i].motion];
            moved->vertex[moved->vertex_count++] = (tac_lid)i;
        }
done:
    return err;
}

static enum tac_err set_elements(struct tac_ctx *ctx, const struct element *element, size_t n, int nodes, tac_lid **out)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(ctx, n * (size_t)nodes, sizeof **out, out));
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < nodes; k++)
            (*out)[i * (size_t)nodes + (size_t)k] = (tac_lid)element[i].vertex[k];
done:
    return err;
}

enum tac_err tac_implicit_replicate(struct tac_ctx *ctx, const struct tac_scene *local, struct tac_scene **whole,
                                    int32_t **owner)
{
    enum tac_err err;
    struct tac_pieces *p = NULL;
    struct tac_scene *s = NULL;
    struct vertex *vertex = NULL;
    struct element *triangle = NULL, *segment = NULL, *tetrahedron = NULL;
    TAC_TRY(tac_pieces_of(ctx, local, &p));
    TAC_TRY(gather_vertices(ctx, p, &vertex));
    TAC_TRY(gather_elements(ctx, (size_t)p->triangle_count, p->triangle_id, p->triangle, 3, (size_t)p->triangle_total,
                            &triangle));
    TAC_TRY(gather_elements(ctx, (size_t)p->segment_count, p->segment_id, p->segment, 2, (size_t)p->segment_total,
                            &segment));
    TAC_TRY(gather_elements(ctx, (size_t)p->tetrahedron_count, p->tetrahedron_id, p->tetrahedron, 4,
                            (size_t)p->tetrahedron_total, &tetrahedron));
    err = tac_scene_make(ctx, local->settings, &s);
    if (!err) {
        s->mesh->vertex_count = (tac_lid)p->vertex_total;
        s->mesh->triangle_count = (tac_lid)p->triangle_total;
        s->mesh->segment_count = (tac_lid)p->segment_total;
        s->mesh->tetrahedron_count = (tac_lid)p->tetrahedron_total;
        err = set_vertices(ctx, vertex, s, owner);
    }
    if (!err)
        err = set_elements(ctx, triangle, (size_t)p->triangle_total, 3, &s->mesh->triangle);
    if (!err)
        err = set_elements(ctx, segment, (size_t)p->segment_total, 2, &s->mesh->segment);
    if (!err && p->tetrahedron_total > 0)
        err = set_elements(ctx, tetrahedron, (size_t)p->tetrahedron_total, 4, &s->mesh->tetrahedron);
    if (!err)
        err = tac_topology_create(ctx, s->mesh->vertex_count, s->mesh->triangle_count, s->mesh->triangle,
                                  s->mesh->segment_count, s->mesh->segment, &s->mesh->topology);
    TAC_TRY(tac_agree(ctx, err));
done:
    tac_pieces_destroy(&p);
    free(vertex);
    free(triangle);
    free(segment);
    free(tetrahedron);
    if (err)
        tac_scene_destroy(&s);
    *whole = s;
    return err;
}
