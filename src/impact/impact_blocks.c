/* impact_blocks.c: the list of pairs in blocks, each between two rigid pieces. Most pieces keep their flights in a
 * round, and most pairs of the others are too far apart for them, so most blocks need no look at their pairs. */
#include "impact/impact.h"
#include <stdlib.h>

static int32_t group_of(const struct tac_impact *sim, tac_lid v)
{
    return tac_impact_is_rigid(sim, v) ? sim->rigid.of[v]
                                       : (int32_t)sim->rigid.count + sim->scene->mesh->vertex_body[v];
}

size_t tac_impact_groups(const struct tac_impact *sim)
{
    return sim->rigid.count + (size_t)sim->scene->settings->body_count;
}

enum tac_err tac_impact_blocks_create(struct tac_impact *sim)
{
    return tac_alloc(sim->ctx, tac_impact_groups(sim), sizeof *sim->search.group, &sim->search.group);
}

void tac_impact_blocks_free(struct tac_impact_search *s)
{
    free(s->block);
    free(s->group);
}

void tac_impact_blocks_group(struct tac_impact *sim)
{
    struct tac_impact_group *const group = sim->search.group;
    const size_t groups = tac_impact_groups(sim);
    for (size_t g = 0; g < groups; g++)
        group[g] = (struct tac_impact_group){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, false};
    for (tac_lid v = 0; v < sim->count; v++) {
        struct tac_impact_group *const to = &group[group_of(sim, v)];
        const double *p = &sim->p[3 * (size_t)v];
        for (int c = 0; c < 3; c++) {
            to->lo[c] = p[c] < to->lo[c] ? p[c] : to->lo[c];
            to->hi[c] = p[c] > to->hi[c] ? p[c] : to->hi[c];
        }
        to->changed = to->changed || sim->changed[v];
    }
}

enum tac_err tac_impact_blocks_make(struct tac_impact *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_impact_search *s = &sim->search;
    s->block_count = 0;
    for (size_t k = 0; k < s->count; k++) {
        const struct tac_impact_pair *pair = &s->pair[k];
        const int32_t one = group_of(sim, pair->v[0]), two = group_of(sim, pair->v[tac_pair_first(pair->type)]);
        const int32_t low = one < two ? one : two, high = one < two ? two : one;
        struct tac_impact_block *last = s->block_count > 0 ? &s->block[s->block_count - 1] : NULL;
        if (last == NULL || last->group[0] != low || last->group[1] != high) {
            TAC_TRY(tac_grow(sim->ctx, &s->block, &s->block_capacity, s->block_count + 1, sizeof *s->block));
            last = &s->block[s->block_count++];
            *last = (struct tac_impact_block){{low, high}, k, k, INFINITY, false};
        }
        last->end = k + 1;
        last->room = fmin(last->room, pair->room);
        last->waits = last->waits || !pair->safe;
    }
done:
    return err;
}

/* Let c and r be middles and half diagonals of the two boxes. All displacements of a pair are within the r of their c,
 * and their mean m is within the larger r of a point between the two c. So those of the one primitive less m, and those
 * of the other less m, which tac_advance_safely() uses, have together no more than |c1 - c2| + r1 + r2 + 2 max(r). */
double tac_impact_blocks_travel(const struct tac_impact *sim, const struct tac_impact_block *block)
{
    const struct tac_impact_group *a = &sim->search.group[block->group[0]], *b = &sim->search.group[block->group[1]];
    double apart[3], one[3], two[3];
    for (int c = 0; c < 3; c++) {
        apart[c] = .5 * (a->lo[c] + a->hi[c]) - .5 * (b->lo[c] + b->hi[c]);
        one[c] = .5 * (a->hi[c] - a->lo[c]);
        two[c] = .5 * (b->hi[c] - b->lo[c]);
    }
    const double ra = sqrt(tac_dot(one, one)), rb = sqrt(tac_dot(two, two));
    return (sqrt(tac_dot(apart, apart)) + ra + rb + 2 * fmax(ra, rb)) * (1 + 1e-9);
}

void tac_impact_blocks_move(struct tac_impact *sim)
{
    struct tac_impact_search *s = &sim->search;
    for (struct tac_impact_block *block = s->block; block < s->block + s->block_count; block++) {
        const double travel = tac_impact_blocks_travel(sim, block);
        if (travel == 0)
            continue;
        block->room -= travel;
        for (size_t k = block->begin; k < block->end; k++)
            s->pair[k].room -= travel;
    }
}
