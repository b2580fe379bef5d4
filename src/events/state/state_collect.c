/* state_collect.c: takes the whole state out of a simulation. */
#include "contact/friction.h"
#include "events/ranks/immovable.h"
#include "events/ranks/ranks.h"
#include "events/state/state_transfer.h"
#include "state/spin.h"
#include <stdlib.h>
#include <string.h>

/* Fills the row of vertex k. */
static void fill_vertex_row(const void *from, tac_lid k, struct tac_vertex_record *row)
{
    const struct tac_sim *sim = from;
    const size_t at = 3 * (size_t)k;
    row->id = tac_scene_id(sim->scene, k);
    row->mass = sim->scene->mesh->mass[k];
    row->t = sim->state.pos[k].t;
    memcpy(row->start, &sim->scene->mesh->x[at], sizeof row->start);
    memcpy(row->x, sim->state.pos[k].x, sizeof row->x);
    memcpy(row->v, sim->state.vel[k].v, sizeof row->v);
    memcpy(row->impulse, &sim->state.impulse[at], sizeof row->impulse);
    memcpy(row->rest, &sim->immovable.rest[at], sizeof row->rest);
}

static enum tac_err collect_vertices(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    struct tac_ctx *ctx = sim->ctx;
    const size_t n = (size_t)sim->state.owned;
    c->vertices.count = sim->state.owned;
    TAC_TRY(tac_alloc(ctx, n, sizeof *c->vertices.id, &c->vertices.id));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *c->vertices.start, &c->vertices.start));
    TAC_TRY(tac_alloc(ctx, n, sizeof *c->vertices.mass, &c->vertices.mass));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *c->vertices.x, &c->vertices.x));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *c->vertices.v, &c->vertices.v));
    TAC_TRY(tac_alloc(ctx, n, sizeof *c->vertices.t, &c->vertices.t));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *c->vertices.impulse, &c->vertices.impulse));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *c->vertices.rest, &c->vertices.rest));
    for (size_t i = 0; i < n; i++) {
        struct tac_vertex_record row;
        fill_vertex_row(sim, (tac_lid)i, &row);
        c->vertices.id[i] = row.id;
        c->vertices.mass[i] = row.mass;
        c->vertices.t[i] = row.t;
        memcpy(&c->vertices.start[3 * i], row.start, sizeof row.start);
        memcpy(&c->vertices.x[3 * i], row.x, sizeof row.x);
        memcpy(&c->vertices.v[3 * i], row.v, sizeof row.v);
        memcpy(&c->vertices.impulse[3 * i], row.impulse, sizeof row.impulse);
        memcpy(&c->vertices.rest[3 * i], row.rest, sizeof row.rest);
    }
done:
    return err;
}

/* What grains and motors remember. That of a motor stands at the points that show its angle, of those bodies that are
 * rigid: the owner of another one, as of a vertex that is fixed, may have no such motor. */
static enum tac_err collect_past(const struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    TAC_TRY(
        tac_alloc(sim->ctx, TAC_PAST_NUMBERS * (size_t)sim->state.owned, sizeof *c->vertices.past, &c->vertices.past));
    for (size_t n = 0; n < sim->motors.count; n++)
        for (int side = 0; side < 2; side++) {
            const tac_lid i = sim->motors.motor[n].point[2 + side];
            if (i < sim->state.owned && sim->motors.motor[n].place[side] >= 0) {
                c->vertices.past[TAC_PAST_NUMBERS * (size_t)i] = sim->motors.motor[n].state.angle;
                c->vertices.past[TAC_PAST_NUMBERS * (size_t)i + 1] = sim->motors.motor[n].state.kept;
            }
        }
    for (size_t i = 0; i < (size_t)sim->state.owned && sim->state.spin != NULL; i++) {
        if (!(sim->state.spin[i].radius > 0))
            continue;
        memcpy(&c->vertices.past[TAC_PAST_NUMBERS * i], sim->state.spin[i].base, sizeof sim->state.spin->base);
        memcpy(&c->vertices.past[TAC_PAST_NUMBERS * i + 3], sim->state.spin[i].w, sizeof sim->state.spin->w);
    }
done:
    return err;
}

static enum tac_err collect_scripts(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(sim->ctx, sim->scripts.count, sizeof *c->script, &c->script));
    c->script_count = (tac_lid)sim->scripts.count;
    for (size_t k = 0; k < sim->scripts.count; k++) {
        const struct tac_script *s = &sim->scripts.script[k];
        struct tac_script_state *o = &c->script[k];
        o->vertex = tac_scene_id(sim->scene, s->vertex);
        o->next = s->next;
        o->t = s->t;
        o->on = s->on;
        o->caught = s->caught;
        memcpy(o->origin, s->origin, sizeof o->origin);
        memcpy(o->x, s->x, sizeof o->x);
        memcpy(o->v, s->v, sizeof o->v);
        memcpy(o->v_free, s->v_free, sizeof o->v_free);
    }
done:
    return err;
}

static enum tac_err collect_rigid(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_rigid *r = &sim->rigid;
    c->rigid.total = sim->scene->settings->rigid_count;
    TAC_TRY(tac_alloc(sim->ctx, r->count, sizeof *c->rigid.row, &c->rigid.row));
    c->rigid.count = (tac_lid)r->count;
    for (size_t k = 0; k < r->count; k++) {
        const struct tac_rigid_motion *m = &r->motion[k];
        c->rigid.row[k] =
            (struct tac_rigid_row){.vertex = tac_scene_id(sim->scene, r->piece[k].first), .t = m->t, .t1 = m->t1};
        memcpy(&c->rigid.row[k].value[0], m->c, sizeof m->c);
        memcpy(&c->rigid.row[k].value[3], m->u, sizeof m->u);
        memcpy(&c->rigid.row[k].value[6], m->a, sizeof m->a);
        memcpy(&c->rigid.row[k].value[15], m->b, sizeof m->b);
    }
done:
    return err;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct tac_pair_state *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static enum tac_err collect_pairs(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err = TAC_OK;
    size_t capacity = 0, pairs = 0, lasts = 0, last_capacity = 0;
    for (size_t k = 0; k < sim->active.pair_count; k++) {
        const struct tac_pair *p = &sim->active.pair[k];
        if (!p->live || !tac_decides_pair(sim->model, &sim->state, p))
            continue;
        TAC_TRY(tac_grow(sim->ctx, &c->pair, &capacity, pairs + 1, sizeof *c->pair));
        struct tac_pair_state *o = &c->pair[pairs++];
        *o = (struct tac_pair_state){p->key, {-1, -1, -1, -1}, p->depth, (int64_t)lasts, 0};
        for (int i = 0; i < p->count; i++)
            o->vertex[i] = tac_scene_id(sim->scene, p->v[i]);
        for (int32_t first = 1, last; first <= p->depth; first = last + 1) {
            TAC_TRY(tac_grow(sim->ctx, &c->last, &last_capacity, lasts + 1, sizeof *c->last));
            tac_time period = tac_model_layer_group(sim->model, &p->form, first, &last);
            c->last[lasts++] = tac_active_last(sim, p->key, period, first);
            o->groups++;
        }
    }
    c->pair_count = (tac_lid)pairs;
    c->last_count = (tac_lid)lasts;
    if (pairs)
        qsort(c->pair, pairs, sizeof *c->pair, compare_pairs);
done:
    return err;
}

enum tac_err tac_state_counters(const struct tac_sim *sim, struct tac_counters *sum)
{
    *sum = sim->books.counters;
    if (!tac_ranks_halo(sim->ranks))
        return TAC_OK;
    sum->messages_sent += tac_ranks_halo(sim->ranks)->messages;
    sum->bytes_sent += tac_ranks_halo(sim->ranks)->bytes;
    /* Windows and lists are the same everywhere; ticks and messages add up; seconds are means; of passes thrown away
     * the most of any rank count. */
    int64_t most[2] = {sum->deepest_layer, sum->rollbacks};
    int64_t whole[2 * TAC_KINDS + 13];
    double seconds[6] = {sum->seconds_forces,  sum->seconds_contact,  sum->seconds_discovery,
                         sum->seconds_waiting, sum->seconds_exchange, sum->seconds_output};
    int n = 0;
    for (int k = 0; k < TAC_KINDS; k++) {
        whole[n++] = sum->committed[k];
        whole[n++] = sum->executed[k];
    }
    int64_t *const more[] = {&sum->silent,
                             &sum->repeated_ticks,
                             &sum->contacts_found,
                             &sum->certificates_created,
                             &sum->certificates_failed,
                             &sum->certificates_rescheduled,
                             &sum->certificates_reconfirmed,
                             &sum->plans_filed,
                             &sum->candidate_repairs,
                             &sum->candidates,
                             &sum->messages_sent,
                             &sum->bytes_sent,
                             &sum->rigid_plans};
    for (size_t k = 0; k < sizeof more / sizeof more[0]; k++)
        whole[n++] = *more[k];
    if (MPI_Allreduce(MPI_IN_PLACE, whole, n, MPI_INT64_T, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS ||
        MPI_Allreduce(MPI_IN_PLACE, seconds, 6, MPI_DOUBLE, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while adding up counters");
    n = 0;
    for (int k = 0; k < TAC_KINDS; k++) {
        sum->committed[k] = whole[n++];
        sum->executed[k] = whole[n++];
    }
    for (size_t k = 0; k < sizeof more / sizeof more[0]; k++)
        *more[k] = whole[n++];
    double *const into[] = {&sum->seconds_forces,  &sum->seconds_contact,  &sum->seconds_discovery,
                            &sum->seconds_waiting, &sum->seconds_exchange, &sum->seconds_output};
    for (int k = 0; k < 6; k++)
        *into[k] = seconds[k] / sim->ctx->size;
    if (MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while adding up counters");
    sum->deepest_layer = most[0];
    sum->rollbacks = most[1];
    return TAC_OK;
}

static enum tac_err collect_sums(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_accum *couple = sim->books.couple;
    struct tac_accum sum[8] = {{.pending = 0}, sim->books.work, couple[0], couple[1], couple[2]};
    double book[2] = {sim->books.book.work, sim->books.book.absolute};
    tac_books_dissipated(&sim->books, &sum[0], &sum[5]);
    TAC_TRY(tac_sum_all(sim->ctx, sum, 8));
    c->dissipated = sum[0];
    c->work = sum[1];
    memcpy(c->couple, &sum[2], sizeof c->couple);
    memcpy(c->lost, &sum[5], sizeof c->lost);
    c->has_losses = sim->books.losses_known;
    c->total_start = sim->books.total_start;
    tac_accum_carry(&c->total_start);
    c->has_start = sim->books.has_start;
    c->kinetic_start = sim->books.kinetic_start;
    c->deepest_layer = sim->books.deepest_layer;
    if (tac_ranks_halo(sim->ranks) &&
        (MPI_Allreduce(MPI_IN_PLACE, book, 2, MPI_DOUBLE, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS ||
         MPI_Allreduce(MPI_IN_PLACE, &c->deepest_layer, 1, MPI_INT64_T, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS))
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while adding up the book of works");
    c->book_work = book[0];
    c->book_absolute = book[1];
    TAC_TRY(tac_state_counters(sim, &c->counters));
done:
    return err;
}

enum tac_err tac_state_collect(struct tac_sim *sim, bool write, struct tac_checkpoint **out)
{
    enum tac_err err;
    const struct tac_scene *s = sim->scene;
    struct tac_checkpoint *c = NULL;
    *out = NULL;
    if ((err = tac_agree(sim->ctx, tac_immovable_gather(sim))) != TAC_OK)
        return err;
    TAC_TRY(tac_alloc(sim->ctx, 1, sizeof *c, &c));
    c->now = sim->state.now;
    c->trajectory.generation = TAC_TRAJECTORY_GENERATION;
    c->vertex_total = s->mesh->part ? s->mesh->part->vertex_total : s->mesh->vertex_count;
    c->triangle_total = s->mesh->part ? s->mesh->part->triangle_total : s->mesh->triangle_count;
    c->segment_total = s->mesh->part ? s->mesh->part->segment_total : s->mesh->segment_count;
    c->tetrahedron_total = s->mesh->part ? s->mesh->part->tetrahedron_total : s->mesh->tetrahedron_count;
    c->has_past = sim->state.spin != NULL || s->settings->motor_s > 0;
    if (write && !c->has_past)
        c->vertices = (struct tac_vertex_rows){.count = sim->state.owned, .look = fill_vertex_row, .from = sim};
    else
        TAC_TRY(collect_vertices(sim, c));
    if (c->has_past)
        TAC_TRY(collect_past(sim, c));
    TAC_TRY(tac_mesh_rows_collect(sim->ctx, sim->scene, &c->mesh));
    TAC_TRY(collect_scripts(sim, c));
    TAC_TRY(collect_rigid(sim, c));
    if (sim->contact)
        TAC_TRY(collect_pairs(sim, c));
    TAC_TRY(tac_elements_collect(sim, c));
    TAC_TRY(tac_friction_collect(sim, c));
done:
    err = tac_agree(sim->ctx, err);
    if (!err)
        err = tac_agree(sim->ctx, collect_sums(sim, c));
    if (err)
        tac_checkpoint_destroy(&c);
    *out = c;
    return err;
}
