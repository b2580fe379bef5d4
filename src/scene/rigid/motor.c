/* motor.c: reads the motors of hinges (docs/explanation/joints.md, Motors). */
#include "scene/period.h"
#include "scene/scene_read.h"

#include <tactus/math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define AT(member) offsetof(struct tac_motor_settings, member)

static const struct tac_field motor_fields[] = {
    {.key = "torque", .kind = TAC_FIELD_NUMBER, .offset = AT(target), .fallback = NAN, .min = -1e50, .max = 1e50},
    {.key = "speed", .kind = TAC_FIELD_NUMBER, .offset = AT(target), .fallback = NAN, .min = -1e9, .max = 1e9},
    {.key = "position", .kind = TAC_FIELD_NUMBER, .offset = AT(target), .fallback = NAN, .min = -1e9, .max = 1e9},
    {.key = "most", .kind = TAC_FIELD_NUMBER, .offset = AT(most), .fallback = NAN, .max = 1e50, .min_open = true},
    {.key = "stiffness",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(stiffness),
     .fallback = NAN,
     .max = 1e50,
     .min_open = true},
    {.key = "damping", .kind = TAC_FIELD_NUMBER, .offset = AT(damping), .fallback = NAN, .max = 1e50},
    {.key = "path", .kind = TAC_FIELD_OTHER},
};

/* Refuses a key that this kind of motor does not have. */
static enum tac_err refuse(struct tac_reader *reader, const json_t *value, const char *where, const char *key,
                           const char *kind)
{
    char place[TAC_WHERE];
    tac_where(place, where, key);
    return json_object_get(value, key) == NULL
               ? TAC_OK
               : tac_scene_fail(reader, place, "has no meaning for a motor with \"%s\"; leave it out", kind);
}

static enum tac_err find_kind(struct tac_reader *reader, const json_t *value, const char *where,
                              struct tac_motor_settings *m)
{
    static const char *const kind[] = {"torque", "speed", "position"};
    enum tac_err err = TAC_OK;
    int kinds = 0;
    for (int k = 0; k < 3; k++)
        if (json_object_get(value, kind[k]) != NULL) {
            m->kind = (enum tac_motor_kind)(TAC_MOTOR_TORQUE + k);
            kinds++;
        }
    if (kinds != 1)
        return tac_scene_fail(reader, where, "must have either \"torque\", \"speed\" or \"position\"%s",
                              kinds > 0 ? ", only one of them" : "");
    const char *name = kind[m->kind - TAC_MOTOR_TORQUE];
    if (m->kind == TAC_MOTOR_TORQUE)
        TAC_TRY(refuse(reader, value, where, "most", name));
    if (m->kind != TAC_MOTOR_POSITION) {
        TAC_TRY(refuse(reader, value, where, "stiffness", name));
        TAC_TRY(refuse(reader, value, where, "damping", name));
    }
    if (m->kind == TAC_MOTOR_SPEED && json_object_get(value, "most") == NULL)
        return tac_scene_fail(reader, where, "has \"speed\" and needs \"most\", the largest torque, N m");
    if (m->kind == TAC_MOTOR_POSITION && json_object_get(value, "stiffness") == NULL)
        return tac_scene_fail(reader, where, "has \"position\" and needs \"stiffness\", N m/rad");
done:
    return err;
}

enum tac_err tac_scene_read_motor(struct tac_reader *reader, json_t *object, const char *where, struct tac_joint *joint)
{
    json_t *value = json_object_get(object, "motor");
    struct tac_motor_settings *m = &joint->motor;
    char place[TAC_WHERE], path[TAC_WHERE];
    enum tac_err err = TAC_OK;
    if (value == NULL)
        return TAC_OK;
    tac_where(place, where, "motor");
    tac_where(path, place, "path");
    if (joint->kind != TAC_JOINT_HINGE)
        return tac_scene_fail(reader, place, "turns a hinge, and \"kind\" is \"%s\"; leave it out",
                              json_string_value(json_object_get(object, "kind")));
    m->most = INFINITY;
    m->damping = -1;
    TAC_TRY(tac_fields_read(reader, value, place, motor_fields, COUNT(motor_fields), m));
    TAC_TRY(find_kind(reader, value, place, m));
    if (json_object_get(value, "path") != NULL)
        TAC_TRY(tac_scene_read_factors(reader, json_object_get(value, "path"), path, &m->knot_t_s, &m->knot_count,
                                       &m->factor));
done:
    return err;
}

/* How much a unit of torque about the joint's axis turns a body that is free, 1/(kg m^2). */
static double inverse_inertia(const struct tac_settings *s, const struct tac_joint *joint, int side)
{
    if (joint->end[side].body < 0 || s->body[joint->end[side].body].rigid < 0)
        return 0; /* the world, or a body that is held */
    const struct tac_rigid_body *rigid = &s->rigid[s->body[joint->end[side].body].rigid];
    const double sum = rigid->second[0] + rigid->second[1] + rigid->second[2];
    double inverse = 0;
    for (int k = 0; k < 3; k++) {
        const double along = tac_dot(joint->axis, rigid->axis[k]);
        inverse += along * along / (sum - rigid->second[k]);
    }
    return inverse;
}

static enum tac_err refuse_static(struct tac_reader *reader, size_t joint)
{
    char where[TAC_WHERE], place[TAC_WHERE];
    tac_where_index(where, "joints", joint);
    tac_where(place, where, "motor");
    return tac_scene_fail(reader, place,
                          "has no meaning with integrator.scheme \"static\", in which nothing has a speed; take "
                          "\"euler\", or push the body by loads");
}

enum tac_err tac_scene_set_motors(struct tac_reader *reader)
{
    struct tac_settings *s = reader->scene->settings;
    for (tac_lid i = 0; i < s->joint_count; i++) {
        struct tac_joint *joint = &s->joint[i];
        struct tac_motor_settings *m = &joint->motor;
        if (m->kind == TAC_MOTOR_NONE)
            continue;
        m->inertia = 1 / (inverse_inertia(s, joint, 0) + inverse_inertia(s, joint, 1));
        if (m->kind == TAC_MOTOR_POSITION && m->damping < 0)
            m->damping = 2 * sqrt(m->stiffness * m->inertia);
        if (s->integrator == TAC_INTEGRATOR_IMPLICIT) { /* it has no ticks */
            if (s->implicit.scheme == TAC_IMPLICIT_STATIC)
                return refuse_static(reader, (size_t)i);
            continue;
        }
        if (s->motor_s == 0)
            s->motor_s = s->clocks.gravity_s;
        if (m->kind != TAC_MOTOR_POSITION)
            continue;
        /* Damping takes no more than a fifth of the speed in a tick, and a tick is a small part of the oscillation. */
        s->motor_s = fmin(s->motor_s, .1 * sqrt(m->inertia / m->stiffness));
        if (m->damping > 0)
            s->motor_s = fmin(s->motor_s, .2 * m->inertia / m->damping);
        if (tac_clock_period(reader->scene, s->motor_s) < 4096) {
            char where[TAC_WHERE], place[TAC_WHERE];
            tac_where_index(where, "joints", (size_t)i);
            tac_where(place, where, "motor");
            return tac_scene_fail(reader, place,
                                  "needs a period of %.3g s, under 2^12 quanta (%.3g s); make it less stiff or damped",
                                  s->motor_s, 4096 * s->quantum_s);
        }
    }
    if (s->motor_s > 0 && tac_clock_period(reader->scene, s->motor_s) < 4096)
        return tac_scene_fail(reader, "clocks.gravity_s", "is %g s, under 2^12 quanta (%g s); make it longer",
                              s->clocks.gravity_s, 4096 * s->quantum_s);
    return TAC_OK;
}
