/* io/checkpoint/geometry.h: declares the geometry of a checkpoint, for tac_scene_resume(): the rows of each rank, and
 * for small scenes all rows on every rank. */
#ifndef TACTUS_IO_CHECKPOINT_GEOMETRY_H
#define TACTUS_IO_CHECKPOINT_GEOMETRY_H

#include "io/checkpoint/checkpoint.h"

struct tac_gathered {
    struct tac_geometry geometry;              /* views into the arrays below, or on one rank into the checkpoint */
    double *x, *mass;                          /* owned; NULL on one rank */
    tac_gid *triangle, *segment, *tetrahedron; /* owned; NULL on one rank */
};

/* Local. Returns the rows of this rank, as views into the checkpoint. */
struct tac_geometry tac_geometry_here(const struct tac_checkpoint *checkpoint);
/* Collective. Gathers the blocks of rows that tac_checkpoint_read() distributed. The checkpoint must outlive `out`. */
enum tac_err tac_geometry_gather(struct tac_ctx *ctx, const struct tac_checkpoint *checkpoint,
                                 struct tac_gathered *out);
/* Local. Leaves it empty. */
void tac_gathered_clear(struct tac_gathered *gathered);

#endif
