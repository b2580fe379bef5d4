/* principal.h: the limits of the principal stretch of triangles (docs/explanation/method.md, Limits of stretch), for
 * model.c.
 */
#ifndef TACTUS_CONTACT_PRINCIPAL_H
#define TACTUS_CONTACT_PRINCIPAL_H

#include "contact/model.h"

/* Collective. Computes bounds of h(1) over all triangles with a limit, s, and sets model->wide: whether there are any.
 * Refuses (TAC_ERR_INPUT) a limit that is too small for how far the rest shape is bent, and triangles so slender that
 * their first layer needs a period under 2^12 quanta. */
enum tac_err tac_principal_extremes(struct tac_ctx *ctx, struct tac_model *model, double *longest_s,
                                    double *shortest_s);

/* Does what tac_model_is_pair() does, for TAC_PAIR_WIDE; v (3). */
bool tac_principal_is_pair(const struct tac_model *model, const tac_lid *v);

/* Fills radius, thickness (up to where the triangle is at rest), stiffness and law of *form, and *pairs, which is N_c.
 * rest: from tac_model_rest(). Returns the effective inverse mass, 1/kg. */
double tac_principal_form(const struct tac_model *model, const tac_lid *v, const double rest[3], struct tac_form *form,
                          double *pairs);

/* Does what tac_model_rest() does, for a triangle of the scene. The second function puts its vertices into the order of
 * closest_points.h: the longest edge first.
 */
void tac_principal_rest(const struct tac_scene *scene, const tac_lid *v, double rest[3]);
void tac_principal_order(const struct tac_scene *scene, const tac_lid given[3], tac_lid v[3]);

/* ---- model.c ---- */
/* Returns the bound of h(1), s, for an effective inverse mass, N_c (`pairs`) and r(1) (`stiffness`). */
double tac_period_bound(const struct tac_model *model, double w_eff, double pairs, double stiffness);
/* Returns r(1) of an edge's limit, N/m: the stiffness of the stretch model that acts below the limit. */
double tac_limit_stiffness(const struct tac_scene *scene, tac_lid vertex, double length);

#endif
