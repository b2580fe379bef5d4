/* pressure.c: contact pressure at vertices, also where a surface is meshed far more coarsely than what presses on it.
 *
 * A vertex' force is that of all contacts around it, and its own area may be far larger than what is touched: a plate
 * of two triangles under a ring has a quarter of its area at each corner.  So every contact has an area, the one that
 * the finer side has there, and contacts of a vertex and a triangle give it to their vertices by the weights by which
 * they feel the force.  A vertex' pressure is its force over the sum of these, but over no more than its own area; and,
 * because edges push too, over no less than that or twice the mean of its contacts' areas.  Where it is in no contact
 * now (what has bounced since the last frame) it is over its own area.
 *
 * Areas are thirds of triangles, now, as vectors, of which the part along the contact's normal counts: at the edge of a
 * box the sides that are not touched have none.
 *
 * Ids are distributed in blocks: the rank of a block knows the areas of its vertices, and adds up in one order what the
 * contacts give them, so no bit depends on the ranks.
 */
#include "base/exchange.h"
#include "contact/contacts.h"
#include "partition/part.h"
#include "run/requested_fields.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* The area of a vertex, m^2. */
struct reported {
    tac_gid vertex;
    double area[3];
};

/* What contacts give to a vertex: an area, m^2; forces, N, and these times their areas; and the direction in which they
 * push, times forces. */
struct touched {
    double area, force, force_area, push[3];
};

struct gift {
    tac_gid vertex, kind, primitive[2];
    struct touched touched;
};

/* What the rank of a block knows of its vertices. */
struct block {
    tac_gid begin;
    size_t count;
    double (*area)[3];       /* owned, (count) */
    struct touched *touched; /* owned, (count) */
};

static void answer_area(const void *known, tac_gid id, void *record)
{
    const struct block *b = known;
    memcpy(record, b->area[id - b->begin], sizeof b->area[0]);
}

static void answer_touched(const void *known, tac_gid id, void *record)
{
    const struct block *b = known;
    memcpy(record, &b->touched[id - b->begin], sizeof *b->touched);
}

static int compare_gifts(const void *a, const void *b)
{
    const struct gift *p = a, *q = b;
    if (p->vertex != q->vertex)
        return p->vertex < q->vertex ? -1 : 1;
    if (p->kind != q->kind)
        return p->kind < q->kind ? -1 : 1;
    for (int k = 0; k < 2; k++)
        if (p->primitive[k] != q->primitive[k])
            return p->primitive[k] < q->primitive[k] ? -1 : 1;
    return 0;
}

static int rank_of(const struct tac_simulation *sim, tac_gid vertex)
{
    return tac_block_rank(sim->whole->mesh->vertex_count, sim->ctx->size, vertex);
}

/* A third of the triangles around an owned vertex: their areas as vectors; returns the sum of their sizes. */
static double own_area(const struct tac_local_mesh *m, const struct tac_fields *fields, tac_lid i, double area[3])
{
    double sum = 0;
    memset(area, 0, 3 * sizeof *area);
    for (tac_lid k = fields->around_at[i]; k < fields->around_at[i + 1]; k++) {
        const tac_lid *v = &m->triangle[3 * (size_t)fields->around[k]];
        double e1[3], e2[3], n[3];
        tac_sub(e1, &fields->x[3 * (size_t)v[1]], &fields->x[3 * (size_t)v[0]]);
        tac_sub(e2, &fields->x[3 * (size_t)v[2]], &fields->x[3 * (size_t)v[0]]);
        tac_cross(n, e1, e2);
        for (int c = 0; c < 3; c++)
            area[c] += n[c] / 6;
        sum += sqrt(tac_dot(n, n)) / 6;
    }
    return sum;
}

/* The areas of the block's vertices, from their owners. */
static enum tac_err share_areas(struct tac_simulation *sim, double (*area)[3], tac_lid owned, struct block *b)
{
    struct tac_ctx *ctx = sim->ctx;
    const struct tac_scene *scene = tac_fields_scene(sim);
    const tac_gid total = sim->whole->mesh->vertex_count;
    struct reported *mine = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t count = 0;
    b->begin = tac_block_begin(total, ctx->size, ctx->rank);
    b->count = (size_t)(tac_block_begin(total, ctx->size, ctx->rank + 1) - b->begin);
    enum tac_err err = tac_alloc(ctx, b->count, sizeof *b->area, &b->area);
    if (!err)
        err = tac_alloc(ctx, b->count, sizeof *b->touched, &b->touched);
    if (!err)
        err = tac_alloc(ctx, (size_t)owned, sizeof *mine, &mine);
    if (!err)
        err = tac_alloc(ctx, (size_t)owned, sizeof *to, &to);
    for (tac_lid i = 0; i < owned && !err; i++) {
        mine[i] = (struct reported){tac_scene_id(scene, i), {area[i][0], area[i][1], area[i][2]}};
        to[i] = (int32_t)rank_of(sim, mine[i].vertex);
    }
    TAC_TRY(tac_distribute(ctx, err, (size_t)owned, to, mine, sizeof *mine, &came, &count));
    for (size_t i = 0; i < count; i++)
        memcpy(b->area[came[i].vertex - b->begin], came[i].area, sizeof came[i].area);
done:
    free(mine);
    free(to);
    free(came);
    return err;
}

/* Contacts of surfaces that push; returns how many are left. */
static size_t keep_surfaces(struct tac_contact *list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].kind <= TAC_CONTACT_EDGE_EDGE && list[i].force > 0)
            list[kept++] = list[i];
    return kept;
}

/* What a contact gives to its vertex k. area (4): of its vertices. */
static struct gift gift_of(const struct tac_contact *c, const double (*area)[3], int k)
{
    double side[2] = {0, 0};
    for (int i = 0; i < 4; i++)
        side[i >= c->first_count] += fabs(c->weight[i]) * fabs(tac_dot(area[i], c->normal));
    const double w = fabs(c->weight[k]), finer = side[0] < side[1] ? side[0] : side[1];
    struct gift g = {.vertex = c->vertex[k], .kind = c->kind, .primitive = {c->primitive[0], c->primitive[1]}};
    g.touched.area = c->kind == TAC_CONTACT_VERTEX_TRIANGLE ? w * finer : 0;
    g.touched.force = w * c->force;
    g.touched.force_area = w * c->force * finer;
    for (int i = 0; i < 3; i++)
        g.touched.push[i] = w * c->force * c->normal[i];
    return g;
}

/* The block's vertices get what contacts give them. area (4 count): of the contacts' vertices. */
static enum tac_err send_gifts(struct tac_simulation *sim, const struct tac_contact *list, double (*area)[3],
                               size_t count, struct block *b)
{
    struct gift *mine = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t total = 0;
    enum tac_err err = tac_alloc(sim->ctx, 4 * count, sizeof *mine, &mine);
    if (!err)
        err = tac_alloc(sim->ctx, 4 * count, sizeof *to, &to);
    for (size_t i = 0; i < 4 * count && !err; i++) {
        mine[i] = gift_of(&list[i / 4], (const double(*)[3]) & area[i - i % 4], (int)(i % 4));
        to[i] = (int32_t)rank_of(sim, mine[i].vertex);
    }
    TAC_TRY(tac_distribute(sim->ctx, err, 4 * count, to, mine, sizeof *mine, &came, &total));
    if (total > 0)
        qsort(came, total, sizeof *came, compare_gifts);
    for (size_t i = 0; i < total; i++) {
        struct touched *t = &b->touched[came[i].vertex - b->begin];
        t->area += came[i].touched.area;
        t->force += came[i].touched.force;
        t->force_area += came[i].touched.force_area;
        for (int k = 0; k < 3; k++)
            t->push[k] += came[i].touched.push[k];
    }
done:
    free(mine);
    free(to);
    free(came);
    return err;
}

/* Asks the ranks of the blocks about n ids. */
static enum tac_err ask_blocks(struct tac_simulation *sim, enum tac_err err, const struct block *b, size_t n,
                               const tac_gid *id, tac_answer *answer, size_t size, void *out)
{
    int32_t *to = NULL;
    if (!err)
        err = tac_alloc(sim->ctx, n, sizeof *to, &to);
    for (size_t i = 0; i < n && !err; i++)
        to[i] = (int32_t)rank_of(sim, id[i]);
    err = tac_ask(sim->ctx, err, n, to, id, answer, b, size, out);
    free(to);
    return err;
}

/* touched (owned vertices): what contacts give to each. */
static enum tac_err find_touched(struct tac_simulation *sim, double (*area)[3], tac_lid owned, struct touched *touched)
{
    struct tac_ctx *ctx = sim->ctx;
    const struct tac_scene *scene = tac_fields_scene(sim);
    struct block block = {0};
    struct tac_contact *list = NULL;
    tac_gid *id = NULL;
    double(*of_contact)[3] = NULL;
    size_t count = 0;
    enum tac_err err;
    TAC_TRY(share_areas(sim, area, owned, &block));
    TAC_TRY(sim->integrator->contacts(sim->state, &list, &count));
    count = keep_surfaces(list, count);
    err = tac_alloc(ctx, 4 * count + (size_t)owned, sizeof *id, &id);
    if (!err)
        err = tac_alloc(ctx, 4 * count, sizeof *of_contact, &of_contact);
    for (size_t i = 0; i < 4 * count && !err; i++)
        id[i] = list[i / 4].vertex[i % 4];
    TAC_TRY(ask_blocks(sim, err, &block, 4 * count, id, answer_area, sizeof *of_contact, of_contact));
    TAC_TRY(send_gifts(sim, list, of_contact, count, &block));
    for (tac_lid i = 0; i < owned; i++)
        id[i] = tac_scene_id(scene, i);
    TAC_TRY(ask_blocks(sim, TAC_OK, &block, (size_t)owned, id, answer_touched, sizeof *touched, touched));
done:
    free(block.area);
    free(block.touched);
    free(list);
    free(id);
    free(of_contact);
    return err;
}

/* The area that a vertex' force acts on. sum: of the sizes of its thirds of triangles. */
static double acted_on(const double area[3], double sum, const struct touched *t)
{
    const double push = sqrt(tac_dot(t->push, t->push));
    const double own = push > 0 ? fabs(tac_dot(area, t->push)) / push : 0;
    if (!(own > 0 && t->force_area > 0))
        return sum;
    const double least = 2 * t->force_area / t->force;
    const double touched = t->area > least ? t->area : least;
    return touched < own ? touched : own;
}

enum tac_err tac_fields_pressure(struct tac_simulation *sim, const struct tac_fields *fields,
                                 const struct tac_frame *frame, float *out)
{
    const struct tac_scene *scene = tac_fields_scene(sim);
    const tac_lid owned = frame->count;
    double(*area)[3] = NULL, *sum = NULL;
    struct touched *touched = NULL;
    enum tac_err err = tac_alloc(sim->ctx, (size_t)owned, sizeof *area, &area);
    if (!err)
        err = tac_alloc(sim->ctx, (size_t)owned, sizeof *sum, &sum);
    if (!err)
        err = tac_alloc(sim->ctx, (size_t)owned, sizeof *touched, &touched);
    TAC_TRY(tac_agree(sim->ctx, err));
    for (tac_lid i = 0; i < owned; i++)
        sum[i] = own_area(scene->mesh, fields, i, area[i]);
    TAC_TRY(find_touched(sim, area, owned, touched));
    for (tac_lid i = 0; i < owned; i++) {
        const float *force = &frame->contact_force[3 * (size_t)i];
        const double size =
            sqrt((double)force[0] * force[0] + (double)force[1] * force[1] + (double)force[2] * force[2]);
        const double over = acted_on(area[i], sum[i], &touched[i]);
        out[i] = over > 0 ? (float)(size / over) : 0;
    }
done:
    free(area);
    free(sum);
    free(touched);
    return err;
}
