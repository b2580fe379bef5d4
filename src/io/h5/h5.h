/* io/h5/h5.h: the little of HDF5 that the writer and the readers share. */
#ifndef TACTUS_IO_H5_H5_H
#define TACTUS_IO_H5_H5_H

#include <hdf5.h>
#include <tactus/base.h>

/* HDF5 prints its whole error stack by default.  These switch that off around our calls and give the caller's setting
 * back.  They layer stack. */
struct tac_h5_quiet {
    H5E_auto2_t print;
    void *data;
};
void tac_h5_quiet(struct tac_h5_quiet *saved);
void tac_h5_restore(const struct tac_h5_quiet *saved);

/* Local. The innermost reason of the last HDF5 failure, one line without newline; "unknown reason" if there is none. */
void tac_h5_reason(char *text, size_t size);

/* Local. Does a file begin like HDF5? Opening it never waits (a pipe). */
bool tac_h5_is(const char *path);
/* Local. Opens a file for reading, without locks: those fail on some network file systems, and keep no run from
 * writing. Negative on failure. */
hid_t tac_h5_open_read(const char *path);
/* Local. Rows begin .. begin + count of an open dataset of so many columns (0: one-dimensional) into data, of `type`;
 * none: nothing to do.  False if they cannot be read. */
bool tac_h5_read_rows(hid_t dataset, hid_t type, int columns, int64_t begin, int64_t count, void *data);

/* Collective over the file's ranks. A fixed-length UTF-8 attribute; false on failure. */
bool tac_h5_put_text(hid_t object, const char *name, const char *value);

/* Local. A string attribute, fixed or variable length, cut to size - 1 bytes; false if there is none. */
bool tac_h5_get_text(hid_t object, const char *name, char *value, size_t size);
/* Local. The same, but false only if it is there and cannot be read; without it the value is empty. */
bool tac_h5_get_text_if_any(hid_t object, const char *name, char *value, size_t size);

#endif
