/* along.c: decides when a list of pairs along straight paths must be made again, and with which skin
 * (docs/reference/implicit.md, Candidates). */
#include "broadphase/along.h"
#include <stdlib.h>

static const double SKIN = .1;   /* times the mean edge: with a larger skin neighbours in a mesh are pairs */
static const double START = .5;  /* of the largest skin */
static const double LEAST = .03; /* of the largest skin */
static const double STEP = 1.6;  /* of skins */
static const double FIRST = 64;  /* skins: of a longer path this much is searched first */

/* Durations of work, ns (docs/results/performance.md says how such numbers are measured). */
static const double TEST_NS = 6;   /* two boxes */
static const double USE_NS = 80;   /* of a pair, in one use of a list */
static const double ENTER_NS = 60; /* of a pair, into a list */

enum {
    DIRECTIONS = 6, /* until another skin is tried */
    FEW = 16        /* a list is repaired if less than this part of the vertices have left their paths */
};
static const double FAST = 2; /* a vertex may go along its new path so many times as fast as along that of the others */

enum tac_err tac_along_create(struct tac_view *view, double times, struct tac_along **out)
{
    enum tac_err err;
    struct tac_along *a = NULL;
    TAC_TRY(tac_agree(view->ctx, tac_alloc(view->ctx, 1, sizeof *a, &a)));
    a->view = view;
    TAC_TRY(tac_candidates_create(view, &a->candidates));
    if (view->halo == NULL)
        TAC_TRY(tac_alloc(view->ctx, (size_t)view->state->owned, 1, &a->left));
    const double edge = a->candidates->edge, thickness = view->scene->settings->contact.thickness;
    a->skin_most = edge > 0 ? fmin(thickness, SKIN * edge) : thickness;
    a->fixed = times > 0;
    a->candidates->skin = a->skin_most * (a->fixed ? times : START);
    a->descent.shorter = true;
done:
    if (err)
        tac_along_destroy(&a);
    *out = a;
    return err;
}

void tac_along_destroy(struct tac_along **along)
{
    if (*along == NULL)
        return;
    tac_candidates_destroy(&(*along)->candidates);
    free((*along)->left);
    free(*along);
    *along = NULL;
}

static void spend(struct tac_along *along, double ns)
{
    along->cost += ns;
    along->spent += ns;
}

/* ---- validity of the list ---- */

static enum tac_err over_ranks(const struct tac_along *along, void *value, int count, MPI_Datatype type, MPI_Op op)
{
    struct tac_ctx *ctx = along->view->ctx;
    if (along->view->halo != NULL && MPI_Allreduce(MPI_IN_PLACE, value, count, type, op, ctx->comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed in the search for pairs");
    return TAC_OK;
}

/* Adds this rank's sums. From the sums follows the share of the list's path at which the path is nearest to x + part
 * p. */
static void add_to_share(const struct tac_along *along, const double *x, const double *p, double part, double *sum,
                         double *square)
{
    const struct tac_candidates *c = along->candidates;
    *sum = *square = 0;
    for (size_t v = 0; v < (size_t)along->view->state->owned; v++)
        for (size_t k = 0; k < 3; k++) {
            const double u = c->move[v].u[k];
            *sum += (x[3 * v + k] + part * p[3 * v + k] - c->x[3 * v + k]) * u;
            *square += u * u;
        }
}

/* Is the vertex at x + part p as near to its path at this share as the list allows? */
static inline bool is_near(const struct tac_candidates *c, const double *x, const double *p, double part, double share,
                           size_t v)
{
    const double radius = fmax(c->skin, c->path_bound[v].radius); /* immovable vertices have 0 */
    double off[3];
    for (size_t k = 0; k < 3; k++)
        off[k] = x[3 * v + k] + part * p[3 * v + k] - c->x[3 * v + k] - share * c->move[v].u[k];
    return tac_dot(off, off) <= radius * radius * (1 - 0x1p-20);
}

static bool is_within_skin(const struct tac_along *along, const double *x, const double *p, double part, double share)
{
    for (size_t v = 0; v < (size_t)along->view->state->owned; v++)
        if (!is_near(along->candidates, x, p, part, share, v))
            return false;
    return true;
}

/* Different rounding of a sum on two ranks would do no harm, because is_within_skin() has a much larger margin. */
enum tac_err tac_along_holds(struct tac_along *along, const double *x, const double *p, double part, bool *holds)
{
    enum tac_err err = TAC_OK;
    double sum[4];
    int within = 0;
    *holds = false;
    if (!along->made)
        return TAC_OK;
    add_to_share(along, x, p, 0, &sum[0], &sum[1]);
    add_to_share(along, x, p, part, &sum[2], &sum[3]);
    TAC_TRY(over_ranks(along, sum, 4, MPI_DOUBLE, MPI_SUM));
    for (int end = 0; end < 2; end++)
        along->share[end] = sum[2 * end + 1] > 0 ? tac_clamp01(sum[2 * end] / sum[2 * end + 1]) : 0;
    within = is_within_skin(along, x, p, 0, along->share[0]) && is_within_skin(along, x, p, part, along->share[1]);
    TAC_TRY(over_ranks(along, &within, 1, MPI_INT, MPI_MIN));
    *holds = within;
done:
    return err;
}

enum tac_err tac_along_begin(struct tac_along *along, const double *x, const double *p, double *part)
{
    enum tac_err err;
    bool holds = false;
    double longest = 0;
    along->directions++;
    for (size_t v = 0; v < (size_t)along->view->state->owned; v++)
        longest = fmax(longest, tac_dot(&p[3 * v], &p[3 * v]));
    TAC_TRY(over_ranks(along, &longest, 1, MPI_DOUBLE, MPI_MAX));
    *part = FIRST * along->candidates->skin / sqrt(longest);
    if (*part < 1)
        TAC_TRY(tac_along_holds(along, x, p, 1, &holds));
    *part = *part < 1 && !holds ? *part : 1;
done:
    return err;
}

/* ---- repairs ---- */

/* Gives a vertex a path that is at x at along->share[0] and at x + part p at along->share[1]. Where it would have to go
 * much faster than the others, as for equal shares, it gets a place with a larger radius. */
static void lay_path(struct tac_along *along, const double *x, const double *p, double part, size_t v)
{
    struct tac_candidates *c = along->candidates;
    struct tac_move *move = &c->move[v];
    const double begin = along->share[0], span = along->share[1] - begin;
    const bool goes = FAST * span >= 1;
    double length2 = 0;
    for (size_t k = 0; k < 3; k++) {
        const double way = part * p[3 * v + k];
        length2 += way * way;
        move->u[k] = goes ? way / span : 0;
        c->x[3 * v + k] = x[3 * v + k] + (goes ? -begin * move->u[k] : .5 * way);
    }
    move->deviation = goes ? 0 : .5 * (.5 * sqrt(length2) + c->skin); /* a bound's radius is twice that */
}

enum tac_err tac_along_repair(struct tac_along *along, const double *x, const double *p, double part,
                              tac_take_pair *take, void *context, bool *done)
{
    enum tac_err err = TAC_OK;
    struct tac_candidates *c = along->candidates;
    const size_t owned = (size_t)along->view->state->owned;
    size_t count = 0;
    *done = false;
    if (!along->made || along->left == NULL)
        return TAC_OK;
    for (size_t v = 0; v < owned; v++) {
        along->left[v] = !is_near(c, x, p, 0, along->share[0], v) || !is_near(c, x, p, part, along->share[1], v);
        count += along->left[v];
    }
    if (FEW * count > owned)
        return TAC_OK;
    along->made = false;
    for (size_t v = 0; v < owned; v++)
        if (along->left[v])
            lay_path(along, x, p, part, v);
    TAC_TRY(tac_candidates_show_changed(along->view, c, along->left, take, context, done));
    along->made = *done;
    spend(along, TEST_NS * (double)c->cost.build);
done:
    return err;
}

/* ---- a new list ---- */

/* Chooses the skin of the next list, by the cost of the lists since the last choice, on all ranks and for each
 * direction.
 */
static enum tac_err choose_skin(struct tac_along *along)
{
    enum tac_err err = TAC_OK;
    int64_t cost = (int64_t)along->cost; /* a whole number, so that all ranks get the same sum */
    if (along->fixed || along->directions < DIRECTIONS)
        return TAC_OK;
    TAC_TRY(over_ranks(along, &cost, 1, MPI_INT64_T, MPI_SUM));
    along->candidates->skin = tac_descent_next(&along->descent, (double)cost / along->directions, STEP,
                                               along->candidates->skin, LEAST * along->skin_most, along->skin_most);
    along->cost = 0;
    along->directions = 0;
done:
    return err;
}

enum tac_err tac_along_find(struct tac_along *along, const double *x, const double *p, double part, tac_take_pair *take,
                            void *context)
{
    enum tac_err err;
    struct tac_candidates *c = along->candidates;
    along->made = false;
    TAC_TRY(choose_skin(along));
    for (size_t v = 0; v < (size_t)along->view->state->count; v++)
        for (size_t k = 0; k < 3; k++) {
            c->x[3 * v + k] = x[3 * v + k];
            c->move[v].u[k] = part * p[3 * v + k];
            c->move[v].deviation = 0;
        }
    TAC_TRY(tac_candidates_show(along->view, c, take, context));
    along->made = true;
    spend(along, TEST_NS * (double)c->cost.build);
done:
    return err;
}

enum tac_err tac_along_find_changed(struct tac_along *along, const double *p, const uint8_t *changed,
                                    tac_take_pair *take, void *context, bool *done)
{
    enum tac_err err;
    struct tac_candidates *c = along->candidates;
    along->made = false;
    for (size_t v = 0; v < (size_t)along->view->state->owned; v++)
        for (size_t k = 0; k < 3 && changed[v]; k++)
            c->move[v].u[k] = p[3 * v + k];
    /* The last list may have held at another share of its paths. Then those of the others are not where they go. */
    *done = is_within_skin(along, c->x, p, 1, 1);
    if (!*done)
        return TAC_OK;
    TAC_TRY(tac_candidates_show_changed(along->view, c, changed, take, context, done));
    along->made = *done;
    spend(along, TEST_NS * (double)c->cost.build);
done:
    return err;
}

void tac_along_use(struct tac_along *along, size_t count)
{
    spend(along, USE_NS * (double)count);
}

void tac_along_enter(struct tac_along *along, size_t count)
{
    spend(along, ENTER_NS * (double)count);
}
