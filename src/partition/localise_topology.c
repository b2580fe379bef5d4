/* localise_topology.c: elements and topology of a local scene.
 *
 * Everything about an edge with an owned vertex follows from the local elements, for all of them are here.  An edge of
 * two ghosts may have triangles elsewhere; so every triangle brings along how many triangles its edges have and which
 * of them it is.
 */
#include "partition/exchange.h"
#include "partition/localise.h"

#include <stdlib.h>
#include <string.h>

static enum tac_err allocate(struct tac_ctx *ctx, const struct arrived *a, size_t edges, struct tac_scene *s)
{
    struct tac_topology *topo = NULL;
    struct tac_part *part = s->part;
    enum tac_err err = TAC_OK;
    if (3 * a->triangles + a->segments > INT32_MAX || 3 * a->hinges > INT32_MAX)
        return tac_fail(ctx, TAC_ERR_RUN, "rank %d would hold %zu triangles and %zu segments; use more ranks",
                        ctx->rank, a->triangles, a->segments);
    TAC_TRY(tac_alloc(ctx, 1, sizeof *s->topology, &s->topology));
    topo = s->topology;
    TAC_TRY(tac_alloc(ctx, 3 * a->triangles, sizeof(tac_lid), &s->triangle));
    TAC_TRY(tac_alloc(ctx, 2 * a->segments, sizeof(tac_lid), &s->segment));
    TAC_TRY(tac_alloc(ctx, a->triangles, sizeof(tac_gid), &part->triangle_id));
    TAC_TRY(tac_alloc(ctx, a->segments, sizeof(tac_gid), &part->segment_id));
    TAC_TRY(tac_alloc(ctx, a->segments, sizeof(tac_lid), &part->segment_edge));
    TAC_TRY(tac_alloc(ctx, 2 * edges, sizeof(tac_lid), &topo->edge));
    TAC_TRY(tac_alloc(ctx, 2 * edges, sizeof(tac_lid), &topo->edge_triangle));
    TAC_TRY(tac_alloc(ctx, edges, sizeof(tac_lid), &topo->edge_valence));
    TAC_TRY(tac_alloc(ctx, edges, sizeof(tac_lid), &topo->edge_segment));
    TAC_TRY(tac_alloc(ctx, 3 * a->triangles, sizeof(tac_lid), &topo->triangle_edge));
    TAC_TRY(tac_alloc(ctx, 4 * a->hinges, sizeof(tac_lid), &topo->hinge));
    TAC_TRY(tac_alloc(ctx, a->hinges, sizeof(tac_lid), &topo->hinge_edge));
    topo->edge_count = (tac_lid)edges;
    topo->hinge_count = (tac_lid)a->hinges;
    s->triangle_count = (tac_lid)a->triangles;
    s->segment_count = (tac_lid)a->segments;
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
    const tac_gid *id = s->part->vertex_id;
    tac_lid *edge = s->topology->edge + 2 * (size_t)e;
    edge[0] = id[a] < id[b] ? a : b;
    edge[1] = id[a] < id[b] ? b : a;
}

static void fill_triangles(const struct arrived *a, const tac_lid *local_edge, struct tac_scene *s)
{
    struct tac_topology *topo = s->topology;
    memcpy(s->triangle, a->local, 3 * a->triangles * sizeof *s->triangle);
    memcpy(topo->triangle_edge, local_edge, 3 * a->triangles * sizeof *local_edge);
    for (size_t t = 0; t < a->triangles; t++) {
        const struct triangle_record *r = &a->triangle[t];
        const tac_lid *v = s->triangle + 3 * t;
        s->part->triangle_id[t] = r->id;
        for (int k = 0; k < 3; k++) {
            const tac_lid e = local_edge[3 * t + (size_t)k];
            set_edge(s, e, v[(k + 1) % 3], v[(k + 2) % 3]);
            topo->edge_valence[e] = r->valence[k];
            if (r->place[k] < 2)
                topo->edge_triangle[2 * (size_t)e + r->place[k]] = (tac_lid)t;
        }
    }
}

static void fill_segments(const struct arrived *a, const tac_lid *local_edge, struct tac_scene *s)
{
    memcpy(s->segment, a->local + 3 * a->triangles, 2 * a->segments * sizeof *s->segment);
    for (size_t i = 0; i < a->segments; i++) {
        const tac_lid e = local_edge[i];
        s->part->segment_id[i] = a->segment[i].id;
        s->part->segment_edge[i] = e;
        set_edge(s, e, s->segment[2 * i], s->segment[2 * i + 1]);
        if (s->topology->edge_segment[e] < 0)
            s->topology->edge_segment[e] = (tac_lid)i;
    }
}

enum tac_err tac_localise_elements(struct tac_ctx *ctx, const struct arrived *a, struct tac_scene *scene)
{
    const size_t n = 3 * a->triangles + a->segments;
    tac_gid *edge = NULL;
    tac_lid *local_edge = NULL;
    size_t edges = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, n, sizeof *edge, &edge));
    TAC_TRY(tac_alloc(ctx, n, sizeof *local_edge, &local_edge));
    for (size_t t = 0; t < a->triangles; t++)
        memcpy(edge + 3 * t, a->triangle[t].edge, 3 * sizeof *edge);
    for (size_t i = 0; i < a->segments; i++)
        edge[3 * a->triangles + i] = a->segment[i].edge;
    TAC_TRY(tac_compress(ctx, n, edge, &scene->part->edge_id, &edges, local_edge));
    TAC_TRY(allocate(ctx, a, edges, scene));
    fill_triangles(a, local_edge, scene);
    fill_segments(a, local_edge + 3 * a->triangles, scene);
    memcpy(scene->topology->hinge, a->local + 3 * a->triangles + 2 * a->segments,
           4 * a->hinges * sizeof *scene->topology->hinge);
    for (size_t h = 0; h < a->hinges; h++) {
        scene->topology->hinge_edge[h] = tac_id_find(scene->part->edge_id, (tac_lid)edges, a->hinge[h].edge);
        TAC_CHECK(scene->topology->hinge_edge[h] >= 0); /* a triangle with an owned vertex of the hinge has the edge */
    }
done:
    free(edge);
    free(local_edge);
    return err;
}
