/* export_gltf.c: writes frames as one animated glTF 2.0 file (.glb). The first frame is the mesh, each other frame is a
 * morph target of it, and the animation goes from one to the next. Positions are in single precision, as glTF needs;
 * each body has its own colour. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/export_room.h"

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

/* Adds the elements of one body as a primitive. mode: 4 triangles, 1 lines, 0 points. */
static enum tac_err add_primitive(struct glb *g, tac_lid body, const tac_lid *vertex, tac_lid count, int corners,
                                  int mode, int position, const json_t *targets, json_t *primitives)
{
    enum tac_err err = TAC_OK;
    uint32_t *index = NULL;
    size_t n = 0;
    int accessor = 0;
    TAC_TRY(tac_alloc(g->ctx, (size_t)count * (size_t)corners, sizeof *index, &index));
    for (tac_lid i = 0; i < count; i++) {
        const tac_lid *v = &vertex[(size_t)corners * (size_t)i];
        for (int k = 0; k < corners && g->r->body[v[0]] == body; k++)
            index[n++] = (uint32_t)v[k];
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

struct frames {
    const bool *chosen;
    int64_t count, first;
    float *time; /* owned, (count), s since the first */
};

/* Adds the first frame, and the differences of the others from it, as accessors; targets: [{"POSITION": n}, ...] */
static enum tac_err add_frames(struct glb *g, struct frames *frames, int *position, json_t *targets)
{
    enum tac_err err;
    const size_t n = (size_t)g->r->vertex_count;
    double *x = NULL;
    float *first = NULL, *change = NULL;
    int64_t at = 0;
    int index;
    TAC_TRY(tac_alloc(g->ctx, 3 * n, sizeof *x, &x));
    TAC_TRY(tac_alloc(g->ctx, 3 * n, sizeof *first, &first));
    TAC_TRY(tac_alloc(g->ctx, 3 * n, sizeof *change, &change));
    for (int64_t k = 0; k < g->r->frame_count; k++) {
        if (!frames->chosen[k])
            continue;
        TAC_TRY(tac_reader_frame(g->ctx, g->r, k, x, NULL, NULL));
        frames->time[at] = (float)(g->r->frame[k].time_s - g->r->frame[frames->first].time_s);
        for (size_t i = 0; i < 3 * n; i++) {
            if (at == 0)
                first[i] = (float)x[i];
            change[i] = (float)(x[i] - (double)first[i]);
        }
        TAC_TRY(add_places(g, at == 0 ? first : change, n, at == 0 ? position : &index));
        if (at++ > 0)
            json_array_append_new(targets, json_pack("{s:i}", "POSITION", index));
    }
done:
    free(x);
    free(first);
    free(change);
    return err;
}

/* At the time of frame k the weight of target k - 1 is one. */
static enum tac_err add_animation(struct glb *g, const struct frames *frames, json_t *root)
{
    enum tac_err err = TAC_OK;
    const size_t n = (size_t)frames->count, targets = n - 1;
    float *weight = NULL;
    int input = 0, output = 0;
    TAC_TRY(tac_alloc(g->ctx, n * targets, sizeof *weight, &weight));
    for (size_t k = 1; k < n; k++)
        weight[k * targets + k - 1] = 1;
    TAC_TRY(add_accessor(g, FLOAT, "SCALAR", n, 4 * n, frames->time, 0, &input));
    json_t *a = json_array_get(g->accessors, (size_t)input);
    json_object_set_new(a, "min", json_pack("[f]", (double)frames->time[0]));
    json_object_set_new(a, "max", json_pack("[f]", (double)frames->time[n - 1]));
    TAC_TRY(add_accessor(g, FLOAT, "SCALAR", n * targets, 4 * n * targets, weight, 0, &output));
    json_object_set_new(root, "animations",
                        json_pack("[{s:[{s:i, s:i, s:s}], s:[{s:i, s:{s:i, s:s}}]}]", "samplers", "input", input,
                                  "output", output, "interpolation", "LINEAR", "channels", "sampler", 0, "target",
                                  "node", 0, "path", "weights"));
done:
    free(weight);
    return err;
}

static enum tac_err describe_animation(struct glb *g, struct frames *frames)
{
    enum tac_err err;
    const struct tac_reader *r = g->r;
    int position = 0;
    json_t *targets = json_array(), *primitives = json_array(), *materials = json_array();
    json_t *root = json_pack("{s:{s:s, s:s}, s:i, s:[{s:[i]}]}", "asset", "version", "2.0", "generator", "tactus",
                             "scene", 0, "scenes", "nodes", 0);
    TAC_TRY(add_frames(g, frames, &position, targets));
    for (tac_lid b = 0; b < r->body_count; b++) {
        json_array_append_new(materials, make_material(r, b));
        TAC_TRY(add_primitive(g, b, r->triangle, r->triangle_count, 3, 4, position, targets, primitives));
        TAC_TRY(add_primitive(g, b, r->segment, r->segment_count, 2, 1, position, targets, primitives));
        TAC_TRY(add_primitive(g, b, r->point, r->point_count, 1, 0, position, targets, primitives));
    }
    json_t *mesh = json_pack("{s:O}", "primitives", primitives);
    if (frames->count > 1) {
        json_t *weights = json_array();
        for (int64_t k = 1; k < frames->count; k++)
            json_array_append_new(weights, json_integer(0));
        json_object_set_new(mesh, "weights", weights);
        TAC_TRY(add_animation(g, frames, root));
    }
    json_object_set_new(root, "nodes", json_pack("[{s:i, s:s}]", "mesh", 0, "name", r->name));
    json_object_set_new(root, "meshes", json_pack("[o]", mesh));
    json_object_set(root, "materials", materials);
    json_object_set(root, "accessors", g->accessors);
    json_object_set(root, "bufferViews", g->views);
    json_object_set_new(root, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)g->length));
    g->json = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (g->json == NULL)
        err = tac_fail(g->ctx, TAC_ERR_RUN, "out of memory while writing glTF");
done:
    json_decref(root);
    json_decref(targets);
    json_decref(primitives);
    json_decref(materials);
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
    TAC_TRY(tac_alloc(ctx, (size_t)frames.count, sizeof *frames.time, &frames.time));
    TAC_TRY(describe_animation(&g, &frames));
    err = tac_export_file(ctx, path, write_glb, &g);
done:
    json_decref(g.views);
    json_decref(g.accessors);
    free(g.json);
    free(g.bytes);
    free(frames.time);
    return err;
}
