/* control.h: the length of windows, and the reasons for which a pass or a run stops. */
#ifndef TACTUS_EVENTS_WINDOWS_CONTROL_H
#define TACTUS_EVENTS_WINDOWS_CONTROL_H

#include "base/descent.h"
#include <tactus/base.h>

enum tac_stop { TAC_STOP_NONE, TAC_STOP_ABORT, TAC_STOP_FULL };

/* Why a pass ended early, and what the ranks request. */
struct tac_control {
    enum tac_stop stop;
    enum tac_err failed;              /* one rank alone: what failed in the pass under way */
    int64_t ask_stop, ask_save;       /* this rank's requests: to end the run early, to have a checkpoint */
    int reported_stop, reported_save; /* what the last pass' reduction says that some rank requests */
    int64_t reported_chatter;         /* likewise: ranks.h, of the rank that has most */
    tac_time stretch;                 /* contact off: how far to go at once */
};

/* The windows' lengths, and what they follow from. */
struct tac_windows {
    double last_s;                             /* length of the last one committed, s */
    tac_time length, least, brief, most, unit; /* asked for; its bounds; brief: the shortest that is tried */
    struct tac_descent descent;                /* of `length` */
    double cost, cost_s;                       /* of the last windows of this length, and their time, s */
    double cost_counted;                       /* cost up to the last window that was not cut by a frame or a knot */
    int32_t count, cut;                        /* of those windows; windows that were cut, one after another */
    bool known;                                /* costs are counted */
    bool is_free;                              /* nothing but contact and gravity has a period, on any rank */
    int64_t looks, cost_reported; /* at candidates since the start; this rank's costs up to the last pass */
    tac_time period_wanted;       /* shortest period of a layer group that the pass under way would not take on */
    tac_time least_period;        /* the shortest that all ranks had or wanted in the last pass */
    tac_time ticks;               /* most ticks of one layer group that a window should have */
    int32_t halved;               /* so often, after misses in windows that had those */
};

#endif
