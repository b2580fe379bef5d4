/* reader_fields.c: reads what a frame has on request. */
#include "io/frames/frames.h"
#include "io/h5/stored.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct tac_shape shape_of(const struct tac_field_info *f, const char *path)
{
    const bool whole = f->value == TAC_VALUE_INT32 || f->value == TAC_VALUE_INT64;
    const size_t bytes = tac_field_row_bytes(f) / (size_t)(f->columns > 0 ? f->columns : 1);
    return (struct tac_shape){path, whole ? H5T_INTEGER : H5T_FLOAT, bytes, f->columns};
}

static int64_t rows_wanted(const struct tac_reader *r, const struct tac_field_info *f, int64_t there)
{
    if (f->at == TAC_AT_CONTACTS || f->at == TAC_AT_RIGID)
        return there;
    return f->at == TAC_AT_CELLS ? (int64_t)r->triangle_count + r->segment_count + r->point_count + r->tetrahedron_count
                                 : r->vertex_count;
}

bool tac_reader_fields_whole(const struct tac_reader *r, const struct tac_reader_frame *frame)
{
    for (int k = 0; k < TAC_DATASETS; k++) {
        char path[96];
        if (!(frame->fields >> k & 1))
            continue;
        snprintf(path, sizeof path, "/frames/%s/%s", frame->name, tac_field_table()[k].name);
        const struct tac_shape s = shape_of(&tac_field_table()[k], path);
        const int64_t rows = tac_stored_rows(r, &s);
        if (rows < 0 || rows != rows_wanted(r, &tac_field_table()[k], rows))
            return false;
    }
    return true;
}

enum tac_err tac_reader_field(struct tac_ctx *ctx, const struct tac_reader *r, int64_t k, int which, void **data,
                              int64_t *rows)
{
    const struct tac_field_info *f = &tac_field_table()[which];
    enum tac_err err = TAC_OK;
    char path[96];
    struct tac_h5_quiet quiet;
    TAC_CHECK(k >= 0 && k < r->frame_count && (r->frame[k].fields >> which & 1));
    snprintf(path, sizeof path, "/frames/%s/%s", r->frame[k].name, f->name);
    const struct tac_shape s = shape_of(f, path);
    const hid_t type[] = {H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE, H5T_NATIVE_INT32, H5T_NATIVE_INT64};
    tac_h5_quiet(&quiet);
    *rows = tac_stored_rows(r, &s);
    err = tac_alloc(ctx, *rows > 0 ? (size_t)*rows : 0, tac_field_row_bytes(f), data);
    if (!err && (*rows < 0 || !tac_stored_read(r, &s, *rows, type[f->value], *(void **)data)))
        err = tac_fail(ctx, TAC_ERR_INPUT, "'%s' is damaged: cannot read %s", r->path, path);
    tac_h5_restore(&quiet);
    return err;
}
