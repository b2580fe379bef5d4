/* implicit_candidates.c: makes the list of pairs that may come near each other (docs/reference/implicit.md,
 * Candidates).
 *
 * The broad phase finds them along the lines from x to x + p (broadphase/along.h), in no fixed order. This file sorts
 * them by their keys, and the pairs become terms of the potential in that order. Two variables serve tests.
 * TACTUS_TEST_SKIN multiplies the skin, which must not change any bit. TACTUS_TEST_ROUGH removes derivatives from the
 * barrier (struct tac_barrier_pair), which shows why they are needed.
 */
#include "broadphase/along.h"
#include "implicit/parts.h"
#include <stdlib.h>

/* In units of the thickness. tac_advance_safely() stops no pair at a distance of more than 1.1 thicknesses. */
static const double MARGIN = 1.125;

struct tac_implicit_search {
    struct tac_view view; /* of the simulation, for the broad phase; it refers to the next two */
    struct tac_vertex_state state;
    struct tac_scripts scripts;
    struct tac_along *along; /* owned */
    int rough;               /* of the barriers: of tests */
    size_t count, capacity;
    struct tac_implicit_found *found; /* owned: of a list in the making */
    size_t order_capacity;
    struct tac_implicit_place
        *order; /* owned: of all found pairs by their keys, and the same space again for sorting */
};

static void fill_view(struct tac_implicit *sim, struct tac_implicit_search *s)
{
    s->state = (struct tac_vertex_state){.owned = sim->owned, .count = sim->count, .capacity = sim->count};
    s->scripts = (struct tac_scripts){.of = sim->scripts.script_of};
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
}

enum tac_err tac_implicit_search_create(struct tac_implicit *sim)
{
    enum tac_err err;
    struct tac_implicit_search *s = NULL;
    if (sim->scene->settings->contact.thickness == 0)
        return TAC_OK;
    TAC_TRY(tac_agree(sim->ctx, tac_alloc(sim->ctx, 1, sizeof *s, &s)));
    sim->search = s;
    s->rough = sim->ctx->hooks.rough;
    fill_view(sim, s);
    int never_free = false;
    for (tac_lid v = 0; v < sim->owned; v++)
        never_free |= !sim->scene->mesh->ever_free[v];
    TAC_TRY(tac_over_ranks(sim->ctx, &never_free, 1, MPI_INT, MPI_MAX));
    /* The owners of vertices that are never free get what they need of their pairs from others (implicit_plates.h). */
    s->view.movers_only = sim->contact.movers_only = sim->halo != NULL && never_free;
    if (s->view.movers_only)
        TAC_TRY(tac_plates_create(sim));
    TAC_TRY(tac_along_create(&s->view, sim->ctx->hooks.skin, &s->along));
done:
    return err;
}

void tac_implicit_search_destroy(struct tac_implicit_search **search)
{
    if (*search == NULL)
        return;
    tac_along_destroy(&(*search)->along);
    free((*search)->found);
    free((*search)->order);
    free(*search);
    *search = NULL;
}

void tac_implicit_search_grows(struct tac_implicit *sim)
{
    if (sim->search == NULL)
        return;
    sim->search->state.count = sim->count;
    sim->search->state.capacity = sim->halo->room;
}

double tac_implicit_search_spent(const struct tac_implicit *sim)
{
    return sim->search != NULL ? 1e-9 * sim->search->along->spent : 0;
}

void tac_implicit_skin_out(const struct tac_implicit *sim, int64_t *value)
{
    if (sim->search == NULL)
        return;
    const struct tac_descent *d = &sim->search->along->descent;
    const double length[3] = {sim->search->along->candidates->skin, d->last, d->kept};
    memcpy(value, length, sizeof length);
    value[3] = d->shorter;
    value[4] = d->stays;
    value[5] = d->patience;
}

void tac_implicit_skin_in(struct tac_implicit *sim, const int64_t *value)
{
    double length[3];
    memcpy(length, value, sizeof length);
    if (sim->search == NULL || !(length[0] > 0))
        return;
    sim->search->along->candidates->skin = length[0];
    sim->search->along->descent =
        (struct tac_descent){length[1], length[2], value[3] != 0, (int)value[4], (int)value[5]};
}

/* context: the simulation; a tac_take_pair. */
static enum tac_err take(void *context, const struct tac_found_pair *pair)
{
    enum tac_err err;
    struct tac_implicit *sim = context;
    struct tac_implicit_search *s = sim->search;
    if (!(pair->thickness > 0) || !(pair->wait <= 1)) /* the pair never acts, or coordinates are not finite */
        return TAC_OK;
    TAC_TRY(tac_grow(sim->ctx, &s->found, &s->capacity, s->count + 1, sizeof *s->found));
    struct tac_implicit_found *f = &s->found[s->count++];
    *f = (struct tac_implicit_found){.key = tac_pair_key(pair->type, pair->id[0], pair->id[1]),
                                     .radius = pair->radius,
                                     .thickness = pair->thickness};
    memcpy(f->v, pair->v, sizeof f->v);
done:
    return err;
}

/* A radix sort from the last digit to the first, of the digits in which keys differ. */
void tac_implicit_sort_places(struct tac_implicit_place *place, size_t n)
{
    enum { BITS = 11, DIGITS = 1 << BITS };
    uint64_t differ = 0;
    struct tac_implicit_place *from = place, *to = place + n;
    for (size_t k = 0; k < n; k++)
        differ |= place[k].key ^ place[0].key;
    for (int shift = 0; shift < 64; shift += BITS) {
        size_t at[DIGITS + 1] = {0};
        if ((differ >> shift) % DIGITS == 0)
            continue;
        for (size_t k = 0; k < n; k++)
            at[(from[k].key >> shift) % DIGITS + 1]++;
        for (size_t d = 0; d < DIGITS; d++)
            at[d + 1] += at[d];
        for (size_t k = 0; k < n; k++)
            to[at[(from[k].key >> shift) % DIGITS]++] = from[k];
        struct tac_implicit_place *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != place && n > 0)
        memcpy(place, from, n * sizeof *from);
}

static enum tac_err sort(struct tac_implicit *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_search *s = sim->search;
    TAC_TRY(tac_grow(sim->ctx, &s->order, &s->order_capacity, 2 * s->count, sizeof *s->order));
    for (size_t k = 0; k < s->count; k++)
        s->order[k] = (struct tac_implicit_place){s->found[k].key, k};
    tac_implicit_sort_places(s->order, s->count);
done:
    return err;
}

bool tac_implicit_counts_pair(const struct tac_implicit *sim, const tac_lid *v, int n)
{
    tac_lid lowest = -1;
    for (int i = 0; i < n; i++)
        if (sim->scene->mesh->ever_free[v[i]] &&
            (lowest < 0 || tac_implicit_id(sim, v[i]) < tac_implicit_id(sim, lowest)))
            lowest = v[i];
    return lowest < sim->owned;
}

/* Computes the terms of a pair. */
static void write_pair(struct tac_implicit *sim, const struct tac_implicit_found *found, struct tac_implicit_pair *p)
{
    const enum tac_pair_type type = tac_key_type(found->key);
    *p = (struct tac_implicit_pair){.key = found->key,
                                    .form = {type, found->radius, found->thickness, 0, sim->search->rough}};
    memcpy(p->v, found->v, sizeof p->v);
    p->counted = tac_implicit_counts_pair(sim, p->v, tac_pair_vertices(type));
    const struct tac_law *law = tac_model_law(sim->model, p->v[0], p->v[tac_pair_first(type)]);
    p->friction = law->friction;
    p->kinetic = law->kinetic;
    if (type == TAC_PAIR_EDGE_EDGE) {
        double rest[4][3];
        tac_implicit_gather(sim->scene->mesh->x, p->v, 4, rest);
        p->form.parallel = tac_barrier_parallel(rest);
    }
    tac_implicit_weigh(sim, p);
}

static enum tac_err write_list(struct tac_implicit *sim)
{
    enum tac_err err;
    struct tac_implicit_contact *c = &sim->contact;
    const struct tac_implicit_search *s = sim->search;
    TAC_TRY(sort(sim));
    TAC_TRY(tac_grow(sim->ctx, &c->pair, &c->pair_capacity, s->count, sizeof *c->pair));
    for (size_t k = 0; k < s->count; k++)
        write_pair(sim, &s->found[s->order[k].at], &c->pair[k]);
    c->pair_count = s->count;
    tac_along_enter(s->along, s->count);
done:
    return err;
}

/* Removes the pairs with a vertex that got another path, and enters the pairs that were found anew. */
static enum tac_err mend_list(struct tac_implicit *sim)
{
    enum tac_err err;
    struct tac_implicit_contact *c = &sim->contact;
    const struct tac_implicit_search *s = sim->search;
    const uint8_t *left = s->along->left;
    size_t kept = 0;
    TAC_TRY(sort(sim));
    TAC_TRY(tac_grow(sim->ctx, &c->pair, &c->pair_capacity, c->pair_count + s->count, sizeof *c->pair));
    for (size_t k = 0; k < c->pair_count; k++) {
        bool gone = false;
        for (int i = 0; i < tac_pair_vertices(c->pair[k].form.type); i++)
            gone = gone || left[c->pair[k].v[i]];
        if (!gone && kept++ < k)
            c->pair[kept - 1] = c->pair[k];
    }
    c->pair_count = kept + s->count;
    for (size_t k = s->count, at = c->pair_count; k > 0;) { /* from the back, both in ascending order of keys */
        const struct tac_implicit_found *found = &s->found[s->order[k - 1].at];
        if (kept > 0 && c->pair[kept - 1].key > found->key) {
            c->pair[--at] = c->pair[--kept];
        } else {
            write_pair(sim, found, &c->pair[--at]);
            k--;
        }
    }
    tac_along_enter(s->along, s->count);
done:
    return err;
}

/* On one rank: a list that lacks pairs of few vertices is repaired. */
static enum tac_err repair_list(struct tac_implicit *sim, const double *x, const double *p, double part, bool *done)
{
    enum tac_err err;
    struct tac_implicit_search *s = sim->search;
    s->count = 0;
    TAC_TRY(tac_along_repair(s->along, x, p, part, take, sim, done));
    if (!*done)
        return TAC_OK;
    sim->contact.touch_of = NULL;
    sim->books.counters.candidate_repairs++;
    err = mend_list(sim);
    s->along->made = err == TAC_OK;
done:
    return err;
}

enum tac_err tac_implicit_first_part(const struct tac_implicit *sim, const double *x, const double *p, double *part)
{
    *part = 1;
    return sim->search ? tac_along_begin(sim->search->along, x, p, part) : TAC_OK;
}

/* Marks the ghosts that the new list, friction and the foreseen pairs need. */
static void mark_ghosts(struct tac_implicit *sim)
{
    const struct tac_implicit_search *s = sim->search;
    const struct tac_implicit_contact *c = &sim->contact;
    memset(sim->halo->mark, 0, (size_t)sim->count);
    for (size_t k = 0; k < s->count; k++)
        tac_implicit_ghosts_mark(sim, s->found[k].v, tac_pair_vertices(tac_key_type(s->found[k].key)));
    for (size_t k = 0; k < c->sliding_count; k++)
        tac_implicit_ghosts_mark(sim, c->sliding[k].v, tac_pair_vertices(c->sliding[k].type));
    for (size_t k = 0; k < c->foreseen_count; k++)
        tac_implicit_ghosts_mark(sim, c->foreseen[k].v, tac_pair_vertices(c->foreseen[k].type));
    tac_plates_mark(sim);
}

/* Collective. Makes ghosts for owners of plates, and frees those that nobody needs any more. */
static enum tac_err keep_ghosts(struct tac_implicit *sim)
{
    enum tac_err err;
    const struct tac_implicit_search *s = sim->search;
    TAC_TRY(tac_plates_show(sim, s->found, s->count));
    if (sim->halo != NULL)
        mark_ghosts(sim);
    TAC_TRY(tac_implicit_ghosts_keep(sim));
done:
    return err;
}

static enum tac_err make_list(struct tac_implicit *sim, const double *x, const double *p, double part)
{
    enum tac_err err;
    struct tac_implicit_search *s = sim->search;
    s->count = sim->contact.pair_count = 0;
    sim->contact.touch_of = NULL;
    sim->books.counters.candidate_builds++;
    TAC_TRY(tac_along_find(s->along, x, p, part, take, sim)); /* this call may reallocate x and p */
    TAC_TRY(keep_ghosts(sim));
    err = write_list(sim);
    s->along->made = err == TAC_OK;
    TAC_TRY(tac_agree(sim->ctx, err));
done:
    return err;
}

enum tac_err tac_implicit_find(struct tac_implicit *sim, const double *x, const double *p, double part)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_search *s = sim->search;
    const double begin_s = tac_wall_s();
    bool holds;
    if (s == NULL)
        return TAC_OK;
    TAC_TRY(tac_along_holds(s->along, x, p, part, &holds));
    if (!holds)
        TAC_TRY(repair_list(sim, x, p, part, &holds));
    if (!holds)
        TAC_TRY(make_list(sim, x, p, part));
    tac_along_use(s->along, sim->contact.pair_count);
    sim->books.counters.candidates = (int64_t)sim->contact.pair_count;
done:
    sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
    return err;
}

enum tac_err tac_implicit_show_pairs(struct tac_implicit *sim)
{
    enum tac_err err = TAC_OK;
    if (sim->plates == NULL)
        return TAC_OK;
    sim->contact.touch_of = NULL; /* the next call may reallocate sim->x */
    TAC_TRY(keep_ghosts(sim));
    TAC_TRY(tac_agree(sim->ctx, tac_implicit_touch(sim, sim->x)));
done:
    return err;
}
