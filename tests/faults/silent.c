/* silent.c: one rank that starts MPI and sends nothing. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (;;)
        pause(); /* mpirun ends it with the others */
}
