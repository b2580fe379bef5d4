/* rigid_pieces.h: the connected pieces of a mesh, each of which is a rigid body (docs/explanation/rigid.md). */
#ifndef TACTUS_SCENE_RIGID_RIGID_PIECES_H
#define TACTUS_SCENE_RIGID_RIGID_PIECES_H

#include <tactus/scene.h>

/* Local. Appends a rigid body with these vertices, which `body` has, to settings->rigid. */
enum tac_err tac_rigid_add(struct tac_ctx *ctx, struct tac_settings *settings, size_t *capacity, tac_lid body,
                           tac_lid begin, tac_lid end);
/* Local. Does so for each connected piece of the mesh of a body, by ascending vertex. The vertices of a piece must
 * follow one another; wrong[0]: -1, or the first vertex of the body that does not follow those of its piece; then
 * wrong[1] is one of that piece, and wrong[2] the first one of another piece between them. */
enum tac_err tac_rigid_add_pieces(struct tac_ctx *ctx, const struct tac_scene *scene, size_t *capacity, tac_lid body,
                                  tac_lid wrong[3]);

#endif
