/* energy_row.h: fills the columns of a row of energy.csv that every integrator computes from exact sums in the same
 * manner. */
#ifndef TACTUS_STATE_ENERGY_ROW_H
#define TACTUS_STATE_ENERGY_ROW_H

#include <stdbool.h>
#include <tactus/accum.h>
#include <tactus/counters.h>

/* The sums over all ranks, by place. */
enum tac_row_sum {
    TAC_SUM_KINETIC,
    TAC_SUM_GRAVITY,
    TAC_SUM_STRETCH,
    TAC_SUM_BEND,
    TAC_SUM_CONTACT,
    TAC_SUM_WORK,
    TAC_SUM_MOMENTUM,
    TAC_SUM_ANGULAR = TAC_SUM_MOMENTUM + 3,
    TAC_ROW_SUMS = TAC_SUM_ANGULAR + 3
};

/* Local. Fills in energies, dissipated, work, defect and momenta. sum: (TAC_ROW_SUMS); total_start: the total energy of
 * the first row, which this call sets if *has_start is false. */
void tac_energy_row_fill(const struct tac_accum *sum, const struct tac_accum *dissipated, bool *has_start,
                         struct tac_accum *total_start, struct tac_energy_row *row);

#endif
