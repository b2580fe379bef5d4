/* scripts.h: vertices that move as the scene prescribes. */
#ifndef TACTUS_STATE_SCRIPTS_H
#define TACTUS_STATE_SCRIPTS_H

#include "base/state.h"
#include <stdbool.h>
#include <stddef.h>
#include <tactus/scene.h>

/* A vertex that is scripted at some time. */
struct tac_script {
    tac_lid vertex;
    tac_lid motion;
    int32_t row;                    /* its place among the motion's vertices */
    int32_t knot_begin, knot_count; /* its knots in tac_scripts.knot */
    int32_t next;                   /* first knot not yet passed */
    bool on;                        /* scripted now */
    double origin[3];               /* where it was when the script began, m */
    double x[3], v[3];              /* line of the current piece, from t */
    tac_time t;
    bool caught;      /* was free before its first knot, and moved with v_free */
    double v_free[3]; /* m/s */
};

/* Knots of all motions, rotations cut to pieces of at most one degree; the same for all vertices of a motion.  Of a
 * motion by a file only the time is here. */
struct tac_knot {
    tac_time t;
    double shift[3]; /* path: displacement, m */
    double turn;     /* rotation, degrees */
};

/* The scripts of a rank's vertices. */
struct tac_scripts {
    int32_t *of; /* owned, (V): script or -1 */
    size_t count;
    struct tac_script *script; /* owned */
    size_t knot_count;
    struct tac_knot *knot;       /* owned */
    tac_time next_knot;          /* first time at which some script of the scene changes */
    int32_t *motion_knot;        /* owned, (motions + 1): each motion's first knot in `knot` */
    struct tac_knot_rows **rows; /* owned, (motions): of a motion by a file its vertices' positions; else NULL */
};

/* ---- motion_rows.c: the files that give the positions of motions ---- */

/* Local. Makes *rows (motions): of a motion by a file the rows of its vertices in scene->mesh->moved, in their order;
 * NULL for the others. ahead_s: knots within this time are needed together, s. After a failure *rows must be destroyed,
 * too. */
enum tac_err tac_motion_rows_make(struct tac_ctx *ctx, const struct tac_scene *scene, double ahead_s,
                                  struct tac_knot_rows ***rows);
/* Local. *rows may be NULL; leaves NULL. */
void tac_motion_rows_destroy(const struct tac_scene *scene, struct tac_knot_rows ***rows);
/* Local. Returns the error of a file that could not be read; its vertices are where they started then. */
enum tac_err tac_motion_rows_error(const struct tac_scene *scene, struct tac_knot_rows *const *rows);
/* Collective. Does the same of all ranks; they do not speak where no motion has a file. */
enum tac_err tac_motion_rows_agree(struct tac_ctx *ctx, const struct tac_scene *scene,
                                   struct tac_knot_rows *const *rows);
/* Local. Returns whether the motion holds its vertices at t. */
bool tac_motion_holds(const struct tac_scene *scene, const struct tac_motion *motion, tac_time t);

#endif
