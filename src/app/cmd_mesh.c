/* cmd_mesh.c: tactus mesh KIND [--option value ...] -o FILE.
 *
 * The options of a kind are the keys of its JSON description, from the same table. So this file only turns words into
 * JSON values; tac_mesh_create() checks them and makes the mesh. */
#include "app/app.h"

#include <tactus/mesh.h>
#include <tactus/mesh_kinds.h>
#include <tactus/report.h>

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24 };

/* One option of the kind: a parameter, or a member of one. */
struct given {
    const struct tac_param *param;
    const struct tac_param *parent; /* the object it belongs to, or NULL */
    char name[64];                  /* "--size", "--lattice.count" */
    const char *text;               /* borrowed; NULL: not given */
    bool flag;
};

static const char *argument_of(const struct tac_param *param)
{
    switch (param->type) {
    case TAC_PARAM_NUMBER:
    case TAC_PARAM_COUNT:
        return "N";
    case TAC_PARAM_NUMBERS:
    case TAC_PARAM_COUNTS:
        return param->width == 2 ? "A,B" : "A,B,C";
    case TAC_PARAM_ROWS:
        return "A,B,C;...";
    case TAC_PARAM_INDICES:
        return param->width == 2 ? "I,J;..." : param->width == 3 ? "I,J,K;..." : "I,J,K,L;...";
    case TAC_PARAM_STRING: /* a file, or a word that the help lists */
        return strcmp(param->name, "path") == 0 ? "FILE" : "WORD";
    case TAC_PARAM_OBJECT:
        return "JSON";
    case TAC_PARAM_FLAG:
        break;
    }
    return NULL;
}

static size_t list_options(const struct tac_mesh_kind *kind, struct given given[MOST])
{
    size_t n = 0;
    for (size_t i = 0; i < kind->param_count; i++) {
        const struct tac_param *p = &kind->param[i];
        TAC_CHECK(n + 1 + p->member_count < MOST);
        given[n].param = p;
        snprintf(given[n++].name, sizeof given->name, "--%s", p->name);
        for (size_t k = 0; k < p->member_count; k++) {
            given[n].param = &p->member[k];
            given[n].parent = p;
            snprintf(given[n++].name, sizeof given->name, "--%s.%s", p->name, p->member[k].name);
        }
    }
    return n;
}

/* A table for the option parser that fills `given` and *file. */
static size_t make_table(struct given *given, size_t count, const char **file, struct tac_option table[MOST])
{
    for (size_t i = 0; i < count; i++) {
        const bool flag = given[i].param->type == TAC_PARAM_FLAG;
        table[i] = (struct tac_option){.name = given[i].name,
                                       .kind = flag ? TAC_OPTION_FLAG : TAC_OPTION_STRING,
                                       .value = flag ? (void *)&given[i].flag : (void *)&given[i].text,
                                       .argument = argument_of(given[i].param),
                                       .help = given[i].param->help};
    }
    table[count] = (struct tac_option){.name = "-o",
                                       .kind = TAC_OPTION_STRING,
                                       .value = (void *)file,
                                       .argument = "FILE",
                                       .help = "where to write: .obj, .ply, .stl, .msh or .h5"};
    return count + 1;
}

static enum tac_err bad_value(struct tac_ctx *ctx, const struct given *g, const char *why)
{
    return tac_fail(ctx, TAC_ERR_INPUT, "%s: '%.100s' %s; give %s or a JSON value", g->name, g->text, why,
                    argument_of(g->param));
}

/* The number at *text, blanks around it skipped; *text moves behind it. NULL if there is none. */
static json_t *parse_number(const char **text)
{
    char *end;
    while (isspace((unsigned char)**text))
        ++*text;
    /* strtod also reads hexadecimal, inf and nan, which JSON has not. */
    const size_t length = strspn(*text, "0123456789+-.eE");
    const double value = strtod(*text, &end);
    if (end == *text || end > *text + length)
        return NULL;
    errno = 0;
    char *whole_end;
    const long long whole = strtoll(*text, &whole_end, 10);
    json_t *number = whole_end == end && errno == 0 ? json_integer(whole) : json_real(value);
    *text = end;
    while (isspace((unsigned char)**text))
        ++*text;
    return number;
}

/* Numbers with commas between them, up to the end or a semicolon. */
static json_t *parse_row(const char **text)
{
    json_t *row = json_array();
    for (;;) {
        json_t *number = parse_number(text);
        if (number == NULL || json_array_append_new(row, number) != 0)
            break;
        if (**text == '\0' || **text == ';')
            return row;
        if (*(*text)++ != ',')
            break;
    }
    json_decref(row);
    return NULL;
}

/* Rows with semicolons between them; one may end the last. */
static json_t *parse_rows(const char **text)
{
    json_t *rows = json_array();
    while (**text != '\0') {
        json_t *row = parse_row(text);
        if (row == NULL || json_array_append_new(rows, row) != 0) {
            json_decref(rows);
            return NULL;
        }
        if (**text == ';')
            ++*text;
    }
    return rows;
}

static enum tac_err parse_value(struct tac_ctx *ctx, const struct given *g, json_t **out)
{
    const char *text = g->text;
    const enum tac_param_type type = g->param->type;
    while (isspace((unsigned char)*text))
        text++;
    *out = NULL;
    if (type == TAC_PARAM_STRING) {
        *out = json_string(g->text);
        return *out != NULL ? TAC_OK : bad_value(ctx, g, "is not UTF-8 text");
    }
    if (type == TAC_PARAM_OBJECT || *text == '[' || *text == '{') {
        json_error_t error;
        char why[256];
        bool no_memory;
        *out = tac_json_value(text, &error, &no_memory);
        if (no_memory)
            return tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading the command line");
        snprintf(why, sizeof why, "is no JSON: %s", error.text);
        return *out != NULL ? TAC_OK : bad_value(ctx, g, why);
    }
    if (type == TAC_PARAM_NUMBER || type == TAC_PARAM_COUNT)
        *out = parse_number(&text);
    else if (type == TAC_PARAM_ROWS || type == TAC_PARAM_INDICES)
        *out = parse_rows(&text);
    else
        *out = parse_row(&text);
    if (*out == NULL || *text != '\0') {
        json_decref(*out);
        *out = NULL;
        return bad_value(ctx, g, "cannot be read as numbers");
    }
    return TAC_OK;
}

/* The description that a scene would have under "mesh". */
static enum tac_err make_spec(struct tac_ctx *ctx, const struct tac_mesh_kind *kind, const struct given *given,
                              size_t count, json_t **out)
{
    enum tac_err err = TAC_OK;
    json_t *spec = json_object(), *value = NULL;
    bool room = json_object_set_new(spec, "kind", json_string(kind->name)) == 0;
    for (size_t i = 0; i < count; i++) {
        const struct given *g = &given[i];
        json_t *to = spec;
        if (g->text == NULL && !g->flag)
            continue;
        if (g->flag)
            value = json_true();
        else
            TAC_TRY(parse_value(ctx, g, &value));
        if (g->parent != NULL) {
            to = json_object_get(spec, g->parent->name);
            if (to == NULL) {
                to = json_object();
                room = json_object_set_new(spec, g->parent->name, to) == 0 && room;
            }
            if (json_object_get(to, g->param->name) != NULL) {
                json_decref(value);
                err = tac_fail(ctx, TAC_ERR_INPUT, "%s: is given twice, also in --%s", g->name, g->parent->name);
                goto done;
            }
        }
        room = json_object_set_new(to, g->param->name, value) == 0 && room;
    }
    if (!room)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading the command line"));
    *out = json_incref(spec);
done:
    json_decref(spec);
    return err;
}

static void print_kinds(void)
{
    printf("usage: tactus mesh KIND [--option value ...] -o FILE\n\n"
           "Makes a mesh and writes it as .obj, .ply, .stl, .msh or .h5. Options have the names of the keys under "
           "\"mesh\" "
           "in a\n"
           "scene; a value is a number, numbers with commas (1,2), rows with semicolons (0,0,0;1,0,0), or "
           "JSON.\n\nkinds:\n");
    for (size_t k = 0; k < tac_mesh_kind_count; k++) {
        struct given given[MOST] = {0};
        const struct tac_mesh_kind *kind = &tac_mesh_kinds[k];
        const size_t count = list_options(kind, given);
        printf("\n  %-14s %s\n", kind->name, kind->help);
        for (size_t i = 0; i < count; i++) {
            const char *argument = argument_of(given[i].param);
            char left[96];
            snprintf(left, sizeof left, "%s %s", given[i].name, argument != NULL ? argument : "");
            printf("    %-24s %s%s\n", left, given[i].param->help,
                   given[i].param->required && given[i].parent == NULL ? " (needed)" : "");
        }
    }
    printf("\n  %-26s %s\n  %-26s %s\n", "-o FILE", "where to write: .obj, .ply, .stl, .msh or .h5", "-h, --help",
           "this text; after a KIND, its options");
}

/* The mesh as a whole, by one rank. */
static enum tac_err write_whole(struct tac_ctx *ctx, const json_t *spec, const char *file)
{
    struct tac_mesh *mesh = NULL;
    enum tac_err err = TAC_OK;
    /* If a file with tetrahedra is written to a surface format, its surface is written. */
    const char *dot = strrchr(file, '.');
    const bool solid = json_object_get(spec, "fill") != NULL || json_object_get(spec, "tetrahedra") != NULL ||
                       (dot != NULL && (strcasecmp(dot, ".h5") == 0 || strcasecmp(dot, ".msh") == 0));
    TAC_TRY(tac_mesh_create_as(ctx, spec, "--", ".", solid ? TAC_MESH_ANY : TAC_MESH_SURFACE, &mesh));
    TAC_TRY(tac_mesh_write(ctx, mesh, file));
    printf("%s: %" TAC_PRILID " vertices, %" TAC_PRILID " triangles, %" TAC_PRILID " segments\n", file,
           mesh->vertex_count, mesh->triangle_count, mesh->segment_count);
    if (mesh->tetrahedron_count > 0)
        printf("%s: a solid of %" TAC_PRILID " tetrahedra; the triangles are its surface\n", file,
               mesh->tetrahedron_count);
done:
    tac_mesh_destroy(&mesh);
    return err;
}

/* Writes a large mesh with all ranks together if the format allows it, any other with rank 0. */
static enum tac_err write_mesh(struct tac_ctx *ctx, const json_t *spec, const char *file)
{
    enum { SMALLEST = 1 << 17 }; /* rows: below, starting to write together takes longer than writing */
    enum tac_err err = TAC_OK;
    bool done = false;
    int64_t rows[2] = {0, 0};
    TAC_TRY(tac_mesh_write_blocks(ctx, spec, file, SMALLEST, &done, rows));
    if (done && ctx->rank == 0)
        printf("%s: %" PRId64 " vertices, %" PRId64 " triangles, 0 segments\n", file, rows[0], rows[1]);
    if (!done && ctx->rank == 0) {
        struct tac_ctx alone = *ctx;
        alone.size = 1;
        err = write_whole(&alone, spec, file);
        memcpy(ctx->error, alone.error, sizeof ctx->error);
    }
done:
    return err;
}

enum tac_err tac_cmd_mesh(struct tac_ctx *ctx, int argc, char **argv)
{
    enum tac_err err = TAC_OK;
    const struct tac_mesh_kind *kind = NULL;
    struct given given[MOST] = {0};
    struct tac_option table[MOST];
    json_t *spec = NULL;
    const char *file = NULL, *unused[1];
    char name[64], usage[64];
    bool help = false;
    if (argc > 0 && (strcmp(argv[0], "-h") == 0 || strcmp(argv[0], "--help") == 0)) {
        if (ctx->rank == 0)
            print_kinds();
        goto done;
    }
    if (argc == 0 || argv[0][0] == '-') {
        err = tac_fail(ctx, TAC_ERR_INPUT,
                       "tactus mesh needs the kind of mesh first, such as 'tactus mesh sphere "
                       "--radius 1 -o ball.obj'; 'tactus mesh -h' lists the kinds");
        goto done;
    }
    TAC_TRY(tac_mesh_kind_find(ctx, "tactus mesh", argv[0], &kind));
    const size_t count = list_options(kind, given);
    const size_t options = make_table(given, count, &file, table);
    snprintf(name, sizeof name, "mesh %s", kind->name);
    snprintf(usage, sizeof usage, "[--option value ...] -o FILE");
    TAC_TRY(tac_options_parse(ctx, name, argc - 1, argv + 1, table, options, unused, 0, NULL, &help));
    if (help) {
        if (ctx->rank == 0)
            tac_options_help(name, usage, kind->help, table, options);
        goto done;
    }
    if (file == NULL) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "-o is missing; tactus mesh needs the file to write: -o %s.obj", kind->name);
        goto done;
    }
    TAC_TRY(make_spec(ctx, kind, given, count, &spec));
    TAC_TRY(write_mesh(ctx, spec, file));
done:
    json_decref(spec);
    return err;
}
