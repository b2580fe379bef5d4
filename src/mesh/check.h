/* check.h: what makes a mesh fit for use: finite coordinates, indices in range, no degenerate or repeated element. */
#ifndef TACTUS_MESH_CHECK_H
#define TACTUS_MESH_CHECK_H

#include "mesh/builder.h"

/* Local. TAC_ERR_INPUT names the element and, for a file, its place. */
enum tac_err tac_check_vertices(struct tac_builder *b);
enum tac_err tac_check_elements(struct tac_builder *b);

#endif
