/* tactus/accum.h against exact sums in GMP integers (units of 2^-1074). */
#include <check.h>
#include <tactus/accum.h>
#include <tactus/math.h>

#include <float.h>
#include <gmp.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t counter;
static double uniform(void)
{
    return tac_random(11, counter++);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* exact += value 2^1074. */
static void exact_add(mpz_t exact, double value)
{
    int e;
    double mantissa = frexp(value, &e) * 0x1p+53; /* value = mantissa 2^(e - 53) */
    int shift = e - 53 + 1074;
    if (shift < 0) { /* a subnormal has that many trailing zeros */
        mantissa = ldexp(mantissa, shift);
        shift = 0;
    }
    mpz_t term;
    mpz_init_set_d(term, mantissa);
    mpz_mul_2exp(term, term, (mp_bitcnt_t)shift);
    mpz_add(exact, exact, term);
    mpz_clear(term);
}

/* Nearest double, ties to even, from the definition: the neighbour whose exact distance is least. */
static double exact_value(const mpz_t exact)
{
    if (mpz_sgn(exact) == 0)
        return 0;
    size_t bits = mpz_sizeinbase(exact, 2);
    if (bits <= 53)
        return ldexp(mpz_get_d(exact), -1074);
    mpz_t size, head, rest, half;
    mpz_inits(size, head, rest, half, NULL);
    mpz_abs(size, exact);
    mpz_fdiv_q_2exp(head, size, bits - 53);
    mpz_fdiv_r_2exp(rest, size, bits - 53);
    mpz_ui_pow_ui(half, 2, bits - 54);
    int side = mpz_cmp(rest, half);
    if (side > 0 || (side == 0 && mpz_odd_p(head)))
        mpz_add_ui(head, head, 1);
    double value = ldexp(mpz_get_d(head), (int)bits - 53 - 1074);
    int sign = mpz_sgn(exact);
    mpz_clears(size, head, rest, half, NULL);
    return sign < 0 ? -value : value;
}

static double draw(int kind)
{
    double sign = uniform() < .5 ? -1 : 1, m = 1 + uniform();
    switch (kind % 7) {
    case 0: /* any exponent */
        return sign * ldexp(m, (int)(uniform() * 2046) - 1022);
    case 1: /* subnormals and the smallest normals */
        return sign * ldexp(m, (int)(uniform() * 60) - 1080);
    case 2: /* like energies */
        return sign * m * (uniform() < .1 ? 1e-9 : 1);
    case 3: /* few bits: ties are frequent */
        return sign * ldexp(1, (int)(uniform() * 56));
    case 4: /* the largest */
        return sign * DBL_MAX * (uniform() < .5 ? 1 : uniform());
    case 5: /* all of one sign */
        return m;
    default: /* zeros and units */
        return uniform() < .3 ? sign * 0. : sign * DBL_TRUE_MIN;
    }
}

static void test_against_exact(void)
{
    mpz_t exact;
    mpz_init(exact);
    int overflows = 0, zeros = 0, subnormals = 0;
    for (int trial = 0; trial < 14000; trial++) {
        double term[64];
        int count = (int)(uniform() * 64);
        for (int i = 0; i < count; i++)
            term[i] = draw(trial);
        for (int i = count / 2; trial % 3 == 1 && i < count; i++) /* cancellation, whole or all but one bit */
            term[i] = uniform() < .9 ? -term[i - count / 2] : nextafter(-term[i - count / 2], 0);
        struct tac_accum forward = {0}, backward = {0}, left = {0}, right = {0};
        mpz_set_ui(exact, 0);
        for (int i = 0; i < count; i++) {
            exact_add(exact, term[i]);
            tac_accum_add(&forward, term[i]);
            tac_accum_add(&backward, term[count - 1 - i]);
            tac_accum_add(i % 3 ? &left : &right, term[i]);
        }
        double want = exact_value(exact);
        overflows += isinf(want);
        zeros += want == 0;
        subnormals += want != 0 && fabs(want) < DBL_MIN;
        double have = tac_accum_value(&forward);
        CHECK(same_bits(have, want), "trial %d, %d terms: %a, exactly %a", trial, count, have, want);
        CHECK(same_bits(tac_accum_value(&forward), have), "reading changes nothing");
        CHECK(same_bits(tac_accum_value(&backward), want), "trial %d: order", trial);
        tac_accum_merge(&left, &right);
        CHECK(same_bits(tac_accum_value(&left), want), "trial %d: merge", trial);
        tac_accum_carry(&left);
        tac_accum_carry(&backward);
        CHECK(memcmp(&left, &backward, sizeof left) == 0, "trial %d: equal sums have equal bytes", trial);
        CHECK(same_bits(tac_accum_value(&left), want), "trial %d: carried", trial);
        tac_accum_merge(&left, &left); /* twice itself */
        CHECK(same_bits(tac_accum_value(&left), exact_value((mpz_mul_2exp(exact, exact, 1), exact))), "doubled");
    }
    CHECK(overflows > 20 && zeros > 50 && subnormals > 50, "%d %d %d", overflows, zeros, subnormals);
    mpz_clear(exact);
}

/* 1 + half an ulp and its neighbours, positive and negative, at every size. */
static void test_ties(void)
{
    for (int e = -1000; e <= 970; e++) {
        for (int odd = 0; odd < 2; odd++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                double base = sign * ldexp(1 + odd * DBL_EPSILON, e), half = sign * ldexp(1, e - 53);
                struct tac_accum a = {0};
                tac_accum_add(&a, base);
                tac_accum_add(&a, half);
                double up = sign * ldexp(1 + (odd + 1) * DBL_EPSILON, e);
                CHECK(tac_accum_value(&a) == (odd ? up : base), "a tie goes to even, 2^%d", e);
                tac_accum_add(&a, sign * DBL_TRUE_MIN);
                CHECK(tac_accum_value(&a) == up, "just over a tie, 2^%d", e);
                tac_accum_add(&a, -sign * 2 * DBL_TRUE_MIN);
                CHECK(tac_accum_value(&a) == base, "just under a tie, 2^%d", e);
            }
        }
    }
}

static void test_special(void)
{
    struct tac_accum a = {0};
    CHECK(same_bits(tac_accum_value(&a), 0.), "a sum of nothing is +0");
    tac_accum_add(&a, -0.);
    CHECK(same_bits(tac_accum_value(&a), 0.));
    tac_accum_add(&a, .1);
    tac_accum_add(&a, -.1);
    CHECK(same_bits(tac_accum_value(&a), 0.), "cancelled is +0");
    static const double bad[] = {INFINITY, -INFINITY, NAN};
    for (int i = 0; i < 3; i++) {
        struct tac_accum b = {0};
        tac_accum_add(&b, bad[i]);
        tac_accum_add(&b, 1);
        tac_accum_add(&b, -bad[i]);
        CHECK(isnan(tac_accum_value(&b)));
        struct tac_accum sum = {0};
        tac_accum_add(&sum, 2);
        tac_accum_merge(&sum, &b);
        CHECK(isnan(tac_accum_value(&sum)), "merged");
        CHECK(tac_accum_value(&a) == 0);
    }
    for (int sign = -1; sign <= 1; sign += 2) { /* past the largest double and back */
        struct tac_accum b = {0};
        for (int i = 0; i < 1000; i++)
            tac_accum_add(&b, sign * DBL_MAX);
        CHECK(tac_accum_value(&b) == sign * INFINITY);
        for (int i = 0; i < 999; i++)
            tac_accum_add(&b, -sign * DBL_MAX);
        CHECK(tac_accum_value(&b) == sign * DBL_MAX);
    }
}

/* Carries: 2^31 additions cannot be run here, but doubling by merging goes through all of them. */
static void test_many(void)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        double unit = sign * (2 - DBL_EPSILON);
        struct tac_accum a = {0};
        tac_accum_add(&a, unit);
        for (int n = 1; n <= 60; n++) {
            tac_accum_merge(&a, &a);
            CHECK(tac_accum_value(&a) == ldexp(unit, n), "2^%d terms", n);
        }
        a = (struct tac_accum){0};
        a.pending = (1 << 30) - 1000; /* as if so many zeros had been added */
        struct tac_accum b = a;
        for (int i = 0; i < 100000; i++)
            tac_accum_add(i % 2 ? &a : &b, unit);
        tac_accum_merge(&a, &b);
        tac_accum_merge(&b, &a);
        CHECK(tac_accum_value(&a) == unit * 100000 && tac_accum_value(&b) == unit * 150000, "at the carry");
    }
}

static void show_speed(void)
{
    enum { COUNT = 4096, REPEATS = 500 };
    static double term[COUNT];
    for (int i = 0; i < COUNT; i++)
        term[i] = draw(2);
    struct tac_accum a = {0};
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int r = 0; r < REPEATS; r++)
        for (int i = 0; i < COUNT; i++)
            tac_accum_add(&a, term[i]);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("tac_accum_add: %.2f ns (sum %g)\n", seconds / COUNT / REPEATS * 1e9, tac_accum_value(&a));
}

int main(void)
{
    test_against_exact();
    test_ties();
    test_special();
    test_many();
    show_speed();
    return check_result();
}
