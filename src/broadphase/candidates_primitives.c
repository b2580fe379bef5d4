/* candidates_primitives.c: computes, once, the data of candidate lists that depend on the scene alone: the primitives
 * of each body, the skin, and the bodies that never move. */
#include "broadphase/candidates.h"
#include <stdlib.h>
#include <string.h>

static const double SKIN = .1, FINE_SKIN = .05; /* edges */

/* Boxes are widened by 1e-12 of the largest coordinate. Where that coordinate is this many skins, they are widened by a
 * skin; beyond that every box would be near every other. */
static const double FARTHEST = 1e12, BEYOND = 1e50;

/* Adds a primitive. It stands for those of its vertices that this rank owns or that never move (where every owner finds
 * its pairs: for all), unless an earlier primitive stands for them. */
static void add_primitive(struct tac_candidates *c, const struct tac_view *view, tac_lid count, tac_lid id,
                          const tac_lid *v, uint8_t *taken, uint8_t *edge_taken, int32_t *fill)
{
    const struct tac_scene *s = view->scene;
    tac_lid body = s->mesh->vertex_body[v[0]];
    struct tac_primitive *p = &c->primitive[c->primitive_begin[body] + fill[body]++];
    memset(p, 0, sizeof *p);
    const struct tac_part *part = s->mesh->part;
    const tac_lid owned = part ? part->owned : s->mesh->vertex_count;
    p->id = !part ? id
                  : (tac_lid)(count == 3   ? part->triangle_id
                              : count == 2 ? part->segment_id
                                           : part->vertex_id)[id];
    p->count = (uint8_t)count;
    p->body = body;
    p->piece = s->settings->rigid_count > 0 ? tac_scene_rigid_of(s, v[0]) : -1;
    p->inner = 1;
    for (tac_lid k = 0; k < count; k++) {
        p->v[k] = v[k];
        p->inner = p->inner && v[k] < owned;
        p->mover |= v[k] < owned && s->mesh->ever_free[v[k]];
        if ((v[k] < owned || view->every_owner || !tac_model_takes_part(view->model, v[k])) && !taken[v[k]]) {
            taken[v[k]] = 1;
            p->vertices |= (uint8_t)(1 << k);
        }
    }
    c->bordered[body] |= !p->inner;
    c->remote.mover[body] |= p->mover;
    tac_lid edges = count == 3 ? 3 : count == 2 ? 1 : 0;
    for (tac_lid k = 0; k < edges; k++) {
        const tac_lid e = count == 3 ? s->mesh->topology->triangle_edge[3 * id + k] : c->scratch[id];
        p->edge[k] = part ? (tac_lid)part->edge_id[e] : e;
        if (!edge_taken[e]) {
            edge_taken[e] = 1;
            p->edges |= (uint8_t)(1 << k);
        }
    }
}

enum tac_err tac_candidates_primitives(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err;
    const struct tac_scene *s = view->scene;
    uint8_t *taken = NULL, *edge_taken = NULL;
    int32_t *fill = NULL;
    tac_lid particles = 0;
    for (tac_lid i = 0; i < view->state->owned; i++)
        particles += view->model->particle[i];
    size_t total = (size_t)s->mesh->triangle_count + (size_t)s->mesh->segment_count + (size_t)particles;
    size_t most = total > (size_t)s->mesh->vertex_count ? total : (size_t)s->mesh->vertex_count;
    TAC_TRY(tac_alloc(view->ctx, total, sizeof *c->primitive, &c->primitive));
    TAC_TRY(tac_alloc(view->ctx, most, sizeof *c->scratch, &c->scratch));
    c->scratch_capacity = most;
    TAC_TRY(tac_alloc(view->ctx, (size_t)c->body_count + 1, sizeof *c->primitive_begin, &c->primitive_begin));
    TAC_TRY(tac_alloc(view->ctx, (size_t)c->body_count, sizeof *fill, &fill));
    TAC_TRY(tac_alloc(view->ctx, (size_t)s->mesh->vertex_count, 1, &taken));
    TAC_TRY(tac_alloc(view->ctx, (size_t)s->mesh->topology->edge_count, 1, &edge_taken));
    for (tac_lid t = 0; t < s->mesh->triangle_count; t++)
        c->primitive_begin[s->mesh->vertex_body[s->mesh->triangle[3 * t]] + 1]++;
    for (tac_lid g = 0; g < s->mesh->segment_count; g++)
        c->primitive_begin[s->mesh->vertex_body[s->mesh->segment[2 * g]] + 1]++;
    for (tac_lid i = 0; i < view->state->owned; i++)
        c->primitive_begin[s->mesh->vertex_body[i] + 1] += view->model->particle[i];
    for (tac_lid b = 0; b < c->body_count; b++)
        c->primitive_begin[b + 1] += c->primitive_begin[b];
    for (tac_lid e = 0; e < s->mesh->topology->edge_count; e++)
        if (s->mesh->topology->edge_segment[e] >= 0)
            c->scratch[s->mesh->topology->edge_segment[e]] = e;
    for (tac_lid t = 0; t < s->mesh->triangle_count; t++)
        add_primitive(c, view, 3, t, &s->mesh->triangle[3 * t], taken, edge_taken, fill);
    for (tac_lid g = 0; g < s->mesh->segment_count; g++)
        add_primitive(c, view, 2, g, &s->mesh->segment[2 * g], taken, edge_taken, fill);
    for (tac_lid i = 0; i < view->state->owned; i++)
        if (view->model->particle[i])
            add_primitive(c, view, 1, i, &i, taken, edge_taken, fill);
    c->taken = taken;
    taken = NULL;
done:
    free(taken);
    free(edge_taken);
    free(fill);
    return err;
}

/* The skin: a tenth of an edge, or half of that where an edge is less than twice the thickness; of particles alone, a
 * quarter of the thickness.  Twice the skin is less than what a pair of neighbours in a mesh has between its distance
 * at the start and its first layer (contact.rest_fraction); else all of them would be candidates.  In a fine mesh that
 * is a third of an edge, and a patch may bend by what the skins leave of it.  Also finds the bodies that never move.
 * Both are the same on all ranks, because a rank computes the trajectory bounds of its ghosts itself.
 */
enum tac_err tac_candidates_measure(struct tac_view *view, struct tac_candidates *c)
{
    const struct tac_scene *s = view->scene;
    double sum[2] = {0, 0}, all[2];
    for (tac_lid e = 0; e < s->mesh->topology->edge_count; e++) {
        const tac_lid *v = &s->mesh->topology->edge[2 * e];
        if ((!s->mesh->ever_free[v[0]] && !s->mesh->ever_free[v[1]]) || v[0] >= view->state->owned)
            continue;
        double d[3];
        tac_sub(d, &s->mesh->x[3 * v[1]], &s->mesh->x[3 * v[0]]);
        sum[0] += sqrt(tac_dot(d, d));
        sum[1]++;
    }
    for (tac_lid b = 0; b < c->body_count; b++)
        c->immovable[b] = 1;
    for (tac_lid i = 0; i < view->state->owned; i++)
        if (s->mesh->ever_free[i] || view->scripts->of[i] >= 0)
            c->immovable[s->mesh->vertex_body[i]] = 0;
    memcpy(all, sum, sizeof all);
    if (view->halo && (MPI_Reduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, 0, view->ctx->comm) != MPI_SUCCESS ||
                       MPI_Bcast(all, 2, MPI_DOUBLE, 0, view->ctx->comm) != MPI_SUCCESS ||
                       MPI_Allreduce(MPI_IN_PLACE, c->immovable, c->body_count, MPI_UINT8_T, MPI_MIN,
                                     view->ctx->comm) != MPI_SUCCESS))
        return tac_fail(view->ctx, TAC_ERR_RUN, "MPI failed while measuring the scene");
    const double edge = all[1] > 0 ? all[0] / all[1] : 0, thickness = s->settings->contact.thickness;
    c->edge = edge;
    c->skin = all[1] > 0 ? (edge < 2 * thickness ? FINE_SKIN : SKIN) * edge : .25 * thickness;
    c->fine = c->skin < .25 * thickness;
    c->farthest = c->skin > 0 ? FARTHEST * c->skin : BEYOND;
    return TAC_OK;
}
