/* corners.c: gets the vertices of a rank's elements from the ranks that have their rows. */
#include "partition/corners.h"

#include "partition/ghosts.h"

#include <stdlib.h>
#include <string.h>

struct told {
    double x[3];
    int64_t ever_free;
};

static void answer_corner(const void *known, tac_gid id, void *record)
{
    const struct tac_pieces *p = known;
    const size_t i = (size_t)tac_id_find(p->vertex_id, p->vertex_count, id);
    const struct told told = {{p->x[3 * i], p->x[3 * i + 1], p->x[3 * i + 2]}, p->ever_free[i]};
    memcpy(record, &told, sizeof told);
}

static enum tac_err list_corner_ids(struct tac_ctx *ctx, const struct tac_pieces *p, struct tac_corners *c)
{
    struct tac_ids ids = {0};
    enum tac_err err = tac_ids_add(ctx, &ids, 3 * (size_t)p->triangle_count, p->triangle);
    if (err == TAC_OK)
        err = tac_ids_add(ctx, &ids, 2 * (size_t)p->segment_count, p->segment);
    if (err == TAC_OK)
        err = tac_ids_add(ctx, &ids, 4 * (size_t)p->hinge_count, p->hinge);
    if (err == TAC_OK)
        err = tac_ids_add(ctx, &ids, 4 * (size_t)p->tetrahedron_count, p->tetrahedron);
    if (err) {
        free(ids.list);
        return err;
    }
    TAC_TRY(tac_ids_finish(ctx, &ids, &c->id, &c->count));
    TAC_TRY(tac_finder_make(ctx, c->id, c->count, &c->finder));
    TAC_TRY(tac_alloc(ctx, c->count, sizeof *c->holder, &c->holder));
    TAC_TRY(tac_alloc(ctx, 3 * c->count, sizeof *c->x, &c->x));
    TAC_TRY(tac_alloc(ctx, c->count, 1, &c->ever_free));
done:
    return err;
}

enum tac_err tac_corners_find(struct tac_ctx *ctx, const struct tac_pieces *pieces, struct tac_corners *out)
{
    struct told *told = NULL;
    enum tac_err err = list_corner_ids(ctx, pieces, out);
    if (err == TAC_OK)
        err = tac_alloc(ctx, out->count, sizeof *told, &told);
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_owners_find(ctx, pieces->vertex_total, pieces->vertex_count, pieces->vertex_id, NULL, out->count,
                            out->id, out->holder));
    TAC_TRY(tac_ask(ctx, TAC_OK, out->count, out->holder, out->id, answer_corner, pieces, sizeof *told, told));
    for (size_t i = 0; i < out->count; i++) {
        memcpy(out->x + 3 * i, told[i].x, sizeof told[i].x);
        out->ever_free[i] = told[i].ever_free != 0;
    }
done:
    free(told);
    return err;
}

void tac_corners_free(struct tac_corners *corners)
{
    free(corners->id);
    free(corners->holder);
    free(corners->x);
    free(corners->ever_free);
    tac_finder_free(&corners->finder);
    memset(corners, 0, sizeof *corners);
}
