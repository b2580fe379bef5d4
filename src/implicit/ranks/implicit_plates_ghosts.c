/* implicit_plates_ghosts.c: gives owners of plates the vertices of the plates' pairs as ghosts (implicit_plates.h).
 * What the pairs add to the matrix couples a plate with these vertices. */
#include "base/exchange.h"
#include "implicit/parts.h"
#include "implicit/ranks/implicit_plates.h"
#include <stdlib.h>

/* What this rank sends, and what came. */
struct mail {
    size_t want_count, want_capacity, count, total;
    uint64_t *want;                 /* owned: rank and vertex */
    struct tac_ghost *ghost, *came; /* owned */
    int32_t *to;                    /* owned: the ranks */
};

static enum tac_err put_pair(struct tac_implicit *sim, struct mail *m, const tac_lid *v, int n)
{
    enum tac_err err = TAC_OK;
    for (int i = 0; i < n; i++) {
        int32_t to;
        if (!tac_plates_need(sim, v, n, i, &to) || !tac_implicit_counts_pair(sim, v, n))
            continue;
        TAC_TRY(tac_grow(sim->ctx, &m->want, &m->want_capacity, m->want_count + (size_t)n, sizeof *m->want));
        for (int k = 0; k < n; k++)
            m->want[m->want_count++] = (uint64_t)to << 32 | (uint32_t)v[k];
    }
done:
    return err;
}

static int compare(const void *a, const void *b)
{
    uint64_t of[2];
    memcpy(&of[0], a, sizeof of[0]);
    memcpy(&of[1], b, sizeof of[1]);
    return (of[0] > of[1]) - (of[0] < of[1]);
}

/* Describes each vertex once for each rank that wants it. */
static enum tac_err describe(struct tac_implicit *sim, struct mail *m)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(sim->ctx, m->want_count, sizeof *m->ghost, &m->ghost));
    TAC_TRY(tac_alloc(sim->ctx, m->want_count, sizeof *m->to, &m->to));
    if (m->want_count > 0)
        qsort(m->want, m->want_count, sizeof *m->want, compare);
    for (size_t k = 0; k < m->want_count; k++) {
        if (k > 0 && m->want[k] == m->want[k - 1])
            continue;
        tac_ghost_describe(sim->scene, (tac_lid)(uint32_t)m->want[k], &m->ghost[m->count]);
        m->to[m->count++] = (int32_t)(m->want[k] >> 32);
    }
done:
    return err;
}

static enum tac_err put_all(struct tac_implicit *sim, struct mail *m, const struct tac_implicit_found *found,
                            size_t count)
{
    enum tac_err err;
    const struct tac_implicit_contact *c = &sim->contact;
    for (size_t k = 0; k < count; k++)
        TAC_TRY(put_pair(sim, m, found[k].v, tac_pair_vertices(tac_key_type(found[k].key))));
    for (size_t k = 0; k < c->sliding_count; k++)
        TAC_TRY(put_pair(sim, m, c->sliding[k].v, tac_pair_vertices(c->sliding[k].type)));
    for (size_t k = 0; k < c->foreseen_count; k++)
        TAC_TRY(put_pair(sim, m, c->foreseen[k].v, tac_pair_vertices(c->foreseen[k].type)));
    TAC_TRY(describe(sim, m));
done:
    return err;
}

static enum tac_err take_all(struct tac_implicit *sim, const struct mail *m)
{
    enum tac_err err;
    tac_lid *shown;
    TAC_TRY(tac_plates_shown(sim, m->total, &shown));
    for (size_t k = 0; k < m->total; k++)
        TAC_TRY(tac_ghost_add(sim->halo, &m->came[k], &shown[k]));
done:
    return err;
}

enum tac_err tac_plates_show(struct tac_implicit *sim, const struct tac_implicit_found *found, size_t count)
{
    enum tac_err err;
    struct mail m = {0};
    tac_lid *shown;
    if (sim->plates == NULL)
        return TAC_OK;
    if (!(sim->newton.pull > 0))
        return tac_plates_shown(sim, 0, &shown);
    err = put_all(sim, &m, found, count);
    TAC_TRY(tac_distribute(sim->ctx, err, m.count, m.to, m.ghost, sizeof *m.ghost, &m.came, &m.total));
    TAC_TRY(tac_agree(sim->ctx, take_all(sim, &m)));
done:
    free(m.want);
    free(m.ghost);
    free(m.came);
    free(m.to);
    return err;
}
