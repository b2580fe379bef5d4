/* islands.c: joins bodies that rows link; the result depends on the rows alone. */
#include "impact/islands.h"
#include "base/roots.h"
#include <stdlib.h>
#include <string.h>

static int32_t any_body(const struct tac_impact_row *row)
{
    return row->body[0] >= 0 ? row->body[0] : row->body[1];
}

static enum tac_err make_room(struct tac_ctx *ctx, struct tac_islands *s, size_t bodies, size_t n)
{
    enum tac_err err = TAC_OK;
    size_t has = s->body_capacity;
    TAC_TRY(tac_grow(ctx, &s->parent, &has, bodies, sizeof *s->parent));
    TAC_TRY(tac_grow(ctx, &s->number, &s->body_capacity, bodies, sizeof *s->number));
    TAC_TRY(tac_grow(ctx, &s->order, &s->row_capacity, n, sizeof *s->order));
    TAC_TRY(tac_grow(ctx, &s->begin, &s->capacity, n + 2, sizeof *s->begin));
done:
    return err;
}

static void link_bodies(struct tac_islands *s, const struct tac_impact_row *row, const uint32_t *list, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 2; i++)
            if (row[list[k]].body[i] >= 0) {
                s->parent[row[list[k]].body[i]] = row[list[k]].body[i];
                s->number[row[list[k]].body[i]] = -1;
            }
    for (size_t k = 0; k < n; k++) {
        const struct tac_impact_row *r = &row[list[k]];
        if (r->body[0] >= 0 && r->body[1] >= 0)
            tac_root_join(s->parent, r->body[0], r->body[1]);
    }
}

enum tac_err tac_islands_make(struct tac_ctx *ctx, struct tac_islands *s, size_t bodies,
                              const struct tac_impact_row *row, const uint32_t *list, size_t n)
{
    enum tac_err err;
    s->count = 0;
    TAC_TRY(make_room(ctx, s, bodies, n));
    link_bodies(s, row, list, n);
    memset(s->begin, 0, (n + 2) * sizeof *s->begin);
    for (size_t k = 0; k < n; k++) {
        int32_t *number = &s->number[tac_root(s->parent, any_body(&row[list[k]]))];
        if (*number < 0)
            *number = (int32_t)s->count++;
        s->begin[*number + 2]++;
    }
    for (size_t i = 2; i < s->count + 2; i++)
        s->begin[i] += s->begin[i - 1];
    for (size_t k = 0; k < n; k++) /* begin[i + 1] goes from the start of island i to its end */
        s->order[s->begin[s->number[tac_root(s->parent, any_body(&row[list[k]]))] + 1]++] = list[k];
done:
    return err;
}

void tac_islands_free(struct tac_islands *s)
{
    free(s->order);
    free(s->begin);
    free(s->parent);
    free(s->number);
    memset(s, 0, sizeof *s);
}
