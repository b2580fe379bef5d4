/* repair_room.h: finds positions without overlaps for a scene whose surfaces overlap at the start
 * (docs/how-to/repair.md).
 *
 * Two ways, from the gentle to the rough one.  Pushing moves the vertices of what overlaps apart, along normals, a
 * little at a time (push.c).  Growing shrinks closed obstacles until nothing crosses them, and lets them grow back to
 * their shape in a short simulation, in which what can deform gives way (shrink.c, grow.c).  The result is proven by
 * the check that refuses a scene (overlap.h), of the files as they lie on the disk.
 */
#ifndef TACTUS_REPAIR_REPAIR_ROOM_H
#define TACTUS_REPAIR_REPAIR_ROOM_H

#include "overlap/overlap.h"
#include <jansson.h>
#include <tactus/base.h>
#include <tactus/scene.h>

enum { TAC_REPAIR_WHY = 640 };

struct tac_repair {
    struct tac_ctx *ctx;     /* borrowed */
    struct tac_scene *scene; /* owned; mesh->x: the positions that have been found so far */
    double *placed;          /* owned, (V, 3), m: where the scene starts */
    uint8_t *yields; /* owned, (V): the vertex may be moved: it is free, of no rigid body, and no motion has it */
    uint8_t *loose;  /* owned, (bodies): some vertex of the body may be moved */
    uint8_t *closed; /* owned, (bodies): its triangles enclose a volume */
    uint8_t *shrunk; /* owned, (bodies): has been shrunk, and must grow again */
    double *small;   /* owned, (V, 3), m: where the vertices of shrunk bodies are */
    size_t before;   /* places where the scene overlaps at the start */
    bool more;       /* there are more than that */
    char why[TAC_REPAIR_WHY]; /* what cannot be repaired; one sentence, or empty */
};

/* Local. Writes the scene with the positions, and their files beside it; then reads them again and checks them.
 * TAC_ERR_RUN: the disk failed. `why` is set, and nothing is left, if the check finds overlaps. */
enum tac_err tac_repair_write(struct tac_repair *repair, const char *scene, const char *path);

/* Local. How far the vertices of a body were moved: largest and mean distance, m; returns how many moved. */
tac_lid tac_repair_moved(const struct tac_repair *repair, tac_lid body, double *largest, double *mean);

/* The parts. push.c: *done: nothing overlaps any more; else the positions are as before. */
enum tac_err tac_repair_push(struct tac_repair *repair, bool *done);
/* shrink.c: shrinks what is closed, until no overlap is left that has such a body in it; false: `why` says what. */
enum tac_err tac_repair_shrink(struct tac_repair *repair, const struct tac_overlaps *overlaps, bool *done);
/* grow.c: lets what was shrunk grow again. */
enum tac_err tac_repair_grow(struct tac_repair *repair, const char *folder);
/* repair.c: finds the overlaps of the present positions. */
enum tac_err tac_repair_look(struct tac_repair *repair, struct tac_overlaps **out);

#endif
