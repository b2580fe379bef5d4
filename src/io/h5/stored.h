/* io/h5/stored.h: reads datasets of a frames.h5 that may be damaged or of another program. */
#ifndef TACTUS_IO_H5_STORED_H
#define TACTUS_IO_H5_STORED_H

#include "io/h5/h5.h"
#include <tactus/reader.h>

/* The expected shape of a dataset. */
struct tac_shape {
    const char *path;
    H5T_class_t class;
    size_t bytes;
    int columns; /* 0: one-dimensional */
};

extern const struct tac_shape TAC_STORED_TRIANGLES, TAC_STORED_SEGMENTS, TAC_STORED_POINTS, TAC_STORED_BODY,
    TAC_STORED_BODY_NAMES, TAC_STORED_RADIUS, TAC_STORED_FREE, TAC_STORED_TETRAHEDRA;

/* Local. Is the type of the dataset exactly one that a machine would write? */
bool tac_stored_type(hid_t dataset, const struct tac_shape *s);
/* Local. Checks that the dataset has no data outside the file, no unknown filter, and no chunk or size larger than the
 * stored bytes can unpack to, because a small file must not make the program allocate much memory. size (rank): rows
 * and columns; bytes: of one value. */
bool tac_stored_sound(hid_t dataset, const hsize_t size[2], int rank, size_t bytes);
/* Local. Opens a dataset of that shape; *rows: its rows. -1 if there is none or it has another shape. */
hid_t tac_stored_open(const struct tac_reader *r, const struct tac_shape *s, int64_t *rows);
/* Local. Returns the number of rows of a dataset of that shape; -1 as above. */
int64_t tac_stored_rows(const struct tac_reader *r, const struct tac_shape *s);
/* Local. Reads a dataset of that shape with `rows` rows; false if it has another shape or cannot be read. */
bool tac_stored_read(const struct tac_reader *r, const struct tac_shape *s, int64_t rows, hid_t type, void *data);
/* Local. Does the file say which vertices can be free? Files of older versions do not. */
bool tac_stored_tells_free(const struct tac_reader *r);
/* Local. Fails with the sentence for a damaged file; TAC_ERR_INPUT. */
enum tac_err tac_reader_damaged(struct tac_ctx *ctx, const struct tac_reader *r, const char *what);

#endif
