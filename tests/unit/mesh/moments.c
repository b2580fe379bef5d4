/* moments.c: mass, centre and principal axes of solids, shells, segments and points against closed forms.
 *
 * If it fails, rigid bodies turn about another point, or as if their mass lay elsewhere. */
#include "mesh/moments.h"
#include "check.h"
#include <math.h>
#include <string.h>
#include <tactus/math.h>

static const double MIDDLE[3] = {7, -3, 11}, SIZE[3] = {.1, .2, .3};

/* The corners of a box of that size around MIDDLE, turned by a rotation vector; the triangles face outwards. */
static void make_box(const double turn[3], double x[8][3], int triangle[12][3])
{
    static const int side[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    double r[9];
    tac_rotation(turn, r);
    for (int i = 0; i < 8; i++) {
        double y[3];
        for (int k = 0; k < 3; k++)
            y[k] = SIZE[k] * ((i >> k & 1) - .5);
        for (int k = 0; k < 3; k++)
            x[i][k] = MIDDLE[k] + tac_dot(r + 3 * k, y);
    }
    for (int s = 0; s < 6; s++) {
        const int pair[2][3] = {{side[s][0], side[s][1], side[s][2]}, {side[s][0], side[s][2], side[s][3]}};
        memcpy(triangle[2 * s], pair, sizeof pair);
    }
}

static void add_box(struct tac_moment_sums *sums, double density, const double x[8][3], int triangle[12][3],
                    bool backwards)
{
    for (int t = 0; t < 12; t++) {
        double p[3][3];
        for (int k = 0; k < 3; k++)
            memcpy(p[k], x[triangle[backwards ? 11 - t : t][k]], sizeof p[k]);
        tac_moments_add(sums, density, TAC_MOMENTS_SOLID, (const double(*)[3])p);
    }
}

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance;
}

static void test_box(void)
{
    const double turn[3] = {.4, -1.1, .7}, density = 1000, mass = density * .1 * .2 * .3;
    struct tac_moment_sums sums, other;
    struct tac_moments m, n;
    double x[8][3], r[9];
    int triangle[12][3];
    make_box(turn, x, triangle);
    tac_rotation(turn, r);
    tac_moments_begin(&sums, MIDDLE);
    add_box(&sums, density, (const double(*)[3])x, triangle, false);
    CHECK(tac_moments_make(&sums, &m));
    CHECK(near(m.mass, mass, 1e-13 * mass), "%.17g", m.mass);
    for (int k = 0; k < 3; k++) {
        const double s = mass * SIZE[k] * SIZE[k] / 12;
        CHECK(near(m.center[k], MIDDLE[k], 1e-13), "%.17g", m.center[k]);
        CHECK(near(m.second[k], s, 1e-13 * mass), "axis %d: %.17g, not %.17g", k, m.second[k], s);
        const double column[3] = {r[k], r[3 + k], r[6 + k]};
        CHECK(near(fabs(tac_dot(m.axis[k], column)), 1, 1e-13), "axis %d", k);
    }
    double cross[3];
    tac_cross(cross, m.axis[0], m.axis[1]);
    CHECK(near(tac_dot(cross, m.axis[2]), 1, 1e-14), "right-handed");
    /* The order does not matter to the last bit; the origin does to rounding. */
    tac_moments_begin(&other, MIDDLE);
    add_box(&other, density, (const double(*)[3])x, triangle, true);
    CHECK(tac_moments_make(&other, &n) && memcmp(&m, &n, sizeof m) == 0);
    tac_moments_begin(&other, (const double[3]){6.5, -3.4, 11.2});
    add_box(&other, density, (const double(*)[3])x, triangle, false);
    CHECK(tac_moments_make(&other, &n) && near(n.mass, mass, 1e-12 * mass) && near(n.second[2], m.second[2], 1e-12));
    /* A surface that faces inwards has a negative volume. */
    for (int t = 0; t < 12; t++) {
        const int swap = triangle[t][1];
        triangle[t][1] = triangle[t][2];
        triangle[t][2] = swap;
    }
    tac_moments_begin(&other, MIDDLE);
    add_box(&other, density, (const double(*)[3])x, triangle, false);
    CHECK(!tac_moments_make(&other, &n));
}

/* A rectangle a x b of two triangles: m a^2/12, m b^2/12, and across it what a flat body gets at least. */
static void test_shell(void)
{
    const double p[2][3][3] = {{{0, 0, 1}, {2, 0, 1}, {2, 3, 1}}, {{0, 0, 1}, {2, 3, 1}, {0, 3, 1}}};
    struct tac_moment_sums sums;
    struct tac_moments m;
    tac_moments_begin(&sums, (const double[3]){.5, .5, 0});
    for (int t = 0; t < 2; t++)
        tac_moments_add(&sums, .5, TAC_MOMENTS_TRIANGLE, p[t]);
    CHECK(tac_moments_make(&sums, &m));
    CHECK(near(m.mass, 3, 1e-14) && near(m.center[0], 1, 1e-14) && near(m.center[1], 1.5, 1e-14) &&
          near(m.center[2], 1, 1e-14));
    CHECK(near(m.second[2], 3 * 9 / 12., 1e-13) && near(m.second[1], 3 * 4 / 12., 1e-13), "%g %g", m.second[1],
          m.second[2]);
    CHECK(m.second[0] == TAC_LEAST_MOMENT * m.second[2], "%g", m.second[0]);
}

static void test_lines_and_points(void)
{
    const double rod[2][3] = {{1, 0, 0}, {4, 0, 0}}, point[3][1][3] = {{{0, 0, 0}}, {{2, 0, 0}}, {{0, 0, 1}}};
    struct tac_moment_sums sums;
    struct tac_moments m;
    tac_moments_begin(&sums, (const double[3]){0, 1, 0});
    tac_moments_add(&sums, 2, TAC_MOMENTS_SEGMENT, rod);
    CHECK(tac_moments_make(&sums, &m) && near(m.mass, 6, 1e-14) && near(m.center[0], 2.5, 1e-14) &&
          near(m.second[2], 6 * 9 / 12., 1e-13));
    CHECK(near(m.axis[2][0], 1, 1e-15) || near(m.axis[2][0], -1, 1e-15));
    tac_moments_begin(&sums, (const double[3]){0, 0, 0});
    for (int i = 0; i < 3; i++)
        tac_moments_add(&sums, 1.5, TAC_MOMENTS_POINT, point[i]);
    CHECK(tac_moments_make(&sums, &m) && near(m.mass, 4.5, 1e-14) && near(m.center[0], 2 / 3., 1e-14));
    /* xx: 1.5 x 4 - 4.5 x 4/9 = 4; zz: 1.5 - 4.5/9 = 1; xz: -4.5 x 2/9 = -1; the trace stays. */
    CHECK(near(m.second[1] + m.second[2], 5, 1e-13) && near(m.second[1] * m.second[2], 3, 1e-13));
    tac_moments_begin(&sums, (const double[3]){0, 0, 0});
    tac_moments_add(&sums, 1, TAC_MOMENTS_POINT, point[1]);
    CHECK(!tac_moments_make(&sums, &m), "a point cannot turn");
}

int main(void)
{
    test_box();
    test_shell();
    test_lines_and_points();
    return check_result();
}
