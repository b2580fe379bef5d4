/* io/record_read.h: reads a record.h5 (docs/run-folder.md): every breakpoint of every vertex's path.
 *
 * A group holds one interval of time: vertex i's breakpoints are rows start[i] .. start[i+1]-1, in the order of time,
 * the first and the last at the interval's two ends; between two of them the vertex moves in a straight line.  A group
 * may be far larger than memory, so its rows are streamed.  A damaged file must not take the program down, and HDF5
 * itself crashes on some: so a child process walks the whole structure first.
 *
 *     TAC_TRY(tac_recorded_open(ctx, "drop.run", vertex_count, &r));
 *     TAC_TRY(tac_recorded_starts(ctx, r, g, start));
 *     TAC_TRY(tac_recorded_stream(ctx, r, g, start, row, user));
 *     tac_recorded_close(&r);
 */
#ifndef TACTUS_IO_RECORD_READ_H
#define TACTUS_IO_RECORD_READ_H

#include <tactus/base.h>

struct tac_recorded_group {
    char path[48];    /* within the file */
    int64_t index;    /* its name as a number; -1: /partial itself */
    bool partial;     /* the interval that was under way when the run stopped */
    int64_t rows;     /* breakpoints of all vertices */
    int64_t together; /* rows that are best read together */
};

struct tac_recorded {
    char *path;   /* owned; of the file */
    int64_t file; /* hid_t */
    tac_lid vertex_count;
    double quantum_s;
    int64_t group_count;
    struct tac_recorded_group *group; /* owned, (group_count): those of /record by index, then those of /partial */
    bool unfinished;                  /* the last group of /record was not written to its end, and is left out */
    int64_t opened;                   /* the group whose datasets are open, or -1 */
    int64_t id[3];                    /* hid_t of its start, time, position */
};

/* Collective. The record of the run in folder `dir`, whose vertices are so many.  TAC_ERR_INPUT: there is none, or it
 * is damaged. */
enum tac_err tac_recorded_open(struct tac_ctx *ctx, const char *dir, tac_lid vertex_count, struct tac_recorded **out);
/* Local. NULL is allowed; leaves NULL. */
void tac_recorded_close(struct tac_recorded **r);

/* Local. start (V + 1) of group g, which are sound: from 0 to its rows, two or more for each vertex. */
enum tac_err tac_recorded_starts(struct tac_ctx *ctx, struct tac_recorded *r, int64_t g, int64_t *start);

/* Local. The first and the last time of group g's first vertex. V > 0. */
enum tac_err tac_recorded_interval(struct tac_ctx *ctx, struct tac_recorded *r, int64_t g, const int64_t *start,
                                   tac_time t[2]);

struct tac_recorded_row {
    tac_lid vertex;
    bool first, last; /* of the vertex */
    tac_time t;
    const double *x; /* (3), finite or not */
};
/* Local. Calls `row` for all rows of group g in order; its error ends the stream. */
enum tac_err tac_recorded_stream(struct tac_ctx *ctx, struct tac_recorded *r, int64_t g, const int64_t *start,
                                 enum tac_err (*row)(void *user, const struct tac_recorded_row *row), void *user);

/* Local. The sentence for a record that is not what it should be; TAC_ERR_INPUT. */
enum tac_err tac_recorded_damaged(struct tac_ctx *ctx, const struct tac_recorded *r, const char *what);

#endif
