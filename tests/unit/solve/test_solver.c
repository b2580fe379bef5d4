/* test_solver.c: the solver's x against that of a dense direct solver, and the parts of its preconditioner by products.
 *
 * If it failed, solutions would be wrong, or conjugate gradients would rest on a preconditioner that is not symmetric
 * and positive.  Run on one rank and on several. */
#include "hand.h"
#include "solve/dots.h"
#include <tactus/math.h>

static struct tac_ctx ctx;

/* Against the direct solution. */
static void check_direct(const char *name, const struct hand *h, double tolerance, double most_apart)
{
    struct hand_system s;
    struct tac_solve_result result;
    struct tac_solver_stats stats = {0};
    double *right = hand_direct(h);
    for (int chunk = 1; chunk <= 50; chunk += 49) {
        CHECK(distribute_by_hand(&ctx, h, chunk, &s) == TAC_OK, "%s: %s", name, ctx.error);
        const enum tac_err err = hand_solve(&ctx, &s, tolerance, 1000, &result, &stats);
        CHECK(err == TAC_OK && result.residual <= tolerance, "%s: %s", name, ctx.error);
        double *x = hand_gather(&ctx, h, &s);
        CHECK(hand_apart(h, x, right) <= most_apart, "%s: %g apart after %d iterations", name, hand_apart(h, x, right),
              result.iterations);
        for (tac_lid i = s.nodes.owned; i < s.nodes.count; i++)
            for (int c = 0; c < 3; c++)
                CHECK(s.x[3 * i + c] == x[3 * s.id[i] + c], "%s: a ghost's x differs", name);
        free(x);
        hand_free(&s);
    }
    free(right);
}

static void against_direct(void)
{
    struct hand *h = hand_tower(400, 30);
    check_direct("a free tower", h, 1e-11, 1e-9);
    for (int i = 0; i < 100; i++) {
        h->fixed[i] = 1;
        for (int c = 0; c < 3; c++)
            h->side[i][c] = 0;
    }
    check_direct("a tower that stands", h, 1e-11, 1e-9);
    for (int i = 0; i < 100; i++) /* turned: the whole moves */
        h->side[i][0] = -.01 * h->x[i][1], h->side[i][1] = .01 * h->x[i][0], h->side[i][2] = .003;
    for (int i = 350; i < 400; i++)
        h->fixed[i] = i % 3 == 0;
    check_direct("a tower with prescribed nodes here and there", h, 1e-11, 1e-9);
    for (int i = 0; i < 350; i += 7) { /* stiff contacts across it */
        const double n[3] = {.6, 0, .8};
        hand_spring(h, i, 399 - i, 1e8, n);
    }
    check_direct("a tower with contacts", h, 1e-11, 1e-6);
    free(h);
}

/* The solver's own vectors for some numbers that follow from ids. */
static void fill(const struct tac_invariant *s, uint64_t seed, double *v)
{
    for (tac_lid i = 0; i < s->local.owned; i++)
        for (int c = 0; c < 4; c++)
            v[4 * (size_t)i + (size_t)c] = c < 3 ? tac_random(seed, (uint64_t)(3 * s->local.id[i] + c)) - .5 : 0;
}

static double dot(const struct tac_invariant *s, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < 4 * (size_t)s->local.owned; i++)
        sum += a[i] * b[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, ctx.comm);
    return sum;
}

static void make_vectors(const struct tac_invariant *s, double *v[4])
{
    for (int k = 0; k < 4; k++)
        v[k] = calloc(4 * (size_t)s->local.count + 1, sizeof(double));
}

static void free_vectors(double *v[4])
{
    for (int k = 0; k < 4; k++)
        free(v[k]);
}

/* v[2] and v[3] are an operator's products with v[0] and v[1]. */
static void check_symmetric(const struct tac_invariant *s, double *v[4], char name, double tolerance)
{
    const double ab = dot(s, v[0], v[3]), ba = dot(s, v[1], v[2]), aa = dot(s, v[0], v[2]);
    CHECK(fabs(ab - ba) <= tolerance * aa, "%c is not symmetric: %.17g and %.17g", name, ab, ba);
    CHECK(aa > 0, "%c is not positive: %g", name, aa);
}

/* A, B and Q are symmetric, B is positive, and Q A leaves rigid motions of subdomains as they are. */
static void products(void)
{
    struct hand *h = hand_tower(800, 20);
    struct hand_system sys;
    void *self = NULL;
    struct tac_solver_stats stats = {0};
    CHECK(distribute_by_hand(&ctx, h, 3, &sys) == TAC_OK, "%s", ctx.error);
    CHECK(tac_solver_invariant.create(&ctx, "", &self) == TAC_OK, "%s", ctx.error);
    CHECK(tac_solver_invariant.factor(self, &sys.system, &stats) == TAC_OK, "%s", ctx.error);
    struct tac_invariant *s = self;
    CHECK(stats.subdomains > 3 && stats.coarse == 6 * stats.subdomains && stats.unknowns == 2400, "%d subdomains",
          stats.subdomains);
    double *v[4];
    make_vectors(s, v);
    for (uint64_t seed = 1; seed < 6; seed++) {
        fill(s, seed, v[0]);
        fill(s, seed + 100, v[1]);
        for (int what = 0; what < 3; what++) { /* A, B, Q */
            for (int k = 0; k < 2; k++)
                if (what == 0)
                    tac_local_multiply(&s->local, v[k], v[k + 2]);
                else if (what == 1)
                    tac_incomplete_apply(&s->factor, &s->local, v[k], v[k + 2]);
                else
                    tac_coarse_add(&s->coarse, &s->local, v[k], NULL, v[k + 2]);
            check_symmetric(s, v, "ABQ"[what], 1e-12);
        }
        tac_coarse_add(&s->coarse, &s->local, v[0], NULL, v[1]); /* some rigid motions */
        tac_local_multiply(&s->local, v[1], v[2]);
        tac_coarse_add(&s->coarse, &s->local, v[2], NULL, v[3]);
        double apart = 0, size = sqrt(dot(s, v[1], v[1]));
        for (size_t i = 0; i < 4 * (size_t)s->local.owned; i++)
            v[3][i] -= v[1][i];
        apart = sqrt(dot(s, v[3], v[3]));
        CHECK(apart <= 1e-5 * size, "Q A changes rigid motions by %g of them", apart / size);
        /* z = y + Q (r - A y) by its definition; rows of A Z are in single precision. */
        fill(s, seed, v[0]);
        fill(s, seed + 7, v[1]);
        tac_local_multiply(&s->local, v[1], v[2]);
        for (size_t i = 0; i < 4 * (size_t)s->local.owned; i++)
            v[2][i] = v[0][i] - v[2][i];
        tac_coarse_add(&s->coarse, &s->local, v[2], NULL, v[3]);
        size = sqrt(dot(s, v[3], v[3]));
        for (size_t i = 0; i < 4 * (size_t)s->local.owned; i++)
            v[3][i] += v[1][i];
        tac_coarse_add(&s->coarse, &s->local, v[0], v[1], v[1]);
        for (size_t i = 0; i < 4 * (size_t)s->local.owned; i++)
            v[3][i] -= v[1][i];
        CHECK(sqrt(dot(s, v[3], v[3])) <= 1e-5 * size, "(A Z)^T y is wrong by %g", sqrt(dot(s, v[3], v[3])) / size);
    }
    free_vectors(v);
    tac_solver_invariant.destroy(self);
    hand_free(&sys);
    free(h);
}

/* Where there are levels the preconditioner is a cycle, which is symmetric and positive, and so is what stands for
 * E^-1.
 */
static void cycles(void)
{
    struct hand *h = hand_tower(800, 20);
    struct hand_system sys;
    struct tac_solver *solver = NULL;
    CHECK(distribute_by_hand(&ctx, h, 3, &sys) == TAC_OK, "%s", ctx.error);
    hand_levels = 1;
    CHECK(hand_create(&ctx, &solver) == TAC_OK && tac_solver_factor(solver, &sys.system) == TAC_OK, "%s", ctx.error);
    hand_levels = 0;
    struct tac_invariant *s = tac_solver_self(solver);
    CHECK(s->levels && s->coarse.next && s->coarse.next->coarse.next, "there are no levels");
    double *v[4];
    make_vectors(s, v);
    for (uint64_t seed = 1; seed < 6; seed++) {
        fill(s, seed, v[0]);
        fill(s, seed + 100, v[1]);
        for (int what = 0; what < 2; what++) {
            for (int k = 0; k < 2; k++)
                if (what == 0)
                    tac_cycle(&s->local, &s->factor, &s->coarse, v[k], v[k + 2], s->t, s->u);
                else
                    tac_coarse_add(&s->coarse, &s->local, v[k], NULL, v[k + 2]);
            check_symmetric(s, v, "MQ"[what], 1e-11);
        }
        /* Q A leaves rigid motions nearly as they are: the next level solves well, though not exactly. */
        tac_local_multiply(&s->local, v[2], v[1]);
        tac_coarse_add(&s->coarse, &s->local, v[1], NULL, v[3]);
        const double size = sqrt(dot(s, v[2], v[2]));
        for (size_t i = 0; i < 4 * (size_t)s->local.owned; i++)
            v[3][i] -= v[2][i];
        CHECK(sqrt(dot(s, v[3], v[3])) <= .3 * size, "Q A changes rigid motions by %g of them",
              sqrt(dot(s, v[3], v[3])) / size);
    }
    free_vectors(v);
    /* A smoother that goes too far, as it may where power steps find too little, is softened. */
    struct tac_solve_result result;
    for (size_t k = 0; k < 9 * (size_t)s->local.owned; k++)
        s->factor.inverse[k] *= 5;
    CHECK(tac_solver_solve(solver, sys.side, sys.x, 1e-8, 500, &result) == TAC_OK, "%s", ctx.error);
    CHECK(result.iterations < 100, "%d iterations", result.iterations);
    tac_solver_destroy(&solver);
    hand_free(&sys);
    free(h);
}

/* Sums by the limbs in use are those by all limbs, also where a sum has others in use than the one before it. */
static void sums(void)
{
    static const double size[] = {1, 3e-9, 1e-13, 7e120, -7e120, 0, 1e-300, 1e30, 1e29, 1.5e-20, INFINITY, 2};
    struct tac_sum_window window[2] = {{0, 0}, {0, 0}};
    struct tac_local_system local = {.owned = 3};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        double a[12], b[12], value[2][2];
        for (int i = 0; i < 12; i++) {
            a[i] = i % 4 == 3 ? 0 : tac_random(9, (uint64_t)(12 * ctx.rank + i)) - .5;
            b[i] = i % 4 == 3 ? 0 : size[k] * (tac_random(10, (uint64_t)(12 * ctx.rank + i)) - .3);
            if (ctx.rank == 1) /* one rank has smaller numbers, which are of no account in the other's limbs */
                b[i] *= 1e-40;
        }
        for (int all = 0; all < 2; all++) {
            struct tac_accum sum[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
            tac_dot_add(&local, a, b, &sum[0]);
            tac_dot_add(&local, a, a, &sum[1]);
            tac_dot_reduce(&ctx, 2, sum, all ? NULL : window, value[all]);
        }
        for (int c = 0; c < 2; c++)
            CHECK(value[0][c] == value[1][c] || (isnan(value[0][c]) && isnan(value[1][c])), "sum %d, %g: %g and %g", c,
                  size[k], value[0][c], value[1][c]);
        CHECK(isnan(value[0][0]) == isinf(size[k]) && value[0][1] > 0, "%g and %g", value[0][0], value[0][1]);
        for (int c = 0; c < 2 && ctx.size > 1 && size[k] != 0; c++)
            CHECK(window[c].end - window[c].begin < 12, "%d limbs are sent", window[c].end - window[c].begin);
    }
}

/* Nodes in a row: a Cholesky factor has no fill, so the incomplete one is a whole one, and B A v = v. */
static void chain(void)
{
    struct hand *h = hand_make(200);
    struct hand_system sys;
    void *self = NULL;
    struct tac_solver_stats stats = {0};
    for (int i = 0; i < 200; i++) {
        const double n[3] = {tac_random(3, (uint64_t)i), tac_random(4, (uint64_t)i), 1};
        hand_mass(h, i, 1 + i % 5);
        if (i > 0)
            hand_spring(h, i - 1, i, 7 * i, n);
    }
    CHECK(distribute_by_hand(&ctx, h, 1, &sys) == TAC_OK, "%s", ctx.error);
    CHECK(tac_solver_invariant.create(&ctx, "", &self) == TAC_OK, "%s", ctx.error);
    CHECK(tac_solver_invariant.factor(self, &sys.system, &stats) == TAC_OK, "%s", ctx.error);
    struct tac_invariant *s = self;
    CHECK(stats.subdomains == 1 && stats.shifted == 0, "%d subdomains, %d shifted", stats.subdomains, stats.shifted);
    fill(s, 1, s->p);
    tac_local_multiply(&s->local, s->p, s->q);
    tac_incomplete_apply(&s->factor, &s->local, s->q, s->z);
    for (size_t i = 0; i < 4 * (size_t)s->local.owned; i++)
        CHECK(fabs(s->z[i] - s->p[i]) <= 1e-3, "%g, not %g", s->z[i], s->p[i]);
    tac_solver_invariant.destroy(self);
    hand_free(&sys);
    free(h);
}

/* The dense factor alone, with unknowns that have to be left out. */
static void dense(void)
{
    enum { N = 150 };
    struct tac_dense d = {0};
    double a[N][N], b[N] = {0}, x[N];
    CHECK(tac_dense_make(&ctx, N, &d) == TAC_OK, "%s", ctx.error);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            a[i][j] = a[j][i] = tac_random(5, (uint64_t)(i * N + j)) - .5 + (i == j ? N / 4. : 0);
    for (int j = 0; j < N; j++) /* 40 is 39's copy, 77 is nothing */
        a[40][j] = a[j][40] = a[39][j];
    a[40][40] = a[39][39];
    for (int j = 0; j < N; j++)
        a[77][j] = a[j][77] = 0;
    for (int i = 0; i < N; i++)
        x[i] = i == 40 || i == 77 ? 0 : i % 5 - 2;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            b[i] += a[i][j] * x[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            tac_dense_row(&d, i)[j] = a[i][j];
    CHECK(tac_dense_factor(&ctx, &d) == TAC_OK, "%s", ctx.error);
    CHECK(d.left_out == 2, "%d left out", d.left_out);
    tac_dense_solve(&d, b);
    for (int i = 0; i < N; i++)
        CHECK(fabs(b[i] - x[i]) <= 1e-5, "unknown %d: %g, not %g", i, b[i], x[i]);
    tac_dense_free(&d);
}

/* Kershaw's matrix (1978), positive, with the values of its incomplete factor negative: a larger diagonal helps. */
static void shifts(void)
{
    struct hand *h = hand_make(4);
    struct hand_system s;
    struct tac_solve_result result;
    struct tac_solver_stats stats = {0};
    static const double with[3] = {-2, -2, -2};
    for (int i = 0; i < 4; i++)
        hand_mass(h, i, 3);
    for (int i = 0; i < 3; i++)
        hand_block(h, i, i + 1, (double[9]){with[i], 0, 0, 0, with[i], 0, 0, 0, with[i]});
    hand_block(h, 0, 3, (double[9]){2, 0, 0, 0, 2, 0, 0, 0, 2});
    CHECK(distribute_by_hand(&ctx, h, 1, &s) == TAC_OK, "%s", ctx.error);
    CHECK(hand_solve(&ctx, &s, 1e-12, 200, &result, &stats) == TAC_OK, "%s", ctx.error);
    CHECK(stats.shifted == 1, "%d shifted", stats.shifted);
    double *x = hand_gather(&ctx, h, &s), *right = hand_direct(h);
    CHECK(hand_apart(h, x, right) < 1e-10, "%g apart", hand_apart(h, x, right));
    free(x);
    free(right);
    hand_free(&s);
    free(h);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    for (int levels = 0; levels < 3; levels++) {
        hand_levels = levels;
        against_direct();
    }
    hand_levels = 0;
    products();
    cycles();
    sums();
    chain();
    dense();
    shifts();
    int failed = check_result();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
