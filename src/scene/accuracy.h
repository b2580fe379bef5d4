/* accuracy.h: declares the levels of `clocks.accuracy`, and the measured cost and loss of energy of each.
 *
 * jobs/experiments/physics/accuracy.py runs ten scenes with several safeties, and writes their ticks and defects to
 * accuracy.json beside it; its --quick part, a test, holds this table and that of docs/reference/scene-format.md to
 * that file.
 *
 *     const struct tac_accuracy *a = &tac_accuracy[TAC_ACCURACY_FINE];
 *     a->elastic_safety     stands for clocks.elastic_safety where the scene does not give it
 */
#ifndef TACTUS_SCENE_ACCURACY_H
#define TACTUS_SCENE_ACCURACY_H

enum tac_accuracy_level { TAC_ACCURACY_DRAFT, TAC_ACCURACY_STANDARD, TAC_ACCURACY_FINE, TAC_ACCURACY_LEVELS };

/* Quotients to those of the level `standard`, over the ten scenes. */
struct tac_accuracy_range {
    double least, median, most;
};

struct tac_accuracy {
    double elastic_safety, contact_safety;
    struct tac_accuracy_range contact; /* ticks of contact, silent ones included */
    struct tac_accuracy_range defect;  /* largest defect of the energy */
};

/* Ticks of contact with elastic_safety of `draft` and contact_safety of `standard`. */
extern const struct tac_accuracy_range tac_accuracy_elastic_alone;
extern const struct tac_accuracy tac_accuracy[TAC_ACCURACY_LEVELS];
extern const char *const tac_accuracy_names[TAC_ACCURACY_LEVELS + 1]; /* ends with NULL */

#endif
