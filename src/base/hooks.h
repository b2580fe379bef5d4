/* hooks.h: reads the hooks for the project's own tests from variables of the environment. */
#ifndef TACTUS_BASE_HOOKS_H
#define TACTUS_BASE_HOOKS_H

#include <tactus/base.h>

/* Local. Reads all hooks; those that are not set become 0. */
void tac_hooks_read(struct tac_hooks *hooks);

#endif
