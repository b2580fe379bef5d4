/* place.c: computes where a script puts a vertex at a time. */
#include "mesh/cache/point_cache.h"
#include <tactus/scene.h>

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

struct tac_motion_at tac_motion_find(const struct tac_scene *scene, const struct tac_motion *m, tac_time t)
{
    tac_lid lo = 0, hi = m->knot_count - 1; /* the last knot that is not after t, if there is one */
    struct tac_motion_at at = {t < tac_scene_quanta(scene, m->knot_t_s[0]), 0, 0};
    if (at.before)
        return at;
    while (lo < hi) {
        const tac_lid mid = hi - (hi - lo) / 2;
        if (tac_scene_quanta(scene, m->knot_t_s[mid]) <= t)
            lo = mid;
        else
            hi = mid - 1;
    }
    at.from = lo + 1 == m->knot_count && m->release && lo > 0 ? lo - 1 : lo;
    if (at.from + 1 < m->knot_count) {
        const tac_time begin = tac_scene_quanta(scene, m->knot_t_s[at.from]);
        const tac_time end = tac_scene_quanta(scene, m->knot_t_s[at.from + 1]);
        at.share = (double)(t - begin) / (double)(end - begin);
    }
    return at;
}

void tac_motion_place(const struct tac_scene *scene, const struct tac_motion *m, const double origin[3], tac_time t,
                      double x[3])
{
    const struct tac_motion_at at = tac_motion_find(scene, m, t);
    const tac_lid from = at.from;
    const double share = at.share;
    memcpy(x, origin, 3 * sizeof *x);
    if (at.before)
        return;
    if (m->displacement != NULL) {
        const double *d = &m->displacement[3 * (size_t)from];
        for (int c = 0; c < 3; c++)
            x[c] = origin[c] + (share != 0 ? d[c] + share * (d[3 + c] - d[c]) : d[c]);
        return;
    }
    const double turn = m->degrees[from] + (share != 0 ? share * (m->degrees[from + 1] - m->degrees[from]) : 0);
    if (turn == 0)
        return;
    double vector[3], matrix[9], r[3];
    for (int c = 0; c < 3; c++)
        vector[c] = turn * (TAC_PI / 180) * m->axis[c];
    tac_rotation(vector, matrix);
    tac_sub(r, origin, m->center);
    for (int c = 0; c < 3; c++)
        x[c] = m->center[c] + tac_dot(&matrix[3 * c], r);
}

/* ---- files of positions ---- */

/* Returns how many consecutive knots lie within ahead_s, with the one before and the one after them. */
static size_t slots_for(const struct tac_motion *m, double ahead_s)
{
    tac_lid most = 0;
    for (tac_lid a = 0, b = 0; b < m->knot_count; b++) {
        while (m->knot_t_s[b] - m->knot_t_s[a] > ahead_s)
            a++;
        most = b - a + 1 > most ? b - a + 1 : most;
    }
    most += 3;
    return (size_t)(most < m->knot_count ? most : m->knot_count > 2 ? m->knot_count : 2);
}

enum tac_err tac_motion_rows(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_motion *m,
                             size_t count, const tac_gid *id, double ahead_s, struct tac_knot_rows **out)
{
    int64_t *number = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, count, sizeof *number, &number));
    for (size_t i = 0; i < count; i++)
        number[i] = id[i] - scene->settings->body[m->body].vertex_begin;
    TAC_TRY(tac_knot_rows_create(ctx, m->cache, count, number, slots_for(m, ahead_s), out));
done:
    free(number);
    return err;
}

void tac_motion_place_row(struct tac_knot_rows *rows, const struct tac_motion_at *at, size_t i, const double origin[3],
                          double x[3])
{
    const double *a = at->before || at->from == 0 ? NULL : tac_knot_rows_at(rows, at->from);
    memcpy(x, a != NULL ? a + 3 * i : origin, 3 * sizeof *x);
    if (at->share == 0 || rows->err != TAC_OK)
        return;
    const double *b = tac_knot_rows_at(rows, at->from + 1);
    for (size_t c = 0; c < 3 && b != NULL; c++)
        x[c] += at->share * (b[3 * i + c] - x[c]);
}
