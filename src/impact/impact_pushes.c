/* impact_pushes.c: keeps what the pairs have pushed along their normals in the last step, for the forces of contacts.
 *
 * All ranks have all rows, so each has this list as a whole. It is no part of the state: right after a restart there is
 * none, and the first frame comes after a step.
 */
#include "impact/impact.h"
#include <stdlib.h>

void tac_impact_pushes_begin(struct tac_impact *sim)
{
    sim->pushed.count = 0;
}

/* Both lists are ascending: puts the rows of the part between those of the parts before, from the back. */
static void merge(struct tac_impact *sim, size_t fresh)
{
    const struct tac_impact_active *a = &sim->active;
    struct tac_impact_pushed *to = sim->pushed.row;
    size_t old = sim->pushed.count, at = old + fresh;
    sim->pushed.count = at;
    for (size_t k = a->rows; k > 0;) {
        const struct tac_impact_row *row = &a->row[k - 1];
        const double impulse = tac_dot(row->n, a->push[k - 1]);
        if (old > 0 && to[old - 1].key > row->key) {
            to[--at] = to[old - 1];
            old--;
            continue;
        }
        if (old > 0 && to[old - 1].key == row->key) {
            to[--at] = (struct tac_impact_pushed){row->key, to[old - 1].impulse + impulse};
            old--;
        } else
            to[--at] = (struct tac_impact_pushed){row->key, impulse};
        k--;
    }
}

static int compare(const void *a, const void *b)
{
    const struct tac_impact_pushed *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static const struct tac_impact_pushed *find(const struct tac_impact *sim, uint64_t key)
{
    const struct tac_impact_pushed wanted = {.key = key};
    if (sim->pushed.count == 0)
        return NULL;
    return bsearch(&wanted, sim->pushed.row, sim->pushed.count, sizeof wanted, compare);
}

enum tac_err tac_impact_pushes_enter(struct tac_impact *sim)
{
    enum tac_err err = TAC_OK;
    const struct tac_impact_active *a = &sim->active;
    size_t fresh = 0;
    for (size_t k = 0; k < a->rows; k++)
        fresh += find(sim, a->row[k].key) == NULL;
    TAC_TRY(tac_grow(sim->ctx, &sim->pushed.row, &sim->pushed.capacity, sim->pushed.count + fresh,
                     sizeof *sim->pushed.row));
    merge(sim, fresh);
done:
    return err;
}

double tac_impact_pushes_force(const struct tac_impact *sim, uint64_t key)
{
    const struct tac_impact_pushed *pushed = find(sim, key);
    return pushed != NULL ? pushed->impulse / sim->scene->settings->impact.step_s : 0;
}
