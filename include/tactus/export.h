/* tactus/export.h: writes one frame as a mesh file for other programs. */
#ifndef TACTUS_EXPORT_H
#define TACTUS_EXPORT_H

#include <tactus/base.h>

#include <tactus/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tac_export_format { TAC_EXPORT_OBJ, TAC_EXPORT_PLY };

struct tac_export_frame {
    double time_s;
    const double *position, *velocity; /* (V, 3), m and m/s */
    const float *contact_force;        /* (V, 3), N */
};

/* Local. Writes PATH.tmp and renames it.  All vertices are written, in the scene's order.  OBJ: positions, one object
 * per body, triangles (f), segments (l), points (p).  PLY, binary: x y z, vx vy vz (double), fx fy fz (float), body
 * (int); faces; edges.  `r` must have read its mesh (tac_reader_mesh()). */
enum tac_err tac_export_write(struct tac_ctx *ctx, const struct tac_reader *r, const struct tac_export_frame *frame,
                              enum tac_export_format format, const char *path);

#ifdef __cplusplus
}
#endif
#endif
