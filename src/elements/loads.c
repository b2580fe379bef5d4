/* loads.c: computes the impulses of prescribed forces, pressure and wind (docs/reference/engine.md, Loads). */
#include "elements/loads.h"
#include <math.h>
#include <string.h>
#include <tactus/math.h>

/* ---- the factor ---- */

static double factor_at(const double *factor, const tac_time *knot, tac_lid k, tac_time t)
{
    const double share = (double)(t - knot[k]) / (double)(knot[k + 1] - knot[k]);
    return factor[k] + share * (factor[k + 1] - factor[k]);
}

/* Returns the last knot that is not after t; t is not before the first. */
static tac_lid knot_before(const tac_time *knot, tac_lid count, tac_time t)
{
    tac_lid lo = 0, hi = count;
    while (hi - lo > 1) {
        const tac_lid mid = lo + (hi - lo) / 2;
        if (knot[mid] <= t)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

double tac_factor_mean(const double *factor, const tac_time *knot, tac_lid n, tac_time t, tac_time period)
{
    const tac_time begin = t - period / 2, end = begin + period;
    if (n == 0)
        return 1;
    if (end <= knot[0])
        return factor[0];
    if (begin >= knot[n - 1])
        return factor[n - 1];
    double sum = 0, from = factor[0];
    tac_time at = begin;
    tac_lid k = 0;
    if (begin < knot[0]) {
        sum = (double)(knot[0] - begin) * from;
        at = knot[0];
    } else {
        k = knot_before(knot, n, begin);
        from = factor_at(factor, knot, k, begin);
    }
    for (; k + 1 < n && at < end; k++) { /* the piece from `at` on lies after knot k */
        const tac_time to = knot[k + 1] < end ? knot[k + 1] : end;
        const double next = to == knot[k + 1] ? factor[k + 1] : factor_at(factor, knot, k, to);
        sum += .5 * (from + next) * (double)(to - at);
        from = next;
        at = to;
    }
    if (at < end)
        sum += (double)(end - at) * from;
    return sum / (double)period;
}

double tac_load_mean(const struct tac_scene *scene, const struct tac_load_times *times, tac_lid index, tac_time t,
                     tac_time period)
{
    const struct tac_load *load = &scene->settings->load[index];
    return tac_factor_mean(load->factor, times->knot + times->begin[index], load->knot_count, t, period);
}

/* ---- forces ---- */

/* Computes the normal times twice the triangle's area, or times the segment's length; pressure pushes along it. */
static void normal(const struct tac_load_element *e, const double x[3][3], double n[3])
{
    double a[3], b[3];
    tac_sub(a, x[1], x[0]);
    if (e->count == 2) {
        n[0] = a[1];
        n[1] = -a[0];
        n[2] = 0;
    } else {
        tac_sub(b, x[2], x[0]);
        tac_cross(n, a, b);
    }
}

void tac_load_centre(const struct tac_load_element *e, const double x[3][3], double centre[3])
{
    for (int k = 0; k < 3; k++)
        centre[k] = e->count == 2 ? (x[0][k] + x[1][k]) / 2 : (x[0][k] + x[1][k] + x[2][k]) / 3;
}

/* F = (drag/2) A |u.n| (u.n) n, where u is the velocity of the air relative to the element. But in one tick the impulse
 * is at most what takes all of u.n from the mass that the element represents. So no drag, no period and no small mass
 * can reverse the motion. */
static void blow(const struct tac_load *load, const struct tac_load_element *e, const double x[3][3], double h,
                 double mean, double push[3], double centre[3])
{
    double n[3], u = 0;
    normal(e, x, n);
    tac_load_centre(e, x, centre);
    const double size = sqrt(tac_dot(n, n));
    memset(push, 0, 3 * sizeof *push);
    if (!(size > 0))
        return;
    for (int k = 0; k < 3; k++) {
        n[k] /= size;
        u += n[k] * (mean * load->wind[k] - (centre[k] - e->centre[k]) / h);
    }
    const double area = e->count == 2 ? size : .5 * size, taken = h * (.5 * load->drag * area * fabs(u));
    const double j = (taken < e->limit ? taken : e->limit) * u / e->count;
    for (int k = 0; k < 3; k++)
        push[k] = j * n[k];
}

void tac_load_impulse(const struct tac_scene *scene, const struct tac_load_element *e, const double x[3][3], double h,
                      double mean, double impulse[3][3], double centre[3])
{
    const struct tac_load *load = &scene->settings->load[e->load];
    const double scale = h * mean;
    double push[3];
    switch (load->kind) {
    case TAC_LOAD_FORCE:
        for (int k = 0; k < 3; k++)
            push[k] = scale * load->force[k];
        break;
    case TAC_LOAD_ACCELERATION:
        for (int k = 0; k < 3; k++)
            push[k] = scale * (scene->mesh->mass[e->v[0]] * load->force[k]);
        break;
    case TAC_LOAD_PRESSURE: /* a third of p A n each; in 2D half of p L n */
        normal(e, x, push);
        for (int k = 0; k < 3; k++)
            push[k] *= scale * load->pressure / (e->count == 2 ? 2 : 6);
        break;
    default:
        blow(load, e, x, h, mean, push, centre);
    }
    for (int i = 0; i < e->count; i++)
        memcpy(impulse[i], push, sizeof push);
}
