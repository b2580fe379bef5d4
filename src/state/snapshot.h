/* snapshot.h: declares the whole state of a simulation at a commit, as rows by global id.
 *
 * The integrator fills it and can go on from it.  Checkpoints write and read it.  A migration uses a snapshot in memory
 * only.  Each rank gives rows of some tables and gets back a block of rows; it does not matter which rank gives which
 * rows.
 */
#ifndef TACTUS_STATE_SNAPSHOT_H
#define TACTUS_STATE_SNAPSHOT_H

#include "scene/kind.h"
#include <tactus/accum.h>
#include <tactus/counters.h>
#include <tactus/scene.h>

/* A vertex that is in some motion. */
struct tac_script_state {
    tac_gid vertex;
    int64_t next;      /* first knot not yet passed */
    double origin[3];  /* where it was when it was caught, m */
    double x[3], v[3]; /* line of the current piece, from t */
    double v_free[3];
    double force[3]; /* with which it was held at the end of a step, N; only where has_script_force is set */
    tac_time t;
    int32_t on, caught;
};

/* An active pair. */
struct tac_pair_state {
    uint64_t key;      /* force key: type and global ids of its primitives */
    tac_gid vertex[4]; /* -1 where unused */
    int64_t depth;     /* deepest active layer */
    int64_t last; /* first of its layer groups' entries in the table `last` (of this rank; of the file in the file) */
    int64_t groups;
};

/* The state of an element between its ticks: of a damper the strain at its last tick, of a plastic element its rest
 * values, of a wind the centre of its triangle (in 2D: segment) at its last tick. */
struct tac_element_state {
    tac_gid id;       /* edge, triangle, the hinge's edge, tetrahedron; triangle or segment */
    int64_t has;      /* TAC_ELEMENT_RESTS, TAC_ELEMENT_DAMPS or both; of a wind TAC_ELEMENT_DAMPS */
    tac_gid vertex[]; /* (nodes): its stencil, -1 where unused; then what tac_element_rest() and _last() give */
};
enum { TAC_ELEMENT_RESTS = 1, TAC_ELEMENT_DAMPS = 2 };
/* The order of rows of one kind: by first vertex, then id; for any number of ranks. */
int tac_element_state_compare(const void *a, const void *b);

/* What the elements of one kind of force (scene/kind.h) remember: rows of one size, which the kind determines. */
struct tac_element_states {
    int32_t nodes, width; /* vertices of a row, numbers of a strain; the same on all ranks; 0, 0: there is no row */
    tac_lid count;
    void *row; /* owned, (count) of tac_element_row_size() bytes, ascending; each element on one rank */
};
static inline size_t tac_element_row_size(const struct tac_element_states *s)
{
    return sizeof(struct tac_element_state) + (size_t)s->nodes * sizeof(tac_gid) +
           2 * (size_t)s->width * sizeof(double);
}
static inline struct tac_element_state *tac_element_row(const struct tac_element_states *s, tac_lid k)
{
    return (void *)((char *)s->row + tac_element_row_size(s) * (size_t)k);
}
/* (width): what is at rest: m; strain e00, e11, e01; rad.  0 where the element has none. */
static inline double *tac_element_rest(const struct tac_element_states *s, const struct tac_element_state *row)
{
    return (void *)((char *)row + sizeof *row + (size_t)s->nodes * sizeof(tac_gid));
}
/* (width): the strain at the damper's last tick; of a wind: the centre at its last tick, m. */
static inline double *tac_element_last(const struct tac_element_states *s, const struct tac_element_state *row)
{
    return tac_element_rest(s, row) + s->width;
}
/* The friction of an active pair, or of one of its layer groups. */
struct tac_friction_row {
    uint64_t key;      /* of the pair */
    tac_gid vertex[4]; /* -1 where unused */
    int64_t layer;     /* first layer of the layer group; 0: of the pair; -1: of the grains that roll in it */
    int64_t t[2]; /* quanta: pair: first and last active tick; layer group: first one of the pair when it was set, 0 */
    double value[13]; /* pair: stock (2), budget, N s; weights (4); difference, slip so far, m (3, 3). layer group:
                         hold, m (3);
                         0. grains: place, m; apart, bend, rad (3, 3, 3); budgets, N m s (2) */
};
/* The order of a file's rows: as pairs, by first vertex and key, then by layer. */
int tac_friction_row_compare(const void *a, const void *b);

enum { TAC_PAST_NUMBERS = 6 };

/* A rigid body. Asynchronous integrator (state/rigid.h): centre, its velocity, axes, their rates. Implicit integrator
 * (implicit/rigid/rigid_nodes.h): places of its nodes, their velocities; what the scheme remembers of the nodes.
 * Integrator for impact (impact/impact_rigid.h): centre, its velocity, axes, angular momentum, and six times 0. */
enum { TAC_RIGID_NUMBERS = 24 };
struct tac_rigid_row {
    tac_gid vertex; /* its first one */
    int64_t t, t1;  /* quanta */
    double value[TAC_RIGID_NUMBERS];
    double past[4 * TAC_PAST_NUMBERS]; /* has_past: else the file does not have it */
};

/* One vertex of the rows below, as it is stored. */
struct tac_vertex_record {
    tac_gid id;
    double start[3], mass, x[3], v[3], impulse[3], rest[3];
    tac_time t;
};

/* Rows of vertices, by ascending id.  Where they are only written, an integrator need not copy them: look() gives the
 * row k of `from`, which stays as it is meanwhile, and all arrays are NULL. */
struct tac_vertex_rows {
    tac_lid count;
    void (*look)(const void *from, tac_lid k, struct tac_vertex_record *row); /* NULL: the rows are in the arrays */
    const void *from;                                                         /* borrowed */
    tac_gid *id;                                                              /* owned, (n) */
    double *start;                                                            /* owned, (n, 3): positions at t = 0, m */
    double *mass;                                                             /* owned, (n), kg */
    double *x, *v;                                                            /* owned, (n, 3): at the vertex' own t */
    tac_time *t;                                                              /* owned, (n) */
    double *impulse; /* owned, (n, 3): contact impulse since the last frame, N s */
    double *rest;    /* owned, (n, 3): what it is rounded by where vertices never move, N s; NULL: 0 */
    double *past;    /* owned, (n, TAC_PAST_NUMBERS): what else an integrator remembers, SI; NULL where has_past is 0 */
};

/* Rows of triangles, of segments and of tetrahedra, by ascending id. */
struct tac_mesh_rows {
    tac_lid triangle_count;
    tac_gid *triangle_id; /* owned, (n) */
    tac_gid *triangle;    /* owned, (n, 3) vertex ids */
    tac_lid segment_count;
    tac_gid *segment_id; /* owned, (n) */
    tac_gid *segment;    /* owned, (n, 2) vertex ids */
    tac_lid tetrahedron_count;
    tac_gid *tetrahedron_id; /* owned, (n) */
    tac_gid *tetrahedron;    /* owned, (n, 4) vertex ids */
};

struct tac_checkpoint {
    /* the same on all ranks */
    tac_time now;
    int64_t frame;       /* next frame's index */
    tac_time last_frame; /* when the last one was */
    int64_t restarts;
    struct tac_accum dissipated, work, total_start, couple[3]; /* carried */
    struct tac_accum lost[3]; /* of `dissipated`: friction, damping, plasticity; carried */
    int32_t has_losses;       /* 0: it comes from a version that did not store them */
    int32_t has_start;
    int32_t has_past; /* of vertices */
    struct {
        int64_t level;      /* the last step's last part was step_s / 2^level long */
        int64_t generation; /* tactus/base.h; 0: it comes from a version that did not store it */
        int32_t has_script_force;
    } trajectory;
    double kinetic_start, book_work, book_absolute;
    int64_t deepest_layer; /* since the last row */
    double wall_s;         /* of all runs so far */
    struct tac_counters counters;
    tac_gid vertex_total, triangle_total, segment_total, tetrahedron_total;
    int32_t has_row;           /* the row of `now`: only where its frame is not written yet */
    struct tac_energy_row row; /* a restart could not compute it: velocities from before the kicks of `now` are lost */

    /* The state of histories between their rows (run/follow.h), the same on all ranks. */
    int64_t follow_count;
    int64_t *follow; /* owned, (follow_count) */

    /* What the run folder held, for a run that goes on with it. */
    struct {
        int64_t entry_count;            /* the same on all ranks */
        struct tac_output_entry *entry; /* owned by rank 0, (entry_count) by index; NULL elsewhere */
        /* counts: the same on all ranks; lines: owned by rank 0, NULL elsewhere */
        struct tac_output_sums sums[TAC_LINES];
    } folder;

    /* this rank's rows */
    struct tac_vertex_rows vertices;
    struct tac_mesh_rows mesh;
    tac_lid script_count;
    struct tac_script_state *script; /* owned */
    tac_lid pair_count;
    struct tac_pair_state *pair; /* owned, ascending key; each pair on one rank */
    tac_lid friction_state_count;
    struct tac_friction_row *friction_state; /* owned */
    tac_lid last_count;
    double *last; /* owned, (last_count): per layer group the distance at its last active tick, or infinity, m */
    struct tac_element_states element[TAC_KINDS]; /* by kind */
    struct {
        int64_t total; /* the same on all ranks */
        tac_lid count;
        struct tac_rigid_row *row; /* owned, (count), ascending; each body on one rank */
    } rigid;
};

/* ---- snapshot_rows.c: rows that are the same for every integrator ---- */

/* Local. Collects the elements whose lowest vertex this rank owns, into empty rows. */
enum tac_err tac_mesh_rows_collect(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_mesh_rows *rows);
/* Local. Lists the vertices that the rows of elements name, kind by kind (rows, nodes); where a row has no vertex, its
 * first one. Returns their number. out NULL: only the number. */
size_t tac_element_rows_vertices(const struct tac_checkpoint *checkpoint, tac_gid *out);
/* Collective. Sends each row of a kind to all owners of its vertices, once. owner (count, nodes). mine: the received
 * rows; mine->row is owned by the caller. */
enum tac_err tac_element_rows_send(struct tac_ctx *ctx, const struct tac_element_states *rows, const int32_t *owner,
                                   struct tac_element_states *mine);
/* Local. Distributes stored counters, which are sums and means over ranks, to the ranks: rank 0 gets the sums. */
void tac_counters_restore(const struct tac_ctx *ctx, const struct tac_counters *stored, struct tac_counters *out);

/* Local. Returns the number of this rank's rows of elements of all kinds. */
tac_lid tac_checkpoint_elements(const struct tac_checkpoint *checkpoint);
void tac_checkpoint_destroy(struct tac_checkpoint **checkpoint);

#endif
