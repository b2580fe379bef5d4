/* test_chord.c: the plans of rigid bodies: they keep the angular momentum, end in a rotation, find the same one from
 * any place of the chord, and follow Euler's equations.
 *
 * If it fails, rigid bodies gain energy or change their shape. */
#include "check.h"
#include "state/chord.h"
#include <math.h>
#include <string.h>
#include <tactus/math.h>

#define M3(a) ((const double(*)[3])(a))

static double largest_off(const double a[3][3])
{
    double off = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            off = fmax(off, fabs(tac_dot(a[i], a[j]) - (i == j)));
    return off;
}

static void advance(double a[3][3], const double b[3][3], double dt)
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            a[k][i] += dt * b[k][i];
}

/* Random bodies and spins, as far as clocks.turn allows: |w| tau up to 2^-5. */
static void test_random(void)
{
    int most = 0;
    double worst = 0, again = 0, lost = 0;
    for (uint64_t n = 0; n < 1000; n++) {
        double s[3], l[3], turn[3], a[3][3], b[3][3], r[3][3], w[3], have[3], flat[9];
        for (int k = 0; k < 3; k++) {
            s[k] = tac_pow(10, -2 * tac_random(n, (uint64_t)k));
            l[k] = tac_random(n, 3 + (uint64_t)k) - .5;
            turn[k] = 6 * tac_random(n, 6 + (uint64_t)k) - 3;
        }
        tac_rotation(turn, flat);
        memcpy(a, flat, sizeof a);
        tac_chord_nearest(M3(a), r);
        tac_chord_spin(s, M3(r), l, w);
        const double tau = 0x1p-5 / sqrt(tac_dot(w, w));
        const int steps = tac_chord_plan(s, M3(a), M3(r), l, tau, b);
        most = steps > most ? steps : most;
        tac_chord_momentum(s, M3(a), M3(b), have);
        for (int k = 0; k < 3; k++)
            lost = fmax(lost, fabs(have[k] - l[k]) / sqrt(tac_dot(l, l)));
        double end[3][3], half[3][3], c[3][3];
        memcpy(end, a, sizeof end);
        advance(end, M3(b), tau);
        worst = fmax(worst, largest_off(M3(end)));
        memcpy(half, a, sizeof half);
        advance(half, M3(b), .375 * tau);
        tac_chord_nearest(M3(half), r);
        tac_chord_plan(s, M3(half), M3(r), l, .625 * tau, c);
        advance(half, M3(c), .625 * tau);
        for (int k = 0; k < 9; k++)
            again = fmax(again, fabs(half[k / 3][k % 3] - end[k / 3][k % 3]));
    }
    CHECK(most <= TAC_CHORD_MOST, "%d iterations", most);
    CHECK(lost < 1e-15, "angular momentum: %g", lost);
    CHECK(worst < 1e-13, "no rotation at the end: %g", worst);
    CHECK(again < 1e-13, "another end from the middle of the chord: %g", again);
}

/* A box that turns about its middle axis flips; Euler's equations say when. */
static void test_flip(void)
{
    const double s[3] = {6 * .01 / 12, 6 * .04 / 12, 6 * .09 / 12}, w0[3] = {.01, 10, .01}, h = 0x1p-12;
    double a[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, b[3][3], r[3][3], l[3], first[3], flips[2];
    int flip = 0;
    for (int k = 0; k < 3; k++)
        tac_cross(b[k], w0, a[k]);
    tac_chord_momentum(s, M3(a), M3(b), first);
    double before = 1, energy = 0, worst = 0;
    for (long n = 0; n * h < 6; n++) {
        double w[3];
        tac_chord_momentum(s, M3(a), M3(b), l);
        tac_chord_nearest(M3(a), r);
        tac_chord_spin(s, M3(r), l, w);
        energy = n == 0 ? tac_dot(w, l) : energy;
        worst = fmax(worst, fabs(tac_dot(w, l) / energy - 1));
        const double now = tac_dot(r[1], w);
        if ((now > 0) != (before > 0) && flip < 2)
            flips[flip++] = (double)n * h;
        before = now;
        tac_chord_plan(s, M3(a), M3(r), l, h, b);
        advance(a, M3(b), h);
    }
    CHECK(flip == 2 && fabs(flips[0] - 1.5279) < 1e-3 && fabs(flips[1] - 5.0418) < 1e-3, "%d flips: %.4f and %.4f s",
          flip, flips[0], flips[1]);
    CHECK(worst < 1e-12, "energy: %g", worst);
    for (int k = 0; k < 3; k++)
        CHECK(fabs(l[k] - first[k]) < 1e-12, "angular momentum: %g", l[k] - first[k]);
}

int main(void)
{
    test_random();
    test_flip();
    return check_result();
}
