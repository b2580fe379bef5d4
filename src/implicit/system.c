/* system.c: solves the linear system of a Newton step (docs/reference/implicit.md, Newton iterations). */
#include "implicit/system.h"
#include "base/exchange.h"
#include "implicit/ranks/implicit_plates.h"
#include <math.h>
#include <stdlib.h>

/* Shares of the slope by which the potential falls along a direction; the quadratic model predicts a half. */
#define TAC_CRAWL .6       /* a direction with a larger share is too short */
#define TAC_CRAWL_EVEN .05 /* two shares that differ by less show slow, linear convergence */
#define TAC_FALL_GOOD                                                                                                  \
    .1 /* distance of the share from a half: after such a direction with all curvature the next one has it, too */

enum {
    MOST_ITERATIONS = 10000,
    MOST_WAITS = 8,
    MOST_WHOLE = 150 /* Newton iterations of a step: after so many the negative curvature of solids is left out */
};

void tac_implicit_system_destroy(struct tac_implicit_system **system)
{
    struct tac_implicit_system *s = *system;
    if (s == NULL)
        return;
    tac_solver_destroy(&s->solver);
    free(s->id);
    free(s->owner);
    free(s->vertex);
    free(s->local);
    free(s->rigid);
    free(s->rigid_node);
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

static tac_gid vertex_total(const struct tac_implicit *sim)
{
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    return mesh->part != NULL ? mesh->part->vertex_total : mesh->vertex_count;
}

/* Lists the nodes of a rigid body. Their ids follow those of all vertices. */
static void number_body(const struct tac_implicit *sim, struct tac_implicit_system *s, int32_t k, int32_t owner,
                        tac_lid *place)
{
    s->rigid[k] = *place;
    for (tac_lid n = TAC_RIGID_NODES * k; n < TAC_RIGID_NODES * (k + 1); n++) {
        s->id[*place] = vertex_total(sim) + n;
        s->owner[*place] = owner;
        s->vertex[(*place)++] = -1 - n;
    }
}

/* Lists the vertices and nodes that this rank holds now. */
static enum tac_err number_nodes(struct tac_implicit *sim, struct tac_implicit_system *s)
{
    enum tac_err err;
    const struct tac_part *part = sim->scene->mesh->part;
    const size_t bodies = sim->rigid.count, n = (size_t)sim->count + TAC_RIGID_NODES * bodies;
    tac_lid place = 0, owned = 0;
    TAC_TRY(tac_grow(sim->ctx, &s->id, &s->id_capacity, n, sizeof *s->id));
    TAC_TRY(tac_grow(sim->ctx, &s->owner, &s->owner_capacity, n, sizeof *s->owner));
    TAC_TRY(tac_grow(sim->ctx, &s->vertex, &s->vertex_capacity, n, sizeof *s->vertex));
    TAC_TRY(tac_grow(sim->ctx, &s->local, &s->local_capacity, n, sizeof *s->local));
    TAC_TRY(tac_grow(sim->ctx, &s->solution, &s->solution_capacity, 3 * n, sizeof *s->solution));
    for (size_t k = 0; k < bodies; k++)
        s->rigid[k] = -1;
    for (tac_lid v = 0; v <= sim->count; v++) {
        for (size_t k = 0; v == sim->owned && k < sim->rigid.own_count; k++)
            number_body(sim, s, sim->rigid.own[k], sim->ctx->rank, &place);
        owned = v == sim->owned ? place : owned;
        if (v == sim->count || (part != NULL && part->vertex_id[v] < 0)) /* unused */
            continue;
        const int32_t k = tac_implicit_rigid_of(sim, v);
        s->local[v] = -1;
        if (k >= 0 && v >= sim->owned && s->rigid[k] < 0)
            number_body(sim, s, k, part->owner[v], &place);
        if (k >= 0)
            continue;
        s->id[place] = tac_implicit_id(sim, v);
        s->owner[place] = part != NULL ? part->owner[v] : 0;
        s->vertex[place] = v;
        s->local[v] = place++;
    }
    s->nodes = (struct tac_nodes){place, owned, s->id, s->owner};
done:
    return err;
}

static enum tac_err make_arrays(struct tac_implicit *sim, struct tac_implicit_system *s)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(sim->ctx, sim->rigid.count, sizeof *s->rigid, &s->rigid));
    TAC_TRY(tac_alloc(sim->ctx, TAC_RIGID_NODES * sim->rigid.own_count, sizeof *s->rigid_node, &s->rigid_node));
    TAC_TRY(number_nodes(sim, s));
    const size_t own = (size_t)s->nodes.owned;
    TAC_TRY(tac_alloc(sim->ctx, own, sizeof *s->diagonal, &s->diagonal));
    TAC_TRY(tac_alloc(sim->ctx, 3 * own, sizeof *s->b, &s->b));
    TAC_TRY(tac_alloc(sim->ctx, 3 * own, sizeof *s->position, &s->position));
    TAC_TRY(tac_alloc(sim->ctx, own, sizeof *s->fixed, &s->fixed));
    for (tac_lid i = 0; i < s->nodes.owned; i++)
        s->diagonal[i] = i;
    for (size_t n = 0; n < TAC_RIGID_NODES * sim->rigid.own_count; n++)
        s->rigid_node[n] = s->rigid[sim->rigid.own[n / TAC_RIGID_NODES]] + (tac_lid)(n % TAC_RIGID_NODES);
    for (int k = 0; k < sim->set.count; k++) {
        const struct tac_implicit_elements *l = &sim->list[k];
        const size_t m = (size_t)l->element->nodes;
        TAC_TRY(tac_alloc(sim->ctx, l->count * m, sizeof *s->element_node[k], &s->element_node[k]));
        for (size_t e = 0; e < l->count; e++) /* vertices of elements keep their numbers */
            for (size_t i = 0; i < m; i++)
                s->element_node[k][e * m + i] = s->local[tac_element_stencil(&sim->set.list[k], e)[i]];
    }
done:
    return err;
}

enum tac_err tac_implicit_system_create(struct tac_implicit *sim)
{
    enum tac_err err;
    struct tac_implicit_system *s = NULL;
    int solids = sim->scene->mesh->tetrahedron_count > 0 || sim->rigid.count > 0;
    err = tac_alloc(sim->ctx, 1, sizeof *s, &s);
    sim->system = s; /* so that it is given back where another rank has no memory for it */
    TAC_TRY(tac_agree(sim->ctx, err));
    TAC_TRY(tac_over_ranks(sim->ctx, &solids, 1, MPI_INT, MPI_MAX));
    s->solids = solids;
    TAC_TRY(tac_agree(sim->ctx, make_arrays(sim, s)));
    static const char *const kind[] = {[TAC_SOLVER_INVARIANT] = "invariant", [TAC_SOLVER_PETSC] = "petsc"};
    const struct tac_implicit_settings *settings = &sim->scene->settings->implicit;
    TAC_TRY(tac_solver_create(sim->ctx, kind[settings->solver], settings->solver_options, &s->solver));
done:
    return err;
}

enum tac_err tac_implicit_begin_system(struct tac_implicit *sim)
{
    struct tac_implicit_system *s = sim->system;
    s->cut = s->crawls = false;
    s->failed = s->waits = s->all_failed = s->all_waits = 0;
    s->fall = 0;
    return TAC_OK;
}

/* ---- the solution ---- */

/* Subtracts `force` times n at an own vertex from the right side. */
static void push_vertex(struct tac_implicit *sim, tac_lid v, double force, const double n[3])
{
    struct tac_implicit_system *s = sim->system;
    const int32_t k = tac_implicit_rigid_of(sim, v);
    double w[TAC_RIGID_NODES] = {1};
    if (k >= 0)
        tac_rigid_weights(sim, k, v, w);
    double *b = &s->b[3 * (size_t)(k >= 0 ? s->rigid[k] : s->local[v])];
    for (int i = 0; i < (k >= 0 ? TAC_RIGID_NODES : 1); i++)
        for (int c = 0; c < 3; c++)
            b[3 * i + c] -= force * w[i] * n[c];
}

/* Subtracts the forces of foreseen pairs that came, on vertices of plates, before own pair e. */
static void push_plates(struct tac_implicit *sim, size_t e, size_t *next)
{
    const struct tac_plate_pair *pair;
    while ((pair = tac_plates_next(sim, TAC_SORT_FORESEEN, e, next)) != NULL)
        for (int i = 0; i < tac_pair_vertices(pair->type); i++)
            if (pair->v[i] < sim->owned && !sim->newton.held[pair->v[i]])
                push_vertex(sim, pair->v[i], 1, &pair->g[3 * i]);
}

static void set_right_side(struct tac_implicit *sim, const double *x)
{
    struct tac_implicit_system *s = sim->system;
    for (tac_lid i = 0; i < s->nodes.owned; i++) {
        const tac_lid v = s->vertex[i];
        const bool held = v >= 0 && sim->newton.held[v];
        const size_t from = 3 * (size_t)(v >= 0 ? v : -1 - v);
        s->fixed[i] = held;
        for (size_t c = 0; c < 3; c++) {
            s->position[3 * (size_t)i + c] = v >= 0 ? x[from + c] : sim->rigid.x[from + c];
            s->b[3 * (size_t)i + c] = held     ? 0
                                      : v >= 0 ? -sim->newton.gradient[from + c]
                                               : -sim->rigid.gradient[from + c];
        }
    }
    for (size_t e = 0, next = 0; e <= sim->contact.foreseen_count; e++) {
        push_plates(sim, e, &next);
        if (e == sim->contact.foreseen_count)
            break;
        const struct tac_foreseen *f = &sim->contact.foreseen[e];
        const double force =
            tac_implicit_kappa_of(sim, f->share, sim->newton.kappa) * tac_implicit_foreseen_force(f, x);
        for (int i = 0; i < tac_pair_vertices(f->type); i++)
            if (f->v[i] < sim->owned && !sim->newton.held[f->v[i]])
                push_vertex(sim, f->v[i], force * f->w[i], f->n);
    }
}

/* Fails because the diagonal block of a vertex is not positive, or not finite: its mass and stiffness are smaller than
 * the rounding errors of what is added to the block. */
static enum tac_err fail_at(struct tac_implicit *sim, tac_gid v)
{
    const tac_gid node = v - vertex_total(sim);
    const tac_lid b =
        node < 0 ? tac_scene_body_of(sim->scene, v) : sim->scene->settings->rigid[node / TAC_RIGID_NODES].body;
    const struct tac_body *body = &sim->scene->settings->body[b];
    sim->ctx->error[0] = '\0'; /* removes the sentence of the solver, which does not name the step */
    sim->part.unsolved = sim->part.rounding = true;
    return tac_fail(sim->ctx, TAC_ERR_RUN,
                    "the step from t = %.9g s cannot be computed: its linear system is not positive at %s "
                    "%" TAC_PRIGID " of body `%s` (Newton iteration %lld, kappa %.3g): next to the largest forces and "
                    "stiffnesses there its mass is lost to rounding; make them smaller; %s%s",
                    (double)sim->now * sim->scene->settings->quantum_s, node < 0 ? "vertex" : "node",
                    node < 0 ? v - body->vertex_begin : node % TAC_RIGID_NODES, body->name, (long long)sim->part.newton,
                    sim->newton.kappa, tac_implicit_what_helps(sim),
                    sim->newton.pull > 0
                        ? "; a contact or a limit of stretch keeps what is scripted from its place, so "
                          "a slower or shorter path may be what is needed"
                        : "");
}

/* Fails because the linear solver met an infinity or NaN. */
static enum tac_err fail_not_finite(struct tac_implicit *sim)
{
    sim->ctx->error[0] = '\0'; /* removes the sentence of the solver, which does not name the step */
    sim->part.unsolved = sim->part.rounding = true;
    return tac_fail(sim->ctx, TAC_ERR_RUN,
                    "the step from t = %.9g s cannot be computed: the numbers of its linear system are too large, or "
                    "too different, to be solved for (Newton iteration %lld, kappa %.3g); make the largest forces, "
                    "stiffnesses and masses smaller, or the smallest masses larger; %s",
                    (double)sim->now * sim->scene->settings->quantum_s, (long long)sim->part.newton, sim->newton.kappa,
                    tac_implicit_what_helps(sim));
}

/* A solution that has not converged may lead downhill all the same; the line search decides that. system NULL: goes on
 * from the last solution. */
static enum tac_err solve(struct tac_implicit *sim, const struct tac_system *system, double rough)
{
    enum tac_err err;
    struct tac_implicit_system *s = sim->system;
    struct tac_solve_result result = {.outcome = TAC_SOLVE_CONVERGED};
    const struct tac_solve_rule rule = {.tolerance = sim->scene->settings->implicit.solver_tolerance,
                                        .limit = MOST_ITERATIONS,
                                        .rough = rough,
                                        .go_on = system == NULL};
    if (system != NULL) {
        if (!s->cut)
            TAC_TRY(tac_solver_cut(s->solver, system));
        s->cut = true;
        err = tac_solver_factor(s->solver, system);
        s->numbers = err && tac_solver_stats(s->solver)->bad != INT64_MAX;
        if (s->numbers)
            err = fail_at(sim, tac_solver_stats(s->solver)->bad);
        if (err)
            goto done;
    }
    err = tac_solver_solve_by(s->solver, s->b, s->solution, &rule, &result);
    s->numbers = err && result.outcome != TAC_SOLVE_CONVERGED;
    if (err && result.outcome == TAC_SOLVE_NOT_FINITE)
        err = fail_not_finite(sim);
    s->rough = !err && result.outcome == TAC_SOLVE_ROUGH;
    s->cut_short = err && result.outcome == TAC_SOLVE_NOT_POSITIVE;
    if (err && (s->cut_short || result.outcome == TAC_SOLVE_LIMIT || result.outcome == TAC_SOLVE_STALLED)) {
        sim->ctx->error[0] = '\0';
        err = TAC_OK;
    }
    sim->last_step.linear += result.iterations;
    for (tac_lid i = 0; i < s->nodes.count && !err; i++) {
        const tac_lid v = s->vertex[i];
        double *p = v >= 0 ? &sim->newton.p[3 * (size_t)v] : &sim->rigid.straight[3 * (size_t)(-1 - v)];
        for (size_t k = 0; k < 3; k++) /* + 0 makes -0 to 0 where nothing moves */
            p[k] = s->solution[3 * (size_t)i + k] + 0.;
    }
    if (!err)
        tac_rigid_spread(sim, sim->rigid.straight, sim->newton.p);
done:
    return err;
}

bool tac_implicit_is_exact(const struct tac_implicit *sim)
{
    return !sim->system->cut_short;
}

/* Negative curvature in the last matrix did not help. The next directions are computed without it; each time that this
 * happens again, their number doubles. */
static void note_failure(int *failed, int *waits)
{
    *failed = *failed < MOST_WAITS ? *failed + 1 : MOST_WAITS;
    *waits = *failed;
}

enum tac_err tac_implicit_sharpen(struct tac_implicit *sim)
{
    const double begin_s = tac_wall_s();
    struct tac_implicit_system *s = sim->system;
    const enum tac_err err = s->rough ? solve(sim, NULL, 0) : TAC_OK;
    if (!err && s->last == TAC_CURVATURE_ALL && s->cut_short)
        note_failure(&s->all_failed, &s->all_waits);
    if (!err && s->last != TAC_CURVATURE_NONE && s->cut_short)
        note_failure(&s->failed, &s->waits);
    sim->books.counters.seconds_contact += tac_wall_s() - begin_s;
    return err;
}

static enum tac_err direct(struct tac_implicit *sim, const double *x, enum tac_curvature curvature, double rough)
{
    enum tac_err err;
    struct tac_implicit_system *s = sim->system;
    struct tac_matrix *matrix = NULL;
    struct tac_stencil_list list[TAC_STENCIL_LISTS];
    const double begin_s = tac_wall_s();
    s->last = curvature;
    s->numbers = false;
    TAC_TRY(tac_plates_matrices(sim, number_nodes(sim, s), x, curvature));
    TAC_TRY(tac_implicit_list_stencils(sim, list));
    TAC_TRY(tac_matrix_create(sim->ctx, &s->nodes, TAC_STENCIL_LISTS, list, &matrix));
    tac_implicit_assemble(sim, x, curvature, matrix);
    set_right_side(sim, x);
done:
    err = tac_agree(sim->ctx, err);
    sim->books.counters.seconds_forces += tac_wall_s() - begin_s;
    const double solve_s = tac_wall_s();
    const struct tac_system system = {.nodes = s->nodes,
                                      .matrix = matrix,
                                      .position = s->position,
                                      .fixed = s->fixed,
                                      .products = &sim->books.products};
    if (!err)
        err = solve(sim, &system, rough);
    sim->books.counters.seconds_contact += tac_wall_s() - solve_s;
    tac_matrix_destroy(&matrix);
    return err;
}

/* Computes the direction from a matrix with negative curvature. *found: the matrix was positive along it. Otherwise the
 * direction has to be computed without negative curvature, which may also repair numbers that are not positive or not
 * finite. Other errors are returned. */
static enum tac_err try_curvature(struct tac_implicit *sim, const double *x, enum tac_curvature curvature, double rough,
                                  bool *found)
{
    const enum tac_err err = direct(sim, x, curvature, rough);
    *found = !err && !sim->system->cut_short;
    if (!err || !sim->system->numbers)
        return err;
    sim->ctx->error[0] = '\0';
    sim->part.unsolved = sim->part.rounding = false;
    return TAC_OK;
}

enum tac_err tac_implicit_direction(struct tac_implicit *sim, const double *x, double rough)
{
    enum tac_err err = TAC_OK;
    bool found = false;
    struct tac_implicit_system *s = sim->system;
    if (s->crawls) {
        s->crawls = false;
        TAC_TRY(try_curvature(sim, x, TAC_CURVATURE_ALL, rough, &found));
        if (found)
            s->all_failed = 0;
        else
            note_failure(&s->all_failed, &s->all_waits);
    }
    if (!found && s->waits > 0) {
        s->waits--;
    } else if (!found && s->solids && sim->part.newton <= MOST_WHOLE) {
        TAC_TRY(try_curvature(sim, x, TAC_CURVATURE_SOLIDS, rough, &found));
        if (!found)
            note_failure(&s->failed, &s->waits);
    }
    if (!found)
        TAC_TRY(direct(sim, x, TAC_CURVATURE_NONE, rough));
done:
    return err;
}

bool tac_implicit_note_direction(struct tac_implicit *sim, bool good)
{
    struct tac_implicit_system *s = sim->system;
    if (s->last != TAC_CURVATURE_NONE && good)
        s->failed = 0;
    if (s->last != TAC_CURVATURE_NONE && !good)
        note_failure(&s->failed, &s->waits);
    return s->last != TAC_CURVATURE_NONE;
}

/* If solids have all their curvature, and directions are too short twice by the same share, convergence is only linear,
 * because barriers lack their negative curvature. The next matrix then gets it. Far from the minimum it would not help,
 * because higher derivatives dominate there. */
void tac_implicit_note_fall(struct tac_implicit *sim, double fall)
{
    struct tac_implicit_system *s = sim->system;
    const double before = s->fall;
    s->fall = s->last != TAC_CURVATURE_NONE ? fall : 0;
    s->crawls = s->last == TAC_CURVATURE_ALL
                    ? fabs(s->fall - .5) < TAC_FALL_GOOD
                    : s->fall > TAC_CRAWL && before > TAC_CRAWL && fabs(s->fall - before) < TAC_CRAWL_EVEN;
    if (s->crawls && s->all_waits > 0) {
        s->all_waits--;
        s->crawls = false;
    }
}
