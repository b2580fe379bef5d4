/* export_vtkhdf.c: writes a VTKHDF file of chosen frames, whose values stay in frames.h5. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/export_room.h"
#include "io/frames/vtkhdf.h"

enum tac_err tac_export_vtkhdf(struct tac_ctx *ctx, const struct tac_reader *r, const bool *chosen, const char *path)
{
    enum tac_err err = TAC_OK;
    struct tac_kept_frame *frame = NULL;
    char *real = realpath(r->path, NULL);
    struct tac_vtkhdf of = {.frames = real,
                            .name = real,
                            .vertices = r->vertex_count,
                            .triangles = r->triangle_count,
                            .segments = r->segment_count,
                            .points = r->point_count,
                            .tetrahedra = r->tetrahedron_count};
    if (real == NULL)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "cannot find the path of '%s': %s", r->path, strerror(errno)));
    TAC_TRY(tac_alloc(ctx, (size_t)r->frame_count, sizeof *frame, &frame));
    for (int64_t k = 0; k < r->frame_count; k++)
        if (chosen[k])
            frame[of.count++] = (struct tac_kept_frame){r->frame[k].index, r->frame[k].time_s, r->frame[k].fields};
    of.frame = frame;
    err = tac_vtkhdf_write(ctx, &of, path, path);
done:
    free(frame);
    free(real);
    return err;
}
