/* accuracy.c: has the table of the levels of clocks.accuracy (accuracy.h). */
#include "scene/accuracy.h"

#include <stddef.h>

const char *const tac_accuracy_names[] = {"draft", "standard", "fine", NULL};

/* Checked against the measurement by jobs/experiments/physics/accuracy.py. */
const struct tac_accuracy tac_accuracy[] = {
    {.25, .3, {.50, .83, 2.58}, {.24, 2.48, 7.50}},
    {.1, .15, {1, 1, 1}, {1, 1, 1}},
    {.05, .075, {.76, 1.57, 2.06}, {.10, .55, 1.65}},
};

const struct tac_accuracy_range tac_accuracy_elastic_alone = {.92, 1.06, 2.83};
