/* tactus/mesh_kinds.h: the table of mesh kinds with their names and parameters.
 *
 * One table per kind serves the reader of scenes, a command line and its help, so they cannot disagree.  A mesh is made
 * by tac_mesh_create() (tactus/mesh.h) from the JSON description that the table allows.
 *
 *     const struct tac_mesh_kind *kind;
 *     TAC_TRY(tac_mesh_kind_find(ctx, "mesh", "sphere", &kind));
 *     for (size_t i = 0; i < kind->param_count; i++) puts(kind->param[i].name);
 */
#ifndef TACTUS_MESH_KINDS_PUBLIC_H
#define TACTUS_MESH_KINDS_PUBLIC_H

#include <jansson.h>
#include <tactus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tac_builder;     /* opaque */
struct tac_mesh_blocks; /* opaque */
struct tac_params;      /* opaque */

enum tac_param_type {
    TAC_PARAM_NUMBER,  /* 0.5 */
    TAC_PARAM_NUMBERS, /* [1, 2]: `width` of them */
    TAC_PARAM_COUNT,   /* 3 */
    TAC_PARAM_COUNTS,  /* [3, 4]: `width` of them */
    TAC_PARAM_FLAG,    /* true */
    TAC_PARAM_STRING,  /* "a.obj" */
    TAC_PARAM_ROWS,    /* [[0, 0, 0], [1, 0, 0]]: rows of `width` numbers */
    TAC_PARAM_INDICES, /* [[0, 1, 2]]: rows of `width` vertex indices */
    TAC_PARAM_OBJECT   /* {..}: has a table of its own */
};

struct tac_param {
    const char *name;
    enum tac_param_type type;
    int width; /* numbers per row; 0 for scalars */
    bool required;
    bool positive;                  /* numbers: must be over 0 */
    int least[3];                   /* counts: smallest allowed, per component */
    const char *help;               /* one line, for -h and docs */
    const struct tac_param *member; /* of an object: its table */
    size_t member_count;
};

struct tac_mesh_kind {
    const char *name;
    const char *help; /* one line */
    const struct tac_param *param;
    size_t param_count;
    /* The library's own: makes the mesh of a checked description, whole ... */
    enum tac_err (*make)(const struct tac_params *p, struct tac_builder *b);
    /* ... or by rows; NULL, or false: such a mesh is made as a whole only. */
    bool (*blocks)(const struct tac_params *p, struct tac_mesh_blocks *b);
};

extern const struct tac_mesh_kind tac_mesh_kinds[];
extern const size_t tac_mesh_kind_count;

/* Local. Finds the kind of that name. TAC_ERR_INPUT: there is none; the sentence suggests the nearest name. `path`:
 * JSON path for the sentence. */
enum tac_err tac_mesh_kind_find(struct tac_ctx *ctx, const char *path, const char *name,
                                const struct tac_mesh_kind **out);

/* Collective. Makes the mesh that `spec` describes by blocks and writes it to an HDF5 file, all ranks together, as
 * tac_mesh_create() and tac_mesh_write() would: the same checks, sentences and data.  *done stays false, and nothing
 * happens, where this cannot be: a kind that is made as a whole only, another format, few rows (under `smallest`), or a
 * description with something wrong in it.  rows: vertices and triangles written. */
enum tac_err tac_mesh_write_blocks(struct tac_ctx *ctx, const json_t *spec, const char *path, int64_t smallest,
                                   bool *done, int64_t rows[2]);

#ifdef __cplusplus
}
#endif
#endif
