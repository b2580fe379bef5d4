/* What a query of continuous collision detection can be beside ordinary: no numbers, the largest and the smallest ones,
 * no boxes allowed, no memory; and what is told about the time. */
#include "audit/ccd.h"
#include "check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Linked with --wrap=realloc where the linker can. */
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
static bool no_memory;
void *__wrap_realloc(void *memory, size_t size)
{
    return no_memory ? NULL : __real_realloc(memory, size);
}

static struct tac_ctx ctx = {.size = 1};
static struct tac_ccd_scratch scratch;

/* A vertex falls from `from` to `to` through the middle of a triangle in y = 0. */
static struct tac_ccd_query falling(double from, double to)
{
    struct tac_ccd_query query = {.type = TAC_CCD_VERTEX_TRIANGLE, .tolerance = 1e-6, .most_boxes = 100000};
    static const double corner[3][3] = {{-1, 0, -1}, {2, 0, -1}, {-1, 0, 2}};
    memcpy(query.x0[1], corner, sizeof corner);
    memcpy(query.x1[1], corner, sizeof corner);
    query.x0[0][1] = from;
    query.x1[0][1] = to;
    return query;
}

static struct tac_ccd_result ask(const struct tac_ccd_query *query)
{
    struct tac_ccd_result result = {TAC_CCD_OPEN, {-1, -1}, -1};
    CHECK(tac_ccd(&ctx, query, &scratch, &result) == TAC_OK, "%s", ctx.error);
    CHECK(0 <= result.t[0] && result.t[0] <= result.t[1] && result.t[1] <= 1, "%g %g", result.t[0], result.t[1]);
    return result;
}

static void scale_by(struct tac_ccd_query *query, double scale)
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            query->x0[i][k] *= scale;
            query->x1[i][k] *= scale;
        }
    query->tolerance *= scale;
    query->separation *= scale;
}

static void check_times(void)
{
    struct tac_ccd_query query = falling(3, -1);
    struct tac_ccd_result result = ask(&query);
    CHECK(result.answer == TAC_CCD_HIT, "%d", result.answer);
    CHECK(result.t[0] <= .75 && result.t[1] >= .75 && result.t[1] - result.t[0] < 1e-5, "%.17g %.17g", result.t[0],
          result.t[1]);
    query.separation = 1; /* first at t = 1/2 */
    result = ask(&query);
    CHECK(result.answer == TAC_CCD_HIT, "%d", result.answer);
    CHECK(result.t[0] <= .5 && result.t[0] > .48 && result.t[1] <= .5, "%.17g %.17g", result.t[0], result.t[1]);
    query = falling(3, 0x1p-40);
    result = ask(&query);
    CHECK(result.answer == TAC_CCD_FREE && result.t[0] == 0 && result.t[1] == 1, "%d", result.answer);
    query = falling(0, 1); /* leaves at once: exactly touching at t = 0 */
    result = ask(&query);
    CHECK(result.answer == TAC_CCD_HIT && result.t[0] == 0, "%d %g", result.answer, result.t[0]);
    query = falling(1, 0);
    result = ask(&query);
    CHECK(result.answer == TAC_CCD_HIT && result.t[1] == 1, "%d %g", result.answer, result.t[1]);
}

static void check_sizes(void)
{
    static const double scales[] = {0x1p-1070, 0x1p-600, 0x1p-150, 0x1p150, 0x1p600, 0x1p1021};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        struct tac_ccd_query query = falling(3, -1);
        query.tolerance = .5;
        scale_by(&query, scales[i]);
        CHECK(ask(&query).answer == TAC_CCD_HIT, "scale %g", scales[i]);
        query = falling(3, 2);
        query.separation = 1;
        scale_by(&query, scales[i]);
        CHECK(ask(&query).answer == TAC_CCD_FREE, "scale %g", scales[i]);
        query = falling(3, 1);
        query.separation = 1.5;
        scale_by(&query, scales[i]);
        CHECK(ask(&query).answer == TAC_CCD_HIT, "scale %g", scales[i]);
    }
    struct tac_ccd_query query = falling(DBL_MAX, DBL_MAX / 2);
    query.x0[1][1] = query.x1[1][1] = -DBL_MAX; /* the difference overflows */
    CHECK(ask(&query).answer == TAC_CCD_FREE, "far apart");
    query.separation = DBL_MAX;
    CHECK(ask(&query).answer != TAC_CCD_FREE, "not farther than everything");
    query.separation = INFINITY;
    CHECK(ask(&query).answer != TAC_CCD_FREE, "nothing is farther");
    /* distances whose squares underflow */
    query = falling(0x1p-540, 0x1p-540);
    query.separation = 0x1p-541;
    CHECK(ask(&query).answer == TAC_CCD_FREE, "tiny separation");
    query.separation = 0x1p-539;
    CHECK(ask(&query).answer != TAC_CCD_FREE, "tiny separation, not kept");
}

static void check_no_numbers(void)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 6; j++) {
                struct tac_ccd_query query = falling(5, 4);
                (j < 3 ? query.x0 : query.x1)[i][k] = bad[j % 3];
                CHECK(ask(&query).answer == TAC_CCD_OPEN, "vertex %d coordinate %d: %g", i, k, bad[j % 3]);
            }
    struct tac_ccd_query query = falling(5, 4);
    query.separation = NAN;
    CHECK(ask(&query).answer == TAC_CCD_OPEN, "separation");
}

static void check_limits(void)
{
    for (int64_t most = -1; most < 40; most++) {
        struct tac_ccd_query query = falling(3, -1);
        query.most_boxes = most;
        struct tac_ccd_result result = ask(&query);
        CHECK(result.answer != TAC_CCD_FREE && result.t[0] <= .75, "%d boxes: %d", (int)most, result.answer);
        CHECK(result.boxes <= (most > 1 ? most : 1), "%d boxes, %d allowed", (int)result.boxes, (int)most);
    }
    static const double tolerances[] = {0, NAN, 1e-300, 1e300, INFINITY};
    for (int i = 0; i < 5; i++) {
        struct tac_ccd_query query = falling(3, -1);
        query.tolerance = tolerances[i];
        CHECK(ask(&query).answer != TAC_CCD_FREE, "tolerance %g", tolerances[i]);
    }
}

static void check_memory(void)
{
    struct tac_ccd_result result;
    struct tac_ccd_query query = falling(3, -1);
    tac_ccd_scratch_free(&scratch);
    tac_ccd_scratch_free(&scratch);
    no_memory = true;
    enum tac_err err = tac_ccd(&ctx, &query, &scratch, &result);
    no_memory = false;
    CHECK(err == TAC_ERR_RUN && strstr(ctx.error, "out of memory"), "%d %s", err, ctx.error);
    ctx.error[0] = 0;
    CHECK(ask(&query).answer == TAC_CCD_HIT, "after that");
    tac_ccd_scratch_free(&scratch);
    CHECK(scratch.box == NULL && scratch.capacity == 0, "scratch");
}

int main(void)
{
    check_times();
    check_sizes();
    check_no_numbers();
    check_limits();
    check_memory();
    return check_result();
}
