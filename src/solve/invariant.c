/* invariant.c: enters the solver whose bits do not depend on the ranks into the table of solvers. */
#include "solve/invariant.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With more than 128 subdomains of 1024 nodes E would take more time than it saves. */
static const struct tac_level_rule usual_rule = {
    .flat = 131072, .most = 512, .pairs = 32, .dense = 600, .alone = 131072};
enum { SHARE = 128, LEAST_MOST = 256, MOST_SUBDOMAINS = 256 };
/* The time that a block of the matrix takes in making the rows of subdomains, in products of a block and a vector. */
enum { ROW_PRODUCTS = 15 };

static void count_blocks(const struct tac_system *system, int64_t products)
{
    if (system->products)
        *system->products += products * (int64_t)system->matrix->row[system->nodes.owned];
}

static enum tac_err create_invariant(struct tac_ctx *ctx, const char *options, void **self)
{
    struct tac_invariant *s = NULL;
    enum tac_err err;
    if (options[0] != '\0')
        return tac_fail(ctx, TAC_ERR_INPUT, "the invariant solver has no options, and \"%s\" was given; leave it empty",
                        options);
    err = tac_agree(ctx, tac_alloc_brief(ctx, 1, sizeof *s, &s));
    if (err) {
        free(s);
        return err;
    }
    s->ctx = ctx;
    s->rule = usual_rule;
    *self = s;
    return TAC_OK;
}

static void free_factor(struct tac_invariant *s)
{
    tac_local_system_free(&s->local);
    tac_incomplete_free(&s->factor);
    tac_coarse_free(&s->coarse);
    double **const vector[] = {&s->x, &s->r, &s->b, &s->q, &s->w, &s->p, &s->z, &s->t, &s->u, &s->home, &s->side};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++) {
        free(*vector[k]);
        *vector[k] = NULL;
    }
    s->ready = false;
}

static void destroy_invariant(void *self)
{
    struct tac_invariant *s = self;
    free_factor(s);
    tac_cut_free(&s->cut);
    tac_nodes_halo_destroy(&s->halo);
    free(s->fixed);
    free(s->ghost);
    free(s);
}

/* Sets which nodes are fixed, also ghosts. */
static void find_fixed(struct tac_invariant *s, const struct tac_system *system)
{
    memset(s->fixed, 0, (size_t)system->nodes.count);
    if (system->fixed)
        memcpy(s->fixed, system->fixed, (size_t)system->nodes.owned);
    tac_nodes_halo_refresh(s->halo, s->fixed, 1);
}

/* Chooses the rule of the cut by the number of nodes that move, so by the scene alone. */
static struct tac_cut_rule choose_rule(struct tac_invariant *s, const struct tac_system *system)
{
    int64_t total = 0;
    for (tac_lid i = 0; i < system->nodes.owned; i++)
        total += !s->fixed[i];
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, s->ctx->comm);
    s->levels = total > s->rule.flat;
    if (s->levels)
        return (struct tac_cut_rule){.most = s->rule.most, .few = -1};
    return (struct tac_cut_rule){.most = total / SHARE > LEAST_MOST ? total / SHARE : LEAST_MOST,
                                 .few = MOST_SUBDOMAINS};
}

/* Collective. Makes the halo of the system's nodes and the arrays of their data, and remembers which ghosts there
 * are. */
static enum tac_err meet_nodes(struct tac_invariant *s, const struct tac_nodes *nodes)
{
    enum tac_err err;
    const size_t ghosts = (size_t)(nodes->count - nodes->owned);
    tac_nodes_halo_destroy(&s->halo);
    free(s->fixed);
    free(s->ghost);
    s->fixed = NULL;
    s->ghost = NULL;
    err = tac_alloc_brief(s->ctx, (size_t)nodes->count, 1, &s->fixed);
    err = err ? err : tac_alloc_brief(s->ctx, ghosts, sizeof *s->ghost, &s->ghost);
    TAC_TRY(tac_agree(s->ctx, err));
    if (ghosts > 0)
        memcpy(s->ghost, nodes->id + nodes->owned, ghosts * sizeof *s->ghost);
    TAC_TRY(tac_nodes_halo_create(s->ctx, nodes, &s->halo));
done:
    return err;
}

/* Returns whether this rank has other ghosts than at the cut. */
static bool has_new_ghosts(const struct tac_invariant *s, const struct tac_nodes *nodes)
{
    const size_t ghosts = (size_t)(nodes->count - nodes->owned);
    return s->cut.count != nodes->count ||
           (ghosts > 0 && memcmp(s->ghost, nodes->id + nodes->owned, ghosts * sizeof *s->ghost) != 0);
}

/* Collective. Gets the cut's data of ghosts from their owners again. */
static enum tac_err meet_new_ghosts(struct tac_invariant *s, const struct tac_nodes *nodes)
{
    enum tac_err err;
    tac_gid *name = NULL;
    int32_t *rank = NULL;
    err = tac_alloc_brief(s->ctx, (size_t)nodes->count, sizeof *name, &name);
    err = err ? err : tac_alloc_brief(s->ctx, (size_t)nodes->count, sizeof *rank, &rank);
    TAC_TRY(tac_agree(s->ctx, err));
    TAC_TRY(meet_nodes(s, nodes));
    if (nodes->owned > 0) {
        memcpy(name, s->cut.name, (size_t)nodes->owned * sizeof *name);
        memcpy(rank, s->cut.rank, (size_t)nodes->owned * sizeof *rank);
    }
    tac_nodes_halo_refresh(s->halo, name, sizeof *name);
    tac_nodes_halo_refresh(s->halo, rank, sizeof *rank);
    free(s->cut.name);
    free(s->cut.rank);
    s->cut.name = name;
    s->cut.rank = rank;
    s->cut.count = nodes->count;
    name = NULL;
    rank = NULL;
done:
    free(name);
    free(rank);
    return err;
}

static enum tac_err cut_invariant(void *self, const struct tac_system *system, struct tac_solver_stats *stats)
{
    struct tac_invariant *s = self;
    enum tac_err err;
    const double begin_s = tac_wall_s();
    free_factor(s);
    TAC_TRY(meet_nodes(s, &system->nodes));
    find_fixed(s, system);
    const struct tac_cut_rule rule = choose_rule(s, system);
    TAC_TRY(tac_cut_make(s->ctx, system, s->fixed, s->halo, &rule, &s->cut));
    count_blocks(system, TAC_CUT_PRODUCTS);
    stats->subdomains = (int)s->cut.subdomains;
    stats->cut_s = tac_wall_s() - begin_s;
done:
    if (err)
        tac_nodes_halo_destroy(&s->halo);
    return err;
}

/* Returns the lowest id of all ranks, INT64_MAX if there is none. */
static tac_gid lowest(const struct tac_ctx *ctx, tac_gid id)
{
    MPI_Allreduce(MPI_IN_PLACE, &id, 1, MPI_INT64_T, MPI_MIN, ctx->comm);
    return id;
}

/* Returns the lowest id of an own node whose row has an entry that is not finite, INT64_MAX if there is none. */
static tac_gid find_not_finite(const struct tac_system *system)
{
    const struct tac_matrix *m = system->matrix;
    tac_gid worst = INT64_MAX;
    for (tac_lid i = 0; i < m->owned; i++) {
        bool good = true;
        if (system->fixed && system->fixed[i])
            continue;
        for (size_t k = 9 * m->row[i]; k < 9 * m->row[i + 1]; k++)
            good = good && isfinite(m->block[k]);
        for (int c = 0; c < 3; c++)
            good = good && isfinite(system->position[3 * (size_t)i + (size_t)c]);
        if (!good && system->nodes.id[i] < worst)
            worst = system->nodes.id[i];
    }
    return worst;
}

/* Returns whether there is an own node that moves now and was fixed when the cut was made. */
static bool cut_is_old(const struct tac_invariant *s, const struct tac_system *system)
{
    for (tac_lid i = 0; i < system->nodes.owned; i++)
        if (!(system->fixed && system->fixed[i]) && s->cut.name[i] < 0)
            return true;
    return false;
}

/* Collective. Brings the cut up to date; bad: the lowest id of a node whose row is not finite, or INT64_MAX. */
static enum tac_err renew_cut(struct tac_invariant *s, const struct tac_system *system, struct tac_solver_stats *stats,
                              tac_gid *bad)
{
    enum tac_err err = TAC_OK;
    enum { GHOSTS, OLD, NOT_BAD, LOOKS }; /* one call of all ranks tells all three */
    int64_t look[LOOKS] = {has_new_ghosts(s, &system->nodes), cut_is_old(s, system), -find_not_finite(system)};
    MPI_Allreduce(MPI_IN_PLACE, look, LOOKS, MPI_INT64_T, MPI_MAX, s->ctx->comm);
    *bad = -look[NOT_BAD];
    if (look[OLD]) /* with the halo of the present ghosts */
        return cut_invariant(s, system, stats);
    if (look[GHOSTS])
        TAC_TRY(meet_new_ghosts(s, &system->nodes));
    find_fixed(s, system);
done:
    return err;
}

static enum tac_err make_vectors(struct tac_invariant *s)
{
    enum tac_err err;
    const size_t owned = 4 * (size_t)s->local.owned, count = 4 * (size_t)s->local.count;
    double **const short_ones[] = {&s->x, &s->r, &s->b, &s->q, &s->w}, **const long_ones[] = {&s->p, &s->z};
    for (int k = 0; k < 5; k++)
        TAC_TRY(tac_alloc_brief(s->ctx, owned, sizeof(double), short_ones[k]));
    for (int k = 0; k < 2; k++)
        TAC_TRY(tac_alloc_brief(s->ctx, count, sizeof(double), long_ones[k]));
    if (s->levels) {
        TAC_TRY(tac_alloc_brief(s->ctx, owned, sizeof *s->t, &s->t));
        TAC_TRY(tac_alloc_brief(s->ctx, owned, sizeof *s->u, &s->u));
    }
    TAC_TRY(tac_alloc_brief(s->ctx, 3 * (size_t)s->system.nodes.count, sizeof(double), &s->home));
    TAC_TRY(tac_alloc_brief(s->ctx, 3 * (size_t)s->system.nodes.owned, sizeof(double), &s->side));
done:
    return err;
}

static void sum_stats(const struct tac_invariant *s, struct tac_solver_stats *stats)
{
    int64_t sum[5] = {s->local.owned, s->local.nonzero, s->local.came, s->factor.shifted, s->coarse.dropped};
    MPI_Allreduce(MPI_IN_PLACE, sum, 5, MPI_INT64_T, MPI_SUM, s->ctx->comm);
    stats->unknowns = 3 * sum[0];
    stats->blocks = sum[1];
    stats->moved = sum[2];
    stats->shifted = (int)sum[3];
    stats->subdomains = (int)s->cut.subdomains;
    stats->coarse = tac_coarse_size(&s->coarse);
    stats->dropped = s->levels ? (int)sum[4] : s->coarse.matrix.left_out;
}

static enum tac_err factor_invariant(void *self, const struct tac_system *system, struct tac_solver_stats *stats)
{
    struct tac_invariant *s = self;
    enum tac_err err = TAC_OK;
    const double begin_s = tac_wall_s();
    if (s->halo == NULL)
        TAC_TRY(cut_invariant(s, system, stats));
    tac_gid bad;
    TAC_TRY(renew_cut(s, system, stats, &bad));
    free_factor(s);
    s->system = *system;
    stats->bad = bad;
    if (bad != INT64_MAX) {
        err = tac_fail(s->ctx, TAC_ERR_RUN,
                       "node %" TAC_PRIGID ": its row of the linear system's matrix, or its position, is not finite",
                       bad);
        goto done;
    }
    TAC_TRY(tac_local_system_make(s->ctx, system, s->fixed, &s->cut, &s->local));
    count_blocks(system, ROW_PRODUCTS);
    err = tac_incomplete_make(s->ctx, &s->local, &s->factor);
    TAC_TRY(tac_agree(s->ctx, err ? err : make_vectors(s)));
    bad = lowest(s->ctx, s->factor.bad < 0 ? INT64_MAX : s->factor.bad);
    stats->bad = bad;
    if (bad != INT64_MAX) {
        err = tac_fail(s->ctx, TAC_ERR_RUN,
                       "node %" TAC_PRIGID
                       ": the linear system's matrix is not positive there; every node needs a mass or stiffness in "
                       "all directions",
                       bad);
        goto done;
    }
    if (s->levels)
        tac_damp(s->ctx, &s->local, &s->factor, s->z, s->t, s->u);
    const struct tac_coarse_plan plan = {.rule = &s->rule, .dense = !s->levels};
    TAC_TRY(tac_coarse_make(s->ctx, &s->local, &plan, &s->coarse));
    sum_stats(s, stats);
    s->ready = true;
    stats->factor_s = tac_wall_s() - begin_s;
done:
    if (err)
        free_factor(s);
    return err;
}

/* Properties of b that all ranks must know. */
struct look {
    double largest;         /* of nodes that are not fixed */
    double prescribed, bad; /* 1: some prescribed value is not 0; some number is not finite */
};

static struct look examine_side(const struct tac_invariant *s, const double *b)
{
    struct look l = {0, 0, 0};
    for (tac_lid i = 0; i < s->system.nodes.owned; i++)
        for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3; k++) {
            const double size = fabs(b[k]);
            if (!isfinite(size))
                l.bad = 1;
            else if (!s->fixed[i])
                l.largest = size > l.largest ? size : l.largest;
            else if (size > 0)
                l.prescribed = 1;
        }
    MPI_Allreduce(MPI_IN_PLACE, &l, 3, MPI_DOUBLE, MPI_MAX, s->ctx->comm);
    return l;
}

/* Computes the right side, s->side: b, less the contribution of prescribed values. */
static struct look make_side(struct tac_invariant *s, const double *b)
{
    struct look l = examine_side(s, b);
    const tac_lid owned = s->system.nodes.owned;
    memcpy(s->side, b, 3 * (size_t)owned * sizeof *b);
    if (l.bad > 0 || l.prescribed == 0)
        return l;
    memset(s->home, 0, 3 * (size_t)s->system.nodes.count * sizeof *s->home);
    for (tac_lid i = 0; i < owned; i++)
        if (s->fixed[i])
            memcpy(s->home + 3 * (size_t)i, b + 3 * (size_t)i, 3 * sizeof *b);
    tac_nodes_halo_refresh(s->halo, s->home, 3 * sizeof *s->home);
    tac_matrix_multiply(s->system.matrix, s->home, s->side);
    for (tac_lid i = 0; i < owned; i++)
        for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3; k++)
            s->side[k] = s->fixed[i] ? b[k] : b[k] - s->side[k];
    return examine_side(s, s->side);
}

static enum tac_err solve_invariant(void *self, const double *b, double *x, const struct tac_solve_rule *rule,
                                    struct tac_solve_result *result)
{
    struct tac_invariant *s = self;
    const double begin_s = tac_wall_s();
    const tac_lid owned = s->system.nodes.owned;
    TAC_CHECK(s->ready);
    *result = (struct tac_solve_result){.outcome = TAC_SOLVE_CONVERGED};
    memset(x, 0, 3 * (size_t)s->system.nodes.count * sizeof *x);
    const struct look l = make_side(s, b);
    if (l.bad > 0)
        result->outcome = TAC_SOLVE_NOT_FINITE;
    else if (l.largest > 0) {
        int exponent;
        frexp(l.largest, &exponent); /* so that no square overflows or underflows; powers of two change no digit */
        for (size_t k = 0; k < 3 * (size_t)owned; k++)
            s->side[k] = ldexp(s->side[k], -exponent);
        tac_local_bring(&s->local, s->side, s->b);
        tac_invariant_iterate(s, rule, result);
        if (result->outcome == TAC_SOLVE_NOT_FINITE) /* x may have values that are not finite */
            memset(s->x, 0, 4 * (size_t)s->local.owned * sizeof *s->x);
        tac_local_return(&s->local, s->x, x);
        for (size_t k = 0; k < 3 * (size_t)owned; k++)
            x[k] = ldexp(x[k], exponent);
    }
    for (tac_lid i = 0; i < owned; i++)
        if (s->fixed[i])
            memcpy(x + 3 * (size_t)i, b + 3 * (size_t)i, 3 * sizeof *x);
    tac_nodes_halo_refresh(s->halo, x, 3 * sizeof *x);
    result->wall_s = tac_wall_s() - begin_s;
    return tac_solver_tell(s->ctx, result, rule->tolerance);
}

const struct tac_solver_kind tac_solver_invariant = {
    "invariant", true, create_invariant, destroy_invariant, cut_invariant, factor_invariant, solve_invariant};
