/* vtkhdf.c: writes frames.vtkhdf. */
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "io/frames/frames.h"
#include "io/frames/vtkhdf.h"
#include "io/h5/h5.h"

enum { SLAB = 1 << 15, VTK_VERTEX = 1, VTK_LINE = 3, VTK_TRIANGLE = 5, VTK_TETRA = 10 };

/* The groups of the file that is written. */
struct grid {
    const struct tac_vtkhdf *of;
    hid_t root, steps;
    hid_t data[2], offsets[2]; /* on points, on cells: the fields, and where their steps begin */
    tac_gid cells, connectivity;
    int64_t *number; /* borrowed, (count or SLAB, whichever is more) */
};

struct cells {
    const char *name; /* in /mesh */
    tac_gid count;
    int corners;
    unsigned char type;
};

static bool close_dataset(hid_t id, hid_t space, bool ok)
{
    if (id >= 0)
        ok = H5Dclose(id) >= 0 && ok;
    if (space >= 0)
        H5Sclose(space);
    return ok;
}

static bool put_array(hid_t group, const char *name, hid_t type, int rank, const hsize_t size[2], const void *data)
{
    const hid_t space = H5Screate_simple(rank, size, NULL);
    const hid_t id =
        space >= 0 ? H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : (hid_t)-1;
    return close_dataset(id, space, id >= 0 && H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
}

static bool put_one(hid_t group, const char *name, int64_t value)
{
    return put_array(group, name, H5T_NATIVE_INT64, 1, (hsize_t[]){1, 1}, &value);
}

/* A number for each step: k times `stride`, and `plus`. columns: 0, or 1 where the specification has a second axis. */
static bool put_starts(const struct grid *g, hid_t group, const char *name, int columns, int64_t stride, int64_t plus)
{
    for (int64_t k = 0; k < g->of->count; k++)
        g->number[k] = k * stride + plus;
    return put_array(group, name, H5T_NATIVE_INT64, 1 + columns, (hsize_t[]){(hsize_t)g->of->count, 1}, g->number);
}

/* ---- attributes ---- */

/* The type is a string of fixed length in ASCII, as the specification wants it. */
static bool put_attributes(const struct grid *g)
{
    static const char kind[] = "UnstructuredGrid";
    const int64_t version[2] = {2, 0};
    const hid_t text = H5Tcopy(H5T_C_S1);
    bool ok = text >= 0 && H5Tset_size(text, strlen(kind)) >= 0 && H5Tset_strpad(text, H5T_STR_NULLPAD) >= 0 &&
              tac_h5_put_attribute(g->root, "Type", text, H5Screate(H5S_SCALAR), kind) &&
              tac_h5_put_attribute(g->root, "Version", H5T_NATIVE_INT64, H5Screate_simple(1, (hsize_t[]){2}, NULL),
                                   version) &&
              tac_h5_put_attribute(g->steps, "NSteps", H5T_NATIVE_INT64, H5Screate(H5S_SCALAR), &g->of->count);
    if (text >= 0)
        H5Tclose(text);
    return ok;
}

/* ---- topology ---- */

/* Makes a dataset that is filled in slabs. */
static hid_t begin_long(hid_t group, const char *name, hid_t type, tac_gid rows)
{
    const hsize_t size = (hsize_t)rows, chunk = rows < SLAB ? (hsize_t)(rows > 0 ? rows : 1) : SLAB;
    const hid_t space = H5Screate_simple(1, &size, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t id = -1;
    if (space >= 0 && list >= 0 && H5Pset_chunk(list, 1, &chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
        H5Pset_deflate(list, TAC_DATASET_DEFLATE) >= 0)
        id = H5Dcreate2(group, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (list >= 0)
        H5Pclose(list);
    if (space >= 0)
        H5Sclose(space);
    return id;
}

static bool put_slab(hid_t id, hid_t type, tac_gid begin, tac_gid count, const void *data)
{
    const hsize_t from = (hsize_t)begin, size = (hsize_t)count;
    if (count == 0)
        return true;
    const hid_t space = H5Dget_space(id), memory = H5Screate_simple(1, &size, NULL);
    const bool ok = space >= 0 && memory >= 0 &&
                    H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &size, NULL) >= 0 &&
                    H5Dwrite(id, type, memory, space, H5P_DEFAULT, data) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return ok;
}

/* Copies the cells of one kind, and their offsets and types. id: Connectivity, Offsets, Types. cell, corner: where they
 * begin, moved on. */
static bool copy_cells(const struct grid *g, hid_t mesh, const struct cells *c, const hid_t id[3], tac_gid *cell,
                       tac_gid *corner)
{
    unsigned char type[SLAB];
    bool ok = true;
    if (c->count == 0)
        return true;
    const hid_t from = H5Dopen2(mesh, c->name, H5P_DEFAULT);
    const tac_gid slab = SLAB / 4;
    ok = from >= 0;
    memset(type, c->type, sizeof type);
    for (tac_gid at = 0; at < c->count && ok; at += slab) {
        const tac_gid n = c->count - at < slab ? c->count - at : slab;
        ok = tac_h5_read_rows(from, H5T_NATIVE_INT64, c->corners > 1 ? c->corners : 0, at, n, g->number) &&
             put_slab(id[0], H5T_NATIVE_INT64, *corner, n * c->corners, g->number) &&
             put_slab(id[2], H5T_NATIVE_UCHAR, *cell, n, type);
        for (tac_gid k = 0; k < n; k++)
            g->number[k] = *corner + (k + 1) * c->corners;
        ok = ok && put_slab(id[1], H5T_NATIVE_INT64, *cell + 1, n, g->number);
        *cell += n;
        *corner += n * c->corners;
    }
    return close_dataset(from, -1, ok);
}

static bool put_topology(const struct grid *g, hid_t mesh)
{
    const struct tac_vtkhdf *of = g->of;
    const struct cells kinds[] = {{"triangles", of->triangles, 3, VTK_TRIANGLE},
                                  {"segments", of->segments, 2, VTK_LINE},
                                  {"points", of->points, 1, VTK_VERTEX},
                                  {"tetrahedra", of->tetrahedra, 4, VTK_TETRA}};
    const hid_t id[3] = {begin_long(g->root, "Connectivity", H5T_NATIVE_INT64, g->connectivity),
                         begin_long(g->root, "Offsets", H5T_NATIVE_INT64, g->cells + 1),
                         begin_long(g->root, "Types", H5T_NATIVE_UCHAR, g->cells)};
    tac_gid cell = 0, corner = 0;
    const int64_t zero = 0;
    bool ok = id[0] >= 0 && id[1] >= 0 && id[2] >= 0 && put_slab(id[1], H5T_NATIVE_INT64, 0, 1, &zero);
    for (int k = 0; k < 4; k++)
        ok = ok && copy_cells(g, mesh, &kinds[k], id, &cell, &corner);
    for (int k = 0; k < 3; k++)
        ok = close_dataset(id[k], -1, ok);
    return ok && put_one(g->root, "NumberOfPoints", of->vertices) && put_one(g->root, "NumberOfCells", g->cells) &&
           put_one(g->root, "NumberOfConnectivityIds", g->connectivity);
}

/* ---- virtual datasets ---- */

/* Maps rows of the array, one step behind the other, to the datasets /frames/NNNNNN/NAME; each false: to /mesh/NAME,
 * once. */
static bool put_virtual(const struct grid *g, hid_t group, const char *name, const char *source, hid_t type,
                        tac_gid rows, int columns, bool each)
{
    const int64_t count = each ? g->of->count : 1;
    const hsize_t all[2] = {(hsize_t)(count * rows), (hsize_t)columns}, size[2] = {(hsize_t)rows, (hsize_t)columns};
    const int rank = columns > 0 ? 2 : 1;
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, all, NULL),
                one = H5Screate_simple(rank, size, NULL);
    bool ok = list >= 0 && space >= 0 && one >= 0;
    for (int64_t k = 0; k < count && ok && rows > 0; k++) {
        const hsize_t from[2] = {(hsize_t)(k * rows), 0};
        char path[96];
        if (each)
            snprintf(path, sizeof path, "/frames/%06" PRId64 "/%s", g->of->frame[k].index, source);
        else
            snprintf(path, sizeof path, "/mesh/%s", source);
        ok = H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, size, NULL) >= 0 &&
             H5Pset_virtual(list, space, g->of->name, path, one) >= 0;
    }
    ok = ok && H5Sselect_all(space) >= 0;
    const hid_t id = ok ? H5Dcreate2(group, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT) : (hid_t)-1;
    if (list >= 0)
        H5Pclose(list);
    if (one >= 0)
        H5Sclose(one);
    return close_dataset(id, space, id >= 0);
}

/* A field on points (at 0) or cells (at 1), and where its steps begin. */
static bool put_field(const struct grid *g, int at, const char *name, hid_t type, int columns, bool each)
{
    const tac_gid rows = at == 0 ? g->of->vertices : g->cells;
    return put_virtual(g, g->data[at], name, name, type, rows, columns, each) &&
           put_starts(g, g->offsets[at], name, 0, each ? rows : 0, 0);
}

static hid_t stored_type(const struct tac_field_info *info)
{
    switch (info->value) {
    case TAC_VALUE_FLOAT:
        return H5T_NATIVE_FLOAT;
    case TAC_VALUE_INT32:
        return H5T_NATIVE_INT32;
    default:
        return H5T_NATIVE_DOUBLE;
    }
}

/* Fields on request are there if every step has them. */
static bool put_fields(const struct grid *g)
{
    unsigned all = ~0u;
    bool ok = put_virtual(g, g->root, "Points", "position", H5T_NATIVE_DOUBLE, g->of->vertices, 3, true) &&
              put_field(g, 0, "velocity", H5T_NATIVE_DOUBLE, 3, true) &&
              put_field(g, 0, "contact_force", H5T_NATIVE_FLOAT, 3, true) &&
              put_field(g, 0, "body", H5T_NATIVE_INT32, 0, false) &&
              put_field(g, 0, "radius", H5T_NATIVE_DOUBLE, 0, false);
    for (int64_t k = 0; k < g->of->count; k++)
        all &= g->of->frame[k].fields;
    for (int k = 0; k < TAC_DATASETS && ok; k++) {
        const struct tac_field_info *f = &tac_field_table()[k];
        if (all >> k & 1 && f->at != TAC_AT_CONTACTS)
            ok = put_field(g, f->at == TAC_AT_CELLS, f->name, stored_type(f), f->columns, true);
    }
    return ok;
}

static bool put_steps(const struct grid *g, double *time)
{
    for (int64_t k = 0; k < g->of->count; k++)
        time[k] = g->of->frame[k].time_s;
    return put_array(g->steps, "Values", H5T_NATIVE_DOUBLE, 1, (hsize_t[]){(hsize_t)g->of->count, 1}, time) &&
           put_starts(g, g->steps, "PartOffsets", 0, 0, 0) && put_starts(g, g->steps, "NumberOfParts", 0, 0, 1) &&
           put_starts(g, g->steps, "PointOffsets", 0, g->of->vertices, 0) &&
           put_starts(g, g->steps, "CellOffsets", 1, 0, 0) && put_starts(g, g->steps, "ConnectivityIdOffsets", 1, 0, 0);
}

/* ---- the file ---- */

static hid_t make_group(hid_t parent, const char *name)
{
    return parent >= 0 ? H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : (hid_t)-1;
}

static bool fill_file(const struct tac_vtkhdf *of, hid_t file, hid_t mesh, int64_t *number, double *time)
{
    const hid_t root = make_group(file, "VTKHDF"), steps = make_group(root, "Steps");
    struct grid g = {.of = of,
                     .root = root,
                     .steps = steps,
                     .data = {make_group(root, "PointData"), make_group(root, "CellData")},
                     .offsets = {make_group(steps, "PointDataOffsets"), make_group(steps, "CellDataOffsets")},
                     .cells = of->triangles + of->segments + of->points + of->tetrahedra,
                     .connectivity = 3 * of->triangles + 2 * of->segments + of->points + 4 * of->tetrahedra,
                     .number = number};
    const hid_t all[] = {g.data[0], g.data[1], g.offsets[0], g.offsets[1], g.steps, g.root};
    bool ok = true;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        ok = ok && all[k] >= 0;
    ok = ok && put_attributes(&g) && put_topology(&g, mesh) && put_fields(&g) && put_steps(&g, time);
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (all[k] >= 0)
            ok = H5Gclose(all[k]) >= 0 && ok;
    return ok;
}

/* Makes the file under another name; false: something failed. */
static bool make_file(const struct tac_vtkhdf *of, const char *temporary, int64_t *number, double *time)
{
    struct tac_h5_quiet quiet;
    bool ok;
    /* HDF5 would write through a link of that name. */
    const int fresh = tac_create_new(AT_FDCWD, temporary, O_WRONLY);
    if (fresh < 0)
        return false;
    close(fresh);
    tac_h5_quiet(&quiet);
    const hid_t from = tac_h5_open_read(of->frames), mesh = from >= 0 ? H5Gopen2(from, "mesh", H5P_DEFAULT) : (hid_t)-1,
                file = mesh >= 0 ? H5Fcreate(temporary, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT) : (hid_t)-1;
    ok = file >= 0 && fill_file(of, file, mesh, number, time);
    if (file >= 0)
        ok = H5Fclose(file) >= 0 && ok;
    if (mesh >= 0)
        H5Gclose(mesh);
    if (from >= 0)
        H5Fclose(from);
    tac_h5_restore(&quiet);
    return ok;
}

enum tac_err tac_vtkhdf_write(struct tac_ctx *ctx, const struct tac_vtkhdf *of, const char *path, const char *shown)
{
    enum tac_err err = TAC_OK;
    const size_t room = (size_t)(of->count > SLAB ? of->count : SLAB), length = strlen(path) + sizeof ".tmp";
    char *temporary = NULL;
    int64_t *number = NULL;
    double *time = NULL;
    TAC_TRY(tac_alloc(ctx, length, 1, &temporary));
    TAC_TRY(tac_alloc(ctx, room, sizeof *number, &number));
    TAC_TRY(tac_alloc(ctx, (size_t)of->count, sizeof *time, &time));
    snprintf(temporary, length, "%s.tmp", path);
    if (make_file(of, temporary, number, time) && rename(temporary, path) == 0)
        goto done;
    unlink(temporary);
    err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s; free some space or write elsewhere with -o", shown);
done:
    free(temporary);
    free(number);
    free(time);
    return err;
}
