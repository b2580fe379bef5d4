/* Elements of a scene, their stiffness bounds, periods and rate classes. */
#include "elements/builder.h"
#include "elements/kernels.h"
#include "partition/ghosts.h"
#include "scene/period.h"
#include <stdlib.h>
#include <string.h>

/* Is there a kick of this element to be computed here? */
static bool any_free(const struct tac_scene *scene, const tac_lid *v, int n)
{
    bool any = false, ours = scene->part == NULL;
    for (int k = 0; k < n; k++) {
        any |= scene->ever_free[v[k]];
        ours |= scene->part != NULL && v[k] < scene->part->owned;
    }
    return any && ours;
}

const struct tac_material *tac_material_of(const struct tac_scene *scene, tac_lid body)
{
    tac_lid m = scene->body[body].material;
    return m < 0 ? NULL : &scene->material[m];
}

static void add_spring(struct builder *b, tac_lid edge)
{
    const struct tac_scene *s = b->scene;
    const tac_lid *v = &s->topology->edge[2 * edge];
    const struct tac_material *m = tac_material_of(s, s->vertex_body[v[0]]);
    if (m == NULL || m->stretch_model != TAC_STRETCH_SPRING || !any_free(s, v, 2))
        return;
    size_t n = b->count[TAC_KIND_SPRING]++;
    double d[3];
    tac_sub(d, &s->x[3 * v[1]], &s->x[3 * v[0]]);
    double length = sqrt(tac_dot(d, d));
    b->spring[n] = (struct tac_spring){{v[0], v[1]}, length, m->stretch_stiffness / length};
    b->id[TAC_KIND_SPRING][n] = s->part ? s->part->edge_id[edge] : edge;
    for (int k = 0; k < 2; k++)
        b->row[TAC_KIND_SPRING][4 * n + (size_t)k] = 2 * b->spring[n].stiffness;
}

/* Row sums of the rest stiffness A B^T C B, whose 2x2 blocks are bounded by their Frobenius norms. */
static void cst_rows(const struct tac_cst *c, double area_y, double nu, double row[4])
{
    const double g[3][2] = {{-c->b00 - c->b01, -c->b11}, {c->b00, 0}, {c->b01, c->b11}};
    const double c00 = area_y / (1 - nu * nu), c01 = nu * c00, c22 = area_y / (2 * (1 + nu));
    /* dE/dx of vertex i in the triangle's own frame is built from g[i] = (d/dX, d/dY) of its hat function. The rest
     * frame's first axis is along the first edge, so b01, b11 act on the second: F = I at rest. */
    for (int i = 0; i < 3; i++) {
        row[i] = 0;
        for (int j = 0; j < 3; j++) {
            double xx = c00 * g[i][0] * g[j][0] + c22 * g[i][1] * g[j][1];
            double yy = c00 * g[i][1] * g[j][1] + c22 * g[i][0] * g[j][0];
            double xy = c01 * g[i][0] * g[j][1] + c22 * g[i][1] * g[j][0];
            double yx = c01 * g[i][1] * g[j][0] + c22 * g[i][0] * g[j][1];
            row[i] += sqrt(xx * xx + yy * yy + xy * xy + yx * yx);
        }
    }
    row[3] = 0;
}

static void add_cst(struct builder *b, tac_lid triangle)
{
    const struct tac_scene *s = b->scene;
    const tac_lid *v = &s->triangle[3 * triangle];
    const struct tac_material *m = tac_material_of(s, s->vertex_body[v[0]]);
    if (m == NULL || m->stretch_model != TAC_STRETCH_CST || !any_free(s, v, 3))
        return;
    double e1[3], e2[3], n[3];
    tac_sub(e1, &s->x[3 * v[1]], &s->x[3 * v[0]]);
    tac_sub(e2, &s->x[3 * v[2]], &s->x[3 * v[0]]);
    tac_cross(n, e1, e2);
    double l = sqrt(tac_dot(e1, e1)), nn = sqrt(tac_dot(n, n)), p = tac_dot(e1, e2) / l, q = nn / l;
    double area_y = .5 * nn * m->stretch_stiffness, nu = m->poisson;
    size_t k = b->count[TAC_KIND_CST]++;
    b->cst[k] = (struct tac_cst){{v[0], v[1], v[2]}, s->vertex_body[v[0]],       1 / l, -p / (l * q), 1 / q,
                                 area_y / (1 + nu),  area_y * nu / (1 - nu * nu)};
    b->id[TAC_KIND_CST][k] = s->part ? s->part->triangle_id[triangle] : triangle;
    cst_rows(&b->cst[k], area_y, nu, &b->row[TAC_KIND_CST][4 * k]);
}

static void add_hinge(struct builder *b, tac_lid hinge)
{
    const struct tac_scene *s = b->scene;
    const tac_lid *v = &s->topology->hinge[4 * hinge];
    const struct tac_material *m = tac_material_of(s, s->vertex_body[v[0]]);
    if (m == NULL || !m->bend || !any_free(s, v, 4))
        return;
    double x[4][3], e[3], a[3], o[3], n1[3], n2[3], ee, j[4][3], length[4], sum = 0;
    for (int k = 0; k < 4; k++)
        memcpy(x[k], &s->x[3 * v[k]], sizeof x[k]);
    double angle = tac_one_hinge_angle(x, e, a, o, n1, n2, &ee);
    double area = .5 * (sqrt(tac_dot(n1, n1)) + sqrt(tac_dot(n2, n2)));
    size_t n = b->count[TAC_KIND_HINGE]++;
    b->hinge[n] =
        (struct tac_hinge){{v[0], v[1], v[2], v[3]}, m->bend_stiffness * 3 * ee / area, m->rest_flat ? 0 : angle};
    const tac_lid edge = s->topology->hinge_edge[hinge];
    b->id[TAC_KIND_HINGE][n] = s->part && edge >= 0 ? s->part->edge_id[edge] : edge;
    /* K = 2 k grad grad^T; the gradient is the impulse of a unit bend, over 2 k. */
    const double stiffness = b->hinge[n].stiffness;
    tac_one_hinge(angle - 1, 2 * stiffness, x, j);
    for (int k = 0; k < 4; k++)
        sum += length[k] = sqrt(tac_dot(j[k], j[k]));
    for (int k = 0; k < 4; k++)
        b->row[TAC_KIND_HINGE][4 * n + (size_t)k] = stiffness > 0 ? length[k] * sum / (2 * stiffness) : 0;
    tac_one_hinge(angle - 1, 1, x, j);
    for (int k = 0; k < 4; k++)
        b->gradient2[n] += tac_dot(j[k], j[k]);
}

static enum tac_err collect(struct builder *b)
{
    enum tac_err err;
    const struct tac_scene *s = b->scene;
    struct tac_ctx *ctx = b->ctx;
    const size_t most[TAC_KINDS] = {0, (size_t)s->topology->edge_count, (size_t)s->triangle_count,
                                    (size_t)s->topology->hinge_count};
    TAC_TRY(tac_alloc(ctx, most[TAC_KIND_SPRING], sizeof *b->spring, &b->spring));
    TAC_TRY(tac_alloc(ctx, most[TAC_KIND_CST], sizeof *b->cst, &b->cst));
    TAC_TRY(tac_alloc(ctx, most[TAC_KIND_HINGE], sizeof *b->hinge, &b->hinge));
    TAC_TRY(tac_alloc(ctx, (size_t)s->vertex_count, sizeof *b->omega2, &b->omega2));
    for (int k = 0; k < TAC_KINDS; k++) {
        TAC_TRY(tac_alloc(ctx, 4 * most[k], sizeof *b->row[k], &b->row[k]));
        TAC_TRY(tac_alloc(ctx, most[k], sizeof *b->id[k], &b->id[k]));
        TAC_TRY(tac_alloc(ctx, most[k], sizeof *b->period[k], &b->period[k]));
        TAC_TRY(tac_alloc(ctx, most[k], sizeof *b->damper[k], &b->damper[k]));
        TAC_TRY(tac_alloc(ctx, most[k], sizeof *b->slack[k], &b->slack[k]));
    }
    TAC_TRY(tac_alloc(ctx, most[TAC_KIND_HINGE], sizeof *b->gradient2, &b->gradient2));
    for (tac_lid i = 0; i < s->topology->edge_count; i++)
        add_spring(b, i);
    for (tac_lid i = 0; i < s->triangle_count; i++)
        add_cst(b, i);
    for (tac_lid i = 0; i < s->topology->hinge_count; i++)
        add_hinge(b, i);
    TAC_TRY(tac_loads_collect(ctx, s, &b->loads));
done:
    return err;
}

const tac_lid *tac_builder_stencil(const struct builder *b, int kind, size_t e, int *count)
{
    const struct tac_rate_class all = {.spring = b->spring, .cst = b->cst, .hinge = b->hinge};
    return tac_elastic_stencil(&all, (enum tac_kind)kind, e, count);
}

const char *const tac_element_name[TAC_KIND_HINGE + 1] = {"", "spring of edge", "triangle", "hinge of edge"};

/* Bounds of the assembled stiffness (Gershgorin over blocks), then each element's period from its worst vertex. */
static enum tac_err choose_periods(struct builder *b, struct tac_elastic *el)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *s = b->scene;
    int n;
    for (int k = TAC_KIND_SPRING; k <= TAC_KIND_HINGE; k++)
        for (size_t e = 0; e < b->count[k]; e++) {
            const tac_lid *v = tac_builder_stencil(b, k, e, &n);
            for (int i = 0; i < n; i++)
                if (s->ever_free[v[i]])
                    b->omega2[v[i]] += b->row[k][4 * e + (size_t)i] / s->mass[v[i]];
        }
    for (size_t e = 0; e < b->loads.count; e++) {
        const struct tac_load_element *load = &b->loads.element[e];
        for (int i = 0; i < load->count; i++)
            if (s->ever_free[load->v[i]])
                b->omega2[load->v[i]] += b->loads.row[e] / s->mass[load->v[i]];
    }
    /* A ghost's other elements are elsewhere. */
    if (s->part)
        TAC_TRY(tac_ghosts_refresh(b->ctx, s->part, s->vertex_count, 1, b->omega2));
    el->omega_min = INFINITY;
    for (int k = TAC_KIND_SPRING; k <= TAC_KIND_HINGE; k++)
        for (size_t e = 0; e < b->count[k]; e++) {
            double worst = 0;
            const tac_lid *v = tac_builder_stencil(b, k, e, &n);
            for (int i = 0; i < n; i++)
                worst = fmax(worst, b->omega2[v[i]]);
            double omega = sqrt(worst);
            double bound = omega > 0 ? s->clocks.elastic_safety * 2 / omega : s->clocks.elastic_s;
            tac_time period = tac_clock_period(s, fmin(bound, s->clocks.elastic_s));
            if (!(period >= 4096)) { /* 2^12 quanta; also catches a bound that is not a number */
                err = tac_fail(b->ctx, TAC_ERR_INPUT,
                               "the %s %" TAC_PRIGID
                               " of body `%s` needs a period of %.3g s, under 2^12 quanta (%.3g s); make "
                               "it softer, heavier or coarser, or set clocks.quantum_s to a smaller power of two",
                               tac_element_name[k], b->id[k][e], s->body[s->vertex_body[v[0]]].name,
                               fmin(bound, s->clocks.elastic_s), 4096 * s->quantum_s);
                goto done;
            }
            b->period[k][e] = period;
            el->omega_max = fmax(el->omega_max, omega);
            el->omega_min = fmin(el->omega_min, omega);
        }
    for (tac_lid i = 0; i < s->vertex_count; i++)
        el->omega[i] = sqrt(b->omega2[i]);
done:
    return err;
}

/* What the materials ask for, and gravity's period: 0 if there is none. */
static enum tac_err begin(struct tac_ctx *ctx, const struct tac_scene *scene, tac_time *gravity,
                          struct tac_elastic **out)
{
    enum tac_err err;
    struct tac_elastic *el = NULL;
    const bool pulled = scene->gravity[0] != 0 || scene->gravity[1] != 0 || scene->gravity[2] != 0;
    *gravity = pulled ? tac_clock_period(scene, scene->clocks.gravity_s) : 0;
    if (pulled && *gravity < 4096) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "clocks.gravity_s is %g s, under 2^12 quanta (%g s); make it longer",
                       scene->clocks.gravity_s, 4096 * scene->quantum_s);
        goto done;
    }
    TAC_TRY(tac_alloc(ctx, 1, sizeof *el, &el));
    *out = el;
    TAC_TRY(tac_alloc(ctx, (size_t)scene->vertex_count, sizeof *el->omega, &el->omega));
    for (tac_lid i = 0; i < scene->material_count; i++) {
        const struct tac_material *m = &scene->material[i];
        el->damps |= m->stretch_damping > 0 || m->bend_damping > 0;
        el->flows |= m->stretch_yield > 0 || m->bend_yield > 0;
    }
done:
    return err;
}

enum tac_err tac_elastic_create(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_elastic **out)
{
    enum tac_err err;
    struct builder b = {.ctx = ctx, .scene = scene};
    struct tac_elastic *el = NULL;
    tac_time gravity;
    TAC_TRY(tac_agree(ctx, begin(ctx, scene, &gravity, &el)));
    TAC_TRY(tac_agree(ctx, collect(&b)));
    TAC_TRY(tac_agree(ctx, choose_periods(&b, el)));
    if (el->damps)
        TAC_TRY(tac_agree(ctx, tac_builder_damp(&b)));
    TAC_TRY(tac_agree(ctx, tac_loads_choose(ctx, scene, b.omega2, &b.loads)));
    TAC_TRY(tac_builder_classes(&b, el, gravity));
    TAC_TRY(tac_load_times_make(ctx, scene, &el->times));
done:
    free(b.spring);
    free(b.cst);
    free(b.hinge);
    free(b.omega2);
    free(b.gradient2);
    tac_loads_free(&b.loads);
    for (int k = 0; k < TAC_KINDS; k++) {
        free(b.row[k]);
        free(b.id[k]);
        free(b.period[k]);
        free(b.damper[k]);
        free(b.slack[k]);
    }
    if (err)
        tac_elastic_destroy(&el);
    *out = el;
    return err;
}
