/* kinetic_pairs.c: implements the structure without a hierarchy: a slab between every two primitives that may ever
 * touch, from the start on (ACM 2009, section 5.1 alone, without 5.4). It is quadratic: for small scenes, for
 * comparison, and as the shortest example of a structure (docs/developers/adding-a-kinetic-structure.md). */
#include "kds/kinetic.h"

static enum tac_err pairs_create(struct tac_kinetic *k, void **self)
{
    const double n = k->primitive_count;
    (void)self;
    if (n * (n - 1) / 2 > 1e6)
        return tac_fail(
            k->view->ctx, TAC_ERR_INPUT,
            "the scene has more than 1e6 pairs of primitives, too many for discovery.structure = \"pairs\"; use "
            "\"k-dop\"");
    return TAC_OK;
}

static enum tac_err pairs_build(struct tac_kinetic *k, void *self)
{
    enum tac_err err = TAC_OK;
    (void)self;
    for (int32_t a = 0; a < k->primitive_count; a++)
        for (int32_t b = a + 1; b < k->primitive_count; b++) {
            int32_t head = -1;
            if (tac_kinetic_may_touch(k, k->primitive[a].body, k->primitive[b].body))
                TAC_TRY(tac_slabs_between(k, &k->primitive[a], &k->primitive[b], -1, &head));
        }
done:
    return err;
}

const struct tac_kinetic_structure tac_kinetic_pairs = {.name = "pairs", .create = pairs_create, .build = pairs_build};
