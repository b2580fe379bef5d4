/* io/checkpoint/geometry.h: the geometry that the ranks hold of a checkpoint, for tac_scene_resume(): where it is, and
 * of small scenes all of it on every rank. */
#ifndef TACTUS_IO_CHECKPOINT_GEOMETRY_H
#define TACTUS_IO_CHECKPOINT_GEOMETRY_H

#include "io/checkpoint/checkpoint.h"

struct tac_gathered {
    struct tac_geometry geometry;              /* views into the below, or into the checkpoint on one rank */
    double *x, *mass;                          /* owned; NULL on one rank */
    tac_gid *triangle, *segment, *tetrahedron; /* owned; NULL on one rank */
};

/* Local. The rows that this rank has: views into the checkpoint. */
struct tac_geometry tac_geometry_here(const struct tac_checkpoint *checkpoint);
/* Collective. The checkpoint's blocks of rows, as tac_checkpoint_read() deals them out.  `out` lives no longer than the
 * checkpoint. */
enum tac_err tac_geometry_gather(struct tac_ctx *ctx, const struct tac_checkpoint *checkpoint,
                                 struct tac_gathered *out);
/* Local. Leaves it empty. */
void tac_gathered_clear(struct tac_gathered *gathered);

#endif
