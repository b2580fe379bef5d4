/* step_rows.h: rows of a snapshot that integrators share whose state exists at the ends of steps only: all vertices are
 * at the same time.
 */
#ifndef TACTUS_STATE_STEP_ROWS_H
#define TACTUS_STATE_STEP_ROWS_H

#include "state/snapshot.h"

/* The state of a rank's own vertices. */
struct tac_step_state {
    tac_lid owned;
    const tac_gid *id;       /* (owned) ascending; NULL on one rank: 0, 1, ... */
    double *x, *v, *impulse; /* (owned, 3): m, m/s; of contact, since it was last set to 0, N s */
    double *past;            /* (owned, TAC_PAST_NUMBERS): what else the integrator remembers; NULL: nothing */
};

/* Local. Returns the local number of an own vertex with this id, or -1. */
tac_lid tac_step_vertex(const struct tac_step_state *state, tac_gid id);
/* Local. Fills the time, the numbers of the scene, and the rows of vertices and of the mesh. */
enum tac_err tac_step_rows_out(struct tac_ctx *ctx, const struct tac_scene *scene, tac_time now,
                               const struct tac_step_state *state, struct tac_checkpoint *c);
/* Collective. Finds the owners of all vertices that the rows of a snapshot name: those of vertices, scripts, rigid
 * bodies and elements, in this order. *owner is owned by the caller, also after a failure. */
enum tac_err tac_step_rows_owners(struct tac_ctx *ctx, const struct tac_scene *scene,
                                  const struct tac_step_state *state, const struct tac_checkpoint *c, int32_t **owner);
/* Collective. Sends the rows of vertices to their owners, and fills the state. */
enum tac_err tac_step_rows_in(struct tac_ctx *ctx, const struct tac_vertex_rows *rows, const int32_t *owner,
                              const struct tac_step_state *state);

#endif
