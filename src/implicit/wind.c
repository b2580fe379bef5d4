/* wind.c: computes the wind in a step (docs/reference/implicit.md, One step). Its force is (drag/2) A |u| u along an
 * element's normal, where u is the normal component of the wind's velocity relative to the element. With the normal and
 * the area of the start of the step, as with other loads, the force has a potential, because the velocity at the end of
 * the step is a function of the positions there:
 *
 *     weight (drag/2) A |u|^3 / (3 rate),   u = U - rate (c - from),   c = the mean of n.(x - x0)
 *
 * The potential is convex, so no drag, no length of a step and no small mass can reverse the motion.
 */
#include "implicit/parts.h"
#include <math.h>
#include <stdlib.h>

enum tac_err tac_implicit_wind_create(struct tac_implicit *sim)
{
    enum tac_err err;
    size_t n = 0;
    for (size_t e = 0; e < sim->given.loads.count; e++)
        n += sim->scene->settings->load[sim->given.loads.element[e].load].kind == TAC_LOAD_WIND;
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->given.wind, &sim->given.wind));
    for (size_t e = 0; e < sim->given.loads.count; e++) {
        const struct tac_load_element *l = &sim->given.loads.element[e];
        if (sim->scene->settings->load[l->load].kind == TAC_LOAD_WIND)
            sim->given.wind[sim->given.wind_count++] =
                (struct tac_implicit_wind){.element = e, .counted = tac_implicit_counts(sim, l->v, l->count)};
    }
done:
    return err;
}

/* The scheme's velocity at the end of the step is `rate` times the displacement from a virtual earlier position. This
 * is the distance from that position to the start, with a minus sign a part of `from`. */
static double seen_from(const struct tac_implicit *sim, size_t c)
{
    const double v = sim->v[c];
    if (sim->weight == sim->scale.h * sim->scale.h) /* euler */
        return 0;
    if (sim->scene->settings->implicit.scheme == TAC_IMPLICIT_NEWMARK)
        return .5 * sim->scale.h * v;
    return (sim->newton.x0[c] - sim->past[TAC_PAST_NUMBERS * (c / 3) + c % 3]) / 3;
}

void tac_implicit_begin_wind(struct tac_implicit *sim)
{
    for (size_t k = 0; k < sim->given.wind_count; k++) {
        struct tac_implicit_wind *w = &sim->given.wind[k];
        const struct tac_load_element *l = &sim->given.loads.element[w->element];
        const struct tac_load *load = &sim->scene->settings->load[l->load];
        double at[4][3] = {{0}}, mean, a[3], b[3];
        tac_implicit_load_places(sim, l, at, &mean);
        tac_sub(a, at[1], at[0]);
        if (l->count == 2) {
            w->n[0] = a[1];
            w->n[1] = -a[0];
            w->n[2] = 0;
        } else {
            tac_sub(b, at[2], at[0]);
            tac_cross(w->n, a, b);
        }
        const double size = sqrt(tac_dot(w->n, w->n));
        w->drag = .5 * load->drag * (l->count == 2 ? size : .5 * size);
        w->speed = w->from = 0;
        for (size_t c = 0; c < 3 && size > 0; c++) {
            w->n[c] /= size;
            w->speed += w->n[c] * (mean * load->wind[c]);
            for (int i = 0; i < l->count; i++)
                w->from += w->n[c] * seen_from(sim, 3 * (size_t)l->v[i] + c) / l->count;
        }
    }
}

double tac_implicit_wind_speed(const struct tac_implicit *sim, const struct tac_implicit_wind *w, const double *x)
{
    const struct tac_load_element *l = &sim->given.loads.element[w->element];
    double displacement = 0;
    for (int i = 0; i < l->count; i++)
        for (size_t c = 0; c < 3; c++)
            displacement += w->n[c] * (x[3 * (size_t)l->v[i] + c] - sim->newton.x0[3 * (size_t)l->v[i] + c]);
    return w->speed - sim->rate * (displacement / l->count - w->from);
}

double tac_implicit_wind_energy(const struct tac_implicit *sim, const struct tac_implicit_wind *w, const double *x)
{
    const double u = fabs(tac_implicit_wind_speed(sim, w, x));
    return sim->weight * w->drag * (u * u * u) / (3 * sim->rate);
}

void tac_implicit_wind_push(const struct tac_implicit *sim, const struct tac_implicit_wind *w, const double *x,
                            double push[3])
{
    const double u = tac_implicit_wind_speed(sim, w, x), force = w->drag * fabs(u) * u;
    const int count = sim->given.loads.element[w->element].count;
    for (int c = 0; c < 3; c++)
        push[c] = force / count * w->n[c];
}

void tac_implicit_wind_at(const struct tac_implicit *sim, const struct tac_implicit_wind *w, bool end, double push[3])
{
    const struct tac_load_element *l = &sim->given.loads.element[w->element];
    const struct tac_load *load = &sim->scene->settings->load[l->load];
    const tac_time t = end ? sim->part.to : sim->part.from;
    double own = 0; /* speed of the element along n */
    for (int i = 0; i < l->count && !end; i++)
        own += tac_dot(w->n, &sim->v[3 * (size_t)l->v[i]]) / l->count;
    if (end)
        own = w->speed - tac_implicit_wind_speed(sim, w, sim->x);
    const double air = tac_load_mean(sim->scene, &sim->given.load_times, l->load, t, 2) * tac_dot(w->n, load->wind);
    const double u = air - own, force = w->drag * fabs(u) * u;
    for (int c = 0; c < 3; c++)
        push[c] = force / l->count * w->n[c];
}

void tac_implicit_wind_hessian(const struct tac_implicit *sim, const struct tac_implicit_wind *w, const double *x,
                               double *dense)
{
    const int count = sim->given.loads.element[w->element].count, size = 3 * count;
    const double u = fabs(tac_implicit_wind_speed(sim, w, x));
    const double bend = sim->weight * w->drag * 2 * u * sim->rate / (count * count);
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++)
            dense[size * i + k] = bend * (w->n[i % 3] * w->n[k % 3]);
}
