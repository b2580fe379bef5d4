/* support.h: what the mesh tests share: a context, meshes from JSON text, and measures of a mesh. */
#ifndef TACTUS_TESTS_MESH_SUPPORT_H
#define TACTUS_TESTS_MESH_SUPPORT_H

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>
#include <tactus/mesh.h>

static struct tac_ctx ctx;

/* A mesh from JSON with single quotes for double ones; NULL with ctx.error set. */
static inline struct tac_mesh *make_where(const char *text, const char *where)
{
    struct tac_mesh *mesh = NULL;
    char copy[16384];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    json_error_t error;
    json_t *spec = json_loads(copy, JSON_DECODE_ANY, &error);
    if (spec == NULL) {
        printf("the test's JSON is wrong: %s: %s\n", copy, error.text);
        abort();
    }
    ctx.error[0] = '\0';
    ctx.quiet = true;
    enum tac_err err = tac_mesh_create(&ctx, spec, where, ".", &mesh);
    json_decref(spec);
    if ((err == TAC_OK) != (mesh != NULL) || (err == TAC_OK) != (ctx.error[0] == '\0') ||
        (err != TAC_OK && err != TAC_ERR_INPUT)) {
        printf("error code, sentence and mesh disagree: %d %s %p\n", err, ctx.error, (void *)mesh);
        abort();
    }
    return mesh;
}

static inline struct tac_mesh *make(const char *text)
{
    struct tac_mesh *mesh = make_where(text, "mesh");
    if (mesh == NULL)
        printf("%s\n", ctx.error);
    return mesh;
}

struct measure {
    int vertices, edges, triangles, segments, boundary_edges, euler, components;
    bool manifold; /* no edge has more than two triangles */
    bool oriented; /* neighbours agree */
    double area, volume, shortest_edge, longest_edge;
    double low[3], high[3];
};

static inline tac_lid find_root(tac_lid *parent, tac_lid i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static inline struct measure measure(const struct tac_mesh *mesh)
{
    struct measure m = {.manifold = true, .oriented = true, .shortest_edge = INFINITY};
    struct tac_topology *topo = NULL;
    if (tac_topology_create(&ctx, mesh->vertex_count, mesh->triangle_count, mesh->triangle, mesh->segment_count,
                            mesh->segment, &topo) != TAC_OK)
        abort();
    m.vertices = mesh->vertex_count;
    m.edges = topo->edge_count;
    m.triangles = mesh->triangle_count;
    m.segments = mesh->segment_count;
    m.euler = m.vertices - m.edges + m.triangles;
    tac_lid *parent = malloc(sizeof *parent * (size_t)(mesh->vertex_count + 1));
    for (tac_lid i = 0; i < mesh->vertex_count; i++)
        parent[i] = i;
    for (tac_lid e = 0; e < topo->edge_count; e++) {
        const tac_lid *v = topo->edge + 2 * e, *two = topo->edge_triangle + 2 * e;
        double d[3];
        tac_sub(d, mesh->x + 3 * v[1], mesh->x + 3 * v[0]);
        m.shortest_edge = fmin(m.shortest_edge, sqrt(tac_dot(d, d)));
        m.longest_edge = fmax(m.longest_edge, sqrt(tac_dot(d, d)));
        m.boundary_edges += topo->edge_valence[e] == 1;
        m.manifold = m.manifold && topo->edge_valence[e] <= 2;
        parent[find_root(parent, v[0])] = find_root(parent, v[1]);
        if (topo->edge_valence[e] == 2) {
            int forward = 0;
            for (int s = 0; s < 2; s++)
                for (int k = 0; k < 3; k++)
                    forward +=
                        mesh->triangle[3 * two[s] + k] == v[0] && mesh->triangle[3 * two[s] + (k + 1) % 3] == v[1];
            m.oriented = m.oriented && forward == 1;
        }
    }
    for (tac_lid i = 0; i < mesh->vertex_count; i++) {
        m.components += parent[i] == i;
        for (int k = 0; k < 3; k++) {
            m.low[k] = i ? fmin(m.low[k], mesh->x[3 * i + k]) : mesh->x[k];
            m.high[k] = i ? fmax(m.high[k], mesh->x[3 * i + k]) : mesh->x[k];
        }
    }
    for (tac_lid t = 0; t < mesh->triangle_count; t++) {
        const double *a = mesh->x + 3 * mesh->triangle[3 * t], *b = mesh->x + 3 * mesh->triangle[3 * t + 1],
                     *c = mesh->x + 3 * mesh->triangle[3 * t + 2];
        double u[3], w[3], n[3];
        tac_sub(u, b, a);
        tac_sub(w, c, a);
        tac_cross(n, u, w);
        m.area += .5 * sqrt(tac_dot(n, n));
        m.volume += tac_dot(a, n) / 6;
    }
    free(parent);
    tac_topology_destroy(&topo);
    return m;
}

/* Closed, oriented outward (volume positive), one piece. */
static inline void check_closed(const char *name, const struct measure *m, int euler)
{
    CHECK(m->boundary_edges == 0 && m->manifold, "%s: %d boundary edges", name, m->boundary_edges);
    CHECK(m->oriented && m->volume > 0, "%s: volume %g", name, m->volume);
    CHECK(m->euler == euler && m->components == 1, "%s: Euler %d, %d components", name, m->euler, m->components);
    CHECK(m->segments == 0, "%s", name);
}

static inline bool near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fmax(fabs(a), fabs(b));
}

#endif
