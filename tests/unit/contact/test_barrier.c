/* The barrier's gradient and Hessian against differences of its energy and gradient, in every case of nearest points
 * and for near-parallel edges; that it and two derivatives come to 0 at the thickness; that a safe advance is safe and
 * is not short. */
#include "contact/advance.h"
#include "contact/barrier.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

static uint64_t counter;

static double uniform(double low, double high)
{
    return low + (high - low) * tac_random(7, counter++);
}

static void energy_and_slope(const struct tac_barrier_pair *p, const double x[4][3], double *e, double g[4][3])
{
    struct tac_barrier_near near;
    memset(g, 0, 12 * sizeof(double));
    *e = 0;
    if (!tac_barrier_near(p, x, &near))
        return;
    *e = tac_barrier_energy(p, x, &near);
    tac_barrier_gradient(p, x, &near, g);
}

static int cases[TAC_PAIR_TYPES][16], mollified;

/* Which vertices have a share in the nearest points. */
static int case_of(const struct tac_near *near)
{
    int which = 0;
    for (int i = 0; i < 4; i++)
        which |= (fabs(near->w[i]) > 0x1p-50) << i;
    return which;
}

static bool same_case(const struct tac_barrier_pair *p, const double x[4][3], int which)
{
    struct tac_barrier_near near;
    return tac_barrier_near(p, x, &near) && case_of(&near.at) == which;
}

static void compare(const struct tac_barrier_pair *p, const double x[4][3])
{
    const int n = 3 * tac_pair_vertices(p->type);
    double e, g[4][3], h[144], worst = 0, scale = 0, worst_g = 0, scale_g = 0;
    struct tac_barrier_near near;
    if (!tac_barrier_near(p, x, &near) || near.at.d < p->radius + .1 * p->thickness ||
        near.at.d > p->radius + .98 * p->thickness)
        return;
    const int which = case_of(&near.at);
    energy_and_slope(p, x, &e, g);
    tac_barrier_hessian(p, x, &near, h);
    const double step = 1e-6 * p->thickness;
    for (int i = 0; i < n; i++) {
        double up[4][3], down[4][3], e_up, e_down, g_up[4][3], g_down[4][3];
        memcpy(up, x, sizeof up);
        memcpy(down, x, sizeof down);
        up[i / 3][i % 3] += step;
        down[i / 3][i % 3] -= step;
        if (!same_case(p, up, which) || !same_case(p, down, which))
            return; /* the second derivative jumps there */
        energy_and_slope(p, up, &e_up, g_up);
        energy_and_slope(p, down, &e_down, g_down);
        worst_g = fmax(worst_g, fabs((e_up - e_down) / (2 * step) - g[i / 3][i % 3]));
        scale_g = fmax(scale_g, fabs(g[i / 3][i % 3]));
        for (int j = 0; j < n; j++) {
            worst = fmax(worst, fabs((g_up[j / 3][j % 3] - g_down[j / 3][j % 3]) / (2 * step) - h[n * i + j]));
            scale = fmax(scale, fabs(h[n * i + j]));
            CHECK(fabs(h[n * i + j] - h[n * j + i]) <= 1e-9 * scale + 1e-300, "type %d: not symmetric", (int)p->type);
        }
    }
    CHECK(worst_g <= 2e-6 * scale_g + 1e-12 * e / p->thickness, "type %d case %d: gradient off by %g of %g",
          (int)p->type, which, worst_g, scale_g);
    CHECK(worst <= 2e-5 * scale, "type %d case %d: Hessian off by %g of %g", (int)p->type, which, worst, scale);
    cases[p->type][which]++;
}

static void derivatives(void)
{
    for (int round = 0; round < 40000; round++) {
        struct tac_barrier_pair p = {(enum tac_pair_type)(round % TAC_PAIR_TYPES), round % 3 ? 0 : .2, .5, 0,
                                     round % 7 == 6 ? round / 7 % 3 : 0};
        double x[4][3], rest[4][3];
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) {
                x[i][k] = uniform(-1, 1);
                rest[i][k] = uniform(-1, 1);
            }
        if (p.type == TAC_PAIR_EDGE_EDGE) {
            p.parallel = tac_barrier_parallel(rest);
            if (round % 8 == 1) { /* nearly parallel, so that the mollifier acts */
                for (int k = 0; k < 3; k++)
                    x[3][k] = x[2][k] + (x[1][k] - x[0][k]) + uniform(-.02, .02);
                p.parallel = 1e3 * tac_barrier_parallel(x);
                mollified++;
            }
        }
        compare(&p, x);
    }
    /* vertex and triangle: its inside, 3 edges, 3 vertices; two edges: inside, 4 of one end, 4 of two; and so on */
    static const int expected[TAC_PAIR_TYPES] = {7, 9, 3, 1};
    for (int t = 0; t < TAC_PAIR_TYPES; t++) {
        int seen = 0;
        for (int c = 0; c < 16; c++)
            seen += cases[t][c] > 5;
        CHECK(seen == expected[t], "type %d: %d cases of nearest points were compared, not %d", t, seen, expected[t]);
    }
    CHECK(mollified > 0, "no parallel edges");
}

/* b and two derivatives come to 0 as s comes to s^. */
static void smooth(void)
{
    for (int k = 1; k < 12; k++) {
        const double s_hat = ldexp(1, -k), near = s_hat * (1 - 0x1p-44);
        double b[3];
        tac_barrier(near, s_hat, b);
        CHECK(fabs(b[0]) <= 1e-12 * s_hat * s_hat && fabs(b[1]) <= 1e-12 * s_hat && fabs(b[2]) <= 1e-12,
              "b jumps at the thickness: %g %g %g", b[0], b[1], b[2]);
        tac_barrier(.25 * s_hat, s_hat, b);
        CHECK(b[0] > 0 && b[1] < 0 && b[2] > 0, "b does not repel");
    }
}

/* Advances of random pairs: sampled, no pair comes under what is to be kept; and a pair that comes near is stopped not
 * far from there. */
static void advances(void)
{
    int stopped = 0;
    for (int round = 0; round < 20000; round++) {
        const enum tac_pair_type type = (enum tac_pair_type)(round % TAC_PAIR_TYPES);
        const int n = tac_pair_vertices(type);
        double x[4][3], p[4][3], at[4][3], least = INFINITY;
        struct tac_near near;
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) {
                x[i][k] = uniform(-1, 1);
                p[i][k] = uniform(-3, 3);
            }
        tac_near_pair(type, x, &near);
        const double radius = round % 2 ? 0 : .3 * near.d, gap = near.d - radius;
        const double keep = .2, share = tac_advance_safely(type, x, p, radius, keep, INFINITY, 1);
        const double enough = uniform(0, 1), less = tac_advance_safely(type, x, p, radius, keep, INFINITY, enough);
        CHECK(fmin(less, enough) == fmin(share, enough) && less <= share,
              "an advance by %g is one by %g where %g is enough", share, less, enough);
        for (int s = 0; s <= 50; s++) {
            for (int i = 0; i < n; i++)
                for (int k = 0; k < 3; k++)
                    at[i][k] = x[i][k] + s / 50. * share * p[i][k];
            tac_near_pair(type, at, &near);
            least = fmin(least, near.d - radius);
        }
        CHECK(least >= .45 * keep * gap, "an advance by %g leaves %g of a gap of %g", share, least, gap);
        CHECK(near.d - radius >= (1 - 1e-9) * keep * gap, "an advance by %g ends at %g of a gap of %g", share,
              near.d - radius, gap);
        if (share < 1) {
            CHECK(near.d - radius <= 4 * keep * gap, "an advance stops at %g of a gap of %g", near.d - radius, gap);
            stopped++;
        }
    }
    CHECK(stopped > 300, "only %d advances met something", stopped);
    /* What goes straight at a wall and through it is stopped before it. */
    const double x[4][3] = {{0, 1, 0}, {-1, 0, -1}, {2, 0, -1}, {-1, 0, 2}}, p[4][3] = {{0, -1000, 0}};
    const double share = tac_advance_safely(TAC_PAIR_VERTEX_TRIANGLE, x, p, 0, .2, INFINITY, 1);
    CHECK(share > .0004 && share <= .0008 * (1 + 1e-9), "a bullet goes on for %g", share);
}

/* An edge whose end goes away for a million times its length keeps its distance to another edge. If an advance gives up
 * on it, the share depends on whether a list of candidates has this pair, and so on the number of ranks. */
static void far_end(void)
{
    const double x[4][3] = {
        {-66.3, 281.5, 304.3}, {-207.2, 234.3, 349.9}, {-226.8, 416, -333.6}, {-309.9, 364.6, -243.9}};
    const double p[4][3] = {{-27.8, 4.3, -18.4}, {0, 0, 0}, {0, 0, 0}, {2.57e7, 3.11e7, 4.17e7}};
    const double share = tac_advance_safely(TAC_PAIR_EDGE_EDGE, x, p, 0, .2, .45, 1);
    CHECK(share == 1, "two edges that stay hundreds of metres apart are stopped at %g", share);
}

int main(void)
{
    smooth();
    derivatives();
    advances();
    far_end();
    return check_result();
}
