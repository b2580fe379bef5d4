/* queue.h: when which certificate may fail.  Several ways to keep times in order, behind one small interface.
 *
 * Certificates are numbers from 0; each has at most one time.  What the kinetic structures ask for is not the least
 * time but *all* that are due before the next instant, in any order; most certificates are moved many times before they
 * are due, so moving must be cheap.
 *
 *     tac_queue_create(ctx, TAC_QUEUE_RADIX, &queue);
 *     tac_queue_room(queue, 1000);                 numbers under 1000 may be used
 *     tac_queue_set(queue, 7, t);                  enters 7, or moves it; TAC_TIME_NEVER takes it out
 *     while (tac_queue_due(queue, limit, &id)) ... takes out those with a time before `limit`
 */
#ifndef TACTUS_KDS_QUEUE_H
#define TACTUS_KDS_QUEUE_H

#include <tactus/base.h>

enum tac_queue_kind { TAC_QUEUE_BINARY, TAC_QUEUE_PAIRING, TAC_QUEUE_CALENDAR, TAC_QUEUE_RADIX, TAC_QUEUE_KINDS };

struct tac_queue {
    const struct tac_queue_way *way; /* how it is kept */
    struct tac_ctx *ctx;             /* borrowed */
    size_t count, capacity;          /* certificates with a time; numbers that may be used */
    tac_time *time;                  /* owned, (capacity): TAC_TIME_NEVER if it has none */
    void *self;                      /* owned by the way */
};

/* One way.  `id` is in the queue in move() and leave(), is not in enter(); q->time is set by the caller, before enter()
 * and after leave().  due() finds one with a time before limit, and does not take it out.  next(): no time in the queue
 * is before it (TAC_TIME_NEVER: empty). */
struct tac_queue_way {
    const char *name;
    enum tac_err (*create)(struct tac_queue *q);
    void (*destroy)(struct tac_queue *q);
    enum tac_err (*room)(struct tac_queue *q, size_t capacity);
    void (*enter)(struct tac_queue *q, int32_t id);
    void (*leave)(struct tac_queue *q, int32_t id);
    void (*move)(struct tac_queue *q, int32_t id, tac_time t);
    bool (*due)(struct tac_queue *q, tac_time limit, int32_t *id);
    tac_time (*next)(const struct tac_queue *q);
};
extern const struct tac_queue_way tac_queue_binary, tac_queue_pairing, tac_queue_calendar, tac_queue_radix;

/* Local. An empty queue. */
enum tac_err tac_queue_create(struct tac_ctx *ctx, enum tac_queue_kind kind, struct tac_queue **out);
void tac_queue_destroy(struct tac_queue **queue);
/* Local. Room for the numbers under `count`. */
enum tac_err tac_queue_room(struct tac_queue *queue, size_t count);
/* Local. Sets the time of a number. No allocation. */
void tac_queue_set(struct tac_queue *queue, int32_t id, tac_time t);
/* Local. Takes out one whose time is before `limit`; false if there is none. No allocation. */
bool tac_queue_due(struct tac_queue *queue, tac_time limit, int32_t *id);
/* Local. No time is before this one. */
tac_time tac_queue_next(const struct tac_queue *queue);
/* Local. Takes all out. */
void tac_queue_clear(struct tac_queue *queue);

#endif
