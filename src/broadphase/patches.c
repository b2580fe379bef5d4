/* patches.c: which patches have kept their shape (docs/engine.md, Candidates).
 *
 * Let R be two orthonormal axes in space, u_i the flat coordinates of vertex i, and M a matrix of 2 by 2.  With
 * R^T q_i = M u_i + t + r_i a point p of one primitive and a point s of another, being means of their vertices, have
 *     |p - s| >= |R^T (p - s)| >= lambda |u(p) - u(s)| - 2 max |r_i|,
 * where lambda is the least eigenvalue of the symmetric part of M.  Bending alone makes R^T q shorter in second order
 * only.  The places q_i move on straight lines, and M and t with them: r_i is linear in time, its length convex, and
 * lambda concave, so that the ends of the lifetime are the worst.
 */
#include "broadphase/patches.h"
#include "base/four.h"
#include <math.h>
#include <string.h>

enum { VERTEX_COST = 2 }; /* tests of boxes */

/* A vertex of a patch at both ends of the time that is searched. */
struct spot {
    double u[2], q[2][3]; /* from the first vertex' place */
    double radius;
};

/* The linear map from flat coordinates to places that fits best, at both ends, and the mean of the places. */
struct map {
    double column[2][2][3], mean[2][3];
};

TAC_FOUR_INLINE void fit(const struct tac_candidates *c, const double *start, const struct tac_patch *patch,
                         const tac_lid *vertex, struct spot *spot, struct map *map)
{
    const double t[2] = {c->from_s, c->span_s};
    const struct tac_path_bound *first = &c->path_bound[vertex[0]];
    memset(map, 0, sizeof *map);
    for (int32_t i = 0; i < patch->vertex_count; i++, spot++) {
        const struct tac_path_bound *bound = &c->path_bound[vertex[i]];
        double d[3], w[2];
        tac_sub(d, &start[3 * (size_t)vertex[i]], patch->centre);
        spot->u[0] = tac_dot(d, patch->axis[0]);
        spot->u[1] = tac_dot(d, patch->axis[1]);
        spot->radius = bound->radius;
        w[0] = patch->inverse[0] * spot->u[0] + patch->inverse[1] * spot->u[1];
        w[1] = patch->inverse[1] * spot->u[0] + patch->inverse[2] * spot->u[1];
        for (int end = 0; end < 2; end++)
            for (int k = 0; k < 3; k++) {
                const double q = bound->x[k] - first->x[k] + t[end] * (bound->v[k] - first->v[k]);
                spot->q[end][k] = q;
                map->mean[end][k] += q;
                map->column[end][0][k] += q * w[0];
                map->column[end][1][k] += q * w[1];
            }
    }
    for (int end = 0; end < 2; end++)
        for (int k = 0; k < 3; k++)
            map->mean[end][k] /= patch->vertex_count;
}

/* Orthonormal axes R along the mean of the maps: its polar factor.  False: it is too thin for one. */
static bool axes(const struct map *map, double axis[2][3])
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

/* The least part of itself to which the maps m shrink a length. */
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

TAC_MORE_VERSIONS
static bool holds(const struct tac_candidates *c, const double *start, const struct tac_patch *patch,
                  const tac_lid *vertex)
{
    struct spot spot[TAC_PATCH_MOST];
    struct map map;
    double axis[2][3], m[2][2][2], worst = 0;
    fit(c, start, patch, vertex, spot, &map);
    if (!axes(&map, axis))
        return false;
    for (int end = 0; end < 2; end++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                m[end][i][j] = tac_dot(axis[i], map.column[end][j]);
    const double most = .5 * (tac_patch_room(patch, least_of(m)) - patch->margin - 8e-12 * c->extent);
    for (int32_t i = 0; i < patch->vertex_count; i++) {
        double squared[2];
        for (int end = 0; end < 2; end++) {
            double d[3];
            tac_sub(d, spot[i].q[end], map.mean[end]);
            const double rx = tac_dot(axis[0], d) - m[end][0][0] * spot[i].u[0] - m[end][0][1] * spot[i].u[1],
                         ry = tac_dot(axis[1], d) - m[end][1][0] * spot[i].u[0] - m[end][1][1] * spot[i].u[1];
            squared[end] = rx * rx + ry * ry;
        }
        const double rest = spot[i].radius + sqrt(squared[0] > squared[1] ? squared[0] : squared[1]);
        if (!(rest < most)) /* also of what is no number */
            return false;
        worst = rest > worst ? rest : worst;
    }
    return worst < most;
}

void tac_patches_ask(struct tac_patches *patches)
{
    if (patches)
        memset(patches->state, TAC_PATCH_UNKNOWN, (size_t)patches->count);
}

static bool is_near(const struct tac_patches *patches, int32_t a, int32_t b)
{
    const struct tac_patch *patch = &patches->patch[a];
    const int32_t *near = &patches->near[patch->near];
    for (int32_t k = 0; k < patch->near_count; k++)
        if (near[k] >= b)
            return near[k] == b;
    return false;
}

bool tac_patches_hold(const struct tac_candidates *c, const double *start, struct tac_patches *patches, int32_t a,
                      int32_t b, int64_t *cost)
{
    for (int side = 0; side < (a == b ? 1 : 2); side++) {
        const int32_t of = side ? b : a, with = side ? a : b;
        const struct tac_patch *patch = &patches->patch[of];
        if (patches->state[of] == TAC_PATCH_FAILS || !is_near(patches, of, with))
            continue;
        if (patches->state[of] == TAC_PATCH_UNKNOWN) {
            *cost += VERTEX_COST * patch->vertex_count;
            patches->state[of] =
                holds(c, start, patch, &patches->vertex[patch->vertex]) ? TAC_PATCH_HOLDS : TAC_PATCH_FAILS;
        }
        if (patches->state[of] == TAC_PATCH_HOLDS)
            return true;
    }
    return false;
}
