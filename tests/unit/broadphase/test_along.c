/* test_along.c: the pairs along a straight way against all pairs.  Bodies are bent and pushed about at random, and
 * every vertex goes a way of its own beside a common one.  Each pair that comes near on the way, with its vertices
 * anywhere within the skin of it, must be shown, once, with its own numbers.  If it failed, the implicit integrator
 * would let surfaces pass.  (That of several ranks each finds the pairs of its own vertices is what the equality of
 * runs tests.) */
#include "broadphase/along.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 12, SAMPLES = 5, MOST = 1 << 20 };

struct world {
    struct tac_ctx ctx;
    struct tac_scene *scene;
    struct tac_model *model;
    struct tac_vertex_state state;
    struct tac_scripts scripts;
    struct tac_counters counters;
    struct tac_view view;
    struct tac_along *along;
    double *x, *p;
};

static struct shown {
    struct tac_found_pair pair;
    uint64_t key;
} shown[MOST];
static size_t shown_count;

static struct tac_view view_of(struct world *w, double margin)
{
    return (struct tac_view){.ctx = &w->ctx,
                             .scene = w->scene,
                             .model = w->model,
                             .state = &w->state,
                             .scripts = &w->scripts,
                             .counters = &w->counters,
                             .margin = margin,
                             .every_owner = true};
}

static enum tac_err take(void *context, const struct tac_found_pair *pair)
{
    TAC_CHECK(shown_count < MOST);
    shown[shown_count++] = (struct shown){*pair, tac_pair_key(pair->type, pair->id[0], pair->id[1])};
    return TAC_OK;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = ((const struct shown *)a)->key, y = ((const struct shown *)b)->key;
    return (x > y) - (x < y);
}

static const struct shown *find(uint64_t key)
{
    const struct shown wanted = {.key = key};
    return bsearch(&wanted, shown, shown_count, sizeof *shown, compare);
}

static double random_in(uint64_t *seed, double from, double to)
{
    *seed = tac_hash64(*seed, 1);
    return from + (to - from) * (double)(*seed >> 11) * 0x1p-53;
}

/* Bodies turned a little, shifted, and crumpled; what is fixed stays. */
static void shake(struct world *w, uint64_t seed)
{
    const struct tac_local_mesh *mesh = w->scene->mesh;
    const double crumple = seed % 3 == 0 ? 0 : random_in(&seed, 0, .01), size = pow(10, random_in(&seed, -4, -.5)),
                 apart = pow(10, random_in(&seed, -4, -1));
    for (tac_lid b = 0; b < w->scene->settings->body_count; b++) {
        double shift[3], way[3];
        for (int k = 0; k < 3; k++) {
            shift[k] = random_in(&seed, -.02, .02);
            way[k] = random_in(&seed, -size, size);
        }
        for (tac_lid v = 0; v < mesh->vertex_count; v++)
            for (int k = 0; k < 3 && mesh->vertex_body[v] == b; k++) {
                const bool moves = mesh->ever_free[v];
                w->x[3 * v + k] = mesh->x[3 * v + k] + (moves ? shift[k] + random_in(&seed, -crumple, crumple) : 0);
                w->p[3 * v + k] = moves ? way[k] + random_in(&seed, -apart, apart) : 0;
            }
    }
}

/* Where a vertex is at a share of the way, somewhere within the skin; what never moves is on it. */
static void place(const struct world *w, tac_lid v, double share, uint64_t *seed, double out[3])
{
    const double off = w->scene->mesh->ever_free[v] ? w->along->candidates->skin / sqrt(3) * (1 - 1e-6) : 0;
    for (int k = 0; k < 3; k++)
        out[k] = w->x[3 * v + k] + share * w->p[3 * v + k] + random_in(seed, -off, off);
}

struct tally {
    int64_t pairs, near, by_type[4];
};

static void look(struct world *w, struct tally *tally, enum tac_pair_type type, tac_lid a, tac_lid b, const tac_lid *v,
                 double share, uint64_t *seed)
{
    struct tac_form form;
    if (!tac_model_is_pair(w->model, type, v))
        return;
    const int n = tac_pair_vertices(type);
    const uint64_t key = tac_pair_key(type, a, b);
    const struct shown *s = find(key);
    tally->pairs++;
    tac_model_first(w->model, type, v, &form);
    if (s != NULL) {
        tac_lid of[4];
        tac_key_vertices(w->scene, key, of);
        CHECK(memcmp(of, s->pair.v, (size_t)n * sizeof *of) == 0, "type %d, %d and %d: other vertices", type, a, b);
        CHECK(form.radius == s->pair.radius && form.thickness == s->pair.thickness,
              "type %d, %d and %d: other numbers than the model's", type, a, b);
    }
    for (int sample = 0; sample <= SAMPLES; sample++) {
        double x[4][3];
        struct tac_near near;
        for (int i = 0; i < n; i++)
            place(w, v[i], share * sample / SAMPLES, seed, x[i]);
        tac_near_pair(type, x, &near);
        if (!(near.d < form.radius + w->view.margin * form.thickness))
            continue;
        tally->near++;
        tally->by_type[type]++;
        CHECK(s != NULL, "type %d, %d and %d come to %g m and are not shown", type, a, b, near.d);
        return;
    }
}

static void look_at_all(struct world *w, struct tally *tally, double share, uint64_t *seed)
{
    const struct tac_local_mesh *mesh = w->scene->mesh;
    const tac_lid *edge = mesh->topology->edge;
    for (tac_lid p = 0; p < mesh->vertex_count; p++) {
        for (tac_lid t = 0; t < mesh->triangle_count; t++) {
            const tac_lid v[4] = {p, mesh->triangle[3 * t], mesh->triangle[3 * t + 1], mesh->triangle[3 * t + 2]};
            look(w, tally, TAC_PAIR_VERTEX_TRIANGLE, p, t, v, share, seed);
        }
        for (tac_lid s = 0; s < mesh->segment_count; s++) {
            const tac_lid v[4] = {p, mesh->segment[2 * s], mesh->segment[2 * s + 1], -1};
            look(w, tally, TAC_PAIR_VERTEX_SEGMENT, p, s, v, share, seed);
        }
        for (tac_lid q = p + 1; q < mesh->vertex_count; q++)
            if (w->model->particle[p] && w->model->particle[q])
                look(w, tally, TAC_PAIR_VERTEX_VERTEX, p, q, (tac_lid[4]){p, q, -1, -1}, share, seed);
    }
    for (tac_lid a = 0; a < mesh->topology->edge_count; a++)
        for (tac_lid b = a + 1; b < mesh->topology->edge_count; b++)
            look(w, tally, TAC_PAIR_EDGE_EDGE, a, b,
                 (tac_lid[4]){edge[2 * a], edge[2 * a + 1], edge[2 * b], edge[2 * b + 1]}, share, seed);
}

static void show(struct world *w, double share)
{
    shown_count = 0;
    TAC_CHECK(tac_along_find(w->along, w->x, w->p, share, take, NULL) == TAC_OK);
    qsort(shown, shown_count, sizeof *shown, compare);
    for (size_t k = 1; k < shown_count; k++)
        CHECK(shown[k - 1].key != shown[k].key, "a pair is shown twice: type %d, %d and %d", shown[k].pair.type,
              shown[k].pair.id[0], shown[k].pair.id[1]);
}

static bool holds(const struct world *w, const double *x, const double *p, double share)
{
    bool yes;
    TAC_CHECK(tac_along_holds(w->along, x, p, share, &yes) == TAC_OK);
    return yes;
}

/* The list holds for the places that it was made for and those within the skin, and for no others. */
static void look_at_life(struct world *w, double share, uint64_t *seed)
{
    const size_t n = 3 * (size_t)w->scene->mesh->vertex_count;
    double *x = malloc(n * sizeof *x), *p = calloc(n, sizeof *p);
    TAC_CHECK(x != NULL && p != NULL);
    CHECK(holds(w, w->x, w->p, share), "a list holds for what it was made for");
    for (tac_lid v = 0; v < w->scene->mesh->vertex_count; v++)
        place(w, v, .37 * share, seed, &x[3 * v]);
    CHECK(holds(w, x, p, 1), "a list holds for a place within the skin of its way");
    const size_t one = 3 * (size_t)(*seed % 100); /* of the sheet */
    for (size_t k = one; k < one + 3; k++)
        x[k] = w->x[k] + .37 * share * w->p[k] + (k == one) * 1.2 * w->along->candidates->skin;
    CHECK(!holds(w, x, p, 1), "a list holds no more where one vertex is outside");
    free(x);
    free(p);
}

int main(int argc, char **argv)
{
    struct world w = {0};
    struct tally tally = {0};
    char path[4096];
    int64_t listed = 0;
    const char *root = getenv("TACTUS_SOURCE");
    MPI_Init(&argc, &argv);
    tac_ctx_init(&w.ctx, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/tests/unit/broadphase/along.json", root ? root : ".");
    if (tac_scene_read(&w.ctx, path, NULL, 0, &w.scene) || tac_model_create(&w.ctx, w.scene, &w.model)) {
        printf("%s\n", w.ctx.error);
        return 2;
    }
    const size_t count = (size_t)w.scene->mesh->vertex_count;
    w.state = (struct tac_vertex_state){.owned = (tac_lid)count, .count = (tac_lid)count, .capacity = (tac_lid)count};
    w.scripts.of = malloc(count * sizeof *w.scripts.of);
    w.x = malloc(3 * count * sizeof *w.x);
    w.p = malloc(3 * count * sizeof *w.p);
    TAC_CHECK(w.scripts.of != NULL && w.x != NULL && w.p != NULL);
    for (size_t v = 0; v < count; v++)
        w.scripts.of[v] = -1;
    w.view = view_of(&w, 1.125);
    TAC_CHECK(tac_along_create(&w.view, 0, &w.along) == TAC_OK);
    w.along->fixed = true;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t dice = tac_hash64(17, seed);
        const double share = seed % 2 ? 1 : random_in(&dice, .01, 1);
        w.along->candidates->skin = w.along->skin_most * random_in(&dice, .03, seed % 5 ? 1 : 4);
        shake(&w, dice);
        show(&w, share);
        look_at_all(&w, &tally, share, &dice);
        look_at_life(&w, share, &dice);
        listed += (int64_t)shown_count;
    }
    printf("%lld of %lld pairs come near, %lld are shown\n", (long long)tally.near, (long long)tally.pairs,
           (long long)listed);
    for (int type = 0; type < 4; type++)
        CHECK(tally.by_type[type] > 100, "type %d: pairs must come near for this to test something", type);
    CHECK(listed < tally.pairs / 4, "of %lld pairs %lld are shown: the search leaves out too few",
          (long long)tally.pairs, (long long)listed);
    tac_along_destroy(&w.along);
    tac_model_destroy(&w.model);
    tac_scene_destroy(&w.scene);
    free(w.scripts.of);
    free(w.x);
    free(w.p);
    MPI_Finalize();
    return check_result();
}
