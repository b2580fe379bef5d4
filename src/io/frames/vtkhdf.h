/* vtkhdf.h: writes a VTKHDF file (an unstructured grid with steps) whose values are HDF5 virtual datasets over a
 * frames.h5: nothing but the topology and the times is stored twice.
 *
 * Specification: VTK File Formats, VTKHDF, version 2.0 of the format. Points and fields of all steps are one array
 * each, one step behind the other, and /VTKHDF/Steps has where each step begins; the cells and what does not change
 * stand there once, and all steps begin at 0. */
#ifndef TACTUS_IO_FRAMES_VTKHDF_H
#define TACTUS_IO_FRAMES_VTKHDF_H

#include "io/folder/output.h"

/* What the file is of. */
struct tac_vtkhdf {
    const char *frames; /* borrowed: path of frames.h5, which is closed */
    const char *name;   /* borrowed: how the file calls it: a path from its own folder, or an absolute one */
    tac_gid vertices, triangles, segments, points, tetrahedra;
    const struct tac_kept_frame *frame; /* borrowed, (count): the steps; count is at least 1 */
    int64_t count;
};

/* Local. Writes PATH.tmp and renames it to PATH. shown: the path in sentences. TAC_ERR_RUN: it cannot be written. */
enum tac_err tac_vtkhdf_write(struct tac_ctx *ctx, const struct tac_vtkhdf *of, const char *path, const char *shown);

#endif
