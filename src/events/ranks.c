#include "events/ranks.h"
#include "events/windows.h"
#include "kds/candidates.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG_TICK = 11 };

/* Header of every tick and closing message. */
struct header {
    int64_t pass;
    tac_time t;   /* instant; TAC_TIME_NEVER: the pass is closed */
    int64_t down; /* enum tac_err */
    int64_t unused;
};

/* How a vertex moved over the window. */
struct motion {
    double x[3], u[3], deviation;
    int64_t near;
};

void tac_ranks_changed(struct tac_sim *sim)
{
    if (sim->ranks)
        sim->ranks->changed = true;
}

void tac_ranks_failed(struct tac_sim *sim, enum tac_err err)
{
    if (err && sim->ranks->down == TAC_OK)
        sim->ranks->down = err;
}

enum tac_err tac_ranks_hold(struct tac_sim *sim, enum tac_err err)
{
    if (!sim->ranks)
        return err;
    tac_ranks_failed(sim, err);
    return TAC_OK;
}

/* ---- passes ---- */

void tac_ranks_mpi_failed(struct tac_sim *sim, const char *what)
{
    tac_ranks_failed(sim, tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while %s; look at the cluster's network", what));
}

void tac_ranks_again(struct tac_sim *sim)
{
    struct tac_ranks *r = sim->ranks;
    for (size_t k = 0; k < r->count; k++)
        r->neighbor[k].closed = false;
    for (size_t k = 0; k < r->wanted_count; k++)
        r->has_path[r->wanted[k]] = 0;
    r->wanted_count = 0;
    r->pass++;
}

bool tac_ranks_concerned(struct tac_sim *sim, uint8_t *mark)
{
    const struct tac_ranks *r = sim->ranks;
    const int me = sim->ctx->rank, size = sim->ctx->size;
    const double begin_s = tac_wall_s();
    int64_t before = -1, now;
    for (;; before = now) {
        for (size_t k = 0; k < r->count; k++)
            mark[me] |= r->neighbor[k].met && mark[r->neighbor[k].rank];
        if (r->everyone || r->down)
            mark[me] = 1;
        if (MPI_Allreduce(MPI_IN_PLACE, mark, size, MPI_UINT8_T, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
            tac_ranks_mpi_failed(sim, "looking for those who must run again");
        now = 0;
        for (int k = 0; k < size; k++)
            now += mark[k];
        if (now == before || now == size)
            break;
    }
    sim->counters.seconds_waiting += tac_wall_s() - begin_s;
    return mark[me] != 0;
}

enum tac_err tac_ranks_begin(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_ranks *r = sim->ranks;
    if (r->changed)
        TAC_TRY(tac_ranks_schedule(sim));
    tac_ranks_again(sim);
done:
    return err;
}

/* ---- meeting ---- */

bool tac_ranks_buffer(struct tac_sim *sim, char **buffer, size_t *capacity, size_t bytes)
{
    enum tac_err err = tac_grow(sim->ctx, buffer, capacity, bytes, 1);
    tac_ranks_failed(sim, err);
    return err == TAC_OK;
}

bool tac_ranks_room(struct tac_sim *sim, struct tac_neighbor *n, size_t bytes)
{
    return tac_ranks_buffer(sim, &n->told, &n->told_capacity, bytes);
}

void tac_ranks_delay(struct tac_ranks *r)
{
    if (r->delay_us <= 0)
        return;
    r->delay_seed = r->delay_seed * 6364136223846793005u + 1442695040888963407u;
    const long us = (long)((r->delay_seed >> 33) % (uint64_t)r->delay_us);
    const struct timespec pause = {0, 1000 * us};
    if ((r->delay_seed >> 20) % 8 == 0)
        nanosleep(&pause, NULL);
}

static void post(struct tac_sim *sim, struct tac_neighbor *n, size_t bytes)
{
    tac_ranks_delay(sim->ranks);
    if (MPI_Isend(n->out, (int)bytes, MPI_BYTE, n->rank, TAG_TICK, sim->ctx->comm, &n->request) != MPI_SUCCESS)
        tac_ranks_mpi_failed(sim, "sending positions");
    sim->ranks->messages++;
    sim->ranks->chatter += sim->ranks->shortest < tac_windows_deep(sim);
    sim->ranks->bytes += (int64_t)bytes;
}

/* Number of vertices that go a way at t; their groups are [0, *groups). */
static size_t due(const struct tac_sim *sim, const struct tac_lane *lane, tac_time t)
{
    size_t n = 0;
    if (tac_ranks_nested(sim)) {
        uint64_t mask = lane->mask & (((uint64_t)t & -(uint64_t)t) * 2 - 1);
        for (; mask; mask &= mask - 1)
            n += lane->group[__builtin_ctzll(mask)].count;
    } else {
        for (size_t k = 0; k < lane->group_count; k++)
            n += t % lane->group[k].period == 0 ? lane->group[k].count : 0;
    }
    return n;
}

static size_t pack(const struct tac_sim *sim, const struct tac_group *g, tac_time t, double *x)
{
    for (size_t i = 0; i < g->count; i++)
        tac_position(sim, g->v[i], t, x + 3 * i);
    return 3 * g->count;
}

static size_t unpack(struct tac_sim *sim, const struct tac_group *g, tac_time t, const double *x)
{
    for (size_t i = 0; i < g->count; i++) {
        struct tac_pos *pos = &sim->pos[g->v[i]];
        memcpy(pos->x, x + 3 * i, sizeof pos->x);
        pos->t = t;
    }
    return 3 * g->count;
}

static void send_positions(struct tac_sim *sim, struct tac_neighbor *n, tac_time t)
{
    const struct tac_lane *lane = &n->send;
    const size_t count = due(sim, lane, t), bytes = sizeof(struct header) + 3 * count * sizeof(double);
    if (count == 0)
        return;
    MPI_Wait(&n->request, MPI_STATUS_IGNORE);
    if (!tac_ranks_buffer(sim, &n->out, &n->out_capacity, bytes))
        return;
    *(struct header *)n->out = (struct header){sim->ranks->pass, t, 0, 0};
    double *x = (double *)(n->out + sizeof(struct header));
    if (tac_ranks_nested(sim)) {
        uint64_t mask = lane->mask & (((uint64_t)t & -(uint64_t)t) * 2 - 1);
        for (; mask; mask &= mask - 1)
            x += pack(sim, &lane->group[__builtin_ctzll(mask)], t, x);
    } else {
        for (size_t k = 0; k < lane->group_count; k++)
            if (t % lane->group[k].period == 0)
                x += pack(sim, &lane->group[k], t, x);
    }
    post(sim, n, bytes);
}

/* One message of the tick kind from a neighbour, of whatever size. */
static const struct header *hear(struct tac_sim *sim, struct tac_neighbor *n)
{
    MPI_Message message;
    MPI_Status status;
    int bytes = 0;
    const double begin_s = tac_wall_s();
    if (MPI_Mprobe(n->rank, TAG_TICK, sim->ctx->comm, &message, &status) != MPI_SUCCESS) {
        tac_ranks_mpi_failed(sim, "receiving positions");
        return NULL;
    }
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (!tac_ranks_buffer(sim, &n->in, &n->in_capacity, (size_t)bytes)) {
        MPI_Mrecv(NULL, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        return NULL;
    }
    MPI_Mrecv(n->in, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    sim->counters.seconds_waiting += tac_wall_s() - begin_s;
    const struct header *h = (const struct header *)n->in;
    if (h->t == TAC_TIME_NEVER) {
        n->closed = true;
        n->heard_count = (size_t)bytes;
        if (h->down)
            tac_ranks_failed(sim, (enum tac_err)h->down);
    }
    return h;
}

static void receive_positions(struct tac_sim *sim, struct tac_neighbor *n, tac_time t)
{
    const struct tac_lane *lane = &n->receive;
    const size_t count = due(sim, lane, t);
    if (count == 0)
        return;
    const struct header *h = hear(sim, n);
    if (h == NULL || h->t == TAC_TIME_NEVER)
        return;
    TAC_CHECK(h->pass == sim->ranks->pass && h->t == t);
    const double *x = (const double *)(n->in + sizeof *h);
    if (tac_ranks_nested(sim)) {
        uint64_t mask = lane->mask & (((uint64_t)t & -(uint64_t)t) * 2 - 1);
        for (; mask; mask &= mask - 1)
            x += unpack(sim, &lane->group[__builtin_ctzll(mask)], t, x);
    } else {
        for (size_t k = 0; k < lane->group_count; k++)
            if (t % lane->group[k].period == 0)
                x += unpack(sim, &lane->group[k], t, x);
    }
}

bool tac_ranks_meet(struct tac_sim *sim, tac_time t)
{
    struct tac_ranks *r = sim->ranks;
    if (r->down)
        return false;
    if (tac_ranks_nested(sim) && (r->mask & (((uint64_t)t & -(uint64_t)t) * 2 - 1)) == 0)
        return true;
    if (r->fail_at && --r->fail_at == 0)
        tac_ranks_failed(sim, tac_fail(sim->ctx, TAC_ERR_RUN, "rank %d fails on purpose at t = %.9g s", sim->ctx->rank,
                                       tac_seconds(sim, t)));
    for (size_t k = 0; k < r->count && !r->down; k++)
        send_positions(sim, &r->neighbor[k], t);
    for (size_t k = 0; k < r->count && !r->down; k++)
        receive_positions(sim, &r->neighbor[k], t);
    return r->down == TAC_OK;
}

/* ---- closing ---- */

/* With kinetic structures ranks know each other's plans. */
static bool motions_wanted(const struct tac_sim *sim)
{
    return sim->candidates && sim->mode == TAC_DISCOVER_SPECULATE && !sim->ranks->down;
}

static void put_motion(const struct tac_sim *sim, tac_lid v, struct motion *m)
{
    const struct tac_move *move = &sim->candidates->move[v];
    memcpy(m->x, &sim->candidates->x[3 * (size_t)v], sizeof m->x);
    memcpy(m->u, move->u, sizeof m->u);
    m->deviation = move->deviation;
    m->near = move->near;
}

static void get_motion(struct tac_sim *sim, tac_lid v, const struct motion *m)
{
    struct tac_move *move = &sim->candidates->move[v];
    memcpy(&sim->candidates->x[3 * (size_t)v], m->x, sizeof m->x);
    memcpy(move->u, m->u, sizeof m->u);
    move->deviation = m->deviation;
    move->near = m->near != 0;
}

static void send_closing(struct tac_sim *sim, struct tac_neighbor *n)
{
    struct tac_ranks *r = sim->ranks;
    const size_t count = motions_wanted(sim) ? n->give_count : 0;
    size_t bytes = sizeof(struct header) + count * sizeof(struct motion);
    MPI_Wait(&n->request, MPI_STATUS_IGNORE);
    if (!tac_ranks_buffer(sim, &n->out, &n->out_capacity, bytes))
        bytes = sizeof(struct header); /* there is always room for that: tac_grow gives more than that at once */
    if (n->out == NULL)
        tac_give_up(sim->ctx); /* not one byte of memory: nothing can be told */
    *(struct header *)n->out = (struct header){r->pass, TAC_TIME_NEVER, r->down, 0};
    struct motion *m = (struct motion *)(n->out + sizeof(struct header));
    for (size_t i = 0; i < count && !r->down; i++)
        put_motion(sim, n->give[i], &m[i]);
    post(sim, n, bytes);
}

static void take_motions(struct tac_sim *sim, struct tac_neighbor *n)
{
    const struct motion *m = (const struct motion *)(n->in + sizeof(struct header));
    if (!motions_wanted(sim))
        return;
    TAC_CHECK(n->heard_count == sizeof(struct header) + n->need_count * sizeof *m);
    for (size_t i = 0; i < n->need_count; i++)
        get_motion(sim, n->need[i], &m[i]);
}

void tac_ranks_close(struct tac_sim *sim)
{
    struct tac_ranks *r = sim->ranks;
    const double begin_s = tac_wall_s();
    for (size_t k = 0; k < r->count; k++)
        if (r->neighbor[k].linked)
            send_closing(sim, &r->neighbor[k]);
    for (size_t k = 0; k < r->count; k++) {
        struct tac_neighbor *n = &r->neighbor[k];
        /* One that is down has not heard all positions that others sent it. */
        while (n->linked && !n->closed)
            hear(sim, n);
        if (n->linked)
            take_motions(sim, n);
    }
    sim->counters.seconds_exchange += tac_wall_s() - begin_s;
}

/* ---- motions out of turn ---- */

enum { TAG_MOTIONS = 16 };

static size_t tell_motions(struct tac_sim *sim, struct tac_neighbor *n)
{
    if (!tac_ranks_room(sim, n, n->give_count * sizeof(struct motion) + 1))
        return 0;
    for (size_t i = 0; i < n->give_count; i++)
        put_motion(sim, n->give[i], (struct motion *)n->told + i);
    return n->give_count * sizeof(struct motion);
}

static void hear_motions(struct tac_sim *sim, struct tac_neighbor *n)
{
    TAC_CHECK(n->heard_count == n->need_count * sizeof(struct motion));
    for (size_t i = 0; i < n->need_count; i++)
        get_motion(sim, n->need[i], (const struct motion *)n->heard + i);
}

void tac_ranks_motions(struct tac_sim *sim)
{
    tac_ranks_talk(sim, TAG_MOTIONS, tell_motions, hear_motions);
}

/* ---- life ---- */

static void read_test_settings(struct tac_sim *sim)
{
    struct tac_ranks *r = sim->ranks;
    const char *text = getenv("TACTUS_TEST_DELAY");
    unsigned long seed = 0;
    int us = 0, rank = -1;
    long nth = 0;
    if (text && sscanf(text, "%lu,%d", &seed, &us) == 2) {
        r->delay_us = us;
        r->delay_seed = seed * 1000003u + (uint64_t)sim->ctx->rank;
    }
    r->everyone = getenv("TACTUS_TEST_EVERYONE") != NULL;
    text = getenv("TACTUS_TEST_FAIL");
    if (text && sscanf(text, "%d,%ld", &rank, &nth) == 2 && rank == sim->ctx->rank)
        r->fail_at = nth;
}

enum tac_err tac_ranks_create(struct tac_sim *sim)
{
    enum tac_err err;
    struct tac_ctx *ctx = sim->ctx;
    struct tac_ranks *r = NULL;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *r, &r));
    sim->ranks = r;
    TAC_TRY(tac_alloc(ctx, (size_t)ctx->size, sizeof *r->index, &r->index));
    memset(r->index, 0xff, (size_t)ctx->size * sizeof *r->index);
    TAC_TRY(tac_alloc(ctx, (size_t)ctx->size, 1, &r->rerun));
    TAC_TRY(tac_alloc(ctx, (size_t)sim->capacity, 1, &r->mark));
    TAC_TRY(tac_alloc(ctx, (size_t)sim->capacity, 1, &r->has_path));
    TAC_TRY(tac_ghosts_create(sim));
    TAC_TRY(tac_ranks_share_elements(sim));
    r->changed = true;
    r->shortest = TAC_TIME_NEVER;
    read_test_settings(sim);
done:
    return err;
}

static void lane_destroy(struct tac_lane *lane)
{
    for (size_t k = 0; k < lane->group_capacity; k++)
        free(lane->group[k].v);
    free(lane->group);
}

void tac_ranks_destroy(struct tac_ranks **ranks)
{
    struct tac_ranks *r = *ranks;
    if (r == NULL)
        return;
    for (size_t k = 0; k < r->count; k++) {
        struct tac_neighbor *n = &r->neighbor[k];
        MPI_Wait(&n->request, MPI_STATUS_IGNORE);
        MPI_Wait(&n->telling, MPI_STATUS_IGNORE);
        lane_destroy(&n->send);
        lane_destroy(&n->receive);
        free(n->need);
        free(n->give);
        free(n->out);
        free(n->in);
        free(n->told);
        free(n->heard);
    }
    free(r->neighbor);
    free(r->index);
    free(r->fixed);
    free(r->shared);
    free(r->hash);
    free(r->free_slot);
    free(r->wanted);
    free(r->order);
    free(r->mark);
    free(r->rerun);
    free(r->has_path);
    free(r);
    *ranks = NULL;
}
