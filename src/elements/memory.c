/* memory.c: saves the state that elements remember from tick to tick at a window's start, and restores it after a
 * rollback. */
#include "elements/elastic.h"
#include <string.h>

static void copy(struct tac_elastic *elastic, bool back)
{
    if (!elastic->damps && !elastic->flows)
        return;
    for (size_t c = 0; c < elastic->class_count; c++)
        for (int kind = 0; kind < elastic->element_count; kind++) {
            struct tac_element_group *g = &elastic->rate[c].group[kind];
            const size_t width = (size_t)g->element->width * sizeof(double);
            struct tac_memory *const both[2] = {&g->rest, &g->last};
            for (int k = 0; k < 2; k++)
                if (both[k]->count)
                    memcpy(back ? both[k]->value : both[k]->saved, back ? both[k]->saved : both[k]->value,
                           both[k]->count * width);
        }
}

void tac_memory_save(struct tac_elastic *elastic)
{
    copy(elastic, false);
}

void tac_memory_restore(struct tac_elastic *elastic)
{
    copy(elastic, true);
}
