/* No hierarchy: a slab between every two primitives that may ever touch, from the start on (ACM 5.1 on its own, before
 * 5.4).  Quadratic: for small scenes, for comparison, and as the shortest example of a structure. */
#include "kds/kinetic.h"
#include <stdlib.h>

struct pairs {
    struct tac_queue *queue; /* empty: it has no certificates of its own */
};

static enum tac_err create(struct tac_kinetic *k, void **self)
{
    enum tac_err err;
    struct pairs *all = NULL;
    const double n = k->primitive_count;
    if (n * (n - 1) / 2 > 1e6) {
        err = tac_fail(
            k->sim->ctx, TAC_ERR_INPUT,
            "the scene has more than 1e6 pairs of primitives, too many for discovery.structure = \"pairs\"; use "
            "\"k-dop\"");
        goto done;
    }
    TAC_TRY(tac_alloc(k->sim->ctx, 1, sizeof *all, &all));
    *self = all;
    TAC_TRY(tac_queue_create(k->sim->ctx, TAC_QUEUE_BINARY, &all->queue));
done:
    return err;
}

static void destroy(void *self)
{
    struct pairs *all = self;
    tac_queue_destroy(&all->queue);
    free(all);
}

static enum tac_err build(struct tac_kinetic *k, void *self)
{
    enum tac_err err = TAC_OK;
    (void)self;
    for (int32_t a = 0; a < k->primitive_count; a++)
        for (int32_t b = a + 1; b < k->primitive_count; b++) {
            int32_t head = -1;
            if (tac_kinetic_sides(k, k->side[a], k->side[b]) &&
                tac_kinetic_may_touch(k, k->primitive[a].body, k->primitive[b].body))
                TAC_TRY(tac_slabs_between(k, &k->primitive[a], &k->primitive[b], -1, &head));
        }
done:
    return err;
}

static struct tac_queue *queue(void *self)
{
    return ((struct pairs *)self)->queue;
}

static enum tac_err fail(struct tac_kinetic *k, void *self, int32_t id)
{
    (void)k;
    (void)self;
    (void)id;
    return TAC_OK;
}

static enum tac_err moved(struct tac_kinetic *k, void *self, const tac_lid *v, size_t count)
{
    (void)k;
    (void)self;
    (void)v;
    (void)count;
    return TAC_OK;
}

static enum tac_err relieved(struct tac_kinetic *k, void *self, int32_t owner)
{
    (void)k;
    (void)self;
    (void)owner;
    return TAC_OK;
}

static bool stale(const struct tac_kinetic *k, const void *self)
{
    (void)k;
    (void)self;
    return false;
}

const struct tac_kinetic_structure tac_kinetic_pairs = {"pairs", create, destroy,  build, queue,
                                                        fail,    moved,  relieved, stale};
