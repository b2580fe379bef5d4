/* candidates.h: the list of candidates: the pairs that may touch within some time to come.
 *
 * Each vertex has a trajectory bound for the lifetime of the list: it stays within `radius` of a point that moves with
 * constant velocity. The list contains every pair whose distance may come under its first layer while all vertices stay
 * in their trajectory bounds, with the earliest time at which this can happen. A vertex that leaves its trajectory
 * bound (a *leaver*) gets a new one, and the list is repaired; if there are many leavers, a new list is built instead.
 */
#ifndef TACTUS_BROADPHASE_CANDIDATES_H
#define TACTUS_BROADPHASE_CANDIDATES_H

#include "base/descent.h"
#include "base/single.h"
#include "broadphase/view.h"
#include "geometry/tree.h"
#include "partition/halo.h"

/* The cost of a look at a candidate, after a window and ahead, in tests of boxes (25 ns). */
enum { TAC_LOOK_COST = 5 };

/* An entry of the list; its vertices are in its slack. It is half a cache line long, because in large scenes there are
 * more of these records than of any others. Lengths are in single precision, rounded to the side on which more pairs
 * are looked at. */
struct tac_candidate {
    uint64_t key;
    int32_t slot; /* active pair, or -1 */
    uint8_t type, count, first;
    uint8_t acted; /* its pair acted in the current pass and became no deeper, so nothing has to be done ahead */
    float d;       /* lower bound of the distance at view->state->now, m */
    float next;    /* distance under which the first inactive layer is reached, or a little more, m */
    float change;  /* bound of the change of the distance over the current pass, m; until the list is sorted: the share
                      of the lifetime before which the pair cannot touch */
    float tolerance; /* m */
};
_Static_assert(sizeof(struct tac_candidate) == 32, "half a line of a candidate");

/* Fetches a candidate, which may lie on two cache lines, into the cache. Always inline, as tac_pair_fetch() is. */
static inline __attribute__((always_inline)) void tac_candidate_fetch(const struct tac_candidate *q)
{
    __builtin_prefetch(q, 1);
    __builtin_prefetch(&q->tolerance, 1);
}

/* Returns a lower bound of its distance at the end of the current pass, m. */
static inline double tac_candidate_end(const struct tac_candidate *q)
{
    const double least = tac_pair_least((enum tac_pair_type)q->type), left = (double)q->d - q->change;
    return left > least ? left : least;
}

/* The vertices of a candidate, and, if it is not active, the slack that is left until it must be looked at. Most
 * windows read only this record (events/windows/slack.c). */
struct tac_slack {
    tac_lid v[4];     /* for two edges the first one is stored as ~v[0]; unused ones repeat the last one */
    float start, end; /* slack at the start and the end of the current window, m, rounded down; -infinity: it must be
                         looked at */
};

/* Gets the vertices of an entry; unused ones are -1. */
static inline void tac_slack_vertices(const struct tac_slack *s, const struct tac_candidate *q, tac_lid v[4])
{
    v[0] = s->v[0] < 0 ? ~s->v[0] : s->v[0];
    for (int i = 1; i < 4; i++)
        v[i] = i < q->count ? s->v[i] : -1;
}

/* The slacks of all entries of the list. */
struct tac_slacks {
    size_t capacity;
    struct tac_slack *of; /* owned */
    double factor;        /* a slack must be larger than this times a window's change of distance (slack.c) */
    bool committed;       /* the current window begins at `end` */
};

/* A pair that a search has found. */
struct tac_found_pair {
    enum tac_pair_type type;
    tac_lid id[2], v[4];      /* ids of its primitives, as in its key; its vertices, in the order of distance.h */
    double radius, thickness; /* m */
    double d;    /* distance of the centres of its trajectory bounds at the time from which these are searched, m */
    double wait; /* share of the rest of the lifetime before which the pair cannot come near; not a number if a position
                    is not */
};
/* Receives one found pair. It fails only if there is no memory. */
typedef enum tac_err tac_take_pair(void *context, const struct tac_found_pair *pair);

/* The pairs that a search has found, as entries of a list; all of them must be looked at. */
struct tac_found {
    size_t capacity, slack_capacity;
    struct tac_candidate *of; /* owned */
    struct tac_slack *slack;  /* owned */
};

/* How a vertex moved in the current pass: its path stays within `deviation` of the chord x .. x + u, and its velocity
 * within `speed` (m/s) of the chord's. */
struct tac_move {
    double u[3], deviation;
    double speed; /* infinity: not known */
    bool near;    /* keeps breakpoints */
};

/* A primitive, which is a leaf of a tree: a triangle, segment or particle. It stands for some of its vertices and
 * edges, so that each vertex and edge has exactly one leaf. Ids are global.
 */
struct tac_primitive {
    tac_lid v[3];
    tac_lid id;       /* triangle, segment, or vertex */
    uint8_t count;    /* vertices: 3, 2, 1 */
    uint8_t vertices; /* bit k: stands for v[k] */
    uint8_t edges;    /* bit k: stands for edge[k] */
    uint8_t inner;    /* 1: this rank owns all its vertices */
    uint8_t mover;    /* 1: this rank owns a vertex of it that is free at some time */
    tac_lid edge[3];
    tac_lid body;
    tac_lid piece; /* its place among the rigid ones, or -1 */
};

/* A box that contains something while the trajectory bounds hold. */
struct tac_box {
    double lo[3], hi[3];
};

struct tac_path_bound {
    double x[3], v[3]; /* centre at the list's start, velocity */
    double radius;     /* m */
    double offset;     /* distance from the centre at view->state->now */
};

/* Several ranks: the primitives of other ranks that those of this rank may touch while the trajectory bounds hold. */
struct tac_remote_primitives {
    size_t count, capacity;
    struct tac_primitive *primitive; /* owned, by body */
    int32_t *begin;                  /* owned, (bodies + 1) */
    struct tac_tree **tree;          /* owned, (bodies) */
    int32_t *group;   /* owned, one per primitive of this rank: the published box that contains it; -1: none */
    int boxes, above; /* number of boxes that a rank publishes: a power of 8; number of boxes around 8 of them, 64 of
                         them, ... */
    struct tac_box
        *mine; /* owned, (boxes): the boxes that this rank has published, around its primitives that can move */
    struct tac_box *around_mine; /* owned, (above): the box around all of them, those around each eighth, ... */
    struct tac_box immovable;    /* around this rank's primitives without a published box */
    struct tac_box *whole;       /* owned, (ranks, 2): around the published ones of each rank, and `immovable` */
    bool alone;                  /* no other rank has primitives */
    char *growth;                /* owned: message buffer for the boxes of all ranks that grow (remote_grown.c) */
    size_t near_count, near_capacity, sent_capacity, published_capacity, around_capacity;
    int32_t *near;     /* owned, ascending: the near ranks: other ranks whose whole boxes meet those of this rank */
    MPI_Request *sent; /* owned, (near): of messages to them that have been posted and not completed */
    struct tac_box *published; /* owned, (near, boxes): as `mine`, of each of them */
    struct tac_box *around;    /* owned, (near, above) */
    uint8_t *marked;           /* owned, one per remote primitive: in a repair, 1: it has a leaver */
    size_t marked_capacity;
    uint8_t *mover; /* owned, (bodies): 1: some of this rank's primitives of the body are movers */
    bool fresh;     /* some are new: the trees must be built */
    /* work for other ranks since the last list or repair: primitives that were looked at, and tests against published
     * boxes */
    int64_t looked, tests;
};

/* Repairs of a list (candidates_repair.c). */
struct tac_candidates_repair {
    size_t leaver_count, leaver_most; /* over leaver_most: there are too many, and not all are listed */
    tac_lid *leaver;                  /* owned, (leaver_most): vertices that left their trajectory bounds */
    size_t heard_count, heard_capacity;
    tac_lid *heard;         /* owned: leavers that belong to other ranks */
    uint8_t *left;          /* owned, (V): 1: the vertex is a leaver; all 0 between repairs */
    uint8_t *marked;        /* owned, one per primitive: 1: one of its vertices is a leaver */
    struct tac_found fresh; /* the pairs that a repair finds */
    size_t fresh_count;
};

/* The cost of lists so far, in tests of boxes. */
struct tac_candidates_cost {
    int64_t build, repair; /* of the present list, and of its repairs */
    int64_t looks;         /* at its candidates, over all windows of its life */
    int64_t spent;         /* by all lists and repairs so far */
};

/* The bodies sorted along x. */
struct tac_sorted_bodies {
    int32_t *order; /* owned, (bodies): by lower end of their root's sweep along x */
    double *sweep;  /* owned, (bodies, 2) */
};

struct tac_candidates {
    struct tac_halo *halo;             /* borrowed; NULL: one rank */
    struct tac_move *move;             /* owned, (V): of the current pass */
    double *x;                         /* owned, (V, 3): positions at the window's start */
    struct tac_path_bound *path_bound; /* owned, (V) */
    tac_time start, end;               /* the list's lifetime; end <= start: there is no list */
    tac_time horizon;                  /* wanted lifetime, quanta */
    struct tac_descent descent;        /* of `horizon` */
    double skin;                       /* usual radius of a trajectory bound, m */
    double edge;                       /* mean length of the edges that can move, m; 0: there is none */
    bool fine;                         /* edges are not much longer than the thickness */
    double farthest; /* m; beyond this coordinate, rounding is so large that neighbours cannot be distinguished */
    double extent;   /* largest coordinate, m */

    bool crossing; /* pairs of inner primitives are not listed, because kinetic structures prove them silent */
    size_t known;  /* the first `known` entries have an up-to-date d; the d of the others is that of the list's start */
    size_t count, capacity;
    struct tac_candidate *list; /* owned; sorted by time slice of the first possible contact */
    struct tac_slacks slack;
    struct tac_found found; /* entries before they are sorted */
    size_t slice_end[17];   /* the entries before slice_end[k] may touch before start + (k + 1)/16 of the lifetime */

    struct tac_candidates_repair repair;
    struct tac_candidates_cost cost;

    int32_t body_count;
    struct tac_tree **tree;          /* owned, one per body */
    struct tac_patches **patches;    /* owned, one per body; NULL: it has none */
    struct tac_primitive *primitive; /* owned, all bodies */
    int32_t *primitive_begin;        /* owned, (bodies + 1) */
    uint8_t *taken;                  /* owned, (vertices of the local mesh): 1: a primitive stands for the vertex */
    int32_t *scratch;                /* owned */
    size_t scratch_capacity;
    double *frame;      /* owned, (bodies, 3): velocity of each body's frame */
    uint8_t *immovable; /* owned, (bodies): 1: the body never moves */
    uint8_t *bordered;  /* owned, (bodies): 1: some of its primitives here are not inner */
    struct tac_sorted_bodies sorted;
    struct tac_remote_primitives remote;
    int64_t builds;
    tac_time span; /* lifetime of the list that is being built, quanta; span_s: in s */
    double span_s;
    double from_s; /* the search considers the trajectory bounds from this time on, s after the start */
};

/* The motion of a vertex over the window, as sent in messages. */
struct tac_move_message {
    double x[3], u[3], deviation, speed;
    int64_t near;
};
/* Local. Copy the motion of vertex v out of the list's arrays, and into them. */
void tac_move_put(const struct tac_candidates *c, tac_lid v, struct tac_move_message *m);
void tac_move_get(struct tac_candidates *c, tac_lid v, const struct tac_move_message *m);
/* Neighbours. Sends the motions of the vertices to which other ranks have subscribed, and puts those that it receives
 * into view->candidates. */
void tac_moves_exchange(struct tac_view *view);

/* Collective; local on one rank. Makes the arrays and trees, without a list. */
enum tac_err tac_candidates_create(struct tac_view *view, struct tac_candidates **out);
/* Local. Makes the primitives of each body from the scene. */
enum tac_err tac_candidates_primitives(struct tac_view *view, struct tac_candidates *c);
/* Collective; local on one rank. Computes the skin, and finds the bodies that never move. */
enum tac_err tac_candidates_measure(struct tac_view *view, struct tac_candidates *c);
void tac_candidates_destroy(struct tac_candidates **candidates);
/* Collective; local on one rank. Builds a new list for `lifetime` quanta from view->state->now on, with trajectory
 * bounds along move[], which is the motion over the pass of `window` quanta. */
enum tac_err tac_candidates_build(struct tac_view *view, struct tac_candidates *c, tac_time window, tac_time lifetime);
/* Collective; local on one rank. Chooses the lifetime of the next list (c->horizon) from the cost per time of lists of
 * the present lifetime. The current window began at `start`; everything before `reached` was run; `length`: of
 * windows, quanta. */
enum tac_err tac_candidates_horizon(struct tac_view *view, struct tac_candidates *c, tac_time start, tac_time reached,
                                    tac_time length);
/* Collective; local on one rank. For an integrator that keeps its own list: calls `take` for every pair that may come
 * near while all vertices move together from c->x by c->move[].u and stay within c->skin of these straight paths. Each
 * pair comes once, in no certain order. c->cost.build: the cost. */
enum tac_err tac_candidates_show(struct tac_view *view, struct tac_candidates *c, tac_take_pair *take, void *context);
/* Local, on one rank. Does so again after some vertices (left (V), 1: is one) have got other displacements c->move[].u
 * at the same c->x: shows the pairs that have such a vertex. *done: false if the margins for rounding are too small for
 * these displacements; then all must be shown. */
enum tac_err tac_candidates_show_changed(struct tac_view *view, struct tac_candidates *c, const uint8_t *left,
                                         tac_take_pair *take, void *context, bool *done);
/* What has to be done with a list of which vertices have left their trajectory bounds, from the least work to the most.
 */
enum tac_repair {
    TAC_REPAIR_DONE,     /* it is repaired, and no other rank is affected */
    TAC_REPAIR_TOGETHER, /* others are affected: call tac_candidates_repair_together() */
    TAC_REPAIR_NOT       /* a new list costs less, and must be built */
};
/* Local. Gives the leavers (c->repair.leaver, at most leaver_most) new trajectory bounds along move[], the motion over
 * the pass of `window` quanta from view->state->now on. Afterwards the list is the one that these bounds require; it
 * stays sorted, and its known part stays known. */
enum tac_err tac_candidates_repair(struct tac_view *view, struct tac_candidates *c, tac_time window,
                                   enum tac_repair *what);
/* Collective. To be called on several ranks if tac_candidates_repair() set TAC_REPAIR_TOGETHER on some of them and
 * TAC_REPAIR_NOT on none. *what: TAC_REPAIR_DONE or TAC_REPAIR_NOT, alike on all ranks; *touched: the list of this rank
 * has changed. */
enum tac_err tac_candidates_repair_together(struct tac_view *view, struct tac_candidates *c, tac_time window,
                                            enum tac_repair *what, bool *touched);
/* Local. Call it when active pairs have got other slots: slot[k] is the new slot of the pair that had slot k. */
void tac_candidates_rename(struct tac_candidates *c, const int32_t *slot);
/* Local. Returns how many candidates, from the list's front, may touch before t. */
size_t tac_candidates_before(const struct tac_candidates *c, tac_time t);

/* ---- between the files of this room ---- */

/* Returns the slice of time to which a new entry belongs, from `change`: the share of the lifetime before which the
 * pair cannot touch.
 */
int tac_candidates_slice(const struct tac_candidate *q);
/* Returns the tolerance of a pair whose first layer has this thickness, m. */
static inline float tac_candidates_tolerance(const struct tac_candidates *c, double thickness)
{
    return tac_single_above(1e-7 * thickness + 1e-14 * c->extent);
}
/* Local. Adds the pair q of vertices v to c->found as entry number `count`; fills in its numbers of vertices. */
enum tac_err tac_candidates_append(struct tac_view *view, struct tac_candidates *c, size_t count,
                                   struct tac_candidate q, const tac_lid v[4]);
/* Local. Sets the trajectory bound of vertex v from move[], its motion over a window of window_s that began from_s
 * after the list's start. */
void tac_candidates_bound(struct tac_view *view, struct tac_candidates *c, tac_lid v, double window_s, double from_s);
/* Local. Makes v, a vertex of another rank that has got another trajectory bound, a leaver in the current repair. */
enum tac_err tac_candidates_leave(struct tac_view *view, struct tac_candidates *c, tac_lid v);
/* Local. Fills c->found with those pairs of tac_candidates_find() that have a leaver (c->repair.left), except active
 * pairs that are on the list already. Boxes and trees are refitted. */
enum tac_err tac_candidates_find_changed(struct tac_view *view, struct tac_candidates *c, size_t *count);
/* Local. Fills c->found with the pairs that may touch while the trajectory bounds hold, with all limits, and with all
 * active pairs, each once; *count: their number. Boxes and frames must have been computed. TAC_ERR_RUN: no memory. */
enum tac_err tac_candidates_find(struct tac_view *view, struct tac_candidates *c, size_t *count);
/* Local. Shows the pairs that may come near while the trajectory bounds hold, each once.  Boxes and frames are laid. */
enum tac_err tac_candidates_show_found(struct tac_view *view, struct tac_candidates *c, bool straight,
                                       tac_take_pair *take, void *context);
/* Local. Shows those of them that have a leaver (c->repair.left). Boxes and trees are refitted. */
enum tac_err tac_candidates_show_found_changed(struct tac_view *view, struct tac_candidates *c, tac_take_pair *take,
                                               void *context);
/* Local. Sets c->frame of each body to the mean velocity of its trajectory bounds on this rank. */
void tac_candidates_frames(struct tac_view *view, struct tac_candidates *c);
/* A function of type tac_tree_box, with a tac_boxes as `context`: computes the box of primitive i in the frame of its
 * body. The box contains its vertices' trajectory bounds over the lifetime, and half the reach of a contact. */
struct tac_boxes {
    struct tac_view *view;
    struct tac_candidates *c;
    const struct tac_primitive *primitive;
};
void tac_candidates_box(void *context, int32_t i, struct tac_dop *box);
/* Local. Refits the tree over the boxes of these primitives, which belong to body b; builds it again if it is stale.
 * c->scratch must have room for one number per primitive. */
void tac_candidates_boxes(struct tac_view *view, struct tac_candidates *c, tac_lid b,
                          const struct tac_primitive *primitive, struct tac_tree *tree);
/* Local. Computes how far the frame of body a moves relative to that of body b over the lifetime, along each axis of a
 * k-DOP, m: from lo to hi, as tac_tree_overlaps() needs it. */
void tac_candidates_drift(const struct tac_candidates *c, tac_lid a, tac_lid b, double lo[TAC_DOP_AXES],
                          double hi[TAC_DOP_AXES]);
/* Local. Computes the interval along x in which a tree over primitives of body b may be in the lifetime, m. */
void tac_candidates_sweep(const struct tac_candidates *c, tac_lid b, const struct tac_tree *tree, double *lo,
                          double *hi);
/* Collective, for candidates.c. Fetches into c->remote.primitive the primitives of other ranks that are near those of
 * this rank, with trajectory bounds and motions of their vertices. */
enum tac_err tac_remote_fetch(struct tac_view *view, struct tac_candidates *c);
/* Local. Are other ranks unaffected by the changes of the leavers' primitives? They are if the boxes of these
 * primitives stay within those that this rank has published, and meet no box in which another rank has primitives that
 * can move. Then no other rank decides about a pair of theirs, and this rank has all remote primitives near them. */
bool tac_remote_unconcerned(const struct tac_view *view, struct tac_candidates *c);
void tac_remote_destroy(struct tac_candidates *c);

#endif
