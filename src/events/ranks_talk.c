/* Messages between neighbours out of the ticks, and what all ranks tell all at the end of a window. */
#include "events/ranks.h"

void tac_ranks_talk(struct tac_sim *sim, int tag, size_t (*fill)(struct tac_sim *, struct tac_neighbor *),
                    void (*empty)(struct tac_sim *, struct tac_neighbor *))
{
    struct tac_ranks *r = sim->ranks;
    const double begin_s = tac_wall_s();
    for (size_t k = 0; k < r->count; k++) {
        struct tac_neighbor *n = &r->neighbor[k];
        if (!n->linked)
            continue;
        MPI_Wait(&n->telling, MPI_STATUS_IGNORE);
        static const char down_only = TAC_ERR_RUN; /* one that has no memory left says just that */
        size_t bytes = r->down ? 0 : fill(sim, n);
        bytes = (r->down ? 0 : bytes) + 1;
        const char *message = &down_only;
        if (n->told_capacity >= bytes || tac_ranks_room(sim, n, bytes))
            message = n->told;
        bytes = message == n->told ? bytes : 1;
        if (message == n->told)
            n->told[bytes - 1] = (char)r->down;
        tac_ranks_delay(r);
        if (MPI_Isend(message, (int)bytes, MPI_BYTE, n->rank, tag, sim->ctx->comm, &n->telling) != MPI_SUCCESS)
            tac_ranks_mpi_failed(sim, "telling a neighbour");
        r->messages++;
        r->bytes += (int64_t)bytes;
    }
    for (size_t k = 0; k < r->count; k++) {
        struct tac_neighbor *n = &r->neighbor[k];
        MPI_Message message;
        MPI_Status status;
        int bytes = 0;
        if (!n->linked)
            continue;
        if (MPI_Mprobe(n->rank, tag, sim->ctx->comm, &message, &status) != MPI_SUCCESS) {
            tac_ranks_mpi_failed(sim, "listening to a neighbour");
            continue;
        }
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        n->heard_count = (size_t)bytes;
        if (!tac_ranks_buffer(sim, &n->heard, &n->heard_capacity, (size_t)bytes)) {
            MPI_Mrecv(NULL, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
            continue;
        }
        MPI_Mrecv(n->heard, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        n->heard_count = (size_t)bytes - 1; /* the last byte tells how it is */
        tac_ranks_failed(sim, (enum tac_err)n->heard[n->heard_count]);
    }
    for (size_t k = 0; k < r->count; k++)
        if (r->neighbor[k].linked && !r->down)
            empty(sim, &r->neighbor[k]);
    sim->books.counters.seconds_exchange += tac_wall_s() - begin_s;
}

enum tac_err tac_ranks_reduce(struct tac_sim *sim, int64_t *tell)
{
    tell[TAC_TELL_STOP] = sim->control.ask_stop;
    tell[TAC_TELL_SAVE] = sim->control.ask_save;
    if (sim->ranks) {
        const double begin_s = tac_wall_s();
        tell[TAC_TELL_ERROR] = sim->ranks->down;
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
    sim->control.told_stop = (int)tell[TAC_TELL_STOP];
    sim->control.told_save = (int)tell[TAC_TELL_SAVE];
    return TAC_OK;
}
