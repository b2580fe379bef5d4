/* halo.c: keeps a rank's neighbours, and exchanges messages with them. */
#include "partition/halo.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void tac_halo_failed(struct tac_halo *halo, enum tac_err err)
{
    if (err && halo->down == TAC_OK)
        halo->down = err;
}

void tac_halo_mpi_failed(struct tac_halo *halo, const char *what)
{
    tac_halo_failed(halo, tac_fail(halo->ctx, TAC_ERR_RUN, "MPI failed while %s; look at the cluster's network", what));
}

bool tac_halo_buffer(struct tac_halo *halo, char **buffer, size_t *capacity, size_t bytes)
{
    enum tac_err err = tac_grow(halo->ctx, buffer, capacity, bytes, 1);
    tac_halo_failed(halo, err);
    return err == TAC_OK;
}

bool tac_halo_room(struct tac_halo *halo, struct tac_neighbor *n, size_t bytes)
{
    return tac_halo_buffer(halo, &n->report, &n->report_capacity, bytes);
}

void tac_halo_delay(struct tac_halo *halo)
{
    if (halo->delay_us <= 0)
        return;
    halo->delay_seed = halo->delay_seed * 6364136223846793005u + 1442695040888963407u;
    const long us = (long)((halo->delay_seed >> 33) % (uint64_t)halo->delay_us);
    const struct timespec pause = {0, 1000 * us};
    if ((halo->delay_seed >> 20) % 8 == 0)
        nanosleep(&pause, NULL);
}

struct tac_neighbor *tac_halo_neighbor(struct tac_halo *halo, int rank)
{
    enum tac_err err;
    if (halo->index[rank] >= 0)
        return &halo->neighbor[halo->index[rank]];
    TAC_TRY(tac_grow(halo->ctx, &halo->neighbor, &halo->capacity, halo->count + 1, sizeof *halo->neighbor));
    struct tac_neighbor *n = &halo->neighbor[halo->count];
    memset(n, 0, sizeof *n);
    n->rank = rank;
    n->request = n->telling = MPI_REQUEST_NULL;
    for (int k = 0; k < 2 && halo->nested; k++) {
        struct tac_lane *lane = k ? &n->receive : &n->send;
        TAC_TRY(tac_grow(halo->ctx, &lane->group, &lane->group_capacity, TAC_GROUPS, sizeof *lane->group));
        memset(lane->group, 0, lane->group_capacity * sizeof *lane->group);
        lane->group_count = TAC_GROUPS;
        for (int g = 0; g < TAC_GROUPS; g++)
            lane->group[g].period = (tac_time)1 << g;
    }
    halo->index[rank] = (int32_t)halo->count++;
    return n;
done:
    tac_halo_failed(halo, err);
    return NULL;
}

void tac_halo_link(struct tac_halo *halo)
{
    for (size_t k = 0; k < halo->count; k++) {
        struct tac_neighbor *n = &halo->neighbor[k];
        n->linked = n->met || n->need_count || n->give_count;
    }
}

void tac_halo_exchange(struct tac_halo *halo, int tag, size_t (*fill)(void *self, struct tac_neighbor *n),
                       void (*empty)(void *self, struct tac_neighbor *n), void *self)
{
    const double begin_s = tac_wall_s();
    for (size_t k = 0; k < halo->count; k++) {
        struct tac_neighbor *n = &halo->neighbor[k];
        if (!n->linked)
            continue;
        MPI_Wait(&n->telling, MPI_STATUS_IGNORE);
        static const char down_only = TAC_ERR_RUN; /* one that has no memory left says just that */
        size_t bytes = halo->down ? 0 : fill(self, n);
        if (bytes >= INT_MAX)
            tac_halo_failed(halo,
                            tac_fail(halo->ctx, TAC_ERR_RUN,
                                     "a message to a neighbour would have %.1f GB, and MPI takes 2; use more ranks",
                                     1e-9 * (double)bytes));
        bytes = (halo->down ? 0 : bytes) + 1;
        const char *message = &down_only;
        if (n->report_capacity >= bytes || tac_halo_room(halo, n, bytes))
            message = n->report;
        bytes = message == n->report ? bytes : 1;
        if (message == n->report)
            n->report[bytes - 1] = (char)halo->down;
        tac_halo_delay(halo);
        if (MPI_Isend(message, (int)bytes, MPI_BYTE, n->rank, tag, halo->ctx->comm, &n->telling) != MPI_SUCCESS)
            tac_halo_mpi_failed(halo, "telling a neighbour");
        halo->messages++;
        halo->bytes += (int64_t)bytes;
    }
    for (size_t k = 0; k < halo->count; k++) {
        struct tac_neighbor *n = &halo->neighbor[k];
        MPI_Message message;
        MPI_Status status;
        int bytes = 0;
        if (!n->linked)
            continue;
        if (MPI_Mprobe(n->rank, tag, halo->ctx->comm, &message, &status) != MPI_SUCCESS) {
            tac_halo_mpi_failed(halo, "listening to a neighbour");
            continue;
        }
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        n->heard_count = (size_t)bytes;
        if (!tac_halo_buffer(halo, &n->heard, &n->heard_capacity, (size_t)bytes))
            tac_give_up(halo->ctx); /* the neighbour waits until its message is received */
        MPI_Mrecv(n->heard, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        n->heard_count = (size_t)bytes - 1; /* the last byte is the condition of the sender */
        tac_halo_failed(halo, (enum tac_err)n->heard[n->heard_count]);
    }
    for (size_t k = 0; k < halo->count; k++)
        if (halo->neighbor[k].linked && !halo->down)
            empty(self, &halo->neighbor[k]);
    halo->exchange_s += tac_wall_s() - begin_s;
}

static void lane_destroy(struct tac_lane *lane)
{
    for (size_t k = 0; k < lane->group_capacity; k++)
        free(lane->group[k].v);
    free(lane->group);
}

void tac_halo_destroy(struct tac_halo *halo)
{
    for (size_t k = 0; k < halo->count; k++) {
        struct tac_neighbor *n = &halo->neighbor[k];
        MPI_Wait(&n->request, MPI_STATUS_IGNORE);
        MPI_Wait(&n->telling, MPI_STATUS_IGNORE);
        lane_destroy(&n->send);
        lane_destroy(&n->receive);
        free(n->need);
        free(n->give);
        free(n->out);
        free(n->in);
        free(n->report);
        free(n->heard);
    }
    free(halo->neighbor);
    free(halo->index);
    free(halo->hash);
    free(halo->free_slot);
    free(halo->mark);
}

/* ---- values of ghosts ---- */

struct shared {
    struct tac_halo *halo;
    double *value;
    size_t width;
    tac_lid end; /* of the vertices that get one */
};

static size_t fill_values(void *self, struct tac_neighbor *n)
{
    const struct shared *s = self;
    const size_t bytes = s->width * sizeof *s->value;
    if (!tac_halo_room(s->halo, n, n->give_count * bytes + 1))
        return 0;
    for (size_t i = 0; i < n->give_count; i++)
        memcpy(n->report + i * bytes, &s->value[s->width * (size_t)n->give[i]], bytes);
    return n->give_count * bytes;
}

static void take_values(void *self, struct tac_neighbor *n)
{
    const struct shared *s = self;
    const size_t bytes = s->width * sizeof *s->value;
    TAC_CHECK(n->heard_count == n->need_count * bytes);
    for (size_t i = 0; i < n->need_count; i++)
        if (n->need[i] < s->end)
            memcpy(&s->value[s->width * (size_t)n->need[i]], n->heard + i * bytes, bytes);
}

void tac_halo_share(struct tac_halo *halo, int tag, double *value, int width, tac_lid end)
{
    struct shared s = {halo, value, (size_t)width, end};
    tac_halo_exchange(halo, tag, fill_values, take_values, &s);
}
