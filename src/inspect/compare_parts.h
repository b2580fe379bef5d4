/* compare_parts.h: declares the parts of tac_compare() (tactus/compare.h), one file each. */
#ifndef TACTUS_INSPECT_COMPARE_PARTS_H
#define TACTUS_INSPECT_COMPARE_PARTS_H

#include <tactus/compare.h>

/* Local. Compares reactions.csv, histories.csv and steps.csv of two run folders, each where both have it.
 * TAC_ERR_INPUT: one is no such table. */
enum tac_err tac_compare_lines(struct tac_ctx *ctx, struct tac_comparison *c);

#endif
