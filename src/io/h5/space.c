/* space.c: reserves disk space before HDF5 needs it.
 *
 * Space for a whole frame is reserved beyond the file's end before HDF5 writes it. Then a full disk or quota is noticed
 * while HDF5 is idle and the file is whole. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "io/folder/output.h"

enum tac_err tac_space_reserve(struct tac_ctx *ctx, int fd, const char *path, int64_t bytes, int64_t *reserved)
{
    struct stat file;
    struct statvfs disk;
    struct rlimit limit;
    enum { PLENTY = 1 << 24 }; /* bytes */
    const double mib = 1.0 / 1048576.0;
    if (fstat(fd, &file) != 0)
        return tac_fail(ctx, TAC_ERR_RUN, "cannot write %s: %s", path, strerror(errno));
    if (file.st_nlink == 0)
        return tac_fail(ctx, TAC_ERR_RUN, "%s was removed while the run was writing it", path);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (rlim_t)(file.st_size + bytes) > limit.rlim_cur)
        return tac_fail(ctx, TAC_ERR_RUN,
                        "%s would pass the limit on file sizes (%.1f MiB): raise it with 'ulimit -f unlimited'", path,
                        (double)limit.rlim_cur * mib);
    if (file.st_size + bytes <= *reserved)
        return TAC_OK;
    /* A reservation takes about a millisecond, so space for several small frames is reserved together. */
    for (int64_t want = bytes < PLENTY / 8 ? 8 * bytes : bytes;; want = bytes) {
        if (fallocate(fd, FALLOC_FL_KEEP_SIZE, file.st_size, want) == 0) {
            *reserved = file.st_size + want;
            return TAC_OK;
        }
        if (want == bytes)
            break;
    }
    int why = errno;
    if (why == ENOSPC || why == EDQUOT || why == EFBIG || why == EIO || why == EROFS) {
        tac_space_release(fd);
        return tac_fail(ctx, TAC_ERR_RUN,
                        "cannot write %s: %s (%.1f MiB more are needed); free some space or write elsewhere with -o",
                        path, strerror(why), (double)bytes * mib);
    }
    /* This file system cannot reserve: look, at least. */
    if (fstatvfs(fd, &disk) == 0 && (double)disk.f_bavail * (double)disk.f_frsize < (double)bytes)
        return tac_fail(ctx, TAC_ERR_RUN,
                        "cannot write %s: no space left on device (%.1f MiB more are needed); free some space or write "
                        "elsewhere with -o",
                        path, (double)bytes * mib);
    return TAC_OK;
}

void tac_space_release(int fd)
{
    struct stat file;
    /* To its own size: that frees what lies beyond the end.  Failing to is harmless. */
    if (fd >= 0 && fstat(fd, &file) == 0 && ftruncate(fd, file.st_size) != 0)
        return;
}
