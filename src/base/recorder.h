/* recorder.h: declares the interface between an integrator and the log that keeps the breakpoints of a recorded run.
 *
 * The integrator passes on every rewritten position (tac_recorder_keep()), and calls the log where passes begin and
 * where they are rolled back.  The log fills in the table of calls (io/record/record.h).
 */
#ifndef TACTUS_BASE_RECORDER_H
#define TACTUS_BASE_RECORDER_H

#include <tactus/base.h>

/* A breakpoint: the vertex is at x [m] at t.  In the log `vertex` is the local id, elsewhere the global one. */
struct tac_point {
    tac_gid vertex;
    tac_time t;
    double x[3];
};

struct tac_recorder;

/* Which vertices get a breakpoint at an instant: all, at an end of a frame interval; those that were rewritten at this
 * instant; or those that were not. */
enum tac_look { TAC_LOOK_ALL, TAC_LOOK_REWRITTEN, TAC_LOOK_OTHERS };

/* All are local. */
struct tac_recorder_calls {
    /* Sets the vertices whose breakpoints will be kept: `owned` vertices with these ids, ascending (copied; NULL: 0, 1,
     * ...).  The log must be empty. */
    enum tac_err (*vertices)(struct tac_recorder *log, tac_lid owned, const tac_gid *id);
    void (*mark)(struct tac_recorder *log);     /* a pass begins */
    void (*rollback)(struct tac_recorder *log); /* the pass was wrong: drops the points since it began */
    void (*room)(struct tac_recorder *log);     /* makes room in a full log */
};

/* The log: what was kept and is still in memory. */
struct tac_recorder {
    const struct tac_recorder_calls *call; /* borrowed */
    size_t count, capacity;
    struct tac_point *point; /* owned by the log */
    enum tac_err err;        /* the first failure to make room: points were lost; its sentence is in the context */
};

/* Local. Keeps a breakpoint: vertex i is at x [m] at t. */
static inline void tac_recorder_keep(struct tac_recorder *log, tac_lid i, tac_time t, const double x[3])
{
    if (log->count == log->capacity)
        log->call->room(log);
    log->point[log->count++] = (struct tac_point){i, t, {x[0], x[1], x[2]}};
}
/* Local. Returns an error if points were lost (a full disk); log NULL: none are kept. */
static inline enum tac_err tac_recorder_error(const struct tac_recorder *log)
{
    return log != NULL ? log->err : TAC_OK;
}

#endif
