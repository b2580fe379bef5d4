/* pieces.h: allocates and frees the arrays of pieces, for the files that make pieces. */
#ifndef TACTUS_PARTITION_PIECES_H
#define TACTUS_PARTITION_PIECES_H

#include "partition/part.h"

/* Local. Allocates pieces with room for this many rows; totals are 0. */
enum tac_err tac_pieces_make(struct tac_ctx *ctx, size_t vertices, size_t triangles, size_t segments, size_t hinges,
                             struct tac_pieces **out);
/* Local. Allocates room for tetrahedra. */
enum tac_err tac_pieces_tetrahedra(struct tac_ctx *ctx, struct tac_pieces *pieces, size_t tetrahedra);
/* Local. Replaces the room for hinges. */
enum tac_err tac_pieces_hinges(struct tac_ctx *ctx, struct tac_pieces *pieces, size_t hinges);

/* Local. Parts of tac_pieces_destroy(); counts are 0 afterwards. */
void tac_pieces_free_vertices(struct tac_pieces *pieces);
void tac_pieces_free_triangles(struct tac_pieces *pieces);
void tac_pieces_free_segments(struct tac_pieces *pieces);
void tac_pieces_free_hinges(struct tac_pieces *pieces);
void tac_pieces_free_tetrahedra(struct tac_pieces *pieces);

#endif
