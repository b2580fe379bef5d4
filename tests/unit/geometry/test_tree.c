/* Trees of boxes, of which some move: the search of what has changed must find exactly the pairs of boxes that overlap
 * and of which one has moved, each once; the search of all must find all, and a search by groups all but those that it
 * may leave out.  Where a box of an inner node is not refitted, or a marked part is left out, contacts are missed. */
#include "geometry/tree.h"

#include <check.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 200 };

static uint64_t seed = 1;

static double draw(double most)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return most * (double)(seed >> 11) * 0x1p-53;
}

/* Where the scene lies, m: far from zero, single precision has no digit left for a box, unless it is measured from a
 * point of the body. */
static double far_off;

static void random_box(struct tac_dop *box)
{
    double x[3], at[TAC_DOP_AXES];
    const double size = .01 + draw(.08);
    for (int k = 0; k < 3; k++)
        x[k] = far_off + draw(1);
    tac_dop_project(x, at);
    for (int k = 0; k < TAC_DOP_AXES; k++) {
        box->lo[k] = at[k] - size * tac_dop_length[k];
        box->hi[k] = at[k] + size * tac_dop_length[k];
    }
}

static void box_of(void *context, int32_t i, struct tac_dop *box)
{
    *box = ((const struct tac_dop *)context)[i];
}

/* Do they overlap, if each is larger by so much?  All boxes are within 3 m of the origins along each axis. */
static bool overlap(const struct tac_dop *a, const struct tac_dop *b, const double *lo, const double *hi, double grown)
{
    for (int k = 0; k < TAC_DOP_AXES; k++)
        if (a->lo[k] + lo[k] - 2 * grown > b->hi[k] || b->lo[k] - 2 * grown > a->hi[k] + hi[k])
            return false;
    return true;
}

struct found {
    int times[MOST][MOST];
    bool ordered; /* two trees; of one, a pair is entered with the smaller index first */
};

static enum tac_err visit(void *context, int32_t a, int32_t b)
{
    struct found *found = context;
    if (found->ordered || a < b)
        found->times[a][b]++;
    else
        found->times[b][a]++;
    return TAC_OK;
}

/* Every pair that overlaps, and has changed where only such are asked for, is found once; no other is, but for those
 * that rounding makes overlap. */
static void compare(const struct found *found, const struct tac_dop *a, int n, const uint8_t *ma,
                    const struct tac_dop *b, int m, const uint8_t *mb, const double *lo, const double *hi, bool changed)
{
    for (int i = 0; i < n; i++)
        for (int j = found->ordered ? 0 : i + 1; j < m; j++) {
            const bool looked_for = !changed || ma[i] || mb[j];
            const int least = looked_for && overlap(&a[i], &b[j], lo, hi, 0),
                      most = looked_for && overlap(&a[i], &b[j], lo, hi, 3 * 0x1p-22 + 4 * DBL_EPSILON * far_off);
            CHECK(found->times[i][j] >= least && found->times[i][j] <= most,
                  "pair %d %d of %d and %d: found %d times, changed %d", i, j, n, m, found->times[i][j], changed);
        }
}

/* Groups are quarters of space at first, so whole subtrees have one; boxes that move keep theirs. */
static int32_t group_of[MOST];

static bool leave_out(void *context, int32_t a, int32_t b)
{
    return (a + b) % 3 == 0;
}

/* Takes what was left out out of what the whole search found. */
static void compare_groups(const struct tac_tree *tree, bool changed, const struct found *all, int64_t tests_of_all)
{
    static struct found found;
    int64_t tests = 0;
    memset(&found, 0, sizeof found);
    CHECK(tac_tree_overlaps_grouped(tree, changed, visit, leave_out, &found, &tests) == TAC_OK && tests <= tests_of_all,
          "by groups it tests no more");
    for (int i = 0; i < tree->count; i++)
        for (int j = i + 1; j < tree->count; j++) {
            const int want = leave_out(NULL, group_of[i], group_of[j]) ? 0 : all->times[i][j] + all->times[j][i];
            CHECK(found.times[i][j] + found.times[j][i] == want, "pair %d %d by groups", i, j);
        }
}

static void mark_some(struct tac_dop *box, int n, uint8_t *marked, double share)
{
    for (int i = 0; i < n; i++) {
        marked[i] = draw(1) < share;
        if (marked[i])
            random_box(&box[i]);
    }
}

static void round_of(struct tac_ctx *ctx, int n, int m, double share)
{
    static struct tac_dop a[MOST], b[MOST];
    static struct found found;
    static int32_t scratch[MOST];
    uint8_t ma[MOST] = {0}, mb[MOST] = {0};
    double lo[TAC_DOP_AXES], hi[TAC_DOP_AXES], still[TAC_DOP_AXES] = {0};
    struct tac_tree *ta = NULL, *tb = NULL;
    int64_t tests = 0;
    double origin_a[3], origin_b[3];
    for (int k = 0; k < 3; k++) {
        origin_a[k] = far_off + draw(1);
        origin_b[k] = far_off + draw(1);
    }
    CHECK(tac_tree_create(ctx, n, &ta) == TAC_OK && tac_tree_create(ctx, m, &tb) == TAC_OK, "no memory");
    for (int i = 0; i < n; i++)
        random_box(&a[i]);
    for (int i = 0; i < m; i++)
        random_box(&b[i]);
    for (int k = 0; k < TAC_DOP_AXES; k++) {
        lo[k] = -draw(.05);
        hi[k] = draw(.05);
    }
    for (int i = 0; i < n; i++)
        group_of[i] = 2 * (a[i].lo[0] + a[i].hi[0] > 1 + 2 * far_off) + (a[i].lo[1] + a[i].hi[1] > 1 + 2 * far_off);
    CHECK(tac_tree_group(ctx, ta, group_of) == TAC_OK, "no memory");
    tac_tree_refit(ta, origin_a, box_of, a, scratch);
    tac_tree_refit(tb, origin_b, box_of, b, scratch);
    for (int turn = 0; turn < 3; turn++) {
        const bool changed = turn > 0;
        if (changed) {
            mark_some(a, n, ma, share);
            mark_some(b, m, mb, turn == 1 ? 0 : share);
            bool any = false;
            for (int i = 0; i < n; i++)
                any |= ma[i];
            CHECK(tac_tree_refit_changed(ta, box_of, a, ma) == any, "a tree of %d", n);
            tac_tree_refit_changed(tb, box_of, b, mb);
        }
        memset(&found, 0, sizeof found);
        found.ordered = true;
        CHECK((changed ? tac_tree_overlaps_changed : tac_tree_overlaps)(ta, tb, lo, hi, visit, &found, &tests) ==
                  TAC_OK,
              "two trees");
        compare(&found, a, n, ma, b, m, mb, lo, hi, changed);
        memset(&found, 0, sizeof found);
        tests = 0;
        CHECK((changed ? tac_tree_overlaps_changed : tac_tree_overlaps)(ta, ta, NULL, NULL, visit, &found, &tests) ==
                  TAC_OK,
              "one tree");
        compare(&found, a, n, ma, a, n, ma, still, still, changed);
        compare_groups(ta, changed, &found, tests);
    }
    tac_tree_destroy(&ta);
    tac_tree_destroy(&tb);
}

int main(void)
{
    struct tac_ctx ctx = {.size = 1};
    static const double share[] = {0, .01, .1, 1};
    for (int k = 0; k < 40; k++) {
        far_off = k % 2 ? 1e6 : 0;
        round_of(&ctx, 1 + (int)draw(MOST - 1), 1 + (int)draw(MOST - 1), share[k / 2 % 4]);
    }
    return check_result();
}
