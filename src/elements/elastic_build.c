/* elastic_build.c: makes the elastic elements of a scene, bounds their stiffness, and gives them periods and rate
 * classes (docs/explanation/method.md, Forces, Periods). */
#include "elements/elastic_builder.h"
#include "partition/ghosts.h"
#include "scene/period.h"
#include <math.h>
#include <stdlib.h>

static enum tac_err collect(struct builder *b)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(b->ctx, (size_t)b->scene->mesh->vertex_count, sizeof *b->omega2, &b->omega2));
    TAC_TRY(tac_element_set_create(b->ctx, b->scene, &b->set));
    for (int k = 0; k < b->set.count; k++) {
        const size_t n = b->set.list[k].count;
        TAC_TRY(tac_alloc(b->ctx, n, sizeof *b->period[k], &b->period[k]));
        TAC_TRY(tac_alloc(b->ctx, n, sizeof *b->damper[k], &b->damper[k]));
        TAC_TRY(tac_alloc(b->ctx, n, sizeof *b->slack[k], &b->slack[k]));
    }
    TAC_TRY(tac_loads_collect(b->ctx, b->scene, &b->loads));
done:
    return err;
}

/* Bounds the assembled stiffness at all vertices (Gershgorin over blocks). */
static enum tac_err assemble(struct builder *b)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *s = b->scene;
    for (int k = 0; k < b->set.count; k++) {
        const struct tac_element_list *list = &b->set.list[k];
        for (size_t e = 0; e < list->count; e++) {
            const tac_lid *v = tac_element_stencil(list, e);
            for (int i = 0; i < list->element->nodes; i++)
                if (s->mesh->ever_free[v[i]])
                    b->omega2[v[i]] += list->bound[e].row[i] / s->mesh->mass[v[i]];
        }
    }
    for (size_t e = 0; e < b->loads.count; e++) {
        const struct tac_load_element *load = &b->loads.element[e];
        for (int i = 0; i < load->count; i++)
            if (s->mesh->ever_free[load->v[i]])
                b->omega2[load->v[i]] += b->loads.row[e] / s->mesh->mass[load->v[i]];
    }
    /* The owners of ghosts have the other elements of these. */
    if (s->mesh->part)
        TAC_TRY(tac_ghosts_refresh(b->ctx, s->mesh->part, s->mesh->vertex_count, 1, b->omega2));
done:
    return err;
}

/* Returns the period of element e of a list, by the vertex with the largest bound. */
static enum tac_err choose_period(struct builder *b, struct tac_elastic *el, int k, size_t e)
{
    const struct tac_scene *s = b->scene;
    const struct tac_element_list *list = &b->set.list[k];
    const tac_lid *v = tac_element_stencil(list, e);
    double worst = 0;
    for (int i = 0; i < list->element->nodes; i++)
        worst = fmax(worst, b->omega2[v[i]]);
    const double omega = sqrt(worst);
    const double bound = omega > 0 ? s->settings->clocks.elastic_safety * 2 / omega : s->settings->clocks.elastic_s;
    const tac_time period = tac_clock_period(s, fmin(bound, s->settings->clocks.elastic_s));
    if (!(period >= 4096)) /* 2^12 quanta; also catches a bound that is not a number */
        return tac_fail(b->ctx, TAC_ERR_INPUT,
                        "the %s %" TAC_PRIGID
                        " of body `%s` needs a period of %.3g s, under 2^12 quanta (%.3g s); make "
                        "it softer, heavier or coarser, or set clocks.quantum_s to a smaller power of two",
                        list->element->noun, list->id[e], s->settings->body[s->mesh->vertex_body[v[0]]].name,
                        fmin(bound, s->settings->clocks.elastic_s), 4096 * s->settings->quantum_s);
    b->period[k][e] = period;
    el->omega_max = fmax(el->omega_max, omega);
    el->omega_min = fmin(el->omega_min, omega);
    return TAC_OK;
}

static enum tac_err choose_periods(struct builder *b, struct tac_elastic *el)
{
    enum tac_err err;
    TAC_TRY(assemble(b));
    el->omega_min = INFINITY;
    for (int k = 0; k < b->set.count; k++)
        for (size_t e = 0; e < b->set.list[k].count; e++)
            TAC_TRY(choose_period(b, el, k, e));
    for (tac_lid i = 0; i < b->scene->mesh->vertex_count; i++)
        el->omega[i] = sqrt(b->omega2[i]);
done:
    return err;
}

/* Finds which effects the materials have, and the period of gravity: 0 if there is none. */
static enum tac_err begin(struct tac_ctx *ctx, const struct tac_scene *scene, tac_time *gravity,
                          struct tac_elastic **out)
{
    enum tac_err err;
    struct tac_elastic *el = NULL;
    const bool pulled =
        scene->settings->gravity[0] != 0 || scene->settings->gravity[1] != 0 || scene->settings->gravity[2] != 0;
    *gravity = pulled ? tac_clock_period(scene, scene->settings->clocks.gravity_s) : 0;
    if (pulled && *gravity < 4096) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "clocks.gravity_s is %g s, under 2^12 quanta (%g s); make it longer",
                       scene->settings->clocks.gravity_s, 4096 * scene->settings->quantum_s);
        goto done;
    }
    TAC_TRY(tac_alloc(ctx, 1, sizeof *el, &el));
    *out = el;
    TAC_TRY(tac_alloc(ctx, (size_t)scene->mesh->vertex_count, sizeof *el->omega, &el->omega));
    el->element_count = tac_element_table(ctx, el->element);
    tac_kind_names(ctx, el->kind_name);
    for (int k = 0; k < el->element_count; k++) {
        const struct tac_element_memory *memory = el->element[k]->memory;
        for (tac_lid i = 0; memory && i < scene->settings->material_count; i++) {
            el->damps |= memory->damping(&scene->settings->material[i]) > 0;
            el->flows |= memory->yield(&scene->settings->material[i]) > 0;
        }
    }
done:
    return err;
}

enum tac_err tac_elastic_create(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_elastic **out)
{
    enum tac_err err;
    struct builder b = {.ctx = ctx, .scene = scene};
    struct tac_elastic *el = NULL;
    tac_time gravity;
    TAC_TRY(tac_agree(ctx, begin(ctx, scene, &gravity, &el)));
    TAC_TRY(tac_agree(ctx, collect(&b)));
    TAC_TRY(tac_agree(ctx, choose_periods(&b, el)));
    if (el->damps)
        TAC_TRY(tac_agree(ctx, tac_builder_damp(&b)));
    TAC_TRY(tac_agree(ctx, tac_loads_choose(ctx, scene, b.omega2, &b.loads)));
    TAC_TRY(tac_builder_classes(&b, el, gravity));
    TAC_TRY(tac_load_times_make(ctx, scene, &el->times));
done:
    free(b.omega2);
    tac_loads_free(&b.loads);
    for (int k = 0; k < TAC_ELEMENTS; k++) {
        free(b.period[k]);
        free(b.damper[k]);
        free(b.slack[k]);
    }
    tac_element_set_destroy(&b.set);
    if (err)
        tac_elastic_destroy(&el);
    *out = el;
    return err;
}
