/* subdomains.h: a cut of a matrix' nodes into subdomains that does not know the ranks.
 *
 * Clusters of nodes are merged in pairs, level by level.  In each round every cluster chooses, among the neighbours
 * that it may be merged with, the one it is most strongly coupled to; two that choose each other are a pair
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

/* What is cut: vertices of the graph are nodes, or pairs of nodes one after the other, whose ids are 2v and 2v + 1 (the
 * coarse matrix' blocks of 6x6, solve/levels.h). */
struct tac_cut_rule {
    int64_t most; /* vertices of a subdomain */
    int64_t few;  /* with more subdomains than this, those that are coupled to none are packed together; -1: where the
                     mean has less than a third of `most` */
    bool pairs;
};

/* A subdomain is named by the smallest id of its vertices. */
struct tac_cut {
    tac_lid count;      /* local nodes */
    tac_gid *name;      /* owned, (count), ghosts too: of the node's subdomain; -1: fixed when the cut was made */
    int32_t *rank;      /* owned, (count): that works on it: one that owns many of its nodes */
    int64_t subdomains; /* of all ranks */
    int64_t largest;    /* vertices in the largest one */
};

/* Collective. halo: of system->nodes. fixed: of all local nodes, ghosts too. */
enum tac_err tac_cut_make(struct tac_ctx *ctx, const struct tac_system *system, const uint8_t *fixed,
                          struct tac_nodes_halo *halo, const struct tac_cut_rule *rule, struct tac_cut *cut);
void tac_cut_free(struct tac_cut *cut);
/* Collective. cut->rank, of which the names are known: the rank that has most of a subdomain's rows, unless another
 * has less to do. */
enum tac_err tac_cut_place(struct tac_ctx *ctx, const struct tac_system *system, struct tac_nodes_halo *halo,
                           struct tac_cut *cut);

/* ---- the graph of one level ---- */

struct tac_graph;
/* Collective. Names of the clusters that are left (owned): their ids, or those that they are packed under.  total:
 * vertices of the first level. */
enum tac_err tac_cut_names(struct tac_ctx *ctx, const struct tac_graph *last, int64_t total,
                           const struct tac_cut_rule *rule, tac_gid *name, struct tac_cut *cut);

/* Vertices are clusters; a rank owns some, by ascending id, and knows their neighbours as ghosts. */
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

/* Where the clusters of one level are in the next. */
struct tac_graph_step {
    tac_lid owned;
    tac_gid *id;    /* owned, (owned): of the cluster that it becomes a part of */
    int32_t *owner; /* owned, (owned): that cluster's rank */
};

void tac_graph_free(struct tac_graph *graph);
/* Collective. Pairs of clusters that become one: mate (owned), local or -1. *pairs: on all ranks together, each counted
 * twice. */
enum tac_err tac_graph_match(struct tac_ctx *ctx, const struct tac_graph *graph, int64_t most, tac_lid *mate,
                             int64_t *pairs);
/* Collective. The next level, in *coarse, which is empty; `err`: of the caller's work before. */
enum tac_err tac_graph_contract(struct tac_ctx *ctx, const struct tac_graph *fine, const tac_lid *mate,
                                struct tac_graph_step *step, struct tac_graph *coarse);

#endif
