/* state_restore.c: puts the whole state into a simulation: sends the rows of a checkpoint to the ranks that own their
 * vertices. */
#include "base/exchange.h"
#include "contact/friction.h"
#include "events/ranks/ranks.h"
#include "events/rigid/rigid_motion.h"
#include "events/state/state_transfer.h"
#include "partition/ghosts.h"
#include "state/spin.h"
#include <stdlib.h>
#include <string.h>

/* Agrees on the error of a step that can fail on one rank alone, so that all ranks continue together or not at all. */
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

struct vertex_row {
    tac_gid id;
    double x[3], v[3], impulse[3], rest[3], past[TAC_PAST_NUMBERS];
    tac_time t;
};

struct pair_row {
    uint64_t key;
    tac_gid vertex[4];
    int64_t depth, groups;
};

static tac_lid local_id(const struct tac_sim *sim, tac_gid id)
{
    return sim->scene->mesh->part ? tac_id_find(sim->scene->mesh->part->vertex_id, sim->state.owned, id) : (tac_lid)id;
}

bool tac_state_concerns(const struct tac_sim *sim, const tac_gid vertex[4])
{
    const struct tac_part *part = sim->scene->mesh->part;
    for (int i = 0; part != NULL && i < 4; i++) {
        const tac_lid v = vertex[i] >= 0 ? local_id(sim, vertex[i]) : -1;
        if (v >= 0 && tac_model_takes_part(sim->model, v))
            return true;
    }
    return part == NULL;
}

static void restore_past(struct tac_sim *sim, tac_lid i, const double past[TAC_PAST_NUMBERS])
{
    if (sim->state.spin != NULL) {
        memcpy(sim->state.spin[i].base, past, sizeof sim->state.spin->base);
        memcpy(sim->state.spin[i].w, &past[3], sizeof sim->state.spin->w);
    }
    for (size_t n = 0; n < sim->motors.count; n++)
        for (int side = 0; side < 2; side++)
            if (i == sim->motors.motor[n].point[2 + side] && sim->motors.motor[n].place[side] >= 0)
                sim->motors.motor[n].state = (struct tac_motor_state){past[0], past[1]};
}

static enum tac_err restore_vertices(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    const bool past = sim->state.spin != NULL || sim->scene->settings->motor_s > 0;
    const size_t n = (size_t)c->vertices.count;
    struct vertex_row *row = NULL, *rows = NULL;
    size_t total = 0;
    enum tac_err err = tac_alloc(sim->ctx, n, sizeof *row, &row);
    for (size_t k = 0; k < n && !err; k++) {
        row[k].id = c->vertices.id[k];
        row[k].t = c->vertices.t[k];
        memcpy(row[k].x, &c->vertices.x[3 * k], sizeof row[k].x);
        memcpy(row[k].v, &c->vertices.v[3 * k], sizeof row[k].v);
        memcpy(row[k].impulse, &c->vertices.impulse[3 * k], sizeof row[k].impulse);
        memcpy(row[k].rest, &c->vertices.rest[3 * k], sizeof row[k].rest);
        if (past)
            memcpy(row[k].past, &c->vertices.past[TAC_PAST_NUMBERS * k], sizeof row[k].past);
    }
    err = tac_distribute(sim->ctx, err, n, owner, row, sizeof *row, &rows, &total);
    for (size_t k = 0; k < total && !err; k++) {
        const tac_lid i = local_id(sim, rows[k].id);
        TAC_CHECK(i >= 0);
        sim->state.pos[i].t = rows[k].t;
        memcpy(sim->state.pos[i].x, rows[k].x, sizeof rows[k].x);
        memcpy(sim->state.vel[i].v, rows[k].v, sizeof rows[k].v);
        memcpy(&sim->state.impulse[3 * (size_t)i], rows[k].impulse, sizeof rows[k].impulse);
        memcpy(&sim->immovable.rest[3 * (size_t)i], rows[k].rest, sizeof rows[k].rest);
        if (past)
            restore_past(sim, i, rows[k].past);
    }
    free(row);
    free(rows);
    return err;
}

static enum tac_err restore_script(struct tac_sim *sim, const struct tac_script_state *o)
{
    const tac_lid i = local_id(sim, o->vertex);
    TAC_CHECK(i >= 0);
    if (sim->scripts.of[i] < 0 || o->next < 0 || o->next > sim->scripts.script[sim->scripts.of[i]].knot_count)
        return tac_fail(sim->ctx, TAC_ERR_INPUT,
                        "the checkpoint has a motion of vertex %" TAC_PRIGID
                        " that the scene does not have; go on with the scene that the checkpoint is of",
                        o->vertex);
    struct tac_script *s = &sim->scripts.script[sim->scripts.of[i]];
    s->next = (int32_t)o->next;
    s->t = o->t;
    s->on = o->on != 0;
    s->caught = o->caught != 0;
    memcpy(s->origin, o->origin, sizeof s->origin);
    memcpy(s->x, o->x, sizeof s->x);
    memcpy(s->v, o->v, sizeof s->v);
    memcpy(s->v_free, o->v_free, sizeof s->v_free);
    sim->state.vel[i].w = s->on ? 0 : sim->model->w_ever[i];
    return TAC_OK;
}

static enum tac_err restore_scripts(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    struct tac_script_state *rows = NULL;
    size_t total = 0;
    enum tac_err err =
        tac_distribute(sim->ctx, TAC_OK, (size_t)c->script_count, owner, c->script, sizeof *rows, &rows, &total);
    for (size_t k = 0; k < total && !err; k++)
        err = restore_script(sim, &rows[k]);
    free(rows);
    return err;
}

static enum tac_err restore_rigid(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    struct tac_rigid *r = &sim->rigid;
    struct tac_rigid_row *rows = NULL;
    size_t total = 0;
    enum tac_err err =
        tac_distribute(sim->ctx, TAC_OK, (size_t)c->rigid.count, owner, c->rigid.row, sizeof *rows, &rows, &total);
    size_t known = 0;
    for (size_t i = 0; i < total && !err; i++) {
        const tac_lid v = local_id(sim, rows[i].vertex);
        const int32_t k = r->count > 0 && v >= 0 ? r->of[v] : -1;
        if (k < 0 || r->piece[k].first != v)
            continue;
        struct tac_rigid_motion *m = &r->motion[k];
        m->t = rows[i].t;
        m->t1 = rows[i].t1;
        memcpy(m->c, &rows[i].value[0], sizeof m->c);
        memcpy(m->u, &rows[i].value[3], sizeof m->u);
        memcpy(m->a, &rows[i].value[6], sizeof m->a);
        memcpy(m->b, &rows[i].value[15], sizeof m->b);
        known++;
    }
    if (!err && (known != total || known != r->count))
        err = tac_fail(sim->ctx, TAC_ERR_INPUT,
                       "the checkpoint has other rigid bodies than the scene; go on with the scene that the checkpoint "
                       "is of");
    tac_rigid_order(r);
    free(rows);
    return err;
}

/* A pair as it is sent to all owners of its vertices, with its last distances. */
struct dispatch {
    size_t count, capacity, to_capacity, last_count, last_capacity, last_to_capacity;
    struct pair_row *pair; /* owned, (count) */
    double *last;          /* owned, (last_count) */
    int32_t *to, *last_to; /* owned: ranks */
};

static enum tac_err dispatch_pair(struct tac_ctx *ctx, const struct tac_pair_state *o, const double *last, int32_t to,
                                  struct dispatch *d)
{
    enum tac_err err;
    const size_t groups = (size_t)o->groups;
    TAC_TRY(tac_grow(ctx, &d->pair, &d->capacity, d->count + 1, sizeof *d->pair));
    TAC_TRY(tac_grow(ctx, &d->to, &d->to_capacity, d->count + 1, sizeof *d->to));
    TAC_TRY(tac_grow(ctx, &d->last, &d->last_capacity, d->last_count + groups, sizeof *d->last));
    TAC_TRY(tac_grow(ctx, &d->last_to, &d->last_to_capacity, d->last_count + groups, sizeof *d->last_to));
    d->to[d->count] = to;
    struct pair_row *p = &d->pair[d->count++];
    *p = (struct pair_row){o->key, {0}, o->depth, o->groups};
    memcpy(p->vertex, o->vertex, sizeof p->vertex);
    for (size_t k = 0; k < groups; k++) {
        d->last_to[d->last_count] = to;
        d->last[d->last_count++] = last[k];
    }
done:
    return err;
}

static enum tac_err dispatch_pairs(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner,
                                   struct dispatch *d)
{
    enum tac_err err = TAC_OK;
    for (tac_lid k = 0; k < c->pair_count; k++) {
        const struct tac_pair_state *o = &c->pair[k];
        const int32_t *to = &owner[4 * (size_t)k];
        for (int i = 0; i < 4; i++) {
            bool reported = o->vertex[i] < 0;
            for (int j = 0; j < i; j++)
                reported |= o->vertex[j] >= 0 && to[j] == to[i];
            if (!reported)
                TAC_TRY(dispatch_pair(sim->ctx, o, &c->last[o->last], to[i], d));
        }
    }
done:
    return err;
}

static void describe_ghost(const void *self, tac_gid id, void *ghost)
{
    const struct tac_sim *sim = self;
    const tac_lid v = local_id(sim, id);
    TAC_CHECK(v >= 0);
    tac_ghost_describe(sim->scene, v, ghost);
}

/* Adds ghosts for all vertices of these pairs that this rank does not have. */
static enum tac_err add_ghosts(struct tac_sim *sim, const struct tac_checkpoint *c, const struct pair_row *pair,
                               size_t count)
{
    enum tac_err err;
    struct tac_ctx *ctx = sim->ctx;
    tac_gid *unknown = NULL, *distinct = NULL;
    tac_lid *place = NULL;
    struct tac_ghost *ghost = NULL;
    int32_t *owner = NULL;
    size_t n = 0, many = 0;
    TAC_TRY(tac_alloc(ctx, 4 * count, sizeof *unknown, &unknown));
    TAC_TRY(tac_alloc(ctx, 4 * count, sizeof *place, &place));
    for (size_t k = 0; k < count; k++)
        for (int i = 0; i < 4; i++)
            if (pair[k].vertex[i] >= 0 && tac_ghost_find(tac_ranks_halo(sim->ranks), pair[k].vertex[i]) < 0)
                unknown[many++] = pair[k].vertex[i];
    TAC_TRY(tac_compress(ctx, many, unknown, &distinct, &n, place));
    TAC_TRY(tac_alloc(ctx, n, sizeof *owner, &owner));
    TAC_TRY(tac_alloc(ctx, n, sizeof *ghost, &ghost));
done:
    TAC_TRY_AGREED(ctx, err, end);
    TAC_TRY_END(tac_owners_find(ctx, c->vertex_total, sim->state.owned, sim->scene->mesh->part->vertex_id, NULL, n,
                                distinct, owner),
                end);
    TAC_TRY_END(tac_ask(ctx, TAC_OK, n, owner, distinct, describe_ghost, sim, sizeof *ghost, ghost), end);
    for (size_t k = 0; k < n && !err; k++) {
        tac_lid v;
        err = tac_ghost_add(tac_ranks_halo(sim->ranks), &ghost[k], &v);
    }
    TAC_TRY_AGREED(ctx, err, end);
end:
    free(unknown);
    free(distinct);
    free(place);
    free(owner);
    free(ghost);
    return err;
}

/* Activates a pair down to the layer group to which it was active. */
static enum tac_err activate_again(struct tac_sim *sim, const struct pair_row *row, const double *last)
{
    enum tac_err err = TAC_OK;
    tac_lid v[4] = {-1, -1, -1, -1};
    int32_t slot = -1;
    for (int i = 0; i < tac_pair_vertices(tac_key_type(row->key)); i++)
        v[i] = tac_ranks_halo(sim->ranks) ? tac_ghost_find(tac_ranks_halo(sim->ranks), row->vertex[i])
                                          : (tac_lid)row->vertex[i];
    if (!tac_model_is_pair(sim->model, tac_key_type(row->key), v))
        goto wrong;
    for (int64_t k = 0; k < row->groups; k++) {
        if (slot >= 0 && sim->active.pair[slot].depth >= sim->active.pair[slot].form.bottom)
            goto wrong;
        TAC_TRY(tac_activate(sim, row->key, v, &slot));
        tac_active_set_last(sim, slot, last[k]);
    }
    if (slot >= 0 && sim->active.pair[slot].depth == row->depth)
        return TAC_OK;
wrong:
    err = tac_fail(sim->ctx, TAC_ERR_INPUT,
                   "the checkpoint has an active contact (vertices %" TAC_PRIGID ", %" TAC_PRIGID
                   ", ...) that the scene does not have; go on with the scene that the checkpoint is of",
                   row->vertex[0], row->vertex[1]);
done:
    return err;
}

static size_t groups_of(const struct pair_row *pair, size_t count)
{
    size_t groups = 0;
    for (size_t k = 0; k < count; k++)
        groups += (size_t)pair[k].groups;
    return groups;
}

/* Removes the pairs in which no vertex of this rank takes part, because each row came to the owners of all its
 * vertices. */
static void leave_out(const struct tac_sim *sim, struct pair_row *pair, size_t *count, double *last)
{
    size_t kept = 0, from = 0, to = 0;
    for (size_t k = 0; k < *count; k++) {
        const size_t groups = (size_t)pair[k].groups;
        if (tac_state_concerns(sim, pair[k].vertex)) {
            memmove(&last[to], &last[from], groups * sizeof *last);
            pair[kept++] = pair[k];
            to += groups;
        }
        from += groups;
    }
    *count = kept;
}

static enum tac_err restore_pairs(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    struct dispatch d = {0};
    struct pair_row *pairs = NULL;
    double *lasts = NULL;
    size_t total = 0, last_total = 0, at = 0;
    enum tac_err err = dispatch_pairs(sim, c, owner, &d);
    /* Both keep the senders' order: the last distances come in that of their pairs. */
    TAC_TRY_END(tac_distribute(sim->ctx, err, d.count, d.to, d.pair, sizeof *d.pair, &pairs, &total), end);
    TAC_TRY_END(tac_distribute(sim->ctx, err, d.last_count, d.last_to, d.last, sizeof *d.last, &lasts, &last_total),
                end);
    TAC_CHECK(groups_of(pairs, total) == last_total);
    if (tac_ranks_halo(sim->ranks))
        leave_out(sim, pairs, &total, lasts);
    if (tac_ranks_halo(sim->ranks))
        TAC_TRY_END(add_ghosts(sim, c, pairs, total), end);
    for (size_t k = 0; k < total && !err; k++) {
        err = activate_again(sim, &pairs[k], &lasts[at]);
        at += (size_t)pairs[k].groups;
    }
    TAC_TRY_AGREED(sim->ctx, err, end);
end:
    free(d.pair);
    free(d.to);
    free(d.last);
    free(d.last_to);
    free(pairs);
    free(lasts);
    return err;
}

static void restore_sums(struct tac_sim *sim, const struct tac_checkpoint *c)
{
    const struct tac_accum nothing = {0};
    const bool first = sim->ctx->rank == 0;
    sim->books.dissipated = first ? c->dissipated : nothing;
    for (int k = 1; k < 3 && first; k++)
        tac_accum_subtract(&sim->books.dissipated, &c->lost[k]);
    sim->books.losses.friction = first ? c->lost[0] : nothing;
    sim->books.losses.damping = first ? c->lost[1] : nothing;
    sim->books.losses.plasticity = first ? c->lost[2] : nothing;
    sim->books.losses_known = c->has_losses != 0;
    sim->books.work = first ? c->work : nothing;
    for (int k = 0; k < 3; k++)
        sim->books.couple[k] = first ? c->couple[k] : nothing;
    sim->books.book = first ? (struct tac_book){c->book_work, c->book_absolute} : (struct tac_book){0, 0};
    sim->books.total_start = c->total_start;
    sim->books.has_start = c->has_start != 0;
    sim->books.kinetic_start = c->kinetic_start;
    sim->books.deepest_layer = c->deepest_layer;
    sim->books.deepest_ever = c->counters.deepest_layer;
    tac_counters_restore(sim->ctx, &c->counters, &sim->books.counters);
    sim->books.counters.deepest_layer = c->counters.deepest_layer;
}

enum tac_err tac_state_restore(struct tac_sim *sim, const struct tac_checkpoint *c)
{
    enum tac_err err;
    struct tac_ctx *ctx = sim->ctx;
    const size_t pairs = (size_t)c->vertices.count + (size_t)c->script_count,
                 elements = pairs + 4 * (size_t)c->pair_count,
                 friction_states = elements + tac_element_rows_vertices(c, NULL);
    const size_t rigid = friction_states + 4 * (size_t)c->friction_state_count, n = rigid + (size_t)c->rigid.count;
    tac_gid *wanted = NULL;
    int32_t *owner = NULL;
    size_t k = 0;
    TAC_TRY(tac_alloc(ctx, n, sizeof *wanted, &wanted));
    TAC_TRY(tac_alloc(ctx, n, sizeof *owner, &owner));
done:
    TAC_TRY_AGREED(ctx, err, end);
    for (tac_lid i = 0; i < c->vertices.count; i++)
        wanted[k++] = c->vertices.id[i];
    for (tac_lid i = 0; i < c->script_count; i++)
        wanted[k++] = c->script[i].vertex;
    for (tac_lid i = 0; i < c->pair_count; i++)
        for (int j = 0; j < 4; j++)
            wanted[k++] = c->pair[i].vertex[j] >= 0 ? c->pair[i].vertex[j] : c->pair[i].vertex[0];
    k += tac_element_rows_vertices(c, wanted + k);
    for (tac_lid i = 0; i < c->friction_state_count; i++)
        for (int j = 0; j < 4; j++)
            wanted[k++] =
                c->friction_state[i].vertex[j] >= 0 ? c->friction_state[i].vertex[j] : c->friction_state[i].vertex[0];
    for (tac_lid i = 0; i < c->rigid.count; i++)
        wanted[k++] = c->rigid.row[i].vertex;
    if (tac_ranks_halo(sim->ranks))
        TAC_TRY_END(tac_owners_find(ctx, c->vertex_total, sim->state.owned, sim->scene->mesh->part->vertex_id, NULL, n,
                                    wanted, owner),
                    end);
    sim->state.now = c->now;
    err = restore_vertices(sim, c, owner);
    TAC_TRY_AGREED(ctx, err, end);
    err = restore_scripts(sim, c, owner + c->vertices.count);
    TAC_TRY_AGREED(ctx, err, end);
    err = restore_rigid(sim, c, owner + rigid);
    TAC_TRY_AGREED(ctx, err, end);
    if (sim->contact)
        TAC_TRY_END(restore_pairs(sim, c, owner + pairs), end);
    TAC_TRY_END(tac_elements_restore(sim, c, owner + elements), end);
    err = tac_friction_restore_state(sim, c, owner + friction_states);
    TAC_TRY_AGREED(ctx, err, end);
    restore_sums(sim, c);
    tac_scripts_next(sim);
end:
    free(wanted);
    free(owner);
    return err;
}
