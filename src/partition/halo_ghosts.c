/* halo_ghosts.c: slots for vertices of other ranks, and the subscriptions to their motions. */
#include "partition/halo.h"
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* ---- ids ---- */

static size_t home(const struct tac_halo *halo, tac_gid id)
{
    return (size_t)(tac_hash64((uint64_t)id, 0) & (halo->hash_size - 1));
}

tac_lid tac_ghost_find(const struct tac_halo *halo, tac_gid id)
{
    const struct tac_part *part = halo->local->mesh->part;
    const tac_lid v = tac_id_find(part->vertex_id, part->owned, id);
    if (v >= 0)
        return v;
    for (size_t i = home(halo, id);; i = (i + 1) & (halo->hash_size - 1))
        if (halo->hash[i] < 0 || part->vertex_id[halo->hash[i]] == id)
            return halo->hash[i];
}

static void hash_put(struct tac_halo *halo, tac_lid v)
{
    size_t i = home(halo, halo->local->mesh->part->vertex_id[v]);
    while (halo->hash[i] >= 0)
        i = (i + 1) & (halo->hash_size - 1);
    halo->hash[i] = v;
}

/* The table again, from the slots in use. */
static enum tac_err hash_all(struct tac_halo *halo, size_t size)
{
    enum tac_err err = TAC_OK;
    const struct tac_part *part = halo->local->mesh->part;
    if (size != halo->hash_size) {
        free(halo->hash);
        halo->hash = NULL;
        halo->hash_size = 0;
        TAC_TRY(tac_alloc(halo->ctx, size, sizeof *halo->hash, &halo->hash));
        halo->hash_size = size;
    }
    memset(halo->hash, 0xff, size * sizeof *halo->hash);
    for (tac_lid v = part->owned; v < halo->vertices; v++)
        if (part->vertex_id[v] >= 0)
            hash_put(halo, v);
done:
    return err;
}

/* ---- life ---- */

enum tac_err tac_halo_create(struct tac_ctx *ctx, struct tac_scene *local, bool nested, struct tac_halo *halo)
{
    enum tac_err err;
    struct tac_part *part = local->mesh->part;
    size_t size = 64;
    halo->ctx = ctx;
    halo->local = local;
    halo->nested = nested;
    halo->changed = true;
    halo->vertices = halo->room = local->mesh->vertex_count;
    halo->ghost_count = (size_t)(local->mesh->vertex_count - part->owned);
    while (size < 3 * halo->ghost_count)
        size *= 2;
    TAC_TRY(tac_alloc(ctx, (size_t)ctx->size, sizeof *halo->index, &halo->index));
    memset(halo->index, 0xff, (size_t)ctx->size * sizeof *halo->index);
    TAC_TRY(tac_alloc(ctx, (size_t)halo->room, 1, &halo->mark));
    tac_halo_grows(halo, &local->mesh->x, 3 * sizeof *local->mesh->x);
    tac_halo_grows(halo, &local->mesh->mass, sizeof *local->mesh->mass);
    tac_halo_grows(halo, &local->mesh->ever_free, sizeof *local->mesh->ever_free);
    tac_halo_grows(halo, &local->mesh->vertex_body, sizeof *local->mesh->vertex_body);
    if (local->mesh->flat != NULL)
        tac_halo_grows(halo, &local->mesh->flat, sizeof *local->mesh->flat);
    tac_halo_grows(halo, &part->vertex_id, sizeof *part->vertex_id);
    tac_halo_grows(halo, &part->owner, sizeof *part->owner);
    tac_halo_grows(halo, &part->valence, sizeof *part->valence);
    tac_halo_grows(halo, &part->scripted, sizeof *part->scripted);
    tac_halo_grows(halo, &halo->mark, sizeof *halo->mark);
    TAC_TRY(hash_all(halo, size));
done:
    return err;
}

void tac_halo_grows(struct tac_halo *halo, void *array, size_t size)
{
    TAC_CHECK(halo->array_count < TAC_HALO_ARRAYS);
    halo->array[halo->array_count++] = (struct tac_halo_array){array, size};
}

void tac_halo_forget(struct tac_halo *halo, const void *array)
{
    for (size_t k = 0; k < halo->array_count; k++)
        if (halo->array[k].array == array) {
            halo->array[k] = halo->array[--halo->array_count];
            return;
        }
}

void tac_halo_tell(struct tac_halo *halo, struct tac_halo_user user)
{
    TAC_CHECK(halo->user_count < TAC_HALO_USERS);
    halo->user[halo->user_count++] = user;
}

void tac_halo_tell_no_more(struct tac_halo *halo, const void *self)
{
    for (size_t k = 0; k < halo->user_count; k++)
        if (halo->user[k].self == self) {
            halo->user[k] = halo->user[--halo->user_count];
            return;
        }
}

/* ---- slots ---- */

static enum tac_err grow(struct tac_halo *halo)
{
    enum tac_err err = TAC_OK;
    const size_t n = (size_t)halo->room, more = n + n / 2 + 256;
    for (size_t k = 0; k < halo->array_count; k++) {
        const struct tac_halo_array *a = &halo->array[k];
        size_t capacity = n;
        char *memory;
        TAC_TRY(tac_grow(halo->ctx, a->array, &capacity, more, a->size));
        memcpy(&memory, a->array, sizeof memory);
        memset(memory + n * a->size, 0, (more - n) * a->size);
    }
    halo->room = (tac_lid)more;
done:
    return err;
}

void tac_ghost_describe(const struct tac_scene *local, tac_lid v, struct tac_ghost *ghost)
{
    memset(ghost, 0, sizeof *ghost);
    ghost->id = local->mesh->part->vertex_id[v];
    memcpy(ghost->start, &local->mesh->x[3 * (size_t)v], sizeof ghost->start);
    ghost->mass = local->mesh->mass[v];
    ghost->owner = local->mesh->part->owner[v];
    ghost->body = local->mesh->vertex_body[v];
    ghost->valence = local->mesh->part->valence[v];
    ghost->ever_free = local->mesh->ever_free[v];
    ghost->scripted = local->mesh->part->scripted[v];
    if (local->mesh->flat != NULL)
        ghost->flat = local->mesh->flat[v];
}

enum tac_err tac_ghost_add(struct tac_halo *halo, const struct tac_ghost *ghost, tac_lid *out)
{
    enum tac_err err = TAC_OK;
    struct tac_scene *s = halo->local;
    if ((*out = tac_ghost_find(halo, ghost->id)) >= 0)
        return TAC_OK;
    if (3 * (halo->ghost_count + 1) > halo->hash_size)
        TAC_TRY(hash_all(halo, 2 * halo->hash_size));
    if (halo->free_count == 0 && halo->vertices == halo->room)
        TAC_TRY(grow(halo));
    const tac_lid v = halo->free_count ? halo->free_slot[--halo->free_count] : halo->vertices++;
    const size_t i = (size_t)v;
    for (size_t k = 0; k < halo->array_count; k++) {
        char *memory;
        memcpy(&memory, halo->array[k].array, sizeof memory);
        memset(memory + i * halo->array[k].size, 0, halo->array[k].size);
    }
    s->mesh->part->vertex_id[i] = ghost->id;
    s->mesh->part->owner[i] = ghost->owner;
    s->mesh->part->valence[i] = ghost->valence;
    s->mesh->part->scripted[i] = ghost->scripted;
    memcpy(&s->mesh->x[3 * i], ghost->start, sizeof ghost->start);
    s->mesh->mass[i] = ghost->mass;
    s->mesh->ever_free[i] = ghost->ever_free;
    s->mesh->vertex_body[i] = ghost->body;
    if (s->mesh->flat != NULL)
        s->mesh->flat[i] = ghost->flat;
    for (size_t k = 0; k < halo->user_count; k++)
        if (halo->user[k].added)
            halo->user[k].added(halo->user[k].self, v, ghost);
    hash_put(halo, v);
    halo->ghost_count++;
    *out = v;
done:
    return err;
}

static bool stays(const struct tac_halo *halo, tac_lid v)
{
    bool needed = halo->mark[v] != 0;
    for (size_t k = 0; k < halo->user_count && !needed; k++)
        needed = halo->user[k].needs && halo->user[k].needs(halo->user[k].self, v);
    return needed;
}

enum tac_err tac_halo_prune(struct tac_halo *halo)
{
    enum tac_err err = TAC_OK;
    struct tac_part *part = halo->local->mesh->part;
    bool any = false;
    for (tac_lid v = halo->local->mesh->vertex_count; v < halo->vertices; v++) {
        if (part->vertex_id[v] < 0 || stays(halo, v))
            continue;
        TAC_TRY(
            tac_grow(halo->ctx, &halo->free_slot, &halo->free_capacity, halo->free_count + 1, sizeof *halo->free_slot));
        part->vertex_id[v] = -1;
        halo->free_slot[halo->free_count++] = v;
        halo->ghost_count--;
        any = true;
    }
    if (any)
        TAC_TRY(hash_all(halo, halo->hash_size));
done:
    return err;
}

/* ---- subscriptions ---- */

static bool wanted(const struct tac_halo *halo, tac_lid v)
{
    return v < halo->local->mesh->vertex_count || (halo->mark[v] == 1 && halo->local->mesh->part->vertex_id[v] >= 0);
}

/* Makes our requests, by rank: asked (size), fill (size + 1), question (their sum; owned by the caller). */
static enum tac_err prepare(struct tac_halo *halo, int64_t *asked, int64_t *fill, tac_gid **question)
{
    enum tac_err err = TAC_OK;
    struct tac_ctx *ctx = halo->ctx;
    const struct tac_part *part = halo->local->mesh->part;
    size_t total = 0;
    for (tac_lid v = part->owned; v < halo->vertices; v++)
        if (wanted(halo, v)) {
            asked[part->owner[v]]++;
            total++;
            if (tac_halo_neighbor(halo, part->owner[v]) == NULL)
                err = halo->down;
        }
    if (err)
        return err;
    for (int k = 0; k < ctx->size; k++)
        fill[k + 1] = fill[k] + asked[k];
    TAC_TRY(tac_alloc(ctx, total, sizeof **question, question));
    for (size_t k = 0; k < halo->count; k++)
        halo->neighbor[k].need_count = halo->neighbor[k].give_count = 0;
    for (tac_lid v = part->owned; v < halo->vertices; v++)
        if (wanted(halo, v)) {
            struct tac_neighbor *n = &halo->neighbor[halo->index[part->owner[v]]];
            TAC_TRY(tac_grow(ctx, &n->need, &n->need_capacity, n->need_count + 1, sizeof *n->need));
            n->need[n->need_count++] = v;
            (*question)[fill[n->rank]++] = part->vertex_id[v];
        }
done:
    return err;
}

/* Exchanges requests: asking (size), requests of other ranks in the order of the ranks. */
static enum tac_err promise(struct tac_halo *halo, const int64_t *asking, const tac_gid *questions)
{
    enum tac_err err = TAC_OK;
    const struct tac_part *part = halo->local->mesh->part;
    size_t k = 0;
    for (int from = 0; from < halo->ctx->size; from++)
        for (int64_t i = 0; i < asking[from]; i++, k++) {
            struct tac_neighbor *n = tac_halo_neighbor(halo, from);
            if (n == NULL)
                return halo->down;
            const tac_lid v = tac_id_find(part->vertex_id, part->owned, questions[k]);
            TAC_CHECK(v >= 0);
            TAC_TRY(tac_grow(halo->ctx, &n->give, &n->give_capacity, n->give_count + 1, sizeof *n->give));
            n->give[n->give_count++] = v;
        }
done:
    return err;
}

enum tac_err tac_halo_subscribe(struct tac_halo *halo)
{
    enum tac_err err;
    struct tac_ctx *ctx = halo->ctx;
    const size_t ranks = (size_t)ctx->size;
    int64_t *asked = NULL, *asking = NULL, *fill = NULL;
    tac_gid *question = NULL, *questions = NULL;
    TAC_TRY(tac_alloc(ctx, ranks, sizeof *asked, &asked));
    TAC_TRY(tac_alloc(ctx, ranks, sizeof *asking, &asking));
    TAC_TRY(tac_alloc(ctx, ranks + 1, sizeof *fill, &fill));
    TAC_TRY(prepare(halo, asked, fill, &question));
done:
    tac_halo_failed(halo, err);
    err = tac_agree(ctx, err);
    if (err == TAC_OK)
        err = tac_exchange(ctx, question, asked, sizeof *question, &questions, asking);
    if (err == TAC_OK)
        err = promise(halo, asking, questions);
    halo->changed = true;
    tac_halo_link(halo);
    free(asked);
    free(asking);
    free(fill);
    free(question);
    free(questions);
    return err;
}
