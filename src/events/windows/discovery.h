/* discovery.h: the modes of contact discovery, and what they keep from window to window. */
#ifndef TACTUS_EVENTS_WINDOWS_DISCOVERY_H
#define TACTUS_EVENTS_WINDOWS_DISCOVERY_H

#include <stdbool.h>
#include <tactus/scene.h>

struct tac_kinetic;
struct tac_sim;

/* The functions of one mode of contact discovery. */
struct tac_discovery {
    const char *name;
    enum tac_err (*create)(struct tac_sim *sim);
    /* Advances the committed time by at least one step, at most to `limit`. */
    enum tac_err (*advance)(struct tac_sim *sim, tac_time limit);
    void (*destroy)(struct tac_sim *sim);
};
extern const struct tac_discovery tac_discovery_none, tac_discovery_all_pairs, tac_discovery_speculate,
    tac_discovery_kinetic;

/* The mode of this simulation, and what it keeps. */
struct tac_find {
    enum tac_discovery_mode mode;
    const struct tac_discovery *table;
    bool validates;              /* windows are validated after they were run: speculate, and kds on several ranks */
    void *oracle;                /* owned by all-pairs */
    struct tac_kinetic *kinetic; /* owned by kds */
    size_t kicked_count;         /* kds: vertices that contacts moved to the current instant */
    tac_lid *kicked;             /* owned by kds, (V); NULL in other modes */
};

#endif
