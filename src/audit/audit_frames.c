/* audit_frames.c: audits stored frames, each by itself. This proves nothing about the time between them
 * (docs/explanation/audit.md, Frames). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "overlap/overlap.h"
#include <tactus/audit.h>

static bool is_crossing(const struct tac_overlap *o)
{
    return o->kind == TAC_OVERLAP_EDGE_TRIANGLE || o->kind == TAC_OVERLAP_EDGE_CROSSES_EDGE;
}

static void enter_overlaps(const struct tac_overlaps *overlaps, struct tac_audit_frame *frame)
{
    /* Kinds of overlap.h as kinds of audit.h. */
    static const uint8_t kind[6] = {[TAC_OVERLAP_EDGE_TRIANGLE] = TAC_AUDIT_EDGE_TRIANGLE,
                                    [TAC_OVERLAP_EDGE_CROSSES_EDGE] = TAC_AUDIT_EDGES_CROSS,
                                    [TAC_OVERLAP_VERTEX_TRIANGLE] = TAC_AUDIT_VERTEX_TRIANGLE,
                                    [TAC_OVERLAP_EDGE_EDGE] = TAC_AUDIT_EDGE_EDGE,
                                    [TAC_OVERLAP_VERTEX_EDGE] = TAC_AUDIT_VERTEX_EDGE,
                                    [TAC_OVERLAP_VERTEX_VERTEX] = TAC_AUDIT_VERTEX_VERTEX};
    for (size_t i = 0; i < overlaps->count; i++) {
        const struct tac_overlap *o = &overlaps->overlap[i];
        if (frame->crossing + frame->near == 0) { /* they come by ascending gap */
            frame->first = (struct tac_audit_place){.t_s = frame->time_s,
                                                    .id = {o->element[0], o->element[1]},
                                                    .kind = kind[o->kind],
                                                    .verdict = TAC_AUDIT_CROSSING,
                                                    .gap = o->gap};
            memcpy(frame->first_x, o->place, sizeof frame->first_x);
        }
        frame->crossing += is_crossing(o);
        frame->near += !is_crossing(o);
    }
}

static enum tac_err look_at_frame(struct tac_ctx *ctx, struct tac_scene *scene, const struct tac_reader *frames,
                                  int64_t k, struct tac_audit_frame *frame)
{
    enum tac_err err = TAC_OK;
    struct tac_overlaps *overlaps = NULL;
    bool flat = scene->mesh->triangle_count == 0;
    frame->time_s = frames->frame[k].time_s;
    TAC_TRY(tac_reader_frame(ctx, frames, k, scene->mesh->x, NULL, NULL));
    for (size_t i = 0; i < 3 * (size_t)scene->mesh->vertex_count; i++) {
        if (!(fabs(scene->mesh->x[i]) <= 1e50)) {
            const tac_lid v = (tac_lid)(i / 3), b = scene->mesh->vertex_body[v];
            err = tac_fail(ctx, TAC_ERR_INPUT,
                           "'%s' cannot be audited: in frame %s the position of vertex %" TAC_PRILID
                           " of body `%s` is no number, or beyond 1e50 m",
                           frames->path, frames->frame[k].name, v - scene->settings->body[b].vertex_begin,
                           scene->settings->body[b].name);
            goto done;
        }
        flat = flat && (i % 3 != 2 || scene->mesh->x[i] == 0);
    }
    scene->settings->two_d = flat;
    TAC_TRY(tac_overlap_find(ctx, scene, &overlaps));
    enter_overlaps(overlaps, frame);
done:
    tac_overlap_destroy(&overlaps);
    return err;
}

enum tac_err tac_audit_frames(struct tac_ctx *ctx, struct tac_scene *scene, const struct tac_reader *frames,
                              int64_t first, int64_t last, struct tac_audit_frame *frame)
{
    enum { AT_ONCE = 1 << 16 };
    enum tac_err err = TAC_OK;
    const double thickness = scene->settings->contact.thickness;
    scene->settings->contact.thickness = 1; /* also where contact is off */
    for (int64_t k = first + ctx->rank; k < last && !err; k += ctx->size)
        err = look_at_frame(ctx, scene, frames, k, &frame[k]);
    scene->settings->contact.thickness = thickness;
    TAC_TRY(tac_agree(ctx, err));
    /* Of each frame all ranks but one have zeroes. */
    for (int64_t k = first; k < last && ctx->size > 1; k += AT_ONCE) {
        const int64_t n = last - k < AT_ONCE ? last - k : AT_ONCE;
        if (MPI_Allreduce(MPI_IN_PLACE, &frame[k], (int)(n * (int64_t)sizeof *frame), MPI_BYTE, MPI_BOR, ctx->comm) !=
            MPI_SUCCESS)
            TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "MPI failed while the ranks exchanged data of the frames"));
    }
done:
    return err;
}
