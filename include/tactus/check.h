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
 * triangles, segments, tetrahedra, edges, hinges, time {end, frame, frames, quantum_s}, gravity, contact {thickness,
 * stiffness, restitution, friction, friction_model, laws [{materials, stiffness, restitution, friction}], pairs,
 * ignore}, integrator {kind, and what the implicit one has}, clocks {mode}, discovery {mode}, materials [...], bodies
 * [...], motions [...]. */
enum tac_err tac_check_describe(struct tac_ctx *ctx, const struct tac_scene *scene, json_t *report, FILE *text);

/* Local. Prints what tac_check_describe() has put into a report. path: the name by which the user gave the scene. */
void tac_check_print(FILE *text, const char *path, const json_t *report);

/* Local. Prints ten plain lines from the whole report: what the scene is, what may be wrong with it, which integrator,
 * what a run costs. */
void tac_check_summary(FILE *text, const char *path, const json_t *report, int64_t warnings);

/* Local. Describes what the engine makes of the scene, by the same conventions. The keys are periods [{period, spring,
 * cst, hinge, gravity}], ticks_per_second, layer stack [{pair, layers, layer groups}], bounce and defect
 * (docs/reference/energy-estimate.md), rest, overlaps. TAC_ERR_INPUT for periods that are too short and for surfaces
 * that overlap at the start, which are written to dir/overlaps.obj unless dir is NULL. */
enum tac_err tac_check_engine(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, json_t *report,
                              FILE *text);

/* Local. Names the pairs of bodies of which no vertex is ever free, so that nothing keeps them apart, and looks at up
 * to 256 instants where scripts take them through each other, by the same conventions: the key `exempt`
 * (docs/explanation/audit.md). Warns of each pair that crosses. */
enum tac_err tac_check_exempt(struct tac_ctx *ctx, const struct tac_scene *scene, json_t *report, FILE *text);

/* What a tick takes on one core, the work around it (windows, discovery) included: ns. */
struct tac_speed {
    double elastic_ns; /* of an elastic force, gravity, a damper or a load */
    double contact_ns; /* of a layer group */
    bool measured;     /* on this machine; else that of tac_speed_usual() */
};

/* Local. Returns the speed of the machine that docs/how-to/why-is-it-slow.md was measured on. */
struct tac_speed tac_speed_usual(void);

/* Is the speed of this machine measured?  That takes up to a second. */
enum tac_calibration {
    TAC_CALIBRATE_LONG, /* for runs that take TAC_LONG_S or more at the usual speed */
    TAC_CALIBRATE_ALWAYS,
    TAC_CALIBRATE_NEVER
};
#define TAC_LONG_S 100.

/* Local. Forecasts what a run costs, by the same conventions: the key `forecast` has ticks, wall time, memory, disk,
 * what other values of the dearest keys would save, and what each level of clocks.accuracy would cost and lose
 * (docs/how-to/why-is-it-slow.md).  Warns of a run of more than a day.  TAC_ERR_RUN out of memory. */
enum tac_err tac_check_forecast(struct tac_ctx *ctx, const struct tac_scene *scene, enum tac_calibration when,
                                json_t *report, FILE *text);

#ifdef __cplusplus
}
#endif
#endif
