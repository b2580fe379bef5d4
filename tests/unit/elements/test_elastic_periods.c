/* Periods and rate classes of the elastic forces (docs/explanation/method.md, Forces): the stiffness bounds are bounds
 * of the true spectrum and not wasteful ones, no element ticks slower than its vertices allow, every element is in one
 * class, in key order. */
#include "scene/period.h"
#include "support.h"

static const char materials[] = "'cst': {'density': 0.2, 'stretch': {'model': 'cst', 'stiffness': 300, 'poisson': 0.3},"
                                " 'bend': {'model': 'hinge', 'stiffness': 0.02}},"
                                "'stiff': {'density': 0.2, 'bend': {'model': 'hinge', 'stiffness': 3}},"
                                "'net': {'density': 0.3, 'stretch': {'model': 'spring', 'stiffness': 70}}";

/* Force along direction u at the rest shape, less that at rest: K u by a central difference. */
static void apply_stiffness(const struct tac_scene *scene, const struct tac_elastic *elastic, const double *u,
                            double *out)
{
    size_t size = 3 * (size_t)scene->mesh->vertex_count;
    double *x = calloc(size, sizeof *x), step = 1e-6;
    memset(out, 0, size * sizeof *out);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (size_t i = 0; i < size; i++)
            x[i] = scene->mesh->x[i] + sign * step * u[i];
        FOR_EACH_ELEMENT(elastic, rate, kind, e)
        {
            double y[TAC_ELEMENT_NODES][3], j[TAC_ELEMENT_NODES][3];
            int n = gather(rate, (enum tac_kind)kind, e, x, y);
            const tac_lid *v = tac_elastic_stencil(rate, (enum tac_kind)kind, e, &n);
            tac_elastic_impulse(rate, (enum tac_kind)kind, e, (const double(*)[3])y, j);
            for (int i = 0; i < n; i++)
                for (int k = 0; k < 3; k++)
                    out[3 * v[i] + k] -= sign * j[i][k] / rate->h_s / (2 * step);
        }
    }
    free(x);
}

/* The largest frequency of the free vertices, by power iteration on M^-1/2 K M^-1/2: from below. */
static double largest_omega(const struct tac_scene *scene, const struct tac_elastic *elastic)
{
    size_t size = 3 * (size_t)scene->mesh->vertex_count;
    double *u = calloc(size, sizeof *u), *scaled = calloc(size, sizeof *u), *ku = calloc(size, sizeof *u), lambda = 0;
    for (size_t i = 0; i < size; i++)
        u[i] = scene->mesh->ever_free[i / 3] ? uniform(-1, 1) : 0;
    for (int n = 0; n < 400; n++) {
        double norm = 0, product = 0;
        for (size_t i = 0; i < size; i++)
            norm += u[i] * u[i];
        for (size_t i = 0; i < size; i++) {
            u[i] /= sqrt(norm);
            scaled[i] = scene->mesh->ever_free[i / 3] ? u[i] / sqrt(scene->mesh->mass[i / 3]) : 0;
        }
        apply_stiffness(scene, elastic, scaled, ku);
        for (size_t i = 0; i < size; i++) {
            double next = scene->mesh->ever_free[i / 3] ? ku[i] / sqrt(scene->mesh->mass[i / 3]) : 0;
            product += u[i] * next;
            u[i] = next;
        }
        lambda = product;
    }
    free(u);
    free(scaled);
    free(ku);
    return sqrt(lambda);
}

static void check_classes(const struct tac_scene *scene, const struct tac_elastic *elastic, size_t springs, size_t csts,
                          size_t hinges)
{
    size_t count[TAC_KINDS] = {0};
    bool nested = scene->settings->clocks.mode == TAC_CLOCKS_NESTED;
    const struct tac_rate_class *last_rate = NULL;
    int last_kind = -1;
    tac_lid last[4] = {0};
    for (size_t c = 0; c < elastic->class_count; c++) {
        const struct tac_rate_class *rate = &elastic->rate[c];
        CHECK(c == 0 || rate->period > rate[-1].period, "periods ascend");
        CHECK(rate->h_s == (double)rate->period * scene->settings->quantum_s && rate->period >= 4096);
        CHECK(!nested || (rate->period & (rate->period - 1)) == 0, "nested periods are powers of two");
    }
    FOR_EACH_ELEMENT(elastic, rate, kind, e)
    {
        int n;
        const tac_lid *v = tac_elastic_stencil(rate, (enum tac_kind)kind, e, &n);
        double worst = 0;
        for (int i = 0; i < n; i++)
            worst = fmax(worst, elastic->omega[v[i]]);
        double bound = fmin(scene->settings->clocks.elastic_safety * 2 / worst, scene->settings->clocks.elastic_s);
        CHECK(rate->h_s <= bound, "kind %d: period %g s over its vertices' bound %g s", kind, rate->h_s, bound);
        CHECK(nested ? rate->h_s > bound / 2 : rate->h_s > bound - scene->settings->quantum_s,
              "period %g s, bound %g s", rate->h_s, bound);
        if (rate == last_rate && kind == last_kind && kind != TAC_KIND_CST)
            CHECK(v[0] > last[0] || (v[0] == last[0] && v[1] > last[1]), "edges and hinges in key order");
        last_rate = rate;
        last_kind = kind;
        memcpy(last, v, (size_t)n * sizeof *v);
        count[kind]++;
    }
    CHECK(count[TAC_KIND_SPRING] == springs && count[TAC_KIND_CST] == csts && count[TAC_KIND_HINGE] == hinges,
          "%d springs, %d triangles, %d hinges", (int)count[TAC_KIND_SPRING], (int)count[TAC_KIND_CST],
          (int)count[TAC_KIND_HINGE]);
}

static void test_bound(const char *what, const char *bodies, const char *rest, size_t springs, size_t csts,
                       size_t hinges)
{
    struct tac_scene *scene = read_scene(materials, bodies, rest);
    struct tac_elastic *elastic = make_elastic(scene);
    double exact = largest_omega(scene, elastic);
    printf("%-22s largest frequency %.5g rad/s, bound %.5g: %.2f times\n", what, exact, elastic->omega_max,
           elastic->omega_max / exact);
    CHECK(elastic->omega_max >= exact * (1 - 1e-6), "%s: bound %g under the true %g rad/s", what, elastic->omega_max,
          exact);
    CHECK(elastic->omega_max <= 4 * exact, "%s: bound %g wastes ticks at %g rad/s", what, elastic->omega_max, exact);
    CHECK(elastic->omega_min > 0 && elastic->omega_min <= elastic->omega_max);
    check_classes(scene, elastic, springs, csts, hinges);
    tac_elastic_destroy(&elastic);
    CHECK(elastic == NULL);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

static void test_bounds(void)
{
    const char grid[] =
        "{'name': 'a', 'material': '%s', 'mesh': {'kind': 'grid', 'size': [1, 1.5], 'cells': [4, 5]}%s}";
    char text[512];
    /* 4 x 5 cells: 40 triangles; 4 6 + 5 5 + 20 = 69 edges, 18 of them on the border */
    snprintf(text, sizeof text, grid, "cst", "");
    test_bound("membrane and hinges", text, "", 0, 40, 51);
    test_bound("the same, free clocks", text, ", 'clocks': {'mode': 'free'}", 0, 40, 51);
    snprintf(text, sizeof text, grid, "stiff", "");
    test_bound("stiff hinges", text, "", 0, 0, 51);
    snprintf(text, sizeof text, grid, "net", "");
    test_bound("springs", text, "", 69, 0, 0);
    snprintf(text, sizeof text, grid, "cst",
             ", 'rotation': [10, 50, 20]}, {'name': 'b', 'material': 'net', 'mesh': "
             "{'kind': 'segments', 'from': [5, 0, 0], 'to': [6, 1, 0], 'cells': 12}");
    test_bound("two bodies", text, "", 12, 40, 51);
    test_bound("ball",
               "{'name': 'a', 'material': 'cst', 'mesh': {'kind': 'sphere', 'radius': 0.5, 'level': 1}, 'position': "
               "[1, 2, 3]}",
               "", 0, 80, 120);
    test_bound("slivers",
               "{'name': 'a', 'material': 'cst', 'mesh': {'kind': 'grid', 'size': [1, 0.05], 'cells': [3, 3]}}", "", 0,
               18, 21);
    test_bound("two held",
               "{'name': 'a', 'material': 'net', 'mesh': {'kind': 'segments', 'from': [0, 0, 0], 'to': [1, 0, 0], "
               "'cells': 4}}",
               ", 'motions': [{'body': 'a', 'vertices': [0, 1], 'path': [[0, [0, 0, 0]]]}]", 3, 0, 0);
}

/* Whether nothing free means no elements; whether what cannot be run is refused. */
static void test_edges_of_the_world(void)
{
    struct tac_scene *scene = read_scene(
        materials,
        "{'name': 'a', 'material': 'cst', 'fixed': true, 'mesh': {'kind': 'grid', 'size': [1, 1], 'cells': [2, 2]}}",
        ", 'gravity': [0, -10, 0]");
    struct tac_elastic *elastic = make_elastic(scene);
    check_classes(scene, elastic, 0, 0, 0);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
    scene = read_scene("'hard': {'density': 1e-9, 'stretch': {'model': 'spring', 'stiffness': 1e18}}",
                       "{'name': 'wire', 'material': 'hard', 'mesh': {'kind': 'segments', 'from': [0,0,0], 'to': "
                       "[1,0,0], 'cells': 3}}",
                       "");
    struct tac_ctx own = ctx;
    own.error[0] = '\0';
    CHECK(tac_elastic_create(&own, scene, &elastic) == TAC_ERR_INPUT && elastic == NULL);
    CHECK(strstr(own.error, "wire") != NULL && strstr(own.error, "quanta") != NULL, "says: %s", own.error);
    tac_scene_destroy(&scene);
}

static void test_clock_period(void)
{
    struct tac_settings settings = {.quantum_s = 0x1p-46};
    const struct tac_scene scene = {.settings = &settings};
    for (int n = 0; n < 100000; n++) {
        double bound = ldexp(uniform(1, 2), (int)uniform(-50, 15));
        if (n % 7 == 0)
            bound = ldexp(1, (int)uniform(-46, 10)); /* exactly on a power */
        scene.settings->clocks.mode = TAC_CLOCKS_NESTED;
        tac_time nested = tac_clock_period(&scene, bound);
        scene.settings->clocks.mode = TAC_CLOCKS_FREE;
        tac_time whole = tac_clock_period(&scene, bound);
        double s = (double)nested * scene.settings->quantum_s;
        CHECK(bound < scene.settings->quantum_s ? nested == 0 && whole == 0
                                                : s <= bound && 2 * s > bound && (nested & (nested - 1)) == 0,
              "bound %g s: %g s", bound, s);
        double left = bound / scene.settings->quantum_s - (double)whole;
        CHECK(left >= 0 && left < 1, "free, %g: %g quanta left", bound, left);
    }
    for (int mode = 0; mode < 2; mode++) {
        scene.settings->clocks.mode = mode ? TAC_CLOCKS_FREE : TAC_CLOCKS_NESTED;
        CHECK(tac_clock_period(&scene, NAN) == 0 && tac_clock_period(&scene, 0) == 0 &&
              tac_clock_period(&scene, -1) == 0);
        CHECK(tac_clock_period(&scene, INFINITY) > 0 && tac_clock_period(&scene, 1e300) > 0, "no overflow");
    }
}

int main(void)
{
    test_bounds();
    test_edges_of_the_world();
    test_clock_period();
    return check_result();
}
