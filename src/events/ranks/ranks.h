/* ranks.h: how ranks keep in step (docs/reference/ranks.md).
 *
 * All ranks run the same windows.  Within a pass a rank meets a neighbour at exactly the instants at which a stencil
 * ticks that both own vertices of: each sends the positions of its vertices in those stencils, before it receives.
 * Both know the schedule, because both hold the stencil and its clock. If something is added to it in mid-pass (a
 * deeper layer group), both add it at the same instant, because both decide from the same bits.  A pass ends with one
 * closing message per neighbour, which carries the motion over the window of those vertices that the neighbour's
 * discovery watches.
 *
 * A rank that fails in mid-pass sends a closing message that says so, at once, to every neighbour, and stops. A rank
 * that receives such a message where it expected positions does the same. So no rank waits for one that has stopped,
 * and all ranks reach the reduction that ends the pass.
 */
#ifndef TACTUS_EVENTS_RANKS_RANKS_H
#define TACTUS_EVENTS_RANKS_RANKS_H

#include "events/sim.h"
#include "partition/halo.h"

/* A vertex' part in a stencil that is shared with a rank. */
struct tac_shared {
    int32_t rank;
    uint8_t receive; /* 0: we send it */
    tac_lid v;
    tac_gid id;
    tac_time period;
};

/* A layer group of a shared pair that was activated or dropped by the rank that decides about the pair. */
struct tac_order {
    uint64_t key;
    tac_lid v[4];
    uint8_t count, drop;
    double d; /* distance now, m */
};

/* The speed by which a shared pair sleeps from now on, for its other owners. */
struct tac_sleep_speed {
    int32_t slot;
    double speed; /* m/s; 0: it stays awake */
};

/* A layer group of a shared pair, by its place in its class, and a neighbour that shares it. */
struct tac_meeting {
    uint32_t group;
    int32_t neighbor;
};

struct tac_ranks {
    struct tac_halo halo; /* neighbours, ghosts, messages */
    uint64_t mask;        /* nested: union of all lanes' masks */
    int64_t pass;
    size_t fixed_count;
    struct tac_shared *fixed; /* owned: what elements share */
    size_t shared_count, shared_capacity;
    struct tac_shared *shared; /* owned: scratch of the schedule */
    size_t place_size;         /* a power of two */
    int32_t *place;            /* owned, (place_size): where something is in `shared`, or -1; open addressing */

    bool skips; /* nothing is sent while all shared layer groups sleep: with nested clocks and without kinetic
                   structures */
    size_t meeting_begin[TAC_GROUPS + 1], meeting_capacity;
    struct tac_meeting *meeting; /* owned, by class: layer groups of this pass except those born in it */

    size_t wanted_count, wanted_capacity;
    tac_lid *wanted;   /* owned: ghosts whose paths are asked for */
    uint8_t *has_path; /* owned, (capacity): 1: the ghost's breakpoints of this pass are here; 2: asked for */

    size_t order_count, order_capacity;
    struct tac_order
        *order; /* owned: layer groups that were activated or dropped here since the last exchange of orders */

    size_t speed_count, speed_capacity;
    struct tac_sleep_speed *speed; /* owned: to be sent with the orders */

    tac_time shortest;     /* period of a layer group that is shared with others; TAC_TIME_NEVER: none is */
    int64_t deep_messages; /* tick messages since the last rebalancing, of passes whose `shortest` was deep
                              (tac_windows_deep()) */
    bool everyone;         /* test: after a miss all run again */
    uint8_t *rerun;        /* owned, (size): scratch */
    int64_t fail_at;       /* test: this many meetings until a failure; 0: none */
};

/* Collective. Makes sim->ranks for a local scene (borrowed). Arrays of vertices grow when ghosts are added. */
enum tac_err tac_ranks_create(struct tac_sim *sim, struct tac_scene *local);
void tac_ranks_destroy(struct tac_ranks *ranks);
/* Local. Returns the neighbours, ghosts and messages of a simulation. ranks: NULL if it has one rank; so is then what
 * this returns. */
static inline struct tac_halo *tac_ranks_halo(struct tac_ranks *ranks)
{
    return ranks != NULL ? &ranks->halo : NULL;
}
/* Local. Are the breakpoints of a ghost's path in this pass here, or asked for? */
static inline bool tac_ranks_has_path(const struct tac_ranks *ranks, tac_lid ghost)
{
    return ranks->has_path[ghost] != 0;
}
/* Local. Are the breakpoints of the ghost's path here? If not, the next tac_ranks_paths() asks for them. */
bool tac_ranks_want_path(struct tac_ctx *ctx, struct tac_ranks *ranks, tac_lid ghost);
/* Local. Returns one mark for each rank (size), all 0; owned by sim->ranks. */
uint8_t *tac_ranks_marks(const struct tac_ctx *ctx, struct tac_ranks *ranks);
/* Local. Sets the count of messages of deep pairs to 0. */
void tac_ranks_clear_deep_messages(struct tac_ranks *ranks);
/* Local. For tests: points to the number of meetings after which this rank fails; 0: it does not fail. */
int64_t *tac_ranks_fail_at(struct tac_ranks *ranks);

/* Local. Tells that the schedule must be made again before the next pass. */
void tac_ranks_changed(struct tac_ranks *ranks);
/* Local. Remembers a failure. The rank is down until the reduction at the end of the pass. */
void tac_ranks_failed(struct tac_ranks *ranks, enum tac_err err);
/* Local. On several ranks, remembers the error and returns TAC_OK, because a rank that failed goes on to the reduction,
 * which tells all ranks. On one rank it returns the error. */
enum tac_err tac_ranks_hold(struct tac_ranks *ranks, enum tac_err err);
static inline bool tac_ranks_down(const struct tac_ranks *ranks)
{
    return ranks->halo.down != TAC_OK;
}
/* Local. Lists the vertices of elements that this rank shares with other ranks. */
enum tac_err tac_ranks_share_elements(struct tac_sim *sim);
/* Local. Makes the schedule from the elements and the active layer groups. */
enum tac_err tac_ranks_schedule(struct tac_sim *sim);
/* Local. Call it before a pass: lists the layer groups that are shared with other ranks. */
enum tac_err tac_ranks_list_meetings(struct tac_sim *sim);
/* Local. Sets neighbor[].awake for instant t. Call it before anything is sent at t. */
void tac_ranks_wake(struct tac_sim *sim, tac_time t);
/* Local. Call it before a pass: makes the schedule again if it has changed. */
enum tac_err tac_ranks_begin(struct tac_sim *sim);
/* Local. Call it before a pass that is not run again is validated again. */
void tac_ranks_again(struct tac_ranks *ranks);
/* Collective. After a missed contact: must this rank run the pass again? A rank must if it owns a vertex of a pair that
 * some rank marked (mark: ranks (size), 1 or 0; changed here), or if shared stencils connect it with such a rank. */
bool tac_ranks_concerned(struct tac_sim *sim, uint8_t *mark);
/* Neighbours. Send, and receive, the positions that are due at t. The caller does the work that needs no vertex of
 * another rank in between. Return false if some rank is down. */
bool tac_ranks_send(struct tac_sim *sim, tac_time t);
bool tac_ranks_receive(struct tac_sim *sim, tac_time t);
/* Local, in mid-pass. Adds this period to those with which a shared pair ticks. */
void tac_ranks_deepen(struct tac_sim *sim, const struct tac_pair *p, tac_time period);
/* Neighbours. Closes the pass: sends the motions of the vertices that other ranks' candidates have, and puts the
 * motions that it receives into sim->view.candidates. */
void tac_ranks_close(struct tac_sim *sim);
/* Neighbours. Asks for the paths of ranks->wanted and puts them into sim->paths.breaks. */
void tac_ranks_paths(struct tac_sim *sim);
/* Neighbours. Gets the lines (x, v, t) of the ghosts that this rank needs: sets pos[i] and line[i].v. */
void tac_ranks_lines(struct tac_sim *sim);

/* What one reduction finds at the end of a pass: the largest value of each over all ranks. */
enum {
    TAC_TELL_ERROR,
    TAC_TELL_EARLIEST,
    TAC_TELL_BOTTOM,
    TAC_TELL_WILDEST,
    TAC_TELL_BROKEN,
    TAC_TELL_BAD,
    TAC_TELL_PERIOD,
    TAC_TELL_DEEP_MESSAGES,
    TAC_TELL_STOP,
    TAC_TELL_SAVE,
    TAC_TELL_COST,
    TAC_TELLS
};
/* Collective; does nothing on one rank. tell: (TAC_TELLS), in and out. Returns the worst error of all ranks; afterwards
 * every rank has the sentence of that error. */
enum tac_err tac_ranks_reduce(struct tac_sim *sim, int64_t *tell);

/* ---- orders.c: the rank that decides about a pair sends orders to the other owners ---- */
/* Local. A pair that was just activated has no tick from which its next layer could be foreseen. This gives it the
 * distance d now, m, in place of one. */
void tac_prime(struct tac_active *active, const struct tac_vertex_state *state, int32_t slot, double d);
/* Local. Notes an order for the other owners: a layer group of this pair was activated (call tac_prime() first), or
 * (drop) will be dropped now. */
enum tac_err tac_order(struct tac_ctx *ctx, struct tac_ranks *ranks, const struct tac_active *active, int32_t slot,
                       bool drop);
/* Local. Collects the speeds by which shared pairs sleep in the next window.  On one rank it does nothing. */
enum tac_err tac_order_sleep_speeds(struct tac_sim *sim);
/* Local. Call it for a pair that has slept too long: all its owners keep it awake when the pass is run again. Does
 * nothing if the pair is not shared. */
enum tac_err tac_order_awake(struct tac_sim *sim, int32_t slot);
/* Neighbours. Sends the orders, receives those of the neighbours and carries them out. Does nothing on one rank. */
void tac_orders_exchange(struct tac_sim *sim);

#endif
