/* exempt.c: lists the pairs of bodies that nothing keeps apart because no vertex of them is ever free, and looks where
 * they cross. */
#include "overlap/overlap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/exempt.h>
#include <tactus/report.h>

static int compare_pairs(const void *a, const void *b)
{
    const struct tac_exempt_pair *p = a, *q = b;
    if (p->body[0] != q->body[0])
        return p->body[0] < q->body[0] ? -1 : 1;
    return (p->body[1] > q->body[1]) - (p->body[1] < q->body[1]);
}

/* The row of a pair of bodies; a new one if there is none. */
static enum tac_err row_of(struct tac_ctx *ctx, struct tac_exempt *e, tac_lid a, tac_lid b,
                           struct tac_exempt_pair **out)
{
    const struct tac_exempt_pair key = {.body = {a < b ? a : b, a < b ? b : a}};
    size_t low = 0, high = e->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_pairs(&e->pair[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == e->count || compare_pairs(&e->pair[low], &key) != 0) {
        const enum tac_err err = tac_grow(ctx, &e->pair, &e->capacity, e->count + 1, sizeof *e->pair);
        if (err)
            return err;
        for (size_t i = e->count++; i > low; i--)
            e->pair[i] = e->pair[i - 1];
        e->pair[low] = key;
    }
    *out = &e->pair[low];
    return TAC_OK;
}

/* What a body's vertices are. */
struct kind {
    bool free, scripted;
};

static struct kind kind_of(const struct tac_scene *scene, const struct tac_exempt *e, tac_lid b)
{
    const struct tac_body *body = &scene->settings->body[b];
    struct kind kind = {false, false};
    for (tac_lid i = body->vertex_begin; i < body->vertex_end; i++) {
        kind.free = kind.free || scene->mesh->ever_free[i];
        kind.scripted = kind.scripted || e->scripted[i];
    }
    return kind;
}

static bool is_ignored(const struct tac_scene *scene, tac_lid a, tac_lid b)
{
    const struct tac_contact_settings *contact = &scene->settings->contact;
    for (tac_lid i = 0; i < contact->ignore_count; i++)
        if ((contact->ignore[2 * i] == a && contact->ignore[2 * i + 1] == b) ||
            (contact->ignore[2 * i] == b && contact->ignore[2 * i + 1] == a))
            return true;
    return false;
}

/* Pairs of two bodies that are never free, of which one is scripted. */
static enum tac_err list_whole(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_exempt *e)
{
    enum tac_err err = TAC_OK;
    const tac_lid bodies = scene->settings->body_count;
    struct kind *kind = NULL;
    struct tac_exempt_pair *row;
    TAC_TRY(tac_alloc(ctx, (size_t)bodies, sizeof *kind, &kind));
    for (tac_lid b = 0; b < bodies; b++)
        kind[b] = kind_of(scene, e, b);
    for (tac_lid a = 0; a < bodies; a++)
        for (tac_lid b = a + 1; b < bodies && !kind[a].free; b++) {
            if (kind[b].free || (!kind[a].scripted && !kind[b].scripted) || is_ignored(scene, a, b))
                continue;
            e->pairs++;
            if (e->count >= TAC_EXEMPT_MOST)
                continue;
            TAC_TRY(row_of(ctx, e, a, b, &row));
            row->whole = 1;
        }
done:
    free(kind);
    return err;
}

enum tac_err tac_exempt_create(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_exempt **out)
{
    enum tac_err err = TAC_OK;
    struct tac_exempt *e = NULL;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *e, &e));
    TAC_TRY(tac_alloc(ctx, (size_t)scene->mesh->vertex_count, 1, &e->scripted));
    for (tac_lid i = 0; i < scene->mesh->vertex_count; i++) {
        e->scripted[i] =
            !scene->mesh->ever_free[i] && !scene->settings->body[scene->mesh->vertex_body[i]].fixed ? 1 : 0;
        e->any = e->any || e->scripted[i];
    }
    TAC_TRY(list_whole(ctx, scene, e));
    *out = e;
    e = NULL;
done:
    tac_exempt_destroy(&e);
    return err;
}

void tac_exempt_destroy(struct tac_exempt **exempt)
{
    if (*exempt == NULL)
        return;
    free((*exempt)->scripted);
    free((*exempt)->pair);
    free(*exempt);
    *exempt = NULL;
}

bool tac_exempt_any(const struct tac_exempt *exempt)
{
    return exempt->any;
}

/* Notes that some pairs of primitives cross at t0 .. t1. */
static void note(struct tac_exempt_pair *row, int64_t crossing, const double t_s[2])
{
    row->t_s[0] = row->crossing == 0 ? t_s[0] : fmin(row->t_s[0], t_s[0]);
    row->t_s[1] = row->crossing == 0 ? t_s[1] : fmax(row->t_s[1], t_s[1]);
    row->crossing = crossing > row->crossing ? crossing : row->crossing;
}

static int compare_bodies(const void *a, const void *b)
{
    const struct tac_overlap *p = a, *q = b;
    const tac_lid pl = p->body[0] < p->body[1] ? p->body[0] : p->body[1], ph = p->body[0] + p->body[1] - pl;
    const tac_lid ql = q->body[0] < q->body[1] ? q->body[0] : q->body[1], qh = q->body[0] + q->body[1] - ql;
    if (pl != ql)
        return pl < ql ? -1 : 1;
    return (ph > qh) - (ph < qh);
}

enum tac_err tac_exempt_look(struct tac_ctx *ctx, const struct tac_scene *scene, double t_s, struct tac_exempt *exempt)
{
    enum tac_err err = TAC_OK;
    struct tac_overlaps *found = NULL;
    struct tac_exempt_pair *row;
    const double t[2] = {t_s, t_s};
    exempt->instants++;
    TAC_TRY(tac_overlap_find_exempt(ctx, scene, exempt->scripted, &found));
    if (found->count > 0)
        qsort(found->overlap, found->count, sizeof *found->overlap, compare_bodies);
    for (size_t i = 0, end; i < found->count; i = end) {
        end = i + 1;
        while (end < found->count && compare_bodies(&found->overlap[i], &found->overlap[end]) == 0)
            end++;
        TAC_TRY(row_of(ctx, exempt, found->overlap[i].body[0], found->overlap[i].body[1], &row));
        note(row, (int64_t)(end - i), t);
    }
done:
    tac_overlap_destroy(&found);
    return err;
}

int64_t tac_exempt_crossing(const struct tac_exempt *exempt)
{
    int64_t count = 0;
    for (size_t i = 0; i < exempt->count; i++)
        count += exempt->pair[i].crossing > 0;
    return count;
}

enum tac_err tac_exempt_join(struct tac_ctx *ctx, struct tac_exempt *exempt)
{
    enum tac_err err = TAC_OK;
    struct tac_exempt_pair *all = NULL, *mine = NULL, *row;
    int *bytes = NULL, *at = NULL, count = 0, total = 0;
    if (ctx->size == 1)
        return TAC_OK;
    err = tac_alloc(ctx, exempt->count, sizeof *mine, &mine);
    if (!err)
        err = tac_alloc(ctx, (size_t)ctx->size, sizeof *bytes, &bytes);
    if (!err)
        err = tac_alloc(ctx, (size_t)ctx->size, sizeof *at, &at);
    TAC_TRY(tac_agree(ctx, err));
    for (size_t i = 0; i < exempt->count; i++)
        if (exempt->pair[i].crossing > 0)
            mine[count++] = exempt->pair[i];
    count *= (int)sizeof *mine;
    MPI_Allgather(&count, 1, MPI_INT, bytes, 1, MPI_INT, ctx->comm);
    for (int r = 0; r < ctx->size; total += bytes[r++])
        at[r] = total;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)total, 1, &all)));
    MPI_Allgatherv(mine, count, MPI_BYTE, all, bytes, at, MPI_BYTE, ctx->comm);
    MPI_Allreduce(MPI_IN_PLACE, &exempt->instants, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    for (int i = 0; i < total / (int)sizeof *all && !err; i++) {
        err = row_of(ctx, exempt, all[i].body[0], all[i].body[1], &row);
        if (!err)
            note(row, all[i].crossing, all[i].t_s);
    }
    TAC_TRY(tac_agree(ctx, err));
done:
    free(mine);
    free(bytes);
    free(at);
    free(all);
    return err;
}

/* ---- in words and in JSON, for `tactus check` and `tactus audit` ---- */

static const char *name_of(const struct tac_scene *scene, const struct tac_exempt_pair *p, int side)
{
    return scene->settings->body[p->body[side]].name;
}

json_t *tac_exempt_json(const struct tac_scene *scene, const struct tac_exempt *exempt)
{
    json_t *list = json_array();
    for (size_t i = 0; i < exempt->count; i++) {
        const struct tac_exempt_pair *p = &exempt->pair[i];
        json_t *time = p->crossing > 0 ? json_pack("[f, f]", p->t_s[0], p->t_s[1]) : json_null();
        tac_json_append(&list, json_pack("{s:o, s:o, s:b, s:I, s:o}", "a", tac_json_text(name_of(scene, p, 0)), "b",
                                         tac_json_text(name_of(scene, p, 1)), "whole", (int)p->whole, "crossing",
                                         (json_int_t)p->crossing, "time", time));
    }
    return json_pack("{s:I, s:I, s:I, s:o}", "pairs", (json_int_t)exempt->pairs, "crossing",
                     (json_int_t)tac_exempt_crossing(exempt), "instants", (json_int_t)exempt->instants, "list", list);
}

void tac_exempt_describe(const struct tac_scene *scene, const struct tac_exempt_pair *p, const char *quote, char *text,
                         size_t size)
{
    char who[160];
    if (p->body[0] == p->body[1])
        snprintf(who, sizeof who, "%s%.60s%s and itself", quote, name_of(scene, p, 0), quote);
    else
        snprintf(who, sizeof who, "%s%.60s%s and %s%.60s%s", quote, name_of(scene, p, 0), quote, quote,
                 name_of(scene, p, 1), quote);
    if (p->crossing == 0)
        snprintf(text, size, "%s", who);
    else
        snprintf(text, size, "%s cross from t = %.9g to %.9g s, in %lld places at the most", who, p->t_s[0], p->t_s[1],
                 (long long)p->crossing);
}

void tac_exempt_print(FILE *out, const char *begin, const struct tac_scene *scene, const struct tac_exempt *exempt,
                      const char *quote)
{
    enum { SHOWN = 20 };
    char text[320];
    const int64_t crossing = tac_exempt_crossing(exempt);
    int64_t shown = 0, all = exempt->pairs;
    for (size_t i = 0; i < exempt->count; i++)
        all += !exempt->pair[i].whole;
    if (all == 0)
        return;
    fprintf(out,
            "%s%lld %s of bodies of which no vertex is ever free: nothing keeps them apart; seen to cross at %lld "
            "instants: %lld\n",
            begin, (long long)all, all == 1 ? "pair" : "pairs", (long long)exempt->instants, (long long)crossing);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < exempt->count && shown < SHOWN; i++) {
            if ((exempt->pair[i].crossing > 0) != (round == 0))
                continue;
            tac_exempt_describe(scene, &exempt->pair[i], quote, text, sizeof text);
            fprintf(out, "%*s%s\n", (int)strlen(begin), "", text);
            shown++;
        }
    if (all > shown)
        fprintf(out, "%*sand %lld more\n", (int)strlen(begin), "", (long long)(all - shown));
}
