/* resume.c: the scene that a checkpoint goes on with: the same to the last bit as the one it was written of, with and
 * without the scene's file and its meshes; and what differs is refused by name.  If it fails, a restart goes on with
 * another scene, or cannot go on. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/scene.h>
#include <unistd.h>

static char folder[] = "/tmp/tactus-resume-XXXXXX";
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

static const char text[] =
    "{\"format\": \"tactus-scene/1\", \"name\": \"n\", \"time\": {\"end\": 1, \"frame\": 0.1},"
    " \"gravity\": [0, -9.81, 0],"
    " \"contact\": {\"thickness\": 0.01, \"restitution\": 0.3, \"ignore\": [[\"sheet\", \"post\"]]},"
    " \"materials\": {\"m\": {\"density\": 0.15, \"stretch\": {\"model\": \"cst\", \"stiffness\": 500},"
    "   \"bend\": {\"model\": \"hinge\", \"stiffness\": 1e-5}}, \"unused\": {\"density\": 3}},"
    " \"bodies\": ["
    "  {\"name\": \"sheet\", \"material\": \"m\", \"rotation\": [10, 20, 30], \"scale\": 0.7, \"velocity\": [1, 0, "
    "0.1],"
    "   \"angular_velocity\": [0.1, 0.2, 0.3], \"mesh\": {\"kind\": \"grid\", \"size\": [1, 1], \"cells\": [6, 5]}},"
    "  {\"name\": \"post\", \"fixed\": true, \"position\": [0, -1, 0], \"rotation\": [0, 5, 0],"
    "   \"mesh\": {\"kind\": \"file\", \"path\": \"post.obj\"}},"
    "  {\"name\": \"gas\", \"mass\": 0.1, \"radius\": 0.01, \"random_speed\": [0.1, 0.3], \"seed\": 7,"
    "   \"position\": [0, 2, 0], \"mesh\": {\"kind\": \"points\", \"lattice\": {\"count\": [3, 2, 2], \"spacing\": "
    "0.3}}},"
    "  {\"name\": \"rope\", \"mass\": 0.2, \"position\": [0, 4, 0],"
    "   \"mesh\": {\"kind\": \"segments\", \"from\": [0, 0, 0], \"to\": [1, 0, 0.1], \"cells\": 4}}],"
    " \"motions\": [{\"body\": \"sheet\", \"vertices\": {\"box\": [[-2, -2, -2], [-0.2, 3, 2]]},"
    "   \"path\": [[0, [0, 0, 0]], [0.5, [0.1, 0, 0]]], \"release\": true},"
    "  {\"body\": \"gas\", \"vertices\": [3, 1], \"rotate\": {\"axis\": [0, 1, 1], \"path\": [[0, 0], [1, 90]]}}],"
    " \"loads\": [{\"body\": \"sheet\", \"pressure\": 3, \"path\": [[0, 0], [0.5, 1]]},"
    "  {\"body\": \"gas\", \"vertices\": [2, 3], \"force\": [0, 1, 0]},"
    "  {\"body\": \"sheet\", \"vertices\": {\"box\": [[-2, -2, -2], [0.1, 3, 2]]}, \"force\": [0, 0.5, 0]}]}";
static const char post[] = "v 0 0 0\nv 0.1 0 0\nv 0 0.3 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/* What a checkpoint holds of a scene. */
struct stored {
    json_t *json;
    char sha256[65];
    struct tac_geometry geometry;
    double *x, *mass;
    tac_gid *triangle, *segment;
};

static struct stored store(const struct tac_scene *s)
{
    struct stored c;
    size_t v = (size_t)s->mesh->vertex_count, t = 3 * (size_t)s->mesh->triangle_count,
           e = 2 * (size_t)s->mesh->segment_count;
    json_t *json = tac_scene_stored_json(s);
    char *dump = json_dumps(json, JSON_COMPACT);
    c.json = json_loads(dump, 0, NULL);
    free(dump);
    json_decref(json);
    strcpy(c.sha256, s->settings->sha256);
    c.x = malloc(3 * v * sizeof *c.x);
    c.mass = malloc(v * sizeof *c.mass);
    c.triangle = malloc((t + 1) * sizeof *c.triangle);
    c.segment = malloc((e + 1) * sizeof *c.segment);
    TAC_CHECK(c.json != NULL && c.x != NULL && c.mass != NULL && c.triangle != NULL && c.segment != NULL);
    memcpy(c.x, s->mesh->x, 3 * v * sizeof *c.x);
    memcpy(c.mass, s->mesh->mass, v * sizeof *c.mass);
    for (size_t i = 0; i < t; i++)
        c.triangle[i] = s->mesh->triangle[i];
    for (size_t i = 0; i < e; i++)
        c.segment[i] = s->mesh->segment[i];
    c.geometry = (struct tac_geometry){.vertex_count = s->mesh->vertex_count,
                                       .triangle_count = s->mesh->triangle_count,
                                       .segment_count = s->mesh->segment_count,
                                       .x = c.x,
                                       .mass = c.mass,
                                       .triangle = c.triangle,
                                       .segment = c.segment};
    return c;
}

static void release(struct stored *c)
{
    json_decref(c->json);
    free(c->x);
    free(c->mass);
    free(c->triangle);
    free(c->segment);
}

static struct tac_scene *resume(const struct stored *c, const char *path, const char *set)
{
    struct tac_scene *scene = NULL;
    ctx.error[0] = '\0';
    ctx.warnings = 0;
    enum tac_err err = tac_scene_resume(&ctx, path, &set, set != NULL, c->json, c->sha256, &c->geometry, &scene);
    CHECK((err == TAC_OK) == (scene != NULL) && (err == TAC_OK || err == TAC_ERR_INPUT), "%d: %s", err, ctx.error);
    CHECK(err == TAC_OK || ctx.error[0] != '\0', "no sentence");
    return scene;
}

#define SAME(array, count)                                                                                             \
    CHECK(memcmp(s->array, t->array, (size_t)(count) * sizeof *s->array) == 0, "%s: " #array " has other bits", what)

static void same_motions(const struct tac_scene *s, const struct tac_scene *t, const char *what)
{
    for (tac_lid i = 0; i < s->settings->motion_count && i < t->settings->motion_count; i++) {
        const struct tac_motion *a = &s->settings->motion[i], *b = &t->settings->motion[i];
        const struct tac_moved *c = &s->mesh->moved[i], *d = &t->mesh->moved[i];
        bool same = c->vertex_count == d->vertex_count && a->knot_count == b->knot_count && a->release == b->release &&
                    (a->degrees == NULL) == (b->degrees == NULL);
        CHECK(same && memcmp(c->vertex, d->vertex, (size_t)c->vertex_count * sizeof *c->vertex) == 0 &&
                  memcmp(a->knot_t_s, b->knot_t_s, (size_t)a->knot_count * sizeof *a->knot_t_s) == 0 &&
                  memcmp(a->axis, b->axis, sizeof a->axis) == 0,
              "%s: motion %d", what, (int)i);
    }
}

static void same_loads(const struct tac_scene *s, const struct tac_scene *t, const char *what)
{
    CHECK(s->settings->load_count == 3 && t->settings->load_count == 3 &&
              s->settings->load_set_count == t->settings->load_set_count,
          "%s: loads", what);
    SAME(mesh->vertex_load, s->mesh->vertex_count);
    SAME(settings->load_set, s->settings->load_set_count);
    for (tac_lid i = 0; i < s->settings->load_count && i < t->settings->load_count; i++) {
        const struct tac_load *a = &s->settings->load[i], *b = &t->settings->load[i];
        CHECK(a->kind == b->kind && a->body == b->body && a->pressure == b->pressure &&
                  a->knot_count == b->knot_count && a->vertex_count == b->vertex_count &&
                  memcmp(a->force, b->force, sizeof a->force) == 0 &&
                  (a->knot_count == 0 ||
                   (memcmp(a->knot_t_s, b->knot_t_s, (size_t)a->knot_count * sizeof *a->knot_t_s) == 0 &&
                    memcmp(a->factor, b->factor, (size_t)a->knot_count * sizeof *a->factor) == 0)),
              "%s: load %d", what, (int)i);
    }
}

static void same_scene(const struct tac_scene *s, const struct tac_scene *t, const char *what)
{
    CHECK(strcmp(s->settings->sha256, t->settings->sha256) == 0, "%s: another hash", what);
    CHECK(s->mesh->vertex_count == t->mesh->vertex_count && s->mesh->triangle_count == t->mesh->triangle_count &&
              s->mesh->segment_count == t->mesh->segment_count && s->settings->body_count == t->settings->body_count &&
              s->settings->material_count == t->settings->material_count &&
              s->settings->motion_count == t->settings->motion_count && s->settings->two_d == t->settings->two_d,
          "%s: counts", what);
    SAME(mesh->x, 3 * s->mesh->vertex_count);
    SAME(mesh->v, 3 * s->mesh->vertex_count);
    SAME(mesh->mass, s->mesh->vertex_count);
    SAME(mesh->ever_free, s->mesh->vertex_count);
    SAME(mesh->vertex_body, s->mesh->vertex_count);
    SAME(mesh->triangle, 3 * s->mesh->triangle_count);
    SAME(mesh->segment, 2 * s->mesh->segment_count);
    SAME(mesh->topology->edge, 2 * s->mesh->topology->edge_count);
    SAME(mesh->topology->hinge, 4 * s->mesh->topology->hinge_count);
    SAME(settings->contact.ignore, 2 * s->settings->contact.ignore_count);
    same_motions(s, t, what);
    same_loads(s, t, what);
    for (tac_lid b = 0; b < s->settings->body_count; b++)
        CHECK(strcmp(s->settings->body[b].name, t->settings->body[b].name) == 0 &&
                  s->settings->body[b].vertex_end == t->settings->body[b].vertex_end &&
                  s->settings->body[b].has_elements == t->settings->body[b].has_elements &&
                  s->settings->body[b].radius == t->settings->body[b].radius,
              "%s: body %d", what, (int)b);
    CHECK(memcmp(&s->settings->clocks, &t->settings->clocks, sizeof s->settings->clocks) == 0 &&
              s->settings->quantum_s == t->settings->quantum_s && s->settings->frame_s == t->settings->frame_s &&
              s->settings->checkpoint.keep == t->settings->checkpoint.keep,
          "%s: settings", what);
    CHECK(json_equal(s->settings->json, t->settings->json), "%s: another resolved scene", what);
}

static void test_same(const struct tac_scene *s, const struct stored *c, const char *path, const char *what, int warned)
{
    struct tac_scene *t = resume(c, path, NULL);
    CHECK(t != NULL && ctx.warnings == warned, "%s: %d warnings, %s", what, ctx.warnings, ctx.error);
    if (t != NULL)
        same_scene(s, t, what);
    tac_scene_destroy(&t);
}

/* What does not count may differ. */
static void test_allowed(const struct stored *c, const char *path)
{
    static const char *const set[] = {"time.end=2",
                                      "time.frame=0.25",
                                      "name=other",
                                      "discovery.mode=all-pairs",
                                      "discovery.window_s=[0.1,0.2]",
                                      "output.checkpoint_every_s=1",
                                      "output={\"checkpoint_every_t\": 0.125, \"checkpoint_keep\": 5}",
                                      "bodies.rope.name=line",
                                      "materials.unused.density=4",
                                      "bodies.post.seed=5"};
    for (size_t i = 0; i < sizeof set / sizeof set[0]; i++) {
        struct tac_scene *t = resume(c, path, set[i]);
        CHECK(t != NULL, "%s: %s", set[i], ctx.error);
        if (t != NULL && i == 0)
            CHECK(t->settings->end_s == 2 && t->settings->t_end == 2 * tac_scene_quanta(t, 1),
                  "the end is the new one");
        if (t != NULL && i == 6)
            CHECK(t->settings->checkpoint.every_t == .125 && t->settings->checkpoint.keep == 5 &&
                      t->settings->checkpoint.every_s == 600,
                  "output");
        tac_scene_destroy(&t);
    }
}

/* What counts is refused, with its place and both values. */
static void test_refused(const struct stored *c, const char *path)
{
    static const struct {
        const char *set, *where, *now, *then;
    } change[] = {
        {"gravity=[0,-9.8,0]", "gravity[1]", "is -9.8,", "but -9.81 "},
        {"contact.restitution=0.4", "contact.restitution", "is 0.4,", "but 0.3 "},
        {"contact.thickness=0.02", "contact.thickness", "is 0.02,", "but 0.01 "},
        {"contact.ignore=[]", "contact.ignore", "is [],", "[[\"sheet\",\"post\"]]"},
        {"contact.rest_fraction=0.6", "contact.rest_fraction", "is 0.6,", "but 0.5 "},
        {"contact.min_period_s=1e-9", "contact.min_period_s", "is 1e-09,", "but not set "},
        {"clocks.mode=free", "clocks.mode", "is \"free\",", "but \"nested\" "},
        {"clocks.gravity_s=0.01", "clocks.gravity_s", "is 0.01,", "but 0.001 "},
        {"materials.m.stretch.stiffness=501", "materials.m.stretch.stiffness", "is 501,", "but 500 "},
        {"materials.m.density=0.16", "materials.m.density", "is 0.16,", "but 0.15 "},
        {"materials.m.bend.rest=flat", "materials.m.bend.rest", "is \"flat\",", "but \"mesh\" "},
        {"bodies.sheet.velocity.0=2", "bodies[0].velocity[0]", "is 2,", "but 1 "},
        {"bodies.gas.seed=8", "bodies[2].seed", "is 8,", "but 7 "},
        {"bodies.gas.radius=0.02", "bodies[2].radius", "is 0.02,", "but 0.01 "},
        {"bodies.gas.mass=0.2", "bodies[2].mass", "is 0.2,", "but 0.1 "},
        {"bodies.rope.self=false", "bodies[3].self", "is false,", "but true "},
        {"bodies.rope.material=m", "bodies[3].material", "is \"m\",", "but not set "},
        {"motions.0.path.1.0=0.6", "motions[0].path[1][0]", "is 0.6,", "but 0.5 "},
        {"motions.0.release=false", "motions[0].release", "is false,", "but true "},
        {"motions.1.rotate.center=[1,0,0]", "motions[1].rotate.center[0]", "is 1,", "but 0 "},
        {"motions.1.vertices=[3,2]", "motions[1].vertices[1]", "is 2,", "but 1 "},
        {"loads.0.pressure=4", "loads[0].pressure", "is 4,", "but 3 "},
        {"loads.0.path.1.1=2", "loads[0].path[1][1]", "is 2,", "but 1 "},
        {"loads.1.vertices=[2,4]", "loads[1].vertices[1]", "is 4,", "but 3 "},
        {"loads.1.force.1=2", "loads[1].force[1]", "is 2,", "but 1 "},
        {"bodies.sheet.position=[0,1,0]", "bodies[0].position[1]", "is 1,", "but 0 "},
        {"bodies.post.rotation.1=6", "bodies[1].rotation[1]", "is 6,", "but 5 "},
        {"bodies.post.scale=2", "bodies[1].scale", "is 2,", "but 1 "},
        {"bodies.sheet.mesh.cells=[6,4]", "bodies[0].mesh.cells[1]", "is 4,", "but 5 "},
        {"bodies.rope.mesh.to.2=0.2", "bodies[3].mesh.to[2]", "is 0.2,", "but 0.1 "},
    };
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        struct tac_scene *t = resume(c, path, change[i].set);
        CHECK(t == NULL && strstr(ctx.error, change[i].where) != NULL && strstr(ctx.error, change[i].now) != NULL &&
                  strstr(ctx.error, change[i].then) != NULL,
              "%s: %s", change[i].set, ctx.error);
        tac_scene_destroy(&t);
    }
}

static void test_counts(const struct stored *c, const char *path)
{
    struct tac_scene *t = resume(
        c, path, "bodies=[{\"name\":\"sheet\",\"mass\":1,\"mesh\":{\"kind\":\"points\",\"vertices\":[[0,0,0]]}}]");
    CHECK(t == NULL, "another scene");
    tac_scene_destroy(&t);
    t = resume(c, path, "motions=[]");
    CHECK(t == NULL && strstr(ctx.error, "motions") != NULL, "%s", ctx.error);
    tac_scene_destroy(&t);
}

/* Checkpoints that no program of ours wrote. */
static void test_remote(struct stored *c)
{
    static const char *const counts[] = {
        "null",
        "{}",
        "{\"vertices\": 1, \"triangles\": 2, \"segments\": 3}",
        "{\"vertices\": [1], \"triangles\": [], \"segments\": []}",
        "{\"vertices\": [1,1,1,1], \"triangles\": [1,1,1,1], \"segments\": [0,0,0,4]}",
        "{\"vertices\": [-1,1,1,1], \"triangles\": [1,1,1,1], \"segments\": [0,0,0,4]}",
        "{\"vertices\": [\"a\",1,1,1], \"triangles\": [[],1,1,1], \"segments\": [0,0,0,4]}"};
    json_t *own = json_incref(json_object_get(c->json, "geometry"));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        json_object_set_new(c->json, "geometry", json_loads(counts[i], JSON_DECODE_ANY, NULL));
        struct tac_scene *t = resume(c, NULL, NULL);
        CHECK(t == NULL && strstr(ctx.error, "cannot go on with") != NULL, "%s: %s", counts[i], ctx.error);
        tac_scene_destroy(&t);
    }
    json_object_set_new(c->json, "geometry", own);
    tac_gid kept = c->triangle[4];
    static const tac_gid wrong[] = {-1, 1 << 30, INT64_MAX, 1000, 60};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        c->triangle[4] = wrong[i];
        struct tac_scene *t = resume(c, NULL, NULL);
        CHECK(t == NULL, "triangle vertex %lld", (long long)wrong[i]);
        tac_scene_destroy(&t);
    }
    c->triangle[4] = kept;
    c->x[0] = NAN;
    CHECK(resume(c, NULL, NULL) == NULL, "a place that is no number");
    json_t *whole = c->json;
    c->json = json_array();
    CHECK(resume(c, NULL, NULL) == NULL, "no object");
    json_decref(c->json);
    c->json = whole;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    ctx.quiet = true;
    setvbuf(stdout, NULL, _IOLBF, 0);
    TAC_CHECK(mkdtemp(folder) != NULL);
    char path[256], mesh[256];
    snprintf(mesh, sizeof mesh, "%s", write_text("post.obj", post));
    snprintf(path, sizeof path, "%s", write_text("scene.json", text));
    struct tac_scene *s = NULL;
    enum tac_err err = tac_scene_read(&ctx, path, NULL, 0, &s);
    CHECK(err == TAC_OK, "%s", ctx.error);
    TAC_CHECK(s != NULL);
    struct stored c = store(s);
    test_same(s, &c, NULL, "from the checkpoint", 0);
    test_same(s, &c, path, "from the scene's file", 0);
    test_allowed(&c, NULL);
    test_allowed(&c, path);
    test_refused(&c, path);
    test_refused(&c, NULL);
    test_counts(&c, path);
    test_counts(&c, NULL);
    /* Other contents of a mesh, and none. */
    write_text("post.obj", "v 0 0 0\nv 0.1 0 0\nv 0 0.3 0\nv 0 0 0.2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    struct tac_scene *t = resume(&c, path, NULL);
    CHECK(t == NULL && strstr(ctx.error, "bodies[1].mesh: has changed") != NULL, "%s", ctx.error);
    tac_scene_destroy(&t);
    test_same(s, &c, NULL, "no mesh is read", 0);
    unlink(mesh);
    test_same(s, &c, NULL, "no mesh is there", 0);
    test_same(s, &c, path, "a mesh is gone", 1);
    test_refused(&c, path);
    /* A scene cannot bring what only checkpoints have. */
    const char *own = "geometry={}";
    ctx.error[0] = '\0';
    CHECK(tac_scene_read(&ctx, path, &own, 1, &t) == TAC_ERR_INPUT && strstr(ctx.error, "geometry") != NULL, "%s",
          ctx.error);
    test_remote(&c);
    release(&c);
    tac_scene_destroy(&s);
    unlink(path);
    rmdir(folder);
    MPI_Finalize();
    return check_result();
}
