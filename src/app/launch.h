/* launch.h: how this process was started: alone, with others that MPI can bring together, or with others that it
 * cannot, told from the environment before MPI is started.  Open MPI aborts with a page of text where it cannot start.
 *
 *     struct tac_launch launch = tac_launch_look();
 *     if (launch.how == TAC_LAUNCH_UNCONNECTED) return tac_launch_fail(ctx, &launch, "run");
 */
#ifndef TACTUS_APP_LAUNCH_H
#define TACTUS_APP_LAUNCH_H

#include <tactus/base.h>

enum tac_launch_how {
    TAC_LAUNCH_ALONE,      /* one process, whatever a batch system's variables say */
    TAC_LAUNCH_TOGETHER,   /* by mpirun, or what else MPI understands */
    TAC_LAUNCH_PERHAPS,    /* by a process manager that some builds of MPI understand */
    TAC_LAUNCH_UNCONNECTED /* several by srun, with nothing to find each other by */
};

struct tac_launch {
    enum tac_launch_how how;
    int count; /* processes started; 0: not told */
    int rank;  /* which of them this is, as far as the launcher says; else 0 */
};

/* Local. Reads the environment. */
struct tac_launch tac_launch_look(void);
/* Local. The sentence of processes that cannot come together, and what to type; TAC_ERR_INPUT.  command: "run". */
enum tac_err tac_launch_fail(struct tac_ctx *ctx, const struct tac_launch *launch, const char *command);

#endif
