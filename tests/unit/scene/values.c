/* values.c: what the reader makes of a scene: places, masses, velocities, times, 2D, the hash, and that the resolved
 * scene reads back as the same scene.  If it fails, a run starts from another state than its scene says. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>
#include <tactus/scene.h>
#include <unistd.h>

static char folder[] = "/tmp/tactus-values-XXXXXX";
static struct tac_ctx ctx;

static const char *write_text(const char *name, const char *text)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    TAC_CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
    return path;
}

/* The scene with up to three --set, or NULL with ctx.error set. */
static struct tac_scene *read_set(const char *text, const char *a, const char *b, const char *c)
{
    const char *set[3] = {a, b, c};
    struct tac_scene *scene = NULL;
    ctx.error[0] = '\0';
    tac_scene_read(&ctx, write_text("scene.json", text), set, (a != NULL) + (b != NULL) + (c != NULL), &scene);
    return scene;
}

/* One that must be good. */
static struct tac_scene *good(const char *text, const char *a, const char *b)
{
    struct tac_scene *scene = read_set(text, a, b, NULL);
    CHECK(scene != NULL, "%s %s: %s", a ? a : "", b ? b : "", ctx.error);
    TAC_CHECK(scene != NULL);
    return scene;
}

static bool near(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-14 * scale;
}

/* A right triangle of area 3, a segment of length 2 from its far corner, and particles. */
static const char plain[] =
    "{\"format\": \"tactus-scene/1\", \"time\": {\"end\": 1, \"frame\": 0.1},"
    " \"materials\": {\"m\": {\"density\": 0.5}},"
    " \"contact\": {\"thickness\": 0.01},"
    " \"bodies\": ["
    "  {\"name\": \"a\", \"material\": \"m\", \"mesh\": {\"kind\": \"inline\","
    "   \"vertices\": [[0,0,0],[2,0,0],[0,3,0],[0,5,0]], \"triangles\": [[0,1,2]], \"edges\": [[2,3]]}},"
    "  {\"name\": \"p\", \"mass\": 0.25, \"mesh\": {\"kind\": \"points\", \"lattice\": {\"count\": [10,10,10], "
    "\"spacing\": 1}},"
    "   \"position\": [0, 0, 20]},"
    "  {\"name\": \"f\", \"fixed\": true, \"material\": \"m\", \"mesh\": {\"kind\": \"cube\", \"edge\": 1},"
    "   \"position\": [9, 0, 0]}]}";

static const char flat[] =
    "{\"format\": \"tactus-scene/1\", \"time\": {\"end\": 1, \"frame\": 0.1}, \"gravity\": [0, -1, 0],"
    " \"bodies\": ["
    "  {\"name\": \"p\", \"mass\": 1, \"random_speed\": [1, 2], \"rotation\": [0, 0, 30], \"angular_velocity\": [0, 0, "
    "2],"
    "   \"mesh\": {\"kind\": \"points\", \"lattice\": {\"count\": [9, 9, 1], \"spacing\": 0.5}}},"
    "  {\"name\": \"wall\", \"fixed\": true, \"position\": [-0.0, -9, -0.0],"
    "   \"mesh\": {\"kind\": \"segments\", \"from\": [-9, 0, 0], \"to\": [9, 0, 0], \"cells\": 4}},"
    "  {\"name\": \"arm\", \"mesh\": {\"kind\": \"segments\", \"vertices\": [[0, 9, 0], [1, 9, 0]]}}],"
    " \"motions\": [{\"body\": \"arm\", \"rotate\": {\"axis\": [0, 0, 3], \"path\": [[0, 0], [1, 90]]}}]}";

static void test_masses(void)
{
    struct tac_scene *s = good(plain, NULL, NULL);
    const double want[4] = {.5 * 3 / 3, .5 * 3 / 3, .5 * 3 / 3 + .5 * 2 / 2, .5 * 2 / 2};
    for (int i = 0; i < 4; i++)
        CHECK(near(s->mesh->mass[i], want[i], 1), "vertex %d: %.17g, not %.17g", i, s->mesh->mass[i], want[i]);
    for (tac_lid i = 0; i < s->mesh->vertex_count; i++) {
        const struct tac_body *body = &s->settings->body[s->mesh->vertex_body[i]];
        CHECK(i >= body->vertex_begin && i < body->vertex_end, "vertex %d", (int)i);
        CHECK(s->mesh->ever_free[i] == !body->fixed, "vertex %d", (int)i);
        CHECK(!body->fixed || s->mesh->mass[i] == 0, "fixed vertex %d has mass %g", (int)i, s->mesh->mass[i]);
        CHECK(body->has_elements || s->mesh->mass[i] == .25, "particle %d has mass %g", (int)i, s->mesh->mass[i]);
    }
    CHECK(s->mesh->vertex_count == 4 + 1000 + 8 && s->mesh->triangle_count == 1 + 12 && s->mesh->segment_count == 1,
          "%d", s->mesh->vertex_count);
    CHECK(!s->settings->body[1].has_elements && s->settings->body[0].has_elements, "elements");
    CHECK(!s->settings->two_d, "triangles are 3D");
    tac_scene_destroy(&s);
    CHECK(s == NULL, "destroyed");
    s = good(plain, "bodies.a.mass=2", NULL); /* overrides the density */
    for (int i = 0; i < 4; i++)
        CHECK(s->mesh->mass[i] == 2, "vertex %d: %g", i, s->mesh->mass[i]);
    tac_scene_destroy(&s);
}

static void test_placement(void)
{
    struct tac_scene *s = good(plain, "bodies.a.position=[10,20,30]", "bodies.a.scale=0.5");
    const double exact[4][3] = {{10, 20, 30}, {11, 20, 30}, {10, 21.5, 30}, {10, 22.5, 30}};
    CHECK(memcmp(s->mesh->x, exact, sizeof exact) == 0, "a body without rotation lies exactly where it is told");
    tac_scene_destroy(&s);
    s = good(plain, "bodies.a.rotation=[0,0,90]", "bodies.a.position.0=1");
    const double turned[4][3] = {{1, 0, 0}, {1, 2, 0}, {-2, 0, 0}, {-4, 0, 0}};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            CHECK(near(s->mesh->x[3 * i + k], turned[i][k], 5), "vertex %d: %.17g", i, s->mesh->x[3 * i + k]);
    tac_scene_destroy(&s);
    /* A third of a turn about the diagonal permutes the axes. */
    s = good(plain, "bodies.a.rotation=[69.28203230275509,69.28203230275509,69.28203230275509]", NULL);
    const double cycled[4][3] = {{0, 0, 0}, {0, 2, 0}, {0, 0, 3}, {0, 0, 5}};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            CHECK(near(s->mesh->x[3 * i + k], cycled[i][k], 5), "vertex %d: %.17g", i, s->mesh->x[3 * i + k]);
    tac_scene_destroy(&s);
}

static void test_velocities(void)
{
    struct tac_scene *s = good(plain, "bodies.a.velocity=[1,2,3]", "bodies.a.angular_velocity=[0,0,2]");
    double momentum[3] = {0, 0, 0}, centre[3] = {0, 0, 0}, mass = 0;
    for (int i = 0; i < 4; i++) {
        mass += s->mesh->mass[i];
        for (int k = 0; k < 3; k++) {
            momentum[k] += s->mesh->mass[i] * s->mesh->v[3 * i + k];
            centre[k] += s->mesh->mass[i] * s->mesh->x[3 * i + k];
        }
    }
    for (int k = 0; k < 3; k++) {
        centre[k] /= mass;
        CHECK(near(momentum[k], mass * (k + 1), 10), "spinning about the centre of mass adds no momentum: %g",
              momentum[k]);
    }
    for (int i = 0; i < 4; i++) {
        const double arm[2] = {s->mesh->x[3 * i] - centre[0], s->mesh->x[3 * i + 1] - centre[1]};
        CHECK(near(s->mesh->v[3 * i], 1 - 2 * arm[1], 10) && near(s->mesh->v[3 * i + 1], 2 + 2 * arm[0], 10) &&
                  s->mesh->v[3 * i + 2] == 3,
              "vertex %d: (%g, %g)", i, s->mesh->v[3 * i], s->mesh->v[3 * i + 1]);
    }
    tac_scene_destroy(&s);
    s = good(plain, "bodies.f.velocity=[1,2,3]", NULL);
    for (tac_lid i = s->settings->body[2].vertex_begin; i < s->settings->body[2].vertex_end; i++)
        CHECK(s->mesh->v[3 * i] == 0 && s->mesh->v[3 * i + 1] == 0 && s->mesh->v[3 * i + 2] == 0,
              "fixed vertex %d moves", (int)i);
    tac_scene_destroy(&s);
}

static void test_random(void)
{
    struct tac_scene *s = good(plain, "bodies.p.random_speed=[3,5]", "bodies.p.velocity=[0,0,7]");
    double mean[3] = {0, 0, 0}, square[3] = {0, 0, 0}, speeds = 0;
    const tac_lid begin = s->settings->body[1].vertex_begin;
    for (tac_lid i = begin; i < begin + 1000; i++) {
        double v[3] = {s->mesh->v[3 * i], s->mesh->v[3 * i + 1], s->mesh->v[3 * i + 2] - 7},
               speed = sqrt(tac_dot(v, v));
        CHECK(speed > 3 * (1 - 1e-14) && speed < 5 * (1 + 1e-14), "speed %g", speed);
        speeds += speed / 1000;
        for (int k = 0; k < 3; k++) {
            mean[k] += v[k] / speed / 1000;
            square[k] += v[k] * v[k] / (speed * speed) / 1000;
        }
    }
    /* Of 1000 uniform directions a component has mean 0 +- .018 and mean square 1/3 +- .0094; of the speeds 4 +- .018.
     */
    for (int k = 0; k < 3; k++)
        CHECK(fabs(mean[k]) < .08 && fabs(square[k] - 1. / 3) < .04, "axis %d: mean %g, square %g", k, mean[k],
              square[k]);
    CHECK(fabs(speeds - 4) < .08, "mean speed %g", speeds);
    struct tac_scene *again = good(plain, "bodies.p.random_speed=[3,5]", "bodies.p.velocity=[0,0,7]");
    CHECK(memcmp(s->mesh->v, again->mesh->v, 3 * sizeof(double) * (size_t)s->mesh->vertex_count) == 0,
          "not repeatable");
    tac_scene_destroy(&again);
    again = read_set(plain, "bodies.p.random_speed=[3,5]", "bodies.p.velocity=[0,0,7]", "bodies.p.seed=1");
    TAC_CHECK(again != NULL);
    CHECK(s->mesh->v[3 * begin] != again->mesh->v[3 * begin] &&
              s->mesh->v[3 * begin + 1] != again->mesh->v[3 * begin + 1],
          "the seed has no effect");
    tac_scene_destroy(&again);
    tac_scene_destroy(&s);
}

static void test_two_d(void)
{
    struct tac_scene *s = good(flat, NULL, NULL);
    double out = 0, speed = 0;
    CHECK(s->settings->two_d, "flat");
    for (tac_lid i = 0; i < s->mesh->vertex_count; i++) {
        CHECK(s->mesh->x[3 * i + 2] == 0 && !signbit(s->mesh->x[3 * i + 2]), "z of vertex %d is not +0", (int)i);
        CHECK(s->mesh->v[3 * i + 2] == 0 && !signbit(s->mesh->v[3 * i + 2]), "vz of vertex %d is not +0", (int)i);
        out += s->mesh->x[3 * i + 2] + s->mesh->v[3 * i + 2];
        speed += fabs(s->mesh->v[3 * i]);
    }
    CHECK(out == 0 && speed > 0, "%g %g", out, speed);
    tac_scene_destroy(&s);
    static const struct {
        const char *set;
        bool two_d;
    } cases[] = {
        {"gravity=[0,0,-1]", false},
        {"gravity=[3,-1,0]", true},
        {"bodies.p.position=[0,0,1e-300]", false},
        {"bodies.p.position=[5,5,0]", true},
        {"bodies.p.velocity=[0,0,1]", false},
        {"bodies.p.angular_velocity=[1,0,0]", false},
        {"bodies.p.angular_velocity=[0,0,-3]", true},
        {"bodies.p.rotation=[0,0,77]", true},
        {"bodies.p.rotation=[0,50,0]", false},
        {"bodies.p.mesh.lattice.count.2=2", false},
        {"bodies.wall.mesh={\"kind\":\"grid\",\"size\":[1,1],\"cells\":[1,1]}", false},
        {"motions.0.rotate.axis=[0,0,-1]", true},
        {"motions.0.rotate.axis=[0,1,1]", false},
        {"motions=[{\"body\":\"arm\",\"path\":[[0,[0,0,0]],[1,[1,1,0]]]}]", true},
        {"motions=[{\"body\":\"arm\",\"path\":[[0,[0,0,0]],[1,[1,1,1]]]}]", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        s = good(flat, cases[i].set, NULL);
        CHECK(s->settings->two_d == cases[i].two_d, "%s", cases[i].set);
        tac_scene_destroy(&s);
    }
}

static void test_motions(void)
{
    struct tac_scene *s = good(
        plain,
        "motions=[{\"body\":\"a\",\"vertices\":{\"box\":[[-1,-1,-1],[9,3,1]]},\"path\":[[0.5,[0,0,0]],[1,[1,0,0]]]},"
        "{\"body\":\"a\",\"vertices\":[3],\"release\":true,\"rotate\":{\"axis\":[0,1e-200,0],\"center\":[1,2,3],"
        "\"path\":[[0,0],[0.5,-90]]}}]",
        NULL);
    CHECK(s->settings->motion_count == 2 && s->mesh->moved[0].vertex_count == 3 && s->mesh->moved[1].vertex_count == 1,
          "counts");
    CHECK(s->mesh->moved[0].vertex[2] == 2 && s->mesh->moved[1].vertex[0] == 3, "vertices");
    CHECK(s->settings->motion[0].displacement[3] == 1 && s->settings->motion[0].degrees == NULL &&
              s->settings->motion[0].knot_t_s[0] == .5,
          "path");
    CHECK(s->settings->motion[1].degrees[1] == -90 && s->settings->motion[1].displacement == NULL &&
              s->settings->motion[1].axis[1] == 1,
          "rotation");
    CHECK(s->mesh->ever_free[0] == 0 && s->mesh->ever_free[3] == 1, "release");
    CHECK(s->mesh->mass[0] > 0 && s->mesh->v[0] == 0, "a scripted vertex of a body with density has its mass");
    tac_scene_destroy(&s);
    s = good(flat, NULL, NULL); /* scripted for ever without mass */
    tac_lid arm = s->settings->body[2].vertex_begin;
    CHECK(s->mesh->mass[arm] == 0 && s->mesh->ever_free[arm] == 0, "arm");
    tac_scene_destroy(&s);
    s = read_set(flat, "motions.0.release=true", NULL, NULL);
    CHECK(s == NULL && strstr(ctx.error, "no mass") != NULL, "released without mass: %s", ctx.error);
    tac_scene_destroy(&s);
}

static void test_times(void)
{
    const char *frames[] = {"time.frame=0.1", "time.frame=0.015625", "time.frame=0.3", "time.frame=7",
                            "time.frame=1e-6"};
    for (size_t f = 0; f < sizeof frames / sizeof frames[0]; f++) {
        struct tac_scene *s = good(plain, frames[f], NULL);
        tac_time before = -1;
        CHECK(tac_scene_frame_time(s, 0) == 0 && tac_scene_frame_time(s, -3) == 0, "the first frame");
        for (int64_t k = 0; before < s->settings->t_end; k++) {
            tac_time t = tac_scene_frame_time(s, k);
            CHECK(t > before && t <= s->settings->t_end, "%s: frame %d at %" PRId64, frames[f], (int)k, t);
            CHECK(t % 65536 == 0 || t == s->settings->t_end, "%s: frame %d at %" PRId64, frames[f], (int)k, t);
            CHECK(t == s->settings->t_end ||
                      fabs((double)t * s->settings->quantum_s - (double)k * s->settings->frame_s) <=
                          32768 * s->settings->quantum_s * 1.001,
                  "%s: frame %d", frames[f], (int)k);
            if (t <= before)
                break;
            before = t;
        }
        CHECK(tac_scene_frame_time(s, INT64_MAX) == s->settings->t_end, "the last frame");
        CHECK(s->settings->t_end == INT64_C(1) << 46, "end %" PRId64, s->settings->t_end);
        tac_scene_destroy(&s);
    }
    struct tac_scene *s = good(plain, "clocks.quantum_s=0.0009765625", "time.frame=100");
    const double q = s->settings->quantum_s;
    CHECK(s->settings->t_end == 1024, "end %" PRId64, s->settings->t_end);
    CHECK(tac_scene_quanta(s, 2.5 * q) == 3 && tac_scene_quanta(s, -2.5 * q) == -3 && tac_scene_quanta(s, 2.4 * q) == 2,
          "halves away from zero");
    CHECK(tac_scene_quanta(s, .49999999999999994 * q) == 0, "just under a half");
    CHECK(tac_scene_quanta(s, 9007199254740991.0 * q) == INT64_C(9007199254740991), "the last exact one");
    CHECK(tac_scene_quanta(s, 9007199254740992.0 * q) == TAC_TIME_NEVER, "one more");
    CHECK(tac_scene_quanta(s, INFINITY) == TAC_TIME_NEVER && tac_scene_quanta(s, -INFINITY) == -TAC_TIME_NEVER,
          "infinity");
    tac_scene_destroy(&s);
}

static void test_ignore(void)
{
    struct tac_scene *s = good(plain, "contact.ignore=[[\"f\",\"p\"],[\"p\",\"a\"],[\"p\",\"f\"]]", NULL);
    const tac_lid want[4] = {0, 1, 1, 2};
    CHECK(s->settings->contact.ignore_count == 2 && memcmp(s->settings->contact.ignore, want, sizeof want) == 0,
          "sorted, once each");
    tac_scene_destroy(&s);
}

/* What changes the hash and what does not. */
static void test_hash(void)
{
    static const char *const same[] = {"name=other",
                                       "time.end=2",
                                       "time.frame=0.5",
                                       "discovery.mode=all-pairs",
                                       "discovery.window_s=[1,2]",
                                       "bodies.a.name=b",
                                       "materials.m.density=5e-1",
                                       "materials.unused={}",
                                       "gravity=[0,0.0,-0.0]",
                                       "bodies.a.rotation=[0,0,0]",
                                       "bodies.p.seed=9",
                                       "output={}",
                                       "contact.ignore=[]",
                                       "bodies.f.velocity=[1,1,1]",
                                       "bodies.p.mesh.lattice.spacing=1.0",
                                       "contact.stiffness=1e3"};
    static const char *const other[] = {
        "gravity=[0,-1,0]",
        "contact.thickness=0.02",
        "contact.stiffness=999",
        "contact.restitution=1",
        "contact.thickness_exponent=0.5",
        "contact.stiffness_exponent=4",
        "contact.min_period_s=1e-6",
        "contact.pairs_per_vertex=9",
        "contact.rest_fraction=0.4",
        "contact.ignore=[[\"a\",\"p\"]]",
        "clocks.mode=free",
        "clocks.quantum_s=2.842170943040401e-14",
        "clocks.elastic_safety=0.2",
        "clocks.elastic_s=0.002",
        "clocks.contact_safety=0.2",
        "clocks.contact_s=1",
        "clocks.gravity_s=0.002",
        "materials.m.density=0.6",
        "materials.m.stretch={\"model\":\"cst\",\"stiffness\":1}",
        "materials.m.stretch={\"model\":\"spring\",\"stiffness\":1}",
        "materials.m.stretch={\"model\":\"spring\",\"stiffness\":2}",
        "materials.m.stretch={\"model\":\"cst\",\"stiffness\":1,\"poisson\":0.1}",
        "materials.m.bend={\"model\":\"hinge\",\"stiffness\":1}",
        "materials.m.bend={\"model\":\"hinge\",\"stiffness\":1,\"rest\":\"flat\"}",
        "bodies.a.radius=0.1",
        "bodies.a.position.0=1e-9",
        "bodies.a.rotation.0=1e-9",
        "bodies.a.scale=1.5",
        "bodies.a.velocity.0=1e-9",
        "bodies.a.angular_velocity.0=1",
        "bodies.a.mass=1",
        "bodies.p.random_speed=[1,2]",
        "bodies.a.self=false",
        "bodies.a.rigid=true",
        "bodies.p.fixed=true",
        "bodies.a.mesh.triangles=[[0,2,1]]",
        "bodies.a.mesh.edges=[[3,2]]",
        "motions=[{\"body\":\"a\",\"path\":[[0,[0,0,0]]]}]",
        "motions=[{\"body\":\"a\",\"path\":[[1,[0,0,0]]]}]",
        "motions=[{\"body\":\"a\",\"path\":[[0,[0,0,0]]],\"release\":true}]",
        "motions=[{\"body\":\"a\",\"vertices\":[0],\"path\":[[0,[0,0,0]]]}]",
        "motions=[{\"body\":\"a\",\"path\":[[0,[0,0,0]],[1,[0,0,1]]]}]",
        "motions=[{\"body\":\"a\",\"rotate\":{\"axis\":[0,0,1],\"path\":[[0,0],[1,1]]}}]",
        "motions=[{\"body\":\"a\",\"rotate\":{\"axis\":[0,1,1],\"path\":[[0,0],[1,1]]}}]",
        "motions=[{\"body\":\"a\",\"rotate\":{\"axis\":[0,0,1],\"center\":[1,0,0],\"path\":[[0,0],[1,1]]}}]"};
    enum { SAME = sizeof same / sizeof same[0], OTHER = sizeof other / sizeof other[0] };
    static char hash[OTHER + 1][65];
    struct tac_scene *s = good(plain, NULL, NULL);
    strcpy(hash[OTHER], s->settings->sha256);
    CHECK(strspn(s->settings->sha256, "0123456789abcdef") == 64 && s->settings->sha256[64] == '\0', "%s",
          s->settings->sha256);
    tac_scene_destroy(&s);
    for (int i = 0; i < SAME; i++) {
        s = good(plain, same[i], NULL);
        CHECK(strcmp(s->settings->sha256, hash[OTHER]) == 0, "%s changes the hash", same[i]);
        tac_scene_destroy(&s);
    }
    for (int i = 0; i < OTHER; i++) {
        s = good(plain, other[i], NULL);
        strcpy(hash[i], s->settings->sha256);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(hash[i], hash[j]) != 0, "%s and %s have one hash", other[i], other[j]);
        CHECK(strcmp(hash[i], hash[OTHER]) != 0, "%s does not change the hash", other[i]);
        tac_scene_destroy(&s);
    }
}

static bool same_doubles(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* The resolved scene, written as the run folder has it, is the same scene to the last bit. */
static void test_round_trip(const char *text, const char *set, const char *more)
{
    struct tac_scene *s = good(text, set, more), *t = NULL;
    char *dump = json_dumps(s->settings->json, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    t = good(dump, NULL, NULL);
    size_t v = (size_t)s->mesh->vertex_count;
    CHECK(strcmp(s->settings->sha256, t->settings->sha256) == 0, "%s: another hash", set);
    CHECK(v == (size_t)t->mesh->vertex_count && same_doubles(s->mesh->x, t->mesh->x, 3 * v) &&
              same_doubles(s->mesh->v, t->mesh->v, 3 * v) && same_doubles(s->mesh->mass, t->mesh->mass, v),
          "%s: other bits", set);
    CHECK(s->settings->end_s == t->settings->end_s && s->settings->frame_s == t->settings->frame_s &&
              s->settings->t_end == t->settings->t_end && s->settings->two_d == t->settings->two_d,
          "%s: times", set);
    CHECK(memcmp(&s->settings->clocks, &t->settings->clocks, sizeof s->settings->clocks) == 0, "%s: clocks", set);
    CHECK(memcmp(&s->settings->discovery, &t->settings->discovery, sizeof s->settings->discovery) == 0, "%s: discovery",
          set);
    CHECK(strcmp(s->settings->name, t->settings->name) == 0, "%s: name", set);
    for (tac_lid i = 0; i < s->settings->motion_count; i++)
        CHECK(same_doubles(s->settings->motion[i].knot_t_s, t->settings->motion[i].knot_t_s,
                           (size_t)s->settings->motion[i].knot_count) &&
                  same_doubles(s->settings->motion[i].axis, t->settings->motion[i].axis, 3),
              "%s: motions", set);
    CHECK(json_equal(s->settings->json, t->settings->json), "%s: resolving twice changes the scene", set);
    free(dump);
    tac_scene_destroy(&s);
    tac_scene_destroy(&t);
}

/* A mesh written inline and the same mesh from a file beside the scene are one scene, wherever it is read from. */
static void test_file_mesh(void)
{
    const char *mesh = "bodies.f.mesh={\"kind\":\"file\",\"path\":\"tetra.obj\"}";
    const char *inlined = "bodies.f.mesh={\"kind\":\"inline\",\"vertices\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]],"
                          "\"triangles\":[[0,2,1],[0,1,3],[0,3,2],[1,2,3]]}";
    write_text("tetra.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    struct tac_scene *s = good(plain, mesh, NULL), *t = good(plain, inlined, NULL);
    CHECK(strcmp(s->settings->sha256, t->settings->sha256) == 0, "file and inline differ");
    tac_scene_destroy(&t);
    const char *path = json_string_value(json_object_get(
        json_object_get(json_array_get(json_object_get(s->settings->json, "bodies"), 2), "mesh"), "path"));
    CHECK(path != NULL && path[0] == '/' && strstr(path, "tetra.obj") != NULL, "%s", path ? path : "no path");
    char *dump = json_dumps(s->settings->json, JSON_REAL_PRECISION(17)), sub[256];
    snprintf(sub, sizeof sub, "%s/moved.json", folder + strlen("/tmp/"));
    CHECK(chdir("/tmp") == 0, "chdir");
    write_text("moved.json", dump);
    CHECK(tac_scene_read(&ctx, sub, NULL, 0, &t) == TAC_OK && strcmp(s->settings->sha256, t->settings->sha256) == 0,
          "%s", ctx.error);
    free(dump);
    tac_scene_destroy(&s);
    tac_scene_destroy(&t);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    ctx.quiet = true;
    setvbuf(stdout, NULL, _IOLBF, 0); /* what failed is told before an abort */
    TAC_CHECK(mkdtemp(folder) != NULL);
    test_masses();
    test_placement();
    test_velocities();
    test_random();
    test_two_d();
    test_motions();
    test_times();
    test_ignore();
    test_hash();
    test_round_trip(plain, "bodies.a.rotation=[1,2,3]", "bodies.p.random_speed=[0.1,0.3]");
    test_round_trip(plain, "time.frame=0.30000000000000004", "gravity=[0.1,-9.81,1e-300]");
    test_round_trip(plain, "discovery.window_s=[0.1,0.7]", "clocks.contact_s=0.123456789");
    test_round_trip(flat, "name=x", "motions.0.rotate.path.1.0=0.1");
    test_file_mesh();
    const char *names[] = {"scene.json", "tetra.obj", "moved.json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    MPI_Finalize();
    return check_result();
}
