/* flat_starts.h: finds how far vertices start from the flat parts of surfaces. */
#ifndef TACTUS_EVENTS_WINDOWS_FLAT_STARTS_H
#define TACTUS_EVENTS_WINDOWS_FLAT_STARTS_H

#include <tactus/base.h>

struct tac_sim;

/* Collective; local on one rank. Fills `start` of scene->mesh->flat, by a search among the start positions; does
 * nothing in a scene without flat parts. */
enum tac_err tac_flat_starts(struct tac_sim *sim);

#endif
