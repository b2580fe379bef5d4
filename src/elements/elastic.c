/* elastic.c: ticks springs, membranes and hinges, four elements at a time (docs/reference/engine.md, State and clocks;
 * docs/explanation/method.md, Forces). */
#include "elements/elastic.h"
#include <stdlib.h>
#include <string.h>

void tac_group_tick(const struct tac_element_group *g, double h, const struct tac_pos *pos, struct tac_vel *vel,
                    struct tac_book *book, struct tac_accum *lost)
{
    struct tac_book unread = {0, 0};
    const struct tac_element *element = g->element;
    const size_t plain = g->elastic.count - g->rest.count;
    book = book ? book : &unread;
    if (element->tick)
        element->tick(g->elastic.record, plain, h, pos, vel, book);
    else
        tac_element_tick_each(element, g->elastic.record, plain, h, pos, vel, book);
    if (g->rest.count) {
        const struct tac_flowing flowing = {g->rest.value, g->yield, g->flow_mine, lost, h};
        element->memory->tick_plastic(tac_forces_record(&g->elastic, plain), g->rest.count, &flowing, pos, vel, book);
    }
}

void tac_damping_tick(const struct tac_rate_class *rate, const struct tac_pos *pos, struct tac_vel *vel,
                      struct tac_book *book)
{
    struct tac_book unread = {0, 0};
    book = book ? book : &unread;
    for (int k = 0; k < rate->group_count; k++) {
        const struct tac_element_group *g = &rate->group[k];
        if (g->damper.count)
            g->element->memory->tick_dampers(g->damper.record, g->last.value, g->damper.count, pos, vel, book);
    }
}

/* Returns the rest value of element e of a group; NULL: it is that of the element's record. */
static const double *rest_of(const struct tac_element_group *g, size_t e)
{
    const size_t first = g->elastic.count - g->rest.count;
    return e < first ? NULL : &g->rest.value[(size_t)g->element->width * (e - first)];
}

void tac_group_impulse(const struct tac_element_group *g, double h, size_t e, const double x[TAC_ELEMENT_NODES][3],
                       double impulse[TAC_ELEMENT_NODES][3])
{
    memset(impulse, 0, TAC_ELEMENT_SIZE * sizeof(double));
    g->element->push(tac_forces_record(&g->elastic, e), rest_of(g, e), h, x, impulse);
}

void tac_group_damp(const struct tac_element_group *g, size_t e, const double x[TAC_ELEMENT_NODES][3],
                    double impulse[TAC_ELEMENT_NODES][3])
{
    double last[TAC_ELEMENT_MEMORY] = {0};
    const size_t width = (size_t)g->element->width;
    memcpy(last, &g->last.value[width * e], width * sizeof *last);
    memset(impulse, 0, TAC_ELEMENT_SIZE * sizeof(double));
    g->element->memory->damp(tac_forces_record(&g->damper, e), last, x, impulse);
}

double tac_group_energy(const struct tac_element_group *g, size_t e, const double x[TAC_ELEMENT_NODES][3])
{
    return g->element->energy(tac_forces_record(&g->elastic, e), rest_of(g, e), x);
}

/* ---- by kind ---- */

/* Returns the group of an element's kind; NULL: the kind is no element, or not in this table. */
static const struct tac_element_group *group_of(const struct tac_rate_class *rate, int kind)
{
    const int k = tac_element_of_kind(kind);
    return k >= 0 && k < rate->group_count ? &rate->group[k] : NULL;
}

/* Finds damper e of a class: its group, and its number there. */
static const struct tac_element_group *damper_group(const struct tac_rate_class *rate, size_t *e)
{
    for (int k = 0; k < rate->group_count; k++) {
        if (*e < rate->group[k].damper.count)
            return &rate->group[k];
        *e -= rate->group[k].damper.count;
    }
    return NULL;
}

size_t tac_class_count(const struct tac_rate_class *rate, int kind)
{
    const struct tac_element_group *g = group_of(rate, kind);
    return g                          ? g->elastic.count
           : kind == TAC_KIND_GRAVITY ? rate->pulled
           : kind == TAC_KIND_DAMPING ? rate->damper_count
           : kind == TAC_KIND_LOAD    ? rate->load_count
                                      : 0;
}

const tac_lid *tac_elastic_stencil(const struct tac_rate_class *rate, int kind, size_t e, int *count)
{
    const bool damping = kind == TAC_KIND_DAMPING;
    const struct tac_element_group *g = damping ? damper_group(rate, &e) : group_of(rate, kind);
    if (kind == TAC_KIND_LOAD) {
        *count = rate->load[e].count;
        return rate->load[e].v;
    }
    *count = g ? g->element->nodes : 0;
    return g ? tac_forces_stencil(damping ? &g->damper : &g->elastic, e) : NULL;
}

void tac_elastic_impulse(const struct tac_rate_class *rate, int kind, size_t e, const double x[TAC_ELEMENT_NODES][3],
                         double impulse[TAC_ELEMENT_NODES][3])
{
    const bool damping = kind == TAC_KIND_DAMPING;
    const struct tac_element_group *g = damping ? damper_group(rate, &e) : group_of(rate, kind);
    if (g == NULL)
        memset(impulse, 0, TAC_ELEMENT_SIZE * sizeof(double));
    else if (damping)
        tac_group_damp(g, e, x, impulse);
    else
        tac_group_impulse(g, rate->h_s, e, x, impulse);
}

double tac_elastic_potential(const struct tac_rate_class *rate, int kind, size_t e,
                             const double x[TAC_ELEMENT_NODES][3])
{
    const struct tac_element_group *g = group_of(rate, kind);
    return g ? tac_group_energy(g, e, x) : 0;
}

tac_time tac_elastic_main_period(const struct tac_elastic *elastic, double damper, double *most)
{
    tac_time period = 0;
    *most = 0;
    for (size_t i = 0; i < elastic->class_count; i++) {
        const struct tac_rate_class *r = &elastic->rate[i];
        double work = damper * (double)r->damper_count;
        for (int k = 0; k < r->group_count; k++)
            work += r->group[k].element->window_weight * (double)r->group[k].elastic.count;
        work /= (double)r->period;
        if (work > *most) {
            *most = work;
            period = r->period;
        }
    }
    return period;
}

/* ---- memory ---- */

static void free_memory(struct tac_memory *m)
{
    free(m->value);
    free(m->saved);
    free(m->id);
}

static void free_forces(struct tac_forces *f)
{
    free(f->record);
    free(f->held);
}

static void free_class(struct tac_rate_class *rate)
{
    for (int k = 0; k < rate->group_count; k++) {
        struct tac_element_group *g = &rate->group[k];
        free_forces(&g->elastic);
        free_memory(&g->rest);
        free(g->yield);
        free(g->flow_mine);
        free_forces(&g->damper);
        free_memory(&g->last);
    }
    free(rate->load);
    free(rate->pushed);
    free(rate->push);
    free(rate->vertex);
    free(rate->damped);
}

void tac_elastic_destroy(struct tac_elastic **elastic)
{
    if (*elastic == NULL)
        return;
    for (size_t i = 0; i < (*elastic)->class_count; i++)
        free_class(&(*elastic)->rate[i]);
    free((*elastic)->rate);
    free((*elastic)->omega);
    tac_load_times_free(&(*elastic)->times);
    free(*elastic);
    *elastic = NULL;
}
