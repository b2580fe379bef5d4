/* Pairs that are evaluated four at a time, and one by one: the same bits, and silent alike, whatever the positions are;
 * also those of a pass that goes astray: infinite, no numbers, or so large that products of them overflow.  If it
 * failed, a pair of two ranks could be silent on one of them and act on the other, which then waits for messages that
 * never come. */
#include "check.h"
#include "contact/evaluate.h"
#include "contact/evaluate_four.h"
#include <string.h>

enum { PAIRS = 4, VERTICES = 4 * PAIRS, NOW = 5 };

static struct tac_pos pos[VERTICES];
static struct tac_vel vel[VERTICES];
static int32_t no_script[VERTICES];
static const struct tac_vertex_state state = {
    .quantum = 1, .owned = VERTICES, .count = VERTICES, .capacity = VERTICES, .pos = pos, .vel = vel};
static const struct tac_scripts scripts = {.of = no_script};

static double between(uint64_t *seed, double low, double high)
{
    *seed = tac_hash64(*seed, 78);
    return low + (high - low) * ldexp((double)(*seed >> 11), -53);
}

enum kind { NEAR, SLENDER, LARGE, ENDLESS, NO_NUMBER, KINDS };
static const char *const kind_name[KINDS] = {"near", "slender", "large", "endless", "no number"};

/* A coordinate of a vertex of such a pair. */
static double coordinate(uint64_t *seed, enum kind kind, int axis)
{
    const double c = between(seed, -1, 1) * (kind == SLENDER && axis > 0 ? ldexp(1, -(int)between(seed, 1, 40)) : 1);
    const bool odd = kind >= LARGE && between(seed, 0, 1) < .3;
    if (!odd)
        return c;
    if (kind == LARGE)
        return ldexp(c, (int)between(seed, 200, 1023));
    return kind == NO_NUMBER ? NAN : c < 0 ? -INFINITY : INFINITY;
}

static struct tac_pair make(uint64_t *seed, enum kind kind, enum tac_pair_type type, int first)
{
    struct tac_pair p = {.type = (uint8_t)type, .count = (uint8_t)tac_pair_vertices(type)};
    double n[3], length = 0;
    for (int k = 0; k < 3; k++) {
        n[k] = between(seed, -1, 1);
        length += n[k] * n[k];
    }
    for (int k = 0; k < 3; k++)
        p.normal[k] = (float)(.99 * n[k] / sqrt(length));
    for (int i = 0; i < p.count; i++) {
        p.v[i] = first + i;
        for (int k = 0; k < 3; k++)
            pos[first + i].x[k] = coordinate(seed, kind, k);
        pos[first + i].t = NOW;
    }
    return p;
}

/* The same number, or both none. */
static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) != 0 : a == b;
}

static bool same_geometry(const struct tac_pair_geometry *a, const struct tac_pair_geometry *b)
{
    bool all = same(a->near.d, b->near.d) && same(a->mollifier, b->mollifier);
    for (int k = 0; k < 4; k++)
        all = all && same(a->near.w[k], b->near.w[k]) && (k == 3 || same(a->near.n[k], b->near.n[k]));
    return all;
}

static void compare(enum kind kind, enum tac_pair_type type, uint64_t n)
{
    uint64_t seed = tac_hash64(n, 100 * (uint64_t)kind + (uint64_t)type);
    struct tac_pair one[PAIRS], four[PAIRS], *p[PAIRS];
    struct tac_pair_geometry geometry[PAIRS], *g[PAIRS];
    double over[PAIRS], bound[PAIRS];
    memset(geometry, 0, sizeof geometry);
    for (int l = 0; l < PAIRS; l++) {
        one[l] = four[l] = make(&seed, kind, type, 4 * l);
        p[l] = &four[l];
        g[l] = &geometry[l];
        over[l] = between(&seed, 0, .5);
    }
    const int silent = type == TAC_PAIR_VERTEX_VERTEX
                           ? tac_particles_evaluate_four(&state, &scripts, p, over, bound, NOW, g)
                           : tac_pairs_evaluate_four(&state, &scripts, p, over, bound, NOW, g);
    for (int l = 0; l < PAIRS; l++) {
        double x[4][3], alone;
        struct tac_pair_geometry expected = {0};
        for (int i = 0; i < one[l].count; i++)
            tac_state_position(&state, &scripts, one[l].v[i], NOW, x[i]);
        const bool beyond = tac_pair_beyond(&one[l], (const double(*)[3])x, over[l], &alone);
        CHECK(beyond == (silent >> l & 1), "%s, type %d, %ju: silent %d alone and %d of four", kind_name[kind],
              (int)type, (uintmax_t)n, beyond, silent >> l & 1);
        if (beyond) {
            CHECK(alone == bound[l], "%s, type %d, %ju: bounds %a and %a", kind_name[kind], (int)type, (uintmax_t)n,
                  alone, bound[l]);
            continue;
        }
        tac_pair_evaluate(&one[l], (const double(*)[3])x, &expected);
        CHECK(same_geometry(&expected, &geometry[l]), "%s, type %d, %ju: distance %a alone and %a of four",
              kind_name[kind], (int)type, (uintmax_t)n, expected.near.d, geometry[l].near.d);
        CHECK(same(one[l].guard, four[l].guard) && same(one[l].normal[0], four[l].normal[0]) &&
                  same(one[l].normal[1], four[l].normal[1]) && same(one[l].normal[2], four[l].normal[2]),
              "%s, type %d, %ju: what the pair keeps", kind_name[kind], (int)type, (uintmax_t)n);
    }
}

int main(void)
{
    static const enum tac_pair_type type[3] = {TAC_PAIR_VERTEX_TRIANGLE, TAC_PAIR_EDGE_EDGE, TAC_PAIR_VERTEX_VERTEX};
    for (int i = 0; i < VERTICES; i++)
        no_script[i] = -1;
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < 3; k++)
            for (uint64_t n = 0; n < 20000; n++)
                compare((enum kind)kind, type[k], n);
    return check_result();
}
