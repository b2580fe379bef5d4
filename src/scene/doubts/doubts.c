/* doubts.c: warns about scenes that are valid but implausible: nothing keeps surfaces apart, or nothing holds a cloth
 * together. */
#include "scene/scene_read.h"

#include <stdlib.h>

/* Returns whether a body can touch itself: whether it has two elements that need not share a vertex, or two
 * particles. */
static bool meets_itself(const struct tac_body *body)
{
    const tac_lid elements = body->triangle_end - body->triangle_begin + body->segment_end - body->segment_begin;
    return body->self_contact && (body->has_elements ? elements > 2 : body->vertex_end - body->vertex_begin > 1);
}

static void doubt_contact(struct tac_reader *reader)
{
    const struct tac_scene *s = reader->scene;
    const struct tac_body *moving = NULL, *self = NULL;
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        const struct tac_body *body = &s->settings->body[b];
        moving = moving != NULL || body->fixed ? moving : body;
        self = self != NULL || body->fixed || !meets_itself(body) ? self : body;
    }
    if (moving == NULL || (s->settings->body_count == 1 && self == NULL))
        return;
    tac_scene_warn(reader, "contact",
                   "has no thickness, so there is no contact: nothing keeps %s\"%.60s\" from passing through %s; give "
                   "contact.thickness a length, or 0 if that is meant",
                   s->settings->body_count == 1 ? "parts of " : "bodies such as ", moving->name,
                   s->settings->body_count == 1 ? "each other"
                   : self != NULL               ? "each other and through themselves"
                                                : "each other");
}

/* Returns whether any vertex of the body is free at some time. */
static void see_free(const struct tac_reader *reader, uint8_t *is_free)
{
    const struct tac_scene *s = reader->scene;
    for (tac_lid b = 0; b < s->settings->body_count; b++)
        for (tac_lid i = reader->rows[b][TAC_VERTICES].begin; i < reader->rows[b][TAC_VERTICES].end; i++)
            is_free[b] |= s->mesh->ever_free[i];
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, is_free, s->settings->body_count, MPI_UINT8_T, MPI_MAX, reader->ctx->comm);
}

static void doubt_cloth(struct tac_reader *reader, const uint8_t *is_free)
{
    const struct tac_scene *s = reader->scene;
    tac_lid first = -1, count = 0;
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        const struct tac_body *body = &s->settings->body[b];
        const bool stretches =
            body->rigid >= 0 || body->tetrahedron_end > body->tetrahedron_begin ||
            (body->material >= 0 && s->settings->material[body->material].stretch_model != TAC_STRETCH_NONE);
        if (body->triangle_end == body->triangle_begin || !is_free[b] || stretches)
            continue;
        first = first < 0 ? b : first;
        count++;
    }
    if (count == 0)
        return;
    char where[TAC_WHERE], more[48] = "";
    const struct tac_body *body = &s->settings->body[first];
    tac_where_index(where, "bodies", (size_t)first);
    if (count > 1)
        snprintf(more, sizeof more, " (and %d bodies more)", (int)(count - 1));
    if (body->material >= 0)
        tac_scene_warn(reader, where,
                       "\"%.60s\"%s has triangles and is free, but nothing holds it together: each of its vertices "
                       "moves by itself; give materials.%.60s a \"stretch\"",
                       body->name, more, s->settings->material[body->material].name);
    else
        tac_scene_warn(reader, where,
                       "\"%.60s\"%s has triangles and is free, but nothing holds it together: each of its vertices "
                       "moves by itself; give it a material with a \"stretch\"",
                       body->name, more);
}

enum tac_err tac_scene_doubts(struct tac_reader *reader, bool sets_thickness)
{
    uint8_t *is_free = NULL;
    enum tac_err err = tac_alloc(reader->ctx, (size_t)reader->scene->settings->body_count, 1, &is_free);
    TAC_TRY(tac_reader_agree(reader, err));
    if (!sets_thickness)
        doubt_contact(reader);
    see_free(reader, is_free);
    doubt_cloth(reader, is_free);
    TAC_TRY(tac_scene_doubt_numbers(reader, is_free));
done:
    free(is_free);
    return err;
}
