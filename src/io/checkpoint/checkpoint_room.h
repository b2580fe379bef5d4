/* checkpoint_room.h: declares what the files that read a checkpoint share, and those that write one. */
#ifndef TACTUS_IO_CHECKPOINT_CHECKPOINT_ROOM_H
#define TACTUS_IO_CHECKPOINT_CHECKPOINT_ROOM_H

#include "io/checkpoint/checkpoint_table.h"
#include "io/h5/stored.h"

/* ---- checkpoint_read.c and checkpoint_read_rows.c ---- */

struct tac_checkpoint_reader {
    struct tac_ctx *ctx;
    const char *path;         /* of the file */
    struct tac_reader stored; /* only its file is used */
    int format;               /* 1 or 2 */
    struct tac_checkpoint *c; /* owned */
    struct tac_checkpoint_about about;
    json_t *json; /* owned */
};

/* Local. Fails with the sentence for a file that cannot be used; TAC_ERR_INPUT. */
enum tac_err tac_checkpoint_wrong(const struct tac_checkpoint_reader *r, const char *what);
/* Local. Fills records of `size` bytes (an array made here, for the caller to free) from rows begin .. end - 1 of
 * columns that must have `total` rows. TAC_ERR_INPUT: they do not. */
enum tac_err tac_checkpoint_columns(const struct tac_checkpoint_reader *r, const struct tac_checkpoint_column *column,
                                    size_t columns, int64_t total, int64_t begin, int64_t end, size_t size,
                                    void *records);
/* Local. Finds the number of rows of a column. TAC_ERR_INPUT: there is no column of its shape. */
enum tac_err tac_checkpoint_count(const struct tac_checkpoint_reader *r, const struct tac_checkpoint_column *column,
                                  int64_t *rows);
/* Local. Reads what histories remember into r->c; nothing if the file has none. */
enum tac_err tac_checkpoint_read_follow(struct tac_checkpoint_reader *r);
/* Local. Reads this rank's rows of all tables but the last distances into r->c, whose totals are known. TAC_ERR_INPUT.
 */
enum tac_err tac_checkpoint_read_rows(struct tac_checkpoint_reader *r);
/* Local. Reads the last distances of this rank's pairs, which follow `before` others in the file; the file has `total`.
 */
enum tac_err tac_checkpoint_read_lasts(struct tac_checkpoint_reader *r, int64_t before, int64_t total);

/* ---- checkpoint_write.c and checkpoint_write_tables.c ---- */

struct tac_checkpoint_writer {
    struct tac_frames file; /* written like frames.h5 */
    char *scene;            /* owned: its text */
};

/* Collective. Writes some columns of `count` records of `size` bytes; this rank's rows follow those of the ranks before
 * it. TAC_ERR_RUN. */
enum tac_err tac_checkpoint_write_columns(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                          const struct tac_checkpoint_column *column, size_t columns,
                                          const char *record, size_t size, size_t count);
enum { TAC_RECORD_MOST = 512 };
/* The records of this rank for a table. Each is made when it is sent, because there is not enough memory for all
 * records of a large scene. */
struct tac_records {
    tac_fill *fill;
    const void *from;
    size_t count, size;                           /* size of one, at most TAC_RECORD_MOST bytes */
    size_t owner;                                 /* offset of the id (tac_gid) by which its writer is found */
    tac_gid ids;                                  /* how many such ids there are */
    int (*compare)(const void *a, const void *b); /* the file's order */
};

/* Collective. Writes a table in which an id may have any number of records. All ranks get some of the ids, because all
 * ranks compress; each rank sorts the records that it receives and writes them. err: an earlier error of this rank; it
 * becomes the error of all ranks. TAC_ERR_RUN. */
enum tac_err tac_checkpoint_write_table(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                        const struct tac_checkpoint_column *column, size_t columns, enum tac_err err,
                                        const struct tac_records *r);
/* Collective. Writes a table that has one row for each id; the record of an id is on any rank. Each record is sent to
 * the rank that writes its row, slice by slice, because there is not enough memory for all rows at once. TAC_ERR_RUN.
 */
enum tac_err tac_checkpoint_write_by_id(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                        const struct tac_checkpoint_column *column, size_t columns,
                                        const struct tac_records *r);
/* Collective. Writes all tables. TAC_ERR_RUN: the file cannot be written, or memory is out. */
enum tac_err tac_checkpoint_write_rows(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                       const struct tac_checkpoint *c);

#endif
