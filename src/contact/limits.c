/* limits.c: lists the limits of stretch about which a rank decides (docs/reference/engine.md, Limits of stretch). */
#include "contact/limits.h"
#include "contact/joint_pairs.h"
#include "partition/part.h"

/* The limit of an edge; v: lower id first. */
static bool of_edge(const struct tac_model *model, tac_lid edge, struct tac_limit *limit)
{
    const tac_lid *e = &model->scene->mesh->topology->edge[2 * edge];
    const bool swap = tac_scene_id(model->scene, e[0]) > tac_scene_id(model->scene, e[1]);
    limit->v[0] = e[swap];
    limit->v[1] = e[!swap];
    if (tac_model_decider(model, limit->type, limit->v) >= tac_scene_owned(model->scene) ||
        !tac_model_limits(model, limit->type, edge))
        return false;
    limit->a = (tac_lid)tac_scene_id(model->scene, limit->v[0]);
    limit->b = (tac_lid)tac_scene_id(model->scene, limit->v[1]);
    return true;
}

static bool of_triangle(const struct tac_model *model, tac_lid triangle, struct tac_limit *limit)
{
    const struct tac_part *part = model->scene->mesh->part;
    if (!tac_model_limits_triangle(model, triangle, limit->v) ||
        tac_model_decider(model, TAC_PAIR_WIDE, limit->v) >= tac_scene_owned(model->scene))
        return false;
    limit->a = 0;
    limit->b = part ? (tac_lid)part->triangle_id[triangle] : triangle;
    return true;
}

/* The limit of a pair of points, lower id first, or of a point and a segment. */
static bool of_joint(const struct tac_model *model, tac_lid element, struct tac_limit *limit)
{
    const tac_lid joint = element / TAC_JOINT_PAIRS;
    const int p = element % TAC_JOINT_PAIRS;
    if (p >= model->scene->settings->joint[joint].pairs)
        return false;
    tac_lid v[4];
    if (!tac_joint_pair(model->scene, joint, p, &limit->type, v))
        return false;
    const bool swap =
        limit->type == TAC_PAIR_JOINT && tac_scene_id(model->scene, v[0]) > tac_scene_id(model->scene, v[1]);
    limit->v[0] = v[swap];
    limit->v[1] = v[!swap];
    limit->v[2] = v[2];
    limit->a = (tac_lid)tac_scene_id(model->scene, limit->v[0]);
    limit->b = (tac_lid)tac_scene_id(model->scene, limit->v[1]);
    return tac_model_decider(model, limit->type, limit->v) < tac_scene_owned(model->scene);
}

bool tac_limits_next(const struct tac_model *model, struct tac_limit *limit)
{
    const struct tac_scene *s = model->scene;
    bool found = false;
    limit->v[2] = limit->v[3] = -1;
    while (!found && model->limits && !limit->triangles) {
        const tac_lid edge = limit->element / 2;
        if (edge >= s->mesh->topology->edge_count) {
            limit->triangles = true;
            limit->element = 0;
            break;
        }
        limit->type = limit->element % 2 ? TAC_PAIR_SHORT : TAC_PAIR_LONG;
        found = of_edge(model, edge, limit);
        limit->element++;
    }
    while (!found && model->wide && !limit->joints && limit->element < s->mesh->triangle_count) {
        limit->type = TAC_PAIR_WIDE;
        found = of_triangle(model, limit->element++, limit);
    }
    if (!found && !limit->joints) {
        limit->joints = limit->triangles = true;
        limit->element = 0;
        limit->v[2] = -1;
    }
    while (!found && limit->element < TAC_JOINT_PAIRS * s->settings->joint_count)
        found = of_joint(model, limit->element++, limit);
    limit->key = found ? tac_pair_key(limit->type, limit->a, limit->b) : 0;
    return found;
}
