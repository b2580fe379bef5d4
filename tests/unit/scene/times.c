/* times.c: when frames are.  Every ordinary pair of `end` and `frame` has as many frames as a user counts, spaced
 * evenly to 2^16 quanta, and the grid is that of the decimals that were written, to the last quantum, worked out here
 * in whole numbers.  If it fails, a run has one frame too many just before its end, or two runs of one scene write
 * frames at times that differ. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <tactus/scene.h>
#include <unistd.h>

enum { GRAIN = 65536 };

static char path[] = "/tmp/tactus-times-XXXXXX";
static struct tac_ctx ctx;

/* The scene with these times, as text; NULL with ctx.error set. */
static struct tac_scene *with_times(const char *end, const char *frame, const char *more)
{
    struct tac_scene *scene = NULL;
    FILE *file = fopen(path, "w");
    TAC_CHECK(file != NULL);
    fprintf(file,
            "{\"format\": \"tactus-scene/1\", \"time\": {\"end\": %s, \"frame\": %s}%s, \"bodies\": [{\"name\": \"p\", "
            "\"mass\": 1, \"mesh\": {\"kind\": \"points\", \"vertices\": [[0, 0, 0]]}}]}",
            end, frame, more);
    fclose(file);
    ctx.error[0] = '\0';
    tac_scene_read(&ctx, path, NULL, 0, &scene);
    return scene;
}

/* A decimal of at most 9 digits after the point as a whole number of 1e-9. */
static int64_t billionths(const char *text)
{
    int64_t n = 0;
    int after = -1;
    for (; *text != '\0'; text++)
        if (*text == '.')
            after = 0;
        else {
            TAC_CHECK(*text >= '0' && *text <= '9');
            n = 10 * n + (*text - '0');
            after += after >= 0;
        }
    for (after = after < 0 ? 0 : after; after < 9; after++)
        n *= 10;
    return n;
}

/* k times frame in 2^16 quanta of 2^-46 s, the nearest whole number, halves up: 2^30 k f / 10^9, in two steps, for
 * 2^30 k f does not fit 64 bits. */
static int64_t grains(int64_t k, int64_t frame)
{
    const int64_t billion = 1000000000, all = k * frame;
    const int64_t seconds = all / billion, rest = all % billion;
    return (seconds << 30) + (2 * (rest << 30) + billion) / (2 * billion);
}

/* Frames of the scene up to the one at the end: even, and as many as there are to be. */
static void sweep(struct tac_scene *s, const char *end, const char *frame, int64_t count)
{
    const tac_time step = tac_scene_quanta(s, s->settings->frame_s);
    int64_t k = 0;
    for (tac_time t = 0; t < s->settings->t_end && k <= count; k++) {
        const tac_time next = tac_scene_frame_time(s, k + 1);
        CHECK(llabs(next - t - step) <= GRAIN, "end %s, frame %s: frames %d and %d are %" PRId64 " quanta apart", end,
              frame, (int)k, (int)k + 1, next - t);
        CHECK(next % GRAIN == 0, "end %s, frame %s: frame %d is off the grid", end, frame, (int)k + 1);
        t = next;
    }
    CHECK(k == count, "end %s, frame %s: %d frames after the first, not %d", end, frame, (int)k, (int)count);
    CHECK(llabs(s->settings->t_end - tac_scene_quanta(s, s->settings->end_s)) <= GRAIN,
          "end %s, frame %s: it ends elsewhere", end, frame);
}

static void test_pairs(void)
{
    const char *const ends[] = {".1", ".2", ".25", ".3",  ".4",  ".5",  ".6", ".7",  ".75", ".8",
                                ".9", "1",  "1.1", "1.2", "1.5", "1.7", "2",  "2.4", "2.5", "3",
                                "4",  "5",  "6",   "7",   "7.7", "8",   "9",  "10"};
    const char *const frames[] = {".001", ".002", ".004", ".005", ".01", ".02",
                                  ".025", ".03",  ".04",  ".05",  ".1",  ".2"};
    int pairs = 0;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        for (size_t j = 0; j < sizeof frames / sizeof frames[0]; j++) {
            char end[16], frame[16];
            snprintf(end, sizeof end, "%s%s", ends[i][0] == '.' ? "0" : "", ends[i]);
            snprintf(frame, sizeof frame, "%s%s", frames[j][0] == '.' ? "0" : "", frames[j]);
            const int64_t e = billionths(end), f = billionths(frame);
            if (e % f != 0 || e / f > 1000)
                continue;
            struct tac_scene *s = with_times(end, frame, "");
            TAC_CHECK(s != NULL);
            sweep(s, end, frame, e / f);
            for (int64_t k = 0; k <= e / f; k++)
                CHECK(tac_scene_frame_time(s, k) == grains(k, f) * GRAIN, "end %s, frame %s: frame %d", end, frame,
                      (int)k);
            tac_scene_destroy(&s);
            pairs++;
        }
    CHECK(pairs > 200, "%d pairs", pairs);
}

/* Frames per second that no decimal is exactly: as Python, C and jansson print them. */
static void test_rates(void)
{
    const int rates[] = {24, 25, 30, 48, 50, 60, 90, 100, 120, 144, 240};
    for (int tenths = 1; tenths <= 100; tenths += tenths < 12 ? 1 : 8)
        for (size_t j = 0; j < sizeof rates / sizeof rates[0]; j++)
            for (int digits = 16; digits <= 17; digits++) {
                char end[16], frame[32];
                if (tenths * rates[j] % 10 != 0)
                    continue;
                snprintf(end, sizeof end, "%d.%d", tenths / 10, tenths % 10);
                snprintf(frame, sizeof frame, "%.*g", digits, 1. / rates[j]);
                struct tac_scene *s = with_times(end, frame, "");
                TAC_CHECK(s != NULL);
                sweep(s, end, frame, tenths * rates[j] / 10);
                tac_scene_destroy(&s);
            }
}

/* Where k times the double nearest to `frame` lies on the other side of a half than k times `frame`. */
static void test_decimal(void)
{
    const struct {
        const char *frame;
        int64_t k;
    } hard[] = {{"0.0086009", 7596},
                {"0.0006893", 157673},
                {"0.0000688", 944603},
                {"0.0007248", 84318},
                {"0.0000022", 34149687}};
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
        struct tac_scene *s = with_times("127", hard[i].frame, "");
        TAC_CHECK(s != NULL);
        CHECK(tac_scene_frame_time(s, hard[i].k) == grains(hard[i].k, billionths(hard[i].frame)) * GRAIN,
              "frame %" PRId64 " of %s s", hard[i].k, hard[i].frame);
        tac_scene_destroy(&s);
    }
    /* The most frames, and the coarsest and finest quanta. */
    struct tac_scene *s = with_times("100", "0.0000001", "");
    TAC_CHECK(s != NULL);
    for (int64_t k = 1; k <= 1000000000; k = 7 * k + 1)
        CHECK(tac_scene_frame_time(s, k) == grains(k, 100) * GRAIN, "frame %" PRId64 " of 1e-7 s", k);
    CHECK(tac_scene_frame_time(s, 1000000000) == s->settings->t_end, "a billion frames");
    tac_scene_destroy(&s);
    s = with_times("8e15", "1e15", ", \"clocks\": {\"quantum_s\": 1}");
    TAC_CHECK(s != NULL);
    for (int64_t k = 1; k <= 8; k++)
        CHECK(tac_scene_frame_time(s, k) == (k * INT64_C(1000000000000000) + GRAIN / 2) / GRAIN * GRAIN,
              "frame %d of 1e15 s", (int)k);
    sweep(s, "8e15", "1e15", 8);
    tac_scene_destroy(&s);
    s = with_times("6e-21", "2e-22", ", \"clocks\": {\"quantum_s\": 7.52316384526264e-37}");
    TAC_CHECK(s != NULL);
    sweep(s, "6e-21", "2e-22", 30);
    tac_scene_destroy(&s);
}

/* An end that is between two frames stays where it is. */
static void test_between(void)
{
    struct tac_scene *s = with_times("0.61", "0.02", "");
    TAC_CHECK(s != NULL);
    CHECK(s->settings->t_end == tac_scene_quanta(s, .61) && tac_scene_frame_time(s, 30) < s->settings->t_end &&
              tac_scene_frame_time(s, 31) == s->settings->t_end,
          "an end between two frames");
    for (int k = -3; k <= 3; k++) { /* frame 30 is at 0.6 s but for 0.4 grains; the end is k grains off that */
        CHECK(tac_scene_until(&ctx, s, ldexp((double)(INT64_C(644245094) + k), -30)) == TAC_OK, "%s", ctx.error);
        CHECK((s->settings->t_end == tac_scene_frame_time(s, 30)) == (k <= 1), "%d grains off", k);
        CHECK((s->settings->t_end == INT64_C(644245094) * GRAIN) == (abs(k) <= 1), "%d grains off", k);
    }
    CHECK(tac_scene_until(&ctx, s, .001) == TAC_OK && s->settings->t_end == tac_scene_quanta(s, .001) &&
              tac_scene_frame_time(s, 1) == s->settings->t_end,
          "an end before the first frame");
    tac_scene_destroy(&s);
}

/* The quantum is 2^-46 s up to 128 s, and from there the next power of two; by the scene alone. */
static void test_quantum(void)
{
    const struct {
        const char *end;
        int exponent;
    } wanted[] = {{"0.5", -46}, {"1", -46},   {"127.9", -46}, {"128", -46},           {"128.00000000000003", -45},
                  {"200", -45}, {"256", -45}, {"1e4", -39},   {"9007199254740992", 0}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct tac_scene *s = with_times(wanted[i].end, "1e9", "");
        CHECK(s != NULL, "%s: %s", wanted[i].end, ctx.error);
        if (s == NULL)
            continue;
        CHECK(s->settings->quantum_s == ldexp(1, wanted[i].exponent), "end %s: the quantum is %g s", wanted[i].end,
              s->settings->quantum_s);
        CHECK(s->settings->t_end > 0 && (double)s->settings->t_end * s->settings->quantum_s == s->settings->end_s,
              "end %s", wanted[i].end);
        const json_t *reported = json_object_get(json_object_get(s->settings->json, "clocks"), "quantum_s");
        CHECK(json_number_value(reported) == s->settings->quantum_s, "end %s: it is in the resolved scene",
              wanted[i].end);
        /* --until does not change it. */
        const double quantum_s = s->settings->quantum_s, most_s = ldexp(quantum_s, 53);
        CHECK(tac_scene_until(&ctx, s, most_s) == TAC_OK && s->settings->quantum_s == quantum_s, "%s", ctx.error);
        CHECK(tac_scene_until(&ctx, s, 1.001 * most_s) == TAC_ERR_INPUT && s->settings->quantum_s == quantum_s,
              "end %s, and until later than fits", wanted[i].end);
        tac_scene_destroy(&s);
    }
    struct tac_scene *s = with_times("200", "0.1", ", \"clocks\": {\"quantum_s\": 1.4210854715202004e-14}");
    CHECK(s == NULL, "a quantum that is told is taken as it is");
    tac_scene_destroy(&s);
    s = with_times("2000", "0.1", ""); /* the grid is coarser there, and as even */
    TAC_CHECK(s != NULL);
    sweep(s, "2000", "0.1", 20000);
    tac_scene_destroy(&s);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_SELF);
    ctx.quiet = true;
    close(mkstemp(path));
    test_pairs();
    test_rates();
    test_decimal();
    test_between();
    test_quantum();
    unlink(path);
    MPI_Finalize();
    return check_result();
}
