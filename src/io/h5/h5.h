/* io/h5/h5.h: helpers for HDF5 that the writers and the readers share. */
#ifndef TACTUS_IO_H5_H5_H
#define TACTUS_IO_H5_H5_H

#include <hdf5.h>
#include <tactus/base.h>

/* HDF5 prints its whole error stack by default.  These functions switch that off around our calls and restore the
 * caller's setting. Pairs of them may be nested. */
struct tac_h5_quiet {
    H5E_auto2_t print;
    void *data;
};
void tac_h5_quiet(struct tac_h5_quiet *saved);
void tac_h5_restore(const struct tac_h5_quiet *saved);

/* Local. Writes the innermost reason of the last HDF5 failure, one line without newline; "unknown reason" if there is
 * none. Returns whether it is that there was no memory. */
bool tac_h5_reason(char *text, size_t size);

/* Local. Does a file begin like HDF5? Opening it never blocks, even if it is a pipe. */
bool tac_h5_is(const char *path);
/* Local. Opens a file for reading, without HDF5's locks: they fail on some network file systems, and do not keep a run
 * from writing. Negative on failure. */
hid_t tac_h5_open_read(const char *path);
/* Local. Reads rows begin .. begin + count - 1 of an open dataset of `columns` columns (0: one-dimensional) into data,
 * of `type`; count may be 0. False if they cannot be read. */
bool tac_h5_read_rows(hid_t dataset, hid_t type, int columns, int64_t begin, int64_t count, void *data);

/* Collective over the file's ranks. Writes an attribute, and closes `space`, which may be negative; false on failure.
 */
bool tac_h5_put_attribute(hid_t object, const char *name, hid_t type, hid_t space, const void *value);
/* Collective over the file's ranks. Writes a fixed-length UTF-8 attribute; false on failure. */
bool tac_h5_put_text(hid_t object, const char *name, const char *value);

/* Local. Reads a string attribute, of fixed or variable length, cut to size - 1 bytes; false if there is none. */
bool tac_h5_get_text(hid_t object, const char *name, char *value, size_t size);
/* Local. Does the same, but returns false only if the attribute exists and cannot be read; the value is empty if there
 * is none. */
bool tac_h5_get_text_if_any(hid_t object, const char *name, char *value, size_t size);

#endif
