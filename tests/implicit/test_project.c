/* The projection of Hessians against what defines it: the result has no negative eigenvalue, the difference to the
 * matrix has no positive one, and the two have nothing to do with each other; of nodes that are held nothing counts. */
#include "implicit/implicit.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t counter;

static double uniform(double low, double high)
{
    return low + (high - low) * tac_random(11, counter++);
}

/* The least of v.Av / v.v over random v and some steps towards it, of the block of the nodes that are not held; in
 * units of norm. */
static double least_quotient(int nodes, const bool *held, const double *h, double norm)
{
    const int n = 3 * nodes;
    double least = INFINITY;
    for (int round = 0; round < 20; round++) {
        double v[12], w[12];
        for (int i = 0; i < n; i++)
            v[i] = held[i / 3] ? 0 : uniform(-1, 1);
        for (int step = 0; step < 60; step++) {
            double vv = 0, vw = 0;
            for (int i = 0; i < n; i++) {
                w[i] = 0;
                for (int j = 0; j < n; j++)
                    w[i] += held[i / 3] ? 0 : h[n * i + j] * v[j];
                vv += v[i] * v[i];
                vw += v[i] * w[i];
            }
            least = fmin(least, vv > 0 ? vw / vv / norm : 0);
            for (int i = 0; i < n; i++) /* power steps of n norm - A find its least eigenvalue */
                v[i] = (v[i] - w[i] / (n * norm)) / sqrt(vv);
        }
    }
    return least;
}

static void try_one(int nodes, int rank, const bool *held, double bias)
{
    const int n = 3 * nodes;
    double h[144] = {0}, before[144], rest[144], inner = 0, norm = 0;
    for (int r = 0; r < rank; r++) { /* a sum of squares of either sign, blind to translations */
        double v[12], sign = uniform(-1, 1) + bias;
        for (int k = 0; k < 3; k++) {
            double sum = 0;
            for (int i = 1; i < nodes; i++)
                sum += v[3 * i + k] = uniform(-1, 1);
            v[k] = -sum;
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                h[n * i + j] += sign * v[i] * v[j];
    }
    memcpy(before, h, sizeof h);
    for (int i = 0; i < n * n; i++)
        norm = fmax(norm, fabs(h[i]));
    tac_implicit_project(nodes, held, h);
    for (int i = 0; i < n * n; i++)
        rest[i] = h[i] - before[i]; /* minus the negative part */
    CHECK(least_quotient(nodes, held, h, norm) > -1e-9, "%d nodes: a negative eigenvalue is left", nodes);
    bool changed = false;
    for (int i = 0; i < n * n; i++)
        changed |= rest[i] != 0;
    if (!changed)
        return;
    CHECK(least_quotient(nodes, held, rest, norm) > -1e-9, "%d nodes: a positive part was taken out", nodes);
    for (int i = 0; i < n; i++) /* the trace of the product of both parts */
        for (int j = 0; j < n; j++)
            if (!held[i / 3] && !held[j / 3])
                inner += h[n * i + j] * rest[n * i + j];
    CHECK(fabs(inner) <= 1e-9 * norm * norm, "%d nodes: the parts have %g of %g in common", nodes, inner, norm * norm);
}

int main(void)
{
    for (int round = 0; round < 2000; round++) {
        const bool held[4] = {round % 5 == 1, round % 7 == 2, round % 3 == 0 && round % 2, false};
        const bool none[4] = {false, false, false, false};
        const int nodes = 2 + round % 3, rank = 1 + (round / 3) % 9;
        try_one(nodes, rank, round % 2 ? held : none, round % 4 ? 0 : 1);
    }
    return check_result();
}
