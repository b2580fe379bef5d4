/* exchange.h: sends records to other ranks, sorted by destination; sends requests and their answers; sorts ids.
 *
 * Collective functions here take the code of the caller's local work before them (`err`): the ranks agree on it first.
 * So if one rank has run out of memory, all ranks return and none waits.  When err is set, the other arguments are not
 * used.
 */
#ifndef TACTUS_BASE_EXCHANGE_H
#define TACTUS_BASE_EXCHANGE_H

#include <tactus/accum.h>
#include <tactus/base.h>

/* Local. Blocks: rank r of `size` holds the ids tac_block_begin(total, size, r) .. tac_block_begin(total, size, r+1)-1.
 */
tac_gid tac_block_begin(tac_gid total, int size, int rank);
int tac_block_rank(tac_gid total, int size, tac_gid id);

/* Collective. Sends `count[r]` records of `size` bytes to each rank r, which are consecutive in `send`. The received
 * records are in *receive (owned by the caller), in the order of ranks; receive_count: (ranks). */
enum tac_err tac_exchange(struct tac_ctx *ctx, const void *send, const int64_t *count, size_t size, void *receive,
                          int64_t *receive_count);

/* Collective, but an error may be returned on one rank only. receive_count (ranks): the value of count[this rank] on
 * each of them. */
enum tac_err tac_tell_counts(struct tac_ctx *ctx, const int64_t *count, int64_t *receive_count);

/* Collective. Does what tac_exchange() does, in messages of at most `limit` records. */
enum tac_err tac_exchange_limited(struct tac_ctx *ctx, const void *send, const int64_t *count, size_t size,
                                  void *receive, int64_t *receive_count, int64_t limit);

/* Neighbours. Sends the same `bytes` to each of n ranks, which all send as many here; receive (n, bytes). */
enum tac_err tac_swap(struct tac_ctx *ctx, size_t n, const int32_t *rank, const void *send, size_t bytes,
                      void *receive);

struct tac_keyed {
    tac_gid key; /* not negative */
    int64_t index;
};

/* Collective; local on one rank. Replaces the values by those of all ranks, combined by op. TAC_ERR_RUN: MPI failed. */
enum tac_err tac_over_ranks(struct tac_ctx *ctx, void *value, int count, MPI_Datatype type, MPI_Op op);
/* Collective. Adds up each of `count` sums over all ranks, exactly. */
enum tac_err tac_sum_all(struct tac_ctx *ctx, struct tac_accum *sum, int count);

/* Local. Sorts by key, equal keys keeping their order. O(n) for keys of bounded length. */
enum tac_err tac_sort_keyed(struct tac_ctx *ctx, size_t n, struct tac_keyed *list);

/* Local. Sorts records of `size` bytes in place by ascending id; each record begins with its id (a tac_gid). */
enum tac_err tac_sort_records(struct tac_ctx *ctx, size_t n, size_t size, void *records);

/* Returns the local id of a global one among n ascending ids, or -1. */
tac_lid tac_id_find(const tac_gid *ascending, tac_lid n, tac_gid id);

/* Distinct ids out of many: memory for about four times as many ids as are distinct, at any time. */
struct tac_ids {
    struct tac_keyed *list;           /* owned */
    size_t count, capacity, distinct; /* the first `distinct` are ascending and distinct */
    tac_gid recent[1024];             /* ids plus one, by their low bits: most ids come again soon */
};

/* Local. Start with {0}. */
enum tac_err tac_ids_add(struct tac_ctx *ctx, struct tac_ids *ids, size_t n, const tac_gid *id);
/* Local. Returns the distinct ids, ascending, in *unique (owned by the caller).  `ids` is empty afterwards, also on
 * failure. */
enum tac_err tac_ids_finish(struct tac_ctx *ctx, struct tac_ids *ids, tac_gid **unique, size_t *count);

/* Where ids are in an ascending list: constant time where the list is about as dense everywhere. */
struct tac_finder {
    const tac_gid *id; /* borrowed */
    size_t count;
    int shift;
    tac_lid *start; /* owned: where the ids of each 2^shift begin */
};

/* Local. */
enum tac_err tac_finder_make(struct tac_ctx *ctx, const tac_gid *id, size_t count, struct tac_finder *out);
void tac_finder_free(struct tac_finder *finder);
/* -1: not there. */
tac_lid tac_finder_find(const struct tac_finder *finder, tac_gid id);

/* Local. Makes the ascending list of the distinct ids in `id`, *unique (owned by the caller); place[i]: index of id[i]
 * in it. */
enum tac_err tac_compress(struct tac_ctx *ctx, size_t n, const tac_gid *id, tac_gid **unique, size_t *unique_count,
                          tac_lid *place);

/* Collective. Sends record i to rank to[i]; records from one rank to another keep their order.  *received (owned by the
 * caller) gets the *total records that came, in the order of ranks. */
enum tac_err tac_distribute(struct tac_ctx *ctx, enum tac_err err, size_t n, const int32_t *to, const void *record,
                            size_t size, void *received, size_t *total);

/* Collective. Gathers the records of all ranks on all ranks: *all (owned by the caller) has *total of them, in the
 * order of the ranks. If there are more than `most`, none is gathered, and *all is NULL. most 0: all are needed, and
 * more than messages can have are an error. */
enum tac_err tac_share_all(struct tac_ctx *ctx, enum tac_err err, size_t count, const void *record, size_t size,
                           int64_t most, void *all, int64_t *total);

/* Local. Writes record `index` of the table `from` to `record`. */
typedef void tac_fill(const void *from, tac_lid index, void *record);

/* Collective. As tac_distribute(), for large tables: record which[i] (NULL: i), made by `fill` as it is needed, goes to
 * rank to[i]; what comes is in no certain order.  Beside what comes it takes a few megabytes. */
enum tac_err tac_distribute_table(struct tac_ctx *ctx, enum tac_err err, size_t n, const tac_lid *which,
                                  const int32_t *to, tac_fill *fill, const void *from, size_t size, void *received,
                                  size_t *total);

/* Local. Writes the answer about an id, which it finds in `known`, to `record`. */
typedef void tac_answer(const void *known, tac_gid id, void *record);

/* Collective. Asks rank to[i] about id[i]; answers, records of `size` bytes, in the order of the questions. */
enum tac_err tac_ask(struct tac_ctx *ctx, enum tac_err err, size_t n, const int32_t *to, const tac_gid *id,
                     tac_answer *answer, const void *known, size_t size, void *out);

/* Records that were sent to other ranks, which must answer them. */
struct tac_questions {
    size_t n, total; /* records that this rank sent; that came here */
    int64_t *count;  /* owned, (3, ranks): sent, came, answers that come back */
    int64_t *place;  /* owned, (n): where record i went in what was sent */
};

/* Collective. As tac_distribute(); q->total records come here.  End with tac_questions_end(), also after a failure. */
enum tac_err tac_questions_send(struct tac_ctx *ctx, enum tac_err err, struct tac_questions *q, size_t n,
                                const int32_t *to, const void *record, size_t size, void *received);
/* Collective. Sends answers back. answers: one of `size` bytes for each received record, in their order; out: the
 * answer to each record that this rank sent. */
enum tac_err tac_questions_answer(struct tac_ctx *ctx, enum tac_err err, const struct tac_questions *q,
                                  const void *answers, size_t size, void *out);
void tac_questions_end(struct tac_questions *q);

/* Collective. Does what tac_distribute() does, for records that need an answer. place[i] (n) is the index of record i
 * among the sent ones; `sent` and `came` (ranks) are the numbers of sent and received records. So tac_exchange(answers,
 * came, ...) returns the answer to record i at place[i].
 */
enum tac_err tac_distribute_traced(struct tac_ctx *ctx, enum tac_err err, size_t n, const int32_t *to,
                                   const void *record, size_t size, void *received, int64_t *sent, int64_t *came,
                                   int64_t *place);

#endif
