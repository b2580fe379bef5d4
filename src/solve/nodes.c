/* nodes.c: finds which rank sends the values of which nodes to which rank, and exchanges the messages. */
#include "solve/nodes.h"
#include "base/exchange.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 144, TAG = 41 };

/* The nodes that are sent to, or received from, each rank in turn. */
struct side {
    int count;    /* of ranks */
    int *rank;    /* owned, (count) */
    size_t *from; /* owned, (count + 1): where each rank's nodes begin in `node` */
    tac_lid *node;
    char *message; /* owned: memory for all of them */
};

struct tac_nodes_halo {
    MPI_Comm comm; /* borrowed */
    struct side give, need;
    MPI_Request *request; /* owned, (give.count + need.count) */
    size_t bytes;         /* of a node in the present messages */
};

static void side_free(struct side *s)
{
    free(s->rank);
    free(s->from);
    free(s->node);
    free(s->message);
}

/* per_rank (size): number of nodes of each rank. Makes the lists of a side; `node` is allocated and has to be
 * filled. */
static enum tac_err side_make(struct tac_ctx *ctx, const int64_t *per_rank, struct side *s)
{
    enum tac_err err;
    size_t total = 0;
    for (int r = 0; r < ctx->size; r++)
        s->count += per_rank[r] > 0;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)s->count, sizeof *s->rank, &s->rank));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)s->count + 1, sizeof *s->from, &s->from));
    for (int r = 0, k = 0; r < ctx->size; r++)
        if (per_rank[r] > 0) {
            s->rank[k] = r;
            total += (size_t)per_rank[r];
            s->from[++k] = total;
        }
    TAC_TRY(tac_alloc_brief(ctx, total, sizeof *s->node, &s->node));
    TAC_TRY(tac_alloc_brief(ctx, total, MOST_BYTES, &s->message));
done:
    return err;
}

/* Lists the ids of our ghosts by owner, which will be requested. */
static enum tac_err list_needs(struct tac_ctx *ctx, const struct tac_nodes *nodes, struct tac_nodes_halo *halo,
                               int64_t *count, tac_gid **ids)
{
    enum tac_err err;
    int64_t *next = NULL;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)ctx->size, sizeof *next, &next));
    for (tac_lid i = nodes->owned; i < nodes->count; i++) {
        if (nodes->owner[i] < 0 || nodes->owner[i] >= ctx->size || nodes->owner[i] == ctx->rank) {
            err = tac_fail(ctx, TAC_ERR_RUN, "node %" TAC_PRIGID " is said to be of rank %d, which cannot be: a bug",
                           nodes->id[i], (int)nodes->owner[i]);
            goto done;
        }
        count[nodes->owner[i]]++;
    }
    TAC_TRY(side_make(ctx, count, &halo->need));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)(nodes->count - nodes->owned), sizeof **ids, ids));
    for (int k = 0; k < halo->need.count; k++)
        next[halo->need.rank[k]] = (int64_t)halo->need.from[k];
    for (tac_lid i = nodes->owned; i < nodes->count; i++) {
        const int64_t place = next[nodes->owner[i]]++;
        halo->need.node[place] = i;
        (*ids)[place] = nodes->id[i];
    }
done:
    free(next);
    return err;
}

/* Converts the requests of other ranks, ids (total) in the order of the ranks, to local nodes. */
static enum tac_err list_gives(struct tac_ctx *ctx, const struct tac_nodes *nodes, struct tac_nodes_halo *halo,
                               const int64_t *count, const tac_gid *ids)
{
    enum tac_err err;
    struct tac_keyed *sorted = NULL;
    tac_gid *ascending = NULL;
    TAC_TRY(side_make(ctx, count, &halo->give));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->owned, sizeof *sorted, &sorted));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->owned, sizeof *ascending, &ascending));
    for (tac_lid i = 0; i < nodes->owned; i++)
        sorted[i] = (struct tac_keyed){nodes->id[i], i};
    TAC_TRY(tac_sort_keyed(ctx, (size_t)nodes->owned, sorted));
    for (tac_lid i = 0; i < nodes->owned; i++)
        ascending[i] = sorted[i].key;
    for (size_t k = 0; k < halo->give.from[halo->give.count]; k++) {
        const tac_lid place = tac_id_find(ascending, nodes->owned, ids[k]);
        if (place < 0) {
            err = tac_fail(ctx, TAC_ERR_RUN,
                           "another rank takes node %" TAC_PRIGID " for one of rank %d, and it is not: a bug", ids[k],
                           ctx->rank);
            goto done;
        }
        halo->give.node[k] = (tac_lid)sorted[place].index;
    }
done:
    free(sorted);
    free(ascending);
    return err;
}

enum tac_err tac_nodes_halo_create(struct tac_ctx *ctx, const struct tac_nodes *nodes, struct tac_nodes_halo **out)
{
    return tac_nodes_halo_create_after(ctx, TAC_OK, nodes, out);
}

enum tac_err tac_nodes_halo_create_after(struct tac_ctx *ctx, enum tac_err err, const struct tac_nodes *nodes,
                                         struct tac_nodes_halo **out)
{
    struct tac_nodes_halo *halo = NULL;
    int64_t *count = NULL;
    tac_gid *ids = NULL, *asked = NULL;
    *out = NULL;
    TAC_TRY(err);
    TAC_TRY(tac_alloc_brief(ctx, 1, sizeof *halo, &halo));
    halo->comm = ctx->comm;
    TAC_TRY(tac_alloc_brief(ctx, 2 * (size_t)ctx->size, sizeof *count, &count));
    TAC_TRY(list_needs(ctx, nodes, halo, count, &ids));
done:
    err = tac_agree(ctx, err);
    if (!err)
        err = tac_exchange(ctx, ids, count, sizeof *ids, &asked, count + ctx->size);
    if (!err) {
        err = list_gives(ctx, nodes, halo, count + ctx->size, asked);
        if (!err)
            err = tac_alloc_brief(ctx, (size_t)(halo->give.count + halo->need.count), sizeof *halo->request,
                                  &halo->request);
        err = tac_agree(ctx, err);
    }
    free(count);
    free(ids);
    free(asked);
    if (err)
        tac_nodes_halo_destroy(&halo);
    *out = halo;
    return err;
}

void tac_nodes_halo_destroy(struct tac_nodes_halo **halo)
{
    if (*halo == NULL)
        return;
    side_free(&(*halo)->give);
    side_free(&(*halo)->need);
    free((*halo)->request);
    free(*halo);
    *halo = NULL;
}

void tac_nodes_halo_begin(struct tac_nodes_halo *halo, const void *value, size_t bytes)
{
    const struct side *give = &halo->give, *need = &halo->need;
    MPI_Request *request = halo->request;
    TAC_CHECK(bytes <= MOST_BYTES);
    halo->bytes = bytes;
    for (int k = 0; k < need->count; k++)
        MPI_Irecv(need->message + need->from[k] * bytes, (int)((need->from[k + 1] - need->from[k]) * bytes), MPI_BYTE,
                  need->rank[k], TAG, halo->comm, request++);
    for (int k = 0; k < give->count; k++) {
        for (size_t i = give->from[k]; i < give->from[k + 1]; i++)
            memcpy(give->message + i * bytes, (const char *)value + (size_t)give->node[i] * bytes, bytes);
        MPI_Isend(give->message + give->from[k] * bytes, (int)((give->from[k + 1] - give->from[k]) * bytes), MPI_BYTE,
                  give->rank[k], TAG, halo->comm, request++);
    }
}

void tac_nodes_halo_end(struct tac_nodes_halo *halo, void *value)
{
    const struct side *need = &halo->need;
    const size_t bytes = halo->bytes;
    MPI_Waitall(halo->give.count + need->count, halo->request, MPI_STATUSES_IGNORE);
    for (int k = 0; k < need->count; k++)
        for (size_t i = need->from[k]; i < need->from[k + 1]; i++)
            memcpy((char *)value + (size_t)need->node[i] * bytes, need->message + i * bytes, bytes);
}

void tac_nodes_halo_refresh(struct tac_nodes_halo *halo, void *value, size_t bytes)
{
    tac_nodes_halo_begin(halo, value, bytes);
    tac_nodes_halo_end(halo, value);
}
