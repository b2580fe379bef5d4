/* base/child.h: is it safe to read this? */
#ifndef TACTUS_BASE_CHILD_H
#define TACTUS_BASE_CHILD_H

#include <tactus/base.h>

/* HDF5 follows pointers in its files; where they are wrong it may crash, never end, or leave itself in a state that it
 * cannot close down from.  So a child process goes first.
 *
 * Local. Runs work(ctx, data) in a child whose output is thrown away, for at most a minute (five seconds of
 * computing) and the time to read `bytes`. What it failed with, sentence included, becomes the caller's failure.  A
 * child that crashed or did not end is TAC_ERR_INPUT with the sentence "'NAME' is damaged: ...". *result (may be NULL):
 * the number that work left there.
 */
enum tac_err tac_child_try(struct tac_ctx *ctx, const char *name, int64_t bytes,
                           enum tac_err (*work)(struct tac_ctx *ctx, void *data, int64_t *result), void *data,
                           int64_t *result);

#endif
