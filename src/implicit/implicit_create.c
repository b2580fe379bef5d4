/* implicit_create.c: an implicit simulation of a scene at its start, and sums over ranks. */
#include "contact/limit_elements.h"
#include "implicit/parts.h"
#include "mesh/cache/point_cache.h"
#include "partition/part.h"
#include <math.h>
#include <stdlib.h>

static void clear_elements(struct tac_implicit_elements *l)
{
    free(l->of);
    free(l->counted);
    free(l->damping);
    free(l->at_start);
    free(l->yield);
    free(l->rest);
}

void tac_implicit_destroy(struct tac_implicit **out)
{
    struct tac_implicit *sim = *out;
    if (sim == NULL)
        return;
    tac_implicit_search_destroy(&sim->search);
    tac_implicit_system_destroy(&sim->system);
    for (int k = 0; k < TAC_ELEMENT_LISTS; k++)
        clear_elements(&sim->list[k]);
    tac_element_set_destroy(&sim->set);
    tac_loads_free(&sim->given.loads);
    tac_load_times_free(&sim->given.load_times);
    tac_model_destroy(&sim->model);
    if (sim->own_v != sim->v)
        free(sim->own_v);
    double *const arrays[] = {sim->x,
                              sim->v,
                              sim->impulse,
                              sim->newton.x0,
                              sim->newton.ahead,
                              sim->newton.p,
                              sim->newton.gradient,
                              sim->newton.part[0],
                              sim->newton.part[1],
                              sim->newton.part[2],
                              sim->newton.gross,
                              sim->newton.trial,
                              sim->kept.iterate,
                              sim->past};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        free(arrays[k]);
    free(sim->id);
    free(sim->local_of);
    free(sim->owner);
    free(sim->scripts.script);
    free(sim->scripts.script_of);
    for (tac_lid m = 0; m < sim->scene->settings->motion_count && sim->scripts.rows != NULL; m++)
        tac_knot_rows_destroy(&sim->scripts.rows[m]);
    free(sim->scripts.rows);
    free(sim->scripts.at);
    free(sim->kept.t);
    free(sim->newton.held);
    free(sim->newton.solid);
    free(sim->newton.driven);
    free(sim->flow_pos);
    free(sim->flow_vel);
    free(sim->contact.pair);
    free(sim->contact.touch);
    free(sim->contact.foreseen);
    free(sim->given.wind);
    free(sim->contact.sliding);
    free(sim->contact.area);
    free(sim->contact.stiff);
    tac_implicit_inertia_destroy(sim);
    if (sim->replica)
        tac_scene_destroy(&sim->scene);
    free(sim);
    *out = NULL;
}

/* The elements that reach an own vertex. */
static enum tac_err make_elements(struct tac_implicit *sim, int k)
{
    enum tac_err err;
    struct tac_implicit_elements *l = &sim->list[k];
    const struct tac_element_list *all = &sim->set.list[k];
    const struct tac_element_memory *memory = all->element->memory;
    l->element = all->element;
    TAC_TRY(tac_alloc(sim->ctx, all->count, sizeof *l->of, &l->of));
    TAC_TRY(tac_alloc(sim->ctx, all->count, sizeof *l->counted, &l->counted));
    TAC_TRY(tac_alloc(sim->ctx, all->count, sizeof *l->damping, &l->damping));
    TAC_TRY(tac_alloc(sim->ctx, all->count * (size_t)all->element->width, sizeof *l->at_start, &l->at_start));
    for (size_t e = 0; e < all->count; e++) {
        const tac_lid *v = tac_element_stencil(all, e);
        const struct tac_material *m = tac_material_of(sim->scene, sim->scene->mesh->vertex_body[v[0]]);
        if (!tac_implicit_reaches(sim, v, all->element->nodes))
            continue;
        l->of[l->count] = e;
        l->counted[l->count] = tac_implicit_counts(sim, v, all->element->nodes);
        l->damping[l->count++] = memory != NULL && m != NULL ? memory->damping(m) : 0;
    }
done:
    return err;
}

/* Of motions by files.  Every rank knows all places, and so reads all rows. */
static enum tac_err make_rows(struct tac_implicit *sim)
{
    const struct tac_settings *s = sim->scene->settings;
    tac_gid *id = NULL;
    enum tac_err err;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)s->motion_count, sizeof *sim->scripts.rows, &sim->scripts.rows));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)s->motion_count, sizeof *sim->scripts.at, &sim->scripts.at));
    for (tac_lid m = 0; m < s->motion_count; m++) {
        const struct tac_moved *moved = &sim->scene->mesh->moved[m];
        if (s->motion[m].cache == NULL)
            continue;
        TAC_TRY(tac_alloc(sim->ctx, (size_t)moved->vertex_count, sizeof *id, &id));
        for (tac_lid i = 0; i < moved->vertex_count; i++) {
            id[i] = moved->vertex[i];
            sim->scripts.script[sim->scripts.script_of[moved->vertex[i]]].row = i;
        }
        TAC_TRY(tac_motion_rows(sim->ctx, sim->scene, &s->motion[m], (size_t)moved->vertex_count, id, 0,
                                &sim->scripts.rows[m]));
        free(id);
        id = NULL;
    }
done:
    free(id);
    return err;
}

static enum tac_err make_scripts(struct tac_implicit *sim)
{
    enum tac_err err;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    for (tac_lid m = 0; m < mesh->moved_count; m++)
        sim->scripts.script_count += (size_t)mesh->moved[m].vertex_count;
    TAC_TRY(tac_alloc(sim->ctx, sim->scripts.script_count, sizeof *sim->scripts.script, &sim->scripts.script));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->count, sizeof *sim->scripts.script_of, &sim->scripts.script_of));
    for (tac_lid v = 0; v < sim->count; v++)
        sim->scripts.script_of[v] = -1;
    for (tac_lid m = 0; m < mesh->moved_count; m++)
        for (tac_lid i = 0; i < mesh->moved[m].vertex_count; i++)
            sim->scripts.script_of[mesh->moved[m].vertex[i]] = m;
    int32_t place = 0;
    for (tac_lid v = 0; v < sim->count; v++)
        if (sim->scripts.script_of[v] >= 0) {
            struct tac_implicit_script *s = &sim->scripts.script[place];
            s->vertex = v;
            s->motion = sim->scripts.script_of[v];
            s->mass = mesh->mass[v] > 0 ? mesh->mass[v] : sim->scale.mean_mass;
            memcpy(s->origin, &mesh->x[3 * (size_t)v], sizeof s->origin);
            sim->scripts.script_of[v] = place++;
        }
    TAC_TRY(make_rows(sim));
done:
    return err;
}

/* Alike on all ranks, for all know the whole scene. */
static void measure(struct tac_implicit *sim)
{
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    const struct tac_implicit_settings *s = &sim->scene->settings->implicit;
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY}, r[3];
    struct tac_accum mass = {{0}, 0, 0};
    double heavy = 0, thin[2] = {INFINITY, INFINITY}; /* least radius of what moves; of all */
    for (tac_lid v = 0; v < sim->count; v++) {
        const double radius = sim->scene->settings->body[mesh->vertex_body[v]].radius;
        thin[1] = fmin(thin[1], radius);
        thin[0] = mesh->ever_free[v] ? fmin(thin[0], radius) : thin[0];
        for (int k = 0; k < 3; k++) {
            lo[k] = fmin(lo[k], mesh->x[3 * (size_t)v + (size_t)k]);
            hi[k] = fmax(hi[k], mesh->x[3 * (size_t)v + (size_t)k]);
        }
        if (mesh->ever_free[v]) {
            tac_accum_add(&mass, mesh->mass[v]);
            heavy++;
        }
    }
    tac_sub(r, hi, lo);
    sim->scale.diagonal_m = sqrt(tac_dot(r, r));
    if (!(sim->scale.diagonal_m > 0)) /* a single particle */
        sim->scale.diagonal_m = 1;
    sim->scale.size_m = sim->scale.diagonal_m;
    for (int k = 0; k < 3; k++)
        sim->scale.size_m = fmax(sim->scale.size_m, fmax(fabs(lo[k]), fabs(hi[k])));
    sim->scale.mean_mass = heavy > 0 ? tac_accum_value(&mass) / heavy : 1;
    sim->scale.radius = heavy > 0 ? thin[0] + thin[1] : 0;
    sim->scale.h = s->step_s;
    sim->scale.velocity_tol = s->velocity_tol > 0 ? s->velocity_tol : 1e-2 * sim->scale.diagonal_m;
    sim->scale.friction_velocity = s->friction_velocity > 0 ? s->friction_velocity : 1e-3 * sim->scale.diagonal_m;
    if (sim->is_static) { /* lengths, over the step */
        const double l = sim->scale.diagonal_m;
        sim->scale.velocity_tol = s->velocity_tol > 0 ? s->velocity_tol : 1e-4 * l / s->step_s;
        sim->scale.friction_velocity = (s->friction_slip > 0 ? s->friction_slip : 1e-5 * l) / s->step_s;
    }
    sim->scale.force_tol = s->force_tol;
    sim->newton.kappa = s->stiffness;
}

static enum tac_err find_driven(struct tac_implicit *sim)
{
    enum tac_err err;
    const size_t bodies = (size_t)sim->scene->settings->body_count;
    uint8_t *driven = NULL;
    TAC_TRY(tac_alloc(sim->ctx, bodies, sizeof *driven, &driven));
    for (size_t k = 0; k < sim->scripts.script_count; k++)
        driven[sim->scene->mesh->vertex_body[sim->scripts.script[k].vertex]] = true;
    for (tac_lid v = 0; v < sim->count; v++)
        if (sim->scene->mesh->ever_free[v] && sim->scripts.script_of[v] < 0)
            driven[sim->scene->mesh->vertex_body[v]] = false;
    for (size_t b = 0; b < bodies; b++)
        sim->newton.any_driven |= driven[b];
    sim->newton.driven = driven;
done:
    return err;
}

static enum tac_err make_arrays(struct tac_implicit *sim)
{
    enum tac_err err;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    const size_t n = 3 * (size_t)sim->count;
    double **const array[] = {&sim->x,
                              &sim->v,
                              &sim->newton.x0,
                              &sim->newton.ahead,
                              &sim->newton.p,
                              &sim->newton.gradient,
                              &sim->newton.trial,
                              &sim->newton.part[0],
                              &sim->newton.part[1],
                              &sim->newton.part[2]};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++)
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof **array[k], array[k]));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->owned, sizeof *sim->impulse, &sim->impulse));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->count, sizeof *sim->newton.held, &sim->newton.held));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->count, sizeof *sim->newton.gross, &sim->newton.gross));
    TAC_TRY(
        tac_alloc(sim->ctx, (size_t)sim->scene->settings->body_count, sizeof *sim->newton.solid, &sim->newton.solid));
    for (tac_lid t = 0; t < mesh->tetrahedron_count; t++)
        sim->newton.solid[mesh->vertex_body[mesh->tetrahedron[4 * (size_t)t]]] = true;
    TAC_TRY(find_driven(sim));
    sim->own_v = sim->v;
    if (sim->id != NULL || sim->is_static)
        TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->owned, sizeof *sim->own_v, &sim->own_v));
    if (sim->scene->settings->implicit.scheme == TAC_IMPLICIT_NEWMARK ||
        sim->scene->settings->implicit.scheme == TAC_IMPLICIT_BDF2)
        TAC_TRY(tac_alloc(sim->ctx, TAC_PAST_NUMBERS * (size_t)sim->count, sizeof *sim->past, &sim->past));
    memcpy(sim->x, sim->scene->mesh->x, n * sizeof *sim->x);
    if (!sim->is_static) /* of particles alone: a static scene has no start velocities */
        memcpy(sim->v, sim->scene->mesh->v, n * sizeof *sim->v);
done:
    return err;
}

/* Elements of the table, then limits of stretch where a material has them. */
static enum tac_err make_set(struct tac_implicit *sim)
{
    enum tac_err err;
    const struct tac_settings *s = sim->scene->settings;
    bool limit = false, principal = false;
    TAC_TRY(tac_element_set_create(sim->ctx, sim->scene, &sim->set));
    for (int k = 0; k < sim->set.count; k++) /* no step turns a tetrahedron inside out (bound.c) */
        if (sim->set.list[k].element == &tac_element_neo_hookean)
            sim->set.list[k].element = &tac_element_neo_hookean_whole;
    for (tac_lid m = 0; m < s->material_count; m++) {
        limit |= s->material[m].stretch_limit > 0;
        principal |= s->material[m].stretch_limit_principal > 0;
    }
    if (limit)
        TAC_TRY(tac_element_set_add(sim->ctx, sim->scene, &tac_element_limit, &sim->set));
    if (principal)
        TAC_TRY(tac_element_set_add(sim->ctx, sim->scene, &tac_element_limit_principal, &sim->set));
done:
    return err;
}

/* What a rank makes alone. */
static enum tac_err make(struct tac_implicit *sim)
{
    enum tac_err err;
    TAC_TRY(make_set(sim));
    for (int k = 0; k < sim->set.count; k++)
        TAC_TRY(make_elements(sim, k));
    TAC_TRY(tac_implicit_plastic_create(sim));
    TAC_TRY(tac_loads_collect(sim->ctx, sim->scene, &sim->given.loads));
    TAC_TRY(tac_load_times_make(sim->ctx, sim->scene, &sim->given.load_times));
    TAC_TRY(tac_implicit_wind_create(sim));
    TAC_TRY(tac_model_create(sim->ctx, sim->scene, &sim->model));
    measure(sim);
    TAC_TRY(make_scripts(sim));
    TAC_TRY(make_arrays(sim));
    TAC_TRY(tac_implicit_weights_create(sim));
    tac_implicit_scripts_start(sim);
done:
    return err;
}

enum tac_err tac_implicit_create(struct tac_ctx *ctx, struct tac_scene *scene, struct tac_implicit **out)
{
    enum tac_err err;
    struct tac_implicit *sim = NULL;
    const struct tac_part *part = scene->mesh->part;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 1, sizeof *sim, &sim)));
    sim->ctx = ctx;
    sim->scene = scene;
    if (part != NULL) {
        TAC_TRY(tac_implicit_replicate(ctx, scene, &sim->scene, &sim->owner));
        sim->replica = true;
        sim->local = scene;
        err = tac_alloc(ctx, (size_t)part->owned, sizeof *sim->id, &sim->id);
        if (!err)
            memcpy(sim->id, part->vertex_id, (size_t)part->owned * sizeof *sim->id);
        err = err ? err : tac_alloc(ctx, (size_t)sim->scene->mesh->vertex_count, sizeof *sim->local_of, &sim->local_of);
        TAC_TRY(tac_agree(ctx, err));
    }
    sim->is_static = sim->scene->settings->implicit.scheme == TAC_IMPLICIT_STATIC;
    sim->inertia = sim->scene->mesh->mass;
    sim->count = sim->scene->mesh->vertex_count;
    sim->owned = part ? part->owned : sim->count;
    TAC_TRY(tac_agree(ctx, make(sim)));
    TAC_TRY(tac_implicit_search_create(sim));
    TAC_TRY(tac_implicit_stiffness_create(sim));
    TAC_TRY(tac_implicit_inertia_create(sim));
    TAC_TRY(tac_implicit_check_held(sim));
    TAC_TRY(tac_implicit_system_create(sim));
done:
    if (err)
        tac_implicit_destroy(&sim);
    *out = sim;
    return err;
}

enum tac_err tac_implicit_sum(struct tac_ctx *ctx, struct tac_accum *sum, int count)
{
    enum { MOST = 16 };
    int64_t all[MOST][TAC_ACCUM_LIMBS + 1];
    TAC_CHECK(count <= MOST);
    for (int k = 0; k < count; k++)
        tac_accum_carry(&sum[k]);
    if (ctx->size == 1)
        return TAC_OK;
    for (int k = 0; k < count; k++) { /* limbs may be added once carried; and so may the marks of sums that are none */
        memcpy(all[k], sum[k].limb, sizeof sum[k].limb);
        all[k][TAC_ACCUM_LIMBS] = sum[k].bad;
    }
    if (MPI_Allreduce(MPI_IN_PLACE, all, count * (TAC_ACCUM_LIMBS + 1), MPI_INT64_T, MPI_SUM, ctx->comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed while adding up energies");
    for (int k = 0; k < count; k++) {
        memcpy(sum[k].limb, all[k], sizeof sum[k].limb);
        sum[k].bad = all[k][TAC_ACCUM_LIMBS] != 0;
        sum[k].pending = 1;
        tac_accum_carry(&sum[k]);
    }
    return TAC_OK;
}

enum tac_err tac_implicit_share(struct tac_implicit *sim, double *x)
{
    for (tac_lid v = 0; v < sim->count; v++)
        for (size_t k = 3 * (size_t)v; k < 3 * (size_t)v + 3; k++)
            x[k] = tac_implicit_mine(sim, v) ? x[k] + 0. : 0; /* no -0: on several ranks a sum has none */
    if (sim->ctx->size > 1 &&
        MPI_Allreduce(MPI_IN_PLACE, x, 3 * sim->count, MPI_DOUBLE, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while sharing the vertices' values");
    return TAC_OK;
}
