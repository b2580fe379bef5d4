/* sort.c: sorts rows of vertex indices in lexicographic order. */
#include "mesh/sort.h"

#include <stdlib.h>
#include <string.h>

/* Counting sorts by each column, the last first: each is stable, so together they are lexicographic. */
enum tac_err tac_sort_rows(struct tac_ctx *ctx, tac_lid vertex_count, size_t count, int width, const tac_lid *row,
                           tac_lid *order)
{
    enum tac_err err = TAC_OK;
    tac_lid *start = NULL, *from = NULL;
    const size_t n = (size_t)vertex_count, w = (size_t)width;
    TAC_TRY(tac_alloc(ctx, n + 1, sizeof *start, &start));
    TAC_TRY(tac_alloc(ctx, count, sizeof *from, &from));
    for (size_t i = 0; i < count; i++)
        order[i] = (tac_lid)i;
    for (size_t column = w; column-- > 0;) {
        memcpy(from, order, count * sizeof *from);
        memset(start, 0, (n + 1) * sizeof *start);
        for (size_t i = 0; i < count; i++)
            start[row[w * i + column] + 1]++;
        for (size_t v = 0; v < n; v++)
            start[v + 1] += start[v];
        for (size_t i = 0; i < count; i++)
            order[start[row[w * (size_t)from[i] + column]]++] = from[i];
    }
done:
    free(start);
    free(from);
    return err;
}
