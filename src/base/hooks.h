/* hooks.h: what the project's own tests ask of the library, by variables of the environment. */
#ifndef TACTUS_BASE_HOOKS_H
#define TACTUS_BASE_HOOKS_H

#include <tactus/base.h>

/* Local. Reads them all; whatever is not set becomes 0. */
void tac_hooks_read(struct tac_hooks *hooks);

#endif
