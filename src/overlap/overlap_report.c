/* overlap_report.c: says which elements overlap, in sentences and in the file overlaps.obj. */
#include "base/create.h"
#include "overlap/overlap_search.h"
#include "partition/part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What an overlap's two elements are. */
enum shape { SHAPE_VERTEX, SHAPE_EDGE, SHAPE_TRIANGLE };

static enum shape shape_of(enum tac_overlap_kind kind, int side)
{
    switch (kind) {
    case TAC_OVERLAP_EDGE_TRIANGLE:
        return side == 0 ? SHAPE_EDGE : SHAPE_TRIANGLE;
    case TAC_OVERLAP_EDGE_CROSSES_EDGE:
    case TAC_OVERLAP_EDGE_EDGE:
        return SHAPE_EDGE;
    case TAC_OVERLAP_VERTEX_TRIANGLE:
        return side == 0 ? SHAPE_VERTEX : SHAPE_TRIANGLE;
    case TAC_OVERLAP_VERTEX_EDGE:
        return side == 0 ? SHAPE_VERTEX : SHAPE_EDGE;
    default:
        return SHAPE_VERTEX;
    }
}

int tac_overlap_vertices(const struct tac_scene *scene, const struct tac_overlap *overlap, int side, tac_lid vertex[3])
{
    tac_lid id = overlap->element[side];
    enum shape shape = shape_of(overlap->kind, side);
    int count = shape == SHAPE_TRIANGLE ? 3 : shape == SHAPE_EDGE ? 2 : 1;
    const tac_lid *from = shape == SHAPE_TRIANGLE ? scene->mesh->triangle + 3 * (size_t)id
                          : shape == SHAPE_EDGE   ? scene->mesh->topology->edge + 2 * (size_t)id
                                                  : &id;
    for (int i = 0; i < count; i++)
        vertex[i] = from[i];
    return count;
}

/* A body's name as it may stand in a sentence and in OBJ: no control characters, not longer than a line, not cut inside
 * a character of UTF-8. */
static const char *printable(const char *name, char *text, size_t size)
{
    size_t n = strlen(name);
    if (n >= size) {
        n = size - 1;
        while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
            n--;
    }
    for (size_t i = 0; i < n; i++)
        text[i] = (unsigned char)name[i] < 32 || name[i] == 127 ? '?' : name[i];
    text[n] = '\0';
    return text;
}

/* Ids in the whole scene, of which this may be a part. */
static tac_gid vertex_id(const struct tac_scene *scene, tac_lid vertex)
{
    return scene->mesh->part ? scene->mesh->part->vertex_id[vertex] : vertex;
}

static tac_gid triangle_id(const struct tac_scene *scene, tac_lid triangle)
{
    return scene->mesh->part ? scene->mesh->part->triangle_id[triangle] : triangle;
}

static void describe_element(const struct tac_scene *scene, const struct tac_overlap *overlap, int side, char *text,
                             size_t size)
{
    const struct tac_body *body = &scene->settings->body[overlap->body[side]];
    tac_lid vertex[3], begin = body->vertex_begin;
    char name[96];
    tac_overlap_vertices(scene, overlap, side, vertex);
    printable(body->name, name, sizeof name);
    if (shape_of(overlap->kind, side) == SHAPE_TRIANGLE)
        snprintf(text, size, "triangle %" TAC_PRILID " of body `%s`",
                 (tac_lid)(triangle_id(scene, overlap->element[side]) - body->triangle_begin), name);
    else if (shape_of(overlap->kind, side) == SHAPE_EDGE)
        snprintf(text, size, "edge %" TAC_PRILID "-%" TAC_PRILID " of body `%s`",
                 (tac_lid)(vertex_id(scene, vertex[0]) - begin), (tac_lid)(vertex_id(scene, vertex[1]) - begin), name);
    else
        snprintf(text, size, "%s %" TAC_PRILID " of body `%s`", body->has_elements ? "vertex" : "particle",
                 (tac_lid)(vertex_id(scene, vertex[0]) - begin), name);
}

void tac_overlap_describe(const struct tac_scene *scene, const struct tac_overlap *overlap, char *text, size_t size)
{
    /* The larger element first: that is what one looks for. */
    int first = shape_of(overlap->kind, 1) > shape_of(overlap->kind, 0) ? 1 : 0;
    char a[160], b[160];
    describe_element(scene, overlap, first, a, sizeof a);
    describe_element(scene, overlap, 1 - first, b, sizeof b);
    const double *x = overlap->place;
    snprintf(text, size, "%s and %s near (%.6g, %.6g, %.6g), gap %.3g m", a, b, x[0], x[1], x[2], overlap->gap);
}

/* One of the elements to write: in OBJ those of a body are together, and none comes twice. */
struct entry {
    tac_lid body, id;
    enum shape shape;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;
    if (p->body != q->body)
        return p->body < q->body ? -1 : 1;
    if (p->shape != q->shape)
        return p->shape > q->shape ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

/* Writes an element with its own vertices; OBJ counts vertices from 1. */
static void write_element(FILE *file, const struct tac_scene *scene, const struct entry *entry, int64_t *written)
{
    static const char *const verb[] = {"p", "l", "f"};
    tac_lid vertex[3];
    /* Any kind that has the shape on its first or second place will do. */
    struct tac_overlap as = {.element = {entry->id, entry->id}};
    as.kind = entry->shape == SHAPE_TRIANGLE ? TAC_OVERLAP_EDGE_TRIANGLE
              : entry->shape == SHAPE_EDGE   ? TAC_OVERLAP_EDGE_EDGE
                                             : TAC_OVERLAP_VERTEX_VERTEX;
    int count = tac_overlap_vertices(scene, &as, 1, vertex);
    for (int i = 0; i < count; i++) {
        const double *x = scene->mesh->x + 3 * (size_t)vertex[i];
        fprintf(file, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
    }
    fputs(verb[entry->shape], file);
    for (int i = 0; i < count; i++)
        fprintf(file, " %" PRId64, ++*written);
    fputc('\n', file);
}

static void write_all(FILE *file, const struct tac_scene *scene, const struct tac_overlaps *overlaps,
                      const struct entry *entry, size_t entry_count)
{
    int64_t written = 0;
    char text[512];
    fprintf(file,
            "# surfaces that cross, touch or lie closer than their radius allows: %zu place%s%s, the worst first\n",
            overlaps->count, overlaps->count == 1 ? "" : "s", overlaps->more ? " and more" : "");
    for (size_t i = 0; i < overlaps->count; i++) {
        tac_overlap_describe(scene, &overlaps->overlap[i], text, sizeof text);
        fprintf(file, "# %zu: %s\n", i + 1, text);
    }
    for (size_t i = 0; i < entry_count; i++) {
        if (i > 0 && compare_entries(&entry[i - 1], &entry[i]) == 0)
            continue;
        if (i == 0 || entry[i - 1].body != entry[i].body) {
            char name[96];
            printable(scene->settings->body[entry[i].body].name, name, sizeof name);
            fprintf(file, "o %s\n", name);
        }
        write_element(file, scene, &entry[i], &written);
    }
    fputs("o places\n", file);
    for (size_t i = 0; i < overlaps->count; i++) {
        const double *x = overlaps->overlap[i].place;
        fprintf(file, "v %.17g %.17g %.17g\np %" PRId64 "\n", x[0], x[1], x[2], ++written);
    }
}

enum tac_err tac_overlap_write_obj(struct tac_ctx *ctx, const struct tac_scene *scene,
                                   const struct tac_overlaps *overlaps, const char *path)
{
    enum tac_err err = TAC_OK;
    struct entry *entry = NULL;
    FILE *file = NULL;
    char *temporary = NULL;
    size_t length = strlen(path) + sizeof ".tmp";
    TAC_TRY(tac_alloc(ctx, length, 1, &temporary));
    TAC_TRY(tac_alloc(ctx, 2 * overlaps->count, sizeof *entry, &entry));
    snprintf(temporary, length, "%s.tmp", path);
    for (size_t i = 0; i < 2 * overlaps->count; i++) {
        const struct tac_overlap *overlap = &overlaps->overlap[i / 2];
        int side = (int)(i % 2);
        entry[i] = (struct entry){overlap->body[side], overlap->element[side], shape_of(overlap->kind, side)};
    }
    qsort(entry, 2 * overlaps->count, sizeof *entry, compare_entries);
    file = tac_create_stream(AT_FDCWD, temporary);
    if (file == NULL) {
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s: %s; choose another folder", temporary, strerror(errno));
        goto done;
    }
    write_all(file, scene, overlaps, entry, 2 * overlaps->count);
    bool failed = ferror(file) != 0;
    failed = fclose(file) != 0 || failed;
    if (failed || rename(temporary, path) != 0) {
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s: %s; make room or choose another folder", path,
                       strerror(errno));
        unlink(temporary);
    }
done:
    free(temporary);
    free(entry);
    return err;
}

/* mkdir -p; what fails shows when the file is opened. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
}

static enum tac_err write_into(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_overlaps *overlaps,
                               const char *dir, char **path)
{
    size_t length = strlen(dir) + sizeof "/overlaps.obj";
    enum tac_err err = tac_alloc(ctx, length, 1, path);
    if (err)
        return err;
    snprintf(*path, length, "%s/overlaps.obj", dir);
    make_folders(*path);
    return tac_overlap_write_obj(ctx, scene, overlaps, *path);
}

enum tac_err tac_overlap_refuse(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_overlaps *overlaps,
                                const char *dir)
{
    const struct tac_overlap *worst = &overlaps->overlap[0];
    const struct tac_body *a = &scene->settings->body[worst->body[0]], *b = &scene->settings->body[worst->body[1]];
    char text[512], see[1024] = "", *path = NULL;
    tac_overlap_describe(scene, worst, text, sizeof text);
    if (dir != NULL && ctx->rank == 0) {
        struct tac_ctx writer = *ctx; /* its failure is part of the sentence, not the sentence */
        writer.error[0] = '\0';
        if (write_into(&writer, scene, overlaps, dir, &path) == TAC_OK)
            snprintf(see, sizeof see, "see %.900s; ", path);
        else
            snprintf(see, sizeof see, "(%.900s); ", writer.error);
    }
    free(path);
    const char *advice = worst->body[0] == worst->body[1] && a->piece_count > 1 ? "move its pieces apart"
                         : worst->body[0] == worst->body[1] && a->has_elements
                             ? "repair its mesh, or set its `self` to false"
                         : a->radius + b->radius > 0 ? "move the bodies apart or reduce `radius`"
                                                     : "move the bodies apart";
    return tac_fail(ctx, TAC_ERR_INPUT, "the scene's surfaces overlap in %s%zu place%s; the worst: %s; %s%s",
                    overlaps->more ? "more than " : "", overlaps->count, overlaps->count == 1 ? "" : "s", text, see,
                    advice);
}

enum tac_err tac_overlap_check(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir)
{
    struct tac_overlaps *overlaps = NULL;
    enum tac_err err = tac_overlap_find(ctx, scene, &overlaps);
    if (err == TAC_OK && overlaps->count > 0)
        err = tac_overlap_refuse(ctx, scene, overlaps, dir);
    tac_overlap_destroy(&overlaps);
    return tac_agree(ctx, err);
}
