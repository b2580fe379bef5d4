/* tac_sweep() and tac_separation() against samples of the distance along the way: if one of them were too sure, a
 * contact would be missed, and something would pass through something. */
#include "inputs.h"

#include <check.h>
#include <geometry/sweep.h>
#include <stdlib.h>

enum { SAMPLES = 64 };

/* A pair of size 1 about the origin, and a motion: of each vertex by itself, of all alike, or of one primitive along
 * the other. */
static void make_motion(enum input_family family, enum tac_pair_type type, uint64_t n, double x[4][3], double u[4][3])
{
    struct input in = {tac_hash64(UINT64_C(9000) + (uint64_t)family * TAC_PAIR_TYPES + (uint64_t)type, n), 0};
    const int first = tac_pair_first(type);
    double common[3], size = input_tiny(&in, -9, 1);
    input_shape(&in, family, type, x);
    input_vector(&in, 1, common);
    const int way = input_below(&in, 3);
    for (int i = 0; i < 4; i++) {
        input_vector(&in, size, u[i]);
        for (int k = 0; way > 0 && k < 3; k++)
            u[i][k] = way == 1 || i < first ? size * common[k] : 0;
    }
}

static double distance_at(enum tac_pair_type type, double x[4][3], double u[4][3], double s)
{
    double y[4][3];
    struct tac_near near;
    for (int i = 0; i < 12; i++)
        y[i / 3][i % 3] = x[i / 3][i % 3] + s * u[i / 3][i % 3];
    tac_near_pair(type, (const double(*)[3])y, &near);
    return near.d;
}

/* The longest way between two vertices, and of one of them. */
static double extent(double x[4][3], double u[4][3])
{
    double most = 0;
    for (int i = 0; i < 12; i++)
        most = fmax(most, fmax(fabs(x[i / 3][i % 3]), fabs(u[i / 3][i % 3])));
    return 8 * most;
}

static void test_random(enum tac_pair_type type, enum input_family family, uint64_t count)
{
    long clear = 0, hits = 0, cut = 0;
    for (uint64_t n = 0; n < count; n++) {
        double x[4][3], u[4][3];
        struct tac_near near;
        make_motion(family, type, n, x, u);
        const double(*y)[3] = (const double(*)[3])x, (*v)[3] = (const double(*)[3])u;
        const double tolerance = 1e-14 * extent(x, u);
        tac_near_pair(type, y, &near);
        const double share = tac_random(77, n), threshold = share * near.d,
                     s = tac_sweep(type, y, v, threshold, tolerance), until = s < 1 ? s : 1,
                     bound = tac_separation(type, y, v, near.n);
        clear += s > 1;
        hits += s <= 1;
        CHECK(s >= 0 && (s <= 1 || s == TAC_SWEEP_CLEAR), "type %d, %s %llu: %g", (int)type, input_name(family),
              (unsigned long long)n, s);
        for (int k = 0; k <= SAMPLES; k++) {
            const double t = (double)k / SAMPLES, d = distance_at(type, x, u, t * until);
            if (!(d >= threshold))
                CHECK(false, "type %d, %s %llu: %g under %g at %g, though clear until %g", (int)type,
                      input_name(family), (unsigned long long)n, d, threshold, t * until, s);
            if (!(distance_at(type, x, u, t) >= bound - tolerance))
                CHECK(false, "type %d, %s %llu: under the separation %g at %g", (int)type, input_name(family),
                      (unsigned long long)n, bound, t);
        }
        cut += s < 1 && !(distance_at(type, x, u, s) <= threshold + 2 * tolerance + 1e-3 * near.d);
    }
    CHECK(family == INPUT_TOUCHING || family == INPUT_LATTICE || clear > 0, "type %d, %s: none is clear", (int)type,
          input_name(family));
    /* Where it stops it is near, but for one search in a hundred, which is cut off. */
    CHECK(100 * cut <= hits, "type %d, %s: %ld of %ld stop too early", (int)type, input_name(family), cut, hits);
    CHECK(hits > 0, "type %d, %s: none comes near", (int)type, input_name(family));
}

/* What slides far along another primitive, near it, is clear at once: 1000 steps of the speed's bound would not tell.
 */
static void test_sliding(void)
{
    const double gap = 1e-6;
    double x[4][3] = {{.2, .2, gap}, {-9, -9, 0}, {20, -9, 0}, {-9, 20, 0}}, u[4][3] = {{1, .5, 0}};
    CHECK(tac_sweep(TAC_PAIR_VERTEX_TRIANGLE, (const double(*)[3])x, (const double(*)[3])u, .5 * gap, 1e-3 * gap) ==
              TAC_SWEEP_CLEAR,
          "a vertex over a triangle");
    double y[4][3] = {{-5, 0, gap}, {5, 0, gap}, {0, -5, 0}, {0, 5, 0}}, v[4][3] = {{1, 1, 0}, {1, 1, 0}};
    CHECK(tac_sweep(TAC_PAIR_EDGE_EDGE, (const double(*)[3])y, (const double(*)[3])v, .5 * gap, 1e-3 * gap) ==
              TAC_SWEEP_CLEAR,
          "an edge over an edge");
    v[0][2] = v[1][2] = -gap; /* it comes to the threshold half-way */
    const double s = tac_sweep(TAC_PAIR_EDGE_EDGE, (const double(*)[3])y, (const double(*)[3])v, .5 * gap, 1e-3 * gap);
    CHECK(s > .49 && s <= .5, "an edge that comes down stops at %g", s);
}

int main(void)
{
    for (int type = 0; type < TAC_PAIR_TYPES; type++)
        for (int family = 0; family < INPUT_FAMILIES; family++)
            test_random((enum tac_pair_type)type, (enum input_family)family, 4000);
    test_sliding();
    return check_result();
}
