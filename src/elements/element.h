/* element.h: declares the table of elastic elements, with one entry for each kind (docs/reference/elements.md).
 *
 * An element is an energy V(x) of a few nodes and some numbers made once from the scene (its record).  The program uses
 * an element only through its entry: kicks of the asynchronous integrator, energies, periods, damping, plasticity,
 * checkpoints, reports.  Energy, gradient and Hessian need no clock and no class.
 *
 *     struct tac_element_set set;
 *     TAC_TRY(tac_element_set_create(ctx, scene, &set));
 *     for (int k = 0; k < set.count; k++)
 *         for (size_t e = 0; e < set.list[k].count; e++) {
 *             const tac_lid *v = tac_element_stencil(&set.list[k], e);
 *             ... x: positions of v[0], v[1], ...
 *             tac_element_gradient(set.list[k].element, tac_element_record(&set.list[k], e), NULL, x, gradient);
 *         }
 *     tac_element_set_destroy(&set);
 *
 * To add one: a file with its record, its functions and its entry, and one line in element_table.c.  A host program
 * adds one without touching the library: it puts the entry in ctx->added_elements before it reads the scene.
 */
#ifndef TACTUS_ELEMENTS_ELEMENT_H
#define TACTUS_ELEMENTS_ELEMENT_H

#include "base/state.h"
#include "scene/kind.h"
#include "scene/sections.h"
#include <string.h>
#include <tactus/accum.h>
#include <tactus/scene.h>

enum {
    TAC_ELEMENT_NODES = 4,  /* most nodes of an element: size of arrays for its evaluation */
    TAC_ELEMENT_MEMORY = 6, /* most numbers of a strain: the same for strains */
    TAC_ELEMENT_SIZE = 3 * TAC_ELEMENT_NODES,
    TAC_ELEMENT_HESSIAN = TAC_ELEMENT_SIZE * TAC_ELEMENT_SIZE,
    TAC_ELEMENT_LISTS = TAC_ELEMENTS + 2 /* lists of a set: those of the table, and what an integrator adds */
};

/* Bounds of an element's stiffness at the start. */
struct tac_element_bound {
    double row[TAC_ELEMENT_NODES]; /* for each node i: the sum over all nodes j of |K_ij|, N/m */
    double gradient2;              /* hinges: square of the angle's gradient over all nodes, 1/m^2 */
};

/* The plastic elements of one list, while they tick. */
struct tac_flowing {
    double *rest;           /* (count, width) */
    const double *yield;    /* (count) */
    const uint8_t *mine;    /* (count): this rank enters the energy that the flow takes */
    struct tac_accum *lost; /* J; or NULL */
    double h;               /* s */
};

/* Damping and plasticity, for an element that has them.  A damper has a record of its own, which begins with its
 * nodes. */
struct tac_element_memory {
    bool angle; /* its strain is an angle, which whole turns do not change */
    double (*damping)(const struct tac_material *material); /* s; 0: none */
    double (*yield)(const struct tac_material *material);   /* limit of elastic strain; 0: none */
    /* Computes the strain at x: (width). */
    void (*strain)(const void *record, const double (*x)[3], double *strain);
    /* Returns the largest stiffness over mass of the motions of this element alone at the start, 1/s^2; w: inverse
     * masses of its nodes. */
    double (*rate)(const void *record, const struct tac_element_bound *bound, const double *w);
    size_t damper_size;
    /* slack: the largest stable step of this damping over the damper's period. */
    void (*make_damper)(const void *record, double damping, double slack, const struct tac_element_bound *bound,
                        void *damper);
    /* Computes the impulses of one tick, (nodes, 3), N s; last (width): the strain at the tick before, which becomes
     * that of this one. */
    void (*damp)(const void *damper, double *last, const double (*x)[3], double (*j)[3]);
    void (*tick_dampers)(const void *damper, double *last, size_t count, const struct tac_pos *restrict pos,
                         struct tac_vel *restrict vel, struct tac_book *book);
    /* Computes the rest value of a plastic element at the start, (width), for the strain there; yield: the limit in
     * units of that strain. */
    double (*start)(const void *record, double yield, const double *strain, double *rest);
    void (*tick_plastic)(const void *record, size_t count, const struct tac_flowing *flowing,
                         const struct tac_pos *restrict pos, struct tac_vel *restrict vel, struct tac_book *book);
    /* Returns whether a checkpoint may hold this strain or rest value, which is finite. */
    bool (*sensible)(const double *value);
};

/* The list of the mesh or its topology that elements lie on; it gives their stencils and ids. */
enum tac_stencils { TAC_STENCILS_EDGES, TAC_STENCILS_TRIANGLES, TAC_STENCILS_HINGES, TAC_STENCILS_TETRAHEDRA };
/* The column of energy.csv that the energy goes to. */
enum tac_energy_column { TAC_ENERGY_STRETCH, TAC_ENERGY_BEND };

struct tac_element {
    struct tac_element_keys keys; /* first: its name, and how materials ask for it (tactus/scene.h) */
    const char *noun;             /* in sentences, before its id: "spring of edge" */
    enum tac_stencils stencils;
    enum tac_energy_column column;
    int nodes, width;     /* width: numbers of a strain */
    size_t size;          /* bytes of a record, which begins with `nodes` local ids */
    double cost;          /* of a tick, in ticks of a spring (measured: tests/speed/bench_engine): balances ranks */
    double window_weight; /* of a tick, where windows are measured in the period that most work has */

    /* Makes the record and bounds of the element on nodes v (nodes), from the positions at the start. Returns false if
     * the material has no such element. */
    bool (*make)(const struct tac_scene *scene, const struct tac_material *material, const tac_lid *v, void *record,
                 struct tac_element_bound *bound);
    /* Returns the energy. rest: NULL, or the rest value of a plastic element's strain, (width). x: (nodes, 3), m. */
    double (*energy)(const void *record, const double *rest, const double (*x)[3]); /* J */
    /* Computes -step times dV/dx, (nodes, 3). The forces add up to exactly 0 in the order 1, 2, .., 0. */
    void (*push)(const void *record, const double *rest, double step, const double (*x)[3], double (*j)[3]);
    /* Computes d2V/dx2, (3 nodes, 3 nodes), row by row, N/m; symmetric to the last bit. */
    void (*hessian)(const void *record, const double *rest, const double (*x)[3], double *h);
    /* Computes the matrix that Newton's method uses instead of the Hessian. It is positive semi-definite, and at least
     * as stiff as the Hessian in every direction. NULL: the Hessian without its negative eigenvalues is used.
     */
    void (*convex)(const void *record, const double *rest, const double (*x)[3], double *h);
    /* Kicks by elements without plasticity, in their order; NULL: one at a time by push(). */
    void (*tick)(const void *record, size_t count, double h, const struct tac_pos *restrict pos,
                 struct tac_vel *restrict vel, struct tac_book *book);
    const struct tac_element_memory *memory; /* NULL: neither damped nor plastic */
};

extern const struct tac_element tac_element_spring, tac_element_cst, tac_element_hinge;
extern const struct tac_element tac_element_neo_hookean, tac_element_stvk, tac_element_corotated;
/* Not in the table: the neo-Hookean solid whose energy grows without bound as a tetrahedron loses its volume; for
 * volumes above 0 only.  Implicit steps, which keep volumes above 0, use it instead (docs/reference/implicit.md, Bound
 * of a step). */
extern const struct tac_element tac_element_neo_hookean_whole;

/* Local. Lists the elements of the program's table, then those of ctx->added_elements. Returns their number, at most
 * TAC_ELEMENTS. */
int tac_element_table(const struct tac_ctx *ctx, const struct tac_element *out[TAC_ELEMENTS]);

/* ---- one element, without clocks ---- */

static inline double tac_element_energy(const struct tac_element *element, const void *record, const double *rest,
                                        const double (*x)[3])
{
    return element->energy(record, rest, x);
}

/* Computes dV/dx, N, as a push by the step -1. So an impulse of a step that is a power of two is -step times this to
 * the last bit, and that of any other step up to three roundings. */
static inline void tac_element_gradient(const struct tac_element *element, const void *record, const double *rest,
                                        const double (*x)[3], double (*gradient)[3])
{
    element->push(record, rest, -1, x, gradient);
}

static inline void tac_element_hessian(const struct tac_element *element, const void *record, const double *rest,
                                       const double (*x)[3], double *h)
{
    element->hessian(record, rest, x, h);
}

/* Local. For hessian(): completes h (3 nodes, 3 nodes) from its blocks (i, j) of the nodes 1 <= i <= j: fills in the
 * other half, and the rows and columns of node 0, so that all sums over nodes are zero except for rounding. */
void tac_element_complete(int nodes, double *h);

/* ---- all elements of a scene, without clocks ---- */

struct tac_element_list {
    const struct tac_element *element;
    size_t count;
    void *record;                    /* owned, (count) of element->size bytes, ascending by id */
    struct tac_element_bound *bound; /* owned, (count) */
    tac_gid *id;                     /* owned, (count): edge, triangle, or the hinge's edge */
};

struct tac_element_set {
    int count;
    struct tac_element_list list[TAC_ELEMENT_LISTS]; /* by the order of the table, then those added */
};

/* Local. Makes the elements that have a node that is free at some time and a node of this rank. */
enum tac_err tac_element_set_create(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_element_set *out);
void tac_element_set_destroy(struct tac_element_set *set);
/* Local. Appends a list of elements of a kind that is not in the table to the set, unless no material has the kind.
 */
enum tac_err tac_element_set_add(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_element *element,
                                 struct tac_element_set *set);

static inline const void *tac_element_record(const struct tac_element_list *list, size_t e)
{
    return (const char *)list->record + e * list->element->size;
}

static inline const tac_lid *tac_element_stencil(const struct tac_element_list *list, size_t e)
{
    return tac_element_record(list, e);
}

/* Local. Kicks elements one at a time, by push().  It is used for an entry without tick(). */
void tac_element_tick_each(const struct tac_element *element, const void *record, size_t count, double h,
                           const struct tac_pos *pos, struct tac_vel *vel, struct tac_book *book);

/* Returns the material of a body, or NULL. */
const struct tac_material *tac_material_of(const struct tac_scene *scene, tac_lid body);

#endif
