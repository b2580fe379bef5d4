/* Kinetic data structures as a way of discovery (design 3.2): from instant to instant, and before each one all
 * certificates that may fail before it are renewed or replaced.  What has been run is right: nothing is run twice. */
#include "events/kinetic.h"
#include "events/ranks.h"
#include "kds/flights.h"
#include <stdlib.h>

enum { INSTANTS_AT_LEAST = 64, TICKS_PER_VERTEX = 2, TICKS_AT_LEAST = 256 };

static enum tac_err create(struct tac_sim *sim)
{
    enum tac_err err;
    struct tac_candidates *c = NULL;
    TAC_TRY(tac_candidates_create(sim, &c));
    err = tac_kinetic_create(sim, c, &sim->kinetic);
    if (!err)
        err = tac_alloc(sim->ctx, (size_t)sim->owned, sizeof *sim->kicked, &sim->kicked);
    if (!err)
        c->farthest = fmin(c->farthest, sim->kinetic->farthest);
    TAC_TRY(tac_agree(sim->ctx, err)); /* nobody talks until everybody can */
    if (sim->ranks) {
        sim->candidates = c;
        c = NULL;
        TAC_TRY(tac_kinetic_together(sim));
    }
done:
    tac_candidates_destroy(&c);
    return err;
}

static void destroy(struct tac_sim *sim)
{
    tac_kinetic_destroy(&sim->kinetic);
    tac_flights_destroy(&sim->flights);
    tac_candidates_destroy(&sim->candidates);
    free(sim->kicked);
    sim->kicked = NULL;
}

/* Who was kicked: do they keep to their plans?  Whom elastic forces, gravity and the like kick is listed by class; whom
 * contacts brought, by the pass. */
static void check_plans(struct tac_sim *sim)
{
    struct tac_kinetic *k = sim->kinetic;
    for (size_t i = 0; i < sim->due_elastic_count; i++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[sim->due_elastic[i]];
        for (size_t j = 0; j < rate->vertex_count; j++)
            if (sim->vel[rate->vertex[j]].w != 0)
                tac_kinetic_check(k, rate->vertex[j]);
    }
    for (size_t i = 0; i < sim->kicked_count; i++)
        tac_kinetic_check(k, sim->kicked[i]);
}

/* The next instant, and that nothing unwatched acts until then.  *next: it, or `limit` if nothing is due before
 * (*due false). */
static enum tac_err prove_next(struct tac_sim *sim, tac_time limit, tac_time *next, bool *due)
{
    enum tac_err err;
    struct tac_kinetic *k = sim->kinetic;
    tac_time t = tac_clock_next(sim, sim->now, limit), proven;
    const int64_t found = sim->counters.contacts_found;
    TAC_TRY(tac_kinetic_prove(k, t == TAC_TIME_NEVER ? limit : t, &proven));
    if (sim->counters.contacts_found != found) { /* else what is due stands; a heap of clocks is beyond it */
        TAC_TRY(tac_clock_start(sim));
        t = tac_clock_next(sim, sim->now, limit);
    }
    *due = t != TAC_TIME_NEVER;
    *next = *due ? t : limit;
done:
    return err;
}

static int64_t ticks_of(const struct tac_sim *sim)
{
    int64_t sum = 0;
    for (int k = 0; k < TAC_KINDS; k++)
        sum += sim->ticks[k];
    return sum;
}

enum tac_err tac_kinetic_step(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err;
    struct tac_kinetic *k = sim->kinetic;
    const double begin_s = tac_wall_s();
    tac_time t;
    bool due;
    TAC_TRY(prove_next(sim, limit, &t, &due));
    if (k->stuck_at < TAC_TIME_NEVER)
        goto done;
    const double proven_s = tac_wall_s(), waited_s = tac_pass_waited(sim);
    sim->counters.seconds_discovery += proven_s - begin_s;
    sim->break_count = sim->kicked_count = 0;
    if (due)
        tac_pass_step(sim, t);
    const double run_s = tac_wall_s();
    tac_pass_took(sim, run_s - proven_s, tac_pass_waited(sim) - waited_s);
    sim->now = t;
    if (due)
        check_plans(sim);
    sim->counters.seconds_plans += tac_wall_s() - run_s;
    TAC_TRY(tac_kinetic_replan(k));
    sim->counters.seconds_discovery += tac_wall_s() - run_s;
done:
    return err;
}

static enum tac_err advance(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err;
    struct tac_kinetic *k = sim->kinetic;
    if (sim->ranks)
        return tac_kinetic_advance_together(sim, limit);
    int64_t tell[TAC_TELLS] = {0};
    double begin_s = tac_wall_s();
    TAC_TRY(tac_pass_begin(sim));
    sim->kept_at = -1;
    TAC_TRY(tac_kinetic_begin(k));
    TAC_TRY(tac_clock_start(sim));
    sim->counters.seconds_discovery += tac_wall_s() - begin_s;
    const int64_t most = TICKS_PER_VERTEX * (int64_t)sim->owned + TICKS_AT_LEAST;
    for (int instants = 0; sim->now < limit && k->bad < 0 && k->stuck_at == TAC_TIME_NEVER; instants++) {
        if (instants >= INSTANTS_AT_LEAST && ticks_of(sim) >= most)
            break;
        TAC_TRY(tac_kinetic_step(sim, limit));
    }
    if (k->bad >= 0) {
        err = tac_sim_not_finite(sim, tac_sim_id(sim, k->bad), sim->now);
        goto done;
    }
    for (int i = 0; i < TAC_KINDS; i++)
        sim->counters.executed[i] += sim->ticks[i];
    TAC_TRY(tac_ranks_reduce(sim, tell));
    /* Up to where a nest ends all is straight, and rungs that tick before that are silent. */
    const bool stuck = k->stuck_at < TAC_TIME_NEVER;
    TAC_TRY(tac_pass_commit(sim, stuck ? k->stuck_at : sim->now));
    if (stuck) {
        err = tac_sim_stuck(sim);
        goto done;
    }
    begin_s = tac_wall_s();
    TAC_TRY(tac_kinetic_tidy(k));
    sim->counters.seconds_discovery += tac_wall_s() - begin_s;
done:
    return err;
}

const struct tac_discovery tac_discovery_kinetic = {"kds", create, advance, destroy};
