/* no_mpi.c: loaded before all libraries: an MPI that cannot be started. */
#include <stdio.h>
#include <stdlib.h>

int MPI_Init(int *argc, char ***argv);
int PMPI_Init(int *argc, char ***argv); /* what the sanitizers' build calls */
int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given);

static int refuse(void)
{
    fprintf(stderr, "MPI was started\n");
    _Exit(99);
}

int MPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return refuse();
}

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return refuse();
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
    (void)argc;
    (void)argv;
    (void)wanted;
    (void)given;
    return refuse();
}
