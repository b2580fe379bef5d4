/* project.c: removes the negative eigenvalues of Hessians (docs/reference/implicit.md, Newton iterations).
 *
 * Only nodes that Newton's method moves are used, and of those only the ones on which the term depends. If all nodes
 * are moved, a translation changes no force within the stencil, so three eigenvalues are 0. The others are those of a
 * matrix that is smaller by one node, in an orthonormal basis of the changes of shape. Many of these matrices are
 * positive, which a Cholesky factorization shows at little cost. The others are treated by Jacobi's method, whose
 * sweeps have a fixed order.
 */
#include "base/four.h"
#include "implicit/parts.h"
#include <math.h>

/* MOST: the largest number of unknowns without translations. ROW: MOST, rounded up so that rows are whole vectors. */
enum { MOST = 3 * (TAC_ELEMENT_NODES - 1), ROW = 3 * TAC_ELEMENT_NODES, SWEEPS = 30 };
#define TAC_OFF_DIAGONAL 0x1p-40 /* times the largest entry: smaller ones count as 0 */

/* How the matrix of Jacobi's method, with `size` unknowns, follows from the stencil's nodes. */
struct reduced {
    int size, nodes, node[TAC_ELEMENT_NODES];
    bool blind;                         /* to translations */
    double basis[3][TAC_ELEMENT_NODES]; /* of what is not a translation: rows are orthonormal */
};

/* 1/sqrt((r + 1)(r + 2)) over nodes 0 .. r, and -(r + 1) times that at node r + 1. */
static void make_basis(struct reduced *q)
{
    for (int r = 0; r + 1 < q->nodes; r++) {
        const double norm = 1 / sqrt((double)((r + 1) * (r + 2)));
        for (int i = 0; i < q->nodes; i++)
            q->basis[r][i] = i <= r ? norm : i == r + 1 ? -(r + 1) * norm : 0;
    }
}

/* Returns false if there is nothing to project. */
static bool choose(int nodes, const double *h, const bool *held, struct reduced *q)
{
    const int size = 3 * nodes;
    q->nodes = 0;
    q->blind = true;
    for (int i = 0; i < nodes; i++) {
        const bool there =
            h[(size + 1) * (3 * i)] != 0 || h[(size + 1) * (3 * i + 1)] != 0 || h[(size + 1) * (3 * i + 2)] != 0;
        if (there && held[i])
            q->blind = false;
        else if (there)
            q->node[q->nodes++] = i;
    }
    q->size = q->blind ? 3 * (q->nodes - 1) : 3 * q->nodes;
    if (q->blind)
        make_basis(q);
    return q->size > 0;
}

static void reduce(int nodes, const double *h, const struct reduced *q, double a[MOST][ROW])
{
    const int size = 3 * nodes;
    double half[MOST][3 * TAC_ELEMENT_NODES] = {{0}}; /* basis times h, at the nodes that count */
    if (!q->blind) {
        for (int i = 0; i < q->size; i++)
            for (int j = 0; j < q->size; j++)
                a[i][j] = h[size * (3 * q->node[i / 3] + i % 3) + 3 * q->node[j / 3] + j % 3];
        return;
    }
    for (int r = 0; r + 1 < q->nodes; r++)
        for (int i = 0; i <= r + 1; i++)
            for (int k = 0; k < 3; k++)
                for (int j = 0; j < q->nodes; j++)
                    for (int l = 0; l < 3; l++)
                        half[3 * r + k][3 * j + l] +=
                            q->basis[r][i] * h[size * (3 * q->node[i] + k) + 3 * q->node[j] + l];
    for (int r = 0; r < q->size; r++)
        for (int s = 0; s <= r / 3; s++)
            for (int l = 0; l < 3; l++) {
                double sum = 0;
                for (int j = 0; j <= s + 1; j++)
                    sum += half[r][3 * j + l] * q->basis[s][j];
                a[r][3 * s + l] = sum;
            }
    for (int i = 0; i < q->size; i++) /* the lower half counts */
        for (int j = 0; j < i; j++)
            a[j][i] = a[i][j];
}

/* Returns whether the matrix has a Cholesky factor whose pivots are clearly larger than rounding errors. */
static bool is_positive(int n, double a[MOST][ROW])
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

/* Rotates rows p and q of a symmetric matrix, then its columns, and rows p and q of v. */
static inline __attribute__((always_inline)) void rotate(int n, double a[MOST][ROW], double v[MOST][ROW], int p, int q)
{
    const double off = a[p][q], half = .5 * (a[q][q] - a[p][p]);
    const double t = (half >= 0 ? off : -off) / (fabs(half) + sqrt(half * half + off * off));
    const double c = 1 / sqrt(t * t + 1), s = t * c, app = a[p][p] - t * off, aqq = a[q][q] + t * off;
    for (int k = 0; k < ROW; k++) {
        const double x = a[p][k], y = a[q][k];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
    }
    for (int k = 0; k < ROW; k++) {
        const double x = v[p][k], y = v[q][k];
        v[p][k] = c * x - s * y;
        v[q][k] = s * x + c * y;
    }
    a[p][p] = app;
    a[q][q] = aqq;
    a[p][q] = a[q][p] = 0;
    for (int k = 0; k < n; k++) {
        a[k][p] = a[p][k];
        a[k][q] = a[q][k];
    }
}

/* Jacobi's method: leaves the eigenvalues on the diagonal of a, and the eigenvectors in the rows of v. */
TAC_VERSIONS
static void jacobi(int n, double a[MOST][ROW], double v[MOST][ROW])
{
    double scale = 0;
    for (int i = 0; i < n; i++) {
        v[i][i] = 1;
        for (int j = 0; j < n; j++)
            scale = fmax(scale, fabs(a[i][j]));
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool diagonal = true;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (fabs(a[p][q]) > TAC_OFF_DIAGONAL * scale) {
                    rotate(n, a, v, p, q);
                    diagonal = false;
                }
        if (diagonal)
            return;
    }
}

/* Subtracts `value` times the square of an eigenvector from h. */
static void take_out(int nodes, const struct reduced *q, const double *v, double value, double *h)
{
    const int size = 3 * nodes;
    double whole[3 * TAC_ELEMENT_NODES] = {0};
    for (int i = 0; i < q->nodes; i++)
        for (int k = 0; k < 3; k++) {
            if (!q->blind)
                whole[3 * q->node[i] + k] = v[3 * i + k];
            for (int r = 0; q->blind && r + 1 < q->nodes; r++)
                whole[3 * q->node[i] + k] += q->basis[r][i] * v[3 * r + k];
        }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            h[size * i + j] -= value * (whole[i] * whole[j]);
}

void tac_implicit_project(int nodes, const bool *held, double *h)
{
    double a[MOST][ROW] = {{0}}, v[MOST][ROW] = {{0}};
    struct reduced q;
    TAC_CHECK(nodes >= 2 && nodes <= TAC_ELEMENT_NODES);
    if (!choose(nodes, h, held, &q))
        return;
    reduce(nodes, h, &q, a);
    if (is_positive(q.size, a))
        return;
    jacobi(q.size, a, v);
    for (int e = 0; e < q.size; e++)
        if (a[e][e] < 0)
            take_out(nodes, &q, v[e], a[e][e], h);
}
