/* ranges.c: lists numbers that ascend, those that follow each other as one range. */
#include "base/ranges.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Appends the range that was added to last to the text. */
static void append_range(struct tac_ranges *r)
{
    char range[64];
    const size_t length = strlen(r->text), most = sizeof r->text - sizeof range - 8;
    if (r->full)
        return;
    if (r->first == r->last)
        snprintf(range, sizeof range, "%" PRId64, r->first);
    else
        snprintf(range, sizeof range, "%" PRId64 "%s%" PRId64, r->first, r->last == r->first + 1 ? ", " : " to ",
                 r->last);
    r->full = length > most;
    snprintf(r->text + length, sizeof r->text - length, "%s%s", length > 0 ? ", " : "", r->full ? "..." : range);
}

void tac_ranges_add(struct tac_ranges *r, int64_t number)
{
    if (r->count > 0 && number != r->last + 1)
        append_range(r);
    if (r->count == 0 || number != r->last + 1)
        r->first = number;
    r->last = number;
    r->count++;
}

const char *tac_ranges_text(struct tac_ranges *r)
{
    if (r->count > 0)
        append_range(r);
    return r->text;
}
