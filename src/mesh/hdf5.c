/* hdf5.c: reads and writes HDF5 meshes: /vertices (V, 3) floats, /triangles (T, 3), /segments (S, 2) and /tetrahedra
 * (K, 4) integers. */
#include "mesh/read.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

/* This keeps HDF5 from printing its own errors, which this program reports in one sentence. */
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

bool tac_is_hdf5(const char *path)
{
    const struct silence quiet = begin_silence();
    const bool yes = H5Fis_hdf5(path) > 0;
    end_silence(&quiet);
    return yes;
}

struct table {
    const char *name;
    hsize_t width;
    bool required, real;
};

enum { LARGEST_CHUNK = 1 << 28 }; /* bytes */

static const struct table VERTICES = {"/vertices", 3, true, true};
static const struct table TRIANGLES = {"/triangles", 3, false, false};
static const struct table SEGMENTS = {"/segments", 2, false, false};
static const struct table TETRAHEDRA = {"/tetrahedra", 4, false, false};

/* Those that all ranks write together come first. */
enum { TABLES = 4, WRITTEN = 3 };

/* A dataset can claim any size while the file holds nothing: unwritten values are made up by the library. What is
 * claimed must be stored, allowing for compression (deflate reaches 1032:1). */
bool tac_hdf5_is_stored(int64_t set, int64_t type, double values)
{
    hid_t how = H5Dget_create_plist(set);
    const double claimed = values * (double)H5Tget_size(type), stored = (double)H5Dget_storage_size(set);
    const H5D_layout_t layout = H5Pget_layout(how);
    const bool inside =
        (layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED) && H5Pget_external_count(how) == 0;
    H5Pclose(how);
    return inside && (values == 0 || stored * (layout == H5D_CHUNKED ? 1100 : 1) >= claimed);
}

/* Returns the size of a chunk, which is unpacked as a whole, for any size that the file claims. 0: the dataset is not
 * chunked, or this cannot be determined. */
static double chunk_bytes(hid_t set, hid_t type)
{
    hsize_t chunk[2] = {0, 0};
    hid_t how = H5Dget_create_plist(set);
    const bool chunked = how >= 0 && H5Pget_layout(how) == H5D_CHUNKED && H5Pget_chunk(how, 2, chunk) == 2;
    if (how >= 0)
        H5Pclose(how);
    return chunked ? (double)chunk[0] * (double)chunk[1] * (double)H5Tget_size(type) : 0;
}

/* Links to other files may lead to what can be opened but never read, such as a pipe to which no process writes. */
bool tac_hdf5_leads_outside(int64_t file, const char *name)
{
    H5L_info_t info;
    return H5Lget_info(file, name, &info, H5P_DEFAULT) < 0 ||
           (info.type != H5L_TYPE_HARD && info.type != H5L_TYPE_SOFT);
}

/* Opens a table and checks its kind and shape; *set stays negative if it is not there and need not be. */
static enum tac_err open_table(struct tac_ctx *ctx, hid_t file, const char *path, const struct table *table, hid_t *set,
                               hsize_t *rows)
{
    enum tac_err err = TAC_OK;
    hid_t type = -1, space = -1;
    hsize_t dims[2] = {0, 0};
    *rows = 0;
    if (H5Lexists(file, table->name, H5P_DEFAULT) <= 0) {
        if (table->required)
            err = tac_fail(ctx, TAC_ERR_INPUT, "%s: has no dataset %s; a mesh in HDF5 needs /vertices (V, 3)", path,
                           table->name);
        goto done;
    }
    if (tac_hdf5_leads_outside(file, table->name)) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: %s is a link to another file; write its data into this one", path,
                       table->name);
        goto done;
    }
    *set = H5Dopen2(file, table->name, H5P_DEFAULT);
    if (*set < 0 || (type = H5Dget_type(*set)) < 0 || (space = H5Dget_space(*set)) < 0) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: %s cannot be opened as a dataset; the file is damaged or no mesh", path,
                       table->name);
        goto done;
    }
    const H5T_class_t class = H5Tget_class(type);
    if (class != H5T_INTEGER && !(table->real && class == H5T_FLOAT)) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: %s must hold %s", path, table->name,
                       table->real ? "floating-point numbers" : "integers");
        goto done;
    }
    if (H5Sget_simple_extent_ndims(space) != 2 || H5Sget_simple_extent_dims(space, dims, NULL) != 2 ||
        dims[1] != table->width) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: %s must be of shape (rows, %d)", path, table->name, (int)table->width);
        goto done;
    }
    if (dims[0] > (hsize_t)TAC_MESH_LIMIT) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: %s has %.0f rows, more than one mesh may have (%" PRId64 ")", path,
                       table->name, (double)dims[0], TAC_MESH_LIMIT);
        goto done;
    }
    if (!tac_hdf5_is_stored(*set, type, (double)dims[0] * (double)dims[1])) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: %s is not stored whole in this file; write its data into it", path,
                       table->name);
        goto done;
    }
    if (chunk_bytes(*set, type) > LARGEST_CHUNK) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: %s is stored in chunks of over %d bytes; write it in smaller ones",
                       path, table->name, LARGEST_CHUNK);
        goto done;
    }
    *rows = dims[0];
done:
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return err;
}

struct tac_hdf5 {
    char *path; /* owned */
    hid_t file, set[TABLES];
    hsize_t rows[TABLES], portion[TABLES]; /* portion: number of rows that are read in one call */
};

static const struct table *const TABLE[TABLES] = {&VERTICES, &TRIANGLES, &SEGMENTS, &TETRAHEDRA};

void tac_hdf5_close(struct tac_hdf5 **mesh)
{
    struct tac_hdf5 *h = *mesh;
    if (h == NULL)
        return;
    const struct silence quiet = begin_silence();
    for (int k = 0; k < TABLES; k++)
        if (h->set[k] >= 0)
            H5Dclose(h->set[k]);
    if (h->file >= 0)
        H5Fclose(h->file);
    end_silence(&quiet);
    free(h->path);
    free(h);
    *mesh = NULL;
}

/* Chunks are decompressed whole: portions are multiples of them. */
static hsize_t portion_of(hid_t set)
{
    enum { ROWS = 65536 };
    hsize_t chunk[2] = {ROWS, 0};
    hid_t how = H5Dget_create_plist(set);
    if (how < 0 || H5Pget_layout(how) != H5D_CHUNKED || H5Pget_chunk(how, 2, chunk) != 2 || chunk[0] == 0)
        chunk[0] = ROWS;
    if (how >= 0)
        H5Pclose(how);
    return chunk[0] >= ROWS ? chunk[0] : ROWS / chunk[0] * chunk[0];
}

enum tac_err tac_hdf5_open(struct tac_ctx *ctx, const char *path, struct tac_hdf5 **out)
{
    enum tac_err err = TAC_OK;
    const struct silence quiet = begin_silence();
    struct tac_hdf5 *h = NULL;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *h, &h));
    h->file = h->set[0] = h->set[1] = h->set[2] = h->set[3] = -1;
    TAC_TRY(tac_alloc(ctx, strlen(path) + 1, 1, &h->path));
    memcpy(h->path, path, strlen(path));
    h->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (h->file < 0) {
        err = tac_fail(ctx, TAC_ERR_INPUT,
                       "%s: cannot be opened as HDF5; the file is damaged, cut off or being written", path);
        goto done;
    }
    for (int k = 0; k < TABLES; k++) {
        TAC_TRY(open_table(ctx, h->file, path, TABLE[k], &h->set[k], &h->rows[k]));
        if (h->set[k] >= 0)
            h->portion[k] = portion_of(h->set[k]);
    }
    *out = h;
    h = NULL;
done:
    tac_hdf5_close(&h);
    end_silence(&quiet);
    return err;
}

int64_t tac_hdf5_rows(const struct tac_hdf5 *mesh, enum tac_hdf5_table table)
{
    return (int64_t)mesh->rows[table];
}

enum tac_err tac_hdf5_read(struct tac_ctx *ctx, const struct tac_hdf5 *mesh, enum tac_hdf5_table table, int64_t first,
                           int64_t count, void *out)
{
    const struct silence quiet = begin_silence();
    const hsize_t from[2] = {(hsize_t)first, 0}, size[2] = {(hsize_t)count, TABLE[table]->width};
    const hid_t type = TABLE[table]->real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    bool good = true;
    if (count > 0) {
        const hid_t there = H5Dget_space(mesh->set[table]), here = H5Screate_simple(2, size, NULL);
        good = there >= 0 && here >= 0 && H5Sselect_hyperslab(there, H5S_SELECT_SET, from, NULL, size, NULL) >= 0 &&
               H5Dread(mesh->set[table], type, here, there, H5P_DEFAULT, out) >= 0;
        if (there >= 0)
            H5Sclose(there);
        if (here >= 0)
            H5Sclose(here);
    }
    end_silence(&quiet);
    if (!good)
        return tac_fail(ctx, TAC_ERR_INPUT, "%s: the values of %s cannot be read; the file is damaged", mesh->path,
                        TABLE[table]->name);
    return TAC_OK;
}

/* Reads into the builder, or only checks. */
static enum tac_err load(struct tac_ctx *ctx, const struct tac_hdf5 *h, enum tac_hdf5_table table,
                         struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    const int64_t rows = (int64_t)h->rows[table], most = (int64_t)h->portion[table];
    const size_t width = TABLE[table]->width;
    void *data = NULL;
    TAC_TRY(tac_alloc(ctx, (size_t)(rows < most ? rows : most) * width, 8, &data));
    for (int64_t first = 0; first < rows; first += most) {
        const int64_t count = rows - first < most ? rows - first : most;
        TAC_TRY(tac_hdf5_read(ctx, h, table, first, count, data));
        for (size_t i = 0; b != NULL && i < (size_t)count; i++) {
            const double *x = (const double *)data + width * i;
            const int64_t *v = (const int64_t *)data + width * i;
            TAC_TRY(table == TAC_HDF5_VERTICES    ? tac_builder_vertex(b, x[0], x[1], x[2])
                    : table == TAC_HDF5_TRIANGLES ? tac_builder_triangle(b, v[0], v[1], v[2])
                    : table == TAC_HDF5_SEGMENTS  ? tac_builder_segment(b, v[0], v[1])
                                                  : tac_builder_tetrahedron(b, v));
        }
    }
done:
    free(data);
    return err;
}

enum tac_err tac_hdf5_look(struct tac_ctx *ctx, const char *path)
{
    enum tac_err err = TAC_OK;
    struct tac_hdf5 *h = NULL;
    TAC_TRY(tac_hdf5_open(ctx, path, &h));
    for (int k = 0; k < TABLES; k++)
        TAC_TRY(load(ctx, h, (enum tac_hdf5_table)k, NULL));
done:
    tac_hdf5_close(&h);
    return err;
}

enum tac_err tac_read_hdf5(struct tac_ctx *ctx, const char *path, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct tac_hdf5 *h = NULL;
    TAC_TRY(tac_hdf5_open(ctx, path, &h));
    TAC_TRY(tac_builder_reserve(b, (double)h->rows[0], (double)h->rows[1], (double)h->rows[2]));
    TAC_TRY(load(ctx, h, TAC_HDF5_VERTICES, b));
    TAC_TRY(load(ctx, h, TAC_HDF5_TRIANGLES, b));
    TAC_TRY(load(ctx, h, TAC_HDF5_SEGMENTS, b));
    TAC_TRY(load(ctx, h, TAC_HDF5_TETRAHEDRA, b));
done:
    tac_hdf5_close(&h);
    return err;
}

static hid_t create_table(hid_t file, const struct table *table, hsize_t rows)
{
    const hsize_t dims[2] = {rows, table->width};
    const hid_t space = H5Screate_simple(2, dims, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set = -1;
    /* No times in it: the same mesh is the same bytes. */
    if (space >= 0 && list >= 0 && H5Pset_obj_track_times(list, false) >= 0)
        set = H5Dcreate2(file, table->name, table->real ? H5T_IEEE_F64LE : H5T_STD_I64LE, space, H5P_DEFAULT, list,
                         H5P_DEFAULT);
    if (list >= 0)
        H5Pclose(list);
    if (space >= 0)
        H5Sclose(space);
    return set;
}

static bool write_table(hid_t file, const struct table *table, hsize_t rows, const void *data)
{
    const hid_t set = create_table(file, table, rows);
    bool good = set >= 0;
    if (good && rows > 0)
        good =
            H5Dwrite(set, table->real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    if (set >= 0)
        good = H5Dclose(set) >= 0 && good;
    return good;
}

enum tac_err tac_write_hdf5(struct tac_ctx *ctx, const struct tac_mesh *mesh, const char *path)
{
    const struct silence quiet = begin_silence();
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    bool good = file >= 0 && write_table(file, &VERTICES, (hsize_t)mesh->vertex_count, mesh->x) &&
                write_table(file, &TRIANGLES, (hsize_t)mesh->triangle_count, mesh->triangle) &&
                write_table(file, &SEGMENTS, (hsize_t)mesh->segment_count, mesh->segment) &&
                (mesh->tetrahedron_count == 0 ||
                 write_table(file, &TETRAHEDRA, (hsize_t)mesh->tetrahedron_count, mesh->tetrahedron));
    if (file >= 0)
        good = H5Fclose(file) >= 0 && good;
    end_silence(&quiet);
    if (!good)
        return tac_fail(ctx, TAC_ERR_RUN, "%s: cannot be written; is there space on the disk?", path);
    return TAC_OK;
}

struct tac_hdf5_writer {
    hid_t file, set[WRITTEN], transfer;
};

/* HDF5 reports a failure only on the rank that had it; it is a failure of all ranks. */
static enum tac_err written(struct tac_ctx *ctx, const char *path, bool good)
{
    return good ? TAC_OK : tac_fail(ctx, TAC_ERR_RUN, "%s: cannot be written; is there space on the disk?", path);
}

static enum tac_err agree_written(struct tac_ctx *ctx, const char *path, bool good)
{
    return tac_agree(ctx, written(ctx, path, good));
}

enum tac_err tac_hdf5_create(struct tac_ctx *ctx, const char *path, const int64_t rows[3], struct tac_hdf5_writer **out)
{
    const struct silence quiet = begin_silence();
    struct tac_hdf5_writer *w = NULL;
    hid_t access = -1;
    enum tac_err err = TAC_OK;
    err = tac_alloc(ctx, 1, sizeof *w, &w);
    if (w != NULL) /* before the ranks agree: a rank that has one destroys it, even if another has none */
        w->file = w->set[0] = w->set[1] = w->set[2] = -1;
    TAC_TRY(tac_agree(ctx, err));
    access = H5Pcreate(H5P_FILE_ACCESS);
    w->transfer = H5Pcreate(H5P_DATASET_XFER);
    TAC_TRY(agree_written(ctx, path,
                          access >= 0 && w->transfer >= 0 && H5Pset_fapl_mpio(access, ctx->comm, MPI_INFO_NULL) >= 0 &&
                              H5Pset_dxpl_mpio(w->transfer, H5FD_MPIO_COLLECTIVE) >= 0));
    w->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    TAC_TRY(tac_agree_step(ctx, written(ctx, path, w->file >= 0)));
    for (int k = 0; k < 3; k++) {
        w->set[k] = create_table(w->file, TABLE[k], (hsize_t)rows[k]);
        TAC_TRY(tac_agree_step(ctx, written(ctx, path, w->set[k] >= 0)));
    }
    *out = w;
    w = NULL;
done:
    if (access >= 0)
        H5Pclose(access);
    if (w != NULL)
        tac_hdf5_finish(ctx, path, &w);
    end_silence(&quiet);
    return err;
}

enum tac_err tac_hdf5_write(struct tac_ctx *ctx, struct tac_hdf5_writer *w, enum tac_hdf5_table table, int64_t first,
                            int64_t count, const void *data)
{
    const struct silence quiet = begin_silence();
    const hsize_t from[2] = {(hsize_t)first, 0}, size[2] = {(hsize_t)count, TABLE[table]->width};
    const hid_t type = TABLE[table]->real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    const hid_t there = H5Dget_space(w->set[table]), here = H5Screate_simple(2, size, NULL);
    bool good = there >= 0 && here >= 0;
    if (good && count > 0)
        good = H5Sselect_hyperslab(there, H5S_SELECT_SET, from, NULL, size, NULL) >= 0;
    else if (good)
        good = H5Sselect_none(there) >= 0 && H5Sselect_none(here) >= 0;
    enum tac_err err = agree_written(ctx, TABLE[table]->name, good);
    if (err == TAC_OK)
        err =
            agree_written(ctx, TABLE[table]->name, H5Dwrite(w->set[table], type, here, there, w->transfer, data) >= 0);
    if (there >= 0)
        H5Sclose(there);
    if (here >= 0)
        H5Sclose(here);
    end_silence(&quiet);
    return err;
}

enum tac_err tac_hdf5_finish(struct tac_ctx *ctx, const char *path, struct tac_hdf5_writer **writer)
{
    const struct silence quiet = begin_silence();
    struct tac_hdf5_writer *w = *writer;
    bool good = true;
    for (int k = 0; k < 3 && !ctx->torn; k++) /* torn: closing would wait for ever */
        if (w->set[k] >= 0)
            good = H5Dclose(w->set[k]) >= 0 && good;
    if (w->file >= 0 && !ctx->torn)
        good = H5Fclose(w->file) >= 0 && good;
    if (w->transfer >= 0)
        H5Pclose(w->transfer);
    free(w);
    *writer = NULL;
    end_silence(&quiet);
    return agree_written(ctx, path, good);
}
