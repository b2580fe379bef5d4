/* audit.c: the audit of a whole record: it walks over the groups, slabs and spans of time, looks at the start of each
 * span for surfaces that already cross, and joins the ranks' reports (docs/explanation/audit.md). */
#include "audit/audit_room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "overlap/overlap.h"
#include <tactus/exempt.h>

/* ---- places, earliest first ---- */

static int compare_places(const void *a, const void *b)
{
    const struct tac_audit_place *p = a, *q = b;
    if (p->t_s != q->t_s)
        return p->t_s < q->t_s ? -1 : 1;
    if (p->kind != q->kind)
        return p->kind < q->kind ? -1 : 1;
    for (int i = 0; i < 2; i++)
        if (p->id[i] != q->id[i])
            return p->id[i] < q->id[i] ? -1 : 1;
    return 0;
}

void tac_audit_list(struct tac_audit_report *report, const struct tac_audit_place *place)
{
    int at = report->listed;
    if (at == TAC_AUDIT_LISTED && compare_places(place, &report->place[at - 1]) >= 0)
        return;
    if (at < TAC_AUDIT_LISTED)
        report->listed++;
    else
        at--;
    for (; at > 0 && compare_places(place, &report->place[at - 1]) < 0; at--)
        report->place[at] = report->place[at - 1];
    report->place[at] = *place;
}

/* ---- the distribution of the work ---- */

struct work {
    struct tac_ctx *ctx;
    struct tac_scene *scene;
    struct tac_recorded *recorded;
    const struct tac_audit_plan *plan;
    struct tac_audit_report *report;
    struct tac_audit_search search;
    struct tac_audit_portion portion;
    struct tac_audit_slab slab;
    bool query_all;
    int64_t unit; /* number of the unit of work that is distributed */
};

/* The scene's x becomes the places where the slab begins or, `end`, ends. */
static void put_places(struct work *w, bool end)
{
    const size_t cells = (size_t)1 << w->slab.depth;
    for (size_t i = 0; i < (size_t)w->scene->mesh->vertex_count; i++)
        memcpy(w->scene->mesh->x + 3 * i, w->slab.grid + 3 * ((cells + 1) * i + (end ? cells : 0)),
               3 * sizeof *w->scene->mesh->x);
}

/* Pairs of which nothing is proven: do they cross where the slab begins, and where the last one ends? */
static enum tac_err look_at_exempt(struct work *w, bool last)
{
    enum tac_err err = TAC_OK;
    struct tac_exempt *exempt = w->report->exempt;
    for (int end = 0; end <= (last ? 1 : 0) && tac_exempt_any(exempt); end++) {
        put_places(w, end == 1);
        TAC_TRY(tac_exempt_look(w->ctx, w->scene, w->recorded->file->quantum_s * (double)w->slab.t[end], exempt));
    }
done:
    return err;
}

/* Edges that pass through something where a span begins: there no motion from a sound state has led to. */
static enum tac_err look_at_start(struct work *w)
{
    enum tac_err err = TAC_OK;
    struct tac_overlaps *overlaps = NULL;
    struct tac_settings settings = *w->scene->settings;
    const struct tac_scene scene = {&settings, w->scene->mesh};
    settings.contact.thickness = 1; /* also where contact is off */
    put_places(w, false);
    TAC_TRY(tac_overlap_find(w->ctx, &scene, &overlaps));
    for (size_t i = 0; i < overlaps->count; i++) {
        const struct tac_overlap *o = &overlaps->overlap[i];
        if (o->kind != TAC_OVERLAP_EDGE_TRIANGLE && o->kind != TAC_OVERLAP_EDGE_CROSSES_EDGE)
            continue; /* the proofs of these pairs report them */
        w->report->start_crossing++;
        tac_audit_list(w->report,
                       &(struct tac_audit_place){.t_s = w->recorded->file->quantum_s * (double)w->slab.t[0],
                                                 .id = {o->element[0], o->element[1]},
                                                 .kind = o->kind == TAC_OVERLAP_EDGE_TRIANGLE ? TAC_AUDIT_EDGE_TRIANGLE
                                                                                              : TAC_AUDIT_EDGES_CROSS,
                                                 .verdict = TAC_AUDIT_CROSSING,
                                                 .gap = NAN});
    }
done:
    tac_overlap_destroy(&overlaps);
    return err;
}

static void add_slab(struct work *w)
{
    struct tac_audit_report *r = w->report;
    const struct tac_audit_search *s = &w->search;
    r->smallest_bound_m = fmin(r->smallest_bound_m, s->bound);
    if (!(s->best < r->watched_m))
        return;
    if (!r->smallest_known || s->best < r->smallest.gap ||
        (s->best == r->smallest.gap && compare_places(&s->best_place, &r->smallest) < 0))
        r->smallest = s->best_place;
    r->smallest_known = true;
}

static enum tac_err do_slab(struct work *w, int64_t g, int64_t k, bool start)
{
    enum tac_err err = TAC_OK;
    const struct tac_audit_group *group = &w->plan->group[g];
    const tac_time t[2] = {tac_audit_cut(group->t, k, group->slabs), tac_audit_cut(group->t, k + 1, group->slabs)};
    TAC_TRY(tac_audit_slab_make(w->ctx, w->scene->mesh->vertex_count, &w->portion, t, &w->slab));
    if (start)
        TAC_TRY(look_at_start(w));
    TAC_TRY(look_at_exempt(w, k + 1 == group->slabs));
    TAC_TRY(tac_audit_slab_search(&w->search));
    add_slab(w);
done:
    return err;
}

static bool portion_ends(const struct tac_audit_group *g, int64_t k)
{
    return g->portion_ends[k / 8] >> k % 8 & 1;
}

/* Audits this rank's slabs of begin .. end - 1 of group g, which are read together. `run` consecutive slabs go to one
 * rank. */
static enum tac_err do_portion(struct work *w, int64_t g, int64_t begin, int64_t end, int64_t run, bool start)
{
    enum tac_err err = TAC_OK;
    const struct tac_audit_group *group = &w->plan->group[g];
    const tac_time t[2] = {tac_audit_cut(group->t, begin, group->slabs), tac_audit_cut(group->t, end, group->slabs)};
    bool held = false;
    for (int64_t k = begin; k < end; k += run) {
        if (w->unit++ % w->ctx->size != w->ctx->rank)
            continue;
        if (!held)
            TAC_TRY(tac_audit_portion_read(w->ctx, w->recorded, g, t, &w->portion));
        held = true;
        for (int64_t i = k; i < end && i < k + run; i++)
            TAC_TRY(do_slab(w, g, i, start && i == 0));
    }
done:
    return err;
}

static bool follows(const struct tac_audit_group *a, const struct tac_audit_group *b)
{
    return a->t[1] == b->t[0] && memcmp(a->last, b->first, sizeof a->last) == 0;
}

static enum tac_err do_ours(struct work *w)
{
    enum tac_err err = TAC_OK;
    const struct tac_audit_plan *plan = w->plan;
    const struct tac_audit_group *before = NULL;
    int64_t slabs = 0;
    for (int64_t g = 0; g < plan->count; g++)
        slabs += plan->group[g].t[0] < plan->group[g].t[1] ? plan->group[g].slabs : 0;
    /* Chooses the units so that all ranks have about equal work, each in few pieces, because slabs that are read
     * together should be used together. */
    const int64_t run = 1 + slabs / (16 * (int64_t)w->ctx->size);
    w->search = (struct tac_audit_search){.ctx = w->ctx,
                                          .scene = w->scene,
                                          .portion = &w->portion,
                                          .slab = &w->slab,
                                          .quantum_s = w->recorded->file->quantum_s,
                                          .watched = w->report->watched_m,
                                          .query_all = w->query_all,
                                          .report = w->report};
    TAC_TRY(tac_audit_search_make(&w->search));
    for (int64_t i = 0; i < plan->count; i++) {
        const int64_t g = plan->order[i];
        const struct tac_audit_group *group = &plan->group[g];
        if (group->t[0] == group->t[1])
            continue;
        const bool start = before == NULL || !follows(before, group);
        for (int64_t begin = 0, end; begin < group->slabs; begin = end) {
            end = begin + 1;
            while (!portion_ends(group, end - 1))
                end++;
            TAC_TRY(do_portion(w, g, begin, end, run, start));
        }
        before = group;
    }
done:
    tac_audit_search_free(&w->search);
    tac_audit_portion_free(&w->portion);
    tac_audit_slab_free(&w->slab);
    return err;
}

/* ---- the report ---- */

static enum tac_err find_spans(struct tac_ctx *ctx, const struct tac_audit_plan *plan, double quantum_s,
                               struct tac_audit_report *report)
{
    enum tac_err err = TAC_OK;
    const struct tac_audit_group *before = NULL;
    TAC_TRY(tac_alloc(ctx, (size_t)plan->count, sizeof *report->span, &report->span));
    for (int64_t i = 0; i < plan->count; i++) {
        const struct tac_audit_group *group = &plan->group[plan->order[i]];
        if (group->t[0] == group->t[1])
            continue;
        report->breakpoints += group->rows;
        if (before == NULL || !follows(before, group)) {
            struct tac_audit_span *span = &report->span[report->span_count++];
            span->t_s[0] = quantum_s * (double)group->t[0];
            span->first = plan->order[i];
        }
        report->span[report->span_count - 1].t_s[1] = quantum_s * (double)group->t[1];
        report->span[report->span_count - 1].last = plan->order[i];
        before = group;
    }
done:
    return err;
}

/* How near a pair must come to be looked at: where contact acts, but no further than a quarter of an edge, for within a
 * mesh that many pairs are near for ever. */
static double choose_watched(const struct tac_scene *scene, const struct tac_audit_plan *plan)
{
    double edge = plan->group[plan->order[0]].edge;
    for (int64_t g = 0; g < plan->count; g++)
        edge = edge > 0 || plan->group[g].t[0] == plan->group[g].t[1] ? edge : plan->group[g].edge;
    if (!(edge > 0))
        return scene->settings->contact.thickness > 0 ? scene->settings->contact.thickness : 1e-3;
    return scene->settings->contact.thickness > 0 ? fmin(scene->settings->contact.thickness, .25 * edge) : .25 * edge;
}

/* Everybody's sums, smallest and earliest. */
static enum tac_err join_reports(struct tac_ctx *ctx, struct tac_audit_report *report)
{
    enum tac_err err = TAC_OK;
    struct reported {
        int64_t sum[7];
        double bound;
        struct tac_audit_place smallest;
        int smallest_known, listed;
        struct tac_audit_place place[TAC_AUDIT_LISTED];
    } mine, *all = NULL;
    if (ctx->size == 1)
        return TAC_OK;
    memset(&mine, 0, sizeof mine);
    const int64_t sum[7] = {report->slabs, report->pairs,          report->pieces, report->crossing,
                            report->open,  report->start_crossing, report->queries};
    memcpy(mine.sum, sum, sizeof sum);
    mine.bound = report->smallest_bound_m;
    mine.smallest = report->smallest;
    mine.smallest_known = report->smallest_known;
    mine.listed = report->listed;
    memcpy(mine.place, report->place, sizeof mine.place);
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)ctx->size, sizeof *all, &all)));
    if (MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, ctx->comm) != MPI_SUCCESS)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "MPI failed while the ranks put their reports together"));
    int64_t total[7] = {0};
    report->listed = 0;
    report->smallest_known = false;
    for (int r = 0; r < ctx->size; r++) {
        const struct reported *t = &all[r];
        for (int i = 0; i < 7; i++)
            total[i] += t->sum[i];
        report->smallest_bound_m = fmin(report->smallest_bound_m, t->bound);
        if (t->smallest_known &&
            (!report->smallest_known || t->smallest.gap < report->smallest.gap ||
             (t->smallest.gap == report->smallest.gap && compare_places(&t->smallest, &report->smallest) < 0)))
            report->smallest = t->smallest;
        report->smallest_known = report->smallest_known || t->smallest_known;
        for (int i = 0; i < t->listed; i++)
            tac_audit_list(report, &t->place[i]);
    }
    report->slabs = total[0];
    report->pairs = total[1];
    report->pieces = total[2];
    report->crossing = total[3];
    report->open = total[4];
    report->start_crossing = total[5];
    report->queries = total[6];
done:
    free(all);
    return err;
}

/* What the frames say of the groups that were looked at, by time. */
static void add_ties(const struct tac_audit_plan *plan, const struct tac_recorded *recorded, struct tac_audit_tie *tie)
{
    for (int64_t i = 0; i < plan->count; i++) {
        const int64_t g = plan->order[i];
        const struct tac_audit_group *group = &plan->group[g];
        if (group->t[0] == group->t[1])
            continue;
        if (group->off && tie->off++ == 0)
            tie->interval = recorded->group[g].index;
        for (int k = 0; k < 2; k++) {
            const struct tac_audit_end_tie *end = &group->end[k];
            tie->compared += end->compared;
            tie->missing += end->missing;
            if (end->differing > 0 && tie->differing == 0) {
                const tac_time t = k == 0 ? recorded->group[g].begin : recorded->group[g].end;
                tie->t_s = (double)t * recorded->file->quantum_s;
                tie->frame = end->frame;
                tie->vertex = end->vertex;
                memcpy(tie->recorded, end->recorded, sizeof tie->recorded);
                memcpy(tie->framed, end->framed, sizeof tie->framed);
            }
            tie->differing += end->differing;
        }
    }
}

/* Returns whether the record belongs to the run and covers all that was requested. */
static void see_run(const struct tac_recorded *recorded, const struct tac_audit_options *options, const bool late[2],
                    struct tac_audit_report *report)
{
    struct tac_audit_part *part = &report->part;
    double end_s = 0;
    for (int64_t g = 0; g < recorded->group_count; g++)
        end_s = fmax(end_s, recorded->file->quantum_s * (double)recorded->group[g].end);
    report->clash = tac_audit_frames_clash(options->run, options->frames);
    if (report->clash == TAC_AUDIT_NO_CLASH && end_s > options->run->time_s)
        report->clash = TAC_AUDIT_RECORD_ENDS;
    part->asked_s[0] = options->from_s;
    part->asked_s[1] = options->until_s;
    part->looked_s[0] = report->span_count > 0 ? report->span[0].t_s[0] : NAN;
    part->looked_s[1] = report->span_count > 0 ? report->span[report->span_count - 1].t_s[1] : NAN;
    tac_audit_part_fill(part, options->run, options->frames, late);
    report->proven = report->span_count == 1 && report->crossing == 0 && report->open == 0 &&
                     report->start_crossing == 0 && report->tie.differing == 0 && report->tie.off == 0 &&
                     report->tie.missing == 0 && report->clash == TAC_AUDIT_NO_CLASH && part->reaches[0] &&
                     part->reaches[1];
}

/* The plane stays a plane only if no group leaves it. */
static void see_whether_flat(struct tac_scene *scene, const struct tac_audit_plan *plan)
{
    scene->settings->two_d = scene->mesh->triangle_count == 0;
    for (int64_t g = 0; g < plan->count; g++)
        scene->settings->two_d = scene->settings->two_d && !plan->group[g].round;
}

enum tac_err tac_audit_record(struct tac_ctx *ctx, struct tac_scene *scene, struct tac_recorded *recorded,
                              const struct tac_audit_options *options, struct tac_audit_report **out)
{
    enum tac_err err = TAC_OK;
    struct tac_audit_plan plan = {0};
    struct tac_audit_report *report = NULL;
    struct work work = {
        .ctx = ctx, .scene = scene, .recorded = recorded, .plan = &plan, .query_all = options->query_all};
    bool late[2];
    *out = NULL;
    TAC_TRY(tac_audit_plan_make(ctx, scene, recorded, options, &plan, late));
    see_whether_flat(scene, &plan);
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 1, sizeof *report, &report)));
    TAC_TRY(tac_agree(ctx, find_spans(ctx, &plan, recorded->file->quantum_s, report)));
    report->vertex_count = scene->mesh->vertex_count;
    report->watched_m = report->smallest_bound_m = choose_watched(scene, &plan);
    work.report = report;
    TAC_TRY(tac_agree(ctx, tac_exempt_create(ctx, scene, &report->exempt)));
    TAC_TRY(tac_agree(ctx, do_ours(&work)));
    TAC_TRY(join_reports(ctx, report));
    TAC_TRY(tac_exempt_join(ctx, report->exempt));
    add_ties(&plan, recorded, &report->tie);
    see_run(recorded, options, late, report);
    *out = report;
    report = NULL;
done:
    tac_audit_report_destroy(&report);
    tac_audit_plan_free(&plan);
    return err;
}

void tac_audit_report_destroy(struct tac_audit_report **report)
{
    if (*report == NULL)
        return;
    tac_exempt_destroy(&(*report)->exempt);
    free((*report)->span);
    free(*report);
    *report = NULL;
}
