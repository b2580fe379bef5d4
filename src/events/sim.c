#include "events/sim.h"
#include <stdlib.h>
#include <string.h>

static enum tac_err make_state(struct tac_sim *sim)
{
    enum tac_err err;
    const struct tac_scene *s = sim->scene;
    const size_t n = (size_t)s->vertex_count;
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->pos, &sim->pos));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->vel, &sim->vel));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->mass, &sim->mass));
    TAC_TRY(tac_alloc(sim->ctx, 3 * n, sizeof *sim->impulse, &sim->impulse));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->script_of, &sim->script_of));
    TAC_TRY(tac_alloc(sim->ctx, 3 * n, sizeof *sim->v_before, &sim->v_before));
    if (sim->contact) {
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->line, &sim->line));
        TAC_TRY(tac_alloc(sim->ctx, 3 * n, sizeof *sim->impulse_start, &sim->impulse_start));
        TAC_TRY(tac_alloc(sim->ctx, n, 1, &sim->near));
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->near_pairs, &sim->near_pairs));
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->break_head, &sim->break_head));
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->break_first, &sim->break_first));
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->near_list, &sim->near_list));
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(sim->pos[i].x, &s->x[3 * i], sizeof sim->pos[i].x);
        memcpy(sim->vel[i].v, &s->v[3 * i], sizeof sim->vel[i].v);
        sim->vel[i].w = sim->model->w_ever[i];
        sim->mass[i] = s->mass[i];
        sim->script_of[i] = -1;
    }
done:
    return err;
}

static enum tac_err no_discovery(struct tac_sim *sim)
{
    (void)sim;
    return TAC_OK;
}

static void nothing(struct tac_sim *sim)
{
    (void)sim;
}

/* Contact off: nothing to look for. Cut into stretches so that a run can be watched and stopped. */
static enum tac_err advance_freely(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err;
    tac_time stretch = sim->elastic->class_count ? 256 * sim->elastic->rate[0].period : limit - sim->now;
    tac_time end = limit - sim->now > stretch ? sim->now + stretch : limit;
    TAC_TRY(tac_pass_begin(sim));
    TAC_TRY(tac_pass_commit(sim, tac_pass_run(sim, end)));
done:
    return err;
}

const struct tac_discovery tac_discovery_none = {"none", no_discovery, advance_freely, nothing};

enum tac_err tac_sim_create(struct tac_ctx *ctx, const struct tac_scene *scene, enum tac_discovery_mode mode,
                            struct tac_sim **out)
{
    enum tac_err err;
    struct tac_sim *sim = NULL;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *sim, &sim));
    sim->ctx = ctx;
    sim->scene = scene;
    sim->mode = mode;
    sim->quantum = scene->quantum_s;
    sim->next_knot = TAC_TIME_NEVER;
    sim->before_at = sim->kept_at = -1;
    TAC_TRY(tac_elastic_create(ctx, scene, &sim->elastic));
    TAC_TRY(tac_model_create(ctx, scene, &sim->model));
    sim->contact = scene->contact.thickness > 0 && sim->model->h1_max_s > 0;
    sim->discovery = !sim->contact                    ? &tac_discovery_none
                     : mode == TAC_DISCOVER_ALL_PAIRS ? &tac_discovery_all_pairs
                                                      : &tac_discovery_speculate;
    TAC_TRY(make_state(sim));
    TAC_TRY(tac_alloc(ctx, sim->elastic->class_count, sizeof *sim->due_elastic, &sim->due_elastic));
    if (sim->contact)
        TAC_TRY(tac_watch_create(sim));
    TAC_TRY(tac_scripts_create(sim));
    tac_scripts_apply(sim);
    sim->kinetic_start = tac_sim_kinetic(sim);
    TAC_TRY(sim->discovery->create(sim));
done:
    if (err)
        tac_sim_destroy(&sim);
    *out = sim;
    return err;
}

void tac_sim_destroy(struct tac_sim **out)
{
    struct tac_sim *sim = *out;
    if (sim == NULL)
        return;
    if (sim->discovery)
        sim->discovery->destroy(sim);
    tac_watch_destroy(sim);
    tac_elastic_destroy(&sim->elastic);
    tac_model_destroy(&sim->model);
    free(sim->pos);
    free(sim->vel);
    free(sim->mass);
    free(sim->impulse);
    free(sim->script_of);
    free(sim->v_before);
    free(sim->line);
    free(sim->impulse_start);
    free(sim->near);
    free(sim->near_pairs);
    free(sim->break_head);
    free(sim->break_first);
    free(sim->near_list);
    free(sim->breaks);
    free(sim->heap);
    free(sim->due_elastic);
    free(sim->due_rung);
    free(sim->script);
    free(sim->knot);
    free(sim);
    *out = NULL;
}

enum tac_err tac_sim_advance(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err = TAC_OK;
    TAC_CHECK(limit > sim->now);
    if (sim->next_knot < limit)
        limit = sim->next_knot;
    TAC_TRY(sim->discovery->advance(sim, limit));
    if (sim->now == sim->next_knot)
        tac_scripts_apply(sim);
done:
    return err;
}

/* Distance of a pair at its own next tick, if nothing kicks it before, and the point between the two. */
static double next_tick(const struct tac_sim *sim, const struct tac_pair *p, tac_time *t, double at[3])
{
    double x[4][3];
    struct tac_near near;
    *t = (sim->now / p->deep_period + 1) * p->deep_period;
    for (int i = 0; i < p->count; i++)
        tac_position(sim, p->v[i], *t, x[i]);
    tac_near_pair((enum tac_pair_type)p->type, x, &near);
    for (int k = 0; k < 3; k++) {
        at[k] = 0;
        for (int i = 0; i < p->count; i++)
            at[k] += .5 * fabs(near.w[i]) * x[i][k];
    }
    return near.d;
}

/* All modes of discovery come here in the same stretch between two instants, if not at the same time in it, nor with
 * the same pair of several. So the sentence follows from the state alone: of all pairs at their bottom that will be
 * found through it at their next tick, the one that ticks first, with the lowest key. */
enum tac_err tac_sim_stuck(struct tac_sim *sim, const struct tac_pair *found)
{
    const struct tac_pair *stuck = found;
    tac_time first, t;
    double at[3], place[3];
    char what[256];
    bool through = next_tick(sim, found, &first, at) < found->next;
    for (size_t k = 0; k < sim->pair_count; k++) {
        const struct tac_pair *p = &sim->pair[k];
        if (!p->live || p->depth < p->form.bottom || !(next_tick(sim, p, &t, place) < p->next) ||
            (through && (t > first || (t == first && p->key >= stuck->key))))
            continue;
        through = true;
        stuck = p;
        first = t;
        memcpy(at, place, sizeof at);
    }
    tac_key_describe(sim->scene, stuck->key, what, sizeof what);
    return tac_fail(
        sim->ctx, TAC_ERR_RUN,
        "the scene cannot go on at t = %.9g s: %s near (%.6g, %.6g, %.6g) are pressed through all %d layers between "
        "them, to %.3g m; leave them room, slow what presses them, or make contact.min_period_s shorter",
        tac_seconds(sim, first), what, at[0], at[1], at[2], stuck->form.bottom, stuck->next);
}
