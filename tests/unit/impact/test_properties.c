/* Five properties of operators of impact, on random and hand-made elastic instants (Smith et al. 2012, Table 1). A set
 * of balls that touch is made at random, and its mirror image touches it. Prints a matrix: in how many instants an
 * operator has not got a property. If it fails, generalised reflections lack one, or an operator to compare with has
 * become another. */
#include "check.h"
#include "impact/operator.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { HALF = 6, BALLS = 2 * HALF, ROWS = BALLS * BALLS, INSTANTS = 200 };
enum { BRK, SYM, KIN, MOM, ONE, PROPERTIES };

static struct tac_ctx ctx;
static struct tac_instant in;
static struct tac_impact_row row[ROWS];
static double x[BALLS][3], v[3 * BALLS], before[3 * BALLS], root[BALLS], start[ROWS];
static unsigned seed = 7;

static double random_number(void) /* -1 .. 1 */
{
    return (double)(rand_r(&seed) % 20001 - 10000) / 10000;
}

static double distance(const double a[3], const double b[3])
{
    double d[3];
    tac_sub(d, a, b);
    return sqrt(tac_dot(d, d));
}

/* Puts ball k on an earlier one, at x > 0, where it overlaps no other one and not the mirror. */
static void place(int k)
{
    for (bool good = false; !good;) {
        double n[3] = {random_number(), random_number(), random_number()};
        const double length = sqrt(tac_dot(n, n));
        const int on = rand_r(&seed) % k;
        good = length > .1;
        for (int c = 0; c < 3; c++)
            x[k][c] = x[on][c] + n[c] / length;
        for (int i = 0; i < k; i++)
            good = good && (i == on || distance(x[i], x[k]) >= 1);
        good = good && x[k][0] >= .5;
    }
}

static void add_rows(double near)
{
    for (int a = 0; a < BALLS; a++)
        for (int b = a + 1; b < BALLS; b++) {
            if (distance(x[a], x[b]) > near)
                continue;
            struct tac_impact_row *r = &row[in.rows++];
            *r = (struct tac_impact_row){.body = {a, b}, .inverse = {1 / root[a], 1 / root[b]}, .restitution = 1};
            tac_sub(r->n, x[a], x[b]);
            const double d = distance(x[a], x[b]);
            for (int c = 0; c < 3; c++)
                r->n[c] /= d;
            tac_row_aim(r);
        }
}

/* An instant that is its own mirror image across x = 0: ball k and ball HALF + k. The first two touch. */
static void make(int number)
{
    x[0][0] = .5;
    x[0][1] = x[0][2] = 0;
    root[0] = 1;
    for (int k = 1; k < HALF; k++) {
        place(k);
        root[k] = sqrt(1 + .9 * random_number());
    }
    for (int k = 0; k < HALF; k++)
        for (int c = 0; c < 3; c++) {
            before[3 * k + c] = number % 4 == 0 && k > 0 ? 0 : root[k] * random_number();
            before[3 * (HALF + k) + c] = (c == 0 ? -1 : 1) * before[3 * k + c];
            x[HALF + k][c] = (c == 0 ? -1 : 1) * x[k][c];
        }
    memcpy(&root[HALF], root, HALF * sizeof *root);
    in.rows = 0;
    in.bodies = BALLS;
    add_rows(1 + 1e-9);
}

static void run(enum tac_impact_operator kind)
{
    memcpy(v, before, sizeof v);
    in.rule = (struct tac_impact_settings){.kind = kind, .tolerance = 1e-13, .passes = 1, .most = 10000};
    in.ctx = &ctx;
    in.v = v;
    in.row = row;
    in.fastest = 2;
    for (size_t k = 0; k < in.rows; k++)
        start[k] = tac_row_speed(&row[k], before);
    CHECK(tac_instant_islands(&in) == TAC_OK && tac_instant_strike(&in) == TAC_OK, "%s", ctx.error);
}

static double energy(const double *u)
{
    double sum = 0;
    for (int k = 0; k < 3 * BALLS; k++)
        sum += .5 * u[k] * u[k];
    return sum;
}

/* What is lacking. BRK: contacts that were at rest and were struck, and none of them separates. */
static void judge(bool lacks[PROPERTIES])
{
    double asymmetry = 0, momentum = 0;
    bool struck = false, breaks = false;
    memset(lacks, 0, PROPERTIES * sizeof *lacks);
    for (int k = 0; k < HALF; k++)
        for (int c = 0; c < 3; c++)
            asymmetry = fmax(asymmetry, fabs(v[3 * k + c] - (c == 0 ? -1 : 1) * v[3 * (HALF + k) + c]));
    for (int c = 0; c < 3; c++) {
        double sum = 0;
        for (int k = 0; k < BALLS; k++)
            sum += root[k] * (v[3 * k + c] - before[3 * k + c]);
        momentum = fmax(momentum, fabs(sum));
    }
    for (size_t k = 0; k < in.rows; k++) {
        const double after = tac_row_speed(&row[k], v);
        lacks[ONE] = lacks[ONE] || row[k].lambda < 0;
        CHECK(after > -1e-9 || in.rule.kind == TAC_IMPACT_LCP, "row %zu approaches at %g", k, after);
        if (start[k] == 0 && row[k].lambda > 1e-6) {
            struck = true;
            breaks = breaks || after > 1e-6;
        }
    }
    lacks[BRK] = struck && !breaks;
    lacks[SYM] = asymmetry > 0 && (in.rule.kind == TAC_IMPACT_REFLECTIONS || asymmetry > 1e-9);
    lacks[KIN] = fabs(energy(v) / energy(before) - 1) > 1e-12;
    lacks[MOM] = momentum > 1e-12;
}

int main(int argc, char **argv)
{
    static const char *const name[] = {"reflections", "lcp", "gauss-seidel", "jacobi"};
    static const bool wanted[4][PROPERTIES] = {{0}, {[BRK] = true}, {[SYM] = true}, {[KIN] = true}};
    int lacking[4][PROPERTIES] = {{0}};
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_SELF);
    for (int i = 0; i < INSTANTS; i++) {
        make(i);
        for (int kind = 0; kind < 4; kind++) {
            bool lacks[PROPERTIES];
            run((enum tac_impact_operator)kind);
            judge(lacks);
            for (int p = 0; p < PROPERTIES; p++)
                lacking[kind][p] += lacks[p];
        }
    }
    printf("%-14s %5s %5s %5s %5s %5s   instants of %d without the property\n", "operator", "BRK", "SYM", "KIN", "MOM",
           "ONE", INSTANTS);
    for (int kind = 0; kind < 4; kind++) {
        printf("%-14s %5d %5d %5d %5d %5d\n", name[kind], lacking[kind][BRK], lacking[kind][SYM], lacking[kind][KIN],
               lacking[kind][MOM], lacking[kind][ONE]);
        for (int p = 0; p < PROPERTIES; p++)
            CHECK((lacking[kind][p] > 0) == wanted[kind][p], "operator %s, property %d", name[kind], p);
    }
    tac_instant_free(&in);
    MPI_Finalize();
    return check_result();
}
