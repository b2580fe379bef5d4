/* export_room.h: declares what the files of export share: each file is written under another name and then renamed. */
#ifndef TACTUS_INSPECT_EXPORT_ROOM_H
#define TACTUS_INSPECT_EXPORT_ROOM_H

#include <stdio.h>
#include <tactus/export.h>

/* Writes the content; data: the caller's. */
typedef void tac_export_content(FILE *f, const void *data);
/* Local. Writes PATH.tmp and renames it to PATH. TAC_ERR_RUN: the disk failed. */
enum tac_err tac_export_file(struct tac_ctx *ctx, const char *path, tac_export_content *content, const void *data);

/* Local. Writes a frame as XML of VTK: an unstructured grid, or polygons. */
enum tac_err tac_export_vtk(struct tac_ctx *ctx, const struct tac_reader *r, const struct tac_export_frame *frame,
                            bool polygons, const char *path);

#endif
