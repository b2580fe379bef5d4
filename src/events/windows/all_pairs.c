/* all_pairs.c: contact discovery by all pairs over every straight segment between due instants: the plain reference
 * (docs/explanation/method.md, Finding contacts).
 *
 * It takes quadratic time and is easy to verify. It looks at every pair, with one exception: since the last look at a
 * pair, the vertices must have moved far enough for its distance to reach the next layer. It shares the distance
 * kernels with the other modes of discovery, but no candidate lists, trajectory bounds, paths or windows.
 *
 * On several ranks every vertex is a ghost on every other rank, all ranks step together from instant to instant, and
 * each rank looks at the pairs whose first vertex it owns. */
#include "contact/friction.h"
#include "contact/limits.h"
#include "events/ranks/ranks.h"
#include "geometry/sweep.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 };

struct entry {
    uint64_t key;
    tac_lid v[4];
    int32_t slot;
    uint8_t type, count;
    double next, tolerance;
    double wake; /* travelled distance at which it must be looked at again */
};

struct oracle {
    size_t count, capacity;
    struct entry *entry; /* owned */
    double *wake;        /* owned: least of each block */
    double step;         /* the same for the segment looked at */
    double travelled;    /* sum over segments of twice the largest displacement of a vertex, m */
    double *u;           /* owned, (V, 3) */
    bool stuck;          /* some pair comes under its bottom in the segment */
};

/* An element of the whole scene: its id and its vertices here. */
struct element {
    tac_gid id;
    tac_gid v[3];
};

struct elements {
    size_t count[3];
    struct element *list[3]; /* owned: triangles, segments, edges */
    size_t vertex_count;
    struct tac_ghost *vertex; /* owned: of several ranks only */
};

static tac_gid triangle_id(const struct tac_scene *s, tac_lid t)
{
    return s->mesh->part ? s->mesh->part->triangle_id[t] : t;
}

static tac_gid segment_id(const struct tac_scene *s, tac_lid g)
{
    return s->mesh->part ? s->mesh->part->segment_id[g] : g;
}

static tac_gid edge_id(const struct tac_scene *s, tac_lid e)
{
    return s->mesh->part ? s->mesh->part->edge_id[e] : e;
}

/* Lists the elements whose lowest vertex this rank owns. */
static enum tac_err own_elements(struct tac_sim *sim, struct elements *own)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *s = sim->scene;
    const tac_lid total[3] = {s->mesh->triangle_count, s->mesh->segment_count, s->mesh->topology->edge_count};
    const tac_lid *const vertex[3] = {s->mesh->triangle, s->mesh->segment, s->mesh->topology->edge};
    for (int kind = 0; kind < 3; kind++) {
        const int n = kind == 0 ? 3 : 2;
        TAC_TRY(tac_alloc(sim->ctx, (size_t)total[kind], sizeof *own->list[kind], &own->list[kind]));
        for (tac_lid e = 0; e < total[kind]; e++) {
            const tac_lid *v = &vertex[kind][n * e];
            tac_lid low = v[0];
            struct element *out = &own->list[kind][own->count[kind]];
            *out = (struct element){kind == 0   ? triangle_id(s, e)
                                    : kind == 1 ? segment_id(s, e)
                                                : edge_id(s, e),
                                    {-1, -1, -1}};
            for (int i = 0; i < n; i++) {
                low = tac_scene_id(sim->scene, v[i]) < tac_scene_id(sim->scene, low) ? v[i] : low;
                out->v[i] = tac_scene_id(sim->scene, v[i]);
            }
            own->count[kind] += low < sim->state.owned;
        }
    }
done:
    return err;
}

/* Sends every rank's records to every rank. */
static enum tac_err gather_records(struct tac_sim *sim, const void *own, size_t count, size_t size, void *all,
                                   size_t *total)
{
    enum tac_err err;
    const size_t ranks = (size_t)sim->ctx->size;
    char *copies = NULL;
    int64_t *sent = NULL, *got = NULL;
    TAC_TRY(tac_alloc(sim->ctx, ranks * count, size, &copies));
    TAC_TRY(tac_alloc(sim->ctx, ranks, sizeof *sent, &sent));
    TAC_TRY(tac_alloc(sim->ctx, ranks, sizeof *got, &got));
    for (size_t r = 0; r < ranks; r++) {
        memcpy(copies + r * count * size, own, count * size);
        sent[r] = (int64_t)count;
    }
done:
    err = tac_agree(sim->ctx, err);
    if (!err)
        err = tac_exchange(sim->ctx, copies, sent, size, all, got);
    *total = 0;
    for (size_t r = 0; r < ranks && !err; r++)
        *total += (size_t)got[r];
    free(copies);
    free(sent);
    free(got);
    return err;
}

/* Gathers all elements of the scene, and makes all its vertices ghosts. */
static enum tac_err gather_all(struct tac_sim *sim, struct elements *all)
{
    enum tac_err err;
    struct elements own = {{0}, {NULL}, 0, NULL};
    struct tac_ghost *ghost = NULL;
    if (!tac_ranks_halo(sim->ranks))
        return own_elements(sim, all);
    err = tac_agree(sim->ctx, own_elements(sim, &own));
    for (int kind = 0; kind < 3 && !err; kind++)
        err = gather_records(sim, own.list[kind], own.count[kind], sizeof(struct element), &all->list[kind],
                             &all->count[kind]);
    if (!err)
        err = tac_agree(sim->ctx, tac_alloc(sim->ctx, (size_t)sim->state.owned, sizeof *ghost, &ghost));
    for (tac_lid i = 0; i < sim->state.owned && !err; i++)
        tac_ghost_describe(sim->scene, i, &ghost[i]);
    if (!err)
        err = gather_records(sim, ghost, (size_t)sim->state.owned, sizeof *ghost, &all->vertex, &all->vertex_count);
    for (size_t k = 0; k < all->vertex_count && !err; k++) {
        tac_lid v;
        err = tac_ghost_add(tac_ranks_halo(sim->ranks), &all->vertex[k], &v);
    }
    err = tac_agree(sim->ctx, err);
    if (!err) {
        memset(tac_ranks_halo(sim->ranks)->mark, 1, (size_t)sim->state.count);
        err = tac_agree(sim->ctx, tac_halo_subscribe(tac_ranks_halo(sim->ranks)));
    }
    for (int kind = 0; kind < 3; kind++)
        free(own.list[kind]);
    free(ghost);
    return err;
}

static tac_lid local_vertex(const struct tac_sim *sim, tac_gid id)
{
    return tac_ranks_halo(sim->ranks) ? tac_ghost_find(tac_ranks_halo(sim->ranks), id) : (tac_lid)id;
}

/* Adds the pair of a first primitive (id a, vertices va) and a second one; this rank owns its first vertex. */
static enum tac_err add_entry(struct tac_sim *sim, struct oracle *o, enum tac_pair_type type, tac_gid a,
                              const tac_gid *va, tac_gid b, const tac_gid *vb)
{
    enum tac_err err = TAC_OK;
    struct entry e = {.key = tac_pair_key(type, (tac_lid)a, (tac_lid)b), .slot = -1, .type = (uint8_t)type};
    struct tac_form form;
    const int first = tac_pair_first(type), n = tac_pair_vertices(type);
    for (int i = 0; i < 4; i++)
        e.v[i] = i < first ? local_vertex(sim, va[i]) : i < n ? local_vertex(sim, vb[i - first]) : -1;
    if (e.v[0] >= sim->state.owned || !tac_model_is_pair(sim->model, type, e.v))
        return TAC_OK;
    if (o->count >= 40000000)
        return tac_fail(
            sim->ctx, TAC_ERR_INPUT,
            "the scene has more than 4e7 pairs, too many for --discover all-pairs; use --discover speculate");
    tac_model_form(sim->model, type, e.v, &form);
    e.count = (uint8_t)tac_pair_vertices(type);
    e.next = tac_model_reach(sim->model, &form, 1);
    e.tolerance = 1e-7 * form.thickness;
    TAC_TRY(tac_grow(sim->ctx, &o->entry, &o->capacity, o->count + 1, sizeof *o->entry));
    o->entry[o->count++] = e;
done:
    return err;
}

static enum tac_err list_pairs(struct tac_sim *sim, struct oracle *o, const struct elements *all)
{
    enum tac_err err = TAC_OK;
    const uint8_t *particle = sim->model->particle;
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        const tac_gid a = tac_scene_id(sim->scene, i);
        for (size_t t = 0; t < all->count[0]; t++)
            TAC_TRY(add_entry(sim, o, TAC_PAIR_VERTEX_TRIANGLE, a, &a, all->list[0][t].id, all->list[0][t].v));
        for (size_t g = 0; g < all->count[1]; g++)
            TAC_TRY(add_entry(sim, o, TAC_PAIR_VERTEX_SEGMENT, a, &a, all->list[1][g].id, all->list[1][g].v));
        for (tac_lid j = 0; particle[i] && j < sim->state.count; j++) {
            const tac_gid b = tac_scene_id(sim->scene, j);
            if (particle[j] && b > a)
                TAC_TRY(add_entry(sim, o, TAC_PAIR_VERTEX_VERTEX, a, &a, b, &b));
        }
    }
    struct tac_limit limit = {0};
    while (tac_limits_next(sim->model, &limit)) {
        tac_gid v[3];
        for (int i = 0; i < tac_pair_vertices(limit.type); i++)
            v[i] = tac_scene_id(sim->scene, limit.v[i]);
        TAC_TRY(add_entry(sim, o, limit.type, limit.a, &v[0], limit.b, &v[1]));
    }
    for (size_t e = 0; e < all->count[2] && !sim->scene->settings->two_d; e++)
        for (size_t f = 0; f < all->count[2]; f++) {
            const struct element *a = &all->list[2][e], *b = &all->list[2][f];
            if (a->id < b->id)
                TAC_TRY(add_entry(sim, o, TAC_PAIR_EDGE_EDGE, a->id, a->v, b->id, b->v));
        }
done:
    return err;
}

static enum tac_err create_oracle(struct tac_sim *sim)
{
    enum tac_err err;
    struct oracle *o = NULL;
    struct elements all = {{0}, {NULL}, 0, NULL};
    TAC_TRY(tac_alloc(sim->ctx, 1, sizeof *o, &o));
    sim->find.oracle = o;
    TAC_TRY(gather_all(sim, &all));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->state.count, sizeof *o->u, &o->u));
    TAC_TRY(list_pairs(sim, o, &all));
    TAC_TRY(tac_alloc(sim->ctx, o->count / BLOCK + 1, sizeof *o->wake, &o->wake));
done:
    for (int kind = 0; kind < 3; kind++)
        free(all.list[kind]);
    free(all.vertex);
    return err;
}

static void destroy_oracle(struct tac_sim *sim)
{
    struct oracle *o = sim->find.oracle;
    if (o == NULL)
        return;
    free(o->entry);
    free(o->wake);
    free(o->u);
    free(o);
    sim->find.oracle = NULL;
}

/* Computes the displacements over the straight segment now..t, and returns the largest one. */
static double measure_displacements(struct tac_sim *sim, tac_time t, double *u, double *extent)
{
    double most = 0;
    *extent = 0;
    for (tac_lid i = 0; i < sim->state.count; i++) {
        double x[3], y[3];
        const struct tac_line *line = &sim->paths.line[i];
        tac_position(&sim->state, &sim->scripts, i, sim->state.now,
                     x); /* a ghost's line and place have just been received */
        tac_position(&sim->state, &sim->scripts, i, t, y);
        for (int k = 0; i >= sim->state.owned && k < 3; k++)
            y[k] = line->x[k] + tac_state_seconds(&sim->state, t - line->t) * line->v[k];
        tac_sub(&u[3 * (size_t)i], y, x);
        most = fmax(most, tac_dot(&u[3 * (size_t)i], &u[3 * (size_t)i]));
        *extent = fmax(*extent, fmax(fabs(x[0]) + fabs(y[0]), fmax(fabs(x[1]) + fabs(y[1]), fabs(x[2]) + fabs(y[2]))));
    }
    return sqrt(most);
}

/* Looks at one pair over the segment, and activates one more layer group if the pair may come so near. The segment may
 * then become shorter, and all pairs are examined again. */
static enum tac_err examine_pair(struct tac_sim *sim, struct oracle *o, struct entry *e, tac_time t, double extent,
                                 bool *grew)
{
    enum tac_err err = TAC_OK;
    double x[4][3], u[4][3];
    const double tolerance = e->tolerance + 1e-14 * extent;
    /* After a restart or a rebalancing pairs are active that the list has not seen. */
    if (e->slot < 0 && (e->slot = tac_active_find(&sim->active, e->key)) >= 0)
        e->next = sim->active.pair[e->slot].next;
    for (int i = 0; i < e->count; i++) {
        tac_position(&sim->state, &sim->scripts, e->v[i], sim->state.now, x[i]);
        memcpy(u[i], &o->u[3 * (size_t)e->v[i]], sizeof u[i]);
    }
    tac_model_gather(sim->model, (enum tac_pair_type)e->type, e->v, x);
    struct tac_near near;
    tac_near_pair((enum tac_pair_type)e->type, x, &near);
    /* Layer groups long left behind: they would only be silent. */
    struct tac_pair *p = e->slot >= 0 ? &sim->active.pair[e->slot] : NULL;
    if (p != NULL && p->deep_last == INFINITY && !tac_friction_has_state(&sim->active, e->slot) &&
        near.d > p->deep_reach + .1 * p->form.thickness + 8 * tac_relative((enum tac_pair_type)e->type, u)) {
        double first = tac_model_reach(sim->model, &p->form, 1);
        TAC_TRY(tac_order(sim->ctx, sim->ranks, &sim->active, e->slot, true));
        tac_active_drop(sim, e->slot);
        e->next = p->live ? p->next : first;
        e->slot = p->live ? e->slot : -1;
    }
    double s = tac_sweep((enum tac_pair_type)e->type, x, u, e->next, tolerance);
    if (s <= 1) {
        if (e->slot >= 0 && sim->active.pair[e->slot].depth == sim->active.pair[e->slot].form.bottom) {
            o->stuck = true;
        } else {
            TAC_TRY(tac_activate(sim, e->key, e->v, &e->slot));
            TAC_TRY(tac_order(sim->ctx, sim->ranks, &sim->active, e->slot, false));
            e->next = sim->active.pair[e->slot].next;
            *grew = true;
        }
    }
    e->wake = e->slot >= 0 ? 0 : o->travelled + .999 * fmax(0, near.d - e->next - tolerance);
done:
    return err;
}

static enum tac_err examine_all_pairs(struct tac_sim *sim, struct oracle *o, tac_time t, bool *grew)
{
    enum tac_err err = TAC_OK;
    double extent, step = 2 * measure_displacements(sim, t, o->u, &extent);
    for (size_t b = 0; b * BLOCK < o->count; b++) {
        if (o->wake[b] > o->travelled + step)
            continue;
        double least = INFINITY;
        for (size_t k = b * BLOCK; k < o->count && k < (b + 1) * BLOCK; k++) {
            if (o->entry[k].wake <= o->travelled + step)
                TAC_TRY(examine_pair(sim, o, &o->entry[k], t, extent, grew));
            least = fmin(least, o->entry[k].wake);
        }
        o->wake[b] = least;
    }
    o->step = step;
done:
    return err;
}

/* Finds the next instant *t of all ranks. It repeats the examination until no rank activates another layer group before
 * that instant. */
static enum tac_err find_next_instant(struct tac_sim *sim, tac_time limit, tac_time *t, bool *stuck)
{
    enum tac_err err;
    struct oracle *o = sim->find.oracle;
    for (;;) {
        bool grew = false;
        TAC_TRY(tac_ranks_hold(sim->ranks, tac_active_settle(sim)));
        TAC_TRY(tac_ranks_hold(sim->ranks, tac_clock_start(sim)));
        *t = tac_clock_next(sim, sim->state.now, limit);
        *t = *t == TAC_TIME_NEVER ? limit : *t;
        if (tac_ranks_halo(sim->ranks)) {
            MPI_Allreduce(MPI_IN_PLACE, t, 1, TAC_TIME_MPI, MPI_MIN, sim->ctx->comm);
            tac_halo_link(tac_ranks_halo(sim->ranks));
            tac_ranks_lines(sim);
        }
        double begin_s = tac_wall_s();
        o->stuck = false;
        if (!tac_ranks_halo(sim->ranks) || !tac_ranks_down(sim->ranks))
            TAC_TRY(tac_ranks_hold(sim->ranks, examine_all_pairs(sim, o, *t, &grew)));
        sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
        int64_t tell[TAC_TELLS] = {0};
        tell[TAC_TELL_BROKEN] = grew;
        tell[TAC_TELL_BOTTOM] = o->stuck;
        tac_orders_exchange(sim);
        TAC_TRY(tac_ranks_reduce(sim, tell));
        *stuck = tell[TAC_TELL_BOTTOM] != 0;
        if (!tell[TAC_TELL_BROKEN])
            break; /* all alike */
    }
done:
    return err;
}

static enum tac_err advance_instants(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err;
    struct oracle *o = sim->find.oracle;
    tac_time t, reached;
    bool stuck = false;
    int64_t tell[TAC_TELLS] = {0};
    TAC_TRY(find_next_instant(sim, limit, &t, &stuck));
    o->travelled += o->step;
    if (stuck) {
        err = tac_sim_stuck(sim);
        goto done;
    }
    TAC_TRY(tac_ranks_hold(sim->ranks, tac_pass_begin(sim)));
    reached = t;
    if (!tac_ranks_halo(sim->ranks) || !tac_ranks_down(sim->ranks))
        reached = tac_pass_run(sim, t);
    if (tac_ranks_halo(sim->ranks))
        tac_ranks_close(sim);
    TAC_TRY(tac_ranks_reduce(sim, tell));
    TAC_TRY(tac_ranks_hold(sim->ranks, tac_pass_commit(sim, reached)));
done:
    return err;
}

const struct tac_discovery tac_discovery_all_pairs = {"all-pairs", create_oracle, advance_instants, destroy_oracle};
