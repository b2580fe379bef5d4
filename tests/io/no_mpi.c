/* no_mpi.c: loaded before all libraries: an MPI that cannot be started. */
#include <stdio.h>
#include <stdlib.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given);

int MPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fprintf(stderr, "MPI was started\n");
    _Exit(99);
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
    (void)wanted;
    (void)given;
    return MPI_Init(argc, argv);
}
