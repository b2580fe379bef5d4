/* localise.c: from pieces to local scenes.
 *
 * Nobody knows where a vertex' owner is, so there is a meeting place: the rank whose block of ids holds the vertex
 * keeps its owner (the directory).  Whoever has an element asks there for the owners of its vertices and sends it to
 * each of them; vertices go to their owners; what an owner then lacks of its elements' vertices, its ghosts, it asks
 * of their owners.
 */
#include "partition/localise.h"

#include "partition/exchange.h"

#include <stdlib.h>
#include <string.h>

struct directory {
    tac_gid total, first;
    int32_t *owner; /* owned: of the block's vertices; -1: nobody gave that vertex */
};

struct told_owner {
    tac_gid id;
    int64_t owner;
};

static enum tac_err make_directory(struct tac_ctx *ctx, const struct tac_pieces *p, struct directory *d)
{
    const size_t n = (size_t)p->vertex_count;
    struct told_owner *tell = NULL, *came = NULL;
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
        tell[i] = (struct told_owner){p->vertex_id[i], p->owner[i]};
        to[i] = tac_block_rank(d->total, ctx->size, p->vertex_id[i]);
    }
    TAC_TRY(tac_deal(ctx, err, n, to, tell, sizeof *tell, &came, &came_count));
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
    const struct directory *d = known;
    memcpy(record, &d->owner[id - d->first], sizeof *d->owner);
}

/* Owners of n vertices, asked of the directory. */
static enum tac_err find_owners(struct tac_ctx *ctx, enum tac_err err, const struct directory *d, size_t n,
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

static int compare_lids(const void *a, const void *b)
{
    const tac_lid *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

static tac_lid find_motion(const struct tac_scene *common, tac_gid id)
{
    const tac_lid vertex = (tac_lid)id;
    for (tac_lid m = 0; m < common->motion_count; m++) {
        const struct tac_motion *motion = &common->motion[m];
        if (motion->vertex_count > 0 &&
            bsearch(&vertex, motion->vertex, (size_t)motion->vertex_count, sizeof vertex, compare_lids) != NULL)
            return m;
    }
    return -1;
}

static enum tac_err deal_vertices(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *p,
                                  struct arrived *a)
{
    const size_t n = (size_t)p->vertex_count;
    struct vertex_record *record = NULL;
    enum tac_err err = tac_alloc(ctx, n, sizeof *record, &record);
    for (size_t i = 0; i < n && err == TAC_OK; i++) {
        struct vertex_record *r = &record[i];
        r->id = p->vertex_id[i];
        memcpy(r->x, p->x + 3 * i, sizeof r->x);
        memcpy(r->v, p->v + 3 * i, sizeof r->v);
        r->mass = p->mass[i];
        r->owner = p->owner[i];
        r->body = p->body[i];
        r->motion = p->motion ? p->motion[i] : p->scripted[i] ? find_motion(common, r->id) : -1;
        r->valence = p->valence[i];
        r->ever_free = p->ever_free[i];
        r->scripted = p->scripted[i];
    }
    err = tac_deal(ctx, err, n, p->owner, record, sizeof *record, &a->vertex, &a->vertices);
    free(record);
    return err;
}

/* Records of one kind on their way: one copy for each distinct owner of the record's vertices. */
struct copies {
    size_t count;
    char *record; /* owned */
    int32_t *to;  /* owned */
};

static bool is_first(const int32_t *owner, int k)
{
    for (int j = 0; j < k; j++)
        if (owner[j] == owner[k])
            return false;
    return true;
}

/* owner: (n, width), of each record's vertices. */
static enum tac_err copy_for_owners(struct tac_ctx *ctx, size_t n, const void *record, size_t size,
                                    const int32_t *owner, int width, struct copies *out)
{
    enum tac_err err = TAC_OK;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < width; k++)
            count += is_first(owner + i * (size_t)width, k);
    TAC_TRY(tac_alloc(ctx, count, size, &out->record));
    TAC_TRY(tac_alloc(ctx, count, sizeof *out->to, &out->to));
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < width; k++) {
            const int32_t *o = owner + i * (size_t)width;
            if (!is_first(o, k))
                continue;
            memcpy(out->record + out->count * size, (const char *)record + i * size, size);
            out->to[out->count++] = o[k];
        }
done:
    return err;
}

static enum tac_err deal_to_owners(struct tac_ctx *ctx, enum tac_err err, size_t n, const void *record, size_t size,
                                   const int32_t *owner, int width, void *came, size_t *came_count)
{
    struct copies copies = {0};
    if (err == TAC_OK)
        err = copy_for_owners(ctx, n, record, size, owner, width, &copies);
    err = tac_deal(ctx, err, copies.count, copies.to, copies.record, size, came, came_count);
    free(copies.record);
    free(copies.to);
    return err;
}

static enum tac_err deal_triangles(struct tac_ctx *ctx, const struct tac_pieces *p, const int32_t *owner,
                                   struct arrived *a)
{
    const size_t n = (size_t)p->triangle_count;
    struct triangle_record *record = NULL;
    enum tac_err err = tac_alloc(ctx, n, sizeof *record, &record);
    for (size_t i = 0; i < n && err == TAC_OK; i++) {
        struct triangle_record *r = &record[i];
        r->id = p->triangle_id[i];
        memcpy(r->vertex, p->triangle + 3 * i, sizeof r->vertex);
        memcpy(r->edge, p->triangle_edge + 3 * i, sizeof r->edge);
        memcpy(r->valence, p->triangle_valence + 3 * i, sizeof r->valence);
        memcpy(r->place, p->triangle_place + 3 * i, 3);
    }
    err = deal_to_owners(ctx, err, n, record, sizeof *record, owner, 3, &a->triangle, &a->triangles);
    free(record);
    return err;
}

static enum tac_err deal_segments(struct tac_ctx *ctx, const struct tac_pieces *p, const int32_t *owner,
                                  struct arrived *a)
{
    const size_t n = (size_t)p->segment_count;
    struct segment_record *record = NULL;
    enum tac_err err = tac_alloc(ctx, n, sizeof *record, &record);
    for (size_t i = 0; i < n && err == TAC_OK; i++)
        record[i] =
            (struct segment_record){p->segment_id[i], {p->segment[2 * i], p->segment[2 * i + 1]}, p->segment_edge[i]};
    err = deal_to_owners(ctx, err, n, record, sizeof *record, owner, 2, &a->segment, &a->segments);
    free(record);
    return err;
}

static enum tac_err deal_hinges(struct tac_ctx *ctx, const struct tac_pieces *p, const int32_t *owner,
                                struct arrived *a)
{
    const size_t n = (size_t)p->hinge_count;
    struct hinge_record *record = NULL;
    enum tac_err err = tac_alloc(ctx, n, sizeof *record, &record);
    for (size_t i = 0; i < n && err == TAC_OK; i++) {
        record[i].edge = p->hinge_edge[i];
        memcpy(record[i].vertex, p->hinge + 4 * i, sizeof record[i].vertex);
    }
    err = deal_to_owners(ctx, err, n, record, sizeof *record, owner, 4, &a->hinge, &a->hinges);
    free(record);
    return err;
}

/* The owner of every corner of the pieces' triangles, segments and hinges, in that order, in *out (owned by the
 * caller). */
static enum tac_err find_corner_owners(struct tac_ctx *ctx, const struct directory *d, const struct tac_pieces *p,
                                       int32_t **out)
{
    const size_t count[3] = {3 * (size_t)p->triangle_count, 2 * (size_t)p->segment_count, 4 * (size_t)p->hinge_count};
    const tac_gid *from[3] = {p->triangle, p->segment, p->hinge};
    const size_t n = count[0] + count[1] + count[2];
    tac_gid *corner = NULL, *unique = NULL;
    tac_lid *place = NULL;
    int32_t *owner = NULL;
    size_t uniques = 0, at = 0;
    enum tac_err err = tac_alloc(ctx, n, sizeof *corner, &corner);
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *place, &place);
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof **out, out);
    for (int k = 0; k < 3 && err == TAC_OK; at += count[k++])
        memcpy(corner + at, from[k], count[k] * sizeof *corner);
    if (err == TAC_OK)
        err = tac_compress(ctx, n, corner, &unique, &uniques, place);
    if (err == TAC_OK)
        err = tac_alloc(ctx, uniques, sizeof *owner, &owner);
    TAC_TRY(find_owners(ctx, err, d, uniques, unique, owner));
    for (size_t i = 0; i < n; i++)
        (*out)[i] = owner[place[i]];
done:
    free(corner);
    free(unique);
    free(place);
    free(owner);
    return err;
}

static enum tac_err deal_all(struct tac_ctx *ctx, const struct directory *d, const struct tac_scene *common,
                             const struct tac_pieces *p, struct arrived *a)
{
    const size_t triangles = 3 * (size_t)p->triangle_count, segments = 2 * (size_t)p->segment_count;
    int32_t *owner = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(find_corner_owners(ctx, d, p, &owner));
    TAC_TRY(deal_vertices(ctx, common, p, a));
    TAC_TRY(deal_triangles(ctx, p, owner, a));
    TAC_TRY(deal_segments(ctx, p, owner + triangles, a));
    TAC_TRY(deal_hinges(ctx, p, owner + triangles + segments, a));
done:
    free(owner);
    return err;
}

/* Records, each beginning with its id, into ascending order. */
static enum tac_err sort_records(struct tac_ctx *ctx, size_t n, size_t size, void *records)
{
    char *from, *to = NULL;
    struct tac_keyed *order = NULL;
    enum tac_err err = TAC_OK;
    memcpy(&from, records, sizeof from);
    TAC_TRY(tac_alloc(ctx, n, sizeof *order, &order));
    for (size_t i = 0; i < n; i++) {
        memcpy(&order[i].key, from + i * size, sizeof order[i].key);
        order[i].index = (int64_t)i;
    }
    TAC_TRY(tac_sort_keyed(ctx, n, order));
    TAC_TRY(tac_alloc(ctx, n, size, &to));
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * size, from + (size_t)order[i].index * size, size);
    free(from);
    memcpy(records, &to, sizeof to);
done:
    free(order);
    return err;
}

static enum tac_err sort_arrived(struct tac_ctx *ctx, struct arrived *a)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(sort_records(ctx, a->vertices, sizeof *a->vertex, &a->vertex));
    TAC_TRY(sort_records(ctx, a->triangles, sizeof *a->triangle, &a->triangle));
    TAC_TRY(sort_records(ctx, a->segments, sizeof *a->segment, &a->segment));
    TAC_TRY(sort_records(ctx, a->hinges, sizeof *a->hinge, &a->hinge));
done:
    return err;
}

/* Local ids: a->local from the corners' global ids; the ghosts' ids, ascending, in *ghost (owned by the caller). */
static enum tac_err number_vertices(struct tac_ctx *ctx, struct arrived *a, tac_gid **ghost)
{
    const size_t n = 3 * a->triangles + 2 * a->segments + 4 * a->hinges;
    tac_gid *corner = NULL, *unique = NULL;
    tac_lid *number = NULL;
    size_t uniques = 0, at = 0, mine = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, n, sizeof *corner, &corner));
    TAC_TRY(tac_alloc(ctx, n, sizeof *a->local, &a->local));
    for (size_t i = 0; i < a->triangles; i++, at += 3)
        memcpy(corner + at, a->triangle[i].vertex, 3 * sizeof *corner);
    for (size_t i = 0; i < a->segments; i++, at += 2)
        memcpy(corner + at, a->segment[i].vertex, 2 * sizeof *corner);
    for (size_t i = 0; i < a->hinges; i++, at += 4)
        memcpy(corner + at, a->hinge[i].vertex, 4 * sizeof *corner);
    TAC_TRY(tac_compress(ctx, n, corner, &unique, &uniques, a->local));
    TAC_TRY(tac_alloc(ctx, uniques, sizeof *number, &number));
    for (size_t i = 0; i < uniques; i++) {
        while (mine < a->vertices && a->vertex[mine].id < unique[i])
            mine++;
        const bool ours = mine < a->vertices && a->vertex[mine].id == unique[i];
        number[i] = ours ? (tac_lid)mine : (tac_lid)(a->vertices + a->ghosts);
        if (!ours)
            unique[a->ghosts++] = unique[i];
    }
    if (a->vertices + a->ghosts > INT32_MAX)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "rank %d would hold %zu vertices; use more ranks", ctx->rank,
                         a->vertices + a->ghosts));
    for (size_t i = 0; i < n; i++)
        a->local[i] = number[a->local[i]];
    *ghost = unique;
    unique = NULL;
done:
    free(corner);
    free(unique);
    free(number);
    return err;
}

static void tell_vertex(const void *known, tac_gid id, void *record)
{
    const struct arrived *a = known;
    size_t low = 0, high = a->vertices;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (a->vertex[middle].id <= id)
            low = middle;
        else
            high = middle;
    }
    memcpy(record, &a->vertex[low], sizeof *a->vertex);
}

static enum tac_err fetch_ghosts(struct tac_ctx *ctx, const struct directory *d, struct arrived *a)
{
    tac_gid *ghost = NULL;
    int32_t *owner = NULL;
    enum tac_err err = sort_arrived(ctx, a);
    if (err == TAC_OK)
        err = number_vertices(ctx, a, &ghost);
    if (err == TAC_OK)
        err = tac_alloc(ctx, a->ghosts, sizeof *owner, &owner);
    if (err == TAC_OK)
        err = tac_alloc(ctx, a->ghosts, sizeof *a->ghost, &a->ghost);
    TAC_TRY(find_owners(ctx, err, d, a->ghosts, ghost, owner));
    TAC_TRY(tac_ask(ctx, TAC_OK, a->ghosts, owner, ghost, tell_vertex, a, sizeof *a->ghost, a->ghost));
done:
    free(ghost);
    free(owner);
    return err;
}

static enum tac_err make_vertices(struct tac_ctx *ctx, const struct arrived *a, struct tac_scene *s)
{
    const size_t n = a->vertices + a->ghosts;
    struct tac_part *part = s->part;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *s->x, &s->x));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *s->v, &s->v));
    TAC_TRY(tac_alloc(ctx, n, sizeof *s->mass, &s->mass));
    TAC_TRY(tac_alloc(ctx, n, 1, &s->ever_free));
    TAC_TRY(tac_alloc(ctx, n, sizeof *s->vertex_body, &s->vertex_body));
    TAC_TRY(tac_alloc(ctx, n, sizeof *part->vertex_id, &part->vertex_id));
    TAC_TRY(tac_alloc(ctx, n, sizeof *part->owner, &part->owner));
    TAC_TRY(tac_alloc(ctx, n, sizeof *part->valence, &part->valence));
    TAC_TRY(tac_alloc(ctx, n, 1, &part->scripted));
    TAC_TRY(tac_alloc(ctx, n, sizeof *part->motion, &part->motion));
    s->vertex_count = (tac_lid)n;
    part->owned = (tac_lid)a->vertices;
    for (size_t i = 0; i < n; i++) {
        const struct vertex_record *r = i < a->vertices ? &a->vertex[i] : &a->ghost[i - a->vertices];
        memcpy(s->x + 3 * i, r->x, sizeof r->x);
        memcpy(s->v + 3 * i, r->v, sizeof r->v);
        s->mass[i] = r->mass;
        s->ever_free[i] = (uint8_t)r->ever_free;
        s->vertex_body[i] = r->body;
        part->vertex_id[i] = r->id;
        part->owner[i] = r->owner;
        part->valence[i] = r->valence;
        part->scripted[i] = (uint8_t)r->scripted;
        part->motion[i] = r->motion;
    }
done:
    return err;
}

/* The scripts' lists of vertices: those that we own. */
static enum tac_err make_motions(struct tac_ctx *ctx, struct tac_scene *s)
{
    const struct tac_part *part = s->part;
    tac_lid *count = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, (size_t)s->motion_count, sizeof *count, &count));
    for (tac_lid i = 0; i < part->owned; i++)
        if (part->motion[i] >= 0)
            count[part->motion[i]]++;
    for (tac_lid m = 0; m < s->motion_count; m++)
        TAC_TRY(tac_alloc(ctx, (size_t)count[m], sizeof(tac_lid), &s->motion[m].vertex));
    for (tac_lid i = 0; i < part->owned; i++)
        if (part->motion[i] >= 0) {
            struct tac_motion *motion = &s->motion[part->motion[i]];
            motion->vertex[motion->vertex_count++] = i;
        }
done:
    free(count);
    return err;
}

static enum tac_err make_scene(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *p,
                               const struct arrived *a, struct tac_scene **out)
{
    enum tac_err err = TAC_OK;
    struct tac_scene *s = NULL;
    TAC_TRY(tac_scene_copy_common(ctx, common, &s));
    TAC_TRY(tac_alloc(ctx, 1, sizeof *s->part, &s->part));
    s->part->vertex_total = p->vertex_total;
    s->part->triangle_total = p->triangle_total;
    s->part->segment_total = p->segment_total;
    s->part->edge_total = p->edge_total;
    TAC_TRY(make_vertices(ctx, a, s));
    TAC_TRY(make_motions(ctx, s));
    TAC_TRY(tac_localise_elements(ctx, a, s));
    *out = s;
    s = NULL;
done:
    tac_scene_destroy(&s);
    return err;
}

enum tac_err tac_localise(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *pieces,
                          struct tac_scene **out)
{
    struct directory directory = {0};
    struct arrived a = {0};
    enum tac_err err = TAC_OK;
    *out = NULL;
    TAC_TRY(make_directory(ctx, pieces, &directory));
    TAC_TRY(deal_all(ctx, &directory, common, pieces, &a));
    TAC_TRY(fetch_ghosts(ctx, &directory, &a));
    TAC_TRY(tac_agree(ctx, make_scene(ctx, common, pieces, &a, out)));
done:
    if (err)
        tac_scene_destroy(out);
    free(directory.owner);
    free(a.vertex);
    free(a.ghost);
    free(a.triangle);
    free(a.segment);
    free(a.hinge);
    free(a.local);
    return err;
}
