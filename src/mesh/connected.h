/* connected.h: finds the connected parts of a mesh: vertices that elements join, directly or by others.
 *
 *     tac_connected_begin(n, root);
 *     tac_connected_join(root, first, triangles, 3, triangle); (and so on for other elements)
 *     tac_connected_end(n, root);
 */
#ifndef TACTUS_MESH_CONNECTED_H
#define TACTUS_MESH_CONNECTED_H

#include <tactus/base.h>

/* Local. Each of n vertices is a part of its own. */
void tac_connected_begin(tac_lid n, tac_lid *root);
/* Local. Joins the vertices of each element. vertex (count, width): their numbers are from `first` on. */
void tac_connected_join(tac_lid *root, tac_lid first, tac_lid count, int width, const tac_lid *vertex);
/* Local. Sets root[v] to the lowest vertex of the part of v. */
void tac_connected_end(tac_lid n, tac_lid *root);

#endif
