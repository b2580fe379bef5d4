/* audit_report.c: prints the results of `tactus audit`. */
#include "app/audit_report.h"
#include <tactus/exempt.h>

#include <math.h>
#include <string.h>

#include <tactus/report.h>

enum { DESCRIBED = 192, SENTENCE = 640 };

/* ---- of which run, and how much of it ---- */

static const char *const END_NAME[] = {"unknown", "finished", "stopped", "failed", "running", "killed"};

/* "which ...": how the run ended. */
static void describe_end(const struct tac_audit_run *run, char *text, size_t size)
{
    switch (run->end) {
    case TAC_AUDIT_FINISHED:
        snprintf(text, size, "which finished at t = %.17g s", run->time_s);
        break;
    case TAC_AUDIT_STOPPED:
        snprintf(text, size, "which was stopped at t = %.17g s and can go on", run->time_s);
        break;
    case TAC_AUDIT_FAILED:
        snprintf(text, size, "which failed");
        break;
    case TAC_AUDIT_RUNNING:
        snprintf(text, size, "which is still running");
        break;
    case TAC_AUDIT_KILLED:
        snprintf(text, size, "which was killed");
        break;
    default:
        snprintf(text, size, "of whose end the folder says nothing (it has no run.json)");
    }
}

/* Describes, as the end of a sentence, how the audited part differs from the requested one. */
static void describe_part(const struct tac_audit_part *p, const struct tac_audit_run *run, char *text, size_t size)
{
    char end[128], from[48] = "", until[48] = "";
    describe_end(run, end, sizeof end);
    if (isnan(p->looked_s[0])) {
        snprintf(text, size, "it has nothing of the requested time");
        return;
    }
    if (!isnan(p->asked_s[0]) || !isnan(p->asked_s[1])) {
        char first[48] = "its beginning", last[48] = "its end";
        if (!isnan(p->asked_s[0]))
            snprintf(first, sizeof first, "t = %.17g s", p->asked_s[0]);
        if (!isnan(p->asked_s[1]))
            snprintf(last, sizeof last, "t = %.17g s", p->asked_s[1]);
        snprintf(text, size, "the run from %s to %s was requested, %s", first, last, end);
        return;
    }
    if (!p->reaches[0])
        snprintf(from, sizeof from, " --from %.17g", p->looked_s[0]);
    if (!p->reaches[1])
        snprintf(until, sizeof until, " --until %.17g", p->looked_s[1]);
    snprintf(text, size, "that is only %s of the run, %s;%s%s requests just that",
             p->reaches[0]   ? "a beginning"
             : p->reaches[1] ? "an end"
                             : "a part",
             end, from, until);
}

static void describe_clash(const struct tac_audited *a, enum tac_audit_clash clash, char *text, size_t size)
{
    const struct tac_reader *r = a->frames;
    if (clash == TAC_AUDIT_RECORD_ENDS)
        snprintf(text, size, "the record goes on after t = %.17g s, where the run ended by its %s", a->run->time_s,
                 a->run->from);
    else if (r->frame_count == 0)
        snprintf(text, size, "frames.h5 has no frame, and by its %s the run went to t = %.17g s", a->run->from,
                 a->run->time_s);
    else
        snprintf(text, size, "frames.h5 ends at t = %.17g s, and the run at t = %.17g s by its %s",
                 r->frame[r->frame_count - 1].time_s, a->run->time_s, a->run->from);
}

static json_t *part_json(const struct tac_audit_part *p)
{
    if (isnan(p->asked_s[0]) && isnan(p->asked_s[1]))
        return json_null();
    return json_pack("[o, o]", tac_json_real(p->asked_s[0]), tac_json_real(p->asked_s[1]));
}

/* Adds what both reports say about the run. */
static void put_run(const struct tac_audited *a, const struct tac_audit_part *part, json_t **o)
{
    tac_json_put(o, "whole", json_boolean(part->whole));
    tac_json_put(o, "asked", part_json(part));
    tac_json_put(o, "run",
                 json_pack("{s:s, s:o, s:o}", "state", END_NAME[a->run->end], "begin", tac_json_real(part->begin_s),
                           "end", tac_json_real(a->run->time_s)));
    tac_json_put(o, "scene", json_pack("{s:o, s:b}", "sha256", tac_json_text(a->frames->sha256), "made", (int)a->made));
}

/* ---- the record ---- */

static const char *validation_text(const struct tac_audit_place *p)
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
    json_t *o = json_pack("{s:o, s:s, s:o}", "body", tac_json_text(scene->settings->body[body].name), "kind", kind,
                          "vertices", vertices);
    if (count == 3 && o != NULL)
        json_object_set_new(o, "triangle", json_integer(p->id[side] - scene->settings->body[body].triangle_begin));
    return o;
}

static json_t *place_json(const struct tac_scene *scene, const struct tac_audit_place *p)
{
    return json_pack("{s:f, s:o, s:o, s:o}", "time", p->t_s, "gap", tac_json_real(p->gap), "a", side_json(scene, p, 0),
                     "b", side_json(scene, p, 1));
}

/* Describes where frames.h5 and the record differ, as the end of a sentence. */
static void describe_tie(const struct tac_audited *a, const struct tac_audit_tie *t, char *text, size_t size)
{
    const struct tac_scene *s = a->scene;
    if (t->off > 0) {
        snprintf(text, size,
                 "the record is not of the times of its frames: %" PRId64
                 " of its intervals, the first of them %06" PRId64 ", do not go from frame to frame",
                 t->off, t->interval);
    } else if (t->differing > 0) {
        const tac_lid b = s->mesh->vertex_body[t->vertex];
        snprintf(text, size,
                 "frames.h5 contradicts the record: %" PRId64 " of %" PRId64
                 " positions at the ends of its intervals differ, the first at t = %.9g s (frame %06" PRId64
                 "): vertex %" TAC_PRILID " of body `%.60s` is at (%.17g, %.17g, %.17g) there, and by the record at "
                 "(%.17g, %.17g, %.17g)",
                 t->differing, t->compared, t->t_s, t->frame, t->vertex - s->settings->body[b].vertex_begin,
                 s->settings->body[b].name, t->framed[0], t->framed[1], t->framed[2], t->recorded[0], t->recorded[1],
                 t->recorded[2]);
    } else {
        snprintf(text, size, "frames.h5 has no frame for %" PRId64 " ends of the record's intervals", t->missing);
    }
}

static void record_sentence(const struct tac_audited *a, const struct tac_audit_report *r, char *text, size_t size)
{
    const struct tac_audit_part *p = &r->part;
    const struct tac_audit_tie *t = &r->tie;
    const int64_t bad = r->crossing + r->start_crossing;
    const double *s = p->looked_s;
    char why[SENTENCE];
    if (r->proven && p->whole)
        snprintf(text, size, "proven: nothing passed through anything in [%.17g, %.17g] s, all of the run", s[0], s[1]);
    else if (r->proven) {
        describe_end(a->run, why, sizeof why);
        snprintf(text, size,
                 "proven: nothing passed through anything in [%.17g, %.17g] s, as requested; not all of the run, %s",
                 s[0], s[1], why);
    } else if (bad > 0) {
        snprintf(text, size,
                 "not proven: something passes through something: %" PRId64 " pair-pieces cross, %" PRId64
                 " are open, %" PRId64 " edges pass through something at the start, in [%.17g, %.17g] s",
                 r->crossing, r->open, r->start_crossing, s[0], s[1]);
    } else if (t->off > 0 || t->differing > 0 || t->missing > 0) {
        describe_tie(a, t, why, sizeof why);
        snprintf(text, size, "not proven: %s", why);
    } else if (r->clash != TAC_AUDIT_NO_CLASH) {
        describe_clash(a, r->clash, why, sizeof why);
        snprintf(text, size, "not proven: %s", why);
    } else if (r->open > 0) {
        snprintf(text, size, "not proven: %" PRId64 " pair-pieces are open in [%.17g, %.17g] s", r->open, s[0], s[1]);
    } else if (r->span_count > 1) {
        snprintf(text, size,
                 "not proven: nothing passed through anything in the %" PRId64
                 " spans that were recorded, but between them the record of [%.17g, %.17g] s has gaps",
                 r->span_count, s[0], s[1]);
    } else {
        describe_part(p, a->run, why, sizeof why);
        if (isnan(s[0]))
            snprintf(text, size, "not proven: %s", why);
        else
            snprintf(text, size, "not proven: nothing passed through anything in [%.17g, %.17g] s, but %s", s[0], s[1],
                     why);
    }
    if (r->proven && tac_exempt_crossing(r->exempt) > 0) {
        const size_t length = strlen(text);
        snprintf(text + length, size - length,
                 "; pairs of bodies of which no vertex is ever free are exempt, and some cross (%" PRId64 ")",
                 tac_exempt_crossing(r->exempt));
    }
}

static json_t *vector_json(const double x[3])
{
    return json_pack("[o, o, o]", tac_json_real(x[0]), tac_json_real(x[1]), tac_json_real(x[2]));
}

static json_t *tie_json(const struct tac_scene *s, const struct tac_audit_tie *t)
{
    json_t *first = json_null();
    if (t->differing > 0) {
        const tac_lid b = s->mesh->vertex_body[t->vertex];
        first = json_pack("{s:f, s:I, s:o, s:i, s:o, s:o}", "time", t->t_s, "frame", (json_int_t)t->frame, "body",
                          tac_json_text(s->settings->body[b].name), "vertex",
                          (int)(t->vertex - s->settings->body[b].vertex_begin), "record", vector_json(t->recorded),
                          "position", vector_json(t->framed));
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "compared", (json_int_t)t->compared, "differing",
                     (json_int_t)t->differing, "missing", (json_int_t)t->missing, "off", (json_int_t)t->off, "first",
                     first);
}

enum tac_err tac_audit_print_record_json(struct tac_ctx *ctx, const struct tac_audited *a,
                                         const struct tac_audit_report *r)
{
    const struct tac_scene *scene = a->scene;
    char text[SENTENCE + 160];
    json_t *spans = json_array(), *places = json_array();
    for (int64_t i = 0; i < r->span_count; i++)
        json_array_append_new(spans, json_pack("[f, f]", r->span[i].t_s[0], r->span[i].t_s[1]));
    for (int i = 0; i < r->listed; i++) {
        json_t *o = place_json(scene, &r->place[i]);
        if (o != NULL)
            json_object_set_new(o, "verdict", json_string(validation_text(&r->place[i])));
        json_array_append_new(places, o);
    }
    record_sentence(a, r, text, sizeof text);
    json_t *o = json_pack("{s:o, s:b, s:s, s:o, s:i, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I}, s:I, s:I, s:o}", "path",
                          tac_json_text(a->dir), "proven", (int)r->proven, "sentence", text, "spans", spans, "vertices",
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
    put_run(a, &r->part, &o);
    tac_json_put(&o, "frames", tie_json(scene, &r->tie));
    tac_json_put(&o, "exempt", tac_exempt_json(scene, r->exempt));
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
        printf("  %-10s at t = %.9g s: %s and %s, gap %.4g m\n", validation_text(p), p->t_s, a, b, p->gap);
}

void tac_audit_print_record(const struct tac_audited *audited, const struct tac_audit_report *r)
{
    const struct tac_scene *scene = audited->scene;
    char text[SENTENCE + 160], a[DESCRIBED], b[DESCRIBED];
    printf("%s: audit of the record: %" TAC_PRILID " vertices, %" PRId64 " breakpoints\n", audited->dir,
           r->vertex_count, r->breakpoints);
    printf("  frames     %" PRId64 " positions compared at the ends of intervals, %" PRId64 " differ\n",
           r->tie.compared, r->tie.differing);
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
    tac_exempt_print(stdout, "  exempt     ", scene, r->exempt, "`");
    for (int i = 0; i < r->listed; i++)
        print_place(scene, &r->place[i]);
    if (r->crossing + r->open + r->start_crossing > r->listed)
        printf("  and %" PRId64 " more\n", r->crossing + r->open + r->start_crossing - r->listed);
    record_sentence(audited, r, text, sizeof text);
    puts(text);
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

bool tac_audit_frames_good(const struct tac_audited_frames *f)
{
    return f->bad == 0 && f->missing == 0 && f->clash == TAC_AUDIT_NO_CLASH && f->part.reaches[0] && f->part.reaches[1];
}

static void frames_sentence(const struct tac_audited *a, const struct tac_audited_frames *f, char *text, size_t size)
{
    const int64_t count = f->last - f->first;
    char why[SENTENCE];
    if (f->bad > 0) {
        snprintf(text, size, "not clean: in %" PRId64 " of %" PRId64 " frames something stands in something", f->bad,
                 count);
    } else if (tac_audit_frames_good(f)) {
        snprintf(text, size,
                 "clean: in none of the %" PRId64 " frames does anything stand in anything (of the time between them "
                 "this says nothing)",
                 count);
    } else {
        if (f->missing > 0)
            snprintf(why, sizeof why, "frames.h5 lacks %" PRId64 " frames between its first and its last", f->missing);
        else if (f->clash != TAC_AUDIT_NO_CLASH)
            describe_clash(a, f->clash, why, sizeof why);
        else
            describe_part(&f->part, a->run, why, sizeof why);
        snprintf(text, size, "not all clean: in none of the %" PRId64 " frames does anything stand in anything, but %s",
                 count, why);
    }
}

enum tac_err tac_audit_print_frames_json(struct tac_ctx *ctx, const struct tac_audited *a,
                                         const struct tac_audited_frames *f)
{
    char text[SENTENCE + 160];
    json_t *list = json_array();
    for (int64_t k = f->first; k < f->last; k++)
        json_array_append_new(list, frame_json(a->scene, &a->frames->frame[k], &f->frame[k]));
    frames_sentence(a, f, text, sizeof text);
    json_t *o = json_pack("{s:o, s:b, s:s, s:I, s:I, s:I, s:o}", "path", tac_json_text(a->dir), "clean",
                          (int)tac_audit_frames_good(f), "sentence", text, "frames", (json_int_t)(f->last - f->first),
                          "bad_frames", (json_int_t)f->bad, "missing", (json_int_t)f->missing, "list", list);
    put_run(a, &f->part, &o);
    return tac_json_print(ctx, o);
}

void tac_audit_print_frames(const struct tac_audited *audited, const struct tac_audited_frames *frames)
{
    const struct tac_reader *r = audited->frames;
    char text[SENTENCE + 160], a[DESCRIBED], b[DESCRIBED];
    printf("%s: audit of %" PRId64 " frames, each by itself\n", audited->dir, frames->last - frames->first);
    for (int64_t k = frames->first; k < frames->last; k++) {
        const struct tac_audit_frame *f = &frames->frame[k];
        if (f->crossing + f->near == 0) {
            printf("  frame %s t = %.9g s: clean\n", r->frame[k].name, f->time_s);
            continue;
        }
        tac_audit_describe(audited->scene, &f->first, 0, a, sizeof a);
        tac_audit_describe(audited->scene, &f->first, 1, b, sizeof b);
        printf("  frame %s t = %.9g s: %" PRId64 " edges pass through something, %" PRId64
               " pairs are too near; deepest: %s and %s near (%.6g, %.6g, %.6g), gap %.4g m\n",
               r->frame[k].name, f->time_s, f->crossing, f->near, a, b, f->first_x[0], f->first_x[1], f->first_x[2],
               f->first.gap);
    }
    frames_sentence(audited, frames, text, sizeof text);
    puts(text);
}
