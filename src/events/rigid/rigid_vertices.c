/* rigid_vertices.c: writes the positions and velocities of the vertices of rigid bodies, and bounds their paths. */
#include "events/rigid/rigid_vertices.h"
#include "base/compare.h"
#include "events/forces/vertex_position.h"
#include <stdlib.h>
#include <string.h>

/* What the rounding of c + A X may add to a distance, as a part of the sizes of its terms. */
static const double ROUNDING = 0x1p-50;

/* ---- which vertices are written at each event ---- */

static enum tac_err list_always(struct tac_sim *sim, tac_lid i)
{
    struct tac_rigid *r = &sim->rigid;
    if (i < 0 || i >= sim->state.owned || r->of[i] < 0)
        return TAC_OK;
    const enum tac_err err =
        tac_grow(sim->ctx, &r->always, &r->always_capacity, r->always_count + 1, sizeof *r->always);
    if (!err)
        r->always[r->always_count++] = i;
    return err;
}

enum tac_err tac_rigid_vertices_create(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_rigid *r = &sim->rigid;
    if (r->count == 0)
        return TAC_OK;
    for (size_t c = 0; c < sim->elastic->class_count; c++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[c];
        for (size_t e = 0; e < rate->load_count; e++)
            for (int i = 0; i < rate->load[e].count; i++)
                TAC_TRY(list_always(sim, rate->load[e].v[i]));
    }
    for (size_t n = 0; n < sim->motors.count; n++)
        for (int i = 0; i < TAC_MOTOR_POINTS; i++)
            TAC_TRY(list_always(sim, sim->motors.motor[n].point[i]));
    if (r->always_count > 1)
        qsort(r->always, r->always_count, sizeof *r->always, tac_compare_int32);
done:
    return err;
}

static void list_vertex(struct tac_rigid *r, tac_lid i)
{
    if (r->is_listed[i])
        return;
    r->is_listed[i] = 1;
    r->list[r->list_count++] = i;
}

/* Both lists are ascending, and so is what they are merged to: the vertices of a body stand together. */
void tac_rigid_vertices_begin(struct tac_sim *sim)
{
    struct tac_rigid *r = &sim->rigid;
    size_t near = 0, always = 0, at = 0;
    for (size_t n = 0; n < r->list_count; n++)
        r->is_listed[r->list[n]] = 0;
    r->list_count = 0;
    memset(r->apart, 0, r->count * sizeof *r->apart);
    r->all = sim->record != NULL;
    if (r->all)
        return;
    const size_t near_count = sim->contact ? sim->paths.near_count : 0;
    while (near < near_count || always < r->always_count) {
        const tac_lid i = near < near_count ? sim->paths.near_list[near] : sim->state.owned;
        if (always < r->always_count && r->always[always] <= i) {
            list_vertex(r, r->always[always++]);
        } else {
            if (r->of[i] >= 0)
                list_vertex(r, i);
            near++;
        }
    }
    for (size_t k = 0; k < r->count; k++) {
        r->list_begin[k] = at;
        while (at < r->list_count && r->of[r->list[at]] == (int32_t)k)
            at++;
    }
    r->list_begin[r->count] = at;
    TAC_ASSERT(at == r->list_count);
}

/* ---- paths ---- */

void tac_rigid_vertices_measure(struct tac_sim *sim, int32_t k)
{
    const struct tac_rigid_motion *m = &sim->rigid.motion[k], *from = &sim->rigid.start[k];
    struct tac_rigid_apart *apart = &sim->rigid.apart[k];
    const double s = tac_state_seconds(&sim->state, m->t - from->t);
    double off[3];
    for (int c = 0; c < 3; c++)
        off[c] = m->c[c] - (from->c[c] + s * from->u[c]);
    apart->center2 = fmax(apart->center2, tac_dot(off, off));
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++)
            off[c] = m->a[a][c] - (from->a[a][c] + s * from->b[a][c]);
        apart->axis2[a] = fmax(apart->axis2[a], tac_dot(off, off));
    }
}

static inline void find_state(const struct tac_rigid_motion *m, const double *y, double x[3], double v[3])
{
    for (int c = 0; c < 3; c++) {
        x[c] = m->c[c] + (y[0] * m->a[0][c] + y[1] * m->a[1][c] + y[2] * m->a[2][c]);
        v[c] = m->u[c] + (y[0] * m->b[0][c] + y[1] * m->b[1][c] + y[2] * m->b[2][c]);
    }
}

static void move_vertex(struct tac_sim *sim, const struct tac_rigid_motion *m, tac_lid i, tac_time t)
{
    double x[3], v[3];
    find_state(m, &sim->rigid.local[3 * (size_t)i], x, v);
    memcpy(sim->state.pos[i].x, x, sizeof x);
    sim->state.pos[i].t = t;
    if (sim->record)
        tac_recorder_keep(sim->record, i, t, x);
    if (sim->contact)
        tac_path_keep(sim, i, t);
    memcpy(sim->state.vel[i].v, v, sizeof v);
}

void tac_rigid_vertices_follow(struct tac_sim *sim, int32_t k, tac_time t)
{
    const struct tac_rigid *r = &sim->rigid;
    const struct tac_rigid_motion *m = &r->motion[k];
    if (r->all) {
        for (tac_lid i = r->piece[k].first; i < r->piece[k].end; i++)
            move_vertex(sim, m, i, t);
        return;
    }
    for (size_t n = r->list_begin[k]; n < r->list_begin[k + 1]; n++)
        move_vertex(sim, m, r->list[n], t);
}

void tac_rigid_vertices_start(struct tac_sim *sim, int32_t k)
{
    const struct tac_rigid *r = &sim->rigid;
    double x[3];
    for (tac_lid i = r->piece[k].first; i < r->piece[k].end; i++)
        find_state(&r->motion[k], &r->local[3 * (size_t)i], x, sim->state.vel[i].v);
}

/* The vertices of body k that were not listed. The motions of the centre and of the axes bound their paths. */
static void settle_body(struct tac_sim *sim, int32_t k)
{
    const struct tac_rigid *r = &sim->rigid;
    const struct tac_rigid_motion *m = &r->motion[k];
    const double center = sqrt(r->apart[k].center2), far = sqrt(tac_dot(m->c, m->c));
    double axis[3];
    for (int a = 0; a < 3; a++)
        axis[a] = sqrt(r->apart[k].axis2[a]) + ROUNDING;
    for (tac_lid i = r->piece[k].first; i < r->piece[k].end; i++) {
        const double *y = &r->local[3 * (size_t)i];
        if (r->is_listed[i])
            continue;
        find_state(m, y, sim->state.pos[i].x, sim->state.vel[i].v);
        sim->state.pos[i].t = m->t;
        if (!sim->contact)
            continue;
        const double most =
            center + ROUNDING * far + fabs(y[0]) * axis[0] + fabs(y[1]) * axis[1] + fabs(y[2]) * axis[2];
        sim->paths.line[i].deviation2 = most * most;
    }
}

void tac_rigid_vertices_settle(struct tac_sim *sim)
{
    const struct tac_rigid *r = &sim->rigid;
    for (size_t k = 0; k < r->count && !r->all; k++)
        if (r->motion[k].t != r->start[k].t)
            settle_body(sim, (int32_t)k);
}
