/* sim.c: makes and destroys a simulation, advances it without contact, and reports a simulation that cannot go on. */
#include "base/recorder.h"
#include "contact/flat.h"
#include "contact/friction.h"
#include "events/ranks/immovable.h"
#include "events/ranks/ranks.h"
#include "events/rigid/motor_ticks.h"
#include "events/rigid/rigid_motion.h"
#include "events/rigid/rigid_vertices.h"
#include "events/windows/flat_starts.h"
#include "events/windows/windows.h"
#include "geometry/sweep.h"
#include "state/spin.h"
#include <stdlib.h>
#include <string.h>

static enum tac_err make_state(struct tac_sim *sim)
{
    enum tac_err err;
    const struct tac_scene *s = sim->scene;
    const size_t n = (size_t)sim->state.capacity;
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->state.pos, &sim->state.pos));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->state.vel, &sim->state.vel));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->state.mass, &sim->state.mass));
    TAC_TRY(tac_alloc(sim->ctx, 3 * n, sizeof *sim->state.impulse, &sim->state.impulse));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->scripts.of, &sim->scripts.of));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->state.owned, sizeof *sim->books.v_before, &sim->books.v_before));
    if (sim->contact) {
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->paths.line, &sim->paths.line));
        TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->state.owned, sizeof *sim->paths.impulse_start,
                          &sim->paths.impulse_start));
        TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->state.owned, sizeof *sim->paths.motion, &sim->paths.motion));
        TAC_TRY(tac_alloc(sim->ctx, n, 1, &sim->paths.near));
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->paths.near_pairs, &sim->paths.near_pairs));
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->paths.break_head, &sim->paths.break_head));
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->paths.break_first, &sim->paths.break_first));
        TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->state.owned, sizeof *sim->paths.near_list, &sim->paths.near_list));
        TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->state.owned, sizeof *sim->active.loss, &sim->active.loss));
        TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->state.owned, sizeof *sim->active.lossy, &sim->active.lossy));
    }
    for (size_t i = 0; i < (size_t)s->mesh->vertex_count; i++) {
        const bool ours = i < (size_t)sim->state.owned;
        memcpy(sim->state.pos[i].x, &s->mesh->x[3 * i], sizeof sim->state.pos[i].x);
        sim->state.pos[i].t = ours ? 0 : -1;
        if (ours) {
            memcpy(sim->state.vel[i].v, &s->mesh->v[3 * i], sizeof sim->state.vel[i].v);
            sim->state.vel[i].w = sim->model->w_ever[i];
        }
        sim->state.mass[i] = s->mesh->mass[i];
        sim->scripts.of[i] = -1;
        if (sim->contact)
            sim->paths.break_head[i] = -1;
    }
done:
    return err;
}

void tac_spin_begin(const struct tac_scene *scene, tac_lid i, bool ours, struct tac_spin *spin)
{
    const struct tac_body *body = &scene->settings->body[scene->mesh->vertex_body[i]];
    *spin = (struct tac_spin){.radius = body->rolls ? body->radius : 0};
    if (!ours || !body->rolls)
        return;
    spin->moment = .4 * scene->mesh->mass[i] * (body->radius * body->radius);
    memcpy(spin->w, body->spin, sizeof spin->w);
}

/* Of a scene in which something rolls. */
static enum tac_err make_spins(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *s = sim->scene;
    const size_t owned = (size_t)sim->state.owned;
    bool any = false;
    for (tac_lid b = 0; b < s->settings->body_count; b++)
        any = any || s->settings->body[b].rolls;
    if (!any)
        return TAC_OK;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->state.capacity, sizeof *sim->state.spin, &sim->state.spin));
    TAC_TRY(tac_alloc(sim->ctx, owned, sizeof *sim->state.spin_start, &sim->state.spin_start));
    TAC_TRY(tac_alloc(sim->ctx, 3 * owned, sizeof *sim->state.spin_before, &sim->state.spin_before));
    TAC_TRY(tac_alloc(sim->ctx, owned, sizeof *sim->state.spin_loss, &sim->state.spin_loss));
    for (tac_lid i = 0; i < s->mesh->vertex_count; i++)
        tac_spin_begin(s, i, i < sim->state.owned, &sim->state.spin[i]);
done:
    return err;
}

static enum tac_err create_nothing(struct tac_sim *sim)
{
    (void)sim;
    return TAC_OK;
}

static void do_nothing(struct tac_sim *sim)
{
    (void)sim;
}

/* Advances without contact, where nothing has to be discovered. The time is cut into stretches so that a run can report
 * its progress and be stopped. */
static enum tac_err advance_freely(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err;
    const tac_time stretch = sim->control.stretch ? sim->control.stretch : limit - sim->state.now;
    const tac_time end = limit - sim->state.now > stretch ? sim->state.now + stretch : limit;
    int64_t tell[TAC_TELLS] = {0};
    tac_time reached = end;
    err = tac_pass_begin(sim);
    if (tac_ranks_halo(sim->ranks))
        tac_ranks_failed(sim->ranks, err);
    else if (err)
        goto done;
    if (!tac_ranks_halo(sim->ranks) || !tac_ranks_down(sim->ranks))
        reached = tac_pass_run(sim, end);
    if (tac_ranks_halo(sim->ranks))
        tac_ranks_close(sim);
    TAC_TRY(tac_ranks_reduce(sim, tell));
    TAC_TRY(tac_ranks_hold(sim->ranks, tac_pass_commit(sim, reached)));
done:
    return err;
}

/* Sets the stretch to 256 times the shortest elastic period of the scene. */
static enum tac_err choose_stretch(struct tac_sim *sim)
{
    tac_time shortest = sim->elastic->class_count ? sim->elastic->rate[0].period : TAC_TIME_NEVER;
    if (tac_ranks_halo(sim->ranks) &&
        MPI_Allreduce(MPI_IN_PLACE, &shortest, 1, TAC_TIME_MPI, MPI_MIN, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while choosing a window");
    sim->control.stretch = shortest == TAC_TIME_NEVER ? 0 : 256 * shortest;
    return TAC_OK;
}

const struct tac_discovery tac_discovery_none = {"none", create_nothing, advance_freely, do_nothing};

static enum tac_err view_activate(void *self, uint64_t key, const tac_lid v[4], int32_t *slot)
{
    return tac_activate(self, key, v, slot);
}
static enum tac_err view_place(void *self, int32_t slot)
{
    return tac_active_place(self, slot);
}
static void view_drop(void *self, int32_t slot)
{
    tac_active_drop(self, slot);
}
static bool view_has_friction(void *self, int32_t slot)
{
    const struct tac_sim *sim = self;
    return tac_friction_has_state(&sim->active, slot);
}
static const struct tac_activation activation = {view_activate, view_place, view_drop, view_has_friction};

static void fill_view(struct tac_sim *sim)
{
    sim->view = (struct tac_view){.ctx = sim->ctx,
                                  .scene = sim->scene,
                                  .model = sim->model,
                                  .state = &sim->state,
                                  .scripts = &sim->scripts,
                                  .paths = &sim->paths,
                                  .active = &sim->active,
                                  .counters = &sim->books.counters,
                                  .halo = tac_ranks_halo(sim->ranks),
                                  .margin = 1,
                                  .main_period = tac_windows_main_period(sim),
                                  .activation = &activation,
                                  .self = sim};
}

/* Makes everything that needs no other rank. */
static enum tac_err create_local_parts(struct tac_sim *sim, struct tac_scene *scene)
{
    enum tac_err err;
    TAC_TRY(make_state(sim));
    TAC_TRY(make_spins(sim));
    TAC_TRY(tac_alloc(sim->ctx, sim->elastic->class_count, sizeof *sim->clocks.due_elastic, &sim->clocks.due_elastic));
    if (sim->contact && sim->model->friction)
        TAC_TRY(tac_friction_create(sim->ctx, sim->model, scene->settings, &sim->active));
    TAC_TRY(tac_active_create(sim));
    TAC_TRY(tac_immovable_create(sim->ctx, &sim->immovable, &sim->state));
    TAC_TRY(tac_damping_create(sim));
    TAC_TRY(tac_scripts_create(sim));
    TAC_TRY(tac_rigid_create(sim));
    TAC_TRY(tac_motors_create(sim));
    TAC_TRY(tac_rigid_vertices_create(sim));
    if (sim->scene->mesh->part)
        TAC_TRY(tac_ranks_create(sim, scene));
    fill_view(sim);
done:
    return err;
}

enum tac_err tac_sim_create(struct tac_ctx *ctx, struct tac_scene *scene, enum tac_discovery_mode mode,
                            struct tac_sim **out)
{
    enum tac_err err;
    struct tac_sim *sim = NULL;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 1, sizeof *sim, &sim)));
    sim->ctx = ctx;
    sim->scene = scene;
    sim->find.mode = mode;
    sim->state.quantum = scene->settings->quantum_s;
    sim->scripts.next_knot = TAC_TIME_NEVER;
    sim->books.before_at = sim->books.kept_at = sim->books.handed.at = -1;
    sim->books.losses_known = true;
    sim->state.owned = tac_scene_owned(scene);
    sim->state.count = sim->state.capacity = scene->mesh->vertex_count;
    TAC_TRY(tac_agree(ctx, tac_flat_create(ctx, scene)));
    TAC_TRY(tac_agree(ctx, tac_elastic_create(ctx, scene, &sim->elastic)));
    TAC_TRY(tac_agree(ctx, tac_model_create(ctx, scene, &sim->model)));
    sim->contact = sim->model->layer_count > 0;
    sim->find.validates = mode == TAC_DISCOVER_SPECULATE || (mode == TAC_DISCOVER_KDS && scene->mesh->part != NULL);
    /* The other modes of discovery leave a pair to the owner of its first vertex. */
    sim->model->omit_immovable = sim->find.validates;
    sim->find.table = !sim->contact                    ? &tac_discovery_none
                      : mode == TAC_DISCOVER_ALL_PAIRS ? &tac_discovery_all_pairs
                      : mode == TAC_DISCOVER_KDS       ? &tac_discovery_kinetic
                                                       : &tac_discovery_speculate;
    TAC_TRY(tac_agree(ctx, create_local_parts(sim, scene)));
    TAC_TRY(tac_immovable_choose(sim));
    TAC_TRY(choose_stretch(sim));
    if (tac_ranks_halo(sim->ranks))
        TAC_TRY(tac_agree(ctx, tac_halo_subscribe(tac_ranks_halo(sim->ranks))));
    tac_scripts_apply(sim);
    TAC_TRY(tac_agree(ctx, tac_scripts_error(sim)));
    sim->books.kinetic_start = tac_sim_kinetic(sim);
    TAC_TRY(tac_flat_starts(sim));
    TAC_TRY(tac_agree(ctx, sim->find.table->create(sim)));
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
    if (sim->find.table)
        sim->find.table->destroy(sim);
    tac_friction_destroy(&sim->active);
    tac_active_destroy(&sim->active);
    tac_ranks_destroy(sim->ranks);
    tac_elastic_destroy(&sim->elastic);
    tac_model_destroy(&sim->model);
    free(sim->state.pos);
    free(sim->state.vel);
    free(sim->state.mass);
    free(sim->state.impulse);
    free(sim->state.spin);
    free(sim->state.spin_start);
    free(sim->state.spin_before);
    free(sim->state.spin_loss);
    tac_immovable_destroy(&sim->immovable);
    tac_rigid_destroy(&sim->rigid);
    tac_motors_destroy(&sim->motors);
    tac_scripts_destroy(sim);
    free(sim->books.v_before);
    free(sim->books.damped);
    free(sim->paths.line);
    free(sim->paths.impulse_start);
    free(sim->paths.motion);
    free(sim->paths.near);
    free(sim->paths.near_pairs);
    free(sim->paths.break_head);
    free(sim->paths.break_first);
    free(sim->paths.near_list);
    free(sim->paths.breaks);
    free(sim->clocks.heap);
    free(sim->clocks.due_elastic);
    free(sim->clocks.due_group);
    free(sim);
    *out = NULL;
}

enum tac_err tac_sim_advance(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err = TAC_OK;
    TAC_CHECK(limit > sim->state.now);
    if (sim->scripts.next_knot < limit)
        limit = sim->scripts.next_knot;
    TAC_TRY(sim->find.table->advance(sim, limit));
    if (sim->state.now == sim->scripts.next_knot)
        tac_scripts_apply(sim);
    const enum tac_err recorded = tac_recorder_error(sim->record), moved = tac_scripts_error(sim);
    TAC_TRY(tac_ranks_hold(sim->ranks, recorded > moved ? recorded : moved));
done:
    return err;
}

/* Computes where the vertices of a pair are at t if nothing kicks them before. Ghosts move on the lines that their
 * owners have sent.
 */
static void predict_positions(const struct tac_sim *sim, const struct tac_pair *p, tac_time t, double x[4][3])
{
    for (int i = 0; i < p->count; i++) {
        const tac_lid v = p->v[i];
        const struct tac_line *line = &sim->paths.line[v];
        if (sim->model->role[v] != TAC_ROLE_GHOST)
            tac_position(&sim->state, &sim->scripts, v, t, x[i]);
        else
            for (int k = 0; k < 3; k++)
                x[i][k] = line->x[k] + tac_state_seconds(&sim->state, t - line->t) * line->v[k];
    }
    tac_model_gather(sim->model, (enum tac_pair_type)p->type, p->v, x);
}

/* A pair at its deepest layer. The pair with the lesser criteria is reported; if they are equal, the one with the lower
 * key. */
struct stuck {
    const struct tac_pair *pair;
    int64_t how[2]; /* 0, when it comes under its bottom, quanta; 1, bits of how far it stays away, in thicknesses */
    tac_time t;     /* its next tick, or the scene's end if that comes before it */
    double at[3];   /* the point between the two then, m */
};

static void predict_stuck(const struct tac_sim *sim, const struct tac_pair *p, struct stuck *out)
{
    const enum tac_pair_type type = (enum tac_pair_type)p->type;
    double from[4][3], x[4][3], u[4][3], size = 0;
    struct tac_near near;
    out->pair = p;
    const tac_time last = sim->state.now / p->deep_period * p->deep_period, end = sim->scene->settings->t_end;
    /* A layer that hardly pushes has a period longer than the scene: what happens after its end does not matter. */
    out->t = end - last < p->deep_period ? end : last + p->deep_period;
    predict_positions(sim, p, sim->state.now, from);
    predict_positions(sim, p, out->t, x);
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
    /* Wider than any mode's tolerance, so that every pair that was found there is found here; and times are resolved no
     * finer than these tolerances tell them, so that the key decides between those that come at once. */
    const double share = tac_sweep(type, from, u, p->next, 1e-6 * p->form.thickness + 1e-13 * size);
    if (share <= 1) {
        const tac_time hit = sim->state.now + (tac_time)(share * (double)(out->t - sim->state.now));
        out->how[0] = 0;
        out->how[1] = hit - hit % ((out->t - last) / 256 + 1);
    } else {
        const double left = fabs(near.d - p->next) / p->form.thickness;
        out->how[0] = 1;
        memcpy(&out->how[1], &left, sizeof left); /* not negative: its bits are in its order */
    }
}

static bool is_earlier(const struct stuck *a, const struct stuck *than)
{
    for (int i = 0; i < 2 && than->pair != NULL; i++)
        if (a->how[i] != than->how[i])
            return a->how[i] < than->how[i];
    return than->pair == NULL || a->pair->key < than->pair->key;
}

/* Returns the advice for a deeper layer stack: the setting that bounds the shortest period of layers (contact/model.c).
 */
static const char *name_remedy(const struct tac_sim *sim, const struct stuck *s)
{
    const struct tac_settings *set = sim->scene->settings;
    const double asked = set->contact.min_period_s > 0 ? set->contact.min_period_s : s->pair->form.h_s * 0x1p-20;
    return 4096 * set->quantum_s >= asked ? "clocks.quantum_s smaller (no period is under 4096 of them)"
                                          : "contact.min_period_s shorter";
}

static void say_stuck(struct tac_sim *sim, const struct stuck *s)
{
    tac_gid v[4] = {-1, -1, -1, -1};
    char what[256];
    for (int i = 0; i < s->pair->count; i++)
        v[i] = tac_scene_id(sim->scene, s->pair->v[i]);
    tac_key_describe(sim->scene, s->pair->key, v, what, sizeof what);
    if (tac_pair_is_limit((enum tac_pair_type)s->pair->type)) {
        tac_fail(
            sim->ctx, TAC_ERR_RUN,
            "the scene cannot go on at t = %.9g s: %s near (%.6g, %.6g, %.6g) through all %d layers of its limit; make "
            "%s larger, slow what pulls at it, or make %s",
            tac_state_seconds(&sim->state, s->t), what, s->at[0], s->at[1], s->at[2], s->pair->form.bottom,
            tac_pair_is_joint((enum tac_pair_type)s->pair->type) ? "the joint's slack or stiffness"
                                                                 : "the material's limit",
            name_remedy(sim, s));
        return;
    }
    tac_fail(
        sim->ctx, TAC_ERR_RUN,
        "the scene cannot go on at t = %.9g s: %s near (%.6g, %.6g, %.6g) are pressed through all %d layers between "
        "them, to %.3g m; leave them room, slow what presses them, or make %s",
        tac_state_seconds(&sim->state, s->t), what, s->at[0], s->at[1], s->at[2], s->pair->form.bottom, s->pair->next,
        name_remedy(sim, s));
}

/* All modes of discovery call this between the same two instants, but not at the same time between them, and not with
 * the same active pairs. So the sentence must follow from the motion alone: it names that pair, of all pairs at their
 * deepest layer, which passes through it first. */
enum tac_err tac_sim_stuck(struct tac_sim *sim)
{
    struct stuck best = {.pair = NULL};
    if (tac_ranks_halo(sim->ranks))
        tac_ranks_lines(sim);
    for (size_t k = 0; k < sim->active.pair_count; k++) {
        const struct tac_pair *p = &sim->active.pair[k];
        struct stuck found;
        if (!p->live || p->depth < p->form.bottom || !tac_decides_pair(sim->model, &sim->state, p))
            continue;
        predict_stuck(sim, p, &found);
        if (is_earlier(&found, &best))
            best = found;
    }
    if (!tac_ranks_halo(sim->ranks)) {
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
    const struct tac_body *body = &sim->scene->settings->body[tac_scene_body_of(sim->scene, id)];
    return tac_fail(
        sim->ctx, TAC_ERR_RUN,
        "vertex %" TAC_PRIGID
        " of body `%s` left the range of numbers at t = %.9g s, or is so far away that rounding moves it as "
        "far as contacts reach; if its forces are unstable, make clocks.elastic_safety smaller, or its "
        "material softer; if it flies off, slow it down, or end the run before",
        id - body->vertex_begin, body->name, tac_state_seconds(&sim->state, t));
}
