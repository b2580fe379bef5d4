/* base/signals.h: signals that ask a run to stop in good order: SIGINT, SIGTERM, SIGUSR1.
 *
 * The handlers must be there before MPI_Init: a batch system's warning may come while MPI starts.  They only take a
 * note; the run looks at it between two passes. */
#ifndef TACTUS_BASE_SIGNALS_H
#define TACTUS_BASE_SIGNALS_H

/* Installs the handlers and forgets what came before.  A second SIGINT ends the process at once. */
void tac_signals_catch(void);
/* The number of the signal that came last, or 0. */
int tac_signal_caught(void);

#endif
