/* assemble.c: the matrix of a Newton step (docs/reference/implicit.md, Newton iterations).
 *
 * The Hessian of each term is made positive by itself, so the sum is positive. Where the integrator tries negative
 * curvature, the Hessians of solids, or those of solids and barriers, are complete. The order of the lists of stencils,
 * and of the stencils within a list, follows from the scene. Every rank adds the stencils that reach a vertex of its
 * own that Newton's method moves. (Rows of vertices that it does not move have no influence. So the rank of a die
 * leaves the pairs of the die to the owners of what it presses.)
 */
#include "implicit/ranks/implicit_plates.h"
#include "implicit/rigid/rigid_matrix.h"
#include "implicit/system.h"
#include <math.h>

/* ---- structure ---- */

/* One sort of pairs. Each type of pair has its own list of stencils. */
struct sort {
    enum tac_pair_sort sort;
    int stencils; /* the first type's list */
    size_t count;
    const tac_lid *(*pair)(const struct tac_implicit *sim, size_t e, enum tac_pair_type *type); /* its vertices */
    void (*hessian)(const struct tac_implicit *sim, size_t e, const double *x, enum tac_curvature curvature,
                    double *dense);
};

static const tac_lid *sliding_pair(const struct tac_implicit *sim, size_t e, enum tac_pair_type *type)
{
    *type = sim->contact.sliding[e].type;
    return sim->contact.sliding[e].v;
}

static const tac_lid *touching_pair(const struct tac_implicit *sim, size_t e, enum tac_pair_type *type)
{
    *type = tac_implicit_touching(sim, e)->form.type;
    return tac_implicit_touching(sim, e)->v;
}

static const tac_lid *foreseen_pair(const struct tac_implicit *sim, size_t e, enum tac_pair_type *type)
{
    *type = sim->contact.foreseen[e].type;
    return sim->contact.foreseen[e].v;
}

/* Appends a stencil of local ids. */
static tac_lid *append(const struct tac_implicit_system *s, const tac_lid *v, int n, tac_lid *to)
{
    for (int i = 0; i < n; i++)
        *to++ = s->local[v[i]];
    return to;
}

/* Appends one side of a pair, with n vertices. */
static tac_lid *append_side(const struct tac_implicit *sim, const tac_lid *v, int n, bool rigid, tac_lid *to)
{
    if (!rigid)
        return append(sim->system, v, n, to);
    for (tac_lid i = 0; i < TAC_RIGID_NODES; i++)
        *to++ = sim->system->rigid[tac_implicit_rigid_of(sim, v[0])] + i;
    return to;
}

/* Does Newton's method move one of these vertices, which is of this rank? */
static bool moves_own(const struct tac_implicit *sim, const tac_lid *v, int n)
{
    for (int i = 0; i < n; i++)
        if (v[i] < sim->owned && !sim->newton.held[v[i]])
            return true;
    return false;
}

/* A walk over the pairs of a sort with one list of stencils, those of plates that came from other ranks among them. */
struct walk {
    size_t e, next;                    /* the next own pair; of tac_plates_next() */
    const tac_lid *v;                  /* of the present pair */
    const struct tac_plate_pair *came; /* it; NULL: it is an own pair, of number e - 1 */
};

static bool next_pair(const struct tac_implicit *sim, const struct sort *sort, int t, struct walk *w)
{
    const enum tac_pair_type wanted = (enum tac_pair_type)(t / TAC_SIDES);
    const int sides = t % TAC_SIDES, n = tac_pair_vertices(wanted);
    if (sides != 0 && sim->rigid.count == 0)
        return false;
    for (;;) {
        enum tac_pair_type type;
        w->came = tac_plates_next(sim, sort->sort, w->e, &w->next);
        if (w->came == NULL && w->e == sort->count)
            return false;
        if (w->came != NULL)
            type = w->came->type;
        w->v = w->came != NULL ? w->came->v : sort->pair(sim, w->e++, &type);
        if (type == wanted && tac_rigid_sides(sim, w->v, type) == sides && moves_own(sim, w->v, n))
            return true;
    }
}

static tac_lid *list_pairs(const struct tac_implicit *sim, const struct sort *sort, struct tac_stencil_list *list,
                           tac_lid *to)
{
    for (int t = 0; t < TAC_PAIR_LISTS; t++) {
        const int sides = t % TAC_SIDES, first = tac_pair_first((enum tac_pair_type)(t / TAC_SIDES));
        const int n = tac_pair_vertices((enum tac_pair_type)(t / TAC_SIDES));
        struct tac_stencil_list *l = &list[sort->stencils + t];
        *l = (struct tac_stencil_list){0, tac_rigid_nodes_of((enum tac_pair_type)(t / TAC_SIDES), sides), to};
        for (struct walk w = {0}; next_pair(sim, sort, t, &w); l->count++) {
            to = append_side(sim, w.v, first, (sides & TAC_SIDE_FIRST) != 0, to);
            to = append_side(sim, w.v + first, n - first, (sides & TAC_SIDE_SECOND) != 0, to);
        }
    }
    return to;
}

/* Returns how many pairs it evaluates. */
static size_t add_pairs(struct tac_implicit *sim, const struct sort *sort, const double *x,
                        enum tac_curvature curvature, struct tac_matrix *matrix)
{
    size_t evaluated = 0;
    for (int t = 0; t < TAC_PAIR_LISTS; t++) {
        size_t place = 0, next = 0;
        for (struct walk w = {0}; next_pair(sim, sort, t, &w); place++) {
            double of_nodes[4 * TAC_RIGID_SIZE * TAC_RIGID_SIZE];
            const double *dense = w.came != NULL ? w.came->dense : tac_plates_ready(sim, sort->sort, w.e - 1, &next);
            evaluated += w.came == NULL;
            if (dense == NULL) {
                tac_implicit_pair_matrix(sim, sort->sort, w.e - 1, x, curvature, of_nodes);
                dense = of_nodes;
            }
            tac_matrix_add(matrix, sort->stencils + t, place, dense);
        }
    }
    return evaluated;
}

/* ---- values ---- */

static void add_diagonal(struct tac_implicit *sim, struct tac_matrix *matrix)
{
    const struct tac_implicit_system *s = sim->system;
    for (tac_lid i = 0; i < s->nodes.owned; i++) {
        double mass, dense[9] = {0};
        const tac_lid v = s->vertex[i];
        if (v >= 0) {
            const struct tac_implicit_script *script = tac_implicit_script(sim, v);
            mass = script != NULL && script->on && sim->newton.pull > 0 ? sim->newton.pull * script->mass
                                                                        : sim->inertia[v];
            if (sim->newton.held[v]) /* this vertex is no unknown */
                mass = sim->scale.mean_mass;
        } else {
            mass = sim->rigid.piece[(-1 - v) / TAC_RIGID_NODES].inertia;
        }
        dense[0] = dense[4] = dense[8] = mass;
        tac_matrix_add(matrix, 0, (size_t)i, dense);
    }
}

static void project(const struct tac_implicit *sim, const tac_lid *v, int n, double *dense)
{
    bool held[4] = {false, false, false, false};
    for (int i = 0; i < n; i++)
        held[i] = sim->newton.held[v[i]];
    tac_implicit_project(n, held, dense);
}

static void add_elements(struct tac_implicit *sim, const double *x, enum tac_curvature curvature,
                         struct tac_matrix *matrix)
{
    for (struct tac_implicit_walk w = {0}; tac_implicit_next(sim, &w);) {
        const struct tac_element *element = w.list->element;
        const bool as_is = curvature != TAC_CURVATURE_NONE && element->stencils == TAC_STENCILS_TETRAHEDRA;
        void (*const hessian)(const void *, const double *, const double(*)[3], double *) =
            element->convex && !as_is ? element->convex : element->hessian;
        const int size = 9 * w.nodes * w.nodes;
        double at[TAC_ELEMENT_NODES][3], dense[TAC_ELEMENT_HESSIAN], damped[TAC_ELEMENT_HESSIAN];
        tac_implicit_gather(x, w.v, w.nodes, at);
        hessian(w.record, tac_implicit_rest(w.list, w.e), at, dense);
        for (int i = 0; i < size; i++)
            dense[i] *= sim->weight;
        if (w.list->damping[w.e] > 0) {
            hessian(w.record, w.from, at, damped);
            for (int i = 0; i < size; i++)
                dense[i] += sim->weight * sim->rate * w.list->damping[w.e] * damped[i];
        }
        if (!element->convex && !as_is)
            project(sim, w.v, w.nodes, dense);
        tac_matrix_add(matrix, 1 + w.kind, w.e, dense);
    }
}

static void friction_hessian(const struct tac_implicit *sim, size_t e, const double *x, enum tac_curvature curvature,
                             double *dense)
{
    const struct tac_sliding *s = &sim->contact.sliding[e];
    const int n = tac_pair_vertices(s->type), size = 3 * n;
    const double w = sim->scale.h * sim->scale.friction_velocity;
    double u[3], m[3][3];
    const double y = tac_implicit_slide(sim, s, x, u), f = tac_implicit_slide_force(y, w);
    const double bend = y >= w ? 1 / (y * y * y) : y > 0 ? 1 / (w * w * y) : 0;
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
            m[k][l] = s->limit * (f * ((k == l) - s->n[k] * s->n[l]) - bend * u[k] * u[l]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    dense[size * (3 * i + k) + 3 * j + l] = s->w[i] * s->w[j] * m[k][l];
}

static void contact_hessian(const struct tac_implicit *sim, size_t e, const double *x, enum tac_curvature curvature,
                            double *dense)
{
    const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
    const struct tac_barrier_near *near = &sim->contact.touch[e].near;
    const int n = tac_pair_vertices(p->form.type);
    const double kappa = tac_implicit_kappa(sim, p, sim->newton.kappa);
    double at[4][3];
    bool held[4];
    tac_implicit_gather(x, p->v, n, at);
    for (int i = 0; i < n; i++)
        held[i] = sim->newton.held[p->v[i]];
    if (curvature == TAC_CURVATURE_ALL) {
        tac_barrier_hessian(&p->form, at, near, dense);
    } else if (!tac_barrier_convex(&p->form, at, near, held, dense)) {
        tac_barrier_hessian(&p->form, at, near, dense);
        tac_implicit_project(n, held, dense);
    }
    for (int i = 0; i < 9 * n * n; i++)
        dense[i] *= kappa;
}

static void foreseen_hessian(const struct tac_implicit *sim, size_t e, const double *x, enum tac_curvature curvature,
                             double *dense)
{
    const struct tac_foreseen *f = &sim->contact.foreseen[e];
    const int size = 3 * tac_pair_vertices(f->type);
    const double curve = tac_implicit_kappa_of(sim, f->share, sim->newton.kappa) * f->curve;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            dense[size * i + j] = curve * ((f->w[i / 3] * f->n[i % 3]) * (f->w[j / 3] * f->n[j % 3]));
}

static void add_wind(struct tac_implicit *sim, const double *x, struct tac_matrix *matrix)
{
    for (size_t k = 0; k < sim->given.wind_count; k++) {
        double dense[81];
        tac_implicit_wind_hessian(sim, &sim->given.wind[k], x, dense);
        tac_matrix_add(matrix, TAC_WIND_STENCILS, k, dense);
    }
}

/* ---- the whole matrix ---- */

static struct sort sort_of(const struct tac_implicit *sim, enum tac_pair_sort sort)
{
    const struct tac_implicit_contact *c = &sim->contact;
    const struct tac_implicit_joints *j = &sim->rigid.joints;
    const struct sort all[TAC_SORTS] = {
        {TAC_SORT_SLIDING, TAC_FRICTION_STENCILS, c->sliding_count, sliding_pair, friction_hessian},
        {TAC_SORT_TOUCHING, TAC_CONTACT_STENCILS, c->touch_count, touching_pair, contact_hessian},
        {TAC_SORT_FORESEEN, TAC_FORESEEN_STENCILS, c->foreseen_count, foreseen_pair, foreseen_hessian},
        {TAC_SORT_TIED, TAC_TIE_STENCILS, j->tie_count, tac_rigid_tied_pair, tac_rigid_tied_hessian},
        {TAC_SORT_MOTORS, TAC_MOTOR_STENCILS, j->motor_count, tac_rigid_motor_pair, tac_rigid_motor_hessian}};
    return all[sort];
}

int tac_implicit_pair_matrix(const struct tac_implicit *sim, enum tac_pair_sort sort, size_t e, const double *x,
                             enum tac_curvature curvature, double *out)
{
    const struct sort s = sort_of(sim, sort);
    enum tac_pair_type type;
    const tac_lid *v = s.pair(sim, e, &type);
    const int sides = tac_rigid_sides(sim, v, type);
    double dense[144];
    s.hessian(sim, e, x, curvature, sides != 0 ? dense : out);
    if (sides != 0)
        tac_rigid_to_nodes(sim, v, type, sides, dense, out);
    return tac_rigid_nodes_of(type, sides);
}

enum tac_err tac_implicit_list_stencils(struct tac_implicit *sim, struct tac_stencil_list list[TAC_STENCIL_LISTS])
{
    enum tac_err err;
    struct tac_implicit_system *s = sim->system;
    const int each = sim->rigid.count > 0 ? 2 * TAC_RIGID_NODES : 4;
    list[0] = (struct tac_stencil_list){(size_t)s->nodes.owned, 1, s->diagonal};
    for (int k = 0; k < TAC_ELEMENT_LISTS; k++)
        list[1 + k] = k < sim->set.count ? (struct tac_stencil_list){sim->list[k].count, sim->list[k].element->nodes,
                                                                     s->element_node[k]}
                                         : (struct tac_stencil_list){0, 1, NULL};
    size_t stencils = sim->given.wind_count;
    for (enum tac_pair_sort k = 0; k < TAC_SORTS; k++)
        stencils += sort_of(sim, k).count + tac_plates_count(sim, k);
    TAC_TRY(tac_grow(sim->ctx, &s->node, &s->node_capacity, (size_t)each * stencils + 1, sizeof *s->node));
    tac_lid *to = s->node;
    for (enum tac_pair_sort k = 0; k < TAC_SORTS; k++) {
        const struct sort sort = sort_of(sim, k);
        to = list_pairs(sim, &sort, list, to);
    }
    list[TAC_WIND_STENCILS] = (struct tac_stencil_list){sim->given.wind_count, sim->scene->settings->two_d ? 2 : 3, to};
    for (size_t k = 0; k < sim->given.wind_count; k++) {
        const struct tac_load_element *l = &sim->given.loads.element[sim->given.wind[k].element];
        TAC_CHECK(l->count == list[TAC_WIND_STENCILS].nodes);
        to = append(s, l->v, l->count, to);
    }
    list[TAC_RIGID_STENCILS] = (struct tac_stencil_list){sim->rigid.own_count, TAC_RIGID_NODES, s->rigid_node};
done:
    return err;
}

void tac_implicit_assemble(struct tac_implicit *sim, const double *x, enum tac_curvature curvature,
                           struct tac_matrix *matrix)
{
    struct sort sort[TAC_SORTS];
    for (enum tac_pair_sort k = 0; k < TAC_SORTS; k++)
        sort[k] = sort_of(sim, k);
    add_diagonal(sim, matrix);
    add_elements(sim, x, curvature, matrix);
    add_pairs(sim, &sort[TAC_SORT_SLIDING], x, curvature, matrix);
    const size_t touching = add_pairs(sim, &sort[TAC_SORT_TOUCHING], x, curvature, matrix);
    add_wind(sim, x, matrix);
    add_pairs(sim, &sort[TAC_SORT_FORESEEN], x, curvature, matrix);
    tac_rigid_assemble(sim, curvature, matrix);
    add_pairs(sim, &sort[TAC_SORT_TIED], x, curvature, matrix);
    add_pairs(sim, &sort[TAC_SORT_MOTORS], x, curvature, matrix);
    tac_implicit_count_work(sim, TAC_WORK_HESSIAN, touching);
}
