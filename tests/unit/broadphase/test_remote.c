/* test_remote.c: what a rank has of other ranks, against the whole scene. After a list was made, and after repairs:
 * every primitive whose box meets that of one of ours is here, once, with the bits that its owner has; each of its
 * edges and still vertices has one primitive that stands for it; published boxes hold what they are around; motions
 * that came are the owners'. If this failed, two ranks would judge a pair by different numbers, or none would look at
 * it. */
#include "broadphase/remote.h"
#include "world.h"

enum { ROUNDS = 4 };

static struct {
    int64_t wanted, here, motions, flags, repairs;
} seen;

/* The box of n vertices over the list's life; share: how much wider, of its margin and of the scene, for rounding. */
static struct tac_box box_of(const struct world *w, const tac_lid *v, int n, double share)
{
    const double span_s = world_span(w), radius = w->whole->settings->body[w->whole->mesh->vertex_body[v[0]]].radius,
                 margin = (.5 * w->thickness + radius) * (1 + share) + share * w->extent;
    struct tac_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            const struct world_vertex *p = &w->vertex[v[i]];
            const double begin = p->centre[k], end = begin + span_s * p->velocity[k];
            box.lo[k] = fmin(box.lo[k], fmin(begin, end) - p->radius - margin);
            box.hi[k] = fmax(box.hi[k], fmax(begin, end) + p->radius + margin);
        }
    return box;
}

static bool meet(const struct tac_box *a, const struct tac_box *b)
{
    bool all = true;
    for (int k = 0; k < 3; k++)
        all = all && a->lo[k] <= b->hi[k] && b->lo[k] <= a->hi[k];
    return all;
}

/* The primitives of the scene: its triangles, segments and particles. */
static int32_t primitives(const struct world *w)
{
    return w->whole->mesh->triangle_count + w->whole->mesh->segment_count + w->whole->mesh->vertex_count;
}

/* The vertices of one, how many (0: there is no such particle), and its id among its kind. */
static int primitive(const struct world *w, int32_t which, const tac_lid **v, tac_lid *id)
{
    static tac_lid point;
    const struct tac_local_mesh *m = w->whole->mesh;
    *id = which;
    *v = &m->triangle[3 * *id];
    if (*id < m->triangle_count)
        return 3;
    *id -= m->triangle_count;
    *v = &m->segment[2 * *id];
    if (*id < m->segment_count)
        return 2;
    *id -= m->segment_count;
    point = *id;
    *v = &point;
    return w->model->particle[*id] ? 1 : 0;
}

static bool held(const struct world *w, const tac_lid *v, int n)
{
    bool any = false;
    for (int i = 0; i < n; i++)
        any = any || w->owner[v[i]] == w->ctx.rank;
    return any;
}

static bool moves(const struct world *w, const tac_lid *v, int n)
{
    bool any = false;
    for (int i = 0; i < n; i++)
        any = any || !world_immovable(w, v[i]);
    return any;
}

/* Where a primitive is among what came, or -1; and whether it came more than once. */
static int64_t find_remote(const struct tac_candidates *c, int n, tac_lid id, int *times)
{
    int64_t at = -1;
    *times = 0;
    for (size_t k = 0; k < c->remote.count; k++)
        if (c->remote.primitive[k].count == n && c->remote.primitive[k].id == id) {
            at = (int64_t)k;
            ++*times;
        }
    return at;
}

/* Has a vertex here the numbers that its owner computed? */
static bool same_bound(const struct world *w, tac_lid v)
{
    const struct world_vertex *p = &w->vertex[tac_scene_id(w->sim->scene, v)];
    const struct tac_path_bound *bound = &w->sim->view.candidates->path_bound[v];
    return memcmp(bound->x, p->centre, sizeof p->centre) == 0 &&
           memcmp(bound->v, p->velocity, sizeof p->velocity) == 0 && bound->radius == p->radius;
}

/* A primitive that is needed here. */
static void look_at_needed(const struct world *w, int32_t which, const char *when)
{
    const struct tac_candidates *c = w->sim->view.candidates;
    const tac_lid *v;
    tac_lid id;
    int times;
    const int n = primitive(w, which, &v, &id);
    const int64_t at = find_remote(c, n, id, &times);
    seen.wanted++;
    CHECK(times == 1, "seed %d, %s: primitive %d of %d vertices came %d times", (int)w->seed, when, (int)id, n, times);
    if (at < 0)
        return;
    const struct tac_primitive *p = &c->remote.primitive[at];
    CHECK(p->body == w->whole->mesh->vertex_body[v[0]], "body %d", (int)p->body);
    for (int i = 0; i < n; i++) {
        CHECK(tac_scene_id(w->sim->scene, p->v[i]) == v[i], "vertex %d of primitive %d", i, (int)id);
        CHECK(same_bound(w, p->v[i]), "seed %d, %s: the bound of vertex %d is not its owner's", (int)w->seed, when,
              (int)v[i]);
    }
    for (int k = 0; n == 3 && k < 3; k++)
        CHECK(p->edge[k] == w->whole->mesh->topology->triangle_edge[3 * id + k], "edge %d of triangle %d", k, (int)id);
}

static void look_at_boxes(const struct world *w, const struct tac_box *mine, int32_t count)
{
    const struct tac_candidates *c = w->sim->view.candidates;
    bool alone = true; /* nobody else has anything, so nobody asks for boxes */
    for (tac_gid i = 0; i < w->whole->mesh->vertex_count; i++)
        alone = alone && w->owner[i] == w->ctx.rank;
    for (int32_t i = 0; i < count && !alone; i++) {
        bool within = false;
        for (int k = 0; k < c->remote.boxes; k++) {
            bool all = true;
            for (int j = 0; j < 3; j++)
                all = all && mine[i].lo[j] >= c->remote.mine[k].lo[j] && mine[i].hi[j] <= c->remote.mine[k].hi[j];
            within = within || all;
        }
        CHECK(within, "seed %d: box %d of a primitive that can move is in no published box", (int)w->seed, (int)i);
    }
}

/* Each edge of what came, and each of its vertices that never moves, has one primitive that stands for it. */
static void look_at_features(const struct world *w, const char *when)
{
    const struct tac_candidates *c = w->sim->view.candidates;
    const struct tac_local_mesh *mesh = w->sim->scene->mesh;
    const size_t edges = (size_t)w->whole->mesh->topology->edge_count, vertices = (size_t)w->whole->mesh->vertex_count;
    int *edge = calloc(edges + 1, sizeof *edge), *vertex = calloc(vertices, sizeof *vertex);
    for (size_t k = 0; k < c->remote.count; k++)
        for (int i = 0; i < 3; i++) {
            const struct tac_primitive *p = &c->remote.primitive[k];
            if (p->edges >> i & 1)
                edge[p->edge[i]]++;
            if (p->vertices >> i & 1)
                vertex[tac_scene_id(w->sim->scene, p->v[i])]++;
        }
    for (size_t k = 0; k < c->remote.count; k++) {
        const struct tac_primitive *p = &c->remote.primitive[k];
        for (int i = 0; i < (p->count == 3 ? 3 : p->count - 1); i++) {
            const bool ours = tac_id_find(mesh->part->edge_id, mesh->topology->edge_count, p->edge[i]) >= 0;
            seen.flags++;
            CHECK(edge[p->edge[i]] == !ours, "seed %d, %s: %d remote primitives stand for edge %d", (int)w->seed, when,
                  edge[p->edge[i]], (int)p->edge[i]);
        }
        for (int i = 0; i < p->count; i++) {
            const tac_gid id = tac_scene_id(w->sim->scene, p->v[i]);
            bool ours = p->v[i] < mesh->vertex_count && c->taken[p->v[i]];
            seen.flags++;
            CHECK(vertex[id] == (!ours && world_immovable(w, id)),
                  "seed %d, %s: %d remote primitives stand for vertex %d", (int)w->seed, when, vertex[id], (int)id);
        }
    }
    free(edge);
    free(vertex);
}

static void look(const struct world *w, const char *when)
{
    const struct tac_candidates *c = w->sim->view.candidates;
    struct tac_box *mine = calloc((size_t)primitives(w) + 1, sizeof *mine);
    int32_t count = 0;
    for (int32_t i = 0; i < primitives(w); i++) {
        const tac_lid *v;
        tac_lid id;
        const int n = primitive(w, i, &v, &id);
        if (n == 0 || !held(w, v, n) || !moves(w, v, n))
            continue;
        mine[count++] = box_of(w, v, n, -4e-12);
    }
    look_at_boxes(w, mine, count);
    for (int32_t i = 0; i < primitives(w); i++) {
        const tac_lid *v;
        tac_lid id;
        int times;
        const int n = primitive(w, i, &v, &id);
        bool near = false;
        if (n == 0)
            continue;
        if (held(w, v, n)) {
            CHECK(find_remote(c, n, id, &times) < 0, "primitive %d is ours, and came from another rank", (int)id);
            continue;
        }
        const struct tac_box box = box_of(w, v, n, -4e-12);
        for (int32_t k = 0; k < count && !near; k++)
            near = meet(&box, &mine[k]);
        if (near)
            look_at_needed(w, i, when);
        seen.here += find_remote(c, n, id, &times) >= 0;
    }
    look_at_features(w, when);
    free(mine);
}

/* Ghosts whose motions are asked for have those of their owners. */
static void look_at_motions(const struct world *w)
{
    const struct tac_candidates *c = w->sim->view.candidates;
    const struct tac_halo *halo = w->sim->view.halo;
    for (size_t k = 0; k < halo->count; k++)
        for (size_t i = 0; i < halo->neighbor[k].need_count; i++) {
            const tac_lid v = halo->neighbor[k].need[i];
            const struct world_vertex *p = &w->vertex[tac_scene_id(w->sim->scene, v)];
            seen.motions++;
            CHECK(memcmp(&c->x[3 * (size_t)v], p->x, sizeof p->x) == 0 &&
                      memcmp(c->move[v].u, p->u, sizeof p->u) == 0 && c->move[v].deviation == p->deviation,
                  "seed %d: the motion of vertex %d is not its owner's", (int)w->seed,
                  (int)tac_scene_id(w->sim->scene, v));
        }
}

static void repair(struct world *w, const char *when, double jump)
{
    struct tac_candidates *c = w->sim->view.candidates;
    enum tac_repair what = TAC_REPAIR_DONE;
    bool touched;
    w->sim->state.now += WINDOW / 2;
    const double now_s = world_seconds(w->sim->state.now - c->start, w);
    world_go_on(w, now_s);
    c->repair.leaver_count = 0;
    for (int k = 0; k < 6; k++) { /* the first rank with each: no rank has more than it can tell of */
        const tac_gid id = pick(w, w->whole->mesh->vertex_count);
        bool again = false;
        for (size_t i = 0; i < c->repair.leaver_count; i++)
            again = again || tac_scene_id(w->sim->scene, c->repair.leaver[i]) == id;
        int refuses = world_immovable(w, id) ||
                      (w->owner[id] == w->ctx.rank && (again || c->repair.leaver_count == c->repair.leaver_most));
        MPI_Allreduce(MPI_IN_PLACE, &refuses, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (refuses)
            continue;
        draw_motion(w, &w->vertex[id], jump, .3 * w->stir, .3 * w->stir);
        world_bound(w, id, now_s);
        if (w->owner[id] == w->ctx.rank)
            c->repair.leaver[c->repair.leaver_count++] =
                tac_id_find(w->local->mesh->part->vertex_id, w->sim->state.owned, id);
    }
    measure_extent(w);
    world_tell(w);
    look_at_motions(w);
    if (tac_candidates_repair(&w->sim->view, c, WINDOW, &what) != TAC_OK)
        world_failed(w);
    int most = (int)what;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (most == TAC_REPAIR_TOGETHER &&
        tac_candidates_repair_together(&w->sim->view, c, WINDOW, &what, &touched) != TAC_OK)
        world_failed(w);
    seen.repairs += most != TAC_REPAIR_NOT && what != TAC_REPAIR_NOT;
    if (most == TAC_REPAIR_NOT || what == TAC_REPAIR_NOT) {
        for (tac_gid i = 0; i < w->whole->mesh->vertex_count; i++)
            world_bound(w, i, 0);
        world_tell(w);
        if (tac_candidates_build(&w->sim->view, c, WINDOW, LIFETIME) != TAC_OK)
            world_failed(w);
    }
    look(w, when);
}

static void run(uint64_t seed, const struct world_kind *kind, enum world_owners how)
{
    struct world w;
    world_begin(&w, seed, kind, how);
    for (int lists = 0; lists < 2; lists++) { /* the second one forgets what the first one knew */
        struct tac_candidates *c = w.sim->view.candidates;
        w.sim->state.now += WINDOW;
        world_start(&w);
        world_tell(&w);
        if (tac_candidates_build(&w.sim->view, c, WINDOW, LIFETIME) != TAC_OK)
            world_failed(&w);
        look(&w, "a list");
        for (int round = 0; round < ROUNDS; round++)
            repair(&w, round % 2 ? "a repair far away" : "a repair", (round % 2 ? 1 : .05) * kind->size);
    }
    world_end(&w);
}

int main(int argc, char **argv)
{
    static const struct world_kind kinds[] = {
        {1, 0, 5, false, NULL, .1, NULL},
        {1e-6, 0, 4, false, NULL, .1, NULL},
        {1, 1e6, 4, false, NULL, .1, NULL},
        {1, 0, 3, true, "{\"kind\":\"cube\",\"edge\":0.5}", .1, NULL}, /* coincident boxes */
        {1, 0, 1, false, "{\"kind\":\"inline\",\"vertices\":[[0,0,0],[%g,0,0],[0,0,0.5]],\"triangles\":[[0,1,2]]}", .1,
         NULL},
        /* Small ones, of as many triangles that published boxes are full, and each is far from most others. */
        {1, 0, 16, false, "{\"kind\":\"octahedron\",\"edge\":0.16,\"level\":1}", .002, NULL},
    };
    MPI_Init(&argc, &argv);
    for (int k = 0; k < (int)(sizeof kinds / sizeof *kinds); k++)
        for (int how = 0; how < OWNERS; how++)
            run((uint64_t)(10 * k + how + 1), &kinds[k], (enum world_owners)how);
    int64_t sum[5] = {seen.wanted, seen.here, seen.motions, seen.flags, seen.repairs};
    MPI_Allreduce(MPI_IN_PLACE, sum, 5, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    printf("%d primitives of other ranks are needed, %d are here; %d motions, %d features, %d repairs\n", (int)sum[0],
           (int)sum[1], (int)sum[2], (int)sum[3], (int)sum[4]);
    CHECK(sum[0] > 1000 && sum[1] >= sum[0] && sum[2] > 1000 && sum[3] > 1000 && sum[4] > 100, "too little was tried");
    return world_result();
}
