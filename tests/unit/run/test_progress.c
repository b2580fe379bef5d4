/* test_progress.c: how long a run will still take is told by its recent speed: pairs of given clock readings, and a run
 * whose clock the test moves. If it fails, a run that has become ten times slower promises for hours to end soon. */
#include "check.h"
#include "run/progress.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/process.h>
#include <tactus/run.h>
#include <unistd.h>

/* Notes each of `count` stretches of wall_s, at `speed`. */
static void go(struct tac_progress *progress, int count, double wall_s, double speed)
{
    const double begin_s = progress->wall_s, begin_t_s = progress->t_s;
    for (int i = 1; i <= count; i++)
        tac_progress_note(progress, begin_s + i * wall_s, begin_t_s + i * wall_s * speed);
}

/* What is told to be left, over the wall time from here to the end at this speed. */
static double reported_left(const struct tac_progress *progress, double speed, double end_s)
{
    return tac_progress_left_s(progress, end_s) * speed / (end_s - progress->t_s);
}

static void pairs(void)
{
    struct tac_progress progress, fine;
    /* A restart at t = 7 s: what was simulated before does not count. */
    tac_progress_begin(&progress, 1000, 7);
    CHECK(isnan(tac_progress_left_s(&progress, 8)), "nothing is known");
    CHECK(tac_progress_left_s(&progress, 7) == 0, "at the end");
    tac_progress_note(&progress, 1000, 7);
    CHECK(isnan(tac_progress_left_s(&progress, 8)), "nothing is known yet");
    tac_progress_note(&progress, 1000.25, 7.001);
    CHECK(fabs(reported_left(&progress, .004, 8) - 1) < 1e-9, "from the first step on: %g",
          reported_left(&progress, .004, 8));
    go(&progress, 1000, .25, .004);
    CHECK(fabs(reported_left(&progress, .004, 9) - 1) < 1e-9, "constant speed: %g", reported_left(&progress, .004, 9));

    /* An hour at one speed, then a minute at a hundredth of it, and back. */
    go(&progress, 3600, 1, .1);
    go(&progress, 60, 1, .001);
    const double slow = reported_left(&progress, .001, 1000);
    CHECK(slow > .1 && slow < 1, "a minute after it became slower: %g of the truth", slow);
    go(&progress, 100, 1, .001);
    CHECK(fabs(reported_left(&progress, .001, 1000) - 1) < .1, "later: %g", reported_left(&progress, .001, 1000));
    go(&progress, 60, 1, .1);
    CHECK(fabs(reported_left(&progress, .1, 1000) - 1) < .1, "a minute after it became faster: %g",
          reported_left(&progress, .1, 1000));

    /* Steps are of any length: the same minute as one note and as 6000. */
    fine = progress;
    go(&progress, 1, 60, .02);
    go(&fine, 6000, .01, .02);
    CHECK(fabs(tac_progress_left_s(&progress, 1000) / tac_progress_left_s(&fine, 1000) - 1) < 1e-9, "%g and %g",
          tac_progress_left_s(&progress, 1000), tac_progress_left_s(&fine, 1000));
    /* A clock that does not move, or goes back, loses nothing. */
    tac_progress_note(&fine, fine.wall_s, fine.t_s + 1);
    tac_progress_note(&fine, fine.wall_s - 5, fine.t_s + 1);
    tac_progress_note(&fine, fine.wall_s + 10, fine.t_s + 1);
    tac_progress_note(&progress, progress.wall_s + 10, progress.t_s + 1);
    CHECK(fabs(tac_progress_left_s(&progress, 1000) / tac_progress_left_s(&fine, 1000) - 1) < 1e-9,
          "a clock that stands");
    /* Far beyond what the weights can tell from 0. */
    go(&progress, 1, 1e9, 1e-9);
    CHECK(fabs(reported_left(&progress, 1e-9, 1000) - 1) < 1e-9, "thirty years: %g",
          reported_left(&progress, 1e-9, 1000));
}

/* ---- a run ---- */

/* The clock of the program: every reading moves it by a second, and after CALLS_FAST of them by 100 s. */
enum { CALLS_FAST = 2000, SLOWER = 100 };
static long calls;

double __wrap_tac_wall_s(void);
double __wrap_tac_wall_s(void)
{
    calls++;
    return (double)(calls < CALLS_FAST ? calls : CALLS_FAST + SLOWER * (calls - CALLS_FAST));
}

static double real_of(const json_t *status, const char *key)
{
    return json_number_value(json_object_get(status, key));
}

/* Stopped by the wall limit, some time after it has become slower. */
static void run(struct tac_ctx *ctx, const char *dir)
{
    static const char fall[] =
        "{\"format\": \"tactus-scene/1\", \"time\": {\"end\": 4, \"frame\": 0.5},"
        " \"gravity\": [0, -10, 0], \"clocks\": {\"gravity_s\": 6.103515625e-05},"
        " \"output\": {\"checkpoint_every_s\": 1e9}, \"bodies\": [{\"name\": \"dot\", \"mass\": 1,"
        " \"mesh\": {\"kind\": \"points\", \"vertices\": [[0, 0, 0]]}}]}";
    const struct tac_scene_source source = {.text = fall};
    const struct tac_run_options options = {.dir = dir, .wall_limit_s = CALLS_FAST + SLOWER * 400.};
    char path[128];
    const enum tac_err err = tac_run(ctx, &source, &options);
    CHECK(err == TAC_ERR_STOPPED && calls > CALLS_FAST + 100, "%d after %ld readings: %s", (int)err, calls, ctx->error);
    snprintf(path, sizeof path, "%s/status.json", dir);
    json_t *status = json_load_file(path, 0, NULL);
    const double t_s = real_of(status, "time"), wall_s = real_of(status, "wall_s");
    const double mean_s = (4 - t_s) * wall_s / t_s, left_s = real_of(status, "wall_left_s");
    CHECK(t_s > 0 && t_s < 4 && left_s > 4 * mean_s, "t = %g s after %g s: %g s are left; by the mean speed %g s", t_s,
          wall_s, left_s, mean_s);
    json_decref(status);
}

int main(void)
{
    struct tac_ctx ctx = {.size = 1};
    bool started;
    char folder[] = "/tmp/tactus-progress-XXXXXX", dir[64], command[64];
    pairs();
    if (mkdtemp(folder) == NULL || tac_mpi_begin(&ctx, &started))
        return 1;
    ctx.quiet = true;
    snprintf(dir, sizeof dir, "%s/fall.run", folder);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    run(&ctx, dir);
    CHECK(system(command) == 0, "%s", folder);
    tac_mpi_end(started);
    return check_result();
}
