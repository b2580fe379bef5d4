/* forecast_change.c: forecasts a run with other values of the keys that may cost much (forecast_change.h). */
#include "check/forecast_change.h"
#include "check/rest.h"
#include "scene/accuracy.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Stiffnesses are tried at this part of what they are: half the ticks, where periods follow from them. */
static const double SOFTER = .25;
/* The limit of stretch that a softer material gets, if it has none: what is seen of a stretch begins there. */
static const double LIMIT = .1;

/* A scene with settings of its own: one level deep, and materials and laws. */
struct trial {
    struct tac_scene scene;
    struct tac_settings settings;
    struct tac_material *material; /* owned */
    struct tac_contact_law *law;   /* owned */
};

static enum tac_err copy(struct tac_ctx *ctx, const struct tac_scene *scene, struct trial *t)
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
static struct tac_ctx silent(const struct tac_ctx *ctx)
{
    struct tac_ctx own = *ctx;
    own.warned = NULL;
    own.quiet = true;
    return own;
}

/* The forecast of a trial, with these elements or (NULL) its own; *can: false where its periods are too short. */
static enum tac_err attempt(struct tac_ctx *ctx, const struct trial *t, const struct tac_elastic *elastic,
                            const struct tac_speed *speed, struct tac_forecast *out, bool *can)
{
    struct tac_ctx own = silent(ctx);
    struct tac_elastic *made = NULL;
    enum tac_err err = TAC_OK;
    if (elastic == NULL)
        err = tac_elastic_create(&own, &t->scene, &made);
    if (err == TAC_OK)
        err = tac_forecast_make(&own, &t->scene, made ? made : elastic, speed, out);
    tac_elastic_destroy(&made);
    *can = err == TAC_OK;
    return err == TAC_ERR_INPUT || err == TAC_OK ? TAC_OK : tac_fail(ctx, err, "%s", own.error);
}

/* ---- the list ---- */

struct list {
    struct tac_ctx *ctx;
    const struct tac_scene *scene;
    const struct tac_elastic *elastic; /* borrowed: the scene's */
    const struct tac_speed *speed;
    struct tac_change *change; /* owned */
    size_t count, capacity;
};

/* Appends the trial's forecast as a change of the key. */
static enum tac_err append(struct list *l, const struct trial *t, const struct tac_elastic *elastic, const char *key,
                           double now, double instead, const char *advice)
{
    enum tac_err err;
    struct tac_change c = {.now = now, .instead = instead};
    bool can;
    TAC_TRY(attempt(l->ctx, t, elastic, l->speed, &c.forecast, &can));
    if (!can)
        goto done;
    TAC_TRY(tac_grow(l->ctx, &l->change, &l->capacity, l->count + 1, sizeof *l->change));
    TAC_TRY(tac_alloc(l->ctx, strlen(key) + 1, 1, &c.key));
    strcpy(c.key, key);
    snprintf(c.advice, sizeof c.advice, "%s", advice);
    l->change[l->count++] = c;
done:
    return err;
}

static void scale_contact(struct tac_forecast *f, double quotient, const struct tac_speed *speed)
{
    f->wall_s += 1e-9 * speed->contact_ns * (quotient - 1) * f->contact;
    f->contact *= quotient;
}

static bool is_used(const struct tac_scene *scene, tac_lid material)
{
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        if (scene->settings->body[b].material == material && !scene->settings->body[b].fixed)
            return true;
    return false;
}

/* Softer in stretch, without and with a limit: the elements are the same. */
static enum tac_err try_stretch(struct list *l, struct trial *t, tac_lid i, const char *key)
{
    enum tac_err err = TAC_OK;
    const struct tac_material *given = &l->scene->settings->material[i];
    struct tac_material *m = &t->material[i];
    struct tac_elastic *elastic = NULL;
    struct tac_ctx own = silent(l->ctx);
    char advice[160];
    m->stretch_stiffness = SOFTER * given->stretch_stiffness;
    err = tac_elastic_create(&own, &t->scene, &elastic);
    if (err)
        TAC_TRY(err == TAC_ERR_INPUT ? TAC_OK : tac_fail(l->ctx, err, "%s", own.error));
    else
        TAC_TRY(append(l, t, elastic, key, given->stretch_stiffness, m->stretch_stiffness,
                       "it stretches four times as far"));
    if (elastic != NULL && !(given->stretch_limit > 0)) {
        m->stretch_limit = LIMIT;
        snprintf(advice, sizeof advice, "with \"limit\": %g, so that no edge stretches farther", LIMIT);
        TAC_TRY(append(l, t, elastic, key, given->stretch_stiffness, m->stretch_stiffness, advice));
    }
done:
    tac_elastic_destroy(&elastic);
    *m = *given;
    return err;
}

/* Softer in stretch; softer in bending. */
static enum tac_err try_material(struct list *l, struct trial *t, tac_lid i)
{
    enum tac_err err = TAC_OK;
    const struct tac_material *given = &l->scene->settings->material[i];
    char key[400];
    if (given->stretch_stiffness > 0) {
        snprintf(key, sizeof key, "materials.%.300s.stretch.stiffness", given->name);
        TAC_TRY(try_stretch(l, t, i, key));
    }
    if (given->bend) {
        snprintf(key, sizeof key, "materials.%.300s.bend.stiffness", given->name);
        t->material[i].bend_stiffness = SOFTER * given->bend_stiffness;
        TAC_TRY(append(l, t, NULL, key, given->bend_stiffness, t->material[i].bend_stiffness, "it folds more finely"));
        t->material[i] = *given;
    }
done:
    return err;
}

/* A larger safety: that of draft. */
static enum tac_err try_clocks(struct list *l, struct trial *t)
{
    enum tac_err err = TAC_OK;
    const struct tac_clock_settings *given = &l->scene->settings->clocks;
    const struct tac_accuracy *draft = &tac_accuracy[TAC_ACCURACY_DRAFT];
    if (given->elastic_safety < draft->elastic_safety) {
        const struct tac_accuracy_range *q = &tac_accuracy_elastic_alone;
        char advice[160];
        t->settings.clocks.elastic_safety = draft->elastic_safety;
        snprintf(advice, sizeof advice, "if contact takes %g times the ticks; in ten scenes it was %g to %g times",
                 q->median, q->least, q->most);
        const size_t before = l->count;
        TAC_TRY(append(l, t, NULL, "clocks.elastic_safety", given->elastic_safety, draft->elastic_safety, advice));
        if (l->count > before)
            scale_contact(&l->change[before].forecast, q->median, l->speed);
        t->settings.clocks = *given;
    }
    if (given->contact_safety < draft->contact_safety) {
        t->settings.clocks.contact_safety = draft->contact_safety;
        TAC_TRY(append(l, t, l->elastic, "clocks.contact_safety", given->contact_safety, draft->contact_safety, ""));
        t->settings.clocks = *given;
    }
done:
    return err;
}

/* Softer layers; and, where weight presses deep ones, as thick ones as keep it on the first two. */
static enum tac_err try_contact(struct list *l, struct trial *t)
{
    enum tac_err err = TAC_OK;
    struct tac_model *model = NULL;
    struct tac_rest rest;
    const struct tac_contact_settings *given = &l->scene->settings->contact;
    if (!(given->thickness > 0))
        goto done;
    TAC_TRY(tac_model_create(l->ctx, l->scene, &model));
    TAC_TRY(tac_estimate_rest(l->ctx, l->scene, model, &rest));
    const bool deep = rest.body >= 0 && rest.layer > TAC_REST_LAYER;
    /* Softer ones must carry the weight that there is on the first two layers. */
    if (!deep && (rest.body < 0 || rest.enough_stiffness < SOFTER * rest.stiffness)) {
        t->settings.contact.stiffness = t->law[0].stiffness = SOFTER * given->stiffness;
        TAC_TRY(append(l, t, l->elastic, "contact.stiffness", given->stiffness, SOFTER * given->stiffness,
                       "impacts press deeper layers"));
        t->settings.contact.stiffness = t->law[0].stiffness = given->stiffness;
    }
    if (deep) {
        t->settings.contact.thickness = 1.1 * rest.enough_thickness;
        TAC_TRY(append(l, t, l->elastic, "contact.thickness", given->thickness, 1.1 * rest.enough_thickness,
                       "the weight presses two layers only"));
        t->settings.contact.thickness = given->thickness;
    }
done:
    tac_model_destroy(&model);
    return err;
}

static int by_time(const void *a, const void *b)
{
    const struct tac_change *x = a, *y = b;
    const double d = x->forecast.wall_s - y->forecast.wall_s;
    return d < 0 ? -1 : d > 0 ? 1 : strcmp(x->key, y->key);
}

enum tac_err tac_forecast_changes(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                                  const struct tac_speed *speed, struct tac_change **out, size_t *count)
{
    enum { MOST_MATERIALS = 16 }; /* with more of them, the others are not asked */
    enum tac_err err;
    struct list l = {.ctx = ctx, .scene = scene, .elastic = elastic, .speed = speed};
    struct trial t = {.material = NULL};
    TAC_TRY(copy(ctx, scene, &t));
    for (tac_lid i = 0, asked = 0; i < scene->settings->material_count && asked < MOST_MATERIALS; i++)
        if (is_used(scene, i)) {
            TAC_TRY(try_material(&l, &t, i));
            asked++;
        }
    TAC_TRY(try_clocks(&l, &t));
    TAC_TRY(try_contact(&l, &t));
    if (l.count > 0)
        qsort(l.change, l.count, sizeof *l.change, by_time);
done:
    discard(&t);
    if (err)
        tac_forecast_changes_free(&l.change, l.count);
    *out = l.change;
    *count = err ? 0 : l.count;
    return err;
}

void tac_forecast_changes_free(struct tac_change **change, size_t count)
{
    for (size_t k = 0; *change != NULL && k < count; k++)
        free((*change)[k].key);
    free(*change);
    *change = NULL;
}

/* With the safeties of a level, and contact as the periods alone have it. */
static enum tac_err with_level(struct tac_ctx *ctx, struct trial *t, const struct tac_elastic *elastic,
                               const struct tac_speed *speed, int level, struct tac_forecast *out, bool *can)
{
    const struct tac_accuracy *a = &tac_accuracy[level];
    const bool same = t->settings.clocks.elastic_safety == a->elastic_safety;
    const struct tac_clock_settings given = t->settings.clocks;
    t->settings.clocks.elastic_safety = a->elastic_safety;
    t->settings.clocks.contact_safety = a->contact_safety;
    const enum tac_err err = attempt(ctx, t, same ? elastic : NULL, speed, out, can);
    t->settings.clocks = given;
    return err;
}

enum tac_err tac_forecast_level(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                                const struct tac_speed *speed, int level, struct tac_forecast *out, bool *can)
{
    enum tac_err err;
    struct trial t = {.material = NULL};
    struct tac_model *model = NULL;
    struct tac_ctx own = silent(ctx);
    struct tac_forecast standard = {0};
    TAC_TRY(copy(ctx, scene, &t));
    TAC_TRY(with_level(ctx, &t, elastic, speed, level, out, can));
    if (!*can || level == TAC_ACCURACY_STANDARD)
        goto done;
    /* What larger or smaller safeties do to contact was measured: it is more than what the periods do.  The ticks of
     * contact do not depend on the elements' periods. */
    t.settings.clocks.contact_safety = tac_accuracy[TAC_ACCURACY_STANDARD].contact_safety;
    const enum tac_err made = tac_model_create(&own, &t.scene, &model);
    if (made == TAC_ERR_INPUT)
        goto done; /* the scene has no contact at those safeties: nothing to compare with */
    if (made)
        TAC_TRY(tac_fail(ctx, made, "%s", own.error));
    TAC_TRY(tac_forecast_contact(ctx, &t.scene, elastic, model, &standard));
    const double contact = tac_accuracy[level].contact.median * standard.contact;
    out->wall_s += 1e-9 * speed->contact_ns * (contact - out->contact);
    out->contact = contact;
done:
    tac_model_destroy(&model);
    discard(&t);
    return err;
}
