/* patches_blocks.c: sorts the primitives of a body into small blocks, and finds which of them are near each other at
 * the start (docs/reference/engine.md, Candidates).
 */
#include "broadphase/patches_build.h"
#include <stdlib.h>
#include <string.h>

/* The box of a primitive at the start; context: a tac_patches_build. */
static void start_box(void *context, int32_t primitive, struct tac_dop *box)
{
    const struct tac_patches_build *b = context;
    const struct tac_primitive *p = &b->primitive[primitive];
    const double reach = .5 * b->view->margin * b->view->scene->settings->contact.thickness +
                         b->view->scene->settings->body[b->body].radius + b->c->skin;
    tac_dop_empty(box);
    for (int i = 0; i < p->count; i++) {
        double at[TAC_DOP_AXES];
        tac_dop_project(&b->view->scene->mesh->x[3 * (size_t)p->v[i]], at);
        for (int k = 0; k < TAC_DOP_AXES; k++) {
            box->lo[k] = fmin(box->lo[k], at[k] - reach * tac_dop_length[k]);
            box->hi[k] = fmax(box->hi[k], at[k] + reach * tac_dop_length[k]);
        }
    }
}

/* Numbers the highest nodes that hold no more than TAC_PATCH_BLOCK primitives; node[], size[]: scratch, one per node.
 */
static void number_blocks(struct tac_patches_build *b, const struct tac_tree *tree, int32_t *node, int32_t *size)
{
    for (int32_t i = tree->node_count; i-- > 0;) {
        const int32_t left = tree->node[i].left;
        size[i] = left < 0 ? 1 : size[left] + size[left + 1];
        node[i] = -1;
    }
    for (int32_t i = 0; i < tree->node_count; i++) {
        const int32_t left = tree->node[i].left;
        if (node[i] < 0 && size[i] <= TAC_PATCH_BLOCK)
            node[i] = b->out->count++;
        if (left < 0)
            b->out->of[tree->node[i].primitive] = node[i];
        else
            node[left] = node[left + 1] = node[i];
    }
}

/* Sorts the primitives by their blocks, and makes the boxes of blocks of theirs. */
static enum tac_err sort_blocks(struct tac_patches_build *b, struct tac_dop *block_box)
{
    enum tac_err err;
    const int32_t *of = b->out->of;
    TAC_TRY(tac_alloc(b->view->ctx, (size_t)b->out->count + 1, sizeof *b->begin, &b->begin));
    TAC_TRY(tac_alloc(b->view->ctx, (size_t)b->primitive_count, sizeof *b->member, &b->member));
    for (int32_t k = 0; k < b->out->count; k++)
        tac_dop_empty(&block_box[k]);
    for (int32_t p = 0; p < b->primitive_count; p++)
        b->begin[of[p]]++;
    for (int32_t k = 0; k < b->out->count; k++)
        b->begin[k + 1] += b->begin[k];
    for (int32_t p = b->primitive_count; p-- > 0;) {
        struct tac_dop *whole = &block_box[of[p]], box;
        start_box(b, p, &box);
        b->member[--b->begin[of[p]]] = p;
        for (int k = 0; k < TAC_DOP_AXES; k++) {
            whole->lo[k] = fmin(whole->lo[k], box.lo[k]);
            whole->hi[k] = fmax(whole->hi[k], box.hi[k]);
        }
    }
done:
    return err;
}

static enum tac_err add_meeting(void *context, int32_t block_a, int32_t block_b)
{
    enum tac_err err;
    struct tac_patches_build *b = context;
    TAC_TRY(tac_grow(b->view->ctx, &b->meeting, &b->meeting_capacity, b->meeting_count + 1, sizeof *b->meeting));
    b->meeting[b->meeting_count][0] = block_a;
    b->meeting[b->meeting_count++][1] = block_b;
done:
    return err;
}

/* Which blocks are beside which, as lists by block. */
static enum tac_err list_meetings(struct tac_patches_build *b)
{
    enum tac_err err;
    const int32_t n = b->out->count;
    int32_t *begin;
    TAC_TRY(tac_alloc(b->view->ctx, (size_t)n + 2, sizeof *b->beside_begin, &b->beside_begin));
    TAC_TRY(tac_alloc(b->view->ctx, (size_t)n + 2 * b->meeting_count, sizeof *b->beside, &b->beside));
    begin = b->beside_begin + 1; /* [k] is where the next of block k goes, and at last where those of k + 1 begin */
    for (size_t k = 0; k < b->meeting_count; k++)
        for (int side = 0; side < 2; side++)
            begin[b->meeting[k][side] + 1]++;
    for (int32_t k = 0; k < n; k++)
        begin[k + 1] += begin[k] + 1;
    for (int32_t k = 0; k < n; k++)
        b->beside[begin[k]++] = k;
    for (size_t k = 0; k < b->meeting_count; k++)
        for (int side = 0; side < 2; side++)
            b->beside[begin[b->meeting[k][side]]++] = b->meeting[k][1 - side];
done:
    return err;
}

/* context: the boxes of all blocks. */
static void block_box_of(void *context, int32_t block, struct tac_dop *box)
{
    *box = ((const struct tac_dop *)context)[block];
}

enum tac_err tac_patches_blocks(struct tac_patches_build *b)
{
    enum tac_err err;
    struct tac_dop *block_box = NULL;
    struct tac_tree *tree = NULL, *blocks = NULL;
    int32_t *node = NULL, *scratch = NULL;
    const size_t n = (size_t)b->primitive_count;
    TAC_TRY(tac_alloc(b->view->ctx, 2 * n, sizeof *node, &node));
    TAC_TRY(tac_alloc(b->view->ctx, 2 * n, sizeof *scratch, &scratch));
    TAC_TRY(tac_alloc(b->view->ctx, n, sizeof *b->out->of, &b->out->of));
    TAC_TRY(tac_tree_create(b->view->ctx, b->primitive_count, &tree));
    const double *origin = &b->view->scene->mesh->x[3 * (size_t)b->primitive[0].v[0]];
    tac_tree_refit(tree, origin, start_box, b, scratch);
    number_blocks(b, tree, node, scratch);
    tac_tree_destroy(&tree);
    TAC_TRY(tac_alloc(b->view->ctx, (size_t)b->out->count, sizeof *block_box, &block_box));
    TAC_TRY(sort_blocks(b, block_box));
    TAC_TRY(tac_tree_create(b->view->ctx, b->out->count, &blocks));
    tac_tree_refit(blocks, origin, block_box_of, block_box, scratch);
    int64_t tests = 0;
    TAC_TRY(tac_tree_overlaps(blocks, blocks, NULL, NULL, add_meeting, b, &tests));
    TAC_TRY(list_meetings(b));
done:
    tac_tree_destroy(&tree);
    tac_tree_destroy(&blocks);
    free(block_box);
    free(node);
    free(scratch);
    return err;
}
