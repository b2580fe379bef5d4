/* kinetic_rounding.c: bounds the effect of rounding on the positions on which certificates rely. An instant that
 * advances a vertex rounds its position, so the vertex may drift off its path while a certificate holds. Near the
 * origin this is negligible. Far from it the plans include a bound of how often it happens: at most ROOM times at once,
 * and otherwise once in rounding.gap_s (a leaky bucket: each instant fills it by one). If instants come more often, all
 * plans are made again with a shorter gap. If instants have been rarer for a while, the gap grows again, and
 * certificates need no change. */
#include "kds/kinetic.h"

enum {
    DENSEST = 4096,  /* quanta: no clock ticks faster, so nothing is brought up more often */
    FULL = 4,        /* instants at once for which the gap is made shorter */
    ROOM = 16,       /* instants at once that slabs allow for: some come before the gap is short enough */
    SHORTER = 16,    /* times */
    CALM_LIVES = 16, /* lives of certificates without one after which the gap grows again */
};

/* The part of a layer's thickness that the drift may use while a certificate holds. */
static const double SHARE = 1e-3;

static void set_gap(struct tac_kinetic *k, double gap_s)
{
    struct tac_rounding *r = &k->rounding;
    r->gap_s = fmin(r->most_s, fmax(r->least_s, gap_s));
    r->drift = r->once / r->gap_s;
}

void tac_rounding_start(struct tac_kinetic *k)
{
    struct tac_rounding *r = &k->rounding;
    r->once = 0x1p-50 * k->extent;
    r->least_s = tac_state_seconds(k->view->state, DENSEST);
    const double most = SHARE * tac_kinetic_fine(k) / k->tau_s;
    r->most_s = fmax(r->least_s, fmin(r->once / most, tac_state_seconds(k->view->state, k->view->main_period)));
    set_gap(k, INFINITY);
    r->slack = r->most_s > r->least_s ? 2 * ROOM * r->once : 0;
    r->level = 0;
    r->last = r->dense = k->view->state->now;
}

bool tac_rounding_instant(struct tac_kinetic *k)
{
    struct tac_rounding *r = &k->rounding;
    const double since_s = tac_state_seconds(k->view->state, k->view->state->now - r->last);
    r->last = k->view->state->now;
    r->level = fmax(0, r->level - since_s / r->gap_s) + 1;
    if (r->level <= FULL || r->gap_s <= r->least_s)
        return false;
    set_gap(k, fmin(r->gap_s / SHORTER, since_s));
    r->dense = r->last;
    return true;
}

void tac_rounding_calm(struct tac_kinetic *k)
{
    struct tac_rounding *r = &k->rounding;
    if (r->gap_s < r->most_s && k->view->state->now - r->dense > CALM_LIVES * k->tau) {
        set_gap(k, SHORTER * r->gap_s);
        r->dense = k->view->state->now;
    }
}
