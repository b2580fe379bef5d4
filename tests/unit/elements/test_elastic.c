/* Elastic forces against their definitions: potentials in long double straight from the scene's rest shape
 * (docs/explanation/method.md, Forces), impulses against differences of those, closed forms, balance of momentum, rigid
 * motions, the book of works. */
#include "exact.h"

static const char materials[] =
    "'cst': {'density': 0.2, 'stretch': {'model': 'cst', 'stiffness': 300, 'poisson': 0.3},"
    " 'bend': {'model': 'hinge', 'stiffness': 0.02}},"
    "'auxetic': {'density': 0.1, 'stretch': {'model': 'cst', 'stiffness': 40, 'poisson': 0},"
    " 'bend': {'model': 'hinge', 'stiffness': 0.5, 'rest': 'flat'}},"
    "'net': {'density': 0.3, 'stretch': {'model': 'spring', 'stiffness': 70}}";
static const char bodies[] =
    "{'name': 'ball', 'material': 'cst', 'mesh': {'kind': 'sphere', 'radius': 0.5, 'level': 1},"
    " 'position': [3, 1, 2], 'rotation': [20, 40, 70]},"
    "{'name': 'die', 'material': 'auxetic', 'mesh': {'kind': 'octahedron', 'edge': 0.6, 'level': 1}},"
    "{'name': 'sheet', 'material': 'cst', 'mesh': {'kind': 'grid', 'size': [1, 2], 'cells': [3, 4]},"
    " 'position': [0, 4, 0], 'rotation': [-30, 10, 0]},"
    "{'name': 'mesh', 'material': 'net', 'mesh': {'kind': 'grid', 'size': [1, 1], 'cells': [3, 3]},"
    " 'position': [0, -4, 0]},"
    "{'name': 'rope', 'material': 'net', 'mesh': {'kind': 'segments', 'from': [5, 5, 5], 'to': [6, 7, 8], 'cells': 9}}";

static real potential(const struct tac_scene *scene, int kind, const tac_lid *v, int n, const real (*x)[3])
{
    real rest[TAC_ELEMENT_NODES][3] = {{0}};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            rest[i][k] = scene->mesh->x[3 * v[i] + k];
    const struct tac_material *m = material_of(scene, v[0]);
    const real(*r)[3] = (const real(*)[3])rest;
    return kind == TAC_KIND_SPRING ? spring_potential(m, r, x)
           : kind == TAC_KIND_CST  ? cst_potential(m, r, x)
                                   : hinge_potential(m, r, x);
}

/* ---- impulses ---- */

struct worst {
    double potential, impulse, force, torque;
    double largest; /* impulse over period, N */
    int elements;
};

static void check_element(const struct tac_scene *scene, const struct tac_rate_class *rate, int kind, size_t e,
                          const double *positions, struct worst *w)
{
    double x[TAC_ELEMENT_NODES][3], j[TAC_ELEMENT_NODES][3], scale = 0, sum[3] = {0}, twist[3] = {0}, reach = 0;
    int n = gather(rate, (enum tac_kind)kind, e, positions, x);
    const tac_lid *v = tac_elastic_stencil(rate, (enum tac_kind)kind, e, &n);
    real y[TAC_ELEMENT_NODES][3];
    for (int i = 0; i < 12; i++)
        y[i / 3][i % 3] = x[i / 3][i % 3];
    const real(*z)[3] = (const real(*)[3])y;
    real exact = potential(scene, kind, v, n, z);
    double have = tac_elastic_potential(rate, (enum tac_kind)kind, e, (const double(*)[3])x);
    raise_to(&w->potential, (double)fabsl(have - exact) / (double)(exact > 1e-6 ? exact : 1e-6));
    tac_elastic_impulse(rate, (enum tac_kind)kind, e, (const double(*)[3])x, j);
    for (int i = 0; i < n; i++) {
        double arm[3], c[3];
        tac_sub(arm, x[i], x[0]);
        tac_cross(c, arm, j[i]);
        for (int k = 0; k < 3; k++) {
            scale = fmax(scale, fabs(j[i][k]));
            reach = fmax(reach, fabs(arm[k]));
            sum[k] += j[i][k];
            twist[k] += c[k];
        }
    }
    for (int i = n; i < 4; i++)
        for (int k = 0; k < 3; k++)
            CHECK(j[i][k] == 0, "an impulse on no vertex");
    raise_to(&w->largest, scale / rate->h_s);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            real step = 1e-6L, middle = y[i][k];
            y[i][k] = middle + step;
            real above = potential(scene, kind, v, n, z);
            y[i][k] = middle - step;
            real below = potential(scene, kind, v, n, z);
            y[i][k] = middle;
            double want = -(double)((above - below) / (2 * step));
            raise_to(&w->impulse, fabs(j[i][k] / rate->h_s - want));
        }
    }
    for (int k = 0; k < 3; k++) {
        raise_to(&w->force, fabs(sum[k]) / scale);
        raise_to(&w->torque, fabs(twist[k]) / scale / reach);
    }
    w->elements++;
}

static void test_impulses(const struct tac_scene *scene, const struct tac_elastic *elastic)
{
    static const char *const name[TAC_KINDS] = {"", "spring", "cst", "hinge"};
    struct worst worst[TAC_KINDS] = {{0}};
    size_t size = 3 * (size_t)scene->mesh->vertex_count;
    double *x = calloc(size, sizeof *x);
    for (int trial = 0; trial < 20; trial++) {
        double noise = trial < 10 ? .05 : .01;
        for (size_t i = 0; i < size; i++)
            x[i] = scene->mesh->x[i] + uniform(-noise, noise);
        FOR_EACH_ELEMENT(elastic, rate, kind, e)
        check_element(scene, rate, kind, e, x, &worst[kind]);
    }
    free(x);
    for (int kind = TAC_KIND_SPRING; kind <= TAC_KIND_HINGE; kind++) {
        struct worst *w = &worst[kind];
        printf(
            "%-6s %d elements: potential off by %.2g, force by %.2g of %.3g N, sum of impulses %.2g, of torques %.2g\n",
            name[kind], w->elements, w->potential, w->impulse, w->largest, w->force, w->torque);
        CHECK(w->elements > 100 && w->potential < 1e-9 && w->impulse < 1e-9 * w->largest, "%s", name[kind]);
        CHECK(w->force < 8 * DBL_EPSILON && w->torque < 64 * DBL_EPSILON, "%s: momentum", name[kind]);
    }
}

/* A rigid motion changes no potential, turns the impulses, and makes none from the rest shape. */
static void test_rigid(const struct tac_scene *scene, const struct tac_elastic *elastic)
{
    size_t count = (size_t)scene->mesh->vertex_count;
    double *x = calloc(3 * count, sizeof *x), *y = calloc(3 * count, sizeof *y), *rest = calloc(3 * count, sizeof *x);
    double worst = 0, worst_impulse = 0, at_rest = 0;
    for (int trial = 0; trial < 10; trial++) {
        double turn[3] = {uniform(-3, 3), uniform(-3, 3), uniform(-3, 3)}, shift[3], r[9];
        tac_rotation(turn, r);
        for (int k = 0; k < 3; k++)
            shift[k] = uniform(-10, 10);
        for (size_t i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++)
                x[3 * i + (size_t)k] = scene->mesh->x[3 * i + (size_t)k] + uniform(-.03, .03);
            for (int k = 0; k < 3; k++) {
                y[3 * i + (size_t)k] = tac_dot(r + 3 * k, x + 3 * i) + shift[k];
                rest[3 * i + (size_t)k] = tac_dot(r + 3 * k, scene->mesh->x + 3 * i) + shift[k];
            }
        }
        FOR_EACH_ELEMENT(elastic, rate, kind, e)
        {
            double a[TAC_ELEMENT_NODES][3], b[TAC_ELEMENT_NODES][3], c[TAC_ELEMENT_NODES][3], ja[TAC_ELEMENT_NODES][3],
                jb[TAC_ELEMENT_NODES][3], jc[TAC_ELEMENT_NODES][3], scale = 0;
            int n = gather(rate, (enum tac_kind)kind, e, x, a);
            gather(rate, (enum tac_kind)kind, e, y, b);
            gather(rate, (enum tac_kind)kind, e, rest, c);
            double va = tac_elastic_potential(rate, (enum tac_kind)kind, e, (const double(*)[3])a);
            double vb = tac_elastic_potential(rate, (enum tac_kind)kind, e, (const double(*)[3])b);
            raise_to(&worst, fabs(va - vb));
            tac_elastic_impulse(rate, (enum tac_kind)kind, e, (const double(*)[3])a, ja);
            tac_elastic_impulse(rate, (enum tac_kind)kind, e, (const double(*)[3])b, jb);
            tac_elastic_impulse(rate, (enum tac_kind)kind, e, (const double(*)[3])c, jc);
            bool bent =
                kind == TAC_KIND_HINGE &&
                material_of(scene, tac_forces_stencil(&group_of(rate, TAC_KIND_HINGE)->elastic, e)[0])->rest_flat;
            for (int i = 0; i < n; i++)
                for (int k = 0; k < 3; k++)
                    scale = fmax(scale, fabs(ja[i][k]));
            for (int i = 0; i < n; i++) {
                for (int k = 0; k < 3; k++) {
                    raise_to(&worst_impulse, fabs(tac_dot(r + 3 * k, ja[i]) - jb[i][k]) / rate->h_s);
                    if (!bent)
                        raise_to(&at_rest, fabs(jc[i][k]) / rate->h_s);
                }
            }
            CHECK(scale > 0, "a distorted element pushes");
        }
    }
    free(x);
    free(y);
    free(rest);
    printf("rigid motions: potentials change by %.2g J, forces by %.2g N, at rest %.2g N\n", worst, worst_impulse,
           at_rest);
    /* Stiffness 300 N/m, lengths of .3 m, coordinates of 15 m rounded to 2e-15 m. */
    CHECK(worst < 1e-11 && worst_impulse < 1e-10 && at_rest < 1e-10, "%g %g %g", worst, worst_impulse, at_rest);
}

/* ---- closed forms on single elements ---- */

static double lone_potential(const struct tac_elastic *elastic, int kind, const double x[TAC_ELEMENT_NODES][3],
                             double j[TAC_ELEMENT_NODES][3])
{
    FOR_EACH_ELEMENT(elastic, rate, k, e)
    if (k == kind) {
        tac_elastic_impulse(rate, (enum tac_kind)kind, e, x, j);
        for (int i = 0; i < 12; i++)
            j[i / 3][i % 3] /= rate->h_s;
        return tac_elastic_potential(rate, (enum tac_kind)kind, e, x);
    }
    CHECK(false, "no element of kind %d", kind);
    return NAN;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-13 * fmax(1, fmax(fabs(a), fabs(b)));
}

static void test_closed_spring(void)
{
    struct tac_scene *scene = read_scene(
        "'m': {'density': 1, 'stretch': {'model': 'spring', 'stiffness': 12}}",
        "{'name': 'b', 'material': 'm', 'mesh': {'kind': 'inline', 'vertices': [[0,0,0],[0,0.5,0]], 'edges': [[0,1]]}}",
        "");
    struct tac_elastic *elastic = make_elastic(scene);
    double j[TAC_ELEMENT_NODES][3];
    for (double l = .1; l < 3; l += .1) { /* V = k/(2 L) (l - L)^2, force k (l - L) / L */
        const double x[TAC_ELEMENT_NODES][3] = {{1, 1, 1}, {1, 1 + l, 1}};
        double v = lone_potential(elastic, TAC_KIND_SPRING, x, j);
        CHECK(near(v, 12 / (2 * .5) * (l - .5) * (l - .5)), "V(%g) = %.17g", l, v);
        CHECK(near(j[0][1], 12 * (l - .5) / .5) && near(j[1][1], -j[0][1]) && j[0][0] == 0 && j[0][2] == 0, "l = %g",
              l);
    }
    const double none[TAC_ELEMENT_NODES][3] = {{1, 1, 1}, {1, 1, 1}}; /* no direction: no force, and no NaN */
    CHECK(near(lone_potential(elastic, TAC_KIND_SPRING, none, j), 12 / (2 * .5) * .25));
    for (int i = 0; i < 12; i++)
        CHECK(j[i / 3][i % 3] == 0, "collapsed spring: %g", j[i / 3][i % 3]);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

/* A right triangle with legs 2 and 3 in the x-y plane, Y = 50, nu = .25. */
static void test_closed_cst(void)
{
    struct tac_scene *scene =
        read_scene("'m': {'density': 1, 'stretch': {'model': 'cst', 'stiffness': 50, 'poisson': 0.25}}",
                   "{'name': 'b', 'material': 'm', 'mesh': {'kind': 'inline', 'vertices': [[0,0,0],[2,0,0],[0,3,0]],"
                   " 'triangles': [[0,1,2]]}}",
                   "");
    struct tac_elastic *elastic = make_elastic(scene);
    const double area = 3, y = 50, nu = .25;
    double j[TAC_ELEMENT_NODES][3];
    for (double s = -.5; s < 2; s += .125) {
        const double along[TAC_ELEMENT_NODES][3] = {
            {0, 0, 0}, {2 * (1 + s), 0, 0}, {0, 3, 0}}; /* uniaxial: E = diag((l^2 - 1)/2, 0) */
        double e = ((1 + s) * (1 + s) - 1) / 2, v = lone_potential(elastic, TAC_KIND_CST, along, j);
        CHECK(near(v, area * y / (2 * (1 - nu * nu)) * e * e), "uniaxial %g: %.17g", s, v);
        /* dV/ds = A Y/(1 - nu^2) E (1 + s), over the leg's 2 m */
        CHECK(near(j[1][0], -area * y / (1 - nu * nu) * e * (1 + s) / 2), "uniaxial force %g: %.17g", s, j[1][0]);
        const double shear[TAC_ELEMENT_NODES][3] = {
            {0, 0, 0}, {2, 0, 0}, {3 * s, 3, 0}}; /* E = [[0, s/2], [s/2, s^2/2]] */
        double trace = s * s / 2, square = s * s / 2 + trace * trace;
        v = lone_potential(elastic, TAC_KIND_CST, shear, j);
        CHECK(near(v, area * y / (2 * (1 - nu * nu)) * ((1 - nu) * square + nu * trace * trace)), "shear %g: %g", s, v);
    }
    const double collapsed[TAC_ELEMENT_NODES][3] = {
        {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}; /* E = -1/2: finite, and no force */
    CHECK(near(lone_potential(elastic, TAC_KIND_CST, collapsed, j),
               area * y / (2 * (1 - nu * nu)) * ((1 - nu) * .5 + nu)));
    for (int i = 0; i < 12; i++)
        CHECK(j[i / 3][i % 3] == 0, "collapsed triangle: %g", j[i / 3][i % 3]);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

/* Two triangles with heights 1 and 2 on an edge of 3 m, folded to an angle and rested at another; both ways round. */
static void test_closed_hinge(void)
{
    for (int flat = 0; flat < 2; flat++) {
        char materials_text[256];
        snprintf(materials_text, sizeof materials_text,
                 "'m': {'density': 1, 'bend': {'model': 'hinge', 'stiffness': 0.7, 'rest': '%s'}}",
                 flat ? "flat" : "mesh");
        struct tac_scene *scene =
            read_scene(materials_text,
                       "{'name': 'b', 'material': 'm', 'mesh': {'kind': 'inline',"
                       " 'vertices': [[0,0,0],[3,0,0],[1,1,0],[2,0,2]], 'triangles': [[0,1,2],[0,3,1]]}}",
                       "");
        struct tac_elastic *elastic = make_elastic(scene);
        double j[TAC_ELEMENT_NODES][3], rest = flat ? 0 : TAC_PI / 2,
                                        k = .7 * 3 * 9 / (1.5 + 3); /* folded by a right angle */
        const tac_lid *v = scene->mesh->topology->hinge;
        CHECK(scene->mesh->topology->hinge_count == 1 && v[0] == 0 && v[1] == 1 && v[2] == 2 && v[3] == 3,
              "the stencil");
        for (double angle = -3; angle < 3.1; angle += .25) {
            double x[TAC_ELEMENT_NODES][3] = {{0, 0, 0}, {3, 0, 0}, {1, 1, 0}, {2, 0, 0}};
            /* flat is opposite to vertex 2; the mesh's own fold, towards +z, is +90 degrees from there */
            x[3][1] = -2 * cos(angle);
            x[3][2] = 2 * sin(angle);
            double potential_j = lone_potential(elastic, TAC_KIND_HINGE, (const double(*)[3])x, j);
            double sign = fabs(potential_j - k * (angle - rest) * (angle - rest)) <
                                  fabs(potential_j - k * (angle + rest) * (angle + rest))
                              ? 1
                              : -1; /* which fold counts as positive is not fixed */
            double bend = angle - sign * rest;
            CHECK(sign == 1 || rest == 0 || fabs(angle) < 1e-9, "the mesh's own fold is the rest: sign at %g", angle);
            CHECK(near(potential_j, k * bend * bend), "angle %g, rest %g: %.17g", angle, rest, potential_j);
            /* The outer vertices are pushed across their triangles: the couple k 2 bend over their heights. */
            double f2 = sqrt(tac_dot(j[2], j[2])), f3 = sqrt(tac_dot(j[3], j[3]));
            CHECK(near(f2, 2 * k * fabs(bend)) && near(f3, k * fabs(bend)), "angle %g: %.17g %.17g", angle, f2, f3);
        }
        static const double collapsed[3][TAC_ELEMENT_NODES][3] = {
            {{0, 0, 0}, {3, 0, 0}, {1, 0, 0}, {2, 0, 2}},  /* a triangle flat, */
            {{1, 0, 0}, {1, 0, 0}, {1, 1, 0}, {2, 0, 2}},  /* the edge gone, */
            {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}}}; /* all of it */
        for (int c = 0; c < 3; c++) {
            double v0 = lone_potential(elastic, TAC_KIND_HINGE, collapsed[c], j);
            CHECK(v0 >= 0 && v0 < INFINITY, "collapsed hinge: V = %g", v0);
            for (int i = 0; i < 12; i++)
                CHECK(j[i / 3][i % 3] == 0, "collapsed hinge: %g", j[i / 3][i % 3]);
        }
        tac_elastic_destroy(&elastic);
        tac_scene_destroy(&scene);
    }
}

/* ---- ticks ---- */

static void test_ticks(const struct tac_scene *scene, const struct tac_elastic *elastic)
{
    size_t count = (size_t)scene->mesh->vertex_count;
    struct tac_pos *pos = calloc(count, sizeof *pos);
    struct tac_vel *vel = calloc(count, sizeof *vel), *plain = calloc(count, sizeof *vel),
                   *start = calloc(count, sizeof *vel);
    double *flat = calloc(3 * count, sizeof *flat), *sum = calloc(3 * count, sizeof *sum);
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            pos[i].x[k] = flat[3 * i + (size_t)k] = scene->mesh->x[3 * i + (size_t)k] + uniform(-.03, .03);
            vel[i].v[k] = uniform(-1, 1);
        }
        vel[i].w = i % 11 == 0 ? 0 : 1 / scene->mesh->mass[i]; /* some held */
        pos[i].t = (tac_time)i;
        plain[i] = start[i] = vel[i];
    }
    for (size_t c = 0; c < elastic->class_count; c++) {
        for (int kind = TAC_KIND_SPRING; kind <= TAC_KIND_HINGE; kind++) {
            const struct tac_rate_class *rate = &elastic->rate[c];
            struct tac_book book = {0, 0};
            double before = 0, after = 0, worst = 0, held = 0; /* held: work on the vertices that do not yield */
            memset(sum, 0, 3 * count * sizeof *sum);
            for (size_t e = 0; e < tac_class_count(rate, kind); e++) {
                double x[TAC_ELEMENT_NODES][3], j[TAC_ELEMENT_NODES][3];
                int n = gather(rate, (enum tac_kind)kind, e, flat, x);
                const tac_lid *v = tac_elastic_stencil(rate, (enum tac_kind)kind, e, &n);
                tac_elastic_impulse(rate, (enum tac_kind)kind, e, (const double(*)[3])x, j);
                for (int i = 0; i < n; i++) {
                    held += vel[v[i]].w == 0 ? tac_dot(j[i], vel[v[i]].v) : 0;
                    for (int k = 0; k < 3; k++)
                        sum[3 * v[i] + k] += vel[v[i]].w * j[i][k];
                }
            }
            memcpy(start, vel, count * sizeof *vel);
            tac_group_tick(group_of(rate, (enum tac_kind)kind), rate->h_s, pos, vel, &book, NULL);
            tac_group_tick(group_of(rate, (enum tac_kind)kind), rate->h_s, pos, plain, NULL, NULL);
            CHECK(memcmp(vel, plain, count * sizeof *vel) == 0, "the book does not change a bit");
            for (size_t i = 0; i < count; i++) {
                for (int k = 0; k < 3; k++) {
                    raise_to(&worst, fabs(vel[i].v[k] - start[i].v[k] - sum[3 * i + (size_t)k]));
                    if (vel[i].w == 0) {
                        CHECK(vel[i].v[k] == start[i].v[k], "a held vertex is not kicked");
                    } else {
                        before += start[i].v[k] * start[i].v[k] / (2 * vel[i].w);
                        after += vel[i].v[k] * vel[i].v[k] / (2 * vel[i].w);
                    }
                }
                CHECK(pos[i].t == (tac_time)i, "a tick leaves clocks alone");
            }
            CHECK(worst < 1e-13, "kicks are the impulses over the masses: off by %g m/s", worst);
            CHECK(fabs(after - before - (book.work - held)) <= 1e-12 * (before + book.absolute), "works %g, energy %g",
                  book.work, after - before);
            CHECK(book.absolute >= fabs(book.work) && (tac_class_count(rate, kind) == 0 || book.absolute > 0));
        }
    }
    free(pos);
    free(vel);
    free(plain);
    free(start);
    free(flat);
    free(sum);
}

int main(void)
{
    struct tac_scene *scene = read_scene(materials, bodies, "");
    struct tac_elastic *elastic = make_elastic(scene);
    test_impulses(scene, elastic);
    test_rigid(scene, elastic);
    test_ticks(scene, elastic);
    test_closed_spring();
    test_closed_cst();
    test_closed_hinge();
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
    return check_result();
}
