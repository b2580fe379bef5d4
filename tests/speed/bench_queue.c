/* bench_queue: nanoseconds per operation of each way to keep certificates in order of time.
 *
 * The load is that of kinetic structures: from instant to instant all that are due are taken out and entered anew, some
 * lives later; between two instants others are moved to an earlier time, and some back.  bench_queue [repeats]. */
#include "kds/queue.h"
#include <stdio.h>
#include <stdlib.h>
#include <tactus/math.h>

enum { STEP = 1 << 20, MOST_REPEATS = 25 }; /* quanta between two instants */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A certificate lives for 16 to 4096 instants. */
static tac_time life(uint64_t seed, uint64_t *counter)
{
    const double share = tac_random(seed, (*counter)++);
    return (tac_time)(STEP * 16 * tac_exp(share * tac_log(256)));
}

/* ns per operation.  moves: how many are moved for each that is due. */
static double run(struct tac_ctx *ctx, enum tac_queue_kind kind, int32_t count, int moves, uint64_t seed)
{
    struct tac_queue *q = NULL;
    uint64_t counter = 0;
    const int64_t wanted = 2000000;
    int64_t operations = 0;
    tac_time now = 0;
    if (tac_queue_create(ctx, kind, &q) || tac_queue_room(q, (size_t)count))
        exit(3);
    for (int32_t i = 0; i < count; i++)
        tac_queue_set(q, i, life(seed, &counter));
    double begin_s = 0;
    for (int step = 0; operations < wanted; step++) {
        int32_t id;
        int64_t due = 0;
        if (step == 64) { /* by then it has found its shape */
            operations = 0;
            begin_s = tac_wall_s();
        }
        while (tac_queue_due(q, now + STEP, &id)) {
            tac_queue_set(q, id, now + STEP + life(seed, &counter));
            due++;
        }
        now += STEP;
        for (int64_t m = 0; m < due * moves; m++) {
            id = (int32_t)(tac_random(seed, counter++) * count);
            const tac_time t = q->time[id], left = t - now;
            tac_queue_set(q, id, m % 8 ? now + left - left / 4 : t + left / 4);
        }
        operations += 2 * due + due * moves;
        if (step < 64)
            operations = 0;
    }
    const double ns = (tac_wall_s() - begin_s) / (double)operations * 1e9;
    tac_queue_destroy(&q);
    return ns;
}

int main(int argc, char **argv)
{
    static const char *const name[] = {"binary", "pairing", "calendar", "radix"};
    struct tac_ctx ctx;
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    int repeats = argc > 1 ? atoi(argv[1]) : 5;
    repeats = repeats < 1 ? 1 : repeats > MOST_REPEATS ? MOST_REPEATS : repeats;
    printf("ns per operation, median of %d (least..most); draws of random numbers included\n", repeats);
    printf("%10s %6s", "count", "moves");
    for (int k = 0; k < TAC_QUEUE_KINDS; k++)
        printf(" %22s", name[k]);
    printf("\n");
    for (int32_t count = 1000; count <= 1000000; count *= 10)
        for (int moves = 0; moves <= 8; moves += 4) {
            double ns[TAC_QUEUE_KINDS][MOST_REPEATS];
            for (int r = 0; r < repeats; r++) /* in turn, so that all meet the same weather */
                for (int k = 0; k < TAC_QUEUE_KINDS; k++)
                    ns[k][r] = run(&ctx, (enum tac_queue_kind)k, count, moves, (uint64_t)r + 1);
            printf("%10d %6d", (int)count, moves);
            for (int k = 0; k < TAC_QUEUE_KINDS; k++) {
                qsort(ns[k], (size_t)repeats, sizeof(double), compare);
                printf("   %6.0f (%4.0f..%5.0f)", ns[k][repeats / 2], ns[k][0], ns[k][repeats - 1]);
            }
            printf("\n");
            fflush(stdout);
        }
    MPI_Finalize();
    return 0;
}
