/* elastic.h: declares elements, their damping, and loads, sorted into rate classes, which the asynchronous integrator
 * ticks.
 *
 * A rate class holds all forces of one period; its elements of one kind are a *group*, in one array, in the order of
 * their force keys. One loop ticks a group.  The set owns its classes.  Periods follow docs/explanation/method.md,
 * Forces: safety x 2/omega with omega the largest bound of the *assembled* stiffness over the stencil's vertices, so
 * that a weak force never ticks slower than the stiff ones around it allow.
 *
 * Damping (ACM section 6.1) is a force of its own over the same stencil, from positions only: damping times the stress
 * of the change of strain since its own last tick.  Its period is at most that of the elastic force, and so short that
 * a tick takes only a part of the fastest motion on which it acts (memory_build.c).
 *
 * The values that an element keeps from tick to tick (struct tac_memory) are state: strains at a damper's last tick,
 * and rest values of plastic elements.  All owners of an element's vertices have these values, with the same bits.
 */
#ifndef TACTUS_ELEMENTS_ELASTIC_H
#define TACTUS_ELEMENTS_ELASTIC_H

#include "base/state.h"
#include "elements/element.h"
#include "elements/loads.h"
#include <tactus/accum.h>
#include <tactus/scene.h>

/* The values that some elements of one group keep, in their order. */
struct tac_memory {
    size_t count;
    double *value; /* owned, (count, width): m, strain e00, e11, e01, or rad */
    double *saved; /* owned, the same: at the window's start */
    tac_gid *id;   /* owned, (count): edge, triangle, or the hinge's edge */
};

/* Forces with stencils: the elements of a group, or their dampers. */
struct tac_forces {
    size_t count;
    size_t mine;  /* number of those whose lowest vertex this rank owns; on one rank, all */
    void *record; /* owned, (count) of `size` bytes: each begins with its stencil */
    size_t size;  /* bytes */
    size_t held_count;
    tac_lid *held; /* owned: those with a vertex that is scripted at some time */
};

/* The elements of one kind in one class. */
struct tac_element_group {
    const struct tac_element *element;
    struct tac_forces elastic;
    /* Plastic elements come last. No body has both sorts, so this order changes no bit. */
    struct tac_memory rest; /* of these: rest values of the strain */
    double *yield;          /* owned, (rest.count): m, strain, rad */
    uint8_t *flow_mine;     /* owned, (rest.count): this rank enters the energy that the flow takes */
    struct tac_forces damper;
    struct tac_memory last; /* of the dampers: strain at the last tick */
};

struct tac_rate_class {
    tac_time period;
    double h_s; /* period in seconds */
    int group_count;
    struct tac_element_group group[TAC_ELEMENTS]; /* by the table of elements */
    bool motors;                                  /* motors of joints tick with it */
    size_t pulled;                                /* by gravity: our vertices that are free at some time */
    size_t load_count, load_mine;                 /* mine: see tac_forces */
    struct tac_load_element *load;                /* owned */
    size_t pushed_count;                          /* owned vertices that loads push */
    tac_lid *pushed;                              /* owned, ascending */
    double *push; /* owned, (pushed_count, 6), scratch of an instant: impulse, N s; velocity before, m/s */
    size_t vertex_count;
    tac_lid *vertex; /* owned: free at some time, and this is the shortest period among its elastic forces and gravity
                        (nested clocks: a class due implies all shorter ones are; free clocks: all vertices of its
                        stencils) */
    size_t damper_count, damper_mine; /* of all groups */
    size_t damped_count;
    tac_lid *damped; /* owned: as `vertex`, but of the dampers alone, and ours */
};

struct tac_elastic {
    int element_count;
    const struct tac_element *element[TAC_ELEMENTS]; /* borrowed: the table */
    const char *kind_name[TAC_KINDS + 1];            /* tac_kind_names() */
    size_t class_count;
    struct tac_rate_class *rate; /* owned, ascending period */
    double omega_max;            /* largest stiffness bound, rad/s */
    double omega_min;            /* smallest bound of any element, rad/s */
    double *omega;               /* owned, (V): bound at each vertex, rad/s; 0 without elastic forces */
    struct tac_load_times times; /* owned: knots of loads */
    bool damps, flows;           /* does any material of the scene; the same on all ranks */
};

/* Collective. Makes the elements of all bodies that have a vertex that is free at some time and a vertex of this rank.
 * TAC_ERR_INPUT if a period falls under 2^12 quanta, naming the element. */
enum tac_err tac_elastic_create(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_elastic **out);
void tac_elastic_destroy(struct tac_elastic **elastic);

/* Return record e of a list, and its stencil, which has as many vertices as the element has nodes. */
static inline void *tac_forces_record(const struct tac_forces *f, size_t e)
{
    return (char *)f->record + e * f->size;
}
static inline const tac_lid *tac_forces_stencil(const struct tac_forces *f, size_t e)
{
    return tac_forces_record(f, e);
}

/* Local. Ticks every element of a group, h the class' period: kicks of -h dV/dx at the positions pos[].x, which must be
 * those of this instant for all vertices of the stencils. Works are added to the book, if there is one.  Then ticks the
 * plastic elements: rest values flow, then the elements kick. lost: one rank adds the energy that the flow takes, J; or
 * NULL. */
void tac_group_tick(const struct tac_element_group *group, double h, const struct tac_pos *pos, struct tac_vel *vel,
                    struct tac_book *book, struct tac_accum *lost);
/* Local. Ticks all dampers of one class in the same manner. */
void tac_damping_tick(const struct tac_rate_class *rate, const struct tac_pos *pos, struct tac_vel *vel,
                      struct tac_book *book);

/* Local. Compute the impulses of a tick of element e on its vertices, or of damper e if it ticked now,
 * (TAC_ELEMENT_NODES, 3), N s, at x (TAC_ELEMENT_NODES, 3). Nothing is kicked. Impulses after the last node are 0. */
void tac_group_impulse(const struct tac_element_group *group, double h, size_t e, const double x[TAC_ELEMENT_NODES][3],
                       double impulse[TAC_ELEMENT_NODES][3]);
void tac_group_damp(const struct tac_element_group *group, size_t e, const double x[TAC_ELEMENT_NODES][3],
                    double impulse[TAC_ELEMENT_NODES][3]);
/* Local. Returns the potential of element e at x (TAC_ELEMENT_NODES, 3), J. */
double tac_group_energy(const struct tac_element_group *group, size_t e, const double x[TAC_ELEMENT_NODES][3]);

/* ---- the same by number of kind, for all that a class ticks (docs/reference/engine.md: an instant) ---- */

/* Local. Returns the number of forces of a kind in a class. */
size_t tac_class_count(const struct tac_rate_class *rate, int kind);
/* Local. Returns the stencil of force e, *count vertices. The dampers of all elements have consecutive numbers, in the
 * order of the table of elements. NULL: the kind has no stencils. */
const tac_lid *tac_elastic_stencil(const struct tac_rate_class *rate, int kind, size_t e, int *count);
/* Local. Do what tac_group_impulse(), tac_group_damp() and tac_group_energy() do; 0 for other kinds. */
void tac_elastic_impulse(const struct tac_rate_class *rate, int kind, size_t e, const double x[TAC_ELEMENT_NODES][3],
                         double impulse[TAC_ELEMENT_NODES][3]);
double tac_elastic_potential(const struct tac_rate_class *rate, int kind, size_t e,
                             const double x[TAC_ELEMENT_NODES][3]);

/* Local. Returns the period with most of the elastic work, 0 if there is none; *most: that work over the period.
 * damper: the cost of a damper's tick, in ticks of a spring. */
tac_time tac_elastic_main_period(const struct tac_elastic *elastic, double damper, double *most);

/* Local. Save the state of all elements at a window's start, and restore it. */
void tac_memory_save(struct tac_elastic *elastic);
void tac_memory_restore(struct tac_elastic *elastic);

#endif
