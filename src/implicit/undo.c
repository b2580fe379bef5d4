/* undo.c: keeps the state at the start of a part of a step, and restores it if the part cannot be solved
 * (docs/reference/implicit.md, Steps that are halved). */
#include "implicit/parts.h"
#include <stdlib.h>

struct tac_implicit_undo {
    double *x, *v, *past, *impulse;     /* owned: of own vertices and of ghosts of elements */
    double *rest[TAC_ELEMENT_LISTS];    /* owned */
    struct tac_implicit_script *script; /* owned */
    double *node[3];                    /* owned: x, v and past of the nodes of rigid bodies */
    struct tac_motor_state *motor;      /* owned */
    struct tac_accum lost[TAC_LOST], work;
    tac_time now;
    int64_t level;
};

void tac_implicit_undo_destroy(struct tac_implicit_undo **undo)
{
    struct tac_implicit_undo *u = *undo;
    if (u == NULL)
        return;
    free(u->x);
    free(u->v);
    free(u->past);
    free(u->impulse);
    for (int k = 0; k < TAC_ELEMENT_LISTS; k++)
        free(u->rest[k]);
    free(u->script);
    for (int k = 0; k < 3; k++)
        free(u->node[k]);
    free(u->motor);
    free(u);
    *undo = NULL;
}

static enum tac_err copy(struct tac_ctx *ctx, const void *from, size_t count, size_t size, void *out)
{
    void *made = NULL;
    enum tac_err err = TAC_OK;
    if (from == NULL)
        return TAC_OK;
    TAC_TRY(tac_alloc(ctx, count, size, &made));
    memcpy(made, from, count * size);
    memcpy(out, &made, sizeof made);
done:
    return err;
}

static size_t rest_count(const struct tac_implicit_elements *l)
{
    return l->rest != NULL ? l->count * (size_t)l->element->width : 0;
}

enum tac_err tac_implicit_undo_create(struct tac_implicit *sim, struct tac_implicit_undo **out)
{
    enum tac_err err;
    struct tac_implicit_undo *u = NULL;
    const size_t n = (size_t)sim->meshed, nodes = sim->rigid.count;
    TAC_TRY(tac_alloc(sim->ctx, 1, sizeof *u, &u));
    TAC_TRY(copy(sim->ctx, sim->x, 3 * n, sizeof *u->x, &u->x));
    TAC_TRY(copy(sim->ctx, sim->v, 3 * n, sizeof *u->v, &u->v));
    TAC_TRY(copy(sim->ctx, sim->past, TAC_PAST_NUMBERS * n, sizeof *u->past, &u->past));
    TAC_TRY(copy(sim->ctx, sim->impulse, 3 * (size_t)sim->owned, sizeof *u->impulse, &u->impulse));
    TAC_TRY(copy(sim->ctx, sim->scripts.script, sim->scripts.script_count, sizeof *u->script, &u->script));
    TAC_TRY(copy(sim->ctx, sim->rigid.x, TAC_RIGID_SIZE * nodes, sizeof *u->node[0], &u->node[0]));
    TAC_TRY(copy(sim->ctx, sim->rigid.v, TAC_RIGID_SIZE * nodes, sizeof *u->node[1], &u->node[1]));
    TAC_TRY(copy(sim->ctx, sim->rigid.past, TAC_PAST_OF_NODES * nodes, sizeof *u->node[2], &u->node[2]));
    TAC_TRY(tac_alloc(sim->ctx, sim->rigid.joints.motor_count, sizeof *u->motor, &u->motor));
    tac_rigid_motors_out(&sim->rigid.joints, u->motor);
    for (int k = 0; k < sim->set.count; k++)
        TAC_TRY(copy(sim->ctx, sim->list[k].rest, rest_count(&sim->list[k]), sizeof *u->rest[k], &u->rest[k]));
    memcpy(u->lost, sim->books.lost, sizeof u->lost);
    u->work = sim->books.work;
    u->now = sim->now;
    u->level = sim->level;
done:
    if (err)
        tac_implicit_undo_destroy(&u);
    *out = u;
    return err;
}

enum tac_err tac_implicit_undo(struct tac_implicit *sim, const struct tac_implicit_undo *u)
{
    const size_t n = (size_t)sim->meshed;
    memcpy(sim->x, u->x, 3 * n * sizeof *u->x);
    memcpy(sim->v, u->v, 3 * n * sizeof *u->v);
    if (sim->past != NULL)
        memcpy(sim->past, u->past, TAC_PAST_NUMBERS * n * sizeof *u->past);
    memcpy(sim->impulse, u->impulse, 3 * (size_t)sim->owned * sizeof *u->impulse);
    memcpy(sim->scripts.script, u->script, sim->scripts.script_count * sizeof *u->script);
    if (u->node[0] != NULL) {
        memcpy(sim->rigid.x, u->node[0], TAC_RIGID_SIZE * sim->rigid.count * sizeof *u->node[0]);
        memcpy(sim->rigid.v, u->node[1], TAC_RIGID_SIZE * sim->rigid.count * sizeof *u->node[1]);
    }
    if (u->node[2] != NULL)
        memcpy(sim->rigid.past, u->node[2], TAC_PAST_OF_NODES * sim->rigid.count * sizeof *u->node[2]);
    tac_rigid_motors_in(&sim->rigid.joints, u->motor);
    for (int k = 0; k < sim->set.count; k++)
        if (u->rest[k] != NULL)
            memcpy(sim->list[k].rest, u->rest[k], rest_count(&sim->list[k]) * sizeof *u->rest[k]);
    memcpy(sim->books.lost, u->lost, sizeof u->lost);
    sim->books.work = u->work;
    sim->now = u->now;
    sim->level = u->level;
    sim->contact.touch_of = NULL;
    tac_implicit_scripts_tell(sim);
    return tac_implicit_ghosts_refresh(sim);
}
