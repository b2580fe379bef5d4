/* build.c: tells what the library was built with, and what it runs with. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <tactus/base.h>

#if defined __clang__
#define COMPILER "clang " __clang_version__
#elif defined __GNUC__
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

void tac_build_text(char *text, size_t size)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    unsigned major = 0, minor = 0, release = 0;
    int length = 0;
    MPI_Get_library_version(mpi, &length);
    mpi[length < (int)sizeof mpi ? length : (int)sizeof mpi - 1] = '\0';
    mpi[strcspn(mpi, ",\r\n")] = '\0'; /* what follows tells who built it */
    H5get_libversion(&major, &minor, &release);
    snprintf(text, size, "tactus %s (commit %s, trajectory generation %d)\ncompiler: %s\nMPI: %s\nHDF5: %u.%u.%u\n",
             tac_version(), tac_commit(), TAC_TRAJECTORY_GENERATION, COMPILER, mpi, major, minor, release);
}
