/* queue_calendar.c: implements a calendar queue (Brown 1988): a year is divided into days of equal length; a number is
 * stored under its day, in any year. When the numbers have doubled or the days are badly filled, a new calendar is laid
 * out.
 */
#include "kds/queue.h"
#include <stdlib.h>

enum { LEAST_DAYS = 64, LOOKS = 4096 };

struct link {
    int32_t next, before;
};

struct calendar {
    size_t capacity, day_capacity;
    struct link *link; /* owned */
    int32_t *day;      /* owned: first number of each day */
    int log_days;
    int log_length;  /* of a day, in quanta */
    tac_time cursor; /* no number is before it */
    int64_t looks;   /* numbers and days looked at since the calendar was laid out */
    size_t taken;    /* found due since then */
    size_t laid_for; /* how many numbers it was laid out for */
};

static size_t day_of(const struct calendar *c, tac_time t)
{
    return (size_t)(t >> c->log_length) & (((size_t)1 << c->log_days) - 1);
}

static enum tac_err calendar_create(struct tac_queue *q)
{
    enum tac_err err = tac_alloc(q->ctx, 1, sizeof(struct calendar), &q->self);
    struct calendar *c = q->self;
    if (err)
        return err;
    c->log_days = 6;
    c->log_length = 20;
    err = tac_grow(q->ctx, &c->day, &c->day_capacity, LEAST_DAYS, sizeof *c->day);
    for (int i = 0; !err && i < LEAST_DAYS; i++)
        c->day[i] = -1;
    return err;
}

static void calendar_destroy(struct tac_queue *q)
{
    struct calendar *c = q->self;
    if (c) {
        free(c->link);
        free(c->day);
    }
    free(c);
}

static void link_in(struct tac_queue *q, int32_t id)
{
    struct calendar *c = q->self;
    const size_t d = day_of(c, q->time[id]);
    c->link[id] = (struct link){c->day[d], -1};
    if (c->day[d] >= 0)
        c->link[c->day[d]].before = id;
    c->day[d] = id;
}

static enum tac_err calendar_room(struct tac_queue *q, size_t capacity)
{
    enum tac_err err;
    struct calendar *c = q->self;
    size_t days = LEAST_DAYS;
    const size_t before = c->day_capacity;
    while (days < capacity)
        days *= 2;
    TAC_TRY(tac_grow(q->ctx, &c->link, &c->capacity, capacity, sizeof *c->link));
    TAC_TRY(tac_grow(q->ctx, &c->day, &c->day_capacity, days, sizeof *c->day));
    for (size_t i = before; i < c->day_capacity; i++)
        c->day[i] = -1;
done:
    return err;
}

/* Makes as many days as there are numbers; the length of a day is the mean spacing of the numbers that come next. */
static void lay_out(struct tac_queue *q)
{
    struct calendar *c = q->self;
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < q->capacity; i++)
        if (q->time[i] != TAC_TIME_NEVER) {
            sum += (double)(q->time[i] - c->cursor);
            n++;
        }
    const double apart = n ? 2 * sum / (double)n / (double)n : 1;
    for (size_t d = 0; d < (size_t)1 << c->log_days; d++)
        c->day[d] = -1;
    c->log_days = 6;
    while (((size_t)1 << c->log_days) < n)
        c->log_days++;
    c->log_length = 0;
    while (c->log_length < 40 && (double)((tac_time)1 << c->log_length) < apart)
        c->log_length++;
    for (size_t i = 0; i < q->capacity; i++)
        if (q->time[i] != TAC_TIME_NEVER)
            link_in(q, (int32_t)i);
    c->looks = 0;
    c->taken = 0;
    c->laid_for = n;
}

static void calendar_enter(struct tac_queue *q, int32_t id)
{
    struct calendar *c = q->self;
    c->cursor = q->time[id] < c->cursor || q->count == 1 ? q->time[id] : c->cursor;
    link_in(q, id);
    if (q->count > 2 * c->laid_for + LEAST_DAYS)
        lay_out(q);
}

static void calendar_leave(struct tac_queue *q, int32_t id)
{
    struct calendar *c = q->self;
    const struct link l = c->link[id];
    if (l.next >= 0)
        c->link[l.next].before = l.before;
    if (l.before >= 0)
        c->link[l.before].next = l.next;
    else
        c->day[day_of(c, q->time[id])] = l.next;
}

static void calendar_move(struct tac_queue *q, int32_t id, tac_time t)
{
    struct calendar *c = q->self;
    calendar_leave(q, id);
    q->time[id] = t;
    c->cursor = t < c->cursor ? t : c->cursor;
    link_in(q, id);
}

static bool calendar_due(struct tac_queue *q, tac_time limit, int32_t *id)
{
    struct calendar *c = q->self;
    if (limit <= c->cursor)
        return false;
    if (c->looks > LOOKS + 8 * (int64_t)c->taken + 4 * (int64_t)q->count)
        lay_out(q);
    const tac_time first = c->cursor >> c->log_length, last = (limit - 1) >> c->log_length;
    const tac_time days = last - first < (tac_time)1 << c->log_days ? last - first + 1 : (tac_time)1 << c->log_days;
    for (tac_time d = 0; d < days; d++) {
        c->looks++;
        for (int32_t i = c->day[day_of(c, (first + d) << c->log_length)]; i >= 0; i = c->link[i].next) {
            c->looks++;
            if (q->time[i] < limit) {
                const tac_time day = (first + d) << c->log_length; /* those before it have nothing due */
                c->cursor = day > c->cursor ? day : c->cursor;
                c->taken++;
                *id = i;
                return true;
            }
        }
    }
    c->cursor = limit;
    return false;
}

static tac_time calendar_next(const struct tac_queue *q)
{
    return ((const struct calendar *)q->self)->cursor;
}

const struct tac_queue_table tac_queue_calendar = {"calendar",    calendar_create, calendar_destroy,
                                                   calendar_room, calendar_enter,  calendar_leave,
                                                   calendar_move, calendar_due,    calendar_next};
