/* record.h5 of a run, as `audit` reads it: which intervals there are, and every breakpoint of each. */
#include "fuzz.h"

#include <stdlib.h>

#include "io/record/record_read.h"

enum { VERTICES = 9 }; /* of the seeds' scene */

void fuzz_begin(void)
{
}

struct walk {
    int64_t rows, vertices;
    tac_lid vertex;
};

static enum tac_err visit(void *user, const struct tac_recorded_row *row)
{
    struct walk *w = user;
    fuzz_must(row->vertex >= 0 && row->vertex < VERTICES && row->vertex >= w->vertex, "rows go through the vertices");
    w->rows++;
    w->vertices += row->first;
    w->vertex = row->vertex;
    return TAC_OK;
}

static enum tac_err read_group(struct tac_ctx *ctx, struct tac_recorded *r, int64_t g)
{
    enum tac_err err;
    int64_t start[VERTICES + 1];
    struct walk w = {0};
    TAC_TRY(tac_recorded_starts(ctx, r, g, start));
    fuzz_must(start[0] == 0 && start[VERTICES] == r->group[g].rows, "starts go from 0 to the rows");
    for (int i = 0; i < VERTICES; i++)
        fuzz_must(start[i + 1] >= start[i] + 2, "each vertex has two breakpoints or more");
    TAC_TRY(tac_recorded_stream(ctx, r, g, start, visit, &w));
    fuzz_must(w.rows == r->group[g].rows && w.vertices == VERTICES, "all rows come");
done:
    return err;
}

enum tac_err fuzz_read(struct tac_ctx *ctx, const uint8_t *data, size_t size)
{
    enum tac_err err;
    struct tac_recorded *r = NULL;
    fuzz_put("record.h5", data, size);
    TAC_TRY(tac_recorded_open(ctx, fuzz_path("."), VERTICES, &r));
    for (int64_t g = 0; g < r->group_count; g++)
        TAC_TRY(read_group(ctx, r, g));
done:
    tac_recorded_close(&r);
    return err;
}
