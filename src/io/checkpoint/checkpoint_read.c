/* checkpoint_read.c: reads a checkpoint: the file, and the data that are the same on all ranks. The file is whole, but
 * another program may have made it, so every value in it is checked. */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/child.h"
#include "base/json_read.h"
#include "io/checkpoint/checkpoint_room.h"
#include "io/h5/stored.h"

/* ---- data that is the same on all ranks ---- */

static enum tac_err read_about(struct tac_checkpoint_reader *r)
{
    struct tac_checkpoint_about *a = &r->about;
    const hid_t file = r->stored.file;
    char format[64];
    if (!tac_h5_get_text(file, "format", format, sizeof format))
        return tac_checkpoint_wrong(r, "it does not say what it is");
    r->format = strcmp(format, TAC_CHECKPOINT_FORMAT) == 0 ? 2 : strcmp(format, TAC_CHECKPOINT_FORMAT_1) == 0 ? 1 : 0;
    if (r->format == 0)
        return tac_checkpoint_wrong(r, "it does not say what it is");
    if (!tac_h5_get_text_if_any(file, "name", a->name, sizeof a->name) ||
        !tac_h5_get_text_if_any(file, "version", a->version, sizeof a->version) ||
        !tac_h5_get_text_if_any(file, "commit", a->commit, sizeof a->commit))
        return tac_checkpoint_wrong(r, "an attribute of it cannot be read");
    if (!tac_h5_get_text(file, "scene_sha256", a->sha256, sizeof a->sha256) ||
        strspn(a->sha256, "0123456789abcdef") != 64)
        return tac_checkpoint_wrong(r, "its scene's hash is missing");
    tac_tame(a->name);
    tac_tame(a->version);
    tac_tame(a->commit);
    hid_t id = H5Aexists(file, "ranks") > 0 ? H5Aopen(file, "ranks", H5P_DEFAULT) : -1;
    hid_t space = id >= 0 ? H5Aget_space(id) : -1;
    bool ok = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 && H5Aread(id, H5T_NATIVE_INT64, &a->ranks) >= 0 &&
              a->ranks >= 1;
    if (space >= 0)
        H5Sclose(space);
    if (id >= 0)
        H5Aclose(id);
    return ok ? TAC_OK : tac_checkpoint_wrong(r, "it does not say how many ranks wrote it");
}

static enum tac_err get_sum(const struct tac_checkpoint_reader *r, const int64_t *row, struct tac_accum *sum)
{
    const int64_t most = (int64_t)1 << 33; /* of a limb: carries are propagated before a checkpoint */
    memcpy(sum->limb, row, sizeof sum->limb);
    sum->bad = row[TAC_ACCUM_LIMBS] != 0;
    for (int i = 0; i < TAC_ACCUM_LIMBS; i++)
        if (row[i] > most || row[i] < -most)
            return tac_checkpoint_wrong(r, "its sums make no sense");
    sum->pending = 1;
    tac_accum_carry(sum);
    return TAC_OK;
}

static enum tac_err read_sums(const struct tac_checkpoint_reader *r, const int64_t *sums)
{
    enum tac_err err = TAC_OK;
    struct tac_accum *const sum[TAC_CHECKPOINT_SUMS] = {&r->c->dissipated, &r->c->work,      &r->c->total_start,
                                                        &r->c->couple[0],  &r->c->couple[1], &r->c->couple[2]};
    for (int k = 0; k < TAC_CHECKPOINT_SUMS && !err; k++)
        err = get_sum(r, &sums[k * (TAC_ACCUM_LIMBS + 1)], sum[k]);
    return err;
}

/* Reads what was dissipated, by cause. Older files do not have it. */
static enum tac_err read_losses(struct tac_checkpoint_reader *r)
{
    enum { SUMS = TAC_CHECKPOINT_LOSSES * (TAC_ACCUM_LIMBS + 1) };
    static const struct tac_checkpoint_column column[2] = {{"losses", NULL, false, 0, 0},
                                                           {"row_losses", NULL, true, 0, 0}};
    enum tac_err err = TAC_OK;
    struct tac_checkpoint *c = r->c;
    int64_t *sums = NULL;
    double *value = NULL;
    c->row.lost_friction = c->row.lost_restitution = c->row.lost_damping = c->row.lost_plasticity = NAN;
    if (!c->has_losses)
        return TAC_OK;
    TAC_TRY(tac_checkpoint_columns(r, &column[0], 1, SUMS, 0, SUMS, 8, &sums));
    for (int k = 0; k < TAC_CHECKPOINT_LOSSES && !err; k++)
        err = get_sum(r, &sums[k * (TAC_ACCUM_LIMBS + 1)], &c->lost[k]);
    if (err || !c->has_row)
        goto done;
    TAC_TRY(tac_checkpoint_columns(r, &column[1], 1, TAC_CHECKPOINT_LOST, 0, TAC_CHECKPOINT_LOST, 8, &value));
    for (int k = 0; k < TAC_CHECKPOINT_LOST && !err; k++)
        if (!isfinite(value[k]))
            err = tac_checkpoint_wrong(r, "its row of energy.csv makes no sense");
    tac_checkpoint_row_losses(&c->row, value, false);
done:
    free(sums);
    free(value);
    return err;
}

static bool counts_sensible(const int64_t *number, int n)
{
    for (int i = 0; i < n; i++)
        if (number[i] < 0 || number[i] > INT64_MAX / 4)
            return false;
    return true;
}

static bool numbers_sensible(const struct tac_checkpoint *c, const double *real)
{
    for (int i = 0; i < TAC_CHECKPOINT_REALS; i++)
        if (!isfinite(real[i]))
            return false;
    return c->frame <= c->now + 1 && c->last_frame <= c->now && c->vertex_total <= INT32_MAX &&
           c->triangle_total <= INT32_MAX && c->segment_total <= INT32_MAX && c->tetrahedron_total <= INT32_MAX &&
           c->wall_s >= 0 && c->deepest_layer <= INT32_MAX;
}

/* `rows` counts of a dataset of one dimension, or of `columns`, into `out`; they are in range. */
static enum tac_err read_counts(struct tac_checkpoint_reader *r, const char *name, int64_t rows, int columns,
                                int64_t *out)
{
    enum tac_err err;
    const struct tac_checkpoint_column column = {name, NULL, false, columns, 0};
    const int numbers = (int)rows * (columns > 0 ? columns : 1);
    int64_t *data = NULL;
    TAC_TRY(tac_checkpoint_columns(r, &column, 1, rows, 0, rows, 8 * (size_t)(columns > 0 ? columns : 1), &data));
    if (!counts_sensible(data, numbers))
        TAC_TRY(tac_checkpoint_wrong(r, "its numbers make no sense"));
    memcpy(out, data, (size_t)numbers * sizeof *out);
done:
    free(data);
    return err;
}

/* Counters and ticks; kinds of forces that came after the file was written have none. */
static enum tac_err read_counters(struct tac_checkpoint_reader *r, struct tac_checkpoint_numbers *n)
{
    static const struct tac_checkpoint_column ticks = {"ticks", NULL, false, 2, 0};
    enum tac_err err;
    int64_t kinds = 0;
    TAC_TRY(read_counts(r, "counters", TAC_CHECKPOINT_COUNTERS, 0, n->counter));
    TAC_TRY(tac_checkpoint_count(r, &ticks, &kinds));
    if (kinds < 1 || kinds > TAC_COUNTED_KINDS)
        TAC_TRY(tac_checkpoint_wrong(r, "it counts ticks of forces that are not known"));
    TAC_TRY(read_counts(r, ticks.name, kinds, ticks.columns, n->ticks[0]));
done:
    return err;
}

static enum tac_err read_numbers(struct tac_checkpoint_reader *r)
{
    enum { SUMS = TAC_CHECKPOINT_SUMS * (TAC_ACCUM_LIMBS + 1) };
    static const struct tac_checkpoint_column column[2] = {{"reals", NULL, true, 0, 0}, {"sums", NULL, false, 0, 0}};
    enum tac_err err;
    struct tac_checkpoint_numbers n = {{0}, {0}, {{0}}, {0}};
    int64_t integer_1[TAC_CHECKPOINT_INTEGERS_1], *sums = NULL;
    double *real = NULL;
    TAC_TRY(tac_checkpoint_columns(r, &column[0], 1, TAC_CHECKPOINT_REALS, 0, TAC_CHECKPOINT_REALS, 8, &real));
    memcpy(n.real, real, sizeof n.real);
    if (r->format == 1) {
        TAC_TRY(read_counts(r, "integers", TAC_CHECKPOINT_INTEGERS_1, 0, integer_1));
        tac_checkpoint_unpack_1(r->c, integer_1, real);
    } else {
        TAC_TRY(read_counts(r, "integers", TAC_CHECKPOINT_INTEGERS, 0, n.integer));
        TAC_TRY(read_counters(r, &n));
        tac_checkpoint_unpack(r->c, &n);
    }
    TAC_TRY(numbers_sensible(r->c, real) ? TAC_OK : tac_checkpoint_wrong(r, "its numbers make no sense"));
    TAC_TRY(tac_checkpoint_columns(r, &column[1], 1, SUMS, 0, SUMS, 8, &sums));
    TAC_TRY(read_sums(r, sums));
done:
    free(real);
    free(sums);
    return err;
}

/* A row that can be printed: numbers, counts that are whole, and perhaps no distance. */
static bool row_sensible(const double value[TAC_CHECKPOINT_ROW])
{
    enum { CONTACTS = 19, DEEPEST = 20, DISTANCE = 21 };
    for (int k = 0; k < TAC_CHECKPOINT_ROW; k++) {
        const bool count = k == CONTACTS || k == DEEPEST;
        if ((k != DISTANCE && !isfinite(value[k])) || (count && !(value[k] >= 0 && value[k] <= 9007199254740992)))
            return false;
    }
    return true;
}

/* Reads the checksums of the folder's tables, on rank 0. Older files do not have them. */
static enum tac_err read_sums_of_lines(struct tac_checkpoint_reader *r)
{
    enum tac_err err = TAC_OK;
    for (int k = 0; k < TAC_LINES; k++) {
        struct tac_output_sums *s = &r->c->folder.sums[k];
        if (s->count > 0)
            TAC_TRY(tac_checkpoint_columns(r, &TAC_SUM_COLUMNS[k], 1, s->count, 0, r->ctx->rank == 0 ? s->count : 0,
                                           sizeof *s->line, &s->line));
    }
done:
    return err;
}

/* Reads what the folder held, on rank 0. Older files do not have it. */
static enum tac_err read_folder(struct tac_checkpoint_reader *r)
{
    static const struct tac_checkpoint_column column = {"row", NULL, true, 0, 0};
    enum tac_err err = TAC_OK;
    struct tac_checkpoint *c = r->c;
    double *value = NULL;
    const int64_t mine = r->ctx->rank == 0 ? c->folder.entry_count : 0;
    int64_t before = -1;
    if (c->has_row) {
        TAC_TRY(tac_checkpoint_columns(r, &column, 1, TAC_CHECKPOINT_ROW, 0, TAC_CHECKPOINT_ROW, 8, &value));
        TAC_TRY(row_sensible(value) ? TAC_OK : tac_checkpoint_wrong(r, "its row of energy.csv makes no sense"));
        tac_checkpoint_row(&c->row, value, false);
    }
    TAC_TRY(read_losses(r));
    TAC_TRY(read_sums_of_lines(r));
    TAC_TRY(tac_checkpoint_read_follow(r));
    if (c->folder.entry_count == 0)
        goto done;
    TAC_TRY(tac_checkpoint_columns(r, TAC_ENTRY_COLUMNS, 3, c->folder.entry_count, 0, mine, sizeof *c->folder.entry,
                                   &c->folder.entry));
    for (int64_t k = 0; k < mine && !err; k++) {
        const struct tac_output_entry *e = &c->folder.entry[k];
        if (e->index <= before || e->index >= c->frame || (e->frame != 0 && e->frame != 1) || e->row < -1 ||
            e->row > UINT32_MAX)
            err = tac_checkpoint_wrong(r, "what it says of its folder makes no sense");
        before = e->index;
    }
done:
    free(value);
    return err;
}

/* Names are printed; the scene's reader takes none with control characters, so none was written. */
static bool names_sensible(const json_t *scene)
{
    size_t b;
    const json_t *body;
    json_array_foreach(json_object_get(scene, "bodies"), b, body)
    {
        const char *name = json_string_value(json_object_get(body, "name"));
        for (; name != NULL && *name != '\0'; name++)
            if (iscntrl((unsigned char)*name) || ((unsigned char)name[0] == 0xc2 && (unsigned char)name[1] < 0xa0))
                return false;
    }
    return true;
}

static enum tac_err read_scene(struct tac_checkpoint_reader *r)
{
    enum tac_err err = TAC_OK;
    hsize_t size[2] = {0, 0}; /* the second is not used */
    char *text = NULL;
    json_error_t error = {0};
    hid_t id =
        H5Lexists(r->stored.file, "scene", H5P_DEFAULT) > 0 ? H5Dopen2(r->stored.file, "scene", H5P_DEFAULT) : -1;
    hid_t space = id >= 0 ? H5Dget_space(id) : -1, type = id >= 0 ? H5Dget_type(id) : -1;
    if (space < 0 || type < 0 || H5Sget_simple_extent_ndims(space) != 1 ||
        H5Sget_simple_extent_dims(space, size, NULL) != 1 || size[0] == 0 || H5Tequal(type, H5T_STD_U8LE) <= 0 ||
        !tac_stored_sound(id, size, 1, 1)) {
        err = tac_checkpoint_wrong(r, "its scene is missing");
        goto done;
    }
    TAC_TRY(tac_alloc(r->ctx, (size_t)size[0], 1, &text));
    if (tac_h5_read_rows(id, H5T_NATIVE_UCHAR, 0, 0, (int64_t)size[0], text))
        r->json = tac_json_read_text(text, (size_t)size[0], JSON_REJECT_DUPLICATES, &error);
    if (r->json == NULL && tac_json_no_memory(&error))
        err = tac_fail(r->ctx, TAC_ERR_RUN, "out of memory while reading '%.1000s'", r->path);
    else if (!json_is_object(r->json))
        err = tac_checkpoint_wrong(r, "its scene cannot be read");
    else if (!names_sensible(r->json))
        err = tac_checkpoint_wrong(r, "the name of a body holds a control character");
done:
    free(text);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (id >= 0)
        H5Dclose(id);
    return err;
}

/* ---- the whole ---- */

static enum tac_err open_checkpoint_file(struct tac_checkpoint_reader *r)
{
    r->stored.file = tac_h5_open_read(r->path);
    return r->stored.file >= 0 ? TAC_OK : tac_checkpoint_wrong(r, "the HDF5 library cannot open it");
}

/* Local. All but the last distances. */
static enum tac_err read_tables(struct tac_checkpoint_reader *r)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(r->ctx, 1, sizeof *r->c, &r->c));
    TAC_TRY(open_checkpoint_file(r));
    TAC_TRY(read_about(r));
    TAC_TRY(read_numbers(r));
    TAC_TRY(read_folder(r));
    TAC_TRY(read_scene(r));
    TAC_TRY(tac_checkpoint_read_rows(r));
done:
    return err;
}

/* Collective. */
static enum tac_err read_all(struct tac_checkpoint_reader *r)
{
    enum tac_err err;
    struct tac_ctx *ctx = r->ctx;
    TAC_TRY(tac_agree(ctx, read_tables(r)));
    int64_t mine = r->c->last_count, before = 0, total = mine;
    if (ctx->size > 1) { /* no MPI in a child process */
        MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
        before = ctx->rank == 0 ? 0 : before;
        MPI_Allreduce(&mine, &total, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    }
    TAC_TRY(tac_agree(ctx, tac_checkpoint_read_lasts(r, before, total)));
done:
    return err;
}

static enum tac_err read_in_child(struct tac_ctx *ctx, void *data, int64_t *result)
{
    return read_all(data);
}

enum tac_err tac_checkpoint_read_about(struct tac_ctx *ctx, const char *path, char **file, json_t **json,
                                       struct tac_checkpoint_about *about, struct tac_checkpoint **out)
{
    enum tac_err err;
    struct tac_checkpoint_reader r = {.ctx = ctx, .stored = {.file = -1}};
    struct tac_h5_quiet quiet;
    struct stat s;
    tac_h5_quiet(&quiet);
    *file = NULL;
    *json = NULL;
    *out = NULL;
    TAC_TRY(tac_checkpoint_choose(ctx, path, file));
    r.path = *file;
    if (ctx->size == 1)
        TAC_TRY(tac_child_try(ctx, *file, stat(*file, &s) == 0 ? s.st_size : 0, read_in_child, &r, NULL));
    TAC_TRY(read_all(&r));
    *about = r.about;
    *json = r.json;
    *out = r.c;
    r.json = NULL;
    r.c = NULL;
done:
    if (r.stored.file >= 0)
        H5Fclose(r.stored.file);
    if (err) {
        free(*file);
        *file = NULL;
    }
    json_decref(r.json);
    tac_checkpoint_destroy(&r.c);
    tac_h5_restore(&quiet);
    return err;
}

enum tac_err tac_checkpoint_read(struct tac_ctx *ctx, const char *path, char **file, json_t **json, char *sha256,
                                 struct tac_checkpoint **out)
{
    struct tac_checkpoint_about about = {.ranks = 0};
    enum tac_err err = tac_checkpoint_read_about(ctx, path, file, json, &about, out);
    memcpy(sha256, about.sha256, sizeof about.sha256);
    return err;
}
