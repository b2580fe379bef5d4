/* implicit_balance.c: computes the work of each rank, by counts, and the cost of its vertices
 * (docs/explanation/distribution.md, Rebalancing). A rank evaluates the elements and pairs of its vertices, and
 * searches for pairs. The work of the linear solver does not depend on who owns the vertices, because it gives
 * subdomains to the ranks that have least work.
 */
#include "implicit/ranks/implicit_balance.h"
#include "implicit/parts.h"
#include "partition/graph_rows.h"

/* The duration of an evaluation, ns, of a tetrahedron, or of a pair that touches. */
static const double ELEMENT_NS[TAC_WORKS] = {100, 130, 1000}, PAIR_NS[TAC_WORKS] = {60, 120, 1200};
/* The same of what another rank has sent. */
static const double TERM_NS[TAC_TERMS] = {30, 150, 300};

/* The cost of a vertex for rows of the matrix and vectors, in units of a tetrahedron. */
static const double VERTEX_WEIGHT = 1;

/* The cost of an element, in units of a tetrahedron: the square of its nodes relative to 4, and half of that for
 * elements that are no tetrahedra. */
static double cost_of(const struct tac_element *element)
{
    const double nodes = element->nodes, share = nodes * nodes / 16;
    return element->stencils == TAC_STENCILS_TETRAHEDRA ? share : .5 * share;
}

void tac_implicit_count_work(struct tac_implicit *sim, enum tac_implicit_work work, size_t pairs)
{
    double elements = 0;
    for (int k = 0; k < sim->set.count; k++)
        elements += (double)sim->list[k].count * cost_of(sim->list[k].element);
    sim->books.elements_s += 1e-9 * ELEMENT_NS[work] * elements;
    tac_implicit_count_pairs(sim, work, pairs);
}

void tac_implicit_count_pairs(struct tac_implicit *sim, enum tac_implicit_work work, size_t pairs)
{
    sim->books.contacts_s += 1e-9 * PAIR_NS[work] * (double)pairs;
}

void tac_implicit_count_terms(struct tac_implicit *sim, enum tac_implicit_term term, size_t terms)
{
    sim->books.contacts_s += 1e-9 * TERM_NS[term] * (double)terms;
}

/* ---- what vertices cost ---- */

static tac_lid lowest(const struct tac_implicit *sim, const tac_lid *v, int n)
{
    tac_lid low = v[0];
    for (int i = 1; i < n; i++)
        low = tac_implicit_id(sim, v[i]) < tac_implicit_id(sim, low) ? v[i] : low;
    return low;
}

/* The rank that owns the lowest vertex makes the edges to the others. */
static enum tac_err link_stencil(const struct tac_implicit *sim, const tac_lid *v, int n, struct tac_graph_rows *rows)
{
    enum tac_err err = TAC_OK;
    const tac_lid low = lowest(sim, v, n);
    for (int i = 0; i < n && low < sim->owned; i++)
        if (v[i] != low)
            TAC_TRY(tac_graph_link(sim->ctx, rows, low, tac_implicit_id(sim, v[i]), 1));
done:
    return err;
}

static void add(const struct tac_implicit *sim, const tac_lid *v, int n, double cost, double *weight)
{
    for (int i = 0; i < n; i++)
        if (v[i] < sim->owned)
            weight[v[i]] += cost;
}

/* The vertices of a pair whose owners have it: those that are free at some time. Returns their number. */
static int movers(const struct tac_implicit *sim, const struct tac_implicit_pair *p, tac_lid v[4])
{
    int n = 0;
    for (int i = 0; i < tac_pair_vertices(p->form.type); i++)
        if (sim->scene->mesh->ever_free[p->v[i]])
            v[n++] = p->v[i];
    return n;
}

enum tac_err tac_implicit_weigh_vertices(void *state, struct tac_graph_rows *rows)
{
    enum tac_err err = TAC_OK;
    const struct tac_implicit *sim = state;
    for (tac_lid i = 0; i < sim->owned; i++) {
        const bool moves = sim->scene->mesh->ever_free[i] || sim->scripts.script_of[i] >= 0;
        rows->weight[i] = moves ? VERTEX_WEIGHT : 0;
        rows->found[i] = moves ? 1 : 0;
    }
    for (struct tac_implicit_walk w = {0}; tac_implicit_next(sim, &w);) {
        add(sim, w.v, w.nodes, cost_of(w.list->element) / w.nodes, rows->weight);
        TAC_TRY(link_stencil(sim, w.v, w.nodes, rows));
    }
    for (size_t k = 0; k < sim->rigid.joints.tie_count; k++)
        TAC_TRY(link_stencil(sim, sim->rigid.joints.tie[k].v, sim->rigid.joints.tie[k].count, rows));
    for (size_t k = 0; k < sim->contact.pair_count; k++) {
        tac_lid v[4];
        const int n = movers(sim, &sim->contact.pair[k], v);
        add(sim, v, n, 1. / n, rows->found);
    }
    for (size_t k = 0; k < sim->contact.touch_count && sim->contact.touch_of != NULL; k++) {
        tac_lid v[4];
        const int n = movers(sim, tac_implicit_touching(sim, k), v);
        add(sim, v, n, 1. / n, rows->contact);
        TAC_TRY(link_stencil(sim, v, n, rows));
    }
done:
    return err;
}

/* ---- the work of this rank ---- */

/* The share of the touching pairs that other ranks evaluate, too. */
static double share_of_others(const struct tac_implicit *sim)
{
    size_t others = 0;
    for (size_t k = 0; k < sim->contact.touch_count && sim->contact.touch_of != NULL; k++) {
        const struct tac_implicit_pair *p = tac_implicit_touching(sim, k);
        bool any = false;
        for (int i = 0; i < tac_pair_vertices(p->form.type); i++)
            any |= p->v[i] >= sim->owned;
        others += any;
    }
    return others > 0 ? (double)others / (double)sim->contact.touch_count : 0;
}

static void measure_load(const void *state, struct tac_workload *load)
{
    const struct tac_implicit *sim = state;
    *load = (struct tac_workload){.ticks_s = sim->books.elements_s + sim->books.contacts_s,
                                  .contact_s = sim->books.contacts_s,
                                  .discovery_s = tac_implicit_search_spent(sim),
                                  .shared = share_of_others(sim)};
    load->counted_s = load->ticks_s + load->discovery_s;
}

/* No pair costs two ranks so much that it should be on one of them. */
static int64_t no_messages(const void *state)
{
    return 0;
}

static void clear_nothing(void *state)
{
    (void)state;
}

static enum tac_err join_nothing(void *state, struct tac_pieces *pieces)
{
    return TAC_OK;
}

static void tuning_out(const void *state, struct tac_tuning *tuning)
{
    tac_implicit_skin_out(state, tuning->value);
}

static void tuning_in(void *state, const struct tac_tuning *tuning)
{
    tac_implicit_skin_in(state, tuning->value);
}

const struct tac_integrator_balance tac_implicit_balancing = {.gathers = false,
                                                              .passes_per_look = 1,
                                                              .load = measure_load,
                                                              .deep_messages = no_messages,
                                                              .clear_deep_messages = clear_nothing,
                                                              .join = join_nothing,
                                                              .tuning_out = tuning_out,
                                                              .tuning_in = tuning_in};
