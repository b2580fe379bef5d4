/* levers.h: finds which keys of a scene cost most, from the measurements of a pilot.
 *
 * The scene's settings are copied, one value is changed, and the ticks of elastic forces are counted anew, exactly.
 * Contact is taken to need as many more or fewer ticks as the first layers' period is shorter or longer. The time of
 * the pilot, in its parts for elastic forces and for contact, is scaled by both; what remains (discovery, windows)
 * stays.
 *
 *     TAC_TRY(tac_levers_find(ctx, scene, elastic, &base, &lever, &count));
 *     lever[0].key           the key that costs most
 *     tac_levers_free(&lever, count);
 */
#ifndef TACTUS_FORECAST_LEVERS_H
#define TACTUS_FORECAST_LEVERS_H

#include "elements/elastic.h"

/* What the run costs as it is. */
struct tac_lever_base {
    double ticks;                                  /* of elastic forces, gravity, dampers and loads */
    double contact;                                /* ticks of contact */
    double wall_s, elastic_wall_s, contact_wall_s; /* the whole; its parts for the two kinds of ticks */
};

/* Another value of a key, or a level of accuracy. */
struct tac_lever {
    char *key;           /* owned: its path in the scene; NULL: a level */
    double now, instead; /* values */
    char advice[160];    /* what goes with it; may be empty */
    double elastic, contact, wall_s;
    double wall_least_s, wall_most_s; /* of a level: for the least and the largest quotient of contact */
};

/* Local. Tries another value of each key that may cost much: a quarter of a stiffness, no damping, larger safeties.
 * The list is by ascending wall time. TAC_ERR_RUN out of memory. */
enum tac_err tac_levers_find(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_lever_base *base,
                             struct tac_lever **out, size_t *count);
/* Local. NULL is allowed; leaves NULL. */
void tac_levers_free(struct tac_lever **lever, size_t count);

/* Local. With the safeties of a level of clocks.accuracy in the place of the scene's; contact ticks by the measured
 * quotient to those of `standard`.  *can: false if its periods would be too short. */
enum tac_err tac_levers_level(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_lever_base *base,
                              int level, struct tac_lever *out, bool *can);

#endif
