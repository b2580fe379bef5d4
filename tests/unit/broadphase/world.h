/* world.h: random bodies that move at random, on one rank or on several, and which of their pairs may touch, by brute
 * force.
 *
 * Every rank holds the whole scene and the trajectory bound of each vertex, computed here by simple formulas, and its
 * own part of the scene, on which the broad phase works. A pair *must* be listed if its distance comes under its first
 * layer at one of some instants while the centres of its bounds move on; it *may* be listed if that cannot be excluded
 * by how fast its vertices move at most.
 */
#ifndef TACTUS_TESTS_BROADPHASE_WORLD_H
#define TACTUS_TESTS_BROADPHASE_WORLD_H

#include "broadphase/candidates.h"
#include "check.h"
#include "contact/flat.h"
#include "events/sim.h"
#include "geometry/closest_points.h"
#include "geometry/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BODIES = 8, SAMPLES = 8, WINDOW = 1 << 20, LIFETIME = 16 * WINDOW };

/* Of every vertex of the scene, by global id: where it is, its way over the window, how far it strays from that, m. */
struct world_vertex {
    double x[3], u[3], deviation;
    double centre[3], velocity[3], radius; /* its bound: at the list's start; m/s; m */
    double from_s;                         /* when that was laid, after the list's start */
};

struct world {
    struct tac_ctx ctx;
    struct tac_scene *whole, *local; /* local: NULL on one rank */
    struct tac_model *model;         /* of the whole scene */
    struct tac_sim *sim;
    int32_t *owner; /* owned, (V) */
    struct world_vertex *vertex;
    double size, thickness; /* m: of the bodies; of a contact */
    double stir;            /* m: how far vertices move */
    double extent;          /* largest coordinate, m */
    uint64_t seed, drawn;
};

static inline double draw(struct world *w, double lo, double hi)
{
    return lo + (hi - lo) * tac_random(w->seed, w->drawn++);
}

static inline int pick(struct world *w, int below)
{
    return (int)draw(w, 0, below);
}

/* ---- a random scene ---- */

/* How the vertices are given to ranks. */
enum world_owners { BLOCKS, SCATTERED, ONE_HAS_ALL, ONE_HAS_A_TRIANGLE, BY_BODIES, OWNERS };

struct world_kind {
    double size, offset; /* m: of the bodies; how far the scene is from the origin */
    int bodies;
    bool together;      /* all bodies at one place; without radii, over which no scene may begin */
    const char *mesh;   /* NULL: random ones */
    double stir;        /* how far vertices move, in parts of the size */
    const char *clocks; /* NULL: nested */
};

static inline void add_body(struct world *w, const struct world_kind *kind, int number, char *text, size_t size)
{
    static const char *const meshes[] = {
        "{\"kind\":\"cube\",\"edge\":%g}",
        "{\"kind\":\"octahedron\",\"edge\":%g,\"level\":1}",
        "{\"kind\":\"grid\",\"size\":[%g,0.7],\"cells\":[5,3]}",
        "{\"kind\":\"segments\",\"from\":[0,0,0],\"to\":[%g,0,0],\"cells\":7}",
        "{\"kind\":\"points\",\"vertices\":[[0,0,0],[%g,0,0],[0.1,0.2,0.1],[0.3,0.1,0.2]]}",
        "{\"kind\":\"inline\",\"vertices\":[[0,0,0],[%g,0,0],[0,0,0.5]],\"triangles\":[[0,1,2]]}"};
    const int which = pick(w, (int)(sizeof meshes / sizeof *meshes));
    char mesh[256];
    const double at[3] = {draw(w, -.6, .6), draw(w, -.6, .6), draw(w, -.6, .6)};
    const double room = kind->together ? 0 : 1;
    snprintf(mesh, sizeof mesh, kind->mesh ? kind->mesh : meshes[which], draw(w, .3, .9));
    const bool points = strstr(mesh, "points") != NULL;
    snprintf(text + strlen(text), size - strlen(text),
             "%s{\"name\":\"b%d\",\"mesh\":%s,\"scale\":%g,\"radius\":%g,\"position\":[%.17g,%.17g,%.17g],%s%s}",
             number ? "," : "", number, mesh, kind->size, pick(w, 3) || kind->together ? 0 : .02 * kind->size,
             kind->offset + room * at[0] * kind->size, kind->offset + room * at[1] * kind->size,
             room * at[2] * kind->size, points ? "\"mass\":0.01" : "\"material\":\"stuff\"",
             number > 0 && pick(w, 4) == 0 ? ",\"fixed\":true" : "");
}

static inline int owner_of(struct world *w, enum world_owners how, tac_gid id)
{
    const int ranks = w->ctx.size;
    const tac_lid n = w->whole->mesh->vertex_count;
    switch (how) {
    case SCATTERED:
        return (int)(tac_random(w->seed + 1, (uint64_t)id) * ranks);
    case ONE_HAS_ALL:
        return ranks - 1;
    case ONE_HAS_A_TRIANGLE:
        return id < 3 ? 0 : ranks - 1;
    case BY_BODIES:
        return w->whole->mesh->vertex_body[id] % ranks;
    default:
        return (int)((int64_t)id * ranks / n);
    }
}

static inline void world_failed(const struct world *w)
{
    printf("seed %llu: %s\n", (unsigned long long)w->seed, w->ctx.error);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Collective. Gives the whole scene the flat parts and starts that the simulation has found. */
static inline enum tac_err world_flat(struct world *w)
{
    enum tac_err err = tac_flat_create(&w->ctx, w->whole);
    const struct tac_local_mesh *own = w->local ? w->local->mesh : w->whole->mesh;
    if (err || (w->whole->mesh->flat == NULL) != (own->flat == NULL))
        return err ? err : TAC_ERR_RUN;
    for (tac_lid i = 0; i < w->whole->mesh->vertex_count && own->flat; i++) {
        const tac_lid v = w->local ? tac_id_find(own->part->vertex_id, own->part->owned, i) : i;
        double start = v >= 0 ? own->flat[v].start : INFINITY;
        MPI_Allreduce(MPI_IN_PLACE, &start, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        w->whole->mesh->flat[i].start = start;
    }
    return TAC_OK;
}

/* Collective. Every rank reads the whole scene; on several each makes its part of it. */
static inline void world_begin(struct world *w, uint64_t seed, const struct world_kind *kind, enum world_owners how)
{
    char text[8192];
    struct tac_pieces *pieces = NULL;
    memset(w, 0, sizeof *w);
    w->seed = seed;
    w->size = kind->size;
    w->stir = kind->stir * kind->size;
    w->thickness = .05 * kind->size;
    tac_ctx_init(&w->ctx, MPI_COMM_WORLD);
    snprintf(
        text, sizeof text,
        "{\"format\":\"tactus-scene/1\",\"time\":{\"end\":1,\"frame\":0.125},\"contact\":{\"thickness\":%g,"
        "\"stiffness\":%g,\"rest_fraction\":0.5},\"clocks\":{\"mode\":\"%s\"},"
        "\"materials\":{\"stuff\":{\"density\":1,\"stretch\":{\"model\":\"spring\",\"stiffness\":%g,\"limit\":0.5}}},"
        "\"bodies\":[",
        w->thickness, 100 * kind->size * kind->size, kind->clocks ? kind->clocks : "nested", kind->size * kind->size);
    for (int k = 0; k < kind->bodies; k++)
        add_body(w, kind, k, text, sizeof text);
    snprintf(text + strlen(text), sizeof text - strlen(text), "]}");
    if (tac_scene_parse(&w->ctx, text, NULL, NULL, 0, &w->whole) != TAC_OK)
        world_failed(w);
    const tac_lid n = w->whole->mesh->vertex_count;
    w->owner = calloc((size_t)n, sizeof *w->owner);
    w->vertex = calloc((size_t)n, sizeof *w->vertex);
    for (tac_lid i = 0; i < n; i++)
        w->owner[i] = owner_of(w, how, i);
    enum tac_err err = tac_model_create(&w->ctx, w->whole, &w->model);
    if (!err && w->ctx.size > 1) {
        err = tac_pieces_from_scene(&w->ctx, w->whole, &pieces);
        err = err ? err : tac_pieces_topology(&w->ctx, pieces);
        for (tac_lid i = 0; !err && i < pieces->vertex_count; i++)
            pieces->owner[i] = w->owner[pieces->vertex_id[i]];
        err = err ? err : tac_local_create(&w->ctx, w->whole, pieces, &w->local);
        tac_pieces_destroy(&pieces);
    }
    err = err ? err : tac_sim_create(&w->ctx, w->local ? w->local : w->whole, TAC_DISCOVER_SPECULATE, &w->sim);
    err = err ? err : world_flat(w);
    if (err)
        world_failed(w);
    w->model->omit_immovable = true; /* as that of the simulation */
}

static inline void world_end(struct world *w)
{
    tac_sim_destroy(&w->sim);
    tac_model_destroy(&w->model);
    tac_local_destroy(&w->local);
    tac_scene_destroy(&w->whole);
    free(w->owner);
    free(w->vertex);
}

/* ---- motion ---- */

static inline bool world_immovable(const struct world *w, tac_gid id)
{
    return tac_model_is_immovable(w->model, id);
}

static inline double world_seconds(tac_time t, const struct world *w)
{
    return (double)t * w->whole->settings->quantum_s;
}

static inline void draw_motion(struct world *w, struct world_vertex *p, double jump, double way, double stray)
{
    for (int k = 0; k < 3; k++) {
        p->x[k] += draw(w, -jump, jump);
        p->u[k] = draw(w, -way, way);
    }
    p->deviation = draw(w, 0, stray);
}

static inline void measure_extent(struct world *w)
{
    for (tac_gid i = 0; i < w->whole->mesh->vertex_count; i++)
        for (int k = 0; k < 3; k++)
            w->extent =
                fmax(w->extent, fmax(fabs(w->vertex[i].x[k]), fabs(w->vertex[i].centre[k])) + fabs(w->vertex[i].u[k]));
}

/* The bound of a vertex from now on, which is from_s after the list's start. */
static inline void world_bound(struct world *w, tac_gid id, double from_s)
{
    struct world_vertex *p = &w->vertex[id];
    const double skin = w->sim->view.candidates->skin;
    bool fixed = true; /* a body of which no vertex moves */
    const struct tac_body *body = &w->whole->settings->body[w->whole->mesh->vertex_body[id]];
    for (tac_lid i = body->vertex_begin; i < body->vertex_end; i++)
        fixed = fixed && world_immovable(w, i);
    for (int k = 0; k < 3; k++) {
        p->velocity[k] = p->u[k] / world_seconds(WINDOW, w);
        p->centre[k] = p->x[k] - from_s * p->velocity[k];
    }
    p->radius = fixed ? 0 : fmax(skin, 2 * p->deviation);
    p->from_s = from_s;
}

/* All vertices are somewhere near their start, and move. */
static inline void world_start(struct world *w)
{
    const double *x = w->whole->mesh->x;
    w->extent = 0;
    for (tac_gid i = 0; i < w->whole->mesh->vertex_count; i++) {
        struct world_vertex *p = &w->vertex[i];
        memset(p, 0, sizeof *p);
        memcpy(p->x, x + 3 * i, sizeof p->x);
        if (!world_immovable(w, i))
            draw_motion(w, p, w->stir, .3 * w->stir, pick(w, 8) ? 0 : .4 * w->stir);
        world_bound(w, i, 0);
    }
    measure_extent(w);
}

/* Time goes on to `now_s` after the list's start: who keeps to its bound is at its centre. */
static inline void world_go_on(struct world *w, double now_s)
{
    for (tac_gid i = 0; i < w->whole->mesh->vertex_count; i++) {
        struct world_vertex *p = &w->vertex[i];
        for (int k = 0; k < 3; k++)
            p->x[k] = p->centre[k] + now_s * p->velocity[k];
    }
}

/* Collective. This rank's candidates hear of the motions of its vertices, and its neighbours of those that they ask
 * for. */
static inline void world_tell(struct world *w)
{
    struct tac_candidates *c = w->sim->view.candidates;
    for (tac_lid i = 0; i < w->sim->state.owned; i++) {
        const struct world_vertex *p = &w->vertex[tac_scene_id(w->sim->scene, i)];
        memcpy(&c->x[3 * (size_t)i], p->x, sizeof p->x);
        memcpy(c->move[i].u, p->u, sizeof p->u);
        c->move[i].deviation = p->deviation;
        c->move[i].speed = 0;
        c->move[i].near = false;
    }
    if (w->local)
        tac_moves_exchange(&w->sim->view);
}

/* ---- pairs, by brute force ---- */

struct world_pair {
    uint64_t key;
    enum tac_pair_type type;
    tac_gid v[4];
    double from_s; /* since when it has been looked for */
    double reach;  /* of its first layer, m */
};

/* Where the centres are at t_s after the list's start. */
static inline void world_centres(const struct world *w, const struct world_pair *p, double t_s, double x[4][3])
{
    for (int i = 0; i < tac_pair_vertices(p->type); i++)
        for (int k = 0; k < 3; k++)
            x[i][k] = w->vertex[p->v[i]].centre[k] + t_s * w->vertex[p->v[i]].velocity[k];
}

/* How much nearer the pair can be than its centres are, m: no vertex is farther from its centre than its radius. */
static inline double world_radii(const struct world *w, const struct world_pair *p)
{
    double radius[2] = {0, 0};
    for (int i = 0; i < tac_pair_vertices(p->type); i++) {
        double *r = &radius[i >= tac_pair_first(p->type)];
        *r = fmax(*r, w->vertex[p->v[i]].radius);
    }
    return radius[0] + radius[1];
}

/* How much nearer it comes where all vertices are as far as that from their centres, towards each other, m. */
static inline double world_meeting(const struct world *w, const struct world_pair *p, const struct tac_near *near)
{
    double sum = 0;
    for (int i = 0; i < tac_pair_vertices(p->type); i++)
        sum += fabs(near->w[i]) * w->vertex[p->v[i]].radius;
    return sum;
}

static inline double world_span(const struct world *w)
{
    return world_seconds(LIFETIME, w);
}

/* May it be listed at all? */
static inline bool world_may(const struct world *w, const struct world_pair *p)
{
    const double left_s = world_span(w) - p->from_s;
    double x[4][3], u[4][3];
    struct tac_near near;
    world_centres(w, p, p->from_s, x);
    for (int i = 0; i < tac_pair_vertices(p->type); i++)
        for (int k = 0; k < 3; k++)
            u[i][k] = left_s * w->vertex[p->v[i]].velocity[k];
    tac_near_pair(p->type, x, &near);
    return near.d - world_radii(w, p) - tac_relative(p->type, u) <= p->reach + 1e-9 * p->reach + 4e-12 * w->extent;
}

/* When a pair must be found at the latest, s after the list's start; infinity: it need not be. */
static inline double world_must(const struct world *w, const struct world_pair *p)
{
    const double span_s = world_span(w);
    if (!world_may(w, p)) /* most are far from each other */
        return INFINITY;
    for (int k = 0; k <= SAMPLES; k++) {
        const double t_s = p->from_s + (span_s - p->from_s) * k / SAMPLES;
        double x[4][3];
        struct tac_near near;
        world_centres(w, p, t_s, x);
        tac_near_pair(p->type, x, &near);
        if (near.d - world_meeting(w, p, &near) < p->reach - 1e-9 * p->reach - 4e-12 * w->extent)
            return t_s;
    }
    return INFINITY;
}

/* The pair of primitive a of vertices va and primitive b of vertices vb; false: it is none. */
static inline bool world_make_pair(const struct world *w, enum tac_pair_type type, tac_gid a, const tac_lid *va,
                                   tac_gid b, const tac_lid *vb, struct world_pair *p)
{
    const int first = tac_pair_first(type), n = tac_pair_vertices(type);
    struct tac_form form;
    tac_lid v[4] = {-1, -1, -1, -1};
    p->from_s = 0;
    for (int i = 0; i < n; i++) {
        v[i] = i < first ? va[i] : vb[i - first];
        p->v[i] = v[i];
        p->from_s = fmax(p->from_s, w->vertex[v[i]].from_s);
    }
    if (!tac_model_is_pair(w->model, type, v))
        return false;
    p->type = type;
    p->key = tac_pair_key(type, (tac_lid)a, (tac_lid)b);
    tac_model_form(w->model, type, v, &form);
    p->reach = tac_model_reach(w->model, &form, 1);
    return true;
}

/* All pairs of the scene that may touch, one after the other; on several ranks each looks at a part of them. */
static inline void world_pairs(struct world *w, void (*look)(struct world *w, const struct world_pair *p, void *self),
                               void *self)
{
    const struct tac_local_mesh *m = w->whole->mesh;
    const struct tac_topology *topology = m->topology;
    struct world_pair p;
    const tac_lid step = w->ctx.size, begin = w->ctx.rank;
    for (tac_lid i = begin; i < m->vertex_count; i += step) {
        for (tac_lid t = 0; t < m->triangle_count; t++)
            if (world_make_pair(w, TAC_PAIR_VERTEX_TRIANGLE, i, &i, t, &m->triangle[3 * t], &p))
                look(w, &p, self);
        for (tac_lid g = 0; g < m->segment_count; g++)
            if (world_make_pair(w, TAC_PAIR_VERTEX_SEGMENT, i, &i, g, &m->segment[2 * g], &p))
                look(w, &p, self);
        for (tac_lid j = i + 1; j < m->vertex_count && w->model->particle[i]; j++)
            if (w->model->particle[j] && world_make_pair(w, TAC_PAIR_VERTEX_VERTEX, i, &i, j, &j, &p))
                look(w, &p, self);
    }
    for (tac_lid a = begin; a < topology->edge_count; a += step)
        for (tac_lid b = a + 1; b < topology->edge_count; b++)
            if (world_make_pair(w, TAC_PAIR_EDGE_EDGE, a, &topology->edge[2 * a], b, &topology->edge[2 * b], &p))
                look(w, &p, self);
}

/* Ends a test program on any number of ranks. */
static inline int world_result(void)
{
    int failed = check_result();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}

#endif
