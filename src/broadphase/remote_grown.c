/* remote_grown.c: exchanges the published boxes that have grown in a repair (docs/reference/ranks.md, Discovery).
 * Mostly a rank has only a few of them, so these go to all ranks in one call. */
#include "broadphase/remote.h"
#include <stdlib.h>

/* A rank's message about its boxes that grow: it contains all of them if they are few. */
struct growth {
    int32_t count, failed;
    struct tac_grown_box box[];
};

/* Returns the number of boxes that fit into this message. */
static int few_boxes(const struct tac_ctx *ctx)
{
    enum { MOST = 8, OF_ALL = 512 };
    const int each = OF_ALL / ctx->size;
    return each > MOST ? MOST : each > 1 ? each : 1;
}

size_t tac_remote_growth_bytes(const struct tac_ctx *ctx)
{
    return sizeof(struct growth) + (size_t)few_boxes(ctx) * sizeof(struct tac_grown_box);
}

static struct growth *growth_of(const void *reported, size_t each, int rank)
{
    return (struct growth *)((char *)reported + each * (size_t)rank);
}

/* Gathers the boxes of all ranks that have grown, if some rank has more of them than fit into the message. err: the
 * caller's code. */
static enum tac_err gather_grown(struct tac_ctx *ctx, enum tac_err err, const struct tac_grown_box *mine,
                                 const void *reported, size_t each, struct tac_grown_box *grown)
{
    int *many = NULL, *at = NULL;
    if (!err)
        err = tac_alloc(ctx, (size_t)ctx->size, sizeof *many, &many);
    if (!err)
        err = tac_alloc(ctx, (size_t)ctx->size, sizeof *at, &at);
    for (int r = 0, total = 0; r < ctx->size && !err; total += many[r++]) {
        many[r] = (int)sizeof *mine * growth_of(reported, each, r)->count;
        at[r] = total;
    }
    err = tac_agree(ctx, err);
    if (!err && MPI_Allgatherv(mine, many[ctx->rank], MPI_BYTE, grown, many, at, MPI_BYTE, ctx->comm) != MPI_SUCCESS)
        err = tac_fail(ctx, TAC_ERR_RUN, "MPI failed while enlarging the boxes of ranks");
    free(many);
    free(at);
    return err;
}

enum tac_err tac_remote_tell_grown(struct tac_ctx *ctx, enum tac_err err, void *growth, int count,
                                   const struct tac_grown_box *mine, struct tac_grown_box **grown, size_t *grown_count)
{
    const size_t each = tac_remote_growth_bytes(ctx);
    struct growth *own = growth_of(growth, each, ctx->rank);
    size_t total = 0, n = 0;
    bool more = false, failed = false;
    *grown_count = 0;
    own->failed = err != TAC_OK;
    own->count = count;
    for (int k = 0; k < count && k < few_boxes(ctx); k++)
        own->box[k] = mine[k];
    if (MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, growth, (int)each, MPI_BYTE, ctx->comm) != MPI_SUCCESS)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "MPI failed while enlarging the boxes of ranks"));
    for (int r = 0; r < ctx->size; r++) {
        const struct growth *g = growth_of(growth, each, r);
        total += (size_t)g->count;
        more |= g->count > few_boxes(ctx);
        failed |= g->failed != 0;
    }
    if (failed)
        TAC_TRY(tac_agree(ctx, err));
    if (total == 0)
        return TAC_OK;
    err = tac_alloc(ctx, total, sizeof **grown, grown);
    if (more)
        TAC_TRY(gather_grown(ctx, err, mine, growth, each, *grown));
    else if (err)
        tac_give_up(ctx); /* it could not find the ranks that are near now, and they would wait for it */
    for (int r = 0; r < ctx->size && !more; r++)
        for (int k = 0; k < growth_of(growth, each, r)->count; k++)
            (*grown)[n++] = growth_of(growth, each, r)->box[k];
    *grown_count = total;
done:
    return err;
}
