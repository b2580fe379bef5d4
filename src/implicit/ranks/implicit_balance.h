/* implicit_balance.h: declares the functions about the work of ranks that the implicit integrator has in the table of
 * integrators.
 */
#ifndef TACTUS_IMPLICIT_IMPLICIT_BALANCE_H
#define TACTUS_IMPLICIT_IMPLICIT_BALANCE_H

#include "implicit/implicit.h"
#include "integrators/integrator.h"

/* Local. struct tac_integrator.weigh. */
enum tac_err tac_implicit_weigh_vertices(void *state, struct tac_graph_rows *rows);
extern const struct tac_integrator_balance tac_implicit_balancing;

#endif
