/* check_summary.c: writes the ten plain lines with which `tactus check` begins, from the report. */
#include <tactus/check.h>

#include "forecast/forecast.h"
#include <math.h>
#include <string.h>

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static long long whole(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found != NULL ? found : "";
}

/* What a body is, in a word. */
static const char *kind_of(const json_t *body)
{
    const bool solid = json_object_get(body, "tetrahedra") != NULL;
    if (whole(body, "free") == 0)
        return whole(body, "scripted") > 0 ? "moved obstacle" : "fixed obstacle";
    return json_is_true(json_object_get(body, "rigid")) ? "rigid body"
           : solid                                      ? "solid"
           : whole(body, "triangles") > 0               ? "cloth or shell"
           : whole(body, "segments") > 0                ? "rope or net"
                                                        : "particles";
}

/* Of a scene that tells its units; the names of SI stand for them in what follows. */
static void print_units(FILE *out, const json_t *report)
{
    const json_t *u = json_object_get(report, "units");
    if (u == NULL)
        return;
    fprintf(out, "units      %s, %s, %s; forces in %s, pressures in %s, energies in %s", text_of(u, "length"),
            text_of(u, "mass"), text_of(u, "time"), text_of(u, "force"), text_of(u, "pressure"), text_of(u, "energy"));
    const bool si = strcmp(text_of(u, "length"), "m") == 0 && strcmp(text_of(u, "mass"), "kg") == 0 &&
                    strcmp(text_of(u, "time"), "s") == 0;
    fputs(si ? "\n" : " (below, \"m\", \"kg\", \"s\" and \"N\" stand for them)\n", out);
}

static void print_bodies_line(FILE *out, const json_t *report)
{
    enum { SHOWN = 4 };
    const json_t *bodies = json_object_get(report, "bodies");
    const size_t count = json_array_size(bodies);
    fprintf(out, "what       %lldD: ", whole(report, "dimensions"));
    for (size_t k = 0; k < count && k < SHOWN; k++) {
        const json_t *body = json_array_get(bodies, k);
        fprintf(out, "%s%s \"%s\" (", k > 0 ? ", " : "", kind_of(body), text_of(body, "name"));
        if (json_object_get(body, "pieces") != NULL)
            fprintf(out, "%lld pieces, ", whole(body, "pieces"));
        fprintf(out, "%lld vertices)", whole(body, "vertices"));
    }
    if (count > SHOWN)
        fprintf(out, ", and %zu more", count - SHOWN);
    fputc('\n', out);
}

static void print_size(FILE *out, const json_t *report)
{
    const json_t *vertices = json_object_get(report, "vertices"), *box = json_object_get(report, "box");
    double side[3];
    for (size_t k = 0; k < 3; k++)
        side[k] = json_number_value(json_array_get(json_array_get(box, 1), k)) -
                  json_number_value(json_array_get(json_array_get(box, 0), k));
    fprintf(out, "size       %.3g x %.3g x %.3g m; %lld vertices move freely, %lld are scripted, %lld fixed; %.4g kg\n",
            side[0], side[1], side[2], whole(vertices, "free"), whole(vertices, "scripted"), whole(vertices, "fixed"),
            number_of(report, "mass"));
}

static void print_pushes(FILE *out, const json_t *report)
{
    const json_t *g = json_object_get(report, "gravity");
    const size_t motions = json_array_size(json_object_get(report, "motions")),
                 loads = json_array_size(json_object_get(report, "loads"));
    double v[3];
    for (size_t k = 0; k < 3; k++)
        v[k] = json_number_value(json_array_get(g, k));
    fputs("driven by  ", out);
    if (v[0] == 0 && v[1] == 0 && v[2] == 0)
        fputs("no gravity", out);
    else
        fprintf(out, "gravity (%g, %g, %g) m/s^2", v[0], v[1], v[2]);
    fprintf(out, ", %zu motion%s, %zu load%s\n", motions, motions == 1 ? "" : "s", loads, loads == 1 ? "" : "s");
}

static void print_joints_line(FILE *out, const json_t *report)
{
    enum { SHOWN = 3 };
    const json_t *joints = json_object_get(report, "joints");
    const size_t count = json_array_size(joints);
    for (size_t k = 0; k < count && k < SHOWN; k++) {
        const json_t *j = json_array_get(joints, k);
        fprintf(out, "%s \"%s\" (%s): slack %g m, its first layer ticks every %.3g s and oscillates at %.3g Hz\n",
                k == 0 ? "joints    " : "          ", text_of(j, "name"), text_of(j, "kind"), number_of(j, "slack"),
                number_of(j, "period"), number_of(j, "frequency"));
    }
    if (count > SHOWN)
        fprintf(out, "           and %zu more\n", count - SHOWN);
}

static void print_contact_line(FILE *out, const json_t *report, bool implicit)
{
    const json_t *contact = json_object_get(report, "contact"), *of = json_object_get(report, "integrator");
    char friction[64];
    if (number_of(contact, "thickness") == 0) {
        fputs("contact    none: contact.thickness is 0\n", out);
        return;
    }
    tac_check_friction(contact, friction);
    fprintf(out, "contact    thickness %g m, friction %s, ", number_of(contact, "thickness"), friction);
    if (strcmp(text_of(of, "kind"), "impact") == 0)
        fprintf(out, "restitution %g\n", number_of(contact, "restitution"));
    else if (!implicit)
        fprintf(out, "stiffness %g N/m, restitution %g\n", number_of(contact, "stiffness"),
                number_of(contact, "restitution"));
    else if (number_of(of, "stiffness") > 0)
        fprintf(out, "barrier of stiffness %g, weights by %s\n", number_of(of, "stiffness"), text_of(of, "weights"));
    else
        fprintf(out, "barrier whose stiffness is found by the program, weights by %s\n", text_of(of, "weights"));
}

static void print_integrator_line(FILE *out, const json_t *report, bool implicit)
{
    const json_t *of = json_object_get(report, "integrator"), *periods = json_object_get(report, "periods");
    if (strcmp(text_of(of, "kind"), "impact") == 0)
        fprintf(out, "integrator impact, by integrator.kind (what bounces at once): steps, %.0f of %g s, %s\n",
                number_of(json_object_get(report, "steps"), "count"), number_of(of, "step_s"), text_of(of, "operator"));
    else if (implicit)
        fprintf(out,
                "integrator implicit, by integrator.kind (for stiff or slow scenes; it damps): steps, %.0f of "
                "%g s, %s\n",
                number_of(json_object_get(report, "steps"), "count"), number_of(of, "step_s"), text_of(of, "scheme"));
    else if (json_array_size(periods) > 0)
        fprintf(out,
                "integrator asynchronous, the usual one: steps from %.3g s; exact balances, impacts; for what is stiff "
                "and slow try \"implicit\"\n",
                number_of(json_array_get(periods, 0), "period"));
    else
        fputs("integrator asynchronous, the usual one: exact balances, impacts; nothing is elastic here\n", out);
}

/* With the first pair of bodies that cross although nothing keeps them apart (docs/explanation/audit.md). */
static void print_wrong(FILE *out, const json_t *report, int64_t warnings)
{
    const json_t *exempt = json_object_get(report, "exempt"), *list = json_object_get(exempt, "list");
    const char *s = warnings == 1 ? "" : "s", *more = whole(exempt, "crossing") > 1 ? ", and others" : "";
    size_t k = 0;
    while (k < json_array_size(list) && whole(json_array_get(list, k), "crossing") == 0)
        k++;
    const char *one = text_of(json_array_get(list, k), "a"), *two = text_of(json_array_get(list, k), "b");
    const char *quote = strcmp(one, two) == 0 ? "" : "\"";
    if (warnings > 0)
        fprintf(out, "wrong      %lld thing%s may be: see the warning%s", (long long)warnings, s, s);
    else
        fputs("wrong      nothing was found", out);
    if (k < json_array_size(list))
        fprintf(out, "; \"%s\" and %s%s%s cross%s", one, quote, quote[0] ? two : "itself", quote, more);
    fputs("; no surfaces overlap at the start\n", out);
}

/* "27 s (20 s to 40 s)" */
static void print_span(FILE *out, const json_t *span, struct tac_amount (*show)(double))
{
    fprintf(out, "%s", show(number_of(span, "likely")).text);
    fprintf(out, " (%s", show(number_of(span, "least")).text);
    fprintf(out, " to %s)", show(number_of(span, "most")).text);
}

static void print_cost(FILE *out, const json_t *report)
{
    const json_t *f = json_object_get(report, "forecast"), *disk = json_object_get(f, "disk");
    const json_t *pilot = json_object_get(f, "pilot"), *ticks = json_object_get(f, "ticks");
    const char *note = text_of(pilot, "note");
    const struct tac_amount frames = tac_show_bytes(number_of(disk, "frames") + number_of(disk, "checkpoints"));
    if (json_is_object(pilot)) {
        fputs("cost       about ", out);
        print_span(out, json_object_get(f, "wall_s"), tac_show_seconds);
        fprintf(out, " on %lld rank%s, ", whole(pilot, "ranks"), whole(pilot, "ranks") == 1 ? "" : "s");
        print_span(out, json_object_get(f, "memory_span"), tac_show_bytes);
        fprintf(out, " of memory, %s of disk%s%s\n", frames.text, note[0] != '\0' ? "; " : "", note);
        return;
    }
    if (json_is_object(ticks))
        fprintf(out, "cost       %.3g ticks and those of contact",
                number_of(ticks, "elastic") + number_of(ticks, "other"));
    else
        fprintf(out, "cost       %.0f steps", number_of(f, "steps"));
    fprintf(out, ", %s of memory and that of contacts", tac_show_bytes(number_of(f, "memory")).text);
    fprintf(out, ", at most %s of disk; --pilot 20 estimates the time\n", frames.text);
}

void tac_check_summary(FILE *out, const char *path, const json_t *report, int64_t warnings)
{
    const json_t *time = json_object_get(report, "time");
    const bool implicit = strcmp(text_of(json_object_get(report, "integrator"), "kind"), "implicit") == 0;
    fprintf(out, "scene      %s", path);
    if (text_of(report, "name")[0] != '\0')
        fprintf(out, ": \"%s\"", text_of(report, "name"));
    fputc('\n', out);
    print_units(out, report);
    print_bodies_line(out, report);
    print_size(out, report);
    print_pushes(out, report);
    print_joints_line(out, report);
    print_contact_line(out, report, implicit);
    fprintf(out, "time       %g s in %lld frames, one every %g s\n", number_of(time, "end"), whole(time, "frames"),
            number_of(time, "frame"));
    print_integrator_line(out, report, implicit);
    print_wrong(out, report, warnings);
    print_cost(out, report);
    fputs("more       --details prints materials, bodies, periods, layers and what costs most; --json prints "
          "everything\n",
          out);
}
