/* orders.c: messages between the owners of a pair: one layer group more is active, or one layer group less
 * (docs/distribution.md, A pass). */
#include "events/ranks.h"
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

static bool concerns(const struct tac_sim *sim, const struct tac_order *o, int rank)
{
    for (int i = 0; i < o->count; i++)
        if (tac_model_takes_part(sim->model, o->v[i]) && tac_sim_owner(sim, o->v[i]) == rank)
            return true;
    return false;
}

static size_t fill(void *self, struct tac_neighbor *n)
{
    struct tac_sim *sim = self;
    const struct tac_ranks *r = sim->ranks;
    size_t count = 0;
    for (size_t k = 0; k < r->order_count; k++)
        count += concerns(sim, &r->order[k], n->rank);
    if (!tac_halo_room(&sim->ranks->halo, n, count * sizeof(struct command) + 1))
        return 0;
    struct command *command = (struct command *)n->told;
    for (size_t k = 0; k < r->order_count; k++) {
        const struct tac_order *o = &r->order[k];
        if (!concerns(sim, o, n->rank))
            continue;
        memset(command, 0, sizeof *command);
        command->key = o->key;
        command->drop = o->drop;
        command->d = o->d;
        for (int i = 0; i < o->count; i++)
            tac_ghost_describe(sim->scene, o->v[i], &command->vertex[i]);
        command++;
    }
    return count * sizeof *command;
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
    const struct command *command = (const struct command *)n->heard;
    for (size_t k = 0; k < n->heard_count / sizeof *command; k++)
        tac_ranks_failed(sim, obey(sim, &command[k]));
}

void tac_orders_exchange(struct tac_sim *sim)
{
    if (!sim->ranks)
        return;
    tac_halo_exchange(&sim->ranks->halo, TAG_ORDERS, fill, hear, sim);
    sim->ranks->order_count = 0;
}
