/* implicit_candidates.c: makes the list of pairs that can come near each other (docs/reference/implicit.md,
 * Candidates).
 *
 * Boxes of primitives that meet are found by their trees.  What is left of them is first a short note of each pair, in
 * the order of the trees; the notes are sorted by the pairs' keys, and then pairs are written in that order.
 */
#include "implicit/search.h"
#include <math.h>
#include <stdlib.h>

/* What the parts of a list cost, ns (docs/results/performance.md tells how such numbers are found): the skin is chosen
 * by it.
 */
#define TAC_BOX_COST 60.  /* a primitive's box and its share of a tree */
#define TAC_TEST_COST 6.  /* two nodes */
#define TAC_MEET_COST 25. /* two boxes that meet */
#define TAC_PAIR_COST 200.

/* ---- boxes ---- */

static inline double lower(double a, double b)
{
    return a < b ? a : b;
}
static inline double upper(double a, double b)
{
    return a > b ? a : b;
}

static inline void grow_to(struct tac_dop *box, const double x[3])
{
    double along[TAC_DOP_AXES];
    tac_dop_project(x, along);
    for (int a = 0; a < TAC_DOP_AXES; a++) {
        box->lo[a] = lower(box->lo[a], along[a]);
        box->hi[a] = upper(box->hi[a], along[a]);
    }
}

struct boxes {
    const struct tac_implicit *sim;
    const struct tac_shape *shape;
};

/* context: a struct boxes; a tac_tree_box. */
static void make_box(void *context, int32_t i, struct tac_dop *box)
{
    const struct boxes *boxes = context;
    const struct tac_implicit *sim = boxes->sim;
    const struct tac_shape *s = boxes->shape;
    const struct tac_implicit_search *search = sim->search;
    double large = 0;
    const tac_lid *v = &s->vertex[(size_t)i * (size_t)s->nodes];
    tac_dop_empty(box);
    for (int n = 0; n < s->nodes; n++) {
        const double *from = &search->from[3 * (size_t)v[n]], *way = &search->way[3 * (size_t)v[n]];
        const double to[3] = {from[0] + way[0], from[1] + way[1], from[2] + way[2]};
        grow_to(box, from);
        grow_to(box, to);
        for (int k = 0; k < 3; k++)
            large = upper(large, fabs(from[k]) + fabs(way[k]));
    }
    const double pad = search->skin + search->reach +
                       sim->scene->settings->body[sim->scene->mesh->vertex_body[v[0]]].radius + 0x1p-44 * large;
    for (int a = 0; a < TAC_DOP_AXES; a++) {
        box->lo[a] -= pad * tac_dop_length[a];
        box->hi[a] += pad * tac_dop_length[a];
    }
}

/* All that move measure their boxes from one point, so that boxes of two trees compare as they are. */
static double fit_trees(struct tac_implicit *sim)
{
    struct tac_implicit_search *s = sim->search;
    const double *origin = NULL;
    double cost = 0;
    for (int k = 0; k < TAC_SHAPES; k++)
        for (int sort = 0; sort < TAC_SORTS; sort++) {
            struct tac_shape *shape = &s->shape[k][sort];
            if (shape->count == 0 || ((sort & TAC_STILL) && s->boxed))
                continue;
            const double *first = &s->from[3 * (size_t)shape->vertex[0]];
            if (!(sort & TAC_STILL) && origin == NULL)
                origin = first;
            struct boxes boxes = {sim, shape};
            tac_tree_refit(shape->tree, sort & TAC_STILL ? first : origin, make_box, &boxes, s->scratch);
            cost += TAC_BOX_COST * (double)shape->count;
        }
    s->boxed = true;
    return cost;
}

/* ---- boxes that meet ---- */

/* A pair that was found. */
struct note {
    uint64_t key;
    double radius, thickness; /* m */
};

struct finding {
    struct tac_implicit *sim;
    enum tac_pair_type type;
    const struct tac_shape *a, *b;
    double shift[TAC_DOP_AXES]; /* of a's origin from b's */
    double cost;
    size_t count, capacity;
    struct note *note; /* owned */
};

/* The least thickness with which two surfaces whose boxes meet can come that near on their ways, or within the skin of
 * them: boxes are made for the scene's thickness. */
static inline double least_thickness(const struct finding *f, int32_t i, int32_t j)
{
    const struct tac_tree *s = f->a->tree, *t = f->b->tree;
    const struct tac_slim_dop *a = &s->node[s->leaf[i]].dop, *b = &t->node[t->leaf[j]].dop;
    double common = INFINITY;
    for (int axis = 0; axis < TAC_DOP_AXES; axis++) {
        const double lo = (double)a->lo[axis] + f->shift[axis], hi = (double)a->hi[axis] + f->shift[axis];
        const double both = lower(hi, (double)b->hi[axis]) - upper(lo, (double)b->lo[axis]);
        common = lower(common, both / tac_dop_length[axis]);
    }
    return (2 * f->sim->search->reach - common) / TAC_MARGIN;
}

/* No pair has more thickness than its part of the distance between two of its vertices at the start. */
static double most_thickness(const struct tac_implicit *sim, const tac_lid *v, int first)
{
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    double r[3];
    tac_sub(r, &mesh->x[3 * (size_t)v[0]], &mesh->x[3 * (size_t)v[first]]);
    const tac_lid a = mesh->vertex_body[v[0]], b = mesh->vertex_body[v[first]];
    const double part = a == b && sim->scene->settings->body[a].has_elements
                            ? sim->scene->settings->contact.rest_fraction
                            : TAC_REST_FRACTION_MOST;
    return lower(sim->scene->settings->contact.thickness, part * sqrt(tac_dot(r, r)) * (1 + 0x1p-40));
}

static double longest(const double p[4][3], int from, int to)
{
    double most = 0;
    for (int i = from; i < to; i++)
        most = upper(most, tac_dot(p[i], p[i]));
    return sqrt(most);
}

/* Can a pair come nearer than its thickness on the way, or within the skin of it?  All vertices go the way together, so
 * only by what they move apart from their mean. */
static bool may_come_near(const struct tac_implicit *sim, enum tac_pair_type type, const tac_lid *v,
                          const struct tac_form *form)
{
    const struct tac_implicit_search *s = sim->search;
    const int n = tac_pair_vertices(type), first = tac_pair_first(type);
    double x[4][3], way[4][3], mean[3] = {0, 0, 0}, size = 0;
    struct tac_near near;
    tac_implicit_gather(s->from, v, n, x);
    tac_implicit_gather(s->way, v, n, way);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            mean[k] += way[i][k] / n;
            size = upper(size, fabs(x[i][k]) + fabs(way[i][k]));
        }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            way[i][k] -= mean[k];
    tac_near_pair(type, (const double(*)[3])x, &near);
    return near.d - longest((const double(*)[3])way, 0, first) - longest((const double(*)[3])way, first, n) -
               0x1p-44 * size <=
           form->radius + TAC_MARGIN * form->thickness + 2 * s->skin;
}

/* context: a struct finding; a tac_tree_visit. */
static enum tac_err take(void *context, int32_t i, int32_t j)
{
    enum tac_err err = TAC_OK;
    struct finding *f = context;
    struct tac_implicit *sim = f->sim;
    tac_lid a = f->a->id[i], b = f->b->id[j], v[4] = {-1, -1, -1, -1};
    const int p = f->a->nodes, q = f->b->nodes;
    const tac_lid *va = &f->a->vertex[(size_t)i * (size_t)p], *vb = &f->b->vertex[(size_t)j * (size_t)q];
    f->cost += TAC_MEET_COST;
    for (int k = 0; k < p; k++) /* most of all that meet are neighbours */
        for (int l = 0; l < q; l++)
            if (va[k] == vb[l])
                return TAC_OK;
    if (p == q && b < a) { /* of two alike the lower one is the first */
        const tac_lid id = a, *vertex = va;
        a = b;
        b = id;
        va = vb;
        vb = vertex;
    }
    for (int k = 0; k < p; k++)
        v[k] = va[k];
    for (int k = 0; k < q; k++)
        v[p + k] = vb[k];
    const double least = least_thickness(f, i, j);
    if (!(most_thickness(sim, v, p) >= least) || !tac_model_is_pair(sim->model, f->type, v))
        return TAC_OK;
    struct tac_form form;
    tac_model_first(sim->model, f->type, v, &form);
    f->cost += TAC_PAIR_COST;
    if (!(form.thickness > 0) || !(form.thickness >= least) || !may_come_near(sim, f->type, v, &form))
        return TAC_OK;
    TAC_TRY(tac_grow(sim->ctx, &f->note, &f->capacity, f->count + 1, sizeof *f->note));
    f->note[f->count++] = (struct note){tac_pair_key(f->type, a, b), form.radius, form.thickness};
done:
    return err;
}

static enum tac_err meet(struct finding *f, const struct tac_shape *a, const struct tac_shape *b, bool moving)
{
    static const double none[TAC_DOP_AXES];
    int64_t tests = 0;
    if (a->count == 0 || b->count == 0)
        return TAC_OK;
    f->a = a;
    f->b = b;
    for (int k = 0; k < TAC_DOP_AXES; k++)
        f->shift[k] = a->tree->origin[k] - b->tree->origin[k];
    const double *drift = moving ? NULL : none; /* NULL: of one origin */
    const enum tac_err err = tac_tree_overlaps(a->tree, b->tree, drift, drift, take, f, &tests);
    f->cost += TAC_TEST_COST * (double)tests;
    return err;
}

/* ---- the list ---- */

static tac_lid first_of(const struct note *n)
{
    return (tac_lid)(n->key >> 31 & 0x7fffffff);
}

static int compare(const void *a, const void *b)
{
    const struct note *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Ascending by key: first by the first primitive, of which there are `firsts`. */
static enum tac_err sort_notes(struct tac_ctx *ctx, struct finding *f, size_t firsts)
{
    enum tac_err err;
    size_t *end = NULL;
    struct note *sorted = NULL;
    TAC_TRY(tac_alloc_brief(ctx, firsts + 1, sizeof *end, &end));
    TAC_TRY(tac_alloc_brief(ctx, f->count, sizeof *sorted, &sorted));
    for (size_t e = 0; e < f->count; e++)
        end[(size_t)first_of(&f->note[e]) + 1]++;
    for (size_t k = 0; k < firsts; k++)
        end[k + 1] += end[k];
    for (size_t e = 0; e < f->count; e++) /* end[k] begins as the place of the first of k */
        sorted[end[first_of(&f->note[e])]++] = f->note[e];
    for (size_t k = 0, begin = 0; k < firsts; begin = end[k], k++)
        if (end[k] - begin > 1)
            qsort(&sorted[begin], end[k] - begin, sizeof *sorted, compare);
    free(f->note);
    f->note = sorted;
    sorted = NULL;
done:
    free(end);
    free(sorted);
    return err;
}

static void write_pair(struct tac_implicit *sim, const struct note *note, struct tac_implicit_pair *p)
{
    const enum tac_pair_type type = tac_key_type(note->key);
    const int n = tac_pair_vertices(type);
    double rest[4][3];
    *p = (struct tac_implicit_pair){.key = note->key,
                                    .form = {type, note->radius, note->thickness, 0, sim->search->rough}};
    tac_key_vertices(sim->scene, note->key, p->v);
    p->counted = tac_implicit_counts(sim, p->v, n);
    const tac_lid *body = sim->scene->mesh->vertex_body;
    p->friction = tac_scene_law(sim->scene, body[p->v[0]], body[p->v[tac_pair_first(type)]])->friction;
    if (type == TAC_PAIR_EDGE_EDGE) {
        tac_implicit_gather(sim->scene->mesh->x, p->v, 4, rest);
        p->form.parallel = tac_barrier_parallel(rest);
    }
    tac_implicit_weigh(sim, p);
}

/* Appends the pairs of one type that reach a vertex of this rank; kinds of primitives a and b, of which there are
 * `firsts` of a. */
static enum tac_err add_pairs(struct tac_implicit *sim, enum tac_pair_type type, int a, int b, tac_lid firsts,
                              double *cost)
{
    enum tac_err err = TAC_OK;
    struct tac_shape(*s)[TAC_SORTS] = sim->search->shape;
    struct tac_implicit_contact *c = &sim->contact;
    struct finding f = {.sim = sim, .type = type};
    for (int i = 0; i < TAC_SORTS; i++)
        for (int k = a == b ? i : 0; k < TAC_SORTS; k++)
            if (!(i & k)) /* not both of others, nor both still */
                TAC_TRY(meet(&f, &s[a][i], &s[b][k], !((i | k) & TAC_STILL)));
    if (f.count > 0)
        TAC_TRY(sort_notes(sim->ctx, &f, (size_t)firsts));
    if (f.count > 0)
        TAC_TRY(tac_grow(sim->ctx, &c->pair, &c->pair_capacity, c->pair_count + f.count, sizeof *c->pair));
    for (size_t e = 0; e < f.count; e++)
        write_pair(sim, &f.note[e], &c->pair[c->pair_count++]);
done:
    *cost += f.cost;
    free(f.note);
    return err;
}

enum tac_err tac_implicit_make_list(struct tac_implicit *sim, double *cost)
{
    enum tac_err err;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    *cost = fit_trees(sim);
    sim->contact.pair_count = 0;
    sim->contact.touch_of = NULL;
    /* in the order of keys */
    TAC_TRY(add_pairs(sim, TAC_PAIR_VERTEX_TRIANGLE, TAC_VERTICES, TAC_TRIANGLES, mesh->vertex_count, cost));
    TAC_TRY(add_pairs(sim, TAC_PAIR_EDGE_EDGE, TAC_EDGES, TAC_EDGES, mesh->topology->edge_count, cost));
    TAC_TRY(add_pairs(sim, TAC_PAIR_VERTEX_SEGMENT, TAC_VERTICES, TAC_SEGMENTS, mesh->vertex_count, cost));
    TAC_TRY(add_pairs(sim, TAC_PAIR_VERTEX_VERTEX, TAC_PARTICLES, TAC_PARTICLES, mesh->vertex_count, cost));
done:
    return err;
}
