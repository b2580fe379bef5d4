/* step.c: steps a scene and prints where its first vertex is.
 *
 *     step drop.json                     or, on four ranks: mpirun -n 4 step drop.json */
#include <tactus/process.h>
#include <tactus/simulation.h>

/* The position of vertex `id`, m; NULL: it is another rank's. */
static const double *find(const struct tac_vectors *x, tac_gid id)
{
    for (tac_lid i = 0; i < x->count; i++)
        if (x->id[i] == id)
            return (const double *)(const void *)((const char *)x->data + (size_t)i * x->stride);
    return NULL;
}

static enum tac_err step(struct tac_ctx *ctx, const char *path)
{
    enum tac_err err;
    const struct tac_scene_source source = {.path = path};
    struct tac_simulation *sim = NULL;
    struct tac_vectors x;
    TAC_TRY(tac_simulation_create(ctx, &source, &sim));
    for (int k = 0; k <= 6; k++) {
        TAC_TRY(tac_simulation_advance(sim, k / 8.));
        TAC_TRY(tac_simulation_positions(sim, &x));
        const double *at = find(&x, 0);
        if (at != NULL)
            printf("%.3f s: %.17g %.17g %.17g\n", tac_simulation_time(sim), at[0], at[1], at[2]);
    }
done:
    tac_simulation_destroy(&sim);
    return err;
}

int main(int argc, char **argv)
{
    struct tac_ctx ctx;
    bool started;
    enum tac_err err = tac_mpi_begin(&ctx, &started);
    if (!err && argc != 2)
        err = tac_fail(&ctx, TAC_ERR_INPUT, "usage: step SCENE");
    if (!err)
        err = step(&ctx, argv[1]);
    if (err && ctx.rank == 0)
        fprintf(stderr, "step: %s\n", ctx.error);
    tac_mpi_end(started);
    return (int)err;
}
