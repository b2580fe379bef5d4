/* read.c: recognises the format of a mesh file and calls its reader. */
#include "mesh/read.h"

#include "base/child.h"
#include "mesh/kinds.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum format { UNKNOWN, OBJ, PLY, STL_TEXT, STL_BINARY, GMSH, HDF5, ABAQUS, VTU };

/* The size of a binary STL file is fixed by its count; nothing else of this size has that count by chance. */
static bool is_binary_stl(const struct tac_file *file)
{
    struct tac_bytes bytes = tac_bytes_begin(file, 80, false);
    uint64_t count = 0;
    if (file->size < 84 || tac_bytes_unsigned(&bytes, 4, "", &count) != TAC_OK)
        return false;
    return file->size - 84 == 50 * count;
}

/* No control characters but blanks among the first few hundred bytes. */
static bool is_text(const struct tac_file *file)
{
    for (size_t i = 0; i < file->size && i < 400; i++) {
        const unsigned char c = (unsigned char)file->data[i];
        if (c < 32 && strchr("\t\n\v\f\r", c) == NULL)
            return false;
        if (c == 0)
            return false;
    }
    return true;
}

static enum format by_content(const struct tac_file *file)
{
    struct tac_text t = tac_text_begin(file);
    const struct tac_word first = tac_text_any_word(&t);
    if (tac_word_is(first, "ply"))
        return PLY;
    if (is_binary_stl(file))
        return STL_BINARY;
    if (first.size > 1 && first.at[0] == '$')
        return GMSH;
    if (first.size > 0 && first.at[0] == '*' && is_text(file))
        return ABAQUS;
    if ((first.size >= 5 && memcmp(first.at, "<?xml", 5) == 0) || tac_word_is(first, "<VTKFile"))
        return VTU;
    /* Binary files may begin with "solid" too, but then bytes that no text has follow. */
    if (tac_word_is_nocase(first, "solid") && is_text(file))
        return STL_TEXT;
    return UNKNOWN;
}

static enum format by_extension(const char *path)
{
    static const struct {
        const char *extension;
        enum format format;
    } known[] = {{".obj", OBJ}, {".ply", PLY},   {".stl", STL_BINARY}, {".msh", GMSH},
                 {".h5", HDF5}, {".hdf5", HDF5}, {".inp", ABAQUS},     {".vtu", VTU}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof known / sizeof known[0]; i++) {
        if (strcasecmp(dot, known[i].extension) == 0)
            return known[i].format;
    }
    return UNKNOWN;
}

/* A text whose first line that is no comment begins with a word of OBJ. */
static bool looks_like_obj(const struct tac_file *file)
{
    static const char *const words[] = {"v", "vn", "vt", "f", "l", "o", "g", "s", "mtllib", "usemtl"};
    struct tac_text t = tac_text_begin(file);
    struct tac_word word = tac_text_any_word(&t);
    while (word.size > 0 && word.at[0] == '#' && tac_text_next_line(&t))
        word = tac_text_any_word(&t);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (tac_word_is(word, words[i]))
            return true;
    }
    return false;
}

static enum tac_err read_file(const struct tac_file *file, struct tac_builder *b)
{
    enum format format = by_content(file);
    if (format == UNKNOWN)
        format = by_extension(file->path);
    if (format == UNKNOWN && looks_like_obj(file))
        format = OBJ;
    switch (format) {
    case OBJ:
        return tac_read_obj(file, b);
    case PLY:
        if (by_content(file) != PLY)
            return tac_fail(file->ctx, TAC_ERR_INPUT, "%s, line 1: a PLY file begins with 'ply'; this is none",
                            file->path);
        return tac_read_ply(file, b);
    case STL_TEXT:
        return tac_read_stl_text(file, b);
    case STL_BINARY:
        return tac_read_stl_binary(file, b);
    case GMSH:
        return tac_read_gmsh(file, b);
    case ABAQUS:
        return tac_read_abaqus(file, b);
    case VTU:
        return tac_read_vtu(file, b);
    case HDF5:
        return tac_fail(file->ctx, TAC_ERR_INPUT, "%s: is no HDF5 file, though its name says so; it may be cut off",
                        file->path);
    case UNKNOWN:
        break;
    }
    return tac_fail(file->ctx, TAC_ERR_INPUT,
                    "%s: is no mesh file that is known here; OBJ, PLY, STL, Gmsh .msh, VTK .vtu, Abaqus .inp and "
                    "HDF5 are",
                    file->path);
}

static enum tac_err look_in_child(struct tac_ctx *ctx, void *path, int64_t *result)
{
    return tac_hdf5_look(ctx, path);
}

/* HDF5 crashes on some damaged files.  On one rank, which has no others to wait for it, a child process reads
 * all of it first. */
static enum tac_err read_hdf5(struct tac_ctx *ctx, char *path, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct stat info;
    if (ctx->size == 1)
        TAC_TRY(tac_child_try(ctx, path, stat(path, &info) == 0 ? info.st_size : 0, look_in_child, path, NULL));
    TAC_TRY(tac_read_hdf5(ctx, path, b));
done:
    return err;
}

enum tac_err tac_read_any(struct tac_ctx *ctx, const char *path, const char *from, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct tac_file file = {0};
    char *copy = strdup(path);
    if (copy == NULL)
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading '%s'", path);
    free(b->path);
    b->path = copy;
    b->where = copy;
    TAC_TRY(tac_file_check(ctx, copy, from));
    if (tac_is_hdf5(copy)) {
        TAC_TRY(read_hdf5(ctx, copy, b));
    } else {
        TAC_TRY(tac_file_load(ctx, copy, from, &file));
        TAC_TRY(read_file(&file, b));
    }
done:
    tac_file_free(&file);
    return err;
}

enum tac_err tac_mesh_read(struct tac_ctx *ctx, const char *path, struct tac_mesh **out)
{
    enum tac_err err = TAC_OK;
    struct tac_builder b;
    tac_builder_init(&b, ctx, path);
    TAC_TRY(tac_read_any(ctx, path, NULL, &b));
    TAC_TRY(tac_builder_finish(&b, false, TAC_MESH_ANY, out));
done:
    tac_builder_clear(&b);
    return err;
}

enum tac_err tac_make_file(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    const char *name = tac_params_string(p, "path");
    const bool joined =
        name[0] != '/' && p->base_dir != NULL && p->base_dir[0] != '\0' && strcmp(p->base_dir, ".") != 0;
    const size_t size = strlen(name) + (joined ? strlen(p->base_dir) : 0) + 2;
    char *path = NULL, from[512];
    TAC_TRY(tac_alloc(p->ctx, size, 1, &path));
    snprintf(path, size, "%s%s%s", joined ? p->base_dir : "", joined ? "/" : "", name);
    TAC_TRY(tac_read_any(p->ctx, path, tac_params_path(p, "path", from), b));
done:
    free(path);
    return err;
}
