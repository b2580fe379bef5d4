/* rigid_joints.c: pairs of points that joints hold together, in the implicit integrator. */
#include "implicit/rigid/rigid_joints.h"
#include "contact/hinge_motors.h"
#include "contact/joint_pairs.h"
#include "contact/limit_elements.h"
#include "implicit/parts.h"
#include <math.h>
#include <stdlib.h>

#define TAC_BELOW (1 - 0x1p-40) /* of a share, for its rounding */
/* A pair is at least so many times as stiff as the inertia of the heavier of its bodies. To stop a body of mass m in a
 * step that would take it v h farther, a pair needs the force m v/h. If its stiffness were far under m/h^2, it would
 * have that force only where nearly nothing is left of the slack s. There its points move along a sphere of radius s,
 * of which a straight direction follows only sqrt(2 s left), so Newton's method would need thousands of directions. */
#define TAC_TIE_TIMES 10.

/* ---- one pair ---- */

/* Computes d = x1 - x0, its length, and the energy with its first two derivatives by the length. */
static double look(const struct tac_implicit_tie *tie, const double *x, double d[3], double w[3])
{
    tac_sub(d, &x[3 * (size_t)tie->v[1]], &x[3 * (size_t)tie->v[0]]);
    const double l = sqrt(tac_dot(d, d));
    tac_limit_over(l - (tie->most - tie->soft), tie->soft, tie->stiffness, w);
    return l;
}

double tac_tie_energy(const struct tac_implicit_tie *tie, const double *x)
{
    double d[3], w[3];
    look(tie, x, d, w);
    return w[0];
}

void tac_tie_hessian(const struct tac_implicit_tie *tie, const double *x, double *dense)
{
    double d[3], w[3];
    const double l = look(tie, x, d, w);
    tac_limit_hessian(d, l, w, true, dense);
}

/* The derivative by x1; that by x0 is its opposite. */
static void gradient(const struct tac_implicit_tie *tie, const double *x, double g[3])
{
    double d[3], w[3];
    const double l = look(tie, x, d, w);
    for (int c = 0; c < 3; c++)
        g[c] = l > 0 ? w[1] * (d[c] / l) : 0;
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

/* ---- all of them ---- */

void tac_rigid_add_ties(struct tac_implicit *sim, const double *x)
{
    const struct tac_implicit_joints *j = &sim->rigid.joints;
    for (size_t e = 0; e < j->tie_count; e++) {
        double g[3];
        gradient(&j->tie[e], x, g);
        for (int i = 0; i < TAC_TIE_VERTICES; i++)
            for (size_t c = 0; c < 3 && j->tie[e].v[i] < sim->owned; c++)
                sim->newton.gradient[3 * (size_t)j->tie[e].v[i] + c] += sim->weight * (i == 1 ? g[c] : -g[c]);
    }
}

void tac_rigid_tie_sizes(struct tac_implicit *sim, const double *x)
{
    const struct tac_implicit_joints *j = &sim->rigid.joints;
    for (size_t e = 0; e < j->tie_count; e++) {
        double g[3];
        gradient(&j->tie[e], x, g);
        const double size = sim->weight * sqrt(tac_dot(g, g));
        for (int i = 0; i < TAC_TIE_VERTICES; i++) {
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
        const size_t a = 3 * (size_t)tie->v[0], b = 3 * (size_t)tie->v[1];
        const double most = tie->most - rounding;
        double d[3], change[3];
        tac_sub(d, &sim->x[b], &sim->x[a]);
        tac_sub(change, &sim->newton.p[b], &sim->newton.p[a]);
        const double left = most - sqrt(tac_dot(d, d));
        if (!(left > 0))
            return 0;
        least = fmin(least, share_to(d, change, most - keep * fmin(left, tie->soft)));
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
static double least_stiffness(const struct tac_implicit *sim, const tac_lid v[TAC_TIE_VERTICES])
{
    const double h = sim->scene->settings->implicit.step_s;
    return sim->is_static ? 0 : TAC_TIE_TIMES * fmax(mass_behind(sim, v[0]), mass_behind(sim, v[1])) / (h * h);
}

static void add_tie(struct tac_implicit *sim, tac_lid index, int p)
{
    struct tac_implicit_joints *j = &sim->rigid.joints;
    const struct tac_joint *joint = &sim->scene->settings->joint[index];
    struct tac_implicit_tie tie = {{tac_joint_point(sim->scene, index, 0, p), tac_joint_point(sim->scene, index, 1, p)},
                                   joint->most[p],
                                   joint->soft[p],
                                   joint->stiffness,
                                   false};
    if (tie.v[0] < 0 || tie.v[1] < 0 || (tie.v[0] >= sim->owned && tie.v[1] >= sim->owned))
        return;
    tie.stiffness = fmax(tie.stiffness, least_stiffness(sim, tie.v));
    tie.counted = tac_implicit_counts_pair(sim, tie.v, TAC_TIE_VERTICES);
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
    TAC_TRY(tac_alloc(sim->ctx, TAC_JOINT_POINTS * n, sizeof *j->tie, &j->tie));
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
