/* pieces_topology.c: makes edges, valences and hinges of pieces.
 *
 * Every side of an element goes to the rank whose block of vertex ids holds its smaller vertex.  There equal sides
 * become one edge; as blocks ascend with ranks, an edge's id is its place among the rank's own plus the edges of all
 * ranks before.  The rule is that of tac_topology_create(), so that the ids are those of the whole scene.
 *
 * For memory's sake this goes in rounds: each takes the sides whose smaller vertex lies in one part of its block.
 */
#include "base/exchange.h"
#include "partition/pieces.h"

#include <stdlib.h>
#include <string.h>

enum { SIDES_OF_ROUND = 1 << 17, MOST_ROUNDS = 16 };

struct side {
    tac_gid a, b;    /* vertices, a < b */
    tac_gid element; /* triangle; after all triangles, segment */
    tac_gid apex;    /* the triangle's third vertex, or, if it has the side in the direction b -> a, -1 minus that */
};

/* What the rank that sent a side gets back. */
struct edge_report {
    tac_gid number; /* of the edge on the rank that made it */
    int32_t valence, place;
};

/* Sides of one round that this rank sends. */
struct sent {
    size_t count, side_capacity, to_capacity, which_capacity;
    struct side *side; /* owned */
    int32_t *to;       /* owned */
    int64_t *which;    /* owned: number of the side in the pieces */
};

struct maker {
    struct tac_ctx *ctx;  /* borrowed */
    struct tac_pieces *p; /* borrowed */
    tac_gid first;        /* vertex of our block */
    tac_lid *valence;     /* owned: of the block's vertices */
    int rounds;
    uint8_t *round; /* owned: of each side */
    struct sent sent;
    /* of this round: */
    size_t side_count;
    struct side *side;                    /* owned: what came */
    struct tac_keyed *order;              /* owned: sides by (a, b, element) */
    struct edge_report *reported;         /* owned, (side_count) in the order they came */
    int64_t *count, *came, *back, *place; /* owned: sent, came and back (ranks) in one array; place of each side sent */
    /* so far: */
    tac_gid edge_count;
    size_t hinge_count, hinge_capacity, hinge_edge_capacity;
    tac_gid *hinge, *hinge_edge; /* owned; edges by number */
};

static void free_round(struct maker *m)
{
    free(m->side);
    free(m->order);
    free(m->reported);
    free(m->place);
    m->side = NULL;
    m->order = NULL;
    m->reported = NULL;
    m->place = NULL;
}

static void free_maker(struct maker *m)
{
    free_round(m);
    free(m->sent.side);
    free(m->sent.to);
    free(m->sent.which);
    free(m->valence);
    free(m->round);
    free(m->count);
    free(m->hinge);
    free(m->hinge_edge);
}

static int64_t count_sides(const struct tac_pieces *p)
{
    return 3 * (int64_t)p->triangle_count + p->segment_count;
}

/* Side 3 t + k of the pieces is opposite vertex k of triangle t; then the segments. */
static struct side side_at(const struct tac_pieces *p, int64_t i)
{
    const int64_t t = i / 3, s = i - 3 * (int64_t)p->triangle_count;
    if (s >= 0) {
        const tac_gid a = p->segment[2 * s], b = p->segment[2 * s + 1];
        return (struct side){a < b ? a : b, a < b ? b : a, p->triangle_total + p->segment_id[s], 0};
    }
    const tac_gid *v = p->triangle + 3 * t, a = v[(i + 1) % 3], b = v[(i + 2) % 3];
    return (struct side){a < b ? a : b, a < b ? b : a, p->triangle_id[t], a < b ? v[i % 3] : -1 - v[i % 3]};
}

static enum tac_err check_sides(struct tac_ctx *ctx, const struct tac_pieces *p)
{
    for (int64_t i = 0; i < count_sides(p); i++) {
        const struct side s = side_at(p, i);
        const bool triangle = s.element < p->triangle_total;
        if (s.a < 0 || s.b >= p->vertex_total || s.a == s.b)
            return tac_fail(ctx, TAC_ERR_INPUT, "%s %" TAC_PRIGID " names a vertex twice or one that does not exist",
                            triangle ? "triangle" : "segment", triangle ? s.element : s.element - p->triangle_total);
    }
    return TAC_OK;
}

/* The round in which each side is treated. */
static enum tac_err choose_rounds(struct maker *m)
{
    const tac_gid total = m->p->vertex_total;
    enum tac_err err = tac_alloc(m->ctx, (size_t)count_sides(m->p), 1, &m->round);
    for (int64_t i = 0; i < count_sides(m->p) && err == TAC_OK && m->rounds > 1; i++) {
        const tac_gid a = side_at(m->p, i).a;
        const int rank = tac_block_rank(total, m->ctx->size, a);
        const tac_gid first = tac_block_begin(total, m->ctx->size, rank);
        const tac_gid block = tac_block_begin(total, m->ctx->size, rank + 1) - first;
        m->round[i] = (uint8_t)tac_block_rank(block, m->rounds, a - first);
    }
    return tac_agree(m->ctx, err);
}

static enum tac_err list_sides(struct maker *m, int round)
{
    struct sent *s = &m->sent;
    enum tac_err err = TAC_OK;
    s->count = 0;
    for (int64_t i = 0; i < count_sides(m->p); i++) {
        if (m->round[i] != round)
            continue;
        const struct side side = side_at(m->p, i);
        TAC_TRY(tac_grow(m->ctx, &s->side, &s->side_capacity, s->count + 1, sizeof *s->side));
        TAC_TRY(tac_grow(m->ctx, &s->to, &s->to_capacity, s->count + 1, sizeof *s->to));
        TAC_TRY(tac_grow(m->ctx, &s->which, &s->which_capacity, s->count + 1, sizeof *s->which));
        s->side[s->count] = side;
        s->to[s->count] = tac_block_rank(m->p->vertex_total, m->ctx->size, side.a);
        s->which[s->count++] = i;
    }
    TAC_TRY(tac_alloc(m->ctx, s->count, sizeof *m->place, &m->place));
done:
    return err;
}

static enum tac_err sort_sides(struct maker *m)
{
    const size_t n = m->side_count;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(m->ctx, n, sizeof *m->order, &m->order));
    TAC_TRY(tac_alloc(m->ctx, n, sizeof *m->reported, &m->reported));
    for (size_t i = 0; i < n; i++)
        m->order[i] = (struct tac_keyed){m->side[i].element, (int64_t)i};
    TAC_TRY(tac_sort_keyed(m->ctx, n, m->order));
    for (size_t i = 0; i < n; i++)
        m->order[i].key = m->side[m->order[i].index].b;
    TAC_TRY(tac_sort_keyed(m->ctx, n, m->order));
    for (size_t i = 0; i < n; i++)
        m->order[i].key = m->side[m->order[i].index].a;
    TAC_TRY(tac_sort_keyed(m->ctx, n, m->order));
done:
    return err;
}

/* The end of the run of equal sides that starts at i; *triangles: how many of them are of triangles. */
static size_t run_end(const struct maker *m, size_t i, int32_t *triangles)
{
    const struct side *first = &m->side[m->order[i].index];
    size_t j = i;
    *triangles = 0;
    for (; j < m->side_count; j++) {
        const struct side *s = &m->side[m->order[j].index];
        if (s->a != first->a || s->b != first->b)
            break;
        *triangles += s->element < m->p->triangle_total;
    }
    return j;
}

/* The hinge of the edge whose two triangles' sides are at i and i + 1. */
static enum tac_err add_hinge(struct maker *m, size_t i, tac_gid edge)
{
    const struct side *s[2] = {&m->side[m->order[i].index], &m->side[m->order[i + 1].index]};
    const int first = s[0]->apex < 0 && s[1]->apex >= 0;
    enum tac_err err = TAC_OK;
    tac_gid *to;
    TAC_TRY(tac_grow(m->ctx, &m->hinge, &m->hinge_capacity, m->hinge_count + 1, 4 * sizeof *m->hinge));
    TAC_TRY(tac_grow(m->ctx, &m->hinge_edge, &m->hinge_edge_capacity, m->hinge_count + 1, sizeof *m->hinge_edge));
    to = m->hinge + 4 * m->hinge_count;
    to[0] = s[0]->a;
    to[1] = s[0]->b;
    for (int k = 0; k < 2; k++) {
        const tac_gid apex = s[k ? 1 - first : first]->apex;
        to[2 + k] = apex < 0 ? -1 - apex : apex;
    }
    m->hinge_edge[m->hinge_count++] = edge;
done:
    return err;
}

/* Numbers the round's edges. end: (room for all sides) the larger vertex of each edge, to: whose block that is in. */
static enum tac_err number_edges(struct maker *m, tac_gid *end, int32_t *to, size_t *edges)
{
    enum tac_err err = TAC_OK;
    int32_t triangles;
    *edges = 0;
    for (size_t i = 0, j; i < m->side_count; i = j) {
        const struct side *s = &m->side[m->order[i].index];
        j = run_end(m, i, &triangles);
        for (size_t k = i; k < j; k++)
            m->reported[m->order[k].index] =
                (struct edge_report){m->edge_count, triangles, k - i < 2 ? (int32_t)(k - i) : 2};
        if (triangles == 2)
            TAC_TRY(add_hinge(m, i, m->edge_count));
        m->valence[s->a - m->first]++;
        end[*edges] = s->b;
        to[(*edges)++] = tac_block_rank(m->p->vertex_total, m->ctx->size, s->b);
        m->edge_count++;
    }
done:
    return err;
}

/* Makes the round's edges; their ends are counted where the ends' blocks are. */
static enum tac_err make_round_edges(struct maker *m)
{
    tac_gid *end = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t edges = 0, count = 0;
    enum tac_err err = sort_sides(m);
    if (err == TAC_OK)
        err = tac_alloc(m->ctx, m->side_count, sizeof *end, &end);
    if (err == TAC_OK)
        err = tac_alloc(m->ctx, m->side_count, sizeof *to, &to);
    if (err == TAC_OK)
        err = number_edges(m, end, to, &edges);
    TAC_TRY(tac_distribute(m->ctx, err, edges, to, end, sizeof *end, &came, &count));
    for (size_t i = 0; i < count; i++)
        m->valence[came[i] - m->first]++;
done:
    free(end);
    free(came);
    free(to);
    return err;
}

/* Tells the ranks that hold the elements. */
static enum tac_err answer_sides(struct maker *m)
{
    struct tac_pieces *p = m->p;
    struct edge_report *got = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_exchange(m->ctx, m->reported, m->came, sizeof *m->reported, &got, m->back));
    for (size_t i = 0; i < m->sent.count; i++) {
        const struct edge_report *reported = &got[m->place[i]];
        const int64_t side = m->sent.which[i], segment = side - 3 * (int64_t)p->triangle_count;
        if (segment >= 0) {
            p->segment_edge[segment] = reported->number;
        } else {
            p->triangle_edge[side] = reported->number;
            p->triangle_valence[side] = reported->valence;
            p->triangle_place[side] = (uint8_t)reported->place;
        }
    }
done:
    free(got);
    return err;
}

static enum tac_err make_round(struct maker *m, int round)
{
    enum tac_err err = list_sides(m, round);
    TAC_TRY(tac_distribute_traced(m->ctx, err, m->sent.count, m->sent.to, m->sent.side, sizeof *m->sent.side, &m->side,
                                  m->count, m->came, m->place));
    m->side_count = 0;
    for (int r = 0; r < m->ctx->size; r++)
        m->side_count += (size_t)m->came[r];
    TAC_TRY(make_round_edges(m));
    TAC_TRY(answer_sides(m));
done:
    free_round(m);
    return err;
}

/* Numbers of edges become ids, when it is known how many edges the ranks have made. */
static enum tac_err make_ids(struct maker *m)
{
    struct tac_pieces *p = m->p;
    tac_gid *base = NULL, sum = 0;
    enum tac_err err = tac_alloc(m->ctx, (size_t)m->ctx->size, sizeof *base, &base);
    TAC_TRY(tac_agree(m->ctx, err));
    MPI_Allgather(&m->edge_count, 1, TAC_GID_MPI, base, 1, TAC_GID_MPI, m->ctx->comm);
    for (int r = 0; r < m->ctx->size; r++) {
        const tac_gid count = base[r];
        base[r] = sum;
        sum += count;
    }
    p->edge_total = sum;
    for (int64_t i = 0; i < count_sides(p); i++) {
        const int64_t segment = i - 3 * (int64_t)p->triangle_count;
        const tac_gid first = base[tac_block_rank(p->vertex_total, m->ctx->size, side_at(p, i).a)];
        if (segment >= 0)
            p->segment_edge[segment] += first;
        else
            p->triangle_edge[i] += first;
    }
    err = tac_pieces_hinges(m->ctx, p, m->hinge_count);
    TAC_TRY(tac_agree(m->ctx, err));
    for (size_t h = 0; h < m->hinge_count; h++)
        p->hinge_edge[h] = m->hinge_edge[h] + base[m->ctx->rank];
    if (m->hinge_count > 0)
        memcpy(p->hinge, m->hinge, 4 * m->hinge_count * sizeof *p->hinge);
done:
    free(base);
    return err;
}

static void tell_valence(const void *known, tac_gid id, void *record)
{
    const struct maker *m = known;
    memcpy(record, &m->valence[id - m->first], sizeof *m->valence);
}

static enum tac_err ask_valences(struct maker *m)
{
    struct tac_pieces *p = m->p;
    const size_t n = (size_t)p->vertex_count;
    int32_t *to = NULL;
    enum tac_err err = tac_alloc(m->ctx, n, sizeof *to, &to);
    for (size_t i = 0; i < n && err == TAC_OK; i++)
        to[i] = tac_block_rank(p->vertex_total, m->ctx->size, p->vertex_id[i]);
    err = tac_ask(m->ctx, err, n, to, p->vertex_id, tell_valence, m, sizeof *p->valence, p->valence);
    free(to);
    return err;
}

static enum tac_err begin(struct maker *m)
{
    struct tac_ctx *ctx = m->ctx;
    struct tac_pieces *p = m->p;
    const size_t sides = 3 * (size_t)p->triangle_count;
    int64_t most = count_sides(p);
    enum tac_err err = check_sides(ctx, p);
    m->first = tac_block_begin(p->vertex_total, ctx->size, ctx->rank);
    const size_t block = (size_t)(tac_block_begin(p->vertex_total, ctx->size, ctx->rank + 1) - m->first);
    /* Pieces made elsewhere may lack these two. */
    if (err == TAC_OK && p->triangle_valence == NULL)
        err = tac_alloc(ctx, sides, sizeof *p->triangle_valence, &p->triangle_valence);
    if (err == TAC_OK && p->triangle_place == NULL)
        err = tac_alloc(ctx, sides, 1, &p->triangle_place);
    if (err == TAC_OK)
        err = tac_alloc(ctx, block, sizeof *m->valence, &m->valence);
    if (err == TAC_OK)
        err = tac_alloc(ctx, 3 * (size_t)ctx->size, sizeof *m->count, &m->count);
    TAC_TRY(tac_agree(ctx, err));
    m->came = m->count + ctx->size;
    m->back = m->count + 2 * ctx->size;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, ctx->comm);
    m->rounds = most / SIDES_OF_ROUND < MOST_ROUNDS ? (int)(most / SIDES_OF_ROUND) + 1 : MOST_ROUNDS;
    TAC_TRY(choose_rounds(m));
done:
    return err;
}

enum tac_err tac_pieces_topology(struct tac_ctx *ctx, struct tac_pieces *pieces)
{
    struct maker m = {.ctx = ctx, .p = pieces};
    enum tac_err err = TAC_OK;
    TAC_TRY(begin(&m));
    for (int round = 0; round < m.rounds; round++)
        TAC_TRY(make_round(&m, round));
    free(m.sent.side);
    m.sent.side = NULL;
    TAC_TRY(make_ids(&m));
    TAC_TRY(ask_valences(&m));
done:
    free_maker(&m);
    return err;
}
