/* tactus/counters.h: what a run counts and sums (counters, rows of energy.csv), and what it has written. */
#ifndef TACTUS_COUNTERS_H
#define TACTUS_COUNTERS_H

#include <tactus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One row of energy.csv, already summed over ranks. */
struct tac_energy_row {
    double time_s, kinetic, gravity, stretch, bend, contact, total, dissipated, work, defect;
    double momentum[3], angular_momentum[3], friction_couple[3];
    int64_t contacts, deepest_layer;
    double min_distance; /* NaN: none */
    /* parts of `dissipated`, J; NaN: not known, because the run began in a version that did not store them */
    double lost_friction, lost_restitution, lost_damping, lost_plasticity;
};

/* What the folder holds of one frame. */
struct tac_output_entry {
    int64_t index;
    int64_t frame; /* 1: frames.h5 has it; 0: it has not */
    int64_t row;   /* CRC-32 of its row in energy.csv, the end of the line included; -1: there is none */
};

/* Tables that grow with a run beside the rows of energy.csv, of which only the header counts here. */
enum tac_lines { TAC_LINES_REACTIONS, TAC_LINES_HISTORIES, TAC_LINES_STEPS, TAC_LINES_ENERGY, TAC_LINES };
/* What the folder holds of one of them. */
struct tac_output_sums {
    int64_t *line; /* (count): CRC-32 of each line, its end included; the header is the first */
    int64_t count;
    size_t capacity;
};

enum { TAC_COUNTED_KINDS = 13 }; /* most kinds of forces whose ticks are counted */

/* The counters in the progress line, status.json and run.json. All counts are sums over ranks. */
struct tac_counters {
    int64_t committed[TAC_COUNTED_KINDS], executed[TAC_COUNTED_KINDS]; /* force ticks, by number of kind */
    int64_t silent;             /* committed penalty ticks that found no gap below zero */
    int64_t windows, rollbacks; /* windows committed; passes thrown away */
    int64_t repeated_ticks;     /* ticks executed again because of rollbacks */
    int64_t contacts_found;     /* layer groups of pairs that were activated */
    int64_t deepest_layer;
    int64_t certificates_created, certificates_failed, certificates_rescheduled; /* kinetic structures */
    int64_t certificates_reconfirmed, plans_filed;
    /* broad phase: lists built, times that a list was repaired, pairs in the newest list */
    int64_t candidate_builds, candidate_repairs, candidates;
    int64_t messages_sent, bytes_sent; /* between ranks, in passes and discovery */
    int64_t migrations;                /* vertices that went to another rank */
    int64_t rigid_plans;               /* plans of rigid bodies, those of passes thrown away too */
    double seconds_forces, seconds_contact, seconds_discovery, seconds_waiting, seconds_exchange, seconds_output;
    /* parts of the time for discovery with kinetic structures: checking flight plans; certificates that failed [0] and
     * that were rescheduled [1] */
    double seconds_plans, seconds_slabs[2], seconds_lists[2];
};

/* How far a run is: status.json and the progress line. */
struct tac_status {
    const char *state;                         /* running, finished, stopped, failed */
    double time_s, end_s, wall_s, wall_left_s; /* wall_left_s: at the recent speed; NaN if unknown */
    double window_s;
    int64_t contacts;      /* of the last row; after a restart, until there is one, at the checkpoint */
    int64_t deepest_layer; /* that ever acted */
    double ticks_per_s;    /* since the start or the last restart */
    const char *error;     /* NULL: none */
    struct tac_counters counters;
};

#ifdef __cplusplus
}
#endif
#endif
