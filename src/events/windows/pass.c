/* pass.c: runs the instants of a window (docs/explanation/method.md, Trajectories, and Time and order; ACM 2009,
 * section 3, algorithm 1).
 *
 * Nothing here logs, and on one rank with nested clocks nothing allocates: a pass ends where the room that was made
 * before it does not suffice. On several ranks a rank that has no room left makes more, because the others wait for it;
 * with free clocks a pair that becomes deeper may need a class that could not be foreseen (deepen.c); and a record
 * whose log is full writes it out (io/record/record.c). */
#include "contact/friction.h"
#include "events/forces/vertex_position.h"
#include "events/ranks/immovable.h"
#include "events/ranks/ranks.h"
#include "events/rigid/motor_ticks.h"
#include "events/rigid/rigid_motion.h"
#include "events/rigid/rigid_vertices.h"
#include "state/spin.h"

void tac_position(const struct tac_vertex_state *state, const struct tac_scripts *scripts, tac_lid i, tac_time t,
                  double x[3])
{
    tac_state_position(state, scripts, i, t, x);
}

static inline __attribute__((always_inline)) void advance_one_of_class(struct tac_sim *sim, tac_lid i, tac_time t,
                                                                       bool contact, bool record)
{
    if (sim->state.pos[i].t == t)
        return; /* free clocks: another class brought it */
    if (sim->state.vel[i].w != 0) {
        tac_advance_to(sim, i, t, contact, record);
    } else if (sim->scripts.of[i] >= 0) {
        double x[3];
        tac_position(&sim->state, &sim->scripts, i, t, x);
        memcpy(sim->state.pos[i].x, x, sizeof x);
        sim->state.pos[i].t = t;
    }
}

static inline __attribute__((always_inline)) void advance_class(struct tac_sim *sim, const struct tac_rate_class *rate,
                                                                tac_time t, bool contact, bool record)
{
    const size_t n = rate->vertex_count;
    if (n == 0)
        return;
    if ((size_t)(rate->vertex[n - 1] - rate->vertex[0]) == n - 1) { /* one run of vertices: nothing to look up */
        for (tac_lid i = rate->vertex[0]; i <= rate->vertex[n - 1]; i++)
            advance_one_of_class(sim, i, t, contact, record);
    } else {
        for (size_t k = 0; k < n; k++)
            advance_one_of_class(sim, rate->vertex[k], t, contact, record);
    }
}

/* Pulls the free vertices from..to-1, which belong to no rigid body. */
static void pull_vertices(struct tac_sim *sim, tac_lid from, tac_lid to, const double dv[3], struct tac_book *book)
{
    const double half = .5 * tac_dot(dv, dv);
    for (tac_lid i = from; i < to; i++) {
        if (sim->state.vel[i].w == 0)
            continue;
        double *v = sim->state.vel[i].v, w = sim->state.mass[i] * (tac_dot(dv, v) + half);
        book->work += w;
        book->absolute += fabs(w);
        v[0] += dv[0];
        v[1] += dv[1];
        v[2] += dv[2];
    }
}

static void tick_gravity(struct tac_sim *sim, const struct tac_rate_class *rate, tac_time t)
{
    const double h = rate->h_s, *g = sim->scene->settings->gravity;
    const double dv[3] = {h * g[0], h * g[1], h * g[2]};
    struct tac_book sum = {0};
    tac_lid from = 0;
    for (size_t k = 0; k < sim->rigid.count; k++) {
        pull_vertices(sim, from, sim->rigid.piece[k].first, dv, &sum);
        from = sim->rigid.piece[k].end;
    }
    pull_vertices(sim, from, sim->state.owned, dv, &sum);
    sim->books.book.work += sum.work;
    sim->books.book.absolute += sum.absolute;
    sim->books.ticks[TAC_KIND_GRAVITY] += (int64_t)rate->pulled;
    if (sim->rigid.count)
        tac_rigid_pull(sim, t, dv);
}

/* Ticks the due elements of one kind, by ascending period. */
static inline void tick_elements(struct tac_sim *sim, int k, tac_time t)
{
    for (size_t i = 0; i < sim->clocks.due_elastic_count; i++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[sim->clocks.due_elastic[i]];
        const struct tac_element_group *g = &rate->group[k];
        if (g->elastic.count == 0)
            continue;
        tac_group_tick(g, rate->h_s, sim->state.pos, sim->state.vel, &sim->books.book, &sim->books.losses.plasticity);
        sim->books.ticks[tac_kind_of_element(k)] += (int64_t)g->elastic.mine;
        if (g->elastic.held_count)
            tac_held_works(sim, rate, g, false, t);
    }
}

/* The share of contact in the wall time is measured at one instant in so many, because reading the clock at each
 * instant would be a large part of the cost of a small one. The number is a prime, because with nested clocks every
 * 2^k-th instant is of the same kind. */
enum { TIMED_INSTANTS = 127 };

/* Is this instant timed? */
static bool is_timed(struct tac_sim *sim)
{
    if (sim->books.untimed-- > 0)
        return false;
    sim->books.untimed = TIMED_INSTANTS - 1;
    return true;
}

/* Adds a timed instant, and the time of contact in it, to the means. If the process was interrupted during it, it must
 * not dominate the means: it counts as 16 mean instants at most. */
static void instant_took(struct tac_sim *sim, double instant_s, double contact_s)
{
    enum { MEMORY = 64, MOST = 16 }; /* instants */
    const double most_s = MOST * sim->books.instant_s, part = most_s > 0 && instant_s > most_s ? most_s / instant_s : 1;
    sim->books.timed += sim->books.timed < MEMORY;
    sim->books.instant_s += (part * instant_s - sim->books.instant_s) / sim->books.timed;
    sim->books.contact_s += (part * contact_s - sim->books.contact_s) / sim->books.timed;
}

static void run_instant(struct tac_sim *sim, tac_time t)
{
    const struct tac_elastic *el = sim->elastic;
    if (tac_ranks_halo(sim->ranks) && !tac_ranks_send(sim, t))
        return;
    const bool timed = is_timed(sim), loads = sim->scene->settings->load_count > 0;
    double begin_s = 0, contact_s = 0, waited_s = 0;
    if (timed)
        begin_s = tac_wall_s();
    for (size_t i = 0; i < sim->clocks.due_elastic_count; i++) {
        if (sim->record)
            advance_class(sim, &el->rate[sim->clocks.due_elastic[i]], t, sim->contact, true);
        else if (sim->contact)
            advance_class(sim, &el->rate[sim->clocks.due_elastic[i]], t, true, false);
        else
            advance_class(sim, &el->rate[sim->clocks.due_elastic[i]], t, false, false);
    }
    if (loads)
        tac_loads_before(sim);
    if (sim->motors.count > 0)
        tac_motors_before(sim, t);
    const bool damped = sim->books.damped && tac_damping_begin(sim, t);
    for (size_t i = 0; i < sim->clocks.due_elastic_count; i++)
        if (el->rate[sim->clocks.due_elastic[i]].pulled)
            tick_gravity(sim, &el->rate[sim->clocks.due_elastic[i]], t);
    /* All so far is about vertices that are ours: the longer it takes, the less is waited for the others. */
    if (timed)
        waited_s = -tac_wall_s();
    if (tac_ranks_halo(sim->ranks) && !tac_ranks_receive(sim, t))
        return;
    if (timed)
        waited_s += tac_wall_s();
    for (int k = 0; k < el->element_count; k++)
        tick_elements(sim, k, t);
    if (timed)
        contact_s = -tac_wall_s();
    tac_contact_tick(sim, t);
    if (timed)
        contact_s += tac_wall_s();
    if (damped)
        tac_damping_kick(sim, t);
    if (loads)
        tac_loads_tick(sim, t);
    if (sim->motors.count > 0)
        tac_motors_tick(sim, t);
    if (sim->rigid.count)
        tac_rigid_plan(sim, t);
    if (loads)
        tac_loads_end(sim, t);
    if (sim->active.lossy_count)
        tac_contact_losses(sim, t);
    if (damped)
        tac_damping_end(sim, t);
    if (timed)
        instant_took(sim, tac_wall_s() - begin_s - waited_s, contact_s);
}

/* Saves the state of active pairs and their layer groups at the window's start, and empties their figures of a pass. */
static void begin_pairs(struct tac_active *active)
{
    for (size_t c = 0; c < active->rate_group_count; c++) {
        struct tac_rate_group *groups = &active->rate_group[c];
        for (size_t k = 0; k < groups->count; k++)
            groups->group[k].saved_d = groups->group[k].last_d;
        if (groups->count > 0)
            memset(groups->wake, 0, groups->count * sizeof *groups->wake);
        for (size_t k = 0; k < groups->extra_count; k++)
            groups->extra[k].wake = 0;
    }
    for (size_t k = 0; k < active->pair_count; k++) {
        struct tac_pair *p = &active->pair[k];
        p->active = 0;
        p->d_least = INFINITY;
        p->sleep_speed = INFINITY;
        p->last_sleep = -1;
        p->d_tick_start = p->d_tick;
        p->t_tick_start = p->t_tick;
    }
}

enum tac_err tac_pass_begin(struct tac_sim *sim)
{
    enum tac_err err;
    TAC_TRY(tac_active_settle(sim));
    TAC_TRY(tac_clock_start(sim));
    const tac_lid n = sim->state.owned;
    sim->paths.start = sim->state.now;
    sim->control.stop = TAC_STOP_NONE;
    sim->control.failed = TAC_OK;
    memset(sim->books.ticks, 0, sizeof sim->books.ticks);
    sim->books.silent = 0;
    sim->books.dissipated_start = sim->books.dissipated;
    sim->books.work_start = sim->books.work;
    if (sim->elastic->damps || sim->elastic->flows || sim->active.friction != NULL)
        sim->books.losses_start = sim->books.losses;
    sim->books.book_start = sim->books.book;
    tac_loads_begin(sim->scene, sim->elastic);
    tac_rigid_begin(sim);
    if (sim->motors.count > 0)
        tac_motors_begin(&sim->motors);
    sim->books.deepest_start = sim->books.deepest_layer;
    tac_memory_save(sim->elastic);
    tac_damping_save(&sim->books, &sim->state);
    if (sim->record)
        sim->record->call->mark(sim->record);
    if (!sim->contact) {
        if (tac_ranks_halo(sim->ranks))
            TAC_TRY(tac_ranks_begin(sim));
        goto done;
    }
    for (tac_lid i = 0; i < n; i++) {
        struct tac_line *line = &sim->paths.line[i];
        memcpy(line->x, sim->state.pos[i].x, sizeof line->x);
        memcpy(line->v, sim->state.vel[i].v, sizeof line->v);
        line->t = sim->state.pos[i].t;
        line->deviation2 = 0;
    }
    if (sim->state.spin != NULL)
        memcpy(sim->state.spin_start, sim->state.spin, (size_t)n * sizeof *sim->state.spin);
    for (size_t k = 0; k < sim->paths.near_count; k++) {
        size_t i = (size_t)sim->paths.near_list[k];
        memcpy(&sim->paths.impulse_start[3 * i], &sim->state.impulse[3 * i], 3 * sizeof(double));
        sim->paths.break_head[i] = -1;
        sim->paths.motion[i].speed2 = 0;
    }
    tac_immovable_begin(&sim->immovable, &sim->state);
    sim->paths.break_count = 0;
    sim->active.sleep_count = 0;
    tac_friction_begin(&sim->active);
    memcpy(sim->books.couple_start, sim->books.couple, sizeof sim->books.couple);
    begin_pairs(&sim->active);
    if (tac_ranks_halo(sim->ranks))
        TAC_TRY(tac_ranks_begin(sim));
done:
    return err;
}

static void keep_velocities(struct tac_sim *sim, tac_time t)
{
    sim->books.kept_at = t;
    sim->books.work_ahead = sim->books.dissipated_ahead = (struct tac_accum){0};
    sim->books.damping_ahead = sim->books.friction_ahead = (struct tac_accum){0};
    for (tac_lid i = 0; i < sim->state.owned; i++)
        memcpy(&sim->books.v_before[3 * (size_t)i], sim->state.vel[i].v, 3 * sizeof(double));
    tac_rigid_keep(&sim->rigid);
    for (tac_lid i = 0; i < sim->state.owned && sim->state.spin != NULL; i++)
        memcpy(&sim->state.spin_before[3 * (size_t)i], sim->state.spin[i].w, 3 * sizeof(double));
}

void tac_pass_step(struct tac_sim *sim, tac_time t)
{
    if (t == sim->books.before_at || t == sim->scripts.next_knot)
        keep_velocities(sim, t);
    run_instant(sim, t);
}

void tac_pass_took(struct tac_books *books, double wall_s, double waited_s)
{
    const double share = books->instant_s > 0 ? books->contact_s / books->instant_s : 0;
    const double contact_s = share * fmax(0, wall_s - waited_s);
    books->counters.seconds_contact += contact_s;
    books->counters.seconds_forces += wall_s - contact_s;
}

tac_time tac_pass_run(struct tac_sim *sim, tac_time end)
{
    const double start_s = tac_wall_s(), waited_s = tac_pass_waited(&sim->books);
    tac_time t = sim->paths.start, reached = end;
    sim->books.kept_at = -1;
    sim->paths.end = end;
    sim->windows.period_wanted = TAC_TIME_NEVER;
    while ((t = tac_clock_next(sim, t, end)) != TAC_TIME_NEVER) {
        if (sim->contact && sim->paths.break_count + sim->paths.near_count > sim->paths.break_capacity) {
            if (!tac_ranks_halo(sim->ranks)) {
                sim->control.stop = TAC_STOP_FULL;
                reached = t - 1;
                break;
            }
            /* Others wait for us: rather more room in mid-pass. */
            tac_ranks_failed(sim->ranks,
                             tac_grow(sim->ctx, &sim->paths.breaks, &sim->paths.break_capacity,
                                      2 * (sim->paths.break_count + sim->paths.near_count), sizeof *sim->paths.breaks));
        }
        tac_pass_step(sim, t);
        if (tac_ranks_halo(sim->ranks) && tac_ranks_down(sim->ranks))
            break;
        if (sim->control.stop != TAC_STOP_NONE) {
            reached = t;
            break;
        }
    }
    if (sim->rigid.count)
        tac_rigid_vertices_settle(sim);
    for (int k = 0; k < TAC_KINDS; k++)
        sim->books.counters.executed[k] += sim->books.ticks[k];
    tac_pass_took(&sim->books, tac_wall_s() - start_s, tac_pass_waited(&sim->books) - waited_s);
    return reached;
}

enum tac_err tac_pass_rollback(struct tac_sim *sim, tac_time committed)
{
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        const struct tac_line *line = &sim->paths.line[i];
        memcpy(sim->state.pos[i].x, line->x, sizeof line->x);
        memcpy(sim->state.vel[i].v, line->v, sizeof line->v);
        sim->state.pos[i].t = line->t;
    }
    if (sim->state.spin != NULL)
        memcpy(sim->state.spin, sim->state.spin_start, (size_t)sim->state.owned * sizeof *sim->state.spin);
    for (size_t k = 0; k < sim->paths.near_count; k++) {
        size_t i = (size_t)sim->paths.near_list[k];
        memcpy(&sim->state.impulse[3 * i], &sim->paths.impulse_start[3 * i], 3 * sizeof(double));
    }
    tac_immovable_restore(&sim->immovable, &sim->state);
    sim->books.dissipated = sim->books.dissipated_start;
    sim->books.work = sim->books.work_start;
    if (sim->elastic->damps || sim->elastic->flows || sim->active.friction != NULL)
        sim->books.losses = sim->books.losses_start;
    sim->books.book = sim->books.book_start;
    tac_loads_restore(sim->scene, sim->elastic);
    tac_rigid_rollback(&sim->rigid);
    if (sim->motors.count > 0)
        tac_motors_restore(&sim->motors);
    sim->books.deepest_layer = sim->books.deepest_start;
    tac_memory_restore(sim->elastic);
    if (sim->record)
        sim->record->call->rollback(sim->record);
    tac_friction_restore(&sim->active);
    memcpy(sim->books.couple, sim->books.couple_start, sizeof sim->books.couple);
    tac_active_rollback(sim, committed);
    sim->books.counters.rollbacks++;
    for (int k = 0; k < TAC_KINDS; k++)
        sim->books.counters.repeated_ticks += sim->books.ticks[k];
    return TAC_OK;
}

enum tac_err tac_pass_commit(struct tac_sim *sim, tac_time end)
{
    for (int k = 0; k < TAC_KINDS; k++)
        sim->books.counters.committed[k] += sim->books.ticks[k];
    sim->books.counters.silent += sim->books.silent;
    sim->books.counters.windows++;
    sim->windows.last_s = tac_state_seconds(&sim->state, end - sim->paths.start);
    sim->state.now = end;
    if (sim->books.deepest_layer > sim->books.deepest_ever)
        sim->books.deepest_ever = sim->books.deepest_layer;
    sim->books.counters.deepest_layer = sim->books.deepest_ever;
    tac_active_commit(&sim->active);
    const enum tac_err err = tac_rigid_error(sim);
    return err ? err : tac_active_settle(sim);
}
