/* base/ranges.h: writes ascending numbers for a sentence: "3, 7 to 9, 12". */
#ifndef TACTUS_BASE_RANGES_H
#define TACTUS_BASE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* Zero: no numbers. */
struct tac_ranges {
    int64_t count;       /* how many numbers */
    int64_t first, last; /* the range that was added to last */
    char text[400];      /* the ranges before it; ends with "..." if there are too many */
    bool full;
};

/* Local. Adds a number, greater than those before. */
void tac_ranges_add(struct tac_ranges *r, int64_t number);
/* Local. Returns the text, a view.  Call it once, after the last number. */
const char *tac_ranges_text(struct tac_ranges *r);

#endif
