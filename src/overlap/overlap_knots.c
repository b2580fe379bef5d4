/* overlap_knots.c: finds knots of an animation at which a surface crosses itself.
 *
 * No vertex of such a body is ever free, so nothing could keep its parts from each other, and what lies between them
 * would have no place to go. Ranks share the knots, and each has the whole body for it: its triangles, and a knot. */
#include "mesh/cache/point_cache.h"
#include "overlap/overlap.h"
#include "partition/part.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KNOTS = 256 };
#define MOST_ELEMENTS 1e6 /* times knots: some seconds */

/* A body by itself, as a scene. */
struct alone {
    struct tac_settings settings;
    struct tac_body body;
    struct tac_local_mesh mesh;
    uint8_t *all; /* owned, (V): ones */
};

/* The triangles of the body that this rank has, by numbers of its vertices; tri NULL: only counts them. */
static int own_triangles(const struct tac_scene *whole, const struct tac_pieces *pieces, const struct tac_body *b,
                         tac_lid *tri)
{
    const tac_lid from = pieces != NULL ? 0 : b->triangle_begin,
                  to = pieces != NULL ? pieces->triangle_count : b->triangle_end;
    int count = 0;
    for (tac_lid i = from; i < to; i++) {
        tac_gid v[3];
        for (int k = 0; k < 3; k++)
            v[k] = pieces != NULL ? pieces->triangle[3 * (size_t)i + (size_t)k]
                                  : whole->mesh->triangle[3 * (size_t)i + (size_t)k];
        if (v[0] < b->vertex_begin || v[0] >= b->vertex_end)
            continue;
        for (int k = 0; k < 3 && tri != NULL; k++)
            tri[3 * (size_t)count + (size_t)k] = (tac_lid)(v[k] - b->vertex_begin);
        count++;
    }
    return count;
}

/* All triangles of the body, on every rank. */
static enum tac_err gather_triangles(struct tac_ctx *ctx, const struct tac_scene *whole,
                                     const struct tac_pieces *pieces, const struct tac_body *b, struct alone *a)
{
    int *size = NULL, *at = NULL, mine = 3 * own_triangles(whole, pieces, b, NULL);
    tac_lid *own = NULL;
    int64_t total = 0;
    enum tac_err err = tac_alloc(ctx, (size_t)ctx->size, sizeof *size, &size);
    if (!err)
        err = tac_alloc(ctx, (size_t)ctx->size, sizeof *at, &at);
    if (!err)
        err = tac_alloc(ctx, (size_t)mine, sizeof *own, &own);
    TAC_TRY(tac_agree(ctx, err));
    own_triangles(whole, pieces, b, own);
    if (ctx->size == 1) { /* `tactus check` runs without MPI */
        a->mesh.triangle = own;
        a->mesh.triangle_count = mine / 3;
        own = NULL;
        goto done;
    }
    MPI_Allgather(&mine, 1, MPI_INT, size, 1, MPI_INT, ctx->comm);
    for (int r = 0; r < ctx->size; r++) {
        at[r] = (int)total;
        total += pieces != NULL || r == 0 ? size[r] : 0;
        size[r] = pieces != NULL || r == 0 ? size[r] : 0;
    }
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)total, sizeof *a->mesh.triangle, &a->mesh.triangle)));
    MPI_Allgatherv(own, size[ctx->rank], TAC_LID_MPI, a->mesh.triangle, size, at, TAC_LID_MPI, ctx->comm);
    a->mesh.triangle_count = (tac_lid)(total / 3);
done:
    free(size);
    free(at);
    free(own);
    return err;
}

/* Is a vertex of the body free at some time? Then the file does not say where all of it is. */
static bool some_free(struct tac_ctx *ctx, const struct tac_scene *whole, const struct tac_pieces *pieces,
                      const struct tac_body *b)
{
    int some = 0;
    if (pieces != NULL)
        for (tac_lid i = 0; i < pieces->vertex_count; i++)
            some |=
                pieces->ever_free[i] && pieces->vertex_id[i] >= b->vertex_begin && pieces->vertex_id[i] < b->vertex_end;
    for (tac_lid i = b->vertex_begin; i < b->vertex_end && pieces == NULL; i++)
        some |= whole->mesh->ever_free[i];
    if (ctx->size > 1)
        MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, ctx->comm);
    return some != 0;
}

static enum tac_err make_alone(struct tac_ctx *ctx, const struct tac_settings *settings, const struct tac_body *b,
                               struct alone *a)
{
    const size_t n = (size_t)(b->vertex_end - b->vertex_begin);
    enum tac_err err = TAC_OK;
    a->body = *b;
    a->body.vertex_begin = a->body.triangle_begin = a->body.segment_begin = a->body.segment_end = 0;
    a->body.vertex_end = (tac_lid)n;
    a->body.triangle_end = a->mesh.triangle_count;
    a->settings = *settings;
    a->settings.body = &a->body;
    a->settings.body_count = 1;
    a->settings.contact.ignore_count = 0;
    a->mesh.vertex_count = (tac_lid)n;
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *a->mesh.x, &a->mesh.x));
    TAC_TRY(tac_alloc(ctx, n, sizeof *a->mesh.ever_free, &a->mesh.ever_free));
    TAC_TRY(tac_alloc(ctx, n, sizeof *a->mesh.vertex_body, &a->mesh.vertex_body));
    TAC_TRY(tac_alloc(ctx, n, sizeof *a->all, &a->all));
    memset(a->all, 1, n);
    err = tac_topology_create(ctx, a->mesh.vertex_count, a->mesh.triangle_count, a->mesh.triangle, 0, NULL,
                              &a->mesh.topology);
done:
    return err;
}

static void clear_alone(struct alone *a)
{
    free(a->mesh.x);
    free(a->mesh.ever_free);
    free(a->mesh.vertex_body);
    free(a->mesh.triangle);
    free(a->all);
    tac_topology_destroy(&a->mesh.topology);
}

/* The first of this rank's knots at which the body crosses itself; knots + 1: none. text: where. */
static enum tac_err look_at_knots(struct tac_ctx *ctx, const struct tac_motion *m, struct alone *a, int64_t *first,
                                  char *text, size_t size)
{
    const struct tac_scene scene = {&a->settings, &a->mesh};
    const int64_t knots = m->cache->knots;
    const double room = MOST_ELEMENTS / (1. + a->mesh.triangle_count);
    const int64_t most = room < 8            ? 8
                         : room > MOST_KNOTS ? MOST_KNOTS
                                             : (int64_t)room,
                  looks = knots < most ? knots : most;
    struct tac_overlaps *found = NULL;
    enum tac_err err = TAC_OK;
    *first = knots + 1;
    for (int64_t k = ctx->rank; k<looks && * first> knots; k += ctx->size) {
        const int64_t knot = looks > 1 ? k * (knots - 1) / (looks - 1) : 0;
        TAC_TRY(tac_point_cache_read(ctx, m->cache, knot, 0, m->cache->vertices, a->mesh.x));
        TAC_TRY(tac_overlap_find_exempt(ctx, &scene, a->all, &found));
        if (found->count > 0) {
            *first = knot;
            tac_overlap_describe(&scene, &found->overlap[0], text, size);
        }
        tac_overlap_destroy(&found);
    }
done:
    tac_overlap_destroy(&found);
    return err;
}

static enum tac_err check_motion(struct tac_ctx *ctx, const struct tac_scene *whole, const struct tac_pieces *pieces,
                                 const struct tac_motion *m)
{
    const struct tac_body *b = &whole->settings->body[m->body];
    struct alone a = {.all = NULL};
    struct {
        int64_t knot;
        char text[320];
    } mine = {.knot = 0};
    enum tac_err err = TAC_OK;
    if (!b->self_contact || some_free(ctx, whole, pieces, b))
        return TAC_OK;
    TAC_TRY(gather_triangles(ctx, whole, pieces, b, &a));
    if (a.mesh.triangle_count == 0)
        goto done;
    err = make_alone(ctx, whole->settings, b, &a);
    if (!err)
        err = look_at_knots(ctx, m, &a, &mine.knot, mine.text, sizeof mine.text);
    TAC_TRY(tac_agree(ctx, err));
    int64_t first = mine.knot;
    if (ctx->size > 1)
        MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, ctx->comm);
    if (first > m->cache->knots)
        goto done;
    int who = mine.knot == first ? ctx->rank : ctx->size;
    if (ctx->size > 1) {
        MPI_Allreduce(MPI_IN_PLACE, &who, 1, MPI_INT, MPI_MIN, ctx->comm);
        MPI_Bcast(mine.text, sizeof mine.text, MPI_CHAR, who, ctx->comm);
    }
    err = tac_fail(ctx, TAC_ERR_INPUT,
                   "\"%.60s\" crosses itself at knot %lld (t = %.9g s) of %s: %s; mend the animation, or give the body "
                   "\"self\": false if that is meant",
                   b->name, (long long)first, m->cache->t_s[first], m->cache->path, mine.text);
done:
    clear_alone(&a);
    return err;
}

enum tac_err tac_overlap_check_knots(struct tac_ctx *ctx, const struct tac_scene *whole,
                                     const struct tac_pieces *pieces)
{
    enum tac_err err = TAC_OK;
    for (tac_lid m = 0; m < whole->settings->motion_count && !err; m++)
        if (whole->settings->motion[m].cache != NULL)
            err = check_motion(ctx, whole, pieces, &whole->settings->motion[m]);
    return err;
}
