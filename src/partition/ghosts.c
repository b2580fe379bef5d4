#include "partition/ghosts.h"
#include <stdlib.h>
#include <string.h>

enum tac_err tac_ghosts_refresh(struct tac_ctx *ctx, const struct tac_part *part, tac_lid n, int width, double *value)
{
    enum tac_err err;
    const size_t ranks = (size_t)ctx->size, w = (size_t)width, ghosts = (size_t)(n - part->owned);
    int64_t *asked = NULL, *asking = NULL, *fill = NULL;
    tac_gid *question = NULL, *questions = NULL;
    tac_lid *place = NULL;
    double *answer = NULL, *answers = NULL;
    size_t total = 0;
    TAC_TRY(tac_alloc(ctx, ranks, sizeof *asked, &asked));
    TAC_TRY(tac_alloc(ctx, ranks, sizeof *asking, &asking));
    TAC_TRY(tac_alloc(ctx, ranks + 1, sizeof *fill, &fill));
    TAC_TRY(tac_alloc(ctx, ghosts, sizeof *question, &question));
    TAC_TRY(tac_alloc(ctx, ghosts, sizeof *place, &place));
done:
    if ((err = tac_agree(ctx, err)) != TAC_OK) /* nobody talks until everybody can */
        goto end;
    for (tac_lid i = part->owned; i < n; i++)
        asked[part->owner[i]]++;
    for (size_t r = 0; r < ranks; r++)
        fill[r + 1] = fill[r] + asked[r];
    for (tac_lid i = part->owned; i < n; i++) {
        int64_t k = fill[part->owner[i]]++;
        question[k] = part->vertex_id[i];
        place[k] = i;
    }
    if ((err = tac_exchange(ctx, question, asked, sizeof *question, &questions, asking)) != TAC_OK)
        goto end;
    for (size_t r = 0; r < ranks; r++)
        total += (size_t)asking[r];
    if ((err = tac_agree(ctx, tac_alloc(ctx, total, w * sizeof *answer, &answer))) != TAC_OK)
        goto end;
    for (size_t k = 0; k < total; k++) {
        tac_lid i = tac_id_find(part->vertex_id, part->owned, questions[k]);
        TAC_CHECK(i >= 0);
        memcpy(&answer[w * k], &value[w * (size_t)i], w * sizeof *answer);
    }
    err = tac_exchange(ctx, answer, asking, w * sizeof *answer, &answers, asked);
    for (size_t k = 0; k < ghosts && !err; k++)
        memcpy(&value[w * (size_t)place[k]], &answers[w * k], w * sizeof *value);
end:
    free(asked);
    free(asking);
    free(fill);
    free(question);
    free(questions);
    free(place);
    free(answer);
    free(answers);
    return err;
}

static int block_of(tac_gid id, tac_gid total, int size)
{
    tac_gid block = (total + size - 1) / size;
    return (int)(id / (block > 0 ? block : 1));
}

struct claim {
    tac_gid id;
    int64_t owner;
};

/* Sorts n records to the rank of their id's block, and sends them there. place: where record k went. */
static enum tac_err to_blocks(struct tac_ctx *ctx, tac_gid total, size_t n, const struct claim *claim, size_t *place,
                              int64_t *sent, struct claim **out, int64_t *got)
{
    enum tac_err err;
    const size_t ranks = (size_t)ctx->size;
    struct claim *sorted = NULL;
    int64_t *fill = NULL;
    TAC_TRY(tac_alloc(ctx, n, sizeof *sorted, &sorted));
    TAC_TRY(tac_alloc(ctx, ranks + 1, sizeof *fill, &fill));
done:
    if ((err = tac_agree(ctx, err)) != TAC_OK)
        goto end;
    memset(sent, 0, ranks * sizeof *sent);
    for (size_t k = 0; k < n; k++)
        sent[block_of(claim[k].id, total, ctx->size)]++;
    for (size_t r = 0; r < ranks; r++)
        fill[r + 1] = fill[r] + sent[r];
    for (size_t k = 0; k < n; k++) {
        place[k] = (size_t)fill[block_of(claim[k].id, total, ctx->size)]++;
        sorted[place[k]] = claim[k];
    }
    err = tac_exchange(ctx, sorted, sent, sizeof *sorted, out, got);
end:
    free(sorted);
    free(fill);
    return err;
}

enum tac_err tac_owners_find(struct tac_ctx *ctx, tac_gid total, tac_lid n, const tac_gid *id, const int32_t *owner_of,
                             size_t count, const tac_gid *wanted, int32_t *owner)
{
    enum tac_err err;
    const size_t ranks = (size_t)ctx->size;
    const tac_gid block = (total + ctx->size - 1) / ctx->size, first = block * ctx->rank;
    struct claim *claim = NULL, *claims = NULL, *questions = NULL, *answers = NULL;
    size_t *place = NULL, most = count > (size_t)n ? count : (size_t)n, told = 0, asked = 0;
    int64_t *sent = NULL, *got = NULL, *back = NULL;
    int32_t *directory = NULL;
    TAC_TRY(tac_alloc(ctx, most, sizeof *claim, &claim));
    TAC_TRY(tac_alloc(ctx, most, sizeof *place, &place));
    TAC_TRY(tac_alloc(ctx, ranks, sizeof *sent, &sent));
    TAC_TRY(tac_alloc(ctx, ranks, sizeof *got, &got));
    TAC_TRY(tac_alloc(ctx, ranks, sizeof *back, &back));
    TAC_TRY(tac_alloc(ctx, (size_t)(block > 0 ? block : 1), sizeof *directory, &directory));
done:
    if ((err = tac_agree(ctx, err)) != TAC_OK)
        goto end;
    for (tac_lid i = 0; i < n; i++)
        claim[i] = (struct claim){id[i], owner_of ? owner_of[i] : ctx->rank};
    if ((err = to_blocks(ctx, total, (size_t)n, claim, place, sent, &claims, got)) != TAC_OK)
        goto end;
    for (size_t r = 0; r < ranks; r++)
        told += (size_t)got[r];
    for (size_t k = 0; k < told; k++)
        directory[claims[k].id - first] = (int32_t)claims[k].owner;
    for (size_t k = 0; k < count; k++)
        claim[k] = (struct claim){wanted[k], -1};
    if ((err = to_blocks(ctx, total, count, claim, place, sent, &questions, got)) != TAC_OK)
        goto end;
    for (size_t r = 0; r < ranks; r++)
        asked += (size_t)got[r];
    for (size_t k = 0; k < asked; k++)
        questions[k].owner = directory[questions[k].id - first];
    err = tac_exchange(ctx, questions, got, sizeof *questions, &answers, back);
    for (size_t k = 0; k < count && !err; k++)
        owner[k] = (int32_t)answers[place[k]].owner;
end:
    free(claim);
    free(claims);
    free(questions);
    free(answers);
    free(place);
    free(sent);
    free(got);
    free(back);
    free(directory);
    return err;
}
