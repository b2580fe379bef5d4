/* topology.c: numbers the edges and hinges of a mesh, by a rule that depends on the mesh alone. */
#include <tactus/mesh.h>

#include "mesh/sort.h"

#include <stdlib.h>

struct input {
    tac_lid vertex_count, triangle_count, segment_count;
    const tac_lid *triangle, *segment; /* borrowed */
};

static enum tac_err check_input(struct tac_ctx *ctx, const struct input *in)
{
    if (in->vertex_count < 0 || in->triangle_count < 0 || in->segment_count < 0 ||
        3 * (int64_t)in->triangle_count + in->segment_count > INT32_MAX)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "%" TAC_PRILID " triangles and %" TAC_PRILID
                        " segments may have more edges than can be numbered; make the scene coarser",
                        in->triangle_count, in->segment_count);
    for (int64_t t = 0; t < in->triangle_count; t++) {
        const tac_lid *v = in->triangle + 3 * t;
        for (int k = 0; k < 3; k++) {
            if (v[k] < 0 || v[k] >= in->vertex_count || v[k] == v[(k + 1) % 3])
                return tac_fail(ctx, TAC_ERR_INPUT,
                                "triangle %" PRId64 " names a vertex twice or one that does not exist", t);
        }
    }
    for (int64_t s = 0; s < in->segment_count; s++) {
        const tac_lid *v = in->segment + 2 * s;
        if (v[0] < 0 || v[0] >= in->vertex_count || v[1] < 0 || v[1] >= in->vertex_count || v[0] == v[1])
            return tac_fail(ctx, TAC_ERR_INPUT, "segment %" PRId64 " names a vertex twice or one that does not exist",
                            s);
    }
    return TAC_OK;
}

/* Every side of every triangle, then every segment, smaller vertex first: (3 T + S, 2). Side 3 t + k is opposite
 * vertex k of triangle t. */
static void list_sides(const struct input *in, tac_lid *side)
{
    for (int64_t t = 0; t < in->triangle_count; t++) {
        const tac_lid *v = in->triangle + 3 * t;
        for (int k = 0; k < 3; k++) {
            const tac_lid a = v[(k + 1) % 3], b = v[(k + 2) % 3];
            *side++ = a < b ? a : b;
            *side++ = a < b ? b : a;
        }
    }
    for (int64_t s = 0; s < in->segment_count; s++) {
        const tac_lid *v = in->segment + 2 * s;
        *side++ = v[0] < v[1] ? v[0] : v[1];
        *side++ = v[0] < v[1] ? v[1] : v[0];
    }
}

static bool same_side(const tac_lid *side, tac_lid i, tac_lid j)
{
    return side[2 * (size_t)i] == side[2 * (size_t)j] && side[2 * (size_t)i + 1] == side[2 * (size_t)j + 1];
}

/* Equal sides follow each other in `order`, triangles in ascending order before segments: one edge each. */
static void fill_edges(const struct input *in, const tac_lid *side, const tac_lid *order, int64_t side_count,
                       struct tac_topology *topo)
{
    const int64_t triangle_sides = 3 * (int64_t)in->triangle_count;
    int64_t e = -1;
    for (int64_t i = 0; i < side_count; i++) {
        const tac_lid s = order[i];
        if (i == 0 || !same_side(side, order[i - 1], s)) {
            e++;
            topo->edge[2 * e] = side[2 * (int64_t)s];
            topo->edge[2 * e + 1] = side[2 * (int64_t)s + 1];
            topo->edge_triangle[2 * e] = topo->edge_triangle[2 * e + 1] = -1;
            topo->edge_segment[e] = -1;
        }
        if (s < triangle_sides) {
            if (topo->edge_valence[e] < 2)
                topo->edge_triangle[2 * e + topo->edge_valence[e]] = s / 3;
            topo->edge_valence[e]++;
            topo->triangle_edge[s] = (tac_lid)e;
        } else if (topo->edge_segment[e] < 0) {
            topo->edge_segment[e] = (tac_lid)(s - triangle_sides);
        }
    }
}

/* The corner k of triangle t that edge e lies opposite to. */
static int opposite(const struct tac_topology *topo, tac_lid t, tac_lid e)
{
    const tac_lid *edge = topo->triangle_edge + 3 * (int64_t)t;
    return edge[0] == e ? 0 : edge[1] == e ? 1 : 2;
}

static void fill_hinges(const struct input *in, struct tac_topology *topo)
{
    tac_lid h = 0;
    for (tac_lid e = 0; e < topo->edge_count; e++) {
        if (topo->edge_valence[e] != 2)
            continue;
        tac_lid apex[2];
        bool forward[2];
        for (int side = 0; side < 2; side++) {
            const tac_lid t = topo->edge_triangle[2 * (int64_t)e + side];
            const tac_lid *v = in->triangle + 3 * (int64_t)t;
            const int k = opposite(topo, t, e);
            apex[side] = v[k];
            forward[side] = v[(k + 1) % 3] == topo->edge[2 * (int64_t)e];
        }
        const int first = !forward[0] && forward[1];
        tac_lid *to = topo->hinge + 4 * (int64_t)h;
        to[0] = topo->edge[2 * (int64_t)e];
        to[1] = topo->edge[2 * (int64_t)e + 1];
        to[2] = apex[first];
        to[3] = apex[1 - first];
        topo->hinge_edge[h++] = e;
    }
}

enum tac_err tac_topology_create(struct tac_ctx *ctx, tac_lid vertex_count, tac_lid triangle_count,
                                 const tac_lid *triangle, tac_lid segment_count, const tac_lid *segment,
                                 struct tac_topology **out)
{
    enum tac_err err = TAC_OK;
    const struct input in = {vertex_count, triangle_count, segment_count, triangle, segment};
    struct tac_topology *topo = NULL;
    tac_lid *side = NULL, *order = NULL;
    size_t n = 0, edges = 0;
    TAC_TRY(check_input(ctx, &in));
    n = 3 * (size_t)triangle_count + (size_t)segment_count;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *topo, &topo));
    TAC_TRY(tac_alloc(ctx, 2 * n, sizeof *side, &side));
    TAC_TRY(tac_alloc(ctx, n, sizeof *order, &order));
    list_sides(&in, side);
    TAC_TRY(tac_sort_rows(ctx, vertex_count, n, 2, side, order));
    for (size_t i = 0; i < n; i++)
        edges += i == 0 || !same_side(side, order[i - 1], order[i]);
    topo->edge_count = (tac_lid)edges;
    TAC_TRY(tac_alloc(ctx, 2 * edges, sizeof(tac_lid), &topo->edge));
    TAC_TRY(tac_alloc(ctx, 2 * edges, sizeof(tac_lid), &topo->edge_triangle));
    TAC_TRY(tac_alloc(ctx, edges, sizeof(tac_lid), &topo->edge_valence));
    TAC_TRY(tac_alloc(ctx, edges, sizeof(tac_lid), &topo->edge_segment));
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)triangle_count, sizeof(tac_lid), &topo->triangle_edge));
    fill_edges(&in, side, order, (int64_t)n, topo);
    for (tac_lid e = 0; e < topo->edge_count; e++)
        topo->hinge_count += topo->edge_valence[e] == 2;
    TAC_TRY(tac_alloc(ctx, 4 * (size_t)topo->hinge_count, sizeof(tac_lid), &topo->hinge));
    TAC_TRY(tac_alloc(ctx, (size_t)topo->hinge_count, sizeof(tac_lid), &topo->hinge_edge));
    fill_hinges(&in, topo);
    *out = topo;
    topo = NULL;
done:
    free(side);
    free(order);
    tac_topology_destroy(&topo);
    return err;
}

void tac_topology_destroy(struct tac_topology **topology)
{
    struct tac_topology *topo = *topology;
    if (topo == NULL)
        return;
    free(topo->edge);
    free(topo->edge_triangle);
    free(topo->edge_valence);
    free(topo->edge_segment);
    free(topo->triangle_edge);
    free(topo->hinge);
    free(topo->hinge_edge);
    free(topo);
    *topology = NULL;
}
