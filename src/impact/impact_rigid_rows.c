/* impact_rigid_rows.c: what rows know of rigid pieces, at the start of a part of a step and at its end.
 *
 * Both bodies of a row feel its impulse at one point, in the middle of the gap, so angular momentum is kept. The second
 * half of a step acts where they touch at its end: there the rows with pieces get new normals and arms. */
#include "base/exchange.h"
#include "impact/impact.h"
#include "impact/impact_rigid.h"
#include <stdlib.h>
#include <string.h>

enum { SIX = TAC_IMPACT_SIX };

/* The point in the middle of the gap of a pair with the normal n; distance: of its cores. */
static void find_point(const struct tac_impact *sim, const struct tac_impact_pair *pair, const double x[4][3],
                       const double w[4], const double n[3], double distance, double point[3])
{
    const int first = tac_pair_first(pair->type);
    const struct tac_settings *s = sim->scene->settings;
    const tac_lid *body = sim->scene->mesh->vertex_body;
    const double radius = s->body[body[pair->v[0]]].radius;
    const double back = radius + .5 * (distance - pair->radius);
    for (int c = 0; c < 3; c++) {
        point[c] = first == 1 ? x[0][c] : x[0][c] + w[1] * (x[1][c] - x[0][c]);
        point[c] -= back * n[c];
    }
}

static void find_arm(const struct tac_impact_piece *p, const double center[3], const double a[3][3],
                     const double point[3], double arm[3][3])
{
    double r[3];
    tac_sub(r, point, center);
    for (int k = 0; k < 3; k++) {
        tac_cross(arm[k], a[k], r);
        for (int c = 0; c < 3; c++)
            arm[k][c] /= p->root[1 + k];
    }
}

void tac_impact_rigid_enter(const struct tac_impact *sim, const struct tac_impact_pair *pair, int32_t k, int i,
                            const double x[4][3], const struct tac_near *near, struct tac_impact_found *f)
{
    const struct tac_impact_piece *p = &sim->rigid.piece[k];
    double point[3];
    find_point(sim, pair, x, near->w, near->n, near->d, point);
    find_arm(p, p->c, (const double(*)[3])p->a, point, f->row.arm[i]);
    f->piece[i] = k;
    f->row.id[i] = sim->scene->settings->rigid[k].vertex_begin;
    f->row.id[2 + i] = f->row.id[i] + 1; /* a piece has more than one vertex */
    f->row.inverse[i] = 1 / p->root[0];
    memcpy(f->v[i], &sim->rigid.v[SIX * (size_t)k], sizeof f->v[i]);
    memcpy(f->v[2 + i], &sim->rigid.v[SIX * (size_t)k + 3], sizeof f->v[i]);
    memcpy(f->a[i], &sim->rigid.a[SIX * (size_t)k], sizeof f->a[i]);
    memcpy(f->a[2 + i], &sim->rigid.a[SIX * (size_t)k + 3], sizeof f->a[i]);
}

/* ---- the end of a part ---- */

/* The turn of a piece at the end of its flight, about the axes of there. */
struct turned {
    tac_gid id; /* of the turn */
    double middle[3], a[3];
};

/* A row at the end of a flight. */
struct arrived {
    uint64_t key;
    double n[3], w[4], other[3], arm[2][3][3];
};

/* Collective. In the middle and the accelerations of the operators' bodies. */
static enum tac_err turn_bodies(struct tac_impact *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_impact_active *a = &sim->active;
    struct turned *mine = NULL, *all = NULL;
    size_t count = 0, total = 0;
    err = tac_alloc_brief(sim->ctx, a->bodies, sizeof *mine, &mine);
    for (size_t b = 0; b < a->bodies && !err; b++) {
        if (a->piece[b] < 0)
            continue;
        const size_t turn = ++b; /* behind the body */
        const struct tac_impact_piece *p = &sim->rigid.piece[a->piece[turn]];
        double l[3];
        if (p->first == p->end)
            continue;
        struct turned *t = &mine[count++];
        t->id = a->id[turn];
        tac_impact_rigid_momentum(p, (const double(*)[3])p->a, &a->middle[3 * turn], l);
        tac_impact_rigid_turn(p, (const double(*)[3])p->end_a, l, t->middle);
        tac_impact_rigid_turn(p, (const double(*)[3])p->end_a, p->torque, t->a);
    }
    TAC_TRY(tac_agree(sim->ctx, err));
    TAC_TRY(tac_impact_gather_records(sim, mine, count, sizeof *mine, &all, &total));
    for (size_t k = 0; k < total; k++) {
        const size_t turn = (size_t)tac_impact_active_number(a, all[k].id);
        memcpy(&a->middle[3 * turn], all[k].middle, sizeof all[k].middle);
        memcpy(&a->a[3 * turn], all[k].a, sizeof all[k].a);
    }
done:
    free(mine);
    free(all);
    return err;
}

/* Plans the flights of the pieces that other ranks own, as these have done. */
static void follow_others(struct tac_impact *sim)
{
    const struct tac_impact_active *a = &sim->active;
    tac_impact_rigid_tell(sim, a->middle, sim->rigid.space);
    for (size_t b = 0; b < a->bodies; b++) {
        const int32_t k = a->piece[b];
        if (k < 0)
            continue;
        b++;
        if (sim->rigid.piece[k].first < sim->rigid.piece[k].end)
            continue;
        memcpy(&sim->rigid.go[SIX * (size_t)k], &sim->rigid.space[SIX * (size_t)k], SIX * sizeof(double));
        (void)tac_impact_rigid_plan(sim, k);
    }
}

/* The normal of a pair that has left the inside of its primitives in the flight: the plane's. Sets the distance. */
static void find_plane(const struct tac_impact_pair *pair, const double x[4][3], const double was[3], double n[3],
                       double *distance)
{
    double one[3], two[3], apart[3];
    const bool edges = pair->type == TAC_PAIR_EDGE_EDGE;
    tac_sub(one, x[edges ? 1 : 2], x[edges ? 0 : 1]);
    tac_sub(two, x[3], x[edges ? 2 : 1]);
    tac_sub(apart, x[0], x[edges ? 2 : 1]);
    tac_cross(n, one, two);
    const double length = (tac_dot(n, was) < 0 ? -1 : 1) * sqrt(tac_dot(n, n));
    for (int c = 0; c < 3; c++)
        n[c] /= length;
    *distance = tac_dot(n, apart);
}

static bool is_inside(const double w[4], int n)
{
    bool inside = true;
    for (int i = 0; i < n; i++)
        inside = inside && w[i] != 0;
    return inside;
}

static void arrive(const struct tac_impact *sim, const struct tac_impact_pair *pair, const struct tac_impact_row *row,
                   struct arrived *out)
{
    double x[4][3], p[4][3], point[3];
    struct tac_near near;
    const int n = tac_pair_vertices(pair->type), first = tac_pair_first(pair->type);
    tac_impact_gather(sim->x, pair->v, n, x);
    tac_impact_gather(sim->p, pair->v, n, p);
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            x[i][c] += p[i][c];
    tac_near_pair(pair->type, (const double(*)[3])x, &near);
    *out = (struct arrived){.key = pair->key};
    const bool left = n == 4 && is_inside(row->w, n) && !is_inside(near.w, n);
    if (left)
        find_plane(pair, (const double(*)[3])x, row->n, near.n, &near.d);
    memcpy(out->n, near.n, sizeof out->n);
    memcpy(out->w, left ? row->w : near.w, sizeof out->w);
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3 && sim->scripts.on[pair->v[i]]; c++)
            out->other[c] += out->w[i] * (p[i][c] / sim->part.h);
    find_point(sim, pair, (const double(*)[3])x, near.w, near.n, near.d, point);
    for (int i = 0; i < 2; i++) {
        const tac_lid v = pair->v[i == 0 ? 0 : first];
        if (!tac_impact_is_rigid(sim, v))
            continue;
        const struct tac_impact_piece *piece = &sim->rigid.piece[sim->rigid.of[v]];
        find_arm(piece, piece->end_c, (const double(*)[3])piece->end_a, point, out->arm[i]);
    }
}

/* Impulses stay, and directions of friction are turned into the plane of contact. */
static void aim_row(struct tac_impact_row *row, const struct arrived *a)
{
    const double s = row->s;
    memcpy(row->n, a->n, sizeof row->n);
    memcpy(row->w, a->w, sizeof row->w);
    memcpy(row->other, a->other, sizeof row->other);
    memcpy(row->arm, a->arm, sizeof row->arm);
    tac_row_aim(row);
    row->lambda *= row->s / s;
    if (!row->rubs)
        return;
    double *t = row->tangent[0];
    const double along = tac_dot(t, row->n);
    for (int c = 0; c < 3; c++)
        t[c] -= along * row->n[c];
    const double length = sqrt(tac_dot(t, t));
    row->rubs = length > .5;
    for (int c = 0; c < 3; c++)
        t[c] = row->rubs ? t[c] / length : 0;
    tac_cross(row->tangent[1], row->n, t);
    for (int i = 0; i < 2; i++)
        row->slide[i] = row->rubs ? row->slide[i] * (row->s / s) : 0;
}

/* Sets the pair of a row with pieces, if this rank owns its lowest vertex. It need not be in the list any more: a pair
 * that goes apart has no place in a new list. */
static bool find_pair(const struct tac_impact *sim, const struct tac_impact_row *row, struct tac_impact_pair *pair)
{
    tac_lid lowest = -1;
    tac_gid id = INT64_MAX;
    if (row->turn[0] <= 0 && row->turn[1] <= 0)
        return false;
    *pair = (struct tac_impact_pair){
        .key = row->key, .type = row->type, .radius = row->radius, .thickness = row->thickness};
    for (int i = 0; i < tac_pair_vertices(row->type); i++) {
        pair->v[i] = tac_impact_vertex(sim, row->vertex[i]);
        if (row->vertex[i] < id) {
            id = row->vertex[i];
            lowest = pair->v[i];
        }
    }
    return lowest >= 0 && lowest < sim->owned;
}

void tac_impact_rigid_mark(struct tac_impact *sim)
{
    const struct tac_impact_active *a = &sim->active;
    for (size_t k = 0; k < a->rows && sim->rigid.count > 0; k++) {
        struct tac_impact_pair pair;
        if (!find_pair(sim, &a->row[k], &pair))
            continue;
        for (int i = 0; i < tac_pair_vertices(pair.type); i++) {
            TAC_CHECK(pair.v[i] >= 0);
            sim->halo->mark[pair.v[i]] = 1;
        }
    }
}

static enum tac_err turn_rows(struct tac_impact *sim)
{
    enum tac_err err = TAC_OK;
    struct arrived *mine = NULL, *all = NULL;
    size_t count = 0, total = 0, capacity = 0;
    for (size_t k = 0; k < sim->active.rows && !err; k++) {
        struct tac_impact_pair pair;
        if (!find_pair(sim, &sim->active.row[k], &pair))
            continue;
        err = tac_grow(sim->ctx, &mine, &capacity, count + 1, sizeof *mine);
        if (!err)
            arrive(sim, &pair, &sim->active.row[k], &mine[count++]);
    }
    TAC_TRY(tac_agree(sim->ctx, err));
    TAC_TRY(tac_impact_gather_records(sim, mine, count, sizeof *mine, &all, &total));
    for (size_t k = 0; k < total; k++)
        aim_row(tac_impact_active_find(sim, all[k].key), &all[k]);
done:
    free(mine);
    free(all);
    return err;
}

enum tac_err tac_impact_rigid_arrive(struct tac_impact *sim)
{
    enum tac_err err = TAC_OK;
    if (sim->rigid.count == 0)
        return TAC_OK;
    follow_others(sim);
    TAC_TRY(turn_bodies(sim));
    TAC_TRY(turn_rows(sim));
done:
    return err;
}
