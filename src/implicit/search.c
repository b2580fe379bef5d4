/* search.c: in which primitives pairs are looked for, and when anew (docs/reference/implicit.md, Candidates).
 *
 * Every primitive has a box around its way from x to x + p, larger by half of the thickness, its radius and a skin.
 * Pairs whose boxes meet are the candidates (implicit_candidates.c).  The list stays complete as long as every vertex
 * stays within the skin of the way that its boxes were made for.  So a larger skin makes lists last, and longer; which
 * one pays is tried, by counts of what was done.
 *
 * For tests, TACTUS_TEST_SKIN makes the skin so many times as large, which may change no bit, and TACTUS_TEST_ROUGH
 * takes derivatives from the barrier (struct tac_barrier_pair), which shows what they are for.
 *
 * A rank looks for the pairs that reach a vertex of its own: its own primitives against each other, and against those
 * of the others.  Primitives that never move meet only what does, and their boxes are made once.
 */
#include "implicit/search.h"
#include <math.h>
#include <stdlib.h>

#define TAC_SKIN_EDGE .25  /* of the mean edge: a larger skin lets whole bodies be pairs with themselves */
#define TAC_SKIN_START .5  /* of the largest skin */
#define TAC_SKIN_LEAST .03 /* of it */
#define TAC_SKIN_STEP 1.6
#define TAC_FIRST_SKINS 64 /* of a longer way a beginning of so many skins is searched first */
#define TAC_USE_COST 80.   /* of a pair, in one use of a list, ns */
enum { USES_LEAST = 6 };   /* directions until another skin is tried */

static void clear_shape(struct tac_shape *s)
{
    free(s->id);
    free(s->vertex);
    tac_tree_destroy(&s->tree);
}

void tac_implicit_search_destroy(struct tac_implicit_search **search)
{
    struct tac_implicit_search *s = *search;
    if (s == NULL)
        return;
    for (int k = 0; k < TAC_SHAPES; k++)
        for (int sort = 0; sort < TAC_SORTS; sort++)
            clear_shape(&s->shape[k][sort]);
    free(s->from);
    free(s->way);
    free(s->scratch);
    free(s);
    *search = NULL;
}

/* ---- which there are ---- */

struct source {
    int nodes;
    tac_lid count;
    const tac_lid *vertex; /* (count, nodes); NULL: 0, 1, ... */
    const tac_lid *pick;   /* (count): ids of those that are meant, others are negative; NULL: all, 0, 1, ... */
};

static int sort_of(const struct tac_implicit *sim, const tac_lid *v, int n)
{
    int sort = tac_implicit_reaches(sim, v, n) ? TAC_STILL : TAC_STILL | TAC_OTHER;
    for (int i = 0; i < n; i++)
        if (sim->scene->mesh->ever_free[v[i]] || sim->scripts.script_of[v[i]] >= 0)
            sort &= ~TAC_STILL;
    return sort;
}

static enum tac_err make_shape(struct tac_implicit *sim, const struct source *from, int sort, struct tac_shape *s)
{
    enum tac_err err;
    s->nodes = from->nodes;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)from->count, sizeof *s->id, &s->id));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)from->count * (size_t)from->nodes, sizeof *s->vertex, &s->vertex));
    for (tac_lid i = 0; i < from->count; i++) {
        const tac_lid *v = from->vertex ? &from->vertex[(size_t)i * (size_t)from->nodes] : &i;
        if ((from->pick && from->pick[i] < 0) || sort_of(sim, v, from->nodes) != sort)
            continue;
        memcpy(&s->vertex[(size_t)s->count * (size_t)from->nodes], v, (size_t)from->nodes * sizeof *v);
        s->id[s->count++] = from->pick ? from->pick[i] : i;
    }
    if (s->count > 0)
        TAC_TRY(tac_tree_create(sim->ctx, s->count, &s->tree));
done:
    return err;
}

/* At t = 0, m; of a scene without edges INFINITY. */
static double mean_edge(const struct tac_local_mesh *mesh)
{
    double sum = 0;
    for (tac_lid e = 0; e < mesh->topology->edge_count; e++) {
        double r[3];
        tac_sub(r, &mesh->x[3 * (size_t)mesh->topology->edge[2 * (size_t)e + 1]],
                &mesh->x[3 * (size_t)mesh->topology->edge[2 * (size_t)e]]);
        sum += sqrt(tac_dot(r, r));
    }
    return mesh->topology->edge_count > 0 ? sum / (double)mesh->topology->edge_count : INFINITY;
}

enum tac_err tac_implicit_search_create(struct tac_implicit *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_search *s = NULL;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    tac_lid *particle = NULL, most = 1;
    if (sim->scene->settings->contact.thickness == 0)
        return TAC_OK;
    TAC_TRY(tac_alloc(sim->ctx, 1, sizeof *s, &s));
    sim->search = s;
    s->reach = .5 * TAC_MARGIN * sim->scene->settings->contact.thickness;
    s->skin = fmin(sim->scene->settings->contact.thickness, TAC_SKIN_EDGE * mean_edge(mesh));
    s->skin_most = s->skin;
    s->skin_fixed = sim->ctx->hooks.skin > 0;
    s->skin *= s->skin_fixed ? sim->ctx->hooks.skin : TAC_SKIN_START;
    s->descent.shorter = true;
    s->rough = sim->ctx->hooks.rough;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)mesh->vertex_count, sizeof *particle, &particle));
    for (tac_lid i = 0; i < mesh->vertex_count; i++)
        particle[i] = sim->model->particle[i] ? i : -1;
    const struct source source[TAC_SHAPES] = {
        [TAC_VERTICES] = {1, mesh->vertex_count, NULL, NULL},
        [TAC_TRIANGLES] = {3, mesh->triangle_count, mesh->triangle, NULL},
        [TAC_EDGES] = {2, sim->scene->settings->two_d ? 0 : mesh->topology->edge_count, mesh->topology->edge, NULL},
        [TAC_SEGMENTS] = {2, mesh->topology->edge_count, mesh->topology->edge, mesh->topology->edge_segment},
        [TAC_PARTICLES] = {1, mesh->vertex_count, NULL, particle}};
    for (int k = 0; k < TAC_SHAPES; k++)
        for (int sort = 0; sort < TAC_SORTS; sort++) {
            TAC_TRY(make_shape(sim, &source[k], sort, &s->shape[k][sort]));
            most = s->shape[k][sort].count > most ? s->shape[k][sort].count : most;
        }
    TAC_TRY(tac_alloc(sim->ctx, (size_t)most, 4 * sizeof *s->scratch, &s->scratch));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->count, sizeof *s->from, &s->from));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->count, sizeof *s->way, &s->way));
done:
    free(particle);
    return err;
}

/* ---- is the list complete? ---- */

/* The share of the list's way at which x + part p is nearest to it. */
static double share_of_way(const struct tac_implicit *sim, const double *x, const double *p, double part)
{
    const struct tac_implicit_search *s = sim->search;
    double along = 0, square = 0;
    for (size_t c = 0; c < 3 * (size_t)sim->count; c++) {
        along += (x[c] + part * p[c] - s->from[c]) * s->way[c];
        square += s->way[c] * s->way[c];
    }
    return square > 0 ? tac_clamp01(along / square) : 0;
}
static bool is_near(const struct tac_implicit *sim, const double *x, const double *p, double part)
{
    const struct tac_implicit_search *s = sim->search;
    const double share = share_of_way(sim, x, p, part);
    for (size_t i = 0; i < 3 * (size_t)sim->count; i += 3) {
        double r[3];
        for (size_t k = 0; k < 3; k++)
            r[k] = x[i + k] + part * p[i + k] - s->from[i + k] - share * s->way[i + k];
        if (!(tac_dot(r, r) <= s->skin * s->skin * (1 - 0x1p-20)))
            return false;
    }
    return true;
}

/* Does the list have all pairs on the ways from x to x + part p? */
static bool is_complete(const struct tac_implicit *sim, const double *x, const double *p, double part)
{
    return sim->search->made && is_near(sim, x, p, 0) && is_near(sim, x, p, part);
}

double tac_implicit_first_part(const struct tac_implicit *sim, const double *x, const double *p)
{
    double longest = 0;
    if (sim->search == NULL)
        return 1;
    sim->search->spent.uses++; /* each direction begins here */
    for (tac_lid i = 0; i < sim->count; i++)
        longest = fmax(longest, tac_dot(&p[3 * (size_t)i], &p[3 * (size_t)i]));
    const double part = TAC_FIRST_SKINS * sim->search->skin / sqrt(longest);
    return part < 1 && !is_complete(sim, x, p, 1) ? part : 1;
}

/* The skin of the list that is made next, by what those since the last choice have cost all ranks for each direction.
 */
static enum tac_err choose_skin(struct tac_implicit *sim)
{
    struct tac_implicit_search *s = sim->search;
    const double before = s->skin;
    int64_t cost = (int64_t)s->spent.cost; /* whole, so that all ranks have the same sum */
    if (s->skin_fixed || s->spent.uses < USES_LEAST)
        return TAC_OK;
    if (sim->ctx->size > 1 &&
        MPI_Allreduce(MPI_IN_PLACE, &cost, 1, MPI_INT64_T, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed in the search for pairs");
    s->skin = tac_descent_next(&s->descent, (double)cost / s->spent.uses, TAC_SKIN_STEP, s->skin,
                               TAC_SKIN_LEAST * s->skin_most, s->skin_most);
    s->boxed = s->boxed && s->skin == before; /* boxes of what never moves have the skin, too */
    s->spent = (struct tac_search_cost){0, 0};
    return TAC_OK;
}

enum tac_err tac_implicit_find(struct tac_implicit *sim, const double *x, const double *p, double part)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_search *s = sim->search;
    const double begin_s = tac_wall_s();
    if (s == NULL)
        return TAC_OK;
    if (!is_complete(sim, x, p, part)) {
        double cost;
        TAC_TRY(choose_skin(sim));
        memcpy(s->from, x, 3 * (size_t)sim->count * sizeof *x);
        for (size_t c = 0; c < 3 * (size_t)sim->count; c++)
            s->way[c] = part * p[c];
        err = tac_implicit_make_list(sim, &cost);
        s->spent.cost += cost;
        s->made = err == TAC_OK;
        sim->books.counters.candidate_builds++;
        TAC_TRY(tac_agree(sim->ctx, err));
    }
    s->spent.cost += TAC_USE_COST * (double)sim->contact.pair_count;
    sim->books.counters.candidates = (int64_t)sim->contact.pair_count;
done:
    sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
    return err;
}
