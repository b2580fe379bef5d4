/* work.h: is included before every file of the engine when it is built for a simulated cluster.
 *
 * A simulated rank spends no time of its own: what it computes is declared, as counts of work times what each costs on
 * a real core. Every call of MPI that may wait, and every look at the clock, declares first what was done since the
 * last.
 */
#ifndef TACTUS_SIMULATED_WORK_H
#define TACTUS_SIMULATED_WORK_H

#include "quiet.h"

#include <mpi.h>
#include <stdbool.h>
#include <time.h>

/* Local. Declares this rank's work since the last call: its simulated clock goes on by what that costs. */
void work_declare(void);
enum work_with { WORK_NEIGHBOURS, WORK_ALL, WORK_WITH }; /* who a rank exchanges with */
/* Local. Enters the time since work_declare() as spent in a call, and returns what the call did. What passed until the
 * last of those had come whom the call is with, is waiting; the rest is exchange. */
int work_spent(enum work_with with, int result);
/* Local. Declares, before a call of all ranks. */
void work_meet(void);
/* Local. MPI's, whose waiting is told apart. */
int work_send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
int work_wish(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request);
int work_waitall(int count, MPI_Request *request, MPI_Status *status);
/* Local. In the place of matched receives, which SMPI does not have: the message is received where it is probed. SMPI's
 * own probe asks again and again, and each time lets the simulated clock go on by a tenth of a millisecond or more. */
int work_probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int work_receive(void *data, int bytes);
int work_arrived(void); /* bytes of the message that was probed */

#define MPI_Mprobe(source, tag, comm, message, status) ((void)(message), work_probe(source, tag, comm, status))
#define MPI_Mrecv(data, count, type, message, status) ((void)(message), work_receive(data, count))
#define MPI_Get_count(status, type, count) (*(count) = work_arrived(), MPI_SUCCESS)

/* A call of MPI, and the simulated time that this rank spent in it; where nothing is counted, it takes none (quiet.h).
 */
bool work_is_counted(void);
bool work_is_delayed(void); /* and the network is one of delays (quiet.h) */
/* Local. Work is counted, and the communicator has several ranks. */
bool work_meets(MPI_Comm comm);
#define WORK_CALL(with, call, quiet) (work_is_counted() ? (work_declare(), work_spent(with, call)) : (quiet))
#define WORK_MEET(comm, call, quiet)                                                                                   \
    (work_meets(comm) ? (work_meet(), work_spent(WORK_ALL, work_is_delayed() ? (quiet) : (call))) : (quiet))
#define MPI_Allreduce(in, out, count, type, op, comm)                                                                  \
    WORK_MEET(comm, MPI_Allreduce(in, out, count, type, op, comm), quiet_allreduce(in, out, count, type, op, comm))
/* SMPI has n^2 messages in it where no call may block. */
#define MPI_Iallreduce(in, out, count, type, op, comm, request)                                                        \
    (*(request) = MPI_REQUEST_NULL, MPI_Allreduce(in, out, count, type, op, comm))
#define MPI_Reduce(in, out, count, type, op, root, comm)                                                               \
    WORK_MEET(comm, MPI_Reduce(in, out, count, type, op, root, comm),                                                  \
              quiet_reduce(in, out, count, type, op, root, comm))
#define MPI_Scan(in, out, count, type, op, comm)                                                                       \
    WORK_MEET(comm, MPI_Scan(in, out, count, type, op, comm), quiet_scan(in, out, count, type, op, comm))
#define MPI_Exscan(in, out, count, type, op, comm)                                                                     \
    WORK_MEET(comm, MPI_Exscan(in, out, count, type, op, comm), quiet_exscan(in, out, count, type, op, comm))
#define MPI_Bcast(data, count, type, root, comm)                                                                       \
    WORK_MEET(comm, MPI_Bcast(data, count, type, root, comm), quiet_bcast(data, count, type, root, comm))
#define MPI_Allgather(in, count, type, out, count_out, type_out, comm)                                                 \
    WORK_MEET(comm, MPI_Allgather(in, count, type, out, count_out, type_out, comm),                                    \
              quiet_allgather(in, count, type, out, count_out, type_out, comm))
#define MPI_Allgatherv(in, count, type, out, counts, at, type_out, comm)                                               \
    WORK_MEET(comm, MPI_Allgatherv(in, count, type, out, counts, at, type_out, comm),                                  \
              quiet_allgatherv(in, count, type, out, counts, at, type_out, comm))
#define MPI_Alltoall(in, count, type, out, count_out, type_out, comm)                                                  \
    WORK_MEET(comm, MPI_Alltoall(in, count, type, out, count_out, type_out, comm),                                     \
              quiet_alltoall(in, count, type, out, count_out, type_out, comm))
#define MPI_Barrier(comm) WORK_MEET(comm, MPI_Barrier(comm), quiet_barrier(comm))
#define MPI_Test(...) WORK_CALL(WORK_ALL, MPI_Test(__VA_ARGS__), MPI_Test(__VA_ARGS__))
#define MPI_Isend(...) WORK_CALL(WORK_NEIGHBOURS, work_send(__VA_ARGS__), quiet_isend(__VA_ARGS__))
#define MPI_Irecv(...) WORK_CALL(WORK_NEIGHBOURS, work_wish(__VA_ARGS__), quiet_irecv(__VA_ARGS__))
#define MPI_Wait(...) WORK_CALL(WORK_NEIGHBOURS, MPI_Wait(__VA_ARGS__), MPI_Wait(__VA_ARGS__))
#define MPI_Waitall(...) WORK_CALL(WORK_NEIGHBOURS, work_waitall(__VA_ARGS__), (quiet_waitall(), MPI_SUCCESS))

#undef SEED /* a name of SMPI's own */
#undef clock_gettime
#define clock_gettime(clock, at) (work_declare(), smpi_clock_gettime(clock, at))

#endif
