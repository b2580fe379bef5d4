/* levers.c: scales what a pilot measured to other values of the keys that may cost much (levers.h). */
#include "forecast/levers.h"
#include "contact/model.h"
#include "forecast/forecast.h"
#include "scene/accuracy.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Stiffnesses are tried at this part of what they are: half the ticks, where periods follow from them. */
static const double SOFTER = .25;

/* A scene with settings of its own: one level deep, and materials and laws. */
struct trial {
    struct tac_scene scene;
    struct tac_settings settings;
    struct tac_material *material; /* owned */
    struct tac_contact_law *law;   /* owned */
};

static enum tac_err copy_scene(struct tac_ctx *ctx, const struct tac_scene *scene, struct trial *t)
{
    enum tac_err err;
    const struct tac_settings *s = scene->settings;
    TAC_TRY(tac_alloc(ctx, (size_t)s->material_count, sizeof *t->material, &t->material));
    TAC_TRY(tac_alloc(ctx, (size_t)s->contact.law_count, sizeof *t->law, &t->law));
    t->scene = *scene;
    t->settings = *s;
    t->scene.settings = &t->settings;
    t->settings.material = t->material;
    t->settings.contact.law = t->law;
    for (tac_lid i = 0; i < s->material_count; i++)
        t->material[i] = s->material[i];
    for (tac_lid i = 0; i < s->contact.law_count; i++)
        t->law[i] = s->contact.law[i];
done:
    return err;
}

static void discard(struct trial *t)
{
    free(t->material);
    free(t->law);
    *t = (struct trial){.material = NULL};
}

/* A context for trials: the sentences of those that fail are of no interest, and no one is warned. */
static struct tac_ctx make_silent(const struct tac_ctx *ctx)
{
    struct tac_ctx own = *ctx;
    own.warned = NULL;
    own.quiet = true;
    return own;
}

/* The shortest period of first layers; 0: the scene has no contact, or its periods are too short. */
static enum tac_err find_first_layer(struct tac_ctx *ctx, const struct tac_scene *scene, double *h1_s)
{
    struct tac_ctx own = make_silent(ctx);
    struct tac_model *model = NULL;
    const enum tac_err err = tac_model_create(&own, scene, &model);
    *h1_s = err == TAC_OK && model->h1_min_s < INFINITY ? model->h1_min_s : 0;
    tac_model_destroy(&model);
    return err == TAC_ERR_INPUT || err == TAC_OK ? TAC_OK : tac_fail(ctx, err, "%s", own.error);
}

/* Elastic ticks of a scene; *can: false where its periods are too short. */
static enum tac_err count_elastic(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_forecast *out,
                                  bool *can)
{
    struct tac_ctx own = make_silent(ctx);
    struct tac_elastic *elastic = NULL;
    const enum tac_err err = tac_elastic_create(&own, scene, &elastic);
    *can = err == TAC_OK;
    if (*can)
        tac_forecast_ticks(elastic, scene->settings->end_s, out);
    tac_elastic_destroy(&elastic);
    return err == TAC_ERR_INPUT || err == TAC_OK ? TAC_OK : tac_fail(ctx, err, "%s", own.error);
}

static double scale_wall(const struct tac_lever_base *base, double ticks, double contact)
{
    const double elastic_part = base->ticks > 0 ? ticks / base->ticks : 1;
    const double contact_part = base->contact > 0 ? contact / base->contact : 1;
    return base->wall_s + base->elastic_wall_s * (elastic_part - 1) + base->contact_wall_s * (contact_part - 1);
}

/* ---- the list ---- */

struct list {
    struct tac_ctx *ctx;
    const struct tac_scene *scene;
    const struct tac_lever_base *base;
    double h1_s; /* of the scene as it is */
    struct trial trial;
    struct tac_lever *lever; /* owned */
    size_t count, capacity;
};

/* Appends what the trial costs; quotient: of contact ticks, NaN: that of the first layers' periods. */
static enum tac_err append_lever(struct list *l, const char *key, double now, double instead, double quotient,
                                 const char *advice)
{
    enum tac_err err;
    struct tac_lever lever = {.now = now, .instead = instead};
    struct tac_forecast f;
    double h1_s;
    bool can;
    TAC_TRY(count_elastic(l->ctx, &l->trial.scene, &f, &can));
    if (!can)
        goto done;
    TAC_TRY(find_first_layer(l->ctx, &l->trial.scene, &h1_s));
    if (isnan(quotient))
        quotient = h1_s > 0 && l->h1_s > 0 ? l->h1_s / h1_s : 1;
    lever.elastic = f.elastic;
    lever.contact = quotient * l->base->contact;
    lever.wall_s = scale_wall(l->base, f.elastic + f.other, lever.contact);
    TAC_TRY(tac_grow(l->ctx, &l->lever, &l->capacity, l->count + 1, sizeof *l->lever));
    TAC_TRY(tac_alloc(l->ctx, strlen(key) + 1, 1, &lever.key));
    strcpy(lever.key, key);
    snprintf(lever.advice, sizeof lever.advice, "%s", advice);
    l->lever[l->count++] = lever;
done:
    return err;
}

static bool is_used(const struct tac_scene *scene, tac_lid material)
{
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        if (scene->settings->body[b].material == material && !scene->settings->body[b].fixed)
            return true;
    return false;
}

/* Softer in stretch and in bending; without damping. */
static enum tac_err try_material(struct list *l, tac_lid i)
{
    enum tac_err err = TAC_OK;
    const struct tac_material *given = &l->scene->settings->material[i];
    struct tac_material *m = &l->trial.material[i];
    char key[400], advice[160];
    if (given->stretch_stiffness > 0) {
        snprintf(key, sizeof key, "materials.%.300s.stretch.stiffness", given->name);
        snprintf(advice, sizeof advice, "it stretches four times as far%s",
                 given->stretch_limit > 0 ? "" : ", unless \"limit\" holds it, which has ticks of its own");
        m->stretch_stiffness = SOFTER * given->stretch_stiffness;
        TAC_TRY(append_lever(l, key, given->stretch_stiffness, m->stretch_stiffness, NAN, advice));
        *m = *given;
    }
    if (given->bend) {
        snprintf(key, sizeof key, "materials.%.300s.bend.stiffness", given->name);
        m->bend_stiffness = SOFTER * given->bend_stiffness;
        TAC_TRY(append_lever(l, key, given->bend_stiffness, m->bend_stiffness, NAN, "it folds more finely"));
        *m = *given;
    }
    const struct {
        const char *section;
        double given, *value;
    } damping[] = {{"stretch", given->stretch_damping, &m->stretch_damping},
                   {"bend", given->bend_damping, &m->bend_damping},
                   {"solid", given->solid_damping, &m->solid_damping}};
    for (size_t k = 0; k < sizeof damping / sizeof damping[0]; k++)
        if (damping[k].given > 0) {
            snprintf(key, sizeof key, "materials.%.300s.%s.damping", given->name, damping[k].section);
            *damping[k].value = 0;
            TAC_TRY(append_lever(l, key, damping[k].given, 0, NAN, "its vibrations last"));
            *m = *given;
        }
done:
    *m = *given;
    return err;
}

/* Larger safeties: those of draft. */
static enum tac_err try_clocks(struct list *l)
{
    enum tac_err err = TAC_OK;
    const struct tac_clock_settings *given = &l->scene->settings->clocks;
    struct tac_clock_settings *clocks = &l->trial.settings.clocks;
    const struct tac_accuracy *draft = &tac_accuracy[TAC_ACCURACY_DRAFT];
    if (given->elastic_safety < draft->elastic_safety) {
        const struct tac_accuracy_range *q = &tac_accuracy_elastic_alone;
        char advice[160];
        clocks->elastic_safety = draft->elastic_safety;
        snprintf(advice, sizeof advice, "if contact takes %g times the ticks; in ten scenes it was %g to %g times",
                 q->median, q->least, q->most);
        TAC_TRY(
            append_lever(l, "clocks.elastic_safety", given->elastic_safety, draft->elastic_safety, q->median, advice));
        *clocks = *given;
    }
    if (given->contact_safety < draft->contact_safety && l->h1_s > 0) {
        clocks->contact_safety = draft->contact_safety;
        TAC_TRY(append_lever(l, "clocks.contact_safety", given->contact_safety, draft->contact_safety, NAN, ""));
        *clocks = *given;
    }
done:
    return err;
}

/* Softer layers. */
static enum tac_err try_contact(struct list *l)
{
    enum tac_err err = TAC_OK;
    const struct tac_contact_settings *given = &l->scene->settings->contact;
    struct tac_contact_settings *contact = &l->trial.settings.contact;
    if (!(l->h1_s > 0))
        return TAC_OK;
    contact->stiffness = l->trial.law[0].stiffness = SOFTER * given->stiffness;
    TAC_TRY(append_lever(l, "contact.stiffness", given->stiffness, contact->stiffness, NAN,
                         "if impacts and weight press no deeper layers"));
done:
    contact->stiffness = l->trial.law[0].stiffness = given->stiffness;
    return err;
}

static int by_time(const void *a, const void *b)
{
    const struct tac_lever *x = a, *y = b;
    const double d = x->wall_s - y->wall_s;
    return d < 0 ? -1 : d > 0 ? 1 : strcmp(x->key, y->key);
}

enum tac_err tac_levers_find(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_lever_base *base,
                             struct tac_lever **out, size_t *count)
{
    enum { MOST_MATERIALS = 16 }; /* with more of them, the others are not asked */
    enum tac_err err;
    struct list l = {.ctx = ctx, .scene = scene, .base = base};
    TAC_TRY(copy_scene(ctx, scene, &l.trial));
    TAC_TRY(find_first_layer(ctx, scene, &l.h1_s));
    for (tac_lid i = 0, asked = 0; i < scene->settings->material_count && asked < MOST_MATERIALS; i++)
        if (is_used(scene, i)) {
            TAC_TRY(try_material(&l, i));
            asked++;
        }
    TAC_TRY(try_clocks(&l));
    TAC_TRY(try_contact(&l));
    if (l.count > 0)
        qsort(l.lever, l.count, sizeof *l.lever, by_time);
done:
    discard(&l.trial);
    if (err)
        tac_levers_free(&l.lever, l.count);
    *out = l.lever;
    *count = err ? 0 : l.count;
    return err;
}

void tac_levers_free(struct tac_lever **lever, size_t count)
{
    for (size_t k = 0; *lever != NULL && k < count; k++)
        free((*lever)[k].key);
    free(*lever);
    *lever = NULL;
}

enum tac_err tac_levers_level(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_lever_base *base,
                              int level, struct tac_lever *out, bool *can)
{
    enum tac_err err;
    const struct tac_accuracy *a = &tac_accuracy[level];
    struct trial t = {.material = NULL};
    struct tac_forecast f;
    double now_s, standard_s;
    *out = (struct tac_lever){.key = NULL};
    TAC_TRY(copy_scene(ctx, scene, &t));
    t.settings.clocks.elastic_safety = a->elastic_safety;
    t.settings.clocks.contact_safety = a->contact_safety;
    TAC_TRY(count_elastic(ctx, &t.scene, &f, can));
    if (!*can)
        goto done;
    /* What larger or smaller safeties do to contact was measured: it is more than what the periods do. */
    TAC_TRY(find_first_layer(ctx, scene, &now_s));
    t.settings.clocks.contact_safety = tac_accuracy[TAC_ACCURACY_STANDARD].contact_safety;
    TAC_TRY(find_first_layer(ctx, &t.scene, &standard_s));
    const double standard = base->contact * (now_s > 0 && standard_s > 0 ? now_s / standard_s : 1);
    out->elastic = f.elastic;
    out->contact = a->contact.median * standard;
    out->wall_s = scale_wall(base, f.elastic + f.other, out->contact);
    out->wall_least_s = scale_wall(base, f.elastic + f.other, a->contact.least * standard);
    out->wall_most_s = scale_wall(base, f.elastic + f.other, a->contact.most * standard);
done:
    discard(&t);
    return err;
}
