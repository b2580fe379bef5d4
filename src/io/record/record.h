/* io/record/record.h: record.h5: every breakpoint of every vertex (docs/reference/file-formats.md), written by all
 * ranks in bounded memory.
 *
 * Points (vertex, t, x) come in the order of time from the ranks that own the vertices, part of them in passes that may
 * be thrown away.  They go through three stages, none of which keeps more than a fixed budget in memory:
 *
 *   log      what was kept since the last spill, in memory.  A full one becomes a *run*, sorted by vertex, in a file
 *            without a name in the run folder; a pass that is thrown away takes its points, and its runs, with it.
 *   blocks   rank r has the r-th block of vertex ids.  When ranks change hands, at a checkpoint and at the end of an
 *            interval every point goes to the rank of its vertex' block (a deal), into a second such file.
 *   group    at the end of a frame interval each rank writes the rows of its block, which lie one behind the other.
 *
 * All memory is asked for once: blocks of many MiB that come and go with each interval, with HDF5's small ones between
 * them, break up the heap, and a long run would grow without end.
 *
 *     TAC_TRY(tac_record_create(ctx, scene, dir, &record));
 *     call->vertices(&record->log, owned, ids);
 *     call->mark(&record->log); tac_recorder_keep(&record->log, i, t, x); ... call->undo(&record->log) if the pass was
 * wrong TAC_TRY(tac_record_group(record, interval)); TAC_TRY(tac_record_close(record)); tac_record_destroy(&record);
 *
 * The engine's side is events/record.c.
 */
#ifndef TACTUS_IO_RECORD_RECORD_H
#define TACTUS_IO_RECORD_RECORD_H

#include "base/ranges.h"
#include "base/recorder.h"
#include <tactus/scene.h>

struct tac_frames; /* io/folder/output.h */

#define TAC_RECORD_FORMAT "tactus-record/1"
#define TAC_RECORD_NEXT "next" /* in /partial: what takes the place of the group there once it is whole */

enum { TAC_RECORD_BUFFER = 4096 }; /* points of a run written at once */

/* ---- spill.c: points on disk ---- */

/* Points by ascending vertex; those of one vertex in the order in which they came. */
struct tac_run_of_points {
    int64_t begin, end; /* points in the file */
    int64_t *cut;       /* owned, (size + 1): where each rank's block of ids begins; NULL: not cut */
};

struct tac_spill {
    struct tac_ctx *ctx; /* borrowed */
    const char *dir;     /* borrowed; for sentences */
    int fd;              /* of a file without a name; -1: none */
    int64_t end;         /* points in it */
    size_t run_count, run_capacity;
    struct tac_run_of_points *run; /* owned */
};

/* Local. An empty file in `dir` that goes when the process does. */
enum tac_err tac_spill_create(struct tac_ctx *ctx, const char *dir, struct tac_spill *spill);
/* Local. Begins a run; blocks > 0: cut for so many ranks. */
enum tac_err tac_spill_begin(struct tac_spill *spill, int blocks);
/* Local. Appends points to the run that was begun last. */
enum tac_err tac_spill_append(struct tac_spill *spill, const struct tac_point *point, size_t count);
/* Local. Forgets all runs but the first `runs`. */
void tac_spill_cut(struct tac_spill *spill, size_t runs);
void tac_spill_destroy(struct tac_spill *spill);

/* Runs as one: points by (vertex, run).  Opened again and again, it keeps its memory. */
struct tac_merge {
    struct tac_spill *spill;                                /* borrowed */
    struct tac_cursor *cursor;                              /* owned, (runs) */
    size_t *heap;                                           /* owned, (runs): with points left, by their next point */
    size_t heap_count, each;                                /* points read at once per run */
    struct tac_point *buffer;                               /* owned, (runs, each) */
    size_t cursor_capacity, heap_capacity, buffer_capacity; /* elements */
    struct tac_point held;                                  /* read, and not given yet */
    bool holds;
    bool collapse;
};

/* Local. All runs, or (block >= 0) their part in one block, and then of two points that follow each other with one
 * vertex and one time only the later; room for about `points` points.  merge: zero, or open before. */
enum tac_err tac_merge_open(struct tac_spill *spill, int block, size_t points, struct tac_merge *merge);
/* Local. The next points, at most `most`; *count 0: that was all. */
enum tac_err tac_merge_next(struct tac_merge *merge, struct tac_point *out, size_t most, size_t *count);
/* Local. Gives its memory back. */
void tac_merge_destroy(struct tac_merge *merge);

/* ---- the recorder ---- */
struct tac_record {
    struct tac_recorder log; /* what the engine tells */
    struct tac_ctx *ctx;     /* borrowed */
    char *dir;               /* owned */
    tac_gid vertex_total;
    double quantum_s;

    /* the log */
    size_t owned;     /* vertices of this rank */
    tac_gid *id;      /* owned, (owned) ascending; NULL: 0 .. owned-1 */
    size_t *place;    /* owned, (owned + 1): room to sort the log in */
    size_t committed; /* points before the pass under way; its runs are the first `kept_runs` */
    size_t kept_runs;
    struct tac_spill own; /* runs of the vertices that we own, cut */

    /* the block */
    tac_gid begin, end;     /* ids */
    struct tac_spill block; /* runs of them */
    int64_t *rows;          /* owned, (end - begin): how many points of each are there */
    int64_t *start;         /* owned, (end - begin + 1): room for where they begin in the file */
    int64_t *before;        /* owned, (end - begin): room for what `rows` was */
    size_t merge_points, portion, stage_rows;
    struct tac_merge merge; /* of one of the two files at a time */

    /* One piece of memory for what is never needed at the same time. */
    void *room;                   /* owned */
    struct {                      /* a run that is written */
        struct tac_point *buffer; /* view, (TAC_RECORD_BUFFER) */
        uint32_t *order;          /* view, (capacity) */
    } spill;
    struct {                        /* a deal */
        struct tac_point *out, *in; /* views, (portion) */
    } distribute;
    struct {                     /* a group that is written */
        struct tac_point *point; /* view, (portion) */
        double *position;        /* view, (2 TAC_CHUNK_ROWS + stage_rows, 3) */
        int64_t *time;           /* view, (2 TAC_CHUNK_ROWS + stage_rows) */
    } group;

    struct tac_frames *file; /* owned: record.h5; its group is /record */
    int64_t partial;         /* the interval that /partial has; -1: none */
};

/* Collective. Makes DIR/record.h5 without groups.  TACTUS_TEST_SPILL=bytes, for tests: a smaller budget than 64 MiB. */
enum tac_err tac_record_create(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                               struct tac_record **out);
/* Collective. Goes on with DIR/record.h5 at `now`, in interval `index`, whose beginning was before (`within`) or is
 * now. Intervals that are not over at `now` are removed; the breakpoints of this one from before now are taken over
 * (*loaded tells whether there were any; those of now are left to the caller).  A new record begins where there is
 * none; of one that is damaged, and is renamed to record.h5.damaged with a warning, it takes what can be read.  Not
 * `record`: the file is brought to the same state, a warning says where it ends, and *out is NULL.  TAC_ERR_INPUT: it
 * is of another scene. */
enum tac_err tac_record_resume(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, tac_time now,
                               int64_t index, bool within, bool record, struct tac_record **out, bool *loaded);
/* The groups that may have the interval under way, `index`. */
enum { TAC_RECORD_SOURCES = 3 };
/* Local. Name of the k-th of them. */
void tac_record_source_name(int64_t index, int64_t k, char name[64]);
/* What is to be saved of a damaged file. */
struct tac_record_salvage {
    const char *path; /* borrowed */
    const struct tac_scene *scene;
    int64_t under_way; /* the interval that was not over; below 0: none */
    tac_time now;
};
/* Local to rank 0. Copies the intervals 0 .. count - 1 that can still be read, and the one under way, into `to`.
 * *covered: the end of the last one, quanta; source: the group that has the one under way, empty where none has. */
enum tac_err tac_record_salvage(struct tac_ctx *ctx, const struct tac_record_salvage *s, int64_t count,
                                struct tac_frames *to, tac_time *covered, char source[64], struct tac_ranges *lost);
/* Collective. A run without --record that goes on where it ends, at `now`: DIR/record.h5, if there is one, stays as it
 * is, and a warning says if it does not have all up to then. */
enum tac_err tac_record_end(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, tac_time now);
/* Collective. What create and resume begin with: a recorder without a file. */
enum tac_err tac_record_blank(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                              struct tac_record **out);
/* Local. Points of this rank's block, in the order of their vertices; after tac_spill_begin() of record->block. */
enum tac_err tac_record_take(struct tac_record *record, const struct tac_point *point, size_t count);
/* What the engine calls: record_log.c. */
extern const struct tac_recorder_calls tac_record_calls;
/* Collective. Every point to its block: before vertices change hands. */
enum tac_err tac_record_distribute(struct tac_record *record);
/* Collective. Deals, writes the points so far as /record/INDEX, flushes, and forgets them.  /partial goes. */
enum tac_err tac_record_group(struct tac_record *record, int64_t index);
/* Collective. Writes the points so far as /partial/INDEX, in the place of what was there, and brings the file to the
 * disk.  What was kept since the last rebalancing is in it, and forgotten; the rest stays. */
enum tac_err tac_record_partial(struct tac_record *record, int64_t index);
/* Collective. Brings the file to the disk. */
enum tac_err tac_record_sync(struct tac_record *record);
/* Collective; also after a failure. */
enum tac_err tac_record_close(struct tac_record *record);
/* Collective; closes if still open. */
void tac_record_destroy(struct tac_record **record);

#endif
