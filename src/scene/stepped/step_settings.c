/* step_settings.c: checks what a scene asks for at times, for integrators with steps of one length: their state exists
 * at the ends of steps only. */
#include "scene/scene_read.h"

#include <tactus/math.h>

/* Is `span` a whole number of steps h, as their ends are rounded? */
static bool is_multiple(const struct tac_scene *scene, double h, double span_s)
{
    const double steps = floor(span_s / h + .5);
    return steps >= 1 && steps < 0x1p30 && tac_scene_grid(scene, h, (int64_t)steps) == tac_scene_grid(scene, span_s, 1);
}

/* Steps end on the grid that frames are on, so every frame and the end are ends of steps. */
enum tac_err tac_scene_check_step(struct tac_reader *reader, double h)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *scene = reader->scene;
    const struct tac_settings *s = scene->settings;
    const double grain_s = TAC_FRAME_GRAIN * s->quantum_s;
    const double all = floor(s->end_s / h + .5);
    if (!(h >= 16 * grain_s))
        TAC_TRY(tac_scene_fail(reader, "integrator.step_s",
                               "is %s s; with clocks.quantum_s %s it must be at least %s s, so make it larger",
                               tac_shown(h).text, tac_shown(s->quantum_s).text, tac_shown(16 * grain_s).text));
    if (!is_multiple(scene, h, s->frame_s))
        TAC_TRY(tac_scene_fail(reader, "integrator.step_s",
                               "is %s s, and time.frame %s s is no multiple of it; the state is known at the ends of "
                               "steps, so make one a multiple of the other",
                               tac_shown(h).text, tac_shown(s->frame_s).text));
    const tac_time off = all < 0x1p37 ? tac_scene_grid(scene, h, (int64_t)all) - s->t_end : TAC_TIME_NEVER;
    if (off > TAC_FRAME_GRAIN || off < -TAC_FRAME_GRAIN)
        TAC_TRY(tac_scene_fail(reader, "integrator.step_s",
                               "is %s s, and time.end %s s is no multiple of it; the state is known at the ends of "
                               "steps, so let the scene end at one",
                               tac_shown(h).text, tac_shown(s->end_s).text));
    reader->scene->settings->t_end = tac_scene_end(scene);
done:
    return err;
}

/* Checks the keys that need the state at intervals. */
static enum tac_err check_multiple(struct tac_reader *reader, double h, const char *where, double every_s)
{
    if (is_multiple(reader->scene, h, every_s))
        return TAC_OK;
    return tac_scene_fail(reader, where,
                          "is %s s, which is no multiple of integrator.step_s, %s s; the state is known at the ends of "
                          "steps, so make it one",
                          tac_shown(every_s).text, tac_shown(h).text);
}

enum tac_err tac_scene_check_whole_steps(struct tac_reader *reader, double h, const char *who)
{
    enum tac_err err = TAC_OK;
    const struct tac_settings *s = reader->scene->settings;
    if (s->discovery.mode != TAC_DISCOVER_SPECULATE)
        TAC_TRY(tac_scene_fail(
            reader, "discovery.mode",
            "is another than \"speculate\", but %s has one mode of discovery only; leave the key out", who));
    if (s->clocks.mode != TAC_CLOCKS_NESTED)
        TAC_TRY(
            tac_scene_fail(reader, "clocks.mode", "is \"free\", but %s has one step for all; leave the key out", who));
    if (s->checkpoint.every_t > 0)
        TAC_TRY(check_multiple(reader, h, "output.checkpoint_every_t", s->checkpoint.every_t));
    for (tac_lid i = 0; i < s->output.history_count; i++) {
        char where[TAC_WHERE];
        snprintf(where, sizeof where, "output.histories[%" TAC_PRILID "].every", i);
        TAC_TRY(check_multiple(reader, h, where, s->output.history[i].every_s));
    }
done:
    return err;
}
