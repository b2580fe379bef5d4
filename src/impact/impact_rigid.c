/* impact_rigid.c: rigid pieces: how they are made, and how they move in a part of a step. */
#include "impact/impact_rigid.h"
#include "base/exchange.h"
#include "impact/impact.h"
#include "partition/halo_bodies.h"
#include "state/chord.h"
#include "state/energy_row.h"
#include "state/pose.h"
#include <stdlib.h>
#include <string.h>

enum { TAG = 50, SIX = TAC_IMPACT_SIX };

/* A part in which a piece would turn by more is halved: on a long chord its axes are shorter in the middle. */
static const double TURN = .5; /* rad */

/* ---- velocities ---- */

void tac_impact_rigid_turn(const struct tac_impact_piece *piece, const double a[3][3], const double l[3],
                           double turn[3])
{
    for (int k = 0; k < 3; k++)
        turn[k] = tac_dot(a[k], l) / piece->root[1 + k];
}

void tac_impact_rigid_momentum(const struct tac_impact_piece *piece, const double a[3][3], const double turn[3],
                               double l[3])
{
    for (int c = 0; c < 3; c++)
        l[c] = piece->root[1] * turn[0] * a[0][c] + piece->root[2] * turn[1] * a[1][c] +
               piece->root[3] * turn[2] * a[2][c];
}

static void spin_of(const struct tac_impact_piece *piece, const double a[3][3], const double l[3], double w[3])
{
    for (int c = 0; c < 3; c++)
        w[c] = 0;
    for (int k = 0; k < 3; k++) {
        const double rate = tac_dot(a[k], l) / (piece->root[1 + k] * piece->root[1 + k]);
        for (int c = 0; c < 3; c++)
            w[c] += rate * a[k][c];
    }
}

/* Sets the velocities of the vertices of an own piece. */
static void spread_velocity(struct tac_impact *sim, const struct tac_impact_piece *p)
{
    double w[3], turning[3];
    spin_of(p, (const double(*)[3])p->a, p->l, w);
    for (tac_lid v = p->first; v < p->end; v++) {
        double arm[3];
        tac_sub(arm, &sim->x[3 * (size_t)v], p->c);
        tac_cross(turning, w, arm);
        for (size_t c = 0; c < 3; c++)
            sim->v[3 * (size_t)v + c] = p->u[c] + turning[c];
    }
}

/* ---- a part ---- */

/* Sets the accelerations of own pieces, and the torques on them: by gravity, and by loads with their mean factors. */
static void pull(struct tac_impact *sim)
{
    struct tac_impact_rigid *r = &sim->rigid;
    const tac_time length = sim->part.to - sim->part.from;
    for (size_t n = 0; n < r->own_count; n++) {
        struct tac_impact_piece *p = &r->piece[r->own[n]];
        memcpy(p->pull, sim->scene->settings->gravity, sizeof p->pull);
        memset(p->torque, 0, sizeof p->torque);
    }
    for (size_t e = 0; e < sim->loads.count; e++) {
        const struct tac_load_element *l = &sim->loads.element[e];
        double x[3][3], push[3][3], centre[3], arm[3], torque[3];
        if (l->v[0] >= sim->owned || !tac_impact_is_rigid(sim, l->v[0]))
            continue;
        struct tac_impact_piece *p = &r->piece[r->of[l->v[0]]];
        tac_impact_gather(sim->x, l->v, 1, x);
        const double mean = tac_load_mean(sim->scene, &sim->load_times, l->load, sim->part.from + length / 2, length);
        tac_load_impulse(sim->scene, l, (const double(*)[3])x, 1, mean, push, centre);
        tac_sub(arm, x[0], p->c);
        tac_cross(torque, arm, push[0]);
        for (int c = 0; c < 3; c++) {
            p->pull[c] += push[0][c] / p->mass;
            p->torque[c] += torque[c];
        }
    }
}

void tac_impact_rigid_begin(struct tac_impact *sim)
{
    struct tac_impact_rigid *r = &sim->rigid;
    if (r->count == 0)
        return;
    pull(sim);
    r->fast = -1;
    for (size_t n = 0; n < r->own_count; n++) {
        const size_t k = (size_t)r->own[n];
        struct tac_impact_piece *p = &r->piece[k];
        const double(*axes)[3] = (const double(*)[3])p->a;
        for (size_t c = 0; c < 3; c++) {
            r->v[SIX * k + c] = p->root[0] * p->u[c];
            r->a[SIX * k + c] = p->root[0] * p->pull[c];
        }
        tac_impact_rigid_turn(p, axes, p->l, &r->v[SIX * k + 3]);
        tac_impact_rigid_turn(p, axes, p->torque, &r->a[SIX * k + 3]);
        p->flown = false;
    }
}

void tac_impact_rigid_measure(const struct tac_impact *sim, double most[3])
{
    const struct tac_impact_rigid *r = &sim->rigid;
    for (size_t n = 0; n < r->own_count; n++) {
        const size_t k = (size_t)r->own[n];
        for (size_t part = 0; part < SIX; part += 3) {
            most[0] = fmax(most[0], tac_dot(&r->v[SIX * k + part], &r->v[SIX * k + part]));
            most[1] = fmax(most[1], tac_dot(&r->a[SIX * k + part], &r->a[SIX * k + part]));
        }
        most[2] = fmax(most[2], tac_dot(r->piece[k].pull, r->piece[k].pull));
    }
}

void tac_impact_rigid_tell(struct tac_impact *sim, const double *from, double *to)
{
    const struct tac_impact_active *a = &sim->active;
    for (size_t b = 0; b < a->bodies; b++)
        if (a->piece[b] >= 0) {
            memcpy(&to[SIX * (size_t)a->piece[b]], &from[3 * b], SIX * sizeof *to);
            b++; /* its turn */
        }
}

bool tac_impact_rigid_plan(struct tac_impact *sim, int32_t k)
{
    const double h = sim->part.h;
    struct tac_impact_piece *p = &sim->rigid.piece[k];
    const double *go = &sim->rigid.go[SIX * (size_t)k], *second = sim->scene->settings->rigid[k].second;
    const double(*a)[3] = (const double(*)[3])p->a;
    double l[3], w[3], nearest[3][3], rate[3][3];
    for (int c = 0; c < 3; c++)
        p->end_c[c] = p->c[c] + h * (go[c] / p->root[0]);
    memcpy(p->end_a, p->a, sizeof p->end_a);
    p->flown = true;
    if (go[3] == 0 && go[4] == 0 && go[5] == 0)
        return true;
    tac_impact_rigid_momentum(p, a, go + 3, l);
    tac_chord_nearest(a, nearest);
    tac_chord_spin(second, (const double(*)[3])nearest, l, w);
    const double spin = sqrt(tac_dot(w, w));
    if (!(spin * h <= TURN)) {
        sim->rigid.fast = k;
        sim->rigid.fast_spin = spin;
        return false;
    }
    (void)tac_chord_plan(second, a, (const double(*)[3])nearest, l, h,
                         rate); /* turns of rounding errors need not converge */
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            p->end_a[i][c] += h * rate[i][c];
    return true;
}

static void place(const struct tac_impact *sim, const struct tac_impact_piece *p, tac_lid v, double x[3])
{
    const double *y = &sim->rigid.local[3 * (size_t)v];
    for (int c = 0; c < 3; c++)
        x[c] = p->end_c[c] + (y[0] * p->end_a[0][c] + y[1] * p->end_a[1][c] + y[2] * p->end_a[2][c]);
}

/* What does not move does not even move by the rounding errors of its vertices' places. */
static bool stays(const struct tac_impact_piece *p)
{
    return memcmp(p->c, p->end_c, sizeof p->c) == 0 && memcmp(p->a, p->end_a, sizeof p->a) == 0;
}

void tac_impact_rigid_fly(struct tac_impact *sim, const double *middle)
{
    struct tac_impact_rigid *r = &sim->rigid;
    const double half = .5 * sim->part.h;
    if (r->count == 0)
        return;
    /* Flights of the pieces that no row has must be planned once; `a` of own ones alone is known, and needed. */
    double *const go = r->space;
    for (size_t n = 0; n < r->own_count; n++)
        for (size_t c = SIX * (size_t)r->own[n]; c < SIX * (size_t)r->own[n] + SIX; c++)
            go[c] = r->v[c] + half * r->a[c];
    if (middle != NULL)
        tac_impact_rigid_tell(sim, middle, go);
    for (size_t n = 0; n < r->own_count; n++) {
        const int32_t k = r->own[n];
        struct tac_impact_piece *p = &r->piece[k];
        if (p->flown && memcmp(&go[SIX * (size_t)k], &r->go[SIX * (size_t)k], SIX * sizeof *go) == 0)
            continue;
        memcpy(&r->go[SIX * (size_t)k], &go[SIX * (size_t)k], SIX * sizeof *go);
        if (!tac_impact_rigid_plan(sim, k))
            sim->part.fails = true;
        const bool rests = stays(p);
        for (tac_lid v = p->first; v < p->end; v++) {
            double x[3];
            place(sim, p, v, x);
            for (size_t c = 0; c < 3; c++)
                sim->p[3 * (size_t)v + c] = rests ? 0 : x[c] - sim->x[3 * (size_t)v + c];
        }
    }
}

/* ---- the end of a part ---- */

/* Loads but gravity do work on the velocity of the centre along its path. A torque does what it gives to the energy of
 * turning, in both halves. before, after: turns at the part's start and end, each about the axes of then. */
static void enter_work(struct tac_impact *sim, int32_t k, const double *before, const double *after)
{
    const double h = sim->part.h, *g = sim->scene->settings->gravity;
    const struct tac_impact_piece *p = &sim->rigid.piece[k];
    const double *go = &sim->rigid.go[SIX * (size_t)k], *first = &sim->rigid.a[SIX * (size_t)k + 3];
    double second[3], l[3], middle[3];
    if (sim->loads.count == 0)
        return;
    tac_impact_rigid_turn(p, (const double(*)[3])p->end_a, p->torque, second);
    tac_impact_rigid_momentum(p, (const double(*)[3])p->a, go + 3, l);
    tac_impact_rigid_turn(p, (const double(*)[3])p->end_a, l, middle);
    for (int c = 0; c < 3; c++) {
        tac_accum_add(&sim->books.work, p->mass * (p->pull[c] - g[c]) * (h * (go[c] / p->root[0])));
        tac_accum_add(&sim->books.work,
                      .25 * h * (first[c] * (before[c] + go[3 + c]) + second[c] * (middle[c] + after[c])));
    }
}

static void move(struct tac_impact *sim, struct tac_impact_piece *p)
{
    const bool rests = stays(p);
    for (tac_lid v = p->first; v < p->end && !rests; v++)
        place(sim, p, v, &sim->x[3 * (size_t)v]);
    memcpy(p->c, p->end_c, sizeof p->c);
    memcpy(p->a, p->end_a, sizeof p->a);
    spread_velocity(sim, p);
}

/* Adds to `l` what an angular momentum `was` loses by rounding when it becomes a turn about axes, and comes back. These
 * errors are alike in all steps, and would add up: 1e-17 a step is 2e-12 after 1e5 of them. */
static void give_back(const struct tac_impact_piece *p, const double axes[3][3], const double was[3], double l[3])
{
    double turn[3], is[3];
    tac_impact_rigid_turn(p, axes, was, turn);
    tac_impact_rigid_momentum(p, axes, turn, is);
    for (int c = 0; c < 3; c++)
        l[c] += was[c] - is[c];
}

void tac_impact_rigid_commit(struct tac_impact *sim)
{
    struct tac_impact_rigid *r = &sim->rigid;
    const double h = sim->part.h;
    if (r->count == 0)
        return;
    double *const end = r->space;
    for (size_t n = 0; n < r->own_count; n++)
        end[SIX * (size_t)r->own[n]] = NAN;
    tac_impact_rigid_tell(sim, sim->active.end, end);
    for (size_t n = 0; n < r->own_count; n++) {
        const size_t k = (size_t)r->own[n];
        struct tac_impact_piece *p = &r->piece[k];
        double *after = &end[SIX * k];
        const bool free_flight = isnan(after[0]);
        for (int c = 0; c < 3; c++)
            p->u[c] = free_flight ? p->u[c] + h * p->pull[c] : after[c] / p->root[0];
        if (free_flight) {
            for (int c = 0; c < 3; c++)
                p->l[c] += h * p->torque[c];
            tac_impact_rigid_turn(p, (const double(*)[3])p->end_a, p->l, after + 3);
        } else {
            double start[3], middle[3];
            memcpy(start, p->l, sizeof start);
            tac_impact_rigid_momentum(p, (const double(*)[3])p->a, &sim->rigid.go[SIX * k + 3], middle);
            tac_impact_rigid_momentum(p, (const double(*)[3])p->end_a, after + 3, p->l);
            if (after[3] != 0 || after[4] != 0 || after[5] != 0) { /* what rests, rests */
                give_back(p, (const double(*)[3])p->a, start, p->l);
                give_back(p, (const double(*)[3])p->end_a, middle, p->l);
            }
        }
        enter_work(sim, (int32_t)k, &sim->rigid.v[SIX * k + 3], after + 3);
        move(sim, p);
    }
}

enum tac_err tac_impact_rigid_error(struct tac_impact *sim)
{
    enum tac_err err;
    const struct tac_settings *s = sim->scene->settings;
    int fast = sim->rigid.count > 0 ? sim->rigid.fast : -1;
    double spin;
    TAC_TRY(tac_over_ranks(sim->ctx, &fast, 1, MPI_INT, MPI_MAX));
    if (fast < 0)
        return TAC_OK;
    spin = sim->rigid.fast == fast ? sim->rigid.fast_spin : 0;
    TAC_TRY(tac_over_ranks(sim->ctx, &spin, 1, MPI_DOUBLE, MPI_MAX));
    err =
        tac_fail(sim->ctx, TAC_ERR_RUN,
                 "the rigid body `%s` %s at %.3g rad/s from t = %.9g s, by more than half a radian even in "
                 "integrator.step_s / 4096; %s",
                 s->body[s->rigid[fast].body].name, sim->part.struck ? "is turned by contacts" : "turns", spin,
                 (double)sim->now * s->quantum_s,
                 sim->part.struck ? "do motions press it from both sides? make them slower, or contact.thickness larger"
                                  : "slow it, or make integrator.step_s smaller");
done:
    return err;
}

/* ---- ghosts ---- */

/* What other ranks must know of a piece. */
struct known {
    double c[3], a[3][3], v[TAC_IMPACT_SIX], pull[TAC_IMPACT_SIX];
};

static int32_t piece_of(const void *self, tac_lid v)
{
    return ((const struct tac_impact *)self)->rigid.of[v];
}

static void pack(const void *self, int32_t k, void *out)
{
    const struct tac_impact_rigid *r = &((const struct tac_impact *)self)->rigid;
    struct known known;
    memcpy(known.c, r->piece[k].c, sizeof known.c);
    memcpy(known.a, r->piece[k].a, sizeof known.a);
    memcpy(known.v, &r->v[SIX * (size_t)k], sizeof known.v);
    memcpy(known.pull, &r->a[SIX * (size_t)k], sizeof known.pull);
    memcpy(out, &known, sizeof known);
}

static void unpack(void *self, int32_t k, int32_t owner, const void *in)
{
    struct tac_impact_rigid *r = &((struct tac_impact *)self)->rigid;
    struct known known;
    memcpy(&known, in, sizeof known);
    memcpy(r->piece[k].c, known.c, sizeof known.c);
    memcpy(r->piece[k].a, known.a, sizeof known.a);
    memcpy(&r->v[SIX * (size_t)k], known.v, sizeof known.v);
    memcpy(&r->a[SIX * (size_t)k], known.pull, sizeof known.pull);
}

enum tac_err tac_impact_rigid_refresh(struct tac_impact *sim)
{
    const struct tac_halo_bodies bodies = {sim, sizeof(struct known), piece_of, pack, unpack};
    if (sim->halo == NULL || sim->rigid.count == 0)
        return TAC_OK;
    tac_halo_share_bodies(sim->halo, TAG, &bodies);
    return tac_agree(sim->ctx, sim->halo->down);
}

/* ---- life ---- */

static enum tac_err allocate(struct tac_impact *sim, struct tac_impact_rigid *r)
{
    enum tac_err err;
    double **const six[] = {&r->v, &r->a, &r->go, &r->space};
    TAC_TRY(tac_alloc(sim->ctx, r->count, sizeof *r->piece, &r->piece));
    TAC_TRY(tac_alloc(sim->ctx, r->count, sizeof *r->own, &r->own));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->count, sizeof *r->of, &r->of));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->owned, sizeof *r->local, &r->local));
    for (size_t k = 0; k < sizeof six / sizeof *six; k++)
        TAC_TRY(tac_alloc(sim->ctx, SIX * r->count, sizeof **six[k], six[k]));
done:
    return err;
}

/* A piece as the scene starts it. */
static void start_piece(const struct tac_impact *sim, size_t k, struct tac_impact_piece *p)
{
    const struct tac_rigid_body *from = &sim->scene->settings->rigid[k];
    const double *w = sim->scene->settings->body[from->body].angular_velocity;
    const double sum = from->second[0] + from->second[1] + from->second[2];
    double turn[3];
    p->mass = from->mass;
    p->root[0] = sqrt(from->mass);
    memcpy(p->c, from->center, sizeof p->c);
    memcpy(p->a, from->axis, sizeof p->a);
    memcpy(p->u, from->velocity, sizeof p->u);
    for (int i = 0; i < 3; i++) {
        p->root[1 + i] = sqrt(sum - from->second[i]);
        turn[i] = p->root[1 + i] * tac_dot(p->a[i], w);
    }
    tac_impact_rigid_momentum(p, (const double(*)[3])p->a, turn, p->l);
}

static void take_vertices(struct tac_impact *sim, int32_t k, tac_lid first, tac_lid end)
{
    struct tac_impact_rigid *r = &sim->rigid;
    struct tac_impact_piece *p = &r->piece[k];
    p->first = first;
    p->end = end;
    r->own[r->own_count++] = k;
    for (tac_lid v = first; v < end; v++) {
        double arm[3];
        tac_sub(arm, &sim->scene->mesh->x[3 * (size_t)v], p->c);
        for (int i = 0; i < 3; i++)
            r->local[3 * (size_t)v + (size_t)i] = tac_dot(p->a[i], arm);
    }
    spread_velocity(sim, p);
}

enum tac_err tac_impact_rigid_create(struct tac_impact *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_impact_rigid *r = &sim->rigid;
    r->count = (size_t)sim->scene->settings->rigid_count;
    if (r->count == 0)
        return TAC_OK;
    TAC_TRY(allocate(sim, r));
    for (size_t k = 0; k < r->count; k++)
        start_piece(sim, k, &r->piece[k]);
    for (tac_lid v = 0; v < sim->count; v++)
        r->of[v] = tac_scene_rigid_of(sim->scene, v);
    for (tac_lid v = 0, end; v < sim->owned; v = end) {
        for (end = v + 1; end < sim->owned && r->of[end] == r->of[v];)
            end++;
        if (r->of[v] < 0)
            continue;
        const struct tac_rigid_body *body = &sim->scene->settings->rigid[r->of[v]];
        TAC_CHECK(end - v == body->vertex_end - body->vertex_begin); /* a rank owns all of it */
        take_vertices(sim, r->of[v], v, end);
    }
    r->fast = -1;
done:
    return err;
}

void tac_impact_rigid_destroy(struct tac_impact_rigid *r)
{
    void *const owned[] = {r->piece, r->own, r->of, r->local, r->v, r->a, r->go, r->space};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
}

/* ---- files ---- */

void tac_impact_rigid_energy(const struct tac_impact *sim, struct tac_accum *sum)
{
    const struct tac_impact_rigid *r = &sim->rigid;
    for (size_t n = 0; n < r->own_count; n++) {
        const struct tac_impact_piece *p = &r->piece[r->own[n]];
        double turn[3], arm[3];
        tac_impact_rigid_turn(p, (const double(*)[3])p->a, p->l, turn);
        tac_cross(arm, p->c, p->u);
        tac_accum_add(&sum[TAC_SUM_GRAVITY], -p->mass * tac_dot(sim->scene->settings->gravity, p->c));
        tac_accum_add(&sum[TAC_SUM_KINETIC], .5 * p->mass * tac_dot(p->u, p->u));
        tac_accum_add(&sum[TAC_SUM_KINETIC], .5 * tac_dot(turn, turn));
        for (int c = 0; c < 3; c++) {
            tac_accum_add(&sum[TAC_SUM_MOMENTUM + c], p->mass * p->u[c]);
            tac_accum_add(&sum[TAC_SUM_ANGULAR + c], p->mass * arm[c]);
            tac_accum_add(&sum[TAC_SUM_ANGULAR + c], p->l[c]);
        }
    }
}

size_t tac_impact_rigid_poses(const struct tac_impact *sim, struct tac_pose *out)
{
    const struct tac_impact_rigid *r = &sim->rigid;
    for (size_t n = 0; n < r->own_count; n++) {
        const struct tac_impact_piece *p = &r->piece[r->own[n]];
        double w[3], rate[3][3];
        out[n].rigid = r->own[n];
        memcpy(out[n].center, p->c, sizeof p->c);
        memcpy(out[n].velocity, p->u, sizeof p->u);
        spin_of(p, (const double(*)[3])p->a, p->l, w);
        for (int i = 0; i < 3; i++)
            tac_cross(rate[i], w, p->a[i]);
        tac_pose_turn(&sim->scene->settings->rigid[r->own[n]], (const double(*)[3])p->a, (const double(*)[3])rate,
                      &out[n]);
    }
    return r->own_count;
}

/* Places of a row's numbers, of which the last six stay 0. */
enum { CENTER = 0, VELOCITY = 3, AXES = 6, MOMENTUM = 15 };

enum tac_err tac_impact_rigid_rows_out(const struct tac_impact *sim, struct tac_checkpoint *c)
{
    enum tac_err err = TAC_OK;
    const struct tac_impact_rigid *r = &sim->rigid;
    c->rigid.total = (int64_t)r->count;
    TAC_TRY(tac_alloc(sim->ctx, r->own_count, sizeof *c->rigid.row, &c->rigid.row));
    c->rigid.count = (tac_lid)r->own_count;
    for (size_t n = 0; n < r->own_count; n++) {
        const struct tac_impact_piece *p = &r->piece[r->own[n]];
        struct tac_rigid_row *row = &c->rigid.row[n];
        *row = (struct tac_rigid_row){.vertex = tac_scene_id(sim->scene, p->first), .t = sim->now, .t1 = sim->now + 1};
        memcpy(row->value + CENTER, p->c, sizeof p->c);
        memcpy(row->value + VELOCITY, p->u, sizeof p->u);
        memcpy(row->value + AXES, p->a, sizeof p->a);
        memcpy(row->value + MOMENTUM, p->l, sizeof p->l);
    }
done:
    return err;
}

enum tac_err tac_impact_rigid_rows_in(struct tac_impact *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    const struct tac_impact_rigid *r = &sim->rigid;
    struct tac_rigid_row *rows = NULL;
    size_t total = 0;
    enum tac_err err =
        tac_distribute(sim->ctx, TAC_OK, (size_t)c->rigid.count, owner, c->rigid.row, sizeof *rows, &rows, &total);
    bool fits = total == r->own_count;
    for (size_t n = 0; n < total && !err && fits; n++) {
        const tac_lid v = sim->id != NULL               ? tac_id_find(sim->id, sim->owned, rows[n].vertex)
                          : rows[n].vertex < sim->owned ? (tac_lid)rows[n].vertex
                                                        : -1;
        struct tac_impact_piece *p = v >= 0 && tac_impact_is_rigid(sim, v) ? &r->piece[r->of[v]] : NULL;
        fits = p != NULL && p->first == v;
        if (!fits)
            break;
        memcpy(p->c, rows[n].value + CENTER, sizeof p->c);
        memcpy(p->u, rows[n].value + VELOCITY, sizeof p->u);
        memcpy(p->a, rows[n].value + AXES, sizeof p->a);
        memcpy(p->l, rows[n].value + MOMENTUM, sizeof p->l);
    }
    if (!err && !fits)
        err = tac_fail(sim->ctx, TAC_ERR_INPUT,
                       "the checkpoint has other rigid bodies than the scene; go on with the scene that the checkpoint "
                       "is of");
    free(rows);
    return tac_agree(sim->ctx, err);
}
