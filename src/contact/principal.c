/* principal.c: which triangles have a limit of their principal stretch, and the layers of these limits
 * (docs/reference/engine.md, Limits of stretch). */
#include "contact/principal.h"
#include "elements/kernels.h"
#include "partition/part.h"
#include "scene/period.h"

/* s of the material of a vertex; 0: none. */
static double principal_limit_of(const struct tac_scene *s, tac_lid vertex)
{
    const tac_lid material = s->settings->body[s->mesh->vertex_body[vertex]].material;
    return material >= 0 ? s->settings->material[material].stretch_limit_principal : 0;
}

void tac_principal_rest(const struct tac_scene *scene, const tac_lid *v, double rest[3])
{
    double e1[3], e2[3], n[3];
    tac_sub(e1, tac_scene_rest(scene, v[1]), tac_scene_rest(scene, v[0]));
    tac_sub(e2, tac_scene_rest(scene, v[2]), tac_scene_rest(scene, v[0]));
    tac_cross(n, e1, e2);
    const double square = tac_dot(e1, e1), area = sqrt(tac_dot(n, n));
    rest[0] = tac_dot(e1, e2) / square;
    rest[1] = area / square;
    rest[2] = area / sqrt(square);
}

void tac_model_rest(const struct tac_model *m, const tac_lid *v, double rest[3])
{
    tac_principal_rest(m->scene, v, rest);
}

void tac_principal_order(const struct tac_scene *s, const tac_lid given[3], tac_lid v[3])
{
    double square[3], d[3];
    int longest = 0;
    for (int k = 0; k < 3; k++) {
        tac_sub(d, tac_scene_rest(s, given[(k + 1) % 3]), tac_scene_rest(s, given[k]));
        square[k] = tac_dot(d, d);
        longest = square[k] > square[longest] ? k : longest;
    }
    for (int k = 0; k < 3; k++)
        v[k] = given[(longest + k) % 3];
}

/* r(1): what it takes over from has a stiffness, N/m, for the strain of the whole area; here it is for the change of
 * the height. */
static double stiffness_of(const struct tac_scene *s, tac_lid vertex, const double rest[3])
{
    return tac_limit_stiffness(s, vertex, rest[2] / rest[1]) / (2 * rest[1]);
}

/* Largest effective inverse mass over all directions: of three vertices whose weights are linear in the direction. */
static double inverse_mass(const struct tac_model *m, const tac_lid *v, const double rest[3])
{
    const double b = rest[0], c = rest[1], w0 = m->w_ever[v[0]], w1 = m->w_ever[v[1]], w2 = m->w_ever[v[2]];
    return tac_larger_eigenvalue(c * c * (w0 + w1), c * ((1 - b) * w0 - b * w1),
                                 (1 - b) * (1 - b) * w0 + b * b * w1 + w2);
}

/* N_c: no more triangles, nor edges, can pull at the three. */
static double pairs_of(const struct tac_model *m, const tac_lid *v)
{
    return fmax(8, m->valence[v[0]] + m->valence[v[1]] + m->valence[v[2]]);
}

bool tac_principal_is_pair(const struct tac_model *m, const tac_lid *v)
{
    const struct tac_scene *s = m->scene;
    const tac_lid body = s->mesh->vertex_body[v[0]];
    double rest[3];
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0] || s->mesh->vertex_body[v[1]] != body ||
        s->mesh->vertex_body[v[2]] != body || !(principal_limit_of(s, v[0]) > 0) ||
        !(m->w_ever[v[0]] + m->w_ever[v[1]] + m->w_ever[v[2]] > 0))
        return false;
    /* A checkpoint might name vertices of no triangle; of a triangle only rounding takes these out of 0..1. */
    tac_model_rest(m, v, rest);
    return rest[0] >= -1e-6 && rest[0] <= 1 + 1e-6 && rest[1] > 0 && rest[1] <= 1;
}

bool tac_model_limits_triangle(const struct tac_model *m, tac_lid triangle, tac_lid v[3])
{
    const struct tac_scene *s = m->scene;
    const tac_lid *given = &s->mesh->triangle[3 * triangle];
    if (!(principal_limit_of(s, given[0]) > 0))
        return false;
    tac_principal_order(s, given, v);
    return tac_model_is_pair(m, TAC_PAIR_WIDE, v);
}

double tac_principal_form(const struct tac_model *m, const tac_lid *v, const double rest[3], struct tac_form *form,
                          double *pairs)
{
    const struct tac_scene *s = m->scene;
    const double limit = principal_limit_of(s, v[0]);
    form->law = &m->law[s->settings->contact.law_count];
    form->radius = -(1 + limit) * rest[2];
    form->thickness = limit * rest[2];
    form->stiffness = stiffness_of(s, v[0], rest);
    *pairs = pairs_of(m, v);
    return inverse_mass(m, v, rest);
}

/* ---- refusals ---- */

/* How far beyond its limit a hinge of a limited body is bent at rest: (angle^2 / 16) / s; 0 where nothing is limited.
 */
static double bend_over_limit(const struct tac_model *m, tac_lid hinge)
{
    const struct tac_scene *s = m->scene;
    const tac_lid *v = &s->mesh->topology->hinge[4 * hinge];
    const double limit = principal_limit_of(s, v[0]);
    double x[4][3], w = 0;
    struct tac_one_fold f;
    for (int k = 0; k < 4; k++) {
        w += m->w_ever[v[k]];
        for (int c = 0; c < 3; c++)
            x[k][c] = tac_scene_rest(s, v[k])[c];
    }
    if (!(limit > 0) || w == 0)
        return 0;
    tac_one_fold(x, &f);
    const double angle = tac_one_fold_angle(&f);
    return angle * angle / 16 / limit;
}

/* A mesh bends along lines that are none of its edges only if its triangles give (edge x curvature)^2 / 16; edge x
 * curvature of the rest shape is the angle by which it turns from triangle to triangle.  A limit below that could not
 * even be flattened. */
static enum tac_err refuse_bent(struct tac_ctx *ctx, const struct tac_model *m)
{
    const struct tac_scene *s = m->scene;
    double worst = 0, most;
    tac_gid vertex = INT64_MAX, first;
    for (tac_lid h = 0; h < s->mesh->topology->hinge_count; h++)
        worst = fmax(worst, bend_over_limit(m, h));
    most = worst;
    if (s->mesh->part && MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, ctx->comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed to find the sharpest bend");
    if (!(most > 1))
        return TAC_OK;
    for (tac_lid h = 0; worst == most && h < s->mesh->topology->hinge_count; h++) {
        const tac_lid v = s->mesh->topology->hinge[4 * h];
        const tac_gid id = s->mesh->part ? s->mesh->part->vertex_id[v] : v;
        if (bend_over_limit(m, h) == most && id < vertex)
            vertex = id;
    }
    first = vertex;
    if (s->mesh->part && MPI_Allreduce(&vertex, &first, 1, TAC_GID_MPI, MPI_MIN, ctx->comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed to find the sharpest bend");
    const struct tac_body *body = &s->settings->body[tac_scene_body_of(s, first)];
    const struct tac_material *material = &s->settings->material[body->material];
    const double least = most * material->stretch_limit_principal;
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "materials.%s.stretch.limit_principal is %g, but at vertex %" TAC_PRIGID
                    " the rest shape of body `%s` turns by %.3g degrees from one triangle to the next, and a mesh so "
                    "coarse bends only if its triangles may stretch by %.3g ((edge x curvature)^2/16); make the limit "
                    "larger, or the mesh finer",
                    material->name, material->stretch_limit_principal, first - body->vertex_begin, body->name,
                    sqrt(16 * least) * 180 / TAC_PI, least);
}

/* The sentence for a triangle whose first layer needs too short a period. */
static enum tac_err refuse_short(struct tac_ctx *ctx, const struct tac_model *m, double period_s, tac_gid triangle)
{
    const struct tac_scene *s = m->scene;
    tac_lid b = 0;
    while (b < s->settings->body_count - 1 && s->settings->body[b].triangle_end <= triangle)
        b++;
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "the limit of the principal stretch of triangle %" TAC_PRIGID
                    " of body `%s` needs a period of %.3g s in its first layer, under 2^12 quanta (%.3g s); make the "
                    "triangle less slender, softer or heavier, or clocks.quantum_s a smaller power of two",
                    triangle - s->settings->body[b].triangle_begin, s->settings->body[b].name, period_s,
                    4096 * s->settings->quantum_s);
}

enum tac_err tac_principal_extremes(struct tac_ctx *ctx, struct tac_model *m, double *longest_s, double *shortest_s)
{
    enum tac_err err;
    const struct tac_scene *s = m->scene;
    double most[2] = {-INFINITY, -INFINITY}; /* largest h(1), and smallest with its sign turned, s */
    tac_gid tightest = INT64_MAX, first;
    double mine = INFINITY;
    for (tac_lid t = 0; t < s->mesh->triangle_count; t++) {
        tac_lid v[3];
        double rest[3];
        if (!tac_model_limits_triangle(m, t, v))
            continue;
        tac_model_rest(m, v, rest);
        const double h_s = tac_period_bound(m, inverse_mass(m, v, rest), pairs_of(m, v), stiffness_of(s, v[0], rest));
        if (h_s < mine || tightest == INT64_MAX) {
            mine = h_s;
            tightest = s->mesh->part ? s->mesh->part->triangle_id[t] : t;
        }
        most[0] = fmax(most[0], h_s);
        most[1] = fmax(most[1], -h_s);
    }
    if (s->mesh->part && MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, ctx->comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed to find the stiffest triangle");
    *longest_s = most[0];
    *shortest_s = -most[1];
    m->wide = most[0] > -INFINITY;
    if (!m->wide)
        return TAC_OK;
    TAC_TRY(refuse_bent(ctx, m));
    if (s->settings->integrator != TAC_INTEGRATOR_ASYNCHRONOUS || tac_clock_period(s, *shortest_s) >= 4096)
        return TAC_OK; /* the implicit integrator has no layers */
    first = tightest = mine == *shortest_s ? tightest : INT64_MAX;
    if (s->mesh->part && MPI_Allreduce(&tightest, &first, 1, TAC_GID_MPI, MPI_MIN, ctx->comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed to find the stiffest triangle");
    err = refuse_short(ctx, m, *shortest_s, first);
done:
    return err;
}
