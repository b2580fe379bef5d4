/* candidates.h: the pairs that may touch within some time to come.
 *
 * Each vertex is promised to stay in a trajectory bound for the list's lifetime: within `radius` of a straight line in
 * space and time.  The list holds every pair whose distance may come under its first layer while all vertices keep to
 * their trajectory bounds, with the earliest time at which that could be.  A vertex that leaves its trajectory bound
 * gets another one, and the list is repaired; where many leave, or other ranks are concerned, that ends the list.
 */
#ifndef TACTUS_BROADPHASE_CANDIDATES_H
#define TACTUS_BROADPHASE_CANDIDATES_H

#include "base/descent.h"
#include "base/single.h"
#include "broadphase/view.h"
#include "geometry/tree.h"
#include "partition/halo.h"

/* What a look at a candidate costs, when a window has been run and ahead, in tests of boxes (25 ns). */
enum { TAC_LOOK_COST = 5 };

/* An entry of the list; its vertices are in its slack.  As long as half a line of the cache: in large scenes there are
 * more of these than of anything else.  Lengths are in single precision, rounded to the side where more pairs are
 * looked at. */
struct tac_candidate {
    uint64_t key;
    int32_t slot; /* active pair, or -1 */
    uint8_t type, count, first;
    uint8_t acted;   /* its pair acted in the pass under way, and became no deeper: nothing is to be done ahead */
    float d;         /* lower bound of the distance at view->state->now, m */
    float next;      /* distance under which the first layer not active is reached, or a little more, m */
    float change;    /* most that the distance may have changed over the pass under way, m; until the list is sorted:
                      * the share of the lifetime before which nothing happens */
    float tolerance; /* m */
};
_Static_assert(sizeof(struct tac_candidate) == 32, "half a line of a candidate");

/* Fetches a candidate into the cache, which may be on two lines.  Always inline, as tac_pair_fetch() is. */
static inline __attribute__((always_inline)) void tac_candidate_fetch(const struct tac_candidate *q)
{
    __builtin_prefetch(q, 1);
    __builtin_prefetch(&q->tolerance, 1);
}

/* Lower bound of its distance at the end of the pass under way, m. */
static inline double tac_candidate_end(const struct tac_candidate *q)
{
    const double least = tac_pair_least((enum tac_pair_type)q->type), left = (double)q->d - q->change;
    return left > least ? left : least;
}

/* The vertices of a candidate, and what it has left until it must be looked at if it is not active.  Most windows ask
 * for this record alone (events/windows/slack.c). */
struct tac_slack {
    tac_lid v[4];     /* of two edges the first is ~v[0]; behind the last one comes that one again */
    float start, end; /* at the start and the end of the window under way, m, rounded down; -infinity: it must be */
};

/* The vertices of an entry; -1 behind the last one. */
static inline void tac_slack_vertices(const struct tac_slack *s, const struct tac_candidate *q, tac_lid v[4])
{
    v[0] = s->v[0] < 0 ? ~s->v[0] : s->v[0];
    for (int i = 1; i < 4; i++)
        v[i] = i < q->count ? s->v[i] : -1;
}

/* One for each entry of the list. */
struct tac_slacks {
    size_t capacity;
    struct tac_slack *of; /* owned */
    double factor;        /* of a window's change of distance, that a slack must be over; see slack.c */
    bool committed;       /* the window under way begins at `end` */
};

/* A pair that a search has found. */
struct tac_found_pair {
    enum tac_pair_type type;
    tac_lid id[2], v[4];      /* of its primitives, as in its key; its vertices in the order of distance.h */
    double radius, thickness; /* m */
    double d;                 /* distance of the centres of its trajectory bounds where these are searched from, m */
    double wait;              /* share of what is left of the lifetime before which it cannot come near; no number: of
                               * places that are none */
};
/* Takes one.  Fails where there is no memory. */
typedef enum tac_err tac_take_pair(void *context, const struct tac_found_pair *pair);

/* What a search has found, as entries of a list; all of them must be looked at. */
struct tac_found {
    size_t capacity, slack_capacity;
    struct tac_candidate *of; /* owned */
    struct tac_slack *slack;  /* owned */
};

/* How a vertex moved in the pass under way: its path stays within `deviation` of the chord x .. x + u, and its velocity
 * within `speed` (m/s) of the chord's. */
struct tac_move {
    double u[3], deviation;
    double speed; /* infinity: not known */
    bool near;    /* keeps breakpoints */
};

/* A leaf: a triangle, segment or particle, and the vertices and edges it stands for (each has one leaf). Ids are
 * global.
 */
struct tac_primitive {
    tac_lid v[3];
    tac_lid id;       /* triangle, segment, or vertex */
    uint8_t count;    /* vertices: 3, 2, 1 */
    uint8_t vertices; /* bit k: stands for v[k] */
    uint8_t edges;    /* bit k: stands for edge[k] */
    uint8_t inner;    /* 1: all its vertices are this rank's */
    tac_lid edge[3];
    tac_lid body;
};

/* A box in space that holds something while the trajectory bounds hold. */
struct tac_box {
    double lo[3], hi[3];
};

struct tac_path_bound {
    double x[3], v[3]; /* centre at the list's start, velocity */
    double radius;     /* promised; m */
    double offset;     /* distance from the centre at view->state->now */
};

/* Several ranks: primitives of other ranks that our own may touch while the trajectory bounds hold. */
struct tac_remote_primitives {
    size_t count, capacity;
    struct tac_primitive *primitive; /* owned, by body */
    int32_t *begin;                  /* owned, (bodies + 1) */
    struct tac_tree **tree;          /* owned, (bodies) */
    int32_t *group;                  /* owned, one per primitive of ours: the published box that holds it; -1: none */
    int boxes, above;                /* that a rank publishes: a power of 8; boxes around 8 of them, 64 of them, ... */
    struct tac_box *mine;            /* owned, (boxes): what this rank has published around what can move */
    struct tac_box *around_mine;     /* owned, (above): the box around all of them, those around each eighth, ... */
    struct tac_box still;            /* around this rank's primitives that have no published box */
    struct tac_box *whole;           /* owned, (ranks, 2): around the published ones of each rank, and `still` */
    bool alone;                      /* no other rank has anything */
    char *growth;                    /* owned: what all ranks tell of their boxes that grow (remote_boxes.c) */
    size_t near_count, near_capacity, sent_capacity, published_capacity, around_capacity;
    int32_t *near;             /* owned, ascending: other ranks whose whole boxes meet this rank's */
    MPI_Request *sent;         /* owned, (near): of messages to them that are under way */
    struct tac_box *published; /* owned, (near, boxes): as `mine`, of each of them */
    struct tac_box *around;    /* owned, (near, above) */
    uint8_t *marked;           /* owned: in a repair, 1: it has a leaver */
    size_t marked_capacity;
    bool fresh; /* some are new: the trees must be built */
    /* what this rank did for others since a list or a repair was last found: its primitives that it looked at, and
     * published boxes that they were held against */
    int64_t looked, tests;
};

/* Repairs of a list (candidates_repair.c). */
struct tac_candidates_repair {
    size_t leaver_count, leaver_most; /* over leaver_most: too many, and not all told */
    tac_lid *leaver;                  /* owned, (leaver_most): vertices that left their trajectory bounds */
    size_t heard_count, heard_capacity;
    tac_lid *heard;         /* owned: leavers that are other ranks' */
    uint8_t *left;          /* owned, (V): 1: a leaver; all 0 between repairs */
    uint8_t *marked;        /* owned, one per primitive: 1: it has a leaver */
    struct tac_found fresh; /* what a repair finds */
    size_t fresh_count;
};

/* What lists have cost, in tests of boxes. */
struct tac_candidates_cost {
    int64_t build, repair; /* the list, and its repairs */
    int64_t looks;         /* at its candidates, over all windows of its life */
    int64_t spent;         /* all lists and repairs so far */
};

/* The bodies along x. */
struct tac_sorted_bodies {
    int32_t *order; /* owned, (bodies): by lower end of their root's sweep along x */
    double *sweep;  /* owned, (bodies, 2) */
};

struct tac_candidates {
    struct tac_halo *halo;             /* borrowed; NULL: one rank */
    struct tac_move *move;             /* owned, (V): of the pass under way */
    double *x;                         /* owned, (V, 3): positions at the window's start */
    struct tac_path_bound *path_bound; /* owned, (V) */
    tac_time start, end;               /* the list's lifetime; end <= start: none */
    tac_time horizon;                  /* lifetime asked for */
    struct tac_descent descent;        /* of it */
    double skin;                       /* usual trajectory bound radius, m */
    double edge;                       /* mean of what can move, m; 0: there is none */
    bool fine;                         /* edges are not much longer than the thickness */
    double farthest; /* m; of coordinates: beyond, what they are rounded by tells no neighbours apart */
    double extent;   /* largest coordinate, m */

    bool crossing; /* pairs of inner primitives are not listed: kinetic structures prove them */
    size_t known;  /* of the list: their d is kept up to date; the others' is that of the list's start */
    size_t count, capacity;
    struct tac_candidate *list; /* owned; by time slice of their first possible contact */
    struct tac_slacks slack;
    struct tac_found found; /* before they are sorted */
    size_t slice_end[17];   /* the list up to slice k may touch before start + (k + 1)/16 of the lifetime */

    struct tac_candidates_repair repair;
    struct tac_candidates_cost cost;

    int32_t body_count;
    struct tac_tree **tree;          /* owned, one per body */
    struct tac_patches **patches;    /* owned, one per body; NULL: it has none */
    struct tac_primitive *primitive; /* owned, all bodies */
    int32_t *primitive_begin;        /* owned, (bodies + 1) */
    uint8_t *taken;                  /* owned, (vertices of the local mesh): 1: a primitive stands for it */
    int32_t *scratch;                /* owned */
    size_t scratch_capacity;
    double *frame;     /* owned, (bodies, 3): velocity of each body's frame */
    uint8_t *still;    /* owned, (bodies): never moves */
    uint8_t *bordered; /* owned, (bodies): some of its primitives here are not inner */
    struct tac_sorted_bodies sorted;
    struct tac_remote_primitives remote;
    int64_t builds;
    tac_time span; /* build under way: its lifetime, s and quanta */
    double span_s;
    double from_s; /* the trajectory bounds that are searched count from here on, s after the start */
};

/* How a vertex moved over the window, in messages. */
struct tac_move_message {
    double x[3], u[3], deviation, speed;
    int64_t near;
};
/* Local. Of vertex v, out of the list's arrays and into them. */
void tac_move_put(const struct tac_candidates *c, tac_lid v, struct tac_move_message *m);
void tac_move_get(struct tac_candidates *c, tac_lid v, const struct tac_move_message *m);
/* Neighbours. Motions of what others hear of; theirs are put into view->candidates. */
void tac_moves_exchange(struct tac_view *view);

/* Collective. Local on one rank. */
enum tac_err tac_candidates_create(struct tac_view *view, struct tac_candidates **out);
/* Local. What they have from the scene: the primitives of each body. */
enum tac_err tac_candidates_primitives(struct tac_view *view, struct tac_candidates *c);
/* Collective; local on one rank. The skin, and the bodies that never move. */
enum tac_err tac_candidates_measure(struct tac_view *view, struct tac_candidates *c);
void tac_candidates_destroy(struct tac_candidates **candidates);
/* Collective; local on one rank. A new list from view->state->now for `lifetime` quanta, trajectory bounds along move[]
 * over the pass of `window` quanta. */
enum tac_err tac_candidates_build(struct tac_view *view, struct tac_candidates *c, tac_time window, tac_time lifetime);
/* Collective; local on one rank. How long the next list should live (c->horizon), by what lists of this lifetime cost
 * per time.  The window under way began at `start`; all before `reached` is run; `length`: of windows. */
enum tac_err tac_candidates_horizon(struct tac_view *view, struct tac_candidates *c, tac_time start, tac_time reached,
                                    tac_time length);
/* Collective; local on one rank.  For an integrator that keeps a list of its own: shows every pair that may come near
 * while all vertices go together, from c->x by c->move[].u, and stay within c->skin of these straight ways.  Each pair
 * once, in no certain order; c->cost.build: what it took. */
enum tac_err tac_candidates_show(struct tac_view *view, struct tac_candidates *c, tac_take_pair *take, void *context);
/* What becomes of a list of which vertices have left their trajectory bounds, from the least to do to the most. */
enum tac_repair {
    TAC_REPAIR_DONE,     /* it is repaired, and no other rank is concerned */
    TAC_REPAIR_TOGETHER, /* others are: tac_candidates_repair_together() */
    TAC_REPAIR_NOT       /* a whole build serves better, and must follow */
};
/* Local. The leavers (c->repair.leaver, at most leaver_most) get new trajectory bounds along move[] over the pass
 * from view->state->now on, of `window` quanta; the list is made what it would be with these, and stays sorted; its
 * known part stays known. */
enum tac_err tac_candidates_repair(struct tac_view *view, struct tac_candidates *c, tac_time window,
                                   enum tac_repair *what);
/* Collective, several ranks, where tac_candidates_repair() said TAC_REPAIR_TOGETHER on some of them and
 * TAC_REPAIR_NOT on none. *what: TAC_REPAIR_DONE or TAC_REPAIR_NOT, alike on all ranks; *touched: the list of this rank
 * has changed. */
enum tac_err tac_candidates_repair_together(struct tac_view *view, struct tac_candidates *c, tac_time window,
                                            enum tac_repair *what, bool *touched);
/* Local. Active pairs have other slots now: slot[k] of what had slot k. */
void tac_candidates_rename(struct tac_candidates *c, const int32_t *slot);
/* Local. How many candidates (from the list's front) may touch before t. */
size_t tac_candidates_active(const struct tac_candidates *c, tac_time t);

/* ---- between the files of this room ---- */

/* Which slice of time a new entry belongs to: its `change` is the share of the lifetime before which nothing happens.
 */
int tac_candidates_slice(const struct tac_candidate *q);
/* Of a pair whose first layer has this thickness, m. */
static inline float tac_candidates_tolerance(const struct tac_candidates *c, double thickness)
{
    return tac_single_above(1e-7 * thickness + 1e-14 * c->extent);
}
/* Local. Enters a pair of these vertices behind the first `count` of c->found; the numbers of its vertices are filled
 * in. */
enum tac_err tac_candidates_append(struct tac_view *view, struct tac_candidates *c, size_t count,
                                   struct tac_candidate q, const tac_lid v[4]);
/* Local. The trajectory bound of vertex v along move[] over a window of window_s that began from_s after the list's
 * start. */
void tac_candidates_bound(struct tac_view *view, struct tac_candidates *c, tac_lid v, double window_s, double from_s);
/* Local. The vertex of another rank has another trajectory bound from now on: a leaver in the repair under way. */
enum tac_err tac_candidates_leave(struct tac_view *view, struct tac_candidates *c, tac_lid v);
/* Local. Finds into c->found what tac_candidates_find() would find, of the pairs with a leaver (c->repair.left) alone,
 * less those whose active pair is listed.  Boxes and trees are refitted. */
enum tac_err tac_candidates_find_changed(struct tac_view *view, struct tac_candidates *c, size_t *count);
/* Local. Fills c->found with the pairs that may touch while the trajectory bounds hold, all limits, and all active
 * pairs, each once; how many in *count.  Boxes and frames are laid.  TAC_ERR_RUN: no memory. */
enum tac_err tac_candidates_find(struct tac_view *view, struct tac_candidates *c, size_t *count);
/* Local. Shows the pairs that may come near while the trajectory bounds hold, each once.  Boxes and frames are laid. */
enum tac_err tac_candidates_show_found(struct tac_view *view, struct tac_candidates *c, bool straight,
                                       tac_take_pair *take, void *context);
/* Local. c->frame, each body's: the mean of the velocities of its trajectory bounds here. */
void tac_candidates_frames(struct tac_view *view, struct tac_candidates *c);
/* The box of primitive i of these in the frame of its body: its vertices' trajectory bounds over the lifetime, and half
 * the reach of a contact.  context: a tac_boxes; a tac_tree_box. */
struct tac_boxes {
    struct tac_view *view;
    struct tac_candidates *c;
    const struct tac_primitive *primitive;
};
void tac_candidates_box(void *context, int32_t i, struct tac_dop *box);
/* Local. The tree over the boxes of all these primitives, which are of body b; built if it is stale.  c->scratch holds
 * one number each. */
void tac_candidates_boxes(struct tac_view *view, struct tac_candidates *c, tac_lid b,
                          const struct tac_primitive *primitive, struct tac_tree *tree);
/* Local. How far the frame of body a drifts against that of body b over the lifetime, along each axis of a k-DOP, m:
 * from lo to hi, as tac_tree_overlaps() asks for. */
void tac_candidates_drift(const struct tac_candidates *c, tac_lid a, tac_lid b, double lo[TAC_DOP_AXES],
                          double hi[TAC_DOP_AXES]);
/* Local. Where along x a tree over primitives of body b may be in the lifetime, m. */
void tac_candidates_sweep(const struct tac_candidates *c, tac_lid b, const struct tac_tree *tree, double *lo,
                          double *hi);
/* Collective, for candidates.c: fetches into c->remote.primitive what other ranks have near our primitives, with
 * trajectory bounds and motions of its vertices. */
enum tac_err tac_remote_fetch(struct tac_view *view, struct tac_candidates *c);
/* Local. Is what becomes of the leavers' primitives no matter to other ranks?  It is, if their boxes stay within those
 * that this rank has published, and meet none in which another rank has primitives that can move: then that rank
 * decides no pair of theirs, and this one has all that others have near them. */
bool tac_remote_unconcerned(const struct tac_view *view, struct tac_candidates *c);
void tac_remote_destroy(struct tac_candidates *c);

#endif
