/* subdomains_names.c: names the clusters at the end, and packs small clusters without couplings together. */
#include "base/exchange.h"
#include "solve/subdomains.h"
#include <stdlib.h>

enum { BLOCK = 64, LEAST_PART = 3 };

/* A cluster, as it is sent to the rank that packs those of its block of ids. */
struct cluster {
    tac_gid id;
    int64_t size, block;
};

/* Packs the received clusters, by ascending id: each takes in the next ones of its block as long as they fit. */
static enum tac_err pack(struct tac_ctx *ctx, size_t count, const struct cluster *came, int64_t most, tac_gid *name,
                         int64_t *first, int64_t *largest)
{
    enum tac_err err;
    struct tac_keyed *order = NULL;
    int64_t size = 0, block = -1;
    tac_gid now = -1;
    TAC_TRY(tac_alloc_brief(ctx, count, sizeof *order, &order));
    for (size_t k = 0; k < count; k++)
        order[k] = (struct tac_keyed){came[k].id, (int64_t)k};
    TAC_TRY(tac_sort_keyed(ctx, count, order));
    for (size_t k = 0; k < count; k++) {
        const struct cluster *c = &came[order[k].index];
        if (c->block != block || size + c->size > most) {
            now = c->id;
            block = c->block;
            size = 0;
            ++*first;
        }
        size += c->size;
        *largest = size > *largest ? size : *largest;
        name[order[k].index] = now;
    }
done:
    free(order);
    return err;
}

/* Blocks of ids follow from the scene alone, and each has about as many vertices as BLOCK subdomains. So no rank needs
 * a list of all clusters. */
static enum tac_err pack_clusters(struct tac_ctx *ctx, const struct tac_graph *last, int64_t total, int64_t most,
                                  tac_gid *name, int64_t sum[2])
{
    enum tac_err err;
    const size_t n = (size_t)last->nodes.owned;
    const int64_t blocks = 1 + total / (BLOCK * most);
    tac_gid end = 1, *answer = NULL;
    struct cluster *out = NULL, *came = NULL;
    int32_t *to = NULL;
    struct tac_questions q = {0};
    for (size_t k = 0; k < n; k++)
        end = last->id[k] >= end ? last->id[k] + 1 : end;
    MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_INT64_T, MPI_MAX, ctx->comm);
    const int64_t width = (end + blocks - 1) / blocks;
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *out, &out));
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *to, &to));
    for (size_t k = 0; k < n; k++) {
        out[k] = (struct cluster){last->id[k], last->size[k], last->id[k] / width};
        to[k] = tac_block_rank(blocks, ctx->size, out[k].block);
    }
done:
    err = tac_questions_send(ctx, err, &q, n, to, out, sizeof *out, &came);
    if (!err) {
        sum[0] = sum[1] = 0;
        err = tac_alloc_brief(ctx, q.total, sizeof *answer, &answer);
        err = err ? err : pack(ctx, q.total, came, most, answer, &sum[0], &sum[1]);
        err = tac_questions_answer(ctx, err, &q, answer, sizeof *answer, name);
    }
    tac_questions_end(&q);
    free(out);
    free(to);
    free(came);
    free(answer);
    return err;
}

enum tac_err tac_cut_names(struct tac_ctx *ctx, const struct tac_graph *last, int64_t total,
                           const struct tac_cut_rule *rule, tac_gid *name, struct tac_cut *cut)
{
    enum tac_err err = TAC_OK;
    int64_t sum[2] = {last->nodes.owned, 0}; /* clusters; vertices of the largest */
    for (tac_lid u = 0; u < last->nodes.owned; u++) {
        name[u] = last->id[u];
        sum[1] = last->size[u] > sum[1] ? last->size[u] : sum[1];
    }
    int64_t count = sum[0];
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    if (rule->few >= 0 ? count > rule->few : count * rule->most > LEAST_PART * total)
        err = pack_clusters(ctx, last, total, rule->most, name, sum);
    if (err)
        return err;
    MPI_Allreduce(&sum[0], &cut->subdomains, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    MPI_Allreduce(&sum[1], &cut->largest, 1, MPI_INT64_T, MPI_MAX, ctx->comm);
    return TAC_OK;
}
