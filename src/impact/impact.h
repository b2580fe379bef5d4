/* impact.h: an integrator for impact: particles and rigid bodies that bounce by generalised reflections
 * (docs/reference/impact.md).
 *
 * A step changes the velocities at its start until nothing that touches approaches (operator.h), supports what rests on
 * something at its middle, and flies in straight lines. A flight is accepted only after it has been proven that no pair
 * touches on it. Pairs for which this fails become rows, and the step begins again.
 *
 * A rank holds its own vertices, and as ghosts those that its pairs reach. It looks at the pairs whose lowest vertex it
 * owns, and makes their rows. All ranks get all rows, and deal their islands. No sum over rows depends on their
 * order, so no bit depends on the ranks.
 *
 * The state at the end of a step consists of positions, velocities, the places at which scripts caught their vertices,
 * and the sums of the book.
 *
 *     struct tac_impact *sim = NULL;
 *     TAC_TRY(tac_impact_create(ctx, scene, &sim));
 *     while (sim->now < t)
 *         TAC_TRY(tac_impact_step(sim, t));
 *     tac_impact_destroy(&sim);
 */
#ifndef TACTUS_IMPACT_IMPACT_H
#define TACTUS_IMPACT_IMPACT_H

#include "base/recorder.h"
#include "broadphase/along.h"
#include "elements/loads.h"
#include "impact/impact_rigid.h"
#include "impact/operator.h"
#include "partition/halo.h"
#include "state/scripts.h"
#include "state/snapshot.h"
#include <tactus/accum.h>
#include <tactus/contact.h>

/* A pair that may come near in the present flight, of which this rank owns the lowest vertex. */
struct tac_impact_pair {
    uint64_t key;
    enum tac_pair_type type;
    tac_lid v[4];
    double radius, thickness; /* m */
    double room;              /* at x it is by at least so much farther apart than the thickness, m */
    bool active;              /* is a row */
    bool safe;                /* keeps apart as long as its vertices have the displacements sim->proven */
};

/* The flights of the vertices of a rigid piece, or of a body that has none. */
struct tac_impact_group {
    double lo[3], hi[3]; /* the box of their displacements, m */
    bool changed;        /* one of them has not been proven for these */
};

/* Pairs between two groups, one after the other in the list. */
struct tac_impact_block {
    int32_t group[2];
    size_t begin, end;
    double room; /* the least of its pairs, m */
    bool waits;  /* some may not be safe though nothing has changed */
};

/* What a row has pushed along its normal in the last step. */
struct tac_impact_pushed {
    uint64_t key;
    double impulse; /* N s */
};

struct tac_impact_script {
    tac_lid vertex, motion;
    int32_t row;      /* its place among the motion's vertices */
    bool caught;      /* by a motion that releases */
    bool on;          /* in the present part of a step, and in the last one */
    double origin[3]; /* where its path starts, m */
    double target[3]; /* where this part takes it, m */
};

/* A pair that nothing can keep apart: motions bring it together. */
struct tac_impact_blocked {
    uint64_t key;
    tac_gid vertex[4];
    double gap; /* m; INFINITY: there is none */
};

/* A row that a rank has found, with its bodies. */
struct tac_impact_found {
    struct tac_impact_row row;
    int32_t piece[2];        /* its bodies are these rigid pieces; -1: are none */
    double v[4][3], a[4][3]; /* of them, and of their turns, times the root of mass */
};

/* The rows of the present part of a step and their bodies; the same on all ranks. */
struct tac_impact_active {
    struct tac_instant instant; /* its arrays row and v are those here */
    size_t rows, row_capacity;
    struct tac_impact_row *row; /* owned, ascending by key */
    double (*push)[3];          /* owned, (rows): impulse on the first body in this part, N s */
    double (*first)[3];         /* owned, (rows): impulse on the first body in the first support, N s */
    size_t bodies, body_capacity;
    tac_gid *id;    /* owned, (bodies), ascending: its vertex, or the first one of its piece; of a turn: the next one */
    int32_t *piece; /* owned, (bodies): of bodies and turns; -1: a particle */
    double *v, *a, *middle, *end, *space; /* owned, (bodies, 3): times the root of mass */
    size_t found_count, found_capacity;
    struct tac_impact_found *found; /* owned: of this rank, not yet among the rows */
};

/* The search for pairs. */
struct tac_impact_search {
    struct tac_view view; /* refers to the next two */
    struct tac_vertex_state state;
    struct tac_scripts scripts;
    struct tac_along *along; /* owned */
    double radius;           /* m: of the smallest particle */
    bool current;            /* the list was made in this part, for the path of the flight of then */
    bool partial;            /* it has all pairs of the vertices `listed`, and of others the rows only */
    uint8_t *listed;         /* owned, (owned) */
    size_t count, capacity;
    struct tac_impact_pair *pair; /* owned: in no order */
    size_t block_count, block_capacity;
    struct tac_impact_block *block; /* owned: of all pairs */
    struct tac_impact_group *group; /* owned, (rigid pieces, and bodies) */
};

struct tac_impact_scripts {
    size_t count;
    struct tac_impact_script *script; /* owned: of this rank, ascending by vertex */
    int32_t *of;                      /* owned, (owned): or -1 */
    uint8_t *on;                      /* owned, (count of vertices): a script moves it in this part */
    struct tac_knot_rows **rows;      /* owned, (motions): positions by a file; else NULL */
    struct tac_motion_at *at;         /* owned, (motions) */
};

struct tac_impact_books {
    struct tac_accum lost, friction; /* dissipated in all, and by friction: this rank's part */
    struct tac_accum work, total_start;
    bool has_start;
    struct tac_counters counters;
};

struct tac_impact {
    struct tac_ctx *ctx;
    struct tac_scene *scene; /* borrowed */
    struct tac_halo *halo;   /* owned; NULL on one rank */
    tac_lid owned, count;    /* vertices: of this rank; with ghosts */
    tac_gid *id;             /* owned, (owned): ascending; NULL on one rank */
    struct tac_model *model; /* owned */
    struct tac_loads loads;
    struct tac_load_times load_times;

    /* state */
    tac_time now;
    int64_t step;    /* the step that ended at `now` */
    double *x, *v;   /* owned, (count, 3): m, m/s */
    double *own_v;   /* owned by `v` on one rank, else (owned, 3) */
    double *impulse; /* owned, (owned, 3): of contact, since it was last set to 0, N s */
    struct tac_impact_scripts scripts;
    struct tac_impact_rigid rigid;
    struct tac_impact_books books;

    /* of the present part of a step */
    struct {
        tac_time from, to, told;   /* by the grid of steps; told: its end as the state and the record have it */
        double h;                  /* s */
        double fastest, supported; /* the largest velocity times the root of mass, at the start and in a support */
        double slow;               /* m/s: what forces give in the part */
        int64_t corrections;
        double least_gap;                  /* of rows at its end, m */
        bool fails;                        /* it must be halved */
        bool struck;                       /* impacts have changed velocities, or corrections those of a support */
        struct tac_impact_blocked blocked; /* of this rank, the nearest */
    } part;
    double *a, *p, *before; /* owned, (count, 3): m/s^2; displacements, m; velocities at the part's start */
    double *proven;         /* owned, (count, 3): displacements of the last proof, m; not a number: there was none */
    uint8_t *changed;       /* owned, (count): 1: has other ones now */
    struct tac_impact_search search;
    struct tac_impact_active active;
    struct {
        size_t count, capacity;
        struct tac_impact_pushed *row; /* owned: of all ranks, ascending by key */
    } pushed;
    bool has_warned; /* of what is jammed */

    struct {
        int64_t rounds, rows, corrections, halvings;
        double least_gap, defect, wall_s, part_s[2]; /* m, NaN: none; J; in total, for candidates, for operators */
    } last_step;
    struct tac_recorder *record; /* borrowed; NULL: none */
};

/* ---- life: impact_create.c ---- */

/* Collective. Creates the simulation at t = 0. */
enum tac_err tac_impact_create(struct tac_ctx *ctx, struct tac_scene *scene, struct tac_impact **out);
void tac_impact_destroy(struct tac_impact **sim);

/* ---- steps: impact_step.c ---- */

/* Collective. Goes on to the end of the next step, or to `limit` where the two differ by rounding only. TAC_ERR_RUN:
 * the step, or one of its parts, could not be made. */
enum tac_err tac_impact_step(struct tac_impact *sim, tac_time limit);

/* ---- the book: impact_book.c ---- */

/* Collective. */
enum tac_err tac_impact_energy(struct tac_impact *sim, struct tac_energy_row *row);
enum tac_err tac_impact_contacts(struct tac_impact *sim, struct tac_contact **out, size_t *count);
enum tac_err tac_impact_counters(const struct tac_impact *sim, struct tac_counters *sum);

/* ---- checkpoints: impact_state.c. Collective ---- */

enum tac_err tac_impact_state_out(struct tac_impact *sim, struct tac_checkpoint **out);
enum tac_err tac_impact_state_in(struct tac_impact *sim, const struct tac_checkpoint *in);

/* ---- parts, for this room ---- */

/* Does the vertex move by its inertia in this part? */
static inline bool tac_impact_is_body(const struct tac_impact *sim, tac_lid v)
{
    return sim->scene->mesh->ever_free[v] && !sim->scripts.on[v];
}
/* Is it a vertex of a rigid piece? */
static inline bool tac_impact_is_rigid(const struct tac_impact *sim, tac_lid v)
{
    return sim->rigid.count > 0 && sim->rigid.of[v] >= 0;
}
static inline bool tac_impact_is_particle(const struct tac_impact *sim, tac_lid v)
{
    return tac_impact_is_body(sim, v) && !tac_impact_is_rigid(sim, v);
}
static inline void tac_impact_gather(const double *x, const tac_lid *v, int n, double (*out)[3])
{
    for (int i = 0; i < n; i++)
        memcpy(out[i], &x[3 * (size_t)v[i]], 3 * sizeof(double));
}
/* Local. Returns the vertex with this id on this rank, also a ghost, or -1. */
tac_lid tac_impact_vertex(const struct tac_impact *sim, tac_gid id);

/* impact_ghosts.c. Collective; local on one rank. Create the halo; get all data of ghosts, or one array (count, 3),
 * from their owners; keep the ghosts of the present pairs. */
enum tac_err tac_impact_ghosts_create(struct tac_impact *sim);
void tac_impact_ghosts_destroy(struct tac_impact *sim);
enum tac_err tac_impact_ghosts_refresh(struct tac_impact *sim);
enum tac_err tac_impact_share(struct tac_impact *sim, double *value);
enum tac_err tac_impact_ghosts_keep(struct tac_impact *sim);

/* impact_scripts.c. create: local. begin: collective; sets which vertices are scripted in a part, and their targets.
 * start: local; at t = 0. */
enum tac_err tac_impact_scripts_create(struct tac_impact *sim);
void tac_impact_scripts_destroy(struct tac_impact *sim);
void tac_impact_scripts_start(struct tac_impact *sim);
void tac_impact_scripts_tell(struct tac_impact *sim);
enum tac_err tac_impact_scripts_begin(struct tac_impact *sim, tac_time from, tac_time to);

/* impact_search.c. find: collective; makes the list of pairs complete for the displacements sim->p, and marks the
 * vertices that have not been proven for these. A pair without such a vertex is a row or proven, unless it is in the
 * list and not safe. find_anew: local; at the start of a part nothing is proven. */
enum tac_err tac_impact_search_create(struct tac_impact *sim);
void tac_impact_search_destroy(struct tac_impact *sim);
enum tac_err tac_impact_find(struct tac_impact *sim);
void tac_impact_find_anew(struct tac_impact *sim);
/* impact_blocks.c. Local. groups: how many there are. create: makes them. group: their flights, from sim->p and
 * sim->changed. make: makes the blocks of a new list. travel: no pair of the block comes nearer than by so much in the
 * flight, m. move: pairs have gone to the ends of their flights. */
size_t tac_impact_groups(const struct tac_impact *sim);
enum tac_err tac_impact_blocks_create(struct tac_impact *sim);
void tac_impact_blocks_free(struct tac_impact_search *s);
void tac_impact_blocks_group(struct tac_impact *sim);
enum tac_err tac_impact_blocks_make(struct tac_impact *sim);
double tac_impact_blocks_travel(const struct tac_impact *sim, const struct tac_impact_block *block);
void tac_impact_blocks_move(struct tac_impact *sim);
/* Local. Returns the room of a pair at a distance, m, with all errors of rounding. */
static inline double tac_impact_room(const struct tac_impact *sim, const struct tac_impact_pair *pair, double d)
{
    return d - pair->radius - pair->thickness - 1e-9 * sim->search.along->candidates->extent;
}

/* active.c. clear: local; forgets all rows. add: local; makes a pair a row, which has not come to the other ranks yet.
 * meet: collective; gives the new rows to all ranks. Returns in *fresh how many there are. */
void tac_impact_active_clear(struct tac_impact *sim);
void tac_impact_active_free(struct tac_impact *sim);
enum tac_err tac_impact_active_add(struct tac_impact *sim, struct tac_impact_pair *pair, const struct tac_near *near);
enum tac_err tac_impact_active_meet(struct tac_impact *sim, int64_t *fresh);
/* Local. Returns the row of a pair, or NULL. */
struct tac_impact_row *tac_impact_active_find(const struct tac_impact *sim, uint64_t key);
/* Local. Returns the number of a body or turn, or -1. */
int32_t tac_impact_active_number(const struct tac_impact_active *active, tac_gid id);
/* Local. Copies velocities of bodies (m/s, without the root) to the particles. */
void tac_impact_active_tell(struct tac_impact *sim, const double *from, double *to);
/* Collective. Gathers records of all ranks, in the order of ranks; *all is owned by the caller. */
enum tac_err tac_impact_gather_records(struct tac_impact *sim, const void *mine, size_t count, size_t size, void *all,
                                       size_t *total);

/* flight.c. Local. Has no vertex of the pair got other displacements since the last proof? In most rounds most have
 * not.
 */
bool tac_impact_is_unchanged(const struct tac_impact *sim, const struct tac_impact_pair *pair);
/* Collective. prove: makes rows of pairs for which it is not proven that they do not touch in the flight
 * sim->p; first: and of those that are near. correct: looks at the rows at the end of the flight; *corrected: some have
 * come too near, and must keep away faster. */
enum tac_err tac_impact_prove(struct tac_impact *sim, bool first, int64_t *fresh);
enum tac_err tac_impact_correct(struct tac_impact *sim, bool *corrected);

/* impact_book.c. Local. Enter what the last call of an operator, of an `impact` or a support, has done, from `before`
 * to `after` (bodies); what forces do because the impulses of the two supports differ; and loads. */
void tac_impact_enter_rows(struct tac_impact *sim, const double *before, const double *after, bool impact);
void tac_impact_enter_difference(struct tac_impact *sim);
void tac_impact_enter_loads(struct tac_impact *sim);
/* impact_pushes.c. Local. begin: a step begins; enter: adds the impulses of a part; force: the mean force of a pair
 * over the last step, N. */
void tac_impact_pushes_begin(struct tac_impact *sim);
enum tac_err tac_impact_pushes_enter(struct tac_impact *sim);
double tac_impact_pushes_force(const struct tac_impact *sim, uint64_t key);
/* Local. The energy of a vertex leaves the sums when a motion catches it, and comes back when it is released. */
void tac_impact_hand_over(struct tac_impact *sim, tac_lid v, bool caught);

#endif
