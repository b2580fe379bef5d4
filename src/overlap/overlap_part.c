/* overlap_part.c: makes small scenes of the elements that a rank has received for the search for overlaps
 * (overlap_pieces.c). */
#include "overlap/overlap_part.h"

#include "base/exchange.h"

#include <stdlib.h>
#include <string.h>

/* How many records come before this key. */
static tac_lid before(size_t n, const struct tac_overlap_record *record, tac_gid key)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (record[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return (tac_lid)low;
}

static tac_lid below(tac_lid n, const tac_gid *id, tac_gid what)
{
    tac_lid low = 0, high = n;
    while (low < high) {
        const tac_lid middle = low + (high - low) / 2;
        if (id[middle] < what)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int corners(const struct tac_pieces *total, const struct tac_overlap_record *r)
{
    return r->key < total->triangle_total ? 3 : r->key < total->triangle_total + total->segment_total ? 2 : 1;
}

static enum tac_err number_vertices(struct tac_ctx *ctx, const struct tac_pieces *total, size_t n,
                                    const struct tac_overlap_record *record, struct tac_overlap_part *part)
{
    struct tac_ids ids = {0};
    size_t count = 0;
    enum tac_err err = TAC_OK;
    for (size_t i = 0; i < n && err == TAC_OK; i++)
        err = tac_ids_add(ctx, &ids, (size_t)corners(total, &record[i]), record[i].vertex);
    if (err) {
        free(ids.list);
        return err;
    }
    TAC_TRY(tac_ids_finish(ctx, &ids, &part->ids.vertex_id, &count));
    part->scene.mesh->vertex_count = (tac_lid)count;
done:
    return err;
}

/* Positions, elements by new numbers. */
static enum tac_err fill(struct tac_ctx *ctx, const struct tac_pieces *total, size_t n,
                         const struct tac_overlap_record *record, struct tac_overlap_part *part)
{
    struct tac_scene *s = &part->scene;
    struct tac_finder finder = {0};
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_finder_make(ctx, part->ids.vertex_id, (size_t)s->mesh->vertex_count, &finder));
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)s->mesh->vertex_count, sizeof *s->mesh->x, &s->mesh->x));
    TAC_TRY(tac_alloc(ctx, (size_t)s->mesh->vertex_count, 1, &s->mesh->ever_free));
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)s->mesh->triangle_count, sizeof *s->mesh->triangle, &s->mesh->triangle));
    TAC_TRY(tac_alloc(ctx, 2 * (size_t)s->mesh->segment_count, sizeof *s->mesh->segment, &s->mesh->segment));
    TAC_TRY(tac_alloc(ctx, (size_t)s->mesh->triangle_count, sizeof *part->ids.triangle_id, &part->ids.triangle_id));
    for (size_t i = 0; i < n; i++) {
        const int width = corners(total, &record[i]);
        for (size_t k = 0; k < (size_t)width; k++) {
            const tac_lid v = tac_finder_find(&finder, record[i].vertex[k]);
            memcpy(s->mesh->x + 3 * (size_t)v, record[i].x[k], sizeof record[i].x[k]);
            s->mesh->ever_free[v] = record[i].ever_free[k];
            if (width == 3)
                s->mesh->triangle[3 * i + k] = v;
            else if (width == 2)
                s->mesh->segment[2 * (i - (size_t)s->mesh->triangle_count) + k] = v;
        }
        if (width == 3)
            part->ids.triangle_id[i] = record[i].key;
    }
done:
    tac_finder_free(&finder);
    return err;
}

/* The bodies with their ranges in this scene; names stay borrowed. */
static enum tac_err fill_bodies(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *total,
                                size_t n, const struct tac_overlap_record *record, bool whole, struct tac_scene *s,
                                const tac_gid *vertex_id)
{
    enum tac_err err =
        tac_alloc(ctx, (size_t)common->settings->body_count, sizeof *s->settings->body, &s->settings->body);
    for (tac_lid b = 0; b < common->settings->body_count && err == TAC_OK; b++) {
        const struct tac_body *from = &common->settings->body[b];
        struct tac_body *to = &s->settings->body[b];
        *to = *from;
        if (whole)
            continue;
        to->vertex_begin = below(s->mesh->vertex_count, vertex_id, from->vertex_begin);
        to->vertex_end = below(s->mesh->vertex_count, vertex_id, from->vertex_end);
        to->triangle_begin = before(n, record, from->triangle_begin);
        to->triangle_end = before(n, record, from->triangle_end);
        to->segment_begin = before(n, record, total->triangle_total + from->segment_begin) - s->mesh->triangle_count;
        to->segment_end = before(n, record, total->triangle_total + from->segment_end) - s->mesh->triangle_count;
    }
    return err;
}

enum tac_err tac_overlap_part_make(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *total,
                                   size_t n, const struct tac_overlap_record *record, bool whole,
                                   struct tac_overlap_part *out)
{
    struct tac_scene *s = &out->scene;
    enum tac_err err = TAC_OK;
    memset(out, 0, sizeof *out);
    out->scene = (struct tac_scene){&out->settings, &out->mesh};
    s->settings->contact = common->settings->contact;
    s->settings->two_d = common->settings->two_d;
    s->settings->body_count = common->settings->body_count;
    s->settings->rigid_count = common->settings->rigid_count;
    s->settings->rigid = common->settings->rigid;
    s->mesh->part = &out->ids;
    if (n > INT32_MAX)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "rank %d would look for overlaps among %zu elements; use more ranks",
                         ctx->rank, n));
    s->mesh->triangle_count = before(n, record, total->triangle_total);
    s->mesh->segment_count = before(n, record, total->triangle_total + total->segment_total) - s->mesh->triangle_count;
    TAC_TRY(number_vertices(ctx, total, n, record, out));
    TAC_TRY(fill(ctx, total, n, record, out));
    TAC_TRY(fill_bodies(ctx, common, total, n, record, whole, s, out->ids.vertex_id));
    TAC_TRY(tac_topology_create(ctx, s->mesh->vertex_count, s->mesh->triangle_count, s->mesh->triangle,
                                s->mesh->segment_count, s->mesh->segment, &s->mesh->topology));
done:
    return err;
}

void tac_overlap_part_free(struct tac_overlap_part *part)
{
    free(part->mesh.x);
    free(part->mesh.ever_free);
    free(part->mesh.triangle);
    free(part->mesh.segment);
    free(part->settings.body);
    tac_topology_destroy(&part->mesh.topology);
    free(part->ids.vertex_id);
    free(part->ids.triangle_id);
    memset(part, 0, sizeof *part);
}
