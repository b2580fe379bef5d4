/* queries.h: random, degenerate and typical queries of continuous collision detection; a pure function of (seed, n). */
#ifndef TACTUS_TESTS_QUERIES_H
#define TACTUS_TESTS_QUERIES_H

#include "audit/ccd.h"

#include <math.h>
#include <string.h>
#include <tactus/math.h>

enum family {
    RANDOM,    /* both ends of all motions anywhere in a cube */
    MOVING,    /* unit primitives that start somewhere near and move by up to their size */
    NEAR_MISS, /* as in an audit: elements of .01 about 1e-3 to 1e-6 apart that move by a little more or less */
    PARALLEL,  /* edges or sides parallel at all times */
    COPLANAR,  /* all in one plane at all times */
    TOUCHING,  /* small whole coordinates: meetings at whole and at rational parameters, corners, edges */
    SLIDING,   /* a vertex within the plane of its triangle, an edge along another */
    SHARED,    /* a vertex in common, for all time or for a moment */
    STILL,     /* nothing moves */
    COLLAPSED, /* edges and triangles of no length or area */
    RIGID,     /* everything moves by one vector, so distances hardly change */
    GRAZING,   /* the gap is nothing or some last bits */
    MIXED,     /* every coordinate has a magnitude of its own */
    FAMILIES
};

static const char *const family_names[FAMILIES] = {"random",   "moving",  "near miss", "parallel", "coplanar",
                                                   "touching", "sliding", "shared",    "still",    "collapsed",
                                                   "rigid",    "grazing", "mixed"};

struct dice {
    uint64_t seed, counter;
};

static inline double roll(struct dice *dice, double lo, double hi)
{
    return lo + (hi - lo) * tac_random(dice->seed, dice->counter++);
}

static inline int roll_int(struct dice *dice, int count)
{
    return (int)roll(dice, 0, count);
}

static inline void roll_unit(struct dice *dice, double n[3])
{
    double square;
    do {
        for (int k = 0; k < 3; k++)
            n[k] = roll(dice, -1, 1);
        square = tac_dot(n, n);
    } while (square > 1 || square < 0.01);
    for (int k = 0; k < 3; k++)
        n[k] /= sqrt(square);
}

static inline void set_random(struct dice *dice, struct tac_ccd_query *query)
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            query->x0[i][k] = roll(dice, -1, 1);
            query->x1[i][k] = roll(dice, -1, 1);
        }
}

static inline void set_moving(struct dice *dice, struct tac_ccd_query *query)
{
    double speed = roll(dice, 0, 1), offset[3];
    for (int k = 0; k < 3; k++)
        offset[k] = roll(dice, -1, 1);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            query->x0[i][k] = roll(dice, -.5, .5) + (i == 0 ? offset[k] : 0);
            query->x1[i][k] = query->x0[i][k] + roll(dice, -speed, speed);
        }
}

/* A triangle or edge of about `size`, and a point or edge `gap` beside one of its points (inside, or on its rim), away
 * from it; each vertex moves by about `motion`, some of it in common. */
static inline void set_near_miss(struct dice *dice, struct tac_ccd_query *query)
{
    double size = 0.01, gap = pow(10, roll(dice, -6, -3)), motion = gap * roll(dice, 0, 1), x[4][3], normal[3],
           common[3], place[3], w[3];
    for (int k = 0; k < 3; k++)
        common[k] = roll(dice, -motion, motion);
    for (int k = 0; k < 3; k++)
        place[k] = roll(dice, -1, 1);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            x[i][k] = place[k] + roll(dice, -size, size);
    w[0] = roll(dice, -.3, 1);
    w[1] = roll(dice, -.3, 1);
    w[0] = w[0] < 0 ? 0 : w[0];
    w[1] = w[1] < 0 ? 0 : w[1];
    if (query->type == TAC_CCD_EDGE_EDGE) { /* b0, b1: through a point of a, plus the gap across */
        double u[3], v[3];
        tac_sub(u, x[1], x[0]);
        tac_sub(v, x[3], x[2]);
        tac_cross(normal, u, v);
        double length = sqrt(tac_dot(normal, normal));
        for (int k = 0; k < 3; k++) {
            double shift = x[0][k] + w[0] * u[k] + normal[k] / length * gap - (x[2][k] + w[1] * v[k]);
            x[2][k] += shift;
            x[3][k] += shift;
        }
    } else {
        double u[3], v[3];
        if (w[0] + w[1] > 1) {
            w[0] /= 2;
            w[1] /= 2;
        }
        tac_sub(u, x[2], x[1]);
        tac_sub(v, x[3], x[1]);
        tac_cross(normal, u, v);
        double length = sqrt(tac_dot(normal, normal));
        for (int k = 0; k < 3; k++)
            x[0][k] = x[1][k] + w[0] * u[k] + w[1] * v[k] + normal[k] / length * gap;
    }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            query->x0[i][k] = x[i][k];
            query->x1[i][k] = x[i][k] + common[k] + roll(dice, -motion, motion);
        }
}

/* Small whole coordinates. */
static inline void set_lattice(struct dice *dice, struct tac_ccd_query *query)
{
    int width = 2 + roll_int(dice, 4);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            query->x0[i][k] = roll_int(dice, width);
            query->x1[i][k] = roll_int(dice, width);
        }
}

static inline void copy_vertex(struct tac_ccd_query *query, int to, int from)
{
    memcpy(query->x0[to], query->x0[from], sizeof query->x0[to]);
    memcpy(query->x1[to], query->x1[from], sizeof query->x1[to]);
}

/* Vertex `to` = `from` + multiple of (b - a), at both ends or with a multiple of its own at each. */
static inline void move_along(struct tac_ccd_query *query, int to, int from, int a, int b, double at0, double at1)
{
    for (int k = 0; k < 3; k++) {
        query->x0[to][k] = query->x0[from][k] + at0 * (query->x0[b][k] - query->x0[a][k]);
        query->x1[to][k] = query->x1[from][k] + at1 * (query->x1[b][k] - query->x1[a][k]);
    }
}

static inline void set_degenerate(struct dice *dice, struct tac_ccd_query *query, enum family family)
{
    static const double multiples[] = {-1, -.5, 0, .25, .5, .75, 1, 1.5, 2};
    double at0 = multiples[roll_int(dice, 9)], at1 = multiples[roll_int(dice, 9)], move[3];
    int edges = query->type == TAC_CCD_EDGE_EDGE, base = edges ? 0 : 1;
    set_lattice(dice, query);
    switch (family) {
    case PARALLEL: /* edge-edge: b1 - b0 along a1 - a0; else p beside the side ab, along it */
        if (edges)
            move_along(query, 3, 2, 0, 1, at0, at0);
        else
            move_along(query, 0, 3, 1, 2, at0, at1);
        break;
    case COPLANAR: {
        int k = roll_int(dice, 3), a = (k + 1) % 3;
        double slope = roll_int(dice, 3);
        for (int i = 0; i < 4; i++) {
            query->x0[i][k] = slope * query->x0[i][a];
            query->x1[i][k] = slope * query->x1[i][a];
        }
        break;
    }
    case SLIDING:
        if (edges) {
            move_along(query, 2, 0, 0, 1, at0, at1);
            if (roll_int(dice, 2))
                move_along(query, 3, 0, 0, 1, at1, at0);
        } else {
            move_along(query, 0, 1, 1, 2, at0, at1);
            if (query->type == TAC_CCD_VERTEX_TRIANGLE && roll_int(dice, 2))
                for (int k = 0; k < 3; k++) {
                    query->x0[0][k] += .25 * (query->x0[3][k] - query->x0[1][k]);
                    query->x1[0][k] += .25 * (query->x1[3][k] - query->x1[1][k]);
                }
        }
        break;
    case SHARED: {
        int from = edges ? roll_int(dice, 2) : 0, to = edges ? 2 + roll_int(dice, 2) : 1 + roll_int(dice, 3);
        int when = roll_int(dice, 3);
        if (query->type == TAC_CCD_VERTEX_VERTEX || (query->type == TAC_CCD_VERTEX_EDGE && to == 3))
            to = 1;
        if (when != 1)
            memcpy(query->x0[to], query->x0[from], sizeof query->x0[to]);
        if (when != 2)
            memcpy(query->x1[to], query->x1[from], sizeof query->x1[to]);
        break;
    }
    case STILL:
        memcpy(query->x1, query->x0, sizeof query->x1);
        break;
    case COLLAPSED:
        copy_vertex(query, base + 1, base);
        if (edges && roll_int(dice, 2))
            copy_vertex(query, 3, 2);
        if (!edges && roll_int(dice, 2))
            move_along(query, 3, 1, 1, 2, at0, at1);
        break;
    case RIGID:
        for (int k = 0; k < 3; k++)
            move[k] = roll_int(dice, 7) - 3;
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++)
                query->x1[i][k] = query->x0[i][k] + move[k];
        break;
    case GRAZING: /* meets a plane of the lattice and turns, or the plane of a side */
        for (int k = 0; k < 3; k++) {
            query->x0[0][k] = query->x0[base][k] + at0 * (query->x0[2][k] - query->x0[base][k]);
            query->x1[0][k] = query->x0[0][k];
        }
        query->x1[0][roll_int(dice, 3)] += 1;
        break;
    default:
        break;
    }
}

/* Takes the lattice elsewhere: other sizes, far from the origin, turned; some coordinates one last bit off. */
static inline void transform(struct dice *dice, struct tac_ccd_query *query)
{
    static const double scales[] = {1, 1, 1, 0.1, 1e-3, 1e6, 0x1p-1074, 1e-300, 1e-160, 1e150, 1e300, 0x1p1020};
    double scale = scales[roll_int(dice, 12)], offset[3] = {0, 0, 0}, matrix[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int kind = roll_int(dice, 4), bits = roll_int(dice, 4) == 0;
    if (kind == 1)
        tac_rotation((double[]){roll(dice, -3, 3), roll(dice, -3, 3), roll(dice, -3, 3)}, matrix);
    if (kind == 2)
        for (int k = 0; k < 3; k++)
            offset[k] = roll(dice, -1, 1) * pow(10, roll(dice, 0, 6));
    for (int end = 0; end < 2; end++) {
        double(*x)[3] = end ? query->x1 : query->x0;
        for (int i = 0; i < 4; i++) {
            double y[3] = {x[i][0] + offset[0], x[i][1] + offset[1], x[i][2] + offset[2]};
            for (int k = 0; k < 3; k++) {
                double z = matrix[3 * k] * y[0] + matrix[3 * k + 1] * y[1] + matrix[3 * k + 2] * y[2];
                x[i][k] = scale * z;
                if (bits && roll_int(dice, 3) == 0)
                    x[i][k] = nextafter(x[i][k], roll(dice, -1, 1) > 0 ? INFINITY : -INFINITY);
                if (!isfinite(x[i][k]))
                    x[i][k] = copysign(0x1.fffffffffffffp1023, z);
            }
        }
    }
    query->separation *= scale;
    if (!isfinite(query->separation))
        query->separation = 1e308;
    query->tolerance *= scale > 1e-310 ? scale : 1;
}

static inline void set_mixed(struct dice *dice, struct tac_ccd_query *query, bool apart)
{
    static const int spans[] = {20, 30, 30, 60, 60, 60, 150};
    int span = roll_int(dice, 1000) == 0 ? 2097 : spans[roll_int(dice, 7)], low = roll_int(dice, 2098 - span) - 1074;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            query->x0[i][k] = ldexp(roll(dice, -1, 1), low + roll_int(dice, span));
            query->x1[i][k] = ldexp(roll(dice, -1, 1), low + roll_int(dice, span));
        }
    query->separation = apart ? ldexp(1, low + roll_int(dice, span)) : 0;
    query->tolerance = ldexp(1, low + span - 30);
}

static inline enum tac_ccd_type roll_type(struct dice *dice)
{
    static const enum tac_ccd_type types[] = {TAC_CCD_VERTEX_TRIANGLE, TAC_CCD_VERTEX_TRIANGLE, TAC_CCD_VERTEX_TRIANGLE,
                                              TAC_CCD_EDGE_EDGE,       TAC_CCD_EDGE_EDGE,       TAC_CCD_EDGE_EDGE,
                                              TAC_CCD_VERTEX_EDGE,     TAC_CCD_VERTEX_VERTEX};
    return types[roll_int(dice, 8)];
}

/* Query n of a family. */
static inline void make_query(uint64_t seed, enum family family, uint64_t n, struct tac_ccd_query *query)
{
    struct dice dice = {tac_hash64(seed, (uint64_t)family << 40 | n), 0};
    memset(query, 0, sizeof *query);
    query->type = roll_type(&dice);
    query->tolerance = 1e-6;
    query->most_boxes = 4000;
    /* With a codimension to spare, vertices never meet edges or vertices by chance. */
    bool apart = query->type >= TAC_CCD_VERTEX_EDGE ? roll(&dice, 0, 1) < .75 : roll(&dice, 0, 1) < .25;
    switch (family) {
    case RANDOM:
        set_random(&dice, query);
        query->separation = apart ? pow(10, roll(&dice, -8, -.5)) : 0;
        break;
    case MOVING:
        set_moving(&dice, query);
        query->separation = apart ? pow(10, roll(&dice, -8, -.5)) : 0;
        break;
    case NEAR_MISS:
        set_near_miss(&dice, query);
        query->tolerance = 1e-9;
        query->separation = apart ? pow(10, roll(&dice, -8, -4)) : 0;
        break;
    case MIXED:
        set_mixed(&dice, query, apart);
        break;
    default:
        set_degenerate(&dice, query, family);
        query->separation = apart ? .25 * roll_int(&dice, 9) : 0;
        transform(&dice, query);
        break;
    }
}

#endif
