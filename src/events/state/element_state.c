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

/* What a row has of one of the two, (width). */
static double *value_of(const struct tac_element_states *s, const struct tac_element_state *row, int64_t has)
{
    return has == TAC_ELEMENT_RESTS ? tac_element_rest(s, row) : tac_element_last(s, row);
}

/* Rows for the places begin .. end, which are of one kind. */
static enum tac_err collect_kind(struct tac_sim *sim, const struct place *place, size_t begin, size_t end,
                                 struct tac_element_states *s)
{
    enum tac_err err;
    struct tac_element_state *row = NULL;
    TAC_TRY(tac_alloc(sim->ctx, end - begin, tac_element_row_size(s), &s->row));
    for (size_t k = begin; k < end; k++) {
        const struct place *p = &place[k];
        if (!p->mine)
            continue;
        if (row == NULL || row->id != p->id) {
            row = tac_element_row(s, s->count++);
            row->id = p->id;
            for (int i = 0; i < s->nodes; i++)
                row->vertex[i] = i < p->vertices ? tac_scene_id(sim->scene, p->stencil[i]) : -1;
        }
        row->has |= p->has;
        memcpy(value_of(s, row, p->has), p->value, (size_t)p->width * sizeof *p->value);
    }
    if (s->count > 0)
        qsort(s->row, (size_t)s->count, tac_element_row_size(s), tac_element_state_compare);
done:
    return err;
}

/* The size of the rows of every kind of the scene, whether this rank has one or not. */
static void set_sizes(const struct tac_sim *sim, struct tac_element_states s[TAC_KINDS])
{
    for (int k = 0; k < sim->elastic->element_count; k++) {
        const struct tac_element *element = sim->elastic->element[k];
        s[tac_kind_of_element(k)] = (struct tac_element_states){.nodes = element->nodes, .width = element->width};
    }
    s[TAC_KIND_LOAD] = (struct tac_element_states){.nodes = sim->scene->settings->two_d ? 2 : 3, .width = 3};
}

enum tac_err tac_elements_collect(struct tac_sim *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    struct place *place = NULL;
    size_t count = 0;
    set_sizes(sim, c->element);
    TAC_TRY(list_places(sim, &place, &count));
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && place[end].kind == place[begin].kind;)
            end++;
        TAC_TRY(collect_kind(sim, place, begin, end, &c->element[place[begin].kind]));
    }
done:
    free(place);
    return err;
}

static enum tac_err refuse_foreign_row(struct tac_sim *sim, const struct tac_element_state *row)
{
    return tac_fail(sim->ctx, TAC_ERR_INPUT,
                    "the checkpoint has the memory of an element (first vertex %" TAC_PRIGID
                    ") that the scene does not have; go on with the scene that the checkpoint is of",
                    row->vertex[0]);
}

/* Is the row of the element of this place?  A row of a former format may have room for more nodes. */
static bool row_fits(struct tac_sim *sim, const struct tac_element_states *s, const struct tac_element_state *row,
                     const struct place *p)
{
    bool fits = p->vertices <= s->nodes && p->width <= s->width;
    for (int i = 0; i < s->nodes && fits; i++)
        fits = row->vertex[i] == (i < p->vertices ? tac_scene_id(sim->scene, p->stencil[i]) : -1);
    return fits;
}

/* Restores the values of a row; adds their number to *set. */
static enum tac_err restore_row(struct tac_sim *sim, const struct place *place, size_t count, int kind,
                                const struct tac_element_states *s, const struct tac_element_state *row, size_t *set)
{
    for (int64_t has = TAC_ELEMENT_RESTS; has <= TAC_ELEMENT_DAMPS; has++) {
        const struct place key = {.kind = kind, .id = row->id, .has = has};
        const struct place *p = count ? bsearch(&key, place, count, sizeof *place, compare_places) : NULL;
        if ((p != NULL) != ((row->has & has) != 0))
            return refuse_foreign_row(sim, row);
        if (p == NULL)
            continue;
        if (!row_fits(sim, s, row, p))
            return refuse_foreign_row(sim, row);
        if (p->sensible && !p->sensible(value_of(s, row, has)))
            return tac_fail(sim->ctx, TAC_ERR_INPUT,
                            "the memory of an element in the checkpoint (first vertex %" TAC_PRIGID
                            ") makes no sense; take an older checkpoint",
                            row->vertex[0]);
        memcpy(p->value, value_of(s, row, has), (size_t)p->width * sizeof *p->value);
        ++*set;
    }
    return TAC_OK;
}

/* Collective. Puts the rows of a kind into the simulation; *set: how many values that were. */
static enum tac_err restore_kind(struct tac_sim *sim, const struct place *place, size_t count, int kind,
                                 const struct tac_element_states *s, const int32_t *owner, size_t *set)
{
    enum tac_err err;
    struct tac_element_states mine;
    TAC_TRY(tac_element_rows_send(sim->ctx, s, owner, &mine));
    for (tac_lid k = 0; k < mine.count && !err; k++)
        err = restore_row(sim, place, count, kind, s, tac_element_row(&mine, k), set);
    err = tac_agree(sim->ctx, err);
done:
    free(mine.row);
    return err;
}

enum tac_err tac_elements_restore(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    enum tac_err err;
    struct place *place = NULL;
    size_t count = 0, set = 0;
    int64_t rows[TAC_KINDS];
    for (int kind = 0; kind < TAC_KINDS; kind++)
        rows[kind] = c->element[kind].count;
    TAC_TRY(tac_agree(sim->ctx, list_places(sim, &place, &count)));
    MPI_Allreduce(MPI_IN_PLACE, rows, TAC_KINDS, MPI_INT64_T, MPI_SUM, sim->ctx->comm);
    for (int kind = 0; kind < TAC_KINDS; kind++) {
        const struct tac_element_states *s = &c->element[kind];
        if (rows[kind] > 0)
            TAC_TRY(restore_kind(sim, place, count, kind, s, owner, &set));
        owner += (size_t)s->nodes * (size_t)s->count;
    }
    if (set != count) /* no row comes twice: rows ascend */
        err = tac_fail(sim->ctx, TAC_ERR_INPUT,
                       "the checkpoint lacks the memory of %zu elements of the scene; go on "
                       "with the scene that the checkpoint is of",
                       count - set);
    tac_loads_share_wind(sim->scene, sim->elastic);
    err = tac_agree(sim->ctx, err);
done:
    free(place);
    return err;
}

/* ---- clocks that change ---- */

/* Computes the values, (width), that the place would contain after a tick now. */
static void compute_memory(const struct tac_sim *sim, const struct place *p, double value[TAC_ELEMENT_MEMORY])
{
    double x[TAC_ELEMENT_NODES][3], impulse[TAC_ELEMENT_NODES][3];
    for (int i = 0; i < p->vertices; i++)
        tac_position(&sim->state, &sim->scripts, p->stencil[i], sim->state.now, x[i]);
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
    tac_loads_share_wind(sim->scene, sim->elastic);
done:
    free(place);
    return err;
}
