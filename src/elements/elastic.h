/* elastic.h: springs, membranes, hinges, their damping, and loads, sorted into rate classes.
 *
 * A rate class holds all forces of one kind and one period, in the order of their force keys, in one array: ticking it
 * is one tight loop.  The set owns its classes.  Periods follow docs/method.md, Forces: safety x 2/omega with omega the
 * largest bound of the *assembled* stiffness over the stencil's vertices, so that a weak force never ticks slower than
 * the stiff ones around it allow.
 *
 * Damping (ACM section 6.1) is a force of its own over the same stencil, from positions only: damping times the stress
 * of the change of strain since its own last tick.  Its period is never longer than that of the elastic force, and so
 * short that a tick takes only a part of the fastest motion that it acts on (memory_build.c).
 *
 * What an element remembers from tick to tick (struct tac_memory) is state: strains at a damper's last tick, and rest
 * values of plastic elements.  All owners of an element's vertices have it, with the same bits.
 */
#ifndef TACTUS_ELEMENTS_ELASTIC_H
#define TACTUS_ELEMENTS_ELASTIC_H

#include "base/state.h"
#include "elements/loads.h"
#include <tactus/accum.h>
#include <tactus/counters.h>
#include <tactus/scene.h>

/* V = (k/2L)(l - L)^2; k in N (ACM section 3). */
struct tac_spring {
    tac_lid v[2];
    double length;    /* L, m */
    double stiffness; /* k/L, N/m */
};

/* St Venant-Kirchhoff membrane on a constant-strain triangle: V = A Y/(2(1-nu^2)) [(1-nu) tr(E^2) + nu (tr E)^2]. */
struct tac_cst {
    tac_lid v[3], body;
    double b00, b01, b11; /* inverse of the rest shape's edge matrix (upper triangular), 1/m */
    double a, b;          /* A Y/(1+nu) and A Y nu/(1-nu^2), N m */
};

/* V = k 3|e|^2/(A1+A2) (theta - theta0)^2 (Grinspun et al. 2003). */
struct tac_hinge {
    tac_lid v[4];     /* edge's two, then the two opposite vertices */
    double stiffness; /* k 3|e|^2/(A1+A2), N m */
    double angle;     /* theta0, rad */
};

/* Dampers: rate is damping times stiffness. `most`: see kernel_body.h; where an element shrinks or stretches so far
 * that its damping grows by more than its period allows, it grows no further. */
struct tac_spring_damper {
    tac_lid v[2];
    double rate; /* N s/m */
};
struct tac_cst_damper {
    tac_lid v[3], body;
    double b00, b01, b11; /* as the membrane's */
    double a, b;          /* damping times its moduli, N m s */
    double most;          /* stretch squared */
};
struct tac_hinge_damper {
    tac_lid v[4];
    double rate; /* 2 x damping x stiffness, N m s */
    double most; /* of the angle's gradient squared, summed over the vertices, 1/m^2 */
};

/* What some elements of one kind and class remember, in their order. */
struct tac_memory {
    size_t count;
    double *value; /* owned, (count, width): m, strain e00, e11, e01, or rad */
    double *saved; /* owned, the same: at the window's start */
    tac_gid *id;   /* owned, (count): edge, triangle, or the hinge's edge */
};
/* Numbers that an element of this kind remembers. */
static inline int tac_memory_width(enum tac_kind element)
{
    return element == TAC_KIND_CST || element == TAC_KIND_LOAD ? 3 : 1;
}

struct tac_rate_class {
    tac_time period;
    double h_s; /* period in seconds */
    size_t count[TAC_KINDS];
    size_t mine[TAC_KINDS];    /* of them: those whose lowest vertex is ours; on one rank, all */
    struct tac_spring *spring; /* owned */
    struct tac_cst *cst;       /* owned */
    struct tac_hinge *hinge;   /* owned */
    /* Plastic elements come last; no body has both, so that no vertex sees the difference. */
    struct tac_memory rest[TAC_KINDS]; /* of them: length, plastic strain, angle at rest */
    double *yield[TAC_KINDS];          /* owned, (rest[].count): m, strain, rad */
    uint8_t *flow_mine[TAC_KINDS];     /* owned, (rest[].count): this rank enters what its flow takes */
    /* Dampers: count[TAC_KIND_DAMPING] in all; springs, then triangles, then hinges. */
    struct tac_memory last[TAC_KINDS];       /* by element: strain at the last tick */
    struct tac_spring_damper *spring_damper; /* owned */
    struct tac_cst_damper *cst_damper;       /* owned */
    struct tac_hinge_damper *hinge_damper;   /* owned */
    size_t damped_count;
    tac_lid *damped;               /* owned: as `vertex`, but of the dampers alone, and ours */
    struct tac_load_element *load; /* owned */
    size_t pushed_count;           /* owned vertices that loads push */
    tac_lid *pushed;               /* owned, ascending */
    double *push; /* owned, (pushed_count, 6), scratch of an instant: impulse, N s; velocity before, m/s */
    size_t vertex_count;
    tac_lid *vertex; /* owned: free at some time, and this is the shortest period among its elastic forces and gravity
                        (nested clocks: a class due implies all shorter ones are; free clocks: all vertices of its
                        stencils) */
    size_t held_count[TAC_KINDS];
    tac_lid *held[TAC_KINDS]; /* owned: elements with a vertex that is scripted at some time */
};

struct tac_elastic {
    size_t class_count;
    struct tac_rate_class *rate; /* owned, ascending period */
    double omega_max;            /* largest stiffness bound, rad/s */
    double omega_min;            /* smallest bound of any element, rad/s */
    double *omega;               /* owned, (V): bound at each vertex, rad/s; 0 without elastic forces */
    struct tac_load_times times; /* owned: knots of loads */
    bool damps, flows;           /* does any material of the scene; the same on all ranks */
};

/* Collective. Elements of all bodies with a vertex that is free at some time and one that is ours. TAC_ERR_INPUT if a
 * period falls under 2^12 quanta, naming the element. */
enum tac_err tac_elastic_create(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_elastic **out);
void tac_elastic_destroy(struct tac_elastic **elastic);

/* Local. Ticks every force of one kind of one class: kicks of h dV/dx at the positions pos[].x, which must be those of
 * this instant for all vertices of the stencils. Works are added to the book, if there is one.  Plastic elements are
 * left to tac_plastic_tick(), which comes next. */
void tac_elastic_tick(const struct tac_rate_class *rate, enum tac_kind kind, const struct tac_pos *pos,
                      struct tac_vel *vel, struct tac_book *book);
/* Local. The plastic elements: rest values flow, then they kick.  lost: what the flow takes is added, J, by one rank.
 */
void tac_plastic_tick(const struct tac_rate_class *rate, enum tac_kind kind, const struct tac_pos *pos,
                      struct tac_vel *vel, struct tac_book *book, struct tac_accum *lost);
/* Local. All dampers of one class, likewise. */
void tac_damping_tick(const struct tac_rate_class *rate, const struct tac_pos *pos, struct tac_vel *vel,
                      struct tac_book *book);

/* Local. Impulses h dV/dx of element e on its vertices, (4,3), N s, at x (4,3); the element itself, no kick.  Of a
 * damper, what it would do if it ticked now. */
void tac_elastic_impulse(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, const double x[4][3],
                         double impulse[4][3]);
const tac_lid *tac_elastic_stencil(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, int *count);

/* Local. Potential of element e at x (4,3), J. */
double tac_elastic_potential(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, const double x[4][3]);

/* Is element e one of those that this rank accounts for: is its lowest vertex ours? */
bool tac_elastic_mine(const struct tac_scene *scene, const struct tac_rate_class *rate, enum tac_kind kind, size_t e);

/* Local. A window's start, for all that elements remember, and back to it. */
void tac_memory_save(struct tac_elastic *elastic);
void tac_memory_restore(struct tac_elastic *elastic);

#endif
