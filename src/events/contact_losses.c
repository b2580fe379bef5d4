/* contact_losses.c: the energy that restitution and friction take away (docs/method.md, Energy and the book).
 *
 * A lost impulse takes its product with the vertex' mean velocity over the kicks of the instant, which is known when
 * the instant is over.  All lost impulses of a vertex have the same one, so they are summed as the ticks go, in plain
 * numbers: a vertex' owner has all of its ticks, in the order of force keys, so the sum is the same for any ranks. Each
 * vertex then makes one exact sum.  A scripted vertex' mean velocity depends on the period of the force, and on no
 * kick: there each impulse is booked at once. */
#include "events/sim.h"

/* Enters the work of a lost impulse j at instant t with the mean velocity v. */
static void book(struct tac_sim *sim, const double j[3], const double v[3], tac_time t)
{
    const double work = tac_dot(j, v);
    tac_accum_add(&sim->books.dissipated, -work);
    if (t == sim->books.kept_at)
        tac_accum_add(&sim->books.dissipated_ahead, -.5 * work);
}

void tac_contact_lose_scripted(struct tac_sim *sim, tac_lid i, const double j[3], tac_time t, tac_time period)
{
    double v[3];
    tac_script_velocity(sim, i, t, period, v, NULL);
    book(sim, j, v, t);
}

void tac_contact_losses(struct tac_sim *sim, tac_time t)
{
    for (size_t n = 0; n < sim->active.lossy_count; n++) {
        const tac_lid i = sim->active.lossy[n];
        struct tac_loss *loss = &sim->active.loss[i];
        if (sim->state.vel[i].w != 0) {
            const struct tac_break *b = &sim->paths.breaks[sim->paths.break_head[i]];
            double v[3];
            TAC_ASSERT(b->t == t);
            for (int c = 0; c < 3; c++)
                v[c] = .5 * (b->v[c] + sim->state.vel[i].v[c]);
            book(sim, loss->j, v, t);
        }
        for (int c = 0; c < 3 && sim->active.friction != NULL; c++)
            tac_accum_add(&sim->books.couple[c], -loss->couple[c]);
        *loss = (struct tac_loss){0};
    }
    sim->active.lossy_count = 0;
}
