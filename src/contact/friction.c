/* friction.c: friction of active pairs: anchors that the impulse budget of the pair limits, and the kinetic form of
 * ACM 2009, section 6.3 (docs/method.md, Friction; docs/engine.md, Friction). */
#include "contact/friction.h"

#include <stdlib.h>
#include <string.h>

enum { STRETCH = 32 }; /* ticks of the outermost layer group */

enum tac_err tac_friction_create(struct tac_ctx *ctx, const struct tac_model *model,
                                 const struct tac_settings *settings, struct tac_active *active)
{
    enum tac_err err = TAC_OK;
    active->friction = NULL;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *active->friction, &active->friction));
    active->friction->kind = settings->contact.friction_model;
    active->friction->quantum_s = settings->quantum_s;
    active->friction->model = model;
done:
    return err;
}

void tac_friction_destroy(struct tac_active *active)
{
    struct tac_friction *f = active->friction;
    if (f == NULL)
        return;
    free(f->friction_state);
    free(f->anchor);
    free(f->free_anchor);
    free(f->friction_entry);
    free(f->touched);
    free(f);
    active->friction = NULL;
}

/* ---- who has a state ---- */

static void erase(struct tac_friction_state *friction_state)
{
    memset(&friction_state->now, 0, sizeof friction_state->now);
    friction_state->now.born = friction_state->now.t = -1;
}

enum tac_err tac_friction_pair(struct tac_ctx *ctx, struct tac_active *active, int32_t slot)
{
    enum tac_err err = TAC_OK;
    struct tac_friction *f = active->friction;
    if (f == NULL)
        return TAC_OK;
    TAC_TRY(
        tac_grow(ctx, &f->friction_state, &f->friction_state_capacity, (size_t)slot + 1, sizeof *f->friction_state));
    erase(&f->friction_state[slot]);
    f->friction_state[slot].start = f->friction_state[slot].now;
    f->friction_state[slot].head = -1;
done:
    return err;
}

enum tac_err tac_friction_reserve(struct tac_ctx *ctx, struct tac_active *active, size_t groups)
{
    enum tac_err err = TAC_OK;
    struct tac_friction *f = active->friction;
    if (f == NULL)
        return TAC_OK;
    const size_t used = f->anchor_count - f->free_count;
    TAC_TRY(tac_grow(ctx, &f->anchor, &f->anchor_capacity, f->anchor_count + groups, sizeof *f->anchor));
    TAC_TRY(tac_grow(ctx, &f->free_anchor, &f->free_capacity, f->anchor_capacity, sizeof *f->free_anchor));
    TAC_TRY(tac_grow(ctx, &f->friction_entry, &f->friction_entry_capacity, used + groups, sizeof *f->friction_entry));
    TAC_TRY(tac_grow(ctx, &f->touched, &f->touched_capacity, used + groups, sizeof *f->touched));
done:
    return err;
}

int32_t tac_friction_anchor(struct tac_active *active, int32_t slot)
{
    struct tac_friction *f = active->friction;
    if (f == NULL || active->pair[slot].form.law->friction == 0)
        return -1;
    TAC_CHECK(f->free_count > 0 || f->anchor_count < f->anchor_capacity);
    const int32_t a = f->free_count ? f->free_anchor[--f->free_count] : (int32_t)f->anchor_count++;
    memset(&f->anchor[a], 0, sizeof f->anchor[a]);
    f->anchor[a].now.born = f->anchor[a].start.born = -1;
    return a;
}

void tac_friction_free(struct tac_active *active, int32_t anchor)
{
    if (anchor >= 0)
        active->friction->free_anchor[active->friction->free_count++] = anchor;
}

bool tac_friction_has_state(const struct tac_active *active, int32_t slot)
{
    return active->friction != NULL && active->pair[slot].groups == 1 &&
           active->friction->friction_state[slot].now.t >= 0;
}

void tac_friction_begin(struct tac_active *active)
{
    struct tac_friction *f = active->friction;
    if (f == NULL)
        return;
    for (size_t k = 0; k < active->pair_count; k++)
        f->friction_state[k].start = f->friction_state[k].now;
    for (size_t k = 0; k < f->anchor_count; k++)
        f->anchor[k].start = f->anchor[k].now;
}

void tac_friction_restore(struct tac_active *active)
{
    struct tac_friction *f = active->friction;
    if (f == NULL)
        return;
    for (size_t k = 0; k < active->pair_count; k++)
        f->friction_state[k].now = f->friction_state[k].start;
    for (size_t k = 0; k < f->anchor_count; k++)
        f->anchor[k].now = f->anchor[k].start;
}

/* ---- an instant ---- */

void tac_friction_enter(struct tac_active *active, const struct tac_layer_group *e, const struct tac_rate_group *c,
                        double impulse)
{
    struct tac_friction *f = active->friction;
    struct tac_friction_state *friction_state = &f->friction_state[e->pair];
    if (friction_state->head < 0)
        f->touched[f->touched_count++] = e->pair;
    f->friction_entry[f->friction_entry_count] =
        (struct tac_friction_entry){e->pair,
                                    e->anchor,
                                    friction_state->head,
                                    e->first == 1,
                                    e->last_d == INFINITY,
                                    c->period,
                                    c->h_s,
                                    active->pair[e->pair].form.stiffness * f->model->rate[e->first],
                                    impulse};
    friction_state->head = (int32_t)f->friction_entry_count++;
}

void tac_friction_erase(struct tac_active *active, int32_t slot)
{
    erase(&active->friction->friction_state[slot]);
}

static void tangential(const double n[3], double u[3])
{
    const double along = tac_dot(n, u);
    for (int k = 0; k < 3; k++)
        u[k] -= along * n[k];
}

/* Brings the pair's state to t: the way gone since its last tick, in *slip per second. */
static void follow(const struct tac_friction *f, const struct tac_pair *p, const double x[4][3],
                   struct tac_friction_values *g, tac_time t, double slip[3])
{
    const struct tac_near *near = &p->near;
    slip[0] = slip[1] = slip[2] = 0;
    if (g->t < 0) {
        g->born = t;
    } else {
        for (int i = 0; i < p->count; i++)
            for (int k = 0; k < 3; k++)
                slip[k] += g->w[i] * x[i][k];
        const double dt = (double)(t - g->t) * f->quantum_s;
        for (int k = 0; k < 3; k++) {
            slip[k] -= g->p[k];
            g->way[k] += slip[k];
            slip[k] /= dt;
        }
        tangential(near->n, slip);
    }
    g->t = t;
    memcpy(g->w, near->w, sizeof g->w);
    for (int k = 0; k < 3; k++)
        g->p[k] = near->d * near->n[k];
}

/* The papers' form (ACM 2009, section 6.3): the whole impulse that Coulomb's law allows, against the motion. */
static void kinetic(const struct tac_law *law, const double slip[3], double impulse, double j[3])
{
    const double speed = sqrt(tac_dot(slip, slip)), size = speed > 0 ? law->friction * impulse / speed : 0;
    for (int k = 0; k < 3; k++)
        j[k] = size * slip[k];
}

/* Anchors pull, as far as the budget goes; one that cannot hold is dragged along. */
static void anchors(const struct tac_friction *f, const struct tac_pair *p, struct tac_friction_state *friction_state,
                    const double slip[3], double j[3])
{
    struct tac_friction_values *g = &friction_state->now;
    const struct tac_law *law = p->form.law;
    double w2 = 0, share = 1;
    j[0] = j[1] = j[2] = 0;
    for (int i = 0; i < p->count; i++)
        w2 += p->near.w[i] * p->near.w[i] * f->model->w_ever[p->v[i]];
    const double mass = w2 > 0 ? 1 / w2 : 0; /* 0: nobody here can be moved */
    for (int pass = 0; pass < 2; pass++) {   /* how much they want; what they get */
        for (int32_t k = friction_state->head; k >= 0; k = f->friction_entry[k].next) {
            const struct tac_friction_entry *friction_entry = &f->friction_entry[k];
            struct tac_anchor_values *a = &f->anchor[friction_entry->anchor].now;
            const double damping = 2 * law->zeta * sqrt(friction_entry->stiffness * mass);
            double u[3] = {0, 0, 0}, pull[3];
            if (!friction_entry->fresh && a->born == g->born)
                tac_sub(u, g->way, a->hold);
            tangential(p->near.n, u);
            for (int c = 0; c < 3; c++)
                pull[c] = friction_entry->stiffness * u[c] + damping * slip[c];
            for (int c = 0; c < 3 && pass == 0; c++)
                j[c] += friction_entry->h_s * pull[c];
            for (int c = 0; c < 3 && pass == 1; c++)
                a->hold[c] = g->way[c] - (share < 1 ? share * pull[c] / friction_entry->stiffness : u[c]);
            if (pass == 1)
                a->born = g->born;
        }
        const double size = sqrt(tac_dot(j, j));
        if (pass == 0 && size > g->budget)
            share = g->budget / size;
    }
    for (int c = 0; c < 3; c++)
        j[c] *= share;
    g->budget -= fmin(g->budget, sqrt(tac_dot(j, j)));
}

void tac_friction_tick(struct tac_active *active, size_t k, tac_time t, const double x[4][3],
                       struct tac_friction_kick *kick)
{
    struct tac_friction *f = active->friction;
    const struct tac_pair *p = &active->pair[f->touched[k]];
    struct tac_friction_state *friction_state = &f->friction_state[f->touched[k]];
    const struct tac_law *law = p->form.law;
    double slip[3], impulse = 0;
    bool outermost = false;
    kick->period = 0;
    for (int32_t i = friction_state->head; i >= 0; i = f->friction_entry[i].next) {
        impulse += f->friction_entry[i].impulse;
        outermost |= f->friction_entry[i].outermost;
        kick->period = f->friction_entry[i].period > kick->period ? f->friction_entry[i].period : kick->period;
    }
    follow(f, p, x, &friction_state->now, t, slip);
    kick->pair = f->touched[k];
    if (f->kind == TAC_FRICTION_KINETIC) {
        kinetic(law, slip, impulse, kick->j);
    } else {
        struct tac_friction_values *g = &friction_state->now;
        if (outermost && t % (STRETCH * kick->period) == 0) {
            g->stock[1] = g->stock[0];
            g->stock[0] = 0;
        }
        g->stock[0] += impulse;
        g->budget = fmin(g->budget + law->friction * impulse, law->friction * (g->stock[0] + g->stock[1]));
        anchors(f, p, friction_state, slip, kick->j);
    }
    tac_cross(kick->couple, friction_state->now.p, kick->j);
    friction_state->head = -1;
}

void tac_friction_close(struct tac_active *active)
{
    active->friction->friction_entry_count = active->friction->touched_count = 0;
}
