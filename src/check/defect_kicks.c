/* defect_kicks.c: what steady kicks leave in the energy while contact holds a vertex against them
 * (docs/reference/energy-estimate.md, The estimate of `tactus check`). */
#include "check/defect.h"

static double squared(double x)
{
    return x * x;
}

/* How much deeper than by the mean force a vertex that trembles is pressed: as the kicks' period over that of the layer
 * goes, 1/e times at most. */
static double deeper(double e, double layer_s, double kick_s)
{
    const double most = sqrt(fmax(1, kick_s / layer_s));
    return e * most > 1 ? 1 / e : most;
}

/* Layer groups that are pressed: period, s, and part of the force. */
enum { MOST_RUNGS = 64, MOST_PRESSED = 4096 };
struct pressed {
    int count;
    double h_s[MOST_RUNGS], part[MOST_RUNGS];
};

/* The layer groups that a mean force presses, between kicks of a period of h_s. */
static void press(const struct tac_model *model, const struct tac_form *form, double force, double h_s,
                  struct pressed *out)
{
    const double quantum = model->scene->settings->quantum_s,
                 unit = form->stiffness * model->scene->settings->contact.thickness;
    const double e = sqrt(form->law->e2);
    /* The distance d at which the layers together push as asked, over the thickness: sum of rate x (reach - d). */
    double rate = 0, moment = 0, push = force / unit, all = 0;
    int32_t deepest = 0, last = 0;
    while (deepest < form->bottom && deepest < MOST_PRESSED && moment - rate * model->reach[deepest + 1] < push) {
        if (++deepest > last)
            push = force / unit * deeper(e, (double)tac_model_layer_group(model, form, deepest, &last) * quantum, h_s);
        rate += model->rate[deepest];
        moment += model->rate[deepest] * model->reach[deepest];
    }
    const double d = fmin((moment - push) / rate, model->reach[deepest]);
    out->count = 0;
    for (int32_t l = 1; l <= deepest && out->count < MOST_RUNGS; l = last + 1) {
        out->h_s[out->count] = (double)tac_model_layer_group(model, form, l, &last) * quantum;
        out->part[out->count] = 0;
        for (int32_t i = l; i <= last && i <= deepest; i++)
            out->part[out->count] += model->rate[i] * (model->reach[i] - d);
        all += out->part[out->count++];
    }
    for (int r = 0; r < out->count; r++)
        out->part[r] /= all > 0 ? all : 1;
}

/* c: the part of (F h)^2/m that a kick of period h_s leaves, against layer groups from `first` on. */
static double left_over(const struct pressed *p, int first, double e, double h_s)
{
    const double power = .5 * (1 + fmin(1, 3 * e));
    double part = 0;
    for (int r = first; r < p->count; r++)
        part += p->part[r] * (1 - tac_pow(fmin(1, 2 * p->h_s[r] / h_s), power));
    return .5 * (1 - e) / (1 + e) * part;
}

double tac_defect_of_kicks(const struct tac_model *model, const struct tac_form *form, double force, double h_s)
{
    struct pressed p;
    const double e = sqrt(form->law->e2);
    if (!(force > 0))
        return 0;
    press(model, form, force, h_s, &p);
    double power = h_s > 0 ? h_s * left_over(&p, 0, e, h_s) : 0;
    for (int r = 0; r + 1 < p.count; r++)
        power += squared(p.part[r]) * p.h_s[r] * left_over(&p, r + 1, e, p.h_s[r]);
    return squared(force) * power;
}
