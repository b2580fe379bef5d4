/* mutate_values.c: changes values in the tables of a checkpoint and nothing else of the file, so that HDF5 cannot break
 * down over it and no child process has to look first: thousands of states a second reach the checks of values, the
 * scene and the simulation.  Its tables must be stored each in one piece, as in the seed.
 */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "fuzz.h"
#include "io/checkpoint/checkpoint_table.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t out_size, unsigned seed);

enum { MOST = 64 };
struct table {
    size_t at, bytes, width;
};

/* The tables of the file `model`, and of every file that is the same outside them. */
static struct table table[MOST];
static size_t table_count;
static uint8_t *model;
static size_t model_size;
static uint64_t state;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1dULL >> 8;
}

static herr_t add_table(hid_t group, const char *name, const H5L_info_t *info, void *unused)
{
    hid_t id = H5Dopen2(group, name, H5P_DEFAULT);
    if (id < 0)
        return 0;
    hid_t type = H5Dget_type(id);
    const haddr_t at = H5Dget_offset(id);
    const hsize_t bytes = H5Dget_storage_size(id);
    if (at != HADDR_UNDEF && bytes > 0 && table_count < MOST)
        table[table_count++] = (struct table){(size_t)at, (size_t)bytes, H5Tget_size(type)};
    H5Tclose(type);
    H5Dclose(id);
    return 0;
}

static void set_in_tables(uint8_t *data, size_t size, const uint8_t *from)
{
    for (size_t k = 0; k < table_count; k++)
        if (table[k].at + table[k].bytes <= size)
            memcpy(data + table[k].at, from + table[k].at, table[k].bytes);
}

/* Is the file as the model outside its tables? */
static bool is_known(const uint8_t *data, size_t size)
{
    if (size != model_size)
        return false;
    uint8_t *copy = malloc(size);
    memcpy(copy, data, size);
    set_in_tables(copy, size, model);
    const bool same =
        memcmp(copy + TAC_CHECKPOINT_BLOCK, model + TAC_CHECKPOINT_BLOCK, size - TAC_CHECKPOINT_BLOCK) == 0;
    free(copy);
    return same;
}

static void learn(const uint8_t *data, size_t size)
{
    table_count = 0;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(fuzz_put("model.h5", data, size), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file >= 0) {
        H5Literate(file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, add_table, NULL);
        H5Fclose(file);
    }
    free(model);
    model = malloc(size);
    memcpy(model, data, size);
    model_size = size;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t other(uint64_t word)
{
    static const double reals[] = {0,    -0.0, 1,         -1,         1e-300,    5e-324, 1e300,
                                   1e50, 1e-9, 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0, 0.5};
    double value;
    switch (next() % 7) {
    case 0:
        return word + next() % 9 - 4;
    case 1:
        return word ^ (uint64_t)1 << next() % 64;
    case 2:
        return bits_of(reals[next() % (sizeof reals / sizeof reals[0])]);
    case 3:
        return next() % 16;
    case 4:
        return (uint64_t)0 - next() % 3;
    case 5:
        memcpy(&value, &word, sizeof value);
        return bits_of(value * (next() % 2 ? 1.0000001 : -1));
    default:
        return next() << 20;
    }
}

static void change(uint8_t *data)
{
    const struct table *t = &table[next() % table_count];
    uint8_t *to = data + t->at + next() % (t->bytes / t->width) * t->width;
    const uint8_t *from = data + t->at + next() % (t->bytes / t->width) * t->width;
    uint64_t word = 0;
    if (t->width == 1) {
        static const char text[] = "0123456789e-+.,\"[]{} abn";
        *to = next() % 4 ? (uint8_t)text[next() % (sizeof text - 1)] : *from;
    } else if (t->width <= sizeof word && next() % 4 != 0) {
        memcpy(&word, to, t->width);
        word = other(word);
        memcpy(to, &word, t->width);
    } else {
        memmove(to, from, t->width); /* another row's value */
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    state = ((uint64_t)seed << 1 | 1) * 0x9e3779b97f4a7c15ULL;
    if (size <= TAC_CHECKPOINT_BLOCK)
        return size;
    if (!is_known(data, size))
        learn(data, size);
    if (table_count == 0)
        return size;
    for (uint64_t n = 1 + next() % 4; n > 0; n--)
        change(data);
    const size_t length = size - TAC_CHECKPOINT_BLOCK;
    const uLong crc = crc32(crc32(0, Z_NULL, 0), data + TAC_CHECKPOINT_BLOCK, (uInt)length);
    tac_checkpoint_head_pack((int64_t)length, (uint32_t)crc, data);
    return size;
}

/* None: two files' bytes would make a third that HDF5 cannot read. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t out_size, unsigned seed)
{
    return 0;
}
