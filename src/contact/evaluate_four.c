/* evaluate_four.c: evaluates four pairs at an instant side by side (docs/reference/engine.md, Layer groups): their
 * positions, whether they are silent, and otherwise their distances. evaluate.h computes the same for one pair.
 */
#include "contact/evaluate_four.h"
#include "contact/evaluate.h"
#include "geometry/distance_four.h"
#include <string.h>

/* The guard of a pair so large that products of its coordinates overflow, m. */
static const double ASTRAY = 0x1p-44 * 1e70;

/* Coordinates of vertex k of four pairs. */
TAC_FOUR_INLINE void gather(tac_four x[3], const struct tac_vertex_state *state, const struct tac_scripts *scripts,
                            struct tac_pair *const p[4], int k, tac_time t)
{
    tac_four a, b, c, d;
    tac_state_position_row(&a, state, scripts, p[0]->v[k], t);
    tac_state_position_row(&b, state, scripts, p[1]->v[k], t);
    tac_state_position_row(&c, state, scripts, p[2]->v[k], t);
    tac_state_position_row(&d, state, scripts, p[3]->v[k], t);
    tac_four_columns(x, a, b, c, d);
}

/* Values that are not numbers are ignored, as in tac_pair_beyond(). */
TAC_FOUR_INLINE tac_four lesser(tac_four least, tac_four along)
{
    return tac_four_select(along < least, along, least);
}
TAC_FOUR_INLINE tac_four greater(tac_four most, tac_four along)
{
    return tac_four_select(along > most, along, most);
}

/* The last normals of four pairs. */
TAC_FOUR_INLINE void normals(tac_four n[3], struct tac_pair *const p[4])
{
    typedef float four_floats __attribute__((vector_size(16)));
    four_floats row[4];
    for (int l = 0; l < 4; l++)
        memcpy(&row[l], p[l]->normal, sizeof row[l]); /* and the guard behind it */
    tac_four_columns(n, __builtin_convertvector(row[0], tac_four), __builtin_convertvector(row[1], tac_four),
                     __builtin_convertvector(row[2], tac_four), __builtin_convertvector(row[3], tac_four));
}

/* Lower bounds of the distances: the primitives' extents along the last normals (tac_pair_beyond). */
TAC_FOUR_INLINE tac_four bounds(const tac_four x[4][3], struct tac_pair *const p[4], int first)
{
    tac_four n[3];
    normals(n, p);
    tac_four least = tac_four_all(0), most = tac_four_all(-INFINITY);
    for (int k = 1; k < 4; k++) {
        const tac_four along = n[0] * (x[k][0] - x[0][0]) + n[1] * (x[k][1] - x[0][1]) + n[2] * (x[k][2] - x[0][2]);
        if (k < first)
            least = lesser(least, along);
        else
            most = greater(most, along);
    }
    return least - most;
}

/* Rounding of a distance and of its bound, as in tac_pair_evaluate(). */
TAC_FOUR_INLINE tac_four guards(const tac_four x[4][3])
{
    tac_four size = tac_four_all(0);
    for (int k = 1; k < 4; k++)
        for (int c = 0; c < 3; c++)
            size += tac_four_absolute(x[k][c] - x[0][c]);
    return tac_four_all(0x1p-44) * size;
}

/* Lanes that are silent, by bounds of their distances. */
TAC_FOUR_INLINE int lanes_beyond(tac_four bound, tac_four over)
{
    return tac_four_lanes((bound > over) & (bound < tac_four_all(INFINITY)));
}

/* Evaluates a pair of a pass that diverged, where products of coordinates are not numbers. All ranks that share the
 * pair must get the same result, whichever other pairs they evaluate beside it. Not inline, so that it costs nothing
 * elsewhere. */
static __attribute__((noinline, cold)) void evaluate_alone(const struct tac_vertex_state *state,
                                                           const struct tac_scripts *scripts, struct tac_pair *p,
                                                           tac_time t, struct tac_pair_geometry *g)
{
    double x[4][3];
    for (int k = 0; k < p->count; k++)
        tac_state_position(state, scripts, p->v[k], t, x[k]);
    tac_pair_evaluate(p, (const double(*)[3])x, g);
}

/* Distance and normal of one of four pairs. */
TAC_FOUR_INLINE void tell(const struct tac_near_four *four, int l, struct tac_near *near)
{
    near->d = four->d[l];
    for (int k = 0; k < 3; k++)
        near->n[k] = four->n[k][l];
}

/* The rule of flat parts, for one of four pairs. */
static void pass_over(const struct tac_pair *p, const tac_four x[4][3], int l, struct tac_pair_geometry *g)
{
    double y[4][3];
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++)
            y[k][c] = x[k][c][l];
    if (tac_flat_beyond(p->flat, (const double(*)[3])y, &g->near))
        g->mollifier = 0;
}

TAC_MORE_VERSIONS int tac_pairs_evaluate_four(const struct tac_vertex_state *state, const struct tac_scripts *scripts,
                                              struct tac_pair *const p[4], const double silent_over[4], double bound[4],
                                              tac_time t, struct tac_pair_geometry *const g[4])
{
    const enum tac_pair_type type = (enum tac_pair_type)p[0]->type;
    tac_four x[4][3], over;
    struct tac_near_four near;
    for (int k = 0; k < 4; k++)
        gather(x[k], state, scripts, p, k, t);
    memcpy(&over, silent_over, sizeof over);
    const tac_four least = bounds(x, p, tac_pair_first(type));
    memcpy(bound, &least, sizeof least);
    const int silent = lanes_beyond(least, over);
    if (silent == 0xf)
        return silent;
    const int careful =
        type == TAC_PAIR_EDGE_EDGE ? tac_near_four_edge_edge(x, &near) : tac_near_four_vertex_triangle(x, &near);
    const tac_four guard = guards(x);
    for (int l = 0; l < 4; l++) {
        if (silent >> l & 1)
            continue;
        struct tac_pair_geometry *q = g[l];
        tell(&near, l, &q->near);
        for (int k = 0; k < 4; k++)
            q->near.w[k] = near.w[k][l];
        q->mollifier = 1;
        if (careful >> l & 1) {
            double y[4][3], gradient[4][3];
            for (int k = 0; k < 4; k++)
                for (int c = 0; c < 3; c++)
                    y[k][c] = x[k][c][l];
            if (type == TAC_PAIR_EDGE_EDGE)
                tac_mollifier(y, &q->mollifier, gradient);
            else
                tac_near_vertex_triangle(y, &q->near);
        }
        tac_pair_evaluated(p[l], q, guard[l]);
        if (tac_flat_nearest(p[l]->flat, q->near.w))
            pass_over(p[l], x, l, q);
        if (__builtin_expect(!(guard[l] < ASTRAY), 0))
            evaluate_alone(state, scripts, p[l], t, q);
    }
    return silent;
}

/* Does the same for four pairs of particles, which have half as many vertices and only one case. */
TAC_MORE_VERSIONS int tac_particles_evaluate_four(const struct tac_vertex_state *state,
                                                  const struct tac_scripts *scripts, struct tac_pair *const p[4],
                                                  const double silent_over[4], double bound[4], tac_time t,
                                                  struct tac_pair_geometry *const g[4])
{
    tac_four a[3], b[3], r[3], n[3], over, along, size = tac_four_all(0);
    struct tac_near_four near;
    gather(a, state, scripts, p, 0, t);
    gather(b, state, scripts, p, 1, t);
    normals(n, p);
    tac_four_sub(r, b, a);
    along = n[0] * r[0] + n[1] * r[1] + n[2] * r[2];
    for (int c = 0; c < 3; c++)
        size += tac_four_absolute(r[c]);
    const tac_four least = tac_four_all(0) - along, guard = tac_four_all(0x1p-44) * size;
    memcpy(&over, silent_over, sizeof over);
    memcpy(bound, &least, sizeof least);
    const int silent = lanes_beyond(least, over);
    if (silent == 0xf)
        return silent;
    tac_four_sub(r, a, b);
    tac_near_four_finish(r, &near);
    for (int l = 0; l < 4; l++) {
        if (silent >> l & 1)
            continue;
        struct tac_pair_geometry *q = g[l];
        tell(&near, l, &q->near);
        q->near.w[0] = 1;
        q->near.w[1] = -1;
        q->near.w[2] = q->near.w[3] = 0; /* friction keeps all four */
        q->mollifier = 1;
        tac_pair_evaluated(p[l], q, guard[l]);
    }
    return silent;
}
