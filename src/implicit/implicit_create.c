/* implicit_create.c: creates the implicit simulation of a scene at its start, and sums over ranks. */
#include "base/exchange.h"
#include "contact/limit_elements.h"
#include "implicit/parts.h"
#include "partition/part.h"
#include "state/scripts.h"
#include <math.h>
#include <stdlib.h>

static void clear_elements(struct tac_implicit_elements *l)
{
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
    tac_plates_destroy(&sim->plates);
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
    free(sim->scripts.script);
    free(sim->scripts.script_of);
    free(sim->scripts.led);
    tac_motion_rows_destroy(sim->scene, &sim->scripts.rows);
    free(sim->scripts.at);
    free(sim->kept.t);
    free(sim->newton.held);
    free(sim->newton.solid);
    free(sim->newton.presses);
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
    tac_implicit_ghosts_destroy(sim);
    tac_rigid_nodes_destroy(&sim->rigid);
    free(sim);
    *out = NULL;
}

/* Lists the elements that reach an own vertex. */
static enum tac_err make_elements(struct tac_implicit *sim, int k)
{
    enum tac_err err;
    struct tac_implicit_elements *l = &sim->list[k];
    const struct tac_element_list *all = &sim->set.list[k];
    const struct tac_element_memory *memory = all->element->memory;
    l->element = all->element;
    TAC_TRY(tac_alloc(sim->ctx, all->count, sizeof *l->counted, &l->counted));
    TAC_TRY(tac_alloc(sim->ctx, all->count, sizeof *l->damping, &l->damping));
    TAC_TRY(tac_alloc(sim->ctx, all->count * (size_t)all->element->width, sizeof *l->at_start, &l->at_start));
    l->count = all->count;
    for (size_t e = 0; e < all->count; e++) {
        const tac_lid *v = tac_element_stencil(all, e);
        const struct tac_material *m = tac_material_of(sim->scene, sim->scene->mesh->vertex_body[v[0]]);
        l->counted[e] = tac_implicit_counts(sim, v, all->element->nodes);
        l->damping[e] = memory != NULL && m != NULL ? memory->damping(m) : 0;
    }
done:
    return err;
}

static enum tac_err make_scripts(struct tac_implicit *sim)
{
    enum tac_err err;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    for (tac_lid m = 0; m < mesh->moved_count; m++)
        sim->scripts.script_count += (size_t)mesh->moved[m].vertex_count;
    TAC_TRY(tac_alloc(sim->ctx, sim->scripts.script_count, sizeof *sim->scripts.script, &sim->scripts.script));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->owned, sizeof *sim->scripts.script_of, &sim->scripts.script_of));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->count, sizeof *sim->scripts.led, &sim->scripts.led));
    for (tac_lid v = 0; v < sim->owned; v++)
        sim->scripts.script_of[v] = -1;
    for (tac_lid m = 0; m < mesh->moved_count; m++)
        for (tac_lid i = 0; i < mesh->moved[m].vertex_count; i++)
            sim->scripts.script_of[mesh->moved[m].vertex[i]] = m;
    int32_t place = 0;
    for (tac_lid v = 0; v < sim->owned; v++)
        if (sim->scripts.script_of[v] >= 0) {
            struct tac_implicit_script *s = &sim->scripts.script[place];
            s->vertex = v;
            s->motion = sim->scripts.script_of[v];
            s->mass = mesh->mass[v] > 0 ? mesh->mass[v] : sim->scale.mean_mass;
            memcpy(s->origin, &mesh->x[3 * (size_t)v], sizeof s->origin);
            sim->scripts.script_of[v] = place++;
        }
    for (tac_lid m = 0; m < mesh->moved_count; m++)
        for (tac_lid i = 0; i < mesh->moved[m].vertex_count; i++)
            sim->scripts.script[sim->scripts.script_of[mesh->moved[m].vertex[i]]].row = i;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)mesh->moved_count, sizeof *sim->scripts.at, &sim->scripts.at));
    TAC_TRY(tac_motion_rows_make(sim->ctx, sim->scene, 0, &sim->scripts.rows));
done:
    return err;
}

/* What measure() collects of the scene. */
struct extent {
    double lo[3], minus_hi[3]; /* the least of all but the points of joints, which may be far from what they join */
    double minus_far;          /* no coordinate of any vertex is larger */
    double thin[2];            /* least radius of what moves; of all */
};

static enum tac_err extend(struct tac_implicit *sim, struct extent *e, struct tac_accum *mass, int64_t *heavy)
{
    enum tac_err err;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    *e = (struct extent){{INFINITY, INFINITY, INFINITY}, {INFINITY, INFINITY, INFINITY}, 0, {INFINITY, INFINITY}};
    for (tac_lid v = 0; v < sim->owned; v++) {
        const double radius = sim->scene->settings->body[mesh->vertex_body[v]].radius;
        e->thin[1] = fmin(e->thin[1], radius);
        e->thin[0] = mesh->ever_free[v] ? fmin(e->thin[0], radius) : e->thin[0];
        const bool counts = !tac_rigid_is_anchor(sim, v);
        for (int k = 0; k < 3; k++) {
            const double x = mesh->x[3 * (size_t)v + (size_t)k];
            e->minus_far = fmin(e->minus_far, -fabs(x));
            e->lo[k] = counts ? fmin(e->lo[k], x) : e->lo[k];
            e->minus_hi[k] = counts ? fmin(e->minus_hi[k], -x) : e->minus_hi[k];
        }
        if (mesh->ever_free[v] && tac_implicit_rigid_of(sim, v) < 0) {
            tac_accum_add(mass, mesh->mass[v]);
            ++*heavy;
        }
    }
    for (size_t n = 0; n < TAC_RIGID_NODES * sim->rigid.own_count; n++) {
        tac_accum_add(mass, sim->rigid.piece[sim->rigid.own[n / TAC_RIGID_NODES]].mass);
        ++*heavy;
    }
    TAC_TRY(tac_over_ranks(sim->ctx, e, sizeof *e / sizeof(double), MPI_DOUBLE, MPI_MIN));
    TAC_TRY(tac_over_ranks(sim->ctx, heavy, 1, MPI_INT64_T, MPI_SUM));
    TAC_TRY(tac_implicit_sum(sim->ctx, mass, 1));
done:
    return err;
}

/* Collective. Measures the lengths of the scene, and sets the tolerances that follow from them. */
static enum tac_err measure(struct tac_implicit *sim)
{
    enum tac_err err;
    const struct tac_implicit_settings *s = &sim->scene->settings->implicit;
    struct tac_accum mass = {{0}, 0, 0};
    struct extent e;
    double r[3];
    int64_t heavy = 0;
    TAC_TRY(extend(sim, &e, &mass, &heavy));
    for (int k = 0; k < 3; k++)
        r[k] = -e.minus_hi[k] - e.lo[k];
    sim->scale.diagonal_m = sqrt(tac_dot(r, r));
    if (!(sim->scale.diagonal_m > 0)) /* a single particle */
        sim->scale.diagonal_m = 1;
    sim->scale.size_m = fmax(sim->scale.diagonal_m, -e.minus_far);
    sim->scale.mean_mass = heavy > 0 ? tac_accum_value(&mass) / (double)heavy : 1;
    sim->scale.radius = heavy > 0 ? e.thin[0] + e.thin[1] : 0;
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
done:
    return err;
}

/* Collective. Sets which bodies are solids, and which ones a motion moves as a whole. */
static enum tac_err look_at_bodies(struct tac_implicit *sim)
{
    enum tac_err err;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    const struct tac_settings *settings = sim->scene->settings;
    const int bodies = (int)settings->body_count;
    uint8_t *stands = NULL; /* has a free vertex without a script */
    err = tac_alloc(sim->ctx, (size_t)bodies, sizeof *stands, &stands);
    err = err ? err : tac_alloc(sim->ctx, (size_t)bodies, sizeof *sim->newton.presses, &sim->newton.presses);
    err = err ? err : tac_alloc(sim->ctx, (size_t)bodies, sizeof *sim->newton.solid, &sim->newton.solid);
    TAC_TRY(tac_agree(sim->ctx, err));
    for (tac_lid t = 0; t < mesh->tetrahedron_count; t++)
        sim->newton.solid[mesh->vertex_body[mesh->tetrahedron[4 * (size_t)t]]] = true;
    for (tac_lid k = 0; k < settings->rigid_count; k++)
        sim->newton.solid[settings->rigid[k].body] = true;
    for (tac_lid v = 0; v < sim->owned; v++) {
        const tac_lid b = mesh->vertex_body[v];
        sim->newton.presses[b] |= sim->scripts.script_of[v] >= 0;
        stands[b] |= mesh->ever_free[v] && sim->scripts.script_of[v] < 0;
    }
    TAC_TRY(tac_over_ranks(sim->ctx, sim->newton.solid, bodies, MPI_UINT8_T, MPI_MAX));
    TAC_TRY(tac_over_ranks(sim->ctx, sim->newton.presses, bodies, MPI_UINT8_T, MPI_MAX));
    TAC_TRY(tac_over_ranks(sim->ctx, stands, bodies, MPI_UINT8_T, MPI_MAX));
    for (int b = 0; b < bodies; b++) {
        sim->newton.presses[b] = sim->newton.presses[b] && !stands[b];
        sim->newton.any_driven |= sim->newton.presses[b];
    }
    for (tac_lid k = 0; k < settings->load_count; k++) {
        const struct tac_load *load = &settings->load[k];
        if (load->kind == TAC_LOAD_FORCE || load->kind == TAC_LOAD_PRESSURE)
            sim->newton.presses[load->body] |= sim->newton.solid[load->body];
    }
    for (int b = 0; b < bodies; b++)
        sim->newton.any_presses |= sim->newton.presses[b];
done:
    free(stands);
    return err;
}

static enum tac_err make_arrays(struct tac_implicit *sim)
{
    enum tac_err err;
    const size_t n = 3 * (size_t)sim->count, own = 3 * (size_t)sim->owned;
    double **const all[] = {&sim->x, &sim->v, &sim->newton.x0, &sim->newton.p, &sim->newton.trial};
    double **const mine[] = {&sim->newton.ahead,   &sim->newton.gradient, &sim->newton.part[0],
                             &sim->newton.part[1], &sim->newton.part[2],  &sim->impulse};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof **all[k], all[k]));
    for (size_t k = 0; k < sizeof mine / sizeof *mine; k++)
        TAC_TRY(tac_alloc(sim->ctx, own, sizeof **mine[k], mine[k]));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->count, sizeof *sim->newton.held, &sim->newton.held));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->owned, sizeof *sim->newton.gross, &sim->newton.gross));
    sim->own_v = sim->v;
    if (sim->id != NULL || sim->is_static)
        TAC_TRY(tac_alloc(sim->ctx, own, sizeof *sim->own_v, &sim->own_v));
    if (sim->scene->settings->implicit.scheme == TAC_IMPLICIT_NEWMARK ||
        sim->scene->settings->implicit.scheme == TAC_IMPLICIT_BDF2)
        TAC_TRY(tac_alloc(sim->ctx, TAC_PAST_NUMBERS * (size_t)sim->count, sizeof *sim->past, &sim->past));
    memcpy(sim->x, sim->scene->mesh->x, n * sizeof *sim->x);
    if (!sim->is_static) /* of particles alone: a static scene has no start velocities */
        memcpy(sim->v, sim->scene->mesh->v, n * sizeof *sim->v);
done:
    return err;
}

/* Fills the set of elements: those of the table, and limits of stretch where a material has them. */
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

/* Makes the elements and loads of this rank, without communication. */
static enum tac_err make_terms(struct tac_implicit *sim)
{
    enum tac_err err;
    TAC_TRY(make_set(sim));
    for (int k = 0; k < sim->set.count; k++)
        TAC_TRY(make_elements(sim, k));
    TAC_TRY(tac_implicit_plastic_create(sim));
    TAC_TRY(tac_loads_collect(sim->ctx, sim->scene, &sim->given.loads));
    TAC_TRY(tac_load_times_make(sim->ctx, sim->scene, &sim->given.load_times));
    TAC_TRY(tac_implicit_wind_create(sim));
done:
    return err;
}

/* Makes the vertices of this rank, without communication. */
static enum tac_err make_vertices(struct tac_implicit *sim)
{
    enum tac_err err;
    TAC_TRY(make_scripts(sim));
    TAC_TRY(make_arrays(sim));
    TAC_TRY(tac_implicit_weights_create(sim));
    tac_implicit_scripts_start(sim);
done:
    return err;
}

/* Local. Sets which vertices and elements this rank has. */
static enum tac_err take_scene(struct tac_implicit *sim, struct tac_scene *scene)
{
    enum tac_err err = TAC_OK;
    const struct tac_part *part = scene->mesh->part;
    sim->scene = scene;
    sim->is_static = scene->settings->implicit.scheme == TAC_IMPLICIT_STATIC;
    sim->inertia = scene->mesh->mass;
    sim->count = sim->meshed = scene->mesh->vertex_count;
    sim->owned = tac_scene_owned(scene);
    if (part != NULL) {
        TAC_TRY(tac_alloc(sim->ctx, (size_t)part->owned, sizeof *sim->id, &sim->id));
        if (part->owned > 0)
            memcpy(sim->id, part->vertex_id, (size_t)part->owned * sizeof *sim->id);
    }
done:
    return err;
}

enum tac_err tac_implicit_create(struct tac_ctx *ctx, struct tac_scene *scene, struct tac_implicit **out)
{
    enum tac_err err;
    struct tac_implicit *sim = NULL;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 1, sizeof *sim, &sim)));
    sim->ctx = ctx;
    err = take_scene(sim, scene);
    err = err ? err : tac_rigid_nodes_create(sim);
    err = err ? err : tac_rigid_joints_create(sim);
    err = err ? err : make_terms(sim);
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_agree(ctx, tac_model_create(ctx, scene, &sim->model)));
    TAC_TRY(measure(sim));
    TAC_TRY(tac_agree(ctx, make_vertices(sim)));
    TAC_TRY(look_at_bodies(sim));
    TAC_TRY(tac_implicit_ghosts_create(sim));
    TAC_TRY(tac_implicit_search_create(sim));
    TAC_TRY(tac_implicit_stiffness_create(sim));
    TAC_TRY(tac_implicit_inertia_create(sim));
    TAC_TRY(tac_implicit_check_held(sim));
    TAC_TRY(tac_implicit_system_create(sim));
    TAC_TRY(tac_implicit_ghosts_refresh(sim));
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
    for (int k = 0; k < count;
         k++) { /* limbs that are carried can be added, and so can the marks of sums that are not finite */
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
