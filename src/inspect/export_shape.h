/* export_shape.h: declares how a file of export tells the bodies that keep their shape, and how these move. */
#ifndef TACTUS_INSPECT_EXPORT_SHAPE_H
#define TACTUS_INSPECT_EXPORT_SHAPE_H

#include <stdbool.h>
#include <tactus/base.h>

/* The vertices begin ... end of a run, in `count` frames. */
struct tac_shape {
    const float *x; /* (count, vertices, 3) */
    tac_lid vertices, begin, end;
    int64_t count;
};

static inline const float *tac_shape_place(const struct tac_shape *s, int64_t k, tac_lid i)
{
    return &s->x[3 * ((size_t)k * (size_t)s->vertices + (size_t)i)];
}

/* c = a x b; returns its length. */
double tac_shape_cross(const double a[3], const double b[3], double c[3]);
/* Does nothing of it ever move? */
bool tac_shape_is_still(const struct tac_shape *s);
/* Is every vertex, in all frames, where a rigid motion takes it, but for the rounding of single precision? */
bool tac_shape_is_kept(const struct tac_shape *s);
/* The motion from the first frame to frame k: place = turn * (first place) + shift. False: all vertices are on a line.
 */
bool tac_shape_motion(const struct tac_shape *s, int64_t k, double turn[3][3], double shift[3]);

#endif
