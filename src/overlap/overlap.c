/* overlap.c: searches a whole scene for surfaces that cross, touch or are too close at the start, and sorts what is
 * found. */
#include "overlap/overlap.h"

#include "overlap/overlap_search.h"

#include <math.h>
#include <stdlib.h>

static int compare_body_pairs(const void *a, const void *b)
{
    const struct tac_body_pair *p = a, *q = b;
    if (p->body[0] != q->body[0])
        return p->body[0] < q->body[0] ? -1 : 1;
    return (p->body[1] > q->body[1]) - (p->body[1] < q->body[1]);
}

static struct tac_body_pair body_pair(tac_lid a, tac_lid b)
{
    return a < b ? (struct tac_body_pair){{a, b}} : (struct tac_body_pair){{b, a}};
}

static double margin(void *user, const struct tac_box_node *a, const struct tac_box_node *b)
{
    const struct tac_overlap_search *search = user;
    double both = a->radius + b->radius + search->touch;
    if (a->body < 0 || b->body < 0)
        return both;
    const struct tac_body *body = &search->scene->settings->body[a->body];
    if (a->body == b->body && !body->self_contact)
        return NAN;
    if (search->ignore_count > 0) {
        struct tac_body_pair pair = body_pair(a->body, b->body);
        if (bsearch(&pair, search->ignore, search->ignore_count, sizeof pair, compare_body_pairs))
            return NAN;
    }
    return a->body == b->body && body->has_elements && body->piece_count <= 1 ? search->touch : both;
}

static enum tac_err number_parts(struct tac_overlap_search *search)
{
    const struct tac_scene *scene = search->scene;
    enum tac_err err = TAC_OK;
    TAC_TRY(
        tac_alloc(search->ctx, (size_t)scene->mesh->vertex_count, sizeof *search->vertex_owner, &search->vertex_owner));
    TAC_TRY(tac_alloc(search->ctx, (size_t)scene->mesh->segment_count, sizeof *search->segment_edge,
                      &search->segment_edge));
    for (tac_lid i = 0; i < scene->mesh->vertex_count; i++)
        search->vertex_owner[i] = -1;
    for (int64_t i = 0; i < 3 * (int64_t)scene->mesh->triangle_count; i++)
        if (search->vertex_owner[scene->mesh->triangle[i]] < 0)
            search->vertex_owner[scene->mesh->triangle[i]] = i / 3;
    for (int64_t i = 0; i < 2 * (int64_t)scene->mesh->segment_count; i++)
        if (search->vertex_owner[scene->mesh->segment[i]] < 0)
            search->vertex_owner[scene->mesh->segment[i]] = scene->mesh->triangle_count + i / 2;
    for (tac_lid i = 0; i < scene->mesh->topology->edge_count; i++)
        if (scene->mesh->topology->edge_segment[i] >= 0)
            search->segment_edge[scene->mesh->topology->edge_segment[i]] = i;
    for (tac_lid i = 0; i < scene->settings->contact.ignore_count; i++)
        search->ignore[i] =
            body_pair(scene->settings->contact.ignore[2 * i], scene->settings->contact.ignore[2 * i + 1]);
    search->ignore_count = (size_t)scene->settings->contact.ignore_count;
    qsort(search->ignore, search->ignore_count, sizeof *search->ignore, compare_body_pairs);
done:
    return err;
}

static void put_item(const struct tac_overlap_search *search, struct tac_box_item *item,
                     enum tac_overlap_element element, tac_lid body, tac_lid index, const tac_lid *vertex, int count)
{
    *item = (struct tac_box_item){.body = body, .index = index, .kind = (uint8_t)element};
    for (int i = 0; i < count; i++) {
        const double *x = tac_overlap_at(search, vertex[i]);
        item->active =
            item->active || (search->scripted ? search->scripted : search->scene->mesh->ever_free)[vertex[i]];
        for (int k = 0; k < 3; k++) {
            item->lo[k] = i == 0 || x[k] < item->lo[k] ? x[k] : item->lo[k];
            item->hi[k] = i == 0 || x[k] > item->hi[k] ? x[k] : item->hi[k];
        }
    }
}

/* Is an element of no pair that is looked for? */
static bool left_out(const struct tac_overlap_search *search, const tac_lid *vertex, int count)
{
    bool all_free = true;
    for (int i = 0; i < count; i++)
        all_free = all_free && search->scene->mesh->ever_free[vertex[i]];
    return search->scripted != NULL && all_free;
}

static size_t put_items(const struct tac_overlap_search *search, struct tac_box_item *item)
{
    const struct tac_scene *scene = search->scene;
    size_t count = 0;
    for (tac_lid b = 0; b < scene->settings->body_count; b++) {
        const struct tac_body *body = &scene->settings->body[b];
        for (tac_lid i = body->triangle_begin; i < body->triangle_end; i++) {
            const tac_lid *v = scene->mesh->triangle + 3 * (size_t)i;
            if (!left_out(search, v, 3))
                put_item(search, &item[count++], TRIANGLE, b, i, v, 3);
        }
        for (tac_lid i = body->segment_begin; i < body->segment_end; i++) {
            const tac_lid *v = scene->mesh->segment + 2 * (size_t)i;
            if (!left_out(search, v, 2))
                put_item(search, &item[count++], SEGMENT, b, i, v, 2);
        }
        for (tac_lid i = body->vertex_begin; i < body->vertex_end && !body->has_elements; i++)
            if (!left_out(search, &i, 1))
                put_item(search, &item[count++], PARTICLE, b, i, &i, 1);
    }
    return count;
}

static int compare_overlaps(const void *a, const void *b)
{
    const struct tac_overlap *p = a, *q = b;
    if (p->gap != q->gap)
        return p->gap < q->gap ? -1 : 1;
    if (p->kind != q->kind)
        return p->kind < q->kind ? -1 : 1;
    if (p->element[0] != q->element[0])
        return p->element[0] < q->element[0] ? -1 : 1;
    return (p->element[1] > q->element[1]) - (p->element[1] < q->element[1]);
}

void tac_overlap_sort(struct tac_overlaps *overlaps)
{
    if (overlaps->count > 0)
        qsort(overlaps->overlap, overlaps->count, sizeof *overlaps->overlap, compare_overlaps);
}

static enum tac_err search_all(struct tac_overlap_search *search)
{
    const struct tac_scene *scene = search->scene;
    enum tac_err err = TAC_OK;
    struct tac_box_item *item = NULL;
    struct tac_box_tree *tree = NULL;
    double *radius = NULL;
    size_t most =
        (size_t)scene->mesh->triangle_count + (size_t)scene->mesh->segment_count + (size_t)scene->mesh->vertex_count;
    TAC_TRY(tac_alloc(search->ctx, most, sizeof *item, &item));
    TAC_TRY(tac_alloc(search->ctx, (size_t)scene->settings->body_count, sizeof *radius, &radius));
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        radius[b] = scene->settings->body[b].radius;
    double largest = 0;
    for (size_t i = 0; i < 3 * (size_t)scene->mesh->vertex_count; i++)
        largest = fmax(largest, fabs(scene->mesh->x[i]));
    search->touch = TAC_OVERLAP_TOUCH * largest;
    TAC_TRY(tac_box_tree_create(search->ctx, item, put_items(search, item), radius, &tree));
    err = tac_box_tree_walk(search->ctx, tree, &(struct tac_box_walk){search, margin, tac_overlap_pair});
    if (err == TAC_ERR_STOPPED) /* record() had enough */
        err = TAC_OK;
done:
    tac_box_tree_destroy(&tree);
    free(item);
    free(radius);
    return err;
}

static enum tac_err find_overlaps(struct tac_ctx *ctx, const struct tac_scene *scene, const uint8_t *scripted,
                                  struct tac_overlaps **out)
{
    enum tac_err err = TAC_OK;
    struct tac_overlap_search search = {.ctx = ctx, .scene = scene, .scripted = scripted};
    TAC_TRY(tac_alloc(ctx, 1, sizeof *search.out, &search.out));
    if (scene->settings->contact.thickness > 0 || scripted != NULL) {
        TAC_TRY(tac_alloc(ctx, (size_t)scene->settings->contact.ignore_count, sizeof *search.ignore, &search.ignore));
        TAC_TRY(number_parts(&search));
        TAC_TRY(search_all(&search));
        tac_overlap_sort(search.out);
    }
    *out = search.out;
    search.out = NULL;
done:
    tac_overlap_destroy(&search.out);
    free(search.ignore);
    free(search.vertex_owner);
    free(search.segment_edge);
    return err;
}

enum tac_err tac_overlap_find(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_overlaps **out)
{
    return find_overlaps(ctx, scene, NULL, out);
}

enum tac_err tac_overlap_find_exempt(struct tac_ctx *ctx, const struct tac_scene *scene, const uint8_t *scripted,
                                     struct tac_overlaps **out)
{
    size_t kept = 0;
    const enum tac_err err = find_overlaps(ctx, scene, scripted, out);
    for (size_t i = 0; !err && i < (*out)->count; i++) {
        const struct tac_overlap *o = &(*out)->overlap[i];
        const struct tac_body *body = scene->settings->body;
        const bool particle = !body[o->body[0]].has_elements || !body[o->body[1]].has_elements;
        if (particle || o->kind == TAC_OVERLAP_EDGE_TRIANGLE || o->kind == TAC_OVERLAP_EDGE_CROSSES_EDGE)
            (*out)->overlap[kept++] = *o;
    }
    if (!err)
        (*out)->count = kept;
    return err;
}

void tac_overlap_destroy(struct tac_overlaps **overlaps)
{
    if (*overlaps == NULL)
        return;
    free((*overlaps)->overlap);
    free(*overlaps);
    *overlaps = NULL;
}
