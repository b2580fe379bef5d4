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

/* Columns of a run's log (output.log): constant; name, which is that in energy.csv, steps.csv or status.json; unit;
 * integrators that have it; those whose logs show it unless the scene says otherwise; whether it is a whole number. */
#define TAC_LOG_LIST(X)                                                                                                \
    X(FRAME, "frame", NO_UNIT, ALL, NONE, true)                                                                        \
    X(TIME, "time", SCENE_TIME, ALL, ALL, false)                                                                       \
    X(SHARE, "share", PERCENT, ALL, NONE, false)                                                                       \
    X(STEP, "step", NO_UNIT, STEPS, STEPS, true)                                                                       \
    X(NEWTON, "newton", NO_UNIT, IMPLICIT, IMPLICIT, true)                                                             \
    X(LINEAR, "linear", NO_UNIT, IMPLICIT, IMPLICIT, true)                                                             \
    X(PARTS, "parts", NO_UNIT, IMPLICIT, NONE, true)                                                                   \
    X(SHARE_MIN, "share_min", NO_UNIT, IMPLICIT, NONE, false)                                                          \
    X(KAPPA, "kappa", NO_UNIT, IMPLICIT, NONE, false)                                                                  \
    X(RESIDUAL, "residual", NO_UNIT, IMPLICIT, NONE, false)                                                            \
    X(LAG_RESIDUAL, "lag_residual", NO_UNIT, IMPLICIT, NONE, false)                                                    \
    X(REFLECTIONS, "reflections", NO_UNIT, IMPACT, IMPACT, true)                                                       \
    X(ROUNDS, "rounds", NO_UNIT, IMPACT, NONE, true)                                                                   \
    X(ROWS, "rows", NO_UNIT, IMPACT, IMPACT, true)                                                                     \
    X(JAMMED, "jammed", NO_UNIT, IMPACT, NONE, true)                                                                   \
    X(KINETIC, "kinetic", ENERGY, ALL, ASYNCHRONOUS, false)                                                            \
    X(GRAVITY, "gravity", ENERGY, ALL, NONE, false)                                                                    \
    X(STRETCH, "stretch", ENERGY, ALL, NONE, false)                                                                    \
    X(BEND, "bend", ENERGY, ALL, NONE, false)                                                                          \
    X(CONTACT, "contact", ENERGY, ALL, NONE, false)                                                                    \
    X(TOTAL, "total", ENERGY, ALL, ALL, false)                                                                         \
    X(DISSIPATED, "dissipated", ENERGY, ALL, NONE, false)                                                              \
    X(DISSIPATED_FRICTION, "dissipated_friction", ENERGY, ALL, NONE, false)                                            \
    X(DISSIPATED_RESTITUTION, "dissipated_restitution", ENERGY, ALL, NONE, false)                                      \
    X(DISSIPATED_DAMPING, "dissipated_damping", ENERGY, ALL, NONE, false)                                              \
    X(DISSIPATED_PLASTICITY, "dissipated_plasticity", ENERGY, ALL, NONE, false)                                        \
    X(WORK, "work", ENERGY, ALL, NONE, false)                                                                          \
    X(DEFECT, "defect", ENERGY, ALL, ASYNCHRONOUS, false)                                                              \
    X(MOMENTUM_X, "momentum_x", MOMENTUM, ALL, NONE, false)                                                            \
    X(MOMENTUM_Y, "momentum_y", MOMENTUM, ALL, NONE, false)                                                            \
    X(MOMENTUM_Z, "momentum_z", MOMENTUM, ALL, NONE, false)                                                            \
    X(CONTACTS, "contacts", NO_UNIT, ALL, ALL, true)                                                                   \
    X(MIN_DISTANCE, "min_distance", LENGTH, ALL, ALL, false)                                                           \
    X(DEEPEST_LAYER, "deepest_layer", NO_UNIT, ASYNCHRONOUS, NONE, true)                                               \
    X(TICKS_PER_S, "ticks_per_s", PER_S, ASYNCHRONOUS, NONE, false)                                                    \
    X(ROLLBACKS, "rollbacks", NO_UNIT, ASYNCHRONOUS, NONE, true)                                                       \
    X(WINDOW_S, "window_s", SCENE_TIME, ASYNCHRONOUS, NONE, false)                                                     \
    X(SPEED, "speed", SCENE_TIME_PER_S, ALL, NONE, false)                                                              \
    X(WALL_S, "wall_s", WALL_TIME, ALL, ALL, false)                                                                    \
    X(WALL_LEFT_S, "wall_left_s", WALL_TIME, ALL, NONE, false)

#define TAC_LOG_CONSTANT(constant, name, unit, of, usual, whole) TAC_LOG_##constant,
enum tac_log_column { TAC_LOG_LIST(TAC_LOG_CONSTANT) TAC_LOG_COLUMNS };
#undef TAC_LOG_CONSTANT

/* Sets of integrators in the list above, and its units. */
enum {
    TAC_LOG_OF_NONE = 0,
    TAC_LOG_OF_ASYNCHRONOUS = 1,
    TAC_LOG_OF_IMPLICIT = 2,
    TAC_LOG_OF_IMPACT = 4,
    TAC_LOG_OF_STEPS = TAC_LOG_OF_IMPLICIT | TAC_LOG_OF_IMPACT,
    TAC_LOG_OF_ALL = TAC_LOG_OF_ASYNCHRONOUS | TAC_LOG_OF_STEPS
};
/* Returns the set that has one integrator. */
static inline int tac_log_set(int integrator)
{
    return 1 << integrator; /* enum tac_integrator_kind, in its order */
}
enum tac_log_unit {
    TAC_LOG_NO_UNIT,
    TAC_LOG_SCENE_TIME,
    TAC_LOG_WALL_TIME, /* seconds, in any system of units */
    TAC_LOG_PERCENT,
    TAC_LOG_ENERGY,
    TAC_LOG_LENGTH,
    TAC_LOG_MOMENTUM,
    TAC_LOG_SCENE_TIME_PER_S,
    TAC_LOG_PER_S
};

#ifdef __cplusplus
}
#endif
#endif
