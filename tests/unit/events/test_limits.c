/* Limits of the principal stretch of triangles conserve: momentum and angular momentum to round-off, energy the better
 * the finer the clocks, also where both principal stretches are equal.  If it failed, a limit would turn or heat cloth.
 */
#include "support.h"

/* Largest drift of momentum and angular momentum over a run, against what moves; the largest defect over the energy. */
struct drift {
    double momentum, angular, defect;
    int64_t ticks;
};

static struct drift run(const char *file, double safety)
{
    struct experiment e;
    struct settings s = {.count = 0};
    struct drift d = {0, 0, 0, 0};
    double p = 0, a = 0;
    set(&s, "clocks.contact_safety=%.17g", safety);
    set(&s, "clocks.elastic_safety=%.17g", safety);
    begin(&e, file, &s);
    for (int k = 0; k < 3; k++) {
        p += fabs(e.start.momentum[k]);
        a += fabs(e.start.angular_momentum[k]);
    }
    const double step = e.scene->settings->frame_s;
    for (int64_t n = 1; (double)n * step <= e.scene->settings->end_s && run_to(&e, (double)n * step); n++) {
        for (int k = 0; k < 3; k++) {
            d.momentum = fmax(d.momentum, fabs(e.row.momentum[k] - e.start.momentum[k]) / p);
            d.angular = fmax(d.angular, fabs(e.row.angular_momentum[k] - e.start.angular_momentum[k]) / a);
        }
        d.defect = fmax(d.defect, fabs(e.row.defect) / e.start.total);
        CHECK(tac_sim_book_residual(e.sim) <= 1e-12, "book %g", tac_sim_book_residual(e.sim));
    }
    d.ticks = e.sim->books.counters.committed[TAC_KIND_LIMIT];
    CHECK(e.row.dissipated == 0, "a limit takes %g J", e.row.dissipated);
    end(&e);
    printf("safety %g: momentum off by %.2g, angular momentum by %.2g, energy by %.3g; %lld ticks\n", safety,
           d.momentum, d.angular, d.defect, (long long)d.ticks);
    return d;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    struct drift d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = run("tests/unit/events/scenes/spun-triangles.json", .2 / (1 << (2 * k)));
        CHECK(d[k].momentum < 1e-12 && d[k].angular < 1e-12, "momentum off by %g, angular momentum by %g",
              d[k].momentum, d[k].angular);
        CHECK(d[k].ticks > 1000, "%lld ticks: limits do nothing", (long long)d[k].ticks);
    }
    /* Second order. With layers over the larger stretch alone it is 5 and 7. */
    CHECK(d[1].defect < d[0].defect / 12 && d[2].defect < d[1].defect / 12, "defects %g %g %g with clocks 1, 1/4, 1/16",
          d[0].defect, d[1].defect, d[2].defect);
    MPI_Finalize();
    return check_result();
}
