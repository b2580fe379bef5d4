/* bench_instructions: the engine and the plain loop over the same span of simulated time, for a count of instructions.
 *
 *     bench_instructions NAME SCENE WARM SPAN [KEY=VALUE ...] [, NAME SCENE WARM SPAN ...]
 *
 * Of each scene (changed as by --set) WARM seconds of simulated time are run uncounted, then SPAN seconds; then the
 * plain loop of plain.h makes PLAIN_STEPS steps over the same vertices and elements. A row per scene says what was done
 * in that span:
 *
 *     NAME, steps of the plain loop in SPAN, contact ticks, silent ones among them, vertices that are not fixed
 *
 * Under `valgrind --tool=callgrind --instr-atstart=no` it writes two counts per scene, "NAME engine" and "NAME plain":
 * see tests/speed/instructions, which judges them. Without valgrind it counts nothing. The first line printed names
 * what the counts depend on: the compiler, and whether the processor has vectors of four doubles. */
#include "plain.h"
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

enum { PLAIN_STEPS = 4, STEPS_WITHOUT_FORCES = 100 };

static struct tac_ctx ctx;

static void need(enum tac_err err)
{
    if (err) {
        fprintf(stderr, "bench_instructions: %s\n", ctx.error);
        exit(2);
    }
}

static tac_time quanta(const struct tac_sim *sim, double seconds, tac_time step)
{
    return (tac_time)(seconds / sim->state.quantum) / step * step;
}

static void advance(struct tac_sim *sim, tac_time span)
{
    const tac_time end = sim->state.now + span;
    while (sim->state.now < end)
        need(tac_sim_advance(sim, end));
}

/* Counts from here on, and writes the count under a name. */
static void count_begin(void)
{
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

static void count_end(const char *name, const char *what)
{
    char title[128];
    CALLGRIND_STOP_INSTRUMENTATION;
    snprintf(title, sizeof title, "%s %s", name, what);
    CALLGRIND_DUMP_STATS_AT(title);
}

/* One scene: `word` holds NAME SCENE WARM SPAN and its changes. */
static void measure(char **word, int count)
{
    struct tac_scene *scene = NULL, *plain_scene = NULL;
    struct tac_sim *sim = NULL, *plain = NULL;
    const char **changes = (const char **)word + 4;
    need(tac_scene_read(&ctx, word[1], changes, count - 4, &scene));
    need(tac_sim_create(&ctx, scene, scene->settings->discovery.mode, &sim));
    need(tac_scene_read(&ctx, word[1], changes, count - 4, &plain_scene));
    need(tac_sim_create(&ctx, plain_scene, scene->settings->discovery.mode, &plain));
    const double span_s = atof(word[3]);
    const tac_time step =
        sim->elastic->class_count ? shortest(sim) : (tac_time)(span_s / sim->state.quantum) / STEPS_WITHOUT_FORCES;
    const tac_time span = quanta(sim, span_s, step);
    advance(sim, quanta(sim, atof(word[2]), step));
    const int64_t ticks = sim->books.counters.committed[TAC_KIND_PENALTY], silent = sim->books.counters.silent;
    count_begin();
    advance(sim, span);
    count_end(word[0], "engine");
    const double slow =
        tac_state_seconds(&plain->state, step) * 1e-3; /* in slow motion: what a step costs depends on no speed */
    count_begin();
    leapfrog(plain, PLAIN_STEPS, slow);
    count_end(word[0], "plain");
    tac_lid moving = 0;
    for (tac_lid i = 0; i < scene->mesh->vertex_count; i++)
        moving += sim->state.vel[i].w != 0;
    printf("%s %.6f %" PRId64 " %" PRId64 " %d\n", word[0], (double)(span / step),
           sim->books.counters.committed[TAC_KIND_PENALTY] - ticks, sim->books.counters.silent - silent, (int)moving);
    tac_sim_destroy(&sim);
    tac_sim_destroy(&plain);
    tac_scene_destroy(&scene);
    tac_scene_destroy(&plain_scene);
}

#if defined __clang__
#define COMPILER "clang " TAC_TEXT(__clang_major__)
#else
#define COMPILER "gcc " TAC_TEXT(__GNUC__)
#endif
#ifdef __AVX2__
#define NATIVE ", native" /* TACTUS_NATIVE */
#else
#define NATIVE ""
#endif
#define TAC_TEXT(x) TAC_TEXT_OF(x)
#define TAC_TEXT_OF(x) #x

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
#if defined __x86_64__
    printf("%s, x86-64%s%s; %d\n", COMPILER, __builtin_cpu_supports("avx2") ? " with AVX2" : "", NATIVE, PLAIN_STEPS);
#else
    printf("%s, another processor; %d\n", COMPILER, PLAIN_STEPS);
#endif
    for (int i = 1; i < argc;) {
        int n = 0;
        while (i + n < argc && strcmp(argv[i + n], ",") != 0)
            n++;
        if (n < 4) {
            fprintf(stderr, "bench_instructions: wanted NAME SCENE WARM SPAN [KEY=VALUE ...] [, ...]\n");
            return 2;
        }
        measure(argv + i, n);
        i += n + 1;
    }
    MPI_Finalize();
    return 0;
}
