/* Dampers against their definition: an impulse is minus damping times the gradient of the elastic potential whose rest
 * is the strain of the last tick (ACM 2009, section 6.1). Rigid motions, momenta, the branch of angles, four at a time
 * against one at a time, and periods at which a tick never adds energy, whatever has become of the shapes. */
#include "exact.h"

static const char materials[] =
    "'cst': {'density': 0.2, 'stretch': {'model': 'cst', 'stiffness': 300, 'poisson': 0.3, 'damping': 0.004},"
    " 'bend': {'model': 'hinge', 'stiffness': 0.02, 'damping': 0.03}},"
    "'limp': {'density': 0.1, 'stretch': {'model': 'cst', 'stiffness': 40, 'poisson': 0},"
    " 'bend': {'model': 'hinge', 'stiffness': 0.5, 'rest': 'flat', 'damping': 0.001}},"
    "'net': {'density': 0.3, 'stretch': {'model': 'spring', 'stiffness': 70, 'damping': 0.02}}";
static const char bodies[] =
    "{'name': 'ball', 'material': 'cst', 'mesh': {'kind': 'sphere', 'radius': 0.5, 'level': 1},"
    " 'position': [3, 1, 2], 'rotation': [20, 40, 70]},"
    "{'name': 'die', 'material': 'limp', 'mesh': {'kind': 'octahedron', 'edge': 0.6, 'level': 1}},"
    "{'name': 'sheet', 'material': 'cst', 'mesh': {'kind': 'grid', 'size': [1, 2], 'cells': [3, 4]},"
    " 'position': [0, 4, 0], 'rotation': [-30, 10, 0]},"
    "{'name': 'mesh', 'material': 'net', 'mesh': {'kind': 'grid', 'size': [1, 1], 'cells': [3, 3]},"
    " 'position': [0, -4, 0]},"
    "{'name': 'rope', 'material': 'net', 'mesh': {'kind': 'segments', 'from': [5, 5, 5], 'to': [6, 7, 8], 'cells': 9}}";

#define FOR_EACH_DAMPER(elastic, rate, e)                                                                              \
    for (struct tac_rate_class *rate = (elastic)->rate; rate < (elastic)->rate + (elastic)->class_count; rate++)       \
        for (size_t e = 0; e < rate->damper_count; e++)

/* Lets all dampers tick at x (V,3): they remember its strains; velocities and masses as told, or nobody kicked. */
static void tick_at(const struct tac_scene *scene, struct tac_elastic *elastic, const double *x, struct tac_vel *vel)
{
    const size_t n = (size_t)scene->mesh->vertex_count;
    struct tac_pos *pos = calloc(n, sizeof *pos);
    struct tac_vel *none = calloc(n, sizeof *none);
    for (size_t i = 0; i < n; i++)
        memcpy(pos[i].x, x + 3 * i, sizeof pos[i].x);
    for (size_t c = 0; c < elastic->class_count; c++)
        tac_damping_tick(&elastic->rate[c], pos, vel ? vel : none, NULL);
    free(pos);
    free(none);
}

static void impulse_of(const struct tac_rate_class *rate, size_t e, const double *x, double j[TAC_ELEMENT_NODES][3],
                       int *n)
{
    double y[TAC_ELEMENT_NODES][3];
    *n = gather(rate, TAC_KIND_DAMPING, e, x, y);
    tac_elastic_impulse(rate, TAC_KIND_DAMPING, e, (const double(*)[3])y, j);
}

/* Damping times the potential of x with the strain of `last` at rest. */
static real dissipation(const struct tac_material *m, int n, const real (*rest)[3], const real (*last)[3],
                        const real (*x)[3])
{
    real d[3], g[3], ee, areas, unused, other;
    if (n == 2) {
        side(d, rest, 0, 1);
        const real length = sqrtl(dot(d, d));
        side(d, x, 0, 1);
        const real now = sqrtl(dot(d, d));
        side(d, last, 0, 1);
        const real change = now - sqrtl(dot(d, d));
        return m->stretch_damping * m->stretch_stiffness / (2 * length) * change * change;
    }
    if (n == 3) {
        gram_change(x, last, g);
        return m->stretch_damping * cst_form(m, rest, g);
    }
    hinge_angle(rest, &ee, &areas);
    const real bend = hinge_angle(x, &unused, &other) - hinge_angle(last, &unused, &other);
    return m->bend_damping * m->bend_stiffness * 3 * ee / areas * bend * bend;
}

static void to_real(real out[TAC_ELEMENT_NODES][3], const double *x, const tac_lid *v, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            out[i][k] = x[3 * v[i] + k];
}

/* Off by how much, of what size; sums of impulses and of torques about vertex 0. */
static void check_damper(const struct tac_scene *scene, const struct tac_rate_class *rate, size_t e,
                         const double *before, const double *x, double *off, double *largest, double *force,
                         double *torque)
{
    double j[TAC_ELEMENT_NODES][3], sum[3] = {0}, twist[3] = {0}, scale = 0, reach = 0;
    real rest[TAC_ELEMENT_NODES][3], last[TAC_ELEMENT_NODES][3], y[TAC_ELEMENT_NODES][3];
    int n;
    impulse_of(rate, e, x, j, &n);
    const tac_lid *v = tac_elastic_stencil(rate, TAC_KIND_DAMPING, e, &n);
    const struct tac_material *m = material_of(scene, v[0]);
    to_real(rest, scene->mesh->x, v, n);
    to_real(last, before, v, n);
    to_real(y, x, v, n);
    for (int i = 0; i < n; i++) {
        double arm[3], c[3];
        tac_sub(arm, x + 3 * v[i], x + 3 * v[0]);
        tac_cross(c, arm, j[i]);
        for (int k = 0; k < 3; k++) {
            const real step = 1e-6L, middle = y[i][k];
            y[i][k] = middle + step;
            const real above = dissipation(m, n, (const real(*)[3])rest, (const real(*)[3])last, (const real(*)[3])y);
            y[i][k] = middle - step;
            const real below = dissipation(m, n, (const real(*)[3])rest, (const real(*)[3])last, (const real(*)[3])y);
            y[i][k] = middle;
            raise_to(off, fabs(j[i][k] + (double)((above - below) / (2 * step))));
            scale = fmax(scale, fabs(j[i][k]));
            reach = fmax(reach, fabs(arm[k]));
            sum[k] += j[i][k];
            twist[k] += c[k];
        }
    }
    raise_to(largest, scale);
    for (int k = 0; k < 3; k++) {
        raise_to(force, fabs(sum[k]) / scale);
        raise_to(torque, fabs(twist[k]) / scale / reach);
    }
}

static void shake(const struct tac_scene *scene, double noise, double *x)
{
    for (size_t i = 0; i < 3 * (size_t)scene->mesh->vertex_count; i++)
        x[i] = scene->mesh->x[i] + uniform(-noise, noise);
}

static void test_definition(const struct tac_scene *scene, struct tac_elastic *elastic)
{
    const size_t size = 3 * (size_t)scene->mesh->vertex_count;
    double *before = calloc(size, sizeof *before), *x = calloc(size, sizeof *x);
    double off[5] = {0}, largest[5] = {0}, force = 0, torque = 0;
    int count[5] = {0};
    for (int trial = 0; trial < 10; trial++) {
        shake(scene, .02, before);
        tick_at(scene, elastic, before, NULL);
        shake(scene, .02, x);
        FOR_EACH_DAMPER(elastic, rate, e)
        {
            int n;
            tac_elastic_stencil(rate, TAC_KIND_DAMPING, e, &n);
            check_damper(scene, rate, e, before, x, &off[n], &largest[n], &force, &torque);
            count[n]++;
        }
    }
    free(before);
    free(x);
    for (int n = 2; n <= 4; n++)
        CHECK(count[n] > 300 && off[n] < 1e-9 * largest[n], "%d dampers of %d vertices: off by %g of %g N s", count[n],
              n, off[n], largest[n]);
    CHECK(force < 8 * DBL_EPSILON && torque < 64 * DBL_EPSILON, "momentum: %g %g", force, torque);
}

/* Shifted by multiples of a coarse power of two: exactly nothing.  Turned: nothing but rounding. */
static void test_rigid(void)
{
    struct tac_scene *scene =
        read_scene(materials,
                   "{'name': 'net', 'material': 'net', 'mesh': {'kind': 'grid', 'size': [1, 1], 'cells': [4, 4]}},"
                   "{'name': 'roof', 'material': 'cst', 'mesh': {'kind': 'inline', 'vertices': [[0,0,0],[1,0,0],"
                   "[0.5,1,0.25],[0.25,-1,0.5]], 'triangles': [[0,1,2],[1,0,3]]}}",
                   "");
    struct tac_elastic *elastic = make_elastic(scene);
    const size_t count = (size_t)scene->mesh->vertex_count;
    double *x = calloc(3 * count, sizeof *x), j[TAC_ELEMENT_NODES][3], worst = 0, turn[3] = {.3, -1.1, .7}, r[9];
    int n, dampers = 0;
    for (size_t i = 0; i < 3 * count; i++)
        x[i] = scene->mesh->x[i] + ldexp(1, (int)(i % 3)); /* grid of quarters */
    FOR_EACH_DAMPER(elastic, rate, e)
    {
        impulse_of(rate, e, x, j, &n);
        for (int i = 0; i < 3 * n; i++)
            CHECK(j[i / 3][i % 3] == 0, "a translation is damped");
        dampers++;
    }
    tac_rotation(turn, r);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            x[3 * i + (size_t)k] = tac_dot(r + 3 * k, scene->mesh->x + 3 * i);
    FOR_EACH_DAMPER(elastic, rate, e)
    {
        impulse_of(rate, e, x, j, &n);
        for (int i = 0; i < 3 * n; i++)
            raise_to(&worst, fabs(j[i / 3][i % 3]));
    }
    CHECK(dampers == 56 + 3 && worst < 1e-14, "%d dampers, a rotation is damped by %g N s", dampers, worst);
    free(x);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

/* A uniform rate of strain over a membrane: no force inside, and tractions damping x C E' on the border. */
static void test_patch(void)
{
    struct tac_scene *scene = read_scene(
        "'m': {'density': 1, 'stretch': {'model': 'cst', 'stiffness': 50, 'poisson': 0.25, 'damping': 0.125}}",
        "{'name': 'b', 'material': 'm', 'mesh': {'kind': 'grid', 'size': [2, 3], 'cells': [4, 5]}}", "");
    struct tac_elastic *elastic = make_elastic(scene);
    const size_t count = (size_t)scene->mesh->vertex_count;
    double *x = calloc(3 * count, sizeof *x), *sum = calloc(3 * count, sizeof *sum), j[TAC_ELEMENT_NODES][3],
           inside = 0, pull = 0;
    const double strain = 1e-7, y = 50, nu = .25; /* along x; the lateral tractions balance nu times that */
    int n;
    memcpy(x, scene->mesh->x, 3 * count * sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[3 * i] *= 1 + strain;
    FOR_EACH_DAMPER(elastic, rate, e)
    {
        impulse_of(rate, e, x, j, &n);
        const tac_lid *v = tac_elastic_stencil(rate, TAC_KIND_DAMPING, e, &n);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                sum[3 * v[i] + k] += j[i][k];
    }
    for (size_t i = 0; i < count; i++) {
        const bool side_x = fabs(scene->mesh->x[3 * i]) > .99, side_z = fabs(scene->mesh->x[3 * i + 2]) > 1.49;
        for (int k = 0; k < 3 && !side_x && !side_z; k++)
            raise_to(&inside, fabs(sum[3 * i + (size_t)k]));
        pull += scene->mesh->x[3 * i] > .99 ? sum[3 * i] : 0;
    }
    const double want = -.125 * y / (1 - nu * nu) * strain * 3; /* over an edge of 3 m */
    CHECK(fabs(pull / want - 1) < 1e-6 && inside < 1e-9 * fabs(want), "border %g of %g N s, inside %g", pull, want,
          inside);
    free(x);
    free(sum);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

/* A hinge that goes past the fold, where its angle jumps from pi to -pi: the change counts, not the numbers. */
static void test_branch(void)
{
    struct tac_scene *scene =
        read_scene("'m': {'density': 1, 'bend': {'model': 'hinge', 'stiffness': 2, 'damping': 0.5}}",
                   "{'name': 'b', 'material': 'm', 'mesh': {'kind': 'inline', 'vertices': "
                   "[[0,0,0],[1,0,0],[0.5,1,0],[0.5,-1,0]], 'triangles': [[0,1,2],[1,0,3]]}}",
                   "");
    struct tac_elastic *elastic = make_elastic(scene);
    double x[2][12], j[TAC_ELEMENT_NODES][3];
    int n;
    for (int k = 0; k < 2; k++) { /* the second triangle, turned about the edge to pi -+ .01 */
        const double angle = TAC_PI + (k ? .01 : -.01);
        memcpy(x[k], scene->mesh->x, sizeof x[k]);
        x[k][3 * 3 + 1] = -cos(angle);
        x[k][3 * 3 + 2] = sin(angle);
    }
    tick_at(scene, elastic, x[0], NULL);
    struct tac_rate_class *rate = elastic->rate;
    while (rate->damper_count == 0)
        rate++;
    const double before = group_of(rate, TAC_KIND_HINGE)->last.value[0];
    impulse_of(rate, 0, x[1], j, &n);
    tick_at(scene, elastic, x[1], NULL);
    const double after = group_of(rate, TAC_KIND_HINGE)->last.value[0];
    /* 2 k' damping x .02 rad over a height of 1 m; k' = 2 x 3 x 1 / (1/2 + 1/2) */
    const double size = sqrt(tac_dot(j[3], j[3]));
    CHECK(fabs(before) > 3.1 && fabs(after) > 3.1 && before * after < 0, "angles %g and %g", before, after);
    CHECK(fabs(size - 2 * 6 * .5 * .02) < 1e-12, "impulse %.17g N s", size);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

/* The loops give the bits of one damper after the other, velocities and what is remembered alike. */
static void test_four(const struct tac_scene *scene, struct tac_elastic *elastic)
{
    const size_t count = (size_t)scene->mesh->vertex_count;
    double *x = calloc(3 * count, sizeof *x);
    struct tac_vel *vel = calloc(count, sizeof *vel), *want = calloc(count, sizeof *want);
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++)
            vel[i].v[k] = uniform(-1, 1);
        vel[i].w = 1 / scene->mesh->mass[i];
    }
    memcpy(want, vel, count * sizeof *vel);
    shake(scene, .05, x);
    tick_at(scene, elastic, x, NULL);
    shake(scene, .05, x);
    FOR_EACH_DAMPER(elastic, rate, e)
    {
        double j[TAC_ELEMENT_NODES][3];
        int n;
        impulse_of(rate, e, x, j, &n);
        const tac_lid *v = tac_elastic_stencil(rate, TAC_KIND_DAMPING, e, &n);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                want[v[i]].v[k] += want[v[i]].w * j[i][k];
    }
    tick_at(scene, elastic, x, vel);
    CHECK(memcmp(vel, want, count * sizeof *vel) == 0, "the same bits");
    FOR_EACH_DAMPER(elastic, rate, e) /* nothing has moved since the tick: what is remembered is what is */
    {
        double j[TAC_ELEMENT_NODES][3];
        int n;
        impulse_of(rate, e, x, j, &n);
        for (int i = 0; i < 3 * n; i++)
            CHECK(j[i / 3][i % 3] == 0, "the same strains");
    }
    free(x);
    free(vel);
    free(want);
}

/* ---- periods ---- */

/* What one tick of a damper changes of the kinetic energy, if the strain came from velocities u over one period. */
static double gain(const struct tac_scene *scene, const struct tac_rate_class *rate, size_t e, const double *x,
                   const double *u)
{
    double j[TAC_ELEMENT_NODES][3], sum = 0;
    int n;
    impulse_of(rate, e, x, j, &n);
    const tac_lid *v = tac_elastic_stencil(rate, TAC_KIND_DAMPING, e, &n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            sum += j[i][k] * (u[3 * v[i] + k] + .5 * j[i][k] / scene->mesh->mass[v[i]]);
    return sum;
}

/* However far shapes have been squeezed or stretched, at the coarsest clocks: no tick adds energy.  Without the limit
 * of kernel_body.h some would, so this asks something. */
static void test_squeezed(void)
{
    /* Elements that share no vertex: each has a period of its own, and all of what that allows. */
    static const char lone[] =
        "{'name': 'a', 'material': 'cst', 'mesh': {'kind': 'inline', 'vertices': [[0,0,0],[1,0,0],[0.25,1,0]],"
        " 'triangles': [[0,1,2]]}},"
        "{'name': 'b', 'material': 'cst', 'mesh': {'kind': 'inline', 'vertices': [[0,0,0],[0.125,0,0],[0,1,0.5]],"
        " 'triangles': [[0,1,2]]}, 'position': [4, 4, 4], 'rotation': [40, 50, 60]},"
        "{'name': 'c', 'material': 'limp', 'mesh': {'kind': 'inline', 'vertices': "
        "[[0,0,0],[1,0,0],[0.5,1,0],[0.5,-1,1]],"
        " 'triangles': [[0,1,2],[1,0,3]]}, 'position': [0, 4, 4]},"
        "{'name': 'd', 'material': 'net', 'mesh': {'kind': 'segments', 'from': [4,0,0], 'to': [5,2,1], 'cells': 1}}";
    int wrong = 0, without = 0, ticks = 0;
    struct tac_scene *scene = read_scene(
        "'cst': {'density': 0.2, 'stretch': {'model': 'cst', 'stiffness': 300, 'poisson': 0.3, 'damping': 0.4}},"
        "'limp': {'density': 0.1, 'bend': {'model': 'hinge', 'stiffness': 0.5, 'rest': 'flat', 'damping': 0.7}},"
        "'net': {'density': 0.3, 'stretch': {'model': 'spring', 'stiffness': 70, 'damping': 0.2}}",
        lone, ", 'clocks': {'elastic_safety': 1, 'mode': 'free'}");
    struct tac_elastic *elastic = make_elastic(scene);
    const size_t size = 3 * (size_t)scene->mesh->vertex_count;
    double *x = calloc(size, sizeof *x), *u = calloc(size, sizeof *u), *y = calloc(size, sizeof *y);
    for (int trial = 0; trial < 1000; trial++) {
        const double scale[3] = {uniform(.02, 4), uniform(.02, 4), uniform(.02, 4)};
        for (size_t i = 0; i < size; i++) {
            x[i] = scale[i % 3] * (scene->mesh->x[i] + uniform(-.02, .02));
            u[i] = uniform(-1e-6, 1e-6);
        }
        tick_at(scene, elastic, x, NULL);
        FOR_EACH_DAMPER(elastic, rate, e)
        {
            for (size_t i = 0; i < size; i++)
                y[i] = x[i] + rate->h_s * u[i];
            const double with = gain(scene, rate, e, y, u), tiny = 1e-24;
            struct tac_rate_class free_rate = *rate;
            struct tac_cst_damper c;
            struct tac_hinge_damper g;
            struct tac_forces *hinges = &free_rate.group[2].damper, *triangles = &free_rate.group[1].damper;
            const size_t csts = triangles->count, springs = free_rate.group[0].damper.count;
            wrong += with > tiny;
            ticks++;
            if (e >= springs + csts) {
                g = ((struct tac_hinge_damper *)hinges->record)[e - springs - csts];
                g.most = INFINITY;
                hinges->record = &g - (e - springs - csts);
            } else if (e >= springs) {
                c = ((struct tac_cst_damper *)triangles->record)[e - springs];
                c.most = INFINITY;
                triangles->record = &c - (e - springs);
            }
            without += gain(scene, &free_rate, e, y, u) > tiny;
        }
    }
    CHECK(wrong == 0 && without > 100, "%d of %d ticks add energy; %d would without the limit", wrong, ticks, without);
    free(x);
    free(u);
    free(y);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

/* The fastest decay of all dampers together at the rest shape, 1/s: power iteration on M^-1/2 C M^-1/2, from below. */
static double fastest_decay(const struct tac_scene *scene, struct tac_elastic *elastic)
{
    const size_t size = 3 * (size_t)scene->mesh->vertex_count;
    double *u = calloc(size, sizeof *u), *x = calloc(size, sizeof *x), *next = calloc(size, sizeof *next), lambda = 0;
    const double step = 1e-7;
    for (size_t i = 0; i < size; i++)
        u[i] = uniform(-1, 1);
    for (int round = 0; round < 300; round++) {
        double norm = 0;
        for (size_t i = 0; i < size; i++)
            norm += u[i] * u[i];
        for (size_t i = 0; i < size; i++) {
            u[i] /= sqrt(norm);
            x[i] = scene->mesh->x[i] + step * u[i] / sqrt(scene->mesh->mass[i / 3]);
            next[i] = 0;
        }
        FOR_EACH_DAMPER(elastic, rate, e) /* which remember the start */
        {
            double j[TAC_ELEMENT_NODES][3];
            int n;
            impulse_of(rate, e, x, j, &n);
            const tac_lid *v = tac_elastic_stencil(rate, TAC_KIND_DAMPING, e, &n);
            for (int i = 0; i < n; i++)
                for (int k = 0; k < 3; k++)
                    next[3 * v[i] + k] -= j[i][k] / step / sqrt(scene->mesh->mass[v[i]]);
        }
        lambda = 0;
        for (size_t i = 0; i < size; i++)
            lambda += u[i] * next[i];
        memcpy(u, next, size * sizeof *u);
    }
    free(u);
    free(x);
    free(next);
    return lambda;
}

static void test_periods(const char *mode, const char *body, double damping, double safety)
{
    char text[512], rest[128], world[512];
    snprintf(text, sizeof text,
             "'cst': {'density': 0.2, 'stretch': {'model': 'cst', 'stiffness': 300, 'poisson': 0.3, 'damping': %g}, "
             "'bend': {'model': 'hinge', 'stiffness': 0.02, 'damping': %g}},"
             "'net': {'density': 0.3, 'stretch': {'model': 'spring', 'stiffness': 70, 'damping': %g}}",
             damping, damping, damping);
    snprintf(rest, sizeof rest, ", 'clocks': {'mode': '%s', 'elastic_safety': %g}", mode, safety);
    snprintf(world, sizeof world, "{'name': 'a', 'material': %s}", body);
    struct tac_scene *scene = read_scene(text, world, rest);
    struct tac_elastic *elastic = make_elastic(scene);
    double shortest = INFINITY, longest = 0;
    FOR_EACH_DAMPER(elastic, rate, e)
    {
        int n;
        const tac_lid *v = tac_elastic_stencil(rate, TAC_KIND_DAMPING, e, &n);
        for (int i = 0; i < n; i++)
            CHECK(rate->h_s <= 2 * safety / elastic->omega[v[i]], "no slower than elastic forces");
        shortest = fmin(shortest, rate->h_s);
        longest = fmax(longest, rate->h_s);
    }
    const double decay = fastest_decay(scene, elastic), most = fmin(1, 5 * safety);
    const double both = fmin(2 * safety / elastic->omega_max, most / decay);
    CHECK(shortest * decay <= most && shortest >= both / 16,
          "%s %s, damping %g s: a tick of %g s takes %g of the fastest motion; bound %g s", mode, body, damping,
          shortest, shortest * decay, both);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
}

/* What no period can hold is refused, by name. */
static void test_refused(void)
{
    struct tac_scene *scene = read_scene(
        "'m': {'density': 1, 'stretch': {'model': 'spring', 'stiffness': 1000, 'damping': 1e9}}",
        "{'name': 'tar', 'material': 'm', 'mesh': {'kind': 'segments', 'from': [0,0,0], 'to': [1,0,0], 'cells': 3}}",
        "");
    struct tac_elastic *elastic = NULL;
    struct tac_ctx own = ctx;
    own.error[0] = '\0';
    CHECK(tac_elastic_create(&own, scene, &elastic) == TAC_ERR_INPUT && elastic == NULL, "refused");
    CHECK(strstr(own.error, "the damping of the spring of edge 0 of body `tar`") && strstr(own.error, "2^12 quanta"),
          "says: %s", own.error);
    tac_scene_destroy(&scene);
}

int main(void)
{
    struct tac_scene *scene = read_scene(materials, bodies, "");
    struct tac_elastic *elastic = make_elastic(scene);
    test_definition(scene, elastic);
    test_four(scene, elastic);
    tac_elastic_destroy(&elastic);
    tac_scene_destroy(&scene);
    test_rigid();
    test_patch();
    test_branch();
    test_squeezed();
    for (int k = 0; k < 8; k++) {
        static const char *const shape[2] = {"'cst', 'mesh': {'kind': 'grid', 'size': [1, 1.5], 'cells': [4, 5]}",
                                             "'net', 'mesh': {'kind': 'grid', 'size': [1, 0.5], 'cells': [3, 3]}"};
        static const double damping[2] = {1e-4, .3}, safety[2] = {.1, .9};
        test_periods(k & 1 ? "free" : "nested", shape[k >> 1 & 1], damping[k >> 2 & 1], safety[(k >> 1 ^ k) & 1]);
    }
    test_refused();
    return check_result();
}
