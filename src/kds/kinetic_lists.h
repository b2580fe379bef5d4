/* kinetic_lists.h: a look into the separation lists, for pictures and tests; nothing else may depend on it. */
#ifndef TACTUS_KDS_KINETIC_LISTS_H
#define TACTUS_KDS_KINETIC_LISTS_H

#include "kds/kinetic_tree.h"

enum tac_list_state { TAC_LIST_UNUSED, TAC_LIST_SEPARATED, TAC_LIST_SPLIT, TAC_LIST_OPEN };

/* A test of two nodes. */
struct tac_list_view {
    const struct tac_kinetic_tree *tree; /* borrowed */
    int32_t node[2];
    enum tac_list_state state;
    tac_time until; /* of one that is apart: its certificate may fail then */
};

/* Local. Test `id`, from 0; false: there is none with this number nor with a higher one, or the broad phase is another.
 */
bool tac_lists_view(const struct tac_kinetic *k, int32_t id, struct tac_list_view *view);

#endif
