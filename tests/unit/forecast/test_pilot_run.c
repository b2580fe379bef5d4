/* A pilot that ends amid a run, against one that goes to the end: the counts that it extends to the end are those of
 * the whole run within a factor, where it has seen the cloth come to rest; where it has not, it says so. All by
 * simulated time, so the machine has no part in it. If this fails, users plan with counts that are wrong. */
#include "check.h"
#include "forecast/pilot.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A cloth falls on a ball, drapes over it and the floor, and comes to rest after about a second. */
static const char asynchronous[] = "";
static const char implicit[] = ", 'integrator': {'kind': 'implicit', 'step_s': 0.0078125}";

static void write_scene(char *text, size_t size, const char *more)
{
    snprintf(text, size,
             "{'format': 'tactus-scene/1', 'time': {'end': 4, 'frame': 0.125}, 'gravity': [0, -9.81, 0],"
             "'contact': {'thickness': 0.004, 'stiffness': 50, 'friction': 0.5},"
             "'materials': {'cloth': {'density': 0.2, 'stretch': {'model': 'cst', 'stiffness': 60, 'poisson': 0.3},"
             "                        'bend': {'model': 'hinge', 'stiffness': 1e-6}}},"
             "'bodies': [{'name': 'floor', 'fixed': true, 'mesh': {'kind': 'grid', 'size': [4, 4], 'cells': [1, 1]}},"
             "{'name': 'ball', 'fixed': true, 'position': [0, 0.1, 0],"
             " 'mesh': {'kind': 'sphere', 'radius': 0.05, 'level': 1}},"
             "{'name': 'sheet', 'material': 'cloth', 'position': [0.02, 0.2, 0],"
             " 'mesh': {'kind': 'grid', 'size': [0.2, 0.2], 'cells': [6, 6]}}]%s}",
             more);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
}

static struct tac_pilot *run(struct tac_ctx *ctx, const char *text, double until_s)
{
    const struct tac_scene_source source = {.text = text};
    const struct tac_pilot_options options = {.seconds = 1e6, .until_s = until_s};
    struct tac_pilot *p = NULL;
    const enum tac_err err = tac_pilot_run(ctx, &source, &options, &p);
    TAC_CHECK(err == TAC_OK);
    return p;
}

static double final(const struct tac_pilot *p, enum tac_sample_field field)
{
    return p->sample[p->count - 1].of[field];
}

/* field: what is counted; within: the factor. */
static void compare(struct tac_ctx *ctx, const char *more, enum tac_sample_field field, double within)
{
    char text[2048], note[96];
    write_scene(text, sizeof text, more);
    struct tac_pilot *whole = run(ctx, text, 0), *part = run(ctx, text, 2), *early = run(ctx, text, .0625);
    const double is = final(whole, field);
    const struct tac_span reported = tac_pilot_extend(part, field);
    printf("told %g (%g to %g), the run has %g\n", reported.likely, reported.least, reported.most, is);
    CHECK(is > 0 && reported.likely > is / within && reported.likely < is * within, "told %g, the run has %g",
          reported.likely, is);
    CHECK(reported.least <= reported.likely && reported.likely <= reported.most, "%g to %g", reported.least,
          reported.most);
    CHECK(tac_pilot_is_whole(whole) && tac_pilot_to_s(part) == 2 && !tac_pilot_is_whole(part), "to %g s",
          tac_pilot_to_s(part));
    CHECK(fabs(tac_pilot_touched_s(part) - tac_pilot_touched_s(whole)) < .0625, "contact since %g s, since %g s",
          tac_pilot_touched_s(part), tac_pilot_touched_s(whole));
    CHECK(tac_pilot_note(early, note, sizeof note) == TAC_PILOT_LOWER_BOUND &&
              strcmp(note, "no contact yet: a lower bound") == 0,
          "'%s'", note);
    CHECK(tac_pilot_note(part, note, sizeof note) == TAC_PILOT_SOUND, "'%s'", note);
    CHECK(tac_pilot_note(whole, note, sizeof note) == TAC_PILOT_SOUND && note[0] == '\0', "'%s'", note);
    CHECK(part->packing.least <= part->packing.likely && part->packing.likely <= part->packing.most &&
              part->packing.most < 1.1,
          "packing %g", part->packing.likely);
    CHECK(part->peak > 0 && part->setup_s > 0, "memory %lld", (long long)part->peak);
    tac_pilot_destroy(&whole);
    tac_pilot_destroy(&part);
    tac_pilot_destroy(&early);
}

static bool refuse(void *user)
{
    return --*(int *)user > 0;
}

static void stop(struct tac_ctx *ctx)
{
    char text[2048];
    int passes = 3;
    struct tac_pilot *p = NULL;
    write_scene(text, sizeof text, asynchronous);
    const struct tac_scene_source source = {.text = text};
    struct tac_pilot_options options = {.seconds = 1e6, .go_on = refuse, .user = &passes};
    CHECK(tac_pilot_run(ctx, &source, &options, &p) == TAC_ERR_RUN && p == NULL, "a pilot that is stopped");
    CHECK(strstr(ctx->error, "was stopped before") != NULL, "'%s'", ctx->error);
    ctx->error[0] = '\0';
    options.seconds = 0;
    CHECK(tac_pilot_run(ctx, &source, &options, &p) == TAC_ERR_INPUT && p == NULL, "no time at all");
    ctx->error[0] = '\0';
}

int main(void)
{
    struct tac_ctx ctx;
    MPI_Init(NULL, NULL);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    compare(&ctx, asynchronous, TAC_SAMPLE_CONTACT, 1.5);
    compare(&ctx, implicit, TAC_SAMPLE_NEWTON, 1.5);
    stop(&ctx);
    const int failed = check_result();
    MPI_Finalize();
    return failed;
}
