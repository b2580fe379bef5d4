/* scheme.c: computes what a step makes of positions, velocities and accelerations (docs/reference/implicit.md,
 * Schemes). Every scheme has the same form: x = x^ + weight a(x), where a are the accelerations by the forces at the
 * end of the step.
 *
 *              weight   x^ (without forces)                       v at the end             strains' rate
 *     euler    h^2      x + h v                                   (x+ - x) / h             (e+ - e) / h
 *     newmark  h^2/4    x + h v + h^2/4 a                         2 (x+ - x) / h - v       2 (e+ - e) / h - e'
 *     bdf2     4h^2/9   (4 x - x-)/3 + 2h/9 (4 v - v-)            (3 x+ - 4 x + x-) / 2h   (3 e+ - 4 e + e-) / 2h
 *
 *     static   h^2      x + h^2/m_s f                             increment of x / h -
 *
 * m_s of the static scheme is no mass (static.c). x-, v- and e- are values of the step before. The first step, and a
 * step that is not as long as the one before, is one of euler. Newmark's scheme is the trapezoidal rule (beta 1/4,
 * gamma 1/2). A rate of strain is written as rate (e+ - from), so that damping is an elastic energy of a strain that is
 * measured from `from`.
 */
#include "implicit/parts.h"

static enum tac_implicit_scheme scheme_of(const struct tac_implicit *sim)
{
    const enum tac_implicit_scheme s = sim->scene->settings->implicit.scheme;
    const bool as_before = sim->now > 0 && sim->part.level == sim->level;
    return s == TAC_IMPLICIT_BDF2 && !as_before ? TAC_IMPLICIT_EULER : s;
}

void tac_implicit_begin_scheme(struct tac_implicit *sim)
{
    const double h = sim->scale.h;
    switch (scheme_of(sim)) {
    case TAC_IMPLICIT_EULER:
    case TAC_IMPLICIT_STATIC: /* h is only a scale */
        sim->weight = h * h;
        sim->rate = 1 / h;
        break;
    case TAC_IMPLICIT_NEWMARK:
        sim->weight = h * h / 4;
        sim->rate = 2 / h;
        break;
    case TAC_IMPLICIT_BDF2:
        sim->weight = 4 * h * h / 9;
        sim->rate = 3 / (2 * h);
        break;
    }
}

/* ---- predictions ---- */

/* With euler, forces of loads are those at the start of the step, with the mean of their factor over the step. With the
 * other schemes they are those at its end, at the positions that vertices reach with constant velocity. */
void tac_implicit_load_places(const struct tac_implicit *sim, const struct tac_load_element *l, double at[4][3],
                              double *mean)
{
    const bool second = scheme_of(sim) != TAC_IMPLICIT_EULER;
    const tac_time from = sim->part.from, to = sim->part.to;
    *mean = tac_load_mean(sim->scene, &sim->given.load_times, l->load, second ? to : from + (to - from) / 2, to - from);
    tac_implicit_gather(sim->newton.x0, l->v, l->count, at);
    for (int i = 0; i < l->count && second; i++)
        for (size_t k = 0; k < 3; k++)
            at[i][k] += sim->scale.h * sim->v[3 * (size_t)l->v[i] + k];
}

void tac_implicit_load_at(const struct tac_implicit *sim, const struct tac_load_element *l, const double *x, tac_time t,
                          double push[3][3])
{
    double at[4][3] = {{0}}, centre[3];
    const double mean = tac_load_mean(sim->scene, &sim->given.load_times, l->load, t, 2);
    tac_implicit_gather(x, l->v, l->count, at);
    tac_load_impulse(sim->scene, l, at, 1, mean, push, centre);
}

void tac_implicit_load(const struct tac_implicit *sim, const struct tac_load_element *l, double push[3][3])
{
    double at[4][3] = {{0}}, centre[3], mean;
    if (sim->is_static) { /* at the end of the step, with the present position of the element */
        tac_implicit_load_at(sim, l, sim->x, sim->part.to, push);
        return;
    }
    tac_implicit_load_places(sim, l, at, &mean);
    tac_load_impulse(sim->scene, l, at, 1, mean, push, centre);
}

/* Where inertia and gravity take a vertex or a node; past: what the scheme remembers of it, or NULL. */
static void predict_one(const struct tac_implicit *sim, double pull, const double *at, const double *v,
                        const double *past, double *ahead)
{
    const double h = sim->scale.h, w = sim->weight, *g = sim->scene->settings->gravity;
    const enum tac_implicit_scheme scheme = scheme_of(sim);
    for (size_t k = 0; k < 3; k++) {
        const double x = at[k], u = v[k];
        double move = sim->is_static ? 0 : h * u;
        if (scheme == TAC_IMPLICIT_NEWMARK)
            move += w * past[k];
        else if (scheme == TAC_IMPLICIT_BDF2)
            move = (x - past[k]) / 3 + 2 * h / 9 * (4 * u - past[3 + k]);
        ahead[k] = x + (move + w * pull * g[k]);
    }
}

/* The same of node n, counted over all bodies. */
static const double *past_of_node(const struct tac_implicit *sim, size_t n)
{
    return sim->rigid.past != NULL ? &sim->rigid.past[TAC_PAST_NUMBERS * n] : NULL;
}

static void predict_rigid(struct tac_implicit *sim)
{
    struct tac_implicit_rigid *r = &sim->rigid;
    for (size_t n = 0; n < TAC_RIGID_NODES * r->count; n++) {
        const struct tac_implicit_piece *p = &r->piece[n / TAC_RIGID_NODES];
        predict_one(sim, p->mass / p->inertia, &r->x[3 * n], &r->v[3 * n], past_of_node(sim, n), &r->ahead[3 * n]);
    }
}

/* Adds `times` the forces of a load's element, over the inertia of a node, to the values of the nodes of its body, (4
 * bodies, width). */
static void push_nodes(const struct tac_implicit *sim, const struct tac_load_element *l, const double (*push)[3],
                       double times, double *value, int width)
{
    for (int i = 0; i < l->count; i++) {
        const int32_t k = tac_implicit_rigid_of(sim, l->v[i]);
        double w[TAC_RIGID_NODES];
        if (k < 0)
            return;
        tac_rigid_weights(sim, k, l->v[i], w);
        for (int n = 0; n < TAC_RIGID_NODES; n++)
            for (int c = 0; c < 3; c++)
                value[width * (TAC_RIGID_NODES * k + n) + c] +=
                    times / sim->rigid.piece[k].inertia * (w[n] * push[i][c]);
    }
}

void tac_implicit_predict(struct tac_implicit *sim, bool loads)
{
    const double w = sim->weight, *mass = sim->scene->mesh->mass;
    for (size_t v = 0; v < (size_t)sim->owned; v++)
        predict_one(sim, sim->is_static && sim->inertia[v] > 0 ? mass[v] / sim->inertia[v] : 1, &sim->x[3 * v],
                    &sim->v[3 * v], sim->past ? &sim->past[TAC_PAST_NUMBERS * v] : NULL, &sim->newton.ahead[3 * v]);
    predict_rigid(sim);
    for (size_t e = 0; e < sim->given.loads.count && loads; e++) {
        const struct tac_load_element *l = &sim->given.loads.element[e];
        double push[3][3];
        if (sim->scene->settings->load[l->load].kind == TAC_LOAD_WIND)
            continue;
        tac_implicit_load(sim, l, push);
        for (int i = 0; i < l->count; i++)
            for (size_t k = 0; k < 3 && l->v[i] < sim->owned && sim->inertia[l->v[i]] > 0; k++)
                sim->newton.ahead[3 * (size_t)l->v[i] + k] += w * push[i][k] / sim->inertia[l->v[i]];
        push_nodes(sim, l, (const double(*)[3])push, w, sim->rigid.ahead, 3);
    }
}

/* ---- damping ---- */

/* The difference a - b of two strains of an element. */
static double difference(const struct tac_element *element, double a, double b)
{
    double d = a - b;
    if (element->memory->angle)
        d = d > TAC_PI ? d - 2 * TAC_PI : d < -TAC_PI ? d + 2 * TAC_PI : d;
    return d;
}

/* The strain of an element at sim->x plus `share` of the displacement by velocities in a step. */
static void strain_ahead(const struct tac_implicit *sim, const struct tac_element *element, const tac_lid *v,
                         double share, double *strain)
{
    double at[TAC_ELEMENT_NODES][3];
    tac_implicit_gather(sim->x, v, element->nodes, at);
    for (int i = 0; i < element->nodes && share != 0; i++)
        for (size_t k = 0; k < 3; k++)
            at[i][k] += share * sim->scale.h * sim->v[3 * (size_t)v[i] + k];
    element->memory->strain(v, at, strain);
}

static void strain_before(const struct tac_implicit *sim, const struct tac_element *element, const tac_lid *v,
                          double *strain)
{
    double at[TAC_ELEMENT_NODES][3];
    for (int i = 0; i < element->nodes; i++)
        memcpy(at[i], &sim->past[TAC_PAST_NUMBERS * (size_t)v[i]], sizeof at[i]);
    element->memory->strain(v, at, strain);
}

/* `times` the change of the strain in a step by the velocities, (width). */
static void add_change(const struct tac_implicit *sim, const struct tac_element *element, const tac_lid *v,
                       double times, double *strain)
{
    double ahead[TAC_ELEMENT_MEMORY], behind[TAC_ELEMENT_MEMORY];
    strain_ahead(sim, element, v, .5, ahead);
    strain_ahead(sim, element, v, -.5, behind);
    for (int w = 0; w < element->width; w++)
        strain[w] = difference(element, strain[w], -times * difference(element, ahead[w], behind[w]));
}

void tac_implicit_begin_dampers(struct tac_implicit *sim)
{
    const enum tac_implicit_scheme scheme = scheme_of(sim);
    for (struct tac_implicit_walk w = {0}; tac_implicit_next(sim, &w);) {
        const struct tac_element *element = w.list->element;
        double before[TAC_ELEMENT_MEMORY];
        if (!(w.list->damping[w.e] > 0))
            continue;
        strain_ahead(sim, element, w.v, 0, w.from);
        if (scheme == TAC_IMPLICIT_NEWMARK)
            add_change(sim, element, w.v, .5, w.from);
        if (scheme != TAC_IMPLICIT_BDF2)
            continue;
        strain_before(sim, element, w.v, before);
        for (int k = 0; k < element->width; k++)
            w.from[k] = difference(element, w.from[k], difference(element, before[k], w.from[k]) / 3);
    }
}

/* ---- what is remembered ---- */

/* Returns whether v is moved by a script or not at all. Then it has no acceleration of its own. */
static bool is_led(const struct tac_implicit *sim, tac_lid v)
{
    return !sim->scene->mesh->ever_free[v] || tac_implicit_script_on(sim, v);
}

/* Sets sim->newton.gradient to the forces at t = 0, times -weight. */
static void push_at_start(struct tac_implicit *sim)
{
    memset(sim->newton.gradient, 0, 3 * (size_t)sim->owned * sizeof *sim->newton.gradient);
    tac_implicit_add_elements(sim, sim->x, false);
    for (struct tac_implicit_walk w = {0}; tac_implicit_next(sim, &w);) {
        if (!(w.list->damping[w.e] > 0))
            continue;
        strain_ahead(sim, w.list->element, w.v, 0, w.from);
        add_change(sim, w.list->element, w.v, -1 / (sim->rate * sim->scale.h), w.from);
    }
    tac_implicit_add_elements(sim, sim->x, true);
}

/* Adds the acceleration by the wind at t = 0: that of a step without displacement, whose end has the velocity of its
 * start. */
static void start_wind(struct tac_implicit *sim)
{
    tac_implicit_begin_wind(sim);
    for (size_t k = 0; k < sim->given.wind_count; k++) {
        const struct tac_load_element *l = &sim->given.loads.element[sim->given.wind[k].element];
        double push[3];
        sim->given.wind[k].from = -sim->given.wind[k].from; /* of newmark: by h v/2 forwards, not backwards */
        tac_implicit_wind_push(sim, &sim->given.wind[k], sim->x, push);
        for (int i = 0; i < l->count; i++)
            for (size_t c = 0; c < 3 && sim->scene->mesh->mass[l->v[i]] > 0 && !is_led(sim, l->v[i]); c++)
                sim->past[TAC_PAST_NUMBERS * (size_t)l->v[i] + c] += push[c] / sim->scene->mesh->mass[l->v[i]];
    }
}

enum tac_err tac_implicit_start_scheme(struct tac_implicit *sim)
{
    enum tac_err err = TAC_OK;
    const double *g = sim->scene->settings->gravity, *mass = sim->scene->mesh->mass;
    if (sim->now > 0 || scheme_of(sim) != TAC_IMPLICIT_NEWMARK)
        return TAC_OK;
    push_at_start(sim);
    for (size_t v = 0; v < (size_t)sim->owned; v++)
        for (size_t k = 0; k < 3; k++)
            sim->past[TAC_PAST_NUMBERS * v + k] =
                is_led(sim, (tac_lid)v) || !(mass[v] > 0)
                    ? 0
                    : g[k] - (sim->newton.gradient[3 * v + k] + 0.) / (sim->weight * mass[v]);
    for (size_t n = 0; n < TAC_RIGID_NODES * sim->rigid.count; n++) /* without strain at the start */
        memcpy(&sim->rigid.past[TAC_PAST_NUMBERS * n], g, 3 * sizeof *g);
    for (size_t e = 0; e < sim->given.loads.count; e++) {
        const struct tac_load_element *l = &sim->given.loads.element[e];
        double at[4][3] = {{0}}, push[3][3], centre[3];
        if (sim->scene->settings->load[l->load].kind == TAC_LOAD_WIND)
            continue;
        const double mean = tac_load_mean(sim->scene, &sim->given.load_times, l->load, 0, 2);
        tac_implicit_gather(sim->x, l->v, l->count, at);
        tac_load_impulse(sim->scene, l, at, 1, mean, push, centre);
        for (int i = 0; i < l->count; i++)
            for (size_t k = 0; k < 3 && mass[l->v[i]] > 0 && !is_led(sim, l->v[i]); k++)
                sim->past[TAC_PAST_NUMBERS * (size_t)l->v[i] + k] += push[i][k] / mass[l->v[i]];
        push_nodes(sim, l, (const double(*)[3])push, 1, sim->rigid.past, TAC_PAST_NUMBERS);
    }
    tac_rigid_calm(sim);
    start_wind(sim);
    TAC_TRY(tac_implicit_share(sim, sim->past, TAC_PAST_NUMBERS, true));
done:
    return err;
}

static void end_one(const struct tac_implicit *sim, bool led, const double *x, const double *x0, double *v,
                    double *past)
{
    const double h = sim->scale.h;
    const enum tac_implicit_scheme scheme = scheme_of(sim);
    const bool remembers_places = sim->scene->settings->implicit.scheme == TAC_IMPLICIT_BDF2;
    for (size_t k = 0; k < 3; k++) {
        const double moved = x[k] - x0[k], before = v[k];
        double u = moved / h;
        if (scheme == TAC_IMPLICIT_NEWMARK) {
            u = led ? u : 2 * u - before;
            past[k] = led ? 0 : 2 * (u - before) / h - past[k];
        } else if (remembers_places) {
            if (scheme == TAC_IMPLICIT_BDF2 && !led)
                u = (3 * moved - (x0[k] - past[k])) / (2 * h);
            past[k] = x0[k];
            past[3 + k] = before;
        }
        v[k] = u + 0.; /* no -0 where nothing moves */
    }
}

void tac_implicit_end_scheme(struct tac_implicit *sim)
{
    struct tac_implicit_rigid *r = &sim->rigid;
    for (size_t v = 0; v < (size_t)sim->meshed; v++)
        end_one(sim, is_led(sim, (tac_lid)v), &sim->x[3 * v], &sim->newton.x0[3 * v], &sim->v[3 * v],
                sim->past ? &sim->past[TAC_PAST_NUMBERS * v] : NULL);
    for (size_t n = 0; n < TAC_RIGID_NODES * r->count; n++)
        end_one(sim, false, &r->x[3 * n], &r->x0[3 * n], &r->v[3 * n],
                r->past != NULL ? &r->past[TAC_PAST_NUMBERS * n] : NULL);
    if (scheme_of(sim) == TAC_IMPLICIT_NEWMARK) /* it would not damp the oscillations of their shape */
        tac_rigid_calm(sim);
    tac_rigid_spread(sim, r->v, sim->v);
}
