/* search.c: the pairs that a step of Newton's method can bring near each other (docs/implicit.md, Candidates).
 *
 * Every primitive has a box around its way from x to x + p, larger by half of the thickness, its radius and a skin.
 * Pairs whose boxes meet are the candidates.  The list stays complete as long as every vertex stays within the skin of
 * the way that its boxes were made for.
 *
 * For tests, TACTUS_TEST_SKIN makes the skin so many times as large, which may change no bit, and TACTUS_TEST_ROUGH
 * takes derivatives from the barrier (struct tac_barrier_pair), which shows what they are for.
 *
 * A rank looks for the pairs that reach a vertex of its own: its own primitives against each other, and against those
 * of the others.  Primitives that never move meet only what does, and their boxes are made once.
 */
#include "geometry/tree.h"
#include "implicit/implicit.h"
#include <math.h>
#include <stdlib.h>

#define TAC_MARGIN 1.125   /* of the thickness: tac_advance_safely stops no pair at a distance over 1.1 of it */
#define TAC_SKIN_EDGE .25  /* of the mean edge: a larger skin lets whole bodies be pairs with themselves */
#define TAC_FIRST_SKINS 64 /* of a longer way a beginning of so many skins is searched first */

/* Kinds of primitives; of each the own ones and those of other ranks, that ever move and that do not. */
enum { VERTICES, TRIANGLES, EDGES, SEGMENTS, PARTICLES, SHAPES };
enum { OTHER = 1, STILL = 2, SORTS = 4 };

struct shape {
    int nodes;
    tac_lid count;
    tac_lid *id;           /* owned, (count) */
    tac_lid *vertex;       /* owned, (count, nodes) */
    struct tac_tree *tree; /* owned; NULL: none of them */
};

struct tac_implicit_search {
    struct shape shape[SHAPES][SORTS]; /* [.][0]: own ones that move */
    int rough;                         /* of the barriers: of tests */
    double skin, reach;                /* reach: half of the largest thickness, with its margin */
    double *from, *way;                /* owned, (count, 3): what the list was made for; from NULL: there is none */
    bool made, boxed;                  /* boxed: so are what never moves */
    int32_t *scratch;                  /* owned: as many as the largest shape */
};

static void clear_shape(struct shape *s)
{
    free(s->id);
    free(s->vertex);
    tac_tree_destroy(&s->tree);
}

void tac_implicit_search_destroy(struct tac_implicit_search **search)
{
    struct tac_implicit_search *s = *search;
    if (s == NULL)
        return;
    for (int k = 0; k < SHAPES; k++)
        for (int sort = 0; sort < SORTS; sort++)
            clear_shape(&s->shape[k][sort]);
    free(s->from);
    free(s->way);
    free(s->scratch);
    free(s);
    *search = NULL;
}

/* ---- which there are ---- */

struct source {
    int nodes;
    tac_lid count;
    const tac_lid *vertex; /* (count, nodes); NULL: 0, 1, ... */
    const tac_lid *pick;   /* (count): which are meant, where it is not negative; NULL: all */
};

static int sort_of(const struct tac_implicit *sim, const tac_lid *v, int n)
{
    int sort = tac_implicit_reaches(sim, v, n) ? STILL : STILL | OTHER;
    for (int i = 0; i < n; i++)
        if (sim->scene->mesh->ever_free[v[i]] || sim->scripts.script_of[v[i]] >= 0)
            sort &= ~STILL;
    return sort;
}

static enum tac_err make_shape(struct tac_implicit *sim, const struct source *from, int sort, struct shape *s)
{
    enum tac_err err;
    s->nodes = from->nodes;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)from->count, sizeof *s->id, &s->id));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)from->count * (size_t)from->nodes, sizeof *s->vertex, &s->vertex));
    for (tac_lid i = 0; i < from->count; i++) {
        const tac_lid *v = from->vertex ? &from->vertex[(size_t)i * (size_t)from->nodes] : &i;
        if ((from->pick && from->pick[i] < 0) || sort_of(sim, v, from->nodes) != sort)
            continue;
        memcpy(&s->vertex[(size_t)s->count * (size_t)from->nodes], v, (size_t)from->nodes * sizeof *v);
        s->id[s->count++] = i;
    }
    if (s->count > 0)
        TAC_TRY(tac_tree_create(sim->ctx, s->count, &s->tree));
done:
    return err;
}

/* At t = 0, m; of a scene without edges INFINITY. */
static double mean_edge(const struct tac_local_mesh *mesh)
{
    double sum = 0;
    for (tac_lid e = 0; e < mesh->topology->edge_count; e++) {
        double r[3];
        tac_sub(r, &mesh->x[3 * (size_t)mesh->topology->edge[2 * (size_t)e + 1]],
                &mesh->x[3 * (size_t)mesh->topology->edge[2 * (size_t)e]]);
        sum += sqrt(tac_dot(r, r));
    }
    return mesh->topology->edge_count > 0 ? sum / (double)mesh->topology->edge_count : INFINITY;
}

enum tac_err tac_implicit_search_create(struct tac_implicit *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_search *s = NULL;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    tac_lid *particle = NULL, most = 1;
    if (sim->scene->settings->contact.thickness == 0)
        return TAC_OK;
    TAC_TRY(tac_alloc(sim->ctx, 1, sizeof *s, &s));
    sim->search = s;
    s->reach = .5 * TAC_MARGIN * sim->scene->settings->contact.thickness;
    s->skin = fmin(sim->scene->settings->contact.thickness, TAC_SKIN_EDGE * mean_edge(mesh));
    const char *skins = getenv("TACTUS_TEST_SKIN"), *fewer = getenv("TACTUS_TEST_ROUGH");
    s->skin *= skins ? atof(skins) : 1;
    s->rough = fewer ? atoi(fewer) : 0;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)mesh->vertex_count, sizeof *particle, &particle));
    for (tac_lid i = 0; i < mesh->vertex_count; i++)
        particle[i] = sim->model->particle[i] ? i : -1;
    const struct source source[SHAPES] = {
        [VERTICES] = {1, mesh->vertex_count, NULL, NULL},
        [TRIANGLES] = {3, mesh->triangle_count, mesh->triangle, NULL},
        [EDGES] = {2, sim->scene->settings->two_d ? 0 : mesh->topology->edge_count, mesh->topology->edge, NULL},
        [SEGMENTS] = {2, mesh->topology->edge_count, mesh->topology->edge, mesh->topology->edge_segment},
        [PARTICLES] = {1, mesh->vertex_count, NULL, particle}};
    for (int k = 0; k < SHAPES; k++)
        for (int sort = 0; sort < SORTS; sort++) {
            TAC_TRY(make_shape(sim, &source[k], sort, &s->shape[k][sort]));
            most = s->shape[k][sort].count > most ? s->shape[k][sort].count : most;
        }
    TAC_TRY(tac_alloc(sim->ctx, (size_t)most, 4 * sizeof *s->scratch, &s->scratch));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->count, sizeof *s->from, &s->from));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->count, sizeof *s->way, &s->way));
done:
    free(particle);
    return err;
}

/* ---- boxes ---- */

static void grow_to(struct tac_dop *box, const double x[3])
{
    double along[TAC_DOP_AXES];
    tac_dop_project(x, along);
    for (int a = 0; a < TAC_DOP_AXES; a++) {
        box->lo[a] = fmin(box->lo[a], along[a]);
        box->hi[a] = fmax(box->hi[a], along[a]);
    }
}

struct boxes {
    const struct tac_implicit *sim;
    const struct shape *shape;
};

/* context: a struct boxes; a tac_tree_box. */
static void make_box(void *context, int32_t i, struct tac_dop *box)
{
    const struct boxes *boxes = context;
    const struct tac_implicit *sim = boxes->sim;
    const struct shape *s = boxes->shape;
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
            large = fmax(large, fabs(from[k]) + fabs(way[k]));
    }
    const double pad = search->skin + search->reach +
                       sim->scene->settings->body[sim->scene->mesh->vertex_body[v[0]]].radius + 0x1p-44 * large;
    for (int a = 0; a < TAC_DOP_AXES; a++) {
        box->lo[a] -= pad * tac_dop_length[a];
        box->hi[a] += pad * tac_dop_length[a];
    }
}

/* ---- the list ---- */

struct finding {
    struct tac_implicit *sim;
    enum tac_pair_type type;
    const struct shape *a, *b;
};

/* Can surfaces be nearer than `thickness` on their ways, or within the skin of them?  Their boxes meet, which were made
 * for the scene's thickness. */
static bool may_touch(const struct finding *f, int32_t i, int32_t j, double thickness)
{
    const struct tac_tree *s = f->a->tree, *t = f->b->tree;
    const struct tac_slim_dop *a = &s->node[s->leaf[i]].dop, *b = &t->node[t->leaf[j]].dop;
    const double spare = 2 * f->sim->search->reach - TAC_MARGIN * thickness;
    for (int axis = 0; axis < TAC_DOP_AXES; axis++)
        if (fmin(s->origin[axis] + (double)a->hi[axis], t->origin[axis] + (double)b->hi[axis]) -
                fmax(s->origin[axis] + (double)a->lo[axis], t->origin[axis] + (double)b->lo[axis]) <
            spare * tac_dop_length[axis])
            return false;
    return true;
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
    return fmin(sim->scene->settings->contact.thickness, part * sqrt(tac_dot(r, r)) * (1 + 0x1p-40));
}

static enum tac_err take(void *context, int32_t i, int32_t j)
{
    enum tac_err err = TAC_OK;
    const struct finding *f = context;
    struct tac_implicit *sim = f->sim;
    tac_lid a = f->a->id[i], b = f->b->id[j], v[4] = {-1, -1, -1, -1};
    const tac_lid *va = &f->a->vertex[(size_t)i * (size_t)f->a->nodes],
                  *vb = &f->b->vertex[(size_t)j * (size_t)f->b->nodes];
    if (f->a->nodes == f->b->nodes && b < a) { /* of two alike the lower one is the first */
        const tac_lid id = a, *vertex = va;
        a = b;
        b = id;
        va = vb;
        vb = vertex;
    }
    const int first = tac_pair_first(f->type), n = tac_pair_vertices(f->type);
    for (int k = 0; k < n; k++)
        v[k] = k < first ? va[k] : vb[k - first];
    if (!may_touch(f, i, j, most_thickness(sim, v, first)) || !tac_model_is_pair(sim->model, f->type, v))
        return TAC_OK;
    struct tac_form form;
    tac_model_first(sim->model, f->type, v, &form);
    if (!(form.thickness > 0) || !may_touch(f, i, j, form.thickness))
        return TAC_OK;
    TAC_TRY(tac_grow(sim->ctx, &sim->contact.pair, &sim->contact.pair_capacity, sim->contact.pair_count + 1,
                     sizeof *sim->contact.pair));
    struct tac_implicit_pair *p = &sim->contact.pair[sim->contact.pair_count++];
    double rest[4][3];
    *p = (struct tac_implicit_pair){.key = tac_pair_key(f->type, a, b),
                                    .form = {f->type, form.radius, form.thickness, 0, sim->search->rough},
                                    .counted = tac_implicit_counts(sim, v, n)};
    memcpy(p->v, v, sizeof v);
    const tac_lid *body = sim->scene->mesh->vertex_body;
    p->friction = tac_scene_law(sim->scene, body[v[0]], body[v[first]])->friction;
    if (f->type == TAC_PAIR_EDGE_EDGE) {
        tac_implicit_gather(sim->scene->mesh->x, v, 4, rest);
        p->form.parallel = tac_barrier_parallel(rest);
    }
    tac_implicit_weigh(sim, p);
done:
    return err;
}

static enum tac_err meet(struct tac_implicit *sim, enum tac_pair_type type, const struct shape *a,
                         const struct shape *b)
{
    static const double none[TAC_DOP_AXES];
    int64_t tests = 0;
    struct finding f = {sim, type, a, b};
    if (a->count == 0 || b->count == 0)
        return TAC_OK;
    return tac_tree_overlaps(a->tree, b->tree, none, none, take, &f, &tests);
}

/* Pairs of one type that reach a vertex of this rank. */
static enum tac_err meet_all(struct tac_implicit *sim, enum tac_pair_type type, int a, int b)
{
    enum tac_err err;
    struct shape(*s)[SORTS] = sim->search->shape;
    for (int i = 0; i < SORTS; i++)
        for (int k = a == b ? i : 0; k < SORTS; k++)
            if (!(i & k)) /* not both of others, nor both still */
                TAC_TRY(meet(sim, type, &s[a][i], &s[b][k]));
done:
    return err;
}

struct place {
    uint64_t key;
    size_t at;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Ascending by key.  Pairs move in place, cycle by cycle: a second list of them would be what takes most memory. */
static enum tac_err sort_pairs(struct tac_implicit *sim)
{
    enum tac_err err;
    struct place *place = NULL;
    struct tac_implicit_pair *pair = sim->contact.pair;
    const size_t n = sim->contact.pair_count;
    TAC_TRY(tac_alloc_brief(sim->ctx, n, sizeof *place, &place));
    for (size_t e = 0; e < n; e++)
        place[e] = (struct place){pair[e].key, e};
    qsort(place, n, sizeof *place, compare);
    for (size_t e = 0; e < n; e++) {
        const struct tac_implicit_pair first = pair[e];
        size_t hole = e;
        for (size_t from = place[e].at; from != e; from = place[hole].at) {
            pair[hole] = pair[from];
            place[hole].at = hole;
            hole = from;
        }
        pair[hole] = first;
        place[hole].at = hole;
    }
done:
    free(place);
    return err;
}

static enum tac_err make_list(struct tac_implicit *sim)
{
    enum tac_err err;
    struct tac_implicit_search *s = sim->search;
    for (int k = 0; k < SHAPES; k++)
        for (int sort = 0; sort < SORTS; sort++) {
            struct shape *shape = &s->shape[k][sort];
            if (shape->count == 0 || ((sort & STILL) && s->boxed))
                continue;
            struct boxes boxes = {sim, shape};
            tac_tree_refit(shape->tree, &s->from[3 * (size_t)shape->vertex[0]], make_box, &boxes, s->scratch);
        }
    s->boxed = true;
    sim->contact.pair_count = 0;
    sim->contact.touch_of = NULL;
    TAC_TRY(meet_all(sim, TAC_PAIR_VERTEX_TRIANGLE, VERTICES, TRIANGLES));
    TAC_TRY(meet_all(sim, TAC_PAIR_EDGE_EDGE, EDGES, EDGES));
    TAC_TRY(meet_all(sim, TAC_PAIR_VERTEX_SEGMENT, VERTICES, SEGMENTS));
    TAC_TRY(meet_all(sim, TAC_PAIR_VERTEX_VERTEX, PARTICLES, PARTICLES));
    if (sim->contact.pair_count > 0)
        TAC_TRY(sort_pairs(sim));
done:
    return err;
}

/* Is x (3) within the skin of the way that vertex i had when the list was made? */
static bool within(const struct tac_implicit_search *s, tac_lid i, const double x[3])
{
    const double *from = &s->from[3 * (size_t)i], *way = &s->way[3 * (size_t)i];
    double r[3];
    tac_sub(r, x, from);
    const double ww = tac_dot(way, way), share = ww > 0 ? tac_clamp01(tac_dot(r, way) / ww) : 0;
    for (int k = 0; k < 3; k++)
        r[k] -= share * way[k];
    return tac_dot(r, r) <= s->skin * s->skin * (1 - 0x1p-20);
}

/* Does the list have all pairs on the ways from x to x + part p? */
static bool is_complete(const struct tac_implicit *sim, const double *x, const double *p, double part)
{
    const struct tac_implicit_search *s = sim->search;
    bool complete = s->made;
    for (tac_lid i = 0; i < sim->count && complete; i++) {
        const double *a = &x[3 * (size_t)i], *b = &p[3 * (size_t)i];
        const double to[3] = {a[0] + part * b[0], a[1] + part * b[1], a[2] + part * b[2]};
        complete = within(s, i, a) && within(s, i, to);
    }
    return complete;
}

double tac_implicit_first_part(const struct tac_implicit *sim, const double *x, const double *p)
{
    double longest = 0;
    if (sim->search == NULL)
        return 1;
    for (tac_lid i = 0; i < sim->count; i++)
        longest = fmax(longest, tac_dot(&p[3 * (size_t)i], &p[3 * (size_t)i]));
    const double part = TAC_FIRST_SKINS * sim->search->skin / sqrt(longest);
    return part < 1 && !is_complete(sim, x, p, 1) ? part : 1;
}

enum tac_err tac_implicit_find(struct tac_implicit *sim, const double *x, const double *p, double part)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_search *s = sim->search;
    const double begin_s = tac_wall_s();
    if (s == NULL)
        return TAC_OK;
    if (!is_complete(sim, x, p, part)) {
        memcpy(s->from, x, 3 * (size_t)sim->count * sizeof *x);
        for (size_t c = 0; c < 3 * (size_t)sim->count; c++)
            s->way[c] = part * p[c];
        err = make_list(sim);
        s->made = err == TAC_OK;
        sim->books.counters.candidate_builds++;
        err = tac_agree(sim->ctx, err);
    }
    sim->books.counters.candidates = (int64_t)sim->contact.pair_count;
    sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
    return err;
}
