/* terms.c: computes the incremental potential of a step and its gradient (docs/reference/implicit.md, One step). */
#include "implicit/parts.h"
#include "implicit/ranks/implicit_plates.h"
#include <math.h>

/* The value and the sum of sizes, both as exact sums. */
struct total {
    struct tac_accum value, size;
    bool endless; /* infinite, because surfaces touch */
};

static void enter(struct total *t, double value)
{
    if (!(fabs(value) < INFINITY)) {
        t->endless = true;
        return;
    }
    tac_accum_add(&t->value, value);
    tac_accum_add(&t->size, fabs(value));
}

/* ---- inertia and scripts ---- */

/* The inertia of the nodes of rigid bodies, and the energy of their tetrahedra. */
static void rigid_energy(const struct tac_implicit *sim, const double *node, struct total *t)
{
    for (size_t n = 0; n < sim->rigid.own_count; n++) {
        const struct tac_implicit_piece *p = &sim->rigid.piece[sim->rigid.own[n]];
        const size_t at = TAC_RIGID_SIZE * (size_t)sim->rigid.own[n];
        double x[4][3], off[3];
        memcpy(x, &node[at], sizeof x);
        for (int i = 0; i < TAC_RIGID_NODES; i++) {
            tac_sub(off, x[i], &sim->rigid.ahead[at + 3 * (size_t)i]);
            enter(t, .5 * p->inertia * tac_dot(off, off));
        }
        enter(t,
              sim->weight * tac_element_energy(&tac_element_neo_hookean_whole, &p->shape, NULL, (const double(*)[3])x));
    }
}

static void inertia_energy(const struct tac_implicit *sim, const double *x, struct total *t)
{
    for (tac_lid i = 0; i < sim->owned; i++) {
        const size_t v = (size_t)i;
        double r[3];
        const struct tac_implicit_script *s = tac_implicit_script(sim, i);
        if (s != NULL && s->on) {
            if (sim->newton.pull > 0) {
                tac_sub(r, &x[3 * v], s->target);
                enter(t, s->mass * (.5 * sim->newton.pull * tac_dot(r, r) - tac_dot(s->lambda, r)));
            }
        } else if (!sim->newton.held[v]) {
            tac_sub(r, &x[3 * v], &sim->newton.ahead[3 * v]);
            enter(t, .5 * sim->inertia[v] * tac_dot(r, r));
        }
    }
    rigid_energy(sim, tac_rigid_nodes_at(sim, x), t);
}

void tac_implicit_add_inertia(struct tac_implicit *sim, const double *x)
{
    for (tac_lid i = 0; i < sim->owned; i++) {
        const size_t v = (size_t)i;
        double *g = &sim->newton.gradient[3 * v];
        const struct tac_implicit_script *s = tac_implicit_script(sim, i);
        for (size_t k = 0; k < 3; k++) {
            const double at = x[3 * v + k];
            if (s != NULL && s->on)
                g[k] += sim->newton.pull > 0 ? s->mass * (sim->newton.pull * (at - s->target[k]) - s->lambda[k]) : 0;
            else if (!sim->newton.held[v])
                g[k] += sim->inertia[v] * (at - sim->newton.ahead[3 * v + k]);
        }
    }
    tac_rigid_add_inertia(sim);
}

/* ---- elements ---- */

static void element_energy(const struct tac_implicit *sim, const double *x, struct total *t)
{
    for (struct tac_implicit_walk w = {0}; tac_implicit_next(sim, &w);) {
        const struct tac_element *element = w.list->element;
        double at[TAC_ELEMENT_NODES][3];
        if (!w.list->counted[w.e])
            continue;
        tac_implicit_gather(x, w.v, w.nodes, at);
        enter(t, sim->weight * tac_element_energy(element, w.record, tac_implicit_rest(w.list, w.e), at));
        if (w.list->damping[w.e] > 0)
            enter(t,
                  sim->weight * sim->rate * w.list->damping[w.e] * tac_element_energy(element, w.record, w.from, at));
    }
}

/* Adds the gradient of a term at own vertices; other ranks do so for theirs. */
static void scatter(struct tac_implicit *sim, const tac_lid *v, int n, const double (*g)[3])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3 && v[i] < sim->owned; k++)
            sim->newton.gradient[3 * (size_t)v[i] + (size_t)k] += g[i][k];
}

/* The same for a pair. Owners of vertices that are never free do not have all their pairs on several ranks. The others
 * come from where they are evaluated, while these vertices are unknowns (implicit_plates.h). Else all forces on these
 * vertices are added elsewhere (implicit_reactions.c). */
static void scatter_pair(struct tac_implicit *sim, const tac_lid *v, int n, const double (*g)[3])
{
    const bool movers_only = sim->contact.movers_only && !(sim->newton.pull > 0);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3 && v[i] < sim->owned && !(movers_only && !sim->scene->mesh->ever_free[v[i]]); k++)
            sim->newton.gradient[3 * (size_t)v[i] + (size_t)k] += g[i][k];
}

void tac_implicit_add_elements(struct tac_implicit *sim, const double *x, bool dampers)
{
    for (struct tac_implicit_walk w = {0}; tac_implicit_next(sim, &w);) {
        double at[TAC_ELEMENT_NODES][3], g[TAC_ELEMENT_NODES][3];
        tac_implicit_gather(x, w.v, w.nodes, at);
        if (!dampers)
            w.list->element->push(w.record, tac_implicit_rest(w.list, w.e), -sim->weight, at, g);
        else if (w.list->damping[w.e] > 0)
            w.list->element->push(w.record, w.from, -sim->weight * sim->rate * w.list->damping[w.e], at, g);
        else
            continue;
        scatter(sim, w.v, w.nodes, g);
        for (int i = 0; i < w.nodes; i++)
            if (w.v[i] < sim->owned)
                sim->newton.gross[w.v[i]] += sqrt(tac_dot(g[i], g[i]));
    }
    if (!dampers)
        tac_rigid_add_shape(sim);
}

/* ---- contact ---- */

static void contact_energy(const struct tac_implicit *sim, const double *x, struct total *t)
{
    for (size_t e = 0; e < sim->contact.touch_count; e++) {
        const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
        double at[4][3];
        if (!p->counted)
            continue;
        tac_implicit_gather(x, p->v, tac_pair_vertices(p->form.type), at);
        enter(t, tac_implicit_kappa(sim, p, sim->newton.kappa) *
                     tac_barrier_energy(&p->form, at, &sim->contact.touch[e].near));
    }
}

void tac_implicit_contact_gradient(const struct tac_implicit *sim, size_t e, const double *x, double g[4][3])
{
    const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
    const int n = tac_pair_vertices(p->form.type);
    double at[4][3];
    tac_implicit_gather(x, p->v, n, at);
    tac_barrier_gradient(&p->form, at, &sim->contact.touch[e].near, g);
    const double kappa = tac_implicit_kappa(sim, p, sim->newton.kappa);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            g[i][k] *= kappa;
}

void tac_implicit_add_contact(struct tac_implicit *sim, const double *x)
{
    size_t next = 0;
    for (size_t e = 0; e < sim->contact.touch_count; e++) {
        const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
        double g[4][3];
        tac_plates_push(sim, TAC_SORT_TOUCHING, e, &next);
        tac_implicit_contact_gradient(sim, e, x, g);
        scatter_pair(sim, p->v, tac_pair_vertices(p->form.type), g);
    }
    tac_plates_push(sim, TAC_SORT_TOUCHING, sim->contact.touch_count, &next);
}

static void friction_energy(const struct tac_implicit *sim, const double *x, struct total *t)
{
    const double w = sim->scale.h * sim->scale.friction_velocity;
    for (size_t e = 0; e < sim->contact.sliding_count; e++) {
        const struct tac_sliding *s = &sim->contact.sliding[e];
        double u[3];
        if (s->counted)
            enter(t, s->limit * tac_implicit_slide_energy(tac_implicit_slide(sim, s, x, u), w));
    }
}

void tac_implicit_friction_gradient(const struct tac_implicit *sim, const struct tac_sliding *s, const double *x,
                                    double g[4][3])
{
    const double w = sim->scale.h * sim->scale.friction_velocity;
    double u[3];
    const double y = tac_implicit_slide(sim, s, x, u), f = s->limit * tac_implicit_slide_force(y, w);
    for (int i = 0; i < tac_pair_vertices(s->type); i++)
        for (int k = 0; k < 3; k++)
            g[i][k] = f * s->w[i] * u[k];
}

void tac_implicit_add_friction(struct tac_implicit *sim, const double *x)
{
    size_t next = 0;
    for (size_t e = 0; e < sim->contact.sliding_count; e++) {
        const struct tac_sliding *s = &sim->contact.sliding[e];
        double g[4][3];
        tac_plates_push(sim, TAC_SORT_SLIDING, e, &next);
        tac_implicit_friction_gradient(sim, s, x, g);
        scatter_pair(sim, s->v, tac_pair_vertices(s->type), g);
    }
    tac_plates_push(sim, TAC_SORT_SLIDING, sim->contact.sliding_count, &next);
}

/* ---- joints ---- */

static void joint_energy(const struct tac_implicit *sim, const double *x, struct total *t)
{
    const struct tac_implicit_joints *j = &sim->rigid.joints;
    for (size_t e = 0; e < j->tie_count; e++)
        if (j->tie[e].counted)
            enter(t, sim->weight * tac_tie_energy(&j->tie[e], x));
    for (size_t k = 0; k < j->motor_count; k++)
        if (j->motor[k].counted)
            enter(t, sim->weight * tac_motor_energy(&j->motor[k], x));
}

/* ---- wind ---- */

static void wind_energy(const struct tac_implicit *sim, const double *x, struct total *t)
{
    for (size_t k = 0; k < sim->given.wind_count; k++)
        if (sim->given.wind[k].counted)
            enter(t, tac_implicit_wind_energy(sim, &sim->given.wind[k], x));
}

void tac_implicit_add_wind(struct tac_implicit *sim, const double *x)
{
    for (size_t k = 0; k < sim->given.wind_count; k++) {
        const struct tac_load_element *l = &sim->given.loads.element[sim->given.wind[k].element];
        double push[3], g[4][3];
        tac_implicit_wind_push(sim, &sim->given.wind[k], x, push);
        for (int i = 0; i < l->count; i++)
            for (int c = 0; c < 3; c++)
                g[i][c] = -sim->weight * push[c];
        scatter(sim, l->v, l->count, g);
    }
}

/* ---- the whole potential ---- */

enum tac_err tac_implicit_potential(struct tac_implicit *sim, const double *x, double *value, double *size)
{
    struct total t = {{{0}, 0, 0}, {{0}, 0, 0}, false};
    enum tac_err err = tac_agree(sim->ctx, tac_implicit_touch(sim, x));
    if (err)
        return err;
    inertia_energy(sim, x, &t);
    element_energy(sim, x, &t);
    contact_energy(sim, x, &t);
    friction_energy(sim, x, &t);
    joint_energy(sim, x, &t);
    wind_energy(sim, x, &t);
    tac_implicit_count_work(sim, TAC_WORK_ENERGY, sim->contact.touch_count);
    t.value.bad |= t.endless;
    struct tac_accum sum[2] = {t.value, t.size};
    err = tac_implicit_sum(sim->ctx, sum, 2);
    *value = sum[0].bad ? INFINITY : tac_accum_value(&sum[0]);
    *size = tac_accum_value(&sum[1]);
    return err;
}
