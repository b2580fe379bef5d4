/* follow_kinds.c: writes rows of histories that keep something from row to row: what has crossed a plane (flux), and
 * the force that holds a body while a motion moves it (reaction). */
#include "base/exchange.h"
#include "run/follow_room.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

static void set_nan(double *value, int count)
{
    for (int k = 0; k < count; k++)
        value[k] = NAN;
}

/* ---- flux ---- */

/* The place of a vertex in the history's table; -1: it is of another body. */
static tac_gid place_of(const struct tac_looking *l, const struct tac_history *h, tac_lid i)
{
    const tac_lid body = l->scene->mesh->vertex_body[i];
    tac_gid before = 0;
    for (tac_lid k = 0; k < h->flux_count; k++) {
        const struct tac_body *b = &l->scene->settings->body[h->flux_body[k]];
        if (h->flux_body[k] == body && tac_scene_id(l->scene, i) < tac_body_mesh_end(b))
            return before + tac_scene_id(l->scene, i) - b->vertex_begin;
        before += b->vertex_end - b->vertex_begin;
    }
    return -1;
}

/* Is the vertex in front of the plane? A vertex on the plane keeps its side. */
static uint8_t side_of(const struct tac_looking *l, const struct tac_history *h, tac_lid i, uint8_t before)
{
    double from[3];
    tac_sub(from, &l->x[3 * (size_t)i], h->point);
    const double height = tac_dot(from, h->normal);
    return height > 0 ? 1 : height < 0 ? 0 : before;
}

enum tac_err tac_follow_flux(const struct tac_looking *l, tac_lid number, struct tac_follow *follow,
                             struct tac_follow_lines *lines)
{
    struct tac_ctx *ctx = l->sim->ctx;
    const struct tac_history *h = &l->scene->settings->output.history[number];
    struct tac_followed *f = &follow->item[number];
    enum tac_err err;
    uint8_t *now = NULL;
    struct tac_accum *mass = NULL;
    int64_t crossed[2] = {0, 0};
    err = tac_alloc(ctx, f->count, 1, &now);
    if (!err)
        err = tac_alloc(ctx, 2, sizeof *mass, &mass);
    TAC_TRY(tac_agree(ctx, err));
    for (tac_lid i = 0; i < l->view.owned; i++) {
        const tac_gid at = place_of(l, h, i);
        if (at < 0)
            continue;
        now[at] = side_of(l, h, i, f->front[at]);
        if (f->begun && now[at] != f->front[at]) {
            const int direction = now[at] ? 0 : 1;
            crossed[direction]++;
            tac_accum_add(&mass[direction], l->scene->mesh->mass[i]);
        }
    }
    MPI_Allreduce(now, f->front, (int)f->count, MPI_UINT8_T, MPI_BOR, ctx->comm);
    MPI_Allreduce(MPI_IN_PLACE, crossed, 2, MPI_INT64_T, MPI_SUM, ctx->comm);
    TAC_TRY(tac_sum_all(ctx, mass, 2));
    for (int k = 0; k < 2; k++) {
        f->crossed[k] += crossed[k];
        tac_accum_merge(&f->mass[k], &mass[k]);
        tac_accum_carry(&f->mass[k]);
    }
    f->begun = true;
    if (ctx->rank == 0) {
        const int64_t whole[] = {number, -1, (int64_t)f->count};
        double value[TAC_FOLLOW_VALUES], more[TAC_FOLLOW_MORE];
        set_nan(value, TAC_FOLLOW_VALUES);
        set_nan(more, TAC_FOLLOW_MORE);
        for (int k = 0; k < 2; k++) {
            more[k] = (double)f->crossed[k];
            more[2 + k] = tac_accum_value(&f->mass[k]);
        }
        const struct tac_follow_row row = tac_follow_history_row(l, h->name, whole, value, more, NULL);
        err = tac_follow_line(ctx, lines, &row);
    }
    err = tac_agree(ctx, err);
done:
    free(now);
    free(mass);
    return err;
}

/* ---- reaction ---- */

enum { HELD, MOVED, GONE, CONTACT = 5, ELASTIC = 8, MOMENT = 11, SUMS = 14 };

/* Gathers the contact impulses of a body since the last frame, (count, 3), from all ranks. */
static enum tac_err gather_contact_impulses(struct tac_ctx *ctx, const struct tac_scene *scene,
                                            const struct tac_state_view *view, tac_lid body, size_t count, double **out)
{
    enum tac_err err;
    const tac_gid begin = scene->settings->body[body].vertex_begin;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 3 * count, sizeof **out, out)));
    for (tac_lid i = 0; i < view->owned; i++) {
        if (scene->mesh->vertex_body[i] != body)
            continue;
        for (size_t c = 0; c < 3; c++)
            (*out)[3 * (size_t)(tac_scene_id(scene, i) - begin) + c] = tac_state_impulse(view, 3 * (size_t)i + c);
    }
    /* Each number comes from one rank, and 0 from the others: their sum is exact. */
    if (ctx->size > 1)
        for (size_t at = 0; at < 3 * count; at += 1 << 28) {
            const size_t left = 3 * count - at;
            MPI_Allreduce(MPI_IN_PLACE, *out + at, left < 1 << 28 ? (int)left : 1 << 28, MPI_DOUBLE, MPI_SUM,
                          ctx->comm);
        }
done:
    return err;
}

enum tac_err tac_follow_frame(struct tac_simulation *sim, struct tac_follow *follow)
{
    const struct tac_output_settings *output = &sim->whole->settings->output;
    const struct tac_scene *scene = sim->local != NULL ? sim->local : sim->whole;
    const struct tac_state_view view = tac_simulation_view(sim);
    enum tac_err err = TAC_OK;
    double *impulse = NULL;
    for (tac_lid k = 0; k < output->history_count; k++) {
        struct tac_followed *f = &follow->item[k];
        if (output->history[k].kind != TAC_HISTORY_REACTION)
            continue;
        TAC_TRY(gather_contact_impulses(sim->ctx, scene, &view, output->history[k].body, f->count, &impulse));
        for (size_t c = 0; c < 3 * f->count; c++)
            f->pending[c] += impulse[c];
        free(impulse);
        impulse = NULL;
    }
done:
    free(impulse);
    return err;
}

static void add_held(const struct tac_looking *l, tac_lid i, const double contact[3], struct tac_accum *sum)
{
    const double *x = &l->x[3 * (size_t)i], *elastic = &l->elastic[3 * (size_t)i];
    double both[3], moment[3];
    for (int c = 0; c < 3; c++)
        both[c] = contact[c] + elastic[c];
    tac_cross(moment, x, both);
    tac_accum_add(&sum[HELD], 1);
    for (int c = 0; c < 3; c++) {
        tac_accum_add(&sum[CONTACT + c], contact[c]);
        tac_accum_add(&sum[ELASTIC + c], elastic[c]);
        tac_accum_add(&sum[MOMENT + c], moment[c]);
    }
}

static void add_moved(const struct tac_looking *l, tac_lid i, struct tac_accum *sum)
{
    double gone[3];
    tac_sub(gone, &l->x[3 * (size_t)i], &l->scene->mesh->x[3 * (size_t)i]);
    tac_accum_add(&sum[MOVED], 1);
    for (int c = 0; c < 3; c++)
        tac_accum_add(&sum[GONE + c], gone[c]);
}

/* stroke, displacement, force, moment. */
static enum tac_err write_reaction(const struct tac_looking *l, tac_lid number, struct tac_accum *sum,
                                   struct tac_follow_lines *lines)
{
    const struct tac_history *h = &l->scene->settings->output.history[number];
    const double moved = tac_accum_value(&sum[MOVED]);
    const int64_t whole[] = {number, -1, (int64_t)tac_accum_value(&sum[HELD])};
    double value[TAC_FOLLOW_VALUES], more[TAC_FOLLOW_MORE], *own = more + TAC_FOLLOW_FLUX;
    set_nan(value, TAC_FOLLOW_VALUES);
    set_nan(more, TAC_FOLLOW_MORE);
    for (int c = 0; c < 3; c++) {
        struct tac_accum force = sum[CONTACT + c];
        tac_accum_merge(&force, &sum[ELASTIC + c]);
        value[8 + c] = tac_accum_value(&sum[CONTACT + c]);
        value[11 + c] = tac_accum_value(&sum[ELASTIC + c]);
        own[1 + c] = moved > 0 ? tac_accum_value(&sum[GONE + c]) / moved : 0;
        own[4 + c] = -tac_accum_value(&force);
        own[7 + c] = -tac_accum_value(&sum[MOMENT + c]);
    }
    own[0] = sqrt(tac_dot(&own[1], &own[1]));
    const struct tac_follow_row row = tac_follow_history_row(l, h->name, whole, value, more, NULL);
    return tac_follow_line(l->sim->ctx, lines, &row);
}

enum tac_err tac_follow_reaction(const struct tac_looking *l, tac_lid number, const tac_lid *index,
                                 struct tac_follow *follow, struct tac_follow_lines *lines)
{
    struct tac_ctx *ctx = l->sim->ctx;
    const struct tac_history *h = &l->scene->settings->output.history[number];
    const tac_gid begin = l->scene->settings->body[h->body].vertex_begin;
    struct tac_followed *f = &follow->item[number];
    const double span_s = (double)(l->view.now - f->last) * l->scene->settings->quantum_s;
    enum tac_err err;
    struct tac_accum *sum = NULL;
    double *impulse = NULL;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, SUMS, sizeof *sum, &sum)));
    TAC_TRY(gather_contact_impulses(ctx, l->scene, &l->view, h->body, f->count, &impulse));
    for (tac_lid i = 0; i < l->view.owned; i++) {
        if (l->scene->mesh->vertex_body[i] != h->body || !tac_follow_selected(l, h, index, i))
            continue;
        const size_t at = 3 * (size_t)(tac_scene_id(l->scene, i) - begin);
        double contact[3];
        for (size_t c = 0; c < 3; c++)
            contact[c] = span_s > 0 ? (f->pending[at + c] + impulse[at + c]) / span_s : 0;
        if (tac_follow_held(l, i))
            add_held(l, i, contact, sum);
        if (l->motion[i] >= 0)
            add_moved(l, i, sum);
    }
    for (size_t c = 0; c < 3 * f->count; c++)
        f->pending[c] = -impulse[c];
    f->last = l->view.now;
    TAC_TRY(tac_sum_all(ctx, sum, SUMS));
    if (ctx->rank == 0)
        err = write_reaction(l, number, sum, lines);
    err = tac_agree(ctx, err);
done:
    free(sum);
    free(impulse);
    return err;
}
