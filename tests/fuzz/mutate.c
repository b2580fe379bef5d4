/* mutate.c: changes an HDF5 file so that it stays one: mostly in place, whole words, to values that such files have.
 * With FUZZ_CHECKPOINT the block before it, with length and CRC, is made to fit again, for behind it everything is
 * read.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef FUZZ_CHECKPOINT
#include <zlib.h>

#include "io/checkpoint/checkpoint_table.h"
#endif

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1dULL;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Another value for a word of the file: a near one, an extreme one, or a word from elsewhere (an address, perhaps). */
static uint64_t other(uint64_t word, const uint8_t *data, size_t size, uint64_t *state)
{
    const uint64_t special[] = {0,
                                1,
                                UINT64_MAX,
                                INT64_MAX,
                                (uint64_t)1 << 32,
                                UINT32_MAX,
                                (uint64_t)1 << 40,
                                double_bits(1e300),
                                double_bits(-1.0 / 0.0),
                                double_bits(0.0 / 0.0),
                                double_bits(1e-300),
                                double_bits(-0.0)};
    uint64_t from = 0;
    switch (next(state) % 6) {
    case 0:
        return word + next(state) % 17 - 8;
    case 1:
        return word ^ (uint64_t)1 << next(state) % 64;
    case 2:
        return special[next(state) % (sizeof special / sizeof special[0])];
    case 3:
        memcpy(&from, data + next(state) % (size - 7), sizeof from);
        return from;
    case 4:
        return next(state) % size;
    default:
        return next(state);
    }
}

static void change_word(uint8_t *data, size_t size, uint64_t *state)
{
    static const size_t widths[] = {1, 1, 2, 4, 8, 8, 8};
    const size_t width = widths[next(state) % (sizeof widths / sizeof widths[0])];
    size_t at = next(state) % (size - 8);
    uint64_t word;
    if (next(state) % 4 != 0)
        at -= at % width;
    memcpy(&word, data + at, sizeof word);
    word = other(word, data, size, state);
    memcpy(data + at, &word, width); /* this machine and the files are little-endian */
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    uint64_t state = ((uint64_t)seed << 1 | 1) * 0x9e3779b97f4a7c15ULL;
    if (size < 64 || next(&state) % 8 == 0) {
        size = LLVMFuzzerMutate(data, size, max_size);
    } else {
        for (uint64_t n = 1 + next(&state) % 4; n > 0; n--)
            change_word(data, size, &state);
    }
#ifdef FUZZ_CHECKPOINT
    if (size > TAC_CHECKPOINT_BLOCK && next(&state) % 16 != 0) {
        const size_t length = size - TAC_CHECKPOINT_BLOCK;
        const uLong crc = crc32(crc32(0, Z_NULL, 0), data + TAC_CHECKPOINT_BLOCK, (uInt)length);
        tac_checkpoint_head_pack((int64_t)length, (uint32_t)crc, data);
    }
#endif
    return size;
}
