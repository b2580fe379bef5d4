#include "events/state.h"
#include "events/friction.h"
#include "events/ranks.h"
#include "partition/exchange.h"
#include "partition/ghosts.h"
#include <stdlib.h>
#include <string.h>

/* After the first step that can fail alone, all ranks go on together or not at all. */
#define TAC_TRY_AGREED(ctx, err, label)                                                                                \
    do {                                                                                                               \
        if ((err = tac_agree(ctx, err)) != TAC_OK)                                                                     \
            goto label;                                                                                                \
    } while (0)
#define TAC_TRY_END(call, label)                                                                                       \
    do {                                                                                                               \
        if ((err = (call)) != TAC_OK)                                                                                  \
            goto label;                                                                                                \
    } while (0)

/* ---- collecting ---- */

static enum tac_err collect_vertices(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    struct tac_ctx *ctx = sim->ctx;
    const size_t n = (size_t)sim->owned;
    c->vertex_count = sim->owned;
    TAC_TRY(tac_alloc(ctx, n, sizeof *c->vertex_id, &c->vertex_id));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *c->start, &c->start));
    TAC_TRY(tac_alloc(ctx, n, sizeof *c->mass, &c->mass));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *c->x, &c->x));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *c->v, &c->v));
    TAC_TRY(tac_alloc(ctx, n, sizeof *c->t, &c->t));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *c->impulse, &c->impulse));
    for (size_t i = 0; i < n; i++) {
        c->vertex_id[i] = tac_sim_id(sim, (tac_lid)i);
        c->mass[i] = sim->mass[i];
        c->t[i] = sim->pos[i].t;
        memcpy(&c->x[3 * i], sim->pos[i].x, 3 * sizeof(double));
        memcpy(&c->v[3 * i], sim->vel[i].v, 3 * sizeof(double));
    }
    memcpy(c->start, sim->scene->x, 3 * n * sizeof(double));
    memcpy(c->impulse, sim->impulse, 3 * n * sizeof(double));
done:
    return err;
}

static tac_gid lowest(const struct tac_sim *sim, const tac_lid *v, int n, tac_lid *which)
{
    *which = v[0];
    for (int k = 1; k < n; k++)
        if (tac_sim_id(sim, v[k]) < tac_sim_id(sim, *which))
            *which = v[k];
    return tac_sim_id(sim, *which);
}

static enum tac_err collect_elements(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_scene *s = sim->scene;
    const struct tac_part *part = s->part;
    tac_lid which;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)s->triangle_count, sizeof *c->triangle_id, &c->triangle_id));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)s->triangle_count, sizeof *c->triangle, &c->triangle));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)s->segment_count, sizeof *c->segment_id, &c->segment_id));
    TAC_TRY(tac_alloc(sim->ctx, 2 * (size_t)s->segment_count, sizeof *c->segment, &c->segment));
    for (tac_lid t = 0; t < s->triangle_count; t++) {
        lowest(sim, &s->triangle[3 * t], 3, &which);
        if (which >= sim->owned)
            continue;
        c->triangle_id[c->triangle_count] = part ? part->triangle_id[t] : t;
        for (int k = 0; k < 3; k++)
            c->triangle[3 * (size_t)c->triangle_count + (size_t)k] = tac_sim_id(sim, s->triangle[3 * t + k]);
        c->triangle_count++;
    }
    for (tac_lid g = 0; g < s->segment_count; g++) {
        lowest(sim, &s->segment[2 * g], 2, &which);
        if (which >= sim->owned)
            continue;
        c->segment_id[c->segment_count] = part ? part->segment_id[g] : g;
        for (int k = 0; k < 2; k++)
            c->segment[2 * (size_t)c->segment_count + (size_t)k] = tac_sim_id(sim, s->segment[2 * g + k]);
        c->segment_count++;
    }
done:
    return err;
}

static enum tac_err collect_scripts(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(sim->ctx, sim->script_count, sizeof *c->script, &c->script));
    c->script_count = (tac_lid)sim->script_count;
    for (size_t k = 0; k < sim->script_count; k++) {
        const struct tac_script *s = &sim->script[k];
        struct tac_script_state *o = &c->script[k];
        o->vertex = tac_sim_id(sim, s->vertex);
        o->next = s->next;
        o->t = s->t;
        o->on = s->on;
        o->caught = s->caught;
        memcpy(o->origin, s->origin, sizeof o->origin);
        memcpy(o->x, s->x, sizeof o->x);
        memcpy(o->v, s->v, sizeof o->v);
        memcpy(o->v_free, s->v_free, sizeof o->v_free);
    }
done:
    return err;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct tac_pair_state *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static enum tac_err collect_pairs(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err = TAC_OK;
    size_t capacity = 0, pairs = 0, lasts = 0, last_capacity = 0;
    for (size_t k = 0; k < sim->pair_count; k++) {
        const struct tac_pair *p = &sim->pair[k];
        if (!p->live || p->v[0] >= sim->owned)
            continue;
        TAC_TRY(tac_grow(sim->ctx, &c->pair, &capacity, pairs + 1, sizeof *c->pair));
        struct tac_pair_state *o = &c->pair[pairs++];
        *o = (struct tac_pair_state){p->key, {-1, -1, -1, -1}, p->depth, (int64_t)lasts, 0};
        for (int i = 0; i < p->count; i++)
            o->vertex[i] = tac_sim_id(sim, p->v[i]);
        for (int32_t first = 1, last; first <= p->depth; first = last + 1) {
            TAC_TRY(tac_grow(sim->ctx, &c->last, &last_capacity, lasts + 1, sizeof *c->last));
            tac_time period = tac_model_rung(sim->model, &p->form, first, &last);
            c->last[lasts++] = tac_watch_last(sim, p->key, period, first);
            o->rungs++;
        }
    }
    c->pair_count = (tac_lid)pairs;
    c->last_count = (tac_lid)lasts;
    if (pairs)
        qsort(c->pair, pairs, sizeof *c->pair, compare_pairs);
done:
    return err;
}

enum tac_err tac_state_counters(const struct tac_sim *sim, struct tac_counters *sum)
{
    *sum = sim->counters;
    if (!sim->ranks)
        return TAC_OK;
    sum->messages_sent += sim->ranks->messages;
    sum->bytes_sent += sim->ranks->bytes;
    /* Windows and lists are the same everywhere; ticks and messages add up; seconds are means; of passes thrown away
     * the most of any rank count. */
    int64_t most[2] = {sum->deepest_layer, sum->rollbacks};
    int64_t whole[32];
    double seconds[6] = {sum->seconds_forces,  sum->seconds_contact,  sum->seconds_discovery,
                         sum->seconds_waiting, sum->seconds_exchange, sum->seconds_output};
    int n = 0;
    for (int k = 0; k < TAC_KINDS; k++) {
        whole[n++] = sum->committed[k];
        whole[n++] = sum->executed[k];
    }
    int64_t *const more[] = {&sum->silent,
                             &sum->repeated_ticks,
                             &sum->contacts_found,
                             &sum->certificates_created,
                             &sum->certificates_failed,
                             &sum->certificates_rescheduled,
                             &sum->certificates_reconfirmed,
                             &sum->plans_filed,
                             &sum->candidates,
                             &sum->messages_sent,
                             &sum->bytes_sent};
    for (size_t k = 0; k < sizeof more / sizeof more[0]; k++)
        whole[n++] = *more[k];
    if (MPI_Allreduce(MPI_IN_PLACE, whole, n, MPI_INT64_T, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS ||
        MPI_Allreduce(MPI_IN_PLACE, seconds, 6, MPI_DOUBLE, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while adding up counters");
    n = 0;
    for (int k = 0; k < TAC_KINDS; k++) {
        sum->committed[k] = whole[n++];
        sum->executed[k] = whole[n++];
    }
    for (size_t k = 0; k < sizeof more / sizeof more[0]; k++)
        *more[k] = whole[n++];
    double *const into[] = {&sum->seconds_forces,  &sum->seconds_contact,  &sum->seconds_discovery,
                            &sum->seconds_waiting, &sum->seconds_exchange, &sum->seconds_output};
    for (int k = 0; k < 6; k++)
        *into[k] = seconds[k] / sim->ctx->size;
    if (MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while adding up counters");
    sum->deepest_layer = most[0];
    sum->rollbacks = most[1];
    return TAC_OK;
}

static enum tac_err collect_sums(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    struct tac_accum sum[5] = {sim->dissipated, sim->work};
    double book[2] = {sim->book.work, sim->book.absolute};
    for (int k = 0; k < 3 && sim->friction != NULL; k++)
        sum[2 + k] = sim->friction->couple[k];
    TAC_TRY(tac_sim_sum(sim, sum, 5));
    c->dissipated = sum[0];
    c->work = sum[1];
    memcpy(c->couple, &sum[2], sizeof c->couple);
    c->total_start = sim->total_start;
    tac_accum_carry(&c->total_start);
    c->has_start = sim->has_start;
    c->kinetic_start = sim->kinetic_start;
    c->deepest_layer = sim->deepest_layer;
    if (sim->ranks &&
        (MPI_Allreduce(MPI_IN_PLACE, book, 2, MPI_DOUBLE, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS ||
         MPI_Allreduce(MPI_IN_PLACE, &c->deepest_layer, 1, MPI_INT64_T, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS))
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while adding up the book");
    c->book_work = book[0];
    c->book_absolute = book[1];
    TAC_TRY(tac_state_counters(sim, &c->counters));
done:
    return err;
}

enum tac_err tac_state_collect(struct tac_sim *sim, struct tac_checkpoint **out)
{
    enum tac_err err;
    const struct tac_scene *s = sim->scene;
    struct tac_checkpoint *c = NULL;
    *out = NULL;
    TAC_TRY(tac_alloc(sim->ctx, 1, sizeof *c, &c));
    c->now = sim->now;
    c->vertex_total = s->part ? s->part->vertex_total : s->vertex_count;
    c->triangle_total = s->part ? s->part->triangle_total : s->triangle_count;
    c->segment_total = s->part ? s->part->segment_total : s->segment_count;
    TAC_TRY(collect_vertices(sim, c));
    TAC_TRY(collect_elements(sim, c));
    TAC_TRY(collect_scripts(sim, c));
    if (sim->contact)
        TAC_TRY(collect_pairs(sim, c));
    TAC_TRY(tac_elements_collect(sim, c));
    TAC_TRY(tac_friction_collect(sim, c));
done:
    err = tac_agree(sim->ctx, err);
    if (!err)
        err = tac_agree(sim->ctx, collect_sums(sim, c));
    if (err)
        tac_checkpoint_destroy(&c);
    *out = c;
    return err;
}

/* ---- restoring ---- */

struct vertex_row {
    tac_gid id;
    double x[3], v[3], impulse[3];
    tac_time t;
};

struct pair_row {
    uint64_t key;
    tac_gid vertex[4];
    int64_t depth, rungs;
};

static tac_lid local_id(const struct tac_sim *sim, tac_gid id)
{
    return sim->scene->part ? tac_id_find(sim->scene->part->vertex_id, sim->owned, id) : (tac_lid)id;
}

static enum tac_err restore_vertices(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    const size_t n = (size_t)c->vertex_count;
    struct vertex_row *row = NULL, *rows = NULL;
    size_t total = 0;
    enum tac_err err = tac_alloc(sim->ctx, n, sizeof *row, &row);
    for (size_t k = 0; k < n && !err; k++) {
        row[k].id = c->vertex_id[k];
        row[k].t = c->t[k];
        memcpy(row[k].x, &c->x[3 * k], sizeof row[k].x);
        memcpy(row[k].v, &c->v[3 * k], sizeof row[k].v);
        memcpy(row[k].impulse, &c->impulse[3 * k], sizeof row[k].impulse);
    }
    err = tac_deal(sim->ctx, err, n, owner, row, sizeof *row, &rows, &total);
    for (size_t k = 0; k < total && !err; k++) {
        const tac_lid i = local_id(sim, rows[k].id);
        TAC_CHECK(i >= 0);
        sim->pos[i].t = rows[k].t;
        memcpy(sim->pos[i].x, rows[k].x, sizeof rows[k].x);
        memcpy(sim->vel[i].v, rows[k].v, sizeof rows[k].v);
        memcpy(&sim->impulse[3 * (size_t)i], rows[k].impulse, sizeof rows[k].impulse);
    }
    free(row);
    free(rows);
    return err;
}

static enum tac_err restore_script(struct tac_sim *sim, const struct tac_script_state *o)
{
    const tac_lid i = local_id(sim, o->vertex);
    TAC_CHECK(i >= 0);
    if (sim->script_of[i] < 0 || o->next < 0 || o->next > sim->script[sim->script_of[i]].knot_count)
        return tac_fail(sim->ctx, TAC_ERR_INPUT,
                        "the checkpoint has a motion of vertex %" TAC_PRIGID
                        " that the scene has not; go on with the scene that the checkpoint is of",
                        o->vertex);
    struct tac_script *s = &sim->script[sim->script_of[i]];
    s->next = (int32_t)o->next;
    s->t = o->t;
    s->on = o->on != 0;
    s->caught = o->caught != 0;
    memcpy(s->origin, o->origin, sizeof s->origin);
    memcpy(s->x, o->x, sizeof s->x);
    memcpy(s->v, o->v, sizeof s->v);
    memcpy(s->v_free, o->v_free, sizeof s->v_free);
    sim->vel[i].w = s->on ? 0 : sim->model->w_ever[i];
    return TAC_OK;
}

static enum tac_err restore_scripts(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    struct tac_script_state *rows = NULL;
    size_t total = 0;
    enum tac_err err =
        tac_deal(sim->ctx, TAC_OK, (size_t)c->script_count, owner, c->script, sizeof *rows, &rows, &total);
    for (size_t k = 0; k < total && !err; k++)
        err = restore_script(sim, &rows[k]);
    free(rows);
    return err;
}

/* Pairs on their way: each to all owners of its vertices. */
struct dispatch {
    size_t count, capacity, last_count, last_capacity;
    struct pair_row *pair;  /* owned */
    double *last;           /* owned */
    int64_t *pairs, *lasts; /* owned, (size) */
};

static enum tac_err dispatch_pairs(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner,
                                   struct dispatch *d)
{
    enum tac_err err;
    const size_t size = (size_t)sim->ctx->size;
    TAC_TRY(tac_alloc(sim->ctx, size, sizeof *d->pairs, &d->pairs));
    TAC_TRY(tac_alloc(sim->ctx, size, sizeof *d->lasts, &d->lasts));
    for (int r = 0; r < sim->ctx->size; r++)
        for (tac_lid k = 0; k < c->pair_count; k++) {
            const struct tac_pair_state *o = &c->pair[k];
            bool concerned = false;
            for (int i = 0; i < 4; i++)
                concerned |= o->vertex[i] >= 0 && owner[4 * k + i] == r;
            if (!concerned)
                continue;
            TAC_TRY(tac_grow(sim->ctx, &d->pair, &d->capacity, d->count + 1, sizeof *d->pair));
            TAC_TRY(tac_grow(sim->ctx, &d->last, &d->last_capacity, d->last_count + (size_t)o->rungs, sizeof *d->last));
            struct pair_row *p = &d->pair[d->count++];
            *p = (struct pair_row){o->key, {0}, o->depth, o->rungs};
            memcpy(p->vertex, o->vertex, sizeof p->vertex);
            memcpy(&d->last[d->last_count], &c->last[o->last], (size_t)o->rungs * sizeof *d->last);
            d->last_count += (size_t)o->rungs;
            d->pairs[r]++;
            d->lasts[r] += o->rungs;
        }
done:
    return err;
}

static void describe(const void *sim, tac_gid id, void *guest)
{
    const tac_lid v = local_id(sim, id);
    TAC_CHECK(v >= 0);
    tac_ghost_describe(sim, v, guest);
}

/* Ghosts for all vertices of these pairs that are not known here. */
static enum tac_err invite(struct tac_sim *sim, const struct tac_checkpoint *c, const struct pair_row *pair,
                           size_t count)
{
    enum tac_err err;
    struct tac_ctx *ctx = sim->ctx;
    tac_gid *unknown = NULL, *distinct = NULL;
    tac_lid *place = NULL;
    struct tac_guest *guest = NULL;
    int32_t *owner = NULL;
    size_t n = 0, many = 0;
    TAC_TRY(tac_alloc(ctx, 4 * count, sizeof *unknown, &unknown));
    TAC_TRY(tac_alloc(ctx, 4 * count, sizeof *place, &place));
    for (size_t k = 0; k < count; k++)
        for (int i = 0; i < 4; i++)
            if (pair[k].vertex[i] >= 0 && tac_ghost_find(sim, pair[k].vertex[i]) < 0)
                unknown[many++] = pair[k].vertex[i];
    TAC_TRY(tac_compress(ctx, many, unknown, &distinct, &n, place));
    TAC_TRY(tac_alloc(ctx, n, sizeof *owner, &owner));
    TAC_TRY(tac_alloc(ctx, n, sizeof *guest, &guest));
done:
    TAC_TRY_AGREED(ctx, err, end);
    TAC_TRY_END(
        tac_owners_find(ctx, c->vertex_total, sim->owned, sim->scene->part->vertex_id, NULL, n, distinct, owner), end);
    TAC_TRY_END(tac_ask(ctx, TAC_OK, n, owner, distinct, describe, sim, sizeof *guest, guest), end);
    for (size_t k = 0; k < n && !err; k++) {
        tac_lid v;
        err = tac_ghost_add(sim, &guest[k], &v);
    }
    TAC_TRY_AGREED(ctx, err, end);
end:
    free(unknown);
    free(distinct);
    free(place);
    free(owner);
    free(guest);
    return err;
}

/* Watches a pair as deep as it was. */
static enum tac_err watch_again(struct tac_sim *sim, const struct pair_row *row, const double *last)
{
    enum tac_err err = TAC_OK;
    tac_lid v[4] = {-1, -1, -1, -1};
    int32_t slot = -1;
    for (int i = 0; i < tac_pair_vertices(tac_key_type(row->key)); i++)
        v[i] = sim->ranks ? tac_ghost_find(sim, row->vertex[i]) : (tac_lid)row->vertex[i];
    if (!tac_model_is_pair(sim->model, tac_key_type(row->key), v))
        goto wrong;
    for (int64_t k = 0; k < row->rungs; k++) {
        if (slot >= 0 && sim->pair[slot].depth >= sim->pair[slot].form.bottom)
            goto wrong;
        TAC_TRY(tac_watch(sim, row->key, v, &slot));
        tac_watch_set_last(sim, slot, last[k]);
    }
    if (slot >= 0 && sim->pair[slot].depth == row->depth)
        return TAC_OK;
wrong:
    err = tac_fail(sim->ctx, TAC_ERR_INPUT,
                   "the checkpoint watches a contact (vertices %" TAC_PRIGID ", %" TAC_PRIGID
                   ", ...) that the scene has not; go on with the scene that the checkpoint is of",
                   row->vertex[0], row->vertex[1]);
done:
    return err;
}

static enum tac_err restore_pairs(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    enum tac_err err;
    struct dispatch d = {0};
    struct pair_row *pairs = NULL;
    double *lasts = NULL;
    int64_t *got = NULL, *got_last = NULL;
    size_t total = 0, at = 0;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->ctx->size, sizeof *got, &got));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->ctx->size, sizeof *got_last, &got_last));
    TAC_TRY(dispatch_pairs(sim, c, owner, &d));
done:
    TAC_TRY_AGREED(sim->ctx, err, end);
    TAC_TRY_END(tac_exchange(sim->ctx, d.pair, d.pairs, sizeof *d.pair, &pairs, got), end);
    TAC_TRY_END(tac_exchange(sim->ctx, d.last, d.lasts, sizeof *d.last, &lasts, got_last), end);
    for (int r = 0; r < sim->ctx->size; r++)
        total += (size_t)got[r];
    if (sim->ranks)
        TAC_TRY_END(invite(sim, c, pairs, total), end);
    for (size_t k = 0; k < total && !err; k++) {
        err = watch_again(sim, &pairs[k], &lasts[at]);
        at += (size_t)pairs[k].rungs;
    }
    TAC_TRY_AGREED(sim->ctx, err, end);
end:
    free(d.pair);
    free(d.last);
    free(d.pairs);
    free(d.lasts);
    free(pairs);
    free(lasts);
    free(got);
    free(got_last);
    return err;
}

static void restore_sums(struct tac_sim *sim, const struct tac_checkpoint *c)
{
    const struct tac_accum nothing = {0};
    const bool first = sim->ctx->rank == 0;
    sim->dissipated = first ? c->dissipated : nothing;
    sim->work = first ? c->work : nothing;
    for (int k = 0; k < 3 && sim->friction != NULL; k++)
        sim->friction->couple[k] = first ? c->couple[k] : nothing;
    sim->book = first ? (struct tac_book){c->book_work, c->book_absolute} : (struct tac_book){0, 0};
    sim->total_start = c->total_start;
    sim->has_start = c->has_start != 0;
    sim->kinetic_start = c->kinetic_start;
    sim->deepest_layer = c->deepest_layer;
    sim->deepest_ever = c->counters.deepest_layer;
    struct tac_counters zero = {0};
    sim->counters = first ? c->counters : zero;
    sim->counters.deepest_layer = c->counters.deepest_layer;
    sim->counters.windows = c->counters.windows;
    sim->counters.rollbacks = c->counters.rollbacks;
    sim->counters.candidate_builds = c->counters.candidate_builds;
    sim->counters.migrations = c->counters.migrations;
    /* Seconds are means over ranks. */
    const double share = sim->ctx->size;
    if (first) {
        sim->counters.seconds_forces *= share;
        sim->counters.seconds_contact *= share;
        sim->counters.seconds_discovery *= share;
        sim->counters.seconds_waiting *= share;
        sim->counters.seconds_exchange *= share;
        sim->counters.seconds_output *= share;
    }
}

enum tac_err tac_state_restore(struct tac_sim *sim, const struct tac_checkpoint *c)
{
    enum tac_err err;
    struct tac_ctx *ctx = sim->ctx;
    const size_t pairs = (size_t)c->vertex_count + (size_t)c->script_count,
                 elements = pairs + 4 * (size_t)c->pair_count, grips = elements + 4 * (size_t)c->element_count;
    const size_t n = grips + 4 * (size_t)c->grip_count;
    tac_gid *wanted = NULL;
    int32_t *owner = NULL;
    size_t k = 0;
    TAC_TRY(tac_alloc(ctx, n, sizeof *wanted, &wanted));
    TAC_TRY(tac_alloc(ctx, n, sizeof *owner, &owner));
done:
    TAC_TRY_AGREED(ctx, err, end);
    for (tac_lid i = 0; i < c->vertex_count; i++)
        wanted[k++] = c->vertex_id[i];
    for (tac_lid i = 0; i < c->script_count; i++)
        wanted[k++] = c->script[i].vertex;
    for (tac_lid i = 0; i < c->pair_count; i++)
        for (int j = 0; j < 4; j++)
            wanted[k++] = c->pair[i].vertex[j] >= 0 ? c->pair[i].vertex[j] : c->pair[i].vertex[0];
    for (tac_lid i = 0; i < c->element_count; i++)
        for (int j = 0; j < 4; j++)
            wanted[k++] = c->element[i].vertex[j] >= 0 ? c->element[i].vertex[j] : c->element[i].vertex[0];
    for (tac_lid i = 0; i < c->grip_count; i++)
        for (int j = 0; j < 4; j++)
            wanted[k++] = c->grip[i].vertex[j] >= 0 ? c->grip[i].vertex[j] : c->grip[i].vertex[0];
    if (sim->ranks)
        TAC_TRY_END(
            tac_owners_find(ctx, c->vertex_total, sim->owned, sim->scene->part->vertex_id, NULL, n, wanted, owner),
            end);
    sim->now = c->now;
    err = restore_vertices(sim, c, owner);
    TAC_TRY_AGREED(ctx, err, end);
    err = restore_scripts(sim, c, owner + c->vertex_count);
    TAC_TRY_AGREED(ctx, err, end);
    if (sim->contact)
        TAC_TRY_END(restore_pairs(sim, c, owner + pairs), end);
    TAC_TRY_END(tac_elements_restore(sim, c, owner + elements), end);
    err = tac_friction_restore_state(sim, c, owner + grips);
    TAC_TRY_AGREED(ctx, err, end);
    restore_sums(sim, c);
    tac_scripts_next(sim);
end:
    free(wanted);
    free(owner);
    return err;
}
