/* deepen.c: layer groups that are added in mid-pass, because a pair will come under the next one soon
 * (docs/reference/engine.md, Windows).
 *
 * With nested clocks there is a class for each period, and one rank alone makes room before the pass. With free clocks
 * the layer group may need a class of its own, between those that tick at this instant, so it is added when all of the
 * instant has ticked, and room for it is made then. */
#include "contact/friction.h"
#include "events/clock/rate_groups.h"
#include "events/ranks/ranks.h"

enum { SHARED_BIRTHS = 32 /* of a pair of several ranks in a pass, with free clocks */ };

/* Handles a lack of memory: on several ranks all hear of it at the end of the pass; on one rank the pass ends now. */
static void report_no_memory(struct tac_sim *sim, enum tac_err err)
{
    if (tac_ranks_halo(sim->ranks))
        tac_ranks_failed(sim->ranks, err);
    else if (err)
        sim->control.failed = err;
}

/* Makes more room in mid-pass: if several ranks evaluate a pair, each of them must have the room. */
static bool make_room(struct tac_sim *sim, struct tac_rate_group *c)
{
    enum tac_err err;
    TAC_TRY(tac_grow(sim->ctx, &c->extra, &c->extra_capacity, c->extra_count + 1, sizeof *c->extra));
    TAC_TRY(tac_grow(sim->ctx, &sim->active.birth, &sim->active.birth_capacity, sim->active.birth_count + 1,
                     sizeof *sim->active.birth));
    TAC_TRY(tac_friction_reserve(sim->ctx, &sim->active, 1));
done:
    report_no_memory(sim, err);
    return err != TAC_OK;
}

/* Finds the class of a period. If it had no layer group, it ticks from t on. */
static enum tac_err class_from(struct tac_sim *sim, tac_time period, tac_time t, size_t *index)
{
    enum tac_err err;
    const size_t before = sim->active.rate_group_count;
    TAC_TRY(tac_rate_group_of(sim, period, index));
    if (sim->scene->settings->clocks.mode == TAC_CLOCKS_NESTED)
        goto done;
    if (sim->active.rate_group_count > before)
        TAC_TRY(tac_clock_shift(sim, *index));
    const struct tac_rate_group *c = &sim->active.rate_group[*index];
    if (c->count + c->extra_count == 0)
        TAC_TRY(tac_clock_add(sim, *index, t));
done:
    return err;
}

/* Free clocks: has a pair of several ranks become deeper so often in this pass that the rest of the pass would consist
 * of messages? Each of its layers ticks, and is sent, at instants of its own. All owners decide this alike. */
static bool is_full(const struct tac_sim *sim, const struct tac_pair *p)
{
    return sim->scene->settings->clocks.mode == TAC_CLOCKS_FREE && p->shared && p->births >= SHARED_BIRTHS;
}

/* Activates one more layer group of the pair from t on. Returns false if there is no room or no further layer. */
static bool activate_next_group(struct tac_sim *sim, int32_t slot, tac_time t)
{
    struct tac_pair *p = &sim->active.pair[slot];
    int32_t first = p->depth + 1, last;
    if (p->depth >= p->form.bottom || is_full(sim, p))
        return false;
    tac_time period = tac_model_layer_group(sim->model, &p->form, first, &last);
    if ((sim->paths.end - t) / (2 * sim->windows.ticks) > period) {
        /* Most of its ticks would be silent: rather a shorter window (windows.h). All owners find so alike. */
        sim->windows.period_wanted = period < sim->windows.period_wanted ? period : sim->windows.period_wanted;
        return false;
    }
    size_t index;
    const enum tac_err err = class_from(sim, period, t, &index);
    if (err) {
        report_no_memory(sim, err);
        return false;
    }
    struct tac_rate_group *c = &sim->active.rate_group[index];
    if (tac_ranks_halo(sim->ranks) || sim->scene->settings->clocks.mode == TAC_CLOCKS_FREE) {
        if (make_room(sim, c)) /* all owners of a pair must decide alike */
            return false;
    } else if (c->extra_count == c->extra_capacity || sim->active.birth_count == sim->active.birth_capacity) {
        c->extra_wanted = c->extra_count == c->extra_capacity ? 2 * c->extra_capacity : c->extra_wanted;
        return false;
    }
    tac_groups_append(&sim->active, sim->model, c, slot, first, last, t);
    sim->active.first_rate_group = index < sim->active.first_rate_group ? index : sim->active.first_rate_group;
    int32_t birth = (int32_t)sim->active.birth_count++;
    sim->active.birth[birth] = (struct tac_birth){slot, -1, t, p->next, p->d_least, p->deep_period};
    if (p->births++ == 0) {
        p->first_birth = birth;
    } else {
        int32_t k = p->first_birth;
        while (sim->active.birth[k].following >= 0)
            k = sim->active.birth[k].following;
        sim->active.birth[k].following = birth;
    }
    tac_active_deepest(sim, p, first, last, period);
    if (p->shared)
        tac_ranks_deepen(sim, p, period);
    return true;
}

static bool activate_while_soon(struct tac_sim *sim, int32_t slot, tac_time t, double d, double speed)
{
    struct tac_pair *p = &sim->active.pair[slot];
    while (tac_pair_is_soon(p, d, speed * tac_state_seconds(&sim->state, p->deep_period))) {
        if (!activate_next_group(sim, slot, t))
            return false;
        p->d_least = d;
    }
    return true;
}

bool tac_active_foresee(struct tac_sim *sim, int32_t slot, tac_time t, double d, double speed)
{
    struct tac_active *active = &sim->active;
    enum tac_err err;
    if (sim->scene->settings->clocks.mode == TAC_CLOCKS_NESTED)
        return activate_while_soon(sim, slot, t, d, speed);
    TAC_TRY(tac_grow(sim->ctx, &active->deeper, &active->deeper_capacity, active->deeper_count + 1,
                     sizeof *active->deeper));
    active->deeper[active->deeper_count++] = (struct tac_deeper){slot, d, speed};
done:
    report_no_memory(sim, err);
    return err == TAC_OK;
}

void tac_active_deepen(struct tac_sim *sim, tac_time t)
{
    for (size_t k = 0; k < sim->active.deeper_count; k++) {
        const struct tac_deeper *deeper = &sim->active.deeper[k];
        if (!activate_while_soon(sim, deeper->slot, t, deeper->d, deeper->speed) && !tac_ranks_halo(sim->ranks))
            sim->control.stop = TAC_STOP_ABORT; /* on several ranks a miss is found */
    }
    sim->active.deeper_count = 0;
}
