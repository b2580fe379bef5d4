/* round.c: generators of surfaces of revolution about the y axis: torus, cylinder, cone; and of the lines in the middle
 * of round bodies: ball, capsule. */
#include "mesh/circle.h"
#include "mesh/kinds.h"

#include <string.h>
#include <tactus/math.h>

void tac_circle(int64_t k, int64_t n, double *cosine, double *sine)
{
    /* k/n = (quarter + rest/n) / 4, and only an eighth of a turn is ever computed. */
    const int64_t turned = 4 * (k % n), quarter = turned / n, rest = turned % n;
    const bool upper = 2 * rest > n;
    const double angle = .5 * TAC_PI * ((double)(upper ? n - rest : rest) / (double)n);
    double c = tac_cos(angle), s = tac_sin(angle);
    if (2 * rest == n)
        s = c;
    const double x = upper ? s : c, y = upper ? c : s;
    *cosine = quarter == 0 ? x : quarter == 1 ? -y : quarter == 2 ? -x : y;
    *sine = quarter == 0 ? y : quarter == 1 ? x : quarter == 2 ? -y : -x;
}

/* n vertices around the axis, from +x towards +z. */
static enum tac_err ring(struct tac_builder *b, int64_t n, double radius, double y)
{
    enum tac_err err = TAC_OK;
    for (int64_t i = 0; i < n; i++) {
        double c, s;
        tac_circle(i, n, &c, &s);
        TAC_TRY(tac_builder_vertex(b, radius * c, y, radius * s));
    }
done:
    return err;
}

/* A new vertex on the axis, joined to the ring that begins at `first`: facing +y or -y. */
static enum tac_err fan(struct tac_builder *b, int64_t first, int64_t n, double y, bool up)
{
    enum tac_err err = TAC_OK;
    const int64_t center = (int64_t)b->vertex_count;
    TAC_TRY(tac_builder_vertex(b, 0, y, 0));
    for (int64_t i = 0; i < n; i++) {
        const int64_t p = first + i, q = first + (i + 1) % n;
        TAC_TRY(tac_builder_triangle(b, center, up ? q : p, up ? p : q));
    }
done:
    return err;
}

enum tac_err tac_make_torus(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    double radii[2];
    int64_t n[2];
    char path[512];
    tac_params_numbers(p, "radii", 2, radii);
    tac_params_counts(p, "cells", 2, n);
    if (radii[1] >= radii[0]) {
        err = tac_fail(p->ctx, TAC_ERR_INPUT,
                       "%s: the tube's radius %g must be smaller than the ring's, %g, or the torus cuts itself; give "
                       "[R, r] with r < R",
                       tac_params_path(p, "radii", path), radii[1], radii[0]);
        goto done;
    }
    TAC_TRY(tac_builder_reserve(b, (double)n[0] * (double)n[1], 2 * (double)n[0] * (double)n[1], 0));
    for (int64_t j = 0; j < n[1]; j++) {
        double c, s;
        tac_circle(j, n[1], &c, &s);
        TAC_TRY(ring(b, n[0], radii[0] + radii[1] * c, radii[1] * s));
    }
    /* Around, then up the tube's outside: +z cross +y points inward. */
    TAC_TRY(tac_builder_patch(b, 0, n[0], n[1], true, true, true));
done:
    return err;
}

enum tac_err tac_make_cylinder(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    int64_t n[2];
    const double radius = tac_params_number(p, "radius"), height = tac_params_number(p, "height");
    const bool closed = tac_params_flag(p, "closed");
    tac_params_counts(p, "cells", 2, n);
    TAC_TRY(tac_builder_reserve(b, (double)n[0] * (double)(n[1] + 1) + 2,
                                2 * (double)n[0] * (double)(n[1] + (closed ? 1 : 0)), 0));
    for (int64_t j = 0; j <= n[1]; j++)
        TAC_TRY(ring(b, n[0], radius, .5 * height * ((double)(2 * j - n[1]) / (double)n[1])));
    TAC_TRY(tac_builder_patch(b, 0, n[0], n[1], true, false, true));
    if (closed) {
        TAC_TRY(fan(b, 0, n[0], -.5 * height, false));
        TAC_TRY(fan(b, n[0] * n[1], n[0], .5 * height, true));
    }
done:
    return err;
}

enum tac_err tac_make_cone(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    int64_t n[2];
    const double radius = tac_params_number(p, "radius"), height = tac_params_number(p, "height");
    const bool closed = tac_params_flag(p, "closed");
    tac_params_counts(p, "cells", 2, n);
    TAC_TRY(tac_builder_reserve(b, (double)n[0] * (double)n[1] + 2,
                                (double)n[0] * (2 * (double)n[1] - 1 + (closed ? 1 : 0)), 0));
    for (int64_t j = 0; j < n[1]; j++) {
        const double left = (double)(n[1] - j) / (double)n[1];
        TAC_TRY(ring(b, n[0], radius * left, .5 * height * ((double)(2 * j - n[1]) / (double)n[1])));
    }
    TAC_TRY(tac_builder_patch(b, 0, n[0], n[1] - 1, true, false, true));
    TAC_TRY(fan(b, n[0] * (n[1] - 1), n[0], .5 * height, true)); /* the tip */
    if (closed)
        TAC_TRY(fan(b, 0, n[0], -.5 * height, false));
done:
    return err;
}

enum tac_err tac_make_ball(const struct tac_params *p, struct tac_builder *b)
{
    (void)p; /* the radius is the body's */
    return tac_builder_vertex(b, 0, 0, 0);
}

enum tac_err tac_make_capsule(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    const double half = .5 * tac_params_number(p, "length");
    TAC_TRY(tac_builder_vertex(b, 0, -half, 0));
    TAC_TRY(tac_builder_vertex(b, 0, half, 0));
    TAC_TRY(tac_builder_segment(b, 0, 1));
done:
    return err;
}

bool tac_mesh_is_round(const json_t *spec)
{
    const char *kind = json_string_value(json_object_get(spec, "kind"));
    return kind != NULL && (strcmp(kind, "ball") == 0 || strcmp(kind, "capsule") == 0);
}
