/* tactus/export.h: writes frames as mesh files and animations for other programs. */
#ifndef TACTUS_EXPORT_H
#define TACTUS_EXPORT_H

#include <tactus/base.h>

#include <tactus/output.h>
#include <tactus/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tac_export_format { TAC_EXPORT_OBJ, TAC_EXPORT_PLY, TAC_EXPORT_VTU, TAC_EXPORT_VTP };

struct tac_export_frame {
    double time_s;
    const double *position, *velocity; /* (V, 3), m and m/s */
    const float *contact_force;        /* (V, 3), N */
    const void *field[TAC_DATASETS];   /* VTU, VTP: what the frame has on request, by enum tac_dataset_name, or NULL */
};

/* Local. Writes PATH.tmp and renames it.  All vertices are written, in the scene's order.  OBJ: positions, one object
 * per body, triangles (f), segments (l), points (p).  PLY, binary: x y z, vx vy vz (double), fx fy fz (float), body
 * (int); faces; edges.  VTU and VTP: VTK's XML, with compressed binary arrays: velocity, contact_force, body, radius
 * and the fields on vertices and cells (lists of contacts are left out).  `r` must have read its mesh
 * (tac_reader_mesh()). */
enum tac_err tac_export_write(struct tac_ctx *ctx, const struct tac_reader *r, const struct tac_export_frame *frame,
                              enum tac_export_format format, const char *path);
/* Local. Writes the list of the files frame-NNNNNN.EXTENSION of the chosen frames with their times, as ParaView reads
 * it.  chosen: (frame_count). */
enum tac_err tac_export_pvd(struct tac_ctx *ctx, const struct tac_reader *r, const bool *chosen, const char *extension,
                            const char *path);
/* Local. Writes the chosen frames as one animated binary glTF file.  TAC_ERR_INPUT: there are more than such a file can
 * hold.
 */
enum tac_err tac_export_gltf(struct tac_ctx *ctx, const struct tac_reader *r, const bool *chosen, const char *path);

/* Local. Writes the chosen frames as one USD file in text. TAC_ERR_INPUT: there are too many. */
enum tac_err tac_export_usd(struct tac_ctx *ctx, const struct tac_reader *r, const bool *chosen, const char *path);
/* Local. Writes a VTKHDF file of the chosen frames; their values stay where they are, in the file of `r`. */
enum tac_err tac_export_vtkhdf(struct tac_ctx *ctx, const struct tac_reader *r, const bool *chosen, const char *path);

/* The result of tac_frames_pack(). */
struct tac_packed {
    int64_t frames, bytes, bytes_before;
    int64_t lost;          /* frames that are damaged and were left out */
    char lost_frames[400]; /* which: "3, 7 to 9" */
};
/* Local. Writes all frames of `r` as one new frames file, of the same format.  Writes PATH.tmp and renames it. */
enum tac_err tac_frames_pack(struct tac_ctx *ctx, const struct tac_reader *r, const char *path,
                             struct tac_packed *packed);
/* Local. Writes a frames.xdmf for the packed file `path`, from the one beside the file of `r`.  *made: false if there
 * is none. */
enum tac_err tac_frames_pack_index(struct tac_ctx *ctx, const struct tac_reader *r, const char *path, const char *index,
                                   bool *made);

#ifdef __cplusplus
}
#endif
#endif
