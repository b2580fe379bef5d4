/* loads.h: declares prescribed forces, pressure and wind as forces with clocks (docs/reference/engine.md, Loads).
 *
 * A load acts on elements: a force on each of its vertices, pressure and wind on each triangle (2D: segment) of which
 * it has all vertices.  Elements of one period are part of a rate class (elastic.h), ordered by load, then by id.
 *
 *     impulse of a tick at t with period h:   the force at x(t), times h, times the mean of the load's factor over
 *     (t - h/2, t + h/2], the span of the tick; so the total impulse of a path does not depend on the periods
 *
 * Periods: pressure follows the surface, so its stiffness counts among that of the elastic forces around
 * (docs/explanation/method.md, Forces); every load ticks at least as often as these forces, and at least every
 * clocks.gravity_s. The damping of a wind bounds its period, too.
 */
#ifndef TACTUS_ELEMENTS_LOADS_H
#define TACTUS_ELEMENTS_LOADS_H

#include <tactus/scene.h>

struct tac_load_element {
    tac_lid v[3];
    int32_t count;      /* vertices: 1, 2, 3 */
    tac_lid load, id;   /* of the scene; local id of the vertex, segment or triangle */
    tac_lid slot[3];    /* number of vertex k among those that its class pushes, or -1 */
    int32_t first_wind; /* the first wind on the same element in its class, if that is another one, or -1 */
    double limit;       /* wind: impulse per normal speed that takes all of the speed, kg */
    double centre[3]; /* wind, state: the position of the centre at the last tick of this load, at first at t = 0, m */
    double centre_start[3]; /* the same at the window's start */
};

/* All load elements of a scene, before they are sorted into classes. */
struct tac_loads {
    size_t count;
    struct tac_load_element *element; /* owned, by load, then id */
    double *row;                      /* owned, (count): bound of the stiffness at each of its vertices, N/m */
    tac_time *period;                 /* owned, (count) */
};

/* The knots of all loads in quanta. */
struct tac_load_times {
    tac_lid *begin; /* owned, (load_count + 1) */
    tac_time *knot; /* owned */
};

/* Local. Collects the elements that have a vertex that is free at some time and a vertex of this rank. */
enum tac_err tac_loads_collect(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_loads *out);
/* Collective. Chooses the periods; omega2 (V): bound of the assembled stiffness over mass at each vertex, 1/s^2, with
 * that of loads. TAC_ERR_INPUT if a period is less than 2^12 quanta, or if an acceleration leaves the range of
 * double. */
enum tac_err tac_loads_choose(struct tac_ctx *ctx, const struct tac_scene *scene, const double *omega2,
                              struct tac_loads *loads);
void tac_loads_free(struct tac_loads *loads);
/* Local. Of winds on the same element, lets the later ones use the centre that the first one computed. */
enum tac_err tac_loads_link(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_load_element *element,
                            size_t count);

enum tac_err tac_load_times_make(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_load_times *out);
void tac_load_times_free(struct tac_load_times *times);

/* Local. Returns the mean over the `period` around t of a factor that is linear between its n knots, and held before
 * the first and after the last; 1 without knots. */
double tac_factor_mean(const double *factor, const tac_time *knot, tac_lid n, tac_time t, tac_time period);
/* Local. Returns the mean of a load's factor over the `period` around t. */
double tac_load_mean(const struct tac_scene *scene, const struct tac_load_times *times, tac_lid load, tac_time t,
                     tac_time period);

/* Local. Computes the impulses (count, 3) of one tick on an element at x (count, 3), N s; mean: of the factor. centre:
 * the present centre of the element, which only winds write. */
void tac_load_impulse(const struct tac_scene *scene, const struct tac_load_element *e, const double x[3][3], double h_s,
                      double mean, double impulse[3][3], double centre[3]);
/* Local. Computes the centre of an element. */
void tac_load_centre(const struct tac_load_element *e, const double x[3][3], double centre[3]);

#endif
