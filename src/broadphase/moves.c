/* moves.c: sends the motions of a rank's vertices over a window to its neighbours. */
#include "broadphase/candidates.h"
#include <string.h>

enum { TAG_MOTIONS = 16 };

void tac_move_put(const struct tac_candidates *c, tac_lid v, struct tac_move_message *m)
{
    const struct tac_move *move = &c->move[v];
    memcpy(m->x, &c->x[3 * (size_t)v], sizeof m->x);
    memcpy(m->u, move->u, sizeof m->u);
    m->deviation = move->deviation;
    m->speed = move->speed;
    m->near = move->near;
}

void tac_move_get(struct tac_candidates *c, tac_lid v, const struct tac_move_message *m)
{
    struct tac_move *move = &c->move[v];
    memcpy(&c->x[3 * (size_t)v], m->x, sizeof m->x);
    memcpy(move->u, m->u, sizeof m->u);
    move->deviation = m->deviation;
    move->speed = m->speed;
    move->near = m->near != 0;
}

static size_t send_moves(void *self, struct tac_neighbor *n)
{
    const struct tac_view *view = self;
    if (!tac_halo_room(view->halo, n, n->give_count * sizeof(struct tac_move_message) + 1))
        return 0;
    for (size_t i = 0; i < n->give_count; i++)
        tac_move_put(view->candidates, n->give[i], (struct tac_move_message *)n->told + i);
    return n->give_count * sizeof(struct tac_move_message);
}

static void receive_moves(void *self, struct tac_neighbor *n)
{
    const struct tac_view *view = self;
    TAC_CHECK(n->heard_count == n->need_count * sizeof(struct tac_move_message));
    for (size_t i = 0; i < n->need_count; i++)
        tac_move_get(view->candidates, n->need[i], (const struct tac_move_message *)n->heard + i);
}

void tac_moves_exchange(struct tac_view *view)
{
    tac_halo_exchange(view->halo, TAG_MOTIONS, send_moves, receive_moves, view);
}
