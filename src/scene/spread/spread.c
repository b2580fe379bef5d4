/* spread.c: reads scenes that are too large for one rank.
 *
 * Every rank reads the JSON, but of each body's tables (vertices, triangles, segments) only a block of rows: whole
 * chunks of TAC_SCENE_CHUNK rows, blocks ascending with the ranks, and of a small body the chunk is on some rank.  The
 * parts of the reader work on the rows that are there; where one needs rows of others (coordinates of an element's
 * vertices, masses), the functions here get them.  What is added up is added in the order of the elements, or exactly,
 * so that no bit depends on the ranks.
 *
 * A failure of one rank only (memory, its part of the file) is agreed upon before the next collective step: a rank that
 * fails goes straight to the end of the reader, where its tac_agree() completes that of the others.
 */
#include "base/exchange.h"
#include "mesh/read.h"
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>

static tac_gid chunks(tac_lid rows)
{
    return rows / TAC_SCENE_CHUNK + (rows % TAC_SCENE_CHUNK != 0);
}

/* Chunk c of C is on rank (c size + shift) / C: ascending, and as even as can be.  Bodies of fewer chunks than there
 * are ranks have different shifts, spread evenly by the golden ratio, or many small bodies would all be on the same
 * ranks.
 */
static tac_gid shift(const struct tac_ctx *ctx, tac_lid body)
{
    const uint32_t turn = (uint32_t)body * 2654435769u;
    return (tac_gid)((uint64_t)turn * (uint64_t)ctx->size >> 32);
}

int tac_spread_rank(const struct tac_ctx *ctx, tac_lid body, tac_lid total, tac_lid number)
{
    return (int)((number / TAC_SCENE_CHUNK * (tac_gid)ctx->size + shift(ctx, body)) / chunks(total));
}

/* The first chunk of those that ranks from this one on have. */
static tac_gid first_chunk(const struct tac_ctx *ctx, tac_lid body, tac_lid total, int rank)
{
    const tac_gid over = rank * chunks(total) - shift(ctx, body);
    return over > 0 ? (over + ctx->size - 1) / ctx->size : 0;
}

void tac_spread_block(const struct tac_ctx *ctx, tac_lid body, tac_lid total, tac_lid *first, tac_lid *count)
{
    const tac_gid begin = TAC_SCENE_CHUNK * first_chunk(ctx, body, total, ctx->rank);
    const tac_gid end = TAC_SCENE_CHUNK * first_chunk(ctx, body, total, ctx->rank + 1);
    *first = (tac_lid)(begin < total ? begin : total);
    *count = (tac_lid)(end < total ? end : total) - *first;
}

struct block_positions {
    tac_lid first;
    const double *x;
};

static void tell_position(const void *known, tac_gid number, void *record)
{
    const struct block_positions *block = known;
    memcpy(record, block->x + 3 * (size_t)(number - block->first), 3 * sizeof(double));
}

enum tac_err tac_spread_ask(struct tac_ctx *ctx, enum tac_err err, tac_lid body, tac_lid total, size_t n,
                            const tac_gid *number, tac_lid first, const double *x, double *out)
{
    const struct block_positions block = {first, x};
    int32_t *to = NULL;
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *to, &to);
    for (size_t i = 0; i < n && err == TAC_OK; i++)
        to[i] = tac_spread_rank(ctx, body, total, (tac_lid)number[i]);
    err = tac_ask(ctx, err, n, to, number, tell_position, &block, 3 * sizeof *out, out);
    free(to);
    return err;
}

/* A vertex' share of an element's mass. */
struct share {
    tac_gid number;
    double mass;
};

/* Shares of the rows' elements, vertex by vertex; at: (rows, width) where their vertices are in x. */
static enum tac_err make_shares(struct tac_reader *reader, tac_lid index, enum tac_table table, const char *where,
                                double density, const tac_gid *number, const tac_lid *at, const double *x,
                                struct share *share, int32_t *to)
{
    const struct tac_body *body = &reader->scene->settings->body[index];
    const struct tac_rows rows = reader->rows[index][table];
    const tac_lid total = body->vertex_end - body->vertex_begin;
    static const char *const what[TAC_TABLES][2] = {
        {"", ""}, {"triangle", "area"}, {"segment", "length"}, {"tetrahedron", "volume"}};
    const size_t width = (size_t)tac_table_width(table);
    for (tac_lid i = 0; i < rows.end - rows.begin; i++) {
        const tac_lid *v = at + width * (size_t)i;
        const double *a = x + 3 * (size_t)v[0], *b = x + 3 * (size_t)v[1];
        const double size = table == TAC_TRIANGLES ? tac_scene_area(a, b, x + 3 * (size_t)v[2])
                            : table == TAC_SEGMENTS
                                ? tac_scene_length(a, b)
                                : tac_scene_volume(a, b, x + 3 * (size_t)v[2], x + 3 * (size_t)v[3]);
        if (!(size > 0))
            return tac_scene_fail_vanished(reader, where, body, what[table][0], rows.number + i, what[table][1]);
        for (size_t k = 0; k < width; k++) {
            const size_t s = width * (size_t)i + k;
            share[s] = (struct share){number[s], density * size / (double)width};
            to[s] = tac_spread_rank(reader->ctx, index, total, (tac_lid)number[s]);
        }
    }
    return TAC_OK;
}

/* Adds the masses of one table: shares come by ascending rank, and so by ascending element. */
static enum tac_err lump_table(struct tac_reader *reader, tac_lid index, enum tac_table table, const char *where,
                               double density)
{
    struct tac_ctx *ctx = reader->ctx;
    struct tac_scene *scene = reader->scene;
    const struct tac_body *body = &scene->settings->body[index];
    const struct tac_rows rows = reader->rows[index][table], here = reader->rows[index][TAC_VERTICES];
    const size_t width = (size_t)tac_table_width(table), n = width * (size_t)(rows.end - rows.begin);
    const tac_lid *element = n ? *tac_table_elements(scene->mesh, table) + width * (size_t)rows.begin : NULL;
    tac_gid *number = NULL, *unique = NULL;
    tac_lid *at = NULL;
    int32_t *to = NULL;
    double *x = NULL;
    struct share *share = NULL, *came = NULL;
    size_t uniques = 0, came_count = 0;
    enum tac_err err = tac_alloc(ctx, n, sizeof *number, &number);
    for (size_t i = 0; i < n && err == TAC_OK; i++)
        number[i] = element[i] - body->vertex_begin;
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *at, &at);
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *to, &to);
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *share, &share);
    if (err == TAC_OK)
        err = tac_compress(ctx, n, number, &unique, &uniques, at);
    if (err == TAC_OK)
        err = tac_alloc(ctx, 3 * uniques, sizeof *x, &x);
    TAC_TRY(tac_spread_ask(ctx, err, index, body->vertex_end - body->vertex_begin, uniques, unique, here.number,
                           scene->mesh->x + 3 * (size_t)here.begin, x));
    if (body->rest != NULL)
        err = tac_start_check_sizes(reader, index, table, at, x);
    for (size_t i = 0; i < uniques && body->rest != NULL; i++)
        memcpy(x + 3 * i, body->rest + 3 * (size_t)unique[i], 3 * sizeof *x);
    if (err == TAC_OK)
        err = make_shares(reader, index, table, where, density, number, at, x, share, to);
    TAC_TRY(tac_distribute(ctx, err, density > 0 ? n : 0, to, share, sizeof *share, &came, &came_count));
    for (size_t i = 0; i < came_count; i++)
        scene->mesh->mass[here.begin + (came[i].number - here.number)] += came[i].mass;
done:
    free(number);
    free(unique);
    free(at);
    free(to);
    free(x);
    free(share);
    free(came);
    return tac_reader_agreed(reader, err);
}

enum tac_err tac_spread_lump(struct tac_reader *reader, tac_lid body, const char *where, double density)
{
    enum tac_err err = TAC_OK;
    const struct tac_body *b = &reader->scene->settings->body[body];
    const bool solid = b->tetrahedron_end > b->tetrahedron_begin;
    TAC_TRY(lump_table(reader, body, TAC_TRIANGLES, where, solid ? 0 : density));
    TAC_TRY(lump_table(reader, body, TAC_SEGMENTS, where, solid ? 0 : density));
    if (solid)
        TAC_TRY(lump_table(reader, body, TAC_TETRAHEDRA, where, density));
done:
    return err;
}
