/* ghosts.c: gets the values of ghosts from their owners. */
#include "partition/ghosts.h"
#include "base/exchange.h"
#include <stdlib.h>
#include <string.h>

struct values {
    const struct tac_part *part;
    size_t width;
    const double *value;
};

static void answer_values(const void *known, tac_gid id, void *record)
{
    const struct values *v = known;
    const tac_lid i = tac_id_find(v->part->vertex_id, v->part->owned, id);
    TAC_CHECK(i >= 0);
    memcpy(record, &v->value[v->width * (size_t)i], v->width * sizeof *v->value);
}

enum tac_err tac_ghosts_refresh(struct tac_ctx *ctx, const struct tac_part *part, tac_lid n, int width, double *value)
{
    const struct values known = {part, (size_t)width, value};
    const size_t owned = (size_t)part->owned;
    return tac_ask(ctx, TAC_OK, (size_t)n - owned, part->owner + owned, part->vertex_id + owned, answer_values, &known,
                   (size_t)width * sizeof *value, value + (size_t)width * owned);
}

/* Finds the owners of the vertices of this rank's block. */
struct directory {
    tac_gid first;
    int32_t *owner; /* owned */
};

static void answer_owner(const void *known, tac_gid id, void *record)
{
    const struct directory *d = known;
    memcpy(record, &d->owner[id - d->first], sizeof *d->owner);
}

struct claim {
    tac_gid id;
    int64_t owner;
};

enum tac_err tac_owners_find(struct tac_ctx *ctx, tac_gid total, tac_lid n, const tac_gid *id, const int32_t *owner_of,
                             size_t count, const tac_gid *wanted, int32_t *owner)
{
    enum tac_err err;
    const tac_gid first = tac_block_begin(total, ctx->size, ctx->rank),
                  end = tac_block_begin(total, ctx->size, ctx->rank + 1);
    struct directory directory = {first, NULL};
    struct claim *claim = NULL, *claims = NULL;
    int32_t *to = NULL, *ask = NULL;
    size_t reported = 0;
    TAC_TRY(tac_alloc(ctx, (size_t)n, sizeof *claim, &claim));
    TAC_TRY(tac_alloc(ctx, (size_t)n, sizeof *to, &to));
    TAC_TRY(tac_alloc(ctx, count, sizeof *ask, &ask));
    TAC_TRY(tac_alloc(ctx, (size_t)(end - first), sizeof *directory.owner, &directory.owner));
    for (tac_lid i = 0; i < n; i++) {
        claim[i] = (struct claim){id[i], owner_of ? owner_of[i] : ctx->rank};
        to[i] = tac_block_rank(total, ctx->size, id[i]);
    }
    for (size_t k = 0; k < count; k++)
        ask[k] = tac_block_rank(total, ctx->size, wanted[k]);
done:
    err = tac_distribute(ctx, err, (size_t)n, to, claim, sizeof *claim, &claims, &reported);
    for (size_t k = 0; k < reported && !err; k++)
        directory.owner[claims[k].id - first] = (int32_t)claims[k].owner;
    if (!err)
        err = tac_ask(ctx, TAC_OK, count, ask, wanted, answer_owner, &directory, sizeof *owner, owner);
    free(claim);
    free(claims);
    free(to);
    free(ask);
    free(directory.owner);
    return err;
}
