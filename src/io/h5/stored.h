/* io/h5/stored.h: datasets of a frames.h5 that may be damaged or foreign. */
#ifndef TACTUS_IO_H5_STORED_H
#define TACTUS_IO_H5_STORED_H

#include "io/h5/h5.h"
#include <tactus/reader.h>

/* What a dataset should be. */
struct tac_shape {
    const char *path;
    H5T_class_t class;
    size_t bytes;
    int columns; /* 0: one-dimensional */
};

extern const struct tac_shape TAC_STORED_TRIANGLES, TAC_STORED_SEGMENTS, TAC_STORED_POINTS, TAC_STORED_BODY,
    TAC_STORED_BODY_NAMES, TAC_STORED_RADIUS, TAC_STORED_FREE, TAC_STORED_TETRAHEDRA;

/* Local. Is it exactly one of the types that a machine would write? */
bool tac_stored_type(hid_t dataset, const struct tac_shape *s);
/* Local. Nothing outside the file, no strange filter, no chunk or dataset larger than what is stored can unpack to: a
 * small file must not make us ask for a large memory.  `size` is (rank), `bytes` of one value. */
bool tac_stored_sound(hid_t dataset, const hsize_t size[2], int rank, size_t bytes);
/* Local. Opens a dataset of that shape and tells its rows; -1 if there is none or it is not of that shape. */
hid_t tac_stored_open(const struct tac_reader *r, const struct tac_shape *s, int64_t *rows);
/* Local. The rows of a dataset of that shape; -1 as above. */
int64_t tac_stored_rows(const struct tac_reader *r, const struct tac_shape *s);
/* Local. Reads a dataset of that shape and so many rows; false if it is not, or cannot be read. */
bool tac_stored_read(const struct tac_reader *r, const struct tac_shape *s, int64_t rows, hid_t type, void *data);
/* Local. Does the file say which vertices can be free? Files of older versions do not. */
bool tac_stored_tells_free(const struct tac_reader *r);
/* Local. The sentence for a file that is not what it should be; TAC_ERR_INPUT. */
enum tac_err tac_reader_damaged(struct tac_ctx *ctx, const struct tac_reader *r, const char *what);

#endif
