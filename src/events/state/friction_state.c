/* friction_state.c: takes the state of friction out of a simulation, and puts it into another one. */
#include "base/exchange.h"
#include "contact/friction.h"
#include "events/ranks/ranks.h"
#include "events/state/state_transfer.h"
#include "state/snapshot.h"
#include "state/spin.h"
#include <stdlib.h>
#include <string.h>

static void fill_friction_row(const struct tac_sim *sim, const struct tac_pair *p, int64_t layer,
                              struct tac_friction_row *row)
{
    memset(row, 0, sizeof *row);
    row->key = p->key;
    row->layer = layer;
    for (int i = 0; i < 4; i++)
        row->vertex[i] = i < p->count ? tac_scene_id(sim->scene, p->v[i]) : -1;
}

/* A pair in which a grain rolls has one more row, of layer -1. */
static void fill_rolling_row(const struct tac_sim *sim, const struct tac_pair *p,
                             const struct tac_rolling_values *rolling, struct tac_friction_row *row)
{
    fill_friction_row(sim, p, -1, row);
    memcpy(row->value, rolling->place, sizeof rolling->place);
    memcpy(&row->value[3], rolling->apart, sizeof rolling->apart);
    memcpy(&row->value[6], rolling->bend, sizeof rolling->bend);
    memcpy(&row->value[9], rolling->budget, sizeof rolling->budget);
}

static void take_rolling_row(const struct tac_friction_row *row, struct tac_rolling_values *rolling)
{
    memcpy(rolling->place, row->value, sizeof rolling->place);
    memcpy(rolling->apart, &row->value[3], sizeof rolling->apart);
    memcpy(rolling->bend, &row->value[6], sizeof rolling->bend);
    memcpy(rolling->budget, &row->value[9], sizeof rolling->budget);
}

static bool has_grain(const struct tac_sim *sim, const struct tac_pair *p)
{
    const struct tac_spin *s = sim->state.spin;
    return s != NULL && (s[p->v[0]].radius > 0 || s[p->v[tac_pair_first((enum tac_pair_type)p->type)]].radius > 0);
}

enum tac_err tac_friction_collect(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err = TAC_OK;
    const struct tac_friction *f = sim->active.friction;
    size_t count = 0, capacity = 0;
    for (size_t k = 0; f != NULL && k < sim->active.pair_count; k++) {
        const struct tac_pair *p = &sim->active.pair[k];
        const struct tac_friction_values *g = &f->friction_state[k].now;
        if (!p->live || !tac_decides_pair(sim->model, &sim->state, p) || g->t < 0)
            continue;
        TAC_TRY(tac_grow(sim->ctx, &c->friction_state, &capacity, count + 2 + (size_t)p->groups,
                         sizeof *c->friction_state));
        struct tac_friction_row *row = &c->friction_state[count++];
        fill_friction_row(sim, p, 0, row);
        row->t[0] = g->born;
        row->t[1] = g->t;
        memcpy(row->value, g->stock, sizeof g->stock);
        row->value[2] = g->budget;
        memcpy(&row->value[3], g->w, sizeof g->w);
        memcpy(&row->value[7], g->p, sizeof g->p);
        memcpy(&row->value[10], g->slid, sizeof g->slid);
        if (has_grain(sim, p))
            fill_rolling_row(sim, p, &f->rolling[k], &c->friction_state[count++]);
        for (int32_t first = 1, last; first <= p->depth; first = last + 1) {
            const tac_time period = tac_model_layer_group(sim->model, &p->form, first, &last);
            const int32_t anchor = tac_active_anchor(sim, p->key, period, first);
            /* One whose layer group is silent, or that is of an earlier touch, will be born anew. */
            if (anchor < 0 || f->anchor[anchor].now.born != g->born ||
                tac_active_last(sim, p->key, period, first) == INFINITY)
                continue;
            row = &c->friction_state[count++];
            fill_friction_row(sim, p, first, row);
            row->t[0] = g->born;
            memcpy(row->value, f->anchor[anchor].now.hold, sizeof f->anchor[anchor].now.hold);
        }
    }
    c->friction_state_count = (tac_lid)count;
done:
    return err;
}

static enum tac_err restore_friction_row(struct tac_sim *sim, const struct tac_friction_row *row)
{
    struct tac_friction *f = sim->active.friction;
    const int32_t slot = f ? tac_active_find(&sim->active, row->key) : -1;
    int32_t last, anchor;
    if (!tac_state_concerns(sim, row->vertex))
        return TAC_OK;
    if (slot < 0 || row->layer > sim->active.pair[slot].depth || sim->active.pair[slot].form.law->friction == 0)
        goto wrong;
    if (row->layer < 0) {
        if (!has_grain(sim, &sim->active.pair[slot]))
            goto wrong;
        take_rolling_row(row, &f->rolling[slot]);
        return TAC_OK;
    }
    if (row->layer > 0) {
        const tac_time period =
            tac_model_layer_group(sim->model, &sim->active.pair[slot].form, (int32_t)row->layer, &last);
        anchor = tac_active_anchor(sim, row->key, period, (int32_t)row->layer);
        if (anchor < 0)
            goto wrong;
        f->anchor[anchor].now.born = row->t[0];
        memcpy(f->anchor[anchor].now.hold, row->value, sizeof f->anchor[anchor].now.hold);
        return TAC_OK;
    }
    struct tac_friction_values *g = &f->friction_state[slot].now;
    g->born = row->t[0];
    g->t = row->t[1];
    sim->active.pair[slot].rubs = g->t >= 0;
    memcpy(g->stock, row->value, sizeof g->stock);
    const struct tac_law *law = sim->active.pair[slot].form.law;
    g->budget = law->kinetic < law->friction ? row->value[2] : fabs(row->value[2]); /* the law may have changed */
    memcpy(g->w, &row->value[3], sizeof g->w);
    memcpy(g->p, &row->value[7], sizeof g->p);
    memcpy(g->slid, &row->value[10], sizeof g->slid);
    return TAC_OK;
wrong:
    return tac_fail(sim->ctx, TAC_ERR_INPUT,
                    "the checkpoint has the friction of a contact (vertices %" TAC_PRIGID ", %" TAC_PRIGID
                    ", ...) that the scene does not have; go on with the scene that the checkpoint is of",
                    row->vertex[0], row->vertex[1]);
}

enum tac_err tac_friction_restore_state(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    enum tac_err err = TAC_OK;
    struct tac_friction_row *row = NULL, *rows = NULL;
    int32_t *to = NULL;
    size_t count = 0, total = 0;
    /* Each row to all owners of its vertices, once. */
    TAC_TRY(tac_alloc(sim->ctx, 4 * (size_t)c->friction_state_count, sizeof *row, &row));
    TAC_TRY(tac_alloc(sim->ctx, 4 * (size_t)c->friction_state_count, sizeof *to, &to));
    for (tac_lid k = 0; k < c->friction_state_count; k++)
        for (int i = 0; i < 4; i++) {
            bool again = c->friction_state[k].vertex[i] < 0;
            for (int j = 0; j < i; j++)
                again |= owner[4 * k + j] == owner[4 * k + i];
            if (again)
                continue;
            row[count] = c->friction_state[k];
            to[count++] = owner[4 * k + i];
        }
done:
    err = tac_distribute(sim->ctx, err, count, to, row, sizeof *row, &rows, &total);
    for (size_t k = 0; k < total && !err; k++)
        err = restore_friction_row(sim, &rows[k]);
    free(row);
    free(rows);
    free(to);
    return err;
}

void tac_friction_drop(const struct tac_scene *scene, struct tac_checkpoint *c)
{
    tac_lid kept = 0;
    for (tac_lid k = 0; k < c->friction_state_count; k++) {
        const struct tac_friction_row *row = &c->friction_state[k];
        const tac_lid a = tac_scene_body_of(scene, row->vertex[0]),
                      b = tac_scene_body_of(scene, row->vertex[tac_pair_first(tac_key_type(row->key))]);
        if (tac_scene_law(scene, a, b)->friction > 0)
            c->friction_state[kept++] = *row;
    }
    c->friction_state_count = kept;
}
