/* requested_fields.h: the fields that frames have on request (output.fields, output.contacts), computed from the
 * positions at one instant.
 *
 * Strains and angles follow from the mesh alone; stress, plastic strain and elastic forces from the elements that the
 * integrator lists.  One rank reports each triangle, segment and point: the one that owns its lowest vertex. The bits
 * are the same on any number of ranks, because the owner of a vertex has all elements around it, in the same order.
 * struct tac_fields owns the buffers; a frame borrows them until the next one.
 */
#ifndef TACTUS_RUN_REQUESTED_FIELDS_H
#define TACTUS_RUN_REQUESTED_FIELDS_H

#include "run/simulation.h"
#include <tactus/output.h>

struct tac_fields {
    struct tac_frame_field field[TAC_DATASETS];   /* of the newest frame */
    tac_gid *cell_row, *vertex_row, *contact_row; /* owned: rows of what is at cells, at vertices, in the list */
    tac_gid *rigid_row;                           /* owned: of this rank's rigid bodies */
    void *data[TAC_DATASETS];                     /* owned */
    tac_lid *around, *around_at; /* owned: local triangles at each vertex, and where each list begins */
    double *x;                   /* owned, (local vertices, 3), m */
};

/* Collective. Fills frame->field by what the scene asks for; frame has the positions and forces of this rank.
 * TAC_ERR_RUN: out of memory. */
enum tac_err tac_fields_fill(struct tac_simulation *sim, struct tac_fields *fields, struct tac_frame *frame);
void tac_fields_clear(struct tac_fields *fields);

/* Collective. Positions of all local vertices now, ghosts too: *x (local vertices, 3), owned by the caller; owned_x:
 * those of this rank. */
enum tac_err tac_fields_positions(struct tac_simulation *sim, const double *owned_x, double **x);

/* Local. The scene whose vertices this rank has: its part, or on one rank the whole. */
static inline const struct tac_scene *tac_fields_scene(const struct tac_simulation *sim)
{
    return sim->local ? sim->local : sim->whole;
}

/* ---- pressure.c ---- */
/* Collective. out (frame->count): contact pressure, Pa, of this rank's vertices; fields: around and around_at. */
enum tac_err tac_fields_pressure(struct tac_simulation *sim, const struct tac_fields *fields,
                                 const struct tac_frame *frame, float *out);

/* ---- contact_rows.c ---- */
/* Collective. The list of contacts of now as fields, in the order of kinds and primitives. */
enum tac_err tac_fields_contacts(struct tac_simulation *sim, struct tac_fields *fields, struct tac_frame *frame);

#endif
