/* checkpoint_read.c: a checkpoint's rows.  The file is whole, but it may still have been made by somebody else: nothing
 * in it is believed. */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/checkpoint_table.h"
#include "io/child.h"
#include "io/stored.h"

struct reader {
    struct tac_ctx *ctx;
    const char *path;         /* of the file */
    struct tac_reader stored; /* only its file is used */
    struct tac_checkpoint *c; /* owned */
    struct tac_checkpoint_about about;
    json_t *json; /* owned */
};

static enum tac_err wrong(const struct reader *r, const char *what)
{
    return tac_fail(r->ctx, TAC_ERR_INPUT,
                    "'%.1000s' is no checkpoint that this version (%s) can use: %s; use another one", r->path,
                    tac_version(), what);
}

static enum tac_err wrong_table(const struct reader *r, const char *name)
{
    char what[128];
    snprintf(what, sizeof what, "its table '%s' is missing or not as it should be", name);
    return wrong(r, what);
}

static bool all_finite(const double *x, int n)
{
    for (int k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

static bool in_range(tac_gid v, tac_gid total)
{
    return v >= 0 && v < total;
}

/* ---- datasets ---- */

/* Opens a table; -1 if there is none of that shape. */
static hid_t open_table(const struct reader *r, const struct tac_checkpoint_column *column, int64_t *rows)
{
    const struct tac_shape shape = {column->name, column->real ? H5T_FLOAT : H5T_INTEGER, 8, column->columns};
    if (H5Lexists(r->stored.file, column->name, H5P_DEFAULT) <= 0)
        return -1;
    return tac_stored_open(&r->stored, &shape, rows);
}

/* The rows that this rank takes of `total`. */
static void my_rows(const struct reader *r, int64_t total, int64_t *begin, int64_t *end)
{
    tac_rows_of_rank(total, r->ctx->rank, r->ctx->size, begin, end);
}

/* One row more than ours, before them, where there is one: to see that the rows ascend across ranks too. */
static int64_t with_one_before(int64_t begin, int64_t end)
{
    return begin > 0 && end > begin ? begin - 1 : begin;
}

static enum tac_err count_rows(const struct reader *r, const struct tac_checkpoint_column *column, int64_t *rows)
{
    hid_t id = open_table(r, column, rows);
    if (id < 0)
        return wrong_table(r, column->name);
    H5Dclose(id);
    return TAC_OK;
}

/* Fills records of `size` bytes (an array made here) from rows begin .. end of columns that have `total` rows. */
static enum tac_err read_columns(const struct reader *r, const struct tac_checkpoint_column *column, size_t columns,
                                 int64_t total, int64_t begin, int64_t end, size_t size, void *records)
{
    enum tac_err err = TAC_OK;
    const size_t n = (size_t)(end - begin);
    char **record = records, *data = NULL;
    hid_t id = -1;
    for (size_t c = 0; c < columns; c++) {
        const size_t bytes = 8 * (size_t)(column[c].columns > 0 ? column[c].columns : 1);
        int64_t rows = -1;
        id = open_table(r, &column[c], &rows);
        if (id < 0 || rows != total) {
            err = wrong_table(r, column[c].name);
            goto done;
        }
        if (c == 0) /* not before: the file is as large as it says */
            TAC_TRY(tac_alloc(r->ctx, n, size, record));
        TAC_TRY(tac_alloc(r->ctx, n, bytes, &data));
        if (!tac_h5_read_rows(id, column[c].real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, column[c].columns, begin,
                              end - begin, data)) {
            err = wrong_table(r, column[c].name);
            goto done;
        }
        for (size_t k = 0; k < n; k++)
            memcpy(*record + size * k + column[c].offset, data + bytes * k, bytes);
        free(data);
        data = NULL;
        H5Dclose(id);
        id = -1;
    }
done:
    free(data);
    if (id >= 0)
        H5Dclose(id);
    return err;
}

/* ---- what all ranks have alike ---- */

static enum tac_err read_about(struct reader *r)
{
    struct tac_checkpoint_about *a = &r->about;
    const hid_t file = r->stored.file;
    char format[64];
    if (!tac_h5_get_text(file, "format", format, sizeof format) || strcmp(format, TAC_CHECKPOINT_FORMAT) != 0)
        return wrong(r, "it does not say what it is");
    if (!tac_h5_get_text_if_any(file, "name", a->name, sizeof a->name) ||
        !tac_h5_get_text_if_any(file, "version", a->version, sizeof a->version) ||
        !tac_h5_get_text_if_any(file, "commit", a->commit, sizeof a->commit))
        return wrong(r, "an attribute of it cannot be read");
    if (!tac_h5_get_text(file, "scene_sha256", a->sha256, sizeof a->sha256) ||
        strspn(a->sha256, "0123456789abcdef") != 64)
        return wrong(r, "its scene's hash is missing");
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
    return ok ? TAC_OK : wrong(r, "it does not say how many ranks wrote it");
}

static enum tac_err read_sums(const struct reader *r, const int64_t *sums)
{
    const int64_t most = (int64_t)1 << 33; /* of a limb: carries are propagated before a checkpoint */
    struct tac_accum *const sum[TAC_CHECKPOINT_SUMS] = {&r->c->dissipated, &r->c->work,      &r->c->total_start,
                                                        &r->c->couple[0],  &r->c->couple[1], &r->c->couple[2]};
    for (int k = 0; k < TAC_CHECKPOINT_SUMS; k++) {
        const int64_t *row = &sums[k * (TAC_ACCUM_LIMBS + 1)];
        memcpy(sum[k]->limb, row, sizeof sum[k]->limb);
        sum[k]->bad = row[TAC_ACCUM_LIMBS] != 0;
        for (int i = 0; i < TAC_ACCUM_LIMBS; i++)
            if (row[i] > most || row[i] < -most)
                return wrong(r, "its sums make no sense");
        sum[k]->pending = 1;
        tac_accum_carry(sum[k]);
    }
    return TAC_OK;
}

static bool numbers_sensible(const struct tac_checkpoint *c, const int64_t *integer, const double *real)
{
    for (int i = 0; i < TAC_CHECKPOINT_INTEGERS; i++)
        if (integer[i] < 0 || integer[i] > INT64_MAX / 4)
            return false;
    for (int i = 0; i < TAC_CHECKPOINT_REALS; i++)
        if (!isfinite(real[i]))
            return false;
    return c->frame <= c->now + 1 && c->last_frame <= c->now && c->vertex_total <= INT32_MAX &&
           c->triangle_total <= INT32_MAX && c->segment_total <= INT32_MAX && c->wall_s >= 0 &&
           c->deepest_layer <= INT32_MAX;
}

static enum tac_err read_numbers(struct reader *r)
{
    enum { SUMS = TAC_CHECKPOINT_SUMS * (TAC_ACCUM_LIMBS + 1) };
    static const struct tac_checkpoint_column column[3] = {
        {"integers", NULL, false, 0, 0}, {"reals", NULL, true, 0, 0}, {"sums", NULL, false, 0, 0}};
    enum tac_err err;
    int64_t *integer = NULL, *sums = NULL;
    double *real = NULL;
    TAC_TRY(read_columns(r, &column[0], 1, TAC_CHECKPOINT_INTEGERS, 0, TAC_CHECKPOINT_INTEGERS, 8, &integer));
    TAC_TRY(read_columns(r, &column[1], 1, TAC_CHECKPOINT_REALS, 0, TAC_CHECKPOINT_REALS, 8, &real));
    TAC_TRY(read_columns(r, &column[2], 1, SUMS, 0, SUMS, 8, &sums));
    tac_checkpoint_unpack(r->c, integer, real);
    TAC_TRY(numbers_sensible(r->c, integer, real) ? TAC_OK : wrong(r, "its numbers make no sense"));
    TAC_TRY(read_sums(r, sums));
done:
    free(integer);
    free(real);
    free(sums);
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

static enum tac_err read_scene(struct reader *r)
{
    enum tac_err err = TAC_OK;
    hsize_t size[2] = {0, 0}; /* the second is not used */
    char *text = NULL;
    hid_t id =
        H5Lexists(r->stored.file, "scene", H5P_DEFAULT) > 0 ? H5Dopen2(r->stored.file, "scene", H5P_DEFAULT) : -1;
    hid_t space = id >= 0 ? H5Dget_space(id) : -1, type = id >= 0 ? H5Dget_type(id) : -1;
    if (space < 0 || type < 0 || H5Sget_simple_extent_ndims(space) != 1 ||
        H5Sget_simple_extent_dims(space, size, NULL) != 1 || size[0] == 0 || H5Tequal(type, H5T_STD_U8LE) <= 0 ||
        !tac_stored_sound(id, size, 1, 1)) {
        err = wrong(r, "its scene is missing");
        goto done;
    }
    TAC_TRY(tac_alloc(r->ctx, (size_t)size[0], 1, &text));
    if (tac_h5_read_rows(id, H5T_NATIVE_UCHAR, 0, 0, (int64_t)size[0], text))
        r->json = json_loadb(text, (size_t)size[0], JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(r->json))
        err = wrong(r, "its scene cannot be read");
    else if (!names_sensible(r->json))
        err = wrong(r, "the name of a body holds a control character");
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

/* ---- this rank's rows ---- */

static enum tac_err read_vertices(struct reader *r)
{
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    struct tac_vertex_record *row = NULL;
    int64_t begin, end;
    my_rows(r, c->vertex_total, &begin, &end);
    const size_t n = (size_t)(end - begin);
    c->vertex_count = (tac_lid)n;
    TAC_TRY(read_columns(r, TAC_VERTEX_COLUMNS, 6, c->vertex_total, begin, end, sizeof *row, &row));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *c->vertex_id, &c->vertex_id));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->start, &c->start));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *c->mass, &c->mass));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->x, &c->x));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->v, &c->v));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->impulse, &c->impulse));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *c->t, &c->t));
    for (size_t k = 0; k < n && !err; k++) {
        c->vertex_id[k] = begin + (tac_gid)k;
        c->mass[k] = row[k].mass;
        c->t[k] = row[k].t;
        memcpy(&c->start[3 * k], row[k].start, sizeof row[k].start);
        memcpy(&c->x[3 * k], row[k].x, sizeof row[k].x);
        memcpy(&c->v[3 * k], row[k].v, sizeof row[k].v);
        memcpy(&c->impulse[3 * k], row[k].impulse, sizeof row[k].impulse);
        if (!all_finite(row[k].start, 3) || !isfinite(row[k].mass) || row[k].mass < 0 || !all_finite(row[k].x, 3) ||
            !all_finite(row[k].v, 3) || !all_finite(row[k].impulse, 3) || row[k].t < 0 || row[k].t > c->now)
            err = wrong(r, "the state of a vertex makes no sense");
    }
done:
    free(row);
    return err;
}

static enum tac_err read_elements(const struct reader *r, const struct tac_checkpoint_column *column, tac_gid total,
                                  tac_lid *count, tac_gid **id, tac_gid **v)
{
    enum tac_err err;
    struct tac_element_record *row = NULL;
    int64_t begin, end;
    my_rows(r, total, &begin, &end);
    const size_t n = (size_t)(end - begin), m = (size_t)column->columns;
    *count = (tac_lid)n;
    TAC_TRY(read_columns(r, column, 1, total, begin, end, sizeof *row, &row));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof **id, id));
    TAC_TRY(tac_alloc(r->ctx, m * n, sizeof **v, v));
    for (size_t k = 0; k < n && !err; k++) {
        const tac_gid *w = row[k].v;
        bool ok = w[0] != w[1] && (m == 2 || (w[0] != w[2] && w[1] != w[2]));
        for (size_t i = 0; i < m; i++)
            ok = ok && in_range(w[i], r->c->vertex_total);
        (*id)[k] = begin + (tac_gid)k;
        memcpy(&(*v)[m * k], w, m * sizeof **v);
        if (!ok)
            err = wrong(r, "an element has a vertex that is not there, or one twice");
    }
done:
    free(row);
    return err;
}

static bool script_sensible(const struct tac_checkpoint *c, const struct tac_script_record *row)
{
    return in_range(row->vertex, c->vertex_total) && row->next >= 0 && row->next <= INT32_MAX && row->t >= 0 &&
           row->t <= c->now && in_range(row->flags[0], 2) && in_range(row->flags[1], 2) && all_finite(row->origin, 3) &&
           all_finite(row->x, 3) && all_finite(row->v, 3) && all_finite(row->v_free, 3);
}

static enum tac_err read_scripts(struct reader *r)
{
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    struct tac_script_record *rows = NULL;
    int64_t total = 0, begin, end;
    TAC_TRY(count_rows(r, &TAC_SCRIPT_COLUMNS[0], &total));
    my_rows(r, total, &begin, &end);
    const int64_t first = with_one_before(begin, end);
    TAC_TRY(read_columns(r, TAC_SCRIPT_COLUMNS, 8, total, first, end, sizeof *rows, &rows));
    TAC_TRY(tac_alloc(r->ctx, (size_t)(end - begin), sizeof *c->script, &c->script));
    c->script_count = (tac_lid)(end - begin);
    for (int64_t k = begin; k < end && !err; k++) {
        const struct tac_script_record *row = &rows[k - first];
        struct tac_script_state *s = &c->script[k - begin];
        if (!script_sensible(c, row) || (k > 0 && row->vertex <= row[-1].vertex))
            err = wrong(r, "the state of a motion makes no sense");
        *s = (struct tac_script_state){.vertex = row->vertex,
                                       .next = row->next,
                                       .t = row->t,
                                       .on = (int32_t)row->flags[0],
                                       .caught = (int32_t)row->flags[1]};
        memcpy(s->origin, row->origin, sizeof s->origin);
        memcpy(s->x, row->x, sizeof s->x);
        memcpy(s->v, row->v, sizeof s->v);
        memcpy(s->v_free, row->v_free, sizeof s->v_free);
    }
done:
    free(rows);
    return err;
}

/* How many vertices a pair has, by its key (contact/model.h). */
static int corners_of(uint64_t key)
{
    const uint64_t type = key >> 62;
    return type <= 1 ? 4 : type == 2 ? 3 : 2;
}

static bool pair_sensible(const struct tac_checkpoint *c, const struct tac_pair_record *row)
{
    enum { MOST_LAYERS = 1 << 30 };
    const int n = corners_of((uint64_t)row->key);
    if (row->rungs < 1 || row->depth < row->rungs || row->depth > MOST_LAYERS)
        return false;
    for (int i = 0; i < 4; i++) {
        if (i < n ? !in_range(row->vertex[i], c->vertex_total) : row->vertex[i] != -1)
            return false;
        for (int j = 0; j < i && i < n; j++)
            if (row->vertex[i] == row->vertex[j])
                return false;
    }
    return true;
}

/* In the file pairs ascend by their first vertex, then by key. */
static bool pair_after(const struct tac_pair_record *a, const struct tac_pair_record *b)
{
    return a->vertex[0] != b->vertex[0] ? a->vertex[0] < b->vertex[0] : (uint64_t)a->key < (uint64_t)b->key;
}

static int compare_keys(const void *a, const void *b)
{
    const struct tac_pair_state *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* The pairs; `last` counts from this rank's first one. */
static enum tac_err read_pairs(struct reader *r)
{
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    struct tac_pair_record *rows = NULL;
    int64_t total = 0, begin, end, lasts = 0;
    TAC_TRY(count_rows(r, &TAC_PAIR_COLUMNS[0], &total));
    my_rows(r, total, &begin, &end);
    const int64_t first = with_one_before(begin, end);
    TAC_TRY(read_columns(r, TAC_PAIR_COLUMNS, 4, total, first, end, sizeof *rows, &rows));
    TAC_TRY(tac_alloc(r->ctx, (size_t)(end - begin), sizeof *c->pair, &c->pair));
    c->pair_count = (tac_lid)(end - begin);
    for (int64_t k = begin; k < end && !err; k++) {
        const struct tac_pair_record *row = &rows[k - first];
        struct tac_pair_state *p = &c->pair[k - begin];
        if (!pair_sensible(c, row) || (k > 0 && !pair_after(row - 1, row)))
            err = wrong(r, "a contact makes no sense");
        *p = (struct tac_pair_state){(uint64_t)row->key, {0}, row->depth, lasts, row->rungs};
        memcpy(p->vertex, row->vertex, sizeof p->vertex);
        lasts += err ? 0 : row->rungs;
        if (lasts > INT32_MAX)
            err = wrong(r, "this rank would have more than 2^31 layers to watch");
    }
    c->last_count = err ? 0 : (tac_lid)lasts;
done:
    free(rows);
    return err;
}

static bool grip_sensible(const struct tac_checkpoint *c, const struct tac_grip_state *row)
{
    const int n = corners_of(row->key);
    for (int i = 0; i < 4; i++)
        if (i < n ? !in_range(row->vertex[i], c->vertex_total) : row->vertex[i] != -1)
            return false;
    return in_range(row->layer, INT32_MAX) && in_range(row->t[0], c->now + 1) && in_range(row->t[1], c->now + 1) &&
           all_finite(row->value, 13);
}

static enum tac_err read_grips(struct reader *r)
{
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    int64_t total = 0, begin, end;
    TAC_TRY(count_rows(r, &TAC_GRIP_COLUMNS[0], &total));
    my_rows(r, total, &begin, &end);
    TAC_TRY(read_columns(r, TAC_GRIP_COLUMNS, 5, total, begin, end, sizeof *c->grip, &c->grip));
    c->grip_count = (tac_lid)(end - begin);
    for (tac_lid k = 0; k < c->grip_count && !err; k++)
        if (!grip_sensible(c, &c->grip[k]))
            err = wrong(r, "the friction of a contact makes no sense");
done:
    return err;
}

/* The last distances of this rank's pairs, that stand in the file after `before` others. */
static enum tac_err read_lasts(struct reader *r, int64_t before, int64_t total)
{
    static const struct tac_checkpoint_column LAST = {"last", "m", true, 0, 0};
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    TAC_TRY(read_columns(r, &LAST, 1, total, before, before + c->last_count, sizeof *c->last, &c->last));
    for (tac_lid k = 0; k < c->last_count && !err; k++)
        if (isnan(c->last[k]) || c->last[k] == -INFINITY)
            err = wrong(r, "the last distance of a contact makes no sense");
    if (!err && c->pair_count > 0)
        qsort(c->pair, (size_t)c->pair_count, sizeof *c->pair, compare_keys);
done:
    return err;
}

static bool element_sensible(const struct tac_checkpoint *c, const struct tac_element_state *row)
{
    const bool wind = row->kind == TAC_KIND_LOAD;
    if (row->kind < TAC_KIND_SPRING || (row->kind > TAC_KIND_HINGE && !wind) || row->id < 0 ||
        row->has < (wind ? TAC_ELEMENT_DAMPS : TAC_ELEMENT_RESTS) ||
        row->has > (wind ? TAC_ELEMENT_DAMPS : TAC_ELEMENT_RESTS | TAC_ELEMENT_DAMPS) || !all_finite(row->rest, 3) ||
        !all_finite(row->last, 3))
        return false;
    const int n = !wind ? (int)row->kind + 1 : row->vertex[2] < 0 ? 2 : 3; /* vertices */
    for (int i = 0; i < 4; i++) {
        if (i < n ? !in_range(row->vertex[i], c->vertex_total) : row->vertex[i] != -1)
            return false;
        for (int j = 0; j < i && i < n; j++)
            if (row->vertex[i] == row->vertex[j])
                return false;
    }
    if (row->kind == TAC_KIND_SPRING)
        return row->rest[0] >= 0 && row->last[0] >= 0;
    return row->kind == TAC_KIND_CST || wind ||
           (fabs(row->rest[0]) < 4 && fabs(row->last[0]) < 4); /* angles: pi, rounded */
}

static enum tac_err read_element_states(struct reader *r)
{
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    struct tac_element_state *rows = NULL;
    int64_t total = 0, begin, end;
    TAC_TRY(count_rows(r, &TAC_ELEMENT_STATE_COLUMNS[0], &total));
    my_rows(r, total, &begin, &end);
    const int64_t first = with_one_before(begin, end);
    if (end - begin > INT32_MAX) {
        err = wrong(r, "this rank would have more than 2^31 elements that remember something");
        goto done;
    }
    TAC_TRY(read_columns(r, TAC_ELEMENT_STATE_COLUMNS, 6, total, first, end, sizeof *rows, &rows));
    for (int64_t k = first; k < end && !err; k++)
        if (!element_sensible(c, &rows[k - first]) ||
            (k > first && tac_element_state_compare(&rows[k - first - 1], &rows[k - first]) >= 0))
            err = wrong(r, "what an element remembers makes no sense");
    if (!err && begin > first)
        memmove(rows, rows + 1, (size_t)(end - begin) * sizeof *rows);
    c->element_count = err ? 0 : (tac_lid)(end - begin);
    c->element = rows;
    rows = NULL;
done:
    free(rows);
    return err;
}

/* ---- the whole ---- */

static enum tac_err open_file(struct reader *r)
{
    r->stored.file = tac_h5_open_read(r->path);
    return r->stored.file >= 0 ? TAC_OK : wrong(r, "the HDF5 library cannot open it");
}

/* Local. All but the last distances. */
static enum tac_err read_tables(struct reader *r)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(r->ctx, 1, sizeof *r->c, &r->c));
    TAC_TRY(open_file(r));
    TAC_TRY(read_about(r));
    TAC_TRY(read_numbers(r));
    TAC_TRY(read_scene(r));
    TAC_TRY(read_vertices(r));
    TAC_TRY(read_elements(r, TAC_TRIANGLE_COLUMNS, r->c->triangle_total, &r->c->triangle_count, &r->c->triangle_id,
                          &r->c->triangle));
    TAC_TRY(read_elements(r, TAC_SEGMENT_COLUMNS, r->c->segment_total, &r->c->segment_count, &r->c->segment_id,
                          &r->c->segment));
    TAC_TRY(read_scripts(r));
    TAC_TRY(read_pairs(r));
    TAC_TRY(read_element_states(r));
    TAC_TRY(read_grips(r));
done:
    return err;
}

/* Collective. */
static enum tac_err read_all(struct reader *r)
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
    TAC_TRY(tac_agree(ctx, read_lasts(r, before, total)));
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
    struct reader r = {.ctx = ctx, .stored = {.file = -1}};
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
