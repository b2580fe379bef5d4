/* parts.h: declares the parts of an implicit step, for this room only; other rooms include implicit.h. step.c calls
 * them in this order: the scheme and the scripts set the targets of the step; newton.c minimises the potential
 * (terms.c, wind.c, implicit_friction.c) along directions of system.c, as far as line_search.c, implicit_candidates.c
 * and bound.c allow; book.c sums works and energies.
 */
#ifndef TACTUS_IMPLICIT_PARTS_H
#define TACTUS_IMPLICIT_PARTS_H

#include "implicit/implicit.h"

enum {
    TAC_LEVELS = 6,             /* a step is halved so many times at most */
    TAC_LEVELS_OF_ROUNDING = 3, /* the same where rounding errors prevent convergence */
    TAC_TRIALS = 4, /* times `most` iterations, or TAC_FEWEST if that is more: after so many no part is halved */
    TAC_FEWEST = 1200
};

/* Returns whether this rank enters a term over these vertices in sums. The owner of the lowest id does so. */
static inline bool tac_implicit_counts(const struct tac_implicit *sim, const tac_lid *v, int n)
{
    return tac_stencil_mine(sim->scene, v, n);
}
/* The same for a pair: the owner of the lowest id among its vertices that are free at some time. It holds the pair even
 * where the owners of the others do not. */
bool tac_implicit_counts_pair(const struct tac_implicit *sim, const tac_lid *v, int n);
/* Returns whether `inertia` is an array of its own, and not that of the mesh. */
static inline bool tac_implicit_own_inertia(const struct tac_implicit *sim)
{
    return sim->is_static || sim->rigid.count > 0;
}
/* Returns what a script does with a vertex, also a ghost. */
static inline bool tac_implicit_scripted(const struct tac_implicit *sim, tac_lid v)
{
    return (sim->scripts.led[v] & TAC_SCRIPTED) != 0;
}
static inline bool tac_implicit_script_on(const struct tac_implicit *sim, tac_lid v)
{
    return (sim->scripts.led[v] & TAC_SCRIPT_ON) != 0;
}
/* Returns the script of an own vertex, or NULL. */
static inline struct tac_implicit_script *tac_implicit_script(const struct tac_implicit *sim, tac_lid v)
{
    return sim->scripts.script_of[v] >= 0 ? &sim->scripts.script[sim->scripts.script_of[v]] : NULL;
}
static inline void tac_implicit_gather(const double *x, const tac_lid *v, int n, double (*out)[3])
{
    for (int i = 0; i < n; i++)
        memcpy(out[i], &x[3 * (size_t)v[i]], 3 * sizeof(double));
}

/* Collective. Makes exact sums over all ranks, carried. */
enum tac_err tac_implicit_sum(struct tac_ctx *ctx, struct tac_accum *sum, int count);

/* implicit_ghosts.c. Collective. Creates the halo, once the arrays of vertices exist. */
enum tac_err tac_implicit_ghosts_create(struct tac_implicit *sim);
void tac_implicit_ghosts_destroy(struct tac_implicit *sim);
/* Local. Marks the ghosts among these vertices as needed by a pair. keep: collective; frees the ghosts of contacts that
 * were not marked, and gets all data of the others from their owners. */
void tac_implicit_ghosts_mark(struct tac_implicit *sim, const tac_lid *v, int n);
enum tac_err tac_implicit_ghosts_keep(struct tac_implicit *sim);
/* Collective. Gets all data of ghosts from their owners again. tac_implicit_share() does so for a single array, (count,
 * width), with a width of at most TAC_PAST_NUMBERS; meshed: only for the ghosts of elements, (meshed, width). */
enum tac_err tac_implicit_ghosts_refresh(struct tac_implicit *sim);
enum tac_err tac_implicit_share(struct tac_implicit *sim, double *value, int width, bool meshed);

/* scheme.c. Local. Sets the weights of the step that begins now. */
void tac_implicit_begin_scheme(struct tac_implicit *sim);
/* Local. Sets sim->newton.ahead: where inertia and gravity would take the vertices, with loads if `loads`. */
void tac_implicit_predict(struct tac_implicit *sim, bool loads);
/* Collective. Computes the accelerations at t = 0, for a scheme that remembers them. */
enum tac_err tac_implicit_start_scheme(struct tac_implicit *sim);
/* Local. Sets the strains that damping measures from in the step that begins. */
void tac_implicit_begin_dampers(struct tac_implicit *sim);
/* Local. Computes velocities, and what the scheme remembers of the step from x0 to x. */
void tac_implicit_end_scheme(struct tac_implicit *sim);
/* Local. Sets the positions of a load's element in the current step, and the mean of its factor; its forces, N, unless
 * it is a wind. */
void tac_implicit_load_places(const struct tac_implicit *sim, const struct tac_load_element *load, double at[4][3],
                              double *mean);
void tac_implicit_load(const struct tac_implicit *sim, const struct tac_load_element *load, double push[3][3]);
/* Local. Computes the forces at a time, with the element at x (count, 3). */
void tac_implicit_load_at(const struct tac_implicit *sim, const struct tac_load_element *load, const double *x,
                          tac_time t, double push[3][3]);

/* book.c. Collective. Enters the step from x0 to x: the energy that it has dissipated, the work of scripts and loads,
 * and impulses. */
enum tac_err tac_implicit_enter_step(struct tac_implicit *sim);

/* scripts.c. Local. Sets which vertices are scripted at t = 0. */
void tac_implicit_scripts_start(struct tac_implicit *sim);
/* Local. Sets the flags of the scripts of own vertices (led). */
void tac_implicit_scripts_tell(struct tac_implicit *sim);
/* Collective. Begins a step to t: sets which vertices are scripted in it, their targets, and the origins of those that
 * a motion catches. */
enum tac_err tac_implicit_scripts_begin(struct tac_implicit *sim, tac_time from, tac_time to);

/* Local. Computes the forces of scripts at t = 0, by elements only. */
void tac_implicit_scripts_push(struct tac_implicit *sim);
/* Collective. Makes the first iterate of the step: scripted vertices move straight to their targets, and all others go
 * on with their velocities, or stand if the scripts get farther then. there: all scripted vertices are at their
 * targets, and are held. */
enum tac_err tac_implicit_move_all(struct tac_implicit *sim, bool *there);
/* Local. Returns the speed, m/s, under which the free vertices have followed the scripted ones well enough to pull
 * harder. */
double tac_implicit_learning_speed(const struct tac_implicit *sim);
/* Collective. For scripted vertices that are not at their targets while Newton's direction has this speed: makes the
 * pull stronger, or updates the multipliers. */
enum tac_err tac_implicit_pull_scripted(struct tac_implicit *sim, double speed, bool *there);

/* implicit_balance.c. Local. Counts one evaluation of all elements of this rank, and of pairs in contact. */
enum tac_implicit_work { TAC_WORK_ENERGY, TAC_WORK_GRADIENT, TAC_WORK_HESSIAN, TAC_WORKS };
void tac_implicit_count_work(struct tac_implicit *sim, enum tac_implicit_work work, size_t pairs);
/* Local. The same of pairs alone. */
void tac_implicit_count_pairs(struct tac_implicit *sim, enum tac_implicit_work work, size_t pairs);
/* Local. Counts what this rank adds up and other ranks have evaluated: forces on a vertex, gradients and matrices of
 * pairs. */
enum tac_implicit_term { TAC_TERM_FORCE, TAC_TERM_GRADIENT, TAC_TERM_MATRIX, TAC_TERMS };
void tac_implicit_count_terms(struct tac_implicit *sim, enum tac_implicit_term term, size_t terms);

/* newton.c. Collective. Minimises the potential with the present normal forces of friction. there: scripted vertices
 * are at their targets. */
enum tac_err tac_implicit_minimise(struct tac_implicit *sim, bool *there);
/* Collective. Fails with TAC_ERR_RUN and a sentence that says why the step was not solved, with its nearest pair. */
enum tac_err tac_implicit_fail_step(struct tac_implicit *sim, const char *why);
/* Local. Returns a clause that says what may help where even the shortest part of a step was not solved. */
const char *tac_implicit_what_helps(const struct tac_implicit *sim);
/* Local. Sets sim->newton.trial = x + share p. */
void tac_implicit_go(struct tac_implicit *sim, double share);
/* Collective. Makes sim->newton.trial the next iterate. */
enum tac_err tac_implicit_accept(struct tac_implicit *sim);

/* line_search.c. Collective. Shortens sim->newton.p, from sim->x to sim->newton.trial, until no pair loses too much of
 * its gap and the potential falls.  value, size: the potential, kg m^2, and the sum of its terms' sizes, before and
 * after. */
enum tac_err tac_implicit_search_line(struct tac_implicit *sim, double *value, double *size);

/* A pair that was found. */
struct tac_implicit_found {
    uint64_t key;
    tac_lid v[4];
    double radius, thickness; /* m */
};
/* implicit_plates.c (see also implicit_plates.h). Collective. */
enum tac_err tac_plates_create(struct tac_implicit *sim);
void tac_plates_destroy(struct tac_implicit_plates **plates);
/* Local. Does the owner of vertex i of a pair need what the pair adds there, and no earlier vertex of the pair has the
 * same owner? Not if it has the pair itself, because a vertex of its own is free at some time. */
bool tac_plates_need(const struct tac_implicit *sim, const tac_lid *v, int n, int i, int32_t *owner);
/* implicit_plates_ghosts.c. Collective. While plates are unknowns, their owners get ghosts of the vertices of all pairs
 * of the plates: of found (count), of those that slide and of foreseen ones. mark: local; marks these ghosts as needed.
 */
enum tac_err tac_plates_show(struct tac_implicit *sim, const struct tac_implicit_found *found, size_t count);
void tac_plates_mark(struct tac_implicit *sim);

/* A place in a list, by the key of a pair. */
struct tac_implicit_place {
    uint64_t key;
    size_t at;
};
/* implicit_candidates.c. Local. Sorts n places by ascending keys, equal ones keeping their order; place: (2 n). */
void tac_implicit_sort_places(struct tac_implicit_place *place, size_t n);
/* Collective. */
enum tac_err tac_implicit_search_create(struct tac_implicit *sim);
void tac_implicit_search_destroy(struct tac_implicit_search **search);
/* Local. Enlarges the arrays of the search, as there are more vertices than before. */
void tac_implicit_search_grows(struct tac_implicit *sim);
/* Local. Returns the time that this rank has spent on lists, s, by counts. */
double tac_implicit_search_spent(const struct tac_implicit *sim);
/* Local. Copies the skin of lists and the state of its tuning out of a simulation, or into one of other ranks; value:
 * (TAC_TUNED). */
enum { TAC_TUNED = 6 };
void tac_implicit_skin_out(const struct tac_implicit *sim, int64_t *value);
void tac_implicit_skin_in(struct tac_implicit *sim, const int64_t *value);
/* Collective. Makes sim->contact.pair complete for all places between x and x + part p: no other pair is nearer than
 * its thickness there. A list that is complete already is kept. On several ranks the list lacks pairs in which no
 * vertex of this rank is free at any time (contact.movers_only). */
enum tac_err tac_implicit_find(struct tac_implicit *sim, const double *x, const double *p, double part);
/* Collective. To be called when scripted vertices become unknowns: tac_plates_show() for the present list. */
enum tac_err tac_implicit_show_pairs(struct tac_implicit *sim);
/* Collective. Returns the part of p for which to find pairs first: 1, unless p is long and the present list is not
 * complete for it.
 */
enum tac_err tac_implicit_first_part(const struct tac_implicit *sim, const double *x, const double *p, double *part);

/* bound.c. Collective. Computes the largest share of sim->newton.p that contact and elements allow. */
enum tac_err tac_implicit_reach(struct tac_implicit *sim, double *share);
/* Local. Returns the largest share of the displacement p up to which the volume of a tetrahedron is never under `keep`
 * times its volume at x; 0 where that is not positive. */
double tac_implicit_keep_volume(const double x[4][3], const double p[4][3], double keep);
/* foresee.c. Collective. Sets the foreseen pairs of the next system: those that stopped sim->newton.p at `share`. The
 * next iterate is sim->newton.trial. */
enum tac_err tac_implicit_foresee(struct tac_implicit *sim, double share);
/* Collective. Forgets the foreseen pairs, and returns whether there were any. */
enum tac_err tac_implicit_drop_foreseen(struct tac_implicit *sim, bool *any);
/* Local. Returns the derivative of the parabola of a foreseen pair, over kappa, with its vertices at x. */
double tac_implicit_foreseen_force(const struct tac_foreseen *f, const double *x);
/* touch.c. Local. Makes the list of the pairs that touch at x, sim->x or sim->newton.trial; a list that was made at x
 * is kept. */
enum tac_err tac_implicit_touch(struct tac_implicit *sim, const double *x);
static inline const struct tac_implicit_pair *tac_implicit_touching(const struct tac_implicit *sim, size_t e)
{
    return &sim->contact.pair[sim->contact.touch[e].pair];
}

/* Local. Whether kappa follows from materials and forces in this step or part.  A kappa of the scene may be smaller
 * than any that carries what presses, by any factor.  A step that Newton's method could not solve with it is solved in
 * parts, in which no pair is softer than without it. */
static inline bool tac_implicit_adapts(const struct tac_implicit *sim)
{
    return sim->contact.stiff != NULL && (sim->part.firm || !(sim->scene->settings->implicit.stiffness > 0));
}
/* Local. Returns kappa of a pair, by its share (weights.c, stiffness.c). */
static inline double tac_implicit_kappa_of(const struct tac_implicit *sim, double share, double kappa)
{
    return tac_implicit_adapts(sim) ? sim->newton.stiffer * (kappa > share ? kappa : share) : kappa * share;
}
static inline double tac_implicit_kappa(const struct tac_implicit *sim, const struct tac_implicit_pair *p, double kappa)
{
    return tac_implicit_kappa_of(sim, p->share, kappa);
}
enum tac_err tac_implicit_weights_create(struct tac_implicit *sim);
/* Local. Sets the share of a pair; or of all pairs of the list, because what it depends on changes in each step. */
void tac_implicit_weigh(struct tac_implicit *sim, struct tac_implicit_pair *p);
void tac_implicit_weigh_all(struct tac_implicit *sim);

/* residual.c. Local. Computes the gradient at x, with the pairs that touch there, and its parts; and by how much
 * rounding of positions changes a vertex' part of the potential. */
void tac_implicit_gradient(struct tac_implicit *sim, const double *x);
double tac_implicit_rounding_at(const struct tac_implicit *sim, const double *x, tac_lid v);
/* Collective. Computes how far forces are from balance at sim->x: the largest share of a body (0: balance), where
 * vertices would move at `speed`, m/s, at most. Afterwards the gradient is that of sim->x. */
enum tac_err tac_implicit_residual(struct tac_implicit *sim, double speed, double *residual);

/* terms.c. Collective. Computes the incremental potential at x, and the sum of the sizes of its terms. */
enum tac_err tac_implicit_potential(struct tac_implicit *sim, const double *x, double *value, double *size);
/* Local. Add the gradients of inertia, elasticity and contact (of the pairs that touch) at x to sim->newton.gradient of
 * own vertices. */
void tac_implicit_add_inertia(struct tac_implicit *sim, const double *x);
void tac_implicit_add_elements(struct tac_implicit *sim, const double *x, bool dampers);
void tac_implicit_add_contact(struct tac_implicit *sim, const double *x);
void tac_implicit_add_friction(struct tac_implicit *sim, const double *x);
void tac_implicit_add_wind(struct tac_implicit *sim, const double *x);
/* Local. Compute the gradient of the pair that touches as number e, and of a pair that slides, at x. */
void tac_implicit_contact_gradient(const struct tac_implicit *sim, size_t e, const double *x, double g[4][3]);
void tac_implicit_friction_gradient(const struct tac_implicit *sim, const struct tac_sliding *s, const double *x,
                                    double g[4][3]);

/* wind.c. Local. Compute the normals and speeds of the step that begins; an element's relative speed, its potential,
 * its force on each of its vertices, N, and its Hessian (3 count, 3 count). */
enum tac_err tac_implicit_wind_create(struct tac_implicit *sim);
void tac_implicit_begin_wind(struct tac_implicit *sim);
double tac_implicit_wind_speed(const struct tac_implicit *sim, const struct tac_implicit_wind *w, const double *x);
double tac_implicit_wind_energy(const struct tac_implicit *sim, const struct tac_implicit_wind *w, const double *x);
void tac_implicit_wind_push(const struct tac_implicit *sim, const struct tac_implicit_wind *w, const double *x,
                            double push[3]);
/* Local. Computes the force at the start or at the end of the step, with the element's own velocity there. */
void tac_implicit_wind_at(const struct tac_implicit *sim, const struct tac_implicit_wind *w, bool end, double push[3]);
void tac_implicit_wind_hessian(const struct tac_implicit *sim, const struct tac_implicit_wind *w, const double *x,
                               double *dense);

/* plastic.c. Local. */
enum tac_err tac_implicit_plastic_create(struct tac_implicit *sim);
void tac_implicit_flow(struct tac_implicit *sim);
enum tac_err tac_implicit_rests_out(struct tac_implicit *sim, struct tac_checkpoint *c);
void tac_implicit_rests_in(struct tac_implicit *sim, int kind, const struct tac_element_states *states);

/* implicit_reactions.c. Collective. Sets sim->newton.gradient to that of friction, and if `contact` of contact and
 * joints, too, at sim->x. It is complete at all own vertices, also where other ranks have the pairs. */
enum tac_err tac_implicit_contact_forces(struct tac_implicit *sim, bool contact);

/* implicit_friction.c */
/* Local. Begins a lag: takes the normal forces and closest points of friction from the pairs that touch at x. */
enum tac_err tac_implicit_lag(struct tac_implicit *sim, const double *x);
/* Collective; at the end of a step. Begins a new lag, and returns how much the forces of friction change by this: the
 * 2-norm of the change over all vertices, over the larger of both norms; 0 without friction. */
enum tac_err tac_implicit_lag_residual(struct tac_implicit *sim, double *residual);
/* Return f0, and f1 / y, of a sliding distance y >= 0, for friction that is smoothed under the distance w. */
double tac_implicit_slide_energy(double y, double w);
double tac_implicit_slide_force(double y, double w);
/* Local. Computes how a pair slides with these displacements of vertices (3 numbers each): a vector along its surface.
 * Returns its length. */
double tac_implicit_slide_along(const struct tac_sliding *s, const double *displacement, double u[3]);
/* Local. Computes how a pair has slid since the start of the step: a vector along its surface. Returns its length. */
double tac_implicit_slide(const struct tac_implicit *sim, const struct tac_sliding *s, const double *x, double u[3]);

/* static.c. Collective. Makes what replaces the masses with the static scheme; with other schemes the masses of the
 * mesh are used. */
enum tac_err tac_implicit_inertia_create(struct tac_implicit *sim);
void tac_implicit_inertia_destroy(struct tac_implicit *sim);
/* Collective. TAC_ERR_INPUT on all ranks: a static scene pushes a body that nothing can hold. */
enum tac_err tac_implicit_check_held(struct tac_implicit *sim);
/* Collective. Minimises the potential with the present normal forces of friction; with the static scheme it goes on
 * until forces balance. */
enum tac_err tac_implicit_balance(struct tac_implicit *sim, bool *there);

/* stiffness.c. Collective. Computes the stiffness of vertices by their elements at rest, N/m: the least eigenvalue of
 * the 3x3 block of each, and the mean one; (count), owned by the caller. */
enum tac_err tac_implicit_vertex_stiffness(struct tac_implicit *sim, double **least, double **mean);
/* Collective. Computes what kappa needs. */
enum tac_err tac_implicit_stiffness_create(struct tac_implicit *sim);
/* Local. Returns the least kappa of a pair, by its materials. */
double tac_implicit_least_kappa(struct tac_implicit *sim, const struct tac_implicit_pair *p);
/* Collective. Computes the smallest gap in the list of touching pairs, m; INFINITY if there is none.
 */
enum tac_err tac_implicit_least_gap(struct tac_implicit *sim, double *gap);
/* Local. To be called after an iterate whose smallest gap is `least`. If the gap is hardly larger than rounding errors
 * and has become smaller, makes all barriers stiffer for the rest of the step. Returns whether it has done so. */
bool tac_implicit_stiffen(struct tac_implicit *sim, double least);
/* Collective. Computes kappa by the forces at x, where it is adaptive: the least kappa of all pairs in this step. */
enum tac_err tac_implicit_begin_stiffness(struct tac_implicit *sim, const double *x, double *kappa);

/* undo.c. create: local; makes a copy of the present state. undo: collective; restores it. */
struct tac_implicit_undo;
enum tac_err tac_implicit_undo_create(struct tac_implicit *sim, struct tac_implicit_undo **out);
void tac_implicit_undo_destroy(struct tac_implicit_undo **undo);
enum tac_err tac_implicit_undo(struct tac_implicit *sim, const struct tac_implicit_undo *undo);

/* project.c. Local. Replaces a symmetric matrix, (3 nodes, 3 nodes), which a translation does not change, by the
 * nearest positive semi-definite one, over the nodes that are not held (nodes). */
void tac_implicit_project(int nodes, const bool *held, double *h);

/* system.c. Collective. Computes Newton's direction, sim->newton.p, of all vertices. rough: see struct tac_solve_rule.
 * sharpen: improves the direction to the tolerance of the scene. */
enum tac_err tac_implicit_system_create(struct tac_implicit *sim);
void tac_implicit_system_destroy(struct tac_implicit_system **system);
enum tac_err tac_implicit_begin_system(struct tac_implicit *sim);
enum tac_err tac_implicit_direction(struct tac_implicit *sim, const double *x, double rough);
enum tac_err tac_implicit_sharpen(struct tac_implicit *sim);
/* Local. Notes whether the direction was good: all of it was allowed, and the potential fell. Returns whether it was
 * computed with negative curvature of solids. After a bad direction of this sort the next one is computed without. */
bool tac_implicit_note_direction(struct tac_implicit *sim, bool good);
/* Local. Notes by which part of its slope the potential fell along a direction of which all was allowed; 0 if not all
 * was allowed. This decides whether barriers have their negative curvature in the next matrix. */
void tac_implicit_note_fall(struct tac_implicit *sim, double fall);
/* Local. Returns whether the length of sim->newton.p is accurate enough to decide whether a step has converged. */
bool tac_implicit_is_exact(const struct tac_implicit *sim);

#endif
