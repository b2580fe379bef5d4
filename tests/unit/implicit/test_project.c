/* The projection of Hessians against what defines it: the result has no negative eigenvalue, the difference to the
 * matrix has no positive one, and the two have nothing to do with each other; of nodes that are held nothing counts.
 * The closed forms that stand for it are positive, and no less stiff than the Hessian in any direction.  And how far a
 * tetrahedron may go that keeps a part of its volume. */
#include "implicit/parts.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t counter;
static int compared[2], volumes;
static double excess;

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

/* Its closed forms for barriers: positive, no less stiff than the Hessian, 0 at what is held; and, where the nearest
 * points are points, the projection itself. */
static void try_barrier(int round)
{
    const struct tac_barrier_pair p = {(enum tac_pair_type)(round % TAC_PAIR_TYPES), round % 3 ? 0 : .2, .7, 0, 0};
    const int nodes = tac_pair_vertices(p.type), n = 3 * nodes;
    const bool none[4] = {false}, some[4] = {round % 5 == 0, round % 7 < 3, round % 2, round % 11 < 4};
    const bool *held = round % 2 ? some : none;
    double x[4][3] = {{0}}, h[144], c[144], over[144], whole[144], norm = 0;
    struct tac_barrier_near near;
    bool points = true;
    for (int i = 0; i < nodes; i++)
        for (int k = 0; k < 3; k++)
            x[i][k] = uniform(-1, 1);
    if (!tac_barrier_near(&p, x, &near) || near.at.d < p.radius + .05)
        return;
    CHECK(tac_barrier_convex(&p, x, &near, held, c), "no closed form");
    tac_barrier_hessian(&p, x, &near, h);
    memcpy(whole, h, sizeof h);
    for (int i = 0; i < nodes; i++)
        points = points && (fabs(near.at.w[i]) < 0x1p-50 || fabs(near.at.w[i]) > 1 - 0x1p-50);
    for (int i = 0; i < n * n; i++) {
        const bool at_held = held[i / n / 3] || held[i % n / 3];
        CHECK(!at_held || c[i] == 0, "something where it is held");
        h[i] = at_held ? 0 : h[i];
        norm = fmax(norm, fabs(h[i]));
        over[i] = c[i] - h[i];
    }
    if (!(norm > 0))
        return;
    CHECK(least_quotient(nodes, held, c, norm) > -1e-9, "type %d: a negative eigenvalue", (int)p.type);
    CHECK(least_quotient(nodes, held, over, norm) > -1e-9, "type %d: softer than the Hessian", (int)p.type);
    double size = 0, projected = 0;
    tac_implicit_project(nodes, held, whole);
    for (int i = 0; i < n; i++) {
        size += c[(n + 1) * i];
        projected += held[i / 3] ? 0 : whole[(n + 1) * i];
    }
    compared[points]++;
    excess += (size - projected) / size;
    CHECK(!points || fabs(size - projected) <= 1e-9 * size, "type %d: another trace, %g and %g", (int)p.type, size,
          projected);
}

/* Of a tetrahedron's volume a part is kept on all of the way that is allowed, and hardly more at its end. */
static void try_volume(int round)
{
    const double keep = round % 2 ? .2 : .7;
    double x[4][3], p[4][3], at[4][3], least = INFINITY;
    for (int i = 0; i < 12; i++) {
        x[i / 3][i % 3] = uniform(-1, 1);
        p[i / 3][i % 3] = round % 7 == 3 && i % 3 ? 0 : uniform(-3, 3) * (round % 3 ? 1 : .1);
    }
    double first = 0;
    const double share = tac_implicit_keep_volume((const double(*)[3])x, (const double(*)[3])p, keep);
    for (int k = 0; k <= 1010; k++) { /* the last ones beyond the share */
        double e[3][3], n[3];
        for (int i = 0; i < 12; i++)
            at[i / 3][i % 3] = x[i / 3][i % 3] + (k > 1000 ? 1.01 : k / 1000.) * share * p[i / 3][i % 3];
        for (int i = 0; i < 3; i++)
            tac_sub(e[i], at[i + 1], at[0]);
        tac_cross(n, e[1], e[2]);
        const double volume = tac_dot(e[0], n);
        if (k == 0)
            first = volume;
        if (k == 0 && !(volume > 0)) {
            CHECK(share == 0, "a tetrahedron that is inside out may move");
            return;
        }
        if (k <= 1000)
            least = fmin(least, volume / first);
        else if (share < 1)
            CHECK(share > 0 && volume < keep * first, "share %g is too short: beyond it are %g of the volume", share,
                  volume / first);
    }
    volumes += share < 1;
    CHECK(least > keep - 1e-9, "share %g leaves %g of the volume, not %g", share, least, keep);
}

int main(void)
{
    for (int round = 0; round < 2000; round++) {
        const bool held[4] = {round % 5 == 1, round % 7 == 2, round % 3 == 0 && round % 2, false};
        const bool none[4] = {false, false, false, false};
        const int nodes = 2 + round % 3, rank = 1 + (round / 3) % 9;
        try_one(nodes, rank, round % 2 ? held : none, round % 4 ? 0 : 1);
    }
    for (int round = 0; round < 4000; round++)
        try_barrier(round);
    for (int round = 0; round < 2000; round++)
        try_volume(round);
    CHECK(volumes > 500, "volumes bound %d ways", volumes);
    printf("closed forms: %d of points, %d others; stiffer than the projection by %.2g of its trace in the mean\n",
           compared[1], compared[0], excess / (compared[0] + compared[1]));
    CHECK(compared[0] > 100 && compared[1] > 100 && excess < .2 * (compared[0] + compared[1]), "closed forms");
    return check_result();
}
