/* test_loads.c: prescribed forces as forces: factors, impulses, which elements they act on, and their periods.  If this
 * fails, a load pushes something else than the scene says, with another strength, or so seldom that it blows up. */
#include "support.h"

#define CLOTH                                                                                                          \
    "'m': {'density': 1, 'stretch': {'model': 'cst', 'stiffness': 100, 'poisson': 0.3}}, 'soft': {'density': 1}"
#define BALL "{'name': 'a', 'material': 'm', 'mesh': {'kind': 'sphere', 'radius': 0.5, 'level': 2}}"

/* The integral of the factor, knot by knot. */
static double integral(const struct tac_load *l, double a, double b)
{
    double sum = 0;
    for (int k = -1; k < l->knot_count; k++) {
        const double lo = fmax(a, k < 0 ? -INFINITY : l->knot_t_s[k]);
        const double hi = fmin(b, k + 1 < l->knot_count ? l->knot_t_s[k + 1] : INFINITY);
        if (!(lo < hi))
            continue;
        double from = l->factor[k < 0 ? 0 : k], slope = 0;
        if (k >= 0 && k + 1 < l->knot_count)
            slope = (l->factor[k + 1] - from) / (l->knot_t_s[k + 1] - l->knot_t_s[k]);
        const double middle = slope == 0 ? from : from + slope * (.5 * (lo + hi) - l->knot_t_s[k]);
        sum += middle * (hi - lo);
    }
    return sum;
}

/* Ticks of any period tile the time: their impulses add up to the integral. */
static void test_factor(void)
{
    struct tac_scene *s =
        read_scene(CLOTH, BALL,
                   ", 'loads': [{'body': 'a', 'pressure': 1, 'path': [[0.0371, 2], [0.25, -1], [0.2500003, 5], [0.251, "
                   "5], [0.6, 0]]},"
                   " {'body': 'a', 'pressure': 1, 'path': [[0.3, 7]]}, {'body': 'a', 'pressure': 1}]");
    struct tac_load_times times = {0};
    CHECK(tac_load_times_make(&ctx, s, &times) == TAC_OK);
    const tac_time second = (tac_time)(1 / s->settings->quantum_s);
    static const tac_time part[] = {4, 1024, 1 << 20, 3, 1001, 99999};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        const tac_time h = second / part[i];
        double sum = 0, first = (double)(h - h / 2) * s->settings->quantum_s;
        const tac_time ticks = second / h;
        for (tac_time k = 1; k <= ticks; k++)
            sum += tac_load_mean(s, &times, 0, k * h, h) * (double)h * s->settings->quantum_s;
        const double last = first + (double)(ticks * h) * s->settings->quantum_s;
        CHECK(fabs(sum - integral(&s->settings->load[0], first, last)) < 1e-12, "period 1/%d s: %.17g, %.17g",
              (int)part[i], sum, integral(&s->settings->load[0], first, last));
    }
    for (int k = 0; k < 1000; k++) {
        const tac_time t = (tac_time)uniform(0, (double)second), h = (tac_time)uniform(1, (double)second / 3);
        const double a = (double)(t - h / 2) * s->settings->quantum_s, b = a + (double)h * s->settings->quantum_s;
        const double mean = tac_load_mean(s, &times, 0, t, h);
        CHECK(fabs(mean - integral(&s->settings->load[0], a, b) / (b - a)) < 1e-9, "(%g, %g): %.17g", a, b, mean);
        CHECK(tac_load_mean(s, &times, 1, t, h) == 7 && tac_load_mean(s, &times, 2, t, h) == 1);
    }
    tac_load_times_free(&times);
    tac_scene_destroy(&s);
}

static double volume(const struct tac_scene *s, const double *x)
{
    double sum = 0, n[3];
    for (tac_lid t = 0; t < s->mesh->triangle_count; t++) {
        const tac_lid *v = &s->mesh->triangle[3 * t];
        tac_cross(n, &x[3 * v[1]], &x[3 * v[2]]);
        sum += tac_dot(&x[3 * v[0]], n) / 6;
    }
    return sum;
}

/* Pressure on a closed surface, however bent: the gradient of p times the volume; no net force, no net moment. */
static void test_pressure(void)
{
    struct tac_scene *s = read_scene(CLOTH, BALL, ", 'loads': [{'body': 'a', 'pressure': 3}]");
    struct tac_elastic *el = make_elastic(s);
    const size_t n = 3 * (size_t)s->mesh->vertex_count;
    double *x = calloc(n, sizeof *x), *force = calloc(n, sizeof *force), sum[3] = {0}, moment[3] = {0}, size = 0;
    size_t count = 0;
    TAC_CHECK(x && force);
    for (size_t i = 0; i < n; i++)
        x[i] = s->mesh->x[i] + uniform(-.05, .05);
    for (size_t c = 0; c < el->class_count; c++)
        for (size_t e = 0; e < el->rate[c].load_count; e++, count++) {
            const struct tac_load_element *l = &el->rate[c].load[e];
            double p[3][3], j[3][3], centre[3];
            for (int k = 0; k < 3; k++)
                memcpy(p[k], &x[3 * l->v[k]], sizeof p[k]);
            tac_load_impulse(s, l, (const double(*)[3])p, .25, 4, j, centre);
            for (int k = 0; k < 3; k++)
                for (int i = 0; i < 3; i++)
                    force[3 * l->v[k] + i] += j[k][i];
        }
    CHECK(count == (size_t)s->mesh->triangle_count, "%zu loaded of %d", count, (int)s->mesh->triangle_count);
    for (size_t i = 0; i < n; i++) {
        const double kept = x[i], step = 1e-4;
        x[i] = kept + step;
        const double more = volume(s, x);
        x[i] = kept - step;
        const double slope = 3 * (more - volume(s, x)) / (2 * step);
        x[i] = kept;
        CHECK(fabs(force[i] - slope) < 1e-10, "%zu: %.17g, slope %.17g", i, force[i], slope);
        sum[i % 3] += force[i];
        size += fabs(force[i]);
    }
    for (size_t i = 0; i < n; i += 3) {
        double m[3];
        tac_cross(m, &x[i], &force[i]);
        for (int k = 0; k < 3; k++)
            moment[k] += m[k];
    }
    for (int k = 0; k < 3; k++)
        CHECK(fabs(sum[k]) < 1e-14 * size && fabs(moment[k]) < 1e-14 * size, "net %g, moment %g of %g", sum[k],
              moment[k], size);
    free(x);
    free(force);
    tac_elastic_destroy(&el);
    tac_scene_destroy(&s);
}

/* In 2D, pressure pushes a counterclockwise loop outwards. */
static void test_flat(void)
{
    struct tac_scene *s = read_scene("'r': {'density': 1}",
                                     "{'name': 'a', 'material': 'r', 'mesh': {'kind': 'segments', 'closed': true, "
                                     "'vertices': [[0,0,0],[2,0,0],[2,1,0],[0,1,0]]}}",
                                     ", 'loads': [{'body': 'a', 'pressure': 3}]");
    struct tac_elastic *el = make_elastic(s);
    CHECK(s->settings->two_d && el->class_count == 1 && el->rate[0].load_count == 4);
    for (size_t e = 0; e < 4; e++) {
        static const double wanted[4][2] = {{0, -3}, {1.5, 0}, {0, 3}, {-1.5, 0}};
        const struct tac_load_element *l = &el->rate[0].load[e];
        double x[3][3] = {{0}}, j[3][3], centre[3];
        for (int k = 0; k < 2; k++)
            memcpy(x[k], &s->mesh->x[3 * l->v[k]], sizeof x[k]);
        tac_load_impulse(s, l, (const double(*)[3])x, 1, 1, j, centre);
        for (int k = 0; k < 2; k++)
            CHECK(j[k][0] == wanted[l->id][0] && j[k][1] == wanted[l->id][1] && j[k][2] == 0, "segment %d: %g %g",
                  (int)l->id, j[k][0], j[k][1]);
    }
    tac_elastic_destroy(&el);
    tac_scene_destroy(&s);
}

static size_t elements_of(const struct tac_elastic *el, tac_lid load)
{
    size_t count = 0;
    for (size_t c = 0; c < el->class_count; c++)
        for (size_t e = 0; e < el->rate[c].load_count; e++)
            count += el->rate[c].load[e].load == load;
    return count;
}

/* Loads that overlap, on vertices that are free, held for ever, and let go. */
static void test_elements(void)
{
    struct tac_scene *s = read_scene(
        CLOTH, "{'name': 'a', 'material': 'm', 'mesh': {'kind': 'grid', 'size': [4, 2], 'cells': [4, 2]}}",
        ", 'motions': [{'body': 'a', 'vertices': [0, 5], 'path': [[0, [0, 0, 0]]]},"
        "              {'body': 'a', 'vertices': [4], 'path': [[0, [0, 0, 0]], [0.1, [1, 0, 0]]], 'release': true}],"
        "   'loads': [{'body': 'a', 'pressure': 1}, {'body': 'a', 'force': [1, 0, 0]},"
        "             {'body': 'a', 'vertices': {'box': [[-2.5, -1, -2], [0.5, 1, 2]]}, 'pressure': 1},"
        "             {'body': 'a', 'vertices': [0, 1, 4], 'force': [0, 1, 0]}]");
    struct tac_elastic *el = make_elastic(s);
    static const size_t wanted[4] = {16, 13, 8, 2}; /* 15 vertices and 16 triangles, of which 8 in the box; 2 held */
    for (tac_lid i = 0; i < 4; i++)
        CHECK(elements_of(el, i) == wanted[i], "load %d on %zu", (int)i, elements_of(el, i));
    for (size_t c = 0; c < el->class_count; c++)
        for (size_t e = 1; e < el->rate[c].load_count; e++) {
            const struct tac_load_element *a = &el->rate[c].load[e - 1], *b = &el->rate[c].load[e];
            CHECK(a->load < b->load || (a->load == b->load && a->id < b->id), "not in the order of their keys");
        }
    tac_elastic_destroy(&el);
    tac_scene_destroy(&s);
}

static double load_period(const char *materials, const char *loads, double *cst)
{
    struct tac_scene *s = read_scene(materials, BALL, loads);
    struct tac_elastic *el = make_elastic(s);
    double shortest = INFINITY;
    *cst = INFINITY;
    for (size_t c = 0; c < el->class_count; c++) {
        if (el->rate[c].load_count)
            shortest = fmin(shortest, el->rate[c].h_s);
        if (tac_class_count(&el->rate[c], TAC_KIND_CST))
            *cst = fmin(*cst, el->rate[c].h_s);
    }
    tac_elastic_destroy(&el);
    tac_scene_destroy(&s);
    return shortest;
}

/* Wind: (drag/2) A u |u| along the normal, u the air's velocity past the element's own since its last tick; never more
 * than stops the air for the mass behind the element. */
static void test_wind(void)
{
    struct tac_scene *s = read_scene("'m': {'density': 2}",
                                     "{'name': 'a', 'material': 'm', 'mesh': {'kind': 'grid', 'size': [2, 2], 'cells': "
                                     "[2, 2]}, 'rotation': [0, 0, 30]}",
                                     ", 'loads': [{'body': 'a', 'wind': [0, 5, 3], 'drag': 1.5}]");
    struct tac_elastic *el = make_elastic(s);
    const struct tac_rate_class *rate = &el->rate[0];
    CHECK(el->class_count == 1 && rate->load_count == 8 && rate->pushed_count == 9);
    const double n[3] = {-.5, sqrt(.75), 0}, moved[3] = {.125, .25, -.5}, h = .125;
    for (size_t i = 0; i < 8; i++) {
        struct tac_load_element e = rate->load[i];
        double x[3][3], j[3][3], centre[3], u = 0;
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                x[k][c] = s->mesh->x[3 * e.v[k] + c] + moved[c];
        /* Each vertex has as much area for its mass as the whole plate. */
        CHECK(fabs(e.limit - 2 * .5) < 1e-14, "limit %.17g", e.limit);
        e.limit = 1e9;
        const double wind[3] = {0, 5, 3};
        for (int c = 0; c < 3; c++)
            u += n[c] * (.5 * wind[c] - moved[c] / h);
        tac_load_impulse(s, &e, (const double(*)[3])x, h, .5, j, centre);
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                CHECK(fabs(j[k][c] - h * .5 * 1.5 * .5 * u * fabs(u) * n[c] / 3) < 1e-14, "%zu: %d %d %g", i, k, c,
                      j[k][c]);
        for (int c = 0; c < 3; c++)
            CHECK(fabs(centre[c] - (x[0][c] + x[1][c] + x[2][c]) / 3) < 1e-15);
        e.limit = .001;
        tac_load_impulse(s, &e, (const double(*)[3])x, h, .5, j, centre);
        CHECK(fabs(j[1][1] - .001 * u * n[1] / 3) < 1e-15, "limited: %g", j[1][1]);
    }
    tac_elastic_destroy(&el);
    tac_scene_destroy(&s);
}

/* Winds that overlap share what they may stop, and tick together. */
static void test_winds(void)
{
    struct tac_scene *s =
        read_scene("'m': {'density': 2}",
                   "{'name': 'a', 'material': 'm', 'mesh': {'kind': 'grid', 'size': [2, 2], 'cells': "
                   "[2, 2]}}",
                   ", 'loads': [{'body': 'a', 'wind': [0, 5, 3], 'drag': 1.5},"
                   "            {'body': 'a', 'wind': [0, 0, 400], 'drag': 9, 'path': [[0, 0], [1, 9]]}]");
    struct tac_elastic *el = make_elastic(s);
    const struct tac_rate_class *rate = &el->rate[0];
    CHECK(el->class_count == 1 && rate->load_count == 16, "%zu classes", el->class_count);
    /* safety x 2 m/c, with areas counted twice */
    const double bound = .1 * 2 * .5 * 2 / (9 * 3600.);
    CHECK(rate->h_s <= bound && rate->h_s > bound / 2, "period %g, bound %g", rate->h_s, bound);
    for (size_t i = 0; i < 16; i++)
        CHECK(fabs(rate->load[i].limit - .5) < 1e-14, "limit %.17g", rate->load[i].limit);
    tac_elastic_destroy(&el);
    tac_scene_destroy(&s);
}

static void test_periods(void)
{
    double cst, other;
    CHECK(load_period(CLOTH, ", 'loads': [{'body': 'a', 'pressure': 1e-6}]", &cst) == cst && cst < .001,
          "a weak load ticks as the membrane");
    CHECK(load_period(CLOTH, ", 'loads': [{'body': 'a', 'force': [0, 0, 1]}]", &other) == cst && other == cst);
    /* A hundred times the stiffness of the membrane: a tenth of its period, for the membrane too. */
    const double strong = load_period(CLOTH, ", 'loads': [{'body': 'a', 'pressure': 1e6}]", &other);
    CHECK(strong <= cst / 4 && other == strong, "%g and %g s, %g without", strong, other, cst);
    CHECK(load_period(CLOTH, ", 'loads': [{'body': 'a', 'pressure': 1, 'path': [[0, 0], [1, 1e6]]}]", &other) ==
          strong);
    /* Without elastic forces, gravity_s bounds. */
    CHECK(load_period("'m': {'density': 1}", ", 'loads': [{'body': 'a', 'force': [1, 0, 0]}]", &other) == 0x1p-10);
    CHECK(load_period("'m': {'density': 1}",
                      ", 'loads': [{'body': 'a', 'force': [1, 0, 0]}], 'clocks': {'gravity_s': 0.25}", &other) == .25);
    static const char *const refused[][2] = {
        {", 'loads': [{'body': 'a', 'pressure': 1e45}]", "under 2^12 quanta"},
        {", 'loads': [{'body': 'a', 'force': [0, 1e50, 0]}]", "accelerates by"},
        {", 'loads': [{'body': 'a', 'force': [0, 1, 0], 'path': [[0, 1e50], [1, 0]]}]", "accelerates by"},
        {", 'loads': [{'body': 'a', 'wind': [0, 1e50, 0], 'drag': 0, 'path': [[0, 1e50]]}]", "blows with"},
        {", 'loads': [{'body': 'a', 'wind': [0, 1e50, 0], 'drag': 1}]", "under 2^12 quanta"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct tac_scene *s = read_scene("'m': {'density': 0.001}", BALL, refused[i][0]);
        struct tac_elastic *el = NULL;
        ctx.error[0] = '\0';
        CHECK(tac_elastic_create(&ctx, s, &el) == TAC_ERR_INPUT && el == NULL &&
                  strstr(ctx.error, refused[i][1]) != NULL && strstr(ctx.error, "loads[0] on ") != NULL,
              "%s: %s", refused[i][0], ctx.error);
        tac_scene_destroy(&s);
    }
}

int main(void)
{
    test_factor();
    test_pressure();
    test_flat();
    test_elements();
    test_wind();
    test_winds();
    test_periods();
    return check_result();
}
