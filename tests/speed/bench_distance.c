/* Nanoseconds per call of each distance kernel and the mollifier, on inputs that stay in cache: median and spread of
 * many repeats, and the ratio to the vertex-vertex kernel's median in the same run. Not a test. */
#include "unit/geometry/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <tactus/base.h>

enum { INPUTS = 512, REPEATS = 301 };

static double inputs[INPUTS][4][3];
static volatile double sink;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double run_kernel(enum tac_pair_type type)
{
    double sum = 0;
    struct tac_near near;
    for (int i = 0; i < INPUTS; i++) {
        tac_near_pair(type, (const double(*)[3])inputs[i], &near);
        sum += near.d + near.w[1] + near.n[0];
    }
    return sum;
}

static double run_mollifier(enum tac_pair_type type)
{
    (void)type;
    double sum = 0, m, gradient[4][3] = {{0}};
    for (int i = 0; i < INPUTS; i++) {
        tac_mollifier((const double(*)[3])inputs[i], &m, gradient);
        sum += m + gradient[0][0];
    }
    return sum;
}

/* Median of a loop's ns per call; prints a row. */
static double measure(const char *name, double (*loop)(enum tac_pair_type), enum tac_pair_type type, double base)
{
    static const enum input_family families[] = {INPUT_RANDOM, INPUT_CONTACT, INPUT_NEEDLE, INPUT_PARALLEL};
    double first = 0;
    printf("%-16s", name);
    for (int f = 0; f < 4; f++) {
        for (uint64_t i = 0; i < INPUTS; i++) {
            struct input in = {tac_hash64(99, i), 0}; /* one size and offset: branches depend on shape only */
            input_shape(&in, families[f], type, inputs[i]);
        }
        double ns[REPEATS];
        for (int r = -20; r < REPEATS; r++) {
            double begin = tac_wall_s();
            sink = loop(type);
            if (r >= 0)
                ns[r] = (tac_wall_s() - begin) / INPUTS * 1e9;
        }
        qsort(ns, REPEATS, sizeof *ns, compare);
        double median = ns[REPEATS / 2];
        if (f == 0)
            first = median;
        printf("  %6.1f (%.1f..%.1f)", median, ns[REPEATS / 10], ns[REPEATS - 1 - REPEATS / 10]);
    }
    printf("  %5.2f\n", base > 0 ? first / base : 1.);
    return first;
}

int main(void)
{
    printf("ns per call: median (10%%..90%%) of %d repeats of %d inputs; last: random's ratio to vertex-vertex\n",
           REPEATS, INPUTS);
    printf("%-16s  %-20s%-20s%-20s%-20s\n", "", "random", "contact", "needle", "parallel");
    double base = measure("vertex-vertex", run_kernel, TAC_PAIR_VERTEX_VERTEX, 0);
    measure("vertex-segment", run_kernel, TAC_PAIR_VERTEX_SEGMENT, base);
    measure("vertex-triangle", run_kernel, TAC_PAIR_VERTEX_TRIANGLE, base);
    measure("edge-edge", run_kernel, TAC_PAIR_EDGE_EDGE, base);
    measure("mollifier", run_mollifier, TAC_PAIR_EDGE_EDGE, base);
    return 0;
}
