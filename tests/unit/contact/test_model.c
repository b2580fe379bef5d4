/* The layer stack of penalty layers against its formulas (docs/explanation/method.md, Penalty layers): tables, a pair's
 * thickness, period and bottom, layer groups, what is a pair. All ways of finding contacts share the model, so no test
 * of equality sees an error in it. */
#include "contact/limits.h"
#include "unit/elements/support.h"

static const char materials[] = "'light': {'density': 0.1, 'stretch': {'model': 'cst', 'stiffness': 9}},"
                                "'heavy': {'density': 2, 'stretch': {'model': 'cst', 'stiffness': 9}}";
static const char bodies[] =
    "{'name': 'low', 'material': 'heavy', 'mesh': {'kind': 'grid', 'size': [1, 1.5], 'cells': [3, 3]}, 'radius': "
    "0.002},"
    "{'name': 'high', 'material': 'light', 'mesh': {'kind': 'grid', 'size': [1, 1], 'cells': [3, 4]},"
    " 'position': [0.1, 0.05, 0], 'rotation': [3, 10, 2], 'radius': 0.001},"
    "{'name': 'fat', 'material': 'light', 'mesh': {'kind': 'grid', 'size': [1, 1], 'cells': [20, 2]},"
    " 'position': [0, 2, 0], 'radius': 0.04},"
    "{'name': 'alone', 'material': 'light', 'mesh': {'kind': 'octahedron', 'edge': 1}, 'position': [4, 0, 0], 'self': "
    "false},"
    "{'name': 'floor', 'mesh': {'kind': 'grid', 'size': [9, 9], 'cells': [2, 2]}, 'fixed': true, 'position': [0, -1, "
    "0]},"
    "{'name': 'gas', 'mass': 0.3, 'radius': 0.01, 'mesh': {'kind': 'points', 'vertices': [[0, 3, 0], [1, 3, 0], [0, 3, "
    "0.05]]}}";

static tac_lid body_named(const struct tac_scene *s, const char *name)
{
    for (tac_lid b = 0; b < s->settings->body_count; b++)
        if (strcmp(s->settings->body[b].name, name) == 0)
            return b;
    abort();
}

static void check_tables(const struct tac_model *m)
{
    const struct tac_scene *s = m->scene;
    long double sum = 0;
    for (int32_t l = 1; l <= m->layer_count; l++) {
        long double reach = powl(l, -(long double)s->settings->contact.thickness_exponent);
        long double rate = powl(l, (long double)s->settings->contact.stiffness_exponent);
        sum += rate;
        CHECK(fabsl(m->reach[l] - reach) <= 2 * DBL_EPSILON * reach, "eta(%d)/eta(1) = %.17g", l, m->reach[l]);
        CHECK(fabsl(m->rate[l] - rate) <= 2 * DBL_EPSILON * rate, "r(%d)/r(1) = %.17g", l, m->rate[l]);
        CHECK(fabsl(m->sum[l] - sum) <= l * DBL_EPSILON * sum, "R(%d)/r(1) = %.17g", l, m->sum[l]);
        CHECK(l == 1 || (m->reach[l] < m->reach[l - 1] && m->sum[l] > m->sum[l - 1]), "layer %d", l);
    }
}

static double heaviest_inverse(const struct tac_scene *s, const tac_lid *v, int from, int to)
{
    double w = 0; /* sum of w_i lambda_i^2 over weights that sum to 1 is largest at a vertex */
    for (int i = from; i < to; i++)
        w = fmax(w, s->mesh->ever_free[v[i]] ? 1 / s->mesh->mass[v[i]] : 0);
    return w;
}

static double most_edges(const struct tac_scene *s, const tac_lid *v, int from, int to)
{
    int most = 0;
    for (int i = from; i < to; i++) {
        int edges = 0;
        for (tac_lid e = 0; e < 2 * s->mesh->topology->edge_count; e++)
            edges += s->mesh->topology->edge[e] == v[i];
        most = edges > most ? edges : most;
    }
    return most;
}

static void check_form(const struct tac_model *m, enum tac_pair_type type, const tac_lid *v)
{
    const struct tac_scene *s = m->scene;
    struct tac_form form;
    tac_model_form(m, type, v, &form);
    double x[4][3], pairs = m->law[0].pairs;
    int n = tac_pair_vertices(type), first = tac_pair_first(type);
    for (int i = 0; i < n; i++)
        memcpy(x[i], s->mesh->x + 3 * v[i], sizeof x[i]);
    struct tac_near near;
    tac_near_pair(type, (const double(*)[3])x, &near);
    double full =
        s->settings->body[s->mesh->vertex_body[v[0]]].radius + s->settings->body[s->mesh->vertex_body[v[first]]].radius;
    bool same = s->mesh->vertex_body[v[0]] == s->mesh->vertex_body[v[first]];
    CHECK(form.radius <= full && form.radius >= 0 && (same || form.radius == full), "radius %g of %g", form.radius,
          full);
    CHECK(form.thickness > 0 && form.thickness <= s->settings->contact.thickness, "thickness %g", form.thickness);
    CHECK(form.thickness <= .9 * (near.d - form.radius) * (1 + 4 * DBL_EPSILON), "starts silent: thickness %g, gap %g",
          form.thickness, near.d - form.radius);
    /* At most eta(1), and at most a part of the gap: in one mesh what was asked for. */
    const double gap = near.d - form.radius, part = same && s->settings->body[s->mesh->vertex_body[v[0]]].has_elements
                                                        ? s->settings->contact.rest_fraction
                                                        : .9;
    CHECK(part * gap >= s->settings->contact.thickness ? form.thickness == s->settings->contact.thickness
                                                       : fabs(form.thickness - part * gap) <= 1e-15 * gap,
          "thickness %g of a gap %g", form.thickness, gap);
    CHECK(tac_model_reach(m, &form, 1) < near.d, "layer 1 is silent at the start");
    /* h(1) = 2 s sqrt(m_eff / (N_c r(1))). N_c: what was asked for; else at e = 1 at least 48 and all pairs that two
     * such vertices can press at once, below at least 8 and half of what stability asks for. */
    double w = heaviest_inverse(s, v, 0, first) + heaviest_inverse(s, v, first, n);
    double around = (most_edges(s, v, 0, first) + 1) * (most_edges(s, v, first, n) + 1) - 1;
    if (s->settings->contact.pairs_per_vertex == 0) {
        double safety = s->settings->clocks.contact_safety;
        pairs = s->settings->contact.restitution == 1 ? fmax(48, around) : fmax(8, 2 * safety * safety * around);
    }
    double bound = 2 * s->settings->clocks.contact_safety * sqrt(1 / (w * pairs * s->settings->contact.stiffness));
    CHECK(fabs(form.h_s / bound - 1) < 1e-14, "h(1) = %g s, %g s by the formula", form.h_s, bound);
    CHECK(form.h_s <= m->h1_max_s && form.h_s >= m->h1_min_s, "h(1) = %g s outside %g..%g s", form.h_s, m->h1_min_s,
          m->h1_max_s);
    double shortest = s->settings->contact.min_period_s > 0 ? s->settings->contact.min_period_s : form.h_s / 0x1p20;
    CHECK(form.bottom >= 1 && form.bottom < m->layer_count, "bottom %d of %d", form.bottom, m->layer_count);
    CHECK(form.h_s / sqrt(m->sum[form.bottom]) >= shortest * (1 - 1e-12), "the deepest layer is slow enough");
    CHECK(form.h_s / sqrt(m->sum[form.bottom + 1]) <= shortest * (1 + 1e-12), "and the next is not");
    /* Layer groups: 1..bottom without gaps; the period of each layer is its own bound, rounded down to the clock. */
    tac_time before = INT64_MAX;
    int groups = 0;
    for (int32_t l = 1, last; l <= form.bottom; l = last + 1, groups++) {
        tac_time period = tac_model_layer_group(m, &form, l, &last);
        CHECK(last >= l && last <= form.bottom && period < before && period >= 4096, "rung %d..%d of period %g", l,
              last, (double)period);
        for (int32_t k = l; k <= last; k++) {
            double h = fmin(form.h_s / sqrt(m->sum[k]), s->settings->clocks.contact_s),
                   have = (double)period * s->settings->quantum_s;
            CHECK(have <= h * (1 + 1e-14) && 2 * have > h * (1 - 1e-14), "layer %d: %g s for a bound of %g s", k, have,
                  h);
        }
        before = period;
        if (last < l)
            break;
    }
    CHECK(s->settings->clocks.mode == TAC_CLOCKS_FREE || groups <= 64, "%d rungs", groups);
}

static void test_pairs(const struct tac_scene *s, const struct tac_model *m)
{
    int pairs = 0, shared = 0, fixed = 0, self = 0, ignored = 0;
    tac_lid alone = body_named(s, "alone"), low = body_named(s, "low"), floor_body = body_named(s, "floor");
    for (tac_lid i = 0; i < s->mesh->vertex_count; i++) {
        for (tac_lid t = 0; t < s->mesh->triangle_count; t++) {
            tac_lid v[4], *c = &s->mesh->triangle[3 * t];
            uint64_t key = tac_pair_key(TAC_PAIR_VERTEX_TRIANGLE, i, t);
            tac_key_vertices(s, key, v);
            CHECK(v[0] == i && memcmp(v + 1, c, 3 * sizeof *c) == 0 && tac_key_type(key) == TAC_PAIR_VERTEX_TRIANGLE);
            tac_lid a = s->mesh->vertex_body[i], b = s->mesh->vertex_body[c[0]];
            bool is_shared = i == c[0] || i == c[1] || i == c[2], both_fixed = a == floor_body && b == floor_body;
            bool is_self = a == alone && b == alone, is_ignored = (a == alone && b == low) || (a == low && b == alone);
            bool want = !(is_shared || both_fixed || is_self || is_ignored);
            shared += is_shared, fixed += both_fixed, self += is_self, ignored += is_ignored, pairs += want;
            CHECK(tac_model_is_pair(m, TAC_PAIR_VERTEX_TRIANGLE, v) == want, "vertex %d, triangle %d", i, t);
            if (want && (i * 7 + t) % 97 == 0)
                check_form(m, TAC_PAIR_VERTEX_TRIANGLE, v);
        }
    }
    for (tac_lid e = 0; e < s->mesh->topology->edge_count; e += 7) {
        for (tac_lid f = e + 1; f < s->mesh->topology->edge_count; f += 13) {
            tac_lid v[4];
            tac_key_vertices(s, tac_pair_key(TAC_PAIR_EDGE_EDGE, e, f), v);
            if (tac_model_is_pair(m, TAC_PAIR_EDGE_EDGE, v))
                check_form(m, TAC_PAIR_EDGE_EDGE, v);
        }
    }
    tac_lid gas = s->settings->body[body_named(s, "gas")].vertex_begin, v[4] = {gas, gas + 1, -1, -1};
    CHECK(tac_model_is_pair(m, TAC_PAIR_VERTEX_VERTEX, v), "particles of a body touch");
    check_form(m, TAC_PAIR_VERTEX_VERTEX, v);
    CHECK(pairs > 1000 && shared > 100 && fixed > 10 && self > 10 && ignored > 10, "%d %d %d %d %d", pairs, shared,
          fixed, self, ignored);
}

static void test_model(const char *rest)
{
    struct tac_scene *scene = read_scene(materials, bodies, rest);
    struct tac_model *model = NULL;
    if (tac_model_create(&ctx, scene, &model)) {
        printf("no model: %s\n", ctx.error);
        exit(1);
    }
    printf("%d layers, first period %g to %g s: %s\n", model->layer_count, model->h1_min_s, model->h1_max_s, rest);
    check_tables(model);
    test_pairs(scene, model);
    tac_model_destroy(&model);
    CHECK(model == NULL);
    tac_model_destroy(&model);
    tac_scene_destroy(&scene);
}

/* Too stiff a contact, or a bottom too deep, is refused with a sentence. */
static void test_refusals(void)
{
    static const char *const rest[] = {
        ", 'contact': {'thickness': 0.01, 'stiffness': 1e28}",
        ", 'contact': {'thickness': 0.01, 'stiffness': 100, 'stiffness_exponent': 1, 'min_period_s': 1e-11}"};
    for (int i = 0; i < 2; i++) {
        struct tac_scene *scene = read_scene(materials, bodies, rest[i]);
        struct tac_model *model = NULL;
        struct tac_ctx own = ctx;
        own.error[0] = '\0';
        enum tac_err err = tac_model_create(&own, scene, &model);
        CHECK(err == TAC_ERR_INPUT && model == NULL && strstr(own.error, "contact.") != NULL, "case %d: %d, %s", i, err,
              own.error);
        tac_model_destroy(&model);
        tac_scene_destroy(&scene);
    }
}

/* The pairs of a hinge with limits: what lists them, their keys, and where their layers begin and end. */
static void test_joint(void)
{
    struct tac_scene *scene = read_scene(
        "",
        "{'name': 'door', 'rigid': {'mass': 3}, 'mesh': {'kind': 'box', 'size': [0.4, 0.6, 0.1], 'cells': [1, 1, 1]}}",
        ", 'joints': [{'name': 'hinge', 'kind': 'hinge', 'a': {'body': 'door', 'at': [-0.2, 0, 0]}, 'b': {'body': "
        "null},"
        " 'axis': [0, 1, 0], 'span': 0.5, 'slack': 0.002, 'stiffness': 700, 'limits': [-30, 90]}]");
    struct tac_model *m = NULL;
    struct tac_limit limit = {0};
    const struct tac_joint *joint = &scene->settings->joint[0];
    int count = 0;
    if (tac_model_create(&ctx, scene, &m)) {
        printf("no model: %s\n", ctx.error);
        exit(1);
    }
    for (; tac_limits_next(m, &limit); count++) {
        const double most = count < 2 ? 0.002 : 2 * 0.5 * sin(TAC_PI / 6);
        struct tac_form form;
        tac_lid v[4];
        tac_model_form(m, limit.type, limit.v, &form);
        tac_key_vertices(scene, limit.key, v);
        CHECK(limit.type == TAC_PAIR_JOINT && tac_key_type(limit.key) == TAC_PAIR_JOINT, "the type of pair %d", count);
        CHECK(v[0] == limit.v[0] && v[1] == limit.v[1] && v[0] == joint->end[0].point[count] &&
                  v[1] == joint->end[1].point[count],
              "the points of pair %d", count);
        CHECK(tac_model_is_pair(m, TAC_PAIR_JOINT, v), "pair %d is one", count);
        CHECK(fabs(form.radius + most) < 1e-15, "pair %d opens by %.17g m at most", count, -form.radius);
        CHECK(fabs(form.thickness - 0.002 * (1 - 0x1p-10)) < 1e-18, "its layers are %.17g m thick", form.thickness);
        CHECK(form.stiffness == 700 && form.law->e2 == 0, "its law");
        v[1] = 0;
        CHECK(!tac_model_is_pair(m, TAC_PAIR_JOINT, v), "a point and a vertex of the mesh are none");
    }
    CHECK(count == 3, "%d pairs", count);
    CHECK(m->w_ever[joint->end[1].point[0]] == 0 && m->w_ever[joint->end[0].point[0]] > 1 / 3.,
          "a point of the world never moves, one of the door has a share of its mass");
    tac_model_destroy(&m);
    tac_scene_destroy(&scene);
}

int main(void)
{
    test_model(", 'contact': {'thickness': 0.02, 'stiffness': 100, 'ignore': [['alone', 'low']]}");
    test_model(", 'contact': {'thickness': 0.001, 'stiffness': 1000, 'restitution': 1, 'ignore': [['low', 'alone']],"
               " 'min_period_s': 1e-6}");
    test_model(", 'contact': {'thickness': 0.5, 'stiffness': 3, 'stiffness_exponent': 2, 'thickness_exponent': 0.3, "
               "'min_period_s': 1e-6,"
               " 'ignore': [['alone', 'low']]}, 'clocks': {'mode': 'free'}");
    test_joint();
    test_refusals();
    return check_result();
}
