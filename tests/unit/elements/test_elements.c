/* test_elements.c: every element of the table, the one of the tests included, without clocks: energy, gradient and
 * Hessian against each other's differences; symmetry; rigid motions; and against what the asynchronous integrator
 * ticks. If it failed, an implicit integrator would step along a wrong direction, or the two would differ in their
 * forces. */
#include "exact.h"

extern const struct tac_element tac_element_volume;

static const char materials[] =
    "'cst': {'density': 0.2, 'stretch': {'model': 'cst', 'stiffness': 300, 'poisson': 0.3},"
    " 'bend': {'model': 'hinge', 'stiffness': 0.02}, 'volume': {'stiffness': 4e4}},"
    "'auxetic': {'density': 0.1, 'stretch': {'model': 'cst', 'stiffness': 40, 'poisson': 0, 'yield': 0.01},"
    " 'bend': {'model': 'hinge', 'stiffness': 0.5, 'rest': 'flat', 'yield': 0.05}},"
    "'net': {'density': 0.3, 'stretch': {'model': 'spring', 'stiffness': 70}},"
    "'rubber': {'density': 3, 'solid': {'model': 'neo-hookean', 'youngs': 200, 'poisson': 0.4}},"
    "'foam': {'density': 2, 'solid': {'model': 'stvk', 'youngs': 100, 'poisson': -0.3}},"
    "'jelly': {'density': 1, 'solid': {'model': 'corotated', 'youngs': 50}}";
static const char bodies[] =
    "{'name': 'ball', 'material': 'cst', 'mesh': {'kind': 'sphere', 'radius': 0.5, 'level': 1},"
    " 'position': [3, 1, 2], 'rotation': [20, 40, 70]},"
    "{'name': 'die', 'material': 'auxetic', 'mesh': {'kind': 'octahedron', 'edge': 0.6, 'level': 1}},"
    "{'name': 'sheet', 'material': 'cst', 'mesh': {'kind': 'grid', 'size': [1, 2], 'cells': [3, 4]},"
    " 'position': [0, 4, 0], 'rotation': [-30, 10, 0]},"
    "{'name': 'mesh', 'material': 'net', 'mesh': {'kind': 'grid', 'size': [1, 1], 'cells': [3, 3]},"
    " 'position': [0, -4, 0]},"
    "{'name': 'tyre', 'material': 'rubber', 'mesh': {'kind': 'box', 'size': [2, 3, 2], 'cells': [2, 3, 2],"
    " 'fill': 'tets'}, 'position': [9, 0, 0], 'rotation': [10, 20, 30]},"
    "{'name': 'sponge', 'material': 'foam', 'mesh': {'kind': 'box', 'size': [2, 2, 2], 'cells': [2, 2, 2],"
    " 'fill': 'tets'}, 'position': [-9, 0, 0], 'rotation': [50, -20, 30]},"
    "{'name': 'drop', 'material': 'jelly', 'mesh': {'kind': 'sphere', 'radius': 1.5, 'level': 1, 'fill': 'tets'},"
    " 'position': [0, 9, 0]}";

enum { MOST = TAC_ELEMENT_SIZE };

/* What was seen of one kind of element. */
struct seen {
    int elements;
    double gradient, hessian;     /* off by, relative to the largest entry */
    double asymmetry, null, turn; /* likewise */
    double energy_turned;         /* change of the energy by a rotation, J */
    double largest_gradient, largest_hessian;
};

/* Some element with its positions. */
struct one {
    const struct tac_element *element;
    const void *record;
    const double *rest; /* NULL, or of a plastic one */
    double x[4][3];
};

static double energy_at(const struct one *o, int i, double by)
{
    double x[4][3];
    memcpy(x, o->x, sizeof x);
    x[i / 3][i % 3] += by;
    return tac_element_energy(o->element, o->record, o->rest, (const double(*)[3])x);
}

static void gradient_at(const struct one *o, int i, double by, double g[4][3])
{
    double x[4][3];
    memcpy(x, o->x, sizeof x);
    x[i / 3][i % 3] += by;
    tac_element_gradient(o->element, o->record, o->rest, (const double(*)[3])x, g);
}

/* Differences, twice extrapolated: the error is of the step's fourth power. */
static void check_differences(const struct one *o, double g[4][3], const double *h, struct seen *s)
{
    const int n = 3 * o->element->nodes;
    const double step = 3e-4;
    double most_g = 0, most_h = 0, off_g = 0, off_h = 0;
    for (int i = 0; i < n; i++) {
        const double one = (energy_at(o, i, step) - energy_at(o, i, -step)) / (2 * step);
        const double two = (energy_at(o, i, 2 * step) - energy_at(o, i, -2 * step)) / (4 * step);
        double ga[4][3], gb[4][3], gc[4][3], gd[4][3];
        most_g = fmax(most_g, fabs(g[i / 3][i % 3]));
        off_g = fmax(off_g, fabs(one + (one - two) / 3 - g[i / 3][i % 3]));
        gradient_at(o, i, step, ga);
        gradient_at(o, i, -step, gb);
        gradient_at(o, i, 2 * step, gc);
        gradient_at(o, i, -2 * step, gd);
        for (int k = 0; k < n; k++) {
            const double p = (ga[k / 3][k % 3] - gb[k / 3][k % 3]) / (2 * step);
            const double q = (gc[k / 3][k % 3] - gd[k / 3][k % 3]) / (4 * step);
            most_h = fmax(most_h, fabs(h[n * k + i]));
            off_h = fmax(off_h, fabs(p + (p - q) / 3 - h[n * k + i]));
        }
    }
    raise_to(&s->gradient, off_g / most_h); /* m: the forces' scale is stiffness times lengths of about 1 m */
    raise_to(&s->hessian, off_h / most_h);
    raise_to(&s->largest_gradient, most_g);
    raise_to(&s->largest_hessian, most_h);
}

/* A shift: forces sum up to 0 exactly, and the Hessian gives 0.  A turn w: H (w x x) = w x gradient, node by node. */
static void check_rigid(const struct one *o, double g[4][3], const double *h, struct seen *s)
{
    const int nodes = o->element->nodes, n = 3 * nodes;
    const double w[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
    double u[MOST], turned[4][3], x[4][3], r[9], most = 0;
    for (int i = 0; i < n * n; i++)
        most = fmax(most, fabs(h[i]));
    for (int k = 0; k < 3; k++) {
        double sum = nodes > 1 ? g[1][k] : 0;
        for (int i = 2; i < nodes; i++)
            sum += g[i][k];
        CHECK(sum + g[0][k] == 0, "%s: a shift changes the energy by %g", o->element->keys.name, sum + g[0][k]);
    }
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int k = 0; k < nodes; k++)
                sum += h[n * i + 3 * k + c];
            raise_to(&s->null, fabs(sum) / most);
        }
    for (int i = 0; i < nodes; i++) {
        double arm[3];
        tac_sub(arm, o->x[i], o->x[0]); /* turning about the first: shifts are in the null space */
        tac_cross(&u[3 * i], w, arm);
        tac_cross(turned[i], w, g[i]);
    }
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < n; k++) {
            sum += h[n * i + k] * u[k];
            CHECK(h[n * i + k] == h[n * k + i], "%s: not symmetric", o->element->keys.name);
        }
        raise_to(&s->turn, fabs(sum - turned[i / 3][i % 3]) / most);
    }
    tac_rotation(w, r);
    for (int i = 0; i < nodes; i++)
        for (int k = 0; k < 3; k++)
            x[i][k] = tac_dot(r + 3 * k, o->x[i]);
    raise_to(&s->energy_turned,
             fabs(tac_element_energy(o->element, o->record, o->rest, (const double(*)[3])x) - energy_at(o, 0, 0)));
}

/* h times the gradient is minus the impulse: to the last bit for a step that is a power of two. */
static void check_impulse(const struct one *o, double g[4][3])
{
    for (int trial = 0; trial < 2; trial++) {
        const double step = trial ? 1e-3 / 7 : ldexp(1, -13);
        double j[4][3], size = 0;
        o->element->push(o->record, o->rest, step, (const double(*)[3])o->x, j);
        for (int i = 0; i < 3 * o->element->nodes; i++)
            size = fmax(size, fabs(j[i / 3][i % 3]));
        for (int i = 0; i < o->element->nodes; i++)
            for (int k = 0; k < 3; k++)
                CHECK(trial ? fabs(j[i][k] + step * g[i][k]) <= 16 * DBL_EPSILON * size : j[i][k] == -step * g[i][k],
                      "%s: impulse %.17g, gradient %.17g", o->element->keys.name, j[i][k], -step * g[i][k]);
    }
}

/* What stands for the Hessian in Newton's method is positive, and so is its difference to the Hessian: by v.Av of
 * random v and of what steps of A bring them to. */
static void check_convex(const struct one *o, const double *h)
{
    const int n = 3 * o->element->nodes;
    double c[MOST * MOST], norm = 0;
    if (o->element->convex == NULL)
        return;
    memset(c, 0x55, sizeof c);
    o->element->convex(o->record, o->rest, (const double(*)[3])o->x, c);
    for (int i = 0; i < n * n; i++)
        norm = fmax(norm, fmax(fabs(h[i]), fabs(c[i])));
    for (int round = 0; round < 8; round++) {
        double v[MOST];
        for (int i = 0; i < n; i++)
            v[i] = uniform(-1, 1);
        for (int step = 0; step < 40; step++) {
            double vv = 0, vw = 0, w[MOST] = {0};
            for (int i = 0; i < n; i++)
                for (int k = 0; k < n; k++)
                    w[i] += (c[n * i + k] - (round % 2 ? h[n * i + k] : 0)) * v[k];
            for (int i = 0; i < n; i++) {
                vv += v[i] * v[i];
                vw += v[i] * w[i];
            }
            CHECK(vw >= -1e-12 * norm * vv, "%s: %s by %g of %g", o->element->keys.name,
                  round % 2 ? "softer than the Hessian" : "not convex", vw / vv, norm);
            for (int i = 0; i < n; i++)
                v[i] = (v[i] - w[i] / (n * norm)) / sqrt(vv);
        }
    }
}

static void check_one(const struct one *o, struct seen *s)
{
    double g[4][3], h[MOST * MOST];
    tac_element_gradient(o->element, o->record, o->rest, (const double(*)[3])o->x, g);
    memset(h, 0x55, sizeof h); /* every entry must be written */
    tac_element_hessian(o->element, o->record, o->rest, (const double(*)[3])o->x, h);
    check_differences(o, g, h, s);
    check_rigid(o, g, h, s);
    check_impulse(o, g);
    check_convex(o, h);
    s->elements++;
}

static void look_at(const struct tac_scene *scene, const struct tac_element_list *list, double noise, bool plastic,
                    struct seen *s)
{
    for (size_t e = 0; e < list->count; e++) {
        const tac_lid *v = tac_element_stencil(list, e);
        struct one o = {list->element, tac_element_record(list, e), NULL, {{0}}};
        double rest[3];
        for (int i = 0; i < list->element->nodes; i++)
            for (int k = 0; k < 3; k++)
                o.x[i][k] = scene->mesh->x[3 * v[i] + k] + uniform(-noise, noise);
        if (plastic) { /* measured against a strain near that of the start */
            list->element->memory->strain(o.record, (const double(*)[3])o.x, rest);
            for (int k = 0; k < list->element->width; k++)
                rest[k] += uniform(-.02, .02);
            o.rest = rest;
        }
        check_one(&o, s);
    }
}

static void test_derivatives(const struct tac_scene *scene, const struct tac_element_set *set)
{
    CHECK(set->count == 7, "%d elements in the table", set->count);
    for (int k = 0; k < set->count; k++) {
        const struct tac_element_list *list = &set->list[k];
        struct seen s = {0};
        for (int trial = 0; trial < 4; trial++)
            look_at(scene, list, trial < 2 ? .04 : .01,
                    list->element->memory && list->element->memory->tick_plastic && trial % 2, &s);
        printf("%-11s %d: gradient off by %.2g m of stiffness %.3g N/m, Hessian by %.2g of it; sums %.2g, turned %.2g; "
               "energy changes by %.2g J when turned\n",
               list->element->keys.name, s.elements, s.gradient, s.largest_hessian, s.hessian, s.null, s.turn,
               s.energy_turned);
        CHECK(s.elements > 60 && s.largest_gradient > 0 && s.gradient < 1e-9 && s.hessian < 1e-8, "%s: derivatives",
              list->element->keys.name);
        CHECK(s.null < 32 * DBL_EPSILON && s.turn < 256 * DBL_EPSILON && s.energy_turned < 1e-11, "%s: rigid motions",
              list->element->keys.name);
    }
}

/* The largest row of an element's stiffness at x, by the Frobenius norms of its blocks: at least their norms. */
static double largest_row(const struct tac_element_list *list, size_t e, const double (*x)[3])
{
    const int nodes = list->element->nodes, n = 3 * nodes;
    double h[MOST * MOST], most = 0;
    tac_element_hessian(list->element, tac_element_record(list, e), NULL, x, h);
    for (int i = 0; i < nodes; i++) {
        double row = 0;
        for (int j = 0; j < nodes; j++) {
            double norm2 = 0;
            for (int c = 0; c < 9; c++)
                norm2 += pow(h[n * (3 * i + c / 3) + 3 * j + c % 3], 2);
            row += sqrt(norm2);
        }
        most = fmax(most, row);
    }
    return most;
}

/* At the start each element's stiffness is within the bound that periods follow from: for membranes within twice it
 * (docs/reference/elements.md tells why). */
static void test_bounds(const struct tac_scene *scene, const struct tac_element_set *set)
{
    for (int k = 0; k < set->count; k++)
        for (size_t e = 0; e < set->list[k].count; e++) {
            const struct tac_element_list *list = &set->list[k];
            const double times = list->element == &tac_element_cst ? 2 : 1;
            const tac_lid *v = tac_element_stencil(list, e);
            double x[4][3], bound = 0;
            for (int i = 0; i < list->element->nodes; i++) {
                memcpy(x[i], &scene->mesh->x[3 * v[i]], sizeof x[i]);
                bound = fmax(bound, list->bound[e].row[i]);
            }
            if (list->element == &tac_element_hinge && ((const struct tac_hinge *)list->record)[e].angle == 0)
                continue; /* flat at rest, and the start is not */
            const double row = largest_row(list, e, (const double(*)[3])x);
            CHECK(row > 0 && row <= times * bound * (1 + 1e-12), "%s: row %g, bound %g", list->element->keys.name, row,
                  bound);
        }
}

/* What the rate classes tick are the same elements: by energy, summed up exactly. */
static void test_classes(const struct tac_scene *scene, const struct tac_element_set *set)
{
    struct tac_elastic *elastic = make_elastic(scene);
    double x[4][3];
    for (int k = 0; k < set->count; k++) {
        struct tac_accum a = {0}, b = {0};
        size_t count = 0;
        for (size_t e = 0; e < set->list[k].count; e++) {
            const tac_lid *v = tac_element_stencil(&set->list[k], e);
            for (int i = 0; i < set->list[k].element->nodes; i++)
                for (int c = 0; c < 3; c++)
                    x[i][c] = 1.1 * scene->mesh->x[3 * v[i] + c];
            tac_accum_add(&a, tac_element_energy(set->list[k].element, tac_element_record(&set->list[k], e), NULL,
                                                 (const double(*)[3])x));
        }
        for (size_t c = 0; c < elastic->class_count; c++) {
            const struct tac_element_group *g = &elastic->rate[c].group[k];
            count += g->elastic.count;
            for (size_t e = 0; e < g->elastic.count; e++) {
                const tac_lid *v = tac_forces_stencil(&g->elastic, e);
                for (int i = 0; i < g->element->nodes; i++)
                    for (int n = 0; n < 3; n++)
                        x[i][n] = 1.1 * scene->mesh->x[3 * v[i] + n];
                tac_accum_add(&b, g->element->energy(tac_forces_record(&g->elastic, e), NULL, (const double(*)[3])x));
            }
        }
        CHECK(count == set->list[k].count && count > 0, "%s: %zu elements in classes, %zu in all",
              set->list[k].element->keys.name, count, set->list[k].count);
        CHECK(tac_accum_value(&a) == tac_accum_value(&b), "%s: energy", set->list[k].element->keys.name);
    }
    tac_elastic_destroy(&elastic);
}

/* Where an element has no direction to push along, nothing is a NaN, and the Hessian is 0 as the force is. */
static void test_collapsed(const struct tac_element_set *set)
{
    for (int k = 0; k < set->count; k++) {
        const struct tac_element_list *list = &set->list[k];
        const double x[4][3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
        double g[4][3], h[MOST * MOST];
        const int n = 3 * list->element->nodes;
        tac_element_gradient(list->element, list->record, NULL, x, g);
        tac_element_hessian(list->element, list->record, NULL, x, h);
        for (int i = 0; i < n * n; i++)
            CHECK(g[i % n / 3][i % 3] == 0 && isfinite(h[i]), "%s collapsed: %g, %g", list->element->keys.name,
                  g[i % n / 3][i % 3], h[i]);
    }
}

int main(void)
{
    static const struct tac_element_keys *const table[] = {&tac_element_volume.keys, NULL};
    struct tac_element_set set;
    ctx.added_elements = table;
    struct tac_scene *scene = read_scene(materials, bodies, "");
    if (tac_element_set_create(&ctx, scene, &set)) {
        printf("%s\n", ctx.error);
        return 1;
    }
    test_derivatives(scene, &set);
    test_bounds(scene, &set);
    test_classes(scene, &set);
    test_collapsed(&set);
    tac_element_set_destroy(&set);
    tac_scene_destroy(&scene);
    return check_result();
}
