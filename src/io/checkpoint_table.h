/* checkpoint_table.h: what a checkpoint file holds; shared by its writer and its reader. */
#ifndef TACTUS_IO_CHECKPOINT_TABLE_H
#define TACTUS_IO_CHECKPOINT_TABLE_H

#include "io/checkpoint.h"
#include "io/frames.h"

#define TAC_CHECKPOINT_FORMAT "tactus-checkpoint/1"
enum { TAC_CHECKPOINT_BLOCK = 512 };

/* The user block in front of the HDF5 file, little endian; the rest of it is zero. */
struct tac_checkpoint_head {
    char magic[8]; /* "TACTUSCP" */
    uint32_t version, crc;
    int64_t length; /* bytes after the user block */
};
#define TAC_CHECKPOINT_MAGIC "TACTUSCP"

/* Whole numbers and sums that are the same on all ranks, in the order in which the file has them. */
enum { TAC_CHECKPOINT_INTEGERS = 64, TAC_CHECKPOINT_REALS = 16, TAC_CHECKPOINT_SUMS = 3 };
void tac_checkpoint_pack(const struct tac_checkpoint *c, int64_t *integer, double *real);
void tac_checkpoint_unpack(struct tac_checkpoint *c, const int64_t *integer, const double *real);

/* A table of the file: rows x columns (0: one-dimensional). */
struct tac_checkpoint_column {
    const char *name, *units;
    bool real;
    int columns;
    size_t offset; /* of the value in its record */
};
struct tac_vertex_record {
    tac_gid id;
    double start[3], mass, x[3], v[3], impulse[3];
    tac_time t;
};
struct tac_element_record {
    tac_gid id, v[3];
};
struct tac_script_record {
    tac_gid vertex;
    int64_t next, t, flags[2]; /* on, caught */
    double origin[3], x[3], v[3], v_free[3];
};
struct tac_pair_record {
    tac_gid key; /* its bits */
    tac_gid vertex[4];
    int64_t depth, rungs;
};
extern const struct tac_checkpoint_column TAC_VERTEX_COLUMNS[6], TAC_TRIANGLE_COLUMNS[1], TAC_SEGMENT_COLUMNS[1],
    TAC_SCRIPT_COLUMNS[8], TAC_PAIR_COLUMNS[4];

/* CRC of bytes [begin, end) of a file. false: it cannot be read. */
bool tac_checkpoint_crc(int fd, int64_t begin, int64_t end, uint32_t *crc);
/* Collective. CRC of [TAC_CHECKPOINT_BLOCK, end), each rank its stripe. */
enum tac_err tac_checkpoint_crc_all(struct tac_ctx *ctx, const char *path, int64_t end, uint32_t *crc);
/* Local. NNNNNN of "checkpoint-NNNNNN.h5", or -1. */
int64_t tac_checkpoint_number(const char *name);
/* Local. Numbers of the checkpoints in a folder, ascending, in *list (owned by the caller). */
enum tac_err tac_checkpoint_list(struct tac_ctx *ctx, const char *dir, int64_t **list, size_t *count);

#endif
