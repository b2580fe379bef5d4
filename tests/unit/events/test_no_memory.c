/* Between the first and the last instant of a pass nothing asks for memory on one rank, whichever way contacts are
 * found, with friction and a layer stack that is pressed deeper in mid-pass.  If this fails, something in the event
 * loop allocates: a pass may then end in "out of memory" half-way, and its time depends on the heap.  The linker puts
 * the functions below in the place of those that the library calls (--wrap). */
#include "support.h"

static bool inside;
static long passes, instants, asked_inside, asked_outside;

enum tac_err __real_tac_alloc(struct tac_ctx *ctx, size_t count, size_t size, void *out);
enum tac_err __real_tac_grow(struct tac_ctx *ctx, void *array, size_t *capacity, size_t need, size_t size);
tac_time __real_tac_pass_run(struct tac_sim *sim, tac_time end);
void __real_tac_pass_step(struct tac_sim *sim, tac_time t);
enum tac_err __wrap_tac_alloc(struct tac_ctx *ctx, size_t count, size_t size, void *out);
enum tac_err __wrap_tac_grow(struct tac_ctx *ctx, void *array, size_t *capacity, size_t need, size_t size);
tac_time __wrap_tac_pass_run(struct tac_sim *sim, tac_time end);
void __wrap_tac_pass_step(struct tac_sim *sim, tac_time t);

enum tac_err __wrap_tac_alloc(struct tac_ctx *ctx, size_t count, size_t size, void *out)
{
    inside ? asked_inside++ : asked_outside++;
    return __real_tac_alloc(ctx, count, size, out);
}

enum tac_err __wrap_tac_grow(struct tac_ctx *ctx, void *array, size_t *capacity, size_t need, size_t size)
{
    if (need > *capacity)
        inside ? asked_inside++ : asked_outside++;
    return __real_tac_grow(ctx, array, capacity, need, size);
}

tac_time __wrap_tac_pass_run(struct tac_sim *sim, tac_time end)
{
    inside = true;
    passes++;
    const tac_time reached = __real_tac_pass_run(sim, end);
    inside = false;
    return reached;
}

/* What kinetic structures run: one instant at a time, between which they watch what is needed. */
void __wrap_tac_pass_step(struct tac_sim *sim, tac_time t)
{
    inside = true;
    instants++;
    __real_tac_pass_step(sim, t);
    inside = false;
}

static void look(const char *file, const char *mode, double end_s, int32_t deep)
{
    struct experiment e;
    struct settings s = {.count = 0};
    set(&s, "contact.restitution=0.3");
    set(&s, "contact.friction=0.3");
    set(&s, "contact.stiffness=40");
    set(&s, "discovery.mode=%s", mode);
    passes = instants = asked_inside = asked_outside = 0;
    begin(&e, file, &s);
    run_to(&e, end_s);
    printf("%-40s %-10s %ld passes, %ld instants, layer %d; memory asked for %ld times in them, %ld times else\n", file,
           mode, passes, instants, (int)e.row.deepest_layer, asked_inside, asked_outside);
    CHECK(asked_inside == 0, "%s, %s: memory was asked for %ld times in the event loop", file, mode, asked_inside);
    CHECK(passes + instants >= 5 && asked_outside > 20, "%s, %s: nothing was seen", file, mode);
    CHECK(e.row.deepest_layer >= deep, "%s, %s: layer %d only", file, mode, (int)e.row.deepest_layer);
    end(&e);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    static const char *const mode[] = {"speculate", "kds"};
    for (int k = 0; k < 2; k++) {
        look("tests/unit/events/scenes/hail.json", mode[k], .75, 2);
        look("tests/unit/events/scenes/sheets.json", mode[k], .005859375, 2);
    }
    MPI_Finalize();
    return check_result();
}
