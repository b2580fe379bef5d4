/* test_slack.c: which candidates are left alone after a window, against their distances. Vertices move at random over
 * many windows, of which some are run again and some are longer than was foreseen. A candidate that is left alone stays
 * over the distance under which its next layer begins, wherever its vertices are between their chords and how far they
 * stray from these; and its slack is never more than what it has. If this failed, a contact would begin late, now and
 * then, and nothing but another trajectory would tell. */
#include "events/windows/slack.h"
#include "events/windows/windows.h"
#include "unit/broadphase/world.h"

enum { WINDOWS = 40, SAMPLES_OF_WINDOW = 6 };

static struct {
    int64_t left, due, again, longer;
} seen;

/* The vertices' distance at a share of the window, m, by their chords. */
static double distance_at(const struct tac_sim *sim, size_t k, double share)
{
    const struct tac_candidates *c = sim->view.candidates;
    double x[4][3];
    struct tac_near near;
    tac_lid v[4];
    tac_slack_vertices(&c->slack.of[k], &c->list[k], v);
    for (int i = 0; i < c->list[k].count; i++)
        for (int j = 0; j < 3; j++)
            x[i][j] = c->x[3 * (size_t)v[i] + (size_t)j] + share * c->move[v[i]].u[j];
    tac_near_pair((enum tac_pair_type)c->list[k].type, x, &near);
    return near.d;
}

/* How far its vertices may be from their chords, together. */
static double stray(const struct tac_sim *sim, size_t k)
{
    const struct tac_candidates *c = sim->view.candidates;
    double most[2] = {0, 0};
    tac_lid v[4];
    tac_slack_vertices(&c->slack.of[k], &c->list[k], v);
    for (int i = 0; i < c->list[k].count; i++) {
        double *side = &most[i >= c->list[k].first];
        *side = fmax(*side, c->move[v[i]].deviation);
    }
    return most[0] + most[1];
}

static double change(const struct tac_sim *sim, size_t k)
{
    const struct tac_candidates *c = sim->view.candidates;
    double u[4][3];
    tac_lid v[4];
    tac_slack_vertices(&c->slack.of[k], &c->list[k], v);
    for (int i = 0; i < c->list[k].count; i++)
        memcpy(u[i], c->move[v[i]].u, sizeof u[i]);
    return tac_relative((enum tac_pair_type)c->list[k].type, u);
}

static double rounding(const struct world *w)
{
    return 1e-12 * w->extent;
}

static void look_at_left(const struct world *w, size_t k)
{
    const struct tac_candidate *q = &w->sim->view.candidates->list[k];
    double least = INFINITY;
    for (int i = 0; i <= SAMPLES_OF_WINDOW; i++)
        least = fmin(least, distance_at(w->sim, k, (double)i / SAMPLES_OF_WINDOW));
    least -= stray(w->sim, k);
    seen.left++;
    CHECK(least > q->next, "seed %d: candidate %zu is left alone, and comes to %g m of %g m", (int)w->seed, k, least,
          (double)q->next);
}

/* A slack is a lower bound of what there is over the next layer. */
static void look_at_slack(const struct world *w, size_t k, double share)
{
    const struct tac_candidates *c = w->sim->view.candidates;
    const float slack = share > 0 ? c->slack.of[k].end : c->slack.of[k].start;
    CHECK((double)slack <= distance_at(w->sim, k, share) - c->list[k].next + rounding(w),
          "seed %d: candidate %zu has a slack of %g m at %g m over its layer", (int)w->seed, k, (double)slack,
          distance_at(w->sim, k, share) - c->list[k].next);
}

/* Where vertices go in the next pass; their speed differs from window to window. */
static void draw_window(struct world *w, const double *from, double speed)
{
    struct tac_candidates *c = w->sim->view.candidates;
    for (tac_lid i = 0; i < w->whole->mesh->vertex_count; i++) {
        memcpy(&c->x[3 * i], from + 3 * i, 3 * sizeof *from);
        for (int k = 0; k < 3; k++)
            c->move[i].u[k] = world_immovable(w, i) ? 0 : speed * draw(w, -1, 1);
        c->move[i].deviation = world_immovable(w, i) || pick(w, 2) ? 0 : .2 * speed * draw(w, 0, 1);
    }
}

/* The pass up to `end` is judged, as validation.c does: due candidates are looked at. */
static void judge(const struct world *w, tac_time end)
{
    struct tac_candidates *c = w->sim->view.candidates;
    tac_slack_begin(w->sim, end);
    for (size_t begin = 0; begin < c->count; begin += TAC_SLACKS) {
        const size_t count = c->count - begin < TAC_SLACKS ? c->count - begin : TAC_SLACKS;
        size_t due[TAC_SLACKS], next = 0;
        const size_t found = tac_slack_use(c, begin, count, due);
        for (size_t k = begin; k < begin + count; k++) {
            const bool is_due = next < found && due[next] == k;
            double deviation;
            if (!tac_pair_is_limit((enum tac_pair_type)c->list[k].type)) {
                const double reported = tac_slack_change(c->move, &c->slack.of[k], &deviation),
                             wanted = change(w->sim, k);
                CHECK(fabs(reported - wanted) <= 1e-14 * wanted && deviation == stray(w->sim, k),
                      "candidate %zu changes by %g m and %g m, not %g m and %g m", k, reported, deviation, wanted,
                      stray(w->sim, k));
            }
            if (!is_due) {
                look_at_left(w, k);
                look_at_slack(w, k, 0);
                look_at_slack(w, k, 1);
                continue;
            }
            next++;
            seen.due++;
            CHECK((double)c->list[k].d <= distance_at(w->sim, k, 0) + rounding(w),
                  "seed %d: candidate %zu of type %d is at %.17g m, and its bound is %.17g m", (int)w->seed, k,
                  (int)c->list[k].type, distance_at(w->sim, k, 0), (double)c->list[k].d);
            CHECK(!tac_slack_left(c, k), "what is due has no slack");
            c->list[k].d = tac_single_below(distance_at(w->sim, k, 0));
            c->list[k].change = tac_single_above(change(w->sim, k));
        }
        CHECK(next == found, "candidates that are due come in their order");
    }
    c->slack.committed = false;
}

/* Who is left alone does not come near in the next windows either, which are `ahead` times as long, if it goes on so.
 */
static void look_at_future(const struct world *w, size_t k, double ahead)
{
    const struct tac_candidates *c = w->sim->view.candidates;
    const struct tac_candidate *q = &c->list[k];
    double most = 0;
    tac_lid v[4];
    tac_slack_vertices(&c->slack.of[k], q, v);
    for (int i = 0; i < q->count; i++)
        most = fmax(most, c->move[v[i]].deviation);
    const double left = distance_at(w->sim, k, 1) - 2 * ahead * change(w->sim, k) - TAC_EXPECTED_DEVIATIONS * most;
    CHECK(left > 1.05 * q->next, "seed %d: candidate %zu is left alone, and is %g m from its layer in the next windows",
          (int)w->seed, k, left - q->next);
}

/* The pass stands: who was looked at gets the slack that it has. */
static void commit(const struct world *w, double ahead)
{
    struct tac_candidates *c = w->sim->view.candidates;
    tac_slack_commit(c, ahead);
    for (size_t k = 0; k < c->count; k++) {
        struct tac_candidate *q = &c->list[k];
        if (tac_slack_left(c, k)) {
            look_at_future(w, k, ahead);
            continue;
        }
        CHECK((double)q->d - q->change <= distance_at(w->sim, k, 1) + rounding(w),
              "after a commit candidate %zu is at %g m, and its bound is %g m", k, distance_at(w->sim, k, 1),
              (double)q->d - q->change);
        q->d = tac_single_below(distance_at(w->sim, k, 1));
        if (!tac_pair_is_limit((enum tac_pair_type)q->type))
            tac_slack_lay(c, k);
        CHECK(c->slack.of[k].end == -INFINITY || (double)c->slack.of[k].end <= q->d - q->next,
              "candidate %zu is given a slack of %g m at %g m over its layer", k, (double)c->slack.of[k].end,
              (double)q->d - q->next);
    }
}

static void run(uint64_t seed, const struct world_kind *kind)
{
    struct world w;
    world_begin(&w, seed, kind, BLOCKS);
    struct tac_candidates *c = w.sim->view.candidates;
    const size_t n = (size_t)w.whole->mesh->vertex_count;
    double *from = malloc(3 * n * sizeof *from);
    world_start(&w);
    world_tell(&w);
    if (tac_candidates_build(&w.sim->view, c, WINDOW, LIFETIME) != TAC_OK)
        world_failed(&w);
    memcpy(from, c->x, 3 * n * sizeof *from);
    w.sim->paths.start = w.sim->state.now;
    c->known = c->count;
    for (size_t k = 0; k < c->count; k++)
        tac_slack_clear(c, k);
    c->slack.committed = false;
    for (int window = 0; window < WINDOWS; window++) {
        const double speed = kind->stir * kind->size * draw(&w, 0, pick(&w, 3) ? .02 : .3);
        const int again = pick(&w, 3);
        const tac_time asked = tac_windows_ask(&w.sim->windows);
        for (int attempt = 0; attempt <= again; attempt++) { /* only the last one stands */
            draw_window(&w, from, speed);
            judge(&w, w.sim->paths.start + asked);
            seen.again += attempt > 0;
        }
        const double ahead = pick(&w, 4) ? 2 : 9; /* windows of the next length: longer than was foreseen */
        seen.longer += ahead > 4;
        commit(&w, ahead);
        for (size_t i = 0; i < 3 * n; i++)
            from[i] = c->x[i] + c->move[i / 3].u[i % 3];
    }
    free(from);
    world_end(&w);
}

int main(int argc, char **argv)
{
    static const struct world_kind kinds[] = {
        {1, 0, 4, false, NULL, .2, NULL},
        {1e-6, 0, 3, false, NULL, .2, NULL},
        {1, 1e6, 3, false, NULL, .2, NULL},
        {1, 0, 2, true, "{\"kind\":\"cube\",\"edge\":0.5}", .1, NULL},
        {1, 0, 6, false, "{\"kind\":\"points\",\"vertices\":[[0,0,0],[%g,0,0],[0.1,0.2,0.1],[0.3,0.1,0.2]]}", .3, NULL},
    };
    MPI_Init(&argc, &argv);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        run(k + 1, &kinds[k]);
    printf("%d looks were left out, %d were due; %d passes were run again, %d windows were longer\n", (int)seen.left,
           (int)seen.due, (int)seen.again, (int)seen.longer);
    CHECK(seen.left > 10000 && seen.due > 1000 && seen.again > 20 && seen.longer > 10, "too little was tried");
    return world_result();
}
