/* plastic.c: lets elements yield (docs/reference/implicit.md, Plasticity). At the end of a step their rest values flow,
 * by the same rule as in a tick of the asynchronous integrator. Rest values are part of the state. */
#include "implicit/parts.h"
#include "partition/part.h"
#include <stdlib.h>

/* The yield limit of an element's material, or 0. */
static double yield_of(const struct tac_implicit *sim, const struct tac_element *element, const tac_lid *v)
{
    const struct tac_material *m = tac_material_of(sim->scene, sim->scene->mesh->vertex_body[v[0]]);
    return element->memory != NULL && m != NULL ? element->memory->yield(m) : 0;
}

static enum tac_err make_list(struct tac_implicit *sim, int k, bool *any)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_elements *l = &sim->list[k];
    const size_t width = (size_t)l->element->width;
    bool yields = false;
    for (size_t e = 0; e < l->count && !yields; e++)
        yields = yield_of(sim, l->element, tac_element_stencil(&sim->set.list[k], e)) > 0;
    if (!yields)
        return TAC_OK;
    *any = true;
    TAC_TRY(tac_alloc(sim->ctx, l->count, sizeof *l->yield, &l->yield));
    TAC_TRY(tac_alloc(sim->ctx, l->count * width, sizeof *l->rest, &l->rest));
    for (size_t e = 0; e < l->count; e++) {
        const tac_lid *v = tac_element_stencil(&sim->set.list[k], e);
        const double yield = yield_of(sim, l->element, v);
        double at[TAC_ELEMENT_NODES][3], strain[TAC_ELEMENT_MEMORY];
        if (!(yield > 0))
            continue;
        tac_scene_gather_rest(sim->scene, v, l->element->nodes, at);
        l->element->memory->strain(v, at, strain);
        l->yield[e] = l->element->memory->start(v, yield, strain, &l->rest[width * e]);
    }
done:
    return err;
}

enum tac_err tac_implicit_plastic_create(struct tac_implicit *sim)
{
    enum tac_err err = TAC_OK;
    bool any = false;
    for (int k = 0; k < sim->set.count; k++)
        TAC_TRY(make_list(sim, k, &any));
    if (any) {
        TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->meshed, sizeof *sim->flow_pos, &sim->flow_pos));
        TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->meshed, sizeof *sim->flow_vel, &sim->flow_vel));
    }
done:
    return err;
}

void tac_implicit_flow(struct tac_implicit *sim)
{
    if (sim->flow_pos == NULL)
        return;
    for (size_t v = 0; v < (size_t)sim->meshed; v++)
        memcpy(sim->flow_pos[v].x, &sim->x[3 * v], sizeof sim->flow_pos[v].x);
    for (int k = 0; k < sim->set.count; k++) {
        const struct tac_implicit_elements *l = &sim->list[k];
        for (size_t e = 0; l->yield != NULL && e < l->count; e++) {
            /* A tick of length 0 lets the element flow and gives no kick. */
            const struct tac_flowing flowing = {.rest = &l->rest[e * (size_t)l->element->width],
                                                .yield = &l->yield[e],
                                                .mine = &l->counted[e],
                                                .lost = &sim->books.lost[TAC_LOST_PLASTICITY],
                                                .h = 0};
            struct tac_book book = {0, 0};
            if (l->yield[e] > 0)
                l->element->memory->tick_plastic(tac_element_record(&sim->set.list[k], e), 1, &flowing, sim->flow_pos,
                                                 sim->flow_vel, &book);
        }
    }
}

/* ---- checkpoints ---- */

static enum tac_err rests_of_kind(struct tac_implicit *sim, int k, struct tac_element_states *s)
{
    const struct tac_implicit_elements *l = &sim->list[k];
    const enum tac_err err = tac_alloc(sim->ctx, l->yield ? l->count : 0, tac_element_row_size(s), &s->row);
    for (size_t e = 0; !err && l->yield != NULL && e < l->count; e++) {
        const tac_lid *v = tac_element_stencil(&sim->set.list[k], e);
        if (!(l->yield[e] > 0) || !l->counted[e])
            continue;
        struct tac_element_state *row = tac_element_row(s, s->count++);
        row->id = sim->set.list[k].id[e];
        row->has = TAC_ELEMENT_RESTS;
        for (int i = 0; i < s->nodes; i++)
            row->vertex[i] = tac_implicit_id(sim, v[i]);
        memcpy(tac_element_rest(s, row), &l->rest[e * (size_t)s->width], (size_t)s->width * sizeof *l->rest);
    }
    if (s->count > 0)
        qsort(s->row, (size_t)s->count, tac_element_row_size(s), tac_element_state_compare);
    return err;
}

enum tac_err tac_implicit_rests_out(struct tac_implicit *sim, struct tac_checkpoint *c)
{
    enum tac_err err = TAC_OK;
    for (int k = 0; k < sim->set.count && !err; k++) {
        const struct tac_element *element = sim->list[k].element;
        if (element->memory == NULL) /* also the elements that only the implicit integrator has, which have no kind */
            continue;
        struct tac_element_states *s = &c->element[tac_kind_of_element(k)];
        *s = (struct tac_element_states){.nodes = element->nodes, .width = element->width};
        err = rests_of_kind(sim, k, s);
    }
    return err;
}

void tac_implicit_rests_in(struct tac_implicit *sim, int kind, const struct tac_element_states *s)
{
    const int k = tac_element_of_kind(kind);
    struct tac_implicit_elements *l = k >= 0 && k < sim->set.count ? &sim->list[k] : NULL;
    if (l == NULL || l->yield == NULL || s->width < l->element->width)
        return;
    for (tac_lid r = 0; r < s->count; r++) {
        const struct tac_element_state *row = tac_element_row(s, r);
        size_t low = 0, high = l->count;
        while (low < high) { /* ascending by id */
            const size_t middle = low + (high - low) / 2;
            if (sim->set.list[k].id[middle] < row->id)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < l->count && sim->set.list[k].id[low] == row->id) /* else the element is on other ranks */
            memcpy(&l->rest[low * (size_t)l->element->width], tac_element_rest(s, row),
                   (size_t)l->element->width * sizeof *l->rest);
    }
}
