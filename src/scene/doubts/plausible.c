/* plausible.c: warns about numbers and meshes that are valid but implausible: a wrong unit, a mesh that falls apart,
 * triangles with the wrong orientation. There is one sentence for each; nothing is refused. */
#include "base/exchange.h"
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/accum.h>
#include <tactus/math.h>

/* No material that one can touch is beyond these limits. */
#define SOFTEST 100.        /* Pa: a pudding has some 1000 */
#define LIGHTEST 5.         /* kg/m^3: the lightest foams have 10 */
#define HEAVIEST 25000.     /* kg/m^3: osmium has 22,600 */
#define HEAVIEST_SHEET 200. /* kg/m^2: steel of 25 mm */
#define HEAVIEST_CLOTH 30.  /* likewise, of a scene that says its units: steel of 4 mm */
#define FASTEST 2e4         /* m/s, of sound: diamond has 18,000 */
/* Times the mean edge: a thicker layer acts at distances larger than the features of the mesh. */
#define THICKEST .5
/* The energy of stretching in folds of an eighth of the sheet, over the energy that weight gains: with a larger ratio
 * the sheet stands. */
#define LOCKED 3.
/* Vertices of a rank, and ranks: with fewer vertices on more ranks, ranks wait more than they work. */
enum { FEWEST = 200, MANY = 4 };

/* ---- materials ---- */

/* Writes a number of the scene for a sentence; its unit is `si` in SI. If the scene has other units, it is written in
 * SI, too. */
struct amount {
    char text[256];
};
static struct amount amount(const struct tac_reader *reader, double value, double si, const char *unit)
{
    struct amount t;
    if (si == 1)
        snprintf(t.text, sizeof t.text, "%s %s", tac_shown(value).text, unit);
    else
        snprintf(t.text, sizeof t.text, "%s in %s, %s and %s, which is %.4g %s", tac_shown(value).text,
                 reader->scene->settings->units.length, reader->scene->settings->units.mass,
                 reader->scene->settings->units.time, value * si, unit);
    return t;
}

/* Which elements some free body of the material has. */
struct use {
    bool triangles, segments, tetrahedra;
    const char *body; /* borrowed: the first of them */
};

static struct use use_of(const struct tac_scene *s, tac_lid material)
{
    struct use use = {false, false, false, NULL};
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        const struct tac_body *body = &s->settings->body[b];
        if (body->material != material || body->fixed)
            continue;
        const bool solid = body->tetrahedron_end > body->tetrahedron_begin;
        use.tetrahedra |= solid;
        use.triangles |= !solid && body->triangle_end > body->triangle_begin;
        use.segments |= body->segment_end > body->segment_begin;
        use.body = use.body ? use.body : body->name;
    }
    return use;
}

static void doubt_density(struct tac_reader *reader, const struct tac_material *m, const struct use *use,
                          const char *where)
{
    const struct tac_units *u = &reader->scene->settings->units;
    const double sheet = u->mass_kg / (u->length_m * u->length_m), solid = sheet / u->length_m;
    char place[TAC_WHERE];
    tac_where(place, where, "density");
    if (m->density <= 0)
        return;
    if (use->tetrahedra && (m->density * solid < LIGHTEST || m->density * solid > HEAVIEST))
        tac_scene_warn(
            reader, place, "is %s: no solid is that %s (water has 1000, rubber 1100); is the unit another one?",
            amount(reader, m->density, solid, "kg/m^3").text, m->density * solid < LIGHTEST ? "light" : "heavy");
    if (use->triangles && m->density * sheet > (u->given ? HEAVIEST_CLOTH : HEAVIEST_SHEET))
        tac_scene_warn(reader, place,
                       "is %s, but of triangles it is in %s/%s^2 (cotton has 0.15 kg/m^2, steel of 1 mm 8); give the "
                       "mass of a square %s",
                       u->given ? amount(reader, m->density, sheet, "kg/m^2").text : tac_shown(m->density).text,
                       u->mass, u->length, u->given ? u->length : "metre");
}

static void doubt_stiffness(struct tac_reader *reader, const struct tac_material *m, const struct use *use,
                            const char *where)
{
    const bool solid = use->tetrahedra && m->solid_model != TAC_SOLID_NONE;
    const bool stretch = (use->triangles && m->stretch_model == TAC_STRETCH_CST) ||
                         (use->segments && m->stretch_model == TAC_STRETCH_SPRING);
    const double stiffness = solid ? m->solid_youngs : m->stretch_stiffness;
    const struct tac_units *u = &reader->scene->settings->units;
    const double pascal = u->mass_kg / (u->length_m * u->time_s * u->time_s);
    const double speed = m->density > 0 ? sqrt(stiffness / m->density) * (u->length_m / u->time_s) : 0;
    char place[TAC_WHERE];
    tac_where(place, where, solid ? "solid.youngs" : "stretch.stiffness");
    if (solid && stiffness * pascal < SOFTEST)
        tac_scene_warn(reader, place,
                       "is %s: nothing that keeps its shape is that soft (jelly has some 1e4, rubber 1e6 to 1e7); "
                       "1 MPa is 1e6",
                       amount(reader, stiffness, pascal, "Pa").text);
    if ((solid || stretch) && speed > FASTEST)
        tac_scene_warn(
            reader, place,
            "is %s%s with a density of %s: sound would run at %.2g m/s, and in diamond it runs at 1.8e4; are "
            "both units right (%s)?",
            tac_shown(stiffness).text,
            u->given && pascal != 1                  ? ""
            : solid                                  ? " Pa"
            : m->stretch_model == TAC_STRETCH_SPRING ? " N"
                                                     : " N/m",
            tac_shown(m->density).text, speed,
            u->given && pascal != 1                  ? "those of the key units"
            : solid                                  ? "Pa and kg/m^3"
            : m->stretch_model == TAC_STRETCH_SPRING ? "N and kg/m"
                                                     : "N/m, about 1e4 of cotton, and kg/m^2");
}

static void doubt_materials(struct tac_reader *reader)
{
    const struct tac_scene *s = reader->scene;
    for (tac_lid k = 0; k < s->settings->material_count; k++) {
        const struct tac_material *m = &s->settings->material[k];
        const struct use use = use_of(s, k);
        char where[TAC_WHERE];
        tac_where(where, "materials", m->name);
        if (use.body == NULL)
            continue;
        doubt_density(reader, m, &use, where);
        doubt_stiffness(reader, m, &use, where);
    }
}

/* ---- meshes ---- */

/* Sums over the triangles of a body; exact, so that they are the same on any number of ranks. */
enum { EDGES, AREA, NORMAL, VOLUME = 5, SUMS };
struct shape {
    double edge, area, normal[3], volume; /* mean edge; sums */
    double low[3], high[3];
    size_t triangles;
};

/* The corners of this rank's triangles of a body, (count, 3, 3); *count of them. */
static enum tac_err corners(struct tac_reader *reader, tac_lid b, double **out, size_t *count)
{
    const struct tac_scene *s = reader->scene;
    const struct tac_body *body = &s->settings->body[b];
    const struct tac_rows *rows = &reader->rows[b][TAC_TRIANGLES], *vertices = &reader->rows[b][TAC_VERTICES];
    const tac_lid *triangle = s->mesh->triangle + 3 * (size_t)rows->begin;
    enum tac_err err = TAC_OK;
    tac_gid *number = NULL;
    *count = (size_t)(rows->end - rows->begin);
    err = tac_alloc(reader->ctx, 9 * *count, sizeof **out, out);
    if (!err)
        err = tac_alloc(reader->ctx, 3 * *count, sizeof *number, &number);
    for (size_t k = 0; k < 3 * *count && !err; k++)
        number[k] = triangle[k] - body->vertex_begin;
    const double *x = s->mesh->x + 3 * (size_t)vertices->begin;
    if (reader->spread)
        err = tac_spread_ask(reader->ctx, err, b, body->vertex_end - body->vertex_begin, 3 * *count, number,
                             vertices->number, x, *out);
    for (size_t k = 0; k < 3 * *count && !err && !reader->spread; k++)
        memcpy(*out + 3 * k, x + 3 * (size_t)number[k], 3 * sizeof *x);
    free(number);
    return tac_reader_agree(reader, err);
}

static void add_triangle(const double *x, struct tac_accum sum[SUMS])
{
    double edge[3][3], normal[3], cross[3];
    for (int k = 0; k < 3; k++) {
        tac_sub(edge[k], x + 3 * ((k + 1) % 3), x + 3 * k);
        tac_accum_add(&sum[EDGES], sqrt(tac_dot(edge[k], edge[k])));
    }
    tac_cross(normal, edge[0], edge[1]);
    tac_accum_add(&sum[AREA], .5 * sqrt(tac_dot(normal, normal)));
    for (int k = 0; k < 3; k++)
        tac_accum_add(&sum[NORMAL + k], .5 * normal[k]);
    tac_cross(cross, x + 3, x + 6);
    tac_accum_add(&sum[VOLUME], tac_dot(x, cross) / 6);
}

static enum tac_err measure_shape(struct tac_reader *reader, tac_lid b, struct shape *shape)
{
    const struct tac_rows *rows = &reader->rows[b][TAC_VERTICES];
    const struct tac_body *body = &reader->scene->settings->body[b];
    enum tac_err err = TAC_OK;
    double *x = NULL;
    struct tac_accum *sum = NULL;
    size_t count = 0;
    TAC_TRY(corners(reader, b, &x, &count));
    TAC_TRY(tac_reader_agree(reader, tac_alloc(reader->ctx, SUMS, sizeof *sum, &sum)));
    for (size_t t = 0; t < count; t++)
        add_triangle(x + 9 * t, sum);
    for (int c = 0; c < 3; c++) {
        shape->low[c] = INFINITY;
        shape->high[c] = -INFINITY;
    }
    for (tac_lid i = rows->begin; i < rows->end; i++)
        for (int c = 0; c < 3; c++) {
            shape->low[c] = fmin(shape->low[c], reader->scene->mesh->x[3 * (size_t)i + (size_t)c]);
            shape->high[c] = fmax(shape->high[c], reader->scene->mesh->x[3 * (size_t)i + (size_t)c]);
        }
    if (reader->spread) {
        TAC_TRY(tac_reader_agreed(reader, tac_sum_all(reader->ctx, sum, SUMS)));
        MPI_Allreduce(MPI_IN_PLACE, shape->low, 3, MPI_DOUBLE, MPI_MIN, reader->ctx->comm);
        MPI_Allreduce(MPI_IN_PLACE, shape->high, 3, MPI_DOUBLE, MPI_MAX, reader->ctx->comm);
    }
    shape->triangles = (size_t)(body->triangle_end - body->triangle_begin);
    shape->edge = tac_accum_value(&sum[EDGES]) / (3 * (double)shape->triangles);
    shape->area = tac_accum_value(&sum[AREA]);
    for (int c = 0; c < 3; c++)
        shape->normal[c] = tac_accum_value(&sum[NORMAL + c]);
    shape->volume = tac_accum_value(&sum[VOLUME]);
done:
    free(x);
    free(sum);
    return err;
}

static void doubt_thickness(struct tac_reader *reader, const struct tac_body *body, const struct shape *shape)
{
    const double thickness = reader->scene->settings->contact.thickness;
    const char *unit = reader->scene->settings->units.length;
    if (!reader->sets_rest_fraction && thickness > THICKEST * shape->edge)
        tac_scene_warn(
            reader, "contact.thickness",
            "is %s %s, over half of the edges of \"%.60s\", which have %.2g %s: contact reaches further than "
            "the mesh shows; make it smaller, or the mesh coarser, or give contact.rest_fraction to say that it "
            "is meant",
            tac_shown(thickness).text, unit, body->name, shape->edge, unit);
}

/* A surface without a rim has no normal in the sum. */
static bool is_closed(const struct shape *shape)
{
    return sqrt(tac_dot(shape->normal, shape->normal)) < 1e-9 * shape->area;
}

static void doubt_pressure(struct tac_reader *reader, tac_lid b, const struct shape *shape)
{
    const struct tac_settings *s = reader->scene->settings;
    for (tac_lid k = 0; k < s->load_count; k++) {
        const struct tac_load *l = &s->load[k];
        char where[TAC_WHERE], place[TAC_WHERE];
        if (l->kind != TAC_LOAD_PRESSURE || l->body != b || l->pressure <= 0 || !is_closed(shape) || shape->volume >= 0)
            continue;
        tac_where_index(where, "loads", (size_t)k);
        tac_where(place, where, "pressure");
        tac_scene_warn(
            reader, place,
            "presses \"%.60s\" together: its triangles face inward, and the pressure is along their normals; "
            "turn the triangles round, or give -%s Pa if that is meant",
            s->body[b].name, tac_shown(l->pressure).text);
    }
}

/* Triangles of constant strain bend along the lines of their mesh alone: any other fold stretches them by some
 * (h/r)^2/16, with the edge h and the radius r of the fold (docs/reference/materials.md). */
static void doubt_locking(struct tac_reader *reader, const struct tac_body *body, const struct shape *shape)
{
    const struct tac_settings *s = reader->scene->settings;
    if (body->material < 0 || s->material[body->material].stretch_model != TAC_STRETCH_CST || body->mass > 0)
        return;
    const struct tac_material *m = &s->material[body->material];
    const double g = sqrt(tac_dot(s->gravity, s->gravity)), size = sqrt(shape->area);
    const bool flat = sqrt(tac_dot(shape->normal, shape->normal)) > .9 * shape->area;
    const double pull = m->density * g, weight = pull * size;
    /* Folds are no tighter than some bending lengths, nor than the mesh can show. */
    const double bends = m->bend && pull > 0 ? m->bend_stiffness / pull : 0;
    double radius = fmax(size / 8, 1.5 * shape->edge);
    while (bends > 0 && radius * radius * radius < 27 * bends)
        radius *= 1.1;
    const double strain = shape->edge / radius * (shape->edge / radius) / 16;
    if (!flat || weight <= 0 || .5 * m->stretch_stiffness * strain * strain < LOCKED * weight)
        return;
    char where[TAC_WHERE];
    tac_where(where, "materials", m->name);
    tac_scene_warn(reader, where,
                   "is too stiff for the triangles of \"%.60s\" to fold: %s N/m on edges of %.2g m will stand like a "
                   "lampshade; take edges of %.1g m, or a softer stretch (docs/how-to/choose-fabric.md)",
                   body->name, tac_shown(m->stretch_stiffness).text, shape->edge,
                   shape->edge * sqrt(sqrt(LOCKED * weight / (.5 * m->stretch_stiffness * strain * strain))));
}

/* ---- neighbours ---- */

/* Records that begin with an id of their own come together: on several ranks by the id. */
static enum tac_err gather_by_id(struct tac_reader *reader, enum tac_err err, size_t count, void *record, size_t size,
                                 void *came, size_t *total)
{
    int32_t *to = NULL;
    char **out = came;
    if (!reader->spread) {
        *out = err ? NULL : record;
        *total = count;
        return err;
    }
    if (!err)
        err = tac_alloc(reader->ctx, count, sizeof *to, &to);
    for (size_t k = 0; k < count && !err; k++) {
        tac_gid id;
        memcpy(&id, (char *)record + size * k, sizeof id);
        to[k] = (int32_t)(id % reader->ctx->size);
    }
    err = tac_distribute(reader->ctx, err, count, to, record, size, came, total);
    free(to);
    return err;
}

/* An edge of a triangle, and whether it goes from the lower vertex to the higher. */
struct side {
    tac_gid edge; /* of both numbers */
    int64_t up;
};

/* Counts edges that two triangles have in the same direction: one of them has the opposite orientation. */
static enum tac_err count_flips(struct tac_reader *reader, tac_lid b, int64_t *flips)
{
    const struct tac_body *body = &reader->scene->settings->body[b];
    const struct tac_rows *rows = &reader->rows[b][TAC_TRIANGLES];
    const size_t count = 3 * (size_t)(rows->end - rows->begin);
    const tac_gid vertices = body->vertex_end - body->vertex_begin;
    struct side *side = NULL, *came = NULL;
    size_t total = 0;
    enum tac_err err = tac_alloc(reader->ctx, count, sizeof *side, &side);
    for (size_t k = 0; k < count && !err; k++) {
        const tac_lid *v = reader->scene->mesh->triangle + 3 * ((size_t)rows->begin + k / 3);
        const tac_gid one = v[k % 3] - body->vertex_begin, two = v[(k + 1) % 3] - body->vertex_begin;
        side[k] = one < two ? (struct side){one * vertices + two, 1} : (struct side){two * vertices + one, 0};
    }
    err = gather_by_id(reader, err, count, side, sizeof *side, &came, &total);
    if (!err)
        err = tac_sort_records(reader->ctx, total, sizeof *came, came);
    *flips = 0;
    for (size_t k = 0, next; k < total && !err; k = next) {
        for (next = k + 1; next < total && came[next].edge == came[k].edge;)
            next++;
        *flips += next == k + 2 && came[k].up == came[k + 1].up;
    }
    if (came != side)
        free(came);
    free(side);
    TAC_TRY(tac_reader_agree(reader, err));
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, flips, 1, MPI_INT64_T, MPI_SUM, reader->ctx->comm);
done:
    return err;
}

/* A vertex in a cell of a grid: its own, or one beside it that it is near to. */
struct near {
    tac_gid cell;
    int64_t own, number;
    double x[3];
};

static size_t put_near(const double *x, int64_t number, double cell, double most, struct near *out)
{
    size_t count = 0;
    for (int n = 0; n < 8; n++) {
        struct near record = {.own = 1, .number = number, .x = {x[0], x[1], x[2]}};
        uint64_t h = 0;
        bool there = true;
        for (int c = 0; c < 3; c++) {
            const double own = floor(x[c] / cell);
            double other = own;
            if (n >> c & 1) {
                const double low = floor((x[c] - most) / cell), high = floor((x[c] + most) / cell);
                other = low < own ? low : high;
                there = there && other != own;
                record.own = 0;
            }
            h = tac_hash64(h, (uint64_t)(int64_t)fmax(fmin(other, 4e18), -4e18));
        }
        record.cell = (tac_gid)(h >> 1);
        if (there)
            out[count++] = record;
    }
    return count;
}

/* Vertices of a mesh that have another one, of a lower number, nearer than `most`. Points of joints are none: several
 * may lie on each other. */
static enum tac_err count_near(struct tac_reader *reader, tac_lid b, double most, int64_t *found)
{
    const struct tac_rows *rows = &reader->rows[b][TAC_VERTICES];
    const struct tac_body *body = &reader->scene->settings->body[b];
    const size_t count = (size_t)(rows->end - rows->begin - body->anchors - body->pins);
    struct near *record = NULL, *came = NULL;
    size_t filled = 0, total = 0;
    enum tac_err err = tac_alloc(reader->ctx, 8 * count, sizeof *record, &record);
    for (size_t i = 0; i < count && !err; i++)
        filled += put_near(reader->scene->mesh->x + 3 * ((size_t)rows->begin + i), rows->number + (int64_t)i, 64 * most,
                           most, record + filled);
    err = gather_by_id(reader, err, filled, record, sizeof *record, &came, &total);
    if (!err)
        err = tac_sort_records(reader->ctx, total, sizeof *came, came);
    *found = 0;
    for (size_t k = 0, begin = 0; k < total && !err; k++) {
        begin = came[k].cell == came[begin].cell ? begin : k;
        bool near = false;
        for (size_t j = begin; j < total && came[j].cell == came[k].cell && came[k].own && !near; j++) {
            double apart[3];
            tac_sub(apart, came[k].x, came[j].x);
            near = came[j].number < came[k].number && sqrt(tac_dot(apart, apart)) < most;
        }
        *found += near;
    }
    if (came != record)
        free(came);
    free(record);
    TAC_TRY(tac_reader_agree(reader, err));
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, found, 1, MPI_INT64_T, MPI_SUM, reader->ctx->comm);
done:
    return err;
}

/* Of meshes that others have made. */
static enum tac_err doubt_foreign(struct tac_reader *reader, tac_lid b, const struct shape *shape)
{
    const struct tac_body *body = &reader->scene->settings->body[b];
    const json_t *mesh =
        json_object_get(json_array_get(json_object_get(reader->scene->settings->json, "bodies"), (size_t)b), "mesh");
    const char *kind = json_string_value(json_object_get(mesh, "kind"));
    char where[TAC_WHERE], place[TAC_WHERE];
    double extent = 0;
    int64_t flips = 0, near = 0;
    enum tac_err err = TAC_OK;
    if (kind == NULL || (strcmp(kind, "file") != 0 && strcmp(kind, "inline") != 0))
        return TAC_OK;
    for (int c = 0; c < 3; c++)
        extent = fmax(extent, shape->high[c] - shape->low[c]);
    /* Single precision, or less, of places that were the same. */
    const double most = fmin(1e-6 * extent, 1e-2 * shape->edge);
    tac_where_index(where, "bodies", (size_t)b);
    tac_where(place, where, "mesh");
    if (most > 0)
        TAC_TRY(count_near(reader, b, most, &near));
    if (near > 0)
        tac_scene_warn(reader, place,
                       "has %lld vertices of %d that lie within %.1g m of another one: its elements are not joined "
                       "there; join them by \"weld\": %.1g",
                       (long long)near, (int)(body->vertex_end - body->vertex_begin), most, most / body->scale);
    TAC_TRY(count_flips(reader, b, &flips));
    if (flips > 0)
        tac_scene_warn(
            reader, place,
            "has %lld edges at which one of the two triangles of \"%.60s\" has the opposite orientation: pressure and "
            "bending depend on the side; give all triangles the same orientation",
            (long long)flips, body->name);
done:
    return err;
}

static void doubt_ranks(struct tac_reader *reader, const uint8_t *is_free)
{
    const struct tac_settings *s = reader->scene->settings;
    tac_gid vertices = 0;
    for (tac_lid b = 0; b < s->body_count; b++)
        vertices += is_free[b] ? s->body[b].vertex_end - s->body[b].vertex_begin : 0;
    if (reader->ctx->size >= MANY && vertices < (tac_gid)FEWEST * reader->ctx->size)
        tac_scene_warn(reader, "",
                       "has %" TAC_PRIGID
                       " vertices that move, which are few for %d ranks: they will wait for each other "
                       "more than they work; one rank will be faster",
                       vertices, reader->ctx->size);
}

enum tac_err tac_scene_doubt_numbers(struct tac_reader *reader, const uint8_t *is_free)
{
    const struct tac_settings *s = reader->scene->settings;
    enum tac_err err = TAC_OK;
    doubt_materials(reader);
    TAC_TRY(tac_scene_doubt_units(reader));
    for (tac_lid b = 0; b < s->body_count; b++) {
        const struct tac_body *body = &s->body[b];
        struct shape shape = {0};
        if (!is_free[b] || body->triangle_end == body->triangle_begin)
            continue;
        TAC_TRY(measure_shape(reader, b, &shape));
        doubt_thickness(reader, body, &shape);
        doubt_pressure(reader, b, &shape);
        doubt_locking(reader, body, &shape);
        TAC_TRY(doubt_foreign(reader, b, &shape));
    }
    doubt_ranks(reader, is_free);
done:
    return err;
}
