/* What a pilot's samples are extended to: pilots that are made up, of which the end is known. If this fails, `tactus
 * check --pilot` tells counts that do not follow from what it has seen. */
#include "check.h"
#include "forecast/pilot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 241 };

/* A pilot from 0 to `to` of a run to 10 s: contact begins at `touched`, and from there on costs rate(t) ticks a second.
 */
static struct tac_pilot make(double to, double touched, double (*rate)(double since))
{
    struct tac_pilot p = {.may_touch = true, .end_s = 10, .later_s = NAN, .ranks = 1, .count = SAMPLES, .peak = 1000};
    double contact = 0;
    p.sample = calloc(SAMPLES, sizeof *p.sample);
    TAC_CHECK(p.sample != NULL);
    for (int i = 0; i < SAMPLES; i++) {
        const double t = to * i / (SAMPLES - 1), before = i > 0 ? to * (i - 1) / (SAMPLES - 1) : 0;
        if (before >= touched)
            contact += (t - before) * rate(.5 * (t + before) - touched);
        p.sample[i].of[TAC_SAMPLE_T] = t;
        p.sample[i].of[TAC_SAMPLE_WALL] = .1 * t;
        p.sample[i].of[TAC_SAMPLE_CONTACT] = p.sample[i].of[TAC_SAMPLE_ACTING] = contact;
        p.sample[i].of[TAC_SAMPLE_MEMORY] = 500 + 10 * t;
    }
    return p;
}

static double steady(double since)
{
    return 100;
}

static double rising(double since)
{
    return 100 * since;
}

/* 50 and 150 in turn, every half second. */
static double uneven(double since)
{
    return (int)(2 * since) % 2 == 0 ? 50 : 150;
}

static void check_near(const char *what, double is, double should)
{
    CHECK(fabs(is - should) <= 1e-9 * fmax(1, fabs(should)), "%s: %.17g, %.17g expected", what, is, should);
}

static void check_note(const struct tac_pilot *p, const char *should)
{
    char text[96];
    const enum tac_pilot_worth worth = tac_pilot_note(p, text, sizeof text);
    const enum tac_pilot_worth meant = should[0] == '\0'                       ? TAC_PILOT_SOUND
                                       : strstr(should, "lower bound") != NULL ? TAC_PILOT_LOWER_BOUND
                                                                               : TAC_PILOT_ROUGH;
    CHECK(strcmp(text, should) == 0 && worth == meant, "'%s', '%s' expected", text, should);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    /* Steady contact since 1 s: 100 ticks a second until the end. */
    struct tac_pilot p = make(4, 1, steady);
    struct tac_span s = tac_pilot_extend(&p, TAC_SAMPLE_CONTACT);
    check_near("steady", s.likely, 900);
    check_near("steady, least", s.least, 900);
    check_near("steady, most", s.most, 900);
    check_near("wall", tac_pilot_extend(&p, TAC_SAMPLE_WALL).likely, 1);
    check_near("since when", tac_pilot_touched_s(&p), 1);
    check_near("recent", tac_pilot_recent(&p, TAC_SAMPLE_CONTACT), 300);
    check_near("recent time", tac_pilot_recent(&p, TAC_SAMPLE_T), 3);
    check_note(&p, "");
    p.later_s = 5;
    check_note(&p, "a motion or a load begins at 5 s: a lower bound");
    s = tac_pilot_memory(&p, 7);
    check_near("memory", s.least, 1000);
    CHECK(s.least <= s.likely && s.likely <= s.most && s.likely >= 1007, "memory %g (%g to %g)", s.likely, s.least,
          s.most);
    free(p.sample);

    /* It has seen little of it. */
    p = make(2, 1, steady);
    check_note(&p, "11 % of the time with contact seen: a rough guess");
    free(p.sample);

    /* No contact yet. */
    p = make(4, 5, steady);
    CHECK(isnan(tac_pilot_touched_s(&p)), "touched");
    check_near("nothing", tac_pilot_extend(&p, TAC_SAMPLE_CONTACT).most, 0);
    check_note(&p, "no contact yet: a lower bound");
    p.may_touch = false;
    check_note(&p, "");
    free(p.sample);

    /* It rises: the last part's rate is told, and that it is a lower bound. The parts are of .75 s. */
    p = make(4, 1, rising);
    s = tac_pilot_extend(&p, TAC_SAMPLE_CONTACT);
    check_near("rising", s.likely, 450 + 6 * 100 * (3 - .375));
    check_near("rising, least", s.least, 450 + 6 * 100 * .375);
    check_near("rising, most", s.most, s.likely);
    check_note(&p, "the cost still rises: a lower bound");
    free(p.sample);

    /* It comes and goes: the spread has both. */
    p = make(3, 1, uneven);
    s = tac_pilot_extend(&p, TAC_SAMPLE_CONTACT);
    check_near("uneven", s.likely, 200 + 7 * 100);
    check_near("uneven, least", s.least, 200 + 7 * 50);
    check_near("uneven, most", s.most, 200 + 7 * 150);
    free(p.sample);

    /* It ran to the end: nothing is left to be told. */
    p = make(10, 1, rising);
    s = tac_pilot_extend(&p, TAC_SAMPLE_CONTACT);
    check_near("whole", s.likely, p.sample[SAMPLES - 1].of[TAC_SAMPLE_CONTACT]);
    check_near("whole, least and most", s.least, s.most);
    CHECK(tac_pilot_is_whole(&p), "whole");
    check_note(&p, "");
    free(p.sample);
    MPI_Finalize();
    return check_result();
}
