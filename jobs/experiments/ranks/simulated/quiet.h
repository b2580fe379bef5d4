/* quiet.h: messages between ranks that SMPI does not simulate.
 *
 * All simulated ranks are in one process, so data is copied from memory to memory. Ranks wait for each other as always.
 * While nothing is counted (setting up, and the time before the one of interest) a message takes no simulated time.
 * While work is counted, and only if the network is one of delays, it takes what a message takes that is alone in the
 * network: overhead at both ends, latency, and its bytes. SMPI shares the bandwidth of each link out among all messages
 * that are under way, which is most of the work of a simulation on hundreds of ranks. The functions are those of MPI
 * with these names.
 */
#ifndef TACTUS_SIMULATED_QUIET_H
#define TACTUS_SIMULATED_QUIET_H

#include <mpi.h>

/* Local. Call on each rank after MPI_Init(). A message costs either end overhead_s, and byte_s for each of its bytes.
 */
void quiet_begin(double overhead_s, double byte_s);

int quiet_barrier(MPI_Comm comm);
int quiet_bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int quiet_allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int quiet_reduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int quiet_scan(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int quiet_exscan(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int quiet_allgather(const void *in, int count, MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                    MPI_Comm comm);
int quiet_allgatherv(const void *in, int count, MPI_Datatype type, void *out, const int *counts, const int *at,
                     MPI_Datatype out_type, MPI_Comm comm);
int quiet_alltoall(const void *in, int count, MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                   MPI_Comm comm);

int quiet_isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
/* The message is in `data` after the next quiet_waitall(), which returns when the last of its messages was sent, s. */
int quiet_irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request);
double quiet_waitall(void);
/* Waits for a message, of *bytes and sent at *sent_s; the caller frees it. */
void *quiet_take(int from, int tag, MPI_Comm comm, int *bytes, double *sent_s);

#endif
