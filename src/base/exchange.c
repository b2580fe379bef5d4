/* exchange.c: sends records between all ranks, and finds which rank keeps which block of ids. */
#include "base/exchange.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

tac_gid tac_block_begin(tac_gid total, int size, int rank)
{
    /* total / size * rank + ... : total * rank could overflow. */
    const tac_gid each = total / size, more = total % size;
    return each * rank + more * rank / size;
}

int tac_block_rank(tac_gid total, int size, tac_gid id)
{
    int rank = (int)((double)id / (double)total * size);
    rank = rank < size ? rank : size - 1;
    while (tac_block_begin(total, size, rank) > id)
        rank--;
    while (tac_block_begin(total, size, rank + 1) <= id)
        rank++;
    return rank;
}

enum { TAG_RECORDS = 19, TAG_SWAP = 20 };

/* How many messages so many records take. */
static size_t portions(int64_t count, int64_t limit)
{
    return (size_t)((count + limit - 1) / limit);
}

/* Posts the messages from or to each rank but this one, of at most `limit` records each, which is within MPI's ints. */
static size_t post(struct tac_ctx *ctx, char *data, const int64_t *count, size_t size, int64_t limit, MPI_Datatype type,
                   bool send, MPI_Request *request)
{
    size_t n = 0;
    for (int r = 0; r < ctx->size; r++) {
        for (int64_t at = 0; at < count[r] && r != ctx->rank; at += limit) {
            const int64_t left = count[r] - at;
            const int part = (int)(left < limit ? left : limit);
            char *first = data + (size_t)at * size;
            if (send)
                MPI_Isend(first, part, type, r, TAG_RECORDS, ctx->comm, &request[n++]);
            else
                MPI_Irecv(first, part, type, r, TAG_RECORDS, ctx->comm, &request[n++]);
        }
        data += (size_t)count[r] * size;
    }
    return n;
}

/* What this rank keeps. */
static void keep_own(const struct tac_ctx *ctx, const char *send, const int64_t *count, char *receive,
                     const int64_t *receive_count, size_t size)
{
    for (int r = 0; r < ctx->rank; r++) {
        send += (size_t)count[r] * size;
        receive += (size_t)receive_count[r] * size;
    }
    if (count[ctx->rank] > 0)
        memcpy(receive, send, (size_t)count[ctx->rank] * size);
}

enum tac_err tac_exchange(struct tac_ctx *ctx, const void *send, const int64_t *count, size_t size, void *receive,
                          int64_t *receive_count)
{
    /* A message is well below INT_MAX bytes: some implementations count in bytes or pieces of their own inside. */
    return tac_exchange_limited(ctx, send, count, size, receive, receive_count, INT_MAX / 2 / (int64_t)size);
}

enum tac_err tac_exchange_limited(struct tac_ctx *ctx, const void *send, const int64_t *count, size_t size,
                                  void *receive, int64_t *receive_count, int64_t limit)
{
    enum tac_err err = TAC_OK;
    char *arrived = NULL, *leaving;
    MPI_Request *request = NULL;
    size_t total = 0, messages = 0;
    MPI_Datatype type;
    limit = limit > 0 ? limit : 1;
    memcpy(&leaving, &send, sizeof leaving);
    err = tac_tell_counts(ctx, count, receive_count);
    for (int r = 0; r < ctx->size; r++) {
        total += (size_t)receive_count[r];
        messages += portions(count[r], limit) + portions(receive_count[r], limit);
    }
    if (err == TAC_OK)
        err = tac_alloc(ctx, total, size, &arrived);
    if (err == TAC_OK)
        err = tac_alloc(ctx, messages, sizeof *request, &request);
    TAC_TRY(tac_agree(ctx, err));
    MPI_Type_contiguous((int)size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    /* Only between ranks that have something for each other: with many ranks those are few. */
    messages = post(ctx, arrived, receive_count, size, limit, type, false, request);
    messages += post(ctx, leaving, count, size, limit, type, true, request + messages);
    keep_own(ctx, send, count, arrived, receive_count, size);
    MPI_Waitall((int)messages, request, MPI_STATUSES_IGNORE);
    MPI_Type_free(&type);
done:
    free(request);
    if (err) {
        free(arrived);
        arrived = NULL;
    }
    memcpy(receive, &arrived, sizeof arrived);
    return err;
}

enum tac_err tac_swap(struct tac_ctx *ctx, size_t n, const int32_t *rank, const void *send, size_t bytes, void *receive)
{
    MPI_Request *request = NULL;
    const enum tac_err err = tac_agree(ctx, tac_alloc(ctx, 2 * n, sizeof *request, &request));
    for (size_t k = 0; k < n && !err; k++)
        MPI_Irecv((char *)receive + k * bytes, (int)bytes, MPI_BYTE, rank[k], TAG_SWAP, ctx->comm, &request[k]);
    for (size_t k = 0; k < n && !err; k++)
        MPI_Isend(send, (int)bytes, MPI_BYTE, rank[k], TAG_SWAP, ctx->comm, &request[n + k]);
    if (!err)
        MPI_Waitall((int)(2 * n), request, MPI_STATUSES_IGNORE);
    free(request);
    return err;
}

/* Copies the records to *out in the order of their destinations. */
static enum tac_err sort_by_destination(struct tac_ctx *ctx, size_t n, const int32_t *to, const char *record,
                                        size_t size, int64_t *sent, int64_t *place, char **out)
{
    enum tac_err err = TAC_OK;
    int64_t *next = NULL;
    TAC_TRY(tac_alloc(ctx, (size_t)ctx->size, sizeof *next, &next));
    TAC_TRY(tac_alloc(ctx, n, size, out));
    memset(sent, 0, (size_t)ctx->size * sizeof *sent);
    for (size_t i = 0; i < n; i++)
        sent[to[i]]++;
    for (int r = 1; r < ctx->size; r++)
        next[r] = next[r - 1] + sent[r - 1];
    for (size_t i = 0; i < n; i++) {
        const int64_t at = next[to[i]]++;
        memcpy(*out + (size_t)at * size, record + i * size, size);
        if (place != NULL)
            place[i] = at;
    }
done:
    free(next);
    return err;
}

enum tac_err tac_distribute_traced(struct tac_ctx *ctx, enum tac_err err, size_t n, const int32_t *to,
                                   const void *record, size_t size, void *received, int64_t *sent, int64_t *came,
                                   int64_t *place)
{
    char *packed = NULL;
    void *none = NULL;
    memcpy(received, &none, sizeof none);
    if (err == TAC_OK)
        err = sort_by_destination(ctx, n, to, record, size, sent, place, &packed);
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_exchange(ctx, packed, sent, size, received, came));
done:
    free(packed);
    return err;
}

enum tac_err tac_distribute(struct tac_ctx *ctx, enum tac_err err, size_t n, const int32_t *to, const void *record,
                            size_t size, void *received, size_t *total)
{
    int64_t *count = NULL;
    if (err == TAC_OK)
        err = tac_alloc(ctx, 2 * (size_t)ctx->size, sizeof *count, &count);
    err = tac_distribute_traced(ctx, err, n, to, record, size, received, count, count ? count + ctx->size : NULL, NULL);
    *total = 0;
    for (int r = 0; r < ctx->size && err == TAC_OK; r++)
        *total += (size_t)count[ctx->size + r];
    free(count);
    return err;
}

enum tac_err tac_share_all(struct tac_ctx *ctx, enum tac_err err, size_t count, const void *record, size_t size,
                           int64_t most, void *all, int64_t *total)
{
    const int own = count < INT_MAX ? (int)count : INT_MAX;
    int *each = NULL, *start;
    char *came = NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    *total = 0;
    TAC_TRY(tac_agree(ctx, err ? err : tac_alloc_brief(ctx, 2 * (size_t)ctx->size, sizeof *each, &each)));
    start = each + ctx->size;
    if (MPI_Allgather(&own, 1, MPI_INT, each, 1, MPI_INT, ctx->comm) != MPI_SUCCESS)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "MPI failed while counting what ranks share"));
    for (int r = 0; r < ctx->size; r++) {
        start[r] = (int)*total; /* not used where it does not fit */
        *total += each[r];
    }
    if (most == 0 && *total >= INT_MAX)
        TAC_TRY(
            tac_fail(ctx, TAC_ERR_RUN,
                     "all ranks together have %lld records of one kind to share, and a message can have %d; a scene "
                     "of this size does not fit",
                     (long long)*total, INT_MAX));
    if (most > 0 && *total > most)
        goto done;
    TAC_TRY(tac_agree(ctx, tac_alloc_brief(ctx, (size_t)*total, size, &came)));
    if (MPI_Type_contiguous((int)size, MPI_BYTE, &type) != MPI_SUCCESS || MPI_Type_commit(&type) != MPI_SUCCESS ||
        MPI_Allgatherv(record, own, type, came, each, start, type, ctx->comm) != MPI_SUCCESS)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "MPI failed while ranks shared data"));
done:
    if (type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type);
    if (err) {
        free(came);
        came = NULL;
    }
    memcpy(all, &came, sizeof came);
    free(each);
    return err;
}

enum tac_err tac_questions_send(struct tac_ctx *ctx, enum tac_err err, struct tac_questions *q, size_t n,
                                const int32_t *to, const void *record, size_t size, void *received)
{
    const size_t ranks = (size_t)ctx->size;
    *q = (struct tac_questions){.n = n};
    if (err == TAC_OK)
        err = tac_alloc(ctx, 3 * ranks, sizeof *q->count, &q->count);
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *q->place, &q->place);
    err = tac_distribute_traced(ctx, err, n, to, record, size, received, q->count, q->count ? q->count + ranks : NULL,
                                q->place);
    for (size_t r = 0; r < ranks && err == TAC_OK; r++)
        q->total += (size_t)q->count[ranks + r];
    return err;
}

enum tac_err tac_questions_answer(struct tac_ctx *ctx, enum tac_err err, const struct tac_questions *q,
                                  const void *answers, size_t size, void *out)
{
    char *got = NULL;
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_exchange(ctx, answers, q->count + ctx->size, size, &got, q->count + 2 * ctx->size));
    for (size_t i = 0; i < q->n; i++)
        memcpy((char *)out + i * size, got + (size_t)q->place[i] * size, size);
done:
    free(got);
    return err;
}

void tac_questions_end(struct tac_questions *q)
{
    free(q->count);
    free(q->place);
    *q = (struct tac_questions){0};
}

enum tac_err tac_ask(struct tac_ctx *ctx, enum tac_err err, size_t n, const int32_t *to, const tac_gid *id,
                     tac_answer *answer, const void *known, size_t size, void *out)
{
    struct tac_questions q;
    tac_gid *asked = NULL;
    char *answers = NULL;
    TAC_TRY(tac_questions_send(ctx, err, &q, n, to, id, sizeof *id, &asked));
    err = tac_alloc(ctx, q.total, size, &answers);
    for (size_t i = 0; i < q.total && err == TAC_OK; i++)
        answer(known, asked[i], answers + i * size);
    TAC_TRY(tac_questions_answer(ctx, err, &q, answers, size, out));
done:
    tac_questions_end(&q);
    free(answers);
    free(asked);
    return err;
}

struct table {
    size_t n;
    const tac_lid *which;
    const int32_t *to;
    tac_fill *fill;
    const void *from;
    size_t size;
};

/* Records first .. end-1, in the order of their destinations. */
static void pack_portion(struct tac_ctx *ctx, const struct table *t, size_t first, size_t end, int64_t *sent,
                         int64_t *next, char *out)
{
    memset(sent, 0, (size_t)ctx->size * sizeof *sent);
    next[0] = 0;
    for (size_t i = first; i < end; i++)
        sent[t->to[i]]++;
    for (int r = 1; r < ctx->size; r++)
        next[r] = next[r - 1] + sent[r - 1];
    for (size_t i = first; i < end; i++)
        t->fill(t->from, t->which ? t->which[i] : (tac_lid)i, out + (size_t)next[t->to[i]]++ * t->size);
}

/* Appends what one round brought. */
static enum tac_err keep_portion(struct tac_ctx *ctx, const int64_t *came, const char *portion, size_t size, char **all,
                                 size_t *total)
{
    size_t more = 0;
    for (int r = 0; r < ctx->size; r++)
        more += (size_t)came[r];
    if (more == 0)
        return TAC_OK;
    char *memory = realloc(*all, (*total + more) * size);
    if (memory == NULL)
        return tac_fail(ctx, TAC_ERR_RUN,
                        "out of memory: %zu bytes were requested; use a smaller scene or a machine with more memory",
                        (*total + more) * size);
    memcpy(memory + *total * size, portion, more * size);
    *all = memory;
    *total += more;
    return TAC_OK;
}

enum tac_err tac_distribute_table(struct tac_ctx *ctx, enum tac_err err, size_t n, const tac_lid *which,
                                  const int32_t *to, tac_fill *fill, const void *from, size_t size, void *received,
                                  size_t *total)
{
    enum { PORTION = 1 << 22 }; /* bytes */
    const size_t most = PORTION / size;
    const struct table table = {n, which, to, fill, from, size};
    int64_t *count = NULL, rounds = err ? 0 : (int64_t)((n + most - 1) / most);
    char *packed = NULL, *portion = NULL, *all = NULL;
    *total = 0;
    if (err == TAC_OK)
        err = tac_alloc(ctx, 3 * (size_t)ctx->size, sizeof *count, &count);
    if (err == TAC_OK)
        err = tac_alloc(ctx, n < most ? n : most, size, &packed);
    if (err == TAC_OK)
        err = tac_alloc(ctx, 1, size, &all);
    TAC_TRY(tac_agree(ctx, err));
    MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_INT64_T, MPI_MAX, ctx->comm);
    for (int64_t k = 0; k < rounds; k++) {
        const size_t first = (size_t)k * most < n ? (size_t)k * most : n, end = n - first < most ? n : first + most;
        pack_portion(ctx, &table, first, end, count, count + 2 * ctx->size, packed);
        TAC_TRY(tac_exchange(ctx, packed, count, size, &portion, count + ctx->size));
        err = keep_portion(ctx, count + ctx->size, portion, size, &all, total);
        free(portion);
        portion = NULL;
        TAC_TRY(tac_agree(ctx, err));
    }
done:
    free(count);
    free(packed);
    if (err) {
        free(all);
        all = NULL;
    }
    memcpy(received, &all, sizeof all);
    return err;
}

enum tac_err tac_sum_all(struct tac_ctx *ctx, struct tac_accum *sum, int count)
{
    enum tac_err err = TAC_OK;
    const size_t size = TAC_ACCUM_LIMBS + 1;
    int64_t *all = NULL;
    for (int k = 0; k < count; k++)
        tac_accum_carry(&sum[k]);
    if (ctx->size == 1)
        return TAC_OK;
    /* Limbs may be added once carried; and so may the marks of sums that are none. */
    TAC_TRY(tac_alloc(ctx, (size_t)count * size, sizeof *all, &all));
    for (int k = 0; k < count; k++) {
        memcpy(&all[(size_t)k * size], sum[k].limb, sizeof sum[k].limb);
        all[(size_t)k * size + TAC_ACCUM_LIMBS] = sum[k].bad;
    }
done:
    if ((err = tac_agree(ctx, err)) == TAC_OK &&
        MPI_Allreduce(MPI_IN_PLACE, all, count * (int)size, MPI_INT64_T, MPI_SUM, ctx->comm) != MPI_SUCCESS)
        err = tac_fail(ctx, TAC_ERR_RUN, "MPI failed while adding up over ranks");
    for (int k = 0; k < count && !err; k++) {
        memcpy(sum[k].limb, &all[(size_t)k * size], sizeof sum[k].limb);
        sum[k].bad = all[(size_t)k * size + TAC_ACCUM_LIMBS] != 0;
        sum[k].pending = 1;
        tac_accum_carry(&sum[k]);
    }
    free(all);
    return err;
}

enum tac_err tac_over_ranks(struct tac_ctx *ctx, void *value, int count, MPI_Datatype type, MPI_Op op)
{
    if (ctx->size > 1 && MPI_Allreduce(MPI_IN_PLACE, value, count, type, op, ctx->comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed while ranks agreed on a step");
    return TAC_OK;
}
