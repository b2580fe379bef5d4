/* motion_rows.c: makes the rows of the files that give the positions of motions, for the vertices of this rank. */
#include "mesh/cache/point_cache.h"
#include "partition/part.h"
#include "state/scripts.h"
#include <stdlib.h>

enum tac_err tac_motion_rows_make(struct tac_ctx *ctx, const struct tac_scene *scene, double ahead_s,
                                  struct tac_knot_rows ***rows)
{
    enum tac_err err;
    tac_gid *id = NULL;
    TAC_TRY(tac_alloc(ctx, (size_t)scene->settings->motion_count, sizeof **rows, rows));
    for (tac_lid m = 0; m < scene->settings->motion_count; m++) {
        const struct tac_motion *motion = &scene->settings->motion[m];
        const struct tac_moved *moved = &scene->mesh->moved[m];
        if (motion->cache == NULL)
            continue;
        TAC_TRY(tac_alloc(ctx, (size_t)moved->vertex_count, sizeof *id, &id));
        for (tac_lid i = 0; i < moved->vertex_count; i++)
            id[i] = tac_scene_id(scene, moved->vertex[i]);
        TAC_TRY(tac_motion_rows(ctx, scene, motion, (size_t)moved->vertex_count, id, ahead_s, &(*rows)[m]));
        free(id);
        id = NULL;
    }
done:
    free(id);
    return err;
}

void tac_motion_rows_destroy(const struct tac_scene *scene, struct tac_knot_rows ***rows)
{
    for (tac_lid m = 0; m < scene->settings->motion_count && *rows != NULL; m++)
        tac_knot_rows_destroy(&(*rows)[m]);
    free(*rows);
    *rows = NULL;
}

enum tac_err tac_motion_rows_error(const struct tac_scene *scene, struct tac_knot_rows *const *rows)
{
    enum tac_err err = TAC_OK;
    for (tac_lid m = 0; m < scene->settings->motion_count; m++)
        if (rows[m] != NULL && rows[m]->err > err)
            err = rows[m]->err;
    return err;
}

enum tac_err tac_motion_rows_agree(struct tac_ctx *ctx, const struct tac_scene *scene,
                                   struct tac_knot_rows *const *rows)
{
    bool any = false;
    for (tac_lid m = 0; m < scene->settings->motion_count; m++)
        any = any || rows[m] != NULL;
    return any ? tac_agree(ctx, tac_motion_rows_error(scene, rows)) : TAC_OK;
}

bool tac_motion_holds(const struct tac_scene *scene, const struct tac_motion *motion, tac_time t)
{
    if (!motion->release)
        return true;
    return t >= tac_scene_quanta(scene, motion->knot_t_s[0]) &&
           (motion->knot_count == 1 || t < tac_scene_quanta(scene, motion->knot_t_s[motion->knot_count - 1]));
}
