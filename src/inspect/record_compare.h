/* inspect/record_compare.h: compares two records value by value (equality as in tactus/compare.h). */
#ifndef TACTUS_INSPECT_RECORD_COMPARE_H
#define TACTUS_INSPECT_RECORD_COMPARE_H

#include "io/record/record_stored.h"
#include <tactus/compare.h>

enum {
    TAC_RECORD_COUNTS, /* breakpoints of a vertex in an interval */
    TAC_RECORD_TIMES,  /* quanta; of as many breakpoints of a vertex as both have */
    TAC_RECORD_POSITIONS,
    TAC_RECORD_TALLIES
};

/* tally[].column: where the largest difference is. */
struct tac_record_comparison {
    double tolerance; /* of positions; NaN: to the last bit */
    struct tac_tally tally[TAC_RECORD_TALLIES];
    int64_t intervals, only_a, only_b;
    struct tac_record_stored *a, *b; /* owned */
};

/* Local. Compares the intervals that both have.  TAC_ERR_INPUT when they cannot be read, have other numbers of vertices
 * or no interval in common; TAC_OK also when they differ. */
enum tac_err tac_record_compare(struct tac_ctx *ctx, const char *a, const char *b, double tolerance,
                                struct tac_record_comparison *out);
/* Is every value compared equal, and, if `all`, every interval in both? */
bool tac_record_equal(const struct tac_record_comparison *c, bool all);
void tac_record_comparison_close(struct tac_record_comparison *c);

#endif
