/* test_schedule.c: which ranks tell each other which positions at which instants, against a plain list of events.
 * Bodies are given to ranks at random, and random pairs of their primitives are active, each with some of its layer
 * groups. At each instant a rank must send to another one those of its vertices that can move, and are in a stencil
 * that is due and has a vertex there; the other one must expect the same ones in the same order. Where all that two
 * ranks share sleeps, both must know it. Instants and what is due at them follow from the periods alone. And the path
 * of a vertex that is asked for is at every time what its owner has. If this failed, ranks would wait for each other
 * for ever, or compute with old positions. */
#include "events/ranks/ranks.h"
#include "unit/broadphase/world.h"

enum { PAIRS = 60, MOST_EVENTS = 1 << 14, INSTANTS = 300, MOST_SENT = 4096, BREAKS = 5 };

/* A stencil that ticks: an element, or a layer group of a pair with those of its vertices that take part. */
struct event {
    tac_time period, wake;
    int32_t count, group; /* vertices; 1: of a layer group */
    int32_t v[4];         /* global ids */
};

static struct {
    struct event of[MOST_EVENTS];
    int count;
} events;

static struct {
    int64_t instants, sent, asleep, paths;
} seen;

static void add_event(struct event *list, int *count, struct event e)
{
    TAC_CHECK(*count < MOST_EVENTS / 4);
    list[(*count)++] = e;
}

/* Those that this rank holds: elements, and layer groups of the pairs that are active here. */
static int own_events(const struct world *w, struct event *list)
{
    const struct tac_sim *sim = w->sim;
    int count = 0;
    for (size_t c = 0; c < sim->elastic->class_count; c++)
        for (int kind = TAC_KIND_SPRING; kind < TAC_KINDS; kind++)
            for (size_t i = 0; i < tac_class_count(&sim->elastic->rate[c], kind); i++) {
                int n;
                const tac_lid *v = tac_elastic_stencil(&sim->elastic->rate[c], kind, i, &n);
                struct event e = {.period = sim->elastic->rate[c].period, .count = n};
                for (int k = 0; k < n; k++)
                    e.v[k] = (int32_t)tac_scene_id(sim->scene, v[k]);
                add_event(list, &count, e);
            }
    for (size_t c = 0; c < sim->active.rate_group_count; c++)
        for (size_t i = 0; i < sim->active.rate_group[c].count; i++) {
            const struct tac_rate_group *g = &sim->active.rate_group[c];
            const struct tac_pair *p = &sim->active.pair[g->group[i].pair];
            struct event e = {.period = g->period, .wake = g->wake[i], .group = 1};
            for (int k = 0; k < p->count; k++)
                if (!world_immovable(w, tac_scene_id(sim->scene, p->v[k])))
                    e.v[e.count++] = (int32_t)tac_scene_id(sim->scene, p->v[k]);
            add_event(list, &count, e);
        }
    return count;
}

/* All ranks know the events of all. */
static void gather_events(const struct world *w)
{
    static struct event own[MOST_EVENTS / 4];
    int bytes = own_events(w, own) * (int)sizeof *own, counts[64], at[64], total = 0;
    MPI_Allgather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < w->ctx.size; total += counts[r++])
        at[r] = total;
    TAC_CHECK(total <= (int)sizeof events.of);
    MPI_Allgatherv(own, bytes, MPI_BYTE, events.of, counts, at, MPI_BYTE, MPI_COMM_WORLD);
    events.count = total / (int)sizeof *own;
}

static bool has_vertex_of(const struct world *w, const struct event *e, int rank)
{
    bool any = false;
    for (int k = 0; k < e->count; k++)
        any = any || w->owner[e->v[k]] == rank;
    return any;
}

/* ---- messages ---- */

/* What goes from one rank to another at t by the list of events: marks (V). */
static int expected(const struct world *w, int from, int to, tac_time t, uint8_t *mark)
{
    int count = 0;
    memset(mark, 0, (size_t)w->whole->mesh->vertex_count);
    for (int i = 0; i < events.count; i++) {
        const struct event *e = &events.of[i];
        if (t % e->period != 0 || !has_vertex_of(w, e, to))
            continue;
        for (int k = 0; k < e->count; k++)
            if (w->owner[e->v[k]] == from && !world_immovable(w, e->v[k]) && !mark[e->v[k]]) {
                mark[e->v[k]] = 1;
                count++;
            }
    }
    return count;
}

/* What a lane has for t, in its order: global ids; how many. */
static int scheduled(const struct world *w, const struct tac_lane *lane, tac_time t, int32_t *id)
{
    int count = 0;
    const bool nested = w->sim->ranks->halo.nested;
    const size_t groups = nested ? TAC_GROUPS : lane->group_count;
    for (size_t k = 0; k < groups; k++) {
        const tac_time period = nested ? (tac_time)1 << k : lane->group[k].period;
        CHECK(!nested || (lane->mask >> k & 1) == (lane->group[k].count > 0), "the mask of group %zu", k);
        if (t % period == 0)
            for (size_t i = 0; i < lane->group[k].count; i++) {
                TAC_CHECK(count < MOST_SENT);
                id[count++] = (int32_t)tac_scene_id(w->sim->scene, lane->group[k].v[i]);
            }
    }
    return count;
}

static void same_messages(const struct world *w, tac_time t, bool once)
{
    const struct tac_halo *halo = &w->sim->ranks->halo;
    const size_t n = (size_t)w->whole->mesh->vertex_count;
    uint8_t *mark = malloc(n), *sent = malloc(n);
    static int32_t ids[2][MOST_SENT], theirs[MOST_SENT];
    for (int r = 0; r < w->ctx.size; r++) {
        const struct tac_neighbor *neighbor =
            r != w->ctx.rank && halo->index[r] >= 0 ? &halo->neighbor[halo->index[r]] : NULL;
        int count[2] = {0, 0}, their_count = 0;
        if (r == w->ctx.rank)
            continue;
        for (int way = 0; way < 2; way++) {
            if (neighbor)
                count[way] = scheduled(w, way ? &neighbor->receive : &neighbor->send, t, ids[way]);
            const int wanted = way ? expected(w, r, w->ctx.rank, t, mark) : expected(w, w->ctx.rank, r, t, mark);
            int different = 0;
            memset(sent, 0, n);
            for (int i = 0; i < count[way]; i++) {
                CHECK(mark[ids[way][i]], "seed %d: vertex %d is told, and nothing there needs it", (int)w->seed,
                      ids[way][i]);
                CHECK(!once || !sent[ids[way][i]], "seed %d: vertex %d is told twice", (int)w->seed, ids[way][i]);
                different += !sent[ids[way][i]];
                sent[ids[way][i]] = 1;
            }
            CHECK(different == wanted, "seed %d, t = %lld: %d vertices are %s rank %d, not %d", (int)w->seed,
                  (long long)t, different, way ? "expected of" : "told to", r, wanted);
            seen.sent += different;
        }
        /* What one sends the other one expects, in the same order. */
        MPI_Sendrecv(&count[0], 1, MPI_INT, r, 1, &their_count, 1, MPI_INT, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(ids[0], count[0], MPI_INT32_T, r, 2, theirs, MOST_SENT, MPI_INT32_T, r, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(their_count == count[1] && memcmp(theirs, ids[1], (size_t)their_count * sizeof *theirs) == 0,
              "seed %d, t = %lld: rank %d sends %d vertices, and %d others are expected", (int)w->seed, (long long)t, r,
              their_count, count[1]);
    }
    free(mark);
    free(sent);
}

/* ---- instants, and who is awake at them ---- */

/* The first instant after t, by the periods of what this rank holds; 0: none. */
static tac_time next_of(const struct tac_sim *sim, tac_time t)
{
    tac_time next = 0;
    for (size_t c = 0; c < sim->elastic->class_count + sim->active.rate_group_count; c++) {
        const bool elastic = c < sim->elastic->class_count;
        const struct tac_rate_group *g = elastic ? NULL : &sim->active.rate_group[c - sim->elastic->class_count];
        const tac_time period = elastic ? sim->elastic->rate[c].period : g->period, at = (t / period + 1) * period;
        if ((elastic || g->count > 0) && (next == 0 || at < next))
            next = at;
    }
    return next;
}

static void look_at_due(const struct tac_sim *sim, tac_time t)
{
    size_t elastic = 0, groups = 0;
    for (size_t c = 0; c < sim->elastic->class_count; c++)
        if (t % sim->elastic->rate[c].period == 0) {
            CHECK(elastic < sim->clocks.due_elastic_count && sim->clocks.due_elastic[elastic] == (int32_t)c,
                  "class %zu is due", c);
            elastic++;
        }
    for (size_t c = 0; c < sim->active.rate_group_count; c++)
        if (sim->active.rate_group[c].count > 0 && t % sim->active.rate_group[c].period == 0) {
            CHECK(groups < sim->clocks.due_group_count && sim->clocks.due_group[groups] == (int32_t)c,
                  "layer groups %zu are due", c);
            groups++;
        }
    CHECK(elastic == sim->clocks.due_elastic_count && groups == sim->clocks.due_group_count,
          "nothing else is due at %lld", (long long)t);
}

/* Must this rank and another one meet at t? */
static bool must_meet(const struct world *w, int rank, tac_time t)
{
    bool meet = false;
    for (int i = 0; i < events.count; i++) {
        const struct event *e = &events.of[i];
        bool moves = false;
        for (int k = 0; k < e->count; k++)
            moves = moves ||
                    (!world_immovable(w, e->v[k]) && (w->owner[e->v[k]] == rank || w->owner[e->v[k]] == w->ctx.rank));
        meet = meet || (t % e->period == 0 && (!e->group || e->wake <= t) && moves && has_vertex_of(w, e, rank) &&
                        has_vertex_of(w, e, w->ctx.rank));
    }
    return meet;
}

static void look_at_instants(struct world *w)
{
    struct tac_sim *sim = w->sim;
    const struct tac_halo *halo = &sim->ranks->halo;
    if (tac_clock_start(sim) != TAC_OK)
        world_failed(w);
    tac_time t = sim->state.now;
    for (int k = 0; k < INSTANTS; k++) {
        const tac_time limit = (tac_time)1 << 61, wanted = next_of(sim, t), next = tac_clock_next(sim, t, limit);
        CHECK(next == (wanted && wanted <= limit ? wanted : TAC_TIME_NEVER), "after %lld comes %lld, not %lld",
              (long long)t, (long long)next, (long long)wanted);
        if (next == TAC_TIME_NEVER)
            break;
        t = next;
        seen.instants++;
        look_at_due(sim, t);
        tac_ranks_wake(sim, t);
        for (size_t i = 0; i < halo->count; i++) {
            const bool meet = must_meet(w, halo->neighbor[i].rank, t);
            const bool awake = halo->neighbor[i].awake;
            seen.asleep += !awake;
            if (sim->ranks->skips)
                CHECK(awake == meet, "seed %d, t = %lld: rank %d is %s", (int)w->seed, (long long)t,
                      halo->neighbor[i].rank, awake ? "awake" : "asleep");
            else
                CHECK(awake, "with free clocks nobody is taken to sleep");
        }
    }
}

/* ---- random pairs ---- */

/* A vertex of the scene on this rank; it becomes a ghost if it is of another one. */
static tac_lid know(struct world *w, tac_lid id)
{
    const struct tac_local_mesh *m = w->whole->mesh;
    struct tac_ghost ghost = {.id = id,
                              .mass = m->mass[id],
                              .owner = w->owner[id],
                              .body = m->vertex_body[id],
                              .valence = w->model->valence[id],
                              .ever_free = m->ever_free[id]};
    tac_lid v;
    memcpy(ghost.start, m->x + 3 * id, sizeof ghost.start);
    if (tac_ghost_add(&w->sim->ranks->halo, &ghost, &v) != TAC_OK)
        world_failed(w);
    return v;
}

/* The same pair is active on all ranks that have a vertex that takes part in it. */
static void activate(struct world *w, const struct world_pair *p, int groups)
{
    bool ours = false;
    tac_lid v[4] = {-1, -1, -1, -1};
    int32_t slot;
    for (int i = 0; i < tac_pair_vertices(p->type); i++)
        ours = ours || (w->owner[p->v[i]] == w->ctx.rank && !world_immovable(w, p->v[i]));
    for (int i = 0; ours && i < tac_pair_vertices(p->type); i++)
        v[i] = know(w, (tac_lid)p->v[i]);
    for (int k = 0; ours && k < groups; k++) {
        const int32_t at = tac_active_find(&w->sim->active, p->key);
        if (at < 0 || w->sim->active.pair[at].depth < w->sim->active.pair[at].form.bottom)
            if (tac_activate(w->sim, p->key, v, &slot) != TAC_OK)
                world_failed(w);
    }
}

static void activate_some(struct world *w, struct world_pair *last)
{
    const struct tac_local_mesh *m = w->whole->mesh;
    const tac_lid *edge = m->topology->edge;
    for (int k = 0; k < PAIRS; k++) {
        struct world_pair p = {.key = 0};
        const int groups = 1 + pick(w, 4);
        const tac_lid vertex = pick(w, m->vertex_count), e = pick(w, m->topology->edge_count),
                      f = pick(w, m->topology->edge_count);
        if (pick(w, 2) && m->triangle_count > 0) {
            const tac_lid t = pick(w, m->triangle_count);
            if (!world_make_pair(w, TAC_PAIR_VERTEX_TRIANGLE, vertex, &vertex, t, &m->triangle[3 * t], &p))
                continue;
        } else if (e == f || !world_make_pair(w, TAC_PAIR_EDGE_EDGE, e < f ? e : f, &edge[2 * (e < f ? e : f)],
                                              e < f ? f : e, &edge[2 * (e < f ? f : e)], &p)) {
            continue;
        }
        if (!(p.reach > 0))
            continue;
        activate(w, &p, groups);
        *last = p;
    }
    if (tac_active_settle(w->sim) != TAC_OK)
        world_failed(w);
}

/* Each layer group sleeps for some time, alike on all ranks. */
static void fall_asleep(struct world *w)
{
    for (size_t c = 0; c < w->sim->active.rate_group_count; c++)
        for (size_t i = 0; i < w->sim->active.rate_group[c].count; i++) {
            const struct tac_layer_group *g = &w->sim->active.rate_group[c].group[i];
            const double r = tac_random(w->seed + g->key, (uint64_t)g->first);
            const tac_time period = w->sim->active.rate_group[c].period;
            w->sim->active.rate_group[c].wake[i] = (w->sim->state.now / period + 1 + (tac_time)(40 * r)) * period;
        }
}

static void look_at_messages(struct world *w, bool once)
{
    tac_time shortest = 0;
    for (int i = 0; i < events.count; i++)
        shortest = shortest == 0 || events.of[i].period < shortest ? events.of[i].period : shortest;
    for (int k = 0; k < 24 && shortest > 0; k++) {
        /* A multiple of some event's period, and of all powers of two at last. */
        const struct event *e = &events.of[pick(w, events.count)];
        const tac_time t = k < 16 ? e->period * (1 + pick(w, 64)) : shortest << (2 * (k - 16));
        same_messages(w, t, once);
    }
}

/* In mid-pass one pair gets another layer group, on all its owners. */
static void deepen(struct world *w, const struct world_pair *pair)
{
    const int32_t slot = tac_active_find(&w->sim->active, pair->key);
    tac_time period = 0;
    if (slot >= 0) {
        struct tac_pair *p = &w->sim->active.pair[slot];
        int32_t last;
        if (p->depth < p->form.bottom)
            period = tac_model_layer_group(w->sim->model, &p->form, p->depth + 1, &last);
        if (p->shared && period > 0)
            tac_ranks_deepen(w->sim, p, period);
    }
    MPI_Allreduce(MPI_IN_PLACE, &period, 1, TAC_TIME_MPI, MPI_MAX, MPI_COMM_WORLD);
    if (period == 0)
        return;
    struct event e = {.period = period, .group = 1};
    for (int k = 0; k < tac_pair_vertices(pair->type); k++)
        if (!world_immovable(w, pair->v[k]))
            e.v[e.count++] = (int32_t)pair->v[k];
    events.of[events.count++] = e;
    look_at_messages(w, false);
}

/* ---- paths ---- */

/* Where a vertex with these breakpoints is at t. */
static void along(const struct tac_line *line, const struct tac_break *b, int count, tac_time t, double x[3])
{
    tac_time from = line->t;
    const double *begin = line->x;
    for (int k = 0; k + 1 < count && b[k].t < t; k++) {
        from = b[k].t;
        begin = b[k].x;
        b++;
        k--;
        count--;
    }
    for (int i = 0; i < 3; i++)
        x[i] = begin[i] + (double)(t - from) / (double)(b->t - from) * (b->x[i] - begin[i]);
}

/* The path of a vertex, which follows from its id alone: breakpoints (BREAKS), and its velocity after them. */
static void path_of(const struct world *w, tac_gid id, struct tac_line *line, struct tac_break *b, double v[3])
{
    const tac_time start = w->sim->paths.start, step = WINDOW / (BREAKS + 1);
    const int count = 1 + (int)(tac_hash64(w->seed, (uint64_t)id) % BREAKS);
    uint64_t drawn = 0;
    const uint64_t own = w->seed * 1000003 + (uint64_t)id;
    for (int k = 0; k < 3; k++) {
        line->x[k] = w->whole->mesh->x[3 * id + k];
        line->v[k] = tac_random(own, drawn++);
        v[k] = tac_random(own, drawn++);
    }
    line->t = start;
    line->deviation2 = 0;
    for (int i = 0; i < BREAKS; i++) {
        b[i] = (struct tac_break){start + (i + 1) * step, {0, 0, 0}, -1, 0};
        for (int k = 0; k < 3; k++)
            b[i].x[k] = line->x[k] + w->size * tac_random(own, drawn++);
        b[i].next = i + 1 < count ? 0 : -1; /* how many there are */
    }
}

static int breaks_of(const struct tac_break *b)
{
    int count = 1;
    while (b[count - 1].next >= 0)
        count++;
    return count;
}

static void lay_paths(struct world *w)
{
    struct tac_paths *p = &w->sim->paths;
    p->start = w->sim->state.now;
    p->end = p->start + WINDOW;
    p->break_count = 0;
    if (tac_grow(&w->ctx, &p->breaks, &p->break_capacity, (size_t)w->sim->state.owned * BREAKS + 1,
                 sizeof *p->breaks) != TAC_OK)
        world_failed(w);
    for (tac_lid i = 0; i < w->sim->state.owned; i++) {
        struct tac_break b[BREAKS];
        path_of(w, tac_scene_id(w->sim->scene, i), &p->line[i], b, w->sim->state.vel[i].v);
        const int count = breaks_of(b);
        if (w->sim->state.vel[i].w == 0)
            continue;
        p->break_first[i] = (int32_t)p->break_count;
        for (int k = 0; k < count; k++) {
            b[k].next = k + 1 < count ? (int32_t)p->break_count + 1 : -1;
            p->break_head[i] = (int32_t)p->break_count;
            p->breaks[p->break_count++] = b[k];
        }
        memcpy(w->sim->state.pos[i].x, b[count - 1].x, sizeof b[0].x);
        w->sim->state.pos[i].t = b[count - 1].t;
    }
}

static void look_at_paths(struct world *w)
{
    struct tac_sim *sim = w->sim;
    lay_paths(w);
    tac_ranks_again(sim->ranks);
    for (tac_lid v = sim->state.owned; v < sim->state.count; v++)
        if (sim->scene->mesh->part->vertex_id[v] >= 0 && !world_immovable(w, tac_scene_id(sim->scene, v)) && pick(w, 2))
            CHECK(!tac_ranks_want_path(sim->ctx, sim->ranks, v), "vertex %d has no path yet", (int)v);
    w->drawn = 1 << 20; /* ranks have drawn different numbers */
    tac_ranks_paths(sim);
    for (tac_lid v = sim->state.owned; v < sim->state.count; v++) {
        struct tac_line line;
        struct tac_break own[BREAKS + 1], reported[BREAKS + 2];
        double velocity[3], x[2][3];
        int reported_count = 0;
        if (sim->scene->mesh->part->vertex_id[v] < 0 || !tac_ranks_has_path(sim->ranks, v))
            continue;
        seen.paths++;
        path_of(w, tac_scene_id(sim->scene, v), &line, own, velocity);
        int count = breaks_of(own);
        own[count] = (struct tac_break){sim->paths.end + 1, {0, 0, 0}, -1, 0};
        for (int k = 0; k < 3; k++)
            own[count].x[k] =
                own[count - 1].x[k] + tac_state_seconds(&sim->state, own[count].t - own[count - 1].t) * velocity[k];
        for (int32_t b = sim->paths.break_first[v]; b >= 0 && reported_count < BREAKS + 2;
             b = sim->paths.breaks[b].next)
            reported[reported_count++] = sim->paths.breaks[b];
        CHECK(reported_count == count + 1 && reported[reported_count - 1].t > sim->paths.end,
              "vertex %d has %d pieces, not %d", (int)v, reported_count, count + 1);
        for (int k = 0; k <= 32; k++) {
            const tac_time t = sim->paths.start + WINDOW / 32 * k;
            along(&line, own, count + 1, t, x[0]);
            along(&sim->paths.line[v], reported, reported_count, t, x[1]);
            for (int i = 0; i < 3; i++)
                CHECK(fabs(x[0][i] - x[1][i]) <= 1e-12 * (w->size + fabs(x[0][i])),
                      "seed %d: vertex %d is at %g, not %g, at %lld", (int)w->seed, (int)v, x[1][i], x[0][i],
                      (long long)t);
        }
    }
}

static void run(uint64_t seed, const struct world_kind *kind, enum world_owners how)
{
    struct world w;
    struct world_pair last = {.key = 0};
    world_begin(&w, seed, kind, how);
    w.sim->state.now = 5 * (tac_time)WINDOW;
    activate_some(&w, &last);
    if (tac_ranks_schedule(w.sim) != TAC_OK || tac_ranks_list_meetings(w.sim) != TAC_OK)
        world_failed(&w);
    fall_asleep(&w);
    gather_events(&w);
    look_at_messages(&w, w.sim->ranks->halo.nested);
    look_at_instants(&w);
    deepen(&w, &last);
    look_at_paths(&w);
    world_end(&w);
}

int main(int argc, char **argv)
{
    static const struct world_kind kinds[] = {
        {1, 0, 4, false, NULL, .1, NULL},
        {1, 0, 6, false, NULL, .1, "free"},
        {1e-6, 0, 3, false, NULL, .1, NULL},
        {1, 0, 1, false, "{\"kind\":\"inline\",\"vertices\":[[0,0,0],[%g,0,0],[0,0,0.5]],\"triangles\":[[0,1,2]]}", .1,
         NULL},
        {1, 0, 3, false, "{\"kind\":\"cube\",\"edge\":%g}", .1, "free"},
    };
    MPI_Init(&argc, &argv);
    for (int k = 0; k < (int)(sizeof kinds / sizeof *kinds); k++)
        for (int how = 0; how < OWNERS; how++)
            run((uint64_t)(10 * k + how + 1), &kinds[k], (enum world_owners)how);
    int64_t sum[4] = {seen.instants, seen.sent, seen.asleep, seen.paths};
    MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    printf("%d instants, %d positions told, %d neighbours asleep, %d paths\n", (int)sum[0], (int)sum[1], (int)sum[2],
           (int)sum[3]);
    CHECK(sum[0] > 1000 && sum[1] > 10000 && sum[2] > 100 && sum[3] > 100, "too little was tried");
    return world_result();
}
