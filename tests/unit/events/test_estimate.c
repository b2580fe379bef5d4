/* What `tactus check` says of a bounce's error against bounces: it may be three times too small and thirty times too
 * large. If this fails, the estimate no longer follows the periods, or the engine's errors are no longer what they
 * should be. */
#include "check/estimate.h"
#include "support.h"

static double squared(double x)
{
    return x * x;
}

static void compare(const char *what, double estimate, double measured)
{
    printf("%-60s estimate %.1e, measured %.1e\n", what, estimate, measured);
    CHECK(measured > 0 && estimate > measured / 3 && estimate < 20 * measured, "%s: estimate %.3g, measured %.3g", what,
          estimate, measured);
}

static struct tac_estimate estimate_of(struct experiment *e, double speed)
{
    struct tac_estimate out;
    CHECK(tac_estimate_bounce(&e->ctx, e->scene, e->sim->elastic, e->sim->model, speed, &out) == TAC_OK, "%s",
          e->ctx.error);
    return out;
}

/* Energy of a particle, from the mean of its velocities before and after the kicks of now. */
static double particle_energy(const struct experiment *e, size_t i)
{
    const struct tac_sim *sim = e->sim;
    double x[3], v2 = 0;
    CHECK(sim->books.kept_at == sim->state.now, "no tick");
    tac_position(sim, (tac_lid)i, sim->state.now, x);
    for (size_t k = 3 * i; k < 3 * i + 3; k++)
        v2 += .25 * (sim->books.v_before[k] + sim->state.vel[i].v[k - 3 * i]) *
              (sim->books.v_before[k] + sim->state.vel[i].v[k - 3 * i]);
    return .5 * v2 - tac_dot(e->scene->settings->gravity, x);
}

/* 256 particles bounce once each. Something ticks at every row: gravity of 1e-9 m/s^2 if there is to be none. */
static void hail(const char *what, double stiffness, double safety, double g, double gravity_s)
{
    struct experiment e;
    struct settings s = {.count = 0};
    double before[256], error2 = 0, speed = 0;
    set(&s, "contact.stiffness=%.17g", stiffness);
    set(&s, "clocks.contact_safety=%.17g", safety);
    set(&s, "clocks.gravity_s=%.17g", gravity_s);
    set(&s, "gravity=[0, %.17g, 0]", -fmax(g, 1e-9));
    begin(&e, "tests/unit/events/scenes/hail.json", &s);
    run_to(&e, .0625);
    for (size_t i = 0; i < 256; i++)
        before[i] = particle_energy(&e, i);
    run_to(&e, 1);
    int turned = 0;
    for (size_t i = 0; i < 256; i++) {
        double error = particle_energy(&e, i) - before[i];
        error2 += error * error / 256;
        turned += e.sim->state.vel[i].v[1] > 0;
        speed = sqrt(2 * (before[i] - g * .05));
    }
    CHECK(turned == 256 && e.row.contacts == 0, "only %d turned", turned);
    struct tac_estimate out = estimate_of(&e, speed);
    CHECK(out.body == 0, "body %d", (int)out.body);
    compare(what, out.worst.total, sqrt(error2) / (.5 * speed * speed));
    end(&e);
}

/* A body, or two, meet `bounces` times; rms over four throws. */
static void bodies(const char *what, const char *file, double elastic, double contact, double end_s, double bounces,
                   const char *const throw[4])
{
    double error2 = 0;
    struct tac_estimate out = {.body = -1};
    for (int k = 0; k < 4; k++) {
        struct experiment e;
        struct settings s = {.count = 0};
        set(&s, "clocks.elastic_safety=%.17g", elastic);
        set(&s, "clocks.elastic_s=1");
        set(&s, "clocks.contact_safety=%.17g", contact);
        set(&s, "clocks.gravity_s=0.0001");
        set(&s, "%s", throw[k]);
        begin(&e, file, &s);
        double fall, speed = tac_estimate_speed(e.scene, &fall);
        run_to(&e, end_s);
        error2 += squared(e.row.defect / e.start.total) / 4;
        CHECK(e.row.contacts == 0, "still touching");
        out = estimate_of(&e, speed);
        end(&e);
    }
    compare(what, out.worst.total * sqrt(bounces), sqrt(error2));
}

static void speeds(void)
{
    struct experiment e;
    double fall;
    begin(&e, "tests/unit/events/scenes/sheets.json", NULL);
    double speed = tac_estimate_speed(e.scene, &fall);
    CHECK(fabs(speed - 5) < 1e-9 && estimate_of(&e, speed).body >= 0, "two sheets at 2.5 m/s each: %.17g", speed);
    CHECK(estimate_of(&e, 0).body == -1, "nothing moves, nothing bounces");
    end(&e);
    begin(&e, "tests/unit/events/scenes/ball-on-floor.json", NULL);
    speed = tac_estimate_speed(e.scene, &fall);
    CHECK(fabs(fall - .35) < .002 && fabs(speed * speed - 2 * 9.81 * fall) < 1e-9, "fall %.17g, speed %.17g", fall,
          speed);
    end(&e);
    begin(&e, "tests/unit/events/scenes/piston.json", NULL);
    speed = tac_estimate_speed(e.scene, &fall);
    /* Its fastest pieces: 0.3 m down in 0.313 s, 0.22 m up in 0.256 s. */
    CHECK(fabs(speed * speed - 2 * fall - squared(.3 / .313 + .22 / .256)) < 1e-6, "piston: %.17g", speed);
    end(&e);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    static const char *const ball[4] = {"bodies.ball.rotation=[10, 20, 30]", "bodies.ball.rotation=[10, 20, 70]",
                                        "bodies.ball.rotation=[80, 20, 10]", "bodies.ball.rotation=[10, 50, 100]"};
    static const char *const sheet[4] = {"bodies.upper.rotation=[2, 25, 3]", "bodies.upper.rotation=[3, 40, 2]",
                                         "bodies.upper.rotation=[2, 10, 3]", "bodies.upper.rotation=[1, 60, 3]"};
    speeds();
    hail("hail: contact, safety .6, shallow", 4000, .6, 0, .0625);
    hail("hail: contact, safety .15, shallow", 4000, .15, 0, .0625);
    hail("hail: contact, safety .6, deep", 40, .6, 0, .0625);
    hail("hail: contact, safety .15, deep", 40, .15, 0, .0625);
    hail("hail: gravity ticks longer than the contact", 4000, .05, 1, .0625);
    hail("hail: gravity ticks about as long as the contact", 4000, .05, 1, .015625);
    bodies("ball: elastic safety .5", "tests/unit/events/scenes/ball-on-floor.json", .5, .15, .4, 1, ball);
    bodies("ball: elastic safety .25", "tests/unit/events/scenes/ball-on-floor.json", .25, .15, .4, 1, ball);
    bodies("ball: elastic safety .1", "tests/unit/events/scenes/ball-on-floor.json", .1, .15, .4, 1, ball);
    bodies("sheets: contact safety .6", "tests/unit/events/scenes/sheets.json", .25, .6, .005859375, 1, sheet);
    bodies("sheets: contact safety .15", "tests/unit/events/scenes/sheets.json", .25, .15, .005859375, 1, sheet);
    MPI_Finalize();
    return check_result();
}
