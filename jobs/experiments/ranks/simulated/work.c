/* work.c: declares what a simulated rank computes.
 *
 * The asynchronous engine counts its work in ticks and in tests of boxes (25 ns of the machine for which they were
 * chosen). The implicit integrator counts elements and pairs in contact, as nanoseconds of the machine for which they
 * were chosen; tests of boxes; pairs that bounds of steps examine; and products of a block of the matrix and a vector.
 * Each kind of count times what one costs is the time that this rank computes. The costs come from a run on a real core
 * (simulate).
 */
#include "simulated.h"

#include "broadphase/candidates.h"
#include "events/ranks/ranks.h"
#include "events/sim.h"
#include "implicit/parts.h"
#include "run/simulation.h"

#include <simgrid/engine.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGEST = 1 << 28 }; /* bytes of a message */
#define TEST_NS 25.         /* of a test of boxes, of the machine for which counts were chosen */

/* A message between two ranks, and when it was sent, s. */
struct sent {
    int from, tag;
    double at_s;
};

struct rank {
    struct tac_simulation *sim; /* borrowed; NULL: nothing is declared */
    const void *last;         /* its engine, when it was last looked at: it is made anew when the scene is dealt anew */
    int64_t work[WORK_KINDS]; /* of the implicit integrator, as last seen */
    int64_t ticks[TAC_KINDS]; /* of the pass under way, as last seen */
    int64_t lists, repairs, looks; /* candidate lists built, cost of the newest one's repairs, looks at candidates */
    int64_t messages, bytes;
    double called_s; /* simulated time at which the call of MPI under way began ... */
    double
        came_s; /* ... and at which the last of those had come whom it is with; before it began: nobody is waited for */
    size_t meetings;   /* calls of all ranks so far */
    struct sent *sent; /* owned: messages that are on their way here */
    size_t sent_count, sent_capacity;
    struct sent *wish; /* owned: messages that the next work_waitall() waits for */
    size_t wish_count, wish_capacity;
    struct work told;
    int bytes_arrived; /* of the message that was probed ... */
    void *letter;      /* ... owned: it, where nothing is counted */
    void *arrived;     /* ... owned, LARGEST: the message that came; only pages that messages reach take memory */
};

static int size;          /* of all ranks */
static struct rank *rank; /* owned, one per simulated rank: all of them are in this process */
static double cost_s[WORK_KINDS];
static bool delayed; /* the network is one of delays */
/* When the last rank came to each call of all ranks, s. */
static double *last_come_s; /* owned */
static size_t last_come_capacity;

static void put(struct sent **list, size_t *count, size_t *capacity, struct sent message)
{
    if (*count == *capacity) {
        *capacity = 2 * *capacity + 16;
        *list = realloc(*list, *capacity * sizeof **list);
        if (*list == NULL)
            abort();
    }
    (*list)[(*count)++] = message;
}

/* Takes the first message from a rank off the list of those on their way; returns when it was sent. */
static double take_sent(struct rank *r, int from, int tag)
{
    for (size_t k = 0; k < r->sent_count; k++) {
        if (r->sent[k].from != from || r->sent[k].tag != tag)
            continue;
        const double at_s = r->sent[k].at_s;
        memmove(&r->sent[k], &r->sent[k + 1], (--r->sent_count - k) * sizeof *r->sent);
        return at_s;
    }
    return 0; /* sent while nothing was counted */
}

static struct rank *mine(void)
{
    int me = -1, runs = 0;
    MPI_Initialized(&runs);
    if (runs && rank != NULL)
        MPI_Comm_rank(MPI_COMM_WORLD, &me);
    return me < 0 ? NULL : &rank[me];
}

void work_begin(int ranks, const double cost[WORK_KINDS], bool delays)
{
    if (rank == NULL) { /* the first of all ranks: they take turns, and share what is static */
        size = ranks;
        delayed = delays;
        rank = calloc((size_t)size, sizeof *rank);
        for (int k = 0; k < WORK_KINDS; k++)
            cost_s[k] = cost[k];
    }
    if (rank == NULL)
        abort();
}

/* What a count has grown by; it begins at 0 again where it is less than before. */
static int64_t more(int64_t *before, int64_t now)
{
    const int64_t grown = now < *before ? now : now - *before;
    *before = now;
    return grown;
}

static bool is_implicit(const struct tac_simulation *sim)
{
    return strcmp(sim->integrator->name, "implicit") == 0;
}

/* What this rank has done for implicit steps since the last call. */
static void count_steps(struct rank *r, int64_t done[WORK_KINDS])
{
    const struct tac_implicit *sim = r->sim->state;
    const int64_t now[WORK_KINDS] = {[WORK_FORCES] = (int64_t)(1e9 * sim->books.elements_s),
                                     [WORK_CONTACT] = (int64_t)(1e9 * sim->books.contacts_s),
                                     [WORK_DISCOVERY] = (int64_t)(1e9 / TEST_NS * tac_implicit_search_spent(sim)),
                                     [WORK_BOUNDS] = sim->books.bounds,
                                     [WORK_SOLVE] = sim->books.products};
    if (sim != r->last)
        memset(r->work, 0, sizeof r->work);
    r->last = sim;
    for (int k = 0; k < WORK_KINDS; k++)
        done[k] = more(&r->work[k], now[k]);
}

/* All that this rank has done since the last call. */
static void count(struct rank *r, int64_t done[WORK_KINDS])
{
    if (is_implicit(r->sim)) {
        count_steps(r, done);
        return;
    }
    const struct tac_sim *sim = r->sim->state;
    const struct tac_candidates *list = sim->view.candidates;
    int64_t seen = 0, ticks = 0;
    for (int k = 0; k < WORK_KINDS; k++)
        done[k] = 0;
    if (sim != r->last) {
        r->lists = r->repairs = r->looks = r->messages = r->bytes = 0;
        memset(r->ticks, 0, sizeof r->ticks);
    }
    r->last = sim;
    /* The engine's counts are of one pass, and begin at 0 with the next. */
    for (int k = 0; k < TAC_KINDS; k++) {
        seen += r->ticks[k];
        ticks += sim->books.ticks[k];
    }
    for (int k = 0; k < TAC_KINDS; k++) {
        if (ticks < seen)
            r->ticks[k] = 0;
        done[k == TAC_KIND_PENALTY ? WORK_CONTACT : WORK_FORCES] += more(&r->ticks[k], sim->books.ticks[k]);
    }
    if (list != NULL) {
        if (list->builds != r->lists) {
            done[WORK_DISCOVERY] += list->cost.build;
            r->repairs = 0;
        }
        r->lists = list->builds;
        done[WORK_DISCOVERY] += more(&r->repairs, list->cost.repair);
    }
    done[WORK_DISCOVERY] += TAC_LOOK_COST * more(&r->looks, sim->windows.looks);
    if (tac_ranks_halo(sim->ranks) != NULL) {
        r->told.messages += more(&r->messages, tac_ranks_halo(sim->ranks)->messages);
        r->told.bytes += more(&r->bytes, tac_ranks_halo(sim->ranks)->bytes);
    }
}

void work_watch(struct tac_simulation *sim)
{
    struct rank *r = mine();
    int64_t before[WORK_KINDS];
    r->sim = sim;
    r->last = NULL;
    if (sim != NULL)
        count(r, before); /* what was done before is not declared */
}

void work_declare(void)
{
    struct rank *r = mine();
    int64_t done[WORK_KINDS];
    double s = 0;
    if (r == NULL || r->sim == NULL)
        return;
    r->called_s = simgrid_get_clock();
    r->came_s = 0;
    if (r->sim->state == NULL)
        return;
    count(r, done);
    for (int k = 0; k < WORK_KINDS; k++) {
        r->told.count[k] += done[k];
        r->told.seconds[k] += (double)done[k] * cost_s[k];
        s += (double)done[k] * cost_s[k];
    }
    if (s > 0)
        smpi_execute(s);
    r->called_s = simgrid_get_clock();
}

int work_spent(enum work_with with, int result)
{
    struct rank *r = mine();
    if (r == NULL || r->sim == NULL)
        return result;
    const double now_s = simgrid_get_clock();
    if (with == WORK_ALL && r->meetings > 0 && last_come_s[r->meetings - 1] > r->came_s)
        r->came_s = last_come_s[r->meetings - 1];
    const double until_s = r->came_s < now_s ? r->came_s : now_s;
    r->told.spent_s[with] += now_s - r->called_s;
    r->told.waited_s[with] += until_s > r->called_s ? until_s - r->called_s : 0;
    return result;
}

void work_meet(void)
{
    struct rank *r = mine();
    work_declare();
    if (r->meetings == last_come_capacity) {
        last_come_capacity = 2 * last_come_capacity + 1024;
        last_come_s = realloc(last_come_s, last_come_capacity * sizeof *last_come_s);
        if (last_come_s == NULL)
            abort();
        for (size_t k = r->meetings; k < last_come_capacity; k++)
            last_come_s[k] = 0;
    }
    if (r->called_s > last_come_s[r->meetings])
        last_come_s[r->meetings] = r->called_s;
    r->meetings++;
}

int work_send(const void *data, int count_of, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct rank *r = mine();
    struct sent message = {(int)(r - rank), tag, r->called_s};
    int sub;
    PMPI_Comm_size(comm, &sub);
    if (is_implicit(r->sim)) { /* it has no counter of its own */
        int bytes;
        PMPI_Type_size(type, &bytes);
        r->told.messages++;
        r->told.bytes += (int64_t)bytes * count_of;
    }
    if (delayed)
        return quiet_isend(data, count_of, type, to, tag, comm, request);
    if (&rank[to] != r && sub == size) /* of parts of the ranks nothing is told apart */
        put(&rank[to].sent, &rank[to].sent_count, &rank[to].sent_capacity, message);
    return PMPI_Isend(data, count_of, type, to, tag, comm, request);
}

int work_wish(void *data, int count_of, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct rank *r = mine();
    int sub;
    if (delayed)
        return quiet_irecv(data, count_of, type, from, tag, comm, request);
    PMPI_Comm_size(comm, &sub);
    if (sub == size)
        put(&r->wish, &r->wish_count, &r->wish_capacity, (struct sent){from, tag, 0});
    return PMPI_Irecv(data, count_of, type, from, tag, comm, request);
}

int work_waitall(int count_of, MPI_Request *request, MPI_Status *status)
{
    struct rank *r = mine();
    if (delayed) {
        r->came_s = quiet_waitall();
        return MPI_SUCCESS;
    }
    const int err = PMPI_Waitall(count_of, request, status);
    for (size_t k = 0; k < r->wish_count; k++) {
        const double at_s = take_sent(r, r->wish[k].from, r->wish[k].tag);
        r->came_s = at_s > r->came_s ? at_s : r->came_s;
    }
    r->wish_count = 0;
    return err;
}

struct work work_told(void)
{
    work_declare();
    mine()->told.meetings = (int64_t)mine()->meetings;
    return mine()->told;
}

bool work_is_counted(void)
{
    const struct rank *r = mine();
    return r != NULL && r->sim != NULL;
}

bool work_is_delayed(void)
{
    return delayed && work_is_counted();
}

bool work_meets(MPI_Comm comm)
{
    int sub = 1;
    if (!work_is_counted())
        return false;
    PMPI_Comm_size(comm, &sub);
    return sub > 1;
}

int work_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct rank *r = mine();
    double sent_s;
    if (work_is_counted())
        work_declare();
    free(r->letter);
    r->letter = NULL;
    if (delayed || !work_is_counted()) {
        r->letter = quiet_take(source, tag, comm, &r->bytes_arrived, &sent_s);
        r->came_s = sent_s;
        return work_spent(WORK_NEIGHBOURS, MPI_SUCCESS);
    }
    if (r->arrived == NULL) {
        r->arrived = mmap(NULL, LARGEST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (r->arrived == MAP_FAILED)
            abort();
    }
    const int err = MPI_Recv(r->arrived, LARGEST, MPI_BYTE, source, tag, comm, status);
    PMPI_Get_count(status, MPI_BYTE, &r->bytes_arrived);
    r->came_s = take_sent(r, source, tag);
    return work_spent(WORK_NEIGHBOURS, err);
}

int work_arrived(void)
{
    return mine()->bytes_arrived;
}

int work_receive(void *data, int bytes)
{
    const struct rank *r = mine();
    memcpy(data, r->letter != NULL ? r->letter : r->arrived, (size_t)bytes);
    return MPI_SUCCESS;
}
