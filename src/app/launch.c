/* launch.c: finds out from the environment how this process was started, and refuses a start in which the processes
 * cannot find each other. */
#include "app/launch.h"

#include <stdlib.h>

/* A whole number >= 0 in the environment; -1: none there. */
static long long environment_number(const char *name)
{
    const char *text = getenv(name);
    char *end;
    if (text == NULL)
        return -1;
    const long long value = strtoll(text, &end, 10);
    return end != text && *end == '\0' && value >= 0 ? value : -1;
}

static int count_or_zero(long long value)
{
    return value >= 0 && value <= INT32_MAX ? (int)value : 0;
}

/* The first of the two numbers that is set. */
static long long number_of_either(const char *name, const char *other)
{
    return environment_number(name) >= 0 ? environment_number(name) : environment_number(other);
}

/* Open MPI aborts under srun without PMIx unless it was built for Slurm's older interfaces. A user of such a build sets
 * Open MPI's own variable (OMPI_MCA_pmix=s2). */
static bool knows_slurm(void)
{
#ifdef OPEN_MPI
    return getenv("OMPI_MCA_pmix") != NULL;
#else
    return true;
#endif
}

struct tac_launch tac_launch_look(void)
{
    const long long SPECIAL_STEPS = 0xfffffff0; /* Slurm's numbers of batch scripts and interactive shells */
    const bool step = environment_number("SLURM_STEP_ID") >= 0 && environment_number("SLURM_STEP_ID") < SPECIAL_STEPS;
    struct tac_launch launch = {TAC_LAUNCH_ALONE, 1, 0};
    if (environment_number("OMPI_COMM_WORLD_SIZE") > 0) { /* mpirun, also where srun started mpirun's daemons */
        launch.how = TAC_LAUNCH_TOGETHER;
        launch.count = count_or_zero(environment_number("OMPI_COMM_WORLD_SIZE"));
        launch.rank = count_or_zero(environment_number("OMPI_COMM_WORLD_RANK"));
        return launch;
    }
    if (getenv("PMIX_NAMESPACE") != NULL || getenv("PMIX_RANK") != NULL)
        launch.how = TAC_LAUNCH_TOGETHER;
    else if (step && !knows_slurm())
        launch.how = TAC_LAUNCH_UNCONNECTED;
    else if (step || getenv("PMI_RANK") != NULL || getenv("PMI_SIZE") != NULL)
        launch.how = TAC_LAUNCH_PERHAPS;
    else
        return launch;
    launch.count = environment_number("PMI_SIZE") > 0 ? count_or_zero(environment_number("PMI_SIZE"))
                   : step ? count_or_zero(number_of_either("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"))
                          : 0;
    launch.rank = count_or_zero(environment_number("PMIX_RANK") >= 0  ? environment_number("PMIX_RANK")
                                : environment_number("PMI_RANK") >= 0 ? environment_number("PMI_RANK")
                                : step                                ? environment_number("SLURM_PROCID")
                                                                      : 0);
    if (launch.count == 1 && launch.how != TAC_LAUNCH_TOGETHER)
        launch.how = TAC_LAUNCH_ALONE;
    return launch;
}

enum tac_err tac_launch_fail(struct tac_ctx *ctx, const struct tac_launch *launch, const char *command)
{
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "%d processes were started by a launcher that this MPI library does not support, so they cannot "
                    "find each other; start them with 'srun --mpi=pmix tactus %s ...' or with 'mpirun tactus %s ...'",
                    launch->count, command, command);
}
