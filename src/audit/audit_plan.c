/* audit_plan.c: reads a record once, checks that all of it is sound, and decides how its time is cut into slabs and
 * portions. */
#include "audit/audit_room.h"

#include <math.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

#define FURTHEST 1e50 /* m; products of coordinates stay far from overflow */

tac_time tac_audit_cut(const tac_time t[2], int64_t k, int64_t count)
{
    const int64_t length = t[1] - t[0], whole = length / count, rest = length % count;
    return t[0] + whole * k + rest * k / count;
}

/* Looking through one group. */
struct look {
    struct tac_ctx *ctx;
    const struct tac_scene *scene;
    const struct tac_recorded *recorded;
    const struct tac_record_group *from;
    struct tac_audit_group *group;
    double *x; /* owned, (V, 3): at the start */
    EVP_MD_CTX *first, *last;
    tac_time before;
    struct tac_audit_tie_look tie;
    double low[3], high[3], extent; /* extent: sum over the vertices that move */
    int64_t moving;
    int64_t count[TAC_AUDIT_SLABS]; /* breakpoints in each of the shortest slabs */
};

static enum tac_err unsound(const struct look *l, tac_lid vertex, const char *what)
{
    char text[256];
    const tac_lid b = l->scene->mesh->vertex_body[vertex];
    snprintf(text, sizeof text, "%s: %s, at vertex %" TAC_PRILID " of body `%.60s`", l->from->path, what,
             vertex - l->scene->settings->body[b].vertex_begin, l->scene->settings->body[b].name);
    return tac_recorded_damaged(l->ctx, l->recorded, text);
}

/* The shortest slab that a time lies in. */
static int64_t bin_of(const struct tac_audit_group *g, tac_time t)
{
    const int64_t length = g->t[1] - g->t[0];
    const double share = (double)(t - g->t[0]) / (double)length;
    const int64_t bin = (int64_t)(share * TAC_AUDIT_SLABS);
    return bin < 0 ? 0 : bin >= TAC_AUDIT_SLABS ? TAC_AUDIT_SLABS - 1 : bin;
}

static enum tac_err no_digest(const struct look *l)
{
    return tac_fail(l->ctx, TAC_ERR_RUN, "libcrypto cannot compute SHA-256");
}

static enum tac_err digest(struct look *l, EVP_MD_CTX *md, const double x[3])
{
    double y[3];
    for (int k = 0; k < 3; k++)
        y[k] = x[k] + 0.0; /* -0 becomes 0 */
    return EVP_DigestUpdate(md, y, sizeof y) == 1 ? TAC_OK : no_digest(l);
}

static enum tac_err look_at_row(void *user, const struct tac_recorded_row *row)
{
    enum tac_err err = TAC_OK;
    struct look *l = user;
    struct tac_audit_group *g = l->group;
    for (int k = 0; k < 3; k++)
        if (!(fabs(row->x[k]) <= FURTHEST))
            return unsound(l, row->vertex, "a position is no number, or beyond 1e50 m");
    if (row->first ? row->t != g->t[0] : row->t <= l->before)
        return unsound(l, row->vertex,
                       row->first ? "the first time is not that of the other vertices" : "times do not ascend");
    if (row->last && row->t != g->t[1])
        return unsound(l, row->vertex, "the last time is not that of the other vertices");
    if (row->t > g->t[1])
        return unsound(l, row->vertex, "a time is later than the interval's end");
    l->before = row->t;
    l->count[bin_of(g, row->t)]++;
    g->round |= row->x[2] != 0;
    for (int k = 0; k < 3; k++) {
        l->low[k] = row->first || row->x[k] < l->low[k] ? row->x[k] : l->low[k];
        l->high[k] = row->first || row->x[k] > l->high[k] ? row->x[k] : l->high[k];
    }
    if (row->first) {
        memcpy(l->x + 3 * (size_t)row->vertex, row->x, 3 * sizeof *l->x);
        TAC_TRY(digest(l, l->first, row->x));
        TAC_TRY(tac_audit_tie_row(l->ctx, &l->tie, 0, row->vertex, row->x, g));
    }
    if (row->last) {
        TAC_TRY(digest(l, l->last, row->x));
        TAC_TRY(tac_audit_tie_row(l->ctx, &l->tie, 1, row->vertex, row->x, g));
        const double extent = fmax(l->high[0] - l->low[0], fmax(l->high[1] - l->low[1], l->high[2] - l->low[2]));
        l->extent += extent;
        l->moving += extent > 0;
    }
done:
    return err;
}

/* The mean length of an edge that can move; of particles: twice the radius, or how far they are apart. */
static double mean_edge(const struct look *l)
{
    const struct tac_scene *s = l->scene;
    double sum = 0, d[3], low[3], high[3];
    int64_t count = 0;
    for (tac_lid e = 0; e < s->mesh->topology->edge_count; e++) {
        const tac_lid *v = &s->mesh->topology->edge[2 * (size_t)e];
        if (!s->mesh->ever_free[v[0]] && !s->mesh->ever_free[v[1]])
            continue;
        tac_sub(d, l->x + 3 * (size_t)v[0], l->x + 3 * (size_t)v[1]);
        sum += sqrt(tac_dot(d, d));
        count++;
    }
    if (count > 0 && sum > 0)
        return sum / (double)count;
    for (tac_lid b = 0; b < s->settings->body_count; b++)
        if (!s->settings->body[b].has_elements && s->settings->body[b].radius > 0) {
            sum +=
                2 * s->settings->body[b].radius * (s->settings->body[b].vertex_end - s->settings->body[b].vertex_begin);
            count += s->settings->body[b].vertex_end - s->settings->body[b].vertex_begin;
        }
    if (count > 0 && sum > 0)
        return sum / (double)count;
    for (size_t i = 0; i < 3 * (size_t)s->mesh->vertex_count; i++) {
        low[i % 3] = i < 3 ? l->x[i] : fmin(low[i % 3], l->x[i]);
        high[i % 3] = i < 3 ? l->x[i] : fmax(high[i % 3], l->x[i]);
    }
    return fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2])) / sqrt((double)s->mesh->vertex_count);
}

/* Slabs so short that the usual vertex moves by less than half an edge, unless that leaves it fewer than 8 breakpoints;
 * and of which one fits into memory. */
static int32_t choose_slabs(const struct look *l, int64_t most_rows)
{
    const struct tac_audit_group *g = l->group;
    const double moved = l->moving > 0 ? l->extent / (double)l->moving : 0, vertices = l->scene->mesh->vertex_count;
    const double wanted = fmin(g->edge > 0 ? moved / (.5 * g->edge) : 1, (double)g->rows / vertices / 8);
    int64_t slabs = 1, largest = INT64_MAX;
    const int64_t length = g->t[1] - g->t[0];
    while (slabs < TAC_AUDIT_SLABS && 2 * slabs <= length && (double)slabs < wanted)
        slabs *= 2;
    for (;; slabs *= 2) {
        largest = 0;
        const int64_t bins = TAC_AUDIT_SLABS / slabs;
        for (int64_t k = 0; k < slabs; k++) {
            int64_t sum = 2 * (int64_t)l->scene->mesh->vertex_count;
            for (int64_t i = k * bins; i < (k + 1) * bins; i++)
                sum += l->count[i];
            largest = sum > largest ? sum : largest;
        }
        if (largest <= most_rows || slabs == TAC_AUDIT_SLABS || 2 * slabs > length)
            return (int32_t)slabs;
    }
}

static void cut_portions(const struct look *l, int64_t most_rows)
{
    struct tac_audit_group *g = l->group;
    const int64_t bins = TAC_AUDIT_SLABS / g->slabs, ends = 2 * (int64_t)l->scene->mesh->vertex_count;
    int64_t sum = ends;
    for (int64_t k = 0; k < g->slabs; k++) {
        int64_t slab = 0;
        for (int64_t i = k * bins; i < (k + 1) * bins; i++)
            slab += l->count[i];
        if (k > 0 && sum + slab > most_rows) {
            g->portion_ends[(k - 1) / 8] |= (uint8_t)(1 << (k - 1) % 8);
            sum = ends;
        }
        sum += slab;
    }
    g->portion_ends[(g->slabs - 1) / 8] |= (uint8_t)(1 << (g->slabs - 1) % 8);
}

static enum tac_err look_at_group(struct look *l, struct tac_recorded *recorded, int64_t k, int64_t *start,
                                  int64_t most_rows)
{
    enum tac_err err = TAC_OK;
    struct tac_audit_group *g = l->group;
    TAC_TRY(tac_recorded_starts(l->ctx, recorded, k, start));
    g->t[0] = l->from->begin;
    g->t[1] = l->from->end;
    if (!(g->t[0] >= 0 && g->t[0] < g->t[1] && g->t[1] < (tac_time)1 << 62))
        TAC_TRY(unsound(l, 0, "times do not ascend"));
    tac_audit_tie_begin(&l->tie, recorded, k, g);
    memset(l->count, 0, sizeof l->count);
    l->extent = 0;
    l->moving = 0;
    g->rows = l->from->rows;
    if (EVP_DigestInit_ex(l->first, EVP_sha256(), NULL) != 1 || EVP_DigestInit_ex(l->last, EVP_sha256(), NULL) != 1)
        TAC_TRY(no_digest(l));
    TAC_TRY(tac_recorded_stream(l->ctx, recorded, k, start, look_at_row, l));
    if (EVP_DigestFinal_ex(l->first, g->first, NULL) != 1 || EVP_DigestFinal_ex(l->last, g->last, NULL) != 1)
        TAC_TRY(no_digest(l));
    g->edge = mean_edge(l);
    g->slabs = choose_slabs(l, most_rows);
    cut_portions(l, most_rows);
done:
    return err;
}

/* Reads this rank's share of the groups that overlap the requested time. */
static enum tac_err look_at_ours(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_recorded *recorded,
                                 const struct tac_reader *frames, const tac_time asked[2], int64_t most_rows,
                                 struct tac_audit_plan *plan)
{
    enum tac_err err = TAC_OK;
    int64_t *start = NULL;
    struct look *l = NULL;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *l, &l));
    *l = (struct look){.ctx = ctx, .scene = scene, .recorded = recorded};
    l->first = EVP_MD_CTX_new();
    l->last = EVP_MD_CTX_new();
    if (l->first == NULL || l->last == NULL)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "out of memory for SHA-256"));
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)scene->mesh->vertex_count, sizeof *l->x, &l->x));
    TAC_TRY(tac_alloc(ctx, (size_t)scene->mesh->vertex_count + 1, sizeof *start, &start));
    TAC_TRY(tac_audit_tie_make(ctx, frames, scene->mesh->vertex_count, &l->tie));
    for (int64_t k = ctx->rank; k < plan->count; k += ctx->size) {
        if (recorded->group[k].begin >= asked[1] || recorded->group[k].end <= asked[0])
            continue;
        l->group = &plan->group[k];
        l->from = &recorded->group[k];
        TAC_TRY(look_at_group(l, recorded, k, start, most_rows));
    }
done:
    if (l != NULL) {
        EVP_MD_CTX_free(l->first);
        EVP_MD_CTX_free(l->last);
        tac_audit_tie_free(&l->tie);
        free(l->x);
    }
    free(l);
    free(start);
    return err;
}

/* Joins the shares of the ranks; ranks that did not read a group add zeroes. */
static enum tac_err share(struct tac_ctx *ctx, struct tac_audit_plan *plan)
{
    enum { AT_ONCE = 1 << 16 };
    for (int64_t k = 0; k < plan->count && ctx->size > 1; k += AT_ONCE) {
        const int64_t n = plan->count - k < AT_ONCE ? plan->count - k : AT_ONCE;
        if (MPI_Allreduce(MPI_IN_PLACE, &plan->group[k], (int)(n * (int64_t)sizeof *plan->group), MPI_BYTE, MPI_BOR,
                          ctx->comm) != MPI_SUCCESS)
            return tac_fail(ctx, TAC_ERR_RUN, "MPI failed while the ranks exchanged data of the record");
    }
    return TAC_OK;
}

/* By time. A partial interval that is also there as a whole is left out. */
static enum tac_err put_in_order(struct tac_ctx *ctx, const struct tac_recorded *recorded, struct tac_audit_plan *plan)
{
    for (int64_t k = 0; k < plan->count; k++) {
        struct tac_audit_group *g = &plan->group[k];
        for (int64_t i = 0; i < k && tac_recorded_partial(recorded, k); i++)
            if (plan->group[i].t[0] < g->t[1] && g->t[0] < plan->group[i].t[1])
                g->t[1] = g->t[0];
        int64_t at = k; /* those of /record come first, and nearly in order */
        for (; at > 0 && plan->group[plan->order[at - 1]].t[0] > g->t[0]; at--)
            plan->order[at] = plan->order[at - 1];
        plan->order[at] = k;
    }
    tac_time end = -1;
    for (int64_t i = 0; i < plan->count; i++) {
        const struct tac_audit_group *g = &plan->group[plan->order[i]];
        if (g->t[0] == g->t[1])
            continue;
        if (g->t[0] < end) {
            char what[128];
            snprintf(what, sizeof what, "%s begins before the group ahead of it ends",
                     recorded->group[plan->order[i]].path);
            return tac_recorded_damaged(ctx, recorded, what);
        }
        end = g->t[1];
    }
    return TAC_OK;
}

/* A time in quanta; NaN: `otherwise`. */
static tac_time quanta(const struct tac_recorded *recorded, double t_s, tac_time otherwise)
{
    const double most = 0x1p61, t = floor(t_s / recorded->file->quantum_s + .5);
    return isnan(t_s) ? otherwise : t < most ? (tac_time)t : (tac_time)most;
}

/* Finds the requested time, and whether the record has its two ends. The grid of frames has 2^16 quanta, so a requested
 * end within that distance of an end of the record means that end. */
static void see_asked(const struct tac_recorded *recorded, const struct tac_audit_options *options, tac_time asked[2],
                      bool late[2])
{
    const tac_time grid = (tac_time)1 << 16;
    tac_time has[2] = {INT64_MAX, 0};
    for (int64_t g = 0; g < recorded->group_count; g++) {
        has[0] = recorded->group[g].begin < has[0] ? recorded->group[g].begin : has[0];
        has[1] = recorded->group[g].end > has[1] ? recorded->group[g].end : has[1];
    }
    asked[0] = quanta(recorded, options->from_s, INT64_MIN);
    asked[1] = quanta(recorded, options->until_s, INT64_MAX);
    if (!isnan(options->from_s) && asked[0] < has[0] && has[0] - asked[0] <= grid)
        asked[0] = has[0];
    if (!isnan(options->until_s) && asked[1] > has[1] && asked[1] - has[1] <= grid)
        asked[1] = has[1];
    late[0] = !isnan(options->from_s) && asked[0] < has[0];
    late[1] = !isnan(options->until_s) && asked[1] > has[1];
}

/* Restricts the groups to the requested time. */
static void cut(const tac_time asked[2], struct tac_audit_plan *plan)
{
    for (int64_t k = 0; k < plan->count; k++) {
        struct tac_audit_group *g = &plan->group[k];
        if (g->t[0] >= g->t[1])
            continue;
        g->t[0] = g->t[0] > asked[0] ? g->t[0] : asked[0];
        g->t[1] = g->t[1] < asked[1] ? g->t[1] : asked[1];
        if (g->slabs > g->t[1] - g->t[0]) { /* a slab is a quantum at least */
            g->slabs = 1;
            g->portion_ends[0] = 1;
        }
    }
}

enum tac_err tac_audit_plan_make(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_recorded *recorded,
                                 const struct tac_audit_options *options, struct tac_audit_plan *plan, bool late[2])
{
    enum { ROW_BYTES = 48, LEAST_ROWS = 1024, USUAL = 256 << 20 }; /* time, position, and what a slab makes of them */
    enum tac_err err = TAC_OK;
    const int64_t memory_bytes = options->memory_bytes > 0 ? options->memory_bytes : USUAL;
    const int64_t rows = memory_bytes / ROW_BYTES, most_rows = rows > LEAST_ROWS ? rows : LEAST_ROWS;
    tac_time asked[2];
    memset(plan, 0, sizeof *plan);
    plan->count = recorded->group_count;
    see_asked(recorded, options, asked, late);
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)plan->count, sizeof *plan->group, &plan->group)));
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)plan->count, sizeof *plan->order, &plan->order)));
    TAC_TRY(tac_agree(ctx, look_at_ours(ctx, scene, recorded, options->frames, asked, most_rows, plan)));
    TAC_TRY(share(ctx, plan));
    TAC_TRY(put_in_order(ctx, recorded, plan));
    cut(asked, plan);
done:
    return err;
}

void tac_audit_plan_free(struct tac_audit_plan *plan)
{
    free(plan->group);
    free(plan->order);
    memset(plan, 0, sizeof *plan);
}
