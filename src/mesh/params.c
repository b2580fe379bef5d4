/* params.c: checks the parameters of a mesh against the table of its kind, and reads their values. */
#include "mesh/params.h"

#include "mesh/builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *tac_params_path(const struct tac_params *p, const char *name, char text[512])
{
    const size_t n = strlen(p->where);
    const bool joined = n == 0 || p->where[n - 1] == '-' || name[0] == '\0';
    snprintf(text, 512, "%.300s%s%.100s", p->where, joined ? "" : ".", name);
    return text;
}

/* The value as it stands in the file, cut to a few words. */
static const char *shown(const json_t *value, char text[64])
{
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    if (dump == NULL || strlen(dump) < 40)
        snprintf(text, 64, "%s", dump != NULL ? dump : "?");
    else
        snprintf(text, 64, "%.36s...", dump);
    free(dump);
    return text;
}

static const char *article(const char *what)
{
    return strchr("aeiou", what[0]) != NULL ? "an " : "a ";
}

static enum tac_err wrong(const struct tac_params *p, const struct tac_param *param, const char *index,
                          const json_t *value, const char *expected)
{
    char path[512], text[64];
    return tac_fail(p->ctx, TAC_ERR_INPUT, "%s%s: must be %s, not %s", tac_params_path(p, param->name, path), index,
                    expected, shown(value, text));
}

static bool is_integral(const json_t *value)
{
    return json_is_integer(value) || (json_is_real(value) && json_real_value(value) == floor(json_real_value(value)));
}

/* One number of a parameter; component k of its row. */
static enum tac_err check_component(const struct tac_params *p, const struct tac_param *param, const char *index, int k,
                                    const json_t *value)
{
    char expected[64];
    const double v = json_number_value(value);
    switch (param->type) {
    case TAC_PARAM_NUMBER:
    case TAC_PARAM_NUMBERS:
    case TAC_PARAM_ROWS:
        if (!json_is_number(value) || (param->positive && !(v > 0)))
            return wrong(p, param, index, value, param->positive ? "a number over 0" : "a number");
        if (!(fabs(v) <= TAC_COORDINATE_LIMIT))
            return wrong(p, param, index, value, "of a size that squares without overflow (at most 1e100)");
        return TAC_OK;
    case TAC_PARAM_INDICES:
        if (!json_is_integer(value) || v < 0)
            return wrong(p, param, index, value, "a vertex index, a whole number from 0");
        return TAC_OK;
    default:
        snprintf(expected, sizeof expected, "a whole number from %d to %" PRId64, param->least[k], TAC_MESH_LIMIT);
        if (!json_is_number(value) || !is_integral(value) || v < param->least[k] || v > (double)TAC_MESH_LIMIT)
            return wrong(p, param, index, value, expected);
        return TAC_OK;
    }
}

/* `width` numbers in an array. */
static enum tac_err check_row(const struct tac_params *p, const struct tac_param *param, const char *index,
                              const json_t *value)
{
    char text[64];
    const bool whole = param->type == TAC_PARAM_COUNTS || param->type == TAC_PARAM_INDICES;
    if (!json_is_array(value) || json_array_size(value) != (size_t)param->width) {
        snprintf(text, sizeof text, "%d %snumbers [%s]", param->width, whole ? "whole " : "",
                 param->width == 2   ? ".., .."
                 : param->width == 3 ? ".., .., .."
                                     : ".., .., .., ..");
        return wrong(p, param, index, value, text);
    }
    for (int k = 0; k < param->width; k++) {
        snprintf(text, sizeof text, "%s[%d]", index, k);
        enum tac_err err = check_component(p, param, text, k, json_array_get(value, (size_t)k));
        if (err != TAC_OK)
            return err;
    }
    return TAC_OK;
}

static enum tac_err check_value(const struct tac_params *p, const struct tac_param *param, const json_t *value)
{
    char text[512];
    switch (param->type) {
    case TAC_PARAM_NUMBER:
    case TAC_PARAM_COUNT:
        return check_component(p, param, "", 0, value);
    case TAC_PARAM_NUMBERS:
    case TAC_PARAM_COUNTS:
        return check_row(p, param, "", value);
    case TAC_PARAM_FLAG:
        return json_is_boolean(value) ? TAC_OK : wrong(p, param, "", value, "true or false");
    case TAC_PARAM_STRING:
        return json_is_string(value) && json_string_length(value) > 0
                   ? TAC_OK
                   : wrong(p, param, "", value, "a string in quotes");
    case TAC_PARAM_ROWS:
    case TAC_PARAM_INDICES:
        if (!json_is_array(value)) {
            snprintf(text, sizeof text, "a list of rows of %d numbers", param->width);
            return wrong(p, param, "", value, text);
        }
        for (size_t row = 0; row < json_array_size(value); row++) {
            snprintf(text, sizeof text, "[%zu]", row);
            enum tac_err err = check_row(p, param, text, json_array_get(value, row));
            if (err != TAC_OK)
                return err;
        }
        return TAC_OK;
    case TAC_PARAM_OBJECT: {
        struct tac_params inner = *p;
        inner.object = value;
        inner.where = tac_params_path(p, param->name, text);
        inner.what = param->name;
        if (!json_is_object(value))
            return wrong(p, param, "", value, "an object {..}");
        return tac_params_check(&inner, param->member, param->member_count, NULL);
    }
    }
    return TAC_OK;
}

static enum tac_err unknown_key(const struct tac_params *p, const struct tac_param *table, size_t count,
                                const char *key)
{
    const char *names[16], *near;
    char path[512], known[256] = "";
    for (size_t i = 0; i < count; i++) {
        names[i] = table[i].name;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", names[i]);
    }
    near = tac_nearest(key, names, count);
    const bool option = p->where[0] == '-';
    if (near != NULL)
        return tac_fail(p->ctx, TAC_ERR_INPUT, "%s: %s%s has no such %s; did you mean '%s%s'?",
                        tac_params_path(p, key, path), article(p->what), p->what, option ? "option" : "key",
                        option ? "--" : "", near);
    return tac_fail(p->ctx, TAC_ERR_INPUT, "%s: %s%s has no such %s; it has %s", tac_params_path(p, key, path),
                    article(p->what), p->what, option ? "option" : "key", known);
}

enum tac_err tac_params_check(const struct tac_params *p, const struct tac_param *table, size_t count,
                              const char *ignored)
{
    enum tac_err err = TAC_OK;
    const char *key;
    json_t *value;
    char path[512];
    TAC_CHECK(count <= 16);
    /* jansson's iteration does not change the object, but its type says it might. */
    json_object_foreach((json_t *)p->object, key, value)
    {
        size_t i = 0;
        if (ignored != NULL && strcmp(key, ignored) == 0)
            continue;
        while (i < count && strcmp(key, table[i].name) != 0)
            i++;
        if (i == count) {
            err = unknown_key(p, table, count, key);
            goto done;
        }
        TAC_TRY(check_value(p, &table[i], value));
    }
    for (size_t i = 0; i < count; i++) {
        if (table[i].required && json_object_get(p->object, table[i].name) == NULL) {
            err = tac_fail(p->ctx, TAC_ERR_INPUT, "%s: is missing; %s%s needs it: %s",
                           tac_params_path(p, table[i].name, path), article(p->what), p->what, table[i].help);
            goto done;
        }
    }
done:
    return err;
}

bool tac_params_has(const struct tac_params *p, const char *name)
{
    return json_object_get(p->object, name) != NULL;
}

double tac_params_number(const struct tac_params *p, const char *name)
{
    return json_number_value(json_object_get(p->object, name));
}

static int64_t whole(const json_t *value)
{
    return json_is_integer(value) ? (int64_t)json_integer_value(value) : (int64_t)json_real_value(value);
}

int64_t tac_params_count(const struct tac_params *p, const char *name, int64_t missing)
{
    const json_t *value = json_object_get(p->object, name);
    return value != NULL ? whole(value) : missing;
}

bool tac_params_flag(const struct tac_params *p, const char *name)
{
    return json_is_true(json_object_get(p->object, name));
}

const char *tac_params_string(const struct tac_params *p, const char *name)
{
    return json_string_value(json_object_get(p->object, name));
}

void tac_params_numbers(const struct tac_params *p, const char *name, int width, double *out)
{
    const json_t *row = json_object_get(p->object, name);
    for (int k = 0; k < width; k++)
        out[k] = json_number_value(json_array_get(row, (size_t)k));
}

void tac_params_counts(const struct tac_params *p, const char *name, int width, int64_t *out)
{
    const json_t *row = json_object_get(p->object, name);
    for (int k = 0; k < width; k++)
        out[k] = whole(json_array_get(row, (size_t)k));
}

size_t tac_params_row_count(const struct tac_params *p, const char *name)
{
    return json_array_size(json_object_get(p->object, name));
}

void tac_params_row(const struct tac_params *p, const char *name, size_t row, int width, double *out)
{
    const json_t *values = json_array_get(json_object_get(p->object, name), row);
    for (int k = 0; k < width; k++)
        out[k] = json_number_value(json_array_get(values, (size_t)k));
}
