/* dissect.c: nested dissection by levels of breadth-first searches. */
#include "impact/bounded/dissect.h"
#include <stdlib.h>
#include <string.h>

enum { UNCUT = 16 }; /* bodies: such a group is not cut */

static enum tac_err make_room(struct tac_ctx *ctx, size_t bodies, struct tac_dissection *d)
{
    enum tac_err err = TAC_OK;
    int32_t **const array[] = {&d->order, &d->place, &d->group, &d->level, &d->queue};
    size_t has = d->body_capacity;
    for (size_t k = 0; k < sizeof array / sizeof *array; k++, has = d->body_capacity)
        TAC_TRY(tac_grow(ctx, array[k], &has, bodies + 1, sizeof **array[k]));
    TAC_TRY(tac_grow(ctx, &d->begin, &has, bodies + 1, sizeof *d->begin));
    d->body_capacity = bodies + 1 > d->body_capacity ? bodies + 1 : d->body_capacity;
done:
    return err;
}

void tac_dissection_free(struct tac_dissection *d)
{
    void *const owned[] = {d->order, d->place, d->group, d->level, d->queue, d->begin, d->near, d->part};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    memset(d, 0, sizeof *d);
}

/* Lists the bodies near to each body, each of them once. */
static enum tac_err list_near(struct tac_ctx *ctx, const struct tac_bounded *p, struct tac_dissection *d)
{
    enum tac_err err;
    size_t count = 0;
    int32_t *last = d->level;
    TAC_TRY(tac_grow(ctx, &d->near, &d->near_capacity, (TAC_COLUMN_BODIES - 1) * p->start[p->bodies], sizeof *d->near));
    for (size_t b = 0; b < p->bodies; b++)
        last[b] = -1;
    for (size_t b = 0; b < p->bodies; b++) {
        d->begin[b] = count;
        last[b] = (int32_t)b;
        for (size_t e = p->start[b]; e < p->start[b + 1]; e++)
            for (int i = 0; i < TAC_COLUMN_BODIES; i++) {
                const int32_t other = p->column[p->entry[e]].body[i];
                if (other >= 0 && last[other] != (int32_t)b) {
                    last[other] = (int32_t)b;
                    d->near[count++] = other;
                }
            }
    }
    d->begin[p->bodies] = count;
done:
    return err;
}

/* ---- one group ---- */

struct group {
    int32_t begin, end, parent;
};

struct cutting {
    struct tac_ctx *ctx;
    struct tac_dissection *d;
    struct group *stack; /* owned: groups that are to be cut */
    size_t count, capacity;
    int32_t groups; /* numbers that have been given to groups */
};

/* A breadth-first search from a body of group `id` to all that it reaches there: they get the number `reached`, and
 * follow each other in the queue from `at` on. Returns where they end. */
static int32_t search(struct tac_dissection *d, int32_t start, int32_t id, int32_t reached, int32_t at)
{
    int32_t end = at;
    d->queue[end++] = start;
    d->group[start] = reached;
    d->level[start] = 0;
    for (int32_t k = at; k < end; k++) {
        const int32_t b = d->queue[k];
        for (size_t e = d->begin[b]; e < d->begin[b + 1]; e++) {
            const int32_t other = d->near[e];
            if (d->group[other] != id)
                continue;
            d->group[other] = reached;
            d->level[other] = d->level[b] + 1;
            d->queue[end++] = other;
        }
    }
    return end;
}

static enum tac_err push(struct cutting *c, int32_t begin, int32_t end, int32_t parent)
{
    const enum tac_err err = tac_grow(c->ctx, &c->stack, &c->capacity, c->count + 1, sizeof *c->stack);
    if (!err && end > begin)
        c->stack[c->count++] = (struct group){begin, end, parent};
    return err;
}

static enum tac_err add_part(struct cutting *c, int32_t begin, int32_t end, int32_t parent)
{
    struct tac_dissection *d = c->d;
    const enum tac_err err = tac_grow(c->ctx, &d->part, &d->part_capacity, d->count + 1, sizeof *d->part);
    if (!err)
        d->part[d->count++] = (struct tac_separator){begin, end, parent};
    return err;
}

/* Where the bodies of the queue, level by level, are best cut: a level with few bodies and many on both sides. Returns
 * its first place in the queue, and *end; they are equal if there are too few levels. */
static int32_t choose_level(const struct tac_dissection *d, int32_t n, int32_t *end)
{
    int32_t best = 0;
    int64_t best_size = 1, best_side = 0;
    *end = 0;
    for (int32_t begin = 1, after; begin < n; begin = after) {
        for (after = begin; after < n && d->level[d->queue[after]] == d->level[d->queue[begin]];)
            after++;
        const int64_t side = begin < n - after ? begin : n - after, size = after - begin;
        if (side * best_size > best_side * size) {
            best = begin;
            *end = after;
            best_side = side;
            best_size = size;
        }
    }
    return best;
}

/* Writes the cut group to its places: what is before the level, what is behind it, and the level. Bodies of the level
 * that touch nothing behind it go with those before it. Returns where the second part begins; *third likewise. */
static int32_t lay_out(struct tac_dissection *d, const struct group *g, int32_t begin, int32_t end, int32_t *third)
{
    const int32_t n = g->end - g->begin;
    int32_t at = g->begin, *order = d->order;
    for (int32_t k = 0; k < begin; k++)
        order[at++] = d->queue[k];
    int32_t kept = begin;
    for (int32_t k = begin; k < end; k++) {
        const int32_t b = d->queue[k];
        bool separates = false;
        for (size_t e = d->begin[b]; e < d->begin[b + 1]; e++)
            separates = separates || (d->group[d->near[e]] == d->group[b] && d->level[d->near[e]] > d->level[b]);
        if (separates)
            d->queue[kept++] = b;
        else
            order[at++] = b;
    }
    const int32_t second = at;
    for (int32_t k = end; k < n; k++)
        order[at++] = d->queue[k];
    *third = at;
    for (int32_t k = begin; k < kept; k++)
        order[at++] = d->queue[k];
    return second;
}

/* Cuts a group, or makes it a part. Parts are found from the last one on. */
static enum tac_err cut(struct cutting *c, const struct group *g)
{
    enum tac_err err = TAC_OK;
    struct tac_dissection *d = c->d;
    const int32_t n = g->end - g->begin, id = ++c->groups;
    int32_t reached, end, third;
    for (int32_t k = g->begin; k < g->end; k++)
        d->group[d->order[k]] = id;
    if (n <= UNCUT)
        return add_part(c, g->begin, g->end, g->parent);
    reached = search(d, d->order[g->begin], id, ++c->groups, 0);
    if (reached < n) { /* groups that do not touch each other */
        TAC_TRY(push(c, g->begin, g->begin + reached, g->parent));
        for (int32_t k = g->begin; k < g->end; k++) {
            if (d->group[d->order[k]] != id)
                continue;
            const int32_t from = reached;
            reached = search(d, d->order[k], id, ++c->groups, from);
            TAC_TRY(push(c, g->begin + from, g->begin + reached, g->parent));
        }
        memcpy(d->order + g->begin, d->queue, (size_t)n * sizeof *d->order);
        return TAC_OK;
    }
    for (int again = 0; again < 2; again++) { /* from the body that is farthest */
        const int32_t last = d->group[d->queue[0]];
        (void)search(d, d->queue[n - 1], last, ++c->groups, 0);
    }
    const int32_t begin = choose_level(d, n, &end);
    if (end <= begin)
        return add_part(c, g->begin, g->end, g->parent);
    const int32_t second = lay_out(d, g, begin, end, &third), parent = (int32_t)d->count;
    TAC_TRY(add_part(c, third, g->end, g->parent));
    TAC_TRY(push(c, g->begin, second, parent));
    TAC_TRY(push(c, second, third, parent));
done:
    return err;
}

/* ---- all ---- */

/* Parts were found from the last one on: turns them round. */
static void reverse_parts(struct tac_dissection *d)
{
    const int32_t last = (int32_t)d->count - 1;
    for (int32_t k = 0; k < last - k; k++) {
        const struct tac_separator part = d->part[k];
        d->part[k] = d->part[last - k];
        d->part[last - k] = part;
    }
    for (int32_t k = 0; k <= last; k++)
        if (d->part[k].parent >= 0)
            d->part[k].parent = last - d->part[k].parent;
}

enum tac_err tac_dissect(struct tac_ctx *ctx, const struct tac_bounded *p, struct tac_dissection *d)
{
    enum tac_err err;
    struct cutting c = {.ctx = ctx, .d = d};
    d->count = 0;
    TAC_TRY(make_room(ctx, p->bodies, d));
    TAC_TRY(list_near(ctx, p, d));
    for (size_t b = 0; b < p->bodies; b++) {
        d->order[b] = (int32_t)b;
        d->group[b] = 0;
    }
    TAC_TRY(push(&c, 0, (int32_t)p->bodies, -1));
    while (c.count > 0) {
        const struct group g = c.stack[--c.count];
        TAC_TRY(cut(&c, &g));
    }
    reverse_parts(d);
    for (size_t k = 0; k < p->bodies; k++)
        d->place[d->order[k]] = (int32_t)k;
done:
    free(c.stack);
    return err;
}
