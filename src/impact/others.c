/* others.c: the operators of impact to which generalised reflections are compared (integrator.operator). */
#include "impact/operator.h"
#include <string.h>

/* One impulse for all rows at once: that of an inelastic impact, times 1 + restitution. */
static enum tac_err strike_lcp(struct tac_instant *in, const uint32_t *list, size_t n)
{
    enum tac_err err;
    struct tac_bounded *p = &in->problem;
    TAC_TRY(tac_instant_solve(in, list, n, in->v, 1, NULL));
    for (size_t k = 0; k < n; k++)
        p->y[k] *= 1 + in->row[list[k]].restitution;
    tac_bounded_apply(p);
    tac_instant_push(in, 1, in->v);
    for (size_t k = 0; k < n; k++)
        in->second[list[k]] = p->y[k];
done:
    return err;
}

static void push_row(const struct tac_instant *in, uint32_t k, double y, double *v)
{
    const struct tac_impact_row *row = &in->row[k];
    for (int i = 0; i < 2; i++)
        for (size_t c = 0; c < 3 && row->body[i] >= 0; c++) {
            v[3 * (size_t)row->body[i] + c] += y * row->g[i][c];
            if (row->turn[i] > 0)
                v[3 * (size_t)row->turn[i] + c] += y * row->round[i][c];
        }
}

/* One sweep: every violated row gets the impulse of an impact of its own. `from` is in->v: the rows see what those
 * before them have done; else they all see the velocities at the sweep's start. Returns how many were violated. */
static size_t sweep(struct tac_instant *in, const uint32_t *list, size_t n, double *from)
{
    size_t count = 0;
    if (from != in->v)
        memcpy(from, in->v, 3 * in->bodies * sizeof *from);
    double *now = in->v;
    for (size_t k = 0; k < n; k++) {
        const struct tac_impact_row *row = &in->row[list[k]];
        in->v = from;
        const bool violated = tac_instant_violates(in, row, 0);
        in->v = now;
        if (!violated)
            continue;
        const double y = -(1 + row->restitution) * (tac_row_speed(row, from) + row->u);
        push_row(in, list[k], y, now);
        in->second[list[k]] += y;
        count++;
    }
    return count;
}

enum tac_err tac_instant_strike_otherwise(struct tac_instant *in, size_t i)
{
    const uint32_t *list = in->all.order + in->all.begin[i];
    const size_t n = in->all.begin[i + 1] - in->all.begin[i];
    if (in->rule.kind == TAC_IMPACT_LCP)
        return strike_lcp(in, list, n);
    double *from = in->rule.kind == TAC_IMPACT_JACOBI ? in->other : in->v;
    for (int64_t round = 0; round < in->rule.most + 10 * (int64_t)n; round++) {
        if (sweep(in, list, n, from) == 0)
            return TAC_OK;
        in->reflections++;
    }
    in->jammed++; /* and inelastic from where it has come to */
    for (size_t k = 0; k < n; k++)
        in->first[list[k]] = in->second[list[k]];
    const enum tac_err err = tac_instant_solve(in, list, n, in->v, 1, NULL);
    if (!err)
        tac_instant_push(in, 1, in->v);
    for (size_t k = 0; k < n && !err; k++)
        in->second[list[k]] = in->first[list[k]] + in->problem.y[k];
    return err;
}
