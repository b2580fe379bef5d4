/* quiet.h: what ranks tell each other while nothing is counted: setting up, and the time before the one of interest.
 *
 * All simulated ranks are in one process, so data is copied from memory to memory, in no simulated time; ranks wait for
 * each other as always. SMPI would simulate each of these messages, which are most of a run on a thousand ranks. The
 * functions are those of MPI with these names.
 */
#ifndef TACTUS_SIMULATED_QUIET_H
#define TACTUS_SIMULATED_QUIET_H

#include <mpi.h>

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
/* The message is in `data` after the next quiet_waitall(). */
int quiet_irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request);
int quiet_waitall(void);
/* Waits for a message; it is the caller's, of *bytes. */
void *quiet_take(int from, int tag, MPI_Comm comm, int *bytes);

#endif
