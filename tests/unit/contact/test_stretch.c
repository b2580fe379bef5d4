/* The limit of triangles' principal stretch: the kernel against its characteristic polynomial in double-double
 * arithmetic, its gradients against differences, also where both stretches are equal; how fast it may change; momenta;
 * the layer stacks that the model makes.  If it failed, triangles would be stretched beyond their limit, or energy
 * made. */
#include "contact/model.h"
#include "geometry/sweep.h"
#include "unit/elements/support.h"
#include "unit/geometry/reference.h"

#define EPS (DBL_EPSILON / 2)

/* ---- random triangles ---- */

static double between(uint64_t *seed, double low, double high)
{
    *seed = tac_hash64(*seed, 77);
    return low + (high - low) * ldexp((double)(*seed >> 11), -53);
}

/* A unit vector, and one across it. */
static void frame(uint64_t *seed, double a[3], double b[3])
{
    double c[3], length;
    do {
        for (int k = 0; k < 3; k++) {
            a[k] = between(seed, -1, 1);
            c[k] = between(seed, -1, 1);
        }
        tac_cross(b, a, c);
    } while (!(tac_dot(a, a) > .1 && tac_dot(b, b) > .01));
    length = sqrt(tac_dot(a, a));
    for (int k = 0; k < 3; k++)
        a[k] /= length;
    length = sqrt(tac_dot(b, b));
    for (int k = 0; k < 3; k++)
        b[k] /= length;
}

enum shape { PLAIN, SLENDER, ALIKE, NEARLY_ALIKE, CRUMPLED, SHAPES };
static const char *const shape_name[SHAPES] = {"plain", "slender", "alike", "nearly alike", "crumpled"};

/* A triangle at rest with its longest edge from (0, 0) to (1, 0), in x[3], and somewhere in space stretched by s[0],
 * s[1] along two directions of its plane that are `turned`. */
static void make(uint64_t n, enum shape shape, double x[4][3], double s[2])
{
    uint64_t seed = tac_hash64(n, 100 + (uint64_t)shape);
    double a[3], b[3], along, height;
    do {
        along = between(&seed, 0, 1);
        height = shape == SLENDER ? ldexp(1, -(int)between(&seed, 4, 40)) : between(&seed, .05, .87);
    } while (along * along + height * height > 1 || (1 - along) * (1 - along) + height * height > 1);
    s[0] = between(&seed, .3, 2);
    s[1] = between(&seed, .3, 2);
    if (shape == ALIKE)
        s[1] = s[0];
    else if (shape == NEARLY_ALIKE)
        s[1] = s[0] * (1 + ldexp(between(&seed, -1, 1), -(int)between(&seed, 10, 52)));
    else if (shape == CRUMPLED)
        s[1] = ldexp(1, -(int)between(&seed, 5, 60));
    frame(&seed, a, b);
    double turned[2] = {between(&seed, -1, 1), between(&seed, .01, 1)};
    const double size = sqrt(turned[0] * turned[0] + turned[1] * turned[1]), cos = turned[0] / size,
                 sin = turned[1] / size;
    const double at[3][2] = {{0, 0}, {1, 0}, {along, height}};
    for (int i = 0; i < 3; i++) {
        const double u = s[0] * (cos * at[i][0] + sin * at[i][1]), v = s[1] * (cos * at[i][1] - sin * at[i][0]);
        for (int k = 0; k < 3; k++)
            x[i][k] = u * a[k] + v * b[k] + (double)k;
    }
    x[3][0] = along;
    x[3][1] = height;
    x[3][2] = height;
}

/* ---- the reference ---- */

/* Both singular values of [p q], larger first, from the trace and the determinant of its matrix of squares. */
static void reference(const double x[4][3], dd sigma[2])
{
    dd e1[3], e2[3], p[3], q[3], n[3];
    dd_vector(e1, x[1], x[0]);
    dd_vector(e2, x[2], x[0]);
    for (int k = 0; k < 3; k++) {
        p[k] = dd_mul(dd_of(x[3][1]), e1[k]);
        q[k] = dd_sub(e2[k], dd_mul(dd_of(x[3][0]), e1[k]));
    }
    dd_cross(n, p, q);
    const dd trace = dd_add(dd_dot(p, p), dd_dot(q, q)), det = dd_dot(n, n);
    const dd difference = dd_sub(dd_dot(p, p), dd_dot(q, q)), twice = dd_mul(dd_of(2), dd_dot(p, q));
    const dd root = dd_sqrt(dd_add(dd_mul(difference, difference), dd_mul(twice, twice)));
    sigma[0] = dd_sqrt(dd_mul(dd_of(.5), dd_add(trace, root)));
    sigma[1] = sigma[0].hi > 0 ? dd_div(dd_sqrt(det), sigma[0]) : dd_of(0);
}

static double longest_edge(const double x[4][3])
{
    double longest = 0, d[3];
    for (int i = 0; i < 3; i++) {
        tac_sub(d, x[i], x[(i + 1) % 3]);
        longest = fmax(longest, sqrt(tac_dot(d, d)));
    }
    return longest;
}

/* ---- the kernel ---- */

static void test_values(enum shape shape, uint64_t count)
{
    double worst = 0, unit = 0, most = 0, sum = 0, turning = 0, made = 0;
    for (uint64_t n = 0; n < count; n++) {
        double x[4][3], s[2];
        struct tac_near near[2], alone;
        dd sigma[2];
        make(n, shape, x, s);
        const double(*y)[3] = (const double(*)[3])x;
        tac_near_stretch(y, near);
        tac_near_pair(TAC_PAIR_WIDE, y, &alone);
        CHECK(memcmp(&alone, &near[0], sizeof alone) == 0, "one distance");
        reference(y, sigma);
        const double size = longest_edge(y);
        made = fmax(made, fabs(sigma[0].hi - x[3][2] * fmax(s[0], s[1])) / size);
        for (int i = 0; i < 2; i++) {
            double torque[3] = {0, 0, 0}, c[3], plus = 0, minus = 0;
            worst = fmax(worst, fabs(dd_add(sigma[i], dd_of(near[i].d)).hi) / size);
            unit = near[i].d < 0 ? fmax(unit, fabs(tac_dot(near[i].n, near[i].n) - 1)) : unit;
            for (int k = 0; k < 3; k++) {
                double r[3];
                tac_sub(r, x[k], x[0]);
                tac_cross(c, r, near[i].n);
                for (int j = 0; j < 3; j++)
                    torque[j] += near[i].w[k] * c[j];
                *(near[i].w[k] > 0 ? &plus : &minus) += near[i].w[k];
            }
            turning = fmax(turning, sqrt(tac_dot(torque, torque)) / size);
            sum = fmax(sum, fabs(plus + minus));
            most = fmax(most, fmax(plus, -minus));
        }
    }
    printf(
        "%-12s: off by %.2f eps of the longest edge, sum of weights by %.2f eps, torque %.2f eps, weights to %.17g\n",
        shape_name[shape], worst / EPS, sum / EPS, turning / EPS, most);
    CHECK(worst <= TAC_NEAR_ERROR, "%g of the longest edge", worst);
    CHECK(unit <= 8 * EPS && sum <= 2 * EPS && turning <= 16 * EPS && most <= 1 + 4 * EPS, "%g %g %g %.17g", unit, sum,
          turning, most);
    CHECK(made < 1e-13, "the triangles are not what they should be: %g", made);
}

/* d changes no faster than tac_relative() says. */
static void test_speed(uint64_t count)
{
    double most = 0;
    for (uint64_t n = 0; n < count; n++) {
        double x[4][3], u[4][3], s[2];
        uint64_t seed = tac_hash64(n, 5);
        struct tac_near before, after;
        make(n, (enum shape)(n % SHAPES), x, s);
        const double size = ldexp(1, -(int)between(&seed, 0, 20));
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                u[i][k] = size * between(&seed, -1, 1);
        if (n % 2) { /* along its gradient, where it is fastest */
            tac_near_pair(TAC_PAIR_WIDE, (const double(*)[3])x, &before);
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++)
                    u[i][k] = size * before.w[i] * before.n[k];
        }
        tac_near_pair(TAC_PAIR_WIDE, (const double(*)[3])x, &before);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                x[i][k] += u[i][k];
        tac_near_pair(TAC_PAIR_WIDE, (const double(*)[3])x, &after);
        const double bound = tac_relative(TAC_PAIR_WIDE, (const double(*)[3])u);
        most = fmax(most, (fabs(after.d - before.d) - 1e-14) / bound);
    }
    printf("d changes by up to %.9g of what it may\n", most);
    CHECK(most <= 1 && most > .95, "%.17g", most);
}

/* ---- gradients ---- */

/* Half the squares of what both stretches have over c. */
static dd potential(const double x[4][3], double c)
{
    dd sigma[2], sum = dd_of(0);
    reference(x, sigma);
    for (int i = 0; i < 2; i++) {
        const dd over = dd_sub(sigma[i], dd_of(c));
        if (over.hi > 0)
            sum = dd_add(sum, dd_mul(dd_of(.5), dd_mul(over, over)));
    }
    return sum;
}

/* The gradient of d against that of the reference where the two stretches are far apart; that of the potential
 * everywhere, over one stretch or both. */
static void test_gradients(enum shape shape, uint64_t count)
{
    double worst = 0, of_sum = 0;
    uint64_t apart = 0, both = 0;
    for (uint64_t n = 0; n < count; n++) {
        double x[4][3], s[2];
        struct tac_near near[2];
        dd at[2];
        make(n, shape, x, s);
        const double(*y)[3] = (const double(*)[3])x;
        tac_near_stretch(y, near);
        const double height = x[3][2], step = 0x1p-30 * height, c = height * (n % 2 ? .2 : .9 * fmax(s[0], s[1]));
        const bool clear = fabs(near[0].d - near[1].d) > .1 * height;
        apart += clear;
        both += near[1].d < -c;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                const double middle = x[i][k], high = middle + step, low = middle - step;
                double slope = 0;
                x[i][k] = high;
                dd above = potential(y, c);
                reference(y, at);
                const dd up = at[0];
                x[i][k] = low;
                dd below = potential(y, c);
                reference(y, at);
                const dd down = at[0];
                x[i][k] = middle;
                for (int j = 0; j < 2; j++)
                    slope -= fmax(0, -near[j].d - c) * near[j].w[i] * near[j].n[k];
                const double have = dd_sub(above, below).hi / (high - low);
                of_sum = fmax(of_sum, fabs(have - slope) / height);
                if (clear)
                    worst = fmax(worst, fabs(dd_sub(up, down).hi / (high - low) + near[0].w[i] * near[0].n[k]));
            }
    }
    printf("%-12s: gradient of d off by %.2g from differences, of the potential by %.2g (%d apart, %d over both)\n",
           shape_name[shape], worst, of_sum, (int)apart, (int)both);
    CHECK(worst < 1e-7, "gradient off by %g", worst);
    CHECK(of_sum < 1e-7, "the potential's gradient off by %g", of_sum);
    CHECK((apart > count / 2) == (shape == PLAIN || shape == CRUMPLED), "%d apart", (int)apart);
    CHECK(shape == CRUMPLED ? both == 0 : both > count / 4, "%d over both", (int)both);
}

/* What becomes of a triangle on a point, or on a line. */
static void test_ends(void)
{
    struct tac_near near[2];
    double point[4][3] = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {.5, .8, .8}};
    tac_near_stretch((const double(*)[3])point, near);
    CHECK(near[0].d == 0 && near[1].d == 0 && near[0].n[0] == 0 && near[1].n[2] == 0, "%g %g", near[0].d, near[1].d);
    const double line[4][3] = {
        {0, 0, 0}, {2, 0, 0}, {1, 0, 0}, {.5, .5, .5}}; /* its height is gone, its edge doubled */
    tac_near_stretch(line, near);
    CHECK(near[0].d == -1 && near[1].d == 0 && fabs(near[0].n[0]) == 1, "%g %g", near[0].d, near[1].d);
    const double flat[4][3] = {{0, 0, 0}, {1, 0, 0}, {.5, .5, 0}, {.5, .5, .5}}; /* at rest, exactly */
    tac_near_stretch(flat, near);
    CHECK(near[0].d == -.5 && near[1].d == -.5, "%g %g", near[0].d, near[1].d);
}

/* ---- the model ---- */

static const char materials[] =
    "'cloth': {'density': 0.1, 'stretch': {'model': 'cst', 'stiffness': 9, 'limit_principal': 0.1}},"
    "'net': {'density': 2, 'stretch': {'model': 'spring', 'stiffness': 3, 'limit': 0.2, 'limit_principal': 0.3}},"
    "'free': {'density': 2, 'stretch': {'model': 'spring', 'stiffness': 3, 'limit': 0.2}}";
static const char bodies[] =
    "{'name': 'sheet', 'material': 'cloth', 'mesh': {'kind': 'grid', 'size': [1, 1.5], 'cells': [3, 3]}},"
    "{'name': 'strip', 'material': 'net', 'rotation': [30, 20, 10], 'position': [0, 2, 0], 'mesh': {'kind': 'grid', "
    "'size': [2, 0.1], 'cells': [4, 1]}},"
    "{'name': 'ball', 'material': 'cloth', 'position': [9, 0, 0], 'mesh': {'kind': 'sphere', 'radius': 1, 'level': 2}},"
    "{'name': 'other', 'material': 'free', 'position': [0, 4, 0], 'mesh': {'kind': 'grid', 'size': [1, 1], 'cells': "
    "[1, "
    "1]}},"
    "{'name': 'held', 'material': 'cloth', 'fixed': true, 'position': [0, 6, 0], 'mesh': {'kind': 'grid', 'size': [1, "
    "1], 'cells': [1, 1]}}";

/* Largest w_0^2/m_0 + ... over all directions, by going around. */
static double around(const struct tac_scene *s, const tac_lid *v, const double x[4][3])
{
    double most = 0;
    for (int n = 0; n < 20000; n++) {
        const double angle = n * TAC_PI / 20000, q[2] = {cos(angle), sin(angle)};
        const double w1 = q[0] * x[3][1] - q[1] * x[3][0], w2 = q[1], w0 = -w1 - w2;
        most =
            fmax(most, w0 * w0 / s->mesh->mass[v[0]] + w1 * w1 / s->mesh->mass[v[1]] + w2 * w2 / s->mesh->mass[v[2]]);
    }
    return most;
}

static void check_triangle(const struct tac_model *m, tac_lid t, double stiffness, bool spring, double limit)
{
    const struct tac_scene *s = m->scene;
    struct tac_form form;
    struct tac_near near;
    tac_lid v[4] = {-1, -1, -1, -1};
    double x[4][3], d[3], length[3];
    CHECK(tac_model_limits_triangle(m, t, v), "triangle %d has a limit", t);
    for (int i = 0; i < 3; i++)
        memcpy(x[i], &s->mesh->x[3 * v[i]], sizeof x[i]);
    tac_model_gather(m, TAC_PAIR_WIDE, v, x);
    for (int i = 0; i < 3; i++) {
        tac_sub(d, x[i], x[(i + 1) % 3]);
        length[i] = sqrt(tac_dot(d, d));
    }
    CHECK(length[0] >= length[1] && length[0] >= length[2], "its longest edge comes first");
    double n[3], e[3], height;
    tac_sub(d, x[1], x[0]);
    tac_sub(e, x[2], x[0]);
    tac_cross(n, d, e);
    height = sqrt(tac_dot(n, n)) / length[0];
    tac_near_pair(TAC_PAIR_WIDE, (const double(*)[3])x, &near);
    CHECK(fabs(near.d / -height - 1) < 1e-14, "at rest it is not stretched: %.17g", near.d / -height);
    tac_model_form(m, TAC_PAIR_WIDE, v, &form);
    CHECK(fabs(form.radius / (-(1 + limit) * height) - 1) < 1e-14 && fabs(form.thickness / (limit * height) - 1) < 1e-3,
          "%g %g", form.radius, form.thickness);
    CHECK(near.d > tac_model_reach(m, &form, 1), "it starts silent");
    const double area_stiffness = (spring ? stiffness / length[0] : stiffness) * .5 * length[0] * height;
    CHECK(fabs(form.stiffness * height * height / area_stiffness - 1) < 1e-12, "stiffness %g", form.stiffness);
    const double pairs = fmax(8, m->valence[v[0]] + m->valence[v[1]] + m->valence[v[2]]);
    const double bound = 2 * s->settings->clocks.contact_safety * sqrt(1 / (around(s, v, x) * pairs * form.stiffness));
    CHECK(fabs(form.h_s / bound - 1) < 1e-6, "h(1) = %g s, %g s by the formula", form.h_s, bound);
    CHECK(form.h_s <= m->h1_max_s && form.h_s >= m->h1_min_s, "h(1) = %g s outside %g..%g s", form.h_s, m->h1_min_s,
          m->h1_max_s);
    CHECK(form.bottom >= 2 && form.bottom < m->layer_count && form.law->e2 == 1 && form.law->friction == 0, "bottom %d",
          form.bottom);
    const uint64_t key = tac_pair_key(TAC_PAIR_WIDE, 0, t);
    CHECK(tac_key_type(key) == TAC_PAIR_WIDE && key > tac_pair_key(TAC_PAIR_SHORT, (1 << 29) - 1, INT32_MAX), "key");
}

static void test_model(void)
{
    struct tac_scene *s = read_scene(materials, bodies, ", 'contact': {'thickness': 0.01}");
    struct tac_model *m = NULL;
    tac_lid v[4];
    int limited = 0;
    if (tac_model_create(&ctx, s, &m)) {
        printf("no model: %s\n", ctx.error);
        exit(1);
    }
    CHECK(m->limits && m->wide);
    for (tac_lid t = 0; t < s->mesh->triangle_count; t++) {
        const struct tac_body *body = &s->settings->body[s->mesh->vertex_body[s->mesh->triangle[3 * t]]];
        const struct tac_material *material = &s->settings->material[body->material];
        if (body->fixed || material->stretch_limit_principal == 0) {
            CHECK(!tac_model_limits_triangle(m, t, v), "triangle %d", t);
            continue;
        }
        limited++;
        check_triangle(m, t, material->stretch_stiffness, material->stretch_model == TAC_STRETCH_SPRING,
                       material->stretch_limit_principal);
    }
    CHECK(limited == 18 + 8 + 320, "%d", limited);
    tac_model_destroy(&m);
    tac_scene_destroy(&s);
}

int main(int argc, char **argv)
{
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
    for (int shape = 0; shape < SHAPES; shape++) {
        test_values((enum shape)shape, count);
        if (shape != SLENDER) /* differences over so little height say nothing */
            test_gradients((enum shape)shape, count / 8);
    }
    test_speed(count);
    test_ends();
    test_model();
    return check_result();
}
