/* io/folder/output.h: declares the parts of the run folder's writer, one file each. */
#ifndef TACTUS_IO_FOLDER_OUTPUT_H
#define TACTUS_IO_FOLDER_OUTPUT_H

#include <jansson.h>
#include <stdio.h>
#include <tactus/output.h>

#include "base/ranges.h"
#include "io/h5/h5.h"
#include "scene/kind.h"
#include <tactus/report.h>

#define TAC_FRAMES_FORMAT "tactus-frames/1"
#define TAC_STATUS_FORMAT "tactus-status/1"
#define TAC_RUN_FORMAT "tactus-run/1"

/* ---- frames.c: frames.h5 ---- */
/* An HDF5 file that is being written: frames.h5, record.h5, or a checkpoint. Only rank 0 has it open, and it is whole
 * at every moment (io/h5/disk.h). */
struct tac_frames {
    hid_t file, frames; /* the file and its group /frames; -1: closed, or not written by this rank */
    bool open;          /* the same on all ranks */
    char *path;         /* owned */
    int64_t reserved;   /* rank 0: end of the reserved disk space, bytes from the start */
    int space_fd;       /* rank 0: our own descriptor, for reserving disk space; -1 elsewhere */
    int disk_error;     /* errno of the first failure of the driver */
    hid_t disk;         /* rank 0: the driver; -1 elsewhere */
    char reason[256];   /* the first failure of HDF5, in its words */
    bool no_memory;     /* ... which had no memory */
    bool broken;        /* a write failed: nothing more is written */
    bool stuck; /* HDF5 could not close the file, so the driver and this struct are kept until the process ends */
    tac_lid vertex_count;
    tac_gid point_count;
    bool mixed; /* more than one of triangles, segments, points: /mesh/cells exists */
    /* The rows of every per-vertex dataset that this rank writes: whole chunks. The owners of the vertices send them.
     */
    tac_gid row_begin, row_end;
    double *position, *velocity; /* owned, (row_end - row_begin, 3); NULL on one rank */
    float *contact_force;        /* owned, likewise */
    bool *seen;                  /* owned, (row_end - row_begin); NULL on one rank */
};

/* Collective. Creates DIR/frames.h5 with /mesh and an empty /frames, and flushes it.  pieces: NULL: scene is whole. */
enum tac_err tac_frames_create(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, struct tac_frames **out);
/* A frame that a restart keeps. */
struct tac_kept_frame {
    int64_t index;
    double time_s;
    unsigned fields; /* rank 0: which datasets it has on request: 1 << enum tac_dataset_name */
};
/* What to do with the frames.h5 of a run that continues. */
struct tac_frames_plan {
    char *path;                  /* owned */
    int64_t bytes;               /* rank 0: its size */
    bool there;                  /* the run continues with it; else a new file begins */
    bool late;                   /* rank 0: some frames must be removed */
    char aside[512];             /* rank 0: why it is renamed and replaced; empty: it is not */
    char *aside_path;            /* rank 0: owned; its new name */
    int64_t first;               /* rank 0: the first frame that should be there */
    struct tac_kept_frame *kept; /* owned, (count): the frames that are kept */
    int64_t count;
};
/* Collective. Plans what to do with DIR/frames.h5, and changes nothing. Keeps the frames that are not later than the
 * checkpoint and at times of the grid, checks their chunks (each rank reads a part), and checks that all frames are
 * there that the checkpoint lists. here: the checkpoint is in DIR. TAC_ERR_INPUT: a frame is damaged or missing, has
 * another time, or the file is of another scene. */
enum tac_err tac_frames_look(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                             const struct tac_output_past *past, bool here, struct tac_frames_plan *plan);
/* Collective. Carries out the plan, and opens the file to continue with frame `next`. Later frames are removed. A file
 * that cannot be continued is renamed, and a new one is made with the frames that can still be read; plan->kept then
 * lists them. */
enum tac_err tac_frames_resume(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, int64_t next, struct tac_frames_plan *plan, struct tac_frames **out);
void tac_frames_plan_clear(struct tac_frames_plan *plan);
/* Collective. Checks that the mesh and these frames are as they were written: compares the checksum of every chunk with
 * its bytes in the file, without unpacking. TAC_ERR_INPUT: the sentence names the damaged one. next: for the sentence.
 */
enum tac_err tac_frames_check(struct tac_ctx *ctx, const char *path, const struct tac_kept_frame *kept, int64_t count,
                              int64_t next);
/* Local. Does the same for one frame of an open file (hid_t); the sentence is in ctx->error. path: for the sentence. */
bool tac_frames_frame_sound(struct tac_ctx *ctx, int64_t file, const char *path, int64_t index);
/* Local to rank 0. Copies frames `first` .. `next` - 1 of a damaged file into `to` if they can be read, are at the
 * scene's times and have the right checksums. *kept (owned by the caller, (*count)): the copied frames; lost: the
 * others. */
enum tac_err tac_frames_salvage(struct tac_ctx *ctx, const struct tac_scene *scene, const char *path, int64_t first,
                                int64_t next, struct tac_frames *to, struct tac_kept_frame **kept, int64_t *count,
                                struct tac_ranges *lost);
/* Collective. Makes sure that the file is on the disk. */
enum tac_err tac_frames_sync(struct tac_ctx *ctx, struct tac_frames *w);
/* Collective. Appends and flushes one frame. */
enum tac_err tac_frames_write(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_frame *frame);
/* Collective. */
enum tac_err tac_frames_close(struct tac_ctx *ctx, struct tac_frames *w);
/* Collective; closes if still open. */
void tac_frames_destroy(struct tac_ctx *ctx, struct tac_frames **w);

/* ---- rows_by_writer.c: sends values from the owners of vertices to the ranks that write their rows ---- */
#define TAC_CHUNK_ROWS 16384
/* Local. Computes the rows [*begin, *end) of `count` that rank `rank` of `size` writes: whole chunks. */
void tac_rows_of_rank(tac_gid count, int rank, int size, tac_gid *begin, tac_gid *end);
/* Local. Returns the rank that writes a row. */
int tac_rank_of_row(const struct tac_ctx *ctx, tac_gid count, tac_gid row);
/* Collective. Sends every vertex's values to the rank that writes its row: w->position, velocity, contact_force. */
enum tac_err tac_rows_gather(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_frame *frame);

/* ---- space.c: reserves disk space, so that a full disk is reported before HDF5 begins a write, which it would not
 * survive ---- */
/* Local. Reserves disk space for `bytes` beyond the file's end, unless it is reserved already (*reserved); reserves
 * more if there is plenty. */
enum tac_err tac_space_reserve(struct tac_ctx *ctx, int fd, const char *path, int64_t bytes, int64_t *reserved);
/* Local. Gives back what is still reserved beyond the file's end. */
void tac_space_release(int fd);

/* ---- mark.c: status.json marks a folder as a run folder ---- */
/* Local. Reads the status.json in the folder (a descriptor) if a run wrote it; *mark is a new reference, or NULL.
 * TAC_ERR_RUN: memory is out. */
enum tac_err tac_folder_mark(struct tac_ctx *ctx, int folder, json_t **mark);
/* Local. Returns TAC_ERR_INPUT if there is a mark. */
enum tac_err tac_folder_refuse_run(struct tac_ctx *ctx, const char *dir, const json_t *mark);
/* Collective. Returns TAC_ERR_INPUT if the folder holds a run already. Call it before the preparation of a scene, which
 * may take long. */
enum tac_err tac_folder_taken(struct tac_ctx *ctx, const char *dir);

/* ---- folder.c: rank 0 only ---- */
struct tac_folder {
    char *dir;    /* owned; the path that the user gave */
    int fd;       /* descriptor of the folder, locked; the folder may be renamed during the run; -1: none */
    int ranks;    /* every rank: descriptor of ranks.lock, with a shared lock; -1: none */
    bool made;    /* this process made the folder */
    bool claimed; /* this process wrote status.json */
};
/* Makes the folder or uses the one that is there, and claims it: creates status.json with `text` exclusively. Refuses a
 * folder with a run (with overwrite: removes its files), a folder in which a run is alive, and a folder with files of
 * other programs that have our names. */
enum tac_err tac_folder_claim(struct tac_ctx *ctx, const char *dir, bool overwrite, const char *text,
                              struct tac_folder *folder);
/* Makes the folder or uses the one that is there, for a run that continues. here: the checkpoint is in the folder, so
 * the folder is its run's, even if status.json says otherwise. *restarts: how often the run was restarted, with this
 * time; before: the same number in the checkpoint. */
enum tac_err tac_folder_resume(struct tac_ctx *ctx, const char *dir, bool here, int64_t before,
                               struct tac_folder *folder, int64_t *restarts);
/* path (of `size` bytes): the folder's present path: tac_folder.dir, or after a rename the path that the kernel
 * reports.
 */
void tac_folder_where(const struct tac_folder *folder, char *path, size_t size);
/* Removes all files of a run, and the folder if this process made it. */
void tac_folder_abandon(struct tac_folder *folder);
/* Writes NAME.tmp and renames it over NAME.  sync: contents reach the disk before the name does. */
enum tac_err tac_folder_replace(struct tac_ctx *ctx, const struct tac_folder *folder, const char *name,
                                const char *text, size_t length, bool sync);
enum tac_err tac_folder_replace_json(struct tac_ctx *ctx, const struct tac_folder *folder, const char *name,
                                     const json_t *json, bool sync);
/* Appends all of the text or nothing, because a row that a full disk cuts short would look like a whole row. Returns 0
 * or the errno. */
int tac_append_whole(int fd, const char *text, size_t length);
/* For a full disk: overwrites the file's own bytes, without a temporary file. */
bool tac_folder_rewrite(const struct tac_folder *folder, const char *name, const char *text, size_t length);
void tac_folder_close(struct tac_folder *folder);

/* ---- lock.c: rank 0 has an exclusive lock on the folder, and all ranks share a lock on the file ranks.lock in it ----
 */
#define TAC_RANKS_LOCK "ranks.lock"
/* Local to rank 0. Locks the folder while this process lives: of two runs that begin at once, one gets it. On a file
 * system without locks only status.json protects the folder. TAC_ERR_INPUT: another run has it. */
enum tac_err tac_folder_lock(struct tac_ctx *ctx, const struct tac_folder *folder);
/* Local to rank 0, after tac_folder_lock(). Waits until no rank of an earlier run holds ranks.lock, then shares it.
 * old: the folder had a run; then a warning says if there are no locks. TAC_ERR_INPUT: the ranks hold it for over a
 * minute. */
enum tac_err tac_folder_lock_ranks(struct tac_ctx *ctx, struct tac_folder *folder, bool old);
/* Collective. All ranks share the lock on ranks.lock in folder `dir`; rank 0 has it already. Warns if a rank cannot, or
 * if locks do not work between machines. */
void tac_folder_share_ranks(struct tac_ctx *ctx, const char *dir, struct tac_folder *folder);
/* Local. Releases a lock and closes its file; leaves -1. */
void tac_lock_release(int *fd);

/* ---- xdmf.c: frames.xdmf ---- */
struct tac_xdmf {
    struct tac_kept_frame *frame; /* owned, (frame_count) */
    size_t frame_capacity;
    char *text; /* owned: the frames so far, without head and tail */
    size_t length, capacity;
    int64_t frame_count, frames_written;
    double seconds, written_at; /* wall time of the last rewrite, s; when it was */
};

/* ---- series.c: reactions.csv, histories.csv, steps.csv ---- */
struct tac_series {
    const char *name, *header; /* name of the file; its first line without the line end */
    bool frames;               /* rows are at frames: a restart removes a row between two frames */
    int fd;                    /* -1: none */
};

/* ---- log.c: run.log ---- */
struct tac_log {
    int fd;                                         /* -1: none */
    int64_t rows, printed;                          /* of this process: in the file, on stderr */
    int64_t steps;                                  /* since the last row */
    double step[TAC_LOG_JAMMED - TAC_LOG_STEP + 1]; /* what they come to: the columns from TAC_LOG_STEP on */
};

/* ---- the whole ---- */
struct tac_output {
    struct tac_ctx *ctx;                    /* borrowed: tac_output_destroy() needs it to close files */
    const struct tac_scene *scene;          /* borrowed */
    const char *kind_name[TAC_KINDS + 1];   /* tac_kind_names() */
    struct tac_folder folder;               /* rank 0 */
    struct tac_frames *frames;              /* owned */
    int energy;                             /* rank 0: descriptor of energy.csv; -1: none */
    bool energy_losses;                     /* rank 0: energy.csv has the columns of what was dissipated, by cause */
    struct tac_series series[TAC_LINES];    /* rank 0; none of energy.csv */
    struct tac_output_sums sums[TAC_LINES]; /* rank 0: owned: checksums of the tables' lines */
    struct tac_xdmf xdmf;                   /* rank 0 */
    struct tac_log log;                     /* rank 0 */
    struct tac_output_entry *entry;         /* rank 0: owned, (entry_count): frames and rows in the folder, by index */
    size_t entry_count, entry_capacity;
    bool here;                 /* the run continues from a checkpoint that is in the folder */
    int64_t restarts;          /* rank 0 */
    double begin_t_s;          /* simulated time at which this process began */
    int64_t checkpoints;       /* written by this process */
    char checkpoint[64];       /* the newest one's name; empty: none */
    int64_t peak_memory_bytes; /* rank 0, at the end: of the rank that used most */
    double start_wall_s;
    bool terminal, line_open;      /* rank 0: the progress line */
    double last_status, last_line; /* rank 0: wall time; negative: never */
};

/* Collective. Makes a writer without files; the callers create or open them. */
enum tac_err tac_output_blank(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_output **out);
/* Local to rank 0. Writes the first status of a run as text; *text is owned by the caller. */
enum tac_err tac_output_first_status(struct tac_ctx *ctx, struct tac_output *out, double time_s, char **text);
/* Local to rank 0. Makes a new energy.csv with its header. losses: with the columns of what was dissipated, by cause.
 */
enum tac_err tac_energy_create(struct tac_ctx *ctx, struct tac_output *out, bool losses);
/* Local. Does its header name the columns of what was dissipated, by cause? */
bool tac_energy_tells_losses(const char *header);
/* ---- energy_resume.c ---- */
struct tac_energy_plan {
    bool there, aside;            /* there: the file exists; aside: its header is wrong, so it is renamed */
    bool losses;                  /* tac_energy_tells_losses() */
    int64_t header;               /* CRC-32 of its header */
    int64_t end;                  /* end of the rows that are kept, bytes */
    struct tac_output_entry *row; /* owned, (count): their frames and checksums */
    size_t count, capacity;
};
/* Local to rank 0. Plans what to do with energy.csv, and changes nothing: keeps the rows that are not later than the
 * checkpoint and at frames, and checks that they are as they were written. here: the checkpoint is in the folder.
 * TAC_ERR_INPUT: a row is damaged. */
enum tac_err tac_energy_look(struct tac_ctx *ctx, const struct tac_output *out, const struct tac_output_past *past,
                             bool here, struct tac_energy_plan *plan);
/* Local to rank 0. Carries out the plan: cuts off the other rows, or begins a new energy.csv. */
enum tac_err tac_energy_resume(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past,
                               const struct tac_energy_plan *plan);
/* ---- sums.c ---- */
/* Local. Adds the checksums of whole lines. */
enum tac_err tac_sums_note(struct tac_ctx *ctx, struct tac_output_sums *sums, const char *text, size_t length);
/* Local to rank 0. Checks the lines of all tables against the checksums in the checkpoint, which is in the folder;
 * changes nothing. TAC_ERR_INPUT: the sentence names the line and the file that differ. */
enum tac_err tac_sums_look(struct tac_ctx *ctx, const struct tac_output *out, const struct tac_output_past *past);
/* Local. Returns the frame before `next` whose time is t_s, s, to the last bit; -1: there is none. */
int64_t tac_energy_frame(const struct tac_scene *scene, double t_s, int64_t next);
/* Local. Is the file in the folder? */
bool tac_output_lies_in(const char *file, const char *dir);

/* Local to rank 0. Adds a frame to the index.  fields: of the table, 1 << enum tac_dataset_name. */
enum tac_err tac_xdmf_add(struct tac_ctx *ctx, struct tac_output *out, int64_t index, double time_s, unsigned fields);
/* Local to rank 0. Rewrites frames.xdmf; without `force` a long file only if rewriting takes a small part of the wall
 * time. */
enum tac_err tac_xdmf_write(struct tac_ctx *ctx, struct tac_output *out, bool force);

/* New references; NULL if out of memory. */
json_t *tac_status_json(const struct tac_output *out, const struct tac_status *status);
json_t *tac_counters_json(const struct tac_counters *counters, const char *const *kind_name);
/* Local to rank 0. Writes the last status, on a full disk too if possible. */
enum tac_err tac_status_last(struct tac_ctx *ctx, struct tac_output *out, const struct tac_status *status);

#endif
