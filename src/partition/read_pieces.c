/* read_pieces.c: reads a scene into pieces; the rows of large meshes are spread over the ranks from the start. */
#include "partition/read_pieces.h"
#include "base/exchange.h"
#include "partition/pieces.h"
#include "scene/scene_read.h"
#include <stdlib.h>
#include <string.h>

enum {
    SMALLEST = 1 << 17,     /* rows of a scene: below, it takes a few megabytes */
    SMALLEST_MESH = 1 << 13 /* rows of one of its meshes: below, ranks that make some each save nothing */
};

static void fill_pieces(const struct tac_reader *reader, struct tac_pieces *p)
{
    const struct tac_scene *s = reader->scene;
    const size_t n = (size_t)p->vertex_count;
    tac_gid *id[TAC_TABLES] = {p->vertex_id, p->triangle_id, p->segment_id, p->tetrahedron_id};
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        const tac_lid first[TAC_TABLES] = {s->settings->body[b].vertex_begin, s->settings->body[b].triangle_begin,
                                           s->settings->body[b].segment_begin, s->settings->body[b].tetrahedron_begin};
        for (int k = 0; k < TAC_TABLES; k++)
            for (tac_lid i = reader->rows[b][k].begin; i < reader->rows[b][k].end; i++)
                id[k][i] = first[k] + reader->rows[b][k].number + (i - reader->rows[b][k].begin);
    }
    memcpy(p->x, s->mesh->x, 3 * n * sizeof *p->x);
    memcpy(p->v, s->mesh->v, 3 * n * sizeof *p->v);
    memcpy(p->mass, s->mesh->mass, n * sizeof *p->mass);
    memcpy(p->ever_free, s->mesh->ever_free, n);
    memcpy(p->body, s->mesh->vertex_body, n * sizeof *p->body);
    memcpy(p->motion, reader->motion, n * sizeof *p->motion);
    for (size_t i = 0; i < n; i++)
        p->load[i] = s->mesh->vertex_load ? s->mesh->vertex_load[i] : -1;
    for (size_t i = 0; i < n; i++)
        p->scripted[i] = p->motion[i] >= 0;
    for (size_t i = 0; i < 3 * (size_t)p->triangle_count; i++)
        p->triangle[i] = s->mesh->triangle[i];
    for (size_t i = 0; i < 2 * (size_t)p->segment_count; i++)
        p->segment[i] = s->mesh->segment[i];
    for (size_t i = 0; i < 4 * (size_t)p->tetrahedron_count; i++)
        p->tetrahedron[i] = s->mesh->tetrahedron[i];
}

/* From here on the scene has counts of the whole, and no arrays. */
static enum tac_err spread_pieces(struct tac_reader *reader)
{
    struct tac_scene *s = reader->scene;
    struct tac_pieces *p = NULL;
    enum tac_err err = tac_pieces_make(reader->ctx, (size_t)s->mesh->vertex_count, (size_t)s->mesh->triangle_count,
                                       (size_t)s->mesh->segment_count, 0, &reader->pieces);
    if (err == TAC_OK)
        err = tac_pieces_tetrahedra(reader->ctx, reader->pieces, (size_t)s->mesh->tetrahedron_count);
    TAC_TRY(tac_reader_agree(reader, err));
    p = reader->pieces;
    fill_pieces(reader, p);
    p->vertex_total = s->mesh->vertex_count = reader->total[TAC_VERTICES];
    p->triangle_total = s->mesh->triangle_count = reader->total[TAC_TRIANGLES];
    p->segment_total = s->mesh->segment_count = reader->total[TAC_SEGMENTS];
    p->tetrahedron_total = s->mesh->tetrahedron_count = reader->total[TAC_TETRAHEDRA];
    tac_scene_free_arrays(s);
    TAC_TRY(tac_reader_agreed(reader, tac_pieces_topology(reader->ctx, p)));
done:
    return err;
}

/* Where the first edge is that bends and has over two triangles: its side in our triangles, or -1 if it is not there;
 * *edge: its id, the same on all ranks. */
static int64_t find_many(const struct tac_reader *reader, tac_gid *edge)
{
    const struct tac_pieces *p = reader->pieces;
    int64_t side = -1;
    *edge = INT64_MAX;
    for (int64_t i = 0; i < 3 * (int64_t)p->triangle_count; i++)
        if (p->triangle_valence[i] > 2 && p->triangle_edge[i] < *edge &&
            tac_scene_bends(reader->scene, tac_scene_body_of(reader->scene, p->triangle[i]))) {
            *edge = p->triangle_edge[i];
            side = i;
        }
    const tac_gid mine = *edge;
    MPI_Allreduce(MPI_IN_PLACE, edge, 1, TAC_GID_MPI, MPI_MIN, reader->ctx->comm);
    return mine == *edge ? side : -1;
}

static enum tac_err check_manifold(struct tac_reader *reader)
{
    struct tac_ctx *ctx = reader->ctx;
    const struct tac_scene *scene = reader->scene;
    const struct tac_pieces *p = reader->pieces;
    enum tac_err err = TAC_OK;
    tac_gid id, edge[2] = {0, 0}, number = 0;
    double x[3] = {0, 0, 0};
    const int64_t side = find_many(reader, &id);
    if (id == INT64_MAX)
        return TAC_OK;
    /* All ranks have the same body here, that of the edge. */
    if (side >= 0) {
        const tac_gid *v = p->triangle + side / 3 * 3, a = v[(side + 1) % 3], b = v[(side + 2) % 3];
        edge[0] = a < b ? a : b;
        edge[1] = a < b ? b : a;
    }
    MPI_Allreduce(MPI_IN_PLACE, edge, 2, TAC_GID_MPI, MPI_MAX, ctx->comm);
    const tac_lid index = tac_scene_body_of(scene, edge[0]);
    const struct tac_body *body = &scene->settings->body[index];
    const struct tac_rows here = reader->rows[index][TAC_VERTICES];
    number = edge[0] - body->vertex_begin;
    TAC_TRY(tac_spread_ask(ctx, TAC_OK, index, body->vertex_end - body->vertex_begin, 1, &number, here.number,
                           p->x + 3 * (size_t)here.begin, x));
    if (side >= 0)
        err = tac_scene_fail_manifold(reader, edge, x, p->triangle_valence[side]);
    err = tac_agree(ctx, err);
done:
    return tac_reader_agreed(reader, err);
}

static enum tac_err find_hinged(struct tac_reader *reader, uint8_t *hinged)
{
    const struct tac_pieces *p = reader->pieces;
    for (tac_lid h = 0; h < p->hinge_count; h++)
        hinged[tac_scene_body_of(reader->scene, p->hinge[4 * (size_t)h])] = 1;
    MPI_Allreduce(MPI_IN_PLACE, hinged, reader->scene->settings->body_count, MPI_UINT8_T, MPI_MAX, reader->ctx->comm);
    return TAC_OK;
}

static void destroy_spread_pieces(struct tac_reader *reader)
{
    tac_pieces_destroy(&reader->pieces);
}

static void add_masses(const struct tac_reader *reader, void (*add)(uint64_t *sum, tac_gid id, double mass),
                       uint64_t *sum)
{
    const struct tac_pieces *p = reader->pieces;
    for (tac_lid i = 0; i < p->vertex_count; i++)
        add(sum, p->vertex_id[i], p->mass[i]);
}

static const struct tac_spread spread_table = {spread_pieces, check_manifold, find_hinged, destroy_spread_pieces,
                                               add_masses};

/* Returns whether the scene is so large that no rank should have all of it. Meshes that are needed as a whole are not
 * counted, and the scene's reader reports what is wrong with it. */
static bool wants_spread(const struct tac_ctx *ctx, const struct tac_scene_source *source)
{
    struct tac_ctx silent = *ctx;
    struct tac_reader reader = tac_reader_of(&silent, source);
    json_t *root = NULL, *body;
    size_t i;
    int64_t rows = 0;
    bool good = tac_scene_load(&reader, &root) == TAC_OK && tac_scene_find_base(&reader) == TAC_OK;
    for (int k = 0; good && k < source->set_count; k++)
        good = tac_scene_set(&reader, root, source->set[k]) == TAC_OK;
    if (good)
        json_array_foreach(json_object_get(root, "bodies"), i, body)
        {
            rows += tac_spread_mesh_rows(&silent, json_object_get(body, "mesh"), reader.base_dir);
        }
    free(reader.base_dir);
    json_decref(root);
    return rows >= SMALLEST;
}

static void free_moved(struct tac_scene *scene)
{
    for (tac_lid m = 0; m < scene->mesh->moved_count; m++) {
        free(scene->mesh->moved[m].vertex);
        scene->mesh->moved[m] = (struct tac_moved){0, NULL};
    }
}

static enum tac_err read_spread(struct tac_ctx *ctx, const struct tac_scene_source *source, int64_t smallest,
                                struct tac_scene **common, struct tac_pieces **pieces)
{
    struct tac_reader reader = tac_reader_of(ctx, source);
    reader.spread = &spread_table;
    reader.smallest = smallest;
    enum tac_err err = tac_scene_read_by(&reader, source->set, source->set_count);
    if (err == TAC_OK)
        free_moved(reader.scene);
    *common = reader.scene;
    *pieces = reader.pieces;
    return err;
}

enum tac_err tac_scene_read_spread(struct tac_ctx *ctx, const char *path, const char *const *set, int set_count,
                                   int64_t smallest, struct tac_scene **common, struct tac_pieces **pieces)
{
    const struct tac_scene_source source = {.path = path, .set = set, .set_count = set_count};
    return read_spread(ctx, &source, smallest, common, pieces);
}

enum tac_err tac_scene_resume_pieces(struct tac_ctx *ctx, const struct tac_scene_source *source, const json_t *stored,
                                     const char *stored_sha256, const struct tac_geometry *geometry,
                                     struct tac_scene **common, struct tac_pieces **pieces)
{
    struct tac_resume resume = {.geometry = geometry, .from_stored = source->path == NULL};
    struct tac_reader reader = {.ctx = ctx,
                                .file = source->path != NULL ? source->path : TAC_RESUMED_NAME,
                                .resume = &resume,
                                .spread = &spread_table,
                                .smallest = SMALLEST_MESH};
    const enum tac_err err = tac_scene_resume_by(&reader, source->set, source->set_count, stored, stored_sha256);
    if (err == TAC_OK && reader.scene != NULL)
        free_moved(reader.scene);
    *common = reader.scene;
    *pieces = reader.pieces;
    return err;
}

bool tac_scene_is_large(const struct tac_ctx *ctx, const struct tac_geometry *geometry)
{
    return geometry->vertex_count + geometry->triangle_count + geometry->segment_count + geometry->tetrahedron_count >=
           (ctx->hooks.spread_from > 0 ? ctx->hooks.spread_from : SMALLEST);
}

enum tac_err tac_scene_source_pieces(struct tac_ctx *ctx, const struct tac_scene_source *source,
                                     struct tac_scene **common, struct tac_pieces **pieces)
{
    bool spread = ctx->size > 1 && ctx->rank == 0 && wants_spread(ctx, source);
    enum tac_err err = TAC_OK;
    *common = NULL;
    *pieces = NULL;
    if (ctx->size > 1)
        MPI_Bcast(&spread, 1, MPI_C_BOOL, 0, ctx->comm);
    if (spread)
        return read_spread(ctx, source, SMALLEST_MESH, common, pieces);
    TAC_TRY(tac_scene_source_read(ctx, source, common));
    TAC_TRY(tac_pieces_from_scene(ctx, *common, pieces));
    tac_scene_free_arrays(*common);
    free_moved(*common);
    TAC_TRY(tac_pieces_topology(ctx, *pieces));
done:
    if (err) {
        tac_scene_destroy(common);
        tac_pieces_destroy(pieces);
    }
    return err;
}

enum tac_err tac_scene_read_pieces(struct tac_ctx *ctx, const char *path, const char *const *set, int set_count,
                                   struct tac_scene **common, struct tac_pieces **pieces)
{
    const struct tac_scene_source source = {.path = path, .set = set, .set_count = set_count};
    return tac_scene_source_pieces(ctx, &source, common, pieces);
}
