/* checkpoint_file.c: finds out which files are checkpoints, and whether they are whole. */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/compare.h"
#include "io/checkpoint/checkpoint_table.h"

static const char MAGIC[8] = {'T', 'A', 'C', 'T', 'U', 'S', 'C', 'P'};

void tac_checkpoint_head_pack(int64_t length, uint32_t crc, unsigned char block[TAC_CHECKPOINT_BLOCK])
{
    const uint32_t version_le = htole32(TAC_CHECKPOINT_VERSION), crc_le = htole32(crc);
    const uint64_t length_le = htole64((uint64_t)length);
    memset(block, 0, TAC_CHECKPOINT_BLOCK);
    memcpy(block, MAGIC, sizeof MAGIC);
    memcpy(block + 8, &version_le, 4);
    memcpy(block + 12, &crc_le, 4);
    memcpy(block + 16, &length_le, 8);
}

struct head {
    int64_t length;
    uint32_t version, crc;
    bool clean; /* nothing else is there */
};

static struct head head_unpack(const unsigned char block[TAC_CHECKPOINT_BLOCK])
{
    struct head h;
    uint64_t length;
    memcpy(&h.version, block + 8, 4);
    memcpy(&h.crc, block + 12, 4);
    memcpy(&length, block + 16, 8);
    h.version = le32toh(h.version);
    h.crc = le32toh(h.crc);
    h.length = (int64_t)le64toh(length);
    h.clean = true;
    for (int i = 24; i < TAC_CHECKPOINT_BLOCK; i++)
        h.clean = h.clean && block[i] == 0;
    return h;
}

/* ---- CRC ---- */

static bool crc_of(int fd, int64_t begin, int64_t end, uint32_t *crc)
{
    enum { PIECE = 1 << 16 };
    unsigned char piece[PIECE];
    uLong sum = crc32(0, Z_NULL, 0);
    errno = 0;
    for (int64_t at = begin; at < end;) {
        size_t want = end - at < PIECE ? (size_t)(end - at) : PIECE;
        ssize_t n = pread(fd, piece, want, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        sum = crc32(sum, piece, (uInt)n);
        at += n;
    }
    *crc = (uint32_t)sum;
    return true;
}

enum tac_err tac_checkpoint_crc_all(struct tac_ctx *ctx, const char *path, int64_t length, uint32_t *crc)
{
    enum tac_err err = TAC_OK;
    const int64_t each = length / ctx->size;
    const int64_t from = TAC_CHECKPOINT_BLOCK + each * ctx->rank;
    const int64_t to = ctx->rank == ctx->size - 1 ? TAC_CHECKPOINT_BLOCK + length : from + each;
    struct stripe {
        int64_t length;
        uint32_t crc, unused;
    } mine = {to - from, 0, 0}, *all = NULL;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)ctx->size, sizeof *all, &all)));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || !crc_of(fd, from, to, &mine.crc))
        err =
            tac_fail(ctx, TAC_ERR_INPUT, "cannot read %s: %s", path, errno != 0 ? strerror(errno) : "it is cut short");
    if (fd >= 0)
        close(fd);
    TAC_TRY(tac_agree(ctx, err));
    all[0] = mine;
    if (ctx->size > 1)
        MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, ctx->comm);
    uLong sum = crc32(0, Z_NULL, 0);
    for (int r = 0; r < ctx->size; r++)
        sum = crc32_combine(sum, all[r].crc, (z_off_t)all[r].length);
    *crc = (uint32_t)sum;
done:
    free(all);
    return err;
}

/* ---- names ---- */

int64_t tac_checkpoint_number(const char *name)
{
    static const char head[] = "checkpoint-";
    if (strncmp(name, head, sizeof head - 1) != 0)
        return -1;
    const char *digits = name + sizeof head - 1;
    const size_t n = strspn(digits, "0123456789");
    return n >= 6 && n <= 18 && strcmp(digits + n, ".h5") == 0 ? strtoll(digits, NULL, 10) : -1;
}

enum tac_err tac_checkpoint_list(struct tac_ctx *ctx, const char *dir, int64_t **list, size_t *count)
{
    enum tac_err err = TAC_OK;
    size_t capacity = 0;
    char name[64];
    *list = NULL;
    *count = 0;
    DIR *folder = opendir(dir);
    if (folder == NULL)
        return tac_fail(ctx, TAC_ERR_INPUT, "cannot open the folder '%.1000s': %s", dir, strerror(errno));
    for (const struct dirent *entry; errno = 0, (entry = readdir(folder)) != NULL;) {
        const int64_t number = tac_checkpoint_number(entry->d_name);
        snprintf(name, sizeof name, "checkpoint-%06" PRId64 ".h5", number);
        if (number < 0 || strcmp(name, entry->d_name) != 0)
            continue; /* also a name with more zeros than we write */
        TAC_TRY(tac_grow(ctx, list, &capacity, *count + 1, sizeof **list));
        (*list)[(*count)++] = number;
    }
    if (errno != 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "cannot read the folder '%.1000s': %s", dir, strerror(errno)));
    if (*count > 0)
        qsort(*list, *count, sizeof **list, tac_compare_int64);
done:
    closedir(folder);
    return err;
}

static bool read_block(int fd, unsigned char block[TAC_CHECKPOINT_BLOCK])
{
    return pread(fd, block, TAC_CHECKPOINT_BLOCK, 0) == TAC_CHECKPOINT_BLOCK && memcmp(block, MAGIC, sizeof MAGIC) == 0;
}

bool tac_checkpoint_full_length(int folder, const char *name)
{
    unsigned char block[TAC_CHECKPOINT_BLOCK];
    struct stat s;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool full = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && read_block(fd, block) &&
                head_unpack(block).length == s.st_size - TAC_CHECKPOINT_BLOCK;
    close(fd);
    return full;
}

bool tac_checkpoint_is(const char *path)
{
    static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char block[TAC_CHECKPOINT_BLOCK], behind[8] = {0};
    const char *slash = strrchr(path, '/');
    if (tac_checkpoint_number(slash != NULL ? slash + 1 : path) >= 0)
        return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is = read_block(fd, block) || (pread(fd, behind, sizeof behind, TAC_CHECKPOINT_BLOCK) == sizeof behind &&
                                        memcmp(behind, hdf5, sizeof hdf5) == 0);
    close(fd);
    return is;
}

/* ---- is it whole? ---- */

/* Sends data from rank 0 to all. Commands that only look at files run without MPI. */
static void share_from_first(struct tac_ctx *ctx, void *data, size_t bytes)
{
    if (ctx->size > 1)
        MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, ctx->comm);
}

struct reported {
    int64_t length;
    uint32_t crc;
    char why[256];
};

static void inspect_head(const char *path, struct reported *reported)
{
    unsigned char block[TAC_CHECKPOINT_BLOCK];
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &file) != 0) {
        snprintf(reported->why, sizeof reported->why, "it cannot be read (%s)", strerror(errno));
    } else if (!S_ISREG(file.st_mode)) {
        snprintf(reported->why, sizeof reported->why, "it is no file");
    } else if (!read_block(fd, block)) {
        snprintf(reported->why, sizeof reported->why, "it is no checkpoint of Tactus, or its beginning is damaged");
    } else {
        const struct head h = head_unpack(block);
        if (h.version < 1 || h.version > TAC_CHECKPOINT_VERSION)
            snprintf(reported->why, sizeof reported->why,
                     "its format is %" PRIu32 ", but this version (%s) reads 1 to %d", h.version, tac_version(),
                     TAC_CHECKPOINT_VERSION);
        else if (h.length <= 0 || h.length != file.st_size - TAC_CHECKPOINT_BLOCK)
            snprintf(reported->why, sizeof reported->why,
                     "it is damaged: it has %" PRId64 " bytes after its head, where %" PRId64 " were written",
                     (int64_t)file.st_size - TAC_CHECKPOINT_BLOCK, h.length);
        else if (!h.clean)
            snprintf(reported->why, sizeof reported->why, "it is damaged: its head is not what was written");
        reported->length = h.length;
        reported->crc = h.crc;
    }
    if (fd >= 0)
        close(fd);
}

enum tac_err tac_checkpoint_examine(struct tac_ctx *ctx, const char *path, char *why, size_t size)
{
    enum tac_err err = TAC_OK;
    struct reported reported;
    uint32_t crc = 0;
    memset(&reported, 0, sizeof reported);
    if (ctx->rank == 0)
        inspect_head(path, &reported);
    share_from_first(ctx, &reported, sizeof reported);
    if (reported.why[0] == '\0')
        err = tac_checkpoint_crc_all(ctx, path, reported.length, &crc);
    if (err == TAC_ERR_INPUT) {
        /* A file that the disk cannot read is not whole either. */
        snprintf(reported.why, sizeof reported.why, "%.250s", ctx->error);
        ctx->error[0] = '\0';
        err = TAC_OK;
    } else if (!err && reported.why[0] == '\0' && crc != reported.crc) {
        snprintf(reported.why, sizeof reported.why, "it is damaged: its contents are not what was written");
    }
    snprintf(why, size, "%s", reported.why);
    return err;
}

/* Collective. The newest whole checkpoint of a folder. */
static enum tac_err find_newest(struct tac_ctx *ctx, const char *dir, char **file)
{
    enum tac_err err = TAC_OK;
    int64_t *list = NULL, count = 0;
    size_t found = 0, size = strlen(dir) + 64;
    char why[256];
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, size, 1, file)));
    TAC_TRY(tac_agree(ctx, ctx->rank == 0 ? tac_checkpoint_list(ctx, dir, &list, &found) : TAC_OK));
    count = (int64_t)found;
    share_from_first(ctx, &count, sizeof count);
    for (int64_t k = count; k-- > 0;) {
        int64_t number = ctx->rank == 0 ? list[k] : 0;
        share_from_first(ctx, &number, sizeof number);
        snprintf(*file, size, "%s/checkpoint-%06" PRId64 ".h5", dir, number);
        TAC_TRY(tac_checkpoint_examine(ctx, *file, why, sizeof why));
        if (why[0] == '\0')
            goto done;
        tac_warn(ctx, "'%s' is not used: %s", *file, why);
    }
    err = tac_fail(ctx, TAC_ERR_INPUT, "%s '%.1000s'; run the scene from its beginning",
                   count > 0 ? "no checkpoint is whole in" : "there is no checkpoint in", dir);
done:
    free(list);
    return err;
}

enum tac_err tac_checkpoint_choose(struct tac_ctx *ctx, const char *path, char **file)
{
    enum tac_err err;
    struct stat what;
    char why[256];
    int folder = ctx->rank == 0 && stat(path, &what) == 0 && S_ISDIR(what.st_mode);
    share_from_first(ctx, &folder, sizeof folder);
    if (folder)
        return find_newest(ctx, path, file);
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, strlen(path) + 1, 1, file)));
    strcpy(*file, path);
    TAC_TRY(tac_checkpoint_examine(ctx, path, why, sizeof why));
    if (why[0] != '\0')
        err = tac_fail(ctx, TAC_ERR_INPUT, "'%.1000s' is no whole checkpoint: %s; use another one", path, why);
done:
    return err;
}
