/* levels.h: declares a level: a coarse matrix that is solved by subdomains and a still coarser matrix.
 *
 * E has blocks of 6x6, one row of them for each subdomain of the level below.  It is kept as a matrix of 3x3 blocks
 * over twice as many nodes, so that the functions for the matrix of a mesh also serve for a level: the cut, the rows of
 * whole subdomains, incomplete factors, and six motions for each subdomain. The two nodes of a subdomain with the name
 * v have ids 2v and 2v + 1, and stay together.
 *
 * tac_level_solve() makes one or two symmetric cycles: smooth, coarse, smooth. The smoother is the inverse of the
 * incomplete factors times omega, which makes it converge.
 *
 * The rows of the first level lie on the ranks that work on its subdomains. The further levels are small, so every rank
 * solves them as a whole.
 */
#ifndef TACTUS_SOLVE_LEVELS_H
#define TACTUS_SOLVE_LEVELS_H

#include "solve/coarse.h"
#include "solve/incomplete.h"

struct tac_level {
    struct tac_ctx *ctx; /* borrowed, or &alone */
    struct tac_ctx alone;
    int cycles;
    struct tac_nodes nodes; /* of the level: views of id and owner */
    tac_gid *id;
    int32_t *owner;
    struct tac_matrix *matrix;
    double *position, *weight; /* owned, (owned, 3), (owned) */
    struct tac_cut cut;
    struct tac_local_system local;
    struct tac_incomplete factor;
    struct tac_coarse coarse;
    double *r, *t, *u, *x; /* owned, (local owned, 4) */
    double *z;             /* owned, (local count, 4) */
};

/* Collective over ctx. If the level is `whole`, local, and all ranks do the same; then an error may be that of one rank
 * only. node: (count), own subdomains by ascending name; block: all of their rows or columns; products: as in
 * struct tac_system. */
enum tac_err tac_level_make(struct tac_ctx *ctx, const struct tac_level_rule *rule, bool whole, size_t count,
                            const struct tac_coarse_node *node, size_t blocks, const struct tac_coarse_block *block,
                            int64_t *products, struct tac_level **out);
void tac_level_destroy(struct tac_level **level);
/* Collective, or local if the level is whole. Computes x = E^-1 b approximately; both (count, 6). */
void tac_level_solve(struct tac_level *level, const double *b, double *x);

/* Neighbours. Computes z = M r by one cycle: z (count, 4); t, u (owned, 4) are work space. */
void tac_cycle(const struct tac_local_system *local, const struct tac_incomplete *factor, struct tac_coarse *coarse,
               const double *r, double *z, double *t, double *u);
/* Collective. Multiplies the factor's inverse by omega, min(1, 1.6 / lambda); lambda: its largest eigenvalue with A, by
 * power steps. z (count, 4), t and u (owned, 4) are work space. Returns omega. */
double tac_damp(const struct tac_ctx *ctx, const struct tac_local_system *local, struct tac_incomplete *factor,
                double *z, double *t, double *u);
/* Local. Divides omega by two, on this and all further levels. To be called when a cycle has not been positive. */
void tac_soften(const struct tac_local_system *local, struct tac_incomplete *factor, struct tac_coarse *coarse);

#endif
