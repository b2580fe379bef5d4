/* sanitize_mpi.c: in the sanitizers' build, what MPI keeps for good is not taken for a leak.
 *
 * Open MPI and its libraries never free some of what they allocate as MPI starts and ends.  To suppress such leaks by
 * their stacks (LSAN_OPTIONS=suppressions) every allocation's stack must be unwound slowly, for those libraries keep no
 * frame pointers; then tests that allocate much take ten times as long.  So the leak check looks away during these
 * calls. With several ranks a thread of MPI allocates at any time: there leaks are not looked for; runs of one process
 * find them.
 */
#include <mpi.h>
#include <sanitizer/lsan_interface.h>

static int ranks = 1;

int MPI_Init(int *argc, char ***argv)
{
    __lsan_disable();
    const int code = PMPI_Init(argc, argv);
    __lsan_enable();
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return code;
}

int MPI_Finalize(void)
{
    __lsan_disable();
    const int code = PMPI_Finalize();
    __lsan_enable();
    return code;
}

int __lsan_is_turned_off(void)
{
    return ranks > 1;
}
