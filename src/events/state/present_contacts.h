/* present_contacts.h: lists the contacts at the present time. */
#ifndef TACTUS_EVENTS_STATE_PRESENT_CONTACTS_H
#define TACTUS_EVENTS_STATE_PRESENT_CONTACTS_H

#include "events/sim.h"
#include <tactus/contact.h>

/* Collective. Lists the contacts whose first vertex that can move belongs to this rank, in order; *out is owned by the
 * caller. */
enum tac_err tac_sim_contacts(struct tac_sim *sim, struct tac_contact **out, size_t *count);

#endif
