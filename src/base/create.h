/* base/create.h: new files in folders that others can write to.
 *
 * A folder that was brought from elsewhere may hold a symbolic link under the name that a file is to get.  Opening that
 * name for writing would change a file outside the folder.  So every file that a run makes is made here: what has the
 * name is removed (of a link the link alone), and the file is then made anew. */
#ifndef TACTUS_BASE_CREATE_H
#define TACTUS_BASE_CREATE_H

#include <stdio.h>

/* Local. Makes an empty file and opens it with `flags` (O_WRONLY, O_RDWR, O_APPEND ...).  folder: a descriptor that
 * `name` counts from, or AT_FDCWD.  The folder and those above it may be links.  Returns the descriptor, or -1 with
 * errno. */
int tac_create_new(int folder, const char *name, int flags);
/* Local. The same for a stream that is written; NULL with errno. */
FILE *tac_create_stream(int folder, const char *name);

#endif
