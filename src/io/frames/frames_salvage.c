/* frames_salvage.c: copies the frames of a damaged frames.h5 that can still be read into another file.
 *
 * HDF5 crashes on some damage, so each frame is copied in a child process first, into a file in memory.  Chunks are
 * copied as they are in the file. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/child.h"
#include "io/frames/frames.h"
#include <tactus/reader.h>

struct salvage {
    const char *path; /* of the damaged file */
    const struct tac_scene *scene;
    tac_lid points; /* particles of the scene */
    int64_t index;
    double time_s;
};

/* A file that is in memory alone. */
static hid_t memory_file(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = -1;
    if (access >= 0 && H5Pset_fapl_core(access, 1 << 20, false) >= 0)
        file = H5Fcreate("salvage", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (access >= 0)
        H5Pclose(access);
    return file;
}

static bool copy_frame(hid_t from, int64_t index, hid_t to)
{
    char path[64], name[32];
    snprintf(path, sizeof path, "/frames/%06" PRId64, index);
    snprintf(name, sizeof name, "%06" PRId64, index);
    return H5Ocopy(from, path, to, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
}

/* In a child: is the frame there, whole, of this scene and time, and are its checksums right? */
static enum tac_err try_frame(struct tac_ctx *ctx, void *data, int64_t *fields)
{
    const struct salvage *s = data;
    const struct tac_local_mesh *m = s->scene->mesh;
    struct tac_reader r = {.file = tac_h5_open_read(s->path),
                           .vertex_count = m->vertex_count,
                           .triangle_count = (tac_lid)m->triangle_count,
                           .segment_count = (tac_lid)m->segment_count,
                           .tetrahedron_count = (tac_lid)m->tetrahedron_count,
                           .point_count = s->points};
    struct tac_reader_frame frame = {.index = s->index};
    char sha256[80] = "";
    const hid_t to = r.file >= 0 ? memory_file() : -1;
    snprintf(frame.name, sizeof frame.name, "%06" PRId64, s->index);
    if (to >= 0)
        tac_h5_get_text((hid_t)r.file, "scene_sha256", sha256, sizeof sha256);
    if (to < 0 || (sha256[0] != '\0' && strcmp(sha256, s->scene->settings->sha256) != 0) ||
        !tac_reader_frame_whole(&r, &frame) || frame.time_s != s->time_s ||
        !tac_frames_frame_sound(ctx, r.file, s->path, s->index) || !copy_frame((hid_t)r.file, s->index, to))
        return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is damaged: frame %" PRId64 " cannot be read", s->path, s->index);
    *fields = (int64_t)frame.fields;
    return TAC_OK;
}

static enum tac_err try_open(struct tac_ctx *ctx, void *path, int64_t *result)
{
    return tac_h5_open_read(path) >= 0 ? TAC_OK : tac_fail(ctx, TAC_ERR_INPUT, "HDF5 cannot open it");
}

enum tac_err tac_frames_salvage(struct tac_ctx *ctx, const struct tac_scene *scene, const char *path, int64_t first,
                                int64_t next, struct tac_frames *to, struct tac_kept_frame **kept, int64_t *count,
                                struct tac_ranges *lost)
{
    enum tac_err err = TAC_OK;
    struct stat file = {0};
    struct tac_ctx alone;
    size_t capacity = 0;
    tac_ctx_init(&alone, MPI_COMM_SELF);
    alone.quiet = true;
    const bool opens = tac_child_try(&alone, path, 0, try_open, (void *)(uintptr_t)path, NULL) == TAC_OK;
    const hid_t from = opens ? tac_h5_open_read(path) : -1;
    *count = 0;
    if (stat(path, &file) != 0)
        file.st_size = 0;
    for (int64_t k = first; k < next; k++) {
        struct salvage s = {path, scene, (tac_lid)to->point_count, k,
                            (double)tac_scene_frame_time(scene, k) * scene->settings->quantum_s};
        int64_t fields = 0;
        /* Where the file cannot be opened no frame of it can. */
        if (from < 0 || tac_child_try(&alone, path, file.st_size, try_frame, &s, &fields) != TAC_OK ||
            !copy_frame(from, k, to->frames)) {
            tac_ranges_add(lost, k);
            continue;
        }
        TAC_TRY(tac_grow(ctx, kept, &capacity, (size_t)*count + 1, sizeof **kept));
        (*kept)[(*count)++] = (struct tac_kept_frame){k, s.time_s, (unsigned)fields};
    }
done:
    if (from >= 0)
        H5Fclose(from);
    return err;
}
