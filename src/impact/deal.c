/* deal.c: deals the islands of an instant to the ranks (docs/reference/impact.md, Ranks).
 *
 * All ranks have all rows, and make the same islands. Each island is solved on one rank, and all get the results. An
 * island of very many rows is solved by all ranks: they do the same, but for large problems, of which each rank solves
 * a part (together.c). Both ways give the same bits, because the results on one rank and on all are the same.
 */
#include "base/exchange.h"
#include "impact/operator.h"
#include <stdlib.h>
#include <string.h>

enum {
    GIANT = 4096,   /* rows: smaller islands are never solved by all ranks */
    OF_ROW = 12,    /* numbers of a row's result: impulses, directions, what is known of friction */
    OF_BODY = 3,    /* its velocity, or its turn */
    EVERY_RANK = -1 /* the owner of a giant island */
};

struct by_rows {
    size_t rows;
    uint32_t island;
};

/* The largest first; the islands are numbered by their lowest keys. */
static int compare(const void *a, const void *b)
{
    const struct by_rows *x = a, *y = b;
    if (x->rows != y->rows)
        return x->rows < y->rows ? 1 : -1;
    return (x->island > y->island) - (x->island < y->island);
}

static size_t rows_of(const struct tac_instant *in, size_t island)
{
    return in->all.begin[island + 1] - in->all.begin[island];
}

static size_t limit_of(const struct tac_instant *in)
{
    const int64_t hook = in->ctx->hooks.giant; /* a problem in parts has more than two columns */
    const size_t part = in->rows / (size_t)in->ctx->size;
    if (hook > 0)
        return hook > 2 ? (size_t)hook : 2;
    return part > GIANT ? part : GIANT;
}

enum tac_err tac_instant_deal(struct tac_instant *in)
{
    enum tac_err err = TAC_OK;
    struct tac_deal *d = &in->deal;
    struct by_rows *order = NULL;
    int64_t *load = NULL;
    d->giants = 0;
    if (!in->dealt || in->ctx->size == 1)
        return TAC_OK;
    d->limit = limit_of(in);
    TAC_TRY(tac_grow(in->ctx, &d->owner, &d->capacity, in->all.count, sizeof *d->owner));
    TAC_TRY(tac_alloc_brief(in->ctx, in->all.count, sizeof *order, &order));
    TAC_TRY(tac_alloc_brief(in->ctx, (size_t)in->ctx->size, sizeof *load, &load));
    for (uint32_t i = 0; i < in->all.count; i++)
        order[i] = (struct by_rows){rows_of(in, i), i};
    if (in->all.count > 1)
        qsort(order, in->all.count, sizeof *order, compare);
    for (size_t i = 0; i < in->all.count; i++) {
        int least = 0;
        if (order[i].rows > d->limit) {
            d->owner[order[i].island] = EVERY_RANK;
            d->giants++;
            continue;
        }
        for (int r = 1; r < in->ctx->size; r++)
            least = load[r] < load[least] ? r : least;
        load[least] += (int64_t)order[i].rows;
        d->owner[order[i].island] = least;
    }
done:
    free(order);
    free(load);
    return err;
}

void tac_deal_free(struct tac_deal *deal)
{
    free(deal->owner);
    tac_bounded_free(&deal->share);
}

/* ---- results ---- */

static void write_row(const struct tac_impact_row *row, double *out)
{
    out[0] = row->lambda;
    memcpy(out + 1, row->slide, 2 * sizeof *out);
    memcpy(out + 3, row->tangent, 6 * sizeof *out);
    out[9] = row->rubs;
    out[10] = row->rubbed;
    out[11] = row->struck;
}

static void read_row(struct tac_impact_row *row, const double *in)
{
    row->lambda = in[0];
    memcpy(row->slide, in + 1, 2 * sizeof *in);
    memcpy(row->tangent, in + 3, 6 * sizeof *in);
    row->rubs = in[9] != 0;
    row->rubbed = in[10];
    row->struck = in[11];
}

/* Copies the results of an island to a message, or from it; returns how long they are. at NULL: copies nothing. */
static size_t copy(struct tac_instant *in, size_t island, double *at, bool out)
{
    const uint32_t *list = in->all.order + in->all.begin[island];
    const size_t n = rows_of(in, island), bodies = tac_instant_number(in, list, n);
    for (size_t k = 0; k < n && at != NULL; k++)
        if (out)
            write_row(&in->row[list[k]], at + OF_ROW * k);
        else
            read_row(&in->row[list[k]], at + OF_ROW * k);
    for (size_t b = 0; b < bodies && at != NULL; b++) {
        double *v = &in->v[3 * (size_t)in->global[b]], *place = at + OF_ROW * n + OF_BODY * b;
        memcpy(out ? place : v, out ? v : place, OF_BODY * sizeof *v);
    }
    tac_instant_forget(in, bodies);
    return OF_ROW * n + OF_BODY * bodies;
}

struct message {
    int *count, *begin; /* owned, (ranks): numbers of each */
    double *mine, *all; /* owned */
};

static enum tac_err make_message(struct tac_instant *in, struct message *m)
{
    enum tac_err err;
    const int ranks = in->ctx->size;
    size_t total = 0;
    TAC_TRY(tac_alloc(in->ctx, (size_t)ranks, sizeof *m->count, &m->count));
    TAC_TRY(tac_alloc(in->ctx, (size_t)ranks, sizeof *m->begin, &m->begin));
    for (size_t i = 0; i < in->all.count; i++)
        if (in->deal.owner[i] != EVERY_RANK)
            m->count[in->deal.owner[i]] += (int)copy(in, i, NULL, true);
    for (int r = 0; r < ranks; r++) {
        m->begin[r] = (int)total;
        total += (size_t)m->count[r];
    }
    TAC_TRY(tac_alloc_brief(in->ctx, (size_t)m->count[in->ctx->rank], sizeof *m->mine, &m->mine));
    TAC_TRY(tac_alloc_brief(in->ctx, total, sizeof *m->all, &m->all));
done:
    return err;
}

/* Collective. Gives the results of all islands that one rank has solved to all. */
static enum tac_err gather(struct tac_instant *in)
{
    enum tac_err err;
    struct message m = {NULL, NULL, NULL, NULL};
    double *at;
    TAC_TRY(tac_agree(in->ctx, make_message(in, &m)));
    at = m.mine;
    for (size_t i = 0; i < in->all.count; i++)
        if (in->deal.owner[i] == in->ctx->rank)
            at += copy(in, i, at, true);
    if (MPI_Allgatherv(m.mine, m.count[in->ctx->rank], MPI_DOUBLE, m.all, m.count, m.begin, MPI_DOUBLE,
                       in->ctx->comm) != MPI_SUCCESS)
        TAC_TRY(tac_fail(in->ctx, TAC_ERR_RUN, "MPI failed while gathering impacts"));
    for (size_t i = 0; i < in->all.count; i++)
        if (in->deal.owner[i] != EVERY_RANK)
            m.begin[in->deal.owner[i]] += (int)copy(in, i, m.all + m.begin[in->deal.owner[i]], false);
done:
    free(m.count);
    free(m.begin);
    free(m.mine);
    free(m.all);
    return err;
}

/* ---- work ---- */

/* Collective. Makes all the room that the problems of giant islands may need: a rank that failed alone between the
 * messages of such a problem would leave the others waiting. */
static enum tac_err make_room(struct tac_instant *in)
{
    enum tac_err err;
    size_t most = 0;
    for (size_t i = 0; i < in->all.count; i++)
        if (in->deal.owner[i] == EVERY_RANK && rows_of(in, i) > most)
            most = rows_of(in, i);
    TAC_TRY(tac_bounded_begin(in->ctx, &in->problem, 3 * most, in->bodies));
    TAC_TRY(tac_islands_make(in->ctx, &in->part, in->bodies, in->row, in->all.order, in->rows));
done:
    return tac_agree(in->ctx, err);
}

static enum tac_err work_on_giants(struct tac_instant *in, tac_island_work *work)
{
    enum tac_err err;
    TAC_TRY(make_room(in));
    in->deal.together = true;
    for (size_t i = 0; i < in->all.count; i++)
        if (in->deal.owner[i] == EVERY_RANK)
            TAC_TRY(work(in, i));
done:
    in->deal.together = false;
    return err;
}

enum tac_err tac_instant_each(struct tac_instant *in, tac_island_work *work)
{
    enum tac_err err = TAC_OK;
    const int64_t before[3] = {in->reflections, in->jammed, in->iterations};
    int64_t sum[3];
    if (!in->dealt || in->ctx->size == 1) {
        for (size_t i = 0; i < in->all.count; i++)
            TAC_TRY(work(in, i));
        return TAC_OK;
    }
    for (size_t i = 0; i < in->all.count && !err; i++)
        if (in->deal.owner[i] == in->ctx->rank)
            err = work(in, i);
    TAC_TRY(tac_agree(in->ctx, err));
    memcpy(sum, (int64_t[3]){in->reflections - before[0], in->jammed - before[1], in->iterations - before[2]},
           sizeof sum);
    TAC_TRY(tac_over_ranks(in->ctx, sum, 3, MPI_INT64_T, MPI_SUM));
    TAC_TRY(tac_over_ranks(in->ctx, &in->unsolved, 1, MPI_INT64_T, MPI_MAX));
    in->reflections = before[0] + sum[0];
    in->jammed = before[1] + sum[1];
    in->iterations = before[2] + sum[2];
    if (in->deal.giants > 0)
        TAC_TRY(work_on_giants(in, work));
    TAC_TRY(gather(in));
done:
    return err;
}
