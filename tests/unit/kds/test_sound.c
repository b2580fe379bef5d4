/* Soundness of certificates: small random scenes with everything that could make a proof too bold - plans from exact to
 * absurdly vague, all k, all queues, coordinates so far out that they are coarse, long ways between two instants - run
 * by kinetic structures and by all pairs.  A layer left out wrongly changes a bit.  test_sound [scenes [first]]. */
#include "check.h"
#include "events/ranks/immovable.h"
#include "events/sim.h"
#include "overlap/overlap.h"
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>
#include <unistd.h>

struct draw {
    uint64_t seed, counter;
};

static double uniform(struct draw *d, double lo, double hi)
{
    return lo + (hi - lo) * tac_random(d->seed, d->counter++);
}

static int whole(struct draw *d, int n)
{
    return (int)(n * tac_random(d->seed, d->counter++));
}

static double power(struct draw *d, double lo, double hi)
{
    return tac_exp(uniform(d, tac_log(lo), tac_log(hi)));
}

/* Shapes of at most 5 vertices, about 0.1 m across; those from FLAT on lie in a plane. */
static const char *const meshes[] = {
    "{\"kind\":\"inline\",\"vertices\":[[0,0,0],[0.1,0,0.01],[0.02,0.01,0.09]],\"triangles\":[[0,1,2]]}",
    "{\"kind\":\"inline\",\"vertices\":[[0,0,0],[0.1,0,0],[0.05,0,0.08],[0.06,0.07,0.04]],"
    "\"triangles\":[[0,2,1],[0,1,3],[1,2,3],[2,0,3]]}",
    "{\"kind\":\"inline\",\"vertices\":[[0,0,0],[0.1,0,0],[0.1,0,0.1],[0,0,0.1]],\"triangles\":[[0,2,1],[0,3,2]]}",
    "{\"kind\":\"inline\",\"vertices\":[[-0.05,0,0],[0.05,0.01,0.02]],\"edges\":[[0,1]]}",
    "{\"kind\":\"inline\",\"vertices\":[[0,0,0],[0.06,0,0],[0.1,0.05,0]],\"edges\":[[0,1],[1,2]]}",
    "{\"kind\":\"points\",\"vertices\":[[0,0,0],[0.05,0.02,0.01]]}",
    "{\"kind\":\"inline\",\"vertices\":[[-0.05,0,0],[0.05,0.01,0]],\"edges\":[[0,1]]}",
    "{\"kind\":\"inline\",\"vertices\":[[0,0,0],[0.06,0,0],[0.1,0.05,0],[0.04,0.06,0]],\"edges\":[[0,1],[1,2],[2,3]]}",
    "{\"kind\":\"points\",\"vertices\":[[0,0,0],[0.05,0.02,0]]}",
};
enum { MESHES = sizeof meshes / sizeof meshes[0], FLAT = 6 };

/* Is it of triangles that lie in a plane? */
static bool sheet(int mesh)
{
    return mesh == 0 || mesh == 2;
}

/* Is it without elements? */
static bool loose(int mesh)
{
    return strstr(meshes[mesh], "points") != NULL;
}

static void write_contact(FILE *f, struct draw *d)
{
    fprintf(f, "\"contact\":{\"thickness\":%.4g,\"stiffness\":%.4g,\"restitution\":%g", power(d, 2e-3, 3e-2),
            power(d, 30, 1000), whole(d, 2) ? 1 : uniform(d, 0, 1));
    if (whole(d, 3) == 0)
        fprintf(f, ",\"friction\":%.4g,\"friction_model\":\"%s\"", power(d, .05, 2),
                whole(d, 4) ? "anchor" : "kinetic");
    fprintf(f, "},");
}

/* One in six may stretch, and perhaps be pressed, only so far; not where coordinates are so coarse that a proof
 * between two ends that lie so near each other lives for a microsecond. */
static void write_materials(FILE *f, struct draw *d, bool coarse)
{
    fprintf(f, "\"materials\":{\"n\":{},\"m\":{\"density\":1,\"stretch\":{\"model\":\"spring\",\"stiffness\":%.4g",
            power(d, .1, 30));
    if (whole(d, 6) == 0 && !coarse)
        fprintf(f, ",\"limit\":%.4g", power(d, .01, .5));
    fprintf(f, "}},\"w\":{\"density\":1,\"stretch\":{\"model\":\"cst\",\"stiffness\":%.4g,\"limit_principal\":%.4g}}},",
            power(d, 1, 100), power(d, .01, .5));
}

/* Now and then a vertex is led along a path, or a body turned. */
static void write_motion(FILE *f, struct draw *d, int body, double end, bool flat, const double anchor[3])
{
    const int kind = whole(d, 6);
    if (kind == 0)
        fprintf(f, "{\"body\":\"b%d\",\"vertices\":[0],\"path\":[[0,[0,0,0]],[%g,[%g,0.02,0]],[%g,[0,%g,%g]]]%s}", body,
                end / 3, uniform(d, -.1, .1), end / 2, uniform(d, -.1, .1), flat ? 0 : .1,
                whole(d, 2) ? ",\"release\":true" : "");
    if (kind == 1)
        fprintf(f,
                "{\"body\":\"b%d\",\"rotate\":{\"axis\":[%g,0,1],\"center\":[%.10g,%.10g,%.10g],"
                "\"path\":[[0,0],[%g,%g],[%g,0]]}%s}",
                body, flat ? 0 : uniform(d, -1, 1), anchor[0], anchor[1], anchor[2], end / 3, uniform(d, -20, 20),
                .9 * end, whole(d, 2) ? ",\"release\":true" : "");
}

static void write_body(FILE *f, struct draw *d, int b, bool held, bool flat, double speed, const double anchor[3],
                       bool coarse)
{
    const int mesh = flat ? FLAT + whole(d, MESHES - FLAT) : whole(d, MESHES);
    const bool plain = held || whole(d, 3) == 0 || loose(mesh), wide = whole(d, 3) == 0 && sheet(mesh) && !coarse;
    double r[3];
    for (int c = 0; c < 3; c++)
        r[c] = flat && c == 2 ? 0 : uniform(d, -.05, .05);
    r[flat ? b % 2 : b % 3] += b == 3 ? -.3 : .25 * b;
    fprintf(f, "%s{\"name\":\"b%d\",\"mesh\":%s,\"mass\":%.4g", b ? "," : "", b, meshes[mesh], power(d, 1e-3, 1e-2));
    if (!plain)
        fprintf(f, ",\"material\":\"%s\"", wide ? "w" : "m");
    if (whole(d, 4) == 0)
        fprintf(f, ",\"radius\":%.4g", power(d, 1e-3, 2e-2));
    fprintf(f, ",\"position\":[%.10g,%.10g,%.10g],\"rotation\":[%g,%g,%g]", anchor[0] + r[0], anchor[1] + r[1],
            anchor[2] + r[2], flat ? 0 : uniform(d, -90, 90), flat ? 0 : uniform(d, -90, 90), uniform(d, -90, 90));
    if (held && whole(d, 2))
        fprintf(f, ",\"fixed\":true");
    else
        fprintf(f, ",\"velocity\":[%g,%g,%g],\"angular_velocity\":[%g,0,%g]", -speed * r[0] / .2 + uniform(d, -1, 1),
                -speed * r[1] / .2, -speed * r[2] / .2, flat ? 0 : uniform(d, -50, 50), uniform(d, -50, 50));
    fprintf(f, "}");
}

static void write_scene(const char *path, struct draw *d)
{
    FILE *f = fopen(path, "w");
    TAC_CHECK(f != NULL);
    const int bodies = 2 + whole(d, 3), held = whole(d, 3) == 0 ? whole(d, bodies) : -1, anchor_kind = whole(d, 4);
    const bool flat = whole(d, 5) == 0;
    const double far = anchor_kind == 0 ? power(d, 1e3, 1e8) : anchor_kind == 1 ? 10 : 0;
    const double end = .016, speed = power(d, 3, 40);
    double anchor[3];
    for (int c = 0; c < 3; c++)
        anchor[c] = flat && c == 2 ? 0 : far * uniform(d, -1, 1);
    fprintf(f, "{\"format\":\"tactus-scene/1\",\"time\":{\"end\":%g,\"frame\":%g},", end, end / 4);
    fprintf(f, "\"gravity\":[0,%g,0],", whole(d, 2) ? -uniform(d, 0, 300) : 0);
    write_contact(f, d);
    fprintf(f, "\"clocks\":{\"mode\":\"%s\",\"gravity_s\":%.4g},", whole(d, 8) ? "nested" : "free",
            power(d, 1e-4, 4e-3));
    write_materials(f, d, far > 1e4);
    fprintf(f, "\"bodies\":[");
    for (int b = 0; b < bodies; b++)
        write_body(f, d, b, b == held, flat, speed, anchor, far > 1e4);
    fprintf(f, "],\"motions\":[");
    write_motion(f, d, held == 0 ? 1 : 0, end, flat, anchor);
    fprintf(f, "]}\n");
    fclose(f);
}

struct run {
    struct tac_ctx ctx;
    struct tac_scene *scene;
    struct tac_sim *sim;
    enum tac_err err;
};

static void start(struct run *r, const char *path, const char *const *set, int count, const char *mode)
{
    char text[64];
    const char *all[16];
    memset(r, 0, sizeof *r);
    tac_ctx_init(&r->ctx, MPI_COMM_WORLD);
    snprintf(text, sizeof text, "discovery.mode=%s", mode);
    for (int i = 0; i < count; i++)
        all[i] = set[i];
    all[count] = text;
    r->err = tac_scene_read(&r->ctx, path, all, count + 1, &r->scene);
    if (!r->err)
        r->err = tac_sim_create(&r->ctx, r->scene, r->scene->settings->discovery.mode, &r->sim);
}

static void stop(struct run *r)
{
    tac_sim_destroy(&r->sim);
    tac_scene_destroy(&r->scene);
}

static void advance(struct run *r, tac_time t)
{
    while (!r->err && r->sim->state.now < t)
        r->err = tac_sim_advance(r->sim, t);
}

/* What a run of a scene taught: for the count of those in which something happened. */
struct tally {
    int scenes, touching, stuck, flat, rubbing, limited, wide, led;
    int64_t silent, active;
};

/* True if the two went on alike. */
static bool same(const struct run *a, const struct run *b, const char **what)
{
    *what = "end";
    if (a->err != b->err || (a->err && strcmp(a->ctx.error, b->ctx.error) != 0))
        return false;
    if (a->err)
        return true;
    const size_t n = (size_t)a->sim->state.owned;
    *what = "velocities";
    for (size_t i = 0; i < n; i++)
        if (memcmp(a->sim->state.vel[i].v, b->sim->state.vel[i].v, sizeof a->sim->state.vel[i].v) != 0)
            return false;
    *what = "places";
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a->sim->state.pos[i], &b->sim->state.pos[i], sizeof a->sim->state.pos[i]) != 0)
            return false;
    *what = "impulses or layers";
    /* Written in one way: how they are split in two depends on the windows. */
    (void)tac_immovable_gather(a->sim);
    (void)tac_immovable_gather(b->sim);
    return memcmp(a->sim->state.impulse, b->sim->state.impulse, 3 * n * sizeof(double)) == 0 &&
           memcmp(a->sim->immovable.rest, b->sim->immovable.rest, 3 * n * sizeof(double)) == 0 &&
           a->sim->books.deepest_ever == b->sim->books.deepest_ever;
}

/* Such scenes are refused before they run. */
static bool overlaps(struct run *r)
{
    struct tac_overlaps *found = NULL;
    TAC_CHECK(tac_overlap_find(&r->ctx, r->scene, &found) == TAC_OK);
    const bool any = found->count > 0;
    tac_overlap_destroy(&found);
    return any;
}

static bool one_scene(const char *path, uint64_t seed, struct tally *tally)
{
    static const char *const queues[] = {"binary", "pairing", "calendar", "radix"};
    static const int ks[] = {6, 14, 18, 26};
    struct draw d = {seed, 0};
    struct run plain, kinetic;
    char set[4][64];
    const char *list[4], *what = "";
    int n = 0;
    write_scene(path, &d);
    start(&plain, path, NULL, 0, "all-pairs");
    if (plain.err || overlaps(&plain)) { /* no scene */
        stop(&plain);
        return true;
    }
    snprintf(set[n++], 64, "discovery.queue=%s", queues[whole(&d, 4)]);
    snprintf(set[n++], 64, "discovery.kdop=%d", ks[whole(&d, 4)]);
    snprintf(set[n++], 64, "discovery.structure=%s", whole(&d, 3) ? "k-dop" : "pairs");
    const int vague = whole(&d, 4);
    /* Limits keep neighbours apart that are always near: proofs from absurd plans live for no tick there. */
    const double most = plain.sim->model->limits ? 10 : 1e4;
    if (vague)
        snprintf(set[n++], 64, "discovery.vagueness=%g", vague == 1 ? 0 : power(&d, 1e-6, most));
    for (int i = 0; i < n; i++)
        list[i] = set[i];
    start(&kinetic, path, list, n, "kds");
    bool alike = same(&plain, &kinetic, &what);
    /* Stops at odd times: windows, and so what is tidied when, differ from scene to scene. */
    for (int part = 1; part <= 3 && alike && !plain.err; part++) {
        const tac_time t =
            part == 3 ? plain.scene->settings->t_end
                      : (tac_time)((double)plain.scene->settings->t_end * uniform(&d, .3 * part, .3 * part + .3));
        advance(&plain, t);
        advance(&kinetic, t);
        alike = same(&plain, &kinetic, &what);
    }
    CHECK(alike, "scene %llu: %s differ (%s | %s)", (unsigned long long)seed, what, plain.ctx.error, kinetic.ctx.error);
    tally->scenes++;
    tally->stuck += plain.err != TAC_OK;
    tally->flat += plain.scene->settings->two_d;
    tally->rubbing += plain.sim->active.friction != NULL;
    tally->limited += plain.sim->model->limits;
    tally->wide += plain.sim->model->wide;
    tally->led += plain.scene->settings->motion_count > 0;
    tally->touching += plain.sim->books.deepest_ever > 0;
    tally->silent += kinetic.sim->books.counters.silent;
    tally->active += kinetic.sim->books.counters.contacts_found;
    stop(&plain);
    stop(&kinetic);
    return alike;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    setvbuf(stdout, NULL, _IOLBF, 0);
    const int count = argc > 1 ? atoi(argv[1]) : 200;
    const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    char path[] = "/tmp/tactus-sound-XXXXXX";
    struct tally tally = {0};
    int file = mkstemp(path);
    TAC_CHECK(file >= 0);
    close(file);
    for (int i = 0; i < count; i++)
        one_scene(path, first + (uint64_t)i, &tally);
    unlink(path);
    printf("%d scenes: contact in %d, %d stop early; %d in a plane, friction in %d, limits in %d, of triangles in %d, "
           "motions in %d; %lld "
           "watches, %lld silent ticks\n",
           tally.scenes, tally.touching, tally.stuck, tally.flat, tally.rubbing, tally.limited, tally.wide, tally.led,
           (long long)tally.active, (long long)tally.silent);
    CHECK(3 * tally.touching > tally.scenes && (count < 100 || 20 * tally.wide > tally.scenes),
          "the scenes test little");
    MPI_Finalize();
    return check_result();
}
