/* touch.c: lists the pairs whose barrier acts at given positions. Distances and barriers are computed once for each
 * set of positions; potential, gradient, Hessian, friction and the book share them. */
#include "implicit/parts.h"

enum tac_err tac_implicit_touch(struct tac_implicit *sim, const double *x)
{
    enum tac_err err = TAC_OK;
    if (sim->contact.touch_of == x)
        return TAC_OK;
    sim->contact.touch_of = NULL;
    sim->contact.touch_count = 0;
    for (size_t e = 0; e < sim->contact.pair_count; e++) {
        const struct tac_implicit_pair *p = &sim->contact.pair[e];
        double at[4][3];
        struct tac_barrier_near near;
        tac_implicit_gather(x, p->v, tac_pair_vertices(p->form.type), at);
        if (!tac_barrier_near(&p->form, at, &near))
            continue;
        TAC_TRY(tac_grow(sim->ctx, &sim->contact.touch, &sim->contact.touch_capacity, sim->contact.touch_count + 1,
                         sizeof *sim->contact.touch));
        sim->contact.touch[sim->contact.touch_count++] = (struct tac_implicit_touch){e, near};
    }
    sim->contact.touch_of = x;
done:
    return err;
}
