/* slab_lay.h: places a slab between two primitives, and computes when a vertex may enter it (ACM 2009, section 5.1). */
#ifndef TACTUS_KDS_SLAB_LAY_H
#define TACTUS_KDS_SLAB_LAY_H

#include "kds/kinetic_slab.h"

/* Local. Computes the positions of the vertices of a slab's pair at k->now, m. */
void tac_slab_places(const struct tac_kinetic *k, const struct tac_slab *s, double x[4][3]);
/* Local. Returns a lower bound of the seconds from k->now until the largest principal stretch of a triangle is
 * `longest` (times its height at rest). */
double tac_slab_widening_s(const struct tac_kinetic *k, const struct tac_slab *slab, double longest);
/* Local. Returns a lower bound of the seconds from k->now until an edge with a limit has the length `longest`, m. */
double tac_slab_stretch_s(const struct tac_kinetic *k, const struct tac_slab *s, double longest);
/* Local. Places the slab of thickness `reach` (m) half-way between the primitives, perpendicular to their shortest
 * connection, with a speed such that both approach it equally fast. Returns the seconds until some vertex (*which) may
 * enter it; 0 if there is no room for it. *d: the distance of the primitives, m. */
double tac_slab_lay(struct tac_kinetic *k, struct tac_slab *s, const double x[4][3], double reach, double *d,
                    int *which);

/* Local. Returns the seconds from k->now until vertex i may enter the slab. This takes only one division. */
static inline double tac_slab_entry_s(const struct tac_kinetic *k, const struct tac_slab *s, int i, const double x[3])
{
    if (s->type == TAC_PAIR_LONG)
        return tac_slab_stretch_s(k, s, s->upper);
    if (s->type == TAC_PAIR_WIDE)
        return tac_slab_widening_s(k, s, s->upper);
    const double along = tac_dot(s->n, x);
    const struct tac_plan *plan = &k->plan[s->v[i]];
    const double shift = s->speed * tac_state_seconds(k->view->state, k->now - s->laid), v = tac_dot(s->n, plan->v);
    const double gap = (i < s->first ? along - (s->upper + shift) : s->lower + shift - along);
    const double closing = (i < s->first ? s->speed - v : v - s->speed) + plan->reach;
    return closing > 0 ? gap > 0 ? gap / closing : 0 : INFINITY;
}

#endif
