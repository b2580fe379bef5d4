/* joint_pairs.c: the pairs of points that joints hold together, and the parameters of their layers. */
#include "contact/joint_pairs.h"
#include "base/compare.h"
#include "contact/principal.h"
#include "scene/period.h"
#include <stdlib.h>

/* The layers of a pair act from where its points lie on each other, but for this part: there a pair is silent, whatever
 * is rounded, and its direction is known where it is not. */
static const double SILENT = 1 - 0x1p-10;

/* Which point is this vertex of the scene? NULL: none that only joints have. */
static const struct tac_joint_anchor *find_anchor(const struct tac_settings *s, tac_gid vertex)
{
    if (s->anchor_count == 0)
        return NULL;
    return bsearch(&vertex, s->anchor, (size_t)s->anchor_count, sizeof *s->anchor, tac_compare_int64);
}

tac_lid tac_joint_of(const struct tac_scene *scene, enum tac_pair_type type, const tac_lid *v, int *pair)
{
    const struct tac_settings *s = scene->settings;
    const bool slides = type == TAC_PAIR_SLIDE;
    const tac_gid id[2] = {tac_scene_id(scene, v[0]), tac_scene_id(scene, v[1])};
    const struct tac_joint_anchor *anchor = find_anchor(s, id[0]);
    if (anchor == NULL && !slides)
        anchor = find_anchor(s, id[1]);
    if (anchor == NULL)
        return -1;
    const struct tac_joint *joint = &s->joint[anchor->joint];
    *pair = anchor->point;
    if (*pair >= joint->pairs || slides != (joint->kind == TAC_JOINT_SLIDER))
        return -1;
    const tac_gid a = joint->end[0].point[*pair], b = joint->end[1].point[slides ? 2 * *pair : *pair];
    if (slides)
        return id[0] == a && id[1] == b && tac_scene_id(scene, v[2]) == b + 1 ? anchor->joint : -1;
    return (id[0] == a && id[1] == b) || (id[0] == b && id[1] == a) ? anchor->joint : -1;
}

bool tac_joint_pair(const struct tac_scene *scene, tac_lid joint, int p, enum tac_pair_type *type, tac_lid v[4])
{
    const bool slides = scene->settings->joint[joint].kind == TAC_JOINT_SLIDER;
    *type = slides ? TAC_PAIR_SLIDE : TAC_PAIR_JOINT;
    v[0] = tac_joint_point(scene, joint, 0, p);
    v[1] = tac_joint_point(scene, joint, 1, slides ? 2 * p : p);
    v[2] = slides ? tac_joint_point(scene, joint, 1, 2 * p + 1) : -1;
    v[3] = -1;
    return v[0] >= 0 && v[1] >= 0 && (v[2] >= 0 || !slides);
}

/* At a point of a rigid body nothing else pulls; at a vertex of another body its edges do. */
static double count_pulling(const struct tac_model *m, enum tac_pair_type type, const tac_lid *v)
{
    const tac_lid other = m->valence[v[type == TAC_PAIR_SLIDE ? 2 : 1]];
    return fmax(8, m->valence[v[0]] + (m->valence[v[1]] > other ? m->valence[v[1]] : other));
}

double tac_joint_inverse_mass(const struct tac_model *m, enum tac_pair_type type, const tac_lid *v)
{
    return m->w_ever[v[0]] + fmax(m->w_ever[v[1]], m->w_ever[v[type == TAC_PAIR_SLIDE ? 2 : 1]]);
}

void tac_joint_form(const struct tac_model *m, enum tac_pair_type type, const tac_lid *v, struct tac_form *form,
                    double *pairs)
{
    const struct tac_settings *s = m->scene->settings;
    int p = 0;
    const tac_lid index = tac_joint_of(m->scene, type, v, &p);
    TAC_CHECK(index >= 0);
    const struct tac_joint *joint = &s->joint[index];
    form->law = &m->law[s->contact.law_count + 1 + index];
    form->radius = -joint->most[p];
    form->thickness = SILENT * joint->soft[p];
    form->stiffness = joint->stiffness;
    *pairs = count_pulling(m, type, v);
}

static enum tac_err refuse_short(struct tac_ctx *ctx, const struct tac_model *m, double period_s, tac_lid joint)
{
    const struct tac_settings *s = m->scene->settings;
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "joints[%d] (`%s`) may need a period of %.3g s in its first layer, under 2^12 quanta (%.3g s); "
                    "make its stiffness smaller, what it joins heavier, or clocks.quantum_s a smaller power of two",
                    (int)joint, s->joint[joint].name, period_s, 4096 * s->quantum_s);
}

enum tac_err tac_joint_extremes(struct tac_ctx *ctx, const struct tac_model *m, double *longest_s, double *shortest_s)
{
    const struct tac_scene *s = m->scene;
    double most[2] = {-INFINITY, -INFINITY}; /* largest h(1), and smallest with its sign turned, s */
    tac_lid tightest = INT32_MAX, first;
    for (tac_lid i = 0; i < s->settings->joint_count; i++)
        for (int p = 0; p < s->settings->joint[i].pairs; p++) {
            tac_lid v[4];
            enum tac_pair_type type;
            if (!tac_joint_pair(s, i, p, &type, v))
                continue;
            const double h_s = tac_period_bound(m, tac_joint_inverse_mass(m, type, v), count_pulling(m, type, v),
                                                s->settings->joint[i].stiffness);
            tightest = -h_s > most[1] ? i : tightest;
            most[0] = fmax(most[0], h_s);
            most[1] = fmax(most[1], -h_s);
        }
    const double mine = -most[1];
    if (s->mesh->part && MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, ctx->comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed to find the stiffest joint");
    *longest_s = most[0];
    *shortest_s = -most[1];
    if (s->settings->joint_count == 0 || s->settings->integrator != TAC_INTEGRATOR_ASYNCHRONOUS ||
        tac_clock_period(s, *shortest_s) >= 4096)
        return TAC_OK;
    first = tightest = mine == *shortest_s ? tightest : INT32_MAX;
    if (s->mesh->part && MPI_Allreduce(&tightest, &first, 1, MPI_INT32_T, MPI_MIN, ctx->comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed to find the stiffest joint");
    return refuse_short(ctx, m, *shortest_s, first);
}
