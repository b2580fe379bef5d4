/* AVCM 2011, section 8.1: a spring that bounces on a plane keeps its energy over hundreds of bounces, the better the
 * shorter the contact's period.  Bounds: three times what was found.  If this fails, clocks are re-phased, layers
 * missed, or kicks come at other times than their ticks. */
#include "support.h"

struct outcome {
    double worst; /* defect over energy */
    double drift; /* mean energy of the last tenth less that of the first, over the energy */
};

static struct outcome bounce(double height, double safety, double seconds)
{
    struct experiment e;
    struct settings s = {.count = 0};
    struct outcome o = {0, 0};
    set(&s, "bodies.spring.position.1=%.17g", height);
    set(&s, "clocks.contact_safety=%.17g", safety);
    begin(&e, "tests/unit/events/scenes/spring-on-plane.json", &s);
    const int rows = (int)(4 * seconds);
    int contacts = 0;
    for (int k = 1; k <= rows && run_to(&e, .25 * k); k++) {
        o.worst = fmax(o.worst, fabs(e.row.defect) / e.start.total);
        if (k <= rows / 10)
            o.drift -= e.row.total;
        if (k > rows - rows / 10)
            o.drift += e.row.total;
        contacts += e.row.contacts > 0;
    }
    o.drift = fabs(o.drift) / (rows / 10) / e.start.total;
    CHECK(contacts > 10, "%d rows in contact", contacts);
    end(&e);
    return o;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    const double seconds = 400;
    for (int i = 0; i < 3; i++) {
        const double height = .9 + .1 * i;
        struct outcome near_1e3 = bounce(height, .15, seconds), near_24e5 = bounce(height, .0375, seconds);
        printf("from %.1f m: defect %.2e, drift %.2e with h(1) = 2^-10 s; %.2e, %.2e with 2^-12 s\n", height,
               near_1e3.worst, near_1e3.drift, near_24e5.worst, near_24e5.drift);
        CHECK(near_1e3.worst < 3e-3 && near_1e3.drift < 3e-3, "defect %.3g, drift %.3g", near_1e3.worst,
              near_1e3.drift);
        CHECK(near_24e5.worst < 3e-4 && near_24e5.drift < 3e-4, "defect %.3g, drift %.3g", near_24e5.worst,
              near_24e5.drift);
    }
    MPI_Finalize();
    return check_result();
}
