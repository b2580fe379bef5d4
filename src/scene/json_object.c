/* json_object.c: reads one JSON object by a table of its keys. */
#include "scene/scene_read.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A sentence is one line for any contents of the scene. */
static void one_line(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

enum tac_err tac_scene_fail(struct tac_reader *reader, const char *where, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    one_line(text);
    char place[TAC_WHERE];
    snprintf(place, sizeof place, "%s", where);
    one_line(place);
    return tac_fail(reader->ctx, TAC_ERR_INPUT, "%s: %s%s%s", reader->file, place, place[0] ? ": " : "", text);
}

void tac_scene_warn(struct tac_reader *reader, const char *where, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    one_line(text);
    tac_warn(reader->ctx, "%s: %s: %s", reader->file, where, text);
}

struct tac_shown tac_shown(double value)
{
    struct tac_shown shown;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(shown.text, sizeof shown.text, "%.*g", digits, value);
        if (strtod(shown.text, NULL) == value)
            break;
    }
    return shown;
}

const char *tac_json_type(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    default:
        return "null";
    }
}

void tac_where(char out[TAC_WHERE], const char *where, const char *key)
{
    char text[2 * TAC_WHERE];
    snprintf(text, sizeof text, "%.200s%s%.80s", where, where[0] ? "." : "", key);
    memcpy(out, text, TAC_WHERE - 1);
    out[TAC_WHERE - 1] = '\0';
}

void tac_where_index(char out[TAC_WHERE], const char *where, size_t index)
{
    snprintf(out, TAC_WHERE, "%.200s[%zu]", where, index);
}

enum tac_err tac_copy(struct tac_ctx *ctx, const char *text, char **out)
{
    enum tac_err err = tac_alloc(ctx, strlen(text) + 1, 1, out);
    if (err == TAC_OK)
        strcpy(*out, text);
    return err;
}

static enum tac_err wrong_type(struct tac_reader *reader, const json_t *value, const char *where, const char *wanted)
{
    if (json_is_string(value))
        return tac_scene_fail(reader, where, "must be %s, not the string \"%.60s\"", wanted, json_string_value(value));
    return tac_scene_fail(reader, where, "must be %s, not %s", wanted, tac_json_type(value));
}

enum tac_err tac_number(struct tac_reader *reader, const json_t *value, const char *where, double *out)
{
    if (!json_is_number(value))
        return wrong_type(reader, value, where, "a number");
    double number = json_number_value(value);
    if (!isfinite(number))
        return tac_scene_fail(reader, where, "must be a finite number");
    *out = number + 0.0; /* -0 becomes +0 */
    return TAC_OK;
}

enum tac_err tac_integer(struct tac_reader *reader, const json_t *value, const char *where, int64_t min, int64_t max,
                         int64_t *out)
{
    if (!json_is_number(value))
        return wrong_type(reader, value, where, "a whole number");
    int64_t integer;
    if (json_is_integer(value)) {
        integer = json_integer_value(value);
    } else {
        double number = json_real_value(value);
        if (floor(number) != number) /* 3.0 is a whole number, as in JSON Schema */
            return tac_scene_fail(reader, where, "is %s; it must be a whole number", tac_shown(number).text);
        if (!(fabs(number) < 9007199254740992.0))
            return tac_scene_fail(reader, where, "is %s; it must be from %" PRId64 " to %" PRId64,
                                  tac_shown(number).text, min, max);
        integer = (int64_t)number;
    }
    if (integer < min || integer > max)
        return tac_scene_fail(reader, where, "is %" PRId64 "; it must be from %" PRId64 " to %" PRId64, integer, min,
                              max);
    *out = integer;
    return TAC_OK;
}

/* `count` numbers. */
static enum tac_err numbers(struct tac_reader *reader, const json_t *value, const char *where, size_t count,
                            double *out)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "an array of %zu numbers", count);
    if (!json_is_array(value))
        return wrong_type(reader, value, where, wanted);
    if (json_array_size(value) != count)
        return tac_scene_fail(reader, where, "must be %s, not of %zu", wanted, json_array_size(value));
    for (size_t i = 0; i < count; i++) {
        char place[TAC_WHERE];
        tac_where_index(place, where, i);
        enum tac_err err = tac_number(reader, json_array_get(value, i), place, &out[i]);
        if (err)
            return err;
    }
    return TAC_OK;
}

enum tac_err tac_vector(struct tac_reader *reader, const json_t *value, const char *where, double out[3])
{
    return numbers(reader, value, where, 3, out);
}

enum tac_err tac_check_name(struct tac_reader *reader, const char *name, const char *where)
{
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++)
        if (*c < 0x20 || *c == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0)) /* the last: U+0080 to U+009F */
            return tac_scene_fail(reader, where, "\"%.60s\" holds a control character; use plain text", name);
    return TAC_OK;
}

enum tac_err tac_string(struct tac_reader *reader, const json_t *value, const char *where, const char **out)
{
    if (!json_is_string(value))
        return wrong_type(reader, value, where, "a string");
    *out = json_string_value(value);
    return TAC_OK;
}

static enum tac_err in_range(struct tac_reader *reader, const struct tac_field *field, const char *where, double value)
{
    bool low = field->min_open ? value <= field->min : value < field->min;
    bool high = field->max_open ? value >= field->max : value > field->max;
    if (!low && !high)
        return TAC_OK;
    char text[160];
    if (isinf(field->max))
        snprintf(text, sizeof text, "%s %s", field->min_open ? "greater than" : "at least", tac_shown(field->min).text);
    else
        snprintf(text, sizeof text, "%s %s and %s %s", field->min_open ? "greater than" : "at least",
                 tac_shown(field->min).text, field->max_open ? "less than" : "at most", tac_shown(field->max).text);
    return tac_scene_fail(reader, where, "is %s; it must be %s", tac_shown(value).text, text);
}

static enum tac_err unknown(struct tac_reader *reader, const char *where, const char *what, const char *word,
                            const char *const *known, size_t count)
{
    char list[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known[i]);
    const char *nearest = tac_nearest(word, known, count);
    if (nearest != NULL)
        return tac_scene_fail(reader, where, "is no known %s; did you mean \"%s\"? (known: %s)", what, nearest, list);
    return tac_scene_fail(reader, where, "is no known %s; known: %s", what, list);
}

static enum tac_err known_keys(struct tac_reader *reader, json_t *object, const char *where,
                               const struct tac_field *field, size_t count)
{
    enum { MOST = 32 };
    const char *known[MOST], *key;
    json_t *value;
    TAC_CHECK(count <= MOST);
    for (size_t i = 0; i < count; i++)
        known[i] = field[i].key;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (i < count && strcmp(key, known[i]) != 0)
            i++;
        if (i == count) {
            char place[TAC_WHERE];
            tac_where(place, where, key);
            return unknown(reader, place, "key", key, known, count);
        }
    }
    return TAC_OK;
}

static void store(const struct tac_field *field, void *base, const void *value, size_t size)
{
    if (field->offset != TAC_NOWHERE)
        memcpy((char *)base + field->offset, value, size);
}

static enum tac_err read_choice(struct tac_reader *reader, const struct tac_field *field, const json_t *value,
                                const char *where, void *base)
{
    const char *word = "";
    enum tac_err err = tac_string(reader, value, where, &word);
    if (err)
        return err;
    size_t count = 0;
    int found = -1;
    for (; field->choice[count] != NULL; count++)
        if (strcmp(word, field->choice[count]) == 0)
            found = (int)count;
    if (found < 0) {
        char place[TAC_WHERE];
        snprintf(place, sizeof place, "%.150s: \"%.60s\"", where, word);
        return unknown(reader, place, "value", word, field->choice, count);
    }
    store(field, base, &found, sizeof found);
    return TAC_OK;
}

static enum tac_err read_number(struct tac_reader *reader, const struct tac_field *field, const json_t *value,
                                const char *where, void *base)
{
    double number = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_number(reader, value, where, &number));
    TAC_TRY(in_range(reader, field, where, number));
    store(field, base, &number, sizeof number);
done:
    return err;
}

/* A number, or {"static": number, "kinetic": number}. */
static enum tac_err read_friction(struct tac_reader *reader, const struct tac_field *field, const json_t *value,
                                  const char *where, void *base)
{
    static const struct tac_field fields[] = {
        {.key = "static", .kind = TAC_FIELD_NUMBER, .offset = 0, .max = INFINITY, .required = true},
        {.key = "kinetic", .kind = TAC_FIELD_NUMBER, .offset = sizeof(double), .max = INFINITY, .required = true},
    };
    double mu[2] = {0, 0};
    enum tac_err err = TAC_OK;
    if (json_is_object(value)) {
        TAC_TRY(tac_fields_read(reader, (json_t *)value, where, fields, 2, mu));
        if (mu[0] < mu[1])
            TAC_TRY(tac_scene_fail(reader, where,
                                   "has \"static\" %s under \"kinetic\" %s; what lies still holds at least as well as "
                                   "what slides",
                                   tac_shown(mu[0]).text, tac_shown(mu[1]).text));
    } else if (json_is_number(value)) {
        TAC_TRY(tac_number(reader, value, where, mu));
        TAC_TRY(in_range(reader, field, where, mu[0]));
        mu[1] = mu[0];
    } else {
        TAC_TRY(wrong_type(reader, value, where, "a number or {\"static\": mu, \"kinetic\": mu}"));
    }
    store(field, base, mu, sizeof mu);
done:
    return err;
}

enum tac_err tac_field_read(struct tac_reader *reader, const struct tac_field *field, const json_t *value,
                            const char *where, void *base)
{
    enum tac_err err = TAC_OK;
    double vector[3] = {0, 0, 0};
    int64_t integer = 0;
    bool flag;
    switch (field->kind) {
    case TAC_FIELD_NUMBER:
        TAC_TRY(read_number(reader, field, value, where, base));
        break;
    case TAC_FIELD_INTEGER:
        TAC_TRY(tac_integer(reader, value, where, (int64_t)field->min, (int64_t)field->max, &integer));
        store(field, base, &integer, sizeof integer);
        break;
    case TAC_FIELD_VECTOR:
        TAC_TRY(tac_vector(reader, value, where, vector));
        for (int k = 0; k < 3; k++)
            if (fabs(vector[k]) > field->max)
                TAC_TRY(tac_scene_fail(reader, where, "has a component %s; it must stay within %g",
                                       tac_shown(vector[k]).text, field->max));
        store(field, base, vector, sizeof vector);
        break;
    case TAC_FIELD_RANGE:
        TAC_TRY(numbers(reader, value, where, 2, vector));
        for (int i = 0; i < 2; i++)
            TAC_TRY(in_range(reader, field, where, vector[i]));
        if (vector[0] > vector[1])
            TAC_TRY(tac_scene_fail(reader, where, "is [%s, %s]; the first must not exceed the second",
                                   tac_shown(vector[0]).text, tac_shown(vector[1]).text));
        store(field, base, vector, 2 * sizeof vector[0]);
        break;
    case TAC_FIELD_BOOL:
        if (!json_is_boolean(value))
            TAC_TRY(wrong_type(reader, value, where, "true or false"));
        flag = json_is_true(value);
        store(field, base, &flag, sizeof flag);
        break;
    case TAC_FIELD_FRICTION:
        TAC_TRY(read_friction(reader, field, value, where, base));
        break;
    case TAC_FIELD_CHOICE:
        TAC_TRY(read_choice(reader, field, value, where, base));
        break;
    case TAC_FIELD_OTHER:
        break;
    }
done:
    return err;
}

static bool has_fallback(const struct tac_field *field)
{
    return !isnan(field->fallback) && field->kind != TAC_FIELD_RANGE && field->kind != TAC_FIELD_OTHER;
}

/* The JSON of a field's default. */
static json_t *fallback_json(const struct tac_field *field)
{
    switch (field->kind) {
    case TAC_FIELD_NUMBER:
    case TAC_FIELD_FRICTION:
        return json_real(field->fallback);
    case TAC_FIELD_INTEGER:
        return json_integer((json_int_t)field->fallback);
    case TAC_FIELD_VECTOR:
        return json_pack("[f, f, f]", field->fallback, field->fallback, field->fallback);
    case TAC_FIELD_BOOL:
        return json_boolean(field->fallback != 0);
    case TAC_FIELD_CHOICE:
        return json_string(field->choice[(int)field->fallback]);
    default:
        return NULL;
    }
}

enum tac_err tac_fields_read(struct tac_reader *reader, json_t *object, const char *where,
                             const struct tac_field *field, size_t count, void *base)
{
    enum tac_err err = TAC_OK;
    if (!json_is_object(object))
        TAC_TRY(wrong_type(reader, object, where, "an object"));
    TAC_TRY(known_keys(reader, object, where, field, count));
    for (size_t i = 0; i < count; i++) {
        char place[TAC_WHERE];
        tac_where(place, where, field[i].key);
        json_t *value = json_object_get(object, field[i].key);
        if (value == NULL && field[i].required)
            TAC_TRY(tac_scene_fail(reader, place, "is missing; it is required"));
        if (value == NULL) {
            if (!has_fallback(&field[i]))
                continue;
            value = fallback_json(&field[i]);
            if (json_object_set_new(object, field[i].key, value) != 0) /* also refuses NULL */
                TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
        }
        TAC_TRY(tac_field_read(reader, &field[i], value, place, base));
    }
done:
    return err;
}

static enum tac_err child(struct tac_reader *reader, json_t *parent, const char *where, const char *key, bool array,
                          json_t **out)
{
    json_t *value = json_object_get(parent, key);
    if (value == NULL) {
        value = array ? json_array() : json_object();
        if (value == NULL || json_object_set_new(parent, key, value) != 0)
            return tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
    }
    if (array ? !json_is_array(value) : !json_is_object(value)) {
        char place[TAC_WHERE];
        tac_where(place, where, key);
        return wrong_type(reader, value, place, array ? "an array" : "an object");
    }
    *out = value;
    return TAC_OK;
}

enum tac_err tac_section(struct tac_reader *reader, json_t *parent, const char *where, const char *key, json_t **out)
{
    return child(reader, parent, where, key, false, out);
}

enum tac_err tac_list(struct tac_reader *reader, json_t *parent, const char *where, const char *key, json_t **out)
{
    return child(reader, parent, where, key, true, out);
}
