/* energy.csv of a run. */
#include "fuzz.h"

#include <math.h>

#include <tactus/table.h>

void fuzz_begin(void)
{
}

enum tac_err fuzz_read(struct tac_ctx *ctx, const uint8_t *data, size_t size)
{
    struct tac_table *t = NULL;
    const enum tac_err err = tac_table_read(ctx, fuzz_put("energy.csv", data, size), &t);
    if (err == TAC_OK) {
        fuzz_must(t->column_count > 0 && tac_table_column(t, "time") == 0, "a table begins with time");
        for (int64_t k = 0; k < t->row_count; k++) {
            const double now = t->value[k * t->column_count];
            fuzz_must(isfinite(now) && (k == 0 || now > t->value[(k - 1) * t->column_count]), "times ascend");
        }
    }
    tac_table_destroy(&t);
    return err;
}
