/* static.c: solves the static scheme. Every increment of the load parameter, time, ends where forces balance, without
 * inertia.
 *
 * The incremental potential keeps its form (docs/reference/implicit.md, The static scheme). Instead of a mass each
 * vertex has TAC_STATIC_SHARE of its elements' stiffness at rest, times h^2, and it is attracted by its position in the
 * last minimum. This term makes the linear systems regular where nothing else holds a vertex. The minimum is computed
 * again from the last one until nothing moves, so the term does not change the balance that is found (Rockafellar 1976,
 * the proximal point algorithm).
 */
#include "base/exchange.h"
#include "implicit/parts.h"
#include <math.h>
#include <stdlib.h>

#define TAC_STATIC_SHARE 1e-8 /* times a vertex' stiffness, instead of inertia */
#define TAC_STATIC_AWAY 10.   /* diagonals of the scene: nothing holds a vertex that goes farther in an increment */

/* ---- what replaces inertia ---- */

/* The inertia of a rigid body is that of its nodes. */
static enum tac_err leave_out_rigid(struct tac_implicit *sim)
{
    double *inertia = NULL;
    const enum tac_err err = tac_alloc(sim->ctx, (size_t)sim->owned, sizeof *inertia, &inertia);
    for (tac_lid v = 0; v < sim->owned && !err; v++)
        inertia[v] = tac_implicit_rigid_of(sim, v) < 0 ? sim->scene->mesh->mass[v] : 0;
    sim->inertia = err ? sim->inertia : inertia;
    return err;
}

enum tac_err tac_implicit_inertia_create(struct tac_implicit *sim)
{
    enum tac_err err;
    double *stiff = NULL, *mean = NULL;
    struct tac_accum sum = {{0}, 0, 0};
    int64_t count = 0;
    if (!sim->is_static)
        return sim->rigid.count > 0 ? tac_agree(sim->ctx, leave_out_rigid(sim)) : TAC_OK;
    TAC_TRY(tac_implicit_vertex_stiffness(sim, &stiff, &mean));
    for (tac_lid v = 0; v < sim->owned; v++)
        if (sim->scene->mesh->ever_free[v] && mean[v] > 0) {
            tac_accum_add(&sum, mean[v]);
            count++;
        }
    TAC_TRY(tac_implicit_sum(sim->ctx, &sum, 1));
    TAC_TRY(tac_over_ranks(sim->ctx, &count, 1, MPI_INT64_T, MPI_SUM));
    /* Particles have no elements; in a scene without elements the scale is arbitrary. */
    const double h = sim->scale.h, usual = count > 0 ? h * h * (tac_accum_value(&sum) / (double)count) : 1;
    for (tac_lid v = 0; v < sim->owned; v++) {
        mean[v] = mean[v] > 0 ? h * h * mean[v] : usual;
        if (sim->scripts.script_of[v] >= 0) /* a script pulls the vertex with it */
            sim->scripts.script[sim->scripts.script_of[v]].mass = mean[v];
        mean[v] *= tac_implicit_rigid_of(sim, v) < 0 ? TAC_STATIC_SHARE : 0;
    }
    tac_rigid_static(sim, TAC_STATIC_SHARE);
    sim->scale.mean_mass = usual;
    sim->inertia = mean;
    mean = NULL;
done:
    free(stiff);
    free(mean);
    return err;
}

void tac_implicit_inertia_destroy(struct tac_implicit *sim)
{
    if (tac_implicit_own_inertia(sim) && sim->inertia != sim->scene->mesh->mass)
        free((void *)(uintptr_t)sim->inertia);
}

/* ---- bodies that nothing holds ---- */

/* Properties of a body. */
enum { HAS_FREE = 1, HAS_LED = 2, IS_PUSHED = 4 };

/* Sets the properties of bodies by this rank's vertices and loads. */
static void look_at_bodies(const struct tac_implicit *sim, uint8_t *facts)
{
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    const double *g = sim->scene->settings->gravity;
    const bool pulled = g[0] != 0 || g[1] != 0 || g[2] != 0;
    for (tac_lid v = 0; v < sim->owned; v++) {
        uint8_t *f = &facts[mesh->vertex_body[v]];
        *f |= mesh->ever_free[v] ? HAS_FREE : HAS_LED;
        *f |= sim->scripts.script_of[v] >= 0 ? HAS_LED : 0;
        *f |= pulled ? IS_PUSHED : 0;
    }
    for (size_t e = 0; e < sim->given.loads.count; e++)
        facts[mesh->vertex_body[sim->given.loads.element[e].v[0]]] |= IS_PUSHED;
    for (size_t e = 0; e < sim->rigid.joints.tie_count; e++)
        for (int i = 0; i < sim->rigid.joints.tie[e].count; i++) /* another body may hold it */
            facts[mesh->vertex_body[sim->rigid.joints.tie[e].v[i]]] |= HAS_LED;
}

/* Finds, before the first increment, a body that a load pushes, of which no motion ever holds a vertex, and which can
 * touch no other body. */
enum tac_err tac_implicit_check_held(struct tac_implicit *sim)
{
    enum tac_err err;
    const struct tac_settings *s = sim->scene->settings;
    uint8_t *facts = NULL;
    if (!sim->is_static)
        return TAC_OK;
    TAC_TRY(tac_agree(sim->ctx, tac_alloc(sim->ctx, (size_t)s->body_count, sizeof *facts, &facts)));
    look_at_bodies(sim, facts);
    TAC_TRY(tac_over_ranks(sim->ctx, facts, (int)s->body_count, MPI_UINT8_T, MPI_BOR));
    for (tac_lid b = 0; b < s->body_count && !err; b++)
        if (facts[b] == (HAS_FREE | IS_PUSHED) && (s->body_count == 1 || !(s->contact.thickness > 0)))
            err = tac_fail(sim->ctx, TAC_ERR_INPUT,
                           "bodies.%s: nothing holds \"%.60s\" against what pushes it, and it can touch no other body; "
                           "with integrator.scheme \"static\" give it a motion or a fixed neighbour, or take the "
                           "scheme \"euler\"",
                           s->body[b].name, s->body[b].name);
done:
    free(facts);
    return err;
}

/* Collective. Of equal distances it takes the first vertex. */
static enum tac_err check_near(struct tac_implicit *sim)
{
    enum tac_err err;
    double most = 0, all;
    tac_gid far = 0;
    for (tac_lid v = 0; v < sim->owned; v++) {
        double r[3];
        tac_sub(r, &sim->x[3 * (size_t)v], &sim->newton.x0[3 * (size_t)v]);
        const double distance = sqrt(tac_dot(r, r));
        if (!sim->newton.held[v] && !(distance <= most)) {
            most = distance == distance ? distance : INFINITY;
            far = tac_implicit_id(sim, v);
        }
    }
    all = most;
    TAC_TRY(tac_over_ranks(sim->ctx, &all, 1, MPI_DOUBLE, MPI_MAX));
    if (all <= TAC_STATIC_AWAY * sim->scale.diagonal_m)
        return TAC_OK;
    if (most < all)
        far = INT64_MAX;
    TAC_TRY(tac_over_ranks(sim->ctx, &far, 1, TAC_GID_MPI, MPI_MIN));
    return tac_fail(sim->ctx, TAC_ERR_RUN,
                    "at t = %.9g s nothing holds \"%.60s\": it goes %.3g m in one increment; with integrator.scheme "
                    "\"static\" let a motion or a contact hold it, or take the scheme \"euler\"",
                    (double)sim->now * sim->scene->settings->quantum_s,
                    sim->scene->settings->body[tac_scene_body_of(sim->scene, far)].name, all);
done:
    return err;
}

/* ---- an increment ---- */

enum tac_err tac_implicit_balance(struct tac_implicit *sim, bool *there)
{
    enum tac_err err;
    TAC_TRY(tac_implicit_minimise(sim, there));
    const bool rests = sim->newton.rests;
    while (sim->is_static && !sim->newton.rests && !(sim->part.astray && sim->part.level < TAC_LEVELS)) {
        TAC_TRY(check_near(sim));
        tac_implicit_predict(sim, true);
        TAC_TRY(tac_implicit_minimise(sim, there));
    }
    sim->newton.rests = rests; /* the caller reads whether it was in balance before */
done:
    return err;
}
