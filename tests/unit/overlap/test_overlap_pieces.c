/* test_overlap_pieces.c: random scenes that overlap here and there, looked at whole and in pieces, in one region and in
 * as many as there are ranks: the same sentence and the same file.  If this fails, a scene that should be refused runs
 * on several ranks, or is refused with other words. */
#include "check.h"

#include "build_scene.h"
#include "overlap/overlap.h"
#include "partition/part.h"
#include <tactus/math.h>
#include <unistd.h>

static struct tac_ctx ctx;
static uint64_t seed, counter;

static double draw(double low, double high)
{
    return low + (high - low) * tac_random(seed, counter++);
}

/* A sheet of triangles with bumps, a chain of segments, or particles. */
static void add_random(struct tac_scene *scene, int kind, double spread, bool flat)
{
    enum { SIDE = 9, MOST = 2 * SIDE * SIDE };
    double x[MOST][3], shift[3] = {draw(0, spread), draw(0, spread), flat ? 0 : draw(0, spread)};
    tac_lid triangle[MOST][3], segment[MOST][2], n = 0, t = 0, s = 0;
    char name[32];
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++, n++) {
            const double at[3] = {i, j, draw(-.2, .2)}, loose[3] = {draw(0, SIDE), draw(0, SIDE), draw(0, SIDE)};
            for (int k = 0; k < 3; k++)
                x[n][k] = flat && k == 2 ? 0 : kind == 0 ? at[k] : loose[k];
            if (kind == 0 && i > 0 && j > 0) {
                memcpy(triangle[t++], (tac_lid[]){n - SIDE - 1, n - SIDE, n - 1}, sizeof triangle[0]);
                memcpy(triangle[t++], (tac_lid[]){n - SIDE, n, n - 1}, sizeof triangle[0]);
            }
            if ((kind == 1 && n > 0) || (kind == 0 && n % 7 == 1)) /* of a sheet: also along edges of triangles */
                memcpy(segment[s++], (tac_lid[]){n - 1, n}, sizeof segment[0]);
        }
    snprintf(name, sizeof name, "body %d", (int)scene->settings->body_count);
    struct tac_body *body =
        build_body(scene, name, draw(0, 1) < .7, draw(0, 1) < .5 ? 0 : draw(0, .3), shift, (const double(*)[3])x, n,
                   (const tac_lid(*)[3])triangle, t, (const tac_lid(*)[2])segment, s);
    body->self_contact = draw(0, 1) < .8;
}

static struct tac_scene *make(bool flat, int kinds)
{
    struct tac_scene *scene = build_scene();
    const int bodies = 1 + (int)draw(0, 9);
    const double spread = draw(0, 1) < .5 ? 10 : 60;
    for (int b = 0; b < bodies; b++)
        add_random(scene, flat ? 1 + (int)draw(0, 2) : (int)draw(0, kinds), spread, flat);
    if (bodies > 1 && draw(0, 1) < .3)
        scene->settings->contact.ignore[2 * scene->settings->contact.ignore_count++ + 1] = 1; /* 0 and 1 */
    build_finish(&ctx, scene);
    scene->mesh->v = calloc(3 * BUILD_MOST, sizeof *scene->mesh->v);
    scene->mesh->mass = calloc(BUILD_MOST, sizeof *scene->mesh->mass);
    return scene;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return strdup("(no file)");
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    char *text = calloc(1, (size_t)size + 1);
    rewind(file);
    CHECK(fread(text, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    unlink(path);
    return text;
}

/* The sentence and the file of a check; regions < 0: of the whole scene. */
static void look(const struct tac_scene *scene, const struct tac_pieces *pieces, int regions, const char *dir,
                 char *sentence, char **file)
{
    char path[256];
    ctx.error[0] = '\0';
    enum tac_err err =
        regions < 0 ? tac_overlap_check(&ctx, scene, dir) : tac_overlap_check_pieces(&ctx, scene, pieces, regions, dir);
    snprintf(sentence, sizeof ctx.error, "%d %.2000s", (int)err, ctx.error);
    snprintf(path, sizeof path, "%s/overlaps.obj", dir);
    MPI_Barrier(ctx.comm);
    *file = ctx.rank == 0 ? read_file(path) : NULL;
    MPI_Barrier(ctx.comm);
}

int main(int argc, char **argv)
{
    char dir[64] = "/tmp/tactus-pieces-XXXXXX", expected[sizeof ctx.error + 16], got[sizeof ctx.error + 16];
    int refused = 0, passed = 0;
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    if (ctx.rank == 0)
        CHECK(mkdtemp(dir) != NULL);
    MPI_Bcast(dir, sizeof dir, MPI_CHAR, 0, ctx.comm);
    for (seed = 1; seed <= 60; seed++) {
        counter = 0;
        struct tac_scene *scene = make(seed % 4 == 0, seed % 4 == 1 ? 1 : 3);
        struct tac_pieces *pieces = NULL;
        char *one, *other;
        CHECK(tac_pieces_from_scene(&ctx, scene, &pieces) == TAC_OK && tac_pieces_topology(&ctx, pieces) == TAC_OK);
        look(scene, NULL, -1, dir, expected, &one);
        const bool bad = expected[0] != '0';
        refused += bad;
        passed += !bad;
        for (int regions = 0; regions <= ctx.size; regions++) {
            look(scene, pieces, regions, dir, got, &other);
            /* tac_overlap_check() on several ranks names the file on rank 0 alone. */
            CHECK(strcmp(expected, got) == 0 || (ctx.rank > 0 && bad && got[0] == expected[0]),
                  "scene %d, %d regions: '%s', not '%s'", (int)seed, regions, got, expected);
            CHECK(ctx.rank > 0 || strcmp(one, other) == 0, "scene %d, %d regions: another file", (int)seed, regions);
            free(other);
        }
        free(one);
        free(scene->mesh->v);
        free(scene->mesh->mass);
        tac_pieces_destroy(&pieces);
        build_destroy(&scene);
    }
    CHECK(refused >= 10 && passed >= 5, "%d refused, %d passed: too few of one kind", refused, passed);
    if (ctx.rank == 0)
        rmdir(dir);
    MPI_Finalize();
    return check_result();
}
