/* test_order.c: forces of one instant commute (docs/explanation/method.md, Time and order).
 *
 * An instant's kicks are given again and again from the same state, each time in another order: of kinds, of periods,
 * of the elements of each kind, of the layer groups that tick. What follows from positions (what elements and layers
 * remember) must be the same to the last bit, and velocities but for the rounding of their sums. If this fails, some
 * force reads what an earlier one has written: a velocity, or another's state.
 *
 * That the test would see this is tested with forces that do: a drag and a restitution that read velocities. */
#include "contact/friction.h"
#include "support.h"
#include <float.h>

static const char SCENE[] = "tests/unit/events/scenes/every-force.json";

enum { ORDERS = 6, MOST_GROUPS = 128, ULPS = 32, LEDGER = 3 };

/* A part of an instant's kicks: one kind of one class, all contacts, or a force that this test makes. */
enum { CONTACT = -1, WRONG = -2 };
struct group {
    int32_t rate; /* class, or one of the above */
    int kind;
};

/* A force that is wrong: it reads velocities. */
typedef void wrong_force(struct tac_sim *sim);

static uint64_t drawn = 20091;
static size_t below(size_t n)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(drawn >> 33) % n;
}

static void shuffle(size_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        const size_t j = below(i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

/* Entry k becomes what entry order[k] was; or back. */
static void permute(void *entries, size_t n, size_t size, const size_t *order, bool back)
{
    char *old = malloc(n * size + 1);
    if (old == NULL || entries == NULL) {
        TAC_CHECK(n == 0 || entries == NULL);
        free(old);
        return;
    }
    memcpy(old, entries, n * size);
    for (size_t k = 0; k < n; k++)
        memcpy((char *)entries + (back ? order[k] : k) * size, old + (back ? k : order[k]) * size, size);
    free(old);
}

/* ---- orders of the elements of a class ---- */

enum { MOST_LISTS = 1024 };
struct orders {
    size_t count;
    size_t *order[MOST_LISTS]; /* in the order in which permute_all() goes through the lists */
};

/* The next list of a walk over all: its order, made on the way there, used up on the way back. */
static const size_t *next_order(struct orders *o, size_t *at, size_t n, bool back)
{
    TAC_CHECK(*at < MOST_LISTS);
    if (!back) {
        o->order[*at] = malloc((n + 1) * sizeof(size_t));
        TAC_CHECK(o->order[*at] != NULL);
        shuffle(o->order[*at], n);
        o->count = *at + 1;
    }
    return o->order[(*at)++];
}

static void permute_memory(struct tac_memory *m, const struct tac_element *element, const size_t *order, bool back)
{
    const size_t width = (size_t)element->width * sizeof(double);
    permute(m->value, m->count, width, order, back);
    permute(m->saved, m->count, width, order, back);
    permute(m->id, m->count, sizeof *m->id, order, back);
}

static void permute_class(struct tac_rate_class *r, struct orders *o, size_t *at, bool back)
{
    for (int k = 0; k < r->group_count; k++) {
        struct tac_element_group *g = &r->group[k];
        const size_t plastic = g->rest.count, n = g->elastic.count - plastic;
        TAC_CHECK(g->elastic.held_count == 0 && g->damper.held_count == 0); /* lists by number */
        permute(g->elastic.record, n, g->elastic.size, next_order(o, at, n, back), back);
        const size_t *order = next_order(o, at, plastic, back);
        permute(g->elastic.record ? tac_forces_record(&g->elastic, n) : NULL, plastic, g->elastic.size, order, back);
        permute_memory(&g->rest, g->element, order, back);
        permute(g->yield, plastic, sizeof(double), order, back);
        permute(g->flow_mine, plastic, 1, order, back);
        order = next_order(o, at, g->last.count, back);
        permute(g->damper.record, g->last.count, g->damper.size, order, back);
        permute_memory(&g->last, g->element, order, back);
    }
    permute(r->load, r->load_count, sizeof *r->load, next_order(o, at, r->load_count, back), back);
}

static void permute_all(struct tac_sim *sim, struct orders *o, bool back)
{
    size_t at = 0;
    for (size_t c = 0; c < sim->elastic->class_count; c++)
        permute_class(&sim->elastic->rate[c], o, &at, back);
    for (size_t c = 0; c < sim->active.rate_group_count; c++) {
        struct tac_rate_group *r = &sim->active.rate_group[c];
        TAC_CHECK(r->extra_count == 0);
        permute(r->group, r->count, sizeof *r->group, next_order(o, &at, r->count, back), back);
    }
    for (size_t k = 0; back && k < o->count; k++)
        free(o->order[k]);
}

/* ---- one instant ---- */

/* Everything that an instant may write. */
struct state {
    struct tac_pos *pos;
    struct tac_vel *vel;
    size_t exact_count, rough_count;
    double *exact; /* what elements and layer groups remember */
    double *rough; /* what sums up an instant's impulses: friction's ledgers, LEDGER numbers each */
};

static void put(double **list, size_t *count, const double *value, size_t n)
{
    if (n == 0)
        return;
    *list = realloc(*list, (*count + n) * sizeof(double));
    TAC_CHECK(*list != NULL);
    memcpy(*list + *count, value, n * sizeof(double));
    *count += n;
}

static void capture(const struct tac_sim *sim, struct state *s)
{
    const size_t n = (size_t)sim->state.owned;
    *s = (struct state){malloc(n * sizeof *s->pos), malloc(n * sizeof *s->vel), 0, 0, NULL, NULL};
    TAC_CHECK(s->pos != NULL && s->vel != NULL);
    memcpy(s->pos, sim->state.pos, n * sizeof *s->pos);
    memcpy(s->vel, sim->state.vel, n * sizeof *s->vel);
    for (size_t c = 0; c < sim->elastic->class_count; c++) {
        const struct tac_rate_class *r = &sim->elastic->rate[c];
        for (int k = 0; k < r->group_count; k++) {
            const struct tac_element_group *g = &r->group[k];
            const size_t width = (size_t)g->element->width;
            put(&s->exact, &s->exact_count, g->rest.value, g->rest.count * width);
            put(&s->exact, &s->exact_count, g->last.value, g->last.count * width);
        }
        for (size_t k = 0; k < r->load_count; k++)
            put(&s->exact, &s->exact_count, r->load[k].centre, 3);
    }
    for (size_t c = 0; c < sim->active.rate_group_count; c++)
        for (size_t k = 0; k < sim->active.rate_group[c].count; k++)
            put(&s->exact, &s->exact_count, &sim->active.rate_group[c].group[k].last_d, 1);
    for (size_t k = 0; k < sim->active.pair_count; k++) {
        const struct tac_friction_values *g = &sim->active.friction->friction_state[k].now;
        const double born[2] = {(double)g->born, (double)g->t};
        put(&s->exact, &s->exact_count, born, 2);
        if (g->t < 0)
            continue;
        put(&s->exact, &s->exact_count, g->w, 4);
        put(&s->exact, &s->exact_count, g->p, 3);
        put(&s->exact, &s->exact_count, g->slid, 3);
        put(&s->rough, &s->rough_count, g->stock, 2);
        put(&s->rough, &s->rough_count, &g->budget, 1);
    }
}

static void release(struct state *s)
{
    free(s->pos);
    free(s->vel);
    free(s->exact);
    free(s->rough);
}

static tac_time start_instant(struct tac_sim *sim)
{
    TAC_CHECK(tac_pass_begin(sim) == TAC_OK);
    return tac_clock_next(sim, sim->state.now, TAC_TIME_NEVER);
}

static size_t list_groups(const struct tac_sim *sim, bool wrong, struct group *group)
{
    size_t n = 0;
    for (size_t c = 0; c < sim->clocks.due_elastic_count; c++)
        for (int kind = 0; kind < TAC_KINDS; kind++)
            if (tac_class_count(&sim->elastic->rate[sim->clocks.due_elastic[c]], kind)) {
                TAC_CHECK(n + 2 < MOST_GROUPS);
                group[n++] = (struct group){sim->clocks.due_elastic[c], kind};
            }
    group[n++] = (struct group){CONTACT, 0};
    if (wrong)
        group[n++] = (struct group){WRONG, 0};
    return n;
}

/* The engine will find no force of this kind in a class. */
static void leave_out(struct tac_rate_class *r, int kind)
{
    const int k = tac_element_of_kind(kind);
    if (k >= 0 && k < r->group_count)
        r->group[k].elastic.count = 0;
    else if (kind == TAC_KIND_GRAVITY)
        r->pulled = 0;
    else if (kind == TAC_KIND_DAMPING)
        r->damper_count = 0;
    else if (kind == TAC_KIND_LOAD)
        r->load_count = 0;
}

/* Takes a step of the instant t in which only this group is due; NULL: nothing is, but vertices are brought to t. */
static void step(struct tac_sim *sim, tac_time t, const struct group *only)
{
    struct tac_rate_class *kept = malloc(sim->elastic->class_count * sizeof *kept);
    const size_t groups = sim->clocks.due_group_count, classes = sim->clocks.due_elastic_count;
    TAC_CHECK(kept != NULL);
    for (size_t c = 0; c < sim->elastic->class_count; c++) {
        kept[c] = sim->elastic->rate[c];
        for (int kind = 0; kind < TAC_KINDS; kind++)
            if (only == NULL || only->rate != (int32_t)c || only->kind != kind)
                leave_out(&sim->elastic->rate[c], kind);
    }
    if (only == NULL || only->rate != CONTACT)
        sim->clocks.due_group_count = 0;
    if (only && only->rate == CONTACT)
        sim->clocks.due_elastic_count = 0;
    tac_pass_step(sim, t);
    for (size_t c = 0; c < sim->elastic->class_count; c++)
        sim->elastic->rate[c] = kept[c]; /* what it points to is changed, and stays so */
    sim->clocks.due_group_count = groups;
    sim->clocks.due_elastic_count = classes;
    free(kept);
}

/* Adds to each vertex' scale how far a step's kicks moved its velocity. */
static void note_change(const struct tac_sim *sim, const double *before, double *scale)
{
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        double change[3];
        tac_sub(change, sim->state.vel[i].v, &before[3 * i]);
        scale[i] += sqrt(tac_dot(change, change));
    }
}

/* The instant in some order. scale: (V), speed and kicks of each vertex, m/s. */
static void shuffled(struct tac_sim *sim, wrong_force *wrong, struct state *out, double *scale)
{
    struct group group[MOST_GROUPS];
    struct orders orders = {0, {NULL}};
    const tac_time t = start_instant(sim);
    const size_t n = list_groups(sim, wrong != NULL, group);
    size_t order[MOST_GROUPS], *groups = malloc((sim->clocks.due_group_count + 1) * sizeof *groups);
    double *before = malloc(3 * (size_t)sim->state.owned * sizeof *before);
    TAC_CHECK(groups != NULL && before != NULL);
    shuffle(order, n);
    shuffle(groups, sim->clocks.due_group_count);
    permute(sim->clocks.due_group, sim->clocks.due_group_count, sizeof *sim->clocks.due_group, groups, false);
    permute_all(sim, &orders, false);
    for (tac_lid i = 0; i < sim->state.owned; i++)
        scale[i] = sqrt(tac_dot(sim->state.vel[i].v, sim->state.vel[i].v));
    step(sim, t, NULL);
    for (size_t k = 0; k < n; k++) {
        for (tac_lid i = 0; i < sim->state.owned; i++)
            memcpy(&before[3 * i], sim->state.vel[i].v, 3 * sizeof *before);
        if (group[order[k]].rate == WRONG)
            wrong(sim);
        else
            step(sim, t, &group[order[k]]);
        note_change(sim, before, scale);
    }
    permute_all(sim, &orders, true);
    capture(sim, out);
    TAC_CHECK(tac_pass_rollback(sim, sim->state.now) == TAC_OK);
    free(groups);
    free(before);
}

/* Largest difference of two states' velocities, in units of the last place of the scale. */
static double apart(const struct tac_sim *sim, const struct state *a, const struct state *b, const double *scale)
{
    double most = 0;
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        double d[3];
        tac_sub(d, a->vel[i].v, b->vel[i].v);
        if (scale[i] > 0)
            most = fmax(most, sqrt(tac_dot(d, d)) / (DBL_EPSILON * scale[i]));
    }
    return most;
}

static void compare(const struct tac_sim *sim, tac_time t, const struct state *a, const struct state *b,
                    const double *scale)
{
    const double far = apart(sim, a, b, scale);
    CHECK(far <= ULPS, "velocities at %.6g s differ by %.3g units in the last place of the kicks",
          tac_state_seconds(&sim->state, t), far);
    for (tac_lid i = 0; i < sim->state.owned; i++)
        CHECK(memcmp(&a->pos[i], &b->pos[i], sizeof a->pos[i]) == 0, "position of vertex %d at %.6g s", i,
              tac_state_seconds(&sim->state, t));
    CHECK(a->exact_count == b->exact_count && memcmp(a->exact, b->exact, a->exact_count * sizeof(double)) == 0,
          "what elements or layers remember depends on the order at %.6g s", tac_state_seconds(&sim->state, t));
    CHECK(a->rough_count == b->rough_count, "pairs that rub at %.6g s", tac_state_seconds(&sim->state, t));
    for (size_t k = 0; k < a->rough_count && k < b->rough_count; k++) {
        const double *stock = &a->rough[k - k % LEDGER]; /* what is left of it may be next to nothing */
        CHECK(fabs(a->rough[k] - b->rough[k]) <= ULPS * DBL_EPSILON * (stock[0] + stock[1]),
              "friction's ledger at %.6g s: %.17g and %.17g N s", tac_state_seconds(&sim->state, t), a->rough[k],
              b->rough[k]);
    }
}

/* ---- wrong forces ---- */

/* A drag that takes a hundredth of the velocity that it finds. */
static void drag(struct tac_sim *sim)
{
    for (tac_lid i = 0; i < sim->state.owned; i++)
        for (int k = 0; k < 3 && sim->state.vel[i].w != 0; k++)
            sim->state.vel[i].v[k] *= .99;
}

/* A push away from the floor for what comes down just now. */
static void rebound(struct tac_sim *sim)
{
    for (tac_lid i = 0; i < sim->state.owned; i++)
        if (sim->state.vel[i].w != 0 && sim->state.vel[i].v[1] < 0)
            sim->state.vel[i].v[1] += .01 * (fabs(sim->state.vel[i].v[1]) + sim->state.vel[i].v[0]);
}

/* ---- the test ---- */

/* What took part in the instants looked at. */
struct seen {
    int64_t ticks[TAC_KINDS];
    int64_t instants, flows, losses, rubs, groups;
    double worst, least_wrong;
};

static void look(struct experiment *e, struct seen *seen)
{
    struct tac_sim *sim = e->sim;
    struct state first, other;
    struct group group[MOST_GROUPS];
    double *scale = malloc((size_t)sim->state.owned * sizeof *scale);
    TAC_CHECK(scale != NULL);
    /* As the engine does it. */
    const tac_time t = start_instant(sim);
    const size_t groups = list_groups(sim, false, group);
    tac_pass_step(sim, t);
    capture(sim, &first);
    for (int kind = 0; kind < TAC_KINDS; kind++)
        seen->ticks[kind] += sim->books.ticks[kind];
    for (size_t c = 0; c < sim->elastic->class_count; c++)
        for (int k = 0; k < sim->elastic->element_count; k++) {
            const struct tac_element_group *g = &sim->elastic->rate[c].group[k];
            const size_t size = g->rest.count * (size_t)g->element->width * sizeof(double);
            seen->flows += size && memcmp(g->rest.value, g->rest.saved, size);
        }
    for (size_t k = 0; k < sim->active.pair_count; k++)
        seen->rubs += sim->active.friction->friction_state[k].now.t == t;
    seen->losses += memcmp(&sim->books.dissipated, &sim->books.dissipated_start, sizeof sim->books.dissipated) != 0;
    seen->groups += (int64_t)groups;
    seen->instants++;
    TAC_CHECK(tac_pass_rollback(sim, sim->state.now) == TAC_OK);
    for (int n = 0; n < ORDERS; n++) {
        shuffled(sim, NULL, &other, scale);
        compare(sim, t, &first, &other, scale);
        seen->worst = fmax(seen->worst, apart(sim, &first, &other, scale));
        release(&other);
    }
    /* With a force that reads velocities, some order tells it from the others. */
    static wrong_force *const wrong[] = {drag, rebound};
    for (size_t k = 0; k < 2; k++) {
        struct state one;
        double most = 0;
        shuffled(sim, wrong[k], &one, scale);
        for (int n = 1; n < ORDERS; n++) {
            shuffled(sim, wrong[k], &other, scale);
            most = fmax(most, apart(sim, &one, &other, scale));
            release(&other);
        }
        CHECK(most > 1e3 * ULPS, "a force that reads velocities moves them by %.3g units in the last place only", most);
        seen->least_wrong = fmin(seen->least_wrong, most);
        release(&one);
    }
    release(&first);
    free(scale);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    struct experiment e;
    struct settings s = {.count = 0};
    struct seen seen = {.least_wrong = INFINITY};
    set(&s, "discovery.mode=\"all-pairs\""); /* watches nothing more in the middle of an instant */
    begin(&e, SCENE, &s);
    for (int k = 1; k <= 24; k++) {
        /* Instants at which all elastic clocks tick; some at which few do. */
        const tac_time at = tac_scene_quanta(e.scene, .25 * k / 24);
        const tac_time longest = e.sim->elastic->rate[e.sim->elastic->class_count - 1].period;
        const tac_time t = at / longest * longest - (k % 3 == 2 ? longest / 8 : 0);
        while (e.sim->state.now < t) {
            if (e.sim->state.now + longest >= t && start_instant(e.sim) == t)
                look(&e, &seen);
            if (tac_sim_advance(e.sim, t)) {
                CHECK(false, "%s", e.ctx.error);
                break;
            }
        }
    }
    for (int kind = TAC_KIND_GRAVITY; e.sim->elastic->kind_name[kind] != NULL; kind++)
        CHECK(seen.ticks[kind] > 0, "no %s ticked", e.sim->elastic->kind_name[kind]);
    CHECK(seen.instants >= 24 && seen.flows > 0 && seen.losses > 0 && seen.rubs > 0,
          "%d instants, %d plastic flows, %d losses, %d pairs that rub: too little to tell", (int)seen.instants,
          (int)seen.flows, (int)seen.losses, (int)seen.rubs);
    printf(
        "%d instants in %d orders each: %d groups of forces, %d plastic flows, %d pairs that rub; velocities differ by "
        "at most %.3g units in the last place; with a force that reads them by at least %.3g\n",
        (int)seen.instants, ORDERS, (int)seen.groups, (int)seen.flows, (int)seen.rubs, seen.worst, seen.least_wrong);
    end(&e);
    MPI_Finalize();
    return check_result();
}
