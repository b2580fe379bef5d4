/* audit_prove.c: proves that one pair keeps its distance over one slab.
 *
 * Over any part of the slab every vertex keeps within its stray of the straight line between its places at the part's
 * two ends.  Along any direction n two such straight motions are nearest at one of the ends; so n . (a - b) there, less
 * the strays, is a bound of the distance over the whole part.  The closest points' direction in the middle makes it a
 * good one.  Where it does not tell enough, the part is halved: cells of the slab's grid first, then breakpoints; what
 * is left, a single piece in which all move straight, goes to tac_ccd().
 */
#include "audit/audit_room.h"

#include <math.h>
#include <string.h>
#include <tactus/math.h>

/* A gap within this share of the smallest measured one is accurate enough for the report. */
#define ENOUGH .98

/* Boxes of a query of a whole piece, and of parts of one for which that was not enough; the shortest such part. */
enum { MOST_BOXES = 1000000, FEW_BOXES = 20000 };
#define SHORTEST 0x1p-12

struct part {
    double x0[4][3], x1[4][3], stray[2];
};

struct prover {
    struct tac_audit_search *search;
    const struct tac_audit_pair *pair;
    struct tac_audit_walk *walk;
};

static double large(const struct tac_audit_pair *pair)
{
    return pair->round / TAC_AUDIT_ROUND;
}

/* A gap that was measured. */
static void note(struct prover *p, double distance, double t_s)
{
    struct tac_audit_search *s = p->search;
    const double gap = distance - p->pair->keep;
    if (!(gap < s->best))
        return;
    s->best = gap;
    s->best_place = (struct tac_audit_place){
        .t_s = t_s, .id = {p->pair->id[0], p->pair->id[1]}, .kind = (uint8_t)p->pair->kind, .gap = gap};
}

/* The gap that is surely kept over the part, along n; NaN: n is no direction. */
static double kept(const struct prover *p, const struct part *part, const double n[3])
{
    return tac_audit_along(p->pair->kind, n, part->x0, part->x1) - part->stray[0] - part->stray[1] - p->pair->round -
           p->pair->keep;
}

/* The same by the volume that the two span, whose error falls with the square of the part's length also where they
 * turn; of a part in which all move straight. */
static double kept_turning(const struct prover *p, const struct part *part)
{
    return tac_audit_turning(p->pair->kind, part->x0, part->x1) - part->stray[0] - part->stray[1] - p->pair->round -
           p->pair->keep;
}

/* Is that a proof, and near enough to the smallest one measured? Then it is entered. */
static bool settles(struct prover *p, double gap)
{
    if (!(gap > 0 && gap >= ENOUGH * p->search->best))
        return false;
    p->search->bound = fmin(p->search->bound, gap);
    return true;
}

static void halfway(const struct prover *p, const struct part *part, double x[4][3])
{
    for (int i = 0; i < p->pair->n; i++)
        for (int k = 0; k < 3; k++)
            x[i][k] = .5 * part->x0[i][k] + .5 * part->x1[i][k];
}

/* ---- a single piece ---- */

/* Both halves of a straight piece, and so on, for a better bound than `floor`, which is known.  *calls: how many more.
 */
static void refine(struct prover *p, const struct part *part, double t0_s, double t1_s, double floor, int *calls)
{
    struct part half = *part;
    double middle[4][3], n[3];
    halfway(p, part, middle);
    note(p, tac_audit_near(p->pair->kind, middle, n), .5 * t0_s + .5 * t1_s);
    const double gap = fmax(kept(p, part, n), kept_turning(p, part));
    if (settles(p, gap))
        return;
    floor = gap > floor ? gap : floor;
    if (--*calls <= 0 || !(floor < p->search->best)) {
        p->search->bound = fmin(p->search->bound, floor);
        return;
    }
    memcpy(half.x1, middle, sizeof middle);
    refine(p, &half, t0_s, .5 * t0_s + .5 * t1_s, floor, calls);
    half = *part;
    memcpy(half.x0, middle, sizeof middle);
    refine(p, &half, .5 * t0_s + .5 * t1_s, t1_s, floor, calls);
}

static void at_share(const struct prover *p, const struct part *part, double s, double x[4][3])
{
    for (int i = 0; i < p->pair->n; i++)
        for (int k = 0; k < 3; k++)
            x[i][k] = part->x0[i][k] + s * (part->x1[i][k] - part->x0[i][k]);
}

static void found(struct prover *p, const struct part *part, const struct tac_ccd_result *result, double t0_s,
                  double t1_s)
{
    const bool crossing = result->answer == TAC_CCD_HIT;
    struct tac_audit_report *report = p->search->report;
    report->crossing += crossing;
    report->open += !crossing;
    p->search->bound = fmin(p->search->bound, 0 - p->pair->keep);
    /* Where within the times in doubt? For the reader; no proof depends on it. */
    enum { SAMPLES = 128 };
    double x[4][3], n[3], distance = INFINITY, t_s = 0;
    for (int i = 0; i <= SAMPLES; i++) {
        const double t = result->t[0] + (result->t[1] - result->t[0]) * i / SAMPLES;
        at_share(p, part, t, x);
        const double d = tac_audit_near(p->pair->kind, x, n);
        if (d < distance) {
            distance = d;
            t_s = t0_s + t * (t1_s - t0_s);
        }
    }
    const double gap = distance - p->pair->keep;
    note(p, distance, t_s);
    tac_audit_list(report, &(struct tac_audit_place){.t_s = t_s,
                                                     .id = {p->pair->id[0], p->pair->id[1]},
                                                     .kind = (uint8_t)p->pair->kind,
                                                     .verdict = crossing ? TAC_AUDIT_CROSSING : TAC_AUDIT_OPEN,
                                                     .gap = gap});
}

/* Continuous collision detection of a piece or a part of it. */
static enum tac_err query(struct prover *p, const struct part *part, int64_t most_boxes, struct tac_ccd_result *result)
{
    enum tac_err err = TAC_OK;
    double n[3];
    struct tac_ccd_query query = {.type = (enum tac_ccd_type)p->pair->kind, .most_boxes = most_boxes};
    const double rounding = .5 * TAC_AUDIT_ROUND * large(p->pair); /* of two positions between breakpoints */
    memcpy(query.x0, part->x0, sizeof query.x0);
    memcpy(query.x1, part->x1, sizeof query.x1);
    const double nearest = fmin(tac_audit_near(p->pair->kind, part->x0, n), tac_audit_near(p->pair->kind, part->x1, n));
    query.separation = p->pair->keep + rounding;
    query.tolerance = fmax(1e-2 * (nearest - p->pair->keep), 2 * rounding + 1e-300);
    p->search->report->queries++;
    TAC_TRY(tac_ccd(p->search->ctx, &query, &p->search->scratch, result));
    if (result->answer == TAC_CCD_HIT) {
        /* Of the inflated pair.  Of the pair itself? */
        struct tac_ccd_result exact;
        query.separation = p->pair->keep;
        TAC_TRY(tac_ccd(p->search->ctx, &query, &p->search->scratch, &exact));
        if (exact.answer == TAC_CCD_FREE)
            result->answer = TAC_CCD_OPEN;
        else
            *result = exact;
    }
done:
    return err;
}

/* Queries the share s0..s1 of a piece that was left open, as long as the pair is apart before it. Long edges that are
 * nearly parallel need more boxes than there are, but fewer in a shorter part, where they turn less. */
static enum tac_err ask_share(struct prover *p, const struct part *whole, double s0, double s1, bool *apart)
{
    enum tac_err err = TAC_OK;
    struct part part = *whole;
    struct tac_ccd_result result;
    double middle[4][3], n[3];
    const double half = .5 * (s0 + s1);
    at_share(p, whole, s0, part.x0);
    at_share(p, whole, s1, part.x1);
    halfway(p, &part, middle);
    tac_audit_near(p->pair->kind, middle, n);
    if (!*apart || (!p->search->query_all && kept(p, &part, n) > 0))
        return TAC_OK;
    TAC_TRY(query(p, &part, FEW_BOXES, &result));
    if (result.answer == TAC_CCD_FREE)
        goto done;
    *apart = result.answer == TAC_CCD_OPEN && s1 - s0 > SHORTEST;
    if (*apart) {
        TAC_TRY(ask_share(p, whole, s0, half, apart));
        TAC_TRY(ask_share(p, whole, half, s1, apart));
    }
done:
    return err;
}

/* Queries a piece, and enters what is not proven into the report. */
static enum tac_err query_piece(struct prover *p, const struct part *part, double t0_s, double t1_s, bool *apart)
{
    enum tac_err err = TAC_OK;
    struct tac_ccd_result result;
    TAC_TRY(query(p, part, MOST_BOXES, &result));
    *apart = result.answer != TAC_CCD_HIT;
    if (result.answer == TAC_CCD_OPEN) {
        TAC_TRY(ask_share(p, part, 0, .5, apart));
        TAC_TRY(ask_share(p, part, .5, 1, apart));
    }
    if (!*apart)
        found(p, part, &result, t0_s, t1_s);
done:
    return err;
}

/* No bound is sharp enough for it. */
static enum tac_err judge_piece(struct prover *p, const struct part *part, double gap, double t0_s, double t1_s)
{
    enum tac_err err = TAC_OK;
    int calls = 4096;
    bool apart = true;
    if (!(gap > 0) && !p->search->query_all)
        err = query_piece(p, part, t0_s, t1_s, &apart);
    if (!err && apart)
        refine(p, part, t0_s, t1_s, fmax(gap, 0), &calls);
    return err;
}

/* ---- a cell's breakpoints ---- */

/* Between breakpoints i and j of the walk. */
static void part_of_walk(const struct prover *p, size_t i, size_t j, struct part *part)
{
    const struct tac_audit_walk *w = p->walk;
    const int first = tac_audit_first(p->pair->kind);
    memcpy(part->x0, w->x[i], sizeof part->x0);
    memcpy(part->x1, w->x[j], sizeof part->x1);
    double most[2] = {0, 0};
    for (size_t k = i + 1; k < j; k++) {
        const double s = (double)(w->t[k] - w->t[i]) / (double)(w->t[j] - w->t[i]);
        for (int v = 0; v < p->pair->n; v++) {
            double d[3], *side = &most[v >= first];
            for (int c = 0; c < 3; c++)
                d[c] = w->x[k][v][c] - (part->x0[v][c] + s * (part->x1[v][c] - part->x0[v][c]));
            *side = fmax(*side, tac_dot(d, d));
        }
    }
    for (int side = 0; side < 2; side++)
        part->stray[side] = sqrt(most[side]) * (1 + 0x1p-40) + .5 * p->pair->round;
}

static enum tac_err prove_walk(struct prover *p, size_t i, size_t j, const double *hint)
{
    enum tac_err err = TAC_OK;
    struct part part;
    double n[3], middle[4][3];
    const double quantum_s = p->search->quantum_s;
    part_of_walk(p, i, j, &part);
    if (hint != NULL && settles(p, kept(p, &part, hint)))
        return TAC_OK;
    const size_t half = i + (j - i) / 2;
    if (j == i + 1)
        halfway(p, &part, middle);
    else
        memcpy(middle, p->walk->x[half], sizeof middle);
    const double t0_s = quantum_s * (double)p->walk->t[i], t1_s = quantum_s * (double)p->walk->t[j];
    note(p, tac_audit_near(p->pair->kind, middle, n),
         j == i + 1 ? .5 * t0_s + .5 * t1_s : quantum_s * (double)p->walk->t[half]);
    const double gap = kept(p, &part, n);
    if (settles(p, gap))
        return TAC_OK;
    if (j == i + 1)
        return judge_piece(p, &part, gap, t0_s, t1_s);
    TAC_TRY(prove_walk(p, i, half, n));
    TAC_TRY(prove_walk(p, half, j, n));
done:
    return err;
}

/* Returns the first row of a vertex that is later than t, at `row` or after it. */
static int64_t later_row(const struct tac_audit_portion *from, tac_lid vertex, int64_t row, tac_time t)
{
    int64_t low = row, high = from->begin[vertex + 1] - 1; /* the last one is late enough */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (from->time[middle] > t)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* All breakpoints of the pair's vertices within a cell, and its ends. */
static enum tac_err gather_walk(struct prover *p, const struct part *cell, const tac_time t[2])
{
    enum tac_err err = TAC_OK;
    const struct tac_audit_portion *from = p->search->portion;
    struct tac_audit_walk *w = p->walk;
    int64_t next[4];
    for (int i = 0; i < p->pair->n; i++)
        next[i] = later_row(from, p->pair->v[i], p->search->slab->first[p->pair->v[i]], t[0]);
    w->count = 0;
    for (tac_time now = t[0];;) {
        TAC_TRY(tac_grow(p->search->ctx, &w->t, &w->capacity[0], w->count + 1, sizeof *w->t));
        TAC_TRY(tac_grow(p->search->ctx, &w->x, &w->capacity[1], w->count + 1, sizeof *w->x));
        w->t[w->count] = now;
        for (int i = 0; i < p->pair->n; i++) {
            while (from->time[next[i]] <= now && now < t[1])
                next[i]++;
            if (now == t[0])
                memcpy(w->x[w->count][i], cell->x0[i], sizeof cell->x0[i]);
            else if (now == t[1])
                memcpy(w->x[w->count][i], cell->x1[i], sizeof cell->x1[i]);
            else
                tac_audit_at(from, next[i] - 1, now, w->x[w->count][i]);
        }
        w->count++;
        if (now == t[1])
            break;
        tac_time then = t[1];
        for (int i = 0; i < p->pair->n; i++)
            then = from->time[next[i]] < then ? from->time[next[i]] : then;
        now = then;
    }
done:
    return err;
}

/* ---- the slab's grid ---- */

static enum tac_err prove_node(struct prover *p, int level, int64_t index, const double *hint)
{
    enum tac_err err = TAC_OK;
    const struct tac_audit_slab *slab = p->search->slab;
    const int64_t cells = (int64_t)1 << slab->depth, width = cells >> level, from = index * width;
    const int first = tac_audit_first(p->pair->kind);
    const bool leaf = level == slab->depth;
    struct part part = {.stray = {0, 0}};
    double n[3], middle[4][3];
    for (int i = 0; i < p->pair->n; i++) {
        const size_t v = (size_t)p->pair->v[i];
        const double *grid = slab->grid + 3 * ((size_t)(cells + 1) * v + (size_t)from);
        const double stray = slab->stray[2 * (size_t)cells * v + ((size_t)1 << level) + (size_t)index];
        memcpy(part.x0[i], grid, sizeof part.x0[i]);
        memcpy(part.x1[i], grid + 3 * width, sizeof part.x1[i]);
        if (!leaf)
            memcpy(middle[i], grid + 3 * (width / 2), sizeof middle[i]);
        part.stray[i >= first] = fmax(part.stray[i >= first], stray);
    }
    if (hint != NULL && settles(p, kept(p, &part, hint)))
        return TAC_OK;
    if (leaf)
        halfway(p, &part, middle);
    const double d = tac_audit_near(p->pair->kind, middle, n);
    if (!leaf)
        note(p, d, p->search->quantum_s * (double)tac_audit_cut(slab->t, from + width / 2, cells));
    if (settles(p, kept(p, &part, n)))
        return TAC_OK;
    if (leaf) {
        const tac_time t[2] = {tac_audit_cut(slab->t, from, cells), tac_audit_cut(slab->t, from + 1, cells)};
        TAC_TRY(gather_walk(p, &part, t));
        TAC_TRY(prove_walk(p, 0, p->walk->count - 1, n));
        goto done;
    }
    TAC_TRY(prove_node(p, level + 1, 2 * index, n));
    TAC_TRY(prove_node(p, level + 1, 2 * index + 1, n));
done:
    return err;
}

/* Queries every piece, for any result of the bounds; pieces that the end of a cell divides are queried twice. */
static enum tac_err ask_all(struct prover *p)
{
    enum tac_err err = TAC_OK;
    const struct tac_audit_slab *slab = p->search->slab;
    const int64_t cells = (int64_t)1 << slab->depth;
    for (int64_t c = 0; c < cells; c++) {
        const tac_time t[2] = {tac_audit_cut(slab->t, c, cells), tac_audit_cut(slab->t, c + 1, cells)};
        struct part part = {.stray = {0, 0}};
        bool apart;
        for (int i = 0; i < p->pair->n; i++) {
            const double *grid = slab->grid + 3 * ((size_t)(cells + 1) * (size_t)p->pair->v[i] + (size_t)c);
            memcpy(part.x0[i], grid, sizeof part.x0[i]);
            memcpy(part.x1[i], grid + 3, sizeof part.x1[i]);
        }
        TAC_TRY(gather_walk(p, &part, t));
        for (size_t i = 0; i + 1 < p->walk->count; i++) {
            part_of_walk(p, i, i + 1, &part);
            TAC_TRY(query_piece(p, &part, p->search->quantum_s * (double)p->walk->t[i],
                                p->search->quantum_s * (double)p->walk->t[i + 1], &apart));
        }
    }
done:
    return err;
}

/* Pieces of the slab in which all vertices of the pair move straight: one more than the times within at which one of
 * them has a breakpoint. */
static int64_t count_pieces(const struct tac_audit_search *s, const struct tac_audit_pair *pair)
{
    const struct tac_audit_portion *from = s->portion;
    const tac_time *next[4];
    int64_t pieces = 1;
    for (int i = 0; i < pair->n; i++) {
        next[i] = from->time + s->slab->first[pair->v[i]];
        next[i] += *next[i] <= s->slab->t[0];
    }
    for (;; pieces++) {
        tac_time now = s->slab->t[1];
        for (int i = 0; i < pair->n; i++)
            now = *next[i] < now ? *next[i] : now;
        if (now >= s->slab->t[1])
            return pieces;
        for (int i = 0; i < pair->n; i++)
            next[i] += *next[i] == now;
    }
}

enum tac_err tac_audit_prove(struct tac_audit_search *search, const struct tac_audit_pair *pair)
{
    struct prover p = {search, pair, &search->walk};
    search->report->pairs++;
    search->report->pieces += count_pieces(search, pair);
    const enum tac_err err = prove_node(&p, 0, 0, NULL);
    return !err && search->query_all ? ask_all(&p) : err;
}
