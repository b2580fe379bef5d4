/* motion.c: the scripts of a scene, and which vertices are ever free. */
#include "read.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define MOST_DEGREES 3600000.0 /* of one rotation: it is cut into pieces of a degree, which must be stored */

static const struct tac_field motion_fields[] = {
    {.key = "body", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "vertices", .kind = TAC_FIELD_OTHER},
    {.key = "path", .kind = TAC_FIELD_OTHER},
    {.key = "rotate", .kind = TAC_FIELD_OTHER},
    {.key = "release", .kind = TAC_FIELD_BOOL, .offset = offsetof(struct tac_motion, release)},
};

static const struct tac_field rotate_fields[] = {
    {.key = "axis",
     .kind = TAC_FIELD_VECTOR,
     .offset = offsetof(struct tac_motion, axis),
     .max = INFINITY,
     .required = true},
    {.key = "center", .kind = TAC_FIELD_VECTOR, .offset = offsetof(struct tac_motion, center), .max = TAC_FARTHEST},
    {.key = "path", .kind = TAC_FIELD_OTHER, .required = true},
};

static const struct tac_field selection_fields[] = {
    {.key = "box", .kind = TAC_FIELD_OTHER, .required = true},
};

/* Selections list vertices of the rows that are here, by their ids in the scene. */
static enum tac_err select_all(struct tac_reader *reader, tac_lid index, struct tac_motion *motion)
{
    const struct tac_rows rows = reader->rows[index][TAC_VERTICES];
    const tac_lid first = reader->scene->body[index].vertex_begin + rows.number, count = rows.end - rows.begin;
    enum tac_err err = tac_alloc(reader->ctx, (size_t)count, sizeof(tac_lid), &motion->vertex);
    if (err)
        return err;
    for (tac_lid i = 0; i < count; i++)
        motion->vertex[motion->vertex_count++] = first + i;
    return TAC_OK;
}

static int by_id(const void *a, const void *b)
{
    const tac_lid *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

static enum tac_err select_indices(struct tac_reader *reader, const json_t *list, const char *where, tac_lid body_index,
                                   struct tac_motion *motion)
{
    const struct tac_body *body = &reader->scene->body[body_index];
    const struct tac_rows rows = reader->rows[body_index][TAC_VERTICES];
    const tac_lid first = body->vertex_begin + rows.number, end = first + rows.end - rows.begin;
    tac_lid kept = 0;
    enum tac_err err = TAC_OK;
    size_t count = json_array_size(list);
    tac_lid vertices = body->vertex_end - body->vertex_begin;
    if (count == 0)
        TAC_TRY(tac_scene_fail(reader, where, "is empty; leave the motion out or select vertices"));
    if (count > (size_t)vertices)
        TAC_TRY(tac_scene_fail(reader, where, "lists %zu indices, but the body has only %d vertices", count,
                               (int)vertices));
    TAC_TRY(tac_alloc(reader->ctx, count, sizeof(tac_lid), &motion->vertex));
    for (size_t i = 0; i < count; i++) {
        char place[TAC_WHERE];
        int64_t index;
        tac_where_index(place, where, i);
        TAC_TRY(tac_integer(reader, json_array_get(list, i), place, 0, vertices - 1, &index));
        motion->vertex[motion->vertex_count++] = body->vertex_begin + (tac_lid)index;
    }
    qsort(motion->vertex, count, sizeof(tac_lid), by_id);
    for (size_t i = 1; i < count; i++)
        if (motion->vertex[i] == motion->vertex[i - 1])
            TAC_TRY(tac_scene_fail(reader, where, "lists vertex %d twice; list it once",
                                   (int)(motion->vertex[i] - body->vertex_begin)));
    for (size_t i = 0; i < count; i++)
        if (motion->vertex[i] >= first && motion->vertex[i] < end)
            motion->vertex[kept++] = motion->vertex[i];
    motion->vertex_count = kept;
done:
    return err;
}

static enum tac_err read_box(struct tac_reader *reader, json_t *object, const char *where, struct tac_motion *motion,
                             char box_where[TAC_WHERE], double corner[2][3])
{
    char place[TAC_WHERE];
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_fields_read(reader, object, where, selection_fields, COUNT(selection_fields), motion));
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
                               struct tac_motion *motion)
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_body *body = &scene->body[index];
    const struct tac_rows rows = reader->rows[index][TAC_VERTICES];
    const tac_lid first = body->vertex_begin + rows.number;
    char box_where[TAC_WHERE];
    double corner[2][3];
    int64_t found;
    enum tac_err err = read_box(reader, object, where, motion, box_where, corner);
    if (err == TAC_OK)
        err = tac_alloc(reader->ctx, (size_t)(rows.end - rows.begin), sizeof(tac_lid), &motion->vertex);
    TAC_TRY(tac_reader_agree(reader, err));
    for (tac_lid i = rows.begin; i < rows.end; i++) {
        const double *x = scene->x + 3 * (size_t)i;
        bool inside = true;
        for (int k = 0; k < 3; k++)
            inside = inside && corner[0][k] <= x[k] && x[k] <= corner[1][k];
        if (inside)
            motion->vertex[motion->vertex_count++] = first + i - rows.begin;
    }
    found = motion->vertex_count;
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT64_T, MPI_SUM, reader->ctx->comm);
    if (found == 0)
        TAC_TRY(tac_scene_fail(reader, box_where,
                               "holds no vertex of \"%.60s\"; it is in world coordinates, after the body is placed",
                               body->name));
done:
    return err;
}

static enum tac_err select_vertices(struct tac_reader *reader, json_t *object, const char *where, tac_lid body,
                                    struct tac_motion *motion)
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
        return select_box(reader, value, place, body, motion);
    if (json_is_array(value))
        return select_indices(reader, value, place, body, motion);
    if (json_is_string(value) && strcmp(json_string_value(value), "all") == 0)
        return select_all(reader, body, motion);
    return tac_scene_fail(reader, place, "must be \"all\", an array of indices, or {\"box\": [[x, y, z], [x, y, z]]}");
}

/* One knot [t, value]: t to knot_t_s, strictly after the one before in quanta; the value's JSON to *out. */
static enum tac_err read_knot(struct tac_reader *reader, const json_t *knot, const char *where,
                              struct tac_motion *motion, const json_t **out)
{
    const struct tac_scene *scene = reader->scene;
    char place[TAC_WHERE];
    double t;
    enum tac_err err = TAC_OK;
    if (!json_is_array(knot) || json_array_size(knot) != 2)
        TAC_TRY(tac_scene_fail(reader, where, "must be an array of two: the time and %s",
                               motion->degrees ? "the angle in degrees" : "the displacement [x, y, z]"));
    tac_where_index(place, where, 0);
    TAC_TRY(tac_number(reader, json_array_get(knot, 0), place, &t));
    if (t < 0)
        TAC_TRY(tac_scene_fail(reader, place, "is %s; a knot must not lie before t = 0", tac_shown(t).text));
    if (tac_scene_quanta(scene, t) == TAC_TIME_NEVER)
        TAC_TRY(tac_scene_fail(reader, place, "is %s s, over 2^53 quanta of %s s; choose an earlier time",
                               tac_shown(t).text, tac_shown(scene->quantum_s).text));
    if (motion->knot_count > 0) {
        double before = motion->knot_t_s[motion->knot_count - 1];
        if (tac_scene_quanta(scene, t) <= tac_scene_quanta(scene, before))
            TAC_TRY(tac_scene_fail(reader, place,
                                   "is %s after %s; times of knots must ascend, by more than a quantum of %s s",
                                   tac_shown(t).text, tac_shown(before).text, tac_shown(scene->quantum_s).text));
    }
    motion->knot_t_s[motion->knot_count++] = t;
    *out = json_array_get(knot, 1);
done:
    return err;
}

static enum tac_err start_knots(struct tac_reader *reader, const json_t *path, const char *where, size_t width,
                                struct tac_motion *motion, double **values)
{
    enum tac_err err = TAC_OK;
    if (!json_is_array(path))
        TAC_TRY(tac_scene_fail(reader, where, "must be an array of knots, not %s", tac_json_type(path)));
    size_t count = json_array_size(path);
    if (count == 0)
        TAC_TRY(tac_scene_fail(reader, where, "is empty; one knot pins, more knots move"));
    if (count > TAC_MOST_ELEMENTS)
        TAC_TRY(tac_scene_fail(reader, where, "has too many knots"));
    TAC_TRY(tac_alloc(reader->ctx, count, sizeof *motion->knot_t_s, &motion->knot_t_s));
    TAC_TRY(tac_alloc(reader->ctx, width * count, sizeof **values, values));
done:
    return err;
}

static enum tac_err read_path(struct tac_reader *reader, const json_t *path, const char *where,
                              struct tac_motion *motion)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(start_knots(reader, path, where, 3, motion, &motion->displacement));
    for (size_t i = 0; i < json_array_size(path); i++) {
        char knot_where[TAC_WHERE], place[TAC_WHERE];
        const json_t *value;
        double *u = motion->displacement + 3 * i;
        tac_where_index(knot_where, where, i);
        TAC_TRY(read_knot(reader, json_array_get(path, i), knot_where, motion, &value));
        tac_where_index(place, knot_where, 1);
        TAC_TRY(tac_vector(reader, value, place, u));
        for (int k = 0; k < 3; k++)
            if (fabs(u[k]) > TAC_FARTHEST)
                TAC_TRY(tac_scene_fail(reader, place, "must stay within %g m", TAC_FARTHEST));
        if (i == 0 && (u[0] != 0 || u[1] != 0 || u[2] != 0))
            TAC_TRY(tac_scene_fail(reader, place, "is [%s, %s, %s]; a path must start at displacement [0, 0, 0]",
                                   tac_shown(u[0]).text, tac_shown(u[1]).text, tac_shown(u[2]).text));
        if (u[2] != 0)
            reader->leaves_plane = true;
    }
done:
    return err;
}

static enum tac_err read_angles(struct tac_reader *reader, const json_t *path, const char *where,
                                struct tac_motion *motion)
{
    const struct tac_scene *scene = reader->scene;
    double turned = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(start_knots(reader, path, where, 1, motion, &motion->degrees));
    for (size_t i = 0; i < json_array_size(path); i++) {
        char knot_where[TAC_WHERE], place[TAC_WHERE];
        const json_t *value;
        double *degrees = motion->degrees;
        tac_where_index(knot_where, where, i);
        TAC_TRY(read_knot(reader, json_array_get(path, i), knot_where, motion, &value));
        tac_where_index(place, knot_where, 1);
        TAC_TRY(tac_number(reader, value, place, &degrees[i]));
        if (i == 0 && degrees[0] != 0)
            TAC_TRY(
                tac_scene_fail(reader, place, "is %s; a rotation must start at 0 degrees", tac_shown(degrees[0]).text));
        double step = i ? fabs(degrees[i] - degrees[i - 1]) : 0;
        turned += step;
        if (!(turned <= MOST_DEGREES))
            TAC_TRY(tac_scene_fail(reader, place, "turns by more than %g degrees in all; turn less", MOST_DEGREES));
        if (i && step > (double)(tac_scene_quanta(scene, motion->knot_t_s[i]) -
                                 tac_scene_quanta(scene, motion->knot_t_s[i - 1])))
            TAC_TRY(tac_scene_fail(reader, place, "turns by more than a degree in a quantum; turn more slowly"));
    }
done:
    return err;
}

static enum tac_err read_rotate(struct tac_reader *reader, json_t *rotate, const char *where, struct tac_motion *motion)
{
    char place[TAC_WHERE];
    double *axis = motion->axis, largest = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_fields_read(reader, rotate, where, rotate_fields, COUNT(rotate_fields), motion));
    for (int k = 0; k < 3; k++)
        largest = fmax(largest, fabs(axis[k]));
    if (largest == 0) {
        tac_where(place, where, "axis");
        TAC_TRY(tac_scene_fail(reader, place, "is [0, 0, 0]; give a direction"));
    }
    for (int k = 0; k < 3; k++)
        axis[k] /= largest; /* first, so that no square leaves the range of double */
    double length = sqrt(tac_dot(axis, axis));
    for (int k = 0; k < 3; k++)
        axis[k] /= length;
    if (axis[0] != 0 || axis[1] != 0)
        reader->leaves_plane = true;
    tac_where(place, where, "path");
    TAC_TRY(read_angles(reader, json_object_get(rotate, "path"), place, motion));
done:
    return err;
}

/* A vertex is free at some time if it is neither fixed nor scripted for ever. */
static enum tac_err claim_vertices(struct tac_reader *reader, tac_lid body_index, size_t index)
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_body *body = &scene->body[body_index];
    const struct tac_motion *motion = &scene->motion[index];
    const struct tac_rows rows = reader->rows[body_index][TAC_VERTICES];
    for (tac_lid k = 0; k < motion->vertex_count; k++) {
        const tac_lid number = motion->vertex[k] - body->vertex_begin, row = rows.begin + number - rows.number;
        char where[TAC_WHERE];
        tac_where_index(where, "motions", index);
        if (reader->motion[row] >= 0)
            return tac_scene_fail(
                reader, where,
                "moves vertex %d of \"%.60s\", which motions[%d] moves already; a vertex has at most one motion",
                (int)number, body->name, (int)reader->motion[row]);
        reader->motion[row] = (tac_lid)index;
        if (!motion->release)
            scene->ever_free[row] = 0;
    }
    return TAC_OK;
}

static enum tac_err start_free(struct tac_reader *reader)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(reader->ctx, (size_t)scene->vertex_count, 1, &scene->ever_free));
    TAC_TRY(tac_alloc(reader->ctx, (size_t)scene->vertex_count, sizeof *reader->motion, &reader->motion));
    for (tac_lid i = 0; i < scene->vertex_count; i++) {
        scene->ever_free[i] = !scene->body[scene->vertex_body[i]].fixed;
        reader->motion[i] = -1;
    }
done:
    return err;
}

static enum tac_err read_motion(struct tac_reader *reader, json_t *object, size_t index, struct tac_motion *motion)
{
    char where[TAC_WHERE], place[TAC_WHERE];
    tac_lid body_index;
    enum tac_err err = TAC_OK;
    tac_where_index(where, "motions", index);
    TAC_TRY(tac_fields_read(reader, object, where, motion_fields, COUNT(motion_fields), motion));
    tac_where(place, where, "body");
    TAC_TRY(tac_scene_find_body(reader, json_object_get(object, "body"), place, &body_index));
    const struct tac_body *body = &reader->scene->body[body_index];
    if (body->fixed)
        TAC_TRY(tac_scene_fail(reader, where, "moves \"%.60s\", which is fixed; leave out the motion or \"fixed\"",
                               body->name));
    TAC_TRY(select_vertices(reader, object, where, body_index, motion));
    TAC_TRY(tac_reader_agree(reader, claim_vertices(reader, body_index, index)));
    json_t *path = json_object_get(object, "path"), *rotate = json_object_get(object, "rotate");
    if ((path == NULL) == (rotate == NULL))
        TAC_TRY(tac_scene_fail(reader, where, "must have either \"path\" or \"rotate\"%s", path ? ", not both" : ""));
    tac_where(place, where, path ? "path" : "rotate");
    TAC_TRY(path ? read_path(reader, path, place, motion) : read_rotate(reader, rotate, place, motion));
done:
    return err;
}

enum tac_err tac_scene_read_motions(struct tac_reader *reader, json_t *root)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    json_t *motions;
    TAC_TRY(tac_list(reader, root, "", "motions", &motions));
    size_t count = json_array_size(motions);
    if (count > TAC_MOST_ELEMENTS)
        TAC_TRY(tac_scene_fail(reader, "motions", "has too many elements"));
    TAC_TRY(tac_alloc(reader->ctx, count, sizeof *scene->motion, &scene->motion));
    TAC_TRY(start_free(reader));
    for (size_t i = 0; i < count; i++) {
        scene->motion_count++;
        TAC_TRY(read_motion(reader, json_array_get(motions, i), i, &scene->motion[i]));
    }
done:
    return err;
}
