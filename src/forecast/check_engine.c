/* check_engine.c: reports the clocks and the layers of contact that a scene gets, and whether it starts with
 * overlaps. */
#include "contact/joint_pairs.h"
#include "contact/model.h"
#include "elements/elastic.h"
#include "forecast/rest.h"
#include "overlap/overlap.h"
#include "scene/period.h"
#include <math.h>
#include <tactus/check.h>
#include <tactus/math.h>
#include <tactus/report.h>

static enum tac_err fail_no_memory(struct tac_ctx *ctx)
{
    return tac_fail(ctx, TAC_ERR_RUN, "out of memory while describing the scene");
}

/* Lists the rate classes by ascending period. Free clocks may have thousands; the text shows the first dozen. */
static enum tac_err describe_classes(struct tac_ctx *ctx, const struct tac_elastic *elastic, json_t *report, FILE *text)
{
    enum { SHOWN = 12 };
    json_t *list = json_array();
    double ticks = 0, one_rate = 0;
    for (size_t i = 0; i < elastic->class_count; i++) {
        const struct tac_rate_class *rate = &elastic->rate[i];
        json_t *item = json_pack("{s:o}", "period", tac_json_real(rate->h_s));
        if (text && i < SHOWN)
            fprintf(text, "%-10s %.6g s:", i == 0 ? "periods" : "", rate->h_s);
        for (int k = TAC_KIND_GRAVITY; k < TAC_KINDS; k++) {
            const size_t count = tac_class_count(rate, k);
            if (count == 0)
                continue;
            tac_json_put(&item, elastic->kind_name[k], json_integer((json_int_t)count));
            ticks += (double)count / rate->h_s;
            one_rate += (double)count / elastic->rate[0].h_s;
            if (text && i < SHOWN)
                fprintf(text, " %zu %s", count, elastic->kind_name[k]);
        }
        if (text && i < SHOWN)
            fputc('\n', text);
        tac_json_append(&list, item);
    }
    if (text && elastic->class_count > SHOWN)
        fprintf(text, "           and %zu periods more\n", elastic->class_count - SHOWN);
    if (text && one_rate > 0)
        fprintf(text, "ticks      %.4g a second, %.0f %% of what one clock for all would take\n", ticks,
                100 * ticks / one_rate);
    const int failed = json_object_set_new(report, "periods", list) |
                       json_object_set_new(report, "ticks_per_second", tac_json_real(ticks));
    return failed ? fail_no_memory(ctx) : TAC_OK;
}

/* The first layer groups of the layer stack for the lightest vertex against something fixed: the fastest that such a
 * pair can be. */
static enum tac_err describe_layers(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_model *model,
                                    json_t *report, FILE *text)
{
    enum { SHOWN = 5 };
    enum tac_err err = TAC_OK;
    if (!(scene->settings->contact.thickness > 0) || !(model->h1_max_s > 0))
        goto done;
    json_t *list = json_array();
    for (int side = 0; side < 2; side++) {
        struct tac_form form = {.thickness = scene->settings->contact.thickness,
                                .h_s = side == 0 ? model->h1_min_s : model->h1_max_s,
                                .stiffness = scene->settings->contact.stiffness};
        double shortest =
            fmax(scene->settings->contact.min_period_s > 0 ? scene->settings->contact.min_period_s : form.h_s * 0x1p-20,
                 4096 * scene->settings->quantum_s);
        for (form.bottom = 1;
             form.bottom + 1 < model->layer_count && form.h_s / sqrt(model->sum[form.bottom + 1]) >= shortest;)
            form.bottom++;
        if (text)
            fprintf(text, "%-10s %s: %d layers, down to %.3g m\n", side == 0 ? "layers" : "",
                    side == 0 ? "fastest pair" : "slowest pair", form.bottom,
                    form.thickness * model->reach[form.bottom + 1]);
        json_t *groups = json_array();
        int32_t last = 0;
        for (int32_t l = 1, n = 0; l <= form.bottom && n < SHOWN; l = last + 1, n++) {
            double h = (double)tac_model_layer_group(model, &form, l, &last) * scene->settings->quantum_s;
            double reach = form.thickness * model->reach[l], stiffness = form.stiffness * model->rate[l];
            if (text)
                fprintf(text, "           layers %d..%d: eta %.4g m, r %.4g N/m, period %.4g s\n", l, last, reach,
                        stiffness, h);
            tac_json_append(&groups, json_pack("{s:i, s:i, s:o, s:o, s:o}", "first", (int)l, "last", (int)last,
                                               "thickness", tac_json_real(reach), "stiffness", tac_json_real(stiffness),
                                               "period", tac_json_real(h)));
        }
        tac_json_append(&list, json_pack("{s:s, s:i, s:o}", "pair", side == 0 ? "fastest" : "slowest", "layers",
                                         (int)form.bottom, "layer_groups", groups));
    }
    if (json_object_set_new(report, "layer_stack", list) != 0)
        err = fail_no_memory(ctx);
done:
    return err;
}

/* Reports how deep weight will press the layers, and warns if it is deeper than it should be. */
static enum tac_err describe_rest(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_model *model,
                                  json_t *report, FILE *text)
{
    enum tac_err err;
    struct tac_rest r;
    json_t *object = json_null();
    TAC_TRY(tac_estimate_rest(ctx, scene, model, &r));
    if (r.body >= 0) {
        const char *body = scene->settings->body[r.body].name, *under = scene->settings->body[r.under].name;
        object =
            json_pack("{s:s, s:s, s:o, s:o, s:o, s:i}", "body", body, "under", under, "weight", tac_json_real(r.weight),
                      "places", tac_json_real(r.places), "force", tac_json_real(r.force), "layer", (int)r.layer);
        if (text)
            fprintf(text, "rest       \"%s\" on \"%s\", with some %.2g N a vertex (on %.0f): presses layer %d\n", body,
                    under, r.force, r.places, (int)r.layer);
        if (r.layer > TAC_REST_LAYER)
            tac_warn(
                ctx,
                "body \"%s\" will rest on \"%s\" with some %.2g N a vertex (on %.0f), which presses layer %d: deep "
                "layers "
                "need short periods and tremble; let the contact stiffness of the two be %.3g N/m instead of %.3g, or "
                "contact.thickness %.3g m instead of %.3g",
                body, under, r.force, r.places, (int)r.layer, 1.1 * r.enough_stiffness, r.stiffness,
                1.1 * r.enough_thickness, scene->settings->contact.thickness);
    }
    if (json_object_set_new(report, "rest", object) != 0)
        err = fail_no_memory(ctx);
done:
    return err;
}

/* Reports the joints: how often their first layers tick, and how fast they oscillate. */
static enum tac_err describe_joints(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_model *model,
                                    json_t *report)
{
    static const char *const kind[] = {"ball", "hinge", "weld", "slider"};
    json_t *list = json_array();
    for (tac_lid i = 0; i < scene->settings->joint_count; i++) {
        const struct tac_joint *joint = &scene->settings->joint[i];
        double h_s = INFINITY, w = 0;
        for (int p = 0; p < joint->pairs; p++) {
            tac_lid v[4];
            struct tac_form form;
            enum tac_pair_type type;
            (void)tac_joint_pair(scene, i, p, &type, v); /* the scene is whole here */
            tac_model_form(model, type, v, &form);
            h_s = fmin(h_s, form.h_s);
            w = fmax(w, tac_joint_inverse_mass(model, type, v));
        }
        const double period = (double)tac_clock_period(scene, h_s) * scene->settings->quantum_s;
        tac_json_append(&list, json_pack("{s:s, s:s, s:f, s:f, s:f, s:o, s:o}", "name", joint->name, "kind",
                                         kind[joint->kind], "slack", joint->slack, "stiffness", joint->stiffness,
                                         "restitution", joint->restitution, "period", tac_json_real(period),
                                         "frequency", tac_json_real(sqrt(w * joint->stiffness) / (2 * TAC_PI))));
    }
    return json_object_set_new(report, "joints", list) == 0 ? TAC_OK : fail_no_memory(ctx);
}

/* Warns of gravity that ticks less often than the first layers: it shakes resting bodies, and friction slips a little
 * at each shake. */
static enum tac_err describe_shake(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_model *model,
                                   const struct tac_elastic *elastic, json_t *report, FILE *text)
{
    enum tac_err err = TAC_OK;
    double gravity = 0, first = 0;
    for (size_t i = 0; i < elastic->class_count; i++)
        if (elastic->rate[i].pulled)
            gravity = elastic->rate[i].h_s;
    if (model->friction && gravity > 0 && model->first_s < INFINITY)
        first = (double)tac_clock_period(scene, model->first_s) * scene->settings->quantum_s;
    const bool shakes = first > 0 && gravity > first;
    if (text && shakes)
        fprintf(text,
                "shake      gravity ticks every %.4g s, the fastest first layers every %.4g s: what friction holds may "
                "creep;\n           clocks.gravity_s = %.4g holds it better\n",
                gravity, first, first);
    if (json_object_set_new(
            report, "shake",
            shakes ? json_pack("{s:o, s:o}", "gravity", tac_json_real(gravity), "first_layer", tac_json_real(first))
                   : json_null()) != 0)
        err = fail_no_memory(ctx);
    return err;
}

/* Integrators with steps have neither clocks nor layers. */
static enum tac_err describe_steps(struct tac_ctx *ctx, const struct tac_scene *scene, json_t *report, FILE *text)
{
    const bool impact = scene->settings->integrator == TAC_INTEGRATOR_IMPACT;
    const double step_s = impact ? scene->settings->impact.step_s : scene->settings->implicit.step_s;
    const double steps = floor(scene->settings->end_s / step_s + .5);
    static const char *const scheme[] = {"implicit Euler", "Newmark", "BDF2", "quasi-static"};
    static const char *const kind[] = {"generalised reflections", "one impulse for all", "Gauss-Seidel", "Jacobi"};
    struct tac_model *model = NULL;
    const enum tac_err err = tac_model_create(ctx, scene, &model); /* it refuses what a run would */
    tac_model_destroy(&model);
    if (err)
        return err;
    if (text)
        fprintf(text, "steps      %.0f of %g s, %s\n", steps, step_s,
                impact ? kind[scene->settings->impact.kind] : scheme[scene->settings->implicit.scheme]);
    if (json_object_set_new(report, "steps", json_pack("{s:f, s:f}", "count", steps, "step_s", step_s)) != 0)
        return fail_no_memory(ctx);
    return TAC_OK;
}

/* What only the asynchronous integrator has. */
static enum tac_err describe_asynchronous(struct tac_ctx *ctx, const struct tac_scene *scene, json_t *report,
                                          FILE *text)
{
    enum tac_err err;
    struct tac_elastic *elastic = NULL;
    struct tac_model *model = NULL;
    TAC_TRY(tac_elastic_create(ctx, scene, &elastic));
    TAC_TRY(tac_model_create(ctx, scene, &model)); /* once: a layer stack may have a million layers */
    TAC_TRY(describe_classes(ctx, elastic, report, text));
    TAC_TRY(describe_layers(ctx, scene, model, report, text));
    TAC_TRY(describe_rest(ctx, scene, model, report, text));
    TAC_TRY(describe_shake(ctx, scene, model, elastic, report, text));
    if (scene->settings->joint_count > 0)
        TAC_TRY(describe_joints(ctx, scene, model, report));
done:
    tac_model_destroy(&model);
    tac_elastic_destroy(&elastic);
    return err;
}

enum tac_err tac_check_engine(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, json_t *report,
                              FILE *text)
{
    enum tac_err err;
    const bool implicit = scene->settings->integrator != TAC_INTEGRATOR_ASYNCHRONOUS;
    TAC_TRY((implicit ? describe_steps : describe_asynchronous)(ctx, scene, report, text));
    TAC_TRY(tac_overlap_check(ctx, scene, dir));
    TAC_TRY(tac_overlap_check_knots(ctx, scene, NULL));
    if (text)
        fprintf(text, "start      no surfaces overlap\n");
    if (json_object_set_new(report, "overlaps", json_integer(0)) != 0)
        err = fail_no_memory(ctx);
done:
    return err;
}
