/* work.h: is included before every file of the engine when it is built for a simulated cluster.
 *
 * A simulated rank spends no time of its own: what it computes is declared, as counts of work times what each costs on
 * a real core. Every call of MPI that may wait, and every look at the clock, declares first what was done since the
 * last.
 */
#ifndef TACTUS_SIMULATED_WORK_H
#define TACTUS_SIMULATED_WORK_H

#include <mpi.h>
#include <time.h>

/* Local. Declares this rank's work since the last call: its simulated clock goes on by what that costs. */
void work_declare(void);
/* Local. In the place of SMPI's matched receives, which it does not have: a rank has one such message at a time. */
int work_probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int work_receive(void *data, int count, MPI_Datatype type, MPI_Status *status);

#define MPI_Mprobe(source, tag, comm, message, status) ((void)(message), work_probe(source, tag, comm, status))
#define MPI_Mrecv(data, count, type, message, status) ((void)(message), work_receive(data, count, type, status))

#define MPI_Allreduce(...) (work_declare(), MPI_Allreduce(__VA_ARGS__))
#define MPI_Iallreduce(...) (work_declare(), MPI_Iallreduce(__VA_ARGS__))
#define MPI_Reduce(...) (work_declare(), MPI_Reduce(__VA_ARGS__))
#define MPI_Scan(...) (work_declare(), MPI_Scan(__VA_ARGS__))
#define MPI_Exscan(...) (work_declare(), MPI_Exscan(__VA_ARGS__))
#define MPI_Bcast(...) (work_declare(), MPI_Bcast(__VA_ARGS__))
#define MPI_Allgather(...) (work_declare(), MPI_Allgather(__VA_ARGS__))
#define MPI_Allgatherv(...) (work_declare(), MPI_Allgatherv(__VA_ARGS__))
#define MPI_Alltoall(...) (work_declare(), MPI_Alltoall(__VA_ARGS__))
#define MPI_Alltoallv(...) (work_declare(), MPI_Alltoallv(__VA_ARGS__))
#define MPI_Barrier(...) (work_declare(), MPI_Barrier(__VA_ARGS__))
#define MPI_Sendrecv(...) (work_declare(), MPI_Sendrecv(__VA_ARGS__))
#define MPI_Isend(...) (work_declare(), MPI_Isend(__VA_ARGS__))
#define MPI_Irecv(...) (work_declare(), MPI_Irecv(__VA_ARGS__))
#define MPI_Wait(...) (work_declare(), MPI_Wait(__VA_ARGS__))
#define MPI_Waitall(...) (work_declare(), MPI_Waitall(__VA_ARGS__))
#define MPI_Test(...) (work_declare(), MPI_Test(__VA_ARGS__))

#undef SEED /* a name of SMPI's own */
#undef clock_gettime
#define clock_gettime(clock, at) (work_declare(), smpi_clock_gettime(clock, at))

#endif
