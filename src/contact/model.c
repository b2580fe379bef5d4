/* model.c: the model of penalty layers: the tables of eta(l) and r(l), the pairs' own thicknesses, and the periods and
 * layer groups of their layers (docs/explanation/method.md, Penalty layers; ACM 2009, section 4). */
#include "contact/flat.h"
#include "contact/joint_pairs.h"
#include "contact/principal.h"
#include "partition/part.h"
#include "scene/period.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 1 << 22 };

/* The part of a limit's thickness that is used. The full thickness would end where the edge is at rest; with this part
 * the edge is silent there, whatever is rounded. */
static const double SILENT = 1 - 0x1p-10;

/* How many pairs may press on a vertex at once, for two vertices of these valences (48 for 6 and 6). */
static double count_pressing(double va, double vb)
{
    return (va + 1) * (vb + 1) - 1;
}

/* N_c for two vertices of these valences. For e = 1 the accuracy of the bounce requires as many pairs as may press.
 * Below 1 only stability is required, which holds up to N_c / s^2 pairs; half of that is allowed. */
static double pairs_counted(const struct tac_model *m, const struct tac_law *law, double va, double vb)
{
    const double most = count_pressing(va, vb), s = m->scene->settings->clocks.contact_safety;
    if (m->scene->settings->contact.pairs_per_vertex > 0)
        return law->pairs;
    return fmax(law->pairs, law->e2 == 1 ? most : 2 * s * s * most);
}

double tac_period_bound(const struct tac_model *m, double w_eff, double pairs, double stiffness)
{
    return 2 * m->scene->settings->clocks.contact_safety * sqrt(1 / (w_eff * pairs * stiffness));
}

static enum tac_err make_laws(struct tac_ctx *ctx, struct tac_model *m)
{
    enum tac_err err;
    const struct tac_scene *s = m->scene;
    TAC_TRY(tac_alloc(ctx, (size_t)s->settings->contact.law_count + 1 + (size_t)s->settings->joint_count,
                      sizeof *m->law, &m->law));
    for (tac_lid i = 0; i < s->settings->contact.law_count; i++) {
        const struct tac_contact_law *given = &s->settings->contact.law[i];
        const double e = given->restitution, ln = e > 0 ? tac_log(e) : -INFINITY;
        m->law[i] =
            (struct tac_law){.stiffness = given->stiffness,
                             .e2 = e * e,
                             .friction = given->friction,
                             .kinetic = given->kinetic,
                             .rolling = given->rolling,
                             .twisting = given->twisting,
                             .zeta = e > 0 ? -ln / sqrt(TAC_PI * TAC_PI + ln * ln) : 1,
                             .pairs = s->settings->contact.pairs_per_vertex > 0 ? s->settings->contact.pairs_per_vertex
                                      : e == 1                                  ? 48
                                                                                : 8};
        m->friction |= given->friction > 0;
    }
    /* A limit takes no energy; otherwise a cloth that sways would lose some at every stretch. */
    m->law[s->settings->contact.law_count] = (struct tac_law){.e2 = 1};
    for (tac_lid i = 0; i < s->settings->joint_count; i++) {
        const double e = s->settings->joint[i].restitution;
        m->law[s->settings->contact.law_count + 1 + i] = (struct tac_law){.e2 = e * e};
    }
done:
    return err;
}

static enum tac_err vertex_tables(struct tac_ctx *ctx, struct tac_model *m)
{
    enum tac_err err;
    const struct tac_scene *s = m->scene;
    const tac_lid owned = tac_scene_owned(s);
    TAC_TRY(tac_alloc(ctx, (size_t)s->mesh->vertex_count, sizeof *m->w_ever, &m->w_ever));
    TAC_TRY(tac_alloc(ctx, (size_t)s->mesh->vertex_count, sizeof *m->valence, &m->valence));
    TAC_TRY(tac_alloc(ctx, (size_t)s->mesh->vertex_count, 1, &m->particle));
    TAC_TRY(tac_alloc(ctx, (size_t)s->mesh->vertex_count, 1, &m->role));
    for (tac_lid i = 0; i < s->mesh->vertex_count; i++) {
        m->w_ever[i] = s->mesh->ever_free[i] ? 1 / s->mesh->mass[i] : 0;
        m->valence[i] = s->mesh->part ? s->mesh->part->valence[i] : 0;
    }
    for (tac_lid i = 0; !s->mesh->part && i < 2 * s->mesh->topology->edge_count; i++)
        m->valence[s->mesh->topology->edge[i]]++;
    for (tac_lid i = 0; i < s->mesh->vertex_count; i++) {
        m->particle[i] = m->valence[i] == 0 && !tac_scene_inside(s, i, 0);
        m->role[i] =
            (uint8_t)tac_role_of(i < owned, s->mesh->ever_free[i], s->mesh->part && s->mesh->part->scripted[i]);
    }
    for (tac_lid k = 0; !s->mesh->part && k < s->mesh->moved_count; k++)
        for (tac_lid i = 0; i < s->mesh->moved[k].vertex_count; i++)
            m->role[s->mesh->moved[k].vertex[i]] =
                (uint8_t)tac_role_of(true, s->mesh->ever_free[s->mesh->moved[k].vertex[i]], true);
    if (s->settings->contact.ignore_count) {
        size_t n = (size_t)s->settings->body_count;
        TAC_TRY(tac_alloc(ctx, n * n, 1, &m->ignored));
        for (tac_lid i = 0; i < s->settings->contact.ignore_count; i++) {
            size_t a = (size_t)s->settings->contact.ignore[2 * i], b = (size_t)s->settings->contact.ignore[2 * i + 1];
            m->ignored[a * n + b] = m->ignored[b * n + a] = 1;
        }
    }
done:
    return err;
}

/* The tables reach past the deepest layer that any pair may have. */
static enum tac_err layer_tables(struct tac_ctx *ctx, struct tac_model *m)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *s = m->scene;
    double shortest = fmax(s->settings->contact.min_period_s, 4096 * s->settings->quantum_s);
    double deep = m->h1_max_s / shortest, limit = deep * deep;
    if (s->settings->contact.min_period_s == 0)
        limit = fmin(limit, 0x1p40);
    size_t capacity = 0, capacity_b = 0, capacity_c = 0;
    double sum = 0;
    for (int32_t l = 0; l == 0 || m->layer_count < 2 || m->sum[l - 1] <= limit; l++) {
        if (l > MOST_LAYERS) {
            err = tac_fail(
                ctx, TAC_ERR_INPUT,
                "contact.min_period_s = %g leaves more than %d layers between two surfaces; make it longer, or "
                "contact.stiffness_exponent larger",
                s->settings->contact.min_period_s, MOST_LAYERS);
            goto done;
        }
        size_t need = (size_t)l + 1;
        TAC_TRY(tac_grow(ctx, &m->reach, &capacity, need, sizeof *m->reach));
        TAC_TRY(tac_grow(ctx, &m->rate, &capacity_b, need, sizeof *m->rate));
        TAC_TRY(tac_grow(ctx, &m->sum, &capacity_c, need, sizeof *m->sum));
        m->reach[l] = l ? tac_pow(l, -s->settings->contact.thickness_exponent) : 0;
        m->rate[l] = l ? tac_pow(l, s->settings->contact.stiffness_exponent) : 0;
        m->sum[l] = sum += m->rate[l];
        m->layer_count = l;
    }
done:
    return err;
}

/* s of the material of a vertex; 0: none. */
static double limit_of(const struct tac_scene *s, tac_lid vertex)
{
    const tac_lid material = s->settings->body[s->mesh->vertex_body[vertex]].material;
    return material >= 0 ? s->settings->material[material].stretch_limit : 0;
}

/* r(1) of an edge's limit, N/m: the stiffness of the stretch model that acts below the limit. */
double tac_limit_stiffness(const struct tac_scene *s, tac_lid vertex, double length)
{
    const struct tac_material *material =
        &s->settings->material[s->settings->body[s->mesh->vertex_body[vertex]].material];
    return material->stretch_model == TAC_STRETCH_SPRING ? material->stretch_stiffness / length
                                                         : material->stretch_stiffness;
}

static double rest_length(const struct tac_scene *s, const tac_lid *v)
{
    double d[3];
    tac_sub(d, tac_scene_rest(s, v[1]), tac_scene_rest(s, v[0]));
    return sqrt(tac_dot(d, d));
}

/* Extremes over all vertices of the scene that are ever free; they bound the periods of first layers. */
struct extremes {
    double w_min, w_max, valence, limit_softest, limit_stiffest; /* limits: N/m; 0: there are none */
    tac_gid lightest;
};

static enum tac_err find_extremes(struct tac_ctx *ctx, const struct tac_model *m, struct extremes *e)
{
    const struct tac_scene *s = m->scene;
    const tac_lid n = s->mesh->part ? s->mesh->part->owned : s->mesh->vertex_count;
    double most[5] = {0, -INFINITY, 6, -INFINITY, 0}; /* w_max, -w_min, valence, -softest, stiffest */
    tac_gid lightest = INT64_MAX, first;
    for (tac_lid i = 0; i < n; i++) {
        most[2] = fmax(most[2], m->valence[i]);
        if (!s->mesh->ever_free[i] || tac_scene_inside(s, i, m->valence[i]))
            continue;
        most[0] = fmax(most[0], m->w_ever[i]);
        most[1] = fmax(most[1], -m->w_ever[i]);
    }
    for (tac_lid i = 0; i < s->mesh->topology->edge_count; i++) {
        const tac_lid *v = &s->mesh->topology->edge[2 * i];
        if (!(limit_of(s, v[0]) > 0) || !(s->mesh->ever_free[v[0]] || s->mesh->ever_free[v[1]]))
            continue;
        const double stiffness = tac_limit_stiffness(s, v[0], rest_length(s, v));
        most[3] = fmax(most[3], -stiffness);
        most[4] = fmax(most[4], stiffness);
    }
    if (s->mesh->part && MPI_Allreduce(MPI_IN_PLACE, most, 5, MPI_DOUBLE, MPI_MAX, ctx->comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed to find the lightest vertex");
    for (tac_lid i = n; i-- > 0;)
        if (s->mesh->ever_free[i] && m->w_ever[i] == most[0] && !tac_scene_inside(s, i, m->valence[i]))
            lightest = s->mesh->part ? s->mesh->part->vertex_id[i] : i;
    first = lightest;
    if (s->mesh->part && MPI_Allreduce(&lightest, &first, 1, TAC_GID_MPI, MPI_MIN, ctx->comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed to find the lightest vertex");
    *e = (struct extremes){-most[1], most[0], most[2], -most[3], most[4], first == INT64_MAX ? 0 : first};
    return TAC_OK;
}

static enum tac_err allocate_model(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_model **m)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(ctx, 1, sizeof **m, m));
    (*m)->scene = scene;
    (*m)->first_s = INFINITY;
    TAC_TRY(make_laws(ctx, *m));
    TAC_TRY(vertex_tables(ctx, *m));
done:
    return err;
}

enum tac_err tac_model_create(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_model **out)
{
    enum tac_err err;
    struct tac_model *m = NULL;
    err = allocate_model(ctx, scene, &m);
    TAC_TRY(scene->mesh->part ? tac_agree(ctx, err) : err); /* the extremes are those of all ranks */
    struct extremes e = {0, 0, 6, 0, 0, 0};
    TAC_TRY(find_extremes(ctx, m, &e));
    const double w_min = e.w_min, w_max = e.w_max;
    double softest_s, stiffest_s, loosest_s, tightest_s;
    TAC_TRY(tac_principal_extremes(ctx, m, &softest_s, &stiffest_s));
    TAC_TRY(tac_joint_extremes(ctx, m, &loosest_s, &tightest_s));
    if (w_max > 0) {
        m->h1_min_s = scene->settings->clocks.contact_s;
        m->limits = e.limit_stiffest > 0 || m->wide || scene->settings->joint_count > 0;
        if (e.limit_stiffest > 0) {
            m->h1_max_s = tac_period_bound(m, w_min, 8, e.limit_softest);
            m->h1_min_s = fmin(m->h1_min_s, tac_period_bound(m, 2 * w_max, fmax(8, 2 * e.valence), e.limit_stiffest));
        }
        if (m->wide) {
            m->h1_max_s = fmax(m->h1_max_s, softest_s);
            m->h1_min_s = fmin(m->h1_min_s, stiffest_s);
        }
        if (scene->settings->joint_count > 0) {
            m->h1_max_s = fmax(m->h1_max_s, loosest_s);
            m->h1_min_s = fmin(m->h1_min_s, tightest_s);
        }
        for (tac_lid i = 0; i < scene->settings->contact.law_count && scene->settings->contact.thickness > 0; i++) {
            const struct tac_law *law = &m->law[i];
            const double most = pairs_counted(m, law, e.valence, e.valence);
            m->h1_max_s = fmax(m->h1_max_s, tac_period_bound(m, w_min, law->pairs, law->stiffness));
            m->first_s = fmin(fmin(m->first_s, scene->settings->clocks.contact_s),
                              tac_period_bound(m, 2 * w_max, most, law->stiffness));
            m->h1_min_s = fmin(m->h1_min_s, m->first_s);
        }
    }
    /* Other integrators have no layers. */
    m->whole = scene->settings->integrator == TAC_INTEGRATOR_IMPACT;
    const bool layered = scene->settings->integrator == TAC_INTEGRATOR_ASYNCHRONOUS;
    if ((scene->settings->contact.thickness > 0 || m->limits) && w_max > 0 && layered) {
        if (!(tac_clock_period(scene, m->h1_min_s) >= 4096)) {
            err = tac_fail(
                ctx, TAC_ERR_INPUT,
                "a contact of vertex %" TAC_PRILID " of body `%s` may need a period of %.3g s in its first layer, "
                "under 2^12 quanta (%.3g s); make contact.stiffness smaller, the vertex heavier, or "
                "clocks.quantum_s a smaller power of two",
                (tac_lid)(e.lightest - scene->settings->body[tac_scene_body_of(scene, e.lightest)].vertex_begin),
                scene->settings->body[tac_scene_body_of(scene, e.lightest)].name, m->h1_min_s,
                4096 * scene->settings->quantum_s);
            goto done;
        }
        TAC_TRY(layer_tables(ctx, m));
    }
done:
    if (err)
        tac_model_destroy(&m);
    *out = m;
    return err;
}

void tac_model_destroy(struct tac_model **model)
{
    struct tac_model *m = *model;
    if (m == NULL)
        return;
    free(m->reach);
    free(m->rate);
    free(m->sum);
    free(m->w_ever);
    free(m->role);
    free(m->valence);
    free(m->particle);
    free(m->ignored);
    free(m->law);
    free(m);
    *model = NULL;
}

/* Does the same for the types that are limits. */
static bool is_limit(const struct tac_model *m, enum tac_pair_type type, const tac_lid *v)
{
    const struct tac_scene *s = m->scene;
    int pair;
    if (type == TAC_PAIR_WIDE)
        return tac_principal_is_pair(m, v);
    if (!(m->w_ever[v[0]] + m->w_ever[v[1]] > 0))
        return false;
    if (tac_pair_is_joint(type))
        return tac_joint_of(s, type, v, &pair) >= 0;
    return v[0] != v[1] && s->mesh->vertex_body[v[0]] == s->mesh->vertex_body[v[1]] && limit_of(s, v[0]) > 0;
}

bool tac_model_is_pair(const struct tac_model *m, enum tac_pair_type type, const tac_lid *v)
{
    const struct tac_scene *s = m->scene;
    const int first = tac_pair_first(type), n = tac_pair_vertices(type);
    double w = 0;
    if (tac_pair_is_limit(type))
        return is_limit(m, type, v);
    if (s->settings->contact.thickness == 0)
        return false;
    for (int i = 0; i < n; i++)
        w += m->w_ever[v[i]];
    if (w == 0 || tac_scene_inside(s, v[0], m->valence[v[0]]))
        return false;
    for (int i = 0; i < first; i++)
        for (int j = first; j < n; j++)
            if (v[i] == v[j])
                return false;
    if (tac_flat_omits(s, m->w_ever, type, v))
        return false;
    tac_lid a = s->mesh->vertex_body[v[0]], b = s->mesh->vertex_body[v[first]];
    if (a == b)
        return s->settings->body[a].self_contact &&
               (s->settings->body[a].piece_count <= 1 || !tac_scene_one_piece(s, a, v[0], v[first]));
    return m->ignored == NULL || !m->ignored[(size_t)a * (size_t)s->settings->body_count + (size_t)b];
}

bool tac_model_limits(const struct tac_model *m, enum tac_pair_type type, tac_lid edge)
{
    const struct tac_scene *s = m->scene;
    const tac_lid *v = &s->mesh->topology->edge[2 * edge];
    return m->limits && tac_model_is_pair(m, type, v) &&
           (type == TAC_PAIR_LONG || (s->mesh->topology->edge_segment[edge] >= 0 && limit_of(s, v[0]) < 1));
}

void tac_model_thickness(const struct tac_model *m, tac_lid va, tac_lid vb, double start, struct tac_form *form)
{
    const struct tac_scene *s = m->scene;
    const tac_lid a = s->mesh->vertex_body[va], b = s->mesh->vertex_body[vb];
    /* Of a body in pieces only different ones are pairs. */
    const bool one_mesh = a == b && s->settings->body[a].has_elements && s->settings->body[a].piece_count <= 1;
    const double fraction = one_mesh ? s->settings->contact.rest_fraction : TAC_REST_FRACTION_MOST;
    double radius = s->settings->body[a].radius + s->settings->body[b].radius;
    /* In a mesh finer than its own radius the radius is shrunk, so that the pair is silent at the start like any other.
     */
    if (one_mesh && TAC_REST_FRACTION_MOST * start < radius)
        radius = .5 * start;
    form->radius = radius;
    form->thickness = s->settings->contact.thickness;
    if (!m->whole)
        form->thickness = fmin(fraction * (start - radius), form->thickness);
}

double tac_model_first(const struct tac_model *m, enum tac_pair_type type, const tac_lid *v, struct tac_form *form)
{
    double x[4][3];
    struct tac_near near;
    for (int i = 0; i < tac_pair_vertices(type); i++)
        memcpy(x[i], &m->scene->mesh->x[3 * v[i]], sizeof x[i]);
    tac_near_pair(type, x, &near);
    tac_model_thickness(m, v[0], v[tac_pair_first(type)], near.d, form);
    return near.d;
}

const struct tac_law *tac_model_law(const struct tac_model *m, tac_lid va, tac_lid vb)
{
    const tac_lid *body = m->scene->mesh->vertex_body;
    return &m->law[tac_scene_law(m->scene, body[va], body[vb]) - m->scene->settings->contact.law];
}

void tac_model_form(const struct tac_model *m, enum tac_pair_type type, const tac_lid *v, struct tac_form *form)
{
    const struct tac_scene *s = m->scene;
    const int first = tac_pair_first(type), n = tac_pair_vertices(type);
    double x[4][3], wa = 0, wb = 0;
    tac_lid va = 0, vb = 0;
    struct tac_near near;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            x[i][k] = s->mesh->x[3 * v[i] + k];
        double w = m->w_ever[v[i]];
        tac_lid valence = m->valence[v[i]];
        if (i < first) {
            wa = w > wa ? w : wa;
            va = valence > va ? valence : va;
        } else {
            wb = w > wb ? w : wb;
            vb = valence > vb ? valence : vb;
        }
    }
    tac_model_gather(m, type, v, x);
    tac_near_pair(type, x, &near);
    tac_model_thickness(m, v[0], v[first], tac_flat_start(s, type, v, near.d), form);
    form->law = tac_model_law(m, v[0], v[first]);
    form->stiffness = form->law->stiffness;
    double pairs = pairs_counted(m, form->law, va, vb);
    double w_eff = wa + wb;
    if (type == TAC_PAIR_WIDE) {
        w_eff = tac_principal_form(m, v, x[3], form, &pairs);
        form->thickness *= SILENT;
    } else if (tac_pair_is_joint(type)) {
        tac_joint_form(m, type, v, form, &pairs);
    } else if (tac_pair_is_limit(type)) {
        const double length = rest_length(s, v), limit = limit_of(s, v[0]);
        form->law = &m->law[s->settings->contact.law_count];
        form->radius = type == TAC_PAIR_LONG ? -(1 + limit) * length : (1 - limit) * length;
        form->thickness = SILENT * limit * length;
        form->stiffness = tac_limit_stiffness(s, v[0], length);
        pairs = fmax(8, va + vb); /* no more can pull at the two */
    }
    form->h_s = tac_period_bound(m, w_eff, pairs, form->stiffness);
    double shortest = s->settings->contact.min_period_s > 0 ? s->settings->contact.min_period_s : form->h_s * 0x1p-20;
    shortest = fmax(shortest, 4096 * s->settings->quantum_s);
    /* The deepest layer with h(l) = h_s / sqrt(sum) >= shortest; the first always exists. */
    double limit = form->h_s / shortest;
    limit *= limit;
    int32_t lo = 1, hi = m->layer_count;
    while (hi - lo > 1) {
        int32_t mid = lo + (hi - lo) / 2;
        if (m->sum[mid] <= limit)
            lo = mid;
        else
            hi = mid;
    }
    form->bottom = lo;
}

static tac_time layer_period(const struct tac_model *m, const struct tac_form *form, int32_t l)
{
    return tac_clock_period(m->scene, fmin(form->h_s / sqrt(m->sum[l]), m->scene->settings->clocks.contact_s));
}

/* The farthest layer from `from` towards `end`, inclusive, that has this period, as `from` has.  Periods do not
 * increase with depth, and few layers have the same one: by steps that double, and then by halves. */
static int32_t farthest_like(const struct tac_model *m, const struct tac_form *form, int32_t from, tac_time period,
                             int32_t end, int32_t direction)
{
    int32_t has = from, step = 1, left = direction * (end - from);
    while (step <= left && layer_period(m, form, has + direction * step) == period) {
        has += direction * step;
        left -= step;
        step *= 2;
    }
    step = step < left + 1 ? step : left + 1;
    /* `step` farther no layer has it, or there is none. */
    while (step > 1) {
        const int32_t half = step / 2;
        if (layer_period(m, form, has + direction * half) == period) {
            has += direction * half;
            step -= half;
        } else {
            step = half;
        }
    }
    return has;
}

tac_time tac_model_layer_group(const struct tac_model *m, const struct tac_form *form, int32_t first, int32_t *last)
{
    const tac_time period = layer_period(m, form, first);
    *last = farthest_like(m, form, first, period, form->bottom, 1);
    return period;
}

tac_time tac_model_group_of(const struct tac_model *m, const struct tac_form *form, int32_t layer, int32_t *first)
{
    const tac_time period = layer_period(m, form, layer);
    *first = farthest_like(m, form, layer, period, 1, -1);
    return period;
}

void tac_key_vertices(const struct tac_scene *s, uint64_t key, tac_lid v[4])
{
    tac_lid a = (tac_lid)(key >> 31 & 0x7fffffff), b = (tac_lid)(key & 0x7fffffff);
    v[0] = a;
    v[1] = v[2] = v[3] = -1;
    switch (tac_key_type(key)) {
    case TAC_PAIR_VERTEX_TRIANGLE:
        for (int k = 0; k < 3; k++)
            v[1 + k] = s->mesh->triangle[3 * b + k];
        break;
    case TAC_PAIR_EDGE_EDGE:
        for (int k = 0; k < 2; k++) {
            v[k] = s->mesh->topology->edge[2 * a + k];
            v[2 + k] = s->mesh->topology->edge[2 * b + k];
        }
        break;
    case TAC_PAIR_VERTEX_SEGMENT:
        for (int k = 0; k < 2; k++)
            v[1 + k] = s->mesh->segment[2 * b + k];
        break;
    case TAC_PAIR_WIDE:
        for (int k = 0; k < 3; k++)
            v[k] = s->mesh->triangle[3 * b + k];
        break;
    default:
        v[0] = (tac_lid)(a & 0x1fffffff); /* the type of a limit stands above it */
        v[1] = b;
        if (tac_key_type(key) == TAC_PAIR_SLIDE)
            v[2] = b + 1;
    }
}

void tac_key_describe(const struct tac_scene *s, uint64_t key, const tac_gid v[4], char *text, size_t size)
{
    const tac_lid b = (tac_lid)(key & 0x7fffffff);
    const enum tac_pair_type type = tac_key_type(key);
    const struct tac_body *p = &s->settings->body[tac_scene_body_of(s, v[0])],
                          *q = &s->settings->body[tac_scene_body_of(s, v[tac_pair_first(type)])];
    const tac_gid p0 = p->vertex_begin, q0 = q->vertex_begin;
    switch (type) {
    case TAC_PAIR_VERTEX_TRIANGLE:
        snprintf(text, size, "vertex %" TAC_PRIGID " of body `%s` and triangle %d of body `%s`", v[0] - p0, p->name,
                 b - q->triangle_begin, q->name);
        break;
    case TAC_PAIR_EDGE_EDGE:
        snprintf(text, size,
                 "edge %" TAC_PRIGID "-%" TAC_PRIGID " of body `%s` and edge %" TAC_PRIGID "-%" TAC_PRIGID
                 " of body `%s`",
                 v[0] - p0, v[1] - p0, p->name, v[2] - q0, v[3] - q0, q->name);
        break;
    case TAC_PAIR_VERTEX_SEGMENT:
        snprintf(text, size, "vertex %" TAC_PRIGID " of body `%s` and segment %d of body `%s`", v[0] - p0, p->name,
                 b - q->segment_begin, q->name);
        break;
    case TAC_PAIR_LONG:
    case TAC_PAIR_SHORT:
        snprintf(text, size, "the ends %" TAC_PRIGID " and %" TAC_PRIGID " of an edge of body `%s` that is %s",
                 v[0] - p0, v[1] - p0, p->name, type == TAC_PAIR_LONG ? "stretched" : "compressed");
        break;
    case TAC_PAIR_JOINT:
        snprintf(text, size, "the points %" TAC_PRIGID " of body `%s` and %" TAC_PRIGID " of body `%s` of a joint",
                 v[0] - p0, p->name, v[1] - q0, q->name);
        break;
    case TAC_PAIR_SLIDE:
        snprintf(text, size,
                 "the point %" TAC_PRIGID " of body `%s` and the segment %" TAC_PRIGID "-%" TAC_PRIGID
                 " of body `%s` of a slider",
                 v[0] - p0, p->name, v[1] - q0, v[2] - q0, q->name);
        break;
    case TAC_PAIR_WIDE:
        snprintf(text, size, "triangle %d of body `%s` that is stretched", b - p->triangle_begin, p->name);
        break;
    default:
        snprintf(text, size, "vertex %" TAC_PRIGID " of body `%s` and vertex %" TAC_PRIGID " of body `%s`", v[0] - p0,
                 p->name, v[1] - q0, q->name);
    }
}
