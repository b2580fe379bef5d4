/* clock.c: which forces are due at an instant (docs/explanation/method.md, Time and order): with nested clocks this
 * follows from the trailing zeros of the time, with free clocks from a heap. */
#include "base/compare.h"
#include "events/rigid/rigid_motion.h"
#include <stdlib.h>

static void sift_down(struct tac_alarm *heap, size_t n, size_t i)
{
    struct tac_alarm moving = heap[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && heap[child + 1].t < heap[child].t)
            child++;
        if (heap[child].t >= moving.t)
            break;
        heap[i] = heap[child];
    }
    heap[i] = moving;
}

static bool rate_group_empty(const struct tac_rate_group *c)
{
    return c->count + c->extra_count == 0;
}

/* Makes room for all classes of layer groups, because all may be due at once. */
static enum tac_err room_for_due(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    if (sim->clocks.due_group_capacity >= sim->active.rate_group_capacity)
        return TAC_OK;
    free(sim->clocks.due_group);
    sim->clocks.due_group = NULL;
    sim->clocks.due_group_capacity = 0;
    TAC_TRY(
        tac_alloc(sim->ctx, sim->active.rate_group_capacity, sizeof *sim->clocks.due_group, &sim->clocks.due_group));
    sim->clocks.due_group_capacity = sim->active.rate_group_capacity;
done:
    return err;
}

enum tac_err tac_clock_start(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(room_for_due(sim));
    if (sim->scene->settings->clocks.mode == TAC_CLOCKS_NESTED)
        goto done;
    size_t most = sim->elastic->class_count + sim->active.rate_group_count;
    TAC_TRY(tac_grow(sim->ctx, &sim->clocks.heap, &sim->clocks.heap_capacity, most, sizeof *sim->clocks.heap));
    sim->clocks.heap_count = 0;
    for (size_t i = 0; i < sim->elastic->class_count; i++) {
        tac_time period = sim->elastic->rate[i].period;
        sim->clocks.heap[sim->clocks.heap_count++] =
            (struct tac_alarm){(sim->state.now / period + 1) * period, period, (int32_t)i};
    }
    for (size_t i = 0; i < sim->active.rate_group_count; i++)
        if (!rate_group_empty(&sim->active.rate_group[i])) {
            tac_time period = sim->active.rate_group[i].period;
            sim->clocks.heap[sim->clocks.heap_count++] =
                (struct tac_alarm){(sim->state.now / period + 1) * period, period, ~(int32_t)i};
        }
    for (size_t i = sim->clocks.heap_count / 2; i-- > 0;)
        sift_down(sim->clocks.heap, sim->clocks.heap_count, i);
done:
    return err;
}

enum tac_err tac_clock_shift(struct tac_sim *sim, size_t index)
{
    for (size_t k = 0; k < sim->clocks.heap_count; k++) {
        int32_t *class = &sim->clocks.heap[k].index;
        if (*class < 0 && (size_t) ~*class >= index)
            --*class; /* ~(i + 1) */
    }
    sim->clocks.due_group_count = 0; /* all of them have ticked */
    return room_for_due(sim);
}

enum tac_err tac_clock_add(struct tac_sim *sim, size_t index, tac_time t)
{
    enum tac_err err;
    const tac_time period = sim->active.rate_group[index].period;
    const struct tac_alarm alarm = {(t / period + 1) * period, period, ~(int32_t)index};
    TAC_TRY(tac_grow(sim->ctx, &sim->clocks.heap, &sim->clocks.heap_capacity, sim->clocks.heap_count + 1,
                     sizeof *sim->clocks.heap));
    struct tac_alarm *heap = sim->clocks.heap;
    size_t i = sim->clocks.heap_count++;
    for (size_t parent; i > 0 && heap[parent = (i - 1) / 2].t > alarm.t; i = parent)
        heap[i] = heap[parent];
    heap[i] = alarm;
done:
    return err;
}

static tac_time next_nested(struct tac_sim *sim, tac_time t, tac_time limit)
{
    tac_time shortest = sim->elastic->class_count ? sim->elastic->rate[0].period : TAC_TIME_NEVER;
    size_t first = sim->active.first_rate_group;
    while (first < sim->active.rate_group_count && rate_group_empty(&sim->active.rate_group[first]))
        first++;
    if (first < sim->active.rate_group_count && sim->active.rate_group[first].period < shortest)
        shortest = sim->active.rate_group[first].period;
    if (shortest == TAC_TIME_NEVER)
        return TAC_TIME_NEVER;
    tac_time next = (t & -shortest) + shortest;
    if (next > limit)
        return TAC_TIME_NEVER;
    sim->clocks.due_elastic_count = sim->clocks.due_group_count = 0;
    for (size_t i = 0; i < sim->elastic->class_count && (next & (sim->elastic->rate[i].period - 1)) == 0; i++)
        sim->clocks.due_elastic[sim->clocks.due_elastic_count++] = (int32_t)i;
    for (size_t i = first; i < sim->active.rate_group_count && (next & (sim->active.rate_group[i].period - 1)) == 0;
         i++)
        if (!rate_group_empty(&sim->active.rate_group[i]))
            sim->clocks.due_group[sim->clocks.due_group_count++] = (int32_t)i;
    return next;
}

static tac_time next_free(struct tac_sim *sim, tac_time limit)
{
    if (sim->clocks.heap_count == 0 || sim->clocks.heap[0].t > limit)
        return TAC_TIME_NEVER;
    tac_time next = sim->clocks.heap[0].t;
    sim->clocks.due_elastic_count = sim->clocks.due_group_count = 0;
    while (sim->clocks.heap[0].t == next) {
        int32_t index = sim->clocks.heap[0].index;
        if (index >= 0)
            sim->clocks.due_elastic[sim->clocks.due_elastic_count++] = index;
        else
            sim->clocks.due_group[sim->clocks.due_group_count++] = ~index;
        sim->clocks.heap[0].t += sim->clocks.heap[0].period;
        sift_down(sim->clocks.heap, sim->clocks.heap_count, 0);
    }
    /* Classes are numbered by period, so ascending index is the order of the force key. */
    if (sim->clocks.due_elastic_count > 1)
        qsort(sim->clocks.due_elastic, sim->clocks.due_elastic_count, sizeof *sim->clocks.due_elastic,
              tac_compare_int32);
    if (sim->clocks.due_group_count > 1)
        qsort(sim->clocks.due_group, sim->clocks.due_group_count, sizeof *sim->clocks.due_group, tac_compare_int32);
    return next;
}

static tac_time next_class(struct tac_sim *sim, tac_time t, tac_time limit)
{
    return sim->scene->settings->clocks.mode == TAC_CLOCKS_NESTED ? next_nested(sim, t, limit) : next_free(sim, limit);
}

/* Also stops where the chord of a rigid body ends; then no class may be due. */
static tac_time next_class_or_turn(struct tac_sim *sim, tac_time t, tac_time limit)
{
    const tac_time turn = tac_rigid_next(&sim->rigid), next = next_class(sim, t, turn < limit ? turn : limit);
    if (next != TAC_TIME_NEVER || turn > limit)
        return next;
    sim->clocks.due_elastic_count = sim->clocks.due_group_count = 0;
    return turn;
}

tac_time tac_clock_next(struct tac_sim *sim, tac_time t, tac_time limit)
{
    return sim->rigid.count > 0 ? next_class_or_turn(sim, t, limit) : next_class(sim, t, limit);
}
