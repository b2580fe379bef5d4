/* test_matrix.c: matrices assembled from stencils on several ranks have the entries, and the bits, of one sum in the
 * order of the stencils; the exchange of nodes' values; the cut.
 *
 * If it failed, rows would depend on the rank that has them, or the matrix would not be symmetric.  Run on one rank
 * and on several. */
#include "check.h"
#include "solve/subdomains.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

enum { NODES = 60, LISTS = 3, MOST = 200 };
static const int width[LISTS] = {4, 16, 1}, length[LISTS] = {MOST, 40, NODES};
static struct tac_ctx ctx;

/* Node a of stencil e of list l; those of the second list have some nodes twice. */
static int node_of(int l, int e, int a)
{
    return l == 2 ? e : (int)(tac_random(7, (uint64_t)((l * 1000 + e) * 20 + a)) * (l == 1 ? 12 : NODES));
}

/* Entry of its dense matrix; the lower half is no mirror of the upper one, and must not be read. */
static double entry(int l, int e, int row, int column)
{
    if (row > column)
        return NAN;
    return tac_random(9, (uint64_t)(((l * 1000 + e) * 50 + row) * 50 + column)) - .3;
}

static int dense_width(int l)
{
    return 3 * width[l];
}

static void dense_of(int l, int e, double *out)
{
    const int n = dense_width(l);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i * n + j] = entry(l, e, i, j);
}

/* The whole sum, entry by entry, in the order of lists and stencils. */
static void sum_all(double whole[3 * NODES][3 * NODES])
{
    memset(whole, 0, sizeof(double) * 9 * NODES * NODES);
    for (int l = 0; l < LISTS; l++)
        for (int e = 0; e < length[l]; e++)
            for (int a = 0; a < width[l]; a++)
                for (int b = a; b < width[l]; b++)
                    for (int c = 0; c < 3; c++)
                        for (int d = 0; d < 3; d++) {
                            const int i = 3 * node_of(l, e, a) + c, j = 3 * node_of(l, e, b) + d;
                            const double x =
                                a == b && d < c ? entry(l, e, 3 * a + d, 3 * a + c) : entry(l, e, 3 * a + c, 3 * b + d);
                            if (a != b && i / 3 == j / 3)
                                whole[i][j] += x + entry(l, e, 3 * a + d, 3 * b + c);
                            else {
                                whole[i][j] += x;
                                if (a != b)
                                    whole[j][i] += x;
                            }
                        }
}

struct part {
    struct tac_nodes nodes;
    tac_gid id[NODES];
    int32_t owner[NODES];
    tac_lid local[NODES];
    tac_lid *stencil[LISTS];
    int *which[LISTS];
    struct tac_stencil_list list[LISTS];
};

static int owner_of(int distribution, int i)
{
    return distribution == 0 ? i * ctx.size / NODES : distribution == 1 ? i * 7 % ctx.size : i == 5 ? ctx.size - 1 : 0;
}

static void make_part(int distribution, struct part *p)
{
    memset(p, 0, sizeof *p);
    for (int ghosts = 0; ghosts < 2; ghosts++)
        for (int k = NODES - 1; k >= 0; k--) /* in no order that helps */
            if ((owner_of(distribution, k) != ctx.rank) == ghosts) {
                p->local[k] = p->nodes.count;
                p->id[p->nodes.count] = k;
                p->owner[p->nodes.count++] = owner_of(distribution, k);
                p->nodes.owned += !ghosts;
            }
    p->nodes.id = p->id;
    p->nodes.owner = p->owner;
    for (int l = 0; l < LISTS; l++) {
        p->stencil[l] = calloc((size_t)(length[l] * width[l]), sizeof(tac_lid));
        p->which[l] = calloc((size_t)length[l], sizeof(int));
        p->list[l] = (struct tac_stencil_list){0, width[l], p->stencil[l]};
        for (int e = 0; e < length[l]; e++) {
            bool touches = e % 11 == 0; /* some that are not needed do no harm */
            for (int a = 0; a < width[l]; a++)
                touches = touches || owner_of(distribution, node_of(l, e, a)) == ctx.rank;
            for (int a = 0; a < width[l] && touches; a++)
                p->stencil[l][p->list[l].count * (size_t)width[l] + (size_t)a] = p->local[node_of(l, e, a)];
            if (touches)
                p->which[l][p->list[l].count++] = e;
        }
    }
}

static void free_part(struct part *p)
{
    for (int l = 0; l < LISTS; l++) {
        free(p->stencil[l]);
        free(p->which[l]);
    }
}

static void check_rows(const struct part *p, const struct tac_matrix *m, double whole[3 * NODES][3 * NODES])
{
    for (tac_lid i = 0; i < m->owned; i++) {
        double row[3][3 * NODES] = {{0}};
        tac_gid before = -1;
        for (size_t k = m->row[i]; k < m->row[i + 1]; k++) {
            const tac_gid id = p->id[m->column[k]];
            CHECK(id > before, "columns do not ascend");
            before = id;
            for (int c = 0; c < 9; c++)
                row[c / 3][3 * id + c % 3] = m->block[9 * k + (size_t)c];
        }
        for (int c = 0; c < 3; c++)
            CHECK(memcmp(row[c], whole[3 * p->id[i] + c], sizeof row[c]) == 0, "row %d of node %d differs", c,
                  (int)p->id[i]);
    }
}

static void assembly(void)
{
    static double whole[3 * NODES][3 * NODES], dense[48 * 48];
    sum_all(whole);
    for (int i = 0; i < 3 * NODES; i++)
        for (int j = 0; j < i; j++)
            CHECK(whole[i][j] == whole[j][i], "the sum is not symmetric"); /* of the test's own */
    for (int distribution = 0; distribution < 3; distribution++) {
        struct part p;
        struct tac_matrix *m = NULL;
        make_part(distribution, &p);
        CHECK(tac_matrix_create(&ctx, &p.nodes, LISTS, p.list, &m) == TAC_OK, "%s", ctx.error);
        for (int twice = 0; twice < 2; twice++) {
            tac_matrix_clear(m);
            for (int l = 0; l < LISTS; l++)
                for (size_t e = 0; e < p.list[l].count; e++) {
                    dense_of(l, p.which[l][e], dense);
                    tac_matrix_add(m, l, e, dense);
                }
            check_rows(&p, m, whole);
        }
        double x[3 * NODES], y[3 * NODES];
        for (tac_lid i = 0; i < 3 * p.nodes.count; i++)
            x[i] = (double)p.id[i / 3] - 20 + i % 3;
        tac_matrix_multiply(m, x, y);
        for (tac_lid i = 0; i < 3 * p.nodes.owned; i++) {
            double sum = 0;
            for (int j = 0; j < 3 * NODES; j++)
                sum += whole[3 * p.id[i / 3] + i % 3][j] * (j / 3 - 20 + j % 3);
            CHECK(fabs(sum - y[i]) <= 1e-10, "%g, not %g", y[i], sum);
        }
        tac_matrix_destroy(&m);
        tac_matrix_destroy(&m);
        free_part(&p);
    }
}

static void exchange(void)
{
    for (int distribution = 0; distribution < 3; distribution++) {
        struct part p;
        struct tac_nodes_halo *halo = NULL;
        make_part(distribution, &p);
        CHECK(tac_nodes_halo_create(&ctx, &p.nodes, &halo) == TAC_OK, "%s", ctx.error);
        char wide[NODES][64] = {{0}};
        uint8_t narrow[NODES] = {0};
        for (tac_lid i = 0; i < p.nodes.owned; i++) {
            narrow[i] = (uint8_t)(p.id[i] + 3);
            memset(wide[i], (int)p.id[i] + 1, sizeof wide[i]);
        }
        tac_nodes_halo_refresh(halo, narrow, 1);
        tac_nodes_halo_begin(halo, wide, sizeof *wide);
        tac_nodes_halo_end(halo, wide);
        for (tac_lid i = 0; i < p.nodes.count; i++)
            CHECK(narrow[i] == p.id[i] + 3 && wide[i][0] == p.id[i] + 1 && wide[i][63] == p.id[i] + 1, "node %d has %d",
                  (int)p.id[i], narrow[i]);
        tac_nodes_halo_destroy(&halo);
        /* A node that nobody owns: the same code on all ranks. */
        if (ctx.size > 1) {
            const tac_lid last = p.nodes.count - 1;
            if (ctx.rank == 1 && last >= p.nodes.owned)
                p.id[last] = 1000;
            const enum tac_err err = tac_nodes_halo_create(&ctx, &p.nodes, &halo);
            CHECK(err == TAC_ERR_RUN && halo == NULL && strstr(ctx.error, "node 1000"), "%d: %s", (int)err, ctx.error);
            ctx.error[0] = '\0';
        }
        free_part(&p);
    }
}

/* A grid of nodes with equal springs, and one strong one: the cut on these ranks. */
enum { WIDE = 40, GRID = WIDE * WIDE };

/* Returns a digest of the names. gather: every rank cuts the gathered graph; places: a digest of the ranks. */
static uint64_t cut_grid(int distribution, bool gather, int64_t *largest, int *subdomains, bool *together,
                         uint64_t *places)
{
    static tac_gid id[GRID];
    static int32_t owner[GRID];
    static tac_lid local[GRID], pair[2 * 2 * GRID + 2];
    static double position[3 * GRID];
    static uint8_t fixed[GRID];
    struct tac_nodes nodes = {.id = id, .owner = owner};
    struct tac_stencil_list list = {0, 2, pair};
    struct tac_matrix *m = NULL;
    struct tac_nodes_halo *halo = NULL;
    struct tac_cut cut = {0};
    uint64_t digest = 0;
    *places = 0;
    for (int ghosts = 0; ghosts < 2; ghosts++)
        for (int i = 0; i < GRID; i++) {
            const int rank = distribution ? i / distribution % ctx.size : i * ctx.size / GRID;
            if ((rank != ctx.rank) == ghosts) {
                local[i] = nodes.count;
                fixed[nodes.count] = i % 401 == 7;
                owner[nodes.count] = rank;
                id[nodes.count++] = i;
                nodes.owned += !ghosts;
            }
        }
    double strength[2 * GRID + 1];
    for (int k = 0; k <= 2 * GRID; k++) {
        const int a = k / 2, b = k % 2 ? a + WIDE : a + 1;
        if (k < 2 * GRID && (b >= GRID || (k % 2 == 0 && b % WIDE == 0)))
            continue;
        const int from = k < 2 * GRID ? a : 3, to = k < 2 * GRID ? b : GRID - 3; /* from one corner to the other */
        if (local[from] >= nodes.owned && local[to] >= nodes.owned)
            continue;
        strength[list.count] = k < 2 * GRID ? 1 : 1000;
        pair[2 * list.count] = local[from];
        pair[2 * list.count++ + 1] = local[to];
    }
    CHECK(tac_matrix_create(&ctx, &nodes, 1, &list, &m) == TAC_OK, "%s", ctx.error);
    for (size_t e = 0; e < list.count; e++) {
        double dense[36] = {0};
        for (int c = 0; c < 6; c++)
            for (int d = 0; d < 6; d++)
                dense[6 * c + d] = c % 3 != d % 3 ? 0 : c == d ? strength[e] : -strength[e];
        tac_matrix_add(m, 0, e, dense);
    }
    const struct tac_system system = {.nodes = nodes, .matrix = m, .position = position};
    CHECK(tac_nodes_halo_create(&ctx, &nodes, &halo) == TAC_OK, "%s", ctx.error);
    const struct tac_cut_rule rule = {.most = 256, .few = 256, .alone = gather ? 1 << 20 : 1 << 10};
    CHECK(tac_cut_make(&ctx, &system, fixed, halo, &rule, &cut) == TAC_OK, "%s", ctx.error);
    int ends[2] = {-1, -1};
    for (tac_lid i = 0; i < nodes.count; i++) {
        CHECK(fixed[i] ? cut.name[i] == -1 : cut.name[i] >= 0 && cut.name[i] <= id[i], "node %d is in %d", (int)id[i],
              (int)cut.name[i]);
        CHECK(fixed[i] || (cut.rank[i] >= 0 && cut.rank[i] < ctx.size), "node %d goes to rank %d", (int)id[i],
              (int)cut.rank[i]);
        if (i < nodes.owned)
            digest += (uint64_t)(id[i] + 1) * (uint64_t)(id[i] + 77) * (uint64_t)(cut.name[i] + 2) *
                      UINT64_C(0x9e3779b97f4a7c15);
        if (i < nodes.owned)
            *places += (uint64_t)(id[i] + 5) * (uint64_t)(cut.rank[i] + 2) * UINT64_C(0x9e3779b97f4a7c15);
        if (i < nodes.owned && (id[i] == 3 || id[i] == GRID - 3))
            ends[id[i] != 3] = cut.name[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, &digest, 1, MPI_UINT64_T, MPI_SUM, ctx.comm);
    MPI_Allreduce(MPI_IN_PLACE, places, 1, MPI_UINT64_T, MPI_SUM, ctx.comm);
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, ctx.comm);
    *together = ends[0] == ends[1];
    *subdomains = (int)cut.subdomains;
    *largest = cut.largest;
    tac_cut_free(&cut);
    tac_nodes_halo_destroy(&halo);
    tac_matrix_destroy(&m);
    return digest;
}

static void cuts(void)
{
    int64_t largest = 0;
    int subdomains;
    bool together;
    struct tac_ctx all = ctx;
    tac_ctx_init(&ctx, MPI_COMM_SELF);
    uint64_t places[2];
    const uint64_t alone = cut_grid(0, false, &largest, &subdomains, &together, places);
    CHECK(largest <= 256 && largest > 100, "a subdomain of %d nodes", (int)largest);
    CHECK(subdomains >= 7 && subdomains <= 14, "%d subdomains of 1600 nodes", subdomains);
    CHECK(together, "the strongest spring is cut");
    ctx = all;
    for (int distribution = 0; distribution < 3; distribution++) {
        for (int gather = 0; gather < 2; gather++)
            CHECK(cut_grid(distribution, gather, &largest, &subdomains, &together, &places[gather]) == alone,
                  "another cut than one rank's, distribution %d, gathered %d", distribution, gather);
        CHECK(places[0] == places[1], "subdomains go to other ranks when the graph is gathered, distribution %d",
              distribution);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    assembly();
    exchange();
    cuts();
    int failed = check_result();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
