/* damping.c: ticks dampers, and books the energy that they take (docs/reference/engine.md, Damping and plasticity). */
#include "events/sim.h"
#include <string.h>

enum tac_err tac_damping_create(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    if (!sim->elastic->damps)
        return TAC_OK;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->state.owned, sizeof *sim->books.damped, &sim->books.damped));
done:
    return err;
}

void tac_damping_save(struct tac_books *books, const struct tac_vertex_state *state)
{
    for (tac_lid i = 0; books->damped && i < state->owned; i++)
        books->damped[i].t = -1;
}

bool tac_damping_begin(struct tac_sim *sim, tac_time t)
{
    bool any = false;
    for (size_t i = 0; i < sim->clocks.due_elastic_count; i++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[sim->clocks.due_elastic[i]];
        any |= rate->damper_count > 0;
        for (size_t k = 0; k < rate->damped_count; k++) {
            struct tac_damped *d = &sim->books.damped[rate->damped[k]];
            memcpy(d->before, sim->state.vel[rate->damped[k]].v, sizeof d->before);
            d->t = t;
        }
    }
    return any;
}

void tac_damping_kick(struct tac_sim *sim, tac_time t)
{
    for (size_t i = 0; i < sim->clocks.due_elastic_count; i++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[sim->clocks.due_elastic[i]];
        for (size_t k = 0; k < rate->damped_count; k++)
            memcpy(sim->books.damped[rate->damped[k]].change, sim->state.vel[rate->damped[k]].v, 3 * sizeof(double));
        for (int g = 0; g < rate->group_count; g++)
            if (rate->group[g].damper.held_count) /* before the strains of the last tick are gone */
                tac_held_works(sim, rate, &rate->group[g], true, t);
    }
    for (size_t i = 0; i < sim->clocks.due_elastic_count; i++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[sim->clocks.due_elastic[i]];
        sim->books.ticks[TAC_KIND_DAMPING] += (int64_t)rate->damper_mine;
        if (rate->damper_count)
            tac_damping_tick(rate, sim->state.pos, sim->state.vel, &sim->books.book);
    }
    for (size_t i = 0; i < sim->clocks.due_elastic_count; i++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[sim->clocks.due_elastic[i]];
        for (size_t k = 0; k < rate->damped_count; k++) {
            struct tac_damped *d = &sim->books.damped[rate->damped[k]];
            const double *v = sim->state.vel[rate->damped[k]].v;
            if (d->t != t) /* free clocks: another class' list had it */
                continue;
            d->t = -t;
            for (int c = 0; c < 3; c++)
                d->change[c] = v[c] - d->change[c];
        }
    }
}

void tac_damping_end(struct tac_sim *sim, tac_time t)
{
    for (size_t i = 0; i < sim->clocks.due_elastic_count; i++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[sim->clocks.due_elastic[i]];
        for (size_t k = 0; k < rate->damped_count; k++) {
            const tac_lid v = rate->damped[k];
            struct tac_damped *d = &sim->books.damped[v];
            const double *after = sim->state.vel[v].v, m = sim->state.mass[v];
            if (d->t != -t || sim->state.vel[v].w == 0)
                continue;
            d->t = -1;
            double work = 0;
            for (int c = 0; c < 3; c++)
                work += d->change[c] * (after[c] + d->before[c]);
            work *= .5 * m;
            tac_accum_add(&sim->books.losses.damping, -work); /* its owner alone has its velocity */
            if (t == sim->books.kept_at)
                tac_accum_add(&sim->books.damping_ahead, -.5 * work);
        }
    }
}
