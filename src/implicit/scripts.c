/* scripts.c: moves scripted vertices in a step (docs/reference/implicit.md, Scripts). A vertex is scripted in a step if
 * its motion holds it at the start of the step. At the end of the step it is where the path says, and it moves there in
 * straight lines.
 */
#include "state/scripts.h"
#include "base/exchange.h"
#include "implicit/parts.h"
#include <math.h>

#define TAC_PULL_FIRST 1e6 /* of a scripted vertex to its target, per mass */
#define TAC_PULL_MOST 1e8
#define TAC_ARRIVED .999 /* share of the path of scripted vertices: after it they take the rest at once */
#define TAC_NEARLY .99   /* likewise: after it multipliers are better than a stronger pull */

/* The energy of a vertex leaves the sums when a motion catches the vertex, and returns when the motion releases it. The
 * difference is work of the script. */
static void hand_over(struct tac_implicit *sim, tac_lid v, bool caught)
{
    const double m = sim->scene->mesh->mass[v], *x = &sim->x[3 * (size_t)v], *u = &sim->v[3 * (size_t)v];
    const double energy = m * ((sim->is_static ? 0 : .5 * tac_dot(u, u)) - tac_dot(sim->scene->settings->gravity, x));
    tac_accum_add(&sim->books.work, caught ? -energy : energy);
}

static void take(struct tac_implicit *sim, struct tac_implicit_script *s, bool on)
{
    const bool release = sim->scene->settings->motion[s->motion].release;
    s->on = on;
    if (on && release && !s->caught) {
        s->caught = true;
        memcpy(s->origin, &sim->x[3 * (size_t)s->vertex], sizeof s->origin);
    }
    if (!on)
        memset(s->force, 0, sizeof s->force);
}

void tac_implicit_scripts_tell(struct tac_implicit *sim)
{
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        const struct tac_implicit_script *s = &sim->scripts.script[k];
        sim->scripts.led[s->vertex] = s->on ? TAC_SCRIPTED | TAC_SCRIPT_ON : TAC_SCRIPTED;
    }
}

void tac_implicit_scripts_start(struct tac_implicit *sim)
{
    for (size_t k = 0; k < sim->scripts.script_count; k++)
        take(sim, &sim->scripts.script[k],
             tac_motion_holds(sim->scene, &sim->scene->settings->motion[sim->scripts.script[k].motion], 0));
    tac_implicit_scripts_tell(sim);
}

enum tac_err tac_implicit_scripts_begin(struct tac_implicit *sim, tac_time from, tac_time to)
{
    for (tac_lid m = 0; m < sim->scene->settings->motion_count; m++)
        if (sim->scripts.rows[m] != NULL)
            sim->scripts.at[m] = tac_motion_find(sim->scene, &sim->scene->settings->motion[m], to);
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        struct tac_implicit_script *s = &sim->scripts.script[k];
        const struct tac_motion *m = &sim->scene->settings->motion[s->motion];
        const bool on = tac_motion_holds(sim->scene, m, from);
        if (on != s->on)
            hand_over(sim, s->vertex, on);
        take(sim, s, on);
        if (on && m->cache != NULL)
            tac_motion_place_row(sim->scripts.rows[s->motion], &sim->scripts.at[s->motion], (size_t)s->row, s->origin,
                                 s->target);
        else if (on)
            tac_motion_place(sim->scene, m, s->origin, to, s->target);
        memset(s->lambda, 0, sizeof s->lambda);
    }
    tac_implicit_scripts_tell(sim);
    return tac_motion_rows_agree(sim->ctx, sim->scene, sim->scripts.rows);
}

void tac_implicit_scripts_push(struct tac_implicit *sim)
{
    memset(sim->newton.gradient, 0, 3 * (size_t)sim->owned * sizeof *sim->newton.gradient);
    tac_implicit_add_elements(sim, sim->x, false);
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        struct tac_implicit_script *s = &sim->scripts.script[k];
        for (size_t c = 0; s->on && c < 3; c++)
            s->force[c] = sim->newton.gradient[3 * (size_t)s->vertex + c] / sim->weight;
    }
}

/* ---- their path within a step ---- */

/* Computes by which share scripted vertices have come to their targets, from sums of squared distances now and at the
 * start of the step. 1: all are there. */
static enum tac_err share_gone(struct tac_implicit *sim, double *gone)
{
    struct tac_accum sum[2] = {{{0}, 0, 0}};
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        const struct tac_implicit_script *s = &sim->scripts.script[k];
        double now[3], first[3];
        if (!s->on)
            continue;
        tac_sub(now, s->target, &sim->x[3 * (size_t)s->vertex]);
        tac_sub(first, s->target, &sim->newton.x0[3 * (size_t)s->vertex]);
        tac_accum_add(&sum[0], tac_dot(now, now));
        tac_accum_add(&sum[1], tac_dot(first, first));
    }
    const enum tac_err err = tac_implicit_sum(sim->ctx, sum, 2);
    const double left = tac_accum_value(&sum[0]), all = tac_accum_value(&sum[1]);
    *gone = left == 0 ? 1 : 1 - sqrt(left / all);
    return err;
}

/* Returns whether the scene has a script; the same on all ranks. */
static bool has_scripts(const struct tac_implicit *sim)
{
    return sim->scene->settings->motion_count > 0;
}

/* Collective. Sets sim->newton.p: scripted vertices go straight to their targets; if `all`, the others go on with their
 * velocities. *any: some scripted vertex is not at its target. */
static enum tac_err point(struct tac_implicit *sim, bool all, bool *any)
{
    enum tac_err err = TAC_OK;
    int goes = 0;
    for (size_t v = 0; v < (size_t)sim->count; v++)
        for (size_t c = 3 * v; c < 3 * v + 3; c++)
            sim->newton.p[c] = all && !sim->newton.held[v] ? sim->scale.h * sim->v[c] + 0. : 0;
    for (size_t c = 0; c < TAC_RIGID_SIZE * sim->rigid.count; c++)
        sim->rigid.straight[c] = all ? sim->scale.h * sim->rigid.v[c] + 0. : 0;
    tac_rigid_turn(sim, 1);
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        const struct tac_implicit_script *s = &sim->scripts.script[k];
        for (size_t c = 0; s->on && c < 3; c++) {
            double *p = &sim->newton.p[3 * (size_t)s->vertex + c];
            *p = s->target[c] - sim->x[3 * (size_t)s->vertex + c];
            goes |= *p != 0;
        }
    }
    if (has_scripts(sim)) {
        TAC_TRY(tac_over_ranks(sim->ctx, &goes, 1, MPI_INT, MPI_MAX));
        TAC_TRY(tac_implicit_share(sim, sim->newton.p, 3, false));
    }
    *any = goes;
done:
    return err;
}

/* Holds the scripted vertices from now on. */
static void hold(struct tac_implicit *sim)
{
    for (tac_lid v = 0; v < sim->count && has_scripts(sim); v++)
        if (tac_implicit_scripted(sim, v))
            sim->newton.held[v] = tac_implicit_script_on(sim, v);
    sim->newton.pull = 0;
}

/* Goes this share of sim->newton.p. If it is all of p, scripted vertices are held there. */
static enum tac_err go_to(struct tac_implicit *sim, double share, bool *there)
{
    enum tac_err err;
    *there = share == 1;
    tac_implicit_go(sim, share);
    for (size_t k = 0; k < sim->scripts.script_count && *there; k++) {
        const struct tac_implicit_script *s = &sim->scripts.script[k];
        if (s->on)
            memcpy(&sim->newton.trial[3 * (size_t)s->vertex], s->target, sizeof s->target);
    }
    if (*there && has_scripts(sim))
        TAC_TRY(tac_implicit_share(sim, sim->newton.trial, 3, false));
    if (*there)
        hold(sim);
    TAC_TRY(tac_implicit_accept(sim));
done:
    return err;
}

/* A body that a scripted surface pushes mostly moves with it already. If it stood still in this iterate, it would stop
 * the surface, and the vertices on the surface would have to be pulled further by a force that is not known yet. */
enum tac_err tac_implicit_move_all(struct tac_implicit *sim, bool *there)
{
    enum tac_err err;
    double share;
    bool any;
    *there = true;
    TAC_TRY(point(sim, true, &any));
    if (!any) {
        hold(sim);
        return TAC_OK;
    }
    TAC_TRY(tac_implicit_reach(sim, &share));
    if (share < 1) { /* free vertices may stop each other */
        const double all = share;
        TAC_TRY(point(sim, false, &any));
        TAC_TRY(tac_implicit_reach(sim, &share));
        if (share <= all) {
            TAC_TRY(point(sim, true, &any));
            TAC_TRY(tac_implicit_reach(
                sim, &share)); /* again, because the list of pairs has to be that of this displacement */
        }
    }
    TAC_TRY(go_to(sim, share, there));
    if (*there)
        goto done;
    /* Scripted vertices become unknowns that are pulled to their targets, first with the stiffness of the start of a
     * step. */
    sim->newton.pull = TAC_PULL_FIRST;
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        struct tac_implicit_script *s = &sim->scripts.script[k];
        for (int c = 0; c < 3; c++)
            s->lambda[c] = sim->weight * s->force[c] / s->mass;
    }
    TAC_TRY(tac_implicit_show_pairs(sim));
done:
    return err;
}

/* Moves scripted vertices straight to their targets, as far as contact allows. At the targets they are held. */
static enum tac_err move_scripted(struct tac_implicit *sim, bool *there)
{
    enum tac_err err;
    double share;
    bool any;
    *there = true;
    TAC_TRY(point(sim, false, &any));
    if (!any) {
        hold(sim);
        return TAC_OK;
    }
    TAC_TRY(tac_implicit_reach(sim, &share));
    TAC_TRY(go_to(sim, share, there));
done:
    return err;
}

/* The speed, m/s, under which free vertices have followed the scripted ones well enough to pull harder. */
double tac_implicit_learning_speed(const struct tac_implicit *sim)
{
    const double speed = 1e-2 * sim->scale.diagonal_m / (sim->is_static ? sim->scale.h : 1);
    return fmax(speed, sim->scale.velocity_tol);
}

/* The scripted vertices are not at their targets: makes the pull stronger, or updates the multipliers. */
enum tac_err tac_implicit_pull_scripted(struct tac_implicit *sim, double speed, bool *there)
{
    enum tac_err err;
    double gone;
    TAC_TRY(share_gone(sim, &gone));
    if (gone >= TAC_ARRIVED) {
        TAC_TRY(move_scripted(sim, there));
        if (*there)
            goto done;
    }
    if (!(speed < tac_implicit_learning_speed(sim)))
        goto done;
    if (gone < TAC_NEARLY && sim->newton.pull < TAC_PULL_MOST) {
        sim->newton.pull *= 2;
        goto done;
    }
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        struct tac_implicit_script *s = &sim->scripts.script[k];
        for (size_t c = 0; s->on && c < 3; c++)
            s->lambda[c] -= sim->newton.pull * (sim->x[3 * (size_t)s->vertex + c] - s->target[c]);
    }
done:
    return err;
}
