/* model.h: the model of penalty layers: an infinite stack of layers between every pair of primitives, of which only
 * those that are needed are computed.
 *
 * The model owns tables that depend on the scene alone: eta(l)/eta(1), r(l)/r(1) and their running sum.  A pair's own
 * parameters (thickness, radius, period of its layers) follow from the start positions and masses, so they can be
 * computed again at any time. Nothing needs to be stored for a pair that is not in contact (docs/explanation/method.md,
 * Penalty layers).
 *
 * Consecutive layers of a pair with the same period are one *layer group*: they tick together, with one kick, which is
 * their sum in the order of the layers.  With nested clocks h(l) ~ l^-2 is cut to powers of two, so the thousand layers
 * of a pair are some twenty layer groups.
 *
 *     struct tac_form form;
 *     tac_model_form(model, TAC_PAIR_VERTEX_TRIANGLE, v, &form);
 *     int l = 1, last; tac_time period = tac_model_layer_group(model, &form, l, &last);      layers 1..last tick every
 * period
 */
#ifndef TACTUS_CONTACT_MODEL_H
#define TACTUS_CONTACT_MODEL_H

#include "geometry/closest_points.h"
#include "partition/part.h"
#include "partition/role.h"
#include <tactus/math.h>
#include <tactus/scene.h>

struct tac_model {
    const struct tac_scene *scene; /* borrowed */
    int32_t layer_count;           /* layers 1 .. layer_count are in the tables */
    double *reach;                 /* owned, [l] = eta(l)/eta(1) = l^-a; [0] unused */
    double *rate;                  /* owned, [l] = r(l)/r(1) = l^b */
    double *sum;                   /* owned, [l] = sum of rate up to l */
    double *w_ever;                /* owned, (V): inverse of the mass while free, 0 if never free */
    tac_lid *valence;              /* owned, (V): edges at the vertex */
    uint8_t *particle;             /* owned, (V): 1 if the vertex' body has no elements */
    uint8_t *role;                 /* owned, (V): enum tac_role */
    bool whole;          /* the thickness of a pair is not less where it starts near: of the integrator for impact */
    bool omit_immovable; /* a rank whose vertices of a pair never move takes no part in it (docs/reference/ranks.md) */
    uint8_t *ignored;    /* owned, (bodies, bodies) or NULL: pairs of bodies that may pass */
    struct tac_law *law; /* owned, as many and in the order of scene->contact.law; then that of limits of stretch,
                            and those of joints */
    bool friction;       /* some law has friction */
    bool limits;         /* some edges or triangles have a limit, or there are joints */
    bool wide;           /* some triangles have */
    double h1_min_s, h1_max_s; /* bounds of h(1) over all pairs that can be */
    double first_s;            /* as h1_min_s, of pairs of surfaces alone; INFINITY: there are none */
};

/* The contact law of two materials, as the engine needs it. */
struct tac_law {
    double stiffness;         /* r(1), N/m */
    double e2;                /* restitution squared: factor of the stiffness while separating */
    double friction;          /* mu of what does not slide */
    double kinetic;           /* mu of what slides; at most that */
    double rolling, twisting; /* of grains that roll: torque over radius and normal force */
    double zeta;  /* damping ratio of a linear bounce with this restitution (docs/explanation/method.md, Friction) */
    double pairs; /* N_c of two valence-6 vertices */
};

/* A pair's own parameters. */
struct tac_form {
    double thickness;          /* eta(1) of this pair, m */
    double radius;             /* r_a + r_b, shrunk where a mesh is finer, m */
    double stiffness;          /* r(1), N/m */
    const struct tac_law *law; /* borrowed from the model */
    double h_s;                /* bound of h(1) before rounding to a clock, s */
    int32_t bottom;            /* L: deepest layer that exists */
};

/* Collective. Makes the model. Returns TAC_ERR_INPUT if the first layer of some pair needs a period under 2^12 quanta.
 */
enum tac_err tac_model_create(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_model **out);
void tac_model_destroy(struct tac_model **model);
/* Local. Enters the arrays of the model that have an entry for each vertex into a halo. */
struct tac_halo;
void tac_model_grows(struct tac_model *model, struct tac_halo *halo);
/* Local. Fills them for a new ghost. */
struct tac_ghost;
void tac_model_add_ghost(struct tac_model *model, tac_lid v, const struct tac_ghost *ghost);

/* Do the vertices v, in the order of closest_points.h, form a contact pair? They do not if the primitives have a common
 * vertex, if no vertex can ever be free, if the bodies may pass through each other, if a body has no self contact, or
 * if a flat part of a surface does not need it (flat.h). */
bool tac_model_is_pair(const struct tac_model *model, enum tac_pair_type type, const tac_lid *v);

/* How a primitive with vertex a and one with vertex b touch. */
const struct tac_law *tac_model_law(const struct tac_model *model, tac_lid a, tac_lid b);

/* Computes a pair's parameters from the start positions (docs/explanation/method.md, Penalty layers). */
void tac_model_form(const struct tac_model *model, enum tac_pair_type type, const tac_lid *v, struct tac_form *form);

/* Computes only radius and thickness, for a contact (not a limit) of a primitive with vertex a and one with vertex b.
 * The distance of the primitives at the start is `start`, m. */
void tac_model_thickness(const struct tac_model *model, tac_lid a, tac_lid b, double start, struct tac_form *form);
/* Does the same for the pair v; returns its distance at the start, m. */
double tac_model_first(const struct tac_model *model, enum tac_pair_type type, const tac_lid *v, struct tac_form *form);

/* Does the edge have a limit of this type? Edges of triangles may not become too long; segments may not become too long
 * or too short. So only segments have the second type (docs/explanation/method.md, Limits of stretch). */
bool tac_model_limits(const struct tac_model *model, enum tac_pair_type type, tac_lid edge);

/* Does a local triangle have a limit of its principal stretch? v: its vertices in the order of closest_points.h, which
 * follows from the start positions alone. */
bool tac_model_limits_triangle(const struct tac_model *model, tac_lid triangle, tac_lid v[3]);

/* Computes the shape at rest of the triangle v (3), in the order of closest_points.h: the position of its third vertex
 * along the first edge and its height, both divided by the edge's length; then the height, m. */
void tac_model_rest(const struct tac_model *model, const tac_lid *v, double rest[3]);

/* Fills the row of x that the distance of a pair needs besides the positions of its vertices: the fourth one of a
 * triangle's limit. */
static inline void tac_model_gather(const struct tac_model *model, enum tac_pair_type type, const tac_lid *v,
                                    double x[4][3])
{
    if (type == TAC_PAIR_WIDE)
        tac_model_rest(model, v, x[3]);
}

/* Does this vertex never move? */
static inline bool tac_model_is_immovable(const struct tac_model *model, tac_lid v)
{
    return model->role[v] == TAC_ROLE_IMMOVABLE;
}

/* Does the owner of this vertex evaluate the pairs that the vertex is in? */
static inline bool tac_model_takes_part(const struct tac_model *model, tac_lid v)
{
    return !(model->omit_immovable && tac_model_is_immovable(model, v));
}

/* Returns the first of n vertices of a pair that can move. Every pair has one. */
static inline tac_lid tac_model_mover(const struct tac_model *model, const tac_lid *v, int n)
{
    int k = 0;
    while (k + 1 < n && tac_model_is_immovable(model, v[k]))
        k++;
    return v[k];
}

/* Returns the vertex whose owner decides about the pair. Two edges, and two particles, are found by every owner of
 * their vertices; for these a hash selects the vertex. The first vertex would not do: its owner is nearly always the
 * rank with the lower ids, which would then get nearly all candidates. */
static inline tac_lid tac_model_decider(const struct tac_model *model, enum tac_pair_type type, const tac_lid *v)
{
    const int n = tac_pair_vertices(type);
    const tac_lid owned = tac_scene_owned(model->scene);
    bool ours = true;
    if (!model->omit_immovable)
        return v[0];
    for (int k = 0; k < n; k++)
        ours = ours && v[k] < owned;
    if (ours || (type != TAC_PAIR_EDGE_EDGE && type != TAC_PAIR_VERTEX_VERTEX))
        return tac_model_mover(model, v, n);
    uint64_t hash = 0;
    for (int k = 0; k < n; k++)
        hash = tac_hash64(hash, (uint64_t)tac_scene_id(model->scene, v[k]));
    tac_lid turned[4];
    for (int k = 0; k < n; k++)
        turned[k] = v[(hash + (uint64_t)k) % (uint64_t)n];
    return tac_model_mover(model, turned, n);
}

/* Returns the period, in quanta, of the layer group that begins with layer `first`; *last: its last layer. Requires
 * first <= form->bottom. */
tac_time tac_model_layer_group(const struct tac_model *model, const struct tac_form *form, int32_t first,
                               int32_t *last);
/* Returns the period, in quanta, of the layer group that contains `layer`; *first: its first layer. */
tac_time tac_model_group_of(const struct tac_model *model, const struct tac_form *form, int32_t layer, int32_t *first);

/* Returns the distance of the primitives (radius included), m, under which layer l acts; l may be bottom + 1, the end
 * of the layer stack. */
static inline double tac_model_reach(const struct tac_model *model, const struct tac_form *form, int32_t l)
{
    return form->radius + form->thickness * model->reach[l];
}

/* Force keys of pairs (io/checkpoint/checkpoint_read_rows.c knows how many vertices each has): type, then the ids of
 * the two primitives, the first one first.  Ids are under 2^29, so the types of limits fit behind that of two vertices,
 * and those of joints behind that of a vertex and a triangle; the primitives of a triangle's limit are 0 and the
 * triangle, those of a slider's its point and the first end of its segment, whose id the other end's follows. */
enum { TAC_KEY_JOINT = 1, TAC_KEY_SLIDE = 2 };
static inline uint64_t tac_pair_key(enum tac_pair_type type, tac_lid a, tac_lid b)
{
    const uint64_t kind = type == TAC_PAIR_JOINT          ? TAC_KEY_JOINT
                          : type == TAC_PAIR_SLIDE        ? TAC_KEY_SLIDE
                          : type < TAC_PAIR_VERTEX_VERTEX ? (uint64_t)type << 2
                                                          : 8 + (uint64_t)type + 1;
    return kind << 60 | (uint64_t)(uint32_t)a << 31 | (uint64_t)(uint32_t)b;
}
static inline enum tac_pair_type tac_key_type(uint64_t key)
{
    const uint64_t kind = key >> 60;
    if (kind == TAC_KEY_JOINT)
        return TAC_PAIR_JOINT;
    if (kind == TAC_KEY_SLIDE)
        return TAC_PAIR_SLIDE;
    return (enum tac_pair_type)(kind < 12 ? kind >> 2 : kind - 9);
}
/* Finds the vertices of a pair in a scene that is whole on this rank (up to 4, -1 where unused); those of a triangle's
 * limit are in the scene's order. */
void tac_key_vertices(const struct tac_scene *scene, uint64_t key, tac_lid v[4]);
/* Writes a text like "vertex 3 of body `a` and triangle 12 of body `b`", with ids within the body; v: global ids of the
 * pair's vertices. */
void tac_key_describe(const struct tac_scene *scene, uint64_t key, const tac_gid v[4], char *text, size_t size);

#endif
