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
#define WORK_CALL(with, call, quiet) (work_is_counted() ? (work_declare(), work_spent(with, call)) : (quiet))
#define WORK_MEET(call, quiet) (work_is_counted() ? (work_meet(), work_spent(WORK_ALL, call)) : (quiet))
#define MPI_Allreduce(...) WORK_MEET(MPI_Allreduce(__VA_ARGS__), quiet_allreduce(__VA_ARGS__))
/* SMPI has n^2 messages in it where no call may block. */
#define MPI_Iallreduce(in, out, count, type, op, comm, request)                                                        \
    (*(request) = MPI_REQUEST_NULL, MPI_Allreduce(in, out, count, type, op, comm))
#define MPI_Reduce(...) WORK_MEET(MPI_Reduce(__VA_ARGS__), quiet_reduce(__VA_ARGS__))
#define MPI_Scan(...) WORK_MEET(MPI_Scan(__VA_ARGS__), quiet_scan(__VA_ARGS__))
#define MPI_Exscan(...) WORK_MEET(MPI_Exscan(__VA_ARGS__), quiet_exscan(__VA_ARGS__))
#define MPI_Bcast(...) WORK_MEET(MPI_Bcast(__VA_ARGS__), quiet_bcast(__VA_ARGS__))
#define MPI_Allgather(...) WORK_MEET(MPI_Allgather(__VA_ARGS__), quiet_allgather(__VA_ARGS__))
#define MPI_Allgatherv(...) WORK_MEET(MPI_Allgatherv(__VA_ARGS__), quiet_allgatherv(__VA_ARGS__))
#define MPI_Alltoall(...) WORK_MEET(MPI_Alltoall(__VA_ARGS__), quiet_alltoall(__VA_ARGS__))
#define MPI_Barrier(...) WORK_MEET(MPI_Barrier(__VA_ARGS__), quiet_barrier(__VA_ARGS__))
#define MPI_Test(...) WORK_CALL(WORK_ALL, MPI_Test(__VA_ARGS__), MPI_Test(__VA_ARGS__))
#define MPI_Isend(...) WORK_CALL(WORK_NEIGHBOURS, work_send(__VA_ARGS__), quiet_isend(__VA_ARGS__))
#define MPI_Irecv(...) WORK_CALL(WORK_NEIGHBOURS, work_wish(__VA_ARGS__), quiet_irecv(__VA_ARGS__))
#define MPI_Wait(...) WORK_CALL(WORK_NEIGHBOURS, MPI_Wait(__VA_ARGS__), MPI_Wait(__VA_ARGS__))
#define MPI_Waitall(...) WORK_CALL(WORK_NEIGHBOURS, work_waitall(__VA_ARGS__), quiet_waitall())

#undef SEED /* a name of SMPI's own */
#undef clock_gettime
#define clock_gettime(clock, at) (work_declare(), smpi_clock_gettime(clock, at))

#endif
