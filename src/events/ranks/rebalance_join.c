/* rebalance_join.c: moves each cluster of vertices in deep contact to one rank (docs/reference/ranks.md, Rebalancing).
 *
 * A pair that is thrown deep into its layer stack ticks thousands of times in what would otherwise be one window. Where
 * its vertices belong to several ranks, each of those ticks is a message, which takes a hundred times as long as the
 * tick. (With free clocks each of its hundreds of layers has ticks of its own.) Distributing the scene again takes as
 * long as some thousand messages. */
#include "events/ranks/rebalance_join.h"
#include "base/exchange.h"
#include "base/roots.h"
#include "events/windows/windows.h"
#include "partition/part.h"
#include <stdlib.h>

enum { MOST_PAIRS = 1024 }; /* of all ranks; if there are more, the work should be shared between ranks instead */

/* The vertices of a deep pair that can move, by global ids; unused ones repeat the first. */
struct deep {
    tac_gid v[4];
};

struct join {
    size_t count;      /* of all ranks */
    struct deep *pair; /* owned, (count) */
    size_t ids;
    tac_gid *id;    /* owned, (ids): the vertices of all pairs, ascending */
    tac_lid *place; /* owned, (count, 4): where they are in `id` */
    tac_lid *root;  /* owned, (ids): the same vertex, or a lower one of the same cluster */
    int32_t *owner; /* owned, (ids) */
};

static void free_join(struct join *j)
{
    free(j->pair);
    free(j->id);
    free(j->place);
    free(j->root);
    free(j->owner);
}

/* Fills *out if this rank must report the pair, because it decides about it; returns whether it must. */
static bool describe_deep(const struct tac_sim *sim, const struct tac_pair *p, struct deep *out)
{
    int n = 0;
    if (!p->live || !tac_decides_pair(sim->model, &sim->state, p) || p->deep_period >= tac_windows_deep(&sim->windows))
        return false;
    for (int i = 0; i < p->count; i++)
        if (!tac_model_is_immovable(sim->model, p->v[i]))
            out->v[n++] = tac_scene_id(sim->scene, p->v[i]);
    for (int i = n; i < 4 && n > 0; i++)
        out->v[i] = out->v[0];
    return n > 0;
}

/* Collective. Gathers the deep pairs of all ranks on every rank; none if there are too many. */
static enum tac_err gather_deep(const struct tac_sim *sim, struct join *j)
{
    enum tac_err err;
    struct tac_ctx *ctx = sim->ctx;
    const size_t size = (size_t)ctx->size;
    struct deep *own = NULL, next;
    int64_t *sent = NULL, *got = NULL, own_count = 0, most = 0;
    for (size_t k = 0; k < sim->active.pair_count; k++)
        own_count += describe_deep(sim, &sim->active.pair[k], &next);
    MPI_Allreduce(&own_count, &most, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    const size_t n = most <= MOST_PAIRS ? (size_t)own_count : 0;
    TAC_TRY(tac_alloc(ctx, size * n, sizeof *own, &own));
    TAC_TRY(tac_alloc(ctx, size, sizeof *sent, &sent));
    TAC_TRY(tac_alloc(ctx, size, sizeof *got, &got));
    for (size_t k = 0, i = 0; i < n; k++)
        i += describe_deep(sim, &sim->active.pair[k], &own[i]);
    for (size_t r = 0; r < size; r++) {
        sent[r] = (int64_t)n;
        for (size_t i = 0; r > 0 && i < n; i++)
            own[r * n + i] = own[i];
    }
done:
    err = tac_agree(ctx, err);
    if (!err)
        err = tac_exchange(ctx, own, sent, sizeof *own, &j->pair, got);
    for (size_t r = 0; r < size && !err; r++)
        j->count += (size_t)got[r];
    free(own);
    free(sent);
    free(got);
    return err;
}

/* Local. Finds the clusters; the root of a cluster is its lowest vertex. */
static enum tac_err find_clusters(struct tac_ctx *ctx, struct join *j)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(ctx, 4 * j->count, sizeof *j->place, &j->place));
    TAC_TRY(tac_compress(ctx, 4 * j->count, &j->pair[0].v[0], &j->id, &j->ids, j->place));
    TAC_TRY(tac_alloc(ctx, j->ids, sizeof *j->root, &j->root));
    TAC_TRY(tac_alloc(ctx, j->ids, sizeof *j->owner, &j->owner));
    for (size_t k = 0; k < j->ids; k++)
        j->root[k] = (tac_lid)k;
    for (size_t k = 0; k < 4 * j->count; k++)
        tac_root_join(j->root, j->place[k], j->place[k - k % 4]);
done:
    return err;
}

enum tac_err tac_rebalance_join(struct tac_sim *sim, struct tac_pieces *pieces)
{
    enum tac_err err;
    struct tac_ctx *ctx = sim->ctx;
    struct join j = {0};
    TAC_TRY(gather_deep(sim, &j));
    if (j.count == 0) /* of all ranks */
        goto done;
    TAC_TRY(tac_agree(ctx, find_clusters(ctx, &j)));
    for (size_t k = 0; k < j.ids; k++) {
        const tac_lid v = tac_id_find(pieces->vertex_id, pieces->vertex_count, j.id[k]);
        j.owner[k] = v >= 0 ? pieces->owner[v] : -1;
    }
    MPI_Allreduce(MPI_IN_PLACE, j.owner, (int)j.ids, MPI_INT32_T, MPI_MAX, ctx->comm);
    for (size_t k = 0; k < j.ids; k++) {
        const tac_lid v = tac_id_find(pieces->vertex_id, pieces->vertex_count, j.id[k]);
        if (v >= 0)
            pieces->owner[v] = j.owner[tac_root(j.root, (tac_lid)k)];
    }
done:
    free_join(&j);
    return err;
}
