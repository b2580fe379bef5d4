/* tactus/simulation.h: a simulation that the caller steps.
 *
 *     struct tac_scene_source source = {.path = "drop.json"};
 *     struct tac_simulation *sim = NULL;
 *     TAC_TRY(tac_simulation_create(ctx, &source, &sim));
 *     while (tac_simulation_time(sim) < 1) {
 *         struct tac_vectors x;
 *         TAC_TRY(tac_simulation_advance(sim, tac_simulation_time(sim) + 0.01));
 *         TAC_TRY(tac_simulation_positions(sim, &x));
 *         printf("%g\n", x.data[1]);                                 the y of this rank's first vertex
 *     }
 *     tac_simulation_destroy(&sim);
 *
 * The trajectory is that of `tactus run` on the scene, to the last bit, whatever the steps, on any number of ranks.
 *
 * MPI runs before the first call: the host starts it, or tac_mpi_begin() (tactus/process.h).  All ranks of ctx->comm
 * take part; the simulation works on a copy of that communicator, so its messages never meet the host's or another
 * simulation's.  A process may have any number of simulations, each with a context (struct tac_ctx) of its own, which
 * must live as long.  They share nothing; but calls from several threads at once need MPI_THREAD_MULTIPLE and a
 * thread-safe HDF5, so take turns.
 *
 * Errors: every function that can fail returns enum tac_err and leaves one sentence in the context, which is emptied
 * when the next call begins; the host goes on.  After TAC_ERR_INPUT the simulation is as it was.  After TAC_ERR_RUN of
 * a function that advances or changes it, the simulation cannot be used any more: every call but its destruction fails.
 * Collective functions return the same code on all ranks, and must be called with the same arguments on all.  Two
 * things end the process: a bug (TAC_CHECK, abort()), and ranks that cannot reach a common call any more, because one
 * of them ran out of memory or disk in a collective call while the others wait in it (MPI_Abort() after a minute).  A
 * call of MPI itself that fails is left to the error handler that the host has set; by default it ends the process.
 */
#ifndef TACTUS_SIMULATION_H
#define TACTUS_SIMULATION_H

#include <tactus/contact.h>
#include <tactus/counters.h>
#include <tactus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tac_simulation; /* opaque */

/* ---- life ---- */

/* Collective. Reads the scene and makes a simulation of it at t = 0.  TAC_ERR_INPUT: the scene is wrong, or surfaces
 * overlap. */
enum tac_err tac_simulation_create(struct tac_ctx *ctx, const struct tac_scene_source *source,
                                   struct tac_simulation **out);
/* Collective. Goes on from a checkpoint (of tac_simulation_save() or of tac_run()), or from the newest whole one in a
 * folder, on any number of ranks, with the bits of a simulation that never stopped.  The scene is the checkpoint's own
 * (source: NULL, or without path and text; its `set` is applied), or that of the source's file, which must be the same
 * scene.  TAC_ERR_INPUT: damaged, or of another scene, naming the key that differs. */
enum tac_err tac_simulation_restore(struct tac_ctx *ctx, const char *checkpoint, const struct tac_scene_source *source,
                                    struct tac_simulation **out);
/* Collective. NULL is allowed; leaves NULL.  Views are no longer valid. */
void tac_simulation_destroy(struct tac_simulation **sim);

/* ---- time ---- */

/* Collective. Goes on to t_s [s], rounded to the scene's quantum; nothing happens if that is now.  The scene's own
 * time.end has no effect here.  TAC_ERR_INPUT: t_s lies before now, or beyond 2^53 quanta; TAC_ERR_RUN: the scene
 * cannot go on; TAC_ERR_STOPPED: the function of tac_simulation_watch() asked for it. */
enum tac_err tac_simulation_advance(struct tac_simulation *sim, double t_s);
/* Local. Returns the time reached, s. */
double tac_simulation_time(const struct tac_simulation *sim);
/* Local. Sets a function that tac_simulation_advance() calls between two windows, on every rank.  If go_on(user)
 * returns false on some rank, the advance ends early with TAC_ERR_STOPPED, on all ranks at the same time t, and may be
 * called again from there.  go_on must not call any function of the simulation.  NULL: no function is called. */
void tac_simulation_watch(struct tac_simulation *sim, bool (*go_on)(void *user), void *user);

/* ---- the present state ---- */

/* Three numbers of every vertex that this rank owns. The data is not copied for the caller.  Component k of vertex
 * i is ((const double *)((const char *)data + i * stride))[k].  Valid until the simulation is stepped, changed or
 * destroyed; vertices may go to other ranks then. */
struct tac_vectors {
    tac_lid count;      /* vertices; may be 0 */
    const tac_gid *id;  /* (count) global ids, ascending: the scene's order */
    const double *data; /* of the first vertex */
    size_t stride;      /* bytes from one vertex to the next */
};

/* Local. Tells the positions, m. TAC_ERR_RUN: out of memory. */
enum tac_err tac_simulation_positions(struct tac_simulation *sim, struct tac_vectors *out);
/* Local. Tells the velocities, m/s. The velocity of a scripted vertex is that of its path. */
enum tac_err tac_simulation_velocities(struct tac_simulation *sim, struct tac_vectors *out);
/* Local. Returns how many vertices this rank owns now; on several ranks a step may change it.  0 after a failure. */
tac_lid tac_simulation_vertices(const struct tac_simulation *sim);
/* Local. Copies what the two functions above tell into arrays of the caller, who keeps them when the simulation goes
 * on (languages that count references to memory need this): global ids into id (n), positions into x (n, 3), m, and
 * velocities into v (n, 3), m/s; n = tac_simulation_vertices(). NULL: not wanted. Positions are evaluated into x
 * itself.  room: vertices that the arrays have room for; TAC_ERR_INPUT if that is less than n. */
enum tac_err tac_simulation_copy(struct tac_simulation *sim, tac_lid room, tac_gid *id, double *x, double *v);
/* Local. Returns the scene: bodies, materials and settings, with all changes so far. On several ranks its vertices and
 * elements are not there.  Valid until the simulation is changed or destroyed. */
const struct tac_scene *tac_simulation_scene(const struct tac_simulation *sim);

/* Collective. Tells the present contacts, ascending by kind and ids, in *list, which is valid until the next call or
 * until the simulation is stepped, changed or destroyed.  Each contact is on one rank: the owner of its first vertex
 * that can move.  All of them together are those that energy.csv counts. */
enum tac_err tac_simulation_contacts(struct tac_simulation *sim, const struct tac_contact **list, size_t *count);
/* Collective. Computes the row of energy.csv for the present time, the same on all ranks. deepest_layer is that since
 * the last call; the defect counts from t = 0. TAC_ERR_INPUT: right after tac_simulation_restore() there is no row,
 * because it needs the velocities before the kicks of its instant; advance first. */
enum tac_err tac_simulation_energy(struct tac_simulation *sim, struct tac_energy_row *row);

/* ---- changes ---- */

/* Collective. Changes the scene from now on by "path=value", as for --set. These can be changed:
 *
 *     gravity=[0, 0, -9.81]          gravity.2=-9.81
 *     contact.friction=0.4           contact.restitution=0.5     contact.pairs.0.friction=0.1
 *     loads.0.force=[0, 1, 0]        loads.0.pressure=20         loads.0.wind, .drag, .path
 *     motions.0.path=[[1.5, [0, 0.1, 0]], [2, [0, 0, 0]]]        motions.0.rotate.path=[[1.5, 90]]
 *
 * For a motion's path, give the knots that it shall have after the present time, as displacements from where it began,
 * as in the scene. The knots before the present time stay, and the motion goes on from where it is.  A motion that has
 * not begun, or that has let its vertices go, is given its whole path.  Other changes take effect at the next tick of
 * the force concerned.
 *
 * The change is part of what determines the trajectory: same changes at the same times give the same bits, on any
 * number of ranks and by any way of discovery.  The scene's text and hash (tac_simulation_scene()) are of the changed
 * scene; a checkpoint saved afterwards goes on with it, and not with the old scene file.  What gravity does to the
 * energy by changing is booked as work.  Costs about what saving and restoring in memory do: some passes over all
 * vertices.  TAC_ERR_INPUT: it cannot be changed, or the value is wrong; the simulation is as it was. */
enum tac_err tac_simulation_set_control(struct tac_simulation *sim, const char *assignment);

/* ---- on the disk ---- */

/* Collective. Writes checkpoint-NNNNNN.h5 of now into the folder (made if need be), points checkpoint.h5 to it, and
 * removes all but the newest output.checkpoint_keep whole ones.  name (size bytes): gets the name of the file, unless
 * it is NULL.  TAC_ERR_RUN: the disk failed; the simulation can go on. */
enum tac_err tac_simulation_save(struct tac_simulation *sim, const char *folder, char *name, size_t size);

#ifdef __cplusplus
}
#endif
#endif
