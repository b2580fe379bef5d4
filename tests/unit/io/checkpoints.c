/* checkpoints.c: writes and reads checkpoints of made-up states, on any number of ranks, for checkpoints.py.
 *
 *     checkpoints COMMAND PATH SEED SIZE [KEEP] [-- COMMAND PATH SEED SIZE ...]
 *
 * SIZE: small, empty (no elements, motions or contacts) or large (more than a chunk).  Commands, each by all ranks:
 *   write    writes DIR/checkpoint-NNNNNN.h5
 *   read     reads a file or folder; every value must be what SEED says, and every row must be there once
 *   disk     a write to the file fails on one rank, each in its turn: a sentence, the old ones stand, the next try
 * works memory   likewise a memory request; while writing, and while reading Prints what failed; exits 1 then, or with
 * the code of the last error, after its sentence. */
#include "check.h"
#include "io/checkpoint/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <tactus/math.h>
#include <unistd.h>

/* ---- faults ---- */

static int writes_left = -1, requests_left = -1; /* until one fails; negative: none does */
static int faults;                               /* that happened */

static bool fails(int *left)
{
    if (*left < 0 || (*left)-- > 0)
        return false;
    faults++;
    *left = 0; /* and so do all that follow */
    return true;
}

static bool breaks(int fd)
{
    char link[64], name[4096];
    if (writes_left < 0)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, name, sizeof name - 1);
    name[n > 0 ? n : 0] = '\0';
    if (strstr(name, "checkpoint") == NULL || !fails(&writes_left))
        return false;
    errno = EIO;
    return true;
}

/* In the place of the C library's, also for HDF5 and MPI. */
ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return breaks(fd) ? -1 : syscall(SYS_pwrite64, fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t at)
{
    return breaks(fd) ? -1 : syscall(SYS_pwrite64, fd, data, size, at);
}

ssize_t pwritev(int fd, const struct iovec *part, int parts, off_t at)
{
    return breaks(fd) ? -1 : syscall(SYS_pwritev, fd, part, parts, at, 0);
}

/* The linker sends the library's calls here (--wrap). */
enum tac_err __real_tac_alloc(struct tac_ctx *ctx, size_t count, size_t size, void *out);
enum tac_err __wrap_tac_alloc(struct tac_ctx *ctx, size_t count, size_t size, void *out);
enum tac_err __wrap_tac_alloc(struct tac_ctx *ctx, size_t count, size_t size, void *out)
{
    if (fails(&requests_left))
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory, on purpose");
    return __real_tac_alloc(ctx, count, size, out);
}

/* ---- states ---- */

struct size {
    const char *name;
    tac_gid vertices, triangles, segments, scripts, pairs, elements;
};

static const struct size SIZES[] = {{"small", 50, 40, 30, 12, 25, 20},
                                    {"empty", 7, 0, 0, 0, 0, 0},
                                    {"large", 40000, 36000, 20000, 18000, 35000, 33000}};

static double random_of(uint64_t seed, int64_t row, int what)
{
    return 2 * tac_random(seed, (uint64_t)row * 64 + (uint64_t)what) - 1;
}

static struct tac_scene make_scene(const struct size *size)
{
    static struct tac_settings settings;
    static struct tac_body body[2];
    settings = (struct tac_settings){.name = (char *)"made \303\274p", .body_count = 2, .body = body};
    struct tac_scene s = {.settings = &settings};
    memset(s.settings->sha256, 'c', 64);
    body[0] = (struct tac_body){.name = (char *)"rag", .vertex_end = 5};
    body[1] = (struct tac_body){.name = (char *)"b\303\266x",
                                .vertex_begin = 5,
                                .vertex_end = (tac_lid)size->vertices,
                                .triangle_end = (tac_lid)size->triangles,
                                .segment_end = (tac_lid)size->segments};
    s.settings->json = json_pack("{s:s, s:{s:f}, s:[{s:s}, {s:s}]}", "format", "tactus-scene/1", "clocks", "quantum_s",
                                 ldexp(1, -46), "bodies", "name", "rag", "name", "b\303\266x");
    return s;
}

static void fill_common(struct tac_checkpoint *c, uint64_t seed, const struct size *size)
{
    c->now = 1000000 + (tac_time)seed;
    c->frame = 7;
    c->last_frame = 900000;
    c->restarts = 3;
    c->has_start = 1;
    c->kinetic_start = random_of(seed, -1, 0);
    c->book_work = random_of(seed, -1, 1);
    c->book_absolute = 4;
    c->deepest_layer = 12;
    c->wall_s = 61.5;
    c->counters.committed[4] = 123456789012;
    c->counters.deepest_layer = 9;
    c->counters.seconds_output = .25;
    struct tac_accum *const sum[3] = {&c->dissipated, &c->work, &c->total_start};
    for (int k = 0; k < 3; k++) {
        tac_accum_add(sum[k], random_of(seed, -2, k) * 1e30);
        tac_accum_add(sum[k], random_of(seed, -3, k) * 1e-300);
        tac_accum_carry(sum[k]);
    }
    c->vertex_total = size->vertices;
    c->triangle_total = size->triangles;
    c->segment_total = size->segments;
}

static void fill_vertex(uint64_t seed, const struct tac_checkpoint *c, tac_gid id, double *start, double *mass,
                        double *x, double *v, double *impulse, tac_time *t)
{
    for (int k = 0; k < 3; k++) {
        start[k] = random_of(seed, id, k);
        x[k] = k == 1 && id % 5 == 0 ? -0.0 : random_of(seed, id, 3 + k) * 1e-310;
        v[k] = random_of(seed, id, 6 + k) * 1e300;
        impulse[k] = random_of(seed, id, 9 + k);
    }
    *mass = fabs(random_of(seed, id, 12));
    *t = (tac_time)((random_of(seed, id, 13) + 1) / 2 * (double)c->now);
}

static struct tac_script_state make_script(uint64_t seed, tac_gid id)
{
    struct tac_script_state s = {.vertex = 2 * id,
                                 .next = id % 4,
                                 .t = 5 * (id % 1000),
                                 .on = (int32_t)(id % 2),
                                 .caught = (int32_t)(id % 3 == 0)};
    for (int k = 0; k < 3; k++) {
        s.origin[k] = random_of(seed, id, 20 + k);
        s.x[k] = random_of(seed, id, 23 + k);
        s.v[k] = random_of(seed, id, 26 + k);
        s.v_free[k] = random_of(seed, id, 29 + k);
    }
    return s;
}

/* Of all types, and not in the order of the vertices. */
static struct tac_pair_state make_pair(uint64_t seed, const struct size *size, tac_gid k)
{
    static const int corners[4] = {4, 4, 3, 2};
    const int type = (int)(k % 4);
    struct tac_pair_state p = {.key = (uint64_t)type << 62 | (uint64_t)k, .vertex = {-1, -1, -1, -1}};
    const tac_gid first = (size->vertices - 4) * (k * 7919 % size->pairs) / size->pairs;
    for (int i = 0; i < corners[type]; i++)
        p.vertex[i] = first + i;
    p.groups = 1 + (int64_t)(tac_random(seed, (uint64_t)k * 64 + 40) * 4);
    p.depth = 2 * p.groups;
    return p;
}

/* Kinds of elements, each with rows of its own width: nodes of an element, numbers of a strain. */
enum { KINDS = 4 };
static const struct {
    int kind, nodes, width;
} ELEMENTS[KINDS] = {{1, 2, 1}, {2, 3, 3}, {3, 4, 1}, {9, 10, 6}};

/* Element k is of the kind k % KINDS; plastic, damped or both, and not in the order of the vertices. */
static void fill_element(uint64_t seed, const struct size *size, tac_gid k, const struct tac_element_states *s,
                         struct tac_element_state *e)
{
    const tac_gid first = (size->vertices - s->nodes) * (k * 4241 % size->elements) / size->elements;
    memset(e, 0, tac_element_row_size(s));
    e->id = k;
    e->has = 1 + k / KINDS % 3;
    for (int i = 0; i < s->nodes; i++)
        e->vertex[i] = k % 5 == 0 && i > 0 && i == s->nodes - 1 ? -1 : first + (i + k) % s->nodes;
    for (int i = 0; i < s->width; i++) {
        tac_element_rest(s, e)[i] = e->has & 1 ? fabs(random_of(seed, k, 46 + i)) : 0;
        tac_element_last(s, e)[i] = e->has & 2 ? fabs(random_of(seed, k, 52 + i)) : 0;
    }
}

static double make_last(uint64_t seed, uint64_t key, int64_t group)
{
    return (key + (uint64_t)group) % 3 == 0 ? INFINITY : random_of(seed, (int64_t)(key & 0xffffff), 41 + (int)group);
}

static int compare_keys(const void *a, const void *b)
{
    const struct tac_pair_state *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Scattered, in another way for every kind; with three ranks and small tables the last one has nothing. */
static bool mine(const struct tac_ctx *ctx, tac_gid row, int kind)
{
    const int owners = ctx->size > 2 ? ctx->size - 1 : ctx->size;
    return (row * 7 + kind + row / 11) % owners == ctx->rank;
}

static struct tac_checkpoint *make_state(const struct tac_ctx *ctx, uint64_t seed, const struct size *size)
{
    struct tac_checkpoint *c = calloc(1, sizeof *c);
    size_t n = (size_t)size->vertices;
    fill_common(c, seed, size);
    c->vertices.id = calloc(n, sizeof *c->vertices.id);
    c->vertices.start = calloc(3 * n, sizeof(double));
    c->vertices.x = calloc(3 * n, sizeof(double));
    c->vertices.v = calloc(3 * n, sizeof(double));
    c->vertices.impulse = calloc(3 * n, sizeof(double));
    c->vertices.mass = calloc(n, sizeof(double));
    c->vertices.t = calloc(n, sizeof *c->vertices.t);
    c->mesh.triangle_id = calloc((size_t)size->triangles + 1, sizeof(tac_gid));
    c->mesh.triangle = calloc(3 * (size_t)size->triangles + 1, sizeof(tac_gid));
    c->mesh.segment_id = calloc((size_t)size->segments + 1, sizeof(tac_gid));
    c->mesh.segment = calloc(2 * (size_t)size->segments + 1, sizeof(tac_gid));
    c->script = calloc((size_t)size->scripts + 1, sizeof *c->script);
    c->pair = calloc((size_t)size->pairs + 1, sizeof *c->pair);
    c->last = calloc(4 * (size_t)size->pairs + 1, sizeof *c->last);
    for (int k = 0; k < KINDS; k++) {
        struct tac_element_states *s = &c->element[ELEMENTS[k].kind];
        *s = (struct tac_element_states){.nodes = ELEMENTS[k].nodes, .width = ELEMENTS[k].width};
        s->row = calloc((size_t)size->elements + 1, tac_element_row_size(s));
    }
    for (tac_gid i = 0; i < size->vertices; i++)
        if (mine(ctx, i, 0)) {
            const size_t k = (size_t)c->vertices.count++;
            c->vertices.id[k] = i;
            fill_vertex(seed, c, i, c->vertices.start + 3 * k, c->vertices.mass + k, c->vertices.x + 3 * k,
                        c->vertices.v + 3 * k, c->vertices.impulse + 3 * k, c->vertices.t + k);
        }
    for (tac_gid i = 0; i < size->triangles; i++)
        if (mine(ctx, i, 1)) {
            for (int k = 0; k < 3; k++)
                c->mesh.triangle[3 * c->mesh.triangle_count + k] = (i + 3 * k) % size->vertices;
            c->mesh.triangle_id[c->mesh.triangle_count++] = i;
        }
    for (tac_gid i = 0; i < size->segments; i++)
        if (mine(ctx, i, 2)) {
            for (int k = 0; k < 2; k++)
                c->mesh.segment[2 * c->mesh.segment_count + k] = (i + 5 * k) % size->vertices;
            c->mesh.segment_id[c->mesh.segment_count++] = i;
        }
    for (tac_gid i = 0; i < size->scripts; i++)
        if (mine(ctx, i, 3))
            c->script[c->script_count++] = make_script(seed, i);
    for (tac_gid i = 0; i < size->pairs; i++)
        if (mine(ctx, i, 4)) {
            struct tac_pair_state p = make_pair(seed, size, i);
            p.last = c->last_count;
            for (int64_t r = 0; r < p.groups; r++)
                c->last[c->last_count++] = make_last(seed, p.key, r);
            c->pair[c->pair_count++] = p;
        }
    qsort(c->pair, (size_t)c->pair_count, sizeof *c->pair, compare_keys);
    for (tac_gid i = 0; i < size->elements; i++)
        if (mine(ctx, i, 5)) {
            struct tac_element_states *s = &c->element[ELEMENTS[i % KINDS].kind];
            fill_element(seed, size, i, s, tac_element_row(s, s->count++));
        }
    for (int k = 0; k < KINDS; k++) {
        struct tac_element_states *s = &c->element[ELEMENTS[k].kind];
        qsort(s->row, (size_t)s->count, tac_element_row_size(s), tac_element_state_compare);
    }
    return c;
}

/* ---- is it what was written? ---- */

static void check_common(const struct tac_checkpoint *c, uint64_t seed, const struct size *size)
{
    struct tac_checkpoint want = {.now = 0};
    fill_common(&want, seed, size);
    CHECK(c->now == want.now && c->frame == want.frame && c->last_frame == want.last_frame &&
              c->restarts == want.restarts && c->has_start == want.has_start && c->deepest_layer == want.deepest_layer,
          "numbers");
    CHECK(c->kinetic_start == want.kinetic_start && c->book_work == want.book_work &&
              c->book_absolute == want.book_absolute && c->wall_s == want.wall_s,
          "reals");
    CHECK(memcmp(&c->counters, &want.counters, sizeof want.counters) == 0, "counters");
    CHECK(memcmp(c->dissipated.limb, want.dissipated.limb, sizeof want.work.limb) == 0 &&
              memcmp(c->work.limb, want.work.limb, sizeof want.work.limb) == 0 &&
              memcmp(c->total_start.limb, want.total_start.limb, sizeof want.work.limb) == 0,
          "sums, to the last bit");
}

static void check_elements(const struct tac_element_states *s, int k, uint64_t seed, const struct size *size)
{
    struct tac_element_state *want = malloc(tac_element_row_size(s));
    CHECK(size->elements == 0 || (s->nodes == ELEMENTS[k].nodes && s->width == ELEMENTS[k].width), "width of kind %d",
          ELEMENTS[k].kind);
    for (tac_lid i = 0; i < s->count; i++) {
        const struct tac_element_state *e = tac_element_row(s, i);
        CHECK(e->id % KINDS == k, "element %ld is of kind %d", (long)e->id, ELEMENTS[k].kind);
        fill_element(seed, size, e->id, s, want);
        CHECK(memcmp(e, want, tac_element_row_size(s)) == 0 &&
                  (i == 0 || tac_element_state_compare(tac_element_row(s, i - 1), e) < 0),
              "what element %ld remembers", (long)e->id);
    }
    free(want);
}

static void check_rows(const struct tac_checkpoint *c, uint64_t seed, const struct size *size)
{
    for (tac_lid i = 0; i < c->vertices.count; i++) {
        const size_t k = (size_t)i;
        double start[3], mass, x[3], v[3], impulse[3];
        tac_time t;
        fill_vertex(seed, c, c->vertices.id[k], start, &mass, x, v, impulse, &t);
        CHECK(memcmp(start, c->vertices.start + 3 * k, sizeof start) == 0 &&
                  memcmp(x, c->vertices.x + 3 * k, sizeof x) == 0 && memcmp(v, c->vertices.v + 3 * k, sizeof v) == 0 &&
                  memcmp(impulse, c->vertices.impulse + 3 * k, sizeof v) == 0 && mass == c->vertices.mass[k] &&
                  t == c->vertices.t[k] && (k == 0 || c->vertices.id[k] > c->vertices.id[k - 1]),
              "vertex %ld", (long)c->vertices.id[k]);
    }
    for (tac_lid i = 0; i < c->mesh.triangle_count; i++)
        for (int k = 0; k < 3; k++)
            CHECK(c->mesh.triangle[3 * i + k] == (c->mesh.triangle_id[i] + 3 * k) % size->vertices, "triangle");
    for (tac_lid i = 0; i < c->mesh.segment_count; i++)
        for (int k = 0; k < 2; k++)
            CHECK(c->mesh.segment[2 * i + k] == (c->mesh.segment_id[i] + 5 * k) % size->vertices, "segment");
    for (tac_lid i = 0; i < c->script_count; i++) {
        const struct tac_script_state want = make_script(seed, c->script[i].vertex / 2);
        CHECK(memcmp(&want, &c->script[i], sizeof want) == 0, "script of %ld", (long)c->script[i].vertex);
    }
    for (tac_lid i = 0; i < c->pair_count; i++) {
        const struct tac_pair_state *p = &c->pair[i];
        const struct tac_pair_state want = make_pair(seed, size, (tac_gid)(p->key & 0xffffff));
        CHECK(p->key == want.key && memcmp(p->vertex, want.vertex, sizeof want.vertex) == 0 && p->depth == want.depth &&
                  p->groups == want.groups && (i == 0 || p->key > p[-1].key),
              "pair %lx", (unsigned long)p->key);
        for (int64_t r = 0; r < p->groups && r < want.groups; r++)
            CHECK(c->last[p->last + r] == make_last(seed, p->key, r), "last of pair %lx", (unsigned long)p->key);
    }
    for (int k = 0; k < KINDS; k++)
        check_elements(&c->element[ELEMENTS[k].kind], k, seed, size);
}

/* Every row once: counts and sums of what identifies them, over all ranks. */
static void check_complete(struct tac_ctx *ctx, const struct tac_checkpoint *c, const struct size *size)
{
    enum { TABLES = 6 };
    int64_t sum[2 * TABLES] = {c->vertices.count, c->mesh.triangle_count, c->mesh.segment_count,
                               c->script_count,   c->pair_count,          tac_checkpoint_elements(c)};
    const int64_t n[TABLES] = {size->vertices, size->triangles, size->segments,
                               size->scripts,  size->pairs,     size->elements};
    for (tac_lid i = 0; i < c->vertices.count; i++)
        sum[TABLES] += c->vertices.id[i];
    for (tac_lid i = 0; i < c->mesh.triangle_count; i++)
        sum[TABLES + 1] += c->mesh.triangle_id[i];
    for (tac_lid i = 0; i < c->mesh.segment_count; i++)
        sum[TABLES + 2] += c->mesh.segment_id[i];
    for (tac_lid i = 0; i < c->script_count; i++)
        sum[TABLES + 3] += c->script[i].vertex / 2;
    for (tac_lid i = 0; i < c->pair_count; i++)
        sum[TABLES + 4] += (int64_t)(c->pair[i].key & 0xffffff);
    for (int k = 0; k < TAC_KINDS; k++)
        for (tac_lid i = 0; i < c->element[k].count; i++)
            sum[TABLES + 5] += tac_element_row(&c->element[k], i)->id;
    MPI_Allreduce(MPI_IN_PLACE, sum, 2 * TABLES, MPI_INT64_T, MPI_SUM, ctx->comm);
    for (int k = 0; k < TABLES; k++)
        CHECK(sum[k] == n[k] && sum[TABLES + k] == n[k] * (n[k] - 1) / 2, "rows of kind %d: %ld of %ld", k,
              (long)sum[k], (long)n[k]);
}

/* ---- commands ---- */

static enum tac_err write_one(struct tac_ctx *ctx, const char *dir, uint64_t seed, const struct size *size, int keep,
                              char name[64])
{
    struct tac_scene scene = make_scene(size);
    struct tac_checkpoint *c = make_state(ctx, seed, size);
    ctx->error[0] = '\0';
    enum tac_err err = tac_checkpoint_write(ctx, &scene, dir, keep, c, name, 64);
    tac_checkpoint_destroy(&c);
    json_decref(scene.settings->json);
    return err;
}

static enum tac_err read_one(struct tac_ctx *ctx, const char *path, uint64_t seed, const struct size *size)
{
    struct tac_checkpoint *c = NULL;
    json_t *json = NULL;
    char *file = NULL, sha256[65] = "";
    ctx->error[0] = '\0';
    enum tac_err err = tac_checkpoint_read(ctx, path, &file, &json, sha256, &c);
    CHECK((err == TAC_OK) == (c != NULL) && (err == TAC_OK) == (file != NULL) && (err == TAC_OK) == (json != NULL),
          "all or nothing");
    if (!err) {
        check_common(c, seed, size);
        check_rows(c, seed, size);
        check_complete(ctx, c, size);
        CHECK(strspn(sha256, "c") == 64 && json_object_get(json, "geometry") != NULL, "scene");
    }
    free(file);
    json_decref(json);
    tac_checkpoint_destroy(&c);
    return err;
}

/* Tells on a line what comes of reading a file: the code, and the sentence. */
static void try_one(struct tac_ctx *ctx, const char *path)
{
    struct tac_checkpoint *c = NULL;
    json_t *json = NULL;
    char *file = NULL, sha256[65] = "";
    ctx->error[0] = '\0';
    const enum tac_err err = tac_checkpoint_read(ctx, path, &file, &json, sha256, &c);
    CHECK((err == TAC_OK) == (c != NULL) && (err == TAC_OK) == (ctx->error[0] == '\0'), "all or nothing");
    printf("%d %s\n", (int)err, ctx->error);
    fflush(stdout); /* children have a copy of what is not out yet */
    free(file);
    json_decref(json);
    tac_checkpoint_destroy(&c);
}

static int files_in(const char *dir)
{
    int n = 0;
    DIR *folder = opendir(dir);
    for (const struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;)
        n += e->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    return n;
}

/* Fault after fault, until a write (or a read) goes through without one. */
static void try_faults(struct tac_ctx *ctx, const char *dir, uint64_t seed, const struct size *size, int *left,
                       bool reading)
{
    char name[64];
    CHECK(write_one(ctx, dir, seed, size, 1, name) == TAC_OK, "%s", ctx->error);
    const int files = files_in(dir);
    int tries = 0;
#ifdef __SANITIZE_ADDRESS__
    /* Slow: each attempt is a fork. Of several ranks no leaks are looked for, and a write that fails leaks what the one
     * before it does. */
    const int step = ctx->size > 1 || left == &writes_left ? 3 : 1;
#else
    const int step = 1;
#endif
    for (int at = 0; at < 1000; at++) {
        const int victim = tries % ctx->size;
        bool happened = false;
        faults = 0;
        *left = ctx->rank == victim ? at : -1;
        enum tac_err err = reading ? read_one(ctx, dir, seed, size) : write_one(ctx, dir, seed, size, 1, name);
        *left = -1;
        int any = faults > 0 || err; /* a child's faults are its own */
        MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, ctx->comm);
        happened = any > 0;
        if (!happened && victim == ctx->size - 1)
            break; /* nobody has so many */
        tries++;
        /* The link and what is too old come after the checkpoint has its name. */
        CHECK(happened ? err == TAC_ERR_RUN || err == TAC_OK : err == TAC_OK, "fault %d: %d %s", at, err, ctx->error);
        CHECK(err == TAC_OK || (ctx->error[0] != '\0' && strchr(ctx->error, '\n') == NULL), "fault %d: a sentence", at);
        MPI_Barrier(ctx->comm);
        CHECK(files_in(dir) == files, "fault %d: %d files instead of %d (%s)", at, files_in(dir), files, ctx->error);
        MPI_Barrier(ctx->comm);
        if (tries % 4 == 0)
            CHECK(read_one(ctx, dir, seed, size) == TAC_OK, "fault %d: the old one stands: %s", at, ctx->error);
        if (happened)
            at += victim < ctx->size - 1 ? -1 : step - 1; /* first the same on the next rank */
    }
    CHECK(tries > 2, "%d faults happened", tries);
    CHECK(write_one(ctx, dir, seed + 1, size, 1, name) == TAC_OK && read_one(ctx, dir, seed + 1, size) == TAC_OK,
          "afterwards all is well: %s", ctx->error);
}

static enum tac_err command(struct tac_ctx *ctx, int argc, char **argv)
{
    const struct size *size = &SIZES[0];
    if (argc > 0 && strcmp(argv[0], "try") == 0) {
        for (int i = 1; i < argc; i++)
            try_one(ctx, argv[i]);
        return TAC_OK;
    }
    if (argc < 4)
        return TAC_ERR_INPUT;
    const uint64_t seed = strtoull(argv[2], NULL, 10);
    char name[64];
    for (int k = 0; k < 3; k++)
        if (strcmp(SIZES[k].name, argv[3]) == 0)
            size = &SIZES[k];
    const int keep = argc > 4 ? atoi(argv[4]) : 2;
    if (ctx->rank == 0)
        mkdir(argv[1], 0777);
    if (strcmp(argv[0], "write") == 0)
        return write_one(ctx, argv[1], seed, size, keep, name);
    if (strcmp(argv[0], "read") == 0)
        return read_one(ctx, argv[1], seed, size);
    try_faults(ctx, argv[1], seed, size, strcmp(argv[0], "disk") == 0 ? &writes_left : &requests_left, false);
    if (strcmp(argv[0], "memory") == 0)
        try_faults(ctx, argv[1], seed, size, &requests_left, true);
    return TAC_OK;
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
        err = command(&ctx, end - i, argv + i);
    }
    if (err && ctx.rank == 0)
        fprintf(stderr, "tactus: %s\n", ctx.error);
    MPI_Finalize();
    return check_failed > 0 ? 1 : (int)err;
}
