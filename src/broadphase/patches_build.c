/* patches_build.c: makes the patches of a body, and computes how near the pairs of each are at the start
 * (docs/reference/engine.md, Candidates).
 */
#include "broadphase/patches_build.h"
#include "geometry/closest_points.h"
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 64 }; /* primitives of a body; with fewer, patches save nothing */
/* Distances are computed up to the thickness plus ENOUGH skins. Neighbours that a map of .9 brings nearer to their
 * first layer than WANTED skins are not taken into a patch, because the test would never succeed. */
static const double ENOUGH = 10, WANTED = 2.2;
/* Numbers that are kept in single precision are changed by this part of themselves to the safe side. */
static const double ROUNDED = 0x1p-22;

/* ---- how near the pairs of two blocks are, seen along the normal of a patch ---- */

/* Projects a triangle at the start to the plane of a patch. */
struct flat {
    double u[3][3], middle[3]; /* the third coordinates are 0 */
    double radius;             /* of a circle about the middle that holds it, m */
};

static void flatten_triangle(const struct tac_patches_build *b, const struct tac_patch *patch,
                             const struct tac_primitive *p, struct flat *out)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i < 3; i++) {
        double d[3];
        tac_sub(d, &b->view->scene->mesh->x[3 * (size_t)p->v[i]], patch->centre);
        for (int k = 0; k < 2; k++) {
            out->u[i][k] = tac_dot(d, patch->axis[k]);
            out->middle[k] += out->u[i][k] / 3;
        }
    }
    for (int i = 0; i < 3; i++) {
        double d[3];
        tac_sub(d, out->u[i], out->middle);
        out->radius = fmax(out->radius, sqrt(tac_dot(d, d)));
    }
}

/* Is the distance of two features, of na and nb vertices in u, certainly more than `away`? It is bounded along the line
 * from midpoint to midpoint. */
static bool are_far(const double u[4][3], int na, double away)
{
    const int nb = 4 - na;
    double along[3] = {0}, least = INFINITY, most = -INFINITY;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++)
            along[k] += i < na ? u[i][k] / na : -u[i][k] / nb;
    for (int i = 0; i < 4; i++) {
        const double at = tac_dot(along, u[i]);
        least = i < na && at < least ? at : least;
        most = i >= na && at > most ? at : most;
    }
    return least > most && (least - most) * (least - most) > away * away * tac_dot(along, along);
}

static void lower_nearest(enum tac_pair_type type, const double u[4][3], double *nearest)
{
    struct tac_near near;
    if (are_far(u, tac_pair_first(type), *nearest))
        return;
    tac_near_pair(type, u, &near);
    *nearest = near.d < *nearest ? near.d : *nearest;
}

static bool has(const struct tac_primitive *p, tac_lid v)
{
    return p->v[0] == v || p->v[1] == v || p->v[2] == v;
}

static void lower_by_vertices(const struct tac_primitive *p, const struct flat *fp, const struct tac_primitive *q,
                              const struct flat *fq, double *nearest)
{
    for (int k = 0; k < 3; k++) {
        double u[4][3];
        if (!(p->vertices >> k & 1) || has(q, p->v[k]))
            continue;
        memcpy(u[0], fp->u[k], sizeof u[0]);
        memcpy(u[1], fq->u, sizeof fq->u);
        lower_nearest(TAC_PAIR_VERTEX_TRIANGLE, u, nearest);
    }
}

static void lower_by_edges(const struct tac_primitive *p, const struct flat *fp, const struct tac_primitive *q,
                           const struct flat *fq, double *nearest)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            /* Edge i is opposite vertex i. */
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            double u[4][3];
            if (!(p->edges >> i & 1) || !(q->edges >> j & 1) || p->v[a] == q->v[c] || p->v[a] == q->v[d] ||
                p->v[b] == q->v[c] || p->v[b] == q->v[d])
                continue;
            memcpy(u[0], fp->u[a], sizeof u[0]);
            memcpy(u[1], fp->u[b], sizeof u[1]);
            memcpy(u[2], fq->u[c], sizeof u[2]);
            memcpy(u[3], fq->u[d], sizeof u[3]);
            lower_nearest(TAC_PAIR_EDGE_EDGE, u, nearest);
        }
}

/* Lowers *nearest to the least flat distance of the pairs of two blocks; flat[]: the primitives of block k. */
static void lower_by_blocks(const struct tac_patches_build *b, const struct tac_patch *patch, int32_t k,
                            const struct flat *flat, int32_t l, double *nearest)
{
    const int32_t *mine = &b->member[b->begin[k]], count = b->begin[k + 1] - b->begin[k];
    for (int32_t j = b->begin[l]; j < b->begin[l + 1]; j++) {
        const struct tac_primitive *q = &b->primitive[b->member[j]];
        struct flat fq;
        flatten_triangle(b, patch, q, &fq);
        for (int32_t i = 0; i < (k == l ? j - b->begin[k] : count); i++) {
            const struct tac_primitive *p = &b->primitive[mine[i]];
            double d[3];
            tac_sub(d, flat[i].middle, fq.middle);
            const double away = *nearest + flat[i].radius + fq.radius;
            if (tac_dot(d, d) > away * away)
                continue;
            lower_by_vertices(p, &flat[i], q, &fq, nearest);
            lower_by_vertices(q, &fq, p, &flat[i], nearest);
            lower_by_edges(p, &flat[i], q, &fq, nearest);
        }
    }
}

/* ---- patches ---- */

/* Computes the axes along the surface of block k. */
static bool lay_axes(const struct tac_patches_build *b, int32_t k, struct tac_patch *patch)
{
    const double *x = b->view->scene->mesh->x;
    double normal[3] = {0}, *a = patch->axis[0];
    for (int32_t i = b->begin[k]; i < b->begin[k + 1]; i++) {
        const tac_lid *v = b->primitive[b->member[i]].v;
        double d[3], e[3], n[3];
        tac_sub(d, &x[3 * (size_t)v[1]], &x[3 * (size_t)v[0]]);
        tac_sub(e, &x[3 * (size_t)v[2]], &x[3 * (size_t)v[0]]);
        tac_cross(n, d, e);
        for (int j = 0; j < 3; j++)
            normal[j] += n[j];
        if (i == b->begin[k]) {
            memcpy(a, d, sizeof d);
            memcpy(patch->centre, &x[3 * (size_t)v[0]], sizeof patch->centre);
        }
    }
    const double nn = tac_dot(normal, normal), an = tac_dot(a, normal);
    for (int j = 0; j < 3; j++)
        a[j] -= an / nn * normal[j];
    const double aa = tac_dot(a, a);
    tac_cross(patch->axis[1], normal, a);
    for (int j = 0; j < 3; j++) {
        patch->axis[1][j] /= sqrt(nn * aa);
        a[j] /= sqrt(aa);
    }
    return nn > 0 && aa > 0 && isfinite(patch->axis[0][0] + patch->axis[1][0]);
}

/* Widens the range of heights over the plane of a patch to the vertices of block l. */
static void widen_heights(const struct tac_patches_build *b, const struct tac_patch *patch, int32_t l, double range[2])
{
    double normal[3];
    tac_cross(normal, patch->axis[0], patch->axis[1]);
    for (int32_t i = b->begin[l]; i < b->begin[l + 1]; i++)
        for (int j = 0; j < 3; j++) {
            double d[3];
            tac_sub(d, &b->view->scene->mesh->x[3 * (size_t)b->primitive[b->member[i]].v[j]], patch->centre);
            const double height = tac_dot(normal, d);
            range[0] = fmin(range[0], height);
            range[1] = fmax(range[1], height);
        }
}

/* Adds the vertices of block l to patch k; false: there would be too many. */
static enum tac_err add_vertices(struct tac_patches_build *b, int32_t k, int32_t l, bool *fits)
{
    enum tac_err err = TAC_OK;
    struct tac_patch *patch = &b->out->patch[k];
    const int32_t before = patch->vertex_count;
    *fits = true;
    for (int32_t i = b->begin[l]; i < b->begin[l + 1] && *fits; i++)
        for (int j = 0; j < 3 && *fits; j++) {
            const tac_lid v = b->primitive[b->member[i]].v[j];
            if (b->taken[v] == k + 1)
                continue;
            *fits = patch->vertex_count < TAC_PATCH_MOST;
            if (!*fits)
                break;
            TAC_TRY(tac_grow(b->view->ctx, &b->out->vertex, &b->vertex_capacity, b->vertex_count + 1,
                             sizeof *b->out->vertex));
            b->out->vertex[b->vertex_count++] = v;
            patch->vertex_count++;
            b->taken[v] = k + 1;
        }
    for (; !*fits && patch->vertex_count > before; patch->vertex_count--)
        b->taken[b->out->vertex[--b->vertex_count]] = 0;
done:
    return err;
}

/* Moves the centre to the mean of the vertices, and sums what a fit needs. */
static void finish_patch(const struct tac_patches_build *b, struct tac_patch *patch)
{
    const double *x = b->view->scene->mesh->x;
    const tac_lid *v = &b->out->vertex[patch->vertex];
    double centre[3] = {0}, xx = 0, xy = 0, yy = 0, size = 0;
    for (int32_t i = 0; i < patch->vertex_count; i++)
        for (int k = 0; k < 3; k++)
            centre[k] += (x[3 * (size_t)v[i] + (size_t)k] - patch->centre[k]) / patch->vertex_count;
    for (int k = 0; k < 3; k++)
        patch->centre[k] += centre[k];
    for (int32_t i = 0; i < patch->vertex_count; i++) {
        double d[3];
        tac_sub(d, &x[3 * (size_t)v[i]], patch->centre);
        const double ux = tac_dot(d, patch->axis[0]), uy = tac_dot(d, patch->axis[1]);
        xx += ux * ux;
        xy += ux * uy;
        yy += uy * uy;
        size = fmax(size, fabs(ux) + fabs(uy));
    }
    const double det = xx * yy - xy * xy;
    patch->inverse[0] = yy / det;
    patch->inverse[1] = -xy / det;
    patch->inverse[2] = xx / det;
    patch->margin = 1e-9 * size;
    if (!(det > 1e-4 * (xx + yy) * (xx + yy)))
        patch->near_count = 0;
}

static int compare_rings(const void *a, const void *b)
{
    const struct tac_patch_ring *x = a, *y = b;
    return x->nearest != y->nearest ? (x->nearest > y->nearest) - (x->nearest < y->nearest)
                                    : (x->block > y->block) - (x->block < y->block);
}

/* The blocks beside block k into b->ring, in the order of their flat distances from it; how many. */
static enum tac_err sort_rings(struct tac_patches_build *b, const struct tac_patch *patch, int32_t k, int32_t *count)
{
    enum tac_err err;
    const double enough = b->view->margin * b->view->scene->settings->contact.thickness + ENOUGH * b->c->skin;
    struct flat flat[TAC_PATCH_BLOCK];
    for (int32_t i = b->begin[k]; i < b->begin[k + 1]; i++)
        flatten_triangle(b, patch, &b->primitive[b->member[i]], &flat[i - b->begin[k]]);
    *count = b->beside_begin[k + 1] - b->beside_begin[k];
    TAC_TRY(tac_grow(b->view->ctx, &b->ring, &b->ring_capacity, (size_t)*count, sizeof *b->ring));
    for (int32_t i = 0; i < *count; i++) {
        struct tac_patch_ring *ring = &b->ring[i];
        *ring = (struct tac_patch_ring){b->beside[b->beside_begin[k] + i], enough};
        lower_by_blocks(b, patch, k, flat, ring->block, &ring->nearest);
    }
    qsort(b->ring, (size_t)*count, sizeof *b->ring, compare_rings);
done:
    return err;
}

/* Takes a block into patch k, if its pairs may ever be proven. `own`: the range of heights of the patch' own block.  A
 * pair was at most sqrt(flat^2 + height^2) apart at the start, height that of both blocks together. */
static enum tac_err take_in(struct tac_patches_build *b, int32_t k, const struct tac_patch_ring *ring,
                            const double own[2])
{
    enum tac_err err = TAC_OK;
    struct tac_patch *patch = &b->out->patch[k];
    double range[2] = {own[0], own[1]};
    bool fits;
    widen_heights(b, patch, ring->block, range);
    const double height = range[1] - range[0], bump = .5 * height * height / ring->nearest;
    const struct tac_patch_near near = {(float)(ring->nearest * (1 - ROUNDED)), (float)(bump * (1 + ROUNDED)), 0, 0};
    if (!(tac_patch_room(b->out, &near, .9) > WANTED * b->c->skin))
        return TAC_OK;
    TAC_TRY(add_vertices(b, k, ring->block, &fits));
    if (!fits)
        return TAC_OK;
    TAC_TRY(tac_grow(b->view->ctx, &b->out->near, &b->near_capacity, b->near_count + 1, sizeof *b->out->near));
    TAC_TRY(tac_grow(b->view->ctx, &b->out->beside, &b->known_capacity, b->near_count + 1, sizeof *b->out->beside));
    b->out->near[b->near_count] = ring->block;
    b->out->beside[b->near_count] = near;
    b->out->beside[b->near_count++].vertices = (uint8_t)patch->vertex_count;
    patch->near_count++;
done:
    return err;
}

static enum tac_err make_patch(struct tac_patches_build *b, int32_t k)
{
    enum tac_err err = TAC_OK;
    struct tac_patch *patch = &b->out->patch[k];
    double range[2] = {0, 0};
    int32_t count;
    bool fits;
    patch->near = (int32_t)b->near_count;
    patch->vertex = (int32_t)b->vertex_count;
    if (!lay_axes(b, k, patch))
        goto done;
    TAC_TRY(sort_rings(b, patch, k, &count));
    TAC_TRY(add_vertices(b, k, k, &fits)); /* part of each of its pairs */
    widen_heights(b, patch, k, range);
    patch->own = patch->vertex_count;
    for (int32_t i = 0; i < count; i++)
        TAC_TRY(take_in(b, k, &b->ring[i], range));
    if (patch->near_count > 0)
        finish_patch(b, patch);
done:
    return err;
}

/* Gives back the memory that an array does not need after it was grown by doubling. */
static void *give_back(void *array, size_t count, size_t size)
{
    void *shorter = count > 0 ? realloc(array, count * size) : NULL;
    return shorter != NULL ? shorter : array;
}

static bool is_useful(const struct tac_view *view, const struct tac_candidates *c, tac_lid body)
{
    const struct tac_settings *s = view->scene->settings;
    if (c->immovable[body] || !s->body[body].self_contact || !s->body[body].has_elements ||
        s->body[body].piece_count > 1 || s->contact.thickness == 0 ||
        c->primitive_begin[body + 1] - c->primitive_begin[body] < SMALLEST)
        return false;
    for (int32_t p = c->primitive_begin[body]; p < c->primitive_begin[body + 1]; p++)
        if (c->primitive[p].count != 3)
            return false;
    return true;
}

enum tac_err tac_patches_create(struct tac_view *view, struct tac_candidates *c, tac_lid body)
{
    enum tac_err err = TAC_OK;
    struct tac_patches_build b = {
        .view = view, .c = c, .primitive = &c->primitive[c->primitive_begin[body]], .body = body};
    struct tac_patches *out = NULL;
    b.primitive_count = c->primitive_begin[body + 1] - c->primitive_begin[body];
    if (!is_useful(view, c, body))
        goto done;
    TAC_TRY(tac_alloc(view->ctx, 1, sizeof *out, &out));
    b.out = out;
    const double radius = 2 * view->scene->settings->body[body].radius;
    out->most = view->margin * view->scene->settings->contact.thickness + radius;
    out->fraction = radius == 0 ? view->margin * view->scene->settings->contact.rest_fraction : INFINITY;
    TAC_TRY(tac_patches_blocks(&b));
    TAC_TRY(tac_alloc(view->ctx, (size_t)out->count, sizeof *out->patch, &out->patch));
    TAC_TRY(tac_alloc(view->ctx, (size_t)out->count, 1, &out->asked));
    TAC_TRY(tac_alloc(view->ctx, (size_t)view->scene->mesh->vertex_count, sizeof *b.taken, &b.taken));
    for (int32_t k = 0; k < out->count; k++)
        TAC_TRY(make_patch(&b, k));
    out->near = give_back(out->near, b.near_count, sizeof *out->near);
    out->beside = give_back(out->beside, b.near_count, sizeof *out->beside);
    out->vertex = give_back(out->vertex, b.vertex_count, sizeof *out->vertex);
done:
    if (err)
        tac_patches_destroy(&out);
    c->patches[body] = out;
    free(b.begin);
    free(b.member);
    free(b.meeting);
    free(b.beside_begin);
    free(b.beside);
    free(b.taken);
    free(b.ring);
    return err;
}

void tac_patches_destroy(struct tac_patches **patches)
{
    if (*patches == NULL)
        return;
    free((*patches)->of);
    free((*patches)->patch);
    free((*patches)->near);
    free((*patches)->vertex);
    free((*patches)->beside);
    free((*patches)->asked);
    free(*patches);
    *patches = NULL;
}
