/* halo.h: declares a rank's neighbours, its copies of their vertices (ghosts), and messages between neighbours.
 *
 * A rank's local scene begins with the ghosts of its elements; contacts need others, which come and go.  Each ghost has
 * a slot in the local scene's arrays of vertices, and in all arrays that are as long as those: the owner of such an
 * array enters it (tac_halo_grows()), and may register a function that is called for new ghosts (struct tac_halo_user).
 * A slot whose ghost is not needed any more is used again.
 *
 * A rank that fails in the middle of a window goes on to the next meeting of all ranks (docs/reference/ranks.md): it is
 * *down*, computes nothing, and says so in its messages.
 *
 *     tac_halo_create(ctx, local, nested, &halo);
 *     tac_halo_grows(&halo, &weight, sizeof *weight);
 *     tac_ghost_add(&halo, &ghost, &v);
 *     tac_halo_subscribe(&halo);                          whose motions this rank receives
 *     tac_halo_exchange(&halo, tag, fill, empty, self);
 *     tac_halo_destroy(&halo);
 */
#ifndef TACTUS_PARTITION_HALO_H
#define TACTUS_PARTITION_HALO_H

#include "partition/part.h"

/* Vertices whose positions are sent in one direction at the ticks of one period. */
struct tac_group {
    tac_time period;
    size_t count, capacity;
    tac_lid *v; /* owned; in the same order on both sides */
};

enum { TAC_GROUPS = 63 }; /* nested clocks: group k has period 2^k */

struct tac_lane {
    size_t group_count, group_capacity;
    struct tac_group *group; /* owned; nested: TAC_GROUPS of them; free: by ascending period */
    uint64_t mask;           /* nested: bit k: group k is not empty */
};

struct tac_neighbor {
    int rank;
    bool linked;    /* takes part in closing messages */
    bool met;       /* some stencil is shared */
    bool closed;    /* its closing message of this pass has arrived */
    bool awake;     /* at the current instant some stencil that is shared is evaluated */
    uint64_t fixed; /* nested clocks: the periods of shared elements; a bit is a period */
    struct tac_lane send, receive;
    size_t need_count, need_capacity, give_count, give_capacity;
    tac_lid *need, *give; /* owned: ghosts whose motion this rank receives; own vertices whose motion it sends */
    size_t out_capacity, in_capacity, report_capacity, heard_count, heard_capacity;
    char *out, *in;       /* owned: tick messages */
    char *report, *heard; /* owned: other messages */
    MPI_Request request, telling;
};

/* All data that a rank needs of a vertex of another rank. */
struct tac_ghost {
    tac_gid id;
    double start[3], mass;
    int32_t owner;
    tac_lid body, valence;
    uint8_t ever_free, scripted, unused[2];
    struct tac_flat flat; /* in a scene with flat parts */
};
/* An array with an entry for each vertex: where its pointer is, and the size of an entry. */
struct tac_halo_array {
    void *array;
    size_t size;
};

/* Functions that are called for ghosts.  Entries of new slots in the arrays above are 0 before. */
struct tac_halo_user {
    void *self;
    void (*added)(void *self, tac_lid v, const struct tac_ghost *ghost); /* NULL: not called */
    bool (*needs)(const void *self, tac_lid v);                          /* must the ghost stay?  NULL: not called */
};

enum { TAC_HALO_ARRAYS = 32, TAC_HALO_USERS = 4 };

struct tac_halo {
    struct tac_ctx *ctx;     /* borrowed */
    struct tac_scene *local; /* borrowed; its arrays of vertices, and those of its part, grow with the ghosts */
    bool nested;             /* clocks: periods are powers of two */
    size_t count, capacity;
    struct tac_neighbor *neighbor; /* owned, in the order in which they were added */
    int32_t *index;                /* owned, (size): neighbour of a rank, or -1 */
    bool changed;                  /* what neighbours share has changed */
    enum tac_err down;             /* this rank, or one that has reported it, has failed */
    int64_t bytes, messages;
    double exchange_s; /* wall time of exchanges */
    int delay_us;      /* test: longest random delay before a message; 0: none */
    uint64_t delay_seed;

    /* ghosts by global id: open addressing */
    tac_lid vertices, room; /* of this rank, ghosts included; for how many there is room */
    size_t ghost_count, hash_size;
    tac_lid *hash; /* owned */
    size_t free_count, free_capacity;
    tac_lid *free_slot; /* owned */
    uint8_t *mark;      /* owned, (room): of ghosts that are needed; 1: their motion too */
    size_t array_count, user_count;
    struct tac_halo_array array[TAC_HALO_ARRAYS];
    struct tac_halo_user user[TAC_HALO_USERS];
};

/* Local. Makes the halo of a local scene, in *halo, which is empty. */
enum tac_err tac_halo_create(struct tac_ctx *ctx, struct tac_scene *local, bool nested, struct tac_halo *halo);
void tac_halo_destroy(struct tac_halo *halo);
/* Local. Enters an array of the vertices: `array` is the address of the pointer to it; its memory is of malloc's
 * family. */
void tac_halo_grows(struct tac_halo *halo, void *array, size_t size);
/* Local. Removes an array that tac_halo_grows() entered. */
void tac_halo_forget(struct tac_halo *halo, const void *array);
void tac_halo_tell(struct tac_halo *halo, struct tac_halo_user user);
void tac_halo_tell_no_more(struct tac_halo *halo, const void *self);

/* Local. Remembers a failure: the rank is down until the reduction. */
void tac_halo_failed(struct tac_halo *halo, enum tac_err err);
/* Local. To be called if MPI failed while `what` ("sending positions"): makes the sentence, and the rank is down. */
void tac_halo_mpi_failed(struct tac_halo *halo, const char *what);
/* Local. Returns the neighbour of a rank, and makes it if there is none; NULL if out of memory (the rank is then
 * down). */
struct tac_neighbor *tac_halo_neighbor(struct tac_halo *halo, int rank);
/* Local. Decides which neighbours messages go to. */
void tac_halo_link(struct tac_halo *halo);

/* Neighbours. Exchanges one message with each neighbour: fill() writes ours into n->report and returns its size,
 * empty() reads n->heard (n->heard_count bytes). A rank that is down takes part with an empty message. */
void tac_halo_exchange(struct tac_halo *halo, int tag, size_t (*fill)(void *self, struct tac_neighbor *n),
                       void (*empty)(void *self, struct tac_neighbor *n), void *self);
/* Neighbours. Gets the values (V, width) of ghosts before `end` from their owners. */
void tac_halo_share(struct tac_halo *halo, int tag, double *value, int width, tac_lid end);
/* Local. Makes room in n->report for `bytes`; false (and down) if there is no memory. */
bool tac_halo_room(struct tac_halo *halo, struct tac_neighbor *n, size_t bytes);
/* Local. Does the same for any buffer of messages. */
bool tac_halo_buffer(struct tac_halo *halo, char **buffer, size_t *capacity, size_t bytes);
/* Local. For tests only: waits for a random time before a message. */
void tac_halo_delay(struct tac_halo *halo);

/* Local. Returns the local id of a global one, or -1. */
tac_lid tac_ghost_find(const struct tac_halo *halo, tac_gid id);
/* Local. Gives the ghost a slot *v, unless the vertex is known already. */
enum tac_err tac_ghost_add(struct tac_halo *halo, const struct tac_ghost *ghost, tac_lid *v);
void tac_ghost_describe(const struct tac_scene *local, tac_lid v, struct tac_ghost *ghost);
/* Local. Frees the slots of ghosts that no element, no user and no mark needs. */
enum tac_err tac_halo_prune(struct tac_halo *halo);
/* Collective. Subscribes to the motions of all marked ghosts and of the ghosts of elements. */
enum tac_err tac_halo_subscribe(struct tac_halo *halo);

#endif
