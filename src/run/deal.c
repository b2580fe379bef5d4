#include "run/deal.h"
#include "events/ranks.h"
#include "events/state.h"
#include "kds/flights.h"
#include "partition/cut.h"
#include "run/deal_rows.h"
#include <stdlib.h>
#include <string.h>

enum tac_err tac_deal_link(struct tac_ctx *ctx, struct tac_deal_rows *rows, tac_lid row, tac_gid neighbor,
                           double weight)
{
    enum tac_err err;
    TAC_TRY(tac_grow(ctx, &rows->link, &rows->capacity, rows->count + 1, sizeof *rows->link));
    rows->link[rows->count++] = (struct tac_deal_link){row, neighbor, weight};
done:
    return err;
}

void tac_deal_rows_free(struct tac_deal_rows *rows)
{
    free(rows->link);
    free(rows->weight);
}

static int compare_links(const void *a, const void *b)
{
    const struct tac_deal_link *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->neighbor > y->neighbor) - (x->neighbor < y->neighbor);
}

enum tac_err tac_deal_cut(struct tac_ctx *ctx, tac_gid total, tac_lid n, const tac_gid *id, struct tac_deal_rows *rows,
                          const int32_t *present, int32_t *owner, double *balance)
{
    enum tac_err err;
    int64_t *row = NULL;
    tac_gid *neighbor = NULL;
    double *edge = NULL, share;
    size_t m = 0;
    TAC_TRY(tac_alloc(ctx, (size_t)n + 1, sizeof *row, &row));
    TAC_TRY(tac_alloc(ctx, rows->count, sizeof *neighbor, &neighbor));
    TAC_TRY(tac_alloc(ctx, rows->count, sizeof *edge, &edge));
    if (rows->count)
        qsort(rows->link, rows->count, sizeof *rows->link, compare_links);
    for (size_t k = 0; k < rows->count; k++) {
        const struct tac_deal_link *l = &rows->link[k];
        if (k > 0 && l[-1].row == l->row && l[-1].neighbor == l->neighbor) {
            edge[m - 1] += l->weight;
            continue;
        }
        neighbor[m] = l->neighbor;
        edge[m++] = l->weight;
        row[l->row + 1]++;
    }
    for (tac_lid i = 0; i < n; i++)
        row[i + 1] += row[i];
done:
    err = tac_agree(ctx, err);
    if (!err) {
        const struct tac_graph graph = {total, n, id, rows->weight, row, neighbor, edge};
        err = tac_cut(ctx, &graph, present, 0, owner, &share, balance);
    }
    free(row);
    free(neighbor);
    free(edge);
    return err;
}

/* ---- dealing again ---- */

/* What ticks cost that are no element's, in spring ticks (measured: tests/bench/bench_engine); a damper's, in ticks of
 * its element. */
static const double COST_PENALTY = 6, COST_DAMPER = 1.3, COST_LOAD = 1;

static double rate_of(const struct tac_sim *sim, tac_time period)
{
    return 1 / tac_seconds(sim, period);
}

/* Adds a stencil: its cost to the vertices that are ours, and edges from its lowest vertex, if that is ours. */
static enum tac_err add_stencil(struct tac_sim *sim, struct tac_deal_rows *rows, const tac_lid *v, int n, double cost)
{
    enum tac_err err = TAC_OK;
    tac_lid low = v[0];
    for (int i = 0; i < n; i++) {
        if (v[i] < sim->state.owned)
            rows->weight[v[i]] += cost / n;
        if (tac_sim_id(sim, v[i]) < tac_sim_id(sim, low))
            low = v[i];
    }
    for (int i = 0; i < n && low < sim->state.owned; i++)
        if (v[i] != low)
            TAC_TRY(tac_deal_link(sim->ctx, rows, low, tac_sim_id(sim, v[i]), cost / n));
done:
    return err;
}

/* A list of forces of one class, each of which costs so much. */
static enum tac_err add_forces(struct tac_sim *sim, struct tac_deal_rows *rows, const struct tac_forces *f, int nodes,
                               double cost)
{
    enum tac_err err = TAC_OK;
    for (size_t e = 0; e < f->count; e++)
        TAC_TRY(add_stencil(sim, rows, tac_forces_stencil(f, e), nodes, cost));
done:
    return err;
}

static enum tac_err add_class(struct tac_sim *sim, struct tac_deal_rows *rows, const struct tac_rate_class *rate)
{
    enum tac_err err = TAC_OK;
    const double often = rate_of(sim, rate->period);
    for (int k = 0; k < rate->group_count; k++) {
        const struct tac_element *e = rate->group[k].element;
        TAC_TRY(add_forces(sim, rows, &rate->group[k].elastic, e->nodes, e->cost * often));
    }
    for (int k = 0; k < rate->group_count; k++) {
        const struct tac_element *e = rate->group[k].element;
        TAC_TRY(add_forces(sim, rows, &rate->group[k].damper, e->nodes, COST_DAMPER * e->cost * often));
    }
    for (size_t e = 0; e < rate->load_count; e++)
        TAC_TRY(add_stencil(sim, rows, rate->load[e].v, rate->load[e].count, COST_LOAD * often));
done:
    return err;
}

static enum tac_err weigh(struct tac_sim *sim, struct tac_deal_rows *rows)
{
    enum tac_err err = TAC_OK;
    for (size_t c = 0; c < sim->elastic->class_count; c++)
        TAC_TRY(add_class(sim, rows, &sim->elastic->rate[c]));
    for (size_t k = 0; sim->contact && k < sim->active.pair_count; k++) {
        const struct tac_pair *p = &sim->active.pair[k];
        double cost = 0;
        if (!p->live)
            continue;
        for (int32_t first = 1, last; first <= p->depth; first = last + 1)
            cost += COST_PENALTY * rate_of(sim, tac_model_rung(sim->model, &p->form, first, &last));
        TAC_TRY(add_stencil(sim, rows, p->v, p->count, cost));
    }
done:
    return err;
}

enum tac_err tac_deal_again(struct tac_sim *sim, struct tac_pieces *pieces, uint64_t shuffle, double *balance)
{
    enum tac_err err;
    struct tac_deal_rows rows = {0};
    const tac_lid n = sim->state.owned;
    int32_t *present = NULL;
    TAC_CHECK(pieces->vertex_count == n);
    TAC_TRY(tac_alloc(sim->ctx, (size_t)n, sizeof *rows.weight, &rows.weight));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)n, sizeof *present, &present));
    TAC_TRY(weigh(sim, &rows));
    double unit = 0;
    for (tac_lid i = 0; i < n; i++) {
        present[i] = sim->ctx->rank;
        unit += rows.weight[i] / n;
    }
    for (tac_lid i = 0; i < n; i++) {
        rows.weight[i] += .02 * unit; /* looking at it costs something too */
        if (shuffle)
            rows.weight[i] *= 1 + (double)(tac_hash64(shuffle, (uint64_t)pieces->vertex_id[i] / 5) % 8);
    }
done:
    err = tac_agree(sim->ctx, err);
    if (!err)
        err = tac_deal_cut(sim->ctx, pieces->vertex_total, n, pieces->vertex_id, &rows, shuffle ? NULL : present,
                           pieces->owner, balance);
    tac_deal_rows_free(&rows);
    free(present);
    return err;
}

enum tac_err tac_deal_move(struct tac_ctx *ctx, const struct tac_scene *common, struct tac_pieces *pieces,
                           struct tac_scene **local, struct tac_sim **sim, int64_t *moved)
{
    enum tac_err err;
    struct tac_checkpoint *state = NULL;
    struct tac_scene *new_local = NULL;
    struct tac_sim *new_sim = NULL, *old = *sim;
    *moved = 0;
    for (tac_lid i = 0; i < pieces->vertex_count; i++)
        *moved += pieces->owner[i] != ctx->rank;
    MPI_Allreduce(MPI_IN_PLACE, moved, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    if (*moved == 0)
        return TAC_OK;
    if ((err = tac_state_collect(old, &state)) != TAC_OK)
        return err; /* all is as it was */
    state->counters.migrations += *moved;
    const tac_time window = old->windows.length, horizon = old->view.candidates ? old->view.candidates->horizon : 0;
    const int64_t fail_at = old->ranks->fail_at;
    const int32_t streak = old->windows.clean_streak;
    const tac_time span = old->find.flights ? old->find.flights->span : 0;
    tac_sim_destroy(sim); /* two of them may not fit */
    tac_local_destroy(local);
    TAC_TRY(tac_localise(ctx, common, pieces, &new_local));
    TAC_TRY(tac_sim_create(ctx, new_local, common->settings->discovery.mode, &new_sim));
    TAC_TRY(tac_state_restore(new_sim, state));
    new_sim->ranks->fail_at = fail_at;
    new_sim->windows.length = window ? window : new_sim->windows.length;
    new_sim->windows.clean_streak = streak;
    if (new_sim->view.candidates)
        new_sim->view.candidates->horizon = horizon;
    if (new_sim->find.flights)
        new_sim->find.flights->span = span;
done:
    *local = new_local;
    *sim = new_sim;
    tac_checkpoint_destroy(&state);
    return err;
}
