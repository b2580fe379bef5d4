/* write.c: writes a mesh as OBJ, PLY, STL, Gmsh .msh or HDF5. */
#include "mesh/read.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tactus/math.h>
#include <unistd.h>

static void write_obj(FILE *f, const struct tac_mesh *mesh)
{
    fprintf(f, "# tactus %s: %" TAC_PRILID " vertices, %" TAC_PRILID " triangles, %" TAC_PRILID " segments\n",
            tac_version(), mesh->vertex_count, mesh->triangle_count, mesh->segment_count);
    for (int64_t i = 0; i < mesh->vertex_count; i++)
        fprintf(f, "v %.17g %.17g %.17g\n", mesh->x[3 * i], mesh->x[3 * i + 1], mesh->x[3 * i + 2]);
    for (int64_t t = 0; t < mesh->triangle_count; t++)
        fprintf(f, "f %d %d %d\n", mesh->triangle[3 * t] + 1, mesh->triangle[3 * t + 1] + 1,
                mesh->triangle[3 * t + 2] + 1);
    for (int64_t s = 0; s < mesh->segment_count; s++)
        fprintf(f, "l %d %d\n", mesh->segment[2 * s] + 1, mesh->segment[2 * s + 1] + 1);
}

/* Writes little-endian numbers on any machine. */
static void write_little_endian(FILE *f, uint64_t value, int width)
{
    unsigned char bytes[8];
    for (int k = 0; k < width; k++)
        bytes[k] = (unsigned char)(value >> (8 * k));
    fwrite(bytes, 1, (size_t)width, f);
}

static void put_double(FILE *f, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    write_little_endian(f, bits, 8);
}

static void put_float(FILE *f, double value)
{
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    write_little_endian(f, bits, 4);
}

static void write_ply(FILE *f, const struct tac_mesh *mesh)
{
    fprintf(f,
            "ply\nformat binary_little_endian 1.0\ncomment tactus %s\nelement vertex %" TAC_PRILID
            "\nproperty double x\nproperty double y\nproperty double z\n",
            tac_version(), mesh->vertex_count);
    if (mesh->triangle_count > 0)
        fprintf(f, "element face %" TAC_PRILID "\nproperty list uchar int vertex_indices\n", mesh->triangle_count);
    if (mesh->segment_count > 0)
        fprintf(f, "element edge %" TAC_PRILID "\nproperty int vertex1\nproperty int vertex2\n", mesh->segment_count);
    fprintf(f, "end_header\n");
    for (int64_t k = 0; k < 3 * (int64_t)mesh->vertex_count; k++)
        put_double(f, mesh->x[k]);
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        write_little_endian(f, 3, 1);
        for (int k = 0; k < 3; k++)
            write_little_endian(f, (uint64_t)mesh->triangle[3 * t + k], 4);
    }
    for (int64_t k = 0; k < 2 * (int64_t)mesh->segment_count; k++)
        write_little_endian(f, (uint64_t)mesh->segment[k], 4);
}

static void write_stl(FILE *f, const struct tac_mesh *mesh)
{
    char header[80] = {0};
    snprintf(header, sizeof header, "binary STL of tactus %s", tac_version());
    fwrite(header, 1, sizeof header, f);
    write_little_endian(f, (uint64_t)mesh->triangle_count, 4);
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const double *corner[3];
        double u[3], v[3], n[3];
        for (int k = 0; k < 3; k++)
            corner[k] = mesh->x + 3 * (int64_t)mesh->triangle[3 * t + k];
        tac_sub(u, corner[1], corner[0]);
        tac_sub(v, corner[2], corner[0]);
        tac_cross(n, u, v);
        const double length = sqrt(tac_dot(n, n));
        for (int k = 0; k < 3; k++)
            put_float(f, length > 0 ? n[k] / length : 0);
        for (int k = 0; k < 9; k++)
            put_float(f, corner[k / 3][k % 3]);
        write_little_endian(f, 0, 2);
    }
}

/* Gmsh 2.2, ascii, which the most programs read.  Of a solid the tetrahedra alone: its triangles are their faces, and
 * are found again.  Each kind of element is a group of its own (tags 1). */
static void write_msh(FILE *f, const struct tac_mesh *mesh)
{
    const bool solid = mesh->tetrahedron_count > 0;
    const tac_lid *const element[3] = {mesh->segment, mesh->triangle, mesh->tetrahedron};
    const int64_t count[3] = {solid ? 0 : mesh->segment_count, solid ? 0 : mesh->triangle_count,
                              mesh->tetrahedron_count};
    static const int type[3] = {1, 2, 4};
    int64_t number = 0;
    fprintf(f, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%" TAC_PRILID "\n", mesh->vertex_count);
    for (int64_t i = 0; i < mesh->vertex_count; i++)
        fprintf(f, "%" PRId64 " %.17g %.17g %.17g\n", i + 1, mesh->x[3 * i], mesh->x[3 * i + 1], mesh->x[3 * i + 2]);
    fprintf(f, "$EndNodes\n$Elements\n%" PRId64 "\n", count[0] + count[1] + count[2]);
    for (int k = 0; k < 3; k++)
        for (int64_t e = 0; e < count[k]; e++) {
            fprintf(f, "%" PRId64 " %d 2 1 1", ++number, type[k]);
            for (int c = 0; c < k + 2; c++)
                fprintf(f, " %" PRId64, (int64_t)element[k][(k + 2) * e + c] + 1);
            fputc('\n', f);
        }
    fprintf(f, "$EndElements\n");
}

/* What STL cannot hold is refused rather than lost: it has triangles only, and single precision. */
static enum tac_err check_stl(struct tac_ctx *ctx, const struct tac_mesh *mesh, const char *path)
{
    if (mesh->triangle_count == 0 || mesh->segment_count > 0)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "%s: STL holds triangles only, and this mesh has %s; write .obj, .ply or .h5", path,
                        mesh->segment_count > 0 ? "segments" : "none");
    for (int64_t k = 0; k < 3 * (int64_t)mesh->vertex_count; k++) {
        if (fabs(mesh->x[k]) > FLT_MAX)
            return tac_fail(ctx, TAC_ERR_INPUT,
                            "%s: STL has single precision, and %g is beyond it; write .obj, .ply or .h5", path,
                            mesh->x[k]);
    }
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        for (int k = 0; k < 3; k++) {
            const double *a = mesh->x + 3 * (int64_t)mesh->triangle[3 * t + k];
            const double *b = mesh->x + 3 * (int64_t)mesh->triangle[3 * t + (k + 1) % 3];
            if ((float)a[0] == (float)b[0] && (float)a[1] == (float)b[1] && (float)a[2] == (float)b[2])
                return tac_fail(ctx, TAC_ERR_INPUT,
                                "%s: STL has single precision, in which two corners of triangle %" PRId64
                                " are the same; write .obj, .ply or .h5",
                                path, t);
        }
    }
    return TAC_OK;
}

static enum tac_err write_stream(struct tac_ctx *ctx, const struct tac_mesh *mesh, const char *path,
                                 void (*write)(FILE *, const struct tac_mesh *))
{
    FILE *f = fopen(path, "wb");
    bool good = f != NULL;
    if (good) {
        write(f, mesh);
        good = ferror(f) == 0;
        good = fclose(f) == 0 && good;
    }
    if (!good)
        return tac_fail(ctx, TAC_ERR_RUN, "%s: cannot be written: %s", path, strerror(errno));
    return TAC_OK;
}

enum tac_err tac_mesh_write(struct tac_ctx *ctx, const struct tac_mesh *mesh, const char *path)
{
    enum tac_err err = TAC_OK;
    const char *dot = strrchr(path, '.');
    const bool obj = dot != NULL && strcasecmp(dot, ".obj") == 0, ply = dot != NULL && strcasecmp(dot, ".ply") == 0;
    const bool stl = dot != NULL && strcasecmp(dot, ".stl") == 0, h5 = dot != NULL && strcasecmp(dot, ".h5") == 0;
    const bool msh = dot != NULL && strcasecmp(dot, ".msh") == 0;
    const size_t size = strlen(path) + 32;
    char *partial = NULL;
    FILE *probe;
    if (!obj && !ply && !stl && !msh && !h5)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "%s: the name must end in .obj, .ply, .stl, .msh or .h5, which says the format", path);
    if (stl && (err = check_stl(ctx, mesh, path)) != TAC_OK)
        return err;
    if (!h5 && !msh && mesh->tetrahedron_count > 0)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "%s: OBJ, PLY and STL hold surfaces only, and this mesh has tetrahedra; write .h5 or .msh",
                        path);
    TAC_TRY(tac_alloc(ctx, size, 1, &partial));
    snprintf(partial, size, "%s.partial-%ld", path, (long)getpid());
    /* A name that cannot be made is the caller's mistake; what fails after that is the disk's. */
    probe = fopen(partial, "wb");
    if (probe == NULL || fclose(probe) != 0) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: cannot be made: %s", path, strerror(errno));
        goto done;
    }
    if (h5)
        err = tac_write_hdf5(ctx, mesh, partial);
    else
        err = write_stream(ctx, mesh, partial, obj ? write_obj : ply ? write_ply : msh ? write_msh : write_stl);
    if (err == TAC_OK && rename(partial, path) != 0)
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: cannot be made: %s", path, strerror(errno));
    if (err != TAC_OK)
        remove(partial);
done:
    free(partial);
    return err;
}
