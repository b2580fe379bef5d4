/* flight.c: proves that nothing touches in a flight, and finds the rows for which this fails
 * (docs/reference/impact.md, Flight).
 *
 * A pair must keep a floor: an eighth of its thickness. Where the nearest point lies on the rim of a triangle or an end
 * of a segment, half of that is enough, and such a pair is no row only because it is near: on a surface that goes on
 * beyond the rim, the neighbour holds the body, and a row of this pair would push it sideways.
 */
#include "base/exchange.h"
#include "contact/advance.h"
#include "impact/impact.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FLOOR = 1. / 8, FLOOR_OF_RIM = 1. / 16; /* of the thickness */
static const double PARALLEL = 1e-3; /* the squared sine of an angle under which edges count as parallel */
static const double NEARLY = 1e-9;   /* a smaller weight is as good as none */
static const double STRAIGHT = 1e-8; /* the squared sine of an angle: so straight above a rim is as good as inside */
static const double SLACK = 0x1p-20; /* of the floor: so much a row may lose without a correction */
static const double MORE = 1.05;     /* times what is missing is corrected */
enum { PATIENT = 3 };                /* after so many corrections each one is twice as large as the one before */

static bool is_on_rim(const struct tac_impact_pair *p, const struct tac_near *near)
{
    if (p->type == TAC_PAIR_VERTEX_VERTEX)
        return false;
    for (int i = 0; i < tac_pair_vertices(p->type); i++)
        if (near->w[i] == 0)
            return true;
    return false;
}

static bool is_nearly_on_rim(const double w[4], int n)
{
    bool nearly = false;
    for (int i = 0; i < n && n > 2; i++)
        nearly = nearly || fabs(w[i]) < NEARLY;
    return nearly;
}

/* Are the edges so nearly parallel that a pair of a vertex says more? */
static bool are_parallel(const struct tac_impact_pair *p, const double x[4][3])
{
    double one[3], two[3], across[3];
    if (p->type != TAC_PAIR_EDGE_EDGE)
        return false;
    tac_sub(one, x[1], x[0]);
    tac_sub(two, x[3], x[2]);
    tac_cross(across, one, two);
    return tac_dot(across, across) < PARALLEL * tac_dot(one, one) * tac_dot(two, two);
}

/* Is the nearest point on a rim, but straight above it? Boxes that lie on each other edge to edge are so. */
static bool is_straight(const struct tac_impact *sim, const struct tac_impact_pair *p, const double x[4][3],
                        const struct tac_near *near)
{
    double one[3], two[3], plane[3];
    const bool edges = p->type == TAC_PAIR_EDGE_EDGE;
    if (tac_pair_vertices(p->type) < 4 ||
        !(tac_impact_is_rigid(sim, p->v[0]) || tac_impact_is_rigid(sim, p->v[tac_pair_first(p->type)])))
        return false;
    tac_sub(one, x[edges ? 1 : 2], x[edges ? 0 : 1]);
    tac_sub(two, x[3], x[edges ? 2 : 1]);
    tac_cross(plane, one, two);
    tac_cross(one, plane, near->n);
    return tac_dot(one, one) <= STRAIGHT * tac_dot(plane, plane);
}

/* Do two particles keep this distance in a flight, by far more than rounding errors? Most do, and this is much faster
 * than tac_advance_safely(), which decides in all other cases. */
static bool keep_apart(const double x[4][3], const double p[4][3], double distance)
{
    double r[3], q[3], size = 0;
    for (int c = 0; c < 3; c++) {
        r[c] = x[0][c] - x[1][c];
        q[c] = p[0][c] - p[1][c];
        size += fabs(x[0][c]) + fabs(x[1][c]) + fabs(p[0][c]) + fabs(p[1][c]);
    }
    const double square = tac_dot(q, q), share = square > 0 ? tac_clamp01(-tac_dot(r, q) / square) : 0;
    for (int c = 0; c < 3; c++)
        r[c] += share * q[c];
    distance += 1e-9 * (distance + size);
    return tac_dot(r, r) > distance * distance;
}

/* The vertices of a pair by their numbers in the scene; -1 where it has fewer than four. */
static void find_ids(const struct tac_impact *sim, const struct tac_impact_pair *pair, tac_gid id[4])
{
    for (int i = 0; i < 4; i++)
        id[i] = i < tac_pair_vertices(pair->type) ? tac_scene_id(sim->scene, pair->v[i]) : -1;
}

/* Motions move both primitives, or one of them is fixed. */
static void look_at_scripted(struct tac_impact *sim, const struct tac_impact_pair *pair, const double x[4][3],
                             double gap)
{
    struct tac_impact_blocked *b = &sim->part.blocked;
    double p[4][3];
    const int n = tac_pair_vertices(pair->type);
    tac_impact_gather(sim->p, pair->v, n, p);
    if (tac_advance_safely(pair->type, x, p, pair->radius, FLOOR, pair->thickness, 1) == 1)
        return;
    sim->part.fails = true;
    if (gap > b->gap || (gap == b->gap && pair->key > b->key))
        return;
    b->key = pair->key;
    b->gap = gap;
    find_ids(sim, pair, b->vertex);
}

static bool has_body(const struct tac_impact *sim, const struct tac_impact_pair *pair)
{
    return tac_impact_is_body(sim, pair->v[0]) || tac_impact_is_body(sim, pair->v[tac_pair_first(pair->type)]);
}

/* What becomes rows besides pairs of a vertex over the inside of a triangle. */
enum looks {
    LOOK_FIRST,  /* nothing */
    LOOK_EDGES,  /* two edges, if no face says more */
    LOOK_OBLIQUE /* what is of no piece that has a new row */
};

/* What is looked at, and what a look has found. */
struct looked {
    bool near_too; /* pairs that are near become rows, too */
    enum looks which;
    const struct tac_impact_faces *faces; /* LOOK_EDGES */
    bool later;                           /* the pair is not safe, but it waits */
};

/* The two primitives' bodies of a row with a face's normal. */
struct tac_impact_faces {
    size_t count;
    struct face {
        int64_t side[2];
        const double *n;
    } * face; /* owned */
};

static int64_t side_of(const struct tac_impact *sim, tac_gid id)
{
    const tac_lid body = tac_scene_body_of(sim->scene, id);
    return ((int64_t)body << 32) + 1 + tac_rigid_of(sim->scene->settings, body, id);
}

/* Local. Lists the rows of a vertex over the inside of a triangle. */
static enum tac_err list_faces(struct tac_impact *sim, struct tac_impact_faces *f)
{
    enum tac_err err;
    const struct tac_impact_active *a = &sim->active;
    TAC_TRY(tac_alloc_brief(sim->ctx, a->rows, sizeof *f->face, &f->face));
    for (size_t k = 0; k < a->rows; k++) {
        const struct tac_impact_row *row = &a->row[k];
        if (row->type != TAC_PAIR_VERTEX_TRIANGLE || is_nearly_on_rim(row->w, 4))
            continue;
        f->face[f->count++] = (struct face){{side_of(sim, row->vertex[0]), side_of(sim, row->vertex[1])}, row->n};
    }
done:
    return err;
}

/* Has a face of the same two bodies a row, and none such the normal of this pair? */
static bool faces_say_more(const struct tac_impact *sim, const struct tac_impact_faces *f,
                           const struct tac_impact_pair *pair, const double n[3])
{
    const int64_t one = side_of(sim, tac_scene_id(sim->scene, pair->v[0]));
    const int64_t two = side_of(sim, tac_scene_id(sim->scene, pair->v[tac_pair_first(pair->type)]));
    bool any = false;
    for (size_t k = 0; k < f->count; k++) {
        const struct face *face = &f->face[k];
        if ((face->side[0] != one || face->side[1] != two) && (face->side[0] != two || face->side[1] != one))
            continue;
        double across[3];
        tac_cross(across, n, face->n);
        if (tac_dot(across, across) <= STRAIGHT)
            return false;
        any = true;
    }
    return any;
}

/* Does a pair with a rigid piece that is not safe wait? A flight into a surface passes the rims of its triangles, and
 * edges on it, too; their normals are oblique, and would push a body sideways. So such pairs wait while their bodies
 * get other rows, and then they are mostly safe. */
static bool waits(const struct tac_impact *sim, const struct tac_impact_pair *pair, const struct looked *how,
                  const struct tac_near *near, bool direct)
{
    bool piece = false, touched = false;
    for (int i = 0; i <= tac_pair_first(pair->type); i += tac_pair_first(pair->type))
        if (tac_impact_is_rigid(sim, pair->v[i])) {
            piece = true;
            touched = touched || sim->rigid.piece[sim->rigid.of[pair->v[i]]].touched;
        }
    if (!piece || how->which == LOOK_OBLIQUE)
        return touched && piece;
    if (!direct || pair->type != TAC_PAIR_EDGE_EDGE)
        return !direct;
    return how->which == LOOK_FIRST || faces_say_more(sim, how->faces, pair, near->n);
}

static enum tac_err say_overlap(struct tac_impact *sim, const struct tac_impact_pair *pair, double gap)
{
    char named[256];
    tac_gid id[4];
    find_ids(sim, pair, id);
    tac_key_describe(sim->scene, pair->key, id, named, sizeof named);
    return tac_fail(sim->ctx, TAC_ERR_RUN,
                    "%s have a gap of %.3g m at t = %.9g s: this is a fault of the program; report it with the scene",
                    named, gap, (double)sim->now * sim->scene->settings->quantum_s);
}

/* Adds the row of a pair unless its flight is safe, or it waits. */
static enum tac_err look(struct tac_impact *sim, struct tac_impact_pair *pair, struct looked *how)
{
    double x[4][3], p[4][3];
    struct tac_near near;
    const int n = tac_pair_vertices(pair->type);
    tac_impact_gather(sim->x, pair->v, n, x);
    tac_near_pair(pair->type, x, &near);
    pair->room = tac_impact_room(sim, pair, near.d);
    const double gap = near.d - pair->radius, most = pair->thickness;
    const bool rim = is_on_rim(pair, &near), parallel = are_parallel(pair, (const double(*)[3])x);
    const bool straight = !rim || is_straight(sim, pair, (const double(*)[3])x, &near);
    how->later = false;
    if (!has_body(sim, pair)) {
        look_at_scripted(sim, pair, x, gap);
        return TAC_OK;
    }
    if (!(gap > 0)) /* no pair that is proven comes to this */
        return say_overlap(sim, pair, gap);
    const double floor = (rim ? FLOOR_OF_RIM : FLOOR) * most;
    if (how->near_too && straight && gap <= most && !parallel)
        return tac_impact_active_add(sim, pair, &near);
    if (!(gap > floor))
        return tac_impact_active_add(sim, pair, &near);
    tac_impact_gather(sim->p, pair->v, n, p);
    if (pair->type == TAC_PAIR_VERTEX_VERTEX && keep_apart(x, p, pair->radius + floor))
        return TAC_OK;
    if (tac_advance_safely(pair->type, x, p, pair->radius, floor / fmin(gap, most), most, 1) == 1)
        return TAC_OK;
    const bool direct = !is_nearly_on_rim(near.w, n) || is_straight(sim, pair, (const double(*)[3])x, &near);
    how->later = waits(sim, pair, how, &near, direct && !parallel);
    return how->later ? TAC_OK : tac_impact_active_add(sim, pair, &near);
}

bool tac_impact_is_unchanged(const struct tac_impact *sim, const struct tac_impact_pair *pair)
{
    int changed = 0;
    for (int i = 0; i < tac_pair_vertices(pair->type); i++)
        changed |= sim->changed[pair->v[i]];
    return changed == 0;
}

/* Looks at those pairs of a block that have not been proven for the present flights, and may come near in them. */
static enum tac_err look_at_block(struct tac_impact *sim, struct tac_impact_block *block, struct looked *how,
                                  int64_t *later)
{
    enum tac_err err = TAC_OK;
    const double travel = tac_impact_blocks_travel(sim, block);
    if (block->room > travel && !block->waits)
        return TAC_OK;
    block->waits = false;
    block->room = INFINITY;
    for (size_t k = block->begin; k < block->end && !err; k++) {
        struct tac_impact_pair *pair = &sim->search.pair[k];
        if (!pair->active && !(pair->safe && tac_impact_is_unchanged(sim, pair))) {
            how->later = false;
            if (!(pair->room > travel))
                err = look(sim, pair, how);
            pair->safe = !pair->active && !how->later;
            *later += how->later;
            block->waits = block->waits || how->later;
        }
        block->room = fmin(block->room, pair->room);
    }
    return err;
}

/* Looks at all pairs that have not been proven for the present flights. Returns in *later how many wait. */
static enum tac_err look_at_all(struct tac_impact *sim, struct looked how, int64_t *later)
{
    enum tac_err err = TAC_OK;
    *later = 0;
    for (size_t k = 0; k < sim->search.block_count && !err; k++) {
        struct tac_impact_block *block = &sim->search.block[k];
        if (block->waits || sim->search.group[block->group[0]].changed || sim->search.group[block->group[1]].changed)
            err = look_at_block(sim, block, &how, later);
    }
    for (size_t g = 0; g < tac_impact_groups(sim); g++)
        sim->search.group[g].changed = false;
    if (sim->count > 0) {
        memcpy(sim->proven, sim->p, 3 * (size_t)sim->count * sizeof *sim->p);
        memset(sim->changed, 0, (size_t)sim->count);
    }
    return err;
}

/* Collective. Of the pairs that wait, edges become rows if no face says more, and then all of bodies without new rows.
 * Adds to *fresh how many. */
static enum tac_err look_at_waiting(struct tac_impact *sim, int64_t later, int64_t *fresh)
{
    enum tac_err err;
    struct tac_impact_faces faces = {0, NULL};
    int64_t more;
    TAC_TRY(tac_over_ranks(sim->ctx, &later, 1, MPI_INT64_T, MPI_SUM));
    for (enum looks which = LOOK_EDGES; later > 0 && which <= LOOK_OBLIQUE; which++) {
        if (which == LOOK_EDGES)
            err = list_faces(sim, &faces);
        err = err ? err : look_at_all(sim, (struct looked){.which = which, .faces = &faces}, &later);
        TAC_TRY(tac_agree(sim->ctx, err));
        TAC_TRY(tac_impact_active_meet(sim, &more));
        *fresh += more;
        TAC_TRY(tac_over_ranks(sim->ctx, &later, 1, MPI_INT64_T, MPI_SUM));
    }
done:
    free(faces.face);
    return err;
}

enum tac_err tac_impact_prove(struct tac_impact *sim, bool first, int64_t *fresh)
{
    enum tac_err err = TAC_OK;
    int64_t later;
    TAC_TRY(tac_impact_find(sim));
    const double begin_s = tac_wall_s();
    for (size_t k = 0; k < sim->rigid.count; k++)
        sim->rigid.piece[k].touched = false;
    err = look_at_all(sim, (struct looked){.near_too = first}, &later);
    sim->last_step.part_s[0] += tac_wall_s() - begin_s;
    TAC_TRY(tac_agree(sim->ctx, err));
    int fails = sim->part.fails;
    TAC_TRY(tac_over_ranks(sim->ctx, &fails, 1, MPI_INT, MPI_MAX));
    sim->part.fails = fails;
    TAC_TRY(tac_impact_active_meet(sim, fresh));
    if (sim->rigid.count > 0)
        TAC_TRY(look_at_waiting(sim, later, fresh));
done:
    return err;
}

/* ---- rows at the end of a flight ---- */

/* A row that must keep away faster by so much, m/s over s. */
struct correction {
    uint64_t key;
    double more;
};

/* Do the primitives of the pair turn or change their shapes in the flight, or is one of a rigid piece? The chord of a
 * vertex of a piece that turns is not along the velocity by which its row is solved. */
static bool turns(const struct tac_impact *sim, const struct tac_impact_pair *pair, const double p[4][3])
{
    const int first = tac_pair_first(pair->type);
    if (tac_impact_is_rigid(sim, pair->v[0]) || tac_impact_is_rigid(sim, pair->v[first]))
        return true;
    for (int i = 0; i < tac_pair_vertices(pair->type); i++)
        for (int c = 0; c < 3; c++)
            if (p[i][c] != p[i < first ? 0 : first][c])
                return true;
    return false;
}

/* Looks at a row: sets what is missing at its end, m; of one that may touch before the end, as much as it must keep. A
 * row whose primitives do not turn comes no nearer, because they are convex and it does not approach. That the end is
 * far enough away says nothing else: it may be on the other side. */
static void measure(struct tac_impact *sim, const struct tac_impact_pair *pair, double *missing)
{
    double x[4][3], p[4][3], end[4][3];
    struct tac_near near;
    const int n = tac_pair_vertices(pair->type);
    *missing = 0;
    tac_impact_gather(sim->x, pair->v, n, x);
    tac_impact_gather(sim->p, pair->v, n, p);
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            end[i][c] = x[i][c] + p[i][c];
    tac_near_pair(pair->type, x, &near);
    const double gap = near.d - pair->radius, least = fmin(gap, FLOOR_OF_RIM * pair->thickness);
    tac_near_pair(pair->type, end, &near);
    if (near.d - pair->radius < pair->thickness) /* which pairs farther away are in the list is left to the list */
        sim->part.least_gap = fmin(sim->part.least_gap, near.d - pair->radius);
    if (near.d - pair->radius < least * (1 - SLACK))
        *missing = least - (near.d - pair->radius);
    if (*missing > 0 || !turns(sim, pair, p))
        return;
    if (tac_advance_safely(pair->type, x, p, pair->radius, .5 * least / fmin(gap, pair->thickness), pair->thickness,
                           1) != 1)
        *missing = least;
}

/* A row without an impulse leaves faster than it must: only what it must do beyond that changes anything. */
static double slack_of(const struct tac_impact *sim, const struct tac_impact_row *row)
{
    return row->lambda > 0 ? 0 : fmax(tac_row_speed(row, sim->active.middle) + row->u - row->r, 0);
}

static enum tac_err collect(struct tac_impact *sim, struct correction **out, size_t *count)
{
    enum tac_err err = TAC_OK;
    size_t capacity = 0;
    const int64_t late = sim->part.corrections - PATIENT + 1;
    const double more = late > 0 ? MORE * (double)(INT64_C(1) << late) : MORE;
    sim->part.least_gap = INFINITY;
    for (size_t k = 0; k < sim->search.count; k++) {
        const struct tac_impact_pair *pair = &sim->search.pair[k];
        const struct tac_impact_row *row = pair->active ? tac_impact_active_find(sim, pair->key) : NULL;
        double missing;
        if (row == NULL)
            continue;
        measure(sim, pair, &missing);
        if (!(missing > 0))
            continue;
        TAC_TRY(tac_grow(sim->ctx, out, &capacity, *count + 1, sizeof **out));
        (*out)[(*count)++] =
            (struct correction){pair->key, slack_of(sim, row) + more * missing / (sim->part.h * row->s)};
    }
done:
    return err;
}

enum tac_err tac_impact_correct(struct tac_impact *sim, bool *corrected)
{
    enum tac_err err;
    struct correction *mine = NULL, *all = NULL;
    size_t count = 0, total = 0;
    TAC_TRY(tac_agree(sim->ctx, collect(sim, &mine, &count)));
    TAC_TRY(tac_over_ranks(sim->ctx, &sim->part.least_gap, 1, MPI_DOUBLE, MPI_MIN));
    TAC_TRY(tac_impact_gather_records(sim, mine, count, sizeof *mine, &all, &total));
    for (size_t k = 0; k < total; k++)
        tac_impact_active_find(sim, all[k].key)->r += all[k].more;
    *corrected = total > 0;
    sim->last_step.corrections += (int64_t)total;
done:
    free(mine);
    free(all);
    return err;
}
