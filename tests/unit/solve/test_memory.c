/* test_memory.c: memory that runs out on one rank is the error of all, and solving allocates nothing.
 *
 * If it failed, ranks would wait for one that has given up, or keep memory, or an iteration would take memory.  (What
 * is kept is seen in the build with sanitizers.)  Run on one rank and on several. */
#include "hand.h"

void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static long left = -1, made; /* allocations until one fails; -1: none does */

static int fails(void)
{
    made++;
    return left >= 0 && left-- == 0;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

static struct tac_ctx ctx;

/* Everything, with the n-th allocation of one rank failing; true: it was made. */
static bool run(struct hand_system *s, long n, int rank)
{
    struct tac_solver *solver = NULL;
    struct tac_solve_result result;
    ctx.error[0] = '\0';
    left = ctx.rank == rank ? n : -1;
    enum tac_err err = hand_create(&ctx, &solver);
    err = err ? err : tac_solver_cut(solver, &s->system);
    err = err ? err : tac_solver_factor(solver, &s->system);
    const long before = made;
    err = err ? err : tac_solver_solve(solver, s->side, s->x, 1e-8, 300, &result);
    CHECK(made == before, "solving made %ld allocations", made - before);
    tac_solver_destroy(&solver);
    const int missed = ctx.rank == rank && left >= 0;
    left = -1;
    int all[2] = {missed, (int)err}, most[2];
    MPI_Allreduce(all, most, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(most[1] == (int)err, "codes differ: %d and %d", most[1], (int)err);
    CHECK(err == TAC_OK ? most[0] == 1 || n < 0 : strstr(ctx.error, "out of memory") != NULL, "allocation %ld: %d: %s",
          n, (int)err, ctx.error);
    return !most[0] && n >= 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    struct hand *h = hand_tower(310, 10);
    struct hand_system s;
    h->fixed[3] = 1;
    CHECK(distribute_by_hand(&ctx, h, 2, &s) == TAC_OK, "%s", ctx.error);
    for (int levels = 0; levels < 3; levels++) {
        hand_levels = levels;
        run(&s, -1, 0);
        const long stride = (ctx.size > 1 ? 23 : 1) + 16 * (levels > 0);
        for (int rank = 0; rank < ctx.size; rank++)
            for (long n = rank; run(&s, n, rank); n += stride)
                if (n > 20000) {
                    CHECK(false, "there is no end to the allocations");
                    break;
                }
    }
    hand_free(&s);
    free(h);
    int failed = check_result();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
