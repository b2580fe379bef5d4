/* tactus/output.h: writes the run folder: frames.h5, frames.xdmf, energy.csv, run.json, scene.json, status.json
 * (docs/reference/run-folder.md).
 *
 * The writer owns its open files.  Every file but the two that grow (frames.h5, energy.csv) is replaced by a rename, so
 * a file that is not complete never has its final name. The two that grow are flushed after each frame.
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

/* What frames may have beside the three fields that all have (docs/reference/file-formats.md, frames.h5). */
enum tac_dataset_name {
    TAC_DATA_STRAIN_MAX,
    TAC_DATA_STRAIN_MIN,
    TAC_DATA_STRESS_MAX,
    TAC_DATA_STRESS_MIN,
    TAC_DATA_STRESS_MISES,
    TAC_DATA_BENDING_ANGLE,
    TAC_DATA_PLASTIC_STRAIN,
    TAC_DATA_PLASTIC_ANGLE,
    TAC_DATA_PRESSURE,
    TAC_DATA_RANK,
    TAC_DATA_SPIN,
    TAC_DATA_RIGID_CENTER,
    TAC_DATA_RIGID_ROTATION,
    TAC_DATA_RIGID_VELOCITY,
    TAC_DATA_RIGID_SPIN,
    TAC_DATA_CONTACTS_KIND,
    TAC_DATA_CONTACTS_VERTICES,
    TAC_DATA_CONTACTS_PLACE,
    TAC_DATA_CONTACTS_NORMAL,
    TAC_DATA_CONTACTS_GAP,
    TAC_DATA_CONTACTS_FORCE,
    TAC_DATASETS
};
enum tac_field_at {
    TAC_AT_VERTICES,
    TAC_AT_CELLS, /* triangles, segments, points, tetrahedra */
    TAC_AT_RIGID, /* bodies that are rigid */
    TAC_AT_CONTACTS
};
enum tac_value { TAC_VALUE_FLOAT, TAC_VALUE_DOUBLE, TAC_VALUE_INT32, TAC_VALUE_INT64 };

struct tac_field_info {
    const char *name, *units; /* units NULL: none */
    enum tac_field_at at;
    enum tac_value value;
    int columns;     /* 0: one-dimensional */
    unsigned output; /* the bit of tac_output_settings.fields that asks for it; 0: none does */
};

/* Local. Returns the table of all datasets, (TAC_DATASETS). */
const struct tac_field_info *tac_field_table(void);
/* Local. Returns the number of bytes of a row. */
size_t tac_field_row_bytes(const struct tac_field_info *field);

/* One dataset in one frame: the rows that this rank has. */
struct tac_frame_field {
    const struct tac_field_info *info;
    tac_gid rows; /* of all ranks */
    size_t count;
    const tac_gid *row; /* (count): which rows of the dataset */
    const void *data;   /* (count, columns) */
};

/* One frame: the state of this rank's vertices. */
struct tac_frame {
    int64_t index;
    double time_s;
    tac_lid count;              /* vertices of this rank */
    const tac_gid *id;          /* (count) ascending global ids; NULL: 0 .. count-1 */
    const double *position;     /* (count, 3), m */
    const double *velocity;     /* (count, 3), m/s */
    const float *contact_force; /* (count, 3), N: mean over the time since the last frame */
    int field_count;
    const struct tac_frame_field *field; /* (field_count): what was asked for */
};

/* The checkpoint from which a run goes on in a folder. */
struct tac_output_past {
    const char *file;                     /* its path */
    tac_time now;                         /* when it was written */
    int64_t next_frame;                   /* the first frame that is not in it: index */
    int64_t restarts;                     /* of the run that wrote it */
    bool losses;                          /* it holds the dissipated energy by cause */
    int64_t entry_count;                  /* rank 0; 0: it does not tell what its folder held */
    const struct tac_output_entry *entry; /* (entry_count), by index; what its folder held; NULL on other ranks */
    const struct tac_output_sums *sums;   /* rank 0: (TAC_LINES); count 0: it does not tell; NULL: of none */
};

/* What run.json tells beyond the counters. */
struct tac_summary {
    const char *discovery, *clocks;
    bool invariant; /* no bit of the trajectory depends on the number of ranks */
    int argc;
    char **argv;
    double book_residual;
    double wall_s, wall_total_s; /* the first since the start or the last restart; the second with all runs before it */
    struct tac_status status;
};

/* Collective. Makes the folder with scene.json, frames.h5 (mesh), frames.xdmf, energy.csv (header), status.json.
 * A folder that holds a run is refused (TAC_ERR_INPUT) unless overwrite, which removes the old run's files first.
 * pieces: has the scene's elements if the scene is without its large arrays; NULL: the scene has them itself. */
enum tac_err tac_output_create(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, bool overwrite, struct tac_output **out);
/* Collective. Goes on with a run folder from a checkpoint. First it checks the folder and changes nothing: the
 * checksums of the frames and rows that stay and, if the checkpoint lies in this folder, whether all frames and rows
 * are there that the checkpoint lists.  Then it removes frames and rows that are later than the checkpoint or that lie
 * between two frame times (the last ones of a run that ended there). It gives the checkpoint the highest number if
 * there are later ones, and rewrites frames.xdmf, scene.json and status.json (restarts + 1).  A folder without frames
 * begins with past->next_frame.  A frames.h5 that cannot be opened any more is renamed to frames.h5.damaged, with a
 * warning.  TAC_ERR_INPUT: frames or rows differ from what was written; a run is alive in the folder; the folder
 * belongs to another scene, or to a run with another time.frame.  As after tac_output_create(), the scene's large
 * arrays are not needed again; its counts, name and hash are. */
enum tac_err tac_output_resume(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, const struct tac_output_past *past, struct tac_output **out);
/* Local. Returns whether the checkpoint from which the run went on lies in the folder. */
bool tac_output_here(const struct tac_output *out);
/* Collective. *whole: the folder holds all of a run that ended at past->now, the time of the checkpoint. *here: the
 * checkpoint lies in the folder. last_frame: the run has a last frame that is not in the checkpoint. The function reads
 * only the times and numbers of frames and rows, not their values. */
enum tac_err tac_output_whole(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                              const struct tac_output_past *past, bool last_frame, bool *here, bool *whole);
/* The origin of a branched run, for branch.json and run.json. */
struct tac_output_branch {
    const char *parent;     /* the checkpoint's file */
    const char *sha256;     /* of the scene before the change */
    double time_s;          /* of the checkpoint */
    const char *const *set; /* (count) the changes */
    int count;
};

/* Collective. Writes branch.json. */
enum tac_err tac_output_branched(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_branch *branch);
/* Local to rank 0. Tells what the folder holds so far: *count entries in *entry, which is borrowed and valid until the
 * next frame. */
void tac_output_entries(const struct tac_output *out, const struct tac_output_entry **entry, int64_t *count);
/* Local to rank 0. The checksums of the lines that the tables have so far: (TAC_LINES), borrowed and valid likewise. */
const struct tac_output_sums *tac_output_sums(const struct tac_output *out);
/* Collective. Brings frames and rows to the disk. Call it before a checkpoint is written; otherwise a machine that goes
 * down could leave a checkpoint that is later than the frames. */
enum tac_err tac_output_sync(struct tac_ctx *ctx, struct tac_output *out);
/* Collective. Where the run's folder is: a copy of `dir`, or where it was moved meanwhile, in *now (owned by the
 * caller, NULL at first; replaced).  A folder that was removed is where it was. */
enum tac_err tac_output_where(struct tac_ctx *ctx, const struct tac_output *out, const char *dir, char **now);
/* Local. Notes that a checkpoint of this name was written into the folder, for status.json and run.json. */
void tac_output_checkpoint(struct tac_output *out, const char *name);
/* Collective. Appends a frame and flushes; rewrites frames.xdmf. */
enum tac_err tac_output_frame(struct tac_ctx *ctx, struct tac_output *out, const struct tac_frame *frame);
/* Collective (rank 0 writes). Appends the row of the frame that was written last, with %.17g, and flushes. */
enum tac_err tac_output_row(struct tac_ctx *ctx, struct tac_output *out, const struct tac_energy_row *row);
/* Local to rank 0. Begins steps.csv with the header, or goes on with it: rows of steps after `last` go. */
enum tac_err tac_output_steps(struct tac_ctx *ctx, struct tac_output *out, const char *header, int64_t last);
/* Local to rank 0. Appends whole lines to reactions.csv or histories.csv, which there are if the scene asks for them,
 * or to steps.csv after tac_output_steps().  Rows of a time come before the frame of that time, and before a checkpoint
 * of it. */
enum tac_err tac_output_lines(struct tac_ctx *ctx, struct tac_output *out, enum tac_lines which, const char *text,
                              size_t length);
/* Local to rank 0; on other ranks it does nothing. Replaces status.json and draws the progress line on stderr (on a
 * terminal one line that is redrawn; in a log plain lines, at most one in 10 s). It may be called at any rate: unless
 * `force`, it does something at most twice a second. */
enum tac_err tac_output_status(struct tac_ctx *ctx, struct tac_output *out, const struct tac_status *status,
                               bool force);
/* Collective. Writes run.json and the last status.json, closes all files and ends the progress line. It is also called
 * after a failure.
 */
enum tac_err tac_output_finish(struct tac_ctx *ctx, struct tac_output *out, const struct tac_summary *summary);
void tac_output_destroy(struct tac_output **out);

#ifdef __cplusplus
}
#endif
#endif
