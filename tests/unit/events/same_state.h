/* same_state.h: are two states that were taken out of simulations the same, to the last bit? */
#ifndef TACTUS_TESTS_EVENTS_SAME_STATE_H
#define TACTUS_TESTS_EVENTS_SAME_STATE_H

#include "check.h"
#include "events/state/state_transfer.h"

#include <stdlib.h>
#include <string.h>

static inline void same_bytes(const char *what, const void *a, const void *b, tac_lid count, tac_lid other, size_t size)
{
    CHECK(count == other && (count == 0 || memcmp(a, b, (size_t)count * size) == 0), "%s: %d and %d rows", what,
          (int)count, (int)other);
}

/* Rows of pairs are in order; the entries of their layer groups lie anywhere in the table `last`. */
static inline void same_pairs(const struct tac_checkpoint *a, const struct tac_checkpoint *b)
{
    CHECK(a->pair_count == b->pair_count && a->last_count == b->last_count, "pairs: %d and %d rows", (int)a->pair_count,
          (int)b->pair_count);
    for (tac_lid i = 0; i < a->pair_count && i < b->pair_count; i++) {
        struct tac_pair_state p = a->pair[i], q = b->pair[i];
        CHECK(p.groups == q.groups &&
                  memcmp(a->last + p.last, b->last + q.last, (size_t)p.groups * sizeof *a->last) == 0,
              "layer groups of pair %d", (int)i);
        p.last = q.last = 0;
        CHECK(memcmp(&p, &q, sizeof p) == 0, "pair %d", (int)i);
    }
}

static inline void same_vertices(const struct tac_checkpoint *a, const struct tac_checkpoint *b)
{
    const struct tac_vertex_rows *u = &a->vertices, *v = &b->vertices;
    const size_t vector = 3 * sizeof(double);
    CHECK(a->now == b->now, "times");
    same_bytes("vertices: id", u->id, v->id, u->count, v->count, sizeof *u->id);
    same_bytes("vertices: x", u->x, v->x, u->count, v->count, vector);
    same_bytes("vertices: v", u->v, v->v, u->count, v->count, vector);
    same_bytes("vertices: t", u->t, v->t, u->count, v->count, sizeof *u->t);
    same_bytes("vertices: impulse", u->impulse, v->impulse, u->count, v->count, vector);
    same_bytes("vertices: rest of the impulse", u->rest, v->rest, u->count, v->count, vector);
}

static inline void same_elements(const struct tac_checkpoint *a, const struct tac_checkpoint *b)
{
    for (int k = 0; k < TAC_KINDS; k++) {
        CHECK(a->element[k].nodes == b->element[k].nodes && a->element[k].width == b->element[k].width,
              "rows of kind %d", k);
        same_bytes("elements", a->element[k].row, b->element[k].row, a->element[k].count, b->element[k].count,
                   tac_element_row_size(&a->element[k]));
    }
}

static inline void sort_friction(struct tac_checkpoint *c)
{
    if (c->friction_state_count > 0) /* qsort() takes no NULL */
        qsort(c->friction_state, (size_t)c->friction_state_count, sizeof *c->friction_state, tac_friction_row_compare);
}

/* Sorts the rows of friction, which come in any order. */
static inline void same_state(struct tac_checkpoint *a, struct tac_checkpoint *b)
{
    same_vertices(a, b);
    same_pairs(a, b);
    same_elements(a, b);
    sort_friction(a);
    sort_friction(b);
    same_bytes("friction", a->friction_state, b->friction_state, a->friction_state_count, b->friction_state_count,
               sizeof *a->friction_state);
    same_bytes("scripts", a->script, b->script, a->script_count, b->script_count, sizeof *a->script);
}

#endif
