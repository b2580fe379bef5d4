/* test_lengths.c: how long windows are, against costs whose best length is known. A window costs something by itself,
 * and something that grows with the square of its length; the length goes to where both cost the least per time, or to
 * the bound that is nearest to it, and stays near it, also where frames cut some windows. Where frames cut all of them
 * it becomes one that can be had. A layer group of a short period makes windows short while it is there, and shorter
 * after misses, and all of that is forgotten afterwards. If this failed, runs would be slow, with the same bits. */
#include "events/windows/windows.h"
#include "unit/broadphase/world.h"

enum { WINDOWS = 600, LOOKED_AT = 300 }; /* of all windows, so many last ones */

/* The cost per time of windows of `best` is the least: twice that of the square alone. */
static double cost_of(double length, double best)
{
    return best + length * length / best;
}

/* Windows one after the other; of so many, one is cut by a frame. The mean cost per time of the last ones, over the
 * least. */
static double run(struct world *w, double best, int cut_each)
{
    struct tac_sim *sim = w->sim;
    double cost = 0, length_s = 0;
    for (int k = 0; k < WINDOWS; k++) {
        tac_time asked = tac_windows_ask(&sim->windows);
        if (cut_each && k % cut_each == 0)
            asked = (tac_time)((double)asked * draw(w, .01, .5));
        CHECK(asked <= sim->windows.most && sim->windows.length >= sim->windows.brief, "a window of %lld quanta",
              (long long)asked);
        sim->windows.cost += cost_of((double)asked, best);
        sim->windows.last_s = tac_state_seconds(&sim->state, asked);
        tac_windows_adapt(sim, 0, asked);
        if (k < WINDOWS - LOOKED_AT || asked < tac_windows_ask(&sim->windows) / 2)
            continue;
        cost += cost_of((double)asked, best);
        length_s += (double)asked;
    }
    return cost / length_s / 2;
}

static void begin(struct world *w, uint64_t seed)
{
    static const struct world_kind kind = {1, 0, 3, false, "{\"kind\":\"cube\",\"edge\":%g}", .1, NULL};
    world_begin(w, seed, &kind, BLOCKS);
    w->sim->windows.least_period = TAC_TIME_NEVER;
}

/* Trials of other lengths cost something, and lengths are told apart by a factor of two. */
static void best_lengths(void)
{
    struct world w;
    for (int k = -3; k <= 8; k++) {
        begin(&w, 1);
        const double brief = (double)w.sim->windows.brief, most = (double)w.sim->windows.most;
        const double best = brief * pow(1.7, k), there = fmin(most, fmax(brief, best));
        const double least = cost_of(there, best) / there / 2, mean = run(&w, best, k % 3 == 0 ? 5 : 0);
        CHECK(mean < 1.35 * least,
              "windows of the best length cost %g per time, and these %g (best: %g of the shortest)", least, mean,
              best / brief);
        world_end(&w);
    }
}

/* Frames come before any window of the length ends. */
static void always_cut(void)
{
    struct world w;
    begin(&w, 2);
    const tac_time frame = w.sim->windows.brief;
    CHECK(w.sim->windows.length > 2 * frame, "the first length is too short for this to test something");
    for (int k = 0; k < 100; k++) {
        const tac_time asked = tac_windows_ask(&w.sim->windows) < frame ? tac_windows_ask(&w.sim->windows) : frame;
        w.sim->windows.cost += cost_of((double)asked, 1e3 * (double)frame); /* longer ones would be better */
        w.sim->windows.last_s = tac_state_seconds(&w.sim->state, asked);
        tac_windows_adapt(w.sim, 0, asked);
    }
    CHECK(w.sim->windows.length <= 2 * frame, "windows are still %g frames long",
          (double)w.sim->windows.length / (double)frame);
    world_end(&w);
}

/* A layer group that would tick more often in a window than it should. */
static void deep_layers(void)
{
    struct world w;
    begin(&w, 3);
    struct tac_windows *windows = &w.sim->windows;
    const tac_time length = windows->length, ticks = windows->ticks;
    windows->least_period = length / (4 * ticks);
    CHECK(tac_windows_ask(&w.sim->windows) == ticks * windows->least_period &&
              tac_windows_ask(&w.sim->windows) < length,
          "a deep layer makes windows short");
    for (int misses = 1; misses <= 4; misses++) {
        tac_windows_adapt(w.sim, 1, tac_windows_ask(&w.sim->windows));
        const tac_time halves = misses < 2 ? misses : 2; /* no shorter than a quarter */
        CHECK(tac_windows_ask(&w.sim->windows) == (ticks >> halves) * windows->least_period,
              "after %d misses windows have %lld quanta", misses, (long long)tac_windows_ask(&w.sim->windows));
    }
    for (int calm = 1; calm <= 3; calm++)
        tac_windows_adapt(w.sim, 0, tac_windows_ask(&w.sim->windows));
    CHECK(tac_windows_ask(&w.sim->windows) == ticks * windows->least_period,
          "after calm windows there are as many ticks as before");
    CHECK(windows->length == length, "the length itself is not touched");
    windows->least_period = TAC_TIME_NEVER;
    CHECK(tac_windows_ask(&w.sim->windows) == length, "without the layer windows have their length again");
    world_end(&w);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    best_lengths();
    always_cut();
    deep_layers();
    return world_result();
}
