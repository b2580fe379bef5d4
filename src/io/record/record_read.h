/* io/record/record_read.h: reads a record.h5 (docs/reference/file-formats.md): every breakpoint of every vertex's path.
 *
 * A group holds one interval of time: vertex i's breakpoints are rows start[i] .. start[i+1]-1, in the order of time,
 * the first and the last at the interval's two ends; between two of them the vertex moves in a straight line.  A group
 * may be far larger than memory, so its rows are streamed.  What the file holds is found by io/record/record_stored.h.
 *
 *     TAC_TRY(tac_recorded_open(ctx, "drop.run", vertex_count, &r));
 *     TAC_TRY(tac_recorded_starts(ctx, r, g, start));
 *     TAC_TRY(tac_recorded_stream(ctx, r, g, start, row, user));
 *     tac_recorded_close(&r);
 */
#ifndef TACTUS_IO_RECORD_RECORD_READ_H
#define TACTUS_IO_RECORD_RECORD_READ_H

#include "io/record/record_stored.h"

struct tac_recorded {
    struct tac_record_stored *file; /* owned */
    tac_lid vertex_count;
    int64_t group_count;
    struct tac_record_group *group; /* owned, (group_count): those of /record by index, then that of /partial */
    int64_t opened;                 /* the group whose rows are open, or -1 */
    struct tac_record_rows rows;
    int64_t together; /* of these, so many are best read together */
};

/* Local. Is group g the interval that was under way when the run stopped? */
bool tac_recorded_partial(const struct tac_recorded *r, int64_t g);

/* Local. start (V + 1) of group g, which are sound: from 0 to its rows, two or more for each vertex. */
enum tac_err tac_recorded_starts(struct tac_ctx *ctx, struct tac_recorded *r, int64_t g, int64_t *start);

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
