/* follow_pose.c: histories of kind pose: where a rigid body, or each of its pieces, is, and how it moves and turns. All
 * vertices of a piece belong to one rank, so that rank's sums are those of the piece. */
#include "base/exchange.h"
#include "run/follow_room.h"
#include "state/pose.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* A row of one piece, which is sent to rank 0. */
struct pose_row {
    tac_gid vertex; /* the piece's first one, within the body; first, because rows are sorted by it */
    int64_t vertices;
    double value[TAC_FOLLOW_VALUES], pose[TAC_FOLLOW_POSE];
};

/* Turns a vector by a unit quaternion w, x, y, z. */
static void turn(const double q[4], const double v[3], double out[3])
{
    double once[3], twice[3];
    tac_cross(once, q + 1, v);
    for (int c = 0; c < 3; c++)
        once[c] += q[0] * v[c];
    tac_cross(twice, q + 1, once);
    for (int c = 0; c < 3; c++)
        out[c] = v[c] + 2 * twice[c];
}

/* Of its motion and its turning. */
static double kinetic_energy(const struct tac_rigid_body *body, const struct tac_pose *pose)
{
    double sum = body->mass * tac_dot(pose->velocity, pose->velocity);
    for (int k = 0; k < 3; k++) {
        double axis[3];
        turn(pose->rotation, body->axis[k], axis);
        const double w = tac_dot(axis, pose->spin);
        sum += (body->second[(k + 1) % 3] + body->second[(k + 2) % 3]) * w * w;
    }
    return .5 * sum;
}

/* The sums of the contact forces on the meshes of this rank's pieces. sum: (pieces, 3). */
static void add_contact_forces(const struct tac_looking *l, tac_lid body, struct tac_accum *sum)
{
    const struct tac_settings *s = l->scene->settings;
    for (tac_lid i = 0; i < l->view.owned; i++) {
        const tac_gid id = tac_scene_id(l->scene, i);
        double force[3];
        if (l->scene->mesh->vertex_body[i] != body || id >= tac_body_mesh_end(&s->body[body]))
            continue;
        const size_t piece = (size_t)(tac_rigid_of(s, body, id) - s->body[body].rigid);
        tac_follow_contact_force(l, i, force);
        for (size_t c = 0; c < 3; c++)
            tac_accum_add(&sum[3 * piece + c], force[c]);
    }
}

static struct pose_row row_of(const struct tac_looking *l, const struct tac_pose *pose, struct tac_accum *force)
{
    const struct tac_settings *s = l->scene->settings;
    const struct tac_rigid_body *rigid = &s->rigid[pose->rigid];
    const struct tac_body *body = &s->body[rigid->body];
    const tac_gid mesh_end = tac_body_mesh_end(body), end = rigid->vertex_end < mesh_end ? rigid->vertex_end : mesh_end;
    struct pose_row row = {.vertex = rigid->vertex_begin - body->vertex_begin,
                           .vertices = end - rigid->vertex_begin,
                           .value = {rigid->mass, kinetic_energy(rigid, pose)}};
    for (int c = 0; c < 3; c++) {
        row.value[2 + c] = pose->center[c];
        row.value[5 + c] = pose->velocity[c];
        row.value[8 + c] = tac_accum_value(&force[c]);
        row.value[11 + c] = NAN; /* no elastic force is told of a body that does not deform */
    }
    memcpy(row.pose, pose->rotation, sizeof pose->rotation);
    memcpy(row.pose + 4, pose->spin, sizeof pose->spin);
    return row;
}

static enum tac_err write_rows(const struct tac_looking *l, tac_lid number, const struct pose_row *row, size_t count,
                               struct tac_follow_lines *lines)
{
    const struct tac_history *h = &l->scene->settings->output.history[number];
    enum tac_err err = TAC_OK;
    for (size_t k = 0; k < count && !err; k++) {
        const int64_t whole[] = {number, h->each ? row[k].vertex : -1, row[k].vertices};
        const struct tac_follow_row line = tac_follow_history_row(l, h->name, whole, row[k].value, NULL, row[k].pose);
        err = tac_follow_line(l->sim->ctx, lines, &line);
    }
    return err;
}

enum tac_err tac_follow_pose(const struct tac_looking *l, tac_lid number, struct tac_follow_lines *lines)
{
    struct tac_ctx *ctx = l->sim->ctx;
    const struct tac_settings *s = l->scene->settings;
    const struct tac_history *h = &s->output.history[number];
    const tac_lid first = s->body[h->body].rigid;
    const size_t pieces = (size_t)s->body[h->body].piece_count;
    struct tac_pose *pose = NULL;
    struct pose_row *row = NULL, *came = NULL;
    struct tac_accum *force = NULL;
    int32_t *to = NULL;
    size_t count = 0, total = 0;
    enum tac_err err = tac_alloc(ctx, (size_t)s->rigid_count, sizeof *pose, &pose);
    if (!err)
        err = tac_alloc(ctx, pieces, sizeof *row, &row);
    if (!err)
        err = tac_alloc(ctx, 3 * pieces, sizeof *force, &force);
    if (!err)
        err = tac_alloc(ctx, pieces, sizeof *to, &to); /* all to rank 0 */
    TAC_TRY(tac_agree(ctx, err));
    add_contact_forces(l, h->body, force);
    const size_t own = l->sim->integrator->poses(l->sim->state, pose);
    for (size_t i = 0; i < own; i++)
        if (pose[i].rigid >= first && (size_t)(pose[i].rigid - first) < pieces)
            row[count++] = row_of(l, &pose[i], &force[3 * (size_t)(pose[i].rigid - first)]);
    TAC_TRY(tac_distribute(ctx, TAC_OK, count, to, row, sizeof *row, &came, &total));
    err = tac_sort_records(ctx, total, sizeof *came, came);
    if (!err)
        err = write_rows(l, number, came, total, lines);
    err = tac_agree(ctx, err);
done:
    free(pose);
    free(row);
    free(came);
    free(force);
    free(to);
    return err;
}
