/* residual.c: computes the forces at an iterate, and whether they balance (docs/reference/implicit.md, When a step has
 * converged).
 *
 * For each body it sums, over the vertices that Newton's method moves, the size of the remaining force at a vertex, and
 * divides the sum by the largest such sum of a single sort of force. The sums are of whole numbers, in parts of the
 * body's largest force, so they are the same for any number of ranks.
 */
#include "base/exchange.h"
#include "implicit/parts.h"
#include <math.h>
#include <stdlib.h>

#define TAC_PARTS_OF_LARGEST 0x1p30 /* sizes are rounded to these parts; 2^32 of them can be added without overflow */
#define TAC_UNFELT                                                                                                     \
    1e-4 /* times mean mass, step and velocity_tol: a body is at rest if no vertex has a larger remaining force */

#define TAC_LOOSER_FIXED 8. /* times what force_tol asks of a body in a press, for one that touches what is fixed */
#define TAC_LOOSER_FREE 40. /* and for one that touches neither */
#define TAC_AT_REST_FREE                                                                                               \
    1e-2 /* times velocity_tol: where nothing would move faster, a body without supports need not be in balance */

/* ---- the gradient, by its parts ---- */

static void keep_part(struct tac_implicit *sim, int part)
{
    const size_t size = 3 * (size_t)sim->owned * sizeof(double);
    memcpy(sim->newton.part[part], sim->newton.gradient, size);
    memset(sim->newton.gradient, 0, size);
    tac_rigid_keep_part(&sim->rigid, part);
}

void tac_implicit_gradient(struct tac_implicit *sim, const double *x)
{
    double *g = sim->newton.gradient, *const *part = sim->newton.part;
    const double begin_s = tac_wall_s();
    memset(g, 0, 3 * (size_t)sim->owned * sizeof *g);
    memset(sim->newton.gross, 0, (size_t)sim->owned * sizeof *sim->newton.gross);
    tac_rigid_clear(&sim->rigid);
    tac_implicit_add_inertia(sim, x);
    tac_implicit_add_wind(sim, x);
    keep_part(sim, TAC_PART_INERTIA);
    tac_implicit_add_elements(sim, x, false);
    tac_implicit_add_elements(sim, x, true);
    keep_part(sim, TAC_PART_ELEMENTS);
    tac_implicit_add_friction(sim, x);
    tac_implicit_add_contact(sim, x);
    tac_rigid_add_ties(sim, x);
    tac_rigid_add_motors(sim, x);
    tac_rigid_tie_sizes(sim, x);
    keep_part(sim, TAC_PART_CONTACT);
    tac_implicit_count_work(sim, TAC_WORK_GRADIENT, sim->contact.touch_count);
    for (size_t c = 0; c < 3 * (size_t)sim->owned; c++)
        g[c] = part[TAC_PART_INERTIA][c] + part[TAC_PART_ELEMENTS][c] + part[TAC_PART_CONTACT][c];
    tac_rigid_gather(sim);
    sim->books.counters.seconds_forces += tac_wall_s() - begin_s;
}

/* Coordinates are rounded to 2^-53 of themselves, and the potential changes by that times the forces that act there. */
double tac_implicit_rounding_at(const struct tac_implicit *sim, const double *x, tac_lid v)
{
    double sum = 0;
    for (size_t c = 3 * (size_t)v; c < 3 * (size_t)v + 3; c++)
        sum += fabs(x[c]) * (fabs(sim->newton.part[TAC_PART_INERTIA][c]) + sim->newton.gross[v] +
                             fabs(sim->newton.part[TAC_PART_CONTACT][c]));
    return 0x1p-53 * sum;
}

/* ---- balance of forces ---- */

enum { REST, INERTIA, ELEMENTS, CONTACT, MOMENTUM, GROSS, SIZES };

/* The size at a vertex of the remaining force, and of each sort of force. */
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
    if (!sim->is_static && tac_implicit_rigid_of(sim, vertex) < 0)
        size[MOMENTUM] = sim->scene->mesh->mass[vertex] * sim->scale.h * sqrt(tac_dot(&sim->v[v], &sim->v[v]));
    size[GROSS] = sim->newton.gross[vertex];
}

/* The same at node n of the bodies of this rank. */
static void sizes_of_node(const struct tac_implicit *sim, size_t n, double size[SIZES])
{
    const struct tac_implicit_rigid *r = &sim->rigid;
    const int32_t k = r->own[n / TAC_RIGID_NODES];
    const size_t node = TAC_RIGID_NODES * (size_t)k + n % TAC_RIGID_NODES, v = 3 * node;
    const double *const from[3] = {r->gradient, r->part[TAC_PART_INERTIA], r->part[TAC_PART_ELEMENTS]};
    memset(size, 0, SIZES * sizeof *size);
    for (int f = 0; f < 3; f++)
        size[REST + f] = sqrt(tac_dot(&from[f][v], &from[f][v]));
    if (!sim->is_static)
        size[MOMENTUM] = r->piece[k].mass * sim->scale.h * sqrt(tac_dot(&r->v[v], &r->v[v]));
    size[GROSS] = r->gross[node];
}

/* Of a body: the largest size of any sort of force, and of the remaining force; what it touches; whether it has
 * vertices that are held (1). */
struct largest {
    double any, rest, touches, pinned;
};
enum { NOTHING_HELD, FIXED, PRESSED }; /* touches */
struct total {
    int64_t size[SIZES]; /* over the largest */
};

/* Of node n of the bodies of this rank. */
static size_t node_body(const struct tac_implicit *sim, size_t n)
{
    return (size_t)sim->scene->settings->rigid[sim->rigid.own[n / TAC_RIGID_NODES]].body;
}

static size_t body_of(const struct tac_implicit *sim, tac_lid v)
{
    return (size_t)sim->scene->mesh->vertex_body[v];
}

/* The vertices of number e of the pairs that touch, and then of those that joints hold together. */
static const tac_lid *pair_at(const struct tac_implicit *sim, size_t e, int *n)
{
    if (e >= sim->contact.touch_count) {
        *n = sim->rigid.joints.tie[e - sim->contact.touch_count].count;
        return sim->rigid.joints.tie[e - sim->contact.touch_count].v;
    }
    const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
    *n = tac_pair_vertices(p->form.type);
    return p->v;
}

/* Finds which bodies touch something that is held, or are joined to it. */
static void find_held(const struct tac_implicit *sim, struct largest *most)
{
    for (size_t e = 0; e < sim->contact.touch_count + sim->rigid.joints.tie_count; e++) {
        int n;
        const tac_lid *v = pair_at(sim, e, &n);
        double held = NOTHING_HELD;
        for (int i = 0; i < n; i++)
            held = fmax(held, sim->newton.presses[body_of(sim, v[i])] ? PRESSED
                              : sim->newton.held[v[i]]                ? FIXED
                                                                      : NOTHING_HELD);
        for (int i = 0; i < n; i++) {
            struct largest *l = &most[body_of(sim, v[i])];
            l->touches = fmax(l->touches, held);
        }
    }
}

/* A body that touches a body in a press transmits the force of the press, so it is in the press, too. The search goes
 * through all contacts and joints that this rank has, but not through fixed bodies. Returns whether a further body was
 * found. */
static bool spread(const struct tac_implicit *sim, struct largest *most)
{
    bool any = false;
    for (bool again = true; again;) {
        again = false;
        for (size_t e = 0; e < sim->contact.touch_count + sim->rigid.joints.tie_count; e++) {
            int n;
            const tac_lid *v = pair_at(sim, e, &n);
            struct largest *l[2] = {&most[body_of(sim, v[0])], &most[body_of(sim, v[n - 1])]};
            const bool holds = sim->newton.held[v[0]] || sim->newton.held[v[n - 1]];
            if (holds || (l[0]->touches == PRESSED) == (l[1]->touches == PRESSED))
                continue;
            l[0]->touches = l[1]->touches = PRESSED;
            again = any = true;
        }
    }
    return any;
}

/* Combines the ranks: the largest sizes, and what bodies touch by the pairs of any rank. */
static enum tac_err agree_on_largest(struct tac_implicit *sim, struct largest *most)
{
    enum tac_err err;
    const int count = (int)sim->scene->settings->body_count * (int)(sizeof *most / sizeof(double));
    int any = true;
    find_held(sim, most);
    while (any) {
        TAC_TRY(tac_over_ranks(sim->ctx, most, count, MPI_DOUBLE, MPI_MAX));
        any = sim->newton.any_presses && spread(sim, most);
        TAC_TRY(tac_over_ranks(sim->ctx, &any, 1, MPI_INT, MPI_MAX));
    }
done:
    return err;
}

/* The force on a held body is output for the user, so where a body is pressed against a held one its contact force is
 * the measure. A sheet is held by internal forces that are much larger than their sum at a vertex. */
static double residual_of(const struct largest *most, const struct total *sum, bool solid, bool is_static)
{
    double acts = 0;
    for (int k = INERTIA; k < GROSS; k++)
        acts = fmax(acts, (double)sum->size[k]);
    if (most->touches == NOTHING_HELD || (most->touches == FIXED && !solid))
        acts = fmax(acts, (double)sum->size[GROSS]);
    /* With the static scheme every force has to balance. */
    const double looser = most->touches == PRESSED || is_static ? 1
                          : most->touches == FIXED              ? TAC_LOOSER_FIXED
                                                                : TAC_LOOSER_FREE;
    return (double)sum->size[REST] / acts / looser;
}

enum tac_err tac_implicit_residual(struct tac_implicit *sim, double speed, double *residual)
{
    enum tac_err err;
    const size_t bodies = (size_t)sim->scene->settings->body_count, nodes = TAC_RIGID_NODES * sim->rigid.own_count;
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
    for (size_t n = 0; n < nodes; n++) {
        struct largest *l = &most[node_body(sim, n)];
        sizes_of_node(sim, n, size);
        l->rest = fmax(l->rest, size[REST]);
        for (int k = 0; k < SIZES; k++)
            l->any = fmax(l->any, size[k]);
    }
    TAC_TRY(agree_on_largest(sim, most));
    for (size_t i = 0; i < (size_t)sim->owned + nodes; i++) {
        const bool is_node = i >= (size_t)sim->owned;
        const size_t b = is_node ? node_body(sim, i - (size_t)sim->owned) : body_of(sim, (tac_lid)i);
        if (is_node)
            sizes_of_node(sim, i - (size_t)sim->owned, size);
        else
            sizes_at(sim, (tac_lid)i, size);
        for (int k = 0; k < SIZES && most[b].any > 0; k++)
            sum[b].size[k] += (int64_t)(size[k] / most[b].any * TAC_PARTS_OF_LARGEST + .5);
    }
    TAC_TRY(tac_over_ranks(sim->ctx, sum, (int)bodies * SIZES, MPI_INT64_T, MPI_SUM));
    *residual = 0;
    for (size_t b = 0; b < bodies; b++)
        if (most[b].rest > unfelt && !(rests && most[b].touches == NOTHING_HELD && !(most[b].pinned > 0)))
            *residual = fmax(*residual, residual_of(&most[b], &sum[b], sim->newton.solid[b], sim->is_static));
done:
    free(most);
    free(sum);
    return err;
}
