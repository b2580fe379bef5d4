/* change.c: changes a load in mid-run, saves, and goes on from what it has saved.
 *
 *     change drop.json FOLDER            FOLDER: for the checkpoint */
#include <tactus/process.h>
#include <tactus/simulation.h>

/* The mean of the positions' component k over all vertices of the first body, of all ranks, m.  Vertices of a body have
 * consecutive ids, and the first body's begin with 0. */
static enum tac_err mean(struct tac_ctx *ctx, struct tac_simulation *sim, int k, double *out)
{
    enum tac_err err;
    struct tac_vectors x;
    const tac_gid count = tac_simulation_scene(sim)->settings->body[0].vertex_end;
    TAC_TRY(tac_simulation_positions(sim, &x));
    *out = 0;
    for (tac_lid i = 0; i < x.count && x.id[i] < count; i++)
        *out += ((const double *)(const void *)((const char *)x.data + (size_t)i * x.stride))[k] / (double)count;
    MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_DOUBLE, MPI_SUM, ctx->comm);
done:
    return err;
}

static enum tac_err print(struct tac_ctx *ctx, struct tac_simulation *sim, const char *what)
{
    enum tac_err err;
    double x;
    TAC_TRY(mean(ctx, sim, 0, &x));
    if (ctx->rank == 0)
        printf("%.3f s: x = %.6f m, %s\n", tac_simulation_time(sim), x, what);
done:
    return err;
}

static enum tac_err change(struct tac_ctx *ctx, const char *path, const char *folder)
{
    enum tac_err err;
    const struct tac_scene_source source = {.path = path};
    struct tac_simulation *sim = NULL;
    TAC_TRY(tac_simulation_create(ctx, &source, &sim));
    TAC_TRY(tac_simulation_advance(sim, .125));
    TAC_TRY(print(ctx, sim, "nothing has pushed the ball"));
    TAC_TRY(tac_simulation_set_control(sim, "loads.0.force=[0.01, 0, 0]"));
    TAC_TRY(tac_simulation_advance(sim, .25));
    TAC_TRY(print(ctx, sim, "pushed by 0.01 N on each vertex"));
    TAC_TRY(tac_simulation_save(sim, folder, NULL, 0));
    tac_simulation_destroy(&sim);

    /* The checkpoint holds the scene as it was changed. */
    TAC_TRY(tac_simulation_restore(ctx, folder, NULL, &sim));
    TAC_TRY(tac_simulation_set_control(sim, "loads.0.force=[-0.01, 0, 0]"));
    TAC_TRY(tac_simulation_advance(sim, .375));
    TAC_TRY(print(ctx, sim, "pushed back"));
done:
    tac_simulation_destroy(&sim);
    return err;
}

int main(int argc, char **argv)
{
    struct tac_ctx ctx;
    bool started;
    enum tac_err err = tac_mpi_begin(&ctx, &started);
    if (!err && argc != 3)
        err = tac_fail(&ctx, TAC_ERR_INPUT, "usage: change SCENE FOLDER");
    if (!err)
        err = change(&ctx, argv[1], argv[2]);
    if (err && ctx.rank == 0)
        fprintf(stderr, "change: %s\n", ctx.error);
    tac_mpi_end(started);
    return (int)err;
}
