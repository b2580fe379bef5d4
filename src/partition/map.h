/* map.h: maps unknowns to points of surfaces, and back.
 *
 * What moves are *nodes*: three unknowns each, with a velocity.  What touches, and what elements act on, are *points*:
 * vertices of meshes.  A point is a fixed linear combination of nodes, x_j = sum_i W_ji q_i, with weights W that follow
 * from the scene.  So velocities of points are the same combination of velocities of nodes, forces on points go back to
 * nodes by the transpose, and masses of points make the mass matrix W^T m W, three equal copies of one matrix of nodes.
 *
 * Nodes form *blocks*, which share a mass matrix:
 *   a vertex that moves by itself (cloth): one node, weight 1: the identity
 *   an affine body: four nodes, 12 unknowns: q_0 = p and q_1, q_2, q_3 the columns of A in x = A X + p, with X from the
 *   centre of the body's mass at the start; weights (1, X)
 *
 *     struct tac_map *map = NULL;
 *     TAC_TRY(tac_map_create(ctx, vertex_count, x, mass, body_count, body, &map));
 *     tac_map_rest(map, x, q);                    the unknowns at the start
 *     tac_map_positions(map, q, x);               x = W q
 *     tac_map_apply(map, dq_dt, stencil, n, j);   dq_dt += M^-1 W^T j
 *     tac_map_destroy(&map);
 *
 * All vertices of today's scenes are nodes of their own.  For them the loops over forces call tac_map_kick(), which is
 * tac_map_apply() of the identity for one point, inline: nothing is looked up.
 *
 * Source of affine bodies: L. Lan, D. M. Kaufman, M. Li, C. Jiang, Y. Yang, "Affine body dynamics: fast, stable and
 * intersection-free simulation of stiff materials", ACM Transactions on Graphics 41(4), article 67, 2022.
 */
#ifndef TACTUS_PARTITION_MAP_H
#define TACTUS_PARTITION_MAP_H

#include "base/four.h"
#include "base/state.h"
#include <string.h>

enum { TAC_MAP_NODES = 4 }; /* most nodes of a block */

/* Points [begin, end) that move as one affine body. */
struct tac_map_body {
    tac_lid begin, end;
};

struct tac_map_block {
    tac_lid node;    /* its first */
    int32_t nodes;   /* 1 or 4 */
    double mass[16]; /* (nodes, nodes): W^T m W, kg; with X in it also kg m and kg m^2 */
    double inverse[16];
    double centre[3]; /* of an affine body: where X is 0, m */
};

struct tac_map {
    tac_lid point_count, node_count, block_count;
    struct tac_map_block *block; /* owned, (block_count), ascending points and nodes */
    tac_lid *of;                 /* owned, (point_count): the point's block */
    double *weight;              /* owned, (point_count, 4): of the block's nodes; 0 after the last */
};

/* Local. Makes the map. x (n, 3): positions at the start, m; mass (n), kg, above 0; INFINITY for a vertex that is held
 * and in no body; body: ascending, disjoint.  TAC_ERR_INPUT, with the number of the body, if the points of one lie in a
 * plane or nearly (thinner than 1e-6 of its size): then its mass matrix has no inverse that would serve. */
enum tac_err tac_map_create(struct tac_ctx *ctx, tac_lid n, const double *x, const double *mass, tac_lid body_count,
                            const struct tac_map_body *body, struct tac_map **out);
void tac_map_destroy(struct tac_map **map);

/* Local. Computes the unknowns (node_count, 3) of the start x (point_count, 3). */
void tac_map_rest(const struct tac_map *map, const double *x, double *q);
/* Local. Computes x = W q: positions from unknowns, or velocities from their velocities. */
void tac_map_positions(const struct tac_map *map, const double *q, double *x);
/* Local. Computes Q = W^T f: generalised forces (node_count, 3) from forces on all points (point_count, 3). */
void tac_map_transpose(const struct tac_map *map, const double *f, double *force);
/* Local. Computes W^T m W u (node_count, 3): the mass matrix times u. */
void tac_map_mass(const struct tac_map *map, const double *u, double *out);
/* Local. Impulses j (n, 3), N s, on the points of a stencil change the velocities of the unknowns, (node_count, 3):
 * u += M^-1 W^T j.  Returns the kick's work, W^T j . (u before + u after)/2, J. */
double tac_map_apply(const struct tac_map *map, double *u, const tac_lid *stencil, int n, const double (*j)[3]);

/* Local. Does the same for a point that is a node of its own, with the inverse mass in vel->w (0: it is held): v += w
 * j.  j ends with 0.  Returns twice the work by coordinates. */
static inline __attribute__((always_inline)) tac_four tac_map_kick(struct tac_vel *vel, tac_four j)
{
    tac_four v;
    memcpy(&v, vel, sizeof v);
    const double w = vel->w; /* loaded by itself: cheaper than to spread what is in a register */
    const tac_four after = v + (tac_four){w, w, w, w} * j; /* its fourth number: w, as before */
    memcpy(vel, &after, sizeof after);
    return j * (v + after);
}

#endif
