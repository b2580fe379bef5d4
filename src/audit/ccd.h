/* ccd.h: finds whether two primitives, whose vertices move in straight lines, come nearer to each other than a
 * separation.
 *
 * Inclusion-based continuous collision detection (Ferguson 2023, chapter 3; minimum separation: section 3.6): the
 * domain of (t, u, v) is bisected, breadth first, and a box is thrown away when the interval that surely holds the
 * function there misses the ball of the separation.  Bounds on rounding come from the input vertices.  Shares no code
 * with the discovery of contacts; TAC_CCD_FREE is a proof for the queries' own numbers (exact arithmetic on the given
 * doubles).  No state, no allocation beyond the caller's scratch.
 */
#ifndef TACTUS_AUDIT_CCD_H
#define TACTUS_AUDIT_CCD_H

#include <stdbool.h>
#include <stdint.h>
#include <tactus/base.h>

enum tac_ccd_type {
    TAC_CCD_VERTEX_TRIANGLE, /* vertices: p, a, b, c */
    TAC_CCD_EDGE_EDGE,       /* a0, a1, b0, b1 */
    TAC_CCD_VERTEX_EDGE,     /* p, a, b */
    TAC_CCD_VERTEX_VERTEX,   /* p, q */
    TAC_CCD_TYPES
};

enum tac_ccd_answer {
    TAC_CCD_FREE, /* proven: at all times of [0, 1] the distance is greater than the separation */
    TAC_CCD_HIT,  /* proven: at some time it is not */
    TAC_CCD_OPEN  /* neither, within the tolerance and the number of boxes allowed */
};

struct tac_ccd_query {
    enum tac_ccd_type type;
    double x0[4][3], x1[4][3]; /* at t = 0 and t = 1, m; unused rows are not read */
    double separation;         /* >= 0, m; 0: the query is whether they touch */
    double tolerance;          /* > 0, m: boxes that span less than this in space are not bisected further */
    int64_t most_boxes;        /* gives up (OPEN) after so many */
};

struct tac_ccd_result {
    enum tac_ccd_answer answer;
    double t[2];   /* HIT, OPEN: the earliest interval of time in doubt, within [0, 1]; FREE: 0, 1 */
    int64_t boxes; /* looked at */
};

/* Scratch that grows as needed and is kept from query to query; zeroed = empty. */
struct tac_ccd_scratch {
    void *box; /* owned */
    size_t capacity;
};

/* Local. Answers the query. TAC_ERR_RUN: out of memory for work space; *result is not set. A coordinate that is not
 * finite, or a negative separation, gives OPEN at all times. docs/explanation/ccd.md says why an answer is a proof. */
enum tac_err tac_ccd(struct tac_ctx *ctx, const struct tac_ccd_query *query, struct tac_ccd_scratch *scratch,
                     struct tac_ccd_result *result);
void tac_ccd_scratch_free(struct tac_ccd_scratch *scratch);

#endif
