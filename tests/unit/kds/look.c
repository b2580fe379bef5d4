/* A look into the kinetic structures of a run, for pictures (jobs/experiments/kds/pictures.py): one line of JSON per
 * sample.
 *
 *     kds_look SCENE SAMPLES END_S counts|all [KEY=VALUE...]
 *
 * counts: certificates alive, slabs by the layer that they keep silent.  all: each slab, plan, node and test: small
 * scenes. It fails if the slabs do not fit the pairs that are active, so it is a test too. */
#include "events/sim.h"
#include "kds/kinetic_lists.h"
#include "kds/kinetic_slab.h"
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

enum { LAYERS = 24 };

static double seconds(const struct tac_sim *sim, tac_time t)
{
    return t == TAC_TIME_NEVER ? 1e30 : tac_state_seconds(&sim->state, t);
}

static void vector(const char *name, const double x[3])
{
    printf("\"%s\":[%.17g,%.17g,%.17g]", name, x[0], x[1], x[2]);
}

/* Layers of its pair that are active; stops the program where a slab proves what is not asked, or less. */
static int32_t depth_of(const struct tac_sim *sim, const struct tac_slab *s)
{
    const int32_t slot = tac_active_find(&sim->active, s->key);
    TAC_CHECK(slot == s->slot);
    const int32_t depth = slot >= 0 ? sim->active.pair[slot].depth : 0;
    TAC_CHECK(slot < 0 || s->next == sim->active.pair[slot].next);
    return depth;
}

static void show_counts(const struct tac_sim *sim)
{
    const struct tac_kinetic *k = sim->find.kinetic;
    const struct tac_slabs *all = k->self[TAC_KINETIC_NARROW];
    int64_t layer[LAYERS] = {0}, tests[4] = {0};
    struct tac_list_view view;
    for (size_t i = 0; i < all->count; i++)
        if (all->slab[i].live) {
            const int32_t depth = depth_of(sim, &all->slab[i]);
            layer[depth < LAYERS ? depth : LAYERS - 1]++;
        }
    for (int32_t id = 0; tac_lists_view(k, id, &view); id++)
        tests[view.state]++;
    printf("\"apart\":%lld,\"split\":%lld,\"open\":%lld,\"layers\":[", (long long)tests[TAC_LIST_SEPARATED],
           (long long)tests[TAC_LIST_SPLIT], (long long)tests[TAC_LIST_OPEN]);
    for (int i = 0; i < LAYERS; i++)
        printf("%s%lld", i ? "," : "", (long long)layer[i]);
    printf("]");
}

static void show_slabs(const struct tac_sim *sim)
{
    const struct tac_kinetic *k = sim->find.kinetic;
    const struct tac_slabs *all = k->self[TAC_KINETIC_NARROW];
    const char *comma = "";
    printf(",\"slabs\":[");
    for (size_t i = 0; i < all->count; i++) {
        const struct tac_slab *s = &all->slab[i];
        if (!s->live)
            continue;
        printf("%s{\"type\":%d,\"v\":[%d,%d,%d,%d],\"first\":%d,", comma, s->type, (int)s->v[0], (int)s->v[1],
               (int)s->v[2], (int)s->v[3], s->first);
        vector("n", s->n);
        printf(",\"upper\":%.17g,\"lower\":%.17g,\"speed\":%.17g,\"laid\":%.17g,\"until\":%.17g,\"depth\":%d,\"next\":%"
               ".17g}",
               s->upper, s->lower, s->speed, seconds(sim, s->laid), seconds(sim, all->queue->time[i]),
               (int)depth_of(sim, s), s->next);
        comma = ",";
    }
    printf("]");
}

static void show_plans(const struct tac_sim *sim)
{
    printf(",\"plans\":[");
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        const struct tac_plan *p = &sim->find.kinetic->plan[i];
        double x[3], v[3];
        tac_position(&sim->state, &sim->scripts, i, sim->state.now, x);
        tac_kinetic_velocity(&sim->view, i, v);
        printf("%s{", i ? "," : "");
        vector("v", p->v);
        printf(",");
        vector("x", p->x);
        printf(",");
        vector("now", x);
        printf(",");
        vector("velocity", v);
        printf(",\"t\":%.17g,\"reach\":%.17g}", seconds(sim, p->t), p->reach);
    }
    printf("]");
}

/* Extents now, along the axes as they are (not unit). */
static void show_tree(const struct tac_sim *sim)
{
    const struct tac_kinetic *k = sim->find.kinetic;
    struct tac_list_view view;
    const char *comma = "";
    if (!tac_lists_view(k, 0, &view))
        return;
    const struct tac_kinetic_tree *tree = view.tree;
    printf(",\"axes\":[");
    for (int a = 0; a < tree->axes; a++)
        printf("%s[%g,%g,%g]", a ? "," : "", tree->axis[a][0], tree->axis[a][1], tree->axis[a][2]);
    printf("],\"nodes\":[");
    for (int32_t i = 0; i < tree->count; i++) {
        const double *e = &tree->envelope[4 * (size_t)tree->axes * (size_t)i];
        const double dt = seconds(sim, sim->state.now) - seconds(sim, tree->node[i].t0);
        printf("%s{\"left\":%d,\"up\":%d,\"body\":%d,\"lo\":[", i ? "," : "", (int)tree->node[i].left,
               (int)tree->node[i].up, (int)tree->node[i].body);
        for (int a = 0; a < tree->axes; a++)
            printf("%s%.9g", a ? "," : "", e[a] + dt * e[2 * tree->axes + a]);
        printf("],\"hi\":[");
        for (int a = 0; a < tree->axes; a++)
            printf("%s%.9g", a ? "," : "", e[tree->axes + a] + dt * e[3 * tree->axes + a]);
        printf("]}");
    }
    printf("],\"tests\":[");
    for (int32_t id = 0; tac_lists_view(k, id, &view); id++)
        if (view.state != TAC_LIST_UNUSED) {
            printf("%s{\"node\":[%d,%d],\"state\":%d,\"until\":%.17g}", comma, (int)view.node[0], (int)view.node[1],
                   (int)view.state, seconds(sim, view.until));
            comma = ",";
        }
    printf("]");
}

int main(int argc, char **argv)
{
    struct tac_ctx ctx;
    struct tac_scene *scene = NULL;
    struct tac_sim *sim = NULL;
    enum tac_err err;
    MPI_Init(&argc, &argv);
    if (argc < 5) {
        fprintf(stderr, "kds_look SCENE SAMPLES END_S counts|all [KEY=VALUE...]\n");
        return 2;
    }
    const int samples = atoi(argv[2]);
    const double end_s = atof(argv[3]);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    TAC_TRY(tac_scene_read(&ctx, argv[1], (const char *const *)argv + 5, argc - 5, &scene));
    TAC_TRY(tac_sim_create(&ctx, scene, TAC_DISCOVER_KDS, &sim));
    for (int i = 1; i <= samples; i++) {
        tac_time t = (tac_time)(end_s * i / samples / sim->state.quantum);
        t = t < scene->settings->t_end ? t : scene->settings->t_end;
        while (sim->state.now < t)
            TAC_TRY(tac_sim_advance(sim, t));
        printf("{\"t\":%.17g,\"filed\":%lld,\"failed\":%lld,", seconds(sim, sim->state.now),
               (long long)sim->books.counters.plans_filed, (long long)sim->books.counters.certificates_failed);
        show_counts(sim);
        if (strcmp(argv[4], "all") == 0) {
            show_slabs(sim);
            show_plans(sim);
            show_tree(sim);
        }
        printf("}\n");
    }
done:
    if (err)
        fprintf(stderr, "kds_look: %s\n", ctx.error);
    tac_sim_destroy(&sim);
    tac_scene_destroy(&scene);
    MPI_Finalize();
    return err ? 1 : 0;
}
