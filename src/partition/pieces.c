/* pieces.c: pieces of a whole scene, and of the local scenes of all ranks; what belongs to both structs. */
#include "partition/pieces.h"

#include "base/exchange.h"

#include <stdlib.h>
#include <string.h>

enum tac_err tac_pieces_make(struct tac_ctx *ctx, size_t vertices, size_t triangles, size_t segments, size_t hinges,
                             struct tac_pieces **out)
{
    enum tac_err err = TAC_OK;
    struct tac_pieces *p = NULL;
    if (vertices > INT32_MAX || triangles > INT32_MAX || segments > INT32_MAX || hinges > INT32_MAX)
        return tac_fail(ctx, TAC_ERR_RUN,
                        "rank %d would hold %zu vertices, %zu triangles and %zu segments; use more ranks", ctx->rank,
                        vertices, triangles, segments);
    TAC_TRY(tac_alloc(ctx, 1, sizeof *p, &p));
    p->vertex_count = (tac_lid)vertices;
    p->triangle_count = (tac_lid)triangles;
    p->segment_count = (tac_lid)segments;
    TAC_TRY(tac_alloc(ctx, vertices, sizeof *p->vertex_id, &p->vertex_id));
    TAC_TRY(tac_alloc(ctx, 3 * vertices, sizeof *p->x, &p->x));
    TAC_TRY(tac_alloc(ctx, 3 * vertices, sizeof *p->v, &p->v));
    TAC_TRY(tac_alloc(ctx, vertices, sizeof *p->mass, &p->mass));
    TAC_TRY(tac_alloc(ctx, vertices, 1, &p->ever_free));
    TAC_TRY(tac_alloc(ctx, vertices, 1, &p->scripted));
    TAC_TRY(tac_alloc(ctx, vertices, sizeof *p->body, &p->body));
    TAC_TRY(tac_alloc(ctx, vertices, sizeof *p->motion, &p->motion));
    TAC_TRY(tac_alloc(ctx, vertices, sizeof *p->load, &p->load));
    TAC_TRY(tac_alloc(ctx, vertices, sizeof *p->valence, &p->valence));
    TAC_TRY(tac_alloc(ctx, vertices, sizeof *p->owner, &p->owner));
    TAC_TRY(tac_alloc(ctx, triangles, sizeof *p->triangle_id, &p->triangle_id));
    TAC_TRY(tac_alloc(ctx, 3 * triangles, sizeof *p->triangle, &p->triangle));
    TAC_TRY(tac_alloc(ctx, 3 * triangles, sizeof *p->triangle_edge, &p->triangle_edge));
    TAC_TRY(tac_alloc(ctx, 3 * triangles, sizeof *p->triangle_valence, &p->triangle_valence));
    TAC_TRY(tac_alloc(ctx, 3 * triangles, 1, &p->triangle_place));
    TAC_TRY(tac_alloc(ctx, segments, sizeof *p->segment_id, &p->segment_id));
    TAC_TRY(tac_alloc(ctx, 2 * segments, sizeof *p->segment, &p->segment));
    TAC_TRY(tac_alloc(ctx, segments, sizeof *p->segment_edge, &p->segment_edge));
    TAC_TRY(tac_pieces_hinges(ctx, p, hinges));
    *out = p;
    p = NULL;
done:
    tac_pieces_destroy(&p);
    return err;
}

enum tac_err tac_pieces_hinges(struct tac_ctx *ctx, struct tac_pieces *p, size_t hinges)
{
    enum tac_err err = TAC_OK;
    tac_pieces_free_hinges(p);
    TAC_TRY(tac_alloc(ctx, 4 * hinges, sizeof *p->hinge, &p->hinge));
    TAC_TRY(tac_alloc(ctx, hinges, sizeof *p->hinge_edge, &p->hinge_edge));
    p->hinge_count = (tac_lid)hinges;
done:
    return err;
}

enum tac_err tac_pieces_tetrahedra(struct tac_ctx *ctx, struct tac_pieces *p, size_t tetrahedra)
{
    enum tac_err err = TAC_OK;
    if (tetrahedra > INT32_MAX)
        return tac_fail(ctx, TAC_ERR_RUN, "rank %d would hold %zu tetrahedra; use more ranks", ctx->rank, tetrahedra);
    TAC_TRY(tac_alloc(ctx, tetrahedra, sizeof *p->tetrahedron_id, &p->tetrahedron_id));
    TAC_TRY(tac_alloc(ctx, 4 * tetrahedra, sizeof *p->tetrahedron, &p->tetrahedron));
    p->tetrahedron_count = (tac_lid)tetrahedra;
done:
    return err;
}

void tac_pieces_free_tetrahedra(struct tac_pieces *p)
{
    free(p->tetrahedron_id);
    free(p->tetrahedron);
    p->tetrahedron_count = 0;
    p->tetrahedron_id = p->tetrahedron = NULL;
}

void tac_pieces_free_vertices(struct tac_pieces *p)
{
    free(p->vertex_id);
    free(p->x);
    free(p->v);
    free(p->mass);
    free(p->ever_free);
    free(p->scripted);
    free(p->body);
    free(p->motion);
    free(p->load);
    free(p->valence);
    free(p->owner);
    p->vertex_count = 0;
    p->vertex_id = NULL;
    p->x = p->v = p->mass = NULL;
    p->ever_free = p->scripted = NULL;
    p->body = p->motion = p->load = p->valence = p->owner = NULL;
}

void tac_pieces_free_triangles(struct tac_pieces *p)
{
    free(p->triangle_id);
    free(p->triangle);
    free(p->triangle_edge);
    free(p->triangle_valence);
    free(p->triangle_place);
    p->triangle_count = 0;
    p->triangle_id = p->triangle = p->triangle_edge = NULL;
    p->triangle_valence = NULL;
    p->triangle_place = NULL;
}

void tac_pieces_free_segments(struct tac_pieces *p)
{
    free(p->segment_id);
    free(p->segment);
    free(p->segment_edge);
    p->segment_count = 0;
    p->segment_id = p->segment = p->segment_edge = NULL;
}

void tac_pieces_free_hinges(struct tac_pieces *p)
{
    free(p->hinge);
    free(p->hinge_edge);
    p->hinge_count = 0;
    p->hinge = p->hinge_edge = NULL;
}

void tac_pieces_destroy(struct tac_pieces **pieces)
{
    if (*pieces == NULL)
        return;
    tac_pieces_free_vertices(*pieces);
    tac_pieces_free_triangles(*pieces);
    tac_pieces_free_segments(*pieces);
    tac_pieces_free_hinges(*pieces);
    tac_pieces_free_tetrahedra(*pieces);
    free(*pieces);
    *pieces = NULL;
}

static void part_destroy(struct tac_part **part)
{
    struct tac_part *p = *part;
    if (p == NULL)
        return;
    free(p->vertex_id);
    free(p->owner);
    free(p->valence);
    free(p->scripted);
    free(p->motion);
    free(p->triangle_id);
    free(p->segment_id);
    free(p->segment_edge);
    free(p->edge_id);
    free(p->tetrahedron_id);
    free(p);
    *part = NULL;
}

void tac_local_destroy(struct tac_scene **local)
{
    if (*local != NULL)
        part_destroy(&(*local)->mesh->part);
    tac_scene_destroy(local);
}

void tac_scene_free_arrays(struct tac_scene *whole)
{
    free(whole->mesh->x);
    free(whole->mesh->v);
    free(whole->mesh->mass);
    free(whole->mesh->ever_free);
    free(whole->mesh->vertex_body);
    free(whole->mesh->vertex_load);
    free(whole->mesh->triangle);
    free(whole->mesh->segment);
    free(whole->mesh->tetrahedron);
    whole->mesh->tetrahedron = NULL;
    whole->mesh->x = whole->mesh->v = whole->mesh->mass = NULL;
    whole->mesh->ever_free = NULL;
    whole->mesh->vertex_body = whole->mesh->vertex_load = whole->mesh->triangle = whole->mesh->segment = NULL;
    tac_topology_destroy(&whole->mesh->topology);
}

/* The motions of the vertices of a block. */
static void fill_motions(const struct tac_scene *whole, struct tac_pieces *p)
{
    for (tac_lid i = 0; i < p->vertex_count; i++)
        p->motion[i] = -1;
    if (p->vertex_count == 0)
        return;
    const tac_gid first = p->vertex_id[0], last = p->vertex_id[p->vertex_count - 1];
    for (tac_lid m = 0; m < whole->mesh->moved_count; m++) {
        const struct tac_moved *moved = &whole->mesh->moved[m];
        for (tac_lid k = 0; k < moved->vertex_count; k++) {
            if (moved->vertex[k] < first || moved->vertex[k] > last)
                continue;
            p->motion[moved->vertex[k] - first] = m;
            p->scripted[moved->vertex[k] - first] = 1;
        }
    }
}

enum tac_err tac_pieces_from_scene(struct tac_ctx *ctx, const struct tac_scene *whole, struct tac_pieces **out)
{
    struct tac_pieces *p = NULL;
    const tac_gid total[4] = {whole->mesh->vertex_count, whole->mesh->triangle_count, whole->mesh->segment_count,
                              whole->mesh->tetrahedron_count};
    tac_gid first[4], count[4];
    *out = NULL;
    for (int k = 0; k < 4; k++) {
        first[k] = tac_block_begin(total[k], ctx->size, ctx->rank);
        count[k] = tac_block_begin(total[k], ctx->size, ctx->rank + 1) - first[k];
    }
    enum tac_err err = tac_pieces_make(ctx, (size_t)count[0], (size_t)count[1], (size_t)count[2], 0, &p);
    if (err == TAC_OK)
        err = tac_pieces_tetrahedra(ctx, p, (size_t)count[3]);
    TAC_TRY(tac_agree(ctx, err));
    p->tetrahedron_total = total[3];
    p->vertex_total = total[0];
    p->triangle_total = total[1];
    p->segment_total = total[2];
    for (tac_lid i = 0; i < p->vertex_count; i++) {
        const size_t from = (size_t)(first[0] + i);
        p->vertex_id[i] = first[0] + i;
        p->mass[i] = whole->mesh->mass[from];
        p->ever_free[i] = whole->mesh->ever_free[from];
        p->body[i] = whole->mesh->vertex_body[from];
        p->load[i] = whole->mesh->vertex_load ? whole->mesh->vertex_load[from] : -1;
    }
    memcpy(p->x, whole->mesh->x + 3 * first[0], 3 * (size_t)count[0] * sizeof *p->x);
    memcpy(p->v, whole->mesh->v + 3 * first[0], 3 * (size_t)count[0] * sizeof *p->v);
    fill_motions(whole, p);
    for (tac_lid i = 0; i < p->triangle_count; i++)
        p->triangle_id[i] = first[1] + i;
    for (size_t i = 0; i < 3 * (size_t)count[1]; i++)
        p->triangle[i] = whole->mesh->triangle[3 * (size_t)first[1] + i];
    for (tac_lid i = 0; i < p->segment_count; i++)
        p->segment_id[i] = first[2] + i;
    for (size_t i = 0; i < 2 * (size_t)count[2]; i++)
        p->segment[i] = whole->mesh->segment[2 * (size_t)first[2] + i];
    for (tac_lid i = 0; i < p->tetrahedron_count; i++)
        p->tetrahedron_id[i] = first[3] + i;
    for (size_t i = 0; i < 4 * (size_t)count[3]; i++)
        p->tetrahedron[i] = whole->mesh->tetrahedron[4 * (size_t)first[3] + i];
    *out = p;
    p = NULL;
done:
    tac_pieces_destroy(&p);
    return err;
}

/* Whether the element of these local vertices is ours to give: we own the lowest of them. */
static bool is_ours(const struct tac_part *part, const tac_lid *vertex, int count)
{
    tac_lid lowest = vertex[0];
    for (int k = 1; k < count; k++)
        if (part->vertex_id[vertex[k]] < part->vertex_id[lowest])
            lowest = vertex[k];
    return lowest < part->owned;
}

static void give_vertices(const struct tac_ctx *ctx, const struct tac_scene *local, struct tac_pieces *p)
{
    const struct tac_part *part = local->mesh->part;
    const size_t n = (size_t)part->owned;
    memcpy(p->vertex_id, part->vertex_id, n * sizeof *p->vertex_id);
    memcpy(p->x, local->mesh->x, 3 * n * sizeof *p->x);
    memcpy(p->v, local->mesh->v, 3 * n * sizeof *p->v);
    memcpy(p->mass, local->mesh->mass, n * sizeof *p->mass);
    memcpy(p->ever_free, local->mesh->ever_free, n);
    memcpy(p->scripted, part->scripted, n);
    memcpy(p->body, local->mesh->vertex_body, n * sizeof *p->body);
    memcpy(p->motion, part->motion, n * sizeof *p->motion);
    memcpy(p->valence, part->valence, n * sizeof *p->valence);
    for (size_t i = 0; i < n; i++)
        p->load[i] = local->mesh->vertex_load ? local->mesh->vertex_load[i] : -1;
    for (size_t i = 0; i < n; i++)
        p->owner[i] = ctx->rank;
}

static void give_triangles(const struct tac_scene *local, struct tac_pieces *p)
{
    const struct tac_part *part = local->mesh->part;
    const struct tac_topology *topo = local->mesh->topology;
    size_t n = 0;
    for (tac_lid t = 0; t < local->mesh->triangle_count; t++) {
        const tac_lid *v = local->mesh->triangle + 3 * (size_t)t, *e = topo->triangle_edge + 3 * (size_t)t;
        if (!is_ours(part, v, 3))
            continue;
        p->triangle_id[n] = part->triangle_id[t];
        for (size_t k = 0; k < 3; k++) {
            const tac_lid *at = topo->edge_triangle + 2 * (size_t)e[k];
            p->triangle[3 * n + k] = part->vertex_id[v[k]];
            p->triangle_edge[3 * n + k] = part->edge_id[e[k]];
            p->triangle_valence[3 * n + k] = topo->edge_valence[e[k]];
            p->triangle_place[3 * n + k] = at[0] == t ? 0 : at[1] == t ? 1 : 2;
        }
        n++;
    }
}

static void give_others(const struct tac_scene *local, struct tac_pieces *p)
{
    const struct tac_part *part = local->mesh->part;
    const struct tac_topology *topo = local->mesh->topology;
    size_t n = 0;
    for (tac_lid s = 0; s < local->mesh->segment_count; s++) {
        const tac_lid *v = local->mesh->segment + 2 * (size_t)s;
        if (!is_ours(part, v, 2))
            continue;
        p->segment_id[n] = part->segment_id[s];
        p->segment_edge[n] = part->edge_id[part->segment_edge[s]];
        for (size_t k = 0; k < 2; k++)
            p->segment[2 * n + k] = part->vertex_id[v[k]];
        n++;
    }
    n = 0;
    for (tac_lid t = 0; t < local->mesh->tetrahedron_count; t++) {
        const tac_lid *v = local->mesh->tetrahedron + 4 * (size_t)t;
        if (!is_ours(part, v, 4))
            continue;
        for (size_t k = 0; k < 4; k++)
            p->tetrahedron[4 * n + k] = part->vertex_id[v[k]];
        p->tetrahedron_id[n++] = part->tetrahedron_id[t];
    }
    n = 0;
    for (tac_lid h = 0; h < topo->hinge_count; h++) {
        const tac_lid *v = topo->hinge + 4 * (size_t)h;
        if (!is_ours(part, v, 4))
            continue;
        for (size_t k = 0; k < 4; k++)
            p->hinge[4 * n + k] = part->vertex_id[v[k]];
        p->hinge_edge[n++] = part->edge_id[topo->hinge_edge[h]];
    }
}

enum tac_err tac_pieces_of(struct tac_ctx *ctx, const struct tac_scene *local, struct tac_pieces **out)
{
    const struct tac_part *part = local->mesh->part;
    const struct tac_topology *topo = local->mesh->topology;
    struct tac_pieces *p = NULL;
    size_t triangles = 0, segments = 0, hinges = 0, tetrahedra = 0;
    *out = NULL;
    for (tac_lid t = 0; t < local->mesh->triangle_count; t++)
        triangles += is_ours(part, local->mesh->triangle + 3 * (size_t)t, 3);
    for (tac_lid s = 0; s < local->mesh->segment_count; s++)
        segments += is_ours(part, local->mesh->segment + 2 * (size_t)s, 2);
    for (tac_lid h = 0; h < topo->hinge_count; h++)
        hinges += is_ours(part, topo->hinge + 4 * (size_t)h, 4);
    for (tac_lid t = 0; t < local->mesh->tetrahedron_count; t++)
        tetrahedra += is_ours(part, local->mesh->tetrahedron + 4 * (size_t)t, 4);
    enum tac_err err = tac_pieces_make(ctx, (size_t)part->owned, triangles, segments, hinges, &p);
    if (err == TAC_OK)
        err = tac_pieces_tetrahedra(ctx, p, tetrahedra);
    TAC_TRY(tac_agree(ctx, err));
    p->tetrahedron_total = part->tetrahedron_total;
    p->vertex_total = part->vertex_total;
    p->triangle_total = part->triangle_total;
    p->segment_total = part->segment_total;
    p->edge_total = part->edge_total;
    give_vertices(ctx, local, p);
    give_triangles(local, p);
    give_others(local, p);
    *out = p;
    p = NULL;
done:
    tac_pieces_destroy(&p);
    return err;
}
