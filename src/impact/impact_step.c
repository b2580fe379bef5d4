/* impact_step.c: makes one step, in halves where it cannot be made whole (docs/reference/impact.md, One step). */
#include "base/exchange.h"
#include "contact/model.h"
#include "impact/impact.h"
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS = 12,     /* a step is halved so many times at most */
    CORRECTIONS = 8, /* rounds in which rows are corrected, before a part is halved */
    WHY = 256
};

/* Of the velocity that forces give in a step: slower approaches are rounding errors of supports. */
static const double REST = 1e-8;

/* ---- the start of a part ---- */

/* Sets the accelerations of own vertices: gravity, and loads with their mean factors over the part. */
static void accelerate(struct tac_impact *sim)
{
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    const tac_time length = sim->part.to - sim->part.from;
    for (size_t v = 0; v < (size_t)sim->owned; v++)
        for (size_t c = 0; c < 3; c++)
            sim->a[3 * v + c] = mesh->ever_free[v] ? sim->scene->settings->gravity[c] : 0;
    for (size_t e = 0; e < sim->loads.count; e++) {
        const struct tac_load_element *l = &sim->loads.element[e];
        double x[3][3], push[3][3], centre[3];
        if (l->v[0] >= sim->owned || !mesh->ever_free[l->v[0]] || tac_impact_is_rigid(sim, l->v[0]))
            continue;
        tac_impact_gather(sim->x, l->v, 1, x);
        const double mean = tac_load_mean(sim->scene, &sim->load_times, l->load, sim->part.from + length / 2, length);
        tac_load_impulse(sim->scene, l, (const double(*)[3])x, 1, mean, push, centre);
        for (size_t c = 0; c < 3; c++)
            sim->a[3 * (size_t)l->v[0] + c] += push[0][c] / mesh->mass[l->v[0]];
    }
    tac_impact_rigid_begin(sim);
}

/* Sets the flights of own vertices but those of rigid pieces: free ones go on with v, and half of their accelerations.
 */
static void aim_vertices(struct tac_impact *sim)
{
    const double h = sim->part.h;
    for (tac_lid v = 0; v < sim->owned; v++)
        for (size_t c = 3 * (size_t)v; c < 3 * (size_t)v + 3 && !tac_impact_is_rigid(sim, v); c++)
            if (tac_impact_is_body(sim, v))
                sim->p[c] = h * (sim->v[c] + .5 * h * sim->a[c]);
            else if (!sim->scripts.on[v])
                sim->p[c] = 0;
    for (size_t k = 0; k < sim->scripts.count; k++) {
        const struct tac_impact_script *s = &sim->scripts.script[k];
        const size_t at = 3 * (size_t)s->vertex;
        for (size_t c = 0; s->on && c < 3; c++)
            sim->p[at + c] = s->target[c] - sim->x[at + c];
    }
}

static void aim(struct tac_impact *sim)
{
    aim_vertices(sim);
    tac_impact_rigid_fly(sim, NULL);
}

/* Collective. Sets the scales of velocities. */
static enum tac_err measure(struct tac_impact *sim)
{
    double most[3] = {0, 0, 0}; /* velocity and acceleration times the root of mass; acceleration; their squares */
    for (tac_lid v = 0; v < sim->owned; v++) {
        const double *u = &sim->v[3 * (size_t)v], *a = &sim->a[3 * (size_t)v], m = sim->scene->mesh->mass[v];
        if (!tac_impact_is_particle(sim, v))
            continue;
        most[0] = fmax(most[0], m * tac_dot(u, u));
        most[1] = fmax(most[1], m * tac_dot(a, a));
        most[2] = fmax(most[2], tac_dot(a, a));
    }
    tac_impact_rigid_measure(sim, most);
    const enum tac_err err = tac_over_ranks(sim->ctx, most, 3, MPI_DOUBLE, MPI_MAX);
    sim->part.fastest = sqrt(most[0]);
    sim->part.supported = sqrt(most[0]) + sim->part.h * sqrt(most[1]);
    sim->part.slow = sim->part.h * sqrt(most[2]);
    return err;
}

/* Collective. Fails where a vertex flies to what is no number, or so far that neighbours cannot be distinguished. */
static enum tac_err check_range(struct tac_impact *sim)
{
    enum tac_err err;
    const double farthest = sim->search.along->candidates->farthest;
    tac_gid lost = INT64_MAX;
    for (tac_lid v = 0; v < sim->owned; v++)
        for (size_t c = 3 * (size_t)v; c < 3 * (size_t)v + 3; c++)
            if (!(fabs(sim->x[c]) <= farthest && fabs(sim->x[c] + sim->p[c]) <= farthest) &&
                tac_scene_id(sim->scene, v) < lost)
                lost = tac_scene_id(sim->scene, v);
    TAC_TRY(tac_over_ranks(sim->ctx, &lost, 1, MPI_INT64_T, MPI_MIN));
    if (lost == INT64_MAX)
        return TAC_OK;
    const struct tac_body *body = &sim->scene->settings->body[tac_scene_body_of(sim->scene, lost)];
    err = tac_fail(sim->ctx, TAC_ERR_RUN,
                   "vertex %" TAC_PRIGID
                   " of body `%s` leaves the range of numbers at t = %.9g s, or is so far away that rounding moves it "
                   "as far as contacts reach; %s",
                   lost - body->vertex_begin, body->name, (double)sim->now * sim->scene->settings->quantum_s,
                   sim->scene->settings->impact.kind == TAC_IMPACT_JACOBI
                       ? "integrator.operator \"jacobi\" gains energy: take \"reflections\""
                       : "slow it down, or end the run before");
done:
    return err;
}

static enum tac_err begin(struct tac_impact *sim, tac_time from, tac_time to, int level)
{
    enum tac_err err;
    sim->part.from = from;
    sim->part.to = to;
    sim->part.h = sim->scene->settings->impact.step_s / (1 << level);
    sim->part.corrections = 0;
    sim->part.fails = sim->part.struck = false;
    sim->part.blocked = (struct tac_impact_blocked){.gap = INFINITY};
    TAC_TRY(tac_impact_scripts_begin(sim, from, to));
    accelerate(sim);
    TAC_TRY(measure(sim));
    memcpy(sim->before, sim->v, 3 * (size_t)sim->count * sizeof *sim->v);
    aim(sim);
    TAC_TRY(check_range(sim));
    tac_impact_find_anew(sim);
    TAC_TRY(tac_impact_ghosts_refresh(sim));
    tac_impact_active_clear(sim);
    sim->active.instant.floor = REST * sim->part.slow;
    sim->active.instant.slow = sim->part.slow;
    sim->active.instant.moves = 2 * sim->part.fastest > sim->part.supported;
    sim->active.instant.unsolved = 0;
done:
    return err;
}

/* ---- rounds ---- */

/* Adds the impulses of the last call of an operator to those of the part. */
static void keep_pushes(struct tac_impact *sim)
{
    struct tac_impact_active *a = &sim->active;
    for (size_t k = 0; k < a->rows; k++) {
        tac_row_push(&a->row[k], a->first[k]);
        for (int c = 0; c < 3; c++)
            a->push[k][c] += a->first[k][c];
    }
}

/* Velocities that are no numbers solve nothing. All ranks have them. */
static void check_numbers(struct tac_impact_active *a, const double *v)
{
    for (size_t c = 0; c < 3 * a->bodies; c++)
        if (!isfinite(v[c]))
            a->instant.unsolved = 1;
}

/* Impact without friction, or the friction of all impacts since the last time: vertices get the velocities after it. */
static enum tac_err strike(struct tac_impact *sim, bool friction)
{
    enum tac_err err;
    struct tac_impact_active *a = &sim->active;
    const double begin_s = tac_wall_s();
    sim->part.struck = true;
    if (a->bodies > 0)
        memcpy(a->space, a->v, 3 * a->bodies * sizeof *a->v);
    a->instant.fastest = sim->part.fastest;
    TAC_TRY(friction ? tac_instant_rub(&a->instant) : tac_instant_strike(&a->instant));
    check_numbers(a, a->v);
    keep_pushes(sim);
    tac_impact_enter_rows(sim, a->space, a->v, true);
    tac_impact_active_tell(sim, a->v, sim->v);
    tac_impact_rigid_tell(sim, a->v, sim->rigid.v);
done:
    sim->last_step.part_s[1] += tac_wall_s() - begin_s;
    return err;
}

/* Support of all islands from `from` to `to`, both of bodies. */
static enum tac_err support(struct tac_impact *sim, const double *from, double *to, bool again)
{
    enum tac_err err = TAC_OK;
    struct tac_impact_active *a = &sim->active;
    const double begin_s = tac_wall_s(), half = .5 * sim->part.h;
    for (size_t c = 0; c < 3 * a->bodies; c++)
        to[c] = from[c] + half * a->a[c];
    a->instant.fastest = sim->part.supported;
    a->instant.v = to;
    TAC_TRY(tac_instant_support(&a->instant, again));
    check_numbers(a, to);
done:
    a->instant.v = a->v;
    sim->last_step.part_s[1] += tac_wall_s() - begin_s;
    return err;
}

/* The flight after a support. */
static void aim_supported(struct tac_impact *sim)
{
    const struct tac_impact_active *a = &sim->active;
    aim_vertices(sim);
    tac_impact_active_tell(sim, a->middle, sim->p);
    for (size_t b = 0; b < a->bodies; b++) {
        const tac_lid v = a->piece[b] < 0 ? tac_impact_vertex(sim, a->id[b]) : -1;
        for (size_t c = 0; v >= 0 && c < 3; c++)
            sim->p[3 * (size_t)v + c] *= sim->part.h;
    }
    tac_impact_rigid_fly(sim, a->middle);
}

/* Has an operator not found its impulses? Then the part is halved. All ranks know. */
static bool is_unsolved(struct tac_impact *sim)
{
    const bool unsolved = sim->active.instant.unsolved > 0;
    sim->part.fails = sim->part.fails || unsolved;
    return unsolved;
}

/* Finds the velocities of a flight in which nothing touches: sim->p, sim->active.middle. part.fails: there is none. */
static enum tac_err find_flight(struct tac_impact *sim)
{
    enum tac_err err;
    bool corrected, struck = false;
    int64_t fresh;
    TAC_TRY(tac_impact_prove(sim, true, &fresh));
    while (!sim->part.fails) {
        sim->last_step.rounds++;
        if (fresh > 0) {
            TAC_TRY(tac_agree(sim->ctx, strike(sim, false)));
            struck = true;
            if (is_unsolved(sim))
                break;
            aim(sim);
            TAC_TRY(tac_impact_share(sim, sim->p));
            TAC_TRY(tac_impact_prove(sim, false, &fresh));
            if (fresh > 0)
                continue;
        }
        if (struck && tac_instant_must_rub(&sim->active.instant)) {
            TAC_TRY(tac_agree(sim->ctx, strike(sim, true)));
            if (is_unsolved(sim))
                break;
        }
        struck = false;
        TAC_TRY(tac_agree(sim->ctx, support(sim, sim->active.v, sim->active.middle, false)));
        if (is_unsolved(sim))
            break;
        aim_supported(sim);
        TAC_TRY(tac_impact_share(sim, sim->p));
        TAC_TRY(tac_impact_prove(sim, false, &fresh));
        if (fresh > 0)
            continue;
        TAC_TRY(tac_impact_correct(sim, &corrected));
        if (!corrected)
            break;
        sim->part.struck = true;
        if (++sim->part.corrections == CORRECTIONS) {
            sim->part.fails = true;
            break;
        }
    }
done:
    return err;
}

/* ---- the end of a part ---- */

/* The end of an island without losses: the impulses of the first half again. */
static enum tac_err finish_elastic(struct tac_impact *sim, size_t island)
{
    struct tac_impact_active *a = &sim->active;
    const struct tac_islands *all = &a->instant.all;
    bool turns = false;
    for (size_t e = all->begin[island]; e < all->begin[island + 1]; e++)
        turns = turns || a->row[all->order[e]].turn[0] > 0 || a->row[all->order[e]].turn[1] > 0;
    if (turns) {
        a->instant.v = a->end;
        const enum tac_err err = tac_instant_repeat(&a->instant, island);
        a->instant.v = a->v;
        return err;
    }
    for (size_t e = all->begin[island]; e < all->begin[island + 1]; e++)
        for (int k = 0; k < 2; k++) {
            const int32_t b = a->row[all->order[e]].body[k];
            for (size_t c = 3 * (size_t)b; b >= 0 && c < 3 * (size_t)b + 3; c++)
                a->end[c] = 2 * a->middle[c] - a->v[c];
        }
    return TAC_OK;
}

static enum tac_err finish_all_elastic(struct tac_impact *sim)
{
    enum tac_err err = TAC_OK;
    for (size_t i = 0; i < sim->active.instant.all.count && !err; i++)
        if (tac_instant_is_elastic(&sim->active.instant, i))
            err = finish_elastic(sim, i);
    return err;
}

/* Finds the velocities at the end, sim->active.end. part.fails: there are none. */
static enum tac_err finish_velocities(struct tac_impact *sim)
{
    enum tac_err err;
    struct tac_impact_active *a = &sim->active;
    for (size_t k = 0; k < a->rows; k++) {
        sim->last_step.defect += a->row[k].r * a->row[k].lambda;
        a->row[k].r = 0;
    }
    keep_pushes(sim);
    tac_impact_enter_rows(sim, a->v, a->middle, false);
    TAC_TRY(tac_impact_rigid_arrive(sim));
    TAC_TRY(tac_agree(sim->ctx, support(sim, a->middle, a->end, true)));
    if (is_unsolved(sim))
        goto done;
    TAC_TRY(tac_agree(sim->ctx, finish_all_elastic(sim)));
    tac_impact_enter_rows(sim, a->middle, a->end, false);
    tac_impact_enter_difference(sim);
    keep_pushes(sim);
done:
    return err;
}

static void enter_pushes(struct tac_impact *sim)
{
    const struct tac_impact_active *a = &sim->active;
    for (size_t k = 0; k < a->rows; k++)
        for (int i = 0; i < 4; i++) {
            const tac_lid v = a->row[k].vertex[i] >= 0 ? tac_impact_vertex(sim, a->row[k].vertex[i]) : -1;
            for (size_t c = 0; v >= 0 && v < sim->owned && c < 3; c++)
                sim->impulse[3 * (size_t)v + c] += a->row[k].w[i] * a->push[k][c];
        }
}

/* Moves to the end of the part. */
static enum tac_err commit(struct tac_impact *sim)
{
    enum tac_err err;
    struct tac_impact_active *a = &sim->active;
    const double h = sim->part.h;
    tac_impact_enter_loads(sim);
    tac_impact_blocks_move(sim);
    enter_pushes(sim);
    TAC_TRY(tac_agree(sim->ctx, tac_impact_pushes_enter(sim)));
    for (tac_lid v = 0; v < sim->owned; v++)
        for (size_t c = 3 * (size_t)v; c < 3 * (size_t)v + 3 && !tac_impact_is_rigid(sim, v); c++) {
            sim->x[c] += sim->p[c];
            sim->v[c] = tac_impact_is_body(sim, v) ? sim->v[c] + h * sim->a[c] : sim->p[c] / h;
        }
    tac_impact_active_tell(sim, a->end, sim->v);
    tac_impact_rigid_commit(sim);
    for (size_t k = 0; k < sim->scripts.count; k++) {
        const struct tac_impact_script *s = &sim->scripts.script[k];
        if (s->on)
            memcpy(&sim->x[3 * (size_t)s->vertex], s->target, sizeof s->target);
    }
    sim->now = sim->part.told;
    sim->last_step.rows = (int64_t)a->rows;
    for (tac_lid v = 0; v < sim->owned && sim->record != NULL; v++)
        if (sim->scene->mesh->ever_free[v] || sim->scripts.of[v] >= 0)
            tac_recorder_keep(sim->record, v, sim->now, &sim->x[3 * (size_t)v]);
done:
    return err;
}

/* ---- parts ---- */

/* Collective. Finds the nearest pair that motions bring together. */
static enum tac_err find_blocked(struct tac_impact *sim, struct tac_impact_blocked *out)
{
    enum tac_err err;
    struct tac_impact_blocked *all = NULL;
    size_t count = 0;
    *out = (struct tac_impact_blocked){.gap = INFINITY};
    TAC_TRY(tac_impact_gather_records(sim, &sim->part.blocked, 1, sizeof *all, &all, &count));
    for (size_t k = 0; k < count; k++)
        if (all[k].gap < out->gap || (all[k].gap == out->gap && all[k].key < out->key))
            *out = all[k];
done:
    free(all);
    return err;
}

/* Collective. Says why not even the shortest part could be made. */
static enum tac_err fail(struct tac_impact *sim)
{
    enum tac_err err;
    const struct tac_impact_active *a = &sim->active;
    struct tac_impact_blocked nearest;
    char named[WHY] = "none";
    TAC_TRY(tac_impact_rigid_error(sim));
    TAC_TRY(find_blocked(sim, &nearest));
    const bool blocked = nearest.gap < INFINITY;
    for (size_t k = 0; k < a->rows && !blocked; k++)
        if (a->row[k].gap < nearest.gap) {
            nearest.key = a->row[k].key;
            nearest.gap = a->row[k].gap;
            memcpy(nearest.vertex, a->row[k].vertex, sizeof nearest.vertex);
        }
    if (nearest.gap < INFINITY)
        tac_key_describe(sim->scene, nearest.key, nearest.vertex, named, sizeof named);
    err = tac_fail(sim->ctx, TAC_ERR_RUN,
                   "%s from t = %.9g s, not even in integrator.step_s / %d; the nearest pair is %s, with a gap of %.3g "
                   "m; %s",
                   blocked                   ? "motions bring surfaces together"
                   : a->instant.unsolved > 0 ? "no velocities that all contacts allow were found"
                                             : "no flight without contact was found",
                   (double)sim->now * sim->scene->settings->quantum_s, 1 << LEVELS, named, nearest.gap,
                   blocked ? "change the motions"
                           : "make motions slower, contact.thickness larger, or integrator.step_s smaller");
done:
    return err;
}

/* Makes a part, or leaves the state as it is (*done). */
static enum tac_err try_part(struct tac_impact *sim, tac_time from, tac_time to, int level, bool *done)
{
    enum tac_err err;
    TAC_TRY(begin(sim, from, to, level));
    const struct tac_accum lost = sim->books.lost, friction = sim->books.friction, work = sim->books.work;
    const double defect = sim->last_step.defect;
    TAC_TRY(find_flight(sim));
    if (!sim->part.fails)
        TAC_TRY(finish_velocities(sim));
    *done = !sim->part.fails;
    if (*done) {
        TAC_TRY(commit(sim));
        goto done;
    }
    sim->books.lost = lost;
    sim->books.friction = friction;
    sim->books.work = work;
    sim->last_step.defect = defect;
    memcpy(sim->v, sim->before, 3 * (size_t)sim->count * sizeof *sim->v);
done:
    return err;
}

static enum tac_err do_parts(struct tac_impact *sim, tac_time to)
{
    enum { PARTS = 1 << LEVELS };
    enum tac_err err = TAC_OK;
    const tac_time first = tac_scene_grid(sim->scene, sim->scene->settings->impact.step_s, sim->step);
    const tac_time end = tac_scene_grid(sim->scene, sim->scene->settings->impact.step_s, sim->step + 1);
    const tac_time part = (end - first) / PARTS;
    int level = 0;
    for (int at = 0; at < PARTS;) {
        const int size = PARTS >> level;
        bool done;
        sim->part.told = at + size == PARTS ? to : first + (at + size) * part;
        TAC_TRY(try_part(sim, first + at * part, first + (at + size) * part, level, &done));
        if (!done) {
            sim->last_step.halvings++;
            if (level++ == LEVELS)
                TAC_TRY(fail(sim));
            continue;
        }
        at += size;
        for (level = 0; at % (PARTS >> level) != 0;) /* the next part is as long as its start allows */
            level++;
    }
done:
    return err;
}

static void warn_of_jammed(struct tac_impact *sim)
{
    if (sim->has_warned || sim->active.instant.jammed == 0)
        return;
    sim->has_warned = true;
    tac_warn(sim->ctx,
             "an impact at t = %.9g s did not end after integrator.most reflections, so it was made inelastic; the "
             "column `jammed` of steps.csv has all such impacts",
             (double)sim->now * sim->scene->settings->quantum_s);
}

enum tac_err tac_impact_step(struct tac_impact *sim, tac_time limit)
{
    enum tac_err err;
    struct tac_instant *in = &sim->active.instant;
    const double begin_s = tac_wall_s();
    tac_time to = tac_scene_grid(sim->scene, sim->scene->settings->impact.step_s, sim->step + 1);
    if (to > limit - TAC_FRAME_GRAIN) /* an end that is no multiple of the step */
        to = limit;
    memset(&sim->last_step, 0, sizeof sim->last_step);
    in->reflections = in->jammed = in->iterations = 0;
    in->largest = 0;
    tac_impact_pushes_begin(sim);
    TAC_TRY(do_parts(sim, to));
    sim->step++;
    sim->now = to;
    sim->books.counters.windows++;
    sim->last_step.least_gap = sim->part.least_gap < INFINITY ? sim->part.least_gap : NAN;
    warn_of_jammed(sim);
    sim->last_step.wall_s = tac_wall_s() - begin_s;
    sim->books.counters.seconds_contact += sim->last_step.part_s[1];
done:
    return err;
}
