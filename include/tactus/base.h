/* tactus/base.h: scalars, the run context, errors.
 *
 * Everything in Tactus that can fail because of the world (a file, an option, memory, HDF5) returns
 * `enum tac_err`; its value is the program's exit code.  The one sentence that says what went wrong lives in the
 * context, put there by tac_fail().  Bugs are caught by TAC_CHECK and abort.
 *
 *     struct tac_ctx ctx;
 *     tac_ctx_init(&ctx, MPI_COMM_WORLD);
 *     enum tac_err err = tac_scene_read(&ctx, "drop.json", &options, &scene);
 *     if (err) { fprintf(stderr, "tactus: %s\n", ctx.error); return err; }
 */
#ifndef TACTUS_BASE_H
#define TACTUS_BASE_H

#ifdef __cplusplus
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1 /* the MPI library's own C++ classes, which are no part of MPI any more */
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#endif

#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function that does not return, in C and in C++. */
#ifdef __cplusplus
#define TAC_NORETURN [[noreturn]]
#else
#define TAC_NORETURN _Noreturn
#endif

typedef int64_t tac_gid;  /* global id of a vertex, triangle, edge: its position in the scene's order */
typedef int32_t tac_lid;  /* local id on this rank */
typedef int64_t tac_time; /* simulated time, a whole number of quanta */

#define TAC_GID_MPI MPI_INT64_T
#define TAC_LID_MPI MPI_INT32_T
#define TAC_TIME_MPI MPI_INT64_T
#define TAC_GID_HDF5 H5T_NATIVE_INT64
#define TAC_LID_HDF5 H5T_NATIVE_INT32
#define TAC_TIME_HDF5 H5T_NATIVE_INT64
#define TAC_PRIGID PRId64
#define TAC_PRILID PRId32
#define TAC_PRITIME PRId64
#define TAC_TIME_NEVER INT64_MAX

/* The value is the exit code of the program. */
enum tac_err {
    TAC_OK = 0,
    TAC_ERR_NO = 1,      /* the answer is no: the runs compared differ */
    TAC_ERR_INPUT = 2,   /* usage or bad input; nothing was run */
    TAC_ERR_RUN = 3,     /* failed while running: disk, memory, a scene that cannot go on */
    TAC_ERR_STOPPED = 75 /* stopped early, with a checkpoint to go on from */
};

struct tac_element_keys; /* tactus/scene.h */

/* Settings for the project's own tests.  No bit of a trajectory depends on them.  tac_ctx_init() reads them from the
 * environment (TACTUS_TEST_...); 0: as usual. */
struct tac_hooks {
    double patience_s;      /* how long a rank with an error waits for the others */
    double lock_s;          /* how long a run waits for ranks of an earlier one before it says so */
    double skin;            /* implicit: factor of the skin of the list of candidates */
    int rough;              /* implicit: how many derivatives of the barrier are left out */
    int64_t spill_bytes;    /* how many bytes of breakpoints stay in memory */
    int64_t giant;          /* impact: all ranks solve an island of more rows */
    int64_t spread_from;    /* a scene with this many vertices and elements counts as large */
    uint64_t migrate;       /* seed of random owners that vertices get at every commit; 0: none */
    uint64_t delay_seed;    /* seed of random delays before a rank sends */
    int delay_us;           /* the longest such delay, microseconds; 0: none */
    int fail_rank;          /* on this rank one of the calls that can fail does fail: */
    long fail_nth;          /* n */
    bool distributes_small; /* a small scene is distributed, too */
    bool everyone;          /* all ranks exchange messages at each instant */
};

/* The run context: which rank this is, and what went wrong. The caller creates it, one for each program or simulation.
 */
struct tac_ctx {
    MPI_Comm comm; /* borrowed */
    int rank, size;
    bool quiet;       /* no warnings, no progress */
    char error[2048]; /* one sentence: what, where, what to do; empty while all is well */
    int warnings;     /* how many tac_warn() calls */
    void (*warned)(void *user,
                   const char *sentence); /* rank 0 calls it with each warning, also a quiet one; NULL: none */
    void *warned_user;                    /* borrowed */
    bool torn; /* MPI_Finalize() would close a file that several ranks share, and cannot: end with MPI_Abort() */
    /* borrowed, ends with NULL: elements beyond the program's own (docs/reference/elements.md), set before the scene is
     * read and kept until the simulation is destroyed; the same on all ranks; NULL: none */
    const struct tac_element_keys *const *added_elements;
    struct tac_hooks hooks;
};

/* Local. Sets up a context on a communicator, which stays the caller's. */
void tac_ctx_init(struct tac_ctx *ctx, MPI_Comm comm);

/* Local. Records the sentence (printf style, no trailing newline) and returns `err`.  The first failure wins: a
 * later one does not overwrite it. */
enum tac_err tac_fail(struct tac_ctx *ctx, enum tac_err err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Local. Prints one line "tactus: warning: ..." on stderr, on rank 0 only, unless ctx->quiet is set. */
void tac_warn(struct tac_ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Local. Does the same for a loss of data.  It prints even if ctx->quiet is set, unless ctx->warned receives the
 * warning. */
void tac_warn_loss(struct tac_ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Collective. Waits until messages of all ranks arrive, for a minute at most (TACTUS_TEST_PATIENCE_S); then it gives up
 * (tac_give_up()). Call it when MPI has just started: where a rank has too little memory for its part of the memory
 * that processes share, MPI starts all the same, and messages to that rank are lost. */
void tac_meet(struct tac_ctx *ctx);

/* Collective. Makes an error of one rank the error of all: returns the largest code, with the sentence of the lowest
 * rank that has it.  A rank with an error waits for the others for a minute (TACTUS_TEST_PATIENCE_S), because they may
 * wait in a collective call of a library that this rank will not make; then it gives up. */
enum tac_err tac_agree(struct tac_ctx *ctx, enum tac_err err);

/* Local. Replaces control characters in `text` by '?'. Text from files and command lines is printed on terminals, which
 * such characters could control. The sentences of tac_fail() and tac_warn() have been treated already. Returns
 * `text`. */
char *tac_tame(char *text);

/* Collective. Does the same after a step that all ranks take in HDF5 together. If it failed on some ranks only, all
 * ranks would wait for each other when the file is closed. For this case ctx->torn is set on all ranks. */
enum tac_err tac_agree_step(struct tac_ctx *ctx, enum tac_err err);

/* Local. For ranks that cannot meet any more: prints the sentence on stderr and calls MPI_Abort() with TAC_ERR_RUN. */
TAC_NORETURN void tac_give_up(const struct tac_ctx *ctx);

/* Jumps to `done:` with `err` set when the call fails. */
#define TAC_TRY(call)                                                                                                  \
    do {                                                                                                               \
        if ((err = (call)) != TAC_OK)                                                                                  \
            goto done;                                                                                                 \
    } while (0)

/* If the condition is false, there is a bug: prints the place and aborts, in every build. */
#define TAC_CHECK(condition) ((condition) ? (void)0 : tac_abort(__FILE__, __LINE__, #condition))
#ifdef NDEBUG
#define TAC_ASSERT(condition) ((void)0)
#else
#define TAC_ASSERT(condition) TAC_CHECK(condition)
#endif
TAC_NORETURN void tac_abort(const char *file, int line, const char *condition);

/* Memory.  tac_alloc: `count` zeroed elements of `size` bytes into *out (a pointer to a pointer); count 0 gives a
 * non-NULL pointer.  tac_alloc_brief: the same for what is freed soon and allocated anew again and again, which must
 * not be aligned (docs/lab/2026-11-23-implicit-memory.md).  tac_grow: makes room for at least `need` elements,
 * doubling; *capacity in elements. All fail with TAC_ERR_RUN and a sentence.  Free with free(). */
enum tac_err tac_alloc(struct tac_ctx *ctx, size_t count, size_t size, void *out);
enum tac_err tac_alloc_brief(struct tac_ctx *ctx, size_t count, size_t size, void *out);
enum tac_err tac_grow(struct tac_ctx *ctx, void *array, size_t *capacity, size_t need, size_t size);
/* Local. The same for an array that begins on a cache line, of which the first `count` elements are to be kept. */
enum tac_err tac_grow_lines(struct tac_ctx *ctx, void *array, size_t *capacity, size_t count, size_t need, size_t size);

/* Returns the known name nearest to `word` by edit distance, or NULL if none is so near that it may be meant. */
const char *tac_nearest(const char *word, const char *const *known, size_t count);

/* Returns the wall time in seconds since an arbitrary moment. */
double tac_wall_s(void);

#define TAC_VERSION "0.1.0"
/* The generation of the trajectories that the program computes.  A run goes on from a checkpoint of an older one only
 * if the trajectory of its scene is still the same (docs/reference/compatibility.md, Trajectory generation). */
#define TAC_TRAJECTORY_GENERATION 6
/* Return the version of the library, and the commit that it was built from. */
const char *tac_version(void);
const char *tac_commit(void);
/* Local; MPI need not run. Writes lines of text: version, commit and trajectory generation; compiler; the versions of
 * the MPI and HDF5 libraries that are loaded. */
void tac_build_text(char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
