/* kinetic_lists.c: keeps separation lists (Weller and Zachmann 2006) over the hierarchy of kinetic k-DOPs: the
 * traversal of the tree that searches for overlaps is kept. Where it stopped because two nodes are separated there is a
 * certificate, with the time until which they stay separated (docs/reference/kinetic.md).
 *
 * A test is a pair of nodes. It is *separated* (a certificate), *split* into two tests with one node's children, or
 * *open*: two leaves with slabs between their features. When a certificate fails and cannot be renewed, its test is
 * split or opened. A test is closed when the tests below it are not needed any more and its nodes will be separated for
 * long. */
#include "kds/kinetic_lists.h"
#include <stdlib.h>
#include <string.h>

enum state { UNUSED = TAC_LIST_UNUSED, SEPARATED = TAC_LIST_SEPARATED, SPLIT = TAC_LIST_SPLIT, OPEN = TAC_LIST_OPEN };
enum { CLOSE_LIVES = 4, FRESH_PARTS = 8, PATIENCE = 64 };

struct test {
    int32_t node[2];
    int32_t up;                 /* the test that was split into this one, or -1 */
    int32_t child[2];           /* of a split one; -1: no such test is needed */
    int32_t slabs;              /* of an open one: the first */
    int32_t next[2], before[2]; /* of the lists of its nodes, if apart: 2 x test + side, or -1 */
    uint64_t order;             /* axes by usefulness, four bits each, the best one lowest */
    tac_time again;             /* not to be closed before */
    uint32_t draws;             /* random axes drawn so far */
    uint8_t state;
    uint8_t touching; /* leaves with a common vertex: never apart */
};

struct lists {
    struct tac_kinetic_tree *tree; /* owned */
    size_t count, capacity, free_count, free_capacity, live, live_built;
    struct test *test; /* owned */
    int32_t *free;     /* owned */
    struct tac_queue *queue;
};

/* ---- how long two nodes stay separated ---- */

static int axis_at(uint64_t order, int i)
{
    return (int)(order >> (4 * i) & 15);
}

/* Moves axis i of the order to the front. */
static uint64_t promote_axis(uint64_t order, int i)
{
    const uint64_t axis = order >> (4 * i) & 15, before = order & (((uint64_t)1 << (4 * i)) - 1);
    const uint64_t behind = i == 15 ? 0 : order >> (4 * i + 4) << (4 * i + 4);
    return behind | before << 4 | axis;
}

/* Computes the time of separation along the axes that were useful, until one adds nothing, and along one more axis at
 * random, which moves to the front if it is better (ACM 2009, section 5.6). */
static double by_useful(const struct tac_kinetic *k, const struct lists *l, struct test *t)
{
    const int n = l->tree->axes;
    double best = 0;
    int i = 0;
    for (; i < n; i++) {
        const double life = tac_kinetic_separated_s(k, l->tree, t->node[0], t->node[1], axis_at(t->order, i));
        if (!(life > best))
            break;
        best = life;
    }
    if (i + 1 < n && best < INFINITY) {
        const uint64_t seed = (uint64_t)(uint32_t)t->node[0] << 32 | (uint32_t)t->node[1];
        const int j = i + 1 + (int)(tac_hash64(seed, t->draws++) % (uint64_t)(n - i - 1));
        const double life = tac_kinetic_separated_s(k, l->tree, t->node[0], t->node[1], axis_at(t->order, j));
        if (life > best) {
            best = life;
            t->order = promote_axis(t->order, j);
        }
    }
    return best;
}

/* Computes the time of separation along all axes, and moves the best axis to the front. */
static double by_all(const struct tac_kinetic *k, const struct lists *l, struct test *t)
{
    double best = 0;
    int which = 0;
    for (int i = 0; i < l->tree->axes; i++) {
        const double life = tac_kinetic_separated_s(k, l->tree, t->node[0], t->node[1], axis_at(t->order, i));
        if (life > best) {
            best = life;
            which = i;
        }
    }
    t->order = promote_axis(t->order, which);
    return best;
}

static void refresh_nodes(struct tac_kinetic *k, const struct lists *l, const struct test *t)
{
    for (int side = 0; side < 2; side++)
        tac_kinetic_tree_refresh(k, l->tree, t->node[side], k->now - k->tau / FRESH_PARTS);
}

static bool long_enough(const struct tac_kinetic *k, double life, double lives)
{
    return life >= lives * k->tau_s && tac_kinetic_after(k, life) >= k->until;
}

/* ---- tests ---- */

static void link_to_nodes(struct lists *l, int32_t id)
{
    struct test *t = &l->test[id];
    for (int side = 0; side < 2; side++) {
        int32_t *first = &l->tree->node[t->node[side]].first;
        t->next[side] = *first;
        t->before[side] = -1;
        if (*first >= 0)
            l->test[*first / 2].before[*first % 2] = 2 * id + side;
        *first = 2 * id + side;
    }
}

static void unlink_from_nodes(struct lists *l, int32_t id)
{
    struct test *t = &l->test[id];
    for (int side = 0; side < 2; side++) {
        const int32_t next = t->next[side], before = t->before[side];
        if (next >= 0)
            l->test[next / 2].before[next % 2] = before;
        if (before >= 0)
            l->test[before / 2].next[before % 2] = next;
        else
            l->tree->node[t->node[side]].first = next;
    }
}

static void set_separated(struct tac_kinetic *k, struct lists *l, int32_t id, double life)
{
    l->test[id].state = SEPARATED;
    link_to_nodes(l, id);
    tac_queue_set(l->queue, id, tac_kinetic_after(k, life));
    k->view->counters->certificates_created++;
}

static bool have_common_vertex(const struct tac_kinetic *k, const struct tac_branch *a, const struct tac_branch *b)
{
    const struct tac_primitive *p = &k->primitive[a->primitive], *q = &k->primitive[b->primitive];
    for (int i = 0; i < p->count; i++)
        for (int j = 0; j < q->count; j++)
            if (p->v[i] == q->v[j])
                return true;
    return false;
}

static enum tac_err new_test(struct tac_kinetic *k, struct lists *l, int32_t a, int32_t b, int32_t up, int32_t *id)
{
    enum tac_err err = TAC_OK;
    const struct tac_branch *na = &l->tree->node[a], *nb = &l->tree->node[b];
    *id = -1;
    if ((na->immovable && nb->immovable) ||
        (na->body >= 0 && nb->body >= 0 && !tac_kinetic_may_touch(k, na->body, nb->body)))
        return TAC_OK;
    if (l->free_count) {
        *id = l->free[--l->free_count];
    } else {
        TAC_TRY(tac_grow(k->view->ctx, &l->test, &l->capacity, l->count + 1, sizeof *l->test));
        TAC_TRY(tac_grow(k->view->ctx, &l->free, &l->free_capacity, l->capacity, sizeof *l->free));
        TAC_TRY(tac_queue_room(l->queue, l->capacity));
        *id = (int32_t)l->count++;
    }
    struct test *t = &l->test[*id];
    *t = (struct test){.node = {a, b}, .up = up, .child = {-1, -1}, .slabs = -1, .order = 0xfedcba9876543210};
    if (up >= 0)
        t->order = l->test[up].order;
    t->touching = na->left < 0 && nb->left < 0 && have_common_vertex(k, na, nb);
    l->live++;
done:
    return err;
}

static void free_test(struct lists *l, int32_t id)
{
    l->test[id].state = UNUSED;
    l->free[l->free_count++] = id;
    l->live--;
}

/* Returns a node's extent along the first three axes, by which the node to be split is chosen. */
static double size_of(const struct tac_kinetic_tree *tree, int32_t node)
{
    const double *e = &tree->envelope[4 * (size_t)tree->axes * (size_t)node];
    return (e[tree->axes] - e[0]) + (e[tree->axes + 1] - e[1]) + (e[tree->axes + 2] - e[2]);
}

static enum tac_err decide_test(struct tac_kinetic *k, struct lists *l, int32_t id);

/* Splits or opens a test whose nodes are not separated for long enough. */
static enum tac_err descend_test(struct tac_kinetic *k, struct lists *l, int32_t id)
{
    enum tac_err err = TAC_OK;
    const int32_t a = l->test[id].node[0], b = l->test[id].node[1];
    const struct tac_branch *na = &l->tree->node[a], *nb = &l->tree->node[b];
    if (na->left < 0 && nb->left < 0) {
        int32_t head = -1;
        l->test[id].state = OPEN;
        const int32_t owner = l->test[id].touching ? -1 : id; /* a test that is never closed needs no certificate */
        err = tac_slabs_between(k, &k->primitive[na->primitive], &k->primitive[nb->primitive], owner, &head);
        l->test[id].slabs = head;
        goto done;
    }
    const bool first = nb->left < 0 || (na->left >= 0 && size_of(l->tree, a) >= size_of(l->tree, b));
    l->test[id].state = SPLIT;
    l->test[id].again = k->now + PATIENCE * k->tau;
    for (int i = 0; i < 2; i++) {
        int32_t child;
        TAC_TRY(new_test(k, l, first ? na->left + i : a, first ? b : nb->left + i, id, &child));
        l->test[id].child[i] = child;
        if (child >= 0)
            TAC_TRY(decide_test(k, l, child));
    }
done:
    return err;
}

static enum tac_err decide_test(struct tac_kinetic *k, struct lists *l, int32_t id)
{
    struct test *t = &l->test[id];
    if (!t->touching) {
        refresh_nodes(k, l, t);
        const double life = by_all(k, l, t);
        if (long_enough(k, life, 1)) {
            set_separated(k, l, id, life);
            return TAC_OK;
        }
    }
    return descend_test(k, l, id);
}

/* ---- closing ---- */

static bool child_is_separated(const struct lists *l, int32_t child)
{
    return child < 0 || l->test[child].state == SEPARATED;
}

/* Closes a test, and those above it, if nothing below needs it. */
static void close_from(struct tac_kinetic *k, struct lists *l, int32_t id)
{
    for (; id >= 0; id = l->test[id].up) {
        struct test *t = &l->test[id];
        if (t->touching || k->now < t->again)
            return;
        if (t->state == SPLIT ? !child_is_separated(l, t->child[0]) || !child_is_separated(l, t->child[1])
                              : t->state != OPEN || tac_slabs_active(k, t->slabs))
            return;
        t->again = k->now + PATIENCE * k->tau;
        refresh_nodes(k, l, t);
        const double life = by_useful(k, l, t);
        if (!long_enough(k, life, CLOSE_LIVES))
            return;
        for (int i = 0; i < 2 && t->state == SPLIT; i++)
            if (t->child[i] >= 0) {
                unlink_from_nodes(l, t->child[i]);
                tac_queue_set(l->queue, t->child[i], TAC_TIME_NEVER);
                free_test(l, t->child[i]);
                t->child[i] = -1;
            }
        if (t->state == OPEN)
            tac_slabs_drop(k, &t->slabs);
        set_separated(k, l, id, life);
    }
}

/* ---- the structure ---- */

static enum tac_err lists_create(struct tac_kinetic *k, void **self)
{
    enum tac_err err;
    struct lists *l = NULL;
    TAC_TRY(tac_alloc(k->view->ctx, 1, sizeof *l, &l));
    *self = l;
    TAC_TRY(tac_queue_create(k->view->ctx, k->view->scene->settings->discovery.queue, &l->queue));
done:
    return err;
}

static void lists_destroy(void *self)
{
    struct lists *l = self;
    tac_kinetic_tree_destroy(&l->tree);
    tac_queue_destroy(&l->queue);
    free(l->test);
    free(l->free);
    free(l);
}

static enum tac_err lists_build(struct tac_kinetic *k, void *self)
{
    enum tac_err err = TAC_OK;
    struct lists *l = self;
    tac_kinetic_tree_destroy(&l->tree);
    tac_queue_clear(l->queue);
    l->count = l->free_count = l->live = 0;
    TAC_TRY(tac_kinetic_tree_create(k, (int)k->view->scene->settings->discovery.kdop / 2, &l->tree));
    /* A node against itself is always the test of its children against each other. */
    for (int32_t i = 0; i < l->tree->count; i++) {
        const int32_t left = l->tree->node[i].left;
        int32_t id = -1;
        if (left >= 0)
            TAC_TRY(new_test(k, l, left, left + 1, -1, &id));
        if (id >= 0)
            TAC_TRY(decide_test(k, l, id));
    }
    l->live_built = l->live;
done:
    return err;
}

static struct tac_queue *lists_queue(void *self)
{
    return ((struct lists *)self)->queue;
}

static enum tac_err lists_fail(struct tac_kinetic *k, void *self, int32_t id)
{
    struct lists *l = self;
    struct test *t = &l->test[id];
    double life = by_useful(k, l, t);
    if (!long_enough(k, life, 1)) {
        refresh_nodes(k, l, t);
        life = by_all(k, l, t);
    }
    if (!long_enough(k, life, 1)) {
        unlink_from_nodes(l, id);
        return descend_test(k, l, id);
    }
    k->view->counters->certificates_reconfirmed++;
    tac_queue_set(l->queue, id, tac_kinetic_after(k, life));
    close_from(k, l, t->up);
    return TAC_OK;
}

static enum tac_err lists_relieved(struct tac_kinetic *k, void *self, int32_t owner)
{
    close_from(k, self, owner);
    return TAC_OK;
}

/* Computes the times of the tests that depend on nodes whose envelopes have become wider. */
static enum tac_err lists_moved(struct tac_kinetic *k, void *self, const tac_lid *v, size_t count)
{
    struct lists *l = self;
    struct tac_kinetic_tree *tree = l->tree;
    if (tree == NULL) /* no contact, only limits */
        return TAC_OK;
    for (size_t i = 0; i < count; i++)
        tac_kinetic_tree_widen(k, tree, v[i]);
    for (size_t i = 0; i < tree->dirty_count; i++) {
        struct tac_branch *node = &tree->node[tree->dirty[i]];
        node->dirty = 0;
        for (int32_t code = node->first; code >= 0;) {
            struct test *t = &l->test[code / 2];
            const tac_time time = l->queue->time[code / 2];
            /* Mostly the best axis alone holds for as long as was said. */
            const double best = tac_kinetic_separated_s(k, tree, t->node[0], t->node[1], axis_at(t->order, 0));
            if (tac_kinetic_after(k, best) < time) {
                const tac_time sooner = tac_kinetic_after(k, by_useful(k, l, t));
                if (sooner < time)
                    tac_queue_set(l->queue, code / 2, sooner);
            }
            k->view->counters->certificates_rescheduled++;
            code = t->next[code % 2];
        }
    }
    tree->dirty_count = 0;
    return TAC_OK;
}

/* Should the tree be built again? When particles mix or cloths fold, an old tree costs more tests. */
static bool lists_stale(const struct tac_kinetic *k, const void *self)
{
    const struct lists *l = self;
    return l->live > 4 * l->live_built + (size_t)k->primitive_count + 4096;
}

bool tac_lists_view(const struct tac_kinetic *k, int32_t id, struct tac_list_view *view)
{
    const struct lists *l = k->self[TAC_KINETIC_BROAD];
    if (k->structure[TAC_KINETIC_BROAD] != &tac_kinetic_lists || id < 0 || (size_t)id >= l->count)
        return false;
    const struct test *t = &l->test[id];
    *view =
        (struct tac_list_view){l->tree, {t->node[0], t->node[1]}, (enum tac_list_state)t->state, l->queue->time[id]};
    return true;
}

const struct tac_kinetic_structure tac_kinetic_lists = {"k-dop",     lists_create,   lists_destroy,
                                                        lists_build, lists_queue,    lists_fail,
                                                        lists_moved, lists_relieved, lists_stale};
