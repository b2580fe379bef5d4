/* activate.c: activates and deactivates pairs (contact/pairs) and their layer groups, and at the end of a window
 * commits or rolls back those that the window added. */
#include "contact/flat.h"
#include "contact/friction.h"
#include "events/clock/rate_groups.h"
#include "events/ranks/immovable.h"
#include "events/ranks/ranks.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_EXTRA = 64, BREAKS_PER_VERTEX = 128, SLEEPS_PER_PAIR = 8 /* a pair */ };

/* Finds the pair's deepest layer group. Sets its period, its last distance, and where the next one begins. */
static struct tac_layer_group *refresh_deepest(struct tac_sim *sim, struct tac_pair *p)
{
    int32_t begin = 0;
    const tac_time period = p->depth > 0 ? tac_model_group_of(sim->model, &p->form, p->depth, &begin) : 0;
    size_t index = 0;
    p->next = tac_model_reach(sim->model, &p->form, p->depth + 1);
    p->deep_period = period;
    p->deep_last = INFINITY;
    p->deep_first = begin;
    p->deep_reach = tac_model_reach(sim->model, &p->form, begin);
    if (p->depth == 0 || tac_rate_group_of(sim, period, &index) != TAC_OK)
        return NULL;
    struct tac_layer_group *group = tac_groups_find(&sim->active.rate_group[index], p->key, begin);
    if (group)
        p->deep_last = group->last_d;
    return group;
}

/* ---- activating ---- */

static enum tac_err new_pair(struct tac_sim *sim, uint64_t key, const tac_lid v[4], int32_t *slot)
{
    enum tac_err err;
    TAC_TRY(tac_pairs_add(sim->ctx, &sim->active, key, v, slot));
    struct tac_pair *p = &sim->active.pair[*slot];
    const int owner = tac_scene_owner(sim->ctx, sim->scene, tac_model_decider(sim->model, tac_key_type(key), v));
    for (int k = 0; k < p->count; k++)
        p->shared |= tac_model_takes_part(sim->model, v[k]) && tac_scene_owner(sim->ctx, sim->scene, v[k]) != owner;
    if (p->shared)
        tac_ranks_changed(sim->ranks);
    tac_model_form(sim->model, tac_key_type(key), p->v, &p->form);
    p->flat = tac_flat_edges(sim->scene, tac_key_type(key), p->v) & 7;
    p->next = tac_model_reach(sim->model, &p->form, 1);
    for (int k = 0; k < p->count; k++)
        if (sim->paths.near_pairs[p->v[k]]++ == 0) {
            sim->paths.near[p->v[k]] = sim->paths.running ? 2 : 1; /* its path has begun without breakpoints */
            sim->paths.break_head[p->v[k]] = -1;
            sim->paths.near_changed = true;
        }
done:
    return err;
}

void tac_active_deepest(struct tac_sim *sim, struct tac_pair *p, int32_t first, int32_t last, tac_time period)
{
    p->depth = last;
    p->groups++;
    p->deep_period = period;
    p->deep_last = INFINITY;
    p->deep_first = first;
    p->deep_reach = p->next;
    p->next = tac_model_reach(sim->model, &p->form, last + 1);
    sim->books.counters.contacts_found += tac_decides_pair(sim->model, &sim->state, p);
}

enum tac_err tac_activate(struct tac_sim *sim, uint64_t key, const tac_lid v[4], int32_t *slot)
{
    enum tac_err err = TAC_OK;
    size_t index;
    *slot = tac_active_find(&sim->active, key);
    if (*slot < 0)
        TAC_TRY(new_pair(sim, key, v, slot));
    struct tac_pair *p = &sim->active.pair[*slot];
    TAC_CHECK(p->depth < p->form.bottom);
    int32_t first = p->depth + 1, last;
    tac_time period = tac_model_layer_group(sim->model, &p->form, first, &last);
    TAC_TRY(tac_rate_group_of(sim, period, &index));
    struct tac_rate_group *c = &sim->active.rate_group[index];
    TAC_TRY(tac_grow(sim->ctx, &c->extra, &c->extra_capacity, c->extra_count + 1, sizeof *c->extra));
    TAC_TRY(tac_friction_reserve(sim->ctx, &sim->active, 1));
    c->extra[c->extra_count++] = tac_groups_new(&sim->active, sim->model, *slot, first, last, sim->state.now);
    tac_active_deepest(sim, p, first, last, period);
    if (p->shared)
        tac_ranks_changed(sim->ranks);
done:
    return err;
}

void tac_active_set_last(struct tac_sim *sim, int32_t slot, double last_d)
{
    struct tac_pair *p = &sim->active.pair[slot];
    size_t index;
    if (tac_rate_group_of(sim, p->deep_period, &index) != TAC_OK)
        return;
    struct tac_rate_group *c = &sim->active.rate_group[index];
    c->extra[c->extra_count - 1].last_d = p->deep_last = last_d;
}

static enum tac_err list_near(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    size_t near = 0;
    sim->paths.near_count = 0;
    /* Kinetic structures watch in mid-pass; and several ranks may have to run it again. */
    const bool all = sim->find.mode == TAC_DISCOVER_KDS && tac_ranks_halo(sim->ranks);
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        sim->paths.near[i] = sim->paths.near_pairs[i] > 0;
        near += sim->paths.near[i];
        if (all || sim->paths.near[i])
            sim->paths.near_list[sim->paths.near_count++] = i;
    }
    TAC_TRY(tac_immovable_list(sim, all));
    sim->paths.near_changed = false;
    /* Kinetic structures of one rank keep those of one instant. */
    const size_t each = sim->find.mode == TAC_DISCOVER_KDS && !sim->find.validates ? 1 : BREAKS_PER_VERTEX;
    TAC_TRY(tac_grow(sim->ctx, &sim->paths.breaks, &sim->paths.break_capacity,
                     near * each + (all ? sim->paths.near_count : 0) + 1024, sizeof *sim->paths.breaks));
done:
    return err;
}

enum tac_err tac_active_settle(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    if (!sim->contact)
        return TAC_OK;
    const bool nested = sim->scene->settings->clocks.mode == TAC_CLOCKS_NESTED;
    size_t groups = 0, room = 0;
    sim->active.first_rate_group = sim->active.rate_group_count;
    for (size_t k = 0; k < sim->active.rate_group_count; k++) {
        struct tac_rate_group *c = &sim->active.rate_group[k];
        TAC_TRY(tac_groups_settle(sim->ctx, c));
        if (c->count && sim->active.first_rate_group == sim->active.rate_group_count)
            sim->active.first_rate_group = k;
        groups += c->count;
        if (nested && k >= 12) {
            size_t want = sim->active.live_pairs < 512 ? sim->active.live_pairs + FIRST_EXTRA : 512 + FIRST_EXTRA;
            want = c->extra_wanted > want ? c->extra_wanted : want;
            TAC_TRY(tac_grow(sim->ctx, &c->extra, &c->extra_capacity, want, sizeof *c->extra));
        }
        room += c->extra_capacity;
    }
    sim->active.group_count = groups;
    TAC_TRY(tac_grow(sim->ctx, &sim->active.birth, &sim->active.birth_capacity, 4 * sim->active.live_pairs + 1024,
                     sizeof *sim->active.birth));
    TAC_TRY(tac_grow(sim->ctx, &sim->active.sleep, &sim->active.sleep_capacity,
                     SLEEPS_PER_PAIR * sim->active.live_pairs + 1024, sizeof *sim->active.sleep));
    TAC_TRY(tac_grow(sim->ctx, &sim->active.kept, &sim->active.kept_capacity, sim->active.live_pairs,
                     sizeof *sim->active.kept));
    TAC_TRY(tac_friction_reserve(sim->ctx, &sim->active, room));
    if (sim->paths.near_changed)
        TAC_TRY(list_near(sim));
done:
    return err;
}

enum tac_err tac_active_place(struct tac_sim *sim, int32_t slot)
{
    enum { FEW = 64 };
    enum tac_err err;
    size_t index;
    TAC_TRY(tac_rate_group_of(sim, sim->active.pair[slot].deep_period, &index));
    struct tac_rate_group *c = &sim->active.rate_group[index];
    const struct tac_layer_group group = c->extra[c->extra_count - 1];
    size_t k = c->extra_count - 1;
    for (; k > 0 && tac_groups_before(&group, &c->extra[k - 1]); k--)
        c->extra[k] = c->extra[k - 1];
    c->extra[k] = group;
    if (c->extra_count > FEW + c->count / 16)
        TAC_TRY(tac_groups_settle(sim->ctx, c));
    sim->active.first_rate_group = index < sim->active.first_rate_group ? index : sim->active.first_rate_group;
    sim->active.group_count++;
    TAC_TRY(tac_grow(sim->ctx, &sim->active.kept, &sim->active.kept_capacity, sim->active.live_pairs,
                     sizeof *sim->active.kept));
    TAC_TRY(tac_grow(sim->ctx, &sim->paths.breaks, &sim->paths.break_capacity, 4 * sim->active.live_pairs,
                     sizeof *sim->paths.breaks));
done:
    return err;
}

void tac_active_rollback(struct tac_sim *sim, tac_time committed)
{
    for (size_t k = 0; k < sim->active.rate_group_count; k++) {
        struct tac_rate_group *c = &sim->active.rate_group[k];
        for (size_t i = 0; i < c->count; i++)
            c->group[i].last_d = c->group[i].saved_d;
        size_t n = 0;
        for (size_t i = 0; i < c->extra_count; i++) {
            struct tac_layer_group *e = &c->extra[i];
            if (e->born > committed) {
                struct tac_pair *p = &sim->active.pair[e->pair];
                if (p->shared)
                    tac_ranks_changed(sim->ranks);
                p->depth = p->depth < e->first - 1 ? p->depth : e->first - 1;
                p->groups--;
                tac_friction_free(&sim->active, e->anchor);
            } else {
                e->last_d = INFINITY;
                c->extra[n++] = *e;
            }
        }
        c->extra_count = n;
    }
    for (size_t k = 0; k < sim->active.pair_count; k++)
        if (sim->active.pair[k].live) {
            sim->active.pair[k].births = 0;
            sim->active.pair[k].d_tick = sim->active.pair[k].d_tick_start;
            sim->active.pair[k].t_tick = sim->active.pair[k].t_tick_start;
            refresh_deepest(sim, &sim->active.pair[k]);
        }
    sim->active.birth_count = 0;
}

void tac_active_commit(struct tac_active *active)
{
    for (size_t k = 0; k < active->birth_count; k++)
        active->pair[active->birth[k].pair].births = 0;
    active->birth_count = 0;
}

void tac_active_drop(struct tac_sim *sim, int32_t slot)
{
    struct tac_pair *p = &sim->active.pair[slot];
    struct tac_layer_group *group = refresh_deepest(sim, p);
    if (p->shared)
        tac_ranks_changed(sim->ranks);
    size_t index;
    TAC_CHECK(group != NULL && group->last_d == INFINITY);
    if (tac_rate_group_of(sim, p->deep_period, &index) == TAC_OK)
        sim->active.rate_group[index].dropped++;
    group->pair = -1;
    tac_friction_free(&sim->active, group->anchor);
    p->depth = group->first - 1;
    p->groups--;
    p->d_tick = INFINITY;
    if (p->depth > 0) {
        refresh_deepest(sim, p);
        return;
    }
    tac_pairs_remove(&sim->active, slot);
    for (int k = 0; k < p->count; k++)
        if (--sim->paths.near_pairs[p->v[k]] == 0) {
            sim->paths.near[p->v[k]] = 0;
            sim->paths.near_changed = true;
        }
}

void tac_active_destroy(struct tac_active *active)
{
    for (size_t k = 0; k < active->rate_group_count; k++) {
        free(active->rate_group[k].group);
        free(active->rate_group[k].wake);
        free(active->rate_group[k].extra);
    }
    free(active->rate_group);
    free(active->pair);
    free(active->hash);
    free(active->free_slot);
    free(active->birth);
    free(active->deeper);
    free(active->sleep);
    free(active->kept);
    free(active->loss);
    free(active->lossy);
}
