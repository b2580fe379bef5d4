/* cmd_audit.c: tactus audit DIR: did anything pass through anything? */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/app.h"
#include <tactus/audit.h>
#include <tactus/report.h>
#include <tactus/stored.h>

enum { DESCRIBED = 192 };

/* ---- the record ---- */

static const char *verdict_text(const struct tac_audit_place *p)
{
    if (p->kind >= TAC_AUDIT_EDGE_TRIANGLE)
        return "start";
    return p->verdict == TAC_AUDIT_CROSSING ? "crossing" : "not-proven";
}

static json_t *side_json(const struct tac_scene *scene, const struct tac_audit_place *p, int side)
{
    const char *kind;
    tac_lid body, v[3];
    const int count = tac_audit_side(scene, p, side, &kind, &body, v);
    json_t *vertices = json_array();
    for (int k = 0; k < count; k++)
        json_array_append_new(vertices, json_integer(v[k]));
    json_t *o =
        json_pack("{s:o, s:s, s:o}", "body", tac_json_text(scene->body[body].name), "kind", kind, "vertices", vertices);
    if (count == 3 && o != NULL)
        json_object_set_new(o, "triangle", json_integer(p->id[side] - scene->body[body].triangle_begin));
    return o;
}

static json_t *place_json(const struct tac_scene *scene, const struct tac_audit_place *p)
{
    return json_pack("{s:f, s:o, s:o, s:o}", "time", p->t_s, "gap", tac_json_real(p->gap), "a", side_json(scene, p, 0),
                     "b", side_json(scene, p, 1));
}

static void sentence(const struct tac_audit_report *r, char *text, size_t size)
{
    const struct tac_audit_span *first = &r->span[0], *last = &r->span[r->span_count - 1];
    const int64_t bad = r->crossing + r->start_crossing;
    if (r->proven)
        snprintf(text, size, "proven: nothing passed through anything in [%.17g, %.17g] s", first->t_s[0],
                 first->t_s[1]);
    else if (bad > 0)
        snprintf(text, size,
                 "not proven: something passes through something: %" PRId64 " pair-pieces cross, %" PRId64
                 " are open, %" PRId64 " edges pass through something at the start, in [%.17g, %.17g] s",
                 r->crossing, r->open, r->start_crossing, first->t_s[0], last->t_s[1]);
    else if (r->open > 0)
        snprintf(text, size, "not proven: %" PRId64 " pair-pieces are open in [%.17g, %.17g] s", r->open, first->t_s[0],
                 last->t_s[1]);
    else
        snprintf(text, size,
                 "not proven: nothing passed through anything in the %" PRId64
                 " spans that were recorded, but between them the record of [%.17g, %.17g] s has gaps",
                 r->span_count, first->t_s[0], last->t_s[1]);
}

static enum tac_err print_record_json(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                                      const struct tac_audit_report *r)
{
    char text[512];
    json_t *spans = json_array(), *places = json_array();
    for (int64_t i = 0; i < r->span_count; i++)
        json_array_append_new(spans, json_pack("[f, f]", r->span[i].t_s[0], r->span[i].t_s[1]));
    for (int i = 0; i < r->listed; i++) {
        json_t *o = place_json(scene, &r->place[i]);
        if (o != NULL)
            json_object_set_new(o, "verdict", json_string(verdict_text(&r->place[i])));
        json_array_append_new(places, o);
    }
    sentence(r, text, sizeof text);
    json_t *o = json_pack("{s:o, s:b, s:s, s:o, s:i, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I}, s:I, s:I, s:o}", "path",
                          tac_json_text(dir), "proven", (int)r->proven, "sentence", text, "spans", spans, "vertices",
                          (int)r->vertex_count, "breakpoints", (json_int_t)r->breakpoints, "slabs",
                          (json_int_t)r->slabs, "pairs", (json_int_t)r->pairs, "pieces", "total", (json_int_t)r->pieces,
                          "proven", (json_int_t)(r->pieces - r->crossing - r->open), "crossing",
                          (json_int_t)r->crossing, "open", (json_int_t)r->open, "queries", (json_int_t)r->queries,
                          "start_crossing", (json_int_t)r->start_crossing, "places", places);
    json_t *smallest =
        json_pack("{s:o, s:o}", "bound", tac_json_real(r->smallest_bound_m), "watched", tac_json_real(r->watched_m));
    if (smallest != NULL)
        json_object_set_new(smallest, "measured", r->smallest_known ? place_json(scene, &r->smallest) : json_null());
    if (o != NULL)
        json_object_set_new(o, "smallest", smallest);
    return tac_json_print(ctx, o);
}

static void print_place(const struct tac_scene *scene, const struct tac_audit_place *p)
{
    char a[DESCRIBED], b[DESCRIBED];
    tac_audit_describe(scene, p, 0, a, sizeof a);
    tac_audit_describe(scene, p, 1, b, sizeof b);
    if (p->kind >= TAC_AUDIT_EDGE_TRIANGLE)
        printf("  start      at t = %.9g s: %s passes through %s\n", p->t_s, a, b);
    else
        printf("  %-10s at t = %.9g s: %s and %s, gap %.4g m\n", verdict_text(p), p->t_s, a, b, p->gap);
}

static void print_record(const struct tac_scene *scene, const char *dir, const struct tac_audit_report *r)
{
    char text[512], a[DESCRIBED], b[DESCRIBED];
    printf("%s: audit of the record: %" TAC_PRILID " vertices, %" PRId64 " breakpoints\n", dir, r->vertex_count,
           r->breakpoints);
    for (int64_t i = 0; i < r->span_count; i++)
        printf("  span       t = %.9g to %.9g s\n", r->span[i].t_s[0], r->span[i].t_s[1]);
    printf("  pairs      %" PRId64 " that came near, in %" PRId64 " slabs of time\n", r->pairs, r->slabs);
    printf("  pieces     %" PRId64 " of these pairs: %" PRId64 " proven, %" PRId64 " crossing, %" PRId64
           " open; %" PRId64 " needed a query\n",
           r->pieces, r->pieces - r->crossing - r->open, r->crossing, r->open, r->queries);
    if (r->smallest_known) {
        tac_audit_describe(scene, &r->smallest, 0, a, sizeof a);
        tac_audit_describe(scene, &r->smallest, 1, b, sizeof b);
        printf("  smallest   %.6g m, at t = %.9g s: %s and %s; never under %.6g m\n", r->smallest.gap, r->smallest.t_s,
               a, b, r->smallest_bound_m);
    } else {
        printf("  smallest   never under %.6g m\n", r->smallest_bound_m);
    }
    for (int i = 0; i < r->listed; i++)
        print_place(scene, &r->place[i]);
    if (r->crossing + r->open + r->start_crossing > r->listed)
        printf("  and %" PRId64 " more\n", r->crossing + r->open + r->start_crossing - r->listed);
    sentence(r, text, sizeof text);
    puts(text);
}

static enum tac_err audit_record(struct tac_ctx *ctx, struct tac_scene *scene, const char *dir,
                                 const struct tac_audit_options *options, bool as_json)
{
    enum tac_err err = TAC_OK;
    struct tac_recorded *recorded = NULL;
    struct tac_audit_report *report = NULL;
    TAC_TRY(tac_recorded_open(ctx, dir, scene->vertex_count, &recorded));
    TAC_TRY(tac_audit_record(ctx, scene, recorded, options, &report));
    if (ctx->rank == 0) {
        if (as_json)
            err = print_record_json(ctx, scene, dir, report);
        else
            print_record(scene, dir, report);
    }
    if (!err && !report->proven)
        err = TAC_ERR_NO;
done:
    tac_audit_report_destroy(&report);
    tac_recorded_close(&recorded);
    return err;
}

/* ---- frames ---- */

static json_t *frame_json(const struct tac_scene *scene, const struct tac_reader_frame *name,
                          const struct tac_audit_frame *f)
{
    json_t *o = json_pack("{s:I, s:f, s:I, s:I}", "index", (json_int_t)name->index, "time", f->time_s, "crossing",
                          (json_int_t)f->crossing, "near", (json_int_t)f->near);
    if (o == NULL || f->crossing + f->near == 0)
        return o;
    json_t *worst = place_json(scene, &f->first);
    if (worst != NULL)
        json_object_set_new(worst, "place", json_pack("[f, f, f]", f->first_x[0], f->first_x[1], f->first_x[2]));
    json_object_set_new(o, "deepest", worst);
    return o;
}

static enum tac_err print_frames_json(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                                      const struct tac_reader *r, const struct tac_audit_frame *frame, int64_t bad)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < r->frame_count; k++)
        json_array_append_new(list, frame_json(scene, &r->frame[k], &frame[k]));
    return tac_json_print(ctx,
                          json_pack("{s:o, s:b, s:I, s:I, s:o}", "path", tac_json_text(dir), "clean", (int)(bad == 0),
                                    "frames", (json_int_t)r->frame_count, "bad_frames", (json_int_t)bad, "list", list));
}

static void print_frames(const struct tac_scene *scene, const char *dir, const struct tac_reader *r,
                         const struct tac_audit_frame *frame, int64_t bad)
{
    char a[DESCRIBED], b[DESCRIBED];
    printf("%s: audit of %" PRId64 " frames, each by itself\n", dir, r->frame_count);
    for (int64_t k = 0; k < r->frame_count; k++) {
        const struct tac_audit_frame *f = &frame[k];
        if (f->crossing + f->near == 0) {
            printf("  frame %s t = %.9g s: clean\n", r->frame[k].name, f->time_s);
            continue;
        }
        tac_audit_describe(scene, &f->first, 0, a, sizeof a);
        tac_audit_describe(scene, &f->first, 1, b, sizeof b);
        printf("  frame %s t = %.9g s: %" PRId64 " edges pass through something, %" PRId64
               " pairs are too near; deepest: %s and %s near (%.6g, %.6g, %.6g), gap %.4g m\n",
               r->frame[k].name, f->time_s, f->crossing, f->near, a, b, f->first_x[0], f->first_x[1], f->first_x[2],
               f->first.gap);
    }
    if (bad == 0)
        printf("clean: in none of the %" PRId64 " frames does anything stand in anything (of the time between them "
               "this says nothing)\n",
               r->frame_count);
    else
        printf("not clean: in %" PRId64 " of %" PRId64 " frames something stands in something\n", bad, r->frame_count);
}

static enum tac_err audit_frames(struct tac_ctx *ctx, struct tac_scene *scene, const char *dir,
                                 const struct tac_reader *r, bool as_json)
{
    enum tac_err err = TAC_OK;
    struct tac_audit_frame *frame = NULL;
    int64_t bad = 0;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)r->frame_count, sizeof *frame, &frame)));
    if (r->frame_count == 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "'%s' has no whole frame to look at", r->path));
    TAC_TRY(tac_audit_frames(ctx, scene, r, frame));
    for (int64_t k = 0; k < r->frame_count; k++)
        bad += frame[k].crossing + frame[k].near > 0;
    if (ctx->rank == 0) {
        if (as_json)
            err = print_frames_json(ctx, scene, dir, r, frame, bad);
        else
            print_frames(scene, dir, r, frame, bad);
    }
    if (!err && bad > 0)
        err = TAC_ERR_NO;
done:
    free(frame);
    return err;
}

enum tac_err tac_cmd_audit(struct tac_ctx *ctx, int argc, char **argv)
{
    enum tac_err err = TAC_OK;
    bool as_json = false, frames = false, help;
    struct tac_audit_options options = {0};
    double memory_mb = NAN;
    const char *dir;
    int count;
    struct stat s;
    struct tac_reader *reader = NULL;
    struct tac_scene *scene = NULL;
    const struct tac_option option[] = {
        {"--frames", TAC_OPTION_FLAG, &frames, NULL, "look at the stored frames instead, each by itself"},
        {"--memory", TAC_OPTION_NUMBER, &memory_mb, "MB", "what a rank's breakpoints may take (default 256)"},
        {"--query-all", TAC_OPTION_FLAG, &options.query_all, NULL,
         "ask collision detection about every single piece (slow)"},
        {"--json", TAC_OPTION_FLAG, &as_json, NULL, "print JSON"}};
    TAC_TRY(tac_options_parse(ctx, "audit", argc, argv, option, 4, &dir, 1, &count, &help));
    if (help) {
        if (ctx->rank == 0)
            tac_options_help("audit", "DIR [--frames] [--memory MB] [--query-all] [--json]",
                             "Proves from the record of a run (run --record) that nothing passed through anything.\n"
                             "Exit code: 0 all is proven, 1 it is not, 2 bad input.  mpirun shares the work out.",
                             option, 4);
        goto done;
    }
    if (count != 1)
        err = tac_fail(ctx, TAC_ERR_INPUT, "tactus audit needs a run folder: tactus audit DIR");
    else if (!isnan(memory_mb) && !(memory_mb > 0 && memory_mb <= 1e9))
        err = tac_fail(ctx, TAC_ERR_INPUT, "--memory needs megabytes over 0, not %g", memory_mb);
    else if (stat(dir, &s) != 0)
        err = tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%s': %s", dir, strerror(errno));
    else if (!S_ISDIR(s.st_mode))
        err = tac_fail(ctx, TAC_ERR_INPUT, "'%s' is no run folder: tactus audit DIR", dir);
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_reader_open_all(ctx, dir, &reader));
    TAC_TRY(tac_agree(ctx, tac_audit_scene_read(ctx, reader, dir, &scene)));
    options.memory_bytes = isnan(memory_mb) ? 0 : (int64_t)(memory_mb * 0x1p20);
    err = frames ? audit_frames(ctx, scene, dir, reader, as_json) : audit_record(ctx, scene, dir, &options, as_json);
done:
    tac_audit_scene_destroy(&scene);
    tac_reader_close(&reader);
    return err;
}
