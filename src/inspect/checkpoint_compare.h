/* inspect/checkpoint_compare.h: compares two checkpoints value by value (equality as in tactus/compare.h).
 *
 * It compares the values that the trajectory and its energy book continue from. Wall time, counters and restarts say
 * how a state was computed, and the residual of the book depends on the number of ranks, so they are not compared. */
#ifndef TACTUS_INSPECT_CHECKPOINT_COMPARE_H
#define TACTUS_INSPECT_CHECKPOINT_COMPARE_H

#include "io/checkpoint/checkpoint.h"
#include <tactus/compare.h>

enum {
    TAC_STATE_TIME,  /* now, and frames so far */
    TAC_STATE_START, /* positions at t = 0 */
    TAC_STATE_MASS,
    TAC_STATE_POSITION, /* at the vertex' own time */
    TAC_STATE_VELOCITY,
    TAC_STATE_CLOCK,   /* the vertex' own time, quanta */
    TAC_STATE_IMPULSE, /* of contact since the last frame */
    TAC_STATE_TOPOLOGY,
    TAC_STATE_MOTION,   /* scripts */
    TAC_STATE_CONTACTS, /* active pairs and their depths; a pair that only one checkpoint has counts as depth 0 in the
                           other */
    TAC_STATE_LAST,     /* distances at the last active ticks; of a layer that is not active: infinity */
    TAC_STATE_ELEMENTS, /* state of elements */
    TAC_STATE_FRICTION, /* of contacts: anchors and ledgers */
    TAC_STATE_SUMS,     /* energy's accumulators */
    TAC_STATE_PAST,     /* further state of an integrator at vertices */
    TAC_STATE_COUNT
};

/* A checkpoint that one rank has read: all rows. */
struct tac_state_file {
    char *path;   /* owned */
    json_t *json; /* owned: the scene */
    struct tac_checkpoint_about about;
    struct tac_checkpoint *state; /* owned */
};

/* tally[].vertex: of the scene, or -1; then tally[].column says where the difference is. */
struct tac_state_comparison {
    double tolerance; /* NaN: to the last bit */
    struct tac_tally tally[TAC_STATE_COUNT];
    struct tac_state_file a, b;
};

/* Local. Reads a checkpoint, or the newest whole one of a folder. */
enum tac_err tac_state_open(struct tac_ctx *ctx, const char *path, struct tac_state_file *file);
void tac_state_close(struct tac_state_file *file);
/* Seconds in a quantum of its scene; NaN if it does not say. */
double tac_state_quantum_s(const struct tac_state_file *file);
/* Local. Returns the body that a vertex belongs to (NULL: not known), and the vertex' number within it. */
const char *tac_state_body(const struct tac_state_file *file, tac_gid vertex, tac_gid *within);

/* Local. Compares the files. TAC_ERR_INPUT if they cannot be read or have different numbers of vertices; TAC_OK also if
 * they differ. */
enum tac_err tac_state_compare(struct tac_ctx *ctx, const char *a, const char *b, double tolerance,
                               struct tac_state_comparison *out);
bool tac_state_equal(const struct tac_state_comparison *c);
void tac_state_comparison_close(struct tac_state_comparison *c);

#endif
