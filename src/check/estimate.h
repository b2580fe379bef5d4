/* estimate.h: how large an error of the energy will a bounce leave?
 *
 * A bounce falls at a random phase between the ticks of the forces on its vertices, and what each of them leaves is of
 * the order of its force times its period times the speed (docs/explanation/method.md, Energy and the book), less where
 * the period is short against the time tau that the contact takes to turn the vertex around:
 *
 *     contact  c1 sqrt(n/3) r(1) h(1)^2 v^2                   where the first layer's force sets in; n pairs press
 *     elastic  c2 (m omega v) h v min(1, (h/tau)^2)           m omega v: the force of a body that rings at speed v
 *     gravity  c3 m g h v min(1, (h/tau)^2)
 *     tau = min(pi / omega_contact, 0.3 eta(1) / v)
 *
 * rms over phases.  c1 and c3 come from one particle and a plane, c2 from a shell and two sheets
 * (docs/results/energy.md); the whole is meant to be right within a factor of ten, and rather too large.  For a body,
 * contact errors of its vertices add as random numbers; elastic ones count for three vertices that are turned while the
 * rest still moves on (where all are turned at once nothing pulls); gravity ticks for all at once.  K bounces leave
 * sqrt(K) times as much.
 *
 *     struct tac_estimate e;
 *     tac_estimate_bounce(ctx, scene, elastic, model, tac_estimate_speed(scene, NULL), &e);
 *     e.worst.total      of the energy of body e.body is in doubt after one bounce
 */
#ifndef TACTUS_CHECK_ESTIMATE_H
#define TACTUS_CHECK_ESTIMATE_H

#include "contact/model.h"
#include "elements/elastic.h"

/* Errors over the kinetic energy of what bounces; total: root of the sum of squares. */
struct tac_bounce {
    double contact, elastic, gravity, total;
    double turned_s; /* of one vertex: how long contact takes to turn it, s */
};

struct tac_estimate {
    tac_lid body;            /* the worst body; -1: nothing can bounce, and the rest is 0 */
    struct tac_bounce worst; /* for that body as a whole; for particles, for the worst of them alone */
};

/* Local. A speed [m/s] at which things of this scene may meet: the largest closing speed of its bodies and scripts at
 * their start, and what falling to the lowest vertex adds. 0 if nothing moves. *fall_m (may be NULL): the height. */
double tac_estimate_speed(const struct tac_scene *scene, double *fall_m);

/* Local. Errors that a bounce at `speed` [m/s] > 0 leaves. TAC_ERR_RUN out of memory. */
enum tac_err tac_estimate_bounce(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                                 const struct tac_model *model, double speed, struct tac_estimate *out);

/* The clocks of a vertex' other forces: s; 0: none. */
struct tac_bounce_clocks {
    double elastic_s, gravity_s;
    double gravity; /* m/s^2 */
};

/* Local. The same of one vertex i on `other`, in J; total: its kinetic energy at that speed. */
void tac_estimate_vertex(const struct tac_model *model, const struct tac_elastic *elastic, tac_lid i, tac_lid other,
                         const struct tac_bounce_clocks *clocks, double speed, struct tac_bounce *out);

/* Local. The longest period of an elastic force at each vertex, s (V, the caller frees it; 0: none), and that of
 * gravity (0: none). TAC_ERR_RUN out of memory. */
enum tac_err tac_estimate_periods(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                                  double **elastic_s, double *gravity_s);

#endif
