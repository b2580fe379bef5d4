/* contact_kick.c: gives the impulses of pairs to their vertices: those of their layers as they tick, and, when all have
 * ticked, those of friction (docs/explanation/method.md, Penalty layers, Friction); and books the energy that
 * restitution and friction take away (docs/explanation/method.md, Energy and the book).
 *
 * The energy of a lost impulse is its product with the vertex' mean velocity over the kicks of the instant, which is
 * the same for all impulses that the vertex lost. So the owner of the vertex, which has all of them, first sums them in
 * plain numbers and in the order of force keys; the sum does not depend on the ranks. Then there is one exact sum per
 * vertex. The mean velocity of a scripted vertex depends on the period of the force and on no kick, so there each
 * impulse is booked at once. */
#include "contact/friction.h"
#include "events/forces/kick.h"

/* Impulses on a pair's vertices: `normal` along its normal, `mollified` along the gradient of its mollifier. */
TAC_FOUR_INLINE void impulses(const struct tac_sim *sim, const struct tac_pair *p, const struct tac_near *near,
                              tac_time t, double normal, double mollified, tac_four j[4])
{
    const tac_four n = {near->n[0], near->n[1], near->n[2], 0};
    for (int k = 0; k < p->count; k++)
        j[k] = normal * near->w[k] * n;
    if (mollified != 0) {
        double x[4][3], gradient[4][3], m;
        for (int k = 0; k < p->count; k++)
            tac_position(&sim->state, &sim->scripts, p->v[k], t, x[k]);
        tac_mollifier(x, &m, gradient);
        for (int k = 0; k < p->count; k++)
            j[k] += mollified * (tac_four){gradient[k][0], gradient[k][1], gradient[k][2], 0};
    }
}

TAC_VERSIONS void tac_contact_kick_pair(struct tac_sim *sim, const struct tac_pair *p, const struct tac_near *near,
                                        tac_time t, tac_time period, double normal, double mollified)
{
    const enum tac_kick kick = tac_kick_of(sim->model, &sim->state, p);
    tac_four j[4], work = {0, 0, 0, 0};
    impulses(sim, p, near, t, normal, mollified, j);
    for (int k = 0; k < p->count; k++)
        work += tac_kick_vertex(sim, p->v[k], t, period, j[k], kick);
    tac_kick_book(&sim->books, work);
}

TAC_VERSIONS void tac_contact_kick_particles(struct tac_sim *sim, const struct tac_pair *p, const struct tac_near *near,
                                             tac_time t, tac_time period, double normal)
{
    const enum tac_kick kick = tac_kick_of(sim->model, &sim->state, p);
    const tac_four j = normal * (tac_four){near->n[0], near->n[1], near->n[2], 0};
    tac_four work = tac_kick_vertex(sim, p->v[0], t, period, j, kick);
    work += tac_kick_vertex(sim, p->v[1], t, period, -j, kick);
    tac_kick_book(&sim->books, work);
}

TAC_VERSIONS void tac_contact_lose_pair(struct tac_sim *sim, const struct tac_pair *p, const struct tac_near *near,
                                        tac_time t, tac_time period, double normal, double mollified)
{
    tac_four j[4];
    impulses(sim, p, near, t, normal, mollified, j);
    for (int k = 0; k < p->count; k++)
        tac_contact_lose(sim, p->v[k], t, period, j[k], false);
}

TAC_VERSIONS void tac_friction_apply(struct tac_sim *sim, tac_time t)
{
    struct tac_friction *f = sim->active.friction;
    for (size_t n = 0; n < f->kick_count; n++) {
        struct tac_friction_kick *kick = &f->kick[n];
        if (kick->open) { /* it waited until all layer groups of its pair had ticked */
            double x[4][3];
            for (int k = 0; k < sim->active.pair[kick->pair].count; k++)
                tac_position(&sim->state, &sim->scripts, sim->active.pair[kick->pair].v[k], t, x[k]);
            struct tac_turns turns;
            const bool rolls = tac_spin_gather(&sim->state, &sim->active.pair[kick->pair], t, &turns);
            tac_friction_tick(&sim->active, kick, t, x, rolls ? &turns : NULL);
        }
        const tac_four j = {kick->j[0], kick->j[1], kick->j[2], 0};
        tac_four work = {0, 0, 0, 0};
        const tac_lid mover = tac_model_mover(sim->model, kick->v, kick->count);
        if (mover < sim->state.owned) {
            struct tac_loss *loss = tac_loss_of(&sim->active, mover);
            for (int c = 0; c < 3; c++)
                loss->couple[c] += kick->couple[c];
        }
        /* The pair itself has left the cache since it ticked. */
        const enum tac_kick how =
            kick->here ? TAC_KICK_DECIDED : tac_kick_of(sim->model, &sim->state, &sim->active.pair[kick->pair]);
        for (int k = 0; k < kick->count; k++) {
            const tac_four each = -kick->w[k] * j;
            work += tac_kick_vertex(sim, kick->v[k], t, kick->period, each, how);
            tac_contact_lose(sim, kick->v[k], t, kick->period, each, true);
        }
        if (__builtin_expect(kick->rolls, 0))
            for (int i = 0; i < 2; i++)
                work[0] += tac_spin_kick(sim, kick->grain[i], t, kick->torque[i]);
        tac_kick_book(&sim->books, work);
    }
    tac_friction_close(&sim->active);
}

/* Adds the work of a lost impulse j at instant t, with the mean velocity v, to a sum, and its part after t to another
 * one. */
static void book_loss(const struct tac_sim *sim, struct tac_accum *sum, struct tac_accum *ahead, const double j[3],
                      const double v[3], tac_time t)
{
    const double work = tac_dot(j, v);
    tac_accum_add(sum, -work);
    if (t == sim->books.kept_at)
        tac_accum_add(ahead, -.5 * work);
}

void tac_contact_lose_scripted(struct tac_sim *sim, tac_lid i, const double j[3], tac_time t, tac_time period,
                               bool friction)
{
    struct tac_books *books = &sim->books;
    double v[3];
    tac_script_velocity(sim, i, t, period, v, NULL);
    book_loss(sim, &books->dissipated, &books->dissipated_ahead, j, v, t);
    if (friction)
        book_loss(sim, &books->losses.friction, &books->friction_ahead, j, v, t);
}

/* The same for what turns a grain. */
static void spin_loss(struct tac_sim *sim, tac_lid i, tac_time t)
{
    struct tac_spin_loss *loss = &sim->state.spin_loss[i];
    double w[3];
    for (int c = 0; c < 3; c++)
        w[c] = .5 * (loss->before[c] + sim->state.spin[i].w[c]);
    book_loss(sim, &sim->books.dissipated, &sim->books.dissipated_ahead, loss->torque, w, t);
    book_loss(sim, &sim->books.losses.friction, &sim->books.friction_ahead, loss->torque, w, t);
    *loss = (struct tac_spin_loss){.listed = false};
}

void tac_contact_losses(struct tac_sim *sim, tac_time t)
{
    for (size_t n = 0; n < sim->active.lossy_count; n++) {
        const tac_lid i = sim->active.lossy[n];
        struct tac_loss *loss = &sim->active.loss[i];
        if (sim->state.vel[i].w != 0) {
            double v[3];
            TAC_ASSERT(sim->paths.breaks[sim->paths.break_head[i]].t == t);
            for (int c = 0; c < 3; c++)
                v[c] = .5 * (sim->paths.motion[i].v[c] + sim->state.vel[i].v[c]);
            book_loss(sim, &sim->books.dissipated, &sim->books.dissipated_ahead, loss->j, v, t);
            if (sim->active.friction != NULL)
                book_loss(sim, &sim->books.losses.friction, &sim->books.friction_ahead, loss->rub, v, t);
        }
        if (sim->state.spin != NULL && sim->state.spin_loss[i].listed)
            spin_loss(sim, i, t);
        for (int c = 0; c < 3 && sim->active.friction != NULL; c++)
            tac_accum_add(&sim->books.couple[c], -loss->couple[c]);
        *loss = (struct tac_loss){0};
    }
    sim->active.lossy_count = 0;
}
