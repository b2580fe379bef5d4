/* pilot_extend.c: extends the samples of a pilot to the end of the run (pilot.h). */
#include "forecast/pilot.h"
#include <math.h>

enum { PARTS = 4 };

/* Where the last part costs so much more than the one before the last two, the cost has not come to rest. */
static const double RISES = 1.5;
/* A pilot that has seen less of the time with contact has seen how it begins, and not how it goes on. */
static const double SEEN_ENOUGH = .2;

static const double *first(const struct tac_pilot *p)
{
    return p->sample[0].of;
}

static const double *last(const struct tac_pilot *p)
{
    return p->sample[p->count - 1].of;
}

double tac_pilot_from_s(const struct tac_pilot *p)
{
    return first(p)[TAC_SAMPLE_T];
}

double tac_pilot_to_s(const struct tac_pilot *p)
{
    return last(p)[TAC_SAMPLE_T];
}

bool tac_pilot_is_whole(const struct tac_pilot *p)
{
    return tac_pilot_to_s(p) >= p->end_s;
}

double tac_pilot_touched_s(const struct tac_pilot *p)
{
    for (size_t i = 1; i < p->count; i++)
        if (p->sample[i].of[TAC_SAMPLE_ACTING] > first(p)[TAC_SAMPLE_ACTING])
            return p->sample[i - 1].of[TAC_SAMPLE_T];
    return NAN;
}

/* From here on the samples tell what is to come. */
static double begin_of_window(const struct tac_pilot *p)
{
    const double touched_s = tac_pilot_touched_s(p);
    return isnan(touched_s) ? tac_pilot_from_s(p) : touched_s;
}

/* What a field was at t_s, between two samples in proportion. */
static double value_at(const struct tac_pilot *p, enum tac_sample_field field, double t_s)
{
    for (size_t i = 1; i < p->count; i++) {
        const double *a = p->sample[i - 1].of, *b = p->sample[i].of;
        const double span_s = b[TAC_SAMPLE_T] - a[TAC_SAMPLE_T];
        if (t_s <= b[TAC_SAMPLE_T] && span_s > 0)
            return a[field] + (b[field] - a[field]) * fmax(0, (t_s - a[TAC_SAMPLE_T]) / span_s);
    }
    return last(p)[field];
}

/* The growth of a field per simulated second, in each part of the window. */
static void find_rates(const struct tac_pilot *p, enum tac_sample_field field, double rate[PARTS])
{
    const double begin_s = begin_of_window(p), part_s = (tac_pilot_to_s(p) - begin_s) / PARTS;
    for (int k = 0; k < PARTS; k++) {
        const double grown = value_at(p, field, begin_s + (k + 1) * part_s) - value_at(p, field, begin_s + k * part_s);
        rate[k] = part_s > 0 ? grown / part_s : 0;
    }
}

double tac_pilot_recent(const struct tac_pilot *p, enum tac_sample_field field)
{
    return last(p)[field] - value_at(p, field, begin_of_window(p));
}

/* Does the run cost more and more? By counts, which are the same on every machine. */
static bool rises(const struct tac_pilot *p)
{
    double rate[PARTS];
    find_rates(p, last(p)[TAC_SAMPLE_STEPS] > 0 ? TAC_SAMPLE_NEWTON : TAC_SAMPLE_CONTACT, rate);
    return rate[1] <= rate[2] && rate[2] <= rate[3] && rate[3] > RISES * rate[1];
}

struct tac_span tac_pilot_extend(const struct tac_pilot *p, enum tac_sample_field field)
{
    double rate[PARTS];
    const double now = last(p)[field], left_s = fmax(0, p->end_s - tac_pilot_to_s(p));
    find_rates(p, field, rate);
    double likely = .5 * (rate[PARTS - 2] + rate[PARTS - 1]), least = likely, most = likely;
    if (rises(p))
        likely = rate[PARTS - 1];
    for (int k = 0; k < PARTS; k++) {
        least = fmin(least, rate[k]);
        most = fmax(most, rate[k]);
    }
    return (struct tac_span){now + left_s * likely, now + left_s * least, now + left_s * most};
}

struct tac_span tac_pilot_memory(const struct tac_pilot *p, double output)
{
    double rate[PARTS];
    const double peak = (double)p->peak, left_s = fmax(0, p->end_s - tac_pilot_to_s(p));
    find_rates(p, TAC_SAMPLE_MEMORY, rate);
    const double grows = fmax(0, .5 * (rate[PARTS - 2] + rate[PARTS - 1]) * left_s);
    return (struct tac_span){peak + output, peak, peak + output + grows};
}

enum tac_pilot_worth tac_pilot_note(const struct tac_pilot *p, char *text, size_t size)
{
    const double begin_s = begin_of_window(p), seen = (tac_pilot_to_s(p) - begin_s) / (p->end_s - begin_s);
    enum tac_pilot_worth worth = TAC_PILOT_LOWER_BOUND;
    text[0] = '\0';
    if (tac_pilot_is_whole(p))
        return TAC_PILOT_SOUND;
    if (p->may_touch && isnan(tac_pilot_touched_s(p))) {
        snprintf(text, size, "no contact yet: a lower bound");
    } else if (!isnan(p->later_s)) {
        snprintf(text, size, "a motion or a load begins at %.4g s: a lower bound", p->later_s);
    } else if (rises(p)) {
        snprintf(text, size, "the cost still rises: a lower bound");
    } else if (p->may_touch && seen < SEEN_ENOUGH) {
        snprintf(text, size, "%.0f %% of the time with contact seen: a rough guess", 100 * seen);
        worth = TAC_PILOT_ROUGH;
    } else {
        worth = TAC_PILOT_SOUND;
    }
    return worth;
}
