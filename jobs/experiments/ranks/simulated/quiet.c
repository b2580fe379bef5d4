/* quiet.c: messages between simulated ranks that SMPI does not simulate (quiet.h).
 */
#include "work.h"

#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <stdlib.h>
#include <string.h>

/* ---- who ---- */

static int rank_in(MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

static int size_of(MPI_Comm comm)
{
    int size;
    PMPI_Comm_size(comm, &size);
    return size;
}

static void *checked(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static size_t bytes_of(int count, MPI_Datatype type)
{
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    return (size_t)count * (size_t)extent;
}

/* Rank in MPI_COMM_WORLD of a rank in another communicator. */
static int world_rank(MPI_Comm comm, int rank)
{
    MPI_Group some, all;
    int out;
    if (size_of(comm) == size_of(MPI_COMM_WORLD))
        return rank; /* a duplicate of it */
    PMPI_Comm_group(comm, &some);
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_translate_ranks(some, 1, &rank, all, &out);
    PMPI_Group_free(&some);
    PMPI_Group_free(&all);
    return out;
}

/* ---- what takes time ---- */

/* Between two ranks, s and s a byte. */
struct link {
    double latency_s, byte_s;
};

static sg_host_t *host;                   /* owned, (ranks): where each of them is */
static double end_overhead_s, end_byte_s; /* of either end of a message */

void quiet_begin(double overhead_s, double byte_s)
{
    if (host == NULL)
        host = checked(calloc((size_t)size_of(MPI_COMM_WORLD), sizeof *host));
    host[rank_in(MPI_COMM_WORLD)] = sg_host_self();
    end_overhead_s = overhead_s;
    end_byte_s = byte_s;
}

static struct link link_between(int from, int to)
{
    return (struct link){sg_host_get_route_latency(host[from], host[to]),
                         1 / sg_host_get_route_bandwidth(host[from], host[to])};
}

/* What either end of a message computes. */
static double end_s(double bytes)
{
    return end_overhead_s + end_byte_s * bytes;
}

static void sleep_until(double at_s)
{
    const double now_s = simgrid_get_clock();
    if (at_s > now_s)
        sg_actor_sleep_for(at_s - now_s);
}

/* How a call of all ranks does its work in ceil(log2(n)) steps, in each of which a rank sends to one that is 1, 2, 4
 * ... away and receives from another one. */
enum shape {
    SAME,    /* sends as many bytes each time */
    GATHERED /* sends twice as many each time, and has all ranks' at the end */
};

/* Lets the time of such a call pass. bytes: of the first step. All ranks of a host send at the same time, and share its
 * link. */
static void pass_steps(MPI_Comm comm, enum shape shape, double bytes)
{
    const int n = size_of(comm), first = world_rank(comm, 0);
    double s = 0;
    if (!work_is_counted())
        return;
    for (int away = 1; away < n; away *= 2) {
        const int to = world_rank(comm, away);
        const struct link link = link_between(first, to);
        double sent = bytes;
        int together = 1;
        if (shape == GATHERED)
            sent *= away < n - away ? away : n - away;
        if (host[first] != host[to])
            for (together = 0; together < n && host[world_rank(comm, together)] == host[first];)
                together++;
        s += 2 * end_s(sent) + link.latency_s + link.byte_s * together * sent;
    }
    if (s > 0)
        sg_actor_sleep_for(s);
}

/* ---- all of a communicator ---- */

/* Ranks that have a communicator in common; there is one with a certain first rank and size at a time. */
struct team {
    int first, size;
    sg_bar_t barrier;
    const void **in; /* owned, (size): what each of them brought */
    void *result;    /* owned by the first one during a call */
    struct team *next;
};

static struct team *teams;

static struct team *team_of(MPI_Comm comm)
{
    const int first = world_rank(comm, 0), size = size_of(comm);
    struct team *t = teams;
    while (t != NULL && (t->first != first || t->size != size))
        t = t->next;
    if (t == NULL) {
        t = checked(calloc(1, sizeof *t));
        *t = (struct team){first, size, sg_barrier_init((unsigned)size), checked(calloc((size_t)size, sizeof *t->in)),
                           NULL,  teams};
        teams = t;
    }
    return t;
}

/* Brings this rank's data, and waits for that of all others. */
static struct team *meet(MPI_Comm comm, const void *in)
{
    struct team *t = team_of(comm);
    t->in[rank_in(comm)] = in;
    sg_barrier_wait(t->barrier);
    return t;
}

/* Nobody needs the data of others any more. */
static void part(struct team *t)
{
    sg_barrier_wait(t->barrier);
}

/* The same, and lets the time of the call pass. */
static int part_after(struct team *t, MPI_Comm comm, enum shape shape, size_t bytes)
{
    part(t);
    pass_steps(comm, shape, (double)bytes);
    return MPI_SUCCESS;
}

int quiet_barrier(MPI_Comm comm)
{
    sg_barrier_wait(team_of(comm)->barrier);
    pass_steps(comm, SAME, 0);
    return MPI_SUCCESS;
}

int quiet_bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct team *t = meet(comm, data);
    if (rank_in(comm) != root)
        memcpy(data, t->in[root], bytes_of(count, type));
    return part_after(t, comm, SAME, bytes_of(count, type));
}

/* That of ranks `first` to `end` - 1. */
static void reduce(const struct team *t, int first, int end, void *out, int count, MPI_Datatype type, MPI_Op op)
{
    memcpy(out, t->in[first], bytes_of(count, type));
    for (int r = first + 1; r < end; r++)
        PMPI_Reduce_local(t->in[r], out, count, type, op);
}

int quiet_allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct team *t = meet(comm, in == MPI_IN_PLACE ? out : in);
    if (rank_in(comm) == 0) {
        t->result = checked(malloc(bytes_of(count, type) + 1));
        reduce(t, 0, t->size, t->result, count, type, op);
    }
    part(t);
    memcpy(out, t->result, bytes_of(count, type));
    part(t);
    if (rank_in(comm) == 0)
        free(t->result);
    pass_steps(comm, SAME, (double)bytes_of(count, type));
    return MPI_SUCCESS;
}

int quiet_reduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    struct team *t = meet(comm, in == MPI_IN_PLACE ? out : in);
    if (rank_in(comm) == root) {
        void *result = checked(malloc(bytes_of(count, type) + 1));
        reduce(t, 0, t->size, result, count, type, op);
        memcpy(out, result, bytes_of(count, type));
        free(result);
    }
    return part_after(t, comm, SAME, bytes_of(count, type));
}

static int reduce_before(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, int end)
{
    struct team *t = meet(comm, in == MPI_IN_PLACE ? out : in);
    void *result = checked(malloc(bytes_of(count, type) + 1));
    if (end > 0)
        reduce(t, 0, end, result, count, type, op);
    part(t);
    if (end > 0)
        memcpy(out, result, bytes_of(count, type));
    free(result);
    pass_steps(comm, SAME, (double)bytes_of(count, type));
    return MPI_SUCCESS;
}

int quiet_scan(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return reduce_before(in, out, count, type, op, comm, rank_in(comm) + 1);
}

int quiet_exscan(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return reduce_before(in, out, count, type, op, comm, rank_in(comm));
}

int quiet_allgather(const void *in, int count, MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                    MPI_Comm comm)
{
    const size_t bytes = bytes_of(out_count, out_type);
    const int me = rank_in(comm);
    (void)count, (void)type;
    struct team *t = meet(comm, in == MPI_IN_PLACE ? (const char *)out + (size_t)me * bytes : in);
    for (int r = 0; r < t->size; r++)
        if (r != me || in != MPI_IN_PLACE)
            memcpy((char *)out + (size_t)r * bytes, t->in[r], bytes);
    return part_after(t, comm, GATHERED, bytes);
}

int quiet_allgatherv(const void *in, int count, MPI_Datatype type, void *out, const int *counts, const int *at,
                     MPI_Datatype out_type, MPI_Comm comm)
{
    (void)count, (void)type;
    const int me = rank_in(comm);
    struct team *t = meet(comm, in == MPI_IN_PLACE ? (const char *)out + bytes_of(at[me], out_type) : in);
    size_t all = 0;
    for (int r = 0; r < t->size; r++)
        all += bytes_of(counts[r], out_type);
    for (int r = 0; r < t->size; r++)
        if ((r != me || in != MPI_IN_PLACE) && counts[r] > 0)
            memcpy((char *)out + bytes_of(at[r], out_type), t->in[r], bytes_of(counts[r], out_type));
    return part_after(t, comm, GATHERED, all / (size_t)t->size);
}

int quiet_alltoall(const void *in, int count, MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                   MPI_Comm comm)
{
    const size_t bytes = bytes_of(out_count, out_type), me = (size_t)rank_in(comm);
    (void)count, (void)type;
    struct team *t = meet(comm, in);
    for (int r = 0; r < t->size; r++)
        memcpy((char *)out + (size_t)r * bytes, (const char *)t->in[r] + me * bytes, bytes);
    return part_after(t, comm, SAME, bytes * (size_t)(t->size + 1) / 2);
}

/* ---- one rank to another ---- */

struct letter {
    int tag, bytes;
    double sent_s, there_s; /* simulated times at which it was sent, and is there */
    struct letter *next;
    char data[];
};

/* An Irecv under way. */
struct wish {
    void *data;
    int from, tag, bytes;
    MPI_Comm comm;
};

/* What came to a rank. */
struct box {
    struct letter **first, **last; /* owned, (ranks): from each of them, in the order of sending */
    sg_sem_t came;
    struct wish *wish; /* owned */
    size_t wishes, capacity;
};

static struct box *box; /* owned, (ranks) */

static struct box *box_of(int rank)
{
    const size_t size = (size_t)size_of(MPI_COMM_WORLD);
    if (box == NULL)
        box = checked(calloc(size, sizeof *box));
    if (box[rank].first == NULL) {
        box[rank].first = checked(calloc(size, sizeof *box->first));
        box[rank].last = checked(calloc(size, sizeof *box->last));
        box[rank].came = sg_sem_init(0);
    }
    return &box[rank];
}

int quiet_isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct box *b = box_of(world_rank(comm, to));
    const int me = rank_in(MPI_COMM_WORLD);
    const size_t bytes = bytes_of(count, type);
    struct letter *letter = checked(malloc(sizeof *letter + bytes));
    *letter = (struct letter){tag, (int)bytes, simgrid_get_clock(), 0, NULL};
    if (work_is_counted()) {
        const struct link link = link_between(me, world_rank(comm, to));
        sg_actor_sleep_for(end_s((double)bytes));
        letter->there_s = simgrid_get_clock() + link.latency_s + link.byte_s * (double)bytes;
    }
    memcpy(letter->data, data, bytes);
    if (b->first[me] == NULL)
        b->first[me] = letter;
    else
        b->last[me]->next = letter;
    b->last[me] = letter;
    *request = MPI_REQUEST_NULL;
    sg_sem_release(b->came);
    return MPI_SUCCESS;
}

static struct letter *take(int from, int tag)
{
    struct box *b = box_of(rank_in(MPI_COMM_WORLD));
    for (;; sg_sem_acquire(b->came)) /* another one, perhaps this one */
        for (struct letter **at = &b->first[from], *before = NULL; *at != NULL; before = *at, at = &(*at)->next) {
            struct letter *letter = *at;
            if (letter->tag != tag)
                continue;
            *at = letter->next;
            if (b->last[from] == letter)
                b->last[from] = before;
            sleep_until(letter->there_s);
            if (work_is_counted())
                sg_actor_sleep_for(end_s(letter->bytes));
            return letter;
        }
}

int quiet_irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct box *b = box_of(rank_in(MPI_COMM_WORLD));
    if (b->wishes == b->capacity) {
        b->capacity = 2 * b->capacity + 8;
        b->wish = checked(realloc(b->wish, b->capacity * sizeof *b->wish));
    }
    b->wish[b->wishes++] = (struct wish){data, from, tag, (int)bytes_of(count, type), comm};
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

double quiet_waitall(void)
{
    struct box *b = box_of(rank_in(MPI_COMM_WORLD));
    double last_s = 0;
    for (size_t k = 0; k < b->wishes; k++) {
        struct letter *letter = take(world_rank(b->wish[k].comm, b->wish[k].from), b->wish[k].tag);
        if (letter->bytes > b->wish[k].bytes)
            abort();
        memcpy(b->wish[k].data, letter->data, (size_t)letter->bytes);
        last_s = letter->sent_s > last_s ? letter->sent_s : last_s;
        free(letter);
    }
    b->wishes = 0;
    return last_s;
}

void *quiet_take(int from, int tag, MPI_Comm comm, int *bytes, double *sent_s)
{
    struct letter *letter = take(world_rank(comm, from), tag);
    void *data = checked(malloc((size_t)letter->bytes + 1));
    *bytes = letter->bytes;
    *sent_s = letter->sent_s;
    memcpy(data, letter->data, (size_t)letter->bytes);
    free(letter);
    return data;
}
