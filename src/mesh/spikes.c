/* spikes.c: generates a plate with spikes in one conforming mesh: each cell of the plate has a hole from whose rim the
 * spike rises. */
#include "mesh/circle.h"
#include "mesh/kinds.h"

struct spikes {
    double size[2], cell[2], height, radius;
    int64_t count[2], sides;
};

/* The ring between a cell's four corners and the spike's foot.  Both are convex and one holds the other: take the edges
 * of both in the order of their outward normals, and join each edge to the vertex of the other polygon that lies
 * furthest along that normal.  No triangle can turn over.  Corner e of the cell begins the edge with normal e quarter
 * turns from +x; foot edge k has its normal at (k + 1/2) / sides of a turn. */
static enum tac_err ring_around(struct tac_builder *b, const int64_t corner[4], int64_t foot, int64_t sides)
{
    enum tac_err err = TAC_OK;
    int64_t e = 0, k = 0;
    while (e < 4 || k < sides) {
        const bool outer = k == sides || (e < 4 && e * sides <= 2 * (2 * k + 1));
        if (outer) {
            TAC_TRY(tac_builder_triangle(b, corner[(e + 1) % 4], corner[e], foot + k % sides));
            e++;
        } else {
            TAC_TRY(tac_builder_triangle(b, foot + k, foot + (k + 1) % sides, corner[e % 4]));
            k++;
        }
    }
done:
    return err;
}

static enum tac_err spike(struct tac_builder *b, const struct spikes *s, int64_t i, int64_t j)
{
    enum tac_err err = TAC_OK;
    const double x = .5 * s->cell[0] * (double)(2 * i + 1 - s->count[0]);
    const double z = .5 * s->cell[1] * (double)(2 * j + 1 - s->count[1]);
    const int64_t row = s->count[0] + 1, low = j * row + i, foot = (int64_t)b->vertex_count, tip = foot + s->sides;
    const int64_t corner[4] = {low + 1, low + row + 1, low + row, low};
    for (int64_t k = 0; k < s->sides; k++) {
        double cosine, sine;
        tac_circle(k, s->sides, &cosine, &sine);
        TAC_TRY(tac_builder_vertex(b, x + s->radius * cosine, 0, z + s->radius * sine));
    }
    TAC_TRY(tac_builder_vertex(b, x, s->height, z));
    TAC_TRY(ring_around(b, corner, foot, s->sides));
    for (int64_t k = 0; k < s->sides; k++)
        TAC_TRY(tac_builder_triangle(b, foot + (k + 1) % s->sides, foot + k, tip));
done:
    return err;
}

enum tac_err tac_make_spikes(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct spikes s = {.height = tac_params_number(p, "height"),
                       .radius = .5 * tac_params_number(p, "base"),
                       .sides = tac_params_count(p, "sides", 6)};
    char path[512];
    tac_params_numbers(p, "size", 2, s.size);
    tac_params_counts(p, "count", 2, s.count);
    for (int k = 0; k < 2; k++) {
        s.cell[k] = s.size[k] / (double)s.count[k];
        if (2 * s.radius >= s.cell[k]) {
            err = tac_fail(p->ctx, TAC_ERR_INPUT,
                           "%s: %g does not fit between spikes %g apart along %c; make it smaller or 'count' lower",
                           tac_params_path(p, "base", path), 2 * s.radius, s.cell[k], "xz"[k]);
            goto done;
        }
    }
    const double spike_count = (double)s.count[0] * (double)s.count[1], sides = (double)s.sides;
    TAC_TRY(tac_builder_reserve(b, (double)(s.count[0] + 1) * (double)(s.count[1] + 1) + spike_count * (sides + 1),
                                spike_count * (2 * sides + 4), 0));
    for (int64_t j = 0; j <= s.count[1]; j++)
        for (int64_t i = 0; i <= s.count[0]; i++)
            TAC_TRY(tac_builder_vertex(b, .5 * s.size[0] * ((double)(2 * i - s.count[0]) / (double)s.count[0]), 0,
                                       .5 * s.size[1] * ((double)(2 * j - s.count[1]) / (double)s.count[1])));
    for (int64_t j = 0; j < s.count[1]; j++)
        for (int64_t i = 0; i < s.count[0]; i++)
            TAC_TRY(spike(b, &s, i, j));
done:
    return err;
}
