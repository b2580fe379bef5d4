/* record_salvage.c: copies the intervals of a damaged record.h5 that can still be read into another file.
 *
 * As with frames (frames_salvage.c) each is read in a child process first, because HDF5 crashes on some damage, and
 * copied as it is in the file. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/child.h"
#include "io/frames/frames.h"
#include "io/record/record.h"
#include "io/record/record_stored.h"

struct trial {
    const struct tac_record_salvage *s;
    const char *group;
    bool unfinished;
};

/* In a child: is the group there, whole, of this scene, and are its checksums right? *end: the time at which it ends.
 */
static enum tac_err try_group(struct tac_ctx *ctx, void *data, int64_t *end)
{
    const struct trial *t = data;
    const struct tac_record_salvage *s = t->s;
    const tac_gid vertices = s->scene->mesh->vertex_count;
    const hid_t file = tac_h5_open_read(s->path);
    char sha256[80] = "";
    double quantum_s = s->scene->settings->quantum_s;
    tac_time span[2] = {0, 0};
    bool ok = file >= 0;
    if (ok && tac_h5_get_text(file, "scene_sha256", sha256, sizeof sha256))
        ok = strcmp(sha256, s->scene->settings->sha256) == 0;
    if (ok && tac_record_quantum(file, &quantum_s))
        ok = quantum_s == s->scene->settings->quantum_s;
    ok = ok && tac_record_span(file, t->group, vertices, span) &&
         (!t->unfinished || tac_record_serves(file, t->group, vertices, s->now)) &&
         tac_record_reads_through(file, t->group, vertices);
    *end = span[1];
    return ok ? TAC_OK : tac_record_damaged(ctx, s->path, t->group);
}

static bool salvage_group(const struct tac_record_salvage *s, const char *group, bool unfinished, hid_t to,
                          const char *name, int64_t *end)
{
    struct trial t = {s, group, unfinished};
    struct tac_ctx alone;
    struct stat file = {0};
    if (stat(s->path, &file) != 0)
        return false;
    tac_ctx_init(&alone, MPI_COMM_SELF);
    alone.quiet = true;
    if (tac_child_try(&alone, s->path, file.st_size, try_group, &t, end) != TAC_OK)
        return false;
    const hid_t from = tac_h5_open_read(s->path);
    const bool copied = from >= 0 && H5Ocopy(from, group, to, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    if (from >= 0)
        H5Fclose(from);
    return copied;
}

enum tac_err tac_record_salvage(struct tac_ctx *ctx, const struct tac_record_salvage *s, int64_t count,
                                struct tac_frames *to, tac_time *covered, char source[64], struct tac_ranges *lost)
{
    char group[64], name[64];
    int64_t end = 0;
    bool any = false;
    *covered = 0;
    for (int64_t k = 0; k < count; k++) {
        snprintf(group, sizeof group, "record/%06" PRId64, k);
        if (salvage_group(s, group, false, to->frames, group + strlen("record/"), &end)) {
            *covered = end;
            any = true;
        } else if (any) { /* a record may begin late, but has no gaps */
            tac_ranges_add(lost, k);
        }
    }
    for (int64_t k = 0; k < TAC_RECORD_SOURCES && s->unfinished >= 0 && source[0] == '\0'; k++) {
        tac_record_source_name(s->unfinished, k, group);
        snprintf(name, sizeof name, "partial/%06" PRId64, s->unfinished);
        if (salvage_group(s, group, true, to->file, name, &end))
            snprintf(source, 64, "%s", name);
    }
    if (to->disk_error != 0)
        return tac_fail(ctx, TAC_ERR_RUN, "cannot write %s: %s; is the disk in order?", to->path,
                        strerror(to->disk_error));
    return TAC_OK;
}
