/* test_limit_elements.c: limits of stretch as energies: gradients and Hessians against differences, positive matrices,
 * nothing at rest; and no motion within tac_limit_advance() breaks a limit, nor is one stopped for nothing.  If it
 * failed, an implicit step would go along a wrong direction, or an edge would be longer than its material says. */
#include "contact/limit_elements.h"
#include "geometry/closest_points.h"
#include "unit/elements/support.h"

static const char materials[] =
    "'cloth': {'density': 1, 'stretch': {'model': 'cst', 'stiffness': 50, 'limit': 0.2}},"
    "'shell': {'density': 1, 'stretch': {'model': 'cst', 'stiffness': 50, 'limit_principal': 0.3}},"
    "'rope': {'density': 1, 'stretch': {'model': 'spring', 'stiffness': 30, 'limit': 0.25}}";
static const char bodies[] = "{'name': 'sheet', 'material': 'cloth', 'mesh': {'kind': 'inline', 'vertices': [[0, 0, "
                             "0], [1, 0, 0], [0.3, 0.8, 0]],"
                             " 'triangles': [[0, 1, 2]]}},"
                             "{'name': 'chip', 'material': 'shell', 'mesh': {'kind': 'inline', 'vertices': [[0, 9, 0], "
                             "[1, 9, 0], [0.3, 9.8, 0]],"
                             " 'triangles': [[1, 2, 0]]}},"
                             "{'name': 'cord', 'material': 'rope', 'position': [0, 5, 0],"
                             " 'mesh': {'kind': 'segments', 'vertices': [[0, 0, 0], [1, 0, 0]], 'edges': [[0, 1]]}}";

/* An element, where it is, where it was at rest, and its limits: no smaller or larger than these. */
struct one {
    const struct tac_element *element;
    const void *record;
    double x[4][3], rest[4][3], least, most;
};

static double random_in(double from, double to)
{
    static uint64_t count;
    return from + (to - from) * ldexp((double)(tac_hash64(count++, 5) >> 11), -53);
}

static double energy_at(const struct one *o, int i, double by)
{
    double x[4][3];
    memcpy(x, o->x, sizeof x);
    x[i / 3][i % 3] += by;
    return o->element->energy(o->record, NULL, (const double(*)[3])x);
}

static void gradient_at(const struct one *o, int i, double by, double g[4][3])
{
    double x[4][3];
    memcpy(x, o->x, sizeof x);
    x[i / 3][i % 3] += by;
    tac_element_gradient(o->element, o->record, NULL, (const double(*)[3])x, g);
}

static void check_differences(const struct one *o)
{
    const int n = 3 * o->element->nodes;
    const double step = 1e-6;
    double g[4][3], h[144], most = 0, off_g = 0, off_h = 0, least = INFINITY;
    gradient_at(o, 0, 0, g);
    o->element->hessian(o->record, NULL, (const double(*)[3])o->x, h);
    for (int i = 0; i < n; i++) {
        double low[4][3], high[4][3];
        off_g = fmax(off_g, fabs((energy_at(o, i, step) - energy_at(o, i, -step)) / (2 * step) - g[i / 3][i % 3]));
        gradient_at(o, i, -step, low);
        gradient_at(o, i, step, high);
        for (int k = 0; k < n; k++) {
            off_h = fmax(off_h, fabs((high[k / 3][k % 3] - low[k / 3][k % 3]) / (2 * step) - h[n * k + i]));
            most = fmax(most, fabs(h[n * k + i]));
        }
    }
    CHECK(off_g <= 1e-7 * most, "%s: its gradient is off by %g of %g", o->element->keys.name, off_g, most);
    CHECK(off_h <= 1e-4 * most, "%s: its Hessian is off by %g of %g", o->element->keys.name, off_h, most);
    o->element->convex(o->record, NULL, (const double(*)[3])o->x, h);
    for (int k = 0; k < 20; k++) {
        double z[12], value = 0;
        for (int i = 0; i < n; i++)
            z[i] = random_in(-1, 1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                value += z[i] * h[n * i + j] * z[j];
        least = fmin(least, value);
    }
    CHECK(least >= -1e-12 * most, "%s: not positive, %g", o->element->keys.name, least);
}

/* The edge's length, or the triangle's largest stretch, over that at rest; by other formulas than the element's. */
static double size_at(const struct one *o, double share, const double p[4][3])
{
    double f[2][3], rest[2][3];
    for (int e = 0; e + 1 < o->element->nodes; e++)
        for (int k = 0; k < 3; k++) {
            f[e][k] = o->x[e + 1][k] + share * p[e + 1][k] - (o->x[0][k] + share * p[0][k]);
            rest[e][k] = o->rest[e + 1][k] - o->rest[0][k];
        }
    if (o->element->nodes == 2)
        return sqrt(tac_dot(f[0], f[0]) / tac_dot(rest[0], rest[0]));
    /* Largest |f . a| over |rest . a|, by a search over directions a. */
    double most = 0, at = 0;
    for (int k = 0; k < 400; k++) {
        const double turn = k < 200 ? k * TAC_PI / 200 : at + (k - 300) * TAC_PI / 20000;
        double a[3], b[3];
        for (int c = 0; c < 3; c++) {
            a[c] = cos(turn) * f[0][c] + sin(turn) * f[1][c];
            b[c] = cos(turn) * rest[0][c] + sin(turn) * rest[1][c];
        }
        const double size = sqrt(tac_dot(a, a) / tac_dot(b, b));
        at = size > most && k < 200 ? turn : at;
        most = fmax(most, size);
    }
    return most;
}

/* One random motion; returns whether it was shortened. */
static bool check_motion(struct one *o)
{
    double p[4][3];
    const double length = pow(10, random_in(-2, 2));
    double low = INFINITY, high = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            p[i][k] = length * random_in(-1, 1);
    const double share = tac_limit_advance(o->element, o->record, (const double(*)[3])o->x, (const double(*)[3])p, .2);
    for (int k = 0; k <= 20; k++) {
        low = fmin(low, size_at(o, share * k / 20, p));
        high = fmax(high, size_at(o, share * k / 20, p));
    }
    CHECK(share > 0 && share <= 1 && low > o->least && high < o->most,
          "%s: a motion of %g goes %g of its way, from %.17g to %.17g", o->element->keys.name, length, share, low,
          high);
    const double far = size_at(o, fmin(1, 1.01 * share + 1e-9), p);
    const double room = fmin(o->most - far, far - o->least);
    CHECK(share == 1 ||
              room < .25 * fmin(o->most - 1, fmin(o->most - size_at(o, 0, p), size_at(o, 0, p) - o->least)) + .05,
          "%s: stops for nothing, %g away", o->element->keys.name, room);
    for (int i = 0; i < o->element->nodes; i++)
        for (int k = 0; k < 3; k++)
            o->x[i][k] += share * p[i][k];
    return share < 1;
}

static void check_list(const struct tac_scene *scene, const struct tac_element_list *list)
{
    for (size_t e = 0; e < list->count; e++) {
        const tac_lid *v = tac_element_stencil(list, e);
        const bool cord = v[0] >= 6, wide = list->element->nodes == 3;
        struct one o = {.element = list->element,
                        .record = tac_element_record(list, e),
                        .least = cord ? .75 : -1,
                        .most = cord   ? 1.25
                                : wide ? 1.3
                                       : 1.2};
        int stopped = 0, acted = 0;
        for (int i = 0; i < list->element->nodes; i++)
            memcpy(o.rest[i], &scene->mesh->x[3 * v[i]], sizeof o.rest[i]);
        memcpy(o.x, o.rest, sizeof o.x);
        CHECK(energy_at(&o, 0, 0) < 1e-25, "%s: it acts at rest", list->element->keys.name);
        for (int trial = 0; trial < 3000; trial++) {
            if (trial % 4 == 0)
                memcpy(o.x, o.rest, sizeof o.x);
            stopped += check_motion(&o);
            const double energy = energy_at(&o, 0, 0), size = size_at(&o, 0, o.x);
            CHECK(energy < INFINITY, "%s: no number", list->element->keys.name);
            if (energy > 0 && fmin(o.most - size, size - o.least) > .02) {
                check_differences(&o);
                acted++;
            }
        }
        CHECK(stopped > 500 && acted > 200, "%s: %d motions shortened, %d places where it acts",
              list->element->keys.name, stopped, acted);
    }
}

int main(void)
{
    struct tac_element_set set = {0};
    struct tac_scene *scene = read_scene(materials, bodies, "");
    CHECK(!tac_element_set_add(&ctx, scene, &tac_element_limit, &set) &&
              !tac_element_set_add(&ctx, scene, &tac_element_limit_principal, &set),
          "%s", ctx.error);
    CHECK(set.list[0].count == 4 && set.list[1].count == 1, "%zu edges, %zu triangles", set.list[0].count,
          set.list[1].count);
    for (int k = 0; k < 2; k++)
        check_list(scene, &set.list[k]);
    tac_element_set_destroy(&set);
    tac_scene_destroy(&scene);
    return check_result();
}
