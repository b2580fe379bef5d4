/* rows.c: checks the rows of a mesh that are spread over the ranks together, with the sentences of a mesh that is read
 * whole; and drops vertices that no element uses. */
#include "base/exchange.h"
#include "scene/spread/mesh.h"

#include <stdlib.h>
#include <string.h>

enum tac_err tac_spread_check_indices(struct tac_spread_large *l, enum tac_table table)
{
    const struct tac_origin origin = tac_spread_origin(l);
    return tac_agree(l->ctx, tac_check_indices(&origin, (size_t)l->rows->number[table],
                                               (size_t)tac_spread_rows(l, table), tac_spread_width(table),
                                               tac_spread_elements(l, table), (size_t)l->rows->total[TAC_VERTICES]));
}

/* The distinct vertices of the rows' elements, and where each is among them; owned by the caller. */
static enum tac_err list_corners(struct tac_spread_large *l, enum tac_table table, tac_gid **unique, size_t *uniques,
                                 tac_lid **at)
{
    const size_t n = (size_t)tac_spread_width(table) * (size_t)tac_spread_rows(l, table);
    const tac_lid *element = tac_spread_elements(l, table);
    tac_gid *number = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(l->ctx, n, sizeof *number, &number));
    TAC_TRY(tac_alloc(l->ctx, n, sizeof **at, at));
    for (size_t i = 0; i < n; i++)
        number[i] = element[i];
    TAC_TRY(tac_compress(l->ctx, n, number, unique, uniques, *at));
done:
    free(number);
    return err;
}

enum tac_err tac_spread_check_sizes(struct tac_spread_large *l, enum tac_table table)
{
    const struct tac_origin origin = tac_spread_origin(l);
    tac_gid *unique = NULL;
    tac_lid *at = NULL;
    double *x = NULL;
    size_t uniques = 0;
    enum tac_err err = list_corners(l, table, &unique, &uniques, &at);
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, 3 * uniques, sizeof *x, &x);
    TAC_TRY(tac_spread_ask(l->ctx, err, l->body, l->rows->total[TAC_VERTICES], uniques, unique,
                           l->rows->number[TAC_VERTICES], l->mesh->x, x));
    err = tac_agree(l->ctx, tac_check_sizes(&origin, (size_t)l->rows->number[table], (size_t)tac_spread_rows(l, table),
                                            tac_spread_width(table), tac_spread_elements(l, table), at, x));
done:
    free(unique);
    free(at);
    free(x);
    return err;
}

/* An element by its vertices, ascending. */
struct named {
    tac_gid vertex[3], number;
};

static enum tac_err sort_named(struct tac_ctx *ctx, const struct named *named, size_t n, struct tac_keyed *order)
{
    enum tac_err err = TAC_OK;
    for (size_t i = 0; i < n; i++)
        order[i].index = (int64_t)i;
    for (int k = 3; k-- > 0;) {
        for (size_t i = 0; i < n; i++)
            order[i].key = named[order[i].index].vertex[k];
        TAC_TRY(tac_sort_keyed(ctx, n, order));
    }
done:
    return err;
}

/* The earliest element that repeats one before it: INT64_MAX, or its number, and that of the other in *one. */
static int64_t find_repeat(const struct named *named, size_t n, const struct tac_keyed *order, int64_t *one)
{
    int64_t found = INT64_MAX;
    for (size_t i = 1; i < n; i++) {
        const struct named *a = &named[order[i - 1].index], *b = &named[order[i].index];
        if (b->number < found && memcmp(a->vertex, b->vertex, sizeof a->vertex) == 0) {
            found = b->number;
            *one = a->number;
        }
    }
    return found;
}

static void name_element(const tac_lid *v, int width, int64_t number, struct named *out)
{
    *out = (struct named){{v[0], v[1], width == 3 ? v[2] : 0}, number};
    for (int k = 1; k < width; k++)
        for (int m = k; m > 0 && out->vertex[m - 1] > out->vertex[m]; m--) {
            const tac_gid swap = out->vertex[m];
            out->vertex[m] = out->vertex[m - 1];
            out->vertex[m - 1] = swap;
        }
}

/* Elements of the same vertices are sent to the rank of the block of their smallest vertex. */
enum tac_err tac_spread_check_repeats(struct tac_spread_large *l, enum tac_table table)
{
    const size_t n = (size_t)tac_spread_rows(l, table);
    const int width = tac_spread_width(table);
    const struct tac_origin origin = tac_spread_origin(l);
    struct named *named = NULL, *came = NULL;
    struct tac_keyed *order = NULL;
    int32_t *to = NULL;
    size_t count = 0;
    int64_t one = -1, mine = INT64_MAX, found;
    enum tac_err err = tac_alloc(l->ctx, n, sizeof *named, &named);
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, n, sizeof *to, &to);
    for (size_t i = 0; i < n && err == TAC_OK; i++) {
        name_element(tac_spread_elements(l, table) + (size_t)width * i, width, l->rows->number[table] + (int64_t)i,
                     &named[i]);
        to[i] = tac_spread_rank(l->ctx, l->body, l->rows->total[TAC_VERTICES], (tac_lid)named[i].vertex[0]);
    }
    TAC_TRY(tac_distribute(l->ctx, err, n, to, named, sizeof *named, &came, &count));
    err = tac_alloc(l->ctx, count, sizeof *order, &order);
    if (err == TAC_OK)
        err = sort_named(l->ctx, came, count, order);
    if (err == TAC_OK)
        mine = find_repeat(came, count, order, &one);
    TAC_TRY(tac_agree(l->ctx, err));
    MPI_Allreduce(&mine, &found, 1, MPI_INT64_T, MPI_MIN, l->ctx->comm);
    if (found == mine && mine != INT64_MAX)
        err = tac_fail_repeat(&origin, width, 0, (size_t)mine, (size_t)one);
    err = tac_agree(l->ctx, err);
done:
    free(named);
    free(came);
    free(order);
    free(to);
    return err;
}

/* The vertices' new numbers, when those that no element uses are left out. */
struct numbers {
    tac_lid first;  /* number of our first row before */
    tac_lid *after; /* owned, (rows): -1 where left out */
    tac_lid kept, kept_total;
};

static void tell_number(const void *known, tac_gid number, void *record)
{
    const struct numbers *n = known;
    const tac_gid after = n->after[number - n->first];
    memcpy(record, &after, sizeof after);
}

/* The ranks that have the elements say which vertices are used. */
static enum tac_err mark_used(struct tac_spread_large *l, enum tac_err err, size_t uniques, const tac_gid *unique,
                              const int32_t *to, struct numbers *numbers)
{
    const size_t rows = (size_t)l->mesh->vertex_count;
    tac_gid *came = NULL;
    size_t count = 0;
    tac_lid before = 0;
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, rows, sizeof *numbers->after, &numbers->after);
    TAC_TRY(tac_distribute(l->ctx, err, uniques, to, unique, sizeof *unique, &came, &count));
    for (size_t i = 0; i < count; i++)
        numbers->after[came[i] - numbers->first] = 1;
    for (size_t i = 0; i < rows; i++)
        numbers->kept += numbers->after[i];
    MPI_Exscan(&numbers->kept, &before, 1, TAC_LID_MPI, MPI_SUM, l->ctx->comm);
    MPI_Allreduce(&numbers->kept, &numbers->kept_total, 1, TAC_LID_MPI, MPI_SUM, l->ctx->comm);
    before = l->ctx->rank == 0 ? 0 : before;
    for (size_t i = 0; i < rows; i++)
        numbers->after[i] = numbers->after[i] ? before++ : -1;
done:
    free(came);
    return err;
}

/* The rows that are kept go to where their new numbers belong. */
static enum tac_err move_vertices(struct tac_spread_large *l, struct numbers *numbers)
{
    double *kept = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t n = 0, count = 0;
    enum tac_err err = tac_alloc(l->ctx, 3 * (size_t)numbers->kept, sizeof *kept, &kept);
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, (size_t)numbers->kept, sizeof *to, &to);
    for (size_t i = 0; i < (size_t)l->mesh->vertex_count && err == TAC_OK; i++) {
        if (numbers->after[i] < 0)
            continue;
        memcpy(kept + 3 * n, l->mesh->x + 3 * i, 3 * sizeof *kept);
        to[n++] = tac_spread_rank(l->ctx, l->body, numbers->kept_total, numbers->after[i]);
    }
    TAC_TRY(tac_distribute(l->ctx, err, n, to, kept, 3 * sizeof *kept, &came, &count));
    l->rows->total[TAC_VERTICES] = numbers->kept_total;
    tac_spread_block(l->ctx, l->body, numbers->kept_total, &l->rows->number[TAC_VERTICES], &l->mesh->vertex_count);
    TAC_CHECK(count == (size_t)l->mesh->vertex_count);
    free(l->mesh->x);
    l->mesh->x = came;
done:
    free(kept);
    free(to);
    return err;
}

static enum tac_err renumber(struct tac_spread_large *l, enum tac_table table, size_t uniques, const tac_gid *unique,
                             const int32_t *to, const tac_lid *at, const struct numbers *numbers)
{
    tac_gid *after = NULL;
    tac_lid *element = tac_spread_elements(l, table);
    enum tac_err err = tac_alloc(l->ctx, uniques, sizeof *after, &after);
    TAC_TRY(tac_ask(l->ctx, err, uniques, to, unique, tell_number, numbers, sizeof *after, after));
    for (size_t i = 0; i < (size_t)tac_spread_width(table) * (size_t)tac_spread_rows(l, table); i++)
        element[i] = (tac_lid)after[at[i]];
done:
    free(after);
    return err;
}

enum tac_err tac_spread_drop_unused(struct tac_spread_large *l)
{
    struct numbers numbers = {.first = l->rows->number[TAC_VERTICES]};
    tac_gid *unique[2] = {NULL, NULL};
    tac_lid *at[2] = {NULL, NULL};
    size_t uniques[2] = {0, 0};
    int32_t *to[2] = {NULL, NULL};
    tac_gid *all = NULL;
    int32_t *all_to = NULL;
    enum tac_err err = TAC_OK;
    for (int k = 0; k < 2 && err == TAC_OK; k++) {
        err = list_corners(l, TAC_TRIANGLES + (enum tac_table)k, &unique[k], &uniques[k], &at[k]);
        if (err == TAC_OK)
            err = tac_alloc(l->ctx, uniques[k], sizeof *to[k], &to[k]);
        for (size_t i = 0; i < uniques[k] && err == TAC_OK; i++)
            to[k][i] = tac_spread_rank(l->ctx, l->body, l->rows->total[TAC_VERTICES], (tac_lid)unique[k][i]);
    }
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, uniques[0] + uniques[1], sizeof *all, &all);
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, uniques[0] + uniques[1], sizeof *all_to, &all_to);
    for (int k = 0; k < 2 && err == TAC_OK; k++) {
        memcpy(all + (k ? uniques[0] : 0), unique[k], uniques[k] * sizeof *all);
        memcpy(all_to + (k ? uniques[0] : 0), to[k], uniques[k] * sizeof *all_to);
    }
    TAC_TRY(mark_used(l, err, uniques[0] + uniques[1], all, all_to, &numbers));
    if (numbers.kept_total == l->rows->total[TAC_VERTICES])
        goto done;
    tac_warn(l->ctx, "%s: %zu of %zu vertices are in no element and are dropped; vertex numbers count the others",
             l->path, (size_t)(l->rows->total[TAC_VERTICES] - numbers.kept_total),
             (size_t)l->rows->total[TAC_VERTICES]);
    TAC_TRY(renumber(l, TAC_TRIANGLES, uniques[0], unique[0], to[0], at[0], &numbers));
    TAC_TRY(renumber(l, TAC_SEGMENTS, uniques[1], unique[1], to[1], at[1], &numbers));
    TAC_TRY(move_vertices(l, &numbers));
done:
    for (int k = 0; k < 2; k++) {
        free(unique[k]);
        free(at[k]);
        free(to[k]);
    }
    free(all);
    free(all_to);
    free(numbers.after);
    return err;
}
