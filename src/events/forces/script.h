/* script.h: moves the vertices that follow scripts, and lets them go. */
#ifndef TACTUS_EVENTS_FORCES_SCRIPT_H
#define TACTUS_EVENTS_FORCES_SCRIPT_H

#include "elements/elastic.h"
#include "state/scripts.h"

struct tac_sim;

enum tac_err tac_scripts_create(struct tac_sim *sim);
/* Local. Sets sim->scripts.next_knot from sim->state.now. */
void tac_scripts_next(struct tac_sim *sim);
/* Local. Applies all knots at sim->state.now, after its kicks. */
void tac_scripts_apply(struct tac_sim *sim);
/* Local. After a state was put in: the scripts of the motions marked (motions) follow new knots from now on, each from
 * where it is; one that has not begun waits for its first knot. */
void tac_scripts_renew(struct tac_sim *sim, const uint8_t *motion);
/* Local. The period of gravity's ticks, quanta; 0: there is no gravity. */
tac_time tac_gravity_period(const struct tac_sim *sim);
/* Local. Velocity with which scripted vertex i takes part in the tick at t of a force of this period: its displacement
 * over (t - period/2, t + period/2), for which the tick stands, over the period.  So works stay of second order in the
 * period wherever the knots fall between the ticks.  ahead (or NULL): the part of it that lies after t. */
void tac_script_velocity(const struct tac_sim *sim, tac_lid i, tac_time t, tac_time period, double v[3],
                         double ahead[3]);
/* Local. Enters what a script puts in: minus the impulse j (3, N s) on scripted vertex i times its mean velocity around
 * the tick at t of a force of this period. */
void tac_script_work(struct tac_sim *sim, tac_lid i, const double j[3], tac_time t, tac_time period);
/* Local. What scripts put into the due elements of a class, of a kind that has just ticked or (damping) will. */
void tac_held_works(struct tac_sim *sim, const struct tac_rate_class *rate, const struct tac_element_group *group,
                    bool dampers, tac_time t);

#endif
