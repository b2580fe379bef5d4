/* kinetic.c: has what all kinetic structures share: flight plans (ACM 2009, section 5.3), and the loop that renews
 * certificates before each instant (docs/reference/kinetic.md). */
#include "contact/limits.h"
#include "kds/kinetic_slab.h"
#include "scene/period.h"
#include <stdlib.h>
#include <string.h>

enum { TICKS_PER_LIFE = 8, STEPS_PER_LIFE = 4 };

/* ---- making and destroying ---- */

/* Copies the inner primitives of the candidate lists, by body. */
static enum tac_err take_primitives(struct tac_kinetic *k, const struct tac_candidates *c)
{
    enum tac_err err;
    k->body_count = c->body_count;
    TAC_TRY(tac_alloc(k->view->ctx, (size_t)c->primitive_begin[c->body_count], sizeof *k->primitive, &k->primitive));
    TAC_TRY(tac_alloc(k->view->ctx, (size_t)k->body_count + 1, sizeof *k->primitive_begin, &k->primitive_begin));
    TAC_TRY(tac_alloc(k->view->ctx, (size_t)k->body_count, 1, &k->immovable));
    for (int32_t b = 0; b < k->body_count; b++) {
        k->immovable[b] = c->immovable[b];
        for (int32_t p = c->primitive_begin[b]; p < c->primitive_begin[b + 1]; p++)
            if (c->primitive[p].inner)
                k->primitive[k->primitive_count++] = c->primitive[p];
        k->primitive_begin[b + 1] = k->primitive_count;
    }
done:
    return err;
}

enum tac_err tac_kinetic_create(struct tac_view *view, const struct tac_candidates *c, struct tac_kinetic **out)
{
    enum tac_err err;
    const size_t n = (size_t)view->state->owned;
    struct tac_kinetic *k = NULL;
    TAC_TRY(tac_alloc(view->ctx, 1, sizeof *k, &k));
    k->view = view;
    k->vertices = n;
    k->bad = -1;
    k->stuck_at = k->cut_at = k->cut_period = TAC_TIME_NEVER;
    k->eps = view->scene->settings->discovery.vagueness;
    k->tau = TICKS_PER_LIFE * view->main_period;
    k->tau_s = tac_state_seconds(view->state, k->tau);
    k->farthest = c->farthest;
    k->structure[TAC_KINETIC_BROAD] =
        view->scene->settings->discovery.structure == TAC_STRUCTURE_PAIRS ? &tac_kinetic_pairs : &tac_kinetic_lists;
    k->structure[TAC_KINETIC_NARROW] = &tac_kinetic_slabs;
    k->seconds[TAC_KINETIC_BROAD] = view->counters->seconds_lists;
    k->seconds[TAC_KINETIC_NARROW] = view->counters->seconds_slabs;
    TAC_TRY(tac_alloc(view->ctx, n, sizeof *k->plan, &k->plan));
    TAC_TRY(tac_alloc(view->ctx, n, sizeof *k->next_eps, &k->next_eps));
    TAC_TRY(tac_alloc(view->ctx, n, sizeof *k->moved, &k->moved));
    TAC_TRY(take_primitives(k, c));
    for (int i = 0; i < TAC_KINETIC_STRUCTURES; i++)
        TAC_TRY(k->structure[i]->create(k, &k->self[i]));
done:
    if (err)
        tac_kinetic_destroy(&k);
    *out = k;
    return err;
}

void tac_kinetic_destroy(struct tac_kinetic **kinetic)
{
    struct tac_kinetic *k = *kinetic;
    if (k == NULL)
        return;
    for (int i = 0; i < TAC_KINETIC_STRUCTURES; i++)
        if (k->self[i])
            k->structure[i]->destroy(k->self[i]);
    free(k->plan);
    free(k->next_eps);
    free(k->moved);
    free(k->doubt);
    free(k->primitive);
    free(k->primitive_begin);
    free(k->immovable);
    free(k);
    *kinetic = NULL;
}

bool tac_kinetic_may_touch(const struct tac_kinetic *k, tac_lid a, tac_lid b)
{
    const struct tac_model *m = k->view->model;
    if (k->immovable[a] && k->immovable[b])
        return false;
    if (a == b)
        return k->view->scene->settings->body[a].self_contact;
    return m->ignored == NULL || !m->ignored[(size_t)a * (size_t)k->body_count + (size_t)b];
}

tac_time tac_kinetic_after(const struct tac_kinetic *k, double seconds)
{
    const double quanta = seconds * (1 - 1e-12) / k->view->state->quantum;
    if (!(quanta < 0x1p60))
        return TAC_TIME_NEVER;
    return quanta > 0 ? k->now + (tac_time)quanta : k->now;
}

/* ---- flight plans ---- */

static double reach_of(const struct tac_kinetic *k, const double v[3], double eps)
{
    const double size = fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
    return eps * (1 + 1e-9) + 1e-12 * (size + eps) + k->rounding.drift;
}

/* Chooses the centre of the next plan. A vertex that oscillates needs its recent mean velocity as the centre; the
 * centre is moved from the present velocity u towards it, at most by half of eps. For a vertex that falls the centre
 * lies ahead, so that its velocity goes through the whole plan from side to side. */
static void centre_plan(const struct tac_view *view, const struct tac_plan *last, const double x[3], double eps,
                        double u[3])
{
    const double dt = tac_state_seconds(view->state, view->state->now - last->t), *g = view->scene->settings->gravity;
    double swing[3], fall[3];
    for (int i = 0; i < 3; i++) {
        swing[i] = (x[i] - last->x[i]) / dt - u[i];
        fall[i] = swing[i] + .5 * dt * g[i]; /* the change that gravity alone causes */
    }
    const double size = sqrt(tac_dot(swing, swing)), left = sqrt(tac_dot(fall, fall)), ahead = dt * sqrt(tac_dot(g, g));
    if (left < .5 * size) {
        const double share = left > .3 * eps ? .3 * eps / left : 1, step = ahead > .6 * eps ? .6 * eps / ahead : 1;
        for (int i = 0; i < 3; i++)
            u[i] += share * fall[i] + step * dt * g[i];
        return;
    }
    const double share = size > .5 * eps ? .5 * eps / size : 1;
    for (int i = 0; i < 3; i++)
        u[i] += share * swing[i];
}

/* Makes the plan of vertex v from now on, for its present velocity. */
static void file_plan(struct tac_kinetic *k, tac_lid v, bool first)
{
    struct tac_view *view = k->view;
    struct tac_plan *plan = &k->plan[v];
    double x[3], u[3], eps = k->eps >= 0 ? k->eps : k->next_eps[v];
    tac_state_position(view->state, view->scripts, v, view->state->now, x);
    tac_kinetic_velocity(view, v, u);
    if (view->state->vel[v].w == 0) {
        eps = 0;
    } else if (!first && eps > 0 && view->state->now > plan->t) {
        centre_plan(view, plan, x, eps, u);
    }
    memcpy(plan->v, u, sizeof u);
    memcpy(plan->x, x, sizeof x);
    plan->t = view->state->now;
    plan->eps2 = eps * eps;
    plan->reach = reach_of(k, u, eps);
    plan->left = false;
}

/* Is the position not a number, or too far from the origin (candidates.h, `farthest`)? */
static bool is_lost(const struct tac_kinetic *k, tac_lid v, const double u[3])
{
    bool near = tac_dot(u, u) < 1e300;
    for (int c = 0; c < 3; c++)
        near = near && fabs(k->view->state->pos[v].x[c]) <= k->farthest;
    return !near;
}

/* Vertex v has left its plan with the velocity u. Would a wider plan have helped? It would not if slabs as thick as
 * layers would have held with it for a shorter time than this plan did. For example, a vertex that falls at 1e11 m/s^2
 * leaves any plan at each tick of gravity, and its plans would become wider and wider. */
static bool would_wider_help(const struct tac_kinetic *k, tac_lid v, const double u[3])
{
    const struct tac_plan *plan = &k->plan[v];
    double d[3];
    tac_sub(d, u, plan->v);
    return sqrt(tac_dot(d, d)) * tac_state_seconds(k->view->state, k->view->state->now - plan->t) < tac_kinetic_fine(k);
}

/* Lists all vertices as having left their plans, except those that are held, which do not drift. */
static void leave_all(struct tac_kinetic *k)
{
    for (tac_lid v = 0; v < k->view->state->owned; v++)
        if (k->view->state->vel[v].w != 0 && !k->plan[v].left) {
            k->plan[v].left = true;
            k->moved[k->moved_count++] = v;
        }
}

enum tac_err tac_kinetic_replan(struct tac_kinetic *k, bool instant)
{
    enum tac_err err = TAC_OK;
    const size_t left = k->moved_count;
    k->now = k->view->state->now > k->now ? k->view->state->now : k->now;
    if (instant && tac_rounding_instant(k))
        leave_all(k);
    for (size_t i = 0; i < k->moved_count; i++) {
        const tac_lid v = k->moved[i];
        double u[3];
        tac_kinetic_velocity(k->view, v, u);
        if (is_lost(k, v, u)) {
            k->bad = v;
            return TAC_OK;
        }
        if (k->eps < 0 && i < left && would_wider_help(k, v, u))
            k->next_eps[v] *= 1.5;
        file_plan(k, v, false);
    }
    TAC_TRY(tac_kinetic_moved(k, k->moved, k->moved_count));
    k->moved_count = 0;
done:
    return err;
}

enum tac_err tac_kinetic_moved(struct tac_kinetic *k, const tac_lid *v, size_t count)
{
    enum tac_err err = TAC_OK;
    if (count == 0)
        return TAC_OK;
    k->view->counters->plans_filed += (int64_t)count;
    double then_s = tac_wall_s();
    for (int i = 0; i < TAC_KINETIC_STRUCTURES; i++) {
        if (k->structure[i]->moved == NULL)
            continue;
        TAC_TRY(k->structure[i]->moved(k, k->self[i], v, count));
        const double now_s = tac_wall_s();
        k->seconds[i][1] += now_s - then_s;
        then_s = now_s;
    }
done:
    return err;
}

/* ---- windows ---- */

static double farthest_coordinate(const struct tac_view *view)
{
    double most = fmax(view->scene->settings->contact.thickness, 1e-100);
    for (tac_lid i = 0; i < view->state->owned; i++)
        for (int c = 0; c < 3; c++)
            most = fmax(most, fabs(view->state->pos[i].x[c]));
    return most;
}

/* Adds the limits: certificates between the ends of an edge, or between the vertices of a triangle, from the start on.
 */
static enum tac_err add_limits(struct tac_kinetic *k)
{
    enum tac_err err = TAC_OK;
    const struct tac_view *view = k->view;
    struct tac_limit limit = {0};
    while (tac_limits_next(view->model, &limit)) {
        int32_t head = -1;
        if (limit.v[1] < view->state->owned && limit.v[2] < view->state->owned)
            TAC_TRY(tac_slabs_add(k, limit.type, limit.a, limit.b, &limit.v[0], &limit.v[1], -1, &head));
    }
done:
    return err;
}

enum tac_err tac_kinetic_build(struct tac_kinetic *k)
{
    enum tac_err err = TAC_OK;
    /* Narrow first: the broad phase makes slabs. */
    TAC_TRY(k->structure[TAC_KINETIC_NARROW]->build(k, k->self[TAC_KINETIC_NARROW]));
    if (k->view->scene->settings->contact.thickness > 0)
        TAC_TRY(k->structure[TAC_KINETIC_BROAD]->build(k, k->self[TAC_KINETIC_BROAD]));
    TAC_TRY(add_limits(k));
    k->built = true;
    k->view->counters->candidate_builds++;
done:
    return err;
}

/* Makes the plans for the state of view->state->now, and all certificates from them. */
static enum tac_err start_anew(struct tac_kinetic *k)
{
    struct tac_view *view = k->view;
    k->now = view->state->now;
    k->next = k->until = view->state->now;
    k->moved_count = 0;
    tac_rounding_start(k);
    for (tac_lid i = 0; i < view->state->owned; i++) {
        if (k->next_eps[i] == 0)
            k->next_eps[i] = .01 * tac_kinetic_fine(k) / k->tau_s;
        file_plan(k, i, true);
    }
    return tac_kinetic_build(k);
}

enum tac_err tac_kinetic_begin(struct tac_kinetic *k)
{
    enum tac_err err = TAC_OK;
    struct tac_view *view = k->view;
    const struct tac_kinetic_structure *broad = k->structure[TAC_KINETIC_BROAD];
    /* Far away numbers are coarser: tolerances are for twice the size that there was. */
    const double size = farthest_coordinate(view);
    const bool grown = !(1.5 * size < k->extent);
    k->bad = -1;
    k->stuck_at = k->cut_at = k->cut_period = TAC_TIME_NEVER;
    for (tac_lid i = 0; i < view->state->owned && k->bad < 0; i++) {
        double u[3];
        tac_kinetic_velocity(view, i, u);
        if ((view->state->vel[i].w != 0 || view->scripts->of[i] >= 0) && is_lost(k, i, u))
            k->bad = i;
    }
    if (k->bad >= 0)
        return TAC_OK;
    if (!k->built || grown || (broad->stale && broad->stale(k, k->self[TAC_KINETIC_BROAD]))) {
        k->extent = grown ? 3 * size : k->extent;
        TAC_TRY(start_anew(k));
    }
    for (size_t i = 0; i < view->scripts->count; i++) {
        const tac_lid v = view->scripts->script[i].vertex;
        double u[3], d[3];
        tac_kinetic_velocity(view, v, u);
        tac_sub(d, u, k->plan[v].v);
        if (!(tac_dot(d, d) <= k->plan[v].eps2)) {
            k->plan[v].left = true;
            k->moved[k->moved_count++] = v;
        }
    }
    tac_rounding_calm(k);
    TAC_TRY(tac_kinetic_replan(k, false));
done:
    return err;
}

/* Returns the queue of a structure, or NULL if it has no certificates. */
static struct tac_queue *queue_of(const struct tac_kinetic *k, int i)
{
    return k->structure[i]->queue ? k->structure[i]->queue(k->self[i]) : NULL;
}

/* Renews the certificates that may fail before k->until. */
static enum tac_err renew_due(struct tac_kinetic *k)
{
    enum tac_err err = TAC_OK;
    double then_s = 0;
    bool any = true;
    while (any) {
        any = false;
        for (int i = 0; i < TAC_KINETIC_STRUCTURES; i++) {
            struct tac_queue *queue = queue_of(k, i);
            int32_t id;
            if (queue == NULL || !tac_queue_due(queue, k->until, &id))
                continue;
            then_s = tac_wall_s();
            do {
                k->view->counters->certificates_failed++;
                TAC_TRY(k->structure[i]->fail(k, k->self[i], id));
            } while (tac_queue_due(queue, k->until, &id));
            k->seconds[i][0] += tac_wall_s() - then_s;
            any = true;
        }
    }
done:
    return err;
}

enum tac_err tac_kinetic_prove(struct tac_kinetic *k, tac_time t, tac_time *next)
{
    enum tac_err err;
    k->next = t;
    k->stuck_at = TAC_TIME_NEVER;
    /* Renews those of the last instant, or of a build since then. After a window was run again no other call does
     * so. */
    tac_slabs_doubt_again(k);
    for (;;) {
        /* Goes in steps if instants are far apart. A certificate that lives long enough is never renewed twice at one
         * time. */
        const tac_time step = k->now + k->tau / STEPS_PER_LIFE;
        k->until = k->next < step ? k->next : step;
        TAC_TRY(renew_due(k));
        if (k->next <= k->until || k->cut_at < TAC_TIME_NEVER)
            break;
        tac_time then = k->next;
        for (int i = 0; i < TAC_KINETIC_STRUCTURES; i++) {
            const struct tac_queue *queue = queue_of(k, i);
            const tac_time first = queue ? tac_queue_next(queue) : TAC_TIME_NEVER;
            then = first < then ? first : then;
        }
        k->now = then > k->until ? then : k->until;
    }
    if (k->doubt_count && k->cut_at == TAC_TIME_NEVER)
        tac_slabs_validate(k);
    *next = k->next;
done:
    return err;
}

enum tac_err tac_kinetic_tidy(struct tac_kinetic *k)
{
    enum tac_err err = TAC_OK;
    struct tac_view *view = k->view;
    k->now = view->state->now > k->now ? view->state->now : k->now;
    for (size_t slot = 0; slot < view->active->pair_count; slot++)
        if (view->active->pair[slot].live && (view->halo == NULL || view->active->pair[slot].proven))
            TAC_TRY(tac_slabs_drop_of(k, (int32_t)slot));
done:
    return err;
}
