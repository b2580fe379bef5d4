/* speeds.c: refuses speeds that cannot be simulated: coordinates would be lost to rounding after a few steps, and until
 * then every vertex would be near every other.
 *
 * The limit is MOST_SIZES times the size of the largest body in one step, the shortest of clocks.gravity_s,
 * clocks.elastic_s and time.frame: 1e9 m/s for a body of a metre and the usual clocks. */
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

static const double MOST_SIZES = 1e6;

double tac_scene_step(const struct tac_scene *scene)
{
    return fmin(scene->settings->clocks.gravity_s, fmin(scene->settings->clocks.elastic_s, scene->settings->frame_s));
}

/* The size of the largest body, surface and thickness included, m. */
static enum tac_err find_largest_body(struct tac_reader *reader, double *size)
{
    const struct tac_scene *s = reader->scene;
    const size_t n = 6 * (size_t)s->settings->body_count;
    double *reach = NULL; /* of each body: highest x, y, z, and the lowest with the sign turned */
    enum tac_err err = tac_alloc(reader->ctx, n, sizeof *reach, &reach);
    TAC_TRY(tac_reader_agree(reader, err));
    for (size_t i = 0; i < n; i++)
        reach[i] = -INFINITY;
    for (tac_lid b = 0; b < s->settings->body_count; b++)
        for (tac_lid i = reader->rows[b][TAC_VERTICES].begin; i < reader->rows[b][TAC_VERTICES].end; i++)
            for (size_t k = 0; k < 3; k++) {
                const double x = s->mesh->x[3 * (size_t)i + k];
                reach[6 * (size_t)b + k] = fmax(reach[6 * (size_t)b + k], x);
                reach[6 * (size_t)b + 3 + k] = fmax(reach[6 * (size_t)b + 3 + k], -x);
            }
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, reach, (int)n, MPI_DOUBLE, MPI_MAX, reader->ctx->comm);
    *size = 0;
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        double d[3];
        for (size_t k = 0; k < 3; k++)
            d[k] = reach[6 * (size_t)b + k] + reach[6 * (size_t)b + 3 + k];
        *size = fmax(*size, sqrt(tac_dot(d, d)) + 2 * s->settings->body[b].radius + s->settings->contact.thickness);
    }
done:
    free(reach);
    return err;
}

/* The end of a sentence that names a speed. */
static enum tac_err too_fast(struct tac_reader *reader, const char *where, const char *what, double speed)
{
    const struct tac_scene *s = reader->scene;
    const double step = tac_scene_step(s);
    return tac_scene_fail(reader, where,
                          "%s %.3g m/s, which is %.3g m in a step of %.3g s, over a million times the size of the "
                          "largest body, and cannot be simulated; stay under %.3g m/s",
                          what, speed, speed * step, step, s->settings->fastest);
}

/* The key of the body that has most of the speed. */
static const char *key_of(const struct tac_body *body, double speed)
{
    const double straight = sqrt(tac_dot(body->velocity, body->velocity));
    const double random = body->has_random_speed ? body->random_speed[1] : 0;
    return straight >= .3 * speed         ? "velocity"
           : random >= .3 * speed         ? "random_speed"
           : body->start_velocity != NULL ? "start"
                                          : "angular_velocity";
}

enum tac_err tac_scene_check_start(struct tac_reader *reader, tac_lid b)
{
    const struct tac_scene *s = reader->scene;
    const struct tac_body *body = &s->settings->body[b];
    const struct tac_rows rows = reader->rows[b][TAC_VERTICES];
    char where[TAC_WHERE], place[TAC_WHERE], what[160];
    for (tac_lid i = rows.begin; i < rows.end; i++) {
        const double *v = s->mesh->v + 3 * (size_t)i, speed = sqrt(tac_dot(v, v));
        if (speed <= s->settings->fastest)
            continue;
        tac_where_index(where, "bodies", (size_t)b);
        tac_where(place, where, key_of(body, speed));
        snprintf(what, sizeof what, "\"%.60s\" starts its vertex %d at", body->name,
                 (int)(rows.number + i - rows.begin));
        return too_fast(reader, place, what, speed);
    }
    return TAC_OK;
}

/* How far the motion's vertices are from its axis, at most. */
static double longest_arm(const struct tac_reader *reader, tac_lid index)
{
    const struct tac_scene *s = reader->scene;
    const struct tac_motion *m = &s->settings->motion[index];
    double arm = 0;
    for (tac_lid i = 0; i < s->mesh->vertex_count; i++) {
        double d[3], across[3];
        if (reader->motion[i] != index)
            continue;
        tac_sub(d, s->mesh->x + 3 * (size_t)i, m->center);
        tac_cross(across, m->axis, d);
        arm = fmax(arm, sqrt(tac_dot(across, across)));
    }
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, &arm, 1, MPI_DOUBLE, MPI_MAX, reader->ctx->comm);
    return arm;
}

static enum tac_err check_motion(struct tac_reader *reader, tac_lid index)
{
    const struct tac_scene *s = reader->scene;
    const struct tac_motion *m = &s->settings->motion[index];
    if (m->cache != NULL)
        return tac_scene_check_positions(reader, index);
    for (tac_lid k = 1; k < m->knot_count; k++) {
        char where[TAC_WHERE], place[TAC_WHERE];
        double d[3] = {0, 0, 0}, length;
        if (m->degrees == NULL)
            tac_sub(d, m->displacement + 3 * (size_t)k, m->displacement + 3 * (size_t)(k - 1));
        length =
            m->degrees != NULL ? fabs(m->degrees[k] - m->degrees[k - 1]) * TAC_PI / 180 * m->arm : sqrt(tac_dot(d, d));
        const double speed = length / (m->knot_t_s[k] - m->knot_t_s[k - 1]);
        if (speed <= s->settings->fastest)
            continue;
        tac_where_index(where, "motions", (size_t)index);
        tac_where(place, where, m->degrees != NULL ? "rotate.path" : "path");
        tac_where_index(where, place, (size_t)k);
        return too_fast(reader, where, "is reached at", speed);
    }
    return TAC_OK;
}

static enum tac_err check_gravity(struct tac_reader *reader)
{
    const struct tac_scene *s = reader->scene;
    const double step = tac_scene_step(s), gravity = sqrt(tac_dot(s->settings->gravity, s->settings->gravity));
    return gravity * step <= s->settings->fastest ? TAC_OK
                                                  : too_fast(reader, "gravity", "gives in a step", gravity * step);
}

enum tac_err tac_scene_check_speeds(struct tac_reader *reader)
{
    struct tac_scene *s = reader->scene;
    double size;
    enum tac_err err = TAC_OK;
    TAC_TRY(find_largest_body(reader, &size));
    s->settings->fastest = size > 0 ? MOST_SIZES * size / tac_scene_step(s) : INFINITY;
    TAC_TRY(check_gravity(reader));
    for (tac_lid b = 0; b < s->settings->body_count; b++)
        TAC_TRY(tac_reader_agree(reader, tac_scene_check_start(reader, b)));
    for (tac_lid i = 0; i < s->settings->motion_count; i++)
        s->settings->motion[i].arm = s->settings->motion[i].degrees != NULL ? longest_arm(reader, i) : 0;
    for (tac_lid i = 0; i < s->settings->motion_count; i++)
        TAC_TRY(check_motion(reader, i));
done:
    return err;
}

enum tac_err tac_scene_recheck_speeds(struct tac_reader *reader)
{
    enum tac_err err;
    TAC_TRY(check_gravity(reader));
    for (tac_lid i = 0; i < reader->scene->settings->motion_count; i++)
        TAC_TRY(check_motion(reader, i));
done:
    return err;
}
