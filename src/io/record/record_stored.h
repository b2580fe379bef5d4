/* io/record/record_stored.h: finds out what a record.h5 holds, which may be whole or damaged.
 *
 * As with frames.h5 (tactus/reader.h) a child process walks the whole structure first; values are guarded by the
 * checksums of their chunks.  A group may be far larger than memory: its rows are read in portions.
 *
 *     TAC_TRY(tac_record_stored_open(ctx, "drop.run/record.h5", &file));
 *     tac_record_rows_open(file->file, file->group[0].path, file->vertex_count, &rows);
 *     tac_record_rows_read(&rows, TAC_RECORD_TIME, 0, 100, time);
 *     tac_record_rows_close(&rows);
 *     tac_record_stored_close(&file);
 */
#ifndef TACTUS_IO_RECORD_RECORD_STORED_H
#define TACTUS_IO_RECORD_RECORD_STORED_H

#include "io/h5/h5.h"
#include <tactus/stored.h>

struct tac_record_group {
    char path[40];
    int64_t index;
    int64_t rows;
    tac_time begin, end; /* of its first vertex, as of all */
};

struct tac_record_stored {
    char *path; /* owned */
    hid_t file;
    char name[256], version[64], commit[64], sha256[80]; /* empty: not in the file */
    double quantum_s;
    tac_gid vertex_count; /* 0: there is no group */
    int64_t group_count;
    struct tac_record_group *group; /* owned, (group_count): whole intervals, ascending */
    bool has_partial;
    struct tac_record_group partial;
    int64_t
        unfinished; /* how many intervals are not whole and left out: the last one of /record, and any of /partial */
};

/* Local. Opens a record. TAC_ERR_INPUT if it is missing, damaged or of another program. A kill leaves at most the last
 * interval incomplete: that one is left out; any other incomplete interval is damage. */
enum tac_err tac_record_stored_open(struct tac_ctx *ctx, const char *path, struct tac_record_stored **out);
/* Collective. Does the same on all ranks, after rank 0 has checked that the file is safe to open. */
enum tac_err tac_record_stored_open_all(struct tac_ctx *ctx, const char *path, struct tac_record_stored **out);
/* Local. NULL is allowed; leaves NULL. */
void tac_record_stored_close(struct tac_record_stored **file);

/* ---- the datasets of a group ---- */

enum { TAC_RECORD_START, TAC_RECORD_TIME, TAC_RECORD_POSITION, TAC_RECORD_DATASETS };

/* A group's datasets. */
struct tac_record_rows {
    hid_t id[TAC_RECORD_DATASETS];
    int64_t rows[TAC_RECORD_DATASETS];
    const char *wrong; /* if it could not be opened: the first dataset that is missing or wrong */
};

/* Local. Opens a group. vertices: expected number, 0: any. False: it is missing, not whole, or wrong. */
bool tac_record_rows_open(hid_t file, const char *group, tac_gid vertices, struct tac_record_rows *rows);
/* Local. Reads rows into data: int64, or (count, 3) double for positions; false if they cannot be read. */
bool tac_record_rows_read(const struct tac_record_rows *rows, int which, int64_t begin, int64_t count, void *data);
/* Local. Closes the datasets; negative ids are skipped. */
void tac_record_rows_close(struct tac_record_rows *rows);
/* Local. Reads the times at which a group begins and ends, which are those of its first vertex. */
bool tac_record_span(hid_t file, const char *group, tac_gid vertices, tac_time span[2]);
/* Local. Does the group have all points of its interval that are before `now`? */
bool tac_record_serves(hid_t file, const char *group, tac_gid vertices, tac_time now);
/* Local. Reads the whole group once: are the checksums of its chunks right, and its rows in order? */
bool tac_record_reads_through(hid_t file, const char *group, tac_gid vertices);
/* Local. Seconds in a quantum; false if the file does not have it. */
bool tac_record_quantum(hid_t file, double *quantum_s);
/* Local. Fails with the sentence for a damaged file; TAC_ERR_INPUT. */
enum tac_err tac_record_damaged(struct tac_ctx *ctx, const char *path, const char *what);

#endif
