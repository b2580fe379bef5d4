/* base/child.h: reads a file in a child process first, which may crash. */
#ifndef TACTUS_BASE_CHILD_H
#define TACTUS_BASE_CHILD_H

#include <tactus/base.h>

/* HDF5 follows pointers in its files.  If they are wrong, it may crash, run for ever, or reach a state in which it
 * cannot be closed.  So a child process reads the file first.
 *
 * Local. Runs work(ctx, data) in a child whose output is thrown away, for at most a minute (five seconds of computing)
 * and the time to read `bytes`. What it failed with, sentence included, becomes the caller's failure.  A child that
 * crashed or did not end is TAC_ERR_INPUT with the sentence "'NAME' is damaged: ...". *result (may be NULL): the number
 * that work() stored there.
 */
enum tac_err tac_child_try(struct tac_ctx *ctx, const char *name, int64_t bytes,
                           enum tac_err (*work)(struct tac_ctx *ctx, void *data, int64_t *result), void *data,
                           int64_t *result);

#endif
