/* energy_row.c: fills columns of a row of energy.csv from exact sums. */
#include "state/energy_row.h"

void tac_energy_row_fill(const struct tac_accum *sum, const struct tac_accum *dissipated, bool *has_start,
                         struct tac_accum *total_start, struct tac_energy_row *row)
{
    struct tac_accum total = sum[TAC_SUM_KINETIC];
    for (int k = TAC_SUM_GRAVITY; k <= TAC_SUM_CONTACT; k++)
        tac_accum_merge(&total, &sum[k]);
    row->kinetic = tac_accum_value(&sum[TAC_SUM_KINETIC]);
    row->gravity = tac_accum_value(&sum[TAC_SUM_GRAVITY]);
    row->stretch = tac_accum_value(&sum[TAC_SUM_STRETCH]);
    row->bend = tac_accum_value(&sum[TAC_SUM_BEND]);
    row->contact = tac_accum_value(&sum[TAC_SUM_CONTACT]);
    row->total = tac_accum_value(&total);
    row->dissipated = tac_accum_value(dissipated);
    row->work = tac_accum_value(&sum[TAC_SUM_WORK]);
    if (!*has_start) {
        *has_start = true;
        *total_start = total;
    }
    /* total - work + dissipated - start, rounded once. */
    struct tac_accum defect = total;
    tac_accum_merge(&defect, dissipated);
    tac_accum_subtract(&defect, &sum[TAC_SUM_WORK]);
    tac_accum_subtract(&defect, total_start);
    row->defect = tac_accum_value(&defect);
    for (int k = 0; k < 3; k++) {
        row->momentum[k] = tac_accum_value(&sum[TAC_SUM_MOMENTUM + k]);
        row->angular_momentum[k] = tac_accum_value(&sum[TAC_SUM_ANGULAR + k]);
    }
}
