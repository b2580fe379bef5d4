/* kinetic_windows.c: contact discovery by kinetic data structures (docs/reference/kinetic.md; ACM 2009, section 5): the
 * simulation goes from instant to instant, and before each one all certificates that may fail before it are renewed or
 * replaced. So nothing is run twice. */
#include "events/windows/kinetic_windows.h"
#include "events/ranks/ranks.h"
#include <stdlib.h>

/* The end of a window visits all vertices and all active pairs, so a window has at least as many ticks as that costs.
 */
enum { INSTANTS_AT_LEAST = 64, TICKS_PER_VERTEX = 2, TICKS_PER_PAIR = 4, TICKS_AT_LEAST = 256 };

static enum tac_err create_kinetic(struct tac_sim *sim)
{
    enum tac_err err;
    struct tac_candidates *c = NULL;
    TAC_TRY(tac_candidates_create(&sim->view, &c));
    err = tac_kinetic_create(&sim->view, c, &sim->find.kinetic);
    if (!err)
        err = tac_alloc(sim->ctx, (size_t)sim->state.owned, sizeof *sim->find.kicked, &sim->find.kicked);
    TAC_TRY(tac_agree(sim->ctx, err)); /* nobody talks until everybody can */
    if (tac_ranks_halo(sim->ranks)) {
        sim->view.candidates = c;
        c = NULL;
        TAC_TRY(tac_kinetic_together(sim));
    }
done:
    tac_candidates_destroy(&c);
    return err;
}

static void destroy_kinetic(struct tac_sim *sim)
{
    tac_kinetic_destroy(&sim->find.kinetic);
    tac_candidates_destroy(&sim->view.candidates);
    free(sim->find.kicked);
    sim->find.kicked = NULL;
}

/* Checks whether the vertices that were kicked stay in their plans. Those kicked by elastic forces, gravity and loads
 * are listed by class; those moved by contacts are listed by the pass. */
static void check_plans(struct tac_sim *sim)
{
    struct tac_kinetic *k = sim->find.kinetic;
    for (size_t i = 0; i < sim->clocks.due_elastic_count; i++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[sim->clocks.due_elastic[i]];
        for (size_t j = 0; j < rate->vertex_count; j++)
            if (sim->state.vel[rate->vertex[j]].w != 0)
                tac_kinetic_check(k, rate->vertex[j]);
    }
    for (size_t i = 0; i < sim->find.kicked_count; i++)
        tac_kinetic_check(k, sim->find.kicked[i]);
}

/* Finds the next instant and proves that no inactive layer acts until then. *next: the instant, or `limit` if no force
 * is due before (then *due is false). */
static enum tac_err prove_next(struct tac_sim *sim, tac_time limit, tac_time *next, bool *due)
{
    enum tac_err err;
    struct tac_kinetic *k = sim->find.kinetic;
    tac_time t = tac_clock_next(sim, sim->state.now, limit), proven;
    const int64_t found = sim->books.counters.contacts_found;
    TAC_TRY(tac_kinetic_prove(k, t == TAC_TIME_NEVER ? limit : t, &proven));
    if (sim->books.counters.contacts_found != found) { /* else what is due stands; a heap of clocks is beyond it */
        TAC_TRY(tac_clock_start(sim));
        t = tac_clock_next(sim, sim->state.now, limit);
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
        sum += sim->books.ticks[k];
    return sum;
}

enum tac_err tac_kinetic_step(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err;
    struct tac_kinetic *k = sim->find.kinetic;
    const double begin_s = tac_wall_s();
    tac_time t;
    bool due;
    TAC_TRY(prove_next(sim, limit, &t, &due));
    if (k->stuck_at < TAC_TIME_NEVER || k->cut_at < TAC_TIME_NEVER)
        goto done;
    const double proven_s = tac_wall_s(), waited_s = tac_pass_waited(&sim->books);
    sim->books.counters.seconds_discovery += proven_s - begin_s;
    sim->find.kicked_count = 0;
    if (!tac_ranks_halo(sim->ranks))
        sim->paths.break_count = 0;
    if (due)
        tac_pass_step(sim, t);
    const double run_s = tac_wall_s();
    tac_pass_took(&sim->books, run_s - proven_s, tac_pass_waited(&sim->books) - waited_s);
    sim->state.now = t;
    if (due)
        check_plans(sim);
    sim->books.counters.seconds_plans += tac_wall_s() - run_s;
    /* A silent tick brings nobody up. */
    TAC_TRY(tac_kinetic_replan(k, due && (sim->clocks.due_elastic_count > 0 || sim->find.kicked_count > 0)));
    sim->books.counters.seconds_discovery += tac_wall_s() - run_s;
done:
    return err;
}

static enum tac_err advance_kinetic(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err;
    struct tac_kinetic *k = sim->find.kinetic;
    if (tac_ranks_halo(sim->ranks))
        return tac_discovery_speculate.advance(sim, limit);
    int64_t tell[TAC_TELLS] = {0};
    double begin_s = tac_wall_s();
    TAC_TRY(tac_pass_begin(sim));
    sim->books.kept_at = -1;
    TAC_TRY(tac_kinetic_begin(k));
    TAC_TRY(tac_clock_start(sim));
    sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
    const int64_t most = TICKS_PER_VERTEX * (int64_t)sim->state.owned +
                         TICKS_PER_PAIR * (int64_t)sim->active.live_pairs + TICKS_AT_LEAST;
    for (int instants = 0; sim->state.now < limit && k->bad < 0 && k->stuck_at == TAC_TIME_NEVER; instants++) {
        if (instants >= INSTANTS_AT_LEAST && ticks_of(sim) >= most)
            break;
        TAC_TRY(tac_kinetic_step(sim, limit));
    }
    if (k->bad >= 0) {
        err = tac_sim_not_finite(sim, tac_scene_id(sim->scene, k->bad), sim->state.now);
        goto done;
    }
    for (int i = 0; i < TAC_KINDS; i++)
        sim->books.counters.executed[i] += sim->books.ticks[i];
    TAC_TRY(tac_ranks_reduce(sim, tell));
    /* Up to where a layer stack ends all is straight, and layer groups that tick before that are silent. */
    const bool stuck = k->stuck_at < TAC_TIME_NEVER;
    TAC_TRY(tac_pass_commit(sim, stuck ? k->stuck_at : sim->state.now));
    if (stuck) {
        err = tac_sim_stuck(sim);
        goto done;
    }
    begin_s = tac_wall_s();
    TAC_TRY(tac_kinetic_tidy(k));
    sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
done:
    return err;
}

const struct tac_discovery tac_discovery_kinetic = {"kds", create_kinetic, advance_kinetic, destroy_kinetic};
