/* follow.c: writes reactions and histories: sums over the vertices, which are exact and so do not depend on the ranks.
 */
#include "run/follow.h"
#include "base/exchange.h"
#include "contact/joint_pairs.h"
#include "elements/element.h"
#include "run/follow_room.h"
#include "run/requested_fields.h"
#include "state/scripts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

static void add_elastic_force(void *user, const struct tac_element *element, const void *record, const double *rest)
{
    const struct tac_looking *l = user;
    const tac_lid *v = record;
    double x[TAC_ELEMENT_NODES][3], f[TAC_ELEMENT_NODES][3];
    for (int k = 0; k < element->nodes; k++)
        memcpy(x[k], &l->x[3 * (size_t)v[k]], sizeof x[k]);
    element->push(record, rest, 1, x, f);
    for (int k = 0; k < element->nodes; k++)
        for (int c = 0; c < 3 && v[k] < l->view.owned; c++)
            l->elastic[3 * (size_t)v[k] + (size_t)c] += f[k][c];
}

/* Collective. Finds positions and elastic forces. Clear it after a failure too. */
static enum tac_err look_at_vertices(struct tac_simulation *sim, struct tac_looking *l)
{
    enum tac_err err;
    double *x = NULL;
    l->sim = sim;
    l->scene = tac_fields_scene(sim);
    l->view = tac_simulation_view(sim);
    l->span_s = (double)(l->view.now - sim->last_frame) * l->scene->settings->quantum_s;
    const size_t n = (size_t)l->view.owned;
    err = tac_alloc(sim->ctx, 3 * n, sizeof *x, &x);
    if (!err)
        err = tac_alloc(sim->ctx, 3 * n, sizeof *l->elastic, &l->elastic);
    if (!err)
        err = tac_alloc(sim->ctx, n, sizeof *l->motion, &l->motion);
    TAC_TRY(tac_agree(sim->ctx, err));
    sim->integrator->positions(sim->state, x);
    TAC_TRY(tac_fields_positions(sim, x, &l->x));
    memset(l->motion, 0xff, n * sizeof *l->motion);
    for (tac_lid m = 0; m < l->scene->mesh->moved_count; m++)
        for (tac_lid k = 0; k < l->scene->mesh->moved[m].vertex_count; k++)
            l->motion[l->scene->mesh->moved[m].vertex[k]] = m;
    sim->integrator->elements(sim->state, add_elastic_force, l);
done:
    free(x);
    return tac_agree(sim->ctx, err);
}

static void clear_looking(struct tac_looking *l)
{
    free(l->x);
    free(l->elastic);
    free(l->motion);
}

void tac_follow_contact_force(const struct tac_looking *l, tac_lid i, double f[3])
{
    for (int c = 0; c < 3; c++)
        f[c] = l->span_s > 0 ? tac_state_impulse(&l->view, 3 * (size_t)i + (size_t)c) / l->span_s : 0;
}

static const double *velocity_of(const struct tac_looking *l, tac_lid i)
{
    return (const double *)((const char *)l->view.velocity + (size_t)i * l->view.stride);
}

/* ---- lines ---- */

static char *print_values(char *at, const double *value, int count)
{
    for (int k = 0; k < count; k++)
        at += isnan(value[k]) ? sprintf(at, ",nan") : sprintf(at, ",%.17g", value[k] + 0.);
    return at;
}

/* The name is written in quotes, as CSV needs it. */
enum tac_err tac_follow_line(struct tac_ctx *ctx, struct tac_follow_lines *lines, const struct tac_follow_row *row)
{
    enum tac_err err;
    const char *name = row->name;
    const size_t most = 32 * (size_t)(1 + row->wholes + row->values + row->mores + row->lasts) + 2 * strlen(name) + 8;
    TAC_TRY(tac_grow(ctx, &lines->text, &lines->capacity, lines->length + most, 1));
    char *at = lines->text + lines->length;
    at += sprintf(at, "%.17g", row->t_s);
    for (int k = 0; k < row->wholes; k++)
        at += sprintf(at, ",%" PRId64, row->whole[k]);
    at = print_values(at, row->value, row->values);
    *at++ = ',';
    *at++ = '"';
    for (; *name != '\0'; name++) {
        if (*name == '"')
            *at++ = '"';
        *at++ = *name;
    }
    *at++ = '"';
    at = print_values(at, row->more, row->mores);
    at = print_values(at, row->last, row->lasts);
    *at++ = '\n';
    lines->length = (size_t)(at - lines->text);
done:
    return err;
}

/* ---- reactions ---- */

enum { CONTACT, ELASTIC = 3, MOMENT = 6, HELD = 9, REACTION_SUMS = 10 };

/* Is the vertex held, by a script or because it never moves? */
bool tac_follow_held(const struct tac_looking *l, tac_lid i)
{
    const struct tac_scene *s = l->scene;
    if (!s->mesh->ever_free[i])
        return true;
    if (l->motion[i] < 0)
        return false;
    return tac_motion_holds(s, &s->settings->motion[l->motion[i]], l->view.now);
}

static void add_reaction(const struct tac_looking *l, tac_lid i, struct tac_accum *sum)
{
    const double *x = &l->x[3 * (size_t)i], *elastic = &l->elastic[3 * (size_t)i];
    double contact[3], both[3], moment[3];
    tac_follow_contact_force(l, i, contact);
    for (int c = 0; c < 3; c++)
        both[c] = contact[c] + elastic[c];
    tac_cross(moment, x, both);
    for (int c = 0; c < 3; c++) {
        tac_accum_add(&sum[CONTACT + c], contact[c]);
        tac_accum_add(&sum[ELASTIC + c], elastic[c]);
        tac_accum_add(&sum[MOMENT + c], moment[c]);
    }
    tac_accum_add(&sum[HELD], 1);
}

/* The side whose points only joints have: on it nothing else acts. */
static int joint_side(const struct tac_joint *joint)
{
    return joint->end[0].vertex >= 0;
}

/* Adds up the forces of a joint on its first body. */
static void add_joint(const struct tac_looking *l, tac_lid index, struct tac_accum *sum)
{
    const struct tac_joint *joint = &l->scene->settings->joint[index];
    const int side = joint_side(joint);
    for (int p = 0; p < joint->pairs; p++) {
        const tac_lid i = tac_joint_point(l->scene, index, side, p);
        double force[3], moment[3];
        if (i < 0 || i >= l->view.owned)
            continue;
        tac_follow_contact_force(l, i, force);
        for (int c = 0; c < 3 && side == 1; c++)
            force[c] = -force[c];
        tac_cross(moment, &l->x[3 * (size_t)i], force);
        for (int c = 0; c < 3; c++) {
            tac_accum_add(&sum[CONTACT + c], force[c]);
            tac_accum_add(&sum[MOMENT + c], moment[c]);
        }
        tac_accum_add(&sum[HELD], 1);
    }
}

/* A line of reactions.csv. whole: the number of the body, and how many vertices are held; value (12). */
static enum tac_err write_reaction(struct tac_ctx *ctx, const struct tac_looking *l, const char *name,
                                   const int64_t whole[2], const double *value, struct tac_follow_lines *lines)
{
    const struct tac_follow_row row = {
        .t_s = tac_follow_seconds(l), .name = name, .whole = whole, .wholes = 2, .value = value, .values = 12};
    return tac_follow_line(ctx, lines, &row);
}

/* Joint i has the number -1 - i in the column of bodies. */
static enum tac_err write_joints(struct tac_ctx *ctx, const struct tac_looking *l, const struct tac_accum *sum,
                                 struct tac_follow_lines *lines)
{
    enum tac_err err = TAC_OK;
    const struct tac_settings *settings = l->scene->settings;
    for (tac_lid i = 0; i < settings->joint_count; i++, sum += REACTION_SUMS) {
        const int64_t whole[] = {-1 - (int64_t)i, (int64_t)tac_accum_value(&sum[HELD])};
        double value[12] = {0};
        for (int c = 0; c < 3; c++) {
            value[c] = tac_accum_value(&sum[CONTACT + c]);
            value[3 + c] = tac_accum_value(&sum[MOMENT + c]);
        }
        TAC_TRY(write_reaction(ctx, l, settings->joint[i].name, whole, value, lines));
    }
done:
    return err;
}

static enum tac_err add_reactions(struct tac_ctx *ctx, const struct tac_looking *l, const uint8_t *tells,
                                  struct tac_accum *sum, struct tac_follow_lines *lines)
{
    enum tac_err err = TAC_OK;
    const struct tac_settings *settings = l->scene->settings;
    for (tac_lid b = 0; b < settings->body_count; b++) {
        struct tac_accum *s = &sum[REACTION_SUMS * (size_t)b];
        const int64_t whole[] = {b, (int64_t)tac_accum_value(&s[HELD])};
        double value[12];
        if (!tells[b])
            continue;
        for (int c = 0; c < 3; c++) {
            struct tac_accum force = s[CONTACT + c];
            tac_accum_merge(&force, &s[ELASTIC + c]);
            value[c] = -tac_accum_value(&force);
            value[3 + c] = -tac_accum_value(&s[MOMENT + c]);
            value[6 + c] = tac_accum_value(&s[CONTACT + c]);
            value[9 + c] = tac_accum_value(&s[ELASTIC + c]);
        }
        TAC_TRY(write_reaction(ctx, l, settings->body[b].name, whole, value, lines));
    }
done:
    return err;
}

enum tac_err tac_follow_reactions(struct tac_simulation *sim, struct tac_output *out)
{
    struct tac_ctx *ctx = sim->ctx;
    const tac_lid bodies = sim->whole->settings->body_count, joints = sim->whole->settings->joint_count;
    const size_t sums = REACTION_SUMS * ((size_t)bodies + (size_t)joints);
    struct tac_looking l = {.sim = NULL};
    struct tac_follow_lines lines = {NULL, 0, 0};
    struct tac_accum *sum = NULL;
    uint8_t *tells = NULL;
    enum tac_err err = TAC_OK;
    if (!sim->whole->settings->output.reactions)
        return TAC_OK;
    TAC_TRY(look_at_vertices(sim, &l));
    err = tac_alloc(ctx, sums, sizeof *sum, &sum);
    if (!err)
        err = tac_alloc(ctx, (size_t)bodies, 1, &tells);
    TAC_TRY(tac_agree(ctx, err));
    for (tac_lid i = 0; i < l.view.owned; i++) {
        const tac_lid body = l.scene->mesh->vertex_body[i];
        const struct tac_body *of = &l.scene->settings->body[body];
        if (tac_scene_id(l.scene, i) >= of->vertex_end - of->pins)
            continue; /* the world's */
        tells[body] |= l.motion[i] >= 0 || !l.scene->mesh->ever_free[i];
        if (tac_follow_held(&l, i))
            add_reaction(&l, i, &sum[REACTION_SUMS * (size_t)body]);
    }
    for (tac_lid i = 0; i < joints; i++)
        add_joint(&l, i, &sum[REACTION_SUMS * ((size_t)bodies + (size_t)i)]);
    MPI_Allreduce(MPI_IN_PLACE, tells, (int)bodies, MPI_UINT8_T, MPI_BOR, ctx->comm);
    TAC_TRY(tac_sum_all(ctx, sum, (int)sums));
    if (ctx->rank == 0)
        err = add_reactions(ctx, &l, tells, sum, &lines);
    if (!err && ctx->rank == 0)
        err = write_joints(ctx, &l, &sum[REACTION_SUMS * (size_t)bodies], &lines);
    if (!err && ctx->rank == 0)
        err = tac_output_lines(ctx, out, TAC_LINES_REACTIONS, lines.text, lines.length);
    err = tac_agree(ctx, err);
done:
    clear_looking(&l);
    free(lines.text);
    free(sum);
    free(tells);
    return err;
}

/* ---- histories ---- */

enum { COUNT, MASS, KINETIC, PLACE, SPEED = 6, TOUCH = 9, PULL = 12, HISTORY_SUMS = 15 };
_Static_assert(HISTORY_SUMS - 1 == TAC_FOLLOW_VALUES, "the columns of a history");

struct tac_follow_row tac_follow_history_row(const struct tac_looking *l, const char *name, const int64_t *whole,
                                             const double *value, const double *more, const double *pose)
{
    static const double none[TAC_FOLLOW_MORE] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const unsigned kinds = tac_scene_history_kinds(l->scene);
    const bool flux = kinds >> TAC_HISTORY_FLUX & 1, reaction = kinds >> TAC_HISTORY_REACTION & 1;
    more = more ? more : none;
    return (struct tac_follow_row){.t_s = tac_follow_seconds(l),
                                   .name = name,
                                   .whole = whole,
                                   .wholes = 3,
                                   .value = value,
                                   .values = TAC_FOLLOW_VALUES,
                                   .more = more + (flux ? 0 : TAC_FOLLOW_FLUX),
                                   .mores = (flux ? TAC_FOLLOW_FLUX : 0) + (reaction ? TAC_FOLLOW_REACTION : 0),
                                   .last = pose ? pose : none,
                                   .lasts = kinds >> TAC_HISTORY_POSE & 1 ? TAC_FOLLOW_POSE : 0};
}

/* A row of one vertex, which is sent to rank 0. */
struct vertex_row {
    tac_gid vertex; /* within the body; first, because rows are sorted by it */
    double value[HISTORY_SUMS - 1];
};

static int by_index(const void *a, const void *b)
{
    const tac_lid *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* A vertex of the history's body; index: its sorted list. */
bool tac_follow_selected(const struct tac_looking *l, const struct tac_history *h, const tac_lid *index, tac_lid i)
{
    const tac_lid number = (tac_lid)(tac_scene_id(l->scene, i) - l->scene->settings->body[h->body].vertex_begin);
    const double *start = &l->scene->mesh->x[3 * (size_t)i];
    bool inside = tac_scene_id(l->scene, i) < tac_body_mesh_end(&l->scene->settings->body[h->body]);
    if (h->select == TAC_HISTORY_LIST)
        return bsearch(&number, index, (size_t)h->index_count, sizeof number, by_index) != NULL;
    for (int c = 0; c < 3 && h->select == TAC_HISTORY_BOX; c++)
        inside = inside && h->box[0][c] <= start[c] && start[c] <= h->box[1][c];
    return inside;
}

static void describe_vertex(const struct tac_looking *l, tac_lid i, double value[HISTORY_SUMS])
{
    const double *v = velocity_of(l, i), m = l->scene->mesh->mass[i];
    value[COUNT] = 1;
    value[MASS] = m;
    value[KINETIC] = .5 * m * tac_dot(v, v);
    memcpy(&value[PLACE], &l->x[3 * (size_t)i], 3 * sizeof *value);
    memcpy(&value[SPEED], v, 3 * sizeof *value);
    tac_follow_contact_force(l, i, &value[TOUCH]);
    memcpy(&value[PULL], &l->elastic[3 * (size_t)i], 3 * sizeof *value);
}

/* One row: sums of masses, energies and forces, means of places and velocities. */
static enum tac_err add_means(struct tac_ctx *ctx, const struct tac_looking *l, tac_lid number, struct tac_accum *sum,
                              struct tac_follow_lines *lines)
{
    const struct tac_history *h = &l->scene->settings->output.history[number];
    const double count = tac_accum_value(&sum[COUNT]);
    const int64_t whole[] = {number, -1, (int64_t)count};
    double value[HISTORY_SUMS - 1];
    for (int k = MASS; k < HISTORY_SUMS; k++) {
        const bool mean = k >= PLACE && k < TOUCH;
        value[k - 1] = tac_accum_value(&sum[k]) / (mean ? count : 1);
    }
    const struct tac_follow_row row = tac_follow_history_row(l, h->name, whole, value, NULL, NULL);
    return tac_follow_line(ctx, lines, &row);
}

static enum tac_err follow_means(const struct tac_looking *l, tac_lid number, const tac_lid *index,
                                 struct tac_follow_lines *lines)
{
    struct tac_ctx *ctx = l->sim->ctx;
    const struct tac_history *h = &l->scene->settings->output.history[number];
    enum tac_err err;
    struct tac_accum *sum = NULL;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, HISTORY_SUMS, sizeof *sum, &sum)));
    for (tac_lid i = 0; i < l->view.owned; i++) {
        double value[HISTORY_SUMS];
        if (l->scene->mesh->vertex_body[i] != h->body || !tac_follow_selected(l, h, index, i))
            continue;
        describe_vertex(l, i, value);
        for (int k = 0; k < HISTORY_SUMS; k++)
            tac_accum_add(&sum[k], value[k]);
    }
    TAC_TRY(tac_sum_all(ctx, sum, HISTORY_SUMS));
    if (ctx->rank == 0)
        err = add_means(ctx, l, number, sum, lines);
    err = tac_agree(ctx, err);
done:
    free(sum);
    return err;
}

static enum tac_err follow_each(const struct tac_looking *l, tac_lid number, const tac_lid *index,
                                struct tac_follow_lines *lines)
{
    struct tac_ctx *ctx = l->sim->ctx;
    const struct tac_history *h = &l->scene->settings->output.history[number];
    enum tac_err err = TAC_OK;
    struct vertex_row *row = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t count = 0, capacity = 0, total = 0;
    for (tac_lid i = 0; i < l->view.owned && !err; i++) {
        double value[HISTORY_SUMS];
        if (l->scene->mesh->vertex_body[i] != h->body || !tac_follow_selected(l, h, index, i))
            continue;
        err = tac_grow(ctx, &row, &capacity, count + 1, sizeof *row);
        if (err)
            break;
        describe_vertex(l, i, value);
        row[count].vertex = tac_scene_id(l->scene, i) - l->scene->settings->body[h->body].vertex_begin;
        memcpy(row[count++].value, &value[MASS], sizeof row->value);
    }
    if (!err)
        err = tac_alloc(ctx, count, sizeof *to, &to); /* all to rank 0 */
    TAC_TRY(tac_distribute(ctx, err, count, to, row, sizeof *row, &came, &total));
    err = tac_sort_records(ctx, total, sizeof *came, came);
    for (size_t k = 0; k < total && !err; k++) {
        const int64_t whole[] = {number, came[k].vertex, 1};
        const struct tac_follow_row line = tac_follow_history_row(l, h->name, whole, came[k].value, NULL, NULL);
        err = tac_follow_line(ctx, lines, &line);
    }
    err = tac_agree(ctx, err);
done:
    free(row);
    free(came);
    free(to);
    return err;
}

/* The next multiple of the history's interval after now; from: now is allowed too. */
static tac_time next_of(const struct tac_scene *scene, const struct tac_history *h, tac_time now, bool from)
{
    const double every_s = fmax(h->every_s, TAC_FRAME_GRAIN * scene->settings->quantum_s);
    int64_t k = (int64_t)((double)now * scene->settings->quantum_s / every_s);
    k = k > 0 ? k - 1 : 0;
    while (tac_scene_grid(scene, every_s, k) < now || (!from && tac_scene_grid(scene, every_s, k) == now))
        k++;
    return tac_scene_grid(scene, every_s, k);
}

tac_time tac_follow_next(const struct tac_scene *scene, tac_time now, bool from)
{
    tac_time next = TAC_TIME_NEVER;
    for (tac_lid k = 0; k < scene->settings->output.history_count; k++) {
        const tac_time t = next_of(scene, &scene->settings->output.history[k], now, from);
        next = t < next ? t : next;
    }
    return next;
}

enum tac_err tac_follow_histories(struct tac_simulation *sim, struct tac_follow *follow, struct tac_output *out)
{
    const struct tac_output_settings *output = &sim->whole->settings->output;
    const tac_time now = tac_simulation_now(sim);
    struct tac_looking l = {.sim = NULL};
    struct tac_follow_lines lines = {NULL, 0, 0};
    tac_lid *index = NULL;
    enum tac_err err = TAC_OK;
    if (tac_follow_next(sim->whole, now, true) != now)
        return TAC_OK;
    if (sim->integrator->book != NULL)
        TAC_TRY(sim->integrator->book->gather_impulses(sim->state));
    TAC_TRY(look_at_vertices(sim, &l));
    for (tac_lid k = 0; k < output->history_count; k++) {
        const struct tac_history *h = &output->history[k];
        if (next_of(sim->whole, h, now, true) != now)
            continue;
        TAC_TRY(tac_agree(sim->ctx, tac_alloc(sim->ctx, (size_t)h->index_count, sizeof *index, &index)));
        if (h->index_count > 0) {
            memcpy(index, h->index, (size_t)h->index_count * sizeof *index);
            qsort(index, (size_t)h->index_count, sizeof *index, by_index);
        }
        if (h->kind == TAC_HISTORY_FLUX)
            TAC_TRY(tac_follow_flux(&l, k, follow, &lines));
        else if (h->kind == TAC_HISTORY_REACTION)
            TAC_TRY(tac_follow_reaction(&l, k, index, follow, &lines));
        else if (h->kind == TAC_HISTORY_POSE)
            TAC_TRY(tac_follow_pose(&l, k, &lines));
        else
            TAC_TRY(h->each ? follow_each(&l, k, index, &lines) : follow_means(&l, k, index, &lines));
        free(index);
        index = NULL;
    }
    if (sim->ctx->rank == 0)
        err = tac_output_lines(sim->ctx, out, TAC_LINES_HISTORIES, lines.text, lines.length);
    err = tac_agree(sim->ctx, err);
done:
    clear_looking(&l);
    free(index);
    free(lines.text);
    return err;
}
