/* steps.c: writes steps.csv. */
#include "run/steps.h"
#include "io/folder/log.h"

enum { ROW = 512 };

enum tac_err tac_steps_open(struct tac_ctx *ctx, const struct tac_integrator *integrator, const void *state,
                            struct tac_output *out)
{
    char head[ROW];
    if (ctx->rank != 0 || integrator->steps == NULL)
        return TAC_OK;
    snprintf(head, sizeof head, "%s\n", integrator->steps->head);
    return tac_output_steps(ctx, out, head, integrator->steps->number(state));
}

enum tac_err tac_steps_row(struct tac_ctx *ctx, const struct tac_integrator *integrator, const void *state,
                           struct tac_output *out)
{
    char row[ROW];
    if (ctx->rank != 0 || integrator->steps == NULL)
        return TAC_OK;
    integrator->steps->row(state, row, sizeof row - 1);
    tac_log_step(out, integrator->steps->head, row);
    const size_t length = strlen(row);
    row[length] = '\n';
    return tac_output_lines(ctx, out, TAC_LINES_STEPS, row, length + 1);
}
