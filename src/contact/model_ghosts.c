/* model_ghosts.c: the arrays of a model that have an entry for each vertex, where vertices come and go as ghosts. */
#include "contact/model.h"
#include "partition/halo.h"

void tac_model_grows(struct tac_model *model, struct tac_halo *halo)
{
    tac_halo_grows(halo, &model->w_ever, sizeof *model->w_ever);
    tac_halo_grows(halo, &model->valence, sizeof *model->valence);
    tac_halo_grows(halo, &model->particle, sizeof *model->particle);
    tac_halo_grows(halo, &model->role, sizeof *model->role);
}

void tac_model_add_ghost(struct tac_model *model, tac_lid v, const struct tac_ghost *ghost)
{
    model->valence[v] = ghost->valence;
    model->w_ever[v] = ghost->ever_free ? 1 / ghost->mass : 0;
    model->role[v] = (uint8_t)tac_role_of(false, ghost->ever_free, ghost->scripted);
    model->particle[v] = ghost->valence == 0 && !tac_scene_inside(model->scene, v, 0);
}
