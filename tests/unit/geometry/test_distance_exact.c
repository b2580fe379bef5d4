/* Rational arithmetic against the double-double references that test_distance.c judges by (if it failed, those judged
 * wrongly), and against the kernels themselves. An argument sets the inputs per kernel and family. */
#include "inputs.h"
#include "reference.h"
#include "unit/overlap/rational.h"

#include <check.h>
#include <float.h>
#include <stdlib.h>

#define REFERENCE_BOUND 0x1p-80 /* of the pair's size: 2^27 times finer than what is judged by it */

static rational exact_distance2(enum tac_pair_type type, const double x[4][3])
{
    struct vec v[4];
    for (int i = 0; i < 4; i++)
        v[i] = v_from(x[i]);
    switch (type) {
    case TAC_PAIR_VERTEX_TRIANGLE:
        return exact_vt(v[0], v[1], v[2], v[3]);
    case TAC_PAIR_EDGE_EDGE:
        return exact_ee(v[0], v[1], v[2], v[3]);
    case TAC_PAIR_VERTEX_SEGMENT:
        return exact_ve(v[0], v[1], v[2]);
    default:
        return exact_vv(v[0], v[1]);
    }
}

static dd from_rational(rational value)
{
    double hi = mpq_get_d(value), lo = mpq_get_d(q_sub(value, q(hi)));
    return dd_add(dd_of(hi), dd_add(dd_of(lo), dd_of(mpq_get_d(q_sub(q_sub(value, q(hi)), q(lo))))));
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 300;
    double worst_reference = 0, worst_kernel = 0;
    int zeros = 0;
    for (int type = 0; type < TAC_PAIR_TYPES; type++) {
        for (int family = 0; family < INPUT_FAMILIES; family++) {
            for (uint64_t n = 0; n < count; n++) {
                double x[4][3], size = 0;
                /* other inputs than test_distance's */
                input_make((enum input_family)family, (enum tac_pair_type)type, n + (UINT64_C(1) << 40), x);
                const double(*y)[3] = (const double(*)[3])x;
                for (int i = 0; i < tac_pair_vertices((enum tac_pair_type)type); i++)
                    for (int k = 0; k < 3; k++)
                        size = fmax(size, fabs(x[i][k] - x[0][k])); /* no longer than the longest */
                dd exact = dd_sqrt(from_rational(exact_distance2((enum tac_pair_type)type, y)));
                rational_clear();
                zeros += exact.hi == 0;
                dd reference = dd_sqrt(reference_distance2((enum tac_pair_type)type, y));
                struct tac_near near;
                tac_near_pair((enum tac_pair_type)type, y, &near);
                double off = fabs(dd_sub(reference, exact).hi), error = fabs(dd_sub(dd_of(near.d), exact).hi);
                CHECK(off <= REFERENCE_BOUND * size, "type %d, %s, input %d: reference is off by %g of the size", type,
                      input_name((enum input_family)family), (int)n, off / size);
                CHECK(error <= TAC_NEAR_ERROR * size, "type %d, %s, input %d: %g, exactly %.17g", type,
                      input_name((enum input_family)family), (int)n, near.d, exact.hi);
                if (size > 0) {
                    worst_reference = fmax(worst_reference, off / size);
                    worst_kernel = fmax(worst_kernel, error / size / (DBL_EPSILON / 2));
                }
            }
        }
    }
    CHECK(zeros > 0, "no input touched exactly");
    printf("reference off by %g of the size at worst; kernels by %.2f eps x size; %d exact touches\n", worst_reference,
           worst_kernel, zeros);
    rational_free();
    return check_result();
}
