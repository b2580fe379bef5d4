/* set.c: applies --set path=value to the scene's JSON before it is validated. */
#include "scene/scene_read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"

/* Vectors with a default: one component may be set where the scene leaves the key out. */
static const char *const vector_key[] = {"gravity", "position", "rotation", "velocity", "angular_velocity"};

static size_t segment_length(const char *path)
{
    return strcspn(path, ".");
}

static bool is_index(const char *path)
{
    size_t length = segment_length(path);
    if (length == 0 || length > 9)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)path[i]))
            return false;
    return true;
}

/* Does the path begin with this name, whole?  Names may hold dots themselves. */
static size_t match(const char *path, const char *name)
{
    size_t length = strlen(name);
    return length > 0 && strncmp(path, name, length) == 0 && (path[length] == '.' || path[length] == '\0') ? length : 0;
}

static enum tac_err bad(struct tac_reader *reader, const char *assignment, const char *format, const char *text)
{
    char reason[512];
    snprintf(reason, sizeof reason, "%s%.300s", format, text);
    return tac_fail(reader->ctx, TAC_ERR_INPUT, "%s %.200s: %s", reader->setter != NULL ? reader->setter : "--set",
                    assignment, reason);
}

/* The key of `object` that the path begins with: the longest there is, else up to the next dot. */
static size_t key_length(json_t *object, const char *path)
{
    size_t best = 0;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t length = match(path, key);
        if (length > best)
            best = length;
    }
    return best ? best : segment_length(path);
}

static enum tac_err element(struct tac_reader *reader, const char *assignment, json_t *array, const char *path,
                            size_t *index, size_t *length)
{
    size_t count = json_array_size(array), best = 0;
    if (is_index(path)) {
        *index = strtoul(path, NULL, 10);
        *length = segment_length(path);
        if (*index < count)
            return TAC_OK;
        char text[64];
        snprintf(text, sizeof text, "%zu (elements count from 0)", count);
        return bad(reader, assignment, "the index is past the end: the array's length is ", text);
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(array, i), "name"));
        size_t matched = name ? match(path, name) : 0;
        if (matched > best) {
            best = matched;
            *index = i;
        }
    }
    *length = best;
    if (best)
        return TAC_OK;
    char text[128];
    snprintf(text, sizeof text, "\"%.*s\"; give an index or a name that the scene has",
             (int)(segment_length(path) < 80 ? segment_length(path) : 80), path);
    return bad(reader, assignment, "no element of the array is named ", text);
}

/* What a missing key starts as when the path goes on below it. */
static json_t *fresh(const char *key, const char *rest)
{
    if (!is_index(rest))
        return json_object();
    for (size_t i = 0; i < sizeof vector_key / sizeof vector_key[0]; i++)
        if (strcmp(key, vector_key[i]) == 0)
            return json_pack("[i, i, i]", 0, 0, 0);
    return NULL;
}

/* Puts `value` (borrowed) at `path` below `node`. */
static enum tac_err set_value(struct tac_reader *reader, const char *assignment, json_t *node, const char *path,
                              json_t *value)
{
    for (;;) {
        size_t index = 0, length;
        char *key = NULL;
        json_t *next;
        if (segment_length(path) == 0)
            return bad(reader, assignment, "a name in the path is empty; write for instance contact.friction=0.4", "");
        if (json_is_array(node)) {
            enum tac_err err = element(reader, assignment, node, path, &index, &length);
            if (err)
                return err;
        } else if (json_is_object(node)) {
            length = key_length(node, path);
        } else {
            return bad(reader, assignment, "the path goes on below a value that is ", tac_json_type(node));
        }
        bool last = path[length] == '\0';
        if (json_is_array(node)) {
            if (last)
                return json_array_set(node, index, value) == 0 ? TAC_OK
                                                               : bad(reader, assignment, "cannot be stored", "");
            node = json_array_get(node, index);
            path += length + 1;
            continue;
        }
        key = strndup(path, length);
        if (key == NULL)
            return tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
        if (last) {
            int failed = json_object_set(node, key, value);
            free(key);
            return failed ? bad(reader, assignment, "the path is not UTF-8 text", "") : TAC_OK;
        }
        path += length + 1;
        next = json_object_get(node, key);
        if (next == NULL) {
            next = fresh(key, path);
            if (next == NULL || json_object_set_new(node, key, next) != 0) {
                enum tac_err err = bad(reader, assignment, "the scene has no array ", key);
                free(key);
                return err;
            }
        }
        free(key);
        node = next;
    }
}

enum tac_err tac_scene_set(struct tac_reader *reader, json_t *root, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || equals == assignment)
        return bad(reader, assignment, "must be path=value, for instance contact.friction=0.4", "");
    json_error_t error;
    json_t *value =
        tac_json_read_text(equals + 1, strlen(equals + 1), JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (value == NULL && tac_json_no_memory(&error))
        return tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
    if (value == NULL && equals[1] != '\0' && strchr("[{\"", equals[1]) != NULL)
        return bad(reader, assignment, "the value cannot be read as JSON: ", error.text);
    if (value == NULL)
        value = json_string(equals + 1); /* a bare word */
    if (value == NULL)
        return bad(reader, assignment, "the value is not UTF-8 text", "");
    enum tac_err err = TAC_ERR_RUN;
    char *path = strndup(assignment, (size_t)(equals - assignment));
    if (path == NULL)
        tac_fail(reader->ctx, err, "out of memory while reading %s", reader->file);
    else
        err = set_value(reader, assignment, root, path, value);
    free(path);
    json_decref(value);
    return err;
}
