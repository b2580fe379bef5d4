/* tactus/reader.h: reads a frames.h5 on one rank, also one that is damaged or was not finished.
 *
 * A damaged file must not end the program, and HDF5 itself crashes on some damaged files. So a child process first
 * reads the whole structure of the file. Damaged values are found by the checksums of their chunks.
 *
 *     TAC_TRY(tac_reader_open(ctx, "drop.run", &reader));      a run folder or a frames file
 *     TAC_TRY(tac_reader_mesh(ctx, reader));
 *     TAC_TRY(tac_reader_frame(ctx, reader, k, position, NULL, NULL));
 *     tac_reader_close(&reader);
 */
#ifndef TACTUS_READER_H
#define TACTUS_READER_H

#include <tactus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tac_reader_frame {
    int64_t index; /* its name as a number */
    double time_s;
    char name[24];
    unsigned fields; /* what it has on request: 1 << enum tac_dataset_name (tactus/output.h) */
};

struct tac_reader {
    char *path;                                          /* owned; of the frames file */
    char *folder;                                        /* owned; of the run, NULL if a file was named */
    int64_t file;                                        /* hid_t */
    char name[256], version[64], commit[64], sha256[80]; /* empty: not told */
    tac_lid vertex_count, triangle_count, segment_count, point_count, body_count, tetrahedron_count;
    int64_t frame_count;
    struct tac_reader_frame *frame; /* owned, (frame_count), ascending by index and time */
    int64_t incomplete;             /* frames at the end that were not finished and are left out */
    /* After tac_reader_mesh(): */
    tac_lid *triangle;    /* owned, (T, 3), in range */
    tac_lid *segment;     /* owned, (S, 2), in range */
    tac_lid *point;       /* owned, (P), in range */
    tac_lid *tetrahedron; /* owned, (K, 4), in range; NULL where there are none */
    tac_lid *body;        /* owned, (V), in 0 .. body_count - 1 */
    double *radius;       /* owned, (V), m */
    uint8_t *free;        /* owned, (V): 1: at some time the vertex is free; NULL: the file does not tell */
    char **body_name;     /* owned, (body_count), owned strings */
};

/* Local. *is: it is an HDF5 file that claims to be of one of this program's formats (and not a mesh, for example). */
enum tac_err tac_reader_is_frames(struct tac_ctx *ctx, const char *path, bool *is);

/* Local. Opens a frames file. TAC_ERR_INPUT: it is missing or damaged, or it is no frames file. */
enum tac_err tac_reader_open(struct tac_ctx *ctx, const char *path, struct tac_reader **out);
/* Collective. Opens the file on every rank; rank 0 checks first whether it can be read safely. */
enum tac_err tac_reader_open_all(struct tac_ctx *ctx, const char *path, struct tac_reader **out);
/* Local. Reads /mesh into the reader. */
enum tac_err tac_reader_mesh(struct tac_ctx *ctx, struct tac_reader *r);
/* Local. Reads frame `k`, 0 .. frame_count - 1 (its place in the file, not its index). Each array is (V, 3) or NULL. */
enum tac_err tac_reader_frame(struct tac_ctx *ctx, const struct tac_reader *r, int64_t k, double *position,
                              double *velocity, float *contact_force);
/* Local. Reads the positions of the vertices begin .. begin + count - 1 in frame `k` (as above) into x (count, 3), m.
 */
enum tac_err tac_reader_positions(struct tac_ctx *ctx, const struct tac_reader *r, int64_t k, tac_lid begin,
                                  tac_lid count, double *x);
/* Local. Reads field `which` (enum tac_dataset_name) of frame `k`, which must have it: *data (*rows, columns of
 * tac_field_table()), owned by the caller, also after an error. */
enum tac_err tac_reader_field(struct tac_ctx *ctx, const struct tac_reader *r, int64_t k, int which, void **data,
                              int64_t *rows);
/* Local. SHA-256 over all frames, in hexadecimal digits with a final zero: of each frame the positions, then the
 * velocities, of all vertices in the scene's order, each number as eight bytes (IEEE 754, lowest byte first).  Two runs
 * with the same digest have the same bits at the same frames.  Reads all frames. */
enum tac_err tac_reader_digest(struct tac_ctx *ctx, const struct tac_reader *r, char sha256[65]);
/* Local. NULL is allowed; leaves NULL. */
void tac_reader_close(struct tac_reader **r);

#ifdef __cplusplus
}
#endif
#endif
