/* io/disk.h: a file driver for HDF5 that survives a broken disk.
 *
 * When a write fails, HDF5 1.10 is left with a cache it can neither flush nor drop: closing the file fails, and the
 * library crashes as the program ends.  This driver tells HDF5 that all is well, remembers what went wrong, and from
 * then on writes nothing: on the disk the file is as if the process had been killed at that moment, and closing works.
 * The caller looks at the error after every step.  For one process; several ranks go through MPI-IO. */
#ifndef TACTUS_IO_DISK_H
#define TACTUS_IO_DISK_H

#include <hdf5.h>
#include <stdbool.h>

/* Local. Sets the driver on a file access list.  *error (borrowed: it must outlive the file) is 0, and becomes the
 * errno of the first failure.  *driver is to be given to tac_disk_release() once the file is closed. */
bool tac_disk_use(hid_t access, int *error, hid_t *driver);
void tac_disk_release(hid_t *driver);

#endif
