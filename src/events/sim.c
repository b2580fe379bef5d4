#include "events/friction.h"
#include "events/path.h"
#include "events/ranks.h"
#include "io/record.h"
#include <stdlib.h>
#include <string.h>

static enum tac_err make_state(struct tac_sim *sim)
{
    enum tac_err err;
    const struct tac_scene *s = sim->scene;
    const size_t n = (size_t)sim->capacity;
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->pos, &sim->pos));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->vel, &sim->vel));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->mass, &sim->mass));
    TAC_TRY(tac_alloc(sim->ctx, 3 * n, sizeof *sim->impulse, &sim->impulse));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->script_of, &sim->script_of));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->owned, sizeof *sim->v_before, &sim->v_before));
    if (sim->contact) {
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->line, &sim->line));
        TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->owned, sizeof *sim->impulse_start, &sim->impulse_start));
        TAC_TRY(tac_alloc(sim->ctx, n, 1, &sim->near));
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->near_pairs, &sim->near_pairs));
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->break_head, &sim->break_head));
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->break_first, &sim->break_first));
        TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->owned, sizeof *sim->near_list, &sim->near_list));
    }
    for (size_t i = 0; i < (size_t)s->vertex_count; i++) {
        const bool ours = i < (size_t)sim->owned;
        memcpy(sim->pos[i].x, &s->x[3 * i], sizeof sim->pos[i].x);
        sim->pos[i].t = ours ? 0 : -1;
        if (ours) {
            memcpy(sim->vel[i].v, &s->v[3 * i], sizeof sim->vel[i].v);
            sim->vel[i].w = sim->model->w_ever[i];
        }
        sim->mass[i] = s->mass[i];
        sim->script_of[i] = -1;
        if (sim->contact)
            sim->break_head[i] = -1;
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
    const tac_time stretch = sim->stretch ? sim->stretch : limit - sim->now;
    const tac_time end = limit - sim->now > stretch ? sim->now + stretch : limit;
    int64_t tell[TAC_TELLS] = {0};
    tac_time reached = end;
    err = tac_pass_begin(sim);
    if (sim->ranks)
        tac_ranks_failed(sim, err);
    else if (err)
        goto done;
    if (!sim->ranks || !tac_ranks_down(sim))
        reached = tac_pass_run(sim, end);
    if (sim->ranks)
        tac_ranks_close(sim);
    TAC_TRY(tac_ranks_reduce(sim, tell));
    TAC_TRY(tac_pass_commit(sim, reached));
done:
    return err;
}

/* The shortest elastic period of the scene, times 256. */
static enum tac_err choose_stretch(struct tac_sim *sim)
{
    tac_time shortest = sim->elastic->class_count ? sim->elastic->rate[0].period : TAC_TIME_NEVER;
    if (sim->ranks && MPI_Allreduce(MPI_IN_PLACE, &shortest, 1, TAC_TIME_MPI, MPI_MIN, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while choosing a window");
    sim->stretch = shortest == TAC_TIME_NEVER ? 0 : 256 * shortest;
    return TAC_OK;
}

const struct tac_discovery tac_discovery_none = {"none", no_discovery, advance_freely, nothing};

/* Everything that needs no other rank. */
static enum tac_err prepare(struct tac_sim *sim)
{
    enum tac_err err;
    TAC_TRY(make_state(sim));
    TAC_TRY(tac_alloc(sim->ctx, sim->elastic->class_count, sizeof *sim->due_elastic, &sim->due_elastic));
    if (sim->contact)
        TAC_TRY(tac_friction_create(sim));
    TAC_TRY(tac_watch_create(sim));
    TAC_TRY(tac_damping_create(sim));
    TAC_TRY(tac_scripts_create(sim));
    if (sim->scene->part)
        TAC_TRY(tac_ranks_create(sim));
done:
    return err;
}

enum tac_err tac_sim_create(struct tac_ctx *ctx, const struct tac_scene *scene, enum tac_discovery_mode mode,
                            struct tac_sim **out)
{
    enum tac_err err;
    struct tac_sim *sim = NULL;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 1, sizeof *sim, &sim)));
    sim->ctx = ctx;
    sim->scene = scene;
    sim->mode = mode;
    sim->quantum = scene->quantum_s;
    sim->next_knot = TAC_TIME_NEVER;
    sim->before_at = sim->kept_at = -1;
    sim->owned = scene->part ? scene->part->owned : scene->vertex_count;
    sim->count = sim->capacity = scene->vertex_count;
    TAC_TRY(tac_agree(ctx, tac_elastic_create(ctx, scene, &sim->elastic)));
    TAC_TRY(tac_agree(ctx, tac_model_create(ctx, scene, &sim->model)));
    sim->contact = sim->model->layer_count > 0;
    sim->discovery = !sim->contact                    ? &tac_discovery_none
                     : mode == TAC_DISCOVER_ALL_PAIRS ? &tac_discovery_all_pairs
                     : mode == TAC_DISCOVER_KDS       ? &tac_discovery_kinetic
                                                      : &tac_discovery_speculate;
    TAC_TRY(tac_agree(ctx, prepare(sim)));
    TAC_TRY(choose_stretch(sim));
    if (sim->ranks)
        TAC_TRY(tac_agree(ctx, tac_ghosts_subscribe(sim)));
    tac_scripts_apply(sim);
    sim->kinetic_start = tac_sim_kinetic(sim);
    TAC_TRY(tac_agree(ctx, sim->discovery->create(sim)));
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
    tac_friction_destroy(sim);
    tac_watch_destroy(sim);
    tac_ranks_destroy(&sim->ranks);
    tac_elastic_destroy(&sim->elastic);
    tac_model_destroy(&sim->model);
    free(sim->pos);
    free(sim->vel);
    free(sim->mass);
    free(sim->impulse);
    free(sim->script_of);
    free(sim->v_before);
    free(sim->damped);
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
    free(sim->motion_knot);
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
    TAC_TRY(tac_ranks_hold(sim, tac_record_error(sim->record)));
done:
    return err;
}

/* Where the vertices of a pair are at t, if nothing kicks them before: others' by their lines, as told by their owners.
 */
static void straight_on(const struct tac_sim *sim, const struct tac_pair *p, tac_time t, double x[4][3])
{
    for (int i = 0; i < p->count; i++) {
        const tac_lid v = p->v[i];
        const struct tac_line *line = &sim->line[v];
        if (v < sim->owned)
            tac_position(sim, v, t, x[i]);
        else
            for (int k = 0; k < 3; k++)
                x[i][k] = line->x[k] + tac_seconds(sim, t - line->t) * line->v[k];
    }
    tac_model_gather(sim->model, (enum tac_pair_type)p->type, p->v, x);
}

/* A pair at its bottom.  Criteria of the choice, the lesser the better; then the lower key. */
struct stuck {
    const struct tac_pair *pair;
    int64_t how[2]; /* 0, when it comes under its bottom, quanta; 1, bits of how far it stays away, in thicknesses */
    tac_time t;     /* its next tick */
    double at[3];   /* the point between the two then, m */
};

static void foresee(const struct tac_sim *sim, const struct tac_pair *p, struct stuck *out)
{
    const enum tac_pair_type type = (enum tac_pair_type)p->type;
    double from[4][3], x[4][3], u[4][3], size = 0;
    struct tac_near near;
    out->pair = p;
    out->t = (sim->now / p->deep_period + 1) * p->deep_period;
    straight_on(sim, p, sim->now, from);
    straight_on(sim, p, out->t, x);
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < 3; k++) {
            size = fmax(size, fabs(from[i][k]));
            u[i][k] = x[i][k] - from[i][k];
        }
    tac_near_pair(type, x, &near);
    for (int k = 0; k < 3; k++) {
        out->at[k] = 0;
        for (int i = 0; i < p->count; i++) /* of a triangle's limit, its middle */
            out->at[k] += (type == TAC_PAIR_WIDE ? 1 / 3. : .5 * fabs(near.w[i])) * x[i][k];
    }
    /* Wider than any mode's tolerance, so that whoever was found is found here; and times are told apart no finer than
     * these tolerances tell them, so that the key decides between those that come at once. */
    const double share = tac_sweep(type, from, u, p->next, 1e-6 * p->form.thickness + 1e-13 * size);
    if (share <= 1) {
        const tac_time hit = sim->now + (tac_time)(share * (double)(out->t - sim->now));
        out->how[0] = 0;
        out->how[1] = hit - hit % (p->deep_period / 256 + 1);
    } else {
        const double left = fabs(near.d - p->next) / p->form.thickness;
        out->how[0] = 1;
        memcpy(&out->how[1], &left, sizeof left); /* not negative: its bits are in its order */
    }
}

static bool better(const struct stuck *a, const struct stuck *than)
{
    for (int i = 0; i < 2 && than->pair != NULL; i++)
        if (a->how[i] != than->how[i])
            return a->how[i] < than->how[i];
    return than->pair == NULL || a->pair->key < than->pair->key;
}

static void say_stuck(struct tac_sim *sim, const struct stuck *s)
{
    tac_gid v[4] = {-1, -1, -1, -1};
    char what[256];
    for (int i = 0; i < s->pair->count; i++)
        v[i] = tac_sim_id(sim, s->pair->v[i]);
    tac_key_describe(sim->scene, s->pair->key, v, what, sizeof what);
    if (tac_pair_is_limit((enum tac_pair_type)s->pair->type)) {
        tac_fail(
            sim->ctx, TAC_ERR_RUN,
            "the scene cannot go on at t = %.9g s: %s near (%.6g, %.6g, %.6g) through all %d layers of its limit; make "
            "the material's limit larger, slow what pulls at it, or make contact.min_period_s shorter",
            tac_seconds(sim, s->t), what, s->at[0], s->at[1], s->at[2], s->pair->form.bottom);
        return;
    }
    tac_fail(
        sim->ctx, TAC_ERR_RUN,
        "the scene cannot go on at t = %.9g s: %s near (%.6g, %.6g, %.6g) are pressed through all %d layers between "
        "them, to %.3g m; leave them room, slow what presses them, or make contact.min_period_s shorter",
        tac_seconds(sim, s->t), what, s->at[0], s->at[1], s->at[2], s->pair->form.bottom, s->pair->next);
}

/* All modes of discovery come here in the same stretch between two instants, if not at the same time in it, nor with
 * the same pair of several, nor the same pairs watched. So the sentence follows from the motion alone: of all pairs at
 * their bottom the one that comes under it first. */
enum tac_err tac_sim_stuck(struct tac_sim *sim)
{
    struct stuck best = {.pair = NULL};
    if (sim->ranks)
        tac_ranks_lines(sim);
    for (size_t k = 0; k < sim->pair_count; k++) {
        const struct tac_pair *p = &sim->pair[k];
        struct stuck found;
        if (!p->live || p->depth < p->form.bottom || p->v[0] >= sim->owned)
            continue;
        foresee(sim, p, &found);
        if (better(&found, &best))
            best = found;
    }
    if (!sim->ranks) {
        TAC_CHECK(best.pair != NULL);
        say_stuck(sim, &best);
        return TAC_ERR_RUN;
    }
    /* The best of all ranks, by one criterion after the other. */
    int64_t mine[2] = {best.pair ? best.how[0] : 2, best.how[1]}, least[2];
    uint64_t key = best.pair ? best.pair->key : UINT64_MAX, lowest;
    MPI_Allreduce(&mine[0], &least[0], 1, MPI_INT64_T, MPI_MIN, sim->ctx->comm);
    mine[1] = mine[0] == least[0] ? mine[1] : INT64_MAX;
    MPI_Allreduce(&mine[1], &least[1], 1, MPI_INT64_T, MPI_MIN, sim->ctx->comm);
    key = mine[0] == least[0] && mine[1] == least[1] ? key : UINT64_MAX;
    MPI_Allreduce(&key, &lowest, 1, MPI_UINT64_T, MPI_MIN, sim->ctx->comm);
    const bool chosen = best.pair && key == lowest;
    int rank = chosen ? sim->ctx->rank : sim->ctx->size, root;
    MPI_Allreduce(&rank, &root, 1, MPI_INT, MPI_MIN, sim->ctx->comm);
    TAC_CHECK(root < sim->ctx->size);
    if (sim->ctx->rank == root)
        say_stuck(sim, &best);
    MPI_Bcast(sim->ctx->error, sizeof sim->ctx->error, MPI_CHAR, root, sim->ctx->comm);
    return TAC_ERR_RUN;
}

enum tac_err tac_sim_not_finite(struct tac_sim *sim, tac_gid id, tac_time t)
{
    const struct tac_body *body = &sim->scene->body[tac_scene_body_of(sim->scene, id)];
    return tac_fail(
        sim->ctx, TAC_ERR_RUN,
        "vertex %" TAC_PRIGID
        " of body `%s` left the range of numbers at t = %.9g s, or is so far away that rounding moves it as "
        "far as contacts reach; if its forces are unstable, make clocks.elastic_safety smaller, or its "
        "material softer; if it flies off, slow it down, or end the run before%s",
        id - body->vertex_begin, body->name, tac_seconds(sim, t),
        sim->kinetic != NULL ? "; --discover speculate goes further" : "");
}
