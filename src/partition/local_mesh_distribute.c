/* local_mesh_distribute.c: makes the directory of owners, and sends the pieces to them. */
#include "base/compare.h"
#include "partition/local_mesh.h"

#include <stdlib.h>
#include <string.h>

struct owner_report {
    tac_gid id;
    int64_t owner;
};

enum tac_err tac_directory_make(struct tac_ctx *ctx, const struct tac_pieces *p, struct tac_directory *d)
{
    const size_t n = (size_t)p->vertex_count;
    struct owner_report *tell = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t came_count = 0, block;
    d->total = p->vertex_total;
    d->first = tac_block_begin(d->total, ctx->size, ctx->rank);
    block = (size_t)(tac_block_begin(d->total, ctx->size, ctx->rank + 1) - d->first);
    enum tac_err err = tac_alloc(ctx, n, sizeof *tell, &tell);
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *to, &to);
    if (err == TAC_OK)
        err = tac_alloc(ctx, block, sizeof *d->owner, &d->owner);
    for (size_t i = 0; i < n && err == TAC_OK; i++) {
        TAC_CHECK(p->owner[i] >= 0 && p->owner[i] < ctx->size);
        tell[i] = (struct owner_report){p->vertex_id[i], p->owner[i]};
        to[i] = tac_block_rank(d->total, ctx->size, p->vertex_id[i]);
    }
    TAC_TRY(tac_distribute(ctx, err, n, to, tell, sizeof *tell, &came, &came_count));
    TAC_CHECK(came_count == block); /* every vertex is on exactly one rank */
    for (size_t i = 0; i < came_count; i++)
        d->owner[came[i].id - d->first] = (int32_t)came[i].owner;
done:
    free(tell);
    free(came);
    free(to);
    return err;
}

static void tell_owner(const void *known, tac_gid id, void *record)
{
    const struct tac_directory *d = known;
    memcpy(record, &d->owner[id - d->first], sizeof *d->owner);
}

enum tac_err tac_directory_owners(struct tac_ctx *ctx, enum tac_err err, const struct tac_directory *d, size_t n,
                                  const tac_gid *id, int32_t *owner)
{
    int32_t *to = NULL;
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *to, &to);
    for (size_t i = 0; i < n && err == TAC_OK; i++)
        to[i] = tac_block_rank(d->total, ctx->size, id[i]);
    err = tac_ask(ctx, err, n, to, id, tell_owner, d, sizeof *owner, owner);
    free(to);
    return err;
}

static tac_lid find_motion(const struct tac_scene *common, tac_gid id)
{
    const tac_lid vertex = (tac_lid)id;
    for (tac_lid m = 0; m < common->mesh->moved_count; m++) {
        const struct tac_moved *moved = &common->mesh->moved[m];
        if (moved->vertex_count > 0 &&
            bsearch(&vertex, moved->vertex, (size_t)moved->vertex_count, sizeof vertex, tac_compare_int32) != NULL)
            return m;
    }
    return -1;
}

struct distributed {
    const struct tac_scene *common;
    const struct tac_pieces *pieces;
};

static void fill_vertex(const void *from, tac_lid index, void *record)
{
    const struct distributed *d = from;
    const struct tac_pieces *p = d->pieces;
    const size_t i = (size_t)index;
    struct vertex_record r = {.id = p->vertex_id[i], .mass = p->mass[i], .owner = p->owner[i], .body = p->body[i]};
    memcpy(r.x, p->x + 3 * i, sizeof r.x);
    memcpy(r.v, p->v + 3 * i, sizeof r.v);
    r.motion = p->motion ? p->motion[i] : p->scripted[i] ? find_motion(d->common, r.id) : -1;
    r.load = p->load[i];
    r.valence = p->valence[i];
    r.ever_free = p->ever_free[i];
    r.scripted = p->scripted[i];
    memcpy(record, &r, sizeof r);
}

static void fill_triangle(const void *from, tac_lid index, void *record)
{
    const struct tac_pieces *p = ((const struct distributed *)from)->pieces;
    const size_t i = (size_t)index;
    struct triangle_record r = {.id = p->triangle_id[i]};
    memcpy(r.vertex, p->triangle + 3 * i, sizeof r.vertex);
    memcpy(r.edge, p->triangle_edge + 3 * i, sizeof r.edge);
    memcpy(r.valence, p->triangle_valence + 3 * i, sizeof r.valence);
    memcpy(r.place, p->triangle_place + 3 * i, 3);
    memcpy(record, &r, sizeof r);
}

static void fill_segment(const void *from, tac_lid index, void *record)
{
    const struct tac_pieces *p = ((const struct distributed *)from)->pieces;
    const size_t i = (size_t)index;
    const struct segment_record r = {p->segment_id[i], {p->segment[2 * i], p->segment[2 * i + 1]}, p->segment_edge[i]};
    memcpy(record, &r, sizeof r);
}

static void fill_hinge(const void *from, tac_lid index, void *record)
{
    const struct tac_pieces *p = ((const struct distributed *)from)->pieces;
    const size_t i = (size_t)index;
    struct hinge_record r = {.edge = p->hinge_edge[i]};
    memcpy(r.vertex, p->hinge + 4 * i, sizeof r.vertex);
    memcpy(record, &r, sizeof r);
}

static void fill_tetrahedron(const void *from, tac_lid index, void *record)
{
    const struct tac_pieces *p = ((const struct distributed *)from)->pieces;
    const size_t i = (size_t)index;
    struct tetrahedron_record r = {.id = p->tetrahedron_id[i]};
    memcpy(r.vertex, p->tetrahedron + 4 * i, sizeof r.vertex);
    memcpy(record, &r, sizeof r);
}

/* The owners of the vertices that the pieces' elements have. */
struct owners {
    tac_gid *id;              /* owned */
    struct tac_finder finder; /* owned */
    int32_t *owner;           /* owned */
};

static void free_owners(struct owners *o)
{
    free(o->id);
    free(o->owner);
    tac_finder_free(&o->finder);
}

static enum tac_err list_corners(struct tac_ctx *ctx, const struct tac_pieces *p, tac_gid **id, size_t *count)
{
    struct tac_ids ids = {0};
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_ids_add(ctx, &ids, 3 * (size_t)p->triangle_count, p->triangle));
    TAC_TRY(tac_ids_add(ctx, &ids, 2 * (size_t)p->segment_count, p->segment));
    TAC_TRY(tac_ids_add(ctx, &ids, 4 * (size_t)p->hinge_count, p->hinge));
    TAC_TRY(tac_ids_add(ctx, &ids, 4 * (size_t)p->tetrahedron_count, p->tetrahedron));
    TAC_TRY(tac_ids_finish(ctx, &ids, id, count));
done:
    free(ids.list);
    return err;
}

static enum tac_err ask_owners(struct tac_ctx *ctx, const struct tac_directory *d, const struct tac_pieces *p,
                               struct owners *o)
{
    size_t count = 0;
    enum tac_err err = list_corners(ctx, p, &o->id, &count);
    if (err == TAC_OK)
        err = tac_finder_make(ctx, o->id, count, &o->finder);
    if (err == TAC_OK)
        err = tac_alloc(ctx, count, sizeof *o->owner, &o->owner);
    return tac_directory_owners(ctx, err, d, count, o->id, o->owner);
}

/* Elements that are sent: one copy for each distinct owner of the element's vertices. */
struct copies {
    size_t count;
    tac_lid *which; /* owned */
    int32_t *to;    /* owned */
};

/* The distinct owners of an element's vertices, at most four. */
static int distinct_owners(const struct owners *o, const tac_gid *vertex, int width, int32_t out[4])
{
    int n = 0;
    for (int k = 0; k < width; k++) {
        const int32_t owner = o->owner[tac_finder_find(&o->finder, vertex[k])];
        int j = 0;
        while (j < n && out[j] != owner)
            j++;
        if (j == n)
            out[n++] = owner;
    }
    return n;
}

static enum tac_err copy_for_owners(struct tac_ctx *ctx, const struct owners *o, size_t n, const tac_gid *vertex,
                                    int width, struct copies *out)
{
    enum tac_err err = TAC_OK;
    size_t count = 0;
    int32_t owner[4];
    for (size_t i = 0; i < n; i++)
        count += (size_t)distinct_owners(o, vertex + i * (size_t)width, width, owner);
    TAC_TRY(tac_alloc(ctx, count, sizeof *out->which, &out->which));
    TAC_TRY(tac_alloc(ctx, count, sizeof *out->to, &out->to));
    for (size_t i = 0; i < n; i++) {
        const int owners = distinct_owners(o, vertex + i * (size_t)width, width, owner);
        for (int k = 0; k < owners; k++) {
            out->which[out->count] = (tac_lid)i;
            out->to[out->count++] = owner[k];
        }
    }
done:
    return err;
}

static enum tac_err distribute_elements(struct tac_ctx *ctx, const struct distributed *d, const struct owners *o,
                                        size_t n, const tac_gid *vertex, int width, tac_fill *fill, size_t size,
                                        void *came, size_t *came_count)
{
    struct copies copies = {0};
    enum tac_err err = copy_for_owners(ctx, o, n, vertex, width, &copies);
    err = tac_distribute_table(ctx, err, copies.count, copies.which, copies.to, fill, d, size, came, came_count);
    free(copies.which);
    free(copies.to);
    return err;
}

static enum tac_err distribute_vertices(struct tac_ctx *ctx, const struct distributed *d, struct arrived *a)
{
    const size_t n = (size_t)d->pieces->vertex_count;
    tac_lid *which = NULL;
    enum tac_err err = tac_alloc(ctx, n, sizeof *which, &which);
    for (size_t i = 0; i < n && err == TAC_OK; i++)
        which[i] = (tac_lid)i;
    err = tac_distribute_table(ctx, err, n, which, d->pieces->owner, fill_vertex, d, sizeof *a->vertex, &a->vertex,
                               &a->vertices);
    free(which);
    return err;
}

enum tac_err tac_local_distribute(struct tac_ctx *ctx, const struct tac_directory *dir, const struct tac_scene *common,
                                  struct tac_pieces *p, struct arrived *a)
{
    struct owners o = {0};
    const struct distributed d = {common, p};
    enum tac_err err = TAC_OK;
    TAC_TRY(ask_owners(ctx, dir, p, &o));
    TAC_TRY(distribute_elements(ctx, &d, &o, (size_t)p->hinge_count, p->hinge, 4, fill_hinge, sizeof *a->hinge,
                                &a->hinge, &a->hinges));
    tac_pieces_free_hinges(p);
    if (p->tetrahedron_total > 0)
        TAC_TRY(distribute_elements(ctx, &d, &o, (size_t)p->tetrahedron_count, p->tetrahedron, 4, fill_tetrahedron,
                                    sizeof *a->tetrahedron, &a->tetrahedron, &a->tetrahedra));
    tac_pieces_free_tetrahedra(p);
    TAC_TRY(distribute_elements(ctx, &d, &o, (size_t)p->triangle_count, p->triangle, 3, fill_triangle,
                                sizeof *a->triangle, &a->triangle, &a->triangles));
    tac_pieces_free_triangles(p);
    TAC_TRY(distribute_elements(ctx, &d, &o, (size_t)p->segment_count, p->segment, 2, fill_segment, sizeof *a->segment,
                                &a->segment, &a->segments));
    tac_pieces_free_segments(p);
    TAC_TRY(distribute_vertices(ctx, &d, a));
    tac_pieces_free_vertices(p);
done:
    free_owners(&o);
    return err;
}
