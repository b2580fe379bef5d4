/* checkpoint_table.h: declares the contents of a checkpoint file, for its writer and its reader. */
#ifndef TACTUS_IO_CHECKPOINT_CHECKPOINT_TABLE_H
#define TACTUS_IO_CHECKPOINT_CHECKPOINT_TABLE_H

#include "io/checkpoint/checkpoint.h"
#include "io/frames/frames.h"

#define TAC_CHECKPOINT_FORMAT "tactus-checkpoint/2"
#define TAC_CHECKPOINT_FORMAT_1 "tactus-checkpoint/1"
enum { TAC_CHECKPOINT_VERSION = 2, TAC_CHECKPOINT_BLOCK = 512 };

/* The user block in front of the HDF5 file: magic, version of the format (4 bytes), CRC-32 of the rest of the file
 * (4 bytes), its length (8 bytes), all little endian; then zeros. */
void tac_checkpoint_head_pack(int64_t length, uint32_t crc, unsigned char block[TAC_CHECKPOINT_BLOCK]);

/* Numbers and sums that are the same on all ranks, as the file has them. */
enum {
    TAC_CHECKPOINT_INTEGERS = 32,
    TAC_CHECKPOINT_COUNTERS = 32,
    TAC_CHECKPOINT_REALS = 16,
    TAC_CHECKPOINT_SUMS = 6,
    TAC_CHECKPOINT_LOSSES = 3,
    TAC_CHECKPOINT_INTEGERS_1 = 64 /* integers, counters and ticks of a file of format 1 */
};
struct tac_checkpoint_numbers {
    int64_t integer[TAC_CHECKPOINT_INTEGERS], counter[TAC_CHECKPOINT_COUNTERS];
    int64_t ticks[TAC_COUNTED_KINDS][2]; /* committed, executed */
    double real[TAC_CHECKPOINT_REALS];
};
void tac_checkpoint_pack(const struct tac_checkpoint *c, struct tac_checkpoint_numbers *out);
void tac_checkpoint_unpack(struct tac_checkpoint *c, const struct tac_checkpoint_numbers *numbers);
/* Likewise from the numbers of format 1. */
void tac_checkpoint_unpack_1(struct tac_checkpoint *c, const int64_t integer[TAC_CHECKPOINT_INTEGERS_1],
                             const double real[TAC_CHECKPOINT_REALS]);

/* Local. Copies a row of energy.csv to `value` (out) or from `value`; counts are stored as reals. */
enum { TAC_CHECKPOINT_ROW = 22, TAC_CHECKPOINT_LOST = 4 };
void tac_checkpoint_row(struct tac_energy_row *row, double value[TAC_CHECKPOINT_ROW], bool out);
/* Local. Does the same for its further columns: what was dissipated, by cause. */
void tac_checkpoint_row_losses(struct tac_energy_row *row, double value[TAC_CHECKPOINT_LOST], bool out);

/* A table of the file: rows x columns (0: one-dimensional). */
struct tac_checkpoint_column {
    const char *name, *units;
    bool real;
    int columns;
    size_t offset; /* of the value in its record */
};
struct tac_past_record {
    tac_gid id;
    double value[TAC_PAST_NUMBERS];
};
struct tac_element_record {
    tac_gid id, v[4];
};
struct tac_script_record {
    tac_gid vertex;
    int64_t next, t, flags[2]; /* on, caught */
    double origin[3], x[3], v[3], v_free[3], force[3];
};
struct tac_pair_record {
    tac_gid key; /* its bits */
    tac_gid vertex[4];
    int64_t depth, groups;
};
/* A kind of elements that remember something, as the table `element_kinds` has it. */
struct tac_element_kind_record {
    int64_t kind, rows, nodes, width;
};
/* The columns of one kind's rows; their names are in it. */
enum { TAC_ELEMENT_COLUMNS = 5, TAC_NAME_OF_COLUMN = 32 };
struct tac_element_columns {
    char name[TAC_ELEMENT_COLUMNS][TAC_NAME_OF_COLUMN];
    struct tac_checkpoint_column column[TAC_ELEMENT_COLUMNS];
};
void tac_element_columns(int kind, const struct tac_element_states *states, struct tac_element_columns *out);
/* A row of elements of format 1: every kind has four nodes and three numbers, and a strain of six is in both. */
struct tac_element_record_1 {
    int64_t kind;
    tac_gid id, vertex[4];
    int64_t has;
    double rest[3], last[3];
};
/* How many columns of TAC_SCRIPT_COLUMNS a file has. */
static inline size_t tac_checkpoint_script_columns(const struct tac_checkpoint *c)
{
    return c->trajectory.has_script_force ? 9 : 8;
}
/* The same of TAC_RIGID_COLUMNS. */
static inline size_t tac_checkpoint_rigid_columns(const struct tac_checkpoint *c)
{
    return c->has_past ? 5 : 4;
}
extern const struct tac_checkpoint_column TAC_VERTEX_COLUMNS[7], TAC_PAST_COLUMNS[1], TAC_TRIANGLE_COLUMNS[1],
    TAC_SEGMENT_COLUMNS[1], TAC_TETRAHEDRON_COLUMNS[1], TAC_SCRIPT_COLUMNS[9], TAC_PAIR_COLUMNS[4],
    TAC_RIGID_COLUMNS[5], TAC_ELEMENT_KIND_COLUMNS[1], TAC_ELEMENT_COLUMNS_1[6], TAC_FRICTION_COLUMNS[5],
    TAC_ENTRY_COLUMNS[3], TAC_SUM_COLUMNS[TAC_LINES];

/* The name that a column of this name has in a file of format 1. */
const char *tac_checkpoint_name_1(const char *name);

/* Collective. Computes the CRC of the `length` bytes after the user block; each rank reads a part. TAC_ERR_RUN: the
 * file cannot be read.
 */
enum tac_err tac_checkpoint_crc_all(struct tac_ctx *ctx, const char *path, int64_t length, uint32_t *crc);
/* Local. Does the file have the length that its head says? */
bool tac_checkpoint_full_length(int folder, const char *name);
/* Collective. Finds the checkpoint that `path` (a checkpoint or a folder) means; *file (owned by the caller) is whole.
 */
enum tac_err tac_checkpoint_choose(struct tac_ctx *ctx, const char *path, char **file);

#endif
