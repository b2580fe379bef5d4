/* book.c: computes the energies and the contacts of an instant, and what steps dissipate (docs/reference/implicit.md,
 * Energy). All sums are exact, and one rank enters each term. */
#include "contact/contacts.h"
#include "implicit/parts.h"
#include "state/energy_row.h"
#include <math.h>
#include <stdlib.h>

enum { LOST = TAC_ROW_SUMS /* after the sums of every integrator */, SUMS = LOST + TAC_LOST };

/* Returns whether the vertex moves by its inertia: no script holds it, and it is not fixed. */
static bool is_free(const struct tac_implicit *sim, tac_lid v)
{
    return sim->scene->mesh->ever_free[v] && !tac_implicit_script_on(sim, v);
}

/* ---- what a step adds ---- */

static void enter_dissipation(struct tac_implicit *sim)
{
    const double w = sim->scale.h * sim->scale.friction_velocity;
    for (size_t e = 0; e < sim->contact.sliding_count; e++) {
        const struct tac_sliding *s = &sim->contact.sliding[e];
        double u[3];
        if (!s->counted)
            continue;
        const double y = tac_implicit_slide(sim, s, sim->x, u);
        tac_accum_add(&sim->books.lost[TAC_LOST_FRICTION],
                      s->limit / sim->weight * tac_implicit_slide_force(y, w) * (y * y));
    }
    for (struct tac_implicit_walk e = {0}; tac_implicit_next(sim, &e);) {
        double at[TAC_ELEMENT_NODES][3], g[TAC_ELEMENT_NODES][3];
        if (!e.list->counted[e.e] || !(e.list->damping[e.e] > 0))
            continue;
        tac_implicit_gather(sim->x, e.v, e.nodes, at);
        e.list->element->push(e.record, e.from, -e.list->damping[e.e] * sim->rate, at, g);
        for (int i = 0; i < e.nodes; i++)
            for (size_t c = 0; c < 3; c++)
                tac_accum_add(&sim->books.lost[TAC_LOST_DAMPING],
                              g[i][c] * (sim->x[3 * (size_t)e.v[i] + c] - sim->newton.x0[3 * (size_t)e.v[i] + c]));
    }
}

/* The work of loads in a step: the mean of the forces at the start and the end, times the displacement. Scripts are
 * treated in the same manner. What loads do on scripted vertices is work of their scripts. */
static void enter_loads(struct tac_implicit *sim)
{
    for (size_t e = 0; e < sim->given.loads.count; e++) {
        const struct tac_load_element *l = &sim->given.loads.element[e];
        double push[3][3], first[3][3];
        if (sim->scene->settings->load[l->load].kind == TAC_LOAD_WIND)
            continue;
        tac_implicit_load_at(sim, l, sim->newton.x0, sim->part.from, first);
        tac_implicit_load_at(sim, l, sim->x, sim->part.to, push);
        for (int i = 0; i < l->count; i++)
            for (int c = 0; c < 3; c++)
                push[i][c] = .5 * (first[i][c] + push[i][c]);
        for (int i = 0; i < l->count; i++) {
            const size_t v = (size_t)l->v[i];
            for (size_t c = 0; l->v[i] < sim->owned && is_free(sim, l->v[i]) && c < 3; c++)
                tac_accum_add(&sim->books.work, push[i][c] * (sim->x[3 * v + c] - sim->newton.x0[3 * v + c]));
        }
    }
}

/* Collective. The number of contacts of all ranks, and their smallest gap, NAN if there is no contact. */
static enum tac_err over_ranks(const struct tac_implicit *sim, int64_t *contacts, double *least)
{
    if (sim->ctx->size > 1 &&
        (MPI_Allreduce(MPI_IN_PLACE, contacts, 1, MPI_INT64_T, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS ||
         MPI_Allreduce(MPI_IN_PLACE, least, 1, MPI_DOUBLE, MPI_MIN, sim->ctx->comm) != MPI_SUCCESS))
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while counting contacts");
    if (!(*least < INFINITY))
        *least = NAN;
    return TAC_OK;
}

/* The work of scripts in a step: the mean of the forces at the start and the end, times the displacement, which is of
 * second order with any scheme. sim->newton.gradient has to be that of contact, friction, joints, motors
 * and elements. */
static void enter_scripts(struct tac_implicit *sim)
{
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        struct tac_implicit_script *s = &sim->scripts.script[k];
        const size_t v = 3 * (size_t)s->vertex;
        for (size_t c = 0; s->on && c < 3; c++) {
            const double force = sim->newton.gradient[v + c] / sim->weight;
            tac_accum_add(&sim->books.work, .5 * (s->force[c] + force) * (sim->x[v + c] - sim->newton.x0[v + c]));
            s->force[c] = force;
        }
    }
}

static enum tac_err count_contacts(struct tac_implicit *sim)
{
    sim->last_step.contacts = 0;
    sim->last_step.kappa = sim->newton.kappa;
    sim->last_step.least_gap = INFINITY;
    for (size_t e = 0; e < sim->contact.touch_count; e++) {
        const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
        if (!p->counted)
            continue;
        sim->last_step.contacts++;
        sim->last_step.least_gap = fmin(sim->last_step.least_gap, sim->contact.touch[e].near.at.d - p->form.radius);
        if (tac_implicit_adapts(sim))
            sim->last_step.kappa = fmax(sim->last_step.kappa, tac_implicit_kappa(sim, p, sim->newton.kappa));
    }
    if (sim->ctx->size > 1 &&
        MPI_Allreduce(MPI_IN_PLACE, &sim->last_step.kappa, 1, MPI_DOUBLE, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while counting contacts");
    return over_ranks(sim, &sim->last_step.contacts, &sim->last_step.least_gap);
}

static void enter_wind(struct tac_implicit *sim)
{
    for (size_t k = 0; k < sim->given.wind_count; k++) {
        const struct tac_load_element *l = &sim->given.loads.element[sim->given.wind[k].element];
        double first[3], last[3];
        tac_implicit_wind_at(sim, &sim->given.wind[k], false, first);
        tac_implicit_wind_at(sim, &sim->given.wind[k], true, last);
        for (int i = 0; i < l->count; i++) {
            const size_t v = (size_t)l->v[i];
            for (size_t c = 0; l->v[i] < sim->owned && is_free(sim, l->v[i]) && c < 3; c++)
                tac_accum_add(&sim->books.work,
                              .5 * (first[c] + last[c]) * (sim->x[3 * v + c] - sim->newton.x0[3 * v + c]));
        }
    }
}

enum tac_err tac_implicit_enter_step(struct tac_implicit *sim)
{
    enum tac_err err;
    enter_dissipation(sim);
    enter_loads(sim);
    enter_wind(sim);
    TAC_TRY(tac_implicit_contact_forces(sim, true));
    for (tac_lid i = 0; i < sim->owned; i++)
        for (size_t c = 0; c < 3; c++)
            sim->impulse[3 * (size_t)i + c] -= sim->newton.gradient[3 * (size_t)i + c] * (sim->scale.h / sim->weight);
    tac_implicit_add_elements(sim, sim->x, false);
    tac_implicit_add_elements(sim, sim->x, true);
    tac_rigid_add_motors(sim, sim->x);
    enter_scripts(sim);
    tac_rigid_end_motors(sim);
    TAC_TRY(count_contacts(sim));
done:
    return err;
}

/* ---- rows ---- */

static void enter_mass(const struct tac_implicit *sim, double m, const double *x, const double *u,
                       struct tac_accum sum[SUMS])
{
    double a[3];
    tac_cross(a, x, u);
    tac_accum_add(&sum[TAC_SUM_GRAVITY], -m * tac_dot(sim->scene->settings->gravity, x));
    if (sim->is_static) /* nothing has a velocity */
        return;
    tac_accum_add(&sum[TAC_SUM_KINETIC], .5 * m * tac_dot(u, u));
    for (int k = 0; k < 3; k++) {
        tac_accum_add(&sum[TAC_SUM_MOMENTUM + k], m * u[k]);
        tac_accum_add(&sum[TAC_SUM_ANGULAR + k], m * a[k]);
    }
}

static void enter_vertices(const struct tac_implicit *sim, struct tac_accum sum[SUMS])
{
    for (tac_lid i = 0; i < sim->owned; i++) {
        const double *x = &sim->x[3 * (size_t)i], *u = &sim->v[3 * (size_t)i], m = sim->scene->mesh->mass[i];
        if (is_free(sim, i) && tac_implicit_rigid_of(sim, i) < 0)
            enter_mass(sim, m, x, u, sum);
    }
    for (size_t n = 0; n < TAC_RIGID_NODES * sim->rigid.own_count; n++) {
        const int32_t k = sim->rigid.own[n / TAC_RIGID_NODES];
        const size_t node = TAC_RIGID_SIZE * (size_t)k + 3 * (n % TAC_RIGID_NODES);
        enter_mass(sim, sim->rigid.piece[k].mass, &sim->rigid.x[node], &sim->rigid.v[node], sum);
    }
}

static void enter_elements(const struct tac_implicit *sim, struct tac_accum sum[SUMS])
{
    for (struct tac_implicit_walk w = {0}; tac_implicit_next(sim, &w);) {
        const struct tac_element *element = w.list->element;
        double at[TAC_ELEMENT_NODES][3];
        if (!w.list->counted[w.e])
            continue;
        tac_implicit_gather(sim->x, w.v, w.nodes, at);
        tac_accum_add(&sum[element->column == TAC_ENERGY_BEND ? TAC_SUM_BEND : TAC_SUM_STRETCH],
                      tac_element_energy(element, w.record, tac_implicit_rest(w.list, w.e), at));
    }
    for (size_t n = 0; n < sim->rigid.own_count; n++) {
        double x[4][3];
        memcpy(x, &sim->rigid.x[TAC_RIGID_SIZE * (size_t)sim->rigid.own[n]], sizeof x);
        tac_accum_add(&sum[TAC_SUM_STRETCH],
                      tac_element_energy(&tac_element_neo_hookean_whole, &sim->rigid.piece[sim->rigid.own[n]].shape,
                                         NULL, (const double(*)[3])x));
    }
    for (size_t e = 0; e < sim->rigid.joints.tie_count; e++)
        if (sim->rigid.joints.tie[e].counted)
            tac_accum_add(&sum[TAC_SUM_STRETCH], tac_tie_energy(&sim->rigid.joints.tie[e], sim->x));
}

/* Prepares the sums at the present time: finds the candidates of now, and sets scripts, predictions and kappa as the
 * next step will have them, so that the result is a function of the state alone. */
static enum tac_err look_ahead(struct tac_implicit *sim, double *kappa)
{
    enum tac_err err;
    tac_implicit_begin_scheme(sim);
    tac_implicit_predict(sim, false);
    for (tac_lid v = 0; v < sim->count; v++)
        sim->newton.held[v] = !sim->scene->mesh->ever_free[v] && !tac_implicit_scripted(sim, v);
    sim->newton.pull = 0;
    memset(sim->newton.p, 0, 3 * (size_t)sim->count * sizeof *sim->newton.p);
    TAC_TRY(tac_implicit_find(sim, sim->x, sim->newton.p, 1));
    tac_implicit_weigh_all(sim);
    TAC_TRY(tac_agree(sim->ctx, tac_implicit_touch(sim, sim->x)));
    TAC_TRY(tac_implicit_begin_stiffness(sim, sim->x, kappa));
done:
    return err;
}

static void enter_contacts(const struct tac_implicit *sim, double kappa, struct tac_accum sum[SUMS],
                           struct tac_energy_row *row)
{
    row->min_distance = INFINITY;
    for (size_t e = 0; e < sim->contact.touch_count; e++) {
        const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
        const struct tac_barrier_near *near = &sim->contact.touch[e].near;
        double at[4][3];
        if (!p->counted)
            continue;
        tac_implicit_gather(sim->x, p->v, tac_pair_vertices(p->form.type), at);
        row->contacts++;
        row->min_distance = fmin(row->min_distance, near->at.d - p->form.radius);
        tac_accum_add(&sum[TAC_SUM_CONTACT],
                      tac_implicit_kappa(sim, p, kappa) / sim->weight * tac_barrier_energy(&p->form, at, near));
    }
}

enum tac_err tac_implicit_energy(struct tac_implicit *sim, struct tac_energy_row *row)
{
    enum tac_err err;
    struct tac_accum sum[SUMS];
    double kappa;
    memset(row, 0, sizeof *row);
    memset(sum, 0, sizeof sum);
    row->time_s = (double)sim->now * sim->scene->settings->quantum_s;
    TAC_TRY(look_ahead(sim, &kappa));
    enter_vertices(sim, sum);
    enter_elements(sim, sum);
    enter_contacts(sim, kappa, sum, row);
    memcpy(&sum[LOST], sim->books.lost, sizeof sim->books.lost);
    sum[TAC_SUM_WORK] = sim->books.work;
    TAC_TRY(tac_implicit_sum(sim->ctx, sum, SUMS));
    TAC_TRY(over_ranks(sim, &row->contacts, &row->min_distance));
    struct tac_accum lost = sum[LOST];
    for (int k = 1; k < TAC_LOST; k++)
        tac_accum_merge(&lost, &sum[LOST + k]);
    tac_energy_row_fill(sum, &lost, &sim->books.has_start, &sim->books.total_start, row);
    row->lost_friction = tac_accum_value(&sum[LOST + TAC_LOST_FRICTION]);
    row->lost_damping = tac_accum_value(&sum[LOST + TAC_LOST_DAMPING]);
    row->lost_plasticity = tac_accum_value(&sum[LOST + TAC_LOST_PLASTICITY]);
done:
    return err;
}

/* ---- contacts ---- */

/* One rank tells a contact: the owner of its first vertex that is free at some time. */
static bool tells(const struct tac_implicit *sim, const struct tac_implicit_pair *p)
{
    int k = 0;
    while (!sim->scene->mesh->ever_free[p->v[k]]) /* every pair has one */
        k++;
    return p->v[k] < sim->owned;
}

static void tell_contact(const struct tac_implicit *sim, const struct tac_implicit_pair *p, const double at[4][3],
                         const struct tac_barrier_near *near, double kappa, struct tac_contact *out)
{
    double gradient[4][3];
    tac_contact_make(p->form.type, p->key, p->v, sim->scene->mesh->vertex_body, at, &near->at, p->form.radius, out);
    for (int i = 0; i < 4; i++)
        out->vertex[i] = i < out->vertex_count ? tac_implicit_id(sim, p->v[i]) : -1;
    out->force = tac_implicit_kappa(sim, p, kappa) / sim->weight * tac_barrier_gradient(&p->form, at, near, gradient);
}

enum tac_err tac_implicit_contacts(struct tac_implicit *sim, struct tac_contact **out, size_t *count)
{
    enum tac_err err;
    double kappa;
    *out = NULL;
    *count = 0;
    TAC_TRY(look_ahead(sim, &kappa));
    err = tac_alloc(sim->ctx, sim->contact.touch_count, sizeof **out, out);
    for (size_t e = 0; e < sim->contact.touch_count && !err; e++) {
        const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
        double at[4][3];
        tac_implicit_gather(sim->x, p->v, tac_pair_vertices(p->form.type), at);
        if (tells(sim, p))
            tell_contact(sim, p, at, &sim->contact.touch[e].near, kappa, &(*out)[(*count)++]);
    }
    err = tac_agree(sim->ctx, err);
done:
    return err;
}

/* ---- counters ---- */

enum tac_err tac_implicit_counters(const struct tac_implicit *sim, struct tac_counters *sum)
{
    *sum = sim->books.counters;
    double seconds[4] = {sum->seconds_forces, sum->seconds_contact, sum->seconds_discovery, sum->seconds_output};
    if (sim->ctx->size == 1)
        return TAC_OK;
    if (MPI_Allreduce(MPI_IN_PLACE, seconds, 4, MPI_DOUBLE, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS ||
        MPI_Allreduce(MPI_IN_PLACE, &sum->candidates, 1, MPI_INT64_T, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while adding up counters");
    sum->seconds_forces = seconds[0] / sim->ctx->size;
    sum->seconds_contact = seconds[1] / sim->ctx->size;
    sum->seconds_discovery = seconds[2] / sim->ctx->size;
    sum->seconds_output = seconds[3] / sim->ctx->size;
    return TAC_OK;
}
