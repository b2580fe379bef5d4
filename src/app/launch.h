/* launch.h: finds out from the environment, before MPI is started, how this process was started: alone, with others
 * that MPI can connect, or with others that MPI cannot connect. Without this test Open MPI would abort with a page of
 * text.
 *
 *     struct tac_launch launch = tac_launch_look();
 *     if (launch.how == TAC_LAUNCH_UNCONNECTED) return tac_launch_fail(ctx, &launch, "run");
 */
#ifndef TACTUS_APP_LAUNCH_H
#define TACTUS_APP_LAUNCH_H

#include <tactus/base.h>

enum tac_launch_how {
    TAC_LAUNCH_ALONE,      /* one process, for any values of a batch system's variables */
    TAC_LAUNCH_TOGETHER,   /* by mpirun, or what else MPI understands */
    TAC_LAUNCH_PERHAPS,    /* by a process manager that some builds of MPI understand */
    TAC_LAUNCH_UNCONNECTED /* several by srun, with nothing to find each other by */
};

struct tac_launch {
    enum tac_launch_how how;
    int count; /* processes started; 0: not known */
    int rank;  /* which of them this is; 0 if the launcher does not say */
};

/* Local. Reads the environment. */
struct tac_launch tac_launch_look(void);
/* Local. Fails with the sentence for processes that cannot connect, and what to type instead; TAC_ERR_INPUT. command:
 * "run". */
enum tac_err tac_launch_fail(struct tac_ctx *ctx, const struct tac_launch *launch, const char *command);

#endif
