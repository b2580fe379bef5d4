/* rational.h: exact arithmetic in expressions, by GMP; values live in a pool until rational_clear(). */
#ifndef TACTUS_TESTS_RATIONAL_H
#define TACTUS_TESTS_RATIONAL_H

#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>

enum { RATIONAL_POOL = 1 << 16 };
typedef mpq_ptr rational;
struct vec {
    rational k[3];
};

static mpq_t rational_pool[RATIONAL_POOL];
static int rational_used, rational_made;

static inline rational fresh(void)
{
    if (rational_used == RATIONAL_POOL) {
        printf("rational.h: pool too small\n");
        exit(1);
    }
    if (rational_used == rational_made)
        mpq_init(rational_pool[rational_made++]);
    return rational_pool[rational_used++];
}

static inline void rational_clear(void)
{
    rational_used = 0;
}

static inline void rational_free(void)
{
    while (rational_made > 0)
        mpq_clear(rational_pool[--rational_made]);
    rational_used = 0;
}

#define RATIONAL_VERB(name, function)                                                                                  \
    static inline rational name(rational a, rational b)                                                                \
    {                                                                                                                  \
        rational out = fresh();                                                                                        \
        function(out, a, b);                                                                                           \
        return out;                                                                                                    \
    }
RATIONAL_VERB(q_add, mpq_add)
RATIONAL_VERB(q_sub, mpq_sub)
RATIONAL_VERB(q_mul, mpq_mul)
RATIONAL_VERB(q_div, mpq_div)

static inline rational q(double value)
{
    rational out = fresh();
    mpq_set_d(out, value);
    return out;
}

static inline rational q_min(rational a, rational b)
{
    return mpq_cmp(a, b) <= 0 ? a : b;
}

static inline struct vec v_from(const double x[3])
{
    return (struct vec){{q(x[0]), q(x[1]), q(x[2])}};
}

static inline struct vec v_sub(struct vec a, struct vec b)
{
    return (struct vec){{q_sub(a.k[0], b.k[0]), q_sub(a.k[1], b.k[1]), q_sub(a.k[2], b.k[2])}};
}

static inline struct vec v_along(struct vec a, struct vec direction, rational t)
{
    struct vec out;
    for (int k = 0; k < 3; k++)
        out.k[k] = q_add(a.k[k], q_mul(direction.k[k], t));
    return out;
}

static inline rational v_dot(struct vec a, struct vec b)
{
    return q_add(q_add(q_mul(a.k[0], b.k[0]), q_mul(a.k[1], b.k[1])), q_mul(a.k[2], b.k[2]));
}

static inline struct vec v_cross(struct vec a, struct vec b)
{
    struct vec out;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out.k[k] = q_sub(q_mul(a.k[i], b.k[j]), q_mul(a.k[j], b.k[i]));
    }
    return out;
}

/* Squared distances, exactly. */
static inline rational exact_vv(struct vec x, struct vec a)
{
    struct vec d = v_sub(x, a);
    return v_dot(d, d);
}

static inline rational exact_ve(struct vec x, struct vec a, struct vec b)
{
    struct vec e = v_sub(b, a);
    if (mpq_sgn(v_dot(e, e)) == 0)
        return exact_vv(x, a);
    rational t = q_div(v_dot(v_sub(x, a), e), v_dot(e, e));
    if (mpq_sgn(t) <= 0)
        return exact_vv(x, a);
    return mpq_cmp_ui(t, 1, 1) >= 0 ? exact_vv(x, b) : exact_vv(x, v_along(a, e, t));
}

static inline rational exact_vt(struct vec x, struct vec a, struct vec b, struct vec c)
{
    struct vec n = v_cross(v_sub(b, a), v_sub(c, a));
    struct vec corner[3] = {a, b, c};
    int inside = mpq_sgn(v_dot(n, n)) != 0;
    for (int k = 0; k < 3; k++) {
        struct vec side = v_cross(v_sub(corner[(k + 1) % 3], corner[k]), v_sub(x, corner[k]));
        inside = inside && mpq_sgn(v_dot(side, n)) >= 0;
    }
    if (inside) {
        rational height = v_dot(v_sub(x, a), n);
        return q_div(q_mul(height, height), v_dot(n, n));
    }
    return q_min(exact_ve(x, a, b), q_min(exact_ve(x, b, c), exact_ve(x, c, a)));
}

static inline rational exact_ee(struct vec p, struct vec r_end, struct vec r, struct vec s)
{
    struct vec u = v_sub(r_end, p), v = v_sub(s, r), n = v_cross(u, v), d = v_sub(r, p);
    rational area = v_dot(n, n);
    if (mpq_sgn(area) != 0) {
        rational t = q_div(v_dot(v_cross(d, v), n), area), w = q_div(v_dot(v_cross(d, u), n), area);
        if (mpq_sgn(t) >= 0 && mpq_cmp_ui(t, 1, 1) <= 0 && mpq_sgn(w) >= 0 && mpq_cmp_ui(w, 1, 1) <= 0)
            return exact_vv(v_along(p, u, t), v_along(r, v, w));
    }
    return q_min(q_min(exact_ve(p, r, s), exact_ve(r_end, r, s)), q_min(exact_ve(r, p, r_end), exact_ve(s, p, r_end)));
}

/* Does the open segment pq meet the inside of triangle abc in one point? */
static inline int exact_pierces(struct vec p, struct vec p_end, struct vec a, struct vec b, struct vec c)
{
    struct vec n = v_cross(v_sub(b, a), v_sub(c, a)), e = v_sub(p_end, p), corner[3] = {a, b, c};
    rational slope = v_dot(e, n);
    if (mpq_sgn(slope) == 0)
        return 0;
    rational t = q_div(v_dot(v_sub(a, p), n), slope);
    if (mpq_sgn(t) <= 0 || mpq_cmp_ui(t, 1, 1) >= 0)
        return 0;
    struct vec x = v_along(p, e, t);
    for (int k = 0; k < 3; k++)
        if (mpq_sgn(v_dot(v_cross(v_sub(corner[(k + 1) % 3], corner[k]), v_sub(x, corner[k])), n)) <= 0)
            return 0;
    return 1;
}

#endif
