/* implicit_reactions.c: computes what contacts exert on vertices that are never free (docs/explanation/distribution.md,
 * The implicit integrator).
 *
 * Newton's method needs no forces on such vertices, so their owners do not have all their pairs. The forces are part of
 * the result, though: for reactions, and for the work of scripts. So at the end of a step the rank that counts a pair
 * sends what it exerts on each such vertex to its owner. The owner adds these terms in the order of the pairs, which is
 * the order in which it would add them if it had the pairs.
 */
#include "base/exchange.h"
#include "implicit/parts.h"
#include <stdlib.h>

/* The gradient of one pair at one vertex. */
struct term {
    uint64_t key;
    tac_gid vertex;
    double g[3];
};

/* The terms of one sort of pairs that this rank sends, and those that came. */
struct terms {
    size_t count, capacity, to_capacity, total;
    struct term *send, *came;         /* owned */
    int32_t *to;                      /* owned: the ranks */
    struct tac_implicit_place *order; /* owned: of those that came, by their keys */
};

static void free_terms(struct terms *t)
{
    free(t->send);
    free(t->came);
    free(t->to);
    free(t->order);
}

static enum tac_err put_pair(struct tac_implicit *sim, struct terms *t, uint64_t key, const tac_lid *v, int n,
                             const double (*g)[3])
{
    enum tac_err err = TAC_OK;
    for (int i = 0; i < n; i++) {
        if (sim->scene->mesh->ever_free[v[i]])
            continue;
        TAC_TRY(tac_grow(sim->ctx, &t->send, &t->capacity, t->count + 1, sizeof *t->send));
        TAC_TRY(tac_grow(sim->ctx, &t->to, &t->to_capacity, t->count + 1, sizeof *t->to));
        t->to[t->count] = (int32_t)tac_scene_owner(sim->ctx, sim->scene, v[i]);
        t->send[t->count] = (struct term){.key = key, .vertex = tac_implicit_id(sim, v[i])};
        memcpy(t->send[t->count++].g, g[i], sizeof g[i]);
    }
done:
    return err;
}

static enum tac_err put_sliding(struct tac_implicit *sim, struct terms *t)
{
    enum tac_err err = TAC_OK;
    for (size_t e = 0; e < sim->contact.sliding_count; e++) {
        const struct tac_sliding *s = &sim->contact.sliding[e];
        double g[4][3];
        if (!s->counted)
            continue;
        tac_implicit_friction_gradient(sim, s, sim->x, g);
        TAC_TRY(put_pair(sim, t, s->key, s->v, tac_pair_vertices(s->type), g));
    }
done:
    return err;
}

static enum tac_err put_touching(struct tac_implicit *sim, struct terms *t)
{
    enum tac_err err = TAC_OK;
    for (size_t e = 0; e < sim->contact.touch_count; e++) {
        const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
        double g[4][3];
        if (!p->counted)
            continue;
        tac_implicit_contact_gradient(sim, e, sim->x, g);
        TAC_TRY(put_pair(sim, t, p->key, p->v, tac_pair_vertices(p->form.type), g));
    }
done:
    return err;
}

/* Collective. Sends the terms to the owners of their vertices, and adds up what comes, in the order of keys. */
static enum tac_err add_terms(struct tac_implicit *sim, enum tac_err err, struct terms *t)
{
    TAC_TRY(tac_distribute(sim->ctx, err, t->count, t->to, t->send, sizeof *t->send, &t->came, &t->total));
    TAC_TRY(tac_agree(sim->ctx, tac_alloc(sim->ctx, 2 * t->total, sizeof *t->order, &t->order)));
    for (size_t k = 0; k < t->total; k++)
        t->order[k] = (struct tac_implicit_place){t->came[k].key, k};
    tac_implicit_sort_places(t->order, t->total);
    for (size_t k = 0; k < t->total; k++) {
        const struct term *term = &t->came[t->order[k].at];
        double *g = &sim->newton.gradient[3 * (size_t)tac_id_find(sim->id, sim->owned, term->vertex)];
        for (int c = 0; c < 3; c++)
            g[c] += term->g[c];
    }
    tac_implicit_count_terms(sim, TAC_TERM_FORCE, t->total);
done:
    return err;
}

enum tac_err tac_implicit_contact_forces(struct tac_implicit *sim, bool contact)
{
    enum tac_err err = TAC_OK;
    struct terms sliding = {0}, touching = {0};
    memset(sim->newton.gradient, 0, 3 * (size_t)sim->owned * sizeof *sim->newton.gradient);
    tac_implicit_add_friction(sim, sim->x);
    if (sim->contact.movers_only && sim->model->friction)
        TAC_TRY(add_terms(sim, put_sliding(sim, &sliding), &sliding));
    if (!contact)
        goto done;
    tac_implicit_add_contact(sim, sim->x);
    tac_rigid_add_ties(sim, sim->x);
    if (sim->contact.movers_only)
        TAC_TRY(add_terms(sim, put_touching(sim, &touching), &touching));
done:
    free_terms(&sliding);
    free_terms(&touching);
    return err;
}
