/* audit_tie.c: compares the record's positions at both ends of each interval with those of the frames, to the last bit.
 *
 * Interval k goes from frame k to frame k + 1.  Both are known before its rows are read, vertex by vertex, and each
 * frame is read beside them, some rows at a time. */
#include "audit/audit_room.h"

#include <stdlib.h>
#include <string.h>

enum tac_err tac_audit_tie_make(struct tac_ctx *ctx, const struct tac_reader *frames, tac_lid vertex_count,
                                struct tac_audit_tie_look *look)
{
    const size_t rows = vertex_count < TAC_AUDIT_TIE_ROWS ? (size_t)vertex_count : TAC_AUDIT_TIE_ROWS;
    enum tac_err err = TAC_OK;
    memset(look, 0, sizeof *look);
    look->frames = frames;
    for (int k = 0; k < 2; k++)
        TAC_TRY(tac_alloc(ctx, 3 * rows, sizeof *look->x[k], &look->x[k]));
done:
    return err;
}

void tac_audit_tie_free(struct tac_audit_tie_look *look)
{
    for (int k = 0; k < 2; k++)
        free(look->x[k]);
    memset(look, 0, sizeof *look);
}

/* The place of the frame with this number; -1: there is none. */
static int64_t place_of(const struct tac_reader *frames, int64_t index)
{
    int64_t low = 0, high = frames->frame_count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (frames->frame[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < frames->frame_count && frames->frame[low].index == index ? low : -1;
}

void tac_audit_tie_begin(struct tac_audit_tie_look *look, const struct tac_recorded *recorded, int64_t g,
                         struct tac_audit_group *group)
{
    const struct tac_reader *frames = look->frames;
    const int64_t index = recorded->group[g].index, n = frames->frame_count;
    const bool partial = tac_recorded_partial(recorded, g);
    const double quantum_s = recorded->file->quantum_s;
    for (int k = 0; k < 2; k++) {
        const double t_s = (double)group->t[k] * quantum_s;
        const int64_t place = place_of(frames, index + k);
        look->place[k] = -1;
        look->begin[k] = look->end[k] = 0;
        if (place < 0) {
            /* A folder may begin with a later frame (a restart with -o), and a run be killed, or still go on, between
             * the writing of an interval and of its last frame. */
            const bool before = n > 0 && index + k < frames->frame[0].index;
            const bool after = n > 0 && index + k > frames->frame[n - 1].index;
            group->end[k].missing = !(before && k == 0) && !(after && k == 1);
        } else if (frames->frame[place].time_s == t_s) {
            look->place[k] = place;
            group->end[k].frame = index + k;
        } else if (k == 0 ? t_s < frames->frame[place].time_s : !partial || t_s > frames->frame[place].time_s) {
            group->off = 1; /* what begins within an interval, or is a part of one, is so by right */
        }
    }
}

enum tac_err tac_audit_tie_row(struct tac_ctx *ctx, struct tac_audit_tie_look *look, int end, tac_lid vertex,
                               const double x[3], struct tac_audit_group *group)
{
    enum tac_err err = TAC_OK;
    struct tac_audit_end_tie *tie = &group->end[end];
    if (look->place[end] < 0)
        return TAC_OK;
    if (vertex >= look->end[end]) {
        const tac_lid left = look->frames->vertex_count - vertex;
        look->begin[end] = vertex;
        look->end[end] = vertex + (left < TAC_AUDIT_TIE_ROWS ? left : TAC_AUDIT_TIE_ROWS);
        TAC_TRY(
            tac_reader_positions(ctx, look->frames, look->place[end], vertex, look->end[end] - vertex, look->x[end]));
    }
    const double *y = look->x[end] + 3 * (size_t)(vertex - look->begin[end]);
    tie->compared++;
    if (memcmp(x, y, 3 * sizeof *x) == 0)
        goto done;
    if (tie->differing++ == 0) {
        tie->vertex = vertex;
        memcpy(tie->recorded, x, sizeof tie->recorded);
        memcpy(tie->framed, y, sizeof tie->framed);
    }
done:
    return err;
}
