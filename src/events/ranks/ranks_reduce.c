/* ranks_reduce.c: combines at the end of a window what all ranks have found, by one reduction. */
#include "events/ranks/ranks.h"

enum tac_err tac_ranks_reduce(struct tac_sim *sim, int64_t *tell)
{
    tell[TAC_TELL_STOP] = sim->control.ask_stop;
    tell[TAC_TELL_SAVE] = sim->control.ask_save;
    if (sim->ranks) {
        const double begin_s = tac_wall_s();
        sim->books.counters.seconds_exchange += sim->ranks->halo.exchange_s;
        sim->ranks->halo.exchange_s = 0;
        tell[TAC_TELL_ERROR] = sim->ranks->halo.down;
        tell[TAC_TELL_DEEP_MESSAGES] = sim->ranks->deep_messages;
        if (MPI_Allreduce(MPI_IN_PLACE, tell, TAC_TELLS, MPI_INT64_T, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
            return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed at the end of a window; look at the cluster's network");
        sim->books.counters.seconds_waiting += tac_wall_s() - begin_s;
        if (tell[TAC_TELL_ERROR] != TAC_OK) {
            /* The sentence is with those who failed first, not with those who heard of it. */
            enum tac_err own = sim->ctx->error[0] ? (enum tac_err)tell[TAC_TELL_ERROR] : TAC_ERR_NO;
            enum tac_err err = tac_agree(sim->ctx, own);
            return err > TAC_ERR_NO ? err : TAC_ERR_RUN;
        }
    }
    sim->control.told_deep_messages = tell[TAC_TELL_DEEP_MESSAGES];
    sim->control.told_stop = (int)tell[TAC_TELL_STOP];
    sim->control.told_save = (int)tell[TAC_TELL_SAVE];
    return TAC_OK;
}
