/* local_mesh_topology.c: elements and topology of a local scene.
 *
 * Everything about an edge with an owned vertex follows from the local elements, for all of them are here.  An edge of
 * two ghosts may have triangles elsewhere; so every triangle brings along how many triangles its edges have and which
 * of them it is.
 */
#include "base/exchange.h"
#include "partition/local_mesh.h"

#include <stdlib.h>
#include <string.h>

static enum tac_err check_counts(struct tac_ctx *ctx, const struct arrived *a)
{
    if (3 * a->triangles + a->segments > INT32_MAX || 3 * a->hinges > INT32_MAX)
        return tac_fail(ctx, TAC_ERR_RUN, "rank %d would hold %zu triangles and %zu segments; use more ranks",
                        ctx->rank, a->triangles, a->segments);
    return TAC_OK;
}

static enum tac_err list_edges(struct tac_ctx *ctx, const struct arrived *a, tac_gid **id, size_t *count)
{
    struct tac_ids ids = {0};
    enum tac_err err = TAC_OK;
    for (size_t t = 0; t < a->triangles; t++)
        TAC_TRY(tac_ids_add(ctx, &ids, 3, a->triangle[t].edge));
    for (size_t i = 0; i < a->segments; i++)
        TAC_TRY(tac_ids_add(ctx, &ids, 1, &a->segment[i].edge));
    TAC_TRY(tac_ids_finish(ctx, &ids, id, count));
done:
    free(ids.list);
    return err;
}

static enum tac_err make_edges(struct tac_ctx *ctx, size_t edges, struct tac_topology *topo)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 2 * edges, sizeof(tac_lid), &topo->edge));
    TAC_TRY(tac_alloc(ctx, 2 * edges, sizeof(tac_lid), &topo->edge_triangle));
    TAC_TRY(tac_alloc(ctx, edges, sizeof(tac_lid), &topo->edge_valence));
    TAC_TRY(tac_alloc(ctx, edges, sizeof(tac_lid), &topo->edge_segment));
    topo->edge_count = (tac_lid)edges;
    for (size_t i = 0; i < 2 * edges; i++)
        topo->edge_triangle[i] = -1;
    for (size_t i = 0; i < edges; i++)
        topo->edge_segment[i] = -1;
done:
    return err;
}

/* An edge's two vertices, the smaller global id first. */
static void set_edge(struct tac_scene *s, tac_lid e, tac_lid a, tac_lid b)
{
    const tac_gid *id = s->mesh->part->vertex_id;
    tac_lid *edge = s->mesh->topology->edge + 2 * (size_t)e;
    edge[0] = id[a] < id[b] ? a : b;
    edge[1] = id[a] < id[b] ? b : a;
}

static enum tac_err make_triangles(struct tac_ctx *ctx, struct arrived *a, const struct tac_finder *edge,
                                   struct tac_scene *s)
{
    struct tac_topology *topo = s->mesh->topology;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 3 * a->triangles, sizeof(tac_lid), &s->mesh->triangle));
    TAC_TRY(tac_alloc(ctx, a->triangles, sizeof(tac_gid), &s->mesh->part->triangle_id));
    TAC_TRY(tac_alloc(ctx, 3 * a->triangles, sizeof(tac_lid), &topo->triangle_edge));
    s->mesh->triangle_count = (tac_lid)a->triangles;
    for (size_t t = 0; t < a->triangles; t++) {
        const struct triangle_record *r = &a->triangle[t];
        tac_lid *v = s->mesh->triangle + 3 * t;
        s->mesh->part->triangle_id[t] = r->id;
        for (int k = 0; k < 3; k++)
            v[k] = tac_local_vertex(a, r->vertex[k]);
        for (int k = 0; k < 3; k++) {
            const tac_lid e = tac_finder_find(edge, r->edge[k]);
            topo->triangle_edge[3 * t + (size_t)k] = e;
            set_edge(s, e, v[(k + 1) % 3], v[(k + 2) % 3]);
            topo->edge_valence[e] = r->valence[k];
            if (r->place[k] < 2)
                topo->edge_triangle[2 * (size_t)e + r->place[k]] = (tac_lid)t;
        }
    }
    free(a->triangle);
    a->triangle = NULL;
done:
    return err;
}

static enum tac_err make_segments(struct tac_ctx *ctx, struct arrived *a, const struct tac_finder *edge,
                                  struct tac_scene *s)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 2 * a->segments, sizeof(tac_lid), &s->mesh->segment));
    TAC_TRY(tac_alloc(ctx, a->segments, sizeof(tac_gid), &s->mesh->part->segment_id));
    TAC_TRY(tac_alloc(ctx, a->segments, sizeof(tac_lid), &s->mesh->part->segment_edge));
    s->mesh->segment_count = (tac_lid)a->segments;
    for (size_t i = 0; i < a->segments; i++) {
        const struct segment_record *r = &a->segment[i];
        const tac_lid e = tac_finder_find(edge, r->edge);
        s->mesh->part->segment_id[i] = r->id;
        s->mesh->part->segment_edge[i] = e;
        for (size_t k = 0; k < 2; k++)
            s->mesh->segment[2 * i + k] = tac_local_vertex(a, r->vertex[k]);
        set_edge(s, e, s->mesh->segment[2 * i], s->mesh->segment[2 * i + 1]);
        if (s->mesh->topology->edge_segment[e] < 0)
            s->mesh->topology->edge_segment[e] = (tac_lid)i;
    }
done:
    return err;
}

static enum tac_err make_hinges(struct tac_ctx *ctx, struct arrived *a, const struct tac_finder *edge,
                                struct tac_topology *topo)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 4 * a->hinges, sizeof(tac_lid), &topo->hinge));
    TAC_TRY(tac_alloc(ctx, a->hinges, sizeof(tac_lid), &topo->hinge_edge));
    topo->hinge_count = (tac_lid)a->hinges;
    for (size_t h = 0; h < a->hinges; h++) {
        for (size_t k = 0; k < 4; k++)
            topo->hinge[4 * h + k] = tac_local_vertex(a, a->hinge[h].vertex[k]);
        topo->hinge_edge[h] = tac_finder_find(edge, a->hinge[h].edge);
        TAC_CHECK(topo->hinge_edge[h] >= 0); /* a triangle with an owned vertex of the hinge has the edge */
    }
    free(a->hinge);
    a->hinge = NULL;
done:
    return err;
}

static enum tac_err make_tetrahedra(struct tac_ctx *ctx, struct arrived *a, struct tac_scene *s)
{
    enum tac_err err = TAC_OK;
    if (a->tetrahedra > INT32_MAX / 4)
        return tac_fail(ctx, TAC_ERR_RUN, "rank %d would hold %zu tetrahedra; use more ranks", ctx->rank,
                        a->tetrahedra);
    TAC_TRY(tac_alloc(ctx, 4 * a->tetrahedra, sizeof(tac_lid), &s->mesh->tetrahedron));
    TAC_TRY(tac_alloc(ctx, a->tetrahedra, sizeof(tac_gid), &s->mesh->part->tetrahedron_id));
    s->mesh->tetrahedron_count = (tac_lid)a->tetrahedra;
    for (size_t t = 0; t < a->tetrahedra; t++) {
        s->mesh->part->tetrahedron_id[t] = a->tetrahedron[t].id;
        for (size_t k = 0; k < 4; k++)
            s->mesh->tetrahedron[4 * t + k] = tac_local_vertex(a, a->tetrahedron[t].vertex[k]);
    }
    free(a->tetrahedron);
    a->tetrahedron = NULL;
done:
    return err;
}

enum tac_err tac_local_elements(struct tac_ctx *ctx, struct arrived *a, struct tac_scene *scene)
{
    struct tac_finder edge = {0};
    size_t edges = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(check_counts(ctx, a));
    TAC_TRY(tac_alloc(ctx, 1, sizeof *scene->mesh->topology, &scene->mesh->topology));
    TAC_TRY(list_edges(ctx, a, &scene->mesh->part->edge_id, &edges));
    TAC_TRY(tac_finder_make(ctx, scene->mesh->part->edge_id, edges, &edge));
    TAC_TRY(make_edges(ctx, edges, scene->mesh->topology));
    TAC_TRY(make_triangles(ctx, a, &edge, scene));
    TAC_TRY(make_segments(ctx, a, &edge, scene));
    TAC_TRY(make_hinges(ctx, a, &edge, scene->mesh->topology));
    TAC_TRY(make_tetrahedra(ctx, a, scene));
done:
    tac_finder_free(&edge);
    return err;
}
