/* scene_loads.c: reads the loads of a scene, and finds which vertices they act on. */
#include "base/exchange.h"
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct tac_field load_fields[] = {
    {.key = "body", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "vertices", .kind = TAC_FIELD_OTHER},
    {.key = "force",
     .kind = TAC_FIELD_VECTOR,
     .offset = offsetof(struct tac_load, force),
     .fallback = NAN,
     .max = TAC_FARTHEST},
    {.key = "acceleration",
     .kind = TAC_FIELD_VECTOR,
     .offset = offsetof(struct tac_load, force),
     .fallback = NAN,
     .max = TAC_FARTHEST},
    {.key = "pressure",
     .kind = TAC_FIELD_NUMBER,
     .offset = offsetof(struct tac_load, pressure),
     .fallback = NAN,
     .min = -TAC_FARTHEST,
     .max = TAC_FARTHEST},
    {.key = "wind",
     .kind = TAC_FIELD_VECTOR,
     .offset = offsetof(struct tac_load, wind),
     .fallback = NAN,
     .max = TAC_FARTHEST},
    {.key = "drag",
     .kind = TAC_FIELD_NUMBER,
     .offset = offsetof(struct tac_load, drag),
     .fallback = NAN,
     .max = TAC_FARTHEST},
    {.key = "path", .kind = TAC_FIELD_OTHER},
};

enum tac_err tac_scene_read_factors(struct tac_reader *reader, const json_t *path, const char *where, double **knot_t_s,
                                    tac_lid *count, double **factor)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_scene_knots(reader, path, where, "without a path the factor is 1", 1, knot_t_s, factor));
    for (size_t i = 0; i < json_array_size(path); i++) {
        char knot_where[TAC_WHERE], place[TAC_WHERE];
        const json_t *value;
        tac_where_index(knot_where, where, i);
        TAC_TRY(tac_scene_knot(reader, json_array_get(path, i), knot_where, "the factor", *knot_t_s, count, &value));
        tac_where_index(place, knot_where, 1);
        TAC_TRY(tac_number(reader, value, place, &(*factor)[i]));
        if (fabs((*factor)[i]) > TAC_FARTHEST)
            TAC_TRY(tac_scene_fail(reader, place, "is %s; it must stay within %g", tac_shown((*factor)[i]).text,
                                   TAC_FARTHEST));
    }
done:
    return err;
}

static enum tac_err read_kind(struct tac_reader *reader, const json_t *object, const char *where, struct tac_load *load)
{
    const bool force = json_object_get(object, "force") != NULL, pressure = json_object_get(object, "pressure") != NULL;
    const bool wind = json_object_get(object, "wind") != NULL, drag = json_object_get(object, "drag") != NULL;
    const bool acceleration = json_object_get(object, "acceleration") != NULL;
    const int kinds = force + pressure + wind + acceleration;
    if (kinds != 1)
        return tac_scene_fail(reader, where, "must have either \"force\", \"acceleration\", \"pressure\" or \"wind\"%s",
                              kinds > 0 ? ", only one of them" : "");
    if (wind != drag)
        return tac_scene_fail(reader, where, "has \"%s\" without \"%s\"; a wind needs both", wind ? "wind" : "drag",
                              wind ? "drag" : "wind");
    load->kind = force          ? TAC_LOAD_FORCE
                 : acceleration ? TAC_LOAD_ACCELERATION
                 : pressure     ? TAC_LOAD_PRESSURE
                                : TAC_LOAD_WIND;
    if (load->force[2] != 0 || load->wind[2] != 0)
        reader->leaves_plane = true;
    return TAC_OK;
}

/* What it does, and how that changes with time. */
static enum tac_err read_load_course(struct tac_reader *reader, const json_t *object, const char *where,
                                     struct tac_load *load)
{
    char place[TAC_WHERE];
    const json_t *path = json_object_get(object, "path");
    enum tac_err err = read_kind(reader, object, where, load);
    tac_where(place, where, "path");
    if (!err && path != NULL)
        err = tac_scene_read_factors(reader, path, place, &load->knot_t_s, &load->knot_count, &load->factor);
    return err;
}

/* Where the scene's vertex is among the rows that are here. */
static tac_lid row_of(const struct tac_reader *reader, tac_lid body, tac_lid vertex)
{
    const struct tac_rows rows = reader->rows[body][TAC_VERTICES];
    return rows.begin + (vertex - reader->scene->settings->body[body].vertex_begin - rows.number);
}

/* The sets that the selected vertices have now, ascending and without repetition (at most *count), on all ranks. */
static enum tac_err sets_before(struct tac_reader *reader, tac_lid body, const struct tac_selection *selection,
                                tac_gid **set, size_t *count)
{
    const struct tac_scene *scene = reader->scene;
    struct tac_ids ids = {0};
    uint8_t *mark = NULL;
    enum tac_err err = TAC_OK;
    for (tac_lid i = 0; i < selection->count && err == TAC_OK; i++) {
        const tac_gid id = scene->mesh->vertex_load[row_of(reader, body, selection->vertex[i])] + 1;
        err = tac_ids_add(reader->ctx, &ids, 1, &id);
    }
    if (err == TAC_OK && reader->spread)
        err = tac_alloc(reader->ctx, (size_t)scene->settings->load_set_count + 1, 1, &mark);
    if (err == TAC_OK)
        err = tac_ids_finish(reader->ctx, &ids, set, count);
    TAC_TRY(tac_reader_agree(reader, err));
    if (reader->spread) {
        for (size_t i = 0; i < *count; i++)
            mark[(*set)[i]] = 1;
        MPI_Allreduce(MPI_IN_PLACE, mark, scene->settings->load_set_count + 1, MPI_UINT8_T, MPI_MAX, reader->ctx->comm);
        *count = 0;
        for (tac_lid i = 0; i <= scene->settings->load_set_count; i++)
            *count += mark[i];
        free(*set);
        *set = NULL;
        TAC_TRY(tac_reader_agree(reader, tac_alloc(reader->ctx, *count, sizeof **set, set)));
        *count = 0;
        for (tac_lid i = 0; i <= scene->settings->load_set_count; i++)
            if (mark[i])
                (*set)[(*count)++] = i;
    }
done:
    free(ids.list);
    free(mark);
    return err;
}

/* Every set that has a selected vertex gets a successor with this load: ids follow from the scene alone. */
static enum tac_err add_load(struct tac_reader *reader, tac_lid body, tac_lid load,
                             const struct tac_selection *selection, size_t *capacity)
{
    struct tac_scene *scene = reader->scene;
    struct tac_finder finder = {0};
    tac_gid *set = NULL;
    size_t count = 0;
    const tac_lid first = scene->settings->load_set_count;
    enum tac_err err = TAC_OK;
    TAC_TRY(sets_before(reader, body, selection, &set, &count));
    if (count > (size_t)(TAC_MOST_ELEMENTS - first))
        err = tac_scene_fail(reader, "loads", "overlap in too many combinations; join some of them");
    if (err == TAC_OK)
        err = tac_grow(reader->ctx, &scene->settings->load_set, capacity, (size_t)first + count,
                       sizeof *scene->settings->load_set);
    if (err == TAC_OK)
        err = tac_finder_make(reader->ctx, set, count, &finder);
    TAC_TRY(tac_reader_agree(reader, err));
    for (size_t i = 0; i < count; i++)
        scene->settings->load_set[scene->settings->load_set_count++] = (struct tac_load_set){load, (tac_lid)set[i] - 1};
    for (tac_lid i = 0; i < selection->count; i++) {
        tac_lid *at = &scene->mesh->vertex_load[row_of(reader, body, selection->vertex[i])];
        *at = first + tac_finder_find(&finder, *at + 1);
    }
done:
    tac_finder_free(&finder);
    free(set);
    return err;
}

static enum tac_err read_load(struct tac_reader *reader, json_t *object, size_t index, struct tac_load *load,
                              size_t *set_capacity)
{
    char where[TAC_WHERE], place[TAC_WHERE];
    struct tac_selection selection = {.what = "load"};
    int64_t selected;
    enum tac_err err = TAC_OK;
    tac_where_index(where, "loads", index);
    TAC_TRY(tac_fields_read(reader, object, where, load_fields, COUNT(load_fields), load));
    tac_where(place, where, "body");
    TAC_TRY(tac_scene_find_body(reader, json_object_get(object, "body"), place, &load->body));
    const struct tac_body *body = &reader->scene->settings->body[load->body];
    if (body->fixed)
        TAC_TRY(tac_scene_fail(reader, where, "acts on \"%.60s\", which is fixed; leave out the load or \"fixed\"",
                               body->name));
    TAC_TRY(read_load_course(reader, object, where, load));
    TAC_TRY(tac_scene_select(reader, object, where, load->body, &selection));
    TAC_TRY(add_load(reader, load->body, (tac_lid)index, &selection, set_capacity));
    selected = selection.count;
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, &selected, 1, MPI_INT64_T, MPI_SUM, reader->ctx->comm);
    load->vertex_count = selected;
done:
    free(selection.vertex);
    return err;
}

enum tac_err tac_scene_read_loads(struct tac_reader *reader, json_t *root)
{
    struct tac_scene *scene = reader->scene;
    size_t set_capacity = 0;
    enum tac_err err = TAC_OK;
    json_t *loads;
    TAC_TRY(tac_list(reader, root, "", "loads", &loads));
    const size_t count = json_array_size(loads);
    if (count > TAC_MOST_ELEMENTS)
        TAC_TRY(tac_scene_fail(reader, "loads", "has too many elements"));
    if (count == 0)
        goto done;
    err = tac_alloc(reader->ctx, count, sizeof *scene->settings->load, &scene->settings->load);
    if (err == TAC_OK)
        err = tac_alloc(reader->ctx, (size_t)scene->mesh->vertex_count, sizeof *scene->mesh->vertex_load,
                        &scene->mesh->vertex_load);
    TAC_TRY(tac_reader_agree(reader, err));
    memset(scene->mesh->vertex_load, 0xff, (size_t)scene->mesh->vertex_count * sizeof *scene->mesh->vertex_load);
    for (size_t i = 0; i < count; i++) {
        scene->settings->load_count++;
        TAC_TRY(read_load(reader, json_array_get(loads, i), i, &scene->settings->load[i], &set_capacity));
    }
done:
    return err;
}

enum tac_err tac_scene_reread_loads(struct tac_reader *reader, json_t *root)
{
    struct tac_scene *scene = reader->scene;
    json_t *loads = json_object_get(root, "loads");
    enum tac_err err = TAC_OK;
    for (tac_lid i = 0; i < scene->settings->load_count; i++) {
        char where[TAC_WHERE];
        struct tac_load *load = &scene->settings->load[i];
        json_t *object = json_array_get(loads, (size_t)i);
        tac_where_index(where, "loads", (size_t)i);
        TAC_TRY(tac_fields_read(reader, object, where, load_fields, COUNT(load_fields), load));
        TAC_TRY(read_load_course(reader, object, where, load));
    }
done:
    return err;
}

/* ---- the elements on which they act ---- */

struct block_sets {
    tac_lid first;
    const tac_lid *set;
};

static void tell_set(const void *known, tac_gid number, void *record)
{
    const struct block_sets *block = known;
    memcpy(record, &block->set[number - block->first], sizeof *block->set);
}

/* The sets of the vertices of a body's elements: *set (owned by the caller), (rows x width). */
static enum tac_err sets_of_elements(struct tac_reader *reader, tac_lid index, enum tac_table table, tac_lid **set)
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_body *body = &scene->settings->body[index];
    const struct tac_rows rows = reader->rows[index][table], here = reader->rows[index][TAC_VERTICES];
    const size_t width = table == TAC_TRIANGLES ? 3 : 2, n = width * (size_t)(rows.end - rows.begin);
    const tac_lid *element =
        (table == TAC_TRIANGLES ? scene->mesh->triangle : scene->mesh->segment) + width * (size_t)rows.begin;
    const struct block_sets block = {here.number, scene->mesh->vertex_load + here.begin};
    tac_gid *number = NULL;
    int32_t *to = NULL;
    enum tac_err err = tac_alloc(reader->ctx, n, sizeof **set, set);
    if (!reader->spread) {
        for (size_t i = 0; i < n && err == TAC_OK; i++)
            (*set)[i] = scene->mesh->vertex_load[element[i]];
        return err;
    }
    if (err == TAC_OK)
        err = tac_alloc(reader->ctx, n, sizeof *number, &number);
    if (err == TAC_OK)
        err = tac_alloc(reader->ctx, n, sizeof *to, &to);
    for (size_t i = 0; i < n && err == TAC_OK; i++) {
        number[i] = element[i] - body->vertex_begin;
        to[i] = tac_spread_rank(reader->ctx, index, body->vertex_end - body->vertex_begin, (tac_lid)number[i]);
    }
    err = tac_ask(reader->ctx, err, n, to, number, tell_set, &block, sizeof **set, *set);
    free(number);
    free(to);
    return tac_reader_agreed(reader, err);
}

/* Marks the loads that have an element of a body. */
static enum tac_err mark_loads(struct tac_reader *reader, tac_lid body, enum tac_table table, uint8_t *mark)
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_rows rows = reader->rows[body][table];
    const size_t width = table == TAC_TRIANGLES ? 3 : 2;
    tac_lid *set = NULL, load;
    enum tac_err err = TAC_OK;
    TAC_TRY(sets_of_elements(reader, body, table, &set));
    for (size_t i = 0; i < (size_t)(rows.end - rows.begin); i++) {
        tac_lid at[3] = {set[width * i], set[width * i + 1], width == 3 ? set[width * i + 2] : -1};
        while ((load = tac_load_next(scene, at, (int)width)) >= 0)
            mark[load] = 1;
    }
done:
    free(set);
    return err;
}

enum tac_err tac_scene_check_loads(struct tac_reader *reader)
{
    const struct tac_scene *scene = reader->scene;
    const enum tac_table table = scene->settings->two_d ? TAC_SEGMENTS : TAC_TRIANGLES;
    uint8_t *mark = NULL, *seen = NULL;
    enum tac_err err = tac_alloc(reader->ctx, (size_t)scene->settings->load_count, 1, &mark);
    if (err == TAC_OK)
        err = tac_alloc(reader->ctx, (size_t)scene->settings->body_count, 1, &seen);
    TAC_TRY(tac_reader_agree(reader, err));
    for (tac_lid i = 0; i < scene->settings->load_count; i++)
        if (!tac_load_of_vertices(&scene->settings->load[i]) && !seen[scene->settings->load[i].body]++)
            TAC_TRY(mark_loads(reader, scene->settings->load[i].body, table, mark));
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, mark, scene->settings->load_count, MPI_UINT8_T, MPI_MAX, reader->ctx->comm);
    for (tac_lid i = 0; i < scene->settings->load_count; i++) {
        char where[TAC_WHERE];
        tac_where_index(where, "loads", (size_t)i);
        if (!tac_load_of_vertices(&scene->settings->load[i]) && !mark[i])
            TAC_TRY(tac_scene_fail(reader, where, "selects no whole %s of \"%.60s\"; %s acts on %s",
                                   scene->settings->two_d ? "segment" : "triangle",
                                   scene->settings->body[scene->settings->load[i].body].name,
                                   scene->settings->load[i].kind == TAC_LOAD_WIND ? "a wind" : "a pressure",
                                   scene->settings->two_d ? "segments in a 2D scene" : "triangles"));
    }
done:
    free(mark);
    free(seen);
    return err;
}
