/* test_repair.c: lists of candidates, and their repairs, against all pairs of random bodies, on one rank and on
 * several. After a list was made and after each of its repairs, every pair that comes under its first layer while the
 * centres of the trajectory bounds move on is listed on one rank, in time; no pair is there that cannot come so near;
 * active pairs and limits stay; what is known of the list stays known, and nothing else is. If this failed, a contact
 * would be found late or on two ranks after some vertex left its bound, and runs would differ at some later time. */
#include "world.h"

enum { ROUNDS = 6, MOST_LISTED = 1 << 17 };

/* The list of all ranks, sorted. */
struct entry {
    uint64_t key;
    double share; /* of the lifetime, before which nothing is said to happen */
    int32_t active;
    int32_t unused;
};

static struct {
    struct entry of[MOST_LISTED];
    int count;
    int64_t must, may, missing, late, wrong; /* pairs */
} list;

static struct {
    int alone, together, anew; /* repairs; lists that had to be made anew */
    int64_t must, leavers;
} seen;

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* What this rank's list says by itself: slices of time, slots, vertices. */
static void look_at_own(const struct world *w)
{
    const struct tac_candidates *c = w->sim->view.candidates;
    const struct tac_active *active = &w->sim->active;
    int slice = 0;
    CHECK(c->slice_end[15] == c->count, "slices end at %zu of %zu", c->slice_end[15], c->count);
    for (size_t k = 0; k < c->count; k++) {
        const struct tac_candidate *q = &c->list[k];
        tac_lid v[4], whole[4];
        while (slice < 15 && k >= c->slice_end[slice])
            slice++;
        CHECK(q->slot >= 0 || q->change * 16 < (float)(slice + 1) || slice == 15,
              "entry %zu comes at %g of the lifetime, and is in slice %d", k, (double)q->change, slice);
        CHECK(q->slot == tac_active_find(active, q->key), "entry %zu has slot %d", k, (int)q->slot);
        tac_slack_vertices(&c->slack.of[k], q, v);
        tac_key_vertices(w->whole, q->key, whole);
        /* Edges name their vertices by ascending ids, a limit of a triangle does not: it is not compared. */
        for (int i = 0; i < q->count && q->type < TAC_PAIR_TYPES; i++)
            CHECK(tac_scene_id(w->sim->scene, v[i]) == whole[i], "entry %zu: vertex %d is %d", k, i, (int)v[i]);
    }
}

static void gather_lists(struct world *w)
{
    const struct tac_candidates *c = w->sim->view.candidates;
    struct entry *own = calloc(c->count + 1, sizeof *own);
    int counts[64], at[64], bytes = (int)(c->count * sizeof *own), total = 0;
    for (size_t k = 0; k < c->count; k++)
        own[k] = (struct entry){c->list[k].key, c->list[k].slot < 0 ? c->list[k].change : 0, c->list[k].slot >= 0, 0};
    MPI_Allgather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < w->ctx.size; total += counts[r++])
        at[r] = total;
    TAC_CHECK(total <= (int)sizeof list.of);
    MPI_Allgatherv(own, bytes, MPI_BYTE, list.of, counts, at, MPI_BYTE, MPI_COMM_WORLD);
    list.count = total / (int)sizeof *own;
    qsort(list.of, (size_t)list.count, sizeof *list.of, compare_entries);
    free(own);
}

static bool of_one_rank(const struct world *w, const struct world_pair *p)
{
    bool one = true;
    for (int i = 1; i < tac_pair_vertices(p->type); i++)
        one = one && w->owner[p->v[i]] == w->owner[p->v[0]];
    return one || w->ctx.size == 1;
}

static void look_at_pair(struct world *w, const struct world_pair *p, void *self)
{
    const struct entry key = {.key = p->key},
                       *found = bsearch(&key, list.of, (size_t)list.count, sizeof key, compare_entries);
    const double at_s = world_must(w, p);
    (void)self;
    if (at_s < INFINITY) {
        list.must++;
        list.missing += found == NULL;
        list.late += found != NULL && found->share > at_s / world_span(w) + 1e-6;
    }
    if (found != NULL && !found->active) {
        list.may++;
        /* A rank is not told of a vertex that goes away from all that it has: its pairs with that one may stay. */
        list.wrong += of_one_rank(w, p) && !world_may(w, p);
    }
}

/* How many limits the scene has. */
static int64_t limits(const struct world *w)
{
    int64_t count = 0;
    for (tac_lid e = 0; e < w->whole->mesh->topology->edge_count; e++)
        count += tac_model_limits(w->model, TAC_PAIR_LONG, e) + tac_model_limits(w->model, TAC_PAIR_SHORT, e);
    return count;
}

static void look(struct world *w, const char *when)
{
    int64_t sum[5], listed_limits = 0, twice = 0, active = 0;
    look_at_own(w);
    gather_lists(w);
    list.must = list.may = list.missing = list.late = list.wrong = 0;
    world_pairs(w, look_at_pair, NULL);
    memcpy(sum, (int64_t[]){list.must, list.may, list.missing, list.late, list.wrong}, sizeof sum);
    MPI_Allreduce(MPI_IN_PLACE, sum, 5, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int k = 0; k < list.count; k++) {
        twice += k > 0 && list.of[k].key == list.of[k - 1].key;
        listed_limits += tac_pair_is_limit(tac_key_type(list.of[k].key));
        active += list.of[k].active;
    }
    const unsigned long long seed = w->seed;
    CHECK(sum[2] == 0, "seed %llu, %s: %d of %d pairs that come near are not listed", seed, when, (int)sum[2],
          (int)sum[0]);
    CHECK(sum[3] == 0, "seed %llu, %s: %d pairs come near sooner than the list says", seed, when, (int)sum[3]);
    CHECK(sum[4] == 0, "seed %llu, %s: %d listed pairs cannot come near", seed, when, (int)sum[4]);
    CHECK(twice == 0, "seed %llu, %s: %d pairs are listed twice", seed, when, (int)twice);
    CHECK(listed_limits == limits(w), "seed %llu, %s: %d limits are listed, and there are %d", seed, when,
          (int)listed_limits, (int)limits(w));
    CHECK(sum[1] + active + listed_limits >= list.count, "seed %llu, %s: the list has what is no pair", seed, when);
    CHECK(active == (int64_t)w->sim->active.live_pairs, "seed %llu, %s: %d active pairs are listed", seed, when,
          (int)active);
    seen.must += sum[0];
}

static void make_list(struct world *w, const char *when)
{
    struct tac_candidates *c = w->sim->view.candidates;
    world_tell(w);
    c->known = 0;
    if (tac_candidates_build(&w->sim->view, c, WINDOW, LIFETIME) != TAC_OK)
        world_failed(w);
    look(w, when);
}

/* One rank: some pairs of the list become active, near or not. */
static void activate_some(struct world *w)
{
    struct tac_candidates *c = w->sim->view.candidates;
    for (size_t k = 0; k < c->count && w->ctx.size == 1; k++) {
        struct tac_candidate *q = &c->list[k];
        tac_lid v[4];
        tac_slack_vertices(&c->slack.of[k], q, v);
        if (q->slot >= 0 || q->type >= TAC_PAIR_TYPES || pick(w, 40) > 0)
            continue;
        if (tac_activate(w->sim, q->key, v, &q->slot) != TAC_OK)
            world_failed(w);
    }
    if (tac_active_settle(w->sim) != TAC_OK)
        world_failed(w);
}

/* Some vertices are not where their bounds are, by a little or by far; no rank has more than it can tell of. */
static void leave(struct world *w, double now_s, double far)
{
    struct tac_candidates *c = w->sim->view.candidates;
    int wanted = pick(w, 4) == 0 ? 0 : pick(w, 12) + 1, of_rank[64] = {0};
    c->repair.leaver_count = 0;
    int64_t most[64] = {0}, mine = (int64_t)c->repair.leaver_most;
    MPI_Allgather(&mine, 1, MPI_INT64_T, most, 1, MPI_INT64_T, MPI_COMM_WORLD);
    uint8_t *left = calloc((size_t)w->whole->mesh->vertex_count, 1);
    for (; wanted > 0; wanted--) {
        const tac_gid id = pick(w, w->whole->mesh->vertex_count);
        const double jump = pick(w, 3) ? c->skin : far;
        struct world_vertex *p = &w->vertex[id];
        const int owner = w->ctx.size > 1 ? w->owner[id] : 0;
        if (world_immovable(w, id) || left[id] || of_rank[owner] >= most[owner])
            continue;
        left[id] = 1;
        of_rank[owner]++;
        draw_motion(w, p, jump, .3 * w->stir, pick(w, 2) ? 0 : .5 * w->stir);
        world_bound(w, id, now_s);
        seen.leavers++;
    }
    measure_extent(w);
    for (tac_lid i = 0; i < w->sim->state.owned; i++)
        if (left[tac_scene_id(w->sim->scene, i)])
            c->repair.leaver[c->repair.leaver_count++] = i;
    free(left);
}

enum { KNOWN = 1, NOT_KNOWN = 2 };

/* A window up to `end` was judged: the list is known so far.  Its distances tell which entries those are. */
static void know(struct tac_candidates *c, tac_time end)
{
    const size_t active = tac_candidates_before(c, end);
    c->known = active > c->known ? active : c->known;
    for (size_t k = 0; k < c->count; k++)
        c->list[k].d = k < c->known ? KNOWN : NOT_KNOWN;
}

/* After a repair: what was known is in front, what was not is behind it, and of what is new nothing is known. */
static void look_at_known(const struct tac_candidates *c, const char *when)
{
    for (size_t k = 0; k < c->count; k++) {
        const float d = c->list[k].d;
        CHECK((d == KNOWN && k < c->known) || (d == NOT_KNOWN && k >= c->known) || d == -INFINITY,
              "%s: entry %zu of distance %g, of %zu that are known", when, k, (double)d, c->known);
    }
}

static void repair(struct world *w, int round, double far)
{
    struct tac_candidates *c = w->sim->view.candidates;
    char when[64];
    enum tac_repair what = TAC_REPAIR_NOT;
    bool touched = true;
    w->sim->state.now += (1 + pick(w, 2)) * WINDOW / 2;
    know(c, w->sim->state.now + WINDOW);
    const double now_s = world_seconds(w->sim->state.now - c->start, w);
    world_go_on(w, now_s);
    leave(w, now_s, far);
    world_tell(w);
    if (tac_candidates_repair(&w->sim->view, c, WINDOW, &what) != TAC_OK)
        world_failed(w);
    const bool mine = what == TAC_REPAIR_DONE;
    int most = (int)what;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(w->ctx.size > 1 || what != TAC_REPAIR_TOGETHER, "one rank alone repairs its list");
    if (most == TAC_REPAIR_TOGETHER) {
        what = TAC_REPAIR_DONE;
        if (tac_candidates_repair_together(&w->sim->view, c, WINDOW, &what, &touched) != TAC_OK)
            world_failed(w);
        most = (int)what;
        seen.together++;
    } else if (most == TAC_REPAIR_DONE) {
        seen.alone++;
    }
    snprintf(when, sizeof when, "round %d, %s", round, most == TAC_REPAIR_NOT ? "a new list" : "a repair");
    if (most == TAC_REPAIR_NOT) {
        seen.anew++;
        for (tac_gid i = 0; i < w->whole->mesh->vertex_count; i++)
            world_bound(w, i, 0);
        make_list(w, when);
        return;
    }
    for (tac_lid v = 0; v < w->sim->state.count; v++)
        CHECK(!c->repair.left[v], "vertex %d is still a leaver", (int)v);
    look_at_known(c, when);
    CHECK(!mine || c->repair.leaver_count == 0, "leavers are forgotten");
    look(w, when);
}

static void run(uint64_t seed, const struct world_kind *kind, enum world_owners how, double far)
{
    struct world w;
    world_begin(&w, seed, kind, how);
    w.sim->state.now = 3 * WINDOW;
    world_start(&w);
    make_list(&w, "the first list");
    activate_some(&w);
    for (int round = 0; round < ROUNDS; round++)
        repair(&w, round, far * kind->size);
    world_end(&w);
}

int main(int argc, char **argv)
{
    static const struct world_kind kinds[] = {
        {1, 0, 4, false, NULL, .1, NULL},
        {1, 0, 6, false, NULL, .1, NULL},
        {1e-6, 0, 4, false, NULL, .1, NULL},
        {1, 1e6, 4, false, NULL, .1, NULL},
        {1, 0, 3, true, NULL, .1, NULL},
        {1, 0, 3, true, "{\"kind\":\"cube\",\"edge\":0.5}", .1, NULL}, /* coincident boxes */
        {1, 0, 1, false, "{\"kind\":\"inline\",\"vertices\":[[0,0,0],[%g,0,0],[0,0,0.5]],\"triangles\":[[0,1,2]]}", .1,
         NULL},
        {1, 0, 2, false, "{\"kind\":\"grid\",\"size\":[%g,1.2],\"cells\":[8,12]}", .002, NULL}, /* with patches */
    };
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < (int)(sizeof kinds / sizeof *kinds); k++)
        for (int how = 0; how < 3; how++) /* each kind of scene with other kinds of owners */
            run((uint64_t)(10 * k + how + 1), &kinds[k], (enum world_owners)((2 * k + how) % OWNERS), how % 2 ? .5 : 8);
    printf("%d repairs alone, %d together, %d new lists; %d leavers, %d pairs that came near\n", seen.alone,
           seen.together, seen.anew, (int)seen.leavers, (int)seen.must);
    CHECK(seen.alone > 10 && (size == 1 || seen.together > 10) && seen.anew > 0 && seen.leavers > 100 &&
              seen.must > 10000,
          "too little was tried");
    return world_result();
}
