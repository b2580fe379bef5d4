/* frames_apart RUN...: do all surfaces lie apart in every frame of these runs?  Exit code 1 if anything crosses,
 * touches, or is closer than its radius.
 *
 * The modes of discovery share the distance kernels and the bisection of paths; were those wrong, all would agree. This
 * check shares nothing with them: it is the search for overlaps at the start of a scene, with the positions of a frame.
 */
#include "overlap/overlap.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

/* Reads a frame's positions into scene->x; its time. False if there is no such frame. */
static bool read_frame(hid_t file, int index, const struct tac_scene *scene, double *t)
{
    char name[64];
    snprintf(name, sizeof name, "/frames/%06d", index);
    if (H5Lexists(file, name, H5P_DEFAULT) <= 0)
        return false;
    hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
    hid_t position = H5Dopen2(group, "position", H5P_DEFAULT), time = H5Dopen2(group, "time", H5P_DEFAULT);
    hid_t space = H5Dget_space(position);
    bool good = H5Sget_simple_extent_npoints(space) == 3 * (hssize_t)scene->mesh->vertex_count &&
                H5Dread(position, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, scene->mesh->x) >= 0 &&
                H5Dread(time, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, t) >= 0;
    H5Sclose(space);
    H5Dclose(position);
    H5Dclose(time);
    H5Gclose(group);
    if (!good) {
        printf("frame %d cannot be read\n", index);
        exit(2);
    }
    return true;
}

static int check_run(const char *dir)
{
    struct tac_ctx ctx = {.size = 1, .quiet = true};
    struct tac_scene *scene = NULL;
    char path[4096], text[512];
    int frames = 0, bad = 0;
    double t = 0;
    snprintf(path, sizeof path, "%s/scene.json", dir);
    if (tac_scene_read(&ctx, path, NULL, 0, &scene) != TAC_OK) {
        printf("%s: %s\n", dir, ctx.error);
        return 2;
    }
    snprintf(path, sizeof path, "%s/frames.h5", dir);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) {
        printf("%s cannot be opened\n", path);
        return 2;
    }
    for (; read_frame(file, frames, scene, &t); frames++) {
        struct tac_overlaps *found = NULL;
        if (tac_overlap_find(&ctx, scene, &found) != TAC_OK) {
            printf("%s: %s\n", dir, ctx.error);
            exit(2);
        }
        if (found->count > 0 && bad++ == 0) {
            tac_overlap_describe(scene, &found->overlap[0], text, sizeof text);
            printf("%s: at t = %.9g s %zu places overlap; the worst: %s\n", dir, t, found->count, text);
        }
        tac_overlap_destroy(&found);
    }
    H5Fclose(file);
    tac_scene_destroy(&scene);
    if (frames == 0)
        printf("%s holds no frames\n", dir);
    return bad > 0 || frames == 0;
}

int main(int argc, char **argv)
{
    int worst = argc < 2 ? 2 : 0;
    for (int i = 1; i < argc; i++) {
        int code = check_run(argv[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}
