/* Dampers, and what damped and plastic elements remember at the start. */
#include "elements/builder.h"
#include "elements/kernels.h"
#include "partition/ghosts.h"
#include "partition/part.h"
#include "scene/period.h"
#include <stdlib.h>
#include <string.h>

static const struct tac_material *material(const struct builder *b, int kind, size_t e)
{
    int n;
    return tac_material_of(b->scene, b->scene->vertex_body[tac_builder_stencil(b, kind, e, &n)[0]]);
}

static double damping(const struct builder *b, int kind, size_t e)
{
    const struct tac_material *m = material(b, kind, e);
    return kind == TAC_KIND_HINGE ? m->bend_damping : m->stretch_damping;
}

double tac_builder_yield(const struct builder *b, int kind, size_t e)
{
    const struct tac_material *m = material(b, kind, e);
    return kind == TAC_KIND_HINGE ? m->bend_yield : m->stretch_yield;
}

/* ---- periods of damping ---- */

/* Largest stiffness over mass of an element's own motions at the start, 1/s^2.  A vertex' sum of these, times damping,
 * bounds the rate at which damping alone can slow anything there (each element's form is at most that times its
 * vertices' kinetic form), and it grows with an element's deformation as its damper's `most` assumes. */
static double own_rate(const struct builder *b, int kind, size_t e)
{
    const struct tac_scene *s = b->scene;
    int n;
    const tac_lid *v = tac_builder_stencil(b, kind, e, &n);
    double w[4] = {0, 0, 0, 0}, most = 0, largest = 0;
    for (int i = 0; i < n; i++) {
        w[i] = s->ever_free[v[i]] ? 1 / s->mass[v[i]] : 0;
        most = fmax(most, w[i]);
        largest = fmax(largest, w[i] * b->row[kind][4 * e + (size_t)i]);
    }
    switch (kind) {
    case TAC_KIND_SPRING:
        return b->spring[e].stiffness * (w[0] + w[1]);
    case TAC_KIND_HINGE:
        return 2 * b->hinge[e].stiffness * most * b->gradient2[e];
    default:
        return largest;
    }
}

/* The largest step at which a vertex with frequency^2 omega2 and damping rate gamma is stable: of x'' = -omega^2 x -
 * gamma x' with the damping from the last step's displacement, the root of omega^2 h^2 + 2 gamma h = 4. */
static double stable_step(double omega2, double gamma)
{
    return 4 / (gamma + sqrt(gamma * gamma + 4 * omega2));
}

/* The period of a damper, from the vertex with the smallest: the elastic period is safety x 2/omega; a tick of the
 * damping may take the part TAKEN x safety of the fastest motion's speed, and never more than all of it.  h is the root
 * of
 *
 *     (omega h / (2 safety))^2 + gamma h / min(1, TAKEN safety) = 1
 *
 * which is stable for any safety up to 1.  Fast modes, whose decay is the least exact, are those that are gone at once:
 * a cloth's energy after a quarter of a second differed by 2e-4 between safety .1 and .9. */
static double damper_step(double omega2, double gamma, double safety)
{
    enum { TAKEN = 5 };
    const double a = omega2 / (4 * safety * safety), b = gamma / fmin(1, TAKEN * safety);
    return 2 / (b + sqrt(b * b + 4 * a));
}

static enum tac_err period_of(struct builder *b, const double *gamma, int kind, size_t e)
{
    const struct tac_scene *s = b->scene;
    double step = INFINITY, stable = INFINITY;
    int n;
    const tac_lid *v = tac_builder_stencil(b, kind, e, &n);
    for (int i = 0; i < n; i++)
        if (s->ever_free[v[i]]) {
            step = fmin(step, damper_step(b->omega2[v[i]], gamma[v[i]], s->clocks.elastic_safety));
            stable = fmin(stable, stable_step(b->omega2[v[i]], gamma[v[i]]));
        }
    const double elastic_s = (double)b->period[kind][e] * s->quantum_s;
    const double bound = fmin(step, elastic_s);
    const tac_time period = tac_clock_period(s, bound);
    if (!(period >= 4096))
        return tac_fail(
            b->ctx, TAC_ERR_INPUT,
            "the damping of the %s %" TAC_PRIGID " of body `%s` needs a period of %.3g s, under 2^12 quanta "
            "(%.3g s); damp it less, make it softer, heavier or coarser, or set clocks.quantum_s to a "
            "smaller power of two",
            tac_element_name[kind], b->id[kind][e], s->body[s->vertex_body[v[0]]].name, bound, 4096 * s->quantum_s);
    b->damper[kind][e] = period;
    b->slack[kind][e] = stable / ((double)period * s->quantum_s);
    return TAC_OK;
}

enum tac_err tac_builder_damp(struct builder *b)
{
    enum tac_err err;
    const struct tac_scene *s = b->scene;
    double *gamma = NULL; /* (V), 1/s */
    int n;
    TAC_TRY(tac_agree(b->ctx, tac_alloc(b->ctx, (size_t)s->vertex_count, sizeof *gamma, &gamma)));
    for (int k = TAC_KIND_SPRING; k <= TAC_KIND_HINGE; k++)
        for (size_t e = 0; e < b->count[k]; e++) {
            const tac_lid *v = tac_builder_stencil(b, k, e, &n);
            const double rate = damping(b, k, e) > 0 ? damping(b, k, e) * own_rate(b, k, e) : 0;
            for (int i = 0; i < n; i++)
                gamma[v[i]] += rate;
        }
    /* A ghost's other elements are elsewhere. */
    if (s->part)
        TAC_TRY(tac_ghosts_refresh(b->ctx, s->part, s->vertex_count, 1, gamma));
    for (int k = TAC_KIND_SPRING; k <= TAC_KIND_HINGE; k++)
        for (size_t e = 0; e < b->count[k]; e++)
            if (damping(b, k, e) > 0)
                TAC_TRY(period_of(b, gamma, k, e));
done:
    free(gamma);
    return err;
}

/* ---- memories ---- */

static enum tac_err make_memory(struct builder *b, struct tac_memory *m, int kind, size_t count)
{
    enum tac_err err;
    const size_t n = count * (size_t)tac_memory_width((enum tac_kind)kind);
    TAC_TRY(tac_alloc(b->ctx, n, sizeof *m->value, &m->value));
    TAC_TRY(tac_alloc(b->ctx, n, sizeof *m->saved, &m->saved));
    TAC_TRY(tac_alloc(b->ctx, count, sizeof *m->id, &m->id));
done:
    return err;
}

/* Strain of an element at the start: m; e00, e11, e01; rad. */
static void strain_of(const struct builder *b, int kind, size_t e, double strain[3])
{
    double x[4][3], p[3], q[3], n1[3], n2[3], edge[3], ee;
    int n;
    const tac_lid *v = tac_builder_stencil(b, kind, e, &n);
    for (int i = 0; i < n; i++)
        memcpy(x[i], &b->scene->x[3 * v[i]], sizeof x[i]);
    if (kind == TAC_KIND_SPRING)
        strain[0] = tac_one_length((const double(*)[3])x, p);
    else if (kind == TAC_KIND_CST)
        tac_one_cst_strain(b->cst[e].b00, b->cst[e].b01, b->cst[e].b11, (const double(*)[3])x, p, q, strain);
    else
        strain[0] = tac_one_hinge_angle((const double(*)[3])x, edge, p, q, n1, n2, &ee);
}

static void put_damper(const struct builder *b, struct tac_rate_class *r, int kind, size_t e)
{
    const double s = damping(b, kind, e);
    struct tac_memory *m = &r->last[kind];
    const size_t n = m->count++;
    strain_of(b, kind, e, &m->value[(size_t)tac_memory_width((enum tac_kind)kind) * n]);
    m->id[n] = b->id[kind][e];
    r->count[TAC_KIND_DAMPING]++;
    if (kind == TAC_KIND_SPRING) {
        const struct tac_spring *q = &b->spring[e];
        r->spring_damper[n] = (struct tac_spring_damper){{q->v[0], q->v[1]}, s * q->stiffness};
    } else if (kind == TAC_KIND_CST) {
        const struct tac_cst *q = &b->cst[e];
        r->cst_damper[n] = (struct tac_cst_damper){
            {q->v[0], q->v[1], q->v[2]}, q->body, q->b00, q->b01, q->b11, s * q->a, s * q->b, b->slack[kind][e]};
    } else {
        const struct tac_hinge *q = &b->hinge[e];
        r->hinge_damper[n] = (struct tac_hinge_damper){
            {q->v[0], q->v[1], q->v[2], q->v[3]}, 2 * s * q->stiffness, b->slack[kind][e] * b->gradient2[e]};
    }
}

enum tac_err tac_builder_dampers(struct builder *b, struct tac_elastic *el)
{
    enum tac_err err;
    size_t *count = NULL;
    TAC_TRY(tac_alloc(b->ctx, el->class_count * TAC_KINDS, sizeof *count, &count));
    for (int k = TAC_KIND_SPRING; k <= TAC_KIND_HINGE; k++)
        for (size_t e = 0; e < b->count[k]; e++)
            if (b->damper[k][e])
                count[tac_class_of(el, b->damper[k][e]) * TAC_KINDS + (size_t)k]++;
    for (size_t c = 0; c < el->class_count; c++) {
        struct tac_rate_class *r = &el->rate[c];
        const size_t *n = &count[c * TAC_KINDS];
        for (int k = TAC_KIND_SPRING; k <= TAC_KIND_HINGE; k++)
            TAC_TRY(make_memory(b, &r->last[k], k, n[k]));
        TAC_TRY(tac_alloc(b->ctx, n[TAC_KIND_SPRING], sizeof *r->spring_damper, &r->spring_damper));
        TAC_TRY(tac_alloc(b->ctx, n[TAC_KIND_CST], sizeof *r->cst_damper, &r->cst_damper));
        TAC_TRY(tac_alloc(b->ctx, n[TAC_KIND_HINGE], sizeof *r->hinge_damper, &r->hinge_damper));
    }
    for (int k = TAC_KIND_SPRING; k <= TAC_KIND_HINGE; k++) /* scene order is key order */
        for (size_t e = 0; e < b->count[k]; e++)
            if (b->damper[k][e])
                put_damper(b, &el->rate[tac_class_of(el, b->damper[k][e])], k, e);
done:
    free(count);
    return err;
}

/* A rest value that the start does not exceed: what is bent further than its limit before t = 0 has flowed before. */
static void put_plastic(const struct builder *b, struct tac_rate_class *r, int kind, size_t e)
{
    struct tac_memory *m = &r->rest[kind];
    const size_t n = m->count++;
    const double yield = tac_builder_yield(b, kind, e);
    double start[3], flow;
    m->id[n] = b->id[kind][e];
    r->yield[kind][n] = kind == TAC_KIND_SPRING ? yield * b->spring[e].length : yield;
    if (kind == TAC_KIND_SPRING) {
        m->value[n] = b->spring[e].length;
    } else if (kind == TAC_KIND_HINGE) {
        const double angle = b->hinge[e].angle;
        strain_of(b, kind, e, start);
        m->value[n] = tac_one_turn(tac_one_follow(angle + tac_one_turn(start[0] - angle), angle, yield, &flow));
    } /* a triangle's plastic strain: 0 */
}

enum tac_err tac_builder_plastic(struct builder *b, struct tac_elastic *el)
{
    enum tac_err err = TAC_OK;
    size_t *count = NULL;
    TAC_TRY(tac_alloc(b->ctx, el->class_count * TAC_KINDS, sizeof *count, &count));
    for (int k = TAC_KIND_SPRING; k <= TAC_KIND_HINGE; k++)
        for (size_t e = 0; e < b->count[k]; e++)
            if (tac_builder_yield(b, k, e) > 0)
                count[tac_class_of(el, b->period[k][e]) * TAC_KINDS + (size_t)k]++;
    for (size_t c = 0; c < el->class_count; c++)
        for (int k = TAC_KIND_SPRING; k <= TAC_KIND_HINGE; k++) {
            struct tac_rate_class *r = &el->rate[c];
            const size_t n = count[c * TAC_KINDS + (size_t)k];
            TAC_TRY(make_memory(b, &r->rest[k], k, n));
            TAC_TRY(tac_alloc(b->ctx, n, sizeof *r->yield[k], &r->yield[k]));
            TAC_TRY(tac_alloc(b->ctx, n, 1, &r->flow_mine[k]));
            for (size_t i = 0; i < n; i++)
                r->flow_mine[k][i] = tac_elastic_mine(b->scene, r, (enum tac_kind)k, r->count[k] - n + i);
        }
    for (int k = TAC_KIND_SPRING; k <= TAC_KIND_HINGE; k++)
        for (size_t e = 0; e < b->count[k]; e++)
            if (tac_builder_yield(b, k, e) > 0)
                put_plastic(b, &el->rate[tac_class_of(el, b->period[k][e])], k, e);
done:
    free(count);
    return err;
}
