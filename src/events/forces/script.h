/* script.h: moves the vertices that follow scripts, and releases them. */
#ifndef TACTUS_EVENTS_FORCES_SCRIPT_H
#define TACTUS_EVENTS_FORCES_SCRIPT_H

#include "elements/elastic.h"
#include "state/scripts.h"

struct tac_sim;

enum tac_err tac_scripts_create(struct tac_sim *sim);
/* Local. Sets sim->scripts.next_knot from sim->state.now. */
void tac_scripts_next(struct tac_sim *sim);
/* Local. Frees what tac_scripts_create() made. */
void tac_scripts_destroy(struct tac_sim *sim);
/* Local. Whether a file of positions could not be read. */
enum tac_err tac_scripts_error(const struct tac_sim *sim);
/* Local. Applies all knots at sim->state.now, after its kicks. */
void tac_scripts_apply(struct tac_sim *sim);
/* Local. After a state was restored: the scripts of the marked motions (motion: (motions), 1 or 0) follow new knots
 * from now on, each from its present position; a script that has not begun waits for its first knot. */
void tac_scripts_renew(struct tac_sim *sim, const uint8_t *motion);
/* Local. Returns the period of gravity's ticks, quanta; 0: there is no gravity. */
tac_time tac_gravity_period(const struct tac_elastic *elastic);
/* Local. Computes the velocity v that scripted vertex i has in the tick at t of a force of this period: its
 * displacement in (t - period/2, t + period/2), for which the tick stands, divided by the period. With it works are of
 * second order in the period, wherever the knots lie between the ticks. ahead (or NULL): the part of v that belongs to
 * the time after t. */
void tac_script_velocity(const struct tac_sim *sim, tac_lid i, tac_time t, tac_time period, double v[3],
                         double ahead[3]);
/* Local. Books the energy that a script puts in: minus the impulse j (3, N s) on scripted vertex i times its mean
 * velocity around the tick at t of a force of this period. */
void tac_script_work(struct tac_sim *sim, tac_lid i, const double j[3], tac_time t, tac_time period);
/* Local. Books the energy that scripts put into the due elements of a class; their kind has just ticked, or (dampers)
 * will tick. */
void tac_held_works(struct tac_sim *sim, const struct tac_rate_class *rate, const struct tac_element_group *group,
                    bool dampers, tac_time t);

#endif
