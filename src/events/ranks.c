#include "events/ranks.h"
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

static bool nested(const struct tac_sim *sim)
{
    return sim->scene->clocks.mode == TAC_CLOCKS_NESTED;
}

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

/* ---- neighbours ---- */

struct tac_neighbor *tac_ranks_neighbor(struct tac_sim *sim, int rank)
{
    struct tac_ranks *r = sim->ranks;
    enum tac_err err;
    if (r->index[rank] >= 0)
        return &r->neighbor[r->index[rank]];
    TAC_TRY(tac_grow(sim->ctx, &r->neighbor, &r->capacity, r->count + 1, sizeof *r->neighbor));
    struct tac_neighbor *n = &r->neighbor[r->count];
    memset(n, 0, sizeof *n);
    n->rank = rank;
    n->request = n->telling = MPI_REQUEST_NULL;
    for (int k = 0; k < 2 && nested(sim); k++) {
        struct tac_lane *lane = k ? &n->receive : &n->send;
        TAC_TRY(tac_grow(sim->ctx, &lane->group, &lane->group_capacity, TAC_GROUPS, sizeof *lane->group));
        memset(lane->group, 0, lane->group_capacity * sizeof *lane->group);
        lane->group_count = TAC_GROUPS;
        for (int g = 0; g < TAC_GROUPS; g++)
            lane->group[g].period = (tac_time)1 << g;
    }
    r->index[rank] = (int32_t)r->count++;
    return n;
done:
    tac_ranks_failed(sim, err);
    return NULL;
}

/* ---- schedule ---- */

static enum tac_err lane_add(struct tac_sim *sim, struct tac_lane *lane, tac_time period, tac_lid v)
{
    enum tac_err err;
    size_t k;
    if (nested(sim)) {
        k = (size_t)__builtin_ctzll((unsigned long long)period);
        lane->mask |= (uint64_t)1 << k;
    } else {
        for (k = 0; k < lane->group_count && lane->group[k].period < period; k++) {
        }
        if (k == lane->group_count || lane->group[k].period != period) {
            const size_t before = lane->group_capacity;
            TAC_TRY(
                tac_grow(sim->ctx, &lane->group, &lane->group_capacity, lane->group_count + 1, sizeof *lane->group));
            if (lane->group_capacity > before)
                memset(&lane->group[before], 0, (lane->group_capacity - before) * sizeof *lane->group);
            struct tac_group spare = lane->group[lane->group_count]; /* may hold memory of an earlier schedule */
            memmove(&lane->group[k + 1], &lane->group[k], (lane->group_count - k) * sizeof *lane->group);
            lane->group[k] = spare;
            lane->group[k].period = period;
            lane->group[k].count = 0;
            lane->group_count++;
        }
    }
    struct tac_group *g = &lane->group[k];
    TAC_TRY(tac_grow(sim->ctx, &g->v, &g->capacity, g->count + 1, sizeof *g->v));
    g->v[g->count++] = v;
done:
    return err;
}

static void lane_clear(const struct tac_sim *sim, struct tac_lane *lane)
{
    for (size_t k = 0; k < lane->group_count; k++)
        lane->group[k].count = 0;
    lane->mask = 0;
    if (!nested(sim))
        lane->group_count = 0;
}

static int compare_shared(const void *a, const void *b)
{
    const struct tac_shared *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->receive != y->receive)
        return x->receive < y->receive ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->period > y->period) - (x->period < y->period);
}

/* Vertices that never move need not be told of. */
static bool still(const struct tac_sim *sim, tac_lid v)
{
    return !sim->scene->ever_free[v] && !sim->scene->part->scripted[v];
}

static enum tac_err share(struct tac_sim *sim, struct tac_shared **list, size_t *count, size_t *capacity,
                          const tac_lid *v, int n, tac_time period)
{
    enum tac_err err = TAC_OK;
    const int me = sim->ctx->rank;
    for (int i = 0; i < n; i++) {
        const int other = tac_sim_owner(sim, v[i]);
        if (other == me)
            continue;
        if (tac_ranks_neighbor(sim, other) == NULL)
            return sim->ranks->down;
        sim->ranks->neighbor[sim->ranks->index[other]].met = true;
        bool again = false;
        for (int j = 0; j < i; j++)
            again |= tac_sim_owner(sim, v[j]) == other;
        TAC_TRY(tac_grow(sim->ctx, list, capacity, *count + 8, sizeof **list));
        if (!still(sim, v[i]))
            (*list)[(*count)++] = (struct tac_shared){other, 1, v[i], tac_sim_id(sim, v[i]), period};
        for (int j = 0; j < n && !again; j++)
            if (tac_sim_owner(sim, v[j]) == me && !still(sim, v[j]))
                (*list)[(*count)++] = (struct tac_shared){other, 0, v[j], tac_sim_id(sim, v[j]), period};
    }
done:
    return err;
}

/* Of each vertex and way only the shortest period counts with nested clocks; each period once with free ones. */
static size_t unique(const struct tac_sim *sim, struct tac_shared *list, size_t count)
{
    size_t n = 0;
    if (count)
        qsort(list, count, sizeof *list, compare_shared);
    for (size_t k = 0; k < count; k++) {
        const struct tac_shared *last = n ? &list[n - 1] : NULL;
        if (last && last->rank == list[k].rank && last->receive == list[k].receive && last->id == list[k].id &&
            (nested(sim) || last->period == list[k].period))
            continue;
        list[n++] = list[k];
    }
    return n;
}

static enum tac_err share_pairs(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_ranks *r = sim->ranks;
    for (size_t k = 0; k < sim->pair_count; k++) {
        const struct tac_pair *p = &sim->pair[k];
        if (!p->live || !p->shared)
            continue;
        for (int32_t first = 1, last; first <= p->depth; first = last + 1) {
            tac_time period = tac_model_rung(sim->model, &p->form, first, &last);
            if (nested(sim) && last < p->depth)
                continue; /* a deeper rung ticks at all of its instants */
            TAC_TRY(share(sim, &r->shared, &r->shared_count, &r->shared_capacity, p->v, p->count, period));
        }
    }
done:
    return err;
}

void tac_ranks_link(struct tac_sim *sim)
{
    for (size_t k = 0; k < sim->ranks->count; k++) {
        struct tac_neighbor *n = &sim->ranks->neighbor[k];
        n->linked = n->met || n->need_count || n->give_count;
    }
}

static enum tac_err schedule(struct tac_sim *sim)
{
    enum tac_err err;
    struct tac_ranks *r = sim->ranks;
    for (size_t k = 0; k < r->count; k++) {
        lane_clear(sim, &r->neighbor[k].send);
        lane_clear(sim, &r->neighbor[k].receive);
        r->neighbor[k].met = false;
    }
    for (size_t k = 0; k < r->fixed_count; k++)
        r->neighbor[r->index[r->fixed[k].rank]].met = true;
    TAC_TRY(tac_grow(sim->ctx, &r->shared, &r->shared_capacity, r->fixed_count + 1, sizeof *r->shared));
    if (r->fixed_count)
        memcpy(r->shared, r->fixed, r->fixed_count * sizeof *r->shared);
    r->shared_count = r->fixed_count;
    if (sim->contact)
        TAC_TRY(share_pairs(sim));
    r->shared_count = unique(sim, r->shared, r->shared_count);
    r->mask = 0;
    for (size_t k = 0; k < r->shared_count; k++) {
        const struct tac_shared *e = &r->shared[k];
        struct tac_neighbor *n = &r->neighbor[r->index[e->rank]];
        TAC_TRY(lane_add(sim, e->receive ? &n->receive : &n->send, e->period, e->v));
        r->mask |= nested(sim) ? (uint64_t)e->period : 0;
    }
    tac_ranks_link(sim);
    r->changed = false;
done:
    return err;
}

static void mpi_failed(struct tac_sim *sim, const char *what)
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
            mpi_failed(sim, "looking for those who must run again");
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
        TAC_TRY(schedule(sim));
    tac_ranks_again(sim);
done:
    return err;
}

void tac_ranks_deepen(struct tac_sim *sim, const struct tac_pair *p, tac_time period)
{
    struct tac_ranks *r = sim->ranks;
    const size_t fixed = r->shared_count;
    enum tac_err err = share(sim, &r->shared, &r->shared_count, &r->shared_capacity, p->v, p->count, period);
    for (size_t k = fixed; k < r->shared_count && !err; k++) {
        const struct tac_shared *e = &r->shared[k];
        struct tac_neighbor *n = &r->neighbor[r->index[e->rank]];
        err = lane_add(sim, e->receive ? &n->receive : &n->send, period, e->v);
    }
    r->shared_count = fixed;
    r->mask |= (uint64_t)period;
    r->changed = true;
    tac_ranks_failed(sim, err);
}

/* ---- meeting ---- */

static bool room(struct tac_sim *sim, char **buffer, size_t *capacity, size_t bytes)
{
    enum tac_err err = tac_grow(sim->ctx, buffer, capacity, bytes, 1);
    tac_ranks_failed(sim, err);
    return err == TAC_OK;
}

bool tac_ranks_room(struct tac_sim *sim, struct tac_neighbor *n, size_t bytes)
{
    return room(sim, &n->told, &n->told_capacity, bytes);
}

/* Test only: every rank at its own pace. */
static void delay(struct tac_ranks *r)
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
    delay(sim->ranks);
    if (MPI_Isend(n->out, (int)bytes, MPI_BYTE, n->rank, TAG_TICK, sim->ctx->comm, &n->request) != MPI_SUCCESS)
        mpi_failed(sim, "sending positions");
    sim->ranks->messages++;
    sim->ranks->bytes += (int64_t)bytes;
}

/* Number of vertices that go a way at t; their groups are [0, *groups). */
static size_t due(const struct tac_sim *sim, const struct tac_lane *lane, tac_time t)
{
    size_t n = 0;
    if (nested(sim)) {
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
    if (!room(sim, &n->out, &n->out_capacity, bytes))
        return;
    *(struct header *)n->out = (struct header){sim->ranks->pass, t, 0, 0};
    double *x = (double *)(n->out + sizeof(struct header));
    if (nested(sim)) {
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
        mpi_failed(sim, "receiving positions");
        return NULL;
    }
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (!room(sim, &n->in, &n->in_capacity, (size_t)bytes)) {
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
    if (nested(sim)) {
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
    if (nested(sim) && (r->mask & (((uint64_t)t & -(uint64_t)t) * 2 - 1)) == 0)
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
    if (!room(sim, &n->out, &n->out_capacity, bytes))
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

/* ---- other messages ---- */

void tac_ranks_talk(struct tac_sim *sim, int tag, size_t (*fill)(struct tac_sim *, struct tac_neighbor *),
                    void (*empty)(struct tac_sim *, struct tac_neighbor *))
{
    struct tac_ranks *r = sim->ranks;
    const double begin_s = tac_wall_s();
    for (size_t k = 0; k < r->count; k++) {
        struct tac_neighbor *n = &r->neighbor[k];
        if (!n->linked)
            continue;
        MPI_Wait(&n->telling, MPI_STATUS_IGNORE);
        static char down_only; /* one that has no memory left says just that */
        size_t bytes = r->down ? 0 : fill(sim, n);
        bytes = (r->down ? 0 : bytes) + 1;
        char *message = &down_only;
        if (n->told_capacity >= bytes || tac_ranks_room(sim, n, bytes))
            message = n->told;
        bytes = message == n->told ? bytes : 1;
        down_only = TAC_ERR_RUN;
        if (message == n->told)
            message[bytes - 1] = (char)r->down;
        delay(r);
        if (MPI_Isend(message, (int)bytes, MPI_BYTE, n->rank, tag, sim->ctx->comm, &n->telling) != MPI_SUCCESS)
            mpi_failed(sim, "telling a neighbour");
        r->messages++;
        r->bytes += (int64_t)bytes;
    }
    for (size_t k = 0; k < r->count; k++) {
        struct tac_neighbor *n = &r->neighbor[k];
        MPI_Message message;
        MPI_Status status;
        int bytes = 0;
        if (!n->linked)
            continue;
        if (MPI_Mprobe(n->rank, tag, sim->ctx->comm, &message, &status) != MPI_SUCCESS) {
            mpi_failed(sim, "listening to a neighbour");
            continue;
        }
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        n->heard_count = (size_t)bytes;
        if (!room(sim, &n->heard, &n->heard_capacity, (size_t)bytes)) {
            MPI_Mrecv(NULL, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
            continue;
        }
        MPI_Mrecv(n->heard, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        n->heard_count = (size_t)bytes - 1; /* the last byte tells how it is */
        tac_ranks_failed(sim, (enum tac_err)n->heard[n->heard_count]);
    }
    for (size_t k = 0; k < r->count; k++)
        if (r->neighbor[k].linked && !r->down)
            empty(sim, &r->neighbor[k]);
    sim->counters.seconds_exchange += tac_wall_s() - begin_s;
}

enum tac_err tac_ranks_reduce(struct tac_sim *sim, int64_t *tell)
{
    tell[TAC_TELL_STOP] = sim->ask_stop;
    tell[TAC_TELL_SAVE] = sim->ask_save;
    if (sim->ranks) {
        const double begin_s = tac_wall_s();
        tell[TAC_TELL_ERROR] = sim->ranks->down;
        if (MPI_Allreduce(MPI_IN_PLACE, tell, TAC_TELLS, MPI_INT64_T, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
            return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed at the end of a window; look at the cluster's network");
        sim->counters.seconds_waiting += tac_wall_s() - begin_s;
        if (tell[TAC_TELL_ERROR] != TAC_OK) {
            /* The sentence is with those who failed first, not with those who heard of it. */
            enum tac_err own = sim->ctx->error[0] ? (enum tac_err)tell[TAC_TELL_ERROR] : TAC_ERR_NO;
            enum tac_err err = tac_agree(sim->ctx, own);
            return err > TAC_ERR_NO ? err : TAC_ERR_RUN;
        }
    }
    sim->told_stop = (int)tell[TAC_TELL_STOP];
    sim->told_save = (int)tell[TAC_TELL_SAVE];
    return TAC_OK;
}

/* ---- motions out of turn ---- */

enum { TAG_ASK = 12, TAG_PATHS = 13, TAG_LINES = 14, TAG_MOTIONS = 16 };

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

/* ---- paths of ghosts near a contact ---- */

static size_t ask(struct tac_sim *sim, struct tac_neighbor *n)
{
    struct tac_ranks *r = sim->ranks;
    size_t count = 0;
    for (size_t k = 0; k < r->wanted_count; k++)
        count += tac_sim_owner(sim, r->wanted[k]) == n->rank && r->has_path[r->wanted[k]] != 1;
    if (!tac_ranks_room(sim, n, count * sizeof(tac_gid) + 1))
        return 0;
    tac_gid *id = (tac_gid *)n->told;
    for (size_t k = 0; k < r->wanted_count; k++)
        if (tac_sim_owner(sim, r->wanted[k]) == n->rank && r->has_path[r->wanted[k]] != 1)
            *id++ = tac_sim_id(sim, r->wanted[k]);
    return count * sizeof(tac_gid);
}

static void keep_question(struct tac_sim *sim, struct tac_neighbor *n)
{
    (void)sim;
    (void)n; /* it stays in n->heard until it is answered */
}

/* A vertex' path over the pass as breakpoints; the last one ends its last piece. */
static size_t path_pieces(const struct tac_sim *sim, tac_lid v)
{
    size_t count = 1;
    if (sim->vel[v].w != 0)
        for (int32_t k = sim->break_head[v] >= 0 ? sim->break_first[v] : -1; k >= 0; k = sim->breaks[k].next)
            count++;
    return count;
}

struct path_head {
    tac_gid id;
    int64_t pieces;
    struct tac_line line; /* from */
};

static size_t answer(struct tac_sim *sim, struct tac_neighbor *n)
{
    const size_t count = n->heard_count / sizeof(tac_gid);
    const tac_gid *id = (const tac_gid *)n->heard;
    size_t bytes = 0;
    for (size_t k = 0; k < count; k++) {
        tac_lid v = tac_id_find(sim->scene->part->vertex_id, sim->owned, id[k]);
        TAC_CHECK(v >= 0);
        bytes += sizeof(struct path_head) + path_pieces(sim, v) * sizeof(struct tac_break);
    }
    if (!tac_ranks_room(sim, n, bytes + 1))
        return 0;
    char *at = n->told;
    for (size_t k = 0; k < count; k++) {
        const tac_lid v = tac_id_find(sim->scene->part->vertex_id, sim->owned, id[k]);
        struct path_head *head = (struct path_head *)at;
        memset(head, 0, sizeof *head);
        head->id = id[k];
        head->pieces = (int64_t)path_pieces(sim, v);
        struct tac_break *piece = (struct tac_break *)(head + 1);
        const struct tac_script *s = sim->script_of[v] >= 0 ? &sim->script[sim->script_of[v]] : NULL;
        struct tac_break last = {TAC_TIME_NEVER, {0, 0, 0}, {0, 0, 0}, -1, 0};
        if (sim->vel[v].w != 0) {
            head->line = sim->line[v];
            for (int32_t b = sim->break_head[v] >= 0 ? sim->break_first[v] : -1; b >= 0; b = sim->breaks[b].next)
                *piece++ = sim->breaks[b];
            memcpy(last.v, sim->vel[v].v, sizeof last.v);
        } else {
            tac_position(sim, v, sim->window_start, head->line.x);
            head->line.t = sim->window_start;
            if (s)
                memcpy(last.v, s->v, sizeof last.v);
        }
        *piece++ = last;
        at = (char *)piece;
    }
    return bytes;
}

static void take_paths(struct tac_sim *sim, struct tac_neighbor *n)
{
    const char *at = n->heard, *end = n->heard + n->heard_count;
    while (at < end) {
        const struct path_head *head = (const struct path_head *)at;
        const struct tac_break *piece = (const struct tac_break *)(head + 1);
        const tac_lid v = tac_ghost_find(sim, head->id);
        TAC_CHECK(v >= 0);
        enum tac_err err = tac_grow(sim->ctx, &sim->breaks, &sim->break_capacity,
                                    sim->break_count + (size_t)head->pieces, sizeof *sim->breaks);
        if (err) {
            tac_ranks_failed(sim, err);
            return;
        }
        sim->line[v] = head->line;
        sim->break_first[v] = (int32_t)sim->break_count;
        for (int64_t k = 0; k < head->pieces; k++) {
            sim->breaks[sim->break_count] = piece[k];
            sim->breaks[sim->break_count].next = k + 1 < head->pieces ? (int32_t)sim->break_count + 1 : -1;
            sim->break_head[v] = (int32_t)sim->break_count++;
        }
        sim->ranks->has_path[v] = 1;
        at = (const char *)(piece + head->pieces);
    }
}

void tac_ranks_paths(struct tac_sim *sim)
{
    tac_ranks_talk(sim, TAG_ASK, ask, keep_question);
    tac_ranks_talk(sim, TAG_PATHS, answer, take_paths);
}

/* ---- lines ---- */

static size_t tell_lines(struct tac_sim *sim, struct tac_neighbor *n)
{
    if (!tac_ranks_room(sim, n, n->give_count * sizeof(struct tac_line) + 1))
        return 0;
    struct tac_line *line = (struct tac_line *)n->told;
    for (size_t i = 0; i < n->give_count; i++) {
        const tac_lid v = n->give[i];
        memset(&line[i], 0, sizeof line[i]);
        if (sim->vel[v].w == 0 && sim->script_of[v] >= 0) {
            const struct tac_script *s = &sim->script[sim->script_of[v]];
            memcpy(line[i].x, s->x, sizeof s->x);
            memcpy(line[i].v, s->v, sizeof s->v);
            line[i].t = s->t;
        } else {
            memcpy(line[i].x, sim->pos[v].x, sizeof line[i].x);
            memcpy(line[i].v, sim->vel[v].v, sizeof line[i].v);
            line[i].t = sim->pos[v].t;
        }
    }
    return n->give_count * sizeof *line;
}

static void take_lines(struct tac_sim *sim, struct tac_neighbor *n)
{
    const struct tac_line *line = (const struct tac_line *)n->heard;
    TAC_CHECK(n->heard_count == n->need_count * sizeof *line);
    for (size_t i = 0; i < n->need_count; i++) {
        const tac_lid v = n->need[i];
        if (sim->line)
            sim->line[v] = line[i];
        const double dt = tac_seconds(sim, sim->now - line[i].t);
        for (int k = 0; k < 3; k++)
            sim->pos[v].x[k] = line[i].t == sim->now ? line[i].x[k] : line[i].x[k] + dt * line[i].v[k];
        sim->pos[v].t = sim->now;
    }
}

void tac_ranks_lines(struct tac_sim *sim)
{
    tac_ranks_talk(sim, TAG_LINES, tell_lines, take_lines);
}

/* ---- life ---- */

static enum tac_err share_elements(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_ranks *r = sim->ranks;
    size_t capacity = 0;
    for (size_t c = 0; c < sim->elastic->class_count; c++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[c];
        for (int kind = TAC_KIND_SPRING; kind < TAC_KINDS; kind++)
            for (size_t e = 0; e < rate->count[kind]; e++) {
                int n;
                const tac_lid *v = tac_elastic_stencil(rate, (enum tac_kind)kind, e, &n);
                TAC_TRY(share(sim, &r->fixed, &r->fixed_count, &capacity, v, n, rate->period));
            }
    }
    r->fixed_count = unique(sim, r->fixed, r->fixed_count);
done:
    return err;
}

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
    TAC_TRY(share_elements(sim));
    r->changed = true;
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
