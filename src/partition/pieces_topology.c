/* pieces_topology.c: edges, valences and hinges of pieces.
 *
 * Every side of an element goes to the rank whose block of vertex ids holds its smaller vertex.  There equal sides meet
 * and are one edge; as blocks ascend with ranks, an edge's id is its place among the rank's own plus the edges of all
 * ranks before.  The rule is that of tac_topology_create(), so that the ids are those of the whole scene.
 */
#include "partition/exchange.h"
#include "partition/pieces.h"

#include <stdlib.h>
#include <string.h>

struct side {
    tac_gid a, b;    /* vertices, a < b */
    tac_gid element; /* triangle; behind all triangles, segment */
    tac_gid apex;    /* the triangle's third vertex */
    int64_t forward; /* the triangle has the side in the direction a -> b */
};

/* What the one who sent a side is told. */
struct edge_told {
    tac_gid id;
    int32_t valence, place;
};

struct edges {
    size_t side_count;
    struct side *side;       /* owned: what came */
    struct tac_keyed *order; /* owned: sides by (a, b, element) */
    struct edge_told *told;  /* owned, (side_count) in the order they came */
    size_t edge_count, hinge_count;
    int64_t *sent, *came, *back, *place; /* owned, views of one array but place */
};

static void free_edges(struct edges *e)
{
    free(e->side);
    free(e->order);
    free(e->told);
    free(e->sent);
    free(e->place);
}

/* Side 3 t + k of the pieces is opposite vertex k of triangle t; then the segments. */
static enum tac_err list_sides(struct tac_ctx *ctx, const struct tac_pieces *p, struct side *side, int32_t *to)
{
    struct side *s = side;
    for (size_t t = 0; t < (size_t)p->triangle_count; t++) {
        const tac_gid *v = p->triangle + 3 * t;
        for (int k = 0; k < 3; k++) {
            const tac_gid a = v[(k + 1) % 3], b = v[(k + 2) % 3];
            *s++ = (struct side){a < b ? a : b, a < b ? b : a, p->triangle_id[t], v[k], a < b};
        }
    }
    for (size_t i = 0; i < (size_t)p->segment_count; i++) {
        const tac_gid a = p->segment[2 * i], b = p->segment[2 * i + 1];
        *s++ = (struct side){a < b ? a : b, a < b ? b : a, p->triangle_total + p->segment_id[i], -1, 0};
    }
    for (size_t i = 0; i < (size_t)(s - side); i++) {
        if (side[i].a < 0 || side[i].b >= p->vertex_total || side[i].a == side[i].b) {
            const bool triangle = side[i].element < p->triangle_total;
            return tac_fail(ctx, TAC_ERR_INPUT, "%s %" TAC_PRIGID " names a vertex twice or one that does not exist",
                            triangle ? "triangle" : "segment",
                            triangle ? side[i].element : side[i].element - p->triangle_total);
        }
        to[i] = tac_block_rank(p->vertex_total, ctx->size, side[i].a);
    }
    return TAC_OK;
}

static enum tac_err deal_sides(struct tac_ctx *ctx, const struct tac_pieces *p, struct edges *e)
{
    const size_t n = 3 * (size_t)p->triangle_count + (size_t)p->segment_count;
    struct side *side = NULL;
    int32_t *to = NULL;
    enum tac_err err = tac_alloc(ctx, n, sizeof *side, &side);
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *to, &to);
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *e->place, &e->place);
    if (err == TAC_OK)
        err = tac_alloc(ctx, 3 * (size_t)ctx->size, sizeof *e->sent, &e->sent);
    if (err == TAC_OK) {
        e->came = e->sent + ctx->size;
        e->back = e->sent + 2 * ctx->size;
        err = list_sides(ctx, p, side, to);
    }
    TAC_TRY(tac_deal_traced(ctx, err, n, to, side, sizeof *side, &e->side, e->sent, e->came, e->place));
    for (int r = 0; r < ctx->size; r++)
        e->side_count += (size_t)e->came[r];
done:
    free(side);
    free(to);
    return err;
}

static enum tac_err sort_sides(struct tac_ctx *ctx, struct edges *e)
{
    enum tac_err err = TAC_OK;
    const size_t n = e->side_count;
    TAC_TRY(tac_alloc(ctx, n, sizeof *e->order, &e->order));
    TAC_TRY(tac_alloc(ctx, n, sizeof *e->told, &e->told));
    for (size_t i = 0; i < n; i++)
        e->order[i] = (struct tac_keyed){e->side[i].element, (int64_t)i};
    TAC_TRY(tac_sort_keyed(ctx, n, e->order));
    for (size_t i = 0; i < n; i++)
        e->order[i].key = e->side[e->order[i].index].b;
    TAC_TRY(tac_sort_keyed(ctx, n, e->order));
    for (size_t i = 0; i < n; i++)
        e->order[i].key = e->side[e->order[i].index].a;
    TAC_TRY(tac_sort_keyed(ctx, n, e->order));
done:
    return err;
}

/* Ends of the run of equal sides that starts at i; *triangles: how many of them are of triangles. */
static size_t run_end(const struct edges *e, tac_gid triangle_total, size_t i, int32_t *triangles)
{
    const struct side *first = &e->side[e->order[i].index];
    size_t j = i;
    *triangles = 0;
    for (; j < e->side_count; j++) {
        const struct side *s = &e->side[e->order[j].index];
        if (s->a != first->a || s->b != first->b)
            break;
        *triangles += s->element < triangle_total;
    }
    return j;
}

/* Numbers the rank's edges from `id` on. */
static void tell_edges(struct edges *e, tac_gid triangle_total, tac_gid id)
{
    int32_t triangles;
    for (size_t i = 0, j; i < e->side_count; i = j, id++) {
        j = run_end(e, triangle_total, i, &triangles);
        for (size_t k = i; k < j; k++)
            e->told[e->order[k].index] = (struct edge_told){id, triangles, k - i < 2 ? (int32_t)(k - i) : 2};
    }
}

static void fill_hinges(const struct edges *e, struct tac_pieces *p)
{
    size_t h = 0;
    int32_t triangles;
    for (size_t i = 0, j; i < e->side_count; i = j) {
        j = run_end(e, p->triangle_total, i, &triangles);
        if (triangles != 2)
            continue;
        const struct side *s[2] = {&e->side[e->order[i].index], &e->side[e->order[i + 1].index]};
        const int first = !s[0]->forward && s[1]->forward;
        tac_gid *to = p->hinge + 4 * h;
        to[0] = s[0]->a;
        to[1] = s[0]->b;
        to[2] = s[first]->apex;
        to[3] = s[1 - first]->apex;
        p->hinge_edge[h++] = e->told[e->order[i].index].id;
    }
}

static enum tac_err number_edges(struct tac_ctx *ctx, struct edges *e, struct tac_pieces *p)
{
    int32_t triangles;
    tac_gid mine = 0, before = 0;
    enum tac_err err = sort_sides(ctx, e);
    for (size_t i = 0; i < e->side_count && err == TAC_OK; mine++) {
        i = run_end(e, p->triangle_total, i, &triangles);
        e->hinge_count += triangles == 2;
    }
    if (err == TAC_OK)
        err = tac_pieces_hinges(ctx, p, e->hinge_count);
    TAC_TRY(tac_agree(ctx, err));
    e->edge_count = (size_t)mine;
    MPI_Exscan(&mine, &before, 1, TAC_GID_MPI, MPI_SUM, ctx->comm);
    MPI_Allreduce(&mine, &p->edge_total, 1, TAC_GID_MPI, MPI_SUM, ctx->comm);
    tell_edges(e, p->triangle_total, ctx->rank == 0 ? 0 : before);
    fill_hinges(e, p);
done:
    return err;
}

/* Tells the ranks that hold the elements. */
static enum tac_err answer_sides(struct tac_ctx *ctx, struct edges *e, struct tac_pieces *p)
{
    struct edge_told *got = NULL;
    const size_t sides = 3 * (size_t)p->triangle_count;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_exchange(ctx, e->told, e->came, sizeof *e->told, &got, e->back));
    for (size_t i = 0; i < sides; i++) {
        const struct edge_told *told = &got[e->place[i]];
        p->triangle_edge[i] = told->id;
        p->triangle_valence[i] = told->valence;
        p->triangle_place[i] = (uint8_t)told->place;
    }
    for (size_t i = 0; i < (size_t)p->segment_count; i++)
        p->segment_edge[i] = got[e->place[sides + i]].id;
done:
    free(got);
    return err;
}

struct block_valence {
    tac_gid first;
    tac_lid *valence;
};

static void tell_valence(const void *known, tac_gid id, void *record)
{
    const struct block_valence *block = known;
    memcpy(record, &block->valence[id - block->first], sizeof *block->valence);
}

/* The edges' ends are counted where the ends' blocks are; then whoever holds a vertex asks. */
static enum tac_err count_valences(struct tac_ctx *ctx, struct edges *e, struct tac_pieces *p)
{
    const tac_gid total = p->vertex_total, first = tac_block_begin(total, ctx->size, ctx->rank);
    struct block_valence block = {first, NULL};
    tac_gid *end = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t edges = 0, came_count = 0;
    enum tac_err err = tac_alloc(ctx, e->edge_count, sizeof *end, &end);
    if (err == TAC_OK)
        err = tac_alloc(ctx, e->edge_count > (size_t)p->vertex_count ? e->edge_count : (size_t)p->vertex_count,
                        sizeof *to, &to);
    if (err == TAC_OK)
        err = tac_alloc(ctx, (size_t)(tac_block_begin(total, ctx->size, ctx->rank + 1) - first), sizeof *block.valence,
                        &block.valence);
    for (size_t i = 0; i < e->side_count && err == TAC_OK; edges++) {
        int32_t triangles;
        const struct side *s = &e->side[e->order[i].index];
        block.valence[s->a - first]++;
        end[edges] = s->b;
        to[edges] = tac_block_rank(total, ctx->size, s->b);
        i = run_end(e, p->triangle_total, i, &triangles);
    }
    TAC_TRY(tac_deal(ctx, err, e->edge_count, to, end, sizeof *end, &came, &came_count));
    for (size_t i = 0; i < came_count; i++)
        block.valence[came[i] - first]++;
    for (size_t i = 0; i < (size_t)p->vertex_count; i++)
        to[i] = tac_block_rank(total, ctx->size, p->vertex_id[i]);
    TAC_TRY(tac_ask(ctx, TAC_OK, (size_t)p->vertex_count, to, p->vertex_id, tell_valence, &block, sizeof *p->valence,
                    p->valence));
done:
    free(block.valence);
    free(end);
    free(came);
    free(to);
    return err;
}

enum tac_err tac_pieces_topology(struct tac_ctx *ctx, struct tac_pieces *pieces)
{
    struct edges e = {0};
    const size_t sides = 3 * (size_t)pieces->triangle_count;
    enum tac_err err = TAC_OK;
    /* Pieces made elsewhere may lack these. */
    if (pieces->triangle_valence == NULL)
        err = tac_alloc(ctx, sides, sizeof *pieces->triangle_valence, &pieces->triangle_valence);
    if (pieces->triangle_place == NULL && err == TAC_OK)
        err = tac_alloc(ctx, sides, 1, &pieces->triangle_place);
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(deal_sides(ctx, pieces, &e));
    TAC_TRY(number_edges(ctx, &e, pieces));
    TAC_TRY(answer_sides(ctx, &e, pieces));
    TAC_TRY(count_valences(ctx, &e, pieces));
done:
    free_edges(&e);
    return err;
}
