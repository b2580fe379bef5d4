/* graph_rows.c: collects the rows of the graph that is to be cut, and cuts it. */
#include "partition/graph_rows.h"
#include "partition/cut.h"
#include <stdlib.h>

enum tac_err tac_graph_link(struct tac_ctx *ctx, struct tac_graph_rows *rows, tac_lid row, tac_gid neighbor,
                            double weight)
{
    enum tac_err err;
    TAC_TRY(tac_grow(ctx, &rows->link, &rows->capacity, rows->count + 1, sizeof *rows->link));
    rows->link[rows->count++] = (struct tac_graph_link){row, neighbor, weight};
done:
    return err;
}

void tac_graph_rows_free(struct tac_graph_rows *rows)
{
    free(rows->link);
    free(rows->weight);
    free(rows->contact);
    free(rows->found);
}

static int compare_links(const void *a, const void *b)
{
    const struct tac_graph_link *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->neighbor > y->neighbor) - (x->neighbor < y->neighbor);
}

enum tac_err tac_graph_cut_rows(struct tac_ctx *ctx, tac_gid total, tac_lid n, const tac_gid *id,
                                struct tac_graph_rows *rows, const int32_t *present, int32_t *owner, double *balance)
{
    enum tac_err err;
    int64_t *row = NULL;
    tac_gid *neighbor = NULL;
    double *edge = NULL, share;
    size_t m = 0;
    TAC_TRY(tac_alloc(ctx, (size_t)n + 1, sizeof *row, &row));
    TAC_TRY(tac_alloc(ctx, rows->count, sizeof *neighbor, &neighbor));
    TAC_TRY(tac_alloc(ctx, rows->count, sizeof *edge, &edge));
    if (rows->count)
        qsort(rows->link, rows->count, sizeof *rows->link, compare_links);
    for (size_t k = 0; k < rows->count; k++) {
        const struct tac_graph_link *l = &rows->link[k];
        if (k > 0 && l[-1].row == l->row && l[-1].neighbor == l->neighbor) {
            edge[m - 1] += l->weight;
            continue;
        }
        neighbor[m] = l->neighbor;
        edge[m++] = l->weight;
        row[l->row + 1]++;
    }
    for (tac_lid i = 0; i < n; i++)
        row[i + 1] += row[i];
done:
    err = tac_agree(ctx, err);
    if (!err) {
        const struct tac_graph graph = {total, n, id, rows->weight, row, neighbor, edge};
        err = tac_partition_vertices(ctx, &graph, present, 0, owner, &share, balance);
    }
    free(row);
    free(neighbor);
    free(edge);
    return err;
}
