/* rigid_vertices.h: how the vertices of rigid bodies follow their bodies (docs/explanation/rigid.md, What it costs).
 *
 * Between two events of its body (a plan, or a tick of gravity) a vertex with the coordinates X along the axes goes
 * along the line that begins at the last event: x = c + A X, v = u + B X. So its state follows from the body's alone,
 * and only those vertices that something may look at within a pass are written at each event; all others are written
 * when the pass ends.
 */
#ifndef TACTUS_EVENTS_RIGID_RIGID_VERTICES_H
#define TACTUS_EVENTS_RIGID_RIGID_VERTICES_H

#include "events/sim.h"

/* Local. Lists the vertices that are written at every event whatever touches them: those of loads and of motors. Call
 * it when these exist. */
enum tac_err tac_rigid_vertices_create(struct tac_sim *sim);
/* Local. When a pass begins: lists the vertices that are written at the events of the pass. */
void tac_rigid_vertices_begin(struct tac_sim *sim);
/* Local. After body k was brought to an event: keeps how far it is from its motion at the window's start. */
void tac_rigid_vertices_measure(struct tac_sim *sim, int32_t k);
/* Local. At the end of instant t, an event of body k: writes the listed vertices of the body. */
void tac_rigid_vertices_follow(struct tac_sim *sim, int32_t k, tac_time t);
/* Local. Where a run begins: writes the velocities of all vertices of body k. Their positions are those of the mesh. */
void tac_rigid_vertices_start(struct tac_sim *sim, int32_t k);
/* Local. When a pass has ended: writes the vertices that were not listed. */
void tac_rigid_vertices_settle(struct tac_sim *sim);

#endif
