/* queue_radix.c: implements a radix queue: bucket k holds the numbers whose time differs from a mark in bit k - 1 as
 * the highest one, bucket 0 those at the mark or before it. The mark follows the limits of the requests. When it passes
 * into a bucket, the numbers of that bucket are distributed over the buckets below it. A number is moved from one list
 * to another. */
#include "kds/queue.h"
#include <stdlib.h>

enum { BUCKETS = 65 };

struct link {
    int32_t next, before; /* of the same bucket, or -1 */
};

struct radix {
    size_t capacity;
    struct link *link; /* owned */
    tac_time mark;
    int32_t head[BUCKETS];
    uint64_t filled; /* bit k - 1: bucket k is not empty */
};

static enum tac_err radix_create(struct tac_queue *q)
{
    enum tac_err err = tac_alloc(q->ctx, 1, sizeof(struct radix), &q->self);
    struct radix *r = q->self;
    for (int k = 0; !err && k < BUCKETS; k++)
        r->head[k] = -1;
    return err;
}

static void radix_destroy(struct tac_queue *q)
{
    struct radix *r = q->self;
    if (r)
        free(r->link);
    free(r);
}

static enum tac_err radix_room(struct tac_queue *q, size_t capacity)
{
    struct radix *r = q->self;
    return tac_grow(q->ctx, &r->link, &r->capacity, capacity, sizeof *r->link);
}

static int bucket_of(const struct radix *r, tac_time t)
{
    return t <= r->mark ? 0 : 64 - __builtin_clzll((unsigned long long)(t ^ r->mark));
}

static void radix_enter(struct tac_queue *q, int32_t id)
{
    struct radix *r = q->self;
    const int k = bucket_of(r, q->time[id]);
    r->link[id] = (struct link){r->head[k], -1};
    if (r->head[k] >= 0)
        r->link[r->head[k]].before = id;
    r->head[k] = id;
    if (k > 0)
        r->filled |= (uint64_t)1 << (k - 1);
}

static void radix_leave(struct tac_queue *q, int32_t id)
{
    struct radix *r = q->self;
    const struct link l = r->link[id];
    if (l.next >= 0)
        r->link[l.next].before = l.before;
    if (l.before >= 0) {
        r->link[l.before].next = l.next;
        return;
    }
    const int k = bucket_of(r, q->time[id]);
    r->head[k] = l.next;
    if (l.next < 0 && k > 0)
        r->filled &= ~((uint64_t)1 << (k - 1));
}

static void radix_move(struct tac_queue *q, int32_t id, tac_time t)
{
    const struct radix *r = q->self;
    if (bucket_of(r, t) != bucket_of(r, q->time[id])) {
        radix_leave(q, id);
        q->time[id] = t;
        radix_enter(q, id);
    }
    q->time[id] = t;
}

/* Returns the least time that bucket k > 0 may contain. */
static tac_time floor_of(const struct radix *r, int k)
{
    const uint64_t low = ((uint64_t)1 << (k - 1)) - 1;
    return (tac_time)(((uint64_t)r->mark & ~low) | ((uint64_t)1 << (k - 1)));
}

/* Moves the mark to t, which lies in bucket k; all buckets below k are empty. */
static void distribute_out(struct tac_queue *q, int k, tac_time t)
{
    struct radix *r = q->self;
    int32_t id = r->head[k];
    r->head[k] = -1;
    r->filled &= ~((uint64_t)1 << (k - 1));
    r->mark = t;
    for (int32_t after; id >= 0; id = after) {
        after = r->link[id].next;
        radix_enter(q, id);
    }
}

static bool radix_due(struct tac_queue *q, tac_time limit, int32_t *id)
{
    struct radix *r = q->self;
    for (;;) {
        for (int32_t i = r->head[0]; i >= 0; i = r->link[i].next)
            if (q->time[i] < limit) {
                *id = i;
                return true;
            }
        if (r->filled == 0 || r->head[0] >= 0)
            return false; /* numbers at the mark are not due, so later ones are not due either */
        const int k = 1 + __builtin_ctzll(r->filled);
        if (floor_of(r, k) >= limit)
            return false;
        /* No further than the least in the bucket, and than the limit: later entries must not lie before the mark. */
        tac_time least = limit - 1;
        for (int32_t i = r->head[k]; i >= 0; i = r->link[i].next)
            least = q->time[i] < least ? q->time[i] : least;
        distribute_out(q, k, least);
    }
}

static tac_time radix_next(const struct tac_queue *q)
{
    const struct radix *r = q->self;
    tac_time least = TAC_TIME_NEVER;
    for (int32_t i = r->head[0]; i >= 0; i = r->link[i].next)
        least = q->time[i] < least ? q->time[i] : least;
    if (least == TAC_TIME_NEVER && r->filled)
        least = floor_of(r, 1 + __builtin_ctzll(r->filled));
    return least;
}

const struct tac_queue_table tac_queue_radix = {"radix",     radix_create, radix_destroy, radix_room, radix_enter,
                                                radix_leave, radix_move,   radix_due,     radix_next};
