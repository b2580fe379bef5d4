/* connected.c: finds the connected parts of a mesh. */
#include "mesh/connected.h"
#include "base/roots.h"

void tac_connected_begin(tac_lid n, tac_lid *root)
{
    for (tac_lid v = 0; v < n; v++)
        root[v] = v;
}

void tac_connected_join(tac_lid *root, tac_lid first, tac_lid count, int width, const tac_lid *vertex)
{
    for (tac_lid e = 0; e < count; e++)
        for (int k = 1; k < width; k++) {
            const tac_lid *v = vertex + (size_t)width * (size_t)e;
            tac_root_join(root, v[0] - first, v[k] - first);
        }
}

void tac_connected_end(tac_lid n, tac_lid *root)
{
    for (tac_lid v = 0; v < n; v++) /* a root is below v, and set already */
        root[v] = root[root[v]];
}
