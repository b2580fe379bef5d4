/* motion.c: reads the scripts of a scene, and finds which vertices are ever free. */
#include "scene/scene_read.h"

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
    {.key = "positions", .kind = TAC_FIELD_OTHER},
    {.key = "follow", .kind = TAC_FIELD_OTHER},
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

/* The time of a knot, s; before: that of the one before it, or NULL. */
static enum tac_err read_time(struct tac_reader *reader, const json_t *value, const char *where, const double *before,
                              double *t)
{
    const struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_number(reader, value, where, t));
    if (*t < 0)
        TAC_TRY(tac_scene_fail(reader, where, "is %s; a knot must not lie before t = 0", tac_shown(*t).text));
    if (tac_scene_quanta(scene, *t) == TAC_TIME_NEVER)
        TAC_TRY(tac_scene_fail(reader, where, "is %s s, over 2^53 quanta of %s s; choose an earlier time",
                               tac_shown(*t).text, tac_shown(scene->settings->quantum_s).text));
    if (before != NULL && tac_scene_quanta(scene, *t) <= tac_scene_quanta(scene, *before))
        TAC_TRY(
            tac_scene_fail(reader, where, "is %s after %s; times of knots must ascend, by more than a quantum of %s s",
                           tac_shown(*t).text, tac_shown(*before).text, tac_shown(scene->settings->quantum_s).text));
done:
    return err;
}

enum tac_err tac_scene_knot(struct tac_reader *reader, const json_t *knot, const char *where, const char *what,
                            double *knot_t_s, tac_lid *count, const json_t **value)
{
    char place[TAC_WHERE];
    enum tac_err err = TAC_OK;
    if (!json_is_array(knot) || json_array_size(knot) != 2)
        TAC_TRY(tac_scene_fail(reader, where, "must be an array of two: the time and %s", what));
    tac_where_index(place, where, 0);
    TAC_TRY(read_time(reader, json_array_get(knot, 0), place, *count > 0 ? &knot_t_s[*count - 1] : NULL,
                      &knot_t_s[*count]));
    (*count)++;
    *value = json_array_get(knot, 1);
done:
    return err;
}

enum tac_err tac_scene_knots(struct tac_reader *reader, const json_t *path, const char *where, const char *empty,
                             size_t width, double **knot_t_s, double **value)
{
    enum tac_err err = TAC_OK;
    if (!json_is_array(path))
        TAC_TRY(tac_scene_fail(reader, where, "must be an array of knots, not %s", tac_json_type(path)));
    size_t count = json_array_size(path);
    if (count == 0)
        TAC_TRY(tac_scene_fail(reader, where, "is empty; %s", empty));
    if (count > TAC_MOST_ELEMENTS)
        TAC_TRY(tac_scene_fail(reader, where, "has too many knots"));
    TAC_TRY(tac_alloc(reader->ctx, count, sizeof **knot_t_s, knot_t_s));
    TAC_TRY(tac_alloc(reader->ctx, width * count, sizeof **value, value));
done:
    return err;
}

#define EMPTY "one knot pins, more knots move"

static enum tac_err read_path(struct tac_reader *reader, const json_t *path, const char *where,
                              struct tac_motion *motion)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_scene_knots(reader, path, where, EMPTY, 3, &motion->knot_t_s, &motion->displacement));
    for (size_t i = 0; i < json_array_size(path); i++) {
        char knot_where[TAC_WHERE], place[TAC_WHERE];
        const json_t *value;
        double *u = motion->displacement + 3 * i;
        tac_where_index(knot_where, where, i);
        TAC_TRY(tac_scene_knot(reader, json_array_get(path, i), knot_where, "the displacement [x, y, z]",
                               motion->knot_t_s, &motion->knot_count, &value));
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
    TAC_TRY(tac_scene_knots(reader, path, where, EMPTY, 1, &motion->knot_t_s, &motion->degrees));
    for (size_t i = 0; i < json_array_size(path); i++) {
        char knot_where[TAC_WHERE], place[TAC_WHERE];
        const json_t *value;
        double *degrees = motion->degrees;
        tac_where_index(knot_where, where, i);
        TAC_TRY(tac_scene_knot(reader, json_array_get(path, i), knot_where, "the angle in degrees", motion->knot_t_s,
                               &motion->knot_count, &value));
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

enum tac_err tac_scene_direction(struct tac_reader *reader, const char *where, double axis[3])
{
    double largest = 0;
    for (int k = 0; k < 3; k++)
        largest = fmax(largest, fabs(axis[k]));
    if (largest == 0)
        return tac_scene_fail(reader, where, "is [0, 0, 0]; give a direction");
    for (int k = 0; k < 3; k++)
        axis[k] /= largest; /* first, so that no square leaves the range of double */
    const double length = sqrt(tac_dot(axis, axis));
    for (int k = 0; k < 3; k++)
        axis[k] /= length;
    return TAC_OK;
}

static enum tac_err read_rotate(struct tac_reader *reader, json_t *rotate, const char *where, struct tac_motion *motion)
{
    char place[TAC_WHERE];
    const double *axis = motion->axis;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_fields_read(reader, rotate, where, rotate_fields, COUNT(rotate_fields), motion));
    tac_where(place, where, "axis");
    TAC_TRY(tac_scene_direction(reader, place, motion->axis));
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
    const struct tac_body *body = &scene->settings->body[body_index];
    const struct tac_motion *motion = &scene->settings->motion[index];
    const struct tac_moved *moved = &scene->mesh->moved[index];
    const struct tac_rows rows = reader->rows[body_index][TAC_VERTICES];
    for (tac_lid k = 0; k < moved->vertex_count; k++) {
        const tac_lid number = moved->vertex[k] - body->vertex_begin, row = rows.begin + number - rows.number;
        char where[TAC_WHERE];
        tac_where_index(where, "motions", index);
        if (reader->motion[row] >= 0)
            return tac_scene_fail(
                reader, where,
                "moves vertex %d of \"%.60s\", which motions[%d] moves already; a vertex has at most one motion",
                (int)number, body->name, (int)reader->motion[row]);
        reader->motion[row] = (tac_lid)index;
        if (!motion->release)
            scene->mesh->ever_free[row] = 0;
    }
    return TAC_OK;
}

static enum tac_err start_free(struct tac_reader *reader)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(reader->ctx, (size_t)scene->mesh->vertex_count, 1, &scene->mesh->ever_free));
    TAC_TRY(tac_alloc(reader->ctx, (size_t)scene->mesh->vertex_count, sizeof *reader->motion, &reader->motion));
    for (tac_lid i = 0; i < scene->mesh->vertex_count; i++) {
        scene->mesh->ever_free[i] = !scene->settings->body[scene->mesh->vertex_body[i]].fixed;
        reader->motion[i] = -1;
    }
done:
    return err;
}

/* Reads the path, the rotation or the file of a motion; `follow` is read after all files. */
static enum tac_err read_course(struct tac_reader *reader, json_t *object, const char *where, struct tac_motion *motion)
{
    static const char *const form[] = {"path", "rotate", "positions", "follow"};
    enum { PATH, ROTATE, POSITIONS, FOLLOW };
    char place[TAC_WHERE];
    json_t *given = NULL;
    size_t which = 0, forms = 0;
    enum tac_err err = TAC_OK;
    for (size_t k = 0; k < COUNT(form); k++)
        if (json_object_get(object, form[k]) != NULL) {
            which = k;
            given = json_object_get(object, form[k]);
            forms++;
        }
    if (forms != 1)
        TAC_TRY(tac_scene_fail(reader, where, "must have either \"path\" or \"rotate\"%s",
                               forms > 1 ? ", not both; and neither with \"positions\" or \"follow\""
                                         : ", or \"positions\" or \"follow\""));
    tac_where(place, where, form[which]);
    if (which >= POSITIONS && reader->before != NULL)
        TAC_TRY(
            tac_motion_copy_course(reader, &reader->before->motion[motion - reader->scene->settings->motion], motion));
    else if (which == POSITIONS)
        TAC_TRY(tac_scene_read_positions(reader, given, place, motion->body, motion));
    else if (which != FOLLOW)
        TAC_TRY(which == PATH ? read_path(reader, given, place, motion) : read_rotate(reader, given, place, motion));
done:
    return err;
}

static enum tac_err read_followers(struct tac_reader *reader, const json_t *motions)
{
    enum tac_err err = TAC_OK;
    for (size_t i = 0; i < json_array_size(motions); i++) {
        json_t *follow = json_object_get(json_array_get(motions, i), "follow");
        char where[TAC_WHERE], place[TAC_WHERE];
        if (follow == NULL)
            continue;
        tac_where_index(where, "motions", i);
        tac_where(place, where, "follow");
        TAC_TRY(tac_scene_read_follow(reader, follow, place, &reader->scene->settings->motion[i]));
    }
done:
    return err;
}

static enum tac_err read_motion(struct tac_reader *reader, json_t *object, size_t index, struct tac_motion *motion)
{
    char where[TAC_WHERE], place[TAC_WHERE];
    /* A path or a rotation moves the points of joints with the body; an animation has no positions of them. */
    struct tac_selection selection = {.what = "motion",
                                      .points = json_object_get(object, "path") != NULL ||
                                                json_object_get(object, "rotate") != NULL};
    tac_lid body_index;
    enum tac_err err = TAC_OK;
    tac_where_index(where, "motions", index);
    TAC_TRY(tac_fields_read(reader, object, where, motion_fields, COUNT(motion_fields), motion));
    tac_where(place, where, "body");
    TAC_TRY(tac_scene_find_body(reader, json_object_get(object, "body"), place, &body_index));
    motion->body = body_index;
    const struct tac_body *body = &reader->scene->settings->body[body_index];
    if (body->fixed)
        TAC_TRY(tac_scene_fail(reader, where, "moves \"%.60s\", which is fixed; leave out the motion or \"fixed\"",
                               body->name));
    if (body->rolls)
        TAC_TRY(
            tac_scene_fail(reader, where,
                           "moves \"%.60s\", whose grains roll; a grain cannot be scripted: leave out the motion or "
                           "\"rolls\"",
                           body->name));
    err = tac_scene_select(reader, object, where, body_index, &selection);
    reader->scene->mesh->moved[index] = (struct tac_moved){selection.count, selection.vertex};
    TAC_TRY(err);
    TAC_TRY(tac_reader_agree(reader, claim_vertices(reader, body_index, index)));
    TAC_TRY(read_course(reader, object, where, motion));
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
    TAC_TRY(tac_alloc(reader->ctx, count, sizeof *scene->settings->motion, &scene->settings->motion));
    TAC_TRY(tac_alloc(reader->ctx, count, sizeof *scene->mesh->moved, &scene->mesh->moved));
    TAC_TRY(start_free(reader));
    for (size_t i = 0; i < count; i++) {
        scene->settings->motion_count++;
        scene->mesh->moved_count++;
        TAC_TRY(read_motion(reader, json_array_get(motions, i), i, &scene->settings->motion[i]));
    }
    TAC_TRY(read_followers(reader, motions));
done:
    return err;
}

enum tac_err tac_scene_reread_motions(struct tac_reader *reader, json_t *root)
{
    struct tac_scene *scene = reader->scene;
    json_t *motions = json_object_get(root, "motions");
    enum tac_err err = TAC_OK;
    for (tac_lid i = 0; i < scene->settings->motion_count; i++) {
        char where[TAC_WHERE];
        json_t *object = json_array_get(motions, (size_t)i);
        tac_where_index(where, "motions", (size_t)i);
        TAC_TRY(
            tac_fields_read(reader, object, where, motion_fields, COUNT(motion_fields), &scene->settings->motion[i]));
        TAC_TRY(read_course(reader, object, where, &scene->settings->motion[i]));
    }
done:
    return err;
}
