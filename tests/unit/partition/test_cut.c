/* test_cut.c: graphs of all kinds, cut into parts.  If this fails, ranks get unequal shares, the same run is cut
 * differently from day to day, or the program crashes in METIS on a scene of a special shape. */
#include "check.h"

#include "base/exchange.h"
#include "partition/cut_steps.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>
#include <unistd.h>

void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static long left = -1; /* allocations until one fails; -1: none does */

void *__wrap_calloc(size_t count, size_t size)
{
    return left >= 0 && left-- == 0 ? NULL : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return left >= 0 && left-- == 0 ? NULL : __real_aligned_alloc(alignment, size);
}

static uint64_t seed, counter;

static double draw(void)
{
    return tac_random(seed, counter++);
}

static void *room(size_t count, size_t size)
{
    void *memory = __real_calloc(count ? count : 1, size);
    TAC_CHECK(memory != NULL);
    return memory;
}

enum { MOST_VERTICES = 5000, MOST_EDGES = 40000 };

/* A whole graph, the same on all ranks. */
static struct whole {
    tac_gid n;
    double weight[MOST_VERTICES];
    int edges;
    struct cut_edge edge[MOST_EDGES];
} whole;

static void connect(tac_gid a, tac_gid b, double weight)
{
    if (a != b && whole.edges < MOST_EDGES)
        whole.edge[whole.edges++] = (struct cut_edge){a < b ? a : b, a < b ? b : a, weight};
}

static void make_grid(tac_gid side)
{
    whole.n = side * side;
    whole.edges = 0;
    for (tac_gid i = 0; i < whole.n; i++) {
        whole.weight[i] = 3e-7;
        if ((i + 1) % side != 0)
            connect(i, i + 1, 0.25);
        if (i + side < whole.n)
            connect(i, i + side, 0.25);
    }
}

static double draw_weight(int range)
{
    if (range == 0)
        return 1;
    if (range == 1)
        return 0;
    if (range == 2)
        return draw() < 0.5 ? 0 : draw();
    return draw() < 0.1 ? 0 : pow(10, 600 * draw() - 300);
}

enum { GRID, ISLANDS, STAR, PATH, DUST, SOUP, PAIRS, SHAPES };

static void make(int shape, tac_gid n, int range)
{
    whole.n = n;
    whole.edges = 0;
    for (tac_gid i = 0; i < n; i++)
        whole.weight[i] = draw_weight(range);
    for (tac_gid i = 1; i < n; i++) {
        if (shape == GRID)
            connect(i, i > 30 ? i - 30 : 0, draw_weight(range));
        if (shape == GRID || shape == PATH || (shape == ISLANDS && i % 17 != 0))
            connect(i, i - 1, draw_weight(range));
        if (shape == STAR)
            connect(0, i, draw_weight(range));
        if (shape == PAIRS && i % 2 == 1)
            connect(i, n - 1 - i, draw_weight(range));
        for (int k = 0; shape == SOUP && k < 5; k++)
            connect(i, (tac_gid)(draw() * (double)n), draw_weight(range));
    }
}

/* A rank's rows. */
struct rows {
    struct tac_graph graph;
    tac_gid *id, *neighbor;
    double *weight, *edge;
    int64_t *row;
    tac_lid *local; /* (n) or -1 */
};

static int rank_of(const struct tac_ctx *ctx, int manner, tac_gid id)
{
    if (manner == 0)
        return tac_block_rank(whole.n, ctx->size, id);
    if (manner == 1)
        return ctx->size - 1;
    return (int)(tac_random(99 + (uint64_t)manner, (uint64_t)id) * ctx->size);
}

/* Who tells an edge: 0 the lower end, 1 the higher, 2 both, by halves. */
static bool tells(int manner, int edge, int end)
{
    const int who = (edge + manner) % 3;
    return who == 2 || who == end;
}

static struct rows spread(const struct tac_ctx *ctx, int manner)
{
    struct rows r = {0};
    tac_lid count = 0;
    const size_t n = (size_t)whole.n;
    r.id = room(n, sizeof *r.id);
    r.weight = room(n, sizeof *r.weight);
    r.row = room(n + 2, sizeof *r.row);
    r.local = room(n, sizeof *r.local);
    r.neighbor = room(2 * (size_t)whole.edges, sizeof *r.neighbor);
    r.edge = room(2 * (size_t)whole.edges, sizeof *r.edge);
    for (tac_gid i = 0; i < whole.n; i++) {
        r.local[i] = rank_of(ctx, manner, i) == ctx->rank ? count : -1;
        if (r.local[i] >= 0) {
            r.id[count] = i;
            r.weight[count++] = whole.weight[i];
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < whole.edges; k++) {
            const struct cut_edge *e = &whole.edge[k];
            for (int end = 0; end < 2; end++) {
                const tac_lid i = r.local[end ? e->b : e->a];
                if (i < 0 || !tells(manner, k, end))
                    continue;
                if (pass == 0) {
                    r.row[i + 2]++;
                } else {
                    r.neighbor[r.row[i + 1]] = end ? e->a : e->b;
                    r.edge[r.row[i + 1]++] = tells(manner, k, !end) ? e->weight / 2 : e->weight;
                }
            }
        }
        for (tac_lid i = 0; pass == 0 && i < count; i++)
            r.row[i + 2] += r.row[i + 1];
    }
    r.graph = (struct tac_graph){whole.n, count, r.id, r.weight, r.row, r.neighbor, r.edge};
    return r;
}

static void rows_free(struct rows *r)
{
    free(r->id);
    free(r->weight);
    free(r->row);
    free(r->local);
    free(r->neighbor);
    free(r->edge);
}

static double part_weight[64];

static void sum_parts(int parts, const int32_t *owner, double *largest, double *cut, double *all)
{
    double most = 0, sum = 0, scale = 0;
    for (tac_gid i = 0; i < whole.n; i++)
        scale = fmax(scale, whole.weight[i]);
    memset(part_weight, 0, sizeof part_weight);
    for (tac_gid i = 0; i < whole.n; i++) {
        const double w = scale > 0 ? whole.weight[i] / scale : 1;
        part_weight[owner[i]] += w;
        sum += w;
    }
    for (int p = 0; p < parts; p++)
        most = fmax(most, part_weight[p]);
    *largest = sum > 0 ? most * parts / sum : 1;
    scale = 0;
    for (int k = 0; k < whole.edges; k++)
        scale = fmax(scale, whole.edge[k].weight);
    *cut = *all = 0;
    for (int k = 0; k < whole.edges && scale > 0; k++) {
        *all += whole.edge[k].weight / scale;
        *cut += owner[whole.edge[k].a] != owner[whole.edge[k].b] ? whole.edge[k].weight / scale : 0;
    }
}

/* The heaviest vertex against the mean part: no cut can be better balanced than this. */
static double unavoidable(int parts)
{
    double most = 0, sum = 0;
    for (tac_gid i = 0; i < whole.n; i++)
        most = fmax(most, whole.weight[i]);
    for (tac_gid i = 0; i < whole.n; i++)
        sum += most > 0 ? whole.weight[i] / most : 1;
    return sum > 0 ? fmax(1, parts / sum) : 1;
}

static int of_group; /* ranks of a group in which the graph is cut; 0: all of them */

static enum tac_err cut_some_way(struct tac_ctx *ctx, const struct tac_graph *graph, const int32_t *present,
                                 tac_gid most, int32_t *owner, double *cut, double *balance)
{
    return of_group ? tac_cut_in_groups(ctx, graph, present, most, of_group, owner, cut, balance)
                    : tac_partition_vertices(ctx, graph, present, most, owner, cut, balance);
}

/* Cuts the whole graph as it is spread in some manner; owner (n) of all vertices on all ranks. */
static void cut_whole(struct tac_ctx *ctx, int manner, const int32_t *present, tac_gid most, int32_t *owner,
                      double *balance)
{
    struct rows r = spread(ctx, manner);
    const size_t count = (size_t)r.graph.count;
    int32_t *mine = room(count, sizeof *mine), *now = room(count, sizeof *now);
    double cut, largest, weight, all;
    for (size_t i = 0; i < count; i++) {
        mine[i] = -1;
        now[i] = present ? present[r.id[i]] : 0;
    }
    const enum tac_err err = cut_some_way(ctx, &r.graph, present ? now : NULL, most, mine, &cut, balance);
    CHECK(err == TAC_OK, "%s", ctx->error);
    for (tac_gid i = 0; i < whole.n; i++)
        owner[i] = r.local[i] >= 0 ? mine[r.local[i]] : -1;
    MPI_Allreduce(MPI_IN_PLACE, owner, (int)whole.n, MPI_INT32_T, MPI_MAX, ctx->comm);
    bool sane = true;
    for (tac_gid i = 0; i < whole.n; i++)
        sane = sane && owner[i] >= 0 && owner[i] < ctx->size;
    CHECK(sane, "parts outside 0 .. %d", ctx->size - 1);
    if (sane) {
        sum_parts(ctx->size, owner, &largest, &weight, &all);
        CHECK(ctx->size == 1 || fabs(*balance - largest) < 1e-9 * largest, "balance %g, and %g is told", largest,
              *balance);
        CHECK(fabs(cut * all - weight) <= 1e-9 * all, "a cut of %g, and %g is told", weight, cut * all);
    }
    rows_free(&r);
    free(mine);
    free(now);
}

static void check_spreads(struct tac_ctx *ctx)
{
    int32_t *first = room(MOST_VERTICES, sizeof *first), *other = room(MOST_VERTICES, sizeof *other);
    double balance;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int range = 0; range < 4; range++)
            for (tac_gid n = 0; n < 600; n = n < 8 ? n + 1 : n * 3) {
                seed++;
                make(shape, n, range);
                cut_whole(ctx, 0, NULL, 0, first, &balance);
                for (int manner = 1; manner < 4; manner++) {
                    cut_whole(ctx, manner, NULL, 0, other, &balance);
                    CHECK(memcmp(first, other, (size_t)n * sizeof *first) == 0, "shape %d, %d vertices: spread %d",
                          shape, (int)n, manner);
                }
                for (int manner = 0; manner < 3; manner++)
                    cut_whole(ctx, manner, NULL, 1 + n / 5, other, &balance);
            }
    free(first);
    free(other);
}

/* In groups, as more ranks than rank 0 can cut for.  Groups get equal shares, so with so few ranks those of a smaller
 * group have more. */
static void check_groups(struct tac_ctx *ctx)
{
    int32_t *owner = room(MOST_VERTICES, sizeof *owner), *other = room(MOST_VERTICES, sizeof *other);
    double balance, cut, all, largest;
    for (of_group = 2; of_group < 4 && ctx->size > 1; of_group++) {
        const int groups = (ctx->size + of_group - 1) / of_group;
        const double smallest = ctx->size / groups, mean = (double)ctx->size / groups;
        for (int shape = 0; shape < SHAPES; shape++) {
            make(shape, 50 * shape + 1, shape % 4);
            cut_whole(ctx, 0, NULL, 0, owner, &balance);
            cut_whole(ctx, 1, NULL, 0, other, &balance);
            CHECK(memcmp(owner, other, (size_t)whole.n * sizeof *owner) == 0, "groups of %d, shape %d", of_group,
                  shape);
        }
        make_grid(64);
        cut_whole(ctx, 1, NULL, 3000, owner, &balance);
        sum_parts(ctx->size, owner, &largest, &cut, &all);
        CHECK(balance < 1.06 * mean / smallest, "groups of %d: balance %g", of_group, balance);
        CHECK(cut <= 64 * ctx->size, "groups of %d: %g edges cut", of_group, cut);
    }
    of_group = 0;
    free(owner);
    free(other);
}

static void check_grid(struct tac_ctx *ctx)
{
    static const tac_gid MOST[] = {0, 3000, 300};
    int32_t *owner = room(MOST_VERTICES, sizeof *owner);
    double balance, cut, all, largest;
    make_grid(64);
    for (int manner = 0; manner < 3; manner++)
        for (int m = 0; m < 3; m++) {
            cut_whole(ctx, manner, NULL, MOST[m], owner, &balance);
            sum_parts(ctx->size, owner, &largest, &cut, &all);
            /* Of 300 clusters, one may weigh a tenth of a part. */
            CHECK(balance < (m == 2 ? 1.12 : 1.03), "spread %d, %d at most: balance %g", manner, (int)MOST[m], balance);
            /* Scattered rows have few neighbours on their own rank: clusters are then not compact. */
            /* Cut into strips, it would be 64 edges for each but the last. */
            if (manner < 2)
                CHECK(cut <= (m == 2 ? 1.5 : 1) * 64 * (ctx->size - 1), "spread %d, %d at most: %g edges cut", manner,
                      (int)MOST[m], cut);
        }
    free(owner);
}

/* Weight that stays, with parts named by `name`. */
static double staying(const int32_t *owner, const int32_t *present, const int *name)
{
    double sum = 0;
    for (tac_gid i = 0; i < whole.n; i++)
        sum += name[owner[i]] == present[i] ? whole.weight[i] : 0;
    return sum;
}

static double best_of(const int32_t *owner, const int32_t *present, int size, int depth, int *name)
{
    double best = 0;
    if (depth == size)
        return staying(owner, present, name);
    for (int k = depth; k < size; k++) {
        int swap = name[depth];
        name[depth] = name[k];
        name[k] = swap;
        best = fmax(best, best_of(owner, present, size, depth + 1, name));
        swap = name[depth];
        name[depth] = name[k];
        name[k] = swap;
    }
    return best;
}

static void check_names(struct tac_ctx *ctx)
{
    int32_t *owner = room(MOST_VERTICES, sizeof *owner), *present = room(MOST_VERTICES, sizeof *present);
    int name[64];
    double balance;
    for (int trial = 0; trial < 6; trial++) {
        seed++;
        make(trial % 2 ? SOUP : GRID, 300, trial < 3 ? 0 : 2);
        cut_whole(ctx, 0, NULL, 0, owner, &balance);
        for (tac_gid i = 0; i < whole.n; i++)
            present[i] = (owner[i] + 1 + trial) % ctx->size;
        cut_whole(ctx, trial % 3, present, 0, owner, &balance);
        CHECK(memcmp(owner, present, (size_t)whole.n * sizeof *owner) == 0, "the same parts by other names move");
        for (tac_gid i = 0; i < whole.n; i++)
            present[i] = (int32_t)(draw() * draw() * ctx->size);
        cut_whole(ctx, trial % 3, present, 0, owner, &balance);
        for (int k = 0; k < ctx->size; k++)
            name[k] = k;
        const double stays = staying(owner, present, name);
        const double best = best_of(owner, present, ctx->size, 0, name);
        CHECK(stays >= best * (1 - 1e-6), "%g stays where %g could", stays, best);
    }
    free(owner);
    free(present);
}

/* More parts than ranks here, and what METIS says about them: nothing. */
static void check_serial(struct tac_ctx *ctx)
{
    struct cut_node *node = room(MOST_VERTICES, sizeof *node);
    struct cut_edge *edge = room(MOST_EDGES, sizeof *edge);
    int32_t *part = room(MOST_VERTICES, sizeof *part), *again = room(MOST_VERTICES, sizeof *again);
    double cut, balance, all, largest, weight;
    for (int parts = 1; parts <= 9; parts++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int range = 0; range < 4; range++)
                for (tac_gid n = 0; n < 900; n = n < 5 ? n + 1 : n * 2 + 1) {
                    seed++;
                    make(shape, n, range);
                    size_t edges = (size_t)whole.edges;
                    double scale[2] = {0, 0};
                    for (tac_gid i = 0; i < n; i++)
                        scale[0] = fmax(scale[0], whole.weight[i]);
                    for (size_t k = 0; k < edges; k++)
                        scale[1] = fmax(scale[1], whole.edge[k].weight);
                    for (tac_gid i = 0; i < n; i++)
                        node[i] = (struct cut_node){i, scale[0] > 0 ? tac_cut_relative(whole.weight[i], scale[0]) : 1};
                    for (size_t k = 0; k < edges; k++) {
                        edge[k] = whole.edge[k];
                        edge[k].weight = tac_cut_relative(edge[k].weight, scale[1]);
                    }
                    CHECK(tac_cut_merge(ctx, &edges, edge) == TAC_OK);
                    CHECK(tac_cut_serial(ctx, (size_t)n, node, edges, edge, parts, part, &cut, &balance) == TAC_OK);
                    sum_parts(parts, part, &largest, &weight, &all);
                    const double floor_ = unavoidable(parts);
                    /* Some vertices of a few dozen weights cannot be distributed evenly. */
                    CHECK(balance <= (n > 100 && range == 0 ? 1.1 : 2) * floor_ + 1e-9,
                          "%d parts of shape %d, weights %d, %d vertices: balance %g, at best %g", parts, shape, range,
                          (int)n, balance, floor_);
                    for (tac_gid i = 0; i < n / 2; i++) {
                        const struct cut_node swap = node[i];
                        node[i] = node[n - 1 - i];
                        node[n - 1 - i] = swap;
                    }
                    CHECK(tac_cut_serial(ctx, (size_t)n, node, edges, edge, parts, again, &cut, &balance) == TAC_OK);
                    bool same = true;
                    for (tac_gid i = 0; i < n; i++)
                        same = same && part[i] == again[n - 1 - i];
                    CHECK(same, "the order of nodes matters");
                }
    free(node);
    free(edge);
    free(part);
    free(again);
}

/* Every allocation fails in turn, on every rank in turn: all say so. */
static void check_faults(struct tac_ctx *ctx)
{
    seed++;
    make(GRID, 400, 2);
    for (int way = 0; way < 3; way++) {
        const bool contracted = way == 1;
        struct rows r = spread(ctx, 2);
        int32_t *mine = room((size_t)r.graph.count, sizeof *mine), *now = room((size_t)r.graph.count, sizeof *now);
        int failures = 0;
        for (int victim = 0; victim < ctx->size; victim++)
            for (long n = 0, over = 0; !over; n++) {
                left = ctx->rank == victim ? n : -1;
                of_group = way == 2 ? 2 : 0;
                const enum tac_err err = cut_some_way(ctx, &r.graph, now, contracted ? 100 : 0, mine, NULL, NULL);
                over = ctx->rank == victim && left >= 0;
                left = -1;
                MPI_Bcast(&over, 1, MPI_LONG, victim, ctx->comm);
                CHECK(err == (over ? TAC_OK : TAC_ERR_RUN), "allocation %ld of rank %d: %d", n, victim, (int)err);
                CHECK((strstr(ctx->error, "out of memory") != NULL) == !over, "'%s'", ctx->error);
                ctx->error[0] = '\0';
                failures += !over;
            }
        CHECK(failures >= 2 * ctx->size, "%d failures", failures);
        rows_free(&r);
        free(mine);
        free(now);
        of_group = 0;
    }
}

/* METIS complains to stdout, where results go. */
static long written(FILE *file)
{
    fflush(stdout);
    return ftell(file) < 0 ? 0 : lseek(fileno(file), 0, SEEK_END);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct tac_ctx ctx;
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    fflush(stdout);
    FILE *said = tmpfile();
    const int terminal = dup(1);
    TAC_CHECK(said != NULL && terminal >= 0 && dup2(fileno(said), 1) == 1);
    check_spreads(&ctx);
    check_grid(&ctx);
    check_groups(&ctx);
    check_names(&ctx);
    if (ctx.rank == 0)
        check_serial(&ctx);
    check_faults(&ctx);
    const long bytes = written(said), failed_before = check_failed;
    dup2(terminal, 1);
    rewind(said);
    for (int c; (c = getc(said)) != EOF;)
        putchar(c);
    fclose(said);
    close(terminal);
    CHECK(bytes == 0 || failed_before > 0, "METIS wrote %ld bytes to stdout", bytes);
    int failed = check_result();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
