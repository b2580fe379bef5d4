/* tetrahedra.c: checks the tetrahedra of a mesh and derives their surface: the faces that only one of them has. */
#include "mesh/check.h"

#include "mesh/sort.h"

#include <stdlib.h>
#include <string.h>

/* Face k is opposite vertex k; from outside its vertices go counterclockwise. */
static const int FACE[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static void face_of(const struct tac_builder *b, size_t face, tac_lid v[3])
{
    for (int k = 0; k < 3; k++)
        v[k] = b->tetrahedron[4 * (face / 4) + (size_t)FACE[face % 4][k]];
}

/* Sorts the vertices. Returns whether that takes an odd number of exchanges, which gives the orientation of the
 * face. */
static bool ascend(tac_lid v[3])
{
    bool odd = false;
    for (int k = 0; k < 3; k++) {
        const int i = k % 2;
        if (v[i] > v[i + 1]) {
            const tac_lid swap = v[i];
            v[i] = v[i + 1];
            v[i + 1] = swap;
            odd = !odd;
        }
    }
    return odd;
}

/* The sentence for a face that has more than two sides, or two on one side of it. */
static enum tac_err fail_face(const struct tac_builder *b, size_t one, size_t two, bool many)
{
    tac_lid v[3];
    char from[512] = "";
    face_of(b, one, v);
    if (b->unit != NULL && b->tetrahedron_place != NULL)
        snprintf(from, sizeof from, ", %s %" PRId64, b->unit, b->tetrahedron_place[two / 4]);
    return tac_fail(b->ctx, TAC_ERR_INPUT,
                    "%s%s: the face of the vertices %" TAC_PRILID ", %" TAC_PRILID ", %" TAC_PRILID
                    " belongs to %s the tetrahedra %zu and %zu%s; remove those that overlap others",
                    b->where, from, v[0], v[1], v[2], many ? "more than two tetrahedra, among them" : "both", one / 4,
                    two / 4, many ? "" : ", which lie on the same side of it");
}

/* Marks the faces that only one tetrahedron has. order: all faces, equal ones together and ascending. */
static enum tac_err mark_outer(const struct tac_builder *b, const tac_lid *key, const tac_lid *order, size_t n,
                               const uint8_t *odd, uint8_t *outer)
{
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && memcmp(key + 3 * (size_t)order[i], key + 3 * (size_t)order[j], 3 * sizeof *key) == 0;)
            j++;
        if (j - i > 2)
            return fail_face(b, (size_t)order[i], (size_t)order[i + 2], true);
        if (j - i == 2 && odd[order[i]] == odd[order[i + 1]])
            return fail_face(b, (size_t)order[i], (size_t)order[i + 1], false);
        outer[order[i]] = j - i == 1;
    }
    return TAC_OK;
}

/* Whether the surface has all of the builder's own triangles. */
static bool all_there(const struct tac_builder *b, const tac_lid *key, const tac_lid *order, size_t n,
                      const uint8_t *outer)
{
    for (size_t t = 0; t < b->triangle_count; t++) {
        tac_lid v[3] = {b->triangle[3 * t], b->triangle[3 * t + 1], b->triangle[3 * t + 2]};
        size_t low = 0, high = n;
        ascend(v);
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            const tac_lid *at = key + 3 * (size_t)order[middle];
            const bool less = at[0] != v[0] ? at[0] < v[0] : at[1] != v[1] ? at[1] < v[1] : at[2] < v[2];
            low = less ? middle + 1 : low;
            high = less ? high : middle;
        }
        if (low == n || memcmp(key + 3 * (size_t)order[low], v, sizeof v) != 0 || !outer[order[low]])
            return false;
    }
    return true;
}

enum tac_err tac_builder_surface(struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    const struct tac_origin origin = {b->ctx, b->where, b->unit, b->tetrahedron_place};
    const size_t count = b->tetrahedron_count, n = 4 * count;
    tac_lid *key = NULL, *order = NULL;
    uint8_t *odd = NULL, *outer = NULL;
    if (count > (size_t)TAC_MESH_LIMIT / 4)
        return tac_fail(b->ctx, TAC_ERR_INPUT,
                        "%s: %zu tetrahedra are more than one mesh may have (%" PRId64 "); make it coarser", b->where,
                        count, TAC_MESH_LIMIT / 4);
    TAC_TRY(tac_check_indices(&origin, 0, count, 4, b->tetrahedron, b->vertex_count));
    TAC_TRY(tac_check_volumes(&origin, count, b->tetrahedron, b->x));
    TAC_TRY(tac_check_repeats(&origin, b->vertex_count, count, 4, b->tetrahedron));
    TAC_TRY(tac_alloc(b->ctx, 3 * n, sizeof *key, &key));
    TAC_TRY(tac_alloc(b->ctx, n, sizeof *order, &order));
    TAC_TRY(tac_alloc(b->ctx, n, 1, &odd));
    TAC_TRY(tac_alloc(b->ctx, n, 1, &outer));
    for (size_t f = 0; f < n; f++) {
        face_of(b, f, key + 3 * f);
        odd[f] = ascend(key + 3 * f);
    }
    TAC_TRY(tac_sort_rows(b->ctx, (tac_lid)b->vertex_count, n, 3, key, order));
    TAC_TRY(mark_outer(b, key, order, n, odd, outer));
    if (!all_there(b, key, order, n, outer))
        tac_warn(
            b->ctx,
            "%s: has triangles that are no faces of its tetrahedra's surface; they are left out, for the triangles of "
            "a solid are its surface",
            b->where);
    b->triangle_count = b->segment_count = 0;
    for (size_t f = 0; f < n; f++)
        if (outer[f]) {
            tac_lid v[3];
            face_of(b, f, v);
            b->place = b->unit != NULL && b->tetrahedron_place != NULL ? b->tetrahedron_place[f / 4] : 0;
            TAC_TRY(tac_builder_triangle(b, v[0], v[1], v[2]));
        }
done:
    free(key);
    free(order);
    free(odd);
    free(outer);
    return err;
}
