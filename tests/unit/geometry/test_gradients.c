/* The kernels' first derivatives against central differences of the double-double references: d's gradient w n (if it
 * failed, contact forces would not be those of their potential and energy would drift), and the edge-edge mollifier's.
 */
#include "inputs.h"
#include "reference.h"

#include <check.h>
#include <float.h>
#include <stdlib.h>

#define EPS (DBL_EPSILON / 2)

static void raise_to(double *worst, double value)
{
    if (!(value <= *worst))
        *worst = isnan(value) ? INFINITY : value;
}

/* One input of a family at size 1 about the origin. */
static void make_unit(enum input_family family, enum tac_pair_type type, uint64_t n, double x[4][3])
{
    struct input in = {tac_hash64(UINT64_C(500) + (uint64_t)family, n), 0};
    input_shape(&in, family, type, x);
}

/* d's gradient. The difference quotient's own error is step x curvature: the curvature is about 1/d times the largest
 * weight change per length, so inputs with slivers are left out by their shape. */
static void test_distance_gradient(enum tac_pair_type type, enum input_family family, uint64_t count)
{
    double worst = 0;
    uint64_t used = 0;
    for (uint64_t n = 0; n < count; n++) {
        double x[4][3], c[3], e[3], f[3];
        make_unit(family, type, n, x);
        const double(*y)[3] = (const double(*)[3])x;
        struct tac_near near;
        tac_near_pair(type, y, &near);
        tac_sub(e, x[type == TAC_PAIR_EDGE_EDGE ? 1 : 2], x[type == TAC_PAIR_EDGE_EDGE ? 0 : 1]);
        tac_sub(f, x[3], x[type == TAC_PAIR_EDGE_EDGE ? 2 : 1]);
        tac_cross(c, e, f);
        bool slender = type == TAC_PAIR_VERTEX_SEGMENT  ? tac_dot(e, e) < .01
                       : type == TAC_PAIR_VERTEX_VERTEX ? false
                                                        : tac_dot(c, c) < .1;
        if (slender || near.d < 1e-9)
            continue;
        used++;
        double step = near.d * 0x1p-20;
        for (int i = 0; i < tac_pair_vertices(type); i++) {
            for (int k = 0; k < 3; k++) {
                double middle = x[i][k], high = middle + step, low = middle - step;
                x[i][k] = high;
                dd above = dd_sqrt(reference_distance2(type, y));
                x[i][k] = low;
                dd below = dd_sqrt(reference_distance2(type, y));
                x[i][k] = middle;
                double slope = dd_sub(above, below).hi / (high - low);
                raise_to(&worst, fabs(slope - near.w[i] * near.n[k]));
            }
        }
    }
    printf("type %d, %-8s: w n off by %.2g from differences (%d inputs)\n", (int)type, input_name(family), worst,
           (int)used);
    CHECK(used > count / 4, "%d of %d inputs used", (int)used, (int)count);
    CHECK(worst < 1e-4, "gradient off by %g", worst);
}

/* m, in double-double, from its definition (docs/explanation/method.md, Penalty layers). */
static dd reference_mollifier(const double x[4][3])
{
    dd u[3], v[3], n[3];
    dd_vector(u, x[1], x[0]);
    dd_vector(v, x[3], x[2]);
    dd_cross(n, u, v);
    dd z = dd_div(dd_div(dd_dot(n, n), dd_mul(dd_dot(u, u), dd_dot(v, v))), dd_of(TAC_MOLLIFIER_E));
    return z.hi < 1 ? dd_mul(z, dd_sub(dd_of(2), z)) : dd_of(1);
}

struct mollifier_worst {
    double value, gradient, turning;
    int flat, steep, ends;
};

static void check_mollifier(double x[4][3], struct mollifier_worst *w)
{
    const double(*y)[3] = (const double(*)[3])x;
    double m, gradient[4][3], u[3], v[3], twist[3], other[3];
    bool under = tac_mollifier(y, &m, gradient);
    dd exact = reference_mollifier(y);
    CHECK(m >= 0 && m <= 1, "m = %.17g", m);
    CHECK(under || m == 1, "m = %.17g without gradient", m);
    raise_to(&w->value, fabs(m - exact.hi) / EPS);
    if (!under) {
        CHECK(exact.hi > 1 - 1e-12, "m = 1 where it is %.17g", exact.hi);
        w->flat++;
        return;
    }
    w->steep++;
    w->ends += m > .999;
    tac_sub(u, x[1], x[0]);
    tac_sub(v, x[3], x[2]);
    /* In units of the steepest gradient, dm/dc dc/dangle / length. */
    double lu = sqrt(tac_dot(u, u)), lv = sqrt(tac_dot(v, v)), scale = 2 / sqrt(TAC_MOLLIFIER_E);
    for (int i = 0; i < 4; i++) {
        double length = i < 2 ? lu : lv;
        for (int k = 0; k < 3; k++) {
            double step = length * 0x1p-38, middle = x[i][k], high = middle + step, low = middle - step;
            x[i][k] = high;
            dd above = reference_mollifier(y);
            x[i][k] = low;
            dd below = reference_mollifier(y);
            x[i][k] = middle;
            double slope = dd_sub(above, below).hi / (high - low);
            raise_to(&w->gradient, fabs(slope - gradient[i][k]) * length / scale);
            CHECK(gradient[i ^ 1][k] == -gradient[i][k], "an edge's two gradients balance exactly");
        }
    }
    tac_cross(twist, u, gradient[1]);
    tac_cross(other, v, gradient[3]);
    for (int k = 0; k < 3; k++)
        raise_to(&w->turning, fabs(twist[k] + other[k]) / scale);
}

static void test_mollifier(uint64_t count)
{
    struct mollifier_worst w = {0};
    double symmetry = 0;
    for (uint64_t n = 0; n < count; n++) {
        double x[4][3];
        make_unit(INPUT_PARALLEL, TAC_PAIR_EDGE_EDGE, n, x);
        struct input in = {n, 1000};
        if (n % 2) { /* angles about the threshold of 0.1 rad, and of every size under it */
            double u[3], side[3],
                angle =
                    n % 4 == 1 ? .1 + input_uniform(&in, -1, 1) * input_tiny(&in, -9, -1) : input_tiny(&in, -12, -1);
            double length = input_tiny(&in, -2, 2);
            tac_sub(u, x[1], x[0]);
            input_vector(&in, 1, side);
            double t = tac_dot(side, u) / tac_dot(u, u);
            for (int k = 0; k < 3; k++)
                side[k] -= t * u[k];
            double ratio = sqrt(tac_dot(u, u) / tac_dot(side, side));
            for (int k = 0; k < 3; k++)
                x[3][k] = x[2][k] + length * (tac_cos(angle) * u[k] + tac_sin(angle) * ratio * side[k]);
        }
        double u[3], v[3];
        tac_sub(u, x[1], x[0]);
        tac_sub(v, x[3], x[2]);
        if (tac_dot(u, u) < 1e-4 || tac_dot(v, v) < 1e-4)
            continue;
        check_mollifier(x, &w);
        double swapped[4][3], m, other, gradient[4][3];
        for (int i = 0; i < 4; i++)
            memcpy(swapped[i], x[3 - i], sizeof swapped[i]); /* edges swapped and reversed */
        tac_mollifier((const double(*)[3])x, &m, gradient);
        tac_mollifier((const double(*)[3])swapped, &other, gradient);
        raise_to(&symmetry, fabs(m - other) / EPS);
    }
    printf("mollifier: m off by %.2f eps, gradient by %.2g, torque by %.2g of the steepest; symmetry %.2f eps; "
           "%d under 1, %d of them above .999, %d flat\n",
           w.value, w.gradient, w.turning, symmetry, w.steep, w.ends, w.flat);
    CHECK(w.value <= 64 && symmetry <= 64, "m is off by %g eps, by %g under swapping", w.value, symmetry);
    CHECK(w.gradient <= 1e-9 && w.turning <= 1e-13, "gradient off by %g, torque %g", w.gradient, w.turning);
    CHECK(w.steep > 1000 && w.flat > 1000 && w.ends > 100, "%d %d %d inputs", w.steep, w.flat, w.ends);
}

static void test_mollifier_ends(void)
{
    double angle = .1, s = tac_sin(angle);
    CHECK(fabs(TAC_MOLLIFIER_E - s * s) <= DBL_EPSILON * TAC_MOLLIFIER_E, "the threshold is sin^2(0.1)");
    const double parallel[4][3] = {{0, 0, 0}, {1, 2, 3}, {0, 1, 0}, {2, 5, 6}}; /* exactly: m and its gradient vanish */
    double m, gradient[4][3];
    CHECK(tac_mollifier(parallel, &m, gradient) && m == 0, "parallel: m = %g", m);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            CHECK(gradient[i][k] == 0, "parallel: gradient %g", gradient[i][k]);
    const double crossed[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 1}};
    CHECK(!tac_mollifier(crossed, &m, gradient) && m == 1, "crossed: m = %g", m);
    const double point[4][3] = {{1, 2, 3}, {1, 2, 3}, {0, 0, 1}, {0, 1, 1}}; /* a collapsed edge must not make a NaN */
    CHECK(!tac_mollifier(point, &m, gradient) && m == 1, "collapsed: m = %g", m);
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
    for (int type = 0; type < TAC_PAIR_TYPES; type++) {
        test_distance_gradient((enum tac_pair_type)type, INPUT_RANDOM, count / 8);
        test_distance_gradient((enum tac_pair_type)type, INPUT_CONTACT, count / 8);
    }
    test_mollifier(count);
    test_mollifier_ends();
    return check_result();
}
