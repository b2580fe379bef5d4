/* rolling.c: friction of pairs in which a grain rolls: slip by turning, torques, rolling and twisting friction
 * (docs/reference/engine.md, Grains that roll). */
#include "contact/rolling.h"

#include <string.h>

void tac_rolling_follow(struct tac_rolling_values *r, const struct tac_turns *turns, const double n[3], bool born,
                        double apart[3], double slip[3])
{
    double place[3], now[3], way[3], by_turns[3];
    for (int k = 0; k < 3; k++) {
        place[k] = turns->radius[0] * turns->turn[0][k] + turns->radius[1] * turns->turn[1][k];
        now[k] = (turns->radius[0] > 0 ? turns->turn[0][k] : 0) - (turns->radius[1] > 0 ? turns->turn[1][k] : 0);
        apart[k] = 0;
    }
    if (born) {
        memset(r, 0, sizeof *r);
    } else {
        tac_sub(way, place, r->place);
        tac_sub(apart, now, r->apart);
        tac_cross(by_turns, n, way);
        for (int k = 0; k < 3; k++)
            slip[k] += by_turns[k];
    }
    memcpy(r->place, place, sizeof place);
    memcpy(r->apart, now, sizeof now);
}

/* The radius by which rolling friction is measured: of a grain on a surface its own, of two grains that of their
 * relative curvature. */
static double rolling_radius(const struct tac_model *model, const struct tac_turns *turns)
{
    const struct tac_scene *s = model->scene;
    const tac_lid second = turns->grain[1];
    const double a = turns->radius[0], b = s->settings->body[s->mesh->vertex_body[second]].radius;
    return model->particle[second] && b > 0 ? a * b / (a + b) : a;
}

/* One of the two springs: it is turned by `bend` [rad], at `rate` [rad/s].  Adds its impulse of torque on the first
 * grain; one that the budget does not allow takes the spring along. */
static void spring(double stiffness, double damping, double h_s, double *budget, double bend[3], const double rate[3],
                   double torque[3])
{
    double pull[3];
    for (int k = 0; k < 3; k++)
        pull[k] = h_s * (stiffness * bend[k] + damping * rate[k]);
    const double size = sqrt(tac_dot(pull, pull)), share = size > *budget ? *budget / size : 1;
    for (int k = 0; k < 3; k++) {
        torque[k] -= share * pull[k];
        if (share < 1)
            bend[k] = share * pull[k] / (h_s * stiffness);
    }
    *budget -= share < 1 ? *budget : size;
}

void tac_rolling_torque(const struct tac_model *model, const struct tac_form *form, struct tac_rolling_values *r,
                        const struct tac_turns *turns, const double n[3], const double apart[3],
                        const struct tac_rolling_tick *tick, const double j[3], double torque[2][3])
{
    const struct tac_law *law = form->law;
    const double limit[2] = {law->rolling, law->twisting}, arm = rolling_radius(model, turns);
    double couple[3], part[2][3], rate[2][3], resist[3] = {0, 0, 0}, inverse = 0;
    tac_cross(couple, n, j);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++)
            torque[i][k] = turns->radius[i] * couple[k];
        if (turns->radius[i] > 0)
            inverse += tac_rolling_inverse(model->w_ever[turns->grain[i]], turns->radius[i]);
    }
    for (int k = 0; k < 3; k++)
        r->bend[k] += apart[k];
    const double twist = tac_dot(n, r->bend), twisting = tac_dot(n, apart);
    for (int k = 0; k < 3; k++) {
        part[1][k] = limit[1] > 0 ? twist * n[k] : 0;
        part[0][k] = limit[0] > 0 ? r->bend[k] - twist * n[k] : 0;
        rate[1][k] = tick->dt > 0 ? twisting * n[k] / tick->dt : 0;
        rate[0][k] = tick->dt > 0 ? (apart[k] - twisting * n[k]) / tick->dt : 0;
    }
    const double stiffness = form->stiffness * arm * arm;
    for (int i = 0; i < 2; i++) {
        const double earned = r->budget[i] + limit[i] * arm * tick->impulse, most = limit[i] * arm * tick->stock;
        r->budget[i] = earned < most ? earned : most;
        if (limit[i] > 0 && tick->h_s > 0)
            spring(stiffness, 2 * sqrt(stiffness / inverse), tick->h_s, &r->budget[i], part[i], rate[i], resist);
    }
    for (int k = 0; k < 3; k++) {
        r->bend[k] = part[0][k] + part[1][k];
        torque[0][k] += turns->radius[0] > 0 ? resist[k] : 0;
        torque[1][k] -= turns->radius[1] > 0 ? resist[k] : 0;
    }
}
