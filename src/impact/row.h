/* row.h: a pair of surfaces as the operators of impact see it: the gradient of its distance in the velocities of its
 * bodies (docs/reference/impact.md, Rows).
 *
 * Velocities are times the roots of masses, so half their square is kinetic energy. A row is divided by its length, so
 * an impulse y of the row is y / s newton seconds, and its velocity g.v + u is that of the distance, m/s, over s.
 *
 * A rigid piece has two entries among the bodies, one behind the other, with three numbers each: the velocity of its
 * centre, and its turn. A turn is its angular velocity about its principal axes, times the roots of its moments.
 */
#ifndef TACTUS_IMPACT_ROW_H
#define TACTUS_IMPACT_ROW_H

#include "geometry/closest_points.h"
#include <tactus/base.h>

struct tac_impact_row {
    uint64_t key;
    enum tac_pair_type type;
    tac_gid vertex[4];             /* -1: unused; the first may be a body, and the second, if the type has two */
    tac_gid id[4];                 /* of the bodies, and of their turns; -1: none */
    int32_t body[2];               /* numbers in the instant; -1: has no unknowns */
    int32_t turn[2];               /* of their turns; 0: do not turn */
    double w[4], n[3];             /* of its nearest points (geometry/closest_points.h) */
    double gap, radius, thickness; /* m */
    double restitution, friction;  /* its law */
    double inverse[2];             /* 1 over the root of the body's mass, kg^(-1/2); 0: has no unknowns */
    double other[3];               /* m/s: the velocity of the first point against the second, of what has none */
    double arm[2][3][3];           /* arm[i][k]: the velocity, where body i touches, of a turn of 1 about its axis k */
    double g[2][3], round[2][3];   /* the row in velocities, and in turns; |g|^2 + |round|^2 is 1 */
    double s;                      /* its length before it was divided by it, kg^(-1/2) */
    double u;                      /* what `other` adds to its velocity */
    double r;                      /* the velocity that it must have at least in a support */
    /* impulses of the last call of an operator: along n, and of friction along two unit vectors, 0: there is none */
    double lambda, slide[2], tangent[2][3];
    bool rubs;     /* the two directions are known */
    double struck; /* the impulse along n of impacts whose friction is still to come */
    double rubbed; /* J: what friction has taken in the last impact, with the impulses along n that it has caused */
};

/* Local. Returns body i of a row, or from 2 on its turn; -1: there is none. */
static inline int32_t tac_row_body(const struct tac_impact_row *row, int i)
{
    return i < 2 ? row->body[i] : row->turn[i - 2] > 0 ? row->turn[i - 2] : -1;
}

/* Local. Computes what a direction d of the contact does to turns, times s. Without turns it is 0. */
static inline void tac_row_turn(const struct tac_impact_row *row, const double d[3], double out[2][3])
{
    for (int k = 0; k < 3; k++) {
        out[0][k] = tac_dot(d, row->arm[0][k]);
        out[1][k] = -tac_dot(d, row->arm[1][k]);
    }
}

/* Local. Computes the row from n, inverse, arm and other. */
static inline void tac_row_aim(struct tac_impact_row *row)
{
    double turn[2][3];
    tac_row_turn(row, row->n, turn);
    row->s = sqrt((row->inverse[0] * row->inverse[0] + row->inverse[1] * row->inverse[1]) +
                  (tac_dot(turn[0], turn[0]) + tac_dot(turn[1], turn[1])));
    for (int k = 0; k < 3; k++) {
        row->g[0][k] = row->n[k] * (row->inverse[0] / row->s);
        row->g[1][k] = -(row->n[k] * (row->inverse[1] / row->s));
        row->round[0][k] = turn[0][k] / row->s;
        row->round[1][k] = turn[1][k] / row->s;
    }
    row->u = tac_dot(row->n, row->other) / row->s;
}

/* Local. Computes the impulses of the last call of an operator on the first body, N s. */
static inline void tac_row_push(const struct tac_impact_row *row, double push[3])
{
    for (int c = 0; c < 3; c++)
        push[c] =
            (row->n[c] * row->lambda + (row->tangent[0][c] * row->slide[0] + row->tangent[1][c] * row->slide[1])) /
            row->s;
}

/* Local. Returns g.v, without u. v: of all bodies. */
static inline double tac_row_speed(const struct tac_impact_row *row, const double *v)
{
    double part[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        if (row->body[i] >= 0)
            part[i] = tac_dot(row->g[i], &v[3 * (size_t)row->body[i]]);
    if (row->turn[0] <= 0 && row->turn[1] <= 0)
        return part[0] + part[1];
    double turn[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        if (row->turn[i] > 0)
            turn[i] = tac_dot(row->round[i], &v[3 * (size_t)row->turn[i]]);
    return (part[0] + part[1]) + (turn[0] + turn[1]);
}

/* Local. Computes the velocity of the first point against the second, m/s. */
static inline void tac_row_slip(const struct tac_impact_row *row, const double *v, double out[3])
{
    for (int k = 0; k < 3; k++) {
        double part[2] = {0, 0};
        for (int i = 0; i < 2; i++)
            if (row->body[i] >= 0)
                part[i] = v[3 * (size_t)row->body[i] + (size_t)k] * row->inverse[i];
        out[k] = (part[0] - part[1]) + row->other[k];
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3 && row->turn[i] > 0; k++)
            for (int c = 0; c < 3; c++)
                out[c] += (i == 0 ? 1 : -1) * (v[3 * (size_t)row->turn[i] + (size_t)k] * row->arm[i][k][c]);
}

#endif
