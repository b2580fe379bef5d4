/* Is the truth of exact.h true?  Both of its ways of finding zeros must agree; exact distances at some times may not
 * contradict a "no"; and where it says "yes", the first time that it tells by bisection has that distance. */
#include "check.h"
#include "unit/audit/ccd/exact.h"
#include "unit/audit/ccd/queries.h"
#include "unit/overlap/rational.h"

enum { SAMPLES = 8, HALVINGS = 20 };

/* Squared distance at t, exactly; in the pool of rationals. */
static rational distance2_at(const struct tac_ccd_query *query, double t)
{
    struct vec x[4];
    for (int i = 0; i < 4; i++)
        x[i] = v_along(v_from(query->x0[i]), v_sub(v_from(query->x1[i]), v_from(query->x0[i])), q(t));
    switch (query->type) {
    case TAC_CCD_VERTEX_TRIANGLE:
        return exact_vt(x[0], x[1], x[2], x[3]);
    case TAC_CCD_EDGE_EDGE:
        return exact_ee(x[0], x[1], x[2], x[3]);
    case TAC_CCD_VERTEX_EDGE:
        return exact_ve(x[0], x[1], x[2]);
    default:
        return exact_vv(x[0], x[1]);
    }
}

/* How fast the distance can change at most. */
static double speed(const struct tac_ccd_query *query)
{
    double most = 0;
    for (int i = 0; i < 4; i++) {
        double v[3];
        tac_sub(v, query->x1[i], query->x0[i]);
        most = fmax(most, sqrt(tac_dot(v, v)));
    }
    return 2 * most;
}

static void check_query(const struct tac_ccd_query *query, int yes[2])
{
    int contact = exact_ccd(query, 1), usual = exact_bisections;
    yes[contact]++;
    exact_bisections = 0;
    CHECK(exact_ccd(query, 1) == contact, "two ways differ");
    exact_bisections = usual;
    rational separation2 = q_mul(q(query->separation), q(query->separation));
    for (int i = 0; i <= SAMPLES; i++) {
        double t = (double)i / SAMPLES;
        bool within = mpq_cmp(distance2_at(query, t), separation2) <= 0;
        CHECK(!within || contact, "no contact, but at %g", t);
        CHECK(!within || exact_ccd(query, t), "no contact until %g, but then", t);
    }
    double lo = 0, hi = 1;
    for (int i = 0; contact && i < HALVINGS; i++) {
        double t = 0.5 * (lo + hi);
        if (exact_ccd(query, t))
            hi = t;
        else
            lo = t;
    }
    if (contact) {
        double distance = sqrt(mpq_get_d(distance2_at(query, hi)));
        CHECK(distance <= query->separation + speed(query) * (hi - lo) + 1e-12, "at %g the distance is %g", hi,
              distance);
    }
    rational_clear();
}

int main(void)
{
    int yes[2] = {0, 0};
    for (int family = 0; family < MIXED; family++)
        for (uint64_t n = 0; n < 100; n++) {
            struct tac_ccd_query query = {0};
            struct dice dice = {tac_hash64(11, (uint64_t)family << 32 | n), 0};
            query.type = roll_type(&dice);
            if (family == RANDOM)
                set_random(&dice, &query);
            else if (family == MOVING)
                set_moving(&dice, &query);
            else if (family == NEAR_MISS)
                set_near_miss(&dice, &query);
            else
                set_degenerate(&dice, &query, (enum family)family);
            query.separation = roll_int(&dice, 2) ? .25 * roll_int(&dice, 9) : 0;
            check_query(&query, yes);
        }
    printf("%d with contact, %d without\n", yes[1], yes[0]);
    CHECK(yes[0] > 100 && yes[1] > 100, "one truth only");
    exact_free();
    rational_free();
    return check_result();
}
