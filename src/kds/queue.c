/* queue.c: has the functions that all queues of certificates share, and the binary heap (docs/reference/kinetic.md, The
 * queue).
 */
#include "kds/queue.h"
#include <stdlib.h>

static const struct tac_queue_table *const tables[TAC_QUEUE_KINDS] = {&tac_queue_binary, &tac_queue_pairing,
                                                                      &tac_queue_calendar, &tac_queue_radix};

enum tac_err tac_queue_create(struct tac_ctx *ctx, enum tac_queue_kind kind, struct tac_queue **out)
{
    enum tac_err err;
    struct tac_queue *q = NULL;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *q, &q));
    q->ctx = ctx;
    q->table = tables[kind];
    TAC_TRY(q->table->create(q));
done:
    if (err)
        tac_queue_destroy(&q);
    *out = q;
    return err;
}

void tac_queue_destroy(struct tac_queue **queue)
{
    struct tac_queue *q = *queue;
    if (q == NULL)
        return;
    q->table->destroy(q);
    free(q->time);
    free(q);
    *queue = NULL;
}

enum tac_err tac_queue_room(struct tac_queue *q, size_t count)
{
    enum tac_err err = TAC_OK;
    const size_t before = q->capacity;
    if (count <= before)
        return TAC_OK;
    TAC_TRY(tac_grow(q->ctx, &q->time, &q->capacity, count, sizeof *q->time));
    for (size_t i = before; i < q->capacity; i++)
        q->time[i] = TAC_TIME_NEVER;
    TAC_TRY(q->table->room(q, q->capacity));
done:
    return err;
}

void tac_queue_set(struct tac_queue *q, int32_t id, tac_time t)
{
    if (q->time[id] == t)
        return;
    if (t == TAC_TIME_NEVER) {
        q->table->leave(q, id);
        q->count--;
        q->time[id] = t;
    } else if (q->time[id] == TAC_TIME_NEVER) {
        q->time[id] = t;
        q->count++;
        q->table->enter(q, id);
    } else {
        q->table->move(q, id, t);
    }
}

bool tac_queue_due(struct tac_queue *q, tac_time limit, int32_t *id)
{
    if (q->count == 0 || !q->table->due(q, limit, id))
        return false;
    tac_queue_set(q, *id, TAC_TIME_NEVER);
    return true;
}

tac_time tac_queue_next(const struct tac_queue *q)
{
    return q->count == 0 ? TAC_TIME_NEVER : q->table->next(q);
}

void tac_queue_clear(struct tac_queue *q)
{
    for (size_t i = 0; i < q->capacity && q->count; i++)
        tac_queue_set(q, (int32_t)i, TAC_TIME_NEVER);
}

/* ---- binary heap, with the place of every number ---- */

struct slot {
    tac_time t;
    int32_t id;
};

struct binary {
    size_t capacity, place_capacity;
    struct slot *slot; /* owned */
    int32_t *place;    /* owned: where a number is */
};

static enum tac_err binary_create(struct tac_queue *q)
{
    return tac_alloc(q->ctx, 1, sizeof(struct binary), &q->self);
}

static void binary_destroy(struct tac_queue *q)
{
    struct binary *b = q->self;
    if (b == NULL)
        return;
    free(b->slot);
    free(b->place);
    free(b);
}

static enum tac_err binary_room(struct tac_queue *q, size_t capacity)
{
    enum tac_err err;
    struct binary *b = q->self;
    TAC_TRY(tac_grow(q->ctx, &b->slot, &b->capacity, capacity, sizeof *b->slot));
    TAC_TRY(tac_grow(q->ctx, &b->place, &b->place_capacity, capacity, sizeof *b->place));
done:
    return err;
}

static void binary_put(struct binary *b, size_t i, struct slot slot)
{
    b->slot[i] = slot;
    b->place[slot.id] = (int32_t)i;
}

static void binary_sift(struct binary *b, size_t n, size_t i, struct slot moving)
{
    while (i > 0 && b->slot[(i - 1) / 2].t > moving.t) {
        binary_put(b, i, b->slot[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && b->slot[child + 1].t < b->slot[child].t)
            child++;
        if (b->slot[child].t >= moving.t)
            break;
        binary_put(b, i, b->slot[child]);
    }
    binary_put(b, i, moving);
}

static void binary_enter(struct tac_queue *q, int32_t id)
{
    binary_sift(q->self, q->count, q->count - 1, (struct slot){q->time[id], id});
}

static void binary_leave(struct tac_queue *q, int32_t id)
{
    struct binary *b = q->self;
    const size_t i = (size_t)b->place[id], last = q->count - 1;
    if (i != last)
        binary_sift(b, last, i, b->slot[last]);
}

static void binary_move(struct tac_queue *q, int32_t id, tac_time t)
{
    struct binary *b = q->self;
    q->time[id] = t;
    binary_sift(b, q->count, (size_t)b->place[id], (struct slot){t, id});
}

static bool binary_due(struct tac_queue *q, tac_time limit, int32_t *id)
{
    const struct binary *b = q->self;
    *id = b->slot[0].id;
    return b->slot[0].t < limit;
}

static tac_time binary_next(const struct tac_queue *q)
{
    const struct binary *b = q->self;
    return b->slot[0].t;
}

const struct tac_queue_table tac_queue_binary = {"binary",     binary_create, binary_destroy, binary_room, binary_enter,
                                                 binary_leave, binary_move,   binary_due,     binary_next};
