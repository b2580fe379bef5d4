/* progress.h: the recent speed of a run, and how long it will still take.
 *
 * The recent speed is the simulated time won per second of wall time, averaged with weights that decay
 * exponentially with age. So a run that becomes slower (more contacts, deeper layers) gets a longer estimate within a
 * minute, however long it has been fast. The caller reads the clocks: the estimate is a function of the readings.
 *
 *     struct tac_progress progress;
 *     tac_progress_begin(&progress, tac_wall_s(), t_s);
 *     after each step: tac_progress_note(&progress, tac_wall_s(), t_s);
 *     left_s = tac_progress_left_s(&progress, end_s); */
#ifndef TACTUS_RUN_PROGRESS_H
#define TACTUS_RUN_PROGRESS_H

#define TAC_PROGRESS_MEMORY_S 20. /* wall time after which a stretch counts 1/e of what it did, s */

/* Both sums have the same weights, so at constant speed their ratio is exact from the first note on. */
struct tac_progress {
    double wall_s, t_s;    /* readings of the clocks that are in the sums already, s */
    double spent_s, won_s; /* weighted sums of wall time and of the simulated time won in it, s */
};

/* Local. Nothing is known yet. wall_s, t_s: wall time and simulated time now, s. */
void tac_progress_begin(struct tac_progress *progress, double wall_s, double t_s);
/* Local. Adds the progress since the last note. A note at the same wall time as the one before is added with the next
 * one.
 */
void tac_progress_note(struct tac_progress *progress, double wall_s, double t_s);
/* Local. Wall time from the last note to the simulated time end_s, s: 0 at the end; NaN if no time has been won yet. */
double tac_progress_left_s(const struct tac_progress *progress, double end_s);

#endif
