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
#include <tactus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tac_output; /* opaque */
struct tac_pieces; /* partition/part.h */

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

/* One row of energy.csv, already summed over ranks. */
struct tac_energy_row {
    double time_s, kinetic, gravity, stretch, bend, contact, total, dissipated, work, defect;
    double momentum[3], angular_momentum[3], friction_couple[3];
    int64_t contacts, deepest_layer;
    double min_distance; /* NaN: none */
};

/* Kinds of forces in the order of the force key (design 1.2); limits are of stretch, loads are prescribed. */
enum tac_kind {
    TAC_KIND_GRAVITY,
    TAC_KIND_SPRING,
    TAC_KIND_CST,
    TAC_KIND_HINGE,
    TAC_KIND_PENALTY,
    TAC_KIND_LIMIT,
    TAC_KIND_DAMPING,
    TAC_KIND_LOAD,
    TAC_KINDS
};
/* Their names in reports, by kind. */
extern const char *const tac_kind_name[TAC_KINDS];

/* What the progress line, status.json and run.json tell. All counts are sums over ranks. */
struct tac_counters {
    int64_t committed[TAC_KINDS], executed[TAC_KINDS]; /* force ticks per kind */
    int64_t silent;                                    /* committed penalty ticks that found no gap below zero */
    int64_t windows, rollbacks;                        /* windows committed; passes thrown away */
    int64_t repeated_ticks;                            /* ticks executed again because of rollbacks */
    int64_t contacts_found;                            /* (pair, rung) watches begun */
    int64_t deepest_layer;
    int64_t certificates_created, certificates_failed, certificates_rescheduled; /* kinetic structures */
    int64_t certificates_reconfirmed, plans_filed;
    int64_t plans_told;                   /* new plans that went to other ranks */
    int64_t candidate_builds, candidates; /* broad phase: lists built, pairs in the newest list */
    int64_t messages_sent, bytes_sent;    /* between ranks, in passes and discovery */
    int64_t migrations;                   /* vertices that went to another rank */
    double seconds_forces, seconds_contact, seconds_discovery, seconds_waiting, seconds_exchange, seconds_output;
    /* kinetic structures, within discovery: are plans kept; certificates that failed and that were timed anew */
    double seconds_plans, seconds_slabs[2], seconds_lists[2];
};

struct tac_status {
    const char *state;                         /* running, finished, stopped, failed */
    double time_s, end_s, wall_s, wall_left_s; /* wall_left_s: NaN if unknown */
    double window_s;
    int64_t contacts, deepest_layer;
    double ticks_per_s;
    const char *error; /* NULL: none */
    struct tac_counters counters;
};

/* What run.json tells beyond the counters. */
struct tac_summary {
    const char *discovery, *clocks;
    int argc;
    char **argv;
    double book_residual, wall_s;
    struct tac_status status;
};

/* Collective. Makes the folder with scene.json, frames.h5 (mesh), frames.xdmf, energy.csv (header), status.json.
 * A folder that holds a run is refused (TAC_ERR_INPUT) unless overwrite, which removes the old run's files first.
 * pieces: the scene's elements, where it is without its large arrays; NULL: it has them. */
enum tac_err tac_output_create(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, bool overwrite, struct tac_output **out);
/* Collective. Goes on with a run folder from a checkpoint at `now`: `checkpoint_file` is its path, next_frame the index
 * of the first frame that will be written.  Removes frames and rows that are later, or between two frames (the last
 * ones of a run that ended there); rewrites frames.xdmf, scene.json and status.json (restarts + 1).  A folder without
 * frames begins with next_frame.  A frames.h5 that cannot be read any more is renamed to frames.h5.damaged, with a
 * warning. Refused (TAC_ERR_INPUT): a folder in which a run is alive, or with a run of another scene or another
 * time.frame. As after tac_output_create(), the scene's large arrays are not needed again; its counts, name and hash
 * are. */
enum tac_err tac_output_resume(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, const char *checkpoint_file, tac_time now, int64_t next_frame,
                               struct tac_output **out);
/* Collective. Brings frames and rows to the disk: call before a checkpoint is written, or a machine that goes down
 * could leave a checkpoint later than the frames. */
enum tac_err tac_output_sync(struct tac_ctx *ctx, struct tac_output *out);
/* Local. A checkpoint of this name (in the folder) was written: status.json and run.json will tell. */
void tac_output_checkpoint(struct tac_output *out, const char *name);
/* Collective. Appends a frame and flushes; rewrites frames.xdmf. */
enum tac_err tac_output_frame(struct tac_ctx *ctx, struct tac_output *out, const struct tac_frame *frame);
/* Collective (rank 0 writes). Appends a row, %.17g, and flushes. */
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
