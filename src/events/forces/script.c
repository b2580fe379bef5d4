/* script.c: scripted vertices: a script takes a vertex at its first knot, moves it along straight pieces, and releases
 * it after its last knot if the scene says so (docs/reference/engine.md, Scripts). */
#include "base/recorder.h"
#include "events/sim.h"
#include <string.h>

/* Adds the knots of a motion in quanta. The pieces of a rotation are cut so that none turns by more than one degree. */
static enum tac_err add_knots(struct tac_sim *sim, const struct tac_motion *m, size_t *capacity)
{
    enum tac_err err = TAC_OK;
    for (tac_lid k = 0; k < m->knot_count; k++) {
        int64_t pieces = 1;
        tac_time t = (tac_time)floor(m->knot_t_s[k] / sim->state.quantum + .5), before = t;
        double from = 0, to = m->degrees ? m->degrees[k] : 0;
        if (k > 0 && m->degrees) {
            from = m->degrees[k - 1];
            before = (tac_time)floor(m->knot_t_s[k - 1] / sim->state.quantum + .5);
            pieces = (int64_t)fmin(1e7, fmax(1, ceil(fabs(to - from))));
            pieces = pieces < t - before ? pieces : t - before;
        }
        TAC_TRY(tac_grow(sim->ctx, &sim->scripts.knot, capacity, sim->scripts.knot_count + (size_t)pieces,
                         sizeof *sim->scripts.knot));
        for (int64_t p = 1; p <= pieces; p++) {
            struct tac_knot *knot = &sim->scripts.knot[sim->scripts.knot_count++];
            memset(knot, 0, sizeof *knot);
            double share = (double)p / (double)pieces;
            knot->t = p == pieces ? t : before + (tac_time)(share * (double)(t - before));
            knot->turn = p == pieces ? to : from + share * (to - from);
            if (m->displacement)
                memcpy(knot->shift, &m->displacement[3 * k], sizeof knot->shift);
        }
    }
done:
    return err;
}

/* Makes a script that holds its vertex in place from t = 0 on. */
static void hold_from_start(struct tac_sim *sim, struct tac_script *s)
{
    memcpy(s->origin, sim->state.pos[s->vertex].x, sizeof s->origin);
    memcpy(s->x, s->origin, sizeof s->x);
    sim->state.vel[s->vertex].w = 0;
    memset(sim->state.vel[s->vertex].v, 0, sizeof sim->state.vel[s->vertex].v);
    s->on = true;
}

enum tac_err tac_scripts_create(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *s = sim->scene;
    const struct tac_clock_settings *c = &s->settings->clocks;
    /* A tick may need all knots within the longest period that a clock can have. */
    const double ahead_s = fmax(fmax(c->elastic_s, c->gravity_s), isfinite(c->contact_s) ? c->contact_s : 0);
    size_t count = 0, capacity = 0;
    for (tac_lid m = 0; m < s->settings->motion_count; m++)
        count += (size_t)s->mesh->moved[m].vertex_count;
    TAC_TRY(tac_alloc(sim->ctx, count, sizeof *sim->scripts.script, &sim->scripts.script));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)s->settings->motion_count + 1, sizeof *sim->scripts.motion_knot,
                      &sim->scripts.motion_knot));
    TAC_TRY(tac_motion_rows_make(sim->ctx, s, ahead_s, &sim->scripts.rows));
    for (tac_lid m = 0; m < s->settings->motion_count; m++) {
        const struct tac_motion *motion = &s->settings->motion[m];
        size_t begin = sim->scripts.knot_count;
        TAC_TRY(add_knots(sim, motion, &capacity));
        sim->scripts.motion_knot[m + 1] = (int32_t)sim->scripts.knot_count;
        const struct tac_moved *moved = &s->mesh->moved[m];
        for (tac_lid i = 0; i < moved->vertex_count; i++) {
            struct tac_script *script = &sim->scripts.script[sim->scripts.count];
            script->vertex = moved->vertex[i];
            script->motion = m;
            script->row = i;
            script->knot_begin = (int32_t)begin;
            script->knot_count = (int32_t)(sim->scripts.knot_count - begin);
            sim->scripts.of[script->vertex] = (int32_t)sim->scripts.count++;
            if (!motion->release) /* held before the first knot too */
                hold_from_start(sim, script);
        }
    }
done:
    return err;
}

void tac_scripts_destroy(struct tac_sim *sim)
{
    tac_motion_rows_destroy(sim->scene, &sim->scripts.rows);
    free(sim->scripts.of);
    free(sim->scripts.script);
    free(sim->scripts.knot);
    free(sim->scripts.motion_knot);
}

enum tac_err tac_scripts_error(const struct tac_sim *sim)
{
    return tac_motion_rows_error(sim->scene, sim->scripts.rows);
}

/* Computes the position that a script's knot gives its vertex.  Of a file that cannot be read any more: its place at
 * the start; the run ends at the knot (tac_scripts_error()). */
static void knot_position(const struct tac_sim *sim, const struct tac_script *s, const struct tac_knot *knot,
                          double x[3])
{
    const struct tac_motion *m = &sim->scene->settings->motion[s->motion];
    if (m->cache != NULL) {
        const struct tac_motion_at at = {false, (tac_lid)(knot - &sim->scripts.knot[s->knot_begin]), 0};
        tac_motion_place_row(sim->scripts.rows[s->motion], &at, (size_t)s->row, s->origin, x);
        return;
    }
    if (m->displacement) {
        for (int k = 0; k < 3; k++)
            x[k] = s->origin[k] + knot->shift[k];
        return;
    }
    double radians = knot->turn * (TAC_PI / 180), vector[3], matrix[9], r[3];
    for (int k = 0; k < 3; k++)
        vector[k] = radians * m->axis[k];
    tac_rotation(vector, matrix);
    tac_sub(r, s->origin, m->center);
    for (int k = 0; k < 3; k++)
        x[k] = knot->turn == 0 ? s->origin[k] : m->center[k] + tac_dot(&matrix[3 * k], r);
}

tac_time tac_gravity_period(const struct tac_elastic *elastic)
{
    for (size_t k = 0; k < elastic->class_count; k++)
        if (elastic->rate[k].pulled)
            return elastic->rate[k].period;
    return 0;
}

/* Books, as work of the script, the energy of a vertex that the script catches or releases. The ticks of gravity let
 * the vertex fall as if this happened halfway between two ticks, on the line along v. `half`: it is caught at a tick of
 * gravity, and v_mean contains only half of that kick. */
static void hand_over(struct tac_sim *sim, tac_lid i, const double x[3], const double v[3], const double v_mean[3],
                      bool half, double sign)
{
    const double m = sim->state.mass[i], kinetic = .5 * m * tac_dot(v, v), *g = sim->scene->settings->gravity;
    const tac_time h = tac_gravity_period(sim->elastic), since = h ? sim->state.now % h : 0;
    const double ahead =
        h && !(half && since == 0) ? -m * tac_state_seconds(&sim->state, h / 2 - since) * tac_dot(g, v) : 0;
    tac_accum_add(&sim->books.work, sign * .5 * m * tac_dot(v_mean, v_mean));
    tac_accum_add(&sim->books.work, -sign * m * tac_dot(g, x));
    tac_books_hand(&sim->books, sim->state.now, sign * ahead);
    sim->books.book.work += sign * kinetic;
    sim->books.book.absolute += kinetic;
}

/* Computes the position of a scripted vertex at t, which may lie some knots before or after the present time. */
static void path_position(const struct tac_sim *sim, const struct tac_script *s, tac_time t, double x[3])
{
    const struct tac_knot *knot = &sim->scripts.knot[s->knot_begin];
    const bool release = sim->scene->settings->motion[s->motion].release;
    int32_t k = s->next - 1;
    while (k >= 0 && knot[k].t > t)
        k--;
    while (k + 1 < s->knot_count && knot[k + 1].t <= t)
        k++;
    if (k < 0) {
        memcpy(x, s->origin, sizeof s->origin);
        return;
    }
    /* Let go, it goes on with the velocity of its last piece. */
    const bool beyond = k == s->knot_count - 1;
    const int32_t from = beyond && release && k > 0 ? k - 1 : k;
    knot_position(sim, s, &knot[from], x);
    if (beyond && from == k)
        return;
    double to[3];
    const double share = (double)(t - knot[from].t) / (double)(knot[from + 1].t - knot[from].t);
    knot_position(sim, s, &knot[from + 1], to);
    for (int c = 0; c < 3; c++)
        x[c] += share * (to[c] - x[c]);
}

void tac_script_velocity(const struct tac_sim *sim, tac_lid i, tac_time t, tac_time period, double v[3],
                         double ahead[3])
{
    const struct tac_script *s = &sim->scripts.script[sim->scripts.of[i]];
    const struct tac_knot *knot = &sim->scripts.knot[s->knot_begin];
    const tac_time begin = t - period / 2, end = t + period / 2, caught_at = knot[0].t;
    /* The ticks up to the catch kicked the vertex as if it were free for half a period more; this one, the first after
     * it, goes back to there. A force that ticked at the catch itself gave half of its kick to the energy that left. */
    const bool first = s->caught && t - period <= caught_at;
    if (!first && begin >= s->t && (s->next == s->knot_count || end <= knot[s->next].t)) {
        memcpy(v, s->v, sizeof s->v);
        for (int c = 0; ahead && c < 3; c++)
            ahead[c] = .5 * v[c];
        return;
    }
    double from[3], at[3], to[3];
    if (first) {
        const double dt = t - period < caught_at ? tac_state_seconds(&sim->state, begin - caught_at) : 0;
        for (int c = 0; c < 3; c++)
            from[c] = s->origin[c] + dt * s->v_free[c];
    } else {
        path_position(sim, s, begin, from);
    }
    path_position(sim, s, t, at);
    path_position(sim, s, end, to);
    for (int c = 0; c < 3; c++) {
        v[c] = (to[c] - from[c]) / tac_state_seconds(&sim->state, period);
        if (ahead)
            ahead[c] = (to[c] - at[c]) / tac_state_seconds(&sim->state, period);
    }
}

void tac_script_work(struct tac_sim *sim, tac_lid i, const double j[3], tac_time t, tac_time period)
{
    double v[3], ahead[3];
    tac_script_velocity(sim, i, t, period, v, t == sim->books.kept_at ? ahead : NULL);
    tac_accum_add(&sim->books.work, -tac_dot(j, v));
    if (t == sim->books.kept_at)
        tac_accum_add(&sim->books.work_ahead, -tac_dot(j, ahead));
}

/* Books the part of that work which a damper dissipates. */
static void script_loss(struct tac_sim *sim, tac_lid i, const double j[3], tac_time t, tac_time period)
{
    double v[3], ahead[3];
    tac_script_velocity(sim, i, t, period, v, t == sim->books.kept_at ? ahead : NULL);
    tac_accum_add(&sim->books.losses.damping, -tac_dot(j, v));
    if (t == sim->books.kept_at)
        tac_accum_add(&sim->books.damping_ahead, -tac_dot(j, ahead));
}

void tac_held_works(struct tac_sim *sim, const struct tac_rate_class *rate, const struct tac_element_group *g,
                    bool dampers, tac_time t)
{
    const struct tac_forces *f = dampers ? &g->damper : &g->elastic;
    const int n = g->element->nodes;
    for (size_t k = 0; k < f->held_count; k++) {
        const size_t e = (size_t)f->held[k];
        const tac_lid *v = tac_forces_stencil(f, e);
        double x[TAC_ELEMENT_NODES][3], j[TAC_ELEMENT_NODES][3];
        for (int i = 0; i < n; i++)
            memcpy(x[i], sim->state.pos[v[i]].x, sizeof x[i]);
        if (dampers)
            tac_group_damp(g, e, x, j);
        else
            tac_group_impulse(g, rate->h_s, e, x, j);
        for (int i = 0; i < n; i++)
            if (tac_state_script(&sim->state, &sim->scripts, v[i]) != NULL) {
                tac_script_work(sim, v[i], j[i], t, rate->period);
                if (dampers) /* the script's work does not stay in the motion */
                    script_loss(sim, v[i], j[i], t, rate->period);
                /* The loop over the class entered this vertex' work as if it moved freely. */
                sim->books.book.work -= tac_dot(j[i], sim->state.vel[v[i]].v);
            }
    }
}

static void apply_knot(struct tac_sim *sim, struct tac_script *s, const struct tac_knot *knot)
{
    const tac_lid i = s->vertex;
    const struct tac_motion *m = &sim->scene->settings->motion[s->motion];
    struct tac_pos *pos = &sim->state.pos[i];
    struct tac_vel *vel = &sim->state.vel[i];
    const bool first = s->next == 0 && !s->on, last = s->next == s->knot_count - 1;
    if (first) {
        double x[3];
        tac_position(&sim->state, &sim->scripts, i, sim->state.now, x);
        memcpy(s->origin, x, sizeof x);
        if (vel->w != 0 && sim->state.now > 0) {
            const bool ticked = sim->books.kept_at == sim->state.now;
            double mean[3];
            for (int k = 0; k < 3; k++)
                mean[k] = ticked ? .5 * (vel->v[k] + sim->books.v_before[3 * (size_t)i + (size_t)k]) : vel->v[k];
            hand_over(sim, i, x, vel->v, mean, ticked, -1);
            s->caught = true;
            memcpy(s->v_free, vel->v, sizeof s->v_free);
        }
        vel->w = 0;
        s->on = true;
    }
    s->t = sim->state.now;
    s->next++;
    knot_position(sim, s, knot, s->x);
    if (last && m->release && s->knot_count > 1) { /* one knot pins */
        /* Free again, with the last piece's velocity. */
        s->on = false;
        vel->w = sim->model->w_ever[i];
        memcpy(vel->v, s->v, sizeof vel->v);
        hand_over(sim, i, s->x, vel->v, vel->v, false, 1);
    } else if (last) {
        memset(s->v, 0, sizeof s->v);
        memset(vel->v, 0, sizeof vel->v);
    } else {
        double x[3];
        const double span = tac_state_seconds(&sim->state, knot[1].t - knot[0].t);
        knot_position(sim, s, knot + 1, x);
        for (int k = 0; k < 3; k++)
            s->v[k] = (x[k] - s->x[k]) / span;
        memcpy(vel->v, s->v, sizeof vel->v);
    }
    memcpy(pos->x, s->x, sizeof pos->x);
    pos->t = sim->state.now;
    if (sim->record)
        tac_recorder_keep(sim->record, i, sim->state.now, pos->x);
}

void tac_scripts_apply(struct tac_sim *sim)
{
    for (size_t k = 0; k < sim->scripts.count; k++) {
        struct tac_script *s = &sim->scripts.script[k];
        while (s->next < s->knot_count && sim->scripts.knot[s->knot_begin + s->next].t <= sim->state.now)
            apply_knot(sim, s, &sim->scripts.knot[s->knot_begin + s->next]);
    }
    tac_scripts_next(sim);
}

/* A knot ends the window on all ranks, even on those that have no vertex of the motion. */
void tac_scripts_next(struct tac_sim *sim)
{
    sim->scripts.next_knot = TAC_TIME_NEVER;
    for (tac_lid m = 0; m < sim->scene->settings->motion_count; m++) {
        int32_t lo = sim->scripts.motion_knot[m], hi = sim->scripts.motion_knot[m + 1];
        while (lo < hi) {
            int32_t mid = lo + (hi - lo) / 2;
            if (sim->scripts.knot[mid].t <= sim->state.now)
                lo = mid + 1;
            else
                hi = mid;
        }
        if (lo < sim->scripts.motion_knot[m + 1] && sim->scripts.knot[lo].t < sim->scripts.next_knot)
            sim->scripts.next_knot = sim->scripts.knot[lo].t;
    }
}

void tac_scripts_renew(struct tac_sim *sim, const uint8_t *motion)
{
    for (size_t k = 0; k < sim->scripts.count; k++) {
        struct tac_script *s = &sim->scripts.script[k];
        const struct tac_knot *knot = &sim->scripts.knot[s->knot_begin];
        struct tac_vel *vel = &sim->state.vel[s->vertex];
        double x[3];
        if (!motion[s->motion])
            continue;
        s->next = 0;
        while (s->next < s->knot_count && knot[s->next].t <= sim->state.now)
            s->next++;
        if (!s->on || s->next == 0)
            continue;
        /* Not where the knots say, which differs by rounding, and in a rotation by a chord's distance from its arc. */
        tac_position(&sim->state, &sim->scripts, s->vertex, sim->state.now, s->x);
        s->t = sim->state.now;
        memset(s->v, 0, sizeof s->v);
        if (s->next < s->knot_count) {
            knot_position(sim, s, &knot[s->next], x);
            for (int c = 0; c < 3; c++)
                s->v[c] = (x[c] - s->x[c]) / tac_state_seconds(&sim->state, knot[s->next].t - s->t);
        }
        memcpy(vel->v, s->v, sizeof vel->v);
        memcpy(sim->state.pos[s->vertex].x, s->x, sizeof s->x);
        sim->state.pos[s->vertex].t = s->t;
    }
    tac_scripts_next(sim);
}
