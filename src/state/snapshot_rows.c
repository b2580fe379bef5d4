/* snapshot_rows.c: makes and sends the rows of a snapshot that are the same for every integrator. */
#include "base/exchange.h"
#include "partition/part.h"
#include "state/snapshot.h"
#include <stdlib.h>
#include <string.h>

/* Appends the elements of a table whose lowest vertex this rank owns: their ids and the ids of their vertices. `id_of`:
 * ids of the elements; NULL on one rank. */
static enum tac_err collect_table(struct tac_ctx *ctx, const struct tac_scene *scene, const tac_lid *element,
                                  const tac_gid *id_of, tac_lid total, int nodes, tac_lid *count, tac_gid **id,
                                  tac_gid **vertex)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(ctx, (size_t)total, sizeof **id, id));
    TAC_TRY(tac_alloc(ctx, (size_t)total * (size_t)nodes, sizeof **vertex, vertex));
    for (tac_lid e = 0; e < total; e++) {
        const tac_lid *v = &element[(size_t)e * (size_t)nodes];
        if (!tac_stencil_mine(scene, v, nodes))
            continue;
        for (int k = 0; k < nodes; k++)
            (*vertex)[(size_t)*count * (size_t)nodes + (size_t)k] = tac_scene_id(scene, v[k]);
        (*id)[(*count)++] = id_of != NULL ? id_of[e] : e;
    }
done:
    return err;
}

enum tac_err tac_mesh_rows_collect(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_mesh_rows *rows)
{
    enum tac_err err;
    const struct tac_local_mesh *m = scene->mesh;
    const struct tac_part *part = m->part;
    TAC_TRY(collect_table(ctx, scene, m->triangle, part ? part->triangle_id : NULL, m->triangle_count, 3,
                          &rows->triangle_count, &rows->triangle_id, &rows->triangle));
    TAC_TRY(collect_table(ctx, scene, m->segment, part ? part->segment_id : NULL, m->segment_count, 2,
                          &rows->segment_count, &rows->segment_id, &rows->segment));
    TAC_TRY(collect_table(ctx, scene, m->tetrahedron, part ? part->tetrahedron_id : NULL, m->tetrahedron_count, 4,
                          &rows->tetrahedron_count, &rows->tetrahedron_id, &rows->tetrahedron));
done:
    return err;
}

size_t tac_element_rows_vertices(const struct tac_checkpoint *c, tac_gid *out)
{
    size_t n = 0;
    for (int kind = 0; kind < TAC_KINDS; kind++) {
        const struct tac_element_states *s = &c->element[kind];
        for (tac_lid i = 0; i < s->count && out != NULL; i++)
            for (int j = 0; j < s->nodes; j++) {
                const struct tac_element_state *row = tac_element_row(s, i);
                out[n + (size_t)s->nodes * (size_t)i + (size_t)j] = row->vertex[row->vertex[j] >= 0 ? j : 0];
            }
        n += (size_t)s->nodes * (size_t)s->count;
    }
    return n;
}

enum tac_err tac_element_rows_send(struct tac_ctx *ctx, const struct tac_element_states *s, const int32_t *owner,
                                   struct tac_element_states *mine)
{
    enum tac_err err;
    const size_t nodes = (size_t)s->nodes, size = tac_element_row_size(s), most = nodes * (size_t)s->count;
    char *row = NULL;
    int32_t *to = NULL;
    size_t n = 0, total = 0;
    *mine = (struct tac_element_states){.nodes = s->nodes, .width = s->width};
    TAC_TRY(tac_alloc(ctx, most, size, &row));
    TAC_TRY(tac_alloc(ctx, most, sizeof *to, &to));
    for (size_t k = 0; k < most; k++) {
        bool sent = false;
        for (size_t j = k - k % nodes; j < k; j++)
            sent |= owner[j] == owner[k];
        if (sent)
            continue;
        memcpy(row + size * n, tac_element_row(s, (tac_lid)(k / nodes)), size);
        to[n++] = owner[k];
    }
done:
    err = tac_distribute(ctx, err, n, to, row, size, &mine->row, &total);
    mine->count = (tac_lid)total;
    free(row);
    free(to);
    return err;
}

void tac_counters_restore(const struct tac_ctx *ctx, const struct tac_counters *stored, struct tac_counters *out)
{
    static const struct tac_counters zero;
    *out = ctx->rank == 0 ? *stored : zero;
    out->windows = stored->windows;
    out->rollbacks = stored->rollbacks;
    out->candidate_builds = stored->candidate_builds;
    out->migrations = stored->migrations;
    double *const seconds[] = {&out->seconds_forces,  &out->seconds_contact,  &out->seconds_discovery,
                               &out->seconds_waiting, &out->seconds_exchange, &out->seconds_output};
    for (size_t k = 0; k < sizeof seconds / sizeof *seconds; k++)
        *seconds[k] *= ctx->size;
}
