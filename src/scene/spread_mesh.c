/* spread_mesh.c: the rows of a body's mesh that a rank has: cut from a mesh that every rank makes, or, of a large HDF5
 * file or a large mesh of a kind that can be made so, read or made by blocks.  The checks are those of a mesh read
 * whole, with the same sentences. */
#include "mesh/check.h"
#include "mesh/kinds.h"
#include "mesh/read.h"
#include "partition/exchange.h"
#include "read.h"

#include <stdlib.h>
#include <string.h>

static const char *file_of(const json_t *spec)
{
    const char *kind = json_string_value(json_object_get(spec, "kind"));
    /* A description with other keys is wrong, and refused where meshes are made. */
    if (kind == NULL || strcmp(kind, "file") != 0 || json_object_size(spec) != 2)
        return NULL;
    return json_string_value(json_object_get(spec, "path"));
}

bool tac_spread_wanted(const struct tac_ctx *ctx, const json_t *spec, const char *base_dir, int64_t smallest)
{
    struct tac_ctx silent = *ctx; /* what is wrong with the file is told by whoever reads it */
    const char *path = file_of(spec);
    struct tac_hdf5 *mesh = NULL;
    char *whole = NULL;
    struct tac_mesh_blocks blocks;
    int64_t rows = -1;
    if (tac_mesh_find_blocks(ctx, spec, &blocks))
        return blocks.vertex_count + blocks.triangle_count >= smallest;
    if (path == NULL || path[0] == '\0')
        return false;
    const size_t size = strlen(base_dir) + strlen(path) + 2;
    if (tac_alloc(&silent, size, 1, &whole) == TAC_OK) {
        snprintf(whole, size, "%s%s%s", path[0] == '/' ? "" : base_dir, path[0] == '/' ? "" : "/", path);
        if (tac_file_check(&silent, whole, NULL) == TAC_OK && tac_is_hdf5(whole) &&
            tac_hdf5_open(&silent, whole, &mesh) == TAC_OK)
            rows = tac_hdf5_rows(mesh, TAC_HDF5_VERTICES) + tac_hdf5_rows(mesh, TAC_HDF5_TRIANGLES) +
                   tac_hdf5_rows(mesh, TAC_HDF5_SEGMENTS);
    }
    tac_hdf5_close(&mesh);
    free(whole);
    return rows >= smallest;
}

/* All ranks see a mesh of the same size, or one of them reads another file. */
static enum tac_err compare_sizes(struct tac_ctx *ctx, const char *where, const tac_lid total[3])
{
    enum tac_err err = TAC_OK;
    tac_lid first[3] = {total[0], total[1], total[2]};
    MPI_Bcast(first, 3, TAC_LID_MPI, 0, ctx->comm);
    if (memcmp(first, total, sizeof first) != 0)
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: rank %d reads another mesh than rank 0; put it on a shared disk", where,
                       ctx->rank);
    return tac_agree(ctx, err);
}

/* Keeps this rank's rows of a mesh that is here whole. */
static void cut_rows(const struct tac_ctx *ctx, struct tac_mesh *mesh, struct tac_extent *extent)
{
    tac_lid *count[3] = {&mesh->vertex_count, &mesh->triangle_count, &mesh->segment_count};
    for (int k = 0; k < 3; k++) {
        extent->total[k] = *count[k];
        tac_spread_block(ctx, extent->total[k], &extent->number[k], count[k]);
    }
    char *const array[3] = {(char *)mesh->x, (char *)mesh->triangle, (char *)mesh->segment};
    const size_t size[3] = {3 * sizeof *mesh->x, 3 * sizeof *mesh->triangle, 2 * sizeof *mesh->segment};
    for (int k = 0; k < 3; k++)
        if (*count[k] > 0)
            memmove(array[k], array[k] + (size_t)extent->number[k] * size[k], (size_t)*count[k] * size[k]);
}

/* A mesh that is read or made by blocks. */
struct large {
    struct tac_ctx *ctx;   /* borrowed */
    const char *path;      /* borrowed: of the file; of a mesh that is made, what sentences begin with */
    struct tac_hdf5 *file; /* owned; NULL: made */
    struct tac_mesh_blocks blocks;
    struct tac_extent *rows; /* borrowed */
    struct tac_mesh *mesh;   /* owned: this rank's rows; elements name vertices of the whole mesh */
};

static int width_of(enum tac_table table)
{
    return table == TAC_SEGMENTS ? 2 : 3;
}

static tac_lid rows_of(const struct large *l, enum tac_table table)
{
    return table == TAC_TRIANGLES ? l->mesh->triangle_count : l->mesh->segment_count;
}

static tac_lid *elements_of(const struct large *l, enum tac_table table)
{
    return table == TAC_TRIANGLES ? l->mesh->triangle : l->mesh->segment;
}

static struct tac_origin origin_of(const struct large *l)
{
    return (struct tac_origin){l->ctx, l->path, NULL, NULL};
}

static void choose_rows(struct large *l)
{
    tac_lid *const count[3] = {&l->mesh->vertex_count, &l->mesh->triangle_count, &l->mesh->segment_count};
    for (int k = 0; k < 3; k++)
        tac_spread_block(l->ctx, l->rows->total[k], &l->rows->number[k], count[k]);
}

static enum tac_err open_large(struct large *l, const char *where)
{
    char from[512];
    snprintf(from, sizeof from, "%.500s.path", where);
    enum tac_err err = tac_file_check(l->ctx, l->path, from);
    if (err == TAC_OK)
        err = tac_hdf5_open(l->ctx, l->path, &l->file);
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, 1, sizeof *l->mesh, &l->mesh);
    TAC_TRY(tac_agree(l->ctx, err));
    for (int k = 0; k < 3; k++)
        l->rows->total[k] = (tac_lid)tac_hdf5_rows(l->file, (enum tac_hdf5_table)k); /* at most TAC_MESH_LIMIT */
    TAC_TRY(compare_sizes(l->ctx, l->path, l->rows->total));
    if (l->rows->total[TAC_VERTICES] == 0)
        err = tac_fail(l->ctx, TAC_ERR_INPUT, "%s: has no vertices; a mesh needs at least one", l->path);
    choose_rows(l);
done:
    return err;
}

static enum tac_err read_vertices(struct large *l)
{
    const size_t n = (size_t)l->mesh->vertex_count;
    const struct tac_origin origin = origin_of(l);
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(l->ctx, 3 * n, sizeof *l->mesh->x, &l->mesh->x));
    TAC_TRY(tac_hdf5_read(l->ctx, l->file, TAC_HDF5_VERTICES, l->rows->number[0], (int64_t)n, l->mesh->x));
    for (size_t k = 0; k < 3 * n; k++)
        l->mesh->x[k] += 0.0; /* no -0, as in meshes read whole */
    TAC_TRY(tac_check_coordinates(&origin, (size_t)l->rows->number[0], n, l->mesh->x));
done:
    return err;
}

static enum tac_err make_rows(struct large *l)
{
    const struct tac_origin origin = origin_of(l);
    const size_t n = (size_t)l->mesh->vertex_count, triangles = (size_t)l->mesh->triangle_count;
    int64_t v[3];
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(l->ctx, 3 * n, sizeof *l->mesh->x, &l->mesh->x));
    TAC_TRY(tac_alloc(l->ctx, 3 * triangles, sizeof *l->mesh->triangle, &l->mesh->triangle));
    TAC_TRY(tac_alloc(l->ctx, 1, 1, &l->mesh->segment));
    for (size_t i = 0; i < n; i++)
        l->blocks.vertex(&l->blocks, l->rows->number[TAC_VERTICES] + (int64_t)i, l->mesh->x + 3 * i);
    for (size_t t = 0; t < triangles; t++) {
        l->blocks.triangle(&l->blocks, l->rows->number[TAC_TRIANGLES] + (int64_t)t, v);
        for (size_t k = 0; k < 3; k++)
            l->mesh->triangle[3 * t + k] = (tac_lid)v[k];
    }
    TAC_TRY(tac_check_coordinates(&origin, (size_t)l->rows->number[TAC_VERTICES], n, l->mesh->x));
done:
    return err;
}

static enum tac_err read_elements(struct large *l, enum tac_table table, tac_lid **out)
{
    enum { PORTION = 1 << 18 };
    const size_t width = (size_t)width_of(table);
    const int64_t rows = rows_of(l, table);
    int64_t *data = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(l->ctx, width * (size_t)rows, sizeof **out, out));
    TAC_TRY(tac_alloc(l->ctx, width * (size_t)(rows < PORTION ? rows : PORTION), sizeof *data, &data));
    for (int64_t first = 0; first < rows; first += PORTION) {
        const int64_t count = rows - first < PORTION ? rows - first : PORTION;
        TAC_TRY(
            tac_hdf5_read(l->ctx, l->file, (enum tac_hdf5_table)table, l->rows->number[table] + first, count, data));
        for (size_t i = 0; i < width * (size_t)count; i++) {
            /* What no vertex can have becomes -1, which no vertex has either. */
            const bool fits = data[i] >= 0 && data[i] < TAC_MESH_LIMIT;
            (*out)[width * (size_t)first + i] = fits ? (tac_lid)data[i] : -1;
        }
    }
done:
    free(data);
    return err;
}

static enum tac_err check_indices(struct large *l, enum tac_table table)
{
    const struct tac_origin origin = origin_of(l);
    return tac_agree(l->ctx,
                     tac_check_indices(&origin, (size_t)l->rows->number[table], (size_t)rows_of(l, table),
                                       width_of(table), elements_of(l, table), (size_t)l->rows->total[TAC_VERTICES]));
}

/* The distinct vertices of the rows' elements, and where each is among them; owned by the caller. */
static enum tac_err list_corners(struct large *l, enum tac_table table, tac_gid **unique, size_t *uniques, tac_lid **at)
{
    const size_t n = (size_t)width_of(table) * (size_t)rows_of(l, table);
    const tac_lid *element = elements_of(l, table);
    tac_gid *number = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(l->ctx, n, sizeof *number, &number));
    TAC_TRY(tac_alloc(l->ctx, n, sizeof **at, at));
    for (size_t i = 0; i < n; i++)
        number[i] = element[i];
    TAC_TRY(tac_compress(l->ctx, n, number, unique, uniques, *at));
done:
    free(number);
    return err;
}

static enum tac_err check_sizes(struct large *l, enum tac_table table)
{
    const struct tac_origin origin = origin_of(l);
    tac_gid *unique = NULL;
    tac_lid *at = NULL;
    double *x = NULL;
    size_t uniques = 0;
    enum tac_err err = list_corners(l, table, &unique, &uniques, &at);
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, 3 * uniques, sizeof *x, &x);
    TAC_TRY(tac_spread_ask(l->ctx, err, l->rows->total[TAC_VERTICES], uniques, unique, l->rows->number[TAC_VERTICES],
                           l->mesh->x, x));
    err = tac_agree(l->ctx, tac_check_sizes(&origin, (size_t)l->rows->number[table], (size_t)rows_of(l, table),
                                            width_of(table), elements_of(l, table), at, x));
done:
    free(unique);
    free(at);
    free(x);
    return err;
}

/* An element by its vertices, ascending. */
struct named {
    tac_gid vertex[3], number;
};

static enum tac_err sort_named(struct tac_ctx *ctx, const struct named *named, size_t n, struct tac_keyed *order)
{
    enum tac_err err = TAC_OK;
    for (size_t i = 0; i < n; i++)
        order[i].index = (int64_t)i;
    for (int k = 3; k-- > 0;) {
        for (size_t i = 0; i < n; i++)
            order[i].key = named[order[i].index].vertex[k];
        TAC_TRY(tac_sort_keyed(ctx, n, order));
    }
done:
    return err;
}

/* The earliest element that repeats one before it: INT64_MAX, or its number, and that of the other in *one. */
static int64_t find_repeat(const struct named *named, size_t n, const struct tac_keyed *order, int64_t *one)
{
    int64_t found = INT64_MAX;
    for (size_t i = 1; i < n; i++) {
        const struct named *a = &named[order[i - 1].index], *b = &named[order[i].index];
        if (b->number < found && memcmp(a->vertex, b->vertex, sizeof a->vertex) == 0) {
            found = b->number;
            *one = a->number;
        }
    }
    return found;
}

static void name_element(const tac_lid *v, int width, int64_t number, struct named *out)
{
    *out = (struct named){{v[0], v[1], width == 3 ? v[2] : 0}, number};
    for (int k = 1; k < width; k++)
        for (int m = k; m > 0 && out->vertex[m - 1] > out->vertex[m]; m--) {
            const tac_gid swap = out->vertex[m];
            out->vertex[m] = out->vertex[m - 1];
            out->vertex[m - 1] = swap;
        }
}

/* Elements of the same vertices meet where the block of their smallest vertex is. */
static enum tac_err check_repeats(struct large *l, enum tac_table table)
{
    const size_t n = (size_t)rows_of(l, table);
    const int width = width_of(table);
    const struct tac_origin origin = origin_of(l);
    struct named *named = NULL, *came = NULL;
    struct tac_keyed *order = NULL;
    int32_t *to = NULL;
    size_t count = 0;
    int64_t one = -1, mine = INT64_MAX, found;
    enum tac_err err = tac_alloc(l->ctx, n, sizeof *named, &named);
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, n, sizeof *to, &to);
    for (size_t i = 0; i < n && err == TAC_OK; i++) {
        name_element(elements_of(l, table) + (size_t)width * i, width, l->rows->number[table] + (int64_t)i, &named[i]);
        to[i] = tac_spread_rank(l->ctx, l->rows->total[TAC_VERTICES], (tac_lid)named[i].vertex[0]);
    }
    TAC_TRY(tac_deal(l->ctx, err, n, to, named, sizeof *named, &came, &count));
    err = tac_alloc(l->ctx, count, sizeof *order, &order);
    if (err == TAC_OK)
        err = sort_named(l->ctx, came, count, order);
    if (err == TAC_OK)
        mine = find_repeat(came, count, order, &one);
    TAC_TRY(tac_agree(l->ctx, err));
    MPI_Allreduce(&mine, &found, 1, MPI_INT64_T, MPI_MIN, l->ctx->comm);
    if (found == mine && mine != INT64_MAX)
        err = tac_fail_repeat(&origin, width, 0, (size_t)mine, (size_t)one);
    err = tac_agree(l->ctx, err);
done:
    free(named);
    free(came);
    free(order);
    free(to);
    return err;
}

/* The vertices' new numbers, when those that no element uses are left out. */
struct numbers {
    tac_lid first;  /* number of our first row before */
    tac_lid *after; /* owned, (rows): -1 where left out */
    tac_lid kept, kept_total;
};

static void tell_number(const void *known, tac_gid number, void *record)
{
    const struct numbers *n = known;
    const tac_gid after = n->after[number - n->first];
    memcpy(record, &after, sizeof after);
}

/* Who is used is said by the ranks that have the elements. */
static enum tac_err mark_used(struct large *l, enum tac_err err, size_t uniques, const tac_gid *unique,
                              const int32_t *to, struct numbers *numbers)
{
    const size_t rows = (size_t)l->mesh->vertex_count;
    tac_gid *came = NULL;
    size_t count = 0;
    tac_lid before = 0;
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, rows, sizeof *numbers->after, &numbers->after);
    TAC_TRY(tac_deal(l->ctx, err, uniques, to, unique, sizeof *unique, &came, &count));
    for (size_t i = 0; i < count; i++)
        numbers->after[came[i] - numbers->first] = 1;
    for (size_t i = 0; i < rows; i++)
        numbers->kept += numbers->after[i];
    MPI_Exscan(&numbers->kept, &before, 1, TAC_LID_MPI, MPI_SUM, l->ctx->comm);
    MPI_Allreduce(&numbers->kept, &numbers->kept_total, 1, TAC_LID_MPI, MPI_SUM, l->ctx->comm);
    before = l->ctx->rank == 0 ? 0 : before;
    for (size_t i = 0; i < rows; i++)
        numbers->after[i] = numbers->after[i] ? before++ : -1;
done:
    free(came);
    return err;
}

/* The rows that are kept go to where their new numbers belong. */
static enum tac_err move_vertices(struct large *l, struct numbers *numbers)
{
    double *kept = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t n = 0, count = 0;
    enum tac_err err = tac_alloc(l->ctx, 3 * (size_t)numbers->kept, sizeof *kept, &kept);
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, (size_t)numbers->kept, sizeof *to, &to);
    for (size_t i = 0; i < (size_t)l->mesh->vertex_count && err == TAC_OK; i++) {
        if (numbers->after[i] < 0)
            continue;
        memcpy(kept + 3 * n, l->mesh->x + 3 * i, 3 * sizeof *kept);
        to[n++] = tac_spread_rank(l->ctx, numbers->kept_total, numbers->after[i]);
    }
    TAC_TRY(tac_deal(l->ctx, err, n, to, kept, 3 * sizeof *kept, &came, &count));
    l->rows->total[TAC_VERTICES] = numbers->kept_total;
    tac_spread_block(l->ctx, numbers->kept_total, &l->rows->number[TAC_VERTICES], &l->mesh->vertex_count);
    TAC_CHECK(count == (size_t)l->mesh->vertex_count);
    free(l->mesh->x);
    l->mesh->x = came;
done:
    free(kept);
    free(to);
    return err;
}

static enum tac_err renumber(struct large *l, enum tac_table table, size_t uniques, const tac_gid *unique,
                             const int32_t *to, const tac_lid *at, const struct numbers *numbers)
{
    tac_gid *after = NULL;
    tac_lid *element = elements_of(l, table);
    enum tac_err err = tac_alloc(l->ctx, uniques, sizeof *after, &after);
    TAC_TRY(tac_ask(l->ctx, err, uniques, to, unique, tell_number, numbers, sizeof *after, after));
    for (size_t i = 0; i < (size_t)width_of(table) * (size_t)rows_of(l, table); i++)
        element[i] = (tac_lid)after[at[i]];
done:
    free(after);
    return err;
}

static enum tac_err drop_unused(struct large *l)
{
    struct numbers numbers = {.first = l->rows->number[TAC_VERTICES]};
    tac_gid *unique[2] = {NULL, NULL};
    tac_lid *at[2] = {NULL, NULL};
    size_t uniques[2] = {0, 0};
    int32_t *to[2] = {NULL, NULL};
    tac_gid *all = NULL;
    int32_t *all_to = NULL;
    enum tac_err err = TAC_OK;
    for (int k = 0; k < 2 && err == TAC_OK; k++) {
        err = list_corners(l, TAC_TRIANGLES + (enum tac_table)k, &unique[k], &uniques[k], &at[k]);
        if (err == TAC_OK)
            err = tac_alloc(l->ctx, uniques[k], sizeof *to[k], &to[k]);
        for (size_t i = 0; i < uniques[k] && err == TAC_OK; i++)
            to[k][i] = tac_spread_rank(l->ctx, l->rows->total[TAC_VERTICES], (tac_lid)unique[k][i]);
    }
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, uniques[0] + uniques[1], sizeof *all, &all);
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, uniques[0] + uniques[1], sizeof *all_to, &all_to);
    for (int k = 0; k < 2 && err == TAC_OK; k++) {
        memcpy(all + (k ? uniques[0] : 0), unique[k], uniques[k] * sizeof *all);
        memcpy(all_to + (k ? uniques[0] : 0), to[k], uniques[k] * sizeof *all_to);
    }
    TAC_TRY(mark_used(l, err, uniques[0] + uniques[1], all, all_to, &numbers));
    if (numbers.kept_total == l->rows->total[TAC_VERTICES])
        goto done;
    tac_warn(l->ctx, "%s: %zu of %zu vertices are in no element and are dropped; vertex numbers count the others",
             l->path, (size_t)(l->rows->total[TAC_VERTICES] - numbers.kept_total),
             (size_t)l->rows->total[TAC_VERTICES]);
    TAC_TRY(renumber(l, TAC_TRIANGLES, uniques[0], unique[0], to[0], at[0], &numbers));
    TAC_TRY(renumber(l, TAC_SEGMENTS, uniques[1], unique[1], to[1], at[1], &numbers));
    TAC_TRY(move_vertices(l, &numbers));
done:
    for (int k = 0; k < 2; k++) {
        free(unique[k]);
        free(at[k]);
        free(to[k]);
    }
    free(all);
    free(all_to);
    free(numbers.after);
    return err;
}

static enum tac_err read_large(struct large *l, const char *where)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(open_large(l, where));
    err = read_vertices(l);
    if (err == TAC_OK)
        err = read_elements(l, TAC_TRIANGLES, &l->mesh->triangle);
    if (err == TAC_OK)
        err = read_elements(l, TAC_SEGMENTS, &l->mesh->segment);
    TAC_TRY(tac_agree(l->ctx, err));
    tac_hdf5_close(&l->file);
    TAC_TRY(check_indices(l, TAC_TRIANGLES));
    TAC_TRY(check_indices(l, TAC_SEGMENTS));
    TAC_TRY(check_sizes(l, TAC_TRIANGLES));
    TAC_TRY(check_sizes(l, TAC_SEGMENTS));
    TAC_TRY(check_repeats(l, TAC_TRIANGLES));
    TAC_TRY(check_repeats(l, TAC_SEGMENTS));
    if (l->rows->total[TAC_TRIANGLES] > 0 || l->rows->total[TAC_SEGMENTS] > 0)
        TAC_TRY(drop_unused(l));
done:
    return err;
}

/* Rows that a kind of mesh makes are all different and all used. */
static enum tac_err make_large(struct large *l)
{
    enum tac_err err = tac_alloc(l->ctx, 1, sizeof *l->mesh, &l->mesh);
    TAC_TRY(tac_agree(l->ctx, err));
    l->rows->total[TAC_VERTICES] = (tac_lid)l->blocks.vertex_count; /* at most TAC_MESH_LIMIT */
    l->rows->total[TAC_TRIANGLES] = (tac_lid)l->blocks.triangle_count;
    choose_rows(l);
    TAC_TRY(tac_agree(l->ctx, make_rows(l)));
    TAC_TRY(check_sizes(l, TAC_TRIANGLES));
done:
    return err;
}

enum tac_err tac_spread_mesh(struct tac_reader *reader, const json_t *spec, const char *where, struct tac_mesh **out,
                             struct tac_extent *extent)
{
    struct tac_ctx *ctx = reader->ctx;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_agree(ctx, TAC_OK)); /* ranks that have failed already are met here */
    bool large = ctx->rank == 0 && tac_spread_wanted(ctx, spec, reader->base_dir, reader->smallest);
    MPI_Bcast(&large, 1, MPI_C_BOOL, 0, ctx->comm);
    if (large) {
        struct large l = {.ctx = ctx, .path = file_of(spec), .rows = extent};
        if (l.path != NULL) {
            err = read_large(&l, where);
        } else {
            l.path = where;
            err = tac_mesh_find_blocks(ctx, spec, &l.blocks)
                      ? TAC_OK
                      : tac_fail(ctx, TAC_ERR_RUN, "out of memory while making %s", where);
            err = tac_agree(ctx, err);
            err = err ? err : make_large(&l);
        }
        tac_hdf5_close(&l.file);
        if (err)
            tac_mesh_destroy(&l.mesh);
        *out = l.mesh;
        goto done;
    }
    TAC_TRY(tac_agree(ctx, tac_mesh_create(ctx, spec, where, reader->base_dir, out)));
    TAC_TRY(
        compare_sizes(ctx, where, (tac_lid[]){(*out)->vertex_count, (*out)->triangle_count, (*out)->segment_count}));
    cut_rows(ctx, *out, extent);
done:
    return tac_reader_agreed(reader, err);
}
