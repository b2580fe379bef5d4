/* test_windows.c: single windows in the middle of scenes where things touch. A pass that is taken back leaves every bit
 * of the state as it was. What a pass tells of the motion of vertices is true of their paths: chords, deviations,
 * speeds, and who left its bound. In a pass that is much too long, and in which pairs sleep much too long, every layer
 * that was reached without being active, and every skipped tick that was not silent, is found by validation, no later
 * than it happened. Last, a run in which all that was done, and pairs sleep too long in every window, ends with the
 * same bits. If this failed, contacts would be missed, or a bit would differ after some rollback. */
#include "broadphase/candidates.h"
#include "events/windows/slack.h"
#include "events/windows/validation.h"
#include "events/windows/windows.h"
#include "geometry/closest_points.h"
#include "same_state.h"
#include "unit/events/support.h"

#include <math.h>

enum { MOMENTS = 9, SAMPLES = 24, MOST_SAMPLED = 40 };

static struct {
    int64_t deviations, leavers, missed, sleeps, slept, passes, births;
} seen;

/* ---- paths: where a vertex is at t, from what the pass kept of it ---- */

static void line_at(const struct tac_sim *sim, const double x[3], const double v[3], tac_time from, tac_time t,
                    double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = x[k] + tac_state_seconds(&sim->state, t - from) * v[k];
}

/* Of a vertex that keeps breakpoints, or never moves by itself: exactly.  Of others by their chord. */
static void place(const struct tac_sim *sim, tac_lid i, tac_time t, double out[3])
{
    const struct tac_candidates *c = sim->view.candidates;
    if (sim->state.vel[i].w == 0) {
        tac_position(&sim->state, &sim->scripts, i, t, out);
        return;
    }
    if (sim->paths.near[i] != 1) {
        const double share = (double)(t - sim->paths.start) / (double)(sim->paths.end - sim->paths.start);
        for (int k = 0; k < 3; k++)
            out[k] = c->x[3 * (size_t)i + (size_t)k] + share * c->move[i].u[k];
        return;
    }
    const struct tac_line *line = &sim->paths.line[i];
    tac_time from = line->t;
    const double *x = line->x;
    for (int32_t b = sim->paths.break_head[i] >= 0 ? sim->paths.break_first[i] : -1; b >= 0;
         b = sim->paths.breaks[b].next) {
        const struct tac_break *next = &sim->paths.breaks[b];
        if (next->t >= t) {
            const double share = (double)(t - from) / (double)(next->t - from);
            for (int k = 0; k < 3; k++)
                out[k] = x[k] + share * (next->x[k] - x[k]);
            return;
        }
        from = next->t;
        x = next->x;
    }
    line_at(sim, x, sim->state.vel[i].v, from, t, out);
}

static double distance_at(const struct tac_sim *sim, enum tac_pair_type type, const tac_lid *v, tac_time t)
{
    struct tac_near near;
    double x[4][3];
    for (int i = 0; i < tac_pair_vertices(type); i++)
        place(sim, v[i], t, x[i]);
    tac_model_gather(sim->model, type, v, x);
    tac_near_pair(type, x, &near);
    return near.d;
}

/* ---- what a pass tells of its motion ---- */

static double size_of(const double x[3])
{
    return sqrt(tac_dot(x, x));
}

static void look_at_motion(const struct tac_sim *sim, tac_lid i)
{
    const struct tac_candidates *c = sim->view.candidates;
    const struct tac_move *move = &c->move[i];
    const tac_time start = sim->paths.start, end = sim->paths.end;
    const double length_s = tac_state_seconds(&sim->state, end - start), round = 1e-13 * c->extent;
    double from[3], to[3], before[3], off[3];
    if (sim->state.vel[i].w == 0 || sim->paths.near[i] != 1)
        return;
    seen.deviations++;
    place(sim, i, start, from);
    place(sim, i, end, to);
    memcpy(before, from, sizeof before);
    tac_sub(off, from, &c->x[3 * (size_t)i]);
    CHECK(size_of(off) <= round, "vertex %d does not begin where it is", (int)i);
    for (int k = 0; k < 3; k++)
        off[k] = to[k] - from[k] - move->u[k];
    CHECK(size_of(off) <= 4 * round, "vertex %d does not end where it is, by %g m", (int)i, size_of(off));
    tac_time last = start;
    for (int32_t b = sim->paths.break_head[i] >= 0 ? sim->paths.break_first[i] : -1; b >= 0;
         b = sim->paths.breaks[b].next) {
        const struct tac_break *next = &sim->paths.breaks[b];
        const double share = tac_state_seconds(&sim->state, next->t - start) / length_s,
                     dt = tac_state_seconds(&sim->state, next->t - last);
        if (next->t <= start)
            continue;
        for (int k = 0; k < 3; k++)
            off[k] = next->x[k] - (from[k] + share * move->u[k]);
        CHECK(size_of(off) <= move->deviation + 4 * round, "vertex %d is %g m from its chord, not %g m", (int)i,
              size_of(off), move->deviation);
        for (int k = 0; k < 3; k++)
            off[k] = (next->x[k] - before[k]) / dt - move->u[k] / length_s;
        CHECK(size_of(off) <= move->speed * (1 + 1e-6) + 4 * round / dt,
              "vertex %d has %g m/s beside its chord, not %g m/s", (int)i, size_of(off), move->speed);
        memcpy(before, next->x, sizeof before);
        last = next->t;
    }
}

/* Those are leavers that may be outside their bounds in the pass, and no others. */
static void look_at_leavers(const struct tac_sim *sim)
{
    const struct tac_candidates *c = sim->view.candidates;
    const tac_time end = sim->paths.end;
    const double s = tac_state_seconds(&sim->state, end - c->start);
    size_t reported = 0;
    if (end > c->end || c->repair.leaver_count > c->repair.leaver_most)
        return;
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        const struct tac_path_bound *bound = &c->path_bound[i];
        double off[3];
        for (int k = 0; k < 3; k++)
            off[k] = c->x[3 * (size_t)i + (size_t)k] + c->move[i].u[k] - (bound->x[k] + s * bound->v[k]);
        const double far = fmax(size_of(off), bound->offset) + c->move[i].deviation;
        const bool is_reported = reported < c->repair.leaver_count && c->repair.leaver[reported] == i;
        reported += is_reported;
        if (bound->radius > 0 && fabs(far - bound->radius) > 1e-12 * c->extent)
            CHECK(is_reported == (far > bound->radius), "vertex %d is %g m from its bound's centre of radius %g m",
                  (int)i, far, bound->radius);
    }
    CHECK(reported == c->repair.leaver_count, "leavers come in order");
    seen.leavers += (int64_t)reported;
}

/* ---- what validation must find ---- */

struct found {
    const struct tac_sim *sim;
    const struct tac_validation *validation;
    double way; /* most that a distance changes by in the pass, m */
};

static double longest_way(const struct tac_sim *sim)
{
    double most = 0;
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        const struct tac_move *move = &sim->view.candidates->move[i];
        most = fmax(most, size_of(move->u) + 2 * move->deviation);
    }
    return 2 * most;
}

/* When was the candidate of this key missed, by validation? */
static tac_time missed_at(const struct found *f, uint64_t key)
{
    const struct tac_candidates *c = f->sim->view.candidates;
    tac_time t = TAC_TIME_NEVER;
    for (size_t k = 0; k < f->validation->count; k++)
        if (c->list[f->validation->miss[k].candidate].key == key && f->validation->miss[k].t < t)
            t = f->validation->miss[k].t;
    return t;
}

/* Distance under which its first layer that was not active at t begins. */
static double next_at(const struct tac_sim *sim, const struct tac_form *form, int32_t slot, tac_time t)
{
    if (slot < 0)
        return tac_model_reach(sim->model, form, 1);
    const struct tac_pair *p = &sim->active.pair[slot];
    for (int32_t k = p->births > 0 ? p->first_birth : -1; k >= 0; k = sim->active.birth[k].following)
        if (t <= sim->active.birth[k].t)
            return sim->active.birth[k].next;
    return p->next;
}

static void look_at_pair(const struct found *f, enum tac_pair_type type, const tac_lid *v, tac_lid a, tac_lid b)
{
    const struct tac_sim *sim = f->sim;
    const tac_time start = sim->paths.start, end = sim->paths.end;
    struct tac_form form;
    if (!tac_model_is_pair(sim->model, type, v))
        return;
    tac_model_form(sim->model, type, v, &form);
    uint64_t key = tac_pair_key(type, a, b);
    const int32_t slot = tac_active_find(&sim->active, key);
    for (int k = 0; k <= SAMPLES; k++) {
        const tac_time t = start + (end - start) / SAMPLES * k;
        const double d = distance_at(sim, type, v, t), next = next_at(sim, &form, slot, t);
        if (k == 0 && d - f->way > tac_model_reach(sim->model, &form, 1)) /* far */
            return;
        if (d >= next * (1 - 1e-6))
            continue;
        seen.missed++;
        const tac_time reported = missed_at(f, key);
        CHECK(reported <= t, "pair of type %d, %d and %d, comes to %g m of %g m at %lld and is missed", (int)type,
              (int)a, (int)b, d, next, (long long)t);
        return;
    }
}

static void look_at_all_pairs(const struct found *f)
{
    const struct tac_local_mesh *m = f->sim->scene->mesh;
    const tac_lid *e = m->topology->edge;
    for (tac_lid p = 0; p < m->vertex_count; p++)
        for (tac_lid t = 0; t < m->triangle_count; t++)
            look_at_pair(f, TAC_PAIR_VERTEX_TRIANGLE,
                         (tac_lid[]){p, m->triangle[3 * t], m->triangle[3 * t + 1], m->triangle[3 * t + 2]}, p, t);
    for (tac_lid a = 0; a < m->topology->edge_count; a++)
        for (tac_lid b = a + 1; b < m->topology->edge_count; b++)
            look_at_pair(f, TAC_PAIR_EDGE_EDGE, (tac_lid[]){e[2 * a], e[2 * a + 1], e[2 * b], e[2 * b + 1]}, a, b);
}

/* Ticks that were skipped were silent, or their pair was found. */
static void check_sleeps(const struct found *f)
{
    const struct tac_sim *sim = f->sim;
    for (size_t slot = 0; slot < sim->active.pair_count; slot++) {
        const struct tac_pair *p = &sim->active.pair[slot];
        bool slept = false;
        if (!p->live)
            continue;
        for (int32_t k = p->last_sleep; k >= 0; k = sim->active.sleep[k].following) {
            const struct tac_sleep *sleep = &sim->active.sleep[k];
            const tac_time to = sleep->to < sim->paths.end ? sleep->to : sim->paths.end;
            seen.sleeps++;
            for (int i = 0; i <= MOST_SAMPLED && sleep->from < to; i++)
                slept = slept ||
                        distance_at(sim, (enum tac_pair_type)p->type, p->v,
                                    sleep->from + (to - sleep->from) / MOST_SAMPLED * i) < sleep->clear * (1 - 1e-6);
        }
        seen.slept += slept;
        CHECK(!slept || p->slept_too_long || missed_at(f, p->key) < TAC_TIME_NEVER,
              "a tick of pair %d was skipped, and not silent", (int)slot);
    }
}

/* ---- one pass that is taken back ---- */

static void failed(struct experiment *e)
{
    printf("%s: %s\n", e->scene->settings->path, e->ctx.error);
    exit(2);
}

/* Pairs are taken to be much slower than they are, so that they skip too many ticks. */
static void spoil_speeds(struct tac_sim *sim, double share)
{
    for (size_t k = 0; k < sim->active.pair_count; k++)
        sim->active.pair[k].speed *= share;
}

/* Layers that came in the pass are taken to have come at its end; what ticks told before that proves nothing then. */
static void delay_births(struct tac_sim *sim, tac_time end)
{
    for (size_t k = 0; k < sim->active.birth_count; k++) {
        sim->active.birth[k].t = end;
        sim->active.birth[k].least = -INFINITY;
    }
}

static void try_pass(struct experiment *e, int lengths, bool spoil)
{
    struct tac_sim *sim = e->sim;
    struct tac_candidates *c = sim->view.candidates;
    struct tac_validation validation = {.bad = -1};
    struct tac_checkpoint *before = NULL, *after = NULL;
    enum tac_repair what = TAC_REPAIR_DONE;
    tac_time end = sim->state.now + lengths * tac_windows_ask(&sim->windows);
    tac_lid bad = -1;
    end = end < sim->scripts.next_knot ? end : sim->scripts.next_knot;
    if (tac_state_collect(sim, false, &before) != TAC_OK)
        failed(e);
    double *speed = malloc((sim->active.pair_count + 1) * sizeof *speed);
    for (size_t k = 0; k < sim->active.pair_count; k++)
        speed[k] = sim->active.pair[k].speed;
    if (spoil)
        spoil_speeds(sim, 1e-3);
    if (tac_pass_begin(sim) != TAC_OK)
        failed(e);
    end = tac_pass_run(sim, end);
    sim->paths.end = end;
    seen.passes++;
    seen.births += (int64_t)sim->active.birth_count;
    if (!spoil)
        delay_births(sim, end);
    const bool whole = end > sim->paths.start && tac_windows_measure(sim, end, &bad, &validation.wildest) &&
                       validation.wildest <= 256 * c->skin;
    if (whole) {
        for (tac_lid i = 0; i < sim->state.owned; i++)
            look_at_motion(sim, i);
        if (!tac_windows_hold(sim, end, false)) {
            look_at_leavers(sim);
            if (tac_candidates_repair(&sim->view, c, end - sim->paths.start, &what) != TAC_OK)
                failed(e);
        }
        if (what == TAC_REPAIR_NOT) {
            c->known = 0;
            if (tac_candidates_build(&sim->view, c, end - sim->paths.start, 2 * (end - sim->paths.start)) != TAC_OK)
                failed(e);
        }
        if (tac_validate(sim, end, &validation, TAC_VALIDATE_LIST) != TAC_OK)
            failed(e);
        const struct found f = {sim, &validation, longest_way(sim)};
        look_at_all_pairs(&f);
        check_sleeps(&f);
    }
    /* What was activated in the pass goes, and what was active before it stays. */
    for (size_t k = 0; k < sim->active.pair_count; k++)
        sim->active.pair[k].slept_too_long = 0;
    if (tac_pass_rollback(sim, sim->state.now) != TAC_OK || tac_state_collect(sim, false, &after) != TAC_OK)
        failed(e);
    same_state(before, after);
    for (size_t k = 0; k < c->count; k++)
        if (c->list[k].slot >= 0)
            c->list[k].next = tac_single_above(sim->active.pair[c->list[k].slot].next);
    for (size_t k = 0; k < sim->active.pair_count; k++)
        sim->active.pair[k].speed = speed[k];
    free(speed);
    free(validation.miss);
    free(validation.open);
    tac_checkpoint_destroy(&before);
    tac_checkpoint_destroy(&after);
}

/* ---- runs ---- */

static void same_end(struct experiment *a, struct experiment *b)
{
    struct tac_checkpoint *states[2] = {NULL, NULL};
    if (tac_state_collect(a->sim, false, &states[0]) != TAC_OK ||
        tac_state_collect(b->sim, false, &states[1]) != TAC_OK)
        failed(a);
    same_vertices(states[0], states[1]); /* which silent pairs are watched depends on the windows */
    same_elements(states[0], states[1]);
    CHECK(memcmp(&a->row, &b->row, sizeof a->row) == 0, "energies of %s", a->scene->settings->path);
    tac_checkpoint_destroy(&states[0]);
    tac_checkpoint_destroy(&states[1]);
}

/* run_to() with pairs that are taken to be slow in every window. */
static bool run_asleep(struct experiment *e, double t_s)
{
    const tac_time t = tac_scene_quanta(e->scene, t_s);
    e->sim->books.before_at = t;
    while (e->sim->state.now < t) {
        spoil_speeds(e->sim, .02);
        if (tac_sim_advance(e->sim, t))
            return false;
    }
    return tac_sim_energy(e->sim, &e->row) == TAC_OK;
}

static void scene(const char *file, const char *const *change, int changes)
{
    struct settings s = {.count = 0};
    struct experiment calm, spoilt;
    for (int k = 0; k < changes; k++)
        set(&s, "%s", change[k]);
    begin(&calm, file, &s);
    begin(&spoilt, file, &s);
    const double end_s = calm.scene->settings->end_s;
    for (int k = 1; k <= MOMENTS; k++) {
        const double t_s = end_s * k / MOMENTS;
        CHECK(run_to(&calm, t_s) && run_asleep(&spoilt, t_s), "%s at %g s: %s %s", file, t_s, calm.ctx.error,
              spoilt.ctx.error);
        if (k == MOMENTS)
            break;
        try_pass(&spoilt, 1, true);
        try_pass(&spoilt, 4, k % 2 == 0);
        try_pass(&spoilt, 16, k % 2 == 1);
    }
    same_end(&calm, &spoilt);
    printf("%s: %d passes, %d layers born in them; %d deviations, %d leavers, %d pairs missed, %d sleeps, of which %d "
           "too long; %d and %d rollbacks\n",
           file, (int)seen.passes, (int)seen.births, (int)seen.deviations, (int)seen.leavers, (int)seen.missed,
           (int)seen.sleeps, (int)seen.slept, (int)calm.sim->books.counters.rollbacks,
           (int)spoilt.sim->books.counters.rollbacks);
    end(&calm);
    end(&spoilt);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    scene("tests/system/equality/scenes/crossing-ribbons.json", (const char *const[]){"contact.friction=0.3"}, 1);
    scene("tests/system/equality/scenes/cloth-over-sphere.json", (const char *const[]){"contact.restitution=0.5"}, 1);
    scene("tests/system/equality/scenes/ball-between-walls.json", NULL, 0);
    scene("tests/unit/events/scenes/every-force.json", (const char *const[]){"time.end=0.125"}, 1);
    CHECK(seen.births > 10 && seen.deviations > 1000 && seen.leavers > 10 && seen.missed > 100 && seen.sleeps > 100 &&
              seen.slept > 10,
          "too little was tried");
    MPI_Finalize();
    return check_result();
}
