/* tactus/compare.h: compares two runs, value by value.
 *
 * Without a tolerance two values are equal when their bits are, or both are NaN; so -0 differs from +0.  With a
 * tolerance they are equal when they differ by at most that much (0 and -0 count as equal), or when both are NaN or the
 * same infinity. */
#ifndef TACTUS_COMPARE_H
#define TACTUS_COMPARE_H

#include <tactus/base.h>

#include <tactus/reader.h>
#include <tactus/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of the comparison for one kind of value. */
struct tac_tally {
    const char *name;
    int64_t compared, differing;
    /* Where the largest difference is, if any differs; infinite where one side alone is NaN or an infinity. */
    double largest, a, b;
    double time_s;
    int64_t frame;   /* index; -1: none */
    tac_lid vertex;  /* -1: none */
    int component;   /* 0 .. 2 */
    char column[64]; /* of a table; of fields on request: which, where */
};

enum {
    TAC_POSITION,
    TAC_VELOCITY,
    TAC_CONTACT_FORCE,
    TAC_TOPOLOGY,
    TAC_ENERGY,
    TAC_FIELDS,
    TAC_REACTIONS,
    TAC_HISTORIES,
    TAC_STEPS,
    TAC_TALLY_COUNT
};

struct tac_comparison {
    double tolerance; /* NaN: to the last bit */
    struct tac_tally tally[TAC_TALLY_COUNT];
    int64_t frames_compared, frames_only_a, frames_only_b;
    double first_only_a_s, first_only_b_s; /* times */
    bool has_energy;
    int64_t rows_compared, rows_only_a, rows_only_b;
    int columns_only_a, columns_only_b;
    bool has_lines[TAC_TALLY_COUNT - TAC_REACTIONS]; /* both have reactions.csv, histories.csv, steps.csv */
    int64_t lines_only_a, lines_only_b;              /* rows of these tables that only a has; that only b has */
    struct tac_reader *a, *b;                        /* owned; with their meshes */
};

/* Counts one pair of values. Returns true if their difference is the largest so far; the caller then notes where it is.
 */
bool tac_tally_count(struct tac_tally *t, double a, double b, double tolerance);

/* Local. Compares the runs or frames files a and b.  TAC_ERR_INPUT when they cannot be read or compared (other numbers
 * of vertices, no time in common); TAC_OK also when they differ. */
enum tac_err tac_compare(struct tac_ctx *ctx, const char *a, const char *b, double tolerance,
                         struct tac_comparison *out);
/* Returns whether all values that were compared are equal and, if all_frames, whether both runs have the same
 * frame times and rows. */
bool tac_comparison_equal(const struct tac_comparison *c, bool all_frames);
void tac_comparison_close(struct tac_comparison *c);

#ifdef __cplusplus
}
#endif
#endif
