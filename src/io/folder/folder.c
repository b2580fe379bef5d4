/* folder.c: finds which files of a folder belong to a run, and replaces them. status.json is the mark: if this program
 * wrote it, all files with names of a run are the run's; if it is missing, none is. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/create.h"
#include "base/json_read.h"
#include "io/folder/output.h"

/* What a run makes, besides checkpoints; status.json, the mark, is handled separately: made first, removed last. */
static const char *const RUN_FILES[] = {
    "frames.h5",   "frames.xdmf",   "energy.csv",    "scene.json",   "run.json",  "record.h5", "checkpoint.h5",
    "branch.json", "reactions.csv", "histories.csv", "histories.h5", "steps.csv", "run.log",   "frames.vtkhdf"};
enum { RUN_FILE_COUNT = sizeof RUN_FILES / sizeof RUN_FILES[0] };
#define MARK_ASIDE "status.json.tmp"

/* checkpoint-NNNNNN.h5, six digits or more */
static bool is_checkpoint(const char *name)
{
    const char *digits = name + strlen("checkpoint-");
    if (strncmp(name, "checkpoint-", strlen("checkpoint-")) != 0)
        return false;
    size_t n = strspn(digits, "0123456789");
    return n >= 6 && n <= 18 && strcmp(digits + n, ".h5") == 0;
}

/* A run's file, or the temporary of one.  Those of the mark, and the ranks' lock, are handled separately. */
static bool is_run_file(const char *name)
{
    char stem[256];
    size_t length = strlen(name);
    if (length >= sizeof stem)
        return false;
    snprintf(stem, sizeof stem, "%s", name);
    if (length > 4 && strcmp(name + length - 4, ".tmp") == 0)
        stem[length - 4] = '\0';
    for (int i = 0; i < RUN_FILE_COUNT; i++)
        if (strcmp(stem, RUN_FILES[i]) == 0)
            return true;
    return is_checkpoint(stem) || strcmp(name, "steps.csv.part") == 0; /* the last: of earlier versions */
}

/* Calls `each` for every run's file in the folder until it returns true; *name is that file's. */
static bool visit_files(int folder, bool (*each)(int folder, const char *name), char *name, size_t size)
{
    bool found = false;
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    if (dir == NULL) {
        if (copy >= 0)
            close(copy);
        return false;
    }
    for (struct dirent *entry; !found && (entry = readdir(dir)) != NULL;)
        if (is_run_file(entry->d_name) && each(folder, entry->d_name)) {
            snprintf(name, size, "%s", entry->d_name);
            found = true;
        }
    closedir(dir);
    return found;
}

static bool accept_any(int folder, const char *name)
{
    return true;
}

/* True when it could not be removed. */
static bool cannot_remove(int folder, const char *name)
{
    return unlinkat(folder, name, 0) != 0 && errno != ENOENT;
}

/* Removes overlaps.obj, the only file that a refused run leaves. It must not stay beside a later run. Its first line
 * shows that it is ours (src/overlap/overlap_report.c). */
static void remove_overlaps(int folder)
{
    static const char first[] = "# surfaces that cross, touch or lie closer than their radius allows: ";
    char text[sizeof first] = "";
    int fd = openat(folder, "overlaps.obj", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return;
    ssize_t n = read(fd, text, sizeof first - 1);
    close(fd);
    if (n == (ssize_t)sizeof first - 1 && memcmp(text, first, sizeof first - 1) == 0)
        unlinkat(folder, "overlaps.obj", 0);
}

static enum tac_err refuse_alive(struct tac_ctx *ctx, const struct tac_folder *f, const json_t *mark)
{
    enum { JUST_NOW_S = 60 };
    const char *state = json_string_value(json_object_get(mark, "state"));
    if (state == NULL || strcmp(state, "running") != 0)
        return TAC_OK;
    enum tac_alive alive = tac_process_alive(mark);
    if (alive == TAC_ALIVE_YES)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "a run is still writing to '%s' (process %" PRId64
                        "); stop it first or choose another folder with -o",
                        f->dir, (int64_t)json_integer_value(json_object_get(mark, "pid")));
    double updated = json_number_value(json_object_get(mark, "updated"));
    if (alive == TAC_ALIVE_UNKNOWN && fabs(difftime(time(NULL), (time_t)0) - updated) < JUST_NOW_S)
        tac_warn(ctx, "a run on another machine wrote to '%s' less than a minute ago; make sure that it has ended",
                 f->dir);
    return TAC_OK;
}

/* The folder is locked. */
static enum tac_err remove_old_run(struct tac_ctx *ctx, const struct tac_folder *f)
{
    char name[256];
    if (visit_files(f->fd, cannot_remove, name, sizeof name) || cannot_remove(f->fd, "status.json"))
        return tac_fail(ctx, TAC_ERR_INPUT, "cannot remove the old run from '%s': %s; choose another folder with -o",
                        f->dir, strerror(errno));
    return TAC_OK;
}

/* Is the mark unfinished? A run that was killed before it made its mark leaves none, or (in earlier versions) an empty
 * one. It has no other files, so nothing is lost. */
static bool mark_unfinished(int folder)
{
    struct stat s;
    return fstatat(folder, "status.json", &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode) && s.st_size == 0;
}

static void remove_unfinished_mark(int folder)
{
    if (mark_unfinished(folder))
        unlinkat(folder, "status.json", 0);
}

/* Does mkdir -p; *made: the last part is new. */
static enum tac_err make_folder(struct tac_ctx *ctx, const char *dir, bool *made)
{
    enum tac_err err = TAC_OK;
    char *path = NULL;
    TAC_TRY(tac_alloc(ctx, strlen(dir) + 1, 1, &path));
    strcpy(path, dir);
    for (char *slash = path + 1; *slash != '\0'; slash++)
        if (*slash == '/') {
            *slash = '\0';
            mkdir(path, 0777); /* its failure shows below */
            *slash = '/';
        }
    *made = mkdir(path, 0777) == 0;
    if (!*made && errno != EEXIST)
        err = tac_fail(ctx, TAC_ERR_INPUT, "cannot make the folder '%s': %s; choose another with -o", dir,
                       strerror(errno));
done:
    free(path);
    return err;
}

static bool write_text(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, text, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text += n;
        length -= (size_t)n;
    }
    return true;
}

int tac_append_whole(int fd, const char *text, size_t length)
{
    const off_t end = lseek(fd, 0, SEEK_END);
    errno = 0;
    if (write_text(fd, text, length))
        return 0;
    const int why = errno != 0 ? errno : EIO;
    return end >= 0 && ftruncate(fd, end) != 0 ? errno : why;
}

/* Writes NAME.tmp; 0 or the errno.  *made: the file could be made at all. */
static int write_aside(const struct tac_folder *f, const char *temporary, const char *text, size_t length, bool sync,
                       bool *made)
{
    const int fd = tac_create_new(f->fd, temporary, O_WRONLY);
    *made = fd >= 0;
    errno = fd >= 0 ? 0 : errno;
    bool ok = fd >= 0 && write_text(fd, text, length) && (!sync || fsync(fd) == 0);
    int why = errno != 0 ? errno : EIO;
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        why = errno;
    }
    return ok ? 0 : why;
}

/* Gives the mark its name, unless there is a mark already; returns 0 or the errno. On a file system without hard links
 * it renames without replacing, or relies on the lock. */
static int name_mark(const struct tac_folder *f)
{
    if (linkat(f->fd, MARK_ASIDE, f->fd, "status.json", 0) == 0) {
        unlinkat(f->fd, MARK_ASIDE, 0);
        return 0;
    }
    if (errno == EEXIST || errno == ENOENT || errno == ENOSPC || errno == EDQUOT || errno == EIO)
        return errno;
    if (renameat2(f->fd, MARK_ASIDE, f->fd, "status.json", RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != EPERM)
        return errno;
    if (faccessat(f->fd, "status.json", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return EEXIST;
    return renameat(f->fd, MARK_ASIDE, f->fd, "status.json") == 0 ? 0 : errno;
}

/* Makes the mark in the locked folder. The mark gets its name when it is whole, so a run that is killed earlier leaves
 * no half mark. */
static enum tac_err set_mark(struct tac_ctx *ctx, struct tac_folder *f, const char *text)
{
    bool made = false;
    int why = write_aside(f, MARK_ASIDE, text, strlen(text), true, &made);
    if (!made)
        return tac_fail(ctx, TAC_ERR_INPUT, "cannot write to the folder '%s': %s; choose another with -o", f->dir,
                        strerror(why));
    if (why == 0)
        why = name_mark(f);
    if (why == 0) {
        f->claimed = true;
        return TAC_OK;
    }
    unlinkat(f->fd, MARK_ASIDE, 0);
    if (why == EEXIST)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "'%s' holds a status.json that is not a run's, or another run has just begun there; choose "
                        "another folder with -o",
                        f->dir);
    return tac_fail(ctx, TAC_ERR_RUN, "cannot write %s/status.json: %s; free some space or write elsewhere with -o",
                    f->dir, strerror(why));
}

/* Makes and opens the folder. */
static enum tac_err open_folder(struct tac_ctx *ctx, const char *dir, struct tac_folder *f)
{
    enum tac_err err = TAC_OK;
    *f = (struct tac_folder){.fd = -1, .ranks = -1};
    if (dir[0] == '\0')
        return tac_fail(ctx, TAC_ERR_INPUT, "the name of the run folder is empty; name one with -o");
    TAC_TRY(tac_alloc(ctx, strlen(dir) + 1, 1, &f->dir));
    strcpy(f->dir, dir);
    TAC_TRY(make_folder(ctx, dir, &f->made));
    f->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->fd < 0) {
        err = tac_fail(ctx, TAC_ERR_INPUT,
                       errno == ENOTDIR ? "'%s' is a file, not a folder (%s); choose another with -o"
                                        : "cannot open the folder '%s': %s; choose another with -o",
                       dir, strerror(errno));
        goto done;
    }
done:
    return err;
}

/* Refuses a locked folder that has no mark but files with names of a run, because they are not ours. */
static enum tac_err refuse_foreign(struct tac_ctx *ctx, const struct tac_folder *f)
{
    char name[256] = "status.json";
    if (!visit_files(f->fd, accept_any, name, sizeof name) &&
        (faccessat(f->fd, "status.json", F_OK, AT_SYMLINK_NOFOLLOW) != 0 || mark_unfinished(f->fd)))
        return TAC_OK;
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "'%s' holds a file '%s' that no run in this folder made (there is no status.json of a run); "
                    "move it away or choose another folder with -o",
                    f->dir, name);
}

enum tac_err tac_folder_claim(struct tac_ctx *ctx, const char *dir, bool overwrite, const char *text,
                              struct tac_folder *f)
{
    enum tac_err err = TAC_OK;
    json_t *mark = NULL;
    TAC_TRY(open_folder(ctx, dir, f));
    TAC_TRY(tac_folder_mark(ctx, f->fd, &mark));
    if (!overwrite)
        TAC_TRY(tac_folder_refuse_run(ctx, dir, mark));
    if (mark != NULL)
        TAC_TRY(refuse_alive(ctx, f, mark));
    TAC_TRY(tac_folder_lock(ctx, f));
    if (mark == NULL)
        TAC_TRY(refuse_foreign(ctx, f));
    TAC_TRY(tac_folder_lock_ranks(ctx, f, mark != NULL));
    if (mark != NULL)
        TAC_TRY(remove_old_run(ctx, f));
    remove_unfinished_mark(f->fd);
    TAC_TRY(set_mark(ctx, f, text));
    remove_overlaps(f->fd);
done:
    json_decref(mark);
    if (err) {
        tac_folder_abandon(f);
        tac_folder_close(f);
    }
    return err;
}

/* Is it a file with a name of a run, but no checkpoint? The user may have copied checkpoints here to continue from. */
static bool no_checkpoint(int folder, const char *name)
{
    return strncmp(name, "checkpoint", strlen("checkpoint")) != 0;
}

/* Waits for the end of a run that was killed just now: mpirun may end before its ranks. */
static enum tac_err wait_for_end(struct tac_ctx *ctx, const struct tac_folder *f)
{
    enum { TRIES = 30, EVERY_US = 100000 };
    for (int i = 0; i < TRIES; i++) {
        json_t *mark = NULL;
        if (tac_folder_mark(ctx, f->fd, &mark) != TAC_OK)
            return TAC_ERR_RUN;
        const char *state = json_string_value(json_object_get(mark, "state"));
        bool wait = state != NULL && strcmp(state, "running") == 0 && tac_process_alive(mark) == TAC_ALIVE_YES;
        json_decref(mark);
        if (!wait)
            return TAC_OK;
        usleep(EVERY_US);
    }
    return TAC_OK;
}

/* Refuses symbolic links: a run that continues writes only to files of its own folder. */
static enum tac_err refuse_links(struct tac_ctx *ctx, const struct tac_folder *f)
{
    static const char *const extended[] = {"frames.h5",     "record.h5", "energy.csv", "reactions.csv",
                                           "histories.csv", "steps.csv", "run.log"};
    struct stat s;
    for (size_t i = 0; i < sizeof extended / sizeof extended[0]; i++)
        if (fstatat(f->fd, extended[i], &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(s.st_mode))
            return tac_fail(ctx, TAC_ERR_INPUT,
                            "'%s/%s' is a symbolic link, and a run writes only to files in its own folder; put the "
                            "file itself there, or go on in another folder with -o",
                            f->dir, extended[i]);
    return TAC_OK;
}

enum tac_err tac_folder_resume(struct tac_ctx *ctx, const char *dir, bool here, int64_t reported, struct tac_folder *f,
                               int64_t *restarts)
{
    enum tac_err err = TAC_OK;
    char name[256];
    json_t *mark = NULL;
    TAC_TRY(open_folder(ctx, dir, f));
    TAC_TRY(wait_for_end(ctx, f));
    TAC_TRY(tac_folder_mark(ctx, f->fd, &mark));
    if (mark != NULL)
        TAC_TRY(refuse_alive(ctx, f, mark));
    TAC_TRY(tac_folder_lock(ctx, f));
    if (mark == NULL)
        remove_unfinished_mark(f->fd);
    if (mark == NULL && !here &&
        (faccessat(f->fd, "status.json", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
         visit_files(f->fd, no_checkpoint, name, sizeof name)))
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                         "'%s' holds files that no run in this folder made (there is no status.json of a run); move "
                         "them away or choose another folder with -o",
                         dir));
    TAC_TRY(refuse_links(ctx, f));
    TAC_TRY(tac_folder_lock_ranks(ctx, f, mark != NULL));
    const json_t *before = json_object_get(mark, "restarts");
    *restarts = 1 + (json_is_integer(before) && json_integer_value(before) >= 0 ? json_integer_value(before)
                     : here                                                     ? reported
                                                                                : 0);
done:
    json_decref(mark);
    if (err && f->ranks >= 0)
        unlinkat(f->fd, TAC_RANKS_LOCK, 0);
    if (err && f->made)
        rmdir(f->dir);
    if (err)
        tac_folder_close(f);
    return err;
}

void tac_folder_where(const struct tac_folder *f, char *path, size_t size)
{
    char link[64];
    struct stat mine, there;
    snprintf(path, size, "%s", f->dir);
    if (fstat(f->fd, &mine) != 0 || mine.st_nlink == 0 ||
        (stat(f->dir, &there) == 0 && there.st_dev == mine.st_dev && there.st_ino == mine.st_ino))
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", f->fd);
    const ssize_t n = readlink(link, path, size - 1);
    path[n > 0 ? n : 0] = '\0';
    if (n <= 0 || stat(path, &there) != 0 || there.st_dev != mine.st_dev || there.st_ino != mine.st_ino)
        snprintf(path, size, "%s", f->dir);
}

void tac_folder_abandon(struct tac_folder *f)
{
    char name[256];
    if (f->fd >= 0 && (f->claimed || f->made)) {
        visit_files(f->fd, cannot_remove, name, sizeof name);
        unlinkat(f->fd, MARK_ASIDE, 0);
        unlinkat(f->fd, "status.json", 0);
        f->claimed = false;
    }
    if (f->fd >= 0 && f->ranks >= 0)
        unlinkat(f->fd, TAC_RANKS_LOCK, 0);
    if (f->made)
        rmdir(f->dir);
    f->made = false;
}

enum tac_err tac_folder_replace(struct tac_ctx *ctx, const struct tac_folder *f, const char *name, const char *text,
                                size_t length, bool sync)
{
    char temporary[64];
    bool made = false;
    snprintf(temporary, sizeof temporary, "%s.tmp", name);
    int why = write_aside(f, temporary, text, length, sync, &made);
    if (why == 0 && renameat(f->fd, temporary, f->fd, name) != 0)
        why = errno;
    if (why == 0)
        return TAC_OK;
    if (made)
        unlinkat(f->fd, temporary, 0);
    return tac_fail(ctx, TAC_ERR_RUN, "cannot write %s/%s: %s; %s", f->dir, name, strerror(why),
                    why == ENOENT ? "the folder was removed while the run was writing to it"
                                  : "free some space or write elsewhere with -o");
}

enum tac_err tac_folder_replace_json(struct tac_ctx *ctx, const struct tac_folder *f, const char *name,
                                     const json_t *json, bool sync)
{
    char *text = json != NULL ? json_dumps(json, JSON_INDENT(2)) : NULL;
    if (text == NULL)
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory while writing %s/%s", f->dir, name);
    /* The newline takes the place of the terminator: text is not used as a string after. */
    size_t length = strlen(text);
    text[length] = '\n';
    enum tac_err err = tac_folder_replace(ctx, f, name, text, length + 1, sync);
    free(text);
    return err;
}

bool tac_folder_rewrite(const struct tac_folder *f, const char *name, const char *text, size_t length)
{
    int fd = openat(f->fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool ok = write_text(fd, text, length) && ftruncate(fd, (off_t)length) == 0;
    return close(fd) == 0 && ok;
}

void tac_folder_close(struct tac_folder *f)
{
    tac_lock_release(&f->ranks);
    tac_lock_release(&f->fd);
    free(f->dir);
    f->dir = NULL;
}
