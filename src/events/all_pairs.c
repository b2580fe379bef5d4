/* All pairs, every straight segment between due instants: the plain reference (design 2.3, 3.3).
 *
 * Quadratic and obvious.  The one liberty: a pair is left alone while the vertices together have not moved far enough
 * since it was last looked at for its distance to have fallen to its next layer.  It shares the distance kernels with
 * the rest, and nothing of the candidate lists, tubes, paths or windows. */
#include "events/path.h"
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
    double travelled;    /* sum over segments of twice the largest displacement of a vertex, m */
    double *u;           /* owned, (V, 3) */
    int32_t stuck;       /* slot of a pair that comes under its bottom in the segment, or -1 */
};

static enum tac_err add(struct tac_sim *sim, struct oracle *o, enum tac_pair_type type, tac_lid a, tac_lid b)
{
    enum tac_err err = TAC_OK;
    struct entry e = {.key = tac_pair_key(type, a, b), .slot = -1, .type = (uint8_t)type};
    struct tac_form form;
    tac_key_vertices(sim->scene, e.key, e.v);
    if (!tac_model_is_pair(sim->model, type, e.v))
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

static enum tac_err create(struct tac_sim *sim)
{
    enum tac_err err;
    const struct tac_scene *s = sim->scene;
    const uint8_t *particle = sim->model->particle;
    struct oracle *o = NULL;
    TAC_TRY(tac_alloc(sim->ctx, 1, sizeof *o, &o));
    sim->oracle = o;
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)s->vertex_count, sizeof *o->u, &o->u));
    for (tac_lid i = 0; i < s->vertex_count; i++) {
        for (tac_lid t = 0; t < s->triangle_count; t++)
            TAC_TRY(add(sim, o, TAC_PAIR_VERTEX_TRIANGLE, i, t));
        for (tac_lid g = 0; g < s->segment_count; g++)
            TAC_TRY(add(sim, o, TAC_PAIR_VERTEX_SEGMENT, i, g));
        for (tac_lid j = i + 1; particle[i] && j < s->vertex_count; j++)
            if (particle[j])
                TAC_TRY(add(sim, o, TAC_PAIR_VERTEX_VERTEX, i, j));
    }
    for (tac_lid e = 0; e < s->topology->edge_count && !s->two_d; e++)
        for (tac_lid f = e + 1; f < s->topology->edge_count; f++)
            TAC_TRY(add(sim, o, TAC_PAIR_EDGE_EDGE, e, f));
    TAC_TRY(tac_alloc(sim->ctx, o->count / BLOCK + 1, sizeof *o->wake, &o->wake));
done:
    return err;
}

static void destroy(struct tac_sim *sim)
{
    struct oracle *o = sim->oracle;
    if (o == NULL)
        return;
    free(o->entry);
    free(o->wake);
    free(o->u);
    free(o);
    sim->oracle = NULL;
}

/* Displacements over the straight segment now..t; the largest. */
static double displacements(struct tac_sim *sim, tac_time t, double *u, double *extent)
{
    double most = 0;
    *extent = 0;
    for (tac_lid i = 0; i < sim->scene->vertex_count; i++) {
        double x[3], y[3];
        tac_position(sim, i, sim->now, x);
        tac_position(sim, i, t, y);
        tac_sub(&u[3 * (size_t)i], y, x);
        most = fmax(most, tac_dot(&u[3 * (size_t)i], &u[3 * (size_t)i]));
        *extent = fmax(*extent, fmax(fabs(x[0]) + fabs(y[0]), fmax(fabs(x[1]) + fabs(y[1]), fabs(x[2]) + fabs(y[2]))));
    }
    return sqrt(most);
}

/* Looks at one pair over the segment; watches one more rung if it may come so near: the segment may then be shorter,
 * and all look again. */
static enum tac_err look_at(struct tac_sim *sim, struct oracle *o, struct entry *e, tac_time t, double extent,
                            bool *grew)
{
    enum tac_err err = TAC_OK;
    double x[4][3], u[4][3];
    const double tolerance = e->tolerance + 1e-14 * extent;
    for (int i = 0; i < e->count; i++) {
        tac_position(sim, e->v[i], sim->now, x[i]);
        memcpy(u[i], &o->u[3 * (size_t)e->v[i]], sizeof u[i]);
    }
    struct tac_near near;
    tac_near_pair((enum tac_pair_type)e->type, x, &near);
    /* Rungs long left behind: they would only be silent. */
    struct tac_pair *p = e->slot >= 0 ? &sim->pair[e->slot] : NULL;
    if (p != NULL && p->deep_last == INFINITY &&
        near.d > p->deep_reach + .1 * p->form.thickness + 8 * tac_relative((enum tac_pair_type)e->type, u)) {
        double first = tac_model_reach(sim->model, &p->form, 1);
        tac_watch_drop(sim, e->slot);
        e->next = p->live ? p->next : first;
        e->slot = p->live ? e->slot : -1;
    }
    double s = tac_sweep((enum tac_pair_type)e->type, x, u, e->next, tolerance);
    if (s <= 1) {
        if (e->slot >= 0 && sim->pair[e->slot].depth == sim->pair[e->slot].form.bottom) {
            o->stuck = e->slot;
        } else {
            TAC_TRY(tac_watch(sim, e->key, e->v, &e->slot));
            e->next = sim->pair[e->slot].next;
            *grew = true;
        }
    }
    e->wake = e->slot >= 0 ? 0 : o->travelled + .999 * fmax(0, near.d - e->next - tolerance);
done:
    return err;
}

static enum tac_err look_at_all(struct tac_sim *sim, struct oracle *o, tac_time t, bool *grew)
{
    enum tac_err err = TAC_OK;
    double extent, step = 2 * displacements(sim, t, o->u, &extent);
    for (size_t b = 0; b * BLOCK < o->count; b++) {
        if (o->wake[b] > o->travelled + step)
            continue;
        double least = INFINITY;
        for (size_t k = b * BLOCK; k < o->count && k < (b + 1) * BLOCK; k++) {
            if (o->entry[k].wake <= o->travelled + step)
                TAC_TRY(look_at(sim, o, &o->entry[k], t, extent, grew));
            least = fmin(least, o->entry[k].wake);
        }
        o->wake[b] = least;
    }
    if (!*grew)
        o->travelled += step;
done:
    return err;
}

static enum tac_err advance(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err;
    struct oracle *o = sim->oracle;
    tac_time t;
    for (;;) {
        bool grew = false;
        TAC_TRY(tac_watch_settle(sim));
        TAC_TRY(tac_clock_start(sim));
        t = tac_clock_next(sim, sim->now, limit);
        if (t == TAC_TIME_NEVER)
            t = limit;
        double begin_s = tac_wall_s();
        o->stuck = -1;
        err = look_at_all(sim, o, t, &grew);
        sim->counters.seconds_discovery += tac_wall_s() - begin_s;
        if (err)
            goto done;
        if (!grew)
            break;
    }
    if (o->stuck >= 0) {
        err = tac_sim_stuck(sim, &sim->pair[o->stuck]);
        goto done;
    }
    TAC_TRY(tac_pass_begin(sim));
    tac_time reached = tac_pass_run(sim, t);
    TAC_TRY(tac_pass_commit(sim, reached));
done:
    return err;
}

const struct tac_discovery tac_discovery_all_pairs = {"all-pairs", create, advance, destroy};
