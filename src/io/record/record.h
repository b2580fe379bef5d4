/* io/record/record.h: writes record.h5: every breakpoint of every vertex (docs/reference/file-formats.md), by all
 * ranks, in bounded memory.
 *
 * The ranks that own the vertices add points (vertex, t, x) in the order of time; some points belong to passes that may
 * be rolled back. The points go through three stages, each within a fixed budget of memory:
 *
 *   log      the points since the last spill, in memory. A full log becomes a *run*, sorted by vertex, in a file
 *            without a name in the run folder. A pass that is rolled back removes its points and its runs.
 *   blocks   rank r has the r-th block of vertex ids. Before vertices change their owner, at a checkpoint and at the
 *            end of an interval, every point is sent to the rank of its vertex' block (a distribution), into a second
 *            such file.
 *   group    at the end of a frame interval each rank writes the rows of its block, which are consecutive.
 *
 * All memory is allocated once. If blocks of many MiB came and went with each interval, with HDF5's small blocks
 * between them, the heap would be fragmented and a long run would grow without end.
 *
 *     TAC_TRY(tac_record_create(ctx, scene, dir, &record));
 *     call->vertices(&record->log, owned, ids);
 *     call->mark(&record->log);
 *     tac_recorder_keep(&record->log, i, t, x);
 *     call->rollback(&record->log); if the pass was wrong
 *     TAC_TRY(tac_record_group(record, interval));
 *     TAC_TRY(tac_record_close(record));
 *     tac_record_destroy(&record);
 *
 * The engine calls these functions in events/windows/breakpoints.c.
 */
#ifndef TACTUS_IO_RECORD_RECORD_H
#define TACTUS_IO_RECORD_RECORD_H

#include "base/ranges.h"
#include "base/recorder.h"
#include <tactus/scene.h>

struct tac_frames; /* io/folder/output.h */

#define TAC_RECORD_FORMAT "tactus-record/1"
#define TAC_RECORD_NEXT "next" /* in /partial: replaces the group there when it is whole */

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

/* Local. Makes an empty file in `dir` that disappears with the process. */
enum tac_err tac_spill_create(struct tac_ctx *ctx, const char *dir, struct tac_spill *spill);
/* Local. Begins a run; blocks > 0: cut for so many ranks. */
enum tac_err tac_spill_begin(struct tac_spill *spill, int blocks);
/* Local. Appends points to the run that was begun last. */
enum tac_err tac_spill_append(struct tac_spill *spill, const struct tac_point *point, size_t count);
/* Local. Forgets all runs but the first `runs`. */
void tac_spill_cut(struct tac_spill *spill, size_t runs);
void tac_spill_destroy(struct tac_spill *spill);

/* Merges runs into one: points by (vertex, run). It keeps its memory when it is opened again. */
struct tac_merge {
    struct tac_spill *spill;   /* borrowed */
    struct tac_cursor *cursor; /* owned, (runs) */
    size_t *heap;              /* owned, (runs): heap of the cursors that have points left, by their next point */
    size_t heap_count, each;   /* points read at once per run */
    struct tac_point *buffer;  /* owned, (runs, each) */
    size_t cursor_capacity, heap_capacity, buffer_capacity; /* elements */
    struct tac_point held;                                  /* point that was read and not returned yet */
    bool holds;
    bool collapse;
};

/* Local. Opens all runs, or (block >= 0) their parts in one block; then, of two successive points with the same vertex
 * and time, only the later is returned. Memory for about `points` points. merge: zero, or opened before. */
enum tac_err tac_merge_open(struct tac_spill *spill, int block, size_t points, struct tac_merge *merge);
/* Local. Returns the next points, at most `most`; *count 0: there are no more. */
enum tac_err tac_merge_next(struct tac_merge *merge, struct tac_point *out, size_t most, size_t *count);
/* Local. Frees its memory. */
void tac_merge_destroy(struct tac_merge *merge);

/* ---- the recorder ---- */
struct tac_record {
    struct tac_recorder log; /* points from the engine */
    struct tac_ctx *ctx;     /* borrowed */
    char *dir;               /* owned */
    tac_gid vertex_total;
    double quantum_s;

    /* the log */
    size_t owned;     /* vertices of this rank */
    tac_gid *id;      /* owned, (owned) ascending; NULL: 0 .. owned-1 */
    size_t *place;    /* owned, (owned + 1): scratch for sorting the log */
    size_t committed; /* points before the current pass; its runs are the first `kept_runs` */
    size_t kept_runs;
    struct tac_spill own; /* runs of the vertices that we own, cut */

    /* the block */
    tac_gid begin, end;     /* ids */
    struct tac_spill block; /* runs of them */
    int64_t *rows;          /* owned, (end - begin): how many points of each vertex there are */
    int64_t *start;         /* owned, (end - begin + 1): scratch: where they begin in the file */
    int64_t *before;        /* owned, (end - begin): scratch: copy of `rows` */
    size_t merge_points, portion, stage_rows;
    struct tac_merge merge; /* of one of the two files at a time */

    /* One piece of memory, used in turn for a run, a distribution, and a group. */
    void *room;                   /* owned */
    struct {                      /* a run that is written */
        struct tac_point *buffer; /* view, (TAC_RECORD_BUFFER) */
        uint32_t *order;          /* view, (capacity) */
    } spill;
    struct {                        /* a distribution */
        struct tac_point *out, *in; /* views, (portion) */
    } distribute;
    struct {                     /* a group that is written */
        struct tac_point *point; /* view, (portion) */
        double *position;        /* view, (2 TAC_CHUNK_ROWS + stage_rows, 3) */
        int64_t *time;           /* view, (2 TAC_CHUNK_ROWS + stage_rows) */
    } group;

    struct tac_frames *file; /* owned: record.h5; its group is /record */
    int64_t partial;         /* the interval that is in /partial; -1: none */
    double send_s, write_s;  /* that a point took in the last distribution and in the last group, on this rank */
};

/* Collective. Makes DIR/record.h5 without groups. TACTUS_TEST_SPILL=bytes, for tests, sets a smaller budget than 64
 * MiB. */
enum tac_err tac_record_create(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                               struct tac_record **out);
/* Collective. Continues DIR/record.h5 at `now`, in interval `index`, which began before now (`within`) or begins now.
 * Removes intervals that are not over at `now`, but reads the breakpoints of the present interval before now (*loaded:
 * there were any; the caller records those of now). Makes a new record if there is none. A damaged record is renamed to
 * record.h5.damaged, with a warning, and what can be read of it goes into the new one. record false: brings the file to
 * the same state and warns where it ends; *out is NULL. TAC_ERR_INPUT: the file is of another scene. */
enum tac_err tac_record_resume(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, tac_time now,
                               int64_t index, bool within, bool record, struct tac_record **out, bool *loaded);
/* How many groups may hold the present interval, `index`. */
enum { TAC_RECORD_SOURCES = 3 };
/* Local. Writes the name of the k-th such group. */
void tac_record_source_name(int64_t index, int64_t k, char name[64]);
/* Collective. For a run without --record that continues at its end, `now`. Does not change DIR/record.h5; warns if the
 * record does not reach `now`. */
enum tac_err tac_record_end(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, tac_time now);
/* Collective. Makes a recorder without a file, for create and resume. */
enum tac_err tac_record_blank(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                              struct tac_record **out);
/* Local. Adds points of this rank's block, in the order of their vertices; call it after tac_spill_begin() of
 * record->block. */
enum tac_err tac_record_take(struct tac_record *record, const struct tac_point *point, size_t count);
/* The functions that the engine calls (record.c). */
extern const struct tac_recorder_calls tac_record_calls;
/* Collective. Sends every point to the rank of its block. Call it before vertices change their owner. */
enum tac_err tac_record_distribute(struct tac_record *record);
/* Collective. Distributes the points, writes them as /record/INDEX, flushes, and drops them. Removes /partial. */
enum tac_err tac_record_group(struct tac_record *record, int64_t index);
/* Collective. Writes the points so far as /partial/INDEX, replaces what was there, and makes sure that the file is on
 * the disk. Points since the last distribution are in it, and are dropped here; the others are kept. */
enum tac_err tac_record_partial(struct tac_record *record, int64_t index);
/* Local. Estimates the seconds that tac_record_partial() would take now, from what the last ones took. */
double tac_record_backlog_s(const struct tac_record *record);
/* Collective. Makes sure that the file is on the disk. */
enum tac_err tac_record_sync(struct tac_record *record);
/* Collective; also after a failure. */
enum tac_err tac_record_close(struct tac_record *record);
/* Collective; closes if still open. */
void tac_record_destroy(struct tac_record **record);

#endif
