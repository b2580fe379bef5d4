/* Running the instants of a window (design 2.2, 3.1). Nothing here logs, and on one rank nothing allocates: a pass for
 * which the room that was made before it does not suffice ends there.  Of several ranks one that has no room left makes
 * more, for the others wait for it; and a record whose log is full writes it out (io/record_log.c). */
#include "events/bring.h"
#include "events/friction.h"
#include "events/ranks.h"

void tac_position(const struct tac_sim *sim, tac_lid i, tac_time t, double x[3])
{
    tac_bring_position(sim, i, t, x);
}

static inline __attribute__((always_inline)) void bring_one_of_class(struct tac_sim *sim, tac_lid i, tac_time t,
                                                                     bool contact, bool record)
{
    if (sim->pos[i].t == t)
        return; /* free clocks: another class brought it */
    if (sim->vel[i].w != 0) {
        tac_bring_to(sim, i, t, contact, record);
    } else if (sim->script_of[i] >= 0) {
        double x[3];
        tac_position(sim, i, t, x);
        memcpy(sim->pos[i].x, x, sizeof x);
        sim->pos[i].t = t;
    }
}

static inline __attribute__((always_inline)) void bring_class(struct tac_sim *sim, const struct tac_rate_class *rate,
                                                              tac_time t, bool contact, bool record)
{
    const size_t n = rate->vertex_count;
    if (n == 0)
        return;
    if ((size_t)(rate->vertex[n - 1] - rate->vertex[0]) == n - 1) { /* one run of vertices: nothing to look up */
        for (tac_lid i = rate->vertex[0]; i <= rate->vertex[n - 1]; i++)
            bring_one_of_class(sim, i, t, contact, record);
    } else {
        for (size_t k = 0; k < n; k++)
            bring_one_of_class(sim, rate->vertex[k], t, contact, record);
    }
}

static void tick_gravity(struct tac_sim *sim, const struct tac_rate_class *rate)
{
    const double h = rate->h_s, *g = sim->scene->gravity;
    const double dv[3] = {h * g[0], h * g[1], h * g[2]}, half = .5 * tac_dot(dv, dv);
    double work = 0, absolute = 0;
    for (tac_lid i = 0; i < sim->owned; i++) {
        if (sim->vel[i].w == 0)
            continue;
        double *v = sim->vel[i].v, w = sim->mass[i] * (tac_dot(dv, v) + half);
        work += w;
        absolute += fabs(w);
        v[0] += dv[0];
        v[1] += dv[1];
        v[2] += dv[2];
    }
    sim->book.work += work;
    sim->book.absolute += absolute;
}

/* What contact takes of an instant is timed at one instant in so many: looking at the clock at each would be a good
 * part of what a small one costs.  A prime, since of nested clocks' instants every 2^k-th is of one kind. */
enum { TIMED_INSTANTS = 127 };

/* Is this instant timed? */
static bool is_timed(struct tac_sim *sim)
{
    if (sim->untimed-- > 0)
        return false;
    sim->untimed = TIMED_INSTANTS - 1;
    return true;
}

/* An instant that was timed, and contact in it, into the means.  Where the process was interrupted meanwhile, it is not
 * to stand for all others: it counts as 16 of them at most. */
static void instant_took(struct tac_sim *sim, double instant_s, double contact_s)
{
    enum { MEMORY = 64, MOST = 16 }; /* instants */
    const double most_s = MOST * sim->instant_s, part = most_s > 0 && instant_s > most_s ? most_s / instant_s : 1;
    sim->timed += sim->timed < MEMORY;
    sim->instant_s += (part * instant_s - sim->instant_s) / sim->timed;
    sim->contact_s += (part * contact_s - sim->contact_s) / sim->timed;
}

static void run_instant(struct tac_sim *sim, tac_time t)
{
    const struct tac_elastic *el = sim->elastic;
    if (sim->ranks && !tac_ranks_meet(sim, t))
        return;
    const bool timed = is_timed(sim);
    double begin_s = 0, contact_s = 0;
    if (timed)
        begin_s = tac_wall_s();
    for (size_t i = 0; i < sim->due_elastic_count; i++) {
        if (sim->record)
            bring_class(sim, &el->rate[sim->due_elastic[i]], t, sim->contact, true);
        else if (sim->contact)
            bring_class(sim, &el->rate[sim->due_elastic[i]], t, true, false);
        else
            bring_class(sim, &el->rate[sim->due_elastic[i]], t, false, false);
    }
    tac_loads_before(sim);
    const bool damped = sim->damped && tac_damping_begin(sim, t);
    for (int kind = TAC_KIND_GRAVITY; kind <= TAC_KIND_HINGE; kind++)
        for (size_t i = 0; i < sim->due_elastic_count; i++) {
            const struct tac_rate_class *rate = &el->rate[sim->due_elastic[i]];
            if (rate->count[kind] == 0)
                continue;
            if (kind == TAC_KIND_GRAVITY)
                tick_gravity(sim, rate);
            else
                tac_elastic_tick(rate, (enum tac_kind)kind, sim->pos, sim->vel, &sim->book);
            if (rate->rest[kind].count)
                tac_plastic_tick(rate, (enum tac_kind)kind, sim->pos, sim->vel, &sim->book, &sim->dissipated);
            sim->ticks[kind] += (int64_t)rate->mine[kind];
            if (rate->held_count[kind])
                tac_held_works(sim, rate, (enum tac_kind)kind, t);
        }
    if (timed)
        contact_s = -tac_wall_s();
    tac_contact_tick(sim, t);
    if (timed)
        contact_s += tac_wall_s();
    if (damped)
        tac_damping_kick(sim, t);
    tac_loads_tick(sim, t);
    if (sim->loss_count)
        tac_contact_losses(sim, t);
    if (damped)
        tac_damping_end(sim, t);
    if (timed)
        instant_took(sim, tac_wall_s() - begin_s, contact_s);
}

enum tac_err tac_pass_begin(struct tac_sim *sim)
{
    enum tac_err err;
    TAC_TRY(tac_watch_settle(sim));
    TAC_TRY(tac_clock_start(sim));
    const tac_lid n = sim->owned;
    sim->window_start = sim->now;
    sim->stop = TAC_STOP_NONE;
    memset(sim->ticks, 0, sizeof sim->ticks);
    sim->silent = 0;
    sim->dissipated_start = sim->dissipated;
    sim->work_start = sim->work;
    sim->book_start = sim->book;
    tac_loads_begin(sim);
    sim->deepest_start = sim->deepest_layer;
    tac_memory_save(sim->elastic);
    tac_damping_save(sim);
    if (sim->record)
        tac_record_mark(sim->record);
    if (!sim->contact) {
        if (sim->ranks)
            TAC_TRY(tac_ranks_begin(sim));
        goto done;
    }
    for (tac_lid i = 0; i < n; i++) {
        struct tac_line *line = &sim->line[i];
        memcpy(line->x, sim->pos[i].x, sizeof line->x);
        memcpy(line->v, sim->vel[i].v, sizeof line->v);
        line->t = sim->pos[i].t;
        line->deviation2 = 0;
    }
    for (size_t k = 0; k < sim->near_count; k++) {
        size_t i = (size_t)sim->near_list[k];
        memcpy(&sim->impulse_start[3 * i], &sim->impulse[3 * i], 3 * sizeof(double));
        sim->break_head[i] = -1;
    }
    sim->break_count = 0;
    tac_friction_begin(sim);
    for (size_t c = 0; c < sim->rung_class_count; c++)
        for (size_t k = 0; k < sim->rung_class[c].count; k++)
            sim->rung_class[c].rung[k].saved_d = sim->rung_class[c].rung[k].last_d;
    for (size_t k = 0; k < sim->pair_count; k++) {
        struct tac_pair *p = &sim->pair[k];
        p->t_near = -1;
        p->active = 0;
        p->d_tick_start = p->d_tick;
        p->t_tick_start = p->t_tick;
    }
    if (sim->ranks)
        TAC_TRY(tac_ranks_begin(sim));
done:
    return err;
}

static void keep_velocities(struct tac_sim *sim, tac_time t)
{
    sim->kept_at = t;
    sim->work_ahead = sim->dissipated_ahead = (struct tac_accum){0};
    for (tac_lid i = 0; i < sim->owned; i++)
        memcpy(&sim->v_before[3 * (size_t)i], sim->vel[i].v, 3 * sizeof(double));
}

void tac_pass_step(struct tac_sim *sim, tac_time t)
{
    if (t == sim->before_at || t == sim->next_knot)
        keep_velocities(sim, t);
    run_instant(sim, t);
}

void tac_pass_took(struct tac_sim *sim, double wall_s, double waited_s)
{
    const double share = sim->instant_s > 0 ? sim->contact_s / sim->instant_s : 0;
    const double contact_s = share * fmax(0, wall_s - waited_s);
    sim->counters.seconds_contact += contact_s;
    sim->counters.seconds_forces += wall_s - contact_s;
}

tac_time tac_pass_run(struct tac_sim *sim, tac_time end)
{
    const double start_s = tac_wall_s(), waited_s = tac_pass_waited(sim);
    tac_time t = sim->window_start, reached = end;
    sim->kept_at = -1;
    sim->window_end = end;
    sim->period_wanted = TAC_TIME_NEVER;
    while ((t = tac_clock_next(sim, t, end)) != TAC_TIME_NEVER) {
        if (sim->contact && sim->break_count + sim->near_count > sim->break_capacity) {
            if (!sim->ranks) {
                sim->stop = TAC_STOP_FULL;
                reached = t - 1;
                break;
            }
            /* Others wait for us: rather more room in mid-pass. */
            tac_ranks_failed(sim, tac_grow(sim->ctx, &sim->breaks, &sim->break_capacity,
                                           2 * (sim->break_count + sim->near_count), sizeof *sim->breaks));
        }
        tac_pass_step(sim, t);
        if (sim->ranks && tac_ranks_down(sim))
            break;
        if (sim->stop != TAC_STOP_NONE) {
            reached = t;
            break;
        }
    }
    for (int k = 0; k < TAC_KINDS; k++)
        sim->counters.executed[k] += sim->ticks[k];
    tac_pass_took(sim, tac_wall_s() - start_s, tac_pass_waited(sim) - waited_s);
    return reached;
}

enum tac_err tac_pass_restore(struct tac_sim *sim, tac_time believed)
{
    for (tac_lid i = 0; i < sim->owned; i++) {
        const struct tac_line *line = &sim->line[i];
        memcpy(sim->pos[i].x, line->x, sizeof line->x);
        memcpy(sim->vel[i].v, line->v, sizeof line->v);
        sim->pos[i].t = line->t;
    }
    for (size_t k = 0; k < sim->near_count; k++) {
        size_t i = (size_t)sim->near_list[k];
        memcpy(&sim->impulse[3 * i], &sim->impulse_start[3 * i], 3 * sizeof(double));
    }
    sim->dissipated = sim->dissipated_start;
    sim->work = sim->work_start;
    sim->book = sim->book_start;
    tac_loads_restore(sim);
    sim->deepest_layer = sim->deepest_start;
    tac_memory_restore(sim->elastic);
    if (sim->record)
        tac_record_undo(sim->record);
    tac_friction_restore(sim);
    tac_watch_undo(sim, believed);
    sim->counters.rollbacks++;
    for (int k = 0; k < TAC_KINDS; k++)
        sim->counters.repeated_ticks += sim->ticks[k];
    return TAC_OK;
}

enum tac_err tac_pass_commit(struct tac_sim *sim, tac_time end)
{
    for (int k = 0; k < TAC_KINDS; k++)
        sim->counters.committed[k] += sim->ticks[k];
    sim->counters.silent += sim->silent;
    sim->counters.windows++;
    sim->window_s = tac_seconds(sim, end - sim->window_start);
    sim->now = end;
    if (sim->deepest_layer > sim->deepest_ever)
        sim->deepest_ever = sim->deepest_layer;
    sim->counters.deepest_layer = sim->deepest_ever;
    tac_watch_believe(sim);
    return tac_watch_settle(sim);
}
