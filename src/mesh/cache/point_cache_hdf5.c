/* point_cache_hdf5.c: positions from HDF5: `time` (K) and `position` (K, V, 3), floats. */
#include "mesh/cache/point_cache.h"

#include <hdf5.h>
#include <stdlib.h>

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
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                         "%s%s: has no dataset `%s`; positions need `time` (K) and `position` (K, V, 3)", from,
                         cache->path, name));
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
        (dimensions == 3 && dims[2] != 3))
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: `%s` must be of shape %s", from, cache->path, name,
                         dimensions == 3 ? "(K, V, 3)" : "(K)"));
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

enum tac_err tac_point_cache_open_hdf5(struct tac_ctx *ctx, struct tac_point_cache *cache, const char *from)
{
    const struct silence quiet = begin_silence();
    hsize_t times[1], dims[3];
    hid_t time = -1, position = -1;
    size_t size;
    enum tac_err err = TAC_OK;
    cache->file = H5Fopen(cache->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (cache->file < 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                         "%s%s: cannot be opened as HDF5; the file is damaged, cut off or being written", from,
                         cache->path));
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
