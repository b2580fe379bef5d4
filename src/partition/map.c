/* map.c: maps unknowns to points of surfaces, and back: for vertices that move by themselves, and for affine bodies. */
#include "partition/map.h"
#include <math.h>
#include <stdlib.h>
#include <tactus/math.h>

/* The inverse of a symmetric positive definite matrix by Cholesky's factors, M = L L^T; false if a pivot is under
 * `least` times its diagonal entry. */
static bool invert(int n, const double *m, double least, double *inverse)
{
    double l[16] = {0};
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = m[i * n + j];
            for (int k = 0; k < j; k++)
                s -= l[i * n + k] * l[j * n + k];
            if (i == j && !(s > least * m[i * n + i]))
                return false;
            l[i * n + j] = i == j ? sqrt(s) : s / l[j * n + j];
        }
    for (int c = 0; c < n; c++) {
        double y[4];
        for (int i = 0; i < n; i++) { /* L y = unit vector c */
            y[i] = i == c;
            for (int k = 0; k < i; k++)
                y[i] -= l[i * n + k] * y[k];
            y[i] /= l[i * n + i];
        }
        for (int i = n - 1; i >= 0; i--) { /* L^T z = y */
            for (int k = i + 1; k < n; k++)
                y[i] -= l[k * n + i] * y[k];
            y[i] /= l[i * n + i];
        }
        for (int i = 0; i <= c; i++) /* symmetric to the last bit */
            inverse[i * n + c] = inverse[c * n + i] = y[i];
    }
    return true;
}

/* Weights and masses of the points [begin, end) as one affine body. */
static bool make_affine(struct tac_map *map, struct tac_map_block *b, const struct tac_map_body *body, const double *x,
                        const double *mass)
{
    double total = 0;
    for (tac_lid i = body->begin; i < body->end; i++) {
        total += mass[i];
        for (int k = 0; k < 3; k++)
            b->centre[k] += mass[i] * x[3 * (size_t)i + (size_t)k];
    }
    for (int k = 0; k < 3; k++)
        b->centre[k] /= total;
    for (tac_lid i = body->begin; i < body->end; i++) {
        double *w = &map->weight[TAC_MAP_NODES * (size_t)i];
        w[0] = 1;
        for (int k = 0; k < 3; k++)
            w[1 + k] = x[3 * (size_t)i + (size_t)k] - b->centre[k];
        for (int p = 0; p < 4; p++)
            for (int q = 0; q < 4; q++)
                b->mass[4 * p + q] += mass[i] * (w[p] * w[q]);
    }
    return invert(4, b->mass, 1e-12, b->inverse);
}

static void make_vertex(struct tac_map *map, struct tac_map_block *b, tac_lid i, double mass)
{
    map->weight[TAC_MAP_NODES * (size_t)i] = 1;
    b->mass[0] = mass;
    b->inverse[0] = 1 / mass;
}

enum tac_err tac_map_create(struct tac_ctx *ctx, tac_lid n, const double *x, const double *mass, tac_lid body_count,
                            const struct tac_map_body *body, struct tac_map **out)
{
    enum tac_err err;
    struct tac_map *map = NULL;
    tac_lid next = 0; /* body */
    TAC_TRY(tac_alloc(ctx, 1, sizeof *map, &map));
    TAC_TRY(tac_alloc(ctx, (size_t)n, sizeof *map->block, &map->block));
    TAC_TRY(tac_alloc(ctx, (size_t)n, sizeof *map->of, &map->of));
    TAC_TRY(tac_alloc(ctx, TAC_MAP_NODES * (size_t)n, sizeof *map->weight, &map->weight));
    map->point_count = n;
    for (tac_lid i = 0; i < n;) {
        const bool affine = next < body_count && body[next].begin == i;
        const tac_lid end = affine ? body[next].end : i + 1;
        struct tac_map_block *b = &map->block[map->block_count];
        TAC_CHECK(end > i && end <= n);
        b->node = map->node_count;
        b->nodes = affine ? 4 : 1;
        if (!affine)
            make_vertex(map, b, i, mass[i]);
        else if (!make_affine(map, b, &body[next], x, mass))
            TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                             "the points of affine body %" TAC_PRILID " lie in a plane; give it thickness, or let its "
                             "vertices move by themselves",
                             next));
        next += affine;
        for (; i < end; i++)
            map->of[i] = map->block_count;
        map->node_count += b->nodes;
        map->block_count++;
    }
    TAC_CHECK(next == body_count);
done:
    if (err)
        tac_map_destroy(&map);
    *out = map;
    return err;
}

void tac_map_destroy(struct tac_map **map)
{
    if (*map == NULL)
        return;
    free((*map)->block);
    free((*map)->of);
    free((*map)->weight);
    free(*map);
    *map = NULL;
}

void tac_map_rest(const struct tac_map *map, const double *x, double *q)
{
    for (tac_lid i = 0; i < map->point_count; i++) {
        const struct tac_map_block *b = &map->block[map->of[i]];
        double *to = &q[3 * (size_t)b->node];
        if (b->nodes == 1) {
            memcpy(to, &x[3 * (size_t)i], 3 * sizeof *to);
            continue;
        }
        memcpy(to, b->centre, sizeof b->centre);
        for (int k = 0; k < 9; k++)
            to[3 + k] = k % 4 == 0; /* A = 1 */
    }
}

void tac_map_positions(const struct tac_map *map, const double *q, double *x)
{
    for (tac_lid i = 0; i < map->point_count; i++) {
        const struct tac_map_block *b = &map->block[map->of[i]];
        const double *w = &map->weight[TAC_MAP_NODES * (size_t)i], *from = &q[3 * (size_t)b->node];
        double *to = &x[3 * (size_t)i];
        for (int k = 0; k < 3; k++) {
            to[k] = w[0] * from[k];
            for (int p = 1; p < b->nodes; p++)
                to[k] += w[p] * from[3 * p + k];
        }
    }
}

/* Adds W^T j of point i. */
static void add_transposed(const struct tac_map *map, const struct tac_map_block *b, tac_lid i, const double *j,
                           double *force)
{
    const double *w = &map->weight[TAC_MAP_NODES * (size_t)i];
    for (int p = 0; p < b->nodes; p++)
        for (int k = 0; k < 3; k++)
            force[3 * p + k] += w[p] * j[k];
}

void tac_map_transpose(const struct tac_map *map, const double *f, double *force)
{
    memset(force, 0, 3 * (size_t)map->node_count * sizeof *force);
    for (tac_lid i = 0; i < map->point_count; i++) {
        const struct tac_map_block *b = &map->block[map->of[i]];
        add_transposed(map, b, i, &f[3 * (size_t)i], &force[3 * (size_t)b->node]);
    }
}

/* out = M u of one block, by `matrix`: its mass or the inverse of that. */
static void multiply(const struct tac_map_block *b, const double *matrix, const double *u, double *out)
{
    for (int p = 0; p < b->nodes; p++)
        for (int k = 0; k < 3; k++) {
            out[3 * p + k] = matrix[p * b->nodes] * u[k];
            for (int q = 1; q < b->nodes; q++)
                out[3 * p + k] += matrix[p * b->nodes + q] * u[3 * q + k];
        }
}

void tac_map_mass(const struct tac_map *map, const double *u, double *out)
{
    for (tac_lid i = 0; i < map->block_count; i++) {
        const struct tac_map_block *b = &map->block[i];
        multiply(b, b->mass, &u[3 * (size_t)b->node], &out[3 * (size_t)b->node]);
    }
}

double tac_map_apply(const struct tac_map *map, double *u, const tac_lid *stencil, int n, const double (*j)[3])
{
    double work = 0;
    for (int i = 0; i < n; i++) { /* one point after the other: those of one block add up */
        const struct tac_map_block *b = &map->block[map->of[stencil[i]]];
        double force[3 * TAC_MAP_NODES] = {0}, change[3 * TAC_MAP_NODES], *to = &u[3 * (size_t)b->node];
        add_transposed(map, b, stencil[i], j[i], force);
        multiply(b, b->inverse, force, change);
        for (int k = 0; k < 3 * b->nodes; k++) {
            work += force[k] * (to[k] + .5 * change[k]);
            to[k] += change[k];
        }
    }
    return work;
}
