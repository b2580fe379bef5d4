/* kinetic_lists.h: reads the separation lists, for pictures and tests; nothing else may depend on it. */
#ifndef TACTUS_KDS_KINETIC_LISTS_H
#define TACTUS_KDS_KINETIC_LISTS_H

#include "kds/kinetic_tree.h"

enum tac_list_state { TAC_LIST_UNUSED, TAC_LIST_SEPARATED, TAC_LIST_SPLIT, TAC_LIST_OPEN };

/* A test of two nodes. */
struct tac_list_view {
    const struct tac_kinetic_tree *tree; /* borrowed */
    int32_t node[2];
    enum tac_list_state state;
    tac_time until; /* of a separated one: time until which its certificate holds */
};

/* Local. Describes test `id`, from 0. Returns false if no test has this number or a higher one, or if the broad phase
 * is another one.
 */
bool tac_lists_view(const struct tac_kinetic *k, int32_t id, struct tac_list_view *view);

#endif
