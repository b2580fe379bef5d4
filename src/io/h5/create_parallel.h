/* io/h5/create_parallel.h: opens a new file with parallel HDF5 such that no rank waits for ever. */
#ifndef TACTUS_IO_H5_CREATE_PARALLEL_H
#define TACTUS_IO_H5_CREATE_PARALLEL_H

#include <hdf5.h>
#include <tactus/base.h>

/* Collective. H5Fcreate() on a file that rank 0 has made, by all ranks.  In MPI_File_open() the ranks whose open()
 * fails and those whose open() succeeds wait in different barriers, so a rank that cannot open the file must be found
 * before: then all ranks return its error.  If the file is removed between the two, no rank would return from
 * MPI_File_open(): then each process ends with one sentence and exit code 3.  *file is negative where HDF5 itself
 * fails; the ranks have not agreed on that yet. */
enum tac_err tac_h5_create_parallel(struct tac_ctx *ctx, const char *path, hid_t creation, hid_t access, hid_t *file);

#endif
