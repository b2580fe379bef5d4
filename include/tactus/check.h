/* tactus/check.h: what `tactus check` tells about a scene. */
#ifndef TACTUS_CHECK_H
#define TACTUS_CHECK_H

#include <jansson.h>
#include <tactus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Local, of one rank. Reads the scene that a run would have: that of the source's file, or with `restart` (a
 * checkpoint, or the folder with it) as tac_run() does. *out is owned by the caller. TAC_ERR_INPUT: the scene or the
 * checkpoint is wrong. */
enum tac_err tac_check_read(struct tac_ctx *ctx, const struct tac_scene_source *source, const char *restart,
                            struct tac_scene **out);

/* Local. Describes the scene. Adds keys to the object `report`, and prints the same as text on `text` unless that is
 * NULL. The keys are scene, name, sha256, dimensions, degrees_of_freedom, vertices {all, free, scripted, fixed},
 * triangles, segments, tetrahedra, edges, hinges, time {end, frame, frames, quantum_s}, gravity, contact {thickness,
 * stiffness, restitution, friction, friction_model, laws [{materials, stiffness, restitution, friction}], pairs,
 * ignore; kinetic, of it and of laws, where static friction is more}, integrator {kind, and what the implicit one has},
 * clocks {mode}, discovery {mode}, materials [...], bodies
 * [...], motions [...]. */
enum tac_err tac_check_describe(struct tac_ctx *ctx, const struct tac_scene *scene, json_t *report, FILE *text);

/* Local. Prints what tac_check_describe() has put into a report. path: the name by which the user gave the scene. */
void tac_check_print(FILE *text, const char *path, const json_t *report);

/* Local. Prints ten plain lines from the whole report: what the scene is, what may be wrong with it, which integrator,
 * what a run costs. */
void tac_check_summary(FILE *text, const char *path, const json_t *report, int64_t warnings);

/* Local. Describes what the engine makes of the scene, by the same conventions. The keys are periods [{period, spring,
 * cst, hinge, gravity}], ticks_per_second, layer_stack [{pair, layers, layer_groups}], rest, shake, overlaps.
 * TAC_ERR_INPUT for periods that are too short and for surfaces that overlap at the start, which are written to
 * dir/overlaps.obj unless dir is NULL. */
enum tac_err tac_check_engine(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, json_t *report,
                              FILE *text);

/* Local. Names the pairs of bodies of which no vertex is ever free, so that nothing keeps them apart, and looks at up
 * to 256 instants where scripts take them through each other, by the same conventions: the key `exempt`
 * (docs/explanation/audit.md). Warns of each pair that crosses. */
enum tac_err tac_check_exempt(struct tac_ctx *ctx, const struct tac_scene *scene, json_t *report, FILE *text);

/* A pilot: the scene is run for some seconds in memory, to tell what the whole run costs. Nothing is written. */
struct tac_pilot; /* opaque */

struct tac_pilot_options {
    double seconds;            /* wall time that it may take, > 0; the current pass then ends */
    double until_s;            /* simulated time at which it ends at the latest, s; 0: the scene's end */
    const char *restart;       /* a checkpoint, or the folder with it, to begin at; NULL: it begins at t = 0 */
    bool (*go_on)(void *user); /* asked between two passes, on every rank; false: stop. NULL: no function is called */
    void *user;                /* borrowed */
};

/* Collective; MPI must run (tactus/process.h). Reads the scene (source: as for tac_simulation_create(), and with
 * `restart` as for tac_simulation_restore()) and runs it. *out is the same on all ranks, and owned by the caller.
 * TAC_ERR_INPUT: the scene, the checkpoint or the options are wrong; TAC_ERR_RUN: the run fails, or go_on() has stopped
 * it. */
enum tac_err tac_pilot_run(struct tac_ctx *ctx, const struct tac_scene_source *source,
                           const struct tac_pilot_options *options, struct tac_pilot **out);
/* Local. NULL is allowed; leaves NULL. */
void tac_pilot_destroy(struct tac_pilot **pilot);

/* Local. Tells what a run costs, by the same conventions: the key `forecast` has ticks or steps, memory and disk as
 * they follow from the scene; with a pilot of the scene (else NULL) also wall time, contact, what other values of the
 * dearest keys would save, and what each level of clocks.accuracy would cost (docs/how-to/why-is-it-slow.md). Warns of
 * a run of more than a day. TAC_ERR_RUN out of memory. */
enum tac_err tac_check_forecast(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pilot *pilot,
                                json_t *report, FILE *text);

#ifdef __cplusplus
}
#endif
#endif
