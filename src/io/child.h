/* io/child.h: does a piece of reading survive? */
#ifndef TACTUS_IO_CHILD_H
#define TACTUS_IO_CHILD_H

#include <tactus/base.h>

/* Local. Runs work(data) in a child process whose output is thrown away, for at most a minute and the time to read
 * `bytes`.  What it returned (0 .. 254) in *result; -1 when it crashed or did not end.  HDF5 follows pointers in its
 * files; where they are wrong it may crash: so the child goes first. TAC_ERR_RUN when there can be no child. */
enum tac_err tac_child_try(struct tac_ctx *ctx, int64_t bytes, int (*work)(void *data), void *data, int *result);

#endif
