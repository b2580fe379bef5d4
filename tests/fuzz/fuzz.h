/* fuzz.h: what the targets share.  A target reads one input, any bytes at all, through the library's public functions.
 *
 * A target is one file with fuzz_begin() and fuzz_read().  Linked with support.c and libFuzzer it is the fuzzer
 * `fuzz_NAME` (preset `fuzz`); with support.c and replay.c, in every build, it is `replay_NAME`, which reads the files
 * and folders it is given, once each.  What is wrong with an input's reading ends the process, in either.
 */
#ifndef TACTUS_TESTS_FUZZ_H
#define TACTUS_TESTS_FUZZ_H

#include <jansson.h>
#include <tactus/base.h>
#include <tactus/scene.h>

#if defined(__SANITIZE_ADDRESS__)
#define FUZZ_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_SANITIZED 1
#endif
#endif
#ifndef FUZZ_SANITIZED
#define FUZZ_SANITIZED 0
#endif

/* ---- of the target ---- */

/* Once, before the first input: files that inputs may name, for instance. */
void fuzz_begin(void);
/* Reads one input.  TAC_OK: it was accepted, TAC_ERR_INPUT: refused. Asserts with fuzz_must() what holds of every
 * input. */
enum tac_err fuzz_read(struct tac_ctx *ctx, const uint8_t *data, size_t size);

/* ---- support.c ---- */

/* The process' own folder, in memory where there is such a disk; it is removed at the end. */
void fuzz_setup(void);
/* fuzz_read() of one input, and what every reader promises: exit code 0, 2, or 3 for want of memory; one sentence
 * without control characters if refused, none if accepted; nothing of HDF5 left open. */
enum tac_err fuzz_input(const uint8_t *data, size_t size);

/* Path of a file in the process' folder.  Lives until the next but 15. */
const char *fuzz_path(const char *name);
/* Writes such a file; returns its path. */
const char *fuzz_put(const char *name, const void *data, size_t size);
/* Between the two, what is printed is kept; at the end it must hold no control characters but line ends: it goes to
 * terminals, which they might steer. */
void fuzz_output_begin(void);
void fuzz_output_end(void);

/* Between the two, what is never freed is no leak: for MPI's start. */
void fuzz_leaks_begin(void);
void fuzz_leaks_end(void);

/* A promise: aborts, naming it, unless it is kept. */
#define fuzz_must(condition, what)                                                                                     \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            fuzz_broken(__FILE__, __LINE__, what);                                                                     \
    } while (0)
_Noreturn void fuzz_broken(const char *file, int line, const char *what);

/* ---- scenes.c ---- */

/* Would reading the scene take long or much memory because it asks for large meshes (over `much` elements), as it may?
 * Such inputs tell nothing and are passed over.  More than any mesh may have is none of them: it must be refused at
 * once. */
bool fuzz_scene_is_large(const json_t *root, double much);
/* A scene that was read says of itself, resolved and stored, all there is: reading either again gives the same. */
void fuzz_scene_again(struct tac_scene *scene);

#endif
