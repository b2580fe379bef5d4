/* vtu.h: declares what the two halves of the reader of VTK's XML files share: arrays of numbers, as the file stores
 * them. */
#ifndef TACTUS_MESH_VTU_H
#define TACTUS_MESH_VTU_H

#include "mesh/read.h"

/* How the file stores numbers. */
struct tac_vtu_format {
    bool big_endian, compressed;
    int header;                  /* bytes of the numbers before data: 4 or 8 */
    bool raw;                    /* appended data are bytes; else base64 */
    const char *data, *data_end; /* view of the file: the appended data, after their '_'; NULL: there are none */
};

enum tac_vtu_kind { TAC_VTU_MISSING, TAC_VTU_FLOAT, TAC_VTU_SIGNED, TAC_VTU_UNSIGNED };

/* One <DataArray>. */
struct tac_vtu_array {
    const char *name; /* "Points", "connectivity", "offsets", "types": for sentences */
    enum tac_vtu_kind kind;
    int width; /* bytes of a number */
    enum { TAC_VTU_ASCII, TAC_VTU_BINARY, TAC_VTU_APPENDED } format;
    uint64_t offset;  /* appended: where it begins after the '_' */
    char *text;       /* owned; ascii, binary: what stands in the element */
    size_t text_size; /* of it */
    int64_t line;     /* where the element begins */
    char *number;     /* owned; the numbers, `width` bytes each, in this machine's order; ascii: double or int64 */
    size_t count;     /* how many */
};

/* Local. vtu_data.c: makes array->number from the stored data.  most: more numbers than this are refused.
 * TAC_ERR_INPUT. */
enum tac_err tac_vtu_decode(struct tac_ctx *ctx, const char *path, const struct tac_vtu_format *format,
                            struct tac_vtu_array *array, size_t most);
/* Local. Returns number k of a decoded array. */
double tac_vtu_double(const struct tac_vtu_array *array, size_t k);
int64_t tac_vtu_integer(const struct tac_vtu_array *array, size_t k);

#endif
