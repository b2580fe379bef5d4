/* Every generator: closed where it should be, outward, with the counts and the size asked for; wrong input refused. */
#include "support.h"

static void check_grid(void)
{
    struct tac_mesh *mesh = make("{'kind':'grid','size':[2,3],'cells':[4,5]}");
    struct measure m = measure(mesh);
    CHECK(m.vertices == 30 && m.triangles == 40 && m.euler == 1 && m.boundary_edges == 18 && m.oriented);
    CHECK(near(m.area, 6, 1e-15) && m.low[0] == -1 && m.high[0] == 1 && m.low[2] == -1.5 && m.high[2] == 1.5);
    CHECK(m.low[1] == 0 && m.high[1] == 0);
    CHECK(mesh->x[3] == -.5 && mesh->x[5] == -1.5, "x is fastest");
    /* Faces +y; the first diagonal runs low-low to high-high, its neighbours' the other way. */
    for (tac_lid t = 0; t < mesh->triangle_count; t++) {
        double u[3], w[3], n[3];
        tac_sub(u, mesh->x + 3 * mesh->triangle[3 * t + 1], mesh->x + 3 * mesh->triangle[3 * t]);
        tac_sub(w, mesh->x + 3 * mesh->triangle[3 * t + 2], mesh->x + 3 * mesh->triangle[3 * t]);
        tac_cross(n, u, w);
        CHECK(n[1] > 0, "triangle %d", t);
    }
    struct tac_topology *topo = NULL;
    CHECK(tac_topology_create(&ctx, m.vertices, m.triangles, mesh->triangle, 0, NULL, &topo) == TAC_OK);
    for (int j = 0; j < 5; j++) {
        for (int i = 0; i < 4; i++) {
            const tac_lid a = 5 * j + i + ((i + j) % 2 ? 1 : 0), b = 5 * (j + 1) + i + ((i + j) % 2 ? 0 : 1);
            bool found = false;
            for (tac_lid e = 0; e < topo->edge_count; e++)
                found = found || (topo->edge[2 * e] == a && topo->edge[2 * e + 1] == b);
            CHECK(found, "diagonal of cell %d, %d", i, j);
        }
    }
    tac_topology_destroy(&topo);
    tac_mesh_destroy(&mesh);
}

static void check_sphere(void)
{
    const double exact_area = 4 * TAC_PI * .25, exact_volume = 4 * TAC_PI / 3 * .125;
    double last = INFINITY;
    for (int level = 0; level <= 5; level++) {
        char text[100];
        snprintf(text, sizeof text, "{'kind':'sphere','radius':0.5,'level':%d}", level);
        struct tac_mesh *mesh = make(text);
        struct measure m = measure(mesh);
        check_closed(text, &m, 2);
        CHECK(m.triangles == 20 << (2 * level) && m.vertices == (10 << (2 * level)) + 2);
        for (tac_lid i = 0; i < m.vertices; i++)
            CHECK(near(tac_dot(mesh->x + 3 * i, mesh->x + 3 * i), .25, 1e-15), "vertex %d", i);
        const double error = fmax(1 - m.area / exact_area, 1 - m.volume / exact_volume);
        /* Second order: each level a quarter of the error. */
        CHECK(error > 0 && error < (level < 2 ? .6 : .28) * last, "level %d: error %g after %g", level, error, last);
        last = error;
        tac_mesh_destroy(&mesh);
    }
}

static void check_solids(void)
{
    static const struct {
        const char *name;
        int vertices, triangles;
        double area, volume; /* for edge 1 */
    } solid[] = {
        {"tetrahedron", 4, 4, 1.7320508075688772, 0.11785113019775793},
        {"cube", 8, 12, 6, 1},
        {"octahedron", 6, 8, 3.4641016151377544, 0.47140452079103168},
        {"dodecahedron", 20, 36, 20.645728807067603, 7.6631189606246320},
        {"icosahedron", 12, 20, 8.6602540378443865, 2.1816949906249123},
    };
    for (size_t i = 0; i < sizeof solid / sizeof solid[0]; i++) {
        for (int level = 0; level < 4; level++) {
            char text[100];
            snprintf(text, sizeof text, "{'kind':'%s','edge':2,'level':%d}", solid[i].name, level);
            struct tac_mesh *mesh = make(text);
            struct measure m = measure(mesh);
            check_closed(text, &m, 2);
            CHECK(m.triangles == solid[i].triangles << (2 * level), "%s", text);
            CHECK(near(m.area, 4 * solid[i].area, 1e-12) && near(m.volume, 8 * solid[i].volume, 1e-12),
                  "%s: area %.17g, volume %.17g", text, m.area / 4, m.volume / 8);
            if (level == 0)
                CHECK(m.vertices == solid[i].vertices && near(m.shortest_edge, 2, 1e-15), "%s", text);
            for (int k = 0; k < 3; k++)
                CHECK(near(m.low[k], -m.high[k], 1e-15), "%s is centred", text);
            tac_mesh_destroy(&mesh);
        }
    }
}

static void check_box(void)
{
    static const int cells[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {1, 1, 4}, {3, 4, 5}, {2, 2, 2}};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        const int *n = cells[i];
        char text[100];
        snprintf(text, sizeof text, "{'kind':'box','size':[1,2,3],'cells':[%d,%d,%d]}", n[0], n[1], n[2]);
        struct tac_mesh *mesh = make(text);
        struct measure m = measure(mesh);
        check_closed(text, &m, 2);
        CHECK(m.triangles == 4 * (n[0] * n[1] + n[1] * n[2] + n[2] * n[0]), "%s", text);
        CHECK(near(m.area, 22, 1e-14) && near(m.volume, 6, 1e-14), "%s", text);
        CHECK(m.low[0] == -.5 && m.high[1] == 1 && m.low[2] == -1.5, "%s", text);
        tac_mesh_destroy(&mesh);
    }
}

/* Areas and volumes against the smooth shapes, twice as fine each time: second order, from inside. */
static void check_round(const char *format, int euler, bool closed, double area, double volume)
{
    double last_area = INFINITY, last_volume = INFINITY;
    for (int n = 6; n <= 96; n *= 2) {
        char text[200];
        snprintf(text, sizeof text, format, n, n);
        struct tac_mesh *mesh = make(text);
        struct measure m = measure(mesh);
        if (closed) {
            check_closed(text, &m, euler);
        } else {
            CHECK(m.oriented && m.manifold && m.euler == euler && m.components == 1, "%s", text);
        }
        const double area_error = 1 - m.area / area, volume_error = 1 - m.volume / volume;
        CHECK(area_error > 0 && area_error < .3 * last_area && volume_error > 0 && volume_error < .3 * last_volume,
              "%s: %g after %g, %g after %g", text, area_error, last_area, volume_error, last_volume);
        last_area = area_error;
        last_volume = volume_error;
        for (int k = 0; k < 3; k += 2)
            CHECK(m.low[k] == -m.high[k], "%s is symmetric to the last bit", text);
        tac_mesh_destroy(&mesh);
    }
    CHECK(last_area < 2e-3 && last_volume < 3e-3, "%s: %g %g", format, last_area, last_volume);
}

static void check_revolved(void)
{
    check_round("{'kind':'torus','radii':[2,0.5],'cells':[%d,%d]}", 0, true, 4 * TAC_PI * TAC_PI, TAC_PI * TAC_PI);
    check_round("{'kind':'cylinder','radius':2,'height':3,'cells':[%d,%d],'closed':true}", 2, true, 20 * TAC_PI,
                12 * TAC_PI);
    /* Open: the volume integral over the side alone is 2/3 of the whole, of a cone about its middle half of it. */
    check_round("{'kind':'cylinder','radius':2,'height':3,'cells':[%d,%d]}", 0, false, 12 * TAC_PI, 8 * TAC_PI);
    check_round("{'kind':'cone','radius':3,'height':4,'cells':[%d,%d],'closed':true}", 2, true, 24 * TAC_PI,
                12 * TAC_PI);
    check_round("{'kind':'cone','radius':3,'height':4,'cells':[%d,%d]}", 1, false, 15 * TAC_PI, 6 * TAC_PI);
    static const char *const smallest[] = {"{'kind':'torus','radii':[2,0.5],'cells':[3,3]}",
                                           "{'kind':'cylinder','radius':1,'height':1,'cells':[3,1],'closed':true}",
                                           "{'kind':'cone','radius':1,'height':1,'cells':[3,1],'closed':true}"};
    static const int euler[] = {0, 2, 2};
    for (int i = 0; i < 3; i++) {
        struct tac_mesh *mesh = make(smallest[i]);
        struct measure m = measure(mesh);
        check_closed(smallest[i], &m, euler[i]);
        tac_mesh_destroy(&mesh);
    }
    struct tac_mesh *mesh = make("{'kind':'cylinder','radius':1,'height':1,'cells':[8,1]}");
    CHECK(mesh->x[0] == 1 && mesh->x[2] == 0 && mesh->x[6] == 0 && mesh->x[8] == 1 && mesh->x[3] == mesh->x[5],
          "quarters and diagonals are exact");
    CHECK(mesh->x[1] == -.5, "from the bottom up");
    tac_mesh_destroy(&mesh);
}

static void check_spikes(void)
{
    for (int sides = 3; sides <= 13; sides++) {
        char text[200];
        snprintf(text, sizeof text, "{'kind':'spikes','size':[3,4],'count':[3,2],'height':2,'base':0.99,'sides':%d}",
                 sides);
        struct tac_mesh *mesh = make(text);
        struct measure m = measure(mesh);
        CHECK(m.euler == 1 && m.components == 1 && m.oriented && m.manifold && m.boundary_edges == 10, "%s", text);
        CHECK(m.vertices == 12 + 6 * (sides + 1) && m.triangles == 6 * (4 + 2 * sides), "%s", text);
        CHECK(m.low[0] == -1.5 && m.high[2] == 2 && m.low[1] == 0 && m.high[1] == 2, "%s", text);
        /* Seen from above the mesh covers the plate once: every triangle faces up, and their shadows add up to it. */
        double shadow = 0, foot = 0;
        for (tac_lid t = 0; t < m.triangles; t++) {
            double u[3], w[3], n[3];
            tac_sub(u, mesh->x + 3 * mesh->triangle[3 * t + 1], mesh->x + 3 * mesh->triangle[3 * t]);
            tac_sub(w, mesh->x + 3 * mesh->triangle[3 * t + 2], mesh->x + 3 * mesh->triangle[3 * t]);
            tac_cross(n, u, w);
            CHECK(n[1] > 0, "%s: triangle %d", text, t);
            shadow += n[1] / 2;
            for (int k = 0; k < 3; k++)
                if (mesh->x[3 * mesh->triangle[3 * t + k] + 1] > 0)
                    foot += n[1] / 2;
        }
        CHECK(near(shadow, 12, 1e-14), "%s: %g", text, shadow);
        CHECK(near(foot, 6 * .5 * sides * .495 * .495 * sin(2 * TAC_PI / sides), 1e-13), "%s: %g", text, foot);
        tac_mesh_destroy(&mesh);
    }
}

/* The ribbon's direction across at each point along, from its two rims. */
static void across(const struct tac_mesh *mesh, tac_lid along, tac_lid rows, tac_lid i, double out[3])
{
    tac_sub(out, mesh->x + 3 * (along * (rows - 1) + i), mesh->x + 3 * i);
}

static void check_ribbon(void)
{
    /* Straight, in a plane that is no power of two, from a curve with repeated points: the same as a grid. */
    struct tac_mesh *mesh = make("{'kind':'ribbon','curve':[[-1,0.3,0],[-1,0.3,0],[0.5,0.3,0],[0.5,0.3,0],[1,0.3,0]],"
                                 "'width':3,'cells':[4,5]}");
    struct tac_mesh *grid = make("{'kind':'grid','size':[2,3],'cells':[4,5]}");
    CHECK(mesh->vertex_count == grid->vertex_count && mesh->triangle_count == grid->triangle_count);
    for (tac_lid i = 0; i < grid->vertex_count; i++) {
        for (int k = 0; k < 3; k += 2)
            CHECK(fabs(mesh->x[3 * i + k] - grid->x[3 * i + k]) < 1e-15, "vertex %d", i);
        CHECK(mesh->x[3 * i + 1] == .3, "vertex %d", i);
    }
    CHECK(memcmp(mesh->triangle, grid->triangle, sizeof(tac_lid) * 3 * (size_t)grid->triangle_count) == 0);
    tac_mesh_destroy(&mesh);
    tac_mesh_destroy(&grid);

    /* A circle closed on itself: an annulus lying flat, with or without up; area 2 pi R w. */
    static const char *const up[] = {"", ",'up':[0,1,0]", ",'up':[0.3,1,0.2]"};
    for (int u = 0; u < 3; u++) {
        char text[8000] = "{'kind':'ribbon','curve':[";
        for (int i = 0; i <= 64; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s[%.17g,0,%.17g]", i ? "," : "",
                     i % 64 ? cos(TAC_PI * i / 32) : 1, i % 64 ? sin(TAC_PI * i / 32) : 0);
        snprintf(text + strlen(text), sizeof text - strlen(text), "],'width':0.4,'cells':[64,3]%s}", up[u]);
        mesh = make(text);
        struct measure m = measure(mesh);
        CHECK(m.euler == 0 && m.oriented && m.components == 1 && m.boundary_edges == 128 && m.vertices == 256);
        if (u < 2)
            CHECK(near(m.area, 2 * TAC_PI * .4, 5e-3) && fabs(m.low[1]) + fabs(m.high[1]) < 1e-14, "%g", m.area);
        for (tac_lid i = 0; i < 64; i++) {
            double a[3], b[3];
            across(mesh, 64, 4, i, a);
            across(mesh, 64, 4, (i + 1) % 64, b);
            CHECK(near(tac_dot(a, a), .16, 1e-12) && tac_dot(a, b) > .155, "no jump at %d: %g", i, tac_dot(a, b));
        }
        tac_mesh_destroy(&mesh);
    }

    /* A full loop in the x-y plane passes up twice: the ribbon stays across the plane and does not flip. A helix stays
     * smooth and faces up as far as it can. */
    for (int u = 0; u < 4; u++) {
        char text[12000] = "{'kind':'ribbon','curve':[";
        for (int i = 0; i <= 100; i++) {
            const double a = 2 * TAC_PI * i / 50;
            if (u < 2)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s[%.17g,%.17g,%.17g]", i ? "," : "", sin(a),
                         -cos(a), .01 * i);
            else
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s[%.17g,%.17g,%.17g]", i ? "," : "", cos(a),
                         .01 * i, sin(a));
        }
        snprintf(text + strlen(text), sizeof text - strlen(text), "],'width':0.1,'cells':[300,2]%s}",
                 u % 2 ? ",'up':[0,1,0]" : "");
        mesh = make(text);
        struct measure m = measure(mesh);
        CHECK(m.euler == 1 && m.oriented);
        for (tac_lid i = 0; i + 1 < 301; i++) {
            double a[3], b[3];
            across(mesh, 301, 3, i, a);
            across(mesh, 301, 3, i + 1, b);
            CHECK(near(tac_dot(a, a), .01, 1e-12) && tac_dot(a, b) > .0099, "curve %d: no jump at %d: %g", u, i,
                  tac_dot(a, b));
            if (u == 3)
                CHECK(fabs(a[1]) < 1e-14, "level across at %d", i);
            /* Carried along a helix a frame turns by 2 pi sin(pitch) a loop, here half a radian. */
            if (u < 2)
                CHECK(a[2] > (u ? .09 : .05), "curve %d: across the plane at %d", u, i);
        }
        tac_mesh_destroy(&mesh);
    }

    /* Along up everywhere, and a curve that folds back on itself. */
    mesh = make("{'kind':'ribbon','curve':[[0,0,0],[0,3,0]],'width':1,'cells':[3,1],'up':[0,2,0]}");
    struct measure m = measure(mesh);
    CHECK(near(m.area, 3, 1e-14) && m.euler == 1);
    tac_mesh_destroy(&mesh);
    mesh = make("{'kind':'ribbon','curve':[[0,0,0],[1,0,0],[0,0,0]],'width':1,'cells':[2,1]}");
    m = measure(mesh);
    CHECK(near(m.area, 2, 1e-14) && m.euler == 1, "folded in two");
    tac_mesh_destroy(&mesh);
    /* Points are at even arc length: knots that are not samples are cut off, samples lie on the curve. */
    mesh = make("{'kind':'ribbon','curve':[[0,0,0],[1,0,0],[1,0,3]],'width':0.1,'cells':[8,2]}");
    for (tac_lid i = 0; i <= 8; i++) {
        const double *x = mesh->x + 3 * (9 + i), s = .5 * i;
        CHECK(fabs(x[0] - fmin(s, 1)) < 1e-15 && fabs(x[2] - fmax(s - 1, 0)) < 1e-15 && x[1] == 0, "sample %d", i);
    }
    tac_mesh_destroy(&mesh);
}

static void check_listed(void)
{
    struct tac_mesh *mesh = make("{'kind':'segments','from':[0,0,0],'to':[1,2,0],'cells':4}");
    struct measure m = measure(mesh);
    CHECK(m.vertices == 5 && m.segments == 4 && m.components == 1 && near(m.longest_edge, m.shortest_edge, 1e-15));
    CHECK(mesh->x[12] == 1 && mesh->x[13] == 2 && mesh->x[14] == 0 && !signbit(mesh->x[14]));
    tac_mesh_destroy(&mesh);

    mesh = make("{'kind':'segments','vertices':[[0,0,0],[1,0,0],[1,1,-0.0]],'closed':true}");
    CHECK(mesh->segment_count == 3 && mesh->segment[4] == 2 && mesh->segment[5] == 0 && !signbit(mesh->x[8]));
    tac_mesh_destroy(&mesh);

    mesh = make("{'kind':'segments','vertices':[[0,0,0],[1,0,0],[1,1,0],[5,5,5]],'edges':[[2,0]]}");
    CHECK(mesh->segment_count == 1 && mesh->vertex_count == 2 && mesh->segment[0] == 1 && mesh->segment[1] == 0);
    CHECK(ctx.warnings == 1, "dropped vertices are told");
    tac_mesh_destroy(&mesh);

    mesh = make("{'kind':'points','vertices':[[0,0,0],[1,0,0],[1,0,0]]}");
    CHECK(mesh->vertex_count == 3 && mesh->triangle_count == 0 && mesh->segment_count == 0);
    tac_mesh_destroy(&mesh);

    mesh = make("{'kind':'points','lattice':{'count':[2,3,1],'spacing':0.5}}");
    m = measure(mesh);
    CHECK(m.vertices == 6 && m.low[0] == -.25 && m.high[0] == .25 && m.low[1] == -.5 && m.high[1] == .5);
    CHECK(m.low[2] == 0 && m.high[2] == 0 && !signbit(mesh->x[2]) && mesh->x[3] == .25, "x is fastest");
    tac_mesh_destroy(&mesh);

    mesh = make("{'kind':'inline','vertices':[[0,0,0],[1,0,0],[0,1,0],[9,9,9],[0,0,2]],"
                "'triangles':[[0,1,2]],'edges':[[0,4],[1,0]]}");
    CHECK(mesh->vertex_count == 4 && mesh->segment_count == 2 && mesh->segment[1] == 3 && mesh->x[11] == 2);
    tac_mesh_destroy(&mesh);

    mesh = make("{'kind':'inline','vertices':[[0,0,0],[1,0,0]]}");
    CHECK(mesh->vertex_count == 2 && mesh->triangle_count == 0, "an inline mesh without elements is points");
    tac_mesh_destroy(&mesh);
}

/* The middles of round bodies, and a plane. */
static void check_middles(void)
{
    struct tac_mesh *mesh = make("{'kind':'ball','radius':2}");
    CHECK(mesh->vertex_count == 1 && mesh->triangle_count == 0 && mesh->segment_count == 0 &&
          tac_dot(mesh->x, mesh->x) == 0);
    tac_mesh_destroy(&mesh);
    mesh = make("{'kind':'capsule','radius':2,'length':3}");
    struct measure m = measure(mesh);
    CHECK(m.vertices == 2 && mesh->segment_count == 1 && m.low[1] == -1.5 && m.high[1] == 1.5);
    CHECK(m.low[0] == 0 && m.high[0] == 0 && m.low[2] == 0 && m.high[2] == 0, "along y");
    tac_mesh_destroy(&mesh);
    mesh = make("{'kind':'plane','size':[3,5]}");
    struct tac_mesh *grid = make("{'kind':'grid','size':[3,5],'cells':[1,1]}");
    m = measure(mesh);
    CHECK(m.triangles == 2 && m.area == 15 && m.low[0] == -1.5 && m.high[2] == 2.5);
    CHECK(memcmp(mesh->x, grid->x, 12 * sizeof *mesh->x) == 0 &&
              memcmp(mesh->triangle, grid->triangle, 6 * sizeof *mesh->triangle) == 0,
          "a plane is a grid of one cell");
    tac_mesh_destroy(&mesh);
    tac_mesh_destroy(&grid);
}

static void check_refused(void)
{
    static const char *const bad[][2] = {
        {"3", "mesh: must be an object"},
        {"{}", "mesh.kind: must be the name of a mesh kind"},
        {"{'kind':3}", "mesh.kind: must be the name"},
        {"{'kind':'spere'}", "mesh.kind: there is no mesh kind 'spere'; did you mean 'sphere'?"},
        {"{'kind':'teapot of Utah'}", "there are grid, ribbon"},
        {"{'kind':'sphere','level':1}", "mesh.radius: is missing; a sphere needs it"},
        {"{'kind':'sphere','radius':0}", "mesh.radius: must be a number over 0, not 0"},
        {"{'kind':'sphere','radius':-1}", "mesh.radius: must be a number over 0, not -1"},
        {"{'kind':'sphere','radius':'1'}", "mesh.radius: must be a number over 0, not \"1\""},
        {"{'kind':'sphere','radius':1e200}", "mesh.radius: must be of a size that squares"},
        {"{'kind':'sphere','radius':1e-150}", "has no area"},
        {"{'kind':'sphere','radius':1,'level':1.5}", "mesh.level: must be a whole number from 0"},
        {"{'kind':'sphere','radius':1,'level':-1}", "mesh.level: must be a whole number from 0"},
        {"{'kind':'sphere','radius':1,'level':30}", "are more than one mesh may have"},
        {"{'kind':'sphere','radius':1,'level':100000000}", "are more than one mesh may have"},
        {"{'kind':'sphere','radus':1}", "mesh.radus: a sphere has no such key; did you mean 'radius'?"},
        {"{'kind':'ball'}", "mesh.radius: is missing; a ball needs it"},
        {"{'kind':'ball','radius':1,'level':2}", "mesh.level: a ball has no such key; it has radius"},
        {"{'kind':'capsule','radius':1}", "mesh.length: is missing; a capsule needs it"},
        {"{'kind':'capsule','radius':1,'length':0}", "mesh.length: must be a number over 0, not 0"},
        {"{'kind':'plane','size':[1]}", "mesh.size: must be 2 numbers [.., ..], not [1]"},
        {"{'kind':'icosahedron','edge':1,'colour':2}",
         "mesh.colour: an icosahedron has no such key; it has edge, level"},
        {"{'kind':'grid','size':[1],'cells':[1,1]}", "mesh.size: must be 2 numbers [.., ..], not [1]"},
        {"{'kind':'grid','size':[1,-2],'cells':[1,1]}", "mesh.size[1]: must be a number over 0, not -2"},
        {"{'kind':'grid','size':[1,2],'cells':[1,0]}", "mesh.cells[1]: must be a whole number from 1"},
        {"{'kind':'grid','size':[1,2],'cells':[100000000,100000000]}", "are more than one mesh may have"},
        {"{'kind':'grid','size':[1,2],'cells':[1e300,1]}", "mesh.cells[0]: must be a whole number"},
        {"{'kind':'box','size':[1,1,1],'cells':[100000000,100000000,100000000]}", "are more than one mesh may have"},
        {"{'kind':'torus','radii':[1,1],'cells':[9,9]}", "mesh.radii: the tube's radius 1 must be smaller"},
        {"{'kind':'torus','radii':[1,0.5],'cells':[9,2]}", "mesh.cells[1]: must be a whole number from 3"},
        {"{'kind':'cylinder','radius':1,'height':1,'cells':[2,1]}", "mesh.cells[0]: must be a whole number from 3"},
        {"{'kind':'cone','radius':1,'height':1,'cells':[3,1],'close':true}", "did you mean 'closed'?"},
        {"{'kind':'spikes','size':[1,1],'count':[4,4],'height':1,'base':0.25}", "mesh.base: 0.25 does not fit"},
        {"{'kind':'spikes','size':[1,1],'count':[4,4],'height':1,'base':0.2,'sides':2}", "mesh.sides: must be a whole"},
        {"{'kind':'spikes','size':[1,1],'count':[100000000,100000000],'height':1,'base':1e-12}", "than one mesh may"},
        {"{'kind':'ribbon','curve':[[0,0,0]],'width':1,'cells':[1,1]}", "mesh.curve: needs at least 2 points, not 1"},
        {"{'kind':'ribbon','curve':[[0,0,0],[0,0,0]],'width':1,'cells':[1,1]}", "mesh.curve: has no length"},
        {"{'kind':'ribbon','curve':[[0,0,0],[1,0,0]],'width':1,'cells':[1,1],'up':[0,0,0]}", "mesh.up: must have a"},
        {"{'kind':'ribbon','curve':[[0,0,0],[1,0,0],[0,0,1],[0,0,0]],'width':1,'cells':[2,1]}",
         "mesh.cells: a curve that ends where it starts"},
        {"{'kind':'ribbon','curve':[[0,0,0],[1,0,0]],'width':1,'cells':[100000000,100000000]}", "than one mesh may"},
        {"{'kind':'points'}", "exactly one of"},
        {"{'kind':'points','vertices':[]}", "mesh: has no vertices"},
        {"{'kind':'points','vertices':[[0,0,0],[0,0]]}", "mesh.vertices[1]: must be 3 numbers"},
        {"{'kind':'points','vertices':[[0,0,null]]}", "mesh.vertices[0][2]: must be a number, not null"},
        {"{'kind':'points','lattice':{'count':[1,1,1]}}", "mesh.lattice.spacing: is missing"},
        {"{'kind':'points','lattice':{'count':[1,0,1],'spacing':1}}", "mesh.lattice.count[1]: must be a whole number"},
        {"{'kind':'points','lattice':{'count':[1,1,1],'spaceing':1}}", "did you mean 'spacing'?"},
        {"{'kind':'points','lattice':[]}", "mesh.lattice: must be an object"},
        {"{'kind':'points','lattice':{'count':[100000000,100000000,100000000],'spacing':1}}", "more than one mesh"},
        {"{'kind':'segments','from':[0,0,0]}", "mesh.to: is missing"},
        {"{'kind':'segments'}", "mesh.from: is missing"},
        {"{'kind':'segments','from':[0,0,0],'to':[0,0,0]}", "segment 0 (vertices 0, 1) has no length"},
        {"{'kind':'segments','from':[0,0,0],'to':[1,0,0],'closed':true}", "mesh.closed: a straight line"},
        {"{'kind':'segments','vertices':[[0,0,0],[1,0,0]],'closed':true}", "needs at least 3 vertices, not 2"},
        {"{'kind':'segments','vertices':[[0,0,0]]}", "needs at least 2 vertices, not 1"},
        {"{'kind':'segments','vertices':[[0,0,0],[1,0,0]],'cells':2}", "mesh.cells: goes with 'from'"},
        {"{'kind':'segments','vertices':[[0,0,0],[1,0,0]],'edges':[[0,1],[1,0]]}",
         "segment 1 has the same vertices as segment 0"},
        {"{'kind':'segments','vertices':[[0,0,0],[1,0,0]],'closed':1}", "mesh.closed: must be true or false, not 1"},
        {"{'kind':'inline','vertices':[[0,0,0],[1,0,0],[0,1,0]],'triangles':[[0,1,3]]}",
         "mesh.triangles[0][2]: vertex 3 does not exist; there are 3, from 0"},
        {"{'kind':'inline','vertices':[[0,0,0],[1,0,0],[0,1,0]],'triangles':[[0,1,-1]]}",
         "mesh.triangles[0][2]: must be a vertex index"},
        {"{'kind':'inline','vertices':[[0,0,0],[1,0,0],[0,1,0]],'triangles':[[0,1,1.0]]}",
         "mesh.triangles[0][2]: must be a vertex index"},
        {"{'kind':'inline','vertices':[[0,0,0],[1,0,0],[0,1,0]],'triangles':[[0,1,1]]}",
         "triangle 0 names vertex 1 twice"},
        {"{'kind':'inline','vertices':[[0,0,0],[1,1,1],[3,3,3]],'triangles':[[0,1,2]]}",
         "triangle 0 (vertices 0, 1, 2) near (0, 0, 0) has no area"},
        {"{'kind':'inline','vertices':[[0.1,0.1,0.1],[0.2,0.2,0.2],[0.3,0.3,0.3]],'triangles':[[0,1,2]]}",
         "has no area"},
        {"{'kind':'inline','vertices':[[0,0,0],[1,0,0],[0,1,0],[1,1,0]],'triangles':[[0,1,2],[1,2,3],[2,0,1]]}",
         "mesh: triangle 2 has the same vertices as triangle 0"},
        {"{'kind':'inline','vertices':[[0,0,1e150]]}", "mesh.vertices[0][2]: must be of a size"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tac_mesh *mesh = make_where(bad[i][0], "mesh");
        CHECK(mesh == NULL && strstr(ctx.error, bad[i][1]) != NULL, "%s\n  gave: %s", bad[i][0], ctx.error);
        tac_mesh_destroy(&mesh);
    }
    struct tac_mesh *mesh = make_where("{'kind':'sphere','radus':1}", "--");
    CHECK(mesh == NULL && strcmp(ctx.error, "--radus: a sphere has no such option; did you mean '--radius'?") == 0,
          "%s", ctx.error);
    mesh = make_where("{'kind':'grid','size':[1,-2],'cells':[1,1]}", "--");
    CHECK(mesh == NULL && strncmp(ctx.error, "--size[1]: ", 11) == 0, "%s", ctx.error);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    check_grid();
    check_sphere();
    check_solids();
    check_box();
    check_revolved();
    check_spikes();
    check_ribbon();
    check_listed();
    check_middles();
    check_refused();
    MPI_Finalize();
    return check_result();
}
