/* ranks.c: exchanges positions between ranks within a pass (ranks.h; docs/reference/ranks.md, A pass). */
#include "events/ranks/ranks.h"
#include "broadphase/candidates.h"
#include "events/ranks/immovable.h"
#include "events/windows/windows.h"
#include "state/spin.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_TICK = 11 };

/* The header of every tick message and closing message. */
struct header {
    int64_t pass;
    tac_time t;   /* instant; TAC_TIME_NEVER: the pass is closed */
    int64_t down; /* enum tac_err */
    int64_t unused;
};

void tac_ranks_changed(struct tac_ranks *ranks)
{
    if (ranks)
        ranks->halo.changed = true;
}

void tac_ranks_failed(struct tac_ranks *ranks, enum tac_err err)
{
    tac_halo_failed(&ranks->halo, err);
}

enum tac_err tac_ranks_hold(struct tac_ranks *ranks, enum tac_err err)
{
    if (!ranks)
        return err;
    tac_ranks_failed(ranks, err);
    return TAC_OK;
}

/* ---- passes ---- */

void tac_ranks_again(struct tac_ranks *ranks)
{
    for (size_t k = 0; k < ranks->halo.count; k++)
        ranks->halo.neighbor[k].closed = false;
    for (size_t k = 0; k < ranks->wanted_count; k++)
        ranks->has_path[ranks->wanted[k]] = 0;
    ranks->wanted_count = 0;
    ranks->pass++;
}

bool tac_ranks_concerned(struct tac_sim *sim, uint8_t *mark)
{
    const struct tac_ranks *r = sim->ranks;
    const int me = sim->ctx->rank, size = sim->ctx->size;
    const double begin_s = tac_wall_s();
    int64_t before = -1, now;
    for (;; before = now) {
        for (size_t k = 0; k < r->halo.count; k++)
            mark[me] |= r->halo.neighbor[k].met && mark[r->halo.neighbor[k].rank];
        if (r->everyone || r->halo.down)
            mark[me] = 1;
        if (MPI_Allreduce(MPI_IN_PLACE, mark, size, MPI_UINT8_T, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
            tac_halo_mpi_failed(&sim->ranks->halo, "looking for those who must run again");
        now = 0;
        for (int k = 0; k < size; k++)
            now += mark[k];
        if (now == before || now == size)
            break;
    }
    sim->books.counters.seconds_waiting += tac_wall_s() - begin_s;
    return mark[me] != 0;
}

enum tac_err tac_ranks_begin(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_ranks *r = sim->ranks;
    if (r->halo.changed)
        TAC_TRY(tac_ranks_schedule(sim));
    TAC_TRY(tac_ranks_list_meetings(sim));
    tac_ranks_again(sim->ranks);
done:
    return err;
}

/* ---- meeting ---- */

static void post_message(struct tac_sim *sim, struct tac_neighbor *n, size_t bytes)
{
    tac_halo_delay(&sim->ranks->halo);
    if (MPI_Isend(n->out, (int)bytes, MPI_BYTE, n->rank, TAG_TICK, sim->ctx->comm, &n->request) != MPI_SUCCESS)
        tac_halo_mpi_failed(&sim->ranks->halo, "sending positions");
    sim->ranks->halo.messages++;
    sim->ranks->deep_messages += sim->ranks->shortest < tac_windows_deep(&sim->windows);
    sim->ranks->halo.bytes += (int64_t)bytes;
}

/* Returns the number of vertices that a lane carries at t; their groups are [0, *groups). */
static size_t count_due(const struct tac_sim *sim, const struct tac_lane *lane, tac_time t)
{
    size_t n = 0;
    if (sim->ranks->halo.nested) {
        uint64_t mask = lane->mask & (((uint64_t)t & -(uint64_t)t) * 2 - 1);
        for (; mask; mask &= mask - 1)
            n += lane->group[__builtin_ctzll(mask)].count;
    } else {
        for (size_t k = 0; k < lane->group_count; k++)
            n += t % lane->group[k].period == 0 ? lane->group[k].count : 0;
    }
    return n;
}

/* Numbers of a vertex in a message: its position, and how far it has turned. */
static size_t numbers(const struct tac_sim *sim)
{
    return sim->state.spin != NULL ? 6 : 3;
}

static size_t pack_positions(const struct tac_sim *sim, const struct tac_group *g, tac_time t, double *x)
{
    const size_t n = numbers(sim);
    for (size_t i = 0; i < g->count; i++) {
        tac_position(&sim->state, &sim->scripts, g->v[i], t, x + n * i);
        if (n > 3)
            tac_spin_turn(&sim->state, g->v[i], t, x + n * i + 3);
    }
    return n * g->count;
}

static size_t unpack_positions(struct tac_sim *sim, const struct tac_group *g, tac_time t, const double *x)
{
    const size_t n = numbers(sim);
    for (size_t i = 0; i < g->count; i++) {
        struct tac_pos *pos = &sim->state.pos[g->v[i]];
        memcpy(pos->x, x + n * i, sizeof pos->x);
        pos->t = t;
        if (n > 3)
            memcpy(sim->state.spin[g->v[i]].base, x + n * i + 3, sizeof sim->state.spin->base);
    }
    return n * g->count;
}

static void send_positions(struct tac_sim *sim, struct tac_neighbor *n, tac_time t)
{
    const struct tac_lane *lane = &n->send;
    const size_t count = count_due(sim, lane, t), bytes = sizeof(struct header) + numbers(sim) * count * sizeof(double);
    if (count == 0)
        return;
    MPI_Wait(&n->request, MPI_STATUS_IGNORE);
    if (!tac_halo_buffer(&sim->ranks->halo, &n->out, &n->out_capacity, bytes))
        return;
    *(struct header *)n->out = (struct header){sim->ranks->pass, t, 0, 0};
    double *x = (double *)(n->out + sizeof(struct header));
    if (sim->ranks->halo.nested) {
        uint64_t mask = lane->mask & (((uint64_t)t & -(uint64_t)t) * 2 - 1);
        for (; mask; mask &= mask - 1)
            x += pack_positions(sim, &lane->group[__builtin_ctzll(mask)], t, x);
    } else {
        for (size_t k = 0; k < lane->group_count; k++)
            if (t % lane->group[k].period == 0)
                x += pack_positions(sim, &lane->group[k], t, x);
    }
    post_message(sim, n, bytes);
}

/* Receives one tick message of any size from a neighbour. */
static const struct header *receive_header(struct tac_sim *sim, struct tac_neighbor *n)
{
    MPI_Message message;
    MPI_Status status;
    int bytes = 0;
    const double begin_s = tac_wall_s();
    if (MPI_Mprobe(n->rank, TAG_TICK, sim->ctx->comm, &message, &status) != MPI_SUCCESS) {
        tac_halo_mpi_failed(&sim->ranks->halo, "receiving positions");
        return NULL;
    }
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (!tac_halo_buffer(&sim->ranks->halo, &n->in, &n->in_capacity, (size_t)bytes))
        tac_give_up(sim->ctx); /* the neighbour waits until its message is received */
    MPI_Mrecv(n->in, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    sim->books.counters.seconds_waiting += tac_wall_s() - begin_s;
    const struct header *h = (const struct header *)n->in;
    if (h->t == TAC_TIME_NEVER) {
        n->closed = true;
        n->heard_count = (size_t)bytes;
        if (h->down)
            tac_ranks_failed(sim->ranks, (enum tac_err)h->down);
    }
    return h;
}

static void receive_positions(struct tac_sim *sim, struct tac_neighbor *n, tac_time t)
{
    const struct tac_lane *lane = &n->receive;
    const size_t count = count_due(sim, lane, t);
    if (count == 0)
        return;
    const struct header *h = receive_header(sim, n);
    if (h == NULL || h->t == TAC_TIME_NEVER)
        return;
    TAC_CHECK(h->pass == sim->ranks->pass && h->t == t);
    const double *x = (const double *)(n->in + sizeof *h);
    if (sim->ranks->halo.nested) {
        uint64_t mask = lane->mask & (((uint64_t)t & -(uint64_t)t) * 2 - 1);
        for (; mask; mask &= mask - 1)
            x += unpack_positions(sim, &lane->group[__builtin_ctzll(mask)], t, x);
    } else {
        for (size_t k = 0; k < lane->group_count; k++)
            if (t % lane->group[k].period == 0)
                x += unpack_positions(sim, &lane->group[k], t, x);
    }
}

/* Nested clocks: does this rank send and receive nothing at t? */
static bool is_silent_instant(const struct tac_ranks *r, tac_time t)
{
    return r->halo.nested && (r->mask & (((uint64_t)t & -(uint64_t)t) * 2 - 1)) == 0;
}

bool tac_ranks_send(struct tac_sim *sim, tac_time t)
{
    struct tac_ranks *r = sim->ranks;
    if (r->halo.down || is_silent_instant(r, t))
        return r->halo.down == TAC_OK;
    if (r->fail_at && --r->fail_at == 0)
        tac_ranks_failed(sim->ranks, tac_fail(sim->ctx, TAC_ERR_RUN, "rank %d fails on purpose at t = %.9g s",
                                              sim->ctx->rank, tac_state_seconds(&sim->state, t)));
    tac_ranks_wake(sim, t);
    for (size_t k = 0; k < r->halo.count && !r->halo.down; k++)
        if (r->halo.neighbor[k].awake)
            send_positions(sim, &r->halo.neighbor[k], t);
    return r->halo.down == TAC_OK;
}

bool tac_ranks_receive(struct tac_sim *sim, tac_time t)
{
    struct tac_ranks *r = sim->ranks;
    if (r->halo.down || is_silent_instant(r, t))
        return r->halo.down == TAC_OK;
    for (size_t k = 0; k < r->halo.count && !r->halo.down; k++)
        if (r->halo.neighbor[k].awake)
            receive_positions(sim, &r->halo.neighbor[k], t);
    return r->halo.down == TAC_OK;
}

/* ---- closing ---- */

static bool motions_wanted(const struct tac_sim *sim)
{
    return sim->view.candidates && sim->find.validates && !sim->ranks->halo.down;
}

static void send_closing(struct tac_sim *sim, struct tac_neighbor *n)
{
    struct tac_ranks *r = sim->ranks;
    const size_t count = motions_wanted(sim) ? n->give_count : 0;
    size_t bytes = sizeof(struct header) + count * sizeof(struct tac_move_message);
    MPI_Wait(&n->request, MPI_STATUS_IGNORE);
    if (!tac_halo_buffer(&sim->ranks->halo, &n->out, &n->out_capacity, bytes))
        bytes = sizeof(struct header); /* there is always room for that: tac_grow gives more than that at once */
    if (n->out == NULL)
        tac_give_up(sim->ctx); /* not one byte of memory: no message can be sent */
    *(struct header *)n->out = (struct header){r->pass, TAC_TIME_NEVER, r->halo.down, 0};
    struct tac_move_message *m = (struct tac_move_message *)(n->out + sizeof(struct header));
    for (size_t i = 0; i < count && !r->halo.down; i++)
        tac_move_put(sim->view.candidates, n->give[i], &m[i]);
    post_message(sim, n, bytes);
}

static void take_motions(struct tac_sim *sim, struct tac_neighbor *n)
{
    const struct tac_move_message *m = (const struct tac_move_message *)(n->in + sizeof(struct header));
    if (!motions_wanted(sim))
        return;
    TAC_CHECK(n->heard_count == sizeof(struct header) + n->need_count * sizeof *m);
    for (size_t i = 0; i < n->need_count; i++)
        tac_move_get(sim->view.candidates, n->need[i], &m[i]);
}

void tac_ranks_close(struct tac_sim *sim)
{
    struct tac_ranks *r = sim->ranks;
    const double begin_s = tac_wall_s();
    for (size_t k = 0; k < r->halo.count; k++)
        if (r->halo.neighbor[k].linked)
            send_closing(sim, &r->halo.neighbor[k]);
    for (size_t k = 0; k < r->halo.count; k++) {
        struct tac_neighbor *n = &r->halo.neighbor[k];
        /* One that is down has not heard all positions that others sent it. */
        while (n->linked && !n->closed)
            receive_header(sim, n);
        if (n->linked)
            take_motions(sim, n);
    }
    sim->books.counters.seconds_exchange += tac_wall_s() - begin_s;
}

/* ---- life ---- */

static void take_hooks(struct tac_sim *sim)
{
    struct tac_ranks *r = sim->ranks;
    const struct tac_hooks *hooks = &sim->ctx->hooks;
    r->halo.delay_us = hooks->delay_us;
    r->halo.delay_seed = hooks->delay_seed * 1000003u + (uint64_t)sim->ctx->rank;
    r->everyone = hooks->everyone;
    if (hooks->fail_rank == sim->ctx->rank)
        r->fail_at = hooks->fail_nth;
}

/* Initialises a new ghost at its start position; its owner will send its state. */
static void ghost_added(void *self, tac_lid v, const struct tac_ghost *ghost)
{
    struct tac_sim *sim = self;
    sim->state.count = sim->ranks->halo.vertices;
    sim->state.capacity = sim->ranks->halo.room;
    tac_model_add_ghost(sim->model, v, ghost);
    memcpy(sim->state.pos[v].x, ghost->start, sizeof ghost->start);
    sim->state.pos[v].t = -1;
    sim->scripts.of[v] = -1;
    sim->paths.break_head[v] = -1;
    if (sim->state.spin != NULL)
        tac_spin_begin(sim->scene, v, false, &sim->state.spin[v]);
}

static bool ghost_needed(const void *self, tac_lid v)
{
    const struct tac_sim *sim = self;
    return sim->paths.near_pairs[v] > 0 || tac_immovable_owes(sim, v);
}

/* Registers all arrays of the simulation with one entry per vertex, which must grow with the ghosts. */
static void enter_arrays(struct tac_sim *sim)
{
    struct tac_halo *halo = &sim->ranks->halo;
    tac_model_grows(sim->model, halo);
    tac_halo_grows(halo, &sim->state.pos, sizeof *sim->state.pos);
    tac_halo_grows(halo, &sim->state.vel, sizeof *sim->state.vel);
    tac_halo_grows(halo, &sim->state.impulse, 3 * sizeof *sim->state.impulse);
    if (sim->state.spin != NULL)
        tac_halo_grows(halo, &sim->state.spin, sizeof *sim->state.spin);
    tac_halo_grows(halo, &sim->immovable.rest, 3 * sizeof *sim->immovable.rest);
    tac_halo_grows(halo, &sim->scripts.of, sizeof *sim->scripts.of);
    tac_halo_grows(halo, &sim->paths.line, sizeof *sim->paths.line);
    tac_halo_grows(halo, &sim->paths.near, sizeof *sim->paths.near);
    tac_halo_grows(halo, &sim->paths.near_pairs, sizeof *sim->paths.near_pairs);
    tac_halo_grows(halo, &sim->paths.break_head, sizeof *sim->paths.break_head);
    tac_halo_grows(halo, &sim->paths.break_first, sizeof *sim->paths.break_first);
    tac_halo_grows(halo, &sim->ranks->has_path, sizeof *sim->ranks->has_path);
    tac_halo_tell(halo, (struct tac_halo_user){sim, ghost_added, ghost_needed});
}

enum tac_err tac_ranks_create(struct tac_sim *sim, struct tac_scene *local)
{
    enum tac_err err;
    struct tac_ctx *ctx = sim->ctx;
    struct tac_ranks *r = NULL;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *r, &r));
    sim->ranks = r;
    TAC_TRY(tac_halo_create(ctx, local, local->settings->clocks.mode == TAC_CLOCKS_NESTED, &r->halo));
    TAC_TRY(tac_alloc(ctx, (size_t)ctx->size, 1, &r->rerun));
    TAC_TRY(tac_alloc(ctx, (size_t)sim->state.capacity, 1, &r->has_path));
    enter_arrays(sim);
    TAC_TRY(tac_ranks_share_elements(sim));
    r->shortest = TAC_TIME_NEVER;
    take_hooks(sim);
done:
    return err;
}

void tac_ranks_destroy(struct tac_ranks *ranks)
{
    if (ranks == NULL)
        return;
    tac_halo_destroy(&ranks->halo);
    free(ranks->fixed);
    free(ranks->shared);
    free(ranks->place);
    free(ranks->meeting);
    free(ranks->wanted);
    free(ranks->order);
    free(ranks->speed);
    free(ranks->rerun);
    free(ranks->has_path);
    free(ranks);
}

uint8_t *tac_ranks_marks(const struct tac_ctx *ctx, struct tac_ranks *ranks)
{
    return memset(ranks->rerun, 0, (size_t)ctx->size);
}

void tac_ranks_clear_deep_messages(struct tac_ranks *ranks)
{
    if (ranks != NULL)
        ranks->deep_messages = 0;
}

int64_t *tac_ranks_fail_at(struct tac_ranks *ranks)
{
    return ranks != NULL ? &ranks->fail_at : NULL;
}

/* ---- the reduction at the end of a window ---- */

enum tac_err tac_ranks_reduce(struct tac_sim *sim, int64_t *tell)
{
    tell[TAC_TELL_STOP] = sim->control.ask_stop;
    tell[TAC_TELL_SAVE] = sim->control.ask_save;
    if (sim->ranks) {
        const double begin_s = tac_wall_s();
        sim->books.counters.seconds_exchange += sim->ranks->halo.exchange_s;
        sim->ranks->halo.exchange_s = 0;
        tell[TAC_TELL_ERROR] = sim->ranks->halo.down;
        tell[TAC_TELL_DEEP_MESSAGES] = sim->ranks->deep_messages;
        if (MPI_Allreduce(MPI_IN_PLACE, tell, TAC_TELLS, MPI_INT64_T, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
            return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed at the end of a window; look at the cluster's network");
        sim->books.counters.seconds_waiting += tac_wall_s() - begin_s;
        if (tell[TAC_TELL_ERROR] != TAC_OK) {
            /* The sentence is with those who failed first, not with those who heard of it. */
            enum tac_err own = sim->ctx->error[0] ? (enum tac_err)tell[TAC_TELL_ERROR] : TAC_ERR_NO;
            enum tac_err err = tac_agree(sim->ctx, own);
            return err > TAC_ERR_NO ? err : TAC_ERR_RUN;
        }
    }
    sim->control.reported_deep_messages = tell[TAC_TELL_DEEP_MESSAGES];
    sim->control.reported_stop = (int)tell[TAC_TELL_STOP];
    sim->control.reported_save = (int)tell[TAC_TELL_SAVE];
    return TAC_OK;
}
