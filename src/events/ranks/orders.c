/* orders.c: messages between the owners of a pair: one layer group more is active, or one layer group less, or the
 * speed that its naps go by (docs/reference/ranks.md, A pass; docs/reference/engine.md, Sleep). */
#include "events/ranks/ranks.h"
#include <string.h>

enum { TAG_ORDERS = 15 };

/* On its way, with all that an owner must know who has never heard of the others. */
struct command {
    uint64_t key;
    int32_t drop;
    double d; /* distance now, m */
    struct tac_ghost vertex[4];
};

void tac_prime(struct tac_sim *sim, int32_t slot, double d)
{
    sim->active.pair[slot].d_tick = d;
    sim->active.pair[slot].t_tick = sim->state.now;
}

enum tac_err tac_order(struct tac_sim *sim, int32_t slot, bool drop)
{
    enum tac_err err;
    const struct tac_pair *p = &sim->active.pair[slot];
    struct tac_ranks *r = sim->ranks;
    if (!p->shared)
        return TAC_OK;
    TAC_TRY(tac_grow(sim->ctx, &r->order, &r->order_capacity, r->order_count + 1, sizeof *r->order));
    struct tac_order *o = &r->order[r->order_count++];
    *o = (struct tac_order){.key = p->key, .count = p->count, .drop = drop, .d = p->d_tick};
    memcpy(o->v, p->v, sizeof o->v);
done:
    return err;
}

/* ---- naps: all owners of a shared pair skip the same ticks, so they go by a speed that one of them tells ---- */

static enum tac_err set_pace(struct tac_sim *sim, int32_t slot, double speed)
{
    enum tac_err err;
    struct tac_ranks *r = sim->ranks;
    TAC_TRY(tac_grow(sim->ctx, &r->pace, &r->pace_capacity, r->pace_count + 1, sizeof *r->pace));
    r->pace[r->pace_count++] = (struct tac_nap_pace){slot, speed};
    sim->active.pair[slot].speed = speed;
done:
    return err;
}

enum tac_err tac_pace_stop(struct tac_sim *sim, int32_t slot)
{
    return sim->active.pair[slot].shared ? set_pace(sim, slot, 0) : TAC_OK;
}

enum tac_err tac_paces(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    for (size_t k = 0; k < sim->active.pair_count && sim->ranks; k++) {
        const struct tac_pair *p = &sim->active.pair[k];
        if (!p->live || !p->shared || !tac_sim_decides(sim, p))
            continue;
        const bool known = sim->state.now >= p->seen_awake && p->seen_speed < INFINITY;
        const double speed = known ? p->seen_speed : 0;
        if (speed != p->speed)
            TAC_TRY(set_pace(sim, (int32_t)k, speed));
    }
done:
    return err;
}

/* ---- messages ---- */

/* Is the rank among the owners of those of n vertices that can move? */
static bool concerns(const struct tac_sim *sim, const tac_lid *v, int n, int rank)
{
    for (int i = 0; i < n; i++)
        if (tac_model_takes_part(sim->model, v[i]) && tac_sim_owner(sim, v[i]) == rank)
            return true;
    return false;
}

/* What begins a message that is not empty: so many commands, then paces. */
struct head {
    int64_t commands, paces;
};

struct pace {
    uint64_t key;
    double speed;
};

static bool pace_concerns(const struct tac_sim *sim, const struct tac_nap_pace *pace, int rank)
{
    const struct tac_pair *p = &sim->active.pair[pace->slot];
    return concerns(sim, p->v, p->count, rank);
}

static size_t fill(void *self, struct tac_neighbor *n)
{
    struct tac_sim *sim = self;
    const struct tac_ranks *r = sim->ranks;
    struct head head = {0, 0};
    for (size_t k = 0; k < r->order_count; k++)
        head.commands += concerns(sim, r->order[k].v, r->order[k].count, n->rank);
    for (size_t k = 0; k < r->pace_count; k++)
        head.paces += pace_concerns(sim, &r->pace[k], n->rank);
    if (head.commands + head.paces == 0)
        return 0;
    const size_t bytes =
        sizeof head + (size_t)head.commands * sizeof(struct command) + (size_t)head.paces * sizeof(struct pace);
    if (!tac_halo_room(&sim->ranks->halo, n, bytes))
        return 0;
    memcpy(n->told, &head, sizeof head);
    struct command *command = (struct command *)(n->told + sizeof head);
    for (size_t k = 0; k < r->order_count; k++) {
        const struct tac_order *o = &r->order[k];
        if (!concerns(sim, o->v, o->count, n->rank))
            continue;
        memset(command, 0, sizeof *command);
        command->key = o->key;
        command->drop = o->drop;
        command->d = o->d;
        for (int i = 0; i < o->count; i++)
            tac_ghost_describe(sim->scene, o->v[i], &command->vertex[i]);
        command++;
    }
    struct pace *pace = (struct pace *)command;
    for (size_t k = 0; k < r->pace_count; k++)
        if (pace_concerns(sim, &r->pace[k], n->rank))
            *pace++ = (struct pace){sim->active.pair[r->pace[k].slot].key, r->pace[k].speed};
    return bytes;
}

static enum tac_err obey(struct tac_sim *sim, const struct command *command)
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
    tac_prime(sim, slot, command->d);
done:
    return err;
}

static void hear(void *self, struct tac_neighbor *n)
{
    struct tac_sim *sim = self;
    struct head head;
    if (n->heard_count == 0)
        return;
    memcpy(&head, n->heard, sizeof head);
    const struct command *command = (const struct command *)(n->heard + sizeof head);
    const struct pace *pace = (const struct pace *)(command + head.commands);
    for (int64_t k = 0; k < head.commands; k++)
        tac_ranks_failed(sim, obey(sim, &command[k]));
    for (int64_t k = 0; k < head.paces && !tac_ranks_down(sim); k++) {
        const int32_t slot = tac_active_find(&sim->active, pace[k].key);
        TAC_CHECK(slot >= 0);
        sim->active.pair[slot].speed = pace[k].speed;
    }
}

void tac_orders_exchange(struct tac_sim *sim)
{
    if (!sim->ranks)
        return;
    tac_halo_exchange(&sim->ranks->halo, TAG_ORDERS, fill, hear, sim);
    sim->ranks->order_count = sim->ranks->pace_count = 0;
}
