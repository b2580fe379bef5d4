/* flights_prove.c: proves by trajectory bounds that the layers that are not active stay silent until a window ends
 * (flights.h; docs/kds.md, Across ranks). */
#include "kds/flights.h"
#include "kds/kinetic_slab.h"

/* Each slab once, also one in doubt that has been timed anew: it may be renewed for less than the whole window. */
static enum tac_err renew_slabs(struct tac_kinetic *k, struct tac_flights *f)
{
    enum tac_err err = TAC_OK;
    const struct tac_slabs *all = k->self[TAC_KINETIC_NARROW];
    int32_t id;
    TAC_TRY(tac_grow(k->view->ctx, &f->due, &f->due_capacity, k->doubt_count + all->capacity, sizeof *f->due));
    for (f->due_count = 0; f->due_count < k->doubt_count; f->due_count++) {
        f->due[f->due_count] = k->doubt[f->due_count];
        tac_queue_set(all->queue, k->doubt[f->due_count], TAC_TIME_NEVER);
    }
    k->doubt_count = 0;
    while (tac_queue_due(all->queue, k->until, &id))
        f->due[f->due_count++] = id;
    for (size_t i = 0; i < f->due_count; i++)
        if (all->slab[f->due[i]].live) {
            k->view->counters->certificates_failed++;
            TAC_TRY(tac_kinetic_slabs.fail(k, k->self[TAC_KINETIC_NARROW], f->due[i]));
        }
done:
    return err;
}

/* The earliest time at which a slab may fail: the broad phase between ranks has no certificates. */
static tac_time earliest(const struct tac_kinetic *k)
{
    const struct tac_queue *queue = ((const struct tac_slabs *)k->self[TAC_KINETIC_NARROW])->queue;
    tac_time first = TAC_TIME_NEVER;
    for (size_t i = 0; i < queue->capacity; i++)
        first = queue->time[i] < first ? queue->time[i] : first;
    return first;
}

enum tac_err tac_flights_prove(struct tac_view *view, struct tac_flights *f, tac_time until, bool patient)
{
    enum tac_err err;
    struct tac_kinetic *k = f->k;
    k->now = k->next = view->state->now;
    k->until = until;
    k->narrow = patient ? tac_flights_narrow(f) : INFINITY;
    k->coarse = false;
    k->tau = until - view->state->now;
    k->tau_s = tac_state_seconds(view->state, k->tau);
    TAC_TRY(renew_slabs(k, f));
    f->first = earliest(k);
done:
    return err;
}

void tac_flights_validate(struct tac_view *view, struct tac_flights *f, tac_time next)
{
    struct tac_kinetic *k = f->k;
    const struct tac_slabs *all = k->self[TAC_KINETIC_NARROW];
    const double w = tac_state_seconds(view->state, next - view->state->now);
    for (size_t i = 0; i < k->doubt_count; i++) {
        const struct tac_slab *s = &all->slab[k->doubt[i]];
        double x[4][3], u[4][3];
        for (int j = 0; j < s->count; j++) {
            double v[3];
            tac_state_position(view->state, view->scripts, s->v[j], view->state->now, x[j]);
            tac_kinetic_velocity(view, s->v[j], v);
            for (int c = 0; c < 3; c++) /* ghosts: just told */
                u[j][c] = w * (s->v[j] < view->state->owned ? v[c] : view->paths->line[s->v[j]].v[c]);
        }
        tac_slabs_through(k, s, x, u, next);
    }
}

/* ---- dropping ---- */

enum tac_err tac_flights_tidy(struct tac_view *view, struct tac_flights *f, struct tac_kinetic *own)
{
    enum tac_err err = TAC_OK;
    own->now = view->state->now > own->now ? view->state->now : own->now;
    f->k->now = view->state->now;
    for (size_t k = 0; k < view->active->pair_count; k++) {
        const struct tac_pair *p = &view->active->pair[k];
        const int32_t slot = (int32_t)k;
        if (!p->live || p->v[0] >= view->state->owned)
            continue;
        TAC_TRY(tac_slabs_drop_of(tac_slabs_of(f->k, slot) >= 0 ? f->k : own, slot));
    }
done:
    return err;
}
