/* integrator.c: has the list of integrators. */
#include "integrators/integrator.h"
#include <tactus/scene.h>

/* By enum tac_integrator_kind. */
static const struct tac_integrator *const TABLE[] = {[TAC_INTEGRATOR_ASYNCHRONOUS] = &tac_integrator_asynchronous,
                                                     [TAC_INTEGRATOR_IMPLICIT] = &tac_integrator_implicit,
                                                     [TAC_INTEGRATOR_IMPACT] = &tac_integrator_impact};

const struct tac_integrator *tac_integrator_of(const struct tac_scene *scene)
{
    return TABLE[scene->settings->integrator];
}
