/* regions.h: cuts space into as many boxes as there are ranks, with about as many points in each, by one cut after the
 * other across the longest side. */
#ifndef TACTUS_OVERLAP_REGIONS_H
#define TACTUS_OVERLAP_REGIONS_H

#include <tactus/base.h>

struct tac_split {
    int axis;
    double value; /* what lies below it belongs to the first part */
};

struct tac_regions {
    int count;
    struct tac_split
        *split; /* owned, (count): split[m] parts regions that end with m - 1 from those that begin with m */
};

/* Collective. Makes `count` regions (1: all of space), the same on all ranks, by samples of each rank's points (n,
 * 3). */
enum tac_err tac_regions_make(struct tac_ctx *ctx, int count, size_t n, const double *x, struct tac_regions *out);
void tac_regions_free(struct tac_regions *regions);

/* Local. Returns the region of a point. */
int tac_region_of(const struct tac_regions *regions, const double x[3]);
/* Local. Lists the regions with points of a box, its faces included: region (count), ascending; returns their
 * number. */
int tac_regions_of_box(const struct tac_regions *regions, const double lo[3], const double hi[3], int32_t *region);

#endif
