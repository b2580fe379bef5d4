/* exchange_counts.c: sends to each rank the numbers of records that others will send it, where most send nothing.
 *
 * MPI_Alltoall would bring each rank a number from every other one.  Here only those that are not 0 travel: in step k
 * each goes 2^k ranks further if that bit of the distance from its sender to its receiver is set, so after log n steps
 * all have arrived (Bruck's pattern).  A rank sends and receives one message in each step.  (Agreeing by a barrier that
 * does not block, as Hoefler, Siebert and Lumsdaine have it, takes as many steps, and synchronous messages besides.)
 */
#include "base/exchange.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_COUNTS = 23 };

struct reported {
    int32_t from, to;
    int64_t count;
};

/* The numbers that this rank is passing on: before each step at most one from each distance, and of these at most half
 * go on.
 */
struct report_list {
    size_t count;
    struct reported *of; /* owned, (ranks) */
    size_t leaving_count;
    struct reported *leaving; /* (ranks / 2), after them */
};

/* Takes out of the list what goes `hop` ranks further now. */
static void split(const struct tac_ctx *ctx, struct report_list *list, int hop)
{
    size_t kept = 0;
    list->leaving_count = 0;
    for (size_t k = 0; k < list->count; k++) {
        const struct reported *t = &list->of[k];
        const int distance = (t->to - t->from + ctx->size) % ctx->size;
        if ((distance & hop) != 0)
            list->leaving[list->leaving_count++] = *t;
        else
            list->of[kept++] = *t;
    }
    list->count = kept;
}

/* Neighbours. A rank without memory (no list->of) sends nothing, and what comes to it goes to `room`, which holds half
 * of the ranks' counts. */
static void send_counts_on(struct tac_ctx *ctx, struct report_list *list, int hop, void *room)
{
    const int to = (ctx->rank + hop) % ctx->size, from = (ctx->rank - hop + ctx->size) % ctx->size;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int bytes = 0;
    MPI_Isend(list->leaving, (int)(list->leaving_count * sizeof *list->leaving), MPI_BYTE, to, TAG_COUNTS, ctx->comm,
              &request);
    MPI_Mprobe(from, TAG_COUNTS, ctx->comm, &message, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const size_t more = (size_t)bytes / sizeof *list->of;
    TAC_CHECK(list->count + more <= (size_t)ctx->size);
    MPI_Mrecv(list->of != NULL ? list->of + list->count : room, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    list->count += list->of != NULL ? more : 0;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

enum tac_err tac_tell_counts(struct tac_ctx *ctx, const int64_t *count, int64_t *receive_count)
{
    const size_t ranks = (size_t)ctx->size;
    struct report_list list = {0};
    const enum tac_err err = tac_alloc(ctx, ranks + ranks / 2, sizeof *list.of, &list.of);
    list.leaving = list.of != NULL ? list.of + ranks : NULL;
    for (int r = 0; r < ctx->size && !err; r++)
        if (count[r] != 0)
            list.of[list.count++] = (struct reported){ctx->rank, r, count[r]};
    for (int hop = 1; hop < ctx->size; hop *= 2) {
        split(ctx, &list, hop);
        send_counts_on(ctx, &list, hop, receive_count);
    }
    memset(receive_count, 0, ranks * sizeof *receive_count);
    for (size_t k = 0; k < list.count; k++)
        receive_count[list.of[k].from] = list.of[k].count;
    free(list.of);
    return err;
}
