/* positions.c: reads motions whose vertices have the positions of a file, and motions that follow such a vertex or
 * triangle.
 *
 * The file's first knot must be the placed mesh, up to rounding, and the placed mesh is used instead of it, so that the
 * rest shape, the start and the path agree exactly. All other knots are read once before a run starts: for the scene's
 * hash, and to check that no speed is too large. While reading is spread over the ranks, each rank reads some of the
 * knots.
 */
#include "mesh/cache/point_cache.h"
#include "scene/scene_read.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SAME_DOUBLE 1e-9 /* of the body's size: how far the first knot may lie from the placed mesh */
#define SAME_SINGLE 1e-6
#define SUM_OF_WEIGHTS 1e-6 /* how far from 1 */

enum { DIGEST = 32, BLOCK = 1 << 15 }; /* bytes; rows that are read at once */

static const struct tac_field positions_fields[] = {
    {.key = "file", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "sha256", .kind = TAC_FIELD_OTHER},
};

static const struct tac_field follow_fields[] = {
    {.key = "body", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "vertex", .kind = TAC_FIELD_OTHER},
    {.key = "triangle", .kind = TAC_FIELD_OTHER},
    {.key = "weights", .kind = TAC_FIELD_OTHER},
};

/* ---- the file ---- */

static enum tac_err check_times(struct tac_reader *reader, const char *where, const struct tac_point_cache *cache)
{
    const struct tac_scene *s = reader->scene;
    enum tac_err err = TAC_OK;
    for (int64_t k = 0; k < cache->knots; k++) {
        const double t = cache->t_s[k], before = k > 0 ? cache->t_s[k - 1] : 0;
        if (!(t >= 0))
            TAC_TRY(tac_scene_fail(reader, where, "knot %lld lies at %s s; a knot must not lie before t = 0",
                                   (long long)k, tac_shown(t).text));
        if (tac_scene_quanta(s, t) == TAC_TIME_NEVER)
            TAC_TRY(tac_scene_fail(reader, where, "knot %lld lies at %s s, over 2^53 quanta of %s s", (long long)k,
                                   tac_shown(t).text, tac_shown(s->settings->quantum_s).text));
        if (k > 0 && tac_scene_quanta(s, t) <= tac_scene_quanta(s, before))
            TAC_TRY(tac_scene_fail(reader, where,
                                   "knot %lld lies at %s s after %s s; times of knots must ascend, by more than a "
                                   "quantum",
                                   (long long)k, tac_shown(t).text, tac_shown(before).text));
    }
done:
    return err;
}

/* far: largest coordinates and largest negative ones of this rank's rows, and how far the first knot is off them. */
static enum tac_err compare_rows(struct tac_reader *reader, tac_lid body, const struct tac_point_cache *cache,
                                 double far[7])
{
    const struct tac_rows rows = reader->rows[body][TAC_VERTICES];
    const int64_t count = rows.end - rows.begin;
    const double *x = reader->scene->mesh->x + 3 * (size_t)rows.begin;
    double *first = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(reader->ctx, 3 * (size_t)count, sizeof *first, &first));
    if (count > 0)
        TAC_TRY(tac_point_cache_read(reader->ctx, cache, 0, rows.number, count, first));
    for (size_t i = 0; i < (size_t)count; i++) {
        double off[3];
        tac_sub(off, first + 3 * i, x + 3 * i);
        far[6] = fmax(far[6], sqrt(tac_dot(off, off)));
        for (size_t c = 0; c < 3; c++) {
            far[c] = fmax(far[c], x[3 * i + c]);
            far[3 + c] = fmax(far[3 + c], -x[3 * i + c]);
        }
    }
done:
    free(first);
    return err;
}

static enum tac_err compare_start(struct tac_reader *reader, const char *where, tac_lid body, struct tac_motion *motion)
{
    const struct tac_point_cache *cache = motion->cache;
    double far[7] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 0}, side[3];
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_reader_agree(reader, compare_rows(reader, body, cache, far)));
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, far, 7, MPI_DOUBLE, MPI_MAX, reader->ctx->comm);
    for (int c = 0; c < 3; c++)
        side[c] = far[c] + far[3 + c];
    const double size = sqrt(tac_dot(side, side)), most = cache->single ? SAME_SINGLE : SAME_DOUBLE;
    motion->first_off = far[6];
    if (!(far[6] <= most * size))
        TAC_TRY(
            tac_scene_fail(reader, where,
                           "its first knot lies up to %.3g m off the placed mesh of \"%.60s\", over %g of its size; "
                           "place the body (position, rotation, scale) as the file has it at t = %s s",
                           far[6], reader->scene->settings->body[body].name, most, tac_shown(cache->t_s[0]).text));
done:
    return err;
}

enum tac_err tac_scene_read_positions(struct tac_reader *reader, json_t *positions, const char *where, tac_lid body,
                                      struct tac_motion *motion)
{
    const struct tac_body *b = &reader->scene->settings->body[body];
    struct tac_point_cache *cache = NULL;
    char place[TAC_WHERE], from[TAC_WHERE + 2];
    const char *path = "";
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_fields_read(reader, positions, where, positions_fields, COUNT(positions_fields), motion));
    tac_where(place, where, "file");
    TAC_TRY(tac_string(reader, json_object_get(positions, "file"), place, &path));
    TAC_TRY(tac_scene_resolve_path(reader, positions, "file"));
    path = json_string_value(json_object_get(positions, "file"));
    snprintf(from, sizeof from, "%s: ", place);
    if (motion->release)
        TAC_TRY(tac_scene_fail(reader, where,
                               "cannot release its vertices: they are where the file says for ever; "
                               "leave out \"release\""));
    TAC_TRY(tac_reader_agree(reader, tac_point_cache_open(reader->ctx, path, from, &cache)));
    motion->cache = cache;
    if (cache->vertices != b->vertex_end - b->vertex_begin)
        TAC_TRY(tac_scene_fail(reader, place, "has %lld vertices, but \"%.60s\" has %d", (long long)cache->vertices,
                               b->name, (int)(b->vertex_end - b->vertex_begin)));
    if (cache->knots > TAC_MOST_ELEMENTS)
        TAC_TRY(tac_scene_fail(reader, place, "has too many knots"));
    TAC_TRY(check_times(reader, place, cache));
    TAC_TRY(compare_start(reader, place, body, motion));
    motion->knot_count = (tac_lid)cache->knots;
    TAC_TRY(tac_alloc(reader->ctx, (size_t)cache->knots, sizeof *motion->knot_t_s, &motion->knot_t_s));
    memcpy(motion->knot_t_s, cache->t_s, (size_t)cache->knots * sizeof *motion->knot_t_s);
    reader->leaves_plane = true;
done:
    return err;
}

/* ---- all its knots ---- */

/* What one rank finds in some of the knots. */
struct look {
    struct tac_reader *reader;
    const struct tac_point_cache *cache;
    const char *where;
    EVP_MD_CTX *md; /* owned */
    double *x[2];   /* owned, (BLOCK, 3): a block of rows at a knot, and at the one before */
    tac_lid body;   /* for sentences */
};

static bool put_numbers(struct look *l, const double *x, size_t count)
{
    const uint16_t one = 1;
    unsigned char first, bytes[8];
    memcpy(&first, &one, 1);
    if (first == 1) /* little-endian, as the hash is */
        return EVP_DigestUpdate(l->md, x, count * sizeof *x) == 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        for (int k = 0; k < 8; k++)
            bytes[k] = (unsigned char)(bits >> 8 * k);
        if (EVP_DigestUpdate(l->md, bytes, 8) != 1)
            return false;
    }
    return true;
}

static enum tac_err check_block(struct look *l, int64_t knot, int64_t first, int64_t count)
{
    const double dt = l->cache->t_s[knot] - l->cache->t_s[knot - 1], fastest = l->reader->scene->settings->fastest;
    for (int64_t i = 0; i < count; i++) {
        const double *x = l->x[0] + 3 * i;
        double moved[3];
        tac_sub(moved, x, l->x[1] + 3 * i);
        const double speed = sqrt(tac_dot(moved, moved)) / dt;
        if (fabs(x[0]) > TAC_FARTHEST || fabs(x[1]) > TAC_FARTHEST || fabs(x[2]) > TAC_FARTHEST)
            return tac_scene_fail(l->reader, l->where, "vertex %lld at knot %lld (t = %.9g s) is over %g m away",
                                  (long long)(first + i), (long long)knot, l->cache->t_s[knot], TAC_FARTHEST);
        if (!(speed <= fastest))
            return tac_scene_fail(
                l->reader, l->where,
                "vertex %lld of \"%.60s\" reaches knot %lld (t = %.9g s) at %.3g m/s, which cannot be "
                "simulated; stay under %.3g m/s",
                (long long)(first + i), l->reader->scene->settings->body[l->body].name, (long long)knot,
                l->cache->t_s[knot], speed, fastest);
    }
    return TAC_OK;
}

static enum tac_err look_at_knot(struct look *l, int64_t knot, unsigned char *digest)
{
    unsigned int size = 0;
    enum tac_err err = TAC_OK;
    bool ok = EVP_DigestInit_ex(l->md, EVP_sha256(), NULL) == 1;
    for (int64_t first = 0; first < l->cache->vertices && ok; first += BLOCK) {
        const int64_t left = l->cache->vertices - first, count = left < BLOCK ? left : BLOCK;
        TAC_TRY(tac_point_cache_read(l->reader->ctx, l->cache, knot - 1, first, count, l->x[1]));
        TAC_TRY(tac_point_cache_read(l->reader->ctx, l->cache, knot, first, count, l->x[0]));
        TAC_TRY(check_block(l, knot, first, count));
        ok = put_numbers(l, l->x[0], 3 * (size_t)count);
    }
    if (!ok || EVP_DigestFinal_ex(l->md, digest, &size) != 1 || size != DIGEST)
        err = tac_fail(l->reader->ctx, TAC_ERR_RUN, "libcrypto failed to compute a SHA-256; check its installation");
done:
    return err;
}

/* The digests of knots begin .. end-1. */
static enum tac_err look_at_knots(struct tac_reader *reader, tac_lid index, const char *where, int64_t begin,
                                  int64_t end, unsigned char *digest)
{
    const struct tac_motion *m = &reader->scene->settings->motion[index];
    struct look l = {.reader = reader, .cache = m->cache, .where = where, .body = m->body};
    enum tac_err err = TAC_OK;
    l.md = EVP_MD_CTX_new();
    if (l.md == NULL)
        TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "libcrypto offers no SHA-256; check its installation"));
    for (int k = 0; k < 2; k++)
        TAC_TRY(tac_alloc(reader->ctx, 3 * BLOCK, sizeof *l.x[k], &l.x[k]));
    for (int64_t k = begin; k < end; k++)
        TAC_TRY(look_at_knot(&l, k, digest + DIGEST * k));
done:
    EVP_MD_CTX_free(l.md);
    free(l.x[0]);
    free(l.x[1]);
    return err;
}

/* Digests of all ranks' knots, those of a rank after those of the rank before. */
static enum tac_err gather_digests(struct tac_reader *reader, int64_t knots, unsigned char *digest)
{
    const int ranks = reader->ctx->size;
    int *size = NULL, *begin = NULL;
    enum tac_err err = tac_alloc(reader->ctx, (size_t)ranks, sizeof *size, &size);
    if (!err)
        err = tac_alloc(reader->ctx, (size_t)ranks, sizeof *begin, &begin);
    TAC_TRY(tac_reader_agree(reader, err));
    for (int r = 0; r < ranks; r++) {
        const int64_t from = 1 + (knots - 1) * r / ranks, to = 1 + (knots - 1) * (r + 1) / ranks;
        begin[r] = (int)(DIGEST * from);
        size[r] = (int)(DIGEST * (to - from));
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, digest, size, begin, MPI_UNSIGNED_CHAR, reader->ctx->comm);
done:
    free(size);
    free(begin);
    return err;
}

static enum tac_err take_digest(struct tac_reader *reader, struct tac_point_cache *cache, const unsigned char *digest)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    if (EVP_Digest(digest, DIGEST * (size_t)cache->knots, sum, &size, EVP_sha256(), NULL) != 1 || size != DIGEST)
        return tac_fail(reader->ctx, TAC_ERR_RUN, "libcrypto failed to compute a SHA-256; check its installation");
    for (unsigned int i = 0; i < size; i++)
        snprintf(cache->sha256 + 2 * i, 3, "%02x", sum[i]);
    return TAC_OK;
}

/* The resolved scene has the hash, so a restart finds whether the file has changed. */
static enum tac_err compare_digest(struct tac_reader *reader, tac_lid index, const char *where)
{
    const struct tac_point_cache *cache = reader->scene->settings->motion[index].cache;
    json_t *motion = json_array_get(json_object_get(reader->scene->settings->json, "motions"), (size_t)index),
           *positions = json_object_get(motion, "positions");
    const json_t *given = json_object_get(positions, "sha256");
    char place[TAC_WHERE];
    const char *text = "";
    enum tac_err err = TAC_OK;
    tac_where(place, where, "sha256");
    if (given != NULL)
        TAC_TRY(tac_string(reader, given, place, &text));
    if (given != NULL && strcmp(text, cache->sha256) != 0)
        TAC_TRY(tac_scene_fail(reader, place, "is another one than that of %s, which is %s: the file has changed",
                               cache->path, cache->sha256));
    if (given == NULL && json_object_set_new(positions, "sha256", json_string(cache->sha256)) != 0)
        err = tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
done:
    return err;
}

enum tac_err tac_scene_check_positions(struct tac_reader *reader, tac_lid index)
{
    struct tac_point_cache *cache = reader->scene->settings->motion[index].cache;
    const int64_t knots = cache->knots, rank = reader->spread ? reader->ctx->rank : 0,
                  ranks = reader->spread ? reader->ctx->size : 1;
    unsigned char *digest = NULL;
    char whole[TAC_WHERE], where[TAC_WHERE], place[TAC_WHERE];
    enum tac_err err = TAC_OK;
    if (cache->sha256[0] != '\0') /* a scene that changes while it runs */
        return TAC_OK;
    tac_where_index(whole, "motions", (size_t)index);
    tac_where(where, whole, "positions");
    tac_where(place, where, "file");
    err = tac_alloc(reader->ctx, (size_t)knots, DIGEST, &digest);
    if (!err)
        err = look_at_knots(reader, index, place, 1 + (knots - 1) * rank / ranks, 1 + (knots - 1) * (rank + 1) / ranks,
                            digest);
    TAC_TRY(tac_reader_agree(reader, err));
    if (reader->spread)
        TAC_TRY(gather_digests(reader, knots, digest));
    TAC_TRY(tac_reader_agree(reader, take_digest(reader, cache, digest)));
    TAC_TRY(compare_digest(reader, index, where));
done:
    free(digest);
    return err;
}

/* ---- motions that follow ---- */

/* Up to three vertices of a body, by their numbers in it. */
struct followed {
    int count;
    int64_t number[3];
    double weight[3], start[9]; /* start: of the placed mesh, m */
};

/* The vertices of a triangle, which some rank has. */
static void find_triangle(struct tac_reader *reader, tac_lid body, int64_t triangle, int64_t number[3])
{
    const struct tac_body *b = &reader->scene->settings->body[body];
    const struct tac_rows *rows = &reader->rows[body][TAC_TRIANGLES];
    const int64_t row = rows->begin + triangle - rows->number;
    for (int k = 0; k < 3; k++)
        number[k] =
            row >= rows->begin && row < rows->end ? reader->scene->mesh->triangle[3 * row + k] - b->vertex_begin : -1;
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, number, 3, MPI_INT64_T, MPI_MAX, reader->ctx->comm);
}

static enum tac_err read_weights(struct tac_reader *reader, const json_t *weights, const char *where,
                                 struct followed *f)
{
    double sum = 0;
    enum tac_err err = TAC_OK;
    for (int k = 0; k < f->count; k++)
        f->weight[k] = 1. / f->count;
    if (weights == NULL)
        return TAC_OK;
    if (!json_is_array(weights) || json_array_size(weights) != (size_t)f->count)
        TAC_TRY(tac_scene_fail(reader, where, "must be an array of %d numbers, a weight for each vertex", f->count));
    for (int k = 0; k < f->count; k++) {
        char place[TAC_WHERE];
        tac_where_index(place, where, (size_t)k);
        TAC_TRY(tac_number(reader, json_array_get(weights, (size_t)k), place, &f->weight[k]));
        sum += f->weight[k];
    }
    if (!(fabs(sum - 1) <= SUM_OF_WEIGHTS))
        TAC_TRY(tac_scene_fail(reader, where, "add up to %s; they must add up to 1", tac_shown(sum).text));
done:
    return err;
}

static enum tac_err read_followed(struct tac_reader *reader, json_t *follow, const char *where, tac_lid body,
                                  struct followed *f)
{
    const struct tac_body *b = &reader->scene->settings->body[body];
    json_t *vertex = json_object_get(follow, "vertex"), *triangle = json_object_get(follow, "triangle"),
           *weights = json_object_get(follow, "weights");
    char place[TAC_WHERE];
    int64_t number;
    enum tac_err err = TAC_OK;
    if ((vertex == NULL) == (triangle == NULL))
        TAC_TRY(tac_scene_fail(reader, where, "must have either \"vertex\" or \"triangle\""));
    tac_where(place, where, vertex ? "vertex" : "triangle");
    const tac_lid last = (vertex ? b->vertex_end - b->vertex_begin : b->triangle_end - b->triangle_begin) - 1;
    if (last < 0)
        TAC_TRY(tac_scene_fail(reader, place, "cannot be followed: \"%.60s\" has no triangles", b->name));
    TAC_TRY(tac_integer(reader, vertex ? vertex : triangle, place, 0, last, &number));
    f->count = vertex ? 1 : 3;
    f->number[0] = number;
    if (triangle != NULL)
        find_triangle(reader, body, number, f->number);
    tac_where(place, where, "weights");
    TAC_TRY(read_weights(reader, weights, place, f));
done:
    return err;
}

/* Gets the positions of those vertices at the start; the motion must move each of them. */
static enum tac_err find_starts(struct tac_reader *reader, const char *where, tac_lid leader, struct followed *f)
{
    const struct tac_rows *rows = &reader->rows[reader->scene->settings->motion[leader].body][TAC_VERTICES];
    double there[12];
    for (int k = 0; k < 12; k++)
        there[k] = -INFINITY;
    for (int k = 0; k < f->count; k++) {
        const int64_t row = rows->begin + f->number[k] - rows->number;
        if (row < rows->begin || row >= rows->end || reader->motion[row] != leader)
            continue;
        memcpy(&there[3 * k], &reader->scene->mesh->x[3 * row], 3 * sizeof *there);
        there[9 + k] = 0;
    }
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, there, 12, MPI_DOUBLE, MPI_MAX, reader->ctx->comm);
    memcpy(f->start, there, sizeof f->start);
    for (int k = 0; k < f->count; k++)
        if (there[9 + k] != 0)
            return tac_scene_fail(reader, where, "names vertex %lld, which the positions of motions[%d] do not move",
                                  (long long)f->number[k], (int)leader);
    return TAC_OK;
}

/* Computes the displacements at the leader's knots, which are an ordinary path. */
static enum tac_err make_path(struct tac_reader *reader, const struct tac_motion *leader, const struct followed *f,
                              struct tac_motion *motion)
{
    enum tac_err err = TAC_OK;
    const size_t knots = (size_t)leader->knot_count;
    TAC_TRY(tac_alloc(reader->ctx, knots, sizeof *motion->knot_t_s, &motion->knot_t_s));
    TAC_TRY(tac_alloc(reader->ctx, 3 * knots, sizeof *motion->displacement, &motion->displacement));
    memcpy(motion->knot_t_s, leader->knot_t_s, knots * sizeof *motion->knot_t_s);
    motion->knot_count = leader->knot_count;
    for (size_t k = 1; k < knots; k++)
        for (int n = 0; n < f->count; n++) {
            double x[3];
            TAC_TRY(tac_point_cache_read(reader->ctx, leader->cache, (int64_t)k, f->number[n], 1, x));
            for (size_t c = 0; c < 3; c++)
                motion->displacement[3 * k + c] += f->weight[n] * (x[c] - f->start[3 * n + (int)c]);
        }
done:
    return err;
}

enum tac_err tac_scene_read_follow(struct tac_reader *reader, json_t *follow, const char *where,
                                   struct tac_motion *motion)
{
    const struct tac_settings *s = reader->scene->settings;
    struct followed f = {.count = 0};
    tac_lid body, leader = -1;
    char place[TAC_WHERE];
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_fields_read(reader, follow, where, follow_fields, COUNT(follow_fields), motion));
    tac_where(place, where, "body");
    TAC_TRY(tac_scene_find_body(reader, json_object_get(follow, "body"), place, &body));
    for (tac_lid m = 0; m < s->motion_count && leader < 0; m++)
        if (s->motion[m].cache != NULL && s->motion[m].body == body)
            leader = m;
    if (leader < 0)
        TAC_TRY(tac_scene_fail(reader, place,
                               "is \"%.60s\", which no motion with \"positions\" moves; follow a body "
                               "that a file moves",
                               s->body[body].name));
    TAC_TRY(read_followed(reader, follow, where, body, &f));
    TAC_TRY(find_starts(reader, where, leader, &f));
    TAC_TRY(tac_reader_agree(reader, make_path(reader, &s->motion[leader], &f, motion)));
    reader->leaves_plane = true;
done:
    return err;
}

/* ---- a scene that changes while it runs ---- */

enum tac_err tac_motion_copy_course(struct tac_reader *reader, const struct tac_motion *from, struct tac_motion *motion)
{
    const size_t knots = (size_t)from->knot_count;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(reader->ctx, knots, sizeof *motion->knot_t_s, &motion->knot_t_s));
    memcpy(motion->knot_t_s, from->knot_t_s, knots * sizeof *motion->knot_t_s);
    if (from->displacement != NULL) {
        TAC_TRY(tac_alloc(reader->ctx, 3 * knots, sizeof *motion->displacement, &motion->displacement));
        memcpy(motion->displacement, from->displacement, 3 * knots * sizeof *motion->displacement);
    }
    motion->knot_count = from->knot_count;
    motion->first_off = from->first_off;
    motion->cache = from->cache;
    if (motion->cache != NULL)
        motion->cache->users++;
done:
    return err;
}

void tac_motion_clear(struct tac_motion *motion)
{
    free(motion->knot_t_s);
    free(motion->displacement);
    free(motion->degrees);
    tac_point_cache_release(&motion->cache);
}
