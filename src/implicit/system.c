/* system.c: the linear system of a Newton step (docs/implicit.md, Newton iterations).
 *
 * Each term's Hessian is projected on its own, so the sum is positive.  Lists of stencils, and the stencils within a
 * list, have an order that follows from the scene; every rank adds those that reach a vertex of its own.
 */
#include "implicit/implicit.h"
#include "solve/solver.h"
#include <math.h>
#include <stdlib.h>

enum {
    MOST_ITERATIONS = 10000,
    WINDS = 1 + TAC_ELEMENT_LISTS + 2 * TAC_PAIR_TYPES,
    FORESEEN,
    LISTS = FORESEEN + TAC_PAIR_TYPES
};

struct tac_implicit_system {
    struct tac_solver *solver; /* owned */
    struct tac_nodes nodes;
    tac_gid *id;                              /* owned, (count): of the nodes: own vertices, then all others */
    int32_t *owner;                           /* owned, (count) */
    tac_lid *local;                           /* owned, (count): place of a vertex among the nodes */
    tac_lid *diagonal;                        /* owned, (owned): 0, 1, ... */
    tac_lid *element_node[TAC_ELEMENT_LISTS]; /* owned */
    size_t node_capacity;
    tac_lid *node;                   /* owned: of friction's stencils and contacts */
    double *b, *position, *solution; /* owned, (owned, 3), (owned, 3), (count, 3) */
    uint8_t *fixed;                  /* owned, (owned) */
    bool cut;                        /* made in this step */
    bool rough;                      /* the last solution: tac_implicit_sharpen() would make it more exact */
    bool cut_short;                  /* the last solution: rounding has made the matrix indefinite */
};

void tac_implicit_system_destroy(struct tac_implicit_system **system)
{
    struct tac_implicit_system *s = *system;
    if (s == NULL)
        return;
    tac_solver_destroy(&s->solver);
    free(s->id);
    free(s->owner);
    free(s->local);
    free(s->diagonal);
    for (int k = 0; k < TAC_ELEMENT_LISTS; k++)
        free(s->element_node[k]);
    free(s->node);
    free(s->b);
    free(s->position);
    free(s->solution);
    free(s->fixed);
    free(s);
    *system = NULL;
}

/* Own vertices first, then all others: which of those a rank needs changes with every contact. */
static void number_nodes(struct tac_implicit *sim, struct tac_implicit_system *s)
{
    tac_lid own = 0, other = sim->owned;
    for (tac_lid v = 0; v < sim->count; v++) {
        const tac_lid place = tac_implicit_mine(sim, v) ? own++ : other++;
        s->local[v] = place;
        s->id[place] = v;
        s->owner[place] = sim->owner ? sim->owner[v] : 0;
    }
    s->nodes = (struct tac_nodes){sim->count, sim->owned, s->id, s->owner};
    for (tac_lid i = 0; i < sim->owned; i++)
        s->diagonal[i] = i;
}

enum tac_err tac_implicit_system_create(struct tac_implicit *sim)
{
    enum tac_err err;
    struct tac_implicit_system *s = NULL;
    const size_t n = (size_t)sim->count, own = (size_t)sim->owned;
    TAC_TRY(tac_alloc(sim->ctx, 1, sizeof *s, &s));
    sim->system = s;
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *s->id, &s->id));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *s->owner, &s->owner));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *s->local, &s->local));
    TAC_TRY(tac_alloc(sim->ctx, 3 * n, sizeof *s->solution, &s->solution));
    TAC_TRY(tac_alloc(sim->ctx, own, sizeof *s->diagonal, &s->diagonal));
    TAC_TRY(tac_alloc(sim->ctx, 3 * own, sizeof *s->b, &s->b));
    TAC_TRY(tac_alloc(sim->ctx, 3 * own, sizeof *s->position, &s->position));
    TAC_TRY(tac_alloc(sim->ctx, own, sizeof *s->fixed, &s->fixed));
    number_nodes(sim, s);
    for (int k = 0; k < sim->set.count; k++) {
        const struct tac_implicit_elements *l = &sim->list[k];
        const size_t m = (size_t)l->element->nodes;
        TAC_TRY(tac_alloc(sim->ctx, l->count * m, sizeof *s->element_node[k], &s->element_node[k]));
        for (size_t e = 0; e < l->count; e++)
            for (size_t i = 0; i < m; i++)
                s->element_node[k][e * m + i] = s->local[tac_element_stencil(&sim->set.list[k], l->of[e])[i]];
    }
done:
    err = tac_agree(sim->ctx, err);
    static const char *const kind[] = {[TAC_SOLVER_INVARIANT] = "invariant", [TAC_SOLVER_PETSC] = "petsc"};
    const struct tac_implicit_settings *settings = &sim->scene->settings->implicit;
    return err ? err : tac_solver_create(sim->ctx, kind[settings->solver], settings->solver_options, &s->solver);
}

enum tac_err tac_implicit_begin_system(struct tac_implicit *sim)
{
    sim->system->cut = false;
    return TAC_OK;
}

/* ---- structure ---- */

/* Appends a stencil of local ids. */
static tac_lid *append(const struct tac_implicit_system *s, const tac_lid *v, int n, tac_lid *to)
{
    for (int i = 0; i < n; i++)
        *to++ = s->local[v[i]];
    return to;
}

/* Stencils of one type of pair of friction, then of contact, follow each other in s->node. */
static enum tac_err list_stencils(struct tac_implicit *sim, struct tac_stencil_list list[LISTS])
{
    enum tac_err err;
    struct tac_implicit_system *s = sim->system;
    list[0] = (struct tac_stencil_list){(size_t)sim->owned, 1, s->diagonal};
    for (int k = 0; k < TAC_ELEMENT_LISTS; k++)
        list[1 + k] = k < sim->set.count ? (struct tac_stencil_list){sim->list[k].count, sim->list[k].element->nodes,
                                                                     s->element_node[k]}
                                         : (struct tac_stencil_list){0, 1, NULL};
    TAC_TRY(tac_grow(sim->ctx, &s->node, &s->node_capacity,
                     4 * (sim->contact.sliding_count + sim->contact.touch_count + sim->contact.foreseen_count +
                          sim->given.wind_count) +
                         1,
                     sizeof *s->node));
    tac_lid *to = s->node;
    for (int t = 0; t < TAC_PAIR_TYPES; t++) {
        struct tac_stencil_list *l = &list[1 + TAC_ELEMENT_LISTS + t];
        *l = (struct tac_stencil_list){0, tac_pair_vertices((enum tac_pair_type)t), to};
        for (size_t e = 0; e < sim->contact.sliding_count; e++)
            if ((int)sim->contact.sliding[e].type == t) {
                to = append(s, sim->contact.sliding[e].v, l->nodes, to);
                l->count++;
            }
    }
    for (int t = 0; t < TAC_PAIR_TYPES; t++) {
        struct tac_stencil_list *l = &list[1 + TAC_ELEMENT_LISTS + TAC_PAIR_TYPES + t];
        *l = (struct tac_stencil_list){0, tac_pair_vertices((enum tac_pair_type)t), to};
        for (size_t e = 0; e < sim->contact.touch_count; e++) {
            const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
            if ((int)p->form.type == t) {
                to = append(s, p->v, l->nodes, to);
                l->count++;
            }
        }
    }
    list[WINDS] = (struct tac_stencil_list){sim->given.wind_count, sim->scene->settings->two_d ? 2 : 3, to};
    for (size_t k = 0; k < sim->given.wind_count; k++) {
        const struct tac_load_element *l = &sim->given.loads.element[sim->given.wind[k].element];
        TAC_CHECK(l->count == list[WINDS].nodes);
        to = append(s, l->v, l->count, to);
    }
    for (int t = 0; t < TAC_PAIR_TYPES; t++) {
        struct tac_stencil_list *l = &list[FORESEEN + t];
        *l = (struct tac_stencil_list){0, tac_pair_vertices((enum tac_pair_type)t), to};
        for (size_t e = 0; e < sim->contact.foreseen_count; e++)
            if ((int)sim->contact.foreseen[e].type == t) {
                to = append(s, sim->contact.foreseen[e].v, l->nodes, to);
                l->count++;
            }
    }
done:
    return err;
}

/* ---- values ---- */

static void add_diagonal(struct tac_implicit *sim, struct tac_matrix *matrix)
{
    for (tac_lid i = 0; i < sim->owned; i++) {
        const tac_lid v = tac_implicit_vertex(sim, i);
        const struct tac_implicit_script *script =
            sim->scripts.script_of[v] >= 0 ? &sim->scripts.script[sim->scripts.script_of[v]] : NULL;
        double mass = sim->scene->mesh->mass[v], dense[9] = {0};
        if (script != NULL && script->on && sim->newton.pull > 0)
            mass = sim->newton.pull * script->mass;
        if (sim->newton.held[v]) /* nothing is solved for there */
            mass = sim->scale.mean_mass;
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

static void add_elements(struct tac_implicit *sim, const double *x, struct tac_matrix *matrix)
{
    for (struct tac_implicit_walk w = {0}; tac_implicit_next(sim, &w);) {
        const struct tac_element *element = w.list->element;
        void (*const hessian)(const void *, const double *, const double(*)[3], double *) =
            element->convex ? element->convex : element->hessian;
        const int size = 9 * w.nodes * w.nodes;
        double at[4][3], dense[144], damped[144];
        tac_implicit_gather(x, w.v, w.nodes, at);
        hessian(w.record, tac_implicit_rest(w.list, w.e), at, dense);
        for (int i = 0; i < size; i++)
            dense[i] *= sim->weight;
        if (w.list->damping[w.e] > 0) {
            hessian(w.record, w.from, at, damped);
            for (int i = 0; i < size; i++)
                dense[i] += sim->weight * sim->rate * w.list->damping[w.e] * damped[i];
        }
        if (!element->convex)
            project(sim, w.v, w.nodes, dense);
        tac_matrix_add(matrix, 1 + w.kind, w.e, dense);
    }
}

static void friction_hessian(const struct tac_implicit *sim, const struct tac_sliding *s, const double *x,
                             double *dense)
{
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

static void add_friction(struct tac_implicit *sim, const double *x, struct tac_matrix *matrix)
{
    for (int t = 0; t < TAC_PAIR_TYPES; t++) {
        size_t place = 0;
        for (size_t e = 0; e < sim->contact.sliding_count; e++) {
            double dense[144];
            if ((int)sim->contact.sliding[e].type != t)
                continue;
            friction_hessian(sim, &sim->contact.sliding[e], x, dense);
            tac_matrix_add(matrix, 1 + TAC_ELEMENT_LISTS + t, place++, dense);
        }
    }
}

static void add_contacts(struct tac_implicit *sim, const double *x, struct tac_matrix *matrix)
{
    for (int t = 0; t < TAC_PAIR_TYPES; t++) {
        size_t place = 0;
        for (size_t e = 0; e < sim->contact.touch_count; e++) {
            const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
            const int n = tac_pair_vertices(p->form.type);
            double at[4][3], dense[144];
            bool held[4];
            if ((int)p->form.type != t)
                continue;
            tac_implicit_gather(x, p->v, n, at);
            for (int i = 0; i < n; i++)
                held[i] = sim->newton.held[p->v[i]];
            if (!tac_barrier_convex(&p->form, at, &sim->contact.touch[e].near, held, dense)) {
                tac_barrier_hessian(&p->form, at, &sim->contact.touch[e].near, dense);
                tac_implicit_project(n, held, dense);
            }
            const double kappa = tac_implicit_kappa(sim, p, sim->newton.kappa);
            for (int i = 0; i < 9 * n * n; i++)
                dense[i] *= kappa;
            tac_matrix_add(matrix, 1 + TAC_ELEMENT_LISTS + TAC_PAIR_TYPES + t, place++, dense);
        }
    }
}

static void add_wind(struct tac_implicit *sim, const double *x, struct tac_matrix *matrix)
{
    for (size_t k = 0; k < sim->given.wind_count; k++) {
        double dense[81];
        tac_implicit_wind_hessian(sim, &sim->given.wind[k], x, dense);
        tac_matrix_add(matrix, WINDS, k, dense);
    }
}

static void add_foreseen(struct tac_implicit *sim, struct tac_matrix *matrix)
{
    for (int t = 0; t < TAC_PAIR_TYPES; t++) {
        size_t place = 0;
        for (size_t e = 0; e < sim->contact.foreseen_count; e++) {
            const struct tac_foreseen *f = &sim->contact.foreseen[e];
            const int n = tac_pair_vertices(f->type), size = 3 * n;
            double dense[144];
            if ((int)f->type != t)
                continue;
            const double curve = tac_implicit_kappa_of(sim, f->share, sim->newton.kappa) * f->curve;
            for (int i = 0; i < size; i++)
                for (int j = 0; j < size; j++)
                    dense[size * i + j] = curve * ((f->w[i / 3] * f->n[i % 3]) * (f->w[j / 3] * f->n[j % 3]));
            tac_matrix_add(matrix, FORESEEN + t, place++, dense);
        }
    }
}

/* ---- the solution ---- */

static void set_right_side(struct tac_implicit *sim, const double *x)
{
    struct tac_implicit_system *s = sim->system;
    for (tac_lid i = 0; i < sim->owned; i++) {
        const size_t v = (size_t)tac_implicit_vertex(sim, i);
        s->fixed[i] = sim->newton.held[v];
        for (size_t k = 0; k < 3; k++) {
            s->position[3 * (size_t)i + k] = x[3 * v + k];
            s->b[3 * (size_t)i + k] = sim->newton.held[v] ? 0 : -sim->newton.gradient[3 * v + k];
        }
    }
    for (size_t e = 0; e < sim->contact.foreseen_count; e++) {
        const struct tac_foreseen *f = &sim->contact.foreseen[e];
        const double force =
            tac_implicit_kappa_of(sim, f->share, sim->newton.kappa) * tac_implicit_foreseen_force(f, x);
        for (int i = 0; i < tac_pair_vertices(f->type); i++)
            for (size_t k = 0; tac_implicit_mine(sim, f->v[i]) && !sim->newton.held[f->v[i]] && k < 3; k++)
                s->b[3 * (size_t)s->local[f->v[i]] + k] -= force * f->w[i] * f->n[k];
    }
}

/* What is not converged may still lead downhill; the line search decides.  system NULL: on from the last solution. */
static enum tac_err solve(struct tac_implicit *sim, const struct tac_system *system, double rough)
{
    enum tac_err err;
    struct tac_implicit_system *s = sim->system;
    struct tac_solve_result result;
    const struct tac_solve_rule rule = {.tolerance = sim->scene->settings->implicit.solver_tolerance,
                                        .limit = MOST_ITERATIONS,
                                        .rough = rough,
                                        .go_on = system == NULL};
    if (system != NULL) {
        if (!s->cut)
            TAC_TRY(tac_solver_cut(s->solver, system));
        s->cut = true;
        TAC_TRY(tac_solver_factor(s->solver, system));
    }
    err = tac_solver_solve_by(s->solver, s->b, s->solution, &rule, &result);
    s->rough = !err && result.outcome == TAC_SOLVE_ROUGH;
    s->cut_short = err && result.outcome == TAC_SOLVE_NOT_POSITIVE;
    if (err && (s->cut_short || result.outcome == TAC_SOLVE_LIMIT || result.outcome == TAC_SOLVE_STALLED)) {
        sim->ctx->error[0] = '\0';
        err = TAC_OK;
    }
    sim->told.linear += result.iterations;
    for (tac_lid i = 0; i < sim->count && !err; i++)
        for (size_t k = 0; k < 3; k++) /* + 0: no -0 where nothing moves */
            sim->newton.p[3 * (size_t)s->id[i] + k] = s->solution[3 * (size_t)i + k] + 0.;
done:
    return err;
}

bool tac_implicit_is_exact(const struct tac_implicit *sim)
{
    return !sim->system->cut_short;
}

enum tac_err tac_implicit_sharpen(struct tac_implicit *sim)
{
    const double begin_s = tac_wall_s();
    const enum tac_err err = sim->system->rough ? solve(sim, NULL, 0) : TAC_OK;
    sim->books.counters.seconds_contact += tac_wall_s() - begin_s;
    return err;
}

enum tac_err tac_implicit_direction(struct tac_implicit *sim, const double *x, double rough)
{
    enum tac_err err;
    struct tac_implicit_system *s = sim->system;
    struct tac_matrix *matrix = NULL;
    struct tac_stencil_list list[LISTS];
    const double begin_s = tac_wall_s();
    TAC_TRY(list_stencils(sim, list));
    TAC_TRY(tac_matrix_create(sim->ctx, &s->nodes, LISTS, list, &matrix));
    add_diagonal(sim, matrix);
    add_elements(sim, x, matrix);
    add_friction(sim, x, matrix);
    add_contacts(sim, x, matrix);
    add_wind(sim, x, matrix);
    add_foreseen(sim, matrix);
    set_right_side(sim, x);
done:
    err = tac_agree(sim->ctx, err);
    sim->books.counters.seconds_forces += tac_wall_s() - begin_s;
    const double solve_s = tac_wall_s();
    const struct tac_system system = {.nodes = s->nodes, .matrix = matrix, .position = s->position, .fixed = s->fixed};
    if (!err)
        err = solve(sim, &system, rough);
    sim->books.counters.seconds_contact += tac_wall_s() - solve_s;
    tac_matrix_destroy(&matrix);
    return err;
}
