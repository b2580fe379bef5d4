/* energy.c: energies, momenta and contacts of one instant (docs/explanation/method.md, Energy and the book): exact
 * sums, each term computed once. */
#include "base/exchange.h"
#include "contact/flat.h"
#include "contact/friction.h"
#include "events/ranks/ranks.h"
#include "events/rigid/rigid_motion.h"
#include "state/energy_row.h"
#include "state/spin.h"
#include <stdlib.h>
#include <string.h>

/* Computes the velocity used for energies: the mean of those before and after this instant's kicks. */
static void mean_velocity(const struct tac_sim *sim, tac_lid i, double v[3])
{
    memcpy(v, sim->state.vel[i].v, 3 * sizeof *v);
    if (sim->books.kept_at == sim->state.now)
        for (int k = 0; k < 3; k++)
            v[k] = .5 * (v[k] + sim->books.v_before[3 * (size_t)i + (size_t)k]);
}

/* Adds the energy and the angular momentum of a grain's turning, with the mean of its spins as above. */
static void add_spin(const struct tac_sim *sim, tac_lid i, struct tac_accum *kinetic, struct tac_accum angular[3])
{
    const struct tac_spin *s = &sim->state.spin[i];
    const bool half = sim->books.kept_at == sim->state.now;
    double w[3];
    for (int k = 0; k < 3; k++) {
        w[k] = half ? .5 * (s->w[k] + sim->state.spin_before[3 * (size_t)i + (size_t)k]) : s->w[k];
        tac_accum_add(&angular[k], s->moment * w[k]);
    }
    tac_accum_add(kinetic, .5 * s->moment * tac_dot(w, w));
}

static void group_energy(const struct tac_sim *sim, struct tac_accum *sum, const struct tac_element_group *g)
{
    for (size_t e = 0; e < g->elastic.count; e++) {
        const tac_lid *v = tac_forces_stencil(&g->elastic, e);
        double x[TAC_ELEMENT_NODES][3];
        if (!tac_stencil_mine(sim->scene, v, g->element->nodes))
            continue;
        for (int k = 0; k < g->element->nodes; k++)
            tac_position(&sim->state, &sim->scripts, v[k], sim->state.now, x[k]);
        tac_accum_add(sum, tac_group_energy(g, e, x));
    }
}

static void elastic_energy(const struct tac_sim *sim, struct tac_accum *stretch, struct tac_accum *bend)
{
    for (size_t c = 0; c < sim->elastic->class_count; c++)
        for (int k = 0; k < sim->elastic->element_count; k++)
            group_energy(sim, sim->elastic->element[k]->column == TAC_ENERGY_BEND ? bend : stretch,
                         &sim->elastic->rate[c].group[k]);
}

/* Returns the sum of rate x gap^2 over the layers that act at distance d (less the radius). */
static double layers_squared(const struct tac_sim *sim, const struct tac_pair *p, double d)
{
    double g2 = 0;
    for (int32_t l = 1; l <= p->form.bottom; l++) {
        double g = d - p->form.thickness * sim->model->reach[l];
        if (g >= 0)
            break;
        g2 += sim->model->rate[l] * g * g;
    }
    return g2;
}

static void contact_energy(const struct tac_sim *sim, struct tac_accum *contact, struct tac_accum *stretch,
                           struct tac_energy_row *row)
{
    row->contacts = 0;
    row->min_distance = NAN;
    for (size_t k = 0; k < sim->active.pair_count; k++) {
        const struct tac_pair *p = &sim->active.pair[k];
        double x[4][3], gradient[4][3], m = 1, g2 = 0;
        struct tac_near near[2];
        if (!p->live || !tac_decides_pair(sim->model, &sim->state, p)) /* who decides it counts it */
            continue;
        for (int i = 0; i < p->count; i++)
            tac_position(&sim->state, &sim->scripts, p->v[i], sim->state.now, x[i]);
        tac_model_gather(sim->model, (enum tac_pair_type)p->type, p->v, x);
        tac_near_pair((enum tac_pair_type)p->type, x, &near[0]);
        const double d = near[0].d - p->form.radius, eta1 = p->form.thickness;
        if (d >= eta1 * sim->model->reach[1] || (p->flat && tac_flat_beyond(p->flat, (const double(*)[3])x, &near[0])))
            continue;
        const bool limit = tac_pair_is_limit((enum tac_pair_type)p->type);
        row->contacts += !limit;
        if (!limit && !(row->min_distance <= d))
            row->min_distance = d;
        if (p->type == TAC_PAIR_EDGE_EDGE)
            tac_mollifier(x, &m, gradient);
        g2 = layers_squared(sim, p, d);
        if (p->type == TAC_PAIR_WIDE) {
            tac_near_stretch(x, near);
            g2 += layers_squared(sim, p, near[1].d - p->form.radius);
        }
        tac_accum_add(limit ? stretch : contact, .5 * p->form.stiffness * m * g2);
    }
}

enum {
    DISSIPATED = TAC_ROW_SUMS, /* after the sums of every integrator */
    COUPLE,
    LOST = COUPLE + 3, /* friction, damping, plasticity */
    SUMS = LOST + 3
};

/* Computes the energy dissipated so far: all of it, then its parts as in struct tac_losses. `half`: halfway through
 * this instant's kicks, like the velocities. */
static void dissipated_so_far(const struct tac_books *books, bool half, struct tac_accum *all, struct tac_accum part[3])
{
    part[0] = books->losses.friction;
    part[1] = books->losses.damping;
    part[2] = books->losses.plasticity;
    *all = books->dissipated;
    if (half) {
        tac_accum_subtract(all, &books->dissipated_ahead);
        tac_accum_subtract(&part[0], &books->friction_ahead);
        tac_accum_subtract(&part[1], &books->damping_ahead);
    }
    tac_accum_merge(all, &part[1]);
    tac_accum_merge(all, &part[2]);
}

void tac_books_dissipated(const struct tac_books *books, struct tac_accum *all, struct tac_accum part[3])
{
    dissipated_so_far(books, false, all, part);
}

static void tell_losses(const struct tac_books *books, const struct tac_accum *all, const struct tac_accum part[3],
                        struct tac_energy_row *row)
{
    struct tac_accum rest = *all;
    for (int k = 0; k < 3; k++)
        tac_accum_subtract(&rest, &part[k]);
    row->lost_friction = books->losses_known ? tac_accum_value(&part[0]) : NAN;
    row->lost_restitution = books->losses_known ? tac_accum_value(&rest) : NAN;
    row->lost_damping = books->losses_known ? tac_accum_value(&part[1]) : NAN;
    row->lost_plasticity = books->losses_known ? tac_accum_value(&part[2]) : NAN;
}

/* Combines the columns about contacts of a row over all ranks. */
static enum tac_err row_over_ranks(struct tac_sim *sim, struct tac_energy_row *row)
{
    int64_t most[2] = {sim->books.deepest_layer, sim->books.deepest_ever};
    double least = isnan(row->min_distance) ? INFINITY : row->min_distance;
    if (!tac_ranks_halo(sim->ranks))
        return TAC_OK;
    if (MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS ||
        MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, sim->ctx->comm) != MPI_SUCCESS ||
        MPI_Allreduce(MPI_IN_PLACE, &row->contacts, 1, MPI_INT64_T, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while adding up energies");
    sim->books.deepest_layer = most[0];
    sim->books.deepest_ever = most[1];
    row->min_distance = isinf(least) ? NAN : least;
    return TAC_OK;
}

enum tac_err tac_sim_look_ghosts(struct tac_sim *sim)
{
    if (!tac_ranks_halo(sim->ranks))
        return TAC_OK;
    tac_ranks_lines(sim);
    return tac_agree(sim->ctx, tac_ranks_halo(sim->ranks)->down);
}

enum tac_err tac_sim_ask_ghosts(struct tac_sim *sim)
{
    if (!tac_ranks_halo(sim->ranks))
        return TAC_OK;
    for (size_t k = 0; k < sim->active.pair_count; k++)
        for (int i = 0; sim->active.pair[k].live && i < sim->active.pair[k].count; i++)
            tac_ranks_halo(sim->ranks)->mark[sim->active.pair[k].v[i]] = 1;
    return tac_agree(sim->ctx, tac_halo_subscribe(tac_ranks_halo(sim->ranks)));
}

enum tac_err tac_sim_contact_count(struct tac_sim *sim, int64_t *contacts)
{
    enum tac_err err;
    struct tac_accum energy[2];
    struct tac_energy_row row;
    memset(energy, 0, sizeof energy);
    TAC_TRY(tac_sim_ask_ghosts(sim));
    TAC_TRY(tac_sim_look_ghosts(sim));
    contact_energy(sim, &energy[0], &energy[1], &row);
    if (tac_ranks_halo(sim->ranks) &&
        MPI_Allreduce(MPI_IN_PLACE, &row.contacts, 1, MPI_INT64_T, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS)
        TAC_TRY(tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while counting contacts"));
    *contacts = row.contacts;
done:
    return err;
}

enum tac_err tac_sim_energy(struct tac_sim *sim, struct tac_energy_row *row)
{
    enum tac_err err;
    struct tac_accum sum[SUMS];
    memset(row, 0, sizeof *row);
    memset(sum, 0, sizeof sum);
    TAC_TRY(tac_sim_look_ghosts(sim));
    row->time_s = tac_state_seconds(&sim->state, sim->state.now);
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        if (sim->state.vel[i].w == 0)
            continue;
        double v[3], x[3], a[3], m = sim->state.mass[i];
        mean_velocity(sim, i, v);
        tac_position(&sim->state, &sim->scripts, i, sim->state.now, x);
        tac_cross(a, x, v);
        tac_accum_add(&sum[TAC_SUM_KINETIC], .5 * m * tac_dot(v, v));
        tac_accum_add(&sum[TAC_SUM_GRAVITY], -m * tac_dot(sim->scene->settings->gravity, x));
        for (int k = 0; k < 3; k++) {
            tac_accum_add(&sum[TAC_SUM_MOMENTUM + k], m * v[k]);
            tac_accum_add(&sum[TAC_SUM_ANGULAR + k], m * a[k]);
        }
        if (sim->state.spin != NULL && sim->state.spin[i].radius > 0)
            add_spin(sim, i, &sum[TAC_SUM_KINETIC], &sum[TAC_SUM_ANGULAR]);
    }
    tac_rigid_energy(sim, &sum[TAC_SUM_KINETIC], &sum[TAC_SUM_GRAVITY], &sum[TAC_SUM_MOMENTUM], &sum[TAC_SUM_ANGULAR]);
    elastic_energy(sim, &sum[TAC_SUM_STRETCH], &sum[TAC_SUM_BEND]);
    contact_energy(sim, &sum[TAC_SUM_CONTACT], &sum[TAC_SUM_STRETCH], row);
    const bool half = sim->books.kept_at == sim->state.now; /* like v: halfway through this instant's kicks */
    dissipated_so_far(&sim->books, half, &sum[DISSIPATED], &sum[LOST]);
    sum[TAC_SUM_WORK] = sim->books.work;
    if (half)
        tac_accum_subtract(&sum[TAC_SUM_WORK], &sim->books.work_ahead);
    if (sim->books.handed.at == sim->state.now)
        tac_accum_subtract(&sum[TAC_SUM_WORK], &sim->books.handed.ahead);
    for (int k = 0; k < 3; k++)
        sum[COUPLE + k] = sim->books.couple[k];
    TAC_TRY(tac_sum_all(sim->ctx, sum, SUMS));
    TAC_TRY(row_over_ranks(sim, row));
    tac_energy_row_fill(sum, &sum[DISSIPATED], &sim->books.has_start, &sim->books.total_start, row);
    for (int k = 0; k < 3; k++)
        row->friction_couple[k] = tac_accum_value(&sum[COUPLE + k]);
    row->deepest_layer = sim->books.deepest_layer;
    tell_losses(&sim->books, &sum[DISSIPATED], &sum[LOST], row);
done:
    return err;
}

bool tac_sim_knows_row(const struct tac_sim *sim)
{
    int kicked = 0;
    for (tac_lid i = 0; i < sim->state.owned && sim->books.before_at != sim->state.now && !kicked; i++)
        kicked = sim->state.pos[i].t == sim->state.now;
    if (tac_ranks_halo(sim->ranks))
        MPI_Allreduce(MPI_IN_PLACE, &kicked, 1, MPI_INT, MPI_MAX, sim->ctx->comm);
    return !kicked;
}

double tac_sim_kinetic(const struct tac_sim *sim)
{
    const struct tac_vertex_state *state = &sim->state;
    struct tac_accum sum = {0};
    tac_rigid_kinetic(&sim->rigid, &sum);
    for (tac_lid i = 0; i < state->owned; i++) {
        if (state->vel[i].w != 0)
            tac_accum_add(&sum, .5 * state->mass[i] * tac_dot(state->vel[i].v, state->vel[i].v));
        if (state->spin != NULL)
            tac_accum_add(&sum, .5 * state->spin[i].moment * tac_dot(state->spin[i].w, state->spin[i].w));
    }
    return tac_sum_all(sim->ctx, &sum, 1) == TAC_OK ? tac_accum_value(&sum) : NAN;
}

double tac_sim_book_residual(const struct tac_sim *sim)
{
    double book[2] = {sim->books.book.work, sim->books.book.absolute};
    const double change = tac_sim_kinetic(sim) - sim->books.kinetic_start;
    if (tac_ranks_halo(sim->ranks))
        MPI_Allreduce(MPI_IN_PLACE, book, 2, MPI_DOUBLE, MPI_SUM, sim->ctx->comm);
    return book[1] > 0 ? fabs(book[0] - change) / book[1] : 0;
}
