/* impact_book.c: what rows, loads and scripts do to the energy, and the energies and contacts of an instant
 * (docs/reference/impact.md, Energy). All sums are exact, and one rank enters each term: the first one those of rows,
 * which all ranks have. */
#include "base/exchange.h"
#include "contact/contacts.h"
#include "impact/impact.h"
#include "state/energy_row.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The velocity of a row along a direction of its friction, over s. */
static double slide_speed(const struct tac_impact_row *row, int which, const double *v)
{
    double slip[3];
    tac_row_slip(row, v, slip);
    return tac_dot(row->tangent[which], slip) / row->s;
}

/* An impulse takes minus itself times the mean velocity of the row before and after it. What moves by a script is no
 * part of that velocity's energy: the script's work. Where bodies turn, the restitution of an impact changes slips,
 * too, so what friction takes is counted from there on. */
static void enter(struct tac_impact_books *b, const struct tac_impact_row *row, const double *before,
                  const double *after, bool impact)
{
    const bool apart = impact && (row->turn[0] > 0 || row->turn[1] > 0);
    const double along = .5 * (tac_row_speed(row, before) + tac_row_speed(row, after)) + row->u;
    tac_accum_add(&b->lost, -row->lambda * along);
    tac_accum_add(&b->work, -row->lambda * row->u);
    if (apart)
        tac_accum_add(&b->friction, row->rubbed);
    for (int i = 0; i < 2; i++) {
        if (row->slide[i] == 0)
            continue;
        const double across = .5 * (slide_speed(row, i, before) + slide_speed(row, i, after));
        tac_accum_add(&b->lost, -row->slide[i] * across);
        if (!apart)
            tac_accum_add(&b->friction, -row->slide[i] * across);
        tac_accum_add(&b->work, -row->slide[i] * (tac_dot(row->tangent[i], row->other) / row->s));
    }
}

void tac_impact_enter_rows(struct tac_impact *sim, const double *before, const double *after, bool impact)
{
    const struct tac_impact_active *a = &sim->active;
    for (size_t k = 0; k < a->rows && sim->ctx->rank == 0; k++)
        enter(&sim->books, &a->row[k], before, after, impact);
}

/* Forces do the work h a.middle, and in velocities a quarter of h a times the difference of the two impulses more. */
void tac_impact_enter_difference(struct tac_impact *sim)
{
    const struct tac_impact_active *a = &sim->active;
    for (size_t k = 0; k < a->rows && sim->ctx->rank == 0; k++) {
        const struct tac_impact_row *row = &a->row[k];
        double apart[2][3] = {{0}}, second[3], work = 0;
        for (int i = 0; i < 2; i++)
            for (size_t c = 0; c < 3 && row->body[i] >= 0; c++)
                apart[i][c] = row->inverse[i] * a->a[3 * (size_t)row->body[i] + c];
        tac_row_push(row, second);
        for (int c = 0; c < 3; c++)
            work += (apart[0][c] - apart[1][c]) * (second[c] - a->first[k][c]);
        if (work != 0)
            tac_accum_add(&sim->books.lost, -.25 * sim->part.h * work);
    }
}

/* The work of loads on particles: all but gravity, which is in the energy. */
void tac_impact_enter_loads(struct tac_impact *sim)
{
    const double *g = sim->scene->settings->gravity;
    for (tac_lid v = 0; v < sim->owned && sim->loads.count > 0; v++)
        for (size_t c = 0; c < 3 && tac_impact_is_particle(sim, v); c++)
            tac_accum_add(&sim->books.work,
                          sim->scene->mesh->mass[v] * (sim->a[3 * (size_t)v + c] - g[c]) * sim->p[3 * (size_t)v + c]);
}

void tac_impact_hand_over(struct tac_impact *sim, tac_lid v, bool caught)
{
    const double m = sim->scene->mesh->mass[v], *x = &sim->x[3 * (size_t)v], *u = &sim->v[3 * (size_t)v];
    const double energy = m * (.5 * tac_dot(u, u) - tac_dot(sim->scene->settings->gravity, x));
    tac_accum_add(&sim->books.work, caught ? -energy : energy);
}

/* ---- rows of energy.csv ---- */

enum { LOST = TAC_ROW_SUMS, FRICTION, SUMS };

static void enter_vertices(const struct tac_impact *sim, struct tac_accum sum[SUMS])
{
    for (tac_lid i = 0; i < sim->owned; i++) {
        const double *x = &sim->x[3 * (size_t)i], *u = &sim->v[3 * (size_t)i], m = sim->scene->mesh->mass[i];
        double a[3];
        if (!tac_impact_is_particle(sim, i))
            continue;
        tac_cross(a, x, u);
        tac_accum_add(&sum[TAC_SUM_GRAVITY], -m * tac_dot(sim->scene->settings->gravity, x));
        tac_accum_add(&sum[TAC_SUM_KINETIC], .5 * m * tac_dot(u, u));
        for (int k = 0; k < 3; k++) {
            tac_accum_add(&sum[TAC_SUM_MOMENTUM + k], m * u[k]);
            tac_accum_add(&sum[TAC_SUM_ANGULAR + k], m * a[k]);
        }
    }
    tac_impact_rigid_energy(sim, sum);
}

/* Collective. Lists the pairs of now. */
static enum tac_err look(struct tac_impact *sim)
{
    memset(sim->p, 0, 3 * (size_t)sim->count * sizeof *sim->p);
    const enum tac_err err = tac_impact_ghosts_refresh(sim);
    return err ? err : tac_impact_find(sim);
}

static double gap_of(const struct tac_impact *sim, const struct tac_impact_pair *pair, double x[4][3],
                     struct tac_near *near)
{
    tac_impact_gather(sim->x, pair->v, tac_pair_vertices(pair->type), x);
    tac_near_pair(pair->type, (const double(*)[3])x, near);
    return near->d - pair->radius;
}

enum tac_err tac_impact_energy(struct tac_impact *sim, struct tac_energy_row *row)
{
    enum tac_err err;
    struct tac_accum sum[SUMS];
    double x[4][3];
    struct tac_near near;
    memset(row, 0, sizeof *row);
    memset(sum, 0, sizeof sum);
    row->time_s = (double)sim->now * sim->scene->settings->quantum_s;
    row->min_distance = INFINITY;
    TAC_TRY(look(sim));
    enter_vertices(sim, sum);
    for (size_t k = 0; k < sim->search.count; k++) {
        const double gap = gap_of(sim, &sim->search.pair[k], x, &near);
        if (!(gap < sim->search.pair[k].thickness))
            continue;
        row->contacts++;
        row->min_distance = fmin(row->min_distance, gap);
    }
    sum[LOST] = sim->books.lost;
    sum[FRICTION] = sim->books.friction;
    sum[TAC_SUM_WORK] = sim->books.work;
    TAC_TRY(tac_sum_all(sim->ctx, sum, SUMS));
    TAC_TRY(tac_over_ranks(sim->ctx, &row->contacts, 1, MPI_INT64_T, MPI_SUM));
    TAC_TRY(tac_over_ranks(sim->ctx, &row->min_distance, 1, MPI_DOUBLE, MPI_MIN));
    if (!(row->min_distance < INFINITY))
        row->min_distance = NAN;
    tac_energy_row_fill(sum, &sum[LOST], &sim->books.has_start, &sim->books.total_start, row);
    struct tac_accum rest = sum[LOST];
    tac_accum_subtract(&rest, &sum[FRICTION]);
    row->lost_friction = tac_accum_value(&sum[FRICTION]);
    row->lost_restitution = tac_accum_value(&rest);
done:
    return err;
}

/* ---- contacts ---- */

enum tac_err tac_impact_contacts(struct tac_impact *sim, struct tac_contact **out, size_t *count)
{
    enum tac_err err;
    *out = NULL;
    *count = 0;
    TAC_TRY(look(sim));
    TAC_TRY(tac_agree(sim->ctx, tac_alloc(sim->ctx, sim->search.count, sizeof **out, out)));
    for (size_t k = 0; k < sim->search.count; k++) {
        const struct tac_impact_pair *p = &sim->search.pair[k];
        double x[4][3];
        struct tac_near near;
        if (!(gap_of(sim, p, x, &near) < p->thickness))
            continue;
        struct tac_contact *c = &(*out)[(*count)++];
        tac_contact_make(p->type, p->key, p->v, sim->scene->mesh->vertex_body, (const double(*)[3])x, &near, p->radius,
                         c);
        c->force = tac_impact_pushes_force(sim, p->key);
        for (int i = 0; i < 4; i++)
            c->vertex[i] = i < c->vertex_count ? tac_scene_id(sim->scene, p->v[i]) : -1;
    }
done:
    return err;
}

/* ---- counters ---- */

enum tac_err tac_impact_counters(const struct tac_impact *sim, struct tac_counters *sum)
{
    enum tac_err err;
    *sum = sim->books.counters;
    double seconds[4] = {sum->seconds_forces, sum->seconds_contact, sum->seconds_discovery, sum->seconds_output};
    TAC_TRY(tac_over_ranks(sim->ctx, seconds, 4, MPI_DOUBLE, MPI_SUM));
    TAC_TRY(tac_over_ranks(sim->ctx, &sum->candidates, 1, MPI_INT64_T, MPI_SUM));
    sum->seconds_forces = seconds[0] / sim->ctx->size;
    sum->seconds_contact = seconds[1] / sim->ctx->size;
    sum->seconds_discovery = seconds[2] / sim->ctx->size;
    sum->seconds_output = seconds[3] / sim->ctx->size;
done:
    return err;
}
