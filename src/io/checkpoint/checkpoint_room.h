/* checkpoint_room.h: between the files that read a checkpoint, and between those that write one. */
#ifndef TACTUS_IO_CHECKPOINT_CHECKPOINT_ROOM_H
#define TACTUS_IO_CHECKPOINT_CHECKPOINT_ROOM_H

#include "io/checkpoint/checkpoint_table.h"
#include "io/h5/stored.h"

/* ---- checkpoint_read.c and checkpoint_read_rows.c ---- */

struct tac_checkpoint_reader {
    struct tac_ctx *ctx;
    const char *path;         /* of the file */
    struct tac_reader stored; /* only its file is used */
    struct tac_checkpoint *c; /* owned */
    struct tac_checkpoint_about about;
    json_t *json; /* owned */
};

/* Local. The sentence for a file that cannot be used; TAC_ERR_INPUT. */
enum tac_err tac_checkpoint_wrong(const struct tac_checkpoint_reader *r, const char *what);
/* Local. Fills records of `size` bytes (an array made here, for the caller to free) from rows begin .. end of columns
 * that have `total` rows.  TAC_ERR_INPUT: they have not. */
enum tac_err tac_checkpoint_columns(const struct tac_checkpoint_reader *r, const struct tac_checkpoint_column *column,
                                    size_t columns, int64_t total, int64_t begin, int64_t end, size_t size,
                                    void *records);
/* Local. This rank's rows of all tables but the last distances, into r->c, whose totals are known.  TAC_ERR_INPUT. */
enum tac_err tac_checkpoint_read_rows(struct tac_checkpoint_reader *r);
/* Local. The last distances of this rank's pairs, that stand in the file after `before` others; `total` in all. */
enum tac_err tac_checkpoint_read_lasts(struct tac_checkpoint_reader *r, int64_t before, int64_t total);

/* ---- checkpoint_write.c and checkpoint_write_rows.c ---- */

struct tac_checkpoint_writer {
    struct tac_frames file; /* the machinery of frames.h5 */
    char *scene;            /* owned: its text */
};

/* Collective. Some columns of `count` records of `size` bytes; this rank's rows come after those of the ranks before
 * it. TAC_ERR_RUN. */
enum tac_err tac_checkpoint_write_columns(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                          const struct tac_checkpoint_column *column, size_t columns,
                                          const char *record, size_t size, size_t count);
/* Collective. All tables.  TAC_ERR_RUN: the file cannot be written, or no memory. */
enum tac_err tac_checkpoint_write_rows(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                       const struct tac_checkpoint *c);

#endif
