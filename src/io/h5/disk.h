/* io/h5/disk.h: declares a file driver for HDF5 whose file is whole at every moment.
 *
 * HDF5 changes its structures in place, in any order, while it flushes. A run that is killed in the middle leaves a
 * file that cannot be opened. When a write fails, HDF5 1.10 keeps a cache that it can neither flush nor drop: closing
 * the file fails, and the library crashes when the program ends. This driver
 *
 *   - writes new bytes, behind the end of the file as of the last flush, at once. It also writes values of datasets at
 *     once: they are written only once, and a caller that removes a dataset flushes before it writes others, which may
 *     take its place;
 *   - keeps all other changes until the flush is complete. Then it writes them, first behind the end of the file (a
 *     journal), then in place, in an order in which almost every step leaves a readable file. This takes a few
 *     microseconds. A kill between two of the steps loses nothing, but a frame may appear twice; tac_disk_recover()
 *     completes the steps before a run continues with the file;
 *   - reports success to HDF5 when a write fails, keeps the errno, and writes nothing any more. The file stays as of
 *     the last flush, and it can be closed.
 *
 * The caller must look at the error after every step. The driver is for one process. */
#ifndef TACTUS_IO_H5_DISK_H
#define TACTUS_IO_H5_DISK_H

#include <hdf5.h>
#include <stdbool.h>

/* Local. Sets the driver on a file access list.  *error (borrowed: it must outlive the file) is 0, and becomes the
 * errno of the first failure.  *driver is to be given to tac_disk_release() once the file is closed. */
bool tac_disk_use(hid_t access, int *error, hid_t *driver);
void tac_disk_release(hid_t *driver);
/* Local. Completes a flush that was interrupted by a kill, if there is one. Call it before a file is opened to continue
 * it. */
void tac_disk_recover(const char *path);

#endif
