/* parts.h: the parts of an implicit step, for this room only (implicit.h is for all).
 *
 * step.c calls them in this order: the scheme and scripts say where the step goes; newton.c minimises the potential
 * (terms.c, wind.c, implicit_friction.c) along directions of system.c, as far as line_search.c,
 * implicit_candidates.c and bound.c let it; the book sums.
 */
#ifndef TACTUS_IMPLICIT_PARTS_H
#define TACTUS_IMPLICIT_PARTS_H

#include "implicit/implicit.h"

enum {
    TAC_LEVELS = 6,             /* how often a step is halved */
    TAC_LEVELS_OF_ROUNDING = 3, /* where numbers are lost to rounding */
    TAC_TRIALS = 4, /* times `most` iterations, or TAC_FEWEST if that is more: then no part is halved any more */
    TAC_FEWEST = 1200
};

/* Does this rank enter a term over these vertices in sums?  The owner of the lowest id does. */
static inline bool tac_implicit_counts(const struct tac_implicit *sim, const tac_lid *v, int n)
{
    return tac_stencil_mine(sim->scene, v, n);
}
/* What a script does with a vertex, ghosts too. */
static inline bool tac_implicit_scripted(const struct tac_implicit *sim, tac_lid v)
{
    return (sim->scripts.led[v] & TAC_SCRIPTED) != 0;
}
static inline bool tac_implicit_script_on(const struct tac_implicit *sim, tac_lid v)
{
    return (sim->scripts.led[v] & TAC_SCRIPT_ON) != 0;
}
/* The script of an own vertex, or NULL. */
static inline struct tac_implicit_script *tac_implicit_script(const struct tac_implicit *sim, tac_lid v)
{
    return sim->scripts.script_of[v] >= 0 ? &sim->scripts.script[sim->scripts.script_of[v]] : NULL;
}
static inline void tac_implicit_gather(const double *x, const tac_lid *v, int n, double (*out)[3])
{
    for (int i = 0; i < n; i++)
        memcpy(out[i], &x[3 * (size_t)v[i]], 3 * sizeof(double));
}

/* Collective. Exact sums over all ranks, carried. */
enum tac_err tac_implicit_sum(struct tac_ctx *ctx, struct tac_accum *sum, int count);
/* Collective. The same number or numbers on all ranks: of all values the sum, the largest, ... */
enum tac_err tac_implicit_over_ranks(struct tac_implicit *sim, void *value, int count, MPI_Datatype type, MPI_Op op);

/* implicit_ghosts.c. Collective. The halo, once the arrays of vertices are there. */
enum tac_err tac_implicit_ghosts_create(struct tac_implicit *sim);
void tac_implicit_ghosts_destroy(struct tac_implicit *sim);
/* Local. The pairs of these vertices need their ghosts; keep: collective, frees the ghosts of contacts that were not
 * marked, and brings all that is known of the others from their owners. */
void tac_implicit_ghosts_mark(struct tac_implicit *sim, const tac_lid *v, int n);
enum tac_err tac_implicit_ghosts_keep(struct tac_implicit *sim);
/* Collective. All that is known of ghosts comes from their owners again; of a single array, (count, width), of at most
 * TAC_PAST_NUMBERS; meshed: only that of the ghosts of elements, (meshed, width). */
enum tac_err tac_implicit_ghosts_refresh(struct tac_implicit *sim);
enum tac_err tac_implicit_share(struct tac_implicit *sim, double *value, int width, bool meshed);

/* scheme.c. Local. Weights of the step that begins now. */
void tac_implicit_begin_scheme(struct tac_implicit *sim);
/* Local. sim->newton.ahead: where inertia and gravity would take the vertices, and loads if they are asked for. */
void tac_implicit_predict(struct tac_implicit *sim, bool loads);
/* Collective. Accelerations at t = 0, of a scheme that remembers them. */
enum tac_err tac_implicit_start_scheme(struct tac_implicit *sim);
/* Local. Strains that damping measures from in the step that begins. */
void tac_implicit_begin_dampers(struct tac_implicit *sim);
/* Local. Velocities, and what is remembered of the step from x0 to x. */
void tac_implicit_end_scheme(struct tac_implicit *sim);
/* Local. Where a load finds its element in the step under way, and the mean of its factor; its forces, N, of one that
 * is no wind. */
void tac_implicit_load_places(const struct tac_implicit *sim, const struct tac_load_element *load, double at[4][3],
                              double *mean);
void tac_implicit_load(const struct tac_implicit *sim, const struct tac_load_element *load, double push[3][3]);
/* Local. The same at a time, with the element at x (count, 3). */
void tac_implicit_load_at(const struct tac_implicit *sim, const struct tac_load_element *load, const double *x,
                          tac_time t, double push[3][3]);

/* book.c. Collective. Adds what the step from x0 to x has dissipated, its scripts' and loads' work, and impulses. */
enum tac_err tac_implicit_enter_step(struct tac_implicit *sim);

/* scripts.c. Local. Which vertices are scripted at t = 0. */
void tac_implicit_scripts_start(struct tac_implicit *sim);
/* Local. Sets what is known of the scripts of own vertices (led). */
void tac_implicit_scripts_tell(struct tac_implicit *sim);
/* Collective. Which vertices are scripted in the step to t, and where to. Begins it: origins of those caught. */
enum tac_err tac_implicit_scripts_begin(struct tac_implicit *sim, tac_time from, tac_time to);

/* Local. At t = 0: the forces of scripts, by elements alone. */
void tac_implicit_scripts_push(struct tac_implicit *sim);
/* Collective. The step's first iterate: scripted vertices go straight to their targets, and all others on with their
 * velocities, or stand if the scripts come farther so.  there: the scripts are, and are held. */
enum tac_err tac_implicit_move_all(struct tac_implicit *sim, bool *there);
/* Local. Under it the rest has followed what is scripted well enough to pull harder, m/s. */
double tac_implicit_learning_speed(const struct tac_implicit *sim);
/* Collective. They are not there, and Newton's method goes at `speed`: pulls harder, or lets multipliers learn. */
enum tac_err tac_implicit_pull_scripted(struct tac_implicit *sim, double speed, bool *there);

/* implicit_balance.c. Local. All terms of this rank have been evaluated. */
enum tac_implicit_work { TAC_WORK_ENERGY, TAC_WORK_GRADIENT, TAC_WORK_HESSIAN, TAC_WORKS };
void tac_implicit_count_work(struct tac_implicit *sim, enum tac_implicit_work work);

/* newton.c. Collective. To the minimum for the forces that friction goes by now; there: scripted vertices are. */
enum tac_err tac_implicit_minimise(struct tac_implicit *sim, bool *there);
/* Collective. Fails with TAC_ERR_RUN and a sentence that says why the step was not solved, with its nearest pair. */
enum tac_err tac_implicit_fail_step(struct tac_implicit *sim, const char *why);
/* Local. What may help where even the shortest part of a step was not solved: a clause. */
const char *tac_implicit_what_helps(const struct tac_implicit *sim);
/* Local. sim->newton.trial: `share` of the way. */
void tac_implicit_go(struct tac_implicit *sim, double share);
/* Collective. It becomes the next iterate. */
enum tac_err tac_implicit_accept(struct tac_implicit *sim);

/* line_search.c. Collective. Shortens sim->newton.p, from sim->x to sim->newton.trial, until no pair loses too much of
 * its gap and the potential falls.  value, size: the potential, kg m^2, and the sum of its terms' sizes, before and
 * after. */
enum tac_err tac_implicit_search_line(struct tac_implicit *sim, double *value, double *size);

/* implicit_candidates.c. Collective. */
enum tac_err tac_implicit_search_create(struct tac_implicit *sim);
void tac_implicit_search_destroy(struct tac_implicit_search **search);
/* Local. There are more vertices than before. */
void tac_implicit_search_grows(struct tac_implicit *sim);
/* Local. What this rank has spent on lists, s, by counts. */
double tac_implicit_search_spent(const struct tac_implicit *sim);
/* Local. The skin of lists and how it was found go to a simulation of other ranks; value: (TAC_TUNED). */
enum { TAC_TUNED = 6 };
void tac_implicit_skin_out(const struct tac_implicit *sim, int64_t *value);
void tac_implicit_skin_in(struct tac_implicit *sim, const int64_t *value);
/* Collective. Makes sim->contact.pair complete for all places between x and x + part p: no other pair is nearer than
 * its thickness, there or on the way.  A list that still is so is kept. */
enum tac_err tac_implicit_find(struct tac_implicit *sim, const double *x, const double *p, double part);
/* Collective. The part of p for which to find pairs first: 1, unless p is long and the list that there is does not do.
 */
enum tac_err tac_implicit_first_part(const struct tac_implicit *sim, const double *x, const double *p, double *part);

/* bound.c. Collective. The largest share of sim->newton.p that contact and elements allow. */
enum tac_err tac_implicit_reach(struct tac_implicit *sim, double *share);
/* Local. The largest share of the way p before which a tetrahedron's volume is never under `keep` of what it is at x; 0
 * where it has none there. */
double tac_implicit_keep_volume(const double x[4][3], const double p[4][3], double keep);
/* foresee.c. Collective. What the next system is to know of the pairs that stopped sim->newton.p at `share`; the next
 * place is sim->newton.trial. */
enum tac_err tac_implicit_foresee(struct tac_implicit *sim, double share);
/* Collective. Forgets them; were there any? */
enum tac_err tac_implicit_drop_foreseen(struct tac_implicit *sim, bool *any);
/* Local. The derivative of its parabola, over kappa, with vertices at x. */
double tac_implicit_foreseen_force(const struct tac_foreseen *f, const double *x);
/* touch.c. Local. Makes the list of the pairs that touch at x, sim->x or sim->newton.trial; a list of x is kept. */
enum tac_err tac_implicit_touch(struct tac_implicit *sim, const double *x);
static inline const struct tac_implicit_pair *tac_implicit_touching(const struct tac_implicit *sim, size_t e)
{
    return &sim->contact.pair[sim->contact.touch[e].pair];
}

/* Local. kappa of a pair, by its share (weights.c, stiffness.c). */
static inline double tac_implicit_kappa_of(const struct tac_implicit *sim, double share, double kappa)
{
    if (sim->contact.adapts)
        return sim->newton.stiffer * (kappa > share ? kappa : share);
    return sim->contact.area != NULL ? kappa * (share * sim->weight) : kappa;
}
static inline double tac_implicit_kappa(const struct tac_implicit *sim, const struct tac_implicit_pair *p, double kappa)
{
    return tac_implicit_kappa_of(sim, p->share, kappa);
}
enum tac_err tac_implicit_weights_create(struct tac_implicit *sim);
/* Local. Sets the share of a pair; of all pairs of the list, as what it depends on is new in each step. */
void tac_implicit_weigh(const struct tac_implicit *sim, struct tac_implicit_pair *p);
void tac_implicit_weigh_all(struct tac_implicit *sim);

/* residual.c. Local. The gradient at x, for the pairs that touch there, and its parts; what a vertex' share of the
 * potential there changes by as places are rounded. */
void tac_implicit_gradient(struct tac_implicit *sim, const double *x);
double tac_implicit_rounding_at(const struct tac_implicit *sim, const double *x, tac_lid v);
/* Collective. How far forces are from balance at sim->x: the largest of all bodies' shares (0: they are), where
 * vertices would move at `speed`, m/s, at most.  The gradient is that of sim->x then. */
enum tac_err tac_implicit_residual(struct tac_implicit *sim, double speed, double *residual);

/* terms.c. Collective: the incremental potential at x, and the sum of the sizes of its terms. */
enum tac_err tac_implicit_potential(struct tac_implicit *sim, const double *x, double *value, double *size);
/* Local. What inertia, elasticity, contact (the pairs that touch) add to sim->newton.gradient of own vertices at x. */
void tac_implicit_add_inertia(struct tac_implicit *sim, const double *x);
void tac_implicit_add_elements(struct tac_implicit *sim, const double *x, bool dampers);
void tac_implicit_add_contact(struct tac_implicit *sim, const double *x);
void tac_implicit_add_friction(struct tac_implicit *sim, const double *x);
void tac_implicit_add_wind(struct tac_implicit *sim, const double *x);

/* wind.c. Local. Normals and speeds of the step that begins; an element's relative speed, its potential, its force on
 * each of its vertices, N, and its Hessian (3 count, 3 count). */
enum tac_err tac_implicit_wind_create(struct tac_implicit *sim);
void tac_implicit_begin_wind(struct tac_implicit *sim);
double tac_implicit_wind_speed(const struct tac_implicit *sim, const struct tac_implicit_wind *w, const double *x);
double tac_implicit_wind_energy(const struct tac_implicit *sim, const struct tac_implicit_wind *w, const double *x);
void tac_implicit_wind_push(const struct tac_implicit *sim, const struct tac_implicit_wind *w, const double *x,
                            double push[3]);
/* Local. The force at the start or at the end of the step, with the element's own velocity there. */
void tac_implicit_wind_at(const struct tac_implicit *sim, const struct tac_implicit_wind *w, bool end, double push[3]);
void tac_implicit_wind_hessian(const struct tac_implicit *sim, const struct tac_implicit_wind *w, const double *x,
                               double *dense);

/* plastic.c. Local. */
enum tac_err tac_implicit_plastic_create(struct tac_implicit *sim);
void tac_implicit_flow(struct tac_implicit *sim);
enum tac_err tac_implicit_rests_out(struct tac_implicit *sim, struct tac_checkpoint *c);
void tac_implicit_rests_in(struct tac_implicit *sim, int kind, const struct tac_element_states *states);

/* implicit_friction.c */
/* Local. What friction goes by from now on: the pairs that touch at x. */
enum tac_err tac_implicit_lag(struct tac_implicit *sim, const double *x);
/* Collective; at a step's end. How far friction's forces would change if they were taken anew from there: 2-norm of the
 * change over all vertices, over the larger of both; 0 without friction.  They are anew then. */
enum tac_err tac_implicit_lag_residual(struct tac_implicit *sim, double *residual);
/* f0, and f1 / y of a slide y >= 0 under friction that is smooth under w. */
double tac_implicit_slide_energy(double y, double w);
double tac_implicit_slide_force(double y, double w);
/* Local. How a pair slides where vertices go the way (3 numbers each): a vector along its surface; its length. */
double tac_implicit_slide_along(const struct tac_sliding *s, const double *way, double u[3]);
/* Local. How a pair has slid since the step's start: a vector along its surface; its length. */
double tac_implicit_slide(const struct tac_implicit *sim, const struct tac_sliding *s, const double *x, double u[3]);

/* static.c. Collective. What is in the place of inertia with the static scheme; else the mesh' masses stay. */
enum tac_err tac_implicit_inertia_create(struct tac_implicit *sim);
void tac_implicit_inertia_destroy(struct tac_implicit *sim);
/* Collective. TAC_ERR_INPUT: a static scene pushes a body that nothing can hold; alike on all ranks. */
enum tac_err tac_implicit_check_held(struct tac_implicit *sim);
/* Collective. To the minimum for the forces that friction goes by now; with the static scheme to balance. */
enum tac_err tac_implicit_balance(struct tac_implicit *sim, bool *there);

/* stiffness.c. Collective. How stiff vertices are by their elements at rest, N/m: the least eigenvalue of the 3x3 block
 * of each, and the mean one; (count), owned by the caller. */
enum tac_err tac_implicit_vertex_stiffness(struct tac_implicit *sim, double **least, double **mean);
/* Collective. For kappa. */
enum tac_err tac_implicit_stiffness_create(struct tac_implicit *sim);
/* Local. The least kappa of a pair, by its materials. */
double tac_implicit_least_kappa(const struct tac_implicit *sim, const struct tac_implicit_pair *p);
/* Collective. The smallest gap of all pairs that touch at the place of the list of touching pairs, m; INFINITY: none.
 */
enum tac_err tac_implicit_least_gap(struct tac_implicit *sim, double *gap);
/* Local. After an iterate whose smallest gap is `least`: makes all barriers stiffer for the rest of the step where a
 * gap that is hardly more than rounding becomes smaller still.  Has it? */
bool tac_implicit_stiffen(struct tac_implicit *sim, double least);
/* Collective. kappa by the forces at x, where it is adaptive: the least of all pairs in this step. */
/* Local. Whether kappa follows from materials and forces in the step or part to come (contact.adapts). */
void tac_implicit_choose_stiffness(struct tac_implicit *sim);
enum tac_err tac_implicit_begin_stiffness(struct tac_implicit *sim, const double *x, double *kappa);

/* undo.c. Local. A copy of the state of now.  Collective: brings it back. */
struct tac_implicit_undo;
enum tac_err tac_implicit_undo_create(struct tac_implicit *sim, struct tac_implicit_undo **out);
void tac_implicit_undo_destroy(struct tac_implicit_undo **undo);
enum tac_err tac_implicit_undo(struct tac_implicit *sim, const struct tac_implicit_undo *undo);

/* project.c. Local. Makes of a symmetric matrix, (3 nodes, 3 nodes), that is blind to translations the nearest positive
 * semi-definite one, looking at the nodes that are not held (nodes). */
void tac_implicit_project(int nodes, const bool *held, double *h);

/* system.c. Collective. Newton's direction into sim->newton.p, of all vertices; rough: as of struct tac_solve_rule;
 * sharpen: then as exact as the scene asks for. */
enum tac_err tac_implicit_system_create(struct tac_implicit *sim);
void tac_implicit_system_destroy(struct tac_implicit_system **system);
enum tac_err tac_implicit_begin_system(struct tac_implicit *sim);
enum tac_err tac_implicit_direction(struct tac_implicit *sim, const double *x, double rough);
enum tac_err tac_implicit_sharpen(struct tac_implicit *sim);
/* Local. The direction led downhill all the way, or it did not.  Had it been found with negative curvature of solids? A
 * direction after a bad one like that is found without. */
bool tac_implicit_judge(struct tac_implicit *sim, bool good);
/* Local. Along the direction, all of which was allowed, the potential fell by this part of what its slope foretells; 0:
 * not all was.  Decides whether barriers have their negative curvature in the next matrix. */
void tac_implicit_note_fall(struct tac_implicit *sim, double fall);
/* Local. Does the length of sim->newton.p tell whether a step has converged? */
bool tac_implicit_is_exact(const struct tac_implicit *sim);

#endif
