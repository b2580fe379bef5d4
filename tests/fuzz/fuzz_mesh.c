/* A mesh file of any format that is read; FUZZ_NAME, which has the extension of one, decides where nothing else does.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>
#include <tactus/mesh.h>

void fuzz_begin(void)
{
}

static void check_mesh(const struct tac_mesh *m)
{
    fuzz_must(m->vertex_count > 0, "a mesh has vertices");
    for (tac_lid i = 0; i < 3 * m->vertex_count; i++)
        fuzz_must(isfinite(m->x[i]), "coordinates are finite");
    for (tac_lid i = 0; i < 3 * m->triangle_count; i++)
        fuzz_must(m->triangle[i] >= 0 && m->triangle[i] < m->vertex_count, "triangles have vertices that are there");
    for (tac_lid i = 0; i < 2 * m->segment_count; i++)
        fuzz_must(m->segment[i] >= 0 && m->segment[i] < m->vertex_count, "segments have vertices that are there");
    for (tac_lid i = 0; i < 4 * m->tetrahedron_count; i++)
        fuzz_must(m->tetrahedron[i] >= 0 && m->tetrahedron[i] < m->vertex_count,
                  "tetrahedra have vertices that are there");
    fuzz_must(m->tetrahedron_count == 0 || (m->triangle_count >= 4 && m->segment_count == 0),
              "a solid has a surface and nothing else");
}

static bool same(const void *a, const void *b, size_t count, size_t size)
{
    return count == 0 || memcmp(a, b, count * size) == 0;
}

/* What is written is what is read. */
static enum tac_err check_written(struct tac_ctx *ctx, const struct tac_mesh *m)
{
    enum tac_err err;
    struct tac_mesh *again = NULL;
    const char *path = fuzz_path(m->tetrahedron_count > 0 ? "again.h5" : "again.ply");
    TAC_TRY(tac_mesh_write(ctx, m, path));
    TAC_TRY(tac_mesh_read(ctx, path, &again));
    fuzz_must(again->vertex_count == m->vertex_count && again->triangle_count == m->triangle_count &&
                  again->segment_count == m->segment_count && again->tetrahedron_count == m->tetrahedron_count,
              "a mesh written and read has as many vertices and elements");
    fuzz_must(same(again->x, m->x, 3 * (size_t)m->vertex_count, sizeof *m->x) &&
                  same(again->triangle, m->triangle, 3 * (size_t)m->triangle_count, sizeof *m->triangle) &&
                  same(again->segment, m->segment, 2 * (size_t)m->segment_count, sizeof *m->segment) &&
                  same(again->tetrahedron, m->tetrahedron, 4 * (size_t)m->tetrahedron_count, sizeof *m->tetrahedron),
              "a mesh written and read is the same");
done:
    tac_mesh_destroy(&again);
    return err;
}

enum tac_err fuzz_read(struct tac_ctx *ctx, const uint8_t *data, size_t size)
{
    struct tac_mesh *mesh = NULL;
    struct tac_topology *topology = NULL;
    enum tac_err err = tac_mesh_read(ctx, fuzz_put(FUZZ_NAME, data, size), &mesh);
    if (err == TAC_OK) {
        check_mesh(mesh);
        fuzz_must(check_written(ctx, mesh) == TAC_OK, "a mesh that was read can be written and read");
        fuzz_must(tac_topology_create(ctx, mesh->vertex_count, mesh->triangle_count, mesh->triangle,
                                      mesh->segment_count, mesh->segment, &topology) == TAC_OK,
                  "a mesh that was read has a topology");
    }
    tac_topology_destroy(&topology);
    tac_mesh_destroy(&mesh);
    return err;
}
