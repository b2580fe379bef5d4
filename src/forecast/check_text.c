/* check_text.c: writes the scene's part of `tactus check` as text, from the report, so that the two cannot differ. */
#include <tactus/check.h>

#include "forecast/forecast.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

static double real(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static long long count_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static const char *word(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void print_vector(FILE *text, const json_t *v)
{
    fprintf(text, "(%g, %g, %g)", json_number_value(json_array_get(v, 0)), json_number_value(json_array_get(v, 1)),
            json_number_value(json_array_get(v, 2)));
}

static void print_box(FILE *text, const json_t *box)
{
    print_vector(text, json_array_get(box, 0));
    fputs(" to ", text);
    print_vector(text, json_array_get(box, 1));
}

/* A value that the program finds where the scene does not give it. */
static void print_found(FILE *text, const char *name, double value, const char *unit)
{
    if (value > 0)
        fprintf(text, ", %s %g%s", name, value, unit);
    else
        fprintf(text, ", %s found by the program", name);
}

static void print_integrator(FILE *text, const json_t *report)
{
    const json_t *of = json_object_get(report, "integrator");
    if (strcmp(word(of, "kind"), "impact") == 0) {
        fprintf(text, "operator   %s, at most %lld reflections\n", word(of, "operator"), count_of(of, "most"));
        fprintf(text, "friction   %lld passes\nsolver     tolerance %g\n", count_of(of, "passes"),
                real(of, "solver_tolerance"));
        return;
    }
    if (strcmp(word(of, "kind"), "implicit") != 0) {
        fprintf(text, "clocks     %s; discovery %s\n", word(json_object_get(report, "clocks"), "mode"),
                word(json_object_get(report, "discovery"), "mode"));
        return;
    }
    fprintf(text, "newton     at most %lld iterations of a step", count_of(of, "max"));
    print_found(text, "velocity_tol", real(of, "velocity_tol"), " m/s");
    fprintf(text, "\nbarrier    weights by %s", word(of, "weights"));
    print_found(text, "stiffness", real(of, "stiffness"), "");
    fprintf(text, "\nfriction   %lld lags", count_of(of, "lags"));
    print_found(text, "smoothed under a velocity", real(of, "friction_velocity"), " m/s");
    fprintf(text, "\nsolver     %s, tolerance %g\n", word(of, "solver"), real(of, "solver_tolerance"));
}

void tac_check_friction(const json_t *law, char text[64])
{
    if (json_object_get(law, "kinetic") != NULL)
        snprintf(text, 64, "%g static, %g kinetic", real(law, "friction"), real(law, "kinetic"));
    else
        snprintf(text, 64, "%g", real(law, "friction"));
}

static void print_contact(FILE *text, const json_t *contact, bool implicit)
{
    size_t i;
    json_t *item;
    char friction[64];
    if (real(contact, "thickness") == 0) {
        fputs("contact    none: contact.thickness is 0\n", text);
        return;
    }
    tac_check_friction(contact, friction);
    if (implicit)
        fprintf(text, "contact    thickness %g m, friction %s\n", real(contact, "thickness"), friction);
    else
        fprintf(text, "contact    thickness %g m, stiffness %g N/m, restitution %g, friction %s\n",
                real(contact, "thickness"), real(contact, "stiffness"), real(contact, "restitution"), friction);
    json_array_foreach(json_object_get(contact, "laws"), i, item)
    {
        const json_t *materials = json_object_get(item, "materials");
        tac_check_friction(item, friction);
        fprintf(text, "law        \"%s\" and \"%s\": stiffness %g N/m, restitution %g, friction %s\n",
                json_string_value(json_array_get(materials, 0)), json_string_value(json_array_get(materials, 1)),
                real(item, "stiffness"), real(item, "restitution"), friction);
    }
    fputs("pairs      ", text);
    json_array_foreach(json_object_get(contact, "pairs"), i, item)
    {
        fprintf(text, "%s%s", i ? ", " : "", json_string_value(item));
    }
    fputs(json_array_size(json_object_get(contact, "pairs")) ? "\n" : "none: nothing can move\n", text);
    json_array_foreach(json_object_get(contact, "ignore"), i, item)
    {
        fprintf(text, "ignored    \"%s\" and \"%s\" may pass through each other\n",
                json_string_value(json_array_get(item, 0)), json_string_value(json_array_get(item, 1)));
    }
}

static void print_given(FILE *text, const json_t *object, const char *key, const char *unit)
{
    if (json_object_get(object, key))
        fprintf(text, " %s %g%s", key, real(object, key), unit);
}

static void print_materials(FILE *text, const json_t *materials)
{
    size_t i;
    json_t *m;
    json_array_foreach(materials, i, m)
    {
        json_t *stretch = json_object_get(m, "stretch"), *bend = json_object_get(m, "bend"),
               *solid = json_object_get(m, "solid");
        fprintf(text, "material   \"%s\": ", word(m, "name"));
        if (json_object_get(m, "density"))
            fprintf(text, "density %g", real(m, "density"));
        else
            fputs("no density", text);
        if (stretch != NULL)
            fprintf(text, ", stretch %s %g %s", word(stretch, "model"), real(stretch, "stiffness"),
                    strcmp(word(stretch, "model"), "cst") == 0 ? "N/m" : "N");
        print_given(text, stretch, "poisson", "");
        print_given(text, stretch, "damping", " s");
        print_given(text, stretch, "yield", "");
        print_given(text, stretch, "limit", "");
        print_given(text, stretch, "limit_principal", "");
        if (bend != NULL)
            fprintf(text, ", bend %s %g N m rest %s", word(bend, "model"), real(bend, "stiffness"), word(bend, "rest"));
        print_given(text, bend, "damping", " s");
        print_given(text, bend, "yield", " rad");
        if (solid != NULL)
            fprintf(text, ", solid %s %g Pa poisson %g", word(solid, "model"), real(solid, "youngs"),
                    real(solid, "poisson"));
        print_given(text, solid, "damping", " s");
        fputs("\n", text);
    }
}

static void print_bodies(FILE *text, const json_t *bodies)
{
    size_t i;
    json_t *b;
    json_array_foreach(bodies, i, b)
    {
        fprintf(text, "body       \"%s\": %lld vertices, %lld triangles, %lld segments", word(b, "name"),
                count_of(b, "vertices"), count_of(b, "triangles"), count_of(b, "segments"));
        if (json_object_get(b, "tetrahedra"))
            fprintf(text, ", %lld tetrahedra", count_of(b, "tetrahedra"));
        if (json_object_get(b, "material"))
            fprintf(text, ", material \"%s\"", word(b, "material"));
        if (real(b, "radius") > 0)
            fprintf(text, ", radius %g m", real(b, "radius"));
        if (count_of(b, "free") > 0)
            fprintf(text, ", mass %g kg", real(b, "mass"));
        if (json_is_true(json_object_get(b, "fixed")))
            fputs(", fixed", text);
        if (count_of(b, "scripted") > 0)
            fprintf(text, ", %lld scripted", count_of(b, "scripted"));
        if (json_is_false(json_object_get(b, "self")))
            fputs(", no contact with itself", text);
        fputs("\n           ", text);
        print_box(text, json_object_get(b, "box"));
        fputs(" m\n", text);
    }
}

static void print_motions(FILE *text, const json_t *motions)
{
    size_t i;
    json_t *m;
    json_array_foreach(motions, i, m)
    {
        fprintf(text, "motion     %s of %lld vertices of \"%s\", %lld knots from %g to %g s%s\n", word(m, "kind"),
                count_of(m, "vertices"), word(m, "body"), count_of(m, "knots"), real(m, "first"), real(m, "last"),
                json_is_true(json_object_get(m, "release")) ? ", free outside them" : "");
        if (json_object_get(m, "first_off"))
            fprintf(text, "           the placed mesh stands for the first knot, which is up to %.3g m off it\n",
                    real(m, "first_off"));
    }
}

static void print_loads(FILE *text, const json_t *report)
{
    const bool flat = count_of(report, "dimensions") == 2;
    size_t i;
    json_t *l;
    json_array_foreach(json_object_get(report, "loads"), i, l)
    {
        fprintf(text, "load       %s ", word(l, "kind"));
        if (json_object_get(l, "force")) {
            print_vector(text, json_object_get(l, "force"));
            fputs(" N each", text);
        } else if (json_object_get(l, "pressure")) {
            fprintf(text, "%g %s", real(l, "pressure"), flat ? "N/m" : "Pa");
        } else {
            print_vector(text, json_object_get(l, "wind"));
            fprintf(text, " m/s, drag %g %s,", real(l, "drag"), flat ? "kg/m^2" : "kg/m^3");
        }
        fprintf(text, " on %lld vertices of \"%s\"", count_of(l, "vertices"), word(l, "body"));
        if (count_of(l, "knots") > 0)
            fprintf(text, ", %lld knots from %g to %g s", count_of(l, "knots"), real(l, "first"), real(l, "last"));
        fputs("\n", text);
    }
}

void tac_check_print(FILE *text, const char *path, const json_t *report)
{
    const json_t *time = json_object_get(report, "time"), *vertices = json_object_get(report, "vertices");
    fprintf(text, "scene      %s", path);
    if (word(report, "name")[0])
        fprintf(text, ": \"%s\"", word(report, "name"));
    fprintf(text, "\nsha256     %s\n", word(report, "sha256"));
    fprintf(text, "time       end %g s, %lld frames every %g s, quantum %g s (2^%d)\n", real(time, "end"),
            count_of(time, "frames"), real(time, "frame"), real(time, "quantum_s"), ilogb(real(time, "quantum_s")));
    fprintf(text, "space      %lldD, ", count_of(report, "dimensions"));
    print_box(text, json_object_get(report, "box"));
    fputs(" m, gravity ", text);
    print_vector(text, json_object_get(report, "gravity"));
    fprintf(text, " m/s^2\nmesh       %lld vertices, %lld triangles, %lld segments, %lld edges, %lld hinges",
            count_of(vertices, "all"), count_of(report, "triangles"), count_of(report, "segments"),
            count_of(report, "edges"), count_of(report, "hinges"));
    if (count_of(report, "tetrahedra") > 0)
        fprintf(text, ", %lld tetrahedra", count_of(report, "tetrahedra"));
    fputs("\n", text);
    fprintf(text, "freedom    %lld degrees: %lld vertices free, %lld scripted, %lld fixed; mass %g kg\n",
            count_of(report, "degrees_of_freedom"), count_of(vertices, "free"), count_of(vertices, "scripted"),
            count_of(vertices, "fixed"), real(report, "mass"));
    print_contact(text, json_object_get(report, "contact"),
                  strcmp(word(json_object_get(report, "integrator"), "kind"), "implicit") == 0);
    print_integrator(text, report);
    print_materials(text, json_object_get(report, "materials"));
    print_bodies(text, json_object_get(report, "bodies"));
    print_motions(text, json_object_get(report, "motions"));
    print_loads(text, report);
}
