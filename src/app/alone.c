/* alone.c: gives a process that was started without mpirun a session folder of its own, and removes the folders that
 * killed processes left. */
#include "app/alone.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <tactus/report.h>
#include <unistd.h>

#define PREFIX "tactus-mpi-"
#define OWNER "owner" /* a file in the folder, locked by the folder's process; its text names the machine */
enum { MACHINE = 256, MOST_PATH = 4096 };

static char folder[MOST_PATH]; /* one for the process, like MPI's own state; empty: none */
static int owner = -1;         /* open while the folder is used; the lock ends with the process, however that ends */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    remove(path);
    return 0;
}

/* Is the folder left over by a process that has ended? Then it is locked here, and the caller closes *lock. Only
 * folders of this user and this machine are tested, because a lock does not show processes on other machines, which may
 * share the file system. */
static bool is_left_over(int base, const char *name, int *lock)
{
    char here[MACHINE] = "", there[MACHINE] = "";
    struct stat st;
    *lock = -1;
    const int dir = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return false;
    if (fstat(dir, &st) == 0 && st.st_uid == geteuid())
        *lock = openat(dir, OWNER, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    close(dir);
    if (*lock < 0)
        return false;
    /* A process writes the machine's name after it has the lock, so a file without a name may belong to a process that
     * is just starting. */
    tac_process_machine(here, sizeof here);
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0 && fstat(*lock, &st) == 0 && st.st_nlink > 0 &&
        pread(*lock, there, sizeof there - 1, 0) > 0 && strcmp(here, there) == 0)
        return true;
    close(*lock);
    return false;
}

/* Removes the folders of killed processes. */
static void remove_left_over(const char *base)
{
    DIR *entries = opendir(base);
    struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        char path[MOST_PATH];
        int lock;
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 || !is_left_over(dirfd(entries), entry->d_name, &lock))
            continue;
        const int n = snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
        if (n > 0 && (size_t)n < sizeof path)
            nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        close(lock);
    }
    if (entries != NULL)
        closedir(entries);
}

/* Locks the folder, so that other processes do not remove it while this one lives. They never remove a folder without a
 * lock file. */
static void lock_folder(void)
{
    char path[MOST_PATH + 16], machine[MACHINE];
    snprintf(path, sizeof path, "%s/" OWNER, folder);
    owner = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (owner < 0 || flock(owner, LOCK_EX | LOCK_NB) != 0)
        return;
    tac_process_machine(machine, sizeof machine);
    if (write(owner, machine, strlen(machine)) < 0)
        return; /* a full disk: no process will remove this folder */
}

void tac_alone_begin(void)
{
    /* In an allocation of Slurm, Open MPI would conclude from these variables that srun has started this process. */
    unsetenv("SLURM_NODELIST");
    unsetenv("SLURM_STEP_ID");
    if (getenv("OMPI_MCA_orte_tmpdir_base") != NULL)
        return;
    const char *base = getenv("TMPDIR");
    base = base != NULL && base[0] ? base : "/tmp";
    remove_left_over(base);
    int n = snprintf(folder, sizeof folder, "%s/" PREFIX "XXXXXX", base);
    if (n < 0 || (size_t)n >= sizeof folder || mkdtemp(folder) == NULL) {
        folder[0] = '\0'; /* Open MPI will fail with its own message if it needs the folder */
        return;
    }
    lock_folder();
    setenv("OMPI_MCA_orte_tmpdir_base", folder, 1);
    /* A process alone needs no daemon and no network: it starts in hundredths of a second instead of tenths. */
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("OMPI_MCA_btl", "self", 0);
}

void tac_alone_end(void)
{
    if (folder[0] != '\0')
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    folder[0] = '\0';
    if (owner >= 0)
        close(owner);
    owner = -1;
}
