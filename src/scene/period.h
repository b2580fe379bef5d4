/* period.h: chooses the period of a clock. */
#ifndef TACTUS_SCENE_PERIOD_H
#define TACTUS_SCENE_PERIOD_H

#include <tactus/scene.h>

/* Returns the largest period of the clock mode that is not above `bound_s`: 2^k quanta when nested. 0 if under one
 * quantum. */
tac_time tac_clock_period(const struct tac_scene *scene, double bound_s);

#endif
