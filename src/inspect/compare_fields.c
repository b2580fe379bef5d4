/* compare_fields.c: compares the fields that the frames of two runs have on request, if both frames have them. */
#include "inspect/compare_parts.h"
#include "io/folder/output.h"
#include <stdlib.h>

static double value_at(const struct tac_field_info *f, const void *data, size_t i)
{
    switch (f->value) {
    case TAC_VALUE_FLOAT:
        return (double)((const float *)data)[i];
    case TAC_VALUE_DOUBLE:
        return ((const double *)data)[i];
    case TAC_VALUE_INT32:
        return ((const int32_t *)data)[i];
    default:
        return (double)((const int64_t *)data)[i];
    }
}

static enum tac_err compare_field(struct tac_ctx *ctx, struct tac_comparison *c, int64_t ka, int64_t kb, int which)
{
    const struct tac_field_info *f = &tac_field_table()[which];
    struct tac_tally *t = &c->tally[TAC_FIELDS];
    void *a = NULL, *b = NULL;
    int64_t rows[2] = {0, 0};
    enum tac_err err;
    TAC_TRY(tac_reader_field(ctx, c->a, ka, which, &a, &rows[0]));
    TAC_TRY(tac_reader_field(ctx, c->b, kb, which, &b, &rows[1]));
    const size_t columns = (size_t)(f->columns > 0 ? f->columns : 1);
    if (rows[0] != rows[1] && tac_tally_count(t, (double)rows[0], (double)rows[1], c->tolerance))
        snprintf(t->column, sizeof t->column, "number of rows of %s, frame %" PRId64, f->name, c->a->frame[ka].index);
    for (size_t i = 0; i < columns * (size_t)rows[0] && rows[0] == rows[1]; i++)
        if (tac_tally_count(t, value_at(f, a, i), value_at(f, b, i), c->tolerance))
            snprintf(t->column, sizeof t->column, "%s[%zu] of frame %" PRId64, f->name, i / columns,
                     c->a->frame[ka].index);
done:
    free(a);
    free(b);
    return err;
}

enum tac_err tac_compare_fields(struct tac_ctx *ctx, struct tac_comparison *c, int64_t ka, int64_t kb, bool looks_back)
{
    const unsigned both = c->a->frame[ka].fields & c->b->frame[kb].fields;
    enum tac_err err = TAC_OK;
    for (int k = 0; k < TAC_DATASETS; k++) {
        /* Which rank owns a vertex is no result. */
        if (!(both >> k & 1) || k == TAC_DATA_RANK || (k == TAC_DATA_PRESSURE && !looks_back))
            continue;
        TAC_TRY(compare_field(ctx, c, ka, kb, k));
    }
done:
    return err;
}
