/* implicit_pairs.c: sends pairs to owners of plates (docs/explanation/distribution.md, The implicit integrator).
 *
 * A rank searches for pairs with its vertices that are free at some time. A coarse plate may be near to everything, so
 * its owner would search as much as all others together. While the vertices of plates are unknowns, their owner needs
 * these pairs all the same: the rank that counts a pair sends it.
 */
#include "base/exchange.h"
#include "implicit/parts.h"
#include <stdlib.h>

/* A pair, as it is sent. */
struct parcel {
    uint64_t key;
    double radius, thickness; /* m */
    tac_gid vertex[4];
};

/* What this rank sends, and what came. */
struct mail {
    size_t count, capacity, to_capacity, total;
    struct parcel *send, *came; /* owned */
    int32_t *to;                /* owned: the ranks */
    size_t ghost_count, ghost_capacity, ghost_to_capacity, ghost_total;
    struct tac_ghost *ghost, *ghost_came; /* owned */
    int32_t *ghost_to;                    /* owned */
    int32_t *stamp;                       /* owned, (V): the last rank, plus 1, that the vertex was sent to */
};

static enum tac_err put_ghost(struct tac_implicit *sim, struct mail *m, tac_lid v, int32_t to)
{
    enum tac_err err = TAC_OK;
    if (m->stamp[v] == to + 1)
        return TAC_OK;
    TAC_TRY(tac_grow(sim->ctx, &m->ghost, &m->ghost_capacity, m->ghost_count + 1, sizeof *m->ghost));
    TAC_TRY(tac_grow(sim->ctx, &m->ghost_to, &m->ghost_to_capacity, m->ghost_count + 1, sizeof *m->ghost_to));
    tac_ghost_describe(sim->scene, v, &m->ghost[m->ghost_count]);
    m->ghost_to[m->ghost_count++] = to;
    m->stamp[v] = to + 1;
done:
    return err;
}

static enum tac_err put_pair(struct tac_implicit *sim, struct mail *m, const struct tac_implicit_found *f, int n,
                             int32_t to)
{
    enum tac_err err;
    TAC_TRY(tac_grow(sim->ctx, &m->send, &m->capacity, m->count + 1, sizeof *m->send));
    TAC_TRY(tac_grow(sim->ctx, &m->to, &m->to_capacity, m->count + 1, sizeof *m->to));
    m->send[m->count] = (struct parcel){.key = f->key, .radius = f->radius, .thickness = f->thickness};
    for (int i = 0; i < n; i++) {
        m->send[m->count].vertex[i] = tac_implicit_id(sim, f->v[i]);
        TAC_TRY(put_ghost(sim, m, f->v[i], to));
    }
    m->to[m->count++] = to;
done:
    return err;
}

/* Has the owner of vertex i found the pair itself, or has it been sent to it because of an earlier vertex? */
static bool has_it(const struct tac_implicit *sim, const tac_lid *v, int n, int i, int32_t owner)
{
    for (int k = 0; k < n; k++)
        if ((sim->scene->mesh->ever_free[v[k]] || k < i) &&
            (int32_t)tac_scene_owner(sim->ctx, sim->scene, v[k]) == owner)
            return true;
    return false;
}

static enum tac_err put_all(struct tac_implicit *sim, struct mail *m, const struct tac_implicit_found *found,
                            size_t count)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->count, sizeof *m->stamp, &m->stamp));
    for (size_t k = 0; k < count; k++) {
        const struct tac_implicit_found *f = &found[k];
        const int n = tac_pair_vertices(tac_key_type(f->key));
        if (!tac_implicit_counts_pair(sim, f->v, n))
            continue;
        for (int i = 0; i < n; i++) {
            const int32_t owner = (int32_t)tac_scene_owner(sim->ctx, sim->scene, f->v[i]);
            if (!sim->scene->mesh->ever_free[f->v[i]] && !has_it(sim, f->v, n, i, owner))
                TAC_TRY(put_pair(sim, m, f, n, owner));
        }
    }
done:
    return err;
}

/* Makes ghosts of the vertices that came, and enters the pairs. */
static enum tac_err take_all(struct tac_implicit *sim, const struct mail *m,
                             enum tac_err (*take)(struct tac_implicit *, const struct tac_implicit_found *))
{
    enum tac_err err = TAC_OK;
    for (size_t k = 0; k < m->ghost_total; k++) {
        tac_lid v;
        TAC_TRY(tac_ghost_add(sim->halo, &m->ghost_came[k], &v));
    }
    for (size_t k = 0; k < m->total; k++) {
        const struct parcel *p = &m->came[k];
        struct tac_implicit_found f = {p->key, {-1, -1, -1, -1}, p->radius, p->thickness};
        for (int i = 0; i < tac_pair_vertices(tac_key_type(p->key)); i++)
            f.v[i] = tac_ghost_find(sim->halo, p->vertex[i]);
        TAC_TRY(take(sim, &f));
    }
done:
    return err;
}

enum tac_err tac_implicit_pairs_send(struct tac_implicit *sim, const struct tac_implicit_found *found, size_t count,
                                     enum tac_err (*take)(struct tac_implicit *, const struct tac_implicit_found *))
{
    enum tac_err err;
    struct mail m = {0};
    err = put_all(sim, &m, found, count);
    TAC_TRY(tac_distribute(sim->ctx, err, m.ghost_count, m.ghost_to, m.ghost, sizeof *m.ghost, &m.ghost_came,
                           &m.ghost_total));
    TAC_TRY(tac_distribute(sim->ctx, TAC_OK, m.count, m.to, m.send, sizeof *m.send, &m.came, &m.total));
    err = tac_agree(sim->ctx, take_all(sim, &m, take));
done:
    free(m.send);
    free(m.came);
    free(m.to);
    free(m.ghost);
    free(m.ghost_came);
    free(m.ghost_to);
    free(m.stamp);
    return err;
}
