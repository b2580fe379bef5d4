/* rigid_pieces.c: lists rigid bodies, and the connected pieces of a mesh. */
#include "scene/rigid/rigid_pieces.h"
#include "mesh/connected.h"

#include <stdlib.h>

enum tac_err tac_rigid_add(struct tac_ctx *ctx, struct tac_settings *s, size_t *capacity, tac_lid body, tac_lid begin,
                           tac_lid end)
{
    enum tac_err err;
    TAC_TRY(tac_grow(ctx, &s->rigid, capacity, (size_t)s->rigid_count + 1, sizeof *s->rigid));
    if (s->body[body].piece_count++ == 0)
        s->body[body].rigid = s->rigid_count;
    s->rigid[s->rigid_count++] = (struct tac_rigid_body){.body = body, .vertex_begin = begin, .vertex_end = end};
done:
    return err;
}

/* Sets root[v] to the lowest vertex of the piece of v; numbers in the body. */
static void connect(const struct tac_local_mesh *mesh, const struct tac_body *body, tac_lid *root)
{
    const tac_lid first = body->vertex_begin, n = body->vertex_end - first;
    tac_connected_begin(n, root);
    tac_connected_join(root, first, body->triangle_end - body->triangle_begin, 3,
                       mesh->triangle + 3 * (size_t)body->triangle_begin);
    tac_connected_join(root, first, body->segment_end - body->segment_begin, 2,
                       mesh->segment + 2 * (size_t)body->segment_begin);
    if (body->tetrahedron_end > body->tetrahedron_begin)
        tac_connected_join(root, first, body->tetrahedron_end - body->tetrahedron_begin, 4,
                           mesh->tetrahedron + 4 * (size_t)body->tetrahedron_begin);
    tac_connected_end(n, root);
}

enum tac_err tac_rigid_add_pieces(struct tac_ctx *ctx, const struct tac_scene *scene, size_t *capacity, tac_lid body,
                                  tac_lid wrong[3])
{
    enum tac_err err;
    struct tac_settings *s = scene->settings;
    const tac_lid first = s->body[body].vertex_begin, n = s->body[body].vertex_end - first;
    tac_lid *root = NULL, begin = 0;
    wrong[0] = -1;
    TAC_TRY(tac_alloc(ctx, (size_t)n, sizeof *root, &root));
    connect(scene->mesh, &s->body[body], root);
    for (tac_lid v = 1; v < n; v++)
        if (root[v] == v) {
            TAC_TRY(tac_rigid_add(ctx, s, capacity, body, first + begin, first + v));
            begin = v;
        } else if (root[v] != begin) {
            wrong[0] = v;
            wrong[1] = root[v];
            wrong[2] = begin;
            goto done;
        }
    TAC_TRY(tac_rigid_add(ctx, s, capacity, body, first + begin, first + n));
done:
    free(root);
    return err;
}
