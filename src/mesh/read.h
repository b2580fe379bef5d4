/* read.h: declares the readers, one per format. Each adds to a builder whose `where` is the file's path, and sets its
 * unit and place so that the checks at the end can say where an element came from. */
#ifndef TACTUS_MESH_READ_H
#define TACTUS_MESH_READ_H

#include "mesh/builder.h"
#include "mesh/file.h"

/* All local; TAC_ERR_INPUT with file and line or byte. */
enum tac_err tac_read_obj(const struct tac_file *file, struct tac_builder *b);
enum tac_err tac_read_ply(const struct tac_file *file, struct tac_builder *b);
enum tac_err tac_read_stl_text(const struct tac_file *file, struct tac_builder *b);
enum tac_err tac_read_stl_binary(const struct tac_file *file, struct tac_builder *b);
enum tac_err tac_read_gmsh(const struct tac_file *file, struct tac_builder *b);
enum tac_err tac_read_abaqus(const struct tac_file *file, struct tac_builder *b);
enum tac_err tac_read_vtu(const struct tac_file *file, struct tac_builder *b);
enum tac_err tac_read_hdf5(struct tac_ctx *ctx, const char *path, struct tac_builder *b);

/* Local. Reads a file of any format, which is recognised by its content, then by its extension. `from` as in
 * tac_file_load. The path is copied. */
enum tac_err tac_read_any(struct tac_ctx *ctx, const char *path, const char *from, struct tac_builder *b);

/* Local. Returns whether the file is HDF5; prints nothing. */
bool tac_is_hdf5(const char *path);
/* Local, of HDF5's handles. Does the file store as many values as the dataset claims?  Is the name a link to another
 * file? */
bool tac_hdf5_is_stored(int64_t set, int64_t type, double values);
bool tac_hdf5_leads_outside(int64_t file, const char *name);
/* An HDF5 mesh, opened by this rank alone: a block of rows at a time.  (Each rank reads by itself rather than all
 * together, so that a file that is damaged in one place is one rank's error, and no rank waits in MPI-IO.) */
struct tac_hdf5; /* opaque */
enum tac_hdf5_table { TAC_HDF5_VERTICES, TAC_HDF5_TRIANGLES, TAC_HDF5_SEGMENTS, TAC_HDF5_TETRAHEDRA };

/* Local. Checks kind, shape and storage of the tables; TAC_ERR_INPUT. */
enum tac_err tac_hdf5_open(struct tac_ctx *ctx, const char *path, struct tac_hdf5 **out);
void tac_hdf5_close(struct tac_hdf5 **mesh);
/* Local. Opens the file and reads all rows, to see whether that can be done. */
enum tac_err tac_hdf5_look(struct tac_ctx *ctx, const char *path);
int64_t tac_hdf5_rows(const struct tac_hdf5 *mesh, enum tac_hdf5_table table);
/* Local. Rows first .. first+count-1 into out: (count, 3) doubles, or int64_t, as many columns as
 * an element has vertices. */
enum tac_err tac_hdf5_read(struct tac_ctx *ctx, const struct tac_hdf5 *mesh, enum tac_hdf5_table table, int64_t first,
                           int64_t count, void *out);

/* An HDF5 mesh that all ranks write together: without tetrahedra. */
struct tac_hdf5_writer; /* opaque */

/* Collective. Makes a new file with tables of so many rows; TAC_ERR_RUN: the disk failed. */
enum tac_err tac_hdf5_create(struct tac_ctx *ctx, const char *path, const int64_t rows[3],
                             struct tac_hdf5_writer **out);
/* Collective. This rank's rows first .. first+count-1 (count may be 0): doubles or int64_t. */
enum tac_err tac_hdf5_write(struct tac_ctx *ctx, struct tac_hdf5_writer *writer, enum tac_hdf5_table table,
                            int64_t first, int64_t count, const void *data);
/* Collective. Closes and frees; only now it is known that all is on the disk. */
enum tac_err tac_hdf5_finish(struct tac_ctx *ctx, const char *path, struct tac_hdf5_writer **writer);

/* Local. Writes /vertices, /triangles and /segments to a new file. */
enum tac_err tac_write_hdf5(struct tac_ctx *ctx, const struct tac_mesh *mesh, const char *path);

#endif
