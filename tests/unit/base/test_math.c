/* tactus/math.h against long double: accuracy over dense and random ranges, symmetries, special values, rotations,
 * random numbers. Prints the largest error of each function in units in the last place. */
#include <check.h>
#include <tactus/math.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define RANDOM 200000

static uint64_t counter;
static double uniform(double low, double high)
{
    return low + (high - low) * tac_random(7, counter++);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* |value - exact| in units in the last place of exact. */
static double ulps(double value, long double exact)
{
    if (isinf(value) || fabsl(exact) > DBL_MAX)
        return isinf(value) && fabsl(exact) > DBL_MAX * (1 - 0x1p-53L) && (value > 0) == (exact > 0) ? 0 : 1e300;
    int e;
    frexpl(exact, &e);
    if (e < -1021)
        e = -1021;
    return (double)(fabsl((long double)value - exact) / ldexpl(1, e - 53));
}

struct worst {
    const char *name;
    double bound, error, x, y;
};

static void note(struct worst *w, double value, long double exact, double x, double y)
{
    double error = ulps(value, exact);
    if (!(error <= w->error)) {
        w->error = error;
        w->x = x;
        w->y = y;
    }
}

static void report(const struct worst *w)
{
    printf("%-28s worst %.4f ulp at (%.17g, %.17g)\n", w->name, w->error, w->x, w->y);
    CHECK(w->error <= w->bound, "%s: %g ulp at (%.17g, %.17g)", w->name, w->error, w->x, w->y);
}

static void one_angle(struct worst *s, struct worst *c, double x)
{
    note(s, tac_sin(x), sinl(x), x, 0);
    note(c, tac_cos(x), cosl(x), x, 0);
    CHECK(same_bits(tac_sin(-x), -tac_sin(x)), "sin is odd at %.17g", x);
    CHECK(same_bits(tac_cos(-x), tac_cos(x)), "cos is even at %.17g", x);
}

static void test_sin_cos(void)
{
    struct worst s = {"sin, to 100", .9, 0, 0, 0}, c = {"cos, to 100", .9, 0, 0, 0};
    for (int i = 0; i <= RANDOM; i++)
        one_angle(&s, &c, i * (100. / RANDOM));
    for (int i = 0; i < RANDOM; i++)
        one_angle(&s, &c, uniform(0, 7));
    report(&s), report(&c);
    s = (struct worst){"sin, near k pi/2", .9, 0, 0, 0}, c = (struct worst){"cos, near k pi/2", .9, 0, 0, 0};
    for (int k = 0; k < 700000; k += k < 2000 ? 1 : 37) {
        double x = k * (TAC_PI / 2);
        one_angle(&s, &c, x);
        one_angle(&s, &c, nextafter(x, 0));
        one_angle(&s, &c, x * (1 + 0x1p-40));
    }
    report(&s), report(&c);
    s = (struct worst){"sin, any size", .9, 0, 0, 0}, c = (struct worst){"cos, any size", .9, 0, 0, 0};
    for (int i = 0; i < RANDOM; i++)
        one_angle(&s, &c, ldexp(uniform(1, 2), (int)uniform(-1074, 1024)));
    for (int i = 0; i < RANDOM; i++) /* where the two reductions meet */
        one_angle(&s, &c, ldexp(uniform(1, 2), (int)uniform(15, 60)));
    for (int e = 0; e < 1000; e++) { /* close to a multiple of pi/2 at every size */
        long double k = floorl(ldexpl(uniform(1, 2), e < 50 ? e : 50));
        one_angle(&s, &c, (double)(k * 1.57079632679489661923L));
        one_angle(&s, &c, ldexp(1, e));
    }
    one_angle(&s, &c, 6381956970095103. * 0x1p+797); /* the double nearest to a multiple of pi/2 */
    one_angle(&s, &c, DBL_MAX);
    report(&s), report(&c);
    CHECK(same_bits(tac_sin(0.), 0.) && same_bits(tac_sin(-0.), -0.) && tac_cos(0) == 1 && tac_cos(-0.) == 1);
    CHECK(isnan(tac_sin(INFINITY)) && isnan(tac_cos(-INFINITY)) && isnan(tac_sin(NAN)) && isnan(tac_cos(NAN)));
    CHECK(tac_sin(TAC_PI / 2) == 1 && tac_cos(TAC_PI) == -1 && same_bits(tac_sin(DBL_TRUE_MIN), DBL_TRUE_MIN));
}

static void one_direction(struct worst *w, double y, double x)
{
    double value = tac_atan2(y, x);
    note(w, value, atan2l(y, x), y, x);
    CHECK(same_bits(tac_atan2(-y, x), -value), "atan2 is odd at (%.17g, %.17g)", y, x);
    CHECK(fabs(value) <= TAC_PI, "atan2 within pi at (%.17g, %.17g)", y, x);
}

static void test_inverse(void)
{
    struct worst a = {"atan2", 2, 0, 0, 0}, b = {"atan2, any size", 2, 0, 0, 0}, c = {"acos", 3, 0, 0, 0};
    for (int i = 0; i < RANDOM; i++) {
        double angle = i * (2 * TAC_PI / RANDOM), r = uniform(.1, 10);
        one_direction(&a, r * sin(angle), r * cos(angle));
        one_direction(&a, uniform(-1, 1), uniform(-1, 1));
        one_direction(&b, copysign(ldexp(uniform(1, 2), (int)uniform(-1074, 1024)), uniform(-1, 1)),
                      copysign(ldexp(uniform(1, 2), (int)uniform(-1074, 1024)), uniform(-1, 1)));
    }
    for (int k = 0; k <= 16; k++) /* where the table's entry changes */
        for (int step = -2000; step <= 2000; step++)
            one_direction(&a, (k / 16. + step * 0x1p-50) * 3, 3);
    report(&a), report(&b);
    CHECK(tac_atan2(0, 0) == 0 && tac_atan2(0, -0.) == 0 && same_bits(tac_atan2(0, 1), 0.));
    CHECK(tac_atan2(0, -1) == TAC_PI && tac_atan2(-0., -1) == -TAC_PI && tac_atan2(1, 0) == TAC_PI / 2);
    CHECK(tac_atan2(1, 1) == TAC_PI / 4 && tac_atan2(INFINITY, INFINITY) == TAC_PI / 4);
    CHECK(tac_atan2(INFINITY, 3) == TAC_PI / 2 && tac_atan2(3, INFINITY) == 0 && tac_atan2(3, -INFINITY) == TAC_PI);
    CHECK(isnan(tac_atan2(NAN, 1)) && isnan(tac_atan2(1, NAN)) && isnan(tac_atan2(NAN, INFINITY)));
    for (int i = 0; i <= RANDOM; i++) {
        double x = -1 + i * (2. / RANDOM), near = 1 - ldexp(uniform(1, 2), -(int)uniform(1, 54));
        note(&c, tac_acos(x), acosl(x), x, 0);
        note(&c, tac_acos(near), acosl(near), near, 0);
        note(&c, tac_acos(-near), acosl(-near), -near, 0);
    }
    report(&c);
    CHECK(tac_acos(1) == 0 && tac_acos(-1) == TAC_PI && tac_acos(0) == TAC_PI / 2);
    CHECK(tac_acos(1.5) == 0 && tac_acos(-INFINITY) == TAC_PI && isnan(tac_acos(NAN)));
}

static void test_exp_log(void)
{
    struct worst e = {"exp", .52, 0, 0, 0}, tiny = {"exp, subnormal", 1.01, 0, 0, 0}, l = {"log", .52, 0, 0, 0};
    for (int i = 0; i < RANDOM; i++) {
        double x = uniform(-708, 710), small = ldexp(uniform(-2, 2), (int)uniform(-80, 2));
        note(&e, tac_exp(x), expl(x), x, 0);
        note(&e, tac_exp(small), expl(small), small, 0);
        double below = uniform(-746, -708);
        note(&tiny, tac_exp(below), expl(below), below, 0);
        double any = ldexp(uniform(1, 2), (int)uniform(-1074, 1024)), near = uniform(.5, 2), one = 1 + small / 8;
        note(&l, tac_log(any), logl(any), any, 0);
        note(&l, tac_log(near), logl(near), near, 0);
        note(&l, tac_log(one), logl(one), one, 0);
    }
    report(&e), report(&tiny), report(&l);
    CHECK(tac_exp(0) == 1 && tac_exp(INFINITY) == INFINITY && tac_exp(-INFINITY) == 0 && isnan(tac_exp(NAN)));
    CHECK(tac_exp(709.78) < INFINITY && tac_exp(709.79) == INFINITY && tac_exp(1e300) == INFINITY);
    CHECK(tac_exp(-1e300) == 0 && tac_exp(-745) == DBL_TRUE_MIN && tac_exp(-746) == 0);
    CHECK(same_bits(tac_log(1), 0.) && tac_log(0) == -INFINITY && isnan(tac_log(-1)) && isnan(tac_log(NAN)));
    CHECK(tac_log(INFINITY) == INFINITY);
}

static void test_pow(void)
{
    struct worst w = {"pow", .6, 0, 0, 0}, eta = {"pow(l, -1/4), pow(l, 3)", .52, 0, 0, 0};
    for (int i = 0; i < RANDOM; i++) {
        double base = ldexp(uniform(1, 2), (int)uniform(-1022, 1024)), limit = 707 / fabs(log(base));
        double exponent = uniform(-limit, limit);
        note(&w, tac_pow(base, exponent), powl(base, exponent), base, exponent);
        base = uniform(.5, 2);
        exponent = ldexp(uniform(-2, 2), (int)uniform(-20, 8));
        note(&w, tac_pow(base, exponent), powl(base, exponent), base, exponent);
    }
    for (int layer = 1; layer <= 20000; layer++) {
        note(&eta, tac_pow(layer, -.25), 1 / sqrtl(sqrtl(layer)), layer, -.25);
        CHECK(tac_pow(layer, 3) == (double)layer * layer * layer, "exact cube of %d", layer);
        CHECK(tac_pow(layer, 1) == layer && tac_pow((double)layer * layer, .5) == layer, "exact root of %d^2", layer);
        double any = uniform(0, 1e6);
        CHECK(tac_pow(1, any) == 1 && tac_pow(any + 1e-9, 0) == 1 && tac_pow(1, -any) == 1);
    }
    report(&w), report(&eta);
    for (int e = -1074; e < 1024; e++)
        CHECK(tac_pow(2, e) == ldexp(1, e), "exact 2^%d", e);
    CHECK(tac_pow(10, 400) == INFINITY && tac_pow(10, -400) == 0 && tac_pow(.5, 1e300) == 0);
    CHECK(tac_pow(2, 1e-300) == 1 && tac_pow(1 + DBL_EPSILON, 1e300) == INFINITY && tac_pow(1, NAN) == 1);
    CHECK(tac_pow(0, 2) == 0 && tac_pow(0, -2) == INFINITY && tac_pow(INFINITY, -1) == 0);
    CHECK(isnan(tac_pow(-2, 2)) && isnan(tac_pow(2, NAN)) && isnan(tac_pow(NAN, 2)));
}

static void test_rotation(void)
{
    double worst = 0, matrix[9], zero[3] = {0, -0., 0};
    tac_rotation(zero, matrix);
    for (int i = 0; i < 9; i++)
        CHECK(same_bits(matrix[i], i % 4 == 0 ? 1. : 0.), "identity");
    for (int n = 0; n < RANDOM / 4; n++) {
        int size = n % 2 ? (int)uniform(-3, 4) : (int)uniform(-1074, 12);
        double v[3] = {ldexp(uniform(-1, 1), size), ldexp(uniform(-1, 1), size), ldexp(uniform(-1, 1), size)};
        tac_rotation(v, matrix);
        double error = 0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                error = fmax(error, fabs(tac_dot(matrix + 3 * i, matrix + 3 * j) - (i == j)));
        double cross[3], back[3] = {tac_dot(matrix, v), tac_dot(matrix + 3, v), tac_dot(matrix + 6, v)};
        tac_cross(cross, matrix, matrix + 3);
        for (int i = 0; i < 3; i++) {
            error = fmax(error, fabs(cross[i] - matrix[6 + i]));                               /* right-handed */
            error = fmax(error, fabs(back[i] - v[i]) / ldexp(1, size < -1020 ? -1020 : size)); /* keeps its axis */
        }
        /* The angle, from the trace and the antisymmetric part, in long double. */
        long double angle = sqrtl((long double)v[0] * v[0] + (long double)v[1] * v[1] + (long double)v[2] * v[2]);
        if (size > -500 && size < 4) {
            error = fmax(error, (double)fabsl((matrix[0] + matrix[4] + matrix[8] - 1) / 2 - cosl(angle)));
            error = fmax(error, (double)fabsl((matrix[7] - matrix[5]) / 2 - sinl(angle) / angle * v[0]));
            error = fmax(error, (double)fabsl((matrix[2] - matrix[6]) / 2 - sinl(angle) / angle * v[1]));
            error = fmax(error, (double)fabsl((matrix[3] - matrix[1]) / 2 - sinl(angle) / angle * v[2]));
        }
        worst = fmax(worst, error);
    }
    printf("%-28s worst %.2g\n", "rotation", worst);
    CHECK(worst < 8 * DBL_EPSILON * 2, "rotation's error %g", worst);
    double quarter[3] = {0, TAC_PI / 2, 0};
    tac_rotation(quarter, matrix);
    static const double exact[9] = {0, 0, 1, 0, 1, 0, -1, 0, 0}; /* about y: z -> x */
    for (int i = 0; i < 9; i++)
        CHECK(fabs(matrix[i] - exact[i]) <= DBL_EPSILON, "entry %d of a quarter turn is %.17g", i, matrix[i]);
}

static void test_random(void)
{
    /* SplitMix64's published first outputs from state 0; seed 0 mixes to 0. */
    CHECK(tac_hash64(0, 0) == UINT64_C(0xe220a8397b1dcdaf) && tac_hash64(0, 1) == UINT64_C(0x6e789e6aa1b965f4));
    enum { BINS = 64, DRAWS = 1 << 18 };
    int bin[BINS] = {0}, pair[BINS] = {0};
    double mean = 0, low = 1, high = 0, last = tac_random(3, UINT64_MAX);
    for (uint64_t i = 0; i < DRAWS; i++) {
        double u = tac_random(3, i);
        mean += u / DRAWS;
        low = fmin(low, u);
        high = fmax(high, u);
        bin[(int)(u * BINS)]++;
        pair[(int)(u * 8) * 8 + (int)(last * 8)]++; /* neighbours are independent */
        last = u;
    }
    double chi = 0, chi_pair = 0, expected = (double)DRAWS / BINS;
    for (int i = 0; i < BINS; i++) {
        chi += (bin[i] - expected) * (bin[i] - expected) / expected;
        chi_pair += (pair[i] - expected) * (pair[i] - expected) / expected;
    }
    CHECK(low >= 0 && low < 1e-4 && high < 1 && high > 1 - 1e-4 && fabs(mean - .5) < .003, "mean %g", mean);
    CHECK(chi > 25 && chi < 125 && chi_pair > 25 && chi_pair < 125, "chi^2 of 63: %g, %g", chi, chi_pair);
    CHECK(tac_random(1, 5) != tac_random(2, 5) && tac_random(1, 5) == tac_random(1, 5));
}

/* The bits themselves: the invariance law wants them the same from every compiler and on every processor. The value
 * was recorded when the functions were written; whoever changes them on purpose prints and records it anew. */
#define RECORDED_BITS UINT64_C(0xc475d42395ec3004)

static uint64_t bits_hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
static void hash_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 64; i += 8)
        bits_hash = (bits_hash ^ (bits >> i & 255)) * UINT64_C(0x100000001b3);
}

static void test_bits(void)
{
    for (uint64_t i = 0; i < 20000; i++) {
        double u = 2 * tac_random(1, i) - 1, v = 2 * tac_random(2, i) - 1, size = ldexp(1, (int)(i % 64) - 32);
        hash_bits(tac_sin(u * size));
        hash_bits(tac_cos(u * size));
        hash_bits(tac_atan2(u, v * size));
        hash_bits(tac_acos(u));
        hash_bits(tac_exp(u * (double)(i % 700)));
        hash_bits(tac_log(fabs(u) * size));
        hash_bits(tac_pow(fabs(u), v * (double)(i % 100)));
        double vector[3] = {u * 4, v * 4, size < 4 ? size : 0}, matrix[9];
        tac_rotation(vector, matrix);
        for (int k = 0; k < 9; k++)
            hash_bits(matrix[k]);
    }
    printf("bits: %016" PRIx64 "\n", bits_hash);
    CHECK(bits_hash == RECORDED_BITS, "bits differ from those of other builds: %016" PRIx64, bits_hash);
}

int main(void)
{
    test_bits();
    test_sin_cos();
    test_inverse();
    test_exp_log();
    test_pow();
    test_rotation();
    test_random();
    return check_result();
}
