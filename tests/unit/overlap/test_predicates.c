/* The predicates against rational arithmetic: points on small lattices (where every tie occurs), near-coplanar ones,
 * and coordinates of all magnitudes. */
#include "check.h"
#include "geometry/exact/predicates.h"
#include "unit/overlap/rational.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <tactus/math.h>

static uint64_t counter;

static double uniform(double lo, double hi)
{
    return lo + (hi - lo) * tac_random(7, counter++);
}

/* kind 0: lattice; 1: a lattice far off, rotated, so that ties become near-ties; 2: any magnitude; 3: plain random;
 * 4: subnormal numbers beside large ones */
static void random_points(double (*x)[3], int count, int kind)
{
    double rotation[9];
    tac_rotation((double[]){0.3, 0.7, 0.2}, rotation);
    for (int i = 0; i < count; i++) {
        double p[3];
        for (int k = 0; k < 3; k++) {
            p[k] = floor(uniform(0, 4));
            if (kind == 2)
                p[k] = ldexp(uniform(-1, 1), (int)uniform(-1070, 1023));
            else if (kind == 3)
                p[k] = uniform(-1, 1);
            else if (kind == 4)
                p[k] = uniform(0, 2) < 1 ? floor(uniform(0, 4)) * 0x1p-1074 : floor(uniform(0, 3)) * 0x1p1020;
        }
        for (int k = 0; k < 3; k++)
            x[i][k] = kind != 1
                          ? p[k]
                          : 1000 + rotation[3 * k] * p[0] + rotation[3 * k + 1] * p[1] + rotation[3 * k + 2] * p[2];
    }
}

static int exact_orient2d(const double *a, const double *b, const double *c, int i, int j)
{
    rational ui = q_sub(q(b[i]), q(a[i])), uj = q_sub(q(b[j]), q(a[j])), vi = q_sub(q(c[i]), q(a[i])),
             vj = q_sub(q(c[j]), q(a[j]));
    return mpq_sgn(q_sub(q_mul(ui, vj), q_mul(uj, vi)));
}

static void check_points(double (*x)[3], int kind, int counts[3])
{
    struct vec v[5];
    for (int i = 0; i < 5; i++)
        v[i] = v_from(x[i]);
    int sign = mpq_sgn(v_dot(v_cross(v_sub(v[1], v[0]), v_sub(v[2], v[0])), v_sub(v[3], v[0])));
    CHECK(tac_orient3d(x[0], x[1], x[2], x[3]) == sign, "kind %d: %d", kind, sign);
    counts[sign + 1]++;
    for (int k = 0; k < 3; k++)
        CHECK(tac_orient2d(x[0], x[1], x[2], k, (k + 1) % 3) == exact_orient2d(x[0], x[1], x[2], k, (k + 1) % 3),
              "kind %d", kind);
    /* The rational distances divide by lengths. */
    int ends = mpq_sgn(exact_vv(v[0], v[1])) != 0 && mpq_sgn(exact_vv(v[2], v[3])) != 0 &&
               mpq_sgn(exact_vv(v[2], v[4])) != 0 && mpq_sgn(exact_vv(v[3], v[4])) != 0;
    if (!ends)
        return;
    CHECK(tac_on_segment(x[2], x[0], x[1]) == (mpq_sgn(exact_ve(v[2], v[0], v[1])) == 0), "kind %d", kind);
    CHECK(tac_on_triangle(x[0], x[2], x[3], x[4]) == (mpq_sgn(exact_vt(v[0], v[2], v[3], v[4])) == 0), "kind %d", kind);
    CHECK(tac_segments_meet(x[0], x[1], x[2], x[3]) == (mpq_sgn(exact_ee(v[0], v[1], v[2], v[3])) == 0), "kind %d",
          kind);
    CHECK(tac_segment_pierces(x[0], x[1], x[2], x[3], x[4]) == exact_pierces(v[0], v[1], v[2], v[3], v[4]), "kind %d",
          kind);
}

int main(void)
{
    for (int kind = 0; kind < 5; kind++) {
        int counts[3] = {0};
        for (int i = 0; i < (kind == 2 || kind == 4 ? 400 : 1500); i++) {
            double x[5][3];
            random_points(x, 5, kind);
            check_points(x, kind, counts);
            rational_clear();
        }
        CHECK(counts[0] > 50 && counts[2] > 50, "kind %d has no points on one side", kind);
        CHECK(counts[1] > 10 || (kind >= 1 && kind <= 3), "kind %d has no ties", kind);
    }
    /* A plane through large coordinates that a double cannot tell from its neighbours. */
    double a[3] = {0, 0, 0}, b[3] = {1, 0x1p53, 0}, c[3] = {0, 1, 1}, on[3] = {1, 0x1p53, 0},
           off[3] = {1, 0x1p53, 0x1p-60};
    CHECK(tac_orient3d(a, b, c, on) == 0);
    CHECK(tac_orient3d(a, b, c, off) == 1);
    double most[3] = {DBL_MAX, -DBL_MAX, DBL_MAX}, least[3] = {-DBL_MAX, DBL_MAX, DBL_TRUE_MIN};
    CHECK(tac_orient3d(a, most, least, (double[]){0, 0, DBL_MAX}) ==
          mpq_sgn(v_dot(v_cross(v_from(most), v_from(least)), v_from((double[]){0, 0, DBL_MAX}))));
    rational_free();
    return check_result();
}
