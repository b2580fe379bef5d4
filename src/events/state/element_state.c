/* element_state.c: takes the state that elements remember from tick to tick out of a simulation, and puts it into
 * another one. */
#include "base/exchange.h"
#include "events/state/state_transfer.h"
#include <stdlib.h>
#include <string.h>

/* The place where one element of this rank keeps its memory. */
struct place {
    int64_t kind;
    tac_gid id;
    int64_t has; /* TAC_ELEMENT_RESTS or TAC_ELEMENT_DAMPS: which of the two */
    const tac_lid *stencil;
    int vertices, width;
    double *value;                         /* (width) */
    bool mine;                             /* its lowest vertex is ours */
    bool (*sensible)(const double *value); /* of elements */
    tac_time period;
    const struct tac_element *element; /* NULL: a wind */
    const void *record;                /* of the element or its damper */
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->has > y->has) - (x->has < y->has);
}

static void list_wind(const struct tac_sim *sim, struct tac_load_element *load, tac_time period, struct place *p)
{
    const struct tac_part *part = sim->scene->mesh->part;
    *p = (struct place){.kind = TAC_KIND_LOAD,
                        .id = part == NULL       ? load->id
                              : load->count == 2 ? part->segment_id[load->id]
                                                 : part->triangle_id[load->id],
                        .has = TAC_ELEMENT_DAMPS,
                        .stencil = load->v,
                        .vertices = load->count,
                        .width = 3,
                        .value = load->centre,
                        .period = period,
                        .mine = tac_stencil_mine(sim->scene, load->v, load->count)};
}

/* Lists the memory of some forces of element group k: the last ones of `f`, as many as the memory has. */
static struct place *list_memory(const struct tac_sim *sim, const struct tac_rate_class *rate, int k, bool damps,
                                 struct place *p)
{
    const struct tac_element_group *g = &rate->group[k];
    const struct tac_memory *m = damps ? &g->last : &g->rest;
    const struct tac_forces *f = damps ? &g->damper : &g->elastic;
    for (size_t i = 0; i < m->count; i++) {
        const size_t e = f->count - m->count + i;
        const tac_lid *v = tac_forces_stencil(f, e);
        *p++ = (struct place){.kind = tac_kind_of_element(k),
                              .id = m->id[i],
                              .has = damps ? TAC_ELEMENT_DAMPS : TAC_ELEMENT_RESTS,
                              .stencil = v,
                              .vertices = g->element->nodes,
                              .width = g->element->width,
                              .value = &m->value[(size_t)g->element->width * i],
                              .period = rate->period,
                              .mine = tac_stencil_mine(sim->scene, v, g->element->nodes),
                              .sensible = g->element->memory->sensible,
                              .element = g->element,
                              .record = tac_forces_record(f, e)};
    }
    return p;
}

/* Lists the memory of all elements here, sorted by kind, id and sort of memory, in *out (owned by the caller). */
static enum tac_err list_places(struct tac_sim *sim, struct place **out, size_t *count)
{
    enum tac_err err = TAC_OK;
    size_t n = 0;
    struct place *p;
    const struct tac_elastic *el = sim->elastic;
    for (size_t c = 0; c < el->class_count; c++) {
        for (int k = 0; k < el->element_count; k++)
            n += el->rate[c].group[k].rest.count + el->rate[c].group[k].last.count;
        n += el->rate[c].load_count;
    }
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof **out, out));
    p = *out;
    for (size_t c = 0; c < el->class_count; c++) {
        const struct tac_rate_class *rate = &el->rate[c];
        for (int k = 0; k < el->element_count; k++)
            for (int damps = 0; damps < 2; damps++)
                p = list_memory(sim, rate, k, damps, p);
        for (size_t e = 0; e < rate->load_count; e++)
            if (rate->load[e].first_wind < 0 && sim->scene->settings->load[rate->load[e].load].kind == TAC_LOAD_WIND)
                list_wind(sim, &rate->load[e], rate->period, p++);
    }
    *count = (size_t)(p - *out);
    if (*count)
        qsort(*out, *count, sizeof **out, compare_places);
done:
    return err;
}

static void copy_memory(const struct place *p, struct tac_element_state *row, bool into_row)
{
    /* A strain of six numbers takes both places: what has it does not yield. */
    const bool both = p->width > 3;
    double *value = both || p->has == TAC_ELEMENT_RESTS ? row->rest : row->last;
    const size_t first = (size_t)(both ? 3 : p->width), more = (size_t)p->width - first;
    memcpy(into_row ? value : p->value, into_row ? p->value : value, first * sizeof *value);
    if (both)
        memcpy(into_row ? row->last : p->value + 3, into_row ? p->value + 3 : row->last, more * sizeof *value);
}

enum tac_err tac_elements_collect(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    struct place *place = NULL;
    size_t count = 0, n = 0;
    TAC_TRY(list_places(sim, &place, &count));
    TAC_TRY(tac_alloc(sim->ctx, count, sizeof *c->element, &c->element));
    for (size_t k = 0; k < count; k++) {
        const struct place *p = &place[k];
        if (!p->mine)
            continue;
        if (n == 0 || c->element[n - 1].kind != p->kind || c->element[n - 1].id != p->id) {
            c->element[n++] = (struct tac_element_state){.kind = p->kind, .id = p->id, .vertex = {-1, -1, -1, -1}};
            for (int i = 0; i < p->vertices; i++)
                c->element[n - 1].vertex[i] = tac_sim_id(sim, p->stencil[i]);
        }
        c->element[n - 1].has |= p->has;
        copy_memory(p, &c->element[n - 1], true);
    }
    c->element_count = (tac_lid)n;
    if (n)
        qsort(c->element, n, sizeof *c->element, tac_element_state_compare);
done:
    free(place);
    return err;
}

/* Sends each row to all owners of its vertices. */
static enum tac_err dispatch_rows(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner,
                                  struct tac_element_state **rows, size_t *total)
{
    enum tac_err err;
    const size_t most = 4 * (size_t)c->element_count;
    struct tac_element_state *row = NULL;
    int32_t *to = NULL;
    size_t n = 0;
    TAC_TRY(tac_alloc(sim->ctx, most, sizeof *row, &row));
    TAC_TRY(tac_alloc(sim->ctx, most, sizeof *to, &to));
    for (size_t k = 0; k < most; k++) {
        bool reported = false;
        for (size_t j = k - k % 4; j < k; j++)
            reported |= owner[j] == owner[k];
        if (reported)
            continue;
        row[n] = c->element[k / 4];
        to[n++] = owner[k];
    }
done:
    err = tac_distribute(sim->ctx, err, n, to, row, sizeof *row, rows, total);
    free(row);
    free(to);
    return err;
}

static enum tac_err refuse_foreign_row(struct tac_sim *sim, const struct tac_element_state *row)
{
    return tac_fail(sim->ctx, TAC_ERR_INPUT,
                    "the checkpoint has the memory of an element (vertices %" TAC_PRIGID ", %" TAC_PRIGID
                    ", ...) that the scene does not have; go on with the scene that the checkpoint is of",
                    row->vertex[0], row->vertex[1]);
}

/* Restores the values of a row; adds their number to *set. */
static enum tac_err restore_row(struct tac_sim *sim, const struct place *place, size_t count,
                                struct tac_element_state *row, size_t *set)
{
    for (int64_t has = TAC_ELEMENT_RESTS; has <= TAC_ELEMENT_DAMPS; has++) {
        const struct place key = {.kind = row->kind, .id = row->id, .has = has};
        const struct place *p = count ? bsearch(&key, place, count, sizeof *place, compare_places) : NULL;
        if ((p != NULL) != ((row->has & has) != 0))
            return refuse_foreign_row(sim, row);
        if (p == NULL)
            continue;
        for (int i = 0; i < 4; i++)
            if (row->vertex[i] != (i < p->vertices ? tac_sim_id(sim, p->stencil[i]) : -1))
                return refuse_foreign_row(sim, row);
        if (p->sensible && !p->sensible(has == TAC_ELEMENT_RESTS ? row->rest : row->last))
            return tac_fail(sim->ctx, TAC_ERR_INPUT,
                            "the memory of an element in the checkpoint (vertices %" TAC_PRIGID ", %" TAC_PRIGID
                            ", ...) makes no sense; take an older checkpoint",
                            row->vertex[0], row->vertex[1]);
        copy_memory(p, row, false);
        ++*set;
    }
    return TAC_OK;
}

enum tac_err tac_elements_restore(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    enum tac_err err;
    struct tac_element_state *rows = NULL;
    struct place *place = NULL;
    size_t total = 0, count = 0, set = 0;
    TAC_TRY(dispatch_rows(sim, c, owner, &rows, &total));
    err = list_places(sim, &place, &count);
    for (size_t k = 0; k < total && !err; k++)
        err = restore_row(sim, place, count, &rows[k], &set);
    if (!err && set != count) /* no row comes twice: rows ascend */
        err = tac_fail(sim->ctx, TAC_ERR_INPUT,
                       "the checkpoint lacks the memory of %zu elements of the scene; go on "
                       "with the scene that the checkpoint is of",
                       count - set);
    tac_loads_share_wind(sim);
    err = tac_agree(sim->ctx, err);
done:
    free(rows);
    free(place);
    return err;
}

/* ---- clocks that change ---- */

/* Computes the values, (width), that the place would contain after a tick now. */
static void compute_memory(const struct tac_sim *sim, const struct place *p, double value[TAC_ELEMENT_MEMORY])
{
    double x[4][3], impulse[4][3];
    for (int i = 0; i < p->vertices; i++)
        tac_position(sim, p->stencil[i], sim->state.now, x[i]);
    memcpy(value, p->value, (size_t)p->width * sizeof *value);
    if (p->element != NULL) {
        p->element->memory->damp(p->record, value, (const double(*)[3])x, impulse);
    } else {
        const struct tac_load_element e = {.count = p->vertices};
        tac_load_centre(&e, (const double(*)[3])x, value);
    }
}

enum tac_err tac_elements_present(struct tac_sim *sim, struct tac_element_present **out, size_t *count)
{
    enum tac_err err;
    struct place *place = NULL;
    size_t n = 0;
    TAC_TRY(list_places(sim, &place, &n));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof **out, out));
    for (size_t k = 0; k < n; k++)
        if (place[k].has == TAC_ELEMENT_DAMPS) {
            struct tac_element_present *g = &(*out)[(*count)++];
            *g = (struct tac_element_present){.kind = place[k].kind, .id = place[k].id, .period = place[k].period};
            compute_memory(sim, &place[k], g->value);
        }
done:
    free(place);
    return err;
}

enum tac_err tac_elements_retime(struct tac_sim *sim, const struct tac_element_present *present, size_t count)
{
    enum tac_err err;
    struct place *place = NULL;
    size_t n = 0, at = 0;
    TAC_TRY(list_places(sim, &place, &n));
    for (size_t k = 0; k < n; k++) {
        if (place[k].has != TAC_ELEMENT_DAMPS)
            continue;
        TAC_CHECK(at < count && present[at].kind == place[k].kind && present[at].id == place[k].id);
        if (present[at].period != place[k].period)
            memcpy(place[k].value, present[at].value, (size_t)place[k].width * sizeof *place[k].value);
        at++;
    }
    tac_loads_share_wind(sim);
done:
    free(place);
    return err;
}
