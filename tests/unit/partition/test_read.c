/* test_read.c: a scene whose HDF5 meshes are spread over the ranks while it is read is, to the last bit and the last
 * word of a refusal, the scene that one rank reads.  If this fails, large scenes run otherwise than small ones. */
#include "check.h"

#include "partition/part.h"
#include "partition/read_pieces.h"
#include "scene/scene_read.h"
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>
#include <unistd.h>

void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

static long left = -1;          /* allocations until one fails; -1: none does */
static int64_t held, most_held; /* bytes */

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

static void *hold(void *memory)
{
    held += (int64_t)malloc_usable_size(memory);
    most_held = held > most_held ? held : most_held;
    return memory;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : hold(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : hold(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    if (fails())
        return NULL;
    const int64_t before = (int64_t)malloc_usable_size(memory);
    void *after = __real_realloc(memory, size);
    if (after != NULL)
        held -= before;
    return after != NULL ? hold(after) : NULL;
}

void __wrap_free(void *memory)
{
    held -= (int64_t)malloc_usable_size(memory);
    __real_free(memory);
}

static struct tac_ctx all, self;
static char folder[64];

static const char *path_to(const char *name)
{
    static char path[4][128];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

/* A sheet of n x n vertices in space, every eighth vertex doubled by one that nothing uses, with a chain of segments
 * along its first row. */
static struct tac_mesh *make_sheet(tac_lid n, bool unused, bool flat)
{
    struct tac_mesh *mesh = calloc(1, sizeof *mesh);
    tac_lid *number = calloc((size_t)(n * n), sizeof *number);
    mesh->x = calloc(6 * (size_t)(n * n), sizeof *mesh->x);
    mesh->triangle = calloc(6 * (size_t)(n * n), sizeof *mesh->triangle);
    mesh->segment = calloc(2 * (size_t)(n * n), sizeof *mesh->segment);
    for (tac_lid i = 0; i < n * n; i++) {
        for (int again = 0; again < (unused && i % 8 == 3 ? 2 : 1); again++) {
            double *x = mesh->x + 3 * (size_t)mesh->vertex_count;
            number[i] = mesh->vertex_count++;
            x[0] = i % n + .1 * tac_random(1, (uint64_t)i);
            x[1] = i / n + .1 * tac_random(2, (uint64_t)i);
            x[2] = flat ? -0.0 : tac_random(3, (uint64_t)i);
        }
    }
    for (tac_lid j = 0; j + 1 < n; j++)
        for (tac_lid i = 0; i + 1 < n && !flat; i++) {
            const tac_lid a = j * n + i, corner[6] = {a, a + 1, a + n + 1, a, a + n + 1, a + n};
            for (int k = 0; k < 6; k++)
                mesh->triangle[3 * mesh->triangle_count + k] = number[corner[k]];
            mesh->triangle_count += 2;
        }
    for (tac_lid i = 0; i + 1 < (flat ? n * n : n); i++) {
        mesh->segment[2 * i] = number[i + 1];
        mesh->segment[2 * i + 1] = number[i];
        mesh->segment_count++;
    }
    free(number);
    return mesh;
}

static void write_mesh(const struct tac_mesh *mesh, const char *name)
{
    if (all.rank == 0)
        CHECK(tac_mesh_write(&self, mesh, path_to(name)) == TAC_OK, "%s", self.error);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void write_scene(const char *text)
{
    if (all.rank == 0) {
        FILE *f = fopen(path_to("scene.json"), "wb");
        TAC_CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void compare_vertices(const struct tac_scene *w, const struct tac_pieces *p)
{
    tac_lid *motion = calloc((size_t)w->mesh->vertex_count, sizeof *motion);
    tac_lid *valence = calloc((size_t)w->mesh->vertex_count, sizeof *valence);
    for (tac_lid m = 0; m < w->settings->motion_count; m++)
        for (tac_lid k = 0; k < w->mesh->moved[m].vertex_count; k++)
            motion[w->mesh->moved[m].vertex[k]] = m + 1;
    for (tac_lid e = 0; e < 2 * w->mesh->topology->edge_count; e++)
        valence[w->mesh->topology->edge[e]]++;
    for (tac_lid i = 0; i < p->vertex_count; i++) {
        const tac_gid g = p->vertex_id[i];
        CHECK(g >= 0 && g < w->mesh->vertex_count && (i == 0 || p->vertex_id[i - 1] < g));
        CHECK(memcmp(p->x + 3 * i, w->mesh->x + 3 * g, 3 * sizeof(double)) == 0);
        CHECK(memcmp(p->v + 3 * i, w->mesh->v + 3 * g, 3 * sizeof(double)) == 0);
        CHECK(memcmp(p->mass + i, w->mesh->mass + g, sizeof(double)) == 0, "%.17g %.17g", p->mass[i], w->mesh->mass[g]);
        CHECK(p->ever_free[i] == w->mesh->ever_free[g] && p->body[i] == w->mesh->vertex_body[g]);
        CHECK(p->motion[i] == motion[g] - 1 && p->scripted[i] == (motion[g] > 0) && p->valence[i] == valence[g]);
    }
    free(motion);
    free(valence);
}

static void compare_elements(const struct tac_scene *w, const struct tac_pieces *p)
{
    for (tac_lid t = 0; t < p->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            CHECK(p->triangle[3 * t + k] == w->mesh->triangle[3 * p->triangle_id[t] + k]);
            CHECK(p->triangle_edge[3 * t + k] == w->mesh->topology->triangle_edge[3 * p->triangle_id[t] + k]);
        }
    for (tac_lid t = 0; t < p->tetrahedron_count; t++)
        for (int k = 0; k < 4; k++)
            CHECK(p->tetrahedron[4 * t + k] == w->mesh->tetrahedron[4 * p->tetrahedron_id[t] + k]);
    for (tac_lid s = 0; s < p->segment_count; s++) {
        for (int k = 0; k < 2; k++)
            CHECK(p->segment[2 * s + k] == w->mesh->segment[2 * p->segment_id[s] + k]);
        CHECK(w->mesh->topology->edge_segment[p->segment_edge[s]] == p->segment_id[s]);
    }
    const struct tac_topology *topo = w->mesh->topology;
    tac_lid at = 0;
    for (tac_lid h = 0; h < p->hinge_count; h++) {
        while (at < topo->hinge_count && topo->hinge_edge[at] < p->hinge_edge[h])
            at++;
        CHECK(at < topo->hinge_count && topo->hinge_edge[at] == p->hinge_edge[h]);
        for (int k = 0; k < 4 && at < topo->hinge_count; k++)
            CHECK(p->hinge[4 * h + k] == topo->hinge[4 * at + k]);
    }
    CHECK(p->edge_total == topo->edge_count);
}

/* Everything is on some rank, once. */
static void compare_counts(const struct tac_scene *w, const struct tac_scene *common, const struct tac_pieces *p)
{
    int64_t count[5] = {p->vertex_count, p->triangle_count, p->segment_count, p->hinge_count, p->tetrahedron_count};
    MPI_Allreduce(MPI_IN_PLACE, count, 5, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(count[0] == w->mesh->vertex_count && count[1] == w->mesh->triangle_count &&
          count[2] == w->mesh->segment_count);
    CHECK(count[3] == w->mesh->topology->hinge_count);
    CHECK(count[4] == w->mesh->tetrahedron_count && p->tetrahedron_total == w->mesh->tetrahedron_count);
    CHECK(p->vertex_total == w->mesh->vertex_count && common->mesh->vertex_count == w->mesh->vertex_count);
    CHECK(p->triangle_total == w->mesh->triangle_count && common->mesh->triangle_count == w->mesh->triangle_count);
    CHECK(p->segment_total == w->mesh->segment_count && common->mesh->segment_count == w->mesh->segment_count);
    CHECK(common->settings->two_d == w->settings->two_d && strcmp(common->settings->sha256, w->settings->sha256) == 0,
          "%s %s", common->settings->sha256, w->settings->sha256);
    CHECK(json_equal(common->settings->json, w->settings->json) && common->mesh->x == NULL &&
          common->mesh->triangle == NULL);
    for (tac_lid b = 0; b < w->settings->body_count; b++) {
        const struct tac_body *a = &w->settings->body[b], *c = &common->settings->body[b];
        CHECK(a->vertex_begin == c->vertex_begin && a->vertex_end == c->vertex_end);
        CHECK(a->triangle_begin == c->triangle_begin && a->triangle_end == c->triangle_end);
        CHECK(a->segment_begin == c->segment_begin && a->segment_end == c->segment_end);
        CHECK(a->has_elements == c->has_elements);
    }
}

/* Sentences of warnings: they are of the scene, and so the same on any number of ranks, but for the one that is about
 * the number of ranks itself. */
struct said {
    char text[4096];
    int ranks; /* how often that one was among them */
};

static void note(void *user, const char *sentence)
{
    struct said *said = user;
    const size_t length = strlen(said->text);
    if (strstr(sentence, "which are few for ") != NULL)
        said->ranks++;
    else
        snprintf(said->text + length, sizeof said->text - length, "%s\n", sentence);
}

static void compare_warnings(const char *what, const struct said *one, struct said *many)
{
    MPI_Bcast(many, sizeof *many, MPI_BYTE, 0, MPI_COMM_WORLD); /* rank 0 alone has them */
    CHECK(one->ranks == 0 && many->ranks <= (all.size >= 4), "%s: %d", what, many->ranks);
    CHECK(strcmp(one->text, many->text) == 0, "%s: \"%s\" and \"%s\"", what, one->text, many->text);
    CHECK(self.warnings + many->ranks == all.warnings, "%s: %d warnings and %d", what, self.warnings, all.warnings);
}

/* Reads the scene both ways; both must fail, or both give the same. `spread`: straight by the spread reader. */
static enum tac_err compare(const char *what, bool spread)
{
    struct tac_scene *whole = NULL, *common = NULL;
    struct tac_pieces *pieces = NULL;
    const char *path = path_to("scene.json");
    self.error[0] = all.error[0] = '\0';
    self.warnings = all.warnings = 0;
    struct said said[2] = {{"", 0}, {"", 0}};
    self.warned = all.warned = note;
    self.warned_user = &said[0];
    all.warned_user = &said[1];
    const enum tac_err one = tac_scene_read(&self, path, NULL, 0, &whole);
    const enum tac_err many = spread ? tac_scene_read_spread(&all, path, NULL, 0, 1, &common, &pieces)
                                     : tac_scene_read_pieces(&all, path, NULL, 0, &common, &pieces);
    CHECK(one == many && strcmp(self.error, all.error) == 0, "%s: %d \"%s\" and %d \"%s\"", what, (int)one, self.error,
          (int)many, all.error);
    CHECK((many == TAC_OK) == (common != NULL) && (many == TAC_OK) == (pieces != NULL));
    self.warned = all.warned = NULL;
    compare_warnings(what, &said[0], &said[1]);
    if (one == TAC_OK && many == TAC_OK) {
        compare_counts(whole, common, pieces);
        compare_vertices(whole, pieces);
        compare_elements(whole, pieces);
    }
    tac_scene_destroy(&whole);
    tac_scene_destroy(&common);
    tac_pieces_destroy(&pieces);
    return many;
}

#define HEAD                                                                                                           \
    "{\"format\": \"tactus-scene/1\", \"time\": {\"end\": 1, \"frame\": 0.1}, \"contact\": {\"thickness\": 0.01}, "
#define CLOTH(bend)                                                                                                    \
    "\"materials\": {\"m\": {\"density\": 0.3, \"stretch\": {\"model\": \"spring\", \"stiffness\": 1}" bend "}}, "
#define BEND ", \"bend\": {\"model\": \"hinge\", \"stiffness\": 1}"
#define GEL                                                                                                            \
    "\"materials\": {\"gel\": {\"density\": 900, \"solid\": {\"model\": \"neo-hookean\", \"youngs\": 1e4, "            \
    "\"poisson\": 0.3}}}, \"integrator\": {\"kind\": \"implicit\", \"step_s\": 0.1}, "
#define FILLED(cells) "\"mesh\": {\"kind\": \"box\", \"size\": [1, 0.7, 0.3], \"cells\": " cells ", \"fill\": \"tets\"}"
#define BLOCK(name, cells, y)                                                                                          \
    "{\"name\": \"" name "\", \"material\": \"gel\", \"position\": [0.1, " y ", 0], " FILLED(cells) "}"
#define SHEET(more)                                                                                                    \
    "{\"name\": \"s\", \"material\": \"m\", \"mesh\": {\"kind\": \"file\", \"path\": \"sheet.h5\"}" more "}"

static const char *const GOOD[] = {
    HEAD CLOTH(BEND) "\"bodies\": [" SHEET("") "]}",
    /* Several bodies, all that makes velocities, all selections. */
    HEAD CLOTH(BEND) "\"bodies\": [{\"name\": \"a\", \"mass\": 0.1, \"mesh\": {\"kind\": \"sphere\", "
                     "\"radius\": 1}}, " SHEET(", \"position\": [3, 0.1, 7], \"rotation\": [10, 20, 30], "
                                               "\"scale\": 0.37, \"angular_velocity\": [1, 2, 3],"
                                               " \"velocity\": [0, 0, 1], \"random_speed\": [0.1, 0.4], "
                                               "\"seed\": 7") ", "
                                                              "{\"name\": \"p\", \"mass\": 2, "
                                                              "\"random_speed\": [1, 2], \"mesh\": {\"kind\": "
                                                              "\"points\", \"lattice\": "
                                                              "{\"count\": [20, 20, 20], \"spacing\": 9}}}, "
                                                              "{\"name\": \"r\", \"fixed\": true, \"mesh\": "
                                                              "{\"kind\": \"file\", \"path\": \"sheet.h5\"}, "
                                                              "\"position\": [0, "
                                                              "-500, 0]}], "
                                                              "\"motions\": [{\"body\": \"s\", \"vertices\": "
                                                              "{\"box\": [[-99, -99, -99], [9, 9, 9]]}, "
                                                              "\"path\": [[0, [0, 0, "
                                                              "0]]]}, {\"body\": \"p\", \"release\": true, "
                                                              "\"vertices\": [7, 0, 7999, 4096, 4095], "
                                                              "\"path\": [[0, [0, 0, "
                                                              "0]]]}, {\"body\": \"a\", \"rotate\": {\"axis\": "
                                                              "[1, 2, 3], \"path\": [[0, 0], [1, 90]]}}]}",
    /* A kind that is made by blocks, odd and even. */
    HEAD CLOTH(BEND) "\"bodies\": [{\"name\": \"g\", \"material\": \"m\", \"angular_velocity\": [0, 1, 0], \"mesh\": "
                     "{\"kind\": \"grid\", \"size\": [1, 0.7], \"cells\": [71, 60]}}, " SHEET(
                         ", \"position\": [0, 9, 0]") "]}",
    /* Solids that are made by blocks: one cell; one layer; more rows than a chunk has; and, fixed, a surface. */
    HEAD GEL "\"bodies\": [" BLOCK("a", "[1, 1, 1]", "0") ", " BLOCK("b", "[1, 7, 2]", "2") ", " BLOCK(
        "c", "[3, 1, 4]", "4") ", " BLOCK("d", "[20, 17, 9]",
                                          "6") ", {\"name\": \"e\", \"fixed\": true, "
                                               "\"position\": [0, 8, 0], " FILLED("[6, 5, 4]") "}]}",
    HEAD GEL "\"bodies\": [" BLOCK("a", "[4, 5, 1]", "0") ", " BLOCK(
        "b", "[2, 2, 2]",
        "2") ", {\"name\": \"s\", "
             "\"mass\": 1, \"mesh\": {\"kind\": \"file\", \"path\": \"sheet.h5\"}, \"position\": [0, 9, 0]}]}",
    /* In the plane. */
    HEAD CLOTH("") "\"bodies\": [{\"name\": \"s\", \"material\": \"m\", \"random_speed\": [1, 2], \"mesh\": "
                   "{\"kind\": "
                   "\"file\", \"path\": \"flat.h5\"}}]}",
};

static const char *const BAD[] = {
    /* Solids that could be made by blocks, but for an error: flat cells, more cells than may be, no solid, a typo. */
    HEAD GEL "\"bodies\": [{\"name\": \"a\", \"material\": \"gel\", \"mesh\": {\"kind\": \"box\", \"size\": "
             "[1, 1e-13, 1], \"cells\": [2, 1, 2], \"fill\": \"tets\"}}]}",
    HEAD GEL "\"bodies\": [" BLOCK("a", "[1000, 1000, 100]", "0") "]}",
    HEAD GEL "\"bodies\": [" BLOCK("a", "[2, 0, 1]", "0") "]}",
    HEAD CLOTH("") "\"bodies\": [{\"name\": \"a\", \"material\": \"m\", " FILLED("[2, 2, 2]") "}]}",
    HEAD GEL "\"bodies\": [{\"name\": \"a\", \"material\": \"gel\", \"mesh\": {\"kind\": \"box\", \"size\": "
             "[1, 1, 1], \"cells\": [2, 1, 2], \"fill\": \"cubes\"}}]}",
    HEAD GEL "\"bodies\": [{\"name\": \"a\", \"material\": \"gel\", \"mesh\": {\"kind\": \"grid\", \"size\": "
             "[1, 1], \"cells\": [90, 90]}}]}",
    HEAD GEL "\"bodies\": [{\"name\": \"a\", \"material\": \"gel\", \"mesh\": {\"kind\": \"box\", \"size\": "
             "[1e101, 1e101, 1e101], \"cells\": [4, 4, 4], \"fill\": \"tets\"}}]}",
    HEAD CLOTH("") "\"bodies\": [" SHEET(", \"scale\": 1e60") "]}",
    HEAD CLOTH("") "\"bodies\": [" SHEET(", \"velocity\": [1e50, 0, 0], \"random_speed\": [0, 1e50]") "]}",
    HEAD CLOTH("") "\"bodies\": [" SHEET(", \"position\": [1e40, 1e40, 1e40]") "]}",
    HEAD "\"bodies\": [{\"name\": \"s\", \"mesh\": {\"kind\": \"file\", \"path\": \"sheet.h5\"}}]}",
    HEAD "\"bodies\": [{\"name\": \"s\", \"mesh\": {\"kind\": \"file\", \"path\": \"missing.h5\"}}]}",
    HEAD "\"bodies\": [{\"name\": \"s\", \"mesh\": {\"kind\": \"file\", \"path\": \"sheet.h5\", \"also\": 1}}]}",
    HEAD CLOTH("") "\"bodies\": [" SHEET("") ", " SHEET("") "]}",
    HEAD CLOTH("") "\"bodies\": [" SHEET(
        "") "], \"motions\": [{\"body\": \"s\", \"vertices\": {\"box\": [[-9, -9, -9], "
            "[-8, -8, -8]]}, \"path\": [[0, [0, 0, 0]]]}]}",
    HEAD CLOTH("") "\"bodies\": [" SHEET("") "], \"motions\": [{\"body\": \"s\", \"vertices\": [99999999], \"path\": "
                                             "[[0, [0, 0, 0]]]}]}",
    HEAD CLOTH("") "\"bodies\": [" SHEET("") "], \"motions\": [{\"body\": \"s\", \"vertices\": [5000], \"path\": [[0, "
                                             "[0, 0, 0]]]}, {\"body\": \"s\", \"path\": [[0, [0, 0, 0]]]}]}",
    HEAD "\"bodies\": [",
    HEAD CLOTH("") "\"bodies\": [{\"name\": \"g\", \"material\": \"m\", \"mesh\": {\"kind\": \"grid\", \"size\": "
                   "[1e-110, 1e-110], \"cells\": [71, 60]}}]}",
    HEAD CLOTH("") "\"bodies\": [{\"name\": \"g\", \"material\": \"m\", \"mesh\": {\"kind\": \"grid\", \"size\": "
                   "[1, 1], \"cells\": [71, 0]}}]}",
    HEAD CLOTH("") "\"bodies\": [{\"name\": \"g\", \"material\": \"m\", \"mesh\": {\"kind\": \"grid\", \"size\": "
                   "[1, 1], \"cells\": [70000, 70000]}}]}",
};

/* A lattice of more points than a mesh may have. */
static const char *const TOO_MANY = HEAD "\"bodies\": [{\"name\": \"p\", \"mass\": 1, \"mesh\": {\"kind\": \"points\", "
                                         "\"lattice\": {\"count\": [2000000, 2000000, 2000000], \"spacing\": 1}}}]}";

static const char *const SHEET_ONLY = HEAD CLOTH(BEND) "\"bodies\": [" SHEET("") "]}";

/* One thing wrong in the file, at its beginning, in the middle and at its end. */
static void spoil(struct tac_mesh *mesh, int what, int where)
{
    const tac_lid t = where * (mesh->triangle_count - 2) / 2 + 1, s = where * (mesh->segment_count - 2) / 2 + 1;
    const tac_lid i = where * (mesh->vertex_count - 1) / 2;
    tac_lid *triangle = mesh->triangle + 3 * t, *segment = mesh->segment + 2 * s;
    switch (what) {
    case 0:
        mesh->x[3 * i + 1] = NAN;
        break;
    case 1:
        triangle[2] = mesh->vertex_count;
        break;
    case 2:
        triangle[2] = triangle[0];
        break;
    case 3:
        segment[1] = -5;
        break;
    case 4:
        segment[0] = segment[1];
        break;
    case 5:
        memcpy(mesh->x + 3 * triangle[1], mesh->x + 3 * triangle[0], 3 * sizeof(double));
        break;
    case 6: /* the one before, turned */
        for (int k = 0; k < 3; k++)
            triangle[k] = mesh->triangle[(t * 5 / 7) * 3 + (k + 1) % 3];
        break;
    case 7:
        segment[0] = segment[-1];
        segment[1] = segment[-2];
        break;
    case 8: /* a third triangle at some edge */
        triangle[2] = i;
        break;
    default:
        for (tac_lid k = 0; k < 3 * mesh->vertex_count; k++)
            mesh->x[k] *= 1e-110; /* squares underflow */
    }
}

static void check_spoilt(void)
{
    write_scene(SHEET_ONLY);
    for (int what = 0; what < 10; what++) {
        int refused = 0;
        for (int where = 0; where < 3; where++) {
            struct tac_mesh *mesh = make_sheet(70, true, false);
            char name[32];
            snprintf(name, sizeof name, "spoilt %d %d", what, where);
            spoil(mesh, what, where);
            write_mesh(mesh, "sheet.h5");
            refused += compare(name, true) == TAC_ERR_INPUT;
            tac_mesh_destroy(&mesh);
        }
        CHECK(refused > 0, "%d is never refused", what);
    }
    /* Cut off: not all ranks may see the damage. */
    for (int part = 1; part < 8; part++) {
        struct tac_mesh *mesh = make_sheet(70, false, false);
        write_mesh(mesh, "sheet.h5");
        FILE *f = fopen(path_to("sheet.h5"), "rb");
        TAC_CHECK(f != NULL && fseek(f, 0, SEEK_END) == 0);
        const long size = ftell(f);
        fclose(f);
        MPI_Barrier(MPI_COMM_WORLD);
        if (all.rank == 0)
            CHECK(truncate(path_to("sheet.h5"), size * part / 8) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(compare("cut off", true) == TAC_ERR_INPUT);
        tac_mesh_destroy(&mesh);
    }
}

/* Every allocation of the first and the last rank fails once: all ranks say so, and none waits. */
static void check_faults(const char *text)
{
    struct tac_mesh *mesh = make_sheet(8, true, false);
    struct tac_scene *whole = NULL;
    char got[sizeof whole->settings->sha256];
    long failed = 0;
    write_mesh(mesh, "sheet.h5");
    tac_mesh_destroy(&mesh);
    write_scene(text);
    CHECK(tac_scene_read(&self, path_to("scene.json"), NULL, 0, &whole) == TAC_OK, "%s", self.error);
    for (int rank = 0; rank<all.size; rank += all.size> 1 ? all.size - 1 : 1)
        for (long n = rank % 3;; n += all.size > 1 ? 3 : 1) { /* on several ranks every third: each takes a while */
            struct tac_scene *common = NULL;
            struct tac_pieces *pieces = NULL;
            all.error[0] = '\0';
            left = all.rank == rank ? n : -1;
            const enum tac_err err = tac_scene_read_spread(&all, path_to("scene.json"), NULL, 0, 1, &common, &pieces);
            int done = all.rank == rank && left >= 0;
            left = -1;
            MPI_Bcast(&done, 1, MPI_INT, rank, MPI_COMM_WORLD);
            strcpy(got, common ? common->settings->sha256 : "");
            tac_scene_destroy(&common);
            tac_pieces_destroy(&pieces);
            if (done) {
                CHECK(err == TAC_OK, "%s", all.error);
                break;
            }
            failed++;
            /* Arrays that cannot be cut to size stay larger: that is no failure, and the scene is right. */
            CHECK(err == TAC_ERR_RUN || (err == TAC_OK && strcmp(got, whole->settings->sha256) == 0), "%ld: %d %s", n,
                  (int)err, all.error);
        }
    CHECK(failed > 50, "only %ld allocations failed", failed);
    tac_scene_destroy(&whole);
}

/* A scene that is large by its many bodies, none of which is large, is on no rank whole, and no rank has much more of
 * it than the others. */
static void check_many(const char *mesh, bool by_bytes)
{
    enum { BODIES = 20 };
    struct tac_scene *whole = NULL, *common = NULL;
    struct tac_pieces *pieces = NULL;
    char text[BODIES * 256 + 256];
    int n = snprintf(text, sizeof text, "%s", HEAD CLOTH(BEND) "\"bodies\": [");
    for (int k = 0; k < BODIES; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s{\"name\": \"%d\", %s, \"position\": [0, %d, 0]}",
                      k > 0 ? ", " : "", k, mesh, 9 * k);
    snprintf(text + n, sizeof text - (size_t)n, "]}");
    write_scene(text);
    CHECK(compare(mesh, false) == TAC_OK, "%s", all.error);
    int64_t before = held;
    most_held = held;
    CHECK(tac_scene_read(&self, path_to("scene.json"), NULL, 0, &whole) == TAC_OK, "%s", self.error);
    const int64_t one = most_held - before;
    before = most_held = held;
    CHECK(tac_scene_read_pieces(&all, path_to("scene.json"), NULL, 0, &common, &pieces) == TAC_OK, "%s", all.error);
    const int64_t many = most_held - before;
    CHECK(all.size == 1 || !by_bytes || many * all.size < 3 * one, "%" PRId64 " bytes, and %" PRId64 " on one rank",
          many, one);
    CHECK(pieces->vertex_count * all.size < 2 * pieces->vertex_total, "%d vertices of %d", (int)pieces->vertex_count,
          (int)pieces->vertex_total);
    tac_scene_destroy(&whole);
    tac_scene_destroy(&common);
    tac_pieces_destroy(&pieces);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&all, MPI_COMM_WORLD);
    tac_ctx_init(&self, MPI_COMM_SELF);
    all.quiet = self.quiet = true;
    strcpy(folder, "/tmp/tactus-read-XXXXXX");
    if (all.rank == 0)
        TAC_CHECK(mkdtemp(folder) != NULL);
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    struct tac_mesh *flat = make_sheet(70, false, true);
    write_mesh(flat, "flat.h5");
    tac_mesh_destroy(&flat);
    for (tac_lid n = 110; n > 1; n = n == 110 ? 64 : n / 16) {
        struct tac_mesh *sheet = make_sheet(n, n % 64 != 0, false);
        write_mesh(sheet, "sheet.h5");
        tac_mesh_destroy(&sheet);
        for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
            write_scene(GOOD[i]);
            const enum tac_err err = compare(GOOD[i], true);
            CHECK(err == TAC_OK, "%s", all.error);
        }
        for (size_t i = 0; i < sizeof BAD / sizeof *BAD && n > 64; i++) {
            write_scene(BAD[i]);
            CHECK(compare(BAD[i], true) == TAC_ERR_INPUT, "%s", BAD[i]);
        }
    }
    write_scene(TOO_MANY);
    CHECK(compare(TOO_MANY, true) == TAC_ERR_INPUT);
    check_spoilt();
    check_many("\"mass\": 1, \"mesh\": {\"kind\": \"points\", \"lattice\": {\"count\": [22, 22, 22], \"spacing\": 1}}",
               true);
    check_many("\"material\": \"m\", \"mesh\": {\"kind\": \"grid\", \"size\": [1, 1], \"cells\": [60, 60]}", false);
    check_faults(GOOD[1]);
    check_faults(GOOD[2]);
    /* Large enough that the public door spreads it. */
    struct tac_mesh *large = make_sheet(300, true, false);
    write_mesh(large, "sheet.h5");
    tac_mesh_destroy(&large);
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        write_scene(GOOD[i]);
        CHECK(compare(GOOD[i], false) == TAC_OK, "%s", all.error);
    }
    if (all.rank == 0) {
        remove(path_to("sheet.h5"));
        remove(path_to("flat.h5"));
        remove(path_to("scene.json"));
        CHECK(rmdir(folder) == 0);
    }
    int failed = check_result();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
