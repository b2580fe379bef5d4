/* whole_steps.c: where steps of one length begin and end. */
#include "state/whole_steps.h"
#include <math.h>

enum tac_err tac_steps_check_end(struct tac_ctx *ctx, const struct tac_scene *scene, double step_s, const char *who)
{
    const double q = scene->settings->quantum_s;
    const tac_time end = scene->settings->t_end;
    const tac_time off = tac_scene_grid(scene, step_s, (int64_t)floor((double)end * q / step_s + .5)) - end;
    if (off <= TAC_FRAME_GRAIN && off >= -TAC_FRAME_GRAIN)
        return TAC_OK;
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "a run of %s cannot end at t = %.9g s, between two of its steps of %.9g s; use a multiple of "
                    "integrator.step_s",
                    who, (double)end * q, step_s);
}

enum tac_err tac_steps_check_limit(struct tac_ctx *ctx, const struct tac_scene *scene, double step_s, tac_time end,
                                   tac_time limit, const char *who)
{
    const double q = scene->settings->quantum_s;
    if (end <= limit + TAC_FRAME_GRAIN)
        return TAC_OK;
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "%s cannot stop at t = %.9g s: its steps are %.9g s long, and the next one ends at %.9g s; use a "
                    "multiple of integrator.step_s",
                    who, (double)limit * q, step_s, (double)end * q);
}

/* The times of steps are rounded, and a run may have ended up to a grain beside such a time. */
int64_t tac_steps_number(const struct tac_scene *scene, double step_s, tac_time now)
{
    int64_t k = (int64_t)((double)now * scene->settings->quantum_s / step_s);
    while (k > 0 && tac_scene_grid(scene, step_s, k) > now + TAC_FRAME_GRAIN)
        k--;
    while (tac_scene_grid(scene, step_s, k + 1) <= now + TAC_FRAME_GRAIN)
        k++;
    return k;
}
