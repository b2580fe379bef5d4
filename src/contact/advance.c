/* advance.c: bounds a step of a pair by additive conservative advancement (Li et al. 2021). */
#include "contact/advance.h"

#define TAC_ADVANCE_PART .9 /* of what is safe, so that rounding of the share is no concern */
/* Advances of one pair, and of one that has not come nearer than `most`; after so many the share that was reached is
 * returned. Which far pairs a caller knows may depend on its lists, so these must hardly ever bound a step. */
enum { TAC_ADVANCE_MOST = 20000, TAC_ADVANCE_FAR = 1 << 22 };

static double longest_move(const double p[4][3], int from, int to)
{
    double most = 0;
    for (int i = from; i < to; i++)
        most = fmax(most, tac_dot(p[i], p[i]));
    return sqrt(most);
}

/* Returns whether the two primitives are farther apart along n than `least`, where they are now, `at`, and at the end,
 * x + move. Places are linear in the share, so they are so in between, too. */
static bool stays_apart(int n, int first, const double at[4][3], const double x[4][3], const double move[4][3],
                        const double normal[3], double least)
{
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < n; i++) {
        double now[3], end[3];
        tac_sub(now, at[i], at[n - 1]);
        for (int k = 0; k < 3; k++)
            end[k] = x[i][k] - x[n - 1][k] + (move[i][k] - move[n - 1][k]);
        const double along[2] = {tac_dot(now, normal), tac_dot(end, normal)};
        for (int e = 0; e < 2; e++)
            if (i < first)
                lo[e] = fmin(lo[e], along[e]);
            else
                hi[e] = fmax(hi[e], along[e]);
    }
    return lo[0] - hi[0] > least && lo[1] - hi[1] > least;
}

double tac_advance_safely(enum tac_pair_type type, const double x[4][3], const double p[4][3], double radius,
                          double keep, double most, double enough)
{
    const int n = tac_pair_vertices(type), first = tac_pair_first(type);
    double at[4][3] = {{0}}, move[4][3] = {{0}}, mean[3] = {0, 0, 0}, size = 0, share = 0;
    struct tac_near near;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            mean[k] += p[i][k] / n;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            at[i][k] = x[i][k];
            move[i][k] = p[i][k] - mean[k];
            size = fmax(size, fabs(x[i][k]) + fabs(p[i][k]));
        }
    /* No two points come nearer by more than this in the whole step; the rounding of p - mean included. */
    const double speed = (longest_move(move, 0, first) + longest_move(move, first, n)) * (1 + 0x1p-40) + 0x1p-50 * size;
    /* The kernel is off by a part of the pair's extent, places by a part of their size: here, where the caller puts
     * them, and in between. */
    const double wrong = (4 * TAC_NEAR_ERROR + 0x1p-50) * size;
    tac_near_pair(type, at, &near);
    double gap = near.d - radius - wrong;
    const double left = keep * fmin(near.d - radius, most);
    if (!(gap > left))
        return 0;
    bool met = near.d - radius < most;
    for (int round = 0; round < (met ? TAC_ADVANCE_MOST : TAC_ADVANCE_FAR); round++) {
        if (!(speed > 0))
            return 1;
        /* Where an edge becomes a million times as long, the advances alone would be too many. */
        if (round > 0 && stays_apart(n, first, at, x, move, near.n, radius + left + 2 * wrong))
            return 1;
        /* At most `gap - left` may be used up; a part of it, and on from there. */
        double step = (round == 0 ? gap - left : TAC_ADVANCE_PART * (gap - .5 * left)) / speed;
        const bool end = share + step >= 1;
        if (round == 0 && share + step >= enough) /* the first advance is safe without a look */
            return end ? 1 : share + step;
        if (end)
            step = 1 - share;
        if (!(share + step > share)) /* the direction is too long for any advance */
            return share;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                at[i][k] = x[i][k] + (share + step) * move[i][k];
        tac_near_pair(type, at, &near);
        gap = near.d - radius - wrong;
        if (!(gap > left))
            return round == 0 ? share + step : share;
        if (end)
            return 1;
        share += step;
        if (share >= enough)
            break;
        met = met || near.d - radius < most;
    }
    return share;
}
