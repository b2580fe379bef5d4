/* forecast.h: what will a run cost: ticks, time, memory, disk?
 *
 * Ticks of elastic forces, dampers, loads and gravity follow from the scene: how many there are, over their periods.
 * Those of contact do not, because nobody knows beforehand what comes to touch what.  The forecast counts layer groups
 * that are watched, and takes
 *
 *     when     a body falls onto what is under it, which takes as long as defect.c says; scripts, loads and start
 *              velocities make bodies meet from the start
 *     stand    a closed shell, or a sheet stiff enough to stand: WATCHED_STANDING layer groups, whatever its vertices
 *     drape    other sheets: as the root of the load, which is a vertex' weight over the full push of the first layer,
 *              for what is light trembles and touches now and then; where there is no gravity, as the root of what
 *              inertia presses, density times the square of the speed at which things meet
 *     rope     ropes, which fold: WATCHED_ROPE; particles: WATCHED_GRAIN
 *     lie      a flat sheet that begins within three thicknesses of what is under it: its vertices over the other's
 *              triangles, the other's under its own, and the edges that cross (2/pi of the product of their lengths per
 *              area, Buffon); of them a part that grows with the load
 *     mesh     in a mesh whose edges are shorter than the thickness: the pairs of each vertex within the thickness
 *     limit    WATCHED_LIMIT per edge that has a limit of stretch
 *
 * each ticking with the period of its first layer; where weight presses layers deeper than the second (rest.h), those
 * of that body with the periods of all layers down to there.  The numbers were found in runs; the result is meant to be
 * right within TAC_FORECAST_WITHIN (jobs/experiments/speed/forecast.py).  It is not the cost of deep impacts, of which
 * a scene may have more.
 *
 *     struct tac_forecast f;
 *     TAC_TRY(tac_forecast_make(ctx, scene, elastic, &speed, &f));
 *     f.wall_s               seconds on one rank
 */
#ifndef TACTUS_CHECK_FORECAST_H
#define TACTUS_CHECK_FORECAST_H

#include "contact/model.h"
#include "elements/elastic.h"
#include <tactus/check.h>

/* Factors within which ticks of contact, memory and disk were right (jobs/experiments/speed/forecast.py). */
#define TAC_FORECAST_WITHIN 5.
#define TAC_FORECAST_MEMORY_WITHIN 2.
#define TAC_FORECAST_DISK_WITHIN 5.
/* The same of Newton iterations and processor seconds of implicit steps. */
#define TAC_FORECAST_NEWTON_WITHIN 5.

struct tac_forecast {
    double elastic;       /* ticks of springs, triangles, hinges and elements beyond them, until scene->t_end */
    double other;         /* ticks of gravity, dampers and loads */
    double contact;       /* ticks of layer groups, of limits too */
    double vertex;        /* instants of all vertices: how often elastic forces and gravity rewrite one */
    double pairs;         /* layer groups that are watched at a time, when all have met */
    double near;          /* pairs that are near all the time: of meshes with themselves within the thickness, of sheets
                             that lie on others; about */
    double steps, newton; /* of the implicit integrator, which has no ticks: Newton iterations of a step */
    double wall_s;        /* on one rank */
    double memory;        /* bytes, of one process, without a record */
    double memory_record; /* bytes that a record adds; of implicit steps, else 0 */
    double frames, checkpoints, record; /* bytes on the disk: with output as the scene has it; record: with --record */
};

/* Local. Of a scene that is whole here, with its elements. TAC_ERR_INPUT: its periods are too short. */
enum tac_err tac_forecast_make(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                               const struct tac_speed *speed, struct tac_forecast *out);

/* Local. The same of a scene for the implicit integrator. */
void tac_forecast_steps(const struct tac_scene *scene, struct tac_forecast *out);
/* Local. Fills frames and checkpoints of a forecast that has wall_s and pairs. */
void tac_forecast_disk(const struct tac_scene *scene, struct tac_forecast *out);

/* Local. Measures this machine; calibrate.c.  The engine's kernels on the scene's own forces, always the same work,
 * about a second of processor time.  TAC_ERR_RUN out of memory. */
enum tac_err tac_forecast_calibrate(struct tac_ctx *ctx, const struct tac_scene *scene,
                                    const struct tac_elastic *elastic, struct tac_speed *speed);

/* Local. Fills contact, pairs and near of a forecast that is 0 there; forecast_contact.c. */
enum tac_err tac_forecast_contact(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                                  const struct tac_model *model, struct tac_forecast *out);

/* A number of bytes or seconds in a unit that people read. */
struct tac_amount {
    char text[48];
};
/* Local. */
struct tac_amount tac_show_seconds(double s);
struct tac_amount tac_show_bytes(double bytes);

#endif
