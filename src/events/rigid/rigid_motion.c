/* rigid_motion.c: the motion of rigid bodies: kicks, plans, and what is kept of them for a window. */
#include "events/rigid/rigid_motion.h"
#include "base/compare.h"
#include "events/rigid/rigid_vertices.h"
#include "scene/period.h"
#include "state/chord.h"
#include "state/pose.h"
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* A chord ends no sooner than this part of its usual length from now, because rounding is divided by what is left. */
enum { NEAREST_PART = 16 };
enum { SHORTEST = 4096 }; /* quanta */

void tac_rigid_order(struct tac_rigid *r)
{
    for (size_t k = 0; k < r->count; k++) {
        tac_queue_set(r->ends, (int32_t)k, r->motion[k].t1);
        r->listed[k] = -1;
    }
    r->due_count = 0;
}

/* ---- motion ---- */

static void advance_motion(const struct tac_sim *sim, struct tac_rigid_motion *m, tac_time t)
{
    const double dt = tac_state_seconds(&sim->state, t - m->t);
    for (int i = 0; i < 3; i++) {
        m->c[i] += dt * m->u[i];
        for (int k = 0; k < 3; k++)
            m->a[k][i] += dt * m->b[k][i];
    }
    m->t = t;
}

/* Brings a body to t, an event of it. Its vertices follow at the end of the instant. */
static void bring_to(struct tac_sim *sim, int32_t k, tac_time t)
{
    struct tac_rigid *r = &sim->rigid;
    if (r->listed[k] == t)
        return;
    r->listed[k] = t;
    r->plans[k] = 0;
    r->due[r->due_count++] = k;
    if (r->motion[k].t != t)
        advance_motion(sim, &r->motion[k], t);
    if (sim->contact)
        tac_rigid_vertices_measure(sim, k);
}

/* The same, and lists the body for a plan. */
static void list_for_plan(struct tac_sim *sim, int32_t k, tac_time t)
{
    bring_to(sim, k, t);
    sim->rigid.plans[k] = 1;
}

double tac_rigid_kick(struct tac_sim *sim, tac_lid i, tac_time t, const double j[3])
{
    struct tac_rigid *r = &sim->rigid;
    const int32_t k = r->of[i];
    const double *x = &r->local[3 * (size_t)i], square = tac_dot(j, j);
    const struct tac_rigid_piece *p = &r->piece[k];
    struct tac_rigid_motion *m = &r->motion[k];
    list_for_plan(sim, k, t);
    double v[3], w = p->inverse;
    for (int c = 0; c < 3; c++)
        v[c] = m->u[c] + (x[0] * m->b[0][c] + x[1] * m->b[1][c] + x[2] * m->b[2][c]);
    for (int a = 0; a < 3; a++)
        w += x[a] * x[a] * p->around[a];
    for (int c = 0; c < 3; c++) {
        m->u[c] += p->inverse * j[c];
        for (int a = 0; a < 3; a++)
            m->b[a][c] += x[a] * p->around[a] * j[c];
    }
    return tac_dot(j, v) + .5 * w * square;
}

void tac_rigid_spin(const struct tac_sim *sim, int32_t k, tac_time t, double w[3])
{
    struct tac_rigid_motion m = sim->rigid.motion[k];
    const double *second = sim->rigid.piece[k].second;
    double l[3], nearest[3][3];
    if (m.t != t)
        advance_motion(sim, &m, t);
    tac_chord_momentum(second, (const double(*)[3])m.a, (const double(*)[3])m.b, l);
    tac_chord_nearest((const double(*)[3])m.a, nearest);
    tac_chord_spin(second, (const double(*)[3])nearest, l, w);
}

/* As w x a_k, with the w that gives this angular momentum; twice corrected, since the axes are not quite a rotation. */
void tac_rigid_twist(struct tac_sim *sim, int32_t k, tac_time t, const double l[3])
{
    enum { STEPS = 3 };
    const double *second = sim->rigid.piece[k].second;
    struct tac_rigid_motion *m = &sim->rigid.motion[k];
    double nearest[3][3], change[3][3] = {{0}}, work = 0;
    list_for_plan(sim, k, t);
    tac_chord_nearest((const double(*)[3])m->a, nearest);
    for (int n = 0; n < STEPS; n++) {
        double have[3], lack[3], w[3], add[3];
        tac_chord_momentum(second, (const double(*)[3])m->a, (const double(*)[3])change, have);
        tac_sub(lack, l, have);
        tac_chord_spin(second, (const double(*)[3])nearest, lack, w);
        for (int a = 0; a < 3; a++) {
            tac_cross(add, w, m->a[a]);
            for (int c = 0; c < 3; c++)
                change[a][c] += add[c];
        }
    }
    for (int a = 0; a < 3; a++) {
        work += second[a] * (tac_dot(m->b[a], change[a]) + .5 * tac_dot(change[a], change[a]));
        for (int c = 0; c < 3; c++)
            m->b[a][c] += change[a][c];
    }
    sim->books.book.work += work;
    sim->books.book.absolute += fabs(work);
}

void tac_rigid_pull(struct tac_sim *sim, tac_time t, const double dv[3])
{
    struct tac_rigid *r = &sim->rigid;
    const double half = .5 * tac_dot(dv, dv);
    for (size_t k = 0; k < r->count; k++) {
        struct tac_rigid_motion *m = &r->motion[k];
        bring_to(sim, (int32_t)k, t);
        const double work = r->piece[k].mass * (tac_dot(dv, m->u) + half);
        sim->books.book.work += work;
        sim->books.book.absolute += fabs(work);
        for (int i = 0; i < 3; i++)
            m->u[i] += dv[i];
    }
}

static double turning_energy(const struct tac_rigid_piece *p, const double b[3][3])
{
    return .5 * (p->second[0] * tac_dot(b[0], b[0]) + p->second[1] * tac_dot(b[1], b[1]) +
                 p->second[2] * tac_dot(b[2], b[2]));
}

/* Chooses when the chord from t of body k ends. A body that turns too fast is only noted: the pass may be thrown away.
 */
static tac_time choose_end(struct tac_sim *sim, int32_t k, const double w[3], tac_time t)
{
    const struct tac_clock_settings *clocks = &sim->scene->settings->clocks;
    const double spin = sqrt(tac_dot(w, w));
    tac_time h = 1;
    while (2 * h * sim->state.quantum <= clocks->rigid_s && h < ((tac_time)1 << 50))
        h *= 2;
    while (h >= SHORTEST && spin * tac_state_seconds(&sim->state, h) > clocks->turn)
        h /= 2;
    if (h < SHORTEST) {
        if (sim->rigid.too_fast.place < 0) {
            sim->rigid.too_fast.place = k;
            sim->rigid.too_fast.t = t;
            sim->rigid.too_fast.spin = spin;
        }
        h = SHORTEST;
    }
    return ((t + h / NEAREST_PART) / h + 1) * h;
}

static void plan_body(struct tac_sim *sim, int32_t k, tac_time t)
{
    struct tac_rigid *r = &sim->rigid;
    const struct tac_rigid_piece *p = &r->piece[k];
    struct tac_rigid_motion *m = &r->motion[k];
    double l[3], nearest[3][3], w[3];
    const double(*a)[3] = (const double(*)[3])m->a;
    tac_chord_momentum(p->second, a, (const double(*)[3])m->b, l);
    tac_chord_nearest(a, nearest);
    tac_chord_spin(p->second, (const double(*)[3])nearest, l, w);
    m->t1 = choose_end(sim, k, w, t);
    tac_queue_set(r->ends, k, m->t1);
    const double tau = tac_state_seconds(&sim->state, m->t1 - t), had = turning_energy(p, (const double(*)[3])m->b);
    tac_chord_plan(p->second, a, (const double(*)[3])nearest, l, tau, m->b);
    const double work = turning_energy(p, (const double(*)[3])m->b) - had;
    sim->books.book.work += work;
    sim->books.book.absolute += fabs(work);
}

void tac_rigid_plan(struct tac_sim *sim, tac_time t)
{
    struct tac_rigid *r = &sim->rigid;
    for (int32_t k; r->count > 0 && tac_queue_due(r->ends, t + 1, &k);)
        list_for_plan(sim, k, t);
    if (r->due_count > 1)
        qsort(r->due, r->due_count, sizeof *r->due, tac_compare_int32);
    for (size_t n = 0; n < r->due_count; n++) {
        const int32_t k = r->due[n];
        if (r->plans[k])
            plan_body(sim, k, t);
        sim->books.counters.rigid_plans += r->plans[k];
        tac_rigid_vertices_follow(sim, k, t);
    }
    r->due_count = 0;
}

/* ---- windows ---- */

void tac_rigid_begin(struct tac_sim *sim)
{
    struct tac_rigid *r = &sim->rigid;
    if (r->count == 0)
        return;
    memcpy(r->start, r->motion, r->count * sizeof *r->start);
    r->too_fast.place = -1;
    tac_rigid_vertices_begin(sim);
}

enum tac_err tac_rigid_error(struct tac_sim *sim)
{
    const struct tac_rigid *r = &sim->rigid;
    if (r->count == 0 || r->too_fast.place < 0)
        return TAC_OK;
    return tac_fail(
        sim->ctx, TAC_ERR_RUN,
        "the rigid body `%s` turns at %.3g rad/s at t = %.9g s, so fast that its chords would be under "
        "2^12 quanta (%.3g s); slow it, make clocks.turn larger, or clocks.quantum_s a smaller power of two",
        sim->scene->settings->body[sim->scene->settings->rigid[r->piece[r->too_fast.place].rigid].body].name,
        r->too_fast.spin, tac_state_seconds(&sim->state, r->too_fast.t), SHORTEST * sim->state.quantum);
}

void tac_rigid_rollback(struct tac_rigid *r)
{
    if (r->count == 0)
        return;
    memcpy(r->motion, r->start, r->count * sizeof *r->motion);
    tac_rigid_order(r);
}

void tac_rigid_keep(struct tac_rigid *r)
{
    if (r->count > 0)
        memcpy(r->before, r->motion, r->count * sizeof *r->before);
}

/* ---- energies ---- */

/* The energy of turning is that of the angular momentum. That of the axes' straight motion differs from it by (w
 * h)^2/4, as the velocity of a point on a chord differs from that on the arc. */

void tac_rigid_energy(const struct tac_sim *sim, struct tac_accum *kinetic, struct tac_accum *gravity,
                      struct tac_accum momentum[3], struct tac_accum angular[3])
{
    const struct tac_rigid *r = &sim->rigid;
    const bool half = sim->books.kept_at == sim->state.now;
    for (size_t k = 0; k < r->count; k++) {
        const struct tac_rigid_piece *p = &r->piece[k];
        struct tac_rigid_motion m = r->motion[k];
        double arm[3], own[3], nearest[3][3], w[3];
        advance_motion(sim, &m, sim->state.now);
        for (int i = 0; i < 3 && half; i++) {
            m.u[i] = .5 * (m.u[i] + r->before[k].u[i]);
            for (int a = 0; a < 3; a++)
                m.b[a][i] = .5 * (m.b[a][i] + r->before[k].b[a][i]);
        }
        tac_chord_momentum(p->second, (const double(*)[3])m.a, (const double(*)[3])m.b, own);
        tac_chord_nearest((const double(*)[3])m.a, nearest);
        tac_chord_spin(p->second, (const double(*)[3])nearest, own, w);
        tac_accum_add(kinetic, .5 * p->mass * tac_dot(m.u, m.u));
        tac_accum_add(kinetic, .5 * tac_dot(own, w));
        tac_accum_add(gravity, -p->mass * tac_dot(sim->scene->settings->gravity, m.c));
        tac_cross(arm, m.c, m.u);
        for (int i = 0; i < 3; i++) {
            tac_accum_add(&momentum[i], p->mass * m.u[i]);
            tac_accum_add(&angular[i], p->mass * arm[i]);
            tac_accum_add(&angular[i], own[i]);
        }
    }
}

void tac_rigid_kinetic(const struct tac_rigid *r, struct tac_accum *kinetic)
{
    for (size_t k = 0; k < r->count; k++) {
        const struct tac_rigid_motion *m = &r->motion[k];
        tac_accum_add(kinetic, .5 * r->piece[k].mass * tac_dot(m->u, m->u));
        tac_accum_add(kinetic, turning_energy(&r->piece[k], (const double(*)[3])m->b));
    }
}

/* ---- making ---- */

static enum tac_err allocate(struct tac_sim *sim, size_t n)
{
    enum tac_err err;
    struct tac_rigid *r = &sim->rigid;
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->piece, &r->piece));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->motion, &r->motion));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->start, &r->start));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->before, &r->before));
    TAC_TRY(tac_queue_create(sim->ctx, TAC_QUEUE_BINARY, &r->ends));
    TAC_TRY(tac_queue_room(r->ends, n));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->due, &r->due));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->plans, &r->plans));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->apart, &r->apart));
    TAC_TRY(tac_alloc(sim->ctx, n + 1, sizeof *r->list_begin, &r->list_begin));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->state.owned, sizeof *r->list, &r->list));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->state.owned, sizeof *r->is_listed, &r->is_listed));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->listed, &r->listed));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->state.owned, sizeof *r->local, &r->local));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->state.owned, sizeof *r->of, &r->of));
    for (tac_lid i = 0; i < sim->state.owned; i++)
        r->of[i] = -1;
done:
    return err;
}

/* A body whose vertices begin at `first` of this rank, as the scene starts it. */
static void add_body(struct tac_sim *sim, tac_lid rigid, tac_lid first)
{
    const struct tac_rigid_body *from = &sim->scene->settings->rigid[rigid];
    struct tac_rigid *r = &sim->rigid;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    const struct tac_body *body = &sim->scene->settings->body[from->body];
    const int32_t k = (int32_t)r->count++;
    struct tac_rigid_piece *p = &r->piece[k];
    struct tac_rigid_motion *m = &r->motion[k];
    *p = (struct tac_rigid_piece){.first = first,
                                  .end = first + (from->vertex_end - from->vertex_begin) - body->pins,
                                  .rigid = rigid,
                                  .mass = from->mass,
                                  .inverse = 1 / from->mass};
    memcpy(m->c, from->center, sizeof m->c);
    memcpy(m->u, from->velocity, sizeof m->u);
    memcpy(m->a, from->axis, sizeof m->a);
    for (int a = 0; a < 3; a++) {
        p->second[a] = from->second[a];
        p->around[a] = 1 / from->second[a];
        tac_cross(m->b[a], body->angular_velocity, m->a[a]);
    }
    for (tac_lid i = p->first; i < p->end; i++) {
        double arm[3];
        tac_sub(arm, &mesh->x[3 * (size_t)i], m->c);
        for (int a = 0; a < 3; a++)
            r->local[3 * (size_t)i + (size_t)a] = tac_dot(m->a[a], arm);
        r->of[i] = k;
        sim->state.vel[i].w = -sim->model->w_ever[i];
        sim->state.mass[i] = 0;
    }
}

enum tac_err tac_rigid_create(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *scene = sim->scene;
    struct tac_rigid *r = &sim->rigid;
    const size_t n = (size_t)scene->settings->rigid_count;
    if (n == 0)
        return TAC_OK;
    TAC_TRY(allocate(sim, n));
    for (tac_lid i = 0, end; i < sim->state.owned; i = end) {
        const tac_lid rigid = tac_scene_rigid_of(scene, i);
        for (end = i + 1; end < sim->state.owned && tac_scene_rigid_of(scene, end) == rigid;)
            end++;
        if (rigid < 0)
            continue;
        const struct tac_rigid_body *body = &scene->settings->rigid[rigid];
        TAC_CHECK(end - i == body->vertex_end - body->vertex_begin); /* a rank owns all of it */
        add_body(sim, rigid, i);
    }
    tac_rigid_order(r);
    r->too_fast.place = -1;
    const struct tac_book nothing = sim->books.book;
    for (size_t k = 0; k < r->count; k++) {
        plan_body(sim, (int32_t)k, 0);
        tac_rigid_vertices_start(sim, (int32_t)k);
    }
    sim->books.book = nothing;
    err = tac_rigid_error(sim);
done:
    return err;
}

size_t tac_rigid_poses(const struct tac_sim *sim, tac_time t, struct tac_pose *out)
{
    const struct tac_rigid *r = &sim->rigid;
    const struct tac_settings *s = sim->scene->settings;
    for (size_t k = 0; k < r->count; k++) {
        struct tac_rigid_motion m = r->motion[k];
        advance_motion(sim, &m, t);
        out[k].rigid = r->piece[k].rigid;
        memcpy(out[k].center, m.c, sizeof m.c);
        memcpy(out[k].velocity, m.u, sizeof m.u);
        tac_pose_turn(&s->rigid[out[k].rigid], (const double(*)[3])m.a, (const double(*)[3])m.b, &out[k]);
    }
    return r->count;
}

void tac_rigid_destroy(struct tac_rigid *r)
{
    free(r->piece);
    free(r->motion);
    free(r->start);
    free(r->before);
    free(r->local);
    free(r->of);
    tac_queue_destroy(&r->ends);
    free(r->due);
    free(r->plans);
    free(r->apart);
    free(r->always);
    free(r->list);
    free(r->list_begin);
    free(r->is_listed);
    free(r->listed);
}
