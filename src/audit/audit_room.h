/* audit_room.h: declares what the files of the audit share, for this room only.
 *
 *   audit_run.c    finds the scene of the folder, and how its run ended
 *   audit_plan.c   reads the record once, checks it, and cuts its time
 *   audit_tie.c    compares it with the frames, at the ends of its intervals
 *   audit_slab.c   reads a part of the record, and computes every vertex' motion in a slab
 *   audit_pairs.c  finds the pairs that come near in a slab
 *   audit_prove.c  proves one such pair: bounds over parts of the slab, which are halved if the bounds do not suffice,
 *                  and at last over single pieces
 *   audit_near.c   computes the geometry of one pair at one time
 *   audit.c        distributes the slabs to the ranks, and joins the report
 *
 * Rounding.  u is 2^-53, M the largest coordinate of the vertices concerned.  A position between two breakpoints is off
 * by less than 23 u M; TAC_AUDIT_ROUND times M is more than what any bound below can be off by, each stating its sum.
 */
#ifndef TACTUS_AUDIT_AUDIT_ROOM_H
#define TACTUS_AUDIT_AUDIT_ROOM_H

#include "audit/ccd.h"
#include "io/record/record_read.h"
#include "overlap/box_tree.h"
#include <tactus/audit.h>

#define TAC_AUDIT_ROUND 0x1p-46 /* 128 u */

enum { TAC_AUDIT_SLABS = 1024 }; /* of a group, at most */

/* ---- audit_tie.c ---- */

/* The result of comparing one end of a group with its frame.  It holds bytes only, all zero if there is no result. */
struct tac_audit_end_tie {
    int64_t compared, differing, frame;
    double recorded[3], framed[3];
    tac_lid vertex;
    uint8_t missing; /* frames.h5 should have a frame for it, and has none */
};

/* Compares a group with its two frames while its rows are read. */
struct tac_audit_tie_look {
    const struct tac_reader *frames; /* borrowed */
    int64_t place[2];                /* of the two frames in frames->frame; -1: there is none to compare with */
    tac_lid begin[2], end[2];        /* vertices whose positions in them are in x */
    double *x[2];                    /* owned, (TAC_AUDIT_TIE_ROWS, 3) */
};

enum { TAC_AUDIT_TIE_ROWS = 1 << 16 };

enum tac_err tac_audit_tie_make(struct tac_ctx *ctx, const struct tac_reader *frames, tac_lid vertex_count,
                                struct tac_audit_tie_look *look);
void tac_audit_tie_free(struct tac_audit_tie_look *look);
struct tac_audit_group;
/* Local. Finds the two frames of a group, whose times are in `group`; sets group->off and group->end[].missing. */
void tac_audit_tie_begin(struct tac_audit_tie_look *look, const struct tac_recorded *recorded, int64_t g,
                         struct tac_audit_group *group);
/* Local. Compares a vertex that is at x at the group's beginning (0) or end (1). */
enum tac_err tac_audit_tie_row(struct tac_ctx *ctx, struct tac_audit_tie_look *look, int end, tac_lid vertex,
                               const double x[3], struct tac_audit_group *group);

/* ---- audit_plan.c ---- */

/* A group of the record, as the rank that read it sends it to all others.  It holds bytes only, so that a bitwise or
 * with the zeroes of the other ranks joins them. */
struct tac_audit_group {
    tac_time t[2];
    int64_t rows;
    double edge;                               /* mean length of an edge at the group's start, m; 0: there is none */
    int32_t slabs;                             /* a power of two */
    uint8_t round;                             /* some z is not 0 */
    uint8_t portion_ends[TAC_AUDIT_SLABS / 8]; /* bit k: a portion, which is read in one call, ends with slab k */
    unsigned char first[32], last[32];         /* SHA-256 of the positions at the two ends */
    uint8_t off;                               /* it does not go from frame to frame */
    struct tac_audit_end_tie end[2];
};

struct tac_audit_plan {
    int64_t count;
    struct tac_audit_group *group; /* owned, (count): of each group of the record; t[0] == t[1]: not looked at, for
                                      another one covers it */
    int64_t *order;                /* owned, (count): groups by time */
};

/* Collective. Reads everything within options->from_s .. until_s once; TAC_ERR_INPUT for data that are not valid. late:
 * the record begins later than that; it ends earlier. */
enum tac_err tac_audit_plan_make(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_recorded *recorded,
                                 const struct tac_audit_options *options, struct tac_audit_plan *plan, bool late[2]);
void tac_audit_plan_free(struct tac_audit_plan *plan);

/* Local. Returns when slab k of `count` in t[0] .. t[1] begins; k = count: when the last one ends. */
tac_time tac_audit_cut(const tac_time t[2], int64_t k, int64_t count);

/* ---- audit_slab.c ---- */

/* The breakpoints of some slabs, which are read together: for each vertex those within, and one before and one after
 * unless there is one exactly at the end. */
struct tac_audit_portion {
    tac_time t[2];
    size_t capacity[2];
    int64_t *begin; /* owned, (V + 1): rows of each vertex */
    tac_time *time; /* owned */
    double *x;      /* owned, (rows, 3) */
};

enum tac_err tac_audit_portion_read(struct tac_ctx *ctx, struct tac_recorded *recorded, int64_t g, const tac_time t[2],
                                    struct tac_audit_portion *portion);
void tac_audit_portion_free(struct tac_audit_portion *portion);

/* A slab cut into 2^depth cells of time, and those joined two by two, like a heap: node 1 is the whole slab, nodes 2n
 * and 2n + 1 are the halves of node n. */
struct tac_audit_slab {
    tac_time t[2];
    int depth;
    size_t capacity[3];
    double *grid;   /* owned, (V, cells + 1, 3): where it is at the cells' ends */
    double *stray;  /* owned, (V, 2 cells): how far it strays, over a node, from the straight line between the node's
                       ends, rounding included; [0] unused */
    double *box;    /* owned, (V, 6): low and high of its path, rounding included */
    double *large;  /* owned, (V): largest coordinate */
    int64_t *first; /* owned, (V): row of the portion where the slab begins: its last breakpoint that is not later */
};

enum tac_err tac_audit_slab_make(struct tac_ctx *ctx, tac_lid vertex_count, const struct tac_audit_portion *portion,
                                 const tac_time t[2], struct tac_audit_slab *slab);
void tac_audit_slab_free(struct tac_audit_slab *slab);

/* Local. Computes where the vertex is at t, between rows k and k + 1 of the portion; exact at either. */
void tac_audit_at(const struct tac_audit_portion *portion, int64_t k, tac_time t, double x[3]);

/* ---- audit_near.c ---- */

/* Return how many vertices the first primitive of a kind has, and both together. */
static inline int tac_audit_first(int kind)
{
    return kind == TAC_AUDIT_EDGE_EDGE ? 2 : 1;
}
static inline int tac_audit_count(int kind)
{
    return kind <= TAC_AUDIT_EDGE_EDGE ? 4 : kind == TAC_AUDIT_VERTEX_EDGE ? 3 : 2;
}

/* Local. Returns the distance of the two primitives, in floating point. n: the direction (not of unit length) from the
 * second's closest point to the first's. Any direction gives a bound; this one gives the best at that time. */
double tac_audit_near(int kind, const double x[4][3], double n[3]);

/* Local. Returns a lower bound of the distance along n between the first and the second primitive, while the vertices
 * move straight from x0 to x1, less rounding of 75 u M. NaN if n is no direction. */
double tac_audit_along(int kind, const double n[3], const double x0[4][3], const double x1[4][3]);

/* Local. With the vertices moving straight from x0 to x1: how far a vertex stays at least from the plane of its
 * triangle or the line of its edge, an edge's line from the other's; rounding is taken off, that of x0 and x1 is not.
 * Each is a polynomial of time over the length of another, and lies between the least and the largest of its Bernstein
 * coefficients, which differ from it by the square of the part's length.  0 where that tells nothing. */
double tac_audit_turning(int kind, const double x0[4][3], const double x1[4][3]);

/* ---- audit_prove.c, audit_pairs.c ---- */

/* A merged list of the times of a pair's vertices, and where the four are then. */
struct tac_audit_walk {
    size_t capacity[2], count;
    tac_time *t;
    double (*x)[4][3];
};

struct tac_audit_search {
    struct tac_ctx *ctx;
    const struct tac_scene *scene;
    const struct tac_audit_portion *portion;
    const struct tac_audit_slab *slab;
    double quantum_s, watched;
    bool query_all;                  /* bounds are used for the smallest gap only; every piece is queried */
    struct tac_audit_report *report; /* sums go here */
    double best;                     /* smallest gap measured in this slab, at most `watched`, m */
    double bound;                    /* smallest gap that is proven to be kept in this slab, m */
    struct tac_audit_place best_place;
    struct tac_audit_walk walk;
    struct tac_ccd_scratch scratch;
    /* Each vertex and edge is looked at with the first element that has it. */
    uint8_t *mask; /* owned, (T + S): bits 0..2: which vertices; 3..5: which edges (opposite; of a segment: bit 3) */
    tac_lid *segment_edge; /* owned, (S) */
    tac_lid *ignore;       /* owned, (ignore_count, 2): smaller first, sorted */
    size_t ignore_count;
    struct tac_box_item *item; /* owned, (items) */
    size_t item_count;
    double *radius; /* owned, (bodies) */
    double round;   /* of boxes that meet: for all of the slab */
};

struct tac_audit_pair {
    int kind, n;
    tac_lid id[2], v[4];
    double keep;  /* m: distance to be kept */
    double round; /* TAC_AUDIT_ROUND times the largest coordinate */
};

/* Local. Searches all of a slab. */
enum tac_err tac_audit_slab_search(struct tac_audit_search *search);
/* Local. Makes the parts of the search that no slab changes. */
enum tac_err tac_audit_search_make(struct tac_audit_search *search);
void tac_audit_search_free(struct tac_audit_search *search);

/* Local. Proves a pair over the slab, or enters into the report what cannot be proven. */
enum tac_err tac_audit_prove(struct tac_audit_search *search, const struct tac_audit_pair *pair);

/* ---- audit.c ---- */

/* Local. Enters a place into the report's list of the earliest. */
void tac_audit_list(struct tac_audit_report *report, const struct tac_audit_place *place);

#endif
