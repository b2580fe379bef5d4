/* hand.h: small systems of equations written by hand: springs between nodes and matrices at nodes, on any ranks. */
#ifndef TACTUS_TESTS_SOLVE_HAND_H
#define TACTUS_TESTS_SOLVE_HAND_H

#include "check.h"
#include "solve/invariant.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HAND_NODES = 900, HAND_LINKS = 4000 };

struct hand_link {
    int a, b;         /* b < 0: a matrix at a alone */
    double dense[36]; /* (6, 6), or (3, 3) in the first nine */
};

/* The whole system, on every rank. */
struct hand {
    int nodes, links;
    double x[HAND_NODES][3], side[HAND_NODES][3];
    uint8_t fixed[HAND_NODES];
    double translate[HAND_NODES];
    bool with_translate;
    struct hand_link link[HAND_LINKS];
};

static inline struct hand *hand_make(int nodes)
{
    struct hand *h = calloc(1, sizeof *h);
    h->nodes = nodes;
    for (int i = 0; i < nodes; i++) {
        h->x[i][0] = i % 10 * .1;
        h->x[i][1] = i / 10 % 10 * .1;
        h->x[i][2] = i / 100 * .1;
        h->translate[i] = 1;
        for (int c = 0; c < 3; c++)
            h->side[i][c] = 1 + i % 7 - c;
    }
    return h;
}

/* k times the identity at a node. */
static inline void hand_mass(struct hand *h, int a, double k)
{
    struct hand_link *l = &h->link[h->links++];
    *l = (struct hand_link){.a = a, .b = -1};
    for (int c = 0; c < 3; c++)
        l->dense[4 * c] = k;
}

/* The spring k n n^T between two nodes; n NULL: all three directions. */
static inline void hand_spring(struct hand *h, int a, int b, double k, const double *n)
{
    struct hand_link *l = &h->link[h->links++];
    *l = (struct hand_link){.a = a, .b = b};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            l->dense[6 * i + j] = (i / 3 == j / 3 ? k : -k) * (n ? n[i % 3] * n[j % 3] : i % 3 == j % 3);
}

/* The same of a block of one's own: [0 B; B^T 0]. */
static inline void hand_block(struct hand *h, int a, int b, const double block[9])
{
    struct hand_link *l = &h->link[h->links++];
    *l = (struct hand_link){.a = a, .b = b};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            l->dense[6 * i + 3 + j] = block[3 * i + j];
            l->dense[6 * (3 + j) + i] = block[3 * i + j];
        }
}

/* What a rank has of it. */
struct hand_system {
    struct tac_nodes nodes;
    tac_gid *id;
    int32_t *owner;
    tac_lid *local; /* of a global id */
    double *position, *translate, *side, *x;
    uint8_t *fixed;
    struct tac_matrix *matrix;
    struct tac_system system;
};

/* Node i belongs to rank (i / chunk) % ranks. */
static inline enum tac_err distribute_by_hand(struct tac_ctx *ctx, const struct hand *h, int chunk,
                                              struct hand_system *out)
{
    const size_t n = (size_t)h->nodes + 1;
    enum tac_err err;
    memset(out, 0, sizeof *out);
    out->id = calloc(n, sizeof *out->id);
    out->owner = calloc(n, sizeof *out->owner);
    out->local = calloc(n, sizeof *out->local);
    out->position = calloc(3 * n, sizeof(double));
    out->translate = calloc(n, sizeof(double));
    out->side = calloc(3 * n, sizeof(double));
    out->x = calloc(3 * n, sizeof(double));
    out->fixed = calloc(n, 1);
    tac_lid *stencil[2] = {calloc(2 * HAND_LINKS, sizeof(tac_lid)), calloc(HAND_LINKS, sizeof(tac_lid))};
    int *which[2] = {calloc(HAND_LINKS, sizeof(int)), calloc(HAND_LINKS, sizeof(int))};
    for (int ghosts = 0; ghosts < 2; ghosts++)
        for (int i = 0; i < h->nodes; i++)
            if ((i / chunk % ctx->size != ctx->rank) == ghosts) {
                out->local[i] = out->nodes.count;
                out->id[out->nodes.count] = i;
                out->owner[out->nodes.count++] = i / chunk % ctx->size;
                out->nodes.owned += !ghosts;
            }
    out->nodes.id = out->id;
    out->nodes.owner = out->owner;
    struct tac_stencil_list list[2] = {{0, 2, stencil[0]}, {0, 1, stencil[1]}};
    for (int k = 0; k < h->links; k++) {
        const int one = h->link[k].b < 0;
        tac_lid *to = stencil[one] + list[one].count * (size_t)list[one].nodes;
        to[0] = out->local[h->link[k].a];
        if (!one)
            to[1] = out->local[h->link[k].b];
        if (to[0] < out->nodes.owned || (!one && to[1] < out->nodes.owned))
            which[one][list[one].count++] = k;
    }
    err = tac_matrix_create(ctx, &out->nodes, 2, list, &out->matrix);
    for (int one = 0; one < 2 && !err; one++)
        for (size_t e = 0; e < list[one].count; e++)
            tac_matrix_add(out->matrix, one, e, h->link[which[one][e]].dense);
    for (tac_lid i = 0; i < out->nodes.owned; i++) {
        const size_t v = (size_t)out->id[i], at = (size_t)i;
        memcpy(out->position + 3 * at, h->x[v], sizeof h->x[v]);
        memcpy(out->side + 3 * at, h->side[v], sizeof h->side[v]);
        out->fixed[i] = h->fixed[v];
        out->translate[i] = h->translate[v];
    }
    out->system = (struct tac_system){.nodes = out->nodes,
                                      .matrix = out->matrix,
                                      .position = out->position,
                                      .translate = h->with_translate ? out->translate : NULL,
                                      .fixed = out->fixed};
    for (int k = 0; k < 2; k++) {
        free(stencil[k]);
        free(which[k]);
    }
    return err;
}

static inline void hand_free(struct hand_system *s)
{
    tac_matrix_destroy(&s->matrix);
    free(s->id);
    free(s->owner);
    free(s->local);
    free(s->position);
    free(s->translate);
    free(s->side);
    free(s->x);
    free(s->fixed);
}

/* 1: with levels, several even for the small systems here; 2: and every rank cuts them alone; static: each test sets
 * its own. */
static int hand_levels;
static const struct tac_level_rule hand_level_rule[] = {
    {.flat = 0, .most = 24, .pairs = 4, .dense = 24}, {.flat = 0, .most = 24, .pairs = 4, .dense = 24, .alone = 99999}};

static inline enum tac_err hand_create(struct tac_ctx *ctx, struct tac_solver **solver)
{
    const enum tac_err err = tac_solver_create(ctx, "invariant", "", solver);
    if (!err && hand_levels)
        ((struct tac_invariant *)tac_solver_self(*solver))->rule = hand_level_rule[hand_levels - 1];
    return err;
}

/* Creates a solver, cuts, factors and solves.  Like the solver's functions, the same code on all ranks; ctx->error as
 * they leave it. */
static inline enum tac_err hand_solve(struct tac_ctx *ctx, struct hand_system *s, double tolerance, int limit,
                                      struct tac_solve_result *result, struct tac_solver_stats *stats)
{
    struct tac_solver *solver = NULL;
    memset(result, 0, sizeof *result);
    ctx->error[0] = '\0';
    enum tac_err err = hand_create(ctx, &solver);
    err = err ? err : tac_solver_cut(solver, &s->system);
    err = err ? err : tac_solver_factor(solver, &s->system);
    err = err ? err : tac_solver_solve(solver, s->side, s->x, tolerance, limit, result);
    if (stats && solver)
        *stats = *tac_solver_stats(solver);
    tac_solver_destroy(&solver);
    return err;
}

/* All ranks' x on all ranks, (nodes, 3), to be freed. */
static inline double *hand_gather(struct tac_ctx *ctx, const struct hand *h, const struct hand_system *s)
{
    double *all = calloc(3 * (size_t)h->nodes + 1, sizeof *all);
    for (tac_lid i = 0; i < s->nodes.owned; i++)
        memcpy(all + 3 * s->id[i], s->x + 3 * (size_t)i, 3 * sizeof *all);
    MPI_Allreduce(MPI_IN_PLACE, all, 3 * h->nodes, MPI_DOUBLE, MPI_SUM, ctx->comm);
    return all;
}

/* Solves the whole system densely, by elimination with pivots; x (nodes, 3) to be freed. */
static inline double *hand_direct(const struct hand *h)
{
    const int n = 3 * h->nodes;
    double *a = calloc((size_t)n * (size_t)(n + 1) + 1, sizeof *a), *x = calloc((size_t)n + 1, sizeof *x);
    for (int k = 0; k < h->links; k++) {
        const struct hand_link *l = &h->link[k];
        const int m = l->b < 0 ? 3 : 6, node[2] = {l->a, l->b};
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++)
                a[(3 * node[i / 3] + i % 3) * (n + 1) + 3 * node[j / 3] + j % 3] += l->dense[m * i + j];
    }
    for (int i = 0; i < n; i++) {
        a[i * (n + 1) + n] = h->side[i / 3][i % 3];
        for (int j = 0; j < n && h->fixed[i / 3]; j++)
            a[i * (n + 1) + j] = i == j;
    }
    for (int p = 0; p < n; p++) {
        int best = p;
        for (int i = p; i < n; i++)
            best = fabs(a[i * (n + 1) + p]) > fabs(a[best * (n + 1) + p]) ? i : best;
        for (int j = p; j <= n && best != p; j++) {
            const double swap = a[p * (n + 1) + j];
            a[p * (n + 1) + j] = a[best * (n + 1) + j];
            a[best * (n + 1) + j] = swap;
        }
        for (int i = p + 1; i < n; i++) {
            const double by = a[i * (n + 1) + p] / a[p * (n + 1) + p];
            for (int j = p; j <= n && by != 0; j++)
                a[i * (n + 1) + j] -= by * a[p * (n + 1) + j];
        }
    }
    for (int p = n - 1; p >= 0; p--) {
        x[p] = a[p * (n + 1) + n];
        for (int j = p + 1; j < n; j++)
            x[p] -= a[p * (n + 1) + j] * x[j];
        x[p] /= a[p * (n + 1) + p];
    }
    free(a);
    return x;
}

/* Largest difference over the largest number. */
static inline double hand_apart(const struct hand *h, const double *x, const double *y)
{
    double apart = 0, size = 0;
    for (int k = 0; k < 3 * h->nodes; k++) {
        apart = !(fabs(x[k] - y[k]) <= apart) ? fabs(x[k] - y[k]) : apart;
        size = fabs(y[k]) > size ? fabs(y[k]) : size;
    }
    return size > 0 ? apart / size : apart;
}

/* A tower of nodes, 10 by 10 by some, with springs to the nodes around. */
static inline struct hand *hand_tower(int nodes, double mass)
{
    static const int step[7] = {1, 10, 100, 11, 101, 110, 111};
    struct hand *h = hand_make(nodes);
    for (int i = 0; i < nodes; i++)
        for (int s = 0; s < 7; s++) {
            const int j = i + step[s];
            if (j >= nodes || (step[s] % 10 && i % 10 == 9) || (step[s] / 10 % 10 && i / 10 % 10 == 9))
                continue;
            double n[3] = {h->x[j][0] - h->x[i][0], h->x[j][1] - h->x[i][1], h->x[j][2] - h->x[i][2]};
            const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
            for (int c = 0; c < 3; c++)
                n[c] /= length;
            if (h->links < HAND_LINKS - HAND_NODES)
                hand_spring(h, i, j, 1e4 * (1 + s), n);
        }
    for (int i = 0; i < nodes; i++)
        hand_mass(h, i, mass);
    return h;
}

#endif
