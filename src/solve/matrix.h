/* matrix.h: declares a symmetric matrix of 3x3 blocks over nodes, and its assembly from stencils without messages.
 *
 * A rank holds the rows of the nodes that it owns.  The matrix is a sum of small dense matrices, each over the nodes of
 * one stencil (an element, a pair, the mass of a node).  Every rank evaluates all stencils that have a node of its own.
 * So several ranks evaluate those at the border, and no message is needed.  Contributions are added to each entry in
 * the order of the lists, and within a list in the order of its stencils.  If these orders follow from the scene
 * (ascending force keys), then so do the bits of every row, for any distribution of the nodes.  Only the upper half of
 * a dense matrix is read, so the sum is symmetric to the last bit.
 *
 *     struct tac_stencil_list list[2] = {{tets, 4, tet}, {pairs, 4, pair}};
 *     TAC_TRY(tac_matrix_create(ctx, &nodes, 2, list, &matrix));      the structure
 *     for (int l = 0; l < 2; l++)
 *         for (size_t e = 0; e < list[l].count; e++)
 *             tac_matrix_add(matrix, l, e, dense);                    (12, 12), row by row
 *     tac_matrix_clear(matrix);                                       zero again: other values, same structure
 *     tac_matrix_destroy(&matrix);
 */
#ifndef TACTUS_SOLVE_MATRIX_H
#define TACTUS_SOLVE_MATRIX_H

#include "solve/nodes.h"

enum { TAC_STENCIL_NODES = 16 }; /* most nodes of a stencil */

/* Stencils of equal size; a view. They may have nodes that are ghosts, or no own node at all. */
struct tac_stencil_list {
    size_t count;
    int nodes;           /* of each, 1 to TAC_STENCIL_NODES */
    const tac_lid *node; /* (count, nodes) local ids; a node may be there twice */
};

struct tac_matrix {
    tac_lid count, owned; /* as of the nodes */
    size_t *row;          /* owned, (owned + 1): where each row's blocks begin */
    tac_lid *column; /* owned, (row[owned]): local ids, within a row by ascending global id; the diagonal is there */
    double *block;   /* owned, (row[owned], 9): 3x3, row by row */
    int list_count;
    struct tac_matrix_list *list; /* owned: where the blocks of each stencil go */
};

/* Local. Makes the structure, with zeros. Memory besides the blocks: 4 bytes for each block of each stencil. */
enum tac_err tac_matrix_create(struct tac_ctx *ctx, const struct tac_nodes *nodes, int list_count,
                               const struct tac_stencil_list *list, struct tac_matrix **out);
void tac_matrix_destroy(struct tac_matrix **matrix);
void tac_matrix_clear(struct tac_matrix *matrix);

/* Local. Adds the matrix of stencil e of list l: `dense` is (3k, 3k), row by row, symmetric, k nodes; unknown 3a + c is
 * component c of the stencil's node a.  Call it in ascending order of (l, e). */
void tac_matrix_add(struct tac_matrix *matrix, int l, size_t e, const double *dense);

/* Local. Computes y = A x; y (owned, 3), x (count, 3) with its ghosts. Each row is summed by ascending global id. */
void tac_matrix_multiply(const struct tac_matrix *matrix, const double *x, double *y);

#endif
