/* follow_room.h: what the follow*.c files share: the state of this rank's vertices now, and lines of a table. */
#ifndef TACTUS_RUN_FOLLOW_ROOM_H
#define TACTUS_RUN_FOLLOW_ROOM_H

#include "run/follow.h"
#include <tactus/accum.h>

/* The state of this rank's vertices now. */
struct tac_looking {
    struct tac_simulation *sim;
    const struct tac_scene *scene;
    struct tac_state_view view;
    double span_s;   /* time since the last frame */
    double *x;       /* owned, (local vertices, 3), m */
    double *elastic; /* owned, (owned, 3), N */
    tac_lid *motion; /* owned, (owned): index of the motion that moves the vertex, or -1 */
};

static inline double tac_follow_seconds(const struct tac_looking *l)
{
    return (double)l->view.now * l->scene->settings->quantum_s;
}

/* Lines of a table, as they grow. */
struct tac_follow_lines {
    char *text; /* owned */
    size_t length, capacity;
};

/* A line: time, whole numbers, values, the name in quotes, more values, the last ones. */
struct tac_follow_row {
    double t_s;
    const char *name;
    const int64_t *whole; /* (wholes) */
    const double *value;  /* (values); NaN: nan */
    const double *more;   /* (mores) */
    const double *last;   /* (lasts) */
    int wholes, values, mores, lasts;
};

/* Local. */
enum tac_err tac_follow_line(struct tac_ctx *ctx, struct tac_follow_lines *lines, const struct tac_follow_row *row);

/* Columns of histories.csv: the values that all have; and those behind the name: of a flux, where the scene has one,
 * then of a reaction, then of a pose. */
enum {
    TAC_FOLLOW_VALUES = 14,
    TAC_FOLLOW_FLUX = 4,
    TAC_FOLLOW_REACTION = 10,
    TAC_FOLLOW_MORE = 14,
    TAC_FOLLOW_POSE = 7
};
/* Local. A row of histories.csv.  whole: history, vertex, vertices; more: (TAC_FOLLOW_MORE), pose: (TAC_FOLLOW_POSE);
 * NULL: all nan. */
struct tac_follow_row tac_follow_history_row(const struct tac_looking *l, const char *name, const int64_t *whole,
                                             const double *value, const double *more, const double *pose);

/* Local. The mean contact force on a vertex since the last frame, N. */
void tac_follow_contact_force(const struct tac_looking *l, tac_lid i, double f[3]);

/* Local. Is the vertex where its script, or nothing, puts it? */
bool tac_follow_held(const struct tac_looking *l, tac_lid i);
/* Local. Is a vertex of the history's body selected?  index: the history's sorted list. */
bool tac_follow_selected(const struct tac_looking *l, const struct tac_history *h, const tac_lid *index, tac_lid i);

/* What a history remembers from row to row: the same on all ranks. */
struct tac_followed {
    bool begun;         /* flux: it has had a row */
    tac_time last;      /* reaction: of the last row; before it, of the frame before */
    size_t count;       /* vertices of its body or bodies */
    uint8_t *front;     /* owned, (count): flux, 1: it is in front of the plane */
    int64_t crossed[2]; /* flux: forward, back */
    struct tac_accum mass[2];
    double *pending; /* owned, (count, 3): reaction, contact impulse since the last row that is not in the state any
                        more, less what is in it and was written already, N s */
};

struct tac_follow {
    size_t count;              /* histories of the scene */
    struct tac_followed *item; /* owned, (count); of kinds that remember nothing, empty */
};

/* ---- follow_kinds.c ---- */
/* Collective. The row of now. */
enum tac_err tac_follow_flux(const struct tac_looking *l, tac_lid number, struct tac_follow *follow,
                             struct tac_follow_lines *lines);
enum tac_err tac_follow_reaction(const struct tac_looking *l, tac_lid number, const tac_lid *index,
                                 struct tac_follow *follow, struct tac_follow_lines *lines);

/* ---- follow_pose.c ---- */
/* Collective. The rows of now: one for each piece of the body. */
enum tac_err tac_follow_pose(const struct tac_looking *l, tac_lid number, struct tac_follow_lines *lines);

#endif
