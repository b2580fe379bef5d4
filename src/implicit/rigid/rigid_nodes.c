/* rigid_nodes.c: the nodes of rigid bodies: how they are made, where they put vertices, and how ranks exchange them. */
#include "implicit/rigid/rigid_nodes.h"
#include "base/exchange.h"
#include "implicit/parts.h"
#include "partition/halo_bodies.h"
#include <math.h>
#include <stdlib.h>

#define TAC_RIGID_USUAL 3e3 /* m/s: the usual frequency, 1/s, times the largest distance of a node along an axis */

enum { TAG = 49, SIZE = TAC_RIGID_SIZE };

/* Where the nodes are along the principal axes, over their distances: they have no first and no mixed moments. */
static const double SIGN[TAC_RIGID_NODES][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};

/* ---- places ---- */

void tac_rigid_weights(const struct tac_implicit *sim, int32_t k, tac_lid v, double w[TAC_RIGID_NODES])
{
    const struct tac_implicit_piece *p = &sim->rigid.piece[k];
    double arm[3], q[3];
    tac_sub(arm, &sim->scene->mesh->x[3 * (size_t)v], p->center);
    for (int a = 0; a < 3; a++)
        q[a] = tac_dot(p->axis[a], arm);
    for (int i = 0; i < TAC_RIGID_NODES; i++)
        w[i] = .25 * (1 + (SIGN[i][0] * q[0] + SIGN[i][1] * q[1] + SIGN[i][2] * q[2]));
}

/* By differences, so that places far from the origin cost no accuracy. */
void tac_rigid_spread(const struct tac_implicit *sim, const double *node, double *value)
{
    for (tac_lid v = 0; v < sim->count && sim->rigid.count > 0; v++) {
        const int32_t k = tac_implicit_rigid_of(sim, v);
        double w[TAC_RIGID_NODES];
        if (k < 0)
            continue;
        const double *n = &node[SIZE * (size_t)k];
        tac_rigid_weights(sim, k, v, w);
        for (int c = 0; c < 3; c++)
            value[3 * (size_t)v + (size_t)c] =
                n[c] + (w[1] * (n[3 + c] - n[c]) + w[2] * (n[6 + c] - n[c]) + w[3] * (n[9 + c] - n[c]));
    }
}

const double *tac_rigid_nodes_at(const struct tac_implicit *sim, const double *x)
{
    TAC_CHECK(x == sim->x || x == sim->newton.trial);
    return x == sim->x ? sim->rigid.x : sim->rigid.trial;
}

void tac_rigid_swap(struct tac_implicit_rigid *r)
{
    double *x = r->x;
    r->x = r->trial;
    r->trial = x;
}

void tac_rigid_nodes_begin(struct tac_implicit_rigid *r)
{
    if (r->count == 0)
        return;
    memcpy(r->x0, r->x, SIZE * r->count * sizeof *r->x);
    memset(r->p, 0, SIZE * r->count * sizeof *r->p);
    memset(r->straight, 0, SIZE * r->count * sizeof *r->straight);
}

/* ---- ghosts ---- */

/* The nodes of a body. */
struct known {
    double x[SIZE], v[SIZE], x0[SIZE], p[SIZE], trial[SIZE], straight[SIZE];
};

static int32_t body_of(const void *self, tac_lid v)
{
    return tac_implicit_rigid_of(self, v);
}

static void pack(const void *self, int32_t k, void *out)
{
    const struct tac_implicit_rigid *r = &((const struct tac_implicit *)self)->rigid;
    const size_t at = SIZE * (size_t)k;
    struct known known;
    memcpy(known.x, &r->x[at], sizeof known.x);
    memcpy(known.v, &r->v[at], sizeof known.v);
    memcpy(known.x0, &r->x0[at], sizeof known.x0);
    memcpy(known.p, &r->p[at], sizeof known.p);
    memcpy(known.trial, &r->trial[at], sizeof known.trial);
    memcpy(known.straight, &r->straight[at], sizeof known.straight);
    memcpy(out, &known, sizeof known);
}

static void unpack(void *self, int32_t k, int32_t owner, const void *in)
{
    struct tac_implicit_rigid *r = &((struct tac_implicit *)self)->rigid;
    const size_t at = SIZE * (size_t)k;
    struct known known;
    memcpy(&known, in, sizeof known);
    memcpy(&r->x[at], known.x, sizeof known.x);
    memcpy(&r->v[at], known.v, sizeof known.v);
    memcpy(&r->x0[at], known.x0, sizeof known.x0);
    memcpy(&r->p[at], known.p, sizeof known.p);
    memcpy(&r->trial[at], known.trial, sizeof known.trial);
    memcpy(&r->straight[at], known.straight, sizeof known.straight);
    r->piece[k].owner = owner;
}

enum tac_err tac_rigid_refresh(struct tac_implicit *sim)
{
    const struct tac_halo_bodies bodies = {sim, sizeof(struct known), body_of, pack, unpack};
    if (sim->halo == NULL || sim->rigid.count == 0)
        return TAC_OK;
    tac_halo_share_bodies(sim->halo, TAG, &bodies);
    return tac_agree(sim->ctx, sim->halo->down);
}

/* ---- life ---- */

static enum tac_err allocate(struct tac_implicit *sim, struct tac_implicit_rigid *r)
{
    enum tac_err err;
    double **const all[] = {&r->x,     &r->v,        &r->x0,      &r->ahead,   &r->p,      &r->straight,
                            &r->trial, &r->gradient, &r->part[0], &r->part[1], &r->part[2]};
    const enum tac_implicit_scheme scheme = sim->scene->settings->implicit.scheme;
    TAC_TRY(tac_alloc(sim->ctx, r->count, sizeof *r->piece, &r->piece));
    TAC_TRY(tac_alloc(sim->ctx, r->count, sizeof *r->own, &r->own));
    TAC_TRY(tac_alloc(sim->ctx, TAC_RIGID_NODES * r->count, sizeof *r->gross, &r->gross));
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        TAC_TRY(tac_alloc(sim->ctx, SIZE * r->count, sizeof **all[a], all[a]));
    if (scheme == TAC_IMPLICIT_NEWMARK || scheme == TAC_IMPLICIT_BDF2)
        TAC_TRY(tac_alloc(sim->ctx, TAC_PAST_OF_NODES * r->count, sizeof *r->past, &r->past));
done:
    return err;
}

/* A body as the scene starts it. For a small strain e along an axis the energy of its tetrahedron is frequency^2 s
 * e^2/2, with the largest second moment s: the longest axis oscillates with the frequency, shorter ones faster. */
static void start_body(struct tac_implicit *sim, size_t k)
{
    struct tac_implicit_rigid *r = &sim->rigid;
    const struct tac_rigid_body *from = &sim->scene->settings->rigid[k];
    const struct tac_body *body = &sim->scene->settings->body[from->body];
    struct tac_implicit_piece *p = &r->piece[k];
    double *const far = p->far, arm[3];
    p->owner = -1;
    p->mass = p->inertia = .25 * from->mass;
    memcpy(p->center, from->center, sizeof p->center);
    for (int a = 0; a < 3; a++) {
        far[a] = sqrt(from->second[a] / from->mass);
        for (int c = 0; c < 3; c++)
            p->axis[a][c] = from->axis[a][c] / far[a];
    }
    const double most = fmax(far[0], fmax(far[1], far[2]));
    const double frequency = body->rigid_frequency > 0 ? body->rigid_frequency : TAC_RIGID_USUAL / most;
    p->shape.mu = .5 * (frequency * frequency) * (from->mass * (most * most));
    for (int i = 0; i < 3; i++) /* the gradients of the weights of nodes 1, 2, 3 */
        for (int c = 0; c < 3; c++)
            p->shape.b[3 * i + c] = .25 * (SIGN[1 + i][0] * p->axis[0][c] + SIGN[1 + i][1] * p->axis[1][c] +
                                           SIGN[1 + i][2] * p->axis[2][c]);
    for (int i = 0; i < TAC_RIGID_NODES; i++) {
        double *x = &r->x[SIZE * k + 3 * (size_t)i], *v = &r->v[SIZE * k + 3 * (size_t)i], turning[3];
        for (int c = 0; c < 3; c++)
            arm[c] = SIGN[i][0] * far[0] * from->axis[0][c] + SIGN[i][1] * far[1] * from->axis[1][c] +
                     SIGN[i][2] * far[2] * from->axis[2][c];
        tac_cross(turning, body->angular_velocity, arm);
        for (int c = 0; c < 3; c++) {
            x[c] = from->center[c] + arm[c];
            v[c] = sim->is_static ? 0 : from->velocity[c] + turning[c];
        }
    }
}

enum tac_err tac_rigid_nodes_create(struct tac_implicit *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_rigid *r = &sim->rigid;
    const struct tac_scene *scene = sim->scene;
    r->count = (size_t)scene->settings->rigid_count;
    if (r->count == 0)
        return TAC_OK;
    TAC_TRY(allocate(sim, r));
    for (size_t k = 0; k < r->count; k++)
        start_body(sim, k);
    for (tac_lid v = 0, end; v < sim->owned; v = end) {
        const int32_t k = tac_implicit_rigid_of(sim, v);
        for (end = v + 1; end < sim->owned && tac_implicit_rigid_of(sim, end) == k;)
            end++;
        if (k < 0)
            continue;
        const struct tac_rigid_body *body = &scene->settings->rigid[k];
        TAC_CHECK(end - v == body->vertex_end - body->vertex_begin - scene->settings->body[body->body].pins);
        r->piece[k].first = v;
        r->piece[k].end = end;
        r->piece[k].owner = sim->ctx->rank;
        r->own[r->own_count++] = k;
    }
done:
    return err;
}

void tac_rigid_nodes_destroy(struct tac_implicit_rigid *r)
{
    double *const all[] = {r->x,        r->v,       r->x0,      r->ahead,   r->p,    r->trial, r->gradient,
                           r->straight, r->part[0], r->part[1], r->part[2], r->past, r->gross};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        free(all[a]);
    free(r->piece);
    free(r->own);
    tac_rigid_joints_destroy(&r->joints);
}

/* ---- snapshots ---- */

enum tac_err tac_rigid_rows_out(const struct tac_implicit *sim, struct tac_checkpoint *c)
{
    enum tac_err err = TAC_OK;
    const struct tac_implicit_rigid *r = &sim->rigid;
    c->rigid.total = (int64_t)r->count;
    TAC_TRY(tac_alloc(sim->ctx, r->own_count, sizeof *c->rigid.row, &c->rigid.row));
    c->rigid.count = (tac_lid)r->own_count;
    for (size_t n = 0; n < r->own_count; n++) {
        const size_t k = (size_t)r->own[n];
        struct tac_rigid_row *row = &c->rigid.row[n];
        *row = (struct tac_rigid_row){
            .vertex = tac_scene_id(sim->scene, r->piece[k].first), .t = sim->now, .t1 = sim->now + 1};
        memcpy(row->value, &r->x[SIZE * k], SIZE * sizeof *r->x);
        memcpy(row->value + SIZE, &r->v[SIZE * k], SIZE * sizeof *r->v);
        if (r->past != NULL)
            memcpy(row->past, &r->past[TAC_PAST_OF_NODES * k], sizeof row->past);
    }
done:
    return err;
}

enum tac_err tac_rigid_rows_in(struct tac_implicit *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    struct tac_implicit_rigid *r = &sim->rigid;
    struct tac_rigid_row *rows = NULL;
    size_t total = 0;
    enum tac_err err =
        tac_distribute(sim->ctx, TAC_OK, (size_t)c->rigid.count, owner, c->rigid.row, sizeof *rows, &rows, &total);
    bool fits = total == r->own_count;
    for (size_t n = 0; n < total && !err && fits; n++) {
        const tac_gid id = rows[n].vertex;
        const tac_lid v = sim->id != NULL ? tac_id_find(sim->id, sim->owned, id) : id < sim->owned ? (tac_lid)id : -1;
        const int32_t body = v >= 0 ? tac_implicit_rigid_of(sim, v) : -1;
        fits = body >= 0 && r->piece[body].first == v;
        if (!fits)
            break;
        const size_t k = (size_t)body;
        memcpy(&r->x[SIZE * k], rows[n].value, SIZE * sizeof *r->x);
        memcpy(&r->v[SIZE * k], rows[n].value + SIZE, SIZE * sizeof *r->v);
        if (r->past != NULL)
            memcpy(&r->past[TAC_PAST_OF_NODES * k], rows[n].past, sizeof rows[n].past);
    }
    if (!err && !fits)
        err = tac_fail(sim->ctx, TAC_ERR_INPUT,
                       "the checkpoint has other rigid bodies than the scene; go on with the scene that the checkpoint "
                       "is of");
    free(rows);
    return tac_agree(sim->ctx, err);
}
