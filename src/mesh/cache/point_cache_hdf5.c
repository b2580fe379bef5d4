/* point_cache_hdf5.c: positions from HDF5: `time` (K) and `position` (K, V, 3), floats. */
#include "mesh/cache/point_cache.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mesh/read.h"

struct silence {
    H5E_auto2_t function;
    void *data;
};

static struct silence begin_silence(void)
{
    struct silence s;
    H5Eget_auto2(H5E_DEFAULT, &s.function, &s.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return s;
}

static void end_silence(const struct silence *s)
{
    H5Eset_auto2(H5E_DEFAULT, s->function, s->data);
}

/* Opens a dataset of floats of so many dimensions.  size: bytes of a number. */
static enum tac_err open_set(struct tac_ctx *ctx, const struct tac_point_cache *cache, const char *from,
                             const char *name, int dimensions, hsize_t *dims, hid_t *set, size_t *size)
{
    enum tac_err err = TAC_OK;
    hid_t type = -1, space = -1;
    double values = 1;
    *set = -1;
    if (H5Lexists((hid_t)cache->file, name, H5P_DEFAULT) <= 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: has no dataset `%s`; it needs %s", from, cache->path, name,
                         dimensions == 2 ? "`position` or `velocity` (V, 3)" : "`time` (K) and `position` (K, V, 3)"));
    if (tac_hdf5_leads_outside(cache->file, name))
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: `%s` is a link to another file; write its data into this one", from,
                         cache->path, name));
    *set = H5Dopen2((hid_t)cache->file, name, H5P_DEFAULT);
    if (*set < 0 || (type = H5Dget_type(*set)) < 0 || (space = H5Dget_space(*set)) < 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: `%s` cannot be opened as a dataset; the file is damaged", from,
                         cache->path, name));
    if (H5Tget_class(type) != H5T_FLOAT || H5Tget_size(type) > 8)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: `%s` must hold floating-point numbers of 4 or 8 bytes", from,
                         cache->path, name));
    if (H5Sget_simple_extent_ndims(space) != dimensions || H5Sget_simple_extent_dims(space, dims, NULL) != dimensions ||
        (dimensions > 1 && dims[dimensions - 1] != 3))
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: `%s` must be of shape %s", from, cache->path, name,
                         dimensions == 3   ? "(K, V, 3)"
                         : dimensions == 2 ? "(V, 3)"
                                           : "(K)"));
    for (int k = 0; k < dimensions; k++)
        values *= (double)dims[k];
    if (!tac_hdf5_is_stored(*set, type, values))
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: `%s` claims more numbers than the file stores", from, cache->path,
                         name));
    *size = H5Tget_size(type);
done:
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (err && *set >= 0) {
        H5Dclose(*set);
        *set = -1;
    }
    return err;
}

static enum tac_err open_file(struct tac_ctx *ctx, struct tac_point_cache *cache, const char *from)
{
    cache->file = H5Fopen(cache->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (cache->file >= 0)
        return TAC_OK;
    return tac_fail(ctx, TAC_ERR_INPUT, "%s%s: cannot be opened as HDF5; the file is damaged, cut off or being written",
                    from, cache->path);
}

enum tac_err tac_point_cache_open_hdf5(struct tac_ctx *ctx, struct tac_point_cache *cache, const char *from)
{
    const struct silence quiet = begin_silence();
    hsize_t times[1], dims[3];
    hid_t time = -1, position = -1;
    size_t size;
    enum tac_err err = TAC_OK;
    TAC_TRY(open_file(ctx, cache, from));
    TAC_TRY(open_set(ctx, cache, from, "time", 1, times, &time, &size));
    TAC_TRY(open_set(ctx, cache, from, "position", 3, dims, &position, &size));
    cache->set = position;
    cache->single = size < 8;
    cache->knots = (int64_t)dims[0];
    cache->vertices = (int64_t)dims[1];
    if (times[0] != dims[0])
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: has %llu times and positions at %llu", from, cache->path,
                         (unsigned long long)times[0], (unsigned long long)dims[0]));
    TAC_TRY(tac_alloc(ctx, (size_t)cache->knots, sizeof *cache->t_s, &cache->t_s));
    if (cache->knots > 0 && H5Dread(time, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, cache->t_s) < 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: `time` cannot be read; the file is damaged", from, cache->path));
done:
    if (time >= 0)
        H5Dclose(time);
    end_silence(&quiet);
    return err;
}

void tac_point_cache_close_hdf5(struct tac_point_cache *cache)
{
    if (cache->set >= 0)
        H5Dclose((hid_t)cache->set);
    if (cache->file >= 0)
        H5Fclose((hid_t)cache->file);
}

bool tac_point_cache_read_hdf5(const struct tac_point_cache *cache, int64_t knot, int64_t first, int64_t count,
                               double *x)
{
    const struct silence quiet = begin_silence();
    const hsize_t start[3] = {(hsize_t)knot, (hsize_t)first, 0}, size[3] = {1, (hsize_t)count, 3};
    const hid_t space = H5Dget_space((hid_t)cache->set), memory = H5Screate_simple(3, size, NULL);
    const bool ok = space >= 0 && memory >= 0 &&
                    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                    H5Dread((hid_t)cache->set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, x) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    end_silence(&quiet);
    return ok;
}

/* ---- positions and velocities at one instant ---- */

static enum tac_err read_all(struct tac_ctx *ctx, struct tac_point_cache *cache, const char *from, const char *name,
                             int64_t *vertices, double **x)
{
    hsize_t dims[2];
    hid_t set = -1;
    size_t size;
    enum tac_err err = TAC_OK;
    TAC_TRY(open_set(ctx, cache, from, name, 2, dims, &set, &size));
    *vertices = (int64_t)dims[0];
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)dims[0], sizeof **x, x));
    if (dims[0] > 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *x) < 0)
        TAC_TRY(
            tac_fail(ctx, TAC_ERR_INPUT, "%s%s: `%s` cannot be read; the file is damaged", from, cache->path, name));
    for (size_t i = 0; i < 3 * (size_t)dims[0]; i++) {
        if (!isfinite((*x)[i]))
            TAC_TRY(
                tac_fail(ctx, TAC_ERR_INPUT, "%s%s: `%s` of vertex %zu is not finite", from, cache->path, name, i / 3));
        (*x)[i] += 0.; /* no sign of zero */
    }
done:
    if (set >= 0)
        H5Dclose(set);
    return err;
}

void tac_start_rows_clear(struct tac_start_rows *rows)
{
    for (int k = 0; k < TAC_START_SETS; k++) {
        free(rows->x[k]);
        rows->x[k] = NULL;
    }
}

enum tac_err tac_start_rows_read(struct tac_ctx *ctx, const char *path, const char *from, struct tac_start_rows *out)
{
    struct tac_point_cache cache = {.file = -1, .set = -1};
    const struct silence quiet = begin_silence();
    enum tac_err err = TAC_OK;
    *out = (struct tac_start_rows){{0}, {NULL}};
    TAC_TRY(tac_alloc(ctx, strlen(path) + 1, 1, &cache.path));
    memcpy(cache.path, path, strlen(path));
    if (access(path, R_OK) != 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: cannot be opened; check the path", from, path));
    if (!tac_is_hdf5(path))
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: is no HDF5 file; give one with `position` or `velocity` (V, 3)",
                         from, path));
    TAC_TRY(open_file(ctx, &cache, from));
    const bool moves = H5Lexists((hid_t)cache.file, "velocity", H5P_DEFAULT) > 0;
    if (!moves || H5Lexists((hid_t)cache.file, "position", H5P_DEFAULT) > 0)
        TAC_TRY(
            read_all(ctx, &cache, from, "position", &out->vertices[TAC_START_POSITION], &out->x[TAC_START_POSITION]));
    if (moves)
        TAC_TRY(
            read_all(ctx, &cache, from, "velocity", &out->vertices[TAC_START_VELOCITY], &out->x[TAC_START_VELOCITY]));
done:
    tac_point_cache_close_hdf5(&cache);
    end_silence(&quiet);
    free(cache.path);
    if (err)
        tac_start_rows_clear(out);
    return err;
}

static bool write_set(hid_t file, const char *name, int dimensions, const hsize_t *dims, const double *x)
{
    const hid_t space = H5Screate_simple(dimensions, dims, NULL),
                set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0;
    if (set >= 0)
        good = H5Dclose(set) >= 0 && good;
    return H5Sclose(space) >= 0 && good;
}

/* knots 0: one instant, without its time; with velocities v, or NULL. */
static enum tac_err write_file(struct tac_ctx *ctx, const char *path, int64_t knots, const double *t_s,
                               int64_t vertices, const double *x, const double *v)
{
    const hsize_t dims[3] = {(hsize_t)knots, (hsize_t)vertices, 3};
    const size_t size = strlen(path) + sizeof ".tmp";
    const struct silence quiet = begin_silence();
    char *temporary = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, size, 1, &temporary));
    snprintf(temporary, size, "%s.tmp", path);
    unlink(temporary); /* if it is a link, what it leads to stays */
    const hid_t file = H5Fcreate(temporary, H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
    bool good = file >= 0 && (knots == 0 || write_set(file, "time", 1, dims, t_s)) &&
                write_set(file, "position", knots == 0 ? 2 : 3, knots == 0 ? dims + 1 : dims, x) &&
                (v == NULL || write_set(file, "velocity", 2, dims + 1, v));
    if (file >= 0)
        good = H5Fclose(file) >= 0 && good;
    if (!good || rename(temporary, path) != 0) {
        unlink(temporary);
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s; make room or choose another folder", path);
    }
done:
    end_silence(&quiet);
    free(temporary);
    return err;
}

enum tac_err tac_start_rows_write(struct tac_ctx *ctx, const char *path, int64_t vertices, const double *position,
                                  const double *velocity)
{
    return write_file(ctx, path, 0, NULL, vertices, position, velocity);
}

enum tac_err tac_point_cache_write(struct tac_ctx *ctx, const char *path, int64_t knots, const double *t_s,
                                   int64_t vertices, const double *x)
{
    return write_file(ctx, path, knots, t_s, vertices, x, NULL);
}
