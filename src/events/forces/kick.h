/* kick.h: gives a vertex an impulse of a contact, and books an impulse that was lost there. The functions are inline
 * because they are called for each vertex of each tick. Three numbers are kept as four, the last one 0, because four
 * numbers are one vector operation. */
#ifndef TACTUS_EVENTS_FORCES_KICK_H
#define TACTUS_EVENTS_FORCES_KICK_H

#include "base/four.h"
#include "contact/rolling.h"
#include "events/forces/vertex_position.h"
#include "events/ranks/immovable.h"
#include "events/rigid/rigid_motion.h"
#include "state/spin.h"

/* Which impulses are added up for frames: those of contacts and joints, not those of limits; at a vertex that never
 * moves, only those of the pairs about which this rank decides. */
enum tac_kick { TAC_KICK_LIMIT, TAC_KICK_CONTACT, TAC_KICK_DECIDED };

static inline enum tac_kick tac_kick_of(const struct tac_model *model, const struct tac_vertex_state *state,
                                        const struct tac_pair *p)
{
    if (tac_pair_is_limit((enum tac_pair_type)p->type)) /* reactions of joints are sums of their impulses */
        return tac_pair_is_joint((enum tac_pair_type)p->type) ? TAC_KICK_CONTACT : TAC_KICK_LIMIT;
    return p->shared && model->omit_immovable && !tac_decides_pair(model, state, p) ? TAC_KICK_CONTACT
                                                                                    : TAC_KICK_DECIDED;
}

/* Kicks vertex i by the impulse j [N s] at t, by a force of this period. Returns four numbers whose sum is the work, J.
 */
TAC_FOUR_INLINE tac_four tac_kick_vertex(struct tac_sim *sim, tac_lid i, tac_time t, tac_time period, tac_four j,
                                         enum tac_kick kick)
{
    struct tac_vel *vel = &sim->state.vel[i];
    const double w = vel->w;
    const bool summed = kick != TAC_KICK_LIMIT && (w != 0 || !tac_model_is_immovable(sim->model, i));
    if (summed) {
        double *sum = &sim->state.impulse[3 * (size_t)i];
        sum[0] += j[0];
        sum[1] += j[1];
        sum[2] += j[2];
    }
    if (__builtin_expect(w <= 0, 0)) {
        if (kick == TAC_KICK_DECIDED && !summed) { /* it never moves */
            tac_immovable_add(&sim->immovable, &sim->state, i, j);
            return (tac_four){0, 0, 0, 0};
        }
        const double impulse[3] = {j[0], j[1], j[2]};
        if (w < 0) /* it moves with its rigid body */
            return (tac_four){tac_rigid_kick(sim, i, t, impulse), 0, 0, 0};
        if (sim->scripts.of[i] >= 0)
            tac_script_work(sim, i, impulse, t, period);
        return (tac_four){0, 0, 0, 0};
    }
    if (sim->state.pos[i].t != t) {
        tac_advance_to(sim, i, t, true, sim->record != NULL);
        if (sim->find.kicked)
            sim->find.kicked[sim->find.kicked_count++] = i;
    }
    tac_four v;
    memcpy(&v, vel, sizeof v);
    /* The fourth number, w, must not change even when a pass diverges: an infinite impulse times 0 is not a number, and
     * the saved state of a window does not contain w. */
    const tac_four_mask three = {-1, -1, -1, 0};
    j = (tac_four)((tac_four_mask)j & three);
    const tac_four work = j * v + .5 * w * (j * j);
    v += w * j;
    memcpy(vel, &v, sizeof v);
    return work;
}

/* Adds the works of a pair's kicks to the book. */
TAC_FOUR_INLINE void tac_kick_book(struct tac_books *books, tac_four work)
{
    const double sum = work[0] + work[1] + work[2] + work[3];
    books->book.work += sum;
    books->book.absolute += fabs(sum);
}

/* Returns the record of what contacts lost at vertex i in the current instant, and lists it if it is new. */
TAC_FOUR_INLINE struct tac_loss *tac_loss_of(struct tac_active *active, tac_lid i)
{
    struct tac_loss *loss = &active->loss[i];
    if (!loss->listed) {
        loss->listed = true;
        active->lossy[active->lossy_count++] = i;
    }
    return loss;
}

/* Adds the impulse j [N s] on vertex i, by a force of this period, to the losses: restitution left it out at t, or
 * friction gave it. */
TAC_FOUR_INLINE void tac_contact_lose(struct tac_sim *sim, tac_lid i, tac_time t, tac_time period, tac_four j,
                                      bool friction)
{
    if (i >= sim->state.owned)
        return;
    if (sim->state.vel[i].w == 0) {
        if (sim->scripts.of[i] >= 0) {
            const double impulse[3] = {j[0], j[1], j[2]};
            tac_contact_lose_scripted(sim, i, impulse, t, period, friction);
        }
        return;
    }
    struct tac_loss *loss = tac_loss_of(&sim->active, i);
    tac_four sum;
    memcpy(&sum, loss->j, sizeof sum);
    sum += j;
    memcpy(loss->j, &sum, sizeof sum);
    if (!friction)
        return;
    memcpy(&sum, loss->rub, sizeof sum);
    sum += j;
    memcpy(loss->rub, &sum, sizeof sum);
}

/* How the grains of a pair have turned until t; false: none of them rolls. */
static inline bool tac_spin_gather(const struct tac_vertex_state *state, const struct tac_pair *p, tac_time t,
                                   struct tac_turns *turns)
{
    if (__builtin_expect(state->spin == NULL, 1))
        return false;
    const tac_lid v[2] = {p->v[0], p->v[tac_pair_first((enum tac_pair_type)p->type)]};
    if (!(state->spin[v[0]].radius > 0) && !(state->spin[v[1]].radius > 0))
        return false;
    for (int i = 0; i < 2; i++) {
        turns->grain[i] = v[i];
        turns->radius[i] = state->spin[v[i]].radius;
        tac_spin_turn(state, v[i], t, turns->turn[i]);
    }
    return true;
}

/* Turns grain i by an impulse of torque [N m s] at t. Returns the work, J. */
static inline double tac_spin_kick(struct tac_sim *sim, tac_lid i, tac_time t, const double torque[3])
{
    struct tac_spin *s = &sim->state.spin[i];
    if (i >= sim->state.owned || !(s->radius > 0))
        return 0;
    struct tac_spin_loss *loss = &sim->state.spin_loss[i];
    const double seconds = tac_state_seconds(&sim->state, t);
    double work = 0;
    if (!loss->listed) {
        tac_spin_turn(&sim->state, i, t, loss->turn);
        memcpy(loss->before, s->w, sizeof loss->before);
        loss->listed = true;
    }
    for (int k = 0; k < 3; k++) {
        const double change = torque[k] / s->moment;
        work += torque[k] * (s->w[k] + .5 * change);
        s->w[k] += change;
        s->base[k] = loss->turn[k] - seconds * s->w[k];
        loss->torque[k] += torque[k];
    }
    return work;
}

#endif
