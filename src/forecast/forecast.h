/* forecast.h: computes what a run costs, as far as it follows exactly from the scene.
 *
 * Ticks of elastic forces, dampers, loads and gravity follow from the scene: how many there are, over their periods. So
 * do the steps of the implicit integrator, the memory of the scene without contacts, and the size of frames that are
 * not compressed. A pilot (pilot.h) estimates how many contacts there will be and how long the run takes: it runs the
 * scene for some seconds.
 *
 *     struct tac_forecast f;
 *     tac_forecast_make(scene, elastic, &f);
 *     f.elastic              ticks until the scene's end
 */
#ifndef TACTUS_FORECAST_FORECAST_H
#define TACTUS_FORECAST_FORECAST_H

#include "elements/elastic.h"
#include <tactus/check.h>

struct tac_forecast {
    double elastic;       /* ticks of springs, triangles, hinges and elements beyond them, until the scene's end */
    double other;         /* ticks of gravity, dampers and loads */
    double vertex;        /* instants of all vertices: how often elastic forces and gravity rewrite one */
    double steps;         /* of the implicit integrator, which has no ticks */
    double free;          /* vertices that can move at some time */
    double memory;        /* bytes of one process that has the whole scene, without contacts */
    double output_memory; /* of them: what HDF5 keeps of the frames that it has written */
    double frame_count;   /* frames until the end */
    double frames;        /* bytes of frames and rows on the disk if nothing could be compressed */
    double frames_packed; /* part of frames' bytes that are compressed */
    double checkpoint;    /* bytes of one checkpoint without contacts */
    double checkpoints;   /* so many are kept at most */
    double record;        /* bytes that --record adds on the disk, without breakpoints of contact */
};

/* Bytes on the disk of a breakpoint in a record, and of an iterate of an implicit step, for each vertex. */
#define TAC_FORECAST_BREAKPOINT 10.
#define TAC_FORECAST_ITERATE 23.
/* Bytes of a contact in a checkpoint. */
#define TAC_FORECAST_CHECKPOINT_CONTACT 60.

/* Local. elastic: the scene's elements (NULL for the implicit integrator). */
void tac_forecast_make(const struct tac_scene *scene, const struct tac_elastic *elastic, struct tac_forecast *out);
/* Local. Fills elastic, other and vertex of a forecast from such elements. */
void tac_forecast_ticks(const struct tac_elastic *elastic, double end_s, struct tac_forecast *out);

/* A number of bytes or seconds in a unit that people read. */
struct tac_amount {
    char text[48];
};
/* Local. */
struct tac_amount tac_show_seconds(double s);
struct tac_amount tac_show_bytes(double bytes);
/* Local. The friction of a contact law of the report, in words. */
void tac_check_friction(const json_t *law, char text[64]);

#endif
