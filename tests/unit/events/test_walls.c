/* AVCM 2011, section 9: a ball between two walls keeps its energy whatever the outer layer's thickness and stiffness:
 * within 3 % over 800 bounces (6400 bounces reach no farther).  If this fails, layers put energy in or take it out in
 * one direction. */
#include "support.h"

int main(void)
{
    MPI_Init(NULL, NULL);
    static const double thickness[] = {1, .1}, stiffness[] = {1, .1, .01};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) {
            struct experiment e;
            struct settings s = {.count = 0};
            double worst = 0, before = 1;
            int64_t turns = 0, deepest = 0;
            set(&s, "contact.thickness=%g", thickness[i]);
            set(&s, "contact.stiffness=%g", stiffness[j]);
            begin(&e, "tests/unit/events/scenes/ball-between-walls.json", &s);
            for (int k = 1; k <= 4000 && run_to(&e, k * .25); k++) {
                worst = fmax(worst, fabs(e.row.defect) / e.start.total);
                turns += e.row.momentum[0] * before < 0;
                before = e.row.momentum[0];
                deepest = e.row.deepest_layer > deepest ? e.row.deepest_layer : deepest;
            }
            CHECK(worst < .03, "thickness %g, stiffness %g: error of the energy %.3g", thickness[i], stiffness[j],
                  worst);
            /* It went on bouncing, and the layer stack was used: half a joule has to be held. */
            CHECK(turns > 300 && deepest > (stiffness[j] < 1 ? 10 : 4), "%d turns, deepest layer %d", (int)turns,
                  (int)deepest);
            end(&e);
        }
    MPI_Finalize();
    return check_result();
}
