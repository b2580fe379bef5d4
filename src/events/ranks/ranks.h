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

/* A layer group of a shared pair, active or dropped by the rank that decides. */
struct tac_order {
    uint64_t key;
    tac_lid v[4];
    uint8_t count, drop;
    double d; /* distance now, m */
};

/* The speed that naps of a shared pair go by from now on, for its other owners. */
struct tac_nap_pace {
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

    bool skips; /* where all shared layer groups sleep, nothing is sent: nested clocks, without kinetic structures */
    size_t meeting_begin[TAC_GROUPS + 1], meeting_capacity;
    struct tac_meeting *meeting; /* owned, by class: layer groups of this pass, but for those born in it */

    size_t wanted_count, wanted_capacity;
    tac_lid *wanted;   /* owned: ghosts whose paths are asked for */
    uint8_t *has_path; /* owned, (capacity): 1: the ghost's breakpoints of this pass are here; 2: asked for */

    size_t order_count, order_capacity;
    struct tac_order *order; /* owned: layer groups that were active or dropped here since the last talk */

    size_t pace_count, pace_capacity;
    struct tac_nap_pace *pace; /* owned: to be told with the orders */

    tac_time shortest; /* period of a layer group that is shared with others; TAC_TIME_NEVER: none is */
    int64_t chatter;   /* tick messages since the last rebalancing while that was deep (rebalance.h) */
    bool everyone;     /* test: after a miss all run again */
    uint8_t *rerun;    /* owned, (size): scratch */
    int64_t fail_at;   /* test: this many meetings until a failure; 0: none */
};

/* Collective. The ranks of a local scene (borrowed), whose arrays of vertices grow with the ghosts. */
enum tac_err tac_ranks_create(struct tac_sim *sim, struct tac_scene *local);
void tac_ranks_destroy(struct tac_sim *sim);
/* Local. The neighbours, ghosts and messages of a simulation; NULL: it has one rank. */
static inline struct tac_halo *tac_sim_halo(const struct tac_sim *sim)
{
    return sim->ranks != NULL ? &sim->ranks->halo : NULL;
}
/* Local. Are the breakpoints of a ghost's path in this pass here, or asked for? */
static inline bool tac_ranks_has_path(const struct tac_sim *sim, tac_lid ghost)
{
    return sim->ranks->has_path[ghost] != 0;
}
/* Local. Are they here?  If not, the next tac_ranks_paths() asks for them. */
bool tac_ranks_want_path(struct tac_sim *sim, tac_lid ghost);
/* Local. Room for a mark for each rank (size), all 0. */
uint8_t *tac_ranks_marks(struct tac_sim *sim);
/* Local. From now on messages of deep pairs are counted anew. */
void tac_ranks_forget_chatter(struct tac_sim *sim);
/* Local. Tests: so many meetings until this rank fails; 0: none. */
int64_t *tac_ranks_fail_at(const struct tac_sim *sim);

/* Local. The schedule must be made anew before the next pass. */
void tac_ranks_changed(struct tac_sim *sim);
/* Local. Remembers a failure: the rank is down until the reduction. */
void tac_ranks_failed(struct tac_sim *sim, enum tac_err err);
/* Local. Ranks that have failed go on to the reduction, where all hear of it: only one rank alone returns at once. */
enum tac_err tac_ranks_hold(struct tac_sim *sim, enum tac_err err);
static inline bool tac_ranks_down(const struct tac_sim *sim)
{
    return sim->ranks->halo.down != TAC_OK;
}
/* Local. What elements share with other ranks. */
enum tac_err tac_ranks_share_elements(struct tac_sim *sim);
/* Local. The schedule anew, from elements and active layer groups. */
enum tac_err tac_ranks_schedule(struct tac_sim *sim);
/* Local. Before a pass: the layer groups that are shared with others. */
enum tac_err tac_ranks_list_meetings(struct tac_sim *sim);
/* Local. Before anything is sent at instant t: neighbor[].awake. */
void tac_ranks_wake(struct tac_sim *sim, tac_time t);
/* Local. Before a pass: the schedule, if it has changed. */
enum tac_err tac_ranks_begin(struct tac_sim *sim);
/* Local. Before a pass that stays as it was run is judged again. */
void tac_ranks_again(struct tac_sim *sim);
/* Collective. After a miss: must this rank run again?  Those must that own a vertex of a pair marked by some rank
 * (mark: ranks (size), 1 or 0; changed), and all that hang together with one of those by stencils that they share. */
bool tac_ranks_concerned(struct tac_sim *sim, uint8_t *mark);
/* Neighbours. Sends what is due at t, and receives it; what needs no vertex of another rank is done in between.  False
 * if someone is down. */
bool tac_ranks_send(struct tac_sim *sim, tac_time t);
bool tac_ranks_receive(struct tac_sim *sim, tac_time t);
/* Local, in mid-pass. A shared pair ticks with this period too from now on. */
void tac_ranks_deepen(struct tac_sim *sim, const struct tac_pair *p, tac_time period);
/* Neighbours. Closes the pass: motions of what others watch; theirs are put into sim->view.candidates. */
void tac_ranks_close(struct tac_sim *sim);
/* Neighbours. Asks for the paths of ranks->wanted and puts them into sim->paths.breaks. */
void tac_ranks_paths(struct tac_sim *sim);
/* Neighbours. (x, v, t) of what we need, as lines: pos[i] and line[i].v of ghosts. */
void tac_ranks_lines(struct tac_sim *sim);

/* What the ranks tell each other at the end of a pass, by one reduction: the largest of each. */
enum {
    TAC_TELL_ERROR,
    TAC_TELL_EARLIEST,
    TAC_TELL_BOTTOM,
    TAC_TELL_WILDEST,
    TAC_TELL_BROKEN,
    TAC_TELL_BAD,
    TAC_TELL_PERIOD,
    TAC_TELL_CHATTER,
    TAC_TELL_STOP,
    TAC_TELL_SAVE,
    TAC_TELL_COST,
    TAC_TELLS
};
/* Collective; on one rank nothing happens. tell (TAC_TELLS). Returns the worst error of all ranks, whose sentence all
 * have then. */
enum tac_err tac_ranks_reduce(struct tac_sim *sim, int64_t *tell);

/* ---- orders.c: who decides a pair tells the other owners ---- */
/* Local. A pair newly active has no tick to foresee from: gives it its distance now, m. */
void tac_prime(struct tac_sim *sim, int32_t slot, double d);
/* Local. A layer group of this pair was active (it must be primed), or is about to be dropped: to be told. */
enum tac_err tac_order(struct tac_sim *sim, int32_t slot, bool drop);
/* Local. The speeds that naps of shared pairs go by in the next window.  On one rank nothing happens. */
enum tac_err tac_paces(struct tac_sim *sim);
/* Local. A pair has overslept: if it is shared, all its owners keep it awake when the pass is run again. */
enum tac_err tac_pace_stop(struct tac_sim *sim, int32_t slot);
/* Neighbours. Tells, hears and obeys.  On one rank nothing happens. */
void tac_orders_exchange(struct tac_sim *sim);

#endif
