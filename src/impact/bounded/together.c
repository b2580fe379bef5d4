/* together.c: all ranks solve one problem, each the columns at its bodies.
 *
 * Every rank has the whole problem at the start, and the whole result at the end. In between it has a range of the
 * bodies, and as ghosts those to which columns go from there. A column between bodies of two ranks is with both of
 * them, with the same bits; the rank of its first body counts it in sums. A column of rigid
 * pieces may be with up to four ranks.
 */
#include "base/exchange.h"
#include "impact/bounded/bounded.h"
#include <stdlib.h>
#include <string.h>

/* How the bodies are cut: the same on all ranks. */
struct cut {
    struct tac_ctx *ctx;
    int32_t *owner;                                   /* owned, (bodies) */
    size_t *begin;                                    /* owned, (ranks + 1): bodies of each rank */
    int *columns, *column_begin, *parts, *part_begin; /* owned, (ranks): numbers of a message */
    int32_t *local;                                   /* owned, (bodies): in the share, or -1 */
    tac_gid *id;                                      /* owned, (bodies of the share) */
    int32_t *ghost_owner;                             /* owned, likewise */
    uint32_t *from;                                   /* owned, (columns of the share): which they are */
    double *message;                                  /* owned, (columns, or 4 bodies, of the whole) */
};

static int32_t first_body(const struct tac_column *c)
{
    return c->body[0] >= 0 ? c->body[0] : c->body[1];
}

static void free_cut(struct cut *cut)
{
    void *const owned[] = {cut->owner, cut->begin, cut->columns,     cut->column_begin, cut->parts,  cut->part_begin,
                           cut->local, cut->id,    cut->ghost_owner, cut->from,         cut->message};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
}

static enum tac_err make_cut_arrays(struct cut *cut, const struct tac_bounded *p)
{
    enum tac_err err;
    const size_t ranks = (size_t)cut->ctx->size;
    const size_t longest = p->columns > 4 * p->bodies ? p->columns : 4 * p->bodies;
    TAC_TRY(tac_alloc(cut->ctx, p->bodies, sizeof *cut->owner, &cut->owner));
    TAC_TRY(tac_alloc(cut->ctx, ranks + 1, sizeof *cut->begin, &cut->begin));
    TAC_TRY(tac_alloc(cut->ctx, ranks, sizeof *cut->columns, &cut->columns));
    TAC_TRY(tac_alloc(cut->ctx, ranks, sizeof *cut->column_begin, &cut->column_begin));
    TAC_TRY(tac_alloc(cut->ctx, ranks, sizeof *cut->parts, &cut->parts));
    TAC_TRY(tac_alloc(cut->ctx, ranks, sizeof *cut->part_begin, &cut->part_begin));
    TAC_TRY(tac_alloc(cut->ctx, p->bodies, sizeof *cut->local, &cut->local));
    TAC_TRY(tac_alloc(cut->ctx, p->bodies, sizeof *cut->id, &cut->id));
    TAC_TRY(tac_alloc(cut->ctx, p->bodies, sizeof *cut->ghost_owner, &cut->ghost_owner));
    TAC_TRY(tac_alloc(cut->ctx, p->columns, sizeof *cut->from, &cut->from));
    TAC_TRY(tac_alloc(cut->ctx, longest, sizeof *cut->message, &cut->message));
done:
    return err;
}

/* Cuts the bodies, whose entries have been listed, into ranges of about equally many entries. */
static void cut_bodies(struct cut *cut, const struct tac_bounded *p)
{
    const int ranks = cut->ctx->size;
    const size_t all = p->start[p->bodies];
    int rank = 0;
    for (size_t b = 0; b < p->bodies; b++) {
        while (rank + 1 < ranks && p->start[b] * (size_t)ranks >= all * (size_t)(rank + 1))
            cut->begin[++rank] = b;
        cut->owner[b] = rank;
    }
    while (rank < ranks)
        cut->begin[++rank] = p->bodies;
    for (size_t k = 0; k < p->columns; k++)
        cut->columns[cut->owner[first_body(&p->column[k])]]++;
    for (int r = 0; r < ranks; r++) {
        cut->parts[r] = (int)(4 * (cut->begin[r + 1] - cut->begin[r]));
        cut->part_begin[r] = (int)(4 * cut->begin[r]);
        cut->column_begin[r] = r > 0 ? cut->column_begin[r - 1] + cut->columns[r - 1] : 0;
    }
}

/* ---- the share of this rank ---- */

/* Numbers the bodies of the share, its own first, and lists its columns, those that it counts first. Returns how many
 * bodies and columns there are. */
static void list_share(struct cut *cut, const struct tac_bounded *p, size_t *bodies, size_t *columns)
{
    const int rank = cut->ctx->rank;
    *bodies = *columns = 0;
    for (size_t b = 0; b < p->bodies; b++)
        cut->local[b] = -1;
    for (size_t b = cut->begin[rank]; b < cut->begin[rank + 1]; b++) {
        cut->local[b] = (int32_t)*bodies;
        cut->id[(*bodies)++] = (tac_gid)b;
    }
    for (int counted = 1; counted >= 0; counted--)
        for (size_t k = 0; k < p->columns; k++) {
            const struct tac_column *c = &p->column[k];
            const bool mine = cut->owner[first_body(c)] == rank;
            bool other = false;
            for (int i = 0; i < TAC_COLUMN_BODIES && !mine; i++)
                other = other || (c->body[i] >= 0 && cut->owner[c->body[i]] == rank);
            if (counted ? mine : other)
                cut->from[(*columns)++] = (uint32_t)k;
        }
    for (size_t k = 0; k < *columns; k++)
        for (int i = 0; i < TAC_COLUMN_BODIES; i++) {
            const int32_t b = p->column[cut->from[k]].body[i];
            if (b >= 0 && cut->local[b] < 0) {
                cut->local[b] = (int32_t)*bodies;
                cut->id[(*bodies)++] = b;
            }
        }
    for (size_t b = 0; b < *bodies; b++)
        cut->ghost_owner[b] = cut->owner[cut->id[b]];
}

static void fill_share(const struct cut *cut, const struct tac_bounded *p, struct tac_bounded *share)
{
    for (size_t k = 0; k < share->columns; k++) {
        const uint32_t from = cut->from[k];
        share->column[k] = p->column[from];
        for (int i = 0; i < TAC_COLUMN_BODIES; i++)
            if (p->column[from].body[i] >= 0)
                share->column[k].body[i] = cut->local[p->column[from].body[i]];
        share->b[k] = p->b[from];
        share->lower[k] = p->lower[from];
        share->upper[k] = p->upper[from];
        share->y[k] = p->y[from];
    }
    share->tolerance = p->tolerance;
    share->enough = p->enough;
    share->coarse = p->coarse;
    share->patience = p->patience;
    share->most = p->most;
    share->iterations = p->iterations;
    share->step = p->step;
    share->deep = p->deep;
}

/* ---- the result ---- */

static enum tac_err gather(const struct cut *cut, const struct tac_bounded *share, struct tac_bounded *p)
{
    struct tac_ctx *ctx = cut->ctx;
    int *next = cut->column_begin;
    if (MPI_Allgatherv(share->w, cut->parts[ctx->rank], MPI_DOUBLE, p->w, cut->parts, cut->part_begin, MPI_DOUBLE,
                       ctx->comm) != MPI_SUCCESS ||
        MPI_Allgatherv(share->y, cut->columns[ctx->rank], MPI_DOUBLE, cut->message, cut->columns, cut->column_begin,
                       MPI_DOUBLE, ctx->comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed while gathering impulses");
    for (size_t k = 0; k < p->columns; k++)
        p->y[k] = cut->message[next[cut->owner[first_body(&p->column[k])]]++];
    p->iterations = share->iterations;
    p->rough = share->rough;
    p->left = share->left;
    return TAC_OK;
}

enum tac_err tac_bounded_solve_together(struct tac_ctx *ctx, struct tac_bounded *p, struct tac_bounded *share,
                                        bool *solved)
{
    enum tac_err err;
    struct cut cut = {.ctx = ctx};
    struct tac_bounded_team team = {.ctx = ctx, .columns = p->columns};
    size_t bodies, columns;
    TAC_TRY(tac_agree(ctx, make_cut_arrays(&cut, p)));
    p->step = tac_bounded_step(p);
    cut_bodies(&cut, p);
    list_share(&cut, p, &bodies, &columns);
    team.own = cut.begin[ctx->rank + 1] - cut.begin[ctx->rank];
    team.mine = (size_t)cut.columns[ctx->rank];
    TAC_TRY(tac_agree(ctx, tac_bounded_begin(ctx, share, columns, bodies)));
    fill_share(&cut, p, share);
    const struct tac_nodes nodes = {
        .count = (tac_lid)bodies, .owned = (tac_lid)team.own, .id = cut.id, .owner = cut.ghost_owner};
    TAC_TRY(tac_nodes_halo_create(ctx, &nodes, &team.halo));
    share->team = &team;
    *solved = tac_bounded_solve(share);
    TAC_TRY(team.err);
    TAC_TRY(gather(&cut, share, p));
done:
    share->team = NULL;
    tac_nodes_halo_destroy(&team.halo);
    free_cut(&cut);
    return err;
}
