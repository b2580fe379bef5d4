/* candidates_search.c: which pairs may touch while the trajectory bounds hold, by trees of boxes; with limits and what
 * is active.
 */
#include "broadphase/candidates.h"
#include "contact/limits.h"
#include "geometry/sweep.h"
#include <stdlib.h>
#include <string.h>

struct search {
    struct tac_view *view;
    struct tac_candidates *c;
    const struct tac_primitive *a, *b; /* first primitive of the two bodies */
    double reach;                      /* most that their first layers may reach */
    size_t count;
    bool changed; /* a repair: only pairs with a leaver */
    bool fine;    /* within one body that has no radius: pairs may have less than the whole thickness */
    int64_t cost; /* in tests of boxes */
};

/* What looking at two primitives and at a pair costs, in tests of boxes (.25 and .55 us against .025). */
enum { VISIT_COST = 10, PAIR_COST = 20 };
/* The same of a primitive and its nodes: a new box, and a look at whether it needs one. */
enum { BOX_COST = 8, MARK_COST = 1 };

static bool has_leaver(const struct tac_candidates *c, const tac_lid *v, int n)
{
    for (int i = 0; i < n; i++)
        if (c->left[v[i]])
            return true;
    return false;
}

/* Enters the pair if it may touch while the trajectory bounds hold. */
static enum tac_err consider(struct search *search, enum tac_pair_type type, tac_lid id_a, tac_lid id_b,
                             const tac_lid *va, const tac_lid *vb)
{
    enum tac_err err = TAC_OK;
    struct tac_view *view = search->view;
    struct tac_candidates *c = search->c;
    const int first = tac_pair_first(type), n = tac_pair_vertices(type);
    tac_lid v[4] = {-1, -1, -1, -1};
    double x[4][3], u[4][3], ra = 0, rb = 0, w = 0;
    for (int i = 0; i < n; i++) {
        v[i] = i < first ? va[i] : vb[i - first];
        w += view->model->w_ever[v[i]];
    }
    if (w == 0 || v[0] >= view->state->owned) /* the owner of its first vertex decides a pair */
        return TAC_OK;
    for (int i = 0; i < first; i++)
        for (int j = first; j < n; j++)
            if (v[i] == v[j])
                return TAC_OK;
    if (search->changed && !has_leaver(c, v, n))
        return TAC_OK;
    search->cost += PAIR_COST;
    for (int i = 0; i < n; i++) {
        const struct tac_path_bound *path_bound = &c->path_bound[v[i]];
        for (int k = 0; k < 3; k++) {
            x[i][k] = path_bound->x[k] + c->from_s * path_bound->v[k];
            u[i][k] = (c->span_s - c->from_s) * path_bound->v[k];
        }
        if (i < first)
            ra = ra > path_bound->radius ? ra : path_bound->radius;
        else
            rb = rb > path_bound->radius ? rb : path_bound->radius;
    }
    struct tac_near near;
    tac_near_pair(type, x, &near);
    double travel = tac_relative(type, u), room = near.d - ra - rb - 1e-12 * c->extent;
    if (room - travel > search->reach)
        return TAC_OK;
    struct tac_form form;
    tac_model_first(view->model, type, v, &form);
    room -= tac_model_reach(view->model, &form, 1);
    const uint64_t key = tac_pair_key(type, id_a, id_b);
    const int32_t slot = tac_active_find(view->active, key);
    if (slot >= 0 && view->active->pair[slot].listed)
        return TAC_OK;                                         /* a repair: it stayed on the list */
    double share = room <= 0 || slot >= 0 ? 0 : room / travel; /* of what is left, before which nothing happens */
    if (share > 1)
        return TAC_OK;
    TAC_TRY(tac_grow(view->ctx, &c->found, &c->capacity_found, search->count + 1, sizeof *c->found));
    struct tac_candidate *q = &c->found[search->count++];
    memset(q, 0, sizeof *q);
    q->key = key;
    memcpy(q->v, v, sizeof v);
    q->slot = slot;
    q->type = (uint8_t)type;
    q->count = (uint8_t)n;
    q->first = (uint8_t)first;
    q->d = search->changed ? -INFINITY : near.d; /* centres of trajectory bounds are places only when these are new */
    q->next = slot >= 0 ? view->active->pair[slot].next : tac_model_reach(view->model, &form, 1);
    q->tolerance = 1e-7 * form.thickness + 1e-14 * c->extent;
    q->d_end = (c->from_s + share * (c->span_s - c->from_s)) / c->span_s; /* until it is sorted */
done:
    return err;
}

/* ---- two primitives whose boxes overlap ---- */

/* Where the centres of a primitive's trajectory bounds begin, their ways over what is left of the lifetime, and the
 * largest radius. */
struct placed {
    double x[3][3], u[3][3], radius;
};

static void place(const struct tac_candidates *c, const struct tac_primitive *p, struct placed *out)
{
    const double left_s = c->span_s - c->from_s;
    out->radius = 0;
    for (int i = 0; i < p->count; i++) {
        const struct tac_path_bound *path_bound = &c->path_bound[p->v[i]];
        for (int k = 0; k < 3; k++) {
            out->x[i][k] = path_bound->x[k] + c->from_s * path_bound->v[k];
            out->u[i][k] = left_s * path_bound->v[k];
        }
        out->radius = path_bound->radius > out->radius ? path_bound->radius : out->radius;
    }
}

/* Distance of places beyond which consider() leaves out every pair of the two primitives. */
static double far_away(const struct search *search, const struct tac_primitive *a, const struct placed *pa,
                       const struct tac_primitive *b, const struct placed *pb)
{
    double most = 0;
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++) {
            double d[3];
            tac_sub(d, pa->u[i], pb->u[j]);
            const double squared = tac_dot(d, d);
            most = squared > most ? squared : most;
        }
    return search->reach + pa->radius + pb->radius + sqrt(most) + 2e-12 * search->c->extent;
}

/* Proves quickly that a point is farther than `away` from a primitive of n vertices: along the way from their mean. */
static bool is_far(const double x[3], const double y[3][3], int n, double away)
{
    double d[3][3], along[3] = {0}, least = INFINITY;
    for (int i = 0; i < n; i++) {
        tac_sub(d[i], x, y[i]);
        for (int k = 0; k < 3; k++)
            along[k] += d[i][k];
    }
    for (int i = 0; i < n; i++) {
        const double s = tac_dot(along, d[i]);
        least = s < least ? s : least;
    }
    return least > 0 && least * least > away * away * tac_dot(along, along);
}

/* The same of two edges: along the way from middle to middle. */
static bool edges_are_far(const double a0[3], const double a1[3], const double b0[3], const double b1[3], double away)
{
    double a[3], b[3], along[3];
    for (int k = 0; k < 3; k++) {
        a[k] = a1[k] - a0[k];
        b[k] = b1[k] - b0[k];
        along[k] = a0[k] + a1[k] - b0[k] - b1[k]; /* twice the way */
    }
    const double length = tac_dot(along, along),
                 room = .5 * (length - fabs(tac_dot(along, a)) - fabs(tac_dot(along, b)));
    return room > 0 && room * room > away * away * length;
}

/* The same, in place of `away`, for one pair of neighbours in a fine mesh, of na and nb vertices: such a pair has at
 * most a part of its distance at the start as its thickness (contact.rest_fraction), and that distance is at most that
 * of any two of their vertices. */
static double far_for(const struct search *search, const tac_lid *va, int na, const tac_lid *vb, int nb, double away)
{
    const struct tac_scene *s = search->view->scene;
    const double thickness = s->settings->contact.thickness;
    double least = INFINITY;
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++) {
            double d[3];
            tac_sub(d, &s->mesh->x[3 * va[i]], &s->mesh->x[3 * vb[j]]);
            const double squared = tac_dot(d, d);
            least = squared < least ? squared : least;
        }
    least = (1 + 1e-9) * sqrt(least); /* the distance itself is rounded too */
    return away - search->reach + fmin(thickness, s->settings->contact.rest_fraction * least);
}

static bool has_vertex(const struct tac_primitive *p, tac_lid v)
{
    return p->v[0] == v || (p->count > 1 && p->v[1] == v) || (p->count > 2 && p->v[2] == v);
}

static enum tac_err vertices_against(struct search *search, const struct tac_primitive *a, const struct placed *pa,
                                     const struct tac_primitive *b, const struct placed *pb, double away)
{
    enum tac_err err = TAC_OK;
    if (b->count == 1)
        return TAC_OK;
    for (int k = 0; k < a->count; k++)
        if ((a->vertices >> k & 1) && !has_vertex(b, a->v[k]) && !is_far(pa->x[k], pb->x, b->count, away) &&
            !(search->fine && is_far(pa->x[k], pb->x, b->count, far_for(search, &a->v[k], 1, b->v, b->count, away))))
            TAC_TRY(consider(search, b->count == 3 ? TAC_PAIR_VERTEX_TRIANGLE : TAC_PAIR_VERTEX_SEGMENT,
                             (tac_lid)tac_scene_id(search->view->scene, a->v[k]), b->id, &a->v[k], b->v));
done:
    return err;
}

/* The places of the ends of edge k in a primitive's list of vertices, in no certain order. */
static const int8_t edge_first[2][3] = {{0, 0, 0}, {1, 2, 0}}, edge_second[2][3] = {{1, 1, 1}, {2, 0, 1}};

/* The vertices of an edge, smaller global id first. */
static void edge_vertices(const struct tac_view *view, tac_lid a, tac_lid b, tac_lid v[2])
{
    const bool ordered = tac_scene_id(view->scene, a) < tac_scene_id(view->scene, b);
    v[0] = ordered ? a : b;
    v[1] = ordered ? b : a;
}

static enum tac_err edges_against(struct search *search, const struct tac_primitive *a, const struct placed *pa,
                                  const struct tac_primitive *b, const struct placed *pb, double away)
{
    enum tac_err err = TAC_OK;
    for (int i = 0; i < 3; i++) {
        if (!(a->edges >> i & 1))
            continue;
        const int a0 = edge_first[a->count == 3][i], a1 = edge_second[a->count == 3][i];
        for (int j = 0; j < 3; j++) {
            if (!(b->edges >> j & 1))
                continue;
            const int b0 = edge_first[b->count == 3][j], b1 = edge_second[b->count == 3][j];
            if (a->v[a0] == b->v[b0] || a->v[a0] == b->v[b1] || a->v[a1] == b->v[b0] || a->v[a1] == b->v[b1] ||
                edges_are_far(pa->x[a0], pa->x[a1], pb->x[b0], pb->x[b1], away))
                continue;
            const tac_lid e = a->edge[i], f = b->edge[j];
            tac_lid ve[2], vf[2];
            edge_vertices(search->view, a->v[a0], a->v[a1], ve);
            edge_vertices(search->view, b->v[b0], b->v[b1], vf);
            if (search->fine &&
                edges_are_far(pa->x[a0], pa->x[a1], pb->x[b0], pb->x[b1], far_for(search, ve, 2, vf, 2, away)))
                continue;
            if (e < f)
                TAC_TRY(consider(search, TAC_PAIR_EDGE_EDGE, e, f, ve, vf));
            else if (f < e)
                TAC_TRY(consider(search, TAC_PAIR_EDGE_EDGE, f, e, vf, ve));
        }
    }
done:
    return err;
}

static enum tac_err visit(void *context, int32_t ia, int32_t ib)
{
    enum tac_err err = TAC_OK;
    struct search *search = context;
    const struct tac_primitive *a = &search->a[ia], *b = &search->b[ib];
    const bool edges = a->edges && b->edges && !search->view->scene->settings->two_d;
    struct placed pa, pb;
    search->cost += VISIT_COST;
    if (!a->vertices && !b->vertices && !edges)
        goto done;
    place(search->c, a, &pa);
    place(search->c, b, &pb);
    const double away = far_away(search, a, &pa, b, &pb);
    TAC_TRY(vertices_against(search, a, &pa, b, &pb, away));
    TAC_TRY(vertices_against(search, b, &pb, a, &pa, away));
    if (a->count == 1 && b->count == 1) {
        if (a->id > b->id) {
            const struct tac_primitive *swap = a;
            a = b;
            b = swap;
        }
        TAC_TRY(consider(search, TAC_PAIR_VERTEX_VERTEX, a->id, b->id, a->v, b->v));
    }
    if (edges)
        TAC_TRY(edges_against(search, a, &pa, b, &pb, away));
done:
    return err;
}

static enum tac_err search_bodies(struct search *search, tac_lid a, tac_lid b, bool remote)
{
    struct tac_candidates *c = search->c;
    const struct tac_scene *s = search->view->scene;
    if (c->still[a] && c->still[b])
        return TAC_OK;
    if (a == b ? !s->settings->body[a].self_contact
               : search->view->model->ignored &&
                     search->view->model->ignored[(size_t)a * (size_t)s->settings->body_count + (size_t)b])
        return TAC_OK;
    search->a = &c->primitive[c->primitive_begin[a]];
    search->b = remote ? &c->remote.primitive[c->remote.begin[b]] : &c->primitive[c->primitive_begin[b]];
    struct tac_tree *other = remote ? c->remote.tree[b] : c->tree[b];
    search->reach = s->settings->contact.thickness + s->settings->body[a].radius + s->settings->body[b].radius;
    /* In coarser meshes hardly any pair has less than the whole thickness: not worth asking. */
    search->fine = a == b && s->settings->body[a].has_elements && s->settings->body[a].radius == 0 &&
                   c->skin < .25 * s->settings->contact.thickness;
    double lo[TAC_DOP_AXES], hi[TAC_DOP_AXES];
    int64_t tests = 0;
    tac_candidates_drift(c, a, b, lo, hi);
    const bool within = a == b && !remote;
    enum tac_err err = search->changed
                           ? tac_tree_overlaps_changed(c->tree[a], other, within ? NULL : lo, hi, visit, search, &tests)
                           : tac_tree_overlaps(c->tree[a], other, within ? NULL : lo, hi, visit, search, &tests);
    search->cost += tests;
    if (within && !search->changed) {
        /* A tree whose order no longer suits the shape costs tests: build it anew. */
        struct tac_tree *tree = c->tree[a];
        if (tree->tests_fresh == 0)
            tree->tests_fresh = tests + 1;
        else if (tests > 2 * tree->tests_fresh + 1000)
            tree->stale = true;
    }
    return err;
}

/* Do our part of body a and the remote part of body b overlap along x? */
static bool sweeps_overlap(const struct tac_candidates *c, tac_lid a, tac_lid b)
{
    double lo, hi;
    tac_candidates_sweep(c, b, c->remote.tree[b], &lo, &hi);
    return lo <= c->sweep[2 * a + 1] && c->sweep[2 * a] <= hi;
}

/* Pairs of bodies by sweeping along x; each body's sweep holds its root box moving with its frame. */
static enum tac_err search_all(struct search *search)
{
    enum tac_err err = TAC_OK;
    struct tac_candidates *c = search->c;
    int32_t n = 0;
    for (tac_lid b = 0; b < c->body_count; b++) {
        if (c->tree[b]->count == 0)
            continue;
        tac_candidates_sweep(c, b, c->tree[b], &c->sweep[2 * b], &c->sweep[2 * b + 1]);
        int32_t k = n++;
        for (; k > 0 && c->sweep[2 * c->order[k - 1]] > c->sweep[2 * b]; k--)
            c->order[k] = c->order[k - 1];
        c->order[k] = b;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i; j < n && c->sweep[2 * c->order[j]] <= c->sweep[2 * c->order[i] + 1]; j++)
            TAC_TRY(search_bodies(search, c->order[i], c->order[j], false));
    /* Ours against what is remote, body by body: of those there are few. */
    for (int32_t i = 0; i < n && c->remote.count; i++)
        for (tac_lid b = 0; b < c->body_count; b++)
            if (c->remote.begin[b + 1] > c->remote.begin[b] && sweeps_overlap(c, c->order[i], b))
                TAC_TRY(search_bodies(search, c->order[i], b, true));
done:
    return err;
}

/* Which bodies have leavers? Their boxes, trees and sweeps become those of the new trajectory bounds. */
static bool refit_body(struct tac_view *view, struct tac_candidates *c, tac_lid b)
{
    const int32_t begin = c->primitive_begin[b], end = c->primitive_begin[b + 1];
    bool any = false;
    if (c->still[b])
        return false;
    for (int32_t p = begin; p < end; p++) {
        c->marked[p] = has_leaver(c, c->primitive[p].v, c->primitive[p].count);
        any |= c->marked[p];
        if (c->marked[p])
            tac_candidates_box(view, c, &c->primitive[p], &c->box[p]);
    }
    return any;
}

static enum tac_err search_changed(struct search *search)
{
    enum tac_err err = TAC_OK;
    struct tac_candidates *c = search->c;
    int32_t changed = 0;
    /* Those with leavers first in c->order, so that the trees of all are refitted before any is searched. */
    for (tac_lid b = 0; b < c->body_count; b++) {
        struct tac_tree *tree = c->tree[b];
        const bool any = refit_body(search->view, c, b);
        if (any) {
            tac_tree_refit_changed(tree, &c->box[c->primitive_begin[b]], &c->marked[c->primitive_begin[b]]);
            tac_candidates_sweep(c, b, tree, &c->sweep[2 * b], &c->sweep[2 * b + 1]);
            c->order[changed++] = b;
        } else {
            memset(tree->changed, 0, (size_t)tree->node_count);
        }
    }
    for (int32_t i = 0; i < changed; i++)
        for (tac_lid b = 0; b < c->body_count; b++) {
            const tac_lid a = c->order[i];
            const bool both =
                c->tree[b]->count > 0 && c->tree[b]->changed[0]; /* then once, by the smaller of the two */
            if (c->tree[b]->count > 0 && !(both && b < a) && c->sweep[2 * a] <= c->sweep[2 * b + 1] &&
                c->sweep[2 * b] <= c->sweep[2 * a + 1])
                TAC_TRY(search_bodies(search, a, b, false));
        }
done:
    return err;
}

/* Limits are always on the list. */
static enum tac_err add_limits(struct search *search)
{
    enum tac_err err = TAC_OK;
    struct tac_view *view = search->view;
    struct tac_candidates *c = search->c;
    struct tac_limit limit = {0};
    while (tac_limits_next(view->model, &limit)) {
        struct tac_form form;
        TAC_TRY(tac_grow(view->ctx, &c->found, &c->capacity_found, search->count + 1, sizeof *c->found));
        struct tac_candidate *q = &c->found[search->count++];
        tac_model_form(view->model, limit.type, limit.v, &form);
        memset(q, 0, sizeof *q);
        q->key = limit.key;
        memcpy(q->v, limit.v, sizeof q->v);
        q->slot = tac_active_find(view->active, q->key);
        q->type = (uint8_t)limit.type;
        q->count = (uint8_t)tac_pair_vertices(limit.type);
        q->first = 1;
        q->d = -INFINITY;
        q->next = q->slot >= 0 ? view->active->pair[q->slot].next : tac_model_reach(view->model, &form, 1);
        q->tolerance = 1e-7 * form.thickness + 1e-14 * c->extent;
    }
done:
    return err;
}

/* Watched pairs that cannot touch any more stay on the list until they are dropped. */
static enum tac_err keep_active(struct search *search)
{
    enum tac_err err = TAC_OK;
    struct tac_view *view = search->view;
    struct tac_candidates *c = search->c;
    for (size_t k = 0; k < search->count; k++)
        if (c->found[k].slot >= 0)
            view->active->pair[c->found[k].slot].listed = 1;
    for (size_t k = 0; k < view->active->pair_count; k++) {
        struct tac_pair *p = &view->active->pair[k];
        if (p->live && !p->listed && p->v[0] < view->state->owned) {
            TAC_TRY(tac_grow(view->ctx, &c->found, &c->capacity_found, search->count + 1, sizeof *c->found));
            struct tac_candidate *q = &c->found[search->count++];
            memset(q, 0, sizeof *q);
            q->key = p->key;
            memcpy(q->v, p->v, sizeof q->v);
            q->slot = (int32_t)k;
            q->type = p->type;
            q->count = p->count;
            q->first = p->first;
            q->next = p->next;
            q->tolerance = 1e-7 * p->form.thickness + 1e-14 * c->extent;
        }
        p->listed = 0;
    }
done:
    return err;
}

enum tac_err tac_candidates_find(struct tac_view *view, struct tac_candidates *c, size_t *count)
{
    struct search search = {.view = view, .c = c};
    enum tac_err err = view->scene->settings->contact.thickness > 0 ? search_all(&search) : TAC_OK;
    if (!err)
        err = add_limits(&search);
    if (!err)
        err = keep_active(&search);
    *count = search.count;
    c->build_cost = search.cost + BOX_COST * (int64_t)c->primitive_begin[c->body_count];
    c->repair_cost = c->looks = 0;
    return err;
}

enum tac_err tac_candidates_find_changed(struct tac_view *view, struct tac_candidates *c, size_t *count)
{
    struct search search = {.view = view, .c = c, .changed = true};
    enum tac_err err = view->scene->settings->contact.thickness > 0 ? search_changed(&search) : TAC_OK;
    *count = search.count;
    c->repair_cost += search.cost + MARK_COST * (int64_t)c->primitive_begin[c->body_count];
    return err;
}
