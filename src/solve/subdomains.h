/* subdomains.h: declares a cut of the nodes of a matrix into subdomains that does not depend on the ranks.
 *
 * Clusters of nodes are merged in pairs, level by level.  In each round every cluster chooses, of the neighbours with
 * which it may be merged, the one with the strongest coupling; two clusters that choose each other are a pair
 * (handshake). Weights are integers, made from the blocks once, and ties are broken by ids: a cluster's id is the
 * smallest of its nodes' ids.  So the result is a function of the matrix and the ids alone.
 *
 *     struct tac_cut cut = {0};
 *     TAC_TRY(tac_cut_make(ctx, &system, fixed, halo, &rule, &cut));
 *     cut.name[i]                                          of local node i, or -1
 *     tac_cut_free(&cut);
 *
 * Sources: levels, Karypis and Kumar 1998; weights over sizes, Holtgrewe et al. 2010; matching by rounds, Catalyurek
 * et al. 2012.
 */
#ifndef TACTUS_SOLVE_SUBDOMAINS_H
#define TACTUS_SOLVE_SUBDOMAINS_H

#include "solve/solver.h"

/* The time that an edge of the graph takes in the cut, in products of a block and a vector. */
enum { TAC_CUT_PRODUCTS = 25 };

/* The rule of a cut. The vertices of the graph are nodes, or pairs of consecutive nodes with ids 2v and 2v + 1 (the
 * blocks of 6x6 of a coarse matrix, solve/levels.h). */
struct tac_cut_rule {
    int64_t most; /* vertices of a subdomain */
    int64_t few;  /* if there are more subdomains than this, those without a coupling are packed together; -1: if their
                     mean size is less than a third of `most` */
    bool pairs;
    int64_t alone; /* a graph of at most so many numbers is gathered, and every rank cuts it alone */
};

/* A subdomain is named by the smallest id of its vertices. */
struct tac_cut {
    tac_lid count;      /* local nodes */
    tac_gid *name;      /* owned, (count), ghosts too: of the node's subdomain; -1: fixed when the cut was made */
    int32_t *rank;      /* owned, (count): the rank that works on it, which owns many of its nodes */
    int64_t subdomains; /* of all ranks */
    int64_t largest;    /* vertices in the largest one */
};

/* Collective. Makes the cut. halo: of system->nodes; NULL: one is made where it is needed. fixed: of all local nodes,
 * also ghosts. */
enum tac_err tac_cut_make(struct tac_ctx *ctx, const struct tac_system *system, const uint8_t *fixed,
                          struct tac_nodes_halo *halo, const struct tac_cut_rule *rule, struct tac_cut *cut);
void tac_cut_free(struct tac_cut *cut);
/* Collective. Sets cut->rank of a cut that has names: the rank that has most of a subdomain's rows, unless another rank
 * has less work. */
enum tac_err tac_cut_place(struct tac_ctx *ctx, const struct tac_system *system, struct tac_nodes_halo *halo,
                           struct tac_cut *cut);

/* ---- the graph of one level ---- */

struct tac_graph;
/* Collective. Cuts a graph, which becomes its last level. name: of its owned vertices (owned by the caller); total: of
 * all vertices. Sets the numbers of *cut. */
enum tac_err tac_graph_cut(struct tac_ctx *ctx, struct tac_graph *graph, int64_t total, const struct tac_cut_rule *rule,
                           tac_gid **name, struct tac_cut *cut);
/* Collective. Makes the names of the clusters at the end (owned): their ids, or the names under which they are packed.
 * total: vertices of the first level. */
enum tac_err tac_cut_names(struct tac_ctx *ctx, const struct tac_graph *last, int64_t total,
                           const struct tac_cut_rule *rule, tac_gid *name, struct tac_cut *cut);

/* Vertices of all ranks, for tac_cut_place_all(). */
struct tac_graph_place {
    size_t count;
    const tac_gid *name;  /* (count): of the subdomain */
    const int32_t *owner; /* (count) */
    const int64_t *work;  /* (count): blocks of its rows */
};
/* Local. Does what tac_cut_place() does, on a rank that knows all vertices: rank (count). */
enum tac_err tac_cut_place_all(struct tac_ctx *ctx, const struct tac_graph_place *g, int32_t *rank);

/* The vertices of the first level on this rank. */
struct tac_graph_start {
    bool pairs;
    tac_lid *vertex; /* owned, (count): of a local node; -1: it has none, or is the second of a pair */
    double *root;  /* owned, (count): root of the stiffness in its softest direction; of pairs: of the largest entry */
    tac_lid *node; /* owned: of a vertex; the first of a pair */
};
/* Local. The largest entry of the block k of row i, or of the four blocks between two pairs, of which it is the first.
 */
double tac_graph_size(const struct tac_graph_start *start, const struct tac_matrix *m, tac_lid i, size_t k);
/* Local. The weight of an edge, from the size of its block and the roots of its two vertices. */
int64_t tac_graph_weigh(bool pairs, double size, double root_i, double root_j);
/* Collective. Cuts alone, if the graph is small (*done): `first` has the vertices of this rank, but no edges yet. Sets
 * name and rank of all local nodes. `err`: the caller's error code so far. */
enum tac_err tac_cut_alone(struct tac_ctx *ctx, enum tac_err err, const struct tac_system *system,
                           const struct tac_graph_start *start, const struct tac_graph *first,
                           const struct tac_cut_rule *rule, struct tac_cut *cut, bool *done);

/* A graph of clusters. A rank owns some of them, by ascending id, and has their neighbours as ghosts. */
struct tac_graph {
    struct tac_nodes nodes; /* id and owner are owned by the graph */
    tac_gid *id;
    int32_t *owner;
    int64_t *size;               /* owned, (count) nodes of the cluster */
    size_t *row;                 /* owned, (nodes.owned + 1) */
    tac_lid *column;             /* owned */
    int64_t *weight;             /* owned */
    struct tac_nodes_halo *halo; /* owned */
};

/* The clusters of the next level that those of one level become a part of. */
struct tac_graph_step {
    tac_lid owned;
    tac_gid *id;    /* owned, (owned): of the cluster that it becomes a part of */
    int32_t *owner; /* owned, (owned): that cluster's rank */
};

/* The cluster that a vertex becomes a part of, as it is sent to neighbours. */
struct tac_graph_part {
    tac_gid id;
    int64_t owner;
};

void tac_graph_free(struct tac_graph *graph);
/* Arrays for finding pairs of clusters to merge. */
struct tac_matching {
    tac_lid *mate, *chosen; /* owned, (owned clusters): local, or -1 */
    uint8_t *taken;         /* owned, (clusters) */
    tac_gid *request;       /* owned, (clusters): id of the cluster that it would be merged with, or -1 */
};

/* Local. */
enum tac_err tac_graph_match_start(struct tac_ctx *ctx, const struct tac_graph *graph, struct tac_matching *m);
void tac_graph_match_end(struct tac_matching *m);
/* Collective. Sets m->mate. Returns the number of pairs on all ranks, each counted twice. */
int64_t tac_graph_match(struct tac_ctx *ctx, const struct tac_graph *graph, int64_t most, struct tac_matching *m);
/* Local. Makes room for the clusters that each one becomes a part of. part: (owned by the caller), of all clusters. */
enum tac_err tac_graph_contract_start(struct tac_ctx *ctx, const struct tac_graph *fine, struct tac_graph_step *step,
                                      struct tac_graph_part **part);
/* Collective. Makes the next level, in *coarse, which is empty; step and part: as tac_graph_contract_start() made
 * them. */
enum tac_err tac_graph_contract(struct tac_ctx *ctx, const struct tac_graph *fine, const tac_lid *mate,
                                struct tac_graph_step *step, struct tac_graph_part *part, struct tac_graph *coarse);

#endif
