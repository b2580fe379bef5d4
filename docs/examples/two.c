/* two.c: two simulations at once: the same scene, out of a text in memory, on the Earth and on the Moon.
 *
 *     two */
#include <tactus/process.h>
#include <tactus/simulation.h>

static const char SCENE[] = "{ \"format\": \"tactus-scene/1\", \"time\": { \"end\": 1, \"frame\": 0.25 },"
                            "  \"gravity\": [0, -9.81, 0],"
                            "  \"bodies\": [ { \"name\": \"stone\", \"mass\": 1,"
                            "                  \"mesh\": { \"kind\": \"points\", \"vertices\": [[0, 100, 0]] } } ] }";

enum { EARTH, MOON, PLACES };

/* Each with a context of its own: what goes wrong with one is no matter of the other's. */
static enum tac_err two(struct tac_ctx ctx[PLACES])
{
    static const char *const moon[] = {"gravity=[0, -1.62, 0]"};
    const struct tac_scene_source source[PLACES] = {
        [EARTH] = {.text = SCENE}, [MOON] = {.text = SCENE, .set = moon, .set_count = 1}};
    static const char *const name[PLACES] = {[EARTH] = "Earth", [MOON] = "Moon"};
    struct tac_simulation *sim[PLACES] = {NULL, NULL};
    struct tac_vectors x;
    enum tac_err err;
    for (int p = 0; p < PLACES; p++)
        TAC_TRY(tac_simulation_create(&ctx[p], &source[p], &sim[p]));
    for (int k = 1; k <= 4; k++)
        for (int p = 0; p < PLACES; p++) {
            TAC_TRY(tac_simulation_advance(sim[p], .25 * k));
            TAC_TRY(tac_simulation_positions(sim[p], &x));
            if (x.count > 0)
                printf("%.2f s, %s: %.4f m\n", tac_simulation_time(sim[p]), name[p], x.data[1]);
        }
done:
    for (int p = 0; p < PLACES; p++)
        tac_simulation_destroy(&sim[p]);
    return err;
}

int main(void)
{
    struct tac_ctx ctx[PLACES];
    bool started;
    enum tac_err err = tac_mpi_begin(&ctx[EARTH], &started);
    ctx[MOON] = ctx[EARTH];
    if (!err)
        err = two(ctx);
    for (int p = 0; p < PLACES && err; p++)
        if (ctx[p].error[0] != '\0' && ctx[p].rank == 0)
            fprintf(stderr, "two: %s\n", ctx[p].error);
    tac_mpi_end(started);
    return (int)err;
}
