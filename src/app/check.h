/* check.h: what `tactus check` tells about a scene. */
#ifndef TACTUS_CHECK_H
#define TACTUS_CHECK_H

#include <jansson.h>
#include <tactus/scene.h>

/* Local. Describes the scene: into `report` (an object: keys are added) and, unless NULL, as text on `text`. Keys:
 * scene, name, sha256, dimensions, degrees_of_freedom, vertices {all, free, scripted, fixed}, triangles, segments,
 * edges, hinges, time {end, frame, frames, quantum_s}, gravity, contact {thickness, stiffness, restitution, friction,
 * pairs, ignore}, clocks {mode}, discovery {mode}, materials [...], bodies [...], motions [...]. */
enum tac_err tac_check_describe(struct tac_ctx *ctx, const struct tac_scene *scene, json_t *report, FILE *text);

#endif
