/* kinetic_between.c: finds the contact pairs that the features of two primitives form, and makes a slab for each. */
#include "kds/kinetic_slab.h"

/* The vertices of edge i of a primitive, smaller global id first. */
static void edge_vertices(const struct tac_view *view, const struct tac_primitive *p, int i, tac_lid v[2])
{
    const tac_lid a = p->count == 3 ? p->v[(i + 1) % 3] : p->v[0], b = p->count == 3 ? p->v[(i + 2) % 3] : p->v[1];
    const bool swap = tac_scene_id(view->scene, a) > tac_scene_id(view->scene, b);
    v[0] = swap ? b : a;
    v[1] = swap ? a : b;
}

static enum tac_err vertices_against(struct tac_kinetic *k, const struct tac_primitive *a,
                                     const struct tac_primitive *b, int32_t owner, int32_t *head)
{
    enum tac_err err = TAC_OK;
    for (int i = 0; i < a->count; i++)
        if ((a->vertices >> i & 1) && b->count > 1)
            TAC_TRY(tac_slabs_add(k, b->count == 3 ? TAC_PAIR_VERTEX_TRIANGLE : TAC_PAIR_VERTEX_SEGMENT,
                                  (tac_lid)tac_scene_id(k->view->scene, a->v[i]), b->id, &a->v[i], b->v, owner, head));
done:
    return err;
}

enum tac_err tac_slabs_between(struct tac_kinetic *k, const struct tac_primitive *a, const struct tac_primitive *b,
                               int32_t owner, int32_t *head)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(vertices_against(k, a, b, owner, head));
    TAC_TRY(vertices_against(k, b, a, owner, head));
    if (a->count == 1 && b->count == 1) {
        const struct tac_primitive *low = a->id < b->id ? a : b, *high = a->id < b->id ? b : a;
        TAC_TRY(tac_slabs_add(k, TAC_PAIR_VERTEX_VERTEX, low->id, high->id, low->v, high->v, owner, head));
    }
    for (int i = 0; i < 3 && !k->view->scene->settings->two_d; i++)
        for (int j = 0; j < 3; j++)
            if ((a->edges >> i & 1) && (b->edges >> j & 1)) {
                const tac_lid e = a->edge[i], f = b->edge[j];
                tac_lid ve[2], vf[2];
                edge_vertices(k->view, a, i, ve);
                edge_vertices(k->view, b, j, vf);
                if (e < f)
                    TAC_TRY(tac_slabs_add(k, TAC_PAIR_EDGE_EDGE, e, f, ve, vf, owner, head));
                else if (f < e)
                    TAC_TRY(tac_slabs_add(k, TAC_PAIR_EDGE_EDGE, f, e, vf, ve, owner, head));
            }
done:
    return err;
}
