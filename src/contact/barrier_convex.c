/* barrier_convex.c: the barrier's Hessian without its negative curvature, in closed form (docs/reference/implicit.md,
 * Newton iterations).
 *
 * As a function of the distance d a pair's barrier is B(d), and its Hessian B'' grad d grad d^T + B' (second
 * derivatives of d) with B' < 0.  Up to second order
 *
 *     d = d0 + N - W.Phi - d0/2 |Phi|^2 + V^2 / 2 d0
 *
 * where N is how the nearest points move apart, W how they move along the surfaces' common plane, Phi how that plane
 * tilts; V takes part where the nearest points do not define a plane: what they move along what is missing.  N and Phi
 * feel displacements along the normal only, W and V those across it.  So -d'' has a positive part in closed form: along
 * the principal axes of Phi it falls into problems of size 2, and V has none.
 */
#include "contact/barrier.h"
#include <string.h>

#define TAC_NO_SHARE 0x1p-50 /* weights that are 0 but for rounding */

/* How the plane tilts: of each vertex' displacement along the normal, in the axes (of the plane). */
struct tilt {
    double axis[2][3], part[4][2];
    int axes; /* 0, 1 or 2 */
};

/* Phi . a is the difference of u at `to` and `from`, and likewise for b: by the dual basis of a and b. */
static void two_slopes(const double x[4][3], const double n[3], const int a[2], const int b[2], struct tilt *t)
{
    double u[3], v[3];
    tac_sub(u, x[a[1]], x[a[0]]);
    tac_sub(v, x[b[1]], x[b[0]]);
    const double l = sqrt(tac_dot(u, u));
    for (int k = 0; k < 3; k++)
        t->axis[0][k] = u[k] / l;
    tac_cross(t->axis[1], n, t->axis[0]);
    const double p = tac_dot(v, t->axis[0]), q = tac_dot(v, t->axis[1]);
    /* a is (l, 0), b is (p, q): dual (1/l, -p/(l q)), (0, 1/q) */
    t->axes = 2;
    t->part[a[1]][0] += 1 / l;
    t->part[a[0]][0] -= 1 / l;
    t->part[a[1]][1] -= p / (l * q);
    t->part[a[0]][1] += p / (l * q);
    t->part[b[1]][1] += 1 / q;
    t->part[b[0]][1] -= 1 / q;
}

static void one_slope(const double x[4][3], int from, int to, struct tilt *t)
{
    double u[3];
    tac_sub(u, x[to], x[from]);
    const double l = sqrt(tac_dot(u, u));
    for (int k = 0; k < 3; k++)
        t->axis[0][k] = u[k] / l;
    t->axes = 1;
    t->part[to][0] = 1 / l;
    t->part[from][0] = -1 / l;
}

/* Finds the tilt from the vertices that take part in the nearest points. */
static void find_tilt(enum tac_pair_type type, const double x[4][3], const struct tac_near *near, struct tilt *t)
{
    int side[2][4], count[2] = {0, 0};
    memset(t, 0, sizeof *t);
    for (int i = 0; i < tac_pair_vertices(type); i++)
        if (fabs(near->w[i]) > TAC_NO_SHARE) {
            const int s = i >= tac_pair_first(type);
            side[s][count[s]++] = i;
        }
    if (count[0] == 2 && count[1] == 2)
        two_slopes(x, near->n, side[0], side[1], t);
    else if (count[1] == 3)
        two_slopes(x, near->n, side[1], (int[2]){side[1][0], side[1][2]}, t);
    else if (count[0] == 2 || count[1] == 2) {
        const int *s = count[0] == 2 ? side[0] : side[1];
        one_slope(x, s[0], s[1], t);
    }
}

/* Turns the axes to the principal ones of the tilt of the vertices that are not held; its squares there. */
static void turn_axes(int n, const bool *held, struct tilt *t, double square[2])
{
    double g[3] = {0, 0, 0}, c = 1, s = 0;
    for (int i = 0; i < n; i++)
        if (!held[i]) {
            g[0] += t->part[i][0] * t->part[i][0];
            g[1] += t->part[i][1] * t->part[i][1];
            g[2] += t->part[i][0] * t->part[i][1];
        }
    if (g[2] != 0) {
        const double half = .5 * (g[1] - g[0]);
        const double tangent = (half >= 0 ? g[2] : -g[2]) / (fabs(half) + sqrt(half * half + g[2] * g[2]));
        c = 1 / sqrt(tangent * tangent + 1);
        s = tangent * c;
        g[0] -= tangent * g[2];
        g[1] += tangent * g[2];
    }
    for (int k = 0; k < 3; k++) {
        const double a = t->axis[0][k], b = t->axis[1][k];
        t->axis[0][k] = c * a - s * b;
        t->axis[1][k] = s * a + c * b;
    }
    for (int i = 0; i < n; i++) {
        const double a = t->part[i][0], b = t->part[i][1];
        t->part[i][0] = c * a - s * b;
        t->part[i][1] = s * a + c * b;
    }
    square[0] = fmax(0, g[0]);
    square[1] = fmax(0, g[1]);
}

/* Adds `times` z z^T. */
static void add_square(int n, double times, const double z[12], double *matrix)
{
    for (int i = 0; i < 3 * n; i++)
        for (int j = 0; j < 3 * n; j++)
            matrix[3 * n * i + j] += times * (z[i] * z[j]);
}

bool tac_barrier_convex(const struct tac_barrier_pair *p, const double x[4][3], const struct tac_barrier_near *near,
                        const bool *held, double *matrix)
{
    const int n = tac_pair_vertices(p->type);
    const double d = near->at.d, *b = near->b;
    double z[12], square[2], share = 0;
    struct tilt t;
    if (p->type == TAC_PAIR_EDGE_EDGE && tac_barrier_is_mollified(p, x))
        return false;
    memset(matrix, 0, (size_t)(9 * n * n) * sizeof *matrix);
    if (b[2] == 0 || !(b[2] < INFINITY)) /* just at the thickness, or the surfaces touch */
        return true;
    const double slope = -2 * d * b[1], bend = 4 * d * d * b[2] + 2 * b[1];
    for (int i = 0; i < 3 * n; i++)
        z[i] = held[i / 3] ? 0 : near->at.w[i / 3] * near->at.n[i % 3];
    add_square(n, fmax(0, bend), z, matrix);
    find_tilt(p->type, x, &near->at, &t);
    turn_axes(n, held, &t, square);
    for (int i = 0; i < n; i++)
        share += held[i] ? 0 : near->at.w[i] * near->at.w[i];
    for (int a = 0; a < t.axes; a++) {
        const double g = square[a], high = .5 * (d * g + sqrt(d * d * g * g + 4 * g * share));
        if (!(g > 0))
            continue;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                z[3 * i + k] = held[i] ? 0 : high * t.part[i][a] * near->at.n[k] + g * near->at.w[i] * t.axis[a][k];
        add_square(n, slope * high / (g * (high * high + g * share)), z, matrix);
    }
    return true;
}
