/* describe: reads mesh files named on standard input, one a line, and prints one line of JSON for each: what was read,
 * or the error.  Those whose name has "tets_" in it are read as solids.  For formats.py, which makes the files. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/mesh.h>

static json_t *numbers(const tac_lid *v, int64_t count)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < count; i++)
        json_array_append_new(array, json_integer(v[i]));
    return array;
}

int main(int argc, char **argv)
{
    char line[4096];
    MPI_Init(&argc, &argv);
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct tac_ctx ctx;
        struct tac_mesh *mesh = NULL;
        line[strcspn(line, "\n")] = '\0';
        tac_ctx_init(&ctx, MPI_COMM_SELF);
        ctx.quiet = true;
        json_t *spec = json_pack("{s:s, s:o}", "kind", "file", "path", json_stringn_nocheck(line, strlen(line)));
        const char *slash = strrchr(line, '/');
        const bool solid = strstr(slash != NULL ? slash : line, "tets_") != NULL;
        const enum tac_err err =
            tac_mesh_create_as(&ctx, spec, "mesh", ".", solid ? TAC_MESH_SOLID : TAC_MESH_SURFACE, &mesh);
        json_decref(spec);
        json_t *reported = json_object();
        json_object_set_new(reported, "code", json_integer(err));
        json_object_set_new(reported, "error", json_stringn_nocheck(ctx.error, strlen(ctx.error)));
        json_object_set_new(reported, "warnings", json_integer(ctx.warnings));
        if ((err == TAC_OK) != (mesh != NULL) || (err == TAC_OK) != (ctx.error[0] == '\0'))
            abort();
        if (mesh != NULL) {
            json_t *x = json_array();
            for (int64_t k = 0; k < 3 * (int64_t)mesh->vertex_count; k++)
                json_array_append_new(x, json_real(mesh->x[k]));
            json_object_set_new(reported, "x", x);
            json_object_set_new(reported, "triangles", numbers(mesh->triangle, 3 * (int64_t)mesh->triangle_count));
            json_object_set_new(reported, "segments", numbers(mesh->segment, 2 * (int64_t)mesh->segment_count));
            json_object_set_new(reported, "tetrahedra",
                                numbers(mesh->tetrahedron, 4 * (int64_t)mesh->tetrahedron_count));
        }
        json_dumpf(reported, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
        putchar('\n');
        fflush(stdout);
        json_decref(reported);
        tac_mesh_destroy(&mesh);
    }
    MPI_Finalize();
    return 0;
}
