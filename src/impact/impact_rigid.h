/* impact_rigid.h: rigid bodies, and rigid pieces of bodies, in the integrator for impact (docs/explanation/impact.md,
 * Rigid bodies).
 *
 * A piece has six unknowns: the velocity of its centre, and its turn. In the operators it is two entries among the
 * bodies (row.h). In a part of a step its centre goes straight, and its axes go straight to the rotation at the part's
 * end that keeps the angular momentum (state/chord.h), so its vertices go straight, too, and contact sees vertices
 * only. The angular momentum is state, for a free flight does not change it.
 *
 * A rank has room for all pieces of the scene. It knows those that it owns, and those of its ghosts.
 */
#ifndef TACTUS_IMPACT_IMPACT_RIGID_H
#define TACTUS_IMPACT_IMPACT_RIGID_H

#include "geometry/closest_points.h"
#include "impact/row.h"
#include "state/snapshot.h"

struct tac_impact;
struct tac_impact_found;
struct tac_impact_pair;
struct tac_pose;

enum { TAC_IMPACT_SIX = 6 };

/* A piece of the scene. */
struct tac_impact_piece {
    tac_lid first, end;   /* its vertices on this rank, if it owns them; else first == end */
    double mass;          /* kg */
    double root[4];       /* of its mass, and of its principal moments */
    double c[3], a[3][3]; /* state: centre, m; a[k]: what its principal axis k has become */
    double u[3], l[3];    /* state of own ones: velocity of the centre, m/s; angular momentum about it, kg m^2/s */
    double end_c[3], end_a[3][3]; /* where the present part takes it */
    double pull[3], torque[3];    /* of the present part: acceleration, m/s^2; N m */
    bool flown;                   /* the flight has been planned for `go` */
    bool touched;                 /* it has got a row in the present look at pairs */
};

struct tac_impact_rigid {
    size_t count;                   /* rigid pieces of the scene */
    struct tac_impact_piece *piece; /* owned, (count) */
    size_t own_count;
    int32_t *own;       /* owned, (own_count): ascending */
    int32_t *of;        /* owned, (count of vertices): place of a vertex's piece, or -1; NULL: there are none */
    double *local;      /* owned, (owned vertices, 3): coordinates along the axes, m */
    double *v, *a, *go; /* owned, (count, 6): as in row.h: velocity and acceleration of the present part; velocity of
                           the flight */
    double *space;      /* owned, (count, 6): work */
    int32_t fast;       /* a piece that turns too much in the part; -1: none */
    double fast_spin;   /* rad/s */
};

/* Local. Makes the pieces of the scene at the start. */
enum tac_err tac_impact_rigid_create(struct tac_impact *sim);
void tac_impact_rigid_destroy(struct tac_impact_rigid *rigid);
/* Neighbours. Gets what this rank must know of the pieces of ghosts. */
enum tac_err tac_impact_rigid_refresh(struct tac_impact *sim);

/* ---- a part of a step ---- */

/* Local. Sets velocities and accelerations of own pieces at the part's start. */
void tac_impact_rigid_begin(struct tac_impact *sim);
/* Local. Makes the scales of velocities those of own pieces, too: tac_impact_measure's three numbers. */
void tac_impact_rigid_measure(const struct tac_impact *sim, double most[3]);
/* Local. Copies velocities of the operators' bodies to pieces (count, 6). */
void tac_impact_rigid_tell(struct tac_impact *sim, const double *from, double *to);
/* Local. Plans the flights of own pieces, and sets sim->p of their vertices. middle: velocities of the operators'
 * bodies in the support, or NULL: pieces go on with their velocities and half of what forces give. */
void tac_impact_rigid_fly(struct tac_impact *sim, const double *middle);
/* Collective. Goes to the end of the flight in the operators: bodies' turns and rows become those of there. */
enum tac_err tac_impact_rigid_arrive(struct tac_impact *sim);
/* Local. Moves own pieces to the end of the part, with the velocities sim->active.end. */
void tac_impact_rigid_commit(struct tac_impact *sim);
/* Collective. Makes the sentence if a piece turns too fast for the shortest part; TAC_OK: none does. */
enum tac_err tac_impact_rigid_error(struct tac_impact *sim);

/* ---- rows: impact_rigid_rows.c ---- */

/* Local. Sets what a row must know of the piece k, which is its body i. near: of the pair at x. */
void tac_impact_rigid_enter(const struct tac_impact *sim, const struct tac_impact_pair *pair, int32_t k, int i,
                            const double x[4][3], const struct tac_near *near, struct tac_impact_found *found);

/* Local. Marks the ghosts that the rows of this rank's pairs with pieces need. */
void tac_impact_rigid_mark(struct tac_impact *sim);

/* ---- files ---- */

/* Local. Adds the energies and momenta of own pieces to sums of a row of energy.csv. */
void tac_impact_rigid_energy(const struct tac_impact *sim, struct tac_accum *sum);
/* Local. Fills the poses of own pieces, ascending, and returns their number. */
size_t tac_impact_rigid_poses(const struct tac_impact *sim, struct tac_pose *out);
/* Local. Copies the state of own pieces into a snapshot. in: collective; owner (rows): of each row's first vertex. */
enum tac_err tac_impact_rigid_rows_out(const struct tac_impact *sim, struct tac_checkpoint *c);
enum tac_err tac_impact_rigid_rows_in(struct tac_impact *sim, const struct tac_checkpoint *c, const int32_t *owner);

/* ---- parts, for this room ---- */

/* Local. Plans the flight of a piece with its velocities `go`, from c, a to end_c, end_a. Returns false if it turns too
 * much. */
bool tac_impact_rigid_plan(struct tac_impact *sim, int32_t k);
/* Local. Computes turns from an angular momentum, and the reverse, about the axes a. */
void tac_impact_rigid_turn(const struct tac_impact_piece *piece, const double a[3][3], const double l[3],
                           double turn[3]);
void tac_impact_rigid_momentum(const struct tac_impact_piece *piece, const double a[3][3], const double turn[3],
                               double l[3]);

#endif
