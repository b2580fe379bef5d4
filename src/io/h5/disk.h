/* io/h5/disk.h: a file driver for HDF5 whose file is whole at every moment.
 *
 * HDF5 changes its structures in place, in any order, while it flushes: a run killed in the middle leaves a file that
 * nobody can open.  And when a write fails, HDF5 1.10 is left with a cache it can neither flush nor drop: closing the
 * file fails, and the library crashes as the program ends.  This driver
 *
 *   - writes what is new, beyond the end of the file as of the last flush, at once, and values of datasets too: they
 * are written once, and whoever removes a dataset flushes before writing others, which may take its place;
 *   - keeps what else changes there until the flush is complete, and then writes it, first behind the end of the file
 * (a journal), then in place, in an order in which hardly any step leaves a file that cannot be read (a few
 *     microseconds; a kill between two of the steps loses nothing, but may show a frame twice; whoever goes on with the
 *     file puts the rest in place first);
 *   - tells HDF5 that all is well when a write fails, remembers why, and writes nothing any more: the file stays as of
 *     the last flush, and closing it works.
 *
 * The caller looks at the error after every step.  For one process; several ranks go through MPI-IO. */
#ifndef TACTUS_IO_H5_DISK_H
#define TACTUS_IO_H5_DISK_H

#include <hdf5.h>
#include <stdbool.h>

/* Local. Sets the driver on a file access list.  *error (borrowed: it must outlive the file) is 0, and becomes the
 * errno of the first failure.  *driver is to be given to tac_disk_release() once the file is closed. */
bool tac_disk_use(hid_t access, int *error, hid_t *driver);
void tac_disk_release(hid_t *driver);
/* Local. Completes the flush that a kill has interrupted, if one has: before such a file is opened to go on with it. */
void tac_disk_recover(const char *path);

#endif
