/* changed_scene.c: transfers what a checkpoint does not contain from a simulation to the one of its changed scene. */
#include "events/state/changed_scene.h"
#include <stdlib.h>
#include <string.h>

enum tac_err tac_change_begin(struct tac_sim *sim, struct tac_change *c)
{
    enum tac_err err;
    const size_t n = 3 * (size_t)sim->state.owned;
    memset(c, 0, sizeof *c);
    TAC_TRY(tac_sim_look_ghosts(sim));
    err = tac_alloc(sim->ctx, n, sizeof *c->v_before, &c->v_before);
    if (!err)
        err = tac_elements_present(sim, &c->present, &c->present_count);
    TAC_TRY(tac_agree(sim->ctx, err));
    memcpy(c->v_before, sim->books.v_before, n * sizeof *c->v_before);
    c->kept_at = sim->books.kept_at;
    c->dissipated_ahead = sim->books.dissipated_ahead;
    c->damping_ahead = sim->books.damping_ahead;
    c->friction_ahead = sim->books.friction_ahead;
    c->work_ahead = sim->books.work_ahead;
    c->handed = sim->books.handed;
    memcpy(c->gravity, sim->scene->settings->gravity, sizeof c->gravity);
    c->gravity_period = tac_gravity_period(sim->elastic);
done:
    return err;
}

void tac_change_fit(const struct tac_scripts *scripts, const struct tac_scene *scene, const uint8_t *motion,
                    struct tac_checkpoint *state)
{
    tac_friction_drop(scene, state);
    for (tac_lid k = 0; k < state->script_count; k++) /* rows and scripts have one order */
        if (motion[scripts->script[k].motion])
            state->script[k].next = 0;
}

/* Returns the time since gravity's last tick less the half period for which that tick stands, s. */
static double pulled_for_s(const struct tac_sim *sim, tac_time h)
{
    return h ? tac_state_seconds(&sim->state, sim->state.now % h - h / 2) : 0;
}

/* A vertex between two ticks of gravity has the energy m v.v/2 - m g.x + m s g.v, s as above (script.c does the same
 * where a vertex changes hands).  The row of an instant at which gravity ticked stands for the middle of its kicks. */
static void book_gravity(struct tac_sim *sim, const struct tac_change *c)
{
    const double *old = c->gravity, *new = sim->scene->settings->gravity;
    const double s = pulled_for_s(sim, c->gravity_period), t = pulled_for_s(sim, tac_gravity_period(sim->elastic));
    if (memcmp(old, new, sizeof c->gravity) == 0)
        return;
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        const double m = sim->state.mass[i], *v = sim->state.vel[i].v;
        double x[3];
        if (sim->state.vel[i].w == 0)
            continue;
        tac_position(&sim->state, &sim->scripts, i, sim->state.now, x);
        const double ahead = m * (t * tac_dot(new, v) - s * tac_dot(old, v));
        tac_accum_add(&sim->books.work, m * (tac_dot(old, x) - tac_dot(new, x)));
        tac_books_hand(&sim->books, sim->state.now, ahead);
    }
}

enum tac_err tac_change_end(struct tac_sim *sim, const uint8_t *motion, const struct tac_change *c)
{
    enum tac_err err;
    sim->books.kept_at = c->kept_at;
    sim->books.dissipated_ahead = c->dissipated_ahead;
    sim->books.damping_ahead = c->damping_ahead;
    sim->books.friction_ahead = c->friction_ahead;
    sim->books.work_ahead = c->work_ahead;
    sim->books.handed = c->handed;
    memcpy(sim->books.v_before, c->v_before, 3 * (size_t)sim->state.owned * sizeof *c->v_before);
    if (motion != NULL)
        tac_scripts_renew(sim, motion);
    book_gravity(sim, c);
    TAC_TRY(tac_agree(sim->ctx, tac_elements_retime(sim, c->present, c->present_count)));
    TAC_TRY(tac_sim_ask_ghosts(sim)); /* it may be asked about contacts before it goes on */
done:
    return err;
}

void tac_change_clear(struct tac_change *c)
{
    free(c->v_before);
    free(c->present);
    memset(c, 0, sizeof *c);
}
