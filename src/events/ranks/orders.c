/* orders.c: sends orders between the owners of a pair: to activate one more layer group, to drop one, or to use a speed
 * by which the pair sleeps (docs/reference/ranks.md, A pass; docs/reference/engine.md, Sleep). */
#include "events/ranks/ranks.h"
#include <string.h>

enum { TAG_ORDERS = 15 };

/* An order as it is sent, with all data that an owner needs that does not know the other vertices yet. */
struct command {
    uint64_t key;
    int32_t drop;
    double d; /* distance now, m */
    struct tac_ghost vertex[4];
};

void tac_prime(struct tac_active *active, const struct tac_vertex_state *state, int32_t slot, double d)
{
    active->pair[slot].d_tick = d;
    active->pair[slot].t_tick = state->now;
}

enum tac_err tac_order(struct tac_ctx *ctx, struct tac_ranks *ranks, const struct tac_active *active, int32_t slot,
                       bool drop)
{
    enum tac_err err;
    const struct tac_pair *p = &active->pair[slot];
    if (!p->shared)
        return TAC_OK;
    TAC_TRY(tac_grow(ctx, &ranks->order, &ranks->order_capacity, ranks->order_count + 1, sizeof *ranks->order));
    struct tac_order *o = &ranks->order[ranks->order_count++];
    *o = (struct tac_order){.key = p->key, .count = p->count, .drop = drop, .d = p->d_tick};
    memcpy(o->v, p->v, sizeof o->v);
done:
    return err;
}

/* ---- sleep: all owners of a shared pair skip the same ticks, so they use a speed that one of them sends ---- */

static enum tac_err set_sleep_speed(struct tac_sim *sim, int32_t slot, double speed)
{
    enum tac_err err;
    struct tac_ranks *r = sim->ranks;
    TAC_TRY(tac_grow(sim->ctx, &r->speed, &r->speed_capacity, r->speed_count + 1, sizeof *r->speed));
    r->speed[r->speed_count++] = (struct tac_sleep_speed){slot, speed};
    sim->active.pair[slot].speed = speed;
done:
    return err;
}

enum tac_err tac_order_awake(struct tac_sim *sim, int32_t slot)
{
    return sim->active.pair[slot].shared ? set_sleep_speed(sim, slot, 0) : TAC_OK;
}

enum tac_err tac_order_sleep_speeds(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    for (size_t k = 0; k < sim->active.pair_count && sim->ranks; k++) {
        const struct tac_pair *p = &sim->active.pair[k];
        if (!p->live || !p->shared || !tac_decides_pair(sim->model, &sim->state, p))
            continue;
        const bool known = sim->state.now >= p->seen_awake && p->seen_speed < INFINITY;
        const double speed = known ? p->seen_speed : 0;
        if (speed != p->speed)
            TAC_TRY(set_sleep_speed(sim, (int32_t)k, speed));
    }
done:
    return err;
}

/* ---- messages ---- */

/* Does the rank own one of those of the n vertices that can move? */
static bool concerns_rank(const struct tac_sim *sim, const tac_lid *v, int n, int rank)
{
    for (int i = 0; i < n; i++)
        if (tac_model_takes_part(sim->model, v[i]) && tac_scene_owner(sim->ctx, sim->scene, v[i]) == rank)
            return true;
    return false;
}

/* The head of a message that is not empty: the numbers of commands and of speeds that follow. */
struct head {
    int64_t commands, speeds;
};

struct speed_message {
    uint64_t key;
    double speed;
};

static bool speed_concerns_rank(const struct tac_sim *sim, const struct tac_sleep_speed *speed, int rank)
{
    const struct tac_pair *p = &sim->active.pair[speed->slot];
    return concerns_rank(sim, p->v, p->count, rank);
}

static size_t fill_orders(void *self, struct tac_neighbor *n)
{
    struct tac_sim *sim = self;
    const struct tac_ranks *r = sim->ranks;
    struct head head = {0, 0};
    for (size_t k = 0; k < r->order_count; k++)
        head.commands += concerns_rank(sim, r->order[k].v, r->order[k].count, n->rank);
    for (size_t k = 0; k < r->speed_count; k++)
        head.speeds += speed_concerns_rank(sim, &r->speed[k], n->rank);
    if (head.commands + head.speeds == 0)
        return 0;
    const size_t bytes = sizeof head + (size_t)head.commands * sizeof(struct command) +
                         (size_t)head.speeds * sizeof(struct speed_message);
    if (!tac_halo_room(&sim->ranks->halo, n, bytes))
        return 0;
    memcpy(n->report, &head, sizeof head);
    struct command *command = (struct command *)(n->report + sizeof head);
    for (size_t k = 0; k < r->order_count; k++) {
        const struct tac_order *o = &r->order[k];
        if (!concerns_rank(sim, o->v, o->count, n->rank))
            continue;
        memset(command, 0, sizeof *command);
        command->key = o->key;
        command->drop = o->drop;
        command->d = o->d;
        for (int i = 0; i < o->count; i++)
            tac_ghost_describe(sim->scene, o->v[i], &command->vertex[i]);
        command++;
    }
    struct speed_message *speed = (struct speed_message *)command;
    for (size_t k = 0; k < r->speed_count; k++)
        if (speed_concerns_rank(sim, &r->speed[k], n->rank))
            *speed++ = (struct speed_message){sim->active.pair[r->speed[k].slot].key, r->speed[k].speed};
    return bytes;
}

static enum tac_err obey_order(struct tac_sim *sim, const struct command *command)
{
    enum tac_err err = TAC_OK;
    int32_t slot;
    tac_lid v[4] = {-1, -1, -1, -1};
    if (command->drop) {
        slot = tac_active_find(&sim->active, command->key);
        TAC_CHECK(slot >= 0);
        tac_active_drop(sim, slot);
        return TAC_OK;
    }
    for (int i = 0; i < tac_pair_vertices(tac_key_type(command->key)); i++)
        TAC_TRY(tac_ghost_add(&sim->ranks->halo, &command->vertex[i], &v[i]));
    TAC_TRY(tac_activate(sim, command->key, v, &slot));
    tac_prime(&sim->active, &sim->state, slot, command->d);
done:
    return err;
}

static void receive_orders(void *self, struct tac_neighbor *n)
{
    struct tac_sim *sim = self;
    struct head head;
    if (n->heard_count == 0)
        return;
    memcpy(&head, n->heard, sizeof head);
    const struct command *command = (const struct command *)(n->heard + sizeof head);
    const struct speed_message *speed = (const struct speed_message *)(command + head.commands);
    for (int64_t k = 0; k < head.commands; k++)
        tac_ranks_failed(sim->ranks, obey_order(sim, &command[k]));
    for (int64_t k = 0; k < head.speeds && !tac_ranks_down(sim->ranks); k++) {
        const int32_t slot = tac_active_find(&sim->active, speed[k].key);
        TAC_CHECK(slot >= 0);
        sim->active.pair[slot].speed = speed[k].speed;
    }
}

void tac_orders_exchange(struct tac_sim *sim)
{
    if (!sim->ranks)
        return;
    tac_halo_exchange(&sim->ranks->halo, TAG_ORDERS, fill_orders, receive_orders, sim);
    sim->ranks->order_count = sim->ranks->speed_count = 0;
}
