/* control.h: the length of windows, and the reasons for which a pass or a run stops. */
#ifndef TACTUS_EVENTS_WINDOWS_CONTROL_H
#define TACTUS_EVENTS_WINDOWS_CONTROL_H

#include "base/descent.h"
#include <tactus/base.h>

enum tac_stop { TAC_STOP_NONE, TAC_STOP_ABORT, TAC_STOP_FULL };

/* Why a pass ended early, and what the ranks request. */
struct tac_control {
    enum tac_stop stop;
    enum tac_err failed;              /* on one rank: the error of the current pass */
    int64_t ask_stop, ask_save;       /* requests of this rank: to end the run early, to write a checkpoint */
    int reported_stop, reported_save; /* requests of any rank, by the reduction of the last pass */
    int64_t reported_deep_messages;   /* likewise: the largest ranks->deep_messages of all ranks */
    tac_time stretch;                 /* without contact: how far one call advances, quanta */
};

/* The lengths of windows, and the figures from which they are chosen. */
struct tac_windows {
    double last_s; /* length of the last committed window, s */
    tac_time length, least, brief, most,
        unit;                     /* quanta: the wanted length, its bounds; brief: the shortest that is tried */
    struct tac_descent descent;   /* of `length` */
    double cost, cost_s;          /* of the last windows of this length, and their time, s */
    double cost_counted;          /* cost up to the last window that was not cut by a frame or a knot */
    int32_t count, cut;           /* number of those windows; number of windows in a row that were cut */
    bool known;                   /* costs are counted */
    bool is_free;                 /* nothing but contact and gravity has a period, on any rank */
    int64_t looks, cost_reported; /* looks at candidates since the start; this rank's cost up to the last pass */
    tac_time period_wanted;       /* shortest period of a layer group that the current pass refused to activate */
    tac_time least_period;        /* the shortest that all ranks had or wanted in the last pass */
    tac_time ticks;               /* most ticks of one layer group that a window should have */
    int32_t halved;               /* how often `ticks` was halved, after misses in windows with so many ticks */
};

#endif
