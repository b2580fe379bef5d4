/* units.c: reads the system of units that a scene declares. Numbers are never converted. The names are used where
 * numbers are shown, and the factors by the warnings about implausible numbers. */
#include "scene/scene_read.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A unit in that of SI (kg for masses): si, which is 10^power; OTHER: it is no power of ten. */
enum { OTHER = 127 };
struct unit {
    const char *name;
    double si;
    int power;
};

static const struct unit lengths[] = {{"m", 1, 0},      {"km", 1e3, 3},       {"dm", .1, -1},
                                      {"cm", 1e-2, -2}, {"mm", 1e-3, -3},     {"um", 1e-6, -6},
                                      {"nm", 1e-9, -9}, {"in", .0254, OTHER}, {"ft", .3048, OTHER}};
static const struct unit masses[] = {{"kg", 1, 0},     {"t", 1e3, 3},    {"g", 1e-3, -3},
                                     {"mg", 1e-6, -6}, {"ug", 1e-9, -9}, {"lb", .45359237, OTHER}};
static const struct unit times[] = {{"s", 1, 0},      {"ms", 1e-3, -3},   {"us", 1e-6, -6},
                                    {"ns", 1e-9, -9}, {"min", 60, OTHER}, {"h", 3600, OTHER}};

static const char *const length_names[] = {"m", "km", "dm", "cm", "mm", "um", "nm", "in", "ft", NULL};
static const char *const mass_names[] = {"kg", "t", "g", "mg", "ug", "lb", NULL};
static const char *const time_names[] = {"s", "ms", "us", "ns", "min", "h", NULL};
_Static_assert(COUNT(length_names) == COUNT(lengths) + 1 && COUNT(mass_names) == COUNT(masses) + 1 &&
                   COUNT(time_names) == COUNT(times) + 1,
               "a scene may name each of the units");

/* Which of them a scene names. */
struct chosen {
    int length, mass, time;
};

static const struct tac_field units_fields[] = {
    {.key = "length",
     .kind = TAC_FIELD_CHOICE,
     .offset = offsetof(struct chosen, length),
     .choice = length_names,
     .required = true},
    {.key = "mass",
     .kind = TAC_FIELD_CHOICE,
     .offset = offsetof(struct chosen, mass),
     .choice = mass_names,
     .required = true},
    {.key = "time",
     .kind = TAC_FIELD_CHOICE,
     .offset = offsetof(struct chosen, time),
     .choice = time_names,
     .required = true},
};

/* A derived unit: the SI name with a prefix where the factor is a power of 1000 that has one, else the product. */
static void derive(char name[TAC_UNIT_NAME], const char *si, int power, bool decimal, const char *product)
{
    static const char *const prefix[] = {"p", "n", "u", "m", "", "k", "M", "G", "T"};
    const int place = power / 3 + 4;
    if (decimal && power % 3 == 0 && place >= 0 && place < (int)COUNT(prefix))
        snprintf(name, TAC_UNIT_NAME, "%s%s", prefix[place], si);
    else
        snprintf(name, TAC_UNIT_NAME, "%s", product);
}

static void set_units(struct tac_units *u, const struct unit *l, const struct unit *m, const struct unit *t)
{
    const bool decimal = l->power != OTHER && m->power != OTHER && t->power != OTHER;
    char product[TAC_UNIT_NAME];
    u->length_m = l->si;
    u->mass_kg = m->si;
    u->time_s = t->si;
    snprintf(u->length, sizeof u->length, "%s", l->name);
    snprintf(u->mass, sizeof u->mass, "%s", m->name);
    snprintf(u->time, sizeof u->time, "%s", t->name);
    snprintf(product, sizeof product, "%s %s/%s^2", m->name, l->name, t->name);
    derive(u->force, "N", m->power + l->power - 2 * t->power, decimal, product);
    snprintf(product, sizeof product, "%s/(%s %s^2)", m->name, l->name, t->name);
    derive(u->pressure, "Pa", m->power - l->power - 2 * t->power, decimal, product);
    snprintf(product, sizeof product, "%s %s^2/%s^2", m->name, l->name, t->name);
    derive(u->energy, "J", m->power + 2 * l->power - 2 * t->power, decimal, product);
}

enum tac_err tac_scene_read_units(struct tac_reader *reader, json_t *root)
{
    struct tac_units *u = &reader->scene->settings->units;
    json_t *units = json_object_get(root, "units");
    struct chosen chosen = {0, 0, 0};
    enum tac_err err = TAC_OK;
    u->given = units != NULL;
    if (json_is_string(units) && strcmp(json_string_value(units), "SI") != 0)
        TAC_TRY(tac_scene_fail(reader, "units",
                               "is \"%.40s\"; it must be \"SI\" or {\"length\": ..., \"mass\": ..., \"time\": ...}",
                               json_string_value(units)));
    if (units != NULL && !json_is_string(units))
        TAC_TRY(tac_fields_read(reader, units, "units", units_fields, COUNT(units_fields), &chosen));
    set_units(u, &lengths[chosen.length], &masses[chosen.mass], &times[chosen.time]);
done:
    return err;
}

json_t *tac_units_json(const struct tac_units *u)
{
    if (!u->given)
        return NULL;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "length", u->length, "mass", u->mass, "time", u->time, "force",
                     u->force, "pressure", u->pressure, "energy", u->energy);
}
