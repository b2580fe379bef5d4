/* step.c: makes one time step: it minimises the incremental potential, in parts if necessary
 * (docs/reference/implicit.md, One step; Steps that are halved). */
#include "base/exchange.h"
#include "implicit/parts.h"
#include "partition/part.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tac_time tac_implicit_step_time(const struct tac_implicit *sim, int64_t k)
{
    return tac_scene_grid(sim->scene, sim->scene->settings->implicit.step_s, k);
}

/* ---- the step's start ---- */

static void begin_held(struct tac_implicit *sim)
{
    for (tac_lid v = 0; v < sim->count; v++)
        sim->newton.held[v] = !sim->scene->mesh->ever_free[v] && !tac_implicit_scripted(sim, v);
}

/* Collective. Computes how far inertia, gravity, loads and scripts would take a vertex at most, m. */
static enum tac_err foretell(struct tac_implicit *sim, double *ahead)
{
    double most = 0, *by_wind = sim->newton.p; /* displacement by the wind, which is no part of x^ */
    memset(by_wind, 0, 3 * (size_t)sim->count * sizeof *by_wind);
    for (size_t k = 0; k < sim->given.wind_count; k++) {
        const struct tac_load_element *l = &sim->given.loads.element[sim->given.wind[k].element];
        double push[3];
        tac_implicit_wind_push(sim, &sim->given.wind[k], sim->newton.x0, push);
        for (int i = 0; i < l->count; i++)
            for (size_t c = 0; c < 3 && sim->scene->mesh->mass[l->v[i]] > 0; c++)
                by_wind[3 * (size_t)l->v[i] + c] += sim->weight * push[c] / sim->scene->mesh->mass[l->v[i]];
    }
    for (size_t v = 0; v < (size_t)sim->owned; v++) {
        const struct tac_implicit_script *s = tac_implicit_script(sim, (tac_lid)v);
        if (tac_rigid_is_anchor(sim,
                                (tac_lid)v)) /* it goes with its body, and what is kept of it may be a motor's state */
            continue;
        const double *to = s != NULL && s->on ? s->target : &sim->newton.ahead[3 * v];
        for (size_t c = 0; c < 3 && !sim->newton.held[v]; c++)
            most = fmax(most, fabs(to[c] - sim->newton.x0[3 * v + c]) + fabs(by_wind[3 * v + c]));
    }
    *ahead = fmax(most, tac_rigid_ahead(sim));
    return tac_over_ranks(sim->ctx, ahead, 1, MPI_DOUBLE, MPI_MAX);
}

static enum tac_err begin(struct tac_implicit *sim)
{
    enum tac_err err;
    sim->contact.sliding_count = 0;
    sim->contact.foreseen_count = 0;
    sim->newton.pull = 0;
    memcpy(sim->newton.x0, sim->x, 3 * (size_t)sim->count * sizeof *sim->x);
    tac_rigid_nodes_begin(&sim->rigid);
    TAC_TRY(tac_implicit_scripts_begin(sim, sim->part.from, sim->part.to));
    begin_held(sim);
    TAC_TRY(tac_implicit_ghosts_refresh(sim));
    tac_implicit_begin_scheme(sim);
    if (sim->now == 0)
        tac_implicit_scripts_push(sim);
    TAC_TRY(tac_implicit_start_scheme(sim));
    tac_implicit_predict(sim, true);
    tac_rigid_begin_motors(sim);
    tac_implicit_begin_wind(sim);
    TAC_TRY(foretell(sim, &sim->part.ahead));
    tac_implicit_begin_dampers(sim);
    memset(sim->newton.p, 0, 3 * (size_t)sim->count * sizeof *sim->newton.p);
    TAC_TRY(tac_implicit_find(sim, sim->x, sim->newton.p, 1));
    tac_implicit_weigh_all(sim);
    TAC_TRY(tac_agree(sim->ctx, tac_implicit_touch(sim, sim->x)));
    TAC_TRY(tac_implicit_begin_stiffness(sim, sim->x, &sim->newton.kappa));
    TAC_TRY(tac_agree(sim->ctx, tac_implicit_lag(sim, sim->x)));
    TAC_TRY(tac_implicit_begin_system(sim));
done:
    return err;
}

/* ---- the step's end ---- */

/* Gives every accepted iterate of the part an instant of its own, evenly spaced. */
static enum tac_err date_iterates(struct tac_implicit *sim, tac_time from, tac_time to)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_kept *k = &sim->kept;
    const size_t first = k->t_count, count = k->iterates - first;
    if (k->record == NULL)
        return TAC_OK;
    TAC_TRY(tac_grow(sim->ctx, &k->t, &k->t_capacity, k->iterates + 1, sizeof *k->t));
    for (size_t n = 1; n <= count; n++)
        k->t[k->t_count++] = n == count ? to : from + (tac_time)((double)(to - from) * ((double)n / (double)count));
done:
    return err;
}

static void tell_record(struct tac_implicit *sim)
{
    for (size_t n = 0; n < sim->kept.iterates; n++)
        for (tac_lid i = 0; i < sim->owned; i++)
            if (sim->scene->mesh->ever_free[i] || sim->scripts.script_of[i] >= 0)
                tac_recorder_keep(sim->kept.record, i, sim->kept.t[n],
                                  &sim->kept.iterate[3 * (n * (size_t)sim->owned + (size_t)i)]);
}

/* The same on all ranks. Without friction no new lag is needed. */
static bool any_friction(const struct tac_implicit *sim)
{
    const struct tac_contact_settings *c = &sim->scene->settings->contact;
    bool any = false;
    for (tac_lid i = 0; i < c->law_count; i++)
        any = any || c->law[i].friction > 0;
    return any;
}

/* Wall time so far of the parts that steps.csv lists. */
static void parts_so_far(const struct tac_implicit *sim, double s[3])
{
    const struct tac_counters *c = &sim->books.counters;
    s[0] = c->seconds_discovery;
    s[1] = c->seconds_forces;
    s[2] = c->seconds_contact; /* with the implicit integrator: of the linear solver */
}

/* ---- parts ---- */

/* Goes to the minimum at the end of the part, unless an iterate goes astray. */
static enum tac_err solve(struct tac_implicit *sim)
{
    enum tac_err err;
    bool there, settled = false;
    const int64_t lags = sim->scene->settings->implicit.lags;
    TAC_TRY(begin(sim));
    TAC_TRY(tac_implicit_least_gap(sim, &sim->newton.start_gap));
    TAC_TRY(tac_implicit_move_all(sim, &there));
    for (int64_t lag = 0; lags > 0 ? lag < lags : !settled; lag++) {
        if (lag > 0)
            TAC_TRY(tac_agree(sim->ctx, tac_implicit_lag(sim, sim->x)));
        TAC_TRY(tac_implicit_balance(sim, &there));
        if (sim->part.astray && sim->part.level < TAC_LEVELS)
            break;
        settled = !any_friction(sim) || (lag > 0 && sim->newton.rests);
    }
done:
    return err;
}

static enum tac_err finish(struct tac_implicit *sim)
{
    enum tac_err err;
    TAC_TRY(tac_implicit_enter_step(sim));
    if (any_friction(sim))
        TAC_TRY(tac_implicit_lag_residual(sim, &sim->last_step.lag_residual));
    tac_implicit_flow(sim);
    tac_implicit_end_scheme(sim);
    TAC_TRY(tac_agree(sim->ctx, date_iterates(sim, sim->part.from, sim->part.to)));
    sim->now = sim->part.to;
    sim->level = sim->part.level;
    sim->last_step.parts++;
done:
    return err;
}

/* How often a part that failed may be halved: not at all if the error is not of Newton's method; seldom if rounding
 * errors prevented convergence, because shorter steps rarely help then. */
static int deepest_level(struct tac_implicit *sim)
{
    int level = !sim->part.unsolved ? 0 : sim->part.rounding ? TAC_LEVELS_OF_ROUNDING : TAC_LEVELS;
    if (sim->ctx->size > 1 && MPI_Allreduce(MPI_IN_PLACE, &level, 1, MPI_INT, MPI_MIN, sim->ctx->comm) != MPI_SUCCESS)
        return 0;
    return level;
}

/* The work on a scene without a solution is limited. */
static int64_t most_in_all(const struct tac_implicit *sim)
{
    const int64_t most = sim->scene->settings->implicit.most;
    return TAC_TRIALS * (most > TAC_FEWEST ? most : TAC_FEWEST);
}

/* Adds to ctx->error, which says why the whole step failed, how short the parts were that failed, too. */
static void tell_halves(struct tac_ctx *ctx, int level)
{
    const size_t length = strlen(ctx->error);
    if (level > 0)
        snprintf(ctx->error + length, sizeof ctx->error - length,
                 "; it was tried in parts, too, the shortest of integrator.step_s / %d", 1 << level);
}

/* Solves the part of the step that begins at the present state. *done is false, and the state has not changed, if the
 * part has to be halved. said (as large as ctx->error): the sentence of the first part of this step that failed. */
static enum tac_err try_part(struct tac_implicit *sim, tac_time from, tac_time to, int level, char *said, bool *done)
{
    enum tac_err err;
    struct tac_implicit_undo *undo = NULL;
    sim->part = (struct tac_implicit_part){.from = from, .to = to, .level = level, .firm = sim->last_step.unsolved};
    sim->scale.h = sim->scene->settings->implicit.step_s / (1 << level);
    sim->kept.iterates = sim->kept.t_count;
    TAC_TRY(tac_agree(sim->ctx, tac_implicit_undo_create(sim, &undo)));
    err = solve(sim);
    *done = !(sim->part.astray && level < TAC_LEVELS);
    if (err) {
        const int deepest = deepest_level(sim);
        const bool unsolved = deepest > 0, again = level < deepest && sim->last_step.newton < most_in_all(sim);
        sim->last_step.unsolved |= unsolved;
        if (unsolved && said[0] == '\0')
            memcpy(said, sim->ctx->error, sizeof sim->ctx->error);
        else if (unsolved && !again) /* the reason why the whole step failed says more */
            memcpy(sim->ctx->error, said, sizeof sim->ctx->error);
        if (unsolved && !again)
            tell_halves(sim->ctx, level);
        *done = false;
        if (again) {
            sim->ctx->error[0] = '\0';
            err = TAC_OK;
        }
        const enum tac_err undone = tac_implicit_undo(sim, undo);
        err = err ? err : undone;
    } else if (*done) {
        err = finish(sim);
    } else {
        err = tac_implicit_undo(sim, undo);
    }
done:
    tac_implicit_undo_destroy(&undo);
    return err;
}

/* Warns of a step that was solved in parts. Only the first ones are reported, because steps.csv has all. */
static void warn(struct tac_implicit *sim, double from_s, int level, bool astray)
{
    const bool given = sim->last_step.unsolved && sim->scene->settings->implicit.stiffness > 0;
    enum { MOST_WARNINGS = 8 };
    if (sim->halved++ >= MOST_WARNINGS)
        return;
    tac_warn(sim->ctx,
             "the step from t = %.9g s was done in %lld parts, the shortest of integrator.step_s / %d, because %s%s%s",
             from_s, (long long)sim->last_step.parts, 1 << level,
             astray ? "in one piece it took vertices much farther than anything would move them"
                    : "Newton's method did not solve it in one piece",
             given ? "; where integrator.barrier.stiffness was less than \"adaptive\" is, that was used" : "",
             sim->halved == MOST_WARNINGS ? "; further ones are only in the column `parts` of steps.csv" : "");
}

/* Solves the parts one after the other. A part that cannot be solved is divided into two halves. */
static enum tac_err do_parts(struct tac_implicit *sim, tac_time to)
{
    enum { PARTS = 1 << TAC_LEVELS };
    enum tac_err err = TAC_OK;
    const tac_time from = sim->now, first = tac_implicit_step_time(sim, sim->step);
    const tac_time part = (tac_implicit_step_time(sim, sim->step + 1) - first) / PARTS;
    struct tac_implicit_undo *undo = NULL;
    char said[sizeof sim->ctx->error] = "";
    bool astray = false;
    int level = 0, deepest = 0;
    for (int at = 0; at < PARTS;) {
        const int size = PARTS >> level;
        bool done;
        TAC_TRY(try_part(sim, first + at * part, first + (at + size) * part, level, said, &done));
        if (!done) {
            if (undo == NULL) {
                astray = sim->part.astray;
                TAC_TRY(tac_agree(sim->ctx, tac_implicit_undo_create(sim, &undo)));
            }
            level++;
            deepest = level > deepest ? level : deepest;
            continue;
        }
        at += size;
        for (level = 0; at % (PARTS >> level) != 0;) /* the next part is as long as its start allows */
            level++;
    }
    if (sim->kept.t_count > 0)
        sim->kept.t[sim->kept.t_count - 1] = to;
    if (deepest > 0)
        warn(sim, (double)from * sim->scene->settings->quantum_s, deepest, astray);
done:
    if (err && undo != NULL)
        (void)tac_implicit_undo(sim, undo); /* there is an error already */
    tac_implicit_undo_destroy(&undo);
    sim->part = (struct tac_implicit_part){.level = 0};
    sim->scale.h = sim->scene->settings->implicit.step_s;
    return err;
}

enum tac_err tac_implicit_step(struct tac_implicit *sim, tac_time limit)
{
    enum tac_err err;
    const double begin_s = tac_wall_s();
    double before_s[3], after_s[3];
    parts_so_far(sim, before_s);
    tac_time to = tac_implicit_step_time(sim, sim->step + 1);
    if (to > limit - TAC_FRAME_GRAIN) /* an end that is no multiple of the step */
        to = limit;
    memset(&sim->last_step, 0, sizeof sim->last_step);
    sim->last_step.least_share = 1;
    sim->kept.iterates = sim->kept.t_count = 0;
    TAC_TRY(do_parts(sim, to));
    if (sim->kept.record != NULL)
        tell_record(sim);
    sim->step++;
    sim->now = to;
    sim->books.counters.windows++;
    sim->last_step.wall_s = tac_wall_s() - begin_s;
    parts_so_far(sim, after_s);
    for (int k = 0; k < 3; k++)
        sim->last_step.part_s[k] = after_s[k] - before_s[k];
done:
    return err;
}
