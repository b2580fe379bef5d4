/* sizes.c: warns about sizes that do not fit the units that the scene declares. A scene without units may be in any
 * consistent system, so there are no warnings about it. */
#include "scene/scene_read.h"

#include <tactus/math.h>

/* In SI. */
#define SMALLEST 1e-6 /* m, of the whole scene: cells have 1e-5 */
#define LARGEST 1e5   /* m */
#define WEAKEST .1    /* m/s^2, of gravity: the Moon's is 1.6 */
#define STRONGEST 100 /* m/s^2: Jupiter's is 25 */
#define EARTH 9.81

static void doubt_gravity(struct tac_reader *reader)
{
    const struct tac_settings *s = reader->scene->settings;
    const struct tac_units *u = &s->units;
    const double unit = u->length_m / (u->time_s * u->time_s), g = sqrt(tac_dot(s->gravity, s->gravity));
    if (g == 0 || (g * unit >= WEAKEST && g * unit <= STRONGEST))
        return;
    tac_scene_warn(reader, "gravity",
                   "is %.4g %s/%s^2, which is %.3g m/s^2; the Earth's 9.81 m/s^2 would be %.6g: is it in the units of "
                   "the scene?",
                   g, u->length, u->time, g * unit, EARTH / unit);
}

/* The longest side of the box around all vertices. */
static double extent(const struct tac_reader *reader)
{
    const struct tac_local_mesh *m = reader->scene->mesh;
    double far[6], most = 0;
    for (int c = 0; c < 6; c++)
        far[c] = -INFINITY;
    for (size_t i = 0; i < (size_t)m->vertex_count; i++)
        for (size_t c = 0; c < 3; c++) {
            far[c] = fmax(far[c], m->x[3 * i + c]);
            far[3 + c] = fmax(far[3 + c], -m->x[3 * i + c]);
        }
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, far, 6, MPI_DOUBLE, MPI_MAX, reader->ctx->comm);
    for (int c = 0; c < 3; c++)
        most = fmax(most, far[c] + far[3 + c]);
    return most;
}

enum tac_err tac_scene_doubt_units(struct tac_reader *reader)
{
    const struct tac_units *u = &reader->scene->settings->units;
    if (!u->given)
        return TAC_OK;
    const double size = extent(reader);
    doubt_gravity(reader);
    if (size > 0 && (size * u->length_m < SMALLEST || size * u->length_m > LARGEST))
        tac_scene_warn(reader, "units.length",
                       "is \"%s\", so the scene is %.3g m wide; are the meshes in another unit?  \"scale\" of a body "
                       "converts them",
                       u->length, size * u->length_m);
    return TAC_OK;
}
