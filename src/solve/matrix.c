/* matrix.c: makes the structure of a matrix that is a sum over stencils, and adds the stencils. */
#include "solve/matrix.h"
#include "base/compare.h"
#include <stdlib.h>
#include <string.h>

struct tac_matrix_list {
    size_t count;
    int nodes;
    /* owned, (count, nodes, nodes): which block of the matrix takes block (a, b) of the stencil; -1: its row is not
     * ours. Bit 30 of (a, b), b > a, marks two nodes that are the same one. */
    int32_t *slot;
};

enum { SAME = 1 << 30 };

/* Lists of the stencils at each own node. */
struct incidence {
    size_t *from;  /* owned, (owned + 1) */
    size_t *which; /* owned: number of the stencil within its list, times TAC_STENCIL_NODES, plus the node's place */
    int *list;     /* owned: its list */
};

static enum tac_err incidence_make(struct tac_ctx *ctx, tac_lid owned, int list_count,
                                   const struct tac_stencil_list *list, struct incidence *out)
{
    enum tac_err err;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)owned + 2, sizeof *out->from, &out->from));
    size_t *next = out->from + 1; /* is from[0 ..] after the lists have been filled */
    for (int l = 0; l < list_count; l++)
        for (size_t k = 0; k < list[l].count * (size_t)list[l].nodes; k++)
            if (list[l].node[k] < owned)
                next[list[l].node[k] + 1]++;
    for (tac_lid i = 0; i < owned; i++)
        next[i + 1] += next[i];
    TAC_TRY(tac_alloc_brief(ctx, next[owned], sizeof *out->which, &out->which));
    TAC_TRY(tac_alloc_brief(ctx, next[owned], sizeof *out->list, &out->list));
    for (int l = 0; l < list_count; l++)
        for (size_t e = 0; e < list[l].count; e++)
            for (int a = 0; a < list[l].nodes; a++) {
                const tac_lid i = list[l].node[e * (size_t)list[l].nodes + (size_t)a];
                if (i < owned) {
                    const size_t place = next[i]++;
                    out->which[place] = e * TAC_STENCIL_NODES + (size_t)a;
                    out->list[place] = l;
                }
            }
done:
    return err;
}

struct named {
    tac_gid id;
    tac_lid node;
};

struct making {
    const struct tac_nodes *nodes;
    const struct tac_stencil_list *list;
    struct incidence at;
    tac_lid *seen;       /* owned, (count): the last row that had this column, plus 1 */
    int32_t *place;      /* owned, (count): the block of the present row at this column */
    struct named *found; /* owned */
    size_t found_capacity;
    size_t column_capacity;
};

/* Makes row i: its columns, and the places of its stencils' blocks. */
static enum tac_err make_row(struct tac_ctx *ctx, struct making *m, tac_lid i, struct tac_matrix *matrix)
{
    enum tac_err err;
    size_t n = 1, begin = matrix->row[i];
    TAC_TRY(tac_grow(ctx, &m->found, &m->found_capacity, n, sizeof *m->found));
    m->found[0] = (struct named){m->nodes->id[i], i};
    m->seen[i] = i + 1;
    for (size_t k = m->at.from[i]; k < m->at.from[i + 1]; k++) {
        const struct tac_stencil_list *s = &m->list[m->at.list[k]];
        const tac_lid *node = s->node + m->at.which[k] / TAC_STENCIL_NODES * (size_t)s->nodes;
        TAC_TRY(tac_grow(ctx, &m->found, &m->found_capacity, n + (size_t)s->nodes, sizeof *m->found));
        for (int b = 0; b < s->nodes; b++)
            if (m->seen[node[b]] != i + 1) {
                m->seen[node[b]] = i + 1;
                m->found[n++] = (struct named){m->nodes->id[node[b]], node[b]};
            }
    }
    if (begin + n >= SAME) {
        err = tac_fail(ctx, TAC_ERR_RUN, "the matrix has more than %d blocks on one rank; take more ranks", SAME);
        goto done;
    }
    qsort(m->found, n, sizeof *m->found, tac_compare_int64);
    TAC_TRY(tac_grow(ctx, &matrix->column, &m->column_capacity, begin + n, sizeof *matrix->column));
    for (size_t k = 0; k < n; k++) {
        matrix->column[begin + k] = m->found[k].node;
        m->place[m->found[k].node] = (int32_t)(begin + k);
    }
    matrix->row[i + 1] = begin + n;
    for (size_t k = m->at.from[i]; k < m->at.from[i + 1]; k++) {
        const int l = m->at.list[k], nodes = m->list[l].nodes;
        const size_t e = m->at.which[k] / TAC_STENCIL_NODES, a = m->at.which[k] % TAC_STENCIL_NODES;
        const tac_lid *node = m->list[l].node + e * (size_t)nodes;
        int32_t *slot = matrix->list[l].slot + (e * (size_t)nodes + a) * (size_t)nodes;
        for (int b = 0; b < nodes; b++)
            slot[b] = m->place[node[b]] | (b > (int)a && node[b] == i ? SAME : 0);
    }
done:
    return err;
}

enum tac_err tac_matrix_create(struct tac_ctx *ctx, const struct tac_nodes *nodes, int list_count,
                               const struct tac_stencil_list *list, struct tac_matrix **out)
{
    enum tac_err err;
    struct tac_matrix *matrix = NULL;
    struct making m = {.nodes = nodes, .list = list};
    TAC_TRY(tac_alloc_brief(ctx, 1, sizeof *matrix, &matrix));
    matrix->count = nodes->count;
    matrix->owned = nodes->owned;
    matrix->list_count = list_count;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->owned + 1, sizeof *matrix->row, &matrix->row));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)list_count, sizeof *matrix->list, &matrix->list));
    for (int l = 0; l < list_count; l++) {
        const size_t slots = list[l].count * (size_t)(list[l].nodes * list[l].nodes);
        TAC_CHECK(list[l].nodes >= 1 && list[l].nodes <= TAC_STENCIL_NODES);
        matrix->list[l].count = list[l].count;
        matrix->list[l].nodes = list[l].nodes;
        TAC_TRY(tac_alloc_brief(ctx, slots, sizeof *matrix->list[l].slot, &matrix->list[l].slot));
        memset(matrix->list[l].slot, 0xff, slots * sizeof *matrix->list[l].slot);
    }
    TAC_TRY(incidence_make(ctx, nodes->owned, list_count, list, &m.at));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *m.seen, &m.seen));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *m.place, &m.place));
    for (tac_lid i = 0; i < nodes->owned; i++)
        TAC_TRY(make_row(ctx, &m, i, matrix));
    TAC_TRY(tac_alloc_brief(ctx, 9 * matrix->row[nodes->owned], sizeof *matrix->block, &matrix->block));
done:
    free(m.at.from);
    free(m.at.which);
    free(m.at.list);
    free(m.seen);
    free(m.place);
    free(m.found);
    if (err)
        tac_matrix_destroy(&matrix);
    *out = matrix;
    return err;
}

void tac_matrix_destroy(struct tac_matrix **matrix)
{
    if (*matrix == NULL)
        return;
    for (int l = 0; l < (*matrix)->list_count && (*matrix)->list; l++)
        free((*matrix)->list[l].slot);
    free((*matrix)->list);
    free((*matrix)->row);
    free((*matrix)->column);
    free((*matrix)->block);
    free(*matrix);
    *matrix = NULL;
}

void tac_matrix_clear(struct tac_matrix *matrix)
{
    memset(matrix->block, 0, 9 * matrix->row[matrix->owned] * sizeof *matrix->block);
}

void tac_matrix_add(struct tac_matrix *matrix, int l, size_t e, const double *dense)
{
    const int n = matrix->list[l].nodes;
    const int32_t *slot = matrix->list[l].slot + e * (size_t)(n * n);
    for (int a = 0; a < n; a++)
        for (int b = a; b < n; b++) {
            const int32_t ab = slot[a * n + b], ba = slot[b * n + a];
            const double *from = dense + (3 * a) * (3 * n) + 3 * b;
            double part[9]; /* block (a, b); of equal nodes both halves at once, so that the sum is symmetric */
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++)
                    part[3 * c + d] = a == b && d < c ? from[d * 3 * n + c] : from[c * 3 * n + d];
            if (ab >= 0 && (ab & SAME)) {
                double *to = matrix->block + 9 * (size_t)(ab & ~SAME);
                for (int c = 0; c < 3; c++)
                    for (int d = 0; d < 3; d++)
                        to[3 * c + d] += part[3 * c + d] + part[3 * d + c];
                continue;
            }
            if (ab >= 0) {
                double *to = matrix->block + 9 * (size_t)ab;
                for (int c = 0; c < 9; c++)
                    to[c] += part[c];
            }
            if (ba >= 0 && a != b) {
                double *to = matrix->block + 9 * (size_t)ba;
                for (int c = 0; c < 3; c++)
                    for (int d = 0; d < 3; d++)
                        to[3 * c + d] += part[3 * d + c];
            }
        }
}

void tac_matrix_multiply(const struct tac_matrix *matrix, const double *x, double *y)
{
    for (tac_lid i = 0; i < matrix->owned; i++) {
        double sum[3] = {0, 0, 0};
        for (size_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
            const double *a = matrix->block + 9 * k, *v = x + 3 * (size_t)matrix->column[k];
            for (int c = 0; c < 3; c++)
                sum[c] += a[3 * c] * v[0] + a[3 * c + 1] * v[1] + a[3 * c + 2] * v[2];
        }
        for (int c = 0; c < 3; c++)
            y[3 * (size_t)i + (size_t)c] = sum[c];
    }
}
