/* stored.c: checks and reads the datasets of a frames.h5 that may be damaged or foreign. */
#include "io/h5/stored.h"

const struct tac_shape TAC_STORED_TRIANGLES = {"/mesh/triangles", H5T_INTEGER, 8, 3},
                       TAC_STORED_SEGMENTS = {"/mesh/segments", H5T_INTEGER, 8, 2},
                       TAC_STORED_POINTS = {"/mesh/points", H5T_INTEGER, 8, 0},
                       TAC_STORED_BODY = {"/mesh/body", H5T_INTEGER, 4, 0},
                       TAC_STORED_BODY_NAMES = {"/mesh/body_names", H5T_STRING, 0, 0},
                       TAC_STORED_RADIUS = {"/mesh/radius", H5T_FLOAT, 8, 0},
                       TAC_STORED_FREE = {"/mesh/free", H5T_INTEGER, 1, 0},
                       TAC_STORED_TETRAHEDRA = {"/mesh/tetrahedra", H5T_INTEGER, 8, 4};

enum tac_err tac_reader_damaged(struct tac_ctx *ctx, const struct tac_reader *r, const char *what)
{
    return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is no frames file of a run, or it is damaged: %s", r->path, what);
}

enum { LONGEST_NAME = 1 << 24 }; /* bytes of a body's name */

/* The writer's filters: what passes them is what was written, for the last is a checksum.  Without it, or with other
 * parameters, HDF5 would unpack damage into values. */
static bool known_filters(hid_t list, size_t bytes)
{
    static const H5Z_filter_t expected[3] = {H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32};
    if (H5Pget_nfilters(list) != 3)
        return false;
    for (unsigned i = 0; i < 3; i++) {
        unsigned flags, value[8] = {0};
        size_t values = 8;
        if (H5Pget_filter2(list, i, &flags, &values, value, 0, NULL, NULL) != expected[i] ||
            (expected[i] == H5Z_FILTER_SHUFFLE && (values != 1 || value[0] != bytes)))
            return false;
    }
    return true;
}

/* Every chunk went through all filters. */
static bool known_chunks(hid_t dataset)
{
#if H5_VERSION_GE(1, 10, 5)
    hid_t space = H5Dget_space(dataset);
    hsize_t count = 0, offset[H5S_MAX_RANK], size;
    bool ok = space >= 0 && H5Dget_num_chunks(dataset, space, &count) >= 0;
    for (hsize_t i = 0; ok && i < count; i++) {
        unsigned mask;
        haddr_t address;
        ok = H5Dget_chunk_info(dataset, space, i, offset, &mask, &address, &size) >= 0 && mask == 0;
    }
    if (space >= 0)
        H5Sclose(space);
    return ok;
#else
    return true;
#endif
}

bool tac_stored_sound(hid_t dataset, const hsize_t size[2], int rank, size_t bytes)
{
    enum { DEFLATE_AT_MOST = 1100, CHUNK_BYTES = 1 << 28 };
    hsize_t chunk[H5S_MAX_RANK], chunk_bytes = bytes, all_bytes = bytes;
    hid_t list = H5Dget_create_plist(dataset);
    if (list < 0)
        return false;
    for (int i = 0; i < rank; i++)
        all_bytes *= size[i];
    H5D_layout_t layout = H5Pget_layout(list);
    bool ok = (layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED || layout == H5D_COMPACT) &&
              H5Pget_external_count(list) == 0;
    if (ok && layout == H5D_CHUNKED) {
        ok = H5Pget_chunk(list, H5S_MAX_RANK, chunk) == rank && known_filters(list, bytes) && known_chunks(dataset);
        for (int i = 0; ok && i < rank; i++) {
            ok = chunk[i] <= size[i] && chunk[i] <= CHUNK_BYTES && chunk_bytes <= CHUNK_BYTES;
            chunk_bytes *= chunk[i];
        }
        ok = ok && chunk_bytes <= CHUNK_BYTES;
    }
    H5Pclose(list);
    /* Goes through the index of chunks, so that damage of the index is found now. */
    hsize_t stored = ok ? H5Dget_storage_size(dataset) : 0;
    return ok && (layout == H5D_CHUNKED ? all_bytes <= stored * DEFLATE_AT_MOST : all_bytes == stored);
}

bool tac_stored_type(hid_t dataset, const struct tac_shape *s)
{
    hid_t type = H5Dget_type(dataset);
    bool ok = type >= 0 && H5Tget_class(type) == s->class;
    if (ok && s->class == H5T_FLOAT)
        ok = s->bytes == 8 ? H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0
                           : H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0;
    else if (ok && s->class == H5T_INTEGER)
        ok = s->bytes == 8   ? H5Tequal(type, H5T_STD_I64LE) > 0 || H5Tequal(type, H5T_STD_I64BE) > 0
             : s->bytes == 1 ? H5Tequal(type, H5T_STD_U8LE) > 0 || H5Tequal(type, H5T_STD_U8BE) > 0
                             : H5Tequal(type, H5T_STD_I32LE) > 0 || H5Tequal(type, H5T_STD_I32BE) > 0;
    else if (ok)
        ok = H5Tis_variable_str(type) == 0 && H5Tget_size(type) > 0 && H5Tget_size(type) <= LONGEST_NAME;
    if (type >= 0)
        H5Tclose(type);
    return ok;
}

static size_t value_bytes(hid_t dataset)
{
    hid_t type = H5Dget_type(dataset);
    size_t bytes = type >= 0 ? H5Tget_size(type) : 0;
    if (type >= 0)
        H5Tclose(type);
    return bytes;
}

hid_t tac_stored_open(const struct tac_reader *r, const struct tac_shape *s, int64_t *rows)
{
    hsize_t size[2] = {0, 0};
    hid_t id = H5Dopen2(r->file, s->path, H5P_DEFAULT);
    if (id < 0)
        return -1;
    hid_t space = H5Dget_space(id);
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    bool ok = rank == (s->columns > 0 ? 2 : 1) && H5Sget_simple_extent_dims(space, size, NULL) == rank &&
              (s->columns == 0 || size[1] == (hsize_t)s->columns) && size[0] <= INT32_MAX && tac_stored_type(id, s);
    if (space >= 0)
        H5Sclose(space);
    if (ok && size[0] > 0)
        ok = tac_stored_sound(id, size, rank, value_bytes(id));
    if (!ok) {
        H5Dclose(id);
        return -1;
    }
    *rows = (int64_t)size[0];
    return id;
}

bool tac_stored_read(const struct tac_reader *r, const struct tac_shape *s, int64_t rows, hid_t type, void *data)
{
    int64_t there;
    hid_t id = tac_stored_open(r, s, &there);
    bool ok = id >= 0 && there == rows && (rows == 0 || H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    if (id >= 0)
        H5Dclose(id);
    return ok;
}

int64_t tac_stored_rows(const struct tac_reader *r, const struct tac_shape *s)
{
    int64_t rows;
    hid_t id = tac_stored_open(r, s, &rows);
    if (id < 0)
        return -1;
    H5Dclose(id);
    return rows;
}

bool tac_stored_tells_free(const struct tac_reader *r)
{
    return H5Lexists(r->file, TAC_STORED_FREE.path, H5P_DEFAULT) > 0;
}
