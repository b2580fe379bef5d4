/* tactus/table.h: reads an energy.csv. */
#ifndef TACTUS_TABLE_H
#define TACTUS_TABLE_H

#include <tactus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tac_table {
    int column_count;
    char **column; /* owned, (column_count), owned names; the first is "time" */
    int64_t row_count;
    double *value; /* owned, (row_count, column_count); times ascend */
};

/* Local. Reads a table. A last line without its end is left out: the run was stopped while it wrote that line.
 * TAC_ERR_INPUT, with the number of the line: it is no table of numbers. */
enum tac_err tac_table_read(struct tac_ctx *ctx, const char *path, struct tac_table **out);
/* Local. Returns the place of the column of that name, or -1. */
int tac_table_column(const struct tac_table *t, const char *name);
void tac_table_destroy(struct tac_table **t);

#ifdef __cplusplus
}
#endif
#endif
