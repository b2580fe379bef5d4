/* Energies, momenta and contacts of one instant (design 1.7): exact sums, each term computed once. */
#include "events/sim.h"
#include <string.h>

/* The velocity that energies are taken with: the mean of before and after this instant's kicks. */
static void mean_velocity(const struct tac_sim *sim, tac_lid i, double v[3])
{
    memcpy(v, sim->vel[i].v, 3 * sizeof *v);
    if (sim->kept_at == sim->now)
        for (int k = 0; k < 3; k++)
            v[k] = .5 * (v[k] + sim->v_before[3 * (size_t)i + (size_t)k]);
}

static double elastic_energy(const struct tac_sim *sim, struct tac_accum *sum, enum tac_kind kind)
{
    for (size_t c = 0; c < sim->elastic->class_count; c++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[c];
        for (size_t e = 0; kind != TAC_KIND_GRAVITY && e < rate->count[kind]; e++) {
            int n;
            double x[4][3];
            const tac_lid *v = tac_elastic_stencil(rate, kind, e, &n);
            for (int k = 0; k < n; k++)
                tac_position(sim, v[k], sim->now, x[k]);
            tac_accum_add(sum, tac_elastic_potential(rate, kind, e, x));
        }
    }
    return tac_accum_value(sum);
}

static void contact_energy(const struct tac_sim *sim, struct tac_accum *sum, struct tac_energy_row *row)
{
    row->contacts = 0;
    row->min_distance = NAN;
    for (size_t k = 0; k < sim->pair_count; k++) {
        const struct tac_pair *p = &sim->pair[k];
        double x[4][3], gradient[4][3], m = 1, g2 = 0;
        struct tac_near near;
        if (!p->live)
            continue;
        for (int i = 0; i < p->count; i++)
            tac_position(sim, p->v[i], sim->now, x[i]);
        tac_near_pair((enum tac_pair_type)p->type, x, &near);
        const double d = near.d - p->form.radius, eta1 = p->form.thickness;
        if (d >= eta1 * sim->model->reach[1])
            continue;
        row->contacts++;
        if (!(row->min_distance <= d))
            row->min_distance = d;
        if (p->type == TAC_PAIR_EDGE_EDGE)
            tac_mollifier(x, &m, gradient);
        for (int32_t l = 1; l <= p->form.bottom; l++) {
            double g = d - eta1 * sim->model->reach[l];
            if (g >= 0)
                break;
            g2 += sim->model->rate[l] * g * g;
        }
        tac_accum_add(sum, .5 * p->form.stiffness * m * g2);
    }
}

enum tac_err tac_sim_energy(struct tac_sim *sim, struct tac_energy_row *row)
{
    struct tac_accum kinetic = {0}, gravity = {0}, stretch = {0}, bend = {0}, contact = {0}, total = {0};
    struct tac_accum p[3] = {0}, l[3] = {0};
    memset(row, 0, sizeof *row);
    row->time_s = tac_seconds(sim, sim->now);
    for (tac_lid i = 0; i < sim->scene->vertex_count; i++) {
        if (sim->vel[i].w == 0)
            continue;
        double v[3], x[3], a[3], m = sim->mass[i];
        mean_velocity(sim, i, v);
        tac_position(sim, i, sim->now, x);
        tac_cross(a, x, v);
        tac_accum_add(&kinetic, .5 * m * tac_dot(v, v));
        tac_accum_add(&gravity, -m * tac_dot(sim->scene->gravity, x));
        for (int k = 0; k < 3; k++) {
            tac_accum_add(&p[k], m * v[k]);
            tac_accum_add(&l[k], m * a[k]);
        }
    }
    elastic_energy(sim, &stretch, TAC_KIND_SPRING);
    row->stretch = elastic_energy(sim, &stretch, TAC_KIND_CST);
    row->bend = elastic_energy(sim, &bend, TAC_KIND_HINGE);
    contact_energy(sim, &contact, row);
    row->kinetic = tac_accum_value(&kinetic);
    row->gravity = tac_accum_value(&gravity);
    row->contact = tac_accum_value(&contact);
    tac_accum_merge(&total, &kinetic);
    tac_accum_merge(&total, &gravity);
    tac_accum_merge(&total, &stretch);
    tac_accum_merge(&total, &bend);
    tac_accum_merge(&total, &contact);
    row->total = tac_accum_value(&total);
    struct tac_accum dissipated = sim->dissipated, work = sim->work;
    if (sim->kept_at == sim->now) { /* like v: halfway through this instant's kicks */
        tac_accum_subtract(&dissipated, &sim->dissipated_ahead);
        tac_accum_subtract(&work, &sim->work_ahead);
    }
    row->dissipated = tac_accum_value(&dissipated);
    row->work = tac_accum_value(&work);
    if (!sim->has_start) {
        sim->has_start = true;
        sim->total_start = total;
    }
    /* total - work + dissipated - start, rounded once. */
    struct tac_accum defect = total;
    tac_accum_merge(&defect, &dissipated);
    tac_accum_subtract(&defect, &work);
    tac_accum_subtract(&defect, &sim->total_start);
    row->defect = tac_accum_value(&defect);
    for (int k = 0; k < 3; k++) {
        row->momentum[k] = tac_accum_value(&p[k]);
        row->angular_momentum[k] = tac_accum_value(&l[k]);
    }
    row->deepest_layer = sim->deepest_layer;
    sim->deepest_layer = 0;
    return TAC_OK;
}

double tac_sim_kinetic(const struct tac_sim *sim)
{
    struct tac_accum sum = {0};
    for (tac_lid i = 0; i < sim->scene->vertex_count; i++)
        if (sim->vel[i].w != 0)
            tac_accum_add(&sum, .5 * sim->mass[i] * tac_dot(sim->vel[i].v, sim->vel[i].v));
    return tac_accum_value(&sum);
}

double tac_sim_book_residual(const struct tac_sim *sim)
{
    double change = tac_sim_kinetic(sim) - sim->kinetic_start;
    return sim->book.absolute > 0 ? fabs(sim->book.work - change) / sim->book.absolute : 0;
}
