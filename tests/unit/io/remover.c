/* remover.c FILE [unreadable]: ranks create FILE together (io/h5/create_parallel.h), and it is removed meanwhile.
 *
 * Rank 1 removes it at the moment when it opens it itself within MPI_File_open(): rank 0 has it open then, and the
 * others find nothing.  With a second word, rank 1 finds that it may not open it, before the ranks open it together.
 */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/create.h"
#include "io/h5/create_parallel.h"
#include "io/h5/h5.h"

static const char *victim;
static int rank, refuses;
static bool together; /* within MPI_File_open() */

/* Calls of open() from libraries come here, too. */
static int open_victim(const char *path, int flags, mode_t mode)
{
    if (victim != NULL && rank == 1 && strcmp(path, victim) == 0) {
        if (together)
            unlink(path);
        if (refuses) {
            errno = EACCES;
            return -1;
        }
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & O_CREAT ? (mode_t)va_arg(args, unsigned) : 0;
}

#define DEFINE_OPEN(name)                                                                                              \
    int name(const char *path, int flags, ...);                                                                        \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list args;                                                                                                  \
        va_start(args, flags);                                                                                         \
        const mode_t mode = mode_of(flags, args);                                                                      \
        va_end(args);                                                                                                  \
        return open_victim(path, flags, mode);                                                                         \
    }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
    together = true;
    const int code = PMPI_File_open(comm, name, mode, info, file);
    together = false;
    return code;
}

int main(int argc, char **argv)
{
    struct tac_ctx ctx;
    hid_t file = -1;
    int fd = -1;
    if (argc < 2)
        return 2;
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    rank = ctx.rank;
    refuses = argc > 2;
    if (ctx.rank == 0)
        fd = tac_create_new(AT_FDCWD, argv[1], O_RDWR);
    MPI_Barrier(MPI_COMM_WORLD);
    victim = argv[1];
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, ctx.comm, MPI_INFO_NULL);
    const enum tac_err err = tac_h5_create_parallel(&ctx, argv[1], H5P_DEFAULT, access, &file);
    if (err && ctx.rank == 0)
        fprintf(stderr, "tactus: %s\n", ctx.error);
    if (fd >= 0)
        close(fd);
    H5Pclose(access);
    MPI_Finalize();
    return (int)err;
}
