/* tactus/repair.h: finds a start without overlaps for a scene whose surfaces overlap (docs/how-to/repair.md).
 *
 *     struct tac_repaired done;
 *     TAC_TRY(tac_repair(ctx, "scene.json", "repaired.json", &done));
 *     printf("%g m\n", done.body[0].largest);
 *     tac_repaired_free(&done);
 */
#ifndef TACTUS_REPAIR_H
#define TACTUS_REPAIR_H

#include <tactus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A body that was moved, or that was shrunk meanwhile. */
struct tac_repaired_body {
    char *name;           /* owned */
    tac_lid vertices;     /* of its mesh */
    tac_lid moved;        /* how many of them were moved */
    double largest, mean; /* m: how far; the mean is over all of its vertices */
    bool grown;           /* it was shrunk and has its shape and place again */
};

struct tac_repaired {
    size_t overlaps; /* places in which the scene overlapped */
    bool more;       /* there were more than these */
    tac_lid count;
    struct tac_repaired_body *body; /* owned, (count), in the order of the scene */
};

/* Local; MPI runs. Reads the scene, finds a start without overlaps, and writes the scene to the file `out` with
 * positions of what was moved beside it; then reads that again and looks for overlaps.  TAC_OK: there are none.
 * TAC_ERR_NO: it cannot be repaired; the sentence says why, and nothing is written.  TAC_ERR_INPUT: the scene is
 * wrong. TAC_ERR_RUN: disk or memory. */
enum tac_err tac_repair(struct tac_ctx *ctx, const char *scene, const char *out, struct tac_repaired *repaired);
void tac_repaired_free(struct tac_repaired *repaired);

#ifdef __cplusplus
}
#endif
#endif
