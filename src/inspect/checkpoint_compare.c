/* checkpoint_compare.c: compares two checkpoints value by value. */
#include "inspect/checkpoint_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

enum tac_err tac_state_open(struct tac_ctx *ctx, const char *path, struct tac_state_file *f)
{
    *f = (struct tac_state_file){.path = NULL};
    return tac_checkpoint_read_about(ctx, path, &f->path, &f->json, &f->about, &f->state);
}

void tac_state_close(struct tac_state_file *f)
{
    free(f->path);
    json_decref(f->json);
    tac_checkpoint_destroy(&f->state);
    *f = (struct tac_state_file){.path = NULL};
}

double tac_state_quantum_s(const struct tac_state_file *f)
{
    const json_t *quantum = json_object_get(json_object_get(f->json, "clocks"), "quantum_s");
    return json_is_number(quantum) && json_number_value(quantum) > 0 ? json_number_value(quantum) : NAN;
}

const char *tac_state_body(const struct tac_state_file *f, tac_gid vertex, tac_gid *within)
{
    const json_t *counts = json_object_get(json_object_get(f->json, "geometry"), "vertices"), *count;
    size_t b;
    tac_gid begin = 0;
    json_array_foreach(counts, b, count)
    {
        const json_int_t n = json_integer_value(count);
        if (n < 0 || n > f->state->vertex_total)
            return NULL;
        if (vertex < begin + n) {
            *within = vertex - begin;
            return json_string_value(json_object_get(json_array_get(json_object_get(f->json, "bodies"), b), "name"));
        }
        begin += n;
    }
    return NULL;
}

/* ---- comparing ---- */

static void compare_vertices(struct tac_state_comparison *c, int which, const double *a, const double *b, int columns)
{
    struct tac_tally *t = &c->tally[which];
    const size_t n = (size_t)c->a.state->vertices.count * (size_t)columns;
    for (size_t i = 0; i < n; i++)
        if (tac_tally_count(t, a[i], b[i], c->tolerance)) {
            t->vertex = (tac_lid)(i / (size_t)columns);
            t->component = columns == 3 ? (int)(i % 3) : -1;
        }
}

/* Compares whole numbers exactly, without tolerance. The difference is stored as a double, which is not 0 if the
 * numbers differ. */
static bool compare_whole_numbers(struct tac_tally *t, int64_t a, int64_t b)
{
    if (a != b && (double)a == (double)b) {
        t->compared++;
        if (t->differing++ == 0) {
            t->largest = fabs((double)(a - b));
            t->a = (double)a;
            t->b = (double)b;
            return true;
        }
        return false;
    }
    return tac_tally_count(t, (double)a, (double)b, NAN);
}

static void compare_clocks(struct tac_state_comparison *c)
{
    struct tac_tally *t = &c->tally[TAC_STATE_CLOCK];
    for (tac_lid i = 0; i < c->a.state->vertices.count; i++)
        if (compare_whole_numbers(t, c->a.state->vertices.t[i], c->b.state->vertices.t[i])) {
            t->vertex = i;
            t->component = -1;
        }
}

static void name_tally(struct tac_tally *t, const char *where)
{
    snprintf(t->column, sizeof t->column, "%s", where);
    t->vertex = -1;
}

static void compare_id_tables(struct tac_tally *t, int64_t a_rows, const tac_gid *a, int64_t b_rows, const tac_gid *b,
                              int columns, const char *what)
{
    const int64_t rows = a_rows < b_rows ? a_rows : b_rows;
    for (int64_t i = 0; i < rows * columns; i++)
        if (compare_whole_numbers(t, a[i], b[i]))
            snprintf(t->column, sizeof t->column, "%s[%" PRId64 "]", what, i / columns);
    if (compare_whole_numbers(t, a_rows, b_rows))
        snprintf(t->column, sizeof t->column, "number of %s", what);
}

static void compare_script(struct tac_state_comparison *c, const struct tac_script_state *a,
                           const struct tac_script_state *b)
{
    struct tac_tally *t = &c->tally[TAC_STATE_MOTION];
    const double *const x[5] = {a->origin, a->x, a->v, a->v_free, a->force};
    const double *const y[5] = {b->origin, b->x, b->v, b->v_free, b->force};
    bool largest = compare_whole_numbers(t, a->next, b->next);
    largest = compare_whole_numbers(t, a->t, b->t) || largest;
    largest = compare_whole_numbers(t, 2 * a->on + a->caught, 2 * b->on + b->caught) || largest;
    for (int k = 0; k < 15; k++)
        largest = tac_tally_count(t, x[k / 3][k % 3], y[k / 3][k % 3], c->tolerance) || largest;
    if (largest) {
        t->vertex = (tac_lid)a->vertex;
        t->component = -1;
    }
}

static void compare_scripts(struct tac_state_comparison *c)
{
    const struct tac_checkpoint *a = c->a.state, *b = c->b.state;
    struct tac_tally *t = &c->tally[TAC_STATE_MOTION];
    for (tac_lid i = 0, j = 0; i < a->script_count || j < b->script_count;) {
        const tac_gid va = i < a->script_count ? a->script[i].vertex : INT64_MAX;
        const tac_gid vb = j < b->script_count ? b->script[j].vertex : INT64_MAX;
        if (va == vb)
            compare_script(c, &a->script[i], &b->script[j]);
        else if (compare_whole_numbers(t, va < vb, vb < va)) /* one has it, one has not */
            t->vertex = (tac_lid)(va < vb ? va : vb);
        i += va <= vb;
        j += vb <= va;
    }
}

static void compare_rigid(struct tac_state_comparison *c)
{
    const struct tac_checkpoint *a = c->a.state, *b = c->b.state;
    struct tac_tally *t = &c->tally[TAC_STATE_MOTION];
    const tac_lid rows = a->rigid.count < b->rigid.count ? a->rigid.count : b->rigid.count;
    for (tac_lid i = 0; i < rows; i++) {
        const struct tac_rigid_row *p = &a->rigid.row[i], *q = &b->rigid.row[i];
        bool largest = compare_whole_numbers(t, p->vertex, q->vertex);
        largest = compare_whole_numbers(t, p->t, q->t) || largest;
        largest = compare_whole_numbers(t, p->t1, q->t1) || largest;
        for (int k = 0; k < TAC_RIGID_NUMBERS; k++)
            largest = tac_tally_count(t, p->value[k], q->value[k], c->tolerance) || largest;
        for (int k = 0; k < 4 * TAC_PAST_NUMBERS && a->has_past && b->has_past; k++)
            largest = tac_tally_count(t, p->past[k], q->past[k], c->tolerance) || largest;
        if (largest) {
            t->vertex = (tac_lid)p->vertex;
            t->component = -1;
        }
    }
    if (compare_whole_numbers(t, a->rigid.count, b->rigid.count))
        name_tally(t, "number of rigid bodies");
}

/* Returns the number of a pair's layer groups up to the last one that ever acted. The groups after it do nothing.
 * Whether they are active depends on how the run was computed: discovery activates a group if its bounds cannot rule it
 * out. */
static int64_t count_acting_groups(const struct tac_checkpoint *c, const struct tac_pair_state *p)
{
    int64_t n = p != NULL ? p->groups : 0;
    while (n > 0 && c->last[p->last + n - 1] == INFINITY)
        n--;
    return n;
}

static bool count_depth(struct tac_state_comparison *c, const struct tac_pair_state *p, const struct tac_pair_state *q)
{
    struct tac_tally *t = &c->tally[TAC_STATE_CONTACTS];
    const int64_t n = count_acting_groups(c->a.state, p), m = count_acting_groups(c->b.state, q);
    if (p != NULL && q != NULL && n == p->groups && m == q->groups)
        return compare_whole_numbers(t, p->depth, q->depth);
    return compare_whole_numbers(t, n, m);
}

/* A pair of one file or of both; NULL: not active there. */
static void compare_pair(struct tac_state_comparison *c, const struct tac_pair_state *p, const struct tac_pair_state *q)
{
    struct tac_tally *t = &c->tally[TAC_STATE_CONTACTS], *last = &c->tally[TAC_STATE_LAST];
    const tac_gid vertex = p != NULL ? p->vertex[0] : q->vertex[0];
    const int64_t n = p != NULL ? p->groups : 0, m = q != NULL ? q->groups : 0;
    if (count_depth(c, p, q)) {
        t->vertex = (tac_lid)vertex;
        t->component = -1;
    }
    for (int k = 0; p != NULL && q != NULL && k < 4; k++)
        if (compare_whole_numbers(t, p->vertex[k], q->vertex[k])) {
            t->vertex = (tac_lid)vertex;
            t->component = -1;
        }
    for (int64_t k = 0; k < n || k < m; k++) {
        const double x = k < n ? c->a.state->last[p->last + k] : INFINITY;
        const double y = k < m ? c->b.state->last[q->last + k] : INFINITY;
        if (tac_tally_count(last, x, y, c->tolerance)) {
            last->vertex = (tac_lid)vertex;
            last->component = -1;
        }
    }
}

static void compare_pairs(struct tac_state_comparison *c)
{
    const struct tac_checkpoint *a = c->a.state, *b = c->b.state;
    for (tac_lid i = 0, j = 0; i < a->pair_count || j < b->pair_count;) {
        const bool has_a = i < a->pair_count && (j == b->pair_count || a->pair[i].key <= b->pair[j].key);
        const bool has_b = j < b->pair_count && (i == a->pair_count || b->pair[j].key <= a->pair[i].key);
        compare_pair(c, has_a ? &a->pair[i] : NULL, has_b ? &b->pair[j] : NULL);
        i += has_a;
        j += has_b;
    }
}

/* One kind of elements in both files. */
struct both {
    const struct tac_element_states *a, *b;
};

/* Vertex k of a row, -1 where it has none: rows of a former format may have more room. */
static tac_gid node_of(const struct tac_element_states *s, const struct tac_element_state *row, int k)
{
    return k < s->nodes ? row->vertex[k] : -1;
}

static void compare_element(struct tac_state_comparison *c, const struct both *kind, const struct tac_element_state *a,
                            const struct tac_element_state *b)
{
    struct tac_tally *t = &c->tally[TAC_STATE_ELEMENTS];
    const struct tac_element_states *s = kind->a, *u = kind->b;
    bool largest = compare_whole_numbers(t, a->has, b->has);
    for (int k = 0; k < s->nodes || k < u->nodes; k++)
        largest = compare_whole_numbers(t, node_of(s, a, k), node_of(u, b, k)) || largest;
    largest = (s->width != u->width && compare_whole_numbers(t, s->width, u->width)) || largest;
    for (int k = 0; k < s->width && k < u->width; k++) {
        largest = tac_tally_count(t, tac_element_rest(s, a)[k], tac_element_rest(u, b)[k], c->tolerance) || largest;
        largest = tac_tally_count(t, tac_element_last(s, a)[k], tac_element_last(u, b)[k], c->tolerance) || largest;
    }
    if (largest) {
        t->vertex = (tac_lid)a->vertex[0];
        t->component = -1;
    }
}

static void compare_elements_of(struct tac_state_comparison *c, const struct both *kind)
{
    struct tac_tally *t = &c->tally[TAC_STATE_ELEMENTS];
    for (tac_lid i = 0, j = 0; i < kind->a->count || j < kind->b->count;) {
        const struct tac_element_state *x = i < kind->a->count ? tac_element_row(kind->a, i) : NULL;
        const struct tac_element_state *y = j < kind->b->count ? tac_element_row(kind->b, j) : NULL;
        const int order = x == NULL ? 1 : y == NULL ? -1 : tac_element_state_compare(x, y);
        if (order == 0)
            compare_element(c, kind, x, y);
        else if (compare_whole_numbers(t, order<0, order> 0)) /* one has it, one has not */
            t->vertex = (tac_lid)(order < 0 ? x : y)->vertex[0];
        i += order <= 0;
        j += order >= 0;
    }
}

static void compare_elements(struct tac_state_comparison *c)
{
    for (int kind = 0; kind < TAC_KINDS; kind++)
        compare_elements_of(c, &(struct both){&c->a.state->element[kind], &c->b.state->element[kind]});
}

static void compare_friction_states(struct tac_state_comparison *c)
{
    const struct tac_checkpoint *a = c->a.state, *b = c->b.state;
    struct tac_tally *t = &c->tally[TAC_STATE_FRICTION];
    for (tac_lid i = 0, j = 0; i < a->friction_state_count || j < b->friction_state_count;) {
        const struct tac_friction_row *x = i < a->friction_state_count ? &a->friction_state[i] : NULL;
        const struct tac_friction_row *y = j < b->friction_state_count ? &b->friction_state[j] : NULL;
        const int order = x == NULL ? 1 : y == NULL ? -1 : tac_friction_row_compare(x, y);
        bool largest = false;
        if (order != 0) {
            largest = compare_whole_numbers(t, order<0, order> 0); /* one has it, one has not */
        } else {
            largest = compare_whole_numbers(t, x->t[0], y->t[0]);
            largest = compare_whole_numbers(t, x->t[1], y->t[1]) || largest;
            for (int k = 0; k < 13; k++)
                largest = tac_tally_count(t, x->value[k], y->value[k], c->tolerance) || largest;
        }
        if (largest) {
            t->vertex = (tac_lid)(order <= 0 ? x : y)->vertex[0];
            t->component = -1;
        }
        i += order <= 0;
        j += order >= 0;
    }
}

static void compare_sum(struct tac_state_comparison *c, const struct tac_accum *a, const struct tac_accum *b,
                        const char *name)
{
    struct tac_tally *t = &c->tally[TAC_STATE_SUMS];
    const bool exact = isnan(c->tolerance) && (memcmp(a->limb, b->limb, sizeof a->limb) != 0 || a->bad != b->bad);
    const double x = tac_accum_value(a), y = tac_accum_value(b);
    if (tac_tally_count(t, x, y, c->tolerance)) {
        name_tally(t, name);
    } else if (exact && memcmp(&x, &y, sizeof x) == 0) {
        /* The accumulators differ below the last bit of their sum. */
        if (t->differing++ == 0) {
            t->largest = 0;
            t->a = x;
            t->b = y;
            name_tally(t, name);
        }
    }
}

static void compare_whole(struct tac_state_comparison *c)
{
    const struct tac_checkpoint *a = c->a.state, *b = c->b.state;
    struct tac_tally *t = &c->tally[TAC_STATE_TIME];
    if (compare_whole_numbers(t, a->now, b->now))
        name_tally(t, "time, quanta");
    if (compare_whole_numbers(t, a->frame, b->frame))
        name_tally(t, "next frame");
    if (compare_whole_numbers(t, a->last_frame, b->last_frame))
        name_tally(t, "time of the last frame, quanta");
    t = &c->tally[TAC_STATE_SUMS];
    compare_sum(c, &a->dissipated, &b->dissipated, "dissipated");
    compare_sum(c, &a->work, &b->work, "work");
    compare_sum(c, &a->total_start, &b->total_start, "total at the start");
    for (int k = 0; k < 3; k++)
        compare_sum(c, &a->couple[k], &b->couple[k], "couple of friction");
    static const char *const cause[] = {"dissipated by friction", "dissipated by damping", "dissipated by plasticity"};
    for (int k = 0; k < 3 && a->has_losses && b->has_losses; k++)
        compare_sum(c, &a->lost[k], &b->lost[k], cause[k]);
    if (compare_whole_numbers(t, a->deepest_layer, b->deepest_layer))
        name_tally(t, "deepest layer since the last row");
}

enum tac_err tac_state_compare(struct tac_ctx *ctx, const char *a, const char *b, double tolerance,
                               struct tac_state_comparison *c)
{
    static const char *const names[TAC_STATE_COUNT] = {"time",  "start",    "mass",     "position", "velocity",
                                                       "clock", "impulse",  "topology", "motion",   "contacts",
                                                       "last",  "elements", "friction", "sums",     "past"};
    enum tac_err err;
    memset(c, 0, sizeof *c);
    c->tolerance = tolerance;
    for (int i = 0; i < TAC_STATE_COUNT; i++) {
        c->tally[i].name = names[i];
        c->tally[i].frame = c->tally[i].vertex = -1;
    }
    TAC_TRY(tac_state_open(ctx, a, &c->a));
    TAC_TRY(tac_state_open(ctx, b, &c->b));
    const struct tac_checkpoint *x = c->a.state, *y = c->b.state;
    if (x->vertices.count != y->vertices.count) {
        err = tac_fail(ctx, TAC_ERR_INPUT,
                       "cannot compare '%s' with '%s': they have %" TAC_PRILID " and %" TAC_PRILID " vertices",
                       c->a.path, c->b.path, x->vertices.count, y->vertices.count);
        goto done;
    }
    compare_whole(c);
    compare_vertices(c, TAC_STATE_START, x->vertices.start, y->vertices.start, 3);
    compare_vertices(c, TAC_STATE_MASS, x->vertices.mass, y->vertices.mass, 1);
    compare_vertices(c, TAC_STATE_POSITION, x->vertices.x, y->vertices.x, 3);
    compare_vertices(c, TAC_STATE_VELOCITY, x->vertices.v, y->vertices.v, 3);
    compare_clocks(c);
    compare_vertices(c, TAC_STATE_IMPULSE, x->vertices.impulse, y->vertices.impulse, 3);
    compare_vertices(c, TAC_STATE_IMPULSE, x->vertices.rest, y->vertices.rest, 3);
    if (x->has_past && y->has_past)
        compare_vertices(c, TAC_STATE_PAST, x->vertices.past, y->vertices.past, TAC_PAST_NUMBERS);
    if (compare_whole_numbers(&c->tally[TAC_STATE_PAST], x->has_past, y->has_past))
        name_tally(&c->tally[TAC_STATE_PAST], "whether there is one");
    compare_id_tables(&c->tally[TAC_STATE_TOPOLOGY], x->mesh.triangle_count, x->mesh.triangle, y->mesh.triangle_count,
                      y->mesh.triangle, 3, "triangles");
    compare_id_tables(&c->tally[TAC_STATE_TOPOLOGY], x->mesh.segment_count, x->mesh.segment, y->mesh.segment_count,
                      y->mesh.segment, 2, "segments");
    compare_id_tables(&c->tally[TAC_STATE_TOPOLOGY], x->mesh.tetrahedron_count, x->mesh.tetrahedron,
                      y->mesh.tetrahedron_count, y->mesh.tetrahedron, 4, "tetrahedra");
    compare_scripts(c);
    compare_rigid(c);
    compare_pairs(c);
    compare_elements(c);
    compare_friction_states(c);
done:
    if (err)
        tac_state_comparison_close(c);
    return err;
}

bool tac_state_equal(const struct tac_state_comparison *c)
{
    for (int i = 0; i < TAC_STATE_COUNT; i++)
        if (c->tally[i].differing > 0)
            return false;
    return true;
}

void tac_state_comparison_close(struct tac_state_comparison *c)
{
    tac_state_close(&c->a);
    tac_state_close(&c->b);
}
