/* rigid.h: the state of the rigid bodies that a rank owns (docs/explanation/rigid.md).
 *
 * A body is a centre and three axes, which move along straight lines from one plan to the next: then the axes are a
 * rotation at t1, and nearly one before. Its vertices have positions, velocities and paths as others have, but these
 * follow from the body, and their inverse masses are negative: an impulse on such a vertex moves the body.
 */
#ifndef TACTUS_STATE_RIGID_H
#define TACTUS_STATE_RIGID_H

#include <stdbool.h>
#include <stddef.h>
#include <tactus/base.h>

/* What changes. At t, as the state of a vertex. */
struct tac_rigid_motion {
    double c[3], u[3];       /* centre, m, and its velocity, m/s */
    double a[3][3], b[3][3]; /* a[k]: what principal axis k has become; b[k]: its rate, 1/s */
    tac_time t, t1;          /* quanta; t1: when the axes will be a rotation */
};

/* What stays. */
struct tac_rigid_piece {
    tac_lid first, end;        /* its vertices of this rank, all of them */
    tac_lid rigid;             /* its place among the rigid ones of the scene */
    double mass, second[3];    /* kg, kg m^2 */
    double inverse, around[3]; /* 1 / mass, 1 / second */
};

/* The largest squared distances, at an event of a pass, from the motion of the window's start. */
struct tac_rigid_apart {
    double center2, axis2[3]; /* m^2; 1 */
};

struct tac_rigid {
    size_t count;                    /* bodies, and pieces of such, of this rank, ascending */
    struct tac_rigid_piece *piece;   /* owned, (count) */
    struct tac_rigid_motion *motion; /* owned, (count) */
    struct tac_rigid_motion *start;  /* owned, (count): at the window's start */
    struct tac_rigid_motion *before; /* owned, (count): before the kicks of tac_books.kept_at */
    double *local;                   /* owned, (V, 3): coordinates of their vertices along the axes, m */
    int32_t *of;                     /* owned, (V), of own vertices: their body's place here, or -1 */
    struct tac_queue *ends;          /* owned: t1 of each body; NULL without rigid bodies (kds/queue.h) */
    /* Those with an event at this instant. */
    size_t due_count;
    int32_t *due;     /* owned, (count) */
    uint8_t *plans;   /* owned, (count): it plans at the end of the instant */
    tac_time *listed; /* owned, (count): the last instant for which it was listed */
    /* The vertices that are written at each event of their body in this pass, ascending. */
    bool all; /* every vertex is */
    size_t list_count;
    tac_lid *list;      /* owned, (V) */
    size_t *list_begin; /* owned, (count + 1): where those of a body begin */
    uint8_t *is_listed; /* owned, (V) */
    size_t always_count, always_capacity;
    tac_lid *always;               /* owned: those that are listed in every pass, ascending, some of them twice */
    struct tac_rigid_apart *apart; /* owned, (count) */
    /* The first plan of a pass for which no chord was short enough. */
    struct {
        int32_t place; /* of the body; -1: there was none */
        tac_time t;
        double spin; /* rad/s */
    } too_fast;
};

#endif
