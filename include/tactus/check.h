/* tactus/check.h: what `tactus check` tells about a scene. */
#ifndef TACTUS_CHECK_H
#define TACTUS_CHECK_H

#include <jansson.h>
#include <tactus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Local. Describes the scene. Adds keys to the object `report`, and prints the same as text on `text` unless that is
 * NULL. The keys are scene, name, sha256, dimensions, degrees_of_freedom, vertices {all, free, scripted, fixed},
 * triangles, segments, edges, hinges, time {end, frame, frames, quantum_s}, gravity, contact {thickness, stiffness,
 * restitution, friction, friction_model, laws [{materials, stiffness, restitution, friction}], pairs, ignore}, clocks
 * {mode}, discovery {mode}, materials [...], bodies [...], motions [...]. */
enum tac_err tac_check_describe(struct tac_ctx *ctx, const struct tac_scene *scene, json_t *report, FILE *text);

/* Local. Prints what tac_check_describe() has put into a report. path: the name by which the user gave the scene. */
void tac_check_print(FILE *text, const char *path, const json_t *report);

/* Local. Describes what the engine makes of the scene, by the same conventions. The keys are periods [{period, spring,
 * cst, hinge, gravity}], ticks_per_second, layer stack [{pair, layers, layer groups}], bounce and defect
 * (docs/energy.md), rest, overlaps. TAC_ERR_INPUT for periods that are too short and for surfaces that overlap at the
 * start, which are written to dir/overlaps.obj unless dir is NULL. */
enum tac_err tac_check_engine(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, json_t *report,
                              FILE *text);

#ifdef __cplusplus
}
#endif
#endif
