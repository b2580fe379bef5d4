/* implicit.h: steps of an implicit integrator whose contacts are barriers (docs/reference/implicit.md).
 *
 * A step minimises an incremental potential: inertia, elasticity, damping, a barrier for every pair of surfaces that is
 * nearer than its thickness, and friction.  Newton's method minimises it, and surfaces never touch: it accepts an
 * iterate only if the surfaces can move there in straight lines without touching.
 *
 * A rank holds its own vertices, and as ghosts the other vertices that its elements and its pairs reach
 * (implicit_ghosts.c). It evaluates the terms that reach a vertex of its own: gradients, rows of the matrix,
 * candidates. The terms of a vertex are added in an order that follows from the scene, and sums over all vertices are
 * exact. So all ranks take the same decisions, and no bit depends on their number.
 *
 * The state at the end of a step consists of positions, velocities, what else the scheme remembers, the places at which
 * scripts caught their vertices, what has yielded, and the sums of the book. Everything else is computed again in the
 * next step.
 *
 *     struct tac_implicit *sim = NULL;
 *     TAC_TRY(tac_implicit_create(ctx, scene, &sim));
 *     while (sim->now < t)
 *         TAC_TRY(tac_implicit_step(sim, t));
 *     tac_implicit_destroy(&sim);
 */
#ifndef TACTUS_IMPLICIT_IMPLICIT_H
#define TACTUS_IMPLICIT_IMPLICIT_H

#include "base/recorder.h"
#include "contact/barrier.h"
#include "contact/model.h"
#include "elements/element.h"
#include "elements/loads.h"
#include "implicit/rigid/rigid_nodes.h"
#include "partition/halo.h"
#include "state/snapshot.h"
#include <tactus/contact.h>

enum { TAC_LOST_FRICTION, TAC_LOST_DAMPING, TAC_LOST_PLASTICITY, TAC_LOST };

#define TAC_GAP_KEPT .2 /* share of a gap, a limit or a volume that every iterate keeps */

struct tac_implicit_plates;
struct tac_implicit_search;
struct tac_implicit_system;

/* A pair that may come near in this step. */
struct tac_implicit_pair {
    uint64_t key;
    tac_lid v[4];
    struct tac_barrier_pair form;
    double friction; /* mu of what does not slide */
    double kinetic;  /* mu of what slides; at most that */
    double share; /* where kappa is adaptive the least kappa that the pair may have, else the factor of the scene's: 1,
                   * or with weights of area `weight` times the volume over which it acts over s^^2 */
    bool counted; /* this rank enters it in sums: it owns the lowest vertex that is free at some time */
};

/* A pair that is nearer than its thickness. */
struct tac_implicit_touch {
    size_t pair; /* place in the list */
    struct tac_barrier_near near;
};

/* A pair with the data that friction uses during a lag (docs/reference/implicit.md, Friction). */
struct tac_sliding {
    uint64_t key;
    enum tac_pair_type type;
    tac_lid v[4];
    double w[4], n[3]; /* of its nearest points at the lag's start */
    double limit;      /* mu lambda h^2, N s^2 */
    bool counted;
};

/* A pair that is not in contact yet, but has stopped the last direction. In the next system it is a parabola of its
 * gap, and the gap is a linear function of positions (foresee.c). */
struct tac_foreseen {
    uint64_t key;
    enum tac_pair_type type;
    tac_lid v[4];
    double at[4][3], gap;        /* where it was stopped, m; its gap there, m */
    double w[4], n[3];           /* of its nearest points there */
    double radius, thickness;    /* m */
    double middle, slope, curve; /* the gap at which the parabola touches the barrier, m; its derivatives there */
    double share;                /* as of its pair */
};

/* The elements of one kind that reach a vertex of this rank, ascending by id. */
struct tac_implicit_elements {
    const struct tac_element *element;
    size_t count;
    uint8_t *counted; /* owned, (count) */
    double *damping;  /* owned, (count): s; 0: none */
    double *at_start; /* owned, (count, width): strain that damping measures from in this step (scheme.c) */
    double *yield;    /* owned, (count): limit of the elastic strain, 0: none; NULL: none has one */
    double *rest;     /* owned, (count, width), state: the rest values of strain, of kinds that yield */
};

/* An element that a wind blows at, in the current step (wind.c). */
struct tac_implicit_wind {
    size_t element;     /* of the loads */
    bool counted;       /* this rank enters it in sums */
    double n[3], drag;  /* its normal; half of drag times area, N s^2/m^2 */
    double speed, from; /* of the air along n, m/s; where its velocity is measured from, m */
};

/* A scripted vertex. */
struct tac_implicit_script {
    tac_lid vertex, motion;
    int32_t row;      /* its place among the motion's vertices */
    bool caught;      /* by a motion that releases */
    bool on;          /* in the last step, and during a step in the current one */
    double origin[3]; /* where its path starts, m */
    double target[3]; /* where this step takes it, m */
    double lambda[3]; /* multiplier of the augmented Lagrangian, m */
    double force[3];  /* state: that held it at the end of the last step, N; 0 where it was not held */
    double mass;      /* kg; for a vertex without mass the mean of the scene */
};

/* The barrier where half of a thickness is left. */
struct tac_half_barrier {
    double radius, thickness; /* m */
    double curvature;         /* its second derivative over kappa, m^2 */
};

/* The pairs of a step, and which of them act. */
struct tac_implicit_contact {
    size_t pair_count, pair_capacity;
    struct tac_implicit_pair *pair; /* owned, ascending by key */
    bool movers_only; /* the list has only pairs in which a vertex of this rank is free at some time; so have the next
                       * ones. The same on all ranks */
    size_t touch_count, touch_capacity;
    struct tac_implicit_touch *touch; /* owned: the pairs that are nearer than their thickness at touch_of, in order */
    const double *touch_of;           /* sim->x or sim->newton.trial; NULL: the list is not valid */
    size_t sliding_count, sliding_capacity;
    struct tac_sliding *sliding; /* owned */
    size_t foreseen_count;
    struct tac_foreseen *foreseen; /* owned: ascending by key */
    double *area;                  /* owned, (count): that vertices stand for, m^2; NULL: pairs have no weights */
    double *stiff;                 /* owned, (count): of vertices, N/m (stiffness.c); NULL: nothing has a thickness */
    struct tac_half_barrier half;  /* of the last pair that was weighed: most have the same radius and thickness */
};

/* Lengths of the scene and the tolerances that follow from them. They are the same on all ranks. */
struct tac_implicit_scale {
    double h, diagonal_m, velocity_tol, force_tol, friction_velocity, mean_mass;
    double radius; /* of the thinnest pair, both together, m */
    double
        size_m; /* the diagonal, or the largest coordinate if that is more: the scale of rounding errors of positions */
};

/* The data of a step that a record gets. */
struct tac_implicit_kept {
    struct tac_recorder *record; /* borrowed; NULL: none */
    double *iterate;             /* owned, (iterates, owned, 3): accepted in this step, while recorded */
    size_t iterates, iterate_capacity;
    tac_time *t; /* owned: when each was, of the parts that are done */
    size_t t_count, t_capacity;
};

/* The part of a step that is being solved: the whole step, or a half of a part that could not be solved. */
struct tac_implicit_part {
    tac_time from, to;
    int level;      /* it is step_s / 2^level long */
    double ahead;   /* how far inertia, gravity, loads and scripts would take a vertex in this part, m */
    bool astray;    /* an iterate went much farther: the part has to be divided into halves */
    bool unsolved;  /* the last error: Newton's method did not converge */
    bool firm;      /* so it was in an earlier part of the step: pairs are at least as stiff as by default */
    bool rounding;  /* it did not converge because of rounding errors */
    int64_t newton; /* iterations */
};

/* External loads. */
struct tac_implicit_given {
    struct tac_loads loads;
    struct tac_load_times load_times;
    size_t wind_count;
    struct tac_implicit_wind *wind; /* owned */
};

/* What a script does with a vertex, also a ghost. */
enum { TAC_SCRIPTED = 1 /* at some time */, TAC_SCRIPT_ON = 2 /* in the last step, and in the current one */ };

/* The scripted vertices. */
struct tac_implicit_scripts {
    size_t script_count;
    struct tac_implicit_script *script; /* owned: of this rank, ascending by vertex */
    int32_t *script_of;                 /* owned, (owned): or -1 */
    uint8_t *led;                       /* owned, (count): of TAC_SCRIPTED, TAC_SCRIPT_ON */
    struct tac_knot_rows *
        *rows;                /* owned, (motions): of a motion that a file has: positions of own vertices; else NULL */
    struct tac_motion_at *at; /* owned, (motions): where each is at the step's end */
};

/* Counters and sums. */
struct tac_implicit_books {
    struct tac_accum lost[TAC_LOST];    /* dissipated by friction, damping, plasticity: this rank's part */
    struct tac_accum work, total_start; /* work: this rank's part */
    bool has_start;
    struct tac_counters counters;
    double elements_s, contacts_s; /* the work of this rank by counts (implicit_balance.c) */
    int64_t bounds;                /* pairs and elements that bounds of steps have examined on this rank */
    int64_t products;              /* the linear solver's work on this rank (struct tac_system) */
};

/* The gradient is the sum of three parts: inertia and wind; elements and dampers; contact and friction. */
enum { TAC_PART_INERTIA, TAC_PART_ELEMENTS, TAC_PART_CONTACT, TAC_GRADIENT_PARTS };

/* Newton's method in the current step. */
struct tac_implicit_newton {
    double *x0;                       /* owned, (count, 3): positions at the start of the step, m */
    double *ahead;                    /* owned, (owned, 3): x^ of inertia, m */
    double *p, *trial;                /* owned, (count, 3) */
    double *gradient;                 /* owned, (owned, 3) */
    double *part[TAC_GRADIENT_PARTS]; /* owned, (owned, 3): of the gradient */
    double *gross;    /* owned, (owned): sum of the sizes of the forces of single elements on a vertex */
    uint8_t *held;    /* owned, (count): 1: Newton's method does not move the vertex */
    uint8_t *solid;   /* owned, (bodies): 1: the body consists of tetrahedra */
    uint8_t *presses; /* owned, (bodies): 1: a motion moves the whole body, like a die or a plate of a press, or it is
                       * a solid on which forces or pressures act */
    bool any_driven, any_presses; /* there is a body of the first sort; of either sort */
    double kappa, pull; /* of the barrier, unless a pair needs more; of the augmented Lagrangian (0: not in use) */
    double stiffer;     /* factor of kappa in the current step: 1 at its start (stiffness.c) */
    double least_gap, start_gap; /* at the last iterate; at the start of the step, m; INFINITY: no contact */
    bool rests;                  /* its first direction showed that nothing moves */
    double slope;                /* of the potential along p, at the point where p was computed */
    double rounding;             /* change of the potential there by rounding of positions */
};

struct tac_implicit {
    struct tac_ctx *ctx;
    struct tac_scene *scene; /* borrowed: the whole scene on one rank, else this rank's part of it */
    struct tac_halo *halo;   /* owned; NULL on one rank */
    /* Numbers of vertices: owned; with the ghosts of elements; with the ghosts of contacts, some of which are
     * unused. */
    tac_lid owned, meshed, count;
    tac_gid *id;             /* owned, (owned): ascending; NULL on one rank */
    struct tac_model *model; /* owned */
    struct tac_element_set set;
    struct tac_implicit_elements list[TAC_ELEMENT_LISTS];
    struct tac_implicit_given given;

    /* lengths of the scene and the tolerances that follow from them; the same on all ranks */
    struct tac_implicit_scale scale;

    bool is_static; /* no inertia: time is a load parameter (scheme.c) */
    const double
        *inertia; /* (owned): mass in the potential, kg: of the mesh, borrowed; static scheme: owned (static.c) */

    /* Of the scheme in the current step (scheme.c). weight: displacement = weight times acceleration at the end of the
     * step, s^2. rate: a rate of strain is `rate` times the difference between the strain and the strain that damping
     * measures from, 1/s. */
    double weight, rate;

    /* state */
    tac_time now;
    int64_t step;    /* the step that ended at `now`, or the last whole step while parts of the next one are solved */
    int64_t level;   /* the last step, or its last part, was step_s / 2^level long */
    double *x, *v;   /* owned, (count, 3): m, m/s; static scheme: the last increment over the step */
    double *past;    /* owned, (meshed, TAC_PAST_NUMBERS): what else the scheme remembers; NULL: nothing */
    double *own_v;   /* owned by `v` on one rank, else (owned, 3): velocities in the order of `id` */
    double *impulse; /* owned, (owned, 3): of contact, since it was last set to 0, N s */
    struct tac_implicit_scripts scripts;
    struct tac_implicit_rigid rigid; /* its x, v and past are state */
    struct tac_implicit_books books;

    struct tac_pos *flow_pos; /* owned, (meshed): work space where elements yield; else NULL */
    struct tac_vel *flow_vel; /* owned, likewise */

    int halved; /* steps that were solved in parts so far: only the first ones are reported */

    /* of the current step */
    struct tac_implicit_part part;
    struct tac_implicit_newton newton;
    struct tac_implicit_contact contact;
    struct tac_implicit_search *search; /* owned */
    struct tac_implicit_plates *plates; /* owned; NULL: every rank has all pairs of its vertices (implicit_plates.h) */
    struct tac_implicit_system *system; /* owned */
    struct {
        int64_t parts;                    /* number of parts in which it was solved */
        bool unsolved;                    /* Newton's method did not converge in a part of it */
        int64_t newton, linear, contacts; /* iterations; pairs that are nearer than their thickness at the end */
        double least_share, residual_speed,
            least_gap;            /* share of p that contact allowed; the last |p|/h, m/s; m, NaN: no contact */
        double lag_residual;      /* tac_implicit_lag_residual() */
        double residual;          /* tac_implicit_residual() */
        double kappa;             /* the largest kappa of a pair that acts; newton.kappa if none acts */
        double wall_s, part_s[3]; /* in total; for candidates and bounds, forces, linear systems */
    } last_step;                  /* of the last step */

    struct tac_implicit_kept kept;
};

/* ---- life: implicit_create.c ---- */

/* Collective. Creates the simulation at t = 0. */
enum tac_err tac_implicit_create(struct tac_ctx *ctx, struct tac_scene *scene, struct tac_implicit **out);
void tac_implicit_destroy(struct tac_implicit **sim);

/* ---- steps: step.c ---- */

/* Collective. Goes on to the end of the next step, or to `limit` where the two differ by rounding only. TAC_ERR_RUN:
 * Newton's method does not converge; `now` has not changed. */
enum tac_err tac_implicit_step(struct tac_implicit *sim, tac_time limit);
/* Local. Returns the time at which step k ends. */
tac_time tac_implicit_step_time(const struct tac_implicit *sim, int64_t k);

/* ---- the book: book.c ---- */

/* Collective. */
enum tac_err tac_implicit_energy(struct tac_implicit *sim, struct tac_energy_row *row);
enum tac_err tac_implicit_contacts(struct tac_implicit *sim, struct tac_contact **out, size_t *count);
enum tac_err tac_implicit_counters(const struct tac_implicit *sim, struct tac_counters *sum);

/* ---- checkpoints: implicit_state.c ---- */

/* Collective. */
enum tac_err tac_implicit_state_out(struct tac_implicit *sim, struct tac_checkpoint **out);
enum tac_err tac_implicit_state_in(struct tac_implicit *sim, const struct tac_checkpoint *in);

/* ---- reading ---- */

/* Returns the global id of a vertex. */
static inline tac_gid tac_implicit_id(const struct tac_implicit *sim, tac_lid v)
{
    return tac_scene_id(sim->scene, v);
}

/* Returns the rigid body that moves a vertex, also a ghost: its place among those of the scene, or -1. Points of the
 * world, to which joints tie a body, stand among its vertices and never move. */
static inline int32_t tac_implicit_rigid_of(const struct tac_implicit *sim, tac_lid v)
{
    return sim->rigid.count == 0 || !sim->scene->mesh->ever_free[v] ? -1 : tac_scene_rigid_of(sim->scene, v);
}

/* Goes over the elements that reach a vertex of this rank, kind by kind, by ascending ids:
 *
 *     for (struct tac_implicit_walk w = {0}; tac_implicit_next(sim, &w);)
 *         ... w.list->damping[w.e] ...
 */
struct tac_implicit_walk {
    int kind;
    size_t next;
    const struct tac_implicit_elements *list;
    size_t e; /* in list */
    const void *record;
    const tac_lid *v; /* its nodes, which come first in the record */
    int nodes;
    double *from; /* (width): of list->at_start */
};
static inline bool tac_implicit_next(const struct tac_implicit *sim, struct tac_implicit_walk *w)
{
    while (w->kind < sim->set.count && w->next == sim->list[w->kind].count) {
        w->kind++;
        w->next = 0;
    }
    if (w->kind == sim->set.count)
        return false;
    w->list = &sim->list[w->kind];
    w->e = w->next++;
    w->v = tac_element_stencil(&sim->set.list[w->kind], w->e);
    w->record = w->v;
    w->nodes = w->list->element->nodes;
    w->from = &w->list->at_start[w->e * (size_t)w->list->element->width];
    return true;
}
/* Returns the rest value of the strain of element e; NULL: the element does not yield. */
static inline const double *tac_implicit_rest(const struct tac_implicit_elements *l, size_t e)
{
    return l->yield != NULL && l->yield[e] > 0 ? &l->rest[e * (size_t)l->element->width] : NULL;
}

#endif
