/* blocks.c: writes a mesh to HDF5 by all ranks together, none of which ever holds more than a few thousand rows. */
#include "mesh/check.h"
#include "mesh/kinds.h"
#include "mesh/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { PORTION = 1 << 15 }; /* rows */

struct writer {
    struct tac_ctx *ctx;             /* borrowed */
    const char *where;               /* borrowed: the kind's name, as in sentences about a mesh made whole */
    const struct tac_mesh_blocks *b; /* borrowed */
    double *x;                       /* owned, (PORTION, 9): vertices; or the corners of triangles */
    int64_t *row;                    /* owned, (PORTION, 3) */
    tac_lid *lid, *at;               /* owned, (PORTION, 3) */
};

static enum tac_err make_vertices(struct writer *w, int64_t first, int64_t count)
{
    const struct tac_origin origin = {w->ctx, w->where, NULL, NULL};
    for (int64_t i = 0; i < count; i++)
        w->b->vertex(w->b, first + i, w->x + 3 * i);
    return tac_check_coordinates(&origin, (size_t)first, (size_t)count, w->x);
}

static enum tac_err make_triangles(struct writer *w, int64_t first, int64_t count)
{
    const struct tac_origin origin = {w->ctx, w->where, NULL, NULL};
    for (int64_t i = 0; i < count; i++) {
        int64_t *v = w->row + 3 * i;
        w->b->triangle(w->b, first + i, v);
        for (int k = 0; k < 3; k++) {
            w->b->vertex(w->b, v[k], w->x + 9 * i + 3 * k);
            w->lid[3 * i + k] = (tac_lid)v[k];
            w->at[3 * i + k] = (tac_lid)(3 * i + k);
        }
    }
    return tac_check_sizes(&origin, (size_t)first, (size_t)count, 3, w->lid, w->at, w->x);
}

/* All ranks' rows of one table, in portions; every rank writes as often as the one that has most. */
static enum tac_err write_rows(struct writer *w, struct tac_hdf5_writer *file, enum tac_hdf5_table table, int64_t total)
{
    struct tac_ctx *ctx = w->ctx;
    const int64_t begin = total / ctx->size * ctx->rank + total % ctx->size * ctx->rank / ctx->size;
    const int64_t end = total / ctx->size * (ctx->rank + 1) + total % ctx->size * (ctx->rank + 1) / ctx->size;
    const int64_t rounds = (total / ctx->size + 1 + PORTION - 1) / PORTION;
    enum tac_err err = TAC_OK;
    for (int64_t k = 0; k < rounds; k++) {
        const int64_t first = begin + k * PORTION < end ? begin + k * PORTION : end;
        const int64_t count = end - first < PORTION ? end - first : PORTION;
        err = table == TAC_HDF5_VERTICES ? make_vertices(w, first, count) : make_triangles(w, first, count);
        TAC_TRY(tac_agree(ctx, err));
        TAC_TRY(tac_hdf5_write(ctx, file, table, first, count, table == TAC_HDF5_VERTICES ? (void *)w->x : w->row));
    }
done:
    return err;
}

static enum tac_err write_tables(struct writer *w, const char *path)
{
    const int64_t rows[3] = {w->b->vertex_count, w->b->triangle_count, 0};
    struct tac_hdf5_writer *file = NULL;
    enum tac_err err = tac_alloc(w->ctx, PORTION, 9 * sizeof *w->x, &w->x);
    if (err == TAC_OK)
        err = tac_alloc(w->ctx, PORTION, 3 * sizeof *w->row, &w->row);
    if (err == TAC_OK)
        err = tac_alloc(w->ctx, PORTION, 3 * sizeof *w->lid, &w->lid);
    if (err == TAC_OK)
        err = tac_alloc(w->ctx, PORTION, 3 * sizeof *w->at, &w->at);
    TAC_TRY(tac_agree(w->ctx, err));
    TAC_TRY(tac_hdf5_create(w->ctx, path, rows, &file));
    err = write_rows(w, file, TAC_HDF5_VERTICES, rows[0]);
    if (err == TAC_OK)
        err = write_rows(w, file, TAC_HDF5_TRIANGLES, rows[1]);
    const enum tac_err closed = tac_hdf5_finish(w->ctx, path, &file);
    err = err ? err : closed;
done:
    free(w->x);
    free(w->row);
    free(w->lid);
    free(w->at);
    return err;
}

/* Through a temporary name, which rank 0 chooses, tries and gives its last name. */
static enum tac_err write_file(struct writer *w, const char *path)
{
    struct tac_ctx *ctx = w->ctx;
    const size_t size = strlen(path) + 32;
    long pid = (long)getpid();
    char *partial = NULL;
    enum tac_err err = tac_alloc(ctx, size, 1, &partial);
    TAC_TRY(tac_agree(ctx, err));
    MPI_Bcast(&pid, 1, MPI_LONG, 0, ctx->comm);
    snprintf(partial, size, "%s.partial-%ld", path, pid);
    if (ctx->rank == 0) {
        FILE *probe = fopen(partial, "wb");
        if (probe == NULL || fclose(probe) != 0)
            err = tac_fail(ctx, TAC_ERR_INPUT, "%s: cannot be made: %s", path, strerror(errno));
    }
    TAC_TRY(tac_agree(ctx, err));
    err = write_tables(w, partial);
    if (err == TAC_OK && ctx->rank == 0 && rename(partial, path) != 0)
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: cannot be made: %s", path, strerror(errno));
    err = tac_agree(ctx, err);
    if (err != TAC_OK && ctx->rank == 0)
        remove(partial);
done:
    free(partial);
    return err;
}

bool tac_mesh_find_blocks(const struct tac_ctx *ctx, const json_t *spec, struct tac_mesh_blocks *out)
{
    struct tac_ctx silent = *ctx;
    const struct tac_params p = {.ctx = &silent, .object = spec, .where = "--", .base_dir = "."};
    const struct tac_mesh_kind *kind = NULL;
    const char *name = json_string_value(json_object_get(spec, "kind"));
    *out = (struct tac_mesh_blocks){0};
    if (name == NULL || tac_mesh_kind_find(&silent, "", name, &kind) != TAC_OK || kind->blocks == NULL ||
        tac_params_check(&p, kind->param, kind->param_count, "kind") != TAC_OK)
        return false;
    return kind->blocks(&p, out) && out->vertex_count <= TAC_MESH_LIMIT && out->triangle_count <= TAC_MESH_LIMIT &&
           out->tetrahedron_count <= TAC_MESH_LIMIT / 4;
}

enum tac_err tac_mesh_write_blocks(struct tac_ctx *ctx, const json_t *spec, const char *path, int64_t smallest,
                                   bool *done, int64_t rows[2])
{
    struct tac_mesh_blocks b = {0};
    const char *dot = strrchr(path, '.');
    int blocks = ctx->size > 1 && dot != NULL && strcasecmp(dot, ".h5") == 0 && tac_mesh_find_blocks(ctx, spec, &b) &&
                 b.tetrahedron_count == 0 && b.vertex_count + b.triangle_count >= smallest;
    /* All ranks have the same words, and find the same, unless one has no memory. */
    if (ctx->size > 1)
        MPI_Allreduce(MPI_IN_PLACE, &blocks, 1, MPI_INT, MPI_MIN, ctx->comm);
    *done = blocks;
    if (!*done)
        return TAC_OK;
    struct writer w = {.ctx = ctx, .where = json_string_value(json_object_get(spec, "kind")), .b = &b};
    rows[0] = b.vertex_count;
    rows[1] = b.triangle_count;
    return write_file(&w, path);
}
