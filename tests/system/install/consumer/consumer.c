/* A program of somebody else: makes a sphere, writes it with HDF5 (so every library behind Tactus is linked and
 * loaded), reads it back and prints its size; then reads a scene, runs it and prints where its ball is.  consumer.sh
 * compiles every public header by itself. */
#include <tactus/accum.h>
#include <tactus/base.h>
#include <tactus/math.h>
#include <tactus/mesh.h>
#include <tactus/output.h>
#include <tactus/run.h>
#include <tactus/scene.h>

#include <math.h>

static enum tac_err sphere(struct tac_ctx *ctx, const char *path)
{
    enum tac_err err = TAC_OK;
    struct tac_mesh *made = NULL, *read = NULL;
    json_t *spec = json_pack("{s:s, s:f, s:i}", "kind", "sphere", "radius", 0.5, "level", 2);
    TAC_TRY(tac_mesh_create(ctx, spec, "mesh", ".", &made));
    TAC_TRY(tac_mesh_write(ctx, made, path));
    TAC_TRY(tac_mesh_read(ctx, path, &read));
    struct tac_accum sum = {0};
    for (tac_lid i = 0; i < 3 * read->vertex_count; i++)
        tac_accum_add(&sum, read->x[i] * read->x[i]);
    printf("sphere: %" TAC_PRILID " vertices, %" TAC_PRILID " triangles, radius %.6f\n", read->vertex_count,
           read->triangle_count, sqrt(tac_accum_value(&sum) / read->vertex_count));
done:
    tac_mesh_destroy(&made);
    tac_mesh_destroy(&read);
    json_decref(spec);
    return err;
}

static enum tac_err scene(struct tac_ctx *ctx, const char *path)
{
    enum tac_err err = TAC_OK;
    struct tac_scene *scene = NULL;
    TAC_TRY(tac_scene_read(ctx, path, NULL, 0, &scene));
    printf("scene: %" TAC_PRILID " bodies\n", scene->settings->body_count);
    const struct tac_scene_source source = {.path = path};
    const struct tac_run_options options = {.dir = "consumer.run", .overwrite = true};
    TAC_TRY(tac_run(ctx, &source, &options));
done:
    tac_scene_destroy(&scene);
    return err;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct tac_ctx ctx;
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    ctx.quiet = true;
    enum tac_err err = argc == 3 ? TAC_OK : tac_fail(&ctx, TAC_ERR_INPUT, "usage: consumer MESH.h5 SCENE.json");
    if (!err)
        err = sphere(&ctx, argv[1]);
    if (!err)
        err = scene(&ctx, argv[2]);
    if (err)
        fprintf(stderr, "consumer: %s\n", ctx.error);
    else
        printf("version %s\n", tac_version());
    MPI_Finalize();
    return (int)err;
}
