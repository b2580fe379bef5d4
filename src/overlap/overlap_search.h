/* overlap_search.h: declares the state of the search, which overlap.c (finds elements that come near) and
 * overlap_pairs.c (examines their parts) share. It is private to the room. */
#ifndef TACTUS_OVERLAP_OVERLAP_SEARCH_H
#define TACTUS_OVERLAP_OVERLAP_SEARCH_H

#include "overlap/box_tree.h"
#include "overlap/overlap.h"

enum tac_overlap_element { TRIANGLE, SEGMENT, PARTICLE };

/* A body pair that may overlap, smaller index first. */
struct tac_body_pair {
    tac_lid body[2];
};

struct tac_overlap_search {
    struct tac_ctx *ctx;
    const struct tac_scene *scene;
    struct tac_overlaps *out;
    size_t capacity;
    struct tac_body_pair *ignore; /* owned, (ignore_count), sorted */
    size_t ignore_count;
    /* Each vertex and edge is examined only once: with the first element that has it. Numbers are those of the
     * elements: triangles, then segments, then particles. */
    int64_t *vertex_owner;   /* owned, (V) */
    tac_lid *segment_edge;   /* owned, (S) edge of each segment */
    const uint8_t *scripted; /* borrowed, (V), or NULL: what tac_overlap_find_exempt() looks for */
    double touch;            /* TAC_OVERLAP_TOUCH times the scene's largest coordinate, m */
};

/* Local. For the walk over the tree: looks at all contact pairs of two elements' parts, user is the search, and
 * records overlaps. `distance`: margin that no pair need be looked at beyond, m. TAC_ERR_STOPPED when the list is full.
 */
enum tac_err tac_overlap_pair(void *user, const struct tac_box_item *a, const struct tac_box_item *b, double distance);

/* Local. Sorts overlaps into the order of struct tac_overlaps. */
void tac_overlap_sort(struct tac_overlaps *overlaps);

/* Local. Finds the vertices of one of an overlap's elements; returns how many. */
int tac_overlap_vertices(const struct tac_scene *scene, const struct tac_overlap *overlap, int side, tac_lid vertex[3]);

/* Local. Writes overlaps.obj (rank 0) and fails with the sentence of tac_overlap_check(). */
enum tac_err tac_overlap_refuse(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_overlaps *overlaps,
                                const char *dir);

static inline const double *tac_overlap_at(const struct tac_overlap_search *search, tac_lid vertex)
{
    return search->scene->mesh->x + 3 * (size_t)vertex;
}

#endif
