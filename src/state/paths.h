/* paths.h: declares the paths of the vertices in the current window. */
#ifndef TACTUS_STATE_PATHS_H
#define TACTUS_STATE_PATHS_H

#include <tactus/base.h>

/* A vertex at the start of a window: the line x + (t - t0) v, and the largest squared deviation of the vertex' path
 * from it.  It fills one cache line; a rollback restores the vertex from it. */
struct tac_line {
    double x[3], v[3];
    tac_time t;
    double deviation2; /* m^2 */
};

/* A breakpoint of a near vertex: it was at x at t.  Its path is straight from one to the next.  There are more of these
 * in a window than of anything else, so the velocity between two of them is not kept. */
struct tac_break {
    tac_time t;
    double x[3];
    int32_t next; /* index of the vertex' next breakpoint, or -1 */
    int32_t unused;
};

/* How a near vertex moves. */
struct tac_near_motion {
    double v[3];   /* before its newest breakpoint, m/s */
    double speed2; /* the largest |v - line.v|^2 before a breakpoint, m^2/s^2 */
};

/* Paths since the window's start. */
struct tac_paths {
    tac_time start, end;            /* of the window; of the current pass */
    struct tac_line *line;          /* owned, (V) */
    double *impulse_start;          /* owned, (V, 3): only entries of near vertices are kept */
    struct tac_near_motion *motion; /* owned, (owned): of near vertices */
    uint8_t *near;                  /* owned, (V): 1: it keeps breakpoints; 2: from some instant of the pass on */
    int32_t *near_pairs;            /* owned, (V): active pairs at the vertex */
    int32_t *break_head;            /* owned, (V): newest breakpoint, or -1 */
    int32_t *break_first;           /* owned, (V): oldest, if there is a newest */
    bool near_changed;
    bool running; /* several ranks, or kds: a pass is running; a vertex that becomes near in it has no complete path */
    size_t near_count;
    tac_lid *near_list; /* owned: vertices with near_pairs > 0 */
    size_t break_count, break_capacity;
    struct tac_break *breaks; /* owned */
};

#endif
