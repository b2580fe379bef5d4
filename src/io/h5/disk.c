/* disk.c: implements a file driver for HDF5 whose file is whole at every moment: it keeps changes until a flush is
 * complete, and writes them to a journal first. */
#include "io/h5/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* A change to bytes that are on the disk already, kept until the flush is complete. */
struct change {
    haddr_t at;
    size_t size;
    int order;           /* of writing, see order_of() */
    unsigned char *data; /* owned */
};

struct disk {
    H5FD_t base; /* first: HDF5 keeps its own there */
    int fd;
    int *error;            /* borrowed from the caller */
    haddr_t eoa, eof;      /* end of what is allocated; end of what was written, in HDF5's view */
    haddr_t tail;          /* where journals have ended, after the end of the file */
    haddr_t settled;       /* the end of the file at the last flush, or when it was opened */
    struct change *change; /* owned */
    size_t change_count, change_capacity;
    bool shrink;  /* the file is to end at eof */
    bool overlap; /* two changes overlap in part: they are written as they came */
    dev_t device; /* which file this is */
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
               (flags & H5F_ACC_CREAT ? O_CREAT : 0) | (flags & H5F_ACC_EXCL ? O_EXCL : 0) |
               (flags & H5F_ACC_RDWR ? O_NOFOLLOW : 0) | O_CLOEXEC;
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
    disk->eof = disk->settled = disk->tail = (haddr_t)s.st_size; /* what a file has when it is opened is whole, too */
    disk->device = s.st_dev;
    disk->inode = s.st_ino;
    return &disk->base;
}

static void note_failure(struct disk *disk, int why)
{
    if (*disk->error == 0)
        *disk->error = why != 0 ? why : EIO;
}

/* Writes, now. */
static void write_bytes(struct disk *disk, haddr_t at, const unsigned char *from, size_t size)
{
    while (size > 0 && *disk->error == 0) {
        ssize_t n = pwrite(disk->fd, from, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            note_failure(disk, n < 0 ? errno : ENOSPC);
            return;
        }
        from += n;
        at += (haddr_t)n;
        size -= (size_t)n;
    }
}

static bool read_bytes(const struct disk *disk, haddr_t at, size_t size, unsigned char *to)
{
    while (size > 0) {
        ssize_t n = pread(disk->fd, to, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        if (n == 0) { /* beyond the end: zeros, as HDF5's own driver does */
            memset(to, 0, size);
            return true;
        }
        to += n;
        at += (haddr_t)n;
        size -= (size_t)n;
    }
    return true;
}

/* The order in which changes reach the disk. The superblock is first, because it tells how far the file goes. Then
 * heaps: new names change nothing for a reader once open_heaps() has been called. Then trees from the root down, which
 * may point to new nodes (on the disk already) while the old nodes still hold everything. The leaves of the list of
 * frames are last, because a node that was split has lost half of its entries. */
enum order { SUPERBLOCK, HEAP_DATA, HEAP, OTHER, TREE, LEAF = TREE + 256 };

static int order_of(const unsigned char *data, size_t size, H5FD_mem_t type)
{
    if (size >= 8 && memcmp(data, "\211HDF", 4) == 0)
        return SUPERBLOCK;
    if (size >= 8 && memcmp(data, "TREE", 4) == 0)
        return TREE + 255 - data[5]; /* its level */
    if (size >= 8 && memcmp(data, "SNOD", 4) == 0)
        return LEAF;
    if (size >= 8 && memcmp(data, "HEAP", 4) == 0)
        return HEAP;
    return type == H5FD_MEM_LHEAP ? HEAP_DATA : OTHER;
}

/* A local heap's header tells where in its data the list of free space begins, and readers check that list, so neither
 * of the two can be written before the other. So the header is first written without a list. */
static void open_heaps(struct disk *disk)
{
    enum { FREE_AT = 16 }; /* after signature, version and length of the data; lengths are of 8 bytes */
    static const unsigned char none[8] = {1, 0, 0, 0, 0, 0, 0, 0};
    unsigned char old[4];
    for (size_t i = 0; i < disk->change_count; i++) {
        const struct change *c = &disk->change[i];
        if (c->order == HEAP && c->size == 32 && read_bytes(disk, c->at, sizeof old, old) &&
            memcmp(old, "HEAP", 4) == 0)
            write_bytes(disk, c->at + FREE_AT, none, sizeof none);
    }
}

static int by_order(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->order != y->order)
        return (x->order > y->order) - (x->order < y->order);
    return (x->at > y->at) - (x->at < y->at);
}

static void keep_change(struct disk *disk, haddr_t at, const unsigned char *data, size_t size, H5FD_mem_t type)
{
    for (size_t i = 0; i < disk->change_count; i++) {
        struct change *c = &disk->change[i];
        if (c->at == at && c->size == size) {
            memcpy(c->data, data, size);
            c->order = order_of(data, size, type);
            return;
        }
        if (at < c->at + c->size && c->at < at + size)
            disk->overlap = true;
    }
    if (disk->change_count == disk->change_capacity) {
        size_t more = disk->change_capacity * 2 + 16;
        struct change *grown = realloc(disk->change, more * sizeof *grown);
        if (grown == NULL) {
            note_failure(disk, ENOMEM);
            return;
        }
        disk->change = grown;
        disk->change_capacity = more;
    }
    unsigned char *copy = malloc(size);
    if (copy == NULL) {
        note_failure(disk, ENOMEM);
        return;
    }
    memcpy(copy, data, size);
    disk->change[disk->change_count++] = (struct change){at, size, order_of(data, size, type), copy};
}

/* ---- the journal ----
 * Where the room of something that was removed is used again, no order of writing is safe: a new node there is taken
 * for an old one, and may be written after what points to it.  So all changes are first written behind the end of the
 * file, where readers do not look, followed by a trailer, which is the end of everything; the trailer is made void when
 * the changes are in place.  If the program was killed in between, tac_disk_recover() finds the trailer, and writes the
 * changes to their places.  What is behind the end is cut when the file is closed, not before, because cutting would
 * give back the space that is reserved there (space.c). */

struct entry { /* then come `size` bytes */
    uint64_t at, size;
};
struct trailer {
    char magic[8];
    uint64_t begin; /* of the journal: not before the file's own end */
    uint64_t count; /* entries */
    uint64_t crc;   /* CRC-32 of begin, count and all bytes from `begin` to here */
};
static const char MAGIC[8] = {'T', 'A', 'C', 'J', 'O', 'U', 'R', 'N'};

static uint64_t crc_head(const struct trailer *t)
{
    return crc32(crc32(0, Z_NULL, 0), (const Bytef *)&t->begin, 2 * sizeof t->begin);
}

/* False: the changes may not be written to their places, because the disk has no room for the journal. */
static bool write_journal(struct disk *disk)
{
    haddr_t at = disk->eof > disk->eoa ? disk->eof : disk->eoa, size = sizeof(struct trailer);
    at = at > disk->settled ? at : disk->settled; /* a file that is to be shorter ends there until then */
    for (size_t i = 0; i < disk->change_count; i++)
        size += sizeof(struct entry) + disk->change[i].size;
    if (at + size < disk->tail) /* no older journal may come after it */
        at = disk->tail - size;
    disk->tail = at + size;
    struct trailer t = {.begin = at, .count = disk->change_count};
    memcpy(t.magic, MAGIC, sizeof MAGIC);
    uLong crc = (uLong)crc_head(&t);
    for (size_t i = 0; i < disk->change_count; i++) {
        const struct change *c = &disk->change[i];
        const struct entry e = {c->at, c->size};
        write_bytes(disk, at, (const unsigned char *)&e, sizeof e);
        write_bytes(disk, at + sizeof e, c->data, c->size);
        crc = crc32(crc, (const Bytef *)&e, sizeof e);
        crc = crc32(crc, c->data, (uInt)c->size);
        at += sizeof e + c->size;
    }
    t.crc = crc;
    write_bytes(disk, at, (const unsigned char *)&t, sizeof t);
    return *disk->error == 0;
}

/* Writes the entries to their places (apply), or only computes their checksum; false: they are not what the trailer
 * says. */
static bool replay_journal(int fd, const struct trailer *t, uint64_t end, bool apply)
{
    struct disk disk = {.fd = fd, .error = &(int){0}};
    uint64_t at = t->begin;
    uLong crc = (uLong)crc_head(t);
    bool ok = true;
    for (uint64_t k = 0; ok && k < t->count; k++) {
        struct entry e;
        ok = end - at >= sizeof e && read_bytes(&disk, at, sizeof e, (unsigned char *)&e);
        at += sizeof e;
        ok = ok && e.size <= end - at && e.at <= t->begin && e.size <= t->begin - e.at;
        unsigned char *data = ok ? malloc((size_t)e.size + 1) : NULL;
        ok = data != NULL && read_bytes(&disk, at, (size_t)e.size, data);
        if (ok && apply)
            write_bytes(&disk, e.at, data, (size_t)e.size);
        if (ok) {
            crc = crc32(crc, (const Bytef *)&e, sizeof e);
            crc = crc32(crc, data, (uInt)e.size);
            at += e.size;
        }
        free(data);
    }
    return ok && at == end && crc == t->crc && *disk.error == 0;
}

void tac_disk_recover(const char *path)
{
    struct trailer t;
    struct stat s;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return; /* the next attempt to open it reports the reason */
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > (off_t)sizeof t) {
        const uint64_t end = (uint64_t)s.st_size - sizeof t;
        if (pread(fd, &t, sizeof t, (off_t)end) == (ssize_t)sizeof t && memcmp(t.magic, MAGIC, sizeof MAGIC) == 0 &&
            t.begin <= end && replay_journal(fd, &t, end, false) && replay_journal(fd, &t, end, true) &&
            ftruncate(fd, (off_t)t.begin) != 0)
            errno = 0; /* bytes that are left after the end do no harm */
    }
    close(fd);
}

/* HDF5 calls this when a flush is complete: now the changes may be written to their places. */
static herr_t disk_flush(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    struct disk *disk = (struct disk *)file;
    static const unsigned char nothing[sizeof MAGIC] = {0};
    const bool journal = disk->change_count > 1 && *disk->error == 0;
    if (disk->change_count > 1 && !disk->overlap)
        qsort(disk->change, disk->change_count, sizeof *disk->change, by_order);
    if (!journal || write_journal(disk))
        open_heaps(disk);
    for (size_t i = 0; i < disk->change_count; i++) {
        write_bytes(disk, disk->change[i].at, disk->change[i].data, disk->change[i].size);
        free(disk->change[i].data);
    }
    if (disk->shrink && *disk->error == 0) {
        if (ftruncate(disk->fd, (off_t)disk->eof) != 0)
            note_failure(disk, errno);
        disk->tail = disk->eof;
    } else if (journal) {
        write_bytes(disk, disk->tail - sizeof(struct trailer), nothing, sizeof nothing);
    }
    disk->change_count = 0;
    disk->shrink = disk->overlap = false;
    disk->settled = disk->eof;
    return 0;
}

static herr_t disk_close(H5FD_t *file)
{
    struct disk *disk = (struct disk *)file;
    disk_flush(file, H5P_DEFAULT, true);
    if (disk->tail > disk->eof && *disk->error == 0 && ftruncate(disk->fd, (off_t)disk->eof) != 0)
        note_failure(disk, errno);
    if (close(disk->fd) != 0)
        note_failure(disk, errno);
    free(disk->change);
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
    /* Not H5FD_FEAT_ACCUMULATE_METADATA, which would join neighbouring writes into one: this driver decides the order.
     */
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
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
    const struct disk *disk = (const struct disk *)file;
    if (!read_bytes(disk, at, size, data))
        return -1;
    for (size_t i = 0; i < disk->change_count; i++) {
        const struct change *c = &disk->change[i];
        haddr_t begin = c->at > at ? c->at : at, end = c->at + c->size < at + size ? c->at + c->size : at + size;
        if (begin < end)
            memcpy((unsigned char *)data + (begin - at), c->data + (begin - c->at), end - begin);
    }
    return 0;
}

static herr_t disk_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, const void *data)
{
    struct disk *disk = (struct disk *)file;
    const unsigned char *from = data;
    if (at + size > disk->eof)
        disk->eof = at + size;
    /* Values are written once. Where they are not written behind the end, a dataset was removed before, and a flush
     * followed. */
    if (at < disk->settled && type != H5FD_MEM_DRAW) {
        size_t old = disk->settled - at < size ? disk->settled - at : size;
        keep_change(disk, at, from, old, type);
        at += old;
        from += old;
        size -= old;
    }
    write_bytes(disk, at, from, size);
    return 0;
}

/* A longer file is extended now; a shorter one is cut with the changes, because until then the old structures reach
 * that far. */
static herr_t disk_truncate(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    struct disk *disk = (struct disk *)file;
    if (disk->eoa > disk->eof && *disk->error == 0 && ftruncate(disk->fd, (off_t)disk->eoa) != 0)
        note_failure(disk, errno);
    disk->shrink = disk->shrink || disk->eoa < disk->eof;
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
    .flush = disk_flush,
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
