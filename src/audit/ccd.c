/* ccd.c: continuous collision detection by inclusion: bisection of the domain of (t, u, v), breadth first
 * (docs/explanation/ccd.md; Ferguson 2023, chapter 3). */
#include "audit/ccd.h"

#include "audit/ccd_solid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

enum {
    CORNERS = TAC_CCD_CORNERS,
    DEEPEST = 48,    /* bisections of one parameter: its ends stay exact doubles, and so does 1 minus them */
    LATER = 1000,    /* boxes spent on proof and on the time once the answer cannot be FREE any more */
    STEPS = 4,       /* towards the hull's point nearest to the origin, per box */
    LAST_STEPS = 40, /* the same, before a box is left in doubt */
    FIRST_ENDS = 32, /* boxes after which the ends of time are looked at */
    TRIES = 100      /* to prove a zero, per query */
};

struct box {
    double f[3][CORNERS];
    uint64_t at[3]; /* lower end of each parameter, times 2^level */
    uint8_t level[3];
    uint8_t depth; /* sum of levels */
};

/* Bounds on rounding in the boxes of one depth, from the reach of the input.  A difference of vertices is off by u
 * times itself, at most u R; halving a sum adds at most u R to what its terms carry, since rounding is monotone and so
 * no value ever exceeds R.  So values are off by at most (depth + 1) u R; one more pays for second-order terms.  A dot
 * product with n adds three roundings of each term. */
struct filter {
    int depth;
    double value[3]; /* of coordinate k at a corner */
    double term[3];  /* times |n_k|: what coordinate k adds to the error of a dot product with n */
};

static void filter_at(struct filter *filter, const struct tac_ccd_problem *problem, int depth)
{
    filter->depth = depth;
    for (int k = 0; k < 3; k++) {
        filter->value[k] = (depth + 2) * TAC_CCD_UNIT * problem->reach[k] + TAC_CCD_TINY;
        filter->term[k] = (depth + 7) * TAC_CCD_UNIT * problem->reach[k] + TAC_CCD_TINY;
    }
}

/* Is the bounding box of the corners farther from the origin than the separation? */
static bool separated_along_axes(const struct tac_ccd_problem *problem, const struct filter *filter,
                                 const double f[3][CORNERS])
{
    double square = 0, separation = problem->separation[1];
    for (int k = 0; k < 3; k++) {
        double lo = tac_ccd_least(f[k]), hi = tac_ccd_greatest(f[k]), gap = (lo > -hi ? lo : -hi) - filter->value[k];
        /* value's own slack, u R at least, pays for the rounding of this difference */
        if (gap > separation)
            return true;
        if (gap > 0)
            square += gap * gap;
    }
    /* Rounding here is under 8 u; underflow of a square shrinks the left side or adds 2^-1074 to it. */
    return separation > 0 && square * (1 - 0x1p-48) > separation * separation * (1 + 0x1p-48) + TAC_CCD_TINY;
}

/* How far the corners reach along n: the nearest (which = that corner) and the farthest. */
static void range_along(const double f[3][CORNERS], const double n[3], double *lo, double *hi, int *which)
{
    double g[CORNERS];
    for (int c = 0; c < CORNERS; c++)
        g[c] = n[0] * f[0][c] + n[1] * f[1][c] + n[2] * f[2][c];
    *lo = tac_ccd_least(g);
    *hi = tac_ccd_greatest(g);
    for (int c = 0; which && c < CORNERS; c++)
        if (g[c] == *lo)
            *which = c;
}

/* What a dot product with n must exceed to prove that the distance exceeds the separation; n under 2^301. */
static double margin(const struct tac_ccd_problem *problem, const struct filter *filter, const double n[3])
{
    double error = fabs(n[0]) * filter->term[0] + fabs(n[1]) * filter->term[1] + fabs(n[2]) * filter->term[2], need = 0;
    if (problem->separation[1] > 0) /* an underflow in the square is under 2^-1072, its root under 2^-530 */
        need = problem->separation[1] * (sqrt(tac_dot(n, n)) * (1 + 0x1p-48) + 0x1p-530);
    return (error + need) * (1 + 0x1p-48) + TAC_CCD_TINY;
}

static bool separated_along(const struct tac_ccd_problem *problem, const struct filter *filter,
                            const double f[3][CORNERS], const double n[3])
{
    double lo, hi, need = margin(problem, filter, n);
    range_along(f, n, &lo, &hi, NULL);
    return lo > need || -hi > need;
}

/* Gilbert's steps towards the point of the hull nearest to the origin; the plane through each is tried. */
static bool separated_by_any_plane(const struct tac_ccd_problem *problem, const struct filter *filter,
                                   const double f[3][CORNERS], double n[3], int steps)
{
    for (int step = 0; step < steps; step++) {
        double lo, hi, toward[3], dot = 0, square = 0;
        int corner = 0;
        range_along(f, n, &lo, &hi, &corner);
        if (lo > margin(problem, filter, n))
            return true;
        for (int k = 0; k < 3; k++) {
            toward[k] = f[k][corner] - n[k];
            dot -= n[k] * toward[k];
            square += toward[k] * toward[k];
        }
        if (!(dot > 0) || !(square > 0))
            return false;
        double s = dot < square ? dot / square : 1;
        for (int k = 0; k < 3; k++)
            n[k] += s * toward[k];
    }
    return false;
}

/* Does a plane surely part the box's hull from the ball of the separation?  Tried are the normal of the primitives in
 * the box's middle, then planes perpendicular to the directions to the nearest point. */
static bool separated_along_planes(const struct tac_ccd_problem *problem, const struct filter *filter,
                                   const double f[3][CORNERS], int steps)
{
    double middle[3][4], n[3];
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 4; c++)
            middle[k][c] = f[k][c] + f[k][c + 4];
    if (problem->parameters == 3) {
        double du[3], dv[3];
        for (int k = 0; k < 3; k++) {
            du[k] = (middle[k][2] + middle[k][3]) - (middle[k][0] + middle[k][1]);
            dv[k] = (middle[k][1] + middle[k][3]) - (middle[k][0] + middle[k][2]);
        }
        tac_cross(n, du, dv);
        if (separated_along(problem, filter, f, n))
            return true;
    }
    for (int k = 0; k < 3; k++)
        n[k] = 0.125 * ((middle[k][0] + middle[k][1]) + (middle[k][2] + middle[k][3]));
    return separated_by_any_plane(problem, filter, f, n, steps);
}

/* The corner nearest to the origin is surely within the separation: its index, else -1. */
static int corner_within(const struct tac_ccd_problem *problem, const struct filter *filter, const double f[3][CORNERS])
{
    double separation = problem->separation[0];
    if (!(separation > 0))
        return -1;
    for (int c = 0; c < CORNERS; c++) {
        double square = 0;
        for (int k = 0; k < 3; k++) {
            double most = fabs(f[k][c]) + filter->value[k];
            square += most * most;
        }
        /* an underflow in the square is under 2^-1072 */
        if ((sqrt(square) + 0x1p-530) * (1 + 0x1p-48) <= separation)
            return c;
    }
    return -1;
}

/* ---- bisection ---- */

struct search {
    const struct tac_ccd_problem *problem;
    struct tac_ccd_scratch *scratch;
    size_t head, tail; /* boxes that wait: head..tail - 1 of the scratch, in order of depth */
    int64_t boxes, most;
    bool hit, doubt;
    double t_hit[2];   /* of a proof */
    double t_doubt[2]; /* of the earliest box that cannot be bisected further */
    double before;     /* boxes that begin later than a hit cannot change the answer; 2: no hit */
    bool ends_seen;
    int tries; /* to prove a zero */
};

static double begin_of(const struct box *box)
{
    return ldexp((double)box->at[TAC_CCD_T], -box->level[TAC_CCD_T]);
}

static double end_of(const struct box *box)
{
    return ldexp((double)(box->at[TAC_CCD_T] + 1), -box->level[TAC_CCD_T]);
}

/* Now it cannot be FREE any more. */
static void spend_less(struct search *search)
{
    if (!search->doubt && !search->hit && search->most - search->boxes > LATER)
        search->most = search->boxes + LATER;
}

static void add_doubt(struct search *search, double begin, double end)
{
    spend_less(search);
    if (!search->doubt || begin < search->t_doubt[0] || (begin == search->t_doubt[0] && end < search->t_doubt[1])) {
        search->t_doubt[0] = begin;
        search->t_doubt[1] = end;
    }
    search->doubt = true;
}

static void add_hit(struct search *search, double begin, double end)
{
    spend_less(search);
    search->hit = true;
    if (end < search->before) {
        search->before = end;
        search->t_hit[0] = begin;
        search->t_hit[1] = end;
    }
}

/* Exact tests at both ends of time, once. */
static void look_at_ends(struct search *search)
{
    if (search->ends_seen)
        return;
    search->ends_seen = true;
    for (int end = 0; end < 2 && !search->hit; end++)
        if (tac_ccd_touch_at(search->problem->query, end))
            add_hit(search, end, end);
}

static void seek_zero(struct search *search, const struct box *box)
{
    double guess[3], t[2];
    for (int i = 0; i < 3; i++)
        guess[i] = ldexp((double)box->at[i] + 0.5, -box->level[i]);
    if (!search->hit && search->tries++ < TRIES && tac_ccd_prove_zero(search->problem, guess, t))
        add_hit(search, t[0], t[1]);
}

/* How far a coordinate goes across the parameter of the bit. */
static inline double width_across(const double f[CORNERS], int bit)
{
    double width[4];
    for (int i = 0; i < 4; i++) {
        int c = (i & (bit - 1)) | (i & ~(bit - 1)) << 1; /* the corners without the bit */
        width[i] = fabs(f[c] - f[c | bit]);
    }
    double a = width[0] > width[1] ? width[0] : width[1], b = width[2] > width[3] ? width[2] : width[3];
    return a > b ? a : b;
}

/* The parameter whose bisection makes the box's image shrink most; -1: the image spans less than the tolerance, or no
 * more than rounding, in every direction. */
static int widest(const struct search *search, const struct filter *filter, const struct box *box)
{
    int best = -1;
    double most = 0;
    for (int i = 0; i < search->problem->parameters; i++)
        for (int k = 0; k < 3 && box->level[i] < DEEPEST; k++) {
            double width = width_across(box->f[k], TAC_CCD_BIT(i));
            if (width > most && width >= search->problem->tolerance && width > 4 * filter->value[k]) {
                most = width;
                best = i;
            }
        }
    return best;
}

/* The two halves of the box across parameter i, in order. */
static void bisect(const struct box *box, int i, struct box *low, struct box *high)
{
    int bit = TAC_CCD_BIT(i);
    *low = *high = *box;
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 4; j++) {
            int c = (j & (bit - 1)) | (j & ~(bit - 1)) << 1;
            double middle = 0.5 * (box->f[k][c] + box->f[k][c | bit]);
            low->f[k][c | bit] = high->f[k][c] = middle;
        }
    low->at[i] = 2 * box->at[i];
    high->at[i] = low->at[i] + 1;
    low->level[i] = high->level[i] = (uint8_t)(box->level[i] + 1);
    low->depth = high->depth = (uint8_t)(box->depth + 1);
}

/* Room for two more boxes at the tail. */
static enum tac_err make_room(struct tac_ctx *ctx, struct search *search)
{
    struct box *box = search->scratch->box;
    if (search->tail + 2 <= search->scratch->capacity)
        return TAC_OK;
    if (search->head > search->tail / 2) {
        memmove(box, box + search->head, (search->tail - search->head) * sizeof *box);
        search->tail -= search->head;
        search->head = 0;
    }
    return tac_grow(ctx, &search->scratch->box, &search->scratch->capacity, search->tail + 2, sizeof *box);
}

/* Looks at a box that is not apart: a proof of a hit, or a doubt, or two halves that wait. */
static enum tac_err look_into(struct tac_ctx *ctx, struct search *search, const struct filter *filter,
                              const struct box *box)
{
    double begin = begin_of(box), end = end_of(box);
    int i = widest(search, filter, box);
    if (i < 0 && separated_along_planes(search->problem, filter, box->f, LAST_STEPS))
        return TAC_OK;
    int corner = corner_within(search->problem, filter, box->f);
    if (corner >= 0) {
        double time = corner & TAC_CCD_BIT(TAC_CCD_T) ? end : begin;
        add_hit(search, time, time);
    }
    bool power = (search->boxes & (search->boxes - 1)) == 0;
    if (!search->hit && (i < 0 || (power && search->boxes >= 8)))
        seek_zero(search, box);
    if (search->boxes >= FIRST_ENDS)
        look_at_ends(search);
    if (search->hit && begin >= search->before)
        return TAC_OK;
    if (i < 0) {
        add_doubt(search, begin, end);
        return TAC_OK;
    }
    enum tac_err err = make_room(ctx, search);
    if (err)
        return err;
    struct box *waiting = (struct box *)search->scratch->box + search->tail;
    bisect(box, i, waiting, waiting + 1);
    search->tail += 2;
    return TAC_OK;
}

static enum tac_err search_boxes(struct tac_ctx *ctx, struct search *search, const struct box *root)
{
    struct filter filter;
    filter_at(&filter, search->problem, 0);
    enum tac_err err = look_into(ctx, search, &filter, root);
    while (err == TAC_OK && search->head < search->tail && search->boxes < search->most) {
        struct box box = ((struct box *)search->scratch->box)[search->head++];
        if (begin_of(&box) >= search->before)
            continue;
        if (box.depth != filter.depth)
            filter_at(&filter, search->problem, box.depth);
        search->boxes++;
        if (!separated_along_axes(search->problem, &filter, box.f) &&
            !separated_along_planes(search->problem, &filter, box.f, STEPS))
            err = look_into(ctx, search, &filter, &box);
    }
    return err;
}

/* What no box has ruled out is in doubt. */
static void settle(struct search *search, struct tac_ccd_result *result)
{
    const struct box *box = search->scratch->box;
    for (size_t i = search->head; i < search->tail; i++)
        if (begin_of(&box[i]) < search->before)
            add_doubt(search, begin_of(&box[i]), end_of(&box[i]));
    if (search->doubt)
        look_at_ends(search);
    result->boxes = search->boxes;
    if (!search->doubt && !search->hit)
        return;
    /* All that begins before the earliest doubt, or the hit, is proven free. */
    bool earlier = search->doubt && search->t_doubt[0] <= search->before;
    const double *t = earlier ? search->t_doubt : search->t_hit;
    result->answer = search->hit ? TAC_CCD_HIT : TAC_CCD_OPEN;
    result->t[0] = t[0];
    result->t[1] = t[1];
}

enum tac_err tac_ccd(struct tac_ctx *ctx, const struct tac_ccd_query *query, struct tac_ccd_scratch *scratch,
                     struct tac_ccd_result *result)
{
    struct tac_ccd_problem problem;
    struct filter filter;
    *result = (struct tac_ccd_result){TAC_CCD_FREE, {0, 1}, 1};
    switch (tac_ccd_look(query, &problem)) {
    case TAC_CCD_FAR:
        return TAC_OK;
    case TAC_CCD_SAME:
        result->answer = query->separation >= 0 ? TAC_CCD_HIT : TAC_CCD_OPEN;
        result->t[1] = 0;
        return TAC_OK;
    case TAC_CCD_NO_NUMBERS:
        result->answer = TAC_CCD_OPEN;
        return TAC_OK;
    case TAC_CCD_NEAR:
        break;
    }
    filter_at(&filter, &problem, 0);
    if ((query->separation > 0 && separated_along_axes(&problem, &filter, problem.f)) ||
        separated_along_planes(&problem, &filter, problem.f, STEPS))
        return TAC_OK;
    struct box root = {.level = {0, 0, 0}};
    memcpy(root.f, problem.f, sizeof root.f);
    struct search search = {
        .problem = &problem, .scratch = scratch, .boxes = 1, .most = query->most_boxes, .before = 2};
    enum tac_err err = search_boxes(ctx, &search, &root);
    if (err == TAC_OK)
        settle(&search, result);
    return err;
}

void tac_ccd_scratch_free(struct tac_ccd_scratch *scratch)
{
    free(scratch->box);
    *scratch = (struct tac_ccd_scratch){0};
}
