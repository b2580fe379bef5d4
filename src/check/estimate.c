/* estimate.c: estimates the error of the energy that one bounce leaves, from the periods and speeds of a scene
 * (docs/reference/energy-estimate.md, The estimate of `tactus check`). */
#include "check/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <tactus/math.h>

static const double C_CONTACT = .1, C_ELASTIC = .2, C_GRAVITY = .3;
/* The part of the outer layer in which a vertex is turned around, whatever the stiffness: deeper layers see to that. */
static const double TURNING = .3;
/* Vertices that elastic forces pull at while the rest of the body still moves on. */
static const double TURNED_ALONE = 3;

static double squared(double x)
{
    return x * x;
}

/* ---- speed ---- */

/* Directions in which velocities are compared: axes, diagonals of faces and of the cube. The largest difference of two
 * velocities is found to within a tenth. */
enum { DIRECTIONS = 13 };
static const double DIRECTION[DIRECTIONS][3] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1}, {1, 1, 0},  {1, -1, 0},
                                                {1, 0, 1},  {1, 0, -1}, {0, 1, 1}, {0, 1, -1}, {1, 1, 1},
                                                {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}};

struct spread {
    double low[DIRECTIONS], high[DIRECTIONS];
};

static void include(struct spread *s, const double v[3])
{
    for (int k = 0; k < DIRECTIONS; k++) {
        const double *d = DIRECTION[k];
        double along = (d[0] * v[0] + d[1] * v[1] + d[2] * v[2]) / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        s->low[k] = fmin(s->low[k], along);
        s->high[k] = fmax(s->high[k], along);
    }
}

/* Largest distance of the motion's vertices from its axis. */
static double reach(const struct tac_scene *scene, tac_lid index)
{
    const struct tac_motion *m = &scene->settings->motion[index];
    const struct tac_moved *moved = &scene->mesh->moved[index];
    double most = 0;
    for (tac_lid i = 0; i < moved->vertex_count; i++) {
        double r[3];
        tac_sub(r, &scene->mesh->x[3 * (size_t)moved->vertex[i]], m->center);
        const double along = tac_dot(r, m->axis);
        most = fmax(most, tac_dot(r, r) - along * along);
    }
    return sqrt(most);
}

static void include_motion(struct spread *s, const struct tac_scene *scene, tac_lid index)
{
    const struct tac_motion *m = &scene->settings->motion[index];
    const double arm = m->degrees ? reach(scene, index) : 0;
    for (tac_lid k = 1; k < m->knot_count; k++) {
        double v[3], span = m->knot_t_s[k] - m->knot_t_s[k - 1];
        if (m->degrees) {
            /* Its end of the arm comes round in some direction; which, is not asked. */
            double speed = arm * fabs(m->degrees[k] - m->degrees[k - 1]) * (TAC_PI / 180) / span;
            for (int c = 0; c < DIRECTIONS; c++) {
                s->low[c] = fmin(s->low[c], -speed);
                s->high[c] = fmax(s->high[c], speed);
            }
            continue;
        }
        for (int c = 0; c < 3; c++)
            v[c] = (m->displacement[3 * k + c] - m->displacement[3 * (k - 1) + c]) / span;
        include(s, v);
    }
}

double tac_estimate_speed(const struct tac_scene *scene, double *fall_m)
{
    struct spread s = {{0}, {0}};
    const double *g = scene->settings->gravity, strength = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    double lowest = INFINITY, highest = -INFINITY, closing = 0;
    for (size_t i = 0; i < (size_t)scene->mesh->vertex_count; i++) {
        const double *x = &scene->mesh->x[3 * i];
        if (i == 0 || scene->mesh->ever_free[i])
            include(&s, scene->mesh->ever_free[i] ? &scene->mesh->v[3 * i] : (const double[3]){0, 0, 0});
        if (strength == 0)
            continue;
        double height = -(x[0] * g[0] + x[1] * g[1] + x[2] * g[2]) / strength;
        lowest = fmin(lowest, height);
        if (scene->mesh->ever_free[i])
            highest = fmax(highest, height);
    }
    for (tac_lid m = 0; m < scene->settings->motion_count; m++)
        include_motion(&s, scene, m);
    for (int k = 0; k < DIRECTIONS; k++)
        closing = fmax(closing, s.high[k] - s.low[k]);
    const double fall = highest > lowest ? highest - lowest : 0;
    if (fall_m)
        *fall_m = fall;
    return sqrt(closing * closing + 2 * strength * fall);
}

/* ---- bounce ---- */

/* What a body's bounce is judged by, and its sums. */
struct sums {
    double energy;  /* J */
    double contact; /* J^2: sum of squares */
    double elastic; /* J^2: sum of squares */
    double gravity; /* J */
    double free;    /* vertices */
};

struct judge {
    const struct tac_scene *scene;
    const struct tac_elastic *elastic;
    const struct tac_model *model;
    double speed, gravity_s, strength;
    double *period_s; /* owned, (V): longest elastic period at the vertex, 0: none */
    tac_lid obstacle; /* a vertex that is never free, or -1 */
};

enum tac_err tac_estimate_periods(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                                  double **elastic_s, double *gravity_s)
{
    enum tac_err err;
    double *period_s = NULL;
    TAC_TRY(tac_alloc(ctx, (size_t)scene->mesh->vertex_count, sizeof *period_s, &period_s));
    *gravity_s = 0;
    for (size_t c = 0; c < elastic->class_count; c++) {
        const struct tac_rate_class *rate = &elastic->rate[c];
        if (rate->pulled)
            *gravity_s = rate->h_s;
        for (int g = 0; g < rate->group_count; g++)
            for (size_t e = 0; e < rate->group[g].elastic.count; e++) {
                const tac_lid *v = tac_forces_stencil(&rate->group[g].elastic, e);
                for (int k = 0; k < rate->group[g].element->nodes; k++)
                    period_s[v[k]] = fmax(period_s[v[k]], rate->h_s);
            }
    }
done:
    *elastic_s = period_s;
    return err;
}

void tac_estimate_vertex(const struct tac_model *model, const struct tac_elastic *elastic, tac_lid i, tac_lid other,
                         const struct tac_bounce_clocks *clocks, double speed, struct tac_bounce *out)
{
    const tac_lid v[4] = {i, other, -1, -1};
    const struct tac_scene *scene = model->scene;
    struct tac_form form;
    tac_model_form(model, TAC_PAIR_VERTEX_VERTEX, v, &form);
    const double w = model->w_ever[i] + model->w_ever[other], m = 1 / w;
    int32_t last;
    const double h = (double)tac_model_layer_group(model, &form, 1, &last) * scene->settings->quantum_s;
    const double pressing = (1. + model->valence[i]) * (1. + model->valence[other]) - 1;
    const double tau = fmin(TAC_PI / sqrt(form.stiffness * w), TURNING * scene->settings->contact.thickness / speed);
    const double he = clocks->elastic_s, hg = clocks->gravity_s;
    out->turned_s = tau;
    out->contact = C_CONTACT * sqrt(fmax(1, pressing / 3)) * form.stiffness * squared(h * speed);
    out->elastic = C_ELASTIC * m * elastic->omega[i] * he * squared(speed) * fmin(1, squared(he / tau));
    out->gravity = C_GRAVITY * m * clocks->gravity * hg * speed * fmin(1, squared(hg / tau));
    out->total = .5 * m * squared(speed);
}

/* Adds the bounce of vertex i on `other`: an obstacle's vertex, or i itself for a vertex like it. */
static void add_vertex(const struct judge *j, tac_lid i, tac_lid other, struct sums *sums)
{
    const struct tac_bounce_clocks clocks = {j->period_s[i], j->gravity_s, j->strength};
    struct tac_bounce b;
    tac_estimate_vertex(j->model, j->elastic, i, other, &clocks, j->speed, &b);
    sums->energy += b.total;
    sums->contact += squared(b.contact);
    sums->elastic += squared(b.elastic);
    sums->gravity += b.gravity;
    sums->free++;
}

static struct tac_bounce conclude(const struct sums *s)
{
    struct tac_bounce b = {.contact = sqrt(s->contact) / s->energy,
                           .elastic = sqrt(fmin(1, TURNED_ALONE / s->free) * s->elastic) / s->energy,
                           .gravity = s->gravity / s->energy};
    b.total = sqrt(squared(b.contact) + squared(b.elastic) + squared(b.gravity));
    return b;
}

static void keep_worse(const struct sums *sums, tac_lid body, struct tac_estimate *out)
{
    if (!(sums->energy > 0))
        return;
    struct tac_bounce b = conclude(sums);
    if (out->body < 0 || b.total > out->worst.total) {
        out->worst = b;
        out->body = body;
    }
}

/* A body's vertices against the obstacle or against vertices like themselves. */
static void judge_body(const struct judge *j, tac_lid b, bool obstacle, struct tac_estimate *out)
{
    const struct tac_body *body = &j->scene->settings->body[b];
    struct sums sums = {0};
    for (tac_lid i = body->vertex_begin; i < body->vertex_end; i++) {
        if (!j->scene->mesh->ever_free[i])
            continue;
        add_vertex(j, i, obstacle ? j->obstacle : i, &sums);
        if (!body->has_elements) { /* each for itself */
            keep_worse(&sums, b, out);
            sums = (struct sums){0};
        }
    }
    keep_worse(&sums, b, out);
}

enum tac_err tac_estimate_bounce(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                                 const struct tac_model *model, double speed, struct tac_estimate *out)
{
    enum tac_err err = TAC_OK;
    const double *g = scene->settings->gravity;
    struct judge j = {.scene = scene, .elastic = elastic, .model = model, .speed = speed, .obstacle = -1};
    *out = (struct tac_estimate){.body = -1};
    if (!(scene->settings->contact.thickness > 0) || !(model->h1_max_s > 0) || !(speed > 0))
        goto done;
    j.strength = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    TAC_TRY(tac_estimate_periods(ctx, scene, elastic, &j.period_s, &j.gravity_s));
    for (tac_lid i = 0; i < scene->mesh->vertex_count && j.obstacle < 0; i++)
        if (!scene->mesh->ever_free[i])
            j.obstacle = i;
    for (tac_lid b = 0; b < scene->settings->body_count; b++) {
        if (j.obstacle >= 0)
            judge_body(&j, b, true, out);
        judge_body(&j, b, false, out);
    }
done:
    free(j.period_s);
    return err;
}
