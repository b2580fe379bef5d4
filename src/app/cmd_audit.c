/* cmd_audit.c: tactus audit DIR: proves that nothing passed through anything, or shows where something did. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/app.h"
#include "app/audit_report.h"
#include <tactus/stored.h>

static const char usage[] = "DIR [--from T] [--until T] [--frames] [--memory MB] [--query-all] [--json]";
static const char about[] =
    "Proves from the record of a run (run --record) that nothing passed through anything, in all of the run; with\n"
    "--from and --until in that part of it.  The record must be that of the run: its scene by its hash, and where\n"
    "frames.h5 says that everything is, to the last bit.\n"
    "Exit code: 0 all is proven, 1 it is not, 2 bad input.  mpirun shares the work out.";

static enum tac_err audit_record(struct tac_ctx *ctx, struct tac_scene *scene, struct tac_recorded *recorded,
                                 const struct tac_audited *audited, const struct tac_audit_options *options,
                                 bool as_json)
{
    enum tac_err err = TAC_OK;
    struct tac_audit_report *report = NULL;
    TAC_TRY(tac_audit_record(ctx, scene, recorded, options, &report));
    if (ctx->rank == 0) {
        if (as_json)
            err = tac_audit_print_record_json(ctx, audited, report);
        else
            tac_audit_print_record(audited, report);
    }
    if (!err && !report->proven)
        err = TAC_ERR_NO;
done:
    tac_audit_report_destroy(&report);
    return err;
}

/* Chooses the requested frames, and finds how much of the run they cover. */
static void choose_frames(const struct tac_reader *r, const struct tac_audit_options *o, struct tac_audited_frames *f)
{
    struct tac_audit_part *part = &f->part;
    const int64_t n = r->frame_count;
    /* Times of frames are rounded to a grid that is far finer than the distance between frames. */
    const double slack = n > 1 ? 1e-6 * (r->frame[n - 1].time_s - r->frame[0].time_s) / (double)(n - 1) : 0;
    f->last = n;
    while (f->first < f->last && r->frame[f->first].time_s < o->from_s - slack)
        f->first++;
    while (f->last > f->first && r->frame[f->last - 1].time_s > o->until_s + slack)
        f->last--;
    for (int64_t k = f->first + 1; k < f->last; k++)
        f->missing += r->frame[k].index - r->frame[k - 1].index - 1;
    part->asked_s[0] = o->from_s;
    part->asked_s[1] = o->until_s;
    part->looked_s[0] = f->first < f->last ? r->frame[f->first].time_s : NAN;
    part->looked_s[1] = f->first < f->last ? r->frame[f->last - 1].time_s : NAN;
    /* A time between two frames means the frame before it or after it; a time outside all frames has no frame. */
    const bool late[2] = {f->first == 0 && part->looked_s[0] > o->from_s + slack,
                          f->last == n && part->looked_s[1] < o->until_s - slack};
    tac_audit_part_fill(part, o->run, r, late);
    f->clash = tac_audit_frames_clash(o->run, r);
}

static enum tac_err audit_frames(struct tac_ctx *ctx, struct tac_scene *scene, const struct tac_audited *audited,
                                 const struct tac_audit_options *options, bool as_json)
{
    enum tac_err err = TAC_OK;
    const struct tac_reader *r = audited->frames;
    struct tac_audit_frame *frame = NULL;
    struct tac_audited_frames f = {0};
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)r->frame_count, sizeof *frame, &frame)));
    if (r->frame_count == 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "'%s' has no whole frame to look at", r->path));
    choose_frames(r, options, &f);
    TAC_TRY(tac_audit_frames(ctx, scene, r, f.first, f.last, frame));
    f.frame = frame;
    for (int64_t k = f.first; k < f.last; k++)
        f.bad += frame[k].crossing + frame[k].near > 0;
    if (ctx->rank == 0) {
        if (as_json)
            err = tac_audit_print_frames_json(ctx, audited, &f);
        else
            tac_audit_print_frames(audited, &f);
    }
    if (!err && !tac_audit_frames_good(&f))
        err = TAC_ERR_NO;
done:
    free(frame);
    return err;
}

/* Reads the folder's run first, then the frames, then the record. If the run is still going on, what is read later
 * holds more. */
static enum tac_err audit_folder(struct tac_ctx *ctx, const char *dir, struct tac_audit_options *options, bool frames,
                                 bool as_json)
{
    enum tac_err err;
    struct tac_audit_run run;
    struct tac_reader *reader = NULL;
    struct tac_scene *scene = NULL;
    struct tac_recorded *recorded = NULL;
    TAC_TRY(tac_audit_run_read(ctx, dir, &run));
    TAC_TRY(tac_reader_open_all(ctx, dir, &reader));
    TAC_TRY(tac_agree(ctx, tac_audit_scene_read(ctx, reader, dir, &scene)));
    if (!frames)
        TAC_TRY(tac_recorded_open(ctx, dir, scene->mesh->vertex_count, &recorded));
    const struct tac_audit_folder folder = {dir, reader, recorded, &run};
    struct tac_audited audited = {dir, scene, reader, &run, false};
    TAC_TRY(tac_audit_scene_tie(ctx, &folder, scene, &audited.made));
    options->run = &run;
    options->frames = reader;
    err = frames ? audit_frames(ctx, scene, &audited, options, as_json)
                 : audit_record(ctx, scene, recorded, &audited, options, as_json);
done:
    tac_recorded_close(&recorded);
    tac_scene_destroy(&scene);
    tac_reader_close(&reader);
    return err;
}

static enum tac_err check_options(struct tac_ctx *ctx, const char *dir, double memory_mb,
                                  const struct tac_audit_options *o)
{
    struct stat s;
    if (dir == NULL)
        return tac_fail(ctx, TAC_ERR_INPUT, "tactus audit needs a run folder: tactus audit DIR");
    if (!isnan(memory_mb) && !(memory_mb > 0 && memory_mb <= 1e9))
        return tac_fail(ctx, TAC_ERR_INPUT, "--memory needs megabytes over 0, not %g", memory_mb);
    if (o->from_s < 0)
        return tac_fail(ctx, TAC_ERR_INPUT, "--from needs a time from 0 on, not %g s", o->from_s);
    if (o->until_s <= 0)
        return tac_fail(ctx, TAC_ERR_INPUT, "--until needs a time over 0, not %g s", o->until_s);
    if (o->from_s >= o->until_s)
        return tac_fail(ctx, TAC_ERR_INPUT, "--from %g is not before --until %g", o->from_s, o->until_s);
    if (stat(dir, &s) != 0)
        return tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%s': %s", dir, strerror(errno));
    if (!S_ISDIR(s.st_mode))
        return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is no run folder: tactus audit DIR", dir);
    return TAC_OK;
}

enum tac_err tac_cmd_audit(struct tac_ctx *ctx, int argc, char **argv)
{
    enum tac_err err = TAC_OK;
    bool as_json = false, frames = false, help;
    struct tac_audit_options options = {.from_s = NAN, .until_s = NAN};
    double memory_mb = NAN;
    const char *dir = NULL;
    int count;
    const struct tac_option option[] = {
        {"--from", TAC_OPTION_NUMBER, &options.from_s, "T", "prove it from T seconds on, not from the run's beginning"},
        {"--until", TAC_OPTION_NUMBER, &options.until_s, "T", "prove it up to T seconds, not up to the run's end"},
        {"--frames", TAC_OPTION_FLAG, &frames, NULL, "look at the stored frames instead, each by itself"},
        {"--memory", TAC_OPTION_NUMBER, &memory_mb, "MB", "what a rank's breakpoints may take (default 256)"},
        {"--query-all", TAC_OPTION_FLAG, &options.query_all, NULL,
         "query collision detection for every single piece (slow)"},
        {"--json", TAC_OPTION_FLAG, &as_json, NULL, "print JSON"}};
    const size_t option_count = sizeof option / sizeof option[0];
    TAC_TRY(tac_options_parse(ctx, "audit", argc, argv, option, option_count, &dir, 1, &count, &help));
    if (help) {
        if (ctx->rank == 0)
            tac_options_help("audit", usage, about, option, option_count);
        goto done;
    }
    TAC_TRY(tac_agree(ctx, check_options(ctx, count == 1 ? dir : NULL, memory_mb, &options)));
    options.memory_bytes = isnan(memory_mb) ? 0 : (int64_t)(memory_mb * 0x1p20);
    err = audit_folder(ctx, dir, &options, frames, as_json);
done:
    return err;
}
