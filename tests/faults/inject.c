/* inject.c: a library to be loaded before all others (LD_PRELOAD) that makes calls of the program fail.
 *
 * Counted are the calls in calls.h and those for memory that come from the program itself (libtactus is part of it),
 * and libjansson's calls for memory, for these come from nobody else. What other libraries do is their own. Set by the
 * environment:
 *
 *   TACTUS_FAULT_AT=n       the n-th call fails (from 1); nothing set: none does, they are only counted
 *   TACTUS_FAULT_EVERY=n    every n-th does
 *   TACTUS_FAULT_KIND=k,..  only calls of these kinds count: alloc file mpi hdf5 json other; inside: HDF5's own memory
 *   TACTUS_FAULT_RANK=r     on rank r alone (default 0), by OMPI_COMM_WORLD_RANK
 *   TACTUS_FAULT_AFTER=1    what fails is called all the same, and then said to have failed
 *   TACTUS_FAULT_KILL=1     instead of failing it, the process is killed (kill -9) before the call
 *   TACTUS_FAULT_FILL=f     instead of failing it, file f is written until its disk is full, and the call is made
 *   TACTUS_FAULT_LIST=1     each call that counts is reported: "call KIND NAME ADDRESS..."
 *   TACTUS_FAULT_REPORT=f   what happened is appended to f.RANK
 *
 * The report: "fault KIND NAME ADDRESS..." at once (addresses of the program on the stack, less where it is loaded); at
 * the end "count N", "leak BYTES bytes ADDRESS..." for memory, "leak a handle ADDRESS..." for HDF5, "open PATH" for
 * files; "abort CODE" where MPI was given up, and then nothing.
 *
 * An MPI call that fails goes to the program's error handler first, as in any MPI. Needs x86-64 and glibc.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <link.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { ALLOC_KIND, FILE_KIND, MPI_KIND, HDF5_KIND, JSON_KIND, OTHER_KIND, INSIDE_KIND, KINDS };
enum how { PLAIN, DONE, MAKES, STREAM0, STREAM1, STREAM2, STREAM3, CLOSES0, OUT };
static const char *const KIND_NAME[KINDS] = {"alloc", "file", "mpi", "hdf5", "json", "other", "inside"};

struct call {
    const char *name;
    enum kind kind;
    long value;
    int why;
    enum how how;
};

static const struct call CALLS[] = {
#define CALL(name, kind, value, why, how) {#name, kind, value, why, how},
#include "calls.h"
#undef CALL
};
enum { CALL_COUNT = sizeof CALLS / sizeof CALLS[0] };

/* ---- settings, and where the program lies ---- */

struct range {
    uintptr_t begin, end;
};

/* Seen by a child process too: what it calls counts on. */
struct shared {
    atomic_long count;
};

static struct range program, jansson, hdf5;
static uintptr_t base; /* where the program is loaded */
static struct shared *shared, alone;
static long at, every;
static bool wanted[KINDS], list, after, kills, ready, aborted;
static const char *filler; /* NULL: no disk is filled */
static pid_t main_process; /* a child of it may make the call */
static int report = -1;
static uintptr_t real[CALL_COUNT];

static void *next(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    return f;
}

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
    struct range *range = info->dlpi_name[0] == '\0' && program.end == 0  ? &program
                          : strstr(info->dlpi_name, "libjansson") != NULL ? &jansson
                          : strstr(info->dlpi_name, "libhdf5") != NULL    ? &hdf5
                                                                          : NULL;
    for (int i = 0; range != NULL && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X && range->end == 0) {
            range->begin = info->dlpi_addr + p->p_vaddr;
            range->end = range->begin + p->p_memsz;
        }
    }
    if (range == &program)
        base = info->dlpi_addr;
    return 0;
}

static bool in(const struct range *range, uintptr_t address)
{
    return address >= range->begin && address < range->end;
}

static long number(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *kinds = getenv("TACTUS_FAULT_KIND"), *rank = getenv("OMPI_COMM_WORLD_RANK"),
               *file = getenv("TACTUS_FAULT_REPORT");
    dl_iterate_phdr(look, NULL);
    for (size_t i = 0; i < CALL_COUNT; i++)
        if (real[i] == 0)
            real[i] = (uintptr_t)next(CALLS[i].name);
    for (int k = 0; k < KINDS; k++)
        wanted[k] = kinds != NULL ? strstr(kinds, KIND_NAME[k]) != NULL : k != INSIDE_KIND;
    after = number("TACTUS_FAULT_AFTER") != 0;
    list = number("TACTUS_FAULT_LIST") != 0;
    kills = number("TACTUS_FAULT_KILL") != 0;
    filler = getenv("TACTUS_FAULT_FILL");
    main_process = getpid();
    if (number("TACTUS_FAULT_RANK") == (rank != NULL ? strtol(rank, NULL, 10) : 0)) {
        at = number("TACTUS_FAULT_AT");
        every = number("TACTUS_FAULT_EVERY");
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        shared = &alone;
    if (file != NULL) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%s", file, rank != NULL ? rank : "0");
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        report = fcntl(fd, F_DUPFD_CLOEXEC, 900); /* out of the way of the program's own */
        close(fd);
    }
    ready = true;
}

/* ---- the report ---- */

static void say(const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (report >= 0 && n > 0)
        syscall(SYS_write, report, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

enum { TRACE = 8 };
struct trace {
    uint32_t address[TRACE]; /* of the program, less its base; 0: no more */
};

/* What looks like return addresses into the program, from `stack` up. */
static struct trace trace_of(uintptr_t first, const uintptr_t *stack)
{
    struct trace t = {{0}};
    int n = 0;
    if (in(&program, first))
        t.address[n++] = (uint32_t)(first - base);
    for (int i = 0; i < 512 && n < TRACE; i++)
        if (in(&program, stack[i]) && stack[i] != first)
            t.address[n++] = (uint32_t)(stack[i] - base);
        else if (stack[i] == 0 && stack[i + 1] == 0 && stack[i + 2] == 0 && i > 400)
            break;
    return t;
}

static void say_trace(const char *what, const char *a, const char *b, const struct trace *t)
{
    char text[TRACE * 12] = "";
    for (int i = 0, n = 0; i < TRACE && t->address[i]; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %x", t->address[i]);
    say("%s %s %s%s\n", what, a, b, text);
}

/* ---- does this call fail? ---- */

/* Takes all the room there is on the disk of `filler`; errno is left as it was. */
static void fill_disk(void)
{
    static const char page[4096] = "";
    const int why = errno, fd = (int)syscall(SYS_openat, AT_FDCWD, filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    while (fd >= 0 && syscall(SYS_write, fd, page, sizeof page) > 0)
        ;
    syscall(SYS_close, fd);
    errno = why;
}

static bool fails(const char *name, enum kind kind, uintptr_t caller, const uintptr_t *stack)
{
    if (!ready || !wanted[kind])
        return false;
    long n = atomic_fetch_add(&shared->count, 1) + 1;
    const bool hit = n == at || (every > 0 && n % every == 0);
    if (hit || list) {
        struct trace t = trace_of(caller, stack);
        say_trace(hit ? "fault" : "call", KIND_NAME[kind], name, &t);
    }
    if (hit && kills) {
        syscall(SYS_kill, main_process, SIGKILL);
        syscall(SYS_kill, getpid(), SIGKILL);
    }
    if (hit && filler != NULL) {
        fill_disk();
        return false;
    }
    return hit;
}

/* ---- memory ---- */

enum { SLOTS = 1 << 18 };
#define HANDLE SIZE_MAX
struct block {
    void *memory; /* NULL: free slot; or a handle of HDF5 */
    size_t bytes; /* HANDLE */
    struct trace trace;
};
static struct block *block; /* SLOTS of them, open addressing */
static size_t block_count;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static size_t slot_of(const void *memory)
{
    return ((uintptr_t)memory >> 4) * 0x9E3779B97F4A7C15u >> 40 & (SLOTS - 1);
}

static void lock(void)
{
    while (atomic_flag_test_and_set(&busy))
        ;
}

static void remember(void *memory, size_t bytes, uintptr_t caller, const uintptr_t *stack)
{
    if (memory == NULL || !ready)
        return;
    lock();
    if (block == NULL) {
        void *room = mmap(NULL, SLOTS * sizeof *block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        block = room != MAP_FAILED ? room : NULL;
    }
    if (block != NULL && block_count < SLOTS / 2) {
        size_t i = slot_of(memory);
        while (block[i].memory != NULL && block[i].memory != memory)
            i = (i + 1) % SLOTS;
        block_count += block[i].memory == NULL;
        block[i] = (struct block){memory, bytes, trace_of(caller, stack)};
    }
    atomic_flag_clear(&busy);
}

static void forget(const void *memory)
{
    if (memory == NULL || block == NULL)
        return;
    lock();
    size_t i = slot_of(memory);
    while (block[i].memory != NULL && block[i].memory != memory)
        i = (i + 1) % SLOTS;
    if (block[i].memory != NULL) {
        block_count--;
        /* Whoever comes later in the same row moves up. */
        for (size_t j = (i + 1) % SLOTS; block[j].memory != NULL; j = (j + 1) % SLOTS) {
            size_t home = slot_of(block[j].memory);
            if ((j - home) % SLOTS >= (j - i) % SLOTS) {
                block[i] = block[j];
                i = j;
            }
        }
        block[i].memory = NULL;
    }
    atomic_flag_clear(&busy);
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t), *(*real_realloc)(void *, size_t),
    *(*real_aligned)(size_t, size_t);
static void (*real_free)(void *);
static char *(*real_strdup)(const char *), *(*real_strndup)(const char *, size_t),
    *(*real_realpath)(const char *, char *);

/* A sanitizer may stand between us and libc.  Looking it up can ask for memory itself. */
static bool memory_ready(void)
{
    static bool looking;
    if (real_free != NULL)
        return true;
    if (looking)
        return false;
    looking = true;
    real_malloc = (void *(*)(size_t))next("malloc");
    real_calloc = (void *(*)(size_t, size_t))next("calloc");
    real_realloc = (void *(*)(void *, size_t))next("realloc");
    real_aligned = (void *(*)(size_t, size_t))next("aligned_alloc");
    real_strdup = (char *(*)(const char *))next("strdup");
    real_strndup = (char *(*)(const char *, size_t))next("strndup");
    real_realpath = (char *(*)(const char *, char *))next("realpath");
    real_free = (void (*)(void *))next("free");
    looking = false;
    return true;
}

struct ask {
    bool ours, fails;
};

static struct ask ask(const char *name, uintptr_t caller, const uintptr_t *stack)
{
    if (in(&program, caller))
        return (struct ask){true, fails(name, ALLOC_KIND, caller, stack)};
    if (in(&jansson, caller))
        return (struct ask){true, fails(name, JSON_KIND, caller, stack)};
    return (struct ask){false, in(&hdf5, caller) && wanted[INSIDE_KIND] && fails(name, INSIDE_KIND, caller, stack)};
}

/* The frame begins with the caller's frame pointer and the return address; above lie the callers' own. */
#define CALLER ((uintptr_t)__builtin_return_address(0))
#define STACK ((const uintptr_t *)__builtin_frame_address(0) + 2)
#define MEMORY(name, bytes, call, early)                                                                               \
    if (!memory_ready())                                                                                               \
        return early;                                                                                                  \
    const struct ask a = ask(name, CALLER, STACK);                                                                     \
    if (a.fails) {                                                                                                     \
        errno = ENOMEM;                                                                                                \
        return NULL;                                                                                                   \
    }                                                                                                                  \
    void *memory = call;                                                                                               \
    if (a.ours)                                                                                                        \
        remember(memory, bytes, CALLER, STACK);                                                                        \
    return memory

void *malloc(size_t size)
{
    MEMORY("malloc", size, real_malloc(size), __libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    MEMORY("calloc", count * size, real_calloc(count, size), __libc_calloc(count, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    MEMORY("aligned_alloc", size, real_aligned(alignment, size), __libc_memalign(alignment, size));
}

char *strdup(const char *text)
{
    MEMORY("strdup", strlen(text) + 1, real_strdup(text), NULL);
}

char *strndup(const char *text, size_t size)
{
    MEMORY("strndup", size, real_strndup(text, size), NULL);
}

char *realpath(const char *path, char *out)
{
    if (out != NULL)
        return memory_ready() ? real_realpath(path, out) : NULL;
    MEMORY("realpath", 1, real_realpath(path, NULL), NULL);
}

void *realloc(void *old, size_t size)
{
    if (!memory_ready())
        return __libc_realloc(old, size);
    const struct ask a = ask("realloc", CALLER, STACK);
    if (a.fails) {
        errno = ENOMEM;
        return NULL;
    }
    forget(old);
    void *memory = real_realloc(old, size);
    if (a.ours)
        remember(memory, size, CALLER, STACK);
    return memory;
}

void free(void *memory)
{
    forget(memory);
    if (memory_ready())
        real_free(memory);
    else
        __libc_free(memory);
}

/* ---- all other calls ----
 * An entry keeps the arguments as they came, in registers and on the stack, and asks tactus_fault_decide() where to go:
 * on to the function itself, or back with a value. */

struct frame {
    uintptr_t target; /* 0: back, with value */
    long value;
    long xmm[16];
    long argument[6]; /* rdi rsi rdx rcx r8 r9 */
    long vectors;     /* al: how many of a variadic call's arguments are in xmm registers */
    long index, caller_frame, caller;
    long stack[]; /* the seventh argument on */
};

typedef long any(long, long, long, long, long, long, long, long, long, long, long, long);

static long call_it(size_t i, const struct frame *f)
{
    const long *a = f->argument, *s = f->stack;
    return ((any *)real[i])(a[0], a[1], a[2], a[3], a[4], a[5], s[0], s[1], s[2], s[3], s[4], s[5]);
}

/* glibc keeps the error flag of a stream there. */
static void spoil(FILE *stream)
{
    enum { ERROR_SEEN = 0x20 };
    stream->_flags |= ERROR_SEEN;
}

static long fail_mpi(const struct call *call)
{
    int flag = 0, over = 0;
    PMPI_Initialized(&flag);
    PMPI_Finalized(&over);
    if (flag && !over)
        PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    (void)call;
    return MPI_ERR_OTHER;
}

void tactus_fault_decide(struct frame *f);
void tactus_fault_decide(struct frame *f)
{
    const size_t i = (size_t)f->index;
    const struct call *call = &CALLS[i];
    const long *a = f->argument;
    int keep = errno;
    if (real[i] == 0)
        real[i] = (uintptr_t)next(call->name);
    f->target = real[i];
    errno = keep;
    if (!in(&program, (uintptr_t)f->caller))
        return;
    FILE *stream = call->how >= STREAM0 && call->how <= STREAM3 ? (FILE *)a[call->how - STREAM0]
                   : call->how == CLOSES0                       ? (FILE *)a[0]
                   : call->how == OUT                           ? stdout
                                                                : NULL;
    if (stream == stderr)
        return;
    const uintptr_t *stack = (const uintptr_t *)f->stack;
    if (call->kind == HDF5_KIND && call->how == DONE)
        forget((void *)a[0]);
    if (!fails(call->name, call->kind, (uintptr_t)f->caller, stack)) {
        errno = keep;
        if (call->how == MAKES) {
            f->target = 0;
            f->value = call_it(i, f);
            if (f->value >= 0)
                remember((void *)f->value, HANDLE, (uintptr_t)f->caller, stack);
        }
        return;
    }
    f->target = 0;
    f->value = call->value;
    if (call->how == DONE || call->how == CLOSES0 || (after && call->kind != FILE_KIND && call->kind != OTHER_KIND)) {
        long made = call_it(i, f);
        if (call->how == MAKES && made >= 0)
            H5Idec_ref(made);
    }
    if (stream != NULL && call->how != CLOSES0)
        spoil(stream);
    if (call->kind == MPI_KIND)
        f->value = fail_mpi(call);
    errno = call->why != 0 ? call->why : keep;
}

__asm__(".text\n"
        "tactus_fault_enter:\n"
        "    push %rbp\n" /* struct frame from its end */
        "    mov %rsp, %rbp\n"
        "    push %r11\n" /* index */
        "    push %rax\n"
        "    push %r9\n"
        "    push %r8\n"
        "    push %rcx\n"
        "    push %rdx\n"
        "    push %rsi\n"
        "    push %rdi\n"
        "    sub $144, %rsp\n"
        "    movups %xmm0, 16(%rsp)\n"
        "    movups %xmm1, 32(%rsp)\n"
        "    movups %xmm2, 48(%rsp)\n"
        "    movups %xmm3, 64(%rsp)\n"
        "    movups %xmm4, 80(%rsp)\n"
        "    movups %xmm5, 96(%rsp)\n"
        "    movups %xmm6, 112(%rsp)\n"
        "    movups %xmm7, 128(%rsp)\n"
        "    mov %rsp, %rdi\n"
        "    call tactus_fault_decide\n"
        "    mov (%rsp), %r11\n"
        "    test %r11, %r11\n"
        "    jz 1f\n"
        "    movups 16(%rsp), %xmm0\n"
        "    movups 32(%rsp), %xmm1\n"
        "    movups 48(%rsp), %xmm2\n"
        "    movups 64(%rsp), %xmm3\n"
        "    movups 80(%rsp), %xmm4\n"
        "    movups 96(%rsp), %xmm5\n"
        "    movups 112(%rsp), %xmm6\n"
        "    movups 128(%rsp), %xmm7\n"
        "    add $144, %rsp\n"
        "    pop %rdi\n"
        "    pop %rsi\n"
        "    pop %rdx\n"
        "    pop %rcx\n"
        "    pop %r8\n"
        "    pop %r9\n"
        "    pop %rax\n"
        "    leave\n"
        "    jmp *%r11\n"
        "1:  mov 8(%rsp), %rax\n"
        "    leave\n"
        "    ret\n");

/* One entry for each call: its index, and on. */
/* clang-format off */
__asm__(".set tactus_fault_index, 0\n"
#define CALL(name, kind, value, why, how)                                                                              \
    ".globl " #name "\n.type " #name ", @function\n"                                                                   \
    #name ": mov $tactus_fault_index, %r11d\n    jmp tactus_fault_enter\n.size " #name ", .-" #name "\n"               \
    ".set tactus_fault_index, tactus_fault_index + 1\n"
#include "calls.h"
#undef CALL
);
/* clang-format on */

/* An MPI that is given up: what is left then is no leak. */
int MPI_Abort(MPI_Comm comm, int code)
{
    aborted = true;
    say("abort %d\n", code);
    return PMPI_Abort(comm, code);
}

/* ---- the end ---- */

static void say_open_files(void)
{
    for (int fd = 3; fd < 900; fd++) {
        char name[64], path[1024];
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(name, path, sizeof path - 1);
        if (n > 0) {
            path[n] = '\0';
            say("open %s\n", path);
        }
    }
}

__attribute__((destructor)) static void end(void)
{
    ready = false;
    say("count %ld\n", atomic_load(&shared->count));
    if (aborted)
        return;
    for (size_t i = 0; block != NULL && i < SLOTS; i++)
        if (block[i].memory != NULL && (block[i].bytes != HANDLE || H5Iis_valid((hid_t)block[i].memory) > 0)) {
            char bytes[32];
            snprintf(bytes, sizeof bytes, "%zu", block[i].bytes);
            say_trace("leak", block[i].bytes == HANDLE ? "a" : bytes, block[i].bytes == HANDLE ? "handle" : "bytes",
                      &block[i].trace);
        }
    say_open_files();
}
