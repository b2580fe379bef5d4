/* All queues against a plain table: random entries, moves, removals and limits. */
#include "check.h"
#include "kds/queue.h"
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

enum { NUMBERS = 300, OPERATIONS = 20000 };

struct draw {
    uint64_t seed, counter;
};

static uint64_t draw(struct draw *d)
{
    return tac_hash64(d->seed, d->counter++);
}

/* Near and far, and often the same. */
static tac_time some_time(struct draw *d, tac_time now)
{
    const int bits = (int)(draw(d) % 55);
    const tac_time span = bits == 54 ? TAC_TIME_NEVER - now : (tac_time)(draw(d) & (((uint64_t)1 << bits) - 1));
    return draw(d) % 16 == 0 ? now : now + span;
}

static void take_due(struct tac_queue *q, tac_time *plain, tac_time limit)
{
    int32_t id;
    tac_time least = TAC_TIME_NEVER;
    for (int i = 0; i < NUMBERS; i++)
        least = plain[i] < least ? plain[i] : least;
    CHECK(tac_queue_next(q) <= least, "%s: next", q->table->name);
    while (tac_queue_due(q, limit, &id)) {
        CHECK(id >= 0 && id < NUMBERS && plain[id] < limit, "%s: not due", q->table->name);
        plain[id] = TAC_TIME_NEVER;
    }
    for (int i = 0; i < NUMBERS; i++)
        CHECK(plain[i] >= limit, "%s: %d was due", q->table->name, i);
}

static void try_queue(struct tac_ctx *ctx, enum tac_queue_kind kind, uint64_t seed)
{
    struct tac_queue *q = NULL;
    struct draw d = {seed, 0};
    tac_time plain[NUMBERS], now = 0;
    size_t entered = 0;
    for (int i = 0; i < NUMBERS; i++)
        plain[i] = TAC_TIME_NEVER;
    TAC_CHECK(tac_queue_create(ctx, kind, &q) == TAC_OK);
    for (int n = 0; n < OPERATIONS; n++) {
        /* Room comes by and by. */
        const size_t most = n < 500 ? 10 : NUMBERS;
        TAC_CHECK(tac_queue_room(q, most) == TAC_OK);
        const int32_t id = (int32_t)(draw(&d) % most);
        switch (draw(&d) % 8) {
        case 0:
            plain[id] = TAC_TIME_NEVER;
            tac_queue_set(q, id, TAC_TIME_NEVER);
            break;
        case 1: {
            const tac_time step = some_time(&d, 0);
            take_due(q, plain, now + step % ((tac_time)1 << 40)); /* beyond now: as far as the next instant */
            now += draw(&d) % 2 ? step % ((tac_time)1 << 40) : 0; /* which may turn out to come sooner */
            break;
        }
        case 2:
            if (draw(&d) % 64 == 0) {
                tac_queue_clear(q);
                for (int i = 0; i < NUMBERS; i++)
                    plain[i] = TAC_TIME_NEVER;
            }
            break;
        default:
            plain[id] = some_time(&d, now);
            tac_queue_set(q, id, plain[id]);
        }
        entered = 0;
        for (int i = 0; i < NUMBERS; i++)
            entered += plain[i] != TAC_TIME_NEVER;
        CHECK(q->count == entered, "%s: holds %zu, not %zu", q->table->name, q->count, entered);
    }
    tac_queue_destroy(&q);
    CHECK(q == NULL, "destroyed");
}

int main(int argc, char **argv)
{
    struct tac_ctx ctx;
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    for (int kind = 0; kind < TAC_QUEUE_KINDS; kind++)
        for (uint64_t seed = 1; seed <= 4; seed++)
            try_queue(&ctx, (enum tac_queue_kind)kind, seed);
    MPI_Finalize();
    return check_result();
}
