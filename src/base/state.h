/* state.h: declares the state of the vertices for the force loops. It has two arrays of 32-byte records, so that
 * reading the positions of a stencil touches half a cache line per vertex, and kicking a vertex another half. Vertices
 * have the local numbers of a rank: owned ones come first, then ghosts.
 */
#ifndef TACTUS_BASE_STATE_H
#define TACTUS_BASE_STATE_H

#include <tactus/base.h>

struct tac_pos {
    double x[3]; /* position at t, m */
    tac_time t;  /* the vertex's own clock: when it was last rewritten, quanta */
};

struct tac_vel {
    double v[3]; /* velocity after the kicks at t, m/s */
    double w;    /* inverse mass now, 1/kg; 0 while fixed or scripted. Here, so that a kick is one vector operation */
};

/* The book of works of one stretch of time (docs/explanation/method.md, Energy and the book), in joules. Not part of
 * the trajectory. */
struct tac_book {
    double work;     /* sum of the works of all kicks */
    double absolute; /* sum of their magnitudes */
};

#endif
