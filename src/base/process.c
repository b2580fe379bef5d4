/* process.c: MPI's start and end for a program that leaves them to the library. */
#include <tactus/process.h>

#include <string.h>

enum tac_err tac_mpi_begin(struct tac_ctx *ctx, bool *started)
{
    int runs = 0, over = 0;
    *started = false;
    memset(ctx, 0, sizeof *ctx);
    ctx->size = 1;
    MPI_Finalized(&over);
    if (over)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI was ended before, and cannot be started a second time in one process");
    MPI_Initialized(&runs);
    if (!runs && MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI could not be started; check its installation");
    *started = !runs;
    tac_ctx_init(ctx, MPI_COMM_WORLD);
    if (*started)
        tac_meet(ctx);
    return TAC_OK;
}

void tac_mpi_end(bool started)
{
    int over = 0;
    MPI_Finalized(&over);
    if (started && !over)
        MPI_Finalize();
}
