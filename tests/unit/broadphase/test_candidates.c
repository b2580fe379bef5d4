/* test_candidates.c: the list of candidates against all pairs. In the middle of runs each vertex is taken along the
 * centre line of its trajectory bound, which is one of the paths that the bound allows: every pair that comes under its
 * first layer on the way must be in the list. If it failed, contacts would be found late or never. */
#include "broadphase/candidates.h"
#include "geometry/closest_points.h"
#include "unit/events/support.h"

#include <math.h>

enum { MOMENTS = 12, SAMPLES = 4, MOST_KEYS = 1 << 16 };

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

struct listed {
    uint64_t key[MOST_KEYS];
    size_t count;
    int near, pairs; /* pairs that must be there; pairs looked at */
};

static bool has(const struct listed *list, uint64_t key)
{
    return bsearch(&key, list->key, list->count, sizeof key, compare_keys) != NULL;
}

/* Looks at one pair, from now on to the end of the list's lifetime. */
static void look(const struct tac_sim *sim, struct listed *list, enum tac_pair_type type, const tac_lid *v, tac_lid a,
                 tac_lid b)
{
    const struct tac_candidates *c = sim->view.candidates;
    struct tac_form form;
    if (!tac_model_is_pair(sim->model, type, v))
        return;
    list->pairs++;
    tac_model_form(sim->model, type, v, &form);
    for (int sample = 0; sample <= SAMPLES; sample++) {
        const double now_s = tac_state_seconds(&sim->state, sim->state.now - c->start),
                     end_s = tac_state_seconds(&sim->state, c->end - c->start);
        const double t_s = now_s + (end_s - now_s) * sample / SAMPLES;
        struct tac_near near;
        double x[4][3];
        for (int i = 0; i < tac_pair_vertices(type); i++)
            for (int k = 0; k < 3; k++)
                x[i][k] = c->path_bound[v[i]].x[k] + t_s * c->path_bound[v[i]].v[k];
        tac_near_pair(type, x, &near);
        if (near.d >= tac_model_reach(sim->model, &form, 1) * (1 - 1e-9))
            continue;
        list->near++;
        CHECK(has(list, tac_pair_key(type, a, b)) ||
                  (type == TAC_PAIR_EDGE_EDGE && has(list, tac_pair_key(type, b, a))),
              "pair of type %d, %d and %d, comes to %g m and is no candidate", (int)type, (int)a, (int)b, near.d);
        return;
    }
}

static void look_at_all(const struct tac_sim *sim, struct listed *list)
{
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    const struct tac_candidates *c = sim->view.candidates;
    TAC_CHECK(c->count <= MOST_KEYS);
    list->count = c->count;
    for (size_t i = 0; i < c->count; i++)
        list->key[i] = c->list[i].key;
    qsort(list->key, list->count, sizeof *list->key, compare_keys);
    for (tac_lid p = 0; p < mesh->vertex_count; p++)
        for (tac_lid t = 0; t < mesh->triangle_count; t++) {
            const tac_lid v[4] = {p, mesh->triangle[3 * t], mesh->triangle[3 * t + 1], mesh->triangle[3 * t + 2]};
            look(sim, list, TAC_PAIR_VERTEX_TRIANGLE, v, p, t);
        }
    for (tac_lid a = 0; a < mesh->topology->edge_count; a++)
        for (tac_lid b = a + 1; b < mesh->topology->edge_count; b++) {
            const tac_lid *e = mesh->topology->edge, v[4] = {e[2 * a], e[2 * a + 1], e[2 * b], e[2 * b + 1]};
            look(sim, list, TAC_PAIR_EDGE_EDGE, v, a, b);
        }
}

static void scene(const char *file, const char *change, struct listed *list)
{
    struct settings s = {.count = 0};
    struct experiment e;
    set(&s, "%s", change);
    begin(&e, file, &s);
    list->near = list->pairs = 0;
    for (int k = 1; k <= MOMENTS && run_to(&e, e.scene->settings->end_s * k / MOMENTS); k++)
        if (e.sim->view.candidates->end > e.sim->state.now)
            look_at_all(e.sim, list);
    printf("%s: %d of %d pairs come near\n", file, list->near, list->pairs);
    CHECK(list->near > 100, "%s: pairs must come near for this to test something", file);
    end(&e);
}

int main(int argc, char **argv)
{
    static struct listed list;
    MPI_Init(&argc, &argv);
    scene("tests/system/equality/scenes/crossing-ribbons.json", "contact.restitution=0.5", &list);
    scene("tests/system/equality/scenes/cloth-over-sphere.json", "contact.restitution=0.5", &list);
    MPI_Finalize();
    return check_result();
}
