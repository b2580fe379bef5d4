/* halo_bodies.c: sends what is known of bodies to the ranks that have ghosts of them. Both sides go over the same
 * vertices in the same order, and a body counts once where some follow each other. */
#include "partition/halo_bodies.h"
#include <string.h>

struct sharing {
    struct tac_halo *halo;
    const struct tac_halo_bodies *bodies;
};

static size_t fill(void *self, struct tac_neighbor *n)
{
    const struct sharing *s = self;
    const struct tac_halo_bodies *b = s->bodies;
    size_t bytes = 0;
    int32_t last = -1;
    if (!tac_halo_room(s->halo, n, n->give_count * b->size + 1))
        return 0;
    for (size_t i = 0; i < n->give_count; i++) {
        const int32_t k = b->body_of(b->self, n->give[i]);
        char known[TAC_HALO_BODY];
        if (k >= 0 && k != last) {
            b->pack(b->self, k, known);
            memcpy(n->report + bytes, known, b->size);
            bytes += b->size;
        }
        last = k;
    }
    return bytes;
}

static void take(void *self, struct tac_neighbor *n)
{
    const struct sharing *s = self;
    const struct tac_halo_bodies *b = s->bodies;
    size_t bytes = 0;
    int32_t last = -1;
    for (size_t i = 0; i < n->need_count; i++) {
        const int32_t k = b->body_of(b->self, n->need[i]);
        char known[TAC_HALO_BODY];
        if (k >= 0 && k != last) {
            TAC_CHECK(bytes + b->size <= n->heard_count);
            memcpy(known, n->heard + bytes, b->size);
            b->unpack(b->self, k, n->rank, known);
            bytes += b->size;
        }
        last = k;
    }
}

void tac_halo_share_bodies(struct tac_halo *halo, int tag, const struct tac_halo_bodies *bodies)
{
    struct sharing s = {halo, bodies};
    TAC_CHECK(bodies->size <= TAC_HALO_BODY);
    tac_halo_exchange(halo, tag, fill, take, &s);
}
