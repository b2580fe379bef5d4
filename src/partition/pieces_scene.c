/* pieces_scene.c: what a local scene has from the whole one as it is: settings, bodies, materials, scripts. */
#include "partition/pieces.h"

#include <stdlib.h>
#include <string.h>

/* A copy of `count` values, or NULL for NULL. */
static enum tac_err copy(struct tac_ctx *ctx, const void *from, size_t count, size_t size, void *out)
{
    void *to = NULL;
    enum tac_err err = TAC_OK;
    if (from != NULL) {
        TAC_TRY(tac_alloc(ctx, count, size, &to));
        memcpy(to, from, count * size);
    }
done:
    memcpy(out, &to, sizeof to);
    return err;
}

static enum tac_err copy_text(struct tac_ctx *ctx, const char *from, char **out)
{
    return copy(ctx, from, from ? strlen(from) + 1 : 0, 1, out);
}

static enum tac_err copy_motion(struct tac_ctx *ctx, const struct tac_motion *from, struct tac_motion *to)
{
    const size_t knots = (size_t)from->knot_count;
    enum tac_err err = TAC_OK;
    *to = *from;
    to->vertex_count = 0;
    to->vertex = NULL;
    to->knot_t_s = to->displacement = to->degrees = NULL;
    TAC_TRY(copy(ctx, from->knot_t_s, knots, sizeof(double), &to->knot_t_s));
    TAC_TRY(copy(ctx, from->displacement, 3 * knots, sizeof(double), &to->displacement));
    TAC_TRY(copy(ctx, from->degrees, knots, sizeof(double), &to->degrees));
done:
    return err;
}

static enum tac_err copy_load(struct tac_ctx *ctx, const struct tac_load *from, struct tac_load *to)
{
    const size_t knots = (size_t)from->knot_count;
    enum tac_err err = TAC_OK;
    *to = *from;
    to->knot_t_s = to->factor = NULL;
    TAC_TRY(copy(ctx, from->knot_t_s, knots, sizeof(double), &to->knot_t_s));
    TAC_TRY(copy(ctx, from->factor, knots, sizeof(double), &to->factor));
done:
    return err;
}

/* Forgets what the copy must not share, so that it can be destroyed at any time. */
static void forget_owned(struct tac_scene *s)
{
    s->name = s->path = NULL;
    s->json = NULL;
    s->row_digest.value = NULL;
    s->row_digest.count = 0;
    s->contact.ignore = NULL;
    s->contact.law = NULL;
    s->material = NULL;
    s->body = NULL;
    s->motion = NULL;
    s->load = NULL;
    s->load_set = NULL;
    s->vertex_load = NULL;
    s->load_count = s->load_set_count = 0;
    s->material_count = s->body_count = s->motion_count = 0;
    s->x = s->v = s->mass = NULL;
    s->ever_free = NULL;
    s->vertex_body = s->triangle = s->segment = NULL;
    s->topology = NULL;
    s->part = NULL;
    s->vertex_count = s->triangle_count = s->segment_count = 0;
}

enum tac_err tac_scene_copy_common(struct tac_ctx *ctx, const struct tac_scene *common, struct tac_scene **out)
{
    struct tac_scene *s = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *s, &s));
    *s = *common;
    forget_owned(s);
    s->json = json_incref(common->json);
    TAC_TRY(copy_text(ctx, common->name, &s->name));
    TAC_TRY(copy_text(ctx, common->path, &s->path));
    TAC_TRY(copy(ctx, common->contact.law, (size_t)common->contact.law_count, sizeof *s->contact.law, &s->contact.law));
    TAC_TRY(copy(ctx, common->contact.ignore, 2 * (size_t)common->contact.ignore_count, sizeof(tac_lid),
                 &s->contact.ignore));
    TAC_TRY(tac_alloc(ctx, (size_t)common->material_count, sizeof *s->material, &s->material));
    for (tac_lid i = 0; i < common->material_count; i++) {
        s->material[i] = common->material[i];
        s->material_count++;
        TAC_TRY(copy_text(ctx, common->material[i].name, &s->material[i].name));
    }
    TAC_TRY(tac_alloc(ctx, (size_t)common->body_count, sizeof *s->body, &s->body));
    for (tac_lid i = 0; i < common->body_count; i++) {
        s->body[i] = common->body[i];
        s->body_count++;
        TAC_TRY(copy_text(ctx, common->body[i].name, &s->body[i].name));
    }
    TAC_TRY(tac_alloc(ctx, (size_t)common->motion_count, sizeof *s->motion, &s->motion));
    for (tac_lid i = 0; i < common->motion_count; i++) {
        s->motion_count++;
        TAC_TRY(copy_motion(ctx, &common->motion[i], &s->motion[i]));
    }
    TAC_TRY(tac_alloc(ctx, (size_t)common->load_count, sizeof *s->load, &s->load));
    for (tac_lid i = 0; i < common->load_count; i++) {
        s->load_count++;
        TAC_TRY(copy_load(ctx, &common->load[i], &s->load[i]));
    }
    TAC_TRY(copy(ctx, common->load_set, (size_t)common->load_set_count, sizeof *s->load_set, &s->load_set));
    s->load_set_count = common->load_set_count;
    *out = s;
    s = NULL;
done:
    tac_scene_destroy(&s);
    return err;
}
