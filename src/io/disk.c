#include "io/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct disk {
    H5FD_t base; /* first: HDF5 keeps its own there */
    int fd;
    int *error;       /* borrowed from the caller */
    haddr_t eoa, eof; /* end of what is allocated; of what was written, as HDF5 believes */
    dev_t device;     /* which file this is */
    ino_t inode;
};

struct settings {
    int *error;
};

static H5FD_t *disk_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    struct stat s;
    const struct settings *settings = H5Pget_driver_info(access);
    int mode = (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | (flags & H5F_ACC_TRUNC ? O_TRUNC : 0) |
               (flags & H5F_ACC_CREAT ? O_CREAT : 0) | (flags & H5F_ACC_EXCL ? O_EXCL : 0) | O_CLOEXEC;
    struct disk *disk = calloc(1, sizeof *disk);
    if (disk == NULL || settings == NULL || (disk->fd = open(name, mode, 0666)) < 0) {
        free(disk);
        return NULL;
    }
    if (fstat(disk->fd, &s) != 0) {
        close(disk->fd);
        free(disk);
        return NULL;
    }
    disk->error = settings->error;
    disk->eof = (haddr_t)s.st_size;
    disk->device = s.st_dev;
    disk->inode = s.st_ino;
    return &disk->base;
}

static void fail(struct disk *disk, int why)
{
    if (*disk->error == 0)
        *disk->error = why != 0 ? why : EIO;
}

static herr_t disk_close(H5FD_t *file)
{
    struct disk *disk = (struct disk *)file;
    if (close(disk->fd) != 0)
        fail(disk, errno);
    free(disk);
    return 0;
}

static int disk_compare(const H5FD_t *a, const H5FD_t *b)
{
    const struct disk *x = (const struct disk *)a, *y = (const struct disk *)b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

static herr_t disk_query(const H5FD_t *file, unsigned long *flags)
{
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t disk_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    return ((const struct disk *)file)->eoa;
}

static herr_t disk_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    ((struct disk *)file)->eoa = address;
    return 0;
}

static haddr_t disk_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    return ((const struct disk *)file)->eof;
}

static herr_t disk_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, void *data)
{
    struct disk *disk = (struct disk *)file;
    char *to = data;
    while (size > 0) {
        ssize_t n = pread(disk->fd, to, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0) { /* beyond the end: zeros, as HDF5's own driver does */
            memset(to, 0, size);
            return 0;
        }
        to += n;
        at += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static herr_t disk_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, const void *data)
{
    struct disk *disk = (struct disk *)file;
    const char *from = data;
    if (at + size > disk->eof)
        disk->eof = at + size;
    while (size > 0 && *disk->error == 0) {
        ssize_t n = pwrite(disk->fd, from, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fail(disk, n < 0 ? errno : ENOSPC);
            break;
        }
        from += n;
        at += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static herr_t disk_truncate(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    struct disk *disk = (struct disk *)file;
    if (disk->eoa == disk->eof)
        return 0;
    if (*disk->error == 0 && ftruncate(disk->fd, (off_t)disk->eoa) != 0)
        fail(disk, errno);
    disk->eof = disk->eoa;
    return 0;
}

static const H5FD_class_t DRIVER = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600, /* 512 to 65535 are for drivers like this one */
#endif
    .name = "tactus-disk",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(struct settings),
    .open = disk_open,
    .close = disk_close,
    .cmp = disk_compare,
    .query = disk_query,
    .get_eoa = disk_get_eoa,
    .set_eoa = disk_set_eoa,
    .get_eof = disk_get_eof,
    .read = disk_read,
    .write = disk_write,
    .truncate = disk_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

bool tac_disk_use(hid_t access, int *error, hid_t *driver)
{
    const struct settings settings = {error};
    *error = 0;
    *driver = H5FDregister(&DRIVER);
    return *driver >= 0 && H5Pset_driver(access, *driver, &settings) >= 0;
}

void tac_disk_release(hid_t *driver)
{
    if (*driver >= 0)
        H5FDunregister(*driver);
    *driver = -1;
}
