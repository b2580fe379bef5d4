/* memory_build.c: makes the dampers of a scene, and the state that damped and plastic elements have at the start
 * (docs/reference/engine.md, Damping and plasticity). */
#include "elements/elastic_builder.h"
#include "partition/ghosts.h"
#include "partition/part.h"
#include "scene/period.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct tac_material *material(const struct builder *b, int kind, size_t e)
{
    return tac_material_of(b->scene, b->scene->mesh->vertex_body[tac_element_stencil(&b->set.list[kind], e)[0]]);
}

static double damping(const struct builder *b, int kind, size_t e)
{
    const struct tac_element_memory *memory = b->set.list[kind].element->memory;
    return memory ? memory->damping(material(b, kind, e)) : 0;
}

double tac_builder_yield(const struct builder *b, int kind, size_t e)
{
    const struct tac_element_memory *memory = b->set.list[kind].element->memory;
    return memory ? memory->yield(material(b, kind, e)) : 0;
}

/* ---- periods of damping ---- */

/* Returns the largest stiffness over mass of the motions of one element alone at the start, 1/s^2.  A vertex' sum of
 * these, times damping, bounds the rate at which damping alone can slow anything there (each element's form is at most
 * that times its vertices' kinetic form), and it grows with an element's deformation as its damper's `most` assumes. */
static double own_rate(const struct builder *b, int kind, size_t e)
{
    const struct tac_scene *s = b->scene;
    const struct tac_element_list *list = &b->set.list[kind];
    const tac_lid *v = tac_element_stencil(list, e);
    double w[TAC_ELEMENT_NODES] = {0};
    for (int i = 0; i < list->element->nodes; i++)
        w[i] = s->mesh->ever_free[v[i]] ? 1 / s->mesh->mass[v[i]] : 0;
    return list->element->memory->rate(tac_element_record(list, e), &list->bound[e], w);
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
    const struct tac_element_list *list = &b->set.list[kind];
    double step = INFINITY, stable = INFINITY;
    const tac_lid *v = tac_element_stencil(list, e);
    for (int i = 0; i < list->element->nodes; i++)
        if (s->mesh->ever_free[v[i]]) {
            step = fmin(step, damper_step(b->omega2[v[i]], gamma[v[i]], s->settings->clocks.elastic_safety));
            stable = fmin(stable, stable_step(b->omega2[v[i]], gamma[v[i]]));
        }
    const double elastic_s = (double)b->period[kind][e] * s->settings->quantum_s;
    const double bound = fmin(step, elastic_s);
    const tac_time period = tac_clock_period(s, bound);
    if (!(period >= 4096))
        return tac_fail(b->ctx, TAC_ERR_INPUT,
                        "the damping of the %s %" TAC_PRIGID
                        " of body `%s` needs a period of %.3g s, under 2^12 quanta "
                        "(%.3g s); damp it less, make it softer, heavier or coarser, or set clocks.quantum_s to a "
                        "smaller power of two",
                        list->element->noun, list->id[e], s->settings->body[s->mesh->vertex_body[v[0]]].name, bound,
                        4096 * s->settings->quantum_s);
    b->damper[kind][e] = period;
    b->slack[kind][e] = stable / ((double)period * s->settings->quantum_s);
    return TAC_OK;
}

enum tac_err tac_builder_damp(struct builder *b)
{
    enum tac_err err;
    const struct tac_scene *s = b->scene;
    double *gamma = NULL; /* (V), 1/s */
    TAC_TRY(tac_agree(b->ctx, tac_alloc(b->ctx, (size_t)s->mesh->vertex_count, sizeof *gamma, &gamma)));
    for (int k = 0; k < b->set.count; k++) {
        const struct tac_element_list *list = &b->set.list[k];
        for (size_t e = 0; e < list->count; e++) {
            const tac_lid *v = tac_element_stencil(list, e);
            const double rate = damping(b, k, e) > 0 ? damping(b, k, e) * own_rate(b, k, e) : 0;
            for (int i = 0; i < list->element->nodes; i++)
                gamma[v[i]] += rate;
        }
    }
    /* The owners of ghosts have the other elements of these. */
    if (s->mesh->part)
        TAC_TRY(tac_ghosts_refresh(b->ctx, s->mesh->part, s->mesh->vertex_count, 1, gamma));
    for (int k = 0; k < b->set.count; k++)
        for (size_t e = 0; e < b->set.list[k].count; e++)
            if (damping(b, k, e) > 0)
                TAC_TRY(period_of(b, gamma, k, e));
done:
    free(gamma);
    return err;
}

/* ---- memories ---- */

static enum tac_err make_memory(struct builder *b, struct tac_memory *m, int width, size_t count)
{
    enum tac_err err;
    const size_t n = count * (size_t)width;
    TAC_TRY(tac_alloc(b->ctx, n, sizeof *m->value, &m->value));
    TAC_TRY(tac_alloc(b->ctx, n, sizeof *m->saved, &m->saved));
    TAC_TRY(tac_alloc(b->ctx, count, sizeof *m->id, &m->id));
done:
    return err;
}

/* Counts the elements of a list that belong to each class, in *out (owned by the caller): plastic ones by their own
 * period, or those with dampers by the periods of these. */
static enum tac_err count_classes(const struct builder *b, const struct tac_elastic *el, int kind, bool dampers,
                                  size_t **out)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(b->ctx, el->class_count, sizeof **out, out));
    for (size_t e = 0; e < b->set.list[kind].count; e++) {
        if (dampers ? b->damper[kind][e] > 0 : tac_builder_yield(b, kind, e) > 0)
            (*out)[tac_class_of(el, dampers ? b->damper[kind][e] : b->period[kind][e])]++;
    }
done:
    return err;
}

/* Computes the strain of an element at rest: m; e00, e11, e01; rad. */
static void strain_of(const struct builder *b, int kind, size_t e, double *strain)
{
    const struct tac_element_list *list = &b->set.list[kind];
    const tac_lid *v = tac_element_stencil(list, e);
    double x[TAC_ELEMENT_NODES][3];
    tac_scene_gather_rest(b->scene, v, list->element->nodes, x);
    list->element->memory->strain(tac_element_record(list, e), (const double(*)[3])x, strain);
}

static void put_damper(const struct builder *b, struct tac_rate_class *r, int kind, size_t e)
{
    const struct tac_element_list *list = &b->set.list[kind];
    struct tac_element_group *g = &r->group[kind];
    struct tac_memory *m = &g->last;
    const size_t n = m->count++;
    strain_of(b, kind, e, &m->value[(size_t)list->element->width * n]);
    m->id[n] = list->id[e];
    g->damper.count++;
    r->damper_count++;
    list->element->memory->make_damper(tac_element_record(list, e), damping(b, kind, e), b->slack[kind][e],
                                       &list->bound[e], tac_forces_record(&g->damper, n));
}

/* Makes the dampers of one kind of element. */
static enum tac_err make_dampers(struct builder *b, struct tac_elastic *el, int kind)
{
    enum tac_err err;
    size_t *count = NULL;
    TAC_TRY(count_classes(b, el, kind, true, &count));
    for (size_t c = 0; c < el->class_count; c++) {
        struct tac_element_group *g = &el->rate[c].group[kind];
        g->damper.size = g->element->memory->damper_size;
        TAC_TRY(make_memory(b, &g->last, g->element->width, count[c]));
        TAC_TRY(tac_alloc(b->ctx, count[c], g->damper.size, &g->damper.record));
    }
    for (size_t e = 0; e < b->set.list[kind].count; e++) /* scene order is key order */
        if (b->damper[kind][e])
            put_damper(b, &el->rate[tac_class_of(el, b->damper[kind][e])], kind, e);
done:
    free(count);
    return err;
}

enum tac_err tac_builder_dampers(struct builder *b, struct tac_elastic *el)
{
    enum tac_err err = TAC_OK;
    for (int k = 0; k < b->set.count; k++)
        if (b->set.list[k].element->memory)
            TAC_TRY(make_dampers(b, el, k));
done:
    return err;
}

/* Computes a rest value with which the strain at the start is within the limit. */
static void put_plastic(const struct builder *b, struct tac_rate_class *r, int kind, size_t e)
{
    const struct tac_element_list *list = &b->set.list[kind];
    struct tac_element_group *g = &r->group[kind];
    const size_t n = g->rest.count++, width = (size_t)list->element->width;
    double strain[TAC_ELEMENT_MEMORY];
    strain_of(b, kind, e, strain);
    g->rest.id[n] = list->id[e];
    g->yield[n] = list->element->memory->start(tac_element_record(list, e), tac_builder_yield(b, kind, e), strain,
                                               &g->rest.value[width * n]);
}

static enum tac_err make_plastic(struct builder *b, struct tac_elastic *el, int kind)
{
    enum tac_err err;
    size_t *count = NULL;
    TAC_TRY(count_classes(b, el, kind, false, &count));
    for (size_t c = 0; c < el->class_count; c++) {
        struct tac_element_group *g = &el->rate[c].group[kind];
        const size_t n = count[c], first = g->elastic.count - n;
        TAC_TRY(make_memory(b, &g->rest, g->element->width, n));
        TAC_TRY(tac_alloc(b->ctx, n, sizeof *g->yield, &g->yield));
        TAC_TRY(tac_alloc(b->ctx, n, 1, &g->flow_mine));
        for (size_t i = 0; i < n; i++)
            g->flow_mine[i] = tac_stencil_mine(b->scene, tac_forces_stencil(&g->elastic, first + i), g->element->nodes);
    }
    for (size_t e = 0; e < b->set.list[kind].count; e++)
        if (tac_builder_yield(b, kind, e) > 0)
            put_plastic(b, &el->rate[tac_class_of(el, b->period[kind][e])], kind, e);
done:
    free(count);
    return err;
}

enum tac_err tac_builder_plastic(struct builder *b, struct tac_elastic *el)
{
    enum tac_err err = TAC_OK;
    for (int k = 0; k < b->set.count; k++)
        if (b->set.list[k].element->memory)
            TAC_TRY(make_plastic(b, el, k));
done:
    return err;
}
