/* A checkpoint: its head, HDF5 behind it, every table, the scene in it, and the state it gives a new simulation; and
 * what `info` tells of it. */
#include "fuzz.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "app/alone.h"
#include "events/state/state_transfer.h"
#include "io/checkpoint/geometry.h"
#include <tactus/stored.h>

static void end_mpi(void)
{
    fuzz_leaks_begin();
    MPI_Finalize();
    fuzz_leaks_end();
    tac_alone_end();
}

/* Whoever goes on from a checkpoint has started MPI. */
void fuzz_begin(void)
{
    tac_alone_begin();
    setenv("OMPI_MCA_opal_signal", "", 0); /* signals are libFuzzer's */
    fuzz_leaks_begin();
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        exit(1);
    fuzz_leaks_end();
    atexit(end_mpi);
}

static enum tac_err go_on(struct tac_ctx *ctx, struct tac_scene *scene, const struct tac_checkpoint *checkpoint)
{
    enum tac_err err;
    struct tac_sim *sim = NULL;
    struct tac_checkpoint *again = NULL;
    if (checkpoint->now > scene->settings->t_end)
        return TAC_OK; /* `run` says so */
    TAC_TRY(tac_sim_create(ctx, scene, scene->settings->discovery.mode, &sim));
    TAC_TRY(tac_state_restore(sim, checkpoint));
    /* What was taken is what would be given. */
    TAC_TRY(tac_state_collect(sim, false, &again));
    fuzz_must(again->now == checkpoint->now && again->vertices.count == checkpoint->vertices.count &&
                  again->pair_count == checkpoint->pair_count && again->script_count >= checkpoint->script_count,
              "a state that was restored is there");
    const size_t n = 3 * (size_t)again->vertices.count * sizeof *again->vertices.x;
    fuzz_must(n == 0 || (memcmp(again->vertices.x, checkpoint->vertices.x, n) == 0 &&
                         memcmp(again->vertices.v, checkpoint->vertices.v, n) == 0),
              "positions and velocities are those of the file");
done:
    tac_checkpoint_destroy(&again);
    tac_sim_destroy(&sim);
    return err;
}

enum tac_err fuzz_read(struct tac_ctx *ctx, const uint8_t *data, size_t size)
{
    enum tac_err err;
    struct tac_checkpoint *checkpoint = NULL;
    struct tac_gathered gathered = {0};
    struct tac_scene *scene = NULL;
    json_t *json = NULL;
    char *file = NULL, sha256[65];
    const char *path = fuzz_put("checkpoint-000001.h5", data, size);
    TAC_TRY(tac_checkpoint_read(ctx, path, &file, &json, sha256, &checkpoint));
    fuzz_output_begin();
    fuzz_must(tac_info_checkpoint(ctx, path, false, stdout) == TAC_OK, "a checkpoint that was read can be described");
    fuzz_must(tac_info_checkpoint(ctx, path, true, stdout) == TAC_OK,
              "a checkpoint that was read can be described in JSON");
    fuzz_output_end();
    TAC_TRY(tac_geometry_gather(ctx, checkpoint, &gathered));
    TAC_TRY(tac_scene_resume(ctx, NULL, NULL, 0, json, sha256, &gathered.geometry, &scene));
    TAC_TRY(go_on(ctx, scene, checkpoint));
done:
    tac_scene_destroy(&scene);
    tac_gathered_clear(&gathered);
    tac_checkpoint_destroy(&checkpoint);
    json_decref(json);
    free(file);
    return err;
}
