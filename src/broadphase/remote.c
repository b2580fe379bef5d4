/* remote.c: brings the primitives of other ranks that are near those of this rank, for a new list of candidates and
 * for repairs that several ranks make together (docs/reference/ranks.md, Discovery). */
#include "broadphase/remote.h"
#include "broadphase/candidates_search.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A vertex of a remote primitive, as it is sent. */
struct parcel_vertex {
    struct tac_ghost ghost;
    struct tac_path_bound path_bound;
    struct tac_move move;
    double x[3];
};

/* A remote primitive, as it is sent: its vertices are places in the message's list. */
struct parcel {
    tac_lid id, edge[3];
    int32_t v[3];
    int32_t count;
};

/* ---- sending ---- */

struct outbox {
    size_t vertex_count, vertex_capacity, count, capacity;
    struct parcel_vertex *vertex; /* owned; of all targets, one behind the other */
    struct parcel *parcel;        /* owned; likewise */
    int64_t *vertices, *parcels;  /* owned, (size) */
    int32_t *place, *stamp;       /* owned, (V): place of a vertex in the message of the rank stamped */
};

static enum tac_err put_vertex(struct tac_view *view, struct tac_candidates *c, struct outbox *out, tac_lid v,
                               int target, size_t begin)
{
    enum tac_err err = TAC_OK;
    if (out->stamp[v] == target + 1)
        return TAC_OK;
    TAC_TRY(tac_grow(view->ctx, &out->vertex, &out->vertex_capacity, out->vertex_count + 1, sizeof *out->vertex));
    struct parcel_vertex *p = &out->vertex[out->vertex_count];
    memset(p, 0, sizeof *p);
    tac_ghost_describe(view->scene, v, &p->ghost);
    p->path_bound = c->path_bound[v];
    p->move = c->move[v];
    memcpy(p->x, &c->x[3 * (size_t)v], sizeof p->x);
    out->stamp[v] = target + 1;
    out->place[v] = (int32_t)(out->vertex_count++ - begin);
done:
    return err;
}

/* Does this rank send the primitive, and is it new to the target? */
static bool is_for_target(const struct tac_view *view, const struct tac_primitive *p, int target)
{
    tac_lid lowest = p->v[0];
    for (int i = 0; i < p->count; i++) {
        if (tac_scene_owner(view->ctx, view->scene, p->v[i]) == target)
            return false;
        if (tac_scene_id(view->scene, p->v[i]) < tac_scene_id(view->scene, lowest))
            lowest = p->v[i];
    }
    return lowest < view->state->owned;
}

/* Puts a primitive into the message for a rank, whose part of the outbox begins at vertex `begin`. */
static enum tac_err put_primitive(struct tac_view *view, struct tac_candidates *c, struct outbox *out,
                                  const struct tac_primitive *p, int target, size_t begin)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_grow(view->ctx, &out->parcel, &out->capacity, out->count + 1, sizeof *out->parcel));
    struct parcel *parcel = &out->parcel[out->count];
    memset(parcel, 0, sizeof *parcel);
    parcel->id = p->id;
    parcel->count = p->count;
    memcpy(parcel->edge, p->edge, sizeof parcel->edge);
    for (int k = 0; k < p->count; k++) {
        TAC_TRY(put_vertex(view, c, out, p->v[k], target, begin));
        parcel->v[k] = out->place[p->v[k]];
    }
    out->count++;
done:
    return err;
}

static enum tac_err outbox_make(struct tac_view *view, struct outbox *out)
{
    enum tac_err err;
    const size_t size = (size_t)view->ctx->size, vertices = (size_t)view->state->count;
    TAC_TRY(tac_alloc(view->ctx, size, sizeof *out->vertices, &out->vertices));
    TAC_TRY(tac_alloc(view->ctx, size, sizeof *out->parcels, &out->parcels));
    TAC_TRY(tac_alloc(view->ctx, vertices, sizeof *out->place, &out->place));
    TAC_TRY(tac_alloc(view->ctx, vertices, sizeof *out->stamp, &out->stamp));
done:
    return err;
}

static void outbox_free(struct outbox *out)
{
    free(out->vertex);
    free(out->parcel);
    free(out->vertices);
    free(out->parcels);
    free(out->place);
    free(out->stamp);
}

/* Packs those of this rank's primitives, whose boxes are `own`, that the near rank number `near` needs. */
static enum tac_err pack_for(struct tac_view *view, struct tac_candidates *c, struct outbox *out, size_t near,
                             const struct tac_box *own)
{
    enum tac_err err = TAC_OK;
    const int target = c->remote.near[near];
    const int32_t n = c->primitive_begin[c->body_count];
    const size_t begin = out->vertex_count, parcels = out->count;
    for (int32_t i = 0; i < n; i++)
        if (tac_remote_meets(c, near, &own[i]) && is_for_target(view, &c->primitive[i], target))
            TAC_TRY(put_primitive(view, c, out, &c->primitive[i], target, begin));
    out->vertices[target] = (int64_t)(out->vertex_count - begin);
    out->parcels[target] = (int64_t)(out->count - parcels);
done:
    return err;
}

/* For a new list: packs all primitives that are near each rank. */
static enum tac_err pack_all(struct tac_view *view, struct tac_candidates *c, struct outbox *out,
                             const struct tac_box *own)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(outbox_make(view, out));
    for (size_t k = 0; k < c->remote.near_count; k++)
        TAC_TRY(pack_for(view, c, out, k, own));
done:
    return err;
}

/* The changes in a repair: primitives that changed, with their boxes, and the boxes that have grown. */
struct changes {
    size_t count, grown_count;
    const int32_t *primitive;
    const struct tac_box *box;
    const struct tac_grown_box *grown;
};

/* For a repair: packs the primitives that have changed and are near the rank, and those that are near its boxes that
 * have grown. */
static enum tac_err pack_changes_for(struct tac_view *view, struct tac_candidates *c, struct outbox *out, size_t near,
                                     const struct changes *changes)
{
    enum tac_err err = TAC_OK;
    const int target = c->remote.near[near];
    const size_t begin = out->vertex_count, parcels = out->count;
    for (size_t i = 0; i < changes->count; i++) {
        const struct tac_primitive *p = &c->primitive[changes->primitive[i]];
        if (tac_remote_meets(c, near, &changes->box[i]) && is_for_target(view, p, target))
            TAC_TRY(put_primitive(view, c, out, p, target, begin));
    }
    bool grew = false;
    for (size_t k = 0; k < changes->grown_count; k++)
        grew |= changes->grown[k].rank == target;
    for (int32_t i = 0; grew && i < c->primitive_begin[c->body_count]; i++) {
        const struct tac_primitive *p = &c->primitive[i];
        struct tac_box box;
        bool meets = false;
        if (!is_for_target(view, p, target) || tac_has_leaver(c, p->v, p->count))
            continue;
        tac_remote_box(view, c, p, &box);
        c->remote.looked++;
        for (size_t k = 0; k < changes->grown_count && !meets; k++)
            meets = changes->grown[k].rank == target && tac_boxes_meet(&box, &changes->grown[k].box);
        if (meets)
            TAC_TRY(put_primitive(view, c, out, p, target, begin));
    }
    out->vertices[target] = (int64_t)(out->vertex_count - begin);
    out->parcels[target] = (int64_t)(out->count - parcels);
done:
    return err;
}

static enum tac_err pack_changes(struct tac_view *view, struct tac_candidates *c, struct outbox *out,
                                 const struct changes *changes)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(outbox_make(view, out));
    for (size_t k = 0; k < c->remote.near_count && changes->count + changes->grown_count > 0; k++)
        TAC_TRY(pack_changes_for(view, c, out, k, changes));
done:
    return err;
}

/* ---- messages: one to each near rank, and one from each ---- */

enum { TAG_PARCELS = 24 };

/* The head of a message: the counts of what follows; down: the sender has failed. */
struct parcel_head {
    int64_t vertices, parcels, down;
};

/* The unit in which lengths of messages are counted. */
typedef int64_t tac_unit;
_Static_assert(sizeof(struct parcel_head) % sizeof(tac_unit) == 0 &&
                   sizeof(struct parcel_vertex) % sizeof(tac_unit) == 0 &&
                   sizeof(struct parcel) % sizeof(tac_unit) == 0,
               "a message is whole units");

static size_t message_units(const struct parcel_head *head)
{
    return (sizeof *head + (size_t)head->vertices * sizeof(struct parcel_vertex) +
            (size_t)head->parcels * sizeof(struct parcel)) /
           sizeof(tac_unit);
}

static struct parcel_head head_for(const struct tac_candidates *c, const struct outbox *out, size_t near)
{
    return (struct parcel_head){out->vertices[c->remote.near[near]], out->parcels[c->remote.near[near]], TAC_OK};
}

/* Makes the messages to all near ranks, one after the other, in *message (owned by the caller). */
static enum tac_err seal_messages(struct tac_view *view, const struct tac_candidates *c, const struct outbox *out,
                                  tac_unit **message)
{
    enum tac_err err;
    size_t total = 0;
    const struct parcel_vertex *vertex = out->vertex;
    const struct parcel *parcel = out->parcel;
    for (size_t k = 0; k < c->remote.near_count; k++) {
        const struct parcel_head head = head_for(c, out, k);
        if (message_units(&head) > INT_MAX)
            return tac_fail(view->ctx, TAC_ERR_RUN, "a rank has too many primitives near another rank; use more ranks");
        total += message_units(&head);
    }
    TAC_TRY(tac_alloc(view->ctx, total, sizeof **message, message));
    char *at = (char *)*message;
    for (size_t k = 0; k < c->remote.near_count; k++) {
        const struct parcel_head head = head_for(c, out, k);
        memcpy(at, &head, sizeof head);
        at += sizeof head;
        if (head.vertices > 0)
            memcpy(at, vertex, (size_t)head.vertices * sizeof *vertex);
        at += (size_t)head.vertices * sizeof *vertex;
        if (head.parcels > 0)
            memcpy(at, parcel, (size_t)head.parcels * sizeof *parcel);
        at += (size_t)head.parcels * sizeof *parcel;
        vertex += head.vertices;
        parcel += head.parcels;
    }
done:
    return err;
}

/* Posts the messages. If there are none (NULL), each near rank gets a message that this rank has failed. */
static void post_parcels(struct tac_view *view, struct tac_candidates *c, const struct outbox *out,
                         const tac_unit *message)
{
    static const struct parcel_head failed = {0, 0, TAC_ERR_RUN};
    for (size_t k = 0; k < c->remote.near_count; k++) {
        const struct parcel_head head = message ? head_for(c, out, k) : failed;
        MPI_Isend(message ? (const void *)message : &failed, (int)message_units(&head), MPI_INT64_T, c->remote.near[k],
                  TAG_PARCELS, view->ctx->comm, &c->remote.sent[k]);
        message = message ? message + message_units(&head) : NULL;
    }
}

/* Receives the message of a rank; *message is owned by the caller. */
static const struct parcel_head *receive_parcel(struct tac_view *view, int rank, tac_unit **message)
{
    MPI_Message matched;
    MPI_Status status;
    int count;
    MPI_Mprobe(rank, TAG_PARCELS, view->ctx->comm, &matched, &status);
    MPI_Get_count(&status, MPI_INT64_T, &count);
    if (tac_alloc(view->ctx, (size_t)count, sizeof **message, message) != TAC_OK)
        tac_give_up(view->ctx); /* the sender waits until its message is received */
    MPI_Mrecv(*message, count, MPI_INT64_T, &matched, MPI_STATUS_IGNORE);
    return (const struct parcel_head *)*message;
}

/* ---- receiving ---- */

/* Takes a received vertex. If it is new here, or has another trajectory bound now, it becomes a leaver. */
static enum tac_err take_vertex(struct tac_view *view, struct tac_candidates *c, const struct parcel_vertex *p,
                                bool repair)
{
    enum tac_err err;
    tac_lid v;
    TAC_TRY(tac_ghost_add(view->halo, &p->ghost, &v));
    const bool same = memcmp(c->path_bound[v].x, p->path_bound.x, sizeof p->path_bound.x) == 0 &&
                      memcmp(c->path_bound[v].v, p->path_bound.v, sizeof p->path_bound.v) == 0 &&
                      c->path_bound[v].radius == p->path_bound.radius;
    if (repair && same)
        return TAC_OK;
    if (repair)
        TAC_TRY(tac_candidates_leave(view, c, v));
    c->path_bound[v] = p->path_bound;
    c->move[v] = p->move;
    memcpy(&c->x[3 * (size_t)v], p->x, sizeof p->x);
    if (!repair || view->halo->mark[v] == 0)
        view->halo->mark[v] = 2; /* its motion is known in this pass */
done:
    return err;
}

/* Appends the primitives that came from a rank to the remote ones, except those that are among the first `known`. */
static enum tac_err unpack_parcel(struct tac_view *view, struct tac_candidates *c, const struct parcel_head *head,
                                  size_t known, bool repair)
{
    enum tac_err err = TAC_OK;
    const struct parcel_vertex *vertex = (const struct parcel_vertex *)(head + 1);
    const struct parcel *parcel = (const struct parcel *)(vertex + head->vertices);
    for (int64_t i = 0; i < head->vertices; i++)
        TAC_TRY(take_vertex(view, c, &vertex[i], repair));
    for (int64_t i = 0; i < head->parcels; i++) {
        struct tac_primitive p;
        memset(&p, 0, sizeof p);
        p.id = parcel[i].id;
        p.count = (uint8_t)parcel[i].count;
        memcpy(p.edge, parcel[i].edge, sizeof p.edge);
        for (int j = 0; j < p.count; j++)
            p.v[j] = tac_ghost_find(view->halo, vertex[parcel[i].v[j]].ghost.id);
        p.body = view->scene->mesh->vertex_body[p.v[0]];
        p.piece = tac_scene_rigid_of(view->scene, p.v[0]);
        if (tac_remote_find(c, known, &p) >= 0)
            continue;
        TAC_TRY(tac_grow(view->ctx, &c->remote.primitive, &c->remote.capacity, c->remote.count + 1,
                         sizeof *c->remote.primitive));
        c->remote.primitive[c->remote.count++] = p;
    }
done:
    return err;
}

/* Neighbours. Sends the outbox to the near ranks, where its primitives become remote ones; in a repair only those that
 * are new there. The returned code may be that of this rank only: a rank that fails takes part in the exchange, and the
 * next agreement tells the others. */
static enum tac_err exchange_parcels(struct tac_view *view, struct tac_candidates *c, enum tac_err err,
                                     const struct outbox *out, bool repair)
{
    tac_unit *message = NULL;
    if (!err)
        err = seal_messages(view, c, out, &message);
    post_parcels(view, c, out, message);
    if (!repair)
        c->remote.count = 0;
    const size_t known = c->remote.count;
    for (size_t k = 0; k < c->remote.near_count; k++) {
        tac_unit *came = NULL;
        const struct parcel_head *head = receive_parcel(view, c->remote.near[k], &came);
        if (!err)
            err = head->down ? (enum tac_err)head->down : unpack_parcel(view, c, head, known, repair);
        free(came);
    }
    MPI_Waitall((int)c->remote.near_count, c->remote.sent, MPI_STATUSES_IGNORE);
    free(message);
    return err;
}

enum tac_err tac_remote_fetch(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err;
    struct tac_box *own = NULL;
    struct outbox out = {0};
    err = tac_alloc(view->ctx, (size_t)c->primitive_begin[c->body_count], sizeof *own, &own);
    if (!err)
        err = tac_remote_lay(view, c, own);
    TAC_TRY(tac_remote_publish(view, c, err));
    TAC_TRY(exchange_parcels(view, c, pack_all(view, c, &out, own), &out, false));
    TAC_TRY(tac_remote_arrange(view, c));
done:
    free(own);
    outbox_free(&out);
    return err;
}

enum tac_err tac_remote_send_changed(struct tac_view *view, struct tac_candidates *c, enum tac_err err, size_t count,
                                     const int32_t *changed, const struct tac_box *box,
                                     const struct tac_grown_box *grown, size_t grown_count, size_t *added)
{
    struct outbox out = {0};
    const struct changes changes = {count, grown_count, changed, box, grown};
    const size_t before = c->remote.count;
    if (!err)
        err = pack_changes(view, c, &out, &changes);
    err = exchange_parcels(view, c, err, &out, true);
    *added = c->remote.count - before;
    outbox_free(&out);
    return err;
}
