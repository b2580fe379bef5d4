/* active.c: the rows of the present part of a step, and their bodies. A rank makes the rows of its pairs, and all ranks
 * get all rows, ascending by key, with bodies that are numbered by ascending ids. */
#include "base/compare.h"
#include "base/exchange.h"
#include "contact/model.h"
#include "impact/impact.h"
#include <stdlib.h>
#include <string.h>

void tac_impact_active_clear(struct tac_impact *sim)
{
    struct tac_impact_active *a = &sim->active;
    a->rows = a->bodies = a->found_count = 0;
    a->instant.rows = a->instant.bodies = 0;
    a->instant.all.count = a->instant.kept.count = 0;
    for (size_t k = 0; k < sim->search.count; k++)
        sim->search.pair[k].active = false;
}

void tac_impact_active_free(struct tac_impact *sim)
{
    struct tac_impact_active *a = &sim->active;
    tac_instant_free(&a->instant);
    void *const owned[] = {a->row, a->push,   a->first, a->id,    a->piece, a->v,
                           a->a,   a->middle, a->end,   a->space, a->found};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
}

static int compare_keys(const void *a, const void *b)
{
    const struct tac_impact_row *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

struct tac_impact_row *tac_impact_active_find(const struct tac_impact *sim, uint64_t key)
{
    const struct tac_impact_row wanted = {.key = key};
    if (sim->active.rows == 0)
        return NULL;
    return bsearch(&wanted, sim->active.row, sim->active.rows, sizeof wanted, compare_keys);
}

/* ---- a row of this rank ---- */

/* The body of a primitive of one vertex, slot k of the row; else its velocity is known. */
static void enter_vertex(const struct tac_impact *sim, tac_lid v, int i, int k, struct tac_impact_found *f)
{
    if (!tac_impact_is_body(sim, v)) {
        for (size_t c = 0; c < 3 && sim->scripts.on[v]; c++)
            f->row.other[c] += f->row.w[i] * (sim->p[3 * (size_t)v + c] / sim->part.h);
        return;
    }
    const double root = sqrt(sim->scene->mesh->mass[v]);
    f->row.id[k] = tac_scene_id(sim->scene, v);
    f->row.inverse[k] = 1 / root;
    for (size_t c = 0; c < 3; c++) {
        f->v[k][c] = root * sim->v[3 * (size_t)v + c];
        f->a[k][c] = root * sim->a[3 * (size_t)v + c];
    }
}

/* Vertex i of the pair. */
static void enter(const struct tac_impact *sim, const struct tac_impact_pair *pair, int i, const struct tac_near *near,
                  struct tac_impact_found *f)
{
    const int first = tac_pair_first(pair->type);
    const tac_lid v = pair->v[i];
    double x[4][3];
    if (!tac_impact_is_rigid(sim, v)) {
        enter_vertex(sim, v, i, i < first ? 0 : 1, f);
        return;
    }
    tac_impact_gather(sim->x, pair->v, tac_pair_vertices(pair->type), x);
    if (i == 0 || i == first)
        tac_impact_rigid_enter(sim, pair, sim->rigid.of[v], i == 0 ? 0 : 1, (const double(*)[3])x, near, f);
}

enum tac_err tac_impact_active_add(struct tac_impact *sim, struct tac_impact_pair *pair, const struct tac_near *near)
{
    enum tac_err err = TAC_OK;
    struct tac_impact_active *a = &sim->active;
    const tac_lid *body = sim->scene->mesh->vertex_body;
    const struct tac_contact_law *law =
        tac_scene_law(sim->scene, body[pair->v[0]], body[pair->v[tac_pair_first(pair->type)]]);
    TAC_TRY(tac_grow(sim->ctx, &a->found, &a->found_capacity, a->found_count + 1, sizeof *a->found));
    struct tac_impact_found *f = &a->found[a->found_count++];
    *f = (struct tac_impact_found){.piece = {-1, -1}};
    f->row = (struct tac_impact_row){.key = pair->key,
                                     .type = pair->type,
                                     .vertex = {-1, -1, -1, -1},
                                     .id = {-1, -1, -1, -1},
                                     .body = {-1, -1},
                                     .gap = near->d - pair->radius,
                                     .radius = pair->radius,
                                     .thickness = pair->thickness,
                                     .restitution = law->restitution,
                                     .friction = law->friction};
    memcpy(f->row.n, near->n, sizeof f->row.n);
    memcpy(f->row.w, near->w, sizeof f->row.w);
    for (int i = 0; i < tac_pair_vertices(pair->type); i++) {
        f->row.vertex[i] = tac_scene_id(sim->scene, pair->v[i]);
        enter(sim, pair, i, near, f);
    }
    pair->active = true;
    tac_row_aim(&f->row);
done:
    return err;
}

/* ---- all rows ---- */

enum tac_err tac_impact_gather_records(struct tac_impact *sim, const void *mine, size_t count, size_t size, void *all,
                                       size_t *total)
{
    int64_t number;
    const enum tac_err err = tac_share_all(sim->ctx, TAC_OK, count, mine, size, 0, all, &number);
    *total = (size_t)number;
    return err;
}

int32_t tac_impact_active_number(const struct tac_impact_active *a, tac_gid id)
{
    const tac_gid *at = id >= 0 && a->bodies > 0 ? bsearch(&id, a->id, a->bodies, sizeof id, tac_compare_int64) : NULL;
    return at != NULL ? (int32_t)(at - a->id) : -1;
}

static enum tac_err make_room(struct tac_impact *sim, size_t rows, size_t bodies)
{
    enum tac_err err = TAC_OK;
    struct tac_impact_active *a = &sim->active;
    double **const of_bodies[] = {&a->v, &a->a, &a->middle, &a->end, &a->space};
    size_t has;
    for (size_t k = 0; k < sizeof of_bodies / sizeof *of_bodies; k++) {
        has = 3 * a->body_capacity;
        TAC_TRY(tac_grow(sim->ctx, of_bodies[k], &has, 3 * bodies, sizeof **of_bodies[k]));
    }
    has = a->body_capacity;
    TAC_TRY(tac_grow(sim->ctx, &a->id, &has, bodies, sizeof *a->id));
    has = a->body_capacity;
    TAC_TRY(tac_grow(sim->ctx, &a->piece, &has, bodies, sizeof *a->piece));
    a->body_capacity = bodies > a->body_capacity ? bodies : a->body_capacity;
    has = a->row_capacity;
    TAC_TRY(tac_grow(sim->ctx, &a->push, &has, rows, sizeof *a->push));
    has = a->row_capacity;
    TAC_TRY(tac_grow(sim->ctx, &a->first, &has, rows, sizeof *a->first));
    has = a->row_capacity;
    TAC_TRY(tac_grow(sim->ctx, &a->row, &has, rows, sizeof *a->row));
    a->row_capacity = rows > a->row_capacity ? rows : a->row_capacity;
done:
    return err;
}

/* A body of a new row. */
struct arrival {
    tac_gid id;
    size_t found;
    int slot;
};

static int compare_arrivals(const void *a, const void *b)
{
    return tac_compare_int64(a, b);
}

/* Lists the bodies that only the new rows have, ascending. Returns how many they are. */
static size_t list_arrivals(const struct tac_impact_active *a, const struct tac_impact_found *found, size_t n,
                            struct arrival *out)
{
    size_t count = 0, distinct = 0;
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 4; i++)
            if (found[k].row.id[i] >= 0 && tac_impact_active_number(a, found[k].row.id[i]) < 0)
                out[count++] = (struct arrival){found[k].row.id[i], k, i};
    if (count > 1)
        qsort(out, count, sizeof *out, compare_arrivals);
    for (size_t k = 0; k < count; k++)
        if (k == 0 || out[k].id != out[k - 1].id)
            out[distinct++] = out[k];
    return distinct;
}

/* Puts the arrivals between the bodies that are there, from the back. */
static void merge_bodies(struct tac_impact_active *a, const struct tac_impact_found *found,
                         const struct arrival *arrival, size_t n)
{
    size_t old = a->bodies;
    a->bodies += n;
    for (size_t at = a->bodies; n > 0 && at-- > 0;) {
        if (old > 0 && a->id[old - 1] > arrival[n - 1].id) {
            old--;
            a->id[at] = a->id[old];
            a->piece[at] = a->piece[old];
            memmove(&a->v[3 * at], &a->v[3 * old], 3 * sizeof *a->v);
            memmove(&a->a[3 * at], &a->a[3 * old], 3 * sizeof *a->a);
            continue;
        }
        const struct arrival *new = &arrival[--n];
        a->id[at] = new->id;
        a->piece[at] = found[new->found].piece[new->slot % 2];
        memcpy(&a->v[3 * at], found[new->found].v[new->slot], 3 * sizeof *a->v);
        memcpy(&a->a[3 * at], found[new->found].a[new->slot], 3 * sizeof *a->a);
    }
}

static void merge_rows(struct tac_impact_active *a, const struct tac_impact_found *found, size_t n)
{
    size_t old = a->rows;
    a->rows += n;
    for (size_t at = a->rows; n > 0 && at-- > 0;) {
        if (old > 0 && a->row[old - 1].key > found[n - 1].row.key) {
            old--;
            a->row[at] = a->row[old];
            memmove(a->push[at], a->push[old], sizeof a->push[at]);
            continue;
        }
        a->row[at] = found[--n].row;
        memset(a->push[at], 0, sizeof a->push[at]);
    }
}

/* Bodies of rows that were there have other numbers now: their ids say which. */
static void number_rows(struct tac_impact_active *a)
{
    for (size_t k = 0; k < a->rows; k++) {
        struct tac_impact_row *row = &a->row[k];
        for (int i = 0; i < 2; i++) {
            row->body[i] = tac_impact_active_number(a, row->id[i]);
            row->turn[i] = row->id[2 + i] >= 0 ? tac_impact_active_number(a, row->id[2 + i]) : 0;
        }
    }
}

static enum tac_err enter_all(struct tac_impact *sim, struct tac_impact_found *found, size_t n)
{
    enum tac_err err;
    struct tac_impact_active *a = &sim->active;
    struct arrival *arrival = NULL;
    TAC_TRY(tac_alloc_brief(sim->ctx, 4 * n, sizeof *arrival, &arrival));
    qsort(found, n, sizeof *found, compare_keys);
    const size_t arrivals = list_arrivals(a, found, n, arrival);
    TAC_TRY(make_room(sim, a->rows + n, a->bodies + arrivals));
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 2; i++)
            if (found[k].piece[i] >= 0)
                sim->rigid.piece[found[k].piece[i]].touched = true;
    merge_bodies(a, found, arrival, arrivals);
    merge_rows(a, found, n);
    number_rows(a);
    a->instant.rows = a->rows;
    a->instant.row = a->row;
    a->instant.bodies = a->bodies;
    a->instant.v = a->v;
    TAC_TRY(tac_instant_islands(&a->instant));
done:
    free(arrival);
    return err;
}

enum tac_err tac_impact_active_meet(struct tac_impact *sim, int64_t *fresh)
{
    enum tac_err err;
    struct tac_impact_active *a = &sim->active;
    struct tac_impact_found *all = NULL;
    size_t total = a->found_count;
    *fresh = (int64_t)total;
    TAC_TRY(tac_over_ranks(sim->ctx, fresh, 1, MPI_INT64_T, MPI_SUM));
    if (*fresh == 0)
        return TAC_OK;
    if (sim->ctx->size > 1)
        TAC_TRY(tac_impact_gather_records(sim, a->found, a->found_count, sizeof *all, &all, &total));
    TAC_TRY(tac_agree(sim->ctx, enter_all(sim, all != NULL ? all : a->found, total)));
    a->found_count = 0;
done:
    free(all);
    return err;
}

void tac_impact_active_tell(struct tac_impact *sim, const double *from, double *to)
{
    const struct tac_impact_active *a = &sim->active;
    for (size_t b = 0; b < a->bodies; b++) {
        const tac_lid v = a->piece[b] < 0 ? tac_impact_vertex(sim, a->id[b]) : -1;
        if (v < 0)
            continue;
        const double inverse = 1 / sqrt(sim->scene->mesh->mass[v]);
        for (size_t c = 0; c < 3; c++)
            to[3 * (size_t)v + c] = inverse * from[3 * b + c];
    }
}
