/* rigid_matrix.c: the matrices of rigid bodies, and those of pairs over the nodes of their bodies. */
#include "implicit/rigid/rigid_matrix.h"
#include "implicit/parts.h"

int tac_rigid_sides(const struct tac_implicit *sim, const tac_lid *v, enum tac_pair_type type)
{
    return (tac_implicit_rigid_of(sim, v[0]) >= 0 ? TAC_SIDE_FIRST : 0) |
           (tac_implicit_rigid_of(sim, v[tac_pair_first(type)]) >= 0 ? TAC_SIDE_SECOND : 0);
}

int tac_rigid_nodes_of(enum tac_pair_type type, int sides)
{
    const int first = tac_pair_first(type);
    return (sides & TAC_SIDE_FIRST ? TAC_RIGID_NODES : first) +
           (sides & TAC_SIDE_SECOND ? TAC_RIGID_NODES : tac_pair_vertices(type) - first);
}

/* How a side of a pair depends on its nodes: weight[i][a] of node a at vertex i. */
static void side_weights(const struct tac_implicit *sim, const tac_lid *v, int n, bool rigid, int column,
                         double (*weight)[2 * TAC_RIGID_NODES])
{
    for (int i = 0; i < n; i++)
        if (rigid)
            tac_rigid_weights(sim, tac_implicit_rigid_of(sim, v[i]), v[i], &weight[i][column]);
        else
            weight[i][column + i] = 1;
}

void tac_rigid_to_nodes(const struct tac_implicit *sim, const tac_lid *v, enum tac_pair_type type, int sides,
                        const double *dense, double *out)
{
    enum { MOST = 2 * TAC_RIGID_NODES };
    const int n = tac_pair_vertices(type), first = tac_pair_first(type), nodes = tac_rigid_nodes_of(type, sides);
    double weight[4][MOST] = {{0}}, half[3 * MOST][12];
    side_weights(sim, v, first, (sides & TAC_SIDE_FIRST) != 0, 0, weight);
    side_weights(sim, v + first, n - first, (sides & TAC_SIDE_SECOND) != 0,
                 sides & TAC_SIDE_FIRST ? TAC_RIGID_NODES : first, &weight[first]);
    for (int a = 0; a < nodes; a++)
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3 * n; c++) {
                double sum = 0;
                for (int i = 0; i < n; i++)
                    sum += weight[i][a] * dense[3 * n * (3 * i + k) + c];
                half[3 * a + k][c] = sum;
            }
    for (int r = 0; r < 3 * nodes; r++)
        for (int b = 0; b < nodes; b++)
            for (int l = 0; l < 3; l++) {
                double sum = 0;
                for (int j = 0; j < n; j++)
                    sum += weight[j][b] * half[r][3 * j + l];
                out[3 * nodes * r + 3 * b + l] = sum;
            }
}

void tac_rigid_assemble(struct tac_implicit *sim, enum tac_curvature curvature, struct tac_matrix *matrix)
{
    const struct tac_element *element = &tac_element_neo_hookean_whole;
    for (size_t n = 0; n < sim->rigid.own_count; n++) {
        double x[4][3], dense[144];
        memcpy(x, &sim->rigid.x[TAC_RIGID_SIZE * (size_t)sim->rigid.own[n]], sizeof x);
        (curvature != TAC_CURVATURE_NONE ? element->hessian : element->convex)(
            &sim->rigid.piece[sim->rigid.own[n]].shape, NULL, (const double(*)[3])x, dense);
        for (int i = 0; i < 144; i++)
            dense[i] *= sim->weight;
        tac_matrix_add(matrix, TAC_RIGID_STENCILS, n, dense);
    }
}

/* ---- joints ---- */

const tac_lid *tac_rigid_tied_pair(const struct tac_implicit *sim, size_t e, enum tac_pair_type *type)
{
    *type = sim->rigid.joints.tie[e].count > 2 ? TAC_PAIR_VERTEX_SEGMENT : TAC_PAIR_VERTEX_VERTEX;
    return sim->rigid.joints.tie[e].v;
}

const tac_lid *tac_rigid_motor_pair(const struct tac_implicit *sim, size_t e, enum tac_pair_type *type)
{
    *type = TAC_PAIR_EDGE_EDGE;
    return sim->rigid.joints.motor[e].v;
}

static void scale(double times, int count, double *dense)
{
    for (int i = 0; i < count; i++)
        dense[i] *= times;
}

void tac_rigid_tied_hessian(const struct tac_implicit *sim, size_t e, const double *x, enum tac_curvature curvature,
                            double *dense)
{
    const int size = 3 * sim->rigid.joints.tie[e].count;
    tac_tie_hessian(&sim->rigid.joints.tie[e], x, dense);
    scale(sim->weight, size * size, dense);
}

void tac_rigid_motor_hessian(const struct tac_implicit *sim, size_t e, const double *x, enum tac_curvature curvature,
                             double *dense)
{
    tac_motor_hessian(&sim->rigid.joints.motor[e], x, dense);
    scale(sim->weight, 144, dense);
}
