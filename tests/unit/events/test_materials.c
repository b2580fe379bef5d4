/* Damping and plasticity in the engine: closed forms of damped swings and of a wire drawn beyond its limit; momenta;
 * the book and the defect with dampers of other periods than their forces; strong damping at any safety. */
#include "elements/kernels.h"
#include "support.h"
#include <tactus/math.h>

/* x'' = -omega^2 x - c x', from x = 0 with speed v. */
static double swing(double omega, double c, double v, double t)
{
    const double damped = sqrt(omega * omega - .25 * c * c);
    return v / damped * exp(-.5 * c * t) * sin(damped * t);
}

/* The two masses' distance against the closed form, over eight seconds (2.5 periods): the error falls as the period. */
static void spring_swings(void)
{
    double worst[3] = {0, 0, 0};
    for (int n = 0; n < 3; n++) {
        struct experiment e;
        struct settings s = {.count = 0};
        set(&s, "clocks.elastic_s=%.17g", ldexp(1, -7 - n));
        begin(&e, "tests/unit/events/scenes/two-masses.json", &s);
        e.sim->state.vel[1].v[0] = .01; /* the other is at rest: it must come along */
        for (int k = 1; k <= 32 && run_to(&e, .25 * k); k++) {
            double a[3], b[3];
            tac_position(&e.sim->state, &e.sim->scripts, 0, e.sim->state.now, a);
            tac_position(&e.sim->state, &e.sim->scripts, 1, e.sim->state.now, b);
            const double l = b[0] - a[0] - 1; /* mu = 1/4, k/L = 1: omega = 2, c = damping omega^2 */
            worst[n] = fmax(worst[n], fabs(l - swing(2, .1 * 4, .01, .25 * k)));
        }
        CHECK(fabs(e.row.momentum[0] - .005) < 1e-15, "momentum %.17g", e.row.momentum[0]);
        end(&e);
    }
    /* .01 / 2 is the swing's size; undamped it would be off by all of it. */
    CHECK(worst[0] < .02 * .005 && worst[1] < .6 * worst[0] && worst[2] < .6 * worst[1], "errors %.3g %.3g %.3g m",
          worst[0], worst[1], worst[2]);
}

/* A small swing of a hinge: theta'' = -2 k' a theta - damping 2 k' a theta', a = sum |grad theta|^2 / m. */
static void hinge_swings(void)
{
    double worst[2] = {0, 0}, size = 0;
    for (int n = 0; n < 2; n++) {
        struct experiment e;
        struct settings s = {.count = 0};
        double x[4][3], j[4][3], a = 0, speed = 1e-4;
        set(&s, "clocks.elastic_s=%.17g", ldexp(1, -8 - n));
        begin(&e, "tests/unit/events/scenes/one-hinge.json", &s);
        const struct tac_rate_class *rate = e.sim->elastic->rate;
        const struct tac_hinge *hinge = rate->group[tac_element_of_kind(TAC_KIND_HINGE)].elastic.record;
        const double start = hinge->angle, stiffness = hinge->stiffness;
        for (int i = 0; i < 4; i++)
            memcpy(x[i], e.sim->state.pos[hinge->v[i]].x, sizeof x[i]);
        tac_one_hinge(start - 1, 1, (const double(*)[3])x, j); /* minus the gradient */
        for (int i = 0; i < 4; i++)
            a += tac_dot(j[i], j[i]) / .5;
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) /* along the gradient: theta' = speed */
                e.sim->state.vel[hinge->v[i]].v[k] = -speed * j[i][k] / .5 / a;
        const double omega = sqrt(2 * stiffness * a);
        size = speed / omega;
        for (int k = 1; k <= 16 && run_to(&e, .25 * k); k++) {
            struct tac_one_fold f;
            for (int i = 0; i < 4; i++)
                tac_position(&e.sim->state, &e.sim->scripts, hinge->v[i], e.sim->state.now, x[i]);
            tac_one_fold((const double(*)[3])x, &f);
            const double angle = tac_one_fold_angle(&f);
            worst[n] = fmax(worst[n], fabs(angle - start - swing(omega, .05 * omega * omega, speed, .25 * k)));
        }
        end(&e);
    }
    CHECK(worst[0] < .03 * size && worst[1] < .6 * worst[0], "errors %.3g %.3g rad of %.3g", worst[0], worst[1], size);
}

/* Drawn from 2 m to 2.5 m slowly: all springs flow alike, to what is over 1 + 1/16; let go it stays 2.5 - 2/16 long.
 * What was taken: the yield force, 40/16 N, over the flow, and little by damping. */
static void wire_stays_long(void)
{
    struct experiment e;
    struct settings s = {.count = 0};
    begin(&e, "tests/unit/events/scenes/wire-drawn.json", &s);
    double a[3], b[3], dissipated = 0;
    run_to(&e, 9);
    const double held = e.row.stretch;
    CHECK(fabs(held / (8 * .5 * 160 * .015625 * .015625) - 1) < .02, "stretched to the limit: %g J", held);
    for (int k = 37; k <= 52 && run_to(&e, .25 * k); k++) {
        CHECK(e.row.dissipated >= dissipated, "dissipated grows");
        dissipated = e.row.dissipated;
    }
    tac_position(&e.sim->state, &e.sim->scripts, 0, e.sim->state.now, a);
    tac_position(&e.sim->state, &e.sim->scripts, 8, e.sim->state.now, b);
    CHECK(fabs(b[0] - a[0] - 2.375) < .002, "the wire is %g m long", b[0] - a[0]);
    const double flow = 2.5 * .375; /* J */
    CHECK(dissipated > flow && dissipated < flow + 1.2 * held + .05 * flow, "dissipated %g J, %g J by flow", dissipated,
          flow);
    CHECK(tac_sim_book_residual(e.sim) <= 1e-12, "book %g", tac_sim_book_residual(e.sim));
    end(&e);
}

/* Momenta of what nothing touches stay, to round-off, while a good part of the energy goes. */
static void momenta_stay(void)
{
    struct experiment e;
    begin(&e, "tests/unit/events/scenes/tins-flying.json", NULL);
    double worst = 0, book = 0, dissipated = 0;
    for (int k = 1; k <= 16 && run_to(&e, ldexp(k, -6)); k++) {
        for (int c = 0; c < 3; c++)
            worst = fmax(worst, fmax(fabs(e.row.momentum[c] - e.start.momentum[c]),
                                     fabs(e.row.angular_momentum[c] - e.start.angular_momentum[c])));
        book = fmax(book, tac_sim_book_residual(e.sim));
        CHECK(e.row.dissipated > dissipated, "dissipated grows");
        dissipated = e.row.dissipated;
    }
    CHECK(worst < 1e-14, "momenta change by %g kg m/s", worst); /* of some .1 */
    CHECK(book <= 1e-12 && dissipated > .1 * e.start.total, "book %g, dissipated %g of %g J", book, dissipated,
          e.start.total);
    end(&e);
}

/* The defect falls at least linearly when all periods halve, with dampers, flow and scripts. */
static void defect_falls(const char *file, const struct settings *more)
{
    double defect[3], scale = 0;
    for (int n = 0; n < 3; n++) {
        struct experiment e;
        struct settings s = {.count = 0};
        if (more)
            s = *more;
        set(&s, "clocks.elastic_safety=%.17g", ldexp(.2, -2 * n));
        set(&s, "clocks.elastic_s=%.17g", ldexp(1, -8 - 2 * n));
        begin(&e, file, &s);
        defect[n] = largest_defect(&e, ldexp(1, -6));
        scale = fmax(e.row.dissipated, e.start.total);
        end(&e);
    }
    CHECK(defect[1] < defect[0] / 3.5 && defect[2] < defect[0] / 14 && defect[2] < 1e-4 * scale,
          "%s: defects %.3g %.3g %.3g of %.3g J with periods by quarters", file, defect[0], defect[1], defect[2],
          scale);
}

/* Damping of any strength, at the coarsest clocks that the format allows: energy never grows beyond what the elastic
 * forces alone leave open, and what can be damped is gone in the end. */
static void strong_is_safe(const char *mode, double damping, double safety)
{
    struct experiment e;
    struct settings s = {.count = 0};
    set(&s, "clocks={\"mode\": \"%s\", \"elastic_safety\": %.17g}", mode, safety);
    for (int m = 0; m < 2; m++) {
        static const char *const name[2] = {"tin", "wire"};
        set(&s, "materials.%s.stretch.damping=%.17g", name[m], damping);
        set(&s, "materials.%s.bend.damping=%.17g", name[m], damping);
        set(&s, "materials.%s.stretch.yield=100", name[m]);
        set(&s, "materials.%s.bend.yield=3", name[m]);
    }
    set(&s, "time.end=%.17g", ldexp(1, damping > .1 ? -6 : -4));
    begin(&e, "tests/unit/events/scenes/tins-flying.json", &s);
    double most = e.start.total;
    for (int k = 1; ldexp(k, -10) <= e.scene->settings->end_s && run_to(&e, ldexp(k, -10)); k++) {
        CHECK(e.row.total < most * (1 + .02 * safety), "%s, damping %g s, safety %g: %g of %g J at %g s", mode, damping,
              safety, e.row.total, most, e.row.time_s);
        most = fmin(most, e.row.total);
    }
    CHECK(e.row.dissipated > .1 * e.start.total, "%s, damping %g s: dissipated %g of %g J", mode, damping,
          e.row.dissipated, e.start.total);
    end(&e);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    spring_swings();
    hinge_swings();
    wire_stays_long();
    momenta_stay();
    defect_falls("tests/unit/events/scenes/tins-flying.json", NULL);
    struct settings drawn = {.count = 0};
    set(&drawn, "time.end=2");
    set(&drawn, "motions.1.path=[[0, [0, 0, 0]], [1.01, [0.5, 0.1, 0]]]");
    defect_falls("tests/unit/events/scenes/wire-drawn.json", &drawn);
    for (int k = 0; k < 12; k++) {
        static const double damping[3] = {.001, .03, .5}, safety[2] = {.1, 1};
        strong_is_safe(k & 1 ? "free" : "nested", damping[k / 4], safety[k >> 1 & 1]);
    }
    MPI_Finalize();
    return check_result();
}
