/* subdomains_place.c: decides which rank works on which subdomain, by the number of blocks of their rows, because an
 * iteration costs about as much. No bit depends on it. A rank has data of the subdomains of its own nodes only, of the
 * work of each rank, and of the few subdomains that go to a rank with less work. Where the graph is on every rank, each
 * rank decides alone. */
#include "base/exchange.h"
#include "solve/subdomains.h"
#include <stdlib.h>

/* The part of a subdomain's rows that a rank has. */
struct part {
    tac_gid name;
    int64_t rank, work;
};

/* The rank of a subdomain. */
struct home {
    int64_t rank, work; /* work: of all its rows */
};

/* A subdomain that another rank should take, because its own has too much work. */
struct offer {
    tac_gid name;
    int64_t work, rank;
};

struct placing {
    struct part *part; /* owned, (parts): of this rank, by ascending name; or of all ranks, one after the other */
    struct home *home; /* owned, (parts) */
    size_t parts;
    int64_t *load;       /* owned, (ranks) */
    struct offer *offer; /* owned, (offers): of all ranks, by ascending name */
    size_t offers;
};

static enum tac_err list_parts(struct tac_ctx *ctx, const struct tac_system *system, const struct tac_cut *cut,
                               struct placing *p)
{
    enum tac_err err;
    struct tac_keyed *key = NULL;
    size_t n = 0;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)system->nodes.owned, sizeof *key, &key));
    for (tac_lid i = 0; i < system->nodes.owned; i++)
        if (cut->name[i] >= 0)
            key[n++] = (struct tac_keyed){cut->name[i], (int64_t)(system->matrix->row[i + 1] - system->matrix->row[i])};
    TAC_TRY(tac_sort_keyed(ctx, n, key));
    for (size_t k = 0; k < n; k++)
        p->parts += k == 0 || key[k].key != key[k - 1].key;
    TAC_TRY(tac_alloc_brief(ctx, p->parts, sizeof *p->part, &p->part));
    TAC_TRY(tac_alloc_brief(ctx, p->parts, sizeof *p->home, &p->home));
    size_t at = 0;
    for (size_t k = 0; k < n; k++) {
        at += k > 0 && key[k].key != key[k - 1].key;
        p->part[at].name = key[k].key;
        p->part[at].rank = ctx->rank;
        p->part[at].work += key[k].index;
    }
done:
    free(key);
    return err;
}

/* Chooses each subdomain's rank by the received parts: the rank with the largest part, of equal ones the first. */
static enum tac_err choose_homes(struct tac_ctx *ctx, size_t count, const struct part *came, struct home *home)
{
    enum tac_err err;
    struct tac_keyed *order = NULL;
    TAC_TRY(tac_alloc_brief(ctx, count, sizeof *order, &order));
    for (size_t k = 0; k < count; k++)
        order[k] = (struct tac_keyed){came[k].name, (int64_t)k};
    TAC_TRY(tac_sort_keyed(ctx, count, order));
    for (size_t k = 0, end; k < count; k = end) {
        struct home chosen = {-1, 0};
        int64_t most = -1;
        for (end = k; end < count && order[end].key == order[k].key; end++) {
            const struct part *p = &came[order[end].index];
            if (p->work > most) { /* parts come in the order of the ranks */
                most = p->work;
                chosen.rank = p->rank;
            }
            chosen.work += p->work;
        }
        for (size_t e = k; e < end; e++)
            home[order[e].index] = chosen;
    }
done:
    free(order);
    return err;
}

/* Finds the rank with the largest part of each subdomain, by means of a rank that follows from the subdomain's name. */
static enum tac_err find_homes(struct tac_ctx *ctx, struct placing *p)
{
    enum tac_err err;
    struct tac_questions q = {0};
    struct part *came = NULL;
    struct home *answer = NULL;
    int32_t *to = NULL;
    tac_gid end = 1;
    if (p->parts > 0)
        end = p->part[p->parts - 1].name + 1;
    MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_INT64_T, MPI_MAX, ctx->comm);
    TAC_TRY(tac_alloc_brief(ctx, p->parts, sizeof *to, &to));
    for (size_t k = 0; k < p->parts; k++)
        to[k] = tac_block_rank(end, ctx->size, p->part[k].name);
done:
    err = tac_questions_send(ctx, err, &q, p->parts, to, p->part, sizeof *p->part, &came);
    if (!err) {
        err = tac_alloc_brief(ctx, q.total, sizeof *answer, &answer);
        err = err ? err : choose_homes(ctx, q.total, came, answer);
        err = tac_questions_answer(ctx, err, &q, answer, sizeof *answer, p->home);
    }
    tac_questions_end(&q);
    free(came);
    free(answer);
    free(to);
    return err;
}

/* Lists the subdomains that a rank, whose parts are those from `begin` on, has beyond its share of work, first those of
 * whose rows it owns least. */
static enum tac_err list_offers(struct tac_ctx *ctx, const struct placing *p, int rank, size_t begin, size_t end,
                                int64_t share, struct offer *mine, size_t *count)
{
    enum tac_err err;
    struct tac_keyed *order = NULL;
    size_t n = 0;
    int64_t load = p->load[rank];
    TAC_TRY(tac_alloc_brief(ctx, end - begin, sizeof *order, &order));
    for (size_t k = begin; k < end; k++)
        if (p->home[k].rank == rank)
            order[n++] = (struct tac_keyed){(int64_t)(1000. * (double)p->part[k].work / (double)(p->home[k].work + 1)),
                                            (int64_t)k};
    TAC_TRY(tac_sort_keyed(ctx, n, order));
    for (size_t k = 0; k < n; k++) {
        const int64_t work = p->home[order[k].index].work;
        if (load - work / 2 < share)
            continue;
        load -= work;
        mine[(*count)++] = (struct offer){p->part[order[k].index].name, work, rank};
    }
done:
    free(order);
    return err;
}

/* Moves the first rank of a heap, whose work has grown, to its place. */
static void sink(const int64_t *load, struct tac_keyed *heap, int n)
{
    const int64_t rank = heap[0].index;
    int at = 0;
    for (int child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && load[heap[child + 1].index] < load[heap[child].index])
            child++;
        if (load[heap[child].index] >= load[rank])
            break;
        heap[at] = heap[child];
    }
    heap[at].index = rank;
}

/* Gives the offers, the largest first, each to the rank that has least work then, and sorts them by name. */
static enum tac_err give_offers(struct tac_ctx *ctx, struct placing *p)
{
    enum tac_err err;
    struct tac_keyed *heap = NULL, *order = NULL;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)ctx->size, sizeof *heap, &heap));
    TAC_TRY(tac_alloc_brief(ctx, p->offers, sizeof *order, &order));
    for (size_t k = 0; k < p->offers; k++) {
        p->load[p->offer[k].rank] -= p->offer[k].work;
        order[k] = (struct tac_keyed){INT64_MAX - p->offer[k].work, (int64_t)k};
    }
    for (int r = 0; r < ctx->size; r++)
        heap[r] = (struct tac_keyed){p->load[r], r};
    TAC_TRY(tac_sort_keyed(ctx, p->offers, order));
    TAC_TRY(tac_sort_keyed(ctx, (size_t)ctx->size, heap));
    for (size_t k = 0; k < p->offers; k++) {
        struct offer *o = &p->offer[order[k].index];
        o->rank = heap[0].index;
        p->load[o->rank] += o->work;
        sink(p->load, heap, ctx->size);
    }
    TAC_TRY(tac_sort_records(ctx, p->offers, sizeof *p->offer, p->offer));
done:
    free(heap);
    free(order);
    return err;
}

static int64_t share_of(const struct tac_ctx *ctx, const struct placing *p)
{
    int64_t all = 0;
    for (int r = 0; r < ctx->size; r++)
        all += p->load[r];
    return (all + ctx->size - 1) / ctx->size;
}

/* Moves subdomains of ranks with more than their share of work to others. */
static enum tac_err balance(struct tac_ctx *ctx, struct placing *p)
{
    enum tac_err err;
    struct offer *own = NULL;
    size_t mine = 0;
    int64_t load = 0, offers = 0;
    for (size_t k = 0; k < p->parts; k++)
        load += p->home[k].rank == ctx->rank ? p->home[k].work : 0;
    err = tac_alloc_brief(ctx, (size_t)ctx->size, sizeof *p->load, &p->load);
    err = err ? err : tac_alloc_brief(ctx, p->parts, sizeof *own, &own);
    TAC_TRY(tac_agree(ctx, err));
    MPI_Allgather(&load, 1, MPI_INT64_T, p->load, 1, MPI_INT64_T, ctx->comm);
    err = list_offers(ctx, p, ctx->rank, 0, p->parts, share_of(ctx, p), own, &mine);
    TAC_TRY(tac_share_all(ctx, err, mine, own, sizeof *own, 0, &p->offer, &offers));
    p->offers = (size_t)offers;
    err = give_offers(ctx, p);
done:
    free(own);
    return err;
}

static int find_part(const struct placing *p, tac_gid name)
{
    size_t low = 0, high = p->parts;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (p->part[middle].name <= name)
            low = middle;
        else
            high = middle;
    }
    return (int)low;
}

/* Returns the rank that works on a subdomain whose home this is. */
static int32_t find_rank(const struct placing *p, tac_gid name, const struct home *home)
{
    size_t low = 0, high = p->offers;
    while (high > low) {
        const size_t middle = (low + high) / 2;
        if (p->offer[middle].name == name)
            return (int32_t)p->offer[middle].rank;
        if (p->offer[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)home->rank;
}

static void placing_free(struct placing *p)
{
    free(p->part);
    free(p->home);
    free(p->load);
    free(p->offer);
}

enum tac_err tac_cut_place(struct tac_ctx *ctx, const struct tac_system *system, struct tac_nodes_halo *halo,
                           struct tac_cut *cut)
{
    enum tac_err err;
    struct placing p = {0};
    TAC_TRY(tac_agree(ctx, list_parts(ctx, system, cut, &p)));
    TAC_TRY(find_homes(ctx, &p));
    if (ctx->size > 1)
        err = balance(ctx, &p);
    TAC_TRY(tac_agree(ctx, err));
    for (tac_lid i = 0; i < system->nodes.owned; i++)
        cut->rank[i] = cut->name[i] >= 0 ? find_rank(&p, cut->name[i], &p.home[find_part(&p, cut->name[i])]) : -1;
    tac_nodes_halo_refresh(halo, cut->rank, sizeof *cut->rank);
done:
    placing_free(&p);
    return err;
}

/* Lists the parts of all ranks, and which one each vertex is in. */
static enum tac_err list_all_parts(struct tac_ctx *ctx, const struct tac_graph_place *g, struct placing *p,
                                   size_t *part_of)
{
    enum tac_err err;
    struct tac_keyed *key = NULL;
    TAC_TRY(tac_alloc_brief(ctx, g->count, sizeof *key, &key));
    TAC_TRY(tac_alloc_brief(ctx, g->count, sizeof *p->part, &p->part));
    TAC_TRY(tac_alloc_brief(ctx, g->count, sizeof *p->home, &p->home));
    for (size_t v = 0; v < g->count; v++)
        key[v] = (struct tac_keyed){g->name[v], (int64_t)v};
    TAC_TRY(tac_sort_keyed(ctx, g->count, key));
    for (size_t k = 0; k < g->count; k++)
        key[k].key = g->owner[key[k].index];
    TAC_TRY(tac_sort_keyed(ctx, g->count, key));
    for (size_t k = 0; k < g->count; k++) {
        const size_t v = (size_t)key[k].index;
        const struct part *last = &p->part[p->parts - (p->parts > 0)];
        if (p->parts == 0 || last->rank != g->owner[v] || last->name != g->name[v])
            p->part[p->parts++] = (struct part){g->name[v], g->owner[v], 0};
        p->part[p->parts - 1].work += g->work[v];
        part_of[v] = p->parts - 1;
    }
done:
    free(key);
    return err;
}

enum tac_err tac_cut_place_all(struct tac_ctx *ctx, const struct tac_graph_place *g, int32_t *rank)
{
    enum tac_err err;
    struct placing p = {0};
    size_t *part_of = NULL, end;
    TAC_TRY(tac_alloc_brief(ctx, g->count, sizeof *part_of, &part_of));
    TAC_TRY(list_all_parts(ctx, g, &p, part_of));
    TAC_TRY(choose_homes(ctx, p.parts, p.part, p.home));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)ctx->size, sizeof *p.load, &p.load));
    TAC_TRY(tac_alloc_brief(ctx, p.parts, sizeof *p.offer, &p.offer));
    for (size_t k = 0; k < p.parts; k++) /* once for each subdomain: by the part of its home */
        p.load[p.part[k].rank] += p.home[k].rank == p.part[k].rank ? p.home[k].work : 0;
    const int64_t share = share_of(ctx, &p);
    for (size_t begin = 0; begin < p.parts; begin = end) {
        for (end = begin; end < p.parts && p.part[end].rank == p.part[begin].rank; end++)
            continue;
        TAC_TRY(list_offers(ctx, &p, (int)p.part[begin].rank, begin, end, share, p.offer, &p.offers));
    }
    TAC_TRY(give_offers(ctx, &p));
    for (size_t v = 0; v < g->count; v++)
        rank[v] = find_rank(&p, g->name[v], &p.home[part_of[v]]);
done:
    placing_free(&p);
    free(part_of);
    return err;
}
