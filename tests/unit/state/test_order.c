/* test_order.c: the order of a snapshot's rows is a total order of their keys. Rows come from any number of ranks in
 * any order, and sorted they must be the same. If it failed, checkpoints would depend on who wrote them. */
#include "check.h"
#include "state/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

enum { ROWS = 60 };

/* A whole number of 0 .. n - 1. */
static int64_t draw(int64_t n)
{
    static uint64_t counter;
    return (int64_t)(tac_random(7, counter++) * (double)n);
}

typedef int compare_function(const void *a, const void *b);

/* `row` (ROWS) of `size` bytes: antisymmetric, transitive, 0 only of rows with the same bytes; shuffled and sorted,
 * they are in one order. */
static void total(const char *what, void *row, size_t size, compare_function *compare)
{
    char *a = row, *b = malloc(ROWS * size), *c = malloc(size);
    TAC_CHECK(b != NULL && c != NULL);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            const int ij = compare(a + (size_t)i * size, a + (size_t)j * size);
            CHECK(ij == -compare(a + (size_t)j * size, a + (size_t)i * size), "%s: rows %d and %d", what, i, j);
            CHECK((ij == 0) == (memcmp(a + (size_t)i * size, a + (size_t)j * size, size) == 0), "%s: %d, %d", what, i,
                  j);
            for (int k = 0; k < ROWS; k++)
                if (ij < 0 && compare(a + (size_t)j * size, a + (size_t)k * size) < 0)
                    CHECK(compare(a + (size_t)i * size, a + (size_t)k * size) < 0, "%s: %d, %d, %d", what, i, j, k);
        }
    memcpy(b, a, ROWS * size);
    for (int i = ROWS - 1; i > 0; i--) {
        const size_t j = (size_t)draw(i + 1) * size;
        memcpy(c, b + (size_t)i * size, size);
        memcpy(b + (size_t)i * size, b + j, size);
        memcpy(b + j, c, size);
    }
    qsort(a, ROWS, size, compare);
    qsort(b, ROWS, size, compare);
    CHECK(memcmp(a, b, ROWS * size) == 0, "%s: the order depends on where the rows came from", what);
    free(b);
    free(c);
}

int main(void)
{
    struct tac_element_states element = {.nodes = 3, .width = 2, .count = ROWS};
    static struct tac_friction_row friction[ROWS];
    element.row = calloc(ROWS, tac_element_row_size(&element));
    TAC_CHECK(element.row != NULL);
    for (int i = 0; i < ROWS; i++) {
        tac_element_row(&element, i)->vertex[0] = draw(4) << 31;
        tac_element_row(&element, i)->id = draw(3) << 32;
        friction[i].vertex[0] = draw(4) << 31;
        friction[i].key = (uint64_t)draw(4) << 62;
        friction[i].layer = draw(3) << 32;
    }
    total("elements", element.row, tac_element_row_size(&element), tac_element_state_compare);
    free(element.row);
    total("friction", friction, sizeof friction[0], tac_friction_row_compare);
    return check_result();
}
