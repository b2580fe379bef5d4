/* shrink.c: shrinks closed bodies about a point in them until nothing crosses them.
 *
 * Of two bodies that overlap, the one shrinks that cannot give way, or else the one that is closed.  It keeps as much
 * of its size as it can: of the factors 0.9, 0.75, 1/2, 1/4 ... the first that leaves it without overlaps.  The point
 * is the mean of its vertices, or one a quarter of its extent beside that, for a surface that cuts it in half.
 */
#include "repair/repair_room.h"
#include <math.h>
#include <string.h>
#include <tactus/math.h>

static const double FACTOR[] = {.9, .75, .5, .25, .125, .0625, .03125, .015625};
enum { FACTORS = sizeof FACTOR / sizeof FACTOR[0], POINTS = 7 };

/* Which of the bodies of an overlap shrinks; -1: none can, and `why` says why. */
static tac_lid choose(struct tac_repair *r, const struct tac_overlap *o)
{
    const struct tac_body *body = r->scene->settings->body;
    const tac_lid a = o->body[0], b = o->body[1];
    if (r->shrunk[a] || r->shrunk[b])
        return r->shrunk[a] ? a : b;
    if (a == b) {
        snprintf(r->why, sizeof r->why, "\"%.60s\" crosses itself by more than a push can part; repair its mesh",
                 body[a].name);
        return -1;
    }
    if (!r->loose[a] && !r->loose[b]) {
        snprintf(r->why, sizeof r->why,
                 "\"%.60s\" and \"%.60s\" overlap, and neither can give way: they are rigid, fixed or moved by "
                 "motions; move one of them",
                 body[a].name, body[b].name);
        return -1;
    }
    const tac_lid one = !r->loose[a] ? a : !r->loose[b] ? b : r->closed[a] ? a : b;
    if (r->closed[one])
        return one;
    snprintf(r->why, sizeof r->why,
             "\"%.60s\" and \"%.60s\" cross by more than a push can part, and \"%.60s\" is no closed surface, which "
             "could shrink and grow again",
             body[a].name, body[b].name, body[one].name);
    return -1;
}

/* The point about which the body shrinks. */
static void find_point(const struct tac_repair *r, tac_lid b, int which, double out[3])
{
    const struct tac_body *body = &r->scene->settings->body[b];
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const tac_lid end = tac_body_mesh_end(body);
    out[0] = out[1] = out[2] = 0;
    for (tac_lid v = body->vertex_begin; v < end; v++)
        for (int c = 0; c < 3; c++) {
            const double x = r->placed[3 * (size_t)v + (size_t)c];
            out[c] += x / (end - body->vertex_begin);
            low[c] = fmin(low[c], x);
            high[c] = fmax(high[c], x);
        }
    if (which > 0)
        out[(which - 1) % 3] += (which > 3 ? -.25 : .25) * (high[(which - 1) % 3] - low[(which - 1) % 3]);
}

static void place(struct tac_repair *r, tac_lid b, double factor, const double point[3])
{
    const struct tac_body *body = &r->scene->settings->body[b];
    for (tac_lid v = body->vertex_begin; v < tac_body_mesh_end(body); v++)
        for (size_t c = 0; c < 3; c++)
            r->scene->mesh->x[3 * (size_t)v + c] = point[c] + factor * (r->placed[3 * (size_t)v + c] - point[c]);
}

static enum tac_err is_clear(struct tac_repair *r, tac_lid b, bool *clear)
{
    struct tac_overlaps *all = NULL;
    const enum tac_err err = tac_repair_look(r, &all);
    *clear = !err && !all->more;
    for (size_t i = 0; !err && i < all->count && *clear; i++)
        *clear = all->overlap[i].body[0] != b && all->overlap[i].body[1] != b;
    tac_overlap_destroy(&all);
    return err;
}

static enum tac_err shrink_one(struct tac_repair *r, tac_lid b, bool *clear)
{
    enum tac_err err = TAC_OK;
    *clear = false;
    for (int f = 0; f < FACTORS && !*clear; f++)
        for (int k = 0; k < POINTS && !*clear; k++) {
            double point[3];
            find_point(r, b, k, point);
            place(r, b, FACTOR[f], point);
            TAC_TRY(is_clear(r, b, clear));
        }
    if (!*clear)
        snprintf(r->why, sizeof r->why, "\"%.60s\" is crossed even when it is shrunk to %g of its size",
                 r->scene->settings->body[b].name, FACTOR[FACTORS - 1]);
done:
    return err;
}

enum tac_err tac_repair_shrink(struct tac_repair *r, const struct tac_overlaps *overlaps, bool *done)
{
    const struct tac_settings *s = r->scene->settings;
    enum tac_err err = TAC_OK;
    *done = false;
    for (size_t i = 0; i < overlaps->count; i++) {
        const tac_lid b = choose(r, &overlaps->overlap[i]);
        if (b < 0)
            return TAC_OK;
        r->shrunk[b] = 1;
    }
    for (tac_lid b = 0; b < s->body_count; b++) {
        bool clear = true;
        if (r->shrunk[b])
            TAC_TRY(shrink_one(r, b, &clear));
        if (!clear)
            return TAC_OK;
    }
    memcpy(r->small, r->scene->mesh->x, 3 * (size_t)r->scene->mesh->vertex_count * sizeof *r->small);
    *done = true;
done:
    return err;
}
