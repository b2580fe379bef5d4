/* queue.h: declares queues of the failure times of certificates: several kinds of priority queues with one small
 * interface.
 *
 * Certificates are numbers from 0; each has at most one time.  The kinetic structures do not need the least time but
 * *all* certificates that are due before the next instant, in any order. Most certificates change their times often
 * before they are due, so this must be cheap.
 *
 *     tac_queue_create(ctx, TAC_QUEUE_RADIX, &queue);
 *     tac_queue_room(queue, 1000);                 makes room for numbers under 1000
 *     tac_queue_set(queue, 7, t);                  inserts 7, or changes its time; TAC_TIME_NEVER removes it
 *     while (tac_queue_due(queue, limit, &id)) ... removes those with a time before `limit`
 */
#ifndef TACTUS_KDS_QUEUE_H
#define TACTUS_KDS_QUEUE_H

#include <tactus/base.h>

enum tac_queue_kind { TAC_QUEUE_BINARY, TAC_QUEUE_PAIRING, TAC_QUEUE_CALENDAR, TAC_QUEUE_RADIX, TAC_QUEUE_KINDS };

struct tac_queue {
    const struct tac_queue_table *table; /* the kind of queue */
    struct tac_ctx *ctx;                 /* borrowed */
    size_t count, capacity;              /* certificates with a time; numbers that may be used */
    tac_time *time;                      /* owned, (capacity): TAC_TIME_NEVER if it has none */
    void *self;                          /* owned by the kind */
};

/* One kind of queue. `id` is in the queue when move() and leave() are called, and is not when enter() is called. The
 * caller sets q->time before enter() and after leave(). due() finds a number with a time before `limit`, and does not
 * remove it. next() returns a lower bound of all times in the queue (TAC_TIME_NEVER: it is empty). */
struct tac_queue_table {
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
extern const struct tac_queue_table tac_queue_binary, tac_queue_pairing, tac_queue_calendar, tac_queue_radix;

/* Local. Makes an empty queue. */
enum tac_err tac_queue_create(struct tac_ctx *ctx, enum tac_queue_kind kind, struct tac_queue **out);
void tac_queue_destroy(struct tac_queue **queue);
/* Local. Makes room for the numbers under `count`. */
enum tac_err tac_queue_room(struct tac_queue *queue, size_t count);
/* Local. Sets the time of a number. Allocates nothing. */
void tac_queue_set(struct tac_queue *queue, int32_t id, tac_time t);
/* Local. Removes a number whose time is before `limit`; returns false if there is none. Allocates nothing. */
bool tac_queue_due(struct tac_queue *queue, tac_time limit, int32_t *id);
/* Local. Returns a lower bound of all times. */
tac_time tac_queue_next(const struct tac_queue *queue);
/* Local. Removes all numbers. */
void tac_queue_clear(struct tac_queue *queue);

#endif
