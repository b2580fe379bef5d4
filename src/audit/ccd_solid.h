/* ccd_solid.h: declares what the parts of ccd.c share, for these files only.
 *
 * All four types are one problem.  The difference of two points, one of each primitive, is F(t, u, v), and it is affine
 * in each of the three: over a box it lies in the convex hull of its values at the box's eight corners (Ferguson 2023,
 * proposition 3.1).  Corner c of a box has t at its end if c & 4, u if c & 2, v if c & 1.  At the corners of the whole
 * domain these values are differences of vertices:
 *
 *     vertex-triangle   u = 0: p - a;  u = 1: p - b (v = 0), p - c (v = 1)
 *     edge-edge         a_u - b_v        vertex-edge   p - (u ? b : a)        vertex-vertex   p - q
 *
 * The triangle is a square one side of which is pressed into the corner a: weights 1 - u, u (1 - v), u v.  So no box of
 * (u, v) lies partly outside, as it does with weights 1 - u - v, u, v.
 */
#ifndef TACTUS_AUDIT_CCD_SOLID_H
#define TACTUS_AUDIT_CCD_SOLID_H

#include "audit/ccd.h"

enum { TAC_CCD_CORNERS = 8, TAC_CCD_T = 0, TAC_CCD_U = 1, TAC_CCD_V = 2 };

/* The corner's bit of parameter 0 (t), 1 (u), 2 (v). */
#define TAC_CCD_BIT(parameter) (4 >> (parameter))

/* Relative rounding, and what underflow can add anywhere: with the sizes of struct tac_ccd_problem, a sum of some
 * hundreds of products, each off by at most 2^-1075 times a factor under 2^300, would not reach it. */
#define TAC_CCD_UNIT 0x1p-53
#define TAC_CCD_TINY 0x1p-700

/* A query, scaled by a power of two: the largest difference is between 2^-100 and 2^100, so no product of three
 * overflows and underflow is far below everything that matters. */
struct tac_ccd_problem {
    const struct tac_ccd_query *query;
    double f[3][TAC_CCD_CORNERS]; /* coordinate, corner: rounded differences of vertices */
    double reach[3];              /* largest |f| of each coordinate: bounds every value of F and every error */
    bool flat[3];                 /* this coordinate is zero everywhere, before scaling too */
    double separation[2];         /* rounded down, rounded up */
    double tolerance;
    int parameters; /* t only: 1; t, u: 2; t, u, v: 3 */
};

/* The least and the greatest of eight, and of three. */
static inline double tac_ccd_least(const double f[TAC_CCD_CORNERS])
{
    double m[4];
    for (int c = 0; c < 4; c++)
        m[c] = f[c] < f[c + 4] ? f[c] : f[c + 4];
    double a = m[0] < m[2] ? m[0] : m[2], b = m[1] < m[3] ? m[1] : m[3];
    return a < b ? a : b;
}

static inline double tac_ccd_greatest(const double f[TAC_CCD_CORNERS])
{
    double m[4];
    for (int c = 0; c < 4; c++)
        m[c] = f[c] > f[c + 4] ? f[c] : f[c + 4];
    double a = m[0] > m[2] ? m[0] : m[2], b = m[1] > m[3] ? m[1] : m[3];
    return a > b ? a : b;
}

static inline double tac_ccd_largest_of(double a, double b, double c)
{
    double d = a > b ? a : b;
    return d > c ? d : c;
}

enum tac_ccd_look {
    TAC_CCD_FAR,        /* free: farther apart than the separation along an axis; nothing else is set */
    TAC_CCD_SAME,       /* all differences are zero */
    TAC_CCD_NO_NUMBERS, /* a coordinate is not finite, or the separation negative or no number */
    TAC_CCD_NEAR        /* none of these */
};

/* Local. Makes the query a problem, if that is called for. */
enum tac_ccd_look tac_ccd_look(const struct tac_ccd_query *query, struct tac_ccd_problem *problem);

/* Local. Proves that F has a zero near the parameters `guess`: Newton's method finds it, and Miranda's theorem on a
 * small box around shows that it is there.  t: an interval of time that has the zero.  False proves nothing. */
bool tac_ccd_prove_zero(const struct tac_ccd_problem *problem, const double guess[3], double t[2]);

/* Local. Returns whether the primitives touch at t = `end` (0 or 1), decided exactly. */
bool tac_ccd_touch_at(const struct tac_ccd_query *query, int end);

#endif
