/* point_cache.h: reads files of surfaces that an animation moves: positions of all vertices at some times.
 *
 * Formats: HDF5 with `time` (K) and `position` (K, V, 3); NumPy's .npz with the same two arrays, compressed or not;
 * .mdd.  Each rank opens the file by itself and reads the rows that it needs, so a failure is local. A
 * file may be larger than memory: a rank keeps only a few knots of some rows (struct tac_knot_rows).
 *
 *     struct tac_point_cache *cache = NULL;
 *     TAC_TRY(tac_point_cache_open(ctx, path, "", &cache));
 *     TAC_TRY(tac_point_cache_read(ctx, cache, knot, 0, cache->vertices, x));
 *     tac_point_cache_release(&cache);
 */
#ifndef TACTUS_MESH_CACHE_POINT_CACHE_H
#define TACTUS_MESH_CACHE_POINT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tactus/base.h>

struct tac_inflater;

struct tac_point_cache {
    int users;                     /* motions that share it; the last one that releases it closes it */
    char *path;                    /* owned */
    int64_t knots, vertices;       /* K, V */
    bool single;                   /* positions are in single precision */
    double *t_s;                   /* owned, (knots) */
    char sha256[65];               /* of the positions at all knots but the first; "" until somebody sets it */
    int64_t file, set;             /* HDF5: handles; otherwise -1 */
    int descriptor;                /* other formats: of the file, or -1 */
    struct tac_inflater *inflater; /* owned; NULL: the positions are not compressed */
    int64_t begin;                 /* of the first knot in the file, or in what is unpacked, bytes */
    bool big_endian;
};

/* Local. Opens and reads the times. TAC_ERR_INPUT; sentences begin with `from` (what named the file; may be "") and the
 * path. */
enum tac_err tac_point_cache_open(struct tac_ctx *ctx, const char *path, const char *from,
                                  struct tac_point_cache **out);
void tac_point_cache_release(struct tac_point_cache **cache);
/* Local. Reads x (count, 3), the positions of the vertices first .. first+count-1 at a knot. TAC_ERR_INPUT: the file
 * can no longer be read, or a number in it is not finite. */
enum tac_err tac_point_cache_read(struct tac_ctx *ctx, const struct tac_point_cache *cache, int64_t knot, int64_t first,
                                  int64_t count, double *x);

/* What a body starts with, by its file: of each dataset how many rows it has, and its (vertices, 3) numbers, which the
 * caller owns; NULL: the file does not have it. */
enum tac_start_set { TAC_START_POSITION, TAC_START_VELOCITY, TAC_START_SETS };
struct tac_start_rows {
    int64_t vertices[TAC_START_SETS];
    double *x[TAC_START_SETS];
};
/* point_cache_hdf5.c, local. Reads all of the datasets `position` and `velocity` (V, 3) of an HDF5 file, which must
 * have one of them. TAC_ERR_INPUT, also where a number is not finite; then there is nothing to free. */
enum tac_err tac_start_rows_read(struct tac_ctx *ctx, const char *path, const char *from, struct tac_start_rows *out);
void tac_start_rows_clear(struct tac_start_rows *rows);
/* Local. Writes such a file, by a temporary name. velocity: NULL: none. TAC_ERR_RUN. */
enum tac_err tac_start_rows_write(struct tac_ctx *ctx, const char *path, int64_t vertices, const double *position,
                                  const double *velocity);
/* Local. Likewise a file of positions x (knots, vertices, 3) at the times t_s (knots). */
enum tac_err tac_point_cache_write(struct tac_ctx *ctx, const char *path, int64_t knots, const double *t_s,
                                   int64_t vertices, const double *x);

/* Some rows of a file at the knots that were read last. */
struct tac_knot_rows {
    struct tac_ctx *ctx;                 /* borrowed */
    const struct tac_point_cache *cache; /* borrowed */
    size_t count;                        /* rows */
    int64_t first, span;                 /* rows of the file that hold them all */
    int64_t *number;                     /* owned, (count): of the rows in the file */
    size_t slots;
    int64_t *knot;    /* owned, (slots): the knot in each; -1: none */
    double *x;        /* owned, (slots, count, 3) */
    double *all;      /* owned, (span, 3); NULL where the rows are all rows of the span */
    enum tac_err err; /* the first failure; its sentence is in ctx */
};

/* Local. Makes an empty store. number (count): rows of the file. slots: how many consecutive knots are kept, at least
 * 2. */
enum tac_err tac_knot_rows_create(struct tac_ctx *ctx, const struct tac_point_cache *cache, size_t count,
                                  const int64_t *number, size_t slots, struct tac_knot_rows **out);
void tac_knot_rows_destroy(struct tac_knot_rows **rows);
/* Local. Returns (count, 3) positions at a knot, which are read if they are not kept; valid until the next call. NULL
 * after a failure, with the code in rows->err. */
const double *tac_knot_rows_at(struct tac_knot_rows *rows, int64_t knot);

/* point_cache_hdf5.c, point_cache_raw.c: the formats.  `cache` has a path, and no handles yet. */
enum tac_err tac_point_cache_open_hdf5(struct tac_ctx *ctx, struct tac_point_cache *cache, const char *from);
void tac_point_cache_close_hdf5(struct tac_point_cache *cache);
bool tac_point_cache_read_hdf5(const struct tac_point_cache *cache, int64_t knot, int64_t first, int64_t count,
                               double *x);
enum tac_err tac_point_cache_open_npz(struct tac_ctx *ctx, struct tac_point_cache *cache, const char *from);
enum tac_err tac_point_cache_open_mdd(struct tac_ctx *ctx, struct tac_point_cache *cache, const char *from);
/* Reads `count` numbers from a place in the file, as doubles. */
bool tac_point_cache_read_raw(const struct tac_point_cache *cache, int64_t at, bool single, int64_t count, double *x);

#endif
