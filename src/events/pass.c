/* Running the instants of a window (design 2.2, 3.1). Nothing here allocates or logs. */
#include "events/friction.h"
#include "events/ranks.h"
#include "io/record.h"
#include <string.h>

enum {
    AHEAD = 6,    /* rungs whose pairs are fetched early */
    FORESIGHT = 2 /* ticks of the deepest rung within which the next one must not be reached unwatched */
};

/* tac_position, inlined where contacts tick. */
static inline __attribute__((always_inline)) void position(const struct tac_sim *sim, tac_lid i, tac_time t,
                                                           double x[3])
{
    const struct tac_pos *pos = &sim->pos[i];
    const struct tac_vel *vel = &sim->vel[i];
    if (pos->t == t) {
        memcpy(x, pos->x, sizeof pos->x);
    } else if (vel->w == 0 && sim->script_of[i] >= 0) {
        const struct tac_script *s = &sim->script[sim->script_of[i]];
        double dt = tac_seconds(sim, t - s->t);
        for (int k = 0; k < 3; k++)
            x[k] = s->x[k] + dt * s->v[k];
    } else {
        double dt = tac_seconds(sim, t - pos->t);
        for (int k = 0; k < 3; k++)
            x[k] = pos->x[k] + dt * vel->v[k];
    }
}

void tac_position(const struct tac_sim *sim, tac_lid i, tac_time t, double x[3])
{
    position(sim, i, t, x);
}

/* Brings a free vertex to t: rewrites (x, t). With contact, its path is kept. record: sim->record is there. */
static inline __attribute__((always_inline)) void bring_to(struct tac_sim *sim, tac_lid i, tac_time t, bool contact,
                                                           bool record)
{
    struct tac_pos *restrict pos = &sim->pos[i];
    struct tac_vel *restrict vel = &sim->vel[i];
    double dt = tac_seconds(sim, t - pos->t);
    pos->x[0] += dt * vel->v[0];
    pos->x[1] += dt * vel->v[1];
    pos->x[2] += dt * vel->v[2];
    pos->t = t;
    if (record)
        tac_record_keep(sim->record, i, t, pos->x);
    if (!contact)
        return;
    struct tac_line *restrict line = &sim->line[i];
    double s = tac_seconds(sim, t - line->t), r[3];
    for (int k = 0; k < 3; k++)
        r[k] = pos->x[k] - (line->x[k] + s * line->v[k]);
    double r2 = tac_dot(r, r);
    line->deviation2 = r2 > line->deviation2 ? r2 : line->deviation2;
    if (sim->near[i]) {
        int32_t k = (int32_t)sim->break_count++, head = sim->break_head[i];
        sim->breaks[k] =
            (struct tac_break){t, {pos->x[0], pos->x[1], pos->x[2]}, {vel->v[0], vel->v[1], vel->v[2]}, -1, 0};
        if (head >= 0)
            sim->breaks[head].next = k;
        else
            sim->break_first[i] = k;
        sim->break_head[i] = k;
    }
}

static inline void bring(struct tac_sim *sim, tac_lid i, tac_time t, bool contact)
{
    bring_to(sim, i, t, contact, sim->record != NULL);
}

static inline __attribute__((always_inline)) void bring_one_of_class(struct tac_sim *sim, tac_lid i, tac_time t,
                                                                     bool contact, bool record)
{
    if (sim->pos[i].t == t)
        return; /* free clocks: another class brought it */
    if (sim->vel[i].w != 0) {
        bring_to(sim, i, t, contact, record);
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

/* What scripts put in: minus the impulse on a scripted vertex times its mean velocity around the tick. */
static void script_work(struct tac_sim *sim, tac_lid i, const double j[3], tac_time t, tac_time period)
{
    double v[3], ahead[3];
    tac_script_velocity(sim, i, t, period, v, t == sim->kept_at ? ahead : NULL);
    tac_accum_add(&sim->work, -tac_dot(j, v));
    if (t == sim->kept_at)
        tac_accum_add(&sim->work_ahead, -tac_dot(j, ahead));
}

/* What of that a damper takes out again. */
static void script_loss(struct tac_sim *sim, tac_lid i, const double j[3], tac_time t, tac_time period)
{
    double v[3], ahead[3];
    tac_script_velocity(sim, i, t, period, v, t == sim->kept_at ? ahead : NULL);
    tac_accum_add(&sim->dissipated, -tac_dot(j, v));
    if (t == sim->kept_at)
        tac_accum_add(&sim->dissipated_ahead, -tac_dot(j, ahead));
}

void tac_held_works(struct tac_sim *sim, const struct tac_rate_class *rate, enum tac_kind kind, tac_time t)
{
    for (size_t k = 0; k < rate->held_count[kind]; k++) {
        size_t e = (size_t)rate->held[kind][k];
        int n;
        const tac_lid *v = tac_elastic_stencil(rate, kind, e, &n);
        double x[4][3], j[4][3];
        for (int i = 0; i < n; i++)
            memcpy(x[i], sim->pos[v[i]].x, sizeof x[i]);
        tac_elastic_impulse(rate, kind, e, x, j);
        for (int i = 0; i < n; i++)
            if (sim->vel[v[i]].w == 0 && sim->script_of[v[i]] >= 0) {
                script_work(sim, v[i], j[i], t, rate->period);
                if (kind == TAC_KIND_DAMPING) /* the script's work does not stay in the motion */
                    script_loss(sim, v[i], j[i], t, rate->period);
                /* The loop over the class entered this vertex' work as if it moved freely. */
                sim->book.work -= tac_dot(j[i], sim->vel[v[i]].v);
            }
    }
}

/* The positions of a pair at t. */
static inline void gather(const struct tac_sim *sim, const struct tac_pair *p, tac_time t, double x[4][3])
{
    for (int k = 0; k < p->count; k++)
        position(sim, p->v[k], t, x[k]);
    tac_model_gather(sim->model, (enum tac_pair_type)p->type, p->v, x);
}

/* Is the pair certainly silent at t, in the arithmetic of its tick?  The two primitives' extents along the last normal
 * bound their distance from below, for a quarter of the price of the distance. `clear` is the distance under which
 * it matters; the bound is told. */
static inline bool surely_beyond(const struct tac_pair *p, const double x[4][3], double clear, double *bound)
{
    const double *n = p->near.n;
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < p->count; k++) {
        /* From vertex 0, so that coordinates far from the origin cost no accuracy. */
        double along = n[0] * (x[k][0] - x[0][0]) + n[1] * (x[k][1] - x[0][1]) + n[2] * (x[k][2] - x[0][2]);
        if (k < p->first)
            least = along < least ? along : least;
        else
            most = along > most ? along : most;
    }
    *bound = least - most;
    return *bound > clear;
}

static inline void look(struct tac_sim *sim, struct tac_pair *p, const double x[4][3], tac_time t)
{
    double gradient[4][3];
    tac_near_pair((enum tac_pair_type)p->type, x, &p->near);
    p->mollifier = 1;
    if (p->type == TAC_PAIR_EDGE_EDGE)
        tac_mollifier(x, &p->mollifier, gradient);
    p->t_near = t;
    /* Rounding of the distance and of the bound: 2^-50 of the longest way between vertices, with room to grow. */
    double size = 0;
    for (int k = 1; k < p->count; k++)
        for (int c = 0; c < 3; c++)
            size += fabs(x[k][c] - x[0][c]);
    p->guard = 0x1p-44 * size;
    (void)gradient;
}

/* Impulse of a rung on vertex k of its pair: normal w n + mollified dm/dx. */
static inline void rung_impulse(const struct tac_pair *p, int k, double normal, double mollified,
                                const double gradient[4][3], double j[3])
{
    double f = normal * p->near.w[k];
    for (int c = 0; c < 3; c++)
        j[c] = f * p->near.n[c];
    if (mollified != 0)
        for (int c = 0; c < 3; c++)
            j[c] += mollified * gradient[k][c];
}

/* Gives vertex i an impulse of a contact; returns its work. */
static inline double kick_vertex(struct tac_sim *sim, tac_lid i, tac_time t, tac_time period, const double j[3],
                                 bool contact)
{
    const double w = sim->vel[i].w;
    if (contact) {
        double *sum = &sim->impulse[3 * (size_t)i];
        sum[0] += j[0];
        sum[1] += j[1];
        sum[2] += j[2];
    }
    if (w == 0) {
        if (sim->script_of[i] >= 0)
            script_work(sim, i, j, t, period);
        return 0;
    }
    if (sim->pos[i].t != t) {
        bring(sim, i, t, true);
        if (sim->kicked)
            sim->kicked[sim->kicked_count++] = i;
    }
    double *v = sim->vel[i].v;
    const double work = j[0] * v[0] + j[1] * v[1] + j[2] * v[2] + .5 * w * (j[0] * j[0] + j[1] * j[1] + j[2] * j[2]);
    v[0] += w * j[0];
    v[1] += w * j[1];
    v[2] += w * j[2];
    return work;
}

static void kick_pair(struct tac_sim *sim, struct tac_pair *p, tac_time t, tac_time period, double normal,
                      double mollified)
{
    double gradient[4][3], m, work = 0;
    if (mollified != 0) {
        double x[4][3];
        gather(sim, p, t, x);
        tac_mollifier(x, &m, gradient);
    }
    for (int k = 0; k < p->count; k++) {
        double j[3];
        rung_impulse(p, k, normal, mollified, gradient, j);
        work += kick_vertex(sim, p->v[k], t, period, j, !tac_pair_is_limit((enum tac_pair_type)p->type));
    }
    sim->book.work += work;
    sim->book.absolute += fabs(work);
}

/* The same of a triangle's limit, where each principal stretch has layers: `normal` is what those of the larger one
 * give.  So the potential has no kink where both are equal and any direction may stand for the larger one: there both
 * give alike, and their sum is the same for all directions. */
static void kick_triangle(struct tac_sim *sim, struct tac_pair *p, const struct tac_rung *e,
                          const struct tac_rung_class *c, tac_time t, double normal)
{
    const struct tac_model *model = sim->model;
    double x[4][3], f = 0, work = 0;
    struct tac_near near[2];
    gather(sim, p, t, x);
    tac_near_stretch(x, near);
    const double d = near[1].d - p->form.radius;
    for (int32_t l = e->first; l <= e->last; l++) {
        const double g = d - p->form.thickness * model->reach[l];
        if (g >= 0)
            break;
        f -= model->rate[l] * g;
    }
    const double other = c->h_s * p->form.stiffness * f;
    for (int k = 0; k < p->count; k++) {
        double j[3];
        for (int i = 0; i < 3; i++)
            j[i] = normal * near[0].w[k] * near[0].n[i] + other * near[1].w[k] * near[1].n[i];
        work += kick_vertex(sim, p->v[k], t, c->period, j, false);
    }
    sim->book.work += work;
    sim->book.absolute += fabs(work);
}

/* Friction of all pairs that ticked at this instant. */
static void rub_pairs(struct tac_sim *sim, tac_time t)
{
    for (size_t n = 0; n < sim->friction->touched_count; n++) {
        struct tac_friction_kick kick;
        tac_friction_tick(sim, n, t, &kick);
        const struct tac_pair *p = &sim->pair[kick.pair];
        double work = 0;
        for (int k = 0; k < p->count; k++) {
            double j[3];
            for (int c = 0; c < 3; c++)
                j[c] = -p->near.w[k] * kick.j[c];
            work += kick_vertex(sim, p->v[k], t, kick.period, j, true);
        }
        sim->book.work += work;
        sim->book.absolute += fabs(work);
        sim->loss[sim->loss_count++] =
            (struct tac_loss){kick.pair, kick.period, 0, 0, {kick.j[0], kick.j[1], kick.j[2]}};
    }
    tac_friction_close(sim);
}

/* One tick of a rung: layers first..last of a pair, all with the same period. */
static void tick_rung(struct tac_sim *sim, struct tac_rung *e, const struct tac_rung_class *c, tac_time t)
{
    struct tac_pair *p = &sim->pair[e->pair];
    const struct tac_model *model = sim->model;
    const double eta1 = p->form.thickness;
    const bool foresees = sim->mode == TAC_DISCOVER_SPECULATE && e->last == p->depth;
    if (tac_pair_is_limit((enum tac_pair_type)p->type)) {
        sim->ticks[TAC_KIND_PENALTY]--;
        sim->ticks[TAC_KIND_LIMIT]++;
    }
    if (p->t_near != t) {
        double x[4][3], bound, clear = p->form.radius + eta1 * model->reach[e->first] + p->guard;
        gather(sim, p, t, x);
        if (sim->mode != TAC_DISCOVER_ALL_PAIRS && !tac_pair_grows((enum tac_pair_type)p->type) &&
            surely_beyond(p, x, clear, &bound) && (!foresees || p->d_tick - bound < .25 * (bound - p->next))) {
            e->last_d = INFINITY;
            sim->silent++;
            if (e->first == 1 && e->anchor >= 0)
                tac_friction_erase(sim, e->pair);
            if (e->last == p->depth) {
                p->deep_last = INFINITY;
                p->d_tick = bound;
                p->t_tick = t;
            }
            return;
        }
        look(sim, p, x, t);
    }
    const double d = p->near.d - p->form.radius;
    if (d >= eta1 * model->reach[e->first]) {
        e->last_d = INFINITY;
        sim->silent++;
        if (e->first == 1 && e->anchor >= 0)
            tac_friction_erase(sim, e->pair);
    } else {
        double f = 0, g2 = 0;
        int32_t l = e->first;
        for (; l <= e->last; l++) {
            double g = d - eta1 * model->reach[l];
            if (g >= 0)
                break;
            double rg = model->rate[l] * g;
            f -= rg;
            g2 += rg * g;
        }
        if (l - 1 > sim->deepest_layer && !tac_pair_is_limit((enum tac_pair_type)p->type))
            sim->deepest_layer = l - 1;
        double hr = c->h_s * p->form.stiffness;
        double normal = hr * f * p->mollifier, mollified = p->mollifier < 1 ? -.5 * hr * g2 : 0;
        /* All active layers of a rung were active at its last tick or are approached: one test serves them. */
        if (e->last_d < d && p->form.law->e2 != 1) {
            sim->loss[sim->loss_count++] = (struct tac_loss){
                e->pair, c->period, (p->form.law->e2 - 1) * normal, (p->form.law->e2 - 1) * mollified, {0, 0, 0}};
            normal *= p->form.law->e2;
            mollified *= p->form.law->e2;
        }
        if (e->anchor >= 0)
            tac_friction_enter(sim, e, c, normal);
        e->last_d = d;
        p->active = e->first > p->active ? e->first : p->active;
        if (p->type == TAC_PAIR_WIDE)
            kick_triangle(sim, p, e, c, t, normal);
        else
            kick_pair(sim, p, t, c->period, normal, mollified);
    }
    if (e->last == p->depth)
        p->deep_last = e->last_d;
    if (!foresees)
        return;
    /* The pair's deepest watched rung: is the next one about to be needed? */
    if (p->near.d < p->next) {
        sim->stop = sim->ranks ? TAC_STOP_NONE : TAC_STOP_ABORT; /* other ranks wait for what comes after */
    } else if (p->depth < p->form.bottom && p->d_tick < INFINITY && p->d_tick > p->near.d && p->t_tick < t) {
        double speed = (p->near.d - p->d_tick) / tac_seconds(sim, t - p->t_tick);
        while (p->depth < p->form.bottom && p->near.d + FORESIGHT * speed * tac_seconds(sim, p->deep_period) < p->next)
            if (!tac_watch_deepen(sim, e->pair, t)) {
                sim->stop = sim->ranks ? TAC_STOP_NONE : TAC_STOP_ABORT;
                break;
            }
    }
    p->d_tick = p->near.d;
    p->t_tick = t;
}

/* Pairs lie in the order in which they came to be watched, so a class visits them all over memory. */
static inline void prefetch_pair(const struct tac_sim *sim, const struct tac_rung_class *c, size_t i)
{
    if (i >= c->count)
        return;
    const char *p = (const char *)&sim->pair[c->rung[i].pair];
    for (size_t k = 0; k < sizeof(struct tac_pair); k += 64)
        __builtin_prefetch(p + k, 1);
}

static void tick_rungs(struct tac_sim *sim, struct tac_rung_class *c, tac_time t)
{
    size_t i = 0, j = 0;
    sim->ticks[TAC_KIND_PENALTY] += (int64_t)(c->count + c->extra_count);
    if (c->extra_count == 0) {
        for (; i < c->count; i++) {
            prefetch_pair(sim, c, i + AHEAD);
            tick_rung(sim, &c->rung[i], c, t);
        }
        return;
    }
    while (i < c->count || j < c->extra_count) {
        bool from_extra =
            i >= c->count ||
            (j < c->extra_count && (c->extra[j].key < c->rung[i].key ||
                                    (c->extra[j].key == c->rung[i].key && c->extra[j].first < c->rung[i].first)));
        tick_rung(sim, from_extra ? &c->extra[j++] : &c->rung[i++], c, t);
    }
}

/* Mean velocity of vertex i over the kicks of instant t; of a scripted one, around the tick of a force of this period.
 */
static void mean_velocity(const struct tac_sim *sim, tac_lid i, tac_time t, tac_time period, double v[3])
{
    v[0] = v[1] = v[2] = 0;
    if (sim->vel[i].w == 0) {
        if (sim->script_of[i] >= 0)
            tac_script_velocity(sim, i, t, period, v, NULL);
        return;
    }
    const struct tac_break *b = &sim->breaks[sim->break_head[i]];
    TAC_ASSERT(b->t == t);
    for (int k = 0; k < 3; k++)
        v[k] = .5 * (b->v[k] + sim->vel[i].v[k]);
}

/* What restitution and friction took away at this instant: minus the work of the part of the kick that was left out,
 * or of the kick. */
static void enter_losses(struct tac_sim *sim, tac_time t)
{
    for (size_t n = 0; n < sim->loss_count; n++) {
        const struct tac_loss *loss = &sim->loss[n];
        const struct tac_pair *p = &sim->pair[loss->pair];
        double gradient[4][3], m;
        if (loss->mollified != 0) {
            double x[4][3];
            gather(sim, p, t, x);
            tac_mollifier(x, &m, gradient);
        }
        for (int k = 0; k < p->count; k++) {
            double j[3], v[3];
            if (p->v[k] >= sim->owned)
                continue;
            rung_impulse(p, k, loss->normal, loss->mollified, gradient, j);
            for (int c = 0; c < 3; c++)
                j[c] -= p->near.w[k] * loss->rub[c];
            mean_velocity(sim, p->v[k], t, loss->period, v);
            double work = tac_dot(j, v); /* entered by the vertex: its owner alone has its velocity */
            tac_accum_add(&sim->dissipated, -work);
            if (t == sim->kept_at)
                tac_accum_add(&sim->dissipated_ahead, -.5 * work);
        }
    }
    sim->loss_count = 0;
}

/* Penalty layers and their friction.  Kinetic structures tell their time apart, as the papers do. */
static void tick_contact(struct tac_sim *sim, tac_time t)
{
    const bool timed = sim->kinetic != NULL && sim->due_rung_count > 0;
    const double begin_s = timed ? tac_wall_s() : 0;
    for (size_t i = 0; i < sim->due_rung_count; i++)
        tick_rungs(sim, &sim->rung_class[sim->due_rung[i]], t);
    if (sim->friction != NULL && sim->friction->touched_count)
        rub_pairs(sim, t);
    if (timed) {
        const double took_s = tac_wall_s() - begin_s;
        sim->counters.seconds_contact += took_s;
        sim->counters.seconds_forces -= took_s;
    }
}

static void run_instant(struct tac_sim *sim, tac_time t)
{
    const struct tac_elastic *el = sim->elastic;
    if (sim->ranks && !tac_ranks_meet(sim, t))
        return;
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
    tick_contact(sim, t);
    if (damped)
        tac_damping_kick(sim, t);
    tac_loads_tick(sim, t);
    if (sim->loss_count)
        enter_losses(sim, t);
    if (damped)
        tac_damping_end(sim, t);
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

tac_time tac_pass_run(struct tac_sim *sim, tac_time end)
{
    double start_s = tac_wall_s();
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
    sim->counters.seconds_forces += tac_wall_s() - start_s;
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
