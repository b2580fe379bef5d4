/* test_restore.c: the state that is taken out of a simulation and put into a new one. Taken out of that one again it is
 * the same, and both simulations go on with the same bits. Looking changes nothing. The scenes have friction, damping,
 * plasticity, scripts and loads. If it failed, restarts and migrations would change trajectories. */
#include "same_state.h"
#include "unit/events/support.h"

static void same_now(struct experiment *a, struct experiment *b, double t_s)
{
    CHECK(run_to(a, t_s) && run_to(b, t_s), "t = %g s", t_s);
    CHECK(memcmp(&a->row, &b->row, sizeof a->row) == 0, "energies at t = %g s", t_s);
    for (tac_lid i = 0; i < a->scene->mesh->vertex_count; i++) {
        double x[2][3];
        tac_position(&a->sim->state, &a->sim->scripts, i, a->sim->state.now, x[0]);
        tac_position(&b->sim->state, &b->sim->scripts, i, b->sim->state.now, x[1]);
        CHECK(memcmp(x[0], x[1], sizeof x[0]) == 0, "vertex %d at t = %g s", (int)i, t_s);
    }
}

/* Stops at `share` of the run. `least`: rows that there must be of what elements remember, of pairs and of friction. */
static void scene(const char *file, const char *change, double share, const tac_lid least[3])
{
    struct settings s = {.count = 0};
    struct experiment a, b;
    struct tac_checkpoint *state = NULL, *again = NULL;
    set(&s, "%s", change);
    begin(&a, file, &s);
    begin(&b, file, &s);
    const double end_s = a.scene->settings->end_s;
    CHECK(run_to(&a, share * end_s), "%s", file);
    CHECK(tac_state_collect(a.sim, false, &state) == TAC_OK && tac_state_restore(b.sim, state) == TAC_OK &&
              tac_state_collect(b.sim, false, &again) == TAC_OK,
          "%s: %s %s", file, a.ctx.error, b.ctx.error);
    if (again) {
        printf("%s: %d pairs, %d of elements, %d of friction\n", file, (int)state->pair_count,
               (int)tac_checkpoint_elements(state), (int)state->friction_state_count);
        CHECK(state->pair_count >= least[0] && tac_checkpoint_elements(state) >= least[1] &&
                  state->friction_state_count >= least[2],
              "%s: too little is remembered for this to test something", file);
        same_state(state, again);
        for (int k = 1; k <= 4; k++)
            same_now(&a, &b, end_s * (share + (1 - share) * k / 4));
    }
    tac_checkpoint_destroy(&state);
    tac_checkpoint_destroy(&again);
    end(&a);
    end(&b);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    scene("tests/unit/events/scenes/every-force.json", "time.end=0.25", .6, (const tac_lid[]){1, 1, 0});
    scene("tests/system/equality/scenes/crossing-ribbons.json", "contact.friction=0.3", .5,
          (const tac_lid[]){10, 0, 10});
    MPI_Finalize();
    return check_result();
}
