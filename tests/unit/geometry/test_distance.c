/* The distance kernels against double-double references on random and degenerate inputs: forward error, weights,
 * normal, gradient, symmetry.  Prints the worst error of each kernel in units of eps x (the longest length between two
 * of the pair's vertices); an argument sets the inputs per kernel and family. */
#include "inputs.h"
#include "reference.h"

#include <check.h>
#include <float.h>
#include <stdlib.h>

#define EPS (DBL_EPSILON / 2)
#define ERROR_BOUND (TAC_NEAR_ERROR / EPS)

static const char *const pair_name[TAC_PAIR_TYPES] = {"vertex-triangle", "edge-edge", "vertex-segment",
                                                      "vertex-vertex"};

struct worst {
    double over, under; /* d - true d, in eps x size */
    double relative;    /* |d - true d| in eps x d, where the primitives are well apart */
    double point;       /* |n d - sum of w x|, in eps x size */
    double weight;      /* by which a weight leaves [0, 1], or a primitive's sum 1, in eps */
    double symmetry;    /* change of d under renumbering, in eps x size */
    double mollifier, gradient;
};

static void print_input(const double x[4][3])
{
    for (int i = 0; i < 4; i++)
        printf("    {%a, %a, %a},\n", x[i][0], x[i][1], x[i][2]);
}

static double length_of(const double a[3], const double b[3])
{
    double d[3];
    tac_sub(d, a, b);
    return sqrt(tac_dot(d, d));
}

static double size_of(enum tac_pair_type type, const double x[4][3])
{
    double size = 0;
    for (int i = 0; i < tac_pair_vertices(type); i++)
        for (int j = 0; j < i; j++)
            size = fmax(size, length_of(x[i], x[j]));
    return size;
}

static void raise_to(double *worst, double value)
{
    if (!(value <= *worst))
        *worst = isnan(value) ? INFINITY : value;
}

/* Weights in [0, 1] per primitive, and summing to 1. */
static double weights_off(enum tac_pair_type type, const struct tac_near *near)
{
    double off = 0, sum[2] = {0, 0};
    int first = tac_pair_first(type), count = tac_pair_vertices(type);
    for (int i = 0; i < 4; i++) {
        double w = i < first ? near->w[i] : -near->w[i];
        if (i >= count)
            raise_to(&off, w == 0 ? 0 : INFINITY);
        raise_to(&off, -w);
        raise_to(&off, w - 1);
        sum[i >= first] += w;
    }
    raise_to(&off, fabs(sum[0] - 1));
    raise_to(&off, fabs(sum[1] - 1));
    return off / EPS;
}

static double check_one(enum tac_pair_type type, const double x[4][3], struct worst *w)
{
    struct tac_near near;
    memset(&near, 0xff, sizeof near);
    tac_near_pair(type, x, &near);
    double size = size_of(type, x), unit = size > 0 ? EPS * size : DBL_TRUE_MIN;
    dd d = dd_sqrt(reference_distance2(type, x));
    double error = ((near.d - d.hi) - d.lo) / unit;
    raise_to(&w->over, error);
    raise_to(&w->under, -error);
    if (d.hi > .1 * size && d.hi > 0)
        raise_to(&w->relative, fabs(((near.d - d.hi) - d.lo) / (EPS * d.hi)));
    /* The weights' own closest points are d n apart. */
    double off = 0;
    for (int k = 0; k < 3; k++) {
        dd r = dd_of(0);
        for (int i = 0; i < tac_pair_vertices(type); i++)
            r = dd_add(r, dd_mul(dd_of(near.w[i]), dd_sum(x[i][k], -x[0][k]))); /* the weights sum to 0 */
        raise_to(&off, fabs(dd_sub(r, dd_mul(dd_of(near.d), dd_of(near.n[k]))).hi) / unit);
    }
    raise_to(&w->point, off);
    raise_to(&w->weight, weights_off(type, &near));
    double nn = sqrt(tac_dot(near.n, near.n));
    if (near.d > 0 ? fabs(nn - 1) > 4 * EPS : nn != 0)
        CHECK(false, "the normal's length is %.17g at distance %g", nn, near.d);
    return error;
}

/* The same pair with its vertices named in another order. */
static void check_symmetry(enum tac_pair_type type, const double x[4][3], struct worst *w)
{
    static const int order[TAC_PAIR_TYPES][7][4] = {
        {{0, 1, 3, 2}, {0, 2, 1, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1}},
        {{1, 0, 2, 3}, {0, 1, 3, 2}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 0, 1}, {2, 3, 1, 0}, {3, 2, 1, 0}},
        {{0, 2, 1, 3}},
        {{1, 0, 2, 3}},
    };
    static const int orders[TAC_PAIR_TYPES] = {5, 7, 1, 1};
    struct tac_near near, other;
    tac_near_pair(type, x, &near);
    double unit = EPS * size_of(type, x);
    for (int o = 0; o < orders[type]; o++) {
        double y[4][3];
        for (int i = 0; i < 4; i++)
            memcpy(y[i], x[order[type][o][i]], sizeof y[i]);
        tac_near_pair(type, (const double(*)[3])y, &other);
        double change = fabs(other.d - near.d);
        raise_to(&w->symmetry, change > 0 ? change / unit : change);
    }
}

static void test_kernel(enum tac_pair_type type, uint64_t count)
{
    struct worst all = {0};
    printf("%s\n", pair_name[type]);
    for (int family = 0; family < INPUT_FAMILIES; family++) {
        struct worst w = {0};
        double worst_error = 0, worst_x[4][3] = {{0}};
        for (uint64_t n = 0; n < count; n++) {
            double x[4][3];
            input_make((enum input_family)family, type, n, x);
            double error = fabs(check_one(type, (const double(*)[3])x, &w));
            if (!(error <= worst_error)) {
                raise_to(&worst_error, error);
                memcpy(worst_x, x, sizeof x);
            }
            if (n % 8 == 0)
                check_symmetry(type, (const double(*)[3])x, &w);
        }
        printf("  %-9s over %.2f under %.2f  apart %.2f  n d = sum w x %.2f  weights %.2f  symmetry %.2f\n",
               input_name((enum input_family)family), w.over, w.under, w.relative, w.point, w.weight, w.symmetry);
        CHECK(w.over <= ERROR_BOUND && w.under <= ERROR_BOUND, "%s, %s: %g eps x size", pair_name[type],
              input_name((enum input_family)family), worst_error);
        if (!(worst_error <= ERROR_BOUND))
            print_input((const double(*)[3])worst_x);
        CHECK(w.point <= ERROR_BOUND, "weights and normal agree to %g eps x size", w.point);
        CHECK(w.weight <= 4, "weights leave [0, 1] or the sum 1 by %g eps", w.weight);
        CHECK(w.symmetry <= 2 * ERROR_BOUND, "renumbering changes d by %g eps x size", w.symmetry);
        raise_to(&all.over, w.over);
        raise_to(&all.under, w.under);
    }
    printf("  worst     over %.2f under %.2f  eps x longest length, eps = 2^-53\n", all.over, all.under);
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
    for (int type = 0; type < TAC_PAIR_TYPES; type++)
        test_kernel((enum tac_pair_type)type, count);
    return check_result();
}
