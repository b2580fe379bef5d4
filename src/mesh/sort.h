/* sort.h: rows of vertex indices put in lexicographic order. */
#ifndef TACTUS_MESH_SORT_H
#define TACTUS_MESH_SORT_H

#include <tactus/base.h>

/* Local. Fills order[0 .. count) with the row numbers in lexicographic order of their rows, equal rows in ascending
 * row number.  row: (count, width), values in 0 .. vertex_count-1.  O(width (count + vertex_count)). */
enum tac_err tac_sort_rows(struct tac_ctx *ctx, tac_lid vertex_count, size_t count, int width, const tac_lid *row,
                           tac_lid *order);

#endif
