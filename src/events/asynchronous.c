/* asynchronous.c: fills the table of integrators (integrators/integrator.h) with the functions of the asynchronous
 * integrator, which is this room. */
#include "broadphase/candidates.h"
#include "events/ranks/immovable.h"
#include "events/ranks/ranks.h"
#include "events/ranks/rebalance_join.h"
#include "events/rigid/rigid_motion.h"
#include "events/state/changed_scene.h"
#include "events/state/present_contacts.h"
#include "integrators/integrator.h"
#include "partition/graph_rows.h"
#include "partition/part.h"
#include "state/spin.h"
#include <stdlib.h>
#include <string.h>

static enum tac_err create_state(struct tac_ctx *ctx, struct tac_scene *scene, void **state)
{
    struct tac_sim *sim = NULL;
    const enum tac_err err = tac_sim_create(ctx, scene, scene->settings->discovery.mode, &sim);
    *state = sim;
    return err;
}

static void destroy_state(void **state)
{
    struct tac_sim *sim = *state;
    tac_sim_destroy(&sim);
    *state = NULL;
}

static enum tac_err advance_state(void *state, tac_time limit, struct tac_step *step)
{
    struct tac_sim *sim = state;
    sim->books.before_at = limit;
    sim->control.ask_stop = step->ask_stop;
    sim->control.ask_save = step->ask_save;
    const enum tac_err err = tac_sim_advance(sim, limit);
    step->reported_stop = sim->control.reported_stop;
    step->reported_save = sim->control.reported_save;
    return err;
}

static enum tac_err collect_state(void *state, bool write, struct tac_checkpoint **out)
{
    return tac_state_collect(state, write, out);
}

static enum tac_err restore_state(void *state, const struct tac_checkpoint *in)
{
    return tac_state_restore(state, in);
}

static bool knows_row(const void *state)
{
    return tac_sim_knows_row(state);
}

static enum tac_err fill_energy_row(void *state, struct tac_energy_row *row)
{
    return tac_sim_energy(state, row);
}

static void begin_row(void *state)
{
    ((struct tac_sim *)state)->books.deepest_layer = 0;
}

static enum tac_err sum_counters(const void *state, struct tac_counters *sum)
{
    return tac_state_counters(state, sum);
}

static double compute_residual(void *state)
{
    return tac_sim_book_residual(state);
}

static enum tac_err list_contacts(void *state, struct tac_contact **out, size_t *count)
{
    return tac_sim_contacts(state, out, count);
}

static enum tac_err count_contacts(void *state, int64_t *count)
{
    return tac_sim_contact_count(state, count);
}

static void view_state(void *state, struct tac_state_view *out)
{
    struct tac_sim *sim = state;
    *out = (struct tac_state_view){.now = sim->state.now,
                                   .owned = sim->state.owned,
                                   .id = sim->scene->mesh->part ? sim->scene->mesh->part->vertex_id : NULL,
                                   .velocity = sim->state.vel->v,
                                   .stride = sizeof *sim->state.vel,
                                   .spin = sim->state.spin != NULL ? sim->state.spin->w : NULL,
                                   .spin_stride = sizeof *sim->state.spin,
                                   .impulse = sim->state.impulse,
                                   .impulse_rest = sim->immovable.rest,
                                   .counters = &sim->books.counters};
}

static enum tac_err gather_impulses(void *state)
{
    struct tac_sim *sim = state;
    return tac_agree(sim->ctx, tac_immovable_gather(sim));
}

static void copy_positions(const void *state, double *x)
{
    const struct tac_sim *sim = state;
    for (tac_lid i = 0; i < sim->state.owned; i++)
        tac_position(&sim->state, &sim->scripts, i, sim->state.now, &x[3 * (size_t)i]);
}

static size_t fill_poses(const void *state, struct tac_pose *out)
{
    const struct tac_sim *sim = state;
    return tac_rigid_poses(sim, sim->state.now, out);
}

static void fill_status(const void *state, struct tac_status *out)
{
    const struct tac_sim *sim = state;
    out->window_s = sim->windows.last_s;
    out->deepest_layer = sim->books.deepest_ever;
    out->counters = sim->books.counters;
    if (tac_ranks_halo(sim->ranks)) {
        out->counters.messages_sent += tac_ranks_halo(sim->ranks)->messages;
        out->counters.bytes_sent += tac_ranks_halo(sim->ranks)->bytes;
    }
}

static const char *name_discovery(const void *state)
{
    return ((const struct tac_sim *)state)->find.table->name;
}

static enum tac_err hold_error(void *state, enum tac_err err)
{
    return tac_ranks_hold(((struct tac_sim *)state)->ranks, err);
}

static enum tac_err begin_record(void *state, struct tac_recorder *record)
{
    return tac_sim_record(state, record);
}

static void record_positions(void *state, enum tac_look which)
{
    tac_sim_look(state, which);
}

static void visit_elements(const void *state, tac_element_visitor *visit, void *user)
{
    const struct tac_elastic *elastic = ((const struct tac_sim *)state)->elastic;
    for (size_t c = 0; c < elastic->class_count; c++)
        for (int k = 0; k < elastic->element_count; k++) {
            const struct tac_element_group *g = &elastic->rate[c].group[k];
            const size_t plain = g->elastic.count - g->rest.count; /* plastic ones come last */
            for (size_t e = 0; e < g->elastic.count; e++)
                visit(user, g->element, tac_forces_record(&g->elastic, e),
                      e < plain ? NULL : &g->rest.value[(e - plain) * (size_t)g->element->width]);
        }
}

/* ---- balance ---- */

/* Returns the share of the active pairs here that other ranks evaluate too. */
static double shared_share(const struct tac_sim *sim)
{
    size_t shared = 0;
    for (size_t k = 0; k < sim->active.pair_count; k++)
        shared += sim->active.pair[k].live && sim->active.pair[k].shared;
    return sim->active.live_pairs ? (double)shared / (double)sim->active.live_pairs : 0;
}

/* What ticks cost that are no element's, in spring ticks; a damper's, in ticks of its element; a spring tick, and a
 * test of boxes, s.  From whole runs on one rank: their seconds of forces and of contact by the ticks that were
 * executed (jobs/two-sheets.json 26 ns a triangle's or hinge's tick and 134 ns one of contact; stack.py 160000 26 and
 * 180; balls in a box 124; without losses, where few pairs are active, 60 to 80). */
static const double COST_PENALTY = 14, COST_DAMPER = 1.3, COST_LOAD = 1, SPRING_S = 9e-9, TEST_S = 25e-9;

/* The time to make one layer of the model's tables, s; some tables have a million layers. */
static const double LAYER_S = 3e-7;

/* For kinetic structures no counter represents their time. */
static void measure_load(const void *state, struct tac_workload *load)
{
    const struct tac_sim *sim = state;
    const struct tac_counters *c = &sim->books.counters;
    const double contact = COST_PENALTY * (double)(c->executed[TAC_KIND_PENALTY] + c->executed[TAC_KIND_LIMIT]);
    double ticks = contact + COST_LOAD * (double)(c->executed[TAC_KIND_LOAD] + c->executed[TAC_KIND_GRAVITY]) +
                   COST_DAMPER * (double)c->executed[TAC_KIND_DAMPING];
    for (int k = 0; k < sim->elastic->element_count; k++)
        ticks += sim->elastic->element[k]->cost * (double)c->executed[tac_kind_of_element(k)];
    load->ticks_s = SPRING_S * ticks;
    load->contact_s = SPRING_S * contact;
    const bool counts = sim->find.mode == TAC_DISCOVER_SPECULATE && sim->view.candidates;
    if (counts)
        load->discovery_s = TEST_S * (double)(sim->view.candidates->cost.spent + TAC_LOOK_COST * sim->windows.looks);
    else
        load->discovery_s = fmax(0, c->seconds_discovery - c->seconds_exchange);
    load->counted_s = load->ticks_s + (counts ? load->discovery_s : 0);
    load->shared = shared_share(sim);
    load->distribution_s = LAYER_S * sim->model->layer_count;
}

static double rate_of(const struct tac_sim *sim, tac_time period)
{
    return 1 / tac_state_seconds(&sim->state, period);
}

/* Adds a stencil to the graph: its cost to the weights of the vertices that this rank owns, and edges from its lowest
 * vertex, if this rank owns that. */
static enum tac_err add_stencil(struct tac_sim *sim, struct tac_graph_rows *rows, double *weight, const tac_lid *v,
                                int n, double cost)
{
    enum tac_err err = TAC_OK;
    tac_lid low = v[0];
    for (int i = 0; i < n; i++) {
        if (v[i] < sim->state.owned)
            weight[v[i]] += cost / n;
        if (tac_scene_id(sim->scene, v[i]) < tac_scene_id(sim->scene, low))
            low = v[i];
    }
    for (int i = 0; i < n && low < sim->state.owned; i++)
        if (v[i] != low)
            TAC_TRY(tac_graph_link(sim->ctx, rows, low, tac_scene_id(sim->scene, v[i]), cost / n));
done:
    return err;
}

/* Adds a list of forces of one class, each of the same cost. */
static enum tac_err add_forces(struct tac_sim *sim, struct tac_graph_rows *rows, const struct tac_forces *f, int nodes,
                               double cost)
{
    enum tac_err err = TAC_OK;
    for (size_t e = 0; e < f->count; e++)
        TAC_TRY(add_stencil(sim, rows, rows->weight, tac_forces_stencil(f, e), nodes, cost));
done:
    return err;
}

static enum tac_err add_class(struct tac_sim *sim, struct tac_graph_rows *rows, const struct tac_rate_class *rate)
{
    enum tac_err err = TAC_OK;
    const double often = rate_of(sim, rate->period);
    for (int k = 0; k < rate->group_count; k++) {
        const struct tac_element *e = rate->group[k].element;
        TAC_TRY(add_forces(sim, rows, &rate->group[k].elastic, e->nodes, e->cost * often));
    }
    for (int k = 0; k < rate->group_count; k++) {
        const struct tac_element *e = rate->group[k].element;
        TAC_TRY(add_forces(sim, rows, &rate->group[k].damper, e->nodes, COST_DAMPER * e->cost * often));
    }
    for (size_t e = 0; e < rate->load_count; e++)
        TAC_TRY(add_stencil(sim, rows, rows->weight, rate->load[e].v, rate->load[e].count, COST_LOAD * often));
done:
    return err;
}

/* Adds a pair, with those of its vertices that take part in it. */
static enum tac_err add_pair(struct tac_sim *sim, struct tac_graph_rows *rows, const struct tac_pair *p, double cost)
{
    tac_lid v[4];
    int n = 0;
    for (int i = 0; i < p->count; i++)
        if (tac_model_takes_part(sim->model, p->v[i]))
            v[n++] = p->v[i];
    return add_stencil(sim, rows, rows->contact, v, n, cost);
}

static enum tac_err weigh_graph(void *state, struct tac_graph_rows *rows)
{
    enum tac_err err = TAC_OK;
    struct tac_sim *sim = state;
    for (size_t c = 0; c < sim->elastic->class_count; c++)
        TAC_TRY(add_class(sim, rows, &sim->elastic->rate[c]));
    for (size_t k = 0; sim->contact && k < sim->active.pair_count; k++) {
        const struct tac_pair *p = &sim->active.pair[k];
        int32_t last;
        if (!p->live)
            continue;
        /* By its first layer group alone: the deep ones tick so often that the few pairs that are pressed deep just now
         * would have all the weight, and at the next looks the ranks would be out of balance in the opposite sense. */
        TAC_TRY(
            add_pair(sim, rows, p, COST_PENALTY * rate_of(sim, tac_model_layer_group(sim->model, &p->form, 1, &last))));
    }
    for (tac_lid i = 0; i < sim->state.owned; i++)
        rows->found[i] = sim->scene->mesh->ever_free[i] ? 1 : 0;
    for (size_t k = 0; sim->view.candidates && k < sim->view.candidates->count; k++) {
        const struct tac_candidate *q = &sim->view.candidates->list[k];
        tac_lid v[4];
        tac_slack_vertices(&sim->view.candidates->slack.of[k], q, v);
        for (int i = 0; i < q->count; i++)
            if (v[i] < sim->state.owned && tac_model_takes_part(sim->model, v[i]))
                rows->found[v[i]] += 1. / q->count;
    }
done:
    return err;
}

/* ---- messages of deep pairs ---- */

static int64_t count_deep_messages(const void *state)
{
    return ((const struct tac_sim *)state)->control.reported_deep_messages;
}

static void clear_deep_messages(void *state)
{
    struct tac_sim *sim = state;
    tac_ranks_clear_deep_messages(sim->ranks);
    sim->control.reported_deep_messages = 0;
}

static enum tac_err join_clusters(void *state, struct tac_pieces *pieces)
{
    return tac_rebalance_join(state, pieces);
}

/* ---- lengths ---- */

enum { TUNING_LENGTH, TUNING_HORIZON, TUNING_FAIL_AT };

static void tuning_out(const void *state, struct tac_tuning *tuning)
{
    const struct tac_sim *sim = state;
    memset(tuning, 0, sizeof *tuning);
    tuning->value[TUNING_LENGTH] = sim->windows.length;
    tuning->value[TUNING_HORIZON] = sim->view.candidates ? sim->view.candidates->horizon : 0;
    const int64_t *fail_at = tac_ranks_fail_at(sim->ranks);
    tuning->value[TUNING_FAIL_AT] = fail_at ? *fail_at : 0;
}

static void tuning_in(void *state, const struct tac_tuning *tuning)
{
    struct tac_sim *sim = state;
    int64_t *fail_at = tac_ranks_fail_at(sim->ranks);
    if (fail_at)
        *fail_at = tuning->value[TUNING_FAIL_AT];
    if (tuning->value[TUNING_LENGTH])
        sim->windows.length = tuning->value[TUNING_LENGTH];
    if (sim->view.candidates)
        sim->view.candidates->horizon = tuning->value[TUNING_HORIZON];
}

/* ---- changes of the scene ---- */

static enum tac_err change_out(void *state, void **kept)
{
    struct tac_sim *sim = state;
    struct tac_change *change = NULL;
    enum tac_err err;
    TAC_TRY(tac_agree(sim->ctx, tac_alloc(sim->ctx, 1, sizeof *change, &change)));
    TAC_TRY(tac_change_begin(sim, change));
done:
    *kept = change;
    return err;
}

static void change_fit(const void *state, const struct tac_scene *scene, const uint8_t *motion,
                       struct tac_checkpoint *checkpoint)
{
    tac_change_fit(&((const struct tac_sim *)state)->scripts, scene, motion, checkpoint);
}

static enum tac_err change_in(void *state, const uint8_t *motion, const void *kept)
{
    return tac_change_end(state, motion, kept);
}

static void change_clear(void **kept)
{
    if (*kept != NULL)
        tac_change_clear(*kept);
    free(*kept);
    *kept = NULL;
}

static const struct tac_integrator_book BOOK = {
    .knows_row = knows_row, .begin_row = begin_row, .residual = compute_residual, .gather_impulses = gather_impulses};

static const struct tac_integrator_record RECORD = {.begin = begin_record, .look = record_positions};

enum { PASSES_PER_LOOK = 32 };

static const struct tac_integrator_balance BALANCE = {.gathers = true,
                                                      .passes_per_look = PASSES_PER_LOOK,
                                                      .load = measure_load,
                                                      .deep_messages = count_deep_messages,
                                                      .clear_deep_messages = clear_deep_messages,
                                                      .join = join_clusters,
                                                      .tuning_out = tuning_out,
                                                      .tuning_in = tuning_in};

static const struct tac_integrator_change CHANGE = {
    .out = change_out, .fit = change_fit, .in = change_in, .clear = change_clear};

const struct tac_integrator tac_integrator_asynchronous = {
    .name = "asynchronous",
    .create = create_state,
    .destroy = destroy_state,
    .advance = advance_state,
    .state_out = collect_state,
    .state_in = restore_state,
    .energy = fill_energy_row,
    .counters = sum_counters,
    .contacts = list_contacts,
    .contact_count = count_contacts,
    .view = view_state,
    .positions = copy_positions,
    .poses = fill_poses,
    .status = fill_status,
    .discovery = name_discovery,
    .hold = hold_error,
    .elements = visit_elements,
    .weigh = weigh_graph,
    .record = &RECORD,
    .book = &BOOK,
    .balance = &BALANCE,
    .change = &CHANGE,
};
