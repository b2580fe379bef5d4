/* io/folder/output.h: the parts of the run folder's writer, one file each. */
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
/* An HDF5 file that is written: frames.h5, record.h5, or a checkpoint. */
struct tac_frames {
    hid_t file, frames; /* the file and its group /frames; -1: closed, or not written by this rank */
    hid_t collective;   /* transfer property list */
    bool root_only;   /* rank 0 alone writes it, and keeps it whole at every moment (io/h5/disk.h); else all ranks do */
    bool open;        /* the same on all ranks */
    char *path;       /* owned */
    int64_t reserved; /* rank 0: disk space is reserved up to here, bytes from the start */
    int space_fd;     /* rank 0: a descriptor of our own, to reserve disk space with; -1 elsewhere */
    int disk_error;   /* errno of the first failure of the driver */
    hid_t disk;       /* the driver, where one process writes the file; -1 elsewhere */
    char reason[256]; /* the first failure of HDF5, in its words */
    bool broken;      /* a write failed: nothing more is written */
    bool stuck;       /* HDF5 could not close the file: it keeps the driver, which keeps this, until the process ends */
    tac_lid vertex_count;
    tac_gid point_count;
    bool mixed; /* more than one of triangles, segments, points: /mesh/cells exists */
    /* This rank's rows of every per-vertex dataset: whole chunks.  Several ranks gather rows there from the owners. */
    tac_gid row_begin, row_end;
    double *position, *velocity; /* owned, (row_end - row_begin, 3); NULL on one rank */
    float *contact_force;        /* owned, likewise */
    bool *seen;                  /* owned, (row_end - row_begin); NULL on one rank */
};

/* Collective. Creates DIR/frames.h5 with /mesh and an empty /frames, and flushes it.  pieces: NULL: scene is whole. */
enum tac_err tac_frames_create(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, struct tac_frames **out);
/* A frame that stays. */
struct tac_kept_frame {
    int64_t index;
    double time_s;
    unsigned fields; /* rank 0: which datasets it has on request: 1 << enum tac_dataset_name */
};
/* A frames.h5 that a run is to go on with. */
struct tac_frames_plan {
    char *path;                  /* owned */
    int64_t bytes;               /* rank 0: its size */
    bool there;                  /* it can be gone on with; else a new one begins */
    bool late;                   /* rank 0: something is to be removed */
    char aside[512];             /* rank 0: why it is put aside; empty: it is not */
    char *aside_path;            /* rank 0: owned; its new name */
    int64_t first;               /* rank 0: the first frame that should be there */
    struct tac_kept_frame *kept; /* owned, (count): the frames that stay */
    int64_t count;
};
/* Collective. Looks at DIR/frames.h5, and changes nothing: which frames are neither later than the checkpoint nor
 * between two frames, whether those are what was written (all ranks read their share of the chunks), and whether all
 * are there that the checkpoint tells of.  here: it lies in DIR.  TAC_ERR_INPUT: they are not; it is of another scene;
 * its frames are at other times. */
enum tac_err tac_frames_look(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                             const struct tac_output_past *past, bool here, struct tac_frames_plan *plan);
/* Collective. Does as planned, and opens the file to go on with frame `next`: what is later is removed; a file that
 * cannot be gone on with is renamed, and a new one made with those frames that can still be read; plan->kept becomes
 * them. */
enum tac_err tac_frames_resume(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, int64_t next, struct tac_frames_plan *plan, struct tac_frames **out);
void tac_frames_plan_clear(struct tac_frames_plan *plan);
/* Collective. Are the mesh and these frames what was written?  Compares the checksum of every chunk with its bytes, as
 * they are in the file; nothing is unpacked.  TAC_ERR_INPUT: which one is not.  next: for the sentence. */
enum tac_err tac_frames_check(struct tac_ctx *ctx, const char *path, const struct tac_kept_frame *kept, int64_t count,
                              int64_t next);
/* Local. The same of one frame of an open file (hid_t); path: for the sentence, which ctx->error has. */
bool tac_frames_frame_sound(struct tac_ctx *ctx, int64_t file, const char *path, int64_t index);
/* Local to rank 0. Copies those frames from `first` to before `next` of a damaged file that can still be read, are at
 * the scene's times and are what was written, into `to`; *kept (owned by the caller, (*count)): which. */
enum tac_err tac_frames_salvage(struct tac_ctx *ctx, const struct tac_scene *scene, const char *path, int64_t first,
                                int64_t next, struct tac_frames *to, struct tac_kept_frame **kept, int64_t *count,
                                struct tac_ranges *lost);
/* Collective. Brings the file to the disk. */
enum tac_err tac_frames_sync(struct tac_ctx *ctx, struct tac_frames *w);
/* Collective. Appends and flushes one frame. */
enum tac_err tac_frames_write(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_frame *frame);
/* Collective. */
enum tac_err tac_frames_close(struct tac_ctx *ctx, struct tac_frames *w);
/* Collective; closes if still open. */
void tac_frames_destroy(struct tac_ctx *ctx, struct tac_frames **w);

/* ---- rows_by_writer.c: from the vertices that ranks own to the rows that they write ---- */
#define TAC_CHUNK_ROWS 16384
/* The rows [*begin, *end) of `count` that rank `rank` of `size` writes: whole chunks, fixed by the numbers alone. */
void tac_rows_of_rank(tac_gid count, int rank, int size, tac_gid *begin, tac_gid *end);
/* Whose row it is. */
int tac_rank_of_row(const struct tac_ctx *ctx, tac_gid count, tac_gid row);
/* Collective. Sends every vertex's values to the rank that writes its row: w->position, velocity, contact_force. */
enum tac_err tac_rows_gather(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_frame *frame);

/* ---- space.c: a full disk is told before HDF5 is in the middle of a write, which it does not survive ---- */
/* Local. Reserves disk space for `bytes` beyond the file's end, unless *reserved says that it is; more than that where
 * there is plenty. */
enum tac_err tac_space_reserve(struct tac_ctx *ctx, int fd, const char *path, int64_t bytes, int64_t *reserved);
/* Local. Gives back what is still reserved beyond the file's end. */
void tac_space_release(int fd);
/* Local. After MPI-IO failed on a file, closing it would fail again and crash at exit.  Points every descriptor that
 * this process has of the file, but `keep`, at memory: closing can succeed then, and the file stays as it is. */
void tac_space_abandon(const char *path, int keep);

/* ---- mark.c: status.json, by which a folder is known to be a run's ---- */
/* Local. The status.json in the folder (a descriptor) if a run wrote it, else NULL; new reference.  TAC_ERR_RUN: no
 * memory. */
enum tac_err tac_folder_mark(struct tac_ctx *ctx, int folder, json_t **mark);
/* Local. TAC_ERR_INPUT if there is a mark. */
enum tac_err tac_folder_refuse_run(struct tac_ctx *ctx, const char *dir, const json_t *mark);
/* Collective. TAC_ERR_INPUT if the folder holds a run already: for a scene that takes long to prepare, before that. */
enum tac_err tac_folder_taken(struct tac_ctx *ctx, const char *dir);

/* ---- folder.c: rank 0 only ---- */
struct tac_folder {
    char *dir;    /* owned; as the user gave it */
    int fd;       /* of the folder, locked: it may be renamed while we run; -1: none */
    int ranks;    /* every rank: of ranks.lock, shared; -1: none */
    bool made;    /* by us */
    bool claimed; /* status.json is ours */
};
/* Makes or takes the folder, and claims it by creating status.json with `text` exclusively.  Refuses a folder with a
 * run (unless overwrite: removes its files), one in which a run is alive, and one with foreign files of our names. */
enum tac_err tac_folder_claim(struct tac_ctx *ctx, const char *dir, bool overwrite, const char *text,
                              struct tac_folder *folder);
/* Makes or takes the folder for a run that goes on.  here: the checkpoint lies in it, so it is its run's, whatever
 * status.json says.  *restarts: how often its run was restarted, this time included; before: and what the checkpoint
 * says of that. */
enum tac_err tac_folder_resume(struct tac_ctx *ctx, const char *dir, bool here, int64_t before,
                               struct tac_folder *folder, int64_t *restarts);
/* Where the folder is, in `path`: that of tac_folder.dir, or by the kernel where it was moved. */
void tac_folder_where(const struct tac_folder *folder, char *path, size_t size);
/* Removes all that a run makes, and the folder if we made it. */
void tac_folder_abandon(struct tac_folder *folder);
/* Writes NAME.tmp and renames it over NAME.  sync: contents reach the disk before the name does. */
enum tac_err tac_folder_replace(struct tac_ctx *ctx, const struct tac_folder *folder, const char *name,
                                const char *text, size_t length, bool sync);
enum tac_err tac_folder_replace_json(struct tac_ctx *ctx, const struct tac_folder *folder, const char *name,
                                     const json_t *json, bool sync);
/* Appends all of the text or nothing: a row cut short by a full disk would look like a row.  0, or the errno. */
int tac_append_whole(int fd, const char *text, size_t length);
/* For a full disk: writes over the file's own bytes, without a temporary. */
bool tac_folder_rewrite(const struct tac_folder *folder, const char *name, const char *text, size_t length);
void tac_folder_close(struct tac_folder *folder);

/* ---- lock.c: rank 0 has the folder's lock alone, and all ranks share that of the file ranks.lock in it ---- */
#define TAC_RANKS_LOCK "ranks.lock"
/* Local to rank 0. Keeps the folder while this process lives: of two runs that begin at once one gets it.  Where the
 * file system knows no locks, status.json alone has to tell.  TAC_ERR_INPUT: another run has it. */
enum tac_err tac_folder_lock(struct tac_ctx *ctx, const struct tac_folder *folder);
/* Local to rank 0, after tac_folder_lock(). Waits until no rank of an earlier run holds ranks.lock, then shares it.
 * old: there was a run; where there are no locks that is told.  TAC_ERR_INPUT: they hold it for over a minute. */
enum tac_err tac_folder_lock_ranks(struct tac_ctx *ctx, struct tac_folder *folder, bool old);
/* Collective. All ranks share ranks.lock in folder `dir`, which rank 0 shares already.  Where a rank cannot, or locks
 * do not reach from machine to machine, that is told. */
void tac_folder_share_ranks(struct tac_ctx *ctx, const char *dir, struct tac_folder *folder);
/* Local. Gives a lock back and closes its file; leaves -1. */
void tac_lock_release(int *fd);

/* ---- xdmf.c: frames.xdmf ---- */
struct tac_xdmf {
    char *text; /* owned: the frames so far, without head and tail */
    size_t length, capacity;
    int64_t frame_count, frames_written;
    double seconds, written_at; /* what the last rewrite cost, and when it was */
};

/* ---- series.c: reactions.csv, histories.csv, steps.csv ---- */
struct tac_series {
    const char *name, *header; /* of the file; its first line without the end */
    bool frames;               /* rows are at frames: one between two frames goes when a run goes on */
    int fd;                    /* -1: none */
};

/* ---- the whole ---- */
struct tac_output {
    struct tac_ctx *ctx;                    /* borrowed: tac_output_destroy() may have files to close */
    const struct tac_scene *scene;          /* borrowed */
    const char *kind_name[TAC_KINDS + 1];   /* tac_kind_names() */
    struct tac_folder folder;               /* rank 0 */
    struct tac_frames *frames;              /* owned */
    int energy;                             /* rank 0: descriptor of energy.csv; -1: none */
    bool energy_losses;                     /* rank 0: it has the columns of what was dissipated, by cause */
    struct tac_series series[TAC_LINES];    /* rank 0; none of energy.csv */
    struct tac_output_sums sums[TAC_LINES]; /* rank 0: owned: of what the tables hold */
    struct tac_xdmf xdmf;                   /* rank 0 */
    struct tac_output_entry *entry;         /* rank 0: owned, (entry_count): what the folder holds, by index */
    size_t entry_count, entry_capacity;
    bool here;                 /* it goes on from a checkpoint that lies in the folder */
    int64_t restarts;          /* rank 0 */
    double begin_t_s;          /* simulated time at which this process began */
    int64_t checkpoints;       /* written by this process */
    char checkpoint[64];       /* the newest one's name; empty: none */
    int64_t peak_memory_bytes; /* rank 0, at the end: of the rank that had most */
    double start_wall_s;
    bool terminal, line_open;      /* rank 0: the progress line */
    double last_status, last_line; /* rank 0: wall time; negative: never */
};

/* Collective. A writer without files, for what creates or opens them. */
enum tac_err tac_output_blank(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_output **out);
/* Local to rank 0. The status of a run that begins, as text; owned by the caller. */
enum tac_err tac_output_first_status(struct tac_ctx *ctx, struct tac_output *out, double time_s, char **text);
/* Local to rank 0. A new energy.csv with its header.  losses: with the columns of what was dissipated, by cause. */
enum tac_err tac_energy_create(struct tac_ctx *ctx, struct tac_output *out, bool losses);
/* Local. Does its header name the columns of what was dissipated, by cause? */
bool tac_energy_tells_losses(const char *header);
/* ---- energy_resume.c ---- */
struct tac_energy_plan {
    bool there, aside;            /* it is there; its header is not */
    bool losses;                  /* tac_energy_tells_losses() */
    int64_t header;               /* CRC-32 of its header */
    int64_t end;                  /* where the rows end that stay, bytes */
    struct tac_output_entry *row; /* owned, (count): their frames and checksums */
    size_t count, capacity;
};
/* Local to rank 0. Looks at energy.csv, and changes nothing: which rows are neither later than the checkpoint nor
 * between two frames, and whether they are what was written.  here: the checkpoint lies in the folder.
 * TAC_ERR_INPUT: they are not. */
enum tac_err tac_energy_look(struct tac_ctx *ctx, const struct tac_output *out, const struct tac_output_past *past,
                             bool here, struct tac_energy_plan *plan);
/* Local to rank 0. Does as planned: cuts the other rows off, or begins a new energy.csv. */
enum tac_err tac_energy_resume(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past,
                               const struct tac_energy_plan *plan);
/* ---- sums.c ---- */
/* Local. Adds the checksums of whole lines. */
enum tac_err tac_sums_note(struct tac_ctx *ctx, struct tac_output_sums *sums, const char *text, size_t length);
/* Local to rank 0. Are the lines of all tables that the checkpoint tells of what was written?  The checkpoint lies in
 * the folder.  Changes nothing.  TAC_ERR_INPUT: which line of which file is not. */
enum tac_err tac_sums_look(struct tac_ctx *ctx, const struct tac_output *out, const struct tac_output_past *past);
/* Local. The frame before `next` that is at t_s [s], to the last bit; -1: there is none. */
int64_t tac_energy_frame(const struct tac_scene *scene, double t_s, int64_t next);
/* Local. Does the file lie in the folder? */
bool tac_output_lies_in(const char *file, const char *dir);

/* Local to rank 0. Adds a frame to the index.  fields: of the table, 1 << enum tac_dataset_name. */
enum tac_err tac_xdmf_add(struct tac_ctx *ctx, struct tac_output *out, int64_t index, double time_s, unsigned fields);
/* Local to rank 0. Rewrites frames.xdmf; unless `force`, a long one only while that takes a small part of the time. */
enum tac_err tac_xdmf_write(struct tac_ctx *ctx, struct tac_output *out, bool force);

/* New references; NULL if out of memory. */
json_t *tac_status_json(const struct tac_output *out, const struct tac_status *status);
json_t *tac_counters_json(const struct tac_counters *counters, const char *const *kind_name);
/* Local to rank 0. The status that is written last: also over a full disk, where it can. */
enum tac_err tac_status_last(struct tac_ctx *ctx, struct tac_output *out, const struct tac_status *status);

#endif
