/* bound.c: computes how far a step may go along Newton's direction (docs/reference/implicit.md, Bound of a step). Every
 * pair keeps a part of its gap, every limit of stretch a part of the stretch that is left to it, and every neo-Hookean
 * tetrahedron a part of its volume.
 */
#include "contact/advance.h"
#include "contact/limit_elements.h"
#include "implicit/parts.h"
#include <math.h>

#define TAC_PART_GROWS 16.
enum { HALVINGS = 50 };

/* The volume of a tetrahedron is a cubic polynomial of the share. Returns, to 2^-HALVINGS, the largest share up to
 * which the volume never falls under `keep` times the volume at share 0; 0 if that volume is not positive. */
double tac_implicit_keep_volume(const double x[4][3], const double p[4][3], double keep)
{
    double a[3][3], b[3][3], ab[3], n[3], m[3], cut[4] = {0, 1, 1, 1};
    for (int i = 0; i < 3; i++) {
        tac_sub(a[i], x[i + 1], x[0]);
        tac_sub(b[i], p[i + 1], p[0]);
    }
    /* (a0 + t b0) . (n + t ab + t^2 m) */
    tac_cross(n, a[1], a[2]);
    tac_cross(m, b[1], b[2]);
    tac_cross(ab, a[1], b[2]);
    double other[3];
    tac_cross(other, b[1], a[2]);
    for (int k = 0; k < 3; k++)
        ab[k] += other[k];
    const double c[4] = {tac_dot(a[0], n), tac_dot(a[0], ab) + tac_dot(b[0], n), tac_dot(a[0], m) + tac_dot(b[0], ab),
                         tac_dot(b[0], m)};
    const double left = (1 - keep) * c[0]; /* how much may be lost */
    if (!(c[0] > 0))
        return 0;
    /* The volume is monotonic between the roots of c1 + 2 c2 t + 3 c3 t^2. The roots between 0 and 1 divide the range
     * of shares. */
    const double root = c[2] * c[2] - 3 * c[3] * c[1];
    int cuts = 1;
    if (root >= 0) {
        const double q = -(c[2] + copysign(sqrt(root), c[2]));
        const double one = c[3] != 0 ? q / (3 * c[3]) : 2, two = q != 0 ? c[1] / q : 2;
        const double first = fmin(one, two), second = fmax(one, two);
        if (first > 0 && first < 1)
            cut[cuts++] = first;
        if (second > 0 && second < 1)
            cut[cuts++] = second;
    }
    for (int k = 1; k <= cuts; k++) {
        double low = cut[k - 1], high = k < cuts ? cut[k] : 1;
        if (high * (c[1] + high * (c[2] + high * c[3])) >= -left)
            continue;
        for (int h = 0; h < HALVINGS; h++) {
            const double t = .5 * (low + high);
            if (t * (c[1] + t * (c[2] + t * c[3])) >= -left)
                low = t;
            else
                high = t;
        }
        return low;
    }
    return 1;
}

/* The largest share of sim->newton.p with which every limit of stretch keeps a part of the stretch that is left to it,
 * and every tetrahedron whose energy is unbounded as its volume goes to 0 keeps a part of its volume. */
static double bound_elements(struct tac_implicit *sim)
{
    double least = 1;
    for (int k = 0; k < sim->set.count; k++) {
        const struct tac_implicit_elements *l = &sim->list[k];
        const bool limit = l->element == &tac_element_limit || l->element == &tac_element_limit_principal;
        if (!limit && l->element != &tac_element_neo_hookean_whole)
            continue;
        sim->books.bounds += (int64_t)l->count;
        for (size_t e = 0; e < l->count; e++) {
            const tac_lid *v = tac_element_stencil(&sim->set.list[k], e);
            double x[TAC_ELEMENT_NODES][3], p[TAC_ELEMENT_NODES][3];
            tac_implicit_gather(sim->x, v, l->element->nodes, x);
            tac_implicit_gather(sim->newton.p, v, l->element->nodes, p);
            least = fmin(
                least,
                limit ? tac_limit_advance(l->element, v, (const double(*)[3])x, (const double(*)[3])p, TAC_GAP_KEPT)
                      : tac_implicit_keep_volume((const double(*)[3])x, (const double(*)[3])p, TAC_GAP_KEPT));
        }
    }
    return least;
}

/* The largest share of sim->newton.p with which every pair keeps a part of its gap, and every element keeps what it
 * needs. */
static enum tac_err bound(struct tac_implicit *sim, double *share)
{
    const double begin_s = tac_wall_s();
    const double slack = 0x1p-48 * sim->scale.size_m; /* rounding of the places that nodes give to vertices */
    double least = fmin(bound_elements(sim), tac_rigid_reach(sim, TAC_GAP_KEPT));
    least = fmin(least, tac_rigid_tie_reach(sim, TAC_GAP_KEPT));
    sim->books.bounds += (int64_t)sim->rigid.joints.tie_count;
    for (size_t e = 0; e < sim->contact.pair_count; e++) {
        const struct tac_implicit_pair *c = &sim->contact.pair[e];
        double x[4][3], p[4][3];
        const int n = tac_pair_vertices(c->form.type);
        if (!c->counted) /* all ranks that have it would find the same */
            continue;
        sim->books.bounds++;
        tac_implicit_gather(sim->x, c->v, n, x);
        tac_implicit_gather(sim->newton.p, c->v, n, p);
        const bool rigid = tac_implicit_rigid_of(sim, c->v[0]) >= 0 || tac_implicit_rigid_of(sim, c->v[n - 1]) >= 0;
        const double radius = c->form.radius + (rigid ? slack : 0);
        least = fmin(least, tac_advance_safely(c->form.type, x, p, radius, TAC_GAP_KEPT, c->form.thickness, least));
    }
    if (sim->ctx->size > 1 &&
        MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while bounding a step");
    *share = least;
    sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
    return TAC_OK;
}

enum tac_err tac_implicit_reach(struct tac_implicit *sim, double *share)
{
    enum tac_err err;
    double part;
    TAC_TRY(tac_implicit_first_part(sim, sim->x, sim->newton.p, &part));
    /* Where p is much longer than the skin, this function first examines the pairs along the first part of p, because
     * along all of p there may be thousands of times as many. No other pair can stop p before the end of that part
     * (MARGIN in implicit_candidates.c).
     */
    for (;; part = fmin(1, TAC_PART_GROWS * part)) {
        TAC_TRY(tac_implicit_find(sim, sim->x, sim->newton.p, part));
        TAC_TRY(bound(sim, share));
        if (*share <= part)
            break;
    }
    sim->last_step.least_share = fmin(sim->last_step.least_share, *share);
done:
    return err;
}
