/* export_shape.c: finds the bodies that keep their shape in all frames (rigid, fixed or moved ones), and how they move.
 */
#include "inspect/export_shape.h"

#include <math.h>
#include <string.h>

bool tac_shape_is_still(const struct tac_shape *s)
{
    for (int64_t k = 1; k < s->count; k++)
        if (memcmp(tac_shape_place(s, 0, s->begin), tac_shape_place(s, k, s->begin),
                   3 * sizeof(float) * (size_t)(s->end - s->begin)) != 0)
            return false;
    return true;
}

double tac_shape_cross(const double a[3], const double b[3], double c[3])
{
    for (int k = 0; k < 3; k++)
        c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    return sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
}

static void difference(const struct tac_shape *s, int64_t k, tac_lid from, tac_lid to, double d[3])
{
    for (int c = 0; c < 3; c++)
        d[c] = (double)tac_shape_place(s, k, to)[c] - (double)tac_shape_place(s, k, from)[c];
}

/* Three vertices far from each other and from one line; false: all are on a line. */
static bool find_corners(const struct tac_shape *s, tac_lid corner[3])
{
    double far = 0, wide = 0, d[3], e[3], n[3];
    corner[0] = corner[1] = corner[2] = s->begin;
    for (tac_lid i = s->begin; i < s->end; i++) {
        difference(s, 0, corner[0], i, d);
        const double length = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (length > far) {
            far = length;
            corner[1] = i;
        }
    }
    difference(s, 0, corner[0], corner[1], d);
    for (tac_lid i = s->begin; i < s->end; i++) {
        difference(s, 0, corner[0], i, e);
        const double area = tac_shape_cross(d, e, n);
        if (area > wide) {
            wide = area;
            corner[2] = i;
        }
    }
    return wide > 1e-6 * far;
}

/* The axes that the three vertices span. */
static bool find_axes(const struct tac_shape *s, int64_t k, const tac_lid corner[3], double axis[3][3])
{
    double d[3];
    difference(s, k, corner[0], corner[1], axis[0]);
    difference(s, k, corner[0], corner[2], d);
    const double length = sqrt(axis[0][0] * axis[0][0] + axis[0][1] * axis[0][1] + axis[0][2] * axis[0][2]);
    const double area = tac_shape_cross(axis[0], d, axis[2]);
    if (!(length > 0) || !(area > 0))
        return false;
    for (int c = 0; c < 3; c++) {
        axis[0][c] /= length;
        axis[2][c] /= area;
    }
    tac_shape_cross(axis[2], axis[0], axis[1]);
    return true;
}

bool tac_shape_motion(const struct tac_shape *s, int64_t k, double turn[3][3], double shift[3])
{
    tac_lid corner[3];
    double first[3][3], now[3][3];
    if (!find_corners(s, corner) || !find_axes(s, 0, corner, first) || !find_axes(s, k, corner, now))
        return false;
    for (int i = 0; i < 3; i++) {
        shift[i] = (double)tac_shape_place(s, k, corner[0])[i];
        for (int j = 0; j < 3; j++) {
            turn[i][j] = now[0][i] * first[0][j] + now[1][i] * first[1][j] + now[2][i] * first[2][j];
            shift[i] -= turn[i][j] * (double)tac_shape_place(s, 0, corner[0])[j];
        }
    }
    return true;
}

bool tac_shape_is_kept(const struct tac_shape *s)
{
    for (int64_t k = 1; k < s->count; k++) {
        double turn[3][3], shift[3], most = 0, size = 0;
        if (!tac_shape_motion(s, k, turn, shift))
            return false;
        for (tac_lid i = s->begin; i < s->end; i++)
            for (int c = 0; c < 3; c++) {
                const float *from = tac_shape_place(s, 0, i), *to = tac_shape_place(s, k, i);
                const double there = turn[c][0] * (double)from[0] + turn[c][1] * (double)from[1] +
                                     turn[c][2] * (double)from[2] + shift[c];
                most = fmax(most, fabs(there - (double)to[c]));
                size = fmax(size, fmax(fabs((double)to[c]), fabs((double)from[c])));
            }
        if (most > 4e-6 * size)
            return false;
    }
    return true;
}
