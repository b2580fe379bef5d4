/* follow_state.c: makes what histories keep from row to row, stores it in checkpoints, and reads it from them. */
#include "run/follow_room.h"
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* Words of one history in a checkpoint: these, then those of its kind. */
enum { KIND, DIGEST, LAST, COUNT, HEAD };
enum { LIMBS = TAC_ACCUM_LIMBS + 1, FLUX = 3 + 2 * LIMBS };

/* A hash of all that defines the history: if it changes, the history begins anew. */
static int64_t history_digest(const struct tac_history *h)
{
    uint64_t sum = tac_hash64(0, (uint64_t)h->kind), bits;
    for (const char *c = h->name; *c != '\0'; c++)
        sum = tac_hash64(sum, (unsigned char)*c);
    sum = tac_hash64(sum, (uint64_t)h->body);
    for (tac_lid k = 0; k < h->flux_count; k++)
        sum = tac_hash64(sum, (uint64_t)h->flux_body[k]);
    for (int k = 0; k < 6 && h->kind == TAC_HISTORY_FLUX; k++) {
        memcpy(&bits, k < 3 ? &h->point[k] : &h->normal[k - 3], sizeof bits);
        sum = tac_hash64(sum, bits);
    }
    return (int64_t)(sum >> 1);
}

static bool has_memory(const struct tac_history *h)
{
    return h->kind == TAC_HISTORY_REACTION || h->kind == TAC_HISTORY_FLUX;
}

static size_t words_of(const struct tac_history *h, size_t count)
{
    return h->kind == TAC_HISTORY_FLUX ? FLUX + (count + 63) / 64 : 3 * count;
}

static enum tac_err make_followed(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_history *h,
                                  struct tac_followed *f)
{
    enum tac_err err = TAC_OK;
    const struct tac_body *body = &scene->settings->body[h->body];
    if (h->kind == TAC_HISTORY_FLUX) {
        f->count = (size_t)h->vertex_count;
        TAC_TRY(tac_alloc(ctx, f->count, 1, &f->front));
    } else if (h->kind == TAC_HISTORY_REACTION) {
        f->count = (size_t)(body->vertex_end - body->vertex_begin);
        TAC_TRY(tac_alloc(ctx, 3 * f->count, sizeof *f->pending, &f->pending));
    }
done:
    return err;
}

/* ---- out ---- */

static void put_flux(const struct tac_followed *f, int64_t *word)
{
    *word++ = f->begun;
    memcpy(word, f->crossed, sizeof f->crossed);
    word += 2;
    for (int k = 0; k < 2; k++, word += LIMBS) {
        memcpy(word, f->mass[k].limb, sizeof f->mass[k].limb);
        word[TAC_ACCUM_LIMBS] = f->mass[k].bad;
    }
    for (size_t i = 0; i < f->count; i++)
        word[i / 64] |= (int64_t)((uint64_t)f->front[i] << (i % 64));
}

enum tac_err tac_follow_store(struct tac_ctx *ctx, const struct tac_scene *whole, const struct tac_follow *follow,
                              int64_t **word, int64_t *count)
{
    const struct tac_output_settings *output = &whole->settings->output;
    enum tac_err err = TAC_OK;
    size_t total = 0;
    for (size_t k = 0; k < follow->count; k++)
        if (has_memory(&output->history[k]))
            total += HEAD + words_of(&output->history[k], follow->item[k].count);
    TAC_TRY(tac_alloc(ctx, total, sizeof **word, word));
    *count = (int64_t)total;
    int64_t *at = *word;
    for (size_t k = 0; k < follow->count; k++) {
        const struct tac_history *h = &output->history[k];
        const struct tac_followed *f = &follow->item[k];
        if (!has_memory(h))
            continue;
        at[KIND] = h->kind;
        at[DIGEST] = history_digest(h);
        at[LAST] = f->last;
        at[COUNT] = (int64_t)f->count;
        if (h->kind == TAC_HISTORY_FLUX)
            put_flux(f, at + HEAD);
        else if (f->count > 0)
            memcpy(at + HEAD, f->pending, 3 * f->count * sizeof *f->pending);
        at += HEAD + words_of(h, f->count);
    }
done:
    return err;
}

/* ---- in ---- */

/* False if the words are damaged. */
static bool get_flux(struct tac_followed *f, const int64_t *word)
{
    const int64_t most = (int64_t)1 << 33; /* of a limb: carries are propagated before a checkpoint */
    f->begun = *word++ != 0;
    memcpy(f->crossed, word, sizeof f->crossed);
    word += 2;
    if (f->crossed[0] < 0 || f->crossed[1] < 0)
        return false;
    for (int k = 0; k < 2; k++, word += LIMBS) {
        memcpy(f->mass[k].limb, word, sizeof f->mass[k].limb);
        f->mass[k].bad = word[TAC_ACCUM_LIMBS] != 0;
        for (int i = 0; i < TAC_ACCUM_LIMBS; i++)
            if (word[i] > most || word[i] < -most)
                return false;
        f->mass[k].pending = 1;
        tac_accum_carry(&f->mass[k]);
    }
    for (size_t i = 0; i < f->count; i++)
        f->front[i] = (uint8_t)((uint64_t)word[i / 64] >> (i % 64) & 1);
    return true;
}

static bool get_reaction(struct tac_followed *f, const int64_t *word)
{
    if (f->count > 0)
        memcpy(f->pending, word, 3 * f->count * sizeof *f->pending);
    for (size_t c = 0; c < 3 * f->count; c++)
        if (!(f->pending[c] - f->pending[c] == 0)) /* no number */
            return false;
    return true;
}

/* Finds the history among the words; *there false: it is not among them. */
static bool find_words(const struct tac_history *h, const int64_t *word, int64_t count, tac_time now,
                       struct tac_followed *f, bool *there)
{
    const int64_t mine = history_digest(h);
    *there = false;
    for (int64_t at = 0; at < count;) {
        const int64_t *head = word + at;
        if (count - at < HEAD || head[KIND] < TAC_HISTORY_REACTION || head[KIND] > TAC_HISTORY_FLUX ||
            head[COUNT] < 0 || head[COUNT] > INT32_MAX)
            return false;
        const struct tac_history kind = {.kind = (enum tac_history_kind)head[KIND]};
        const int64_t size = (int64_t)words_of(&kind, (size_t)head[COUNT]);
        if (size > count - at - HEAD)
            return false;
        if (head[KIND] == (int64_t)h->kind && head[DIGEST] == mine && head[COUNT] == (int64_t)f->count) {
            if (head[LAST] < 0 || head[LAST] > now)
                return false;
            f->last = head[LAST];
            *there = true;
            return h->kind == TAC_HISTORY_FLUX ? get_flux(f, head + HEAD) : get_reaction(f, head + HEAD);
        }
        at += HEAD + size;
    }
    return true;
}

enum tac_err tac_follow_create(struct tac_simulation *sim, const int64_t *word, int64_t count, struct tac_follow **out)
{
    const struct tac_output_settings *output = &sim->whole->settings->output;
    const tac_time now = tac_simulation_now(sim);
    struct tac_follow *follow = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(sim->ctx, 1, sizeof *follow, &follow));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)output->history_count, sizeof *follow->item, &follow->item));
    follow->count = (size_t)output->history_count;
    for (size_t k = 0; k < follow->count; k++) {
        const struct tac_history *h = &output->history[k];
        struct tac_followed *f = &follow->item[k];
        bool there = false;
        if (!has_memory(h))
            continue;
        TAC_TRY(make_followed(sim->ctx, sim->whole, h, f));
        f->last = sim->last_frame;
        if (!find_words(h, word, count, now, f, &there))
            TAC_TRY(tac_fail(sim->ctx, TAC_ERR_INPUT,
                             "the checkpoint's data of the histories are damaged; use another checkpoint"));
    }
    *out = follow;
    follow = NULL;
done:
    tac_follow_destroy(&follow);
    return tac_agree(sim->ctx, err);
}

void tac_follow_destroy(struct tac_follow **follow)
{
    if (*follow == NULL)
        return;
    for (size_t k = 0; k < (*follow)->count; k++) {
        free((*follow)->item[k].front);
        free((*follow)->item[k].pending);
    }
    free((*follow)->item);
    free(*follow);
    *follow = NULL;
}
