/* kept.c: results of supports that need not be computed again, or from which another one starts
 * (docs/reference/impact.md, One step).
 *
 * A step solves its support again whenever a pair has joined the rows, or a row has been corrected, and most islands
 * have not changed since. So the rows of the last support are kept with what went into it and what came out. An island
 * of the same rows, with the same velocities before, gets the same result, to the last bit. Rows are only added within
 * a part of a step, so an island without a new row has the rows that it had. */
#include "impact/operator.h"
#include <stdlib.h>
#include <string.h>

struct tac_kept_row {
    uint64_t key;
    double r, from[TAC_COLUMN_BODIES][3];
    double lambda, slide[2], tangent[2][3], to[TAC_COLUMN_BODIES][3];
    bool rubs;
};

enum tac_err tac_kept_make(struct tac_ctx *ctx, struct tac_kept_support *k, size_t bodies, size_t rows)
{
    enum tac_err err;
    size_t has = k->row_capacity;
    TAC_TRY(tac_grow(ctx, &k->of, &has, rows, sizeof *k->of));
    TAC_TRY(tac_grow(ctx, &k->row, &k->row_capacity, rows, sizeof *k->row));
    k->row_capacity = k->row_capacity < has ? k->row_capacity : has;
    has = 3 * k->body_capacity;
    TAC_TRY(tac_grow(ctx, &k->before, &has, 3 * bodies, sizeof *k->before));
    k->body_capacity = bodies > k->body_capacity ? bodies : k->body_capacity;
done:
    return err;
}

void tac_kept_free(struct tac_kept_support *k)
{
    free(k->of);
    free(k->row);
    free(k->before);
}

void tac_kept_begin(struct tac_instant *in)
{
    struct tac_kept_support *k = &in->kept;
    size_t at = 0;
    if (in->bodies > 0)
        memcpy(k->before, in->v, 3 * in->bodies * sizeof *in->v);
    for (size_t r = 0; r < in->rows; r++) {
        while (at < k->count && k->row[at].key < in->row[r].key)
            at++;
        k->of[r] = at < k->count && k->row[at].key == in->row[r].key ? (int32_t)at : -1;
    }
}

bool tac_kept_has(const struct tac_instant *in, const uint32_t *list, size_t n)
{
    const struct tac_kept_support *k = &in->kept;
    for (size_t e = 0; e < n; e++) {
        const struct tac_impact_row *row = &in->row[list[e]];
        const struct tac_kept_row *kept = &k->row[k->of[list[e]] >= 0 ? k->of[list[e]] : 0];
        if (k->of[list[e]] < 0 || kept->r != row->r)
            return false;
        for (int i = 0; i < TAC_COLUMN_BODIES; i++)
            if (tac_row_body(row, i) >= 0 &&
                memcmp(kept->from[i], &in->v[3 * (size_t)tac_row_body(row, i)], sizeof kept->from[i]) != 0)
                return false;
    }
    return true;
}

static void take_impulses(struct tac_impact_row *row, const struct tac_kept_row *kept)
{
    row->lambda = kept->lambda;
    row->rubs = kept->rubs;
    memcpy(row->slide, kept->slide, sizeof row->slide);
    memcpy(row->tangent, kept->tangent, sizeof row->tangent);
}

void tac_kept_restore(struct tac_instant *in, const uint32_t *list, size_t n)
{
    for (size_t e = 0; e < n; e++) {
        struct tac_impact_row *row = &in->row[list[e]];
        const struct tac_kept_row *kept = &in->kept.row[in->kept.of[list[e]]];
        take_impulses(row, kept);
        row->rubbed = row->struck = 0;
        for (int i = 0; i < TAC_COLUMN_BODIES; i++)
            if (tac_row_body(row, i) >= 0)
                memcpy(&in->v[3 * (size_t)tac_row_body(row, i)], kept->to[i], sizeof kept->to[i]);
    }
}

bool tac_kept_start(struct tac_instant *in, const uint32_t *list, size_t n)
{
    size_t known = 0;
    for (size_t e = 0; e < n; e++)
        known += in->kept.of[list[e]] >= 0;
    if (known <= n / 2)
        return false;
    for (size_t e = 0; e < n; e++) {
        const int32_t was = in->kept.of[list[e]];
        if (was >= 0)
            take_impulses(&in->row[list[e]], &in->kept.row[was]);
    }
    return true;
}

void tac_kept_store(struct tac_instant *in)
{
    struct tac_kept_support *k = &in->kept;
    k->count = in->unsolved == 0 ? in->rows : 0;
    for (size_t r = 0; r < in->rows; r++) {
        const struct tac_impact_row *row = &in->row[r];
        struct tac_kept_row *kept = &k->row[r];
        *kept = (struct tac_kept_row){.key = row->key, .r = row->r, .lambda = row->lambda, .rubs = row->rubs};
        memcpy(kept->slide, row->slide, sizeof kept->slide);
        memcpy(kept->tangent, row->tangent, sizeof kept->tangent);
        for (int b = 0; b < TAC_COLUMN_BODIES; b++)
            if (tac_row_body(row, b) >= 0) {
                memcpy(kept->from[b], &k->before[3 * (size_t)tac_row_body(row, b)], sizeof kept->from[b]);
                memcpy(kept->to[b], &in->v[3 * (size_t)tac_row_body(row, b)], sizeof kept->to[b]);
            }
    }
}
