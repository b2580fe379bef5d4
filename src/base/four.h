/* four.h: four numbers side by side. Where the machine's vectors are shorter, the compiler splits them. */
#ifndef TACTUS_BASE_FOUR_H
#define TACTUS_BASE_FOUR_H

#include <stdint.h>

typedef double tac_four __attribute__((vector_size(32)));
typedef long long tac_four_mask __attribute__((vector_size(32)));

#endif
