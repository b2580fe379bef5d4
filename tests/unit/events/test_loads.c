/* Loads against closed forms, and their place in the book (docs/explanation/method.md, Energy and the book).  If this
 * fails, a load's ticks do not add up to the force that the scene prescribes, or the column `work` is not what it did.
 */
#include "support.h"

/* Of the chain that is pulled: no motion, no gravity. */
static struct settings left_alone(void)
{
    struct settings s = {.count = 0};
    set(&s, "motions=[]");
    set(&s, "gravity=[0,0,0]");
    return s;
}

/* Two particles in its place, whose loads tick every 2^-7 s. */
static struct settings two_particles(void)
{
    struct settings s = left_alone();
    set(&s, "clocks.gravity_s=0.0078125");
    set(&s, "bodies=[{\"name\":\"a\",\"mass\":2,\"mesh\":{\"kind\":\"points\",\"vertices\":[[0,0,0],[1,0,0]]}}]");
    return s;
}

/* A constant force on a particle: n kicks of h F at h, 2 h, ..., exactly; all numbers are binary fractions. */
static void parabola(void)
{
    struct experiment e;
    struct settings s = two_particles();
    set(&s, "loads=[{\"body\":\"a\",\"vertices\":[1],\"force\":[3,0,-1]},{\"body\":\"a\",\"force\":[0,0.5,0]}]");
    begin(&e, "tests/unit/events/scenes/chain-pulled.json", &s);
    const double h = 0x1p-7, n = 256;
    run_to(&e, n * h);
    for (tac_lid i = 0; i < 2; i++) {
        const double a[3] = {i ? 1.5 : 0, .25, i ? -.5 : 0};
        double x[3];
        tac_position(&e.sim->state, &e.sim->scripts, i, e.sim->state.now, x);
        for (int k = 0; k < 3; k++)
            CHECK(x[k] == (i && k == 0) + a[k] * h * h * n * (n - 1) / 2 && e.sim->state.vel[i].v[k] == a[k] * h * n,
                  "vertex %d, %d: x %.17g, v %.17g", (int)i, k, x[k], e.sim->state.vel[i].v[k]);
    }
    end(&e);
}

/* A hundredth of a period long, between two ticks: its whole momentum arrives. */
static void pulse(void)
{
    struct experiment e;
    struct settings s = two_particles();
    set(&s, "loads=[{\"body\":\"a\",\"force\":[1,0,0],\"path\":[[0.503,0],[0.50304,1000],[0.50308,0]]}]");
    begin(&e, "tests/unit/events/scenes/chain-pulled.json", &s);
    run_to(&e, 1);
    CHECK(fabs(e.row.momentum[0] - 2 * .04) < 1e-9, "momentum %.17g", e.row.momentum[0]);
    end(&e);
}

/* Two masses and a spring, pulled apart over five of its own periods, after which it does not swing: l = L (1 + F/k).
 */
static void pulled_spring(void)
{
    struct experiment e;
    struct settings s = left_alone();
    set(&s, "bodies.chain.mesh={\"kind\":\"segments\",\"from\":[0,0,0],\"to\":[0,2,0],\"cells\":1}");
    const double period = 2 * TAC_PI / 20; /* k/L = 100 N/m, half a kg at each end */
    set(&s,
        "loads=[{\"body\":\"chain\",\"vertices\":[0],\"force\":[0,-20,0],\"path\":[[0,0],[%.17g,1]]},"
        "{\"body\":\"chain\",\"vertices\":[1],\"force\":[0,20,0],\"path\":[[0,0],[%.17g,1]]}]",
        5 * period, 5 * period);
    begin(&e, "tests/unit/events/scenes/chain-pulled.json", &s);
    for (int k = 0; k <= 64; k++) {
        double a[3], b[3];
        run_to(&e, 1.59375 + k * 0x1p-8); /* rows may lie past the end of the scene */
        tac_position(&e.sim->state, &e.sim->scripts, 0, e.sim->state.now, a);
        tac_position(&e.sim->state, &e.sim->scripts, 1, e.sim->state.now, b);
        CHECK(fabs(b[1] - a[1] - 2.2) < 1e-4 && a[0] == 0 && b[2] == 0, "length %.9g", b[1] - a[1]);
    }
    CHECK(fabs(e.row.work - .5 * 100 * .2 * .2) < 1e-3, "work %.9g", e.row.work);
    end(&e);
}

static double volume(const struct experiment *e)
{
    const struct tac_scene *s = e->scene;
    double sum = 0;
    for (tac_lid t = 0; t < s->mesh->triangle_count; t++) {
        double x[3][3], n[3];
        for (int k = 0; k < 3; k++)
            tac_position(&e->sim->state, &e->sim->scripts, s->mesh->triangle[3 * t + k], e->sim->state.now, x[k]);
        tac_cross(n, x[1], x[2]);
        sum += tac_dot(x[0], n) / 6;
    }
    return sum;
}

/* A spherical membrane: with stretch l, Green strain E = (l^2 - 1)/2 both ways and energy Y E^2/(1-nu) per area, the
 * pressure p does its work: l^2 - 1 = l p R (1-nu)/Y.  R: of the ball with the mesh's volume. */
static double balloon_error(int level)
{
    struct experiment e;
    struct settings s = {.count = 0};
    set(&s, "bodies.balloon.mesh.level=%d", level);
    begin(&e, "tests/unit/events/scenes/balloon.json", &s);
    const double start = cbrt(volume(&e) * 3 / (4 * TAC_PI)), b = 60 * start * .6 / 100;
    double mean = 0;
    for (int k = 0; k < 128; k++) {
        run_to(&e, 5 + k * 0x1p-7);
        mean += cbrt(volume(&e) * 3 / (4 * TAC_PI)) / start / 128;
    }
    const double size = e.sim->books.book.absolute;
    for (int k = 0; k < 3; k++)
        CHECK(fabs(e.row.momentum[k]) < 1e-13 * size, "momentum %g of %g", e.row.momentum[k], size);
    CHECK(fabs(e.row.defect) < 1e-4 * e.row.work, "defect %g of %g J", e.row.defect, e.row.work);
    CHECK(tac_sim_book_residual(e.sim) <= 1e-12, "residual %g", tac_sim_book_residual(e.sim));
    end(&e);
    return fabs(mean / (.5 * (b + sqrt(b * b + 4))) - 1);
}

static void balloon(void)
{
    const double coarse = balloon_error(1), fine = balloon_error(2);
    CHECK(coarse < .01 && fine < .4 * coarse, "radius off by %.3g and %.3g", coarse, fine);
}

/* At constant pressure the work is p times the volume won, up to an error that falls with the square of the period. */
static void constant_pressure(void)
{
    double off[2], done = 0;
    for (int k = 0; k < 2; k++) {
        struct experiment e;
        struct settings s = {.count = 0};
        set(&s, "clocks.elastic_s=%.17g", ldexp(1, -9 - 2 * k));
        set(&s, "clocks.gravity_s=%.17g", ldexp(1, -9 - 2 * k));
        set(&s, "bodies.balloon.mesh.level=1");
        set(&s, "loads.0.path=[[0,1]]");
        begin(&e, "tests/unit/events/scenes/balloon.json", &s);
        const double start = volume(&e);
        off[k] = 0;
        for (int i = 1; i <= 32; i++) {
            run_to(&e, i * 0x1p-5);
            off[k] = fmax(off[k], fabs(e.row.work - 60 * (volume(&e) - start)));
        }
        done = fmax(done, e.row.work);
        end(&e);
    }
    CHECK(off[0] < .01 * done && off[1] < off[0] / 10, "work off by %.3g and %.3g of %.3g J", off[0], off[1], done);
}

/* A plate in the wind, falling flat from rest, or with a velocity and no gravity: density 1 kg/m^2, drag 1.25. */
static void begin_plate(struct experiment *e, const char *loads, const char *velocity)
{
    struct settings s = {.count = 0};
    set(&s, "motions=[]");
    set(&s, "materials.rope={\"density\":1}");
    set(&s, "bodies.chain.mesh={\"kind\":\"grid\",\"size\":[1,1],\"cells\":[3,3]}");
    set(&s, "loads=%s", loads);
    if (velocity) {
        set(&s, "gravity=[0,0,0]");
        set(&s, "bodies.chain.velocity=%s", velocity);
    }
    begin(e, "tests/unit/events/scenes/chain-pulled.json", &s);
}

/* Largest distance of a velocity from v. */
static double off_velocity(const struct experiment *e, double x, double y, double z)
{
    double worst = 0;
    for (tac_lid i = 0; i < e->scene->mesh->vertex_count; i++) {
        const double *v = e->sim->state.vel[i].v;
        worst = fmax(worst, fmax(fabs(v[0] - x), fmax(fabs(v[1] - y), fabs(v[2] - z))));
    }
    return worst;
}

static void wind(void)
{
    struct experiment e;
    const double terminal = sqrt(2 * 9.81 / 1.25);
    begin_plate(&e, "[{\"body\":\"chain\",\"wind\":[0,0,0],\"drag\":1.25}]", NULL);
    run_to(&e, 4);
    CHECK(off_velocity(&e, 0, -terminal, 0) < 1e-6 * terminal, "%.9g off the terminal velocity of %.9g m/s",
          off_velocity(&e, 0, -terminal, 0), terminal);
    CHECK(e.row.work < 0 && fabs(e.row.defect) < 1e-6 * -e.row.work && tac_sim_book_residual(e.sim) <= 1e-12,
          "work %g, defect %g", e.row.work, e.row.defect);
    end(&e);
    /* A gale along the plate does nothing to it, however it goes up and down. */
    double along[2];
    for (int k = 0; k < 2; k++) {
        begin_plate(&e,
                    k ? "[{\"body\":\"chain\",\"wind\":[30,5,-20],\"drag\":1.25,\"path\":[[0,0],[0.1,1]]}]"
                      : "[{\"body\":\"chain\",\"wind\":[0,5,0],\"drag\":1.25,\"path\":[[0,0],[0.1,1]]}]",
                    NULL);
        run_to(&e, .25);
        along[k] = e.row.momentum[1];
        CHECK(off_velocity(&e, 0, e.sim->state.vel[0].v[1], 0) < 1e-9, "off by %g",
              off_velocity(&e, 0, e.sim->state.vel[0].v[1], 0));
        end(&e);
    }
    CHECK(fabs(along[0] - along[1]) < 1e-9 && along[0] != 0, "momentum %.17g and %.17g", along[0], along[1]);
    /* Moving with the wind: nothing, whatever the drag. */
    begin_plate(&e, "[{\"body\":\"chain\",\"wind\":[3,4,-1],\"drag\":10}]", "[3,4,-1]");
    run_to(&e, .5);
    double still = off_velocity(&e, 3, 4, -1);
    CHECK(still < 1e-12, "%g off the wind", still);
    end(&e);
    /* Still air stops a plate, and no drag turns it around. dv/dt = -drag/2 v |v|: v = 1 / (1/2 + drag/2 t). */
    static const double drag[] = {.1, 10, 1e4, 1e9, 1e40};
    for (size_t k = 0; k < sizeof drag / sizeof drag[0]; k++) {
        char loads[256];
        snprintf(loads, sizeof loads, "[{\"body\":\"chain\",\"wind\":[0,0,0],\"drag\":%g}]", drag[k]);
        begin_plate(&e, loads, "[1,-2,0]");
        double last = 2;
        for (int i = 1; i <= 64; i++) {
            run_to(&e, i * 0x1p-6);
            double most = 0, least = INFINITY;
            for (tac_lid v = 0; v < e.scene->mesh->vertex_count; v++) {
                most = fmax(most, -e.sim->state.vel[v].v[1]);
                least = fmin(least, -e.sim->state.vel[v].v[1]);
            }
            CHECK(most <= last + 1e-9 && least > -1e-9, "drag %g at %g s: from %g to %g m/s", drag[k], i * 0x1p-6,
                  least, most);
            last = most;
        }
        CHECK(fabs(last - 1 / (.5 + .5 * drag[k])) < 2e-3, "drag %g: %g m/s after all", drag[k], last);
        end(&e);
    }
}

/* The defect falls with the square of all periods, where nothing else than loads, scripts and springs act. */
static void second_order(const char *file, const char *loads, int first)
{
    double defect[3], absolute = 0;
    for (int k = 0; k < 3; k++) {
        struct experiment e;
        struct settings s = {.count = 0};
        set(&s, "clocks.elastic_s=%.17g", ldexp(1, -first - 2 * k));
        set(&s, "clocks.gravity_s=%.17g", ldexp(1, -first - 2 * k));
        set(&s, "clocks.elastic_safety=1"); /* else it would choose shorter periods itself */
        if (loads)
            set(&s, "loads=%s", loads);
        begin(&e, file, &s);
        defect[k] = largest_defect(&e, ldexp(1, -5));
        absolute = e.sim->books.book.absolute;
        CHECK(tac_sim_book_residual(e.sim) <= 1e-12, "%s: residual %g", file, tac_sim_book_residual(e.sim));
        CHECK(fabs(e.row.work) > .01 * absolute, "%s: work %g of %g", file, e.row.work, absolute);
        end(&e);
    }
    CHECK(defect[0] > 10 * defect[1] && defect[1] > 10 * defect[2] && defect[2] < 1e-6 * absolute,
          "%s: defects %.3g %.3g %.3g J with periods from 2^-%d s", file, defect[0], defect[1], defect[2], first);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    parabola();
    pulse();
    pulled_spring();
    balloon();
    constant_pressure();
    wind();
    second_order("tests/unit/events/scenes/chain-pulled.json", NULL, 8);
    second_order("tests/unit/events/scenes/flag.json", NULL, 11);
    second_order("tests/unit/events/scenes/chain-dragged.json", "[{\"body\":\"chain\",\"force\":[0.3,0.2,0.1]}]", 8);
    MPI_Finalize();
    return check_result();
}
