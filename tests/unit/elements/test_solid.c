/* test_solid.c: solids of tetrahedra by themselves: the four kernels side by side against the one; uniform strain gives
 * the stress of the closed form in every tetrahedron and no force on vertices inside (patch test); rigid motions give
 * no force; small volumes and inverted tetrahedra: derivatives by differences, no NaN, forces that restore the volume;
 * the stiffness bound; the logarithm.  If it failed, solids would have the wrong stiffness, turn by themselves, or end
 * in NaN where they are crushed. */
#include "elements/solid.h"
#include "elements/solid_kernels.h"
#include "exact.h"

#define YOUNGS 300.
#define POISSON .3

static const char materials[] =
    "'neo': {'density': 3, 'solid': {'model': 'neo-hookean', 'youngs': 300, 'poisson': 0.3}},"
    "'stvk': {'density': 3, 'solid': {'model': 'stvk', 'youngs': 300, 'poisson': 0.3}},"
    "'corotated': {'density': 3, 'solid': {'model': 'corotated', 'youngs': 300, 'poisson': 0.3}}";
static const char bodies[] =
    "{'name': 'a', 'material': 'neo', 'mesh': {'kind': 'sphere', 'radius': 1, 'level': 2, 'fill': 'tets'}},"
    "{'name': 'b', 'material': 'stvk', 'mesh': {'kind': 'box', 'size': [1, 2, 1.5], 'cells': [3, 4, 3],"
    " 'fill': 'tets'}, 'position': [4, 0, 0], 'rotation': [10, 20, 30]},"
    "{'name': 'c', 'material': 'corotated', 'mesh': {'kind': 'box', 'size': [1, 2, 1.5], 'cells': [3, 4, 3],"
    " 'fill': 'tets'}, 'position': [-4, 0, 0], 'rotation': [40, -20, 30]}";

static double largest(const double *a, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(a[i]));
    return most;
}

static void positions(const struct tac_element_list *list, size_t e, const double *all, double x[4][3])
{
    for (int i = 0; i < 4; i++)
        memcpy(x[i], all + 3 * (size_t)tac_element_stencil(list, e)[i], sizeof x[i]);
}

/* The places of all vertices after the map x -> A x. */
static double *mapped(const struct tac_scene *scene, const double a[9])
{
    const size_t n = (size_t)scene->mesh->vertex_count;
    double *x = malloc(3 * n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++)
            x[3 * i + k] = tac_dot(a + 3 * k, scene->mesh->x + 3 * i);
    return x;
}

/* ---- closed forms for F = Q diag(s): Cauchy stress in the turned frame, Pa ---- */

static void closed_form(enum tac_solid_model model, const double s[3], double stress[3])
{
    const double mu = YOUNGS / (2 * (1 + POISSON)), lambda = YOUNGS * POISSON / ((1 + POISSON) * (1 - 2 * POISSON));
    const double volume = s[0] * s[1] * s[2], trace = s[0] + s[1] + s[2] - 3;
    const double e[3] = {(s[0] * s[0] - 1) / 2, (s[1] * s[1] - 1) / 2, (s[2] * s[2] - 1) / 2};
    for (int k = 0; k < 3; k++) {
        if (model == TAC_SOLID_NEO_HOOKEAN)
            stress[k] = (mu * (s[k] * s[k] - 1) + lambda * log(volume)) / volume;
        else if (model == TAC_SOLID_STVK)
            stress[k] = s[k] * s[k] * (2 * mu * e[k] + lambda * (e[0] + e[1] + e[2])) / volume;
        else
            stress[k] = s[k] * (2 * mu * (s[k] - 1) + lambda * trace) / volume;
    }
}

/* Uniform strain: the same stress everywhere, that of the closed form, and no force on inner vertices. */
static void test_patch(const struct tac_scene *scene, const struct tac_element_list *list, enum tac_solid_model model)
{
    static const double stretch[3] = {1.2, .9, 1.05}, turn[3] = {.7, -1.9, .4};
    double q[9], a[9], wanted[3], most = 0, off = 0, force = 0;
    tac_rotation(turn, q);
    for (int i = 0; i < 9; i++)
        a[i] = q[i] * stretch[i % 3];
    closed_form(model, stretch, wanted);
    double *x = mapped(scene, a), *sum = calloc(3 * (size_t)scene->mesh->vertex_count, sizeof *sum);
    uint8_t *surface = calloc((size_t)scene->mesh->vertex_count, 1);
    for (size_t k = 0; k < 3 * (size_t)scene->mesh->triangle_count; k++)
        surface[scene->mesh->triangle[k]] = 1;
    for (size_t e = 0; e < list->count; e++) {
        double at[4][3], g[4][3], strain[3], stress[6];
        positions(list, e, x, at);
        CHECK(tac_solid_state(list->element, tac_element_record(list, e), (const double(*)[3])at, strain, stress),
              "no volume");
        const double s[3][3] = {
            {stress[0], stress[5], stress[4]}, {stress[5], stress[1], stress[3]}, {stress[4], stress[3], stress[2]}};
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) { /* Q^T stress Q is diagonal */
                double in = 0;
                for (int m = 0; m < 3; m++)
                    for (int n = 0; n < 3; n++)
                        in += q[3 * m + i] * s[m][n] * q[3 * n + k];
                off = fmax(off, fabs(in - (i == k ? wanted[i] : 0)));
            }
        const double green[3] = {(1.2 * 1.2 - 1) / 2, (1.05 * 1.05 - 1) / 2, (.9 * .9 - 1) / 2};
        for (int k = 0; k < 3; k++)
            CHECK(fabs(strain[k] - green[k]) < 1e-13, "principal strain %.17g, not %.17g", strain[k], green[k]);
        tac_element_gradient(list->element, tac_element_record(list, e), NULL, (const double(*)[3])at, g);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) {
                sum[3 * tac_element_stencil(list, e)[i] + k] += g[i][k];
                most = fmax(most, fabs(g[i][k]));
            }
    }
    int inner = 0;
    for (tac_lid i = 0; i < scene->mesh->vertex_count; i++)
        if (!surface[i]) {
            force = fmax(force, largest(sum + 3 * i, 3));
            inner++;
        }
    printf("%-11s %zu tetrahedra: stress off by %.2g of %.4g Pa, force inside %.2g of %.3g N (%d vertices)\n",
           list->element->keys.name, list->count, off, wanted[0], force, most, inner);
    CHECK(off < 1e-10 * fabs(wanted[0]) && force < 1e-12 * most && inner > 10, "%s: patch test",
          list->element->keys.name);
    free(x);
    free(sum);
    free(surface);
}

/* A solid that is turned and shifted far has no force, no energy and no stress. */
static void test_rigid(const struct tac_scene *scene, const struct tac_element_list *list)
{
    static const double turn[3] = {-2.1, 1.3, .8};
    double q[9];
    tac_rotation(turn, q);
    double *x = mapped(scene, q);
    for (size_t e = 0; e < list->count; e++) {
        double at[4][3], g[4][3], h[144];
        positions(list, e, x, at);
        tac_element_gradient(list->element, tac_element_record(list, e), NULL, (const double(*)[3])at, g);
        tac_element_hessian(list->element, tac_element_record(list, e), NULL, (const double(*)[3])at, h);
        const double energy =
            tac_element_energy(list->element, tac_element_record(list, e), NULL, (const double(*)[3])at);
        CHECK(largest(g[0], 12) < 1e-13 * largest(h, 144) && fabs(energy) < 1e-25 * YOUNGS,
              "%s: force %g N and energy %g J of a solid that was only turned", list->element->keys.name,
              largest(g[0], 12), energy);
    }
    free(x);
}

/* Four side by side give the bits of one, wherever the vertices are; rests of fewer than four too. */
static void test_fours(const struct tac_scene *scene, const struct tac_element_list *list)
{
    const size_t n = (size_t)scene->mesh->vertex_count;
    struct tac_pos *pos = NULL;
    struct tac_vel *one = NULL, *four = NULL;
    if (tac_alloc(&ctx, n, sizeof *pos, &pos) || tac_alloc(&ctx, n, sizeof *one, &one) ||
        tac_alloc(&ctx, n, sizeof *four, &four))
        exit(1);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 3; k++)
            pos[i].x[k] = scene->mesh->x[3 * i + k] + uniform(-.4, .4); /* some are inverted */
        one[i].w = four[i].w = 1 / scene->mesh->mass[i];
    }
    for (size_t count = list->count; count + 4 > list->count; count--) {
        struct tac_book a = {0, 0}, b = {0, 0};
        tac_element_tick_each(list->element, list->record, count, .01, pos, one, &a);
        list->element->tick(list->record, count, .01, pos, four, &b);
        CHECK(memcmp(one, four, n * sizeof *one) == 0, "%s: four side by side give other bits",
              list->element->keys.name);
        CHECK(isfinite(a.work) && fabs(a.work - b.work) <= 1e-12 * b.absolute, "%s: works %g, %g",
              list->element->keys.name, a.work, b.work);
    }
    free(pos);
    free(one);
    free(four);
}

/* One tetrahedron at F: differences of energy against the gradient and of the gradient against the Hessian. */
static void differences(const struct tac_element_list *list, const double x[4][3], double *gradient, double *hessian)
{
    const void *record = list->record;
    const double step = 2e-5;
    double g[4][3], h[144], size = 0;
    tac_element_gradient(list->element, record, NULL, x, g);
    tac_element_hessian(list->element, record, NULL, x, h);
    size = largest(h, 144);
    *gradient = *hessian = 0;
    for (int i = 0; i < 12; i++) {
        double up[4][3], down[4][3], gu[4][3], gd[4][3];
        memcpy(up, x, sizeof up);
        memcpy(down, x, sizeof down);
        up[i / 3][i % 3] += step;
        down[i / 3][i % 3] -= step;
        const double slope = (tac_element_energy(list->element, record, NULL, (const double(*)[3])up) -
                              tac_element_energy(list->element, record, NULL, (const double(*)[3])down)) /
                             (2 * step);
        *gradient = fmax(*gradient, fabs(slope - g[i / 3][i % 3]) / size);
        tac_element_gradient(list->element, record, NULL, (const double(*)[3])up, gu);
        tac_element_gradient(list->element, record, NULL, (const double(*)[3])down, gd);
        for (int k = 0; k < 12; k++)
            *hessian = fmax(*hessian, fabs((gu[k / 3][k % 3] - gd[k / 3][k % 3]) / (2 * step) - h[12 * k + i]) / size);
    }
}

/* Volumes from that at rest over 0 to minus it: derivatives hold, nothing is NaN, and a model that can hold a volume
 * pushes back to it. */
static void test_small(const struct tac_scene *scene, const struct tac_element_list *list, enum tac_solid_model model)
{
    double worst[2] = {0, 0}, before = 0;
    for (int n = 0; n <= 80; n++) {
        const double squeeze = 1 - n / 40. + 1e-4; /* not at 0, where the corotated model jumps in the end */
        double x[4][3], strain[3], stress[6], off[2], energy;
        positions(list, 0, scene->mesh->x, x);
        for (int i = 0; i < 4; i++) { /* flat along an odd direction, and a little sheared */
            static const double normal[3] = {.36, .48, .8};
            const double along = tac_dot(normal, x[i]);
            for (int k = 0; k < 3; k++)
                x[i][k] += (squeeze - 1) * along * normal[k] + (k == 0 ? .1 * x[i][1] : 0);
        }
        differences(list, (const double(*)[3])x, &off[0], &off[1]);
        if (model != TAC_SOLID_COROTATED || squeeze > -.9) /* at -1 two singular values cancel */
            for (int k = 0; k < 2; k++)
                worst[k] = fmax(worst[k], off[k]);
        energy = tac_element_energy(list->element, list->record, NULL, (const double(*)[3])x);
        tac_solid_state(list->element, list->record, (const double(*)[3])x, strain, stress);
        CHECK(isfinite(off[0]) && isfinite(off[1]) && isfinite(energy) && isfinite(largest(stress, 6)),
              "%s: not a number at squeeze %g", list->element->keys.name, squeeze);
        if (n > 8 && model != TAC_SOLID_STVK)
            CHECK(energy > before, "%s: squeezing to %g takes no energy", list->element->keys.name, squeeze);
        before = energy;
    }
    printf("%-11s crushed and inverted: gradient off by %.2g m, Hessian by %.2g\n", list->element->keys.name, worst[0],
           worst[1]);
    CHECK(worst[0] < 1e-8 && worst[1] < 1e-6, "%s: derivatives where it is crushed", list->element->keys.name);
}

/* The neo-Hookean solid of implicit steps: the same as the other one while volumes are not small; derivatives hold down
 * to a tenth of the volume; without volume its energy is infinite; what stands for the Hessian is positive and no
 * softer. */
static void test_whole(const struct tac_scene *scene, const struct tac_element_list *list)
{
    struct tac_element_list whole = *list;
    double worst[2] = {0, 0}, soft = 0;
    whole.element = &tac_element_neo_hookean_whole;
    test_patch(scene, &whole, TAC_SOLID_NEO_HOOKEAN);
    test_rigid(scene, &whole);
    for (int n = 0; n < 46; n++) {
        double x[4][3], off[2], h[144], c[144];
        positions(list, 0, scene->mesh->x, x);
        for (int i = 0; i < 4; i++) {
            x[i][1] *= 1 - n / 50.;
            x[i][0] += .1 * x[i][2];
        }
        const double energy = whole.element->energy(list->record, NULL, (const double(*)[3])x);
        const double other = tac_element_energy(list->element, list->record, NULL, (const double(*)[3])x);
        CHECK(n > 35 ? energy > other : energy == other, "energies %.17g and %.17g at volume %g", energy, other,
              1 - n / 50.);
        differences(&whole, (const double(*)[3])x, &off[0], &off[1]);
        for (int k = 0; k < 2; k++)
            worst[k] = fmax(worst[k], off[k]);
        tac_element_hessian(whole.element, list->record, NULL, (const double(*)[3])x, h);
        whole.element->convex(list->record, NULL, (const double(*)[3])x, c);
        for (int round = 0; round < 50; round++) {
            double v[12], vc = 0, vh = 0;
            for (int i = 0; i < 12; i++)
                v[i] = uniform(-1, 1);
            for (int i = 0; i < 144; i++) {
                vc += v[i / 12] * c[i] * v[i % 12];
                vh += v[i / 12] * h[i] * v[i % 12];
            }
            soft = fmax(soft, fmax(-vc, vh - vc) / largest(h, 144));
        }
    }
    double flat[4][3];
    positions(list, 0, scene->mesh->x, flat);
    for (int i = 0; i < 4; i++)
        flat[i][1] = 0;
    CHECK(tac_element_energy(whole.element, list->record, NULL, (const double(*)[3])flat) == INFINITY, "flat");
    printf("whole       crushed: gradient off by %.2g m, Hessian by %.2g; softer than it by %.2g\n", worst[0], worst[1],
           soft);
    CHECK(worst[0] < 1e-8 && worst[1] < 1e-5 && soft < 1e-13, "derivatives of the neo-Hookean solid of implicit steps");
}

/* All nodes at one place, on a line, mirrored: no NaN. */
static void test_collapsed(const struct tac_element_list *list)
{
    static const double shapes[4][4][3] = {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
                                           {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}},
                                           {{0, 0, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}},
                                           {{0, 0, 0}, {1e9, 0, 0}, {0, 1e9, 0}, {0, 0, 1e-9}}};
    for (int n = 0; n < 4; n++) {
        double g[4][3], h[144], strain[3], stress[6];
        tac_element_gradient(list->element, list->record, NULL, shapes[n], g);
        tac_element_hessian(list->element, list->record, NULL, shapes[n], h);
        tac_solid_state(list->element, list->record, shapes[n], strain, stress);
        double sum = tac_element_energy(list->element, list->record, NULL, shapes[n]) + largest(stress, 6);
        for (int i = 0; i < 12; i++)
            sum += g[i / 3][i % 3];
        for (int i = 0; i < 144; i++)
            sum += h[i];
        CHECK(isfinite(sum), "%s: not a number at shape %d", list->element->keys.name, n);
    }
}

static void test_log(void)
{
    double worst = 0;
    for (int n = 0; n < 20000; n++) {
        const double x = n < 10000 ? uniform(.3, 3) : .3 * exp(uniform(0, 700));
        const tac_four all = tac_four_log((tac_four){x, .3, 1, 1e300});
        worst = fmax(worst, fabs(tac_one_log(x) - log(x)) / fmax(fabs(log(x)), 1e-300));
        CHECK(all[0] == tac_one_log(x) && all[2] == 0, "log(%.17g): other bits", x);
    }
    printf("logarithm off by %.2g of it\n", worst);
    CHECK(worst < 8 * DBL_EPSILON, "the logarithm");
    CHECK(fabs(TAC_SOLID_LOG_SMALL - log(TAC_SOLID_SMALL)) < 4 * DBL_EPSILON, "the logarithm of the small volume");
}

/* Masses: density times volume, a quarter to each corner; all of it is there. */
static void test_mass(const struct tac_scene *scene)
{
    double box = 0, ball = 0;
    for (tac_lid i = 0; i < scene->mesh->vertex_count; i++)
        *(scene->mesh->vertex_body[i] == 0 ? &ball : &box) += scene->mesh->mass[i];
    CHECK(fabs(box - 2 * 3 * 3.) < 1e-12, "the boxes weigh %.17g kg, not 18", box);
    CHECK(ball > .9 * 4 * TAC_PI && ball < 4 * TAC_PI, "the ball weighs %g kg, of at most %g", ball, 4 * TAC_PI);
}

int main(void)
{
    static const struct {
        const struct tac_element *element;
        enum tac_solid_model model;
    } kind[3] = {{&tac_element_neo_hookean, TAC_SOLID_NEO_HOOKEAN},
                 {&tac_element_stvk, TAC_SOLID_STVK},
                 {&tac_element_corotated, TAC_SOLID_COROTATED}};
    struct tac_element_set set;
    struct tac_scene *scene = read_scene(materials, bodies, "");
    if (tac_element_set_create(&ctx, scene, &set)) {
        printf("%s\n", ctx.error);
        return 1;
    }
    int seen = 0;
    for (int l = 0; l < set.count; l++)
        for (int k = 0; k < 3; k++)
            if (set.list[l].element == kind[k].element) {
                CHECK(tac_element_is_solid(set.list[l].element) && set.list[l].count > 100, "elements");
                test_patch(scene, &set.list[l], kind[k].model);
                test_rigid(scene, &set.list[l]);
                test_fours(scene, &set.list[l]);
                test_small(scene, &set.list[l], kind[k].model);
                test_collapsed(&set.list[l]);
                if (k == 0)
                    test_whole(scene, &set.list[l]);
                seen++;
            } else {
                CHECK(!tac_element_is_solid(&tac_element_spring), "a spring is no solid");
            }
    CHECK(seen == 3, "%d models", seen);
    test_log();
    test_mass(scene);
    tac_element_set_destroy(&set);
    tac_scene_destroy(&scene);
    return check_result();
}
