/* friction.c: friction of active pairs: anchors that the impulse budget of the pair limits, and the kinetic form of
 * ACM 2009, section 6.3 (docs/explanation/method.md, Friction; docs/reference/engine.md, Friction). */
#include "contact/friction.h"
#include "base/four.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STRETCH = 32,
    STRETCH_APART = 8
}; /* ticks of the outermost layer group; the same where kinetic friction is less than static */

enum tac_err tac_friction_create(struct tac_ctx *ctx, const struct tac_model *model,
                                 const struct tac_settings *settings, struct tac_active *active)
{
    enum tac_err err = TAC_OK;
    active->friction = NULL;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *active->friction, &active->friction));
    active->friction->kind = settings->contact.friction_model;
    active->friction->quantum_s = settings->quantum_s;
    active->friction->model = model;
    for (tac_lid b = 0; b < settings->body_count; b++)
        active->friction->rolls |= settings->body[b].rolls;
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
    free(f->kept);
    free(f->rolling);
    free(f->rolling_kept);
    free(f->anchor_kept);
    free(f->kick);
    free(f);
    active->friction = NULL;
}

/* ---- states of pairs, anchors of layer groups ---- */

static void erase_values(struct tac_friction_values *values)
{
    memset(values, 0, sizeof *values);
    values->born = values->t = -1;
}

static void erase_anchor(struct tac_anchor_values *values)
{
    memset(values, 0, sizeof *values);
    values->born = -1;
}

enum tac_err tac_friction_pair(struct tac_ctx *ctx, struct tac_active *active, int32_t slot)
{
    enum tac_err err = TAC_OK;
    struct tac_friction *f = active->friction;
    if (f == NULL)
        return TAC_OK;
    TAC_TRY(tac_grow_lines(ctx, &f->friction_state, &f->friction_state_capacity, f->friction_state_count,
                           (size_t)slot + 1, sizeof *f->friction_state));
    TAC_TRY(tac_grow(ctx, &f->kept, &f->kept_capacity, f->friction_state_capacity, sizeof *f->kept));
    if (f->rolls) {
        TAC_TRY(tac_grow(ctx, &f->rolling, &f->rolling_capacity, f->friction_state_capacity, sizeof *f->rolling));
        TAC_TRY(tac_grow(ctx, &f->rolling_kept, &f->rolling_kept_capacity, f->friction_state_capacity,
                         sizeof *f->rolling_kept));
    }
    for (; f->friction_state_count <= (size_t)slot; f->friction_state_count++)
        f->friction_state[f->friction_state_count].kept = -1;
    struct tac_friction_state *state = &f->friction_state[slot];
    erase_values(&state->now);
    state->head = -1;
    if (state->kept >= 0) /* of the pair that had this slot before */
        erase_values(&f->kept[state->kept].values);
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
    TAC_TRY(tac_grow(ctx, &f->kick, &f->kick_capacity, used + groups, sizeof *f->kick));
    TAC_TRY(tac_grow(ctx, &f->anchor_kept, &f->anchor_kept_capacity, f->anchor_capacity, sizeof *f->anchor_kept));
done:
    return err;
}

int32_t tac_friction_anchor(struct tac_active *active, int32_t slot)
{
    struct tac_friction *f = active->friction;
    if (f == NULL || active->pair[slot].form.law->friction == 0)
        return -1;
    TAC_CHECK(f->free_count > 0 || f->anchor_count < f->anchor_capacity);
    const bool again = f->free_count > 0;
    const int32_t a = again ? f->free_anchor[--f->free_count] : (int32_t)f->anchor_count++;
    struct tac_anchor *anchor = &f->anchor[a];
    erase_anchor(&anchor->now);
    if (!again)
        anchor->kept = -1;
    else if (anchor->kept >= 0) /* of the layer group that had it before */
        erase_anchor(&f->anchor_kept[anchor->kept].values);
    return a;
}

void tac_friction_free(struct tac_active *active, int32_t anchor)
{
    if (anchor >= 0)
        active->friction->free_anchor[active->friction->free_count++] = anchor;
}

bool tac_friction_has_state(const struct tac_active *active, int32_t slot)
{
    return active->pair[slot].groups == 1 && active->pair[slot].rubs;
}

/* ---- the window's start: values are kept before they change for the first time ---- */

void tac_friction_begin(struct tac_active *active)
{
    struct tac_friction *f = active->friction;
    if (f == NULL)
        return;
    for (size_t k = 0; k < f->kept_count; k++)
        f->friction_state[f->kept[k].slot].kept = -1;
    for (size_t k = 0; k < f->anchor_kept_count; k++)
        f->anchor[f->anchor_kept[k].anchor].kept = -1;
    f->kept_count = f->anchor_kept_count = 0;
}

void tac_friction_restore(struct tac_active *active)
{
    struct tac_friction *f = active->friction;
    if (f == NULL)
        return;
    for (size_t k = 0; k < f->kept_count; k++) {
        f->friction_state[f->kept[k].slot].now = f->kept[k].values;
        active->pair[f->kept[k].slot].rubs = f->kept[k].values.t >= 0;
        if (f->rolls)
            f->rolling[f->kept[k].slot] = f->rolling_kept[k];
    }
    for (size_t k = 0; k < f->anchor_kept_count; k++)
        f->anchor[f->anchor_kept[k].anchor].now = f->anchor_kept[k].values;
    tac_friction_begin(active);
}

TAC_FOUR_INLINE void keep(struct tac_friction *f, struct tac_friction_state *state, int32_t slot)
{
    if (state->kept >= 0)
        return;
    state->kept = (int32_t)f->kept_count++;
    f->kept[state->kept].values = state->now;
    f->kept[state->kept].slot = slot;
    if (f->rolls)
        f->rolling_kept[state->kept] = f->rolling[slot];
}

TAC_FOUR_INLINE void keep_anchor(struct tac_friction *f, struct tac_anchor *anchor, int32_t a)
{
    if (anchor->kept >= 0)
        return;
    anchor->kept = (int32_t)f->anchor_kept_count++;
    f->anchor_kept[anchor->kept].values = anchor->now;
    f->anchor_kept[anchor->kept].anchor = a;
}

/* ---- an instant ---- */

TAC_FOUR_INLINE struct tac_friction_entry entry_of(const struct tac_active *active, const struct tac_layer_group *e,
                                                   const struct tac_rate_group *c, double impulse, int32_t next)
{
    return (struct tac_friction_entry){e->pair,
                                       e->anchor,
                                       next,
                                       e->first == 1,
                                       e->last_d == INFINITY,
                                       c->period,
                                       c->h_s,
                                       active->pair[e->pair].form.stiffness * active->friction->model->rate[e->first],
                                       impulse};
}

void tac_friction_enter(struct tac_active *active, const struct tac_layer_group *e, const struct tac_rate_group *c,
                        double impulse)
{
    struct tac_friction *f = active->friction;
    struct tac_friction_state *state = &f->friction_state[e->pair];
    if (state->head < 0) {
        struct tac_friction_kick *kick = &f->kick[f->kick_count++];
        kick->pair = e->pair;
        kick->open = true;
    }
    f->friction_entry[f->friction_entry_count] = entry_of(active, e, c, impulse, state->head);
    state->head = (int32_t)f->friction_entry_count++;
}

void tac_friction_erase(struct tac_active *active, int32_t slot)
{
    struct tac_friction *f = active->friction;
    struct tac_friction_state *state = &f->friction_state[slot];
    if (!active->pair[slot].rubs) /* the state itself has left the cache */
        return;
    keep(f, state, slot);
    erase_values(&state->now);
    active->pair[slot].rubs = 0;
}

TAC_FOUR_INLINE void tangential(const double n[3], double u[3])
{
    const double along = tac_dot(n, u);
    for (int k = 0; k < 3; k++)
        u[k] -= along * n[k];
}

/* Advances the pair's state to t: adds the slip since its last tick; *slip: the slip per second.  by_turns: the part of
 * the slip that comes from grains that turn, m. */
TAC_FOUR_INLINE void follow(const struct tac_friction *f, const struct tac_pair *p, const struct tac_near *near,
                            const double x[4][3], struct tac_friction_values *g, tac_time t, const double *by_turns,
                            double slip[3])
{
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
            if (by_turns != NULL)
                slip[k] += by_turns[k];
            g->slid[k] += slip[k];
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
TAC_FOUR_INLINE void kinetic(const struct tac_law *law, const double slip[3], double impulse, double j[3])
{
    const double speed = sqrt(tac_dot(slip, slip)), size = speed > 0 ? law->friction * impulse / speed : 0;
    for (int k = 0; k < 3; k++)
        j[k] = size * slip[k];
}

/* Computes the displacement u [m] of a layer group's anchor from the pair's present slip, and the force `pull` [N] that
 * it would exert without a limit. */
TAC_FOUR_INLINE void pull_of(const struct tac_friction *f, const struct tac_pair *p, const double normal[3],
                             const struct tac_friction_values *g, const struct tac_friction_entry *entry, double mass,
                             const double slip[3], double u[3], double pull[3])
{
    const struct tac_anchor_values *a = &f->anchor[entry->anchor].now;
    const double damping = 2 * p->form.law->zeta * sqrt(entry->stiffness * mass);
    u[0] = u[1] = u[2] = 0;
    if (!entry->fresh && a->born == g->born)
        tac_sub(u, g->slid, a->hold);
    tangential(normal, u);
    for (int c = 0; c < 3; c++)
        pull[c] = entry->stiffness * u[c] + damping * slip[c];
}

/* Moves the anchor to where its spring exerts the given share of that force. */
TAC_FOUR_INLINE void hold(struct tac_friction *f, const struct tac_friction_values *g,
                          const struct tac_friction_entry *entry, double share, const double u[3], const double pull[3])
{
    struct tac_anchor *a = &f->anchor[entry->anchor];
    keep_anchor(f, a, entry->anchor);
    for (int c = 0; c < 3; c++)
        a->now.hold[c] = g->slid[c] - (share < 1 ? share * pull[c] / entry->stiffness : u[c]);
    a->now.born = g->born;
}

TAC_FOUR_INLINE const struct tac_friction_entry *after(const struct tac_friction *f,
                                                       const struct tac_friction_entry *entry)
{
    return entry->next < 0 ? NULL : &f->friction_entry[entry->next];
}

/* Anchors pull as far as the budget allows; an anchor that cannot hold is moved along with the pair.  w_turning:
 * what turning adds to the inverse mass of the pair, 1/kg.  *slides: whether the pair slides; NULL: kinetic
 * friction is not less than static. */
TAC_FOUR_INLINE void anchors(struct tac_friction *f, const struct tac_pair *p, const struct tac_near *near,
                             struct tac_friction_values *g, const struct tac_friction_entry *first,
                             const double slip[3], double w_turning, bool *slides, double j[3])
{
    const struct tac_law *law = p->form.law;
    double w2 = 0, share = 1, along = 0, u[3], pull[3];
    const struct tac_friction_entry *entry = first;
    j[0] = j[1] = j[2] = 0;
    for (int i = 0; i < p->count; i++)
        w2 += near->w[i] * near->w[i] * f->model->w_ever[p->v[i]];
    w2 += w_turning;
    const double mass = w2 > 0 ? 1 / w2 : 0; /* 0: none of the vertices can be moved */
    for (; entry != NULL; entry = after(f, entry)) {
        pull_of(f, p, near->n, g, entry, mass, slip, u, pull);
        for (int c = 0; c < 3; c++)
            j[c] += entry->h_s * pull[c];
        if (slides != NULL && *slides)
            along += entry->stiffness * tac_dot(u, slip);
    }
    double size = sqrt(tac_dot(j, j));
    if (slides != NULL && *slides) {
        *slides = along > 0;
    } else if (slides != NULL && size > g->budget) {
        *slides = true;
        g->budget *= law->kinetic / law->friction;
    }
    if (size > g->budget)
        share = g->budget / size;
    if (first->next < 0) {
        hold(f, g, first, share, u, pull);
    } else {
        for (entry = first; entry != NULL; entry = after(f, entry)) {
            pull_of(f, p, near->n, g, entry, mass, slip, u, pull);
            hold(f, g, entry, share, u, pull);
        }
    }
    if (share < 1) {
        for (int c = 0; c < 3; c++)
            j[c] *= share;
        size = sqrt(tac_dot(j, j));
    }
    g->budget -= size < g->budget ? size : g->budget;
}

/* Adds a normal impulse to the pair's budget, of which its anchors then use what they need. */
TAC_FOUR_INLINE void earn(struct tac_friction *f, const struct tac_pair *p, const struct tac_near *near,
                          struct tac_friction_values *g, const struct tac_friction_entry *first, double impulse,
                          const double slip[3], double w_turning, double j[3])
{
    const struct tac_law *law = p->form.law;
    const bool apart = law->kinetic < law->friction;
    bool slides = apart && signbit(g->budget);
    const double mu = slides ? law->kinetic : law->friction;
    g->stock[0] += impulse;
    const double earned = fabs(g->budget) + mu * impulse, most = mu * (g->stock[0] + g->stock[1]);
    g->budget = earned < most ? earned : most;
    if (__builtin_expect(!apart, 1)) {
        anchors(f, p, near, g, first, slip, w_turning, NULL, j);
        return;
    }
    anchors(f, p, near, g, first, slip, w_turning, &slides, j);
    if (slides)
        g->budget = -g->budget;
}

/* Is t a multiple of the period? */
TAC_FOUR_INLINE bool multiple(tac_time t, tac_time period)
{
    return (period & (period - 1)) == 0 ? (t & (period - 1)) == 0 : t % period == 0;
}

/* What turning adds to the inverse mass of a pair along its surface, 1/kg. */
static double inverse_mass_of_turning(const struct tac_friction *f, const struct tac_turns *turns)
{
    double w = 0;
    for (int i = 0; i < 2; i++)
        if (turns->radius[i] > 0)
            w += turns->radius[i] * turns->radius[i] *
                 tac_rolling_inverse(f->model->w_ever[turns->grain[i]], turns->radius[i]);
    return w;
}

/* Adds the torques on the grains of a pair to its kick. */
static void turn_grains(struct tac_friction *f, const struct tac_pair *p, int32_t slot, const double n[3],
                        const struct tac_turns *turns, const double apart[3], const struct tac_rolling_tick *tick,
                        struct tac_friction_kick *kick)
{
    tac_rolling_torque(f->model, &p->form, &f->rolling[slot], turns, n, apart, tick, kick->j, kick->torque);
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < 3; c++)
            kick->couple[c] -= kick->torque[i][c];
}

/* Computes the kick of a pair at t from these entries, and advances its state to t. */
TAC_FOUR_INLINE void rub(struct tac_active *active, const struct tac_friction_entry *first, const struct tac_near *near,
                         tac_time t, const double x[4][3], const struct tac_turns *turns,
                         struct tac_friction_kick *kick)
{
    struct tac_friction *f = active->friction;
    struct tac_pair *p = &active->pair[first->pair];
    struct tac_friction_state *state = &f->friction_state[first->pair];
    struct tac_friction_values *g = &state->now;
    const struct tac_law *law = p->form.law;
    double slip[3], by_turns[3] = {0, 0, 0}, apart[3], impulse = 0, w_turning = 0;
    struct tac_rolling_tick tick = {.dt = g->t < 0 ? 0 : (double)(t - g->t) * f->quantum_s};
    bool outermost = false;
    kick->period = 0;
    for (const struct tac_friction_entry *entry = first; entry != NULL; entry = after(f, entry)) {
        impulse += entry->impulse;
        outermost |= entry->outermost;
        tick.h_s = entry->outermost ? entry->h_s : tick.h_s;
        kick->period = entry->period > kick->period ? entry->period : kick->period;
    }
    keep(f, state, first->pair);
    kick->rolls = turns != NULL;
    if (turns != NULL) {
        memcpy(kick->grain, turns->grain, sizeof kick->grain);
        w_turning = inverse_mass_of_turning(f, turns);
        tac_rolling_follow(&f->rolling[first->pair], turns, near->n, g->t < 0, apart, by_turns);
    }
    follow(f, p, near, x, g, t, turns != NULL ? by_turns : NULL, slip);
    p->rubs = 1;
    if (f->kind == TAC_FRICTION_KINETIC) {
        kinetic(law, slip, impulse, kick->j);
    } else {
        if (outermost && multiple(t, (law->kinetic < law->friction ? STRETCH_APART : STRETCH) * kick->period)) {
            g->stock[1] = g->stock[0];
            g->stock[0] = 0;
        }
        earn(f, p, near, g, first, impulse, slip, w_turning, kick->j);
    }
    tac_cross(kick->couple, g->p, kick->j);
    if (turns != NULL) {
        tick.impulse = impulse;
        tick.stock = g->stock[0] + g->stock[1];
        turn_grains(f, p, first->pair, near->n, turns, apart, &tick, kick);
    }
    state->head = -1;
    kick->pair = first->pair;
    kick->open = false;
    kick->count = p->count;
    kick->here = !p->shared && !tac_pair_is_limit((enum tac_pair_type)p->type);
    memcpy(kick->v, p->v, sizeof kick->v);
    memcpy(kick->w, near->w, sizeof kick->w);
}

/* The same with grains that turn; apart, so that all other pairs do without what only these need. */
static __attribute__((noinline)) void rub_grains(struct tac_active *active, const struct tac_friction_entry *first,
                                                 const struct tac_near *near, tac_time t, const double x[4][3],
                                                 const struct tac_turns *turns, struct tac_friction_kick *kick)
{
    rub(active, first, near, t, x, turns, kick);
}

TAC_VERSIONS void tac_friction_tick_only(struct tac_active *active, const struct tac_layer_group *e,
                                         const struct tac_rate_group *c, double impulse, const struct tac_near *near,
                                         tac_time t, const double x[4][3], const struct tac_turns *turns)
{
    const struct tac_friction_entry entry = entry_of(active, e, c, impulse, -1);
    struct tac_friction_kick *kick = &active->friction->kick[active->friction->kick_count++];
    if (__builtin_expect(turns != NULL, 0))
        rub_grains(active, &entry, near, t, x, turns, kick);
    else
        rub(active, &entry, near, t, x, NULL, kick);
}

void tac_friction_tick(struct tac_active *active, struct tac_friction_kick *kick, tac_time t, const double x[4][3],
                       const struct tac_turns *turns)
{
    const struct tac_friction *f = active->friction;
    const struct tac_friction_entry *first = &f->friction_entry[f->friction_state[kick->pair].head];
    const struct tac_near *near = &active->kept[active->pair[kick->pair].kept].geometry.near;
    if (__builtin_expect(turns != NULL, 0))
        rub_grains(active, first, near, t, x, turns, kick);
    else
        rub(active, first, near, t, x, NULL, kick);
}

void tac_friction_close(struct tac_active *active)
{
    active->friction->friction_entry_count = active->friction->kick_count = 0;
}
