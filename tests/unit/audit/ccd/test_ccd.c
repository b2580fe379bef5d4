/* Continuous collision detection against whole-number arithmetic (exact.h) on random and degenerate queries.
 *
 *     test_ccd [RANDOM [DEGENERATE [SEED]]]
 *
 * FREE where the truth is contact (false negative) and HIT where the truth is none are failures; OPEN is counted.  Then
 * the time per query beside a plain cubic-root solver's, which says nothing about passing.
 */
#include "check.h"
#include "unit/audit/ccd/exact.h"
#include "unit/audit/ccd/queries.h"
#include "unit/audit/ccd/roots.h"

#include <tactus/base.h>
#include <time.h>

struct tally {
    long queries, contact;        /* contact: in truth */
    long false_free, false_hit;   /* wrong */
    long open_free, open_contact; /* not decided, by the truth */
    long early;                   /* contact before the time that was told: wrong */
    long missed, invented;        /* by the plain solver, separation 0 only */
    long boxes;
};

static void print_query(const struct tac_ccd_query *query)
{
    printf("type %d separation %a tolerance %a\n", query->type, query->separation, query->tolerance);
    for (int i = 0; i < 4; i++)
        printf("  %a %a %a -> %a %a %a\n", query->x0[i][0], query->x0[i][1], query->x0[i][2], query->x1[i][0],
               query->x1[i][1], query->x1[i][2]);
}

static void judge(struct tally *tally, const struct tac_ccd_query *query, const struct tac_ccd_result *result)
{
    bool contact = exact_ccd(query, 1);
    tally->queries++;
    tally->contact += contact;
    tally->boxes += result->boxes;
    bool wrong = result->answer == (contact ? TAC_CCD_FREE : TAC_CCD_HIT);
    tally->false_free += wrong && contact;
    tally->false_hit += wrong && !contact;
    tally->open_free += result->answer == TAC_CCD_OPEN && !contact;
    tally->open_contact += result->answer == TAC_CCD_OPEN && contact;
    CHECK(!wrong, "answer %d, truth %d", result->answer, contact);
    CHECK(0 <= result->t[0] && result->t[0] <= result->t[1] && result->t[1] <= 1, "%g %g", result->t[0], result->t[1]);
    bool early = false;
    if (result->answer != TAC_CCD_FREE && contact && result->t[0] > 0) {
        early = exact_ccd(query, result->t[0] * (1 - 0x1p-20));
        CHECK(!early, "contact before %g", result->t[0]);
        tally->early += early;
    }
    if (wrong || early)
        print_query(query);
    if (query->separation == 0 && query->type <= TAC_CCD_EDGE_EDGE) {
        bool found = roots_ccd(query) <= 1;
        tally->missed += contact && !found;
        tally->invented += found && !contact;
    }
}

static struct tally run(enum family family, uint64_t seed, uint64_t count, struct tac_ctx *ctx,
                        struct tac_ccd_scratch *scratch)
{
    struct tally tally = {0};
    double begin_s = tac_wall_s();
    for (uint64_t n = 0; n < count; n++) {
        struct tac_ccd_query query;
        struct tac_ccd_result result;
        make_query(seed, family, n, &query);
        enum tac_err err = tac_ccd(ctx, &query, scratch, &result);
        CHECK(err == TAC_OK, "%s", ctx->error);
        if (err == TAC_OK)
            judge(&tally, &query, &result);
    }
    printf("%-10s %9ld %9ld %7ld %7ld %9ld %9ld %7.1f %9ld %9ld %7.1f\n", family_names[family], tally.queries,
           tally.contact, tally.false_free + tally.early, tally.false_hit, tally.open_free, tally.open_contact,
           (double)tally.boxes / (double)tally.queries, tally.missed, tally.invented, tac_wall_s() - begin_s);
    fflush(stdout);
    return tally;
}

/* ---- time ---- */

enum { TIMED = 20000 };

static volatile double sink; /* keeps the calls */

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum what { NOTHING, INCLUSION, ROOTS };

/* Median, 90 % and mean of ns per query, each query timed by itself, the cost of the clock taken off. */
static void time_one(const char *name, enum what what, const struct tac_ccd_query *query, struct tac_ctx *ctx,
                     struct tac_ccd_scratch *scratch)
{
    static double ns[TIMED];
    static double clock_ns;
    double sum = 0;
    for (int i = 0; i < TIMED; i++) {
        struct tac_ccd_result result;
        double begin = now_ns();
        if (what == INCLUSION) {
            if (tac_ccd(ctx, &query[i], scratch, &result) == TAC_OK)
                sink = result.t[0];
        } else if (what == ROOTS) {
            sink = roots_ccd(&query[i]);
        }
        ns[i] = now_ns() - begin - clock_ns;
        sum += ns[i];
    }
    qsort(ns, TIMED, sizeof *ns, compare);
    if (what == NOTHING)
        clock_ns = ns[TIMED / 2];
    else
        printf("  %-14s median %7.0f  90 %% %7.0f  mean %9.0f ns\n", name, ns[TIMED / 2], ns[TIMED * 9 / 10],
               sum / TIMED);
}

static void time_all(uint64_t seed, struct tac_ctx *ctx, struct tac_ccd_scratch *scratch)
{
    static struct tac_ccd_query query[TIMED];
    for (int family = RANDOM; family <= NEAR_MISS; family++)
        for (int type = TAC_CCD_VERTEX_TRIANGLE; type <= TAC_CCD_EDGE_EDGE; type++) {
            int count = 0;
            for (uint64_t n = 0; count < TIMED; n++) {
                make_query(seed, (enum family)family, n, &query[count]);
                count += query[count].separation == 0 && (int)query[count].type == type;
            }
            printf("%s, %s, %d queries\n", family_names[family], type ? "edge-edge" : "vertex-triangle", TIMED);
            time_one("", NOTHING, query, ctx, scratch);
            time_one("inclusion", INCLUSION, query, ctx, scratch);
            time_one("cubic roots", ROOTS, query, ctx, scratch);
        }
}

int main(int argc, char **argv)
{
    uint64_t random = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000, seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1,
             degenerate = argc > 2 ? strtoull(argv[2], NULL, 10) : 4000;
    struct tac_ctx ctx = {.size = 1};
    struct tac_ccd_scratch scratch = {0};
    long sums[6] = {0};
    printf("%-10s %9s %9s %7s %7s %9s %9s %7s %9s %9s %7s\n", "family", "queries", "contact", "false-", "false+",
           "open free", "open hit", "boxes", "roots-", "roots+", "s");
    for (int family = 0; family < FAMILIES; family++) {
        uint64_t count = family <= NEAR_MISS ? (random + 2) / 3 : (degenerate + FAMILIES - 4) / (FAMILIES - 3);
        struct tally tally = run((enum family)family, seed, count, &ctx, &scratch);
        long part[6] = {tally.queries,   tally.contact,   tally.false_free + tally.early,
                        tally.false_hit, tally.open_free, tally.open_contact};
        for (int i = 0; i < 6; i++)
            sums[i] += part[i];
    }
    printf("%-10s %9ld %9ld %7ld %7ld %9ld %9ld\n", "all", sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]);
    CHECK(sums[1] > 0 && sums[1] < sums[0], "one truth only");
    time_all(seed, &ctx, &scratch);
    tac_ccd_scratch_free(&scratch);
    exact_free();
    return check_result();
}
