/* queue_pairing.c: implements a pairing heap: a tree of numbers, each of which is the least of those below it.
 * Inserting a number and decreasing its time take one comparison; removing the root takes more. */
#include "kds/queue.h"
#include <stdlib.h>

/* first child; next of the same parent; the one before it, or the parent if there is none */
struct knot {
    int32_t child, next, before;
};

struct pairing {
    size_t capacity;
    struct knot *knot; /* owned */
    int32_t root;
};

static enum tac_err pairing_create(struct tac_queue *q)
{
    enum tac_err err = tac_alloc(q->ctx, 1, sizeof(struct pairing), &q->self);
    if (!err)
        ((struct pairing *)q->self)->root = -1;
    return err;
}

static void pairing_destroy(struct tac_queue *q)
{
    struct pairing *p = q->self;
    if (p)
        free(p->knot);
    free(p);
}

static enum tac_err pairing_room(struct tac_queue *q, size_t capacity)
{
    struct pairing *p = q->self;
    return tac_grow(q->ctx, &p->knot, &p->capacity, capacity, sizeof *p->knot);
}

/* Joins two trees: the lesser root becomes the parent of the other. */
static int32_t meld_roots(struct tac_queue *q, int32_t a, int32_t b)
{
    struct knot *k = ((struct pairing *)q->self)->knot;
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    if (q->time[b] < q->time[a]) {
        int32_t swap = a;
        a = b;
        b = swap;
    }
    k[b].next = k[a].child;
    k[b].before = a;
    if (k[a].child >= 0)
        k[k[a].child].before = b;
    k[a].child = b;
    return a;
}

/* Joins the children of a number to one tree: first in pairs, then from the back. */
static int32_t meld_children(struct tac_queue *q, int32_t id)
{
    struct knot *k = ((struct pairing *)q->self)->knot;
    int32_t pairs = -1, root = -1;
    for (int32_t a = k[id].child, after; a >= 0; a = after) {
        const int32_t b = k[a].next;
        after = b >= 0 ? k[b].next : -1;
        k[a].next = k[a].before = -1;
        if (b >= 0)
            k[b].next = k[b].before = -1;
        const int32_t m = meld_roots(q, a, b);
        k[m].next = pairs;
        pairs = m;
    }
    for (int32_t after; pairs >= 0; pairs = after) {
        after = k[pairs].next;
        k[pairs].next = k[pairs].before = -1;
        root = meld_roots(q, root, pairs);
    }
    k[id].child = -1;
    return root;
}

/* Cuts off the subtree of a number. */
static void cut_subtree(struct knot *k, int32_t id)
{
    const int32_t before = k[id].before;
    if (k[before].child == id)
        k[before].child = k[id].next;
    else
        k[before].next = k[id].next;
    if (k[id].next >= 0)
        k[k[id].next].before = before;
    k[id].next = k[id].before = -1;
}

static void pairing_enter(struct tac_queue *q, int32_t id)
{
    struct pairing *p = q->self;
    p->knot[id] = (struct knot){-1, -1, -1};
    p->root = meld_roots(q, p->root, id);
}

static void pairing_leave(struct tac_queue *q, int32_t id)
{
    struct pairing *p = q->self;
    if (id == p->root) {
        p->root = meld_children(q, id);
        return;
    }
    cut_subtree(p->knot, id);
    p->root = meld_roots(q, p->root, meld_children(q, id));
}

static void pairing_move(struct tac_queue *q, int32_t id, tac_time t)
{
    struct pairing *p = q->self;
    if (t < q->time[id]) {
        q->time[id] = t;
        if (id != p->root) {
            cut_subtree(p->knot, id);
            p->root = meld_roots(q, p->root, id);
        }
        return;
    }
    pairing_leave(q, id);
    q->time[id] = t;
    pairing_enter(q, id);
}

static bool pairing_due(struct tac_queue *q, tac_time limit, int32_t *id)
{
    const struct pairing *p = q->self;
    *id = p->root;
    return q->time[p->root] < limit;
}

static tac_time pairing_next(const struct tac_queue *q)
{
    return q->time[((const struct pairing *)q->self)->root];
}

const struct tac_queue_table tac_queue_pairing = {"pairing",    pairing_create, pairing_destroy,
                                                  pairing_room, pairing_enter,  pairing_leave,
                                                  pairing_move, pairing_due,    pairing_next};
