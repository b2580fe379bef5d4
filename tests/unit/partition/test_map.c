/* test_map.c: the linear map from unknowns to points: vertices that move by themselves beside affine bodies.  If it
 * failed, impulses on the points of a body would not give the motion that they give to the points' masses. */
#include "check.h"
#include "partition/map.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <tactus/math.h>

static struct tac_ctx ctx = {.size = 1};
static uint64_t drawn;

static double uniform(double low, double high)
{
    return low + (high - low) * tac_random(47, drawn++);
}

/* Points 0..2 by themselves, 3..10 a body, 11 by itself, 12..17 a body, 18, 19 by themselves. */
enum { N = 20, BODIES = 2, NODES = 3 + 4 + 1 + 4 + 2 };
static const struct tac_map_body bodies[BODIES] = {{3, 11}, {12, 18}};

struct world {
    double x[3 * N], mass[N];
    struct tac_map *map;
};

static struct world make_world(void)
{
    struct world w;
    for (int i = 0; i < N; i++) {
        w.mass[i] = uniform(.5, 2);
        for (int k = 0; k < 3; k++)
            w.x[3 * i + k] = uniform(-1, 1) + (i >= 12 ? 5 : 0);
    }
    CHECK(tac_map_create(&ctx, N, w.x, w.mass, BODIES, bodies, &w.map) == TAC_OK, "%s", ctx.error);
    CHECK(w.map->node_count == NODES && w.map->block_count == 8, "%d nodes, %d blocks", w.map->node_count,
          w.map->block_count);
    return w;
}

static void fill(double *list, int n)
{
    for (int i = 0; i < n; i++)
        list[i] = uniform(-1, 1);
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static bool near(double a, double b, double size)
{
    return fabs(a - b) <= 64 * DBL_EPSILON * size;
}

/* The unknowns of the start give the start; others give x = A X + p, X from the centre of mass. */
static void test_positions(const struct world *w)
{
    double q[3 * NODES], x[3 * N];
    tac_map_rest(w->map, w->x, q);
    tac_map_positions(w->map, q, x);
    for (int i = 0; i < 3 * N; i++)
        CHECK(near(x[i], w->x[i], 8), "%.17g at the start, %.17g", w->x[i], x[i]);
    fill(q, 3 * NODES);
    tac_map_positions(w->map, q, x);
    for (int b = 0; b < BODIES; b++) {
        const int node = b ? 8 : 3;
        double centre[3] = {0, 0, 0}, total = 0;
        for (int i = bodies[b].begin; i < bodies[b].end; i++) {
            total += w->mass[i];
            for (int k = 0; k < 3; k++)
                centre[k] += w->mass[i] * w->x[3 * i + k];
        }
        for (int i = bodies[b].begin; i < bodies[b].end; i++)
            for (int k = 0; k < 3; k++) {
                double want = q[3 * node + k];
                for (int c = 0; c < 3; c++) /* column c of A is node 1 + c */
                    want += q[3 * (node + 1 + c) + k] * (w->x[3 * i + c] - centre[c] / total);
                CHECK(near(x[3 * i + k], want, 8), "x = A X + p: %.17g, %.17g", x[3 * i + k], want);
            }
    }
    const int alone[][2] = {{0, 0}, {1, 1}, {2, 2}, {11, 7}, {18, 12}, {19, 13}}; /* point, node */
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++)
            CHECK(x[3 * alone[i][0] + k] == q[3 * alone[i][1] + k], "a vertex is its node");
}

/* The work of forces on points is that of the generalised forces on the unknowns, for any of both; and the kinetic
 * energy of the unknowns that of the points. */
static void test_duality(const struct world *w)
{
    for (int trial = 0; trial < 20; trial++) {
        double q[3 * NODES], x[3 * N], f[3 * N], force[3 * NODES], momentum[3 * NODES], kinetic = 0;
        fill(q, 3 * NODES);
        fill(f, 3 * N);
        tac_map_positions(w->map, q, x);
        tac_map_transpose(w->map, f, force);
        CHECK(near(dot(f, x, 3 * N), dot(force, q, 3 * NODES), 60), "work %.17g, %.17g", dot(f, x, 3 * N),
              dot(force, q, 3 * NODES));
        tac_map_mass(w->map, q, momentum);
        for (int i = 0; i < N; i++)
            kinetic += w->mass[i] * dot(&x[3 * i], &x[3 * i], 3);
        CHECK(near(kinetic, dot(q, momentum, 3 * NODES), 200), "kinetic energy %.17g, %.17g", kinetic,
              dot(q, momentum, 3 * NODES));
    }
}

/* Impulses on a stencil of four: M du = W^T j; total momentum and angular momentum of the points change by what the
 * impulses say, the kinetic energy by the work; and nodes that have no point in the stencil keep their velocity. */
static void test_kicks(const struct world *w)
{
    static const tac_lid stencil[4][4] = {{0, 4, 5, 19}, {3, 7, 9, 10}, {6, 13, 14, 17}, {0, 1, 2, 11}};
    for (int s = 0; s < 4; s++) {
        double q[3 * NODES], x[3 * N], u[3 * NODES], was[3 * NODES], change[3 * NODES], got[3 * NODES], f[3 * N] = {0};
        double force[3 * NODES], v[3 * N], m[3] = {0}, l[3] = {0}, want_m[3] = {0}, want_l[3] = {0}, j[4][3],
                                           mu[3 * NODES];
        tac_map_rest(w->map, w->x, q); /* some deformed state: angular momentum needs x in the span of W, as any is */
        for (int i = 0; i < 3 * NODES; i++)
            q[i] += uniform(-.2, .2);
        tac_map_positions(w->map, q, x);
        fill(u, 3 * NODES);
        memcpy(was, u, sizeof u);
        tac_map_mass(w->map, u, mu);
        const double before = .5 * dot(u, mu, 3 * NODES);
        for (int i = 0; i < 4; i++) {
            double c[3];
            fill(j[i], 3);
            memcpy(&f[3 * stencil[s][i]], j[i], sizeof j[i]);
            tac_cross(c, &x[3 * stencil[s][i]], j[i]);
            for (int k = 0; k < 3; k++) {
                want_m[k] += j[i][k];
                want_l[k] += c[k];
            }
        }
        const double work = tac_map_apply(w->map, u, stencil[s], 4, (const double(*)[3])j);
        for (int i = 0; i < 3 * NODES; i++)
            change[i] = u[i] - was[i];
        tac_map_mass(w->map, change, got);
        tac_map_transpose(w->map, f, force);
        for (int i = 0; i < 3 * NODES; i++) {
            CHECK(near(got[i], force[i], 50), "M du = W^T j: %.17g, %.17g", got[i], force[i]);
        }
        tac_map_positions(w->map, change, v);
        for (int i = 0; i < N; i++) {
            double c[3];
            tac_cross(c, &x[3 * i], &v[3 * i]);
            for (int k = 0; k < 3; k++) {
                m[k] += w->mass[i] * v[3 * i + k];
                l[k] += w->mass[i] * c[k];
            }
        }
        for (int k = 0; k < 3; k++)
            CHECK(near(m[k], want_m[k], 50) && near(l[k], want_l[k], 500),
                  "momentum %.17g of %.17g, angular %.17g of %.17g", m[k], want_m[k], l[k], want_l[k]);
        tac_map_mass(w->map, u, mu);
        CHECK(near(.5 * dot(u, mu, 3 * NODES) - before, work, 500), "work %.17g", work);
        for (int i = 0; i < NODES; i++) {
            bool touched = false;
            for (int p = 0; p < 4; p++) {
                const struct tac_map_block *b = &w->map->block[w->map->of[stencil[s][p]]];
                touched |= i >= b->node && i < b->node + b->nodes;
            }
            CHECK(touched || memcmp(&u[3 * i], &was[3 * i], 3 * sizeof *u) == 0, "node %d was not kicked", i);
        }
    }
}

/* Where all points are their own nodes, a kick is that of the loops over elements, to the last bit; a held one is not
 * moved. */
static void test_identity(void)
{
    enum { COUNT = 5 };
    double x[3 * COUNT], mass[COUNT], u[3 * COUNT], j[4][3];
    static const tac_lid stencil[4] = {3, 0, 4, 1};
    struct tac_vel vel[COUNT];
    struct tac_map *map = NULL;
    fill(x, 3 * COUNT);
    for (int i = 0; i < COUNT; i++)
        mass[i] = i == 4 ? INFINITY : uniform(.5, 2);
    CHECK(tac_map_create(&ctx, COUNT, x, mass, 0, NULL, &map) == TAC_OK && map->node_count == COUNT, "%s", ctx.error);
    for (int trial = 0; trial < 100; trial++) {
        double work = 0;
        fill(u, 3 * COUNT);
        fill(j[0], 12);
        for (int i = 0; i < COUNT; i++) {
            memcpy(vel[i].v, &u[3 * i], sizeof vel[i].v);
            vel[i].w = 1 / mass[i];
        }
        for (int i = 0; i < 4; i++) {
            const tac_four row = tac_map_kick(&vel[stencil[i]], (tac_four){j[i][0], j[i][1], j[i][2], 0});
            work += .5 * (row[0] + row[1] + row[2]);
        }
        const double same = tac_map_apply(map, u, stencil, 4, (const double(*)[3])j);
        for (int i = 0; i < COUNT; i++) {
            CHECK(memcmp(vel[i].v, &u[3 * i], sizeof vel[i].v) == 0, "the identity's bits");
            CHECK(vel[i].w == 1 / mass[i], "the mass stays");
        }
        CHECK(near(work, same, 8), "work %.17g, %.17g", work, same);
    }
    tac_map_destroy(&map);
    CHECK(map == NULL, "destroyed");
}

/* A body in a plane has no mass matrix that can be inverted: one sentence, and nothing is left. */
static void test_flat(void)
{
    const double x[4 * 3] = {0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1}, mass[4] = {1, 1, 1, 1};
    const struct tac_map_body body = {0, 4};
    struct tac_map *map = NULL;
    CHECK(tac_map_create(&ctx, 4, x, mass, 1, &body, &map) == TAC_ERR_INPUT && map == NULL, "a flat body");
    CHECK(strstr(ctx.error, "affine body 0") && strstr(ctx.error, "plane"), "%s", ctx.error);
}

int main(void)
{
    struct world w = make_world();
    test_positions(&w);
    test_duality(&w);
    test_kicks(&w);
    tac_map_destroy(&w.map);
    test_identity();
    test_flat();
    return check_result();
}
