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
    int format;               /* 1 or 2 */
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
/* Local. How many rows a column has.  TAC_ERR_INPUT: there is none of its shape. */
enum tac_err tac_checkpoint_count(const struct tac_checkpoint_reader *r, const struct tac_checkpoint_column *column,
                                  int64_t *rows);
/* Local. What histories remember, into r->c; nothing where the file has none. */
enum tac_err tac_checkpoint_read_follow(struct tac_checkpoint_reader *r);
/* Local. This rank's rows of all tables but the last distances, into r->c, whose totals are known.  TAC_ERR_INPUT. */
enum tac_err tac_checkpoint_read_rows(struct tac_checkpoint_reader *r);
/* Local. The last distances of this rank's pairs, that stand in the file after `before` others; `total` in all. */
enum tac_err tac_checkpoint_read_lasts(struct tac_checkpoint_reader *r, int64_t before, int64_t total);

/* ---- checkpoint_write.c, checkpoint_write_rows.c and checkpoint_write_tables.c ---- */

struct tac_checkpoint_writer {
    struct tac_frames file; /* the machinery of frames.h5 */
    char *scene;            /* owned: its text */
};

/* Collective. Some columns of `count` records of `size` bytes; this rank's rows come after those of the ranks before
 * it. TAC_ERR_RUN. */
enum tac_err tac_checkpoint_write_columns(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                          const struct tac_checkpoint_column *column, size_t columns,
                                          const char *record, size_t size, size_t count);
enum { TAC_RECORD_MOST = 512 };
/* The records of this rank for a table.  They are made as they are sent: a large scene has no room for all of them. */
struct tac_records {
    tac_fill *fill;
    const void *from;
    size_t count, size;                           /* size of one, at most TAC_RECORD_MOST bytes */
    size_t owner;                                 /* offset of the id (tac_gid) by which its writer is found */
    tac_gid ids;                                  /* how many of those ids there are */
    int (*compare)(const void *a, const void *b); /* the file's order */
};

/* Collective. A table in which an id has as many records as it likes.  They are compressed by all ranks, so all get
 * some of the ids.  Each rank sorts what comes, and writes it.  err: an error that this rank had before; then it is the
 * error of all ranks.  TAC_ERR_RUN. */
enum tac_err tac_checkpoint_write_table(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                        const struct tac_checkpoint_column *column, size_t columns, enum tac_err err,
                                        const struct tac_records *r);
/* Collective. A table in which each row is an id, and each id has one record, on any rank.  A record goes to the rank
 * that writes its row; slice by slice, for there is no room for all rows at once.  TAC_ERR_RUN. */
enum tac_err tac_checkpoint_write_by_id(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                        const struct tac_checkpoint_column *column, size_t columns,
                                        const struct tac_records *r);
/* Collective. All tables.  TAC_ERR_RUN: the file cannot be written, or no memory. */
enum tac_err tac_checkpoint_write_rows(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                       const struct tac_checkpoint *c);

#endif
