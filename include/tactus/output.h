/* tactus/output.h: the run folder: frames.h5, frames.xdmf, energy.csv, run.json, scene.json, status.json
 * (docs/run-folder.md).
 *
 * The writer owns its open files.  Every file but the two that grow (frames.h5, energy.csv) is replaced by rename, so
 * nothing half-written looks whole; the two that grow are flushed after each frame.
 *
 *     TAC_TRY(tac_output_create(ctx, scene, NULL, "drop.run", false, &out));       or tac_output_resume()
 *     for each frame: tac_output_frame(ctx, out, &frame); tac_output_row(ctx, out, &row); tac_output_status(ctx, out,
 * &status); tac_output_finish(ctx, out, &summary); tac_output_destroy(&out);
 */
#ifndef TACTUS_OUTPUT_H
#define TACTUS_OUTPUT_H

#include <tactus/base.h>
#include <tactus/counters.h>
#include <tactus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tac_output; /* opaque */
struct tac_pieces; /* opaque: a scene distributed to several ranks, of use inside the library only */

/* One frame: the state of this rank's vertices. */
struct tac_frame {
    int64_t index;
    double time_s;
    tac_lid count;              /* vertices of this rank */
    const tac_gid *id;          /* (count) ascending global ids; NULL: 0 .. count-1 */
    const double *position;     /* (count, 3), m */
    const double *velocity;     /* (count, 3), m/s */
    const float *contact_force; /* (count, 3), N: mean over the time since the last frame */
};

/* What a folder goes on from: a checkpoint. */
struct tac_output_past {
    const char *file;                     /* its path */
    tac_time now;                         /* when it was written */
    int64_t next_frame;                   /* the first frame that is not in it: index */
    int64_t restarts;                     /* of the run that wrote it */
    int64_t entry_count;                  /* rank 0; 0: it does not tell what its folder held */
    const struct tac_output_entry *entry; /* (entry_count), by index; what its folder held; NULL on other ranks */
};

struct tac_status {
    const char *state;                         /* running, finished, stopped, failed */
    double time_s, end_s, wall_s, wall_left_s; /* wall_left_s: at the recent speed; NaN if unknown */
    double window_s;
    int64_t contacts;      /* of the last row; after a restart, until there is one, at the checkpoint */
    int64_t deepest_layer; /* that ever acted */
    double ticks_per_s;    /* since the start or the last restart */
    const char *error;     /* NULL: none */
    struct tac_counters counters;
};

/* What run.json tells beyond the counters. */
struct tac_summary {
    const char *discovery, *clocks;
    int argc;
    char **argv;
    double book_residual;
    double wall_s, wall_total_s; /* since the start or the last restart; with what came before the checkpoint */
    struct tac_status status;
};

/* Collective. Makes the folder with scene.json, frames.h5 (mesh), frames.xdmf, energy.csv (header), status.json.
 * A folder that holds a run is refused (TAC_ERR_INPUT) unless overwrite, which removes the old run's files first.
 * pieces: the scene's elements, where it is without its large arrays; NULL: it has them. */
enum tac_err tac_output_create(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, bool overwrite, struct tac_output **out);
/* Collective. Goes on with a run folder from a checkpoint.  First it looks, and changes nothing: at the checksums of
 * the frames that stay, at the rows that stay, and whether those are there that the checkpoint tells of, if it lies in
 * this folder.  Then it removes frames and rows that are later, or between two frames (the last ones of a run that
 * ended there); gives the checkpoint the highest number, if there are later ones; rewrites frames.xdmf, scene.json and
 * status.json (restarts + 1).  A folder without frames begins with past->next_frame.  A frames.h5 that cannot be opened
 * any more is renamed to frames.h5.damaged, with a warning.  Refused (TAC_ERR_INPUT): frames or rows that are not what
 * was written; a folder in which a run is alive, or with a run of another scene or another time.frame.  As after
 * tac_output_create(), the scene's large arrays are not needed again; its counts, name and hash are. */
enum tac_err tac_output_resume(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, const struct tac_output_past *past, struct tac_output **out);
/* Local. Does the checkpoint that it went on from lie in the folder? */
bool tac_output_here(const struct tac_output *out);
/* Collective. Does the folder hold all of a run that ended at past->now, where the checkpoint is?  last_frame: a frame
 * that the checkpoint does not have belongs to it.  Reads times and numbers of frames and rows, not their values.
 * *here: the checkpoint lies in it. */
enum tac_err tac_output_whole(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                              const struct tac_output_past *past, bool last_frame, bool *here, bool *whole);
/* Local to rank 0. What the folder holds so far, *count entries in *entry (borrowed, until the next frame). */
void tac_output_entries(const struct tac_output *out, const struct tac_output_entry **entry, int64_t *count);
/* Collective. Brings frames and rows to the disk: call before a checkpoint is written, or a machine that goes down
 * could leave a checkpoint later than the frames. */
enum tac_err tac_output_sync(struct tac_ctx *ctx, struct tac_output *out);
/* Local. A checkpoint of this name (in the folder) was written: status.json and run.json will tell. */
void tac_output_checkpoint(struct tac_output *out, const char *name);
/* Collective. Appends a frame and flushes; rewrites frames.xdmf. */
enum tac_err tac_output_frame(struct tac_ctx *ctx, struct tac_output *out, const struct tac_frame *frame);
/* Collective (rank 0 writes). Appends a row, %.17g, and flushes: that of the frame written last. */
enum tac_err tac_output_row(struct tac_ctx *ctx, struct tac_output *out, const struct tac_energy_row *row);
/* Local to rank 0; others return at once. Replaces status.json and draws the progress line on stderr (a terminal: one
 * line redrawn; a log: plain lines, at most one per 10 s).  Call freely: it does nothing more often than twice a
 * second, unless `force`. */
enum tac_err tac_output_status(struct tac_ctx *ctx, struct tac_output *out, const struct tac_status *status,
                               bool force);
/* Collective. Writes run.json and the last status.json, closes all files, ends the progress line. Also after a failure.
 */
enum tac_err tac_output_finish(struct tac_ctx *ctx, struct tac_output *out, const struct tac_summary *summary);
void tac_output_destroy(struct tac_output **out);

#ifdef __cplusplus
}
#endif
#endif
