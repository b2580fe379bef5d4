/* impact_search.c: lists the pairs that may come near in a flight, by the broad phase. TACTUS_TEST_SKIN multiplies the
 * skin of the list, which must not change any bit.
 *
 * In the rounds of a step velocities change their directions, and with them the flights. Where flights are short, as
 * compared to the particles, the list has therefore all pairs that come near in any flight from here that is not longer
 * than a quarter more than the longest one of now. */
#include "base/exchange.h"
#include "impact/impact.h"
#include <stdlib.h>
#include <string.h>

/* In units of the thickness: a pair is looked at from a little farther than it can become a row from. */
static const double MARGIN = 1.125;
static const double SHORT = 2;     /* radii of the smallest particle */
static const double AROUND = 1.25; /* times the longest flight */
enum { PARTS = 2 }; /* where more than one of so many vertices have other flights than before, all are searched */

/* Collective. Returns the least radius of what moves; of a rigid piece its radius of gyration. */
static enum tac_err find_radius(const struct tac_impact *sim, double *radius)
{
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    *radius = INFINITY;
    for (tac_lid v = 0; v < sim->owned; v++)
        if (mesh->ever_free[v] && !tac_impact_is_rigid(sim, v))
            *radius = fmin(*radius, sim->scene->settings->body[mesh->vertex_body[v]].radius);
    for (size_t n = 0; n < sim->rigid.own_count; n++) {
        const struct tac_rigid_body *r = &sim->scene->settings->rigid[sim->rigid.own[n]];
        *radius = fmin(*radius, sqrt((r->second[0] + r->second[1] + r->second[2]) / r->mass));
    }
    return tac_over_ranks(sim->ctx, radius, 1, MPI_DOUBLE, MPI_MIN);
}

enum tac_err tac_impact_search_create(struct tac_impact *sim)
{
    enum tac_err err;
    struct tac_impact_search *s = &sim->search;
    s->state = (struct tac_vertex_state){.owned = sim->owned, .count = sim->count, .capacity = sim->count};
    s->scripts = (struct tac_scripts){.of = sim->scripts.of};
    s->view = (struct tac_view){.ctx = sim->ctx,
                                .scene = sim->scene,
                                .model = sim->model,
                                .state = &s->state,
                                .scripts = &s->scripts,
                                .counters = &sim->books.counters,
                                .halo = sim->halo,
                                .margin = MARGIN,
                                .every_owner = true,
                                .self = sim};
    TAC_TRY(tac_agree(sim->ctx, tac_alloc(sim->ctx, (size_t)sim->owned, 1, &s->listed)));
    TAC_TRY(tac_agree(sim->ctx, tac_impact_blocks_create(sim)));
    TAC_TRY(find_radius(sim, &s->radius));
    TAC_TRY(tac_along_create(&s->view, sim->ctx->hooks.skin, &s->along));
done:
    return err;
}

void tac_impact_search_destroy(struct tac_impact *sim)
{
    tac_along_destroy(&sim->search.along);
    tac_impact_blocks_free(&sim->search);
    free(sim->search.listed);
    free(sim->search.pair);
}

/* context: the simulation; a tac_take_pair. */
static enum tac_err take(void *context, const struct tac_found_pair *pair)
{
    enum tac_err err = TAC_OK;
    struct tac_impact *sim = context;
    struct tac_impact_search *s = &sim->search;
    if (!(pair->thickness > 0) || !(pair->wait <= 1) ||
        !tac_stencil_mine(sim->scene, pair->v, tac_pair_vertices(pair->type)))
        return TAC_OK;
    TAC_TRY(tac_grow(sim->ctx, &s->pair, &s->capacity, s->count + 1, sizeof *s->pair));
    struct tac_impact_pair *p = &s->pair[s->count++];
    *p = (struct tac_impact_pair){.key = tac_pair_key(pair->type, pair->id[0], pair->id[1]),
                                  .type = pair->type,
                                  .radius = pair->radius,
                                  .thickness = pair->thickness};
    memcpy(p->v, pair->v, sizeof p->v);
    p->room = tac_impact_room(sim, p, pair->d);
    p->active = tac_impact_active_find(sim, p->key) != NULL;
    p->safe = true; /* no vertex of it is marked: it was proven, though it was on no list */
done:
    return err;
}

static enum tac_err find_longest(const struct tac_impact *sim, double *longest)
{
    *longest = 0;
    for (size_t v = 0; v < (size_t)sim->owned; v++)
        *longest = fmax(*longest, tac_dot(&sim->p[3 * v], &sim->p[3 * v]));
    *longest = sqrt(*longest);
    return tac_over_ranks(sim->ctx, longest, 1, MPI_DOUBLE, MPI_MAX);
}

/* ---- what has changed since the last proof ---- */

void tac_impact_find_anew(struct tac_impact *sim)
{
    for (size_t k = 0; k < 3 * (size_t)sim->owned; k++)
        sim->proven[k] = NAN;
    sim->search.current = false;
}

/* Marks the vertices whose displacements are not those of the last proof. Returns how many they are. */
static size_t mark_changed(struct tac_impact *sim)
{
    size_t count = 0;
    for (size_t v = 0; v < (size_t)sim->count; v++) {
        sim->changed[v] = memcmp(&sim->p[3 * v], &sim->proven[3 * v], 3 * sizeof *sim->p) != 0;
        count += sim->changed[v];
    }
    return count;
}

/* Pairs that wait must be looked at again, also if they come back in another list: their vertices are not proven. */
static void forget_waiting(struct tac_impact *sim)
{
    for (size_t k = 0; k < sim->search.count; k++) {
        const struct tac_impact_pair *pair = &sim->search.pair[k];
        for (int i = 0; i < tac_pair_vertices(pair->type) && !pair->active && !pair->safe; i++)
            sim->proven[3 * (size_t)pair->v[i]] = NAN; /* one is this rank's, which tells the others */
    }
}

/* ---- lists ---- */

/* Leaves of the list the rows of which no vertex has changed. */
static void keep_rows(struct tac_impact *sim)
{
    struct tac_impact_search *s = &sim->search;
    size_t count = 0;
    for (size_t k = 0; k < s->count; k++) {
        const struct tac_impact_pair *pair = &s->pair[k];
        if (pair->active && tac_impact_is_unchanged(sim, pair))
            s->pair[count++] = *pair;
    }
    s->count = count;
}

/* On one rank: the pairs that have not been proven, and the rows. *made: false: a whole list costs less. */
static enum tac_err make_part_of_list(struct tac_impact *sim, bool *made)
{
    enum tac_err err = TAC_OK;
    struct tac_impact_search *s = &sim->search;
    *made = sim->halo == NULL && s->current && !(sim->ctx->hooks.skin > 0) &&
            PARTS * mark_changed(sim) < (size_t)sim->count;
    if (!*made)
        return TAC_OK;
    keep_rows(sim);
    TAC_TRY(tac_along_find_changed(s->along, sim->p, sim->changed, take, sim, made));
    s->partial = true;
    if (sim->count > 0)
        memcpy(s->listed, sim->changed, (size_t)sim->count);
    tac_along_enter(s->along, s->count);
    TAC_TRY(tac_impact_blocks_make(sim));
done:
    return err;
}

/* Has the list all pairs that have not been proven? */
static bool has_changed(const struct tac_impact *sim)
{
    const struct tac_impact_search *s = &sim->search;
    for (tac_lid v = 0; v < sim->count && s->partial; v++)
        if (sim->changed[v] && !s->listed[v])
            return false;
    return true;
}

static enum tac_err make_list(struct tac_impact *sim)
{
    enum tac_err err;
    struct tac_impact_search *s = &sim->search;
    double longest, part = 1;
    bool made;
    forget_waiting(sim);
    TAC_TRY(make_part_of_list(sim, &made));
    if (made)
        return TAC_OK;
    TAC_TRY(find_longest(sim, &longest));
    if (!(sim->ctx->hooks.skin > 0)) {
        const bool is_short = longest <= SHORT * s->radius;
        s->along->fixed = true;
        s->along->candidates->skin = is_short ? fmax(AROUND * longest, s->along->skin_most) : s->along->skin_most;
        part = is_short ? 0 : 1;
    }
    s->count = 0;
    sim->books.counters.candidate_builds++;
    s->partial = false;
    s->current = part == 1;
    TAC_TRY(tac_along_find(s->along, sim->x, sim->p, part, take, sim)); /* may reallocate arrays of vertices */
    TAC_TRY(tac_impact_ghosts_keep(sim));
    tac_along_enter(s->along, s->count);
    TAC_TRY(tac_agree(sim->ctx, tac_impact_blocks_make(sim)));
done:
    return err;
}

enum tac_err tac_impact_find(struct tac_impact *sim)
{
    enum tac_err err;
    struct tac_impact_search *s = &sim->search;
    const double begin_s = tac_wall_s();
    bool holds;
    (void)mark_changed(sim);
    TAC_TRY(tac_along_holds(s->along, sim->x, sim->p, 1, &holds));
    if (!holds || !has_changed(sim)) {
        TAC_TRY(make_list(sim));
        (void)mark_changed(sim);
    }
    tac_impact_blocks_group(sim);
    tac_along_use(s->along, s->count);
    sim->books.counters.candidates = (int64_t)s->count;
done:
    sim->last_step.part_s[0] += tac_wall_s() - begin_s;
    sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
    return err;
}
