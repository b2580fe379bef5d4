/* rolling.h: friction of pairs in which a grain rolls (docs/reference/engine.md, Grains that roll).
 *
 * The surfaces slip by what the centres do and by what the grains turn.  Friction turns each grain, and besides there
 * is a spring against their turning upon each other, and one against their twisting, each up to a limit.
 */
#ifndef TACTUS_CONTACT_ROLLING_H
#define TACTUS_CONTACT_ROLLING_H

#include "contact/model.h"

/* How the first vertices of the two primitives of a pair have turned. */
struct tac_turns {
    tac_lid grain[2];  /* these vertices */
    double turn[2][3]; /* rad */
    double radius[2];  /* m; 0: it does not roll */
};

/* The state of a pair at its last active tick. */
struct tac_rolling_values {
    double place[3];  /* sum of radius times turn, m */
    double apart[3];  /* turn of the first less that of the second, rad */
    double bend[3];   /* how far the springs are turned, rad: along the normal by twisting, across it by rolling */
    double budget[2]; /* of rolling, of twisting, N m s */
};

/* The part of a tick that these functions need. */
struct tac_rolling_tick {
    double dt;      /* since the last tick, s; 0: it is the first */
    double impulse; /* normal, N s */
    double stock;   /* normal impulse that may be saved, N s */
    double h_s;     /* period of the outermost layer group; 0: it did not tick */
};

/* Local. Adds to slip [m] what the turns of a tick contribute. born: the pair has no state yet. */
void tac_rolling_follow(struct tac_rolling_values *r, const struct tac_turns *turns, const double n[3], bool born,
                        double apart[3], double slip[3]);
/* Local. Computes the impulses of torque on both grains, N m s: those of friction j [N s] and of the two springs.
 * apart: as tac_rolling_follow() gave it. */
void tac_rolling_torque(const struct tac_model *model, const struct tac_form *form, struct tac_rolling_values *r,
                        const struct tac_turns *turns, const double n[3], const double apart[3],
                        const struct tac_rolling_tick *tick, const double j[3], double torque[2][3]);

/* The inverse of the moment of inertia of a grain, 1/(kg m^2), from that of its mass. */
static inline double tac_rolling_inverse(double w, double radius)
{
    return 2.5 * w / (radius * radius);
}

#endif
