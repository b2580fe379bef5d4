/* pilot.h: a pilot run: a run for some seconds in memory, from which the cost of the whole run is estimated.
 *
 * The pilot steps a simulation like tactus run, frame after frame, and writes nothing: there is no folder. After each
 * pass it takes a sample of what was counted until then (pilot.c). When its time is over, the samples are extended to
 * the end of the scene (pilot_extend.c): only what came after the first contact counts, in four parts of equal
 * simulated time. The likely rate is that of the last two parts; the parts with the least and the largest rate give the
 * spread.
 */
#ifndef TACTUS_FORECAST_PILOT_H
#define TACTUS_FORECAST_PILOT_H

#include <tactus/check.h>

/* What is counted until a sample was taken. */
enum tac_sample_field {
    TAC_SAMPLE_T,         /* simulated time, s */
    TAC_SAMPLE_WALL,      /* wall time since the pilot began to step, s */
    TAC_SAMPLE_CONTACT,   /* ticks of contact and limits; of an implicit integrator 0 */
    TAC_SAMPLE_ACTING,    /* those that found a layer pressed; implicit: sum of the contacts of the steps */
    TAC_SAMPLE_STEPS,     /* implicit: steps */
    TAC_SAMPLE_NEWTON,    /* implicit: iterations */
    TAC_SAMPLE_MEMORY,    /* bytes in memory */
    TAC_SAMPLE_FORCES_S,  /* seconds that the ranks spent, in the mean: elastic forces, gravity, dampers, loads */
    TAC_SAMPLE_CONTACT_S, /* contact */
    TAC_SAMPLE_WAITING_S, /* waiting for other ranks, and exchange */
    TAC_SAMPLE_FIELDS
};

struct tac_sample {
    double of[TAC_SAMPLE_FIELDS];
};

/* A value that is expected, and its spread. */
struct tac_span {
    double likely, least, most;
};

struct tac_pilot {
    double seconds;          /* wall time that was asked for */
    int ranks;               /* the number of ranks that ran it */
    bool restarted;          /* it began at a checkpoint */
    bool may_touch;          /* the scene has contact */
    double end_s;            /* where the whole run ends, s of simulated time */
    double setup_s;          /* wall time before the first step */
    double later_s;          /* a motion or a load begins only then, after the pilot; NaN: none */
    int64_t peak;            /* bytes, of the rank that had most */
    double contacts;         /* at its last frame */
    double raw, packed;      /* bytes of its frames before and after compression */
    struct tac_span packing; /* packed over raw of single frames; likely: of all of them */
    size_t count, capacity;
    struct tac_sample *sample; /* owned, (count), ascending; the first is of the start */
};

/* Local. Return the simulated times that the pilot reached and began at, s. */
double tac_pilot_to_s(const struct tac_pilot *pilot);
double tac_pilot_from_s(const struct tac_pilot *pilot);
/* Local. Returns whether the pilot ran to the end of the scene. */
bool tac_pilot_is_whole(const struct tac_pilot *pilot);
/* Local. Returns since when something has touched, s; NaN: nothing has yet. */
double tac_pilot_touched_s(const struct tac_pilot *pilot);
/* Local. Estimates the value of a field at the end of the run. The wall time is that since the pilot began to step. */
struct tac_span tac_pilot_extend(const struct tac_pilot *pilot, enum tac_sample_field field);
/* Local. Estimates the memory of the rank that will have most, in bytes; output: what HDF5 will keep of frames that
 * were written. */
struct tac_span tac_pilot_memory(const struct tac_pilot *pilot, double output);
/* Local. Returns how much a field grew while something touched, or in all of the pilot if nothing did. */
double tac_pilot_recent(const struct tac_pilot *pilot, enum tac_sample_field field);
/* How far a pilot's figures can be trusted. */
enum tac_pilot_worth {
    TAC_PILOT_SOUND,
    TAC_PILOT_ROUGH,      /* it has seen a small part of the time with contact only */
    TAC_PILOT_LOWER_BOUND /* what costs most was not seen */
};
/* Local. Returns the worth of a pilot, and writes the reason in words: "no contact yet: a lower bound" and the like;
 * empty where the figures are sound.
 */
enum tac_pilot_worth tac_pilot_note(const struct tac_pilot *pilot, char *text, size_t size);

#endif
