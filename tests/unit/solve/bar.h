/* bar.h: the system of equations that tests and the bench of the linear solver solve.
 *
 * A bar of tetrahedra, nx by ny by nz cubes of 6, is bent by 180 degrees so that one half lies upon the other, and
 * vertices of one half touch triangles of the other.  Stiffness is that of linear elasticity, turned with the bend
 * (corotated); each contact is k n n^T, with stiffness over some decades; masses are over the square of a time step.
 * The nodes of one end are held.  Each rank makes only what touches its nodes; all numbers follow from ids. */
#ifndef TACTUS_TESTS_SOLVE_BAR_H
#define TACTUS_TESTS_SOLVE_BAR_H

#include "solve/solver.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

enum bar_distribution { BAR_SLABS, BAR_MIXED, BAR_LAST_ALONE, BAR_RANDOM, BAR_DISTRIBUTIONS };

struct bar_options {
    int nx, ny, nz;
    double decades; /* contacts are up to 10^decades times as stiff as the bar's nodes */
    double step_s;
    enum bar_distribution distribution;
    uint64_t seed; /* of BAR_RANDOM */
    bool held;     /* one end's nodes are fixed, and moved by prescribed values */
    bool broken;   /* the fault that tests look for: a sum over stencils in another order on odd ranks */
};

struct bar {
    struct tac_nodes nodes;
    tac_gid *id;
    int32_t *owner;
    double *position, *side;
    uint8_t *fixed;
    struct tac_matrix *matrix;
    tac_gid total;
};

static const double bar_cell_m = .02, bar_youngs_pa = 1e6, bar_poisson = .4, bar_density = 1000;

static inline uint64_t bar_hash(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline double bar_random(uint64_t x) /* 0 to 1 */
{
    return (double)(bar_hash(x) >> 11) * 0x1p-53;
}

static inline tac_gid bar_id(const struct bar_options *o, int i, int j, int k)
{
    return ((tac_gid)i * (o->ny + 1) + j) * (o->nz + 1) + k;
}

static inline int bar_owner(const struct bar_options *o, tac_gid id, tac_gid total, int size)
{
    if (o->distribution == BAR_SLABS)
        return (int)(id * size / total);
    if (o->distribution == BAR_LAST_ALONE) /* the first rank has all but a few nodes, the others none or some */
        return id < total - 5 ? 0 : size - 1;
    if (o->distribution == BAR_RANDOM)
        return (int)(bar_hash((uint64_t)id + o->seed) % (uint64_t)size);
    return (int)(bar_hash((uint64_t)(id / 23)) % (uint64_t)size);
}

/* How far along the bend: 0 on the first half, 1 on the second. */
static inline double bar_turn(const struct bar_options *o, double i)
{
    const double begin = .4 * o->nx, end = .6 * o->nx;
    return i < begin ? 0 : i > end ? 1 : (i - begin) / (end - begin);
}

static inline void bar_place(const struct bar_options *o, tac_gid id, double x[3])
{
    const int k = (int)(id % (o->nz + 1)), j = (int)(id / (o->nz + 1) % (o->ny + 1)),
              i = (int)(id / (o->nz + 1) / (o->ny + 1));
    const double h = bar_cell_m, radius = h * (o->ny + 1 - j - .5), begin = .4 * o->nx * h;
    const double turn = bar_turn(o, i) * 3.14159265358979323846, back = i > .6 * o->nx ? (i - .6 * o->nx) * h : 0;
    const double ahead = turn > 0 ? begin : i * h;
    x[0] = ahead - back + radius * tac_sin(turn);
    x[1] = -radius * tac_cos(turn);
    x[2] = k * h;
}

/* Stiffness of the tetrahedron with corners p (4, 3), turned by the angle about z. */
static inline void bar_tet(const double p[4][3], double angle, double *dense)
{
    const double mu = bar_youngs_pa / (2 * (1 + bar_poisson)),
                 lambda = bar_youngs_pa * bar_poisson / ((1 + bar_poisson) * (1 - 2 * bar_poisson));
    double e[3][3], g[4][3], rotation[2] = {tac_cos(angle), tac_sin(angle)};
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++)
            e[a][c] = p[a + 1][c] - p[0][c];
    const double det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                       e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                       e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    for (int a = 0; a < 3; a++) {
        const double *u = e[(a + 1) % 3], *v = e[(a + 2) % 3];
        for (int c = 0; c < 3; c++)
            g[a + 1][c] = (u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3]) / det;
    }
    for (int c = 0; c < 3; c++)
        g[0][c] = -(g[1][c] + g[2][c] + g[3][c]);
    for (int a = 0; a < 4; a++) {
        const double x = g[a][0], y = g[a][1];
        g[a][0] = rotation[0] * x - rotation[1] * y;
        g[a][1] = rotation[1] * x + rotation[0] * y;
    }
    const double volume = fabs(det) / 6;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            const double gg = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++)
                    dense[(3 * a + c) * 12 + 3 * b + d] =
                        volume * (lambda * g[a][c] * g[b][d] + mu * g[a][d] * g[b][c] + (c == d ? mu * gg : 0));
        }
}

struct bar_lists {
    tac_lid *tet, *pair, *mass;
    int64_t *tet_key, *pair_key;
    size_t tets, pairs, masses;
};

/* Corners of tetrahedron t of a cube: along the six ways from corner 000 to 111. */
static inline void bar_corners(const struct bar_options *o, int64_t key, tac_gid v[4], int *cell_i)
{
    static const int way[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int64_t cube = key / 6;
    int at[3] = {(int)(cube / o->nz / o->ny), (int)(cube / o->nz % o->ny), (int)(cube % o->nz)};
    *cell_i = at[0];
    v[0] = bar_id(o, at[0], at[1], at[2]);
    for (int s = 0; s < 3; s++) {
        at[way[key % 6][s]]++;
        v[s + 1] = bar_id(o, at[0], at[1], at[2]);
    }
}

/* Contact `key`: a vertex of the inner face, and a triangle of the other half's; false: it is not active. */
static inline bool bar_contact(const struct bar_options *o, int64_t key, tac_gid v[4])
{
    const int i = (int)(key / o->nz), k = (int)(key % o->nz), other = o->nx - i;
    if (o->decades < 0 || i >= .4 * o->nx || bar_hash((uint64_t)key + 77) % 3 == 0)
        return false;
    v[0] = bar_id(o, i, o->ny, k);
    v[1] = bar_id(o, other, o->ny, k);
    v[2] = bar_id(o, other - 1, o->ny, k);
    v[3] = bar_id(o, other, o->ny, k + 1);
    return true;
}

static inline void bar_contact_matrix(const struct bar_options *o, int64_t key, double *dense)
{
    static const double weight[4] = {1, -.5, -.25, -.25};
    const double angle = .3 * bar_random((uint64_t)key), n[3] = {tac_sin(angle), tac_cos(angle), 0};
    const double k = bar_youngs_pa * bar_cell_m * tac_exp(tac_log(10) * o->decades * bar_random((uint64_t)key + 12345));
    for (int a = 0; a < 12; a++)
        for (int b = 0; b < 12; b++)
            dense[12 * a + b] = k * (weight[a / 3] * weight[b / 3]) * (n[a % 3] * n[b % 3]);
}

/* Local ids: own nodes first, then ghosts, both by ascending id. */
static inline void bar_nodes(const struct tac_ctx *ctx, const struct bar_options *o, struct bar *bar, tac_lid *local)
{
    const int64_t tets = 6 * (int64_t)o->nx * o->ny * o->nz, contacts = (int64_t)o->nx * o->nz;
    uint8_t *known = calloc((size_t)bar->total, 1);
    for (int64_t key = 0; key < tets + contacts; key++) {
        tac_gid v[4];
        int cell;
        bool touches = false;
        if (key < tets)
            bar_corners(o, key, v, &cell);
        else if (!bar_contact(o, key - tets, v))
            continue;
        for (int a = 0; a < 4; a++)
            touches = touches || bar_owner(o, v[a], bar->total, ctx->size) == ctx->rank;
        for (int a = 0; a < 4 && touches; a++)
            known[v[a]] = 1;
    }
    bar->id = calloc((size_t)bar->total + 1, sizeof *bar->id);
    bar->owner = calloc((size_t)bar->total + 1, sizeof *bar->owner);
    for (int ghosts = 0; ghosts < 2; ghosts++) {
        for (tac_gid v = 0; v < bar->total; v++) {
            const int owner = bar_owner(o, v, bar->total, ctx->size);
            if (ghosts ? owner == ctx->rank || !known[v] : owner != ctx->rank)
                continue;
            bar->id[bar->nodes.count] = v;
            bar->owner[bar->nodes.count] = owner;
            local[v] = bar->nodes.count++;
            bar->nodes.owned += !ghosts;
        }
    }
    bar->nodes.id = bar->id;
    bar->nodes.owner = bar->owner;
    free(known);
}

static inline void bar_stencils(const struct bar_options *o, const struct bar *bar, const tac_lid *local,
                                struct bar_lists *l)
{
    const int64_t tets = 6 * (int64_t)o->nx * o->ny * o->nz, contacts = (int64_t)o->nx * o->nz;
    l->tet = malloc(4 * (size_t)tets * sizeof *l->tet);
    l->tet_key = malloc((size_t)tets * sizeof *l->tet_key);
    l->pair = malloc(4 * (size_t)contacts * sizeof *l->pair);
    l->pair_key = malloc((size_t)contacts * sizeof *l->pair_key);
    l->mass = malloc(((size_t)bar->nodes.owned + 1) * sizeof *l->mass);
    for (int64_t key = 0; key < tets + contacts; key++) {
        tac_gid v[4];
        int cell;
        bool touches = false, all = true;
        if (key < tets)
            bar_corners(o, key, v, &cell);
        else if (!bar_contact(o, key - tets, v))
            continue;
        for (int a = 0; a < 4; a++) {
            all = all && local[v[a]] >= 0;
            touches = touches || (local[v[a]] >= 0 && local[v[a]] < bar->nodes.owned);
        }
        if (!touches || !all)
            continue;
        tac_lid *to = key < tets ? l->tet + 4 * l->tets : l->pair + 4 * l->pairs;
        for (int a = 0; a < 4; a++)
            to[a] = local[v[a]];
        if (key < tets)
            l->tet_key[l->tets++] = key;
        else
            l->pair_key[l->pairs++] = key - tets;
    }
    for (tac_lid i = 0; i < bar->nodes.owned; i++)
        l->mass[l->masses++] = i;
}

static inline void bar_add_tet(const struct bar_options *o, const struct bar_lists *l, size_t e, struct bar *bar)
{
    tac_gid v[4];
    int cell;
    double p[4][3], dense[144];
    bar_corners(o, l->tet_key[e], v, &cell);
    for (int a = 0; a < 4; a++) {
        p[a][0] = (double)(v[a] / (o->nz + 1) / (o->ny + 1)) * bar_cell_m;
        p[a][1] = (double)(v[a] / (o->nz + 1) % (o->ny + 1)) * bar_cell_m;
        p[a][2] = (double)(v[a] % (o->nz + 1)) * bar_cell_m;
    }
    bar_tet((const double(*)[3])p, bar_turn(o, cell + .5) * 3.14159265358979323846, dense);
    tac_matrix_add(bar->matrix, 0, e, dense);
}

static inline enum tac_err bar_make(struct tac_ctx *ctx, const struct bar_options *o, struct bar *bar)
{
    enum tac_err err;
    struct bar_lists l = {0};
    memset(bar, 0, sizeof *bar);
    bar->total = (tac_gid)(o->nx + 1) * (o->ny + 1) * (o->nz + 1);
    tac_lid *local = malloc((size_t)bar->total * sizeof *local);
    memset(local, 0xff, (size_t)bar->total * sizeof *local);
    bar_nodes(ctx, o, bar, local);
    bar_stencils(o, bar, local, &l);
    const struct tac_stencil_list list[] = {{l.tets, 4, l.tet}, {l.pairs, 4, l.pair}, {l.masses, 1, l.mass}};
    err = tac_matrix_create(ctx, &bar->nodes, 3, list, &bar->matrix);
    if (!err) {
        const bool backwards = o->broken && ctx->rank % 2;
        for (size_t e = 0; e < l.tets; e++)
            bar_add_tet(o, &l, backwards ? l.tets - 1 - e : e, bar);
        for (size_t e = 0; e < l.pairs; e++) {
            double dense[144];
            bar_contact_matrix(o, l.pair_key[e], dense);
            tac_matrix_add(bar->matrix, 1, e, dense);
        }
        const double mass = bar_density * bar_cell_m * bar_cell_m * bar_cell_m / (o->step_s * o->step_s),
                     dense[9] = {mass, 0, 0, 0, mass, 0, 0, 0, mass};
        for (size_t e = 0; e < l.masses; e++)
            tac_matrix_add(bar->matrix, 2, e, dense);
    }
    bar->position = calloc(3 * (size_t)bar->nodes.owned + 1, sizeof(double));
    bar->side = calloc(3 * (size_t)bar->nodes.owned + 1, sizeof(double));
    bar->fixed = calloc((size_t)bar->nodes.owned + 1, 1);
    for (tac_lid i = 0; i < bar->nodes.owned; i++) {
        const tac_gid v = bar->id[i];
        bar_place(o, v, bar->position + 3 * (size_t)i);
        bar->fixed[i] = o->held && v < (tac_gid)(o->ny + 1) * (o->nz + 1);
        for (int c = 0; c < 3; c++)
            bar->side[3 * (size_t)i + (size_t)c] =
                bar->fixed[i] ? 1e-5 * (c + 1)
                              : 1e-2 * (bar_random((uint64_t)v * 3 + (uint64_t)c) - .5) - (c == 1 ? .08 : 0);
    }
    free(l.tet);
    free(l.tet_key);
    free(l.pair);
    free(l.pair_key);
    free(l.mass);
    free(local);
    return err;
}

static inline struct tac_system bar_system(const struct bar *bar)
{
    return (struct tac_system){
        .nodes = bar->nodes, .matrix = bar->matrix, .position = bar->position, .fixed = bar->fixed};
}

/* A number from the bits of x, the same however the nodes are distributed. */
static inline uint64_t bar_digest(const struct tac_ctx *ctx, const struct bar *bar, const double *x)
{
    uint64_t sum = 0;
    for (tac_lid i = 0; i < bar->nodes.owned; i++)
        for (int c = 0; c < 3; c++) {
            uint64_t bits;
            memcpy(&bits, x + 3 * (size_t)i + c, sizeof bits);
            sum += bar_hash(bits ^ bar_hash((uint64_t)bar->id[i] * 3 + (uint64_t)c));
        }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, ctx->comm);
    return sum;
}

static inline void bar_free(struct bar *bar)
{
    tac_matrix_destroy(&bar->matrix);
    free(bar->id);
    free(bar->owner);
    free(bar->position);
    free(bar->side);
    free(bar->fixed);
}

#endif
