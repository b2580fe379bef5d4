/* Operators of impact on instants by hand: balls in lines and heaps (docs/reference/impact.md, Operators). Bars are
 * those of closed forms, and of Smith et al. 2012. */
#include "base/evenly.h"
#include "check.h"
#include "impact/operator.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 2048 };

static struct tac_ctx ctx;
static double v[3 * MOST], root[MOST];
static struct tac_impact_row row[MOST];
static struct tac_instant in;

static void begin(size_t bodies, enum tac_impact_operator kind, int64_t most)
{
    tac_instant_free(&in);
    memset(v, 0, sizeof v);
    memset(row, 0, sizeof row);
    in.ctx = &ctx;
    in.rule = (struct tac_impact_settings){.kind = kind, .tolerance = 1e-13, .passes = 4, .most = most};
    in.v = v;
    in.row = row;
    in.bodies = bodies;
    in.rows = 0;
    for (size_t b = 0; b < bodies; b++)
        root[b] = 1;
}

/* Body a touches body b (-1: a wall), and n is from b to a. */
static void touch(int a, int b, double x, double y, double z, double c, double friction)
{
    struct tac_impact_row *r = &row[in.rows++];
    const double length = sqrt(x * x + y * y + z * z);
    r->body[0] = a;
    r->body[1] = b;
    r->n[0] = x / length;
    r->n[1] = y / length;
    r->n[2] = z / length;
    r->inverse[0] = 1 / root[a];
    r->inverse[1] = b >= 0 ? 1 / root[b] : 0;
    r->restitution = c;
    r->friction = friction;
    tac_row_aim(r);
}

static double strike(void)
{
    double before = 0, after = 0;
    in.fastest = 0;
    for (size_t k = 0; k < 3 * in.bodies; k++) {
        before += v[k] * v[k];
        in.fastest = fmax(in.fastest, fabs(v[k]));
    }
    enum tac_err err = tac_instant_islands(&in);
    err = err ? err : tac_instant_strike(&in);
    err = err ? err : tac_instant_rub(&in);
    CHECK(err == TAC_OK, "%s", ctx.error);
    for (size_t k = 0; k < 3 * in.bodies; k++)
        after += v[k] * v[k];
    return after / before - 1;
}

static double approach(void)
{
    double least = 0;
    for (size_t k = 0; k < in.rows; k++)
        least = fmin(least, tac_row_speed(&row[k], v) + row[k].u);
    return least;
}

static void line(int n, double c, enum tac_impact_operator kind)
{
    begin((size_t)n, kind, 1000);
    for (int i = 0; i + 1 < n; i++)
        touch(i, i + 1, -1, 0, 0, c, 0);
}

static void test_cradles(void)
{
    const int size[] = {3, 5, 20, 100, 200};
    for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
        const int n = size[s];
        line(n, 1, TAC_IMPACT_REFLECTIONS);
        v[0] = 1;
        strike();
        bool exact = v[3 * (n - 1)] == 1;
        for (int i = 0; i < n - 1; i++)
            exact = exact && v[3 * i] == 0;
        CHECK(exact && in.reflections == n - 1, "cradle of %d: %d reflections", n, (int)in.reflections);
        line(n, 1, TAC_IMPACT_REFLECTIONS);
        v[0] = v[3] = 1;
        CHECK(fabs(strike()) < 1e-12, "energy");
        for (int i = 0; i < n; i++)
            CHECK(fabs(v[3 * i] - (i >= n - 2)) < 1e-9, "two strike %d: ball %d %g", n, i, v[3 * i]);
        line(n, 0, TAC_IMPACT_REFLECTIONS);
        v[0] = 1;
        strike();
        for (int i = 0; i < n; i++)
            CHECK(fabs(v[3 * i] - 1. / n) < 1e-9, "inelastic %d: ball %d %g", n, i, v[3 * i]);
        line(n, 1, TAC_IMPACT_LCP);
        v[0] = 1;
        CHECK(fabs(strike()) < 1e-9, "energy");
        CHECK(fabs(v[0] - (2. / n - 1)) < 1e-9 && fabs(v[3 * (n - 1)] - 2. / n) < 1e-9, "lcp %d: %g", n, v[0]);
    }
}

/* One ball strikes two that touch each other and it. */
static void test_bernoulli(void)
{
    begin(3, TAC_IMPACT_REFLECTIONS, 1000);
    touch(0, 1, .5, sqrt(.75), 0, 1, 0);
    touch(0, 2, -.5, sqrt(.75), 0, 1, 0);
    touch(1, 2, -1, 0, 0, 1, 0);
    v[1] = -1;
    CHECK(fabs(strike()) < 1e-14, "energy");
    CHECK(in.reflections == 1, "%d reflections", (int)in.reflections);
    CHECK(fabs(v[1] - .2) < 1e-12 && v[0] == 0, "striker %g", v[1]);
    CHECK(v[3] == -v[6] && v[4] == v[7], "mirror");
    CHECK(fabs(fabs(v[3]) - .2 * sqrt(3)) < 1e-12 && fabs(v[4] + .6) < 1e-12, "others %g %g", v[3], v[4]);
}

/* A heavy ball drives a light one against a wall: the digits of pi (Galperin). */
static void test_masses(void)
{
    const int64_t wanted[] = {3, 31, 314, 3141, 31415, 314159};
    double mass = 1;
    for (int n = 0; n < 6; n++, mass *= 100) {
        begin(2, TAC_IMPACT_REFLECTIONS, 1000000);
        root[0] = sqrt(mass);
        touch(1, -1, 1, 0, 0, 1, 0);
        touch(0, 1, 1, 0, 0, 1, 0);
        v[0] = -root[0];
        const double gain = strike();
        CHECK(in.reflections == wanted[n] && in.jammed == 0, "1 : 100^%d: %d", n, (int)in.reflections);
        CHECK(fabs(gain) < 1e-12, "energy %g", gain);
    }
}

static void test_jammed(void)
{
    begin(1, TAC_IMPACT_REFLECTIONS, 100);
    touch(0, -1, 1, 0, 0, 1, 0);
    touch(0, -1, -1, 0, 0, 1, 0);
    v[0] = .5;
    v[1] = 2;
    strike();
    CHECK(in.jammed == 1 && v[0] == 0 && v[1] == 2, "%g %g", v[0], v[1]);
}

/* Three balls in a line, the outer ones approaching: pairwise impacts never end at a small restitution (RoSI, 7). */
static void test_restitution(void)
{
    begin(3, TAC_IMPACT_REFLECTIONS, 1000);
    touch(0, 1, -1, 0, 0, .05, 0);
    touch(1, 2, -1, 0, 0, .05, 0);
    v[0] = 1;
    CHECK(strike() < 0 && approach() > -1e-12, "one pass");
    /* By hand: elastic 0, 0, 1, inelastic thirds. */
    CHECK(fabs(v[0] - .95 / 3) < 1e-9 && fabs(v[6] - .05 - .95 / 3) < 1e-9, "%g %g", v[0], v[6]);
    const double c[] = {.07, .075};
    int64_t sweeps[2];
    for (int k = 0; k < 2; k++) {
        begin(3, TAC_IMPACT_GAUSS_SEIDEL, 1000);
        touch(0, 1, -1, 0, 0, c[k], 0);
        touch(1, 2, -1, 0, 0, c[k], 0);
        v[0] = 1;
        strike();
        sweeps[k] = in.reflections;
    }
    CHECK(sweeps[1] == 8 && sweeps[0] > sweeps[1], "sweeps: %d below the limit 7 - 4 sqrt 3, %d above", (int)sweeps[0],
          (int)sweeps[1]);
}

/* Laws that differ, and friction: no row approaches afterwards, and no energy is gained. */
static void test_random(void)
{
    unsigned seed = 1;
    for (int trial = 0; trial < 200; trial++) {
        begin(12, TAC_IMPACT_REFLECTIONS, 1000);
        for (int b = 0; b < 12; b++)
            root[b] = sqrt(.1 + (double)(rand_r(&seed) % 1000) / 100);
        for (int k = 0; k < 16; k++) {
            const int a = rand_r(&seed) % 12, b = (a + 1 + rand_r(&seed) % 11) % 12;
            double n[3];
            for (int c = 0; c < 3; c++)
                n[c] = (double)(rand_r(&seed) % 2001 - 1000);
            touch(a, k % 5 == 0 ? -1 : b, n[0], n[1], n[2], (double)(rand_r(&seed) % 11) / 10,
                  (double)(rand_r(&seed) % 3) / 4);
        }
        for (int c = 0; c < 36; c++)
            v[c] = (double)(rand_r(&seed) % 2001 - 1000) / 1000;
        const double gain = strike();
        CHECK(gain < 1e-12, "trial %d gains %g", trial, gain);
        CHECK(approach() > -1e-9, "trial %d approaches %g", trial, approach());
    }
}

/* The order of rows and the mirror image change no bit. */
static void test_order(void)
{
    double kept[3 * MOST];
    for (int turn = 0; turn < 3; turn++) {
        const double side = turn == 2 ? -1 : 1;
        begin(30, TAC_IMPACT_REFLECTIONS, 1000);
        for (int k = 0; k < 60; k++) {
            const int i = turn == 1 ? 59 - k : k;
            touch(i % 30, (i * 7 + 11) % 30 == i % 30 ? -1 : (i * 7 + 11) % 30, side * ((i * 13) % 17 - 8.),
                  (i * 5) % 11 - 5.3, (i * 3) % 7 - 3., .5, .3);
        }
        for (int c = 0; c < 90; c++)
            v[c] = (c % 3 == 0 ? side : 1) * ((c * 37) % 101 - 50.) / 50;
        strike();
        for (int c = 0; c < 90; c++) {
            if (turn == 0)
                kept[c] = v[c];
            CHECK(v[c] == (c % 3 == 0 ? side : 1) * kept[c], "turn %d, %d: %.17g %.17g", turn, c, v[c], kept[c]);
        }
    }
}

enum { SIDE = 24, HEAP = SIDE * SIDE };

/* A heap of SIDE layers on a floor, of which a ball falls on the top. turn 1: the rows in another order; 2: the mirror
 * image. Large islands are solved from the rows that approach. */
static void make_heap(int turn)
{
    const double side = turn == 2 ? -1 : 1;
    begin(HEAP + 1, TAC_IMPACT_REFLECTIONS, 1000);
    in.slow = 1e-4;
    for (int e = 0; e < HEAP; e++) {
        const int k = turn == 1 ? HEAP - 1 - e : e, layer = k / SIDE, at = k % SIDE;
        if (layer == 0)
            touch(k, -1, 0, 1, 0, .5, .3);
        if (layer > 0)
            touch(k, k - SIDE, side * .5, sqrt(.75), 0, .5, .3);
        if (layer > 0 && at + 1 < SIDE)
            touch(k, k - SIDE + 1, side * -.5, sqrt(.75), 0, .5, .3);
    }
    touch(HEAP, HEAP - 10, side * .2, 1, 0, .5, .3);
    v[3 * HEAP + 1] = -1;
}

static void test_heap(void)
{
    static double kept[3 * (HEAP + 1)];
    for (int turn = 0; turn < 3; turn++) {
        make_heap(turn);
        const double gain = strike();
        CHECK(gain < 0, "a heap that is hit gains %g", gain);
        CHECK(in.spread.count > 1 && in.spread.count < in.rows / 2, "friction reached %zu rows", in.spread.count);
        CHECK(approach() > -2e-3, "approaches by %g", approach());
        CHECK(v[3 * HEAP + 1] > -.1 && v[3 * HEAP] * (turn == 2 ? -1 : 1) > 0, "the ball: %g %g", v[3 * HEAP],
              v[3 * HEAP + 1]);
        for (int c = 0; c < 3 * (HEAP + 1); c++) {
            const double sign = turn == 2 && c % 3 == 0 ? -1 : 1;
            if (turn == 0)
                kept[c] = v[c];
            CHECK(v[c] == sign * kept[c], "heap, turn %d, %d: %.17g %.17g", turn, c, v[c], kept[c]);
        }
    }
}

/* Walls that come from both sides: no velocity is allowed. It is told, and nothing changes. */
static void test_unsolved(void)
{
    begin(1, TAC_IMPACT_REFLECTIONS, 100);
    touch(0, -1, 0, 1, 0, 0, 0);
    touch(0, -1, 0, -1, 0, 0, 0);
    row[0].other[1] = -1;
    row[1].other[1] = 1;
    tac_row_aim(&row[0]);
    tac_row_aim(&row[1]);
    v[0] = 1;
    strike();
    CHECK(in.unsolved == 2 && v[0] == 1 && v[1] == 0, "between walls: %d, %g %g", (int)in.unsolved, v[0], v[1]);
}

static void test_support(void)
{
    begin(1, TAC_IMPACT_REFLECTIONS, 100);
    touch(0, -1, 0, 1, 0, 0, .5);
    v[0] = .4;
    v[1] = -1;
    in.fastest = 1;
    CHECK(tac_instant_islands(&in) == TAC_OK && tac_instant_support(&in, false) == TAC_OK, "%s", ctx.error);
    CHECK(fabs(v[0]) < 1e-12 && fabs(v[1]) < 1e-12, "holds: %g %g", v[0], v[1]);
    v[0] = 2;
    v[1] = -1;
    CHECK(tac_instant_support(&in, false) == TAC_OK, "%s", ctx.error);
    CHECK(fabs(v[0] - 1.5) < 1e-12 && fabs(row[0].slide[0] - .5) < 1e-12, "slides: %g", v[0]);
}

static void test_sums(void)
{
    double term[1000], turned[1000];
    for (int i = 0; i < 1000; i++) {
        term[i] = ((i * 7919) % 1009 - 504) * (i % 3 == 0 ? 1e-9 : 1.37);
        turned[(i * 387) % 1000] = term[i];
    }
    const double sum = tac_sum_evenly(term, 1000);
    CHECK(sum == tac_sum_evenly(turned, 1000), "order");
    for (int i = 0; i < 1000; i++)
        turned[i] = -term[i];
    CHECK(sum == -tac_sum_evenly(turned, 1000), "odd");
    const double three[3] = {1, 0x1p-53, 0x1p-60};
    CHECK(tac_sum_evenly(three, 3) == 1 + 0x1p-52, "rounds once: %.17g", tac_sum_evenly(three, 3));
    CHECK(isnan(tac_sum_evenly((double[3]){1, INFINITY, 1}, 3)), "infinity");
    CHECK(isnan(tac_sum_evenly((double[3]){1, NAN, 1}, 3)), "nan");
    CHECK(tac_dot_evenly(term, term, 1000) > 0, "dot");
}

/* A cube of 1 kg and 1 m that touches the floor with points of its face, elastic: body 0, and its turn behind it. */
static void stand(int side, double spin)
{
    const double gyration = sqrt(1. / 6);
    begin(2, TAC_IMPACT_REFLECTIONS, 1000);
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            const double half = 2 * (side - 1), r[3] = {(2 * i - side + 1) / half, -.5, (2 * j - side + 1) / half};
            struct tac_impact_row *k = &row[in.rows++];
            *k = (struct tac_impact_row){
                .body = {0, -1}, .turn = {1, 0}, .inverse = {1, 0}, .n = {0, 1, 0}, .restitution = 1};
            for (int a = 0; a < 3; a++) {
                const double axis[3] = {a == 0, a == 1, a == 2};
                tac_cross(k->arm[0][a], axis, r);
                for (int c = 0; c < 3; c++)
                    k->arm[0][a][c] /= gyration;
            }
            tac_row_aim(k);
        }
    v[1] = -1;
    v[5] = spin * gyration;
    CHECK(fabs(strike()) < 1e-14, "energy");
    CHECK(fabs(v[1] - 1) < 1e-15 && v[0] == 0 && v[2] == 0, "%d points, spin %g: up %.17g", side * side, spin, v[1]);
    for (int a = 0; a < 3; a++)
        CHECK(fabs(v[3 + a] / gyration + (a == 2 ? spin : 0)) < 1e-16 + 1e-14 * spin, "%d points, spin %g: turns %.17g",
              side * side, spin, v[3 + a] / gyration);
    CHECK(in.reflections == 1, "%d reflections", (int)in.reflections);
}

static void test_faces(void)
{
    for (int side = 2; side <= 16; side++) {
        stand(side, 0);
        stand(side, .3);
    }
}

/* A sum in parts, as several ranks make it, has the bits of the whole one; of few terms and of many. */
static void test_parts(void)
{
    double a[1400], b[1400];
    for (int i = 0; i < 1400; i++) {
        a[i] = ((i * 7919) % 1409 - 704) * (i % 5 == 0 ? 3e-13 : .7);
        b[i] = ((i * 31) % 101 - 50) / 3.;
    }
    for (size_t n = 3; n <= 1400; n = n < 40 ? n + 1 : n + 97)
        for (size_t cut = 0; cut <= n; cut += 1 + n / 4) {
            const double left = tac_even_largest(a, b, cut), right = tac_even_largest(a + cut, b + cut, n - cut);
            const double most = fmax(left, right);
            int64_t limb[TAC_EVEN_LIMBS], more[TAC_EVEN_LIMBS];
            tac_even_limbs(a, b, cut, most, limb);
            tac_even_limbs(a + cut, b + cut, n - cut, most, more);
            for (int k = 0; k < TAC_EVEN_LIMBS; k++)
                limb[k] += more[k];
            CHECK(tac_even_value(most, limb) == tac_dot_evenly(a, b, n), "%zu terms cut at %zu", n, cut);
        }
    CHECK(tac_even_largest((double[3]){1, NAN, 1}, b, 3) == INFINITY, "nan");
}

/* Two piles of three balls. Ball 5 is pushed to the side. */
static void make_piles(double push)
{
    begin(6, TAC_IMPACT_REFLECTIONS, 1000);
    in.keeps = true;
    in.fastest = 2;
    for (int b = 0; b < 6; b++) {
        touch(b, b % 3 == 0 ? -1 : b - 1, .3, 1, 0, .5, .3);
        v[3 * b + 1] = -1;
    }
    v[15] = push;
    for (size_t k = 0; k < in.rows; k++)
        row[k].key = 10 * k;
}

static void support(void)
{
    in.iterations = 0;
    CHECK(tac_instant_islands(&in) == TAC_OK && tac_instant_support(&in, false) == TAC_OK, "%s", ctx.error);
}

/* A support of islands that have not changed is not solved again: the second pile has a row more, then another
 * velocity, and then a row that is corrected. The results are those of an instant that remembers nothing. */
static void test_kept(void)
{
    for (int change = 0; change < 4; change++) {
        double kept[18], impulse[7];
        int64_t work = 0;
        make_piles(.5);
        support();
        for (int again = 0; again < 2; again++) {
            const double push = change == 2 ? .7 : .5;
            if (again > 0) /* an instant without a past */
                make_piles(push);
            for (int b = 0; b < 6; b++)
                memcpy(&v[3 * b], (double[3]){b == 5 ? push : 0, -1, 0}, 3 * sizeof *v);
            if (change == 1) {
                touch(5, 3, -.2, 1, 0, .5, .3);
                row[in.rows - 1].key = 1000;
            }
            row[4].r = change == 3 ? .2 : 0;
            support();
            if (again == 0) {
                work = in.iterations;
                memcpy(kept, v, sizeof kept);
                for (size_t k = 0; k < in.rows; k++)
                    impulse[k] = row[k].lambda + 3 * row[k].slide[0];
            }
        }
        CHECK(change == 0 ? work == 0 : work > 0 && work < in.iterations, "change %d: %d of %d iterations", change,
              (int)work, (int)in.iterations);
        CHECK(memcmp(kept, v, sizeof kept) == 0, "change %d: other velocities", change);
        for (size_t k = 0; k < in.rows; k++)
            CHECK(impulse[k] == row[k].lambda + 3 * row[k].slide[0], "change %d: row %zu", change, k);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_SELF);
    test_sums();
    test_parts();
    test_cradles();
    test_bernoulli();
    test_masses();
    test_jammed();
    test_restitution();
    test_random();
    test_order();
    test_heap();
    test_unsolved();
    test_support();
    test_kept();
    test_faces();
    tac_instant_free(&in);
    MPI_Finalize();
    return check_result();
}
