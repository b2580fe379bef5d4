/* defect.c: estimates how large the defect of a run's energy will become, as the sum of landing, pressing, resting,
 * chance and rows (docs/reference/energy-estimate.md, The estimate of `tactus check`). */
#include "check/defect.h"

#include "check/defect_shape.h"
#include "check/estimate.h"
#include <stdlib.h>
#include <tactus/math.h>

/* What bounces as a body stands on so many vertices at a time, and comes off with such a part of its speed. */
static const double FEW = 3, REBOUND = .5;
/* Of (1 - e^2) (omega h)^2 of the energy, what particles lose on landing: .18 to .65 for 1 to 14 layers. */
static const double LANDING = .33;
/* Of what gravity's kicks leave of a particle, for they reach the vertices that carry a body through springs: .4 and .7
 * for the box of chatter.py at e = 0 and .5. */
static const double SOFTENED = .55;
/* Pairs that share a vertex of a mesh while it lands. */
static const double SHARING = 2;
static double squared(double x)
{
    return x * x;
}

/* A vertex that contact may hold against elastic kicks of such a mean force: the power that they leave, W. */
static double held(const struct tac_validated *j, tac_lid i, tac_lid other, double force)
{
    const tac_lid v[4] = {i, other, -1, -1};
    struct tac_form form;
    if (!j->scene->mesh->ever_free[i])
        return 0;
    tac_model_form(j->model, TAC_PAIR_VERTEX_VERTEX, v, &form);
    return j->model->w_ever[i] * tac_defect_of_kicks(j->model, &form, force, j->elastic_s[i]);
}

/* The mean of held() over some of the body's vertices, from one end to the other. */
static double held_on_average(const struct tac_validated *j, tac_lid b, tac_lid other, double force)
{
    enum { MOST_LOOKED_AT = 16 };
    const struct tac_body *body = &j->scene->settings->body[b];
    const tac_lid step = 1 + (body->vertex_end - body->vertex_begin) / MOST_LOOKED_AT;
    double sum = 0, count = 0;
    for (tac_lid i = body->vertex_begin; i < body->vertex_end; i += step) {
        sum += held(j, i, other, force);
        count += j->scene->mesh->ever_free[i];
    }
    return count > 0 ? sum / count : 0;
}

/* A bounce of the body on a few vertices at a time, or on all of them where it is soft. */
struct bounce {
    double speed, energy, s, places; /* m/s; J of all its bounces; duration, s; vertices at a time */
};

/* Forces of contact are spread unevenly over places and times, about exponentially, as in packings of grains (Radjai
 * and others 1996): four places of Gauss and Laguerre. */
enum { NODES = 4 };
static const double NODE[NODES] = {.3225476896, 1.7457611012, 4.5366202969, 9.3950709123};
static const double WEIGHT[NODES] = {.6031541043, .3574186924, .0388879085, .0005392947};

static double pressing(const struct tac_validated *j, tac_lid b, tac_lid other, const struct bounce *k)
{
    const double mass = j->body[b].mass, push = mass * k->speed * (1 + REBOUND), mean = push / k->s / k->places;
    double power = 0;
    for (int n = 0; n < NODES; n++)
        power += WEIGHT[n] * held_on_average(j, b, other, NODE[n] * mean);
    /* Over all bounces, which shrink as their energies. */
    return power * k->places * k->s * k->energy / (.5 * mass * squared(k->speed));
}

/* (omega h)^2 of the deepest layer that a vertex with this energy presses. */
static double steps_of_landing(const struct tac_validated *j, const struct tac_form *form, double energy, double w)
{
    const struct tac_model *m = j->model;
    const double unit = form->stiffness * squared(j->scene->settings->contact.thickness);
    int32_t deepest = 0;
    /* Sums of rate, rate x reach, rate x reach^2: what is stored when the next layer is reached. */
    double sum = 0, first_moment = 0, second = 0, stored = 0;
    while (deepest < form->bottom && stored <= energy) {
        deepest++;
        const double reach = m->reach[deepest], next = m->reach[deepest + 1];
        sum += m->rate[deepest];
        first_moment += m->rate[deepest] * reach;
        second += m->rate[deepest] * reach * reach;
        stored = .5 * unit * (second - 2 * next * first_moment + next * next * sum);
    }
    int32_t last = 0, first = 1;
    double h = 0;
    for (; first <= deepest; first = last + 1)
        h = (double)tac_model_layer_group(m, form, first, &last) * j->scene->settings->quantum_s;
    return form->stiffness * m->sum[deepest] * w * h * h;
}

/* Chance: the sum of squares over the vertices that one bounce turns, J^2. */
static double chance(const struct tac_validated *j, tac_lid b, tac_lid other, const struct bounce *k)
{
    const struct tac_body *body = &j->scene->settings->body[b];
    const struct tac_shape *s = &j->body[b];
    double contact = 0, elastic = 0, gravity = 0, whole = 0, turned_s = 0;
    for (tac_lid i = body->vertex_begin; i < body->vertex_end; i++) {
        if (!j->scene->mesh->ever_free[i])
            continue;
        const struct tac_bounce_clocks clocks = {j->elastic_s[i], j->gravity_s, j->g};
        struct tac_bounce one;
        tac_estimate_vertex(j->model, j->elastic, i, other >= 0 ? other : i, &clocks, k->speed, &one);
        contact += squared(one.contact);
        elastic += squared(one.elastic);
        gravity += squared(one.gravity);
        whole += one.gravity;
        turned_s += one.turned_s / s->free;
    }
    /* A body that springs back turns a few vertices again and again, and itself slowly. */
    if (k->s > 0)
        return contact * k->places / s->free * fmax(1, k->s / turned_s) + fmin(1, 3 / s->free) * elastic +
               squared(whole * fmin(1, squared(j->gravity_s / k->s)));
    /* Others turn each of them; those that land within one period of gravity share its phase. */
    const double apart = fmax(1, (s->high - s->low) / (k->speed * fmax(j->gravity_s, 1e-300)));
    gravity = fmin(squared(whole), gravity * fmax(1, s->free / apart));
    return s->share * (contact + gravity) + fmin(1, 3 / s->free) * elastic;
}

static double energy_of(const struct tac_validated *j, const struct tac_shape *s)
{
    return .5 * s->mass * squared(j->closing) + s->mass * j->g * (s->mean - j->lowest);
}

static void judge(const struct tac_validated *j, tac_lid b, struct tac_defect *d, double *chance2)
{
    const struct tac_scene *scene = j->scene;
    const struct tac_shape *s = &j->body[b];
    const tac_lid obstacle = s->under >= 0 ? scene->settings->body[s->under].vertex_begin : s->vertex;
    const double stiffness = tac_shape_stiffness(j, b), size = tac_shape_size(s);
    const double total = sqrt(2 * energy_of(j, s) / s->mass);
    const bool soft = !(total * sqrt(s->mass / fmax(stiffness, 1e-300)) < size);
    const double from = soft ? s->mean : s->low,
                 fall = fmax(0, from - (s->under >= 0 ? j->body[s->under].high : j->lowest));
    const double energy = energy_of(j, s);
    const double land = sqrt(squared(j->closing) + 2 * j->g * fall);
    const double fall_s = j->g > 0 ? fall / fmax(.5 * (land + j->closing), 1e-300) : 0;
    d->energy += energy;
    if (j->gravity_s > 0 && tac_scene_frame_time(scene, 1) % (tac_time)(j->gravity_s / scene->settings->quantum_s) != 0)
        d->rows += .5 * s->mass * j->g * j->gravity_s * land;
    if (!(land > 0) || !(energy > 0) || fall_s >= scene->settings->end_s || !(scene->settings->contact.thickness > 0))
        return;
    const tac_lid v[4] = {s->vertex, obstacle, -1, -1};
    struct tac_form form;
    tac_model_form(j->model, TAC_PAIR_VERTEX_VERTEX, v, &form);
    const double e2 = form.law->e2;
    const double rest_s = fmax(0, scene->settings->end_s - fall_s * (soft ? 1 : 1 + 2 * REBOUND / (1 - REBOUND)));
    struct bounce k = {land, energy, 0, s->free};
    if (!soft) {
        /* What it falls on may move away: then all that it has; what stays stops it. */
        const bool stays = s->under < 0 || !(j->body[s->under].free > 0);
        k.speed = stays ? land : total;
        const double dent = k.speed * sqrt(s->mass / stiffness);
        k.s = sqrt(squared(TAC_PI) * s->mass / stiffness + squared(.6 * scene->settings->contact.thickness / land));
        k.places = fmin(s->free, FEW * fmax(1, squared(dent / size)));
        k.energy = .5 * s->mass * squared(k.speed) / (1 - squared(REBOUND));
    }
    const double share = s->share * k.places / s->free;
    const double pairs = s->area > 0 ? SHARING : 1;
    const double one = .5 * s->mass / s->free * squared(land) / pairs, w = pairs * s->free / s->mass;
    d->landing += LANDING * (1 - e2) * steps_of_landing(j, &form, one, w) * share * .5 * s->mass * squared(land);
    if (k.s > 0)
        d->pressing += pressing(j, b, obstacle, &k);
    if (j->gravity_s > 0) {
        /* Against what it carries each vertex has the mass that it carries. */
        const double weight = s->mass * j->g / k.places,
                     softened = scene->settings->body[b].has_elements ? SOFTENED : 1;
        const double power = k.places * j->g / weight * tac_defect_of_kicks(j->model, &form, weight, j->gravity_s);
        d->resting += s->share * softened * power * rest_s;
    }
    const double hops = e2 < 1 ? 1 / (1 - squared(REBOUND)) : 1 + rest_s * j->g / (2 * land);
    *chance2 += hops * chance(j, b, s->under >= 0 && !scene->mesh->ever_free[obstacle] ? obstacle : -1, &k);
}

enum tac_err tac_estimate_defect(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                                 const struct tac_model *model, struct tac_defect *out)
{
    enum tac_err err;
    struct tac_validated j = {.scene = scene, .elastic = elastic, .model = model};
    double fall, chance2 = 0, most = 0;
    *out = (struct tac_defect){.body = -1};
    j.g = sqrt(tac_dot(scene->settings->gravity, scene->settings->gravity));
    const double speed = tac_estimate_speed(scene, &fall);
    j.closing = sqrt(fmax(0, squared(speed) - 2 * j.g * fall));
    TAC_TRY(tac_estimate_periods(ctx, scene, elastic, &j.elastic_s, &j.gravity_s));
    TAC_TRY(tac_alloc(ctx, (size_t)scene->settings->body_count, sizeof *j.body, &j.body));
    tac_shape_measure(&j);
    for (tac_lid b = 0; b < scene->settings->body_count; b++) {
        if (!(j.body[b].free > 0))
            continue;
        const double before = out->landing + out->pressing + out->resting + out->rows + sqrt(chance2);
        judge(&j, b, out, &chance2);
        const double more = out->landing + out->pressing + out->resting + out->rows + sqrt(chance2) - before;
        if (more > most) {
            most = more;
            out->body = b;
        }
    }
    out->chance = sqrt(chance2);
    out->total = sqrt(squared(out->landing) + squared(out->pressing + out->resting) + chance2 + squared(out->rows));
done:
    free(j.elastic_s);
    free(j.body);
    return err;
}
