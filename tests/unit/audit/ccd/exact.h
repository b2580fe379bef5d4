/* exact.h: the truth about a query of continuous collision detection, in whole numbers (GMP).
 *
 * With vertices in straight lines everything is a polynomial of time with whole coefficients (over a common power of
 * two).  Let t* be the first time at which the distance is not greater than the separation s.  Either t* = 0, or the
 * distance at t* is s exactly and was greater before.  The closest points at t* lie inside a feature of each primitive
 * (face, edge, vertex), and for that pair of features a polynomial P, "squared distance of the lines or planes less
 * s^2, times a square", is zero at t*, while polynomials that say "strictly inside" are positive.  So the answer is
 * yes if and only if for some pair of features, at t = 0 or 1, P <= 0 with all conditions positive, or P has a zero in
 * (0, 1) with all conditions positive.  For s = 0 the signed volume takes P's place for faces and crossing edges, the
 * common zeros of the vector whose square P is for the rest. If P vanishes at all times, the features had that distance
 * before t*, as long as they were inside: t* = 0.
 *
 * Some bisections with Descartes' rule of signs settle most of that.  What is left, multiple zeros and zeros of several
 * polynomials at once, is counted without isolating anything: the Sturm sequence of P and P' h counts
 * (zeros with h > 0) - (zeros with h < 0) [Tarski; Ben-Or, Kozen, Reif], whatever their multiplicity; the sum over all
 * products of the conditions' first and second powers is 2^n times the number of zeros where all n are positive.
 */
#ifndef TACTUS_TESTS_EXACT_H
#define TACTUS_TESTS_EXACT_H

#include "audit/ccd.h"

#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TERMS = 18,
    POOL = 1024,
    WORTHWHILE = 400 /* bits from which it pays to look for a common factor */
};

/* c[0] + c[1] t + ...; degree -1: zero. */
struct polynomial {
    int degree;
    mpz_t c[TERMS];
};
typedef struct polynomial *poly;
struct poly_vector {
    poly k[3];
};

static struct polynomial pool[POOL];
static int pool_used, pool_made;
static mpz_t exact_a, exact_b;
static int exact_bisections = 48; /* before Sturm sequences decide; 0 leaves nearly all to them */

static inline poly fresh_poly(void)
{
    if (pool_used == POOL) {
        printf("exact.h: pool too small\n");
        exit(1);
    }
    if (pool_made == 0)
        mpz_inits(exact_a, exact_b, NULL);
    poly out = &pool[pool_used++];
    if (pool_used > pool_made) {
        for (int i = 0; i < TERMS; i++)
            mpz_init(out->c[i]);
        pool_made++;
    }
    out->degree = -1;
    return out;
}

static inline void exact_free(void)
{
    if (pool_made > 0)
        mpz_clears(exact_a, exact_b, NULL);
    for (; pool_made > 0; pool_made--)
        for (int i = 0; i < TERMS; i++)
            mpz_clear(pool[pool_made - 1].c[i]);
}

static inline void settle_degree(poly p, int most)
{
    for (p->degree = most; p->degree >= 0 && mpz_sgn(p->c[p->degree]) == 0;)
        p->degree--;
}

/* a + sign * b */
static inline poly p_sum(poly a, poly b, int sign)
{
    poly out = fresh_poly();
    int most = a->degree > b->degree ? a->degree : b->degree;
    for (int i = 0; i <= most; i++) {
        mpz_set_si(out->c[i], 0);
        if (i <= a->degree)
            mpz_set(out->c[i], a->c[i]);
        if (i <= b->degree && sign > 0)
            mpz_add(out->c[i], out->c[i], b->c[i]);
        if (i <= b->degree && sign < 0)
            mpz_sub(out->c[i], out->c[i], b->c[i]);
    }
    settle_degree(out, most);
    return out;
}

static inline poly p_add(poly a, poly b)
{
    return p_sum(a, b, 1);
}

static inline poly p_sub(poly a, poly b)
{
    return p_sum(a, b, -1);
}

static inline poly p_mul(poly a, poly b)
{
    poly out = fresh_poly();
    if (a->degree < 0 || b->degree < 0)
        return out;
    if (a->degree + b->degree >= TERMS) {
        printf("exact.h: degree too high\n");
        exit(1);
    }
    for (int i = 0; i <= a->degree + b->degree; i++)
        mpz_set_si(out->c[i], 0);
    for (int i = 0; i <= a->degree; i++)
        for (int j = 0; j <= b->degree; j++)
            mpz_addmul(out->c[i + j], a->c[i], b->c[j]);
    out->degree = a->degree + b->degree;
    return out;
}

static inline struct poly_vector pv_sub(struct poly_vector a, struct poly_vector b)
{
    return (struct poly_vector){{p_sub(a.k[0], b.k[0]), p_sub(a.k[1], b.k[1]), p_sub(a.k[2], b.k[2])}};
}

static inline poly pv_dot(struct poly_vector a, struct poly_vector b)
{
    return p_add(p_add(p_mul(a.k[0], b.k[0]), p_mul(a.k[1], b.k[1])), p_mul(a.k[2], b.k[2]));
}

static inline struct poly_vector pv_cross(struct poly_vector a, struct poly_vector b)
{
    struct poly_vector out;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out.k[k] = p_sub(p_mul(a.k[i], b.k[j]), p_mul(a.k[j], b.k[i]));
    }
    return out;
}

/* Divides by the positive common factor of the coefficients. */
static inline void make_primitive(poly p)
{
    if (p->degree < 0 || mpz_sizeinbase(p->c[p->degree], 2) < WORTHWHILE)
        return;
    mpz_abs(exact_a, p->c[0]);
    for (int i = 1; i <= p->degree && mpz_cmp_ui(exact_a, 1) != 0; i++)
        mpz_gcd(exact_a, exact_a, p->c[i]);
    if (mpz_cmp_ui(exact_a, 1) > 0)
        for (int i = 0; i <= p->degree; i++)
            mpz_divexact(p->c[i], p->c[i], exact_a);
}

/* The remainder of a by b, times something positive. */
static inline poly p_remainder(poly a, poly b)
{
    poly out = p_sum(a, b, 0);
    while (out->degree >= b->degree) {
        int shift = out->degree - b->degree, negative = mpz_sgn(b->c[b->degree]) < 0;
        mpz_set(exact_a, out->c[out->degree]);
        mpz_abs(exact_b, b->c[b->degree]);
        for (int i = 0; i <= out->degree; i++)
            mpz_mul(out->c[i], out->c[i], exact_b);
        for (int i = 0; i <= b->degree; i++) {
            if (negative)
                mpz_addmul(out->c[i + shift], exact_a, b->c[i]);
            else
                mpz_submul(out->c[i + shift], exact_a, b->c[i]);
        }
        settle_degree(out, out->degree);
    }
    make_primitive(out);
    return out;
}

static inline int sign_at(poly p, int end)
{
    if (p->degree < 0)
        return 0;
    mpz_set(exact_a, p->c[0]);
    for (int i = 1; end && i <= p->degree; i++)
        mpz_add(exact_a, exact_a, p->c[i]);
    return mpz_sgn(exact_a);
}

/* Removes the zeros at 0 and 1. */
static inline poly without_ends(poly p)
{
    poly out = p_sum(p, p, 0);
    while (sign_at(out, 0) == 0) {
        for (int i = 0; i < out->degree; i++)
            mpz_swap(out->c[i], out->c[i + 1]);
        out->degree--;
    }
    while (sign_at(out, 1) == 0) { /* p = (t - 1) q: q_i = p_(i+1) + q_(i+1) */
        for (int i = out->degree - 1; i >= 1; i--)
            mpz_add(out->c[i], out->c[i], out->c[i + 1]);
        for (int i = 0; i < out->degree; i++)
            mpz_swap(out->c[i], out->c[i + 1]);
        out->degree--;
    }
    return out;
}

static inline poly derivative(poly p)
{
    poly out = fresh_poly();
    for (int i = 1; i <= p->degree; i++)
        mpz_mul_ui(out->c[i - 1], p->c[i], (unsigned long)i);
    out->degree = p->degree - 1;
    return out;
}

/* The polynomial whose zeros are the common ones of three. */
static inline poly p_common(struct poly_vector v)
{
    poly a = v.k[0];
    for (int k = 1; k < 3; k++) {
        poly b = v.k[k];
        while (b->degree >= 0) {
            poly next = p_remainder(a, b);
            a = b;
            b = next;
        }
    }
    return a;
}

/* Zeros of p in (0, 1) where h is positive, less those where it is negative; p(0), p(1) are not zero. */
static inline int tarski(poly p, poly h)
{
    int used = pool_used, changes = 0, last[2] = {sign_at(p, 0), sign_at(p, 1)};
    poly a = p, b = p_remainder(p_mul(derivative(p), h), p);
    while (b->degree >= 0) {
        for (int end = 0; end < 2; end++) {
            int sign = sign_at(b, end);
            if (sign != 0 && sign != last[end])
                changes += end ? -1 : 1;
            last[end] = sign != 0 ? sign : last[end];
        }
        poly next = p_remainder(a, b);
        for (int i = 0; i <= next->degree; i++)
            mpz_neg(next->c[i], next->c[i]);
        a = b;
        b = next;
    }
    pool_used = used;
    return changes;
}

/* p(x + 1) */
static inline void shift_by_one(poly p)
{
    for (int i = 0; i < p->degree; i++)
        for (int j = p->degree - 1; j >= i; j--)
            mpz_add(p->c[j], p->c[j], p->c[j + 1]);
}

/* Descartes' rule for (0, 1): changes of sign among the coefficients of (1 + x)^n p(1 / (1 + x)).  As many zeros there,
 * or fewer by an even number.  *sign: of p in (0, 1), if there are none. */
static inline int sign_changes(poly p, int *sign)
{
    int used = pool_used, changes = 0, last = 0;
    poly q = p_sum(p, p, 0);
    for (int i = 0; i <= p->degree; i++)
        mpz_set(q->c[i], p->c[p->degree - i]);
    shift_by_one(q);
    for (int i = 0; i <= p->degree; i++) {
        int own = mpz_sgn(q->c[i]);
        changes += own * last < 0;
        last = own != 0 ? own : last;
    }
    *sign = last;
    pool_used = used;
    return changes;
}

/* 2^n p(x / 2) or 2^n p((x + 1) / 2) */
static inline poly half_of(poly p, int upper)
{
    poly out = p_sum(p, p, 0);
    for (int i = 0; i <= p->degree; i++)
        mpz_mul_2exp(out->c[i], out->c[i], (mp_bitcnt_t)(p->degree - i));
    if (upper)
        shift_by_one(out);
    return out;
}

/* Has p a zero in (0, 1) with all conditions positive?  By bisection and Descartes' rule: 1, 0, or -1: not known. */
static inline int zero_by_bisection(poly p, poly *condition, int count, int depth)
{
    int sign, open = 0, answer = 0, used = pool_used;
    for (int i = 0; i < count; i++) {
        if (sign_changes(condition[i], &sign) > 0)
            open = 1;
        else if (sign <= 0)
            return 0;
    }
    int changes = sign_changes(p, &sign);
    if (changes == 0)
        return 0;
    if (!open && changes % 2 == 1)
        return 1;
    if (depth == 0)
        return -1;
    for (int upper = 0; upper < 2 && answer != 1; upper++) {
        poly half = half_of(p, upper), halves[4];
        int all = upper == 1 && sign_at(half, 0) == 0;
        for (int i = 0; i < count; i++) {
            halves[i] = half_of(condition[i], upper);
            all = all && sign_at(halves[i], 0) > 0;
        }
        int part = all ? 1 : zero_by_bisection(half, halves, count, depth - 1);
        answer = part == 0 ? answer : part;
        pool_used = used;
    }
    return answer;
}

/* Is there a time in [0, 1] at which p is zero (at the ends: or negative, if `below`) and all conditions positive? */
static inline int zero_with(poly p, int below, poly *condition, int count)
{
    for (int end = 0; end < 2; end++) {
        int sign = sign_at(p, end), all = sign == 0 || (below && sign < 0);
        for (int i = 0; i < count && all; i++)
            all = sign_at(condition[i], end) > 0;
        if (all)
            return 1;
    }
    if (p->degree < 1)
        return 0;
    int quick = zero_by_bisection(p, condition, count, exact_bisections);
    if (quick >= 0)
        return quick;
    p = without_ends(p);
    make_primitive(p);
    poly one = fresh_poly();
    one->degree = 0;
    mpz_set_ui(one->c[0], 1);
    if (p->degree < 1 || tarski(p, one) == 0)
        return 0;
    poly reduced[4];
    for (int i = 0; i < count; i++)
        reduced[i] = p_remainder(condition[i], p);
    int sum = 0;
    for (int powers = 0; powers < 1 << count; powers++) {
        poly product = one;
        for (int i = 0; i < count; i++) {
            product = p_remainder(p_mul(product, reduced[i]), p);
            if (powers >> i & 1)
                product = p_remainder(p_mul(product, reduced[i]), p);
        }
        sum += tarski(p, product);
    }
    return sum > 0;
}

/* ---- features ---- */

struct exact {
    struct poly_vector x[4];
    poly separation2;
};

static inline int exact_meet_vv(const struct exact *exact, int p, int q)
{
    int used = pool_used;
    struct poly_vector d = pv_sub(exact->x[p], exact->x[q]);
    int yes = exact->separation2->degree < 0 ? zero_with(p_common(d), 0, NULL, 0)
                                             : zero_with(p_sub(pv_dot(d, d), exact->separation2), 1, NULL, 0);
    pool_used = used;
    return yes;
}

/* Inside of edge ab only. */
static inline int exact_meet_ve(const struct exact *exact, int p, int a, int b)
{
    int used = pool_used;
    struct poly_vector d = pv_sub(exact->x[p], exact->x[a]), e = pv_sub(exact->x[b], exact->x[a]), n = pv_cross(e, d);
    poly along = pv_dot(d, e), length2 = pv_dot(e, e);
    poly inside = p_mul(along, p_sub(length2, along)); /* length2 >= 0: positive only if both are */
    int yes = exact->separation2->degree < 0
                  ? zero_with(p_common(n), 0, &inside, 1)
                  : zero_with(p_sub(pv_dot(n, n), p_mul(exact->separation2, length2)), 1, &inside, 1);
    pool_used = used;
    return yes;
}

/* Distance of planes or lines: volume^2 <= s^2 n.n */
static inline int exact_meet_plane(const struct exact *exact, poly volume, struct poly_vector n, poly *inside,
                                   int count)
{
    if (exact->separation2->degree < 0)
        return zero_with(volume, 0, inside, count);
    return zero_with(p_sub(p_mul(volume, volume), p_mul(exact->separation2, pv_dot(n, n))), 1, inside, count);
}

static inline int exact_meet_vt(const struct exact *exact)
{
    int used = pool_used;
    const struct poly_vector *x = exact->x;
    struct poly_vector n = pv_cross(pv_sub(x[2], x[1]), pv_sub(x[3], x[1]));
    poly inside[3];
    for (int i = 0; i < 3; i++) {
        struct poly_vector a = x[1 + i], b = x[1 + (i + 1) % 3];
        inside[i] = pv_dot(pv_cross(pv_sub(b, a), pv_sub(x[0], a)), n);
    }
    int yes = exact_meet_plane(exact, pv_dot(pv_sub(x[0], x[1]), n), n, inside, 3);
    pool_used = used;
    return yes;
}

static inline int exact_meet_ee(const struct exact *exact)
{
    int used = pool_used;
    const struct poly_vector *x = exact->x;
    struct poly_vector u = pv_sub(x[1], x[0]), v = pv_sub(x[3], x[2]), d = pv_sub(x[2], x[0]), n = pv_cross(u, v);
    poly area2 = pv_dot(n, n), inside[2];
    for (int i = 0; i < 2; i++) {
        poly at = pv_dot(pv_cross(d, i ? u : v), n);
        inside[i] = p_mul(at, p_sub(area2, at));
    }
    int yes = exact_meet_plane(exact, pv_dot(d, n), n, inside, 2);
    pool_used = used;
    return yes;
}

static inline int exact_meet(const struct exact *exact, enum tac_ccd_type type)
{
    int yes = 0;
    switch (type) {
    case TAC_CCD_VERTEX_TRIANGLE:
        for (int i = 0; i < 3; i++)
            yes = yes || exact_meet_vv(exact, 0, 1 + i) || exact_meet_ve(exact, 0, 1 + i, 1 + (i + 1) % 3);
        return yes || exact_meet_vt(exact);
    case TAC_CCD_EDGE_EDGE:
        for (int i = 0; i < 2; i++)
            yes = yes || exact_meet_vv(exact, i, 2) || exact_meet_vv(exact, i, 3) || exact_meet_ve(exact, i, 2, 3) ||
                  exact_meet_ve(exact, 2 + i, 0, 1);
        return yes || exact_meet_ee(exact);
    case TAC_CCD_VERTEX_EDGE:
        return exact_meet_vv(exact, 0, 1) || exact_meet_vv(exact, 0, 2) || exact_meet_ve(exact, 0, 1, 2);
    default:
        return exact_meet_vv(exact, 0, 1);
    }
}

/* ---- the query ---- */

static inline int lowest_bit(double x)
{
    int exponent;
    if (x == 0)
        return 1 << 20;
    frexp(x, &exponent);
    return exponent - 53 < -1074 ? -1074 : exponent - 53;
}

/* out = x / 2^exponent, whole */
static inline void whole(mpz_t out, double x, int exponent)
{
    if (x == 0) {
        mpz_set_si(out, 0);
        return;
    }
    int own = lowest_bit(x);
    mpz_set_d(out, ldexp(x, -own));
    mpz_mul_2exp(out, out, (mp_bitcnt_t)(own - exponent));
}

/* Does the distance of the query's primitives fall to its separation or under at some time in [0, until]? */
static inline int exact_ccd(const struct tac_ccd_query *query, double until)
{
    static const int vertices[TAC_CCD_TYPES] = {4, 4, 3, 2};
    int count = vertices[query->type], exponent = lowest_bit(query->separation), used = pool_used;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            int a = lowest_bit(query->x0[i][k]), b = lowest_bit(query->x1[i][k]);
            exponent = a < exponent ? a : exponent;
            exponent = b < exponent ? b : exponent;
        }
    if (exponent == 1 << 20)
        return 1; /* all zero */
    /* Lengths are counted in 2^(exponent + own), time runs from 0 to 1 while the query's runs to `until`. */
    int own = lowest_bit(until);
    own = own < 0 ? own : 0;
    struct exact exact;
    poly factor = fresh_poly();
    whole(factor->c[0], until, own);
    factor->degree = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            poly x = exact.x[i].k[k] = fresh_poly();
            whole(x->c[0], query->x0[i][k], exponent);
            whole(x->c[1], query->x1[i][k], exponent);
            mpz_sub(x->c[1], x->c[1], x->c[0]);
            mpz_mul(x->c[1], x->c[1], factor->c[0]);
            mpz_mul_2exp(x->c[0], x->c[0], (mp_bitcnt_t)-own);
            settle_degree(x, 1);
        }
    exact.separation2 = fresh_poly();
    whole(exact.separation2->c[0], query->separation, exponent + own);
    mpz_mul(exact.separation2->c[0], exact.separation2->c[0], exact.separation2->c[0]);
    settle_degree(exact.separation2, 0);
    int yes = exact_meet(&exact, query->type);
    pool_used = used;
    return yes;
}

#endif
