/* rigid_turn.c: makes a turn of a direction that is straight (docs/explanation/rigid.md, In the implicit integrator).
 *
 * Newton's direction moves the axes of a body along tangents of the rotations, and so strains the body. If it did so by
 * one part in a thousand, the energy of its shape would exceed all others. So the body goes straight to where the same
 * turn and the same change of strain take it as a rotation and a strain: to C(f) (A + E), where the direction is [2f] A
 * + E, and C(f) = I + 2 ([f] + [f]^2)/(1 + f.f) is a rotation (Cayley). On the way its vertices move along straight
 * lines, like all others.
 */
#include "implicit/parts.h"
#include "implicit/rigid/rigid_nodes.h"
#include "state/chord.h"
#include "state/pose.h"
#include <tactus/math.h>

/* The axes of a body: a[k] is the vector that principal axis k has become; mean: of the nodes. */
static void axes_of(const struct tac_implicit_piece *p, const double *node, double mean[3], double a[3][3])
{
    for (int c = 0; c < 3; c++) {
        const double one = node[3 + c] - node[c], two = node[6 + c] - node[c], three = node[9 + c] - node[c];
        mean[c] = node[c] + .25 * (one + two + three);
        a[0][c] = .25 * (one - two - three) / p->far[0];
        a[1][c] = .25 * (two - one - three) / p->far[1];
        a[2][c] = .25 * (three - one - two) / p->far[2];
    }
}

/* The nodes whose mean and axes are these. */
static void nodes_of(const struct tac_implicit_piece *p, const double mean[3], const double a[3][3], double *node,
                     int width)
{
    for (int c = 0; c < 3; c++) {
        const double one = p->far[0] * a[0][c], two = p->far[1] * a[1][c], three = p->far[2] * a[2][c];
        node[c] = mean[c] + (one + two + three);
        node[width + c] = mean[c] + (one - two - three);
        node[2 * width + c] = mean[c] + (two - one - three);
        node[3 * width + c] = mean[c] + (three - one - two);
    }
}

static void turn_body(const struct tac_implicit_piece *piece, const double *x, const double *straight, double share,
                      double *p)
{
    double mean[3], go[3], a[3][3], d[3][3], f[3] = {0, 0, 0}, change[3][3];
    axes_of(piece, x, mean, a);
    axes_of(piece, straight, go, d);
    for (int k = 0; k < 3; k++) { /* half of the turn: a quarter of the sum, for the axes are nearly orthonormal */
        double n[3];
        tac_cross(n, a[k], d[k]);
        for (int c = 0; c < 3; c++)
            f[c] += .25 * share * n[c];
    }
    const double factor = 2 / (1 + tac_dot(f, f));
    for (int k = 0; k < 3; k++) {
        double e[3], turned[3], once[3], twice[3];
        tac_cross(turned, f, a[k]);
        for (int c = 0; c < 3; c++) {
            e[c] = share * d[k][c] - 2 * turned[c];
            turned[c] = a[k][c] + e[c];
        }
        tac_cross(once, f, turned);
        tac_cross(twice, f, once);
        for (int c = 0; c < 3; c++)
            change[k][c] = e[c] + factor * (once[c] + twice[c]);
    }
    for (int c = 0; c < 3; c++)
        go[c] *= share;
    nodes_of(piece, go, (const double(*)[3])change, p, 3);
}

/* With the spin w the axes have the velocities w x a, and with the torque of their accelerations a turn is accelerated
 * by u = I^-1 (torque - w x L): u x a + w x (w x a). */
static void make_rigid(const struct tac_implicit_piece *piece, const double second[3], const double *x, double *v,
                       double *past)
{
    double mean[3], go[3], faster[3], a[3][3], u[3][3], d[3][3], pushed[TAC_RIGID_SIZE], r[3][3], l[3], w[3], torque[3],
        more[3], turned[3];
    axes_of(piece, x, mean, a);
    axes_of(piece, v, go, u);
    for (int i = 0; i < TAC_RIGID_NODES; i++)
        for (int c = 0; c < 3; c++)
            pushed[3 * i + c] = past[TAC_PAST_NUMBERS * i + c];
    axes_of(piece, pushed, faster, d);
    tac_chord_nearest((const double(*)[3])a, r);
    tac_chord_momentum(second, (const double(*)[3])a, (const double(*)[3])u, l);
    tac_chord_momentum(second, (const double(*)[3])a, (const double(*)[3])d, torque);
    tac_chord_spin(second, (const double(*)[3])r, l, w);
    tac_cross(turned, w, l);
    for (int c = 0; c < 3; c++)
        torque[c] -= turned[c];
    tac_chord_spin(second, (const double(*)[3])r, torque, more);
    for (int k = 0; k < 3; k++) {
        tac_cross(u[k], w, a[k]);
        tac_cross(d[k], w, u[k]);
        tac_cross(turned, more, a[k]);
        for (int c = 0; c < 3; c++)
            d[k][c] += turned[c];
    }
    nodes_of(piece, go, (const double(*)[3])u, v, 3);
    nodes_of(piece, faster, (const double(*)[3])d, past, TAC_PAST_NUMBERS);
}

void tac_rigid_calm(struct tac_implicit *sim)
{
    struct tac_implicit_rigid *r = &sim->rigid;
    for (size_t n = 0; n < r->own_count; n++) {
        const size_t k = (size_t)r->own[n];
        make_rigid(&r->piece[k], sim->scene->settings->rigid[k].second, &r->x[TAC_RIGID_SIZE * k],
                   &r->v[TAC_RIGID_SIZE * k], &r->past[TAC_PAST_OF_NODES * k]);
    }
}

size_t tac_rigid_fill_poses(const struct tac_implicit *sim, struct tac_pose *out)
{
    const struct tac_implicit_rigid *r = &sim->rigid;
    for (size_t n = 0; n < r->own_count; n++) {
        const size_t k = (size_t)r->own[n], at = TAC_RIGID_SIZE * k;
        double a[3][3], b[3][3];
        out[n].rigid = r->own[n];
        axes_of(&r->piece[k], &r->x[at], out[n].center, a);
        axes_of(&r->piece[k], &r->v[at], out[n].velocity, b);
        tac_pose_turn(&sim->scene->settings->rigid[k], (const double(*)[3])a, (const double(*)[3])b, &out[n]);
    }
    return r->own_count;
}

void tac_rigid_turn(struct tac_implicit *sim, double share)
{
    struct tac_implicit_rigid *r = &sim->rigid;
    for (size_t k = 0; k < r->count; k++) {
        const size_t at = TAC_RIGID_SIZE * k;
        turn_body(&r->piece[k], &r->x[at], &r->straight[at], share, &r->p[at]);
    }
    tac_rigid_spread(sim, r->p, sim->newton.p);
}
