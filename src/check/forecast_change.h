/* forecast_change.h: what would a run cost if a key of the scene had another value?
 *
 * The scene's settings are copied, one value is changed, and the forecast is made anew; the mesh is shared.
 *
 *     TAC_TRY(tac_forecast_changes(ctx, scene, elastic, &speed, &change, &count));
 *     change[0].key                  the key that costs most
 *     tac_forecast_changes_free(&change, count);
 */
#ifndef TACTUS_CHECK_FORECAST_CHANGE_H
#define TACTUS_CHECK_FORECAST_CHANGE_H

#include "check/forecast.h"

struct tac_change {
    char *key;           /* owned: its path in the scene */
    double now, instead; /* values */
    char advice[160];    /* what goes with it; may be empty */
    struct tac_forecast forecast;
};

/* Local. With elements of the scene's own, `elastic`. Of each key that may cost much: a quarter of stiffnesses, softer
 * with a `limit`, larger safeties, no deeper layers than two; ascending wall time. TAC_ERR_RUN out of memory. */
enum tac_err tac_forecast_changes(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                                  const struct tac_speed *speed, struct tac_change **out, size_t *count);
/* Local. NULL is allowed; leaves NULL. */
void tac_forecast_changes_free(struct tac_change **change, size_t count);

/* Local. With the safeties of a level of clocks.accuracy in the place of the scene's; contact ticks by the measured
 * quotient to those of `standard`.  *can: false if its periods would be too short. */
enum tac_err tac_forecast_level(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                                const struct tac_speed *speed, int level, struct tac_forecast *out, bool *can);

#endif
