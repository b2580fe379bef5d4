/* tactus/process.h: what belongs to a process and not to a simulation: MPI's start, signals, HDF5's end.
 *
 * A host that has its own main program needs none of this, if it starts MPI itself.
 *
 *     bool started;
 *     TAC_TRY(tac_mpi_begin(&ctx, &started));     starts MPI, unless the host did; ctx then has MPI_COMM_WORLD
 *     ...
 *     tac_mpi_end(started);
 *
 * Signals that ask a run to stop in good order are SIGINT, SIGTERM and SIGUSR1: tac_run() looks for them between two
 * passes.  The handlers must be there before MPI_Init: a batch system's warning may come while MPI starts.  They only
 * note the signal.  A simulation that is stepped (tactus/simulation.h) never looks at signals. */
#ifndef TACTUS_PROCESS_H
#define TACTUS_PROCESS_H

#include <tactus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Collective over all processes of the job. Starts MPI (MPI_THREAD_SINGLE) unless it runs already; *started tells
 * whether this call did.  Then calls tac_ctx_init(ctx, MPI_COMM_WORLD). TAC_ERR_RUN: MPI cannot be started, or was
 * ended before and cannot be started a second time. If this call starts MPI and no message of another process arrives
 * within a minute, it ends all processes with one sentence and exit code 3, for MPI has no way to go on. */
enum tac_err tac_mpi_begin(struct tac_ctx *ctx, bool *started);
/* Collective over all processes of the job. Ends MPI if tac_mpi_begin() started it. */
void tac_mpi_end(bool started);

/* Local. Installs the handlers, and forgets signals that came before.  A second SIGINT ends the process at once. */
void tac_signals_catch(void);
/* Local. Returns the number of the last signal, or 0. */
int tac_signal_caught(void);

/* Local. Keeps HDF5 from cleaning up when the process exits, because after a damaged file it may print errors then. It
 * is for programs that close all files themselves, and must be called before any other function of HDF5. */
void tac_hdf5_leave(void);

#ifdef __cplusplus
}
#endif
#endif
