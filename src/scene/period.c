/* period.c: chooses periods of clocks from the bounds that forces set (docs/reference/engine.md, State and clocks). */
#include "scene/period.h"

tac_time tac_clock_period(const struct tac_scene *scene, double bound_s)
{
    double quanta = bound_s / scene->settings->quantum_s; /* exact: the quantum is a power of two */
    if (!(quanta >= 1))
        return 0;
    if (quanta >= 0x1p62)
        return (tac_time)1 << 62;
    tac_time whole = (tac_time)quanta;
    if (scene->settings->clocks.mode == TAC_CLOCKS_FREE)
        return whole;
    return (tac_time)1 << (63 - __builtin_clzll((unsigned long long)whole));
}
