/* contact_tick.c: the ticks of contact: penalty layers, limits of stretch and friction, and the energy that they take
 * away (docs/explanation/method.md, Penalty layers, Restitution, Friction; ACM 2009, section 4).  src/contact evaluates
 * what a pair does; here its impulses are applied.
 *
 * Nothing here logs, and on one rank with nested clocks nothing allocates. On several ranks, and with free clocks, a
 * pair that becomes deeper may need room that it must have at once (deepen.c). */
#include "contact/evaluate.h"
#include "contact/evaluate_four.h"
#include "contact/friction.h"
#include "events/clock/rate_groups.h"
#include "events/forces/kick.h"
#include "events/ranks/ranks.h"

enum {
    FEW = 3,               /* pairs that four lanes serve better than one after the other */
    CHUNK = 32,            /* layer groups that are evaluated before they tick, and fetched before that */
    CACHED = 1 << 20,      /* bytes of pairs that stay in the cache from instant to instant: none is fetched */
    MOST_SKIPPED = 1 << 20 /* silent ticks of a layer group at once */
};

/* The positions of a pair at t. */
static inline void gather_positions(const struct tac_sim *sim, const struct tac_pair *p, tac_time t, double x[4][3])
{
    for (int k = 0; k < p->count; k++)
        tac_state_position(&sim->state, &sim->scripts, p->v[k], t, x[k]);
    tac_model_gather(sim->model, (enum tac_pair_type)p->type, p->v, x);
}

/* Gives the kicks of a triangle's limit. Each of the two principal stretches has layers; `normal` is the impulse of
 * those of the larger one. With layers for both, the potential has no kink where the stretches are equal and the
 * direction of the larger one is arbitrary: there both impulses are equal, and their sum is the same for all
 * directions. */
static void kick_triangle(struct tac_sim *sim, struct tac_pair *p, const struct tac_layer_group *e,
                          const struct tac_rate_group *c, tac_time t, double normal)
{
    const struct tac_model *model = sim->model;
    double x[4][3], f, g2;
    tac_four work = {0, 0, 0, 0};
    struct tac_near near[2];
    gather_positions(sim, p, t, x);
    tac_near_stretch(x, near);
    const double d = near[1].d - p->form.radius;
    (void)tac_layers_force(model, p->form.thickness, d, e->first, e->last, &f, &g2);
    const double other = c->h_s * p->form.stiffness * f;
    for (int k = 0; k < p->count; k++) {
        tac_four j = {0, 0, 0, 0};
        for (int i = 0; i < 3; i++)
            j[i] = normal * near[0].w[k] * near[0].n[i] + other * near[1].w[k] * near[1].n[i];
        work += tac_kick_vertex(sim, p->v[k], t, c->period, j, TAC_KICK_LIMIT);
    }
    tac_kick_book(&sim->books, work);
}

/* Passes the normal impulse of an active tick to friction. */
static inline void enter_friction(struct tac_sim *sim, const struct tac_pair *p, const struct tac_near *near,
                                  const struct tac_layer_group *e, const struct tac_rate_group *c, tac_time t,
                                  double normal)
{
    if (p->groups > 1) {
        tac_friction_enter(&sim->active, e, c, normal);
    } else {
        double x[4][3];
        struct tac_turns turns;
        gather_positions(sim, p, t, x);
        tac_friction_tick_only(&sim->active, e, c, normal, near, t, x,
                               tac_spin_gather(&sim->state, p, t, &turns) ? &turns : NULL);
    }
}

/* Makes room in the log for one more sleep. If the log is full, a pair of this rank alone stays awake; the owners of a
 * shared pair must all decide alike, so for them the log grows. */
static bool reserve_sleep(struct tac_sim *sim, const struct tac_pair *p)
{
    struct tac_active *active = &sim->active;
    if (active->sleep_count < active->sleep_capacity)
        return true;
    if (!p->shared)
        return false;
    tac_ranks_failed(sim->ranks, tac_grow(sim->ctx, &active->sleep, &active->sleep_capacity,
                                          2 * active->sleep_count + 1, sizeof *active->sleep));
    return active->sleep_count < active->sleep_capacity;
}

/* Lets a layer group sleep after a silent tick at t. Its ticks are silent above the distance `clear`, and the pair is
 * at least `room` above that, m. The next ticks are skipped as long as the pair, at twice its speed in the last window,
 * cannot come under `clear`. At the window's end it is proven, from the speed in this window, that every skipped tick
 * was silent (validation.c). All owners of a shared pair decide alike, because they use the same distance and a speed
 * on which they have agreed (orders.c). */
static inline void put_to_sleep(struct tac_sim *sim, struct tac_layer_group *e, struct tac_pair *p,
                                const struct tac_rate_group *c, tac_time t, double clear, double room)
{
    struct tac_active *active = &sim->active;
    if (!(p->speed > 0) || t < p->awake || !sim->find.validates)
        return;
    const double all = room / (2 * p->speed * c->h_s), ticks = all < MOST_SKIPPED ? all : MOST_SKIPPED;
    if (!(ticks >= 1) || !reserve_sleep(sim, p))
        return;
    const tac_time skipped = (tac_time)ticks;
    const double speed = room / ((double)skipped * c->h_s);
    const size_t at = ((uintptr_t)e - (uintptr_t)c->group) / sizeof *e; /* huge if it is one of `extra` before it */
    tac_time *wake = at < c->count ? &c->wake[at] : &e->wake;
    *wake = t + (skipped + 1) * c->period;
    p->sleep_speed = speed < p->sleep_speed ? speed : p->sleep_speed;
    active->sleep[active->sleep_count] = (struct tac_sleep){t, *wake - c->period, clear, speed, p->last_sleep};
    p->last_sleep = (int32_t)active->sleep_count++;
}

/* Keeps the geometry of a pair at this instant for its other layer groups that tick now, and for its friction. There is
 * room for each pair. */
static inline void keep_geometry(struct tac_active *active, int32_t slot, const struct tac_pair_geometry *g, tac_time t)
{
    struct tac_pair *p = &active->pair[slot];
    if (p->groups < 2)
        return;
    TAC_CHECK(active->kept_count < active->kept_capacity);
    p->kept = (int32_t)active->kept_count++;
    p->kept_sign = tac_pair_sign(t);
    active->kept[p->kept] = (struct tac_kept){slot, *g};
}

/* Returns the geometry that was kept of the pair at this instant, or NULL. */
static inline const struct tac_pair_geometry *kept_of(const struct tac_active *active, int32_t slot)
{
    const struct tac_pair *p = &active->pair[slot];
    if (p->groups < 2 || (size_t)p->kept >= active->kept_count || active->kept[p->kept].pair != slot)
        return NULL;
    return &active->kept[p->kept].geometry;
}

/* A layer group that is due. */
struct due_group {
    struct tac_layer_group *group;
    double bound; /* lower bound of the distance now, m, if it is silent by that */
    bool silent, evaluated;
};

/* Returns the distance, m, above which a group's tick is certainly silent: no layer acts there, and if the group is the
 * deepest one, the next one will not be needed soon. Processors cannot predict whether it is the deepest one, so the
 * code has no branch for this. */
static inline double silent_over(const struct tac_sim *sim, const struct tac_layer_group *e, const struct tac_pair *p)
{
    const double clear = e->clear + p->guard, calm = .8 * (p->d_tick + .25 * p->next),
                 over[2] = {clear, calm > clear ? calm : clear};
    if (sim->find.mode == TAC_DISCOVER_ALL_PAIRS || tac_pair_grows((enum tac_pair_type)p->type))
        return INFINITY;
    return over[sim->find.validates & (e->last == p->depth)];
}

/* Does what every silent tick of a layer group does. */
static inline void be_silent(struct tac_sim *sim, struct tac_layer_group *e)
{
    e->last_d = INFINITY;
    sim->books.silent++;
    if (e->first == 1 && e->anchor >= 0)
        tac_friction_erase(&sim->active, e->pair);
}

/* Ticks a layer group that is silent by the bound of its pair's distance alone. */
static void tick_silent(struct tac_sim *sim, const struct due_group *due, const struct tac_rate_group *c, tac_time t,
                        double bound)
{
    struct tac_layer_group *e = due->group;
    struct tac_pair *p = &sim->active.pair[e->pair];
    const double clear = e->clear + p->guard;
    be_silent(sim, e);
    if (e->last == p->depth) {
        p->d_least = bound - p->guard < p->d_least ? bound - p->guard : p->d_least;
        p->deep_last = INFINITY;
        p->d_tick = bound;
        p->t_tick = t;
    }
    put_to_sleep(sim, e, p, c, t, clear, bound - p->guard - clear);
}

/* Restitution: a pair that separates pushes with e^2 times its stiffness (docs/explanation/method.md, Restitution). The
 * part of the impulses that is left out is booked as lost. */
static inline void apply_restitution(struct tac_sim *sim, const struct tac_pair *p, const struct tac_near *near,
                                     const struct tac_rate_group *c, tac_time t, double *normal, double *mollified)
{
    const double e2 = p->form.law->e2;
    tac_contact_lose_pair(sim, p, near, t, c->period, (e2 - 1) * *normal, (e2 - 1) * *mollified);
    *normal *= e2;
    *mollified *= e2;
}

/* Ticks a layer group that would act on a vertex, which has passed on to another triangle of a flat part. Nothing is
 * moved. The distance from the plane is kept: it is what the other triangle has, so a vertex that comes back is judged
 * as if it had been over this one. */
static void tick_passed(struct tac_sim *sim, struct tac_layer_group *e, const struct tac_pair *p, tac_time t)
{
    double x[4][3];
    gather_positions(sim, p, t, x);
    const double d = tac_flat_height((const double(*)[3])x) - p->form.radius;
    be_silent(sim, e);
    if (d < p->form.thickness * sim->model->reach[e->first])
        e->last_d = d;
}

/* Ticks a layer group (layers first..last of a pair, all with the same period) for which the distance is needed.
 * `geometry` contains the pair's geometry at this instant if it has been evaluated; otherwise it is filled here. */
static void tick_group(struct tac_sim *sim, struct due_group *due, const struct tac_rate_group *c, tac_time t,
                       struct tac_pair_geometry *geometry)
{
    struct tac_layer_group *e = due->group;
    struct tac_pair *p = &sim->active.pair[e->pair];
    const struct tac_model *model = sim->model;
    const double eta1 = p->form.thickness;
    sim->books.ticks[tac_pair_is_limit((enum tac_pair_type)p->type) ? TAC_KIND_LIMIT : TAC_KIND_PENALTY]++;
    const struct tac_pair_geometry *g = geometry;
    const struct tac_pair_geometry *kept = due->evaluated ? NULL : kept_of(&sim->active, e->pair);
    if (kept != NULL) {
        g = kept;
    } else if (!due->evaluated) {
        double x[4][3], bound;
        gather_positions(sim, p, t, x);
        if (!tac_pair_grows((enum tac_pair_type)p->type) && tac_pair_beyond(p, x, silent_over(sim, e, p), &bound)) {
            tick_silent(sim, due, c, t, bound);
            return;
        }
        tac_pair_evaluate(p, x, geometry);
        keep_geometry(&sim->active, e->pair, geometry, t);
    }
    const double d = g->near.d - p->form.radius;
    if (d >= eta1 * model->reach[e->first]) {
        be_silent(sim, e);
        const double clear = e->clear + p->guard;
        put_to_sleep(sim, e, p, c, t, clear, g->near.d - p->guard - clear);
    } else if (p->flat && g->mollifier == 0) {
        tick_passed(sim, e, p, t);
    } else {
        double f, g2;
        const int32_t deepest = tac_layers_force(model, eta1, d, e->first, e->last, &f, &g2);
        if (deepest > sim->books.deepest_layer && !tac_pair_is_limit((enum tac_pair_type)p->type))
            sim->books.deepest_layer = deepest;
        double hr = c->h_s * p->form.stiffness;
        double normal = hr * f * g->mollifier, mollified = g->mollifier < 1 ? -.5 * hr * g2 : 0;
        /* All active layers of a layer group were active at its last tick or are approached: one test serves them. */
        if (p->form.law->e2 != 1 && e->last_d < d)
            apply_restitution(sim, p, &g->near, c, t, &normal, &mollified);
        if (e->anchor >= 0)
            enter_friction(sim, p, &g->near, e, c, t, normal);
        e->last_d = d;
        p->active = e->first > p->active ? e->first : p->active;
        if (p->type == TAC_PAIR_WIDE)
            kick_triangle(sim, p, e, c, t, normal);
        else if (p->type == TAC_PAIR_VERTEX_VERTEX)
            tac_contact_kick_particles(sim, p, &g->near, t, c->period, normal);
        else
            tac_contact_kick_pair(sim, p, &g->near, t, c->period, normal, mollified);
    }
    if (e->last != p->depth)
        return;
    p->deep_last = e->last_d;
    p->d_least = g->near.d < p->d_least ? g->near.d : p->d_least;
    if (!sim->find.validates || p->proven)
        return;
    /* The pair's deepest active layer group: is the next one about to be needed? */
    if (g->near.d < p->next) {
        sim->control.stop =
            tac_ranks_halo(sim->ranks) ? TAC_STOP_NONE : TAC_STOP_ABORT; /* other ranks wait for what comes after */
    } else if (p->d_tick < INFINITY && p->d_tick > g->near.d && p->t_tick < t) {
        double speed = (g->near.d - p->d_tick) / tac_state_seconds(&sim->state, t - p->t_tick);
        if (tac_pair_is_soon(p, g->near.d, speed * tac_state_seconds(&sim->state, p->deep_period)) &&
            !tac_active_foresee(sim, e->pair, t, g->near.d, speed))
            sim->control.stop = tac_ranks_halo(sim->ranks) ? TAC_STOP_NONE : TAC_STOP_ABORT;
    }
    p->d_tick = g->near.d;
    p->t_tick = t;
}

/* Fetches a pair into the cache while those before it tick. Most pairs of a class lie in memory in the order of ticks
 * (slots.c), but those that were added since the last sorting do not. Always inline, as tac_pair_fetch() is. */
static inline __attribute__((always_inline)) void prefetch_pair(const struct tac_sim *sim,
                                                                const struct tac_layer_group *e)
{
    const char *p = (const char *)&sim->active.pair[e->pair];
    for (int k = 0; k < TAC_PAIR_LINES; k++)
        __builtin_prefetch(p + 64 * k, 1);
    if (e->last_d == INFINITY) /* it was silent, so it may sleep */
        __builtin_prefetch(p + offsetof(struct tac_pair, speed), 1);
    if (e->anchor >= 0 && e->last_d < INFINITY) { /* it acted, so it will */
        p = (const char *)&sim->active.friction->friction_state[e->pair];
        for (size_t k = 0; k < sizeof(struct tac_friction_state); k += 64)
            __builtin_prefetch(p + k, 1);
        __builtin_prefetch(&sim->active.friction->anchor[e->anchor], 1);
        __builtin_prefetch(&sim->active.friction->anchor[e->anchor].kept, 1); /* it may be on two lines */
    }
}

/* Evaluates the pairs of due groups, four of one type side by side. The tick itself evaluates the rarer types; pairs
 * that were evaluated at this instant already are left out.  Kicks of this instant do not change the positions at it.
 */
static void evaluate_groups(struct tac_sim *sim, struct due_group *due, int count, tac_time t,
                            struct tac_pair_geometry *geometry)
{
    enum { TRIANGLES, EDGES, PARTICLES, KINDS };
    struct due_group *batch[KINDS][5]; /* the fifth is scratch */
    int filled[KINDS] = {0};
    const uint8_t sign = tac_pair_sign(t);
    for (int i = 0; i < count + KINDS; i++) {
        const bool flush = i >= count; /* at the end: what is left of each type */
        int kind = i - count;
        if (!flush) {
            const struct tac_pair *p = &sim->active.pair[due[i].group->pair];
            if (p->type > TAC_PAIR_EDGE_EDGE && p->type != TAC_PAIR_VERTEX_VERTEX)
                continue;
            kind = p->type == TAC_PAIR_VERTEX_VERTEX ? PARTICLES : p->type == TAC_PAIR_EDGE_EDGE ? EDGES : TRIANGLES;
            batch[kind][filled[kind]] = &due[i];
            filled[kind] += !((p->groups > 1) & (p->kept_sign == sign)); /* a branch would be foreseen wrongly */
        }
        if (filled[kind] < (flush ? FEW : 4))
            continue;
        struct tac_pair *p[4];
        struct tac_pair_geometry *g[4];
        double over[4], bound[4];
        for (int l = 0; l < 4; l++) {
            struct due_group *d = batch[kind][l < filled[kind] ? l : 0];
            p[l] = &sim->active.pair[d->group->pair];
            g[l] = &geometry[d - due];
            over[l] = silent_over(sim, d->group, p[l]);
        }
        const int silent = kind == PARTICLES
                               ? tac_particles_evaluate_four(&sim->state, &sim->scripts, p, over, bound, t, g)
                               : tac_pairs_evaluate_four(&sim->state, &sim->scripts, p, over, bound, t, g);
        for (int l = 0; l < filled[kind]; l++) {
            batch[kind][l]->silent = silent >> l & 1;
            batch[kind][l]->bound = bound[l];
            batch[kind][l]->evaluated = true;
            if (!(silent >> l & 1))
                keep_geometry(&sim->active, batch[kind][l]->group->pair, g[l], t);
        }
        filled[kind] = 0;
    }
}

/* A walk through a class: the next of its groups, and the next of those that were born in this pass. */
struct walk {
    struct tac_rate_group *c;
    size_t i, j;
};

/* Lists the next groups that are due, CHUNK at most, in the order of keys, and returns their number. `due` has room for
 * one more. */
static int next_due(struct walk *w, tac_time t, struct due_group *due)
{
    struct tac_rate_group *c = w->c;
    int count = 0;
    while (count < CHUNK && w->j < c->extra_count) {
        struct tac_layer_group *extra = &c->extra[w->j];
        const bool from_extra = w->i >= c->count || tac_groups_before(extra, &c->group[w->i]);
        due[count].group = from_extra ? extra : &c->group[w->i];
        count += (from_extra ? extra->wake : c->wake[w->i]) <= t; /* a branch would be foreseen wrongly */
        w->j += from_extra;
        w->i += !from_extra;
    }
    size_t i = w->i;
    for (; count < CHUNK && i < c->count; i++) {
        due[count].group = &c->group[i];
        count += c->wake[i] <= t;
    }
    w->i = i;
    return count;
}

/* Ticks one class in the order of keys. While the groups of a chunk tick, the pairs of the next chunk and the groups of
 * the chunk after that are fetched into the cache, one per tick: if all were fetched at once, the processor would run
 * out of buffers for cache lines, and wait. */
static void tick_groups(struct tac_sim *sim, struct tac_rate_group *c, tac_time t)
{
    enum { AHEAD = 3 };
    struct due_group chunk[AHEAD][CHUNK + 1];
    int count[AHEAD];
    struct tac_pair_geometry geometry[CHUNK];
    struct walk walk = {c, 0, 0};
    const bool fetch = sim->active.pair_count * TAC_PAIR_LINES * 64 > CACHED;
    for (int i = 0; i < AHEAD - 1; i++)
        count[i] = next_due(&walk, t, chunk[i]);
    for (int k = 0; fetch && k < count[0]; k++)
        prefetch_pair(sim, chunk[0][k].group);
    for (int turn = 0; count[turn] > 0; turn = (turn + 1) % AHEAD) {
        const int next = (turn + 1) % AHEAD, last = (turn + 2) % AHEAD, now = count[turn];
        struct due_group *due = chunk[turn];
        count[last] = next_due(&walk, t, chunk[last]);
        for (int k = 0; k < now; k++) {
            due[k].silent = due[k].evaluated = false;
        }
        evaluate_groups(sim, due, now, t, geometry);
        /* Silent ones move nothing, so they tick first: which ones they are no processor foresees. */
        int silent[CHUNK], other[CHUNK], silent_count = 0, other_count = 0;
        for (int k = 0; k < now; k++) {
            silent[silent_count] = other[other_count] = k;
            silent_count += due[k].silent;
            other_count += !due[k].silent;
        }
        sim->books.ticks[TAC_KIND_PENALTY] += silent_count; /* limits are not evaluated side by side */
        for (int k = 0; k < now; k++) {
            if (fetch && k < count[next])
                prefetch_pair(sim, chunk[next][k].group);
            if (fetch && k < count[last])
                __builtin_prefetch(chunk[last][k].group, 1);
            if (k < silent_count)
                tick_silent(sim, &due[silent[k]], c, t, due[silent[k]].bound);
            else
                tick_group(sim, &due[other[k - silent_count]], c, t, &geometry[other[k - silent_count]]);
        }
    }
}

/* Penalty layers and their friction. */
void tac_contact_tick(struct tac_sim *sim, tac_time t)
{
    sim->active.kept_count = 0;
    for (size_t i = 0; i < sim->clocks.due_group_count; i++)
        tick_groups(sim, &sim->active.rate_group[sim->clocks.due_group[i]], t);
    if (sim->active.friction != NULL && sim->active.friction->kick_count)
        tac_friction_apply(sim, t);
    if (sim->active.deeper_count)
        tac_active_deepen(sim, t);
}
