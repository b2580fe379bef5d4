/* loads_build.c: finds the elements on which the loads act, and chooses their periods (docs/reference/engine.md,
 * Loads). */
#include "elements/elastic.h"
#include "elements/loads.h"
#include "partition/ghosts.h"
#include "partition/part.h"
#include "scene/period.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

#define FASTEST 1e50 /* m/s, m/s^2: beyond, squares of squares leave the range of double */

void tac_loads_free(struct tac_loads *loads)
{
    free(loads->element);
    free(loads->row);
    free(loads->period);
    memset(loads, 0, sizeof *loads);
}

void tac_load_times_free(struct tac_load_times *times)
{
    free(times->begin);
    free(times->knot);
    memset(times, 0, sizeof *times);
}

enum tac_err tac_load_times_make(struct tac_ctx *ctx, const struct tac_scene *s, struct tac_load_times *out)
{
    enum tac_err err;
    size_t count = 0;
    for (tac_lid i = 0; i < s->settings->load_count; i++)
        count += (size_t)s->settings->load[i].knot_count;
    TAC_TRY(tac_alloc(ctx, (size_t)s->settings->load_count + 1, sizeof *out->begin, &out->begin));
    TAC_TRY(tac_alloc(ctx, count, sizeof *out->knot, &out->knot));
    for (tac_lid i = 0; i < s->settings->load_count; i++) {
        const struct tac_load *l = &s->settings->load[i];
        for (tac_lid k = 0; k < l->knot_count; k++)
            out->knot[out->begin[i] + k] = tac_scene_quanta(s, l->knot_t_s[k]);
        out->begin[i + 1] = out->begin[i] + l->knot_count;
    }
done:
    return err;
}

static double largest_factor(const struct tac_load *load)
{
    double largest = load->knot_count ? 0 : 1;
    for (tac_lid k = 0; k < load->knot_count; k++)
        largest = fmax(largest, fabs(load->factor[k]));
    return largest;
}

/* At the start: area of a triangle, length of a segment; *around: length of its boundary over that of its vertices. */
static double size_of(const struct tac_scene *s, const struct tac_load_element *e, double *perimeter)
{
    double a[3], b[3], c[3], n[3];
    const double *x = s->mesh->x;
    tac_sub(a, x + 3 * (size_t)e->v[1], x + 3 * (size_t)e->v[0]);
    if (e->count == 2) {
        *perimeter = 0;
        return sqrt(tac_dot(a, a));
    }
    tac_sub(b, x + 3 * (size_t)e->v[2], x + 3 * (size_t)e->v[0]);
    tac_sub(c, b, a);
    tac_cross(n, a, b);
    *perimeter = sqrt(tac_dot(a, a)) + sqrt(tac_dot(b, b)) + sqrt(tac_dot(c, c));
    return .5 * sqrt(tac_dot(n, n));
}

static int compare_elements(const void *a, const void *b)
{
    const struct tac_load_element *x = a, *y = b;
    if (x->load != y->load)
        return x->load < y->load ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Adds an element to each load of one sort that has all of its vertices. */
static enum tac_err add_elements(struct tac_ctx *ctx, const struct tac_scene *s, const tac_lid *v, int n, tac_lid id,
                                 struct tac_loads *out, size_t *capacity)
{
    enum tac_err err = TAC_OK;
    tac_lid set[3], load;
    bool free_some_time = false;
    for (int k = 0; k < n; k++) {
        set[k] = s->mesh->vertex_load[v[k]];
        free_some_time |= s->mesh->ever_free[v[k]];
    }
    while (free_some_time && (load = tac_load_next(s, set, n)) >= 0) {
        if ((n == 1) != tac_load_of_vertices(&s->settings->load[load]))
            continue;
        TAC_TRY(tac_grow(ctx, &out->element, capacity, out->count + 1, sizeof *out->element));
        struct tac_load_element *e = &out->element[out->count++];
        memset(e, 0, sizeof *e);
        e->count = n;
        e->load = load;
        e->id = id;
        e->limit = INFINITY;
        for (int k = 0; k < 3; k++) {
            e->v[k] = k < n ? v[k] : -1;
            e->slot[k] = -1;
        }
    }
done:
    return err;
}

/* Sets the centres of elements with a wind at the start, and the stiffness of pressures. */
static void set_start(const struct tac_scene *s, struct tac_loads *loads)
{
    for (size_t i = 0; i < loads->count; i++) {
        struct tac_load_element *e = &loads->element[i];
        const struct tac_load *load = &s->settings->load[e->load];
        double x[3][3] = {{0}}, perimeter;
        loads->row[i] = 0;
        if (tac_load_of_vertices(load))
            continue;
        for (int k = 0; k < e->count; k++)
            memcpy(x[k], s->mesh->x + 3 * (size_t)e->v[k], sizeof x[k]);
        tac_load_centre(e, x, e->centre);
        size_of(s, e, &perimeter);
        /* The force on each vertex is p/6 e1 x e2: it changes by p/6 times the opposite edge per metre; in 2D by p/2
         * for each end. */
        if (load->kind == TAC_LOAD_PRESSURE)
            loads->row[i] = fabs(load->pressure) * largest_factor(load) * (e->count == 2 ? 1 : perimeter / 6);
    }
}

enum tac_err tac_loads_collect(struct tac_ctx *ctx, const struct tac_scene *s, struct tac_loads *out)
{
    enum tac_err err = TAC_OK;
    size_t capacity = 0;
    const tac_lid owned = s->mesh->part ? s->mesh->part->owned : s->mesh->vertex_count;
    memset(out, 0, sizeof *out);
    if (s->settings->load_count == 0)
        return TAC_OK;
    for (tac_lid i = 0; i < owned; i++)
        TAC_TRY(add_elements(ctx, s, &i, 1, i, out, &capacity));
    for (tac_lid t = 0; t < s->mesh->triangle_count; t++)
        TAC_TRY(add_elements(ctx, s, &s->mesh->triangle[3 * (size_t)t], 3, t, out, &capacity));
    for (tac_lid g = 0; g < s->mesh->segment_count && s->settings->two_d; g++)
        TAC_TRY(add_elements(ctx, s, &s->mesh->segment[2 * (size_t)g], 2, g, out, &capacity));
    if (out->count)
        qsort(out->element, out->count, sizeof *out->element, compare_elements);
    TAC_TRY(tac_alloc(ctx, out->count, sizeof *out->row, &out->row));
    TAC_TRY(tac_alloc(ctx, out->count, sizeof *out->period, &out->period));
    set_start(s, out);
done:
    return err;
}

/* Computes for each vertex the area on which winds act, over its mass; m^2/kg. An element counts once for each of its
 * winds. */
static enum tac_err wind_areas(struct tac_ctx *ctx, const struct tac_scene *s, const struct tac_loads *loads,
                               double **out)
{
    enum tac_err err;
    double perimeter, *area = NULL;
    TAC_TRY(tac_alloc(ctx, (size_t)s->mesh->vertex_count, sizeof *area, &area));
    for (size_t i = 0; i < loads->count; i++) {
        const struct tac_load_element *e = &loads->element[i];
        for (int k = 0; k < e->count && s->settings->load[e->load].kind == TAC_LOAD_WIND; k++)
            if (s->mesh->ever_free[e->v[k]])
                area[e->v[k]] += size_of(s, e, &perimeter) / (e->count * s->mesh->mass[e->v[k]]);
    }
done:
    err = tac_agree(ctx, err);
    if (!err && s->mesh->part) /* a ghost's other elements are elsewhere */
        err = tac_ghosts_refresh(ctx, s->mesh->part, s->mesh->vertex_count, 1, area);
    *out = area;
    return err;
}

static enum tac_err fail_element(struct tac_ctx *ctx, const struct tac_scene *s, const struct tac_load_element *e,
                                 const char *what)
{
    const struct tac_part *part = s->mesh->part;
    const char *name = e->count == 1 ? "vertex" : e->count == 2 ? "segment" : "triangle";
    const struct tac_body *body = &s->settings->body[s->mesh->vertex_body[e->v[0]]];
    tac_gid id = part == NULL    ? e->id
                 : e->count == 1 ? part->vertex_id[e->id]
                 : e->count == 2 ? part->segment_id[e->id]
                                 : part->triangle_id[e->id];
    id -= e->count == 1 ? body->vertex_begin : e->count == 2 ? body->segment_begin : body->triangle_begin;
    return tac_fail(ctx, TAC_ERR_INPUT, "loads[%" TAC_PRILID "] on %s %" TAC_PRIGID " of body `%s` %s", e->load, name,
                    id, body->name, what);
}

/* Returns the largest acceleration that the load can give to a vertex; a wind gives at most its own velocity. */
static double acceleration(const struct tac_scene *s, const struct tac_load_element *e)
{
    const struct tac_load *load = &s->settings->load[e->load];
    double perimeter, lightest = INFINITY, force = 0;
    for (int k = 0; k < e->count; k++)
        if (s->mesh->ever_free[e->v[k]])
            lightest = fmin(lightest, s->mesh->mass[e->v[k]]);
    if (load->kind == TAC_LOAD_FORCE)
        force = sqrt(tac_dot(load->force, load->force));
    else if (load->kind == TAC_LOAD_PRESSURE)
        force = fabs(load->pressure) * size_of(s, e, &perimeter);
    else if (load->kind == TAC_LOAD_ACCELERATION)
        return sqrt(tac_dot(load->force, load->force)) * largest_factor(load);
    return force * largest_factor(load) / lightest;
}

enum tac_err tac_loads_link(struct tac_ctx *ctx, const struct tac_scene *s, struct tac_load_element *element,
                            size_t count)
{
    const size_t n = (size_t)(s->settings->two_d ? s->mesh->segment_count : s->mesh->triangle_count);
    int32_t *first = NULL; /* plus one */
    enum tac_err err = tac_alloc(ctx, n, sizeof *first, &first);
    for (size_t i = 0; i < count && !err; i++) {
        struct tac_load_element *e = &element[i];
        e->first_wind = -1;
        if (s->settings->load[e->load].kind != TAC_LOAD_WIND)
            continue;
        e->first_wind = first[e->id] - 1;
        if (e->first_wind < 0)
            first[e->id] = (int32_t)i + 1;
    }
    free(first);
    return err;
}

/* All winds on an element tick together, because they have one state: the element's centre. */
static enum tac_err join_winds(struct tac_ctx *ctx, const struct tac_scene *s, struct tac_loads *loads)
{
    const size_t n = (size_t)(s->settings->two_d ? s->mesh->segment_count : s->mesh->triangle_count);
    tac_time *shortest = NULL;
    enum tac_err err = tac_alloc(ctx, n, sizeof *shortest, &shortest);
    for (size_t i = 0; i < loads->count && !err; i++) {
        const struct tac_load_element *e = &loads->element[i];
        if (s->settings->load[e->load].kind == TAC_LOAD_WIND &&
            (!shortest[e->id] || loads->period[i] < shortest[e->id]))
            shortest[e->id] = loads->period[i];
    }
    for (size_t i = 0; i < loads->count && !err; i++)
        if (s->settings->load[loads->element[i].load].kind == TAC_LOAD_WIND)
            loads->period[i] = shortest[loads->element[i].id];
    free(shortest);
    return err;
}

enum tac_err tac_loads_choose(struct tac_ctx *ctx, const struct tac_scene *s, const double *omega2,
                              struct tac_loads *loads)
{
    enum tac_err err = TAC_OK;
    double *area = NULL;
    const double fastest = fmin(FASTEST, s->settings->fastest),
                 strongest = fmin(FASTEST, s->settings->fastest / tac_scene_step(s));
    if (s->settings->load_count == 0)
        return TAC_OK;
    TAC_TRY(wind_areas(ctx, s, loads, &area));
    for (size_t i = 0; i < loads->count && !err; i++) {
        struct tac_load_element *e = &loads->element[i];
        const struct tac_load *load = &s->settings->load[e->load];
        const double wind = sqrt(tac_dot(load->wind, load->wind)) * largest_factor(load);
        double worst = 0, most = 0, perimeter, bound = s->settings->clocks.gravity_s;
        char text[256];
        for (int k = 0; k < e->count; k++) {
            worst = fmax(worst, omega2[e->v[k]]);
            most = fmax(most, area[e->v[k]]);
        }
        if (worst > 0)
            bound = fmin(bound, s->settings->clocks.elastic_safety * 2 / sqrt(worst));
        if (load->kind == TAC_LOAD_WIND) {
            /* dF/du = drag A u is a damping; the mass that it acts on is A over the area per mass. */
            e->limit = most > 0 ? size_of(s, e, &perimeter) / most : INFINITY;
            if (load->drag * wind * most > 0)
                bound = fmin(bound, s->settings->clocks.elastic_safety * 2 / (load->drag * wind * most));
        }
        loads->period[i] = bound > 0 ? tac_clock_period(s, bound) : 0;
        if (!(loads->period[i] >= 4096)) { /* 2^12 quanta; also catches a bound that is not a number */
            snprintf(text, sizeof text,
                     "needs a period of %.3g s, under 2^12 quanta (%.3g s); make it weaker, the body heavier, or set "
                     "clocks.quantum_s to a smaller power of two",
                     bound, 4096 * s->settings->quantum_s);
            err = fail_element(ctx, s, e, text);
        } else if (!(acceleration(s, e) <= strongest)) {
            snprintf(text, sizeof text,
                     "accelerates by %.3g m/s^2, which cannot be simulated; make it weaker, or the body heavier: it "
                     "must stay within %.3g m/s^2",
                     acceleration(s, e), strongest);
            err = fail_element(ctx, s, e, text);
        } else if (!(wind <= fastest)) {
            snprintf(text, sizeof text, "blows with %.3g m/s, which cannot be simulated; stay within %.3g m/s", wind,
                     fastest);
            err = fail_element(ctx, s, e, text);
        }
    }
    if (!err)
        err = join_winds(ctx, s, loads);
done:
    free(area);
    return err;
}
