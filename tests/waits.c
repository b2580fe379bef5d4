/* waits.c: in tests, a rank that waits for a message sleeps for a moment instead of only giving way.
 *
 * Open MPI asks again and again whether a message has come, and where there are more ranks than cores it calls
 * sched_yield() in between (mpi_yield_when_idle).  For the kernel that is computing: beside a process that computes, a
 * rank that gives way gets its next turn after the other's time slice, some milliseconds for each message.  A rank that
 * has slept gets its turn soon, and leaves the core to the other tests meanwhile.  Nothing that is computed depends on
 * it. In the build with sanitizers this is a part of the programs, in others a library that CTest loads before all
 * others (tests/CMakeLists.txt).
 */
#include <sched.h>
#include <time.h>

int sched_yield(void)
{
    const struct timespec moment = {0, 20000};
    nanosleep(&moment, NULL);
    return 0;
}
