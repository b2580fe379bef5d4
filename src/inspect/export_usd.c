/* export_usd.c: writes frames as one USD file in text (.usda), with a sample of time for each frame.
 *
 * Surfaces are meshes; segments are linear curves, and one segment with a radius is a capsule; particles are points
 * with widths, and one particle with a radius is a sphere. A surface that keeps its shape in all frames (a rigid, fixed
 * or moved body) is stored once, with a transform for each frame. Time code k is frame k of an even spacing, and
 * timeCodesPerSecond tells its length, so a movie runs in real time. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/export_room.h"
#include "inspect/export_shape.h"

struct usd {
    const struct tac_reader *r;
    int64_t count;     /* frames */
    float *x;          /* owned, (count, V, 3) */
    double *code;      /* owned, (count): time codes */
    double per_second; /* time codes in a second of real time */
    double metres;     /* a unit of length, m */
    char up;
};

/* A body's elements of one kind. */
struct part {
    const struct usd *u;
    tac_lid body, begin, end; /* its vertices */
    const tac_lid *element;   /* of the whole run */
    tac_lid element_count;
    int corners;
    tac_lid count; /* elements of this body */
};

static const float *place(const struct usd *u, int64_t k, tac_lid i)
{
    return &u->x[3 * ((size_t)k * (size_t)u->r->vertex_count + (size_t)i)];
}

static struct tac_shape shape_of(const struct part *p)
{
    return (struct tac_shape){p->u->x, p->u->r->vertex_count, p->begin, p->end, p->u->count};
}

/* ---- names ---- */

/* A name that USD takes, and that no other body has: letters, digits and underscores, and the body's number behind. */
static void put_name(FILE *f, const struct tac_reader *r, tac_lid body, const char *kind)
{
    const char *c = r->body_name[body];
    fprintf(f, "%s", (*c >= '0' && *c <= '9') || *c == '\0' ? "_" : "");
    for (; *c != '\0'; c++)
        fputc((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ? *c : '_', f);
    fprintf(f, "_%d%s", (int)body, kind);
}

static void put_text(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text != '\0'; text++)
        if (*text == '"' || *text == '\\')
            fprintf(f, "\\%c", *text);
        else
            fputc((unsigned char)*text < 32 ? ' ' : *text, f);
    fputc('"', f);
}

static void begin_prim(FILE *f, const struct part *p, const char *type, const char *kind)
{
    const double turn = fmod(.6180339887 * p->body + .58, 1) * 6; /* colours as in glTF */
    double rgb[3];
    for (int c = 0; c < 3; c++) {
        const double away = fabs(fmod(turn + 6 - 2 * c, 6) - 3);
        rgb[c] = .25 + .55 * fmin(fmax(away - 1, 0), 1);
    }
    fprintf(f, "\n    def %s \"", type);
    put_name(f, p->u->r, p->body, kind);
    fputs("\"\n    {\n        custom string tactus:name = ", f);
    put_text(f, p->u->r->body_name[p->body]);
    fprintf(f, "\n        color3f[] primvars:displayColor = [(%.3g, %.3g, %.3g)]\n", rgb[0], rgb[1], rgb[2]);
}

/* ---- samples ---- */

typedef void put_sample(FILE *f, const struct part *p, int64_t k);

/* A value for each frame, or one value if nothing of the body moves. */
static void put_samples(FILE *f, const struct part *p, const char *attribute, put_sample *put, bool still)
{
    fprintf(f, "        %s%s = ", attribute, still ? "" : ".timeSamples");
    if (!still)
        fputs("{", f);
    for (int64_t k = 0; k < (still ? 1 : p->u->count); k++) {
        if (!still)
            fprintf(f, "\n            %.7g: ", p->u->code[k]);
        put(f, p, k);
        if (!still)
            fputs(",", f);
    }
    fputs(still ? "\n" : "\n        }\n", f);
}

static void put_place(FILE *f, const float *x)
{
    fprintf(f, "(%.9g, %.9g, %.9g)", (double)x[0], (double)x[1], (double)x[2]);
}

static void put_vertices(FILE *f, const struct part *p, int64_t k)
{
    fputc('[', f);
    for (tac_lid i = p->begin; i < p->end; i++) {
        fputs(i > p->begin ? ", " : "", f);
        put_place(f, place(p->u, k, i));
    }
    fputc(']', f);
}

static bool of_body(const struct part *p, tac_lid e)
{
    const tac_lid first = p->element[(size_t)p->corners * (size_t)e];
    return first >= p->begin && first < p->end;
}

/* The corners of the elements one behind the other: each segment is a curve of its own. */
static void put_corners(FILE *f, const struct part *p, int64_t k)
{
    const char *between = "";
    fputc('[', f);
    for (tac_lid e = 0; e < p->element_count; e++)
        for (int c = 0; c < p->corners && of_body(p, e); c++) {
            fputs(between, f);
            put_place(f, place(p->u, k, p->element[(size_t)p->corners * (size_t)e + (size_t)c]));
            between = ", ";
        }
    fputc(']', f);
}

static void put_extent(FILE *f, const struct part *p, int64_t k)
{
    const float r = (float)p->u->r->radius[p->begin];
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (tac_lid i = p->begin; i < p->end; i++)
        for (int c = 0; c < 3; c++) {
            low[c] = fminf(low[c], place(p->u, k, i)[c] - r);
            high[c] = fmaxf(high[c], place(p->u, k, i)[c] + r);
        }
    fputc('[', f);
    put_place(f, low);
    fputs(", ", f);
    put_place(f, high);
    fputc(']', f);
}

/* A matrix of USD, by which rows are multiplied from the right. */
static void put_matrix(FILE *f, const double turn[3][3], const double shift[3])
{
    fputs("( ", f);
    for (int j = 0; j < 3; j++)
        fprintf(f, "(%.9g, %.9g, %.9g, 0), ", turn[0][j], turn[1][j], turn[2][j]);
    fprintf(f, "(%.9g, %.9g, %.9g, 1) )", shift[0], shift[1], shift[2]);
}

static void put_motion(FILE *f, const struct part *p, int64_t k)
{
    double turn[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, shift[3] = {0, 0, 0};
    const struct tac_shape shape = shape_of(p);
    if (k > 0)
        tac_shape_motion(&shape, k, turn, shift);
    put_matrix(f, (const double(*)[3])turn, shift);
}

/* ---- prims ---- */

static void end_prim(FILE *f)
{
    fputs("    }\n", f);
}

static void put_order(FILE *f, const char *operation)
{
    fprintf(f, "        uniform token[] xformOpOrder = [\"xformOp:%s\"]\n", operation);
}

static void put_mesh(FILE *f, const struct part *p)
{
    const struct tac_shape shape = shape_of(p);
    const bool still = tac_shape_is_still(&shape), rigid = !still && tac_shape_is_kept(&shape);
    begin_prim(f, p, "Mesh", "");
    fputs("        uniform token subdivisionScheme = \"none\"\n        uniform bool doubleSided = 1\n        int[] "
          "faceVertexCounts = [",
          f);
    for (tac_lid e = 0; e < p->count; e++)
        fputs(e > 0 ? ", 3" : "3", f);
    fputs("]\n        int[] faceVertexIndices = [", f);
    const char *between = "";
    for (tac_lid e = 0; e < p->element_count; e++)
        for (int c = 0; c < 3 && of_body(p, e); c++) {
            fprintf(f, "%s%d", between, (int)(p->element[3 * (size_t)e + (size_t)c] - p->begin));
            between = ", ";
        }
    fputs("]\n", f);
    put_samples(f, p, "point3f[] points", put_vertices, still || rigid);
    put_samples(f, p, "float3[] extent", put_extent, still || rigid);
    if (rigid) {
        put_samples(f, p, "matrix4d xformOp:transform", put_motion, false);
        put_order(f, "transform");
    }
    end_prim(f);
}

/* The one segment of a body, along its own y axis. */
static double along(const struct part *p, int64_t k, double turn[3][3], double shift[3])
{
    double d[3], x[3], z[3];
    const float *a = NULL, *b = NULL;
    for (tac_lid e = 0; e < p->element_count; e++)
        if (of_body(p, e)) {
            a = place(p->u, k, p->element[2 * (size_t)e]);
            b = place(p->u, k, p->element[2 * (size_t)e + 1]);
        }
    for (int c = 0; c < 3; c++) {
        d[c] = (double)b[c] - (double)a[c];
        shift[c] = .5 * ((double)a[c] + (double)b[c]);
    }
    const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    const int least = fabs(d[0]) <= fabs(d[1]) && fabs(d[0]) <= fabs(d[2]) ? 0 : fabs(d[1]) <= fabs(d[2]) ? 1 : 2;
    const double helper[3] = {least == 0, least == 1, least == 2};
    const double size = tac_shape_cross(d, helper, x);
    for (int c = 0; c < 3; c++) {
        x[c] = size > 0 ? x[c] / size : c == 0;
        d[c] = length > 0 ? d[c] / length : c == 1;
    }
    tac_shape_cross(x, d, z);
    for (int c = 0; c < 3; c++) {
        turn[c][0] = x[c];
        turn[c][1] = d[c];
        turn[c][2] = z[c];
    }
    return length;
}

static void put_along(FILE *f, const struct part *p, int64_t k)
{
    double turn[3][3], shift[3];
    along(p, k, turn, shift);
    put_matrix(f, (const double(*)[3])turn, shift);
}

static void put_length(FILE *f, const struct part *p, int64_t k)
{
    double turn[3][3], shift[3];
    fprintf(f, "%.9g", along(p, k, turn, shift));
}

static void put_lines(FILE *f, const struct part *p, bool alone)
{
    const double r = p->u->r->radius[p->begin];
    const struct tac_shape shape = shape_of(p);
    const bool still = tac_shape_is_still(&shape);
    if (p->count == 1 && r > 0 && alone) {
        begin_prim(f, p, "Capsule", "");
        fprintf(f, "        uniform token axis = \"Y\"\n        double radius = %.9g\n", r);
        put_samples(f, p, "double height", put_length, still);
        put_samples(f, p, "matrix4d xformOp:transform", put_along, still);
        put_order(f, "transform");
        end_prim(f);
        return;
    }
    begin_prim(f, p, "BasisCurves", alone ? "" : "_lines");
    fputs("        uniform token type = \"linear\"\n        int[] curveVertexCounts = [", f);
    for (tac_lid e = 0; e < p->count; e++)
        fputs(e > 0 ? ", 2" : "2", f);
    fputs("]\n", f);
    if (r > 0)
        fprintf(f, "        float[] widths = [%.9g] (\n            interpolation = \"constant\"\n        )\n", 2 * r);
    put_samples(f, p, "point3f[] points", put_corners, still);
    put_samples(f, p, "float3[] extent", put_extent, still);
    end_prim(f);
}

static void put_centre(FILE *f, const struct part *p, int64_t k)
{
    put_place(f, place(p->u, k, p->begin));
}

static void put_particles(FILE *f, const struct part *p)
{
    const double r = p->u->r->radius[p->begin];
    const struct tac_shape shape = shape_of(p);
    const bool still = tac_shape_is_still(&shape);
    if (p->end - p->begin == 1 && r > 0) {
        begin_prim(f, p, "Sphere", "");
        fprintf(f, "        double radius = %.9g\n", r);
        put_samples(f, p, "double3 xformOp:translate", put_centre, still);
        put_order(f, "translate");
        end_prim(f);
        return;
    }
    begin_prim(f, p, "Points", "");
    if (r > 0)
        fprintf(f, "        float[] widths = [%.9g] (\n            interpolation = \"constant\"\n        )\n", 2 * r);
    put_samples(f, p, "point3f[] points", put_vertices, still);
    put_samples(f, p, "float3[] extent", put_extent, still);
    end_prim(f);
}

static struct part part_of(const struct usd *u, tac_lid body, tac_lid begin, tac_lid end, const tac_lid *element,
                           tac_lid count, int corners)
{
    struct part p = {u, body, begin, end, element, count, corners, 0};
    tac_lid last = begin;
    for (tac_lid e = 0; e < count; e++) {
        if (!of_body(&p, e))
            continue;
        p.count++;
        for (int c = 0; c < corners; c++)
            if (element[(size_t)corners * (size_t)e + (size_t)c] >= last)
                last = element[(size_t)corners * (size_t)e + (size_t)c] + 1;
    }
    p.end = p.count > 0 ? last : end; /* behind the mesh are points of joints, which need not move with it */
    return p;
}

static void usd_content(FILE *f, const void *data)
{
    const struct usd *u = data;
    const struct tac_reader *r = u->r;
    fputs("#usda 1.0\n(\n    defaultPrim = \"run\"\n    doc = ", f);
    put_text(f, r->name);
    fprintf(f,
            "\n    metersPerUnit = %.9g\n    upAxis = \"%c\"\n    startTimeCode = %.7g\n    endTimeCode = %.7g\n    "
            "timeCodesPerSecond = %.7g\n)\n\ndef Xform \"run\"\n{\n",
            u->metres, u->up, u->code[0], u->code[u->count - 1], u->per_second);
    for (tac_lid begin = 0, end; begin < r->vertex_count; begin = end) {
        const tac_lid body = r->body[begin];
        for (end = begin; end < r->vertex_count && r->body[end] == body; end++)
            ;
        const struct part mesh = part_of(u, body, begin, end, r->triangle, r->triangle_count, 3),
                          lines = part_of(u, body, begin, end, r->segment, r->segment_count, 2),
                          points = part_of(u, body, begin, end, r->point, r->point_count, 1);
        if (mesh.count > 0)
            put_mesh(f, &mesh);
        if (lines.count > 0)
            put_lines(f, &lines, mesh.count == 0);
        if (points.count > 0)
            put_particles(f, &points);
    }
    fputs("}\n", f);
}

/* ---- the whole ---- */

/* What the run's scene tells: its units, and which way is up. Without it: SI, y. */
static void read_scene(struct usd *u, double *second)
{
    char path[4200];
    json_error_t error;
    u->metres = *second = 1;
    u->up = 'Y';
    if (u->r->folder == NULL || snprintf(path, sizeof path, "%s/scene.json", u->r->folder) >= (int)sizeof path)
        return;
    json_t *scene = json_load_file(path, 0, &error);
    const json_t *gravity = json_object_get(scene, "gravity");
    double g[3];
    for (size_t c = 0; c < 3; c++)
        g[c] = fabs(json_number_value(json_array_get(gravity, c)));
    u->up = g[2] > g[1] && g[2] >= g[0] ? 'Z' : 'Y';
    static const struct {
        const char *name;
        double si;
    } units[] = {{"km", 1e3},   {"dm", .1},   {"cm", .01},  {"mm", 1e-3}, {"um", 1e-6}, {"nm", 1e-9}, {"in", .0254},
                 {"ft", .3048}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"min", 60},  {"h", 3600}};
    const char *length = json_string_value(json_object_get(json_object_get(scene, "units"), "length"));
    const char *time = json_string_value(json_object_get(json_object_get(scene, "units"), "time"));
    for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
        if (length != NULL && strcmp(length, units[k].name) == 0)
            u->metres = units[k].si;
        if (time != NULL && strcmp(time, units[k].name) == 0)
            *second = units[k].si;
    }
    json_decref(scene);
}

/* Reads the chosen frames. The unit of time codes is the time between the first two. */
static enum tac_err read_frames(struct tac_ctx *ctx, struct usd *u, const bool *chosen, double second)
{
    const size_t n = 3 * (size_t)u->r->vertex_count;
    enum tac_err err;
    double *x = NULL, step = 0;
    int64_t at = 0;
    TAC_TRY(tac_alloc(ctx, n, sizeof *x, &x));
    TAC_TRY(tac_alloc(ctx, n * (size_t)u->count, sizeof *u->x, &u->x));
    TAC_TRY(tac_alloc(ctx, (size_t)u->count, sizeof *u->code, &u->code));
    for (int64_t k = 0; k < u->r->frame_count; k++) {
        if (!chosen[k])
            continue;
        TAC_TRY(tac_reader_frame(ctx, u->r, k, x, NULL, NULL));
        for (size_t i = 0; i < n; i++)
            u->x[n * (size_t)at + i] = (float)x[i];
        u->code[at++] = u->r->frame[k].time_s;
    }
    step = u->count > 1 ? u->code[1] - u->code[0] : 1;
    for (int64_t k = 0; k < u->count; k++)
        u->code[k] /= step;
    u->per_second = 1 / (step * second);
done:
    free(x);
    return err;
}

enum tac_err tac_export_usd(struct tac_ctx *ctx, const struct tac_reader *r, const bool *chosen, const char *path)
{
    struct usd u = {.r = r};
    enum tac_err err = TAC_OK;
    double second;
    for (int64_t k = 0; k < r->frame_count; k++)
        u.count += chosen[k];
    if (12. * (double)r->vertex_count * (double)u.count > 4e9)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                         "%" PRId64 " frames of %" TAC_PRILID
                         " vertices are more than a file of text should hold; choose fewer with --frames",
                         u.count, r->vertex_count));
    read_scene(&u, &second);
    TAC_TRY(read_frames(ctx, &u, chosen, second));
    err = tac_export_file(ctx, path, usd_content, &u);
done:
    free(u.x);
    free(u.code);
    return err;
}
