/* base/create.h: makes new files in folders that others can write to.
 *
 * A folder from another place may hold a symbolic link under the name of a file that is to be made.  Opening that name
 * for writing would change a file outside the folder.  So every file that a run makes is made here. These functions
 * remove what has the name (a link, but not its target), and then make the file. */
#ifndef TACTUS_BASE_CREATE_H
#define TACTUS_BASE_CREATE_H

#include <stdio.h>

/* Local. Makes an empty file and opens it with `flags` (O_WRONLY, O_RDWR, O_APPEND ...).  folder: a descriptor that
 * `name` counts from, or AT_FDCWD.  The folder and those above it may be links.  Returns the descriptor, or -1 with
 * errno. */
int tac_create_new(int folder, const char *name, int flags);
/* Local. Does the same for a stream to write to; NULL with errno. */
FILE *tac_create_stream(int folder, const char *name);

#endif
