/* writer.c: writes run folders through the API, for the scripts beside it.  No physics: made-up motion that any
 * number of ranks makes alike.
 *
 *     writer DIR [--kind mixed|triangles|segments|points] [--vertices N] [--frames N] [--first N] [--every N]
 *                [--seed N] [--overwrite] [--owner scattered|blocks|one] [--pause SECONDS] [--state STATE]
 *                [--change FIELD,FRAME,VERTEX,HOW] [--no-finish] [--quiet] [--break-at FRAME] [--late SECONDS]
 *                [--resume] [--checkpoint FILE] [--scene LETTER] [-- DIR ...]
 *
 * --resume: goes on with frame --first from a checkpoint (FILE or DIR/checkpoint-000001.h5) just before it.  --late:
 * the last frame is so much later than it should be.  --scene: what the scene's hash is made of.
 * --break-at: from that frame on every write to frames.h5 fails, as on a broken disk.
 * Exits with the code of the first failure, after its sentence on stderr.  Prints "frame K" after each frame. */
#include "partition/part.h"
#include <fcntl.h>
#include <math.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tactus/math.h>
#include <tactus/output.h>
#include <unistd.h>

struct options {
    const char *dir, *kind, *owner, *state, *change, *checkpoint, *scene;
    int vertices, frames, first, seed, every, break_at;
    bool overwrite, no_finish, quiet, resume, pieces;
    double pause_s, late_s;
};

static struct options parse(int argc, char **argv)
{
    struct options o = {.kind = "mixed",
                        .owner = "scattered",
                        .state = "finished",
                        .change = "",
                        .scene = "a",
                        .vertices = 300,
                        .frames = 5,
                        .every = 1,
                        .break_at = -1};
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        i++;
        if (!strcmp(word, "--kind"))
            o.kind = value;
        else if (!strcmp(word, "--owner"))
            o.owner = value;
        else if (!strcmp(word, "--state"))
            o.state = value;
        else if (!strcmp(word, "--change"))
            o.change = value;
        else if (!strcmp(word, "--vertices"))
            o.vertices = atoi(value);
        else if (!strcmp(word, "--frames"))
            o.frames = atoi(value);
        else if (!strcmp(word, "--first"))
            o.first = atoi(value);
        else if (!strcmp(word, "--every"))
            o.every = atoi(value);
        else if (!strcmp(word, "--seed"))
            o.seed = atoi(value);
        else if (!strcmp(word, "--break-at"))
            o.break_at = atoi(value);
        else if (!strcmp(word, "--checkpoint"))
            o.checkpoint = value;
        else if (!strcmp(word, "--scene"))
            o.scene = value;
        else if (!strcmp(word, "--late"))
            o.late_s = atof(value);
        else if (!strcmp(word, "--pause"))
            o.pause_s = atof(value);
        else if (i-- && !strcmp(word, "--overwrite"))
            o.overwrite = true;
        else if (!strcmp(word, "--pieces"))
            o.pieces = true;
        else if (!strcmp(word, "--resume"))
            o.resume = true;
        else if (!strcmp(word, "--no-finish"))
            o.no_finish = true;
        else if (!strcmp(word, "--quiet"))
            o.quiet = true;
        else if (word[0] != '-')
            o.dir = word;
        else
            exit(99);
    }
    return o;
}

/* Vertices and elements of one body: a strip of triangles (0), a chain of segments (1), loose points (2). */
static void add_body(struct tac_scene *s, int kind, int vertices)
{
    static const char *const names[3] = {"sheet", "rope", "g\303\244s"};
    struct tac_body *b = &s->settings->body[s->settings->body_count];
    *b = (struct tac_body){.name = (char *)names[kind], .radius = .01 * kind, .has_elements = kind < 2};
    b->vertex_begin = s->mesh->vertex_count;
    b->triangle_begin = s->mesh->triangle_count;
    b->segment_begin = s->mesh->segment_count;
    for (int i = 0; i < vertices; i++, s->mesh->vertex_count++) {
        s->mesh->vertex_body[s->mesh->vertex_count] = s->settings->body_count;
        s->mesh->ever_free[s->mesh->vertex_count] = i % 3 != 1;
        for (int c = 0; kind == 0 && i >= 2 && c < 3; c++)
            s->mesh->triangle[3 * s->mesh->triangle_count + c] = s->mesh->vertex_count - 2 + c;
        s->mesh->triangle_count += kind == 0 && i >= 2;
        for (int c = 0; kind == 1 && i >= 1 && c < 2; c++)
            s->mesh->segment[2 * s->mesh->segment_count + c] = s->mesh->vertex_count - 1 + c;
        s->mesh->segment_count += kind == 1 && i >= 1;
    }
    b->vertex_end = s->mesh->vertex_count;
    b->triangle_end = s->mesh->triangle_count;
    b->segment_end = s->mesh->segment_count;
    s->settings->body_count++;
}

static struct tac_scene *make_scene(const struct options *o)
{
    static struct tac_body body[3];
    static struct tac_settings settings;
    static struct tac_local_mesh mesh;
    static struct tac_scene s = {&settings, &mesh};
    static const char *const kinds[3] = {"triangles", "segments", "points"};
    bool mixed = !strcmp(o->kind, "mixed");
    mesh = (struct tac_local_mesh){0};
    settings = (struct tac_settings){.name = (char *)"a <made-up> & \"mixed\" scene", .end_s = 1, .body = body};
    s.settings->frame_s = .125 * o->every;
    s.settings->quantum_s = 0x1p-30;
    s.settings->t_end = (tac_time)1 << 52; /* frames may go on after the end that is told */
    memset(s.settings->sha256, o->scene[0], 64);
    s.settings->json = json_pack("{s:s, s:{s:f}}", "format", "tactus-scene/1", "time", "end", 1.0);
    s.mesh->vertex_body = calloc((size_t)o->vertices + 1, sizeof(tac_lid));
    s.mesh->ever_free = calloc((size_t)o->vertices + 1, 1);
    s.mesh->triangle = calloc(3 * (size_t)o->vertices + 1, sizeof(tac_lid));
    s.mesh->segment = calloc(2 * (size_t)o->vertices + 1, sizeof(tac_lid));
    for (int k = 0; k < 3; k++)
        if (mixed || !strcmp(o->kind, kinds[k]))
            add_body(&s, k, mixed ? o->vertices / 3 : o->vertices);
    return &s;
}

static void make_change(const struct options *o, int frame, tac_gid id, double x[3], double v[3], float f[3])
{
    char field[32], how[32];
    int at;
    long vertex;
    if (sscanf(o->change, "%31[^,],%d,%ld,%31s", field, &at, &vertex, how) != 4 || at != frame || vertex != id)
        return;
    double *target = !strcmp(field, "position") ? x : v;
    if (!strcmp(field, "contact_force"))
        f[1] = !strcmp(how, "nan") ? NAN : nextafterf(f[1], INFINITY);
    else if (!strcmp(how, "bit"))
        target[1] = nextafter(target[1], INFINITY);
    else if (!strcmp(how, "zero"))
        target[1] = 0;
    else if (!strcmp(how, "minus-zero"))
        target[1] = -0.0;
    else if (!strcmp(how, "nan"))
        target[1] = NAN;
    else if (!strcmp(how, "minus-nan"))
        target[1] = -NAN;
    else if (!strcmp(how, "infinity"))
        target[1] = INFINITY;
    else
        target[1] += atof(how);
}

static bool owns(const struct options *o, const struct tac_ctx *ctx, tac_gid id, tac_gid count)
{
    if (!strcmp(o->owner, "one"))
        return ctx->rank == ctx->size - 1;
    if (!strcmp(o->owner, "blocks"))
        return id * ctx->size / count == ctx->rank;
    return (int)(tac_hash64(7, (uint64_t)id) % (uint64_t)ctx->size) == ctx->rank;
}

/* Puts read-only descriptors in the place of those that frames.h5 is written through. */
static void break_file(const char *dir)
{
    char path[1024];
    struct stat file, other;
    snprintf(path, sizeof path, "%s/frames.h5", dir);
    int broken = open(path, O_RDONLY);
    if (broken < 0 || fstat(broken, &file) != 0)
        exit(98);
    for (int fd = 3; fd < 256; fd++)
        if (fd != broken && fstat(fd, &other) == 0 && other.st_dev == file.st_dev && other.st_ino == file.st_ino)
            dup2(broken, fd);
    close(broken);
}

static double time_of(const struct options *o, int index)
{
    return .125 * index * o->every + (index == o->first + o->frames - 1 ? o->late_s : 0);
}

static enum tac_err write_frame(struct tac_ctx *ctx, const struct options *o, const struct tac_scene *scene,
                                struct tac_output *out, int index)
{
    size_t n = (size_t)scene->mesh->vertex_count;
    tac_gid *id = malloc((n + 1) * sizeof *id);
    double *x = malloc((3 * n + 1) * sizeof *x), *v = malloc((3 * n + 1) * sizeof *v);
    float *f = malloc((3 * n + 1) * sizeof *f);
    uint64_t seed = (uint64_t)o->seed;
    double t = time_of(o, index);
    struct tac_frame frame = {.index = index, .time_s = t, .position = x, .velocity = v, .contact_force = f};
    for (tac_gid i = 0; i < scene->mesh->vertex_count; i++) {
        if (!owns(o, ctx, i, scene->mesh->vertex_count))
            continue;
        size_t at = 3 * (size_t)frame.count;
        id[frame.count++] = i;
        for (size_t c = 0; c < 3; c++) {
            uint64_t counter = 9 * (uint64_t)i + c;
            x[at + c] = tac_random(seed, counter) + t;
            v[at + c] = tac_random(seed, counter + 3) - .5;
            f[at + c] = t > 0 ? (float)(tac_random(seed, counter + 6) + t) : 0;
        }
        make_change(o, index, i, x + at, v + at, f + at);
    }
    frame.id = ctx->size == 1 ? NULL : id;
    enum tac_err err = tac_output_frame(ctx, out, &frame);
    free(id);
    free(x);
    free(v);
    free(f);
    return err;
}

static struct tac_energy_row make_row(const struct options *o, int index)
{
    double t = time_of(o, index);
    struct tac_energy_row row = {.time_s = t,
                                 .kinetic = 1 / 3.0 + t,
                                 .gravity = -0.0,
                                 .total = 1 / 3.0 + t,
                                 .momentum = {.1, .2, .3},
                                 .friction_couple = {1e-300, -1e300, t},
                                 .contacts = index,
                                 .deepest_layer = index % 3,
                                 .min_distance = index % 2 ? 1e-3 / 3 : -NAN};
    char how[32];
    int at;
    if (sscanf(o->change, "energy,%d,%31s", &at, how) == 2 && at == index)
        row.kinetic += atof(how);
    if (sscanf(o->change, "deepest,%d,%31s", &at, how) == 2 && at == index)
        row.deepest_layer += atol(how);
    return row;
}

/* Takes the elements out of the scene; every rank has its own, far apart. */
static struct tac_pieces *scatter(struct tac_ctx *ctx, const struct tac_scene *scene)
{
    struct tac_pieces *p = calloc(1, sizeof *p);
    p->vertex_total = scene->mesh->vertex_count;
    p->triangle_total = scene->mesh->triangle_count;
    p->segment_total = scene->mesh->segment_count;
    p->triangle_id = calloc((size_t)scene->mesh->triangle_count + 1, sizeof(tac_gid));
    p->triangle = calloc(3 * (size_t)scene->mesh->triangle_count + 1, sizeof(tac_gid));
    p->segment_id = calloc((size_t)scene->mesh->segment_count + 1, sizeof(tac_gid));
    p->segment = calloc(2 * (size_t)scene->mesh->segment_count + 1, sizeof(tac_gid));
    p->vertex_id = calloc((size_t)scene->mesh->vertex_count + 1, sizeof(tac_gid));
    p->ever_free = calloc((size_t)scene->mesh->vertex_count + 1, 1);
    for (tac_lid i = 0; i < scene->mesh->vertex_count; i++) {
        if (tac_hash64(3, (uint64_t)i) % (uint64_t)ctx->size != (uint64_t)ctx->rank)
            continue;
        p->ever_free[p->vertex_count] = scene->mesh->ever_free[i];
        p->vertex_id[p->vertex_count++] = i;
    }
    memset(scene->mesh->ever_free, 0x7f, (size_t)scene->mesh->vertex_count);
    for (tac_lid t = 0; t < scene->mesh->triangle_count; t++) {
        if (tac_hash64(1, (uint64_t)t) % (uint64_t)ctx->size != (uint64_t)ctx->rank)
            continue;
        for (int k = 0; k < 3; k++)
            p->triangle[3 * p->triangle_count + k] = scene->mesh->triangle[3 * t + k];
        p->triangle_id[p->triangle_count++] = t;
    }
    for (tac_lid s = 0; s < scene->mesh->segment_count; s++) {
        if (tac_hash64(2, (uint64_t)s) % (uint64_t)ctx->size != (uint64_t)ctx->rank)
            continue;
        for (int k = 0; k < 2; k++)
            p->segment[2 * p->segment_count + k] = scene->mesh->segment[2 * s + k];
        p->segment_id[p->segment_count++] = s;
    }
    memset(scene->mesh->triangle, 0x7f, (size_t)scene->mesh->triangle_count * sizeof(tac_lid));
    memset(scene->mesh->segment, 0x7f, (size_t)scene->mesh->segment_count * sizeof(tac_lid));
    return p;
}

static enum tac_err begin(struct tac_ctx *ctx, const struct options *o, const struct tac_scene *scene,
                          struct tac_output **out)
{
    char file[1024];
    struct tac_pieces *pieces = o->pieces ? scatter(ctx, scene) : NULL;
    if (!o->resume) {
        const enum tac_err err = tac_output_create(ctx, scene, pieces, o->dir, o->overwrite, out);
        tac_pieces_destroy(&pieces);
        return err;
    }
    snprintf(file, sizeof file, "%s/checkpoint-000001.h5", o->dir);
    /* A moment after the frame before, as where a run is stopped between two. */
    tac_time now = tac_scene_quanta(scene, .125 * (o->first - 1) * o->every) + 12345;
    const struct tac_output_past past = {
        .file = o->checkpoint != NULL ? o->checkpoint : file, .now = now, .next_frame = o->first};
    return tac_output_resume(ctx, scene, NULL, o->dir, &past, out);
}

static enum tac_err write_run(struct tac_ctx *ctx, const struct options *o, const struct tac_scene *scene, int argc,
                              char **argv, struct tac_output **out)
{
    enum tac_err err = TAC_OK;
    struct tac_status status = {.state = "running",
                                .end_s = 1,
                                .wall_left_s = NAN,
                                .window_s = 1e-3,
                                .contacts = 12,
                                .deepest_layer = 3,
                                .ticks_per_s = 1.5e6};
    status.counters.committed[4] = 123456789012;
    status.counters.rollbacks = 2;
    TAC_TRY(begin(ctx, o, scene, out));
    memset(scene->mesh->vertex_body, 0x7f,
           (size_t)scene->mesh->vertex_count * sizeof(tac_lid)); /* large arrays may be gone now */
    memset(scene->mesh->ever_free, 0x7f, (size_t)scene->mesh->vertex_count);
    memset(scene->mesh->triangle, 0x7f, (size_t)scene->mesh->triangle_count * sizeof(tac_lid));
    memset(scene->mesh->segment, 0x7f, (size_t)scene->mesh->segment_count * sizeof(tac_lid));
    for (int k = o->first; k < o->first + o->frames; k++) {
        if (k == o->break_at)
            break_file(o->dir);
        TAC_TRY(write_frame(ctx, o, scene, *out, k));
        struct tac_energy_row row = make_row(o, k);
        TAC_TRY(tac_output_row(ctx, *out, &row));
        status.time_s = row.time_s;
        status.wall_s += 1;
        status.wall_left_s = 3725;
        TAC_TRY(tac_agree(ctx, tac_output_status(ctx, *out, &status, k == o->first)));
        if (ctx->rank == 0) {
            printf("frame %d\n", k);
            fflush(stdout);
        }
        if (k % 3 == 1) {
            TAC_TRY(tac_output_sync(ctx, *out));
            tac_output_checkpoint(*out, "checkpoint-000001.h5");
        }
        if (o->pause_s > 0)
            usleep((useconds_t)(o->pause_s * 1e6));
    }
done:
    if (*out != NULL && !o->no_finish) {
        struct tac_summary summary = {"speculate", "nested", true, argc, argv, 1e-15, 2.5, 3.5, status};
        summary.status.state = err ? "failed" : o->state;
        summary.status.error = err ? ctx->error : NULL;
        enum tac_err end = tac_output_finish(ctx, *out, &summary);
        err = err ? err : end;
    }
    return err;
}

static enum tac_err write_one(struct tac_ctx *ctx, int argc, char **argv)
{
    struct options o = parse(argc, argv);
    ctx->quiet = o.quiet;
    struct tac_scene *scene = make_scene(&o);
    struct tac_output *out = NULL;
    enum tac_err err = write_run(ctx, &o, scene, argc, argv, &out);
    tac_output_destroy(&out);
    err = tac_agree(ctx, err);
    if (err && ctx->rank == 0)
        fprintf(stderr, "tactus: %s\n", ctx->error);
    json_decref(scene->settings->json);
    free(scene->mesh->vertex_body);
    free(scene->mesh->ever_free);
    free(scene->mesh->triangle);
    free(scene->mesh->segment);
    return err;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct tac_ctx ctx;
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    enum tac_err err = TAC_OK;
    for (int i = 1, end; i < argc && !err; i = end + 1) {
        for (end = i; end < argc && strcmp(argv[end], "--") != 0; end++)
            ;
        err = write_one(&ctx, end - i, argv + i);
    }
    MPI_Finalize();
    return err;
}
