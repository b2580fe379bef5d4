/* outputs.c: reads the section `output` of a scene: checkpoints, and the output beside positions and velocities. None
 * of it has an influence on the trajectory, and the scene's hash leaves it out. */
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The values of the section's table; a count has 64 bits. */
struct output {
    double every_s, every_t;
    int64_t keep;
    bool contacts, reactions;
};

static const struct tac_field output_fields[] = {
    {.key = "checkpoint_every_s",
     .kind = TAC_FIELD_NUMBER,
     .offset = offsetof(struct output, every_s),
     .fallback = 600,
     .max = INFINITY,
     .min_open = true},
    {.key = "checkpoint_every_t",
     .kind = TAC_FIELD_NUMBER,
     .offset = offsetof(struct output, every_t),
     .fallback = NAN,
     .max = INFINITY,
     .min_open = true},
    {.key = "checkpoint_keep",
     .kind = TAC_FIELD_INTEGER,
     .offset = offsetof(struct output, keep),
     .fallback = 2,
     .min = 1,
     .max = 1000000},
    {.key = "fields", .kind = TAC_FIELD_OTHER},
    {.key = "contacts", .kind = TAC_FIELD_BOOL, .offset = offsetof(struct output, contacts)},
    {.key = "reactions", .kind = TAC_FIELD_BOOL, .offset = offsetof(struct output, reactions)},
    {.key = "histories", .kind = TAC_FIELD_OTHER},
    {.key = "log", .kind = TAC_FIELD_OTHER},
};

/* In the order of enum tac_output_field. */
static const char *const field_names[] = {
    "strain", "stress", "bending_angle", "plastic_strain", "contact_pressure", "rank", "spin", "pose", NULL};
_Static_assert(COUNT(field_names) == TAC_OUTPUT_FIELDS + 1, "every field has a name");

/* In the order of enum tac_log_column. */
#define NAME(constant, name, ...) name,
#define USUAL(constant, name, unit, of, usual, whole) TAC_LOG_OF_##usual,
static const char *const log_names[] = {TAC_LOG_LIST(NAME) NULL};
static const int log_usual[] = {TAC_LOG_LIST(USUAL)};

/* Reads the next word of a list, one of `names`, into *which. */
static enum tac_err read_word(struct tac_reader *reader, const json_t *list, const char *where, size_t i,
                              const char *const *names, int *which)
{
    const struct tac_field word = {.kind = TAC_FIELD_CHOICE, .choice = names};
    char place[TAC_WHERE];
    tac_where_index(place, where, i);
    return tac_field_read(reader, &word, json_array_get(list, i), place, which);
}

static enum tac_err read_fields(struct tac_reader *reader, json_t *section)
{
    enum tac_err err = TAC_OK;
    json_t *list;
    int which = 0;
    TAC_TRY(tac_list(reader, section, "output", "fields", &list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        TAC_TRY(read_word(reader, list, "output.fields", i, field_names, &which));
        reader->scene->settings->output.fields |= 1u << which;
    }
done:
    return err;
}

/* The columns of the log; without the key those that are usual for the integrator, which the resolved scene names. */
static enum tac_err read_log(struct tac_reader *reader, json_t *section)
{
    struct tac_output_settings *output = &reader->scene->settings->output;
    const bool given = json_object_get(section, "log") != NULL;
    const int one = tac_log_set(reader->scene->settings->integrator);
    bool seen[TAC_LOG_COLUMNS] = {false};
    enum tac_err err = TAC_OK;
    json_t *list;
    int which = 0;
    TAC_TRY(tac_list(reader, section, "output", "log", &list));
    for (int k = 0; k < TAC_LOG_COLUMNS && !given; k++)
        if (log_usual[k] & one && json_array_append_new(list, json_string(log_names[k])) != 0)
            TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
    for (size_t i = 0; i < json_array_size(list); i++) {
        TAC_TRY(read_word(reader, list, "output.log", i, log_names, &which));
        if (seen[which])
            TAC_TRY(tac_scene_fail(reader, "output.log", "has \"%s\" twice", log_names[which]));
        seen[which] = true;
        output->log[output->log_count++] = (enum tac_log_column)which;
    }
done:
    return err;
}

enum tac_err tac_scene_read_output(struct tac_reader *reader, json_t *section)
{
    struct output output = {0};
    struct tac_settings *settings = reader->scene->settings;
    enum tac_err err = tac_fields_read(reader, section, "output", output_fields, COUNT(output_fields), &output);
    settings->checkpoint.every_s = output.every_s;
    settings->checkpoint.every_t = output.every_t;
    settings->checkpoint.keep = (int)output.keep;
    settings->output.contacts = output.contacts;
    settings->output.reactions = output.reactions;
    if (!err)
        err = read_fields(reader, section);
    return err ? err : read_log(reader, section);
}

/* ---- histories ---- */

/* In the order of enum tac_history_kind. */
static const char *const history_kinds[] = {"vertices", "reaction", "flux", "pose", NULL};

#define COMMON                                                                                                         \
    {.key = "name", .kind = TAC_FIELD_OTHER, .required = true},                                                        \
        {.key = "kind",                                                                                                \
         .kind = TAC_FIELD_CHOICE,                                                                                     \
         .offset = offsetof(struct tac_history, kind),                                                                 \
         .choice = history_kinds},                                                                                     \
    {                                                                                                                  \
        .key = "every", .kind = TAC_FIELD_NUMBER, .offset = offsetof(struct tac_history, every_s), .max = INFINITY,    \
        .min_open = true, .required = true                                                                             \
    }

static const struct tac_field vertices_fields[] = {
    COMMON,
    {.key = "body", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "vertices", .kind = TAC_FIELD_OTHER},
    {.key = "each", .kind = TAC_FIELD_BOOL, .offset = offsetof(struct tac_history, each)},
};
static const struct tac_field reaction_fields[] = {
    COMMON,
    {.key = "body", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "vertices", .kind = TAC_FIELD_OTHER},
};
static const struct tac_field flux_fields[] = {
    COMMON,
    {.key = "bodies", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "plane", .kind = TAC_FIELD_OTHER, .required = true},
};
static const struct tac_field pose_fields[] = {
    COMMON,
    {.key = "body", .kind = TAC_FIELD_OTHER, .required = true},
};
static const struct tac_field plane_fields[] = {
    {.key = "point",
     .kind = TAC_FIELD_VECTOR,
     .offset = offsetof(struct tac_history, point),
     .max = TAC_FARTHEST,
     .required = true},
    {.key = "normal",
     .kind = TAC_FIELD_VECTOR,
     .offset = offsetof(struct tac_history, normal),
     .max = TAC_FARTHEST,
     .required = true},
};

static enum tac_err read_history_name(struct tac_reader *reader, const json_t *object, const char *where,
                                      tac_lid before, struct tac_history *history)
{
    enum tac_err err = TAC_OK;
    char place[TAC_WHERE];
    const char *name = "";
    tac_where(place, where, "name");
    TAC_TRY(tac_string(reader, json_object_get(object, "name"), place, &name));
    TAC_TRY(tac_check_name(reader, name, place));
    if (name[0] == '\0')
        TAC_TRY(tac_scene_fail(reader, place, "is empty; give the history a name"));
    for (tac_lid i = 0; i < before; i++)
        if (strcmp(reader->scene->settings->output.history[i].name, name) == 0)
            TAC_TRY(tac_scene_fail(reader, place, "\"%.60s\" is used twice; names of histories are unique", name));
    TAC_TRY(tac_copy(reader->ctx, name, &history->name));
done:
    return err;
}

/* Which vertices, to be found again wherever they are: all of the body, listed ones, or those that start in a box. */
static enum tac_err keep_selection(struct tac_reader *reader, const json_t *object, struct tac_history *history)
{
    enum tac_err err = TAC_OK;
    const json_t *value = json_object_get(object, "vertices"), *box = json_object_get(value, "box");
    history->select = box ? TAC_HISTORY_BOX : json_is_array(value) ? TAC_HISTORY_LIST : TAC_HISTORY_ALL;
    for (size_t k = 0; k < 6 && box; k++)
        history->box[k / 3][k % 3] = json_number_value(json_array_get(json_array_get(box, k / 3), k % 3));
    if (history->select != TAC_HISTORY_LIST)
        return TAC_OK;
    TAC_TRY(tac_alloc(reader->ctx, json_array_size(value), sizeof *history->index, &history->index));
    for (size_t k = 0; k < json_array_size(value); k++)
        history->index[history->index_count++] = (tac_lid)json_number_value(json_array_get(value, k));
done:
    return err;
}

enum { MOST_ROWS = 10000 }; /* of a history at one time */

/* The vertices of a body that a history is about. */
static enum tac_err read_history_vertices(struct tac_reader *reader, json_t *object, const char *where,
                                          struct tac_history *history)
{
    enum tac_err err = TAC_OK;
    struct tac_selection selection = {.what = "history"};
    char place[TAC_WHERE];
    tac_where(place, where, "body");
    TAC_TRY(tac_scene_find_body(reader, json_object_get(object, "body"), place, &history->body));
    TAC_TRY(tac_reader_agree(reader, tac_scene_select(reader, object, where, history->body, &selection)));
    history->vertex_count = selection.count;
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, &history->vertex_count, 1, TAC_GID_MPI, MPI_SUM, reader->ctx->comm);
    if (history->each && history->vertex_count > MOST_ROWS)
        TAC_TRY(tac_scene_fail(reader, where,
                               "has a row for each of %" TAC_PRIGID
                               " vertices, which is more than %d; choose fewer vertices, or leave \"each\" out for "
                               "one row of their means",
                               history->vertex_count, (int)MOST_ROWS));
    TAC_TRY(tac_reader_agree(reader, keep_selection(reader, object, history)));
done:
    free(selection.vertex);
    return err;
}

/* Is the body fixed, or does a motion move some of it at some time? */
static enum tac_err check_held(struct tac_reader *reader, const json_t *root, const char *where,
                               const struct tac_history *history)
{
    const struct tac_body *body = &reader->scene->settings->body[history->body];
    bool held = body->fixed;
    size_t i;
    const json_t *motion;
    json_array_foreach(json_object_get(root, "motions"), i, motion)
    {
        const char *name = json_string_value(json_object_get(motion, "body"));
        held = held || (name != NULL && strcmp(name, body->name) == 0);
    }
    if (held)
        return TAC_OK;
    return tac_scene_fail(reader, where,
                          "is a reaction of \"%.60s\", which nothing holds: it is not \"fixed\", and no motion moves "
                          "it; name the body that holds or presses it",
                          body->name);
}

static enum tac_err read_flux(struct tac_reader *reader, json_t *object, const char *where, struct tac_history *history)
{
    enum tac_err err = TAC_OK;
    char place[TAC_WHERE], one[TAC_WHERE];
    json_t *list, *plane = NULL;
    tac_where(place, where, "bodies");
    TAC_TRY(tac_list(reader, object, where, "bodies", &list));
    if (json_array_size(list) == 0)
        TAC_TRY(tac_scene_fail(reader, place, "is empty; name the bodies whose vertices are counted"));
    TAC_TRY(tac_alloc(reader->ctx, json_array_size(list), sizeof *history->flux_body, &history->flux_body));
    for (size_t k = 0; k < json_array_size(list); k++) {
        tac_lid body = 0;
        tac_where_index(one, place, k);
        TAC_TRY(tac_scene_find_body(reader, json_array_get(list, k), one, &body));
        for (tac_lid j = 0; j < history->flux_count; j++)
            if (history->flux_body[j] == body)
                TAC_TRY(
                    tac_scene_fail(reader, one, "\"%.60s\" is there twice", reader->scene->settings->body[body].name));
        history->flux_body[history->flux_count++] = body;
        history->vertex_count +=
            reader->scene->settings->body[body].vertex_end - reader->scene->settings->body[body].vertex_begin;
    }
    TAC_TRY(tac_section(reader, object, where, "plane", &plane));
    tac_where(place, where, "plane");
    TAC_TRY(tac_fields_read(reader, plane, place, plane_fields, COUNT(plane_fields), history));
    tac_where(one, place, "normal");
    if (history->normal[0] == 0 && history->normal[1] == 0 && history->normal[2] == 0)
        TAC_TRY(tac_scene_fail(reader, one, "is [0, 0, 0]; give the direction across the plane"));
done:
    return err;
}

/* A body with many pieces has a row for each. */
static enum tac_err read_pose(struct tac_reader *reader, json_t *object, const char *where, struct tac_history *history)
{
    enum tac_err err = TAC_OK;
    char place[TAC_WHERE];
    tac_where(place, where, "body");
    TAC_TRY(tac_scene_find_body(reader, json_object_get(object, "body"), place, &history->body));
    const struct tac_body *body = &reader->scene->settings->body[history->body];
    if (body->rigid < 0)
        return tac_scene_fail(
            reader, place, "names \"%.60s\", which is not rigid and has no pose; follow vertices of it (kind vertices)",
            body->name);
    if (body->piece_count > MOST_ROWS)
        return tac_scene_fail(reader, place,
                              "names \"%.60s\", which has %" TAC_PRILID
                              " pieces, more than %d; frames have their poses with \"pose\" among output.fields",
                              body->name, body->piece_count, (int)MOST_ROWS);
    history->each = body->piece_count > 1;
    history->vertex_count = body->piece_count;
done:
    return err;
}

static enum tac_err read_history(struct tac_reader *reader, json_t *root, json_t *object, tac_lid index,
                                 struct tac_history *history)
{
    static const struct {
        const struct tac_field *field;
        size_t count;
    } tables[] = {{vertices_fields, COUNT(vertices_fields)},
                  {reaction_fields, COUNT(reaction_fields)},
                  {flux_fields, COUNT(flux_fields)},
                  {pose_fields, COUNT(pose_fields)}};
    enum tac_err err = TAC_OK;
    const char *kind = json_string_value(json_object_get(object, "kind"));
    char where[TAC_WHERE], place[TAC_WHERE];
    int k = 0;
    while (kind != NULL && history_kinds[k] != NULL && strcmp(kind, history_kinds[k]) != 0)
        k++;
    tac_where_index(where, "output.histories", (size_t)index);
    if (history_kinds[k] == NULL || (kind == NULL && json_object_get(object, "kind") != NULL)) {
        tac_where(place, where, "kind");
        return tac_field_read(reader, &vertices_fields[1], json_object_get(object, "kind"), place, history);
    }
    TAC_TRY(tac_fields_read(reader, object, where, tables[k].field, tables[k].count, history));
    TAC_TRY(read_history_name(reader, object, where, index, history));
    if (history->kind == TAC_HISTORY_FLUX)
        return read_flux(reader, object, where, history);
    if (history->kind == TAC_HISTORY_POSE)
        return read_pose(reader, object, where, history);
    TAC_TRY(read_history_vertices(reader, object, where, history));
    if (history->kind == TAC_HISTORY_REACTION)
        TAC_TRY(check_held(reader, root, where, history));
done:
    return err;
}

enum tac_err tac_scene_read_histories(struct tac_reader *reader, json_t *root)
{
    struct tac_output_settings *output = &reader->scene->settings->output;
    enum tac_err err = TAC_OK;
    json_t *list;
    TAC_TRY(tac_list(reader, json_object_get(root, "output"), "output", "histories", &list));
    if (json_array_size(list) > 1000)
        TAC_TRY(
            tac_scene_fail(reader, "output.histories", "has %zu elements; it may have 1000", json_array_size(list)));
    TAC_TRY(tac_reader_agree(reader,
                             tac_alloc(reader->ctx, json_array_size(list), sizeof *output->history, &output->history)));
    for (size_t i = 0; i < json_array_size(list); i++) {
        output->history_count++;
        TAC_TRY(read_history(reader, root, json_array_get(list, i), (tac_lid)i, &output->history[i]));
    }
done:
    return err;
}

unsigned tac_scene_history_kinds(const struct tac_scene *scene)
{
    const struct tac_output_settings *output = &scene->settings->output;
    unsigned kinds = 0;
    for (tac_lid k = 0; k < output->history_count; k++)
        kinds |= 1u << output->history[k].kind;
    return kinds;
}

void tac_scene_free_histories(struct tac_output_settings *output)
{
    for (tac_lid i = 0; i < output->history_count; i++) {
        free(output->history[i].name);
        free(output->history[i].index);
        free(output->history[i].flux_body);
    }
    free(output->history);
}
