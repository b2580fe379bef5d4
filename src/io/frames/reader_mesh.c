/* reader_mesh.c: reads /mesh of a frames.h5. */
#include <stdlib.h>
#include <string.h>

#include "io/h5/stored.h"

static enum tac_err read_ids(struct tac_ctx *ctx, const struct tac_reader *r, const struct tac_shape *s, tac_lid rows,
                             tac_lid limit, tac_lid **out)
{
    enum tac_err err = TAC_OK;
    size_t n = (size_t)rows * (size_t)(s->columns > 0 ? s->columns : 1);
    int64_t *wide = NULL;
    TAC_TRY(tac_alloc(ctx, n, sizeof *wide, &wide));
    TAC_TRY(tac_alloc(ctx, n, sizeof **out, out));
    if (!tac_stored_read(r, s, rows, H5T_NATIVE_INT64, wide)) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "'%s' is damaged: cannot read %s", r->path, s->path);
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        if (wide[i] < 0 || wide[i] >= limit) {
            err = tac_fail(ctx, TAC_ERR_INPUT, "'%s' is damaged: %s holds %" PRId64 ", outside 0 .. %" TAC_PRILID,
                           r->path, s->path, wide[i], limit - 1);
            goto done;
        }
        (*out)[i] = (tac_lid)wide[i];
    }
done:
    free(wide);
    return err;
}

static enum tac_err read_names(struct tac_ctx *ctx, struct tac_reader *r)
{
    enum tac_err err = TAC_OK;
    char *text = NULL;
    int64_t rows = 0;
    size_t size = 0;
    hid_t id = tac_stored_open(r, &TAC_STORED_BODY_NAMES, &rows), type = id >= 0 ? H5Dget_type(id) : -1;
    TAC_TRY(tac_alloc(ctx, (size_t)r->body_count, sizeof *r->body_name, &r->body_name));
    if (type >= 0)
        size = H5Tget_size(type);
    if (size == 0 || rows != r->body_count) {
        err = tac_reader_damaged(ctx, r, "/mesh/body_names is not as it should be");
        goto done;
    }
    TAC_TRY(tac_alloc(ctx, (size_t)rows * size + 1, 1, &text));
    if (rows > 0 && H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
        err = tac_reader_damaged(ctx, r, "cannot read /mesh/body_names");
        goto done;
    }
    for (int64_t b = 0; b < rows; b++) {
        size_t length = strnlen(text + (size_t)b * size, size);
        TAC_TRY(tac_alloc(ctx, length + 1, 1, &r->body_name[b]));
        memcpy(r->body_name[b], text + (size_t)b * size, length);
        tac_tame(r->body_name[b]);
    }
done:
    free(text);
    if (type >= 0)
        H5Tclose(type);
    if (id >= 0)
        H5Dclose(id);
    return err;
}

enum tac_err tac_reader_mesh(struct tac_ctx *ctx, struct tac_reader *r)
{
    enum tac_err err = TAC_OK;
    struct tac_h5_quiet quiet;
    if (r->body != NULL)
        return TAC_OK;
    tac_h5_quiet(&quiet);
    TAC_TRY(read_ids(ctx, r, &TAC_STORED_TRIANGLES, r->triangle_count, r->vertex_count, &r->triangle));
    TAC_TRY(read_ids(ctx, r, &TAC_STORED_SEGMENTS, r->segment_count, r->vertex_count, &r->segment));
    TAC_TRY(read_ids(ctx, r, &TAC_STORED_POINTS, r->point_count, r->vertex_count, &r->point));
    if (r->tetrahedron_count > 0)
        TAC_TRY(read_ids(ctx, r, &TAC_STORED_TETRAHEDRA, r->tetrahedron_count, r->vertex_count, &r->tetrahedron));
    TAC_TRY(read_names(ctx, r));
    TAC_TRY(tac_alloc(ctx, (size_t)r->vertex_count, sizeof *r->radius, &r->radius));
    if (!tac_stored_read(r, &TAC_STORED_RADIUS, r->vertex_count, H5T_NATIVE_DOUBLE, r->radius)) {
        err = tac_reader_damaged(ctx, r, "cannot read /mesh/radius");
        goto done;
    }
    if (tac_stored_tells_free(r)) {
        TAC_TRY(tac_alloc(ctx, (size_t)r->vertex_count, 1, &r->free));
        if (!tac_stored_read(r, &TAC_STORED_FREE, r->vertex_count, H5T_NATIVE_UINT8, r->free)) {
            err = tac_reader_damaged(ctx, r, "cannot read /mesh/free");
            goto done;
        }
    }
    TAC_TRY(read_ids(ctx, r, &TAC_STORED_BODY, r->vertex_count, r->body_count, &r->body));
done:
    tac_h5_restore(&quiet);
    return err;
}
