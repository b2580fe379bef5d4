/* A free elastic collision of two shells, with pairs of every kind in three dimensions: linear and angular momentum
 * stay what they were to round-off.  If this fails, some force does not push on both of its sides along one line. */
#include "support.h"

int main(void)
{
    MPI_Init(NULL, NULL);
    struct experiment e;
    begin(&e, "tests/unit/events/scenes/two-shells.json", NULL);
    const struct tac_scene *s = e.scene;
    double p = 0, l = 0, worst_p = 0, worst_l = 0, worst_defect = 0;
    int64_t contacts = 0;
    for (size_t i = 0; i < (size_t)s->mesh->vertex_count; i++) {
        const double speed = sqrt(tac_dot(&s->mesh->v[3 * i], &s->mesh->v[3 * i])),
                     far = sqrt(tac_dot(&s->mesh->x[3 * i], &s->mesh->x[3 * i]));
        p += s->mesh->mass[i] * speed;
        l += s->mesh->mass[i] * far * speed;
    }
    for (int k = 1; k <= 64 && run_to(&e, k * s->settings->end_s / 64); k++) {
        for (int c = 0; c < 3; c++) {
            worst_p = fmax(worst_p, fabs(e.row.momentum[c] - e.start.momentum[c]));
            worst_l = fmax(worst_l, fabs(e.row.angular_momentum[c] - e.start.angular_momentum[c]));
        }
        worst_defect = fmax(worst_defect, fabs(e.row.defect));
        contacts = e.row.contacts > contacts ? e.row.contacts : contacts;
    }
    CHECK(worst_p <= 1e-12 * p, "momentum changed by %.3g of %.3g kg m/s", worst_p, p);
    CHECK(worst_l <= 1e-12 * l, "angular momentum changed by %.3g of %.3g kg m^2/s", worst_l, l);
    CHECK(worst_defect <= 2e-4 * e.start.total, "defect %.3g of %.3g J", worst_defect, e.start.total);
    CHECK(contacts >= 20 && e.row.kinetic < .9 * e.start.kinetic, "no collision: %d contacts", (int)contacts);
    end(&e);
    MPI_Finalize();
    return check_result();
}
