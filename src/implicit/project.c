/* project.c: Hessians without their negative eigenvalues (docs/implicit.md, Newton's method).
 *
 * Forces within a stencil do not feel a translation, so three eigenvalues are 0: the others are those of a matrix that
 * is smaller by one node, in an orthonormal basis of what changes the stencil's shape.  Most are positive, which a
 * Cholesky factor tells at once; the others go through Jacobi's method, whose sweeps have one fixed order.
 */
#include "implicit/implicit.h"
#include <math.h>

enum { MOST_NODES = 4, MOST = 3 * (MOST_NODES - 1), SWEEPS = 30 };

/* Row r of the basis, r from 0: 1 over nodes 0 .. r, -(r + 1) at node r + 1, normed. */
static double basis(int r, int node)
{
    const double norm = 1 / sqrt((double)((r + 1) * (r + 2)));
    return node <= r ? norm : node == r + 1 ? -(r + 1) * norm : 0;
}

static void reduce(int nodes, const double *h, double a[MOST][MOST])
{
    const int size = 3 * nodes;
    double half[MOST][3 * MOST_NODES] = {{0}}; /* basis times h */
    for (int r = 0; r < nodes - 1; r++)
        for (int i = 0; i <= r + 1; i++)
            for (int k = 0; k < 3; k++)
                for (int j = 0; j < size; j++)
                    half[3 * r + k][j] += basis(r, i) * h[size * (3 * i + k) + j];
    for (int r = 0; r < 3 * (nodes - 1); r++)
        for (int q = 0; q < nodes - 1; q++)
            for (int l = 0; l < 3; l++) {
                double sum = 0;
                for (int j = 0; j <= q + 1; j++)
                    sum += half[r][3 * j + l] * basis(q, j);
                a[r][3 * q + l] = sum;
            }
    for (int i = 0; i < 3 * (nodes - 1); i++)
        for (int j = 0; j < i; j++)
            a[i][j] = a[j][i] = .5 * (a[i][j] + a[j][i]);
}

/* Has the matrix a Cholesky factor with pivots that rounding does not decide? */
static bool is_positive(int n, double a[MOST][MOST])
{
    double l[MOST][MOST], scale = 0;
    for (int i = 0; i < n; i++)
        scale = fmax(scale, fabs(a[i][i]));
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > 0x1p-40 * scale))
                return false;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    return true;
}

/* Rotates columns and rows p, q of a, and the columns of v. */
static void rotate(int n, double a[MOST][MOST], double v[MOST][MOST], int p, int q)
{
    const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; k++) {
        const double x = a[k][p], y = a[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for (int k = 0; k < n; k++) {
        const double x = a[p][k], y = a[q][k], z = v[k][p], w = v[k][q];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
        v[k][p] = c * z - s * w;
        v[k][q] = s * z + c * w;
    }
    a[p][q] = a[q][p] = 0;
}

static void jacobi(int n, double a[MOST][MOST], double v[MOST][MOST])
{
    double scale = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            v[i][j] = i == j;
            scale = fmax(scale, fabs(a[i][j]));
        }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool still = true;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (fabs(a[p][q]) > 0x1p-50 * scale) {
                    rotate(n, a, v, p, q);
                    still = false;
                }
        if (still)
            return;
    }
}

void tac_implicit_project(int nodes, double *h)
{
    double a[MOST][MOST] = {{0}}, v[MOST][MOST];
    const int n = 3 * (nodes - 1), size = 3 * nodes;
    TAC_CHECK(nodes >= 2 && nodes <= MOST_NODES);
    reduce(nodes, h, a);
    if (is_positive(n, a))
        return;
    jacobi(n, a, v);
    for (int e = 0; e < n; e++) {
        double whole[3 * MOST_NODES] = {0};
        if (!(a[e][e] < 0))
            continue;
        for (int r = 0; r < nodes - 1; r++)
            for (int i = 0; i <= r + 1; i++)
                for (int k = 0; k < 3; k++)
                    whole[3 * i + k] += basis(r, i) * v[3 * r + k][e];
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++)
                h[size * i + j] -= a[e][e] * (whole[i] * whole[j]);
    }
}
