/* candidates_life.c: chooses the lifetime of lists of candidate pairs (docs/reference/engine.md, Candidates). */
#include "broadphase/candidates.h"

static const double STEP = 1.5; /* of lifetimes */

/* Computes the largest cost of the list on any rank; each rank makes its own part of the list. */
static enum tac_err cost_of(struct tac_view *view, const struct tac_candidates *c, double *cost)
{
    *cost = (double)c->cost.build + (double)c->cost.repair + TAC_LOOK_COST * (double)c->cost.looks;
    if (view->halo && MPI_Allreduce(MPI_IN_PLACE, cost, 1, MPI_DOUBLE, MPI_MAX, view->ctx->comm) != MPI_SUCCESS)
        return tac_fail(view->ctx, TAC_ERR_RUN, "MPI failed while choosing the lifetime of a list");
    return TAC_OK;
}

enum tac_err tac_candidates_horizon(struct tac_view *view, struct tac_candidates *c, tac_time start, tac_time reached,
                                    tac_time length)
{
    enum tac_err err = TAC_OK;
    const tac_time age = start - c->start, least = length, most = 1024 * length;
    double cost, horizon = (double)c->horizon;
    if (c->end <= c->start)
        return TAC_OK;
    TAC_TRY(cost_of(view, c, &cost));
    if (reached <= c->end && age < c->horizon / 2) {
        /* Far too long: a part of what it cost was for nothing. */
        horizon /= 2;
        c->descent = (struct tac_descent){.shorter = true};
    } else if (cost > 0) {
        horizon = tac_descent_next(&c->descent, cost / (double)(age > 0 ? age : 1), STEP, horizon, (double)least,
                                   (double)most);
    }
    c->horizon = (tac_time)tac_descent_within(horizon, (double)least, (double)most);
done:
    return err;
}
