/* classes.c: sorts elements into rate classes, and lists the vertices of each class (docs/reference/engine.md, State
 * and clocks).
 */
#include "base/compare.h"
#include "elements/elastic_builder.h"
#include "partition/part.h"
#include "scene/period.h"
#include <stdlib.h>
#include <string.h>

size_t tac_class_of(const struct tac_elastic *el, tac_time period)
{
    size_t lo = 0, hi = el->class_count;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (el->rate[mid].period <= period)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* Makes the classes: all periods of forces and of gravity, each once, ascending. */
static enum tac_err list_periods(struct builder *b, struct tac_elastic *el, tac_time gravity)
{
    enum tac_err err;
    tac_time *all = NULL;
    size_t n = 0, distinct = 0;
    for (int k = 0; k < b->set.count; k++)
        n += 2 * b->set.list[k].count;
    TAC_TRY(tac_alloc(b->ctx, n + b->loads.count + 2, sizeof *all, &all));
    n = 0;
    for (int k = 0; k < b->set.count; k++)
        for (size_t e = 0; e < b->set.list[k].count; e++) {
            all[n++] = b->period[k][e];
            if (b->damper[k][e])
                all[n++] = b->damper[k][e];
        }
    for (size_t e = 0; e < b->loads.count; e++)
        all[n++] = b->loads.period[e];
    if (gravity)
        all[n++] = gravity;
    const double motor_s = b->scene->settings->motor_s;
    const tac_time motors = motor_s > 0 ? tac_clock_period(b->scene, motor_s) : 0;
    if (motors)
        all[n++] = motors;
    qsort(all, n, sizeof *all, tac_compare_int64);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || all[i] != all[i - 1])
            all[distinct++] = all[i];
    TAC_TRY(tac_alloc(b->ctx, distinct, sizeof *el->rate, &el->rate));
    el->class_count = distinct;
    for (size_t i = 0; i < distinct; i++) {
        el->rate[i].period = all[i];
        el->rate[i].h_s = (double)all[i] * b->scene->settings->quantum_s;
        el->rate[i].motors = all[i] == motors;
    }
done:
    free(all);
    return err;
}

/* Allocates the lists of a class, with room for the numbers in count[]. */
static enum tac_err make_lists(struct builder *b, struct tac_rate_class *r, const size_t count[TAC_ELEMENTS],
                               size_t loads)
{
    enum tac_err err = TAC_OK;
    r->group_count = b->set.count;
    for (int k = 0; k < b->set.count; k++) {
        struct tac_element_group *g = &r->group[k];
        g->element = b->set.list[k].element;
        g->elastic.size = g->element->size;
        TAC_TRY(tac_alloc(b->ctx, count[k], g->elastic.size, &g->elastic.record));
    }
    TAC_TRY(tac_alloc(b->ctx, loads, sizeof *r->load, &r->load));
done:
    return err;
}

static void append_record(struct tac_element_group *g, const struct tac_element_list *list, size_t e)
{
    memcpy(tac_forces_record(&g->elastic, g->elastic.count++), tac_element_record(list, e), g->elastic.size);
}

/* Goes in scene order, so the elements of each class are in key order; plastic ones come after the others. */
static enum tac_err make_classes(struct builder *b, struct tac_elastic *el)
{
    enum tac_err err = TAC_OK;
    size_t *count = NULL, *loads = NULL;
    TAC_TRY(tac_alloc(b->ctx, el->class_count * TAC_ELEMENTS, sizeof *count, &count));
    TAC_TRY(tac_alloc(b->ctx, el->class_count, sizeof *loads, &loads));
    for (int k = 0; k < b->set.count; k++)
        for (size_t e = 0; e < b->set.list[k].count; e++)
            count[tac_class_of(el, b->period[k][e]) * TAC_ELEMENTS + (size_t)k]++;
    for (size_t e = 0; e < b->loads.count; e++)
        loads[tac_class_of(el, b->loads.period[e])]++;
    for (size_t i = 0; i < el->class_count; i++)
        TAC_TRY(make_lists(b, &el->rate[i], &count[i * TAC_ELEMENTS], loads[i]));
    for (int k = 0; k < b->set.count; k++)
        for (int plastic = 0; plastic < 1 + el->flows; plastic++)
            for (size_t e = 0; e < b->set.list[k].count; e++)
                if ((tac_builder_yield(b, k, e) > 0) == (plastic == 1))
                    append_record(&el->rate[tac_class_of(el, b->period[k][e])].group[k], &b->set.list[k], e);
    for (size_t e = 0; e < b->loads.count; e++) {
        struct tac_rate_class *r = &el->rate[tac_class_of(el, b->loads.period[e])];
        r->load[r->load_count++] = b->loads.element[e];
    }
done:
    free(count);
    free(loads);
    return err;
}

/* The data with which the vertices of classes are listed. */
struct lister {
    struct builder *b;
    bool nested;
    tac_lid owned;
    tac_lid *seen, *seen_damped; /* owned: last class (plus one) that listed the vertex */
    uint8_t *scripted;           /* owned */
};

/* Adds a vertex to a class' list, unless it is there already, or (nested clocks) in that of a shorter period. */
static enum tac_err list_vertex(const struct lister *l, size_t c, tac_lid v, tac_lid *seen, tac_lid **vertex,
                                size_t *count, size_t *capacity)
{
    enum tac_err err = TAC_OK;
    if (v >= l->owned || seen[v] == (tac_lid)c + 1 || (l->nested && seen[v]))
        return TAC_OK;
    seen[v] = (tac_lid)c + 1;
    TAC_TRY(tac_grow(l->b->ctx, vertex, capacity, *count + 1, sizeof **vertex));
    (*vertex)[(*count)++] = v;
done:
    return err;
}

/* The vertices of rigid bodies are brought to instants by their bodies. */
static bool moves_with_body(const struct lister *l, tac_lid v)
{
    return l->b->scene->settings->rigid_count > 0 && tac_scene_rigid_of(l->b->scene, v) >= 0;
}

/* The data with which the vertices of one class are listed. */
struct listed {
    struct tac_rate_class *r;
    size_t c; /* its number */
    size_t capacity, damped_capacity;
};

/* Adds the vertices of one stencil. */
static enum tac_err list_stencil(const struct lister *l, struct listed *at, const tac_lid *v, int n, bool damper)
{
    enum tac_err err = TAC_OK;
    struct tac_rate_class *r = at->r;
    const uint8_t *ever_free = l->b->scene->mesh->ever_free;
    for (int i = 0; i < n; i++) {
        if ((ever_free[v[i]] || l->scripted[v[i]]) && !moves_with_body(l, v[i]))
            TAC_TRY(list_vertex(l, at->c, v[i], l->seen, &r->vertex, &r->vertex_count, &at->capacity));
        if (damper && ever_free[v[i]])
            TAC_TRY(list_vertex(l, at->c, v[i], l->seen_damped, &r->damped, &r->damped_count, &at->damped_capacity));
    }
done:
    return err;
}

/* Adds the vertices of a list of forces, and finds which of the forces this rank accounts for, and which have a
 * scripted vertex. */
static enum tac_err list_forces(const struct lister *l, struct listed *at, struct tac_forces *f, int nodes, bool damper)
{
    enum tac_err err = TAC_OK;
    size_t capacity = 0;
    for (size_t e = 0; e < f->count; e++) {
        const tac_lid *v = tac_forces_stencil(f, e);
        bool held = false;
        for (int i = 0; i < nodes; i++)
            held |= l->scripted[v[i]];
        TAC_TRY(list_stencil(l, at, v, nodes, damper));
        f->mine += tac_stencil_mine(l->b->scene, v, nodes);
        if (held) {
            TAC_TRY(tac_grow(l->b->ctx, &f->held, &capacity, f->held_count + 1, sizeof *f->held));
            f->held[f->held_count++] = (tac_lid)e;
        }
    }
done:
    return err;
}

static enum tac_err list_class(const struct lister *l, struct tac_rate_class *r, size_t c, bool gravity)
{
    enum tac_err err = TAC_OK;
    struct listed at = {r, c, 0, 0};
    for (int k = 0; k < r->group_count; k++) {
        struct tac_element_group *g = &r->group[k];
        TAC_TRY(list_forces(l, &at, &g->elastic, g->element->nodes, false));
        TAC_TRY(list_forces(l, &at, &g->damper, g->element->nodes, true));
        r->damper_mine += g->damper.mine;
    }
    for (size_t e = 0; e < r->load_count; e++) { /* a load does nothing to a scripted vertex */
        TAC_TRY(list_stencil(l, &at, r->load[e].v, r->load[e].count, false));
        r->load_mine += tac_stencil_mine(l->b->scene, r->load[e].v, r->load[e].count);
    }
    for (tac_lid i = 0; gravity && i < l->owned; i++)
        if (l->b->scene->mesh->ever_free[i]) {
            r->pulled++;
            if (moves_with_body(l, i))
                continue;
            TAC_TRY(list_vertex(l, c, i, l->seen, &r->vertex, &r->vertex_count, &at.capacity));
        }
    if (r->vertex_count)
        qsort(r->vertex, r->vertex_count, sizeof *r->vertex, tac_compare_int32);
    if (r->damped_count)
        qsort(r->damped, r->damped_count, sizeof *r->damped, tac_compare_int32);
done:
    return err;
}

/* Lists the vertices that a class moves to an instant, those of them that it damps, and its elements with a scripted
 * vertex. */
static enum tac_err list_vertices(struct builder *b, struct tac_elastic *el, tac_time gravity)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *s = b->scene;
    struct lister l = {.b = b,
                       .nested = s->settings->clocks.mode == TAC_CLOCKS_NESTED,
                       .owned = s->mesh->part ? s->mesh->part->owned : s->mesh->vertex_count};
    TAC_TRY(tac_alloc(b->ctx, (size_t)s->mesh->vertex_count, sizeof *l.seen, &l.seen));
    TAC_TRY(tac_alloc(b->ctx, (size_t)s->mesh->vertex_count, sizeof *l.seen_damped, &l.seen_damped));
    TAC_TRY(tac_alloc(b->ctx, (size_t)s->mesh->vertex_count, 1, &l.scripted));
    for (tac_lid m = 0; m < s->settings->motion_count; m++)
        for (tac_lid i = 0; i < s->mesh->moved[m].vertex_count; i++)
            l.scripted[s->mesh->moved[m].vertex[i]] = 1;
    for (size_t c = 0; c < el->class_count; c++)
        TAC_TRY(list_class(&l, &el->rate[c], c, gravity && el->rate[c].period == gravity));
done:
    free(l.seen);
    free(l.seen_damped);
    free(l.scripted);
    return err;
}

/* Lists the vertices that the loads of a class push; slot: (owned), work space. */
static enum tac_err list_pushed(struct builder *b, struct tac_rate_class *r, tac_lid owned, tac_lid *slot)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *s = b->scene;
    const size_t n = r->load_count;
    size_t distinct = 0;
    TAC_TRY(tac_alloc(b->ctx, 3 * n, sizeof *r->pushed, &r->pushed));
    for (size_t k = 0; k < 3 * n; k++) {
        const tac_lid v = r->load[k / 3].v[k % 3];
        if (v >= 0 && v < owned && s->mesh->ever_free[v])
            r->pushed[r->pushed_count++] = v;
    }
    if (r->pushed_count)
        qsort(r->pushed, r->pushed_count, sizeof *r->pushed, tac_compare_int32);
    for (size_t k = 0; k < r->pushed_count; k++)
        if (k == 0 || r->pushed[k] != r->pushed[k - 1])
            r->pushed[distinct++] = r->pushed[k];
    r->pushed_count = distinct;
    for (size_t k = 0; k < distinct; k++)
        slot[r->pushed[k]] = (tac_lid)k;
    for (size_t k = 0; k < 3 * n; k++) {
        const tac_lid v = r->load[k / 3].v[k % 3];
        r->load[k / 3].slot[k % 3] = v >= 0 && v < owned && s->mesh->ever_free[v] ? slot[v] : -1;
    }
    TAC_TRY(tac_alloc(b->ctx, 6 * distinct, sizeof *r->push, &r->push));
    TAC_TRY(tac_loads_link(b->ctx, s, r->load, n));
done:
    return err;
}

static enum tac_err list_all_pushed(struct builder *b, struct tac_elastic *el)
{
    enum tac_err err = TAC_OK;
    const tac_lid owned = b->scene->mesh->part ? b->scene->mesh->part->owned : b->scene->mesh->vertex_count;
    tac_lid *slot = NULL;
    if (b->loads.count == 0)
        return TAC_OK;
    TAC_TRY(tac_alloc(b->ctx, (size_t)owned, sizeof *slot, &slot));
    for (size_t c = 0; c < el->class_count; c++)
        TAC_TRY(list_pushed(b, &el->rate[c], owned, slot));
done:
    free(slot);
    return err;
}

enum tac_err tac_builder_classes(struct builder *b, struct tac_elastic *el, tac_time gravity)
{
    enum tac_err err;
    TAC_TRY(list_periods(b, el, gravity));
    TAC_TRY(make_classes(b, el));
    if (el->damps)
        TAC_TRY(tac_builder_dampers(b, el));
    if (el->flows)
        TAC_TRY(tac_builder_plastic(b, el));
    TAC_TRY(list_vertices(b, el, gravity));
    TAC_TRY(list_all_pushed(b, el));
done:
    return err;
}
