/* Scenes with a known answer: what is refused, what is allowed, and how it is told. */
#include "check.h"
#include "overlap/distance.h"
#include "overlap/overlap.h"
#include "unit/overlap/build_scene.h"

#include <math.h>
#include <tactus/math.h>
#include <unistd.h>

static struct tac_ctx ctx = {.size = 1}; /* a rank alone needs no MPI */

static const double square_x[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
static const tac_lid square_t[2][3] = {{0, 1, 3}, {0, 3, 2}};
static const double rope_x[2][3] = {{0, 0, 0}, {1, 0, 0}};
static const tac_lid rope_s[1][2] = {{0, 1}};

static struct tac_body *add_cube(struct tac_scene *scene, const char *name, bool is_free, double radius, double x,
                                 double y, double z)
{
    return build_body(scene, name, is_free, radius, (double[]){x, y, z}, cube_x, 8, cube_t, 12, NULL, 0);
}

static struct tac_overlaps *find(struct tac_scene *scene)
{
    struct tac_overlaps *found = NULL;
    build_finish(&ctx, scene);
    CHECK(tac_overlap_find(&ctx, scene, &found) == TAC_OK, "%s", ctx.error);
    return found;
}

/* How many overlaps of a kind (-1: any) the scene has. */
static size_t count(struct tac_scene *scene, int kind)
{
    struct tac_overlaps *found = find(scene);
    size_t n = 0;
    for (size_t i = 0; i < found->count; i++)
        n += kind < 0 || (int)found->overlap[i].kind == kind;
    tac_overlap_destroy(&found);
    return n;
}

static void test_cubes(void)
{
    struct tac_scene *scene = build_scene();
    add_cube(scene, "a", true, 0, 0, 0, 0);
    CHECK(count(scene, -1) == 0, "a cube alone");
    add_cube(scene, "b", false, 0, 0.5, 0.25, 0.75);
    CHECK(count(scene, TAC_OVERLAP_EDGE_TRIANGLE) >= 6, "crossing cubes");
    scene->settings->contact.thickness = 0;
    CHECK(count(scene, -1) == 0, "no contact at all");
    scene->settings->contact.thickness = 0.01;
    scene->settings->contact.ignore_count = 1;
    scene->settings->contact.ignore[0] = 1;
    scene->settings->contact.ignore[1] = 0;
    CHECK(count(scene, -1) == 0, "bodies that ignore each other");
    scene->settings->contact.ignore_count = 0;
    memset(scene->mesh->ever_free, 0, 16);
    CHECK(count(scene, -1) == 0, "two obstacles");
    scene->mesh->ever_free[7] = 1; /* the corner of `a` inside `b` */
    CHECK(count(scene, -1) > 0, "one free vertex");
    build_destroy(&scene);
}

static void test_touching_faces(void)
{
    /* Faces in one plane: first along axes, then turned, where rounding decides on which side each vertex comes. */
    for (int turn = 0; turn < 20; turn++) {
        struct tac_scene *scene = build_scene();
        double rotation[9], shift = turn == 0 ? 0 : 3.7 * turn;
        add_cube(scene, "a", true, 0, 0, 0, 0);
        add_cube(scene, "b", true, 0, 0.3, 0.4, 1);
        tac_rotation((double[]){0.1 * turn, 0.2 * turn, 0.37 * turn}, rotation);
        for (int i = 0; i < 16; i++) {
            double p[3] = {scene->mesh->x[3 * i], scene->mesh->x[3 * i + 1], scene->mesh->x[3 * i + 2]};
            for (int k = 0; k < 3; k++)
                scene->mesh->x[3 * i + k] = shift + tac_dot(rotation + 3 * k, p);
        }
        struct tac_overlaps *found = find(scene);
        size_t vertex_face = 0, edge_edge = 0;
        for (size_t i = 0; i < found->count; i++) {
            vertex_face += found->overlap[i].kind == TAC_OVERLAP_VERTEX_TRIANGLE;
            edge_edge += found->overlap[i].kind == TAC_OVERLAP_EDGE_EDGE;
            CHECK(fabs(found->overlap[i].gap) < 1e-12, "gap %g", found->overlap[i].gap);
            if (turn == 0)
                CHECK(fabs(found->overlap[i].place[2] - 1) < 1e-12, "place %g", found->overlap[i].place[2]);
        }
        CHECK(vertex_face >= 2, "turn %d: %zu of 2 corners lie on the other's face", turn, vertex_face);
        CHECK(edge_edge >= 4, "turn %d: %zu edges meet", turn, edge_edge);
        tac_overlap_destroy(&found);
        build_destroy(&scene);
    }
}

static void test_nested_and_near(void)
{
    struct tac_scene *scene = build_scene();
    add_cube(scene, "outer", true, 0, 0, 0, 0);
    double small[8][3];
    for (int i = 0; i < 24; i++)
        small[i / 3][i % 3] = 0.25 + 0.5 * cube_x[i / 3][i % 3];
    build_body(scene, "inner", true, 0, NULL, small, 8, cube_t, 12, NULL, 0);
    CHECK(count(scene, -1) == 0, "nested shells do not cross");
    scene->settings->body[0].radius = scene->settings->body[1].radius = 0.124;
    CHECK(count(scene, -1) == 0, "0.25 apart, radii 0.248");
    scene->settings->body[0].radius = 0.1261;
    struct tac_overlaps *found = find(scene);
    CHECK(found->count >= 8, "radii 0.2501");
    CHECK(found->count && fabs(found->overlap[0].gap + 0.0001) < 1e-12, "gap %g", found->overlap[0].gap);
    tac_overlap_destroy(&found);
    build_destroy(&scene);

    /* Within a body a radius beyond the spacing is shrunk; crossing itself is not forgiven. */
    scene = build_scene();
    struct tac_body *body = add_cube(scene, "a", true, 5, 0, 0, 0);
    CHECK(count(scene, -1) == 0, "radius within a body");
    double twice[8][3];
    tac_lid both[8][3];
    for (int i = 0; i < 24; i++) {
        twice[i / 3][i % 3] = tetrahedron_x[i / 3 % 4][i % 3] + (i < 12 ? 0 : 0.2);
        both[i / 3][i % 3] = tetrahedron_t[i / 3 % 4][i % 3] + (i < 12 ? 0 : 4);
    }
    build_destroy(&scene);
    scene = build_scene();
    body = build_body(scene, "twice", true, 5, NULL, twice, 8, both, 8, NULL, 0);
    CHECK(count(scene, TAC_OVERLAP_EDGE_TRIANGLE) > 0, "a mesh through itself");
    body->self_contact = false;
    CHECK(count(scene, -1) == 0, "self: false");
    build_destroy(&scene);
}

static void test_particles_and_segments(void)
{
    struct tac_scene *scene = build_scene();
    double gas[3][3] = {{0, 0, 0}, {1, 0, 0}, {5, 5, 5}};
    build_body(scene, "gas", true, 0.5, NULL, gas, 3, NULL, 0, NULL, 0);
    CHECK(count(scene, TAC_OVERLAP_VERTEX_VERTEX) == 1, "balls that touch");
    scene->settings->body[0].radius = 0.49;
    CHECK(count(scene, -1) == 0, "balls apart");
    build_body(scene, "rope", true, 0.1, (double[]){4.2, 5, 5.55}, rope_x, 2, NULL, 0, rope_s, 1);
    struct tac_overlaps *found = find(scene);
    CHECK(found->count == 1 && found->overlap[0].kind == TAC_OVERLAP_VERTEX_EDGE, "%zu", found->count);
    CHECK(found->count && fabs(found->overlap[0].gap - (0.55 - 0.59)) < 1e-12, "gap %g", found->overlap[0].gap);
    tac_overlap_destroy(&found);
    build_destroy(&scene);

    scene = build_scene();
    build_body(scene, "sheet", false, 0, NULL, square_x, 4, square_t, 2, NULL, 0);
    double through[3][3] = {{0.3, 0.6, -1}, {0.3, 0.6, 1}, {0.8, 0.1, 2}};
    tac_lid chain[2][2] = {{0, 1}, {1, 2}};
    build_body(scene, "rope", true, 0, NULL, through, 3, NULL, 0, chain, 2);
    found = find(scene);
    CHECK(found->count == 1 && found->overlap[0].kind == TAC_OVERLAP_EDGE_TRIANGLE, "%zu", found->count);
    /* The way out: 0.3 over the sheet's edge x = 0, 0.4 over y = 1, 1 up or down, or 0.3/sqrt 2 over the diagonal
     * of the one triangle it stands in. */
    CHECK(found->count && fabs(found->overlap[0].gap + 0.3 / sqrt(2)) < 1e-12, "gap %.17g", found->overlap[0].gap);
    tac_overlap_destroy(&found);
    build_destroy(&scene);

    /* A rope folded back onto itself touches where the edges share a vertex. */
    scene = build_scene();
    double folded[3][3] = {{0, 0, 1}, {1, 0, 1}, {0.5, 0, 1}};
    build_body(scene, "rope", true, 0, NULL, folded, 3, NULL, 0, chain, 2);
    CHECK(count(scene, TAC_OVERLAP_VERTEX_EDGE) == 1, "folded rope");
    build_destroy(&scene);
}

static void test_two_d(void)
{
    struct tac_scene *scene = build_scene();
    double slant[2][3] = {{0.2, -0.5, 0}, {0.8, 0.5, 0}}, dot[1][3] = {{3, 0, 0}};
    build_body(scene, "a", true, 0, NULL, rope_x, 2, NULL, 0, rope_s, 1);
    build_body(scene, "b", true, 0, NULL, slant, 2, NULL, 0, rope_s, 1);
    build_body(scene, "c", true, 0.5, NULL, dot, 1, NULL, 0, NULL, 0);
    struct tac_overlaps *found = find(scene);
    CHECK(scene->settings->two_d);
    CHECK(found->count == 1 && found->overlap[0].kind == TAC_OVERLAP_EDGE_CROSSES_EDGE, "%zu", found->count);
    CHECK(found->count && fabs(found->overlap[0].gap + 0.5 * 1 / hypot(1, 0.6)) < 1e-12, "gap %.17g",
          found->overlap[0].gap);
    tac_overlap_destroy(&found);
    for (int i = 0; i < 4; i++) /* b onto a's end, c onto b */
        scene->mesh->x[3 * 2 + i % 2 + 3 * (i / 2)] += i % 2 == 0 ? 0.5 : 0.5;
    scene->mesh->x[3 * 4] = 1.5;
    scene->mesh->x[3 * 4 + 1] = 1;
    found = find(scene);
    size_t end = 0, ball = 0;
    for (size_t i = 0; i < found->count; i++) {
        end += found->overlap[i].kind == TAC_OVERLAP_VERTEX_EDGE && found->overlap[i].element[0] < 4;
        ball += found->overlap[i].kind == TAC_OVERLAP_VERTEX_EDGE && found->overlap[i].element[0] == 4;
    }
    CHECK(end == 1 && ball == 1 && found->count == 2, "%zu %zu of %zu", end, ball, found->count);
    tac_overlap_destroy(&found);
    build_destroy(&scene);
}

static void test_slivers(void)
{
    /* Points exactly on slivers: in floating point the distance of some is well above what counts as touching; the
     * predicates know. */
    int beyond = 0;
    for (uint64_t i = 0; i < 400; i++) {
        struct tac_scene *scene = build_scene();
        double x[3][3] = {{0}}, on[1][3], place[3];
        for (int k = 0; k < 3; k++) { /* 50 bits below 1: rounding in the products, none in the point */
            x[1][k] = ldexp(floor(ldexp(tac_random(3, 8 * i + (uint64_t)k), 50)), -50);
            double off = floor(ldexp(tac_random(4, 8 * i + (uint64_t)k), (int)(i % 30)));
            x[2][k] = 0.5 * x[1][k] + ldexp(off, -40);
            on[0][k] = 0.25 * x[1][k] + 0.5 * x[2][k];
        }
        build_body(scene, "sliver", false, 0, NULL, x, 3, (const tac_lid[1][3]){{0, 1, 2}}, 1, NULL, 0);
        build_body(scene, "ball", true, 0, NULL, on, 1, NULL, 0, NULL, 0);
        beyond += tac_distance_vertex_triangle(on[0], x[0], x[1], x[2], place) > 4 * TAC_OVERLAP_TOUCH;
        CHECK(count(scene, TAC_OVERLAP_VERTEX_TRIANGLE) == 1, "on sliver %d", (int)i);
        build_destroy(&scene);
    }
    printf("%d of 400 slivers need the predicates\n", beyond);
    CHECK(beyond > 0, "no sliver needs the predicates");
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    CHECK(file != NULL, "%s is missing", path);
    if (file == NULL)
        exit(check_result());
    char *text = calloc(1, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static void test_sentence(void)
{
    char dir[] = "/tmp/tactus-overlap-XXXXXX", run[128], path[256];
    CHECK(mkdtemp(dir) != NULL);
    snprintf(run, sizeof run, "%s/new/run", dir);
    snprintf(path, sizeof path, "%s/overlaps.obj", run);
    struct tac_scene *scene = build_scene();
    add_cube(scene, "clear", true, 0, 50, 0, 0);
    add_cube(scene, "post", false, 0, 0, 0, 0);
    double needle[2][3] = {{0.6, 0.7, 0.99}, {0.6, 0.7, 5}};
    build_body(scene, "needle\n", true, 0, NULL, needle, 2, NULL, 0, rope_s, 1);
    build_finish(&ctx, scene);
    ctx.error[0] = '\0';
    CHECK(tac_overlap_check(&ctx, scene, run) == TAC_ERR_INPUT);
    char expected[512];
    snprintf(expected, sizeof expected,
             "the scene's surfaces overlap in 1 place; the worst: triangle 3 of body `post` and edge 0-1 of body "
             "`needle?` near (0.6, 0.7, 1), gap -0.01 m; see %s; move the bodies apart",
             path);
    CHECK(strcmp(ctx.error, expected) == 0, "%s", ctx.error);
    char *text = read_text(path);
    CHECK(strstr(text, "\no post\nv ") && strstr(text, "\nf 1 2 3\n") && strstr(text, "\nl 4 5\n") &&
              strstr(text, "\no places\n") && strstr(text, "\np 6\n") && !strstr(text, "clear"),
          "%s", text);
    free(text);

    /* With radius, the advice names it; a folder that cannot be made is told; without a folder there is no file. */
    scene->mesh->x[3 * 16 + 2] = 1.05;
    scene->settings->body[2].radius = 0.1;
    ctx.error[0] = '\0';
    CHECK(tac_overlap_check(&ctx, scene, "/dev/null/run") == TAC_ERR_INPUT);
    CHECK(strstr(ctx.error, "triangle 3 of body `post` and vertex 0 of body `needle?`") &&
              strstr(ctx.error, "gap -0.05 m; (cannot write /dev/null/run/overlaps.obj.tmp: Not a directory") &&
              strstr(ctx.error, "or reduce `radius`"),
          "%s", ctx.error);
    ctx.error[0] = '\0';
    CHECK(tac_overlap_check(&ctx, scene, NULL) == TAC_ERR_INPUT && !strstr(ctx.error, "see"), "%s", ctx.error);
    ctx.error[0] = '\0';
    scene->mesh->x[3 * 16 + 2] = 1.2;
    CHECK(tac_overlap_check(&ctx, scene, run) == TAC_OK, "%s", ctx.error);
    build_destroy(&scene);
    unlink(path);
    rmdir(run);
    snprintf(run, sizeof run, "%s/new", dir);
    rmdir(run);
    CHECK(rmdir(dir) == 0, "something is left in %s", dir);
}

static void test_many(void)
{
    /* More places than are listed: the search ends, and says that there are more. */
    struct tac_scene *scene = build_scene();
    enum { PARTICLES = 1500 };
    static double x[PARTICLES][3];
    for (int i = 0; i < PARTICLES; i++)
        x[i][0] = 0.001 * i;
    build_body(scene, "crowd", true, 10, NULL, x, PARTICLES, NULL, 0, NULL, 0);
    struct tac_overlaps *found = find(scene);
    CHECK(found->count == TAC_OVERLAP_MOST && found->more, "%zu", found->count);
    tac_overlap_destroy(&found);
    ctx.error[0] = '\0';
    CHECK(tac_overlap_check(&ctx, scene, NULL) == TAC_ERR_INPUT && strstr(ctx.error, "more than 1000000 places"), "%s",
          ctx.error);
    ctx.error[0] = '\0';
    build_destroy(&scene);
    scene = build_scene();
    CHECK(count(scene, -1) == 0, "an empty scene");
    build_destroy(&scene);
}

int main(void)
{
    test_cubes();
    test_touching_faces();
    test_nested_and_near();
    test_particles_and_segments();
    test_two_d();
    test_slivers();
    test_sentence();
    test_many();
    return check_result();
}
