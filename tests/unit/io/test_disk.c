/* test_disk.c: a writer of frames is killed at its n-th write to frames.h5, for many n: every frame that was told must
 * be there and whole, whatever structure was half-way to the disk.  And the same when the disk breaks at that write. If
 * this fails, a killed job loses all its frames, not the last.  An argument: how many trials. */
#include "check.h"
#include "io/folder/output.h"
#include <tactus/reader.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <tactus/math.h>
#include <unistd.h>

enum { VERTICES = 2, FRAMES = 300 }; /* enough for the list of frames to become a tree of two levels */

struct shared {
    int reported;   /* frames that tac_frames_write() said were written */
    int64_t writes; /* when frame k was told, in writes: */
    int64_t after[FRAMES + 1];
};

static struct tac_scene make_scene(void)
{
    static struct tac_body body = {.name = (char *)"points", .vertex_end = VERTICES};
    static tac_lid vertex_body[VERTICES];
    static uint8_t ever_free[VERTICES];
    static struct tac_settings settings = {.name = (char *)"", .body_count = 1, .body = &body};
    static struct tac_local_mesh mesh = {.vertex_count = VERTICES, .vertex_body = vertex_body, .ever_free = ever_free};
    strcpy(settings.sha256, "none");
    return (struct tac_scene){&settings, &mesh};
}

static double value(int frame, int i)
{
    return tac_random(11, (uint64_t)(frame * 64 + i));
}

static void write_frames(const char *dir, struct shared *shared)
{
    struct tac_ctx ctx = {.comm = MPI_COMM_SELF, .size = 1};
    struct tac_scene scene = make_scene();
    struct tac_frames *w = NULL;
    if (tac_frames_create(&ctx, &scene, NULL, dir, &w))
        _exit(1);
    raise(SIGSTOP); /* from here on writes count */
    for (int k = 0; k < FRAMES; k++) {
        double x[3 * VERTICES], v[3 * VERTICES];
        float f[3 * VERTICES] = {0};
        for (int i = 0; i < 3 * VERTICES; i++) {
            x[i] = value(k, i);
            v[i] = value(k, i + 32);
        }
        struct tac_frame frame = {
            .index = k, .time_s = k, .count = VERTICES, .position = x, .velocity = v, .contact_force = f};
        if (tac_frames_write(&ctx, w, &frame))
            break;
        shared->reported = k + 1;
    }
    tac_frames_destroy(&ctx, &w);
    _exit(ctx.error[0] != '\0' ? 3 : 0);
}

/* Runs the writer; before its `stop`-th write (from 1; 0: never) it is killed, or, if `broken`, that write and all that
 * follow are made to fail.  Tells the exit code, -1 if killed. */
static int run(const char *dir, int64_t stop, bool broken, struct shared *shared)
{
    char path[256];
    int status;
    bool entering = true;
    snprintf(path, sizeof path, "%s/frames.h5", dir);
    unlink(path);
    memset(shared, 0, sizeof *shared);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        write_frames(dir, shared);
    }
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    for (;;) {
        ptrace(PTRACE_SYSCALL, child, NULL, NULL); /* fails when the child was killed; the next line hears of it */
        if (waitpid(child, &status, 0) != child)
            return -2;
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
        if (WIFSIGNALED(status))
            return -1;
        if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80))
            continue;
#if defined(__x86_64__)
        struct user_regs_struct registers;
        ptrace(PTRACE_GETREGS, child, NULL, &registers);
        if (registers.orig_rax != SYS_pwrite64) {
            entering = true;
            continue;
        }
        if (entering) {
            shared->writes++;
            shared->after[shared->reported] = shared->writes;
            if (stop > 0 && shared->writes >= stop && !broken)
                kill(child, SIGKILL);
            if (stop > 0 && shared->writes >= stop && broken) {
                registers.rdi = (unsigned long long)-1; /* not an open file */
                ptrace(PTRACE_SETREGS, child, NULL, &registers);
            }
        }
        entering = !entering;
#endif
    }
}

static void look(const char *dir, int reported, const char *how, int64_t stop)
{
    struct tac_ctx ctx = {.comm = MPI_COMM_SELF, .size = 1, .quiet = true};
    struct tac_reader *r = NULL;
    enum tac_err err = tac_reader_open(&ctx, dir, &r);
    CHECK(err == TAC_OK, "%s at write %ld, %d frames told: %s", how, (long)stop, reported, ctx.error);
    if (err)
        return;
    CHECK(r->frame_count >= reported && r->frame_count + r->incomplete <= reported + 1,
          "%s at write %ld: %ld frames of %d", how, (long)stop, (long)r->frame_count, reported);
    for (int64_t k = 0; k < r->frame_count; k++) {
        double x[3 * VERTICES], v[3 * VERTICES];
        bool same = tac_reader_frame(&ctx, r, k, x, v, NULL) == TAC_OK && r->frame[k].index == k &&
                    r->frame[k].time_s == (double)k;
        for (int i = 0; i < 3 * VERTICES; i++)
            same = same && x[i] == value((int)k, i) && v[i] == value((int)k, i + 32);
        CHECK(same, "%s at write %ld: frame %ld: %s", how, (long)stop, (long)k, ctx.error);
    }
    tac_reader_close(&r);
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/tactus-disk-XXXXXX", path[256];
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || mkdtemp(dir) == NULL)
        return 1;
    int code = run(dir, 0, false, shared);
    CHECK(code == 0 && shared->reported == FRAMES, "the whole run: exit code %d, %d frames", code, shared->reported);
    look(dir, FRAMES, "whole", 0);
    struct shared whole = *shared;
    if (whole.writes == 0) {
        printf("SKIPPED: no trace of writes on this machine\n");
        return check_result();
    }
    printf("%ld writes\n", (long)whole.writes);
    CHECK(whole.writes > 5 * FRAMES, "writes are seen");
    /* Every write of some frames, and others by chance. */
    for (int trial = 0, trials = argc > 1 ? atoi(argv[1]) : 60; trial < trials; trial++) {
        int64_t stop =
            trial < 35 ? whole.after[8] + trial : 1 + (int64_t)(tac_random(5, (uint64_t)trial) * (double)whole.writes);
        bool broken = trial % 3 == 2;
        code = run(dir, stop, broken, shared);
        CHECK(code == (broken ? 3 : -1), "write %ld: exit code %d", (long)stop, code);
        look(dir, shared->reported, broken ? "broken" : "killed", stop);
    }
    snprintf(path, sizeof path, "%s/frames.h5", dir);
    unlink(path);
    rmdir(dir);
    munmap(shared, sizeof *shared);
    return check_result();
}
