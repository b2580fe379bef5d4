/* compare.c: compares the frames and energies of two runs value by value. */
#include "inspect/compare_parts.h"
#include "io/folder/output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- fields on request ---- */

static double value_at(const struct tac_field_info *f, const void *data, size_t i)
{
    switch (f->value) {
    case TAC_VALUE_FLOAT:
        return (double)((const float *)data)[i];
    case TAC_VALUE_DOUBLE:
        return ((const double *)data)[i];
    case TAC_VALUE_INT32:
        return ((const int32_t *)data)[i];
    default:
        return (double)((const int64_t *)data)[i];
    }
}

static enum tac_err compare_field(struct tac_ctx *ctx, struct tac_comparison *c, int64_t ka, int64_t kb, int which)
{
    const struct tac_field_info *f = &tac_field_table()[which];
    struct tac_tally *t = &c->tally[TAC_FIELDS];
    void *a = NULL, *b = NULL;
    int64_t rows[2] = {0, 0};
    enum tac_err err;
    TAC_TRY(tac_reader_field(ctx, c->a, ka, which, &a, &rows[0]));
    TAC_TRY(tac_reader_field(ctx, c->b, kb, which, &b, &rows[1]));
    const size_t columns = (size_t)(f->columns > 0 ? f->columns : 1);
    if (rows[0] != rows[1] && tac_tally_count(t, (double)rows[0], (double)rows[1], c->tolerance))
        snprintf(t->column, sizeof t->column, "number of rows of %s, frame %" PRId64, f->name, c->a->frame[ka].index);
    for (size_t i = 0; i < columns * (size_t)rows[0] && rows[0] == rows[1]; i++)
        if (tac_tally_count(t, value_at(f, a, i), value_at(f, b, i), c->tolerance))
            snprintf(t->column, sizeof t->column, "%s[%zu] of frame %" PRId64, f->name, i / columns,
                     c->a->frame[ka].index);
done:
    free(a);
    free(b);
    return err;
}

/* Compares the fields of two frames, except the owners of vertices; looks_back: with those that depend on the frame
 * before. */
static enum tac_err compare_fields(struct tac_ctx *ctx, struct tac_comparison *c, int64_t ka, int64_t kb,
                                   bool looks_back)
{
    const unsigned both = c->a->frame[ka].fields & c->b->frame[kb].fields;
    enum tac_err err = TAC_OK;
    for (int k = 0; k < TAC_DATASETS; k++) {
        /* Which rank owns a vertex is no result. */
        if (!(both >> k & 1) || k == TAC_DATA_RANK || (k == TAC_DATA_PRESSURE && !looks_back))
            continue;
        TAC_TRY(compare_field(ctx, c, ka, kb, k));
    }
done:
    return err;
}

static bool is_same(double a, double b, double tolerance)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (isnan(tolerance))
        return memcmp(&a, &b, sizeof a) == 0;
    return a == b || fabs(a - b) <= tolerance;
}

static double difference_of(double a, double b)
{
    double d = fabs(a - b);
    return isnan(d) ? INFINITY : d;
}

bool tac_tally_count(struct tac_tally *t, double a, double b, double tolerance)
{
    t->compared++;
    if (is_same(a, b, tolerance))
        return false;
    double d = difference_of(a, b);
    if (t->differing++ > 0 && !(d > t->largest))
        return false;
    t->largest = d;
    t->a = a;
    t->b = b;
    return true;
}

/* ---- topology ---- */

static void compare_topology_rows(struct tac_comparison *c, tac_lid a_rows, const tac_lid *a, tac_lid b_rows,
                                  const tac_lid *b, int columns, const char *what)
{
    struct tac_tally *t = &c->tally[TAC_TOPOLOGY];
    int64_t na = (int64_t)a_rows * columns, nb = (int64_t)b_rows * columns, both = na < nb ? na : nb;
    for (int64_t i = 0; i < both; i++)
        if (tac_tally_count(t, a[i], b[i], NAN))
            snprintf(t->column, sizeof t->column, "%s[%" PRId64 "]", what, i / columns);
    int64_t more = (na > nb ? na : nb) - both;
    t->compared += more;
    if (more > 0 && (t->differing == 0 || isfinite(t->largest))) {
        t->largest = INFINITY;
        t->a = a_rows;
        t->b = b_rows;
        snprintf(t->column, sizeof t->column, "number of %s", what);
    }
    t->differing += more;
}

static void compare_topology(struct tac_comparison *c)
{
    const struct tac_reader *a = c->a, *b = c->b;
    struct tac_tally *t = &c->tally[TAC_TOPOLOGY];
    compare_topology_rows(c, a->triangle_count, a->triangle, b->triangle_count, b->triangle, 3, "triangles");
    compare_topology_rows(c, a->segment_count, a->segment, b->segment_count, b->segment, 2, "segments");
    compare_topology_rows(c, a->tetrahedron_count, a->tetrahedron, b->tetrahedron_count, b->tetrahedron, 4,
                          "tetrahedra");
    compare_topology_rows(c, a->point_count, a->point, b->point_count, b->point, 1, "points");
    compare_topology_rows(c, a->vertex_count, a->body, b->vertex_count, b->body, 1, "body");
    for (tac_lid i = 0; i < a->vertex_count; i++)
        if (tac_tally_count(t, a->radius[i], b->radius[i], c->tolerance))
            snprintf(t->column, sizeof t->column, "radius[%" TAC_PRILID "]", i);
}

/* ---- frames ---- */

struct buffers {
    double *x[2], *v[2]; /* owned, (V, 3) */
    float *f[2];         /* owned, (V, 3) */
};

static enum tac_err alloc_buffers(struct tac_ctx *ctx, tac_lid vertices, struct buffers *buffers)
{
    enum tac_err err = TAC_OK;
    size_t n = 3 * (size_t)vertices;
    for (int i = 0; i < 2; i++) {
        TAC_TRY(tac_alloc(ctx, n, sizeof(double), &buffers->x[i]));
        TAC_TRY(tac_alloc(ctx, n, sizeof(double), &buffers->v[i]));
        TAC_TRY(tac_alloc(ctx, n, sizeof(float), &buffers->f[i]));
    }
done:
    return err;
}

static void free_buffers(struct buffers *buffers)
{
    for (int i = 0; i < 2; i++) {
        free(buffers->x[i]);
        free(buffers->v[i]);
        free(buffers->f[i]);
    }
}

static void set_place(struct tac_tally *t, const struct tac_reader_frame *frame, size_t i)
{
    t->frame = frame->index;
    t->time_s = frame->time_s;
    t->vertex = (tac_lid)(i / 3);
    t->component = (int)(i % 3);
}

static enum tac_err compare_frame(struct tac_ctx *ctx, struct tac_comparison *c, int64_t ka, int64_t kb,
                                  bool looks_back, const struct buffers *buf)
{
    enum tac_err err = TAC_OK;
    const struct tac_reader_frame *frame = &c->a->frame[ka];
    size_t n = 3 * (size_t)c->a->vertex_count;
    TAC_TRY(tac_reader_frame(ctx, c->a, ka, buf->x[0], buf->v[0], looks_back ? buf->f[0] : NULL));
    TAC_TRY(tac_reader_frame(ctx, c->b, kb, buf->x[1], buf->v[1], looks_back ? buf->f[1] : NULL));
    for (size_t i = 0; i < n; i++)
        if (tac_tally_count(&c->tally[TAC_POSITION], buf->x[0][i], buf->x[1][i], c->tolerance))
            set_place(&c->tally[TAC_POSITION], frame, i);
    for (size_t i = 0; i < n; i++)
        if (tac_tally_count(&c->tally[TAC_VELOCITY], buf->v[0][i], buf->v[1][i], c->tolerance))
            set_place(&c->tally[TAC_VELOCITY], frame, i);
    for (size_t i = 0; looks_back && i < n; i++)
        if (tac_tally_count(&c->tally[TAC_CONTACT_FORCE], (double)buf->f[0][i], (double)buf->f[1][i], c->tolerance))
            set_place(&c->tally[TAC_CONTACT_FORCE], frame, i);
    TAC_TRY(compare_fields(ctx, c, ka, kb, looks_back));
    c->frames_compared++;
done:
    return err;
}

/* Finds the next time of two lists of ascending times: -1 if only a has it, 1 if only b has it, 0 if both have it. */
static int next_time(const struct tac_reader *a, int64_t i, const struct tac_reader *b, int64_t j)
{
    if (i == a->frame_count)
        return 1;
    if (j == b->frame_count)
        return -1;
    return (a->frame[i].time_s > b->frame[j].time_s) - (a->frame[i].time_s < b->frame[j].time_s);
}

static enum tac_err compare_frames(struct tac_ctx *ctx, struct tac_comparison *c)
{
    enum tac_err err = TAC_OK;
    struct buffers buffers = {{NULL, NULL}, {NULL, NULL}, {NULL, NULL}};
    TAC_TRY(alloc_buffers(ctx, c->a->vertex_count, &buffers));
    /* contact_force is over the time since the frame before, so it is compared only if that frame is the same in both.
     * There is no frame before t = 0. */
    bool before_matches = true;
    for (int64_t i = 0, j = 0; i < c->a->frame_count || j < c->b->frame_count;) {
        int which = next_time(c->a, i, c->b, j);
        if (which < 0) {
            if (c->frames_only_a++ == 0)
                c->first_only_a_s = c->a->frame[i].time_s;
            i++;
        } else if (which > 0) {
            if (c->frames_only_b++ == 0)
                c->first_only_b_s = c->b->frame[j].time_s;
            j++;
        } else {
            bool looks_back = before_matches && (i > 0 || c->a->frame[0].time_s == 0);
            TAC_TRY(compare_frame(ctx, c, i++, j++, looks_back, &buffers));
        }
        before_matches = which == 0;
    }
    if (c->frames_compared == 0)
        err = tac_fail(ctx, TAC_ERR_INPUT, "cannot compare '%s' with '%s': they have no frame at the same time",
                       c->a->path, c->b->path);
done:
    free_buffers(&buffers);
    return err;
}

/* ---- energy.csv ---- */

static void compare_energy_rows(struct tac_comparison *c, const struct tac_table *a, const double *x,
                                const struct tac_table *b, const double *y, bool before_matches)
{
    struct tac_tally *t = &c->tally[TAC_ENERGY];
    for (int i = 0; i < a->column_count; i++) {
        int j = tac_table_column(b, a->column[i]);
        /* deepest_layer is over the time since the last row. */
        if (j < 0 || (!before_matches && strcmp(a->column[i], "deepest_layer") == 0))
            continue;
        if (tac_tally_count(t, x[i], y[j], c->tolerance)) {
            t->time_s = x[0];
            snprintf(t->column, sizeof t->column, "%.60s", a->column[i]);
        }
    }
    c->rows_compared++;
}

static void compare_tables(struct tac_comparison *c, const struct tac_table *a, const struct tac_table *b)
{
    bool before_matches = true;
    for (int i = 0; i < a->column_count; i++)
        c->columns_only_a += tac_table_column(b, a->column[i]) < 0;
    for (int i = 0; i < b->column_count; i++)
        c->columns_only_b += tac_table_column(a, b->column[i]) < 0;
    for (int64_t i = 0, j = 0; i < a->row_count || j < b->row_count;) {
        const double *x = a->value + i * a->column_count, *y = b->value + j * b->column_count;
        if (j == b->row_count || (i < a->row_count && x[0] < y[0])) {
            c->rows_only_a++;
            before_matches = false;
            i++;
        } else if (i == a->row_count || x[0] > y[0]) {
            c->rows_only_b++;
            before_matches = false;
            j++;
        } else {
            compare_energy_rows(c, a, x, b, y, before_matches && (i > 0 || x[0] == 0));
            before_matches = true;
            i++;
            j++;
        }
    }
}

/* "DIR/energy.csv"; NULL if out of memory. */
static char *energy_path(const char *folder)
{
    size_t size = strlen(folder) + sizeof "/energy.csv";
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/energy.csv", folder);
    return path;
}

static enum tac_err compare_energy(struct tac_ctx *ctx, struct tac_comparison *c)
{
    enum tac_err err = TAC_OK;
    struct tac_table *a = NULL, *b = NULL;
    char *path_a = NULL, *path_b = NULL;
    if (c->a->folder == NULL || c->b->folder == NULL)
        return TAC_OK;
    path_a = energy_path(c->a->folder);
    path_b = energy_path(c->b->folder);
    if (path_a == NULL || path_b == NULL) {
        err = tac_fail(ctx, TAC_ERR_RUN, "out of memory while comparing energies");
        goto done;
    }
    if (access(path_a, F_OK) != 0 && errno == ENOENT && access(path_b, F_OK) != 0 && errno == ENOENT)
        goto done;
    TAC_TRY(tac_table_read(ctx, path_a, &a));
    TAC_TRY(tac_table_read(ctx, path_b, &b));
    c->has_energy = true;
    compare_tables(c, a, b);
done:
    tac_table_destroy(&a);
    tac_table_destroy(&b);
    free(path_a);
    free(path_b);
    return err;
}

/* ---- the whole ---- */

enum tac_err tac_compare(struct tac_ctx *ctx, const char *a, const char *b, double tolerance, struct tac_comparison *c)
{
    static const char *const names[TAC_TALLY_COUNT] = {"position",      "velocity",      "contact_force",
                                                       "topology",      "energy.csv",    "fields",
                                                       "reactions.csv", "histories.csv", "steps.csv"};
    enum tac_err err = TAC_OK;
    memset(c, 0, sizeof *c);
    c->tolerance = tolerance;
    for (int i = 0; i < TAC_TALLY_COUNT; i++) {
        c->tally[i].name = names[i];
        c->tally[i].frame = c->tally[i].vertex = -1;
    }
    TAC_TRY(tac_reader_open(ctx, a, &c->a));
    TAC_TRY(tac_reader_open(ctx, b, &c->b));
    if (c->a->vertex_count != c->b->vertex_count) {
        err = tac_fail(ctx, TAC_ERR_INPUT,
                       "cannot compare '%s' with '%s': they have %" TAC_PRILID " and %" TAC_PRILID " vertices",
                       c->a->path, c->b->path, c->a->vertex_count, c->b->vertex_count);
        goto done;
    }
    TAC_TRY(tac_reader_mesh(ctx, c->a));
    TAC_TRY(tac_reader_mesh(ctx, c->b));
    compare_topology(c);
    TAC_TRY(compare_frames(ctx, c));
    TAC_TRY(compare_energy(ctx, c));
    TAC_TRY(tac_compare_lines(ctx, c));
done:
    if (err)
        tac_comparison_close(c);
    return err;
}

bool tac_comparison_equal(const struct tac_comparison *c, bool all_frames)
{
    for (int i = 0; i < TAC_TALLY_COUNT; i++)
        if (c->tally[i].differing > 0)
            return false;
    return !all_frames || (c->frames_only_a == 0 && c->frames_only_b == 0 && c->rows_only_a == 0 &&
                           c->rows_only_b == 0 && c->lines_only_a == 0 && c->lines_only_b == 0);
}

void tac_comparison_close(struct tac_comparison *c)
{
    tac_reader_close(&c->a);
    tac_reader_close(&c->b);
}
