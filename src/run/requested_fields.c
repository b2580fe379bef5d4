/* requested_fields.c: strains, stresses, angles and pressures of a frame. */
#include "run/requested_fields.h"
#include "base/exchange.h"
#include "elements/element.h"
#include "elements/kernels.h"
#include "elements/solid.h"
#include "partition/part.h"
#include "state/pose.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- positions ---- */

struct known {
    const struct tac_part *part;
    const double *x;
};

static void answer_position(const void *from, tac_gid id, void *record)
{
    const struct known *known = from;
    const tac_lid i = tac_id_find(known->part->vertex_id, known->part->owned, id);
    TAC_CHECK(i >= 0);
    memcpy(record, &known->x[3 * (size_t)i], 3 * sizeof *known->x);
}

enum tac_err tac_fields_positions(struct tac_simulation *sim, const double *owned_x, double **out)
{
    const struct tac_scene *scene = tac_fields_scene(sim);
    const struct tac_part *part = scene->mesh->part;
    const size_t n = (size_t)scene->mesh->vertex_count, owned = (size_t)tac_scene_owned(scene);
    enum tac_err err = tac_alloc(sim->ctx, 3 * n, sizeof **out, out);
    if (!err)
        memcpy(*out, owned_x, 3 * owned * sizeof *owned_x);
    if (part == NULL)
        return err;
    const struct known known = {part, owned_x};
    return tac_ask(sim->ctx, err, n - owned, part->owner + owned, part->vertex_id + owned, answer_position, &known,
                   3 * sizeof *owned_x, err ? NULL : *out + 3 * owned);
}

/* ---- rows ---- */

struct filling {
    struct tac_simulation *sim;
    const struct tac_scene *scene;
    struct tac_fields *fields;
    const double *x;
    const tac_lid *around_at, *around;
    size_t cells;               /* of this rank */
    tac_lid *cell;              /* owned, (triangles): place of a triangle among this rank's cells, or -1 */
    tac_lid *segment;           /* owned, (segments), likewise */
    tac_lid *tetrahedron;       /* owned, (tetrahedra), likewise */
    tac_lid *first_at, *first;  /* owned: local tetrahedra by their first vertex, and where each list begins */
    float *value[TAC_DATASETS]; /* views: NULL: not asked for */
};

/* Local triangles around each vertex, so that an element's triangles are found by its vertices. */
static enum tac_err list_around(struct tac_ctx *ctx, const struct tac_local_mesh *m, struct tac_fields *fields)
{
    enum tac_err err;
    tac_lid *at;
    TAC_TRY(tac_alloc(ctx, (size_t)m->vertex_count + 2, sizeof *fields->around_at, &fields->around_at));
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)m->triangle_count, sizeof *fields->around, &fields->around));
    /* at[i + 1] is where the next one of vertex i goes; in the end it is where those of i + 1 begin. */
    at = fields->around_at;
    for (size_t k = 0; k < 3 * (size_t)m->triangle_count; k++)
        at[m->triangle[k] + 2]++;
    for (tac_lid i = 2; i < m->vertex_count + 2; i++)
        at[i] += at[i - 1];
    for (size_t k = 0; k < 3 * (size_t)m->triangle_count; k++)
        fields->around[at[m->triangle[k] + 1]++] = (tac_lid)(k / 3);
done:
    return err;
}

/* The local triangle with these vertices, or -1. */
static tac_lid find_triangle(const struct filling *f, tac_lid a, tac_lid b, tac_lid c)
{
    for (tac_lid k = f->around_at[a]; k < f->around_at[a + 1]; k++) {
        const tac_lid *v = &f->scene->mesh->triangle[3 * (size_t)f->around[k]];
        const int found = (v[0] == a || v[1] == a || v[2] == a) + (v[0] == b || v[1] == b || v[2] == b) +
                          (v[0] == c || v[1] == c || v[2] == c);
        if (found == 3)
            return f->around[k];
    }
    return -1;
}

/* Local tetrahedra by their first vertex, so that an element's tetrahedron is found by its vertices. */
static enum tac_err list_first(struct filling *f)
{
    const struct tac_local_mesh *m = f->scene->mesh;
    enum tac_err err;
    TAC_TRY(tac_alloc(f->sim->ctx, (size_t)m->vertex_count + 2, sizeof *f->first_at, &f->first_at));
    TAC_TRY(tac_alloc(f->sim->ctx, (size_t)m->tetrahedron_count, sizeof *f->first, &f->first));
    for (size_t k = 0; k < (size_t)m->tetrahedron_count; k++)
        f->first_at[m->tetrahedron[4 * k] + 2]++;
    for (tac_lid i = 2; i < m->vertex_count + 2; i++)
        f->first_at[i] += f->first_at[i - 1];
    for (size_t k = 0; k < (size_t)m->tetrahedron_count; k++)
        f->first[f->first_at[m->tetrahedron[4 * k] + 1]++] = (tac_lid)k;
done:
    return err;
}

/* The local tetrahedron with these vertices in this order, or -1. */
static tac_lid find_tetrahedron(const struct filling *f, const tac_lid v[4])
{
    for (tac_lid k = f->first_at[v[0]]; k < f->first_at[v[0] + 1]; k++)
        if (memcmp(&f->scene->mesh->tetrahedron[4 * (size_t)f->first[k]], v, 4 * sizeof *v) == 0)
            return f->first[k];
    return -1;
}

/* The rows of cells that this rank tells: triangles, segments, vertices of bodies that have neither, and
 * tetrahedra. */
static enum tac_err list_cells(struct filling *f)
{
    const struct tac_scene *s = f->scene;
    const struct tac_local_mesh *m = s->mesh, *whole = f->sim->whole->mesh;
    const tac_lid owned = tac_scene_owned(s);
    const size_t most =
        (size_t)m->triangle_count + (size_t)m->segment_count + (size_t)owned + (size_t)m->tetrahedron_count;
    const tac_gid segments = whole->triangle_count, points = segments + whole->segment_count;
    enum tac_err err;
    tac_gid before = 0;
    TAC_TRY(tac_alloc(f->sim->ctx, most, sizeof *f->fields->cell_row, &f->fields->cell_row));
    TAC_TRY(tac_alloc(f->sim->ctx, (size_t)m->triangle_count, sizeof *f->cell, &f->cell));
    TAC_TRY(tac_alloc(f->sim->ctx, (size_t)m->segment_count, sizeof *f->segment, &f->segment));
    TAC_TRY(tac_alloc(f->sim->ctx, (size_t)m->tetrahedron_count, sizeof *f->tetrahedron, &f->tetrahedron));
    for (tac_lid t = 0; t < m->triangle_count; t++) {
        f->cell[t] = -1;
        if (!tac_stencil_mine(s, &m->triangle[3 * (size_t)t], 3))
            continue;
        f->cell[t] = (tac_lid)f->cells;
        f->fields->cell_row[f->cells++] = m->part ? m->part->triangle_id[t] : t;
    }
    for (tac_lid t = 0; t < m->segment_count; t++) {
        f->segment[t] = -1;
        if (!tac_stencil_mine(s, &m->segment[2 * (size_t)t], 2))
            continue;
        f->segment[t] = (tac_lid)f->cells;
        f->fields->cell_row[f->cells++] = segments + (m->part ? m->part->segment_id[t] : t);
    }
    tac_lid i = 0;
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        const struct tac_body *body = &s->settings->body[b];
        while (i < owned && tac_scene_id(s, i) < body->vertex_begin)
            i++;
        for (; i < owned && !body->has_elements && tac_scene_id(s, i) < body->vertex_end; i++)
            f->fields->cell_row[f->cells++] = points + before + tac_scene_id(s, i) - body->vertex_begin;
        if (!body->has_elements)
            before += body->vertex_end - body->vertex_begin;
    }
    for (tac_lid t = 0; t < m->tetrahedron_count; t++) {
        f->tetrahedron[t] = -1;
        if (!tac_stencil_mine(s, &m->tetrahedron[4 * (size_t)t], 4))
            continue;
        f->tetrahedron[t] = (tac_lid)f->cells;
        f->fields->cell_row[f->cells++] = points + before + (m->part ? m->part->tetrahedron_id[t] : t);
    }
done:
    return err;
}

/* ---- strains and angles: from the mesh and the positions ---- */

/* Of a triangle: C = F^T F in the frame of its first edge, and the principal stretches. */
struct stretch {
    double c[3], most, least;
};

static struct stretch stretch_of(const struct filling *f, const tac_lid v[3])
{
    double e1[3], e2[3], n[3], x[3][3], f0[3], f1[3], strain[3];
    struct stretch s;
    tac_sub(e1, tac_scene_rest(f->scene, v[1]), tac_scene_rest(f->scene, v[0]));
    tac_sub(e2, tac_scene_rest(f->scene, v[2]), tac_scene_rest(f->scene, v[0]));
    tac_cross(n, e1, e2);
    const double l = sqrt(tac_dot(e1, e1)), p = tac_dot(e1, e2) / l, q = sqrt(tac_dot(n, n)) / l;
    for (int k = 0; k < 3; k++)
        memcpy(x[k], &f->x[3 * (size_t)v[k]], sizeof x[k]);
    tac_one_cst_strain(1 / l, -p / (l * q), 1 / q, x, f0, f1, strain);
    s.c[0] = tac_dot(f0, f0);
    s.c[1] = tac_dot(f1, f1);
    s.c[2] = tac_dot(f0, f1);
    const double mean = .5 * (s.c[0] + s.c[1]), half = .5 * (s.c[0] - s.c[1]), d = sqrt(half * half + s.c[2] * s.c[2]);
    s.most = sqrt(mean + d);
    s.least = sqrt(fmax(mean - d, 0));
    return s;
}

static void put_value(const struct filling *f, enum tac_dataset_name which, tac_lid row, double value)
{
    if (row >= 0 && f->value[which] != NULL)
        f->value[which][row] = (float)value;
}

static void put_greater_value(const struct filling *f, enum tac_dataset_name which, tac_lid row, double value)
{
    if (row >= 0 && f->value[which] != NULL && fabs(value) > fabs((double)f->value[which][row]))
        f->value[which][row] = (float)value;
}

static void fill_strains(const struct filling *f)
{
    const struct tac_local_mesh *m = f->scene->mesh;
    for (tac_lid t = 0; t < m->triangle_count; t++) {
        if (f->cell[t] < 0)
            continue;
        const struct stretch s = stretch_of(f, &m->triangle[3 * (size_t)t]);
        put_value(f, TAC_DATA_STRAIN_MAX, f->cell[t], s.most - 1);
        put_value(f, TAC_DATA_STRAIN_MIN, f->cell[t], s.least - 1);
    }
    for (tac_lid t = 0; t < m->segment_count; t++) {
        const tac_lid *v = &m->segment[2 * (size_t)t];
        double rest[3], now[3];
        tac_sub(rest, &m->x[3 * (size_t)v[1]], &m->x[3 * (size_t)v[0]]);
        tac_sub(now, &f->x[3 * (size_t)v[1]], &f->x[3 * (size_t)v[0]]);
        const double strain = sqrt(tac_dot(now, now)) / sqrt(tac_dot(rest, rest)) - 1;
        put_value(f, TAC_DATA_STRAIN_MAX, f->segment[t], strain);
        put_value(f, TAC_DATA_STRAIN_MIN, f->segment[t], strain);
    }
}

/* A value of a hinge goes to its two triangles, which keep the one of greatest size. */
static void put_hinge_value(const struct filling *f, enum tac_dataset_name which, const tac_lid v[4], double value)
{
    for (int side = 2; side < 4; side++) {
        const tac_lid t = find_triangle(f, v[0], v[1], v[side]);
        put_greater_value(f, which, t < 0 ? -1 : f->cell[t], value);
    }
}

static void fill_angles(const struct filling *f)
{
    const struct tac_topology *t = f->scene->mesh->topology;
    for (tac_lid h = 0; h < t->hinge_count; h++) {
        const tac_lid *v = &t->hinge[4 * (size_t)h];
        double x[4][3];
        struct tac_one_fold fold;
        for (int k = 0; k < 4; k++)
            memcpy(x[k], &f->x[3 * (size_t)v[k]], sizeof x[k]);
        tac_one_fold(x, &fold);
        put_hinge_value(f, TAC_DATA_BENDING_ANGLE, v, tac_one_fold_angle(&fold));
    }
}

/* ---- stress and plasticity: from the elements ---- */

/* The equivalent stress of von Mises, of principal values. */
static double von_mises_stress(const double s[3])
{
    const double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
    return sqrt(.5 * (a * a + b * b + c * c));
}

/* Principal values of the Cauchy stress F S F^T / J, N/m: those of C S / J. */
static void put_stress(const struct filling *f, const struct tac_cst *c, const double *rest, tac_lid row)
{
    const struct stretch s = stretch_of(f, c->v);
    const double area = .5 / (c->b00 * c->b11), jacobian = s.most * s.least;
    double e[3] = {.5 * (s.c[0] - 1), .5 * (s.c[1] - 1), .5 * s.c[2]};
    if (rest != NULL)
        tac_sub(e, e, rest);
    const double trace = c->b * (e[0] + e[1]);
    const double s00 = (c->a * e[0] + trace) / area, s11 = (c->a * e[1] + trace) / area, s01 = c->a * e[2] / area;
    const double sum = (s.c[0] * s00 + s.c[1] * s11 + 2 * s.c[2] * s01) / jacobian;
    const double product = s00 * s11 - s01 * s01; /* det C is jacobian^2 */
    const double root = sqrt(fmax(.25 * sum * sum - product, 0));
    put_value(f, TAC_DATA_STRESS_MAX, row, .5 * sum + root);
    put_value(f, TAC_DATA_STRESS_MIN, row, .5 * sum - root);
    put_value(f, TAC_DATA_STRESS_MISES, row, von_mises_stress((const double[3]){.5 * sum + root, .5 * sum - root, 0}));
}

static tac_lid find_segment(const struct filling *f, const tac_lid v[2])
{
    const struct tac_local_mesh *m = f->scene->mesh;
    tac_lid lo = 0, hi = m->topology->edge_count;
    const tac_lid *edge = m->topology->edge;
    while (lo < hi) { /* edges are sorted by their vertices' ids */
        const tac_lid mid = lo + (hi - lo) / 2;
        const tac_gid a = tac_scene_id(f->scene, edge[2 * (size_t)mid]), b = tac_scene_id(f->scene, v[0]);
        const tac_gid c = tac_scene_id(f->scene, edge[2 * (size_t)mid + 1]), d = tac_scene_id(f->scene, v[1]);
        if (a < b || (a == b && c < d))
            lo = mid + 1;
        else
            hi = mid;
    }
    const bool found = lo < m->topology->edge_count && edge[2 * (size_t)lo] == v[0] && edge[2 * (size_t)lo + 1] == v[1];
    return found ? m->topology->edge_segment[lo] : -1;
}

static void visit_spring(const struct filling *f, const struct tac_spring *s, const double *rest)
{
    const tac_lid t = find_segment(f, s->v), row = t < 0 ? -1 : f->segment[t];
    double d[3];
    if (row < 0)
        return;
    tac_sub(d, &f->x[3 * (size_t)s->v[1]], &f->x[3 * (size_t)s->v[0]]);
    const double tension = s->stiffness * (sqrt(tac_dot(d, d)) - (rest ? *rest : s->length));
    put_value(f, TAC_DATA_STRESS_MAX, row, tension);
    put_value(f, TAC_DATA_STRESS_MIN, row, tension);
    put_value(f, TAC_DATA_STRESS_MISES, row, fabs(tension));
    if (rest != NULL)
        put_value(f, TAC_DATA_PLASTIC_STRAIN, row, fabs(*rest / s->length - 1));
}

static void visit_solid(const struct filling *f, const struct tac_element *element, const tac_lid *v)
{
    const tac_lid t = find_tetrahedron(f, v), row = t < 0 ? -1 : f->tetrahedron[t];
    double x[4][3], strain[3], stress[3];
    if (row < 0)
        return;
    for (int k = 0; k < 4; k++)
        memcpy(x[k], &f->x[3 * (size_t)v[k]], sizeof x[k]);
    const bool known = tac_solid_principal(element, v, (const double(*)[3])x, strain, stress);
    put_value(f, TAC_DATA_STRAIN_MAX, row,
              sqrt(fmax(1 + 2 * strain[0], 0)) - 1); /* of Green's strain, the stretch less 1 */
    put_value(f, TAC_DATA_STRAIN_MIN, row, sqrt(fmax(1 + 2 * strain[2], 0)) - 1);
    put_value(f, TAC_DATA_STRESS_MAX, row, known ? stress[0] : NAN);
    put_value(f, TAC_DATA_STRESS_MIN, row, known ? stress[2] : NAN);
    put_value(f, TAC_DATA_STRESS_MISES, row, known ? von_mises_stress(stress) : NAN);
}

static void visit_element(void *user, const struct tac_element *element, const void *record, const double *rest)
{
    const struct filling *f = user;
    if (element == &tac_element_cst) {
        const struct tac_cst *c = record;
        const tac_lid t = find_triangle(f, c->v[0], c->v[1], c->v[2]), row = t < 0 ? -1 : f->cell[t];
        if (row >= 0 && f->value[TAC_DATA_STRESS_MAX] != NULL)
            put_stress(f, c, rest, row);
        if (rest != NULL)
            put_value(f, TAC_DATA_PLASTIC_STRAIN, row,
                      sqrt(rest[0] * rest[0] + rest[1] * rest[1] + 2 * rest[2] * rest[2]));
    } else if (tac_element_is_solid(element)) {
        visit_solid(f, element, record); /* a record begins with its nodes */
    } else if (element == &tac_element_spring) {
        visit_spring(f, record, rest);
    } else if (element == &tac_element_hinge && rest != NULL) {
        const struct tac_hinge *h = record;
        put_hinge_value(f, TAC_DATA_PLASTIC_ANGLE, h->v, tac_one_turn(*rest - h->angle));
    }
}

/* ---- the whole ---- */

void tac_fields_clear(struct tac_fields *fields)
{
    free(fields->cell_row);
    free(fields->vertex_row);
    free(fields->contact_row);
    free(fields->rigid_row);
    for (int k = 0; k < TAC_DATASETS; k++)
        free(fields->data[k]);
    free(fields->around);
    free(fields->around_at);
    free(fields->x);
    memset(fields, 0, sizeof *fields);
}

static enum tac_err alloc_values(struct filling *f, const struct tac_frame *frame, unsigned asked)
{
    enum tac_err err = TAC_OK;
    for (int k = 0; k < TAC_DATASETS; k++) {
        const struct tac_field_info *info = &tac_field_table()[k];
        const size_t n = info->at == TAC_AT_CELLS ? f->cells : (size_t)frame->count;
        if (!(info->output & asked) || info->at == TAC_AT_RIGID)
            continue;
        TAC_TRY(tac_alloc(f->sim->ctx, n, tac_field_row_bytes(info), &f->fields->data[k]));
        if (info->at == TAC_AT_CELLS)
            f->value[k] = f->fields->data[k];
        for (size_t i = 0; i < n && info->output == 1u << TAC_OUTPUT_STRESS; i++)
            f->value[k][i] = NAN; /* where nothing resists */
    }
    TAC_TRY(tac_alloc(f->sim->ctx, (size_t)frame->count, sizeof *f->fields->vertex_row, &f->fields->vertex_row));
    for (tac_lid i = 0; i < frame->count; i++)
        f->fields->vertex_row[i] = tac_scene_id(f->scene, i);
done:
    return err;
}

/* How grains turn; 0 of all that does not roll. */
static void fill_spins(struct filling *f, size_t count)
{
    struct tac_state_view view = {.spin = NULL};
    double *spin = f->fields->data[TAC_DATA_SPIN];
    f->sim->integrator->view(f->sim->state, &view);
    for (size_t i = 0; i < count && view.spin != NULL; i++)
        memcpy(&spin[3 * i], (const char *)view.spin + i * view.spin_stride, 3 * sizeof *spin);
}

/* ---- poses of rigid bodies ---- */

static enum tac_err alloc_poses(struct tac_ctx *ctx, struct tac_fields *fields, size_t count, struct tac_pose **pose)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(ctx, count, sizeof **pose, pose));
    TAC_TRY(tac_alloc(ctx, count, sizeof *fields->rigid_row, &fields->rigid_row));
    for (int k = TAC_DATA_RIGID_CENTER; k <= TAC_DATA_RIGID_SPIN; k++)
        TAC_TRY(tac_alloc(ctx, count, tac_field_row_bytes(&tac_field_table()[k]), &fields->data[k]));
done:
    return err;
}

/* Collective. Each rank fills the rows of its own bodies. */
static enum tac_err fill_poses(struct tac_simulation *sim, struct tac_fields *fields, struct tac_frame *frame)
{
    const size_t count = (size_t)sim->whole->settings->rigid_count;
    struct tac_pose *pose = NULL;
    enum tac_err err;
    if (count == 0)
        return TAC_OK;
    TAC_TRY(tac_agree(sim->ctx, alloc_poses(sim->ctx, fields, count, &pose)));
    const size_t own = sim->integrator->poses != NULL ? sim->integrator->poses(sim->state, pose) : 0;
    for (size_t i = 0; i < own; i++) {
        double *const at[] = {fields->data[TAC_DATA_RIGID_CENTER], fields->data[TAC_DATA_RIGID_ROTATION],
                              fields->data[TAC_DATA_RIGID_VELOCITY], fields->data[TAC_DATA_RIGID_SPIN]};
        fields->rigid_row[i] = pose[i].rigid;
        memcpy(at[0] + 3 * i, pose[i].center, sizeof pose[i].center);
        memcpy(at[1] + 4 * i, pose[i].rotation, sizeof pose[i].rotation);
        memcpy(at[2] + 3 * i, pose[i].velocity, sizeof pose[i].velocity);
        memcpy(at[3] + 3 * i, pose[i].spin, sizeof pose[i].spin);
    }
    for (int k = TAC_DATA_RIGID_CENTER; k <= TAC_DATA_RIGID_SPIN; k++)
        fields->field[frame->field_count++] =
            (struct tac_frame_field){&tac_field_table()[k], (tac_gid)count, own, fields->rigid_row, fields->data[k]};
done:
    free(pose);
    return err;
}

static void fill_values(struct filling *f, struct tac_frame *frame, unsigned asked)
{
    const struct tac_local_mesh *whole = f->sim->whole->mesh;
    tac_gid points = 0;
    for (tac_lid b = 0; b < f->scene->settings->body_count; b++)
        if (!f->scene->settings->body[b].has_elements)
            points += f->scene->settings->body[b].vertex_end - f->scene->settings->body[b].vertex_begin;
    if (asked & 1u << TAC_OUTPUT_STRAIN)
        fill_strains(f);
    if (asked & 1u << TAC_OUTPUT_BENDING)
        fill_angles(f);
    const unsigned of_solids = whole->tetrahedron_count > 0 ? 1u << TAC_OUTPUT_STRAIN : 0;
    if (asked & (1u << TAC_OUTPUT_STRESS | 1u << TAC_OUTPUT_PLASTIC | of_solids))
        f->sim->integrator->elements(f->sim->state, visit_element, f);
    if (asked & 1u << TAC_OUTPUT_SPIN)
        fill_spins(f, (size_t)frame->count);
    for (tac_lid i = 0; i < frame->count && asked & 1u << TAC_OUTPUT_RANK; i++)
        ((int32_t *)f->fields->data[TAC_DATA_RANK])[i] = f->sim->ctx->rank;
    for (int k = 0; k < TAC_DATASETS; k++) {
        const struct tac_field_info *info = &tac_field_table()[k];
        const bool cells = info->at == TAC_AT_CELLS;
        if (info->output & asked && info->at != TAC_AT_RIGID)
            f->fields->field[frame->field_count++] = (struct tac_frame_field){
                info,
                cells ? (tac_gid)whole->triangle_count + whole->segment_count + points + whole->tetrahedron_count
                      : whole->vertex_count,
                cells ? f->cells : (size_t)frame->count, cells ? f->fields->cell_row : f->fields->vertex_row,
                f->fields->data[k]};
    }
}

enum tac_err tac_fields_fill(struct tac_simulation *sim, struct tac_fields *fields, struct tac_frame *frame)
{
    const struct tac_output_settings *output = &sim->whole->settings->output;
    struct filling f = {.sim = sim, .scene = tac_fields_scene(sim), .fields = fields};
    enum tac_err err = TAC_OK;
    tac_fields_clear(fields);
    frame->field = fields->field;
    frame->field_count = 0;
    if (output->fields != 0) {
        TAC_TRY(tac_fields_positions(sim, frame->position, &fields->x));
        f.x = fields->x;
        err = list_around(sim->ctx, f.scene->mesh, fields);
        if (!err)
            err = list_first(&f);
        f.around_at = fields->around_at;
        f.around = fields->around;
        if (!err)
            err = list_cells(&f);
        if (!err)
            err = alloc_values(&f, frame, output->fields);
        TAC_TRY(tac_agree(sim->ctx, err));
        fill_values(&f, frame, output->fields);
        if (output->fields & 1u << TAC_OUTPUT_POSE)
            TAC_TRY(fill_poses(sim, fields, frame));
        if (output->fields & 1u << TAC_OUTPUT_PRESSURE)
            TAC_TRY(tac_fields_pressure(sim, fields, frame, fields->data[TAC_DATA_PRESSURE]));
    }
    if (output->contacts)
        TAC_TRY(tac_fields_contacts(sim, fields, frame));
done:
    free(f.cell);
    free(f.segment);
    free(f.tetrahedron);
    free(f.first_at);
    free(f.first);
    return err;
}
