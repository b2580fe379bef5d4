/* element.c: makes the elements of a scene without clocks, by the table of elements (docs/reference/elements.md). */
#include "elements/element.h"
#include "partition/map.h"
#include "partition/part.h"
#include <math.h>
#include <stdlib.h>

_Static_assert(offsetof(struct tac_element, keys) == 0, "the scene's part comes first");

int tac_element_table(const struct tac_ctx *ctx, const struct tac_element *out[TAC_ELEMENTS])
{
    const struct tac_element_keys *keys[TAC_ELEMENTS];
    const int n = tac_elements_known(ctx, keys, TAC_ELEMENTS);
    for (int k = 0; k < n; k++) {
        out[k] = (const struct tac_element *)keys[k];
        TAC_CHECK(out[k]->nodes >= 1 && out[k]->nodes <= TAC_ELEMENT_NODES && out[k]->width <= TAC_ELEMENT_MEMORY);
    }
    return n;
}

const struct tac_material *tac_material_of(const struct tac_scene *scene, tac_lid body)
{
    tac_lid m = scene->settings->body[body].material;
    return m < 0 ? NULL : &scene->settings->material[m];
}

/* Returns whether this rank computes the kicks of this element. */
static bool any_free(const struct tac_scene *scene, const tac_lid *v, int n)
{
    bool any = false, ours = scene->mesh->part == NULL;
    for (int k = 0; k < n; k++) {
        any |= scene->mesh->ever_free[v[k]];
        ours |= scene->mesh->part != NULL && v[k] < scene->mesh->part->owned;
    }
    return any && ours;
}

/* A list of the mesh: its stencils, and the source of their ids. */
struct stencils {
    tac_lid count;
    const tac_lid *v, *edge; /* edge: of hinges */
    int nodes;
    const tac_gid *id; /* on several ranks */
};

static struct stencils stencils_of(const struct tac_scene *s, enum tac_stencils which)
{
    const struct tac_topology *t = s->mesh->topology;
    const struct tac_part *part = s->mesh->part;
    switch (which) {
    case TAC_STENCILS_EDGES:
        return (struct stencils){t->edge_count, t->edge, NULL, 2, part ? part->edge_id : NULL};
    case TAC_STENCILS_TRIANGLES:
        return (struct stencils){s->mesh->triangle_count, s->mesh->triangle, NULL, 3, part ? part->triangle_id : NULL};
    case TAC_STENCILS_TETRAHEDRA:
        return (struct stencils){s->mesh->tetrahedron_count, s->mesh->tetrahedron, NULL, 4,
                                 part ? part->tetrahedron_id : NULL};
    default:
        return (struct stencils){t->hinge_count, t->hinge, t->hinge_edge, 4, part ? part->edge_id : NULL};
    }
}

static enum tac_err fill_list(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_element_list *list)
{
    enum tac_err err;
    const struct tac_element *element = list->element;
    const struct stencils s = stencils_of(scene, element->stencils);
    const size_t most = (size_t)s.count;
    TAC_CHECK(element->nodes == s.nodes);
    TAC_TRY(tac_alloc(ctx, most, element->size, &list->record));
    TAC_TRY(tac_alloc(ctx, most, sizeof *list->bound, &list->bound));
    TAC_TRY(tac_alloc(ctx, most, sizeof *list->id, &list->id));
    for (tac_lid i = 0; i < s.count; i++) {
        const tac_lid *v = s.v + (size_t)s.nodes * (size_t)i;
        const struct tac_material *m = tac_material_of(scene, scene->mesh->vertex_body[v[0]]);
        const size_t n = list->count;
        if (m == NULL || !any_free(scene, v, s.nodes) ||
            !element->make(scene, m, v, (char *)list->record + n * element->size, &list->bound[n]))
            continue;
        const tac_lid of = s.edge ? s.edge[i] : i;
        list->id[list->count++] = s.id && of >= 0 ? s.id[of] : of;
    }
done:
    return err;
}

enum tac_err tac_element_set_create(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_element_set *out)
{
    enum tac_err err = TAC_OK;
    const struct tac_element *element[TAC_ELEMENTS];
    memset(out, 0, sizeof *out);
    out->count = tac_element_table(ctx, element);
    for (int k = 0; k < out->count; k++) {
        out->list[k].element = element[k];
        TAC_TRY(fill_list(ctx, scene, &out->list[k]));
    }
done:
    if (err)
        tac_element_set_destroy(out);
    return err;
}

enum tac_err tac_element_set_add(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_element *element,
                                 struct tac_element_set *set)
{
    TAC_CHECK(set->count < TAC_ELEMENT_LISTS);
    struct tac_element_list *list = &set->list[set->count++];
    list->element = element;
    return fill_list(ctx, scene, list);
}

void tac_element_set_destroy(struct tac_element_set *set)
{
    for (int k = 0; k < set->count; k++) {
        free(set->list[k].record);
        free(set->list[k].bound);
        free(set->list[k].id);
    }
    memset(set, 0, sizeof *set);
}

void tac_element_complete(int nodes, double *h)
{
    const int n = 3 * nodes;
    for (int i = 3; i < n; i++) /* the other half */
        for (int k = 3; k < i; k++)
            h[n * i + k] = h[n * k + i];
    for (int c = 3; c < n; c++) /* node 0 against the others */
        for (int r = 0; r < 3; r++) {
            double sum = h[n * (3 + r) + c];
            for (int i = 2; i < nodes; i++)
                sum += h[n * (3 * i + r) + c];
            h[n * r + c] = h[n * c + r] = -sum;
        }
    for (int r = 0; r < 3; r++) /* and against itself */
        for (int c = r; c < 3; c++) {
            double sum = h[n * (3 + r) + c];
            for (int i = 2; i < nodes; i++)
                sum += h[n * (3 * i + r) + c];
            h[n * r + c] = h[n * c + r] = -sum;
        }
}

void tac_element_tick_each(const struct tac_element *element, const void *record, size_t count, double h,
                           const struct tac_pos *pos, struct tac_vel *vel, struct tac_book *book)
{
    const int nodes = element->nodes;
    double work = 0, absolute = 0;
    for (size_t e = 0; e < count; e++) {
        const void *r = (const char *)record + e * element->size;
        const tac_lid *v = r;
        double x[TAC_ELEMENT_NODES][3], j[TAC_ELEMENT_NODES][3], one = 0;
        for (int i = 0; i < nodes; i++)
            memcpy(x[i], pos[v[i]].x, sizeof x[i]);
        element->push(r, NULL, h, (const double(*)[3])x, j);
        for (int i = 0; i < nodes; i++) {
            const tac_four w = tac_map_kick(&vel[v[i]], (tac_four){j[i][0], j[i][1], j[i][2], 0});
            one += .5 * (w[0] + w[1] + w[2]);
        }
        work += one;
        absolute += fabs(one);
    }
    book->work += work;
    book->absolute += absolute;
}
