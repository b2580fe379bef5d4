/* connected.c: the connected parts of small meshes of triangles, segments and tetrahedra.
 *
 * If it fails, pieces of a rigid body fall apart, or two of them move as one. */
#include "mesh/connected.h"
#include "check.h"

int main(void)
{
    enum { N = 14, FIRST = 100 };
    static const tac_lid triangle[] = {104, 102, 103, 107, 104, 106, 101, 100, 105}, segment[] = {108, 109, 109, 105},
                         tetrahedron[] = {113, 112, 111, 110};
    static const tac_lid want[N] = {0, 0, 2, 2, 2, 0, 2, 2, 0, 0, 10, 10, 10, 10};
    tac_lid root[N];
    tac_connected_begin(N, root);
    tac_connected_end(N, root);
    for (tac_lid v = 0; v < N; v++)
        CHECK(root[v] == v, "nothing joins vertex %d", (int)v);
    tac_connected_join(root, FIRST, 3, 3, triangle);
    tac_connected_join(root, FIRST, 2, 2, segment);
    tac_connected_join(root, FIRST, 1, 4, tetrahedron);
    tac_connected_end(N, root);
    for (tac_lid v = 0; v < N; v++)
        CHECK(root[v] == want[v], "vertex %d is of part %d, wanted %d", (int)v, (int)root[v], (int)want[v]);
    return check_result();
}
