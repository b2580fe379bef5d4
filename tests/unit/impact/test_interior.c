/* The interior point of impact and its factor: against residuals, and against conjugate gradients (docs/reference/
 * impact.md, Solver). A wrong order of elimination, a lost column or a wrong bound gives other velocities. */
#include "check.h"
#include "impact/bounded/interior.h"
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static struct tac_ctx ctx;
static uint64_t seed;

static double uniform(double from, double to)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (to - from) * ((double)(seed >> 11) * 0x1p-53);
}

/* Column k along n between bodies a and b (-1: a wall); with turns, bodies are in pairs: velocity and turn. */
static void touch(struct tac_bounded *p, size_t k, int32_t a, int32_t b, const double n[3], bool turns)
{
    struct tac_column *c = &p->column[k];
    double square = 0;
    *c = (struct tac_column){.body = {a, b, -1, -1}};
    for (int i = 0; i < 4; i++) {
        if (turns && i >= 2)
            c->body[i] = (i == 2 ? a : b) >= 0 ? (i == 2 ? a : b) + 1 : -1;
        for (int e = 0; e < 3 && c->body[i] >= 0; e++) {
            c->g[i][e] = i < 2 ? (i == 0 ? n[e] : -n[e]) : uniform(-1, 1);
            square += c->g[i][e] * c->g[i][e];
        }
    }
    for (int i = 0; i < 4; i++)
        for (int e = 0; e < 3; e++)
            c->g[i][e] /= sqrt(square);
}

/* A heap: rows and columns of bodies that touch below and beside, with friction in one direction. flat: in a plane.
 * hub: all touch body 0, too. Returns the number of columns. */
static size_t make_heap(struct tac_bounded *p, int side, bool flat, bool turns, bool hub)
{
    const int step = turns ? 2 : 1;
    size_t k = 0;
    CHECK(tac_bounded_begin(&ctx, p, (size_t)(8 * side * side), (size_t)(step * side * side)) == TAC_OK, "%s",
          ctx.error);
    for (int j = 0; j < side; j++)
        for (int i = 0; i < side; i++) {
            const int at = j * side + i, other[3] = {j > 0 ? at - side : -1, i > 0 ? at - 1 : -1, 0};
            for (int e = 0; e < (hub && at > side + 1 ? 3 : 2); e++) {
                const int32_t a = step * at, b = other[e] >= 0 ? step * other[e] : -1;
                double n[3] = {e == 1 ? 1 : uniform(-.3, .3), e == 1 ? uniform(-.3, .3) : 1,
                               flat ? 0 : uniform(-.3, .3)};
                const double tangent[3] = {-n[1], n[0], 0};
                touch(p, k, a, b, n, turns);
                p->b[k] = uniform(-.2, 1);
                p->lower[k] = p->y[k] = 0;
                p->upper[k++] = INFINITY;
                touch(p, k, a, b, tangent, turns);
                p->b[k] = uniform(-1, 1);
                p->upper[k] = i % 3 == 0 ? 1e-9 : uniform(0, 1);
                p->y[k] = 0;
                p->lower[k] = -p->upper[k];
                k++;
            }
        }
    p->columns = k;
    p->step = 0;
    return k;
}

/* ---- the factor ---- */

static void check_factor(const char *what, int side, bool flat, bool turns, bool hub)
{
    struct tac_bounded p = {0};
    struct tac_fronts f = {0};
    const size_t n = make_heap(&p, side, flat, turns, hub), bodies = p.bodies;
    double *weight = calloc(n, sizeof *weight), *r = calloc(4 * bodies, sizeof *r), *x = calloc(4 * bodies, sizeof *x);
    double *seen = calloc(n + 4, sizeof *seen), error = 0;
    tac_bounded_list(&p);
    CHECK(tac_fronts_plan(&ctx, &f, &p) == TAC_OK, "%s", ctx.error);
    CHECK(f.dim == (flat && !turns ? 2 : 3), "%s: %zu axes", what, f.dim);
    for (size_t k = 0; k < n; k++)
        weight[k] = k % 5 == 0 ? 0 : exp(uniform(-8, 8));
    for (size_t b = 0; b < bodies; b++)
        for (size_t e = 0; e < (flat && !turns ? 2 : 3); e++)
            x[4 * b + e] = r[4 * b + e] = uniform(-1, 1);
    CHECK(tac_fronts_factor(&f, &p, weight), "%s: no factor", what);
    tac_fronts_solve(&f, x);
    memcpy(p.w, x, 4 * bodies * sizeof *x);
    tac_bounded_look(&p, seen);
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 4; i++)
            for (int e = 0; e < 3 && p.column[k].body[i] >= 0; e++)
                x[4 * p.column[k].body[i] + e] += p.column[k].g[i][e] * weight[k] * seen[k];
    for (size_t e = 0; e < 4 * bodies; e++)
        error = fmax(error, fabs(x[e] - r[e]));
    CHECK(error < 1e-10, "%s: residual %g", what, error);
    weight[1] = INFINITY;
    CHECK(!tac_fronts_factor(&f, &p, weight), "%s: a factor of what is infinite", what);
    tac_fronts_free(&f);
    tac_bounded_free(&p);
    free(weight);
    free(r);
    free(x);
    free(seen);
}

/* ---- the solution ---- */

/* How far the velocities are from those of conjugate gradients, which are unique, over the largest. */
static double compare(struct tac_bounded *p, double accuracy, int64_t *factors)
{
    struct tac_interior in = {0};
    bool solved;
    double error = 0, most = 0;
    const size_t n = p->columns;
    double *w = calloc(4 * p->bodies, sizeof *w);
    p->tolerance = p->enough = 1e-11;
    p->patience = 1;
    CHECK(tac_bounded_solve(p), "conjugate gradients do not end");
    memcpy(w, p->w, 4 * p->bodies * sizeof *w);
    memset(p->y, 0, n * sizeof *p->y);
    CHECK(tac_interior_solve(&ctx, &in, p, accuracy, &solved) == TAC_OK && solved, "%s", ctx.error);
    for (size_t k = 0; k < n; k++)
        CHECK(p->y[k] >= p->lower[k] && p->y[k] <= p->upper[k], "column %zu leaves its bounds: %g", k, p->y[k]);
    tac_bounded_give(p);
    for (size_t e = 0; e < 4 * p->bodies; e++) {
        error = fmax(error, fabs(p->w[e] - w[e]));
        most = fmax(most, fabs(w[e]));
    }
    *factors = in.factors;
    tac_interior_free(&in);
    free(w);
    return error / most;
}

static void check_solution(const char *what, int side, bool flat, bool turns, bool hub)
{
    struct tac_bounded p = {0};
    int64_t rough, exact;
    (void)make_heap(&p, side, flat, turns, hub);
    double error = compare(&p, 1e-4, &rough);
    CHECK(error < 1e-3, "%s: rough velocities differ by %g", what, error);
    memset(p.y, 0, p.columns * sizeof *p.y);
    error = compare(&p, 1e-8, &exact);
    CHECK(error < 1e-6, "%s: velocities differ by %g", what, error);
    CHECK(rough < exact && exact <= 60, "%s: %d and %d factors", what, (int)rough, (int)exact);
    tac_bounded_free(&p);
}

/* A ball between two walls: impulses on both of them cancel, so no velocity feels how large they are. They stay of the
 * size that the problem needs. */
static void check_wedge(void)
{
    struct tac_bounded p = {0};
    struct tac_interior in = {0};
    bool solved;
    CHECK(tac_bounded_begin(&ctx, &p, 3, 1) == TAC_OK, "%s", ctx.error);
    for (size_t k = 0; k < 3; k++) {
        touch(&p, k, 0, -1, (const double[3]){k == 0 ? 1 : k == 1 ? -1 : 0, k == 2, 0}, false);
        p.b[k] = k == 2 ? 1 : 0;
        p.lower[k] = p.y[k] = 0;
        p.upper[k] = INFINITY;
    }
    CHECK(tac_interior_solve(&ctx, &in, &p, 1e-6, &solved) == TAC_OK && solved, "%s", ctx.error);
    CHECK(fabs(p.y[2] - 1) < 1e-5 && p.y[0] < 1 && p.y[1] < 1 && fabs(p.y[0] - p.y[1]) < 1e-5, "%g, %g, %g", p.y[0],
          p.y[1], p.y[2]);
    tac_interior_free(&in);
    tac_bounded_free(&p);
}

/* Where it does not come to an end, impulses are those of the start, or good ones. */
static void check_failure(void)
{
    struct tac_bounded p = {0};
    struct tac_interior in = {0};
    bool solved;
    const size_t n = make_heap(&p, 10, false, false, false);
    double *start = calloc(n, sizeof *start);
    for (size_t k = 0; k < n; k++)
        start[k] = p.y[k] = p.upper[k] == INFINITY ? .25 : .5 * p.upper[k];
    p.b[2] = NAN;
    CHECK(tac_interior_solve(&ctx, &in, &p, 1e-5, &solved) == TAC_OK && !solved, "solved what is no number");
    CHECK(memcmp(p.y, start, n * sizeof *start) == 0, "impulses of what is no number");
    p.b[2] = .5;
    CHECK(tac_interior_solve(&ctx, &in, &p, 1e-40, &solved) == TAC_OK && !solved, "solved beyond rounding");
    for (size_t k = 0; k < n; k++)
        CHECK(p.y[k] >= p.lower[k] && p.y[k] <= p.upper[k], "column %zu leaves its bounds: %g", k, p.y[k]);
    p.tolerance = p.enough = 1e-9;
    p.patience = 1;
    CHECK(tac_bounded_solve(&p), "conjugate gradients do not go on from there");
    tac_interior_free(&in);
    tac_bounded_free(&p);
    free(start);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_SELF);
    for (seed = 1; seed < 4; seed++) {
        const uint64_t first = seed;
        check_factor("one body", 1, false, false, false);
        check_factor("a plane", 20, true, false, false);
        check_factor("space", 15, false, false, false);
        check_factor("turns", 9, false, true, false);
        check_factor("a hub", 12, false, false, true);
        check_solution("a plane", 14, true, false, false);
        check_solution("space", 10, false, false, false);
        check_solution("turns", 8, false, true, false);
        check_solution("a hub", 8, true, false, true);
        seed = first;
    }
    check_wedge();
    check_failure();
    MPI_Finalize();
    return check_result();
}
