/* progress.c: the recent speed of a run, an exponentially weighted mean. */
#include "run/progress.h"

#include <math.h>

#include <tactus/math.h>

void tac_progress_begin(struct tac_progress *progress, double wall_s, double t_s)
{
    *progress = (struct tac_progress){.wall_s = wall_s, .t_s = t_s};
}

void tac_progress_note(struct tac_progress *progress, double wall_s, double t_s)
{
    const double step_s = wall_s - progress->wall_s;
    if (!(step_s > 0))
        return;
    /* The weight is exp(-age/M). Over the new stretch, of constant speed for all we know, it integrates to M (1 -
     * kept); the sums from before age by the factor `kept`. So the result does not depend on how a stretch is cut into
     * notes. */
    const double kept = tac_exp(-step_s / TAC_PROGRESS_MEMORY_S), weighted_s = TAC_PROGRESS_MEMORY_S * (1 - kept);
    progress->spent_s = progress->spent_s * kept + weighted_s;
    progress->won_s = progress->won_s * kept + weighted_s * ((t_s - progress->t_s) / step_s);
    progress->wall_s = wall_s;
    progress->t_s = t_s;
}

double tac_progress_left_s(const struct tac_progress *progress, double end_s)
{
    if (end_s <= progress->t_s)
        return 0;
    return progress->won_s > 0 ? (end_s - progress->t_s) * (progress->spent_s / progress->won_s) : NAN;
}
