/* candidates_pairs.c: finds the pairs of features of two primitives that may touch while the trajectory bounds hold.
 *
 * Two primitives whose boxes overlap are rejected at once if a lower bound of their distance shows that they cannot
 * touch. The remaining pairs of features are computed four of one type side by side (geometry/distance_four.h).
 */
#include "broadphase/candidates_search.h"
#include "contact/flat.h"
#include "geometry/distance_four.h"
#include "geometry/sweep.h"
#include <string.h>

/* ---- one pair of features ---- */

/* A pair at the time from which the trajectory bounds are searched. */
struct look {
    double d;      /* distance of the centres, m */
    double room;   /* the distance less the radii and rounding, m */
    double travel; /* largest change of the distance over the rest of the lifetime, m */
    double start;  /* distance at the start of the scene, m */
    double clear;  /* for straight paths: a lower bound of `room` on the whole path, along one direction; otherwise
                      -infinity */
};

/* Passes a pair to search->take if it may touch while the trajectory bounds hold. */
static enum tac_err pass_pair_on(struct tac_search *search, enum tac_pair_type type,
                                 const struct tac_waiting_pair *pair, const struct look *look)
{
    struct tac_form form;
    const double start = tac_flat_start(search->view->scene, type, pair->v, look->start);
    tac_model_thickness(search->view->model, pair->v[0], pair->v[tac_pair_first(type)], start, &form);
    const double first = form.radius + form.thickness * search->view->margin, room = look->room - first;
    /* The share of the rest of the lifetime before which the pair cannot touch. */
    const double wait = room <= 0 ? 0 : room / look->travel;
    if (wait > 1 || look->clear > first)
        return TAC_OK;
    const struct tac_found_pair found = {.type = type,
                                         .id = {pair->id[0], pair->id[1]},
                                         .v = {pair->v[0], pair->v[1], pair->v[2], pair->v[3]},
                                         .radius = form.radius,
                                         .thickness = form.thickness,
                                         .d = look->d,
                                         .wait = wait};
    return search->take(search->context, &found);
}

/* The least that two primitives are apart along the unit vector `along`, at the start and at the end of their
 * displacements u, and so in between.  The first has the first vertices. */
static double least_along(int first, int n, const double along[3], const double (*x)[3], const double (*u)[3])
{
    double least = INFINITY;
    for (int i = 0; i < first; i++)
        for (int j = first; j < n; j++) {
            double d[3], relative[3];
            tac_sub(d, x[i], x[j]);
            tac_sub(relative, u[i], u[j]);
            const double begin = tac_dot(along, d), end = begin + tac_dot(along, relative);
            least = begin < least ? begin : least;
            least = end < least || !(end == end) ? end : least; /* what is no number stays */
        }
    return least;
}

/* Looks at one pair of any type. */
static enum tac_err look_at_one(struct tac_search *search, enum tac_pair_type type, const struct tac_waiting_pair *pair)
{
    const struct tac_candidates *c = search->c;
    const int first = tac_pair_first(type), n = tac_pair_vertices(type);
    double x[4][3], u[4][3], ra = 0, rb = 0;
    struct tac_near near;
    struct look look;
    for (int i = 0; i < n; i++) {
        const struct tac_path_bound *path_bound = &c->path_bound[pair->v[i]];
        for (int k = 0; k < 3; k++) {
            x[i][k] = path_bound->x[k] + c->from_s * path_bound->v[k];
            u[i][k] = (c->span_s - c->from_s) * path_bound->v[k];
        }
        if (i < first)
            ra = ra > path_bound->radius ? ra : path_bound->radius;
        else
            rb = rb > path_bound->radius ? rb : path_bound->radius;
    }
    tac_near_pair(type, x, &near);
    look.clear = -INFINITY;
    if (search->straight)
        look.clear = least_along(first, n, near.n, x, u) - ra - rb - 1e-12 * c->extent;
    look.d = near.d;
    look.room = near.d - ra - rb - 1e-12 * c->extent;
    look.travel = tac_relative(type, u);
    if (look.room - look.travel > pair->reach || look.clear > pair->reach)
        return TAC_OK;
    for (int i = 0; i < n; i++)
        memcpy(x[i], &search->view->scene->mesh->x[3 * pair->v[i]], sizeof x[i]);
    tac_near_pair(type, x, &near);
    look.start = near.d;
    return pass_pair_on(search, type, pair, &look);
}

/* Four rows of four numbers, from the addresses p[]. */
TAC_FOUR_INLINE void load(tac_four row[4], const double *const p[4])
{
    for (int l = 0; l < 4; l++)
        memcpy(&row[l], p[l], sizeof row[l]);
}

/* Computes the distances of four pairs of one type, and unit vectors along them, as tac_near_pair() does. */
TAC_FOUR_INLINE tac_four distances(int edges, const tac_four x[4][3], tac_four along[3])
{
    struct tac_near_four near;
    int careful = 0;
    if (edges)
        (void)tac_near_four_edge_edge(x, &near); /* its result is about mollifiers */
    else
        careful = tac_near_four_vertex_triangle(x, &near);
    for (int l = 0; l < 4; l++)
        if (careful >> l & 1) {
            double y[4][3];
            struct tac_near one;
            for (int k = 0; k < 4; k++)
                for (int c = 0; c < 3; c++)
                    y[k][c] = x[k][c][l];
            tac_near_vertex_triangle(y, &one);
            near.d[l] = one.d;
            for (int c = 0; c < 3; c++)
                near.n[c][l] = one.n[c];
        }
    for (int c = 0; c < 3; c++)
        along[c] = near.n[c];
    return near.d;
}

/* least_along() of four pairs. */
TAC_FOUR_INLINE tac_four four_along(int first, const tac_four along[3], const tac_four x[4][3], const tac_four u[4][3])
{
    tac_four least = tac_four_all(INFINITY);
    for (int i = 0; i < first; i++)
        for (int j = first; j < 4; j++) {
            tac_four d[3], relative[3];
            tac_four_sub(d, x[i], x[j]);
            tac_four_sub(relative, u[i], u[j]);
            const tac_four begin = tac_four_dot(along, d), end = begin + tac_four_dot(along, relative);
            least = tac_four_select(begin < least, begin, least);
            least = tac_four_select((end < least) | ~(end == end), end, least);
        }
    return least;
}

/* Does what look_at_one() does, for four pairs of one type side by side; if `count` is less, the others repeat the
 * first. */
TAC_VERSIONS
static enum tac_err look_at_four(struct tac_search *search, int edges, const struct tac_waiting_pair *pair, int count)
{
    enum tac_err err = TAC_OK;
    const struct tac_candidates *c = search->c;
    const enum tac_pair_type type = edges ? TAC_PAIR_EDGE_EDGE : TAC_PAIR_VERTEX_TRIANGLE;
    const int first = tac_pair_first(type);
    const struct tac_waiting_pair *p[4] = {pair, pair + (count > 1 ? 1 : 0), pair + (count > 2 ? 2 : 0),
                                           pair + (count > 3 ? 3 : 0)};
    const tac_four from = tac_four_all(c->from_s), left = tac_four_all(c->span_s - c->from_s), zero = tac_four_all(0);
    tac_four x[4][3], u[4][3], ra = zero, rb = zero, squared = zero;
    for (int k = 0; k < 4; k++) {
        const struct tac_path_bound *bound[4];
        tac_four xs[4], vs[4];
        for (int l = 0; l < 4; l++)
            bound[l] = &c->path_bound[p[l]->v[k]];
        load(xs, (const double *const[4]){bound[0]->x, bound[1]->x, bound[2]->x, bound[3]->x});
        load(vs, (const double *const[4]){bound[0]->v, bound[1]->v, bound[2]->v, bound[3]->v});
        const tac_four radius = {vs[0][3], vs[1][3], vs[2][3], vs[3][3]}; /* it is behind v */
        tac_four_columns(x[k], xs[0] + from * vs[0], xs[1] + from * vs[1], xs[2] + from * vs[2], xs[3] + from * vs[3]);
        tac_four_columns(u[k], left * vs[0], left * vs[1], left * vs[2], left * vs[3]);
        if (k < first)
            ra = tac_four_select(ra > radius, ra, radius);
        else
            rb = tac_four_select(rb > radius, rb, radius);
    }
    for (int i = 0; i < first; i++)
        for (int j = first; j < 4; j++) {
            tac_four d[3];
            tac_four_sub(d, u[i], u[j]);
            const tac_four dd = tac_four_dot(d, d);
            squared = tac_four_select(dd > squared, dd, squared);
        }
    tac_four along[3];
    const tac_four d = distances(edges, x, along), room = d - ra - rb - tac_four_all(1e-12 * c->extent),
                   travel = tac_four_sqrt(squared), reach = {p[0]->reach, p[1]->reach, p[2]->reach, p[3]->reach};
    tac_four clear = tac_four_all(-INFINITY);
    if (search->straight)
        clear = four_along(first, along, x, u) - ra - rb - tac_four_all(1e-12 * c->extent);
    const int gone = tac_four_lanes((room - travel > reach) | (clear > reach));
    if (gone == 0xf)
        return TAC_OK;
    const double *at = search->view->scene->mesh->x;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) {
            const tac_four row = {at[3 * p[0]->v[k] + i], at[3 * p[1]->v[k] + i], at[3 * p[2]->v[k] + i],
                                  at[3 * p[3]->v[k] + i]};
            x[k][i] = row;
        }
    const tac_four start = distances(edges, x, along);
    for (int l = 0; l < count; l++)
        if (!(gone >> l & 1))
            TAC_TRY(pass_pair_on(search, type, p[l], &(struct look){d[l], room[l], travel[l], start[l], clear[l]}));
done:
    return err;
}

enum tac_err tac_search_flush(struct tac_search *search)
{
    enum tac_err err = TAC_OK;
    for (int edges = 0; edges < 2; edges++) {
        const int count = search->waiting_count[edges];
        search->waiting_count[edges] = 0;
        if (count)
            TAC_TRY(look_at_four(search, edges, search->waiting[edges], count));
    }
done:
    return err;
}

/* Returns whether this rank has to find the pair. */
static bool is_ours(const struct tac_view *view, enum tac_pair_type type, const tac_lid *v)
{
    if (!view->every_owner)
        return tac_model_decider(view->model, type, v) < view->state->owned;
    for (int i = 0; i < tac_pair_vertices(type); i++)
        if (v[i] < view->state->owned && (!view->movers_only || view->model->w_ever[v[i]] > 0))
            return true;
    return false;
}

/* Looks at a pair, now or when there are four of its type. */
static enum tac_err consider_pair(struct tac_search *search, enum tac_pair_type type, tac_lid id_a, tac_lid id_b,
                                  const tac_lid *va, const tac_lid *vb)
{
    const struct tac_view *view = search->view;
    const int first = tac_pair_first(type), n = tac_pair_vertices(type), edges = type == TAC_PAIR_EDGE_EDGE;
    struct tac_waiting_pair pair = {{id_a, id_b}, {-1, -1, -1, -1}, search->reach};
    double w = 0;
    for (int i = 0; i < n; i++) {
        pair.v[i] = i < first ? va[i] : vb[i - first];
        w += view->model->w_ever[pair.v[i]];
    }
    if (w == 0 || !is_ours(view, type, pair.v) || tac_flat_omits(view->scene, view->model->w_ever, type, pair.v))
        return TAC_OK;
    for (int i = 0; i < first; i++)
        for (int j = first; j < n; j++)
            if (pair.v[i] == pair.v[j])
                return TAC_OK;
    if (search->changed && !tac_has_leaver(search->c, pair.v, n))
        return TAC_OK;
    search->cost += TAC_PAIR_COST;
    if (type > TAC_PAIR_EDGE_EDGE)
        return look_at_one(search, type, &pair);
    search->waiting[edges][search->waiting_count[edges]++] = pair;
    if (search->waiting_count[edges] < 4)
        return TAC_OK;
    search->waiting_count[edges] = 0;
    return look_at_four(search, edges, search->waiting[edges], 4);
}

/* ---- two primitives whose boxes overlap ---- */

/* The start positions of the centres of a primitive's trajectory bounds, their displacements over the rest of the
 * lifetime, and the largest radius. */
struct placed {
    double x[3][4], u[3][4]; /* the fourth numbers mean nothing */
    double radius;
};

TAC_FOUR_INLINE void place(const struct tac_candidates *c, const struct tac_primitive *p, struct placed *out)
{
    const tac_four from = tac_four_all(c->from_s), left = tac_four_all(c->span_s - c->from_s);
    out->radius = 0;
    for (int i = 0; i < p->count; i++) {
        const struct tac_path_bound *path_bound = &c->path_bound[p->v[i]];
        tac_four x, v;
        memcpy(&x, path_bound->x, sizeof x);
        memcpy(&v, path_bound->v, sizeof v);
        x = x + from * v;
        v = left * v;
        memcpy(out->x[i], &x, sizeof x);
        memcpy(out->u[i], &v, sizeof v);
        out->radius = path_bound->radius > out->radius ? path_bound->radius : out->radius;
    }
}

/* Returns the distance of positions beyond which every pair of the two primitives can be left out. */
TAC_FOUR_INLINE double far_away(const struct tac_search *search, const struct tac_primitive *a, const struct placed *pa,
                                const struct tac_primitive *b, const struct placed *pb)
{
    tac_four rows[3], ub[3], squared = tac_four_all(0);
    for (int j = 0; j < 3; j++)
        memcpy(&rows[j], pb->u[j < b->count ? j : 0], sizeof rows[j]);
    tac_four_columns(ub, rows[0], rows[1], rows[2], rows[2]);
    for (int i = 0; i < a->count; i++) {
        const tac_four ua[3] = {tac_four_all(pa->u[i][0]), tac_four_all(pa->u[i][1]), tac_four_all(pa->u[i][2])};
        tac_four d[3];
        tac_four_sub(d, ua, ub);
        const tac_four dd = tac_four_dot(d, d);
        squared = tac_four_select(dd > squared, dd, squared);
    }
    const double one = squared[0] > squared[1] ? squared[0] : squared[1], most = squared[2] > one ? squared[2] : one;
    return search->reach + pa->radius + pb->radius + sqrt(most) + 2e-12 * search->c->extent;
}

/* Proves quickly that a point is farther than `away` from a primitive of n vertices: along the direction from their
 * mean. */
static bool is_far(const double *x, const double (*y)[4], int n, double away)
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

/* Does the same for two edges, along the line from midpoint to midpoint. */
TAC_FOUR_INLINE bool edges_are_far(const double *a0, const double *a1, const double *b0, const double *b1, double away)
{
    double a[3], b[3], along[3];
    for (int k = 0; k < 3; k++) {
        a[k] = a1[k] - a0[k];
        b[k] = b1[k] - b0[k];
        along[k] = a0[k] + a1[k] - b0[k] - b1[k]; /* twice the difference of the midpoints */
    }
    const double length = tac_dot(along, along),
                 room = .5 * (length - fabs(tac_dot(along, a)) - fabs(tac_dot(along, b)));
    return room > 0 && room * room > away * away * length;
}

/* Returns a smaller value than `away` for one pair of neighbours in a fine mesh, with na and nb vertices: the thickness
 * of such a pair is at most a part of its distance at the start (contact.rest_fraction), and this distance is at most
 * that of any two of their vertices. */
static double far_for(const struct tac_search *search, const tac_lid *va, int na, const tac_lid *vb, int nb,
                      double away)
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
    return away - search->reach + search->view->margin * fmin(thickness, s->settings->contact.rest_fraction * least);
}

static bool has_vertex(const struct tac_primitive *p, tac_lid v)
{
    return p->v[0] == v || (p->count > 1 && p->v[1] == v) || (p->count > 2 && p->v[2] == v);
}

static enum tac_err vertices_against(struct tac_search *search, const struct tac_primitive *a, const struct placed *pa,
                                     const struct tac_primitive *b, const struct placed *pb, double away)
{
    enum tac_err err = TAC_OK;
    if (b->count == 1)
        return TAC_OK;
    for (int k = 0; k < a->count; k++)
        if ((a->vertices >> k & 1) && !has_vertex(b, a->v[k]) && !is_far(pa->x[k], pb->x, b->count, away) &&
            !(search->fine && is_far(pa->x[k], pb->x, b->count, far_for(search, &a->v[k], 1, b->v, b->count, away))))
            TAC_TRY(consider_pair(search, b->count == 3 ? TAC_PAIR_VERTEX_TRIANGLE : TAC_PAIR_VERTEX_SEGMENT,
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

static enum tac_err edges_against(struct tac_search *search, const struct tac_primitive *a, const struct placed *pa,
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
                TAC_TRY(consider_pair(search, TAC_PAIR_EDGE_EDGE, e, f, ve, vf));
            else if (f < e)
                TAC_TRY(consider_pair(search, TAC_PAIR_EDGE_EDGE, f, e, vf, ve));
        }
    }
done:
    return err;
}

TAC_VERSIONS
enum tac_err tac_search_visit(void *context, int32_t ia, int32_t ib)
{
    enum tac_err err = TAC_OK;
    struct tac_search *search = context;
    const struct tac_primitive *a = &search->a[ia], *b = &search->b[ib];
    const bool edges = a->edges && b->edges && !search->view->scene->settings->two_d;
    struct placed pa, pb;
    if (search->c->crossing && a->inner && b->inner)
        goto done;
    if (a->piece >= 0 && a->piece == b->piece)
        goto done;
    if (search->view->movers_only && !a->mover && !b->mover)
        goto done;
    search->cost += TAC_VISIT_COST;
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
        TAC_TRY(consider_pair(search, TAC_PAIR_VERTEX_VERTEX, a->id, b->id, a->v, b->v));
    }
    if (edges)
        TAC_TRY(edges_against(search, a, &pa, b, &pb, away));
done:
    return err;
}
