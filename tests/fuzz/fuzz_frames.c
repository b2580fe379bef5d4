/* frames.h5 of a run: what `info`, `diff` and `export` read of it. */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>

#include <tactus/compare.h>
#include <tactus/export.h>

void fuzz_begin(void)
{
}

static enum tac_err export_last(struct tac_ctx *ctx, const struct tac_reader *r)
{
    enum tac_err err = TAC_OK;
    const size_t n = 3 * (size_t)r->vertex_count;
    double *x = NULL, *v = NULL;
    float *force = NULL;
    TAC_TRY(tac_alloc(ctx, n, sizeof *x, &x));
    TAC_TRY(tac_alloc(ctx, n, sizeof *v, &v));
    TAC_TRY(tac_alloc(ctx, n, sizeof *force, &force));
    TAC_TRY(tac_reader_frame(ctx, r, r->frame_count - 1, x, v, force));
    const struct tac_export_frame frame = {
        .time_s = r->frame[r->frame_count - 1].time_s, .position = x, .velocity = v, .contact_force = force};
    TAC_TRY(tac_export_write(ctx, r, &frame, TAC_EXPORT_OBJ, fuzz_path("last.obj")));
    TAC_TRY(tac_export_write(ctx, r, &frame, TAC_EXPORT_PLY, fuzz_path("last.ply")));
done:
    free(x);
    free(v);
    free(force);
    return err;
}

enum tac_err fuzz_read(struct tac_ctx *ctx, const uint8_t *data, size_t size)
{
    enum tac_err err = TAC_OK;
    struct tac_reader *r = NULL;
    struct tac_comparison with_itself = {.tolerance = 0};
    const char *path = fuzz_put("frames.h5", data, size);
    TAC_TRY(tac_reader_open(ctx, path, &r));
    TAC_TRY(tac_reader_mesh(ctx, r));
    if (r->frame_count > 0)
        TAC_TRY(export_last(ctx, r));
    TAC_TRY(tac_compare(ctx, path, path, NAN, &with_itself));
    fuzz_must(tac_comparison_equal(&with_itself, true), "a run is equal to itself");
done:
    tac_comparison_close(&with_itself);
    tac_reader_close(&r);
    return err;
}
