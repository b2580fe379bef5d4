/* tactus/contact.h: a contact, as tac_simulation_contacts() tells it (tactus/simulation.h). */
#ifndef TACTUS_CONTACT_H
#define TACTUS_CONTACT_H

#include <tactus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tac_contact_kind {
    TAC_CONTACT_VERTEX_TRIANGLE,
    TAC_CONTACT_EDGE_EDGE,
    TAC_CONTACT_VERTEX_SEGMENT, /* a segment is named by the id of its edge */
    TAC_CONTACT_VERTEX_VERTEX
};

/* Two primitives nearer than their outermost layer reaches. */
struct tac_contact {
    enum tac_contact_kind kind;
    tac_gid primitive[2]; /* ids in the scene: of a vertex, a triangle, or an edge of its topology */
    tac_lid body[2];
    int vertex_count, first_count; /* vertices in all, in the first primitive */
    tac_gid vertex[4];             /* ids; those of the first primitive first; -1: unused */
    double place[3];               /* m: between the two closest points */
    double normal[3];              /* unit: from the second primitive to the first */
    double gap;                    /* m: distance less both radii */
    double force;     /* N: the force of the layers at this distance, along the normal, without friction and without
                         restitution; of the integrator for impact the mean over the last step, with restitution */
    double weight[4]; /* of the vertices: the first primitive's nearest point, and minus the second's; unused: 0 */
};

#ifdef __cplusplus
}
#endif
#endif
