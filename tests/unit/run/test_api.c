/* The stepping API in one process: what is wrong comes back as a sentence, and the host goes on; simulations side by
 * side do not disturb each other; a watcher can stop one.  Run on 1 and on 2 ranks.  If this fails, a host program
 * (Python, say) would die or get other bits than `tactus run`. */
#include <tactus/process.h>
#include <tactus/run.h>
#include <tactus/simulation.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("test_api.c:%d: %s does not hold\n", __LINE__, #condition);                                         \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

static const char DROP[] = "{\"format\": \"tactus-scene/1\", \"time\": {\"end\": 1, \"frame\": 0.125},"
                           " \"gravity\": [0, -10, 0], \"contact\": {\"thickness\": 0.02, \"restitution\": 0.5},"
                           " \"bodies\": [{\"name\": \"ball\", \"mass\": 0.01, \"position\": [0, 0.2, 0],"
                           " \"mesh\": {\"kind\": \"icosahedron\", \"edge\": 0.05}},"
                           " {\"name\": \"floor\", \"fixed\": true,"
                           " \"mesh\": {\"kind\": \"grid\", \"size\": [1, 1], \"cells\": [2, 2]}}]}";

/* Two walls that a script closes on a particle: it cannot go on. */
static const char VICE[] = "{\"format\": \"tactus-scene/1\", \"time\": {\"end\": 1, \"frame\": 0.125},"
                           " \"contact\": {\"thickness\": 0.02, \"min_period_s\": 1e-6},"
                           " \"bodies\": [{\"name\": \"dot\", \"mass\": 0.01, \"mesh\": {\"kind\": \"points\","
                           " \"vertices\": [[0, 0, 0]]}},"
                           " {\"name\": \"low\", \"fixed\": true, \"position\": [0, -0.05, 0],"
                           " \"mesh\": {\"kind\": \"grid\", \"size\": [1, 1], \"cells\": [1, 1]}},"
                           " {\"name\": \"high\", \"mass\": 1, \"position\": [0, 0.05, 0],"
                           " \"mesh\": {\"kind\": \"grid\", \"size\": [1, 1], \"cells\": [1, 1]}}],"
                           " \"motions\": [{\"body\": \"high\", \"path\": [[0, [0, 0, 0]], [0.1, [0, -0.2, 0]]]}]}";

static struct tac_simulation *make(struct tac_ctx *ctx, const char *text, const char *change)
{
    struct tac_simulation *sim = NULL;
    const struct tac_scene_source source = {.text = text, .set = &change, .set_count = change != NULL};
    EXPECT(tac_simulation_create(ctx, &source, &sim) == TAC_OK);
    return sim;
}

/* A number that two states share only if all their bits do. */
static uint64_t bits(struct tac_ctx *ctx, struct tac_simulation *sim)
{
    uint64_t sum = 0;
    struct tac_vectors view[2];
    EXPECT(tac_simulation_positions(sim, &view[0]) == TAC_OK && tac_simulation_velocities(sim, &view[1]) == TAC_OK);
    for (int w = 0; w < 2; w++)
        for (tac_lid i = 0; i < view[w].count; i++) {
            uint64_t word[3];
            memcpy(word, (const char *)view[w].data + (size_t)i * view[w].stride, sizeof word);
            for (int k = 0; k < 3; k++)
                sum += (word[k] ^ (word[k] >> 31)) * (uint64_t)(2 * (6 * view[w].id[i] + 3 * w + k) + 1) *
                       0x9e3779b97f4a7c15u;
        }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, ctx->comm);
    return sum;
}

/* Copies are what the views show, and stay when the simulation goes on. */
static void copies(struct tac_ctx *ctx)
{
    struct tac_simulation *sim = make(ctx, DROP, NULL);
    struct tac_vectors view[2];
    EXPECT(tac_simulation_vertices(NULL) == 0);
    EXPECT(tac_simulation_advance(sim, .0625) == TAC_OK);
    const tac_lid n = tac_simulation_vertices(sim);
    tac_gid id[64];
    double x[64][3], v[64][3], kept[3] = {0};
    EXPECT(n <= 64 && tac_simulation_copy(sim, 64, id, x[0], v[0]) == TAC_OK);
    EXPECT(tac_simulation_positions(sim, &view[0]) == TAC_OK && tac_simulation_velocities(sim, &view[1]) == TAC_OK);
    EXPECT(view[0].count == n);
    for (tac_lid i = 0; i < n; i++) {
        const size_t at = (size_t)i;
        EXPECT(id[i] == view[0].id[i]);
        EXPECT(memcmp(x[i], (const char *)view[0].data + at * view[0].stride, sizeof x[i]) == 0);
        EXPECT(memcmp(v[i], (const char *)view[1].data + at * view[1].stride, sizeof v[i]) == 0);
    }
    if (n > 0) {
        memcpy(kept, x[0], sizeof kept);
        EXPECT(tac_simulation_copy(sim, n - 1, id, x[0], v[0]) == TAC_ERR_INPUT);
        EXPECT(strstr(ctx->error, "room") != NULL);
    }
    EXPECT(tac_simulation_copy(sim, n, NULL, NULL, NULL) == TAC_OK);
    EXPECT(tac_simulation_advance(sim, .125) == TAC_OK);
    EXPECT(n == 0 || memcmp(kept, x[0], sizeof kept) == 0);
    tac_simulation_destroy(&sim);
}

static void refuses(struct tac_ctx *ctx, const struct tac_scene_source *source, const char *word)
{
    struct tac_simulation *sim = NULL;
    const enum tac_err err = tac_simulation_create(ctx, source, &sim);
    EXPECT(err == TAC_ERR_INPUT && sim == NULL && strstr(ctx->error, word) != NULL);
    if (err != TAC_ERR_INPUT || strstr(ctx->error, word) == NULL)
        printf("code %d: %s (and not '%s')\n", (int)err, ctx->error, word);
}

static void bad_scenes(struct tac_ctx *ctx)
{
    static const char file[] = "{\"format\": \"tactus-scene/1\", \"time\": {\"end\": 1, \"frame\": 0.125}, \"bodies\": "
                               "[{\"name\": \"a\", \"mesh\": {\"kind\": \"file\", \"path\": \"ball.obj\"}}]}";
    static const char *const two[] = {"integrator.kind=sequential"};
    refuses(ctx, NULL, "needs a scene");
    refuses(ctx, &(struct tac_scene_source){.path = NULL}, "needs a scene");
    refuses(ctx, &(struct tac_scene_source){.path = "no-such-scene.json"}, "no-such-scene.json");
    refuses(ctx, &(struct tac_scene_source){.text = "{\"format\": "}, "line 1");
    refuses(ctx, &(struct tac_scene_source){.text = "{}"}, "format");
    refuses(ctx, &(struct tac_scene_source){.text = file, .folder = "/no/such/folder"}, "/no/such/folder");
    refuses(ctx, &(struct tac_scene_source){.text = file, .folder = "/"}, "/ball.obj");
    refuses(ctx, &(struct tac_scene_source){.text = DROP, .set = two, .set_count = 1}, "asynchronous");
    struct tac_simulation *sim = NULL;
    EXPECT(tac_simulation_restore(ctx, "no-such.h5", NULL, &sim) == TAC_ERR_INPUT && sim == NULL);
    EXPECT(strstr(ctx->error, "no-such.h5") != NULL);
}

static void bad_calls(struct tac_ctx *ctx)
{
    struct tac_simulation *sim = make(ctx, DROP, NULL);
    static const char *const refused[] = {
        "contact.friction=-1", "contact.thickness=0.1",    "loads.0.force=[0, 0, 1]", "motions.0.path=[[1, 2]]",
        "time.end=2",          "gravity=[1, 2]",           "contact.restitution=1",   "gravity",
        "contact=3",           "contact.restitution=0.5x", "bodies.0.mass=1",         ""};
    EXPECT(tac_simulation_advance(sim, .125) == TAC_OK && ctx->error[0] == '\0');
    const uint64_t before = bits(ctx, sim);
    EXPECT(tac_simulation_advance(sim, .0625) == TAC_ERR_INPUT && strstr(ctx->error, "already") != NULL);
    EXPECT(tac_simulation_advance(sim, NAN) == TAC_ERR_INPUT && ctx->error[0] != '\0');
    EXPECT(tac_simulation_advance(sim, 1e30) == TAC_ERR_INPUT && strstr(ctx->error, "2^53") != NULL);
    EXPECT(tac_simulation_advance(sim, .125) == TAC_OK && ctx->error[0] == '\0');
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        EXPECT(tac_simulation_set_control(sim, refused[i]) == TAC_ERR_INPUT && ctx->error[0] != '\0');
    EXPECT(tac_simulation_set_control(sim, NULL) == TAC_ERR_INPUT);
    EXPECT(tac_simulation_save(sim, "/no/such/folder", NULL, 0) == TAC_ERR_INPUT);
    EXPECT(tac_simulation_time(sim) == .125 && bits(ctx, sim) == before);
    tac_simulation_destroy(&sim);
    EXPECT(sim == NULL);
    tac_simulation_destroy(&sim);
}

/* Two of one scene and one of another, in turn, against one alone; while a fourth fails for good. */
static void side_by_side(const struct tac_ctx *world)
{
    struct tac_ctx ctx[4];
    struct tac_simulation *sim[4];
    struct tac_vectors view;
    for (int i = 0; i < 4; i++) {
        ctx[i] = *world;
        sim[i] = make(&ctx[i], i == 3 ? VICE : DROP, i == 2 ? "discovery.mode=kds" : NULL);
    }
    for (int k = 1; k <= 24; k++) {
        EXPECT(tac_simulation_advance(sim[0], k / 64.) == TAC_OK);
        EXPECT(tac_simulation_advance(sim[1], k % 5 ? tac_simulation_time(sim[1]) : k / 64.) == TAC_OK);
        EXPECT(tac_simulation_advance(sim[2], k / 64. - .001 * k / 24) == TAC_OK);
        if (k == 3) {
            EXPECT(tac_simulation_advance(sim[3], 1) == TAC_ERR_RUN);
            EXPECT(strstr(ctx[3].error, "cannot go on") != NULL);
            EXPECT(tac_simulation_advance(sim[3], 2) == TAC_ERR_RUN && strstr(ctx[3].error, "before") != NULL);
            EXPECT(tac_simulation_positions(sim[3], &view) == TAC_ERR_RUN);
            tac_simulation_destroy(&sim[3]);
        }
    }
    for (int i = 0; i < 3; i++)
        EXPECT(tac_simulation_advance(sim[i], .375) == TAC_OK);
    struct tac_simulation *alone = make(&ctx[3], DROP, NULL);
    EXPECT(tac_simulation_advance(alone, .375) == TAC_OK);
    const uint64_t want = bits(&ctx[3], alone);
    for (int i = 0; i < 3; i++)
        EXPECT(bits(&ctx[i], sim[i]) == want);
    /* Changing one of them changes it alone. */
    EXPECT(tac_simulation_set_control(sim[0], "gravity=[0, 10, 0]") == TAC_OK);
    for (int i = 0; i < 3; i++)
        EXPECT(tac_simulation_advance(sim[i], .5) == TAC_OK);
    EXPECT(tac_simulation_advance(alone, .5) == TAC_OK);
    EXPECT(bits(&ctx[0], sim[0]) != bits(&ctx[3], alone) && bits(&ctx[1], sim[1]) == bits(&ctx[3], alone));
    for (int i = 0; i < 3; i++)
        tac_simulation_destroy(&sim[i]);
    tac_simulation_destroy(&alone);
}

struct patience {
    int calls, most;
};

static bool go_on(void *user)
{
    struct patience *p = user;
    return p->calls++ < p->most;
}

/* One rank's watcher stops all, where they are; and they go on as if nothing had been. */
static void active(struct tac_ctx *ctx)
{
    struct tac_simulation *sim = make(ctx, DROP, NULL), *alone = make(ctx, DROP, NULL);
    struct tac_energy_row row[2];
    struct patience p = {0, ctx->rank == ctx->size - 1 ? 5 : 1000000};
    tac_simulation_watch(sim, go_on, &p);
    EXPECT(tac_simulation_advance(sim, .25) == TAC_ERR_STOPPED && ctx->error[0] != '\0');
    EXPECT(tac_simulation_time(sim) > 0 && tac_simulation_time(sim) < .25);
    EXPECT(tac_simulation_energy(sim, &row[0]) == TAC_ERR_INPUT);
    tac_simulation_watch(sim, NULL, NULL);
    EXPECT(tac_simulation_advance(sim, .25) == TAC_OK && tac_simulation_advance(alone, .25) == TAC_OK);
    EXPECT(bits(ctx, sim) == bits(ctx, alone));
    EXPECT(tac_simulation_energy(sim, &row[0]) == TAC_OK && tac_simulation_energy(alone, &row[1]) == TAC_OK);
    EXPECT(memcmp(&row[0], &row[1], sizeof row[0]) == 0);
    tac_simulation_destroy(&sim);
    tac_simulation_destroy(&alone);
}

int main(void)
{
    struct tac_ctx ctx;
    struct tac_simulation *sim = NULL;
    bool started, again;
    memset(&ctx, 0, sizeof ctx);
    ctx.size = 1;
    EXPECT(tac_simulation_create(&ctx, &(struct tac_scene_source){.text = DROP}, &sim) == TAC_ERR_INPUT);
    EXPECT(strstr(ctx.error, "MPI does not run") != NULL);
    EXPECT(tac_mpi_begin(&ctx, &started) == TAC_OK && started);
    EXPECT(tac_mpi_begin(&ctx, &again) == TAC_OK && !again);
    tac_mpi_end(again);
    ctx.quiet = true;
    EXPECT(strcmp(tac_version(), TAC_VERSION) == 0);
    bad_scenes(&ctx);
    bad_calls(&ctx);
    copies(&ctx);
    side_by_side(&ctx);
    active(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    tac_mpi_end(started);
    EXPECT(tac_mpi_begin(&ctx, &again) == TAC_ERR_RUN);
    EXPECT(tac_simulation_create(&ctx, &(struct tac_scene_source){.text = DROP}, &sim) == TAC_ERR_INPUT);
    return failures != 0;
}
