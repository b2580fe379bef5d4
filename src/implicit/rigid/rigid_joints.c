/* rigid_joints.c: pairs of points that joints hold together, in the implicit integrator. */
#include "implicit/rigid/rigid_joints.h"
#include "contact/hinge_motors.h"
#include "contact/joint_pairs.h"
#include "contact/limit_elements.h"
#include "implicit/parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAC_BELOW (1 - 0x1p-40) /* of a share, for its rounding */
/* A pair is at least so many times as stiff as the inertia of the heavier of its bodies. To stop a body of mass m in a
 * step that would take it v h farther, a pair needs the force m v/h. If its stiffness were far under m/h^2, it would
 * have that force only where nearly nothing is left of the slack s. There its points move along a sphere of radius s,
 * of which a straight direction follows only sqrt(2 s left), so Newton's method would need thousands of directions. */
#define TAC_TIE_TIMES 10.

/* ---- one pair ---- */

/* Where a pair is. Of a point and a segment the nearest point of the segment stands for the other point: the way to it
 * changes with the place of the nearest point only to second order. */
struct look {
    double sign[TAC_TIE_VERTICES]; /* d is the sum of these times the places of the vertices */
    double d[3], length;           /* from the first point to the other one, m */
    double w[3];                   /* the energy and its first two derivatives by the length */
    double along[3];               /* unit vector along the segment inside which the nearest point is; else 0 */
    double segment[3];             /* from the first end of the segment to the other one, m; else 0 */
};

/* Computes the sum of sign times x over the vertices. */
static void sum_up(const struct tac_implicit_tie *tie, const double *sign, const double *x, double out[3])
{
    for (int c = 0; c < 3; c++) {
        out[c] = sign[1] * x[3 * (size_t)tie->v[1] + (size_t)c] - x[3 * (size_t)tie->v[0] + (size_t)c];
        if (tie->count > 2)
            out[c] += sign[2] * x[3 * (size_t)tie->v[2] + (size_t)c];
    }
}

static void find_nearest(const struct tac_implicit_tie *tie, const double *x, struct look *l)
{
    *l = (struct look){.sign = {-1, 1, 0}};
    if (tie->count > 2) {
        double at[4][3] = {{0}}, *e = l->segment;
        struct tac_near near;
        tac_implicit_gather(x, tie->v, tie->count, at);
        tac_near_pair(TAC_PAIR_VERTEX_SEGMENT, (const double(*)[3])at, &near);
        l->sign[1] = -near.w[1];
        l->sign[2] = -near.w[2];
        tac_sub(e, at[2], at[1]);
        const double size = sqrt(tac_dot(e, e));
        for (int c = 0; c < 3 && near.w[1] < 0 && near.w[2] < 0 && size > 0; c++)
            l->along[c] = e[c] / size;
    }
    sum_up(tie, l->sign, x, l->d);
    l->length = sqrt(tac_dot(l->d, l->d));
}

static void look(const struct tac_implicit_tie *tie, const double *x, struct look *l)
{
    find_nearest(tie, x, l);
    tac_limit_over(l->length - (tie->most - tie->soft), tie->soft, tie->stiffness, l->w);
}

double tac_tie_energy(const struct tac_implicit_tie *tie, const double *x)
{
    struct look l;
    look(tie, x, &l);
    return l.w[0];
}

void tac_tie_hessian(const struct tac_implicit_tie *tie, const double *x, double *dense)
{
    const int size = 3 * tie->count;
    double block[3][3];
    struct look l;
    look(tie, x, &l);
    memset(dense, 0, (size_t)(size * size) * sizeof *dense);
    if (!tac_limit_block(l.d, l.length, l.w, true, l.along, block))
        return;
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++)
            dense[size * i + k] = l.sign[i / 3] * l.sign[k / 3] * block[i % 3][k % 3];
}

/* The derivative by the other point; that by the first one is its opposite. */
static void gradient(const struct tac_implicit_tie *tie, const double *x, struct look *l, double g[3])
{
    look(tie, x, l);
    for (int c = 0; c < 3; c++)
        g[c] = l->length > 0 ? l->w[1] * (l->d[c] / l->length) : 0;
}

/* The first share at which |d + share change| has grown to `reach`, which it is under at 0. The length is convex. */
static double share_to(const double d[3], const double change[3], double reach)
{
    double to[3];
    for (int c = 0; c < 3; c++)
        to[c] = d[c] + change[c];
    if (tac_dot(to, to) <= reach * reach)
        return 1;
    const double a = tac_dot(change, change), b = tac_dot(d, change), left = reach * reach - tac_dot(d, d);
    const double root = sqrt(b * b + a * left);
    return fmin(1, TAC_BELOW * (b > 0 ? left / (b + root) : (root - b) / a));
}

/* How the point slides along the segment while the vertices move by p: the share of the segment, within it, by which
 * the nearest point goes. It takes what is along the segment out of `change`. Returns by how much the distance may be
 * larger at the end of the motion than with that change, m: it grows with the square of the share. */
static double slide(const struct tac_implicit_tie *tie, const struct look *l, const double *p, double change[3])
{
    const double size = tac_dot(l->segment, l->segment);
    double turn[3];
    if (tie->count < 3 || !(size > 0))
        return 0;
    const double by = fmin(fmax(-tac_dot(change, l->segment) / size, -l->sign[2]), l->sign[1]);
    for (int c = 0; c < 3; c++)
        change[c] += by * l->segment[c];
    tac_sub(turn, &p[3 * (size_t)tie->v[2]], &p[3 * (size_t)tie->v[1]]);
    return fabs(by) * sqrt(tac_dot(turn, turn));
}

/* The share of p with which the distance stays under `reach`, m. */
static double share_of(const struct tac_implicit_tie *tie, const struct look *l, const double *p, double reach)
{
    double change[3];
    sum_up(tie, l->sign, p, change); /* with one point of the segment; the nearest one is no farther */
    const double fixed = share_to(l->d, change, reach), left = reach - l->length;
    if (tie->count < 3 || fixed == 1 || !(left > 0))
        return fixed;
    const double more = slide(tie, l, p, change);
    const double share = more > .5 * left ? TAC_BELOW * sqrt(.5 * left / more) : 1;
    return fmax(fixed, fmin(share, share_to(l->d, change, reach - .5 * left)));
}

/* ---- all of them ---- */

void tac_rigid_add_ties(struct tac_implicit *sim, const double *x)
{
    const struct tac_implicit_joints *j = &sim->rigid.joints;
    for (size_t e = 0; e < j->tie_count; e++) {
        struct look l;
        double g[3];
        gradient(&j->tie[e], x, &l, g);
        for (int i = 0; i < j->tie[e].count; i++)
            for (size_t c = 0; c < 3 && j->tie[e].v[i] < sim->owned; c++)
                sim->newton.gradient[3 * (size_t)j->tie[e].v[i] + c] += sim->weight * (l.sign[i] * g[c]);
    }
}

void tac_rigid_tie_sizes(struct tac_implicit *sim, const double *x)
{
    const struct tac_implicit_joints *j = &sim->rigid.joints;
    for (size_t e = 0; e < j->tie_count; e++) {
        struct look l;
        double g[3];
        gradient(&j->tie[e], x, &l, g);
        for (int i = 0; i < j->tie[e].count; i++) {
            const double size = sim->weight * fabs(l.sign[i]) * sqrt(tac_dot(g, g));
            const tac_lid v = j->tie[e].v[i];
            const int32_t k = tac_implicit_rigid_of(sim, v);
            double w[TAC_RIGID_NODES];
            if (v >= sim->owned)
                continue;
            if (k < 0) {
                sim->newton.gross[v] += size;
                continue;
            }
            tac_rigid_weights(sim, k, v, w);
            for (int n = 0; n < TAC_RIGID_NODES; n++)
                sim->rigid.gross[TAC_RIGID_NODES * (size_t)k + (size_t)n] += fabs(w[n]) * size;
        }
    }
}

double tac_rigid_tie_reach(const struct tac_implicit *sim, double keep)
{
    const struct tac_implicit_joints *j = &sim->rigid.joints;
    const double rounding = 0x1p-48 * sim->scale.size_m; /* of the places that nodes give to vertices */
    double least = 1;
    for (size_t e = 0; e < j->tie_count; e++) {
        const struct tac_implicit_tie *tie = &j->tie[e];
        const double most = tie->most - rounding;
        struct look l;
        find_nearest(tie, sim->x, &l);
        const double left = most - l.length;
        if (!(left > 0))
            return 0;
        least = fmin(least, share_of(tie, &l, sim->newton.p, most - keep * fmin(left, tie->soft)));
    }
    return least;
}

bool tac_rigid_is_anchor(const struct tac_implicit *sim, tac_lid v)
{
    const struct tac_settings *s = sim->scene->settings;
    return s->joint_count > 0 &&
           tac_implicit_id(sim, v) >= tac_body_mesh_end(&s->body[sim->scene->mesh->vertex_body[v]]);
}

bool tac_rigid_has_motors(const struct tac_implicit *sim)
{
    const struct tac_settings *s = sim->scene->settings;
    bool any = false;
    for (tac_lid i = 0; i < s->joint_count; i++)
        any |= s->joint[i].motor.kind != TAC_MOTOR_NONE;
    return any;
}

/* ---- life ---- */

/* The mass of the body that a point belongs to, or of the vertex that it is, kg; 0: it does not give way. */
static double mass_behind(const struct tac_implicit *sim, tac_lid v)
{
    const int32_t k = tac_implicit_rigid_of(sim, v);
    if (k >= 0)
        return sim->scene->settings->rigid[k].mass;
    return sim->scene->mesh->ever_free[v] ? sim->scene->mesh->mass[v] : 0;
}

/* The static scheme has no inertia. */
static double least_stiffness(const struct tac_implicit *sim, const tac_lid *v)
{
    const double h = sim->scene->settings->implicit.step_s;
    return sim->is_static ? 0 : TAC_TIE_TIMES * fmax(mass_behind(sim, v[0]), mass_behind(sim, v[1])) / (h * h);
}

static void add_tie(struct tac_implicit *sim, tac_lid index, int p)
{
    struct tac_implicit_joints *j = &sim->rigid.joints;
    const struct tac_joint *joint = &sim->scene->settings->joint[index];
    struct tac_implicit_tie tie = {
        .most = joint->most[p], .soft = joint->soft[p], .stiffness = joint->stiffness, .counted = false};
    enum tac_pair_type type;
    bool ours = false;
    if (!tac_joint_pair(sim->scene, index, p, &type, tie.v))
        return;
    tie.count = tac_pair_vertices(type);
    for (int i = 0; i < tie.count; i++)
        ours = ours || tie.v[i] < sim->owned;
    if (!ours)
        return;
    tie.stiffness = fmax(tie.stiffness, least_stiffness(sim, tie.v));
    tie.counted = tac_implicit_counts_pair(sim, tie.v, tie.count);
    j->tie[j->tie_count++] = tie;
}

static enum tac_err add_motor(struct tac_implicit *sim, tac_lid index)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_joints *j = &sim->rigid.joints;
    struct tac_implicit_motor m = {.joint = &sim->scene->settings->joint[index]};
    bool here = false;
    m.v[0] = tac_joint_point(sim->scene, index, 0, 2);
    m.v[1] = tac_joint_point(sim->scene, index, 0, 0);
    m.v[2] = tac_joint_point(sim->scene, index, 1, 2);
    m.v[3] = tac_joint_point(sim->scene, index, 1, 0);
    for (int i = 0; i < TAC_MOTOR_ARMS; i++)
        here = here || (m.v[i] >= 0 && m.v[i] < sim->owned);
    if (!here)
        return TAC_OK;
    TAC_TRY(tac_motor_make(sim->ctx, sim->scene, index, &m.motor));
    m.counted = tac_implicit_counts_pair(sim, m.v, TAC_MOTOR_ARMS);
    j->motor[j->motor_count++] = m;
done:
    return err;
}

enum tac_err tac_rigid_joints_create(struct tac_implicit *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_joints *j = &sim->rigid.joints;
    const struct tac_settings *s = sim->scene->settings;
    const size_t n = (size_t)s->joint_count;
    if (n == 0)
        return TAC_OK;
    TAC_TRY(tac_alloc(sim->ctx, TAC_JOINT_PAIRS * n, sizeof *j->tie, &j->tie));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *j->motor, &j->motor));
    for (tac_lid i = 0; i < s->joint_count; i++) {
        for (int p = 0; p < s->joint[i].pairs; p++)
            add_tie(sim, i, p);
        if (s->joint[i].motor.kind != TAC_MOTOR_NONE)
            TAC_TRY(add_motor(sim, i));
    }
done:
    return err;
}

void tac_rigid_joints_destroy(struct tac_implicit_joints *joints)
{
    for (size_t k = 0; k < joints->motor_count; k++)
        free(joints->motor[k].motor.knot);
    free(joints->motor);
    free(joints->tie);
}
