/* impact_scripts.c: moves scripted vertices in a part of a step. A vertex is scripted in a part if its motion holds it
 * at the part's start. It goes straight to where its path says, and nothing stops it. */
#include "impact/impact.h"
#include <stdlib.h>
#include <string.h>

static enum tac_err list_scripts(struct tac_impact *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_impact_scripts *all = &sim->scripts;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    for (tac_lid m = 0; m < mesh->moved_count; m++)
        all->count += (size_t)mesh->moved[m].vertex_count;
    TAC_TRY(tac_alloc(sim->ctx, all->count, sizeof *all->script, &all->script));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->owned, sizeof *all->of, &all->of));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->count, sizeof *all->on, &all->on));
    for (tac_lid v = 0; v < sim->owned; v++)
        all->of[v] = -1;
    for (tac_lid m = 0; m < mesh->moved_count; m++)
        for (tac_lid i = 0; i < mesh->moved[m].vertex_count; i++)
            all->of[mesh->moved[m].vertex[i]] = m;
    int32_t place = 0;
    for (tac_lid v = 0; v < sim->owned; v++)
        if (all->of[v] >= 0) {
            struct tac_impact_script *s = &all->script[place];
            s->vertex = v;
            s->motion = all->of[v];
            memcpy(s->origin, &mesh->x[3 * (size_t)v], sizeof s->origin);
            all->of[v] = place++;
        }
    for (tac_lid m = 0; m < mesh->moved_count; m++)
        for (tac_lid i = 0; i < mesh->moved[m].vertex_count; i++)
            all->script[all->of[mesh->moved[m].vertex[i]]].row = i;
done:
    return err;
}

enum tac_err tac_impact_scripts_create(struct tac_impact *sim)
{
    enum tac_err err;
    TAC_TRY(list_scripts(sim));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->scene->mesh->moved_count, sizeof *sim->scripts.at, &sim->scripts.at));
    TAC_TRY(tac_motion_rows_make(sim->ctx, sim->scene, 0, &sim->scripts.rows));
done:
    return err;
}

void tac_impact_scripts_destroy(struct tac_impact *sim)
{
    free(sim->scripts.script);
    free(sim->scripts.of);
    free(sim->scripts.on);
    free(sim->scripts.at);
    tac_motion_rows_destroy(sim->scene, &sim->scripts.rows);
}

static void take(struct tac_impact *sim, struct tac_impact_script *s, bool on)
{
    s->on = on;
    if (on && sim->scene->settings->motion[s->motion].release && !s->caught) {
        s->caught = true;
        memcpy(s->origin, &sim->x[3 * (size_t)s->vertex], sizeof s->origin);
    }
}

void tac_impact_scripts_tell(struct tac_impact *sim)
{
    for (size_t k = 0; k < sim->scripts.count; k++)
        sim->scripts.on[sim->scripts.script[k].vertex] = sim->scripts.script[k].on;
}

void tac_impact_scripts_start(struct tac_impact *sim)
{
    for (size_t k = 0; k < sim->scripts.count; k++) {
        struct tac_impact_script *s = &sim->scripts.script[k];
        take(sim, s, tac_motion_holds(sim->scene, &sim->scene->settings->motion[s->motion], 0));
    }
    tac_impact_scripts_tell(sim);
}

enum tac_err tac_impact_scripts_begin(struct tac_impact *sim, tac_time from, tac_time to)
{
    for (tac_lid m = 0; m < sim->scene->settings->motion_count; m++)
        if (sim->scripts.rows[m] != NULL)
            sim->scripts.at[m] = tac_motion_find(sim->scene, &sim->scene->settings->motion[m], to);
    for (size_t k = 0; k < sim->scripts.count; k++) {
        struct tac_impact_script *s = &sim->scripts.script[k];
        const struct tac_motion *m = &sim->scene->settings->motion[s->motion];
        const bool on = tac_motion_holds(sim->scene, m, from);
        if (on != s->on)
            tac_impact_hand_over(sim, s->vertex, on);
        take(sim, s, on);
        if (on && m->cache != NULL)
            tac_motion_place_row(sim->scripts.rows[s->motion], &sim->scripts.at[s->motion], (size_t)s->row, s->origin,
                                 s->target);
        else if (on)
            tac_motion_place(sim->scene, m, s->origin, to, s->target);
    }
    tac_impact_scripts_tell(sim);
    return tac_motion_rows_agree(sim->ctx, sim->scene, sim->scripts.rows);
}
