/* What elements remember from tick to tick, at a window's start and back. */
#include "elements/elastic.h"
#include <string.h>

static void copy(struct tac_elastic *elastic, bool back)
{
    if (!elastic->damps && !elastic->flows)
        return;
    for (size_t c = 0; c < elastic->class_count; c++)
        for (int kind = TAC_KIND_SPRING; kind <= TAC_KIND_HINGE; kind++) {
            const size_t width = (size_t)tac_memory_width((enum tac_kind)kind) * sizeof(double);
            struct tac_memory *const both[2] = {&elastic->rate[c].rest[kind], &elastic->rate[c].last[kind]};
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
