/* times.c: computes the quantum of a scene, and its times in quanta: its end, and the grid on which frames lie.
 *
 * A user writes a time between frames in decimal, and 30 times 0.02 is to be 0.6.  The double nearest to 0.02 is not
 * 0.02, so the time of frame k is computed from the shortest decimal that reads back as that double, which is what the
 * user wrote, in whole numbers, and rounded once. */
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>

#define MOST_QUANTA 9007199254740992.0 /* 2^53: spans stay exact as doubles */

/* ---- whole numbers of any size that may come up ---- */

/* 17 digits and k < 2^38 over 10^48 and 2^16 quanta, which are at least 2^-104 s, or over 2^40, for the division. */
enum { LIMBS = 8 };

struct whole {
    uint32_t limb[LIMBS]; /* the lowest first */
};

static void times(struct whole *a, uint64_t factor)
{
    const uint32_t half[2] = {(uint32_t)factor, (uint32_t)(factor >> 32)};
    struct whole sum = {{0}};
    for (int h = 0; h < 2; h++) {
        uint64_t carry = 0;
        for (int i = 0; i + h < LIMBS; i++) {
            carry += (uint64_t)a->limb[i] * half[h] + sum.limb[i + h];
            sum.limb[i + h] = (uint32_t)carry;
            carry >>= 32;
        }
        TAC_CHECK(carry == 0);
    }
    *a = sum;
}

static void times_power(struct whole *a, uint32_t base, int exponent)
{
    for (; exponent > 0; exponent--)
        times(a, base);
}

/* a = a / 2, rounded down. */
static void halve(struct whole *a)
{
    for (int i = 0; i < LIMBS; i++)
        a->limb[i] = a->limb[i] >> 1 | (i + 1 < LIMBS ? a->limb[i + 1] << 31 : 0);
}

/* a = a - b where b is not the greater one; else false. */
static bool subtract(struct whole *a, const struct whole *b)
{
    int i = LIMBS - 1;
    while (i > 0 && a->limb[i] == b->limb[i])
        i--;
    if (a->limb[i] < b->limb[i])
        return false;
    uint64_t borrow = 0;
    for (i = 0; i < LIMBS; i++) {
        const uint64_t d = (uint64_t)a->limb[i] - b->limb[i] - borrow;
        a->limb[i] = (uint32_t)d;
        borrow = d >> 63;
    }
    return true;
}

/* ---- decimals ---- */

/* digits x 10^exponent */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* The shortest decimal that reads back as `value` > 0. */
static struct decimal shortest(double value)
{
    char text[40];
    struct decimal d = {0, 0};
    int n = 15; /* so many any decimal keeps; shorter ones end in zeros here */
    do
        snprintf(text, sizeof text, "%.*e", n - 1, value);
    while (strtod(text, NULL) != value && n++ < 17);
    const char *c = text;
    for (; *c != 'e'; c++)
        if (*c >= '0' && *c <= '9') /* between them stands what the locale has for a point */
            d.digits = 10 * d.digits + (uint64_t)(*c - '0');
    d.exponent = (int)strtol(c + 1, NULL, 10) - (n - 1);
    for (; d.digits > 0 && d.digits % 10 == 0; d.digits /= 10)
        d.exponent++;
    return d;
}

tac_time tac_scene_grid(const struct tac_scene *scene, double every_s, int64_t k)
{
    enum { BITS = 40 };
    const double grain_s = TAC_FRAME_GRAIN * scene->settings->quantum_s, about = (double)k * fmax(1, every_s / grain_s);
    if (k <= 0)
        return 0;
    if (!(about < 0x1p38)) /* 2^53 quanta are 2^37 grains */
        return TAC_TIME_NEVER;
    if (every_s < grain_s)
        return k * TAC_FRAME_GRAIN; /* no two fall on one instant */
    const struct decimal d = shortest(every_s);
    struct whole over = {{1}}, under = {{2}}; /* over : under = k every / grain + 1/2, rounded down */
    int exponent;
    frexp(grain_s, &exponent); /* a grain is 2^(exponent - 1) */
    times(&over, 2 * d.digits);
    times(&over, (uint64_t)k);
    times_power(&over, 10, d.exponent);
    times_power(&under, 10, -d.exponent);
    times_power(&over, 2, 1 - exponent);
    times_power(&under, 2, exponent - 1);
    struct whole half = under;
    halve(&half);
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)over.limb[i] + half.limb[i];
        over.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    tac_time grains = 0;
    times(&under, UINT64_C(1) << BITS);
    for (int bit = BITS; bit >= 0; bit--, halve(&under))
        if (subtract(&over, &under))
            grains |= (tac_time)1 << bit;
    return grains * TAC_FRAME_GRAIN;
}

/* ---- a scene's times ---- */

/* The nearest whole number, halves away from zero; x >= 0, the result exact. */
static double nearest(double x)
{
    double low = floor(x);
    return x - low >= .5 ? low + 1 : low;
}

/* t_s >= 0 in quanta; exact, for the quantum is a power of two, and then rounded. */
static double in_quanta(const struct tac_scene *scene, double t_s)
{
    return nearest(t_s / scene->settings->quantum_s);
}

tac_time tac_scene_quanta(const struct tac_scene *scene, double t_s)
{
    if (!(fabs(t_s) / scene->settings->quantum_s < MOST_QUANTA))
        return t_s < 0 ? -TAC_TIME_NEVER : TAC_TIME_NEVER;
    tac_time rounded = (tac_time)in_quanta(scene, fabs(t_s));
    return t_s < 0 ? -rounded : rounded;
}

tac_time tac_scene_frame_time(const struct tac_scene *scene, int64_t k)
{
    const tac_time t = tac_scene_grid(scene, scene->settings->frame_s, k);
    return t < scene->settings->t_end ? t : scene->settings->t_end;
}

/* The multiple of every_s that `end` is but for the grid's rounding, or `end` itself. */
static tac_time on_grid(const struct tac_scene *scene, double every_s, double end_s, tac_time end)
{
    const double k = nearest(end_s / every_s);
    if (!(k >= 1 && k <= 0x1p40))
        return end;
    const tac_time t = tac_scene_grid(scene, every_s, (int64_t)k);
    return t - end <= TAC_FRAME_GRAIN && end - t <= TAC_FRAME_GRAIN && t <= (tac_time)MOST_QUANTA ? t : end;
}

tac_time tac_scene_end(const struct tac_scene *scene)
{
    const struct tac_settings *s = scene->settings;
    const tac_time end = on_grid(scene, s->frame_s, s->end_s, (tac_time)in_quanta(scene, s->end_s));
    /* The implicit integrator is known later than times are. */
    return s->implicit.step_s > 0 ? on_grid(scene, s->implicit.step_s, s->end_s, end) : end;
}

/* The end itself may be at 2^53 quanta: the span from 0 to there is exact too. */
static bool end_fits(double end_s, double quantum_s)
{
    return end_s / quantum_s <= MOST_QUANTA;
}

static double quantum_for(double end_s)
{
    double quantum_s = 0x1p-46;
    while (quantum_s < 1 && !end_fits(end_s, quantum_s))
        quantum_s *= 2;
    return quantum_s;
}

/* Seconds in a quantum of the checkpoint that the scene goes on from; NaN: it is new. */
static double stored_quantum(const struct tac_reader *reader)
{
    if (reader->resume == NULL)
        return NAN;
    const json_t *clocks = json_object_get(reader->resume->stored, "clocks");
    const json_t *quantum = json_object_get(clocks, "quantum_s");
    return json_is_number(quantum) ? json_number_value(quantum) : NAN;
}

double tac_scene_default_quantum(const struct tac_reader *reader)
{
    const double stored_s = stored_quantum(reader);
    return isnan(stored_s) ? quantum_for(reader->scene->settings->end_s) : stored_s;
}

static enum tac_err end_too_late(struct tac_reader *reader)
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_shown end = tac_shown(scene->settings->end_s), quantum = tac_shown(scene->settings->quantum_s);
    if (scene->settings->quantum_s == stored_quantum(reader))
        return tac_scene_fail(
            reader, "time.end",
            "is %s s, over 2^53 of the quanta of %s s that the checkpoint counts time in; end at %s s "
            "or sooner, or start again without --restart",
            end.text, quantum.text, tac_shown(MOST_QUANTA * scene->settings->quantum_s).text);
    if (scene->settings->quantum_s == 1)
        return tac_scene_fail(reader, "time.end", "is %s s, over 2^53 quanta of 1 s, the largest quantum; end sooner",
                              end.text);
    return tac_scene_fail(reader, "time.end",
                          "is %s s, over 2^53 quanta of %s s; end sooner or set clocks.quantum_s higher", end.text,
                          quantum.text);
}

enum tac_err tac_scene_check_time(struct tac_reader *reader)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    if (!end_fits(scene->settings->end_s, scene->settings->quantum_s))
        TAC_TRY(end_too_late(reader));
    if (in_quanta(scene, scene->settings->end_s) < 1)
        TAC_TRY(tac_scene_fail(reader, "time.end", "is %s s, which rounds to no quantum of %s s; end later",
                               tac_shown(scene->settings->end_s).text, tac_shown(scene->settings->quantum_s).text));
    /* Below one grain two frames would fall on one instant. */
    if (scene->settings->frame_s / scene->settings->quantum_s < TAC_FRAME_GRAIN)
        TAC_TRY(tac_scene_fail(
            reader, "time.frame", "is %s s; frames lie on multiples of 2^16 quanta, so it must be at least %s s",
            tac_shown(scene->settings->frame_s).text, tac_shown(TAC_FRAME_GRAIN * scene->settings->quantum_s).text));
    scene->settings->t_end = tac_scene_end(scene);
done:
    return err;
}

enum tac_err tac_scene_until(struct tac_ctx *ctx, struct tac_scene *scene, double t_s)
{
    if (!(t_s > 0))
        return tac_fail(ctx, TAC_ERR_INPUT, "--until is %s; it must be greater than 0", tac_shown(t_s).text);
    if (!end_fits(t_s, scene->settings->quantum_s))
        return tac_fail(
            ctx, TAC_ERR_INPUT,
            "--until is %s s, over 2^53 quanta of %s s; end at %s s or sooner, or start again with a later time.end",
            tac_shown(t_s).text, tac_shown(scene->settings->quantum_s).text,
            tac_shown(MOST_QUANTA * scene->settings->quantum_s).text);
    if (in_quanta(scene, t_s) < 1)
        return tac_fail(ctx, TAC_ERR_INPUT, "--until is %s s, which rounds to no quantum of %s s; end later",
                        tac_shown(t_s).text, tac_shown(scene->settings->quantum_s).text);
    scene->settings->end_s = t_s;
    scene->settings->t_end = tac_scene_end(scene);
    return TAC_OK;
}
