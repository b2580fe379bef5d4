/* contacts.c: the contacts of an instant, for those who ask: a function of positions, whatever is active beyond. */
#include "contact/contacts.h"
#include "snapshot/contacts.h"
#include <stdlib.h>
#include <string.h>

/* What the layers that act at distance d (less the radius) push with, N. */
static double push(const struct tac_sim *sim, const struct tac_pair *p, double d)
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
static bool describe(const struct tac_sim *sim, const struct tac_pair *p, struct tac_contact *out)
{
    const enum tac_pair_type type = (enum tac_pair_type)p->type;
    double x[4][3], gradient[4][3], m = 1;
    struct tac_near near;
    for (int i = 0; i < p->count; i++)
        tac_position(sim, p->v[i], sim->state.now, x[i]);
    tac_near_pair(type, x, &near);
    const double gap = near.d - p->form.radius;
    if (gap >= p->form.thickness * sim->model->reach[1])
        return false;
    if (type == TAC_PAIR_EDGE_EDGE)
        tac_mollifier(x, &m, gradient);
    tac_contact_make(type, p->key, p->v, sim->scene->mesh->vertex_body, (const double(*)[3])x, &near, p->form.radius,
                     out);
    for (int i = 0; i < 4; i++)
        out->vertex[i] = i < p->count ? tac_sim_id(sim, p->v[i]) : -1;
    out->force = m * push(sim, p, gap);
    return true;
}

/* Does this rank tell of the pair?  The owner of its first vertex that can move does, whoever decides it: all owners of
 * its vertices know all of it. */
static bool is_told_here(const struct tac_sim *sim, const struct tac_pair *p)
{
    return (sim->model->apart ? tac_model_mover(sim->model, p->v, p->count) : p->v[0]) < sim->state.owned;
}

enum tac_err tac_sim_contacts(struct tac_sim *sim, struct tac_contact **out, size_t *count)
{
    enum tac_err err = TAC_OK;
    struct tac_contact *list = NULL, one;
    size_t n = 0, capacity = 0;
    TAC_TRY(tac_sim_look_ghosts(sim));
    for (size_t k = 0; k < sim->active.pair_count; k++) {
        const struct tac_pair *p = &sim->active.pair[k];
        if (!p->live || !is_told_here(sim, p) || tac_pair_is_limit((enum tac_pair_type)p->type) ||
            !describe(sim, p, &one))
            continue;
        TAC_TRY(tac_grow(sim->ctx, &list, &capacity, n + 1, sizeof *list));
        list[n++] = one;
    }
done:
    if ((err = tac_agree(sim->ctx, err)) == TAC_OK && n > 0)
        qsort(list, n, sizeof *list, tac_contact_compare);
    if (err) {
        free(list);
        list = NULL;
        n = 0;
    }
    *out = list;
    *count = n;
    return err;
}
