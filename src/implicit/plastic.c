/* plastic.c: elements that yield (docs/reference/implicit.md, Plasticity): at a step's end what their strain is
 * measured against flows, by the same rule as a tick of the asynchronous integrator.  A rest value is state. */
#include "implicit/parts.h"
#include <stdlib.h>

/* The yield limit of the material, of an element that has one; else 0. */
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
        yields = yield_of(sim, l->element, tac_element_stencil(&sim->set.list[k], l->of[e])) > 0;
    if (!yields)
        return TAC_OK;
    *any = true;
    TAC_TRY(tac_alloc(sim->ctx, l->count, sizeof *l->yield, &l->yield));
    TAC_TRY(tac_alloc(sim->ctx, l->count * width, sizeof *l->rest, &l->rest));
    for (size_t e = 0; e < l->count; e++) {
        const tac_lid *v = tac_element_stencil(&sim->set.list[k], l->of[e]);
        const double yield = yield_of(sim, l->element, v);
        double at[4][3], strain[TAC_ELEMENT_MEMORY];
        if (!(yield > 0))
            continue;
        tac_implicit_gather(sim->scene->mesh->x, v, l->element->nodes, at);
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
        TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->count, sizeof *sim->flow_pos, &sim->flow_pos));
        TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->count, sizeof *sim->flow_vel, &sim->flow_vel));
    }
done:
    return err;
}

void tac_implicit_flow(struct tac_implicit *sim)
{
    if (sim->flow_pos == NULL)
        return;
    for (size_t v = 0; v < (size_t)sim->count; v++)
        memcpy(sim->flow_pos[v].x, &sim->x[3 * v], sizeof sim->flow_pos[v].x);
    for (int k = 0; k < sim->set.count; k++) {
        const struct tac_implicit_elements *l = &sim->list[k];
        for (size_t e = 0; l->yield != NULL && e < l->count; e++) {
            /* A tick of length 0 flows, and kicks nothing. */
            const struct tac_flowing flowing = {.rest = &l->rest[e * (size_t)l->element->width],
                                                .yield = &l->yield[e],
                                                .mine = &l->counted[e],
                                                .lost = &sim->books.lost[TAC_LOST_PLASTICITY],
                                                .h = 0};
            struct tac_book book = {0, 0};
            if (l->yield[e] > 0)
                l->element->memory->tick_plastic(tac_element_record(&sim->set.list[k], l->of[e]), 1, &flowing,
                                                 sim->flow_pos, sim->flow_vel, &book);
        }
    }
}

/* ---- checkpoints ---- */

enum tac_err tac_implicit_rests_out(struct tac_implicit *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    size_t count = 0;
    for (int k = 0; k < sim->set.count; k++)
        count += sim->list[k].yield != NULL ? sim->list[k].count : 0;
    TAC_TRY(tac_alloc(sim->ctx, count, sizeof *c->element, &c->element));
    for (int k = 0; k < sim->set.count; k++) {
        const struct tac_implicit_elements *l = &sim->list[k];
        for (size_t e = 0; l->yield != NULL && e < l->count; e++) {
            const tac_lid *v = tac_element_stencil(&sim->set.list[k], l->of[e]);
            struct tac_element_state *row = &c->element[c->element_count];
            if (!(l->yield[e] > 0) || !l->counted[e])
                continue;
            *row = (struct tac_element_state){.kind = tac_kind_of_element(k),
                                              .id = sim->set.list[k].id[l->of[e]],
                                              .vertex = {-1, -1, -1, -1},
                                              .has = TAC_ELEMENT_RESTS};
            for (int i = 0; i < l->element->nodes; i++)
                row->vertex[i] = v[i];
            memcpy(row->rest, &l->rest[e * (size_t)l->element->width], (size_t)l->element->width * sizeof *l->rest);
            c->element_count++;
        }
    }
    if (c->element_count > 0)
        qsort(c->element, (size_t)c->element_count, sizeof *c->element, tac_element_state_compare);
done:
    return err;
}

void tac_implicit_rests_in(struct tac_implicit *sim, const struct tac_element_state *row, size_t count)
{
    for (size_t r = 0; r < count; r++) {
        const int k = tac_element_of_kind((int)row[r].kind);
        struct tac_implicit_elements *l = k >= 0 && k < sim->set.count ? &sim->list[k] : NULL;
        size_t low = 0, high = l != NULL && l->yield != NULL ? l->count : 0;
        while (low < high) { /* ascending by id */
            const size_t middle = low + (high - low) / 2;
            if (sim->set.list[k].id[l->of[middle]] < row[r].id)
                low = middle + 1;
            else
                high = middle;
        }
        if (l == NULL || l->yield == NULL || low == l->count || sim->set.list[k].id[l->of[low]] != row[r].id)
            continue; /* of other ranks */
        memcpy(&l->rest[low * (size_t)l->element->width], row[r].rest, (size_t)l->element->width * sizeof *l->rest);
    }
}
