/* present_contacts.c: lists the contacts at an instant for the caller. The list depends on positions only, not on which
 * other pairs are active. */
#include "events/state/present_contacts.h"
#include "base/exchange.h"
#include "contact/contacts.h"
#include "contact/flat.h"
#include <stdlib.h>
#include <string.h>

/* Returns the force of the layers that act at distance d (less the radius), N. */
static double contact_force(const struct tac_sim *sim, const struct tac_pair *p, double d)
{
    double sum = 0;
    for (int32_t l = 1; l <= p->form.bottom; l++) {
        const double g = p->form.thickness * sim->model->reach[l] - d;
        if (g <= 0)
            break;
        sum += sim->model->rate[l] * g;
    }
    return p->form.stiffness * sum;
}

/* Fills *out if the pair is in contact. */
static bool describe_contact(const struct tac_sim *sim, const struct tac_pair *p, struct tac_contact *out)
{
    const enum tac_pair_type type = (enum tac_pair_type)p->type;
    double x[4][3], gradient[4][3], m = 1;
    struct tac_near near;
    for (int i = 0; i < p->count; i++)
        tac_position(&sim->state, &sim->scripts, p->v[i], sim->state.now, x[i]);
    tac_near_pair(type, x, &near);
    const double gap = near.d - p->form.radius;
    if (gap >= p->form.thickness * sim->model->reach[1] ||
        (p->flat && tac_flat_beyond(p->flat, (const double(*)[3])x, &near)))
        return false;
    if (type == TAC_PAIR_EDGE_EDGE)
        tac_mollifier(x, &m, gradient);
    tac_contact_make(type, p->key, p->v, sim->scene->mesh->vertex_body, (const double(*)[3])x, &near, p->form.radius,
                     out);
    for (int i = 0; i < 4; i++)
        out->vertex[i] = i < p->count ? tac_scene_id(sim->scene, p->v[i]) : -1;
    out->force = m * contact_force(sim, p, gap);
    return true;
}

/* Returns the rank that reports the pair: the owner of its first vertex that can move. */
static int reporting_rank(const struct tac_sim *sim, const struct tac_pair *p)
{
    return tac_scene_owner(sim->ctx, sim->scene,
                           sim->model->omit_immovable ? tac_model_mover(sim->model, p->v, p->count) : p->v[0]);
}

/* Lists the contacts of pairs about which this rank decides, because it knows the present positions of their vertices;
 * `to`: the ranks that report them. */
static enum tac_err describe_decided(struct tac_sim *sim, struct tac_contact **list, int32_t **to, size_t *count)
{
    enum tac_err err = TAC_OK;
    size_t capacity = 0, to_capacity = 0;
    struct tac_contact one;
    for (size_t k = 0; k < sim->active.pair_count; k++) {
        const struct tac_pair *p = &sim->active.pair[k];
        if (!p->live || !tac_decides_pair(sim->model, &sim->state, p) ||
            tac_pair_is_limit((enum tac_pair_type)p->type) || !describe_contact(sim, p, &one))
            continue;
        TAC_TRY(tac_grow(sim->ctx, list, &capacity, *count + 1, sizeof **list));
        TAC_TRY(tac_grow(sim->ctx, to, &to_capacity, *count + 1, sizeof **to));
        (*to)[*count] = reporting_rank(sim, p);
        (*list)[(*count)++] = one;
    }
done:
    return err;
}

enum tac_err tac_sim_contacts(struct tac_sim *sim, struct tac_contact **out, size_t *count)
{
    enum tac_err err;
    struct tac_contact *list = NULL, *reported = NULL;
    int32_t *to = NULL;
    size_t n = 0;
    TAC_TRY(tac_sim_look_ghosts(sim));
    err = describe_decided(sim, &list, &to, &n);
    TAC_TRY(tac_distribute(sim->ctx, err, n, to, list, sizeof *list, &reported, &n));
    if (n > 0)
        qsort(reported, n, sizeof *reported, tac_contact_compare);
done:
    free(list);
    free(to);
    *out = err ? NULL : reported;
    *count = err ? 0 : n;
    return err;
}
