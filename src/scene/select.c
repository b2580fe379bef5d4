/* select.c: selects the vertices of a body that a motion or a load acts on. */
#include "base/compare.h"
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct tac_field selection_fields[] = {
    {.key = "box", .kind = TAC_FIELD_OTHER, .required = true},
};

/* Points of joints are selected with all of a body alone, if at all: they are the last rows of their bodies, which no
 * rank reads in parts. */
static struct tac_rows rows_of_mesh(const struct tac_reader *reader, tac_lid index)
{
    struct tac_rows rows = reader->rows[index][TAC_VERTICES];
    const struct tac_body *body = &reader->scene->settings->body[index];
    rows.end -= body->vertex_end - tac_body_mesh_end(body);
    return rows;
}

/* Selections list vertices of the rows that are here, by their ids in the scene. */
static enum tac_err select_all(struct tac_reader *reader, tac_lid index, struct tac_selection *selection)
{
    const struct tac_rows rows = rows_of_mesh(reader, index);
    const tac_lid first = reader->scene->settings->body[index].vertex_begin + rows.number,
                  points = selection->points ? reader->scene->settings->body[index].anchors : 0,
                  count = rows.end - rows.begin + points;
    enum tac_err err = tac_alloc(reader->ctx, (size_t)count, sizeof(tac_lid), &selection->vertex);
    if (err)
        return err;
    for (tac_lid i = 0; i < count; i++)
        selection->vertex[selection->count++] = first + i;
    return TAC_OK;
}

static enum tac_err select_indices(struct tac_reader *reader, const json_t *list, const char *where, tac_lid body_index,
                                   struct tac_selection *selection)
{
    const struct tac_body *body = &reader->scene->settings->body[body_index];
    const struct tac_rows rows = rows_of_mesh(reader, body_index);
    const tac_lid first = body->vertex_begin + rows.number, end = first + rows.end - rows.begin;
    tac_lid kept = 0;
    enum tac_err err = TAC_OK;
    size_t count = json_array_size(list);
    const tac_lid vertices = tac_body_mesh_end(body) - body->vertex_begin;
    if (count == 0)
        TAC_TRY(tac_scene_fail(reader, where, "is empty; leave the %s out or select vertices", selection->what));
    if (count > (size_t)vertices)
        TAC_TRY(tac_scene_fail(reader, where, "lists %zu indices, but the body has only %d vertices", count,
                               (int)vertices));
    TAC_TRY(tac_alloc(reader->ctx, count, sizeof(tac_lid), &selection->vertex));
    for (size_t i = 0; i < count; i++) {
        char place[TAC_WHERE];
        int64_t index;
        tac_where_index(place, where, i);
        TAC_TRY(tac_integer(reader, json_array_get(list, i), place, 0, vertices - 1, &index));
        selection->vertex[selection->count++] = body->vertex_begin + (tac_lid)index;
    }
    qsort(selection->vertex, count, sizeof(tac_lid), tac_compare_int32);
    for (size_t i = 1; i < count; i++)
        if (selection->vertex[i] == selection->vertex[i - 1])
            TAC_TRY(tac_scene_fail(reader, where, "lists vertex %d twice; list it once",
                                   (int)(selection->vertex[i] - body->vertex_begin)));
    for (size_t i = 0; i < count; i++)
        if (selection->vertex[i] >= first && selection->vertex[i] < end)
            selection->vertex[kept++] = selection->vertex[i];
    selection->count = kept;
done:
    return err;
}

static enum tac_err read_box(struct tac_reader *reader, json_t *object, const char *where,
                             struct tac_selection *selection, char box_where[TAC_WHERE], double corner[2][3])
{
    char place[TAC_WHERE];
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_fields_read(reader, object, where, selection_fields, COUNT(selection_fields), selection));
    tac_where(box_where, where, "box");
    json_t *box = json_object_get(object, "box");
    if (!json_is_array(box) || json_array_size(box) != 2)
        TAC_TRY(tac_scene_fail(reader, box_where, "must be [[x, y, z], [x, y, z]]: the low and the high corner"));
    for (size_t i = 0; i < 2; i++) {
        tac_where_index(place, box_where, i);
        TAC_TRY(tac_vector(reader, json_array_get(box, i), place, corner[i]));
    }
    for (int k = 0; k < 3; k++)
        if (corner[0][k] > corner[1][k])
            TAC_TRY(tac_scene_fail(reader, box_where, "has its low %c = %s above its high %c = %s", 'x' + k,
                                   tac_shown(corner[0][k]).text, 'x' + k, tac_shown(corner[1][k]).text));
done:
    return err;
}

static enum tac_err select_box(struct tac_reader *reader, json_t *object, const char *where, tac_lid index,
                               struct tac_selection *selection)
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_body *body = &scene->settings->body[index];
    const struct tac_rows rows = rows_of_mesh(reader, index);
    const tac_lid first = body->vertex_begin + rows.number;
    char box_where[TAC_WHERE];
    double corner[2][3];
    int64_t found;
    enum tac_err err = read_box(reader, object, where, selection, box_where, corner);
    if (err == TAC_OK)
        err = tac_alloc(reader->ctx, (size_t)(rows.end - rows.begin), sizeof(tac_lid), &selection->vertex);
    TAC_TRY(tac_reader_agree(reader, err));
    for (tac_lid i = rows.begin; i < rows.end; i++) {
        const double *x = body->rest != NULL ? body->rest + 3 * (size_t)(rows.number + i - rows.begin)
                                             : scene->mesh->x + 3 * (size_t)i;
        bool inside = true;
        for (int k = 0; k < 3; k++)
            inside = inside && corner[0][k] <= x[k] && x[k] <= corner[1][k];
        if (inside)
            selection->vertex[selection->count++] = first + i - rows.begin;
    }
    found = selection->count;
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT64_T, MPI_SUM, reader->ctx->comm);
    if (found == 0)
        TAC_TRY(tac_scene_fail(reader, box_where,
                               "holds no vertex of \"%.60s\"; it is in world coordinates, after the body is placed",
                               body->name));
done:
    return err;
}

enum tac_err tac_scene_select(struct tac_reader *reader, json_t *object, const char *where, tac_lid body,
                              struct tac_selection *selection)
{
    char place[TAC_WHERE];
    json_t *value = json_object_get(object, "vertices");
    tac_where(place, where, "vertices");
    if (value == NULL) {
        value = json_string("all");
        if (json_object_set_new(object, "vertices", value) != 0)
            return tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
    }
    if (json_is_object(value))
        return select_box(reader, value, place, body, selection);
    if (json_is_array(value))
        return select_indices(reader, value, place, body, selection);
    if (json_is_string(value) && strcmp(json_string_value(value), "all") == 0)
        return select_all(reader, body, selection);
    return tac_scene_fail(reader, place, "must be \"all\", an array of indices, or {\"box\": [[x, y, z], [x, y, z]]}");
}
