/* Plastic flow of single elements against closed forms: rest values follow strains beyond the yield limit and stay when
 * released, what flow takes is the yield stress times the plastic strain, nothing depends on the frame, angles go past
 * the fold, and four at a time give the bits of one at a time. */
#include "elements/kernels.h"
#include "exact.h"

static struct tac_elastic *lone(const char *material, const char *mesh, struct tac_scene **scene)
{
    char text[512], body[512];
    snprintf(text, sizeof text, "'m': {'density': 1, %s}", material);
    snprintf(body, sizeof body, "{'name': 'b', 'material': 'm', 'mesh': {'kind': 'inline', %s}}", mesh);
    *scene = read_scene(text, body, "");
    return make_elastic(*scene);
}

/* One tick of the only element at x (n,3): its impulses over the period on nobody, J that flow took. */
static double tick(struct tac_elastic *elastic, enum tac_kind kind, int n, const double (*x)[3],
                   double force[TAC_ELEMENT_NODES][3])
{
    struct tac_pos pos[4] = {{{0}, 0}};
    struct tac_vel vel[4] = {{{0}, 0}};
    struct tac_accum lost = {0};
    const struct tac_rate_class *rate = elastic->rate;
    while (tac_class_count(rate, (int)kind) == 0)
        rate++;
    for (int i = 0; i < n; i++) {
        memcpy(pos[i].x, x[i], sizeof pos[i].x);
        vel[i].w = 1;
    }
    tac_group_tick(group_of(rate, kind), rate->h_s, pos, vel, NULL, &lost);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            force[i][k] = vel[i].v[k] / rate->h_s;
    return tac_accum_value(&lost);
}

static const double *rest_of(const struct tac_elastic *elastic, enum tac_kind kind)
{
    const struct tac_rate_class *rate = elastic->rate;
    while (tac_class_count(rate, (int)kind) == 0)
        rate++;
    return group_of(rate, kind)->rest.value;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1, fmax(fabs(a), fabs(b)));
}

/* Stiffness 12 N, length 1/2, yield .25: flows at 1/8 m off, with 3 N. */
static void test_spring(void)
{
    struct tac_scene *scene;
    struct tac_elastic *elastic = lone("'stretch': {'model': 'spring', 'stiffness': 12, 'yield': 0.25}",
                                       "'vertices': [[0,0,0],[0,0.5,0]], 'edges': [[0,1]]", &scene);
    static const double path[] = {.5, .55, .625, .7, .9, .85, .6, .9, 1.2, .8, .3, .1, .05, .3, .2};
    double rest = .5, taken = 0, lost = 0, f[TAC_ELEMENT_NODES][3];
    for (size_t k = 0; k < sizeof path / sizeof path[0]; k++) {
        const double x[2][3] = {{1, 1, 1}, {1, 1 + path[k], 1}}, old = rest;
        rest = fmin(fmax(rest, path[k] - .125), path[k] + .125);
        taken += 3 * fabs(rest - old);
        lost += tick(elastic, TAC_KIND_SPRING, 2, x, f);
        CHECK(near(*rest_of(elastic, TAC_KIND_SPRING), rest) && near(lost, taken),
              "at %g m: rest %.17g of %g, lost %g of %g", path[k], *rest_of(elastic, TAC_KIND_SPRING), rest, lost,
              taken);
        CHECK(near(f[0][1], 24 * (path[k] - rest)) && near(f[1][1], -f[0][1]) && fabs(f[0][1]) <= 3 * (1 + 1e-12),
              "force %g", f[0][1]);
    }
    CHECK(taken > 3, "it has flowed");
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

/* A path of shapes of a triangle and the same turned in space and moved: the same losses; principal differences within
 * the limit; a uniaxial stretch in closed form, and what stays after it. */
static void test_triangle(void)
{
    struct tac_scene *scene;
    struct tac_elastic *elastic = lone("'stretch': {'model': 'cst', 'stiffness': 50, 'poisson': 0.25, 'yield': 0.125}",
                                       "'vertices': [[0,0,0],[2,0,0],[0,3,0]], 'triangles': [[0,1,2]]", &scene);
    double f[TAC_ELEMENT_NODES][3];
    /* E = diag(.625, 0), then .125 less: difference (0, 0) .. */
    const double s = sqrt(1 + 2 * .625);
    const double far[3][3] = {{0, 0, 0}, {2 * s, 0, 0}, {0, 3, 0}},
                 back[3][3] = {{0, 0, 0}, {2 * sqrt(2), 0, 0}, {0, 3, 0}};
    const double area = 3, a = area * 50 / 1.25, b = area * 50 * .25 / (1 - .0625);
    double loss = tick(elastic, TAC_KIND_CST, 3, far, f);
    const double *rest = rest_of(elastic, TAC_KIND_CST);
    CHECK(near(rest[0], .5) && near(rest[1], 0) && near(rest[2], 0), "rest %g %g %g", rest[0], rest[1], rest[2]);
    CHECK(near(loss, (a + b) * .125 * .5), "took %.17g of %.17g J", loss, (a + b) * .125 * .5);
    CHECK(tick(elastic, TAC_KIND_CST, 3, back, f) == 0, "back to the shape at rest: no flow");
    for (int i = 0; i < 9; i++)
        CHECK(fabs(f[i / 3][i % 3]) < 1e-11, "and no force: %g", f[i / 3][i % 3]);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);

    struct tac_elastic *turned;
    struct tac_scene *other;
    const char *const mesh = "'vertices': [[0,0,0],[2,0,0],[0.5,3,0]], 'triangles': [[0,1,2]]";
    const char *const again = "'vertices': [[0.5,3,0],[0,0,0],[2,0,0]], 'triangles': [[0,1,2]]";
    const char *const tin = "'stretch': {'model': 'cst', 'stiffness': 50, 'poisson': 0.3, 'yield': 0.05}";
    elastic = lone(tin, mesh, &scene);
    turned = lone(tin, again, &other);
    int flowed = 0;
    for (int trial = 0; trial < 300; trial++) {
        double x[3][3], y[3][3], turn[3] = {uniform(-3, 3), uniform(-3, 3), uniform(-3, 3)}, r[9],
                                 g[TAC_ELEMENT_NODES][3];
        static const int from[3] = {2, 0, 1};
        tac_rotation(turn, r);
        for (int i = 0; i < 9; i++)
            x[i / 3][i % 3] = scene->mesh->x[i] * uniform(.6, 1.4) + uniform(-.3, .3);
        for (int i = 0; i < 9; i++)
            y[i / 3][i % 3] = tac_dot(r + 3 * (i % 3), x[from[i / 3]]) + 4;
        const double one = tick(elastic, TAC_KIND_CST, 3, (const double(*)[3])x, f);
        const double two = tick(turned, TAC_KIND_CST, 3, (const double(*)[3])y, g);
        CHECK(one >= 0 && fabs(one - two) < 1e-9 && isfinite(one), "took %g, turned %g", one, two);
        flowed += one > 0;
        for (int i = 0; i < 9; i++)
            CHECK(fabs(tac_dot(r + 3 * (i % 3), f[from[i / 3]]) - g[i / 3][i % 3]) < 1e-8,
                  "forces turn with the frame");
        const struct tac_cst *c = group_of(elastic->rate, TAC_KIND_CST)->elastic.record;
        double f0[3], f1[3], e[3];
        tac_one_cst_strain(c->b00, c->b01, c->b11, (const double(*)[3])x, f0, f1, e);
        tac_sub(e, e, rest_of(elastic, TAC_KIND_CST));
        const double mean = .5 * (e[0] + e[1]), radius = sqrt(.25 * (e[0] - e[1]) * (e[0] - e[1]) + e[2] * e[2]);
        CHECK(mean + radius <= .05 + 1e-12 && mean - radius >= -.05 - 1e-12, "principal differences %g %g",
              mean + radius, mean - radius);
    }
    CHECK(flowed > 200, "%d of 300 flow", flowed);
    tac_elastic_destroy(&elastic);
    tac_elastic_destroy(&turned);
    tac_scene_destroy(&scene);
    tac_scene_destroy(&other);
}

/* Folded all around, past pi, in steps: the rest angle follows at the limit behind, and the force keeps its sign. */
static void test_hinge(void)
{
    struct tac_scene *scene;
    struct tac_elastic *elastic =
        lone("'bend': {'model': 'hinge', 'stiffness': 2, 'yield': 0.25}",
             "'vertices': [[0,0,0],[1,0,0],[0.5,1,0],[0.5,-1,0]], 'triangles': [[0,1,2],[1,0,3]]", &scene);
    double sign = 0, lost = 0, f[TAC_ELEMENT_NODES][3], flowed = 0;
    for (int k = 1; k <= 120; k++) {
        const double angle = .05 * k; /* to 6 rad */
        double x[TAC_ELEMENT_NODES][3] = {{0, 0, 0}, {1, 0, 0}, {.5, 1, 0}, {.5, -cos(angle), sin(angle)}};
        lost += tick(elastic, TAC_KIND_HINGE, 4, (const double(*)[3])x, f);
        const double rest = *rest_of(elastic, TAC_KIND_HINGE), along = f[3][1] * sin(angle) + f[3][2] * cos(angle);
        flowed = angle > .25 ? angle - .25 : 0;
        CHECK(rest >= -TAC_PI && rest <= TAC_PI, "rest %g", rest);
        /* at rest it lies `flowed` further; less whole turns, whichever way angles count */
        const double off = fabs(fabs(remainder(rest, 2 * TAC_PI)) - fabs(remainder(flowed, 2 * TAC_PI)));
        CHECK(off < 1e-12, "at %g: rest %g, flowed %g", angle, rest, flowed);
        CHECK(near(fabs(along), 2 * 6 * fmin(angle, .25)), "at %g: force %g", angle, along);
        CHECK(k == 1 || along * sign > 0, "the force keeps its sign at %g", angle);
        sign = copysign(1, along);
    }
    CHECK(near(lost, 2 * 6 * .25 * flowed), "took %g J", lost); /* k' = 2 x 3 x 1 / (1/2 + 1/2) */
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

/* Bent beyond its limit before the start: it has flowed before, and starts with what the limit allows. */
static void test_bent_before(void)
{
    struct tac_scene *scene;
    struct tac_elastic *elastic =
        lone("'bend': {'model': 'hinge', 'stiffness': 2, 'rest': 'flat', 'yield': 0.25}",
             "'vertices': [[0,0,0],[1,0,0],[0.5,1,0],[0.5,0,1]], 'triangles': [[0,1,2],[1,0,3]]", &scene);
    double f[TAC_ELEMENT_NODES][3];
    const double rest = *rest_of(elastic, TAC_KIND_HINGE);
    CHECK(near(fabs(rest), TAC_PI / 2 - .25), "rest %g", rest);
    const double loss = tick(elastic, TAC_KIND_HINGE, 4, (const double(*)[3])scene->mesh->x, f);
    CHECK(fabs(loss) < 1e-14 && fabs(*rest_of(elastic, TAC_KIND_HINGE) - rest) < 1e-15, "no flow at the start: %g J",
          loss);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

/* Many elements in one class, next to others that are not plastic: the loops give the bits of tac_elastic_impulse()
 * with the rest values that they leave; and potentials know those too. */
static void test_four(void)
{
    struct tac_scene *scene = read_scene(
        "'tin': {'density': 0.2, 'stretch': {'model': 'cst', 'stiffness': 300, 'poisson': 0.3, 'yield': 0.01},"
        " 'bend': {'model': 'hinge', 'stiffness': 0.02, 'yield': 0.1}},"
        "'net': {'density': 0.3, 'stretch': {'model': 'spring', 'stiffness': 70, 'yield': 0.01}},"
        "'cloth': {'density': 0.2, 'stretch': {'model': 'cst', 'stiffness': 300}, 'bend': {'model': 'hinge', "
        "'stiffness': 0.02}}",
        "{'name': 'a', 'material': 'cloth', 'mesh': {'kind': 'grid', 'size': [1, 1], 'cells': [3, 3]}},"
        "{'name': 'b', 'material': 'tin', 'mesh': {'kind': 'grid', 'size': [1, 1], 'cells': [3, 5]}, 'position': [0, "
        "3, 0]},"
        "{'name': 'c', 'material': 'net', 'mesh': {'kind': 'grid', 'size': [1, 1], 'cells': [3, 4]}, 'position': [0, "
        "6, 0]},"
        "{'name': 'd', 'material': 'cloth', 'mesh': {'kind': 'grid', 'size': [1, 1], 'cells': [4, 3]}, 'position': [0, "
        "9, 0]}",
        "");
    struct tac_elastic *elastic = make_elastic(scene);
    const size_t count = (size_t)scene->mesh->vertex_count;
    struct tac_pos *pos = calloc(count, sizeof *pos);
    struct tac_vel *vel = calloc(count, sizeof *vel), *want = calloc(count, sizeof *want);
    double *x = calloc(3 * count, sizeof *x);
    for (size_t i = 0; i < 3 * count; i++)
        x[i] = pos[i / 3].x[i % 3] = scene->mesh->x[i] + uniform(-.04, .04);
    for (size_t i = 0; i < count; i++)
        vel[i].w = want[i].w = 1 / scene->mesh->mass[i];
    double before = 0, after = 0, cut = 0;
    FOR_EACH_ELEMENT(elastic, rate, kind, e)
    {
        double y[TAC_ELEMENT_NODES][3];
        gather(rate, (enum tac_kind)kind, e, x, y);
        before += tac_elastic_potential(rate, (enum tac_kind)kind, e, (const double(*)[3])y);
    }
    for (int kind = TAC_KIND_SPRING; kind <= TAC_KIND_HINGE; kind++)
        for (size_t c = 0; c < elastic->class_count; c++) {
            const struct tac_rate_class *rate = &elastic->rate[c];
            tac_group_tick(group_of(rate, (enum tac_kind)kind), rate->h_s, pos, vel, NULL, NULL);
            for (size_t e = 0; e < tac_class_count(rate, kind); e++) {
                double y[TAC_ELEMENT_NODES][3], j[TAC_ELEMENT_NODES][3];
                int n = gather(rate, (enum tac_kind)kind, e, x, y);
                const tac_lid *v = tac_elastic_stencil(rate, (enum tac_kind)kind, e, &n);
                tac_elastic_impulse(rate, (enum tac_kind)kind, e, (const double(*)[3])y, j);
                cut = fmax(cut, fabs(j[0][1]));
                after += tac_elastic_potential(rate, (enum tac_kind)kind, e, (const double(*)[3])y);
                for (int i = 0; i < n; i++)
                    for (int k = 0; k < 3; k++)
                        want[v[i]].v[k] += want[v[i]].w * j[i][k];
            }
        }
    double worst = 0, fastest = 0;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            raise_to(&worst, fabs(vel[i].v[k] - want[i].v[k]));
            fastest = fmax(fastest, fabs(want[i].v[k]));
        }
    /* A cut strain and its difference to the new rest value round differently. */
    CHECK(worst <= 1e-12 * fastest && cut > 0, "velocities differ by %g of %g m/s", worst, fastest);
    CHECK(after < .9 * before, "potential %g J, %g J before the flow", after, before);
    free(pos);
    free(vel);
    free(want);
    free(x);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

/* Back to the window's start, and no further. */
static void test_saved(void)
{
    struct tac_scene *scene;
    struct tac_elastic *elastic = lone("'stretch': {'model': 'spring', 'stiffness': 12, 'yield': 0.25, 'damping': 0.1}",
                                       "'vertices': [[0,0,0],[0,0.5,0]], 'edges': [[0,1]]", &scene);
    const double near_x[2][3] = {{0, 0, 0}, {0, .9, 0}}, far_x[2][3] = {{0, 0, 0}, {0, 1.5, 0}};
    double f[TAC_ELEMENT_NODES][3];
    tick(elastic, TAC_KIND_SPRING, 2, near_x, f);
    tac_memory_save(elastic);
    tick(elastic, TAC_KIND_SPRING, 2, far_x, f);
    CHECK(near(*rest_of(elastic, TAC_KIND_SPRING), 1.375));
    tac_memory_restore(elastic);
    CHECK(near(*rest_of(elastic, TAC_KIND_SPRING), .775), "rest %g", *rest_of(elastic, TAC_KIND_SPRING));
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

int main(void)
{
    test_spring();
    test_triangle();
    test_hinge();
    test_bent_before();
    test_four();
    test_saved();
    return check_result();
}
