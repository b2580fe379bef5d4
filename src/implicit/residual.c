/* residual.c: the forces at a place, and whether they balance (docs/reference/implicit.md, When a step has converged).
 *
 * Of each body, over the vertices that Newton's method moves: the sum of the sizes of what is left at a vertex, over
 * the largest such sum of what acts there.  Sums are of whole numbers, in parts of the body's largest force, so they
 * are the same for any number of ranks.
 */
#include "implicit/parts.h"
#include <math.h>
#include <stdlib.h>

#define TAC_PARTS_OF_LARGEST 0x1p30 /* that sizes are rounded to; 2^32 of them may be added */
#define TAC_UNFELT                                                                                                     \
    1e-4 /* of mean mass, step and velocity_tol: a body on which no more is left at a vertex is at rest */

#define TAC_LOOSER_FIXED 8. /* times what force_tol asks of a body in a press, for one that touches what is fixed */
#define TAC_LOOSER_FREE 40. /* and for one that touches neither */
#define TAC_AT_REST_FREE                                                                                               \
    1e-2 /* of velocity_tol: where nothing would move faster, a body without supports is not asked for balance */

/* ---- the gradient, by what it comes from ---- */

static void keep_part(struct tac_implicit *sim, int part)
{
    const size_t size = 3 * (size_t)sim->owned * sizeof(double);
    memcpy(sim->newton.part[part], sim->newton.gradient, size);
    memset(sim->newton.gradient, 0, size);
}

void tac_implicit_gradient(struct tac_implicit *sim, const double *x)
{
    double *g = sim->newton.gradient, *const *part = sim->newton.part;
    const double begin_s = tac_wall_s();
    memset(g, 0, 3 * (size_t)sim->owned * sizeof *g);
    memset(sim->newton.gross, 0, (size_t)sim->owned * sizeof *sim->newton.gross);
    tac_implicit_add_inertia(sim, x);
    tac_implicit_add_wind(sim, x);
    keep_part(sim, TAC_PART_INERTIA);
    tac_implicit_add_elements(sim, x, false);
    tac_implicit_add_elements(sim, x, true);
    keep_part(sim, TAC_PART_ELEMENTS);
    tac_implicit_add_friction(sim, x);
    tac_implicit_add_contact(sim, x);
    keep_part(sim, TAC_PART_CONTACT);
    tac_implicit_count_work(sim, TAC_WORK_GRADIENT);
    for (size_t c = 0; c < 3 * (size_t)sim->owned; c++)
        g[c] = part[TAC_PART_INERTIA][c] + part[TAC_PART_ELEMENTS][c] + part[TAC_PART_CONTACT][c];
    sim->books.counters.seconds_forces += tac_wall_s() - begin_s;
}

/* Places are rounded to 2^-53 of themselves, and the potential changes by that times what acts there. */
double tac_implicit_rounding_at(const struct tac_implicit *sim, const double *x, tac_lid v)
{
    double sum = 0;
    for (size_t c = 3 * (size_t)v; c < 3 * (size_t)v + 3; c++)
        sum += fabs(x[c]) * (fabs(sim->newton.part[TAC_PART_INERTIA][c]) + sim->newton.gross[v] +
                             fabs(sim->newton.part[TAC_PART_CONTACT][c]));
    return 0x1p-53 * sum;
}

/* ---- is it in balance? ---- */

enum { REST, INERTIA, ELEMENTS, CONTACT, MOMENTUM, GROSS, SIZES };

/* Sizes at a vertex of what is left, and of what acts. */
static void sizes_at(const struct tac_implicit *sim, tac_lid vertex, double size[SIZES])
{
    const size_t v = 3 * (size_t)vertex;
    const double *const from[4] = {sim->newton.gradient, sim->newton.part[TAC_PART_INERTIA],
                                   sim->newton.part[TAC_PART_ELEMENTS], sim->newton.part[TAC_PART_CONTACT]};
    memset(size, 0, SIZES * sizeof *size);
    if (sim->newton.held[vertex])
        return;
    for (int k = 0; k < 4; k++)
        size[REST + k] = sqrt(tac_dot(&from[k][v], &from[k][v]));
    if (!sim->is_static)
        size[MOMENTUM] = sim->scene->mesh->mass[vertex] * sim->scale.h * sqrt(tac_dot(&sim->v[v], &sim->v[v]));
    size[GROSS] = sim->newton.gross[vertex];
}

/* Of a body: the largest size of any sort, and of what is left; what it touches; has it vertices that are held (1)? */
struct largest {
    double any, rest, touches, pinned;
};
enum { NOTHING_HELD, FIXED, PRESSED }; /* touches */
struct total {
    int64_t size[SIZES]; /* over the largest */
};

static size_t body_of(const struct tac_implicit *sim, tac_lid v)
{
    return (size_t)sim->scene->mesh->vertex_body[v];
}

/* What single bodies touch now that is held. */
static void find_held(const struct tac_implicit *sim, struct largest *most)
{
    for (size_t e = 0; e < sim->contact.touch_count; e++) {
        const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
        const int n = tac_pair_vertices(p->form.type);
        double held = NOTHING_HELD;
        for (int i = 0; i < n; i++)
            held = fmax(held, sim->newton.presses[body_of(sim, p->v[i])] ? PRESSED
                              : sim->newton.held[p->v[i]]                ? FIXED
                                                                         : NOTHING_HELD);
        for (int i = 0; i < n; i++) {
            struct largest *l = &most[body_of(sim, p->v[i])];
            l->touches = fmax(l->touches, held);
        }
    }
}

/* A body that touches one in a press passes the press' force on, so it is in the press, too: through all bodies that
 * this rank sees touch, but not through what is fixed.  Has any been found? */
static bool spread(const struct tac_implicit *sim, struct largest *most)
{
    bool any = false;
    for (bool again = true; again;) {
        again = false;
        for (size_t e = 0; e < sim->contact.touch_count; e++) {
            const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
            const int n = tac_pair_vertices(p->form.type);
            struct largest *l[2] = {&most[body_of(sim, p->v[0])], &most[body_of(sim, p->v[n - 1])]};
            const bool holds = sim->newton.held[p->v[0]] || sim->newton.held[p->v[n - 1]];
            if (holds || (l[0]->touches == PRESSED) == (l[1]->touches == PRESSED))
                continue;
            l[0]->touches = l[1]->touches = PRESSED;
            again = any = true;
        }
    }
    return any;
}

/* The largest sizes of all ranks, and what bodies touch by the pairs of all ranks. */
static enum tac_err agree_on_largest(struct tac_implicit *sim, struct largest *most)
{
    enum tac_err err;
    const int count = (int)sim->scene->settings->body_count * (int)(sizeof *most / sizeof(double));
    int any = true;
    find_held(sim, most);
    while (any) {
        TAC_TRY(tac_implicit_over_ranks(sim, most, count, MPI_DOUBLE, MPI_MAX));
        any = sim->newton.any_presses && spread(sim, most);
        TAC_TRY(tac_implicit_over_ranks(sim, &any, 1, MPI_INT, MPI_MAX));
    }
done:
    return err;
}

/* What presses a body is told to the user as the force of what holds it, so where there is such a thing this counts; a
 * sheet is held by forces within it that are much larger than what they add up to at a vertex. */
static double residual_of(const struct largest *most, const struct total *sum, bool solid, bool is_static)
{
    double acts = 0;
    for (int k = INERTIA; k < GROSS; k++)
        acts = fmax(acts, (double)sum->size[k]);
    if (most->touches == NOTHING_HELD || (most->touches == FIXED && !solid))
        acts = fmax(acts, (double)sum->size[GROSS]);
    /* Where nothing moves every force is asked for. */
    const double looser = most->touches == PRESSED || is_static ? 1
                          : most->touches == FIXED              ? TAC_LOOSER_FIXED
                                                                : TAC_LOOSER_FREE;
    return (double)sum->size[REST] / acts / looser;
}

enum tac_err tac_implicit_residual(struct tac_implicit *sim, double speed, double *residual)
{
    enum tac_err err;
    const size_t bodies = (size_t)sim->scene->settings->body_count;
    const bool rests = !sim->is_static && speed <= TAC_AT_REST_FREE * sim->scale.velocity_tol;
    const double unfelt = TAC_UNFELT * sim->scale.mean_mass * sim->scale.h * sim->scale.velocity_tol;
    struct largest *most = NULL;
    struct total *sum = NULL;
    double size[SIZES];
    err = tac_alloc(sim->ctx, bodies, sizeof *most, &most);
    err = err ? err : tac_alloc(sim->ctx, bodies, sizeof *sum, &sum);
    TAC_TRY(tac_agree(sim->ctx, err));
    tac_implicit_gradient(sim, sim->x);
    for (tac_lid i = 0; i < sim->owned; i++) {
        struct largest *l = &most[body_of(sim, i)];
        sizes_at(sim, i, size);
        l->pinned = fmax(l->pinned, sim->newton.held[i]);
        l->rest = fmax(l->rest, size[REST]);
        for (int k = 0; k < SIZES; k++)
            l->any = fmax(l->any, size[k]);
    }
    TAC_TRY(agree_on_largest(sim, most));
    for (tac_lid i = 0; i < sim->owned; i++) {
        const size_t b = body_of(sim, i);
        sizes_at(sim, i, size);
        for (int k = 0; k < SIZES && most[b].any > 0; k++)
            sum[b].size[k] += (int64_t)(size[k] / most[b].any * TAC_PARTS_OF_LARGEST + .5);
    }
    TAC_TRY(tac_implicit_over_ranks(sim, sum, (int)bodies * SIZES, MPI_INT64_T, MPI_SUM));
    *residual = 0;
    for (size_t b = 0; b < bodies; b++)
        if (most[b].rest > unfelt && !(rests && most[b].touches == NOTHING_HELD && !(most[b].pinned > 0)))
            *residual = fmax(*residual, residual_of(&most[b], &sum[b], sim->newton.solid[b], sim->is_static));
done:
    free(most);
    free(sum);
    return err;
}
