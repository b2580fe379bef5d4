/* Ghosts: slots for vertices of other ranks, and whose motions we hear of. */
#include "broadphase/candidates.h"
#include "events/ranks.h"
#include <stdlib.h>
#include <string.h>

/* ---- ids ---- */

static size_t home(const struct tac_ranks *r, tac_gid id)
{
    return (size_t)(tac_hash64((uint64_t)id, 0) & (r->hash_size - 1));
}

tac_lid tac_ghost_find(const struct tac_sim *sim, tac_gid id)
{
    const struct tac_ranks *r = sim->ranks;
    const struct tac_part *part = sim->scene->part;
    tac_lid v = tac_id_find(part->vertex_id, part->owned, id);
    if (v >= 0)
        return v;
    for (size_t i = home(r, id);; i = (i + 1) & (r->hash_size - 1))
        if (r->hash[i] < 0 || part->vertex_id[r->hash[i]] == id)
            return r->hash[i];
}

static void hash_put(struct tac_sim *sim, tac_lid v)
{
    struct tac_ranks *r = sim->ranks;
    size_t i = home(r, sim->scene->part->vertex_id[v]);
    while (r->hash[i] >= 0)
        i = (i + 1) & (r->hash_size - 1);
    r->hash[i] = v;
}

/* The table again, from the slots in use. */
static enum tac_err hash_all(struct tac_sim *sim, size_t size)
{
    enum tac_err err = TAC_OK;
    struct tac_ranks *r = sim->ranks;
    if (size != r->hash_size) {
        free(r->hash);
        r->hash = NULL;
        r->hash_size = 0;
        TAC_TRY(tac_alloc(sim->ctx, size, sizeof *r->hash, &r->hash));
        r->hash_size = size;
    }
    memset(r->hash, 0xff, size * sizeof *r->hash);
    for (tac_lid v = sim->state.owned; v < sim->state.count; v++)
        if (sim->scene->part->vertex_id[v] >= 0)
            hash_put(sim, v);
done:
    return err;
}

enum tac_err tac_ghosts_create(struct tac_sim *sim)
{
    size_t size = 64;
    sim->ranks->ghost_count = (size_t)(sim->state.count - sim->state.owned);
    while (size < 3 * sim->ranks->ghost_count)
        size *= 2;
    return hash_all(sim, size);
}

/* ---- slots ---- */

/* Every array that is as long as there are vertices. */
static enum tac_err grow(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_scene *scene = (struct tac_scene *)sim->scene; /* a local scene is the simulation's own */
    struct tac_part *part = scene->part;
    struct tac_model *model = sim->model;
    struct tac_candidates *c = sim->find.candidates;
    const size_t n = (size_t)sim->state.capacity, more = n + n / 2 + 256;
    struct {
        void *array;
        size_t size;
    } list[] = {
        {&scene->x, 3 * sizeof(double)},
        {&scene->mass, sizeof(double)},
        {&scene->ever_free, 1},
        {&scene->vertex_body, sizeof(tac_lid)},
        {&part->vertex_id, sizeof(tac_gid)},
        {&part->owner, sizeof(int32_t)},
        {&part->valence, sizeof(tac_lid)},
        {&part->scripted, 1},
        {&model->w_ever, sizeof(double)},
        {&model->valence, sizeof(tac_lid)},
        {&model->particle, 1},
        {&sim->state.pos, sizeof *sim->state.pos},
        {&sim->state.vel, sizeof *sim->state.vel},
        {&sim->state.impulse, 3 * sizeof(double)},
        {&sim->scripts.of, sizeof(int32_t)},
        {&sim->paths.line, sizeof *sim->paths.line},
        {&sim->paths.near, 1},
        {&sim->paths.near_pairs, sizeof(int32_t)},
        {&sim->paths.break_head, sizeof(int32_t)},
        {&sim->paths.break_first, sizeof(int32_t)},
        {&sim->ranks->mark, 1},
        {&sim->ranks->has_path, 1},
        {c ? &c->move : NULL, sizeof *c->move},
        {c ? &c->x : NULL, 3 * sizeof(double)},
        {c ? &c->tube : NULL, sizeof *c->tube},
    };
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
        char *memory;
        if (list[k].array == NULL)
            continue;
        size_t capacity = n;
        TAC_TRY(tac_grow(sim->ctx, list[k].array, &capacity, more, list[k].size));
        memcpy(&memory, list[k].array, sizeof memory);
        memset(memory + n * list[k].size, 0, (more - n) * list[k].size);
    }
    sim->state.capacity = (tac_lid)more;
done:
    return err;
}

void tac_ghost_describe(const struct tac_sim *sim, tac_lid v, struct tac_guest *guest)
{
    const struct tac_scene *s = sim->scene;
    memset(guest, 0, sizeof *guest);
    guest->id = s->part->vertex_id[v];
    memcpy(guest->start, &s->x[3 * (size_t)v], sizeof guest->start);
    guest->mass = s->mass[v];
    guest->owner = s->part->owner[v];
    guest->body = s->vertex_body[v];
    guest->valence = s->part->valence[v];
    guest->ever_free = s->ever_free[v];
    guest->scripted = s->part->scripted[v];
}

enum tac_err tac_ghost_add(struct tac_sim *sim, const struct tac_guest *guest, tac_lid *out)
{
    enum tac_err err = TAC_OK;
    struct tac_ranks *r = sim->ranks;
    if ((*out = tac_ghost_find(sim, guest->id)) >= 0)
        return TAC_OK;
    if (3 * (r->ghost_count + 1) > r->hash_size)
        TAC_TRY(hash_all(sim, 2 * r->hash_size));
    if (r->free_count == 0 && sim->state.count == sim->state.capacity)
        TAC_TRY(grow(sim));
    const tac_lid v = r->free_count ? r->free_slot[--r->free_count] : sim->state.count++;
    struct tac_scene *s = (struct tac_scene *)sim->scene;
    const size_t i = (size_t)v;
    s->part->vertex_id[i] = guest->id;
    s->part->owner[i] = guest->owner;
    s->part->valence[i] = sim->model->valence[i] = guest->valence;
    s->part->scripted[i] = guest->scripted;
    memcpy(&s->x[3 * i], guest->start, sizeof guest->start);
    s->mass[i] = guest->mass;
    s->ever_free[i] = guest->ever_free;
    s->vertex_body[i] = guest->body;
    sim->model->w_ever[i] = guest->ever_free ? 1 / guest->mass : 0;
    sim->model->particle[i] = guest->valence == 0;
    memset(&sim->state.vel[i], 0, sizeof sim->state.vel[i]);
    memcpy(sim->state.pos[i].x, guest->start, sizeof guest->start);
    sim->state.pos[i].t = -1;
    memset(&sim->state.impulse[3 * i], 0, 3 * sizeof(double));
    sim->scripts.of[i] = -1;
    sim->paths.near[i] = 0;
    sim->paths.near_pairs[i] = 0;
    sim->paths.break_head[i] = -1;
    memset(&sim->paths.line[i], 0, sizeof sim->paths.line[i]);
    r->mark[i] = r->has_path[i] = 0;
    if (sim->find.candidates) {
        memset(&sim->find.candidates->move[i], 0, sizeof sim->find.candidates->move[i]);
        memset(&sim->find.candidates->tube[i], 0, sizeof sim->find.candidates->tube[i]);
        memcpy(&sim->find.candidates->x[3 * i], guest->start, sizeof guest->start);
    }
    hash_put(sim, v);
    r->ghost_count++;
    *out = v;
done:
    return err;
}

enum tac_err tac_ghosts_prune(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_ranks *r = sim->ranks;
    bool any = false;
    for (tac_lid v = sim->scene->vertex_count; v < sim->state.count; v++) {
        if (sim->scene->part->vertex_id[v] < 0 || sim->paths.near_pairs[v] > 0 || r->mark[v])
            continue;
        TAC_TRY(tac_grow(sim->ctx, &r->free_slot, &r->free_capacity, r->free_count + 1, sizeof *r->free_slot));
        sim->scene->part->vertex_id[v] = -1;
        r->free_slot[r->free_count++] = v;
        r->ghost_count--;
        any = true;
    }
    if (any)
        TAC_TRY(hash_all(sim, r->hash_size));
done:
    return err;
}

/* ---- subscriptions ---- */

static bool needed(const struct tac_sim *sim, tac_lid v)
{
    return v < sim->scene->vertex_count || (sim->ranks->mark[v] && sim->scene->part->vertex_id[v] >= 0);
}

enum tac_err tac_ghosts_subscribe(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_ctx *ctx = sim->ctx;
    struct tac_ranks *r = sim->ranks;
    const struct tac_part *part = sim->scene->part;
    const size_t ranks = (size_t)ctx->size;
    int64_t *asked = NULL, *asking = NULL, *fill = NULL;
    tac_gid *question = NULL, *questions = NULL;
    size_t total = 0;
    TAC_TRY(tac_alloc(ctx, ranks, sizeof *asked, &asked));
    TAC_TRY(tac_alloc(ctx, ranks, sizeof *asking, &asking));
    TAC_TRY(tac_alloc(ctx, ranks + 1, sizeof *fill, &fill));
    for (tac_lid v = sim->state.owned; v < sim->state.count; v++)
        if (needed(sim, v)) {
            asked[part->owner[v]]++;
            total++;
            if (tac_ranks_neighbor(sim, part->owner[v]) == NULL)
                err = r->down;
        }
    if (err)
        goto done;
    for (size_t k = 0; k < ranks; k++)
        fill[k + 1] = fill[k] + asked[k];
    TAC_TRY(tac_alloc(ctx, total, sizeof *question, &question));
    for (size_t k = 0; k < r->count; k++)
        r->neighbor[k].need_count = r->neighbor[k].give_count = 0;
    for (tac_lid v = sim->state.owned; v < sim->state.count; v++)
        if (needed(sim, v)) {
            struct tac_neighbor *n = &r->neighbor[r->index[part->owner[v]]];
            TAC_TRY(tac_grow(ctx, &n->need, &n->need_capacity, n->need_count + 1, sizeof *n->need));
            n->need[n->need_count++] = v;
            question[fill[n->rank]++] = part->vertex_id[v];
        }
done:
    /* Whoever failed takes part with no questions. */
    if (err && asked)
        memset(asked, 0, ranks * sizeof *asked);
    tac_ranks_failed(sim, err);
    enum tac_err heard =
        asked && asking ? tac_exchange(ctx, question, asked, sizeof *question, &questions, asking) : TAC_ERR_RUN;
    if (!err && !heard) {
        size_t k = 0;
        for (size_t from = 0; from < ranks && !err; from++)
            for (int64_t i = 0; i < asking[from] && !err; i++, k++) {
                struct tac_neighbor *n = tac_ranks_neighbor(sim, (int)from);
                if (n == NULL) {
                    err = r->down;
                    break;
                }
                const tac_lid v = tac_id_find(part->vertex_id, part->owned, questions[k]);
                TAC_CHECK(v >= 0);
                err = tac_grow(ctx, &n->give, &n->give_capacity, n->give_count + 1, sizeof *n->give);
                if (!err)
                    n->give[n->give_count++] = v;
            }
    }
    r->changed = true;
    tac_ranks_link(sim);
    free(asked);
    free(asking);
    free(fill);
    free(question);
    free(questions);
    return err ? err : heard;
}
