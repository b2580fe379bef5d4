/* patches.c: finds the patches that have kept their shape (docs/reference/engine.md, Candidates).
 *
 * Let R be two orthonormal axes in space, u_i the flat coordinates of vertex i, and M a matrix of 2 by 2.  With
 * R^T q_i = M u_i + t + r_i a point p of one primitive and a point s of another, being means of their vertices, have
 *     |p - s| >= |R^T (p - s)| >= lambda |u(p) - u(s)| - max |r_i| - max |r_j|,
 * over the vertices i of the one and j of the other, where lambda is the least eigenvalue of the symmetric part of M.
 * Bending alone makes R^T q shorter in second order only.  The places q_i move on straight lines, and M and t with
 * them: r_i is linear in time, its length convex, and lambda concave, so that the ends of the lifetime are the worst.
 */
#include "broadphase/patches.h"
#include "geometry/distance_four.h"
#include <math.h>
#include <string.h>

enum { VERTEX_COST = 2 }; /* tests of boxes */

/* A vertex of a patch at both ends of the time that is searched. */
struct spot {
    tac_four q[2]; /* from the first vertex' place; the fourth number means nothing */
    double u[2];
    double radius;
};

/* The linear map from flat coordinates to places that fits best, at both ends, and the mean of the places. */
struct map {
    double column[2][2][4], mean[2][4];
};

TAC_FOUR_INLINE void fit(const struct tac_candidates *c, const double *start, const struct tac_patch *patch,
                         const tac_lid *vertex, struct spot *spot, struct map *map)
{
    const tac_four from = tac_four_all(c->from_s), span = tac_four_all(c->span_s);
    tac_four x0, v0, column[2][2] = {{{0}}}, mean[2] = {{0}};
    memcpy(&x0, c->path_bound[vertex[0]].x, sizeof x0);
    memcpy(&v0, c->path_bound[vertex[0]].v, sizeof v0);
    for (int32_t i = 0; i < patch->vertex_count; i++, spot++) {
        const struct tac_path_bound *bound = &c->path_bound[vertex[i]];
        tac_four x, v;
        double d[3];
        memcpy(&x, bound->x, sizeof x);
        memcpy(&v, bound->v, sizeof v);
        tac_sub(d, &start[3 * (size_t)vertex[i]], patch->centre);
        spot->u[0] = tac_dot(d, patch->axis[0]);
        spot->u[1] = tac_dot(d, patch->axis[1]);
        spot->radius = v[3]; /* it is behind v */
        spot->q[0] = x - x0 + from * (v - v0);
        spot->q[1] = x - x0 + span * (v - v0);
        const tac_four wx = tac_four_all(patch->inverse[0] * spot->u[0] + patch->inverse[1] * spot->u[1]),
                       wy = tac_four_all(patch->inverse[1] * spot->u[0] + patch->inverse[2] * spot->u[1]);
        for (int end = 0; end < 2; end++) {
            mean[end] += spot->q[end];
            column[end][0] += spot->q[end] * wx;
            column[end][1] += spot->q[end] * wy;
        }
    }
    for (int end = 0; end < 2; end++) {
        mean[end] /= tac_four_all(patch->vertex_count);
        memcpy(map->mean[end], &mean[end], sizeof mean[end]);
        for (int j = 0; j < 2; j++)
            memcpy(map->column[end][j], &column[end][j], sizeof column[end][j]);
    }
}

/* Computes the orthonormal axes R, which are the polar factor of the mean of the maps. Returns false if the patch is
 * too thin for it. */
static bool fit_axes(const struct map *map, double axis[2][3])
{
    double g[2][3];
    for (int j = 0; j < 2; j++)
        for (int k = 0; k < 3; k++)
            g[j][k] = .5 * (map->column[0][j][k] + map->column[1][j][k]);
    const double xx = tac_dot(g[0], g[0]), xy = tac_dot(g[0], g[1]), yy = tac_dot(g[1], g[1]),
                 root = sqrt(xx * yy - xy * xy), size = sqrt(xx + yy + 2 * root);
    if (!(root > .05 * (xx + yy)))
        return false;
    /* The root of the matrix is (itself + root) / size; its determinant is `root`. */
    const double a = (yy + root) / (size * root), b = -xy / (size * root), d = (xx + root) / (size * root);
    for (int k = 0; k < 3; k++) {
        axis[0][k] = a * g[0][k] + b * g[1][k];
        axis[1][k] = b * g[0][k] + d * g[1][k];
    }
    return true;
}

/* Returns the least factor by which the maps m shrink a length. */
static double least_of(const double m[2][2][2])
{
    double lambda = INFINITY;
    for (int end = 0; end < 2; end++) {
        const double mean = .5 * (m[end][0][0] + m[end][1][1]), half = .5 * (m[end][0][0] - m[end][1][1]),
                     off = .5 * (m[end][0][1] + m[end][1][0]), least = mean - sqrt(half * half + off * off);
        lambda = !(least >= lambda) ? least : lambda; /* also what is no number */
    }
    return lambda;
}

/* Computes, for the first 1, 2, .. vertices, the largest distance from the position that the maps m give, m. Returns
 * false if some value is not a number. */
TAC_FOUR_INLINE bool rests(const struct tac_patch *patch, const struct spot *spot, const struct map *map,
                           const double axis[2][3], const double m[2][2][2], double *rest)
{
    tac_four along[3], column[2], mean[2];
    double worst = 0;
    /* Side by side: along both axes at the start, and at the end. */
    for (int k = 0; k < 3; k++)
        along[k] = (tac_four){axis[0][k], axis[1][k], axis[0][k], axis[1][k]};
    for (int j = 0; j < 2; j++) {
        column[j] = (tac_four){m[0][0][j], m[0][1][j], m[1][0][j], m[1][1][j]};
        memcpy(&mean[j], map->mean[j], sizeof mean[j]);
    }
    for (int32_t i = 0; i < patch->vertex_count; i++) {
        const tac_four p = spot[i].q[0] - mean[0], q = spot[i].q[1] - mean[1],
                       x = __builtin_shufflevector(p, q, 0, 0, 4, 4), y = __builtin_shufflevector(p, q, 1, 1, 5, 5),
                       z = __builtin_shufflevector(p, q, 2, 2, 6, 6),
                       r = along[0] * x + along[1] * y + along[2] * z - column[0] * tac_four_all(spot[i].u[0]) -
                           column[1] * tac_four_all(spot[i].u[1]),
                       rr = r * r;
        const double begin = rr[0] + rr[1], end = rr[2] + rr[3], off = spot[i].radius + sqrt(begin > end ? begin : end);
        if (!(begin < INFINITY && off < INFINITY))
            return false;
        worst = off > worst ? off : worst;
        rest[i] = worst;
    }
    return true;
}

/* Tests each block of a patch; sets near[].holds. */
TAC_MORE_VERSIONS
static void test_blocks(const struct tac_candidates *c, const double *start, struct tac_patches *patches,
                        const struct tac_patch *patch)
{
    struct tac_patch_near *near = &patches->beside[patch->near];
    struct spot spot[TAC_PATCH_MOST];
    struct map map;
    double axis[2][3], m[2][2][2], rest[TAC_PATCH_MOST];
    for (int32_t k = 0; k < patch->near_count; k++)
        near[k].holds = 0;
    fit(c, start, patch, &patches->vertex[patch->vertex], spot, &map);
    if (!fit_axes(&map, axis))
        return;
    for (int end = 0; end < 2; end++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                m[end][i][j] = tac_dot(axis[i], map.column[end][j]);
    if (!rests(patch, spot, &map, axis, m, rest))
        return;
    const double lambda = least_of(m), own = rest[patch->own - 1] + patch->margin + 8e-12 * c->extent;
    for (int32_t k = 0; k < patch->near_count; k++)
        near[k].holds = own + rest[near[k].vertices - 1] < tac_patch_room(patches, &near[k], lambda);
}

void tac_patches_ask(struct tac_patches *patches)
{
    if (patches)
        memset(patches->asked, 0, (size_t)patches->count);
}

/* Returns the place of a block among the near ones of a patch, or -1. */
TAC_FOUR_INLINE int32_t place_of(const struct tac_patches *patches, const struct tac_patch *patch, int32_t block)
{
    const int32_t *near = &patches->near[patch->near];
    int32_t place = -1;
    for (int32_t k = 0; k < patch->near_count; k++) /* without a branch */
        place = near[k] == block ? k : place;
    return place;
}

TAC_VERSIONS
bool tac_patches_hold(const struct tac_candidates *c, const double *start, struct tac_patches *patches, int32_t a,
                      int32_t b, int64_t *cost)
{
    for (int side = 0; side < (a == b ? 1 : 2); side++) {
        const int32_t of = side ? b : a, with = side ? a : b;
        const struct tac_patch *patch = &patches->patch[of];
        const int32_t place = place_of(patches, patch, with);
        if (place < 0)
            continue;
        if (!patches->asked[of]) {
            *cost += VERTEX_COST * patch->vertex_count;
            test_blocks(c, start, patches, patch);
            patches->asked[of] = 1;
        }
        if (patches->beside[patch->near + place].holds)
            return true;
    }
    return false;
}
