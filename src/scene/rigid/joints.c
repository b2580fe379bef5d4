/* joints.c: reads the joints of rigid bodies, and gives the bodies the points by which joints hold them
 * (docs/explanation/joints.md). */
#include "geometry/around.h"
#include "geometry/closest_points.h"
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define AT(member) offsetof(struct tac_joint, member)

static const double FARTHEST_SLACKS = 1e9; /* the limits of a slider */

static const char *const joint_kinds[] = {"ball", "hinge", "weld", "slider", NULL};

static const struct tac_field joint_fields[] = {
    {.key = "name", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "kind", .kind = TAC_FIELD_CHOICE, .offset = AT(kind), .required = true, .choice = joint_kinds},
    {.key = "a", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "b", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "axis", .kind = TAC_FIELD_VECTOR, .offset = AT(axis), .fallback = NAN, .max = TAC_FARTHEST},
    {.key = "span",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(span),
     .fallback = NAN,
     .max = TAC_FARTHEST,
     .min_open = true},
    {.key = "slack",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(slack),
     .required = true,
     .max = TAC_FARTHEST,
     .min_open = true},
    {.key = "stiffness",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(stiffness),
     .fallback = NAN,
     .max = 1e50,
     .min_open = true},
    {.key = "restitution", .kind = TAC_FIELD_NUMBER, .offset = AT(restitution), .max = 1},
    {.key = "limits",
     .kind = TAC_FIELD_RANGE,
     .offset = AT(limit),
     .fallback = NAN,
     .min = -TAC_FARTHEST,
     .max = TAC_FARTHEST},
    {.key = "motor", .kind = TAC_FIELD_OTHER},
};

static const struct tac_field end_fields[] = {
    {.key = "body", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "at",
     .kind = TAC_FIELD_VECTOR,
     .offset = offsetof(struct tac_joint_end, at),
     .fallback = NAN,
     .max = TAC_FARTHEST},
    {.key = "vertex",
     .kind = TAC_FIELD_INTEGER,
     .offset = offsetof(struct tac_joint_end, vertex),
     .fallback = NAN,
     .max = TAC_MOST_ELEMENTS},
};

static const char *const SIDE[2] = {"a", "b"};

/* ---- reading ---- */

static enum tac_err read_end(struct tac_reader *reader, json_t *object, const char *where, const json_t *names,
                             struct tac_joint *joint, int side)
{
    struct tac_joint_end *end = &joint->end[side];
    json_t *value = json_object_get(object, SIDE[side]);
    char place[TAC_WHERE], body[TAC_WHERE];
    const char *name;
    enum tac_err err = TAC_OK;
    tac_where(place, where, SIDE[side]);
    tac_where(body, place, "body");
    end->vertex = end->body = -1;
    TAC_TRY(tac_fields_read(reader, value, place, end_fields, COUNT(end_fields), end));
    const bool at = json_object_get(value, "at") != NULL, vertex = json_object_get(value, "vertex") != NULL;
    if (at && vertex)
        TAC_TRY(tac_scene_fail(reader, place,
                               "has \"at\" and \"vertex\"; a point of a rigid body is given by \"at\", "
                               "one of another body by \"vertex\""));
    if (!at && !vertex && side == 1 && joint->end[0].vertex < 0) { /* where the other side has it */
        memcpy(end->at, joint->end[0].at, sizeof end->at);
        json_t *same = json_pack("[f, f, f]", end->at[0], end->at[1], end->at[2]);
        if (same == NULL || json_object_set_new(value, "at", same) != 0)
            TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
    } else if (!at && !vertex) {
        TAC_TRY(tac_scene_fail(reader, place,
                               "needs \"at\", the place of a point of a rigid body at the start, or "
                               "\"vertex\", the number of a vertex of another body"));
    }
    value = json_object_get(value, "body");
    if (json_is_null(value)) {
        if (side == 0)
            TAC_TRY(tac_scene_fail(reader, body, "is null, which means the world; only b.body may be null"));
        if (vertex)
            TAC_TRY(tac_scene_fail(reader, place, "is the world, which has no vertices; give \"at\""));
        return TAC_OK;
    }
    TAC_TRY(tac_string(reader, value, body, &name));
    json_t *index = json_object_get(names, name);
    if (index == NULL)
        TAC_TRY(tac_scene_fail(reader, body, "\"%.60s\" is no body of the scene; give the name of one", name));
    end->body = (tac_lid)json_integer_value(index);
done:
    return err;
}

/* Where point p of a side is from the joint's place, m. */
static void point_offset(const struct tac_joint *joint, int side, int p, double out[3])
{
    double along = 0, angle = 0, radius = 0;
    if (joint->kind == TAC_JOINT_SLIDER) { /* of b, the ends of the segments along which the points of a go */
        const int of = side == 0 ? p : p / 2;
        along = (of < 2 ? (of - .5) * joint->span : 0) + (side == 0 ? 0 : joint->limit[p % 2]);
        radius = of < 2 ? 0 : joint->span;
    } else if (joint->kind == TAC_JOINT_WELD) {
        radius = .5 * joint->span;
        angle = p * (2 * TAC_PI / 3);
    } else if (joint->kind == TAC_JOINT_HINGE && p < 2) {
        along = (p - .5) * joint->span;
    } else if (joint->kind == TAC_JOINT_HINGE) {
        /* The second body's point stands in the middle of what is allowed. */
        radius = joint->span;
        angle = joint->limited && side == 1 ? .5 * (joint->limit[0] + joint->limit[1]) * (TAC_PI / 180) : 0;
    }
    tac_around(joint->axis, along, radius, angle, out);
}

static enum tac_err read_axis(struct tac_reader *reader, const json_t *object, const char *where,
                              struct tac_joint *joint)
{
    char place[TAC_WHERE];
    const bool axis = json_object_get(object, "axis") != NULL, span = json_object_get(object, "span") != NULL;
    const char *kind = joint_kinds[joint->kind];
    if (joint->kind == TAC_JOINT_BALL && (axis || span)) {
        tac_where(place, where, axis ? "axis" : "span");
        return tac_scene_fail(reader, place, "is of hinges, sliders and welds, and \"kind\" is \"ball\"; leave it out");
    }
    if (joint->kind != TAC_JOINT_BALL && !span)
        return tac_scene_fail(reader, where, "is a %s and needs \"span\", m: how far its points are from each other",
                              kind);
    if ((joint->kind == TAC_JOINT_HINGE || joint->kind == TAC_JOINT_SLIDER) && !axis)
        return tac_scene_fail(reader, where, "is a %s and needs \"axis\", the direction %s", kind,
                              joint->kind == TAC_JOINT_HINGE ? "about which it turns" : "along which it goes");
    if (!axis)
        joint->axis[2] = 1;
    tac_where(place, where, "axis");
    return tac_scene_direction(reader, place, joint->axis);
}

static enum tac_err read_limits(struct tac_reader *reader, const json_t *object, const char *where,
                                struct tac_joint *joint)
{
    char place[TAC_WHERE];
    const double range = joint->limit[1] - joint->limit[0];
    const bool slides = joint->kind == TAC_JOINT_SLIDER;
    joint->limited = json_object_get(object, "limits") != NULL;
    if (slides && !joint->limited)
        return tac_scene_fail(reader, where, "is a slider and needs \"limits\", m: how far it goes along its axis");
    if (!joint->limited)
        return TAC_OK;
    tac_where(place, where, "limits");
    if (joint->kind != TAC_JOINT_HINGE && !slides)
        return tac_scene_fail(reader, place, "are those of a hinge or a slider, and \"kind\" is \"%s\"; leave them out",
                              joint_kinds[joint->kind]);
    if (!(joint->limit[0] <= 0 && joint->limit[1] >= 0))
        return tac_scene_fail(reader, place, "are from %g to %g %s, but the %s is 0 at the start; let them enclose 0",
                              joint->limit[0], joint->limit[1], slides ? "m" : "degrees", slides ? "way" : "angle");
    if (slides && !(range > 0))
        return tac_scene_fail(reader, place, "let the slider go nowhere; make the second one larger, or take a weld");
    if (slides && !(fmax(-joint->limit[0], joint->limit[1]) <= FARTHEST_SLACKS * joint->slack))
        return tac_scene_fail(reader, place,
                              "reach beyond 1e9 times the slack, where a place is rounded by too much of it; make them "
                              "nearer, or the slack larger");
    if (!slides && !(range > 0 && range <= 300))
        return tac_scene_fail(reader, place,
                              "let the hinge turn by %g degrees; that must be more than 0 and at most 300", range);
    return TAC_OK;
}

static void find_pairs(struct tac_joint *joint)
{
    static const int pairs[] = {
        [TAC_JOINT_BALL] = 1, [TAC_JOINT_HINGE] = 2, [TAC_JOINT_WELD] = 3, [TAC_JOINT_SLIDER] = 3};
    joint->pairs = joint->points[0] = joint->points[1] = pairs[joint->kind];
    for (int p = 0; p < joint->pairs; p++)
        joint->most[p] = joint->soft[p] = joint->slack;
    if (joint->motor.kind != TAC_MOTOR_NONE)
        joint->points[0] = joint->points[1] = 3; /* the third ones show the angle */
    if (joint->kind == TAC_JOINT_SLIDER)
        joint->points[1] = 2 * joint->pairs;
    if (joint->kind != TAC_JOINT_HINGE || !joint->limited)
        return;
    /* Two points at the distance r from the axis, and an angle under half of what is allowed between them. */
    joint->most[2] = 2 * joint->span * tac_sin((joint->limit[1] - joint->limit[0]) * (TAC_PI / 720));
    joint->soft[2] = fmin(joint->slack, joint->most[2]);
    joint->points[0] = joint->points[1] = joint->pairs = 3;
}

static enum tac_err read_joint(struct tac_reader *reader, json_t *object, size_t index, const json_t *bodies,
                               json_t *names)
{
    struct tac_joint *joint = &reader->scene->settings->joint[index];
    char where[TAC_WHERE], place[TAC_WHERE];
    const char *name;
    enum tac_err err = TAC_OK;
    tac_where_index(where, "joints", index);
    tac_where(place, where, "name");
    joint->stiffness = reader->scene->settings->contact.stiffness;
    TAC_TRY(tac_fields_read(reader, object, where, joint_fields, COUNT(joint_fields), joint));
    TAC_TRY(tac_string(reader, json_object_get(object, "name"), place, &name));
    TAC_TRY(tac_check_name(reader, name, place));
    if (name[0] == '\0')
        TAC_TRY(tac_scene_fail(reader, place, "is empty; give each joint a name"));
    if (json_object_get(names, name) != NULL)
        TAC_TRY(tac_scene_fail(reader, place, "\"%.60s\" is the name of another joint; names must be unique", name));
    if (json_object_set_new(names, name, json_true()) != 0)
        TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
    TAC_TRY(tac_copy(reader->ctx, name, &joint->name));
    if (json_object_get(object, "stiffness") == NULL &&
        json_object_set_new(object, "stiffness", json_real(joint->stiffness)) != 0)
        TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
    TAC_TRY(read_axis(reader, object, where, joint));
    TAC_TRY(read_limits(reader, object, where, joint));
    TAC_TRY(tac_scene_read_motor(reader, object, where, joint));
    for (int side = 0; side < 2; side++)
        TAC_TRY(read_end(reader, object, where, bodies, joint, side));
    find_pairs(joint);
done:
    return err;
}

enum tac_err tac_scene_read_joints(struct tac_reader *reader, json_t *root)
{
    struct tac_settings *s = reader->scene->settings;
    enum tac_err err = TAC_OK;
    json_t *joints, *names = NULL, *bodies = NULL;
    TAC_TRY(tac_list(reader, root, "", "joints", &joints));
    const size_t count = json_array_size(joints);
    if (count == 0)
        return TAC_OK;
    if (count > TAC_MOST_ELEMENTS / TAC_JOINT_POINTS)
        TAC_TRY(tac_scene_fail(reader, "joints", "has too many elements"));
    if (s->integrator == TAC_INTEGRATOR_IMPACT)
        TAC_TRY(tac_scene_fail(reader, "joints",
                               "are not possible with integrator.kind impact; use \"asynchronous\" or \"implicit\""));
    if (s->integrator == TAC_INTEGRATOR_IMPLICIT && s->implicit.scheme == TAC_IMPLICIT_NEWMARK)
        TAC_TRY(tac_scene_fail(reader, "joints",
                               "are not possible with integrator.scheme \"newmark\", which damps nothing and would "
                               "let them ring; use \"bdf2\" or \"euler\""));
    TAC_TRY(tac_alloc(reader->ctx, count, sizeof *s->joint, &s->joint));
    names = json_object();
    bodies = json_object();
    const json_t *list = json_object_get(root, "bodies");
    bool ok = names != NULL && bodies != NULL;
    for (size_t b = 0; b < json_array_size(list); b++) {
        const char *name = json_string_value(json_object_get(json_array_get(list, b), "name"));
        ok = ok && (name == NULL || json_object_set_new(bodies, name, json_integer((json_int_t)b)) == 0);
    }
    if (!ok)
        TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
    for (size_t i = 0; i < count; i++) {
        s->joint_count++;
        TAC_TRY(read_joint(reader, json_array_get(joints, i), i, bodies, names));
    }
done:
    json_decref(names);
    json_decref(bodies);
    return err;
}

/* ---- points ---- */

/* Lists the places of the points that belong to a body: those that move with it, or (world) those of the world to which
 * its joints tie it. point: NULL, or their ids are stored, from *id on. */
static size_t list_points(struct tac_settings *s, tac_lid body, bool world, double (*x)[3], tac_gid id)
{
    size_t n = 0;
    for (tac_lid i = 0; i < s->joint_count; i++)
        for (int side = 0; side < 2; side++) {
            struct tac_joint *joint = &s->joint[i];
            struct tac_joint_end *end = &joint->end[side];
            if (end->vertex >= 0 || (world ? end->body >= 0 || joint->end[0].body != body : end->body != body))
                continue;
            for (int p = 0; p < joint->points[side]; p++, n++) {
                double offset[3];
                if (x == NULL)
                    continue;
                point_offset(joint, side, p, offset);
                for (int k = 0; k < 3; k++)
                    x[n][k] = end->at[k] + offset[k];
                end->point[p] = id + (tac_gid)n;
            }
        }
    return n;
}

enum tac_err tac_scene_add_anchors(struct tac_reader *reader, tac_lid index, const char *where, bool placed)
{
    struct tac_scene *scene = reader->scene;
    struct tac_settings *s = scene->settings;
    struct tac_local_mesh *mesh = scene->mesh;
    struct tac_body *body = &s->body[index];
    struct tac_rows *rows = &reader->rows[index][TAC_VERTICES];
    double(*x)[3] = NULL;
    enum tac_err err = TAC_OK;
    const size_t anchors = list_points(s, index, false, NULL, 0), pins = list_points(s, index, true, NULL, 0);
    const size_t n = anchors + pins;
    if (n == 0)
        return TAC_OK;
    if (reader->spread)
        TAC_TRY(tac_reader_agree(
            reader,
            tac_scene_fail(reader, where,
                           "has a joint in a scene so large that no rank reads all of it; run it on one rank")));
    if (placed && n >= (size_t)(body->vertex_end - body->vertex_begin))
        TAC_TRY(tac_scene_fail(reader, "joints", "are not those of the checkpoint"));
    TAC_TRY(tac_alloc(reader->ctx, n, sizeof *x, &x));
    if (!placed) {
        const size_t v = (size_t)mesh->vertex_count + n;
        TAC_TRY(tac_grow(reader->ctx, &mesh->x, &reader->x_capacity, 3 * v + 1, sizeof *mesh->x));
        TAC_TRY(tac_grow(reader->ctx, &mesh->vertex_body, &reader->body_capacity, v + 1, sizeof *mesh->vertex_body));
        for (size_t k = (size_t)mesh->vertex_count; k < v; k++)
            mesh->vertex_body[k] = index;
        mesh->vertex_count += (tac_lid)n;
        rows->end += (tac_lid)n;
        reader->total[TAC_VERTICES] += (tac_lid)n;
        body->vertex_end += (tac_lid)n;
    }
    body->anchors = (tac_lid)anchors;
    body->pins = (tac_lid)pins;
    list_points(s, index, false, x, body->vertex_end - (tac_gid)n);
    list_points(s, index, true, x + anchors, body->vertex_end - (tac_gid)pins);
    memcpy(mesh->x + 3 * ((size_t)rows->end - n), x, n * sizeof *x);
done:
    free(x);
    return err;
}

void tac_scene_hold_pins(struct tac_reader *reader)
{
    const struct tac_settings *s = reader->scene->settings;
    for (tac_lid b = 0; b < s->body_count; b++) {
        const tac_lid end = reader->rows[b][TAC_VERTICES].end;
        for (tac_lid i = end - s->body[b].pins; i < end; i++)
            reader->scene->mesh->ever_free[i] = 0;
    }
}

/* ---- checking ---- */

static enum tac_err check_end(struct tac_reader *reader, const struct tac_joint *joint, const char *where, int side)
{
    const struct tac_settings *s = reader->scene->settings;
    const struct tac_joint_end *end = &joint->end[side];
    char place[TAC_WHERE];
    tac_where(place, where, SIDE[side]);
    if (end->body < 0)
        return TAC_OK;
    const struct tac_body *body = &s->body[end->body];
    const bool rigid = body->rigid >= 0;
    if (rigid && end->vertex >= 0)
        return tac_scene_fail(reader, place,
                              "has \"vertex\", but \"%.60s\" is rigid; give the place of the point by "
                              "\"at\"",
                              body->name);
    if (end->vertex < 0 && !body->has_elements)
        return tac_scene_fail(reader, place,
                              "is \"%.60s\", which has neither triangles nor segments; a joint holds "
                              "bodies that have some",
                              body->name);
    if (end->vertex >= 0 && joint->kind != TAC_JOINT_BALL)
        return tac_scene_fail(reader, place,
                              "is a vertex of \"%.60s\", which only a joint of kind \"ball\" can hold; a %s needs two "
                              "rigid bodies, or one and the world",
                              body->name, joint_kinds[joint->kind]);
    const tac_lid vertices = tac_body_mesh_end(body) - body->vertex_begin;
    if (end->vertex >= vertices)
        return tac_scene_fail(reader, place, "has vertex %lld, but \"%.60s\" has vertices 0 to %d",
                              (long long)end->vertex, body->name, (int)vertices - 1);
    return TAC_OK;
}

/* How far the sides of a pair are apart at the start, m. */
static double start_apart(const struct tac_joint *joint, const double *x, int p)
{
    const bool slides = joint->kind == TAC_JOINT_SLIDER;
    double at[4][3] = {{0}};
    struct tac_near near;
    memcpy(at[0], x + 3 * (size_t)joint->end[0].point[p], sizeof at[0]);
    for (int k = 0; k < (slides ? 2 : 1); k++)
        memcpy(at[1 + k], x + 3 * (size_t)joint->end[1].point[slides ? 2 * p + k : p], sizeof at[0]);
    tac_near_pair(slides ? TAC_PAIR_VERTEX_SEGMENT : TAC_PAIR_VERTEX_VERTEX, (const double(*)[3])at, &near);
    return near.d;
}

static enum tac_err check_places(struct tac_reader *reader, const struct tac_joint *joint, const char *where)
{
    const double *x = reader->scene->mesh->x; /* a scene with joints is not spread, so ids are places in it */
    for (int p = 0; p < joint->pairs; p++) {
        const double off = start_apart(joint, x, p);
        if (!(off < joint->most[p]))
            return p == 2 && joint->kind == TAC_JOINT_HINGE
                       ? tac_scene_fail(reader, where, "starts at the end of its \"limits\"; make them wider")
                       : tac_scene_fail(reader, where,
                                        "starts with its sides %.3g m apart, and its slack is %.3g m; let a and b meet",
                                        off, joint->slack);
    }
    return TAC_OK;
}

static int by_vertex(const void *a, const void *b)
{
    const struct tac_joint_anchor *p = a, *q = b;
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

static enum tac_err list_anchors(struct tac_reader *reader)
{
    struct tac_settings *s = reader->scene->settings;
    enum tac_err err;
    size_t n = 0;
    for (tac_lid b = 0; b < s->body_count; b++)
        n += (size_t)(s->body[b].anchors + s->body[b].pins);
    TAC_TRY(tac_alloc(reader->ctx, n, sizeof *s->anchor, &s->anchor));
    for (tac_lid i = 0; i < s->joint_count; i++)
        for (int side = 0; side < 2; side++)
            for (int p = 0; p < s->joint[i].points[side] && s->joint[i].end[side].vertex < 0; p++)
                s->anchor[s->anchor_count++] = (struct tac_joint_anchor){s->joint[i].end[side].point[p], i, p};
    TAC_CHECK((size_t)s->anchor_count == n);
    qsort(s->anchor, n, sizeof *s->anchor, by_vertex);
done:
    return err;
}

enum tac_err tac_scene_check_joints(struct tac_reader *reader)
{
    struct tac_settings *s = reader->scene->settings;
    enum tac_err err = TAC_OK;
    if (s->joint_count == 0)
        return TAC_OK;
    for (tac_lid i = 0; i < s->joint_count; i++) {
        struct tac_joint *joint = &s->joint[i];
        char where[TAC_WHERE];
        tac_where_index(where, "joints", (size_t)i);
        for (int side = 0; side < 2; side++)
            TAC_TRY(check_end(reader, joint, where, side));
        if (joint->end[0].vertex >= 0 && joint->end[1].vertex >= 0)
            TAC_TRY(tac_scene_fail(reader, where, "joins two vertices; one of a and b must be a rigid body"));
        if (joint->end[0].vertex >= 0 && joint->end[1].body < 0)
            TAC_TRY(tac_scene_fail(reader, where, "ties a vertex to the world; hold the vertex by a motion"));
        bool rigid = false;
        for (int side = 0; side < 2; side++)
            rigid |= joint->end[side].body >= 0 && s->body[joint->end[side].body].rigid >= 0;
        if (!rigid)
            TAC_TRY(tac_scene_fail(reader, where, "joins nothing that is rigid; one of a and b must be a rigid body"));
        if (joint->end[0].body == joint->end[1].body)
            TAC_TRY(tac_scene_fail(reader, where, "joins \"%.60s\" with itself; give another body",
                                   s->body[joint->end[0].body].name));
        for (int side = 0; side < 2; side++)
            if (joint->end[side].vertex >= 0)
                joint->end[side].point[0] = s->body[joint->end[side].body].vertex_begin + joint->end[side].vertex;
        TAC_TRY(check_places(reader, joint, where));
    }
    TAC_TRY(list_anchors(reader));
done:
    return err;
}

enum tac_err tac_scene_check_joined(struct tac_reader *reader)
{
    const struct tac_settings *s = reader->scene->settings;
    for (tac_lid i = 0; i < s->joint_count; i++)
        for (int side = 0; side < 2; side++) {
            const struct tac_joint_end *end = &s->joint[i].end[side];
            char where[TAC_WHERE], place[TAC_WHERE];
            if (end->body < 0 || end->vertex >= 0 || s->body[end->body].rigid >= 0 ||
                !reader->scene->mesh->ever_free[end->point[0]])
                continue;
            tac_where_index(where, "joints", (size_t)i);
            tac_where(place, where, SIDE[side]);
            return tac_scene_fail(
                reader, place,
                "has \"at\", but \"%.60s\" is neither rigid, nor fixed, nor moved as a whole for ever "
                "by a path or a rotation; give a vertex of it by \"vertex\", or make it \"rigid\"",
                s->body[end->body].name);
        }
    return TAC_OK;
}
