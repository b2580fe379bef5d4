/* checkpoint.h: the whole state at a commit, in one HDF5 file written by all ranks (design 4.5).
 *
 * A checkpoint is self-contained: scene, geometry, topology's elements, and all state that the trajectory depends on.
 * Each rank gives rows of some tables, by global id, and gets back a block of rows; who holds what is no matter.
 */
#ifndef TACTUS_IO_CHECKPOINT_CHECKPOINT_H
#define TACTUS_IO_CHECKPOINT_CHECKPOINT_H

#include <tactus/accum.h>
#include <tactus/output.h>
#include <tactus/scene.h>
#include <tactus/stored.h>

/* A vertex that is in some motion. */
struct tac_script_state {
    tac_gid vertex;
    int64_t next;      /* first knot not yet passed */
    double origin[3];  /* where it was when it was caught, m */
    double x[3], v[3]; /* line of the piece under way, from t */
    double v_free[3];
    tac_time t;
    int32_t on, caught;
};

/* A watched pair. */
struct tac_pair_state {
    uint64_t key;      /* force key: type and global ids of its primitives */
    tac_gid vertex[4]; /* -1 where unused */
    int64_t depth;     /* deepest watched layer */
    int64_t last;      /* first of its rungs' entries in the table `last` (of this rank; of the file in the file) */
    int64_t rungs;
};

/* What an element remembers: a damper the strain at its last tick, a plastic element what is at rest, a wind where it
 * found its triangle (in 2D: segment). */
struct tac_element_state {
    int64_t kind;      /* TAC_KIND_SPRING, _CST, _HINGE or _LOAD */
    tac_gid id;        /* edge, triangle, the hinge's edge; triangle or segment */
    tac_gid vertex[4]; /* its stencil, -1 where unused */
    int64_t has;       /* TAC_ELEMENT_RESTS, TAC_ELEMENT_DAMPS or both; of a wind TAC_ELEMENT_DAMPS */
    double rest[3];    /* m; strain e00, e11, e01; rad: what it has not is 0 */
    double last[3];    /* of a wind: the centre at its last tick, m */
};
enum { TAC_ELEMENT_RESTS = 1, TAC_ELEMENT_DAMPS = 2 };
/* The order of a file's rows: by first vertex, kind, id; for any number of ranks. */
int tac_element_state_compare(const void *a, const void *b);
/* The friction of a watched pair, or of one of its rungs. */
struct tac_grip_state {
    uint64_t key;      /* of the pair */
    tac_gid vertex[4]; /* -1 where unused */
    int64_t layer;     /* first layer of the rung; 0: of the pair */
    int64_t t[2];      /* quanta: pair: first and last active tick; rung: first one of the pair when it was set, 0 */
    double value[13];  /* pair: stock (2), budget, N s; weights (4); difference, way, m (3, 3). rung: hold, m (3); 0 */
};
/* The order of a file's rows: as pairs, by first vertex and key, then by layer. */
int tac_grip_state_compare(const void *a, const void *b);

struct tac_checkpoint {
    /* the same on all ranks */
    tac_time now;
    int64_t frame;       /* next frame's index */
    tac_time last_frame; /* when the last one was */
    int64_t restarts;
    struct tac_accum dissipated, work, total_start, couple[3]; /* carried */
    int32_t has_start;
    double kinetic_start, book_work, book_absolute;
    int64_t deepest_layer; /* since the last row */
    double wall_s;         /* of all runs so far */
    struct tac_counters counters;
    tac_gid vertex_total, triangle_total, segment_total;

    /* this rank's rows */
    tac_lid vertex_count;
    tac_gid *vertex_id; /* owned, (n) ascending */
    double *start;      /* owned, (n, 3): positions at t = 0, m */
    double *mass;       /* owned, (n), kg */
    double *x, *v;      /* owned, (n, 3): at the vertex' own t */
    tac_time *t;        /* owned, (n) */
    double *impulse;    /* owned, (n, 3): contact impulse since the last frame, N s */
    tac_lid triangle_count;
    tac_gid *triangle_id; /* owned, (n) ascending */
    tac_gid *triangle;    /* owned, (n, 3) */
    tac_lid segment_count;
    tac_gid *segment_id; /* owned, (n) ascending */
    tac_gid *segment;    /* owned, (n, 2) */
    tac_lid script_count;
    struct tac_script_state *script; /* owned */
    tac_lid pair_count;
    struct tac_pair_state *pair; /* owned, ascending key; each pair on one rank */
    tac_lid grip_count;
    struct tac_grip_state *grip; /* owned */
    tac_lid last_count;
    double *last; /* owned, (last_count): per rung the distance at its last active tick, or infinity, m */
    tac_lid element_count;
    struct tac_element_state *element; /* owned, in their order; each element on one rank */
};

void tac_checkpoint_destroy(struct tac_checkpoint **checkpoint);

/* Collective. Writes DIR/checkpoint-NNNNNN.h5 (NNNNNN one more than the newest there), points DIR/checkpoint.h5 to it,
 * and removes all but the newest `keep` whole ones.  name: told (of size `size`).  TAC_ERR_RUN: the disk failed; the
 * old ones stand. */
enum tac_err tac_checkpoint_write(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, int keep,
                                  const struct tac_checkpoint *checkpoint, char *name, size_t size);

/* What a checkpoint tells of itself. */
struct tac_checkpoint_about {
    char name[256];                           /* of the scene */
    char version[64], commit[64], sha256[65]; /* of the program; of the scene */
    int64_t ranks;                            /* that wrote it */
};

/* Collective. `path` is a checkpoint, or a run folder: then the newest whole one in it is taken, with a warning for
 * each newer one that is damaged.  Checks length and CRC before HDF5 sees the file; one rank, which has no others to
 * wait for it, lets a child process look first.  *file (owned by the caller): which it was.  Rows are dealt out in
 * blocks: vertices and elements by id, the others by their place in the file.  All values are in range; what only a
 * scene can tell (knots, bottoms) is not looked at.  *json (owned by the caller): the scene's text; sha256 (65 bytes):
 * its hash. TAC_ERR_INPUT: damaged, foreign, or none there. */
enum tac_err tac_checkpoint_read(struct tac_ctx *ctx, const char *path, char **file, json_t **json, char *sha256,
                                 struct tac_checkpoint **out);
/* Collective. The same, with all that the file tells of itself. */
enum tac_err tac_checkpoint_read_about(struct tac_ctx *ctx, const char *path, char **file, json_t **json,
                                       struct tac_checkpoint_about *about, struct tac_checkpoint **out);

/* Collective. Why the file is no whole checkpoint (by length and CRC), in `why`; empty if it is one. */
enum tac_err tac_checkpoint_examine(struct tac_ctx *ctx, const char *path, char *why, size_t size);
/* Local. NNNNNN of the name "checkpoint-NNNNNN.h5", or -1. */
int64_t tac_checkpoint_number(const char *name);
/* Local. Numbers of the checkpoints in a folder, whole or not, ascending, in *list (owned by the caller). */
enum tac_err tac_checkpoint_list(struct tac_ctx *ctx, const char *dir, int64_t **list, size_t *count);

#endif
