/* subdomains_place.c: decides which rank works on which subdomain, by the number of blocks of their rows, because an
 * iteration costs about as much. No bit depends on it. A rank has data of the subdomains of its own nodes only, of the
 * work of each rank, and of the few subdomains that go to a rank with less work. */
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
    struct part *part; /* owned, (parts): of this rank, by ascending name */
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

/* Lists the subdomains that this rank has beyond its share of work, first those of whose rows it owns least. */
static enum tac_err list_offers(struct tac_ctx *ctx, const struct placing *p, int64_t share, struct offer *mine,
                                int *count)
{
    enum tac_err err;
    struct tac_keyed *order = NULL;
    size_t n = 0;
    int64_t load = p->load[ctx->rank];
    TAC_TRY(tac_alloc_brief(ctx, p->parts, sizeof *order, &order));
    for (size_t k = 0; k < p->parts; k++)
        if (p->home[k].rank == ctx->rank)
            order[n++] = (struct tac_keyed){(int64_t)(1000. * (double)p->part[k].work / (double)(p->home[k].work + 1)),
                                            (int64_t)k};
    TAC_TRY(tac_sort_keyed(ctx, n, order));
    for (size_t k = 0; k < n; k++) {
        const int64_t work = p->home[order[k].index].work;
        if (load - work / 2 < share)
            continue;
        load -= work;
        mine[(*count)++] = (struct offer){p->part[order[k].index].name, work, ctx->rank};
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

/* Gives the offers, the largest first, each to the rank that has least work then. */
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
done:
    free(heap);
    free(order);
    return err;
}

/* Collects the offers of all ranks and gives them out. */
static enum tac_err share_offers(struct tac_ctx *ctx, int mine, const struct offer *own, struct placing *p)
{
    enum tac_err err;
    int *count = NULL, *start;
    MPI_Datatype type;
    TAC_TRY(tac_agree(ctx, tac_alloc_brief(ctx, 2 * (size_t)ctx->size, sizeof *count, &count)));
    start = count + ctx->size;
    MPI_Allgather(&mine, 1, MPI_INT, count, 1, MPI_INT, ctx->comm);
    for (int r = 0; r < ctx->size; r++) {
        start[r] = (int)p->offers;
        p->offers += (size_t)count[r];
    }
    TAC_TRY(tac_agree(ctx, tac_alloc_brief(ctx, p->offers, sizeof *p->offer, &p->offer)));
    MPI_Type_contiguous((int)sizeof *p->offer, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Allgatherv(own, mine, type, p->offer, count, start, type, ctx->comm);
    MPI_Type_free(&type);
    err = give_offers(ctx, p);
    if (!err)
        err = tac_sort_records(ctx, p->offers, sizeof *p->offer, p->offer);
done:
    free(count);
    return err;
}

/* Moves subdomains of ranks with more than their share of work to others. */
static enum tac_err balance(struct tac_ctx *ctx, struct placing *p)
{
    enum tac_err err;
    struct offer *own = NULL;
    int mine = 0;
    int64_t all = 0, load = 0;
    for (size_t k = 0; k < p->parts; k++)
        load += p->home[k].rank == ctx->rank ? p->home[k].work : 0;
    err = tac_alloc_brief(ctx, (size_t)ctx->size, sizeof *p->load, &p->load);
    err = err ? err : tac_alloc_brief(ctx, p->parts, sizeof *own, &own);
    TAC_TRY(tac_agree(ctx, err));
    MPI_Allgather(&load, 1, MPI_INT64_T, p->load, 1, MPI_INT64_T, ctx->comm);
    for (int r = 0; r < ctx->size; r++)
        all += p->load[r];
    const int64_t share = (all + ctx->size - 1) / ctx->size;
    TAC_TRY(tac_agree(ctx, list_offers(ctx, p, share, own, &mine)));
    TAC_TRY(share_offers(ctx, mine, own, p));
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

static int32_t find_rank(const struct placing *p, tac_gid name)
{
    const int64_t home = p->home[find_part(p, name)].rank;
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
    return (int32_t)home;
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
        cut->rank[i] = cut->name[i] >= 0 ? find_rank(&p, cut->name[i]) : -1;
    tac_nodes_halo_refresh(halo, cut->rank, sizeof *cut->rank);
done:
    free(p.part);
    free(p.home);
    free(p.load);
    free(p.offer);
    return err;
}
