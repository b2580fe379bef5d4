/* bench_engine: what asynchrony and contact cost, against a plain synchronous leapfrog loop over the same arrays.
 *
 *     bench_engine [cells [repeats]]
 *
 * Each figure is a ratio of two loops timed in turn in one run, median (least .. largest) of the repeats:
 *   off       contact off: the engine's instants against the plain loop
 *   idle      contact on, a cloth falling freely: windows, paths and discovery as well
 *   damped    contact off: the same forces damped, and plastic, against themselves without
 *   drape     two sheets over an obstacle;  stack: sheets resting on each other on a floor
 * and force ticks per second beside the STREAM triad, time per vertex and tick at growing sizes, bytes per vertex. */
#include "plain.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct tac_ctx ctx;

static struct tac_sim *load(const char *text, struct tac_scene **scene)
{
    char path[] = "/tmp/bench-engine-XXXXXX";
    int fd = mkstemp(path);
    struct tac_sim *sim = NULL;
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        exit(3);
    close(fd);
    if (tac_scene_read(&ctx, path, NULL, 0, scene) ||
        tac_sim_create(&ctx, *scene, (*scene)->settings->discovery.mode, &sim)) {
        fprintf(stderr, "bench_engine: %s\n", ctx.error);
        exit(3);
    }
    unlink(path);
    return sim;
}

/* Of the processor, s: other programs on the machine take wall time, but little of this. */
static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double run_engine(struct tac_sim *sim, tac_time span)
{
    double begin = cpu_s();
    tac_time end = sim->state.now + span;
    while (sim->state.now < end)
        if (tac_sim_advance(sim, end)) {
            fprintf(stderr, "bench_engine: %s\n", ctx.error);
            exit(3);
        }
    return cpu_s() - begin;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double report(const char *name, double *sample, int n, const char *unit)
{
    qsort(sample, (size_t)n, sizeof *sample, compare);
    printf("%-34s %8.3f  (%.3f .. %.3f) %s\n", name, sample[n / 2], sample[0], sample[n - 1], unit);
    fflush(stdout);
    return sample[n / 2];
}

/* Engine and plain loop over the same span of simulated time, in turn. `warm_s`: simulated seconds first. */
static void compare_loops(const char *name, const char *text, double warm_s, int ticks, int repeats)
{
    struct tac_scene *scene, *plain_scene;
    struct tac_sim *sim = load(text, &scene), *plain = load(text, &plain_scene);
    tac_time period = shortest(sim);
    double ratio[64], per[64], least_a = 1e300, least_b = 1e300;
    if (warm_s > 0)
        run_engine(sim, (tac_time)(warm_s / sim->state.quantum) / period * period);
    leapfrog(plain, 2, tac_state_seconds(&plain->state, period) * 1e-3);
    run_engine(sim, 2 * 24 * period);
    int64_t penalty = sim->books.counters.committed[TAC_KIND_PENALTY];
    for (int r = 0; r < repeats; r++) {
        double a = run_engine(sim, ticks * period), begin = cpu_s();
        leapfrog(plain, ticks,
                 tac_state_seconds(&plain->state, period) * 1e-3); /* slow motion: any speed costs the same */
        double b = cpu_s() - begin;
        ratio[r] = a / b;
        least_a = fmin(least_a, a);
        least_b = fmin(least_b, b);
        per[r] = 1e9 * b / ticks / scene->mesh->vertex_count;
    }
    penalty = sim->books.counters.committed[TAC_KIND_PENALTY] - penalty;
    report(name, ratio, repeats, "x plain loop");
    printf("   %.3f x by the least times of both\n", least_a / least_b);
    report("   plain loop", per, repeats, "ns per vertex and tick");
    printf("   %.2f penalty ticks per vertex and tick, %" PRId64 " rollbacks, %" PRId64
           " lists, forces %.2f s, discovery %.2f s\n",
           (double)penalty / repeats / ticks / scene->mesh->vertex_count, sim->books.counters.rollbacks,
           sim->books.counters.candidate_builds, sim->books.counters.seconds_forces,
           sim->books.counters.seconds_discovery);
    tac_sim_destroy(&sim);
    tac_sim_destroy(&plain);
    tac_scene_destroy(&scene);
    tac_scene_destroy(&plain_scene);
}

#define CST                                                                                                            \
    "\"stretch\":{\"model\":\"cst\",\"stiffness\":500,\"poisson\":0.3},\"bend\":{\"model\":\"hinge\",\"stiffness\":"   \
    "1e-5}"
#define SPRING "\"stretch\":{\"model\":\"spring\",\"stiffness\":2}"
#define HEAD "{\"format\":\"tactus-scene/1\",\"time\":{\"end\":100,\"frame\":1},\"gravity\":[0,-9.81,0],"

static char buffer[4096];

static const char *falling(int cells, const char *forces, double thickness)
{
    double size = .005 * cells;
    snprintf(buffer, sizeof buffer,
             HEAD "\"contact\":{\"thickness\":%g},\"clocks\":{\"gravity_s\":1},"
                  "\"materials\":{\"m\":{\"density\":0.15,%s}},\"bodies\":[{\"name\":\"sheet\",\"material\":\"m\","
                  "\"mesh\":{\"kind\":\"grid\",\"size\":[%g,%g],\"cells\":[%d,%d]}}]}",
             thickness, forces, size, size, cells, cells);
    return buffer;
}

static const char *draped(int cells)
{
    double size = .005 * cells;
    snprintf(buffer, sizeof buffer,
             HEAD "\"contact\":{\"thickness\":0.001},\"materials\":{\"m\":{\"density\":0.15," CST "}},\"bodies\":["
                  "{\"name\":\"a\",\"material\":\"m\",\"mesh\":{\"kind\":\"grid\",\"size\":[%g,%g],\"cells\":[%d,%d]},"
                  "\"position\":[0,%g,0]},"
                  "{\"name\":\"b\",\"material\":\"m\",\"mesh\":{\"kind\":\"grid\",\"size\":[%g,%g],\"cells\":[%d,%d]},"
                  "\"position\":[0.001,%g,0.0013]},"
                  "{\"name\":\"ball\",\"mesh\":{\"kind\":\"sphere\",\"radius\":%g,\"level\":4},\"fixed\":true}]}",
             size, size, cells, cells, .25 * size + .002, size, size, cells, cells, .25 * size + .0035, .25 * size);
    return buffer;
}

static const char *stacked(int cells)
{
    double size = .005 * cells;
    snprintf(buffer, sizeof buffer,
             HEAD "\"contact\":{\"thickness\":0.001},\"materials\":{\"m\":{\"density\":0.15," CST "}},\"bodies\":["
                  "{\"name\":\"a\",\"material\":\"m\",\"mesh\":{\"kind\":\"grid\",\"size\":[%g,%g],\"cells\":[%d,%d]},"
                  "\"position\":[0,0.00105,0]},"
                  "{\"name\":\"b\",\"material\":\"m\",\"mesh\":{\"kind\":\"grid\",\"size\":[%g,%g],\"cells\":[%d,%d]},"
                  "\"position\":[0.001,0.0021,0.0013]},"
                  "{\"name\":\"floor\",\"mesh\":{\"kind\":\"grid\",\"size\":[%g,%g],\"cells\":[8,8]},\"fixed\":true}]}",
             size, size, cells, cells, size, size, cells, cells, 1.2 * size, 1.2 * size);
    return buffer;
}

/* What damping or plasticity adds to a tick: the engine with it against the engine without, over as many ticks. */
static void compare_materials(const char *name, int cells, const char *with, const char *without, int ticks,
                              int repeats)
{
    struct tac_scene *scene[2];
    struct tac_sim *sim[2] = {load(falling(cells, with, 0), &scene[0]), NULL};
    sim[1] = load(falling(cells, without, 0), &scene[1]);
    double ratio[64], per[64];
    size_t classes = 0;
    for (size_t c = 0; c < sim[0]->elastic->class_count; c++)
        classes += sim[0]->elastic->rate[c].damper_count > 0;
    for (int r = -1; r < repeats; r++) {
        double s[2];
        for (int k = 0; k < 2; k++)
            s[k] = run_engine(sim[k], ticks * shortest(sim[k]));
        if (r >= 0) {
            ratio[r] = s[0] / s[1];
            per[r] = 1e9 * s[0] / ticks / scene[0]->mesh->vertex_count;
        }
    }
    report(name, ratio, repeats, "x without");
    report("   with", per, repeats, "ns per vertex and tick");
    printf("   periods %.3g and %.3g s, %zu classes with dampers\n",
           tac_state_seconds(&sim[0]->state, shortest(sim[0])), tac_state_seconds(&sim[1]->state, shortest(sim[1])),
           classes);
    for (int k = 0; k < 2; k++) {
        tac_sim_destroy(&sim[k]);
        tac_scene_destroy(&scene[k]);
    }
}

#define CST_OF(stretch, bend)                                                                                          \
    "\"stretch\":{\"model\":\"cst\",\"stiffness\":500,\"poisson\":0.3" stretch                                         \
    "},\"bend\":{\"model\":\"hinge\",\"stiffness\":1e-5" bend "}"
#define SPRING_OF(stretch) "\"stretch\":{\"model\":\"spring\",\"stiffness\":2" stretch "}"
#define WEAK ",\"damping\":1e-7" /* so weak that dampers tick with their forces */
#define YIELD ",\"yield\":0.1"

static void materials(int cells, int repeats)
{
    compare_materials("springs, damped", cells, SPRING_OF(WEAK), SPRING, 200, repeats);
    compare_materials("cst, damped", cells, CST_OF(WEAK, ""), CST, 60, repeats);
    compare_materials("cst and hinges, damped", cells, CST_OF(WEAK, WEAK), CST, 60, repeats);
    compare_materials("springs, plastic", cells, SPRING_OF(YIELD), SPRING, 200, repeats);
    compare_materials("cst and hinges, plastic", cells, CST_OF(YIELD, YIELD), CST, 60, repeats);
}

/* STREAM triad on arrays out of cache: GB/s. */
static double triad(void)
{
    size_t n = 8000000;
    double *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b), *c = calloc(n, sizeof *c), best = 1e9;
    for (int r = 0; r < 5; r++) {
        double begin = cpu_s();
        for (size_t i = 0; i < n; i++)
            a[i] = b[i] + 3. * c[i];
        double s = cpu_s() - begin;
        best = s < best ? s : best;
        b[r] = a[n - 1 - (size_t)r];
    }
    free(a);
    free(b);
    free(c);
    return 24e-9 * (double)n / best;
}

static double resident_bytes(void)
{
    long pages = 0, unused;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &unused, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void ticks_per_second(int cells, int repeats)
{
    struct tac_scene *scene;
    struct tac_sim *sim = load(falling(cells, SPRING, 0), &scene);
    double sample[64];
    run_engine(sim, 10 * shortest(sim));
    for (int r = 0; r < repeats; r++)
        sample[r] = 20e-6 * (double)tac_class_count(&sim->elastic->rate[0], TAC_KIND_SPRING) /
                    run_engine(sim, 20 * shortest(sim));
    report("spring ticks, engine, contact off", sample, repeats, "M/s");
    printf("%-34s %8.3f  GB/s\n", "STREAM triad", triad());
    tac_sim_destroy(&sim);
    tac_scene_destroy(&scene);
}

/* What a contact tick took between two states of the counters, in which the engine took all_s of the processor.  The
 * counters know the part of each by wall time. */
static void tell_contact(const struct tac_counters *a, const struct tac_counters *b, double all_s)
{
    const double contact_s = b->seconds_contact - a->seconds_contact,
                 wall_s =
                     contact_s + b->seconds_forces - a->seconds_forces + b->seconds_discovery - a->seconds_discovery;
    const double ticks = (double)(b->executed[TAC_KIND_PENALTY] - a->executed[TAC_KIND_PENALTY]),
                 silent = (double)(b->silent - a->silent);
    printf("   contact %.0f %%: %.0f ns per tick, %.0f ns per tick that acts (%.0f %% are silent)\n",
           100 * contact_s / wall_s, 1e9 * all_s * contact_s / wall_s / ticks,
           1e9 * all_s * contact_s / wall_s / (ticks - silent), 100 * silent / ticks);
}

static void growth(int repeats)
{
    static const int cells[3] = {70, 141, 282}; /* two sheets: 10k, 40k, 160k vertices */
    double first = 0;
    for (int k = 0; k < 3; k++) {
        struct tac_scene *scene;
        double before = resident_bytes(), sample[64];
        struct tac_sim *sim = load(stacked(cells[k]), &scene);
        tac_time period = shortest(sim);
        run_engine(sim, (tac_time)(.006 / sim->state.quantum) / period * period);
        const struct tac_counters at_first = sim->books.counters;
        double all_s = 0;
        for (int r = 0; r < repeats; r++) {
            const double s = run_engine(sim, 48 * period);
            sample[r] = 1e9 * s / 48 / scene->mesh->vertex_count;
            all_s += s;
        }
        char name[64];
        snprintf(name, sizeof name, "stack of %d vertices", scene->mesh->vertex_count);
        double median = report(name, sample, repeats, "ns per vertex and tick");
        first = k == 0 ? median : first;
        tell_contact(&at_first, &sim->books.counters, all_s);
        printf("   %.2f x the smallest; %.0f bytes per vertex\n", median / first,
               (resident_bytes() - before) / scene->mesh->vertex_count);
        tac_sim_destroy(&sim);
        tac_scene_destroy(&scene);
    }
}

int main(int argc, char **argv)
{
    int cells = argc > 1 ? atoi(argv[1]) : 100, repeats = argc > 2 ? atoi(argv[2]) : 5;
    const char *only = argc > 3 ? argv[3] : "";
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    repeats = repeats < 1 ? 1 : repeats > 64 ? 64 : repeats;
    if (!*only || !strcmp(only, "off")) {
        compare_loops("contact off, springs", falling(cells, SPRING, 0), 0, 200, repeats);
        compare_loops("contact off, cst and hinges", falling(cells, CST, 0), 0, 60, repeats);
    }
    if (!*only || !strcmp(only, "idle")) {
        compare_loops("contact idle, springs", falling(cells, SPRING, .001), 0, 240, repeats);
        compare_loops("contact idle, cst and hinges", falling(cells, CST, .001), 0, 96, repeats);
    }
    if (!*only || !strcmp(only, "damped"))
        materials(cells, repeats);
    if (!*only || !strcmp(only, "drape"))
        compare_loops("two sheets draped on a ball", draped(cells), .12, 96, repeats);
    if (!*only || !strcmp(only, "stack"))
        compare_loops("two sheets resting on a floor", stacked(cells), .02, 96, repeats);
    if (!*only || !strcmp(only, "speed"))
        ticks_per_second(cells, repeats);
    if (!*only || !strcmp(only, "growth"))
        growth(repeats);
    MPI_Finalize();
    return 0;
}
