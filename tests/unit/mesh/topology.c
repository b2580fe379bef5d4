/* Topology against a brute-force reference on meshes good and bad. */
#include "support.h"

struct soup {
    tac_lid vertices, triangles, segments;
    tac_lid triangle[3 * 400], segment[2 * 100];
};

static bool has(const tac_lid *v, tac_lid a)
{
    return v[0] == a || v[1] == a || v[2] == a;
}

static bool goes(const tac_lid *v, tac_lid a, tac_lid b)
{
    for (int k = 0; k < 3; k++)
        if (v[k] == a && v[(k + 1) % 3] == b)
            return true;
    return false;
}

static void check_against_brute_force(const struct soup *s, const struct tac_topology *topo)
{
    tac_lid e = 0, h = 0;
    for (tac_lid a = 0; a < s->vertices; a++) {
        for (tac_lid b = a + 1; b < s->vertices; b++) {
            tac_lid at[2] = {-1, -1}, valence = 0, segment = -1;
            for (tac_lid t = 0; t < s->triangles; t++) {
                const tac_lid *v = s->triangle + 3 * t;
                if (!has(v, a) || !has(v, b))
                    continue;
                if (valence < 2)
                    at[valence] = t;
                valence++;
                for (int k = 0; k < 3; k++)
                    if (v[k] != a && v[k] != b)
                        CHECK(topo->triangle_edge[3 * t + k] == e);
            }
            for (tac_lid i = s->segments; i-- > 0;) {
                const tac_lid *v = s->segment + 2 * i;
                if ((v[0] == a && v[1] == b) || (v[0] == b && v[1] == a))
                    segment = i;
            }
            if (valence == 0 && segment < 0)
                continue;
            CHECK(e < topo->edge_count && topo->edge[2 * e] == a && topo->edge[2 * e + 1] == b, "edge %d", e);
            CHECK(topo->edge_valence[e] == valence && topo->edge_segment[e] == segment, "edge %d", e);
            CHECK(topo->edge_triangle[2 * e] == at[0] && topo->edge_triangle[2 * e + 1] == at[1], "edge %d", e);
            if (valence == 2) {
                const bool first = goes(s->triangle + 3 * at[0], a, b), second = goes(s->triangle + 3 * at[1], a, b);
                const int swap = !first && second;
                const tac_lid *hinge = topo->hinge + 4 * h;
                CHECK(h < topo->hinge_count && topo->hinge_edge[h] == e && hinge[0] == a && hinge[1] == b);
                for (int side = 0; side < 2; side++) {
                    const tac_lid *v = s->triangle + 3 * at[side ^ swap];
                    CHECK(has(v, hinge[2 + side]) && hinge[2 + side] != a && hinge[2 + side] != b);
                }
                h++;
            }
            e++;
        }
    }
    CHECK(e == topo->edge_count && h == topo->hinge_count, "%d edges, %d hinges", topo->edge_count, topo->hinge_count);
}

/* Random triangles and segments on few vertices: non-manifold edges, disagreeing orientations, repeats. */
static void random_soup(uint64_t seed, struct soup *s)
{
    uint64_t state = seed * 6364136223846793005u + 1442695040888963407u;
    memset(s, 0, sizeof *s);
#define NEXT(n) ((tac_lid)((state = state * 6364136223846793005u + 1442695040888963407u, state >> 33) % (uint64_t)(n)))
    s->vertices = 3 + NEXT(40);
    s->triangles = NEXT(200);
    s->segments = NEXT(60);
    for (tac_lid t = 0; t < s->triangles; t++) {
        tac_lid *v = s->triangle + 3 * t;
        do {
            for (int k = 0; k < 3; k++)
                v[k] = NEXT(s->vertices);
        } while (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]);
    }
    for (tac_lid i = 0; i < s->segments; i++) {
        do {
            s->segment[2 * i] = NEXT(s->vertices);
            s->segment[2 * i + 1] = NEXT(s->vertices);
        } while (s->segment[2 * i] == s->segment[2 * i + 1]);
    }
}

static enum tac_err build(const struct soup *s, struct tac_topology **topo)
{
    ctx.error[0] = '\0';
    return tac_topology_create(&ctx, s->vertices, s->triangles, s->triangle, s->segments, s->segment, topo);
}

static void check_bad(const struct soup *s, const char *expected)
{
    struct tac_topology *topo = NULL;
    CHECK(build(s, &topo) == TAC_ERR_INPUT && topo == NULL && strstr(ctx.error, expected) != NULL, "%s", ctx.error);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    static struct soup s;
    struct tac_topology *topo = NULL;
    for (uint64_t seed = 0; seed < 60; seed++) {
        random_soup(seed, &s);
        CHECK(build(&s, &topo) == TAC_OK, "%s", ctx.error);
        check_against_brute_force(&s, topo);
        tac_topology_destroy(&topo);
        CHECK(topo == NULL);
    }
    /* Nothing at all, and vertices alone. */
    memset(&s, 0, sizeof s);
    CHECK(build(&s, &topo) == TAC_OK && topo->edge_count == 0 && topo->hinge_count == 0);
    tac_topology_destroy(&topo);
    tac_topology_destroy(&topo);

    struct soup bad = {.vertices = 4, .triangles = 2, .triangle = {0, 1, 2, 1, 2, 4}};
    check_bad(&bad, "triangle 1 ");
    bad.triangle[5] = -1;
    check_bad(&bad, "triangle 1 ");
    bad.triangle[5] = 1;
    check_bad(&bad, "triangle 1 ");
    struct soup loop = {.vertices = 4, .segments = 1, .segment = {3, 3}};
    check_bad(&loop, "segment 0 ");
    loop.segment[0] = 4;
    check_bad(&loop, "segment 0 ");
    struct soup huge = {.vertices = 4, .triangles = INT32_MAX};
    check_bad(&huge, "coarser");

    /* A million triangles in about a second: a grid, whose counts are known. */
    struct tac_mesh *mesh = make("{'kind':'grid','size':[1,1],'cells':[500,1000]}");
    const double start = tac_wall_s();
    ctx.error[0] = '\0';
    CHECK(tac_topology_create(&ctx, mesh->vertex_count, mesh->triangle_count, mesh->triangle, 0, NULL, &topo) ==
          TAC_OK);
    printf("topology of %d triangles: %.3f s\n", mesh->triangle_count, tac_wall_s() - start);
    CHECK(topo->edge_count == 500 * 1001 + 501 * 1000 + 500 * 1000);
    CHECK(topo->hinge_count == topo->edge_count - 2 * 500 - 2 * 1000);
    tac_topology_destroy(&topo);
    tac_mesh_destroy(&mesh);
    MPI_Finalize();
    return check_result();
}
