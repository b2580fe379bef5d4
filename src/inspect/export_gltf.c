/* export_gltf.c: writes frames as one animated glTF 2.0 file (.glb). A surface that keeps its shape in all frames (a
 * rigid, fixed or moved body) is a node of its own with a translation and a rotation for each frame. Of all that
 * deforms the first frame is one mesh, each other frame is a morph target of it, and the animation goes from one to
 * the next. Positions are in single precision, as glTF needs; each body has its own colour. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/export_room.h"
#include "inspect/export_shape.h"

struct glb {
    struct tac_ctx *ctx;
    const struct tac_reader *r;
    unsigned char *bytes; /* owned: the binary chunk */
    size_t length, capacity;
    json_t *views, *accessors; /* owned */
    char *json;                /* owned: the text of the JSON chunk */
};

enum { FLOAT = 5126, UINT = 5125, ARRAY_BUFFER = 34962, ELEMENT_ARRAY_BUFFER = 34963 };

/* Adds an accessor over `count` rows, and its bytes; *index: its number. */
static enum tac_err add_accessor(struct glb *g, int component, const char *type, size_t count, size_t bytes,
                                 const void *data, int target, int *index)
{
    enum tac_err err;
    TAC_TRY(tac_grow(g->ctx, &g->bytes, &g->capacity, g->length + bytes, 1));
    memcpy(g->bytes + g->length, data, bytes);
    json_t *view =
        json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)g->length, "byteLength", (json_int_t)bytes);
    if (target != 0)
        json_object_set_new(view, "target", json_integer(target));
    *index = (int)json_array_size(g->accessors);
    json_array_append_new(g->views, view);
    if (json_array_append_new(g->accessors, json_pack("{s:i, s:i, s:I, s:s}", "bufferView", *index, "componentType",
                                                      component, "count", (json_int_t)count, "type", type)) != 0)
        TAC_TRY(tac_fail(g->ctx, TAC_ERR_RUN, "out of memory while writing glTF"));
    g->length += bytes;
done:
    return err;
}

static json_t *find_corner(const float *x, size_t n, bool most)
{
    float value[3] = {0, 0, 0};
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            if (i == 0 || (most ? x[3 * i + (size_t)c] > value[c] : x[3 * i + (size_t)c] < value[c]))
                value[c] = x[3 * i + (size_t)c];
    return json_pack("[f, f, f]", (double)value[0], (double)value[1], (double)value[2]);
}

/* Adds positions, or differences from those of the first frame, with their bounds, which glTF needs. */
static enum tac_err add_places(struct glb *g, const float *x, size_t n, int *index)
{
    enum tac_err err = add_accessor(g, FLOAT, "VEC3", n, 12 * n, x, ARRAY_BUFFER, index);
    if (!err) {
        json_t *a = json_array_get(g->accessors, (size_t)*index);
        json_object_set_new(a, "min", find_corner(x, n, false));
        json_object_set_new(a, "max", find_corner(x, n, true));
    }
    return err;
}

/* Adds the elements of one body as a primitive. mode: 4 triangles, 1 lines, 0 points; number (V): of each vertex among
 * those of the accessor `position`. */
static enum tac_err add_primitive(struct glb *g, tac_lid body, const tac_lid *vertex, tac_lid count, int corners,
                                  int mode, const uint32_t *number, int position, const json_t *targets,
                                  json_t *primitives)
{
    enum tac_err err = TAC_OK;
    uint32_t *index = NULL;
    size_t n = 0;
    int accessor = 0;
    TAC_TRY(tac_alloc(g->ctx, (size_t)count * (size_t)corners, sizeof *index, &index));
    for (tac_lid i = 0; i < count; i++) {
        const tac_lid *v = &vertex[(size_t)corners * (size_t)i];
        for (int k = 0; k < corners && g->r->body[v[0]] == body; k++)
            index[n++] = number[v[k]];
    }
    if (n == 0)
        goto done;
    TAC_TRY(add_accessor(g, UINT, "SCALAR", n, 4 * n, index, ELEMENT_ARRAY_BUFFER, &accessor));
    json_t *p = json_pack("{s:{s:i}, s:i, s:i, s:i}", "attributes", "POSITION", position, "indices", accessor, "mode",
                          mode, "material", (int)body);
    if (json_array_size(targets) > 0)
        json_object_set_new(p, "targets", json_deep_copy(targets));
    json_array_append_new(primitives, p);
done:
    free(index);
    return err;
}

/* Colours around the circle, far from each other for neighbours. */
static json_t *make_material(const struct tac_reader *r, tac_lid body)
{
    const double turn = fmod(.6180339887 * body + .58, 1) * 6;
    double rgb[3];
    for (int c = 0; c < 3; c++) {
        const double away = fabs(fmod(turn + 6 - 2 * c, 6) - 3);
        rgb[c] = .25 + .55 * fmin(fmax(away - 1, 0), 1);
    }
    return json_pack("{s:s, s:b, s:{s:[f, f, f, i], s:i, s:f}}", "name", r->body_name[body], "doubleSided", true,
                     "pbrMetallicRoughness", "baseColorFactor", rgb[0], rgb[1], rgb[2], 1, "metallicFactor", 0,
                     "roughnessFactor", .8);
}

/* The chosen frames. */
struct frames {
    const bool *chosen;
    int64_t count, first;
    float *time;      /* owned, (count), s since the first */
    float *x;         /* owned, (count, V, 3) */
    uint32_t *number; /* owned, (V): of a vertex among those of its mesh */
    bool *kept;       /* owned, (bodies): it keeps its shape, and is a node of its own */
    size_t soft;      /* vertices of the bodies that do not */
};

/* What a file has, as it grows. */
struct parts {
    json_t *nodes, *meshes, *samplers, *channels; /* owned */
    int input;                                    /* the accessor of the times */
};

static enum tac_err read_frames(struct glb *g, struct frames *frames)
{
    enum tac_err err;
    const size_t n = (size_t)g->r->vertex_count;
    double *x = NULL;
    int64_t at = 0;
    TAC_TRY(tac_alloc(g->ctx, 3 * n, sizeof *x, &x));
    TAC_TRY(tac_alloc(g->ctx, (size_t)frames->count, sizeof *frames->time, &frames->time));
    TAC_TRY(tac_alloc(g->ctx, 3 * n * (size_t)frames->count, sizeof *frames->x, &frames->x));
    for (int64_t k = 0; k < g->r->frame_count; k++) {
        if (!frames->chosen[k])
            continue;
        TAC_TRY(tac_reader_frame(g->ctx, g->r, k, x, NULL, NULL));
        frames->time[at] = (float)(g->r->frame[k].time_s - g->r->frame[frames->first].time_s);
        for (size_t i = 0; i < 3 * n; i++)
            frames->x[3 * n * (size_t)at + i] = (float)x[i];
        at++;
    }
done:
    free(x);
    return err;
}

/* The vertices of a body's triangles, which follow each other; behind them are points of joints, which need not move
 * with the body. */
static struct tac_shape shape_of(const struct glb *g, const struct frames *frames, tac_lid body)
{
    struct tac_shape s = {frames->x, g->r->vertex_count, 0, 0, frames->count};
    while (s.begin < s.vertices && g->r->body[s.begin] != body)
        s.begin++;
    s.end = s.begin;
    for (size_t i = 0; i < 3 * (size_t)g->r->triangle_count; i++)
        if (g->r->body[g->r->triangle[i]] == body && g->r->triangle[i] >= s.end)
            s.end = g->r->triangle[i] + 1;
    return s;
}

/* Finds the bodies that keep their shape, and numbers the vertices of each of them, and those of all others together.
 */
static enum tac_err sort_bodies(struct glb *g, struct frames *frames)
{
    const struct tac_reader *r = g->r;
    enum tac_err err;
    TAC_TRY(tac_alloc(g->ctx, (size_t)r->vertex_count, sizeof *frames->number, &frames->number));
    TAC_TRY(tac_alloc(g->ctx, (size_t)r->body_count, sizeof *frames->kept, &frames->kept));
    for (tac_lid i = 0; i < r->triangle_count; i++)
        frames->kept[r->body[r->triangle[3 * (size_t)i]]] = true;
    for (tac_lid i = 0; i < r->segment_count; i++)
        frames->kept[r->body[r->segment[2 * (size_t)i]]] = false;
    for (tac_lid i = 0; i < r->point_count; i++)
        frames->kept[r->body[r->point[i]]] = false;
    for (tac_lid b = 0; b < r->body_count; b++) {
        const struct tac_shape shape = shape_of(g, frames, b);
        frames->kept[b] =
            frames->kept[b] && frames->count > 1 && (tac_shape_is_still(&shape) || tac_shape_is_kept(&shape));
        for (tac_lid i = shape.begin; i < r->vertex_count && r->body[i] == b; i++)
            frames->number[i] = frames->kept[b] ? (uint32_t)(i - shape.begin) : (uint32_t)frames->soft++;
    }
done:
    return err;
}

/* ---- what deforms ---- */

/* Adds the first frame, and the differences of the others from it, as accessors; targets: [{"POSITION": n}, ...] */
static enum tac_err add_morphs(struct glb *g, const struct frames *frames, int *position, json_t *targets)
{
    enum tac_err err;
    const size_t n = (size_t)g->r->vertex_count;
    float *change = NULL;
    int index;
    TAC_TRY(tac_alloc(g->ctx, 3 * frames->soft, sizeof *change, &change));
    for (int64_t k = 0; k < frames->count; k++) {
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < 3 && !frames->kept[g->r->body[i]]; c++) {
                const float now = frames->x[3 * (n * (size_t)k + i) + c], first = frames->x[3 * i + c];
                change[3 * frames->number[i] + c] = k == 0 ? first : now - first;
            }
        TAC_TRY(add_places(g, change, frames->soft, k == 0 ? position : &index));
        if (k > 0)
            json_array_append_new(targets, json_pack("{s:i}", "POSITION", index));
    }
done:
    free(change);
    return err;
}

/* At the time of frame k the weight of target k - 1 is one. */
static enum tac_err add_weights(struct glb *g, const struct frames *frames, struct parts *parts)
{
    enum tac_err err = TAC_OK;
    const size_t n = (size_t)frames->count, targets = n - 1;
    float *weight = NULL;
    int output = 0;
    TAC_TRY(tac_alloc(g->ctx, n * targets, sizeof *weight, &weight));
    for (size_t k = 1; k < n; k++)
        weight[k * targets + k - 1] = 1;
    TAC_TRY(add_accessor(g, FLOAT, "SCALAR", n * targets, 4 * n * targets, weight, 0, &output));
    json_array_append_new(parts->channels,
                          json_pack("{s:i, s:{s:i, s:s}}", "sampler", (int)json_array_size(parts->samplers), "target",
                                    "node", (int)json_array_size(parts->nodes), "path", "weights"));
    json_array_append_new(parts->samplers, json_pack("{s:i, s:i, s:s}", "input", parts->input, "output", output,
                                                     "interpolation", "LINEAR"));
done:
    free(weight);
    return err;
}

/* The node of all bodies that deform. */
static enum tac_err add_soft(struct glb *g, const struct frames *frames, struct parts *parts)
{
    enum tac_err err = TAC_OK;
    const struct tac_reader *r = g->r;
    int position = 0;
    json_t *targets = json_array(), *primitives = json_array(), *weights = json_array();
    TAC_TRY(add_morphs(g, frames, &position, targets));
    for (tac_lid b = 0; b < r->body_count; b++) {
        if (frames->kept[b])
            continue;
        TAC_TRY(
            add_primitive(g, b, r->triangle, r->triangle_count, 3, 4, frames->number, position, targets, primitives));
        TAC_TRY(add_primitive(g, b, r->segment, r->segment_count, 2, 1, frames->number, position, targets, primitives));
        TAC_TRY(add_primitive(g, b, r->point, r->point_count, 1, 0, frames->number, position, targets, primitives));
    }
    json_t *mesh = json_pack("{s:O}", "primitives", primitives);
    if (frames->count > 1) {
        for (int64_t k = 1; k < frames->count; k++)
            json_array_append_new(weights, json_integer(0));
        json_object_set(mesh, "weights", weights);
        TAC_TRY(add_weights(g, frames, parts));
    }
    json_array_append_new(parts->nodes,
                          json_pack("{s:i, s:s}", "mesh", (int)json_array_size(parts->meshes), "name", r->name));
    json_array_append_new(parts->meshes, mesh);
done:
    json_decref(targets);
    json_decref(primitives);
    json_decref(weights);
    return err;
}

/* ---- what keeps its shape ---- */

/* The quaternion x, y, z, w of a rotation, of the two the one nearer to `last`. */
static void find_quaternion(const double m[3][3], const float last[4], float out[4])
{
    double q[4], most = m[0][0] + m[1][1] + m[2][2], dot = 0;
    int big = 3;
    for (int i = 0; i < 3; i++)
        if (m[i][i] > most) {
            most = m[i][i];
            big = i;
        }
    if (big == 3) {
        q[3] = 1 + most;
        for (int i = 0; i < 3; i++)
            q[i] = m[(i + 2) % 3][(i + 1) % 3] - m[(i + 1) % 3][(i + 2) % 3];
    } else {
        const int j = (big + 1) % 3, k = (big + 2) % 3;
        q[big] = 1 + m[big][big] - m[j][j] - m[k][k];
        q[j] = m[j][big] + m[big][j];
        q[k] = m[k][big] + m[big][k];
        q[3] = m[k][j] - m[j][k];
    }
    const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++)
        dot += q[i] * (double)last[i];
    for (int i = 0; i < 4; i++)
        out[i] = (float)((dot < 0 ? -q[i] : q[i]) / size);
}

/* Adds the samples of a translation or a rotation of the next node. */
static enum tac_err add_channel(struct glb *g, const struct frames *frames, const float *value, bool rotation,
                                struct parts *parts)
{
    enum tac_err err;
    const size_t n = (size_t)frames->count, bytes = rotation ? 16 : 12;
    int output = 0;
    TAC_TRY(add_accessor(g, FLOAT, rotation ? "VEC4" : "VEC3", n, bytes * n, value, 0, &output));
    json_array_append_new(parts->channels,
                          json_pack("{s:i, s:{s:i, s:s}}", "sampler", (int)json_array_size(parts->samplers), "target",
                                    "node", (int)json_array_size(parts->nodes), "path",
                                    rotation ? "rotation" : "translation"));
    json_array_append_new(parts->samplers, json_pack("{s:i, s:i, s:s}", "input", parts->input, "output", output,
                                                     "interpolation", "LINEAR"));
done:
    return err;
}

/* The motion of the body's middle, and its turns, as samples. */
static enum tac_err add_motion(struct glb *g, const struct frames *frames, const struct tac_shape *shape,
                               const double middle[3], struct parts *parts)
{
    enum tac_err err;
    float *place = NULL, *rotation = NULL;
    TAC_TRY(tac_alloc(g->ctx, 3 * (size_t)frames->count, sizeof *place, &place));
    TAC_TRY(tac_alloc(g->ctx, 4 * (size_t)frames->count, sizeof *rotation, &rotation));
    for (int64_t k = 0; k < frames->count; k++) {
        static const float none[4] = {0, 0, 0, 1};
        double turn[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, shift[3] = {0, 0, 0};
        if (k > 0)
            tac_shape_motion(shape, k, turn, shift);
        for (int c = 0; c < 3; c++)
            place[3 * k + c] =
                (float)(turn[c][0] * middle[0] + turn[c][1] * middle[1] + turn[c][2] * middle[2] + shift[c]);
        find_quaternion((const double(*)[3])turn, k > 0 ? &rotation[4 * (k - 1)] : none, &rotation[4 * k]);
    }
    TAC_TRY(add_channel(g, frames, place, false, parts));
    TAC_TRY(add_channel(g, frames, rotation, true, parts));
done:
    free(place);
    free(rotation);
    return err;
}

/* The node of one body, whose mesh is about the middle of its vertices in the first frame. */
static enum tac_err add_kept(struct glb *g, const struct frames *frames, tac_lid body, struct parts *parts)
{
    const struct tac_shape shape = shape_of(g, frames, body);
    const size_t n = (size_t)(shape.end - shape.begin);
    double middle[3] = {0, 0, 0};
    float *x = NULL;
    int position = 0;
    json_t *primitives = json_array();
    enum tac_err err;
    TAC_TRY(tac_alloc(g->ctx, 3 * n, sizeof *x, &x));
    for (size_t i = 0; i < 3 * n; i++)
        middle[i % 3] += (double)tac_shape_place(&shape, 0, shape.begin)[i] / (double)n;
    for (size_t i = 0; i < 3 * n; i++)
        x[i] = (float)((double)tac_shape_place(&shape, 0, shape.begin)[i] - middle[i % 3]);
    TAC_TRY(add_places(g, x, n, &position));
    TAC_TRY(
        add_primitive(g, body, g->r->triangle, g->r->triangle_count, 3, 4, frames->number, position, NULL, primitives));
    if (!tac_shape_is_still(&shape))
        TAC_TRY(add_motion(g, frames, &shape, middle, parts));
    json_array_append_new(parts->nodes,
                          json_pack("{s:i, s:s, s:[f, f, f]}", "mesh", (int)json_array_size(parts->meshes), "name",
                                    g->r->body_name[body], "translation", middle[0], middle[1], middle[2]));
    json_array_append_new(parts->meshes, json_pack("{s:O}", "primitives", primitives));
done:
    free(x);
    json_decref(primitives);
    return err;
}

/* ---- the whole ---- */

static enum tac_err add_times(struct glb *g, const struct frames *frames, struct parts *parts)
{
    const size_t n = (size_t)frames->count;
    enum tac_err err = add_accessor(g, FLOAT, "SCALAR", n, 4 * n, frames->time, 0, &parts->input);
    if (!err) {
        json_t *a = json_array_get(g->accessors, (size_t)parts->input);
        json_object_set_new(a, "min", json_pack("[f]", (double)frames->time[0]));
        json_object_set_new(a, "max", json_pack("[f]", (double)frames->time[n - 1]));
    }
    return err;
}

static json_t *join_root(const struct glb *g, const struct parts *parts)
{
    json_t *shown = json_array(), *materials = json_array();
    for (size_t k = 0; k < json_array_size(parts->nodes); k++)
        json_array_append_new(shown, json_integer((json_int_t)k));
    for (tac_lid b = 0; b < g->r->body_count; b++)
        json_array_append_new(materials, make_material(g->r, b));
    json_t *root = json_pack("{s:{s:s, s:s}, s:i, s:[{s:o}]}", "asset", "version", "2.0", "generator", "tactus",
                             "scene", 0, "scenes", "nodes", shown);
    if (json_array_size(parts->channels) > 0)
        json_object_set_new(root, "animations",
                            json_pack("[{s:O, s:O}]", "samplers", parts->samplers, "channels", parts->channels));
    json_object_set(root, "nodes", parts->nodes);
    json_object_set(root, "meshes", parts->meshes);
    json_object_set_new(root, "materials", materials);
    json_object_set(root, "accessors", g->accessors);
    json_object_set(root, "bufferViews", g->views);
    json_object_set_new(root, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)g->length));
    return root;
}

static enum tac_err describe_animation(struct glb *g, struct frames *frames)
{
    struct parts parts = {json_array(), json_array(), json_array(), json_array(), 0};
    json_t *root = NULL;
    enum tac_err err = TAC_OK;
    if (frames->count > 1)
        TAC_TRY(add_times(g, frames, &parts));
    if (frames->soft > 0)
        TAC_TRY(add_soft(g, frames, &parts));
    for (tac_lid b = 0; b < g->r->body_count; b++)
        if (frames->kept[b])
            TAC_TRY(add_kept(g, frames, b, &parts));
    root = join_root(g, &parts);
    g->json = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (g->json == NULL)
        err = tac_fail(g->ctx, TAC_ERR_RUN, "out of memory while writing glTF");
done:
    json_decref(root);
    json_decref(parts.nodes);
    json_decref(parts.meshes);
    json_decref(parts.samplers);
    json_decref(parts.channels);
    return err;
}

static void put_u32(FILE *f, uint64_t value)
{
    const unsigned char byte[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                                   (unsigned char)(value >> 24)};
    fwrite(byte, 1, 4, f);
}

static void write_glb(FILE *f, const void *data)
{
    const struct glb *g = data;
    const size_t text = strlen(g->json), text_end = (text + 3) / 4 * 4, end = (g->length + 3) / 4 * 4;
    put_u32(f, 0x46546c67); /* "glTF" */
    put_u32(f, 2);
    put_u32(f, 12 + 8 + text_end + 8 + end);
    put_u32(f, text_end);
    put_u32(f, 0x4e4f534a); /* "JSON" */
    fwrite(g->json, 1, text, f);
    for (size_t i = text; i < text_end; i++)
        fputc(' ', f);
    put_u32(f, end);
    put_u32(f, 0x004e4942); /* "BIN" */
    fwrite(g->bytes, 1, g->length, f);
    for (size_t i = g->length; i < end; i++)
        fputc(0, f);
}

enum tac_err tac_export_gltf(struct tac_ctx *ctx, const struct tac_reader *r, const bool *chosen, const char *path)
{
    struct glb g = {.ctx = ctx, .r = r, .views = json_array(), .accessors = json_array()};
    struct frames frames = {.chosen = chosen, .first = -1};
    enum tac_err err = TAC_OK;
    for (int64_t k = 0; k < r->frame_count; k++)
        if (chosen[k]) {
            frames.first = frames.first < 0 ? k : frames.first;
            frames.count++;
        }
    const double bytes =
        12. * (double)r->vertex_count * (double)frames.count + 4. * (double)frames.count * (double)frames.count;
    if (bytes > 4e9)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                         "%" PRId64 " frames of %" TAC_PRILID
                         " vertices are more than a glTF file can hold (4 GB); choose fewer with --frames",
                         frames.count, r->vertex_count));
    TAC_TRY(read_frames(&g, &frames));
    TAC_TRY(sort_bodies(&g, &frames));
    TAC_TRY(describe_animation(&g, &frames));
    err = tac_export_file(ctx, path, write_glb, &g);
done:
    json_decref(g.views);
    json_decref(g.accessors);
    free(g.json);
    free(g.bytes);
    free(frames.time);
    free(frames.x);
    free(frames.number);
    free(frames.kept);
    return err;
}
